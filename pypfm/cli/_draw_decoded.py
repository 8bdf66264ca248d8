"""Decoded registers, on a terminal and as an SVG file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from pypfm import perf
from pypfm.cli import draw
from pypfm.cli.common import file_errors, named
from pypfm.errors import PfmError
from pypfm.ia64 import models
from pypfm.ia64.decode.meanings import levels

if TYPE_CHECKING:
    from pypfm.ia64.decode import Decoded, DecodedRegister

__all__ = ["save", "show"]

_COLUMNS = 80
# As rich's own, but self-contained: no fonts from the network, no window around it.
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
{lines}
</defs>
<rect width="100%" height="100%" fill="#ffffff"/>
<g transform="translate(10, 10)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def show(decoded: Decoded | perf.Decoded, console: Console | None = None) -> None:
    """Draw each register and say what it means."""
    console = console or Console(highlight=False)
    if isinstance(decoded, perf.Decoded):
        _show4(decoded, console)
        return
    for register in decoded.registers:
        _register(register, console)
    if decoded.ranges:
        draw.table(["range", "from", "to (exclusive)", "levels", "registers"],
                    [[f"{r.what}{', fine' if r.fine else ''}", hex(r.start), hex(r.end), levels(r.plm),
                      " ".join(r.registers)] for r in decoded.ranges], console=console)
    for sample in decoded.samples:
        draw.rows(sample.rows(), console)
        draw.say("", console)
    if decoded.trace:
        draw.table(["trace", "entry", "address", ""],
                    [[t.register, t.entry, f"{t.address:#018x}", t.text] for t in decoded.trace], console=console)


def _register(register: DecodedRegister, console: Console) -> None:
    fields = [models.Field(f.name, f.bit, f.width) for f in register.fields]
    draw.picture(register.name, register.value, fields, console)
    if register.meaning is not None:
        draw.rows(register.meaning.rows(), console)
    for note in register.notes:
        draw.note(note, console)
    draw.say("", console)


def _show4(decoded: perf.Decoded, console: Console) -> None:
    if decoded.fields:
        draw.first_code(decoded.pmu, decoded.values.get("code", decoded.values.get("config", 0)), console)
    else:
        draw.rows([(name, hex(value)) for name, value in decoded.values.items()], console)
    if decoded.offcore is not None:
        draw.rows(decoded.offcore.rows(), console)
    for note in decoded.notes:
        draw.note(note, console)
    if decoded.candidates:
        at_levels = any(c.plm is not None for c in decoded.candidates)
        draw.table(["event", "canonical string", *(["levels"] if at_levels else [])],
                    [["\n".join(c.names), c.string, *([c.levels] if at_levels else [])] for c in decoded.candidates],
                    console=console)


def save(file: str, decoded: Decoded | perf.Decoded) -> None:
    """Draw registers into a file.

    :raises PfmError: it cannot be written
    """
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard",
                      highlight=False, legacy_windows=False)
    show(decoded, console)
    picture = console.export_svg(title="pypfm decode", theme=DEFAULT_TERMINAL_THEME, code_format=_FORMAT,
                                 unique_id="pypfm")
    with file_errors(PfmError, f"cannot write {named(file)}"):
        Path(file).write_text(picture, encoding="utf-8")
