"""The calls of perfmon2, as functions that raise errors with the call, errno and what to do."""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pypfm._c.pfm3 import ffi, lib
from pypfm.errors import ContextError, errno_name

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["call", "error", "ffi", "has_ended", "lib", "on_cpu", "stopped"]

_MODEL = "LIBPFM_PERFMON=model, set before the program starts, counts what the program says happens"
_LOCKED = "no memory, or no more may be locked (ulimit -l): ask for a smaller buffer_size"
_REASONS = {
    errno.ENOSYS: f"perfmon2 is switched off: set LIBPFM_PERFMON before the program starts, to auto or host; {_MODEL}",
    errno.ENOTSUP: f"an event or a register has no counterpart on this host: count another event; {_MODEL}",
    errno.ENODEV: "this machine has no hardware counters, or not this one (virtual machines seldom have them):"
                  f" use another machine; {_MODEL}",
    errno.EBUSY: "in use: per-thread and system-wide contexts exclude each other, and a CPU has one of the latter;"
                 " close the other one, or count fewer events",
    errno.EEXIST: "the thread has a context already: close that one first",
    errno.ESRCH: "there is no such thread, or it may not be stopped with ptrace(2), or another one traces it;"
                 " LIBPFM_PERFMON=...,np does without that",
    errno.EPERM: "not permitted: another thread must be one that may be traced (ptrace(2)), and system-wide counting"
                 " needs CAP_PERFMON or /proc/sys/kernel/perf_event_paranoid of 0 or less",
    errno.ENOMEM: _LOCKED,
    errno.EMFILE: "no file descriptor left (ulimit -n): close some",
    errno.ENFILE: "no file descriptor left in the system",
    errno.EBADF: "the context's descriptor was closed: leave that to close()",
    errno.E2BIG: "too many registers or sets for one call",
    errno.ENXIO: f"only a model can be told what happens: {_MODEL}",
}
_OTHER_THREAD = (errno.ESRCH, errno.EPERM)
# Of one call, what says more.
_OF_CALL = {
    ("pfm_create_context", errno.EINVAL): "the sampling buffer is too small, or LIBPFM_PERFMON is none of auto, model,"
                                          " host, raw and off, with options after commas",
    ("pfm_restart", errno.EBUSY): "there is nothing to restart: no overflow has stopped the counters, or they have been"
                                  " restarted",
    ("pfm_start", errno.EINVAL): "the thread that was counted has ended",
    ("pfm_stop", errno.EINVAL): "the thread that was counted has ended",
    ("pfm_load_context", errno.EINVAL): "the calling thread does not run on the context's CPU",
}


def error(name: str, code: int, about: str, reason: str = "") -> ContextError:
    """Make the exception of a call that failed.

    :param name: of the call; empty: none was made
    :param about: what it was for
    :param reason: what to do; empty: what the number says
    """
    reason = reason or _OF_CALL.get((name, code)) or _REASONS.get(code) or os.strerror(code)
    words = [about, *([name] if name else []), errno_name(code), reason]
    return ContextError(code, ": ".join(words), name)


def call(name: str, about: str, *args: Any, function: str = "", elsewhere: str = "") -> int:
    """Call C.

    What errno was is there again afterwards: a signal handler may come between another call and its errno.

    :param about: what it is for, in an exception
    :param function: of the extension, if it is not the call itself
    :param elsewhere: what to do if it is refused because the caller is another thread; empty: what errno says
    :raises ContextError: it fails
    """
    before = ffi.errno
    ret = int(getattr(lib, function or name)(*args))
    if ret >= 0:
        return ret
    code, ffi.errno = ffi.errno, before
    raise error(name, code, about, elsewhere if code in _OTHER_THREAD else "")


@contextmanager
def on_cpu(cpu: int | None, about: str) -> Iterator[None]:
    """Move to a CPU for a while, as calls on a system-wide context require; None: stay anywhere.

    :raises ContextError: the thread may not run there
    """
    if cpu is None:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError as refused:
        raise error("sched_setaffinity", refused.errno or 0, about,
                    f"the thread may not run on CPU {cpu}; it may on {sorted(before)}") from None
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def has_ended(tid: int | None) -> bool:
    """Tell whether a thread is gone; Python has joined a thread a moment before the system has."""
    if tid in {t.native_id for t in threading.enumerate()}:
        return False
    end = time.monotonic() + 1
    while there := os.path.exists(f"/proc/self/task/{tid}"):
        if time.monotonic() > end:
            break
        time.sleep(0.001)
    return not there


@contextmanager
def stopped(tid: int | None) -> Iterator[bool]:
    """Stop another thread by ptrace(2) for a while, if that is allowed; yield whether it is stopped."""
    if tid is None:
        yield False
        return
    before, signal = ffi.errno, ffi.new("int *")
    is_stopped = lib.pypfm_stop_thread(tid, signal) == 0
    try:
        yield is_stopped
    finally:
        if is_stopped:
            lib.pypfm_release_thread(tid, signal[0])
        ffi.errno = before
