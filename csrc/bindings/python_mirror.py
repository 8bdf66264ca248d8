"""The Python mirror of a library: its structures as ctypes classes, its functions, constants and their comments.

`emit` writes the module from what c_reader.py has read; generate.py calls it.  What is in a type and where is said
once, here: ``pypfm layout --ctypes`` prints these classes.
"""

from __future__ import annotations

import ast
import ctypes
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pycparser import c_ast

from c_reader import Symbol, Unit, aggregate, number

# ctypes' classes by C type, the words of which are sorted: "unsigned int" and "int unsigned" are one.
NUMBERS = {
    "char": "c_char", "char signed": "c_byte", "char unsigned": "c_ubyte", "short": "c_short",
    "short unsigned": "c_ushort",
    "int": "c_int", "int unsigned": "c_uint", "unsigned": "c_uint", "long": "c_long", "long unsigned": "c_ulong",
    "long long": "c_longlong", "long long unsigned": "c_ulonglong", "float": "c_float", "double": "c_double",
    "size_t": "c_size_t", "ssize_t": "c_ssize_t", "pid_t": "c_int",
    **{f"{kind}{bits}_t": f"c_{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}


# ---- comments -----------------------------------------------------------------

def documentation(symbol: Symbol) -> str:
    """The comment of a symbol, and those of its members."""
    listed = "".join(f"\n:ivar {m.name}: {m.text}" for m in symbol.all() if m.role == "member" and m.text)
    return symbol.text + ("\n" + listed if listed else "")


def docstring(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    body = textwrap.indent(text, indent).strip()
    return f'{indent}"""{body}\n{indent}"""\n' if "\n" in text else f'{indent}"""{body}"""\n'


# ---- C types as Python types --------------------------------------------------

def type_names(node: c_ast.Node) -> list[str]:
    if isinstance(node, c_ast.TypeDecl):
        return type_names(node.type)
    if isinstance(node, c_ast.IdentifierType):
        return list(node.names)
    if isinstance(node, (c_ast.Enum, c_ast.Struct, c_ast.Union)):
        return [node.name or ""]
    return []


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


class Types:
    """What the typedefs of the headers are.

    :ivar structs: structures and unions by typedef name or tag
    :ivar ctypes: the C type of each
    :ivar aliases: typedefs of tagged structures
    :ivar scalars: typedefs of numbers and enumerations, and what they are
    """

    def __init__(self, unit: Unit) -> None:
        self.structs: dict[str, c_ast.Node] = {}
        self.ctypes: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.scalars: dict[str, c_ast.Node] = {}
        self._typedefs = {name: typedef.type for name, typedef in unit.system.items()}
        self._integers = {"char", "short", "int", "long", "unsigned", "signed", *unit.system} - {"FILE"}
        for symbol in unit.symbols:
            self._add(symbol)

    def _add(self, symbol: Symbol) -> None:
        node, body = symbol.node, aggregate(symbol.node)
        if isinstance(node, c_ast.Typedef):
            self._typedefs[symbol.name] = node.type
        if symbol.role in ("struct", "union") and body is not None:
            self.structs[symbol.name] = body
            self.ctypes[symbol.name] = symbol.c_name
        elif isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.TypeDecl):
            inner = node.type.type
            if isinstance(inner, (c_ast.Enum, c_ast.IdentifierType)):
                self.scalars[symbol.name] = inner
            elif inner.name in self.structs:
                self.aliases[symbol.name] = inner.name

    def is_integer(self, node: c_ast.Node) -> bool:
        names = type_names(node)
        plain = bool(names) and all(n in self._integers or n in self.scalars for n in names)
        return plain or (isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.Enum))

    def python(self, node: c_ast.Node) -> str:
        """The ctypes class of a type, as a Python expression; "" of one that the headers do not define."""
        if isinstance(node, c_ast.ArrayDecl):
            inner = self.python(node.type)
            return f"{f'({inner})' if ' * ' in inner else inner} * {number(node.dim, sizeof=self._size)}"
        if isinstance(node, c_ast.PtrDecl):
            return self._pointer(node.type)
        if isinstance(node, c_ast.TypeDecl):
            return self.python(node.type)
        return "_c.c_uint" if isinstance(node, c_ast.Enum) else self._named(node)  # no enumeration has a negative value

    def _named(self, node: c_ast.Node) -> str:
        words = type_names(node)
        name = " ".join(sorted(w for w in words if w != "signed" or "char" in words))
        if name in NUMBERS:
            return f"_c.{NUMBERS[name]}"
        if name in self.structs or name in self.aliases:
            return self.aliases.get(name, name)
        return self.python(self._typedefs[name]) if name in self._typedefs else ""

    def _size(self, node: c_ast.Node) -> int:
        return ctypes.sizeof(getattr(ctypes, self.python(node).removeprefix("_c.")))

    def _pointer(self, target: c_ast.Node) -> str:
        inner = "" if isinstance(target, c_ast.FuncDecl) or type_names(target) == ["void"] else self.python(target)
        return "_c.c_char_p" if inner == "_c.c_char" else f"_c.POINTER({inner})" if inner else "_c.c_void_p"

    def field(self, node: c_ast.Node) -> str:
        """What a member is when it is read."""
        kind = self.python(node)
        if isinstance(node, c_ast.ArrayDecl):
            return "bytes" if kind.startswith("_c.c_char *") else self._array(kind)
        if kind in ("_c.c_char_p", "_c.c_void_p"):
            return "str | None" if kind == "_c.c_char_p" else "int | None"
        if kind.startswith("_c.POINTER("):
            return f"_c._Pointer[{kind.removeprefix('_c.POINTER(')[:-1]}]"
        if kind.startswith("_c."):
            inner = self._typedefs.get("".join(type_names(node)))
            return self.field(inner) if isinstance(inner, c_ast.ArrayDecl) else "int"
        return self._array(kind) if " * " in kind else kind  # a typedef of an array

    def _array(self, kind: str) -> str:
        element = kind.rpartition(" * ")[0]
        return f"_m.Array[{'int' if element.startswith('_c.') and '*' not in element else element}]"

    def parameter(self, node: c_ast.Node) -> str:
        """What a function takes for a parameter."""
        if not isinstance(node, c_ast.PtrDecl):
            return "int"
        target = node.type
        names = type_names(target)
        if names == ["FILE"]:
            return "_m.File"
        if isinstance(target, c_ast.FuncDecl):
            return "Callable[..., object] | None"
        if names == ["char"]:
            return "_m.String" if "const" in target.quals else "_m.Buffer"
        if names == ["void"]:
            return "_m.Address"
        kind = self.python(target)
        kind = f"_c._Pointer[{kind.removeprefix('_c.POINTER(')[:-1]}]" if kind.startswith("_c.POINTER(") else kind
        return f"_m.Ref[{kind}]" if kind else "_m.CData | None"

    def result(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.PtrDecl):
            kind = self.python(node.type)
            return "str" if kind == "_c.c_char" else f"_c._Pointer[{kind}]" if kind in self.structs else "_m.CData"
        return "None" if type_names(node) == ["void"] else "int"


# ---- structures ---------------------------------------------------------------

def declared(node: c_ast.Node) -> tuple[tuple[str, str, tuple], ...]:
    """Members as they are declared: name or "", type, members of a structure that has no name of its own."""
    members = []
    for decl in node.decls:
        nested = unnamed(decl)
        members.append((decl.name or "", spelling(decl.type), declared(nested) if nested else ()))
    return tuple(members)


def unnamed(decl: c_ast.Decl) -> c_ast.Node | None:
    """The structure or union without a name of its own that a member is."""
    inner = decl.type
    while isinstance(inner, (c_ast.ArrayDecl, c_ast.TypeDecl)):
        inner = inner.type
    return inner if isinstance(inner, (c_ast.Struct, c_ast.Union)) and not inner.name else None


def class_lines(name: str, node: c_ast.Node, types: Types, text: str = "") -> Iterator[str]:
    """A class; the structures without a name of their own are classes inside of it."""
    yield f"class {name}(_m.{'Union' if isinstance(node, c_ast.Union) else 'Structure'}):"
    if text:
        yield docstring(text, "    ").rstrip("\n")
    yield "    __slots__ = ()"
    fields, annotations, anonymous = [], [], []
    for i, decl in enumerate(node.decls):
        kind, own = "", decl.name or f"_anonymous{i}"
        if inner := unnamed(decl):
            kind = own if own.startswith("_") else f"_{own}"
            yield from ("    " + line for line in class_lines(kind, inner, types))
            if decl.name is None:
                anonymous.append(own)
                annotations += flat_members(inner, types)
        python, field = member_types(decl, node, types)
        if decl.name and not keyword.iskeyword(decl.name):  # getattr() and setattr() reach "from"
            annotations.append((decl.name, kind or field))
        width = f", {decl.bitsize.value}" if decl.bitsize else ""
        fields.append(f"        ({own!r}, {kind or python}{width}),")
    if anonymous:
        yield f"    _anonymous_ = {tuple(anonymous)!r}"
    yield from ["    _fields_ = (", *fields, "    )"]
    yield from (f"    {member}: {kind}" for member, kind in annotations)


def member_types(decl: c_ast.Decl, node: c_ast.Node, types: Types) -> tuple[str, str]:
    """The ctypes class of a member, and what it is when it is read.

    A string in a union is an address: what lies there may be a number, at which Python would look for a text.
    """
    python = types.python(decl.type)
    if python == "_c.c_char_p" and isinstance(node, c_ast.Union):
        return "_c.c_void_p", "int | None"
    return python, types.field(decl.type)


def flat_members(node: c_ast.Node, types: Types) -> list[tuple[str, str]]:
    """Name and type of the members of a structure without a name, and of those in it."""
    found: list[tuple[str, str]] = []
    for decl in node.decls:
        one = [(decl.name, member_types(decl, node, types)[1])]
        found += flat_members(decl.type, types) if decl.name is None else one
    return found


# ---- functions ----------------------------------------------------------------

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


def suffix(ctype: str) -> str:
    """A pointer type in the names of the mirror."""
    return re.sub(r"\W+", "_", ctype.replace("*", "p"))


def converted(name: str, ctype: str, direct: set[str]) -> str:
    """An argument as cffi is given it; what nearly all calls pass comes without a further call.

    :param direct: the pointer types that take an object of their class as it is
    """
    if ctype == "const char *":
        return f"_encode({name}) if _type({name}) is _str and '\\0' not in {name} else _m.text({name})"
    if ctype.startswith("char["):
        return f"_m.room({name}, {ctype[5:-1]})"
    if not ctype.endswith("*"):
        return f"_index({name})"
    if ctype not in direct:
        return f"_to_{suffix(ctype)}({name})"
    return (f"_from_buffer(_p_{suffix(ctype)}, {name}) if _type({name}) is _k_{suffix(ctype)}"
            f" else _to_{suffix(ctype)}({name})")


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
    types = [re.sub(r"\b(Address|CData|String)\b", r"_m.\1", ast.unparse(arg.annotation)) for arg in args]
    return Further(
        "".join(f", {arg.arg}: {kind} = {ast.unparse(default)}"
                for arg, kind, default in zip(args, types, defaults, strict=True)),
        "".join(f", {arg.arg}" for arg in args),
        "".join(line + "\n" for line in re.findall(r"^:param .*", ast.get_docstring(function) or "", flags=re.M)))


class Functions:
    """The functions of a mirror.

    :param types: of the headers
    :param symbols: of the headers
    :param hand: the text of a Python file with functions to call in place of C's
    :param module: its name
    """

    def __init__(self, types: Types, symbols: Iterable[Symbol], hand: str, module: str) -> None:
        self._types, self._hand, self._module = types, hand, module
        # One class, Hand, serves several forms of a library.
        self._is_class = bool(re.search(r"^class Hand\b", hand, flags=re.M))
        self._by_hand = set(re.findall(r"^ *def (\w+)", hand, flags=re.M))
        self.called = [s for s in symbols if s.role == "func" and (s.name in self._by_hand or not is_variadic(s.node))]
        self.params = {s.name: parameters(s.node, types) for s in self.called}
        nodes = {ctype: p.type for s in self.called if s.node.type.args
                 for p, (_, ctype) in zip(s.node.type.args.params, self.params[s.name], strict=False)}
        # The ctypes class, if there is one, of what each pointer type points to.
        self.pointers = {ctype: types.python(node.type) if types.parameter(node).startswith("_m.Ref") else ""
                         for ctype, node in sorted(nodes.items()) if ctype.endswith("*") and ctype != "const char *"}

        # A structure that says how large it is, in `size`, is looked at.
        self._direct = {ctype for ctype, kind in self.pointers.items() if kind and not any(
            d.name == "size" and spelling(d.type) == "size_t" for d in getattr(types.structs.get(kind), "decls", ()))}

    def emit(self, symbol: Symbol) -> str:
        """The Python function: C's, with converted arguments; Calls says which argument is wrong, if one is."""
        name, node, params = symbol.name, symbol.node, self.params[symbol.name]
        given = node.type.args.params if node.type.args else []
        kinds = [self._types.parameter(p.type) for p in given if getattr(p, "name", None)]
        signature = ", ".join(f"{p}: {'_m.String' if ctype == 'const char *' else kind}"
                              for (p, ctype), kind in zip(params, kinds, strict=True))
        result, text = self._types.result(node.type.type), symbol.text
        if result == "str" and " or NULL" in text:
            result = "str | None"
        more = further(name, self._hand, len(params)) if is_variadic(node) else Further()
        text = re.sub(r"^(?=:return:)", lambda _: more.text, text, flags=re.M)
        body = textwrap.indent("\n".join(self._body(name, result, more)), "    ")
        if result == "None":
            body = body.replace("return ", "")
        found = f"_{name} = lib.{name}  # looked up once: it is a tenth of a short call\n\n"
        text = docstring(text, '    ')
        signature += more.signature
        return f"{found if f'_{name}(' in body else ''}def {name}({signature}) -> {result}:\n{text}{body}\n"

    def _body(self, name: str, result: str, more: Further) -> list[str]:
        params = self.params[name]
        names = ", ".join(p for p, _ in params)
        if name in self._by_hand:
            call = "" if self._is_class else "_call, "
            return [f"return _hand.{name}({call}{names}{more.names})"]
        again = f"({', '.join([repr(name), *(p for p, _ in params)])})"
        if result not in {"int", "None"}:
            return [f"return {_returned(result, again)}"]
        if any(ctype == "char **" for _, ctype in params):
            return [f"return _call.allocating{again}"]
        args = ", ".join(converted(*p, self._direct) for p in params)
        if not params:
            return [f"return _{name}({args})"]
        return ["try:", f"    return _{name}({args})", "except _REFUSED:", f"    return _call{again}"]

    def exported(self) -> list[str]:
        """Those of the library; the others are in the header."""
        return [s.name for s in self.called if not s.node.funcspec and s.node.storage != ["static"]]

    def calls(self, macros: list[str]) -> str:
        """What the functions call by."""
        params = self.params | {n: [("value", "long")] for n in macros}
        rows = "".join(f"    {name!r}: {tuple(types)!r},\n" for name, types in params.items())
        lines = [f"_call = _m.Calls(ffi, lib, {{\n{rows}}}, _classes)", "_REFUSED = _m.REFUSED", "_encode = str.encode",
                 "_from_buffer: Any = ffi.from_buffer"]
        for ctype, kind in self.pointers.items():
            lines += [f"{name}: Any" for name in ([f"_k_{suffix(ctype)}", f"_p_{suffix(ctype)}"] if kind else [])]
            lines += [f"_to_{suffix(ctype)}: Any", f"globals().update(_call.pointer_names({ctype!r}))"]
        if self._by_hand & set(self.params):
            lines.append(f"_hand = _{self._module}{'.Hand(ffi, lib, _call)' if self._is_class else ''}")
        return "\n".join(lines) + "\n"


def _returned(result: str, args: str) -> str:
    """The call of a function that returns a pointer: a text, a structure's address, or what cffi makes of it."""
    if result.startswith("str"):
        return f"_m.string{'_or_none' if 'None' in result else ''}(_call.pointer{args})"
    if result.startswith("_c._Pointer["):
        return f"_c.cast(_call.address{args}, _c.POINTER({result[len('_c._Pointer['):-1]}))"
    return f"_call.pointer{args}"


def emit_macro(name: str) -> str:
    return (f"def {name}(value: int) -> int:\n    \"\"\"The macro {name} of the header.\"\"\"\n"
            f"    try:\n        return lib.{name}(_index(value))\n"
            f"    except _REFUSED:\n        return _call({name!r}, value)\n")


# ---- the module ---------------------------------------------------------------

def emit_table(name: str, kind: str, rows: Iterable[tuple[str, object]]) -> str:
    return f"{name}: {kind} = {{\n" + "".join(f"    {key!r}: {value},\n" for key, value in rows) + "}\n"


def emit(module: str, headers: list[str], unit: Unit, constants: list[str], macros: list[str], hand: Path | None,
         form_of: Path | None = None) -> str:
    """The text of the mirror's module.

    :param constants: names of constants and enumerators
    :param macros: names of macros with one argument
    :param hand: Python file with functions to call in place of C's
    :param form_of: the generated module of the library's other form, from which comes what is the same in both
    """
    types = Types(unit)
    functions = Functions(types, unit.symbols, hand.read_text() if hand else "", hand.stem if hand else "")
    symbols = {s.name: s for s in unit.symbols}
    classes = {name: "\n".join(class_lines(name, node, types, documentation(symbols[name]))) + "\n"
               for name, node in types.structs.items()}
    # By C type, what a pointer to it points to: structures, numbers, and pointers themselves.
    named = {types.ctypes[name]: name for name in classes} | {
        ctype[:-1].strip(): kind for ctype, kind in functions.pointers.items() if kind}
    parts = [
        f'"""Generated from {", ".join(headers)} by csrc/bindings.  Do not edit."""\n',
        "from __future__ import annotations\n\n"
        # Parameters are called `str` and `type`; by import, so that type checkers narrow by them.
        "import ctypes as _c\nfrom builtins import str as _str, type as _type\nfrom operator import index as _index\n"
        "from typing import TYPE_CHECKING, Any\n",
        f"from pypfm._c import mirror as _m\nfrom pypfm._c.{module} import ffi, lib\n"
        + (f"from pypfm._c import {hand.stem} as _{hand.stem}\n" if hand else ""),
        "if TYPE_CHECKING:\n    from collections.abc import Callable\n",
        "__all__ = [\n" + "".join(f"    {n!r},\n" for n in sorted(
            [*classes, *types.aliases, *types.scalars, *constants, *macros, *functions.params])) + "]\n",
        "".join(f"{n}: int = lib.{n}\n" for n in constants),
        "".join(f"{n} = {types.python(node)}\n" for n, node in types.scalars.items()),
        *classes.values(),
        "".join(f"{n} = {target}\n" for n, target in types.aliases.items()),
        emit_table("_structures", "dict[str, Any]", ((types.ctypes[n], n) for n in classes))
        + emit_table("_classes", "dict[str, Any]", named.items()) + "_m.declare(ffi, _structures)\n",
        functions.calls(macros),
        *(functions.emit(s) for s in functions.called),
        *(emit_macro(n) for n in macros),
        # The functions that the library exports; the others are in the header.
        "_exported: tuple[str, ...] = (\n" + "".join(f"    {name!r},\n" for name in functions.exported()) + ")\n",
        # As the headers declare them.
        emit_table("_prototypes", "dict[str, str]", ((s.name, repr(s.declaration)) for s in functions.called)),
        # What neither ctypes nor cffi keeps of the declarations: the types' names, const, unions without a name.
        emit_table("_declared", "dict[str, tuple[_m.Declared, ...]]", (
            (name, declared(node)) for name, node in types.structs.items())),
        emit_table("_headers", "dict[str, str]", ((n, repr(symbols[n].header)) for n in classes)),
    ]
    return emit_form(module, form_of, "\n".join(parts), classes, types) if form_of else "\n".join(parts)


def emit_form(module: str, form_of: Path, whole: str, classes: dict[str, str], types: Types) -> str:
    """The mirror of another form of a library: the classes that differ, and the same functions on it."""
    base, theirs, ours = form_of.stem, _Parts(form_of.read_text()), _Parts(whole)
    changed: list[str] = []
    for name, text in ours.classes.items():
        if text != theirs.classes.get(name) or any(re.search(rf"\b{one}\b", text) for one in changed):
            changed.append(name)
    if list(theirs.classes) != list(ours.classes) or theirs.rest != ours.rest:
        raise SystemExit(f"{module} differs from {base} in more than classes")
    return "\n".join([
        # The classes that differ take the names of those that are imported.
        whole.partition("\n")[0] + '\n# mypy: disable-error-code="no-redef"\n',
        "from __future__ import annotations\n\nimport ctypes as _c\nfrom typing import TYPE_CHECKING, Any\n",
        f"from pypfm._c import {base} as _base, mirror as _m\n"
        f"from pypfm._c.another import functions_of as _functions_of\n"
        f"from pypfm._c.{base} import *\n"
        f"from pypfm._c.{base} import __all__ as __all__, _exported, _headers, _prototypes\n"
        f"from pypfm._c.{module} import ffi, lib\n",
        *(classes[name] for name in changed),
        "".join(f"{n} = {target}\n" for n, target in types.aliases.items() if target in changed),
        emit_table("_changed", "dict[str, Any]", ((types.ctypes[name], name) for name in changed))
        + "_structures: dict[str, Any] = _base._structures | _changed\n"
        "_classes: dict[str, Any] = _base._classes | _changed\n_m.declare(ffi, _structures)\n"
        "globals().update(_functions_of(_base, ffi, lib, _classes))\n",
        "_declared: dict[str, tuple[_m.Declared, ...]] = _base._declared | {\n"
        + "".join(f"    {n!r}: {declared(types.structs[n])!r},\n" for n in changed) + "}\n",
    ])


class _Parts:
    """A generated module: its classes, and all else but imports and the declarations of the classes."""

    def __init__(self, text: str) -> None:
        lines, self.classes, used = text.splitlines(), {}, set()
        for node in ast.parse(text).body:
            span = range(node.lineno - 1, node.end_lineno)
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = "\n".join(lines[i] for i in span)
            is_declared = getattr(getattr(node, "target", None), "id", "") == "_declared"
            if is_declared or isinstance(node, (ast.ClassDef, ast.ImportFrom)):
                used.update(span)
        self.rest = [line for i, line in enumerate(lines) if i not in used]
