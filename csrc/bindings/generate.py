"""Derive a library's cffi extension and its Python mirror from its C headers.

    generate.py MODULE OUTDIR --cc CC -I DIR ... -D NAME ... --header H ... --private H ... --prefix P ...

MODULE is the library (pfm3 ...).  Writes into OUTDIR

    MODULE.c        source of the extension module pypfm._c.MODULE (cffi, API mode)
    MODULE.pyi      stub of that module
    MODULE_api.py   typed, documented mirror: every function, structure and constant

Nothing is typed a second time: c_reader.py reads declarations, comments and macros.
Constants and enumerators are left to the C compiler ("..."), because cffi does
not check their values.
"""

from __future__ import annotations

import argparse
import ast
import copy
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import cffi
from cffi import commontypes
from cffi.model import PrimitiveType
from pycparser import c_ast, c_generator, c_parser

import c_reader
from c_reader import Symbol, Unit, aggregate

# For strings that C allocates and the caller frees.
FREE = "void free(void *ptr);\n"
# How cffi is told of bit-fields in a union, which it would lay one over the other: see named_bits() and unnamed_bits().
UNNAMED = "_unnamed_bits"


# ---- what cffi is given -------------------------------------------------------

class Declarations(c_generator.CGenerator):
    """C that cffi reads: enumerators and array lengths that are expressions are left to the C compiler."""

    def visit_Enum(self, node: c_ast.Enum) -> str:  # noqa: N802 - pycparser's names
        if node.values is None:
            return super().visit_Enum(node)
        names = ", ".join(e.name for e in node.values.enumerators)
        return f"enum {node.name or ''} {{ {names}, ... }}"

    def visit_Union(self, node: c_ast.Union) -> str:  # noqa: N802 - pycparser's name
        # cffi would lay what has no name after the members before it.
        members = node.decls and sorted(node.decls, key=lambda d: bool(d.name))
        return super().visit_Union(c_ast.Union(node.name, members))

    def visit_ParamList(self, node: c_ast.ParamList) -> str:  # noqa: N802 - pycparser's name
        return super().visit_ParamList(_with_lengths(node, None))

    def top(self, node: c_ast.Node) -> str:
        """A declaration of a header."""
        node = _with_lengths(node, c_ast.ID("..."))
        if bits := named_bits(node):
            return self.visit(bits) + ";\n" + self.visit(node) + ";\n"
        if isinstance(node.type, c_ast.Enum) and not node.name:
            if not node.type.name:
                return "".join(f"#define {e.name} ...\n" for e in node.type.values.enumerators)
        elif isinstance(node.type, c_ast.FuncDecl):
            node.storage = node.funcspec = []
        return self.visit(node) + ";\n"


def named_bits(node: c_ast.Node) -> c_ast.Struct | None:
    """The structure of bit-fields that has no name in a union; it has one from then on, as type and as member."""
    union = node.type
    for decl in union.decls or () if isinstance(union, c_ast.Union) else ():
        if isinstance(decl.type, c_ast.Struct) and not decl.name and any(d.bitsize for d in decl.type.decls):
            bits, decl.name = c_ast.Struct(f"{union.name}{UNNAMED}", decl.type.decls), UNNAMED
            decl.type = c_ast.TypeDecl(UNNAMED, [], None, c_ast.Struct(bits.name, None))
            return bits
    return None


def unnamed_bits(code: str) -> str:
    """The C code that cffi wrote, with members of that name without one: cffi finds out where their bit-fields are."""
    code = re.sub(rf"^.*&p->{UNNAMED};.*\n", "", code, flags=re.M)
    return re.sub(rf'"{UNNAMED}", offsetof\([^)]*\),\s*sizeof\(.*?->{UNNAMED}\),', '"", (size_t)-1, (size_t)-1,', code)


def _with_lengths(node: c_ast.Node, length: c_ast.Node | None) -> c_ast.Node:
    """A copy in which array lengths that are expressions are another one."""
    node = copy.deepcopy(node)
    for array in _all(node):
        if isinstance(array, c_ast.ArrayDecl) and array.dim and not isinstance(array.dim, c_ast.Constant):
            array.dim = length
    return node


def _all(node: c_ast.Node) -> Iterator[c_ast.Node]:
    yield node
    for _, child in node.children():
        yield from _all(child)


def system_types(unit: Unit) -> str:
    """The types of the system that cffi does not know."""
    used = {name for symbol in unit.symbols for node in _all(symbol.node) if isinstance(node, c_ast.IdentifierType)
            for name in node.names}
    used -= commontypes.COMMON_TYPES.keys() | PrimitiveType.ALL_PRIMITIVE_TYPES.keys()
    return "".join(f"typedef int... {name};\n" for name in unit.system if name in used)


def enumerators(symbols: Iterable[Symbol]) -> list[str]:
    return [e.name for s in symbols if s.role == "enum" for e in s.members]


# ---- comments -----------------------------------------------------------------

def documentation(symbol: Symbol) -> str:
    """The comment of a symbol, and those of its members."""
    listed = "".join(f"\n:ivar {m.name}: {m.text}" for m in symbol.all() if m.role == "member" and m.text)
    return symbol.text + ("\n" + listed if listed else "")


# ---- C types as Python types --------------------------------------------------

def type_names(node: c_ast.Node) -> list[str]:
    if isinstance(node, c_ast.TypeDecl):
        return type_names(node.type)
    if isinstance(node, c_ast.IdentifierType):
        return list(node.names)
    if isinstance(node, (c_ast.Enum, c_ast.Struct, c_ast.Union)):
        return [node.name or ""]
    return []


class Types:
    """What the typedefs of the headers are."""

    def __init__(self, unit: Unit, symbols: Iterable[Symbol]) -> None:
        self.structs: dict[str, c_ast.Node] = {}  # by typedef name or tag
        self.ctypes: dict[str, str] = {}  # C type of each
        self.aliases: dict[str, str] = {}  # typedefs of tagged structures
        self.scalars: set[str] = set()
        self._integers = {"char", "short", "int", "long", "unsigned", "signed", *unit.system} - {"FILE"}
        for symbol in symbols:
            self._add(symbol)

    def _add(self, symbol: Symbol) -> None:
        node, body = symbol.node, aggregate(symbol.node)
        if symbol.role in ("struct", "union") and body is not None:
            self.structs[symbol.name] = body
            self.ctypes[symbol.name] = symbol.c_name
        elif isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.TypeDecl):
            inner = node.type.type
            if isinstance(inner, (c_ast.Enum, c_ast.IdentifierType)):
                self.scalars.add(symbol.name)
            elif inner.name in self.structs:
                self.aliases[symbol.name] = inner.name

    def is_integer(self, node: c_ast.Node) -> bool:
        names = type_names(node)
        plain = bool(names) and all(n in self._integers or n in self.scalars for n in names)
        return plain or (isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.Enum))

    def field(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.ArrayDecl):
            return f"_m.Array[{self.field(node.type)}]"
        if self.is_integer(node):
            return "int"
        names = type_names(node)
        return names[0] if names and names[0] in self.structs else "_m.CData"

    def parameter(self, node: c_ast.Node) -> str:
        if not isinstance(node, c_ast.PtrDecl):
            return "int"
        target = node.type
        names = type_names(target)
        if names == ["FILE"]:
            return "_m.File"
        if isinstance(target, c_ast.FuncDecl):
            kind = "Callable[..., object] | None"
        elif names == ["char"]:
            kind = "_m.String" if "const" in target.quals else "_m.Buffer"
        elif self.is_integer(target):
            kind = "_m.Cell[int] | _m.Array[int] | _m.CData | None"
        elif names and names[0] in self.structs:
            kind = f"{names[0]} | _m.Array[{names[0]}] | _m.CData | None"
        elif isinstance(target, c_ast.PtrDecl):
            cell = "c_char_p" if type_names(target.type) == ["char"] else "Cell[Any]"
            kind = f"_m.{cell} | _m.CData | None"
        elif names == ["void"]:
            kind = "_m.Struct | _m.Array[Any] | _m.Cell[int] | _m.CData | None"
        else:  # a structure that the headers do not define
            kind = "_m.CData | None"
        return kind

    def result(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.PtrDecl):
            return "str" if type_names(node.type) == ["char"] else "_m.CData"
        return "None" if type_names(node) == ["void"] else "int"


# ---- the mirror ---------------------------------------------------------------

def docstring(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    body = textwrap.indent(text, indent).strip()
    return f'{indent}"""{body}\n{indent}"""\n' if "\n" in text else f'{indent}"""{body}"""\n'


def flat_members(node: c_ast.Node) -> list[c_ast.Decl]:
    """Members of a structure, with those of unnamed members in their place."""
    found = []
    for decl in node.decls:
        found += flat_members(decl.type) if decl.name is None else [decl]
    return found


def spelling(node: c_ast.Node) -> str:
    """A type as the header writes it; of an array, the type of its elements."""
    if isinstance(node, c_ast.ArrayDecl):
        return spelling(node.type)
    if isinstance(node, c_ast.PtrDecl):
        inner = spelling(node.type)
        return inner + ("*" if inner.endswith("*") else " *")
    if isinstance(node, c_ast.TypeDecl):
        return " ".join([*(q for q in node.quals if q == "const"), spelling(node.type)])
    if isinstance(node, c_ast.IdentifierType):
        return " ".join(node.names)
    kind = type(node).__name__.lower()  # struct, union, enum
    return f"{kind} {node.name}" if node.name else kind


def declared(node: c_ast.Node) -> tuple[tuple[str, str, tuple], ...]:
    """Members as they are declared: name or "", type, members of a structure that has no name of its own."""
    members = []
    for decl in node.decls:
        inner = decl.type
        while isinstance(inner, (c_ast.ArrayDecl, c_ast.TypeDecl)):
            inner = inner.type
        nested = isinstance(inner, (c_ast.Struct, c_ast.Union)) and not inner.name
        members.append((decl.name or "", spelling(decl.type), declared(inner) if nested else ()))
    return tuple(members)


def emit_declared(structs: dict[str, c_ast.Node]) -> str:
    """What cffi does not keep of the declarations: the types' names, const, unions without a name."""
    rows = "".join(f"    {name!r}: {declared(node)!r},\n" for name, node in structs.items())
    return f"_declared: dict[str, tuple[_m.Declared, ...]] = {{\n{rows}}}\n"


def emit_exported(functions: Iterable[Symbol]) -> str:
    """The functions that the library exports; the others are in the header."""
    rows = "".join(f"    {s.name!r},\n" for s in functions if not s.node.funcspec and s.node.storage != ["static"])
    return f"_exported: tuple[str, ...] = (\n{rows})\n"


def emit_headers(symbols: Iterable[Symbol]) -> str:
    """Where the types are declared."""
    rows = "".join(f"    {symbol.name!r}: {symbol.header!r},\n" for symbol in symbols)
    return f"_headers: dict[str, str] = {{\n{rows}}}\n"


def emit_struct(symbol: Symbol, types: Types) -> str:
    name = symbol.name
    node, base = types.structs[name], "_m.Union" if symbol.role == "union" else "_m.Struct"
    out = [f"class {name}({base}, ffi=ffi, ctype={types.ctypes[name]!r}):\n",
           docstring(documentation(symbol), "    "), "\n"]
    for decl in flat_members(node):
        inner = decl.type.type if isinstance(decl.type, c_ast.TypeDecl) else None
        if isinstance(inner, c_ast.Struct) and inner.decls:
            # A structure without a name of its own: a class for the type checker only.
            out.append(f"    if TYPE_CHECKING:\n        class _{decl.name}(_m.Fields):\n")
            out += [f"            {d.name}: {types.field(d.type)}\n" for d in inner.decls]
            out.append(f"    {decl.name}: _{decl.name}\n")
        elif not keyword.iskeyword(decl.name):  # getattr() and setattr() reach "from"
            out.append(f"    {decl.name}: {types.field(decl.type)}\n")
    return "".join(out)


# The cells that all mirrors have, by the type that they hold.
CELLS = {"int": "c_int", "unsigned int": "c_uint", "long": "c_long", "unsigned long": "c_ulong", "size_t": "c_size_t"}


def is_variadic(node: c_ast.Decl) -> bool:
    """Whether a function takes more arguments than are declared: the mirror has it if it is written by hand.

    Python has no types to convert them by, and C would read what was not passed.
    """
    return bool(node.type.args) and isinstance(node.type.args.params[-1], c_ast.EllipsisParam)


def parameters(node: c_ast.Decl, types: Types) -> list[tuple[str, str]]:
    """Name and C type of each parameter, as pypfm._c.mirror.Calls takes them."""
    params = [p for p in (node.type.args.params if node.type.args else []) if getattr(p, "name", None)]
    found = []
    for i, p in enumerate(params):
        if types.parameter(p.type) == "_m.Buffer":
            # Without a size after it, C only reads it.
            sized = p is not params[-1] and types.is_integer(params[i + 1].type)
            ctype = f"char[{params[i + 1].name}]" if sized else "const char *"
        elif isinstance(p.type, c_ast.PtrDecl) and isinstance(p.type.type, c_ast.FuncDecl):
            ctype = "()"
        else:
            ctype = spelling(p.type).replace("const ", "") if types.parameter(p.type) != "_m.String" else "const char *"
        found.append((p.name, ctype))
    return found


def converter(ctype: str) -> str:
    """The name of the converter of a pointer type, in the mirror."""
    return "_to_" + re.sub(r"\W+", "_", ctype.replace("*", "p"))


def converted(name: str, ctype: str, types: Types) -> str:
    """An argument as cffi is given it; what nearly all calls pass comes without a further call."""
    if ctype == "const char *":
        return f"_encode({name}) if _type({name}) is _str and '\\0' not in {name} else _m.text({name})"
    if ctype.startswith("char["):
        return f"_m.room({name}, {ctype[5:-1]})"
    if not ctype.endswith("*"):
        return f"_index({name})"
    target = ctype[:-1].strip()
    cell = f"_{CELLS[target]}" if target in CELLS else target if target in types.scalars else ""
    if cell:
        return f"{name}._cdata if _type({name}) is {cell} else {converter(ctype)}({name})"
    return f"{converter(ctype)}({name})"


class Further(NamedTuple):
    """What a function written by hand says of the arguments that are not declared in C.

    :ivar signature: as in Python, with a comma before each
    :ivar names: likewise
    :ivar text: of the documentation
    """

    signature: str = ""
    names: str = ""
    text: str = ""


def further(name: str, hand: str, declared: int) -> Further:
    """The parameters that the function of a class Hand has after those of C."""
    functions = [node for node in ast.walk(ast.parse(hand)) if isinstance(node, ast.FunctionDef)]
    function = next(node for node in functions if node.name == name)
    args = function.args.args[1 + declared:]
    defaults = function.args.defaults[-len(args):]
    types = [re.sub(r"\b(CData|Cell|String|Struct)\b", r"_m.\1", ast.unparse(arg.annotation)) for arg in args]
    return Further(
        "".join(f", {arg.arg}: {kind} = {ast.unparse(default)}"
                for arg, kind, default in zip(args, types, defaults, strict=True)),
        "".join(f", {arg.arg}" for arg in args),
        "".join(line + "\n" for line in re.findall(r"^:param .*", ast.get_docstring(function) or "", flags=re.M)))


def emit_function(symbol: Symbol, types: Types, by_hand: dict[str, str], hand: str) -> str:
    """The Python function: C's, with converted arguments; Calls says which argument is wrong, if one is."""
    name, node = symbol.name, symbol.node
    params = parameters(node, types)
    given = node.type.args.params if node.type.args else []
    kinds = [types.parameter(p.type) for p in given if getattr(p, "name", None)]
    kinds = ["_m.String" if ctype == "const char *" else kind for kind, (_, ctype) in zip(kinds, params, strict=True)]
    signature = ", ".join(f"{p}: {kind}" for (p, _), kind in zip(params, kinds, strict=True))
    names = ", ".join(p for p, _ in params)
    result = types.result(node.type.type)
    again = f"_call({', '.join([repr(name), *(p for p, _ in params)])})"
    if result == "str" and " or NULL" in symbol.text:
        result = "str | None"
    if result not in {"int", "None"}:
        again = again.replace("_call(", "_call.pointer(")
    if result in {"str", "str | None"}:
        again = f"_m.string{'_or_none' if 'None' in result else ''}({again})"
    lines = [f"return {again}"]
    if name in by_hand:
        lines = [f"return {by_hand[name]}{names})"]
    elif result in {"int", "None"}:
        args = ", ".join(converted(*p, types) for p in params)
        lines = [f"return _{name}({args})"]
        if params:
            lines = ["try:", f"    {lines[0]}", "except _REFUSED:", f"    return {again}"]
        if stored := [p for p, ctype in params if ctype == "char **"]:  # strings that the caller frees
            lines[1] = f"    ret = _{name}({args})"
            lines += [f"_m.take({p}, lib.free)" for p in stored] + ["return ret"]
    text = symbol.text
    if is_variadic(node):
        more = further(name, hand, len(params))
        signature, lines = signature + more.signature, [f"return {by_hand[name]}{names}{more.names})"]
        text = re.sub(r"^(?=:return:)", lambda _: more.text, text, flags=re.M)
    body = textwrap.indent("\n".join(lines), "    ")
    if result == "None":
        body = body.replace("return ", "")
    found = f"_{name} = lib.{name}  # looked up once: it is a tenth of a short call\n\n" if f"_{name}(" in body else ""
    return f"{found}def {name}({signature}) -> {result}:\n{docstring(text, '    ')}{body}\n"


def emit_macro(name: str) -> str:
    return (f"def {name}(value: int) -> int:\n    \"\"\"The macro {name} of the header.\"\"\"\n"
            f"    try:\n        return lib.{name}(_index(value))\n"
            f"    except _REFUSED:\n        return _call({name!r}, value)\n")


def emit_calls(params: dict[str, list[tuple[str, str]]]) -> str:
    """What the functions call by."""
    rows = "".join(f"    {name!r}: {tuple(types)!r},\n" for name, types in params.items())
    pointers = sorted({ctype for types in params.values() for _, ctype in types if ctype.endswith("*")})
    return (f"_call = _m.Calls(ffi, lib, {{\n{rows}}})\n_REFUSED = _m.REFUSED\n"
            + "".join(f"_{cell} = _m.{cell}\n" for cell in CELLS.values())
            + "".join(f"{converter(c)} = _call.converter({c!r})\n" for c in pointers if c != "const char *")
            + "_encode = str.encode\n")


def hand_functions(hand: str) -> dict[str, str]:
    """The functions written by hand, and how a call of them begins."""
    names = re.findall(r"^ *def (\w+)", hand, flags=re.M)
    return {name: f"_hand.{name}(" if has_class(hand) else f"_hand.{name}(_call, " for name in names}


def has_class(hand: str) -> bool:
    """Whether the functions are those of a class Hand, which serves several forms of a library."""
    return bool(re.search(r"^class Hand\b", hand, flags=re.M))


def import_hand(path: Path, hand: str) -> str:
    """How the functions written by hand are reached."""
    if has_class(hand):
        return f"from pypfm._c.{path.stem} import Hand\n\n_hand = Hand(ffi, lib, _call)\n"
    return f"from pypfm._c import {path.stem} as _hand\n"


def emit_mirror(args: argparse.Namespace, unit: Unit, constants: list[str], macros: list[str]) -> str:
    types = Types(unit, unit.symbols)
    classes: list[str] = []
    scalars = {s.name: s for s in unit.symbols if s.name in types.scalars}
    hand = args.hand.read_text() if args.hand else ""
    by_hand = hand_functions(hand)
    called = [s for s in unit.symbols if s.role == "func" and (s.name in by_hand or not is_variadic(s.node))]
    for symbol in unit.symbols:
        if symbol.name in types.aliases:
            classes.append(f"{symbol.name} = {types.aliases[symbol.name]}\n")
        elif symbol.name in types.structs:
            classes.append(emit_struct(symbol, types))
    names = sorted([*types.structs, *types.aliases, *scalars, *constants, *macros, *(s.name for s in called)])
    params = {s.name: parameters(s.node, types) for s in called}
    parts = [
        f'"""Generated from {", ".join(args.header)} by csrc/bindings/generate.py.  Do not edit."""\n',
        "from __future__ import annotations\n\n"
        # Parameters are called `str` and `type`; by import, so that type checkers narrow by them.
        "from builtins import str as _str, type as _type\nfrom operator import index as _index\n"
        "from typing import TYPE_CHECKING, Any\n",
        f"from pypfm._c import mirror as _m\nfrom pypfm._c.{args.module} import ffi, lib\n",
        "if TYPE_CHECKING:\n    from collections.abc import Callable\n",
        "__all__ = [\n" + "".join(f"    {n!r},\n" for n in names) + "]\n",
        "".join(f"{n}: int = lib.{n}\n" for n in constants),
        "".join(f"class {n}(_m.Cell[int], ffi=ffi, ctype={n!r}):\n"
                + docstring(s.text or f"A cell that holds one C value of type {n}.", "    ") + "\n"
                for n, s in scalars.items()),
        *classes,
        emit_calls(params | {n: [("value", "long")] for n in macros}),
        import_hand(args.hand, hand) if set(by_hand) & set(params) else "",
        *(emit_function(s, types, by_hand, hand) for s in called),
        *(emit_macro(n) for n in macros),
        emit_exported(called),
        emit_declared(types.structs),
        emit_headers(s for s in unit.symbols if s.name in types.structs),
    ]
    return "\n".join(parts)


def emit_stub(args: argparse.Namespace, unit: Unit, extra: str, constants: list[str], macros: list[str]) -> str:
    """Stub of the extension: raw cffi objects."""
    types = Types(unit, unit.symbols)
    lines = [f"# Generated from the headers of {args.module} by csrc/bindings/generate.py.  Do not edit.",
             "from typing import Any", "", "from _cffi_backend import FFI", "", "class _Lib:"]
    lines += [f"    {n}: int" for n in constants]
    known = "".join(f"typedef int {name};\n" for name in types.scalars)
    for node in [*(s.node for s in unit.symbols), *c_parser.CParser().parse(known + FREE + extra).ext]:
        if isinstance(node.type, c_ast.FuncDecl):
            count = len([p for p in node.type.args.params if getattr(p, "name", None)]) if node.type.args else 0
            result = types.result(node.type.type)
            result = result if result in ("int", "None") else "Any"  # a cffi object
            params = "".join(f", a{i}: object" for i in range(count)) + ", *rest: object" * is_variadic(node)
            lines.append(f"    def {node.name}(self{params}) -> {result}: ...")
        elif isinstance(node, c_ast.Decl) and node.name:
            lines.append(f"    {node.name}: Any")
    lines += [f"    def {n}(self, a0: int) -> int: ..." for n in macros]
    return "\n".join([*lines, "", "ffi: FFI", "lib: _Lib", ""])


# ---- the extension -------------------------------------------------------------

def write_extension(args: argparse.Namespace, cdef: str, extra: str) -> None:
    bits = "".join(re.findall(rf"^struct \w+{UNNAMED}\n{{.*?^}};\n", cdef, flags=re.M | re.S))
    ffi = cffi.FFI()
    ffi.cdef(cdef)
    includes = "".join(f'#include "{h}"\n' for h in [*args.header, *args.private])
    ffi.set_source(f"pypfm._c.{args.module}", f"#include <stdlib.h>\n{includes}{bits}{extra}", py_limited_api=True)
    path = args.outdir / f"{args.module}.c"
    ffi.emit_c_code(str(path))
    path.write_text(unnamed_bits(path.read_text()))


def macro_names(args: argparse.Namespace, unit: Unit) -> tuple[list[str], list[str]]:
    """Names of the constants and of the macros with one argument; a string or an initialiser is no constant."""
    macros = [s for h in unit.headers.values() for s in h.symbols
              if s.role == "macro" and s.name.startswith(tuple(args.prefix))]
    constants = [s.name for s in macros
                 if s.parameters is None and s.name not in args.define and not s.value.startswith(('"', "{"))]
    functions = [s.name for s in macros if s.parameters and len(s.parameters) == 1 and s.parameters[0].islower()]
    return sorted(constants), sorted(functions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--system", action="append", default=[], help="directory of headers that are not read")
    parser.add_argument("--header", action="append", default=[], help="public header")
    parser.add_argument("--private", action="append", default=[], help="header for the Pythonic layer")
    parser.add_argument("--prefix", action="append", default=[], help="of the names of constants")
    parser.add_argument("--hand", type=Path, help="Python file with functions to call in place of C's")
    parser.add_argument("--extra", type=Path, help="C file with more declarations for cffi, and their code")
    args = parser.parse_args()

    def read(names: list[str]) -> Unit:
        return c_reader.read(names, args.include, args.define, args.system, args.cc)

    public, everything = read(args.header), read([*args.header, *args.private])
    constants, macros = macro_names(args, public)
    names = sorted({*constants, *enumerators(public.symbols)})
    extra_cdef, extra_code = args.extra.read_text().split("/* ---- code ---- */") if args.extra else ("", "")
    extra_cdef = re.sub(r"/\*.*?\*/", "", extra_cdef, flags=re.S)

    write = Declarations().top
    defines = "".join(f"#define {n} ...\n" for n in constants if n not in enumerators(everything.symbols))
    functions = "".join(f"long {n}(long);\n" for n in macros)
    declared = "".join(write(s.node) for s in everything.symbols)
    write_extension(args, system_types(everything) + declared + defines + functions + FREE + extra_cdef, extra_code)

    (args.outdir / f"{args.module}_api.py").write_text(emit_mirror(args, public, names, macros))
    # extern "Python" callbacks are Python's side of the extension, not C's.
    raw = re.sub(r'extern "Python"', "extern", extra_cdef)
    stub = emit_stub(args, everything, raw, sorted({*names, *enumerators(everything.symbols)}), macros)
    (args.outdir / f"{args.module}.pyi").write_text(stub)


if __name__ == "__main__":
    main()
