"""The memory trace of valgrind's lackey, and r10ksim, which reads it.

The command's own process writes its trace into a pipe; a process that it makes, and whose pid nobody
knows beforehand, into a file, from which r10ksim takes what it has read.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pypfm.config import built
from pypfm.perfex.backends.valgrind import instructions
from pypfm.perfex.backends.valgrind.program import NO_PARENT, REFUSALS, escaped
from pypfm.perfex.backends.valgrind.records import Records
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from pypfm.perfex.backends.valgrind.formulas import Simulated

__all__ = ["ONLY_HERE", "SIMULATOR", "Simulator", "options"]

SIMULATOR = built("libexec/r10ksim")
# Counters that callgrind does not have.  It has write-backs of the secondary cache (--simulate-wb), but then loses
# misses: a line of that cache that is empty looks to it like a line of low addresses.
ONLY_HERE = frozenset({"ILdmr", "DLdmr", "DLdmw", "D1wb", "TLBm", "ILway", "DLway", "DLclean"})


def options(directory: Path, *, gated: bool) -> list[str]:
    """How valgrind is called.

    :param directory: for its traces
    :param gated: only the first process counts
    """
    # --trace-redir: valgrind says which files are mapped where, and which are not any more.
    return ["--tool=lackey", "--basic-counts=no", "--trace-mem=yes", "--trace-redir=yes", "--vgdb=no",
            f"--log-file={escaped(directory)}/trace.%p", f"--trace-children={'no' if gated else 'yes'}",
            f"--child-silent-after-fork={'yes' if gated else 'no'}"]


class _Reader(threading.Thread):
    """Takes what r10ksim says of instructions, while it runs.

    :ivar end: of the pipe, for r10ksim
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._records = Records(pid)
        self._stream, self.end = os.pipe()
        self._taken = 0  # bytes
        self._over = False
        self._changed = threading.Condition()
        self._failure: Exception | None = None

    def run(self) -> None:
        """Read until the pipe's end; also what cannot be understood, so that nobody waits."""
        try:
            self._read()
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _read(self) -> None:
        rest = b""
        while chunk := os.read(self._stream, 1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            with self._changed:
                try:
                    for line in lines if self._failure is None else ():
                        self._records.line(line)
                except (ValueError, LookupError, OSError) as error:  # for the thread that asks for the counts
                    self._failure = error
                self._taken += len(chunk)
                self._changed.notify_all()

    def counts(self, bytes_: int) -> Simulated:
        """What has been counted when r10ksim had written that many bytes."""
        with self._changed:
            self._changed.wait_for(lambda: self._taken >= bytes_ or self._over)
            if self._failure is not None:
                raise PerfexError(f"{SIMULATOR.name}: {self._failure!r}")
            return self._records.counts()

    def close(self) -> None:
        """Give back what it has open, when r10ksim has ended."""
        self.join()
        os.close(self._stream)
        self._records.close()


class Simulator:
    """r10ksim at work.

    :param directory: where the traces are
    :param pid: the process whose trace comes through a pipe
    :param ended: descriptor that is ready to be read when all processes have ended
    :param l2: size of the secondary cache in bytes
    :param gated: it begins without counting
    :ivar messages: of valgrind, when it has finished
    :ivar classified: the instructions that are executed are known (capstone is installed)
    :raises PerfexError: it cannot be started
    """

    def __init__(self, directory: Path, pid: int, ended: int, l2: int, *, gated: bool) -> None:
        self.messages: list[str] = []
        self.classified = instructions.installed()
        pipe = directory / f"trace.{pid}"
        words = [str(SIMULATOR), f"--l2={l2}", f"--directory={directory}", f"--until={ended}",
                 *(f"--message={text}" for text in (*REFUSALS, NO_PARENT)), *(["--off"] * gated)]
        passed = [ended]
        try:
            os.mkfifo(pipe, 0o600)
            end = os.open(pipe, os.O_RDWR)  # both ends are open from now on: neither side waits for the other
        except OSError as error:
            raise PerfexError(f"{pipe}: {error.strerror}") from None
        self._reader = _Reader(pid) if self.classified else None
        if self._reader:
            words.append(f"--records={self._reader.end}")
            passed.append(self._reader.end)
        try:
            # Its own process group: ^C is the command's.
            self._process = subprocess.Popen(words, stdin=end, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             pass_fds=passed, text=True, errors="replace", start_new_session=True)
        except OSError as error:
            raise PerfexError(f"{SIMULATOR}: {error.strerror}") from None
        finally:
            os.close(end)
            if self._reader:
                os.close(self._reader.end)
                self._reader.start()
        if not self._line():
            self._process.communicate()
            self._close()
            raise PerfexError(f"{SIMULATOR.name} has failed (status {self._process.returncode})")

    def gate(self, on: bool) -> None:
        """Count from now on, or stop."""
        self._process.send_signal(signal.SIGUSR1 if on else signal.SIGUSR2)

    def counts(self) -> Simulated:
        """The counts so far; none if r10ksim has ended."""
        self._process.send_signal(signal.SIGALRM)
        return self._whole(self._line())

    def _whole(self, counts: Simulated) -> Simulated:
        """The counts of r10ksim, and those by kinds of instructions."""
        if not counts or self._reader is None:
            return counts
        counts |= self._reader.counts(counts["records"])
        counts["Dr"] -= counts.pop("Again")
        return counts

    def _close(self) -> None:
        if self._reader:
            self._reader.close()

    def _line(self) -> Simulated:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return cast("Simulated", json.loads(line)) if line else {}

    def fileno(self) -> int:
        """Can be read when all processes have ended, and all traces have been read."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def kill(self) -> None:
        """End it without counts."""
        self._process.kill()
        self._process.communicate()
        self._close()

    def finish(self, *, at_once: bool = False) -> Simulated:
        """All counts, when all processes have ended.

        :param at_once: those until now; some processes have not ended
        :raises PerfexError: the simulator has failed
        """
        if at_once:
            counts = self.counts()
            self._process.kill()
            self.messages = self._process.communicate()[1].splitlines()
        else:
            out, messages = self._process.communicate()
            lines, self.messages = out.splitlines(), messages.splitlines()
            done = lines and not self._process.returncode
            counts = self._whole(cast("Simulated", json.loads(lines[-1]))) if done else {}
        self._close()
        if not counts:
            raise PerfexError(f"{SIMULATOR.name} has failed (status {self._process.returncode}): no counts")
        return counts
