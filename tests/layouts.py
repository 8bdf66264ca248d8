"""Five readers of the layout of C types: C compiler, DWARF, ctypes, cffi, the package's own describe().

Each gives the same shape, so that tests only have to compare: size of
the type and, for each field, first bit, number of bits and what it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _cffi_backend import FFI
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE

from native import CC, build
from pypfm import layout as describing
from pypfm.config import Library
from pypfm.layout import dwarf
from pypfm.layout.model import Member, TypeLayout

Aggregate = type[ctypes.Structure] | type[ctypes.Union]


@dataclass(frozen=True)
class Types:
    """The types of one library as ctypes declares them, and where the other readers find them.

    :ivar types: declarations by C name ("pfmlib_event_t", "struct perf_event_attr")
    :ivar headers: headers to include
    :ivar enum_fields: fields, (class, field), that ctypes has as int, and their enumerations
    :ivar pointers: C types of the pointers, which ctypes declares as void *
    """

    library: Library
    ffi: FFI
    headers: list[str]
    types: dict[str, Aggregate]
    enum_fields: dict[tuple[str, str], str]
    pointers: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """One field: position in bits, and "unsigned", "signed", "enum NAME ...", "struct", or a C type."""

    bit: int
    bits: int
    kind: str


@dataclass
class Layout:
    """A type; the fields of a nested structure without name are "member.field"."""

    size: int
    fields: dict[str, Field] = field(default_factory=dict)


# ---- ctypes ---------------------------------------------------------------

def run_of_ones(data: bytes) -> tuple[int, int]:
    """First bit and number of the one bits, which have to be adjacent."""
    value = int.from_bytes(data, "little")
    low = (value & -value).bit_length() - 1
    width = value.bit_count()
    assert value == ((1 << width) - 1) << low, f"not one run of bits: {value:#x}"
    return low, width


def ctypes_kind(api: Types, owner: str, name: str, ctype: Any) -> str:
    if issubclass(ctype, ctypes.Array):
        return f"{ctypes_kind(api, owner, name, ctype._type_)}[{ctype._length_}]"
    if issubclass(ctype, (ctypes.Structure, ctypes.Union)):
        return next((known for known, cls in api.types.items() if cls is ctype), "struct")
    if (owner, name) in api.enum_fields:
        return f"enum {api.enum_fields[owner, name]} unsigned"
    if (owner, name) in api.pointers:
        return api.pointers[owner, name]
    return "signed" if ctype(-1).value < 0 else "unsigned"


def ctypes_position(cls: Aggregate, name: str, ctype: Any, *, bit_field: bool) -> tuple[int, int]:
    if not bit_field:
        return 8 * getattr(cls, name).offset, 8 * ctypes.sizeof(ctype)
    obj = cls()
    setattr(obj, name, -1)
    return run_of_ones(bytes(obj))


def ctypes_fields(api: Types, cls: Any, base: int = 0, prefix: str = "", owner: str = "",
                  ) -> Iterator[tuple[str, Field]]:
    """Fields of a structure; those of a member without name as the structure's own."""
    owner = owner or cls.__name__
    for name, ctype, *bits in cls._fields_:
        bit, width = ctypes_position(cls, name, ctype, bit_field=bool(bits))
        if name in getattr(cls, "_anonymous_", ()):
            yield from ctypes_fields(api, ctype, base + bit, prefix, owner)
            continue
        kind = ctypes_kind(api, owner, name, ctype)
        yield prefix + name, Field(base + bit, width, kind)
        if kind == "struct":
            yield from ctypes_fields(api, ctype, base + bit, f"{prefix}{name}.")


def bit_fields(cls: Any, prefix: str = "") -> Iterator[str]:
    """The fields that are bit-fields: they have no address."""
    for name, ctype, *bits in cls._fields_:
        if bits:
            yield prefix + name
        elif issubclass(ctype, (ctypes.Structure, ctypes.Union)):
            anonymous = name in getattr(cls, "_anonymous_", ())
            yield from bit_fields(ctype, prefix if anonymous else f"{prefix}{name}.")


def from_ctypes(api: Types, name: str) -> Layout:
    return Layout(ctypes.sizeof(api.types[name]), dict(ctypes_fields(api, api.types[name])))


# ---- the C compiler ---------------------------------------------------------

C_PROLOGUE = """
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define IS(expression, type) \\
    (__builtin_types_compatible_p(__typeof__(expression), type) ? #type : "another type")
#define SIGN(expression) ((expression) < 0 ? "signed" : "unsigned")

/* Print where the one bits of an object are: first bit and number. */
static void field(const char *name, const void *object, size_t size)
{
    const unsigned char *byte = object;
    size_t first = 8 * size, last = 0, count = 0;
    for (size_t bit = 0; bit < 8 * size; bit++)
        if (byte[bit / 8] >> bit % 8 & 1) {
            if (first > bit) first = bit;
            last = bit;
            count++;
        }
    if (count != last - first + 1)
        printf("%s holes %zu ", name, count);
    else
        printf("%s %zu %zu ", name, first, count);
}

int main(void)
{
"""


def c_write(path: str, kind: str) -> str:
    """C code that sets all bits of a field."""
    if kind.startswith(("unsigned", "signed", "enum ")) and not kind.endswith("]"):
        return f"x.{path} = -1;"
    return f"memset(&x.{path}, 0xff, sizeof x.{path});"


def c_kind(path: str, kind: str) -> str:
    """C code that prints what a field is."""
    if kind.endswith("]"):
        inner = c_kind(f"{path}[0]", kind.partition("[")[0]).replace("\\n", "")
        return f'{inner} printf("[%zu]\\n", sizeof x.{path} / sizeof x.{path}[0]);'
    if kind in ("unsigned", "signed"):
        return f'printf("%s\\n", SIGN(x.{path}));'
    if kind.startswith("enum "):
        return f'printf("enum %s %s\\n", IS(x.{path}, {kind.split()[1]}), SIGN(x.{path}));'
    if kind == "struct":
        return 'printf("struct\\n");'
    return f'printf("%s\\n", IS(x.{path}, {kind}));'


def c_field(type_name: str, path: str, f: Field, *, is_bit_field: bool) -> str:
    code = (f'memset(&x, 0, sizeof x); {c_write(path, f.kind)} field("{path}", &x, sizeof x); '
            f"{c_kind(path, f.kind)}\n")
    if f.bits == 0:  # an array without elements
        code = f'printf("{path} %zu 0 ", 8 * offsetof({type_name}, {path})); {c_kind(path, f.kind)}\n'
    if is_bit_field:
        return code
    return code + f'printf("{path} offsetof %zu %zu\\n", offsetof({type_name}, {path}), sizeof x.{path});\n'


def c_type(api: Types, name: str, skip: Collection[str]) -> str:
    without_address = set(bit_fields(api.types[name]))
    fields = "".join(c_field(name, path, f, is_bit_field=path in without_address)
                     for path, f in from_ctypes(api, name).fields.items() if path not in skip)
    return f'{{ static {name} x;\nprintf("@type %zu %zu {name}\\n", sizeof x, _Alignof({name}));\n{fields}}}\n'


def c_program(api: Types, skip: Collection[str]) -> str:
    included = "".join(f"#include <{h}>\n" for h in api.headers)
    return included + C_PROLOGUE + "".join(c_type(api, name, skip) for name in api.types) + "return 0; }\n"


@dataclass
class CAnswers:
    """What the C program printed."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    alignment: dict[str, int] = field(default_factory=dict)
    offsetof: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)


def from_c(api: Types, directory: Path, include: Path | None = None, skip: Collection[str] = ()) -> CAnswers:
    """What a program prints that is compiled with the installed headers, or others that lack some fields."""
    program = directory / "layout"
    # Not both directories: the compiler looks into /usr/include last, wherever -I names it.
    flags = [flag for flag in api.library.cflags if not (include and flag.startswith("-I"))]
    build(CC, "-std=gnu11", "-O1", "-w", "-DPFM_OWN_PERF_EVENT", *([f"-I{include}"] if include else []), *flags, "-x", "c", "-",
          "-o", program, source=c_program(api, skip))
    answers, name = CAnswers(), ""
    for line in build(program).splitlines():
        words = line.split(maxsplit=3)
        if words[0] == "@type":
            name = words[3]
            answers.layouts[name] = Layout(int(words[1]))
            answers.alignment[name] = int(words[2])
            answers.offsetof[name] = {}
        elif words[1] == "offsetof":
            offset, _, size = line.split(maxsplit=2)[2].partition(" ")
            answers.offsetof[name][words[0]] = int(offset), int(size)
        else:
            answers.layouts[name].fields[words[0]] = Field(int(words[1]), int(words[2]), words[3])
    return answers


# ---- what the package reads: DWARF, describe() ------------------------------

def member_kind(m: Member) -> str:
    if m.members:
        kind = "struct"
    elif m.is_enum:
        kind = f"enum {m.type} {m.kind}"
    elif m.kind in ("pointer", "struct", "union"):
        kind = m.type
    else:
        kind = "signed" if m.kind == "char" else m.kind
    return kind + "".join(f"[{n}]" for n in m.dimensions)


def from_described(layout: TypeLayout) -> Layout:
    """The package's own description in this module's shape."""
    fields = {path: Field(m.first_bit, m.end_bit - m.first_bit, member_kind(m)) for path, m in layout.flat()}
    return Layout(layout.size, fields)


def declaring_files(unit: CompileUnit) -> list[str]:
    """Names of the files of a compile unit, as DW_AT_decl_file numbers them."""
    program = unit.dwarfinfo.line_program_for_CU(unit)
    assert program is not None
    header = program.header
    directories = [d.decode() for d in header["include_directory"]]
    files = header["file_entry"]
    if header["version"] >= 5:
        return [f"{directories[f.dir_index]}/{f.name.decode()}" for f in files]
    return ["", *(f"{['', *directories][f.dir_index]}/{f.name.decode()}" for f in files)]  # counted from 1


def public_types(api: Types, info: dwarf.DebugInfo) -> Iterator[DIE]:
    """The typedefs and tagged structures of the installed headers, in each compile unit that sees them."""
    files: dict[int, list[str]] = {}
    for die in info.entries():
        offset = die.cu.cu_offset
        if offset not in files:
            files[offset] = declaring_files(die.cu)
        path = Path(files[offset][dwarf.number(die, "decl_file") or 0]).resolve()
        if path.is_relative_to(api.library.include_dir.resolve()):
            yield die


@dataclass
class DwarfAnswers:
    """What the debugging information says of the typedefs of the headers."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    scalars: dict[str, tuple[str, int]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)


def add_type(answers: DwarfAnswers, die: DIE) -> None:
    name = dwarf.type_name(die)
    inner = die if die.tag in ("DW_TAG_structure_type", "DW_TAG_union_type") else dwarf.target(die)
    assert inner is not None
    if dwarf.number(inner, "declaration"):
        answers.incomplete.add(name)
    elif inner.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
        layout = from_described(dwarf.layout_of(inner, name, ""))
        assert answers.layouts.setdefault(name, layout) == layout, f"{name} differs between source files"
    elif inner.tag == "DW_TAG_enumeration_type":
        answers.enums[name] = dwarf.enumerators(inner)
    else:
        answers.scalars[name] = dwarf.scalar(die)


def from_dwarf(api: Types, library: Path) -> DwarfAnswers:
    answers = DwarfAnswers()
    with dwarf.opened(library) as info:
        for die in public_types(api, info):
            add_type(answers, die)
    return answers


# ---- cffi -------------------------------------------------------------------

def cffi_kind(api: Types, ctype: FFI.CType) -> str:
    if ctype.kind == "array":
        return f"{cffi_kind(api, ctype.item)}[{ctype.length}]"
    if ctype.kind in ("struct", "union"):
        return ctype.cname if ctype.cname in api.types else "struct"
    if ctype.kind == "pointer":
        return ctype.cname.replace("* *", "**")
    sign = "signed" if int(api.ffi.cast(ctype, -1)) < 0 else "unsigned"
    return f"enum {ctype.cname} {sign}" if ctype.kind == "enum" else sign


def cffi_fields(api: Types, ctype: FFI.CType, base: int = 0, prefix: str = "") -> Iterator[tuple[str, Field]]:
    for name, f in ctype.fields:
        is_bit_field = f.bitsize >= 0
        bit = base + 8 * f.offset + (f.bitshift if is_bit_field else 0)
        if not name:
            yield from cffi_fields(api, f.type, bit, prefix)
            continue
        kind = cffi_kind(api, f.type)
        yield prefix + name, Field(bit, f.bitsize if is_bit_field else 8 * api.ffi.sizeof(f.type), kind)
        if kind == "struct":
            yield from cffi_fields(api, f.type, bit, f"{prefix}{name}.")


def from_cffi(api: Types, name: str) -> Layout:
    """As cffi has it, which does not tell const char * from char *."""
    return Layout(api.ffi.sizeof(name), dict(cffi_fields(api, api.ffi.typeof(name))))


# ---- all of them --------------------------------------------------------------

def without_const(layout: Layout) -> dict[str, tuple[int, int, str]]:
    return {path: (f.bit, f.bits, f.kind.replace("const ", "")) for path, f in layout.fields.items()}


def check_readers(api: Types, sizes: dict[str, int], c_side: CAnswers, dwarf_side: DwarfAnswers, library: str) -> None:
    """Every type has the size of the table, one alignment, and the same fields to each reader."""
    assert sorted(describing.types(library)) == sorted(api.types)
    for name, ctype in api.types.items():
        expected, found = from_ctypes(api, name), describing.describe(name, library)
        layouts = {"C": c_side.layouts[name], "DWARF": dwarf_side.layouts[name], "describe()": from_described(found)}
        assert {reader: layout for reader, layout in layouts.items() if layout != expected} == {}, name
        assert without_const(from_cffi(api, name)) == without_const(expected), name
        assert expected.size == api.ffi.sizeof(name) == sizes[name], name
        assert c_side.alignment[name] == ctypes.alignment(ctype) == api.ffi.alignof(name) == found.alignment, name
        assert [path for path, _ in found.flat()] == list(dwarf_side.layouts[name].fields), name  # in the header's order
        assert {path: (8 * offset, 8 * size) for path, (offset, size) in c_side.offsetof[name].items()} == {
            path: (f.bit, f.bits) for path, f in expected.fields.items() if path not in set(bit_fields(ctype))}, name


def check_enumerations(mirror: Any, enums: dict[str, dict[str, int]], dwarf_side: DwarfAnswers) -> None:
    """Names and values, and the size of an int."""
    for name, values in enums.items():
        assert dwarf_side.enums[name] == {n: getattr(mirror, n) for n in values} == mirror.ffi.typeof(name).relements == values, name
        assert mirror.ffi.sizeof(name) == ctypes.sizeof(ctypes.c_uint), name
