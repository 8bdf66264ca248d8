"""The registers of the IA-64 PMUs: which exist, which belong together, their bit-fields.

The fields are read through the C unions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, cast

from pypfm._c.pfm3 import ffi, lib
from pypfm.common.frozen import FrozenMap
from pypfm.common.pmu_names import canonical

__all__ = [
    "DEBUG_KINDS", "MODELS", "WHOLE", "Field", "Model", "Name", "data_layout", "debug_layout", "debug_mask_fields",
    "fields", "having", "is_ignored", "layout", "parse_name",
]

DEBUG_KINDS = ("IBR", "DBR")
_NOTHING: FrozenMap[Any, Any] = FrozenMap({})
_NAME = re.compile(r"(PMC|PMD|IBR|DBR)(0|[1-9][0-9]{0,2})", re.IGNORECASE)


class Model(NamedTuple):
    """The registers of a model, by number.

    :ivar tag: of the C names: pfm_<tag>_pmc_reg_t
    :ivar counters: PMCs and PMDs of the counters
    :ivar matchers: PMCs of each opcode matcher
    :ivar iear, dear, trace, irange, drange, routing, ipear: PMCs of the EARs, the trace buffer, the
        code and data ranges, the routing of the opcode matchers, the IP-EAR; None: there is none
    :ivar rest: PMCs after the counters, in the order of the C library
    :ivar has_ism: counters have an instruction set that the caller chooses
    :ivar iear_pmds, dear_pmds: what the EARs record
    :ivar trace_pmds: the trace buffer with its index, in the order of the C library
    :ivar entries, trace_index, extension: of them the entries, the index, and bits that belong to the entries
    :ivar has_raw_matchers: an opcode matcher is one register, which can be given as such
    :ivar matcher_bits: of a pattern and its mask
    :ivar iear_bits, dear_bits: of an EAR's filter; of the instruction EAR in cache and in TLB mode
    :ivar has_alat: an EAR has a third mode, for the ALAT
    :ivar event_flags: flags of an event that have an effect
    :ivar range_flags: likewise of code ranges, by the parameters of encode() that set them; data ranges have none
    :ivar fine_page: bytes that a code range in fine mode stays within; 0: there is no fine mode
    :ivar trace_bits: the settings of the trace buffer and their widths
    :ivar tlb_levels: of a data and of an instruction EAR's TLB filter the bits that have words of their own
    :ivar code_pair, data_pair: what the fields are called that turn a pair of debug registers off, or say what it needs
    :ivar has_structures: C has structures of its own for it
    :ivar input_sets_routing: C writes the routing register where it is given a structure of the model, and only there
    :ivar pair_parity_chooses: even pairs of code ranges are for demand fetches, odd ones for prefetches
    :ivar both_threads: flag of an event to count in both threads of the core; 0: there is one thread, or no such flag
    :ivar sorted_assignment: the rules that assign counters leave one order of events to try

    What the C library does with the addresses of registers, quirks included:

    :ivar addressed_by_place: a PMC has its place in the list for an address
    :ivar half_addressed: PMCs of a feature in use that have not both addresses: whether they have each
    :ivar code_shift: by how much the numbers of instruction debug registers are off, where one pair or fine mode holds
        the range

    What the encoder writes whatever is asked for:

    :ivar counter_bits: by field of a counter
    :ivar field_bits: by register and field
    :ivar reserved_bits: by register; elsewhere the ignored bits are 0
    :ivar constants: registers of which it writes one value
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
    trace_index: int | None = None
    extension: int | None = None
    has_raw_matchers: bool = True
    matcher_bits: int = 27
    iear_bits: tuple[int, int] = (8, 7)
    dear_bits: int = 4
    has_alat: bool = True
    event_flags: int = lib.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK
    range_flags: Mapping[str, int] = _NOTHING
    fine_page: int = 0
    trace_bits: tuple[tuple[str, int], ...] = ()
    tlb_levels: tuple[int, int] = (0xE, 0x7)
    code_pair: str = ""
    data_pair: str = ""
    has_structures: bool = True
    input_sets_routing: bool = False
    pair_parity_chooses: bool = False
    both_threads: int = 0
    sorted_assignment: bool = False
    addressed_by_place: bool = False
    half_addressed: Mapping[int, tuple[bool, bool]] = _NOTHING
    code_shift: int = 0
    counter_bits: Mapping[str, int] = _NOTHING
    field_bits: Mapping[int, Mapping[str, int]] = _NOTHING
    reserved_bits: Mapping[int, int] = _NOTHING
    constants: Mapping[int, int] = _NOTHING

    def is_raw_matcher(self, num: int) -> bool:
        """Tell whether a PMC is an opcode matcher that the caller gives as a value."""
        return self.has_raw_matchers and any(num in matcher for matcher in self.matchers)


_FILTERS = (("tm", 2), ("ptm", 2), ("ppm", 2))


def _each(numbers: tuple[int, ...], **bits: int) -> FrozenMap[int, Mapping[str, int]]:
    return FrozenMap(dict.fromkeys(numbers, FrozenMap(bits)))


MODELS = {
    "itanium2": Model(
        "ita2", range(4, 8), ((8,), (9,)), iear=10, dear=11, trace=12, irange=14, drange=13, routing=15,
        rest=(10, 11, 14, 13, 8, 9, 15, 12), has_ism=True, iear_pmds=(0, 1), dear_pmds=(2, 3, 17),
        trace_pmds=tuple(range(8, 17)), entries=range(8, 16), trace_index=16, fine_page=4 << 10,
        trace_bits=(*_FILTERS, ("brt", 2), ("ds", 1)), code_pair="ibrp", data_pair="cfg_dbrp", input_sets_routing=True,
        range_flags=FrozenMap({"invert": lib.PFMLIB_ITA2_RR_INV, "no_fine": lib.PFMLIB_ITA2_RR_NO_FINE_MODE}),
        counter_bits=FrozenMap({"ev": 0, "oi": 1, "enable": 0}), field_bits=_each((8, 9), bit2=1),
        reserved_bits=FrozenMap({13: 0x2078FEFEFEFE, 14: 0xDB6, 15: 0xFFFFFFFF})),
    "montecito": Model(
        "mont", range(4, 16), ((32, 33), (34, 35)), iear=37, dear=40, trace=39, irange=38, drange=41, routing=36,
        ipear=42, rest=(37, 40, 38, 41, 32, 33, 34, 35, 36, 39, 42), iear_pmds=(34, 35), dear_pmds=(32, 33, 36),
        trace_pmds=(38, 39, *range(48, 64)), entries=range(48, 64), trace_index=38, extension=39,
        has_raw_matchers=False, matcher_bits=41, fine_page=64 << 10, trace_bits=(*_FILTERS, ("brt", 2)),
        code_pair="ig_ibrp", data_pair="cfg_dtag", pair_parity_chooses=True, sorted_assignment=True, code_shift=1,
        both_threads=lib.PFMLIB_MONT_FL_EVT_ALL_THRD,
        event_flags=lib.PFMLIB_MONT_FL_EVT_NO_QUALCHECK | lib.PFMLIB_MONT_FL_EVT_ALL_THRD,
        range_flags=FrozenMap({
            "invert": lib.PFMLIB_MONT_RR_INV, "no_fine": lib.PFMLIB_MONT_RR_NO_FINE_MODE,
            "demand_fetch": lib.PFMLIB_MONT_IRR_DEMAND_FETCH, "prefetch_match": lib.PFMLIB_MONT_IRR_PREFETCH_MATCH}),
        counter_bits=FrozenMap({"ev": 0, "oi": 0, "ism": 2, "all": 0}),
        field_bits=FrozenMap({**_each((39,), ds=0), **_each((40,), ism=2), **_each((42,), mode=4)}),
        reserved_bits=FrozenMap({38: 0xDB6, 41: 0x78E6E6E6E6})),
    # Data ranges have no register of their own: a bit of the data EAR's says that they restrict.
    "itanium": Model(
        "ita", range(4, 8), ((8,), (9,)), iear=10, dear=11, trace=12, irange=13, rest=(10, 11, 8, 9, 12, 13),
        has_ism=True, iear_pmds=(0, 1), dear_pmds=(2, 3, 17), trace_pmds=tuple(range(8, 17)), entries=range(8, 16),
        trace_index=16, iear_bits=(4, 4), has_alat=False, trace_bits=(*_FILTERS, ("tar", 1), ("tac", 1), ("bac", 1)),
        tlb_levels=(0xF, 0xF), half_addressed=FrozenMap({12: (False, False), 11: (True, False)}),
        counter_bits=FrozenMap({"ev": 0, "oi": 1}), constants=FrozenMap({12: 0xC})),
    "gen_ia64": Model("gen_ia64", range(4, 8), has_structures=False, addressed_by_place=True,
                      counter_bits=FrozenMap({"ev": 0, "oi": 1})),
}

#: The models by what libpfm 4 calls them.
TAGS = {model.tag: name for name, model in MODELS.items()}


def having(part: str) -> str:
    """Return the names of the models that have a register, such as ``ipear``."""
    return ", ".join(name for name, model in MODELS.items() if getattr(model, part) is not None)


def model_of(name: object) -> str | None:
    """Return the model for a name of `pypfm.common.pmu_names`, or of libpfm 4's; None: it names no model."""
    known = canonical(name) if isinstance(name, str) else None
    return known if known in MODELS else TAGS.get(known or "")


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


class Field(NamedTuple):
    """A bit-field: its name without the prefix of the register, lowest bit, width in bits."""

    name: str
    bit: int
    width: int

    def of(self, value: int) -> int:
        """Return the field's value in a register value."""
        return value >> self.bit & ((1 << self.width) - 1)

    @property
    def bits(self) -> str:
        """Which bits it takes, as manuals write them: 15:8."""
        return str(self.bit) if self.width == 1 else f"{self.bit + self.width - 1}:{self.bit}"

    @property
    def label(self) -> str:
        """Its name in a picture; an extension of another register is NUMBER:NAME there."""
        return re.sub(r"^pmd(\d+)ext_", r"\1:", self.name)

    @property
    def ignored(self) -> bool:
        """Whether the processor ignores it, or it is reserved."""
        return is_ignored(self.name)


def is_ignored(name: str) -> bool:
    """Tell whether the name of a field says that the processor ignores it, or that it is reserved."""
    return re.fullmatch(r"(\w+ext_)?(ig|res|ignored)\d*", name) is not None


class Name(NamedTuple):
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
    """Return the register that a text names, in upper or lower case; None if it is no name."""
    match = _NAME.fullmatch(text)
    return Name(match.group(1).upper(), int(match.group(2))) if match else None


@cache
def _member_fields(union: str, member: str) -> tuple[Field, ...]:
    members = dict(cast(Any, ffi.typeof(union)).fields)
    # A member that is no bit-field (an address) takes the whole register.
    return tuple(Field(name.partition("_")[2] or name, max(f.bitshift, 0), f.bitsize if f.bitsize > 0 else 64)
                 for name, f in members[member].type.fields)


def layout(pmu: str, num: int, value: int) -> tuple[Field, ...]:
    """Return the fields of a PMC in the layout that its value has; empty for a register without fields."""
    if num == MODELS[pmu].iear and pmu in _IEAR:
        member: str | None = _IEAR[pmu][value >> 13 & 1]
    else:
        member = _PMC[pmu].get(num)
    return _member_fields(f"pfm_{MODELS[pmu].tag}_pmc_reg_t", member) if member else ()


def data_layout(pmu: str, num: int, variant: str = "") -> tuple[Field, ...]:
    """Return the fields of a PMD; a register without fields is one field.

    :param variant: of the trace buffer: "" records branches; "ds" prediction details (Itanium 2);
        "ipear" instruction addresses, "ipear_ef" with a delay (where there is an IP-EAR)
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
    """Return the fields of a debug register: even numbers hold addresses, odd ones mask words."""
    return _DEBUG_MASK if num % 2 else _ADDRESS


def fields(pmu: str, num: int, value: int) -> dict[str, int]:
    """Return the fields of a PMC by name."""
    return {f.name: f.of(value) for f in layout(pmu, num, value)}


def debug_mask_fields(value: int) -> dict[str, int]:
    """Return the fields of the mask word of a debug register pair (odd IBR or DBR)."""
    return {f.name: f.of(value) for f in _DEBUG_MASK}
