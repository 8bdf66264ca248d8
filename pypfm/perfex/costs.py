"""Costs of events: the built-in tables, /etc/perfex.costs, -c and -t.

A cost table is text: lines of event, unit, typical, minimum and maximum cost; what follows ``#`` is
comment.  Units are ``clks`` (machine cycles) and ``nsec`` (nanoseconds).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from pypfm._c.convert import string
from pypfm._c.libperfex import ffi, lib
from pypfm.perfex import events
from pypfm.perfex.c_call import parsed, processor, read_limited
from pypfm.perfex.model import Cpu

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["SYSTEM_FILE", "VARIABLE", "Cost", "CostTable", "Unit", "builtin", "default_clock", "in_effect", "parse",
           "show", "unsourced"]

#: The cost file of the machine.
SYSTEM_FILE = Path("/etc/perfex.costs")
#: The environment variable that names another one.
VARIABLE = "PERFEX_COSTS"
#: The unit of a cost, machine cycles or nanoseconds.
Unit = Literal["clks", "nsec"]
_UNITS: tuple[Unit, ...] = get_args(Unit)  # in C's order, from 1 on


@dataclass(frozen=True)
class Cost:
    """The cost of one occurrence of an event.

    :ivar unit: clks: machine cycles; nsec: nanoseconds
    """

    unit: Unit
    typical: float
    minimum: float
    maximum: float

    def seconds(self, count: float, clock: float) -> tuple[float, float, float]:
        """Return typical, minimum and maximum time of that many events.

        :param clock: MHz
        """
        unit, times = 1 + _UNITS.index(self.unit), cast("Any", ffi.new("double[3]"))
        lib.perfex_seconds([(unit, self.typical, self.minimum, self.maximum)], count, clock, times)
        return times[0], times[1], times[2]


#: The cost of each event.
CostTable = dict[int, Cost]


def default_clock(cpu: Cpu) -> float:
    """Return the clock of a processor in MHz, for when none is measured."""
    return float(lib.perfex_default_clock(processor(cpu)))


def _table(costs: Iterable[Any]) -> CostTable:
    return {event: Cost(_UNITS[c.unit - 1], c.typical, c.minimum, c.maximum)
            for event, c in enumerate(costs) if c.unit != lib.PERFEX_NO_COST}


def builtin(cpu: Cpu) -> CostTable:
    """Return the table of a processor; events without a cost are missing.

    Source: perfex(1) and the documented latencies, see csrc/tables/perfex_costs.csv.
    """
    return _table(event.cost for event in processor(cpu).events[0:events.NUM_EVENTS])


def parse(text: str, source: str) -> CostTable:
    """Read a table; it need not have all events.

    :param source: the file, for messages
    :raises PerfexError: names the line
    """
    found: Any = ffi.new("struct perfex_cost[]", events.NUM_EVENTS)
    parsed(lib.perfex_costs_parse, text.encode("utf-8", "surrogatepass"), source, found)
    return _table(found)


def unsourced(cpu: Cpu) -> dict[int, str]:
    """Return the numbers in built-in costs that have no source yet."""
    texts = (string(event.unsourced) for event in processor(cpu).events[0:events.NUM_EVENTS])
    return {event: text for event, text in enumerate(texts) if text}


def in_effect(cpu: Cpu, file: Path | None, environ: Mapping[str, str], *, builtins: bool = True,
              measured: CostTable | None = None) -> CostTable:
    """Return the costs in effect: built in, then the system's file, then the user's.

    :param file: -c
    :param environ: PERFEX_COSTS names another file than /etc/perfex.costs
    :param builtins: False: those of the user's file only (-T)
    :param measured: --costs host: these in place of the built-in ones and of the system's file
    :raises PerfexError: a file cannot be read, or a line is wrong
    """
    table = dict(measured or {})
    if builtins and measured is None:
        table = builtin(cpu)
        named = environ.get(VARIABLE)
        system = Path(named) if named else SYSTEM_FILE
        if named or system.exists():
            table |= parse(read_limited(system), str(system))
    if file is not None:
        table |= parse(read_limited(file), str(file))
    return table


def _number(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


def show(table: CostTable, cpu: Cpu, head: str = "Own estimates: see the sources in perfex_costs.csv.",
         remarks: Mapping[int, str] | None = None) -> str:
    """Return the table as text that `parse` reads; events without a cost are comments.

    :param head: where the costs come from
    :param remarks: on the costs of some events
    """
    lines = [f"# Costs of events, {cpu}. {head}",
             "#ev unit    typical    minimum    maximum"]
    for event in events.table(cpu):
        cost = table.get(event.index)
        if cost is None:
            lines.append(f"#{event.index:2} no cost{' ':30}# {event.name}")
            continue
        numbers = " ".join(f"{_number(v):>10}" for v in (cost.typical, cost.minimum, cost.maximum))
        remark = f" ({remarks[event.index]})" if remarks and event.index in remarks else ""
        lines.append(f"{event.index:3} {cost.unit} {numbers}  # {event.name}{remark}")
    return "\n".join(lines) + "\n"
