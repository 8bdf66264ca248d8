"""The statistics of perfex -y, in the order of the manual.

Source: perfex(1), COST ESTIMATE OPTIONS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypfm.perfex import events
from pypfm.perfex.costs import CostTable
from pypfm.perfex.model import R10000_LINES, Cpu, Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["NAMES", "Statistic", "statistics"]

_QUADWORD = 16  # bytes
_MEGA = 1e6


@dataclass(frozen=True)
class Statistic:
    """One line below the table of -y.

    :ivar unit: MB/s, or nothing
    :ivar estimated: made of a count that was computed, not counted
    """

    name: str
    value: float
    unit: str = ""
    estimated: bool = False


class _MissingError(Exception):
    """An event that a statistic needs and that was not counted."""


@dataclass(frozen=True)
class _Counts:
    """The counts, under the names that the formulas use.

    :ivar sources: what was counted in place of each event, where that is known
    :ivar lines: bytes of a line of both caches; 0: not known
    :ivar modelled: the events that were computed, not counted
    :ivar used: the events that a formula used
    """

    cpu: Cpu
    counts: dict[int, float]
    clock: float
    costs: CostTable = field(default_factory=dict)
    sources: dict[int, str] = field(default_factory=dict)
    lines: tuple[int, int] = R10000_LINES
    modelled: frozenset[int] = frozenset()
    used: set[int] = field(default_factory=set)

    def __getitem__(self, event: int) -> float:
        if event not in self.counts:
            raise _MissingError
        self.used.add(event)
        return self.counts[event]

    def says_nothing(self) -> bool:
        """Tell whether one count stands for two of the events used: their ratio is 1 whatever the program does."""
        known = [self.sources[event] for event in self.used if event in self.sources]
        return len(set(known)) < len(known)

    def either(self, *those: int) -> float:
        """Return the count of an event that both counters can count."""
        return self[next((e for e in those if e in self.counts), those[0])]

    @property
    def cycles(self) -> float:
        return self.either(*events.cycles(self.cpu))

    @property
    def instructions(self) -> float:
        return self.either(15) if self.cpu == "r12000" else self.either(17, 15)

    @property
    def accesses(self) -> float:
        return self[18] + self[19]

    @property
    def time(self) -> float:
        """Return the run time in seconds."""
        return self.cycles / (self.clock * _MEGA)

    def bandwidth(self, cache: int, misses: int, written_back: int) -> float:
        """Return MB/s out of a cache: 0 the primary, 1 the secondary one."""
        if not self.lines[cache]:
            raise _MissingError
        return (self[misses] * self.lines[cache] + self[written_back] * _QUADWORD) / self.time / _MEGA

    def memory_time(self) -> float:
        """Estimate the time of loads, stores and misses, in seconds."""
        spent = 0.0
        for event in (18, 19, 25, 26, 23):
            count = self[event]
            if event not in self.costs:
                raise _MissingError
            spent += self.costs[event].seconds(count, self.clock)[0]
        return spent


_Formula = tuple[str, str, "Callable[[_Counts], float]"]  # name, unit, value

_BOTH: tuple[_Formula, ...] = (
    ("Graduated instructions/cycle", "", lambda c: c.instructions / c.cycles),
    ("Graduated floating point instructions/cycle", "", lambda c: c[21] / c.cycles),
    ("Graduated loads and stores/cycle", "", lambda c: c.accesses / c.cycles),
    ("Graduated loads and stores/floating point instruction", "", lambda c: c.accesses / c[21]),
    ("Mispredicted branches/Decoded branches", "", lambda c: c[24] / c[6]),
    ("Graduated loads/Issued loads", "", lambda c: c[18] / c[2]),
    ("Graduated stores/Issued stores", "", lambda c: c[19] / c[3]),
    ("Data mispredict/Data secondary cache hits", "", lambda c: c[27] / c[26]),
    ("Instruction mispredict/Instruction secondary cache hits", "", lambda c: c[11] / c[10]),
    ("Primary cache line reuse", "", lambda c: (c.accesses - c[25]) / c[25]),
    ("Secondary Cache Line Reuse", "", lambda c: (c[25] - c[26]) / c[26]),
    ("Primary Data Cache Hit Rate", "", lambda c: 1.0 - c[25] / c.accesses),
    ("Secondary Data Cache Hit Rate", "", lambda c: 1.0 - c[26] / c[25]),
    ("Time accessing memory/Total time", "", lambda c: c.memory_time() / c.time),
    ("Primary-to-secondary bandwidth used (MB/s, average per process)", "MB/s",
     lambda c: c.bandwidth(0, 25, 22)),
    ("Memory bandwidth used (MB/s, average per process)", "MB/s",
     lambda c: c.bandwidth(1, 26, 7)),
    ("MFLOPS (average per process)", "", lambda c: c[21] / c.time / _MEGA),
)
_R12000: tuple[_Formula, ...] = (
    ("Cache misses in flight per cycle (average)", "", lambda c: c[4] / c.cycles),
    ("Prefetch miss rate", "", lambda c: c[17] / c[16]),
)
# What processors after the first R10000 count in place of decoded branches and issued loads and stores.
_OTHER_NAMES: dict[Cpu, dict[str, str]] = {
    "r10000-3": {"Mispredicted branches/Decoded branches": "Mispredicted branches/Resolved branches"},
    "r12000": {
        "Mispredicted branches/Decoded branches": "Mispredicted branches/Resolved conditional branches",
        "Graduated loads/Issued loads": "Graduated loads/Decoded loads",
        "Graduated stores/Issued stores": "Graduated stores/Decoded stores",
    },
}
#: The names of all statistics.
NAMES = tuple(name for name, _, _ in _BOTH + _R12000)


def statistics(cpu: Cpu, measurements: Iterable[Measurement], clock: float, costs: CostTable,
               lines: tuple[int, int] = R10000_LINES) -> list[Statistic]:
    """Return the statistics whose events were counted, in the order of the manual.

    :param clock: MHz
    :param costs: in effect; empty: none is known
    :param lines: bytes of a line of the primary and of the secondary cache; 0: not known

    A quotient by 0 is left out, and so is what says nothing about the program, as one count stands for two of its
    events (`Measurement.source`).  What is an average per process needs no number of processes: the
    cycles too are those of all.
    """
    counted = [m for m in measurements if m.count is not None]
    counts = _Counts(cpu, {m.event.index: m.value for m in counted if m.value is not None}, clock, costs,
                     {m.event.index: m.source for m in counted if m.source}, lines,
                     frozenset(m.event.index for m in counted if m.quality == "modelled"))
    found = []
    formulas = _BOTH + (_R12000 if cpu == "r12000" else ())
    for name, unit, formula in formulas:
        counts.used.clear()
        try:
            value = formula(counts)
        except (_MissingError, ZeroDivisionError):
            continue
        if counts.says_nothing():
            continue
        found.append(Statistic(_OTHER_NAMES.get(cpu, {}).get(name, name), value, unit,
                               not counts.modelled.isdisjoint(counts.used)))
    return found
