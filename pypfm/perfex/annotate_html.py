"""The page of --annotate-to: the hottest lines, functions, and the source around those lines."""

from __future__ import annotations

import os
import shlex
import zlib
from collections import defaultdict
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from pypfm.perfex.annotate_text import heading, most, nowhere, percent
from pypfm.perfex.report import printable
from pypfm.perfex.sources import Source
from pypfm.perfex.spread import about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pypfm.perfex.annotate import Annotation, Counts, FunctionRow, LineRow
    from pypfm.perfex.report import Report

__all__ = ["page"]

_NEAR = 10  # lines before and after a hot one
_OPEN, _MORE = 20, 60  # rows that are seen at once, and those that are folded
_MOST_OWN, _OF_OWN = 10, 5  # files of the user without a hot line, and lines of each of them
_SYSTEM = ("/usr/lib", "/lib", "/usr/bin", "/bin")
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
td.code, td.name { max-width: 40rem; overflow: hidden; text-overflow: ellipsis; } td.name { max-width: 20rem; }
p { overflow-wrap: anywhere; }
small, .none, .gap td { color: var(--soft); }
tr.hot td { font-weight: 600; } tr.hot td.code { box-shadow: inset 3px 0 rgb(var(--hot)); padding-left: 0.6rem; }
tr:target td { outline: 1px solid rgb(var(--hot)); }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--soft); }
.said { border-left: 3px solid rgb(var(--hot)); padding-left: 0.6rem; }
a { color: inherit; }
"""


def _text(words: str) -> str:
    return escape(printable(words))


class _Columns:
    """The columns of a table: share, the value by which rows are sorted, the name, and the other numbers.

    Numbers are cycles, their time, and the events that are not 0 everywhere.
    """

    def __init__(self, report: Report, made: Annotation) -> None:
        self._made = made
        self._costs = report.costs
        self._clock = report.outcome.clock
        numbers: list[tuple[str, Callable[[Counts], str]]] = [
            ('<th scope="col">estimated<br>cycles</th>', lambda counts: f"<td>{about(counts.cycles)}</td>"),
            ('<th scope="col">seconds</th>', lambda counts: f"<td>{about(made.seconds(counts))}</td>")]
        for at, event in enumerate(made.events):
            if event is made.by or (event.index not in made.cycles and made.total.events[at]):
                head = f'<th scope="col" title="{_text(event.name)}">{event.index}<br>{_text(event.short)}</th>'
                column = head, partial(self._event, event.index, at)
                numbers.insert(0 if event is made.by else len(numbers), column)
        self._numbers = numbers

    def head(self, names: str = "") -> str:
        """Return the headings.

        :param names: those of what the numbers are of
        """
        first, *others = (head for head, _ in self._numbers)
        return f'<th scope="col">share</th>{first}{names}{"".join(others)}'

    def cells(self, counts: Counts, names: str = "") -> str:
        """Return the cells of a row."""
        part = self._made.share(counts)
        first, *others = (show(counts) for _, show in self._numbers)
        share = f'<td style="background: rgba(var(--hot), {part * 0.8:.3f})">{percent(part)}</td>'
        return f'{share}{first}{names}{"".join(others)}'

    def _event(self, index: int, at: int, counts: Counts) -> str:
        count = counts.events[at]
        if self._costs is None or index not in self._costs or not count:
            return f"<td>{about(count) if index in self._made.cycles else count}</td>"
        typical = self._costs[index].seconds(count, self._clock)[0]
        if index in self._made.cycles:
            return f"<td>{about(count)}<br><small>{about(typical)} s</small></td>"
        return f"<td>{count}<br><small>{typical:.6f} s</small></td>" if typical else f"<td>{count}</td>"


# ---- tables -----------------------------------------------------------------------------

def _table(caption: str, head: str, rows: Iterable[str]) -> str:
    return (f'<div class="wide"><table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
            + "".join(f"<tr{row}</tr>\n" for row in rows) + "</tbody></table></div>\n")


def _names(*words: str) -> str:
    """Return the headings of columns with names."""
    return "".join(f'<th scope="col" class="name">{word}</th>' for word in words)


def _name(words: str) -> str:
    """Return the cell of a name; its title has the whole name, of which a browser may show only a part."""
    return f'<td class="name" title="{_text(words)}">{_text(words)}</td>'


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>\n{inside}</details>\n"


def _and_left_out(what: str, rows: Sequence[LineRow] | Sequence[FunctionRow], shown: int, made: Annotation) -> str:
    """Say how many rows are folded, and how many are not on the page."""
    rest = rows[shown:]
    share = percent(sum(made.share(row.own) for row in rest))
    left_out = f"; {len(rest)} more, with {share} of the whole, are not shown"
    return f"Further {what}: {min(shown, len(rows))}" + left_out * bool(rest)


def _hot_lines(hot: Sequence[LineRow], made: Annotation, columns: _Columns, sources: _Sources) -> str:
    def names(row: LineRow) -> str:
        return (f'<td class="name"><a href="#{_anchor(row)}">{_text(os.path.basename(row.file))}:{row.line}</a></td>'
                f'<td class="code">{_text(sources[row].line(row.line).strip())}</td>'
                + _name(row.function.name))

    share = percent(sum(made.share(row.own) for row in hot))
    head = columns.head(_names("line", "source", "function"))
    return _table(f"by {_text(heading(made.by))}: {share} of the whole", head,
                  (f">{columns.cells(row.own, names(row))}" for row in hot))


def _functions(rows: Iterable[FunctionRow], made: Annotation, columns: _Columns, files: Mapping[str, str]) -> str:
    def names(row: FunctionRow) -> str:
        return (f'<td>{percent(made.share(row.inclusive))}</td>{_name(row.function.name)}'
                f'<td>{row.called}</td><td class="name">{_where(row, files)}</td>')

    head = f'<th scope="col">with calls</th>{_names("function")}<th scope="col">called</th>{_names("file")}'
    return _table(f"by {_text(heading(made.by))} of their own instructions; with calls: with what they called",
                  columns.head(head), (f">{columns.cells(row.own, names(row))}" for row in rows))


def _where(row: FunctionRow, files: Mapping[str, str]) -> str:
    anchor = files.get(row.function.file)
    if anchor is not None:
        return f'<a href="#{anchor}">{_text(row.function.file)}</a>'
    return f'<span class="none">{_text(row.function.object)}</span>'


# ---- sources ----------------------------------------------------------------------------

class _Sources(dict[str, Source]):
    """The files of source that have been read."""

    def __getitem__(self, row: LineRow) -> Source:  # type: ignore[override]
        if row.file not in self:
            self[row.file] = Source.read(row.file, row.function.object)
        return super().__getitem__(row.file)


def _anchor(row: LineRow) -> str:
    return f"line{zlib.crc32(row.file.encode(errors='surrogateescape')):x}-{row.line}"


def _is_system(row: LineRow) -> bool:
    """Tell whether a file belongs to the system: a header, or part of one of its libraries."""
    return row.file.startswith("/usr/") or row.function.object.startswith(_SYSTEM)


def _files(made: Annotation, hot: Sequence[LineRow]) -> dict[str, list[LineRow]]:
    """Return files and their lines to be shown: the hot ones, and the hottest ones of the user's own files.

    The system's files come last.
    """
    shown: dict[str, list[LineRow]] = defaultdict(list)
    for row in hot:
        shown[row.file].append(row)
    own: set[str] = set()
    for row in made.lines[len(hot):]:
        if _is_system(row) or (row.file not in shown and len(own) == _MOST_OWN):
            continue
        own |= {row.file} - {*shown}
        if len(shown[row.file]) < _OF_OWN:
            shown[row.file].append(row)
    return {path: shown[path] for path in sorted(shown, key=lambda path: _is_system(shown[path][0]))}


def _near(hot: Iterable[int], length: int) -> Iterator[int]:
    """Yield lines near hot ones; 0 stands for those that are left out."""
    last = 0
    for number in sorted({n for at in hot for n in range(at - _NEAR, at + _NEAR + 1) if 1 <= n <= length} | {*hot}):
        if number > last + 1:
            yield 0
        last = number
        yield number


def _file(hot: Sequence[LineRow], rows: Mapping[int, LineRow], made: Annotation, columns: _Columns, source: Source,
          anchor: str) -> Iterator[str]:
    """Yield the neighbourhood of the hot lines of a file."""
    yield f'<h2 id="{anchor}">{_text(hot[0].file)}</h2>\n'
    if source.missing:
        yield f'<p class="said">The source {_text(source.missing)}: counts without its text.</p>\n'
    elif source.newer:
        yield '<p class="said">The source is newer than the program: lines may have moved.</p>\n'
    if not source.missing and max(rows) > len(source.lines):
        yield f'<p class="said">The source ends before line {max(rows)}, which has counts.</p>\n'
    numbers = [row.line for row in hot]
    lines = (_line(number, rows.get(number), columns, source, is_hot=number in numbers)
             for number in _near(numbers, len(source.lines)))
    share = percent(sum(made.share(row.own) for row in rows.values()))
    yield _table(f"{share} of the whole", columns.head(f'<th scope="col">line</th>{_names("source")}'), lines)


def _line(number: int, row: LineRow | None, columns: _Columns, source: Source, *, is_hot: bool) -> str:
    if number == 0:
        return ' class="gap"><td colspan="2"></td><td>…</td>'
    names = f'<td class="none">{number}</td><td class="code">{_text(source.line(number))}</td>'
    if row is None:
        return f'><td colspan="2"></td>{names}'
    mark = f' class="hot" id="{_anchor(row)}"' if is_hot else ""
    return f"{mark}>{columns.cells(row.own, names)}"


# ---- the page ---------------------------------------------------------------------------

def _head(report: Report, made: Annotation, columns: _Columns) -> Iterator[str]:
    command, outcome = _text(shlex.join(report.request.command)), report.outcome
    yield (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>perfex: {command}</title>\n'
           '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>perfex: {command}</h1>\n"
           f"<p>{_text(report.request.cpu)} events, simulated by valgrind; clock: {outcome.clock:g} MHz"
           f" ({_text(outcome.clock_source)}).</p>\n")
    yield _table("The whole", columns.head(), [f">{columns.cells(made.total)}"])


def _of_lines(made: Annotation, columns: _Columns, hot: Sequence[LineRow]) -> Iterator[str]:
    """Yield the hot lines, the files that they are in, and further lines."""
    sources = _Sources()
    files = _files(made, hot)
    counted: dict[str, dict[int, LineRow]] = defaultdict(dict)
    for row in made.lines:
        counted[row.file][row.line] = row
    anchors = {path: f"file{number}" for number, path in enumerate(files, 1)}
    yield '<h2 id="lines">Hot lines</h2>\n'
    yield _hot_lines(hot, made, columns, sources) if hot else ""
    if made.key(made.nowhere):
        yield f"<p>{_text(nowhere(made))}</p>\n"
    functions = [row for row in made.functions if any(row.own.events) or row.own.cycles]
    yield '<h2 id="functions">Functions</h2>\n' + _functions(functions[:_OPEN], made, columns, anchors)
    if rest := functions[_OPEN:]:
        yield _folded(_and_left_out("functions", rest, _MORE, made), _functions(rest[:_MORE], made, columns, anchors))
    for path, shown in files.items():
        yield from _file(shown, counted[path], made, columns, sources[shown[0]], anchors[path])
    if more := made.lines[len(hot):]:
        rows = (f">{columns.cells(row.own, _name(f'{row.file}:{row.line}') + _name(row.function.name))}"
                for row in more[:_MORE])
        yield _folded(_and_left_out("lines", more, _MORE, made),
                      _table("without their text", columns.head(_names("line", "function")), rows))


def page(report: Report) -> str:
    """Return a self-contained HTML page of the results.

    The hottest lines of all files come first, then the functions, and the source around those lines.  What is left is
    folded, as far as it is shown.

    :param report: with an annotation
    """
    made = report.annotation
    assert made is not None
    columns = _Columns(report, made)
    hot = made.lines[:most(made, [row.own for row in made.lines])]
    notes = "".join(f'<p class="said">{_text(note)}</p>\n' for note in report.all_notes())
    return "".join([*_head(report, made, columns), *_of_lines(made, columns, hot),
                    _folded("Notes: how each event is counted", notes) if notes else "", "</body>\n</html>\n"])
