"""The places that the events of a run come from: functions, alone and with all that they call, and lines (--annotate).

A function's own counts are those of its instructions: their sum over all functions is the count of the report.  Cycles,
which are estimated, are dealt out so that this holds for them, too.

Inclusive counts are what was counted while a function was active, as the simulator has counted them: once, also where
it calls itself, or others that call it again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from pypfm.perfex import events
from pypfm.perfex.backends.simulation import formulas
from pypfm.perfex.profile import UNKNOWN, Function, added

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pypfm.perfex.model import Event, Outcome, Request
    from pypfm.perfex.profile import Profile

__all__ = ["Annotation", "Counts", "FunctionRow", "LineRow", "annotation", "apportion", "excluded"]

_UNIT = 10**6  # costs of a counter in cycles are kept in millionths


class Counts(NamedTuple):
    """The counts of a place.

    :ivar cycles: estimated
    :ivar events: in the order of `Annotation.events`
    """

    cycles: int
    events: tuple[int, ...]


class FunctionRow(NamedTuple):
    """A function.

    :ivar own: the counts of its instructions
    :ivar inclusive: with those of the functions that it called
    :ivar called: how often it was called by others and itself
    """

    function: Function
    own: Counts
    inclusive: Counts
    called: int


class LineRow(NamedTuple):
    """A line of source.

    :ivar function: the one of its functions that has most of the counts
    """

    file: str
    line: int
    function: Function
    own: Counts


@dataclass(frozen=True)
class Annotation:
    """The places that the events of a run come from.

    :ivar events: those that were counted in each place
    :ivar by: the event by which rows are sorted; None: estimated cycles
    :ivar cycles: the numbers of those that are cycles
    :ivar clock: MHz
    :ivar total: of the run
    :ivar functions: all that were executed, sorted
    :ivar lines: all that were executed, sorted
    :ivar nowhere: the counts of instructions whose line is not known
    :ivar calls: by caller and callee: the inclusive counts by which rows are sorted
    """

    events: tuple[Event, ...]
    by: Event | None
    cycles: tuple[int, ...]
    clock: float
    total: Counts
    functions: tuple[FunctionRow, ...]
    lines: tuple[LineRow, ...]
    nowhere: Counts
    calls: Mapping[tuple[Function, Function], int]

    def key(self, counts: Counts) -> int:
        """Return the value by which rows are sorted."""
        return counts.cycles if self.by is None else counts.events[self.events.index(self.by)]

    def share(self, counts: Counts) -> float:
        """Return the part of the whole, 0 to 1."""
        whole = self.key(self.total)
        return self.key(counts) / whole if whole else 0.0

    def seconds(self, counts: Counts) -> float:
        """Return the time of the estimated cycles, in seconds."""
        return counts.cycles / (self.clock * 1e6)

    def _json(self, counts: Counts) -> dict[str, object]:
        return {"cycles": counts.cycles, "seconds": self.seconds(counts), "share": self.share(counts),
                "counts": list(counts.events)}

    def json_data(self) -> dict[str, object]:
        """Return the member `annotation` of the report as JSON (schema: pypfm/schemas/perfex.json)."""
        return {
            "events": [event.index for event in self.events],
            "by": None if self.by is None else self.by.index,
            "total": self._json(self.total),
            "functions": [{
                "name": row.function.name, "file": _known(row.function.file), "object": _known(row.function.object),
                "calls": row.called, "self": self._json(row.own), "inclusive": self._json(row.inclusive)}
                for row in self.functions],
            "lines": [{"file": row.file, "line": row.line, "function": row.function.name, "self": self._json(row.own)}
                      for row in self.lines],
            "nowhere": self._json(self.nowhere),
        }


def _known(name: str) -> str | None:
    return None if name == UNKNOWN else name


def excluded(request: Request) -> str:
    """Return why the places of these counts are not known, and what to do; "": they are known."""
    if request.per_thread:
        return "--annotate and -mp exclude each other: functions have the counts of all threads; leave -mp out"
    return ""


def apportion(weights: Sequence[int], total: int) -> list[int]:
    """Deal out a total in proportion to weights, by largest remainders: the parts add up to it.

    :param weights: not negative; all 0: the total is 0
    """
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    shares = [divmod(weight * total, whole) for weight in weights]
    parts = [part for part, _ in shares]
    order = sorted(range(len(shares)), key=lambda i: -shares[i][1])
    for i in order[:total - sum(parts)]:
        parts[i] += 1
    return parts


class _Scale:
    """The conversion of the simulator's counts to events and cycles.

    Events are sums of counts, each with a factor.  Cycles are not: of how many there are on the whole, a place has the
    part that its counts would have if each was the only one.
    """

    def __init__(self, request: Request, profile: Profile, outcome: Outcome) -> None:
        self.width = len(profile.names)
        none = dict.fromkeys(profile.names, 0)
        units = [none | {name: 1} for name in profile.names]
        large = [{name: number * _UNIT for name, number in unit.items()} for unit in units]
        modelled = [formulas.estimated(request.cpu, unit, outcome.clock, request.stall_ns) for unit in large]
        self._modelled = {name: [unit[name] for unit in modelled] for name in ("cycles", "occupancy")}
        self.events: list[Event] = []
        self._factors: list[list[int] | None] = []  # in millionths; None: cycles, which are dealt out
        cycles = events.cycles(request.cpu)
        for index in request.events:
            how = formulas.rows(request.cpu, fine=request.fine, table=outcome.table)
            row, event = how[index], events.table(request.cpu)[index]
            if not row.source:
                continue
            self.events.append(event)
            self._factors.append(None if index in cycles else self._modelled.get(row.source) or [
                (row.value(unit) or 0) * _UNIT for unit in units])

    def weight(self, counters: Sequence[int]) -> int:
        """Return a weight that is proportional to the share in the cycles of the whole."""
        return sum(map(int.__mul__, self._modelled["cycles"], counters))

    def counts(self, counters: Sequence[int], cycles: int) -> Counts:
        """Return the events of a place."""
        return Counts(cycles, tuple(
            cycles if factors is None else (sum(map(int.__mul__, factors, counters)) + _UNIT // 2) // _UNIT
            for factors in self._factors))


def annotation(request: Request, outcome: Outcome) -> Annotation:
    """Make an annotation of a profile.

    :param outcome: has a profile
    """
    profile = outcome.profile
    assert profile is not None
    scale = _Scale(request, profile, outcome)
    total = [*map(sum, zip(*profile.code.values(), strict=True))] or [0] * scale.width
    are_cycles = events.cycles(request.cpu)
    cycles = next((m.count for m in outcome.measurements if m.event.index in are_cycles and m.count is not None), None)
    if cycles is None:
        known = dict(zip(profile.names, total, strict=True))
        cycles = formulas.estimated(request.cpu, known, outcome.clock, request.stall_ns)["cycles"] if known else 0
    part = Fraction(cycles, scale.weight(total) or 1)
    whole = scale.counts(total, cycles)
    by = None if request.multiplex else next(iter(scale.events), None)
    if by is not None and by.index in are_cycles:
        by = None
    rows = _functions(scale, profile, whole, part)
    lines, nowhere = _lines(scale, profile, cycles)
    made = Annotation(tuple(scale.events), by, are_cycles, outcome.clock, whole, (), (), nowhere, {})
    return replace(
        made, functions=tuple(sorted(rows, key=lambda row: (-made.key(row.own), -row.own.cycles, row.function))),
        lines=tuple(sorted(lines, key=lambda row: (-made.key(row.own), -row.own.cycles, row.file, row.line))),
        calls={pair: made.key(scale.counts(counters, int(scale.weight(counters) * part)))
               for pair, (_, *counters) in profile.calls.items()})


def _functions(scale: _Scale, profile: Profile, whole: Counts, part: Fraction) -> list[FunctionRow]:
    """Return all functions.

    :param part: cycles of a weight
    """
    own: dict[Function, list[int]] = {}
    for place, counters in profile.code.items():
        added(own, place.function, counters)
    for function in profile.inclusive:
        own.setdefault(function, [0] * scale.width)
    cycles = dict(zip(own, apportion([scale.weight(c) for c in own.values()], whole.cycles), strict=True))
    rows = []
    for function, counters in own.items():
        mine = scale.counts(counters, cycles[function])
        called, *inside = profile.inclusive.get(function, [0] * (scale.width + 1))
        # What it did before it was called, or counting was on, is its own alone.
        inside = [*map(max, inside, counters)]
        inclusive = scale.counts(inside, max(round(scale.weight(inside) * part), mine.cycles))
        rows.append(FunctionRow(function, mine, inclusive, called))
    return rows


def _lines(scale: _Scale, profile: Profile, cycles: int) -> tuple[list[LineRow], Counts]:
    """Return all lines of source, and the counts that belong to no line."""
    lines: dict[tuple[str, int], list[int]] = {}
    whose: dict[tuple[str, int], dict[Function, int]] = {}
    for place, counters in profile.code.items():
        at = (place.file, place.line) if place.line and place.file != UNKNOWN else ("", 0)
        added(lines, at, counters)
        shares = whose.setdefault(at, defaultdict(int))
        shares[place.function] += scale.weight(counters)
    parts = dict(zip(lines, apportion([scale.weight(c) for c in lines.values()], cycles), strict=True))
    nowhere = scale.counts(lines.get(("", 0), [0] * len(profile.names)), parts.get(("", 0), 0))
    return [LineRow(*at, max(whose[at], key=lambda f: (whose[at][f], f)), scale.counts(counters, parts[at]))
            for at, counters in lines.items() if at[1]], nowhere
