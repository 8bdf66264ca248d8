"""Decoded registers on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from pypfm import perf
from pypfm.cli import draw
from pypfm.ia64 import models
from pypfm.ia64.decode.meanings import levels

if TYPE_CHECKING:
    from pypfm.ia64.decode import Decoded, DecodedRegister

__all__ = ["show"]


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
