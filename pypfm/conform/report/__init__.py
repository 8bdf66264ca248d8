"""A conformance run told as text, as JSON, as JUnit XML."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias, cast, get_args

from pypfm.conform import tried
from pypfm.conform.groups import groups
from pypfm.conform.report.wording import (
    COLUMNS,
    accepted,
    by_function,
    excerpt,
    library_rows,
    verdict,
    visible,
)
from pypfm.errors import ConformError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.conform.model import Finding, Json, Report, Tally

__all__ = ["HOWS", "VERSION", "How", "junit", "save", "text", "to_json", "write"]

#: What a report can be written as.
How = Literal["text", "json", "junit"]
#: The kinds of report, as ``--report`` names them.
HOWS: tuple[How, ...] = get_args(How)

#: Of the JSON report; another one when something in it means something else.
VERSION = 1

_WIDTH = 100  # columns of a text that no terminal limits
_LINES = 4  # of a value in the text

_Line: TypeAlias = "list[tuple[str, str]]"  # pieces of a line with rich's style for each


def write(report: Report, how: How, stream: TextIO, everything: bool = False) -> None:
    """Write a report; as text, in colour on a terminal.

    :param how: one of `HOWS`
    :param everything: in the text print each finding, not one of each group
    """
    if isinstance(stream, io.TextIOWrapper):
        # Where the encoding has no such character, an escape is better than no report.
        stream.reconfigure(errors="backslashreplace")
    if how == "text" and stream.isatty():
        from rich.console import Console
        from rich.text import Text

        console = Console(file=stream, highlight=False)
        for line in _lines(report, console.width, everything):
            console.print(Text.assemble(*line), soft_wrap=True)
    elif how == "json":
        stream.write(json.dumps(to_json(report), indent=2) + "\n")
    else:
        stream.write(text(report, everything) if how == "text" else junit(report))


def save(report: Report, how: How, path: str, everything: bool = False) -> None:
    """Write a report to a file.

    :param how: as of `write`
    :param everything: likewise
    :raises ConformError: the file cannot be written
    """
    try:
        with open(path, "w", encoding="utf-8") as file:
            write(report, how, file, everything)
    except OSError as error:
        raise ConformError(f"{shown(path)}: {error.strerror}") from None


# ---- text ------------------------------------------------------------------------

def text(report: Report, everything: bool = False) -> str:
    """Return the report as plain text: the library, the differences, the table by function, the verdict last.

    :param everything: print each finding, not one of each group
    """
    return "".join("".join(piece for piece, _ in line).rstrip() + "\n" for line in _lines(report, _WIDTH, everything))


def _lines(report: Report, width: int, everything: bool) -> Iterator[_Line]:
    """Yield the text, line by line."""
    yield from _heads(report)
    one_by_one = ((1, finding) for finding in report.findings if not finding.suppressed)
    for count, finding in one_by_one if everything else ((group.count, group.example) for group in groups(report)):
        yield []
        yield from _finding(finding, width, count)
    if report.notes or accepted(report):
        yield []
    for count, reason in accepted(report):
        yield from _folded("suppressed  ", f"{count:,}: {reason}", width, "dim")
    for note in report.notes:
        yield from _folded("note        ", visible(note), width, "yellow")
    if report.tallies:
        yield []
        yield from _table(by_function(report))
        yield []
    if report.tried:
        yield from ([(line, "")] for line in [*tried.table(report), ""])
    yield [(verdict(report), "bold red" if report.status else "bold green")]


def _heads(report: Report) -> Iterator[_Line]:
    rows = [("library", name, value) for name, value in library_rows(report.library)]
    if report.against:
        rows += [("against", name, value) for name, value in library_rows(report.against)]
    last = ""
    for what, name, value in rows:
        yield [(f"{what if what != last else '':<12}", "bold"), (f"{name:<11}", ""), (value, "")]
        last = what
    yield [(f"{'api':<12}", "bold"), (f"{report.api or 'unknown'}, {report.seconds:.1f} s", "")]


def _finding(finding: Finding, width: int, count: int) -> Iterator[_Line]:
    """Yield a call, then each field with the expected value above the one got.

    :param count: how many findings it is an example of
    """
    like = f"{visible(finding.function)}, {count:,} times, the first: " if count > 1 else ""
    yield from _folded(f"{finding.kind:<8}", like + visible(finding.call), width, "bold")
    fields = [visible(d.field) for d in finding.differences]
    column = min(max(map(len, fields), default=0), width // 4)
    room = max(width - column - 14, 20)
    for name, difference in zip(fields, finding.differences, strict=True):
        expected, got = excerpt(difference, room * _LINES)
        pad = name if len(name) <= column else ""
        if not pad:
            yield [(f"    {name}", "")]
        yield from _folded(f"    {pad:<{column}}  expected ", expected, width, "green")
        yield from _folded(f"    {'':<{column}}  got      ", got, width, "red")


def _folded(head: str, value: str, width: int, style: str) -> Iterator[_Line]:
    """Yield a value after its head, on as many lines as it takes, folded after a blank where there is one."""
    room = max(width - len(head), 20)
    start = 0
    while start == 0 or start < len(value):
        end = start + room
        if end < len(value):
            end = value.rfind(" ", start + room // 2, end) + 1 or end
        yield [(head if start == 0 else " " * len(head), ""), (value[start:end], style)]
        start = end


def _table(rows: Sequence[tuple[str, Tally]]) -> Iterator[_Line]:
    """Yield the numbers by function."""
    cells = [COLUMNS, *((visible(name), *(f"{n:,}" for n in dataclasses.astuple(tally))) for name, tally in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(COLUMNS))]
    for i, row in enumerate(cells):
        line = [row[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]
        yield [("  ".join(line), "bold" if i == 0 else "red" if rows[i - 1][1].differ else "")]


# ---- JSON ------------------------------------------------------------------------

def to_json(report: Report) -> dict[str, Json]:
    """Return the report as data, nothing left out (schema: ``pypfm/schemas/conform.json``)."""
    data = dataclasses.asdict(report)
    data["functions"] = data.pop("tallies")
    data["not_tried"] = tried.never_called(report)
    data["tried"] = {name: {**dataclasses.asdict(of), "differ": n} for name, of, n in tried.rows(report)}
    return cast("dict[str, Json]", {"version": VERSION, "status": report.status, "verdict": verdict(report), **data})


# ---- JUnit -----------------------------------------------------------------------

def junit(report: Report) -> str:
    """Return the report as JUnit XML, as Jenkins and others read it."""
    from pypfm.conform.report import junit_xml

    return junit_xml.document(report)
