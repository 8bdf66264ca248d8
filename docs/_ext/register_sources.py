"""What a register page shows of a register: its fields, their meaning, and a worked example.

Fields come from the C unions (`pypfm.ia64.models`), those of Goldmont from `pypfm.perf.pmu` and the unit
masks of its offcore events; values come from calls of pypfm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pypfm
import register_words
from pypfm import Encoding, Goldmont, perf
from pypfm.decoding import decode
from pypfm.ia64 import models
from pypfm.ia64.decode import Decoded
from pypfm.ia64.decode.meanings import levels
from pypfm.ia64.models import Field
from pypfm.perf.formats import PERFEVTSEL

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EVENT_SELECT", "OFFCORE_REGISTERS", "Example", "example", "fields", "meanings", "names"]

_OFFCORE = re.compile(r"MSR_OFFCORE_RSP_([01])")
# Registers of Goldmont.
EVENT_SELECT = "IA32_PERFEVTSEL"
OFFCORE_REGISTERS = ("MSR_OFFCORE_RSP_0", "MSR_OFFCORE_RSP_1")
_CACHE_MODE = 1 << 13  # of an I-EAR


def names(words: Sequence[str]) -> list[str]:
    """Names of registers: PMC8-9 is PMC8 and PMC9."""
    found = []
    for word in words:
        run = re.fullmatch(r"([A-Z]+)(\d+)-(\d+)", word)
        found += [f"{run[1]}{n}" for n in range(int(run[2]), int(run[3]) + 1)] if run else [word]
    return found


def fields(pmu: str, name: str, variant: str = "") -> tuple[Field, ...]:
    """The fields of a register, from bit 0.

    :param variant: "cache" of an I-EAR; of a trace buffer, those of `pypfm.ia64.models.data_layout`
    :raises ValueError: there is no such register
    """
    if pmu == "glm":
        return _fields_of_goldmont(name)
    register = models.parse_name(name)
    if register is None or pmu not in models.MODELS:
        raise ValueError(f"{pmu} {name}: no such register")
    if register.kind == "PMC":
        return models.layout(pmu, register.num, _CACHE_MODE * (variant == "cache")) or models.WHOLE
    if register.kind == "PMD":
        return models.data_layout(pmu, register.num, variant)
    return models.debug_layout(register.num)


def _fields_of_goldmont(name: str) -> tuple[Field, ...]:
    if name == EVENT_SELECT:
        return tuple(Field(*f) for f in PERFEVTSEL)
    which = _OFFCORE.fullmatch(name)
    if which is None:
        raise ValueError(f"glm {name}: expected {EVENT_SELECT}, MSR_OFFCORE_RSP_0 or _1")
    found: list[Field] = []
    bits = {u.code: u.name for u in Goldmont()[f"OFFCORE_RESPONSE_{which[1]}"].umasks if not u.members}
    end = 0
    for code, umask in sorted(bits.items()):
        bit = code.bit_length() - 1
        if bit > end:
            found.append(Field("res", end, bit - end))
        found.append(Field(umask, bit, 1))
        end = bit + 1
    return (*found, Field("res", end, 64 - end))


def meanings(pmu: str, name: str, layout: Sequence[Field]) -> list[str]:
    """The meaning of each field.

    :raises ValueError: one has no words
    """
    if which := _OFFCORE.fullmatch(name):
        umasks = {u.name: u.description for u in Goldmont()[f"OFFCORE_RESPONSE_{which[1]}"].umasks}
        return [umasks.get(f.name) or register_words.meaning((), f.name) for f in layout]
    register = models.parse_name(name)
    roles = register_words.role(pmu, register.kind, register.num) if register else (pmu,)
    return [register_words.meaning(roles, f.name) for f in layout]


@dataclass(frozen=True)
class Example:
    """A worked example.

    :ivar session: the calls and their answers, as Python's prompt shows them
    :ivar says: what the value means: what, and value
    :ivar registers: all of the call, or of its result: names and values, the register itself first
    """

    name: str
    session: str
    value: int
    says: tuple[tuple[str, str], ...]
    registers: tuple[tuple[str, int], ...]


def example(pmu: str, among: Sequence[str], variant: str, expression: str) -> Example:
    """Make a call of pypfm, and pick a register out of its answer.

    :param among: names of registers, the first that the answer has is taken
    :param expression: its value is an Encoding or Decoded
    :raises ValueError: the answer has none of these registers, or one of another layout
    :raises TypeError: the value is something else
    """
    # The text of the page is this project's own.
    answer = eval(expression, {n: getattr(pypfm, n) for n in dir(pypfm)})
    if isinstance(answer, perf.Encoding):
        return _of_codes(among[0], answer, expression)
    registers = {r.name: r.value for r in
                 (answer.registers.values() if isinstance(answer, Encoding) else answer.registers)}
    name = next((n for n in among if n in registers), None)
    if name is None:
        raise ValueError(f"the answer has none of {', '.join(among)}")
    value = registers[name]
    if isinstance(answer, Encoding):
        session = _session("encoding", expression, f'encoding["{name}"].value', value)
        answer = decode(pmu, registers)
    else:
        session = _session("decoded", expression)
    if not isinstance(answer, Decoded):
        raise TypeError(f"the value is {type(answer).__name__}, not Encoding or Decoded")
    _check_layout(answer, name, fields(pmu, name, variant))
    return Example(name, session, value, tuple(_says(answer, name)),
                   ((name, value), *(pair for pair in registers.items() if pair[0] != name)))


def _check_layout(decoded: Decoded, name: str, layout: Sequence[Field]) -> None:
    """The value is in the layout that is drawn."""
    got = next(r.fields for r in decoded.registers if r.name == name)
    if [(f.name, f.bit, f.width) for f in got] != [(f.name, f.bit, f.width) for f in layout]:
        raise ValueError(f"{name} of the example has another layout than the one drawn")


def _of_codes(name: str, answer: perf.Encoding, expression: str) -> Example:
    """The code of Goldmont that belongs into a register."""
    which = 0 if name == EVENT_SELECT else 1
    says = [("event", answer.string)]
    if answer.perf is not None:
        says.append(("perf stat -e", answer.perf))
    if which and answer.offcore is not None:
        says = answer.offcore.rows()
    value = answer.codes[which]
    registers = ((name, value), (EVENT_SELECT, answer.codes[0]))[:which + 1]
    session = _session("encoding", expression, f"encoding.codes[{which}]", value)
    return Example(name, session, value, tuple(says), registers)


def _session(variable: str, expression: str, part: str = "", value: int = 0) -> str:
    """What Python's prompt would show."""
    first, *more = f"{variable} = {expression}".splitlines()
    lines = [f">>> {first}", *(f"... {line}" for line in more)]
    return "\n".join([*lines, f">>> hex({part})", repr(hex(value))] if part else lines)


def _says(decoded: Decoded, name: str) -> list[tuple[str, str]]:
    """What a register means, in the words of pypfm decode."""
    register = next(r for r in decoded.registers if r.name == name)
    found = [] if register.meaning is None else register.meaning.rows()
    for r in decoded.ranges:
        if name in r.registers:
            found.append((f"{r.what} range", f"{r.start:#x} to {r.end:#x} (exclusive), levels {levels(r.plm)}"))
    for sample in decoded.samples:
        found += sample.rows() if name in sample.registers else []
    for entry in decoded.trace:
        if entry.register == name or not name.startswith("PMD"):
            found.append((f"{entry.register}, {entry.entry}", f"{entry.address:#x} {entry.text}".strip()))
    return found + [("note", note) for note in register.notes]
