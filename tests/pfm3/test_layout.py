"""The bytes of every public type: C compiler, DWARF, ctypes declarations and cffi agree.

The ctypes declarations (abi_full.py) are written from the ABI's tables; the
other three see our headers.  A type that is added to a header and not to the
declarations fails test_every_type_is_covered.
"""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import pytest

from abi_full import ENUM_FIELDS, ENUMS, REGISTERS, SCALARS, SIZES, TYPES
from layouts import CAnswers, DwarfAnswers, Types, from_c, from_cffi, from_ctypes, from_described, from_dwarf
from native import PFM3, debug_library
from pypfm import layout, pfm3
from pypfm.pfm3 import ffi

API = Types(PFM3, ffi, ["perfmon/pfmlib_gen_ia64.h", "perfmon/pfmlib_itanium.h", "perfmon/pfmlib_itanium2.h",
                           "perfmon/pfmlib_montecito.h", "perfmon/perfmon_dfl_smpl.h", "perfmon/perfmon_default_smpl.h"],
            TYPES, ENUM_FIELDS, {("pfarg_context_t", "ctx_smpl_vaddr"): "void *"})

every_type = pytest.mark.parametrize("name", TYPES)


@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> CAnswers:
    return from_c(API, tmp_path_factory.mktemp("layout"))


@pytest.fixture(scope="module")
def dwarf_side(tmp_path_factory: pytest.TempPathFactory) -> DwarfAnswers:
    return from_dwarf(API, debug_library(PFM3, tmp_path_factory))


def test_every_type_is_covered(dwarf_side: DwarfAnswers) -> None:
    assert set(dwarf_side.layouts) == set(TYPES)
    assert set(dwarf_side.enums) == set(ENUMS)
    assert set(dwarf_side.scalars) == set(SCALARS) | {"pfm_uuid_t"}  # an array
    assert dwarf_side.incomplete == set()


@every_type
def test_size(name: str, c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    sizes = {
        "table": SIZES[name], "ctypes": ctypes.sizeof(TYPES[name]), "C": c_side.layouts[name].size,
        "DWARF": dwarf_side.layouts[name].size, "cffi": ffi.sizeof(name),
    }
    assert set(sizes.values()) == {SIZES[name]}, sizes


@every_type
def test_alignment(name: str, c_side: CAnswers) -> None:
    assert c_side.alignment[name] == ctypes.alignment(TYPES[name]) == ffi.alignof(name)


@every_type
def test_c_compiler(name: str, c_side: CAnswers) -> None:
    assert c_side.layouts[name] == from_ctypes(API, name)


@every_type
def test_offsetof_agrees_with_the_bytes(name: str, c_side: CAnswers) -> None:
    for path, (offset, size) in c_side.offsetof[name].items():
        f = c_side.layouts[name].fields[path]
        assert (8 * offset, 8 * size) == (f.bit, f.bits), path


@every_type
def test_dwarf(name: str, dwarf_side: DwarfAnswers) -> None:
    assert dwarf_side.layouts[name] == from_ctypes(API, name)


@every_type
def test_cffi(name: str) -> None:
    assert from_cffi(API, name) == from_ctypes(API, name)


@every_type
def test_describe(name: str, c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    found = layout.describe(name, "pfm3")
    assert from_described(found) == from_ctypes(API, name)
    assert [path for path, _ in found.flat()] == list(dwarf_side.layouts[name].fields)  # in the header's order
    assert found.alignment == c_side.alignment[name]


def test_types() -> None:
    assert sorted(layout.types("pfm3")) == sorted(TYPES)


@pytest.mark.parametrize("name", ENUMS)
def test_enumeration(name: str, dwarf_side: DwarfAnswers) -> None:
    assert dwarf_side.enums[name] == ENUMS[name]
    assert {n: getattr(pfm3, n) for n in ENUMS[name]} == ENUMS[name]
    assert ffi.typeof(name).relements == ENUMS[name]
    assert ffi.sizeof(name) == ctypes.sizeof(ctypes.c_uint)


@pytest.mark.parametrize("name", SCALARS)
def test_scalar(name: str, dwarf_side: DwarfAnswers) -> None:
    size, sign = ctypes.sizeof(SCALARS[name]), "signed" if SCALARS[name](-1).value < 0 else "unsigned"
    assert dwarf_side.scalars[name] == (sign, size)
    assert ffi.sizeof(name) == size
    assert (int(ffi.cast(name, -1)) < 0) == (sign == "signed")


# ---- bit-fields through cffi --------------------------------------------------
# cffi does not check bit-fields at import, so each is written and read here.

BIT_FIELDS = [
    (name, member, bit_field, low, width)
    for name, members in REGISTERS.items()
    for member, fields in members.items()
    for bit_field, (low, width) in fields.items()
] + [("pfmlib_options_t", "", f, low, width)
     for f, low, width in [("pfm_debug", 0, 1), ("pfm_verbose", 1, 1), ("pfm_reserved", 2, 30)]]
LIST_OF_FIELDS = pytest.mark.parametrize(("name", "member", "bit_field", "low", "width"), BIT_FIELDS,
                                         ids=[".".join(filter(None, row[:3])) for row in BIT_FIELDS])


def patterns(width: int) -> set[int]:
    """All ones, and a one at each end."""
    return {(1 << width) - 1, 1, 1 << (width - 1)}


def test_every_bit_field_is_in_the_list() -> None:
    leaves = {(name, path) for name in TYPES for path, f in from_ctypes(API, name).fields.items()
              if f.kind in ("unsigned", "signed") and (name in REGISTERS or f.bits % 8)}
    listed = {(name, ".".join(filter(None, (member, f)))) for name, member, f, _, _ in BIT_FIELDS}
    whole = {(name, value) for name in REGISTERS for value in ("pmc_val", "pmd_val")
             if (name, value) in leaves}
    assert len(whole) == len(REGISTERS)
    assert leaves == listed | whole


@LIST_OF_FIELDS
def test_bit_field_to_bytes(name: str, member: str, bit_field: str, low: int, width: int) -> None:
    for value in patterns(width):
        obj = getattr(pfm3, name)()
        setattr(getattr(obj, member) if member else obj, bit_field, value)
        raw = bytes(obj)
        assert raw == (value << low).to_bytes(ffi.sizeof(name), "little")


@LIST_OF_FIELDS
def test_bytes_to_bit_field(name: str, member: str, bit_field: str, low: int, width: int) -> None:
    size = ffi.sizeof(name)
    for value in patterns(width):
        for background in (0, (1 << 8 * size) - 1):
            mask = ((1 << width) - 1) << low
            obj = getattr(pfm3, name).from_buffer_copy((background & ~mask | value << low).to_bytes(size, "little"))
            assert getattr(getattr(obj, member) if member else obj, bit_field) == value


@pytest.mark.parametrize(("header", "old", "new"), [
    ("pfmlib_itanium2.h", "unsigned long iarc_ibrp0 : 1;", "unsigned long iarc_ibrp0 : 2;"),
    ("pfmlib_montecito.h", "unsigned char etb_tm;", "signed char etb_tm;"),
    ("pfmlib.h", "unsigned int num_masks;", "unsigned long num_masks;"),
], ids=["bit-field", "signedness", "offset"])
@pytest.mark.slow
def test_a_changed_header_is_noticed(tmp_path: Path, header: str, old: str, new: str) -> None:
    shutil.copytree(PFM3.include_dir, tmp_path / "include")
    path = tmp_path / "include" / "perfmon" / header
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    layouts = from_c(API, tmp_path, tmp_path / "include").layouts
    assert layouts != {name: from_ctypes(API, name) for name in TYPES}
