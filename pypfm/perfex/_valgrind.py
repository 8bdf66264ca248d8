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
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm._launch import Command
from pypfm.errors import shown
from pypfm.perfex.model import PerfexError, Request
from pypfm.perfex.signals import GATE, Signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.perfex._gate import Gate

__all__ = ["Descendants", "Prepared", "check_command", "escaped", "find", "version"]

_PACKAGE = "valgrind is not installed; it is in the package valgrind (Debian, Ubuntu: apt-get install valgrind)"
_RESERVED = 12  # descriptors that valgrind keeps for itself, above those of the command
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
    return _version(find())


@cache
def _version(path: str) -> str:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60)
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
    path = shutil.which(word)
    if path is not None:
        if not _for_this_machine(Path(path)):
            raise PerfexError(f"{shown(word)}: not a program for this machine")
        return
    if "/" not in word:
        raise PerfexError(f"{shown(word)}: not found in PATH")
    if not os.path.exists(word):
        raise PerfexError(f"{shown(word)}: no such file")
    raise PerfexError(f"{shown(word)}: {'a directory' if os.path.isdir(word) else 'not executable'}")


def _for_this_machine(path: Path) -> bool:
    """Whether a program is for this processor; valgrind would hand another one to a shell."""
    head, ours = b"", b""
    # A program may be executable and not readable.
    with suppress(OSError), path.open("rb") as stream, Path("/proc/self/exe").open("rb") as us:
        head, ours = stream.read(64), us.read(64)
    class_, machine = slice(4, 6), slice(18, 20)
    return head[:4] != ours[:4] or (head[class_], head[machine]) == (ours[class_], ours[machine])


def escaped(path: Path) -> str:
    """A file name in an option of valgrind, where % is special."""
    return str(path).replace("%", "%%")


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

    def ended(self, timeout: float | None) -> bool:
        """Wait for the end of all, at most that many seconds; None: however long it takes."""
        return bool(select.select([self.read], [], [], timeout)[0])


class Prepared:
    """A command under valgrind, ready to run.

    :param options: of valgrind
    :param request: the command, and whether signals control the counting
    :ivar pid: its process
    :ivar over: all processes that it has left behind have ended; False: the user has not waited for them
    :raises PerfexError: no process can be made
    """

    over = True

    def __init__(self, options: Sequence[str], request: Request) -> None:
        self._request = request
        self.descendants = Descendants()
        try:
            # Options of the environment and of .valgrindrc files are not ours.
            self._command = Command([find(), "--command-line-only=yes", *options, "--", *request.command], GATE)
        except OSError as error:
            raise PerfexError(f"no process for the command: {error.strerror}") from None
        finally:
            self.descendants.started()
        self.pid = self._command.pid

    def cancel(self) -> None:
        """Do not run it."""
        self._command.cancel()
        os.close(self.descendants.read)

    def run(self, gate: Gate | None) -> int:
        """Run it, and wait for all that it leaves behind.

        :param gate: -s and -p
        :return: exit status as a shell gives it: 128+n for a signal
        :raises PerfexError: valgrind cannot be executed
        """
        try:
            with Signals(gated=self._request.gated) as signals:
                self._command.start()
                self._supervise(signals, gate)
            code = os.waitstatus_to_exitcode(self._command.wait())
            self._wait()
            return 128 - code if code < 0 else code
        except OSError as error:
            raise PerfexError(f"valgrind: {error.strerror}") from None
        finally:
            os.close(self.descendants.read)

    def _supervise(self, signals: Signals, gate: Gate | None) -> None:
        """Until the command ends: pass on signals, take samples, say that it still runs."""
        process, begun = os.pidfd_open(self.pid), time.monotonic()
        told = begun
        try:
            while True:
                left = [told + _PROGRESS - time.monotonic(), gate.left() if gate else None]
                ready = select.select([process, signals], [], [], max(0.0, min(t for t in left if t is not None)))[0]
                for number in signals.take(self.pid):
                    if gate:
                        gate.switch(number == GATE[0])
                if process in ready:
                    return
                if gate:
                    gate.look()
                if time.monotonic() >= told + _PROGRESS:
                    told = time.monotonic()
                    self._tell(f"simulating process {self.pid}: {told - begun:.0f} s")
        finally:
            os.close(process)

    def _tell(self, line: str) -> None:
        if self._request.progress is not None:
            self._request.progress(line)

    def _wait(self) -> None:
        """Wait for what the command has left behind, until the user interrupts that."""
        if self.descendants.ended(_PROGRESS):
            return
        self._tell("the command has ended; waiting for processes that it has left behind (^C ends that)")
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.descendants.ended(None)
        except KeyboardInterrupt:
            self.over = False
        finally:
            signal.signal(signal.SIGINT, before)
