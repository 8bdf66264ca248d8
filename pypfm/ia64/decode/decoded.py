"""Registers of the IA-64 PMUs back to what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import SupportsIndex

from pypfm.common.arguments import expect_flag
from pypfm.common.frozen import FrozenMap, lazy
from pypfm.common.value import HEX, HIDDEN, Value, said
from pypfm.errors import DecodeError
from pypfm.ia64 import models
from pypfm.ia64.decode import settings, trace_buffer
from pypfm.ia64.decode.meanings import EarSample, Meaning, RangeMeaning, TraceEntry
from pypfm.ia64.decode.reencoding import Reencoded, reencode
from pypfm.ia64.encoding import Encoding
from pypfm.ia64.register_set import RegisterSet
from pypfm.ia64.restoring import restore

__all__ = ["Decoded", "DecodedRegister", "FieldValue", "decode_registers"]

_KINDS = ("PMC", "PMD", *models.DEBUG_KINDS)


class FieldValue(Value):
    """A bit-field and its value."""

    name: str
    bit: int = field(metadata=said(maximum=63))
    width: int = field(metadata=said(minimum=1, maximum=64))
    value: int = field(metadata=HEX)


class DecodedRegister(Value, Mapping[str, int]):
    """A register: a mapping of its fields' values by name.

    :ivar fields: from bit 0; together they are the value
    :ivar meaning: what it says; None: that is said with others, or by nothing
    :ivar notes: what no encoder writes
    """

    name: str = field(metadata=said(pattern=f"^({'|'.join(_KINDS)})[0-9]+$"))
    value: int = field(metadata=HEX)
    fields: tuple[FieldValue, ...] = field(metadata=said(minItems=1))
    meaning: Meaning | None
    notes: tuple[str, ...]

    @lazy
    def _by_name(self) -> FrozenMap[str, int]:
        return FrozenMap({f.name: f.value for f in self.fields}, f"field of {self.name}")

    def __index__(self) -> int:
        """Return the value, as of a `Register`."""
        return self.value

    def __getitem__(self, name: str) -> int:
        """Return the value of a field.

        :raises UnknownKeyError: the register has no such field; the message says which it has
        """
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


class Decoded(Value, Mapping[str, DecodedRegister]):
    """The decoded registers of an IA-64 PMU: a mapping of them by name, in upper or lower case.

    :ivar ranges: addresses that the debug registers cover
    :ivar samples: what the EARs have recorded
    :ivar trace: what the trace buffer has recorded, oldest first
    """

    pmu: str = field(metadata=said(enum=models.MODELS))
    registers: tuple[DecodedRegister, ...]
    ranges: tuple[RangeMeaning, ...]
    samples: tuple[EarSample, ...]
    trace: tuple[TraceEntry, ...]
    _given: RegisterSet = field(compare=False, metadata=HIDDEN)

    @lazy
    def _by_name(self) -> FrozenMap[str, DecodedRegister]:
        return FrozenMap({r.name: r for r in self.registers}, "register")

    def __getitem__(self, name: str) -> DecodedRegister:
        """Return the register of a name, in upper or lower case.

        :raises UnknownKeyError: it was not given; the message says which were
        """
        return self._by_name[name.upper() if isinstance(name, str) else name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def to_encoding(self) -> Encoding:
        """Return the encoding that these registers are (see `Encoding.from_registers`)."""
        return Encoding(self.pmu, *restore(self._given))

    def to_request(self) -> Reencoded:
        """Return a request that gives the same registers again.

        :raises DecodeError: no encoder makes them; the message names the first that differs
        """
        return reencode(self._given)


def decode_registers(pmu: str, registers: Mapping[str, SupportsIndex], *, etb: bool = False, ipear: bool = False,
           pmds: Iterable[int] | None = None) -> Decoded:
    """Decode register values (see `pypfm.decoding.decode`).

    :raises DecodeError: the PMU has no such register, or a value does not fit
    """
    etb, ipear = expect_flag(etb, "etb"), expect_flag(ipear, "ipear")
    if (etb or ipear) and (models.MODELS[pmu].ipear is None or (etb and ipear)):
        raise DecodeError(f"the trace buffer of {models.having('ipear')} holds branches (etb) or instruction addresses"
                          " (ipear): say one")
    given = RegisterSet.read(pmu, registers, pmds)
    mode = trace_buffer.trace_of(given, "etb" if etb else "ipear" if ipear else None)
    found = [_register(given, kind, num, mode) for kind in _KINDS for num in given.of(kind)]
    return Decoded(pmu, tuple(found), settings.ranges(given), trace_buffer.ear_samples(given),
                   trace_buffer.trace(given, mode), given)


def _register(given: RegisterSet, kind: str, num: int, mode: trace_buffer.Trace) -> DecodedRegister:
    value = given.of(kind)[num]
    meaning: Meaning | None = None
    if kind == "PMC":
        layout = models.layout(given.pmu, num, value) or models.WHOLE
        meaning = settings.setting(given, num)
    elif kind == "PMD":
        layout = models.data_layout(given.pmu, num, trace_buffer.variant(given, num, mode))
        meaning = settings.data_meaning(given, num)
    else:
        layout = models.debug_layout(num)
    fields = tuple(FieldValue(f.name, f.bit, f.width, f.of(value)) for f in layout)
    return DecodedRegister(f"{kind}{num}", value, fields, meaning, settings.notes(given, kind, num))
