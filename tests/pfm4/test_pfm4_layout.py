"""The bytes of every public type of libpfm 4: C compiler, DWARF, ctypes declarations and cffi agree.

Where Debian's libpfm4-dev is installed, the same program compiled with its headers prints the same, and its
identifiers have the values of ours.
"""

from __future__ import annotations

import ctypes
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
    from_c,
    from_cffi,
    from_ctypes,
    from_described,
    from_dwarf,
)
from native import CC, PFM4, build, debug_library
from pypfm import layout, pfm4
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
every_type = pytest.mark.parametrize("name", TYPES)


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


def without_const(layout: Layout) -> list[tuple[str, int, int, str]]:
    return [(name, f.bit, f.bits, f.kind.replace("const ", "")) for name, f in layout.fields.items()]


def test_every_type_is_covered(dwarf_side: DwarfAnswers) -> None:
    assert set(dwarf_side.layouts) - {"perf_event_attr_t"} == set(TYPES)
    assert set(dwarf_side.enums) == {*ENUMS, "pfm_pmu_t"}
    assert set(dwarf_side.scalars) == set(SCALARS)
    assert dwarf_side.incomplete == set()


def test_perf_event_attr_t_is_the_structure(dwarf_side: DwarfAnswers) -> None:
    assert dwarf_side.layouts["perf_event_attr_t"] == dwarf_side.layouts["struct perf_event_attr"]
    assert ffi.typeof("perf_event_attr_t") is ffi.typeof("struct perf_event_attr")


@every_type
def test_size(name: str, c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    sizes = {"ctypes": ctypes.sizeof(TYPES[name]), "C": c_side.layouts[name].size,
             "DWARF": dwarf_side.layouts[name].size, "cffi": ffi.sizeof(name)}
    assert set(sizes.values()) == {SIZES[name]}, sizes


@every_type
def test_alignment(name: str, c_side: CAnswers) -> None:
    assert c_side.alignment[name] == ctypes.alignment(TYPES[name]) == ffi.alignof(name)


@every_type
def test_c_compiler(name: str, c_side: CAnswers) -> None:
    assert c_side.layouts[name] == from_ctypes(API, name)


@every_type
def test_offsetof_agrees_with_the_bytes(name: str, c_side: CAnswers) -> None:
    assert len(c_side.offsetof[name]) + len(set(bit_fields(TYPES[name]))) == len(c_side.layouts[name].fields)
    for path, (offset, size) in c_side.offsetof[name].items():
        f = c_side.layouts[name].fields[path]
        assert (8 * offset, 8 * size) == (f.bit, f.bits), path


@every_type
def test_dwarf(name: str, dwarf_side: DwarfAnswers) -> None:
    assert dwarf_side.layouts[name] == from_ctypes(API, name)


@every_type
def test_cffi(name: str) -> None:
    # In any order: the binding declares members of a union in another one.
    assert sorted(without_const(from_cffi(API, name))) == sorted(without_const(from_ctypes(API, name)))


@every_type
def test_describe(name: str, c_side: CAnswers, dwarf_side: DwarfAnswers) -> None:
    found = layout.describe(name, "pfm4")
    assert from_described(found) == from_ctypes(API, name)
    assert [path for path, _ in found.flat()] == list(dwarf_side.layouts[name].fields)  # in the header's order
    assert found.alignment == c_side.alignment[name]


def test_types() -> None:
    assert sorted(layout.types("pfm4")) == sorted(TYPES)


@needs_debian
@pytest.mark.parametrize("name", [name for name in TYPES if name not in NO_TYPES_OF_DEBIAN])
def test_debian_s_headers(name: str, debian_side: CAnswers) -> None:
    expected = from_ctypes(API, name)
    fields = {path: f for path, f in expected.fields.items() if path not in NOT_DEBIAN_S} | DEBIAN_RESERVES.get(name, {})
    assert debian_side.layouts[name] == Layout(expected.size, fields)


# ---- bit-fields through cffi, which does not check them ------------------------------------------

BIT_FIELDS = [(name, path, f.bit, f.bits) for name in TYPES for path, f in from_ctypes(API, name).fields.items()
              if path in set(bit_fields(TYPES[name]))]
LIST_OF_FIELDS = pytest.mark.parametrize(("name", "path", "low", "width"), BIT_FIELDS,
                                         ids=[".".join(row[:2]).removeprefix("struct ") for row in BIT_FIELDS])


def patterns(width: int) -> set[int]:
    """All ones, and a one at each end."""
    return {(1 << width) - 1, 1, 1 << (width - 1)}


def test_the_published_bits_are_in_the_list() -> None:
    """Some positions of the published table, against slips in the declarations."""
    bits = {path: (low - 320, width) for name, path, low, width in BIT_FIELDS if name == "struct perf_event_attr"}
    published = {"disabled": 0, "pinned": 2, "exclusive": 3, "exclude_user": 4, "exclude_kernel": 5, "exclude_hv": 6,
                 "freq": 10, "watermark": 14, "mmap_data": 17, "exclude_host": 19, "exclude_guest": 20, "mmap2": 23,
                 "use_clockid": 25, "aux_output": 31, "cgroup": 32, "sigtrap": 37}
    assert {name: bits[name] for name in published} == {name: (bit, 1) for name, bit in published.items()}
    assert (bits["precise_ip"], bits["__reserved_1"]) == ((15, 2), (38, 26))
    assert len(BIT_FIELDS) == 38 + 3 + 4 + 5 + 7 + 10 + 11


@LIST_OF_FIELDS
def test_bit_field_to_bytes(name: str, path: str, low: int, width: int) -> None:
    for value in patterns(width):
        obj = getattr(pfm4, name.rpartition(" ")[2])()
        setattr(obj, path, value)
        assert bytes(obj) == (value << low).to_bytes(ffi.sizeof(name), "little")


@LIST_OF_FIELDS
def test_bytes_to_bit_field(name: str, path: str, low: int, width: int) -> None:
    size = ffi.sizeof(name)
    for value in patterns(width):
        for background in (0, (1 << 8 * size) - 1):
            mask = ((1 << width) - 1) << low
            obj = getattr(pfm4, name.rpartition(" ")[2]).from_buffer_copy(
                (background & ~mask | value << low).to_bytes(size, "little"))
            assert getattr(obj, path) == value


# ---- numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ENUMS)
def test_enumeration(name: str, dwarf_side: DwarfAnswers) -> None:
    assert dwarf_side.enums[name] == ENUMS[name]
    assert {n: getattr(pfm4, n) for n in ENUMS[name]} == ENUMS[name]
    assert ffi.typeof(name).relements == ENUMS[name]
    assert ffi.sizeof(name) == ctypes.sizeof(ctypes.c_uint)


def test_pmu_identifiers(dwarf_side: DwarfAnswers) -> None:
    """517 of them, no number without a name."""
    values = dwarf_side.enums["pfm_pmu_t"]
    assert {name: values[name] for name in SOME_PMUS} == SOME_PMUS
    assert sorted(values.values()) == list(range(518))
    assert {n: getattr(pfm4, n) for n in values} == values == ffi.typeof("pfm_pmu_t").relements


@pytest.mark.parametrize("name", SCALARS)
def test_scalar(name: str, dwarf_side: DwarfAnswers) -> None:
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
