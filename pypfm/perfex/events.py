"""The events of the R10000 and R12000, and which of them perfex counts."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pypfm.errors import shown
from pypfm.perfex.model import Cpu, Event, PerfexError
from pypfm.perfex.tables import installed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ENVIRONMENT", "NUM_EVENTS", "base", "choose", "cycles", "event_number", "table"]

#: Events are numbered from 0 to 31.
NUM_EVENTS = 32
_PER_COUNTER = 16
#: The environment variables that name the events where no option does.
ENVIRONMENT = ("T5_EVENT0", "T5_EVENT1")


def base(cpu: Cpu) -> Cpu:
    """The cpu whose rows stand for those that a silicon revision does not have."""
    return "r10000" if cpu == "r10000-3" else cpu


@cache
def table(cpu: Cpu) -> tuple[Event, ...]:
    """The 32 events, by index (perfex(1), DESCRIPTION)."""
    rows = {int(row["index"]): row for name in (base(cpu), cpu) for row in installed("perfex_events.csv")
            if row["cpu"] == name}
    return tuple(Event(i, rows[i]["name"], int(rows[i]["counter"]), rows[i]["description"]) for i in range(NUM_EVENTS))


def cycles(cpu: Cpu) -> tuple[int, ...]:
    """The events that are cycles: the R10000 has them on both counters."""
    return tuple(e.index for e in table(cpu) if e.name == table(cpu)[0].name)


def event_number(text: str, what: str) -> int:
    """An event as -e or the environment gives it.

    :raises PerfexError: names what was wrong with it
    """
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) >= NUM_EVENTS:
        raise PerfexError(f"{what}: {shown(text)} is not an event; events are numbers from 0 to {NUM_EVENTS - 1}")
    return int(text)


def choose(cpu: Cpu, given: Sequence[int], environ: Mapping[str, str], *, multiplex: bool = False) -> tuple[int, ...]:
    """The events to count.

    :param given: those of -e, at most two
    :param environ: T5_EVENT0 and T5_EVENT1 count where -e is not given
    :param multiplex: -a: all events
    :raises PerfexError: two events of one counter; no event in the environment

    Source: perfex(1), BASIC OPTIONS and CHANGE IN BEHAVIOR OF DEFAULT EVENTS.
    """
    if multiplex:
        return tuple(range(NUM_EVENTS))
    chosen = tuple(given) or tuple(event_number(environ[name], name) for name in ENVIRONMENT if environ.get(name))
    if not chosen:
        return (0,)
    if len(chosen) == 1:
        return (*chosen, 0 if chosen[0] >= _PER_COUNTER else _PER_COUNTER)
    first, second = (table(cpu)[i] for i in chosen)
    if first.counter == second.counter:
        raise PerfexError(f"conflicting counters: events {first.index} and {second.index} are both counted on counter"
                          f" {first.counter} (0 to 15 on counter 0, 16 to 31 on counter 1)")
    return chosen
