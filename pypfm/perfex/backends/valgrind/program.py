"""Running a command under valgrind, whatever the tool."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.launch import Command
from pypfm.errors import shown
from pypfm.perfex.backends.valgrind.installed import find
from pypfm.perfex.model import PerfexError, Request, Times
from pypfm.perfex.signals import GATE, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.perfex.backends.valgrind.gate import Gate
    from pypfm.perfex.backends.valgrind.watch import Watch
    from pypfm.perfex.signals import Signals

__all__ = ["CUT", "NAMESAKES", "NO_PARENT", "REFUSALS", "SILENT", "Descendants", "Descriptors", "Prepared", "Refusal",
           "check_command", "check_directory", "escaped", "refusals"]

_RESERVED = 12  # descriptors that valgrind keeps for itself, above those of the command
_GENERATIONS = 256  # at most that many more, for the logs of processes that are made without exec()
_EXECS = 8  # programs that execute one another, each with that many
_THREADS = 10000  # valgrind's default is 500
_LOOK = 0.02  # seconds between two looks for new processes
# Words in what valgrind says of what it cannot simulate, and how it ends the program; None: it goes on.
REFUSALS = {"unhandled instruction bytes": -signal.SIGILL, "Assertion '": 1, "Max number of threads": 1,
            "the 'impossible' happened": 1, "out of memory": 1, "Can't execute setuid": None,
            "WARNING: unhandled": None}
# Follows a number of processes.
SILENT = ("have left nothing: killed at once, or without a descriptor for valgrind's log (processes that made one"
          " another without exec(), or a low ulimit -Hn), or without the right to it (umask)")
CUT = ("have ended without valgrind's last word: killed at once, or executed a program that valgrind could not start,"
       " which is not counted")
# The first process of another process namespace (unshare --pid) says so; numbers begin anew there, and valgrind's files
# have them in their names.
NO_PARENT = "Parent PID: 0"
NAMESAKES = ("the command has made process namespaces: of processes with the same number in different ones only the"
             " last is counted")
_PROGRESS = 2.0  # seconds between two progress lines


_X86, _X86_64 = (b"\x01\x01", b"\x03\0"), (b"\x02\x01", b"\x3e\0")  # class and byte order, machine


@cache
def _vex(path: str) -> tuple[str, ...]:
    """Options that let a tool see what the program does, and no more.

    The optimizer drops loads whose result is not used, and blocks put together from two sides of a branch have
    instructions that the program does not reach.
    """
    try:
        known = subprocess.run([path, "--help-debug"], capture_output=True, check=False, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        known = b""
    chase = "--vex-guest-chase=no" if b"--vex-guest-chase=" in known else "--vex-guest-chase-thresh=0"
    return "--vex-iropt-level=0", chase


def check_command(command: Sequence[str]) -> None:
    """Check that a program can be executed.

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
        if _has_rights(path):
            raise PerfexError(f"{shown(word)}: set-uid, set-gid, or with file capabilities; valgrind does not execute"
                              " such a program (a copy of it would do, with your rights)")
        return
    if "/" not in word:
        raise PerfexError(f"{shown(word)}: not found in PATH")
    if not os.path.exists(word):
        raise PerfexError(f"{shown(word)}: no such file")
    raise PerfexError(f"{shown(word)}: {'a directory' if os.path.isdir(word) else 'not executable'}")


def _for_this_machine(path: Path) -> bool:
    """Whether a program is for this processor; valgrind would hand another one to a shell.

    x86-64 executes programs of x86, too, and valgrind where it has the tool for them; else it says so.
    """
    head, ours = b"", b""
    # A program may be executable and not readable.
    with suppress(OSError), path.open("rb") as stream, Path("/proc/self/exe").open("rb") as us:
        head, ours = stream.read(64), us.read(64)
    class_, machine = slice(4, 6), slice(18, 20)
    kinds = [(head[class_], head[machine]), (ours[class_], ours[machine])]
    return head[:4] != ours[:4] or kinds[0] == kinds[1] or kinds == [_X86, _X86_64]


def _has_rights(path: str) -> bool:
    """Whether a program has rights of its own, for which valgrind refuses it, whoever runs it."""
    with suppress(OSError):
        if os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
            return True
        return bool(os.getxattr(path, "security.capability"))
    return False


def check_directory() -> None:
    """Check that valgrind can make the files that it needs to start.

    :raises PerfexError: says why not
    """
    directory = os.environ.get("TMPDIR") or "/tmp"
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(4096))
    except OSError as error:
        raise PerfexError(f"{shown(directory)}: {error.strerror}; valgrind needs a directory for temporary files"
                          " (TMPDIR, or /tmp)") from None


@dataclass(frozen=True)
class Refusal:
    """What valgrind cannot simulate.

    :ivar pid: the process, or 0: not known
    :ivar text: valgrind's own line
    """

    pid: int
    text: str

    def ends(self, code: int) -> bool:
        """Whether it may be why a program ended like that (os.waitstatus_to_exitcode())."""
        return code in {REFUSALS[word] for word in REFUSALS if word in self.text}


def refusals(lines: Iterable[str]) -> list[Refusal]:
    """What valgrind's messages say that it cannot simulate, each once."""
    found = [re.fullmatch(r"(?:(==|--|\*\*)(\d+)\1 )?(.*)", line) for line in lines if any(r in line for r in REFUSALS)]
    return list(dict.fromkeys(Refusal(int(m[2] or 0), m[3].strip()) for m in found if m))


def escaped(path: Path) -> str:
    """A file name in an option of valgrind, where % is special."""
    return str(path).replace("%", "%%")


@contextmanager
def _variable(name: str, value: Path | None) -> Iterator[None]:
    """A variable of the environment for processes that are made meanwhile.

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


class Descriptors:
    """Room for the descriptors that valgrind keeps for itself, which are above those of the command.

    Valgrind takes 12 numbers.  A process that fork() makes inherits the log of its parent and opens one of its own, so
    that they are used up after five generations without exec(), and valgrind then writes to the command's standard
    error.  `widen` raises the limit of each process once valgrind has set its own; where the hard limit is too low for
    that, the command has to do with a lower soft limit.  A program that a process executes has that limit as its own,
    so that there has to be room for the next time.

    :param logs: every process has a log of its own; else none of that is needed
    :ivar top: the first number that is never used
    """

    def __init__(self, *, logs: bool) -> None:
        self._soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        full = _EXECS * (_RESERVED + _GENERATIONS)
        self.lowered = min(self._soft, max(hard // 2, hard - full)) if logs else self._soft
        self._more = min(_GENERATIONS, (hard - self.lowered) // _EXECS - _RESERVED) if logs else 0
        if self._more < 0:
            raise PerfexError(f"at most {hard} files may be open (ulimit -Hn); valgrind's traces of several processes"
                              f" need {2 * _EXECS * _RESERVED}")
        self.top = min(hard, self.lowered + _EXECS * (_RESERVED + self._more))
        self._hard, self._known = hard, {self.lowered}
        self._looked: dict[int, int] = {}  # processes, and the limit at which they were examined

    @contextmanager
    def limit(self, number: int) -> Iterator[None]:
        """Another soft limit for this process, and those that it makes."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, self._hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self._soft, self._hard))

    def widen(self, pids: Iterable[int]) -> None:
        """Raise the limit of processes in which valgrind has started."""
        for pid in pids if self._more else ():
            with suppress(OSError):  # it has ended
                soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
                if self._looked.get(pid) == soft:
                    continue
                if soft not in self._known or self._few(pid, soft):
                    soft = min(soft + self._more, hard)
                    self._known.add(soft)
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
                self._looked[pid] = soft

    def _few(self, pid: int, soft: int) -> bool:
        """Whether a process has used up half of its numbers: those that it makes may use up the rest before we look."""
        used = max((int(fd) for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) != self.top - 1), default=0)
        return used >= soft - self._more // 2 and soft != self.lowered


class Descendants:
    """Notices when the last process of a command has ended.

    All of them inherit one end of a pipe.  Its descriptor is among those that valgrind keeps for itself, and above
    what any program may use, so that one that closes all descriptors does not close it.

    :param descriptors: says where that is
    :ivar read: the other end: ready to be read when all have ended
    """

    def __init__(self, descriptors: Descriptors) -> None:
        self.read, write = os.pipe()
        try:
            with descriptors.limit(descriptors.top):
                self._write = fcntl.fcntl(write, fcntl.F_DUPFD, descriptors.top - 1)
        except (OSError, ValueError):  # any other descriptor will do for most programs
            self._write = os.dup(write)
        finally:
            os.close(write)
        os.set_inheritable(self._write, True)

    def started(self) -> None:
        """The command has its end of the pipe."""
        os.close(self._write)


class Prepared:
    """A command under valgrind, ready to run.

    :param options: of valgrind
    :param request: the command, and whether signals control the counting
    :param signals: that arrive
    :param logs: directory and name, with * for the number, of a file that each process has; None: they have none
    :param counts: where a process that counts by itself (libperfex) finds its counts; None: it cannot
    :param watch: looks at the logs meanwhile
    :ivar pid: its process
    :ivar over: all processes that it has left behind have ended; False: the user has not waited for them
    :raises PerfexError: no process can be made
    """

    over = True

    def __init__(self, options: Sequence[str], request: Request, signals: Signals,
                 logs: tuple[Path, str] | None = None, counts: Path | None = None,
                 watch: Watch | None = None) -> None:
        self._request, self._signals, self._logs, self._watch = request, signals, logs, watch
        self._descriptors = Descriptors(logs=logs is not None)
        self.descendants = Descendants(self._descriptors)
        try:
            # Options of the environment and of .valgrindrc files are not ours.
            words = [find(), "--command-line-only=yes", f"--max-threads={_THREADS}", *_vex(find()), *options, "--",
                     *request.command]
            with self._descriptors.limit(self._descriptors.lowered), _variable("PERFEX_VALGRIND", counts):
                self._command = Command(words, held())
        except OSError as error:
            raise PerfexError(f"no process for the command: {error.strerror}") from None
        finally:
            self.descendants.started()
        self.pid = self._command.pid

    def times(self) -> Times:
        """How long it ran, simulated."""
        return Times(self._command.wall, self._command.user, self._command.system, simulated=True)

    def cancel(self) -> None:
        """Do not run it."""
        self._command.cancel()
        os.close(self.descendants.read)

    def run(self, gate: Gate | None, counted: int | None = None) -> int:
        """Run it, and wait for all processes that it leaves behind.

        :param gate: -s and -p
        :param counted: ready to be read when all is counted; None: when all processes have ended
        :return: exit status, negative for a signal
        :raises PerfexError: valgrind cannot be executed, or a signal has come before
        """
        try:
            if self._signals.arrived():  # it ends perfex when all is cleared away
                self._command.cancel()
                raise PerfexError("ended by a signal before the command was started")
            self._command.start()
            self._supervise(gate)
            code = os.waitstatus_to_exitcode(self._command.wait())
            self._wait(self.descendants.read if counted is None else counted)
            return code
        except OSError as error:
            raise PerfexError(f"valgrind: {error.strerror}") from None
        finally:
            os.close(self.descendants.read)

    def _supervise(self, gate: Gate | None) -> None:
        """Until the command ends: pass on signals, take samples, show progress."""
        process, begun = os.pidfd_open(self.pid), time.monotonic()
        told = begun
        try:
            while True:
                self._descriptors.widen(self._pids())
                if self._watch:
                    self._watch.look()
                left = [told + _PROGRESS - time.monotonic(), gate.left() if gate else None,
                        _LOOK if self._logs else None]
                timeout = max(0.0, min(t for t in left if t is not None))
                ready = select.select([process, self._signals], [], [], timeout)[0]
                for number in self._signals.take(self.pid):
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

    def _pids(self) -> list[int]:
        """The processes that have a log."""
        if self._logs is None:
            return []
        directory, name = self._logs
        return [int(path.suffix[1:]) for path in directory.glob(name)]

    def _tell(self, line: str) -> None:
        if self._request.progress is not None:
            self._request.progress(line)

    def _wait(self, ended: int) -> None:
        """Wait for what the command has left behind, until a signal ends that."""
        self._signals.others()  # those that came with the command's end
        timeout: float | None = _PROGRESS
        while not (ready := select.select([ended, self._signals], [], [], timeout)[0]) or ended not in ready:
            if not ready:
                self._tell("the command has ended; waiting for processes that it has left behind (^C ends that)")
                timeout = None
            elif self._signals.others():
                self.over = False
                return
