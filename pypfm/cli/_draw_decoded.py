"""Decoded registers on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from pypfm import _registers
from pypfm._decode.meanings import levels
from pypfm.cli import _draw
from pypfm.decode import Decoded, Decoded4

if TYPE_CHECKING:
    from pypfm.decode import DecodedRegister

__all__ = ["show"]


def show(decoded: Decoded | Decoded4, console: Console | None = None) -> None:
    """Draw each register and say what it means."""
    console = console or Console(highlight=False)
    if isinstance(decoded, Decoded4):
        _show4(decoded, console)
        return
    for register in decoded.registers:
        _register(register, console)
    if decoded.ranges:
        _draw.table(["range", "from", "to (exclusive)", "levels", "registers"],
                    [[f"{r.what}{', fine' if r.fine else ''}", hex(r.start), hex(r.end), levels(r.plm),
                      " ".join(r.registers)] for r in decoded.ranges], console=console)
    for sample in decoded.samples:
        _draw.rows(sample.rows(), console)
        _draw.say("", console)
    if decoded.trace:
        _draw.table(["trace", "entry", "address", ""],
                    [[t.register, t.entry, f"{t.address:#018x}", t.text] for t in decoded.trace], console=console)


def _register(register: DecodedRegister, console: Console) -> None:
    fields = [_registers.Field(f.name, f.bit, f.width) for f in register.fields]
    _draw.picture(register.name, register.value, fields, console)
    if register.meaning is not None:
        _draw.rows(register.meaning.rows(), console)
    for note in register.notes:
        console.print(f"[yellow]note[/]: {note}", highlight=False)
    _draw.say("", console)


def _show4(decoded: Decoded4, console: Console) -> None:
    if decoded.fields:
        _draw.perfevtsel(decoded.values.get("code", decoded.values.get("config", 0)), console)
    else:
        _draw.rows([(name, hex(value)) for name, value in decoded.values.items()], console)
    if decoded.offcore is not None:
        _draw.rows(_draw.offcore_rows(decoded.offcore), console)
    for note in decoded.notes:
        console.print(f"[yellow]note[/]: {note}", highlight=False)
    if decoded.candidates:
        _draw.table(["event", "canonical string"],
                    [["\n".join(c.names), c.string] for c in decoded.candidates], console=console)
