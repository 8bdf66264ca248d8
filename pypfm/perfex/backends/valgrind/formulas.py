"""From the counters of a simulation to the events of a processor."""

from __future__ import annotations

import ast
import csv
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, cast

from pypfm._c.libperfex import lib
from pypfm.config import built
from pypfm.perfex import events
from pypfm.perfex.backends.valgrind.instructions import NOT_INSTALLED
from pypfm.perfex.c_call import processor
from pypfm.perfex.model import Cpu, Measurement, Quality

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["CYCLES", "WITH_TRACE", "Row", "Simulated", "Tool", "estimated_cycles", "measure", "names", "rows",
           "value_of"]

CYCLES = "cycles"
WITH_TRACE = ("left out: takes the memory trace, which is 5 to 20 times slower"
              " (-a --trace, or --writebacks; -e 7, 22 or 23)")

# Who simulates: callgrind, with its totals only or with the counts of each instruction; the memory trace is lackey's,
# and r10ksim reads it.
Tool = Literal["callgrind", "instructions", "trace"]
_ROWS: dict[Tool, tuple[str, ...]] = {
    "callgrind": ("", "callgrind"), "instructions": ("", "callgrind", "instructions"), "trace": ("", "trace")}
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
        """The counters that it uses."""
        return names(self.source)

    def value(self, counts: Mapping[str, int]) -> int | None:
        """The count, or None: one of the counters was not counted."""
        if not self.source or not self.names <= counts.keys():
            return None
        return value_of(ast.parse(self.source, mode="eval").body, counts)


def names(source: str) -> frozenset[str]:
    """The counters in a formula, or in nothing."""
    nodes = ast.walk(ast.parse(source, mode="eval")) if source else ()
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name))


def value_of(node: ast.expr, counts: Mapping[str, int]) -> int:
    """The value of a formula: names of counters, numbers, sums, differences and products.

    :raises ValueError: it is of another form
    """
    match node:
        case ast.Name(id=name):
            return counts[name]
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return value_of(left, counts) + value_of(right, counts)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return value_of(left, counts) - value_of(right, counts)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return value_of(left, counts) * value_of(right, counts)
    raise ValueError(ast.unparse(node))


@cache
def rows(cpu: Cpu, tool: Tool) -> tuple[Row, ...]:
    """How each event of a processor is counted, by index; a row of the tool replaces one of all tools."""
    with built("perfex/tables/perfex_valgrind.csv").open(newline="", encoding="ascii") as stream:
        given = list(csv.DictReader(stream))
    table = {int(row["event"]): Row(row["source"], cast("Quality", row["quality"]), row["note"])
             for name in ("", cpu) for of_tool in _ROWS[tool] for row in given
             if (row["cpu"], row["tool"]) == (name, of_tool)}
    return tuple(table[i] for i in range(events.NUM_EVENTS))


def estimated_cycles(cpu: Cpu, tool: Tool, counts: Mapping[str, int], clock: float,
                     stall_ns: Mapping[int, float] | None = None) -> int | None:
    """Cycles of the simulated program: one for each instruction, and the typical costs of its cache misses.

    The costs are the built-in ones, whatever a user's table says: that one is about times, and cycles are a count.

    :param clock: MHz, for costs in nanoseconds
    :param stall_ns: --costs host: by event, in place of the built-in costs
    :return: None where they are not counted
    """
    # What both tools count, so that cycles are the same with either.
    parts: list[int] = [*lib.perfex_cycle_parts]
    counted = [rows(cpu, tool)[event].value(counts) for event in parts]
    known = [count for count in counted if count is not None]
    if len(known) < len(counted):
        return None
    if stall_ns is None:
        return int(lib.perfex_estimated_cycles(processor(cpu), known, clock))
    spent = sum(stall_ns.get(event, 0.0) * count for event, count in zip(parts, known, strict=True))
    return known[0] + round(spent * clock / 1000)


def measure(cpu: Cpu, tool: Tool, wanted: Iterable[int], counts: Mapping[str, int]) -> tuple[Measurement, ...]:
    """The events from the counters.

    :param wanted: indices
    """
    found = []
    for index in wanted:
        row, event = rows(cpu, tool)[index], events.table(cpu)[index]
        count = row.value(counts)
        if count is not None or not row.source:
            found.append(Measurement(event, count, row.quality, note=row.note,
                                     source=row.source if row.names else ""))
        else:
            missing = NOT_INSTALLED if tool == "trace" else WITH_TRACE
            found.append(Measurement(event, None, "unavailable", note=missing))
    return tuple(found)
