"""What libpfm_montecito(3) promises of Montecito alone: event types, full opcode matchers, IP-EAR.

What it says in the same words as libpfm_itanium2(3) is in test_manual_both.py.
"""

from __future__ import annotations

from itertools import product

import pytest

from dispatching import MONTECITO, UNCHECKED, pairs, ranges
from pypfm import pfm3

FEATCOMB = pfm3.PFMLIB_ERR_FEATCOMB
RETIRED, NOPS = "IA64_INST_RETIRED", "NOPS_RETIRED"
BITS41 = (1 << 41) - 1
dispatch = MONTECITO.dispatch


@pytest.fixture(autouse=True)
def _selected() -> None:
    MONTECITO.select()


# ---- DESCRIPTION ----------------------------------------------------------------

def test_constants_of_the_manual() -> None:
    assert (pfm3.PFMLIB_MONT_EAR_CACHE_MODE, pfm3.PFMLIB_MONT_EAR_TLB_MODE,
            pfm3.PFMLIB_MONT_EAR_ALAT_MODE) == (0, 1, 2)
    assert len(pfm3.pfmlib_mont_input_param_t().pfp_mont_counters) == pfm3.PMU_MONT_NUM_COUNTERS == 12


@pytest.mark.parametrize(("event", "group"), [
    ("L1D_READS_SET0", pfm3.PFMLIB_MONT_EVT_L1D_CACHE_GRP),
    ("LOADS_RETIRED", pfm3.PFMLIB_MONT_EVT_L1D_CACHE_GRP),
    ("L2D_REFERENCES_ALL", pfm3.PFMLIB_MONT_EVT_L2D_CACHE_GRP),
    ("CPU_OP_CYCLES_ALL", pfm3.PFMLIB_MONT_EVT_NO_GRP),
    ("FE_BUBBLE_ALL", pfm3.PFMLIB_MONT_EVT_NO_GRP),
])
def test_group(event: str, group: int) -> None:
    assert MONTECITO.query("get_event_group", event) == group


@pytest.mark.parametrize(("event", "subset"), [
    ("L1D_READS_SET0", 0), ("L1D_READS_SET1", 2), ("L2D_REFERENCES_ALL", 4), ("LOADS_RETIRED", 6),
    ("CPU_OP_CYCLES_ALL", pfm3.PFMLIB_MONT_EVT_NO_SET),
])
def test_set(event: str, subset: int) -> None:
    assert MONTECITO.query("get_event_set", event) == subset


def test_l2d_events_of_three_sets_exclude_each_other() -> None:
    """The hardware has room for two sets of the L2D group, not only for one."""
    events = ["L2D_REFERENCES_ALL", "L2D_BYPASS_L2_DATA1", "L2D_OZQ_ACQUIRE"]
    assert len({MONTECITO.query("get_event_set", e) for e in events}) == 3
    assert dispatch(*events[:2]).ret == 0
    assert dispatch(*events).ret == pfm3.PFMLIB_ERR_EVTSET


@pytest.mark.parametrize(("event", "kind"), [
    ("ALAT_CAPACITY_MISS_ALL", pfm3.PFMLIB_MONT_EVT_ACTIVE),
    (RETIRED, pfm3.PFMLIB_MONT_EVT_ACTIVE),
    ("DATA_EAR_ALAT", pfm3.PFMLIB_MONT_EVT_FLOATING),
    ("L2D_REFERENCES_ALL", pfm3.PFMLIB_MONT_EVT_FLOATING),
    ("CPU_OP_CYCLES_ALL", pfm3.PFMLIB_MONT_EVT_CAUSAL),
    ("BUS_ALL_ANY", pfm3.PFMLIB_MONT_EVT_SELF_FLOATING),
])
def test_event_type(event: str, kind: int) -> None:
    assert MONTECITO.query("get_event_type", event) == kind


def test_event_type_refuses_null_and_indices_behind_the_table() -> None:
    kind = pfm3.c_int(77)
    assert pfm3.pfm_mont_get_event_type(0, None) == pfm3.PFMLIB_ERR_INVAL
    assert pfm3.pfm_mont_get_event_type(637, kind) == pfm3.PFMLIB_ERR_INVAL
    assert kind.value == 77


def test_no_event_measures_both_threads() -> None:
    assert {pfm3.pfm_mont_support_all(i) for i in range(640)} == {0}


def test_etb_events() -> None:
    assert [MONTECITO.query("is_etb", e) for e in ("ETB_EVENT", "BRANCH_EVENT", RETIRED)] == [1, 1, 0]
    for index in (0, 1):
        event, branch = (dispatch(e) for e in ("ETB_EVENT", "BRANCH_EVENT"))
        assert event.pmcs[event.order[index]] == branch.pmcs[branch.order[index]]


# ---- PER-EVENT OPTIONS ------------------------------------------------------------

def test_fe_bubble_all_with_a_code_range() -> None:
    """The worked example of PFMLIB_MONT_FL_EVT_NO_QUALCHECK."""
    irange = ranges((0x1000, 0x2000))
    assert dispatch("FE_BUBBLE_ALL", irange=irange).ret == FEATCOMB
    answer = dispatch("FE_BUBBLE_ALL", RETIRED, irange=irange,
                      counters=[{"flags": pfm3.PFMLIB_MONT_FL_EVT_NO_QUALCHECK}])
    assert answer.ret == 0
    assert MONTECITO.counter_field(answer.pmcs[4], "pmc_es") == 0x71
    assert answer.irange.rr_nbr_used == 4


def test_fe_bubble_all_with_the_other_qualifiers() -> None:
    for fields in ({"drange": ranges((0x1000, 0x2000))}, {"opcm1": {"opcm_used": 1}},
                   {"opcm2": {"opcm_used": 1}}):
        assert dispatch("FE_BUBBLE_ALL", **fields).ret == FEATCOMB
        assert dispatch("FE_BUBBLE_ALL", counters=UNCHECKED, **fields).ret == 0


def test_counters_are_for_ia64_code() -> None:
    assert MONTECITO.counter_field(dispatch(NOPS).pmcs[4], "pmc_ism") == 2


# ---- OPCODE MATCHING ----------------------------------------------------------------

MATCHERS = pytest.mark.parametrize(("field", "mask_pmc", "match_pmc"),
                                   [("opcm1", 32, 33), ("opcm2", 34, 35)])


def test_opcode_matchers_are_ignored_unless_used() -> None:
    unused = {"opcm_used": 0, "opcm_m": 1, "opcm_match": 5, "opcm_mask": 3}
    answer = dispatch("CPU_OP_CYCLES_ALL", opcm1=unused, opcm2=unused)
    assert answer.ret == 0
    assert answer.order == [4]


@MATCHERS
@pytest.mark.parametrize("slots", list(product((0, 1), repeat=4)))
def test_any_combination_of_slots(field: str, mask_pmc: int, match_pmc: int,
                                  slots: tuple[int, int, int, int]) -> None:
    names = ("m", "i", "f", "b")
    answer = dispatch(RETIRED, **{field: {"opcm_used": 1} | {
        f"opcm_{name}": bit for name, bit in zip(names, slots, strict=True)}})
    assert answer.ret == 0
    value = answer.pmcs[mask_pmc]
    assert tuple(MONTECITO.field(value, "pmc32_34_mont_reg", f"opcm_{name}") for name in names) == slots
    assert [value >> bit & 1 for bit in (51, 50, 49, 48)] == list(slots)
    assert answer.pmcs[match_pmc] == 0


@MATCHERS
@pytest.mark.parametrize(("match", "mask"), [
    (0x14567890123, 0x1fffffffff0), (BITS41, 0), (0, BITS41), (1 << 40, 1), (2**64 - 1, 2**64 - 1)])
def test_41_bits_of_match_and_mask(field: str, mask_pmc: int, match_pmc: int, match: int, mask: int) -> None:
    answer = dispatch(RETIRED, **{field: {"opcm_used": 1, "opcm_match": match, "opcm_mask": mask}})
    assert answer.ret == 0
    assert answer.pmcs[match_pmc] == match & BITS41
    assert answer.pmcs[mask_pmc] & ~(1 << 57) == mask & BITS41


def test_both_matchers() -> None:
    first, second = ({"opcm_used": 1, "opcm_match": match} for match in (1, 2))
    answer = dispatch(RETIRED, opcm1=first, opcm2=second)
    assert answer.order == [4, 32, 33, 34, 35]
    assert (answer.pmcs[33], answer.pmcs[35]) == (1, 2)


# ---- DATA AND CODE RANGE RESTRICTIONS ------------------------------------------------------

def test_fine_ranges_are_in_64_kb_pages() -> None:
    answer = dispatch(NOPS, irange=ranges((0x40000, 0x4fff0)))
    assert answer.fine == 1
    assert [(r, a) for r, a, _, _ in pairs(answer.irange)] == [(0, 0x40000), (4, 0x4fff0)]
    assert answer.irange.rr_infos[0].rr_eoff == 0x10


@pytest.mark.parametrize(("asked", "pairs_at", "offsets"), [
    ((0x41000, 0x41040), (0x41000, 0x41030), (0, 0)),
    ((0x41010, 0x41030), (0x41000, 0x41030), (0x10, 0x10)),
    ((0x41010, 0x41040), (0x41000, 0x41030), (0x10, 0)),
    ((0x41000, 0x41030), (0x41000, 0x41030), (0, 0x10)),
])
def test_fine_ranges_are_rounded_to_32_bytes(asked: tuple[int, int], pairs_at: tuple[int, int], offsets: tuple[int, int]) -> None:
    """The page says that start and end are directly specified; Itanium 2 does so."""
    answer = dispatch(NOPS, irange=ranges(asked))
    assert answer.fine == 1
    assert [address for _, address, _, _ in pairs(answer.irange)] == list(pairs_at)
    assert (answer.irange.rr_infos[0].rr_soff, answer.irange.rr_infos[0].rr_eoff) == offsets


def test_single_pair_says_how_much_more_it_covers() -> None:
    answer = dispatch("L2I_PREFETCHES", irange=ranges((0x1000, 0x20000)))
    assert answer.ret == 0
    assert pairs(answer.irange) == [(2, 0, (1 << 56) - 0x20000, 8)]
    assert [(i.rr_soff, i.rr_eoff) for i in answer.irange.rr_infos] == [(0x1000, 0)] + [(0, 0)] * 3


@pytest.mark.parametrize("event", ["ISB_BUNPAIRS_IN", "L1I_FETCH_RAB_HIT", "L1I_FETCH_ISB_HIT", "L1I_FILLS"])
def test_events_of_two_kinds_of_fetches_need_a_flag(event: str) -> None:
    limits = (0x1000, 0x1100)
    demand, match = pfm3.PFMLIB_MONT_IRR_DEMAND_FETCH, pfm3.PFMLIB_MONT_IRR_PREFETCH_MATCH
    assert dispatch(event, irange=ranges(limits)).ret == pfm3.PFMLIB_ERR_IRRFLAGS
    registers = []
    for flags in (demand, match, demand | match):
        answer = dispatch(event, irange=ranges(limits, flags=flags))
        assert answer.ret == 0
        registers.append([r for r, _, _, _ in pairs(answer.irange)])
    assert registers == [[0, 4], [2, 6], [0, 4, 2, 6]]


# ---- IP EVENT CAPTURE (IP-EAR) ---------------------------------------------------------------

ETB_PMDS = [38, 39, *range(48, 64)]


def ipear_fields(value: int) -> dict[str, int]:
    return {f: MONTECITO.field(value, "pmc42_mont_reg", f"ipear_{f}") for f in ("plm", "pm", "mode", "delay")}


def test_ipear_records_addresses_in_the_etb() -> None:
    answer = dispatch("CPU_OP_CYCLES_ALL", ipear={"ipear_used": 1, "ipear_plm": 3, "ipear_delay": 100})
    assert answer.ret == 0
    assert ipear_fields(answer.pmcs[42]) == {"plm": 3, "pm": 0, "mode": 4, "delay": 100}
    assert answer.pmds == [4, *ETB_PMDS]


@pytest.mark.parametrize("plm", range(16))
def test_ipear_plm_is_any_combination_and_0_the_default(plm: int) -> None:
    answer = dispatch(dfl_plm=9, ipear={"ipear_used": 1, "ipear_plm": plm})
    assert ipear_fields(answer.pmcs[42])["plm"] == (plm or 9)


@pytest.mark.parametrize("delay", [0, 1, 128, 255])
def test_ipear_delay(delay: int) -> None:
    answer = dispatch(ipear={"ipear_used": 1, "ipear_delay": delay})
    assert ipear_fields(answer.pmcs[42])["delay"] == delay


def test_ipear_excludes_branch_captures() -> None:
    ipear = {"ipear_used": 1}
    assert dispatch("ETB_EVENT", ipear=ipear).ret == FEATCOMB
    assert dispatch("BRANCH_EVENT", ipear=ipear).ret == FEATCOMB
    assert dispatch(ipear=ipear, etb={"etb_used": 1}).ret == FEATCOMB
    assert dispatch(ipear=ipear, etb={"etb_used": 0, "etb_tm": 3}).ret == 0


def test_ipear_is_ignored_unless_used() -> None:
    answer = dispatch("ETB_EVENT", ipear={"ipear_used": 0, "ipear_plm": 3, "ipear_delay": 9})
    assert answer.ret == 0
    assert 42 not in answer.pmcs
