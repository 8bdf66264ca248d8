"""`RangeCover.ranges`: what the debug registers cover for each range that was asked for.

The oracle decodes the registers as the specification says it: a pair matches the addresses that
agree with its address in all bits of its mask and in the bits above 55; in fine mode two pairs
hold the first and the last bundle.  Which pairs belong to which range follows from the rule for
covers, as covering.py has it from the specification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import pypfm
from covering import WORD, Cover, Limit, fully_covered
from pypfm import EventRequest, Itanium, Itanium2, Montecito
from pypfm.ia64.encoding import Encoding, RangeCover

TAGGED = [f"IA64_TAGGED_INST_RETIRED_IBRP{n}_PMC{8 + n % 2}" for n in range(4)]


@dataclass(frozen=True)
class Way:
    """A way to have ranges encoded.

    :ivar unit: what starts and ends are multiples of
    :ivar most: ranges that can be given
    :ivar page: fine mode: all in one page of this size
    :ivar kind: cover (several pairs; in fine mode where all ranges allow it), single, fine
    """

    pmu: Any
    events: tuple[str | EventRequest, ...]
    which: str
    kind: str
    unit: int = 16
    most: int = 4
    page: int = 0
    options: tuple[tuple[str, Any], ...] = ()

    def encode(self, asked: list[Limit], **more: Any) -> Encoding:
        encoding: Encoding = self.pmu.encode(self.events, **{f"{self.which}_ranges": asked}, **dict(self.options), **more)
        return encoding

    def answer(self, asked: list[Limit]) -> tuple[Encoding | None, str]:
        """What C returns: the encoding, or the name of its error."""
        try:
            return self.encode(asked, check="reference"), ""
        except pypfm.Pfm3Error as error:
            return None, error.name

    def cover(self, encoding: Encoding) -> RangeCover:
        found = encoding.irange if self.which == "code" else encoding.drange
        assert found is not None
        return found


def _ways() -> dict[str, Way]:
    coarse, both = (("no_fine", True),), (("demand_fetch", True), ("prefetch_match", True))
    ita2, mont, ita = Itanium2(), Montecito(), Itanium()
    detected = Itanium2(cpuid3=0x1F010504)
    assert all(name in ita2 for name in TAGGED)
    mont_tagged = tuple(e.name for e in mont.events if e.name.startswith("IA64_TAGGED_INST_RETIRED_IBRP"))
    assert len(mont_tagged) == 4
    return {
        "itanium2-data": Way(ita2, ("LOADS_RETIRED",), "data", "cover", 1),
        "itanium2-code": Way(ita2, tuple(TAGGED), "code", "cover", options=coarse),
        "itanium2-either": Way(ita2, tuple(TAGGED), "code", "cover"),
        "itanium2-single": Way(ita2, ("NOPS_RETIRED",), "code", "single", most=1, options=coarse),
        "itanium2-fine": Way(ita2, ("NOPS_RETIRED",), "code", "fine", most=2, page=1 << 12),
        "itanium2-detected-fine": Way(detected, ("NOPS_RETIRED",), "code", "fine", most=2, page=1 << 12),
        "montecito-data": Way(mont, ("LOADS_RETIRED",), "data", "cover", 1),
        "montecito-code": Way(mont, mont_tagged, "code", "cover", options=coarse),
        "montecito-either": Way(mont, mont_tagged, "code", "cover"),
        "montecito-single": Way(mont, (EventRequest("L2I_PREFETCHES", no_qualcheck=True),), "code", "single", most=1, options=coarse),
        "montecito-fine": Way(mont, ("NOPS_RETIRED",), "code", "fine", most=2, page=1 << 16),
        "montecito-both-fetches": Way(mont, ("L1I_FILLS",), "code", "fine", most=1, page=1 << 16, options=both),
        "montecito-both-single": Way(mont, ("L1I_FILLS",), "code", "single", most=1, options=coarse + both),
        "itanium-data": Way(ita, ("LOADS_RETIRED",), "data", "cover", 1),
        "itanium-code": Way(ita, ("IA64_INST_RETIRED",), "code", "cover"),
    }


WAYS = _ways()


@st.composite
def related(draw: st.DrawFn, way: Way) -> list[Limit]:
    """Ranges between a few points: they touch, overlap, repeat and nest."""
    if way.page:
        page = draw(st.integers(0, WORD // way.page - 1)) * way.page
        points = [page + 16 * p for p in draw(st.lists(st.integers(0, way.page // 16 - 1), min_size=2, max_size=5,
                                                       unique=True))]
    else:
        step = way.unit << draw(st.integers(0, 40) | st.integers(0, 6))
        base = draw(st.one_of(st.integers(0, 1 << 20), st.integers(0, (1 << 52) - 1), st.just((WORD >> 1) - 1))) * way.unit
        near = st.integers(0, draw(st.sampled_from([4, 20, 1000])))
        points = [base + step * p + way.unit * draw(st.integers(0, 2))
                  for p in draw(st.lists(near, min_size=2, max_size=5, unique=True))]
        points = [p % (WORD - way.unit) // way.unit * way.unit for p in points]
    pairs = [(a, b) for a in points for b in points if a < b]
    return draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=way.most)) if pairs else [(0, way.unit)]


# ---- the oracle ------------------------------------------------------------------------------

def matched(address: int, mask_word: int) -> Limit:
    """The addresses that a pair matches."""
    ignored = ~mask_word & ((1 << 56) - 1)
    assert ignored & (ignored + 1) == 0, "the mask is a run of high bits"
    return address & ~ignored, (address & ~ignored) + ignored + 1


def own_pairs(way: Way, asked: list[Limit], cover: RangeCover) -> list[int]:
    """How many of the pairs in the answer belong to each range."""
    count = len(cover.registers) // 2
    if way.kind != "cover" or cover.fine:
        assert count % len(asked) == 0
        return [count // len(asked)] * len(asked)
    model = Cover()
    assert model.all(asked)
    starts = [4 - left for left in model.left]
    return [end - start for start, end in zip(starts, [*starts[1:], count], strict=True)]


def expected(way: Way, asked: list[Limit], cover: RangeCover) -> list[list[Limit]]:
    """What is matched for each range."""
    values = [(a.value, m.value) for a, m in zip(cover.registers[0::2], cover.registers[1::2], strict=True)]
    found, at = [], 0
    for count in own_pairs(way, asked, cover):
        own, at = values[at:at + count], at + count
        if cover.fine:
            found.append([(first, last + 16) for (first, _), (last, _) in zip(own[0::2], own[1::2], strict=True)])
        else:
            found.append([matched(*pair) for pair in own])
    assert at == len(values)
    return found


def check(way: Way, asked: list[Limit], cover: RangeCover) -> None:
    assert len(cover.ranges) == len(asked)
    for (start, end), blocks, got in zip(asked, expected(way, asked, cover), cover.ranges, strict=True):
        assert (got.start, got.end) == (min(b[0] for b in blocks), max(b[1] for b in blocks))
        assert (got.start_offset, got.end_offset) == (start - got.start, got.end - end)
        assert got.start < got.end


def check_offsets(way: Way, asked: list[Limit], cover: RangeCover) -> None:
    """The offsets are those of C, but for its quirks: fine mode, blocks from 2^56 on, the end of the address space."""
    model = Cover()
    if cover.fine:
        assert cover.infos[0] == (cover.ranges[-1].start_offset, cover.ranges[-1].end_offset)
        return
    if way.kind == "cover":
        assert model.all(asked)
    for i, (limit, got) in enumerate(zip(asked, cover.ranges, strict=True)):
        if way.kind == "cover" and (not fully_covered(limit, model.left[i]) or got.end >= WORD
                                    or limit[1] - limit[0] >= (1 << 54) - 1):
            continue
        if way.kind == "single" and limit[0] >> 56 != (limit[1] - 1) >> 56:
            assert got.end < limit[1], "no mask reaches above bit 55: C's offsets are those of a block of 2^57 and more"
            continue
        assert cover.infos[i] == (got.start_offset, got.end_offset)


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_ranges_are_what_their_own_pairs_cover(way: Way, data: st.DataObject) -> None:
    event(compare(way, data.draw(related(way))))


@pytest.mark.parametrize("name", [n for n, w in WAYS.items() if w.kind in ("single", "cover")])
@pytest.mark.parametrize("start", [(1 << 56) - 112, (1 << 56) - 16, (3 << 56) - 64])
def test_a_range_across_a_multiple_of_2_to_the_56(name: str, start: int) -> None:
    compare(WAYS[name], [(start, start + 112 + 16)])


def compare(way: Way, asked: list[Limit]) -> str:
    """Compare what is encoded, if anything is."""
    encoding, refused = way.answer(asked)
    if encoding is None:
        # No pair was left; or (one pair) the block would end at 2^64.
        wanted = {"code": "PFMLIB_ERR_IRRTOOMANY", "data": "PFMLIB_ERR_DRRTOOMANY"}[way.which]
        assert refused == ("PFMLIB_ERR_IRRINVAL" if way.kind == "single" else wanted)
        assert way.kind != "cover" or len(asked) > 2 or not Cover().all(asked)
        return "refused"
    cover = way.cover(encoding)
    check(way, asked, cover)
    check_offsets(way, asked, cover)
    return "encoded"


def test_a_range_gets_its_own_pair_where_a_shorter_request_would_fail() -> None:
    """With one range less the request fails for another reason; the pairs stay whose they are."""
    cover = Itanium2().encode(TAGGED[:2], code_ranges=[(0x1000, 0x1040), (0x8000000, 0x8100000)]).irange
    assert cover is not None
    assert [(r.start, r.end, r.start_offset, r.end_offset) for r in cover.ranges] == [
        (0x1000, 0x1040, 0, 0), (0x8000000, 0x8100000, 0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "events"), [
    (name, events) for name in ("itanium2-code", "itanium2-either")
    for events in (TAGGED[:1], TAGGED[:2], TAGGED[:3], TAGGED[1:], TAGGED[2:])])
@settings(deadline=None, max_examples=100)
@given(data=st.data())
@example(data=None)
def test_with_the_events_of_some_pairs_only(name: str, events: list[str], data: st.DataObject | None) -> None:
    """Encodings with fewer ranges fail here, which says nothing about the whole request."""
    way = Way(WAYS[name].pmu, tuple(events), "code", "cover", options=WAYS[name].options)
    asked = [(0x1000, 0x1040), (0x8000000, 0x8100000)] if data is None else data.draw(related(way))
    encoding, refused = way.answer(asked)
    if encoding is None:
        assert refused in ("PFMLIB_ERR_IRRTOOMANY", "PFMLIB_ERR_IRRINVAL")
    else:
        check(way, asked, way.cover(encoding))


def test_ranges_behind_the_end_marker_of_c_have_no_pairs() -> None:
    """An interval from 0 to 0 ends C's list."""
    cover = Itanium2().encode(["LOADS_RETIRED"], data_ranges=[(0x1000, 0x2000), (0, 0), (0x3000, 0x4000)],
                              check="reference").drange
    assert cover is not None
    assert [(r.start, r.end) for r in cover.ranges] == [(0x1000, 0x2000)]


# ---- the end of the address space ----------------------------------------------------------------

TOP = [(0xfffffffffffff000, WORD), (WORD - 0x1800, WORD), (WORD - 16, WORD), (WORD - 0x123450, WORD), (1 << 63, WORD)]


@pytest.mark.parametrize("asked", TOP[:4])
@pytest.mark.parametrize("name", [n for n, w in WAYS.items() if w.kind != "fine"])
def test_a_range_can_end_at_2_to_the_64(name: str, asked: Limit) -> None:
    """C cannot say such an end; the registers can hold it, and mean the same as half the space further down."""
    way = WAYS[name]
    limits = [asked] * (2 if way.most > 1 and asked[0] % 0x1000 == 0 else 1)
    below = [(start - (1 << 63), end - (1 << 63)) for start, end in limits]
    cover, lower = way.cover(way.encode(limits)), way.cover(way.encode(below))
    assert [(r.start, r.end) for r in cover.ranges] == [(r.start + (1 << 63), r.end + (1 << 63)) for r in lower.ranges]
    assert cover.ranges[0].end == WORD
    held = [matched(a.value, m.value) for a, m in zip(cover.registers[0::2], cover.registers[1::2], strict=True)]
    at = asked[0]
    for start, end in sorted(held):
        if start <= at:
            at = max(at, end)
    assert at == WORD
    assert (cover.infos, cover.fine) == (lower.infos, False)


@pytest.mark.parametrize("check", ["manual", "reference"])
@pytest.mark.parametrize(("asked", "error"), [
    ((0, WORD), pypfm.InvalidValueError), ((1 << 63, WORD), pypfm.PromiseError), ((16, WORD + 16), pypfm.InvalidValueError),
    ((-16, 16), pypfm.InvalidValueError), ((WORD, WORD), pypfm.InvalidValueError)])
def test_ranges_that_no_registers_can_hold(asked: Limit, error: type[Exception], check: str) -> None:
    if check == "reference" and error is pypfm.PromiseError:  # which covers less, as C does
        cover = Itanium2().encode(["LOADS_RETIRED"], data_ranges=[asked], check="reference").drange
        assert cover is not None
        assert cover.ranges[0].end < asked[1]
        return
    with pytest.raises(error, match=r"data range|cover|does not fit"):
        Itanium2().encode(["LOADS_RETIRED"], data_ranges=[asked], check=check)  # type: ignore[arg-type]


def test_an_empty_range_is_refused() -> None:
    """For C, 0 to 0 is the end of the list: it would leave out the ranges after it without a word."""
    for which, event_name in (("code", "NOPS_RETIRED"), ("data", "LOADS_RETIRED")):
        with pytest.raises(pypfm.Pfm3Error, match=rf"{which} range \[0x0, 0x0\) is empty") as caught:
            Itanium2().encode([event_name], **{f"{which}_ranges": [(0x1000, 0x1010), (0, 0)]})  # type: ignore[arg-type]
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("count", [1, 2])
def test_fine_ranges_are_those_of_the_registers(count: int) -> None:
    """Two pairs limit a range in fine mode, and the first range is that of the first pair."""
    ranges = [(0x4000, 0x4300), (0x4800, 0x4A00)][:count]
    for pmu in (Itanium2(), Montecito()):
        made = pmu.encode(["NOPS_RETIRED"], code_ranges=ranges)
        assert made.irange is not None
        assert made.irange.fine
        again = Encoding.from_registers(made.pmu, made)
        assert again.irange is not None
        assert [(r.start, r.end) for r in again.irange.ranges] == [(r.start, r.end) for r in made.irange.ranges] == ranges
