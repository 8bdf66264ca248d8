"""Four readers of the layout of the libpfm 3 types: C compiler, DWARF, ctypes, cffi.

Each gives the same shape, so that test_layout.py only has to compare: size of
the type and, for each field, first bit, number of bits and what it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _cffi_backend import FFI
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from abi_full import ENUM_FIELDS, TYPES
from native import CC, PFM3, build
from pypfm.pfm3 import ffi

Aggregate = type[ctypes.Structure] | type[ctypes.Union]


@dataclass(frozen=True)
class Field:
    """One field: position in bits, and "unsigned", "signed", "enum NAME ...", "struct" or a type's name."""

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


def ctypes_kind(owner: str, name: str, ctype: Any) -> str:
    if issubclass(ctype, ctypes.Array):
        return f"{ctypes_kind(owner, name, ctype._type_)}[{ctype._length_}]"
    if issubclass(ctype, (ctypes.Structure, ctypes.Union)):
        return ctype.__name__ if ctype.__name__ in TYPES else "struct"
    if (owner, name) in ENUM_FIELDS:
        return f"enum {ENUM_FIELDS[owner, name]} unsigned"
    return "signed" if ctype(-1).value < 0 else "unsigned"


def ctypes_position(cls: Aggregate, name: str, ctype: Any, *, bit_field: bool) -> tuple[int, int]:
    if not bit_field:
        return 8 * getattr(cls, name).offset, 8 * ctypes.sizeof(ctype)
    obj = cls()
    setattr(obj, name, -1)
    return run_of_ones(bytes(obj))


def ctypes_fields(cls: Any, base: int = 0, prefix: str = "") -> Iterator[tuple[str, Field]]:
    for name, ctype, *bits in cls._fields_:
        bit, width = ctypes_position(cls, name, ctype, bit_field=bool(bits))
        kind = ctypes_kind(cls.__name__, name, ctype)
        yield prefix + name, Field(base + bit, width, kind)
        if kind == "struct":
            yield from ctypes_fields(ctype, base + bit, f"{prefix}{name}.")


def from_ctypes(name: str) -> Layout:
    return Layout(ctypes.sizeof(TYPES[name]), dict(ctypes_fields(TYPES[name])))


# ---- the C compiler ---------------------------------------------------------

C_PROLOGUE = """
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
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


def c_field(type_name: str, path: str, f: Field) -> str:
    code = (f'memset(&x, 0, sizeof x); {c_write(path, f.kind)} field("{path}", &x, sizeof x); '
            f"{c_kind(path, f.kind)}\n")
    if "." in path or type_name == "pfmlib_options_t":  # a bit-field has no address
        return code
    return code + f'printf("{path} offsetof %zu %zu\\n", offsetof({type_name}, {path}), sizeof x.{path});\n'


def c_type(name: str) -> str:
    fields = "".join(c_field(name, path, f) for path, f in from_ctypes(name).fields.items())
    return f'{{ static {name} x;\nprintf("type {name} %zu %zu\\n", sizeof x, _Alignof({name}));\n{fields}}}\n'


def c_program() -> str:
    return C_PROLOGUE + "".join(map(c_type, TYPES)) + "return 0; }\n"


@dataclass
class CAnswers:
    """What the C program printed."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    alignment: dict[str, int] = field(default_factory=dict)
    offsetof: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)


def from_c(directory: Path, include: Path = PFM3.include_dir) -> CAnswers:
    program = directory / "layout"
    build(CC, "-std=gnu11", "-O1", "-w", f"-I{include}", "-x", "c", "-", "-o", program, source=c_program())
    answers, name = CAnswers(), ""
    for line in build(program).splitlines():
        words = line.split(maxsplit=3)
        if words[0] == "type":
            name = words[1]
            answers.layouts[name] = Layout(int(words[2]))
            answers.alignment[name] = int(words[3])
            answers.offsetof[name] = {}
        elif words[1] == "offsetof":
            offset, _, size = line.split(maxsplit=2)[2].partition(" ")
            answers.offsetof[name][words[0]] = int(offset), int(size)
        else:
            answers.layouts[name].fields[words[0]] = Field(int(words[1]), int(words[2]), words[3])
    return answers


# ---- DWARF ------------------------------------------------------------------

ENCODINGS = {5: "signed", 6: "signed", 7: "unsigned", 8: "unsigned"}


def attribute(die: DIE, name: str) -> int | None:
    found = die.attributes.get(f"DW_AT_{name}")
    return None if found is None else int(found.value)


def die_name(die: DIE) -> str:
    return die.attributes["DW_AT_name"].value.decode() if "DW_AT_name" in die.attributes else ""


def target(die: DIE) -> DIE:
    return die.get_DIE_from_attribute("DW_AT_type")


def dwarf_array(die: DIE) -> tuple[str, int]:
    kind, size = dwarf_kind(target(die))
    for sub in die.iter_children():
        upper = attribute(sub, "upper_bound")
        count = attribute(sub, "count") if upper is None else upper + 1
        assert count is not None
        kind, size = f"{kind}[{count}]", size * count
    return kind, size


def dwarf_kind(die: DIE, name: str = "") -> tuple[str, int]:
    """What a type is, and its size in bytes; name is the typedef through which it was reached."""
    tag = str(die.tag).removeprefix("DW_TAG_")
    if tag == "typedef":
        return dwarf_kind(target(die), die_name(die))
    if tag == "array_type":
        return dwarf_array(die)
    size = attribute(die, "byte_size")
    assert size is not None, die
    if tag == "base_type":
        return ENCODINGS[attribute(die, "encoding") or 0], size
    if tag == "enumeration_type":
        return f"enum {name} {dwarf_kind(target(die))[0]}", size
    assert tag in ("structure_type", "union_type"), tag
    return name or "struct", size


def dwarf_bit(member: DIE, size: int) -> int:
    """First bit of a member within its structure."""
    bit = attribute(member, "data_bit_offset")
    if bit is not None:
        return bit
    start = 8 * (attribute(member, "data_member_location") or 0)
    from_the_top = attribute(member, "bit_offset")  # DWARF 2, which clang uses to please gdb
    if from_the_top is None:
        return start
    return start + 8 * size - from_the_top - (attribute(member, "bit_size") or 0)


def dwarf_fields(die: DIE, base: int = 0, prefix: str = "") -> Iterator[tuple[str, Field]]:
    for member in die.iter_children():
        if member.tag != "DW_TAG_member":  # clang puts nested types here
            continue
        kind, size = dwarf_kind(target(member))
        bit = dwarf_bit(member, size)
        path = prefix + die_name(member)
        yield path, Field(base + bit, attribute(member, "bit_size") or 8 * size, kind)
        if kind == "struct":
            yield from dwarf_fields(target(member), base + bit, f"{path}.")


def declaring_files(unit: CompileUnit) -> list[str]:
    """Names of the files of a compile unit, as DW_AT_decl_file numbers them (DWARF 5)."""
    program = unit.dwarfinfo.line_program_for_CU(unit)
    assert program is not None
    header = program.header
    directories = [d.decode() for d in header["include_directory"]]
    return [f"{directories[f.dir_index]}/{f.name.decode()}" for f in header["file_entry"]]


def public_typedefs(library: Path) -> Iterator[DIE]:
    """The typedefs of the installed headers, in each compile unit that sees them."""
    with library.open("rb") as stream:
        for unit in ELFFile(stream).get_dwarf_info().iter_CUs():
            files = declaring_files(unit)
            for die in unit.get_top_DIE().iter_children():
                if die.tag != "DW_TAG_typedef":
                    continue
                path = Path(files[attribute(die, "decl_file") or 0]).resolve()
                if path.is_relative_to(PFM3.include_dir.resolve()):
                    yield die


@dataclass
class DwarfAnswers:
    """What the debugging information says of the typedefs of the headers."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    scalars: dict[str, tuple[str, int]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)


def add_typedef(answers: DwarfAnswers, die: DIE) -> None:
    name, inner = die_name(die), target(die)
    if attribute(inner, "declaration"):
        answers.incomplete.add(name)
    elif inner.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
        layout = Layout(dwarf_kind(inner)[1], dict(dwarf_fields(inner)))
        assert answers.layouts.setdefault(name, layout) == layout, f"{name} differs between source files"
    elif inner.tag == "DW_TAG_enumeration_type":
        answers.enums[name] = {die_name(e): attribute(e, "const_value") or 0 for e in inner.iter_children()}
    else:
        answers.scalars[name] = dwarf_kind(die)


def from_dwarf(library: Path) -> DwarfAnswers:
    answers = DwarfAnswers()
    for die in public_typedefs(library):
        add_typedef(answers, die)
    return answers


# ---- cffi -------------------------------------------------------------------

def cffi_kind(ctype: FFI.CType) -> str:
    if ctype.kind == "array":
        return f"{cffi_kind(ctype.item)}[{ctype.length}]"
    if ctype.kind in ("struct", "union"):
        return ctype.cname if ctype.cname in TYPES else "struct"
    sign = "signed" if int(ffi.cast(ctype, -1)) < 0 else "unsigned"
    return f"enum {ctype.cname} {sign}" if ctype.kind == "enum" else sign


def cffi_fields(ctype: FFI.CType, base: int = 0, prefix: str = "") -> Iterator[tuple[str, Field]]:
    for name, f in ctype.fields:
        is_bit_field = f.bitsize >= 0
        bit = base + 8 * f.offset + (f.bitshift if is_bit_field else 0)
        kind = cffi_kind(f.type)
        yield prefix + name, Field(bit, f.bitsize if is_bit_field else 8 * ffi.sizeof(f.type), kind)
        if kind == "struct":
            yield from cffi_fields(f.type, bit, f"{prefix}{name}.")


def from_cffi(name: str) -> Layout:
    return Layout(ffi.sizeof(name), dict(cffi_fields(ffi.typeof(name))))
