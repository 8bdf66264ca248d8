"""libpmc.so, its headers, its extension and its mirror: exports, constants, and the bytes of each type."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from abi_pmc import CONSTANTS, POINTERS, PUBLISHED, SCALARS, TYPES
from header_names import HeaderNames, includes
from layouts import CAnswers, DwarfAnswers, Types, from_c, from_cffi, from_ctypes, from_dwarf
from native import CC, PMC, build, debug_library, dynamic_entries, exported
from pypfm import pmc
from pypfm._c import names
from pypfm._c import pmc as _pmc
from pypfm.pmc import ffi

FUNCTIONS = {
    "pmc_control", "pmc_get_info", "pmc_model_advance",
    "pmc_configure_counter", "pmc_start_counter", "pmc_stop_counter", "pmc_get_num_counters", "pmc_get_counter_class",
    "pmc_get_counter_type", "pmc_get_counter_value", "pmc_get_accumulated_counter_value",
    "pmc_get_counter_class_name", "pmc_get_counter_type_name", "pmc_get_counter_event_name",
    "pmc_get_counter_event_list"}
API = HeaderNames(PMC, {"_SYS_PMC_H_": "include guard", "_PMC_H_": "include guard", "_PMC_MODEL_H_": "include guard"},
                  ["stdint.h", "sys/types.h"])
LAYOUT = Types(PMC, ffi, ["pmc.h", "pmc_model.h"], TYPES, {}, POINTERS)
every_type = pytest.mark.parametrize("name", TYPES)


# ---- names ----------------------------------------------------------------------------------------

def test_headers() -> None:
    assert API.headers == ["pmc.h", "pmc_model.h", "sys/pmc.h"]


def test_library_exports_the_functions_of_its_headers() -> None:
    assert exported(PMC.path) == dict.fromkeys(FUNCTIONS, "T")
    assert API.extern_functions == FUNCTIONS


def test_soname() -> None:
    assert PMC.path.name == "libpmc.so.1"
    assert dynamic_entries(PMC.path, "DT_SONAME") == ["libpmc.so.1"]
    assert dynamic_entries(PMC.path, "DT_NEEDED") == ["libc.so.6"]


def test_extension_exports_only_its_initialisation() -> None:
    path = Path(_pmc.__file__)
    assert path.name == "pmc.abi3.so"
    assert exported(path) == {"PyInit_pmc": "T"}


def test_constants(tmp_path: Path) -> None:
    assert set(API.constants) == set(CONSTANTS)
    program = tmp_path / "constants"
    source = "#include <stdio.h>\n" + includes(API.headers) + "int main(void) {\n" + "".join(
        f'printf("{n} %lld\\n", (long long)({n}));\n' for n in API.constants) + "return 0; }\n"
    build(CC, "-std=gnu11", *PMC.cflags, "-x", "c", "-", "-o", program, source=source)
    assert {n: int(v) for n, v in (line.split() for line in build(program).splitlines())} == CONSTANTS
    assert {n: getattr(pmc, n) for n in CONSTANTS} == CONSTANTS


def test_unit_macros() -> None:
    assert set(API.one_argument_macros) == {"__PMC_UNIT", "__PMC_GET_UNIT", "__PMC_GET_EVENT"}
    mirror = {name: getattr(pmc, name) for name in API.one_argument_macros}
    assert mirror["__PMC_UNIT"](0x0F) == 0xF0000
    assert mirror["__PMC_GET_UNIT"](0xF0028) == 0x0F
    assert mirror["__PMC_GET_EVENT"](0xF0028) == 0x28


def test_mirror_has_every_name_and_no_other() -> None:
    declared = {*API.extern_functions, *API.typedefs, *API.struct_tags, *API.constants, *API.one_argument_macros}
    assert [n for n in sorted(declared) if not hasattr(pmc, n) or n not in pmc.__all__] == []
    assert set(pmc.__all__) - declared == {*names.__all__, "ffi", "lib"}
    assert API.inline_functions == API.enumerators == API.incomplete_types == set()


# ---- layouts ----------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> CAnswers:
    return from_c(LAYOUT, tmp_path_factory.mktemp("layout"))


@pytest.fixture(scope="module")
def dwarf_side(tmp_path_factory: pytest.TempPathFactory) -> DwarfAnswers:
    return from_dwarf(LAYOUT, debug_library(PMC, tmp_path_factory))


def test_every_type_is_covered(dwarf_side: DwarfAnswers) -> None:
    assert set(dwarf_side.layouts) == set(TYPES) == {f"struct {tag}" for tag in API.struct_tags}
    assert dwarf_side.scalars == SCALARS
    assert dwarf_side.incomplete == set()


@every_type
def test_published_layout(name: str, c_side: CAnswers) -> None:
    size, offsets = PUBLISHED[name]
    assert c_side.layouts[name].size == size
    assert {member: offset for member, (offset, _) in c_side.offsetof[name].items()} == offsets
    assert c_side.alignment[name] == ctypes.alignment(TYPES[name]) == ffi.alignof(name) == 8


@every_type
def test_four_readers_agree(name: str, c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    expected = from_ctypes(LAYOUT, name)
    assert c_side.layouts[name] == expected
    assert dwarf_side.layouts[name] == expected
    cffi = from_cffi(LAYOUT, name)
    assert cffi.size == expected.size
    assert {path: (f.bit, f.bits, f.kind.removeprefix("const ")) for path, f in cffi.fields.items()} == {
        path: (f.bit, f.bits, f.kind.removeprefix("const ")) for path, f in expected.fields.items()}
