"""From the counters of a simulation to the events of a processor."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from pypfm.perfex import events
from pypfm.perfex.model import Cpu, Measurement, Quality
from pypfm.perfex.tables import installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pypfm.perfex.costs import CostTable

__all__ = ["CYCLES", "Row", "Simulated", "estimated_cycles", "measure", "rows"]

CYCLES = "cycles"
_GRADUATED, _STALLS = 15, (9, 10, 23, 24, 25, 26)
_ELSEWHERE = "not counted together with events 22 and 23; count it in a run of its own"
_WITH_WRITEBACKS = "takes the memory trace: -e with 22 or 23, or -a --writebacks"

Simulated = dict[str, int]  # counts by the simulator's names


@dataclass(frozen=True)
class Row:
    """How valgrind counts an event (csrc/tables/perfex_valgrind.csv).

    :ivar source: sums and products of counters, or nothing
    :ivar note: what is counted in the event's place, or why it is not
    """

    source: str
    quality: Quality
    note: str

    @property
    def names(self) -> frozenset[str]:
        """The counters that it takes."""
        nodes = ast.walk(ast.parse(self.source, mode="eval")) if self.source else ()
        return frozenset(n.id for n in nodes if isinstance(n, ast.Name))

    def value(self, counts: Mapping[str, int]) -> int | None:
        """The count, or None: one of the counters has not been counted."""
        if not self.source or not self.names <= counts.keys():
            return None
        return _value(ast.parse(self.source, mode="eval").body, counts)


def _value(node: ast.expr, counts: Mapping[str, int]) -> int:
    match node:
        case ast.Name(id=name):
            return counts[name]
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left, counts) + _value(right, counts)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left, counts) * _value(right, counts)
    raise ValueError(ast.unparse(node))


@cache
def rows(cpu: Cpu) -> tuple[Row, ...]:
    """How each event of a processor is counted, by index."""
    table = {int(row["event"]): Row(row["source"], cast("Quality", row["quality"]), row["note"])
             for name in ("", cpu) for row in installed("perfex_valgrind.csv") if row["cpu"] == name}
    return tuple(table[i] for i in range(events.NUM_EVENTS))


def estimated_cycles(cpu: Cpu, counts: Mapping[str, int], costs: CostTable, clock: float) -> int | None:
    """Cycles of the simulated program: its instructions at the largest cost of one (one cycle, if not overridden),
    and the typical costs of cache and TLB misses and of wrongly predicted branches, as far as they are counted.

    :param clock: MHz, for costs in nanoseconds
    :return: None where instructions are not counted or have no cost
    """
    instructions = rows(cpu)[_GRADUATED].value(counts)
    if instructions is None or _GRADUATED not in costs:
        return None
    seconds = costs[_GRADUATED].seconds(instructions, clock)[2]
    for event in _STALLS:
        count = rows(cpu)[event].value(counts)
        if count is not None and event in costs:
            seconds += costs[event].seconds(count, clock)[0]
    return round(seconds * clock * 1e6)


def measure(cpu: Cpu, wanted: Iterable[int], counts: Mapping[str, int], note: str = "") -> tuple[Measurement, ...]:
    """The events from the counters.

    :param wanted: indices
    :param note: on all that is counted from the memory trace
    """
    found = []
    for index in wanted:
        row, event = rows(cpu)[index], events.table(cpu)[index]
        count = row.value(counts)
        if count is not None and row.names:
            found.append(Measurement(event, count, row.quality, note="; ".join(filter(None, (row.note, note)))))
        elif count is not None or not row.source:
            found.append(Measurement(event, count, row.quality, note=row.note))
        else:
            found.append(Measurement(event, None, "unavailable", note=_ELSEWHERE if note else _WITH_WRITEBACKS))
    return tuple(found)
