"""Counting with the events of the Linux kernel."""

from __future__ import annotations

import errno
import mmap
import os
import re
import resource
import select
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.counting import Count, PerfEvent, Ring, attr_bytes
from pypfm.common.launch import Command
from pypfm.errors import CountingError, shown
from pypfm.perfex import events, host, perf_table
from pypfm.perfex.backends.names import Names, recorded
from pypfm.perfex.costs import default_clock
from pypfm.perfex.model import (
    Event,
    Measurement,
    Outcome,
    PerfexError,
    Quality,
    Request,
    Sample,
    ThreadCounts,
    Times,
    exit_status,
    signal_name,
)
from pypfm.perfex.signals import GATE, NEVER_ON, Signals, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pypfm.perfex.perf_table import Row

__all__ = ["LOCKED", "ONLINE", "PerfBackend", "Plan", "Source", "ThreadCounter", "attribute", "cpu_kinds",
           "offers_hardware", "online", "raise_limit", "ring_pages", "total_of_threads"]

_DEVICES = Path("/sys/bus/event_source/devices")
ONLINE = Path("/sys/devices/system/cpu/online")
_ABSENT = (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP, errno.EINVAL)
_FORBIDDEN = (errno.EACCES, errno.EPERM)
_CYCLES, _TASK_CLOCK = "CYCLES", "TASK-CLOCK"
_RING_PAGES = 16  # at most
# A user may lock 516 KiB for each processor (perf_event_mlock_kb), for all events together.
LOCKED = 480 << 10
_LOOK = 50  # milliseconds between two looks at the records once the kernel no longer reports them
_DUMMY = {"type": 1, "config": 9, "exclude_kernel": 1, "exclude_hv": 1}  # PERF_COUNT_SW_DUMMY
_NOTHING = Count(0, 0, 0)
_NO_LINES = "the line sizes of this host's caches are not known: no bandwidths"

Key = tuple[int, int]  # process and thread


def attribute(term: str, request: Request, *, on: bool = False) -> bytes:
    """Return struct perf_event_attr of a perf event for a run, as it goes to csrc/counting.

    :param term: as in the table
    :param on: -s, -p: SIGUSR1 has come already
    """
    return attr_bytes(perf_table.attributes(term) | {
        "inherit": not request.gated, "enable_on_exec": on or not request.gated, "inherit_stat": request.per_thread,
        "exclude_kernel": not request.kernel, "exclude_hv": 1})


def offers_hardware() -> int:
    """Return 0 if the kernel counts cycles of a processor, else errno."""
    try:
        PerfEvent({**perf_table.attributes(_CYCLES), "exclude_kernel": 1, "exclude_hv": 1}).close()
    except CountingError as error:
        return error.errno or errno.EINVAL
    return 0


def cpu_kinds(devices: Path = _DEVICES) -> list[str]:
    """Return the PMUs of different kinds of CPUs in one machine; one or none if all are the same.

    Only a PMU of some of the CPUs has a list of them (sysfs file ``cpus``).
    """
    return sorted(path.parent.name for path in devices.glob("*/cpus"))


@cache
def online() -> tuple[int, ...]:
    """Return the processors in use: from sysfs, such as 0-3,8; without it (chroot) from /proc/stat, one line each."""
    if not ONLINE.exists():
        return tuple(map(int, re.findall(r"^cpu(\d+) ", Path("/proc/stat").read_text(encoding="ascii"), re.MULTILINE)))
    found: list[int] = []
    for part in ONLINE.read_text(encoding="ascii").strip().split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


# ---- one perf event, thread by thread ---------------------------------------------

@dataclass
class _OnCpu:
    """A counter and its samples on one processor."""

    event: PerfEvent
    ring: Ring
    ended: list[tuple[Key, Count]] = field(default_factory=list)


def _sum(counts: Iterable[Count]) -> Count:
    """Add the counts of several threads."""
    value, enabled, running = 0, 0, 0
    for count in counts:
        value, enabled, running = value + count.value, enabled + count.enabled, running + count.running
    return Count(value, enabled, running)


def ring_pages(events: int) -> int:
    """Return pages of memory for the records of an event: a power of 2, and one more that describes them."""
    pages = _RING_PAGES
    while pages > 1 and events * (pages + 1) * mmap.PAGESIZE > LOCKED:
        pages //= 2
    return pages


class ThreadCounter:
    """A perf event of each thread: the kernel records the count of a thread that ends.

    Memory for these records is had for one processor only, so each has an event of its own.  What
    is left of the whole is that of the command's first thread.
    """

    def __init__(self, attr: bytes, pid: int, name: str, pages: int) -> None:
        self._parts: list[_OnCpu] = []
        try:
            for cpu in online():
                self._parts.append(_OnCpu(*recorded(attr, pid, name, cpu, pages)))
        except CountingError:
            self.close()
            raise

    def fds(self) -> list[int]:
        return [part.ring.fd for part in self._parts]

    def take(self) -> None:
        """Read the records that the kernel has kept."""
        for part in self._parts:
            part.ended += [((pid, tid), count) for pid, tid, count in part.ring.take()]

    def threads(self, first: Key) -> dict[Key, Count]:
        """Return the count of each thread; the values add up to the whole.

        Of the times, only that for which it ran holds: an event of one processor is enabled on others too.
        """
        found: dict[Key, list[Count]] = {first: []}
        for part in self._parts:
            whole, others = part.event.read(), _sum(count for _, count in part.ended)
            found[first].append(Count(*(max(a - b, 0) for a, b in zip(whole, others, strict=True))))
            for key, count in part.ended:
                found.setdefault(key, []).append(count)
        return {key: _sum(counts) for key, counts in found.items()}

    @property
    def lost(self) -> int:
        # A record says what was lost before it; the kernel, from Linux 6.0 on, what was lost at the end, too.
        return sum(max(part.ring.lost, part.event.lost()) for part in self._parts)

    def close(self) -> None:
        for part in self._parts:
            part.ring.close()
            part.event.close()


# ---- what to count with -----------------------------------------------------------

@dataclass(frozen=True)
class Source:
    """The source of an event's count; without terms: not available, or 0 by definition."""

    event: Event
    terms: tuple[str, ...]
    quality: Quality
    note: str

    def measurement(self, counts: Mapping[str, Count]) -> Measurement:
        """Return the count, scaled to the whole time where a counter was shared."""
        if not self.terms:
            return Measurement(self.event, None if self.quality == "unavailable" else 0, self.quality, note=self.note)
        source = "+".join(sorted(self.terms))
        value, share = 0, 1.0
        for term in self.terms:
            count = counts[term]
            if count.enabled and not count.running:
                return Measurement(self.event, None, "unavailable", 0.0, "others had the counter all the time")
            value += count.value if count.enabled == count.running else round(
                count.value * count.enabled / count.running)
            share = min(share, count.running / count.enabled if count.enabled else 1.0)
        quality: Quality = "approximate" if share < 1 and self.quality in ("exact", "simulated") else self.quality
        return Measurement(self.event, value, quality, share, self.note, source)


class Plan:
    """The perf events to open.

    :raises PerfexError: the kernel forbids them, or the table is wrong
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._tried: dict[str, CountingError | None] = {}
        table = perf_table.load(request.cpu, request.perf_table)
        known = events.table(request.cpu)
        self.sources = [self._source(known[i], table[i]) for i in request.events]
        # The clock: whatever stands for cycles, by the time for which the command ran.
        cycles = self._source(known[0], table[0]) if request.estimates and request.clock is None else None
        self.cycles = cycles.terms if cycles and not self._refused(_TASK_CLOCK) else ()

    def _refused(self, term: str) -> CountingError | None:
        """Return the error with which the kernel refuses a perf event, here and now; None: it counts it."""
        if term not in self._tried:
            try:
                PerfEvent(attribute(term, self._request), name=term).close()
                self._tried[term] = None
            except CountingError as error:
                if error.errno not in _ABSENT:
                    raise PerfexError(f"perf: {error}") from None
                self._tried[term] = error
        return self._tried[term]

    def _source(self, event: Event, choice: Sequence[Row]) -> Source:
        reasons = []
        for row in choice:
            if not row.terms or row.is_zero:
                return Source(event, (), row.quality, row.note)
            refused = [error for term in row.terms if (error := self._refused(term))]
            if not refused:
                return Source(event, row.terms, row.quality, row.note)
            reasons.append(str(refused[0]))
        return Source(event, (), "unavailable", reasons[0] if reasons else "not in the table of perf events")

    @property
    def terms(self) -> list[str]:
        """Return the perf events of all sources, each once."""
        return list(dict.fromkeys(term for source in self.sources for term in source.terms))


# ---- a run ------------------------------------------------------------------------

class _Run:
    """A command under counters."""

    def __init__(self, request: Request, plan: Plan, command: Command, signals: Signals, stack: ExitStack) -> None:
        self._request, self._plan, self._command, self._signals = request, plan, command, signals
        self._on = signals.take(command.pid)[-1:] == [GATE[0]]
        self._counters: dict[str, PerfEvent] = {}
        self._clock: dict[str, PerfEvent] = {}
        self._counters_by_thread: dict[str, ThreadCounter] = {}
        self._threads: list[ThreadCounter] = []
        self._times: ThreadCounter | None = None
        self._names: Names | None = None
        self._samples: list[Sample] = []
        self._begun: float | None = None
        self._process = os.pidfd_open(command.pid)
        stack.callback(os.close, self._process)
        for term in plan.terms:
            if request.per_thread:
                self._counters_by_thread[term] = self._by_thread(term, stack)
            else:
                self._counters[term] = self._whole(term, stack)
        if request.per_thread:
            # An event that is not inherited: else the kernel lets the first thread and one that it made exchange
            # their events when it switches between them, and each ends with those of the other.
            stack.callback(PerfEvent(_DUMMY, command.pid, "dummy").close)
            # How long each thread ran.
            self._times = self._counters_by_thread.get(_TASK_CLOCK) or self._by_thread(_TASK_CLOCK, stack)
            self._names = Names(command.pid, request.command[0], online(), self._pages)
            stack.callback(self._names.close)
        for term in (*plan.cycles, _TASK_CLOCK) if plan.cycles else ():
            self._clock[term] = self._counters.get(term) or self._whole(term, stack)

    def _whole(self, term: str, stack: ExitStack) -> PerfEvent:
        counter = PerfEvent(attribute(term, self._request, on=self._on), self._command.pid, term)
        stack.callback(counter.close)
        return counter

    def _by_thread(self, term: str, stack: ExitStack) -> ThreadCounter:
        counter = ThreadCounter(attribute(term, self._request), self._command.pid, term, self._pages)
        stack.callback(counter.close)
        self._threads.append(counter)
        return counter

    @property
    def _pages(self) -> int:
        return ring_pages(len(self._plan.terms) + 2)  # with the times and the names

    def supervise(self) -> int:
        """Let the command run to its end, and return the status of os.waitpid()."""
        poll = select.poll()
        records: list[ThreadCounter | Names] = [*self._threads, *([self._names] if self._names else [])]
        for fd in (self._process, self._signals.fileno(), *(fd for r in records for fd in r.fds())):
            poll.register(fd, select.POLLIN)
        due = self._begin() if self._on else None
        longest: float | None = None
        while True:
            left = longest if due is None else max(0.0, due - time.monotonic()) * 1000
            ready = dict(poll.poll(left))
            due = self._switch(self._signals.take(self._command.pid), due)
            for record in records:
                record.take()
            if self._process in ready:
                return self._command.wait()
            for fd, what in ready.items():
                if what & select.POLLHUP:  # the first thread has ended; poll() would report that for ever
                    poll.unregister(fd)
                    longest = _LOOK
            if due is not None and time.monotonic() >= due:
                self._sample()
                due = max(due + self._period, time.monotonic())

    @property
    def _period(self) -> float:
        """Return the seconds between two samples."""
        return (self._request.period or 0.0) / 1000

    def _switch(self, arrived: list[int], due: float | None) -> float | None:
        """Switch counting on or off; return when the next sample is due."""
        for number in arrived:
            for counter in {*self._counters.values(), *self._clock.values()}:
                counter.resume() if number == GATE[0] else counter.stop()
            due = self._begin() if number == GATE[0] else None
        return due

    def _begin(self) -> float | None:
        """Start counting; return when the next sample is due."""
        now = time.monotonic()
        self._begun = self._begun or now
        return now + self._period if self._period else None

    def _sample(self) -> None:
        counts = self._measured()
        sample = Sample(time.monotonic() - (self._begun or 0.0), {m.event.index: m.count for m in counts})
        self._samples.append(sample)
        if self._request.on_sample:
            self._request.on_sample(sample)

    def _measured(self) -> tuple[Measurement, ...]:
        counts = {term: counter.read() for term, counter in self._counters.items()}
        return tuple(source.measurement(counts) for source in self._plan.sources)

    def _measured_by_thread(self) -> tuple[tuple[ThreadCounts, ...], tuple[Measurement, ...]]:
        """Return the threads in the order in which they ended, the command's first before them; and their sum."""
        first = (self._command.pid, self._command.pid)
        for counter in self._threads:
            counter.take()
        times = self._times.threads(first) if self._times else {}
        found = {term: {key: _of_time(count, times.get(key)) for key, count in counter.threads(first).items()}
                 for term, counter in self._counters_by_thread.items()}
        counts = {key: {term: of_term.get(key, _NOTHING) for term, of_term in found.items()} for key in times}
        rows = {key: tuple(source.measurement(count) for source in self._plan.sources)
                for key, count in counts.items()}
        whole = {term: _sum(of_term.values()) for term, of_term in found.items()}
        totals = tuple(total_of_threads(source.measurement(whole), [row[place] for row in rows.values()])
                       for place, source in enumerate(self._plan.sources))
        names = self._names.known() if self._names else {}
        return tuple(ThreadCounts(*key, row, names.get(key[1], "")) for key, row in rows.items()), totals

    def clock(self) -> tuple[float, str]:
        """Return the clock in MHz, and where it comes from."""
        if self._request.clock is not None:
            return self._request.clock, "given"
        if self._clock:
            counts = {term: counter.read() for term, counter in self._clock.items()}
            nanoseconds = counts[_TASK_CLOCK].value
            cycles = sum(counts[term].value * counts[term].enabled / counts[term].running
                         for term in self._plan.cycles if counts[term].running)
            if nanoseconds and cycles:
                return cycles * 1000 / nanoseconds, "measured: cycles by task-clock"
        if self._request.host_clock is not None:
            return self._request.host_clock, "measured by --calibrate"
        return default_clock(self._request.cpu), f"the default of the {self._request.cpu}"

    def outcome(self, status: int) -> Outcome:
        threads, measurements = self._measured_by_thread() if self._request.per_thread else ((), self._measured())
        clock, source = self.clock()
        code = os.waitstatus_to_exitcode(status)
        times = Times(self._command.wall, self._command.user, self._command.system)
        return Outcome("perf", "", exit_status(code), measurements, threads, tuple(self._samples), clock, source,
                       notes=tuple(self._notes()), ended_by=signal_name(code), times=times, lines=self._lines())

    @staticmethod
    def _lines() -> tuple[int, int]:
        """Return the line sizes; events 25 and 26 stand for misses of the first and of the last cache of this host."""
        known = host.caches()
        return known.line, known.last_line

    def _notes(self) -> Iterable[str]:
        if self._request.estimates and not all(self._lines()):
            yield _NO_LINES
        if lost := sum(counter.lost for counter in self._threads):
            yield f"{lost} records of ended threads were lost; the command's first thread has their counts"
        if self._request.gated and self._begun is None:
            yield NEVER_ON


def _of_time(count: Count, whole: Count | None) -> Count:
    """Return the count of a thread, enabled for as long as the thread ran.

    :param whole: of an event that is never without a counter
    """
    nearly = 0.999  # the clocks of two events are read one after the other
    enabled = count.running if whole is None or count.running >= nearly * whole.running else whole.running
    return Count(count.value, enabled, count.running)


def total_of_threads(whole: Measurement, threads: Sequence[Measurement]) -> Measurement:
    """Return the sum over the threads, exactly; if one of them never had a counter, the estimate for the whole."""
    counts = [m.count for m in threads if m.count is not None]
    return replace(whole, count=sum(counts)) if threads and len(counts) == len(threads) else whole


def raise_limit() -> None:
    """Raise the limit of descriptors: each processor's event takes one; the command already has its own limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class PerfBackend:
    """Count with perf_event_open(): the command, its threads and descendants."""

    name = "perf"

    def __init__(self) -> None:
        self._plan: tuple[Request, Plan] | None = None

    def check(self, request: Request) -> None:
        """Check that the kernel counts the events asked for.

        :raises PerfexError: no hardware counters, no permission, or a wrong table
        """
        kinds = cpu_kinds()
        if len(kinds) > 1 and not request.mixed:
            raise PerfexError(f"CPUs of several kinds ({', '.join(kinds)}); -T if the command stays on one of them")
        if request.perf_table is None and (code := offers_hardware()):
            from pypfm.common.counting import reason
            instead = "" if request.pids else "; --backend valgrind simulates the events"
            raise PerfexError(f"perf: cycles: {reason(code)}{instead}")
        self._plan = (request, Plan(request))

    def plan(self, request: Request) -> Plan:
        """Choose the perf events to open, and check them."""
        if self._plan is None or self._plan[0] != request:
            self.check(request)
        assert self._plan
        return self._plan[1]

    def sources(self, request: Request) -> list[Source]:
        """Return where the counts would come from, by event.

        :raises PerfexError: as `check`
        """
        self.check(request)
        assert self._plan
        return self._plan[1].sources

    def run(self, request: Request) -> Outcome:
        """Run the command, once.

        :raises PerfexError: it cannot be executed, or a counter cannot be opened
        """
        plan = self.plan(request)
        with ExitStack() as stack:
            try:
                command = Command(request.command, held())
            except OSError as error:
                raise PerfexError(f"no process can be made: {error.strerror}") from None
            try:
                signals = stack.enter_context(Signals(gated=request.gated))
                raise_limit()
                run = _Run(request, plan, command, signals, stack)
            except OSError as error:  # CountingError is one too
                command.cancel()
                raise PerfexError(f"perf: {error if isinstance(error, CountingError) else error.strerror}") from None
            try:
                command.start()
            except OSError as error:
                raise PerfexError(f"{shown(request.command[0])}: {error.strerror}") from None
            outcome = run.outcome(run.supervise())
            signals.taken()  # too late to end anything but the report
            return outcome
