"""Where the events of a run come from: by function, alone and with what it calls, and by line of source (--annotate).

A function's own counts are those of its instructions: their sum over all functions is the count of the report.  Cycles,
which are estimated, are dealt out so that this holds for them, too.

Inclusive counts are a function's own and those of its calls to others, as the simulator has counted them.  A function
that calls itself is in them once.  Where functions call each other in a circle, a call may contain the caller again;
then the same sum is an upper bound, which is said, and never more than what the whole circle has counted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from pypfm.perfex import events
from pypfm.perfex.backends.valgrind import backend, formulas
from pypfm.perfex.profile import UNKNOWN, Function

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pypfm.perfex.model import Event, Outcome, Request
    from pypfm.perfex.profile import Profile

__all__ = ["Annotation", "Counts", "FunctionRow", "LineRow", "annotation", "apportion", "circles", "excluded"]

_UNIT = 10**6  # costs of a counter in cycles are kept in millionths
# What callgrind appends to a function's name while it is active already.
_AGAIN = re.compile(r"'[0-9]+$")


class Counts(NamedTuple):
    """What was counted in a place.

    :ivar cycles: estimated
    :ivar events: in the order of `Annotation.events`; None: not known
    """

    cycles: int
    events: tuple[int | None, ...]


class FunctionRow(NamedTuple):
    """A function.

    :ivar own: the counts of its instructions
    :ivar inclusive: with those of the functions that it called
    :ivar called: how often it was called by others and itself
    :ivar bound: it is in a circle of functions that call each other: inclusive counts are no more than these
    """

    function: Function
    own: Counts
    inclusive: Counts
    called: int
    bound: bool


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
    """Where the events of a run come from.

    :ivar events: those that were counted in each place
    :ivar by: the event by which rows are sorted; None: estimated cycles
    :ivar cycles: the numbers of those that are cycles
    :ivar clock: MHz
    :ivar partial: counts are missing: those of the report are not available
    :ivar total: of the run
    :ivar functions: all that were executed, sorted
    :ivar lines: all that were executed, sorted
    :ivar nowhere: the counts of instructions whose line is not known
    :ivar calls: by caller and callee: the inclusive counts by which rows are sorted; cycles where these are not known
    """

    events: tuple[Event, ...]
    by: Event | None
    cycles: tuple[int, ...]
    clock: float
    partial: bool
    total: Counts
    functions: tuple[FunctionRow, ...]
    lines: tuple[LineRow, ...]
    nowhere: Counts
    calls: Mapping[tuple[Function, Function], int]

    def key(self, counts: Counts) -> int:
        """What rows are sorted by."""
        return counts.cycles if self.by is None else counts.events[self.events.index(self.by)] or 0

    def share(self, counts: Counts) -> float:
        """Part of the whole, 0 to 1."""
        whole = self.key(self.total)
        return self.key(counts) / whole if whole else 0.0

    def seconds(self, counts: Counts) -> float:
        """The time of the estimated cycles."""
        return counts.cycles / (self.clock * 1e6)

    def _json(self, counts: Counts) -> dict[str, object]:
        return {"cycles": counts.cycles, "seconds": self.seconds(counts), "share": self.share(counts),
                "counts": list(counts.events)}

    def json_data(self) -> dict[str, object]:
        """The member `annotation` of the report as JSON (schema: pypfm/schemas/perfex.json)."""
        return {
            "events": [event.index for event in self.events],
            "by": None if self.by is None else self.by.index, "partial": self.partial,
            "total": self._json(self.total),
            "functions": [{
                "name": row.function.name, "file": _known(row.function.file), "object": _known(row.function.object),
                "calls": row.called, "self": self._json(row.own), "inclusive": self._json(row.inclusive),
                "bound": row.bound} for row in self.functions],
            "lines": [{"file": row.file, "line": row.line, "function": row.function.name, "self": self._json(row.own)}
                      for row in self.lines],
            "nowhere": self._json(self.nowhere),
        }


def _known(name: str) -> str | None:
    return None if name == UNKNOWN else name


def excluded(request: Request) -> str:
    """Why the places of these counts are not known, and what to do; "": they are."""
    option = "--annotate" if request.annotate else "--keep"
    if request.writebacks:
        return f"{option} goes without --trace: the memory trace has no functions; leave --trace out"
    if backend.needs_trace(request):
        return (f"{option} goes without events 7, 22 and 23: the memory trace, which they need, has no functions;"
                f" ask for other ones, such as -e 25 or -e 26")
    if request.annotate and request.per_thread:
        return "--annotate and -mp exclude each other: functions have the counts of all threads; leave -mp out"
    if request.gated:
        option_of_user = "-s" if request.period is None else "-p"
        return f"{option} and {option_of_user} exclude each other: run perfex {option} without {option_of_user}"
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


def circles(graph: Mapping[Function, Iterable[Function]]) -> list[list[Function]]:
    """The strongly connected components of a graph, callees first (Tarjan's algorithm)."""
    number: dict[Function, int] = {}
    low: dict[Function, int] = {}
    stack: list[Function] = []
    on_stack: set[Function] = set()
    found: list[list[Function]] = []
    for root in graph:
        if root in number:
            continue
        path = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while path:
            here, rest = path[-1]
            following = next(rest, None)
            if following is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[here])
                if low[here] == number[here]:
                    at = stack.index(here)
                    found.append(stack[at:])
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
            elif following not in number:
                number[following] = low[following] = len(number)
                stack.append(following)
                on_stack.add(following)
                path.append((following, iter(graph.get(following, ()))))
            elif following in on_stack:
                low[here] = min(low[here], number[following])
    return found


class _Scale:
    """From the simulator's counters to events and cycles; all are sums of counters, each with a factor."""

    def __init__(self, request: Request, profile: Profile, clock: float) -> None:
        self._names = profile.names
        tool: formulas.Tool = "instructions" if "Flops" in profile.names else "callgrind"
        cycles = events.cycles(request.cpu)
        none = dict.fromkeys(profile.names, 0)
        units = [none | {name: 1} for name in profile.names]
        self.cycles = [formulas.estimated_cycles(request.cpu, tool, {k: v * _UNIT for k, v in unit.items()}, clock) or 0
                       for unit in units]
        self.events: list[Event] = []
        self._factors: list[list[int] | None] = []  # None: cycles
        for index in request.events:
            row, event = formulas.rows(request.cpu, tool)[index], events.table(request.cpu)[index]
            if index in cycles:
                self.events.append(event)
                self._factors.append(None)
            elif row.names <= none.keys() and row.source:
                self.events.append(event)
                self._factors.append([row.value(unit) or 0 for unit in units])

    def exact(self, counters: Sequence[int]) -> int:
        """Cycles in millionths."""
        return sum(map(int.__mul__, self.cycles, counters))

    def counts(self, counters: Sequence[int], cycles: int) -> Counts:
        """The events of a place.

        :param counters: those at the end may be missing
        """
        return Counts(cycles, tuple(cycles if factors is None else _product(factors, counters)
                                    for factors in self._factors))


def _product(factors: Sequence[int], counters: Sequence[int]) -> int | None:
    if any(factors[len(counters):]):
        return None
    return sum(factor * counter for factor, counter in zip(factors, counters, strict=False))


def _plain(function: Function) -> Function:
    return function._replace(name=_AGAIN.sub("", function.name))


def annotation(request: Request, outcome: Outcome) -> Annotation:
    """What a profile says.

    :param outcome: has a profile
    """
    profile = outcome.profile
    assert profile is not None
    scale = _Scale(request, profile, outcome.clock)
    width = len(profile.names)
    total = [*map(sum, zip(*profile.code.values(), strict=True))] or [0] * width
    are_cycles = events.cycles(request.cpu)
    cycles = next((m.count for m in outcome.measurements if m.event.index in are_cycles and m.count is not None),
                  (scale.exact(total) + _UNIT // 2) // _UNIT)
    whole = scale.counts(total, cycles)
    by = None if request.multiplex else next(iter(scale.events), None)
    if by is not None and by.index in are_cycles:
        by = None
    partial = any(m.count is None and m.event in scale.events for m in outcome.measurements)
    rows, calls = _functions(scale, profile, whole)
    lines, nowhere = _lines(scale, profile, cycles)
    made = Annotation(tuple(scale.events), by, are_cycles, outcome.clock, partial, whole, (), (), nowhere, {})
    known = by is None or all(row.inclusive.events[made.events.index(by)] is not None for row in rows)
    return replace(
        made, functions=tuple(sorted(rows, key=lambda row: (-made.key(row.own), -row.own.cycles, row.function))),
        lines=tuple(sorted(lines, key=lambda row: (-made.key(row.own), -row.own.cycles, row.file, row.line))),
        calls={pair: made.key(counts) if known else counts.cycles for pair, counts in calls.items()})


def _functions(scale: _Scale, profile: Profile,
               whole: Counts) -> tuple[list[FunctionRow], dict[tuple[Function, Function], Counts]]:
    """All functions, and what their calls of others have counted."""
    own: dict[Function, list[int]] = {}
    for place, counters in profile.code.items():
        function = _plain(place.function)
        known = own.get(function)
        own[function] = [*counters] if known is None else [*map(add, known, counters)]
    edges: dict[tuple[Function, Function], list[int]] = {}
    called: dict[Function, int] = defaultdict(int)
    width = len(profile.names)
    for (caller, callee), (times, *counters) in profile.calls.items():
        pair = _plain(caller), _plain(callee)
        width = len(counters)
        called[pair[1]] += times
        own.setdefault(pair[0], [0] * len(profile.names))
        own.setdefault(pair[1], [0] * len(profile.names))
        if pair[0] != pair[1]:
            known = edges.get(pair)
            edges[pair] = counters if known is None else [*map(add, known, counters)]
    inclusive, bounded = _inclusive({f: counters[:width] for f, counters in own.items()}, edges)
    cycles = dict(zip(own, apportion([scale.exact(c) for c in own.values()], whole.cycles), strict=True))
    rows = []
    for function, counters in own.items():
        mine = scale.counts(counters, cycles[function])
        total = max((scale.exact(inclusive[function]) + _UNIT // 2) // _UNIT, mine.cycles)
        rows.append(FunctionRow(function, mine, _at_most(scale.counts(inclusive[function], total), whole),
                                called[function], function in bounded))
    return rows, {pair: scale.counts(c, scale.exact(c) // _UNIT) for pair, c in edges.items()}


def _at_most(counts: Counts, whole: Counts) -> Counts:
    return Counts(min(counts.cycles, whole.cycles), tuple(
        None if mine is None or most is None else min(mine, most)
        for mine, most in zip(counts.events, whole.events, strict=True)))


def _inclusive(own: Mapping[Function, list[int]], edges: Mapping[tuple[Function, Function], list[int]],
               ) -> tuple[dict[Function, list[int]], set[Function]]:
    """The counters of each function with those of its calls, and which of these are bounds."""
    graph: dict[Function, list[Function]] = {function: [] for function in own}
    inclusive = {function: [*counters] for function, counters in own.items()}
    for (caller, callee), counters in edges.items():
        graph[caller].append(callee)
        inclusive[caller] = [*map(add, inclusive[caller], counters)]
    bounded: set[Function] = set()
    for circle in circles(graph):
        members = {*circle}
        if len(members) == 1:
            continue
        bounded |= members
        most = [*map(sum, zip(*(own[f] for f in circle), strict=True))]
        for caller in circle:
            for callee in graph[caller]:
                if callee not in members:
                    most = [*map(add, most, edges[caller, callee])]
        for function in circle:
            inclusive[function] = [*map(min, inclusive[function], most)]
    return inclusive, bounded


def _lines(scale: _Scale, profile: Profile, cycles: int) -> tuple[list[LineRow], Counts]:
    """All lines of source, and what is of none."""
    lines: dict[tuple[str, int], list[int]] = {}
    whose: dict[tuple[str, int], dict[Function, int]] = {}
    for place, counters in profile.code.items():
        at = (place.file, place.line) if place.line and place.file != UNKNOWN else ("", 0)
        known = lines.get(at)
        lines[at] = [*counters] if known is None else [*map(add, known, counters)]
        shares = whose.setdefault(at, defaultdict(int))
        shares[_plain(place.function)] += scale.exact(counters)
    parts = dict(zip(lines, apportion([scale.exact(c) for c in lines.values()], cycles), strict=True))
    nowhere = scale.counts(lines.get(("", 0), [0] * len(profile.names)), parts.get(("", 0), 0))
    return [LineRow(*at, max(whose[at], key=lambda f: (whose[at][f], f)), scale.counts(counters, parts[at]))
            for at, counters in lines.items() if at[1]], nowhere
