"""Counting events of this process, on the counters of libperfex (csrc/perfex)."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pypfm._c.libperfex import ffi, lib
from pypfm.common.arguments import expect_int, expect_type
from pypfm.common.counting import reason
from pypfm.errors import CountingError, InvalidTypeError, UnknownKeyError, listed, shown
from pypfm.perfex import events
from pypfm.perfex.backends.simulation import formulas
from pypfm.perfex.c_call import known_cpu, processor
from pypfm.perfex.model import Cpu, PerfexValueError
from pypfm.perfex.perf_table import read, rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["Counting", "counting"]

_WARM = 20  # times after which Python runs the same code always in the same way
_OFF = "counting was off all the time (perfex -s or -p)"
# Those that were stopped last: ``with counting() as c`` gives c another value when it counts already, and to free what
# c was before would take some 1500 instructions.
_kept: deque[Counting | None] = deque([None], maxlen=64)
_empty: dict[tuple[Any, ...], dict[int, int]] = {}  # what a region counts in which nothing is done
_WITHOUT_PERFEX = "valgrind runs this process, but not for perfex; under perfex --backend valgrind it is counted"


class Counting(Mapping[int, int]):
    """The counts of some events, by event; ``with`` starts them at 0, and stops and closes them.

    They can be read inside the ``with`` and after it; entering it again begins anew.

    :ivar cpu: whose events
    :ivar events: what is counted, in the order given
    """

    def __init__(self, numbers: tuple[int, ...], cpu: Cpu, table: Any) -> None:
        self.cpu: Cpu = cpu
        self.events = numbers
        self._table = table
        self._open: dict[int, Any] = {}
        self._counts: dict[int, int] = {}
        self._empty: dict[int, int] = {}
        self._told = True  # perfex --regions is told of this region
        self._region = False  # of perfex --regions; in a child of fork() that of its parent
        self._array: Any = None
        self._pid = 0

    def __enter__(self) -> Counting:
        if self._open:
            raise CountingError(errno.EINPROGRESS, "counting already")
        self._pid = os.getpid()
        self._counts = {}
        if not self._empty and lib.perfex_simulator() == lib.PERFEX_UNDER_PERFEX:
            self._measure_empty()
        self._begin()
        return self

    def _begin(self) -> None:
        """Open and start the counters."""
        try:
            for event in self.events:
                self._open[event] = self._opened(event)
            self._array = ffi.new("struct perfex_counter *[]", [*self._open.values()])
            ret = lib.perfex_counters_start(self._array, len(self._open))  # the last thing that takes time
            if ret < 0:
                self._checked(ret, self.events[0])
            if self._told:
                self._region = True
                lib.perfex_region(lib.PERFEX_REGION_START)
        except BaseException:
            self._open = {}
            self._end_region()
            raise

    def _measure_empty(self) -> None:
        """Measure what an empty region counts: that is subtracted, if it is the same each time."""
        of = (self.cpu, self.events, self._table)
        if of not in _empty:
            probe = Counting(self.events, self.cpu, self._table)
            probe._empty = dict.fromkeys(self.events, 0)
            for left in reversed(range(_WARM)):
                probe._told = left == 0  # to switch takes 0.1 s; with --regions nothing is counted before, an error
                with suppress(CountingError), probe:
                    pass
            if probe._counts:  # else counting is off, with perfex -s
                _empty[of] = probe._counts
        self._empty = _empty.get(of, {})

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            self.close()
        except CountingError:
            if kind is None:
                raise

    def close(self) -> None:
        """Stop and close the counters, as the end of ``with`` does; a second call does nothing.

        :raises CountingError: a count cannot be read; in a child process, where none can, the parent's go on
        """
        try:
            if self._open:
                self._end_region()
                self._expect_own()  # a child has the parent's descriptors: it would stop the parent's counters
                lib.perfex_counters_stop(self._array, len(self._open))
                self._counts = {event: self._read(event) for event in self._open}
        finally:
            if self._open and _kept[-1] is not self:
                _kept.append(self)
            self._open = {}  # which closes them

    def _end_region(self, end: Any = lib.perfex_region, how: int = lib.PERFEX_REGION_READ) -> None:
        """Tell perfex --regions that this region has ended; others may go on.  The functions are there at exit, too."""
        if self._region:
            self._region = False
            end(how)

    __del__ = _end_region

    def __getitem__(self, event: int | str) -> int:
        """Return the count so far, or when it was stopped; by number or by name.

        :raises UnknownKeyError: the event is not counted; the message says which are
        """
        if isinstance(event, str):
            try:
                number = events.find(self.cpu, event, "event")
            except PerfexValueError as error:
                raise UnknownKeyError(str(error)) from None
        else:
            number = _index(event)
        if number not in self:
            what = listed(self) if len(self) else "none; counting begins where ``with`` is entered"
            raise UnknownKeyError(f"event {shown(number)} is not counted; events counted are {what}")
        return self._read(number) if number in self._open else self._counts[number]

    def __repr__(self) -> str:
        what = "counting" if self._open else "counted" if self._counts else "not counted"
        return f"<Counting of {self.cpu} events {listed(self.events)}: {what}>"

    def __reduce__(self) -> Any:
        raise InvalidTypeError("counters are of one process: not copied or pickled; dict() of them has the counts")

    def _repr_html_(self) -> str:
        """Show the counts as a table, for a notebook."""
        from pypfm.common.notebook import mapping, preformatted
        try:
            return mapping(f"{self.cpu} events", {f"{n} {events.table(self.cpu)[n].name}": self[n] for n in self})
        except CountingError:  # the parent process's
            return preformatted(repr(self))

    def __contains__(self, event: object) -> bool:
        number = _index(event)
        return isinstance(number, int) and number in (self._open or self._counts)

    def __iter__(self) -> Iterator[int]:
        return iter(self._open or self._counts)

    def __len__(self) -> int:
        return len(self._open or self._counts)

    def _opened(self, event: int) -> Any:
        pointer: Any = ffi.new("struct perfex_counter **")
        self._checked(lib.perfex_counter_open(processor(self.cpu), event, self._table, pointer), event)
        return ffi.gc(pointer[0], lib.perfex_counter_close)

    def _expect_own(self) -> None:
        if self._pid != os.getpid():
            raise CountingError(errno.ENXIO, "these counters are the parent process's")

    def _read(self, event: int) -> int:
        self._expect_own()
        value: Any = ffi.new("uint64_t *")
        self._checked(lib.perfex_counter_read(self._open[event], value), event)
        return max(0, int(value[0]) - self._empty.get(event, 0))

    def _checked(self, ret: int, event: int) -> None:
        if ret < 0:
            raise CountingError(-ret, f"{self.cpu} event {event} ({events.table(self.cpu)[event].name}):"
                                      f" {self._why(-ret, event)}")

    def _why(self, code: int, event: int) -> str:
        if code == errno.EBUSY:
            return _OFF if lib.perfex_simulator() == lib.PERFEX_UNDER_PERFEX else "others had the counter all the time"
        if code != errno.ENODEV:
            return reason(code)
        if lib.perfex_simulator() != lib.PERFEX_NATIVE and self._table == read(None):
            return self._why_not_simulated(event)
        tried = rows(self._table, self.cpu)[event]
        notes = [row.note for row in tried if row.quality == "unavailable" and row.note]
        if notes or not tried:
            return notes[0] if notes else "not in the table of perf events"
        simulated = lib.perfex_is_simulated(processor(self.cpu), event)
        return reason(code) + ("; under perfex --backend valgrind it is simulated" if simulated else "")

    def _why_not_simulated(self, event: int) -> str:
        row = formulas.rows(self.cpu)[event]
        return _WITHOUT_PERFEX if lib.perfex_simulator() == lib.PERFEX_ONLY_VALGRIND else row.note


def _index(event: Any) -> Any:
    """Return the number that an object stands for; the object itself, if it stands for none."""
    try:
        return expect_int(event, "event")
    except InvalidTypeError:
        return event


def counting(*numbers: int | str, cpu: Cpu | None = None, perf_table: str | os.PathLike[str] | None = None) -> Counting:
    """Count events of all threads of this process, in user mode::

        with pypfm.perfex.counting(21, 26) as c:
            work()
        print(c[21], c[26])

    In a program that runs under ``perfex --backend valgrind``, or under perfex where there are no hardware counters,
    they are what is simulated, in place of the shipped perf events. An empty region then has some tens of instructions
    at most; that ``c`` is given its value takes some 200 where it is a global variable.

    Linux's counters are not those of the R10000: any number of events can be counted together,
    also two that start_counters() of C refuses because one of its counters counts both.

    :param numbers: events, 0 to 31, or their names (`events.find`); none: cycles (0)
    :param cpu: whose events; None: PERFEX_CPU, or r10000
    :param perf_table: a map of events to perf events in CSV; None: PERFEX_PERF_TABLE, or the shipped one
    :raises PerfexError: there is no such event or cpu (a ValueError), or the table is wrong
    :raises InvalidTypeError: an argument of another type
    :raises CountingError: entering: an event cannot be counted here (an OSError; errno ENODEV, EACCES, EAGAIN: the
        process makes threads faster than they can be opened, ENOMEM)

    Source: libperfex(3C).
    """
    if perf_table is not None:
        expect_type(perf_table, (str, os.PathLike), "perf_table")
    chosen = cpu or os.environ.get("PERFEX_CPU") or "r10000"
    expect_type(chosen, str, "cpu")
    path = perf_table or os.environ.get("PERFEX_PERF_TABLE")
    table = read(Path(os.fsdecode(path)) if path else None)
    known = known_cpu(chosen)
    return Counting(events.numbers(known, numbers or (0,), "event"), known, table)
