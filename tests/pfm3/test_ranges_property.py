"""Properties of address ranges and of arbitrary input, on random requests.

The debug registers of an answer are interpreted as the hardware does it, and have to
cover every byte that was asked for.  The exceptions are known, and the tests know them
exactly (see covering.fully_covered()): an interval for which fewer than three pairs are left.

The answers are compared with covering.py, too; with sizes of 2^62 and above the reference
shifts by 64, which C leaves undefined, so those are not compared.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covering import MASK_BITS, WORD, Cover, Limit, fully_covered, model
from dispatching import ITANIUM2, MONTECITO, PMUS, UNCHECKED, Answer, Pmu, pairs, ranges, request
from pypfm import pfm3

SPACE = 1 << MASK_BITS  # the hardware does not compare address bits 63 to 56
EXACT_SIZE = (1 << 54) - 1  # sizes below it convert to double without rounding up

PMU = pytest.mark.parametrize("pmu", PMUS.values(), ids=list(PMUS))


@st.composite
def limits(draw: st.DrawFn, bits: int = 53, align: int = 1) -> Limit:
    """An interval of up to 2^bits bytes, with any number of trailing zeros at its ends."""
    size = draw(st.integers(0, bits).flatmap(lambda b: st.integers(1, 1 << b)))
    start = draw(st.integers(0, 63).flatmap(lambda b: st.integers(0, (1 << b) - 1)))
    start &= ~((1 << draw(st.integers(0, 40))) - 1)
    size = max(1, size >> (zeros := draw(st.integers(0, 40)))) << zeros
    size = max(align, min(size, 1 << bits) // align * align)
    start = min(start, WORD - 1 - size) // align * align
    return start, start + size


def several(bits: int = 53, align: int = 1) -> st.SearchStrategy[list[Limit]]:
    return st.lists(limits(bits, align), min_size=1, max_size=4)


def dispatch_data(asked: Iterable[Limit]) -> Answer:
    ITANIUM2.select()
    return ITANIUM2.dispatch("LOADS_RETIRED", drange=ranges(*asked))


# ---- the hardware ----------------------------------------------------------------------

Block = tuple[int, int]  # address modulo 2^56, size


def block(address: int, mask: int) -> Block:
    """What a pair matches: x with (x & mask) == (address & mask), mask being a run of high bits."""
    size = SPACE - mask
    assert size & (size - 1) == 0
    return address & mask, size


def covered(asked: Limit, blocks: list[Block]) -> bool:
    """Whether every byte of an interval is matched by a pair."""
    at, end = asked
    while at < end:
        ends = [address + size for address, size in blocks if address <= at % SPACE < address + size]
        if not ends:
            return False
        at += max(ends) - at % SPACE
    return True


# ---- bitmask mode, for which all models have one code -----------------------------------------

def check_numbers(rr: Any) -> None:
    """Registers come in pairs, each of the numbers 0 to 7 at most once."""
    numbers = [r.reg_num for r in list(rr.rr_br)[:rr.rr_nbr_used]]
    assert rr.rr_nbr_used == len(numbers)
    assert len(numbers) % 2 == 0
    assert all(n % 2 == 0 and numbers[i + 1] == n + 1 for i, n in list(enumerate(numbers))[::2])
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= set(range(8))


def check_against_model(rr: Any, asked: list[Limit], plm: int) -> Cover:
    """The answer is what the specification says, register for register."""
    expected = model(asked)
    assert expected is not None
    got = pairs(rr)
    assert got == [(2 * i, at, -(1 << power) % SPACE, plm) for i, (at, power) in enumerate(expected.written)]
    infos = [(i.rr_soff, i.rr_eoff) for i in rr.rr_infos]
    assert infos == expected.infos + [(0, 0)] * (4 - len(expected.infos))
    check_numbers(rr)
    return expected


def check_bitmask(rr: Any, asked: list[Limit]) -> None:
    """What the hardware makes of an answer: it covers what it has to, and the offsets say so."""
    expected = check_against_model(rr, asked, 8)
    blocks = [block(address, mask) for _, address, mask, _ in pairs(rr)]
    ends = [4 - left for left in expected.left[1:]] + [len(blocks)]
    for i, interval in enumerate(asked):
        own = blocks[4 - expected.left[i]:ends[i]]
        whole = fully_covered(interval, expected.left[i])
        assert covered(interval, own) == whole, (interval, expected.left[i])
        if whole:
            check_offsets(interval, own, rr.rr_infos[i])


def check_offsets(asked: Limit, blocks: list[Block], info: Any) -> None:
    """The offsets say how far the blocks go beyond an interval."""
    start, end = asked
    first = min_start(blocks, start)
    last = first + sum(size for _, size in blocks)
    assert covered((first, last), blocks)
    assert info.rr_soff == start - first
    # A cover up to the end of the address space wraps, and counts as exact: a quirk.
    assert info.rr_eoff == (last - end if last < WORD else 0)


def min_start(blocks: list[Block], start: int) -> int:
    """Where the block that holds a byte begins, in 64 bits."""
    return next(start - (start % SPACE - a) for a, size in blocks if a <= start % SPACE < a + size)


@settings(deadline=None, max_examples=300)
@given(asked=several())
@example(asked=[(0x1000, 0x1c00), (0x4001, 0x8003)])  # two pairs left, a rest on both sides
@example(asked=[(0x1000, 0x2000), (0x3000, 0x4000), (0x5000, 0x6000), (0x9010, 0x9050)])  # one left
@example(asked=[(0x1000, 0x2000), (0x3000, 0x4000), (0x5000, 0x6000), (0x9000, 0x9050)])
@example(asked=[(0x1000, 0x2000), (0x3000, 0x4000), (0x5000, 0x6000), (0x9010, 0x9020)])
@example(asked=[(WORD - 0x2003, WORD - 1)])
def test_data_ranges(asked: list[Limit]) -> None:
    answer = dispatch_data(asked)
    if model(asked) is None:
        assert answer.ret == pfm3.PFMLIB_ERR_DRRTOOMANY
    else:
        assert answer.ret == 0
        check_bitmask(answer.drange, asked)


@PMU
@settings(deadline=None, max_examples=60)
@given(asked=several(align=16))
@example(asked=[(0x10000, 0x1c000), (0x40010, 0x80030)])
def test_code_ranges_of_all_four_retired_events(pmu: Pmu, asked: list[Limit]) -> None:
    """With as many pairs as it takes."""
    pmu.select()
    answer = pmu.dispatch(*pmu.tagged, irange=ranges(*asked, flags=pmu.constant("RR_NO_FINE_MODE")))
    if model(asked) is None:
        assert answer.ret == pfm3.PFMLIB_ERR_IRRTOOMANY
    else:
        assert answer.ret == 0
        check_bitmask(answer.irange, asked)


@settings(deadline=None, max_examples=200)
@given(asked=several(bits=61), plm=st.integers(0, 15))
@example(asked=[(0, EXACT_SIZE)], plm=9)
@example(asked=[(0, (1 << 58) - 16)], plm=1)
def test_cover_of_the_specification(asked: list[Limit], plm: int) -> None:
    """Also with sizes that round up, where blocks wrap and offsets lie."""
    ITANIUM2.select()
    answer = ITANIUM2.dispatch("LOADS_RETIRED", drange=ranges(*[(*a, plm) for a in asked]))
    if model(asked) is None:
        assert answer.ret == pfm3.PFMLIB_ERR_DRRTOOMANY
    else:
        assert answer.ret == 0
        check_against_model(answer.drange, asked, plm or 8)


def test_size_that_rounds_up_is_covered_but_its_offsets_lie() -> None:
    """The smallest one: a block of 2^56 bytes, which the offsets count as 0, is in the answer."""
    for size in (EXACT_SIZE - 1, EXACT_SIZE):
        answer = dispatch_data([(0, size)])
        got = pairs(answer.drange)
        assert covered((0, size), [block(address, mask) for _, address, mask, _ in got])
        assert any(mask == 0 for _, _, mask, _ in got) == (size == EXACT_SIZE)
        assert (answer.drange.rr_infos[0].rr_eoff == 0x40000000000001) == (size == EXACT_SIZE)


# ---- one pair, fine mode ---------------------------------------------------------------------

SINGLE = {"itanium2": "NOPS_RETIRED", "montecito": "L2I_PREFETCHES"}


@PMU
@settings(deadline=None, max_examples=150)
@given(asked=limits(bits=62, align=16))
@example(asked=(0xfffffffffffff000, 0xfffffffffffffff0))
@example(asked=(0x7fffffffffffff00, 0x8000000000000100))
def test_single_pair(pmu: Pmu, asked: Limit) -> None:
    """Covers always, unless the block would reach the end of the address space."""
    pmu.select()
    irange = ranges(asked, flags=pmu.constant("RR_NO_FINE_MODE"))
    answer = pmu.dispatch(SINGLE[pmu.name], irange=irange, counters=UNCHECKED)
    start, end = asked
    if answer.ret:
        assert answer.ret == pfm3.PFMLIB_ERR_IRRINVAL
        power = (start ^ end).bit_length()
        assert (end >> power) + 1 << power == WORD
        return
    check_numbers(answer.irange)
    (_, address, mask, _), = pairs(answer.irange)
    assert covered(asked, [block(address, mask)])
    info = answer.irange.rr_infos[0]
    size = (end + info.rr_eoff) - (start - info.rr_soff)
    assert address == start - info.rr_soff
    assert size & (size - 1) == 0
    assert mask == -size % SPACE


@st.composite
def fine_limits(draw: st.DrawFn, page: int) -> Limit:
    """An interval whose exclusive end is in the page of its start."""
    base = draw(st.integers(0, WORD // page - 1)) * page
    bundles = draw(st.lists(st.integers(0, page // 16 - 1), min_size=2, max_size=2, unique=True).map(sorted))
    return base + 16 * bundles[0], base + 16 * bundles[1]


@PMU
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_fine_mode(pmu: Pmu, data: st.DataObject) -> None:
    """Every bundle asked for lies between the two bounds; only Montecito needs whole lines."""
    pmu.select()
    asked = data.draw(st.lists(fine_limits(pmu.page), min_size=1, max_size=2).filter(
        lambda found: found[0] != (0, 0)))
    answer = pmu.dispatch("NOPS_RETIRED", irange=ranges(*asked))
    assert answer.ret == 0
    assert answer.fine == 1
    check_numbers(answer.irange)
    got = pairs(answer.irange)
    assert [r for r, _, _, _ in got] == [0, 4, 2, 6][:2 * len(asked)]
    widths = [0] if pmu is ITANIUM2 else [0, 16]
    for (start, end), (_, first, _, _), (_, last, _, _) in zip(asked, got[::2], got[1::2], strict=True):
        assert start - first in widths
        assert last + 16 - end in widths
        offsets = (start - first, last + 16 - end)
    # Always entry 0, and of the last interval: a quirk of the reference.
    infos = [(i.rr_soff, i.rr_eoff) for i in answer.irange.rr_infos]
    assert infos == [offsets] + [(0, 0)] * 3


def test_coarse_range_for_both_kinds_of_fetches_emits_one_pair_twice() -> None:
    """The one case in which register numbers repeat: QUIRK-16 of the Montecito specification."""
    MONTECITO.select()
    both = pfm3.PFMLIB_MONT_IRR_DEMAND_FETCH | pfm3.PFMLIB_MONT_IRR_PREFETCH_MATCH
    answer = MONTECITO.dispatch("L1I_FILLS", irange=ranges((0x1000, 0x20000), flags=both))
    assert pairs(answer.irange) == [(0, 0, -0x20000 % SPACE, 8)] * 2


# ---- arbitrary bytes ------------------------------------------------------------------------------

GUARD = b"\x5a" * 64
DISPATCH_CODES = {0, *(getattr(pfm3, f"PFMLIB_ERR_{name}") for name in (
    "NOTSUPP", "INVAL", "NOASSIGN", "FEATCOMB", "EVTSET", "EVTINCOMP", "IRRTOOBIG", "IRRINVAL",
    "IRRTOOMANY", "DRRINVAL", "DRRTOOMANY", "IRRALIGN", "IRRFLAGS", "UMASK"))}


class Guarded:
    """A structure of given bytes, followed by bytes that must not be written."""

    def __init__(self, ctype: str, content: bytes) -> None:
        self.size = pfm3.ffi.sizeof(ctype)
        self.memory = pfm3.ffi.new("char[]", content[:self.size].ljust(self.size, b"\0") + GUARD)
        self.struct = getattr(pfm3, ctype).from_buffer(pfm3.ffi.buffer(self.memory))

    def intact(self) -> bool:
        return bytes(pfm3.ffi.buffer(self.memory)[self.size:self.size + len(GUARD)]) == GUARD


def noise(seed: int, ctype: str, density: float) -> bytes:
    """Random bytes; with a low density most of them are 0."""
    rng = random.Random(seed)
    data = bytearray(rng.randbytes(pfm3.ffi.sizeof(ctype)))
    for i in range(len(data)):
        if density < 1 and rng.random() > density:
            data[i] = 0
    return bytes(data)


def plausible_request(inp: Any, seed: int, pmu: Pmu) -> None:
    """Make noise pass the generic checks, most of the time, and mark ranges and features as used."""
    rng = random.Random(seed)
    inp.pfp_event_count = rng.randrange(pmu.counters + 2)
    inp.pfp_dfl_plm = rng.randrange(16)
    for i in range(pmu.counters + 1):
        inp.pfp_events[i].event = rng.randrange(498)
        inp.pfp_events[i].num_masks = rng.choice([0] * 20 + [1, 49])
        inp.pfp_events[i].plm = rng.choice([0, 0, 0, 0, 1])
    for i in range(len(inp.pfp_unavail_pmcs.bits)):
        inp.pfp_unavail_pmcs.bits[i] &= rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64)


@PMU
@settings(deadline=None, max_examples=75)
@given(seed=st.integers(0, 2**32), dense=st.booleans(), plausible=st.booleans(), stale=st.booleans())
def test_dispatch_of_arbitrary_bytes(pmu: Pmu, seed: int, dense: bool, plausible: bool, stale: bool) -> None:
    pmu.select()
    names = ["pfmlib_input_param_t", f"pfmlib_{pmu.tag}_input_param_t",
             "pfmlib_output_param_t", f"pfmlib_{pmu.tag}_output_param_t"]
    parts = [Guarded(name, noise(seed + i, name, 1 if dense or i in {0, 2} else 0.1))
             for i, name in enumerate(names)]
    inp, model_in, out, model_out = (part.struct for part in parts)
    if plausible:
        plausible_request(inp, seed, pmu)
    if not stale:
        for name in ("drange", "irange"):
            getattr(model_out, f"pfp_{pmu.tag}_{name}").rr_nbr_used = 0
    ret = pfm3.pfm_dispatch_events(inp, model_in, out, model_out)
    assert ret in DISPATCH_CODES
    assert [part.intact() for part in parts] == [True] * 4
    if ret == 0:
        numbers = [r.reg_num for r in list(out.pfp_pmcs)[:out.pfp_pmc_count]]
        assert len(set(numbers)) == len(numbers)
    if not stale:
        used = [getattr(model_out, f"pfp_{pmu.tag}_{name}").rr_nbr_used for name in ("drange", "irange")]
        assert set(used) <= {0, 2, 4, 6, 8}


STALE = [  # events, range, registers that it needs
    ("LOADS_RETIRED", "drange", (0x1000, 0x2000), 2, pfm3.PFMLIB_ERR_DRRTOOMANY),
    ("IA64_INST_RETIRED", "irange", (0x100000, 0x200000), 2, pfm3.PFMLIB_ERR_IRRTOOMANY),
    ("NOPS_RETIRED", "irange", (0x1000, 0x1100), 4, pfm3.PFMLIB_ERR_IRRTOOMANY),
    ("SINGLE", "irange", (0x100000, 0x200000), 2, pfm3.PFMLIB_ERR_IRRTOOMANY),
]


@PMU
@pytest.mark.parametrize(("event", "which", "asked", "needed", "too_many"), STALE)
@settings(deadline=None, max_examples=20)
@given(used=st.one_of(st.integers(0, 12), st.integers(0, 2**32 - 1)), seed=st.integers(0, 2**32))
def test_stale_count_of_debug_registers(pmu: Pmu, event: str, which: str, asked: Limit, needed: int,
                                        too_many: int, used: int, seed: int) -> None:
    """Registers are appended after those of the caller, and never past the array."""
    pmu.select()
    output = Guarded(f"pfmlib_{pmu.tag}_output_param_t", noise(seed, f"pfmlib_{pmu.tag}_output_param_t", 1))
    rr = getattr(output.struct, f"pfp_{pmu.tag}_{which}")
    rr.rr_nbr_used = used
    inp = request([SINGLE[pmu.name] if event == "SINGLE" else event])
    before, model_in = bytes(rr.rr_br), pmu.settings(**{which: ranges(asked)})
    ret = pfm3.pfm_dispatch_events(inp, model_in, pfm3.pfmlib_output_param_t(), output.struct)
    fits = used + needed <= 8
    if not fits:
        assert ret == too_many
    assert rr.rr_nbr_used == used + needed or not fits
    kept = min(used, 8) * pfm3.ffi.sizeof("pfmlib_reg_t")
    assert bytes(rr.rr_br)[:kept] == before[:kept]
    assert output.intact()


NAMES = ["CPU_CYCLES", "IA64_INST_RETIRED", "L3_INSERTS", "L3_READS_ALL_ALL", "BRANCH_EVENT"]
PIECES = st.one_of(
    st.sampled_from([*NAMES, "m", "E", "i", "S", ":", "::", "0x", "0", "3", "18446744073709551615"]),
    st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6))
TEXTS = st.one_of(st.lists(PIECES, max_size=8).map("".join),
                  st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"")),
                  st.lists(st.sampled_from("IESM0123"), max_size=60).map(
                      lambda masks: "L3_INSERTS:" + ":".join(masks)))


@settings(deadline=None, max_examples=300)
@given(text=TEXTS, number=st.one_of(st.integers(0, 2**32 - 1), st.integers(430, 650)))
def test_lookups_of_arbitrary_text(text: str | bytes, number: int) -> None:
    """A code that is documented, a result only with success, and a name that leads back; Montecito has unit masks."""
    MONTECITO.select()
    index, byname, mask, count, event = *(pfm3.c_uint(9999) for _ in range(4)), pfm3.pfmlib_event_t(event=9999, num_masks=9999)
    name = pfm3.create_string_buffer(256)
    ret = pfm3.pfm_find_event(text, index)
    assert ret in {0, pfm3.PFMLIB_ERR_NOTFOUND, pfm3.PFMLIB_ERR_INVAL}
    assert (index.value == 9999) == (ret != 0)
    data = (text if isinstance(text, bytes) else text.encode()).split(b":")[0]
    if ret == 0 and not data[:1].isdigit():
        assert pfm3.pfm_get_event_name(index.value, name, 64) == 0
        assert name.value == data.upper()
    assert pfm3.pfm_find_event_byname(text, byname) in {0, pfm3.PFMLIB_ERR_NOTFOUND}
    ret = pfm3.pfm_find_full_event(text, event)
    assert ret in {0, pfm3.PFMLIB_ERR_NOTFOUND, pfm3.PFMLIB_ERR_UMASK, pfm3.PFMLIB_ERR_TOOMANY}
    masks = list(event.unit_masks)[:event.num_masks]
    assert len(masks) == len(set(masks) & set(range(4)))
    if ret == 0:
        assert pfm3.pfm_get_full_event_name(event, name, 256) == 0
        again = pfm3.pfmlib_event_t()
        assert pfm3.pfm_find_full_event(name.value, again) == 0
        assert (again.event, list(again.unit_masks)) == (event.event, list(event.unit_masks))
    assert pfm3.pfm_get_num_events(count) == 0
    ret = pfm3.pfm_find_event_mask(number, text, mask)
    assert ret in ({0, pfm3.PFMLIB_ERR_UMASK} if number < count.value else {pfm3.PFMLIB_ERR_INVAL})
    assert (mask.value == 9999) == (ret != 0)
    assert ret or mask.value < 4
