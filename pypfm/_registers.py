"""The registers of the IA-64 PMUs: which there are, what belongs together, their bit-fields.

The fields are read through the C unions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from pypfm._pfm3 import ffi

__all__ = [
    "DEBUG_KINDS", "MODELS", "WHOLE", "Field", "Model", "Name", "data_layout", "debug_layout", "debug_mask_fields",
    "fields", "is_ignored", "layout", "parse_name",
]

DEBUG_KINDS = ("IBR", "DBR")
_NAME = re.compile(r"(PMC|PMD|IBR|DBR)(0|[1-9][0-9]{0,2})", re.IGNORECASE)


@dataclass(frozen=True)
class Model:
    """What the registers of a model are for, by number.

    :ivar tag: of the C names: pfm_<tag>_pmc_reg_t
    :ivar counters: PMCs and PMDs of the counters
    :ivar matchers: PMCs of each opcode matcher
    :ivar iear, dear, trace, irange, drange, routing, ipear: PMCs of the EARs, the trace buffer, the
        code and data ranges, the routing of the opcode matchers, the IP-EAR; None: there is none
    :ivar rest: PMCs behind the counters, in the order of the C library
    :ivar has_ism: counters have an instruction set that the caller chooses
    :ivar iear_pmds, dear_pmds: what the EARs record
    :ivar trace_pmds: the trace buffer with its index, in the order of the C library
    :ivar entries, index, extension: of them the entries, the index, and bits that belong to the entries
    """

    tag: str
    counters: range
    matchers: tuple[tuple[int, ...], ...] = ()
    iear: int | None = None
    dear: int | None = None
    trace: int | None = None
    irange: int | None = None
    drange: int | None = None
    routing: int | None = None
    ipear: int | None = None
    rest: tuple[int, ...] = ()
    has_ism: bool = False
    iear_pmds: tuple[int, ...] = ()
    dear_pmds: tuple[int, ...] = ()
    trace_pmds: tuple[int, ...] = ()
    entries: range = range(0)
    index: int | None = None
    extension: int | None = None


MODELS = {
    "itanium2": Model(
        "ita2", range(4, 8), ((8,), (9,)), iear=10, dear=11, trace=12, irange=14, drange=13, routing=15,
        rest=(10, 11, 14, 13, 8, 9, 15, 12), has_ism=True, iear_pmds=(0, 1), dear_pmds=(2, 3, 17),
        trace_pmds=tuple(range(8, 17)), entries=range(8, 16), index=16),
    "montecito": Model(
        "mont", range(4, 16), ((32, 33), (34, 35)), iear=37, dear=40, trace=39, irange=38, drange=41, routing=36,
        ipear=42, rest=(37, 40, 38, 41, 32, 33, 34, 35, 36, 39, 42), iear_pmds=(34, 35), dear_pmds=(32, 33, 36),
        trace_pmds=(38, 39, *range(48, 64)), entries=range(48, 64), index=38, extension=39),
    # Data ranges have no register of their own: a bit of the data EAR's says that they restrict.
    "itanium": Model(
        "ita", range(4, 8), ((8,), (9,)), iear=10, dear=11, trace=12, irange=13, rest=(10, 11, 8, 9, 12, 13),
        has_ism=True, iear_pmds=(0, 1), dear_pmds=(2, 3, 17), trace_pmds=tuple(range(8, 17)), entries=range(8, 16),
        index=16),
    "gen_ia64": Model("gen_ia64", range(4, 8)),
}

_PMC = {
    "itanium2": {
        **dict.fromkeys(MODELS["itanium2"].counters, "pmc_ita2_counter_reg"),
        **dict.fromkeys((8, 9), "pmc8_9_ita2_reg"),
        **{n: f"pmc{n}_ita2_reg" for n in (11, 12, 13, 14, 15)},
    },
    "montecito": {
        **dict.fromkeys(MODELS["montecito"].counters, "pmc_mont_counter_reg"),
        **dict.fromkeys((32, 34), "pmc32_34_mont_reg"),
        **dict.fromkeys((33, 35), "pmc33_35_mont_reg"),
        **{n: f"pmc{n}_mont_reg" for n in (36, 38, 39, 40, 41, 42)},
    },
    "itanium": {
        **dict.fromkeys(MODELS["itanium"].counters, "pmc_ita_count_reg"),
        **dict.fromkeys((8, 9), "pmc8_9_ita_reg"),
        **{n: f"pmc{n}_ita_reg" for n in (10, 11, 12, 13)},
    },
    "gen_ia64": dict.fromkeys(MODELS["gen_ia64"].counters, "pmc_gen_count_reg"),
}
_PMD: dict[str, dict[int, str]] = {
    "itanium2": {
        **dict.fromkeys(MODELS["itanium2"].counters, "pmd_ita2_counter_reg"),
        **{n: f"pmd{n}_ita2_reg" for n in (0, 1, 2, 3, 16, 17)},
        **dict.fromkeys(MODELS["itanium2"].entries, "pmd8_15_ita2_reg"),
    },
    "montecito": {
        **dict.fromkeys(MODELS["montecito"].counters, "pmd_mont_counter_reg"),
        **{n: f"pmd{n}_mont_reg" for n in (32, 33, 34, 35, 36, 38, 39)},
        **dict.fromkeys(MODELS["montecito"].entries, "pmd48_63_etb_mont_reg"),
    },
    "itanium": {
        **dict.fromkeys(MODELS["itanium"].counters, "pmd_ita_counter_reg"),
        **{n: f"pmd{n}_ita_reg" for n in (0, 1, 2, 3, 16, 17)},
        **dict.fromkeys(MODELS["itanium"].entries, "pmd8_15_ita_reg"),
    },
    "gen_ia64": {},
}
# The I-EAR of these has two layouts; bit 13 says which.
_IEAR = {
    "itanium2": ("pmc10_ita2_tlb_reg", "pmc10_ita2_cache_reg"),
    "montecito": ("pmc37_mont_tlb_reg", "pmc37_mont_cache_reg"),
}


@dataclass(frozen=True)
class Field:
    """A bit-field: its name without the prefix of the register, lowest bit, width in bits."""

    name: str
    bit: int
    width: int

    def of(self, value: int) -> int:
        """What the field holds in a register value."""
        return value >> self.bit & ((1 << self.width) - 1)

    @property
    def ignored(self) -> bool:
        """Whether the processor ignores it, or it is reserved."""
        return is_ignored(self.name)


def is_ignored(name: str) -> bool:
    """Whether the name of a field says that the processor ignores it, or that it is reserved."""
    return re.fullmatch(r"(\w+ext_)?(ig|res|ignored)\d*", name) is not None


@dataclass(frozen=True)
class Name:
    """The name of a register: its kind (PMC, PMD, IBR, DBR) and number."""

    kind: str
    num: int

    def __str__(self) -> str:
        return f"{self.kind}{self.num}"


WHOLE = (Field("value", 0, 64),)
_ADDRESS = (Field("address", 0, 64),)
# The mask word of a debug register pair.
_DEBUG_MASK = (Field("mask", 0, 56), Field("plm", 56, 4), Field("ig", 60, 2), Field("w", 62, 1), Field("rx", 63, 1))


def parse_name(text: str) -> Name | None:
    """The register that a text names, in upper or lower case; None if it has not the form of a name."""
    match = _NAME.fullmatch(text)
    return Name(match.group(1).upper(), int(match.group(2))) if match else None


@cache
def _member_fields(union: str, member: str) -> tuple[Field, ...]:
    members = dict(cast(Any, ffi.typeof(union)).fields)
    # A member that is no bit-field (an address) takes the whole register.
    return tuple(Field(name.partition("_")[2] or name, max(f.bitshift, 0), f.bitsize if f.bitsize > 0 else 64)
                 for name, f in members[member].type.fields)


def layout(pmu: str, num: int, value: int) -> tuple[Field, ...]:
    """The fields of a PMC in the layout that its value is in; empty for a register without fields."""
    if num == MODELS[pmu].iear and pmu in _IEAR:
        member: str | None = _IEAR[pmu][value >> 13 & 1]
    else:
        member = _PMC[pmu].get(num)
    return _member_fields(f"pfm_{MODELS[pmu].tag}_pmc_reg_t", member) if member else ()


def data_layout(pmu: str, num: int, variant: str = "") -> tuple[Field, ...]:
    """The fields of a PMD; a register without fields is one.

    :param variant: of the trace buffer: "" records branches; "ds" prediction details (Itanium 2);
        "ipear" instruction addresses, "ipear_ef" with a delay (Montecito)
    """
    model = MODELS[pmu]
    member = _PMD[pmu].get(num)
    if num in model.entries and variant:
        member = {"ds": "pmd8_15_ds_ita2_reg", "ipear": "pmd48_63_ipear_mont_reg",
                  "ipear_ef": "pmd48_63_ipear_ef_mont_reg"}[variant]
    elif num == model.extension and variant:
        member = "pmd39_ipear_mont_reg"
    return _member_fields(f"pfm_{model.tag}_pmd_reg_t", member) if member else WHOLE


def debug_layout(num: int) -> tuple[Field, ...]:
    """The fields of a debug register: even numbers hold addresses, odd ones mask words."""
    return _DEBUG_MASK if num % 2 else _ADDRESS


def fields(pmu: str, num: int, value: int) -> dict[str, int]:
    """The fields of a PMC by name."""
    return {f.name: f.of(value) for f in layout(pmu, num, value)}


def debug_mask_fields(value: int) -> dict[str, int]:
    """The fields of the mask word of a debug register pair (odd IBR or DBR)."""
    return {f.name: f.of(value) for f in _DEBUG_MASK}
