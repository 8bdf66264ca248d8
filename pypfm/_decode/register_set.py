"""Register values by name, checked against the registers of a PMU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypfm import _registers
from pypfm.errors import DecodeError, shown
from pypfm.levels import expect_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pypfm.itanium import Pmu

__all__ = ["RegisterSet", "check_value", "pmu_of"]

_DEBUG_REGISTERS = 8


@dataclass(frozen=True)
class RegisterSet:
    """Values of registers by number, in the order in which they were given.

    :ivar pmds: PMDs with the values read
    :ivar to_read: PMDs that belong to the measurement, if that is known
    """

    pmu: str
    pmcs: dict[int, int]
    pmds: dict[int, int] = field(default_factory=dict)
    ibrs: dict[int, int] = field(default_factory=dict)
    dbrs: dict[int, int] = field(default_factory=dict)
    to_read: tuple[int, ...] | None = None

    @property
    def model(self) -> _registers.Model:
        return _registers.MODELS[self.pmu]

    def of(self, kind: str) -> dict[int, int]:
        """The registers of a kind."""
        return {"PMC": self.pmcs, "PMD": self.pmds, "IBR": self.ibrs, "DBR": self.dbrs}[kind]

    def fields(self, num: int | None) -> dict[str, int]:
        """The fields of a PMC by name; of one that was not given, nothing."""
        return _registers.fields(self.pmu, num, self.pmcs[num]) if num is not None and num in self.pmcs else {}

    def value(self, num: int | None) -> int | None:
        """The value of a PMC; None if it was not given, or the model has none."""
        return None if num is None else self.pmcs.get(num)

    def has(self, num: int | None) -> bool:
        """Whether a PMC was given, of those that the model has."""
        return self.value(num) is not None

    @property
    def uses_data_ear(self) -> bool:
        """Whether the data EAR is set: on Itanium its register is written for data ranges alone, too."""
        if not self.has(self.model.dear) or self.model.drange is not None:
            return self.has(self.model.dear)
        if self.to_read is not None:
            return self.model.dear_pmds[0] in self.to_read
        # Data ranges alone write the privilege levels and nothing else.
        return any(value for name, value in self.fields(self.model.dear).items() if name != "plm")

    @property
    def counters(self) -> list[int]:
        """The counters among the PMCs."""
        return [num for num in self.pmcs if num in self.model.counters]

    @property
    def fine(self) -> bool:
        """Whether the code ranges are in fine mode."""
        return bool(self.fields(self.model.irange).get("fine"))

    @property
    def retired_only(self) -> bool:
        """Whether nothing but retired instructions is counted: only then code ranges take several pairs."""
        return all(self.fields(num)["es"] == 0x08 for num in self.counters)

    def pairs(self, kind: str) -> list[int]:
        """Numbers of the debug registers that hold addresses and whose mask word is there, too."""
        values = self.of(kind)
        return [num for num in sorted(values) if num % 2 == 0 and num + 1 in values]

    @classmethod
    def read(cls, pmu: str, registers: Mapping[str, int], to_read: Iterable[int] | None = None) -> RegisterSet:
        """Sort registers by kind.

        :raises DecodeError: the PMU has no such register, or a value does not fit
        """
        found: dict[str, dict[int, int]] = {"PMC": {}, "PMD": {}, "IBR": {}, "DBR": {}}
        processor = pmu_of(pmu)
        existing = {"PMC": processor.pmcs, "PMD": processor.pmds}
        for text, value in registers.items():
            name = _registers.parse_name(text)
            numbers = existing.get(name.kind, tuple(range(_DEBUG_REGISTERS))) if name else ()
            if name is None or name.num not in numbers:
                message = (f"{pmu} has no register {shown(text)}; it has {_listed('PMC', processor.pmcs)},"
                           f" {_listed('PMD', processor.pmds)}, IBR0-7 and DBR0-7")
                raise DecodeError(message)
            if name.num in found[name.kind]:
                message = f"{name} is given twice"
                raise DecodeError(message)
            found[name.kind][name.num] = check_value(str(name), value)
        return cls(pmu, found["PMC"], found["PMD"], found["IBR"], found["DBR"],
                   None if to_read is None else tuple(to_read))


def check_value(name: str, value: int) -> int:
    """A value, once it is known to fit 64 bits.

    :raises DecodeError: it does not
    :raises TypeError: it is no number
    """
    expect_type(value, int, name)
    if not 0 <= value < 1 << 64:
        message = f"{name}: {shown(hex(value))} does not fit 64 bits (0 to 0xffffffffffffffff)"
        raise DecodeError(message)
    return value


def pmu_of(name: str, cpuid3: int | None = None) -> Pmu:
    """The IA-64 PMU of a name."""
    from pypfm.itanium import GenericIA64, Itanium, Itanium2, Montecito
    if name == "gen_ia64":
        return GenericIA64()
    return {"itanium": Itanium, "itanium2": Itanium2, "montecito": Montecito}[name](cpuid3)


def _listed(kind: str, numbers: tuple[int, ...]) -> str:
    """The numbers of registers as PMC0-15,32-42."""
    parts = []
    for n in numbers:
        if n - 1 not in numbers:
            parts.append(str(n))
        elif n + 1 not in numbers:
            parts[-1] += f"-{n}"
    return kind + ",".join(parts)
