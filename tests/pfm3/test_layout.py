"""The bytes of every public type: C compiler, DWARF, ctypes declarations and cffi agree.

The ctypes declarations (abi_full.py) are written from the ABI's tables; the
other three see our headers.  A type that is added to a header and not to the
declarations fails test_every_type_is_covered.
"""

from __future__ import annotations

import ctypes

import pytest

from abi_full import ENUM_FIELDS, ENUMS, SCALARS, SIZES, TYPES
from layouts import (
    CAnswers,
    DwarfAnswers,
    Types,
    check_enumerations,
    check_readers,
    from_c,
    from_dwarf,
)
from native import PFM3, debug_library
from pypfm import pfm3
from pypfm.pfm3 import ffi

API = Types(PFM3, ffi, ["perfmon/pfmlib_gen_ia64.h", "perfmon/pfmlib_itanium.h", "perfmon/pfmlib_itanium2.h",
                           "perfmon/pfmlib_montecito.h", "perfmon/perfmon_dfl_smpl.h", "perfmon/perfmon_default_smpl.h"],
            TYPES, ENUM_FIELDS, {("pfarg_context_t", "ctx_smpl_vaddr"): "void *"})


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


def test_all_readers_agree(c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    check_readers(API, SIZES, c_side, dwarf_side, "pfm3")


def test_enumerations(dwarf_side: DwarfAnswers) -> None:
    check_enumerations(pfm3, ENUMS, dwarf_side)


def test_integer_types(dwarf_side: DwarfAnswers) -> None:
    for name, ctype in SCALARS.items():
        size, sign = ctypes.sizeof(ctype), "signed" if ctype(-1).value < 0 else "unsigned"
        assert dwarf_side.scalars[name] == (sign, size)
        assert ffi.sizeof(name) == size
        assert (int(ffi.cast(name, -1)) < 0) == (sign == "signed")
