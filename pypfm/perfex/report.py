"""Reports of perfex: text, JSON and CSV with the same content."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from dataclasses import dataclass, field
from math import nan
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from pypfm._c.libperfex import ffi, lib
from pypfm.common.in_notebooks import Printed
from pypfm.common.runs import written
from pypfm.errors import printable
from pypfm.perfex import events, notes
from pypfm.perfex.c_call import printed
from pypfm.perfex.costs import CostTable
from pypfm.perfex.model import ON_LAYOUT, SIMULATORS, Measurement, Outcome, Request, Sample
from pypfm.perfex.spread import Spread, about, precise, short
from pypfm.perfex.statistics import Statistic, statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.perfex.annotate import Annotation
    from pypfm.perfex.changes import Comparison
    from pypfm.perfex.model import Event, ThreadCounts

__all__ = ["COLUMNS", "DEFAULT_L2", "Format", "Report", "csv_head", "csv_sample", "csv_text",
           "event_lines", "json_text", "printable", "sample_line", "table_head", "text", "thread_text"]

#: What a report can be printed as.
Format = Literal["text", "json", "csv"]
#: The columns of a report as CSV.
COLUMNS = ("kind", "pid", "tid", "seconds", "event", "name", "value", "quality", "share", "typical", "minimum",
           "maximum", "note", "program")
#: The secondary cache of a simulation in bytes, of which a report says nothing.
DEFAULT_L2: int = Request.l2
_FP = 21  # floating-point instructions, on each processor
# A list of numbers in JSON that stands on many lines; no text has a line's end in it.
_NUMBERS = re.compile(r"\[\n[\s\d,nul]+\]")
_COUNTED = {"perf": "counted by perf", "valgrind": "simulated by valgrind", "qemu": "simulated by qemu"}
_LAYOUT = "memory: this layout; --repeat N tries others, as cache misses depend on it"
_SPREAD_HEAD = f"{'mean':>21}{'deviation':>15}{'error':>10}{'minimum':>17}{'maximum':>17}"


@dataclass(frozen=True)
class Report(Printed):
    """All that is printed about a run.

    :ivar costs: in effect; None: no -y
    :ivar rank: of the launcher, or None
    :ivar verbose: as text with the whole notes, and why this backend has counted
    :ivar comparison: with the report of --baseline, or None
    :ivar annotation: --annotate: where the counts come from, or None
    """

    request: Request
    outcome: Outcome
    costs: CostTable | None = None
    rank: int | None = None
    notes: tuple[str, ...] = field(default=())
    verbose: bool = False
    comparison: Comparison | None = None
    annotation: Annotation | None = None

    def _text(self) -> str:
        return text(self)

    def __str__(self) -> str:
        """Return what the command perfex prints, with the tables of --annotate if there are any."""
        return text(self) + self.places()

    def places(self, width: int | None = None) -> str:
        """Return the functions and lines in which most was counted; empty if they are not known.

        :param width: columns of a terminal, where names are cut; None: they are whole
        """
        if self.annotation is None:
            return ""
        from pypfm.perfex import annotate_text
        return annotate_text.text(self.annotation, estimates=self.costs is not None,
                                  everything=self.request.multiplex, width=width)

    def _repr_html_(self) -> str:
        """Show the lines in which most was counted, if they are known; else what is printed."""
        if self.annotation is None:
            return super()._repr_html_()
        from pypfm.perfex import annotate_text
        return annotate_text.html(self.annotation, estimates=self.costs is not None, everything=self.request.multiplex)

    def times(self, m: Measurement) -> tuple[float, float, float] | None:
        """Return typical, minimum and maximum seconds; None where no cost is known."""
        if self.costs is None or m.value is None or m.event.index not in self.costs:
            return None
        typical, least, most = self.costs[m.event.index].seconds(m.value, self.outcome.clock)
        if m.low is None or m.high is None or not m.value:
            return typical, least, most
        return typical, least * m.low / m.value, most * m.high / m.value

    def settings(self) -> dict[str, object]:
        """Return the settings on which the counts depend, apart from the events."""
        return {"kernel": self.request.kernel, "l2": self.request.l2 if self.outcome.backend in SIMULATORS else None,
                **({"regions": True} if self.request.regions else {})}

    def ordered(self) -> list[Measurement]:
        """Return events in the order asked for, or with -y from most to least costly."""
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
        """Tell whether it was computed, not counted."""
        return m.low is not None or (
            self.outcome.estimated_cycles and m.event.index in events.cycles(self.request.cpu))

    def all_notes(self) -> list[str]:
        """Return notes on the counts; events with the same note share a line."""
        rows, of_run = self.outcome.measurements, self.outcome.notes
        made = notes.full(rows, of_run) if self.verbose else notes.short(
            rows, of_run, everything=self.request.multiplex)
        return [*made, *of_run, *self.notes, *(self.comparison.all_notes() if self.comparison else ())]


# ---- text -------------------------------------------------------------------------

def table_head(beside: str, below: str = "") -> list[str]:
    """Return the headings over `event_lines`."""
    return printed(lib.perfex_row, b"", b"event", beside.encode(), below.encode())


def event_lines(event: Event, beside: str, below: str = "") -> list[str]:
    """Return an event in a table of 80 columns: one line, or two if the name is long or has values below it.

    :param beside: values to the right of the name, as wide in all lines of a table
    :param below: values in the second line
    """
    return printed(lib.perfex_row, b"%3d " % event.index, event.name.encode(), beside.encode(), below.encode())


def _spread_line(m: Measurement, *, estimated: bool = False) -> str:
    """Describe how the counts of the runs differ; "": they do not."""
    spread = Spread.of(m.runs)
    if spread is None or spread.identical:
        return ""
    values = spread.mean, spread.deviation or 0.0, spread.minimum, spread.maximum
    mean, deviation, least, most = map(about, values) if estimated else (
        precise(values[0]), short(values[1]), str(values[2]), str(values[3]))
    return f"    {mean:>17} {deviation:>14} {spread.error or 0.0:>7.2f} % {least:>16} {most:>16}"


def _event_lines(report: Report, measurements: Sequence[Measurement], *, total: bool) -> list[str]:
    """Return the table; below the line of an event are its times, its spread and its change.

    :param total: of the command, and not of a thread
    """
    takes_turns = report.request.multiplex and report.outcome.backend == "perf"
    multiplexed = takes_turns or any(m.share < 1 for m in report.outcome.measurements)
    times, comparison = total and report.costs is not None, report.comparison if total else None
    lines = printed(lib.perfex_head, multiplexed, times)
    lines += [_SPREAD_HEAD] * any(map(_spread_line, measurements)) + ([comparison.head] if comparison else [])
    for m in measurements:
        estimated = report.is_estimated(m)
        words = "" if m.count is None else about(m.count) if estimated else str(m.count)
        if estimated and words and (seconds := report.times(m) if times else None):
            lines += event_lines(m.event, f" {words:>15}  {m.quality:11}", "".join(f" {about(t):>12}" for t in seconds))
        else:
            count = words.encode() or ffi.NULL
            lines += printed(lib.perfex_line, m.event.index, m.event.name.encode(), count, m.quality.encode(),
                             m.share if multiplexed else -1.0, (report.times(m) or [nan] * 3) if times else ffi.NULL)
        change = comparison.line(m.event.index) if comparison else ""
        if m.low is not None and m.high is not None:
            lines.append(f"    from {about(m.low)} to {about(m.high)}")
        lines += filter(None, [_spread_line(m, estimated=estimated), change])
    return lines


def _repeats(report: Report) -> list[str]:
    """Say how often the command was run."""
    repeats = report.outcome.repeats
    if repeats is None:
        return []
    of = f" of {repeats.asked}" if repeats.counted < repeats.asked else ""
    means = "counts and times are means" + "; costs and statistics are made of them" * (report.costs is not None)
    lines = [f"runs: {repeats.counted}{of}; {means if repeats.counted > 1 else 'these are its counts'}"]
    walls = [t.wall for t in repeats.times]
    what = "simulation" if any(t.simulated for t in repeats.times) else "run"
    lines += [f"time of a {what}: from {min(walls):.6f} to {max(walls):.6f} s"] if len(walls) > 1 else []
    return lines + [f"stopped: {printable(repeats.stopped)}"] * bool(repeats.stopped)


def _identical(report: Report) -> list[str]:
    """Say which counts were the same in all runs."""
    spreads = {m.event.index: spread for m in report.outcome.measurements if (spread := Spread.of(m.runs))}
    same = [event for event, spread in spreads.items() if spread.runs > 1 and spread.identical]
    if not same:
        return []
    which = f"event{'s' * (len(same) > 1)} {written(same, ', ')}"
    every = len(same) == len(spreads)
    return ["", *wrap(f"identical in all runs: {'every event that was counted' if every else which}", 80,
                      subsequent_indent="    ")]


def _head(report: Report) -> list[str]:
    request, outcome = report.request, report.outcome
    lines = [f"perfex: {request.cpu} events, "
             + (f"{outcome.code} code under {outcome.backend}" if outcome.code else _COUNTED[outcome.backend]),
             *([f"backend: {printable(outcome.why)}"] if report.verbose else []),
             *([f"process: {', '.join(map(str, request.pids))}"] if request.pids else []),
             *([f"command: {printable(shlex.join(request.command))}"] if request.command or not request.pids else [])]
    if t := outcome.times:
        of_what = "time of the simulation" if t.simulated else "time"
        lines.append(f"{of_what}: {t.wall:.3f} s, user {t.user:.3f} s, system {t.system:.3f} s")
    if outcome.ended_by:
        lines.append(f"ended by {outcome.ended_by}: the counts stop there")
    if report.rank is not None:
        lines.append(f"rank: {report.rank}")
    if request.kernel:
        lines.append("levels: user and kernel")
    if request.regions:
        lines.append("counted: from start_counters() to read_counters() of libperfex")
    if outcome.caches:
        lines += wrap(f"caches: {outcome.caches}", 80, subsequent_indent="    ")
    elif outcome.backend in SIMULATORS and request.l2 != DEFAULT_L2:
        lines.append(f"secondary cache: {request.l2 >> 20} MB")
    lines += _repeats(report)
    if (outcome.repeats is None or outcome.repeats.asked == 1) and outcome.backend == "valgrind" and any(
            m.quality in ON_LAYOUT and m.count is not None for m in outcome.measurements):
        lines.append(_LAYOUT)
    if report.costs is not None:
        lines.append(f"clock: {outcome.clock:g} MHz ({outcome.clock_source})")
    return lines


def _operations(report: Report) -> list[str]:
    """Say how many floating-point operations the instructions of event 21 are."""
    known = report.outcome.operations
    shown = known and any(m.event.index == _FP for m in report.outcome.measurements)
    return ["", f"floating-point operations of the instructions of event {_FP}: {known}"] if shown else []


def _threads(report: Report) -> list[str]:
    lines: list[str] = []
    for thread in report.outcome.threads:
        lines += ["", _label(thread), *_event_lines(report, thread.measurements, total=False)]
    return lines


def _label(thread: ThreadCounts) -> str:
    program = f", program {printable(thread.program)}" if thread.program else ""
    return f"thread: pid {thread.pid}, tid {thread.tid}{program}"


def text(report: Report, *, threads: bool = True) -> str:
    """Return the report for people.

    :param threads: with the counts of each thread, if there are any
    """
    lines = _head(report)
    if report.outcome.threads:
        lines += _threads(report) if threads else []
        lines += ["", f"total of {len(report.outcome.threads)} threads"]
    else:
        lines.append("")
    lines += [*_event_lines(report, report.ordered(), total=True), *_operations(report), *_identical(report)]
    if found := report.statistics():
        lines += ["", "statistics", *(f"    {s.name:.<63} {about(s.value) if s.estimated else f'{s.value:.6f}':>12}"
                                      for s in found)]
    if said := report.all_notes():
        lines += ["", "notes", *map(notes.folded, said)]
    return "\n".join(lines) + "\n"


def thread_text(report: Report, thread: ThreadCounts) -> str:
    """Return the report on one thread, for a file of its own."""
    lines = [*_head(report), "", _label(thread), *_event_lines(report, thread.measurements, total=False)]
    return "\n".join(lines) + "\n"


def sample_line(sample: Sample) -> str:
    """Return the counts at one moment."""
    counts = "  ".join(
        f"{event}={notes.NOT_AVAILABLE if count is None else about(count) if event in sample.modelled else count}"
        for event, count in sample.counts.items())
    return f"sample {sample.seconds:12.6f} s  {counts}\n"


# ---- JSON -------------------------------------------------------------------------

def _json_event(report: Report, m: Measurement) -> dict[str, object]:
    times = report.times(m)
    return {
        "event": m.event.index, "name": m.event.name, "count": m.count, "quality": m.quality,
        "estimated": report.is_estimated(m), "share": m.share, "note": m.note,
        **({} if m.low is None else {"low": m.low, "high": m.high}),
        "seconds": None if times is None else dict(zip(("typical", "minimum", "maximum"), times, strict=True)),
        "runs": _json_runs(m),
        "change": report.comparison.json_change(m.event.index) if report.comparison else None,
    }


def _json_runs(m: Measurement) -> dict[str, object] | None:
    """Return the counts of all runs."""
    spread = Spread.of(m.runs)
    return None if spread is None else {
        "counts": list(spread.counts), "mean": spread.mean, "deviation": spread.deviation, "minimum": spread.minimum,
        "maximum": spread.maximum, "error": spread.error}


def _json_repeats(report: Report) -> dict[str, object] | None:
    repeats = report.outcome.repeats
    return None if repeats is None else {
        "asked": repeats.asked, "counted": repeats.counted, "stopped": repeats.stopped or None,
        "times": [{"wall": t.wall, "user": t.user, "system": t.system} for t in repeats.times]}


def json_text(report: Report, only: Sequence[ThreadCounts] | None = None) -> str:
    """Return the report as JSON (schema: pypfm/schemas/perfex.json).

    :param only: for the file of a thread: this one, without a total
    """
    request, outcome = report.request, report.outcome
    threads = outcome.threads if only is None else only
    data: dict[str, object] = {
        "cpu": request.cpu, "backend": outcome.backend, "why": outcome.why, "command": list(request.command),
        **({"pids": list(request.pids)} if request.pids else {}),
        "status": outcome.status, "ended_by": outcome.ended_by or None, "rank": report.rank,
        "times": outcome.times and {"of": "simulation" if outcome.times.simulated else "command",
                                    "wall": outcome.times.wall, "user": outcome.times.user,
                                    "system": outcome.times.system},
        **({"code": outcome.code} if outcome.code else {}),
        **({"caches": outcome.caches} if outcome.caches else {}),
        **({} if outcome.operations is None else {"operations": outcome.operations}),
        "clock": {"MHz": outcome.clock, "source": outcome.clock_source} if outcome.clock else None,
        "events": [_json_event(report, m) for m in report.ordered()] if only is None else [],
        "statistics": [{"name": s.name, "value": s.value, "unit": s.unit, "estimated": s.estimated}
                       for s in (report.statistics() if only is None else ())],
        "threads": [{"pid": t.pid, "tid": t.tid, "program": t.program or None, "events": [
            {"event": m.event.index, "count": m.count, "estimated": report.is_estimated(m), "share": m.share}
            for m in t.measurements]} for t in threads],
        "samples": [{"seconds": s.seconds, "counts": [{"event": e, "count": c, "estimated": e in s.modelled}
                                                      for e, c in s.counts.items()]} for s in outcome.samples],
        "notes": [*outcome.notes, *report.notes],
        **report.settings(), "repeats": _json_repeats(report),
        "baseline": report.comparison.json_baseline() if report.comparison else None,
        "annotation": report.annotation.json_data() if report.annotation and only is None else None,
    }
    return _NUMBERS.sub(lambda found: " ".join(found[0].split()), json.dumps(data, indent=2)) + "\n"


# ---- CSV --------------------------------------------------------------------------

def _csv(rows: Iterable[dict[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    for row in rows:
        writer.writerow({name: "" if value is None else value for name, value in row.items()})
    return out.getvalue()


def csv_head() -> str:
    """Return the names of the columns."""
    return ",".join(COLUMNS) + "\n"


def csv_sample(sample: Sample) -> str:
    """Return the counts at one moment."""
    return _csv({"kind": "sample", "seconds": f"{sample.seconds:.6f}", "event": e, "value": c,
                 "quality": "modelled" if e in sample.modelled else None} for e, c in sample.counts.items())


def _csv_event(report: Report, m: Measurement, kind: str) -> dict[str, object]:
    typical, minimum, maximum = (kind == "event" and report.times(m)) or (None, None, None)
    return {"kind": kind, "event": m.event.index, "name": m.event.name, "value": m.count, "quality": m.quality,
            "share": m.share, "typical": typical, "minimum": minimum, "maximum": maximum, "note": m.note}


def _csv_runs(m: Measurement) -> Iterator[dict[str, object]]:
    """Yield the spread of an event, and its count in each run, whose number is the name."""
    spread = Spread.of(m.runs)
    if spread:
        for name in ("mean", "deviation", "minimum", "maximum", "error"):
            yield {"kind": "spread", "event": m.event.index, "name": name, "value": getattr(spread, name)}
        for number, count in enumerate(spread.counts, 1):
            yield {"kind": "repeat", "event": m.event.index, "name": number, "value": count}


def csv_text(report: Report, only: Sequence[ThreadCounts] | None = None) -> str:
    """Return the rows of the report, one kind after the other; `csv_head` and the samples come before them.

    :param only: for the file of a thread: this one, without a total
    """
    request, outcome = report.request, report.outcome
    facts = {"cpu": request.cpu, "backend": outcome.backend, "why": outcome.why, "status": outcome.status,
             "ended_by": outcome.ended_by or None, "rank": report.rank, "clock": outcome.clock or None,
             **{name: int(value) if isinstance(value, bool) else value for name, value in report.settings().items()},
             "command": printable(shlex.join(request.command))}
    if t := outcome.times:
        facts |= {"times_of": "simulation" if t.simulated else "command", "wall": t.wall, "user": t.user,
                  "system": t.system}
    if outcome.repeats:
        facts |= {"runs": outcome.repeats.counted, "runs_asked": outcome.repeats.asked,
                  "stopped": outcome.repeats.stopped or None}
    rows: list[dict[str, object]] = [{"kind": "run", "name": k, "value": v} for k, v in facts.items()]
    for thread in outcome.threads if only is None else only:
        rows += [_csv_event(report, m, "thread") | {"pid": thread.pid, "tid": thread.tid, "program": thread.program}
                 for m in thread.measurements]
    if only is None:
        rows += [_csv_event(report, m, "event") for m in report.ordered()]
        rows += [{"kind": "range", "event": m.event.index, "name": name, "value": value} for m in report.ordered()
                 for name, value in (("low", m.low), ("high", m.high)) if value is not None]
        rows += [row for m in report.ordered() for row in _csv_runs(m)]
        rows += [{"kind": "repeat", "name": number, "seconds": t.wall}
                 for number, t in enumerate(outcome.repeats.times if outcome.repeats else (), 1)]
        rows += report.comparison.csv_rows() if report.comparison else []
        rows += [{"kind": "statistic", "name": s.name, "value": s.value,
                  "quality": "modelled" if s.estimated else None} for s in report.statistics()]
        rows += [{"kind": "note", "note": note} for note in (*outcome.notes, *report.notes)]
    return _csv(rows)
