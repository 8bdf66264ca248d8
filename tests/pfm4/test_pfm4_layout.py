"""The bytes of every public type of libpfm 4: C compiler, DWARF, ctypes declarations and cffi agree.

Where Debian's libpfm4-dev is installed, the same program compiled with its headers prints the same, and its
identifiers have the values of ours.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from abi4_full import CONSTANTS, ENUM_FIELDS, ENUMS, POINTERS, SCALARS, SIZES, SOME_PMUS, TYPES
from header_names import HeaderNames, includes
from layouts import (
    CAnswers,
    DwarfAnswers,
    Field,
    Layout,
    Types,
    bit_fields,
    check_enumerations,
    check_readers,
    from_c,
    from_ctypes,
    from_dwarf,
)
from native import CC, PFM4, build, debug_library
from pypfm import pfm4
from pypfm.pfm4 import ffi

API = Types(PFM4, ffi, ["perfmon/pfmlib_perf_event.h"], TYPES, ENUM_FIELDS, POINTERS)
DEBIAN = Path("/usr/include")
needs_debian = pytest.mark.skipif(not (DEBIAN / "perfmon/pfmlib_perf_event.h").exists(),
                                  reason="no /usr/include/perfmon (libpfm4-dev) on this machine")
# Names of Linux's <linux/perf_event.h> that libpfm's copy lacks (cap_user_rdpmc is cap_usr_rdpmc there), and types.
NOT_DEBIAN_S = {"kprobe_func", "uprobe_path", "kprobe_addr", "probe_offset", "cap_user_rdpmc", "spec", "new_type", "priv"}
NO_TYPES_OF_DEBIAN = {"struct perf_ns_link_info", "union perf_sample_weight"}
DEBIAN_RESERVES = {"struct perf_branch_entry": {"reserved": Field(152, 40, "unsigned")}}  # where our three are
LINUX_S = re.compile(r"PERF_BR_|\w+_NS_INDEX$|NR_NAMESPACES$|PERF_FORMAT_LOST$|PERF_SAMPLE_BRANCH_PRIV_SAVE(_SHIFT)?$")


@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> CAnswers:
    return from_c(API, tmp_path_factory.mktemp("layout"))


@pytest.fixture(scope="module")
def debian_side(tmp_path_factory: pytest.TempPathFactory) -> CAnswers:
    known = replace(API, types={name: ctype for name, ctype in TYPES.items() if name not in NO_TYPES_OF_DEBIAN})
    return from_c(known, tmp_path_factory.mktemp("debian"), DEBIAN, skip=NOT_DEBIAN_S)


@pytest.fixture(scope="module")
def dwarf_side(tmp_path_factory: pytest.TempPathFactory) -> DwarfAnswers:
    return from_dwarf(API, debug_library(PFM4, tmp_path_factory))


def test_every_type_is_covered(dwarf_side: DwarfAnswers) -> None:
    assert set(dwarf_side.layouts) - {"perf_event_attr_t"} == set(TYPES)
    assert set(dwarf_side.enums) == {*ENUMS, "pfm_pmu_t"}
    assert set(dwarf_side.scalars) == set(SCALARS)
    assert dwarf_side.incomplete == set()


def test_perf_event_attr_t_is_the_structure(dwarf_side: DwarfAnswers) -> None:
    assert dwarf_side.layouts["perf_event_attr_t"] == dwarf_side.layouts["struct perf_event_attr"]
    assert ffi.typeof("perf_event_attr_t") is ffi.typeof("struct perf_event_attr")


def test_all_readers_agree(c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    check_readers(API, SIZES, c_side, dwarf_side, "pfm4")


@needs_debian
def test_debian_s_headers(debian_side: CAnswers) -> None:
    for name in set(TYPES) - NO_TYPES_OF_DEBIAN:
        expected = from_ctypes(API, name)
        fields = {path: f for path, f in expected.fields.items() if path not in NOT_DEBIAN_S} | DEBIAN_RESERVES.get(name, {})
        assert debian_side.layouts[name] == Layout(expected.size, fields), name


# ---- bit-fields ------------------------------------------------------------------------------------

BIT_FIELDS = [(name, path, f.bit, f.bits) for name in TYPES for path, f in from_ctypes(API, name).fields.items()
              if path in set(bit_fields(TYPES[name]))]


def test_the_published_bits_are_in_the_list() -> None:
    """Some positions of the published table, against slips in the declarations."""
    bits = {path: (low - 320, width) for name, path, low, width in BIT_FIELDS if name == "struct perf_event_attr"}
    published = {"disabled": 0, "pinned": 2, "exclusive": 3, "exclude_user": 4, "exclude_kernel": 5, "exclude_hv": 6,
                 "freq": 10, "watermark": 14, "mmap_data": 17, "exclude_host": 19, "exclude_guest": 20, "mmap2": 23,
                 "use_clockid": 25, "aux_output": 31, "cgroup": 32, "sigtrap": 37}
    assert {name: bits[name] for name in published} == {name: (bit, 1) for name, bit in published.items()}
    assert (bits["precise_ip"], bits["__reserved_1"]) == ((15, 2), (38, 26))
    assert len(BIT_FIELDS) == 38 + 3 + 4 + 5 + 7 + 10 + 11


# ---- numbers -------------------------------------------------------------------------------------

def test_enumerations(dwarf_side: DwarfAnswers) -> None:
    check_enumerations(pfm4, ENUMS, dwarf_side)


def test_pmu_identifiers(dwarf_side: DwarfAnswers) -> None:
    """517 of them, no number without a name."""
    values = dwarf_side.enums["pfm_pmu_t"]
    assert {name: values[name] for name in SOME_PMUS} == SOME_PMUS
    assert sorted(values.values()) == list(range(518))
    assert {n: getattr(pfm4, n) for n in values} == values == ffi.typeof("pfm_pmu_t").relements


def test_integer_types(dwarf_side: DwarfAnswers) -> None:
    for name in SCALARS:
        assert dwarf_side.scalars[name] == ("signed", 4)
        assert ffi.sizeof(name) == 4
        assert int(ffi.cast(name, -1)) == -1


def test_constants() -> None:
    assert {name: getattr(pfm4, name) for name in CONSTANTS} == CONSTANTS


def printed_constants(names: list[str], include: Path, directory: Path) -> dict[str, int]:
    """What a C program prints that knows some names from the headers in a directory."""
    program = directory / "constants"
    source = includes(["stdio.h", "perfmon/pfmlib_perf_event.h"]) + "int main(void) {\n" + "".join(
        f'printf("{n} %lld\\n", (long long)({n}));\n' for n in names) + "return 0; }\n"
    build(CC, "-std=gnu11", "-w", "-DPFM_OWN_PERF_EVENT", f"-I{include}", "-x", "c", "-", "-o", program, source=source)
    return {name: int(value) for name, value in (line.split() for line in build(program).splitlines())}


@needs_debian
def test_pmu_identifiers_are_debian_s(tmp_path: Path, dwarf_side: DwarfAnswers) -> None:
    ours = dwarf_side.enums["pfm_pmu_t"]
    assert len(ours) == 518
    assert printed_constants(list(ours), DEBIAN, tmp_path) == ours


@needs_debian
def test_constants_are_debian_s(tmp_path: Path) -> None:
    """Every constant of our headers; one of Debian's is no Linux kernel's (1 << 6, which is IND_CALL's bit)."""
    names = [n for n in HeaderNames(PFM4, {}, []).enumerators | set(CONSTANTS)
             if not n.startswith("PFM_PMU_") and not LINUX_S.match(n)]
    ours = printed_constants(names, PFM4.include_dir, tmp_path)
    theirs = printed_constants(names, DEBIAN, tmp_path)
    assert {n: (ours[n], theirs[n]) for n in names if ours[n] != theirs[n]} == {
        "PERF_SAMPLE_BRANCH_CALL": (1 << 13, 1 << 6)}


@pytest.mark.slow
@pytest.mark.parametrize(("header", "old", "new"), [
    ("perf_event.h", "uint64_t freq                     : 1;", "uint64_t freq                     : 2;"),
    ("pfmlib.h", "int count;", "unsigned count;"),
    ("pfmlib.h", "\tuint64_t *codes;", "\tint64_t *codes;"),
    ("pfmlib_perf_event.h", "int cpu;", "long cpu;"),
], ids=["bit-field", "signedness", "pointer", "offset"])
def test_a_changed_header_is_noticed(tmp_path: Path, header: str, old: str, new: str) -> None:
    shutil.copytree(PFM4.include_dir, tmp_path / "include")
    path = tmp_path / "include" / "perfmon" / header
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    layouts = from_c(API, tmp_path, tmp_path / "include").layouts
    assert layouts != {name: from_ctypes(API, name) for name in TYPES}
