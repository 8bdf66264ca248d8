"""Goldmont as libpfm_intel_glm(3) describes it, and the worked encodings of the specification.

The examples of the manual page are answered as libpfm 4.13.0 does, which is not always what the page
promises; both stand in the tables.  Everything goes through pypfm.pfm4, in processes with LIBPFM_FORCE_PMU.
"""

from __future__ import annotations

from typing import Any

import pytest

from mirror4 import encode_all

FEATCOMB, ATTR, ATTR_VAL = -5, -8, -9

# ---- the manual page --------------------------------------------------------------------

# The page's examples and their nearest real spelling: return code, codes.
EXAMPLES: list[tuple[str, int, list[int]]] = [
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", 0, [0x5301b7, 0x10001]),
    ("OFFCORE_RESPONSE_0:ANY_REQUEST", 0, [0x5301b7, 0x18000]),
    ("OFFCORE_RESPONSE_0:ANY_RFO:LLC_HITM:SNOOP_ANY", ATTR, []),  # "valid", but the masks do not exist
    ("OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT:L2_MISS_SNP_ANY", 0, [0x5301b7, 0x3600040022]),
    ("OFFCORE_RESPONSE_0:ANY_RFO:LLC_HITM:ANY_RESPONSE", ATTR, []),
    ("OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT:ANY_RESPONSE", FEATCOMB, []),
    ("OFFCORE_RESPONSE_0:ANY_RFO:LLC_HITM:SNOOP_ANY:ANY_RESPONSE", ATTR, []),
    ("OFFCORE_RESPONSE_0:ANY_RFO:L2_MISS_HITM_OTHER_CORE:ANY_RESPONSE", FEATCOMB, []),
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING+OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE", ATTR, []),
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING", 0, [0x5301b7, 0x4000000001]),
    ("OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE", 0, [0x5302b7, 0x10001]),
    ("OFFCORE_RESPONSE_0:ANY_REQUEST:OUTSTANDING+OFFCORE_RESPONSE_1:ANY_REQUEST:ANY_RESPONSE", ATTR, []),
    ("OFFCORE_RESPONSE_0:ANY_REQUEST:OUTSTANDING", 0, [0x5301b7, 0x4000008000]),
    ("OFFCORE_RESPONSE_1:ANY_REQUEST:ANY_RESPONSE", 0, [0x5302b7, 0x18000]),
    # "At least one umask for each of request, supplier, snoop": what is missing is filled in.
    ("OFFCORE_RESPONSE_0", 0, [0x5301b7, 0x18000]),
    ("OFFCORE_RESPONSE_0:L2_HIT", 0, [0x5301b7, 0x3600048000]),
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:L2_MISS_HITM_OTHER_CORE", 0, [0x5301b7, 0x1000010001]),
    # "Any combination of supplier and snoop": as given.
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:L2_HIT:L2_MISS_HITM_OTHER_CORE", 0, [0x5301b7, 0x1000040001]),
    # OUTSTANDING "and no others": enforced, and a request may be missing.
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING:L2_HIT", FEATCOMB, []),
    ("OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING:ANY_RESPONSE", FEATCOMB, []),
    ("OFFCORE_RESPONSE_0:OUTSTANDING:L2_MISS_SNP_ANY", FEATCOMB, []),
    ("OFFCORE_RESPONSE_0:OUTSTANDING", 0, [0x5301b7, 0x4000008000]),
    ("OFFCORE_RESPONSE_1:OUTSTANDING", ATTR, []),
]

# Each modifier: return code, register.
MODIFIERS: list[tuple[str, int, list[int]]] = [
    ("BACLEARS:u", 0, [0x5101e6]), ("BACLEARS:k", 0, [0x5201e6]), ("BACLEARS:u:k", 0, [0x5301e6]),
    ("BACLEARS:u=1:k=0", 0, [0x5101e6]), ("BACLEARS:u=n", 0, [0x5001e6]), ("BACLEARS:k=0", 0, [0x5001e6]),
    ("BACLEARS:i", 0, [0xd301e6]), ("BACLEARS:i=0", 0, [0x5301e6]),
    ("BACLEARS:e:c=1", 0, [0x15701e6]),
    ("BACLEARS:e", 0, [0x5701e6]),  # "must be combined with a counter mask": not enforced
    ("BACLEARS:e:m=1", ATTR, []),  # the page calls the counter mask m; it is c
    ("BACLEARS:c=0", 0, [0x5301e6]), ("BACLEARS:c=1", 0, [0x15301e6]), ("BACLEARS:c=255", 0, [0xff5301e6]),
    ("BACLEARS:c=256", ATTR_VAL, []), ("BACLEARS:c=-1", ATTR_VAL, []), ("BACLEARS:c", ATTR_VAL, []),
    ("BACLEARS:u=2", ATTR_VAL, []), ("BACLEARS:i=yes", ATTR_VAL, []),
    ("BACLEARS:t", ATTR, []),  # "no HyperThreading support"
    ("BACLEARS:intx", ATTR, []), ("BACLEARS:intxcp", ATTR, []), ("BACLEARS:ldlat=3", ATTR, []),
    ("BACLEARS:fe_thres=1", ATTR, []), ("BACLEARS:h", ATTR, []),
]


def encodings(rows: list[Any], **env: str) -> list[dict[str, Any]]:
    return encode_all([(row[0], 0, 9) for row in rows], **env)


@pytest.mark.parametrize("prefix", ["", "glm::"])
@pytest.mark.parametrize("rows", [EXAMPLES, MODIFIERS], ids=["examples", "modifiers"])
def test_manual_page(rows: list[tuple[str, int, list[int]]], prefix: str) -> None:
    rows = [(prefix + text, ret, codes) for text, ret, codes in rows]
    answers = encodings(rows, LIBPFM_FORCE_PMU="glm")
    assert [(row[0], a["ret"], a["codes"]) for row, a in zip(rows, answers, strict=True)] == rows


# ---- the worked encodings of the specification ---------------------------------------------

# String, default levels, return code, codes, fully qualified string.
GLM_NONE: list[tuple[str, int, int, list[int], str]] = [
    ("glm::ICACHE:HIT", 9, 0, [0x530180], "glm::ICACHE:HIT:k=1:u=1:e=0:i=0:c=0"),
    ("icache.misses:u", 9, 0, [0x510280], "glm::ICACHE:MISSES:k=0:u=1:e=0:i=0:c=0"),
    ("glm::BACLEARS", 8, 0, [0x5101e6], "glm::BACLEARS:ALL:k=0:u=1:e=0:i=0:c=0"),
    ("glm::BACLEARS:RETURN:k=1:u=0:c=4:e", 9, 0, [0x45608e6], "glm::BACLEARS:RETURN:k=1:u=0:e=1:i=0:c=4"),
    ("glm::ICACHE", 9, -6, [], ""),
    ("glm::ICACHE:HIT:MISSES", 9, -5, [], ""),
    ("glm::ICACHE:HIT:HIT", 9, 0, [0x530180], "glm::ICACHE:HIT:k=1:u=1:e=0:i=0:c=0"),
    ("glm::ICACHE:HIT:HIT:HIT", 9, -5, [], ""),
    ("glm::ICACHE:HIT:u=1:u=0", 9, -10, [], ""),
    ("glm::ICACHE:HIT:c=256", 9, -9, [], ""),
    ("glm::ICACHE:0x3:i", 9, 0, [0xd30380], "glm::ICACHE:0x3:k=1:u=1:e=0:i=1:c=0"),
    ("glm::ICACHE:0x100", 9, -8, [], ""),
    ("glm::ICACHE:HIT:0x1", 9, -8, [], ""),
    ("glm::UNHALTED_REFERENCE_CYCLES", 9, 0, [0x530300], "glm::UNHALTED_REFERENCE_CYCLES:k=1:u=1"),
    ("glm::UNHALTED_REFERENCE_CYCLES:c=1", 9, -8, [], ""),
    ("glm::CPU_CLK_UNHALTED:REF_TSC:u", 9, 0, [0x510300], "glm::CPU_CLK_UNHALTED:REF_TSC:k=0:u=1:e=0:i=0:c=0"),
    ("glm::CPU_CLK_UNHALTED", 9, 0, [0x530000], "glm::CPU_CLK_UNHALTED:CORE_P:k=1:u=1:e=0:i=0:c=0"),
    ("glm::INSTRUCTIONS_RETIRED:c=2", 9, 0, [0x25300c0], "glm::INSTRUCTION_RETIRED:k=1:u=1:e=0:i=0:c=2"),
    ("glm::BRANCH_INSTRUCTIONS_RETIRED:JCC", 9, -5, [], ""),
    ("glm::BRANCH_INSTRUCTIONS_RETIRED:0x1", 9, 0, [0x5301c4], "glm::BR_INST_RETIRED:ALL_BRANCHES:0x1:k=1:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_1:WB:L2_HIT", 9, 0, [0x5302b7, 0x1e00040008], "glm::OFFCORE_RESPONSE_1:WB:L2_HIT:L2_MISS_SNP_ANY:k=1:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_0:WB:L2_HIT", 9, 0, [0x5301b7, 0x3600040008], "glm::OFFCORE_RESPONSE_0:WB:L2_HIT:L2_MISS_SNP_ANY:k=1:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_1:WB:L2_HIT:L2_MISS_SNP_ANY", 9, 0, [0x5302b7, 0x3600040008], "glm::OFFCORE_RESPONSE_1:WB:L2_HIT:L2_MISS_SNP_MISS_OR_NO_SNOOP_NEEDED:L2_MISS_HIT_OTHER_CORE_NO_FWD:L2_MISS_HITM_OTHER_CORE:L2_MISS_SNP_NON_DRAM:k=1:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_0:SW_PF:L2_MISS_HITM_OTHER_CORE:u", 9, 0, [0x5101b7, 0x1000011000], "glm::OFFCORE_RESPONSE_0:SW_PF:ANY_RESPONSE:L2_MISS_HITM_OTHER_CORE:k=0:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_0:SW_PF:ANY_RESPONSE:L2_MISS_HITM_OTHER_CORE", 9, -5, [], ""),
    ("glm::OFFCORE_RESPONSE_0:ANY_REQUEST:WB", 9, -5, [], ""),
    ("glm::OFFCORE_RESPONSE_0:OUTSTANDING", 9, 0, [0x5301b7, 0x4000008000], "glm::OFFCORE_RESPONSE_0:ANY_REQUEST:OUTSTANDING:k=1:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_0:0x3fffffffff", 9, 0, [0x5301b7, 0x3fffffffff], "glm::OFFCORE_RESPONSE_0:0xffffffff:k=1:u=1:e=0:i=0:c=0"),
    ("glm::OFFCORE_RESPONSE_0:0x4000000000", 9, -8, [], ""),
]

PERF_NONE: list[tuple[str, int, int, list[int], str]] = [
    ("perf::cycles", 9, 0, [0x0], "perf::PERF_COUNT_HW_CPU_CYCLES"),
    ("perf::cycles:u", 9, -8, [], ""),
    ("perf::PERF_COUNT_HW_CACHE_DTLB:WRITE", 9, 0, [0x10103], "perf::PERF_COUNT_HW_CACHE_DTLB:WRITE:MISS"),
    ("perf::DTLB-STORES", 9, 0, [0x103], "perf::PERF_COUNT_HW_CACHE_DTLB:WRITE:ACCESS"),
    ("perf::CGROUP-SWITCHES", 9, 0, [0xb], "perf::PERF_COUNT_SW_CGROUP_SWITCHES"),
    ("perf::ITLB-LOADS:WRITE", 9, -8, [], ""),
    ("perf::cs:0x1", 9, -8, [], ""),
]

# String, interface, default levels, return code, type, config, config1, flag word, cpu, string.
GLM_PERF: list[tuple[Any, ...]] = [
    ("glm::ICACHE:HIT", 1, 9, 0, 4, 0x180, 0x0, 0x100000, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=1:mg=0:mh=1"),
    ("glm::ICACHE:HIT", 2, 9, 0, 4, 0x180, 0x0, 0x100000, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=1:excl=0:mg=0:mh=1"),
    ("glm::ICACHE:HIT:u", 2, 9, 0, 4, 0x180, 0x0, 0x100020, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=0:excl=0:mg=0:mh=1"),
    ("glm::ICACHE:HIT:u=0", 2, 9, 0, 4, 0x180, 0x0, 0x100030, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=0:k=0:excl=0:mg=0:mh=1"),
    ("glm::ICACHE:HIT:mg", 2, 9, 0, 4, 0x180, 0x0, 0x80000, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=1:excl=0:mg=1:mh=0"),
    ("glm::ICACHE:HIT:mg=0:mh=0", 2, 9, 0, 4, 0x180, 0x0, 0x0, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=1:excl=0:mg=1:mh=1"),
    ("glm::ICACHE:HIT:period=1000", 2, 8, 0, 4, 0x180, 0x0, 0x100020, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=0:period=1000:freq=1000:excl=0:mg=0:mh=1"),
    ("glm::ICACHE:HIT:freq=100", 2, 8, 0, 4, 0x180, 0x0, 0x100420, -1, "glm::ICACHE:HIT:e=0:i=0:c=0:u=1:k=0:period=100:freq=100:excl=0:mg=0:mh=1"),
    ("glm::ICACHE:HIT:period=1:freq=1", 2, 8, -9),
    ("glm::ICACHE:HIT:precise=1", 2, 9, -8),
    ("glm::LD_BLOCKS:4K_ALIAS:precise=2:u", 2, 9, 0, 4, 0x403, 0x0, 0x110020, -1, "glm::LD_BLOCKS:4K_ALIAS:e=0:i=0:c=0:u=1:k=0:precise=2:excl=0:mg=0:mh=1"),
    ("glm::LD_BLOCKS:4K_ALIAS:precise=4", 2, 9, -9),
    ("glm::LD_BLOCKS:4K_ALIAS:precise=2", 1, 9, -8),
    ("glm::BACLEARS:c=4:e:i:cpu=3:pinned:excl", 2, 9, 0, 4, 0x48401e6, 0x0, 0x10000c, 3, "glm::BACLEARS:ALL:e=1:i=1:c=4:u=1:k=1:excl=1:mg=0:mh=1"),
    ("glm::BACLEARS:cpu=2147483647", 2, 9, -9),
    ("glm::BACLEARS:h", 2, 9, -8),
    ("glm::BACLEARS:hw_smpl", 2, 9, -8),
    ("glm::OFFCORE_RESPONSE_1:WB:L2_HIT", 2, 9, 0, 4, 0x2b7, 0x1e00040008, 0x100000, -1, "glm::OFFCORE_RESPONSE_1:WB:L2_HIT:L2_MISS_SNP_ANY:e=0:i=0:c=0:u=1:k=1:excl=0:mg=0:mh=1"),
    ("glm::UNHALTED_REFERENCE_CYCLES", 1, 8, 0, 4, 0x300, 0x0, 0x100020, -1, "glm::UNHALTED_REFERENCE_CYCLES:u=1:k=0:mg=0:mh=1"),
    ("glm::BACLEARS", 1, 0, 0, 4, 0x1e6, 0x0, 0x100030, -1, "glm::BACLEARS:ALL:e=0:i=0:c=0:u=0:k=0:mg=0:mh=1"),
]

PERF_PERF: list[tuple[Any, ...]] = [
    ("perf::cycles", 2, 9, 0, 0, 0x0, 0x0, 0x100040, -1, "perf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1"),
    ("cycles:u", 1, 9, 0, 0, 0x0, 0x0, 0x100060, -1, "perf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=0:h=0:mg=0:mh=1"),
    ("perf::cycles:k:h", 2, 9, 0, 0, 0x0, 0x0, 0x100010, -1, "perf::PERF_COUNT_HW_CPU_CYCLES:u=0:k=1:h=1:precise=0:excl=0:mg=0:mh=1"),
    ("perf::cycles", 2, 25, 0, 0, 0x0, 0x0, 0x100000, -1, "perf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=1:h=1:precise=0:excl=0:mg=0:mh=1"),
    ("perf::page-faults", 2, 9, 0, 1, 0x2, 0x0, 0x100040, -1, "perf::PERF_COUNT_SW_PAGE_FAULTS:u=1:k=1:excl=0:mg=0:mh=1"),
    ("perf::page-faults:precise=1", 2, 9, -8),
    ("perf::PERF_COUNT_HW_CACHE_L1D", 2, 9, 0, 3, 0x10000, 0x0, 0x100040, -1, "perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS:u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1"),
    ("perf::LLC-STORES:u", 2, 9, 0, 3, 0x102, 0x0, 0x100060, -1, "perf::PERF_COUNT_HW_CACHE_LL:WRITE:ACCESS:u=1:k=0:h=0:precise=0:excl=0:mg=0:mh=1"),
    ("perf::LLC-STORES:READ", 2, 9, -6),
    ("perf::PERF_COUNT_HW_CACHE_NODE:PREFETCH:ACCESS:freq=9:precise=1", 2, 9, 0, 3, 0x206, 0x0, 0x108440, -1, "perf::PERF_COUNT_HW_CACHE_NODE:PREFETCH:ACCESS:u=1:k=1:h=0:period=9:freq=9:precise=1:excl=0:mg=0:mh=1"),
]


@pytest.mark.parametrize(("pmu", "rows"), [("glm", GLM_NONE), ("perf", PERF_NONE)])
def test_worked_raw_encodings(pmu: str, rows: list[tuple[str, int, int, list[int], str]]) -> None:
    answers = encode_all([(text, 0, plm) for text, plm, *_ in rows], LIBPFM_FORCE_PMU=pmu)
    got = [(text, plm, a["ret"], a["codes"], a["fstr"] or "")
           for (text, plm, *_), a in zip(rows, answers, strict=True)]
    assert got == rows


@pytest.mark.parametrize(("pmu", "rows"), [("glm", GLM_PERF), ("perf", PERF_PERF)])
def test_worked_perf_event_encodings(pmu: str, rows: list[tuple[Any, ...]]) -> None:
    answers = encode_all([row[:3] for row in rows], LIBPFM_FORCE_PMU=pmu)
    fields = ("type", "config", "config1", "flags", "cpu", "fstr")
    got = [(*row[:3], a["ret"], *(() if a["ret"] else [a[f] for f in fields]))
           for row, a in zip(rows, answers, strict=True)]
    assert got == rows


@pytest.mark.parametrize(("first", "again"), [
    ("glm::OFFCORE_RESPONSE_0:SW_PF:L2_MISS_HITM_OTHER_CORE", FEATCOMB),  # Q2
    ("glm::OFFCORE_RESPONSE_1:WB:L2_HIT", [0x5302b7, 0x3600040008]),  # Q3: another code
    ("glm::OFFCORE_RESPONSE_0:WB:L2_HIT", [0x5301b7, 0x3600040008]),
    ("glm::OFFCORE_RESPONSE_0:0x3fffffffff", [0x5301b7, 0xffffffff]),  # Q5: printed modulo 2^32
    ("glm::BACLEARS:c=4:e:u", [0x45501e6 & ~0x20000]),
])
def test_string_fed_back(first: str, again: int | list[int]) -> None:
    """What the library prints is not always what it takes for the same."""
    printed = encode_all([(first, 0, 9)], LIBPFM_FORCE_PMU="glm")[0]["fstr"]
    answer = encode_all([(printed, 0, 0)], LIBPFM_FORCE_PMU="glm")[0]
    assert (answer["codes"] or answer["ret"]) == again


def test_long_string_is_cut() -> None:
    """Q6: 255 characters after glm::, the codes whole."""
    masks = ["DMND_DATA_RD", "DMND_RFO", "DMND_CODE_RD", "WB", "PF_DATA_RD", "PF_RFO", "PARTIAL_READS",
             "PARTIAL_WRITES", "UC_CODE_READS", "BUS_LOCKS", "FULL_STRM_ST", "SW_PF", "PF_L1_DATA_RD",
             "PARTIAL_STRM_ST", "L2_HIT", "L2_MISS_HIT_OTHER_CORE_NO_FWD", "L2_MISS_HITM_OTHER_CORE"]
    answer = encode_all([("glm::OFFCORE_RESPONSE_0:" + ":".join(masks), 0, 9)], LIBPFM_FORCE_PMU="glm")[0]
    assert answer["ret"] == 0
    assert len(answer["fstr"]) == 260
    assert answer["fstr"].startswith("glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:")
    assert answer["codes"][1] >> 18 & 1
