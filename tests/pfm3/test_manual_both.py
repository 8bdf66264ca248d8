"""What libpfm_itanium2(3) and libpfm_montecito(3) promise in the same words.

Sections of the manual pages stand as headings; what only one of them says is in
test_manual_itanium2.py and test_manual_montecito.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from dispatching import PMUS, UNCHECKED, Pmu, find, pairs, ranges
from pypfm import pfm3

INVAL, FEATCOMB = pfm3.PFMLIB_ERR_INVAL, pfm3.PFMLIB_ERR_FEATCOMB
RETIRED, NOPS, LOADS = "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"


@pytest.fixture(params=list(PMUS.values()), ids=list(PMUS))
def pmu(request: pytest.FixtureRequest) -> Pmu:
    """Each model in turn, selected."""
    request.param.select()
    chosen: Pmu = request.param
    return chosen


# ---- DESCRIPTION ----------------------------------------------------------------

def test_ear_event_is_told_from_cycles(pmu: Pmu) -> None:
    assert pmu.query("is_ear", "DATA_EAR_CACHE_LAT4") == 1
    assert pmu.query("is_ear", pmu.cycles) == 0


PREDICATES = ["is_ear", "is_dear", "is_dear_tlb", "is_dear_cache", "is_dear_alat",
              "is_iear", "is_iear_tlb", "is_iear_cache"]


@pytest.mark.parametrize(("event", "true"), [
    ("DATA_EAR_CACHE_LAT4", {"is_ear", "is_dear", "is_dear_cache"}),
    ("DATA_EAR_TLB_ALL", {"is_ear", "is_dear", "is_dear_tlb"}),
    ("DATA_EAR_ALAT", {"is_ear", "is_dear", "is_dear_alat"}),
    ("L1I_EAR_TLB_ALL", {"is_ear", "is_iear", "is_iear_tlb"}),
    ("L1I_EAR_CACHE_LAT4", {"is_ear", "is_iear", "is_iear_cache"}),
    ("DATA_EAR_EVENTS", set()),
    ("L1I_EAR_EVENTS", set()),
    ("BRANCH_EVENT", set()),
    (RETIRED, set()),
])
def test_kinds_of_named_events(pmu: Pmu, event: str, true: set[str]) -> None:
    answers = {p: pmu.query(p, event) for p in PREDICATES}
    assert answers == {p: int(p in true) for p in PREDICATES}


def test_predicates_are_0_behind_the_table(pmu: Pmu) -> None:
    count = pfm3.c_uint()
    assert pfm3.pfm_get_num_events(count) == 0
    names = [*PREDICATES, f"is_{pmu.branches}", "support_opcm", "support_iarr", "support_darr"]
    for index in (count.value, count.value + 1, 2**31, 2**32 - 1):
        assert [pmu.call(name)(index) for name in names] == [0] * len(names)


def test_only_branch_events_use_the_trace_buffer(pmu: Pmu) -> None:
    assert pmu.query(f"is_{pmu.branches}", "BRANCH_EVENT") == 1
    assert pmu.query(f"is_{pmu.branches}", pmu.cycles) == 0
    assert pmu.query(f"is_{pmu.branches}", "DATA_EAR_CACHE_LAT4") == 0


MATCHER = {"ita2": "pmc8", "mont": "opcm1"}
# Montecito wants a fetch flag for the events that see demand fetches and prefetches.
FLAGS = {"ita2": 0, "mont": pfm3.PFMLIB_MONT_IRR_DEMAND_FETCH}


def qualifier(pmu: Pmu, predicate: str) -> dict[str, Any]:
    """Settings that use what a predicate asks for."""
    return {"support_opcm": {MATCHER[pmu.tag]: {"opcm_used": 1}},
            "support_iarr": {"irange": ranges((0x1000, 0x1040), flags=FLAGS[pmu.tag])},
            "support_darr": {"drange": ranges((0x1000, 0x2000))}}[predicate]


@pytest.mark.parametrize("predicate", ["support_opcm", "support_iarr", "support_darr"])
def test_qualifier_is_refused_exactly_for_events_without_support(pmu: Pmu, predicate: str) -> None:
    fields = qualifier(pmu, predicate)
    count = pfm3.c_uint()
    assert pfm3.pfm_get_num_events(count) == 0
    expected, got = [], []
    for index in range(count.value):
        name, masks = pfm3.create_string_buffer(64), pfm3.c_uint()
        assert pfm3.pfm_get_event_name(index, name, 64) == 0
        assert pfm3.pfm_get_num_event_masks(index, masks) == 0
        event = {"event": name.value, "unit_masks": [0] if masks.value else []}
        got.append((name.value, pmu.dispatch(event, **fields).ret))
        expected.append((name.value, 0 if pmu.call(predicate)(index) else FEATCOMB))
        assert pmu.dispatch(event, counters=UNCHECKED, **fields).ret == 0
    assert got == expected
    assert {ret for _, ret in got} == {0, FEATCOMB}


def test_nops_retired_happen_up_to_6_times_a_cycle(pmu: Pmu) -> None:
    assert pmu.query("get_event_maxincr", NOPS) == 6


@pytest.mark.parametrize("thres", range(6))
def test_threshold_0_to_5_is_in_the_register(pmu: Pmu, thres: int) -> None:
    answer = pmu.dispatch(NOPS, counters=[{"thres": thres}])
    assert answer.ret == 0
    assert pmu.counter_field(answer.pmcs[4], "pmc_thres") == thres
    assert answer.pmcs[4] >> 20 & 7 == thres


def test_threshold_belongs_to_its_event(pmu: Pmu) -> None:
    answer = pmu.dispatch(NOPS, RETIRED, NOPS, counters=[{"thres": 1}, {}, {"thres": 5}])
    assert answer.order[:3] == [4, 5, 6]
    assert [pmu.counter_field(answer.pmcs[n], "pmc_thres") for n in (4, 5, 6)] == [1, 0, 5]


@pytest.mark.parametrize("event", ["ALAT_CAPACITY_MISS_FP", "ALAT_CAPACITY_MISS_INT", NOPS])
def test_umask_of_an_event_is_the_one_in_its_counter(pmu: Pmu, event: str) -> None:
    umask = pmu.query("get_event_umask", event)
    assert umask == {"ALAT_CAPACITY_MISS_FP": 2, "ALAT_CAPACITY_MISS_INT": 1, NOPS: 0}[event]
    assert pmu.counter_field(pmu.dispatch(event).pmcs[4], "pmc_umask") == umask


def test_events_outside_the_caches_have_no_group_and_no_set(pmu: Pmu) -> None:
    for event in (pmu.cycles, NOPS, RETIRED, "BRANCH_EVENT", "DATA_EAR_CACHE_LAT4"):
        assert pmu.query("get_event_group", event) == pmu.constant("EVT_NO_GRP") == 0
        assert pmu.query("get_event_set", event) == pmu.constant("EVT_NO_SET") == -1


def test_group_and_set_go_together(pmu: Pmu) -> None:
    """"If the event does not belong to a group then the value of set is ...NO_SET": and only then."""
    count, group, subset = pfm3.c_uint(), pfm3.c_int(), pfm3.c_int()
    assert pfm3.pfm_get_num_events(count) == 0
    for index in range(count.value):
        assert pmu.call("get_event_group")(index, group) == 0
        assert pmu.call("get_event_set")(index, subset) == 0
        assert (group.value == 0) == (subset.value == -1), index


def test_l1_events_of_two_sets_exclude_each_other(pmu: Pmu) -> None:
    assert pmu.query("get_event_set", "L1D_READS_SET0") != pmu.query("get_event_set", "L1D_READS_SET1")
    assert pmu.dispatch("L1D_READS_SET0", "L1D_READS_SET1").ret == pfm3.PFMLIB_ERR_EVTSET
    assert pmu.dispatch("L1D_READS_SET0", "L1D_READS_SET0").ret == 0


@pytest.mark.parametrize(("event", "mode"), [
    ("DATA_EAR_TLB_ALL", "EAR_TLB_MODE"), ("L1I_EAR_TLB_ALL", "EAR_TLB_MODE"),
    ("DATA_EAR_CACHE_LAT4", "EAR_CACHE_MODE"), ("L1I_EAR_CACHE_LAT4", "EAR_CACHE_MODE"),
    ("DATA_EAR_ALAT", "EAR_ALAT_MODE"),
])
def test_ear_mode(pmu: Pmu, event: str, mode: str) -> None:
    assert pmu.query("get_ear_mode", event) == pmu.constant(mode)


@pytest.mark.parametrize("function", ["get_ear_mode", "get_event_ear_mode"])
@pytest.mark.parametrize("event", ["DATA_EAR_EVENTS", "L1I_EAR_EVENTS", RETIRED, "BRANCH_EVENT"])
def test_mode_of_another_event_is_refused_and_not_updated(pmu: Pmu, event: str, function: str) -> None:
    mode = pmu.cell(function, 77)
    assert pmu.call(function)(find(event), mode) == INVAL
    assert mode.value == 77


@pytest.mark.parametrize("function", ["get_ear_mode", "get_event_ear_mode", "get_event_group",
                                      "get_event_grp", "get_event_set", "get_event_maxincr",
                                      "get_event_umask"])
def test_getters_refuse_null_and_indices_behind_the_table(pmu: Pmu, function: str) -> None:
    cell = pmu.cell(function, 77)
    assert pmu.call(function)(find("DATA_EAR_CACHE_LAT4"), None) == INVAL
    for index in (637, 2**31, 2**32 - 1):
        assert pmu.call(function)(index, cell) == INVAL
    assert cell.value == 77


@pytest.mark.parametrize(("alias", "function"), [
    ("get_event_grp", "get_event_group"), ("get_event_ear_mode", "get_ear_mode")])
def test_names_in_the_text_are_those_in_the_synopsis(pmu: Pmu, alias: str, function: str) -> None:
    answers = []
    for name in (alias, function):
        cells = [pmu.cell(name, 77) for _ in range(700)]
        answers.append([(pmu.call(name)(i, cell), cell.value) for i, cell in enumerate(cells)])
    assert answers[0] == answers[1]
    assert len(set(answers[0])) >= 4  # at least three good answers, and the error


# ---- PER-EVENT OPTIONS, NO_QUALCHECK --------------------------------------------


def test_event_without_code_ranges_is_refused_unless_unchecked(pmu: Pmu) -> None:
    irange = ranges((0x1000, 0x1040))
    for event in (pmu.cycles, "FE_BUBBLE_ALL"):
        assert pmu.query("support_iarr", event) == 0
        assert pmu.dispatch(event, irange=irange).ret == FEATCOMB
        answer = pmu.dispatch(event, irange=irange, counters=UNCHECKED)
        assert answer.ret == 0
        assert answer.pmcs[4] == pmu.dispatch(event, counters=UNCHECKED).pmcs[4]
        assert pmu.irange in answer.pmcs


def test_no_qualcheck_is_per_event(pmu: Pmu) -> None:
    irange = ranges((0x1000, 0x1040))
    first, second = [{"flags": 1}, {}], [{}, {"flags": 1}]
    assert pmu.dispatch("FE_BUBBLE_ALL", NOPS, irange=irange, counters=first).ret == 0
    assert pmu.dispatch("FE_BUBBLE_ALL", NOPS, irange=irange, counters=second).ret == FEATCOMB


# ---- EVENT ADDRESS REGISTERS ------------------------------------------------------

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


@pytest.mark.parametrize("ear", ["iear", "dear"])
def test_ear_method_3_neither(pmu: Pmu, ear: str) -> None:
    cleared: dict[str, Any] = {ear: {"ear_used": 0, "ear_mode": 1, "ear_umask": 2, "ear_plm": 8}}
    for answer in (pmu.dispatch(pmu.cycles), pmu.dispatch(pmu.cycles, **cleared)):
        assert answer.ret == 0
        assert getattr(pmu, ear) not in answer.pmcs
        assert answer.pmds == [4]


@pytest.mark.parametrize("events", [[], ["cycles"]])
@pytest.mark.parametrize(("ear", "mode", "event", "umask"), EARS, ids=EAR_IDS)
def test_ear_method_4_free_running(pmu: Pmu, ear: str, mode: int, event: str, umask: int,
                                   events: list[str]) -> None:
    settings = {"ear_used": 1, "ear_mode": mode, "ear_umask": umask, "ear_plm": 2}
    answer = pmu.dispatch(*[pmu.cycles for _ in events], **{ear: settings})
    assert answer.ret == 0
    register = getattr(pmu, ear)
    assert ear_fields(pmu, ear, answer.pmcs[register]) == (mode, umask, 2)
    assert answer.pmds == [4] * len(events) + EAR_PMDS[pmu.tag][ear]
    # What the event implies at level 2 by default is the same register.
    assert answer.pmcs[register] == pmu.dispatch(event, dfl_plm=2).pmcs[register]


@pytest.mark.parametrize("plm", range(16))
@pytest.mark.parametrize("ear", ["iear", "dear"])
def test_ear_plm_is_any_combination_and_0_the_default(pmu: Pmu, ear: str, plm: int) -> None:
    answer = pmu.dispatch(dfl_plm=5, **{ear: {"ear_used": 1, "ear_plm": plm}})
    assert ear_fields(pmu, ear, answer.pmcs[getattr(pmu, ear)])[2] == (plm or 5)


def test_alat_mode_is_for_data_only(pmu: Pmu) -> None:
    alat = {"ear_used": 1, "ear_mode": pmu.constant("EAR_ALAT_MODE")}
    assert pmu.dispatch(iear=alat).ret == INVAL
    assert pmu.dispatch(dear=alat).ret == 0


def test_both_ears_at_once(pmu: Pmu) -> None:
    answer = pmu.dispatch("L1I_EAR_TLB_ALL", "DATA_EAR_CACHE_LAT4")
    assert ear_fields(pmu, "iear", answer.pmcs[pmu.iear]) == (1, 7, 8)
    assert ear_fields(pmu, "dear", answer.pmcs[pmu.dear]) == (0, 0, 8)
    assert answer.pmds == [4, 5, *EAR_PMDS[pmu.tag]["iear"], *EAR_PMDS[pmu.tag]["dear"]]


# ---- BRANCH TRACE BUFFER, EXECUTION TRACE BUFFER ------------------------------------

TRACE_PMDS = {"ita2": list(range(8, 17)), "mont": [38, 39, *range(48, 64)]}


def trace_fields(pmu: Pmu, value: int) -> dict[str, int]:
    member, prefix = {"ita2": ("pmc12_ita2_reg", "btbc"), "mont": ("pmc39_mont_reg", "etbc")}[pmu.tag]
    return {f: pmu.field(value, member, f"{prefix}_{f}") for f in ("plm", "ds", "tm", "ptm", "ppm", "brt")}


def trace_settings(pmu: Pmu, **fields: int) -> dict[str, Any]:
    return {pmu.branches: {f"{pmu.branches}_{name}": value for name, value in fields.items()}}


def test_trace_method_1_event_alone_records_all_branches(pmu: Pmu) -> None:
    cleared = trace_settings(pmu, used=0, tm=1, ptm=1, ppm=1, brt=2, plm=1)
    for answer in (pmu.dispatch("BRANCH_EVENT"), pmu.dispatch("BRANCH_EVENT", **cleared)):
        assert answer.ret == 0
        assert trace_fields(pmu, answer.pmcs[pmu.trace]) == {
            "plm": 8, "ds": 0, "tm": 3, "ptm": 3, "ppm": 3, "brt": 0}
        assert pmu.counter_field(answer.pmcs[4], "pmc_es") == 0x11
        assert answer.pmds == [4, *TRACE_PMDS[pmu.tag]]


def test_trace_method_2_event_with_settings(pmu: Pmu) -> None:
    answer = pmu.dispatch("BRANCH_EVENT", **trace_settings(pmu, used=1, tm=1, ptm=2, ppm=1, brt=2, plm=3))
    assert answer.ret == 0
    assert trace_fields(pmu, answer.pmcs[pmu.trace]) == {
        "plm": 3, "ds": 0, "tm": 1, "ptm": 2, "ppm": 1, "brt": 2}
    assert pmu.counter_field(answer.pmcs[4], "pmc_es") == 0x11
    assert answer.pmds == [4, *TRACE_PMDS[pmu.tag]]


def test_trace_method_3_free_running(pmu: Pmu) -> None:
    for events in ([], [pmu.cycles]):
        answer = pmu.dispatch(*events, **trace_settings(pmu, used=1, tm=2, ptm=3, ppm=3, brt=1, plm=4))
        assert answer.ret == 0
        assert trace_fields(pmu, answer.pmcs[pmu.trace]) == {
            "plm": 4, "ds": 0, "tm": 2, "ptm": 3, "ppm": 3, "brt": 1}
        assert answer.pmds == [4] * len(events) + TRACE_PMDS[pmu.tag]


def test_trace_method_4_neither(pmu: Pmu) -> None:
    cleared = trace_settings(pmu, used=0, tm=3, ptm=3, ppm=3, brt=1, plm=8)
    for answer in (pmu.dispatch(pmu.cycles), pmu.dispatch(pmu.cycles, **cleared)):
        assert answer.ret == 0
        assert pmu.trace not in answer.pmcs
        assert answer.pmds == [4]


@pytest.mark.parametrize("value", range(4))
@pytest.mark.parametrize("name", ["tm", "ptm", "ppm", "brt"])
def test_trace_filter(pmu: Pmu, name: str, value: int) -> None:
    answer = pmu.dispatch(**trace_settings(pmu, used=1, **{name: value}))
    fields = trace_fields(pmu, answer.pmcs[pmu.trace])
    assert fields == {"plm": 8, "ds": 0, "tm": 0, "ptm": 0, "ppm": 0, "brt": 0} | {name: value}
    shift = {"tm": 8, "ptm": 10, "ppm": 12, "brt": 14}[name]
    assert answer.pmcs[pmu.trace] == value << shift | 8


@pytest.mark.parametrize("plm", range(16))
def test_trace_plm_is_any_combination_and_0_the_default(pmu: Pmu, plm: int) -> None:
    answer = pmu.dispatch(dfl_plm=9, **trace_settings(pmu, used=1, plm=plm))
    assert trace_fields(pmu, answer.pmcs[pmu.trace])["plm"] == (plm or 9)


# ---- DATA AND CODE RANGE RESTRICTIONS -------------------------------------------------

def test_ranges_are_ignored_unless_rr_used(pmu: Pmu) -> None:
    plain = pmu.dispatch(RETIRED, counters=UNCHECKED)
    for name in ("irange", "drange"):
        answer = pmu.dispatch(RETIRED, counters=UNCHECKED, **{name: ranges((0x1000, 0x1008), used=0)})
        assert answer.as_recorded() == plain.as_recorded()


@pytest.mark.parametrize(("first", "last", "fine"), [
    (0, 0x40, 1),           # inside a page
    (0, -16, 1),            # a whole page but its last bundle
    (-0x40, 0x40, 0),       # small, but across a page boundary
    (0, 0x10010, 0),        # more than either page size
])
def test_fine_mode_limits(pmu: Pmu, first: int, last: int, fine: int) -> None:
    """Offsets are from a page boundary, an end that is not above its start from the next one."""
    base = 8 * pmu.page
    end = base + last + (pmu.page if last <= first else 0)
    answer = pmu.dispatch(*pmu.tagged, irange=ranges((base + first, end)))
    assert answer.ret == 0
    assert answer.fine == fine
    assert answer.pmcs[pmu.irange] >> 13 & 1 == fine


def test_a_range_of_more_than_a_page_is_not_fine(pmu: Pmu) -> None:
    """Sizes around the limit, with the start at a page boundary."""
    base, fine = 8 * pmu.page, []
    for size in (pmu.page - 16, pmu.page + 16, 2 * pmu.page):
        answer = pmu.dispatch(*pmu.tagged, irange=ranges((base, base + size)))
        assert answer.ret == 0
        fine.append(answer.fine)
    assert fine == [1, 0, 0]


def test_fine_range_is_two_pairs_that_hold_its_ends(pmu: Pmu) -> None:
    answer = pmu.dispatch(NOPS, irange=ranges((0x41000, 0x41ff0 - 0x10)))
    assert answer.ret == 0
    mask = {"ita2": 0xfffff000, "mont": 0xffff0000}[pmu.tag]
    assert pairs(answer.irange) == [(0, 0x41000, mask, 8), (4, 0x41fd0, mask, 8)]


def test_fine_mode_takes_two_ranges(pmu: Pmu) -> None:
    answer = pmu.dispatch(NOPS, irange=ranges((0x1000, 0x1100), (0x42000, 0x42200)))
    assert answer.ret == 0
    assert answer.fine == 1
    assert [(r, address) for r, address, _, _ in pairs(answer.irange)] == [
        (0, 0x1000), (4, 0x10f0), (2, 0x42000), (6, 0x421f0)]
    three = ranges((0x1000, 0x1100), (0x42000, 0x42200), (0x3000, 0x3100))
    assert pmu.dispatch(NOPS, irange=three).ret == pfm3.PFMLIB_ERR_IRRTOOMANY


def test_fine_mode_is_for_all_ranges_or_none(pmu: Pmu) -> None:
    small, big = (0x1000, 0x1040), (0x100000, 0x180000)
    for limits in ((small, big), (big, small)):
        answer = pmu.dispatch(*pmu.tagged, irange=ranges(*limits))
        assert answer.ret == 0
        assert answer.fine == 0
        blocks = {(address, (1 << 56) - mask) for _, address, mask, _ in pairs(answer.irange)}
        assert blocks == {(0x1000, 0x40), (0x100000, 0x80000)}


def test_no_fine_mode_forces_the_bitmask(pmu: Pmu) -> None:
    flags = pmu.constant("RR_NO_FINE_MODE")
    answer = pmu.dispatch(RETIRED, irange=ranges((0x1000, 0x1100), flags=flags))
    assert pmu.dispatch(RETIRED, irange=ranges((0x1000, 0x1100))).fine == 1
    assert answer.ret == 0
    assert answer.fine == 0
    assert pairs(answer.irange) == [(0, 0x1000, (1 << 56) - 0x100, 8)]


def test_is_fine_answers_0_without_code_ranges_or_structures(pmu: Pmu) -> None:
    is_fine = pmu.call("irange_is_fine")
    fine = pmu.dispatch(RETIRED, irange=ranges((0x1000, 0x1100)))
    assert is_fine(fine.out, fine.model) == 1
    assert is_fine(None, fine.model) == 0
    assert is_fine(fine.out, None) == 0
    assert pmu.dispatch(LOADS, drange=ranges((0x1000, 0x2000))).fine == 0
    plain = pmu.dispatch(RETIRED)
    assert is_fine(plain.out, fine.model) == 0
    fine.out.pfp_pmc_count = 512
    assert is_fine(fine.out, fine.model) == 0


def test_four_data_ranges(pmu: Pmu) -> None:
    limits = [(0x1000, 0x2000), (0x4000, 0x8000), (0x10000, 0x20000), (0x40000, 0x80000)]
    answer = pmu.dispatch(LOADS, drange=ranges(*limits))
    assert answer.ret == 0
    assert [(a, a + (1 << 56) - mask) for _, a, mask, _ in pairs(answer.drange)] == limits
    assert answer.drange.rr_nbr_used == 8


def test_four_code_ranges_of_retired_instructions(pmu: Pmu) -> None:
    limits = [(0x100000, 0x110000), (0x200000, 0x240000), (0x300000, 0x310000), (0x400000, 0x480000)]
    answer = pmu.dispatch(*pmu.tagged, irange=ranges(*limits))
    assert answer.ret == 0
    assert [(a, a + (1 << 56) - mask) for _, a, mask, _ in pairs(answer.irange)] == limits


def test_more_pairs_than_there_are(pmu: Pmu) -> None:
    limits = [(0x1001, 0x2fff), (0x8000, 0x9000)]
    assert pmu.dispatch(LOADS, drange=ranges(*limits)).ret == pfm3.PFMLIB_ERR_DRRTOOMANY
    code = [(0x100010, 0x1ffff0), (0x400000, 0x480000)]
    assert pmu.dispatch(*pmu.tagged, irange=ranges(*code)).ret == pfm3.PFMLIB_ERR_IRRTOOMANY


def test_several_pairs_for_a_code_range_need_several_events(pmu: Pmu) -> None:
    irange = ranges((0x100000, 0x170000))
    answer = pmu.dispatch(*pmu.tagged, irange=irange)
    assert answer.ret == 0
    assert len(pairs(answer.irange)) == 3
    assert (answer.irange.rr_infos[0].rr_soff, answer.irange.rr_infos[0].rr_eoff) == (0, 0)
    assert pmu.dispatch(RETIRED, irange=irange).ret == pfm3.PFMLIB_ERR_IRRINVAL


@pytest.mark.parametrize(("limits", "count"), [
    ((0x1000, 0x2000), 1), ((0x1000, 0x1c00), 2), ((0x0000, 0x4c00), 3), ((0x1001, 0x2003), 4)])
def test_data_range_takes_up_to_four_pairs(pmu: Pmu, limits: tuple[int, int], count: int) -> None:
    answer = pmu.dispatch(LOADS, drange=ranges(limits))
    assert answer.ret == 0
    assert len(pairs(answer.drange)) == count
    assert answer.drange.rr_nbr_used == 2 * count


@pytest.mark.parametrize("flag", [0, 1])
def test_rr_inv_inverts_code_ranges(pmu: Pmu, flag: int) -> None:
    assert pmu.constant("RR_INV") == 1
    number, member = {"ita2": (8, "pmc8_9_ita2_reg"), "mont": (32, "pmc32_34_mont_reg")}[pmu.tag]
    answer = pmu.dispatch(RETIRED, irange=ranges((0x1000, 0x1100), flags=flag))
    assert pmu.field(answer.pmcs[number], member, "opcm_inv") == flag
    assert pmu.field(answer.pmcs[number], member, "opcm_ig_ad") == 0


@pytest.mark.parametrize("plm", range(16))
def test_rr_plm_is_any_combination_and_0_the_default(pmu: Pmu, plm: int) -> None:
    code = pmu.dispatch(RETIRED, dfl_plm=9, irange=ranges((0x1000, 0x1100, plm), (0x2000, 0x2100, 2)))
    assert [p[3] for p in pairs(code.irange)] == [plm or 9] * 2 + [2] * 2
    data = pmu.dispatch(LOADS, dfl_plm=9, drange=ranges((0x1000, 0x2000, plm)))
    assert [p[3] for p in pairs(data.drange)] == [plm or 9]


@pytest.mark.parametrize("limits", [(0x1008, 0x1100), (0x1000, 0x1108), (0x1001, 0x1101)])
def test_code_ranges_are_bundle_aligned_data_ranges_need_not(pmu: Pmu, limits: tuple[int, int]) -> None:
    assert pmu.dispatch(RETIRED, irange=ranges(limits)).ret == pfm3.PFMLIB_ERR_IRRALIGN
    assert pmu.dispatch(LOADS, drange=ranges(limits)).ret == 0


def test_offsets_are_0_for_an_exact_cover(pmu: Pmu) -> None:
    data = pmu.dispatch(LOADS, drange=ranges((0x4000, 0x8000)))
    code = pmu.dispatch(RETIRED, irange=ranges((0x100000, 0x200000)))
    for rr in (data.drange, code.irange):
        assert [(i.rr_soff, i.rr_eoff) for i in rr.rr_infos] == [(0, 0)] * 4
        assert rr.rr_nbr_used == 2


def test_offsets_say_how_much_more_is_covered(pmu: Pmu) -> None:
    """The worked vector of both specifications: [0x1001, 0x2003) needs one byte before, one after."""
    answer = pmu.dispatch(LOADS, drange=ranges((0x1001, 0x2003)))
    blocks = [(a, a + (1 << 56) - mask) for _, a, mask, _ in pairs(answer.drange)]
    assert (min(a for a, _ in blocks), max(b for _, b in blocks)) == (0x1000, 0x2004)
    assert (answer.drange.rr_infos[0].rr_soff, answer.drange.rr_infos[0].rr_eoff) == (1, 1)


def test_number_and_value_of_debug_registers(pmu: Pmu) -> None:
    answer = pmu.dispatch(LOADS, drange=ranges((0x4000, 0x8000)))
    br = answer.drange.rr_br
    assert [(br[i].reg_num, br[i].reg_value) for i in range(2)] == [
        (0, 0x4000), (1, 8 << 56 | (1 << 56) - 0x4000)]
    assert answer.drange.rr_nbr_used % 2 == 0
