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
import copy
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import cffi
from cffi import commontypes
from cffi.model import PrimitiveType
from pycparser import c_ast, c_generator, c_parser

import c_reader
import python_mirror
from c_reader import Symbol, Unit
from python_mirror import Types, is_variadic

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


# ---- the extension ------------------------------------------------------------

def emit_stub(args: argparse.Namespace, unit: Unit, extra: str, constants: list[str], macros: list[str]) -> str:
    """Stub of the extension: raw cffi objects."""
    types = Types(unit)
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
    parser.add_argument("--form-of", type=Path, help="the mirror of the library's other form")
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

    mirror = python_mirror.emit(args.module, args.header, public, names, macros, args.hand, args.form_of)
    (args.outdir / f"{args.module}_api.py").write_text(mirror)
    stub = emit_stub(args, everything, extra_cdef, sorted({*names, *enumerators(everything.symbols)}), macros)
    (args.outdir / f"{args.module}.pyi").write_text(stub)


if __name__ == "__main__":
    main()
