"""Derive a library's cffi extension and its Python mirror from its C headers.

    generate.py MODULE OUTDIR --cc CC -I DIR ... -D NAME ... --header H ... --private H ... --prefix P ...

MODULE is the library (pfm3 ...).  Writes into OUTDIR

    _MODULE.c        source of the extension module pypfm._MODULE (cffi, API mode)
    _MODULE.pyi      stub of that module
    _MODULE_api.py   typed, documented mirror: every function, structure and constant

Nothing is typed a second time: the preprocessor makes the declarations that
cffi reads (headers guard what cffi cannot read with #ifndef PYPFM_CDEF), names
of constants come from its list of macros, docstrings from the comments.
Constants and enumerators are left to the C compiler ("..."), because cffi does
not check their values.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import textwrap
from pathlib import Path

import cffi
from pycparser import c_ast, c_parser

# What cffi knows and pycparser does not.
BUILTIN = {
    "size_t": "unsigned long", "uint64_t": "unsigned long", "int64_t": "long", "uint32_t": "unsigned int",
    "int32_t": "int", "uint16_t": "unsigned short", "uint8_t": "unsigned char", "pid_t": "int",
    "FILE": "struct FILE", "bool": "_Bool",
}
BUILTIN_TYPES = "".join(f"typedef {c} {name};\n" for name, c in BUILTIN.items())
# For strings that C allocates and the caller frees.
FREE = "void free(void *ptr);\n"
INTEGERS = {"char", "short", "int", "long", "unsigned", "signed", *BUILTIN} - {"FILE"}


# ---- reading the headers --------------------------------------------------

def preprocess(args: argparse.Namespace, headers: list[str], *flags: str) -> str:
    """The headers after the preprocessor, without system headers."""
    source = "".join(f'#include "{h}"\n' for h in headers)
    includes = [*(f"-I{d}" for d in args.include), *(f"-D{d}" for d in args.define)]
    command = [args.cc, "-E", "-DPYPFM_CDEF", "-D__attribute__(x)=", *flags, *includes, "-x", "c", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def strip_bodies(text: str) -> str:
    """Turn inline functions into prototypes."""
    out, at = [], 0
    for match in re.finditer(r"static\s+inline\s+([^;{}]*?)\s*\{", text):
        if match.start() < at:
            continue
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        out += [text[at:match.start()], match.group(1), ";"]
        at = end
    return "".join(out) + text[at:]


def macro_names(args: argparse.Namespace, headers: list[str]) -> tuple[list[str], list[str]]:
    """Names of the constants and of the macros with one argument."""
    constants, functions = [], []
    for line in preprocess(args, headers, "-dM").splitlines():
        match = re.match(r"#define (\w+)(\(([a-z]\w*)\))?(\(.*\))? ?(.*)", line)
        if not match or not match.group(1).startswith(tuple(args.prefix)) or match.group(4):
            continue
        name, is_function, body = match.group(1), match.group(2), match.group(5)
        if is_function:
            functions.append(name)
        elif body and name not in args.define:
            constants.append(name)
    return sorted(constants), sorted(functions)


def enum_names(body: str) -> list[str]:
    return [part.split("=")[0].strip() for part in body.split(",") if part.strip()]


def let_compiler_fill(text: str) -> str:
    """Leave enumerators (anonymous ones as constants) and array lengths to the C compiler."""
    def named(match: re.Match[str]) -> str:
        names = enum_names(match.group(2))
        if not match.group(1).strip() and not match.group(3).strip():
            return "".join(f"#define {n} ...\n" for n in names)
        return f"enum {match.group(1)} {{ {', '.join(names)}, ... }} {match.group(3)};"
    text = re.sub(r"\benum\b\s*(\w*)\s*\{(.*?)\}\s*(\w*)\s*;", named, text, flags=re.S)
    return re.sub(r"\[(?!\d+\])[^]]+\]", "[...]", text)  # array lengths that are expressions


def enumerators(text: str) -> list[str]:
    bodies = re.findall(r"\benum\b\s*\w*\s*\{(.*?)\}", text, flags=re.S)
    return [n for body in bodies for n in enum_names(body)]


# ---- comments -----------------------------------------------------------------

def clean_comment(comment: str) -> str:
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def read_comments(path: Path) -> dict[str, str]:
    """The /** ... */ comment of each function and type of a header."""
    text = path.read_text(encoding="utf-8")
    found = {}
    for match in re.finditer(r"/\*\*(.*?)\*/\s*", text, flags=re.S):
        rest = text[match.end():]
        if tagged := re.match(r"struct (\w+) (\{.*?^\});", rest, flags=re.S | re.M):
            name, fields = tagged.group(1), read_fields(tagged.group(2))
        elif rest.startswith("typedef"):
            body = re.match(r"typedef[^{;]*?(\{.*?^\})?\s*(\w+)\s*;", rest, flags=re.S | re.M)
            name = body.group(2) if body else None
            fields = read_fields(body.group(1) or "") if body else []
        else:
            name_match = re.search(r"(\w+)\s*\(", rest)
            name, fields = (name_match.group(1) if name_match else None), []
        if not name:
            raise SystemExit(f"{path}: a comment belongs to nothing: {match.group(1)[:60]}")
        found[name] = clean_comment(match.group(1)) + "".join(f"\n{f}" for f in fields)
    return found


def read_fields(body: str) -> list[str]:
    """Documentation of the fields of a structure, from the comments behind them."""
    fields = re.findall(r"(\w+)(?:\[[^]]*\])*(?::\d+)?;[ \t]*/\*\s*(.*?)\s*\*/", body)
    return ["", *(f":ivar {name}: {text}" for name, text in fields)] if fields else []


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

    def __init__(self) -> None:
        self.structs: dict[str, c_ast.Node] = {}  # by typedef name or tag
        self.ctypes: dict[str, str] = {}  # C type of each
        self.aliases: dict[str, str] = {}  # typedefs of tagged structures
        self.scalars: set[str] = set()

    def add_tagged(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Struct) and node.type.decls:
            self.structs[node.type.name] = node.type
            self.ctypes[node.type.name] = f"struct {node.type.name}"

    def add(self, node: c_ast.Typedef) -> None:
        inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
        if isinstance(inner, (c_ast.Struct, c_ast.Union)):
            if inner.decls:
                self.structs[node.name] = inner
                self.ctypes[node.name] = node.name
            elif inner.name in self.structs:
                self.aliases[node.name] = inner.name
        elif isinstance(inner, (c_ast.Enum, c_ast.IdentifierType)):
            self.scalars.add(node.name)

    def is_integer(self, node: c_ast.Node) -> bool:
        names = type_names(node)
        plain = bool(names) and all(n in INTEGERS or n in self.scalars for n in names)
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
            kind = "_m.Cell[int] | _m.CData | None"
        elif names and names[0] in self.structs:
            kind = f"{names[0]} | _m.CData | None"
        elif isinstance(target, c_ast.PtrDecl):
            cell = "c_char_p" if type_names(target.type) == ["char"] else "Cell[Any]"
            kind = f"_m.{cell} | _m.CData | None"
        else:
            kind = "_m.Struct | _m.Cell[int] | _m.CData | None"
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
    if isinstance(node, c_ast.Union):
        members.sort(key=lambda m: not m[0])  # only for cffi do unnamed ones come first (perf_event_mmap_page)
    return tuple(members)


def emit_declared(structs: dict[str, c_ast.Node]) -> str:
    """What cffi does not keep of the declarations: the types' names, const, unions without a name."""
    rows = "".join(f"    {name!r}: {declared(node)!r},\n" for name, node in structs.items())
    return f"_declared: dict[str, tuple[Declared, ...]] = {{\n{rows}}}\n"


def emit_struct(name: str, node: c_ast.Node, types: Types, comments: dict[str, str]) -> str:
    base = "_m.Union" if isinstance(node, c_ast.Union) else "_m.Struct"
    ctype = types.ctypes[name]
    out = [f"class {name}({base}, ffi=ffi, ctype={ctype!r}):\n", docstring(comments[name], "    "), "\n"]
    for decl in flat_members(node):
        inner = decl.type.type if isinstance(decl.type, c_ast.TypeDecl) else None
        if isinstance(inner, c_ast.Struct) and inner.decls:
            # A structure without a name of its own: a class for the type checker only.
            out.append(f"    if TYPE_CHECKING:\n        class _{decl.name}(_m.Fields):\n")
            out += [f"            {d.name}: {types.field(d.type)}\n" for d in inner.decls]
            out.append(f"    {decl.name}: _{decl.name}\n")
        else:
            out.append(f"    {decl.name}: {types.field(decl.type)}\n")
    return "".join(out)


def emit_function(node: c_ast.Decl, types: Types, comments: dict[str, str], by_hand: set[str]) -> str:
    params = node.type.args.params if node.type.args else []
    params = [p for p in params if p.name]
    signature, call = [], []
    for i, p in enumerate(params):
        kind = types.parameter(p.type)
        if kind == "_m.Buffer" and p is params[-1]:
            kind = "_m.String"  # no size behind it: C only reads it
        signature.append(f"{p.name}: {kind}")
        if kind == "_m.Buffer":
            call.append(f"_m.sized({p.name}, {params[i + 1].name})")
        else:
            call.append(p.name)
    result = types.result(node.type.type)
    if result == "str" and " or NULL" in comments[node.name]:
        result = "str | None"
    if node.name in by_hand:
        wrapper, args = f"_hand.{node.name}", ", ".join(p.name for p in params)
    else:
        wrapper = {"str": "_c.text", "str | None": "_c.text_or_none", "_m.CData": "_c.pointer"}.get(result, "_c.call")
        args = ", ".join([f"lib.{node.name}", *call])
        if wrapper == "_c.call" and not any("c_char_p" in text for text in signature):  # nothing to do but the call
            integers = {p.name for p in params if types.parameter(p.type) == "int"}
            wrapper, args = f"lib.{node.name}", ", ".join(a if a in integers else f"_arg({a})" for a in call)
    statement = f"{wrapper}({args})" if result == "None" else f"return {wrapper}({args})"
    return (f"def {node.name}({', '.join(signature)}) -> {result}:\n"
            + docstring(comments[node.name], "    ") + f"    {statement}\n")


def import_hand(path: Path, text: str) -> str:
    """How the functions written by hand are reached; a class Hand serves several forms of a library."""
    if re.search(r"^class Hand\b", text, flags=re.M):
        return f"from pypfm.{path.stem} import Hand\n\n_hand = Hand(ffi, lib)\n"
    return f"from pypfm import {path.stem} as _hand\n"


def emit_mirror(args: argparse.Namespace, tree: c_ast.FileAST, comments: dict[str, str],
                constants: list[str], macros: list[str]) -> str:
    types = Types()
    classes, scalars = [], []
    functions: dict[str, str] = {}
    hand = args.hand.read_text() if args.hand else ""
    by_hand = set(re.findall(r"^ *def (\w+)", hand, flags=re.M))
    for node in tree.ext:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Struct) and node.type.decls:
            types.add_tagged(node)
            name = node.type.name
            classes.append(emit_struct(name, types.structs[name], types, comments))
        elif isinstance(node, c_ast.Typedef) and node.name not in BUILTIN:
            types.add(node)
            if node.name in types.aliases:
                classes.append(f"{node.name} = {types.aliases[node.name]}\n")
            elif node.name in types.structs:
                classes.append(emit_struct(node.name, types.structs[node.name], types, comments))
            elif node.name in types.scalars:
                scalars.append(node.name)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            functions[node.name] = emit_function(node, types, comments, by_hand)
    names = sorted([*types.structs, *types.aliases, *scalars, *constants, *macros, *functions])
    parts = [
        f'"""Generated from {", ".join(args.header)} by csrc/bindings/generate.py.  Do not edit."""\n',
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING, Any\n",
        f"from pypfm import _mirror as _m\nfrom pypfm._{args.module} import ffi, lib\n",
        "if TYPE_CHECKING:\n    from collections.abc import Callable\n\n    from pypfm._layout.model import Declared\n",
        import_hand(args.hand, hand) if by_hand & set(functions) else "",
        "_c = _m.callers(lib)\n_arg = _m.argument\n",
        "__all__ = [\n" + "".join(f"    {n!r},\n" for n in names) + "]\n",
        "".join(f"{n}: int = lib.{n}\n" for n in constants),
        "".join(f"class {n}(_m.Cell[int], ffi=ffi, ctype={n!r}):\n"
                + docstring(comments.get(n, f"A cell that holds one C value of type {n}."), "    ")
                + "\n" for n in scalars),
        *classes,
        *functions.values(),
        *(f"def {n}(value: int) -> int:\n    \"\"\"The macro {n} of the header.\"\"\"\n"
          f"    return lib.{n}(value)\n" for n in macros),
        emit_declared(types.structs),
    ]
    return "\n".join(parts)


def emit_stub(args: argparse.Namespace, tree: c_ast.FileAST, constants: list[str], macros: list[str]) -> str:
    """Stub of the extension: raw cffi objects."""
    types = Types()
    lines = [f"# Generated from the headers of {args.module} by csrc/bindings/generate.py.  Do not edit.",
             "from typing import Any", "", "from _cffi_backend import FFI", "", "class _Lib:"]
    lines += [f"    {n}: int" for n in constants]
    for node in tree.ext:
        if isinstance(node, c_ast.Typedef):
            types.add(node)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Struct):
            types.add_tagged(node)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            count = len([p for p in node.type.args.params if p.name]) if node.type.args else 0
            result = types.result(node.type.type)
            result = result if result in ("int", "None") else "Any"  # a cffi object
            params = "".join(f", a{i}: object" for i in range(count))
            lines.append(f"    def {node.name}(self{params}) -> {result}: ...")
        elif isinstance(node, c_ast.Decl) and node.name and "extern" in node.storage:
            lines.append(f"    {node.name}: Any")
    lines += [f"    def {n}(self, a0: int) -> int: ..." for n in macros]
    return "\n".join([*lines, "", "ffi: FFI", "lib: _Lib", ""])


# ---- the extension -------------------------------------------------------------

def write_extension(args: argparse.Namespace, cdef: str, extra: str) -> None:
    ffi = cffi.FFI()
    ffi.cdef(cdef)
    includes = "".join(f'#include "{h}"\n' for h in [*args.header, *args.private])
    ffi.set_source(f"pypfm._{args.module}", f"#include <stdlib.h>\n{includes}{extra}", py_limited_api=True)
    ffi.emit_c_code(str(args.outdir / f"_{args.module}.c"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--header", action="append", default=[], help="public header")
    parser.add_argument("--private", action="append", default=[], help="header for the Pythonic layer")
    parser.add_argument("--prefix", action="append", default=[], help="of the names of constants")
    parser.add_argument("--hand", type=Path, help="Python file with functions to call in place of C's")
    parser.add_argument("--extra", type=Path, help="C file with more declarations for cffi, and their code")
    args = parser.parse_args()

    public = strip_bodies(preprocess(args, args.header, "-P"))
    everything = strip_bodies(preprocess(args, [*args.header, *args.private], "-P"))
    constants, macros = macro_names(args, args.header)
    anonymous = [n for n in enumerators(public) if n not in constants]
    extra_cdef, extra_code = "", ""
    if args.extra:
        extra_cdef, extra_code = args.extra.read_text().split("/* ---- code ---- */")
        extra_cdef = re.sub(r"/\*.*?\*/", "", extra_cdef, flags=re.S)

    defines = "".join(f"#define {n} ...\n" for n in constants if n not in enumerators(everything))
    functions = "".join(f"long {n}(long);\n" for n in macros)
    filled = let_compiler_fill(everything)
    write_extension(args, filled + defines + functions + FREE + extra_cdef, extra_code)

    comments: dict[str, str] = {}
    for directory in args.include:
        for path in sorted(Path(directory).glob("**/*.h")):
            comments |= read_comments(path)
    parse = c_parser.CParser().parse
    tree = parse(BUILTIN_TYPES + public)
    names = sorted({*constants, *anonymous})
    (args.outdir / f"_{args.module}_api.py").write_text(emit_mirror(args, tree, comments, names, macros))
    # extern "Python" callbacks are Python's side of the extension, not C's.
    raw = re.sub(r'extern "Python"', "extern", extra_cdef)
    stub = emit_stub(args, parse(BUILTIN_TYPES + everything + FREE + raw),
                     sorted({*names, *enumerators(everything)}), macros)
    (args.outdir / f"_{args.module}.pyi").write_text(stub)


if __name__ == "__main__":
    main()
