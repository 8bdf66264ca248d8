"""What C headers declare: names, types, comments, macros.  The one program of this project that reads them.

The generator of the mirrors (generate.py) and the documentation (docs/_ext/c_headers.py) take its result.

A compiler's preprocessor sees the headers as a program's compiler does, but for the system's headers: those in
include/ stand for them, with the few types that ours need, and pycparser, which knows the C standard only, can
read them.  Comments come from the text of the headers.
"""

from __future__ import annotations

import copy
import operator
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

__all__ = ["Header", "Symbol", "Unit", "aggregate", "number", "read"]

STUBS = Path(__file__).parent / "include"

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_MARKER = re.compile(r'# (\d+) "([^"]*)"')
_MACRO = re.compile(r"#define (\w+)(?:\(([^)]*)\))? ?(.*)")
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "<<": operator.lshift, ">>": operator.rshift, "|": operator.or_, "&": operator.and_,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}


@dataclass(frozen=True)
class Comment:
    """A comment: its lines, from 1; its text without markers; whether nothing else stands on its lines."""

    start: int
    end: int
    text: str
    is_alone: bool


@dataclass(frozen=True)
class Symbol:
    """What a header declares.

    :ivar name: of a structure or enumeration its typedef name or its tag; "" of a member without a name
    :ivar role: macro, func, type, struct, union, enum, enumerator, member or variable
    :ivar header: as a program includes it
    :ivar start: first line, from 1
    :ivar end: last line; of a structure or enumeration that of its name, 0 if it has only a tag or none
    :ivar text: the comment that follows on its last line, or the one above; what is above a macro, an
        enumerator or a member belongs to a group
    :ivar above: the comment that ends on the line before, whatever it belongs to
    :ivar node: of pycparser; None of a macro
    :ivar members: of a structure, union or enumeration
    :ivar value: of a macro: its definition; of an enumerator: the number, if it is given
    :ivar parameters: of a macro that has some
    :ivar lengths: of a member that is an array: its lengths as they are written
    """

    name: str
    role: str
    header: str
    start: int
    end: int
    text: str
    above: str
    node: c_ast.Node | None = field(default=None, repr=False)
    members: tuple[Symbol, ...] = ()
    value: str = ""
    parameters: tuple[str, ...] | None = None
    lengths: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Of a bit-field, its bits; else 0."""
        return int(self.node.bitsize.value) if self.node and getattr(self.node, "bitsize", None) else 0

    @property
    def c_name(self) -> str:
        """As a program names a type."""
        is_tag = self.role in ("struct", "union", "enum") and not isinstance(self.node, c_ast.Typedef)
        return f"{self.role} {self.name}" if is_tag else self.name

    @property
    def declaration(self) -> str:
        """Of a function or member: C, without extern and the width of a bit-field."""
        node = copy.deepcopy(self.node)
        static = "static inline " if node.funcspec else ""
        node.storage, node.funcspec, node.bitsize = [], [], None
        array = node.type
        for length in self.lengths:
            array.dim, array = c_ast.ID(length), array.type
        return static + c_generator.CGenerator().visit(node)

    def all(self) -> Iterator[Symbol]:
        """It, its members, and theirs."""
        yield self
        for member in self.members:
            yield from member.all()


@dataclass
class Header:
    """A header.

    :ivar introduction: the comment at its top
    :ivar symbols: all that a compiler on this machine sees of it, in order; members are in the structures
    :ivar notes: comments that belong to no symbol, with their lines
    """

    name: str
    introduction: str
    symbols: list[Symbol] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)

    def all(self) -> Iterator[Symbol]:
        """The symbols with their members, in order."""
        for symbol in self.symbols:
            yield from symbol.all()


@dataclass
class Unit:
    """What some headers declare.

    :ivar headers: those asked for, and those that they include from the same directories
    :ivar symbols: all of them, in the order in which a compiler sees them, macros apart
    :ivar system: typedefs of the system's headers
    """

    headers: dict[str, Header]
    symbols: list[Symbol]
    system: dict[str, c_ast.Typedef]


def read(names: Sequence[str], include: Iterable[Path | str], define: Iterable[str] = (),
         system: Iterable[Path | str] = (), cc: str = "cc") -> Unit:
    """Read headers.

    :param names: as a program includes them
    :param include: directories in which they, and what else is to be read, are
    :param define: macros to define
    :param system: directories of what they include but is not to be read
    :param cc: the compiler whose preprocessor is run
    :raises SystemExit: the compiler does not compile them
    """
    directories = [Path(directory).resolve() for directory in include]
    # Attributes are the compiler's: none of these headers has one that changes a layout.  A newer kernel's structures,
    # which C_INCLUDE_PATH may lead to, are not what is documented and bound.
    command = [cc, "-E", "-dD", "-nostdinc", "-D__attribute__(x)=", "-D__extension__=", "-DPFM_OWN_PERF_EVENT",
               *(f"-I{d}" for d in [*directories, *system, STUBS]),
               *(f"-D{d}" for d in define), "-x", "c", "-"]
    done = subprocess.run(command, input="".join(f'#include "{name}"\n' for name in names), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return _Reader(names, directories).read(done.stdout)


def aggregate(node: c_ast.Node | None) -> c_ast.Node | None:
    """The structure, union or enumeration that a declaration defines, of an array of them, too."""
    inner = node.type if isinstance(node, (c_ast.Decl, c_ast.Typedef)) else node
    while isinstance(inner, (c_ast.ArrayDecl, c_ast.TypeDecl)):
        inner = inner.type
    body = inner.values if isinstance(inner, c_ast.Enum) else getattr(inner, "decls", None)
    return inner if body else None


class _Reader:
    """Preprocessed text -> symbols with their comments."""

    def __init__(self, names: Sequence[str], directories: Sequence[Path]) -> None:
        self._directories = directories
        self._asked = {next(p for d in directories if (p := (d / name).resolve()).is_file()): name for name in names}
        self._names: dict[str, str] = {}
        self._texts: dict[str, _Text] = {}

    def read(self, preprocessed: str) -> Unit:
        macros, code = self._macros(preprocessed)
        unit = Unit({}, [], {})
        for node in c_parser.CParser().parse(code).ext:
            if name := self._name(node.coord.file):
                unit.symbols.append(self._symbol(name, node))
            elif isinstance(node, c_ast.Typedef):
                unit.system[node.name] = node
        for symbol in sorted([*unit.symbols, *macros], key=lambda s: s.start):
            header = unit.headers.setdefault(symbol.header, Header(symbol.header, ""))
            header.symbols.append(symbol)
        for name in self._asked.values():  # one that only includes another has no symbols
            unit.headers.setdefault(name, Header(name, ""))
        for header in unit.headers.values():
            self._texts[header.name].rest(header)
        return unit

    def _name(self, path: str) -> str:
        """As a program includes a header of ours; "" of the system's."""
        if path not in self._names:
            full = Path(path).resolve()
            inside = [full.relative_to(d).as_posix() for d in self._directories if full.is_relative_to(d)]
            name = self._names[path] = self._asked.get(full) or (inside[0] if inside and full.is_file() else "")
            if name:
                self._texts[name] = _Text(full.read_text(encoding="utf-8"))
        return self._names[path]

    def _macros(self, text: str) -> tuple[list[Symbol], str]:
        """The macros but for include guards, and the text without directives."""
        macros, lines, name, at = [], [], "", 0
        for line in text.splitlines():
            if marker := _MARKER.match(line):
                at, name = int(marker[1]) - 1, self._name(marker[2])
                lines.append(line)
                continue
            at += 1
            if name and (match := _MACRO.match(line)) and (match[3] or match[2] is not None):
                macros.append(self._texts[name].macro(name, at, match))
            lines.append("" if line.startswith("#") else line)
        return macros, "\n".join(lines)

    def _symbol(self, header: str, node: c_ast.Node, *, inside: bool = False) -> Symbol:
        decl = node.decl if isinstance(node, c_ast.FuncDef) else node
        body = aggregate(decl)
        members = ([self._enumerator(header, e, body) for e in body.values.enumerators] if isinstance(body, c_ast.Enum)
                   else [self._symbol(header, d, inside=True) for d in body.decls] if body else [])
        role = type(body).__name__.lower() if body else _role(decl, inside=inside)
        lines = [n.coord.line for n in _nodes(node)]
        end = 0 if body and not decl.name else decl.coord.line if body else max(lines)
        name = decl.name or (body.name if body and not inside else "") or ""
        return self._texts[header].symbol(header, name, role, min(lines), end, node=decl, members=tuple(members))

    def _enumerator(self, header: str, node: c_ast.Enumerator, body: c_ast.Enum) -> Symbol:
        value = "" if node.value is None else str(number(node.value, body))
        return self._texts[header].symbol(header, node.name, "enumerator", node.coord.line, node.coord.line, node=node,
                                          value=value)


def _role(decl: c_ast.Node, *, inside: bool) -> str:
    if isinstance(decl, c_ast.Typedef):
        return "type"
    if isinstance(decl.type, c_ast.FuncDecl):
        return "func"
    return "member" if inside else "variable" if decl.name else "struct"  # that is declared, and not defined


def _nodes(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if node.coord:
        yield node
    for _, child in node.children():
        yield from _nodes(child)


def number(node: c_ast.Node, body: c_ast.Enum | None = None, sizeof: Callable[[c_ast.Node], int] | None = None) -> int:
    """The value of a constant expression, in which enumerators before it may stand.

    :param body: the enumeration that it is in
    :param sizeof: the size of a type
    """
    if isinstance(node, c_ast.Constant):
        return int(node.value.rstrip("uUlL"), 0)
    if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof" and sizeof:
        return sizeof(node.expr.type)
    if isinstance(node, c_ast.UnaryOp):
        return {"-": operator.neg, "~": operator.invert, "+": operator.pos}[node.op](number(node.expr, body, sizeof))
    if isinstance(node, c_ast.BinaryOp):
        return _OPERATORS[node.op](number(node.left, body, sizeof), number(node.right, body, sizeof))
    value = -1
    for enumerator in body.values.enumerators if body else ():
        value = value + 1 if enumerator.value is None else number(enumerator.value, body)
        if enumerator.name == node.name:
            return value
    raise ValueError(f"{node.coord}: {getattr(node, 'name', node)} is no number")


class _Text:
    """The text of a header: which comment belongs to what."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._comments = list(_comments(text))
        self._used = {self._comments[0].start} if self._comments else set()
        self._functions: list[range] = []

    def macro(self, header: str, line: int, match: re.Match[str]) -> Symbol:
        end = line
        while self._lines[end - 1].endswith("\\"):
            end += 1
        parameters = None if match[2] is None else tuple(p.strip() for p in match[2].split(","))
        return self.symbol(header, match[1], "macro", line, end, value=match[3], parameters=parameters)

    def symbol(self, header: str, name: str, role: str, start: int, end: int, *, node: c_ast.Node | None = None,
               members: tuple[Symbol, ...] = (), value: str = "", parameters: tuple[str, ...] | None = None) -> Symbol:
        after = next((c for c in self._comments if not c.is_alone and c.start == end), None)
        above = next((c for c in self._comments if c.is_alone and c.end == start - 1), None)
        own = after or (above if role not in ("macro", "enumerator", "member") else None)
        if own:
            self._used.add(own.start)
        if role == "func":
            self._functions.append(range(start, end + 1))
        lengths = re.findall(r"\[(.*?)\]", self._lines[end - 1].partition(";")[0]) if role == "member" else []
        return Symbol(name, role, header, start, end, own.text if own else "", above.text if above else "", node,
                      members, value, parameters, tuple(lengths))

    def rest(self, header: Header) -> None:
        """The header's introduction and its notes."""
        header.introduction = self._comments[0].text
        header.notes = [(c.start, c.text) for c in self._comments if c.is_alone and c.start not in self._used
                        and not any(c.start in lines for lines in self._functions)]


def _comments(text: str) -> Iterator[Comment]:
    for match in _COMMENT.finditer(text):
        start = text.count("\n", 0, match.start()) + 1
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        after = text[match.end():text.find("\n", match.end())]
        body = match.group()[2:-2].removeprefix("*")
        lines = [re.sub(r"^\s*\*? ?", "", line).expandtabs().rstrip() for line in body.splitlines()]
        yield Comment(start, start + match.group().count("\n"), "\n".join(lines).strip("\n").strip(" "),
                      not (before + after).strip())
