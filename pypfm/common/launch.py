"""Run a command under counters: it waits until they are attached, and is then executed once."""

from __future__ import annotations

import errno
import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from resource import struct_rusage

__all__ = ["PASSED_ON", "TERMINAL", "Command", "waitable"]

# What a shell lets a foreground command have: the terminal gives these to the command, too (as time(1) does).
TERMINAL = (signal.SIGINT, signal.SIGQUIT)
# Whoever sends these means the command, which may end in its own way or not at all; its counts are reported all the
# same.  Else they would end us, and the command would go on with nobody to wait for it.
PASSED_ON = (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM,
             signal.SIGPROF, signal.SIGABRT, signal.SIGIO, signal.SIGPWR, signal.SIGXCPU,
             *range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
# What Python ignores; the command is not to inherit that.
_CHANGED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)

_IGNORED: set[int] = set()  # SIGCHLD, where `waitable` has changed that


@contextmanager
def waitable() -> Iterator[None]:
    """Let children be waited for even if SIGCHLD is ignored by inheritance: their status would be lost.

    A `Command` begins with SIGCHLD as we have inherited it.
    """
    if signal.getsignal(signal.SIGCHLD) != signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _IGNORED.add(signal.SIGCHLD)
    try:
        yield
    finally:
        _IGNORED.clear()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class Command:
    """A command in a child process that waits for `run`.

    :param words: program and arguments; the program is looked up in PATH
    :param unblock: signals that this process holds back and the command is to receive
    :ivar pid: its process
    :ivar wall: seconds from its start to its end, when it has been waited for
    :ivar user, system: seconds of processor time, with those of the descendants that were waited for
    :raises OSError: no process can be made
    """

    wall = user = system = 0.0

    def __init__(self, words: Sequence[str], unblock: Iterable[int] = ()) -> None:
        self._begun = 0.0
        go_read, self._go = os.pipe()
        self._failure, failure_write = os.pipe()
        self._waitable = ExitStack()
        self._waitable.enter_context(waitable())
        # A signal that comes before the child has its default actions again waits for them: ours would swallow it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*TERMINAL, *PASSED_ON))
        try:
            self.pid = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            self._close()
            self._waitable.close()
            os.close(go_read)
            os.close(failure_write)
            raise
        if self.pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(go_read)
            os.close(failure_write)
            return
        try:
            os.close(self._go)
            signal.set_wakeup_fd(-1)
            for s in (*_CHANGED_BY_PYTHON, *(s for s in (*TERMINAL, *PASSED_ON) if callable(signal.getsignal(s)))):
                signal.signal(s, signal.SIG_DFL)
            for number in _IGNORED:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask - {*unblock})
            if os.read(go_read, 1):  # else the parent has gone
                os.execvp(words[0], list(words))
        except OSError as error:
            os.write(failure_write, str(error.errno).encode())
        except ValueError:  # an empty name
            os.write(failure_write, str(errno.ENOENT).encode())
        finally:
            os._exit(127)

    def run(self) -> int:
        """Let it run to its end, and return the status of os.waitpid().

        Meanwhile the signals of a terminal are ignored, and others passed on.

        :raises OSError: the program cannot be executed
        """
        before = {s: signal.signal(s, signal.SIG_IGN) for s in TERMINAL}
        passed = {s for s in PASSED_ON if signal.getsignal(s) != signal.SIG_IGN}
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *passed})
        passed -= mask  # what was blocked before is not for us
        try:
            self.start()
            return self._pass_on(passed)
        finally:
            while signal.sigtimedwait(passed, 0):  # meant for the command, which has ended
                pass
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for s, handler in before.items():
                signal.signal(s, handler)

    def _pass_on(self, passed: set[signal.Signals]) -> int:
        """Wait for its end, and pass the signals that arrive on to it.

        All of them are blocked and waited for together with the end: a handler would run late if its signal came
        just before the call that waits, and when the process had gone if it came just after.
        """
        with self._waitable:
            while True:
                pid, status, used = os.wait4(self.pid, os.WNOHANG)
                if pid:
                    self._ended(used)
                    return status
                number = signal.sigwait({signal.SIGCHLD, *passed})
                if number != signal.SIGCHLD:
                    os.kill(self.pid, number)

    def start(self) -> None:
        """Execute the program; `wait` must follow.

        :raises OSError: it cannot be executed; nothing has to follow
        """
        self._begun = time.monotonic()
        with suppress(BrokenPipeError):  # a signal has ended it already: `wait` says so
            os.write(self._go, b"!")
        failed = os.read(self._failure, 16)  # ends when the program is executed
        self._close()
        if failed:
            self.wait()
            raise OSError(int(failed), os.strerror(int(failed)))

    def wait(self) -> int:
        """Wait for its end, and return the status of os.waitpid()."""
        with self._waitable:
            _, status, used = os.wait4(self.pid, 0)
            self._ended(used)
            return status

    def _ended(self, used: struct_rusage) -> None:
        self.wall = time.monotonic() - self._begun
        self.user, self.system = used.ru_utime, used.ru_stime

    def cancel(self) -> None:
        """End it without executing anything."""
        self._close()
        self.wait()

    def _close(self) -> None:
        for fd in (self._go, self._failure):
            os.close(fd)
