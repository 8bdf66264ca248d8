"""The memory trace of valgrind's lackey, and r10ksim, which reads it.

The command's own process writes its trace into a pipe; a process that it makes, and whose pid nobody
knows beforehand, into a file, from which r10ksim takes what it has read.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pypfm.config import built
from pypfm.perfex.backends.valgrind.program import NO_PARENT, REFUSALS, escaped
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
    return ["--tool=lackey", "--basic-counts=no", "--trace-mem=yes", "--vgdb=no",
            f"--log-file={escaped(directory)}/trace.%p", f"--trace-children={'no' if gated else 'yes'}",
            f"--child-silent-after-fork={'yes' if gated else 'no'}"]


class Simulator:
    """r10ksim at work.

    :param directory: where the traces are
    :param pid: the process whose trace comes through a pipe
    :param ended: descriptor that is ready to be read when all processes have ended
    :param l2: size of the secondary cache in bytes
    :param gated: it begins without counting
    :ivar messages: of valgrind, when it has finished
    :raises PerfexError: it cannot be started
    """

    def __init__(self, directory: Path, pid: int, ended: int, l2: int, *, gated: bool) -> None:
        self.messages: list[str] = []
        pipe = directory / f"trace.{pid}"
        words = [str(SIMULATOR), f"--l2={l2}", f"--directory={directory}", f"--until={ended}",
                 *(f"--message={text}" for text in (*REFUSALS, NO_PARENT)), *(["--off"] * gated)]
        try:
            os.mkfifo(pipe, 0o600)
            end = os.open(pipe, os.O_RDWR)  # both ends are open from now on: neither side waits for the other
        except OSError as error:
            raise PerfexError(f"{pipe}: {error.strerror}") from None
        try:
            # Its own process group: ^C is the command's.
            self._process = subprocess.Popen(words, stdin=end, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             pass_fds=[ended], text=True, errors="replace", start_new_session=True)
        except OSError as error:
            raise PerfexError(f"{SIMULATOR}: {error.strerror}") from None
        finally:
            os.close(end)
        if not self._line():
            self._process.communicate()
            raise PerfexError(f"{SIMULATOR.name} has failed (status {self._process.returncode})")

    def gate(self, on: bool) -> None:
        """Count from now on, or stop."""
        self._process.send_signal(signal.SIGUSR1 if on else signal.SIGUSR2)

    def counts(self) -> Simulated:
        """The counts so far; none if r10ksim has ended."""
        self._process.send_signal(signal.SIGALRM)
        return self._line()

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
            counts = cast("Simulated", json.loads(lines[-1])) if lines and not self._process.returncode else {}
        if not counts:
            raise PerfexError(f"{SIMULATOR.name} has failed (status {self._process.returncode}): no counts")
        return counts
