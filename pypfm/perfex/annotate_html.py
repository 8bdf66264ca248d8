"""The page of --annotate-to: functions, and the source with counts beside its lines."""

from __future__ import annotations

import shlex
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

from pypfm.perfex.annotate_text import heading, nowhere, percent
from pypfm.perfex.report import printable
from pypfm.perfex.sources import Source
from pypfm.perfex.spread import about

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.perfex.annotate import Annotation, Counts, FunctionRow, LineRow
    from pypfm.perfex.report import Report

__all__ = ["page"]

_WHOLE = 4000  # lines of a source that is shown as a whole; of larger ones those near lines with counts
_NEAR = 8
_WITHOUT_TEXT = 50  # lines at most of a source that is not there
_STYLE = """
:root { color-scheme: light dark;
  --text: #1a1a1a; --back: #ffffff; --soft: #666666; --line: #dddddd; --hot: 214, 90, 30; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --back: #16181b; --soft: #9aa0a6; --line: #33373c; --hot: 240, 130, 60; }
}
body { color: var(--text); background: var(--back); font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.87rem; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.4rem; }
th, td { padding: 0.1rem 0.6rem; text-align: right; white-space: nowrap; vertical-align: top; }
thead th { border-bottom: 1px solid var(--line); vertical-align: bottom; }
th.name, td.name, td.code { text-align: left; }
td { font-variant-numeric: tabular-nums; }
td.code, td.name { font-family: ui-monospace, monospace; white-space: pre; }
td.name { white-space: normal; overflow-wrap: anywhere; min-width: 16rem; }
td.code, td.name:nth-last-child(2) { position: sticky; right: 0; background: var(--back); }
small, .none, .gap td { color: var(--soft); }
.said { border-left: 3px solid rgb(var(--hot)); padding-left: 0.6rem; }
a { color: inherit; }
"""


def _text(words: str) -> str:
    return escape(printable(words))


class _Columns:
    """The numbers of a row: cycles, their time, and the events that are not 0 everywhere."""

    def __init__(self, report: Report, made: Annotation) -> None:
        self._made = made
        self._events = [(at, event) for at, event in enumerate(made.events)
                        if event is made.by or (event.index not in made.cycles and made.total.events[at])]
        self._events.sort(key=lambda column: column[1] is not made.by)
        self._costs = report.costs
        self._clock = report.outcome.clock

    @property
    def number(self) -> int:
        return 3 + len(self._events)

    def head(self) -> str:
        cells = '<th scope="col">share</th><th scope="col">estimated<br>cycles</th><th scope="col">seconds</th>'
        return cells + "".join(f'<th scope="col" title="{_text(event.name)}">{event.index}<br>{_text(event.short)}</th>'
                               for _, event in self._events)

    def cells(self, counts: Counts) -> str:
        made = self._made
        part = made.share(counts)
        cells = f'<td style="background: rgba(var(--hot), {part * 0.8:.3f})">{percent(part)}</td>'
        cells += f"<td>~{counts.cycles}</td><td>{about(made.seconds(counts))}</td>"
        return cells + "".join(self._event(event.index, counts.events[at]) for at, event in self._events)

    def _event(self, index: int, count: int | None) -> str:
        if count is None:
            return '<td class="none">?</td>'
        if self._costs is None or index not in self._costs or not count:
            return f"<td>{'~' * (index in self._made.cycles)}{count}</td>"
        typical = self._costs[index].seconds(count, self._clock)[0]
        if index in self._made.cycles:
            return f"<td>~{count}<br><small>{about(typical)} s</small></td>"
        return f"<td>{count}<br><small>{typical:.6f} s</small></td>" if typical else f"<td>{count}</td>"


def _functions(made: Annotation, columns: _Columns, anchors: dict[str, str]) -> Iterator[str]:
    yield f'<h2 id="functions">Functions</h2>\n<div class="wide"><table><caption>by {_text(heading(made.by))}'
    yield " of their own instructions; with calls: with what they called</caption>\n<thead><tr>"
    yield (columns.head() + '<th scope="col">with calls</th><th scope="col">called</th>'
           '<th scope="col" class="name">function</th><th scope="col" class="name">file</th></tr></thead>\n<tbody>\n')
    for row in made.functions:
        if not any(row.own.events) and not row.own.cycles:
            continue
        yield (f"<tr>{columns.cells(row.own)}<td>{percent(made.share(row.inclusive))}</td><td>{row.called}</td>"
               f'<td class="name">{_text(row.function.name)}</td><td class="name">{_where(row, anchors)}</td></tr>\n')
    yield "</tbody></table></div>\n"


def _where(row: FunctionRow, anchors: dict[str, str]) -> str:
    anchor = anchors.get(row.function.file)
    if anchor is not None:
        return f'<a href="#{anchor}">{_text(row.function.file)}</a>'
    return f'<span class="none">{_text(row.function.object)}</span>'


def _shown(numbers: Iterable[int], length: int) -> list[int]:
    """The lines to show; 0 stands for those that are left out."""
    if length <= _WHOLE:
        return [*range(1, length + 1)]
    near = sorted({n for number in numbers for n in range(number - _NEAR, number + _NEAR + 1) if 1 <= n <= length})
    shown: list[int] = []
    for number in near:
        if shown and number > shown[-1] + 1:
            shown.append(0)
        shown.append(number)
    return shown


def _file(path: str, rows: Sequence[LineRow], made: Annotation, columns: _Columns, anchor: str) -> Iterator[str]:
    counts = {row.line: row for row in rows}
    source = Source.read(path, rows[0].function.object)
    whole = sum(made.share(row.own) for row in rows)
    yield f'<h2 id="{anchor}">{_text(path)}</h2>\n'
    if source.missing:
        left_out = len(rows) - _WITHOUT_TEXT
        yield f'<p class="said">The source {_text(source.missing)}: counts without its text'
        yield f", of the {_WITHOUT_TEXT} lines with most, and not of {left_out}" * (left_out > 0) + ".</p>\n"
    elif source.newer:
        yield '<p class="said">The source is newer than the program: lines may have moved.</p>\n'
    if beyond := [n for n in counts if n > len(source.lines)] if not source.missing else []:
        yield f'<p class="said">The source ends before line {max(beyond)}, which has counts.</p>\n'
    yield f'<div class="wide"><table><caption>{percent(whole)} of the whole</caption>\n<thead><tr>{columns.head()}'
    yield '<th scope="col">line</th><th scope="col" class="name">source</th></tr></thead>\n<tbody>\n'
    missing = sorted([row.line for row in rows][:_WITHOUT_TEXT] if source.missing else beyond)
    for number in [*_shown(counts, len(source.lines)), *missing]:
        if number == 0:
            yield f'<tr class="gap"><td colspan="{columns.number}"></td><td>…</td><td></td></tr>\n'
            continue
        row = counts.get(number)
        cells = columns.cells(row.own) if row else f'<td colspan="{columns.number}"></td>'
        yield f'<tr>{cells}<td class="none">{number}</td><td class="code">{_text(source.line(number))}</td></tr>\n'
    yield "</tbody></table></div>\n"


def page(report: Report) -> str:
    """A page that needs nothing else, as HTML.

    :param report: with an annotation
    """
    made = report.annotation
    assert made is not None
    files: dict[str, list[LineRow]] = defaultdict(list)
    for row in made.lines:
        files[row.file].append(row)
    order = sorted(files, key=lambda path: (-sum(made.key(row.own) for row in files[path]), path))
    anchors = {path: f"file{number}" for number, path in enumerate(order, 1)}
    columns = _Columns(report, made)
    command, outcome = _text(shlex.join(report.request.command)), report.outcome
    parts = [
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>perfex: {command}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>perfex: {command}</h1>\n"
        f"<p>{_text(report.request.cpu)} events, simulated by valgrind; clock: {outcome.clock:g} MHz"
        f" ({_text(outcome.clock_source)}).</p>\n"
        f'<div class="wide"><table><caption>The whole</caption>\n<thead><tr>{columns.head()}</tr></thead>\n'
        f"<tbody><tr>{columns.cells(made.total)}</tr></tbody></table></div>\n"]
    parts += [f'<p class="said">{_text(note)}</p>\n' for note in report.all_notes()]
    parts += _functions(made, columns, anchors)
    if made.key(made.nowhere):
        parts.append(f"<p>{nowhere(made)}</p>\n")
    for path in order:
        parts += _file(path, files[path], made, columns, anchors[path])
    return "".join(parts) + "</body>\n</html>\n"
