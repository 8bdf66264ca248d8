"""Registers that a measurement writes and reads: PMCs, PMDs, debug registers, and the addresses that these cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pypfm.common.frozen import FrozenMap
from pypfm.common.value import HEX, HIDDEN, Value, in_json, said
from pypfm.errors import InvalidValueError, shown
from pypfm.ia64 import models

__all__ = ["CoveredRange", "DataRegister", "DebugRegister", "RangeCover", "Register"]


def _expect_word(self: Register | DebugRegister) -> None:
    if not 0 <= self.value < 1 << 64:
        raise InvalidValueError(f"{self.name}: {shown(hex(self.value))} does not fit 64 bits (0 to 2^64 - 1)")


def _text(self: Register | DebugRegister) -> str:
    return f"{self.name} = {self.value:#x}"


def _index(self: Register | DebugRegister) -> int:
    """Return the value, so that hex() and `pypfm.decode` take a register."""
    return self.value


class Register(Value):
    """A PMC to write.

    :ivar num: its number, n of PMCn
    :ivar value: 64-bit value
    :ivar addr, alt_addr: hardware addresses
    """

    pmu: str = field(metadata=said(hidden=True, enum=models.MODELS))
    num: int
    value: int = field(metadata=HEX)
    addr: int
    alt_addr: int

    __str__, __index__ = _text, _index

    def __post_init__(self) -> None:
        _expect_word(self)

    @property
    def name(self) -> str:
        return f"PMC{self.num}"

    @property
    @in_json(hex=True)
    def fields(self) -> Mapping[str, int]:
        """The value's bit-fields by name."""
        return FrozenMap(models.fields(self.pmu, self.num, self.value), f"field of {self.name}")


class DataRegister(Value):
    """A PMD that belongs to the measurement."""

    num: int
    addr: int
    alt_addr: int

    @property
    def name(self) -> str:
        return f"PMD{self.num}"


class DebugRegister(Value):
    """An IBR or DBR to write: even numbers hold addresses, odd ones mask words; the rest as in `Register`."""

    kind: str = field(metadata=said(hidden=True, enum=models.DEBUG_KINDS))
    num: int
    value: int = field(metadata=HEX)
    addr: int
    alt_addr: int

    __str__, __index__ = _text, _index

    def __post_init__(self) -> None:
        _expect_word(self)

    @property
    def name(self) -> str:
        return f"{self.kind}{self.num}"

    @property
    def fields(self) -> Mapping[str, int]:
        """The bit-fields of a mask word; of an address, nothing."""
        found = models.debug_mask_fields(self.value) if self.num % 2 else {}
        return FrozenMap(found, f"field of {self.name}")


class CoveredRange(Value):
    """The addresses that the debug registers cover for one range of a request.

    :ivar start, end: the addresses covered, end exclusive
    :ivar start_offset: bytes by which they begin before the range asked for; negative if they cover less
    :ivar end_offset: bytes by which they end after it; negative if they cover less
    """

    start: int = field(metadata=HEX)
    end: int = field(metadata=HEX)
    start_offset: int = field(metadata=said(hex=True, pattern="^-?0x[0-9a-f]+$"))
    end_offset: int = field(metadata=said(hex=True, pattern="^-?0x[0-9a-f]+$"))


class RangeCover(Value):
    """The debug registers of the code or data ranges.

    :ivar registers: in the order of the C library
    :ivar ranges: one for each range asked for, as the registers cover it
    :ivar fine: the registers hold first and last bundles (fine mode)
    :ivar infos: (rr_soff, rr_eoff) as the C library reports them, four pairs
    """

    registers: tuple[DebugRegister, ...] = field(metadata=said(maxItems=8))
    ranges: tuple[CoveredRange, ...] = field(metadata=said(maxItems=4))
    fine: bool
    infos: tuple[tuple[int, int], ...] = field(metadata=HIDDEN)
