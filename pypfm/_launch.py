"""Run a command under counters: it waits until they are attached, and is then executed once."""

from __future__ import annotations

import errno
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Command"]

# What a shell lets a foreground command have: the terminal's signals are the command's, not ours.
_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
# What Python ignores; the command is not to inherit that.
_CHANGED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class Command:
    """A command in a child process that waits for `run`.

    :param words: program and arguments; the program is looked up in PATH
    :param unblock: signals that this process holds back and the command is to receive
    :ivar pid: its process
    :raises OSError: no process can be made
    """

    def __init__(self, words: Sequence[str], unblock: Iterable[signal.Signals] = ()) -> None:
        go_read, self._go = os.pipe()
        self._failure, failure_write = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(go_read)
            os.close(failure_write)
            return
        try:
            os.close(self._go)
            for s in _CHANGED_BY_PYTHON:
                signal.signal(s, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, unblock)
            if os.read(go_read, 1):  # else the parent has gone
                os.execvp(words[0], list(words))
        except OSError as error:
            os.write(failure_write, str(error.errno).encode())
        except ValueError:  # an empty name
            os.write(failure_write, str(errno.ENOENT).encode())
        finally:
            os._exit(127)

    def run(self, signals: Iterable[signal.Signals] = _TERMINAL) -> int:
        """Let it run to its end; what os.waitpid() says.

        :param signals: ignored by this process meanwhile
        :raises OSError: the program cannot be executed
        """
        before = {s: signal.signal(s, signal.SIG_IGN) for s in signals}
        try:
            self.start()
            return self.wait()
        finally:
            for s, handler in before.items():
                signal.signal(s, handler)

    def start(self) -> None:
        """Have the program executed; `wait` has to follow.

        :raises OSError: it cannot be executed; nothing has to follow
        """
        os.write(self._go, b"!")
        failed = os.read(self._failure, 16)  # ends when the program is executed
        self._close()
        if failed:
            self.wait()
            raise OSError(int(failed), os.strerror(int(failed)))

    def wait(self) -> int:
        """Wait for its end; what os.waitpid() says."""
        return os.waitpid(self.pid, 0)[1]

    def cancel(self) -> None:
        """Let it end without having executed anything."""
        self._close()
        self.wait()

    def _close(self) -> None:
        for fd in (self._go, self._failure):
            os.close(fd)
