"""The messages of a context, and its descriptor."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal as signals
import struct
import time
import warnings
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from pypfm._c.pfm3 import ffi, lib
from pypfm.common.arguments import expect_int
from pypfm.common.value import HEX, Value, said
from pypfm.errors import InvalidValueError, shown
from pypfm.ia64.counting.calls import error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.ia64.counting.sets import EventSet

__all__ = ["Descriptor", "Message", "expect_signal", "read_message"]

_SIZE = 64
_F_SETSIG, _F_SETOWN_EX, _F_OWNER_TID = 10, 15, 0  # of Linux; Python's fcntl has not all of them
_POLL_LONGEST = 1 << 20  # seconds; poll(2) has no more


class Message(Value):
    """A message that an overflow has stopped the counters, or that the thread that was counted has ended.

    :ivar kind: overflow or end; of an end there is nothing else
    :ivar events: those that have overflowed
    :ivar set: the set that was counting
    :ivar ip: the instruction that was interrupted
    :ivar pid: process
    :ivar tid: thread
    :ivar cpu: where it ran
    """

    kind: Literal["overflow", "end"]
    events: tuple[str, ...] = ()
    set: int = 0
    ip: int = field(default=0, metadata=HEX)
    pid: int = 0
    tid: int = 0
    cpu: int = field(default=0, metadata=said(minimum=0))


def read_message(data: bytes, sets: Sequence[EventSet]) -> Message:
    """Convert a pfarg_msg_t to a message."""
    message: Any = ffi.new("pfarg_msg_t *")
    ffi.memmove(message, data, len(data))
    if message.type != lib.PFM_MSG_OVFL:
        return Message("end")
    m = message.pfm_ovfl_msg
    names = [member.label for one in sets if one.number == m.msg_active_set for member in one.members
             if m.msg_ovfl_pmds[member.counter // 64] >> member.counter % 64 & 1]
    # The kernel has exchanged the names of the two, and so has the library.
    return Message("overflow", tuple(names), int(m.msg_active_set), int(m.msg_ovfl_ip), int(m.msg_ovfl_tid),
                   int(m.msg_ovfl_pid), int(m.msg_ovfl_cpu))


def expect_signal(number: object) -> int:
    """Check the number of a signal that the program waits for.

    :raises InvalidValueError: there is no such signal, or it would end the program
    """
    value = int(expect_int(number, "signal"))
    if value not in signals.valid_signals():
        raise InvalidValueError(f"signal {shown(value)}: there is none of this number")
    if signals.getsignal(value) is signals.SIG_DFL and value not in signals.pthread_sigmask(signals.SIG_BLOCK, ()):
        name = signals.Signals(value).name if value in {int(s) for s in signals.Signals} else str(value)
        raise InvalidValueError(f"signal {name}: nothing handles it, and it may end the program: call"
                                f" signal.signal({name}, ...) first, or block it")
    return value


class Descriptor:
    """The descriptor of a context: it is closed once, and only if it still is the context's."""

    def __init__(self, fd: int, cpu: int | None, about: str) -> None:
        self._fd, self._pid, self._cpu, self.about = fd, os.getpid(), cpu, about
        self.closed = False
        self.unclosed = ""  # what has to be closed
        try:
            status = os.fstat(fd)
            self._key = status.st_dev, status.st_ino
            os.set_inheritable(fd, False)
            os.set_blocking(fd, False)
        except BaseException:
            os.close(fd)
            raise

    def fileno(self) -> int:
        """Return the number, even if it stands for another file by now.

        :raises ContextError: it is closed
        """
        if self.closed:
            raise error("", errno.EBADF, self.about, "it is closed; make another Context")
        return self._fd

    def own(self) -> int:
        """Return the number, for a call; refuse it if it is no longer the context's.

        :raises ContextError: it is closed, or the parent process's, or no longer the context's
        """
        fd = self.fileno()
        if self._pid != os.getpid():
            raise error("", errno.ENXIO, self.about, "it is the parent process's; make another Context here")
        if not self._is_ours():
            raise error("", errno.EBADF, self.about,
                        f"its descriptor {fd} was closed, or is another file; leave that to close()")
        return fd

    def _is_ours(self) -> bool:
        """Tell whether the number still stands for the context."""
        try:
            status = os.fstat(self._fd)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._key

    def abandon(self) -> None:
        """Close it for a context that was not closed; as for a file, Python warns of it."""
        if self.unclosed and self._pid == os.getpid():
            warnings.warn(f"unclosed {self.unclosed}", ResourceWarning, stacklevel=2)
        self.close()

    def close(self) -> None:
        """Release the counters, if this is the process that made the context, and close the descriptor."""
        before = ffi.errno  # this runs anywhere, also between a call and its errno
        self.closed = True
        if self._is_ours():
            if self._pid == os.getpid() and self._cpu is None:
                lib.pfm_unload_context(self._fd)
            os.close(self._fd)
        ffi.errno = before

    def send(self, signal: int, tid: int) -> None:
        """Have a signal sent to a thread whenever there is a message.

        :raises ContextError: it is closed, or another process's
        """
        fd = self.own()
        fcntl.fcntl(fd, _F_SETOWN_EX, struct.pack("=ii", _F_OWNER_TID, tid))
        fcntl.fcntl(fd, _F_SETSIG, signal)
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)

    def read(self) -> bytes | None:
        """Read the next message; None: there is none."""
        fd = self.own()
        try:
            data = os.read(fd, _SIZE)
        except BlockingIOError:
            return None
        except OSError as refused:
            raise error("read", refused.errno or 0, self.about) from None
        if len(data) != _SIZE:
            raise error("read", errno.EBADF, self.about, "the descriptor is no longer the context's")
        return data

    def wait(self, seconds: float | None) -> None:
        """Wait until there is a message, or the time is over; None: without a limit."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        end = None if seconds is None else time.monotonic() + seconds
        while not poll.poll(None if end is None else 1000 * min(max(end - time.monotonic(), 0), _POLL_LONGEST)):
            if end is not None and time.monotonic() >= end:
                return
