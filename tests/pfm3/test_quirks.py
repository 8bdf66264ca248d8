"""The quirks of libpfm 3.10 that are kept: one test for each row of docs/deviations/pfm3_quirks.rst.

The recorded calls hold them all; here each one stands alone, with the least call that shows it.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from conftest import run_python
from dispatching import ITANIUM2, MONTECITO, NO_QUALCHECK, PMUS, Answer, Pmu, find, pairs, ranges, request
from pypfm import pfm3

BOTH = pytest.mark.parametrize("pmu", PMUS.values(), ids=PMUS)
INVAL, FEATCOMB, NOASSIGN = pfm3.PFMLIB_ERR_INVAL, pfm3.PFMLIB_ERR_FEATCOMB, pfm3.PFMLIB_ERR_NOASSIGN
RETIRED, PAGE = "IA64_INST_RETIRED", 0x1000
FIVE_INTERVALS = ((0x1000, 0x2000), (0x3000, 0x4000), (0x5000, 0x6000), (0x9010, 0x9050))


@pytest.fixture(autouse=True)
def _itanium2() -> None:
    ITANIUM2.select()


# ---- the generic part --------------------------------------------------------------

def test_default_level_is_needed_without_events() -> None:
    assert ITANIUM2.dispatch(dfl_plm=0).ret == INVAL
    assert ITANIUM2.dispatch({"event": "CPU_CYCLES", "plm": 8}, dfl_plm=0).ret == INVAL


def test_too_many_events_are_no_assignment() -> None:
    """TOOMANY is never answered: 5 to 511 events are NOASSIGN, 512 are INVAL."""
    inp, out = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8), pfm3.pfmlib_output_param_t()
    answers = {}
    for inp.pfp_event_count in (5, 511, 512):
        answers[inp.pfp_event_count] = pfm3.pfm_dispatch_events(inp, None, out, None)
    assert answers == {5: NOASSIGN, 511: NOASSIGN, 512: INVAL}


def test_short_buffers() -> None:
    name = pfm3.create_string_buffer(10)
    assert pfm3.pfm_get_event_name(find("CPU_CYCLES"), name, 10) == INVAL
    full = pfm3.pfmlib_event_t(event=find("CPU_CYCLES"))
    assert pfm3.pfm_get_full_event_name(full, name, 10) == pfm3.PFMLIB_ERR_FULL
    assert pfm3.pfm_get_pmu_name(name, 4) == 0
    assert name.value == b"ita"
    MONTECITO.select()
    insertion = find("L3_INSERTS")
    assert pfm3.pfm_get_event_mask_name(insertion, 0, name, 2) == pfm3.PFMLIB_ERR_FULL  # "I" and its end
    assert (pfm3.pfm_get_event_mask_name(insertion, 0, name, 3), name.value) == (0, b"I")


def test_masks_of_a_pmu_without_masks() -> None:
    event, code = find("CPU_CYCLES"), pfm3.c_uint(7)
    assert (pfm3.pfm_get_event_mask_code(event, 4711, code), code.value) == (0, 0)
    text = pfm3.c_char_p()
    assert pfm3.pfm_get_event_mask_description(event, 4711, text) == 0
    name = pfm3.create_string_buffer(80)
    assert pfm3.pfm_get_event_mask_name(event, 0, name, 80) == pfm3.PFMLIB_ERR_NOTSUPP
    assert pfm3.pfm_find_event_mask(event, "X", code) == pfm3.PFMLIB_ERR_UMASK


def test_what_stands_behind_a_colon() -> None:
    index, event = pfm3.c_uint(), pfm3.pfmlib_event_t()
    assert pfm3.pfm_find_event("CPU_CYCLES:whatever", index) == 0
    assert pfm3.pfm_find_full_event("CPU_CYCLES:whatever", event) == pfm3.PFMLIB_ERR_UMASK
    assert pfm3.pfm_find_event("0x12", index) == 0
    assert pfm3.pfm_find_full_event("0x12", event) == pfm3.PFMLIB_ERR_NOTFOUND


def test_a_code_has_no_unit_mask() -> None:
    code, index = pfm3.c_int(), pfm3.c_uint()
    assert pfm3.pfm_get_event_code(find("ALAT_CAPACITY_MISS_INT"), code) == 0
    assert pfm3.pfm_find_event_bycode(code.value, index) == 0
    assert index.value == find("ALAT_CAPACITY_MISS_ALL")


# ---- counters ---------------------------------------------------------------------

@BOTH
def test_thresholds_are_cut(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch(pmu.cycles, counters=[{"thres": 13}])
    assert answer.ret == 0
    assert pmu.counter_field(answer.pmcs[answer.order[0]], "pmc_thres") == 13 & 7


def test_umasks_of_l2_events_depend_on_the_order() -> None:
    """L2 events of one set share the unit mask of PMC4: a later 0 passes, an earlier one does not."""
    zero, other = "L2_BYPASS_L2_DATA1", "L2_BYPASS_L2_DATA2"
    assert [ITANIUM2.query("get_event_umask", e) for e in (zero, other)] == [0, 1]
    assert (ITANIUM2.dispatch(other, zero).ret, ITANIUM2.dispatch(zero, other).ret) == (0, NOASSIGN)


@BOTH
def test_two_cancel_events(pmu: Pmu) -> None:
    pmu.select()
    cancel = {"itanium2": "L2_OZQ_CANCELS0_ANY", "montecito": "L2D_OZQ_CANCELS0_ACQ"}[pmu.name]
    assert pmu.dispatch(cancel, cancel).ret == INVAL


def test_an_l1d_event_takes_counter_5_of_l2d_events() -> None:
    MONTECITO.select()
    l2d = ["L2D_REFERENCES_READS", "L2D_REFERENCES_WRITES"]
    assert MONTECITO.dispatch("L1D_READS_SET0", l2d[0]).ret == 0
    assert MONTECITO.dispatch(*l2d).order == [4, 5]
    assert MONTECITO.dispatch("L1D_READS_SET0", *l2d).ret == NOASSIGN


@pytest.mark.parametrize(("flag", "expected"), [
    (pfm3.PFMLIB_MONT_FL_EVT_ALL_THRD, pfm3.PFMLIB_ERR_NOTSUPP),
    (pfm3.PFMLIB_MONT_FL_EVT_ACTIVE_ONLY, 0), (pfm3.PFMLIB_MONT_FL_EVT_ALWAYS, 0),
])
def test_thread_flags(flag: int, expected: int) -> None:
    MONTECITO.select()
    plain = MONTECITO.dispatch("CPU_OP_CYCLES_ALL", counters=[{}])
    flagged = MONTECITO.dispatch("CPU_OP_CYCLES_ALL", counters=[{"flags": flag}])
    assert flagged.ret == expected
    assert expected or flagged.pmcs == plain.pmcs


def test_montecito_has_twelve_counters() -> None:
    """The manual page knows four."""
    MONTECITO.select()
    assert MONTECITO.dispatch(*["NOPS_RETIRED"] * 12).order == list(range(4, 16))


def test_mesi_codes_are_indices() -> None:
    MONTECITO.select()
    code, codes = pfm3.c_uint(), []
    for mask in range(4):
        assert pfm3.pfm_get_event_mask_code(find("L3_INSERTS"), mask, code) == 0
        codes.append(code.value)
    assert codes == [0, 1, 2, 3]


def test_a_mesi_event_needs_a_mask() -> None:
    """The encoder would take none as all four, but no call gets that far."""
    MONTECITO.select()
    assert MONTECITO.dispatch("L3_INSERTS").ret == pfm3.PFMLIB_ERR_UMASK


def test_no_event_supports_all_threads() -> None:
    assert not any(pfm3.pfm_mont_support_all(i) for i in range(637))


def test_l2d_set_8_is_set_0() -> None:
    MONTECITO.select()
    assert MONTECITO.query("get_event_set", "L2D_VICTIMB_FULL_THIS") == 0
    assert MONTECITO.query("get_event_set", "L2D_OZQ_CANCELS0_ACQ") == 0


# ---- EARs and branch buffers ----------------------------------------------------------

@BOTH
def test_an_ear_has_the_default_level(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch({"event": "DATA_EAR_CACHE_LAT4", "plm": 1}, dfl_plm=8)
    assert answer.pmcs[answer.order[0]] & 0xf == 1
    assert answer.pmcs[pmu.dear] & 0xf == 8


@BOTH
def test_a_dear_used_other_than_1_does_not_exclude_branches(pmu: Pmu) -> None:
    pmu.select()
    branches = {pmu.branches: {f"{pmu.branches}_used": 1, f"{pmu.branches}_tm": 3}}
    tlb = {"dear": {"ear_used": 1, "ear_mode": 1}}
    assert pmu.dispatch(**branches, **tlb).ret == pfm3.PFMLIB_ERR_EVTINCOMP
    tlb["dear"]["ear_used"] = 2
    assert pmu.dispatch(**branches, **tlb).ret == 0


@BOTH
def test_a_dear_in_tlb_mode_writes_a_branch_pmc_of_0(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch(dear={"ear_used": 1, "ear_mode": 1})
    assert (answer.ret, answer.pmcs[pmu.trace]) == (0, 0)


# ---- opcode matchers -------------------------------------------------------------------

def test_pmc15_is_always_written() -> None:
    answer = ITANIUM2.dispatch("CPU_CYCLES", counters=[{}])
    assert answer.pmcs[15] == 0xffffffff
    assert ITANIUM2.dispatch("CPU_CYCLES", counters=[{}], unavail=[15]).ret == NOASSIGN


def test_pmc9_needs_retired_events_even_unchecked() -> None:
    unchecked = [{"flags": pfm3.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK}]
    assert ITANIUM2.dispatch("CPU_CYCLES", counters=unchecked,
                             pmc9={"opcm_used": 1, "pmc_val": 0}).ret == FEATCOMB


def test_a_code_range_writes_pmc8() -> None:
    assert 8 in ITANIUM2.dispatch(RETIRED, irange=ranges((PAGE, PAGE + 64))).order


def test_slot_bytes_have_one_bit() -> None:
    MONTECITO.select()
    opcm = {"opcm_used": 1, "opcm_m": 2, "opcm_i": 3}
    value = MONTECITO.dispatch(MONTECITO.tagged[0], opcm1=opcm).pmcs[32]
    fields = [MONTECITO.field(value, "pmc32_34_mont_reg", f"opcm_{slot}") for slot in "mi"]
    assert fields == [0, 1]


def test_pmc36_is_never_written() -> None:
    MONTECITO.select()
    assert 36 not in MONTECITO.dispatch(MONTECITO.tagged[0], opcm1={"opcm_used": 1, "opcm_m": 1}).order


# ---- code ranges ---------------------------------------------------------------------------

@BOTH
def test_fine_mode_looks_at_the_exclusive_end(pmu: Pmu) -> None:
    """A range up to the end of its page is not fine."""
    pmu.select()
    page = pmu.page
    assert pmu.dispatch(RETIRED, irange=ranges((page, 2 * page - 16))).fine == 1
    assert pmu.dispatch(RETIRED, irange=ranges((page, 2 * page))).fine == 0


@BOTH
def test_fine_mode_does_not_look_above_bit_31(pmu: Pmu) -> None:
    pmu.select()
    assert pmu.dispatch(RETIRED, irange=ranges((0x100001000, 0x200001010))).fine == 1


@BOTH
def test_masks_of_fine_mode_have_32_bits(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch(RETIRED, irange=ranges((0x100001000, 0x100001040)))
    assert {mask for _, _, mask, _ in pairs(answer.irange)} == {2**32 - pmu.page}


def test_fine_mode_stores_offsets_in_entry_0() -> None:
    """Those of the last range; entry 1 is not written."""
    MONTECITO.select()
    answer = MONTECITO.dispatch(RETIRED, irange=ranges((0x1000, 0x1100), (0x1210, 0x1340)))
    infos = [(i.rr_soff, i.rr_eoff) for i in answer.irange.rr_infos]
    assert (answer.ret, answer.fine) == (0, 1)
    assert infos == [(16, 0), (0, 0), (0, 0), (0, 0)]


@BOTH
def test_no_events_count_as_retired_instructions(pmu: Pmu) -> None:
    pmu.select()
    two = ranges((0x10000, 0x20000), (0x40000, 0x60000))
    # The registers are there; the check that each pair has its event comes after them.
    assert pmu.dispatch(irange=two).ret == pfm3.PFMLIB_ERR_IRRINVAL
    assert pmu.dispatch("NOPS_RETIRED", irange=two).ret == pfm3.PFMLIB_ERR_IRRTOOMANY


@BOTH
def test_a_range_with_one_pair_left_covers_less(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch(drange=ranges(*FIVE_INTERVALS))
    register, address, mask, _ = pairs(answer.drange)[-1]
    size = 2**56 - mask
    first = address & ~(size - 1)  # what the processor compares
    assert (answer.ret, register) == (0, 6)
    assert first > 0x9010 or first + size < 0x9050


@BOTH
def test_sizes_are_rounded_as_doubles(pmu: Pmu) -> None:
    """2^54 - 1 bytes are taken for 2^54."""
    pmu.select()
    blocks = [2**56 - mask for _, _, mask, _ in pairs(pmu.dispatch(drange=ranges((0, 2**54 - 1))).drange)]
    assert blocks[0] == 2**54


@BOTH
def test_blocks_of_2_to_the_56_have_no_end_offset(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch(drange=ranges((0x10, 2**57)))
    assert answer.ret == 0
    assert answer.drange.rr_infos[0].rr_eoff < 2**56


@BOTH
def test_a_bad_data_range_is_a_bad_code_range(pmu: Pmu) -> None:
    pmu.select()
    assert pmu.dispatch(drange=ranges((0x2000, 0x1000))).ret == pfm3.PFMLIB_ERR_IRRINVAL


@BOTH
def test_data_ranges_have_a_level(pmu: Pmu) -> None:
    pmu.select()
    assert {plm for *_, plm in pairs(pmu.dispatch(drange=ranges((0x1000, 0x2000, 3))).drange)} == {3}


@BOTH
def test_rr_used_is_compared_with_1(pmu: Pmu) -> None:
    pmu.select()
    answer = pmu.dispatch(drange=ranges((0x1000, 0x2000), used=2))
    assert answer.ret == 0
    assert answer.drange.rr_nbr_used == 0
    assert pmu.drange in answer.order


@BOTH
def test_model_output_is_not_cleared(pmu: Pmu) -> None:
    pmu.select()
    model_in, model_out = pmu.settings(drange=ranges((0x1000, 0x2000))), pmu.output_type()
    inp, out = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8), pfm3.pfmlib_output_param_t()
    used = getattr(model_out, f"pfp_{pmu.tag}_drange")
    counts = []
    for _ in range(2):
        assert pfm3.pfm_dispatch_events(inp, model_in, out, model_out) == 0
        counts.append(used.rr_nbr_used)
    assert counts == [2, 4]


@BOTH
def test_flags_without_effect(pmu: Pmu) -> None:
    pmu.select()
    plain = pmu.dispatch(drange=ranges((0x1000, 0x2000)))
    odd = pmu.dispatch(drange=ranges((0x1000, 0x2000), flags=0xff), flags=0xff)
    assert plain.as_recorded() == odd.as_recorded()


def test_addresses_of_debug_registers() -> None:
    """Montecito: register number + 1 in fine mode and single pairs, the number itself in multi-pair covers."""
    MONTECITO.select()
    fine = MONTECITO.dispatch(RETIRED, irange=ranges((0x1000, 0x1040)))
    multi = MONTECITO.dispatch(drange=ranges((0x1000, 0x2000)))
    offsets = [{r.reg_addr - r.reg_num for r in list(rr.rr_br)[:rr.rr_nbr_used]}
               for rr in (fine.irange, multi.drange)]
    assert offsets == [{1}, {0}]


def test_demand_and_prefetch_list_a_pair_twice() -> None:
    MONTECITO.select()
    flags = pfm3.PFMLIB_MONT_IRR_DEMAND_FETCH | pfm3.PFMLIB_MONT_IRR_PREFETCH_MATCH
    answer = MONTECITO.dispatch("L1I_FILLS", irange=ranges((0x1000, 0x20000), flags=flags))
    assert answer.ret == 0
    assert [register for register, *_ in pairs(answer.irange)] == [0, 0]


def test_cycles_exclude_the_pair_of_prefetches() -> None:
    """Meant of CPU_OP_CYCLES_QUAL; CPU_OP_CYCLES_ALL has its code."""
    MONTECITO.select()
    for cycles in ("CPU_OP_CYCLES_QUAL", "CPU_OP_CYCLES_ALL"):
        unchecked = [{"flags": pfm3.PFMLIB_MONT_FL_EVT_NO_QUALCHECK}] * 2
        assert MONTECITO.dispatch("L1I_PREFETCHES", cycles, counters=unchecked,
                                  irange=ranges((0x1000, 0x1040))).ret == FEATCOMB


def test_coarse_ranges_are_for_few_events() -> None:
    MONTECITO.select()
    coarse = ranges((0x1000, 0x40000))
    assert MONTECITO.dispatch("FE_BUBBLE_ALL", irange=coarse).ret == FEATCOMB
    assert MONTECITO.dispatch("L1I_PREFETCHES", irange=coarse).ret == 0


def test_a_range_too_big_is_printed() -> None:
    """On standard output, whether verbose or not."""
    program = (
        "from pypfm.pfm3 import *\n"
        "pfm_force_pmu(PFMLIB_ITANIUM2_PMU); i = c_uint(); pfm_find_event('CPU_CYCLES', i)\n"
        "inp = pfmlib_input_param_t(pfp_event_count=1, pfp_dfl_plm=8); inp.pfp_events[0].event = i.value\n"
        "m = pfmlib_ita2_input_param_t(); m.pfp_ita2_irange.rr_used = 1\n"
        "m.pfp_ita2_counters[0].flags = PFMLIB_ITA2_FL_EVT_NO_QUALCHECK\n"
        "m.pfp_ita2_irange.rr_limits[0].rr_end = 2**64 - 16\n"
        "ret = pfm_dispatch_events(inp, m, pfmlib_output_param_t(), pfmlib_ita2_output_param_t())\n"
        "raise SystemExit(-ret)\n")
    done = run_python(program)
    assert done.returncode == -pfm3.PFMLIB_ERR_IRRTOOBIG
    assert "too big" in done.stdout


# ---- errors ----------------------------------------------------------------------------

def slots(answer: Answer) -> list[int]:
    """The PMCs of an output array, those beyond its count too."""
    return [r.reg_num for r in list(answer.out.pfp_pmcs)[:20] if r.reg_num]


@pytest.mark.parametrize(("unavailable", "left"), [(32, [4]), (33, [4, 32]), (34, [4, 32, 33]), (35, [4, 32, 33])])
def test_what_a_matcher_without_its_registers_leaves(unavailable: int, left: list[int]) -> None:
    """PMC32 is written though PMC33 cannot be; PMC34 is not."""
    MONTECITO.select()
    matcher = {"opcm_used": 1, "opcm_mask": 1}
    answer = MONTECITO.dispatch(RETIRED, opcm1=matcher, opcm2=matcher, unavail=[unavailable])
    assert (answer.ret, answer.order, slots(answer)) == (NOASSIGN, [4], left)


@BOTH
@pytest.mark.parametrize("what", ["iear", "dear", "trace", "irange", "drange"])
def test_a_register_that_must_not_be_used_is_in_no_slot(pmu: Pmu, what: str) -> None:
    pmu.select()
    trace = {"etb": {"etb_used": 1, "etb_tm": 3}} if pmu is MONTECITO else {"btb": {"btb_used": 1, "btb_tm": 3}}
    asked: dict[str, Any] = {"iear": {"ear_used": 1}, "dear": {"ear_used": 1}, **trace,
                             "irange": ranges((0x1000, 0x1040)), "drange": ranges((0x1000, 0x1040))}
    pmc = getattr(pmu, what)
    counters = [{"flags": NO_QUALCHECK}]
    assert pmc in pmu.dispatch(RETIRED, counters=counters, **asked).order
    answer = pmu.dispatch(RETIRED, counters=counters, unavail=[pmc], **asked)
    assert answer.ret == NOASSIGN
    assert pmc not in slots(answer)
    assert slots(answer) == answer.order


def test_a_refused_number_leaves_the_unit_masks() -> None:
    """Masks by number: of 15 all qualify, but they do not make it up."""
    MONTECITO.select()
    for text, masks in (("15", []), ("M:15", [3]), ("0x4", []), ("S:M:7:I", [1, 3])):
        event = pfm3.pfmlib_event_t(unit_masks=(9,) * 48, num_masks=9)
        assert pfm3.pfm_find_full_event(f"L3_READS_ALL_ALL:{text}", event) == pfm3.PFMLIB_ERR_UMASK
        assert (event.event, event.num_masks) == (find("L3_READS_ALL_ALL"), len(masks))
        assert list(event.unit_masks) == masks + [0] * (48 - len(masks))


@BOTH
def test_an_event_that_does_not_exist_is_reported_before_its_unit_masks(pmu: Pmu) -> None:
    pmu.select()
    count = pfm3.c_uint()
    assert pfm3.pfm_get_num_events(count) == 0
    inp, out = request([RETIRED]), pfm3.pfmlib_output_param_t()
    event = inp.pfp_events[0]
    name = pfm3.create_string_buffer(200)
    for index, masks, ret in ((count.value, 49, INVAL), (2**32 - 1, 2**32 - 1, INVAL), (count.value, 0, INVAL),
                              (count.value - 1, 49, pfm3.PFMLIB_ERR_UMASK)):
        event.event, event.num_masks = index, masks
        assert pfm3.pfm_dispatch_events(inp, None, out, None) == ret
        assert pfm3.pfm_get_full_event_name(event, name, 200) == ret


@BOTH
def test_slots_beyond_the_count_of_events_are_not_read(pmu: Pmu) -> None:
    """libpfm 3.10 looks up the first slot even of no events, and crashes."""
    pmu.select()
    for count in range(3):
        inp, out = request([RETIRED] * count), pfm3.pfmlib_output_param_t()
        for event in list(inp.pfp_events)[count:]:
            event.event = event.num_masks = event.plm = 2**32 - 1
        assert (pfm3.pfm_dispatch_events(inp, None, out, None), out.pfp_pmc_count) == (0, count)


@BOTH
def test_no_output_is_invalid_before_the_models_errors(pmu: Pmu) -> None:
    """libpfm 3.10 returns what it finds before it writes, and crashes otherwise."""
    pmu.select()
    assert pmu.dispatch(pmu.cycles, drange=ranges((0x1000, 0x2000))).ret == FEATCOMB
    model_in, model_out = pmu.input_type(), pmu.output_type()
    getattr(model_in, f"pfp_{pmu.tag}_drange").rr_used = 1
    assert pfm3.pfm_dispatch_events(request([pmu.cycles]), model_in, None, model_out) == INVAL
    # What the generic part finds comes first.
    too_many = request([pmu.cycles] * (pmu.counters + 1))
    assert pfm3.pfm_dispatch_events(too_many, model_in, None, model_out) == NOASSIGN


@BOTH
def test_a_range_cannot_end_at_2_to_the_64(pmu: Pmu) -> None:
    """Its end is exclusive and has 64 bits: the last byte of the address space is in no range."""
    pmu.select()
    last, end = 2**64 - 1, 2**64
    assert pmu.dispatch("LOADS_RETIRED", drange=ranges((0x1000, end % 2**64))).ret == pfm3.PFMLIB_ERR_IRRINVAL
    [(_, address, mask, _)] = pairs(pmu.dispatch("LOADS_RETIRED", drange=ranges((last - 1, last))).drange)
    assert (address, mask) == (last - 1, 2**56 - 1)


def test_two_sets_of_l2d_events_are_accepted() -> None:
    """The manual page has one set of a group at a time; for L2D events the library has counters for two.

    Of the 1,725 pairs of events of one group and two sets, 1,413 are accepted.
    """
    MONTECITO.select()
    count, group, number = pfm3.c_uint(), pfm3.c_int(), pfm3.c_int()
    assert pfm3.pfm_get_num_events(count) == 0
    events = []
    for index in range(count.value):
        assert pfm3.pfm_mont_get_event_group(index, group) == pfm3.pfm_mont_get_event_set(index, number) == 0
        events.append((index, group.value, number.value))
    inp, out = request([RETIRED, RETIRED]), pfm3.pfmlib_output_param_t()
    first, second = list(inp.pfp_events)[:2]
    answers: Counter[tuple[int, int]] = Counter()
    for (a, group_a, set_a), (b, group_b, set_b) in combinations([event for event in events if event[1]], 2):
        if group_a == group_b and set_a != set_b:
            first.event, second.event = a, b
            answers[group_a, pfm3.pfm_dispatch_events(inp, None, out, None)] += 1
    assert answers == {(pfm3.PFMLIB_MONT_EVT_L2D_CACHE_GRP, 0): 1413,
                       (pfm3.PFMLIB_MONT_EVT_L1D_CACHE_GRP, pfm3.PFMLIB_ERR_EVTSET): 312}


@BOTH
def test_what_a_failing_call_leaves(pmu: Pmu) -> None:
    """Counts are of the stages that completed; debug registers stay, their count does not."""
    pmu.select()
    answer = pmu.dispatch(drange=ranges(*[(0x1010 + i * 0x1000, 0x1230 + i * 0x1000) for i in range(4)]))
    assert answer.ret == pfm3.PFMLIB_ERR_DRRTOOMANY
    assert answer.drange.rr_nbr_used == 0
    assert answer.drange.rr_br[0].reg_value != 0
