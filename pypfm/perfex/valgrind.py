"""perfex without hardware counters: valgrind simulates an R10000's caches and counts."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.errors import shown
from pypfm.perfex import _callgrind, _formulas, _lackey, _valgrind, events
from pypfm.perfex._gate import Gate, Source, Vgdb
from pypfm.perfex.costs import builtin, default_clock
from pypfm.perfex.model import Measurement, Outcome, PerfexError, Request, Sample, ThreadCounts
from pypfm.perfex.signals import NEVER_ON

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.perfex._formulas import Simulated
    from pypfm.perfex.costs import CostTable

__all__ = ["ValgrindBackend"]

_L2 = (1 << 20, 2 << 20, 4 << 20, 8 << 20)


class ValgrindBackend:
    """Counts by simulation (callgrind; for the events that need the memory trace, lackey and r10ksim).

    :param costs: for the estimate of cycles; those built in for the request's cpu, if None
    """

    name = "valgrind"

    def __init__(self, costs: CostTable | None = None) -> None:
        self._costs = costs

    def check(self, request: Request) -> None:
        """See that the command can be run and counted; it is not started.

        :raises PerfexError: says what is missing, or which parts of the request exclude each other
        """
        _valgrind.version()
        _valgrind.check_command(request.command)
        if request.kernel:
            raise PerfexError("-k: valgrind runs programs in user mode only; --backend perf counts the kernel")
        if request.l2 not in _L2:
            raise PerfexError(f"--l2: {request.l2} bytes; sizes are 1m, 2m, 4m and 8m")
        if request.per_thread and request.gated:
            raise PerfexError("-mp together with -s or -p")
        if request.per_thread and _needs_trace(request):
            raise PerfexError("-mp: the memory trace, which events 22 and 23 need, does not tell threads apart")
        if _needs_trace(request) and not _lackey.SIMULATOR.exists():
            raise PerfexError(f"{_lackey.SIMULATOR}: not installed")
        if request.gated:
            _valgrind.find("vgdb")

    def run(self, request: Request) -> Outcome:
        """Run the command, once.

        :raises PerfexError: it could not be started
        """
        self.check(request)
        run = _Run(request, self._costs)
        return run.with_trace() if _needs_trace(request) else run.with_callgrind()


def _needs_trace(request: Request) -> bool:
    """Whether events are asked for that callgrind does not count."""
    if request.multiplex:
        return request.writebacks
    return any(_formulas.rows(request.cpu)[i].names & _lackey.ONLY_HERE for i in request.events)


def _not_started(request: Request, status: int) -> PerfexError:
    """The error for a command that valgrind has not begun to simulate.

    :param status: of valgrind
    """
    why = f"it was ended by signal {status - 128}" if status > 128 else "its message stands above"
    return PerfexError(f"valgrind has not started {shown(request.command[0])}: {why}")


class _Run:
    """One run of the command."""

    def __init__(self, request: Request, costs: CostTable | None) -> None:
        self._request = request
        self._costs = builtin(request.cpu) if costs is None else costs
        self._clock = request.clock or default_clock(request.cpu)
        self._samples: list[Sample] = []
        self._notes: list[str] = []
        self._note = ""

    def with_callgrind(self) -> Outcome:
        """Count what callgrind counts."""
        request = self._request
        with _directory() as directory:
            options = _callgrind.options(directory, request.l2, writebacks=7 in request.events,
                                         per_thread=request.per_thread, gated=request.gated)
            command = _valgrind.Prepared(options, request)
            status = self._supervised(command, Vgdb(directory, command.pid) if request.gated else None)
            processes = _callgrind.read(directory, per_thread=request.per_thread)
        if request.gated:
            processes = [p for p in processes if p.pid == command.pid]
        if not any(p.executed for p in processes):
            raise _not_started(request, status)
        self._notes += _callgrind.doubts(processes)
        return self._outcome("callgrind", command, status, [
            ThreadCounts(p.pid, t.tid, self._measure(t.counts)) for p in processes for t in p.threads if t.counts])

    def with_trace(self) -> Outcome:
        """Count what the memory trace gives."""
        request = self._request
        self._note = "by r10ksim, from the memory trace of this one run"
        with _directory() as directory:
            command = _valgrind.Prepared(_lackey.options(directory, gated=request.gated), request)
            try:
                simulator = _lackey.Simulator(directory, command.pid, command.descendants.read, request.l2,
                                              gated=request.gated)
            except PerfexError:
                command.cancel()
                raise
            status = self._supervised(command, simulator if request.gated else None)
            counts = simulator.finish(at_once=not command.over)
        if not counts["lines"]:
            raise _not_started(request, status)
        if counts["malformed"]:
            self._notes.append(f"{counts['malformed']} lines of the memory trace could not be read")
        whole = ThreadCounts(command.pid, command.pid, self._measure(counts))
        return self._outcome("lackey and r10ksim", command, status, [whole])

    def _supervised(self, command: _valgrind.Prepared, source: Source | None) -> int:
        """Run the command; its exit status.

        :param source: -s and -p: what is to be told to start and stop
        """
        if source is None:
            return command.run(None)
        period = self._request.period
        gate = Gate(source, None if period is None else period / 1e3, self._sample)
        status = command.run(gate)
        if not gate.was_on:
            self._notes.append(NEVER_ON)
        return status

    def _sample(self, seconds: float, counts: Simulated) -> None:
        sample = Sample(seconds, {m.event.index: m.count for m in self._measure(counts)})
        self._samples.append(sample)
        if self._request.on_sample is not None:
            self._request.on_sample(sample)

    def _measure(self, counts: Simulated) -> tuple[Measurement, ...]:
        cpu = self._request.cpu
        cycles = _formulas.estimated_cycles(cpu, counts, self._costs, self._clock)
        known = counts if cycles is None else counts | {_formulas.CYCLES: cycles}
        return _formulas.measure(cpu, self._request.events, known, self._note)

    def _outcome(self, tool: str, command: _valgrind.Prepared, status: int, parts: list[ThreadCounts]) -> Outcome:
        if not command.over:
            self._notes.append("interrupted before all processes that the command has left behind had ended")
        if not parts:
            self._notes.append("nothing has been counted")
        cycles = events.cycles(self._request.cpu)
        return Outcome(
            ValgrindBackend.name, f"simulated by valgrind {_valgrind.version()} ({tool})", status, self._sum(parts),
            threads=tuple(parts) if self._request.per_thread else (), samples=tuple(self._samples), clock=self._clock,
            clock_source="given" if self._request.clock else f"the default of the {self._request.cpu}",
            estimated_cycles=any(i in cycles for i in self._request.events), notes=tuple(self._notes))

    def _sum(self, parts: list[ThreadCounts]) -> tuple[Measurement, ...]:
        """The totals: exactly the sum of what is printed for each thread."""
        total = self._measure({})
        for part in parts:
            total = tuple(m if m.count is None else replace(m, count=m.count + (t.count or 0))
                          for m, t in zip(part.measurements, total, strict=True))
        return total


@contextmanager
def _directory() -> Iterator[Path]:
    """A directory for the files of valgrind."""
    try:
        directory = tempfile.TemporaryDirectory(prefix="perfex-", ignore_cleanup_errors=True)
    except OSError as error:
        raise PerfexError(f"no directory for temporary files: {error.strerror}") from None
    with directory as name:
        yield Path(name).absolute()
