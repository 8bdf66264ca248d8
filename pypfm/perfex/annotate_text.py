"""The tables of --annotate: the functions and the lines of source in which most was counted."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from pypfm.errors import printable
from pypfm.perfex.notes import NOT_AVAILABLE, folded
from pypfm.perfex.profile import UNKNOWN
from pypfm.perfex.sources import Source
from pypfm.perfex.spread import about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pypfm.perfex.annotate import Annotation, Counts, LineRow
    from pypfm.perfex.model import Event

__all__ = ["cut", "heading", "html", "most", "nowhere", "percent", "text"]

_WIDTH = 80  # of the words of source, where no terminal ends
_MOST_ROWS = 20
_ENOUGH = 0.95  # of the whole: what is left is in the page
_MATTERS = 0.01  # a part of the whole whose lines are worth a package
_BESIDE = (25, 26)  # with -a: misses of the data caches
_COLUMN = 11


def cut(name: str, width: int) -> str:
    """Cut the middle of a name that is too long."""
    if len(name) <= width:
        return name
    left = (width - 2) // 2
    return f"{name[:left]}..{name[len(name) - (width - 2 - left):]}"


def heading(event: Event | None) -> str:
    """Return the heading of the column by which rows are sorted."""
    return "estimated cycles" if event is None else f"event {event.index} ({event.short})"


def _place(row: LineRow) -> str:
    """Return a line of source, without its directory."""
    return printable(f"{os.path.basename(row.file)}:{row.line}")


def most(made: Annotation, counts: Sequence[Counts]) -> int:
    """Return how many rows have nearly all of the counts."""
    so_far = 0.0
    for number, own in enumerate(counts[:_MOST_ROWS]):
        if so_far >= _ENOUGH or made.key(own) == 0:
            return number
        so_far += made.share(own)
    return min(len(counts), _MOST_ROWS)


class _Table:
    """The columns beside the names, which end where the terminal does."""

    def __init__(self, made: Annotation, *, estimates: bool, everything: bool, width: int | None) -> None:
        self._made = made
        self._width = width
        self._columns: list[tuple[str, Callable[[Counts], str]]] = []
        if estimates:
            self._columns.append(("seconds", lambda counts: about(made.seconds(counts))))
        for place_of, event in enumerate(made.events):
            if event is not made.by and (event.index in _BESIDE if everything else event.index not in made.cycles):
                self._columns.append((f"event {event.index}", partial(_event, place_of)))
        del self._columns[2:]

    def names(self) -> list[str]:
        """Return the heads of the columns that `cells` fills."""
        by = "cycles" if self._made.by is None else f"event {self._made.by.index}"
        return [by, "share", *(name for name, _ in self._columns)]

    def cells(self, counts: Counts) -> list[str]:
        """Return a row's cells: the counts of a place."""
        key = self._made.key(counts)
        by = about(key) if self._made.by is None or self._made.by.index in self._made.cycles else str(key)
        return [by, percent(self._made.share(counts)), *(show(counts) for _, show in self._columns)]

    def head(self, inclusive: str, what: str) -> str:
        return f"{self._aligned(self.names(), inclusive)}{what}"

    @staticmethod
    def _aligned(cells: Sequence[str], inclusive: str) -> str:
        by, share, *others = cells
        return f"    {by:>14} {share:>6}{inclusive}{''.join(f'{cell:>{_COLUMN}}' for cell in others)}  "

    def row(self, counts: Counts, inclusive: str, what: str) -> str:
        line = self._aligned(self.cells(counts), inclusive)
        return line + (what if self._width is None else cut(what, max(self._width - len(line), 12)))

    def with_words(self, line: str, words: str) -> str:
        """Return a row, and after it as many words of source as there is room for."""
        return (line + words)[:max(self._width or _WIDTH, len(line))].rstrip()


def _event(at: int, counts: Counts) -> str:
    return str(counts.events[at])


def percent(share: float) -> str:
    """Write a part of the whole in percent."""
    return f"{100 * share:.1f}%"


def nowhere(made: Annotation) -> str:
    """Say how much has no line of source, where most of that is, and what would supply the lines."""
    share = made.share(made.nowhere)
    without: Counter[str] = Counter()
    for row in made.functions:
        if row.function.file == UNKNOWN:
            without[row.function.object] += made.key(row.own)
    place = next((name for name, _ in without.most_common(1) if os.path.isabs(name) and share >= _MATTERS), "")
    where = f", most of it in {printable(place)}" if place else ""
    return f"{percent(share)} of the whole is of no known line{where}: {_symbols(place)}"


def _symbols(program: str) -> str:
    """Name what a program or library needs so that its lines are known."""
    package = _package(program)
    if not package:
        return "code that was compiled without -g"
    lines = "libc6-dbg" if package == "libc6" else f"{package}-dbgsym (of Debian's debug archive)"
    return (f"the package {lines} has these lines, and so has"
            " DEBUGINFOD_URLS=https://debuginfod.debian.net with the package debuginfod")


def _package(program: str) -> str:
    """Return the package of Debian that a file is from; "": none is known."""
    for path in {program, program.removeprefix("/usr")} if program else ():
        try:
            done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, ValueError, subprocess.SubprocessError):
            return ""
        if done.returncode == 0:
            return done.stdout.partition(":")[0]
    return ""


def _functions(made: Annotation, table: _Table) -> list[str]:
    rows = made.functions[:most(made, [row.own for row in made.functions])]
    by = heading(made.by)
    lines = ["", f"functions by {by}: {_of(len(rows), len(made.functions), sum(made.share(r.own) for r in rows))}",
             table.head(f" {'with calls':>10}", "function")]
    for row in rows:
        inclusive = percent(made.share(row.inclusive))
        lines.append(table.row(row.own, f" {inclusive:>10}", printable(row.function.name)))
    return lines


def _of(rows: int, all_rows: int, share: float) -> str:
    return f"{rows} of {all_rows}, {percent(share)} of the whole"


def _lines(made: Annotation, table: _Table) -> list[str]:
    rows = _hottest(made)
    if not rows:
        return ["", f"lines by {heading(made.by)}: {NOT_AVAILABLE}", folded(nowhere(made))]
    lines = ["", _of_lines(made, rows), table.head("", "line")]
    for row, words in _with_source(rows):
        lines.append(table.with_words(table.row(row.own, "", f"{_place(row)}  "), words))
    return lines + [folded(nowhere(made))] * bool(made.key(made.nowhere))


def _hottest(made: Annotation) -> Sequence[LineRow]:
    """Return the lines that have nearly all that was counted."""
    return made.lines[:most(made, [row.own for row in made.lines])]


def _of_lines(made: Annotation, rows: Sequence[LineRow]) -> str:
    return f"lines by {heading(made.by)}: {_of(len(rows), len(made.lines), sum(made.share(r.own) for r in rows))}"


def _with_source(rows: Iterable[LineRow]) -> Iterator[tuple[LineRow, str]]:
    """Lines with their words, as far as the files are there."""
    sources: dict[str, Source] = {}
    for row in rows:
        if row.file not in sources:
            sources[row.file] = Source.read(row.file, row.function.object)
        yield row, printable(" ".join(sources[row.file].line(row.line).split()))


def html(made: Annotation, *, estimates: bool, everything: bool) -> str:
    """Return the table of lines, for a notebook; parameters as of `text`."""
    from pypfm.common.notebook import columns

    rows = _hottest(made)
    if not rows:
        return columns(f"lines by {heading(made.by)}: {NOT_AVAILABLE}; {nowhere(made)}", [], [])
    table = _Table(made, estimates=estimates, everything=everything, width=None)
    short = {f"event {event.index}": event.short for event in made.events}
    return columns(_of_lines(made, rows), [*(short.get(name, name) for name in table.names()), "line", "source"],
                   [[*table.cells(row.own), _place(row), words] for row, words in _with_source(rows)])


def text(made: Annotation, *, estimates: bool, everything: bool, width: int | None = None) -> str:
    """Return the tables.

    :param estimates: with seconds (-y)
    :param everything: all events were asked for (-a)
    :param width: columns of the terminal, where names are cut; None: they are whole
    """
    if not made.functions:
        return f"\nfunctions and lines: {NOT_AVAILABLE}\n"
    table = _Table(made, estimates=estimates, everything=everything, width=width)
    return "\n".join([*_functions(made, table), *_lines(made, table)]) + "\n"
