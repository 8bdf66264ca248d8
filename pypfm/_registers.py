"""The bit-fields of the registers of IA-64 PMUs, read through the C unions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from pypfm._pfm3 import ffi

__all__ = ["Field", "debug_mask_fields", "fields", "layout"]

_ITANIUM2_PMC = {
    **dict.fromkeys(range(4, 8), "pmc_ita2_counter_reg"),
    **dict.fromkeys((8, 9), "pmc8_9_ita2_reg"),
    11: "pmc11_ita2_reg", 12: "pmc12_ita2_reg", 13: "pmc13_ita2_reg", 14: "pmc14_ita2_reg",
    15: "pmc15_ita2_reg",
}
_MONTECITO_PMC = {
    **dict.fromkeys(range(4, 16), "pmc_mont_counter_reg"),
    **dict.fromkeys((32, 34), "pmc32_34_mont_reg"),
    **dict.fromkeys((33, 35), "pmc33_35_mont_reg"),
    36: "pmc36_mont_reg", 38: "pmc38_mont_reg", 39: "pmc39_mont_reg", 40: "pmc40_mont_reg",
    41: "pmc41_mont_reg", 42: "pmc42_mont_reg",
}
# The I-EAR has two layouts; bit 13 says which.
_IEAR = {
    "itanium2": (10, "pmc10_ita2_tlb_reg", "pmc10_ita2_cache_reg"),
    "montecito": (37, "pmc37_mont_tlb_reg", "pmc37_mont_cache_reg"),
}
_UNION = {"itanium2": "pfm_ita2_pmc_reg_t", "montecito": "pfm_mont_pmc_reg_t"}
_PMC = {"itanium2": _ITANIUM2_PMC, "montecito": _MONTECITO_PMC}


@dataclass(frozen=True)
class Field:
    """A bit-field: its name without the prefix of the register, lowest bit, width in bits."""

    name: str
    bit: int
    width: int

    def of(self, value: int) -> int:
        """What the field holds in a register value."""
        return value >> self.bit & ((1 << self.width) - 1)


# The mask word of a debug register pair.
_DEBUG_MASK = (Field("mask", 0, 56), Field("plm", 56, 4), Field("ig", 60, 2), Field("w", 62, 1), Field("rx", 63, 1))


@cache
def _member_fields(union: str, member: str) -> tuple[Field, ...]:
    members = dict(cast(Any, ffi.typeof(union)).fields)
    return tuple(Field(name.partition("_")[2], f.bitshift, f.bitsize)
                 for name, f in members[member].type.fields)


def layout(pmu: str, num: int, value: int) -> tuple[Field, ...]:
    """The fields of a PMC in the layout that its value is in; empty for an unknown register."""
    ear, tlb, cache_mode = _IEAR[pmu]
    member = (cache_mode if value >> 13 & 1 else tlb) if num == ear else _PMC[pmu].get(num)
    return _member_fields(_UNION[pmu], member) if member else ()


def fields(pmu: str, num: int, value: int) -> dict[str, int]:
    """The fields of a PMC by name."""
    return {f.name: f.of(value) for f in layout(pmu, num, value)}


def debug_mask_fields(value: int) -> dict[str, int]:
    """The fields of the mask word of a debug register pair (odd IBR or DBR)."""
    return {f.name: f.of(value) for f in _DEBUG_MASK}
