"""The events of the R10000 and R12000, and the choice of those that perfex counts."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pypfm._c.convert import string
from pypfm._c.libperfex import lib
from pypfm.common.arguments import expect_int
from pypfm.errors import shown
from pypfm.perfex.c_call import processor
from pypfm.perfex.model import Cpu, Event, PerfexError, PerfexValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["ENVIRONMENT", "NUM_EVENTS", "choose", "cycles", "event_number", "find", "table"]

#: Events are numbered from 0 to 31.
NUM_EVENTS: int = lib.PERFEX_NUM_EVENTS
#: The environment variables that name the events where no option does.
ENVIRONMENT = ("T5_EVENT0", "T5_EVENT1")


@cache
def table(cpu: Cpu) -> tuple[Event, ...]:
    """Return the 32 events, by index (perfex(1), DESCRIPTION)."""
    return tuple(Event(i, string(event.name), event.counter, string(event.description), string(event.short_name))
                 for i, event in enumerate(processor(cpu).events[0:NUM_EVENTS]))


def cycles(cpu: Cpu) -> tuple[int, ...]:
    """Return the events that are cycles: the R10000 has them on both counters."""
    return tuple(e.index for e in table(cpu) if e.name == table(cpu)[0].name)


def event_number(text: str, what: str) -> int:
    """Return the number of an event, as a file gives it.

    :raises PerfexValueError: names what was wrong with it
    """
    given = text.encode("utf-8", "surrogatepass")
    number = lib.perfex_event_number(given, len(given))
    if number < 0:
        raise PerfexValueError(f"{what}: {shown(text)} is not an event; events are numbers from 0 to {NUM_EVENTS - 1}")
    return number


def find(cpu: Cpu, text: str, what: str) -> int:
    """Find the event that a user means: by number, short name, name, or an unambiguous beginning of one of these names.

    Upper and lower case, ``-``, ``_`` and blanks are all the same.

    :param what: where it stands, for messages
    :raises PerfexValueError: there is none, or there are several; says which are near
    """
    given = text.encode("utf-8", "surrogatepass")
    bits = lib.perfex_event_matches(processor(cpu), given, len(given))
    found = [event for event in table(cpu) if bits >> event.index & 1]
    if len(found) == 1:
        return found[0].index
    if found:
        raise PerfexValueError(f"{what}: {shown(text)} may be any of {_listed(found)}")
    raise PerfexValueError(f"{what}: {shown(text)} is not an event; {_near(cpu, text)}")


def numbers(cpu: Cpu, given: Iterable[int | str], what: str) -> tuple[int, ...]:
    """Return the events that a program means, by number or as `find` has it.

    :param what: where they stand, for messages
    :raises PerfexValueError: there is no such event
    :raises InvalidTypeError: one is neither a number nor a name
    """
    texts = (str(one if isinstance(one, (str, bool)) else expect_int(one, what)) for one in given)  # True is no event
    return tuple(find(cpu, text, what) for text in texts)


def _listed(which: Iterable[Event]) -> str:
    return ", ".join(f"{event.short} ({event.index})" for event in which)


def _near(cpu: Cpu, text: str) -> str:
    """Name the events that an unknown word may have meant."""
    if not re.search("[A-Za-z]{2}", text):
        return f"events are numbers from 0 to {NUM_EVENTS - 1}, or names (perfex --list)"
    text = text.lower()
    names = [(name.lower(), event) for event in table(cpu) for name in (event.short, event.name)]
    words = [word for word in re.split("[-_ ]", text) if len(word) > 1]
    near = [event for name, event in names if all(word in name for word in words)]
    if not near:
        from difflib import get_close_matches
        like = get_close_matches(text, [part for name, _ in names for part in (name, name[:len(text)])])
        near = [event for name, event in names if name in like or name[:len(text)] in like]
    if not near:
        return "perfex --list shows the events"
    return f"near it: {_listed(dict.fromkeys(near))}; perfex --list shows all"


def _twins(cpu: Cpu, which: tuple[Event, ...]) -> str:
    """Name the events that the other counter has, too."""
    return "".join(f"; {twin.short} ({twin.index}) is event {event.index} there" for event in dict.fromkeys(which)
                   for twin in table(cpu) if twin.name == event.name and twin.counter != event.counter)


def choose(cpu: Cpu, given: Sequence[int], environ: Mapping[str, str], *, multiplex: bool = False) -> tuple[int, ...]:
    """Return the events to count.

    :param given: those of -e, at most two
    :param environ: T5_EVENT0 and T5_EVENT1 are taken if -e is not given
    :param multiplex: -a: all events
    :raises PerfexError: two events of one counter; no event in the environment

    Source: perfex(1), BASIC OPTIONS and CHANGE IN BEHAVIOR OF DEFAULT EVENTS.
    """
    if multiplex:
        return tuple(range(NUM_EVENTS))
    chosen = tuple(given) or tuple(find(cpu, environ[name], name) for name in ENVIRONMENT if environ.get(name))
    if not chosen:
        return (0,)
    if len(chosen) == 1:
        return (*chosen, 0 if table(cpu)[chosen[0]].counter else NUM_EVENTS // 2)
    first, second = (table(cpu)[i] for i in chosen)
    if first.counter == second.counter:
        which = f"0 to 15 on counter 0, 16 to 31 on counter 1{_twins(cpu, (first, second))}"
        raise PerfexError(f"conflicting counters: events {first.index} and {second.index} are both counted on counter"
                          f" {first.counter} ({which}); a simulation counts any together: --events"
                          f" {first.short},{second.short}")
    return chosen
