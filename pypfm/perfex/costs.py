"""What an event costs: the built-in tables, /etc/perfex.costs, -c and -t.

A cost table is text: lines of event, unit, typical, minimum and maximum cost, the rest behind ``#``
is comment.  Units are ``clks`` (machine cycles) and ``nsec`` (nanoseconds).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pypfm.errors import shown
from pypfm.perfex import events
from pypfm.perfex.model import Cpu, PerfexError
from pypfm.perfex.tables import installed, read_limited

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SYSTEM_FILE", "VARIABLE", "Cost", "CostTable", "Unit", "builtin", "default_clock", "in_effect", "parse",
           "show"]

#: The cost file of the machine.
SYSTEM_FILE = Path("/etc/perfex.costs")
#: The environment variable that names another one.
VARIABLE = "PERFEX_COSTS"
#: The unit of a cost, machine cycles or nanoseconds.
Unit = Literal["clks", "nsec"]
_UNITS = ("clks", "nsec")
_NUMBER = re.compile(r"(\d{1,12}(\.\d{0,12})?|\.\d{1,12})", re.ASCII)


@dataclass(frozen=True)
class Cost:
    """What one occurrence of an event costs.

    :ivar unit: clks: machine cycles; nsec: nanoseconds
    """

    unit: Unit
    typical: float
    minimum: float
    maximum: float

    def seconds(self, count: float, clock: float) -> tuple[float, float, float]:
        """Typical, minimum and maximum time of that many events.

        :param clock: MHz
        """
        one = 1e-9 if self.unit == "nsec" else 1e-6 / clock
        return self.typical * one * count, self.minimum * one * count, self.maximum * one * count


#: The cost of each event.
CostTable = dict[int, Cost]

# MHz: the clock speeds for which the estimates are made where none is measured.
_CLOCKS: dict[Cpu, float] = {"r10000": 196.0, "r12000": 300.0}


def default_clock(cpu: Cpu) -> float:
    """The clock of a processor in MHz."""
    return _CLOCKS[events.base(cpu)]


def builtin(cpu: Cpu) -> CostTable:
    """The table of a processor; events without a cost are missing.

    Source: perfex(1) and the documented latencies, see csrc/tables/perfex_costs.csv.
    """
    rows = {int(row["event"]): row for name in (events.base(cpu), cpu) for row in installed("perfex_costs.csv")
            if row["cpu"] == name}
    return {i: Cost(cast("Unit", row["unit"]), float(row["typical"]), float(row["minimum"]), float(row["maximum"]))
            for i, row in sorted(rows.items()) if row["unit"]}


def parse(text: str, source: str) -> CostTable:
    """Read a table; it need not have all events.

    :param source: the file, for messages
    :raises PerfexError: names the line
    """
    table: CostTable = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            event, cost = _line(words)
            if event in table:
                raise PerfexError(f"event {event} stands here a second time")
        except PerfexError as error:
            raise PerfexError(f"{source}, line {number}: {error}") from None
        table[event] = cost
    return table


def _line(words: list[str]) -> tuple[int, Cost]:
    if len(words) != 5:
        raise PerfexError(f"{shown(' '.join(words))}: a line is event, unit, typical, minimum, maximum cost")
    event = events.event_number(words[0], "event")
    if words[1] not in _UNITS:
        raise PerfexError(f"{shown(words[1])} is not a unit; clks and nsec are")
    for word in words[2:]:
        if not _NUMBER.fullmatch(word):
            raise PerfexError(f"{shown(word)} is not a cost, such as 1 or 0.5")
    typical, minimum, maximum = (float(word) for word in words[2:])
    if not minimum <= typical <= maximum:
        raise PerfexError(f"minimum {words[3]}, typical {words[2]}, maximum {words[4]} are not in ascending order")
    return event, Cost(cast("Unit", words[1]), typical, minimum, maximum)


def in_effect(cpu: Cpu, file: Path | None, environ: Mapping[str, str], *, builtins: bool = True) -> CostTable:
    """The costs that count: built in, then the system's file, then the user's.

    :param file: -c
    :param environ: PERFEX_COSTS names another file than /etc/perfex.costs
    :param builtins: False: those of the user's file only (-T)
    :raises PerfexError: a file cannot be read, or a line is wrong
    """
    table: CostTable = {}
    if builtins:
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


def show(table: CostTable, cpu: Cpu) -> str:
    """The table as text that `parse` reads; events without a cost are comments."""
    lines = [f"# Costs of events, {cpu}. Own estimates: see the sources in perfex_costs.csv.",
             "#ev unit    typical    minimum    maximum"]
    for event in events.table(cpu):
        cost = table.get(event.index)
        if cost is None:
            lines.append(f"#{event.index:2} no cost{' ':30}# {event.name}")
            continue
        numbers = " ".join(f"{_number(v):>10}" for v in (cost.typical, cost.minimum, cost.maximum))
        lines.append(f"{event.index:3} {cost.unit} {numbers}  # {event.name}")
    return "\n".join(lines) + "\n"
