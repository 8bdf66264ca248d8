"""What libpfm_itanium2(3) promises of Itanium 2 alone: ism, groups, PMC8 and PMC9, btb_ds, ranges.

What it says in the same words as libpfm_montecito(3) is in test_manual_both.py.
"""

from __future__ import annotations

import pytest

from dispatching import ITANIUM2, UNCHECKED, find, pairs, ranges
from pypfm import pfm3

FEATCOMB = pfm3.PFMLIB_ERR_FEATCOMB
RETIRED, NOPS = "IA64_INST_RETIRED", "NOPS_RETIRED"
dispatch = ITANIUM2.dispatch


@pytest.fixture(autouse=True)
def _selected() -> None:
    ITANIUM2.select()


# ---- DESCRIPTION ----------------------------------------------------------------

def test_constants_of_the_manual() -> None:
    assert (pfm3.PFMLIB_ITA2_ISM_BOTH, pfm3.PFMLIB_ITA2_ISM_IA32, pfm3.PFMLIB_ITA2_ISM_IA64) == (0, 1, 2)
    assert (pfm3.PFMLIB_ITA2_EAR_CACHE_MODE, pfm3.PFMLIB_ITA2_EAR_TLB_MODE,
            pfm3.PFMLIB_ITA2_EAR_ALAT_MODE) == (0, 1, 2)
    assert len(pfm3.pfmlib_ita2_input_param_t().pfp_ita2_counters) == pfm3.PMU_ITA2_NUM_COUNTERS == 4


@pytest.mark.parametrize(("event", "group"), [
    ("L1D_READS_SET0", pfm3.PFMLIB_ITA2_EVT_L1_CACHE_GRP),
    ("LOADS_RETIRED", pfm3.PFMLIB_ITA2_EVT_L1_CACHE_GRP),
    ("L2_REFERENCES", pfm3.PFMLIB_ITA2_EVT_L2_CACHE_GRP),
    ("L2_BYPASS_L2_DATA1", pfm3.PFMLIB_ITA2_EVT_L2_CACHE_GRP),
    ("CPU_CYCLES", pfm3.PFMLIB_ITA2_EVT_NO_GRP),
    (NOPS, pfm3.PFMLIB_ITA2_EVT_NO_GRP),
])
def test_group(event: str, group: int) -> None:
    assert ITANIUM2.query("get_event_group", event) == group


@pytest.mark.parametrize(("event", "subset"), [
    ("L1D_READS_SET0", 0), ("L1D_READS_SET1", 1), ("L2_REFERENCES", 1), ("LOADS_RETIRED", 3),
    ("CPU_CYCLES", pfm3.PFMLIB_ITA2_EVT_NO_SET),
])
def test_set(event: str, subset: int) -> None:
    assert ITANIUM2.query("get_event_set", event) == subset


def test_l2_events_of_two_sets_exclude_each_other() -> None:
    sets = [ITANIUM2.query("get_event_set", e) for e in ("L2_BYPASS_L2_DATA1", "L2_REFERENCES")]
    assert sets[0] != sets[1]
    assert dispatch("L2_BYPASS_L2_DATA1", "L2_REFERENCES").ret == pfm3.PFMLIB_ERR_EVTSET


def test_sets_of_different_groups_do_not_exclude_each_other() -> None:
    assert dispatch("L1D_READS_SET0", "L2_REFERENCES").ret == 0


# ---- PER-EVENT OPTIONS ------------------------------------------------------------

@pytest.mark.parametrize("ism", [0, 1, 2])
def test_ism_is_in_the_register(ism: int) -> None:
    answer = dispatch(NOPS, NOPS, counters=[{"ism": ism}])
    assert ITANIUM2.counter_field(answer.pmcs[4], "pmc_ism") == answer.pmcs[4] >> 24 & 3 == ism
    assert ITANIUM2.counter_field(answer.pmcs[5], "pmc_ism") == pfm3.PFMLIB_ITA2_ISM_BOTH


def test_ism_is_both_without_model_structures() -> None:
    assert ITANIUM2.counter_field(dispatch(NOPS).pmcs[4], "pmc_ism") == pfm3.PFMLIB_ITA2_ISM_BOTH


def test_cpu_cycles_with_a_code_range() -> None:
    """The worked example of PFMLIB_ITA2_FL_EVT_NO_QUALCHECK."""
    irange = ranges((0x1000, 0x1040))
    assert dispatch("CPU_CYCLES", irange=irange).ret == FEATCOMB
    answer = dispatch("CPU_CYCLES", RETIRED, irange=irange,
                      counters=[{"flags": pfm3.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK}])
    assert answer.ret == 0
    assert ITANIUM2.counter_field(answer.pmcs[4], "pmc_es") == 0x12
    assert answer.irange.rr_nbr_used == 4


def test_cpu_cycles_with_the_other_qualifiers() -> None:
    for fields in ({"drange": ranges((0x1000, 0x2000))}, {"pmc8": {"opcm_used": 1}}):
        assert dispatch("CPU_CYCLES", **fields).ret == FEATCOMB
        assert dispatch("CPU_CYCLES", counters=UNCHECKED, **fields).ret == 0


# ---- OPCODE MATCHING ----------------------------------------------------------------

RAW = 0xfff0_1234_5678_9ab8


def test_opcode_matchers_are_ignored_unless_used() -> None:
    unused = {"opcm_used": 0, "pmc_val": RAW}
    answer = dispatch("CPU_CYCLES", pmc8=unused, pmc9=unused)
    assert answer.ret == 0
    assert not {8, 9} & set(answer.pmcs)


@pytest.mark.parametrize(("field", "pmc"), [("pmc8", 8), ("pmc9", 9)])
def test_pmc_val_is_stored_but_for_the_bits_that_the_library_adjusts(field: str, pmc: int) -> None:
    for value in (RAW, RAW | 7, 0, 2**64 - 1):
        answer = dispatch(RETIRED, **{field: {"opcm_used": 1, "pmc_val": value}})
        assert answer.ret == 0
        assert answer.pmcs[pmc] == value & ~7 | 5  # ig_ad, no inversion, bit 2


def test_both_matchers() -> None:
    answer = dispatch(RETIRED, pmc8={"opcm_used": 1, "pmc_val": 8}, pmc9={"opcm_used": 1, "pmc_val": 16})
    assert (answer.pmcs[8], answer.pmcs[9]) == (13, 21)
    assert answer.order == [4, 8, 9, 15]


def test_pmc8_with_a_code_range_looks_at_addresses_and_inverts() -> None:
    for flags, low in ((0, 4), (pfm3.PFMLIB_ITA2_RR_INV, 6)):
        answer = dispatch(NOPS, pmc8={"opcm_used": 1, "pmc_val": RAW | 7},
                          irange=ranges((0x1000, 0x1040), flags=flags))
        assert answer.pmcs[8] == RAW | low


@pytest.mark.parametrize(("tags", "route"), [
    ((), 0b1010), ((0,), 0b1110), ((2,), 0b1011), ((0, 2), 0b1010)])
def test_pmc15_routes_pmc8_to_the_tagged_events(tags: tuple[int, ...], route: int) -> None:
    events = [ITANIUM2.tagged[t] for t in tags] or [NOPS]
    answer = dispatch(*events, pmc8={"opcm_used": 1})
    assert answer.pmcs[15] == 0xfffffff0 | route


# ---- EVENT ADDRESS REGISTERS ----------------------------------------------------------

@pytest.mark.parametrize("ism", [0, 1, 2])
def test_ear_ism(ism: int) -> None:
    answer = dispatch(iear={"ear_used": 1, "ear_ism": ism}, dear={"ear_used": 1, "ear_ism": ism})
    assert ITANIUM2.field(answer.pmcs[10], "pmc10_ita2_cache_reg", "iear_ism") == ism
    assert ITANIUM2.field(answer.pmcs[11], "pmc11_ita2_reg", "dear_ism") == ism


# ---- BRANCH TRACE BUFFER ----------------------------------------------------------------

@pytest.mark.parametrize("ds", [0, 1])
def test_btb_ds(ds: int) -> None:
    answer = dispatch(btb={"btb_used": 1, "btb_ds": ds})
    assert answer.pmcs[12] == ds << 7 | 8


def test_btb_records_all_branches_by_default() -> None:
    assert dispatch("BRANCH_EVENT").pmcs[12] == 0x3f08
    assert pfm3.pfm_ita2_is_btb(find("BRANCH_EVENT")) == 1


# ---- DATA AND CODE RANGE RESTRICTIONS ------------------------------------------------------

def test_other_events_take_one_pair_for_a_big_range() -> None:
    """More than fine mode can do: one pair, and what it covers beyond is in the offsets."""
    answer = dispatch(NOPS, irange=ranges((0x1ff0, 0x2010)))
    assert answer.ret == 0
    assert answer.fine == 0
    assert pairs(answer.irange) == [(0, 0, (1 << 56) - 0x4000, 8)]
    assert [(i.rr_soff, i.rr_eoff) for i in answer.irange.rr_infos] == [(0x1ff0, 0x1ff0)] + [(0, 0)] * 3


def test_other_events_take_one_bitmask_range() -> None:
    two = ranges((0x10000, 0x20000), (0x40000, 0x50000))
    assert dispatch(NOPS, irange=two).ret == pfm3.PFMLIB_ERR_IRRTOOMANY
    assert dispatch(*ITANIUM2.tagged, irange=two).ret == 0


def test_fine_ranges_are_exact_on_a_forced_pmu() -> None:
    answer = dispatch(NOPS, irange=ranges((0x1010, 0x1050)))
    assert [(r, a) for r, a, _, _ in pairs(answer.irange)] == [(0, 0x1010), (4, 0x1040)]
    assert (answer.irange.rr_infos[0].rr_soff, answer.irange.rr_infos[0].rr_eoff) == (0, 0)
