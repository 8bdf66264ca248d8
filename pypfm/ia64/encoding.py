"""The answer to a request: register values, their fields, the addresses covered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, SupportsIndex

from pypfm.common.frozen import FrozenMap, lazy
from pypfm.common.value import Value, said
from pypfm.errors import DecodeError, listed, shown
from pypfm.ia64.models import MODELS, model_of
from pypfm.ia64.register_set import RegisterSet
from pypfm.ia64.registers import DataRegister, DebugRegister, RangeCover, Register
from pypfm.ia64.restoring import restore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypfm.ia64.decode import Decoded

__all__ = ["Encoding"]


class Encoding(Value, Mapping[str, "Register | DebugRegister"]):
    """The register values for a request: a mapping of the registers by name, in upper or lower case.

    :ivar pmu: itanium2, montecito, itanium or gen_ia64
    :ivar pmcs: in the order of the C library: counters in event order, then the rest
    :ivar pmds: likewise
    :ivar irange: the instruction debug registers, or None without code ranges
    :ivar drange: the data debug registers, or None without data ranges
    """

    pmu: str = field(metadata=said(enum=MODELS))
    pmcs: tuple[Register, ...]
    pmds: tuple[DataRegister, ...]
    irange: RangeCover | None = None
    drange: RangeCover | None = None

    @lazy
    def registers(self) -> Mapping[str, Register | DebugRegister]:
        """Return all registers to write by name (PMC4, IBR0, DBR1 ...); if one is written twice, the last."""
        covers = [c for c in (self.irange, self.drange) if c is not None]
        found: dict[str, Register | DebugRegister] = {r.name: r for r in self.pmcs}
        found.update((r.name, r) for c in covers for r in c.registers)
        return FrozenMap(found, "register")

    def __getitem__(self, name: str) -> Register | DebugRegister:
        """Return the register of a name.

        :raises UnknownKeyError: the encoding has none; the message says which it has
        """
        return self.registers[name.upper() if isinstance(name, str) else name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.registers)

    def __len__(self) -> int:
        return len(self.registers)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.upper() in self.registers

    def decode(self, *, etb: bool = False, ipear: bool = False) -> Decoded:
        """Decode the registers.

        :param etb: the trace buffer of Montecito holds branches (the default without PMC42)
        :param ipear: it holds instruction addresses
        """
        from pypfm.ia64.decode import decode_registers  # of a module that needs this one; pypfm.ia64 has loaded it

        return decode_registers(self.pmu, {name: register.value for name, register in self.registers.items()},
                                etb=etb, ipear=ipear, pmds=[pmd.num for pmd in self.pmds])

    @classmethod
    def from_registers(cls, pmu: str, registers: Mapping[str, SupportsIndex], *,
                       pmds: Iterable[int] | None = None) -> Encoding:
        """Restore the encoding whose registers have these values.

        Counters keep the order in which they are given, as events do; the other registers come
        in the order of the C library.  What was asked for is not in the registers: the ranges are
        what they cover, with offsets of 0.  `pypfm.decoding.decode` says what the registers mean and
        finds a request for them.

        :param pmu: itanium2, montecito, itanium or gen_ia64, or another name of theirs, as `pypfm.ia64.pmu_of` takes it
        :param registers: values by name: PMC4, IBR0, DBR1 ...; or those of an encoding
        :param pmds: numbers of the PMDs to read; None: those of the features in use.  They are to
            be given where a trace buffer setting of 0 does not say whether it is used
        :raises DecodeError: the PMU has no such register, or a value does not fit
        """
        model = model_of(pmu)
        if model is None:
            raise DecodeError(f"pmu={shown(pmu)}: expected one of {listed(MODELS)}")
        given = RegisterSet.read(model, registers, pmds)
        return cls(model, *restore(given))
