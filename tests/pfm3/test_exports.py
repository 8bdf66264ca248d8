"""The shared library, the extension module and the mirror offer exactly what the headers declare."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from header_names import HeaderNames, check_mirror
from native import LINKERS_NAMES, PFM3, PFM3_MANUAL, dynamic_entries, exported
from pypfm import pfm3, pfm3_manual
from pypfm._c import pfm3 as _pfm3
from pypfm._c import pfm3_manual as _pfm3_manual
from pypfm.config import Library

API = HeaderNames(PFM3, {
    "__PERFMON_H__": "include guard",
    "__PERFMON_V2_H__": "include guard",
    "__PERFMON_DFL_SMPL_H__": "include guard",
    "__PERFMON_DEFAULT_SMPL_H__": "include guard",
    "__PFMLIB_COMP_IA64_H__": "include guard",
    "__PFMLIB_OS_IA64_H__": "include guard",
    "_PERFMON_IA64_H_": "include guard",
    "_PERFMON_COMPAT_H_": "include guard",
    "_PERFMON_MMAP_H_": "include guard",
    "_PERFMON_MODEL_H_": "include guard",
    "PFM_DFL_SMPL_NAME": "a string",
    "PFM_DEFAULT_SMPL_UUID": "an initialiser",
    "__PFMLIB_H__": "include guard",
    "__PFMLIB_COMP_H__": "include guard",
    "__PFMLIB_GEN_IA64_H__": "include guard",
    "__PFMLIB_ITANIUM2_H__": "include guard",
    "__PFMLIB_ITANIUM_H__": "include guard",
    "__PFMLIB_MONTECITO_H__": "include guard",
    "__PFMLIB_OS_H__": "include guard",
    "__PFMLIB_REGMASK_H__": "include guard",
    "PFMLIB_ERROR_LIST": "X-macro list of the return codes; takes a macro",
}, ["stdio.h", "inttypes.h", "stddef.h", "endian.h", "sys/types.h", "sys/mman.h"])

each_form = pytest.mark.parametrize("form", [PFM3, PFM3_MANUAL], ids=lambda form: form.name)


@each_form
def test_library_exports_the_declared_functions(form: Library) -> None:
    symbols = exported(form.path)
    assert set(symbols) == API.extern_functions | LINKERS_NAMES["pfm3"]
    assert set(symbols.values()) <= {"T", "W"}


@pytest.mark.parametrize(("form", "name"), [(PFM3, "libpfm.so.3"), (PFM3_MANUAL, "libpfm-manual.so.3")])
def test_soname(form: Library, name: str) -> None:
    assert form.path.name == name
    assert dynamic_entries(form.path, "DT_SONAME") == [name]


@each_form
def test_library_needs_only_libc(form: Library) -> None:
    assert dynamic_entries(form.path, "DT_NEEDED") in ([], ["libc.so.6"])


@pytest.mark.parametrize(("extension", "name"), [(_pfm3, "pfm3"), (_pfm3_manual, "pfm3_manual")])
def test_extension_exports_only_its_initialisation(extension: ModuleType, name: str) -> None:
    path = Path(extension.__file__ or "")
    assert path.name == f"{name}.abi3.so"
    assert exported(path) == {f"PyInit_{name}": "T"}


# ---- the mirror ---------------------------------------------------------------

def test_the_headers_have_names_of_each_kind() -> None:
    assert len(API.extern_functions) > 60
    assert {"pfmlib_popcnt", "pfm_regmask_isset", "pfm_self_start"} <= API.inline_functions
    assert {"pfm_err_t", "pfmlib_ita2_ism_t", "pfmlib_options_t"} <= API.typedefs
    assert {"PFMLIB_ITA2_ISM_IA64", "PFMLIB_MONT_EAR_TLB_MODE"} <= API.enumerators
    assert {"PFMLIB_REG_MAX", "PMU_MONT_NUM_ETB"} <= set(API.constants)


def test_the_mirror_has_the_names_of_the_headers(tmp_path: Path) -> None:
    check_mirror(API, pfm3, {"smpl_entries"}, tmp_path)


@pytest.mark.parametrize(("macro", "argument", "value"), [
    ("PFMLIB_MAJ_VERSION", 0x3000A, 3), ("PFMLIB_MIN_VERSION", 0x3000A, 10),
    ("PFMLIB_BVSIZE", 0, 0), ("PFMLIB_BVSIZE", 1, 1), ("PFMLIB_BVSIZE", 64, 1), ("PFMLIB_BVSIZE", 65, 2),
    ("PFMLIB_BVSIZE", 512, 8),
])
def test_one_argument_macro(macro: str, argument: int, value: int) -> None:
    assert macro in API.one_argument_macros
    assert getattr(pfm3, macro)(argument) == value


def test_the_other_form_has_the_same_names() -> None:
    assert pfm3_manual.__all__ == pfm3.__all__
    assert {n: getattr(pfm3_manual, n) for n in API.constants} == {n: getattr(pfm3, n) for n in API.constants}
