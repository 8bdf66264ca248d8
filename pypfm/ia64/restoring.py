"""Restoring an encoding from the values of its registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.ia64 import coverage
from pypfm.ia64.candidates import counter_events
from pypfm.ia64.registers import CoveredRange, DataRegister, DebugRegister, RangeCover, Register

if TYPE_CHECKING:
    from pypfm.ia64.register_set import RegisterSet

__all__ = ["cover_order", "merged", "records_branches", "restore"]

_NO_INFOS = ((0, 0),) * 4
_FINE_ORDER = (0, 1, 4, 5, 2, 3, 6, 7)
_TLB_OR_ALAT = (1, 2)


# PMCs, PMDs, covers of the code and of the data ranges.
Parts = tuple["tuple[Register, ...]", "tuple[DataRegister, ...]", "RangeCover | None", "RangeCover | None"]


def restore(given: RegisterSet) -> Parts:
    """Return PMCs, PMDs and covers (code, data) of the encoding whose registers have these values.

    The registers are brought into the order of the C library.  What was asked for is not in them:
    each range is what they cover, its offsets are 0.
    """
    model = given.model
    last = (model.dear,) if given.has(model.dear) and not given.uses_data_ear else ()
    order = [*given.counters, *(n for n in model.rest if n in given.pmcs and n not in last), *filter(None, last)]
    order += [n for n in given.pmcs if n not in order]
    pmcs = tuple(Register(given.pmu, n, given.pmcs[n], *_addresses(given, n, place)) for place, n in enumerate(order))
    numbers = _to_read(given) if given.to_read is None else given.to_read
    pmds = tuple(DataRegister(n, n, 0 if model.addressed_by_place else n) for n in numbers)
    return pmcs, pmds, _cover(given, "IBR"), _cover(given, "DBR")


def _addresses(given: RegisterSet, num: int, place: int) -> tuple[int, int]:
    """Return the addresses of a PMC as the C library reports them, with its quirks."""
    model = given.model
    if model.addressed_by_place:
        return place, 0
    is_corrected = given.pmcs[num] != model.constants.get(num, given.pmcs[num])
    if num not in model.half_addressed or is_corrected or (num == model.dear and not given.uses_data_ear):
        return num, num
    first, second = model.half_addressed[num]
    return num if first else 0, num if second else 0


def records_branches(given: RegisterSet) -> bool:
    """Tell whether the trace buffer is set to record branches.

    A setting of 0 does not say: it is also what a data EAR in TLB or ALAT mode forces.
    """
    model = given.model
    if not given.has(model.trace):
        return False
    if given.value(model.trace):
        return True
    forced = given.has(model.dear) and (
        given.fields(model.dear).get("mode") in _TLB_OR_ALAT
        or any(e.is_dear for num in given.counters for e in counter_events(given.pmu, given.fields(num))))
    return not forced


def _to_read(given: RegisterSet) -> list[int]:
    model = given.model
    numbers = list(given.counters)
    numbers += model.iear_pmds if given.has(model.iear) else ()
    numbers += model.dear_pmds if given.uses_data_ear else ()
    trace = records_branches(given) or given.has(model.ipear)
    return numbers + (list(model.trace_pmds) if trace else [])


def cover_order(fine: bool) -> tuple[int, ...]:
    """Return the order in which the C library writes debug registers."""
    return _FINE_ORDER if fine else tuple(range(8))


def _cover(given: RegisterSet, kind: str) -> RangeCover | None:
    values = given.of(kind)
    if not values:
        return None
    fine = kind == "IBR" and given.fine
    shift = given.model.code_shift if kind == "IBR" and (fine or not given.retired_only) else 0
    registers = tuple(DebugRegister(kind, n, values[n], n + shift, n + shift)
                      for n in cover_order(fine) if n in values)
    whole = set(given.pairs(kind))
    if fine:
        whole = {n for first in (0, 2) if {first, first + 4} <= whole for n in (first, first + 4)}
    blocks = coverage.blocks([r for r in registers if r.num & ~1 in whole], fine)
    return RangeCover(registers, tuple(CoveredRange(s, e, 0, 0) for s, e in merged(blocks)), fine, _NO_INFOS)


def merged(blocks: list[coverage.Block]) -> list[coverage.Block]:
    """Merge blocks that touch or overlap, in the order of their addresses."""
    found: list[coverage.Block] = []
    for start, end in sorted(blocks):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
