"""What perfex is asked for and what a backend answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pypfm.errors import PfmError

__all__ = ["CPUS", "Backend", "Cpu", "Event", "Measurement", "Outcome", "PerfexError", "Quality", "Request", "Sample",
           "ThreadCounts"]

#: A processor whose events are counted; -3 is silicon revision 3.
Cpu = Literal["r10000", "r10000-3", "r12000"]
#: The same, to be listed.
CPUS: tuple[Cpu, ...] = ("r10000", "r10000-3", "r12000")
#: How well a number stands for its event.
Quality = Literal["exact", "approximate", "modelled", "unavailable"]


class PerfexError(PfmError):
    """perfex fails before the command is started: one line that says why."""


@dataclass(frozen=True)
class Event:
    """An event of the R10000 or R12000.

    :ivar index: 0 to 31
    :ivar name: as perfex(1) names it
    :ivar counter: the hardware counter that counts it, 0 or 1
    :ivar description: what is counted, in our words
    """

    index: int
    name: str
    counter: int
    description: str = ""


@dataclass(frozen=True)
class Request:
    """One run of a command under perfex.

    :ivar command: program and arguments
    :ivar cpu: whose events
    :ivar events: indices: one or two, or all 32 (multiplex)
    :ivar multiplex: -a
    :ivar kernel, exception: -k, -x: levels counted beside user
    :ivar per_thread: -mp
    :ivar gated: -s or -p: counting waits for SIGUSR1 and stops at SIGUSR2; the immediate child only
    :ivar period: -p: milliseconds between two samples, or None
    :ivar on_sample: -p: called with each sample when it is taken
    :ivar l2: size of the secondary cache in bytes (simulation)
    :ivar writebacks: --writebacks: simulate events 22 and 23 with -a too
    :ivar estimates: -y: times are asked for, so the clock matters
    :ivar clock: --clock: MHz, or None: measured, or the default of the cpu
    :ivar mixed: -T: the user sees to it that the command stays on CPUs of one kind
    :ivar perf_table: --perf-table: another map of events to perf events
    :ivar progress: called now and then during a long simulation with a line to show
    """

    command: tuple[str, ...]
    cpu: Cpu = "r10000"
    events: tuple[int, ...] = (0,)
    multiplex: bool = False
    kernel: bool = False
    exception: bool = False
    per_thread: bool = False
    gated: bool = False
    period: float | None = None
    on_sample: Callable[[Sample], None] | None = None
    l2: int = 4 << 20
    writebacks: bool = False
    estimates: bool = False
    clock: float | None = None
    mixed: bool = False
    perf_table: Path | None = None
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True)
class Measurement:
    """The count of one event.

    :ivar event: which
    :ivar count: how many, or None: not available
    :ivar quality: how far the count is what the event means
    :ivar share: part of the time for which it was counted (multiplexing), 0 to 1
    :ivar note: what was measured in its place, or why it is not available
    """

    event: Event
    count: int | None
    quality: Quality
    share: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class ThreadCounts:
    """The counts of one thread (-mp); their sum over the threads is the total."""

    pid: int
    tid: int
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True)
class Sample:
    """The counts at one moment (-p).

    :ivar seconds: since counting began
    :ivar counts: by event index, since counting began
    """

    seconds: float
    counts: dict[int, int | None]


@dataclass(frozen=True)
class Outcome:
    """What a backend has counted.

    :ivar backend: perf or valgrind
    :ivar why: why this one, for the first line of the report
    :ivar status: exit status for perfex: the command's, 128+n for a signal
    :ivar measurements: one for each event asked for, in their order
    :ivar threads: -mp
    :ivar samples: -p
    :ivar clock: MHz, for the cost estimates
    :ivar clock_source: what the clock is known from: measured, or the default of the cpu
    :ivar estimated_cycles: whether cycles are computed from costs, not counted
    """

    backend: str
    why: str
    status: int
    measurements: tuple[Measurement, ...]
    threads: tuple[ThreadCounts, ...] = ()
    samples: tuple[Sample, ...] = ()
    clock: float = 0.0
    clock_source: str = ""
    estimated_cycles: bool = False
    notes: tuple[str, ...] = field(default=())


class Backend(Protocol):
    """A way to count."""

    name: str

    def check(self, request: Request) -> None:
        """Raise PerfexError where this backend cannot serve the request; the command is not started."""

    def run(self, request: Request) -> Outcome:
        """Run the command, once."""
