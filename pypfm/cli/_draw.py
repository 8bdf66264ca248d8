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

    from pypfm.encoding import Encoding, RangeCover, Register
    from pypfm.goldmont import Encoding4

__all__ = ["encoding", "encoding4", "picture", "table"]


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> None:
    """Print a table; the last column is folded if the terminal is narrow."""
    out = Table(*heads[:-1], box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    out.add_column(heads[-1], overflow="fold")
    for column in out.columns[:-1]:
        column.no_wrap = True
    for row in rows:
        out.add_row(*(Text(str(cell)) for cell in row))
    Console(highlight=False).print(out)


def _say(text: str) -> None:
    """Print a sentence, folded between words."""
    Console(highlight=False).print(text, markup=False)


def _ignored(name: str) -> bool:
    return re.fullmatch(r"(ig|res)\d*", name) is not None


def _summary(fields: dict[str, int]) -> str:
    """The fields that say something: not ignored, not 0."""
    return " ".join(f"{n}={v:#x}" if v > 9 else f"{n}={v}" for n, v in fields.items()
                    if v and not _ignored(n))


def encoding(answer: Encoding) -> None:
    """Print all registers of an encoding, a picture of each PMC, and the ranges."""
    table(["register", "value", "fields"],
          [[r.name, f"{r.value:#018x}", _summary(r.fields)] for r in answer.pmcs])
    if answer.pmds:
        _say("to read: " + " ".join(r.name for r in answer.pmds) + "\n")
    for register in answer.pmcs:
        picture(register)
    for what, cover in (("code", answer.irange), ("data", answer.drange)):
        if cover is not None:
            _cover(what, cover)


def _cover(what: str, cover: RangeCover) -> None:
    table(["register", "value", "fields"],
          [[r.name, f"{r.value:#018x}", _summary(r.fields) if r.num % 2 else "address"] for r in cover.registers])
    mode = " (fine mode)" if cover.fine else ""
    for r in cover.ranges:
        _say(f"{what} range covered{mode}: {r.start:#x} to {r.end:#x} (exclusive),"
             f" {r.start_offset:#x} bytes before and {r.end_offset:#x} behind what was asked for\n")


def encoding4(answer: Encoding4, count: int | None) -> None:
    """Print the codes of a libpfm 4 event, its register as a picture, the perf_event fields."""
    rows = [["canonical string", answer.string], ["codes", " ".join(hex(c) for c in answer.codes)],
            ["perf stat -e", answer.perf],
            ["perf_event_attr", " ".join(f"{n}={v:#x}" if v > 9 else f"{n}={v}" for n, v in answer.attr.items())]]
    if answer.offcore is not None:
        o = answer.offcore
        rows += [["requests", " ".join(o.requests)], ["suppliers", " ".join(o.suppliers) or "none"],
                 ["snoops", " ".join(o.snoops) or "none"], ["latency mode", "yes" if o.outstanding else "no"]]
    if count is not None:
        rows.append(["counted", str(count)])
    table([answer.event, ""], rows)
    if answer.pmu == "glm":
        from pypfm.goldmont import PERFEVTSEL
        console = Console(highlight=False)
        console.print(f"[bold]IA32_PERFEVTSEL[/] = {answer.codes[0]:#010x}")
        fields = [_registers.Field(*f) for f in reversed(PERFEVTSEL)]
        _lines_of_boxes(console, answer.codes[0], fields)
    _say("")


def picture(register: Register) -> None:
    """Draw a register as its bit-fields, the highest bit first, on as many lines as it takes."""
    console = Console(highlight=False)
    console.print(f"[bold]{register.name}[/] = {register.value:#018x}")
    fields = _registers.layout(register.pmu, register.num, register.value)
    _lines_of_boxes(console, register.value, list(reversed(fields)))


def _lines_of_boxes(console: Console, value: int, fields: Sequence[_registers.Field]) -> None:
    """Boxes for the fields, as many on a line as fit."""
    line: list[_registers.Field] = []
    width = 1
    for field in fields:
        cell = max(len(_bits(field)), len(field.name), len(f"{field.of(value):#x}")) + 3
        if line and width + cell > console.width:
            _boxes(console, value, line)
            line, width = [], 1
        line.append(field)
        width += cell
    _boxes(console, value, line)


def _bits(field: _registers.Field) -> str:
    return str(field.bit) if field.width == 1 else f"{field.bit + field.width - 1}:{field.bit}"


def _boxes(console: Console, value: int, fields: Sequence[_registers.Field]) -> None:
    if not fields:
        return
    out = Table(box=box.SQUARE, show_header=False, show_lines=False)
    for field in fields:
        out.add_column(justify="center", no_wrap=True, style="dim" if _ignored(field.name) else None)
    out.add_row(*(_bits(f) for f in fields), style="dim")
    out.add_row(*(f.name for f in fields))
    out.add_row(*(f"{f.of(value):#x}" for f in fields))
    console.print(out)
