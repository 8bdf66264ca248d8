"""From the counts of a simulation to the events of a processor."""

from __future__ import annotations

import ast
import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pypfm._c.libperfex import ffi, lib
from pypfm.config import built
from pypfm.perfex import events
from pypfm.perfex.c_call import processor
from pypfm.perfex.model import Cpu, Measurement, Quality, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["HIGH", "LOW", "Row", "Simulated", "added", "estimated", "measure", "rows", "value_of"]

Simulated = dict[str, int]  # counts by the tool's names
_DATA_MISSES = (25, 26)
#: What comes after the name of a count that is the middle of a range: its ends.
LOW, HIGH = "_low", "_high"


def added(parts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Add counts; a missing one is 0."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return total


@dataclass(frozen=True)
class Row:
    """The way in which a simulation counts an event (csrc/tables/perfex_valgrind.csv and perfex_qemu*.csv).

    :ivar source: sums and products of counts, or nothing
    :ivar note: what is counted in the event's place, or why it is not
    """

    source: str
    quality: Quality
    note: str

    @property
    def names(self) -> frozenset[str]:
        """Return the counts that it uses."""
        nodes = ast.walk(ast.parse(self.source, mode="eval")) if self.source else ()
        return frozenset(n.id for n in nodes if isinstance(n, ast.Name))

    def value(self, counts: Mapping[str, int]) -> int | None:
        """Return the count, or None: it is not available."""
        return value_of(ast.parse(self.source, mode="eval").body, counts) if self.source else None


def value_of(node: ast.expr, counts: Mapping[str, int]) -> int:
    """Return the value of a formula: names of counts, numbers, sums, differences and products.

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
def rows(cpu: Cpu, *, fine: bool = False, table: Table = "valgrind") -> tuple[Row, ...]:
    """Return how each event of a processor is counted, by index.

    :param fine: --threads fine: each thread has a processor
    :param table: those of qemu have what differs from valgrind's
    """
    given: list[dict[str, str]] = []
    for name in dict.fromkeys(("valgrind", table)):
        with built(f"perfex/tables/perfex_{name}.csv").open(newline="", encoding="ascii") as stream:
            given += csv.DictReader(stream)
    found = {int(row["event"]): Row(row["source"], cast("Quality", row["quality"]), row["note"])
             for name in ("", cpu) for mode in ("", "fine")[:1 + fine] for row in given
             if (row["cpu"], row["mode"]) == (name, mode)}
    return tuple(found[i] for i in range(events.NUM_EVENTS))


def estimated(cpu: Cpu, counts: Mapping[str, int], clock: float,
              stall_ns: Mapping[int, float] | None = None) -> Simulated:
    """Compute from costs the cycles of the simulated program, and those in which misses are handled.

    Each is the middle of a range (csrc/perfex/simulated.c), whose ends are there as well, with `LOW` and `HIGH` after
    its name.  The costs are the built-in ones, whatever a user's table says: that one is about times, and cycles are a
    count.

    :param clock: MHz, for costs in nanoseconds
    :param stall_ns: --costs host: by event, in place of the built-in costs
    """
    parts: list[int] = [*lib.perfex_cycle_parts]
    nsec = ffi.NULL if stall_ns is None else [stall_ns.get(event, 0.0) for event in parts]
    found: Simulated = {}
    for name, which in (("cycles", parts), ("occupancy", _DATA_MISSES)):
        numbers = [(rows(cpu)[event].value(counts) or 0) if event in which else 0 for event in parts]
        ends: Any = ffi.new("uint64_t[2]")
        lib.perfex_estimated_cycles(processor(cpu), numbers, clock, nsec, ends)
        low, high = ends
        found |= {name: low + (high - low) // 2, name + LOW: low, name + HIGH: high}
    return found


def measure(cpu: Cpu, wanted: Iterable[int], counts: Mapping[str, int], *,
            fine: bool = False, table: Table = "valgrind") -> tuple[Measurement, ...]:
    """Compute the events from the counts.

    :param wanted: indices
    :param counts: with those of `estimated`
    """
    how = rows(cpu, fine=fine, table=table)
    return tuple(Measurement(events.table(cpu)[i], how[i].value(counts), how[i].quality, note=how[i].note,
                             source=how[i].source if how[i].names else "", low=counts.get(how[i].source + LOW),
                             high=counts.get(how[i].source + HIGH)) for i in wanted)
