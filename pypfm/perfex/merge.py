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
from pypfm.perfex.model import CPUS, Cpu, Event, PerfexError
from pypfm.perfex.tables import read_limited

__all__ = ["Merged", "RankReport", "Row", "find", "merge", "read"]

_FIRST = re.compile(r"perfex: (\S+) backend, (\S+) events: ")
_RANK = re.compile(r"rank: ([0-9]{1,9})")
_COUNT = re.compile(r"[0-9]{1,20}")
_EVENT = re.compile(r" {0,2}([0-9]{1,2}) \S.*?\.* +~?([0-9]{1,20}|" + report.NOT_AVAILABLE + r")(?: .*)?")


@dataclass
class RankReport:
    """What the report of a rank says.

    :ivar name: of the file
    :ivar counts: by event; None: not available
    :ivar is_thread: the file is that of one thread (-mp), which the rank's own contains
    """

    name: str
    rank: int | None = None
    cpu: Cpu = "r10000"
    backend: str = ""
    counts: dict[int, int | None] = field(default_factory=dict)
    is_thread: bool = False

    @property
    def label(self) -> str:
        """The rank, or else the name of the file."""
        return report.printable(self.name) if self.rank is None else f"rank {self.rank}"

    def add(self, event: str, count: str) -> None:
        """Note the count of an event; nothing, or NOT_AVAILABLE: there is none.

        :raises PerfexError: one of them is no number, or the event is there already
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


@dataclass(frozen=True)
class Row:
    """An event over the ranks.

    :ivar total, minimum, mean, maximum: None: not available in all reports
    """

    event: Event
    total: int | None = None
    minimum: int | None = None
    mean: float | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class Merged:
    """The reports of several ranks.

    :ivar slowest: label and cycles of the rank with the most cycles; None: they were not counted
    """

    cpu: Cpu
    ranks: tuple[str, ...]
    rows: tuple[Row, ...]
    slowest: tuple[str, int] | None


def find(names: list[str]) -> list[Path]:
    """The files: those that are named, and for FILE of ``-o FILE`` those of its ranks."""
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

    :raises PerfexError: it is none; names the line
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


def _cpu(name: str) -> Cpu:
    if name not in CPUS:
        raise PerfexError(f"{shown(name)} is not a cpu; {', '.join(CPUS)} are")
    return cast("Cpu", name)


def _add(made: RankReport, event: str, count: str, line: int) -> None:
    try:
        made.add(event, count)
    except PerfexError as error:
        raise PerfexError(f"line {line}: {error}") from None


def _read_text(content: str, made: RankReport) -> None:
    lines = content.split("\n")
    first = _FIRST.match(next((line for line in lines if not line.startswith("sample ")), ""))  # samples of -p
    if first is None:
        raise PerfexError("not a report of perfex")
    made.backend, made.cpu = first[1], _cpu(first[2])
    for number, line in enumerate(lines, 1):
        if rank := _RANK.fullmatch(line):
            made.rank = int(rank[1])
        elif line.startswith(("thread: ", "total of ")):
            made.counts.clear()
            made.is_thread = line.startswith("thread: ")
        elif line in ("statistics", "notes"):
            return
        elif re.match(r" {0,2}[0-9]", line):
            row = _EVENT.fullmatch(line)
            if row is None:
                raise PerfexError(f"line {number}: {shown(line)} is not a count")
            _add(made, row[1], row[2], number)


def _read_csv(content: str, made: RankReport) -> None:
    made.is_thread = True
    for number, row in enumerate(csv.DictReader(io.StringIO(content), strict=True), 2):
        kind, name, value = row["kind"], row["name"], row["value"] or ""
        if kind == "run" and name == "cpu":
            made.cpu = _cpu(value)
        elif kind == "run" and name == "backend":
            made.backend = value
        elif kind == "run" and name == "rank" and re.fullmatch("[0-9]{1,9}", value):
            made.rank = int(value)
        elif kind == "event":
            made.is_thread = False
            _add(made, row["event"] or "", value, number)


def _read_json(content: str, made: RankReport) -> None:
    try:
        data = json.loads(content)
        made.cpu, made.backend = _cpu(str(data["cpu"])), str(data["backend"])
        if data["rank"] is not None:
            if not re.fullmatch(r"[0-9]{1,9}", str(data["rank"])):
                raise PerfexError(f"{shown(str(data['rank']))} is not a rank")
            made.rank = int(data["rank"])
        for row in data["events"]:
            made.add(str(row["event"]), "" if row["count"] is None else json.dumps(row["count"]))
        made.is_thread = not data["events"] and bool(data["threads"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PerfexError(f"not a report of perfex: {type(error).__name__}: {shown(str(error))}") from None


# ---- adding up ----------------------------------------------------------------------

def merge(reports: list[RankReport]) -> Merged:
    """Add up the reports of ranks; those of threads are in them already.

    :raises PerfexError: none is there, two have one name, or they are of different cpus
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
    rows = tuple(_row(events.table(cpu)[i], [r.counts.get(i) for r in ranks]) for i in sorted(kinds))
    return Merged(cpu, tuple(labels), rows, _slowest(cpu, ranks))


def _row(event: Event, counts: list[int | None]) -> Row:
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return Row(event)
    return Row(event, sum(known), min(known), sum(known) / len(known), max(known))


def _slowest(cpu: Cpu, ranks: list[RankReport]) -> tuple[str, int] | None:
    for event in events.cycles(cpu):
        found = [(r.label, count) for r in ranks if (count := r.counts.get(event)) is not None]
        if len(found) == len(ranks):
            return max(found, key=lambda f: f[1])
    return None


# ---- printing -----------------------------------------------------------------------

def text(merged: Merged) -> str:
    """For people."""
    lines = [f"perfex: {merged.cpu} events, sums of {', '.join(merged.ranks)}", "",
             *report.table_head(f"{'total':>20}", "".join(f"{h:>20}" for h in ("minimum", "mean", "maximum")))]
    for row in merged.rows:
        total = report.NOT_AVAILABLE if row.total is None else row.total
        below = "" if row.total is None else f"{row.minimum:20}{row.mean:20.1f}{row.maximum:20}"
        lines += report.event_lines(row.event, f" {total:>19}", below)
    lines += ["", f"slowest: {merged.slowest[0]}, {merged.slowest[1]} cycles" if merged.slowest
              else "slowest: not known, as cycles were not counted by all"]
    return "\n".join(lines) + "\n"


def json_text(merged: Merged) -> str:
    """As JSON (schema: pypfm/schemas/perfex_merge.json)."""
    rows = [{"event": r.event.index, "name": r.event.name, "total": r.total, "minimum": r.minimum, "mean": r.mean,
             "maximum": r.maximum} for r in merged.rows]
    slowest = merged.slowest and {"rank": merged.slowest[0], "cycles": merged.slowest[1]}
    return json.dumps({"cpu": merged.cpu, "ranks": list(merged.ranks), "events": rows, "slowest": slowest},
                      indent=2) + "\n"


def csv_text(merged: Merged) -> str:
    """A row an event; the slowest rank comes last."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("kind", "event", "name", "total", "minimum", "mean", "maximum"))
    for r in merged.rows:
        writer.writerow(("event", r.event.index, r.event.name, r.total, r.minimum, r.mean, r.maximum))
    if merged.slowest:
        writer.writerow(("slowest", "", *merged.slowest, "", "", ""))
    return out.getvalue()
