"""From register values back to what they mean.

``decode("itanium2", {"PMC4": 0x1228})`` names the fields of registers and what they say together;
`Decoded.to_request` is a request that gives the same registers again.  For glm and perf:
``decode("glm", {"code": 0x5300c0})`` gives canonical event strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, overload

from pypfm import _registers
from pypfm._decode import ia64, restore, trace
from pypfm._decode.meanings import (
    BranchMeaning,
    CounterMeaning,
    CountMeaning,
    EarMeaning,
    EarSample,
    IndexMeaning,
    IpEarMeaning,
    ItaniumBranchMeaning,
    MatcherMeaning,
    Meaning,
    PairsMeaning,
    RangeMeaning,
    RoutingMeaning,
    TraceEntry,
)
from pypfm._decode.pfm4 import Candidate, Decoded4, decode4
from pypfm._decode.reencode import Reencoded, reencode
from pypfm._decode.register_set import RegisterSet
from pypfm.encoding import Encoding
from pypfm.errors import DecodeError

__all__ = [
    "BranchMeaning", "Candidate", "CountMeaning", "CounterMeaning", "Decoded", "Decoded4", "DecodedRegister",
    "EarMeaning", "EarSample", "FieldValue", "IndexMeaning", "IpEarMeaning", "ItaniumBranchMeaning",
    "MatcherMeaning", "Meaning", "PairsMeaning", "RangeMeaning", "Reencoded", "RoutingMeaning", "TraceEntry", "decode",
]

_KINDS = ("PMC", "PMD", *_registers.DEBUG_KINDS)


@dataclass(frozen=True)
class FieldValue:
    """A bit-field and what it holds."""

    name: str
    bit: int
    width: int
    value: int

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "bit": self.bit, "width": self.width, "value": hex(self.value)}


@dataclass(frozen=True)
class DecodedRegister:
    """A register.

    :ivar fields: from bit 0; together they are the value
    :ivar meaning: what it says; None: that is said with others, or by nothing
    :ivar notes: what no encoder writes
    """

    name: str
    value: int
    fields: tuple[FieldValue, ...]
    meaning: Meaning | None
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> int:
        """What a field holds."""
        return {f.name: f.value for f in self.fields}[name]

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "value": hex(self.value), "fields": [f.to_json() for f in self.fields],
                "meaning": None if self.meaning is None else self.meaning.to_json(), "notes": list(self.notes)}


@dataclass(frozen=True)
class Decoded:
    """Registers of an IA-64 PMU and what they say.

    :ivar ranges: addresses that the debug registers cover
    :ivar samples: what the EARs have recorded
    :ivar trace: what the trace buffer has recorded, oldest first
    """

    pmu: str
    registers: tuple[DecodedRegister, ...]
    ranges: tuple[RangeMeaning, ...]
    samples: tuple[EarSample, ...]
    trace: tuple[TraceEntry, ...]
    _given: RegisterSet = field(repr=False, compare=False)

    def __getitem__(self, name: str) -> DecodedRegister:
        """The register of a name, in upper or lower case."""
        return {r.name: r for r in self.registers}[name.upper()]

    def to_encoding(self) -> Encoding:
        """The encoding that these registers are (see `Encoding.from_registers`)."""
        return restore.restore(self._given)

    def to_request(self) -> Reencoded:
        """A request that gives the same registers again.

        :raises DecodeError: no encoder makes them; the message names the first that differs
        """
        return reencode(self._given)

    def to_json(self) -> dict[str, object]:
        """Everything as JSON data (schema: pypfm/schemas/decode.json)."""
        return {"pmu": self.pmu, "registers": [r.to_json() for r in self.registers],
                "ranges": [r.to_json() for r in self.ranges], "samples": [s.to_json() for s in self.samples],
                "trace": [t.to_json() for t in self.trace]}


@overload
def decode(pmu: Literal["itanium2", "montecito", "itanium", "gen_ia64"], registers: Mapping[str, int], *,
           etb: bool = ..., ipear: bool = ..., pmds: Iterable[int] | None = ...) -> Decoded: ...
@overload
def decode(pmu: Literal["glm", "perf"], registers: Mapping[str, int]) -> Decoded4: ...
@overload
def decode(pmu: str, registers: Mapping[str, int], *, etb: bool = ..., ipear: bool = ...,
           pmds: Iterable[int] | None = ...) -> Decoded | Decoded4: ...


def decode(pmu: str, registers: Mapping[str, int], *, etb: bool = False, ipear: bool = False,
           pmds: Iterable[int] | None = None) -> Decoded | Decoded4:
    """Decode register values.

    Registers that belong together are read together: give all that there are.

    :param pmu: itanium2, montecito, itanium, gen_ia64 (as if forced), glm or perf
    :param registers: values by name: PMC4, PMD48, IBR0, DBR1 ...; of glm and perf code, offcore,
        type, config, config1, exclude_user, exclude_kernel, exclude_hv
    :param etb: the trace buffer of Montecito holds branches (the default without PMC42)
    :param ipear: it holds instruction addresses
    :param pmds: numbers of the PMDs to read, if they are known: a PMC12 or PMC39 of 0 does not say
        whether the trace buffer is among them
    :raises DecodeError: the PMU has no such register, or a value does not fit
    """
    if pmu in ("glm", "perf"):
        return decode4(pmu, registers)
    if pmu not in _registers.MODELS:
        message = f"pmu={pmu!r}: expected {', '.join(_registers.MODELS)}, glm or perf"
        raise DecodeError(message)
    if (etb or ipear) and (pmu != "montecito" or (etb and ipear)):
        message = "the trace buffer of montecito holds branches (etb) or instruction addresses (ipear): say one"
        raise DecodeError(message)
    given = RegisterSet.read(pmu, registers, pmds)
    mode = trace.trace_of(given, "etb" if etb else "ipear" if ipear else None)
    found = [_register(given, kind, num, mode) for kind in _KINDS for num in given.of(kind)]
    return Decoded(pmu, tuple(found), ia64.ranges(given), trace.ear_samples(given),
                   trace.trace(given, mode), given)


def _register(given: RegisterSet, kind: str, num: int, mode: trace.Trace) -> DecodedRegister:
    value = given.of(kind)[num]
    meaning: Meaning | None = None
    if kind == "PMC":
        layout = _registers.layout(given.pmu, num, value) or _registers.WHOLE
        meaning = ia64.setting(given, num)
    elif kind == "PMD":
        layout = _registers.data_layout(given.pmu, num, trace.variant(given, num, mode))
        meaning = ia64.data_meaning(given, num)
    else:
        layout = _registers.debug_layout(num)
    fields = tuple(FieldValue(f.name, f.bit, f.width, f.of(value)) for f in layout)
    return DecodedRegister(f"{kind}{num}", value, fields, meaning, ia64.notes(given, kind, num))
