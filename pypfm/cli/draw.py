"""Tables and register pictures for a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pypfm.errors import printable
from pypfm.ia64 import models

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pypfm import perf
    from pypfm.ia64 import Encoding, RangeCover

__all__ = ["encoding", "encoding4", "first_code", "folded", "note", "picture", "rows", "say", "table"]

_BETWEEN = 3  # columns of the terminal between two of a table
_EDGES = 2  # left and right of it
_LEAST = 10  # for the last column of a table
_INDENT = 4
_PARTS = re.compile(r"[^\s:]*:+|[^\s:]+")  # of a text, that are not broken


def table(heads: Sequence[str], lines: Iterable[Sequence[object]], console: Console | None = None,
          marked: re.Pattern[str] | None = None) -> None:
    """Print a table; where the terminal is too narrow for its longest names, a line for each cell.

    Cells are folded between words and, as event strings are long, after colons: the last column first.

    :param marked: what is printed in a colour
    """
    console = console or _console()
    cells = [["\n".join(map(printable, str(cell).split("\n"))) for cell in line] for line in [heads, *lines]]
    columns = list(zip(*cells, strict=True))
    least = [max(len(part) for cell in column for part in _PARTS.findall(cell) or [""]) for column in columns]
    widths = [max(len(part) for cell in column for part in cell.split("\n")) for column in columns]
    room = console.width - _EDGES - _BETWEEN * (len(columns) - 1)
    if sum(least) > room:
        _stacked(cells, console)
        return
    widths[-1] = max(least[-1], min(widths[-1], max(room - sum(widths[:-1]), _LEAST)))
    while sum(widths) > room:
        widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=widths.__getitem__)
        widths[widest] -= 1
    out = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head, width in zip(cells[0], widths, strict=True):
        out.add_column(Text(head), width=width, no_wrap=True)
    for row in cells[1:]:
        texts = [Text(folded(cell, width)) for cell, width in zip(row, widths, strict=True)]
        for text in texts:
            if marked:
                text.highlight_regex(marked, "bold green")
        out.add_row(*texts)
    console.print(out)


def _stacked(cells: Sequence[Sequence[str]], console: Console) -> None:
    """Print the rows of a table one below the other, each cell with the head of its column."""
    (title, *heads), *lines = cells
    _print(folded(title, console.width), console)
    for first, *others in lines:
        if heads == [""] and len(first) + _BETWEEN + len(others[0]) <= console.width:
            _print(f"{first}{' ' * _BETWEEN}{others[0]}", console)
            continue
        _print("", console)
        _print(folded(first, console.width), console)
        for head, cell in zip(heads, others, strict=True):
            if cell:
                text = folded(f"{head}: {cell}" if head else cell, console.width - _INDENT)
                _print("\n".join(" " * _INDENT + line for line in text.split("\n")), console)
    _print("", console)


def folded(text: str, width: int) -> str:
    """Fold a text into lines of a width: between words, in a longer word after a colon, never inside a name."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in re.findall(r"(?:^\s+)?\S+", paragraph):
            if line and len(line) + 1 + len(word) <= width:
                line += f" {word}"
                continue
            lines += [line] * bool(line)
            line = ""
            for part in [word] if len(word) <= width else _PARTS.findall(word):
                if line and len(line) + len(part) > width:
                    lines.append(line)
                    line = ""
                line += part
        lines.append(line)
    return "\n".join(lines)


def rows(pairs: Iterable[tuple[str, str]], console: Console | None = None) -> None:
    """Print what and value, one below the other."""
    console = console or _console()
    known = [(what, printable(value)) for what, value in pairs]
    first = max((len(what) for what, _ in known), default=0) + 2
    beside = all(first + len(part) <= console.width for _, value in known for part in _PARTS.findall(value))
    for what, value in known:
        if beside:
            lines = folded(value, console.width - first).split("\n")
            out = Text.assemble((f"{what:{first}}", "dim"), f"\n{' ' * first}".join(lines))
        else:
            out = Text.assemble((what, "dim"), "\n", folded(value, console.width))
        console.print(out, soft_wrap=True)


def _console() -> Console:
    return Console(highlight=False)


def _print(text: str, console: Console) -> None:
    """Print lines as they are."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def say(text: str, console: Console | None = None) -> None:
    """Print a sentence, folded between words."""
    console = console or _console()
    _print(folded(text, console.width), console)


def note(text: str, console: Console) -> None:
    """Print a note."""
    console.print(Text.assemble(("note", "yellow"), folded(f"note: {printable(text)}", console.width)[4:]),
                  highlight=False, soft_wrap=True)


def _summary(fields: Mapping[str, int]) -> str:
    """Return the fields that say something: not ignored, not 0."""
    return " ".join(f"{n}={v:#x}" if v > 9 else f"{n}={v}" for n, v in fields.items()
                    if v and not models.is_ignored(n))


def encoding(answer: Encoding) -> None:
    """Print all registers of an encoding, a picture of each PMC, and the ranges."""
    table(["register", "value", "fields"],
          [[r.name, f"{r.value:#018x}", _summary(r.fields)] for r in answer.pmcs])
    if answer.pmds:
        say("to read: " + " ".join(r.name for r in answer.pmds) + "\n")
    for register in answer.pmcs:
        picture(register.name, register.value, models.layout(register.pmu, register.num, register.value))
    for what, cover in (("code", answer.irange), ("data", answer.drange)):
        if cover is not None:
            _cover(what, cover)


def _cover(what: str, cover: RangeCover) -> None:
    table(["register", "value", "fields"],
          [[r.name, f"{r.value:#018x}", _summary(r.fields) if r.num % 2 else "address"] for r in cover.registers])
    mode = " (fine mode)" if cover.fine else ""
    for r in cover.ranges:
        say(f"{what} range covered{mode}: {r.start:#x} to {r.end:#x} (exclusive),"
             f" {r.start_offset:#x} bytes before and {r.end_offset:#x} after what was asked for\n")


_NOT_COUNTED = "not available: the kernel's driver does not set the registers that give the event its meaning"
_NO_SUCH_PMU = "not available: the running kernel has no such PMU"


def encoding4(answer: perf.Encoding) -> None:
    """Print the codes of a libpfm 4 event, its register as a picture, the perf_event fields."""
    from pypfm.perf.encoding import Counted

    not_counted = _NOT_COUNTED if answer.fields else _NO_SUCH_PMU
    lines = [("canonical string", answer.string), ("codes", " ".join(hex(c) for c in answer.codes)),
             ("perf stat -e", answer.perf or not_counted),
             ("perf_event_attr", not_counted if answer.attr is None else
              " ".join(f"{n}={v:#x}" if v > 9 else f"{n}={v}" for n, v in answer.attr.items()))]
    if answer.offcore is not None:
        lines += answer.offcore.rows()
    if isinstance(answer, Counted):
        lines.append(("counted", f"{answer.count} {answer.unit} in {' and '.join(answer.modes)} mode"))
    table([answer.event, ""], lines)
    if answer.fields:
        first_code(answer.pmu, answer.codes[0])
    say("")


def first_code(pmu: str, code: int, console: Console | None = None) -> None:
    """Draw the register that a PMU's first code is the value of."""
    from pypfm.perf.formats import format_of

    form = format_of(pmu)
    picture(form.register, code, [models.Field(*f) for f in form.fields], console, digits=form.width // 4)


def picture(name: str, value: int, fields: Sequence[models.Field], console: Console | None = None, *,
            digits: int = 16) -> None:
    """Draw a register as its bit-fields, the highest bit first, on as many lines as it takes.

    :param fields: from bit 0
    :param digits: hexadecimal digits of the value
    """
    console = console or _console()
    console.print(f"[bold]{name}[/] = {value:#0{digits + 2}x}", highlight=False)
    _lines_of_boxes(console, value, list(reversed(fields)))


def _lines_of_boxes(console: Console, value: int, fields: Sequence[models.Field]) -> None:
    """Boxes for the fields, as many on a line as fit."""
    line: list[models.Field] = []
    width = 1
    for field in fields:
        cell = max(len(field.bits), len(field.label), len(f"{field.of(value):#x}")) + 3
        if line and width + cell > console.width:
            _boxes(console, value, line)
            line, width = [], 1
        line.append(field)
        width += cell
    _boxes(console, value, line)


def _boxes(console: Console, value: int, fields: Sequence[models.Field]) -> None:
    out = Table(box=box.SQUARE, show_header=False, show_lines=False)
    for field in fields:
        out.add_column(justify="center", no_wrap=True, style="dim" if field.ignored else None)
    out.add_row(*(f.bits for f in fields), style="dim")
    out.add_row(*(f.label for f in fields))
    out.add_row(*(f"{f.of(value):#x}" for f in fields))
    console.print(out)
