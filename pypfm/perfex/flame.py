"""Stacks for flame graphs, in the form that flamegraph.pl and speedscope read: ``caller;callee count``.

The simulator counts by function and by pair of caller and callee, not by whole stack.  What a function has counted goes
to its callers in proportion to the inclusive counts of their calls.  A stack is exact where each function in it has one
caller.  Where one has several it is an estimate: which of its callees did more work for one of them is not known.  The
sum of all stacks is exactly the count of the report.

Where functions call each other in a circle, the call that would close it is left out: a function stands once in a
stack.  Stacks of less than 1/20000 of the whole, or of 400 functions, are not divided further: the function at their
end has the counts of what it called, too.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from pypfm.perfex.annotate import apportion
from pypfm.perfex.report import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pypfm.perfex.annotate import Annotation
    from pypfm.perfex.profile import Function

__all__ = ["folded", "stacks"]

_SMALLEST = 20000
_DEEPEST = 400
_Edges = dict["Function", dict["Function", int]]


def _without_circles(functions: Sequence[Function], calls: Mapping[tuple[Function, Function], int]) -> _Edges:
    """Return the calls by caller, without those that lead back to a function that is in the stack.

    :param functions: those that may be at the beginning of a stack first
    """
    graph: _Edges = {function: {} for function in functions}
    for (caller, callee), count in sorted(calls.items(), key=lambda call: (-call[1], call[0])):
        if count > 0 and caller != callee:
            graph[caller][callee] = count
    kept: _Edges = {function: {} for function in functions}
    seen: set[Function] = set()
    active: set[Function] = set()
    for root in functions:
        if root in seen:
            continue
        path = [(root, iter(graph[root].items()))]
        seen.add(root)
        active.add(root)
        while path:
            here, rest = path[-1]
            call = next(rest, None)
            if call is None:
                active.discard(here)
                path.pop()
            elif call[0] not in active:
                kept[here][call[0]] = call[1]
                if call[0] not in seen:
                    seen.add(call[0])
                    active.add(call[0])
                    path.append((call[0], iter(graph[call[0]].items())))
    return kept


def _order(edges: _Edges) -> list[Function]:
    """Return callers before those that they call."""
    callers: dict[Function, int] = dict.fromkeys(edges, 0)
    for called in edges.values():
        for callee in called:
            callers[callee] += 1
    ready, order = [f for f, n in callers.items() if n == 0], []
    while ready:
        function = ready.pop()
        order.append(function)
        for callee in edges[function]:
            callers[callee] -= 1
            if callers[callee] == 0:
                ready.append(callee)
    return order


def stacks(own: Mapping[Function, int], calls: Mapping[tuple[Function, Function], int],
           ) -> dict[tuple[Function, ...], int]:
    """Return the count of each stack; their sum is that of the functions.

    :param own: the count of each function, without what it called
    :param calls: by caller and callee: the count of the calls, with all that was called in them
    """
    called = {callee for (_, callee), count in calls.items() if count > 0}
    most: dict[Function, int] = defaultdict(int)
    for (caller, _), count in calls.items():
        most[caller] += count
    functions = sorted(own, key=lambda f: (f in called, -own[f] - most[f], f))
    edges = _without_circles(functions, calls)
    of_callers: dict[Function, int] = defaultdict(int)
    for callees in edges.values():
        for callee, count in callees.items():
            of_callers[callee] += count
    order = _order(edges)
    inclusive: dict[Function, Fraction] = {}
    for function in reversed(order):
        inclusive[function] = own[function] + sum(
            (inclusive[callee] * count / of_callers[callee] for callee, count in edges[function].items()), Fraction())
        inclusive[function] = _near(inclusive[function])
    return _dealt_out(own, edges, of_callers, {f: float(n) for f, n in inclusive.items()})


def _near(number: Fraction) -> Fraction:
    """Round a number to a limited length: denominators would grow with each level."""
    return number if number.denominator < 1 << 40 else Fraction(round(number * (1 << 40)), 1 << 40)


def _dealt_out(own: Mapping[Function, int], edges: _Edges, of_callers: Mapping[Function, int],
               inclusive: Mapping[Function, float]) -> dict[tuple[Function, ...], int]:
    total = sum(own.values())
    found: dict[tuple[Function, ...], float] = {}
    roots = [f for f in edges if f not in of_callers]
    waiting: list[tuple[tuple[Function, ...], float]] = [((f,), 1.0) for f in reversed(roots)]
    while waiting:
        stack, part = waiting.pop()
        here = stack[-1]
        if inclusive[here] * part < total / _SMALLEST or len(stack) == _DEEPEST:
            found[stack] = inclusive[here] * part
            continue
        found[stack] = own[here] * part
        waiting += [((*stack, callee), part * count / of_callers[callee]) for callee, count in edges[here].items()]
    weights = [int(Fraction(weight) * (1 << 20)) for weight in found.values()]
    return dict(zip(found, apportion(weights, total), strict=True))


def _frame(function: Function) -> str:
    """Return a function's name in a stack, where a semicolon would end it."""
    return printable(function.name).replace(";", ",")


def folded(made: Annotation) -> str:
    """Return the stacks, one in a line, with the counts by which rows are sorted."""
    own = {row.function: made.key(row.own) for row in made.functions}
    lines: dict[str, int] = defaultdict(int)
    for stack, count in stacks(own, made.calls).items():
        lines[";".join(map(_frame, stack))] += count
    return "".join(f"{line} {count}\n" for line, count in sorted(lines.items()) if count)
