"""The answer to a request: register values, their fields, the addresses covered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pypfm import _registers
from pypfm.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["CoveredRange", "DataRegister", "DebugRegister", "Encoding", "RangeCover", "Register"]


@dataclass(frozen=True)
class Register:
    """A PMC to write.

    :ivar num: its number, n of PMCn
    :ivar value: 64-bit value
    :ivar addr, alt_addr: hardware addresses
    """

    pmu: str
    num: int
    value: int
    addr: int
    alt_addr: int

    @property
    def name(self) -> str:
        return f"PMC{self.num}"

    @property
    def fields(self) -> dict[str, int]:
        """The value's bit-fields by name."""
        return _registers.fields(self.pmu, self.num, self.value)

    def to_json(self) -> dict[str, object]:
        return {"num": self.num, "value": hex(self.value), "addr": self.addr, "alt_addr": self.alt_addr,
                "fields": {name: hex(value) for name, value in self.fields.items()}}


@dataclass(frozen=True)
class DataRegister:
    """A PMD that belongs to the measurement."""

    num: int
    addr: int
    alt_addr: int

    @property
    def name(self) -> str:
        return f"PMD{self.num}"

    def to_json(self) -> dict[str, object]:
        return {"num": self.num, "addr": self.addr, "alt_addr": self.alt_addr}


@dataclass(frozen=True)
class DebugRegister:
    """An IBR or DBR to write: even numbers hold addresses, odd ones mask words."""

    kind: str
    num: int
    value: int
    addr: int
    alt_addr: int

    @property
    def name(self) -> str:
        return f"{self.kind}{self.num}"

    @property
    def fields(self) -> dict[str, int]:
        """The bit-fields of a mask word; of an address, nothing."""
        return _registers.debug_mask_fields(self.value) if self.num % 2 else {}

    def to_json(self) -> dict[str, object]:
        return {"num": self.num, "value": hex(self.value), "addr": self.addr, "alt_addr": self.alt_addr}


@dataclass(frozen=True)
class CoveredRange:
    """What the debug registers cover for one range that was asked for.

    :ivar start, end: the addresses covered, end exclusive
    :ivar start_offset: bytes by which they begin before the range asked for
    :ivar end_offset: bytes by which they end behind it
    """

    start: int
    end: int
    start_offset: int
    end_offset: int

    def to_json(self) -> dict[str, object]:
        return {name: hex(getattr(self, name)) for name in ("start", "end", "start_offset", "end_offset")}


@dataclass(frozen=True)
class RangeCover:
    """The debug registers of the code or data ranges.

    :ivar registers: in the order of the C library
    :ivar ranges: one for each range asked for, as the registers cover it
    :ivar fine: the registers hold first and last bundles (fine mode)
    :ivar infos: (rr_soff, rr_eoff) as the C library reports them, four pairs
    """

    registers: tuple[DebugRegister, ...]
    ranges: tuple[CoveredRange, ...]
    fine: bool
    infos: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, object]:
        return {"registers": [r.to_json() for r in self.registers],
                "ranges": [r.to_json() for r in self.ranges], "fine": self.fine}


@dataclass(frozen=True)
class Encoding:
    """The register values for a request.

    :ivar pmu: itanium2, montecito, itanium or gen_ia64
    :ivar pmcs: in the order of the C library: counters in event order, then the rest
    :ivar pmds: likewise
    :ivar irange: the instruction debug registers, or None without code ranges
    :ivar drange: the data debug registers, or None without data ranges
    """

    pmu: str
    pmcs: tuple[Register, ...]
    pmds: tuple[DataRegister, ...]
    irange: RangeCover | None = None
    drange: RangeCover | None = None

    @cached_property
    def registers(self) -> dict[str, Register | DebugRegister]:
        """All registers to write by name (PMC4, IBR0, DBR1 ...); of one that is written twice the last."""
        covers = [c for c in (self.irange, self.drange) if c is not None]
        found: dict[str, Register | DebugRegister] = {r.name: r for r in self.pmcs}
        found.update((r.name, r) for c in covers for r in c.registers)
        return found

    def __getitem__(self, name: str) -> Register | DebugRegister:
        return self.registers[name]

    @classmethod
    def from_registers(cls, pmu: str, registers: Mapping[str, int], *, pmds: Iterable[int] | None = None) -> Encoding:
        """The encoding whose registers have these values.

        Counters keep the order in which they are given, as events do; the other registers come
        in the order of the C library.  What was asked for is not in the registers: the ranges are
        what they cover, with offsets of 0.  `pypfm.decode.decode` says what the registers mean and
        finds a request for them.

        :param pmu: itanium2, montecito, itanium or gen_ia64
        :param registers: values by name: PMC4, IBR0, DBR1 ...
        :param pmds: numbers of the PMDs to read; None: those of the features in use.  They are to
            be given where a trace buffer setting of 0 does not say whether it is used
        :raises DecodeError: the PMU has no such register, or a value does not fit
        """
        from pypfm._decode.register_set import RegisterSet
        from pypfm._decode.restore import restore
        if pmu not in _registers.MODELS:
            message = f"pmu={pmu!r}: expected {' or '.join(_registers.MODELS)}"
            raise DecodeError(message)
        return restore(RegisterSet.read(pmu, registers, pmds))

    def to_json(self) -> dict[str, object]:
        """The encoding as JSON data (schema: pypfm/schemas/encode.json)."""
        return {
            "pmu": self.pmu,
            "pmcs": [r.to_json() for r in self.pmcs],
            "pmds": [r.to_json() for r in self.pmds],
            "irange": None if self.irange is None else self.irange.to_json(),
            "drange": None if self.drange is None else self.drange.to_json(),
        }
