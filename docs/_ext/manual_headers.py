"""What the manual pages take from the public C headers: prototypes, comments, structures, errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["ROOT", "Constant", "Function", "Member", "Type", "constants", "errors", "functions", "types"]

ROOT = Path(__file__).parents[2]

_FUNCTION = re.compile(r"/\*\*\n(?P<doc>(?: \*.*\n)+?) \*/\n(?:extern|static inline)\s(?P<declaration>[^;{]*)")
_TYPE = re.compile(r"/\*\* (?P<doc>.*?) \*/\n(?:typedef )?(?P<kind>struct|enum)(?: (?P<tag>\w+))? \{\n"
                   r"(?P<body>.*?)\n\}(?: (?P<name>\w+))?;", re.DOTALL)
# The comment behind a macro, or the line before it.
_DEFINE = re.compile(r"^(?:/\* (?:[\w.]+: )?(?P<before>[^*\n]*?)\.? \*/\n)?#define (?P<name>\w+)[ \t]+(?P<value>\S+)"
                     r"(?:[ \t]+/\* (?P<behind>.*?) \*/)?$", re.MULTILINE)
_MEMBER = re.compile(r"^\t+(?P<declaration>[^/]*?)[;,]?(?:\t* *)(?:/\* (?P<comment>.*) \*/)?$")


@dataclass(frozen=True)
class Function:
    """A function and the comment before it.

    :ivar result: its type
    :ivar parameters: as they are declared
    :ivar described: what is said of each parameter
    """

    name: str
    result: str
    parameters: tuple[str, ...]
    header: str
    text: tuple[str, ...]
    described: tuple[tuple[str, str], ...]
    returns: str


@dataclass(frozen=True)
class Member:
    """A member of a structure, or a constant of an enumeration; the comment may be missing."""

    declaration: str
    comment: str

    @property
    def name(self) -> str:
        """The name alone."""
        match = re.search(r"(\w+)(?:\[\w+\])*(?::\d+)?(?: +=.*)?$", self.declaration)
        assert match, self.declaration
        return match[1]


@dataclass(frozen=True)
class Type:
    """A structure or an enumeration."""

    name: str
    kind: str
    typedef: bool
    doc: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Constant:
    """A macro with a value."""

    name: str
    value: str
    comment: str


@cache
def _headers(library: str) -> dict[str, str]:
    include = ROOT / "csrc" / library / "include"
    return {str(path.relative_to(include)): path.read_text(encoding="utf-8") for path in sorted(include.rglob("*.h"))}


@cache
def functions(library: str) -> dict[str, Function]:
    """All functions of a library's headers, by name, in the headers' order."""
    found = [_function(match, header) for header, text in _headers(library).items()
             for match in _FUNCTION.finditer(text)]
    return {function.name: function for function in found}


def _function(match: re.Match[str], header: str) -> Function:
    declaration = " ".join(match["declaration"].split())
    front, _, rest = declaration.partition("(")
    words = re.fullmatch(r"(.*?)(\w+)", front)
    assert words, declaration
    result, name = words.groups()
    doc = "\n".join(line[3:] for line in match["doc"].splitlines())
    text, *fields = re.split(r"^:|^(?=Source:)", doc, flags=re.MULTILINE)
    named = [tuple(" ".join(part.split()) for part in field.split(":", 1)) for field in fields
             if not field.startswith("Source:")]
    return Function(
        name, result, _split(rest.removesuffix(")")), header,
        tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")),
        tuple((key.removeprefix("param "), value) for key, value in named if key.startswith("param ")),
        next((value for key, value in named if key == "return"), ""))


def _split(parameters: str) -> tuple[str, ...]:
    """At the commas that are not within parentheses."""
    return tuple(part.strip() for part in re.findall(r"(?:[^,()]|\((?:[^()]*)\))+", parameters))


@cache
def types(library: str) -> dict[str, Type]:
    """The structures and enumerations of a library's headers, by name; unions of registers are none of them."""
    found = {}
    for text in _headers(library).values():
        for match in _TYPE.finditer(text):
            name = match["name"] or f"struct {match['tag']}"
            found[name] = Type(name, match["kind"], match["name"] is not None, match["doc"],
                               tuple(_members(match["body"])))
    return found


def _members(body: str) -> list[Member]:
    """Those of the headers' own form: PFMLIB_MANUAL_LAYOUT is not defined."""
    members, on = [], True
    for line in body.splitlines():
        if line.startswith("#"):
            on = not line.startswith("#ifdef")
            on = on if not line.startswith("#else") else True
            continue
        match = _MEMBER.match(line)
        if on and match and match["declaration"]:
            members.append(Member(re.sub(r"\s+", " ", match["declaration"]), match["comment"] or ""))
    return members


@cache
def constants(library: str) -> tuple[Constant, ...]:
    """The macros with a value of a library's headers."""
    return tuple(Constant(m["name"], m["value"], m["behind"] or m["before"] or "")
                 for text in _headers(library).values() for m in _DEFINE.finditer(text))


@cache
def errors(library: str) -> dict[str, tuple[int, str]]:
    """The return codes of libpfm 3 or 4: number and text."""
    numbers = {constant.name: int(constant.value.strip("()")) for constant in constants(library)
               if re.fullmatch(r"\(?-?\d+\)?", constant.value)}
    pairs = re.findall(r'\bX\((\w+), +"(.*?)"\)', "".join(_headers(library).values()))
    return {name: (numbers[name], text) for name, text in pairs}
