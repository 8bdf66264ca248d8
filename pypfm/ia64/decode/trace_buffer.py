"""Decoding of what the EARs and the trace buffer have recorded (PMDs).

Of Itanium 2 a branch may lie in the second bundle of its line: bit b1 of its extension, which is
added to the address.  Source: the reference manuals of the processors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pypfm.ia64 import models
from pypfm.ia64.decode.meanings import EarSample, TraceEntry

if TYPE_CHECKING:
    from pypfm.ia64.register_set import RegisterSet

__all__ = ["Trace", "ear_samples", "trace", "trace_of", "variant"]

Trace = Literal["etb", "ipear"]

_TOP = (1 << 64) - 1


def trace_of(given: RegisterSet, asked: Trace | None) -> Trace:
    """Return what the trace buffer records: as the caller says, else as its settings say, else branches."""
    if asked is not None:
        return asked
    model = given.model
    return "ipear" if given.has(model.ipear) and not given.value(model.trace) else "etb"


def variant(given: RegisterSet, num: int, mode: Trace) -> str:
    """Return the layout of a PMD of the trace buffer (see `models.data_layout`)."""
    if given.model.ipear is None:
        return "ds" if given.fields(given.model.trace).get("ds") else ""
    if mode == "etb":
        return ""
    return "ipear_ef" if _extension(given, num, "ef", mode) else "ipear"


def _fields(given: RegisterSet, num: int | None, kind: str = "") -> dict[str, int]:
    """Return the fields of a PMD by name; empty if it was not given."""
    if num is None or num not in given.pmds:
        return {}
    return {f.name: f.of(given.pmds[num]) for f in models.data_layout(given.pmu, num, kind)}


def _extension(given: RegisterSet, num: int, name: str, mode: Trace = "etb") -> int | None:
    """Return a bit of an entry that lies in another register; None if that was not given."""
    model = given.model
    home = model.trace_index if model.extension is None else model.extension
    return _fields(given, home, "ipear" if mode == "ipear" else "").get(f"pmd{num}ext_{name}")


def _order(given: RegisterSet) -> list[int]:
    """Return the entries that were given, oldest first; without the index, by number."""
    model = given.model
    index = _fields(given, model.trace_index)
    numbers = list(model.entries)
    if index:
        at = index["bbi"] if "bbi" in index else index["ebi"]
        numbers = numbers[at:] + numbers[:at] if index["full"] else numbers[:at]
    return [num for num in numbers if num in given.pmds]


def trace(given: RegisterSet, mode: Trace) -> tuple[TraceEntry, ...]:
    """Return the entries of the trace buffer, oldest first."""
    return tuple(_instruction(given, num) if mode == "ipear" else _branch(given, num) for num in _order(given))


def _branch(given: RegisterSet, num: int) -> TraceEntry:
    f = _fields(given, num, variant(given, num, "etb"))
    is_source = bool(f["b"] if "b" in f else f["s"])
    bundle = (f["hiaddr"] << 57 | f["loaddr"]) if "loaddr" in f else f["addr"]
    if is_source:
        bundle += _extension(given, num, "b1") or 0
        flushed = _extension(given, num, "bruflush")
        return TraceEntry(f"PMD{num}", "source", bundle << 4 & _TOP, f["slot"], bool(f["mp"]),
                          None if flushed is None else bool(flushed), f.get("pred"), None, None)
    entry = "target" if f["mp"] else "invalid"
    return TraceEntry(f"PMD{num}", entry, bundle << 4, None, None, None, f.get("pred"), None, None)


def _instruction(given: RegisterSet, num: int) -> TraceEntry:
    early = _extension(given, num, "ef", "ipear")
    high, flushed = (_extension(given, num, name, "ipear") for name in ("cycles", "f"))
    f = _fields(given, num, "ipear_ef" if early else "ipear")
    address = f["addr"] << (12 if early else 4)
    return TraceEntry(f"PMD{num}", "instruction", address, None, None, None if flushed is None else bool(flushed),
                      None, (high or 0) * 16 + f["cycles"], f.get("delay"))


def ear_samples(given: RegisterSet) -> tuple[EarSample, ...]:
    """Return the samples of those EARs whose registers were given."""
    found = []
    model = given.model
    for what, numbers in (("instruction", model.iear_pmds), ("data", model.dear_pmds)):
        names = tuple(f"PMD{n}" for n in numbers if n in given.pmds)
        if names:
            found.append(_sample(what, names, *(_fields(given, n) for n in numbers)))
    return tuple(found)


def _sample(what: str, names: tuple[str, ...], first: dict[str, int], second: dict[str, int],
            third: dict[str, int] | None = None) -> EarSample:
    """Make a sample from the fields of its registers: address, latency, and for a data EAR the instruction."""
    line = first.get("iaddr", first.get("icla"))
    address = first.get("daddr") if line is None else line << 5
    overflow = second.get("overflow", second.get("ov"))
    status = first.get("stat", second.get("stat", second.get("level")))
    instruction, slot, valid = None, None, bool(first["v"]) if "v" in first else None
    if third:
        instruction = (third["iaddr"] + third.get("bn", 0)) << 4 & _TOP
        slot, valid = third["slot"], bool(third["vl"])
    latency = second.get("latency", second.get("lat"))
    return EarSample(what, names, address, latency, None if overflow is None else bool(overflow),
                     status, instruction, slot, valid)
