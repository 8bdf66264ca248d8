"""Comparison of two reports: what has changed, and what of that is noise (perfex --compare, --baseline)."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.runs import written
from pypfm.perfex import events, noise, report
from pypfm.perfex.changes import Change, Comparison, Side, whole
from pypfm.perfex.model import ON_LAYOUT, SIMULATORS, Event, PerfexError
from pypfm.perfex.notes import NOT_AVAILABLE, folded
from pypfm.perfex.reading import StoredReport, read
from pypfm.perfex.spread import Spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["LEVEL", "baseline", "check", "compare", "csv_text", "json_text", "read_two", "text"]

#: A change is none of noise if its p, corrected for the number of events, is below this.
LEVEL = 0.05
_NOT_COUNTED = "not counted"
_EXACT = "same, differs: a simulation counts the same again, so that any difference is one of the programs"
_LAYOUT = ("this layout: one run each, with stack, heap and mappings where they happened to lie, on which misses"
           " depend; --repeat moves them, and says what of the difference is left")
_R10000 = "an R10000's"
_TESTED = (f"change: p is below {LEVEL:g}, noise: it is not; by Welch's t-test on the means, two-sided, corrected for"
           " the number of events (Holm)")
_SINGLE = "one run each: what is noise is not known; --repeat says"
_FEW = "one run on one side: what is noise is not known; --repeat says"
_CLOCK = 0.01  # two measurements of one clock differ by less


# ---- what can be compared -----------------------------------------------------------

def read_two(names: list[str]) -> tuple[StoredReport, StoredReport]:
    """Read the reports of --compare.

    :raises PerfexError: one of them is none, both are the same file, or a file is that of a thread
    """
    first, second = (Path(name) for name in names)
    made = read(first), read(second)
    if first.exists() and second.exists() and os.path.samefile(first, second):
        raise PerfexError(f"--compare: {first} and {second} are the same file")
    for name, one in zip(names, made, strict=True):
        _no_thread("--compare", name, one)
    return made


def baseline(path: Path, rank: int | None) -> StoredReport:
    """Read the report of --baseline; where ``-o`` has written one for each rank, that of this rank.

    :raises PerfexError: it is none
    """
    own = path if rank is None or path.exists() else Path(f"{path}.{rank}")
    made = read(own)
    _no_thread("--baseline", str(own), made)
    return made


def _no_thread(option: str, name: str, made: StoredReport) -> None:
    if made.is_thread:
        raise PerfexError(f"{option}: {name} has the counts of one thread; the total is in the file without a thread in"
                          " its name")


def check(first: StoredReport, second: StoredReport, option: str, *, anyway: bool) -> None:
    """Refuse reports whose counts mean different things.

    :param option: for the message
    :param anyway: --anyway: different backends and levels are accepted
    :raises PerfexError: says why
    """
    if first.cpu != second.cpu:
        raise PerfexError(f"{option}: events of the {first.cpu} and of the {second.cpu} are different ones")
    if not anyway and first.backend != second.backend:
        codes = f": {_code(first)} and {_code(second)}" if first.code != second.code else ""
        raise PerfexError(f"{option}: counts of the {first.backend} and of the {second.backend} backend, which do not"
                          f" count the same things{codes}; --anyway compares them")
    if not anyway and first.code != second.code:
        raise PerfexError(f"{option}: {_code(first)} and {_code(second)}, whose instructions are not the same ones;"
                          " --anyway compares them")
    if not anyway and first.kernel != second.kernel:
        raise PerfexError(f"{option}: only one of the two counts the kernel, too (-k); --anyway compares them")
    if not anyway and first.regions != second.regions:
        raise PerfexError(f"{option}: only one of the two counts the regions of libperfex alone (--regions); --anyway"
                          " compares them")
    if not set(first.counts) & set(second.counts):
        raise PerfexError(f"{option}: no event stands in both reports")


def _code(made: StoredReport) -> str:
    """Name whose instructions a report is of."""
    return f"{made.code or 'the'} code{'' if made.code else ' of a host'}"


def _notes(first: StoredReport, second: StoredReport) -> Iterator[str]:
    """Yield notes on differences of the reports other than in counts."""
    if first.backend != second.backend:
        yield f"backends: {first.backend} and {second.backend}; a difference need not be one of the programs"
    if first.code != second.code:
        yield f"instructions: {_code(first)} and {_code(second)}, which are not the same ones"
    if first.command != second.command:
        yield f"commands: {first.command} and {second.command}"
    if first.kernel != second.kernel:
        yield f"the kernel is counted in the {'first' if first.kernel else 'second'} only"
    if first.regions != second.regions:
        yield f"only regions are counted in the {'first' if first.regions else 'second'}"
    if first.l2 and second.l2 and first.l2 != second.l2:
        yield f"secondary caches: {first.l2 >> 20} and {second.l2 >> 20} MB"
    if first.backend == second.backend and first.backend in SIMULATORS and first.caches != second.caches:
        yield f"caches: {first.caches or _R10000} and {second.caches or _R10000}"
    if _clocks_differ(first, second):
        yield f"clocks: {first.clock:g} and {second.clock:g} MHz, on which times and estimated cycles depend"
    for made, which in ((first, "first"), (second, "second")):
        if made.ended_by:
            yield f"the command of the {which} was ended by {made.ended_by}: its counts stop there"
    shared = [i for i in first.counts if first.counts[i] is not None and second.counts.get(i) is not None]
    if other := [i for i in shared if not _same_way(first, second, i)]:
        yield f"event{'s' * (len(other) > 1)} {written(other, ', ')}: quality or note is not the same in both"


def _clocks_differ(first: StoredReport, second: StoredReport) -> bool:
    if not first.clock or not second.clock:
        return False
    tolerated = _CLOCK if first.backend == "perf" else 0.0
    return first.backend == second.backend and abs(first.clock - second.clock) > tolerated * first.clock


def _same_way(first: StoredReport, second: StoredReport, event: int) -> bool:
    """Tell whether an event was counted in the same way, as far as quality and note say."""
    a, b = ((r.notes.get(event, ""), r.qualities.get(event)) for r in (first, second))
    return a == b


# ---- judging ------------------------------------------------------------------------

def compare(first: StoredReport, second: StoredReport, option: str = "--compare", *,
            anyway: bool = False) -> Comparison:
    """Compare two reports: what has changed from the first to the second.

    :raises PerfexError: `check` refuses them
    """
    check(first, second, option, anyway=anyway)
    exact = (first.backend, first.code) == (second.backend, second.code) and first.backend in SIMULATORS
    changes = _tested([_change(events.table(first.cpu)[i], first, second, exact=exact)
                       for i in sorted({*first.counts, *second.counts})])
    a, b = (Side(r.name, r.backend, r.command, r.runs, r.ended_by) for r in (first, second))
    return Comparison(first.cpu, a, b, tuple(changes), tuple(_methods(changes, exact=exact)),
                      tuple(_notes(first, second)))


def _change(event: Event, first: StoredReport, second: StoredReport, *, exact: bool) -> Change:
    i = event.index
    spreads = first.spread(i), second.spread(i)
    missing = [_NOT_COUNTED if i not in r.counts else NOT_AVAILABLE if r.counts[i] is None else ""
               for r in (first, second)]
    made = Change(event, *spreads, (missing[0], missing[1]), (i in first.estimated, i in second.estimated))
    a, b = spreads
    if a is None or b is None:
        return made
    if a.identical and b.identical and a.mean == b.mean:
        return replace(made, verdict="same")
    if exact and a.identical and b.identical:
        once = max(a.runs, b.runs) < 2 and {first.qualities.get(i), second.qualities.get(i)} & {*ON_LAYOUT}
        return replace(made, verdict="this layout" if once else "differs")
    if min(a.runs, b.runs) < 2:
        return replace(made, verdict="not known")
    return replace(made, p=noise.welch(a, b))


def _tested(changes: list[Change]) -> list[Change]:
    """Enter whether the tested changes are noise.

    Events that were counted by the same counter have the same counts, and are one test.
    """
    tests = {(c.first, c.second): c.p for c in changes if c.p is not None}
    corrected = dict(zip(tests, noise.holm([*tests.values()]), strict=True))
    judged = [(c, corrected.get((c.first, c.second))) for c in changes]
    return [c if p is None else replace(c, p=p, verdict="change" if p < LEVEL else "noise") for c, p in judged]


def _methods(changes: Iterable[Change], *, exact: bool) -> Iterator[str]:
    """Yield how each verdict was found."""
    changes = list(changes)
    if exact and any(c.verdict in ("same", "differs") for c in changes):
        yield _EXACT
    if any(c.verdict == "this layout" for c in changes):
        yield _LAYOUT
    if any(c.p is not None for c in changes):
        yield _TESTED
    unknown = [c for c in changes if c.verdict == "not known"]
    if unknown:
        yield _SINGLE if all(c.first and c.second and c.first.runs == c.second.runs for c in unknown) else _FEW


# ---- printing -----------------------------------------------------------------------

def text(made: Comparison) -> str:
    """Return the comparison for people."""
    head = report.table_head(f" {'first':>16} {'second':>16}", f"{'change':>18} {'percent':>11}  {'verdict':16}")
    lines = [f"perfex: {made.cpu} events, compared", f"first:  {made.first.words()}",
             f"second: {made.second.words()}", "", *(line.rstrip() for line in head)]
    for row in made.changes:
        first, second, change, percent, verdict = row.columns()
        beside = f" {first:>16} {second:>16}"
        lines += [line.rstrip() for line in report.event_lines(
            row.event, beside, f"{change:>18} {percent:>11}  {verdict:16}" if change else "")]
    lines += ["", "notes", *map(folded, (*made.methods, *made.notes))]
    return "\n".join(lines) + "\n"


def _numbers(spread: Spread | None) -> dict[str, object] | None:
    """Return one side of a change; the runs' own counts are in its report."""
    return None if spread is None else {
        "runs": spread.runs, "mean": spread.mean, "deviation": spread.deviation, "minimum": spread.minimum,
        "maximum": spread.maximum}


def json_text(made: Comparison) -> str:
    """Return the comparison as JSON (schema: pypfm/schemas/perfex_compare.json)."""
    rows = [{"event": c.event.index, "name": c.event.name, "first": _numbers(c.first), "second": _numbers(c.second),
             "missing": [word or None for word in c.missing], "estimated": list(c.estimated), **c.members()}
            for c in made.changes]
    return json.dumps({"cpu": made.cpu, "first": made.first.members(), "second": made.second.members(), "events": rows,
                       "methods": list(made.methods), "notes": list(made.notes)}, indent=2) + "\n"


def csv_text(made: Comparison) -> str:
    """Return a row for each event, then the notes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("kind", "event", "name", "first", "second", "change", "percent", "verdict", "p", "note",
                     "estimated"))
    for c in made.changes:
        first, second = (missing if spread is None else whole(spread.mean)
                         for spread, missing in zip((c.first, c.second), c.missing, strict=True))
        writer.writerow(("event", c.event.index, c.event.name, first, second, *c.members().values(), "",
                         int(any(c.estimated))))
    for note in (*made.methods, *made.notes):
        writer.writerow(("note", *[""] * 8, note, ""))
    return out.getvalue()
