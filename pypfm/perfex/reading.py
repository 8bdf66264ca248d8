"""Reading a report that perfex -o has written, in any of its three formats (--merge, --compare, --baseline)."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from pypfm.errors import shown
from pypfm.perfex import events, report
from pypfm.perfex.c_call import known_cpu, read_limited
from pypfm.perfex.model import MOST_RUNS, Cpu, PerfexError, Quality
from pypfm.perfex.perf_table import QUALITIES
from pypfm.perfex.spread import Spread

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["StoredReport", "read", "stored"]

_FIRST = re.compile(r"perfex: (\S+) events, (?:counted|simulated) by (\S+)")
_FIRST_BEFORE = re.compile(r"perfex: (?P<backend>\S+) backend, (?P<cpu>\S+) events: .*")  # of old reports
# The columns that all reports have had; others have been added at the end.
_COLUMNS = ",".join(report.COLUMNS[:13])
_RANK = re.compile(r"rank: ([0-9]{1,9})")
_COUNT = re.compile(r"[0-9]{1,20}")
_ENDED = re.compile(r"ended by (SIG[A-Z0-9+]{1,20}): .*")
_SIGNAL = re.compile(r"SIG[A-Z0-9+]{1,20}")
_EVENT = re.compile(r" {0,2}([0-9]{1,2}) \S.*?\.* +(~?)([0-9]{1,20}|" + report.NOT_AVAILABLE
                    + r")(?: +([a-z]+))?(?: .*)?")
_NUMBER = r"([0-9]{1,20}(?:\.[0-9]{1,20})?)"
_SPREAD = re.compile(rf" {{4,}}~?{_NUMBER} +~?{_NUMBER} +[0-9.]+ % +~?([0-9]{{1,20}}) +~?([0-9]{{1,20}})")
_RUNS = re.compile(r"runs: ([0-9]{1,9})(?: of [0-9]{1,9})?; .*")
_CLOCK = re.compile(rf"clock: {_NUMBER} MHz \((.*)\)")
_MEASURED = "measured"
_LARGEST = 64 << 20  # of JSON, which may have all functions and lines of a program (--annotate)
_L2 = re.compile(r"secondary cache: ([0-9]{1,4}) MB")
_NOTE = re.compile(r"    events? ([0-9]{1,2}(?:(?:-|, )[0-9]{1,2})*): (.*)")
_PARTLY = re.compile(r"counted in ([0-9]{1,9}) of [0-9]{1,9} runs")


@dataclass
class StoredReport:
    """What a report says.

    :ivar name: of the file
    :ivar ended_by: the signal that ended its command, or nothing
    :ivar counts: by event; None: not available; of several runs the mean, rounded
    :ivar qualities: by event, of the counts
    :ivar estimated: the events that were computed, not counted
    :ivar notes: by event: how it was counted
    :ivar is_thread: the file is that of one thread (-mp), which the rank's own contains
    :ivar command: as a shell takes it; "": the report does not say
    :ivar clock: MHz, where it was measured or cycles were made of it; None: else, or the report does not say
    :ivar kernel: whether the kernel was counted, too (-k); None: the report does not say
    :ivar l2: bytes of the simulated secondary cache; None: none was simulated, or the report does not say
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
    kernel: bool | None = None
    l2: int | None = None
    runs: int = 1
    spreads: dict[int, Spread] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The rank, or else the name of the file."""
        return report.printable(self.name) if self.rank is None else f"rank {self.rank}"

    def spread(self, event: int) -> Spread | None:
        """The counts of an event; None: there are none."""
        count = self.counts.get(event)
        return None if count is None else self.spreads.get(event) or Spread.same(count, self.runs)

    def end(self, name: str) -> None:
        """Note the signal that ended the command.

        :raises PerfexError: it is not a signal
        """
        if not _SIGNAL.fullmatch(name):
            raise PerfexError(f"{shown(name)} is not a signal")
        self.ended_by = name

    def add(self, event: str, count: str, quality: str = "", *, estimated: bool = False, note: str = "") -> int:
        """Note the count of an event; nothing, or NOT_AVAILABLE: there is none.

        :param quality: of the count, or nothing
        :return: the event's number
        :raises PerfexError: one of them is wrong, or the event is there already
        """
        number = events.event_number(event, "event")
        if number in self.counts:
            raise PerfexError(f"event {number} stands here a second time")
        self.counts[number] = None if count in ("", report.NOT_AVAILABLE) else _count(count)
        if quality:
            if quality not in QUALITIES:
                raise PerfexError(f"{shown(quality)} is not a quality; {', '.join(QUALITIES)} are")
            self.qualities[number] = cast("Quality", quality)
        if estimated:
            self.estimated.add(number)
        if note:
            self.notes[number] = note
        return number

    def add_runs(self, event: int, counts: list[int | None]) -> None:
        """Note the counts of an event in all runs.

        :raises PerfexError: these are not the runs of the report, or the event has no such count
        """
        spread = Spread.of(counts)
        if len(counts) != self.runs or self.counts.get(event) is None or spread is None:
            raise PerfexError(f"event {event}: {len(counts)} counts of {self.runs} runs")
        self.spreads[event] = spread

    def forget_counts(self) -> None:
        """What was noted of events is that of a thread."""
        for noted in (self.counts, self.qualities, self.estimated, self.notes, self.spreads):
            noted.clear()


def stored(made: report.Report, name: str) -> StoredReport:
    """The same for a report that was made now."""
    kept = StoredReport(name)
    _read_json(report.json_text(made), kept)
    return kept


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise PerfexError(f"{shown(text)} is not a count")
    return int(text)


def _runs(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,3}", text) or int(text) > MOST_RUNS:
        raise PerfexError(f"{shown(text)} is not a number of runs")
    return int(text)


def read(path: Path) -> StoredReport:
    """A report in any of the three formats.

    :raises PerfexError: it is not a report; names the line
    """
    content = read_limited(path, _LARGEST)
    made = StoredReport(path.name)
    try:
        if content.startswith("{"):
            _read_json(content, made)
        elif not content.endswith("\n"):
            raise PerfexError("not a report of perfex, or its end is missing")
        elif re.match(_COLUMNS + r"(,[a-z,]+)?\n", content):
            _read_csv(content, made)
        else:
            _read_text(content, made)
    except (PerfexError, csv.Error) as error:
        raise PerfexError(f"{path}: {error}") from None
    if not made.counts and not made.is_thread:
        raise PerfexError(f"{path}: no counts")
    return made


# ---- text ---------------------------------------------------------------------------

def _read_text(content: str, made: StoredReport) -> None:
    lines = content.split("\n")
    first = next((line for line in lines if not line.startswith("sample ")), "")  # samples of -p
    if now := _FIRST.fullmatch(first):
        cpu, made.backend = now[1], now[2]
    elif before := _FIRST_BEFORE.fullmatch(first):
        cpu, made.backend = before["cpu"], before["backend"]
    else:
        raise PerfexError("not a report of perfex")
    made.cpu = known_cpu(cpu)
    made.kernel, made.l2 = False, report.DEFAULT_L2 if made.backend == "valgrind" else None  # no word of them
    event = None
    for number, line in enumerate(lines, 1):
        try:
            if line.startswith(("thread: ", "total of ")):
                made.forget_counts()
                made.is_thread = line.startswith("thread: ")
            elif line.partition(" ")[0] == "notes":
                _read_notes(lines[number:], made)
                break
            elif line == "statistics":
                event = None
            elif re.match(r" {0,2}[0-9]", line):
                event = _read_event(line, made)
            elif event is not None and (spread := _SPREAD.fullmatch(line)):
                _read_spread(spread, event, made)
            else:
                _read_head(line, made)
        except PerfexError as error:
            raise PerfexError(f"line {number}: {error}") from None
    made.spreads = {i: spread.exactly() for i, spread in made.spreads.items()}


def _read_head(line: str, made: StoredReport) -> None:
    if rank := _RANK.fullmatch(line):
        made.rank = int(rank[1])
    elif ended := _ENDED.fullmatch(line):
        made.end(ended[1])
    elif runs := _RUNS.fullmatch(line):
        made.runs = _runs(runs[1])
    elif clock := _CLOCK.fullmatch(line):
        made.clock = float(clock[1]) if _means_something(clock[2], made) else None
    elif l2 := _L2.fullmatch(line):
        made.l2 = int(l2[1]) << 20
    elif line == "levels: user and kernel":
        made.kernel = True
    elif line.startswith("command: "):
        made.command = line.removeprefix("command: ")


def _means_something(source: str, made: StoredReport) -> bool:
    """Whether counts can depend on the clock of a report."""
    return made.backend == "valgrind" or source.startswith(_MEASURED)


def _read_event(line: str, made: StoredReport) -> int:
    row = _EVENT.fullmatch(line)
    if row is None:
        raise PerfexError(f"{shown(line)} is not a count")
    return made.add(row[1], row[3], row[4] or "", estimated=bool(row[2]))


def _read_spread(row: re.Match[str], event: int, made: StoredReport) -> None:
    mean, deviation, least, most = float(row[1]), float(row[2]), int(row[3]), int(row[4])
    count = made.counts[event]
    if made.runs < 2 or count is None or not least <= count <= most:
        raise PerfexError(f"{shown(row[0].strip())} is not the spread of event {event}")
    made.spreads[event] = Spread(made.runs, mean, deviation, least, most)


def _read_notes(lines: list[str], made: StoredReport) -> None:
    for text in re.sub(r"\n {8}", " ", "\n".join(lines)).split("\n"):  # what is folded, in one line
        if not (note := _NOTE.fullmatch(text)):
            continue
        for part in note[1].split(", "):
            first, _, last = part.partition("-")
            for event in range(int(first), min(int(last or first), events.NUM_EVENTS - 1) + 1):
                if partly := _PARTLY.match(note[2]):
                    _partly(event, _runs(partly[1]), made)
                else:
                    made.notes[event] = note[2]


def _partly(event: int, runs: int, made: StoredReport) -> None:
    """An event was not counted in all runs."""
    spread = made.spread(event)
    if spread is None or runs >= made.runs:
        raise PerfexError(f"event {event}: {runs} of {made.runs} runs")
    made.spreads[event] = replace(spread, runs=runs, deviation=spread.deviation if runs > 1 else None)


# ---- CSV ----------------------------------------------------------------------------

def _read_csv(content: str, made: StoredReport) -> None:
    made.is_thread = True
    repeats: dict[int, list[int | None]] = {}
    for number, row in enumerate(csv.DictReader(io.StringIO(content), strict=True), 2):
        try:
            _read_row({name: text or "" for name, text in row.items() if isinstance(name, str)}, made, repeats)
        except PerfexError as error:
            raise PerfexError(f"line {number}: {error}") from None
    for event, counts in repeats.items():
        made.add_runs(event, counts)
    if made.runs > 1 and any(count is not None and i not in repeats for i, count in made.counts.items()):
        raise PerfexError(f"the counts of the {made.runs} runs are missing")


def _read_row(row: dict[str, str], made: StoredReport, repeats: dict[int, list[int | None]]) -> None:
    kind, name, value = row["kind"], row["name"], row["value"]
    if kind == "run":
        _read_fact(name, value, made)
    elif kind == "event":
        made.is_thread = False
        estimated = made.backend == "valgrind" and name == events.table(made.cpu)[0].name and bool(value)
        made.add(row["event"], value, row["quality"], estimated=estimated, note=row["note"])
    elif kind == "repeat" and row["event"]:
        counts = repeats.setdefault(events.event_number(row["event"], "event"), [])
        if name != str(len(counts) + 1):
            raise PerfexError(f"{shown(name)} stands in the place of run {len(counts) + 1}")
        counts.append(_count(value) if value else None)


def _read_fact(name: str, value: str, made: StoredReport) -> None:
    if name == "cpu":
        made.cpu = known_cpu(value)
    elif name == "backend":
        made.backend = value
    elif name == "command":
        made.command = value
    elif name == "runs":
        made.runs = _runs(value)
    elif name == "rank" and re.fullmatch("[0-9]{1,9}", value):
        made.rank = int(value)
    elif name == "ended_by" and value:
        made.end(value)
    elif name == "kernel" and value in ("0", "1"):
        made.kernel = value == "1"
    elif name == "clock" and made.backend == "valgrind" and re.fullmatch(_NUMBER, value):
        made.clock = float(value)
    elif name == "l2" and _COUNT.fullmatch(value):
        made.l2 = int(value)


# ---- JSON ---------------------------------------------------------------------------

def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON without duplicate members."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands in an object a second time")
    return members


def _json_count(value: object) -> int | None:
    return None if value is None else _count(json.dumps(value))


def _read_json(content: str, made: StoredReport) -> None:
    try:
        data = json.loads(content, object_pairs_hook=_members)
        made.cpu, made.backend = known_cpu(str(data["cpu"])), str(data["backend"])
        if data["rank"] is not None:
            if not re.fullmatch(r"[0-9]{1,9}", str(data["rank"])):
                raise PerfexError(f"{shown(str(data['rank']))} is not a rank")
            made.rank = int(data["rank"])
        if data.get("ended_by") is not None:
            made.end(str(data["ended_by"]))
        if data.get("repeats") is not None:
            made.runs = _runs(json.dumps(data["repeats"]["counted"]))
        _read_settings(data, made)
        for row in data["events"]:
            _read_json_event(row, made)
        made.is_thread = not data["events"] and bool(data["threads"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PerfexError(f"not a report of perfex: {type(error).__name__}: {shown(str(error))}") from None


def _read_settings(data: dict[str, Any], made: StoredReport) -> None:
    """What old reports do not have."""
    if data.get("command") is not None:
        made.command = report.printable(shlex.join(map(str, data["command"])))
    clock = data.get("clock")
    if clock is not None and _means_something(str(clock["source"]), made):
        made.clock = float(clock["MHz"]) if re.fullmatch(_NUMBER, json.dumps(clock["MHz"])) else None
    if isinstance(data.get("kernel"), bool):
        made.kernel = data["kernel"]
    made.l2 = _json_count(data.get("l2"))


def _read_json_event(row: dict[str, Any], made: StoredReport) -> None:
    count = _json_count(row["count"])
    event = made.add(str(row["event"]), "" if count is None else str(count), str(row.get("quality", "")),
                     estimated=row.get("estimated") is True, note=str(row.get("note", "")))
    if row.get("runs") is not None:
        made.add_runs(event, [_json_count(n) for n in row["runs"]["counts"]])
    elif made.runs > 1 and count is not None:
        raise PerfexError(f"the counts of the {made.runs} runs are missing")
