"""Tables and register pictures for a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pypfm import _registers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pypfm._offcore import OffcoreValue
    from pypfm.encoding import Encoding, RangeCover
    from pypfm.goldmont import Encoding4

__all__ = ["encoding", "encoding4", "offcore_rows", "perfevtsel", "picture", "rows", "say", "table"]

_BETWEEN = 3  # columns of the terminal between two of a table
_LEAST = 10  # for the last column of a table


def table(heads: Sequence[str], lines: Iterable[Sequence[object]], title: str | None = None,
          console: Console | None = None) -> None:
    """Print a table; the last column is folded if the terminal is narrow, all are if that leaves it no room."""
    console = console or _console()
    cells = [[str(cell) for cell in line] for line in lines]
    out = Table(*heads, box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    widths = [max(len(part) for row in [heads, *cells] for part in row[i].split("\n")) for i in range(len(heads))]
    others = sum(width + _BETWEEN for width in widths[:-1])
    for column in out.columns:
        column.overflow = "fold"
    for column in out.columns[:-1]:
        column.no_wrap = console.width - others >= min(widths[-1], _LEAST)
    for row in cells:
        out.add_row(*map(Text, row))
    console.print(out)


def rows(pairs: Iterable[tuple[str, str]], console: Console | None = None) -> None:
    """Print what and value, one below the other."""
    out = Table.grid(padding=(0, 2))
    out.add_column(style="dim", no_wrap=True)
    out.add_column(overflow="fold")
    for what, value in pairs:
        out.add_row(Text(what), Text(value))
    (console or _console()).print(out)


def _console() -> Console:
    return Console(highlight=False)


def say(text: str, console: Console | None = None) -> None:
    """Print a sentence, folded between words."""
    (console or _console()).print(text, markup=False, highlight=False)


def _summary(fields: dict[str, int]) -> str:
    """The fields that say something: not ignored, not 0."""
    return " ".join(f"{n}={v:#x}" if v > 9 else f"{n}={v}" for n, v in fields.items()
                    if v and not _registers.is_ignored(n))


def encoding(answer: Encoding) -> None:
    """Print all registers of an encoding, a picture of each PMC, and the ranges."""
    table(["register", "value", "fields"],
          [[r.name, f"{r.value:#018x}", _summary(r.fields)] for r in answer.pmcs])
    if answer.pmds:
        say("to read: " + " ".join(r.name for r in answer.pmds) + "\n")
    for register in answer.pmcs:
        picture(register.name, register.value, _registers.layout(register.pmu, register.num, register.value))
    for what, cover in (("code", answer.irange), ("data", answer.drange)):
        if cover is not None:
            _cover(what, cover)


def _cover(what: str, cover: RangeCover) -> None:
    table(["register", "value", "fields"],
          [[r.name, f"{r.value:#018x}", _summary(r.fields) if r.num % 2 else "address"] for r in cover.registers])
    mode = " (fine mode)" if cover.fine else ""
    for r in cover.ranges:
        say(f"{what} range covered{mode}: {r.start:#x} to {r.end:#x} (exclusive),"
             f" {r.start_offset:#x} bytes before and {r.end_offset:#x} behind what was asked for\n")


def encoding4(answer: Encoding4, count: int | None) -> None:
    """Print the codes of a libpfm 4 event, its register as a picture, the perf_event fields."""
    lines = [("canonical string", answer.string), ("codes", " ".join(hex(c) for c in answer.codes)),
             ("perf stat -e", answer.perf),
             ("perf_event_attr", " ".join(f"{n}={v:#x}" if v > 9 else f"{n}={v}" for n, v in answer.attr.items()))]
    if answer.offcore is not None:
        lines += offcore_rows(answer.offcore)
    if count is not None:
        lines.append(("counted", str(count)))
    table([answer.event, ""], lines)
    if answer.pmu == "glm":
        perfevtsel(answer.codes[0])
    say("")


def offcore_rows(value: OffcoreValue) -> list[tuple[str, str]]:
    """What an offcore response register selects."""
    found = [("requests", " ".join(value.requests) or "none"), ("suppliers", " ".join(value.suppliers) or "none"),
             ("snoops", " ".join(value.snoops) or "none"), ("latency mode", "yes" if value.outstanding else "no")]
    return found + ([("other bits", hex(value.other))] if value.other else [])


def perfevtsel(code: int, console: Console | None = None) -> None:
    """Draw an event select register of Goldmont."""
    from pypfm.goldmont import PERFEVTSEL
    picture("IA32_PERFEVTSEL", code, [_registers.Field(*f) for f in PERFEVTSEL], console, digits=8)


def picture(name: str, value: int, fields: Sequence[_registers.Field], console: Console | None = None, *,
            digits: int = 16) -> None:
    """Draw a register as its bit-fields, the highest bit first, on as many lines as it takes.

    :param fields: from bit 0
    :param digits: hexadecimal digits of the value
    """
    console = console or _console()
    console.print(f"[bold]{name}[/] = {value:#0{digits + 2}x}", highlight=False)
    _lines_of_boxes(console, value, list(reversed(fields)))


def _lines_of_boxes(console: Console, value: int, fields: Sequence[_registers.Field]) -> None:
    """Boxes for the fields, as many on a line as fit."""
    line: list[_registers.Field] = []
    width = 1
    for field in fields:
        cell = max(len(_bits(field)), len(_label(field)), len(f"{field.of(value):#x}")) + 3
        if line and width + cell > console.width:
            _boxes(console, value, line)
            line, width = [], 1
        line.append(field)
        width += cell
    _boxes(console, value, line)


def _bits(field: _registers.Field) -> str:
    return str(field.bit) if field.width == 1 else f"{field.bit + field.width - 1}:{field.bit}"


def _label(field: _registers.Field) -> str:
    """The name of a field in its box; an extension of another register is NUMBER:NAME there."""
    return re.sub(r"^pmd(\d+)ext_", r"\1:", field.name)


def _boxes(console: Console, value: int, fields: Sequence[_registers.Field]) -> None:
    out = Table(box=box.SQUARE, show_header=False, show_lines=False)
    for field in fields:
        out.add_column(justify="center", no_wrap=True, style="dim" if field.ignored else None)
    out.add_row(*(_bits(f) for f in fields), style="dim")
    out.add_row(*map(_label, fields))
    out.add_row(*(f"{f.of(value):#x}" for f in fields))
    console.print(out)
