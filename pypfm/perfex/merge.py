"""Adding up the reports of several ranks (perfex --merge)."""

from __future__ import annotations

import csv
import glob
import io
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pypfm.errors import shown
from pypfm.perfex import events, report
from pypfm.perfex.c_call import known_cpu, read_limited
from pypfm.perfex.model import Cpu, Event, PerfexError, Quality
from pypfm.perfex.perf_table import QUALITIES

__all__ = ["Merged", "RankReport", "Row", "find", "merge", "read"]

_FIRST = re.compile(r"perfex: (\S+) events, (?:counted|simulated) by (\S+)")
_RANK = re.compile(r"rank: ([0-9]{1,9})")
_COUNT = re.compile(r"[0-9]{1,20}")
_ENDED = re.compile(r"ended by (SIG[A-Z0-9+]{1,20}): .*")
_SIGNAL = re.compile(r"SIG[A-Z0-9+]{1,20}")
_EVENT = re.compile(r" {0,2}([0-9]{1,2}) \S.*?\.* +(~?)([0-9]{1,20}|" + report.NOT_AVAILABLE
                    + r")(?: +([a-z]+))?(?: .*)?")


@dataclass
class RankReport:
    """What the report of a rank says.

    :ivar name: of the file
    :ivar ended_by: the signal that ended its command, or nothing
    :ivar counts: by event; None: not available
    :ivar qualities: by event, of the counts
    :ivar estimated: the events that were computed, not counted
    :ivar is_thread: the file is that of one thread (-mp), which the rank's own contains
    """

    name: str
    rank: int | None = None
    cpu: Cpu = "r10000"
    backend: str = ""
    ended_by: str = ""
    counts: dict[int, int | None] = field(default_factory=dict)
    qualities: dict[int, Quality] = field(default_factory=dict)
    estimated: set[int] = field(default_factory=set)
    is_thread: bool = False

    @property
    def label(self) -> str:
        """The rank, or else the name of the file."""
        return report.printable(self.name) if self.rank is None else f"rank {self.rank}"

    def end(self, name: str) -> None:
        """Note the signal that ended the command.

        :raises PerfexError: it is not a signal
        """
        if not _SIGNAL.fullmatch(name):
            raise PerfexError(f"{shown(name)} is not a signal")
        self.ended_by = name

    def add(self, event: str, count: str, quality: str = "", *, estimated: bool = False) -> None:
        """Note the count of an event; nothing, or NOT_AVAILABLE: there is none.

        :param quality: of the count, or nothing
        :raises PerfexError: one of them is wrong, or the event is there already
        """
        number = events.event_number(event, "event")
        if number in self.counts:
            raise PerfexError(f"event {number} stands here a second time")
        if count in ("", report.NOT_AVAILABLE):
            self.counts[number] = None
        elif _COUNT.fullmatch(count):
            self.counts[number] = int(count)
        else:
            raise PerfexError(f"{shown(count)} is not a count")
        if quality:
            if quality not in QUALITIES:
                raise PerfexError(f"{shown(quality)} is not a quality; {', '.join(QUALITIES)} are")
            self.qualities[number] = cast("Quality", quality)
        if estimated:
            self.estimated.add(number)


@dataclass(frozen=True)
class Row:
    """An event over the ranks.

    :ivar total, minimum, mean, maximum: None: not available in all reports
    :ivar quality: the worst of the reports'; None: they do not say
    :ivar estimated: at least one of the counts was computed
    """

    event: Event
    total: int | None = None
    minimum: int | None = None
    mean: float | None = None
    maximum: int | None = None
    quality: Quality | None = None
    estimated: bool = False


@dataclass(frozen=True)
class Merged:
    """The reports of several ranks.

    :ivar ended: label and signal of the ranks that a signal ended
    :ivar slowest: label and cycles of the rank with the most cycles; None: they were not counted
    """

    cpu: Cpu
    ranks: tuple[str, ...]
    ended: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    slowest: tuple[str, int] | None


def find(names: list[str]) -> list[Path]:
    """The files that are named; for FILE of ``-o FILE``, those of its ranks."""
    found: dict[Path, None] = {}
    for name in names:
        path = Path(name)
        beside = path.parent.glob(f"{glob.escape(path.name)}.*")
        ranks = [p for p in beside if re.fullmatch(r"\.[0-9]+", p.name[len(path.name):])]
        if path.exists() or not ranks:
            found[path] = None
        else:
            found |= dict.fromkeys(sorted(ranks, key=lambda p: int(p.suffix[1:])))
    return list(found)


# ---- reading ------------------------------------------------------------------------

def read(path: Path) -> RankReport:
    """A report in any of the three formats.

    :raises PerfexError: it is not a report; names the line
    """
    content = read_limited(path)
    made = RankReport(path.name)
    try:
        if content.startswith("{"):
            _read_json(content, made)
        elif not content.endswith("\n"):
            raise PerfexError("not a report of perfex, or its end is missing")
        elif content.startswith(report.csv_head()):
            _read_csv(content, made)
        else:
            _read_text(content, made)
    except (PerfexError, csv.Error) as error:
        raise PerfexError(f"{path}: {error}") from None
    if not made.counts and not made.is_thread:
        raise PerfexError(f"{path}: no counts")
    return made


def _add(made: RankReport, line: int, event: str, count: str, quality: str, *, estimated: bool) -> None:
    try:
        made.add(event, count, quality, estimated=estimated)
    except PerfexError as error:
        raise PerfexError(f"line {line}: {error}") from None


def _read_text(content: str, made: RankReport) -> None:
    lines = content.split("\n")
    first = _FIRST.fullmatch(next((line for line in lines if not line.startswith("sample ")), ""))  # samples of -p
    if first is None:
        raise PerfexError("not a report of perfex")
    made.cpu, made.backend = known_cpu(first[1]), first[2]
    for number, line in enumerate(lines, 1):
        if rank := _RANK.fullmatch(line):
            made.rank = int(rank[1])
        elif ended := _ENDED.fullmatch(line):
            made.end(ended[1])
        elif line.startswith(("thread: ", "total of ")):
            for noted in (made.counts, made.qualities, made.estimated):
                noted.clear()
            made.is_thread = line.startswith("thread: ")
        elif line.partition(" ")[0] in ("statistics", "notes"):
            return
        elif re.match(r" {0,2}[0-9]", line):
            row = _EVENT.fullmatch(line)
            if row is None:
                raise PerfexError(f"line {number}: {shown(line)} is not a count")
            _add(made, number, row[1], row[3], row[4] or "", estimated=bool(row[2]))


def _read_csv(content: str, made: RankReport) -> None:
    made.is_thread = True
    for number, row in enumerate(csv.DictReader(io.StringIO(content), strict=True), 2):
        kind, name, value = row["kind"], row["name"], row["value"] or ""
        if kind == "run" and name == "cpu":
            made.cpu = known_cpu(value)
        elif kind == "run" and name == "backend":
            made.backend = value
        elif kind == "run" and name == "rank" and re.fullmatch("[0-9]{1,9}", value):
            made.rank = int(value)
        elif kind == "run" and name == "ended_by" and value:
            made.end(value)
        elif kind == "event":
            made.is_thread = False
            estimated = made.backend == "valgrind" and name == events.table(made.cpu)[0].name and bool(value)
            _add(made, number, row["event"] or "", value, row["quality"] or "", estimated=estimated)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON without duplicate members."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands in an object a second time")
    return members


def _read_json(content: str, made: RankReport) -> None:
    try:
        data = json.loads(content, object_pairs_hook=_members)
        made.cpu, made.backend = known_cpu(str(data["cpu"])), str(data["backend"])
        if data["rank"] is not None:
            if not re.fullmatch(r"[0-9]{1,9}", str(data["rank"])):
                raise PerfexError(f"{shown(str(data['rank']))} is not a rank")
            made.rank = int(data["rank"])
        if data.get("ended_by") is not None:
            made.end(str(data["ended_by"]))
        for row in data["events"]:
            made.add(str(row["event"]), "" if row["count"] is None else json.dumps(row["count"]),
                     str(row.get("quality", "")), estimated=row.get("estimated") is True)
        made.is_thread = not data["events"] and bool(data["threads"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PerfexError(f"not a report of perfex: {type(error).__name__}: {shown(str(error))}") from None


# ---- adding up ----------------------------------------------------------------------

def merge(reports: list[RankReport]) -> Merged:
    """Add up the reports of ranks; those of threads are in them already.

    :raises PerfexError: there is none, two have the same name, or their cpus differ
    """
    ranks = sorted((r for r in reports if not r.is_thread), key=lambda r: (r.rank is None, r.rank or 0))
    if not ranks:
        raise PerfexError("--merge: only files of threads; the totals are in those without a thread in their name")
    cpu = ranks[0].cpu
    for r in ranks:
        if r.cpu != cpu:
            raise PerfexError(f"--merge: {ranks[0].label} counted events of the {cpu}, {r.label} of the {r.cpu}")
    labels = [r.label for r in ranks]
    if twice := next((name for name in labels if labels.count(name) > 1), None):
        raise PerfexError(f"--merge: {twice} stands in two of the files")
    kinds = list(dict.fromkeys(event for r in ranks for event in r.counts))
    rows = tuple(_row(events.table(cpu)[i], ranks) for i in sorted(kinds))
    ended = tuple((r.label, r.ended_by) for r in ranks if r.ended_by)
    return Merged(cpu, tuple(labels), ended, rows, _slowest(cpu, ranks))


def _row(event: Event, ranks: list[RankReport]) -> Row:
    i = event.index
    known = [count for r in ranks if (count := r.counts.get(i)) is not None]
    if len(known) < len(ranks):
        return Row(event, quality="unavailable")
    qualities = [r.qualities[i] for r in ranks if i in r.qualities]
    worst = max(qualities, key=QUALITIES.index) if len(qualities) == len(ranks) else None
    return Row(event, sum(known), min(known), sum(known) / len(known), max(known), worst,
               any(i in r.estimated for r in ranks))


def _slowest(cpu: Cpu, ranks: list[RankReport]) -> tuple[str, int] | None:
    for event in events.cycles(cpu):
        found = [(r.label, count) for r in ranks if (count := r.counts.get(event)) is not None]
        if len(found) == len(ranks):
            return max(found, key=lambda f: f[1])
    return None


# ---- printing -----------------------------------------------------------------------

def text(merged: Merged) -> str:
    """For people."""
    ended = dict(merged.ended)
    ranks = [f"{name} (ended by {ended[name]})" if name in ended else name for name in merged.ranks]
    lines = [f"perfex: {merged.cpu} events, sums of {', '.join(ranks)}", "",
             *report.table_head(f" {'total':>19}  {'quality':11}",
                                "".join(f"{h:>20}" for h in ("minimum", "mean", "maximum")))]
    for row in merged.rows:
        if row.total is None:
            lines += report.event_lines(row.event, f" {report.NOT_AVAILABLE:>19}  {'':11}")
            continue
        about = "~" if row.estimated else ""
        total, *numbers = (f"{about}{n}" for n in (row.total, row.minimum, f"{row.mean:.1f}", row.maximum))
        below = "".join(f"{n:>20}" for n in numbers)
        lines += report.event_lines(row.event, f" {total:>19}  {row.quality or '':11}", below)
    about = _estimated_cycles(merged)
    lines += ["", f"slowest: {merged.slowest[0]}, {about}{merged.slowest[1]} cycles" if merged.slowest
              else "slowest: not known, as cycles were not counted by all"]
    return "\n".join(lines) + "\n"


def _estimated_cycles(merged: Merged) -> str:
    """~ before cycles that were computed."""
    return "~" if any(row.estimated and row.event.index in events.cycles(merged.cpu) for row in merged.rows) else ""


def json_text(merged: Merged) -> str:
    """As JSON (schema: pypfm/schemas/perfex_merge.json)."""
    rows = [{"event": r.event.index, "name": r.event.name, "total": r.total, "minimum": r.minimum, "mean": r.mean,
             "maximum": r.maximum, "quality": r.quality, "estimated": r.estimated} for r in merged.rows]
    slowest = merged.slowest and {"rank": merged.slowest[0], "cycles": merged.slowest[1]}
    ended = [{"rank": name, "by": by} for name, by in merged.ended]
    return json.dumps({"cpu": merged.cpu, "ranks": list(merged.ranks), "ended": ended, "events": rows,
                       "slowest": slowest}, indent=2) + "\n"


def csv_text(merged: Merged) -> str:
    """A row for each event, then the ranks that a signal ended, and last the slowest rank."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("kind", "event", "name", "total", "minimum", "mean", "maximum", "quality", "estimated"))
    for r in merged.rows:
        writer.writerow(("event", r.event.index, r.event.name, r.total, r.minimum, r.mean, r.maximum, r.quality,
                         int(r.estimated)))
    for name, by in merged.ended:
        writer.writerow(("ended", "", name, by, "", "", "", "", ""))
    if merged.slowest:
        writer.writerow(("slowest", "", *merged.slowest, "", "", "", "", ""))
    return out.getvalue()
