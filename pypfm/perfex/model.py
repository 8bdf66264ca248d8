"""The request to perfex, and the outcome that a backend returns."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pypfm.common.frozen import FrozenMap
from pypfm.common.in_notebooks import Tabled
from pypfm.errors import InvalidValueError, PfmError

if TYPE_CHECKING:
    from pypfm.perfex.profile import Profile

__all__ = ["CPUS", "MOST_RUNS", "ON_LAYOUT", "R10000_LINES", "SIMULATORS", "Backend", "Cpu", "Event", "Measurement",
           "Outcome", "PerfexError", "PerfexValueError", "Quality", "Repeats", "Request", "Sample", "Simulator",
           "Table", "ThreadCounts", "Times", "exit_status", "signal_name"]

#: A processor whose events are counted; -3 is silicon revision 3.
Cpu = Literal["r10000", "r10000-3", "r12000"]
#: The same, to be listed.
CPUS: tuple[Cpu, ...] = ("r10000", "r10000-3", "r12000")
#: A backend that simulates this host's programs, or those of MIPS.
Simulator = Literal["valgrind", "qemu"]
#: The same, to be listed.
SIMULATORS: tuple[Simulator, ...] = ("valgrind", "qemu")
#: The table by which a simulation counts; qemu has one for MIPS programs, and one for those of this host.
Table = Literal["valgrind", "qemu", "qemu_host"]
#: How many runs --repeat can make at most; a report with the counts of all of them is not too large to be read back.
MOST_RUNS = 500
#: Bytes of a line of the primary data cache and of the secondary cache of an R10000.
R10000_LINES = (32, 128)
#: How well a number stands for its event.
#: exact: this was counted; simulated: counted exactly, of a simulated cache, TLB or branch predictor; approximate:
#: something near it was counted; modelled: computed from other counts; unavailable: there is no number.
Quality = Literal["exact", "simulated", "approximate", "modelled", "unavailable"]
#: Qualities of what depends on where memory lies.
ON_LAYOUT: tuple[Quality, ...] = ("simulated", "modelled")


class PerfexError(PfmError):
    """An error before the command starts: one line that says why."""


class PerfexValueError(PerfexError, InvalidValueError):
    """An unknown event or cpu."""


def signal_name(code: int) -> str:
    """Return the name of the signal that ended a command, such as SIGSEGV; "" if none did.

    :param code: of os.waitstatus_to_exitcode()
    """
    if code >= 0:
        return ""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"SIGRTMIN{-code - signal.SIGRTMIN:+d}"


def exit_status(code: int) -> int:
    """Return the exit status of a command as a shell gives it: 128+n for a signal."""
    return 128 - code if code < 0 else code


@dataclass(frozen=True)
class Event(Tabled):
    """An event of the R10000 or R12000.

    :ivar index: 0 to 31
    :ivar name: as perfex(1) names it
    :ivar counter: the hardware counter that counts it, 0 or 1
    :ivar description: what is counted, in our words
    :ivar short: a short name, unique among those of the processor
    """

    index: int
    name: str
    counter: int
    description: str = ""
    short: str = ""


@dataclass(frozen=True)
class Request:
    """One run of a command under perfex.

    :ivar command: program and arguments
    :ivar cpu: whose events
    :ivar events: indices: one or two, all 32 (multiplex), or any (together)
    :ivar multiplex: -a
    :ivar together: --events: in one run, whatever counters a processor has for them (simulation)
    :ivar kernel, exception: -k, -x: levels counted as well as user
    :ivar per_thread: -mp
    :ivar gated: -s or -p: counting waits for SIGUSR1 and stops at SIGUSR2; the immediate child only
    :ivar period: -p: milliseconds between two samples, or None
    :ivar on_sample: -p: called with each sample when it is taken
    :ivar l2: size of the secondary cache in bytes (simulation)
    :ivar annotate: --annotate: where the counts come from, too (simulation)
    :ivar cache: --cache: the caches that are simulated
    :ivar fine: --threads fine: each thread has a processor of its own (simulation)
    :ivar layout: --repeat: which of the places where stack, heap and mappings may lie, 0: as they are; None: one run
        (simulation)
    :ivar regions: --regions: only what runs between libperfex's start_counters() and read_counters() (valgrind)
    :ivar estimates: -y: times are asked for, so the clock matters
    :ivar clock: --clock: MHz, or None: measured, or the default of the cpu
    :ivar host_clock: --costs host: MHz of this host, where no clock is given or measured; or None
    :ivar stall_ns: --costs host: typical nanoseconds of an event, by index, for estimated cycles in place of the
        built-in costs; or None
    :ivar mixed: -T: the user makes sure that the command stays on CPUs of one kind
    :ivar pids: --pid: processes that run already, counted until they end, or while the command runs, if there is one
    :ivar perf_table: --perf-table: another map of events to perf events
    :ivar progress: called now and then during a long simulation with a line to show
    """

    command: tuple[str, ...]
    cpu: Cpu = "r10000"
    events: tuple[int, ...] = (0,)
    multiplex: bool = False
    together: bool = False
    kernel: bool = False
    exception: bool = False
    per_thread: bool = False
    gated: bool = False
    period: float | None = None
    on_sample: Callable[[Sample], None] | None = None
    l2: int = 4 << 20
    annotate: bool = False
    cache: str = "r10000"
    fine: bool = False
    layout: int | None = None
    regions: bool = False
    estimates: bool = False
    clock: float | None = None
    host_clock: float | None = None
    stall_ns: Mapping[int, float] | None = None
    mixed: bool = False
    perf_table: Path | None = None
    pids: tuple[int, ...] = ()
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True)
class Measurement(Tabled):
    """The count of one event.

    :ivar event: which
    :ivar count: how many, or None: not available
    :ivar quality: how well the count stands for the event
    :ivar share: part of the time for which it was counted (multiplexing), 0 to 1
    :ivar note: what was measured in its place, or why it is not available
    :ivar source: what the backend counted for it; events with the same source have the same count; "": not known
    :ivar runs: --repeat: the count in each run, of which `count` is the mean, rounded; empty: one run
    :ivar low, high: of what is modelled: the range of which `count` is the middle, of all runs; None: it is counted
    """

    event: Event
    count: int | None
    quality: Quality
    share: float = 1.0
    note: str = ""
    source: str = ""
    runs: tuple[int | None, ...] = ()
    low: int | None = None
    high: int | None = None

    @property
    def value(self) -> float | None:
        """Return the count, or with --repeat the unrounded mean."""
        known = [n for n in self.runs if n is not None]
        return sum(known) / len(known) if known else self.count


@dataclass(frozen=True)
class ThreadCounts(Tabled):
    """The counts of one thread (-mp); their sum over the threads is the total.

    :ivar program: the program that it ran last; "": not known
    """

    pid: int
    tid: int
    measurements: tuple[Measurement, ...]
    program: str = ""


@dataclass(frozen=True)
class Sample(Tabled):
    """The counts at one moment (-p).

    :ivar seconds: since counting began
    :ivar counts: by event index, since counting began
    :ivar modelled: the events whose counts were computed, not counted
    """

    seconds: float
    counts: Mapping[int, int | None]
    modelled: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", FrozenMap(self.counts, "event"))


@dataclass(frozen=True)
class Times(Tabled):
    """How long a run took, in seconds.

    :ivar wall: from the start of the command to its end
    :ivar user, system: processor time of the command and the descendants that were waited for
    :ivar simulated: all of it is the simulation's time, not that of the command alone
    """

    wall: float
    user: float
    system: float
    simulated: bool = False


@dataclass(frozen=True)
class Repeats(Tabled):
    """How often a command was run (--repeat).

    :ivar asked: how often it was to be
    :ivar counted: how many runs the means are of
    :ivar stopped: why these are less; "": they are not
    :ivar times: how long each of the runs took, where that is known
    """

    asked: int
    counted: int
    stopped: str = ""
    times: tuple[Times, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The counts of a backend, and how it got them.

    :ivar backend: perf, valgrind or qemu
    :ivar why: why this one, for the first line of the report
    :ivar status: exit status for perfex: the command's, 128+n for a signal
    :ivar caches: those that are simulated, if they are not the R10000's
    :ivar operations: floating-point operations: those of each element of a vector, two for a multiply-add; None: not
        counted
    :ivar table: how a simulation has counted
    :ivar lines: bytes of a line of the primary and of the secondary cache whose misses are counted; 0: not known
    :ivar ended_by: the signal that ended the command, so that its counts stop there; "": it ended by itself
    :ivar measurements: one for each event asked for, in their order
    :ivar threads: -mp
    :ivar samples: -p
    :ivar clock: MHz, for the cost estimates
    :ivar clock_source: where the clock comes from: measured, or the default of the cpu
    :ivar times: how long the command ran, --repeat: in the mean; None: not known
    :ivar profile: --annotate: the counts of each instruction
    :ivar estimated_cycles: whether cycles are computed from costs, not counted
    :ivar repeats: --repeat; None: one run
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
    ended_by: str = ""
    times: Times | None = None
    profile: Profile | None = None
    repeats: Repeats | None = None
    lines: tuple[int, int] = R10000_LINES
    caches: str = ""
    operations: int | None = None
    table: Table = "valgrind"

    @property
    def code(self) -> str:
        """Return whose instructions were counted, or nothing for those of this host."""
        return "R10000" if self.table == "qemu" else ""


class Backend(Protocol):
    """A way to count."""

    name: str

    def check(self, request: Request) -> None:
        """Raise PerfexError if this backend cannot serve the request; the command is not started."""

    def run(self, request: Request) -> Outcome:
        """Run the command, once."""
