"""libpfm 4's PMUs of Itanium: gen_ia64, ita, ita2, mont.  The judge of codes is libpfm 3."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from ia64_vectors import Event, events, files, read
from mirror4 import encode_all, mirror
from pypfm import pfm4

PMUS = {"gen_ia64": (1, 2, 4), "ita": (2, 230, 4), "ita2": (3, 497, 4), "mont": (4, 637, 12)}
MASKS = {"gen_ia64": 0xff00, "ita": 0x77ff00, "ita2": 0x7fff00, "mont": 0x7c7fff00}
ALL_PMUS = {"LIBPFM_ENCODE_INACTIVE": "1"}
LAYERS = (pfm4.PFM_OS_NONE, pfm4.PFM_OS_PERF_EVENT, pfm4.PFM_OS_PERF_EVENT_EXT)

@pytest.fixture(scope="module", params=PMUS)
def rows(request: pytest.FixtureRequest) -> tuple[str, list[Event]]:
    return request.param, events(request.param)


def strings(pmu: str, name: str, plm: int, threshold: int, states: list[int]) -> str:
    letters = "".join(f":{'ISEM'[n]}" for n in states)
    levels = {1: ":k", 8: ":u", 9: ":u:k"}[plm]
    return f"{pmu}::{name}{letters}{levels}" + (f":thres={threshold}" if threshold else "")


def test_codes_are_libpfm_3s_and_config_is_under_the_drivers_mask(rows: tuple[str, list[Event]]) -> None:
    """Every event, level, threshold and set of unit masks."""
    pmu, known = rows
    assert len(known) == PMUS[pmu][1]
    asked, expected, configs = [], [], []
    for event in known:
        for plm, threshold, states, value in event.values:
            asked.append((strings(pmu, event.name, plm, threshold, states), pfm4.PFM_OS_NONE, 0))
            expected.append([value])
            if not event.kind:
                configs.append((strings(pmu, event.name, 8, threshold, states).replace(":u", ""), plm, value))
    answers = encode_all(asked, **ALL_PMUS)
    assert [a["codes"] for a in answers] == expected
    perf = encode_all([(text, pfm4.PFM_OS_PERF_EVENT_EXT, plm) for text, plm, _ in configs], **ALL_PMUS)
    for (text, plm, value), answer in zip(configs, perf, strict=True):
        if value & 0xfff00 & ~MASKS[pmu]:
            assert answer["ret"] == pfm4.PFM_ERR_NOTSUPP, text
            continue
        assert (answer["ret"], answer["type"], answer["config"]) == (0, 4, value & MASKS[pmu]), text
        exclude_user, exclude_kernel = answer["flags"] >> 4 & 1, answer["flags"] >> 5 & 1
        assert (exclude_user, exclude_kernel) == (not plm & 8, not plm & 1), text


def test_events_are_those_of_libpfm_3(rows: tuple[str, list[Event]]) -> None:
    """Names, codes and their order; what needs another register has no encoding for perf."""
    pmu, known = rows
    code = """
assert pfm_initialize() == 0
info, event = pfm_pmu_info_t(), pfm_event_info_t()
assert pfm_get_pmu_info(int(sys.argv[1]), info) == 0
tell(info.name, info.type, info.nevents, info.num_cntrs, info.num_fixed_cntrs, info.max_encoding, info.is_present)
i = info.first_event
while i >= 0:
    assert pfm_get_event_info(i, PFM_OS_NONE, event) == 0
    name = event.name
    tell(name, event.code, len(event.desc) > 3, perf(info.name + "::" + name)["ret"])
    i = pfm_get_event_next(i)
"""
    identifier, count, counters = PMUS[pmu]
    head, *told = mirror(code, identifier, **ALL_PMUS)
    assert head == [pmu, pfm4.PFM_PMU_TYPE_CORE, count, counters, 0, 1, 0]
    assert [row[:3] for row in told] == [[event.name, event.code, True] for event in known]
    for event, row in zip(known, told, strict=True):
        if event.kind:
            assert row[3] == pfm4.PFM_ERR_NOTSUPP, event.name
    if pmu != "ita":
        assert [row[0] for row in told if row[3]] == [event.name for event in known if event.kind]


def test_the_stored_calls_are_the_ones_that_libpfm_3_says() -> None:
    """The files of ia64_vectors.py; to write them anew, run it."""
    for name, lines in files().items():
        assert read(name) == lines, name


def test_the_drivers_named_events() -> None:
    """Code and unit mask of the events that the driver has names for."""
    named = {
        "ita": [("CPU_CYCLES", 0x12, 0), ("IA64_INST_RETIRED", 0x8, 0), ("L3_REFERENCES", 0x7b, 0), ("L3_MISSES", 0x7c, 0),
                ("BRANCH_MULTIWAY_ALL_PATHS_ALL_PREDICTIONS", 0xe, 0), ("BRANCH_MULTIWAY_ALL_PATHS_WRONG_PATH", 0xe, 2)],
        "ita2": [("CPU_CYCLES", 0x12, 0), ("IA64_INST_RETIRED", 0x8, 0), ("L3_REFERENCES", 0xdb, 0),
                 ("L3_MISSES", 0xdc, 0), ("BR_MISPRED_DETAIL_ALL_ALL_PRED", 0x5b, 0), ("BR_MISPRED_DETAIL_ALL_WRONG_PATH", 0x5b, 2)],
        "mont": [("CPU_OP_CYCLES_ALL", 0x12, 0), ("IA64_INST_RETIRED", 0x8, 0), ("L3_REFERENCES", 0xdb, 0),
                 ("L3_MISSES", 0xdc, 0), ("BR_MISPRED_DETAIL_ALL_ALL_PRED", 0x5b, 0), ("BR_MISPRED_DETAIL_ALL_WRONG_PATH", 0x5b, 2)],
        "gen_ia64": [("CPU_CYCLES", 0x12, 0), ("IA64_INST_RETIRED", 0x8, 0)],
    }
    for pmu, of_driver in named.items():
        answers = encode_all([(f"{pmu}::{name}", pfm4.PFM_OS_PERF_EVENT, 8) for name, *_ in of_driver], **ALL_PMUS)
        for (name, code, umask), answer in zip(of_driver, answers, strict=True):
            assert (answer["ret"], answer["config"]) == (0, code << 8 | umask << 16), (pmu, name)


@pytest.mark.parametrize(("text", "ret"), [
    ("ita2::CPU_CYCLES:thres=0", "PFM_ERR_ATTR"),  # counts one a cycle
    ("ita2::NOPS_RETIRED:thres=5", "PFM_SUCCESS"),
    ("ita2::NOPS_RETIRED:thres=6", "PFM_ERR_ATTR_VAL"),
    ("ita2::NOPS_RETIRED:thres", "PFM_ERR_ATTR_VAL"),
    ("gen_ia64::CPU_CYCLES:thres=0", "PFM_ERR_ATTR"),
    ("mont::CPU_OP_CYCLES_ALL:all", "PFM_ERR_ATTR"),
    ("mont::CPU_OP_CYCLES_ALL:M", "PFM_ERR_ATTR"),
    ("mont::L3_READS_ALL_ALL:0x3", "PFM_ERR_ATTR"),
    ("mont::CPU_OP_CYCLES_ALL:u:u=0", "PFM_ERR_ATTR_SET"),
    ("mont::CPU_OP_CYCLES", "PFM_ERR_NOTFOUND"),
    ("MONT::cpu_op_cycles_all:U=1:K=n", "PFM_SUCCESS"),
])
def test_attributes(text: str, ret: str) -> None:
    assert encode_all([(text, pfm4.PFM_OS_NONE, 8)], **ALL_PMUS)[0]["ret"] == getattr(pfm4, ret)


def test_strings() -> None:
    """All attributes with their values; fed back, they encode the same."""
    rows = [("mont::L3_READS_ALL_MISS", 9), ("mont::l3_reads_all_miss:E:M:k", 8), ("mont::L3_READS_ALL_MISS:MESI", 8),
            ("ita2::NOPS_RETIRED:thres=2", 1), ("gen_ia64::CPU_CYCLES", 8)]
    answers = encode_all([(text, pfm4.PFM_OS_NONE, plm) for text, plm in rows], **ALL_PMUS)
    assert [a["fstr"] for a in answers] == [
        "mont::L3_READS_ALL_MISS:I:S:E:M:k=1:u=1", "mont::L3_READS_ALL_MISS:E:M:k=1:u=0",
        "mont::L3_READS_ALL_MISS:I:S:E:M:k=0:u=1", "ita2::NOPS_RETIRED:k=1:u=0:thres=2",
        "gen_ia64::CPU_CYCLES:k=0:u=1"]
    again = encode_all([(a["fstr"], pfm4.PFM_OS_NONE, 1) for a in answers], **ALL_PMUS)
    assert [(a["codes"], a["fstr"]) for a in again] == [(a["codes"], a["fstr"]) for a in answers]
    assert [hex(a["codes"][0]) for a in answers][:3] == ["0x7a0edd09", "0x620edd01", "0x7a0edd08"]
    perf = encode_all([("ita2::NOPS_RETIRED:thres=2:u", pfm4.PFM_OS_PERF_EVENT_EXT, 9)], **ALL_PMUS)[0]
    assert perf["fstr"].startswith("ita2::NOPS_RETIRED:thres=2:u=1:k=0")
    modifiers = {part.partition("=")[0] for part in perf["fstr"].split(":")[3:]}
    assert modifiers & {"h", "precise", "hw_smpl"} == set()


def test_canonical_strings_encode_to_themselves(rows: tuple[str, list[Event]]) -> None:
    """Every event with every list of unit masks, and without one; for perf without mg=0, which means mg=1 (quirk)."""
    pmu, known = rows
    asked = [(f"{pmu}::{event.name}{masks}", os, plm) for event in known for n, os in enumerate(LAYERS)
             for plm in (1, 8, 9)[n:n + 1]
             for masks in (["", *(f":{':'.join(c)}" for k in range(1, 6) for c in combinations(("I", "S", "E", "M", "MESI"), k))]
                           if event.masks else [""])]
    first = [(os, plm, a) for (_, os, plm), a in zip(asked, encode_all(asked, **ALL_PMUS), strict=True) if a["ret"] == 0]
    assert len(first) > len(known)
    again = encode_all([(a["fstr"].replace(":mg=0:mh=1", ""), os, plm) for os, plm, a in first], **ALL_PMUS)
    assert again == [a for _, _, a in first]


# ---- which PMU is active --------------------------------------------------------------------------------

ACTIVE = """
assert pfm_initialize() == 0
info = pfm_pmu_info_t()
present = []
for pmu in range(PFM_PMU_MAX):
    info.size = 0
    if pfm_get_pmu_info(pmu, info) == 0 and info.is_present:
        present.append(info.name)
code = {name: perf(name) for name in sys.argv[1:]}
tell(present, [[answer["ret"], answer["config"]] for answer in code.values()])
"""


@pytest.mark.parametrize(("env", "active"), [
    ({"LIBPFM_IA64_CPUID3": "0x20000504"}, "mont"), ({"LIBPFM_IA64_CPUID3": "0x1f010504"}, "ita2"),
    ({"LIBPFM_IA64_CPUID3": "0x07000604"}, "ita"), ({"LIBPFM_FORCE_PMU": "mont"}, "mont"),
    ({"LIBPFM_FORCE_PMU": "ITA"}, "ita"), ({"LIBPFM_FORCE_PMU": "ita2"}, "ita2"), ({"LIBPFM_FORCE_PMU": "gen"}, "gen_ia64"),
    ({"LIBPFM_FORCE_PMU": "g"}, "glm"), ({"LIBPFM_FORCE_PMU": ""}, "glm"),  # as before these PMUs were there
    ({"LIBPFM_IA64_CPUID3": "0x20000504", "LIBPFM_DISABLED_PMUS": "mont"}, None),
    ({"LIBPFM_IA64_CPUID3": "no number"}, None),
    ({"LIBPFM_IA64_CPUID3": "0x99000000", "LIBPFM_IA64_PAL": "/nowhere"}, None),
])
def test_detection(env: dict[str, str], active: str | None) -> None:
    """As libpfm 3 finds the processor, or by name."""
    present = mirror(ACTIVE, **env)[0][0]
    assert [p for p in present if p in {*PMUS, "glm"}] == ([active] if active else [])


def test_the_architected_pmu_has_the_processors_codes(tmp_path: Path) -> None:
    pal = tmp_path / "perfmon_info"
    pal.write_text("PMC/PMD pairs : 4\nCounter width : 32 bits\nCycle event number : 33\nRetired event number : 77\n"
                   "Implemented PMC : 0-15 \nImplemented PMD : 0-17 \nCycles count capable : 4-7 \n"
                   "Retired bundles count capable : 4-7 \n")
    env = {"LIBPFM_IA64_CPUID3": "0x99000000", "LIBPFM_IA64_PAL": str(pal)}
    events = ("gen_ia64::CPU_CYCLES", "IA64_INST_RETIRED")
    assert mirror(ACTIVE, *events, **env)[0][1] == [[0, 33 << 8], [0, 77 << 8]]
    assert mirror(ACTIVE, *events, LIBPFM_FORCE_PMU="gen_ia64")[0][1] == [[0, 18 << 8], [0, 8 << 8]]


def test_every_event_is_validated() -> None:
    code = """
import ctypes
assert pfm_initialize() == 0
tell([pfm_pmu_validate(pmu, sys.stdout) for pmu in (1, 2, 3, 4)])
"""
    assert mirror(code, **ALL_PMUS)[-1] == [0, 0, 0, 0]
