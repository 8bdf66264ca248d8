"""Address ranges that give debug registers again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from pypfm._c.pfm3 import lib
from pypfm.ia64 import coverage
from pypfm.ia64.request import AddressRange, Ranges

if TYPE_CHECKING:
    from pypfm.ia64.register_set import RegisterSet

__all__ = ["code_ranges", "data_ranges", "level"]

_BUNDLE = 16
_WORD = 1 << 64
# A level that counts as given and has no bit in a register field.
_NO_LEVEL = 0x10
# Used, but not 1: the C library then leaves the data range register alone.
_HALF_USED = 2


def level(field: int) -> int:
    """Return the privilege levels to ask for, given those in a register field."""
    return field or _NO_LEVEL


def _level(mask_word: int) -> int:
    return level(mask_word >> 56 & 0xF)


def code_ranges(given: RegisterSet) -> Iterator[tuple[Ranges | None, bool]]:
    """Yield code ranges to try, and whether the processor is to be detected."""
    if not given.has(given.model.irange):
        yield None, False
    elif given.model.drange is None:  # Itanium: several pairs for any event, and no flags
        yield _each(given, "IBR"), False
    else:
        yield from _with_flags(given)


def _with_flags(given: RegisterSet) -> Iterator[tuple[Ranges, bool]]:
    """Yield code ranges of a model that has a fine mode."""
    flags = _flags(given)
    coarse = flags | lib.PFMLIB_ITA2_RR_NO_FINE_MODE
    used = 1 if _counts_for_data(given) else _HALF_USED
    if given.fine:
        for limits, detected in _fine(given):
            yield Ranges(tuple(limits), flags, used), detected
    elif given.retired_only:
        yield replace(_each(given, "IBR"), flags=coarse, used=used), False
    else:
        for num in given.pairs("IBR")[:1]:
            start, end = coverage.block_of(given.ibrs[num], given.ibrs[num + 1])
            limit = AddressRange(start, end, _level(given.ibrs[num + 1]))
            yield Ranges((limit,), coarse, used), False


def data_ranges(given: RegisterSet) -> Iterator[Ranges | None]:
    """Yield data ranges to try."""
    if given.dbrs:
        yield _each(given, "DBR")
    elif given.has(given.model.drange) and not given.has(given.model.irange):
        yield Ranges((), used=_HALF_USED)
    else:
        yield None


def _flags(given: RegisterSet) -> int:
    """Return the flags of the code ranges, as far as the opcode matcher and the pairs in use tell them."""
    matcher, known = given.fields(given.model.matchers[0][0]), given.model.range_flags
    flags = known["invert"] if matcher.get("inv") else 0
    if given.model.pair_parity_chooses:
        first = {num % 4 // 2 for num in given.ibrs}
        flags |= known["demand_fetch"] if 0 in first else 0
        flags |= known["prefetch_match"] if 1 in first else 0
    return flags


def _counts_for_data(given: RegisterSet) -> bool:
    """Tell whether the data range register says that pairs of code ranges are in use."""
    needs = [f for name, f in given.fields(given.model.drange).items() if name.startswith(given.model.data_pair)]
    return any(need in (0, 1) for need in needs)  # 2 and 3: no code range


def _fine(given: RegisterSet) -> Iterator[tuple[list[AddressRange], bool]]:
    """Yield first and last bundles as ranges.

    C may have rounded an end: then it is the one before, the only one if the other is in the next page.
    """
    pairs = [num for num in (0, 2) if {num, num + 1, num + 4, num + 5} <= set(given.ibrs)]
    for detected, pasts in product((False, True), product((_BUNDLE, 0), repeat=len(pairs))):
        limits = [AddressRange(given.ibrs[num], (given.ibrs[num + 4] + past) % _WORD, _level(given.ibrs[num + 1]))
                  for num, past in zip(pairs, pasts, strict=True)]
        yield limits, detected
        if len(limits) == 2 and limits[0] == limits[1]:
            yield limits[:1], detected  # one range, for demand fetches and for prefetches


def _each(given: RegisterSet, kind: str) -> Ranges:
    """Return each pair as a range of its own."""
    values = given.of(kind)
    limits = []
    for num in given.pairs(kind):
        size = coverage.block_size(values[num + 1])
        # Not aligned: the last pair may hold a block that ends where the range ends.
        limits.append(AddressRange(values[num], min(values[num] + size, _WORD), _level(values[num + 1])))
    return Ranges(tuple(limits))
