"""Counters of NetBSD's pmc interface as objects::

    with Counter("page-faults") as c:
        work()
    print(c.value)

A machine - this host, or a model - is an argument here; the environment and what
`pypfm.pmc` does are of no effect.  A counter is in use until it is closed, which the end of its
``with`` does, or until nothing refers to it any more.  Source: pmc_control(2).
"""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from pypfm._c.convert import string
from pypfm._c.pmc import ffi, lib
from pypfm._c.pmc_hand import advance
from pypfm.common.arguments import expect_int, expect_type
from pypfm.common.counting import PerfEvent
from pypfm.common.counting import reason as kernel_reason
from pypfm.common.in_notebooks import Tabled
from pypfm.errors import (
    CounterError,
    CountingError,
    EventNotFoundError,
    InvalidTypeError,
    UnknownKeyError,
    shown,
    unknown_event,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import NoReturn

__all__ = ["MACHINES", "Counter", "CounterEvent", "Machine", "open_machine"]


def _machines() -> dict[str, Any]:
    found: dict[str, Any] = {}
    while (c_machine := lib.pmc_machine_at(len(found))) != ffi.NULL:
        found[string(c_machine.name)] = c_machine
    return found


_C_MACHINES = _machines()
MACHINES = tuple(_C_MACHINES)
"""Names of the machines; linux is this host, the others are models."""

_REASONS = {
    errno.ENXIO: "not configured",
    errno.EINPROGRESS: "running already",
    errno.EBUSY: "in use",
    errno.ENOMEM: "no memory, or no file descriptor left (ulimit -n)",
    errno.EACCES: "not permitted; see /proc/sys/kernel/perf_event_paranoid (2 or less lets a program count itself), "
                  "or what the container forbids",
    errno.EAGAIN: "the process makes threads faster than they can be opened; configure and start the counter before "
                  "them, or try again",
}
_LOST = ("not known: more than 4095 processes had counters of a model at once, or more than 63 each below the other, "
         "and some of them found no place for what they counted; let fewer run at once")
_NO_THREADS = "the process has several threads and no /proc lists them, or has closed the counter's descriptors"
_NO_INTERRUPT = "the counters of this machine do not interrupt: they cannot profile"

_STOP, _NULL = lib.PMC_OP_STOP, ffi.NULL
_INFO = (lib.PMC_INFO_COUNTER_VALUE, lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE)


@dataclass(frozen=True)
class CounterEvent(Tabled):
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
    :raises UnknownKeyError: there is no such machine
    :raises CounterError: no memory
    """

    def __init__(self, name: str = "linux") -> None:
        expect_type(name, str, "name of a machine")
        if name not in _C_MACHINES:
            raise UnknownKeyError(f"no machine {shown(name)}; machines are {', '.join(MACHINES)}")
        self.name = name
        self._c = _C_MACHINES[name]
        state = lib.pmc_state_new(name.encode())
        if state == ffi.NULL:
            raise CounterError(ffi.errno, os.strerror(ffi.errno))
        self._state: Any = ffi.gc(state, lib.pmc_state_free)
        self._taken: dict[int, object] = {}  # numbers of counters; who puts one in has it, also among threads
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
        """Return the event of a name.

        :raises EventNotFoundError: there is none; the message names the nearest
        """
        if name not in self:
            raise EventNotFoundError(unknown_event(self.name, name, self))
        return self._events[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._events)

    def __len__(self) -> int:
        return len(self._events)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._events

    def _repr_html_(self) -> str:
        """Show the events as a table, for a notebook."""
        from pypfm.common.notebook import records
        return records(f"Machine {self.name}: {len(self)} events{', closed' if self.closed else ''}", self.values(),
                       ("id", "name", "counters", "description"))

    def __repr__(self) -> str:
        return f"<Machine {self.name}: {len(self)} events{', closed' if self.closed else ''}>"

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            f"the counters of a machine are of one process: not copied or pickled; make a Machine({self.name!r})")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def closed(self) -> bool:
        return self._state is None

    def close(self) -> None:
        """Close its counters and give back what it holds; a second call does nothing.

        What the counters held can still be read.
        """
        for reference in self._counters.valuerefs():
            if (counter := reference()) is not None:
                counter.close()
        self._state = None  # freed once no call uses it

    def __enter__(self) -> Machine:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> Any:
        """Return the state in C.

        :raises CounterError: it is closed
        """
        state = self._state
        if state is None:
            raise CounterError(errno.EBADF, f"{self.name}: the machine is closed; make another one")
        return state

    def perf_event(self, event: str) -> tuple[int, int]:
        """Return type and config of an event of linux, as perf_event_open() takes them."""
        row = self._c.table.rows[lib.pmc_machine_event(self._c, self[event].id)]
        return int(row.type), int(row.config)

    def advance(self, event: str, count: int = 1) -> None:
        """Let a model execute events in this process (C: pmc_model_advance).

        :param event: name of an event
        :param count: how many, 0 to 2^64 - 1
        :raises CounterError: the machine is no model, or has no such event
        """
        count = expect_int(count, "count")
        if not 0 <= count < 1 << 64:
            raise CounterError(errno.EINVAL, f"count {shown(count)}: events are counted from 0 to 2^64 - 1")
        if not self.is_model:
            raise CounterError(errno.ENODEV,
                f"{self.name} counts by itself; machines to advance are {', '.join(MACHINES[1:])}")
        advance(self._open(), self[event].id, count)

    @contextmanager
    def profile(self, event: str, every: int, counter: int | None = None) -> Iterator[int]:
        """Send this process SIGPROF each time so many events have happened; yield the counter's number.

        :param event: name of an event
        :param every: events between two signals
        :param counter: which counter; None: the first that can
        :raises CounterError: EBUSY, a process runs the counter; ENODEV, the event cannot interrupt
        """
        number = self._try(event, counter, lib.PMC_OP_PROFSTART, every)
        try:
            yield number
        finally:
            try:
                if not self.closed:  # which ends it, too
                    self._control(number, lib.PMC_OP_PROFSTOP, ffi.NULL, "")
            finally:
                del self._taken[number]

    def _try(self, event: str, counter: int | None, op: int, reset: int) -> int:
        """Configure or profile on the given counter, or take the first free one; return its number."""
        reset = expect_int(reset, "events between two overflows")
        if not 0 <= reset < 1 << 64:
            raise CounterError(errno.EINVAL,
                f"{shown(reset)} events between two overflows: 0 to 2^64 - 1 are possible")
        found = self[event]
        if counter is not None:
            counter = int(expect_int(counter, "number of a counter"))
            if counter not in range(self.num_counters):
                raise self._error(counter, event, errno.EINVAL)
        cfg = ffi.new("struct pmc_counter_cfg *", {"event_id": found.id, "reset_value": reset})
        for number in found.counters if counter is None else (counter,):
            mine = object()
            if self._taken.setdefault(number, mine) is not mine:
                continue
            try:
                self._control(number, op, cfg, event)
            except BaseException as error:
                del self._taken[number]
                if not (isinstance(error, CounterError) and error.errno == errno.EBUSY):
                    raise
            else:
                return number
        which = f"counter {counter} is" if counter is not None else f"counters {found.counters} are"
        raise CounterError(errno.EBUSY, f"{self.name}, {event}: {which} in use, by this process or for profiling")

    def _control(self, number: int, op: int, argp: object, event: str) -> None:
        if lib.pmc_state_control(self._open(), number, op, argp):
            raise self._error(number, event, ffi.errno)

    def _info(self, number: int, op: int) -> int:
        value: Any = ffi.new("uint64_t *")
        if lib.pmc_state_get_info(self._open(), number, op, value):
            code = ffi.errno
            lost = code == errno.ENOMEM and op == lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE and self.is_model
            raise self._error(number, "what child processes counted" if lost else "", code, _LOST if lost else None)
        return int(value[0])

    def _error(self, number: int, event: str, code: int, reason: str | None = None) -> CounterError:
        about = f"{self.name}, counter {shown(number)}" + (f", {event}" if event else "")
        if code == errno.EINVAL:
            reason = f"no such counter; they are 0 to {self.num_counters - 1}"
        elif code == errno.ENODEV:
            reason = self._why_not(number, event)
        reason = reason or _REASONS.get(code) or os.strerror(code)
        return CounterError(code, f"{about}: {reason}")


    def _why_not(self, number: int, event: str) -> str:
        """Describe why there is no such counter, for which C has one number: ask the kernel once more, as by pmc.

        :param event: its name; empty: one that was there
        """
        if event and number not in (counters := self[event].counters):
            return f"the event is not valid for this counter; it is for {', '.join(map(str, counters))}"
        if self.is_model:
            return _NO_INTERRUPT
        if event:
            kind, config = self.perf_event(event)
            try:
                PerfEvent({"type": kind, "config": config, "inherit": 1}).close()
            except CountingError as error:
                return kernel_reason(error.errno or errno.ENODEV)
        return _NO_THREADS


_shared: dict[str, Machine] = {}


def open_machine(name: str = "linux") -> Machine:
    """Return the machine that counters given by name share; once it is closed, another one.

    :param name: one of `MACHINES`
    """
    expect_type(name, str, "name of a machine")
    found = _shared.get(name)
    if found is not None and found.closed:
        del _shared[name]
        found = None
    return found or _shared.setdefault(name, Machine(name))


def _give_back(state: object, number: int, taken: dict[int, object]) -> None:
    """Stop a counter, which nobody else has taken yet, and let others have it."""
    lib.pmc_state_control(state, number, _STOP, _NULL)
    taken.pop(number, None)


class Counter:
    """A counter, configured for an event; ``with`` starts it, and stops and closes it.

    To stop and go on, call `start` and `stop`.  What it held can be read when it is closed, too.

    :param event: name of an event
    :param machine: a name, or a `Machine`
    :param reset: events between two overflows; 0: the width of the counter
    :param number: which counter; None: the first free one that can count the event
    :raises EventNotFoundError: the machine has no such event
    :raises CounterError: an OSError; errno is ENODEV (not for this
        counter, or not on this host), EBUSY (in use), EINVAL (no such counter), EACCES (not
        permitted), EAGAIN (the process makes threads too fast), ENOMEM

    Source: pmc_control(2), PMC_OP_CONFIGURE.
    """

    def __init__(self, event: str, *, machine: str | Machine = "linux", reset: int = 0,
                 number: int | None = None) -> None:
        expect_type(machine, (str, Machine), "machine")
        self.machine = machine if isinstance(machine, Machine) else open_machine(machine)
        self.event: CounterEvent = self.machine[event]
        state = self.machine._open()
        self.number = self.machine._try(event, number, lib.PMC_OP_CONFIGURE, reset)
        self._last: dict[int, int | CounterError] | None = None
        self._forget = weakref.finalize(self, _give_back, state, self.number, self.machine._taken)
        self.machine._counters[self.number] = self

    def __repr__(self) -> str:
        return f"<Counter {self.number} of {self.machine.name}: {self.event.name}{', closed' if self.closed else ''}>"

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            f"a counter is in use once: not copied or pickled; make another Counter({self.event.name!r})")

    def start(self) -> None:
        """Start, or continue from the last value (PMC_OP_START).

        :raises CounterError: it runs already (EINPROGRESS); or as `Counter`
        """
        self._control(lib.PMC_OP_START)

    def stop(self) -> None:
        """Stop (PMC_OP_STOP); the value stays."""
        self._control(lib.PMC_OP_STOP)

    @property
    def closed(self) -> bool:
        return self._last is not None

    def close(self) -> None:
        """Stop for good: another `Counter` can have its counter.  A second call does nothing.

        `value` and `accumulated` stay what they are at this moment.
        """
        held = self._forget.detach()
        if held is None:  # closed, or another thread is about it
            return
        state, number, taken = held[2]
        try:
            lib.pmc_state_control(state, number, _STOP, _NULL)
            self._last = {what: self._read(what) for what in _INFO}
        finally:
            self.machine._counters.pop(number, None)
            _give_back(state, number, taken)

    @property
    def value(self) -> int:
        """Return the events counted since it was configured, until it was closed.

        :raises CounterError: it cannot be read: ENODEV (the program has closed its descriptors)
        """
        return self._info(lib.PMC_INFO_COUNTER_VALUE)

    @property
    def accumulated(self) -> int:
        """Return the events counted by child processes which ended before it was closed.

        :raises CounterError: it cannot be read: ENODEV, as `value`; ENOMEM, more than 4095 processes had
            counters of a model at once, or more than 63 each below the other, so that what some of them counted is
            not known
        """
        return self._info(lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE)

    def __enter__(self) -> Counter:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            if not self.closed:
                self.stop()
        except CounterError:
            if kind is None:
                raise
        finally:
            self.close()

    def _control(self, op: int) -> None:
        if self.closed:
            raise CounterError(errno.EBADF,
                f"{self.machine.name}, counter {self.number}, {self.event.name}: closed; make another Counter")
        self.machine._control(self.number, op, ffi.NULL, self.event.name)

    def _read(self, what: int) -> int | CounterError:
        try:
            return self.machine._info(self.number, what)
        except CounterError as error:
            return error

    def _info(self, what: int) -> int:
        found = self._read(what)
        if self._last is not None:  # since then, another one may have the counter
            found = self._last[what]
        if isinstance(found, CounterError):
            raise found.with_traceback(None)
        return found
