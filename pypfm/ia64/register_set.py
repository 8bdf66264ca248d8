"""Register values by name, checked against the registers of a PMU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

from pypfm.common.arguments import expect_int, expect_items, expect_type, expect_word
from pypfm.common.frozen import FrozenMap
from pypfm.common.runs import written
from pypfm.errors import DecodeError, shown
from pypfm.ia64 import models
from pypfm.ia64.events import table

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["RegisterSet"]

_DEBUG_REGISTERS = 8


@dataclass(frozen=True)
class RegisterSet:
    """Values of registers by number, in the order in which they were given.

    :ivar pmds: PMDs with the values read
    :ivar to_read: PMDs that belong to the measurement, if that is known
    """

    pmu: str
    pmcs: FrozenMap[int, int]
    pmds: FrozenMap[int, int]
    ibrs: FrozenMap[int, int]
    dbrs: FrozenMap[int, int]
    to_read: tuple[int, ...] | None = None

    @property
    def model(self) -> models.Model:
        return models.MODELS[self.pmu]

    def of(self, kind: str) -> FrozenMap[int, int]:
        """Return the registers of a kind."""
        return {"PMC": self.pmcs, "PMD": self.pmds, "IBR": self.ibrs, "DBR": self.dbrs}[kind]

    def fields(self, num: int | None) -> dict[str, int]:
        """Return the fields of a PMC by name; of one that was not given, nothing."""
        return models.fields(self.pmu, num, self.pmcs[num]) if num is not None and num in self.pmcs else {}

    def value(self, num: int | None) -> int | None:
        """Return the value of a PMC; None if it was not given, or the model has none."""
        return None if num is None else self.pmcs.get(num)

    def has(self, num: int | None) -> bool:
        """Tell whether a PMC was given, of those that the model has."""
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
    def read(cls, pmu: str, registers: Mapping[str, SupportsIndex],
             to_read: Iterable[int] | None = None) -> RegisterSet:
        """Sort registers by kind.

        :raises DecodeError: the PMU has no such register, or a value does not fit
        """
        found: dict[str, dict[int, int]] = {"PMC": {}, "PMD": {}, "IBR": {}, "DBR": {}}
        processor = table(pmu)
        expect_type(registers, Mapping, "registers")
        existing = {"PMC": processor.pmcs, "PMD": processor.pmds}
        for text, value in registers.items():
            expect_type(text, str, "name of a register")
            name = models.parse_name(text)
            numbers = existing.get(name.kind, tuple(range(_DEBUG_REGISTERS))) if name else ()
            if name is None or name.num not in numbers:
                raise DecodeError(f"{pmu} has no register {shown(text)}; it has PMC{written(processor.pmcs)},"
                                  f" PMD{written(processor.pmds)}, IBR0-7 and DBR0-7")
            if name.num in found[name.kind]:
                raise DecodeError(f"{name} is given twice")
            found[name.kind][name.num] = expect_word(str(name), value)
        pmcs, pmds, ibrs, dbrs = (FrozenMap(values, "register") for values in found.values())
        return cls(pmu, pmcs, pmds, ibrs, dbrs,
                   None if to_read is None else _numbers(pmu, to_read, processor.pmds))


def _numbers(pmu: str, given: Iterable[int], existing: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of PMDs, and check that they exist."""
    numbers = tuple(expect_int(number, "number of a PMD") for number in expect_items(given, "pmds"))
    if unknown := [number for number in numbers if number not in existing]:
        raise DecodeError(f"{pmu} has no PMD {shown(unknown[0])}; it has PMD{written(existing)}")
    return numbers
