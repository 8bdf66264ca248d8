"""perfex without hardware counters: a valgrind tool simulates an R10000's caches, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.perfex.backends.simulation import formulas
from pypfm.perfex.backends.simulation.command import Prepared
from pypfm.perfex.backends.simulation.run import Run, check_place, check_request, counted, numbered
from pypfm.perfex.backends.valgrind import installed, program, tool
from pypfm.perfex.model import Outcome, Request

if TYPE_CHECKING:
    from pathlib import Path

    from pypfm.perfex.backends.simulation.counts import Process
    from pypfm.perfex.backends.simulation.formulas import Row

__all__ = ["ValgrindBackend"]

_THREADS = 10000  # valgrind's default is 500


class ValgrindBackend:
    """Count by simulation."""

    name = "valgrind"

    def check(self, request: Request) -> None:
        """Check that the command can be run and counted; it is not started.

        :raises PerfexError: says what is missing, or which parts of the request exclude each other
        """
        installed.version()
        check_place(request)
        program.check_command(request.command)
        check_request(request, self.name)
        tool.directory(program.width(request.command))

    def sources(self, request: Request) -> list[Row]:
        """Return how the events asked for would be counted here, whatever the command is.

        :raises PerfexError: something is missing for it
        """
        installed.version()
        check_place(request)
        tool.directory()
        return [formulas.rows(request.cpu, fine=request.fine)[event] for event in request.events]

    def run(self, request: Request) -> Outcome:
        """Run the command, once.

        :raises PerfexError: it could not be started
        """
        self.check(request)
        return counted(_ValgrindRun, request)


class _ValgrindRun(Run):
    """One run of the command."""

    simulator = "valgrind"
    table = "valgrind"

    def counted_by(self) -> str:
        return f"simulated by valgrind {installed.version()}"

    def prepared(self, directory: Path) -> Prepared:
        # Options of the environment and of .valgrindrc files are not ours.
        words = [installed.find(), "--command-line-only=yes", "--tool=r10k", "-q", "--sigill-diagnostics=yes",
                 "--vgdb=no", "--show-below-main=yes", f"--max-threads={_THREADS}", *self._options(directory), "--",
                 *self.request.command]
        return Prepared(words, self.request, self.signals, tool.directory(program.width(self.request.command)))

    def _options(self, directory: Path) -> list[str]:
        request = self.request
        layout = request.layout or 0
        words = [f"--counts={directory}", f"--messages={directory}/messages", f"--layout={layout}",
                 f"--machine={self.machine.option(seed=layout)}",
                 f"--trace-children={'no' if request.gated else 'yes'}"]
        words += ["--lines=yes", "--calls=yes"] if request.annotate else []
        words += ["--threads=yes"] if request.per_thread else []
        words += ["--fine=yes", "--fair-sched=yes"] if request.fine else []
        words += ["--regions=yes"] if request.regions else []
        return [*words, "--off=yes"] if request.gated else words

    def gone(self, processes: list[Process]) -> None:
        if processes:
            self.missing.append("executed a program that valgrind could not start, or that could not make a file for"
                                f" its counts in the directory of TMPDIR: {numbered([p.pid for p in processes])}")

    def refused(self, messages: str, pid: int, code: int) -> bool:
        found = program.refusals(messages.splitlines())
        self.notes += [f"valgrind refused: {text}" for text in dict.fromkeys(r.text for r in found)]
        return any(r.ends(code) for r in found if r.pid in (0, pid))
