"""What perfex prints: text, JSON and CSV of the same report."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Literal

from pypfm._c.libperfex import ffi, lib
from pypfm.perfex import events
from pypfm.perfex import notes as about
from pypfm.perfex.c_call import printed
from pypfm.perfex.costs import CostTable
from pypfm.perfex.model import Measurement, Outcome, Request, Sample
from pypfm.perfex.statistics import Statistic, statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pypfm.perfex.model import Event, ThreadCounts

__all__ = ["COLUMNS", "NOT_AVAILABLE", "Format", "Report", "csv_head", "csv_sample", "csv_text", "event_lines",
           "json_text", "printable", "sample_line", "table_head", "text", "thread_text"]

#: What a report can be printed as.
Format = Literal["text", "json", "csv"]
#: What is printed in place of a number that is not known; never 0.
NOT_AVAILABLE = "not available"
#: The columns of a report as CSV.
COLUMNS = ("kind", "pid", "tid", "seconds", "event", "name", "value", "quality", "share", "typical", "minimum",
           "maximum", "note", "program")


@dataclass(frozen=True)
class Report:
    """All that is printed about a run.

    :ivar costs: in effect; None: no -y
    :ivar rank: of the launcher, or None
    :ivar verbose: as text with the whole notes, and why this backend has counted
    """

    request: Request
    outcome: Outcome
    costs: CostTable | None = None
    rank: int | None = None
    notes: tuple[str, ...] = field(default=())
    verbose: bool = False

    def times(self, m: Measurement) -> tuple[float, float, float] | None:
        """Typical, minimum and maximum seconds; None where no cost is known."""
        if self.costs is None or m.count is None or m.event.index not in self.costs:
            return None
        return self.costs[m.event.index].seconds(m.count, self.outcome.clock)

    def ordered(self) -> list[Measurement]:
        """In the order asked for, or with -y from most to least costly."""
        if self.costs is None:
            return list(self.outcome.measurements)
        return sorted(self.outcome.measurements, key=self._rank_of)

    def _rank_of(self, m: Measurement) -> tuple[float, float, bool, int]:
        typical, _, maximum = self.times(m) or (0.0, 0.0, 0.0)
        return -typical, -maximum, m.count is None, m.event.index

    def statistics(self) -> list[Statistic]:
        if self.costs is None:
            return []
        return statistics(self.request.cpu, self.outcome.measurements, self.outcome.clock, self.costs,
                          self.outcome.lines)

    def is_estimated(self, m: Measurement) -> bool:
        """Whether it was computed, not counted."""
        return self.outcome.estimated_cycles and m.event.index in events.cycles(self.request.cpu)

    def all_notes(self) -> list[str]:
        """Notes on the counts; events with the same note share a line."""
        rows, of_run = self.outcome.measurements, self.outcome.notes
        if self.verbose:
            return [*about.full(rows, of_run), *of_run, *self.notes]
        return [*about.short(rows, of_run, everything=self.request.multiplex), *of_run, *self.notes]


# ---- text -------------------------------------------------------------------------

def printable(words: str) -> str:
    """Text of a user on one line of any terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words)


def table_head(beside: str, below: str = "") -> list[str]:
    """The headings over `event_lines`."""
    return printed(lib.perfex_row, b"", b"event", beside.encode(), below.encode())


def event_lines(event: Event, beside: str, below: str = "") -> list[str]:
    """An event in a table of 80 columns: one line, or two where the name is long or has values below it.

    :param beside: values to the right of the name, as wide in all lines of a table
    :param below: values in the second line
    """
    return printed(lib.perfex_row, b"%3d " % event.index, event.name.encode(), beside.encode(), below.encode())


def _event_lines(report: Report, measurements: Iterable[Measurement], *, times: bool) -> list[str]:
    takes_turns = report.request.multiplex and report.outcome.backend == "perf"
    multiplexed = takes_turns or any(m.share < 1 for m in report.outcome.measurements)
    lines = printed(lib.perfex_head, multiplexed, times)
    for m in measurements:
        count = ffi.NULL if m.count is None else f"{'~' * report.is_estimated(m)}{m.count}".encode()
        lines += printed(lib.perfex_line, m.event.index, m.event.name.encode(), count, m.quality.encode(),
                         m.share if multiplexed else -1.0, (report.times(m) or [nan] * 3) if times else ffi.NULL)
    return lines


def _head(report: Report) -> list[str]:
    request, outcome = report.request, report.outcome
    how = "simulated" if outcome.backend == "valgrind" else "counted"
    lines = [f"perfex: {request.cpu} events, {how} by {outcome.backend}",
             *([f"backend: {printable(outcome.why)}"] if report.verbose else []),
             f"command: {printable(shlex.join(request.command))}"]
    if t := outcome.times:
        of_what = "time of the simulation" if t.simulated else "time"
        lines.append(f"{of_what}: {t.wall:.3f} s, user {t.user:.3f} s, system {t.system:.3f} s")
    if outcome.ended_by:
        lines.append(f"ended by {outcome.ended_by}: the counts stop there")
    if report.rank is not None:
        lines.append(f"rank: {report.rank}")
    if report.costs is not None:
        lines.append(f"clock: {outcome.clock:g} MHz ({outcome.clock_source})")
    return lines


def _threads(report: Report) -> list[str]:
    lines: list[str] = []
    for thread in report.outcome.threads:
        lines += ["", _label(thread), *_event_lines(report, thread.measurements, times=False)]
    return lines


def _label(thread: ThreadCounts) -> str:
    program = f", program {printable(thread.program)}" if thread.program else ""
    return f"thread: pid {thread.pid}, tid {thread.tid}{program}"


def text(report: Report, *, threads: bool = True) -> str:
    """The report for people.

    :param threads: with the counts of each thread, if there are any
    """
    lines = _head(report)
    if report.outcome.threads:
        lines += _threads(report) if threads else []
        lines += ["", f"total of {len(report.outcome.threads)} threads"]
    else:
        lines.append("")
    lines += _event_lines(report, report.ordered(), times=report.costs is not None)
    if found := report.statistics():
        lines += ["", "statistics", *(f"    {s.name:.<63} {s.value:12.6f}" for s in found)]
    if notes := report.all_notes():
        cut = any(note.endswith(about.MORE) for note in notes)
        lines += ["", "notes (in full: --verbose)" if cut else "notes", *(f"    {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def thread_text(report: Report, thread: ThreadCounts) -> str:
    """The report on one thread, for a file of its own."""
    lines = [*_head(report), "", _label(thread), *_event_lines(report, thread.measurements, times=False)]
    return "\n".join(lines) + "\n"


def sample_line(sample: Sample) -> str:
    """The counts at one moment."""
    counts = "  ".join(f"{event}={NOT_AVAILABLE if count is None else count}" for event, count in sample.counts.items())
    return f"sample {sample.seconds:12.6f} s  {counts}\n"


# ---- JSON -------------------------------------------------------------------------

def _json_event(report: Report, m: Measurement) -> dict[str, object]:
    times = report.times(m)
    return {
        "event": m.event.index, "name": m.event.name, "count": m.count, "quality": m.quality,
        "estimated": report.is_estimated(m), "share": m.share, "note": m.note,
        "seconds": None if times is None else dict(zip(("typical", "minimum", "maximum"), times, strict=True)),
    }


def json_text(report: Report, only: Sequence[ThreadCounts] | None = None) -> str:
    """The report as JSON (schema: pypfm/schemas/perfex.json).

    :param only: for the file of a thread: this one, without a total
    """
    request, outcome = report.request, report.outcome
    threads = outcome.threads if only is None else only
    data: dict[str, object] = {
        "cpu": request.cpu, "backend": outcome.backend, "why": outcome.why, "command": list(request.command),
        "status": outcome.status, "ended_by": outcome.ended_by or None, "rank": report.rank,
        "times": outcome.times and {"of": "simulation" if outcome.times.simulated else "command",
                                    "wall": outcome.times.wall, "user": outcome.times.user,
                                    "system": outcome.times.system},
        "clock": {"MHz": outcome.clock, "source": outcome.clock_source} if outcome.clock else None,
        "events": [_json_event(report, m) for m in report.ordered()] if only is None else [],
        "statistics": [{"name": s.name, "value": s.value, "unit": s.unit}
                       for s in (report.statistics() if only is None else ())],
        "threads": [{"pid": t.pid, "tid": t.tid, "program": t.program or None, "events": [
            {"event": m.event.index, "count": m.count, "share": m.share} for m in t.measurements]} for t in threads],
        "samples": [{"seconds": s.seconds, "counts": [{"event": e, "count": c} for e, c in s.counts.items()]}
                    for s in outcome.samples],
        "notes": [*outcome.notes, *report.notes],
    }
    return json.dumps(data, indent=2) + "\n"


# ---- CSV --------------------------------------------------------------------------

def _csv(rows: Iterable[dict[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    for row in rows:
        writer.writerow({name: "" if value is None else value for name, value in row.items()})
    return out.getvalue()


def csv_head() -> str:
    """The names of the columns."""
    return ",".join(COLUMNS) + "\n"


def csv_sample(sample: Sample) -> str:
    """The counts at one moment."""
    return _csv({"kind": "sample", "seconds": f"{sample.seconds:.6f}", "event": e, "value": c}
                for e, c in sample.counts.items())


def _csv_event(report: Report, m: Measurement, kind: str) -> dict[str, object]:
    typical, minimum, maximum = (kind == "event" and report.times(m)) or (None, None, None)
    return {"kind": kind, "event": m.event.index, "name": m.event.name, "value": m.count, "quality": m.quality,
            "share": m.share, "typical": typical, "minimum": minimum, "maximum": maximum, "note": m.note}


def csv_text(report: Report, only: Sequence[ThreadCounts] | None = None) -> str:
    """The rows of the report, one kind after the other; `csv_head` and the samples come before them.

    :param only: for the file of a thread: this one, without a total
    """
    request, outcome = report.request, report.outcome
    facts = {"cpu": request.cpu, "backend": outcome.backend, "why": outcome.why, "status": outcome.status,
             "ended_by": outcome.ended_by or None, "rank": report.rank, "clock": outcome.clock or None}
    if t := outcome.times:
        facts |= {"times_of": "simulation" if t.simulated else "command", "wall": t.wall, "user": t.user,
                  "system": t.system}
    rows: list[dict[str, object]] = [{"kind": "run", "name": k, "value": v} for k, v in facts.items()]
    for thread in outcome.threads if only is None else only:
        rows += [_csv_event(report, m, "thread") | {"pid": thread.pid, "tid": thread.tid, "program": thread.program}
                 for m in thread.measurements]
    if only is None:
        rows += [_csv_event(report, m, "event") for m in report.ordered()]
        rows += [{"kind": "statistic", "name": s.name, "value": s.value} for s in report.statistics()]
        rows += [{"kind": "note", "note": note} for note in (*outcome.notes, *report.notes)]
    return _csv(rows)
