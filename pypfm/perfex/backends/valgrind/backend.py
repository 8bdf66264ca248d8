"""perfex without hardware counters: valgrind simulates an R10000's caches and counts."""

from __future__ import annotations

import resource
import signal
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.launch import waitable
from pypfm.errors import shown
from pypfm.perfex import events
from pypfm.perfex.backends.valgrind import callgrind, executed, formulas, installed, lackey, program, records, watch
from pypfm.perfex.backends.valgrind import instructions as code
from pypfm.perfex.backends.valgrind.gate import Gate, Source, Vgdb
from pypfm.perfex.costs import default_clock
from pypfm.perfex.model import (
    Measurement,
    Outcome,
    PerfexError,
    Request,
    Sample,
    ThreadCounts,
    exit_status,
    signal_name,
)
from pypfm.perfex.profile import Profile
from pypfm.perfex.signals import NEVER_ON, Signals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.perfex.backends.valgrind.formulas import Row, Simulated, Tool
    from pypfm.perfex.backends.valgrind.program import Refusal

__all__ = ["ValgrindBackend", "needs_trace"]

_L2 = (1 << 20, 2 << 20, 4 << 20, 8 << 20)
_FILES = 16 << 20  # the counts of a process in bytes, at most
_REFUSED = 126  # exit status for a command that valgrind has ended
_FULL = "no room was left for valgrind's files in {} (TMPDIR)"


class ValgrindBackend:
    """Counts by simulation (callgrind; for the events that need the memory trace, lackey and r10ksim)."""

    name = "valgrind"

    def check(self, request: Request) -> None:
        """Check that the command can be run and counted; it is not started.

        :raises PerfexError: says what is missing, or which parts of the request exclude each other
        """
        _check_place(request)
        program.check_command(request.command)
        if request.kernel:
            raise PerfexError("-k: valgrind runs programs in user mode only; --backend perf counts the kernel")
        if request.l2 not in _L2:
            raise PerfexError(f"--l2: {request.l2} bytes; sizes are 1m, 2m, 4m and 8m")
        if request.per_thread and request.gated:
            raise PerfexError("-mp together with -s or -p")
        if request.per_thread and needs_trace(request):
            raise PerfexError("-mp: the memory trace, which events 7, 22 and 23 need, does not tell threads apart")
        if request.gated:
            installed.find("vgdb")

    def sources(self, request: Request) -> list[Row]:
        """How the events asked for would be counted here, whatever the command is.

        :raises PerfexError: something is missing for it
        """
        _check_place(request)
        return [formulas.rows(request.cpu, _tool(request))[event] for event in request.events]

    def run(self, request: Request) -> Outcome:
        """Run the command, once.

        :raises PerfexError: it could not be started
        """
        self.check(request)
        with waitable(), Signals(gated=request.gated) as signals:
            run = _Run(request, signals)
            outcome = run.with_trace() if needs_trace(request) else run.with_callgrind()
            signals.others()  # too late to end anything but the report
            return outcome


def needs_trace(request: Request) -> bool:
    """Whether events are asked for that callgrind does not count."""
    if request.multiplex:
        return request.writebacks
    return any(formulas.rows(request.cpu, "trace")[i].names & lackey.ONLY_HERE for i in request.events)


def _needs_code(request: Request) -> bool:
    """Whether events are asked for that need the kinds of the instructions that were executed."""
    plain, better = (formulas.rows(request.cpu, tool) for tool in ("callgrind", "instructions"))
    return code.installed() and any(plain[i] != better[i] for i in request.events)


def _tool(request: Request) -> Tool:
    """Who simulates."""
    return "trace" if needs_trace(request) else "instructions" if _needs_code(request) else "callgrind"


def _check_place(request: Request) -> None:
    """Check that this machine has what the counting takes."""
    installed.version()
    program.check_directory()
    _check_file_size(request)
    if needs_trace(request) and not lackey.SIMULATOR.exists():
        raise PerfexError(f"{lackey.SIMULATOR}: not installed")


def _check_file_size(request: Request) -> None:
    """Check that valgrind's files may be large enough; else the command would get SIGXFSZ for them."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    needed = 0 if request.gated and needs_trace(request) else None if needs_trace(request) else _FILES
    if limit != resource.RLIM_INFINITY and (needed is None or limit < needed):
        raise PerfexError(f"a file may have {limit} bytes only (ulimit -f), and valgrind's are "
                          + ("as large as the memory trace" if needed is None else f"of up to {needed}"))


def _not_started(request: Request, code: int) -> PerfexError:
    """The error for a command that valgrind did not begin to simulate.

    :param code: the exit status of valgrind, negative for a signal
    """
    why = f"it was ended by signal {-code}" if code < 0 else "its message stands above"
    return PerfexError(f"valgrind has not started {shown(request.command[0])}: {why}")


class _Run:
    """One run of the command."""

    def __init__(self, request: Request, signals: Signals) -> None:
        self._request, self._signals = request, signals
        self._tool = _tool(request)
        self._clock = request.clock or request.host_clock or default_clock(request.cpu)
        self._samples: list[Sample] = []
        self._notes: list[str] = []
        self._missing: list[str] = []  # why there are no counts
        self._doubts: list[str] = []  # why counts are not exact
        self._unknown = ""  # instructions, whose kind is not known
        self._profile: Profile | None = None
        self._failed = ""  # why files could not be kept

    def with_callgrind(self) -> Outcome:
        """Count what callgrind counts."""
        request = self._request
        with _directory() as directory, watch.Watch(directory) as seen:
            options = callgrind.options(directory, request.l2, per_thread=request.per_thread, gated=request.gated,
                                        code=self._tool == "instructions" or request.annotate, lines=request.annotate)
            command = program.Prepared(options, request, self._signals,
                                         None if request.gated else (directory, "log.*"), callgrind.prefix(directory),
                                         None if request.gated else seen)
            written = partial(callgrind.written, directory, command.pid)
            code = self._supervised(command, Vgdb(directory, command.pid, written) if request.gated else None)
            seen.end()
            if not request.gated:
                self._doubts += callgrind.replaced(seen.several(command.pid), unseen=seen.missed)
            processes = self._read(directory)
            self._keep(directory)
            if not _has_room(directory):
                self._missing.append(_FULL.format(directory.parent))
        if request.gated:
            processes = [p for p in processes if p.pid == command.pid]
        if not any(p.executed for p in processes) and not self._missing:
            raise _not_started(request, code)
        self._missing += callgrind.lost(processes)
        self._doubts += callgrind.doubts(processes)
        return self._outcome("callgrind", command, code, [
            ThreadCounts(p.pid, t.tid, self._measure(t.counts), p.program)
            for p in processes for t in p.threads if t.counts],
            [r for p in processes for r in p.refused])

    def _read(self, directory: Path) -> list[callgrind.Process]:
        """What callgrind has written of all processes."""
        with code.Objects() as objects:
            read = callgrind.Code(objects if self._tool == "instructions" else None,
                                  Profile() if self._request.annotate else None)
            needed = read.objects is not None or read.whole is not None
            processes = callgrind.read(directory, per_thread=self._request.per_thread, code=read if needed else None)
        self._profile = read.whole
        if read.unread:
            self._unknown = f"{read.unread} {records.NO_FILE}"
        if read.masked:
            self._doubts.append(callgrind.masked(read.masked))
        if read.uneven:
            self._doubts.append(f"the counts of the instructions do not add up to {read.uneven} of callgrind's totals")
        return processes

    def _keep(self, directory: Path) -> None:
        """Leave callgrind's files to the user; the counts are there, if that fails."""
        if self._request.keep is not None:
            try:
                callgrind.keep(directory, self._request.keep)
            except PerfexError as error:
                self._failed = str(error)
                self._notes.append(self._failed)

    def with_trace(self) -> Outcome:
        """Count what the memory trace gives."""
        request = self._request
        with _directory() as directory:
            options = lackey.options(directory, gated=request.gated)
            command = program.Prepared(options, request, self._signals,
                                         None if request.gated else (directory, "trace.*"))
            try:
                simulator = lackey.Simulator(directory, command.pid, command.descendants.read, request.l2,
                                              gated=request.gated)
            except PerfexError:
                command.cancel()
                raise
            try:
                code = self._supervised(command, simulator if request.gated else None, simulator.fileno())
            except PerfexError:
                simulator.kill()
                raise
            counts = simulator.finish(at_once=not command.over)
        refused = program.refusals(simulator.messages)
        if not counts["lines"] and not refused:
            raise _not_started(request, code)
        if counts["malformed"]:
            self._missing.append(f"{counts['malformed']} lines of the memory trace could not be read")
        if counts["silent"]:
            self._missing.append(f"{counts['silent']} processes {program.SILENT}")
        # A command that was killed was traced to its end; one that kills itself has valgrind's last word all the same.
        if cut := counts["cut"] - (counts["cut_pipe"] if code == -signal.SIGKILL else 0):
            self._doubts.append(f"{cut} processes {program.CUT}")
        if counts["full"]:
            self._missing.append(_FULL.format(directory.parent))
        if unknown := counts.get(records.UNKNOWN, 0):
            self._unknown = f"{unknown} {records.NO_FILE}"
        if any(line.endswith(program.NO_PARENT) for line in simulator.messages):
            self._doubts.append(program.NAMESAKES)
        whole = ThreadCounts(command.pid, command.pid, self._measure(counts))
        return self._outcome("lackey and r10ksim", command, code, [whole], refused)

    def _supervised(self, command: program.Prepared, source: Source | None, counted: int | None = None) -> int:
        """Run the command; its exit status, negative for a signal.

        :param source: -s and -p: what is to be told to start and stop
        :param counted: ready to be read when all is counted
        """
        if source is None:
            return command.run(None, counted)
        period = self._request.period
        gate = Gate(source, None if period is None else period / 1e3, self._sample)
        code = command.run(gate, counted)
        if not gate.was_on:
            self._notes.append(NEVER_ON)
        return code

    def _sample(self, seconds: float, counts: Simulated) -> None:
        tool: Tool = "trace" if self._tool == "trace" else "callgrind"  # which instructions, the files say at the end
        taken = self._measure(counts, tool)
        sample = Sample(seconds, {m.event.index: m.count for m in taken},
                        tuple(m.event.index for m in taken if m.quality == "modelled" and m.count is not None))
        self._samples.append(sample)
        if self._request.on_sample is not None:
            self._request.on_sample(sample)

    def _measure(self, counts: Simulated, tool: Tool | None = None) -> tuple[Measurement, ...]:
        cpu, tool = self._request.cpu, tool or self._tool
        cycles = formulas.estimated_cycles(cpu, tool, counts, self._clock, self._request.stall_ns)
        known = counts if cycles is None else counts | {formulas.CYCLES: cycles}
        return formulas.measure(cpu, tool, self._request.events, known)

    def _outcome(self, tool: str, command: program.Prepared, code: int, parts: list[ThreadCounts],
                 refused: list[Refusal]) -> Outcome:
        if not command.over:  # as the user wants it
            self._doubts.append("interrupted before all processes that the command has left behind had ended")
            self._doubts += self._missing
            self._missing.clear()
        if not parts and not self._missing:
            self._missing.append("nothing has been counted")
        self._notes += [f"valgrind refused: {text}" for text in dict.fromkeys(r.text for r in refused)]
        status, ended_by = exit_status(code), signal_name(code)
        if any(r.ends(code) for r in refused if r.pid in (0, command.pid)):
            status, ended_by = _REFUSED, ""
            self._notes.append(f"the command was ended by valgrind, not by itself: exit status {_REFUSED} is perfex's")
        cycles = events.cycles(self._request.cpu)
        return Outcome(
            ValgrindBackend.name, f"simulated by valgrind {installed.version()} ({tool})", status,
            self._judged(self._sum(parts)),
            threads=tuple(parts) if self._request.per_thread else (), samples=tuple(self._samples), clock=self._clock,
            clock_source=("given" if self._request.clock else "measured by --calibrate" if self._request.host_clock
                          else f"the default of the {self._request.cpu}"),
            estimated_cycles=any(i in cycles for i in self._request.events),
            notes=(*self._missing_note(), *self._notes, *self._doubts, *filter(None, [self._unknown])),
            ended_by=ended_by, times=command.times(), profile=self._profile, failed=self._failed)

    def _judged(self, measurements: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
        """The totals, or none if a part of them is missing."""
        return tuple(self._judge(m) if m.source else m for m in measurements)

    def _judge(self, m: Measurement) -> Measurement:
        if self._missing:
            return Measurement(m.event, None, "unavailable", note=self._missing_note()[0])
        unsure = self._doubts or (self._unknown and formulas.names(m.source) & records.BY_KIND)
        return replace(m, quality="approximate") if unsure and m.quality in ("exact", "simulated") else m

    def _missing_note(self) -> tuple[str, ...]:
        """Why there are no counts, if so: about this run, and of all events."""
        return ("; ".join(self._missing),) if self._missing else ()

    def _sum(self, parts: list[ThreadCounts]) -> tuple[Measurement, ...]:
        """The totals: exactly the sum of what is printed for each thread."""
        total = parts[0].measurements if parts else self._measure(
            dict.fromkeys((*callgrind.COUNTERS, *executed.COUNTERS), 0))
        for part in parts[1:]:
            total = tuple(m if m.count is None else replace(m, count=m.count + (t.count or 0))
                          for m, t in zip(part.measurements, total, strict=True))
        return total


def _has_room(directory: Path) -> bool:
    """Whether files can grow; valgrind does not report that it could not write."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(1 << 16))
    except OSError:
        return False
    return True


@contextmanager
def _directory() -> Iterator[Path]:
    """A directory for the files of valgrind."""
    try:
        directory = tempfile.TemporaryDirectory(prefix="perfex-", ignore_cleanup_errors=True)
    except OSError as error:
        raise PerfexError(f"no directory for temporary files: {error.strerror}") from None
    with directory as name:
        yield Path(name).absolute()
