"""The bytes of every public type in the form of the manual pages: declarations, C, DWARF, cffi, describe()."""

from __future__ import annotations

import pytest

from abi_full import ENUM_FIELDS
from abi_manual import OTHER, SIZES, TYPES
from layouts import CAnswers, DwarfAnswers, Types, check_readers, from_c, from_dwarf
from native import PFM3_MANUAL, debug_library
from pypfm import layout, pfm3_manual

API = Types(PFM3_MANUAL, pfm3_manual.ffi, ["perfmon/pfmlib_gen_ia64.h", "perfmon/pfmlib_itanium.h",
                                         "perfmon/pfmlib_itanium2.h", "perfmon/pfmlib_montecito.h",
                                         "perfmon/perfmon_dfl_smpl.h", "perfmon/perfmon_default_smpl.h"],
            TYPES, ENUM_FIELDS, {("pfarg_context_t", "ctx_smpl_vaddr"): "void *"})
pytestmark = pytest.mark.slow  # of the header's form the fast tests have all of it


@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> CAnswers:
    return from_c(API, tmp_path_factory.mktemp("layout"))


@pytest.fixture(scope="module")
def dwarf_side(tmp_path_factory: pytest.TempPathFactory) -> DwarfAnswers:
    return from_dwarf(API, debug_library(PFM3_MANUAL, tmp_path_factory))


def test_every_type_is_covered(dwarf_side: DwarfAnswers) -> None:
    assert set(dwarf_side.layouts) == set(TYPES)


def test_all_readers_agree(c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    check_readers(API, SIZES, c_side, dwarf_side, "pfm3-manual")


def test_differs_from_the_header_where_the_pages_do() -> None:
    different = {name for name in TYPES if not layout.compare(layout.describe(name, "pfm3"), layout.describe(name, "pfm3-manual")).same}
    assert different == {t.__name__ for t in OTHER}
