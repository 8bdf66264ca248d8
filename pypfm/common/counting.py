"""Counting with perf_event_open(), through the C engine (csrc/counting)."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pypfm._c.convert import string
from pypfm._c.pfm4 import ffi, lib
from pypfm.errors import CountingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "CLOCKS", "SCHEDULER", "Count", "Life", "PerfEvent", "Ring", "attr_bytes", "counts_both", "is_always_0", "reason",
    "unit",
]

# Software events for which the kernel does not ask in which mode the processor is.  A clock goes on in both, whatever
# is excluded; what the scheduler does happens in kernel mode, and is 0 where that is excluded.
CLOCKS = frozenset({lib.PERF_COUNT_SW_CPU_CLOCK, lib.PERF_COUNT_SW_TASK_CLOCK})
SCHEDULER = frozenset({lib.PERF_COUNT_SW_CONTEXT_SWITCHES, lib.PERF_COUNT_SW_CPU_MIGRATIONS,
                       lib.PERF_COUNT_SW_CGROUP_SWITCHES})

_NO_COUNTER = ("no such counter on this machine (hardware counters are rare in virtual machines; software events need"
               " none)")
_NO_PERMISSION = "not permitted; see /proc/sys/kernel/perf_event_paranoid"
_REASONS = {
    errno.EPERM: _NO_PERMISSION,
    errno.EACCES: _NO_PERMISSION,
    errno.ENOENT: _NO_COUNTER,
    errno.ENODEV: _NO_COUNTER,
    errno.EOPNOTSUPP: "the processor does not support it",
    errno.EAGAIN: "the process makes threads faster than they can be opened; start the counters first, or try again",
    errno.ENOMEM: "no memory, or no file descriptor left (ulimit -n)",
    errno.EBUSY: "the counter was never scheduled (all are in use)",
    errno.EBADF: "the descriptor of the counter is closed",
}


def reason(code: int) -> str:
    """Describe why perf_event_open(), or a counter that it has opened, refuses."""
    return _REASONS.get(code, f"perf_event_open refuses it: {os.strerror(code)}")


def _is(attr: Mapping[str, int], events: frozenset[int]) -> bool:
    return attr.get("type") == lib.PERF_TYPE_SOFTWARE and attr.get("config") in events


def unit(attr: Mapping[str, int]) -> Literal["events", "ns"]:
    """Return the unit in which an event counts: events, or ns."""
    return "ns" if _is(attr, CLOCKS) else "events"


def counts_both(attr: Mapping[str, int]) -> bool:
    """Tell whether the kernel counts user and kernel mode, although one of them is excluded."""
    return _is(attr, CLOCKS) and bool(attr.get("exclude_user") or attr.get("exclude_kernel"))


def is_always_0(attr: Mapping[str, int]) -> bool:
    """Tell whether the event happens in kernel mode only, and that mode is excluded."""
    return _is(attr, SCHEDULER) and bool(attr.get("exclude_kernel"))


class Count(NamedTuple):
    """The value of a counter, and the times for which it was on.

    :ivar value: events
    :ivar enabled: nanoseconds for which it was on
    :ivar running: nanoseconds for which it had a counter of the PMU
    """

    value: int
    enabled: int
    running: int


class Life(NamedTuple):
    """A record that a thread has begun, or has taken another name.

    :ivar time: nanoseconds
    :ivar parent: the thread that made it, or 0
    :ivar name: the new one, or nothing
    """

    time: int
    pid: int
    tid: int
    parent: int
    name: str


def attr_bytes(fields: Mapping[str, int]) -> bytes:
    """Return struct perf_event_attr with these fields, all others 0."""
    c_attr: Any = ffi.new("struct perf_event_attr *")
    for field, value in fields.items():
        setattr(c_attr, field, value)
    return bytes(ffi.buffer(c_attr))


class PerfEvent:
    """An event of a thread, switched off at first; ``with`` closes it.

    :param attr: struct perf_event_attr: a pointer, its bytes, or fields by name
    :param pid: the thread, or the process whose main thread it is; 0: the calling thread
    :param cpu: count on this processor only; -1: on all
    :raises CountingError: the kernel refuses; errno says why
    """

    def __init__(self, attr: Any, pid: int = 0, name: str = "event", cpu: int = -1) -> None:
        self.name = name
        c_attr: Any = ffi.new("struct perf_event_attr *")
        data = attr if isinstance(attr, bytes) else attr_bytes(attr)
        ffi.memmove(c_attr, data, len(data))
        self._fd = self._checked(lib.counting_open_cpu(c_attr, pid, cpu))
        self._owner = os.getpid()

    def _checked(self, ret: int) -> int:
        if ret < 0:
            raise CountingError(-ret, f"{self.name}: {reason(-ret)}")
        return ret

    def _expect_own(self) -> None:
        """Refuse a child process: it has the parent's descriptor, and would stop the parent's event."""
        if self._owner != os.getpid():
            raise CountingError(errno.ENXIO, f"{self.name}: the event is the parent process's")

    def start(self) -> None:
        """Set it to 0 and switch it on; only the process that has opened the event may do this, `resume` and `stop`."""
        self._expect_own()
        self._checked(lib.counting_start(self._fd))

    def resume(self) -> None:
        """Switch it on; it goes on from its value."""
        self._expect_own()
        self._checked(lib.counting_resume(self._fd))

    def stop(self) -> None:
        """Switch it off."""
        self._expect_own()
        self._checked(lib.counting_stop(self._fd))

    def read(self) -> Count:
        """Read the counter."""
        self._expect_own()
        value: Any = ffi.new("struct counting_value *")
        self._checked(lib.counting_read(self._fd, value))
        return Count(value.value, value.time_enabled, value.time_running)

    def count(self) -> int:
        """Return the count, scaled to the whole time if other events had the PMU's counter for a part of it.

        :raises CountingError: EBUSY, they had it all the time
        """
        count: Any = ffi.new("uint64_t *")
        self._checked(lib.counting_scale(ffi.new("struct counting_value *", self.read()), count))
        return int(count[0])

    def lost(self) -> int:
        """Return how many records found no room in its ring (`ring`), as far as the kernel counts them."""
        lost: Any = ffi.new("uint64_t *")
        self._checked(lib.counting_lost(self._fd, lost))
        return int(lost[0])

    def ring(self, pages: int) -> Ring:
        """Have the kernel record the counts of threads that end; call it before the first of them ends.

        :param pages: of memory for the records, a power of 2; fewer where memory may not be locked
        """
        ring: Any = ffi.new("struct counting_ring *")
        self._checked(lib.counting_ring_open(self._fd, pages, ring))
        return Ring(self._fd, ring)

    def close(self) -> None:
        """Close it; a second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            lib.counting_close(fd)

    def __enter__(self) -> PerfEvent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Ring:
    """The records of an inherited event of one processor.

    :ivar fd: can be read when the memory is half full
    :ivar lost: records that found no place, as far as the records themselves say
    """

    _ROOM = 256

    def __init__(self, fd: int, ring: Any) -> None:
        self.fd = fd
        self.lost = 0
        self._ring = ring
        self._ends: Any = ffi.new("struct counting_end[]", self._ROOM)

    def take(self) -> Iterator[tuple[int, int, Count]]:
        """Yield process, thread and count of the threads that have ended."""
        lost: Any = ffi.new("uint64_t *")
        taken = self._ROOM
        while taken == self._ROOM:
            taken = lib.counting_ring_take(self._ring, self._ends, self._ROOM, lost)
            for end in self._ends[0:taken]:
                yield end.pid, end.tid, Count(end.value.value, end.value.time_enabled, end.value.time_running)
        self.lost += lost[0]

    def lives(self) -> Iterator[Life]:
        """Yield the threads that have begun, and new names of threads, from an event that records these."""
        taken = self._ROOM
        lives: Any = ffi.new("struct counting_life[]", self._ROOM)
        while taken == self._ROOM:
            taken = lib.counting_ring_lives(self._ring, lives, self._ROOM)
            for life in lives[0:taken]:
                yield Life(life.time, life.pid, life.tid, life.parent, string(life.name))

    def close(self) -> None:
        lib.counting_ring_close(self._ring)
