"""Counting with perf_event_open(), through the C engine (csrc/counting)."""

from __future__ import annotations

import errno
import os
from typing import Any, NamedTuple

from pypfm._pfm4 import ffi, lib
from pypfm.errors import CountingError

__all__ = ["Count", "PerfEvent", "reason"]

_NO_PERMISSION = "not permitted; see /proc/sys/kernel/perf_event_paranoid"
_REASONS = {
    errno.EPERM: _NO_PERMISSION,
    errno.EACCES: _NO_PERMISSION,
    errno.ENOENT: "no such counter on this machine (hardware counters are rare in virtual machines)",
    errno.ENODEV: "no such counter on this machine",
    errno.EOPNOTSUPP: "the processor does not support it",
}


def reason(code: int) -> str:
    """Why perf_event_open() refuses, in words."""
    return _REASONS.get(code, f"perf_event_open refuses it: {os.strerror(code)}")


class Count(NamedTuple):
    """What a counter holds.

    :ivar value: events
    :ivar enabled: nanoseconds for which it was on
    :ivar running: nanoseconds for which it had a counter of the PMU
    """

    value: int
    enabled: int
    running: int


class PerfEvent:
    """An event of a thread, switched off at first; ``with`` closes it.

    :param attr: struct perf_event_attr: a pointer, its bytes, or fields by name
    :param pid: the thread, or the process whose main thread it is; 0: the calling thread
    :raises CountingError: the kernel refuses; errno says why
    """

    def __init__(self, attr: Any, pid: int = 0, name: str = "event") -> None:
        self.name = name
        c_attr: Any = ffi.new("struct perf_event_attr *")
        if isinstance(attr, bytes):
            ffi.memmove(c_attr, attr, len(attr))
        else:
            for field, value in attr.items():
                setattr(c_attr, field, value)
        self._fd = self._checked(lib.counting_open_thread(c_attr, pid))

    def _checked(self, ret: int) -> int:
        if ret < 0:
            raise CountingError(-ret, f"{self.name}: {reason(-ret)}")
        return ret

    def start(self) -> None:
        """Set it to 0 and switch it on."""
        self._checked(lib.counting_start(self._fd))

    def stop(self) -> None:
        """Switch it off."""
        self._checked(lib.counting_stop(self._fd))

    def read(self) -> Count:
        """What it holds."""
        value: Any = ffi.new("struct counting_value *")
        self._checked(lib.counting_read(self._fd, value))
        return Count(value.value, value.time_enabled, value.time_running)

    def close(self) -> None:
        lib.counting_close(self._fd)

    def __enter__(self) -> PerfEvent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
