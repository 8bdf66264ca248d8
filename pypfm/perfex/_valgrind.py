"""Running a command under valgrind, whatever the tool."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pypfm._launch import Command
from pypfm.errors import shown
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import FrameType

__all__ = ["Descendants", "Prepared", "check_command", "escaped", "find", "interrupted", "version"]

_PACKAGE = "valgrind is not installed; it is in the package valgrind (Debian, Ubuntu: apt-get install valgrind)"
_RESERVED = 12  # descriptors that valgrind keeps for itself, above those of the command
_FORWARDED = (signal.SIGTERM, signal.SIGHUP)
_PROGRESS = 2.0  # seconds between two progress lines


def find(program: str = "valgrind") -> str:
    """The path of valgrind or of a program that comes with it.

    :raises PerfexError: not installed, names the package
    """
    path = shutil.which(program)
    if path is None:
        raise PerfexError(_PACKAGE)
    return path


def version() -> str:
    """The version of valgrind, such as 3.19.0.

    :raises PerfexError: not installed, or it does not run
    """
    try:
        answer = subprocess.run([find(), "--version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise PerfexError(f"valgrind does not run: {error}") from None
    match = re.match(r"valgrind-(\d+\.\d+\S*)", answer.stdout)
    if not match:
        raise PerfexError(f"valgrind does not run: {shown((answer.stderr or answer.stdout).strip())}")
    return match[1]


def check_command(command: Sequence[str]) -> None:
    """See that a program can be executed.

    :raises PerfexError: says why it cannot
    """
    if not command:
        raise PerfexError("no command is given")
    word = command[0]
    if any("\0" in w for w in command):
        raise PerfexError(f"{shown(word)}: a zero byte in the command")
    if shutil.which(word):
        return
    if "/" not in word:
        raise PerfexError(f"{shown(word)}: not found in PATH")
    if not os.path.exists(word):
        raise PerfexError(f"{shown(word)}: no such file")
    raise PerfexError(f"{shown(word)}: {'a directory' if os.path.isdir(word) else 'not executable'}")


def escaped(path: Path) -> str:
    """A file name in an option of valgrind, where % is special."""
    return str(path).replace("%", "%%")


def interrupted(status: int) -> int:
    """What os.waitpid() says as the exit status of a shell: 128+n for a signal."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


class Descendants:
    """Notices when the last process of a command has ended.

    All of them inherit one end of a pipe.  Its descriptor is among those that valgrind keeps for
    itself, so that a program that closes all descriptors does not close this one.

    :ivar read: the other end: ready to be read when all have ended
    """

    def __init__(self) -> None:
        self.read, write = os.pipe()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        roomy = soft + _RESERVED <= hard
        try:
            if roomy:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft + _RESERVED, hard))
            self._write = fcntl.fcntl(write, fcntl.F_DUPFD, (soft + _RESERVED if roomy else hard) - 1)
        except (OSError, ValueError):  # every other descriptor will do for most programs
            self._write = os.dup(write)
        finally:
            if roomy:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            os.close(write)
        os.set_inheritable(self._write, True)

    def started(self) -> None:
        """The command has its end of the pipe."""
        os.close(self._write)

    def ended(self, timeout: float) -> bool:
        """Wait for the end of all, at most that many seconds."""
        return bool(select.select([self.read], [], [], timeout)[0])


class Prepared:
    """A command under valgrind, ready to run.

    :param options: of valgrind
    :param command: program and arguments
    :ivar pid: its process
    :ivar over: all processes that it has left behind have ended; False: the user has not waited for them
    :raises PerfexError: no process can be made
    """

    over = True

    def __init__(self, options: Sequence[str], command: Sequence[str]) -> None:
        self.descendants = Descendants()
        try:
            # Options of the environment and of .valgrindrc files are not ours.
            self._command = Command([find(), "--command-line-only=yes", *options, "--", *command])
        except OSError as error:
            raise PerfexError(f"no process for the command: {error.strerror}") from None
        finally:
            self.descendants.started()
        self.pid = self._command.pid

    def cancel(self) -> None:
        """Do not run it."""
        self._command.cancel()
        os.close(self.descendants.read)

    def run(self, progress: Callable[[str], None] | None) -> int:
        """Run it, and wait for all that it leaves behind.

        :param progress: called now and then with a line to show
        :return: exit status as a shell gives it
        :raises PerfexError: valgrind cannot be executed
        """
        try:
            with _progress(progress, self.pid), _forwarding(self.pid):
                status = interrupted(self._command.run())
            self.over = self._wait(progress)
            return status
        except OSError as error:
            raise PerfexError(f"valgrind: {error.strerror}") from None
        finally:
            os.close(self.descendants.read)

    def _wait(self, progress: Callable[[str], None] | None) -> bool:
        try:
            if self.descendants.ended(_PROGRESS):
                return True
            if progress is not None:
                progress("the command has ended; waiting for processes that it has left behind (interrupt: ^C)")
            while not self.descendants.ended(3600):
                pass
        except KeyboardInterrupt:
            return False
        return True


@contextmanager
def _progress(show: Callable[[str], None] | None, pid: int) -> Iterator[None]:
    """Say now and then that the command still runs."""
    if show is None:
        yield
        return
    over, start = threading.Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(_PROGRESS):
            show(f"simulating process {pid}: {time.monotonic() - start:.0f} s")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _forwarding(pid: int) -> Iterator[None]:
    """Hand signals that are to end perfex on to the command: its counts are then still printed."""

    def forward(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    before = {s: signal.signal(s, forward) for s in _FORWARDED if signal.getsignal(s) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for s, handler in before.items():
            signal.signal(s, handler)
