"""More than a request holds is refused once that much is read: of a list of a million, of a generator without an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conftest import coded
from pypfm import EventRequest, GenericIA64, Itanium2, Montecito, Pfm3Error
from pypfm.errors import InvalidTypeError, InvalidValueError

PMUS = [Itanium2(), GenericIA64()]  # with structures of a model, and without
MUCH = 10**6


class Endless:
    """An iterable that notes how much is read of it, and ends the test where that is far too much."""

    def __init__(self, item: Any) -> None:
        self.item, self.read = item, 0

    def __iter__(self) -> Iterator[Any]:
        while self.read < 5000:
            self.read += 1
            yield self.item
        pytest.fail("read without an end")


class Million(list[Any]):
    """A list of a million items that notes how much is read of it."""

    def __init__(self, item: Any) -> None:
        super().__init__([item] * MUCH)
        self.read = 0

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self.read += 1
            yield item


def name(pmu: Any) -> str:
    return next(iter(pmu.events)).name


KINDS = pytest.mark.parametrize("kind", [Endless, Million])
NAMED = [type(pmu).__name__ for pmu in PMUS]


@KINDS
@pytest.mark.parametrize("pmu", PMUS, ids=NAMED)
def test_events(pmu: Any, kind: Any) -> None:
    events = kind(name(pmu))
    many = "1000000" if kind is Million else "too many"
    with pytest.raises(Pfm3Error, match=f"{many} events; a request holds fewer than 512", check=coded("PFMLIB_ERR_INVAL")):
        pmu.encode(events)
    assert events.read == 512


@KINDS
def test_ranges(kind: Any) -> None:
    pmu = Itanium2()
    for what, error in (("code", "PFMLIB_ERR_IRRTOOMANY"), ("data", "PFMLIB_ERR_DRRTOOMANY")):
        ranges = kind((0, 16))
        with pytest.raises(Pfm3Error, check=coded(error), match=f"too many {what} ranges; at most 4 can be given"):
            pmu.encode([name(pmu)], **{f"{what}_ranges": ranges})
        assert ranges.read == 5


@KINDS
@pytest.mark.parametrize("pmu", PMUS, ids=NAMED)
def test_unavailable_registers(pmu: Any, kind: Any) -> None:
    registers = kind(4)
    with pytest.raises(Pfm3Error, match="too many unavailable PMCs; register numbers are 0 to 511", check=coded("PFMLIB_ERR_INVAL")):
        pmu.encode([name(pmu)], unavailable_pmcs=registers)
    assert registers.read == 513


def test_unit_masks() -> None:
    pmu = Montecito()
    with pytest.raises(InvalidValueError, match="unit masks: more than 4096 were given"):
        pmu.encode([EventRequest(name(pmu), unit_masks=Million("x"))])
    with pytest.raises(Pfm3Error, match="too many unit masks; at most 48 fit", check=coded("PFMLIB_ERR_UMASK")):
        pmu.encode([EventRequest(name(pmu), unit_masks=["x"] * 49)])
    with pytest.raises(Pfm3Error, match="too many unit masks; at most 48 fit", check=coded("PFMLIB_ERR_UMASK")):
        pmu.encode([name(pmu) + ":x" * MUCH])


def test_the_largest_request_reaches_c() -> None:
    """511 events are a request, which then has too few counters: the limit is not one too low."""
    with pytest.raises(Pfm3Error) as caught:
        Itanium2().encode(["CPU_CYCLES"] * 511)
    assert "events; a request holds" not in str(caught.value)


def test_as_many_unit_masks_as_fit() -> None:
    """The same one again and again counts once."""
    montecito = Montecito()
    wanted = montecito.encode(["L3_INSERTS:M"]).pmcs
    assert montecito.encode([EventRequest("L3_INSERTS", unit_masks=["M"] * 48)]).pmcs == wanted
    for number in (62, 63, 64, 1000):
        with pytest.raises(Pfm3Error, match="only its own"):
            montecito.encode([EventRequest("L3_INSERTS", unit_masks=[number])])
    assert montecito.encode(["L3_INSERTS" + ":M" * 48]).pmcs == wanted


@pytest.mark.parametrize("pmu", PMUS, ids=NAMED)
def test_an_index_that_no_event_has(pmu: Any) -> None:
    for index in (-1, len(pmu), 1 << 31, 1 << 70):
        with pytest.raises(InvalidValueError, match=f"there are 0 to {len(pmu) - 1}"):
            pmu.at(index)
    assert pmu.at(len(pmu) - 1).index == len(pmu) - 1


def test_a_unit_mask_of_an_event_that_another_pmu_has() -> None:
    with pytest.raises(InvalidValueError, match="there are 0 to 496"):
        Itanium2().mask_index(Montecito().events[-1], "M")


@pytest.mark.parametrize("pmu", PMUS, ids=NAMED)
def test_as_many_unavailable_registers_as_there_are(pmu: Any) -> None:
    """Those from 64 on no model has."""
    assert pmu.encode([name(pmu)], unavailable_pmcs=[64, 511] * 256).registers == pmu.encode([name(pmu)]).registers


@pytest.mark.parametrize("what", ["code", "data"])
def test_ranges_in_a_tuple(what: str) -> None:
    event = {"code": "IA64_INST_RETIRED", "data": "LOADS_RETIRED"}[what]
    made = [Itanium2().encode([event], **{f"{what}_ranges": kind([(0x1000, 0x2000)])}) for kind in (list, tuple)]  # type: ignore[arg-type]
    assert made[0].registers == made[1].registers
    assert (made[0].drange if what == "data" else made[0].irange) is not None


def test_the_first_and_the_last_register() -> None:
    assert Itanium2().encode(["CPU_CYCLES"], unavailable_pmcs=[0, 511]) == Itanium2().encode(["CPU_CYCLES"])
    for wrong in (-1, 512):
        with pytest.raises(Pfm3Error, match=f"unavailable PMC {wrong}: register numbers are 0 to 511", check=coded("PFMLIB_ERR_INVAL")):
            Itanium2().encode(["CPU_CYCLES"], unavailable_pmcs=[wrong])


def test_no_unit_masks() -> None:
    assert EventRequest("CPU_CYCLES", unit_masks=[]) == EventRequest("CPU_CYCLES")
    assert EventRequest("CPU_CYCLES", unit_masks=[]).unit_masks == ()


@pytest.mark.parametrize("mask", [1.5, None, b"x"])
def test_a_unit_mask_is_a_name_or_a_number(mask: Any) -> None:
    with pytest.raises(InvalidTypeError, match="CPU_CYCLES: unit mask: expected int or str"):
        EventRequest("CPU_CYCLES", unit_masks=[mask])
