"""The C reference: the public headers, as hawkmoth reads them.

A page is a title and

    .. c:header:: pfm3 perfmon/pfmlib.h

hawkmoth takes comments of the form ``/** */`` that stand before a symbol.  Our headers have
short comments behind members, enumerators and macros, one comment for a group of macros, and
macros that need none.  So a copy of each installed header is written into the build directory,
in which every symbol that the compiler sees has a comment before it; hawkmoth reads the copy.
The value of a macro and the position of a bit-field become part of the text.

Each library is a namespace of its own in the C domain (libpfm 3 and 4 have names in common):
``:c:func:`pfm3.pfm_initialize```, or ``:c:func:`~pfm3.pfm_initialize``` without the
library in the text.  Behind ``.. c:namespace:: pfm3``, and where only one library has the
name, ``:c:func:`pfm_dispatch_events``` is enough.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clang.cindex import Cursor, CursorKind, Diagnostic, Index, TranslationUnit
from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from c_text import to_rst
from pypfm.config import LIBRARIES, Library

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

__all__ = ["Header", "Symbol", "headers_of", "roles_of", "setup"]

_ROLES = {
    CursorKind.MACRO_DEFINITION: "macro", CursorKind.FUNCTION_DECL: "func", CursorKind.ENUM_CONSTANT_DECL: "enumerator",
    CursorKind.TYPEDEF_DECL: "type", CursorKind.STRUCT_DECL: "struct", CursorKind.UNION_DECL: "union",
    CursorKind.ENUM_DECL: "enum", CursorKind.FIELD_DECL: "member",
}
_BODIES = (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL, CursorKind.ENUM_DECL)
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_INCLUDE = re.compile(r"#include <(.*?)>")
# Two headers of libpfm 3 define it, so that each can be used alone; it is documented in the other one.
_TWICE = {("perfmon/pfmlib_itanium2.h", "PFMLIB_MONT_EVT_NO_SET")}


@dataclass(frozen=True)
class Symbol:
    """What a header declares.

    :ivar start: first line, from 0
    :ivar end: last line
    :ivar value: of a macro without parameters: its definition on one line; of an enumerator: its value
    :ivar width: of a bit-field, in bits
    :ivar indent: what the line begins with
    :ivar parent: the structure or enumeration that a member belongs to
    """

    name: str
    role: str
    start: int
    end: int
    value: str = ""
    width: int = 0
    indent: str = ""
    parent: str = ""


@dataclass(frozen=True)
class Comment:
    """A comment of a header: its lines, and its text without markers."""

    start: int
    end: int
    text: str
    is_doc: bool
    is_alone: bool


@dataclass
class Header:
    """A public header.

    :ivar name: as a program includes it
    :ivar symbols: all that a compiler on this machine sees of it, in order
    :ivar tags: line and name of members that are a structure without a tag; the copy gives it the member's name
    """

    library: Library
    name: str
    lines: list[str] = field(repr=False)
    symbols: list[Symbol] = field(repr=False)
    tags: dict[int, str] = field(repr=False)
    comments: list[Comment] = field(repr=False)

    @classmethod
    def read(cls, library: Library, name: str) -> Header:
        path = library.include_dir / name
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        cursors = list(_cursors(_parsed(library, path), path))
        symbols = [s for c in cursors if (s := _symbol(c, lines)) and (name, s.name) not in _TWICE]
        tags = {c.extent.start.line - 1: c.spelling for c in cursors
                if c.kind == CursorKind.FIELD_DECL and _opens(lines[c.extent.start.line - 1])}
        return cls(library, name, lines, sorted(symbols, key=lambda s: (s.start, -s.end)), tags, list(_comments(text)))

    def text(self, symbol: Symbol) -> str:
        """What the header says of a symbol: behind it, or above it."""
        comment = self._comment(symbol)
        return comment.text if comment else ""

    def _comment(self, symbol: Symbol) -> Comment | None:
        for c in self.comments:
            if not c.is_alone and c.start == symbol.end:
                return c
        if symbol.role in ("macro", "enumerator", "member"):
            return None  # what is above belongs to a group
        return next((c for c in self.comments if c.is_alone and c.end == symbol.start - 1), None)

    @property
    def page(self) -> str:
        """Name of its page in the directory of the library."""
        name = self.name.removeprefix("perfmon/").removesuffix(".h")
        return name.replace("/", "_")

    def members(self, symbol: Symbol) -> dict[str, str]:
        """Texts of a structure's members; those of members without a name stand in its place."""
        return {self.tags.get(s.start, s.name): self.text(s) for s in self.symbols
                if symbol.start < s.start <= symbol.end and s.role != "enumerator"}

    def introduction(self) -> str:
        """The comment at the top."""
        return self.comments[0].text

    def copy(self, roles: Mapping[str, str]) -> str:
        """The header with a /** */ comment before each symbol."""
        # Comments are written anew, behind the lines of the others.
        lines = [_INCLUDE.sub(self._include, re.sub(r"[ \t]*/\*.*?\*/", "", line)) for line in self.lines]
        for line, tag in self.tags.items():
            lines[line] = re.sub(r"\b(struct|union) {", rf"\1 {tag} {{", lines[line])
        for c in self.comments:
            if c.start != c.end:
                lines[c.start:c.end + 1] = [""] * (c.end + 1 - c.start)
        before: dict[int, list[str]] = {}
        used = {id(self.comments[0])}  # the directive writes the introduction
        for symbol in self.symbols:
            comment = self._comment(symbol)
            used.add(id(comment))
            before.setdefault(symbol.start, []).append(_doc(symbol, comment.text if comment else "", roles))
        for c in self.comments:
            if id(c) not in used and c.is_alone and not self._in_function(c):
                # An empty comment behind it, and it belongs to nothing: it is text of the page.
                before.setdefault(c.start, []).insert(0, f"/**\n{_starred(to_rst(c.text, roles), '')} */\n/**/")
        return "\n".join("\n".join([*before.get(i, []), line]) for i, line in enumerate(lines)) + "\n"

    def _in_function(self, comment: Comment) -> bool:
        return any(s.role == "func" and s.start < comment.start <= s.end for s in self.symbols)

    def _include(self, match: re.Match[str]) -> str:
        """Of another header of the library: its copy."""
        ours = (self.library.include_dir / match.group(1)).is_file()
        return f'#include "{"../" * self.name.count("/")}{match.group(1)}"' if ours else match.group()


def _doc(symbol: Symbol, text: str, roles: Mapping[str, str]) -> str:
    if symbol.width:
        one = symbol.width == 1
        if re.fullmatch(r"\d+(:\d+)?", text):
            text = f"{'bit' if one else 'bits'} {text}"
        else:
            text = f"{symbol.width} bit{'' if one else 's'}" + (f": {text}" if text else "")
    text = to_rst(text, {name: role for name, role in roles.items() if name != symbol.name})
    if symbol.role == "macro" and symbol.value:
        text = f"``{symbol.value}``" + (f": {text}" if text else "")
    return f"{symbol.indent}/**\n{_starred(text, symbol.indent)}{symbol.indent} */"


def _starred(text: str, indent: str) -> str:
    return "".join(f"{indent} * {line}".rstrip() + "\n" for line in text.splitlines())


# ---- reading -----------------------------------------------------------------------

def _comments(text: str) -> Iterator[Comment]:
    for match in _COMMENT.finditer(text):
        start = text.count("\n", 0, match.start())
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        behind = text[match.end():text.find("\n", match.end())]
        body = match.group()[2:-2]
        is_doc = body.startswith("*")
        lines = [re.sub(r"^\s*\*? ?", "", line).expandtabs().rstrip() for line in body.removeprefix("*").splitlines()]
        yield Comment(start, start + match.group().count("\n"), "\n".join(lines).strip("\n").strip(" "), is_doc,
                      not (before + behind).strip())


@cache
def clang_arguments() -> list[str]:
    """What PyPI's libclang lacks: the headers of a compiler, and the system's."""
    own = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    multiarch = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    return [arg for path in (own, f"/usr/include/{multiarch}", "/usr/include") for arg in ("-isystem", path)]


def _parsed(library: Library, path: Path) -> Cursor:
    options = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    unit = Index.create().parse(str(path), ["-xc-header", *library.cflags, *clang_arguments()], options=options)
    if problems := [d.spelling for d in unit.diagnostics if d.severity >= Diagnostic.Warning]:
        message = f"{path}: {'; '.join(problems)}"
        raise ValueError(message)
    return unit.cursor


def _cursors(parent: Cursor, path: Path) -> Iterator[Cursor]:
    for cursor in parent.get_children():
        if cursor.location.file is not None and cursor.location.file.name == str(path) and cursor.kind in _ROLES:
            yield cursor
            if cursor.kind in _BODIES:
                yield from _cursors(cursor, path)


def _opens(line: str) -> bool:
    """Whether a declaration has a body, which is a symbol of its own."""
    return line.rstrip().endswith("{")


def _symbol(cursor: Cursor, lines: list[str]) -> Symbol | None:
    start, end = cursor.extent.start.line - 1, cursor.extent.end.line - 1
    value, width = "", 0
    if cursor.kind in (CursorKind.FIELD_DECL, CursorKind.TYPEDEF_DECL) and _opens(lines[start]):
        return None
    if cursor.kind == CursorKind.MACRO_DEFINITION:
        definition = _COMMENT.sub("", "\n".join(lines[start:end + 1]).split(cursor.spelling, 1)[1]).rstrip()
        if not definition:
            return None  # an include guard
        body = definition.partition(")")[2] if definition.startswith("(") else definition  # behind parameters
        value = "" if "\n" in body else body.strip()
    elif cursor.kind == CursorKind.ENUM_CONSTANT_DECL:
        value = str(cursor.enum_value)
    elif cursor.kind == CursorKind.FIELD_DECL and cursor.is_bitfield():
        width = cursor.get_bitfield_width()
    indent = lines[start][:len(lines[start]) - len(lines[start].lstrip())]
    return Symbol(cursor.spelling, _ROLES[cursor.kind], start, end, value, width, indent)


@cache
def headers_of(name: str) -> list[Header]:
    """The public headers of a library, in the order of their names; libpfm's own before perfmon's."""
    library = LIBRARIES[name]
    paths = [path.relative_to(library.include_dir).as_posix() for path in library.include_dir.rglob("*.h")]
    return [Header.read(library, path) for path in sorted(paths, key=lambda p: ("/pfmlib" not in p, p))]


@cache
def roles_of(name: str) -> dict[str, str]:
    """Role of each name of a library (members are no names)."""
    symbols = (s for header in headers_of(name) for s in header.symbols)
    return {s.name: f"c:{s.role}" for s in symbols if s.role != "member" and " " not in s.name}


# ---- Sphinx ------------------------------------------------------------------------

class HeaderDirective(SphinxDirective):
    """``.. c:header:: LIBRARY NAME``: everything in a header, in the library's namespace."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        name, path = self.arguments
        header = next((h for h in headers_of(name) if h.name == path), None)
        if header is None:
            raise self.error(f"{name} has the headers {', '.join(h.name for h in headers_of(name))}, not {path}")
        self.env.note_dependency(str(header.library.include_dir / path))
        return self.parse_text_to_nodes(f"""\
.. c:namespace:: {name}

.. code-block:: c

   #include <{path}>

{to_rst(header.introduction(), roles_of(name))}

.. c:autodoc:: {name}/{path}
""", allow_section_headings=True)


def write_copies(app: Sphinx, config: Config) -> None:
    """Write the copies, and tell hawkmoth where they are."""
    root = Path(app.doctreedir) / "c_headers"
    for name, library in LIBRARIES.items():
        if library.form_of:
            continue
        for header in headers_of(name):
            path = root / name / header.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(header.copy(roles_of(name)), encoding="utf-8")
    config.hawkmoth_root = str(root)
    config.hawkmoth_autoconf = []  # no clang
    config.hawkmoth_clang = clang_arguments()


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> nodes.Element | None:
    """A C name without its library, if only one library has it."""
    if node["refdomain"] != "c":
        return None
    target = node["reftarget"]
    names = [name for name, library in LIBRARIES.items() if not library.form_of]
    for full in found if len(found := [f"{name}.{target}" for name in names if target in roles_of(name)]) == 1 else []:
        copy = node.copy()
        copy["reftarget"], copy["c:parent_key"] = full, None
        return env.domains["c"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], full, copy, contnode)
    return None


def shorten_contents(_app: Sphinx, domain: str, objtype: str, content: nodes.Element) -> None:
    """Leave hundreds of members and constants out of a page's table of contents."""
    if domain == "c" and objtype in ("member", "enumerator", "macro"):
        for signature in content.parent.findall(addnodes.desc_signature):
            signature["_toc_name"] = ""


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("hawkmoth")
    app.add_directive_to_domain("c", "header", HeaderDirective)
    app.connect("config-inited", write_copies)
    app.connect("missing-reference", resolve)
    app.connect("object-description-transform", shorten_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
