"""Running a command in a simulation."""

from __future__ import annotations

import fcntl
import os
import resource
import select
import shutil
import signal
import stat
import tempfile
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.launch import Command
from pypfm.errors import shown
from pypfm.perfex.model import PerfexError, Request, Times
from pypfm.perfex.signals import GATE, held

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.perfex.backends.simulation.gate import Gate
    from pypfm.perfex.signals import Signals

__all__ = ["Descendants", "Prepared", "check_directory", "check_executable", "check_rights",
           "temporary_directory"]

_RESERVED = 12  # descriptors that valgrind keeps for itself, above those of the command
_EXECS = 8  # programs that execute one another, each with that many
_PROGRESS = 2.0  # seconds between two progress lines


def check_rights(path: str, word: str, simulator: str) -> None:
    """Check that a program has no rights of its own, which it has not in a simulation.

    :param word: what the user has called it
    :raises PerfexError: it has some
    """
    if _has_rights(path):
        raise PerfexError(f"{shown(word)}: set-uid, set-gid, or with file capabilities; {simulator} does not execute"
                          " such a program (a copy of it would do, with your rights)")


def check_executable(command: Sequence[str]) -> str:
    """Return the path of a program that can be executed.

    :raises PerfexError: says why it cannot
    """
    if not command:
        raise PerfexError("no command is given")
    word = command[0]
    if any("\0" in w for w in command):
        raise PerfexError(f"{shown(word)}: a zero byte in the command")
    path = shutil.which(word)
    if path is not None:
        return path
    if "/" not in word:
        raise PerfexError(f"{shown(word)}: not found in PATH")
    if not os.path.exists(word):
        raise PerfexError(f"{shown(word)}: no such file")
    raise PerfexError(f"{shown(word)}: {'a directory' if os.path.isdir(word) else 'not executable'}")


def _has_rights(path: str) -> bool:
    """Tell whether a program has rights of its own."""
    with suppress(OSError):
        if os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
            return True
        return bool(os.getxattr(path, "security.capability"))
    return False


def check_directory() -> None:
    """Check that a simulation can make the files that it needs to start.

    :raises PerfexError: says why not
    """
    directory = os.environ.get("TMPDIR") or "/tmp"
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(4096))
    except OSError as error:
        raise PerfexError(f"{shown(directory)}: {error.strerror}; the simulation needs a directory for temporary files"
                          " (TMPDIR, or /tmp)") from None


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """Make a directory for the files of counts, and remove it; what the command has made unremovable is left.

    :raises PerfexError: says why not
    """
    try:
        made = tempfile.mkdtemp(prefix="perfex-")
    except OSError as error:
        raise PerfexError(f"no directory for temporary files: {error.strerror} (TMPDIR)") from None
    try:
        yield Path(made).absolute()
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _variable(name: str, value: Path | None) -> Iterator[None]:
    """Set a variable of the environment for processes that are made meanwhile.

    :param value: None: it is not set
    """
    before = os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = str(value)
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before


@contextmanager
def _limit(number: int) -> Iterator[None]:
    """Set another soft limit of descriptors for this process, and those that it makes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Descendants:
    """Notice when the last process of a command has ended.

    All of them inherit one end of a pipe.  Its descriptor is among those that valgrind keeps for itself, and above
    what any program may use, so that one that closes all descriptors does not close it.

    :ivar read: the other end: ready to be read when all have ended
    """

    def __init__(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        top = min(hard, soft + _EXECS * _RESERVED)
        self.read, write = os.pipe()
        try:
            with _limit(top):
                self._write = fcntl.fcntl(write, fcntl.F_DUPFD, top - 1)
        except (OSError, ValueError):  # any other descriptor will do for most programs
            self._write = os.dup(write)
        finally:
            os.close(write)
        os.set_inheritable(self._write, True)

    def started(self) -> None:
        """Note that the command has its end of the pipe."""
        os.close(self._write)


class Prepared:
    """A command in a simulation, ready to run.

    :param words: the simulator, its options and the command
    :param request: the command, and whether signals control the counting
    :param signals: that arrive
    :param library: where valgrind's tool is
    :ivar pid: its process
    :ivar over: all processes that it has left behind have ended; False: the user has not waited for them
    :raises PerfexError: no process can be made
    """

    over = True

    def __init__(self, words: Sequence[str], request: Request, signals: Signals, library: Path | None = None) -> None:
        self._simulator, self._request, self._signals = words[0], request, signals
        self.descendants = Descendants()
        try:
            with _variable("VALGRIND_LIB", library) if library else nullcontext():
                self._command = Command(words, held())
        except OSError as error:
            raise PerfexError(f"no process for the command: {error.strerror}") from None
        finally:
            self.descendants.started()
        self.pid = self._command.pid

    def times(self) -> Times:
        """Return how long it ran, simulated."""
        return Times(self._command.wall, self._command.user, self._command.system, simulated=True)

    def run(self, gate: Gate | None) -> int:
        """Run it, and wait for all processes that it leaves behind.

        :param gate: -s and -p
        :return: exit status, negative for a signal
        :raises PerfexError: the simulator cannot be executed, or a signal has come before
        """
        try:
            if self._signals.arrived():  # it ends perfex when all is cleared away
                self._command.cancel()
                raise PerfexError("ended by a signal before the command was started")
            self._command.start()
            self._supervise(gate)
            code = os.waitstatus_to_exitcode(self._command.wait())
            self._wait()
            return code
        except OSError as error:
            raise PerfexError(f"{Path(self._simulator).name}: {error.strerror}") from None
        finally:
            os.close(self.descendants.read)

    def _supervise(self, gate: Gate | None) -> None:
        """Pass on signals, take samples and show progress until the command ends."""
        process, begun = os.pidfd_open(self.pid), time.monotonic()
        told = begun
        try:
            self._pass_on(gate)
            while True:
                left = [told + _PROGRESS - time.monotonic(), gate.left() if gate else None]
                timeout = max(0.0, min(t for t in left if t is not None))
                ready = select.select([process, self._signals], [], [], timeout)[0]
                self._pass_on(gate)
                if process in ready:
                    return
                if gate:
                    gate.look()
                if time.monotonic() >= told + _PROGRESS:
                    told = time.monotonic()
                    self._tell(f"simulating process {self.pid}: {told - begun:.0f} s")
        except BaseException:
            os.kill(self.pid, signal.SIGKILL)  # nobody would wait for it
            self._command.wait()
            raise
        finally:
            os.close(process)

    def _pass_on(self, gate: Gate | None) -> None:
        """Pass on the signals that have arrived; some switch the counting."""
        for number in self._signals.take(self.pid):
            if gate:
                gate.switch(number == GATE[0])

    def _tell(self, line: str) -> None:
        if self._request.progress is not None:
            self._request.progress(line)

    def _wait(self) -> None:
        """Wait for the processes that the command has left behind, until a signal ends that."""
        ended = self.descendants.read
        self._signals.taken()  # those that came with the command's end
        timeout: float | None = _PROGRESS
        while True:
            ready = select.select([ended, self._signals], [], [], timeout)[0]
            if ended in ready and not os.read(ended, 1 << 16):  # a process can write into its end
                return
            if not ready:
                self._tell("the command has ended; waiting for processes that it has left behind (^C ends that)")
                timeout = None
            elif self._signals in ready and self._signals.taken()[1]:
                self.over = False
                return
