"""Adding up the reports of several ranks (perfex --merge)."""

from __future__ import annotations

import csv
import glob
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.in_notebooks import Printed
from pypfm.perfex import events, report
from pypfm.perfex.model import Cpu, Event, PerfexError, Quality
from pypfm.perfex.notes import NOT_AVAILABLE
from pypfm.perfex.perf_table import QUALITIES
from pypfm.perfex.spread import about

if TYPE_CHECKING:
    from pypfm.perfex.reading import StoredReport

__all__ = ["Merged", "Row", "find", "merge"]


@dataclass(frozen=True)
class Row:
    """An event over the ranks.

    :ivar total, minimum, mean, maximum: None: not available in all reports
    :ivar quality: the worst of the reports'
    :ivar estimated: at least one of the counts was computed
    """

    event: Event
    total: int | None = None
    minimum: int | None = None
    mean: float | None = None
    maximum: int | None = None
    quality: Quality = "unavailable"
    estimated: bool = False


@dataclass(frozen=True)
class Merged(Printed):
    """The reports of several ranks.

    :ivar ended: label and signal of the ranks that a signal ended
    :ivar repeated: label and number of runs of the ranks whose counts are means (--repeat)
    :ivar slowest: label and cycles of the rank with the most cycles; None: they were not counted
    """

    cpu: Cpu
    ranks: tuple[str, ...]
    ended: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    slowest: tuple[str, int] | None
    repeated: tuple[tuple[str, int], ...] = ()

    def _text(self) -> str:
        return text(self)


def find(names: list[str]) -> list[Path]:
    """Return the files that are named; for FILE of ``-o FILE``, those of its ranks."""
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


# ---- adding up ----------------------------------------------------------------------

def merge(reports: list[StoredReport]) -> Merged:
    """Add up the reports of ranks; those of threads are in them already.

    :raises PerfexError: there is none, two have the same name, or their cpus, backends or levels differ
    """
    ranks = sorted((r for r in reports if not r.is_thread), key=lambda r: (r.rank is None, r.rank or 0))
    if not ranks:
        raise PerfexError("--merge: only files of threads; the totals are in those without a thread in their name")
    _check(ranks)
    cpu = ranks[0].cpu
    labels = [r.label for r in ranks]
    if twice := next((name for name in labels if labels.count(name) > 1), None):
        raise PerfexError(f"--merge: {twice} stands in two of the files")
    kinds = list(dict.fromkeys(event for r in ranks for event in r.counts))
    rows = tuple(_row(events.table(cpu)[i], ranks) for i in sorted(kinds))
    ended = tuple((r.label, r.ended_by) for r in ranks if r.ended_by)
    repeated = tuple((r.label, r.runs) for r in ranks if r.runs > 1)
    return Merged(cpu, tuple(labels), ended, rows, _slowest(cpu, ranks), repeated)


def _check(ranks: list[StoredReport]) -> None:
    """Refuse reports whose counts mean different things."""
    first = ranks[0]
    for r in ranks:
        if r.cpu != first.cpu:
            raise PerfexError(f"--merge: {first.label} counted events of the {first.cpu}, {r.label} of the {r.cpu}")
        if r.backend != first.backend:
            raise PerfexError(f"--merge: {first.label} was counted by the {first.backend} backend, {r.label} by"
                              f" {r.backend}: a sum of these means nothing (--backend chooses one for all ranks)")
        if r.regions != first.regions:
            raise PerfexError(f"--merge: only one of {first.label} and {r.label} was counted with --regions: a sum of"
                              " these means nothing")
        if r.code != first.code:
            raise PerfexError(f"--merge: only one of {first.label} and {r.label} is R10000 code: a sum of these means"
                              " nothing")
        if r.kernel != first.kernel:
            raise PerfexError(f"--merge: the kernel is counted, too (-k), in only one of {first.label} and {r.label}")
        if (r.caches, r.l2) != (first.caches, first.l2):
            raise PerfexError(f"--merge: {first.label} and {r.label} have other simulated caches (--cache, --l2)")


def _row(event: Event, ranks: list[StoredReport]) -> Row:
    i = event.index
    known = [count for r in ranks if (count := r.counts.get(i)) is not None]
    if len(known) < len(ranks):
        return Row(event)
    worst = max((r.qualities[i] for r in ranks), key=QUALITIES.index)
    return Row(event, sum(known), min(known), sum(known) / len(known), max(known), worst,
               any(i in r.estimated for r in ranks))


def _slowest(cpu: Cpu, ranks: list[StoredReport]) -> tuple[str, int] | None:
    for event in events.cycles(cpu):
        found = [(r.label, count) for r in ranks if (count := r.counts.get(event)) is not None]
        if len(found) == len(ranks):
            return max(found, key=lambda f: f[1])
    return None


# ---- printing -----------------------------------------------------------------------

def text(merged: Merged) -> str:
    """Return the sum for people."""
    remarks = {name: f" (mean of {runs} runs)" for name, runs in merged.repeated}
    for name, by in merged.ended:
        remarks[name] = f"{remarks.get(name, '')} (ended by {by})"
    ranks = [name + remarks.get(name, "") for name in merged.ranks]
    lines = [f"perfex: {merged.cpu} events, sums of {', '.join(ranks)}", "",
             *report.table_head(f" {'total':>19}  {'quality':11}",
                                "".join(f"{h:>20}" for h in ("minimum", "mean", "maximum")))]
    for row in merged.rows:
        if row.total is None:
            lines += report.event_lines(row.event, f" {NOT_AVAILABLE:>19}  {'':11}")
            continue
        values = row.total, row.minimum, row.mean or 0.0, row.maximum
        total, *numbers = (about(n or 0) if row.estimated else f"{n:.1f}" if isinstance(n, float) else str(n)
                           for n in values)
        below = "".join(f"{n:>20}" for n in numbers)
        lines += report.event_lines(row.event, f" {total:>19}  {row.quality:11}", below)
    show = about if _estimated_cycles(merged) else str
    lines += ["", f"slowest: {merged.slowest[0]}, {show(merged.slowest[1])} cycles" if merged.slowest
              else "slowest: not known, as cycles were not counted by all"]
    return "\n".join(lines) + "\n"


def _estimated_cycles(merged: Merged) -> bool:
    """Tell whether the cycles of the slowest rank were computed."""
    return any(row.estimated and row.event.index in events.cycles(merged.cpu) for row in merged.rows)


def json_text(merged: Merged) -> str:
    """Return the sum as JSON (schema: pypfm/schemas/perfex_merge.json)."""
    rows = [{"event": r.event.index, "name": r.event.name, "total": r.total, "minimum": r.minimum, "mean": r.mean,
             "maximum": r.maximum, "quality": r.quality, "estimated": r.estimated} for r in merged.rows]
    slowest = merged.slowest and {"rank": merged.slowest[0], "cycles": merged.slowest[1],
                                  "estimated": _estimated_cycles(merged)}
    ended = [{"rank": name, "by": by} for name, by in merged.ended]
    return json.dumps({"cpu": merged.cpu, "ranks": list(merged.ranks), "ended": ended,
                       "repeated": [{"rank": name, "runs": runs} for name, runs in merged.repeated], "events": rows,
                       "slowest": slowest}, indent=2) + "\n"


def csv_text(merged: Merged) -> str:
    """Return a row for each event, then the ranks a signal ended or that ran several times, last the slowest."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("kind", "event", "name", "total", "minimum", "mean", "maximum", "quality", "estimated"))
    for r in merged.rows:
        writer.writerow(("event", r.event.index, r.event.name, r.total, r.minimum, r.mean, r.maximum, r.quality,
                         int(r.estimated)))
    for name, by in merged.ended:
        writer.writerow(("ended", "", name, by, "", "", "", "", ""))
    for name, runs in merged.repeated:
        writer.writerow(("repeated", "", name, runs, "", "", "", "", ""))
    if merged.slowest:
        writer.writerow(("slowest", "", *merged.slowest, "", "", "", "", int(_estimated_cycles(merged))))
    return out.getvalue()
