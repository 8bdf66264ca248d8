"""Counters of NetBSD's pmc interface as objects::

    with Counter("page-faults") as c:
        work()
    print(c.value)

A machine - this host, or a model - is an argument here; the environment and what
`pypfm.pmc` does are of no effect.  Source: pmc_control(2).
"""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from pypfm._mirror import string
from pypfm._pmc import ffi, lib
from pypfm._pmc_hand import advance
from pypfm.errors import (
    CounterBusyError,
    CounterError,
    CounterEventError,
    CounterNumberError,
    CounterRunningError,
    NotConfiguredError,
    UnknownEventError,
    unknown_event,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["MACHINES", "Counter", "CounterEvent", "Machine", "open_machine"]


def _machines() -> dict[str, Any]:
    found: dict[str, Any] = {}
    while (c_machine := lib.pmc_machine_at(len(found))) != ffi.NULL:
        found[string(c_machine.name)] = c_machine
    return found


_C_MACHINES = _machines()
MACHINES = tuple(_C_MACHINES)
"""Names of the machines; linux is this host, the others are models."""

_CLASSES = {
    errno.ENXIO: NotConfiguredError, errno.EINPROGRESS: CounterRunningError, errno.EINVAL: CounterNumberError,
    errno.EBUSY: CounterBusyError, errno.ENODEV: CounterEventError,
}


@dataclass(frozen=True)
class CounterEvent:
    """An event of a machine.

    :ivar id: what struct pmc_counter_cfg calls event_id
    :ivar name: its name in libpmc
    :ivar counters: numbers of the counters that can count it
    :ivar description: what it counts
    """

    id: int
    name: str
    counters: tuple[int, ...]
    description: str

    def to_json(self) -> dict[str, object]:
        return {"id": self.id, "name": self.name, "counters": list(self.counters), "description": self.description}


class Machine(Mapping[str, CounterEvent]):
    """A machine with its counters for this process: a mapping of its events by name.

    :param name: one of `MACHINES`
    :raises CounterError: there is no such machine, or no memory
    """

    def __init__(self, name: str = "linux") -> None:
        if name not in _C_MACHINES:
            message = f"no machine {name!r}; machines are {', '.join(MACHINES)}"
            raise CounterError(errno.ENXIO, message)
        self.name = name
        self._c = _C_MACHINES[name]
        state = lib.pmc_state_new(name.encode())
        if state == ffi.NULL:
            raise CounterError(ffi.errno, os.strerror(ffi.errno))
        self._state = ffi.gc(state, lib.pmc_state_free)
        self._counters: WeakValueDictionary[int, Counter] = WeakValueDictionary()
        self._events = {e.name: e for e in map(self._event, range(self._c.table.count))}

    def _event(self, index: int) -> CounterEvent:
        event, row = self._c.table.events[index], self._c.table.rows[index]
        counters = tuple(n for n in range(self.num_counters) if row.counters >> n & 1)
        return CounterEvent(event.val, string(event.name), counters, string(row.description))

    @property
    def num_counters(self) -> int:
        return int(self._c.num_counters)

    @property
    def is_model(self) -> bool:
        """Whether it counts only what `advance` gives it."""
        return self.name != "linux"

    def __getitem__(self, name: str) -> CounterEvent:
        try:
            return self._events[name]
        except KeyError:
            message = unknown_event(self.name, name, list(self._events))
            raise UnknownEventError(errno.ESRCH, message) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._events)

    def __len__(self) -> int:
        return len(self._events)

    def __contains__(self, name: object) -> bool:
        return name in self._events

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def perf_event(self, event: str) -> tuple[int, int]:
        """Type and config of an event of linux, as perf_event_open() takes them."""
        row = self._c.table.rows[lib.pmc_machine_event(self._c, self[event].id)]
        return int(row.type), int(row.config)

    def advance(self, event: str, count: int = 1) -> None:
        """Let a model execute events in this process (C: pmc_model_advance).

        :param event: name of an event
        :param count: how many, 0 to 2^64 - 1
        :raises CounterError: the machine is no model, or has no such event
        """
        if not 0 <= count < 1 << 64:
            message = f"count {count}: events are counted from 0 to 2^64 - 1"
            raise CounterNumberError(errno.EINVAL, message)
        if not self.is_model:
            message = f"{self.name} counts by itself; machines to advance are {', '.join(MACHINES[1:])}"
            raise CounterEventError(errno.ENODEV, message)
        advance(self._state, self[event].id, count)

    @contextmanager
    def profile(self, event: str, every: int, counter: int | None = None) -> Iterator[int]:
        """Send this process SIGPROF at each so many events; yields the counter's number.

        :param event: name of an event
        :param every: events between two signals
        :param counter: which counter; None: the first that can
        :raises CounterError: EBUSY, a process runs the counter; ENODEV, the event cannot interrupt
        """
        number = self._try(event, counter, lib.PMC_OP_PROFSTART, every)
        try:
            yield number
        finally:
            self._control(number, lib.PMC_OP_PROFSTOP, ffi.NULL, "")

    def _try(self, event: str, counter: int | None, op: int, reset: int) -> int:
        """Configure or profile on the counter given, or on the first that is free; its number."""
        if not 0 <= reset < 1 << 64:
            message = f"{reset} events between two overflows: 0 to 2^64 - 1 are possible"
            raise CounterNumberError(errno.EINVAL, message)
        found = self[event]
        if counter is not None and counter not in range(self.num_counters):
            raise self._error(counter, event, errno.EINVAL)
        cfg = ffi.new("struct pmc_counter_cfg *", {"event_id": found.id, "reset_value": reset})
        for number in found.counters if counter is None else (counter,):
            if number in self._counters:  # of an object that lives, running or not
                continue
            try:
                self._control(number, op, cfg, event)
            except CounterBusyError:
                continue
            return number
        which = f"counter {counter} is" if counter is not None else f"counters {found.counters} are"
        message = f"{self.name}, {event}: {which} in use, by this process or for profiling"
        raise CounterBusyError(errno.EBUSY, message)

    def _control(self, number: int, op: int, argp: object, event: str) -> None:
        if lib.pmc_state_control(self._state, number, op, argp):
            raise self._error(number, event, ffi.errno)

    def _info(self, number: int, op: int) -> int:
        value: Any = ffi.new("uint64_t *")
        if lib.pmc_state_get_info(self._state, number, op, value):
            raise self._error(number, "", ffi.errno)
        return int(value[0])

    def _error(self, number: int, event: str, code: int) -> CounterError:
        about = f"{self.name}, counter {number}" + (f", {event}" if event else "")
        reason = {
            errno.ENXIO: "not configured",
            errno.EINPROGRESS: "running already",
            errno.EINVAL: f"no such counter; they are 0 to {self.num_counters - 1}",
            errno.EBUSY: "in use",
            errno.ENODEV: "the event is not valid for this counter, or not available on this machine",
        }.get(code, os.strerror(code))
        return _CLASSES.get(code, CounterError)(code, f"{about}: {reason}")


@cache
def open_machine(name: str = "linux") -> Machine:
    """The machine that counters given by name share.

    :param name: one of `MACHINES`
    """
    return Machine(name)


class Counter:
    """A counter, configured for an event; ``with`` starts and stops it.

    :param event: name of an event
    :param machine: a name, or a `Machine`
    :param reset: events between two overflows; 0: the width of the counter
    :param number: which counter; None: the first free one that can count the event
    :raises CounterError: an OSError; errno is ESRCH (no such event), ENODEV (not for this
        counter, or not on this host), EBUSY (in use), EINVAL (no such counter)

    Source: pmc_control(2), PMC_OP_CONFIGURE.
    """

    def __init__(self, event: str, *, machine: str | Machine = "linux", reset: int = 0,
                 number: int | None = None) -> None:
        self.machine = machine if isinstance(machine, Machine) else open_machine(machine)
        self.event: CounterEvent = self.machine[event]
        self.number = self.machine._try(event, number, lib.PMC_OP_CONFIGURE, reset)
        self.machine._counters[self.number] = self
        weakref.finalize(self, lib.pmc_state_control, self.machine._state, self.number, lib.PMC_OP_STOP, ffi.NULL)

    def start(self) -> None:
        """Start, or go on where it stopped (PMC_OP_START)."""
        self.machine._control(self.number, lib.PMC_OP_START, ffi.NULL, self.event.name)

    def stop(self) -> None:
        """Stop (PMC_OP_STOP); the value stays."""
        self.machine._control(self.number, lib.PMC_OP_STOP, ffi.NULL, self.event.name)

    @property
    def value(self) -> int:
        """Events counted since it was configured."""
        return self.machine._info(self.number, lib.PMC_INFO_COUNTER_VALUE)

    @property
    def accumulated(self) -> int:
        """Events that ended child processes have counted."""
        return self.machine._info(self.number, lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE)

    def __enter__(self) -> Counter:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.stop()
