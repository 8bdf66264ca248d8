"""Which variables of the environment the C libraries read: by what their sources say.

``environment()`` is the one function that reads them.  Its argument is a name, an element of an array of names, or
an argument of the function that calls it; then the same holds for the callers of that function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

# Programs, which nobody makes set-uid.
PROGRAMS = {"bench"}
READER = "environment"
_COMMENT = re.compile(r'/\*.*?\*/|("(?:[^"\\\n]|\\.)*")', re.DOTALL)
# A function's name at the start of a line, as all of csrc has it, its parameters, its text.
_FUNCTION = re.compile(r"^(\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)


class UnreadableError(Exception):
    """A call whose variable cannot be told."""


def library_sources() -> dict[Path, str]:
    """Text of the libraries' C files without comments."""
    files = [path for path in sorted((ROOT / "csrc").rglob("*.[ch]")) if path.relative_to(ROOT / "csrc").parts[0] not in PROGRAMS]
    return {path: _COMMENT.sub(lambda match: match[1] or " ", path.read_text()) for path in files}


def _calls(name: str, text: str) -> Iterator[str]:
    """First arguments of the calls of a function."""
    for match in re.finditer(rf"\b{name}\(([^,()]*)[,)]", text):
        yield match[1].strip()


def _names_of_array(name: str, body: str) -> list[str]:
    found = re.search(rf"\b{name}\[\w*\] = \{{([^}}]*)\}}", body)
    return re.findall(r'"([^"]*)"', found[1]) if found else []


def _of_argument(argument: str, function: str, parameters: str, body: str) -> tuple[set[str], str | None]:
    """Variables that an argument names; or the function whose callers do."""
    if re.fullmatch(r'"\w+"', argument):
        return {argument.strip('"')}, None
    element = re.fullmatch(r"(\w+)\[\w+\]", argument)
    if element and (names := _names_of_array(element[1], body)):
        return set(names), None
    if re.fullmatch(rf"const char \*{argument}", parameters.partition(",")[0]):
        return set(), function
    raise UnreadableError(f"{function}() reads {argument}")


def variables(sources: dict[Path, str]) -> set[str]:
    """The variables that the sources read."""
    functions = [match.groups() for text in sources.values() for match in _FUNCTION.finditer(text)]
    found: set[str] = set()
    readers, known = [READER], {READER}
    while readers:
        reader = readers.pop()
        for name, parameters, body in functions:
            for argument in _calls(reader, body):
                names, caller = _of_argument(argument, name, parameters, body)
                found |= names
                if caller and caller not in known:
                    known.add(caller)
                    readers.append(caller)
    return found
