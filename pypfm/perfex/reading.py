"""Reading a report that perfex --json -o has written (--merge, --compare, --baseline)."""

from __future__ import annotations

import json
import shlex
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pypfm.errors import shown
from pypfm.perfex import events, report
from pypfm.perfex.c_call import known_cpu, read_limited
from pypfm.perfex.model import MOST_RUNS, SIMULATORS, Cpu, PerfexError, Quality, signal_name
from pypfm.perfex.perf_table import QUALITIES
from pypfm.perfex.spread import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["StoredReport", "parsed", "read", "stored"]

_LARGEST = 64 << 20  # bytes: a report may have all functions and lines of a program (--annotate)
_BACKENDS = ("perf", *SIMULATORS)
_SIGNALS = [signal_name(-number) for number in range(1, signal.NSIG)]
_MEASURED = "measured"
_NO_JSON = "not a report of perfex in JSON: perfex --json -o FILE writes what --compare, --baseline and --merge read"


@dataclass
class StoredReport:
    """The content of a report; its texts are printable, as whoever wrote the file may have put escapes into it.

    :ivar name: of the file
    :ivar ended_by: the signal that ended its command, or nothing
    :ivar counts: by event; None: not available; of several runs the mean, rounded
    :ivar qualities: by event, of the counts
    :ivar estimated: the events that were computed, not counted
    :ivar notes: by event: how it was counted
    :ivar is_thread: the file is that of one thread (-mp), which the rank's own contains
    :ivar command: as a shell takes it
    :ivar clock: MHz, where it was measured or cycles were made of it
    :ivar kernel: whether the kernel was counted, too (-k)
    :ivar regions: whether only libperfex's regions were counted (--regions)
    :ivar l2: bytes of the simulated secondary cache; None: none was simulated
    :ivar caches: the simulated ones, if they are not the R10000's
    :ivar code: whose instructions were counted; "": those of the host that it ran on
    :ivar runs: how many
    :ivar spreads: by event: those of several runs
    """

    name: str
    rank: int | None = None
    cpu: Cpu = "r10000"
    backend: str = ""
    ended_by: str = ""
    counts: dict[int, int | None] = field(default_factory=dict)
    qualities: dict[int, Quality] = field(default_factory=dict)
    estimated: set[int] = field(default_factory=set)
    notes: dict[int, str] = field(default_factory=dict)
    is_thread: bool = False
    command: str = ""
    clock: float | None = None
    kernel: bool = False
    regions: bool = False
    l2: int | None = None
    caches: str = ""
    code: str = ""
    runs: int = 1
    spreads: dict[int, Spread] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Return the rank, or else the name of the file."""
        return self.name if self.rank is None else f"rank {self.rank}"

    def spread(self, event: int) -> Spread | None:
        """Return the counts of an event; None: there are none."""
        count = self.counts.get(event)
        return None if count is None else self.spreads.get(event) or Spread.same(count, self.runs)


def stored(made: report.Report, name: str) -> StoredReport:
    """Return the stored form of a report that was made now."""
    return parsed(report.json_text(made), name)


def read(path: Path) -> StoredReport:
    """Read a report.

    :raises PerfexError: it is none
    """
    content = read_limited(path, _LARGEST)
    try:
        if not content.lstrip().startswith("{"):
            raise PerfexError(_NO_JSON)
        made = parsed(content, path.name)
    except PerfexError as error:
        raise PerfexError(f"{path}: {error}") from None
    if not made.counts and not made.is_thread:
        raise PerfexError(f"{path}: no counts")
    return made


def parsed(content: str, name: str) -> StoredReport:
    """Return a report of its text.

    :param name: of the file
    :raises PerfexError: it is none
    """
    try:
        data = json.loads(content, object_pairs_hook=_members)
        made = StoredReport(_text(name), cpu=known_cpu(str(data["cpu"])),
                            backend=_one_of(_BACKENDS, data["backend"], "a backend"),
                            command=_text(shlex.join(map(str, data["command"]))), kernel=data["kernel"] is True,
                            regions=data.get("regions") is True, l2=_count(data["l2"]),
                            caches=_text(data.get("caches", "")), code=_text(data.get("code", "")))
        if data["rank"] is not None:
            made.rank = _number(data["rank"], 10**9 - 1, "a rank")
        if data["ended_by"] is not None:
            made.ended_by = str(data["ended_by"])
            if made.ended_by not in _SIGNALS:
                raise PerfexError(f"{shown(made.ended_by)} is not a signal")
        if data["repeats"] is not None:
            made.runs = _number(data["repeats"]["counted"], MOST_RUNS, "a number of runs", least=1)
        if (clock := data["clock"]) and (made.backend in SIMULATORS or str(clock["source"]).startswith(_MEASURED)):
            made.clock = _clock(clock["MHz"])
        for row in data["events"]:
            _add_event(row, made)
        made.is_thread = not data["events"] and bool(data["threads"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PerfexError(f"not a report of perfex: {type(error).__name__}: {shown(str(error))}") from None
    return made


def _add_event(row: dict[str, Any], made: StoredReport) -> None:
    event = events.event_number(str(row["event"]), "event")
    if event in made.counts:
        raise PerfexError(f"event {event} stands here a second time")
    made.counts[event] = count = _count(row["count"])
    made.qualities[event] = cast("Quality", _one_of(QUALITIES, row["quality"], "a quality"))
    if row["estimated"] is True:
        made.estimated.add(event)
    if row["note"]:
        made.notes[event] = _text(row["note"])
    if row["runs"] is not None:
        counts = [*map(_count, row["runs"]["counts"])]
        spread = Spread.of(counts)
        if len(counts) != made.runs or count is None or spread is None:
            raise PerfexError(f"event {event}: {len(counts)} counts of {made.runs} runs")
        made.spreads[event] = spread
    elif made.runs > 1 and count is not None:
        raise PerfexError(f"the counts of the {made.runs} runs are missing")


# ---- members ----------------------------------------------------------------------------

def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; refuse duplicate members."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands in an object a second time")
    return members


def _text(value: object) -> str:
    """Convert any value to printable text."""
    return report.printable(str(value))


def _one_of(known: Sequence[str], value: object, what: str) -> str:
    if value not in known:
        raise PerfexError(f"{shown(str(value))} is not {what}; {', '.join(known)} are")
    return str(value)


def _count(value: object) -> int | None:
    return None if value is None else _number(value, (1 << 64) - 1, "a count")


def _number(value: object, most: int, what: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= most:
        raise PerfexError(f"{shown(json.dumps(value))} is not {what}")
    return value


def _clock(value: object) -> float:
    if type(value) not in (int, float) or not 0 < cast("float", value) < 1e9:
        raise PerfexError(f"{shown(json.dumps(value))} is not a clock")
    return float(cast("float", value))
