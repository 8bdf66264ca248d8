"""The perf backend for running processes (--pid): all their threads, and those made from now on."""

from __future__ import annotations

import errno
import os
import re
import select
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.counting import Count, PerfEvent, attr_bytes
from pypfm.common.launch import Command
from pypfm.errors import CountingError, shown
from pypfm.perfex import perf_table
from pypfm.perfex.backends.perf import PerfBackend, Plan, raise_limit
from pypfm.perfex.costs import default_clock
from pypfm.perfex.model import Outcome, PerfexError, PerfexValueError, Request, Sample, exit_status, signal_name
from pypfm.perfex.signals import GATE, NEVER_ON, Signals, held

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = ["AttachBackend", "pids"]

_TASK_CLOCK = "TASK-CLOCK"
_LARGEST = (1 << 31) - 1
_TRIES = 200  # to find the threads of a process that makes more
_PAUSE = 0.001  # for the kernel to show a thread that is being made


def pids(text: str) -> tuple[int, ...]:
    """Return the processes that --pid names, each once.

    :raises PerfexValueError: says which word is none
    """
    found = {}
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,10}", word) or not 0 < int(word) <= _LARGEST:
            raise PerfexValueError(f"--pid: {shown(word)} is not the number of a process")
        found[int(word)] = True
    return tuple(found)


def _status(pid: int) -> dict[str, str]:
    try:
        text = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    except OSError:
        raise PerfexError(f"--pid: there is no process {pid}") from None
    return {key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}


def _threads(pid: int) -> set[int]:
    """Return the threads that run; none: the process has ended."""
    found: set[int] = set()
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for tid in map(int, tids):
        try:
            state = Path(f"/proc/{pid}/task/{tid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except (OSError, IndexError):  # it has ended meanwhile
            continue
        if state not in (b"Z", b"X"):
            found.add(tid)
    return found


def _check(request: Request) -> None:
    """Check that the processes exist.

    :raises PerfexError: says which is not, or what excludes what
    """
    if request.per_thread:
        raise PerfexError("-mp and --pid exclude each other")
    for pid in request.pids:
        if pid == os.getpid():
            raise PerfexError(f"--pid: {pid} is perfex itself")
        tgid = int(_status(pid).get("Tgid", pid))
        if tgid != pid:
            raise PerfexError(f"--pid: {pid} is a thread of process {tgid}")
        if not _threads(pid):
            raise PerfexError(f"--pid: process {pid} has ended, and its parent has not waited for it")


class _Whole:
    """A perf event on all threads of the processes."""

    def __init__(self, term: str, request: Request) -> None:
        self._attr = attr_bytes(perf_table.attributes(term) | {
            "inherit": 1, "exclude_kernel": not request.kernel, "exclude_hv": 1})
        self._term, self._events = term, list[PerfEvent]()
        try:
            for pid in request.pids:
                self._add(pid)
        except BaseException:
            self.close()
            raise

    def _add(self, pid: int) -> None:
        """Open the events of a process.

        A thread that appears meanwhile may have inherited the event of its maker, or not: nothing tells.  So they are
        kept only if none has appeared.
        """
        for _ in range(_TRIES):
            before, events = _threads(pid), list[PerfEvent]()
            try:
                for tid in before:
                    self._open(tid, events)
                if len(before) > 1:
                    time.sleep(_PAUSE)
            except BaseException:
                _close(events)
                raise
            if _threads(pid) <= before:
                self._events += events
                return
            _close(events)
        raise CountingError(errno.EAGAIN, f"process {pid} makes threads faster than they can be counted")

    def _open(self, tid: int, events: list[PerfEvent]) -> None:
        try:
            events.append(PerfEvent(self._attr, tid, self._term))
        except CountingError as error:
            if error.errno != errno.ESRCH:  # it has just ended
                raise

    def resume(self) -> None:
        """Count from now on."""
        for event in self._events:
            event.resume()

    def stop(self) -> None:
        """Stop counting."""
        for event in self._events:
            event.stop()

    def read(self) -> Count:
        """Return the sum over the threads."""
        return Count(*map(sum, zip(Count(0, 0, 0), *(event.read() for event in self._events), strict=True)))

    def close(self) -> None:
        """Close it."""
        _close(self._events)


def _close(events: Iterable[PerfEvent]) -> None:
    for event in events:
        event.close()


class _Run:
    """The counters of the processes, until they end, or the user ends it, or a command."""

    def __init__(self, request: Request, plan: Plan, command: Command | None, signals: Signals,
                 stack: ExitStack) -> None:
        self._command = command
        self._request, self._sources, self._cycles, self._signals = request, plan.sources, plan.cycles, signals
        self._processes = {self._opened(pid, stack): pid for pid in request.pids}
        # Before the counters, which may be many: select() takes numbers below 1024 only.
        self._ends = {self._opened(command.pid, stack)} if command else set(self._processes)
        self._had_children = [pid for pid in request.pids if _children(pid)]
        self._samples: list[Sample] = []
        self._begun: float | None = None
        wanted = [*plan.terms, *([*plan.cycles, _TASK_CLOCK] if plan.cycles else [])]
        self._counters: dict[str, _Whole] = {}
        for term in dict.fromkeys(wanted):
            self._counters[term] = _Whole(term, request)
            stack.callback(self._counters[term].close)

    @staticmethod
    def _opened(pid: int, stack: ExitStack) -> int:
        fd = os.pidfd_open(pid)
        stack.callback(os.close, fd)
        return fd

    def _switch(self, on: bool) -> float | None:
        for counter in self._counters.values():
            counter.resume() if on else counter.stop()
        now = time.monotonic()
        if on:
            self._begun = self._begun or now
        return now + self._request.period / 1000 if on and self._request.period else None

    def supervise(self) -> int:
        """Count until the command, or without one the processes, or a signal end it; return os.waitpid()'s status."""
        command, ends = self._command, self._ends
        due = None if self._request.gated else self._switch(True)
        if command is not None:
            command.start()
        while ends:
            left = None if due is None else max(0.0, due - time.monotonic())
            ready = select.select([*ends, self._signals], [], [], left)[0]
            switches, others = (self._signals.take(command.pid), []) if command else self._signals.taken()
            for number in switches:
                due = self._switch(number == GATE[0])
            if others:
                break
            ends -= set(ready)
            if due is not None and time.monotonic() >= due:
                self._sample()
                due = max(due + (self._request.period or 0) / 1000, time.monotonic())
        for counter in self._counters.values():
            counter.stop()
        return command.wait() if command else 0

    def _counts(self) -> dict[str, Count]:
        return {term: counter.read() for term, counter in self._counters.items()}

    def _sample(self) -> None:
        counts = self._counts()
        sample = Sample(time.monotonic() - (self._begun or 0.0),
                        {s.event.index: s.measurement(counts).count for s in self._sources})
        self._samples.append(sample)
        if self._request.on_sample:
            self._request.on_sample(sample)

    def _clock(self, counts: dict[str, Count]) -> tuple[float, str]:
        """Return the clock in MHz, and where it comes from."""
        if self._request.clock is not None:
            return self._request.clock, "given"
        if self._cycles and counts[_TASK_CLOCK].value:
            found = [counts[term] for term in self._cycles]
            cycles = sum(c.value * c.enabled / c.running for c in found if c.running)
            if cycles:
                return cycles * 1000 / counts[_TASK_CLOCK].value, "measured: cycles by task-clock"
        return default_clock(self._request.cpu), f"the default of the {self._request.cpu}"

    def outcome(self, status: int) -> Outcome:
        """Return the outcome for the report."""
        counts, code = self._counts(), os.waitstatus_to_exitcode(status)
        clock, source = self._clock(counts)
        return Outcome("perf", "", exit_status(code), tuple(s.measurement(counts) for s in self._sources), (),
                       tuple(self._samples), clock, source, notes=tuple(self._all_notes()), ended_by=signal_name(code))

    def _all_notes(self) -> Iterable[str]:
        yield "counted from when perfex attached to the process, not from its beginning"
        if self._had_children:
            found = ", ".join(map(str, self._had_children))
            yield f"processes that process {found} had made before are not counted; --pid takes them, too"
        ended = [str(pid) for fd, pid in self._processes.items() if select.select([fd], [], [], 0)[0]]
        if ended and self._request.command:
            yield f"process {', '.join(ended)} ended before the command"
        if self._request.gated and self._begun is None:
            yield NEVER_ON


def _children(pid: int) -> bool:
    """Tell whether it has made processes before; False too where the kernel does not tell."""
    for tid in _threads(pid):
        try:
            if Path(f"/proc/{pid}/task/{tid}/children").read_bytes().strip():
                return True
        except OSError:
            continue
    return False


class AttachBackend(PerfBackend):
    """Count running processes with perf_event_open()."""

    def check(self, request: Request) -> None:
        """Check that the processes exist, and that the kernel counts the events asked for.

        :raises PerfexError: says what is not so
        """
        _check(request)
        super().check(request)

    def run(self, request: Request) -> Outcome:
        """Count until the processes end or ^C comes; or run the command, once, and count meanwhile.

        :raises PerfexError: one is not there, or the kernel forbids it, or the command cannot be executed
        """
        plan = self.plan(request)
        with ExitStack() as stack:
            command = None
            try:
                command = Command(request.command, held()) if request.command else None
                raise_limit()
                signals = stack.enter_context(Signals(gated=request.gated))
                run = _Run(request, plan, command, signals, stack)
            except OSError as error:  # CountingError is one too
                if command:
                    command.cancel()
                raise PerfexError(f"--pid: {error if isinstance(error, CountingError) else error.strerror}") from None
            try:
                status = run.supervise()
            except OSError as error:
                raise PerfexError(f"{shown(request.command[0]) if command else '--pid'}: {error.strerror}") from None
            outcome = run.outcome(status)
            signals.taken()
            return outcome
