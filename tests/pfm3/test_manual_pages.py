"""What libpfm_itanium2(3) and libpfm_montecito(3) promise, where docs/deviations say how the library keeps it.

All else that the pages say is in the recorded requests and events (test_replay.py).
"""

from __future__ import annotations

from typing import Any

import pytest

from dispatching import ITANIUM2, MONTECITO, PMUS, Pmu, find, pairs, ranges
from pypfm import pfm3

NOPS = "NOPS_RETIRED"


@pytest.fixture(params=list(PMUS.values()), ids=list(PMUS))
def pmu(request: pytest.FixtureRequest) -> Pmu:
    """Each model in turn, selected."""
    request.param.select()
    chosen: Pmu = request.param
    return chosen


# ---- event address registers of both -----------------------------------------------

EARS: list[tuple[str, int, str, int]] = [  # EAR, mode, an event, its unit mask
    ("iear", 0, "L1I_EAR_CACHE_LAT128", 0xf0), ("iear", 1, "L1I_EAR_TLB_VHPT", 2),
    ("dear", 0, "DATA_EAR_CACHE_LAT64", 4), ("dear", 1, "DATA_EAR_TLB_VHPT_OR_FAULT", 12),
    ("dear", 2, "DATA_EAR_ALAT", 0),
]
EAR_PMDS = {"ita2": {"iear": [0, 1], "dear": [2, 3, 17]}, "mont": {"iear": [34, 35], "dear": [32, 33, 36]}}
EAR_IDS = [f"{ear}-{('cache', 'tlb', 'alat')[mode]}" for ear, mode, _, _ in EARS]


def ear_fields(pmu: Pmu, ear: str, value: int) -> tuple[int, int, int]:
    """Mode, unit mask and privilege levels in the PMC of an EAR."""
    if ear == "dear":
        member = {"ita2": "pmc11_ita2_reg", "mont": "pmc40_mont_reg"}[pmu.tag]
        mode, umask, plm = (pmu.field(value, member, f"dear_{f}") for f in ("mode", "umask", "plm"))
        return mode, umask, plm
    member = {"ita2": "pmc10_ita2_{}_reg", "mont": "pmc37_mont_{}_reg"}[pmu.tag]
    kind = "cache" if pmu.field(value, member.format("cache"), "iear_ct") else "tlb"
    umask, plm = (pmu.field(value, member.format(kind), f"iear_{f}") for f in ("umask", "plm"))
    return int(kind == "tlb"), umask, plm


def counted(pmu: Pmu, ear: str, value: int) -> bool:
    """Whether a counter counts the events of an EAR."""
    code = pfm3.c_int()
    name = {"iear": "L1I_EAR_EVENTS", "dear": "DATA_EAR_EVENTS"}[ear]
    assert pfm3.pfm_get_event_code(find(name), code) == 0
    return (pmu.counter_field(value, "pmc_es"), pmu.counter_field(value, "pmc_umask")) == (code.value, 0)


@pytest.mark.parametrize(("ear", "mode", "event", "umask"), EARS, ids=EAR_IDS)
def test_ear_method_1_event_alone(pmu: Pmu, ear: str, mode: int, event: str, umask: int) -> None:
    """Also with model structures in which ear_used is cleared, whatever else they hold."""
    cleared: dict[str, Any] = {ear: {"ear_used": 0, "ear_mode": 1 - mode % 2, "ear_umask": 9, "ear_plm": 3}}
    for answer in (pmu.dispatch(event), pmu.dispatch(event, **cleared)):
        assert answer.ret == 0
        assert ear_fields(pmu, ear, answer.pmcs[getattr(pmu, ear)]) == (mode, umask, 8)
        assert counted(pmu, ear, answer.pmcs[4])
        assert answer.pmds == [4, *EAR_PMDS[pmu.tag][ear]]


@pytest.mark.parametrize(("ear", "mode", "event", "umask"), EARS, ids=EAR_IDS)
def test_ear_method_2_settings_go_before_the_event(pmu: Pmu, ear: str, mode: int, event: str,
                                                   umask: int) -> None:
    other = 1 if mode != 1 else 0
    answer = pmu.dispatch(event, **{ear: {"ear_used": 1, "ear_mode": other, "ear_umask": 5, "ear_plm": 3}})
    assert answer.ret == 0
    assert (mode, umask) != (other, 5)
    assert ear_fields(pmu, ear, answer.pmcs[getattr(pmu, ear)]) == (other, 5, 3)
    assert counted(pmu, ear, answer.pmcs[4])
    assert answer.pmds == [4, *EAR_PMDS[pmu.tag][ear]]


# ---- Itanium 2 ------------------------------------------------------------------------

def test_constants_of_itanium2() -> None:
    assert (pfm3.PFMLIB_ITA2_ISM_BOTH, pfm3.PFMLIB_ITA2_ISM_IA32, pfm3.PFMLIB_ITA2_ISM_IA64) == (0, 1, 2)
    assert (pfm3.PFMLIB_ITA2_EAR_CACHE_MODE, pfm3.PFMLIB_ITA2_EAR_TLB_MODE,
            pfm3.PFMLIB_ITA2_EAR_ALAT_MODE) == (0, 1, 2)
    assert len(pfm3.pfmlib_ita2_input_param_t().pfp_ita2_counters) == pfm3.PMU_ITA2_NUM_COUNTERS == 4


def test_btb_records_all_branches_by_default() -> None:
    ITANIUM2.select()
    assert ITANIUM2.dispatch("BRANCH_EVENT").pmcs[12] == 0x3f08
    assert pfm3.pfm_ita2_is_btb(find("BRANCH_EVENT")) == 1


# ---- Montecito ------------------------------------------------------------------------

@pytest.mark.parametrize(("event", "group"), [
    ("L1D_READS_SET0", pfm3.PFMLIB_MONT_EVT_L1D_CACHE_GRP),
    ("LOADS_RETIRED", pfm3.PFMLIB_MONT_EVT_L1D_CACHE_GRP),
    ("L2D_REFERENCES_ALL", pfm3.PFMLIB_MONT_EVT_L2D_CACHE_GRP),
    ("CPU_OP_CYCLES_ALL", pfm3.PFMLIB_MONT_EVT_NO_GRP),
    ("FE_BUBBLE_ALL", pfm3.PFMLIB_MONT_EVT_NO_GRP),
])
def test_group(event: str, group: int) -> None:
    MONTECITO.select()
    assert MONTECITO.query("get_event_group", event) == group


@pytest.mark.parametrize(("asked", "pairs_at", "offsets"), [
    ((0x41000, 0x41040), (0x41000, 0x41030), (0, 0)),
    ((0x41010, 0x41030), (0x41000, 0x41030), (0x10, 0x10)),
    ((0x41010, 0x41040), (0x41000, 0x41030), (0x10, 0)),
    ((0x41000, 0x41030), (0x41000, 0x41030), (0, 0x10)),
])
def test_fine_ranges_are_rounded_to_32_bytes(asked: tuple[int, int], pairs_at: tuple[int, int], offsets: tuple[int, int]) -> None:
    """The page says that start and end are directly specified; Itanium 2 does so."""
    MONTECITO.select()
    answer = MONTECITO.dispatch(NOPS, irange=ranges(asked))
    assert answer.fine == 1
    assert [address for _, address, _, _ in pairs(answer.irange)] == list(pairs_at)
    assert (answer.irange.rr_infos[0].rr_soff, answer.irange.rr_infos[0].rr_eoff) == offsets


@pytest.mark.parametrize("event", ["ISB_BUNPAIRS_IN", "L1I_FETCH_RAB_HIT", "L1I_FETCH_ISB_HIT", "L1I_FILLS"])
def test_events_of_two_kinds_of_fetches_need_a_flag(event: str) -> None:
    MONTECITO.select()
    limits = (0x1000, 0x1100)
    demand, match = pfm3.PFMLIB_MONT_IRR_DEMAND_FETCH, pfm3.PFMLIB_MONT_IRR_PREFETCH_MATCH
    assert MONTECITO.dispatch(event, irange=ranges(limits)).ret == pfm3.PFMLIB_ERR_IRRFLAGS
    registers = []
    for flags in (demand, match, demand | match):
        answer = MONTECITO.dispatch(event, irange=ranges(limits, flags=flags))
        assert answer.ret == 0
        registers.append([r for r, _, _, _ in pairs(answer.irange)])
    assert registers == [[0, 4], [2, 6], [0, 4, 2, 6]]


@pytest.mark.parametrize("delay", [0, 1, 128, 255])
def test_ipear_delay(delay: int) -> None:
    MONTECITO.select()
    answer = MONTECITO.dispatch(ipear={"ipear_used": 1, "ipear_delay": delay})
    assert MONTECITO.field(answer.pmcs[42], "pmc42_mont_reg", "ipear_delay") == delay
