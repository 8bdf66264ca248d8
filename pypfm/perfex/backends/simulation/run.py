"""One run of a command in a simulation, and the counts of its processes."""

from __future__ import annotations

import os
import re
import resource
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.launch import waitable
from pypfm.errors import printable, shown
from pypfm.perfex import events
from pypfm.perfex.backends.simulation import counts, formulas
from pypfm.perfex.backends.simulation.command import check_directory, temporary_directory
from pypfm.perfex.backends.simulation.gate import Gate
from pypfm.perfex.backends.simulation.machine import machine
from pypfm.perfex.costs import default_clock
from pypfm.perfex.model import (
    Measurement,
    Outcome,
    PerfexError,
    Request,
    Sample,
    Simulator,
    Table,
    ThreadCounts,
    exit_status,
    signal_name,
)
from pypfm.perfex.opening import read_regular
from pypfm.perfex.profile import Profile
from pypfm.perfex.signals import NEVER_ON, Signals

if TYPE_CHECKING:
    from pypfm.perfex.backends.simulation.command import Prepared
    from pypfm.perfex.backends.simulation.counts import Process
    from pypfm.perfex.backends.simulation.formulas import Simulated

__all__ = ["Run", "check_place", "check_request", "counted", "numbered"]

_L2 = (1 << 20, 2 << 20, 4 << 20, 8 << 20)
_FILE = 1 << 20  # bytes: a file of counts without lines is smaller
_LONGEST = 1 << 26  # bytes of a simulator's messages
_MOST_SAID = 500  # letters of what a simulator says when it fails
_ABOVE = "its message stands above"
_REFUSED = 126  # exit status for a command that the simulator has ended


def counted(kind: type[Run], request: Request) -> Outcome:
    """Run a command that has been checked, in the given simulation."""
    with waitable(), Signals(gated=request.gated) as signals:
        outcome = kind(request, signals).outcome()
        signals.taken()  # too late to end anything but the report
        return outcome


def check_place(request: Request) -> None:
    """Check that this machine has what a simulation takes."""
    check_directory()
    machine(request.cache, request.cpu, request.l2)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and limit < _FILE:
        raise PerfexError(f"a file may have {limit} bytes only (ulimit -f); those with counts have up to {_FILE}")


def check_request(request: Request, name: str) -> None:
    """Check what excludes what in a simulation.

    :param name: of the simulator
    :raises PerfexError: says what
    """
    if request.kernel:
        raise PerfexError(f"-k: {name} runs programs in user mode only; --backend perf counts the kernel")
    if request.l2 not in _L2:
        raise PerfexError(f"--l2: {request.l2} bytes; sizes are 1m, 2m, 4m and 8m")
    if request.per_thread and request.gated:
        raise PerfexError("-mp together with -s or -p")
    if request.regions and name != "valgrind":
        raise PerfexError(f"--regions needs the valgrind backend; {name} counts the whole command")


class Run:
    """One run of the command.

    :ivar simulator: whose counts they are
    :ivar table: how events are made of them
    :ivar notes: on the run
    """

    simulator: Simulator
    table: Table

    def __init__(self, request: Request, signals: Signals) -> None:
        self.request, self.signals = request, signals
        self.machine = machine(request.cache, request.cpu, request.l2)
        self._clock = request.clock or request.host_clock or default_clock(request.cpu)
        self._samples: list[Sample] = []
        self.notes: list[str] = []
        self.missing: list[str] = []  # why there are no counts
        self._doubts: list[str] = []  # why counts are not exact

    def counted_by(self) -> str:
        """Return what has counted, for the report."""
        raise NotImplementedError

    def prepared(self, directory: Path) -> Prepared:
        """Return the command, ready to run.

        :param directory: for the files of counts
        """
        raise NotImplementedError

    def profiled(self, path: Path, into: Profile) -> None:
        """Add where the counts of a process come from."""
        counts.profile(path, into)

    def gone(self, processes: list[Process]) -> None:
        """Say which processes have executed something that is not counted.

        :param processes: that have no file for it
        """
        raise NotImplementedError

    def refused(self, messages: str, pid: int, code: int) -> bool:  # noqa: ARG002 - for those that refuse
        """Note what the simulator could not simulate; tell whether that has ended the command.

        :param pid: the command's process
        :param code: how it has ended (os.waitstatus_to_exitcode())
        """
        return False

    def outcome(self) -> Outcome:
        """Run the command, and return the counts."""
        request = self.request
        with temporary_directory() as directory:
            command = self.prepared(directory)
            code = self._supervised(command, directory)
            processes, profile = self._read(directory)
            messages = ""
            with suppress(OSError):
                data = read_regular(directory / "messages", _LONGEST, os.O_NOFOLLOW)
                messages = data.decode("utf-8", "surrogateescape")
            failed = self._has_failed(processes, command.pid, code)
            if failed:
                self.missing.append(f"{self.simulator} has failed: "
                                    + (" ".join(messages.split())[:_MOST_SAID] or _ABOVE))
            self._judge(directory, processes, command)
        if not processes and not self.missing:
            why = f"it was ended by signal {-code}" if code < 0 else _ABOVE
            raise PerfexError(f"{self.simulator} has not started {shown(request.command[0])}:"
                              f" {printable(' '.join(messages.split())) or why}")
        status, ended_by = self._ended(code, failed, messages, command.pid)
        threads = self._threads(processes) if request.per_thread else ()
        source = ("given" if request.clock else "measured by --calibrate" if request.host_clock
                  else f"the default of the {request.cpu}")
        return Outcome(
            self.simulator, self.counted_by(), status,
            self._total(processes, threads), threads=threads, samples=tuple(self._samples), clock=self._clock,
            clock_source=source, estimated_cycles=any(i in events.cycles(request.cpu) for i in request.events),
            notes=(*self._why_none(), *self.notes, *self._doubts), ended_by=ended_by, times=command.times(),
            profile=profile, lines=self.machine.lines,
            caches=f"{self.machine.name}: {self.machine}" if self.machine.name else "",
            operations=None if self.missing or self.table == "qemu_host" else sum(p.counts["Fo"] for p in processes),
            table=self.table)

    @staticmethod
    def _has_failed(processes: list[Process], pid: int, code: int) -> bool:
        """Tell whether the simulator failed: nobody killed the command, and its counts say that it still runs."""
        last = next((p for p in reversed(processes) if p.pid == pid), None)
        return code >= 0 and last is not None and last.state == counts.RUNS

    def _ended(self, code: int, failed: bool, messages: str, pid: int) -> tuple[int, str]:
        """Return the exit status, and the signal that has ended the command."""
        if not self.refused(messages, pid, code) and not failed:
            return exit_status(code), signal_name(code)
        self.notes.append(f"the command was ended by {self.simulator}, not by itself: exit status {_REFUSED} is"
                          " perfex's")
        return _REFUSED, ""

    def _supervised(self, command: Prepared, directory: Path) -> int:
        """Run the command; return its exit status, negative for a signal."""
        if not self.request.gated:
            return command.run(None)
        period = self.request.period
        gate = Gate(directory, command.pid, None if period is None else period / 1e3, self._sample)
        try:
            code = command.run(gate)
        finally:
            gate.close()
        if not gate.was_on:
            self.notes.append(NEVER_ON)
        return code

    def _sample(self, seconds: float, found: Simulated) -> None:
        taken = self._measure(found)
        sample = Sample(seconds, {m.event.index: m.count for m in taken},
                        tuple(m.event.index for m in taken if m.quality == "modelled" and m.count is not None))
        self._samples.append(sample)
        if self.request.on_sample is not None:
            self.request.on_sample(sample)

    def _read(self, directory: Path) -> tuple[list[Process], Profile | None]:
        """Read the counts of all processes."""
        profile = Profile() if self.request.annotate else None
        processes: list[Process] = []
        damaged: list[str] = []
        for path in sorted(directory.glob("*.r10k"), key=_order):
            try:
                with counts.checked(path):
                    made = counts.read(path)
                    self._measure(made.counts)
                    if processes and made.counts.keys() != processes[0].counts.keys():
                        raise counts.CountsError("has other counts than the first one")
                    if profile is not None:
                        self.profiled(path, profile)
                    processes.append(made)
            except counts.CountsError as error:
                damaged.append(str(error))
        if damaged:
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            self.missing.append(f"{damaged[0]}{more}")
        return processes, profile

    def _judge(self, directory: Path, processes: list[Process], command: Prepared) -> None:
        """Warn of what is missing in the counts, and say why."""
        last = {p.pid: p for p in processes}
        if lost := sum(p.lost for p in processes) + (not processes and not _has_room(directory)):
            self.missing.append(f"{lost} process{'es' * (lost > 1)} could not make a file for counts in"
                                f" {directory.parent} (TMPDIR): no room was left there, no right to it, or it is gone")
        elif processes and (gone := _gone(directory, command.pid)):
            self.missing.append(f"{gone} is gone: something else has removed it")
        self.gone([p for p in last.values() if p.state == counts.REPLACED])
        not_begun = sum(p.not_begun for p in processes)
        if (self.request.regions and processes and not self.missing
                and not any(any(p.counts.values()) for p in processes)):
            self.missing.append("--regions: the command has not called start_counters() of libperfex"
                                + (", or it has failed each time" if not_begun else ""))
        elif not_begun:
            self._doubts.append(f"start_counters() has failed {not_begun} time{'s' * (not_begun > 1)}: what follows is"
                                " counted nowhere")
        if self.request.regions and not self.missing:
            self.notes.append("--regions: caches, TLB and branch predictor stand still outside of regions, so that each"
                              " begins with what the one before has left in them")
        if any(p.several for p in processes):
            self.notes.append("threads have run at once: each run counts something else"
                              + ("; --repeat N shows how much" if self.request.layout is None else ""))
        if any(p.full for p in processes) and (self.request.annotate or self.request.per_thread):
            self._doubts.append("no room was left for the counts of all lines or threads (TMPDIR, ulimit -f):"
                                " some are missing there, and not in the totals")
        if not command.over:  # as the user wants it
            self._doubts.append("interrupted before all processes that the command has left behind had ended")
            self._doubts += self.missing
            self.missing.clear()
        elif killed := [p.pid for p in last.values() if p.state == counts.RUNS]:
            self.notes.append(f"killed, so that their counts end there: {numbered(killed)}")

    def _why_none(self) -> tuple[str, ...]:
        """Return why there are no counts, if so: for this run, and for all events."""
        return ("; ".join(self.missing),) if self.missing else ()

    def _measure(self, found: Simulated) -> tuple[Measurement, ...]:
        request = self.request
        more = formulas.estimated(request.cpu, found, self._clock, request.stall_ns)
        return formulas.measure(request.cpu, request.events, formulas.added([found, more]), fine=request.fine,
                                table=self.table)

    def _total(self, processes: list[Process], threads: tuple[ThreadCounts, ...]) -> tuple[Measurement, ...]:
        """Return the totals; of threads that are printed, exactly their sum."""
        total = self._measure(formulas.added(p.counts for p in processes))
        if threads:
            total = tuple(self._sum(m, [t.measurements[i] for t in threads]) for i, m in enumerate(total))
        return tuple(map(self._doubted, total))

    @staticmethod
    def _sum(m: Measurement, of: list[Measurement]) -> Measurement:
        if not m.source:
            return m
        made = replace(m, count=sum(t.count or 0 for t in of))
        return made if m.low is None else replace(
            made, low=sum(t.low or 0 for t in of), high=sum(t.high or 0 for t in of))

    def _doubted(self, m: Measurement) -> Measurement:
        if self.missing and m.source:
            return Measurement(m.event, None, "unavailable", note=self._why_none()[0])
        return replace(m, quality="approximate") if self._doubts and m.quality in ("exact", "simulated") else m

    def _threads(self, processes: list[Process]) -> tuple[ThreadCounts, ...]:
        """Return the counts of each thread, over all programs that its process has executed one after the other."""
        found: dict[tuple[int, int], list[Simulated]] = {}
        names: dict[tuple[int, int], str] = {}
        for process in processes:
            for thread in process.threads:
                if not any(thread.counts.values()):  # of the process that has made this one
                    continue
                found.setdefault((process.pid, thread.tid), []).append(thread.counts)
                names[process.pid, thread.tid] = process.program.rpartition("/")[2]
        return tuple(ThreadCounts(pid, tid, self._measure(formulas.added(parts)), names[pid, tid])
                     for (pid, tid), parts in found.items())


def numbered(pids: list[int]) -> str:
    """Return the numbers of processes, for a message."""
    return f"process{'es' * (len(pids) > 1)} {', '.join(map(str, pids))}"


def _has_room(directory: Path) -> bool:
    """Tell whether files can grow."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(1 << 17))
    except OSError:
        return False
    return True


def _order(path: Path) -> tuple[int, int] | tuple[()]:
    """Sort by process, and by the programs that it has executed; what has another name is no file of counts."""
    match = re.fullmatch(r"([0-9]+)\.([0-9]+)\.r10k", path.name)
    return (int(match[1]), int(match[2])) if match else ()


def _gone(directory: Path, pid: int) -> str:
    """Return the name of a file that has been there: the command's first, or one before another of the same process."""
    there = {order for path in directory.glob("*.r10k") if (order := _order(path))}
    before = {(pid, 0), *((process, number - 1) for process, number in there if number)}
    return next((f"{process}.{number}.r10k" for process, number in sorted(before - there)), "")
