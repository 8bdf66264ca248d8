"""The IA-64 PMUs as Python objects: events, search, encoding.

Two PMUs can be used side by side and from any number of threads: everything here
goes through the re-entrant half of the C library, not through the global state
that ``pypfm.pfm3`` and the environment share.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pypfm import _dispatch, _promises
from pypfm._mirror import string
from pypfm._pfm3 import ffi, lib
from pypfm.errors import (
    EventNotFoundError,
    InvalidRequestError,
    NotSupportedError,
    UnitMaskError,
    shown,
    unknown_event,
)
from pypfm.levels import expect_type
from pypfm.request import (
    AddressRange,
    Btb,
    Ear,
    EarMode,
    Etb,
    EventRequest,
    IpEar,
    ItaniumBtb,
    OpcodeMatch,
    Plm,
    Ranges,
    Request,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.encoding import Encoding

__all__ = ["Event", "GenericIA64", "Itanium", "Itanium2", "Montecito", "Pmu", "UnitMask"]

Check = Literal["manual", "reference"]
RangeLike = AddressRange | tuple[int, int] | tuple[int, int, "int | str"]
MatchLike = OpcodeMatch | int | None

_MAX_UINT = 2**32 - 1
_C_EVENT: Any = ffi.typeof("pfmlib_event_t *")
# Requests for an event by its name alone cannot change: the same ones serve all encodings.
_by_name = lru_cache(maxsize=1024)(EventRequest)
_TYPES = ("active", "floating", "causal", "self_floating")


@dataclass(frozen=True)
class UnitMask:
    """A unit mask of an event."""

    index: int
    name: str
    code: int
    description: str


@dataclass(frozen=True)
class Event:
    """An event of a PMU, with everything that the C query functions say of it.

    The C library has no descriptions for Itanium (Merced); here there are.

    :ivar index: C event index
    :ivar code: event select code, 8 bits
    :ivar umask: unit mask that is part of the event
    :ivar counters: counters that can measure it, n of PMCn
    :ivar maxincr: largest number of occurrences in a cycle; thresholds stay below
    :ivar ear_mode: what an EAR event records, else None
    :ivar group: cache event group (L1, L2), else None
    :ivar set: set within the group, else None
    :ivar type: active, floating, causal or self_floating (Montecito), else None
    :ivar unit_masks: unit masks to choose from; most events have none
    """

    pmu: str
    index: int
    name: str
    description: str
    code: int
    umask: int
    counters: tuple[int, ...]
    maxincr: int
    is_ear: bool
    is_iear: bool
    is_dear: bool
    is_branch: bool
    ear_mode: EarMode | None
    supports_opcode_match: bool
    supports_code_range: bool
    supports_data_range: bool
    group: str | None
    set: int | None
    type: str | None
    unit_masks: tuple[UnitMask, ...]

    def __str__(self) -> str:
        return self.name

    def to_json(self) -> dict[str, object]:
        """Everything about the event (schema: info)."""
        return {
            "pmu": self.pmu, "index": self.index, "name": self.name, "description": self.description,
            "code": hex(self.code), "umask": hex(self.umask), "counters": list(self.counters),
            "maxincr": self.maxincr, "is_ear": self.is_ear, "is_iear": self.is_iear, "is_dear": self.is_dear,
            "is_branch": self.is_branch,
            "ear_mode": None if self.ear_mode is None else self.ear_mode.name.lower(),
            "supports_opcode_match": self.supports_opcode_match,
            "supports_code_range": self.supports_code_range,
            "supports_data_range": self.supports_data_range,
            "group": self.group, "set": self.set, "type": self.type,
            "unit_masks": [{"index": m.index, "name": m.name, "code": hex(m.code), "description": m.description}
                           for m in self.unit_masks],
        }


class Pmu:
    """A PMU of the IA-64 family; `Itanium`, `Itanium2`, `Montecito`, `GenericIA64` are the ones to use.

    :param cpuid3: CPUID register 3 of the processor, as if it had been detected; None: as if the
        PMU had been forced.  On Itanium 2 detection turns the fine-mode workaround on.
    :raises InvalidRequestError: the register belongs to another processor
    """

    name: ClassVar[str]
    _type: ClassVar[int]
    _layout: ClassVar[_dispatch.Layout]
    _branches: ClassVar[type | None] = None

    def __init__(self, cpuid3: int | None = None) -> None:
        self._model: Any = lib.pfm3_model_by_type(self._type)
        if cpuid3 is not None and cpuid3 >> 24 & 0xFF != self._model.family:
            message = (f"CPUID register 3 {cpuid3:#x} is of family {cpuid3 >> 24 & 0xff:#x};"
                       f" {self.name} is {self._model.family:#x} (bits 31:24)")
            raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message, "pfm_initialize")
        self.fine_mode_bug = cpuid3 is not None and bool(self._model.has_fine_mode_bug)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} events>"

    @property
    def model_name(self) -> str:
        """The name that pfm_get_pmu_name() answers."""
        return string(self._model.name)

    @property
    def counters(self) -> tuple[int, ...]:
        """The counters, n of PMCn/PMDn."""
        return _bits(self._model.impl_counters)

    @property
    def counter_width(self) -> int:
        """Bits of a counter."""
        return int(self._model.counter_width)

    @property
    def pmcs(self) -> tuple[int, ...]:
        """Numbers of the implemented PMCs."""
        return _registers_of(self._model.impl_pmcs)

    @property
    def pmds(self) -> tuple[int, ...]:
        """Numbers of the implemented PMDs."""
        return _registers_of(self._model.impl_pmds)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events, in the order of their indices."""
        return tuple(self._event(i) for i in range(len(self)))

    def __len__(self) -> int:
        return int(self._model.table.count)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) >= 0

    def __getitem__(self, name: str) -> Event:
        """The event of a name, in upper or lower case.

        :raises EventNotFoundError: there is none; the message names the nearest
        """
        return self._event(self._index(name))

    def find(self, pattern: str = "*") -> list[Event]:
        """The events whose names match a glob pattern, in upper or lower case."""
        expect_type(pattern, str, "pattern")
        wanted = pattern.upper()
        return [e for e in self.events if fnmatch.fnmatchcase(e.name, wanted)]

    def _find(self, name: str) -> int:
        expect_type(name, str, "event name")
        try:
            data = name.encode("ascii")
        except UnicodeEncodeError:
            return -1
        return lib.pfm3_find_name(self._model, data, len(data))

    def _index(self, name: str) -> int:
        """The C index of an event that has to exist."""
        index = self._find(name)
        if index < 0:
            message = unknown_event(self.name, name, [e.name for e in self.events])
            raise EventNotFoundError(lib.PFMLIB_ERR_NOTFOUND, message, "pfm_find_event")
        return index

    def _event(self, index: int) -> Event:
        e = lib.pfm3_event_at(self._model, index)
        mode = lib.pfm3_ear_mode(self._model, index)
        iear = e.kind in (lib.PFM3_IEAR_TLB, lib.PFM3_IEAR_CACHE)
        return Event(
            pmu=self.name, index=index, name=string(e.name),
            description=string(e.description), code=e.code, umask=e.umask,
            counters=_bits(e.counters), maxincr=e.maxincr,
            is_ear=mode >= 0, is_iear=iear, is_dear=mode >= 0 and not iear,
            is_branch=e.kind == lib.PFM3_BTB, ear_mode=EarMode(mode) if mode >= 0 else None,
            supports_opcode_match=bool(e.flags & lib.PFM3_OPCM),
            supports_code_range=bool(e.flags & lib.PFM3_IARR),
            supports_data_range=bool(e.flags & lib.PFM3_DARR),
            group=(None, "L1", "L2")[e.group], set=None if e.set < 0 else e.set,
            type=_TYPES[e.type] if self._model.num_masks else None,
            unit_masks=self._unit_masks(lib.pfm3_num_masks(self._model, e)),
        )

    def _unit_masks(self, count: int) -> tuple[UnitMask, ...]:
        masks = self._model.masks
        return tuple(UnitMask(i, string(masks[i].name), masks[i].code,
                              string(masks[i].description)) for i in range(count))

    def _resolve(self, item: str | Event | EventRequest) -> tuple[EventRequest, Any]:
        """A request for an event, and the C event with its unit masks."""
        wanted = item if isinstance(item, EventRequest) else _by_name(item) if type(item) is str else EventRequest(item)
        expect_type(wanted.event, (str, Event), "event")
        if isinstance(wanted.event, Event) and wanted.event.pmu != self.name:
            message = f"{wanted.event.name} is an event of {wanted.event.pmu}, not of {self.name}"
            raise EventNotFoundError(lib.PFMLIB_ERR_NOTFOUND, message, "pfm_find_event")
        name, colon, masks = (wanted.event if isinstance(wanted.event, str) else wanted.event.name).partition(":")
        c_event: Any = ffi.new(_C_EVENT)
        c_event.event = index = self._index(name)
        if not colon and not wanted.unit_masks:
            return wanted, c_event
        event = self._event(index)
        tokens: list[int | str] = [*(masks.split(":") if colon else []), *wanted.unit_masks]
        if len(tokens) > lib.PFMLIB_MAX_MASKS_PER_EVENT:
            message = f"{event.name}: {len(tokens)} unit masks; at most {lib.PFMLIB_MAX_MASKS_PER_EVENT} fit"
            raise UnitMaskError(lib.PFMLIB_ERR_UMASK, message, "pfm_find_full_event")
        for i, token in enumerate(tokens):
            c_event.unit_masks[i] = self._mask_index(event, token)
        c_event.num_masks = len(tokens)
        return wanted, c_event

    def _mask_index(self, event: Event, token: int | str) -> int:
        expect_type(token, (int, str), f"{event.name}: unit mask")
        if isinstance(token, int):
            if 0 <= token <= _MAX_UINT:  # C says whether the event has it
                return token
            token = str(token)
        index: Any = ffi.new("unsigned int *")
        data = token.encode("utf-8", "surrogateescape")
        row = lib.pfm3_event_at(self._model, event.index)
        if b"\0" in data or lib.pfm3_find_mask(self._model, row, data + b"\0", len(data), index):
            allowed = ", ".join(m.name for m in event.unit_masks) or "it has none"
            message = f"{event.name}: unit mask {token!r} is unknown ({allowed})"
            raise UnitMaskError(lib.PFMLIB_ERR_UMASK, message, "pfm_find_event_mask")
        return int(index[0])

    def encode_request(self, request: Request, *, check: Check = "manual") -> Encoding:
        """Encode a request as one object, such as that of decoded registers.

        :param check: as in `encode`
        :raises Pfm3Error: as `encode`
        """
        return self._encode(request.events, request, check)

    def _completed(self, request: Request, events: tuple[EventRequest, ...]) -> Request:
        """A request with its events, once it is decided which of the model's structures are passed."""
        uses_model = request.uses_model or any(event.uses_model for event in events)
        model_input, model_output = request.model_input, request.model_output
        if not self._layout.tag:
            if uses_model:
                message = (f"{self.name} has no model-specific settings: of an event only its privilege levels,"
                           " of a request no ranges, matchers, EARs or trace buffer")
                raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message)
            model_input = model_output = False
        if model_input is None:
            model_input = uses_model
        if model_output is None:
            model_output = request.code is not None or request.data is not None
        return replace(request, events=events, model_input=model_input, model_output=model_output)

    def _encode(self, events: Iterable[str | Event | EventRequest], request: Request, check: Check) -> Encoding:
        """Encode a request whose events are still to be filled in."""
        if check not in ("manual", "reference"):
            message = f"check={check!r}: expected 'manual' or 'reference'"
            raise ValueError(message)
        if isinstance(events, str) or not isinstance(events, Iterable):
            message = f"events={events!r}: expected a sequence of events"
            raise TypeError(message)
        _expect_parts(request, self._branches)
        resolved = [self._resolve(e) for e in events]
        request = self._completed(request, tuple(wanted for wanted, _ in resolved))
        c_events = [c_event for _, c_event in resolved]
        if check == "manual":
            _promises.check_values(self, request, [c.event for c in c_events])
        encoding = _dispatch.encode(self, self._layout, request, c_events)
        if check == "manual":
            _promises.check_answer(request, encoding)
        return encoding


def _expect_parts(request: Request, branches: type | None) -> None:
    """The parts of a request are of their types; a PMU without a branch buffer has none of them."""
    if branches is None:
        return
    for part, kind in ((request.iear, Ear), (request.dear, Ear), (request.branches, branches), (request.ipear, IpEar)):
        if part is not None:
            expect_type(part, kind, kind.__name__)
    for ear in (request.iear, request.dear):
        if ear is not None:
            expect_type(ear.mode, int, "mode of an EAR")
    for pmc in request.unavailable_pmcs:
        expect_type(pmc, int, "unavailable PMC")


def _registers_of(mask: Any) -> tuple[int, ...]:
    """The registers of a pfmlib_regmask_t."""
    width = 8 * ffi.sizeof("pfmlib_regmask_bits_t")
    return _bits(sum(word << width * i for i, word in enumerate(mask.bits)))


def _bits(mask: int) -> tuple[int, ...]:
    return tuple(n for n in range(mask.bit_length()) if mask >> n & 1)


def _ranges(given: Ranges | Iterable[RangeLike], flags: int) -> Ranges | None:
    """The ranges of a request; None if nothing was said."""
    if isinstance(given, Ranges):
        return replace(given, flags=given.flags | flags)
    limits = tuple(_range(r) for r in given)
    return Ranges(limits, flags) if limits or flags else None


def _range(given: RangeLike) -> AddressRange:
    if not isinstance(given, AddressRange):
        expect_type(given, tuple, "address range")
        if len(given) not in (2, 3):
            message = f"address range {given!r}: expected (start, end) or (start, end, plm)"
            raise TypeError(message)
        given = AddressRange(*given)
    expect_type(given.start, int, "start of an address range")
    expect_type(given.end, int, "end of an address range")
    return given


def _matchers(given: MatchLike | tuple[MatchLike, MatchLike]) -> tuple[OpcodeMatch | None, OpcodeMatch | None]:
    both = given if isinstance(given, tuple) else (given, None)
    if len(both) != 2:
        message = f"opcode_match: {len(both)} matchers; there are 2"
        raise TypeError(message)
    first, second = both
    return _matcher(first), _matcher(second)


def _matcher(given: MatchLike) -> OpcodeMatch | None:
    expect_type(given, (OpcodeMatch, int, type(None)), "opcode matcher")
    return OpcodeMatch(value=given) if isinstance(given, int) else given


class Itanium2(Pmu):
    """The Itanium 2 PMU (McKinley, Madison): 497 events, 4 counters."""

    name = "itanium2"
    _type = lib.PFMLIB_ITANIUM2_PMU
    _layout = _dispatch.Layout("ita2", irange_pmc=14)
    _branches = Btb

    def encode(
        self,
        events: Iterable[str | Event | EventRequest],
        *,
        plm: int | str = Plm.PLM3,
        code_ranges: Ranges | Iterable[RangeLike] = (),
        data_ranges: Ranges | Iterable[RangeLike] = (),
        invert: bool = False,
        no_fine: bool = False,
        opcode_match: MatchLike | tuple[MatchLike, MatchLike] = None,
        iear: Ear | None = None,
        dear: Ear | None = None,
        btb: Btb | None = None,
        system_wide: bool = False,
        unavailable_pmcs: Iterable[int] = (),
        check: Check = "manual",
        model_input: bool | None = None,
        model_output: bool | None = None,
    ) -> Encoding:
        """Compute the registers for a measurement.

        :param events: up to 4: names, `Event` or `EventRequest` (own plm, threshold, ism ...)
        :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
        :param code_ranges: up to 4 (start, end) or (start, end, plm), end exclusive, multiples of 16
        :param data_ranges: up to 4, likewise, at any address
        :param invert: measure outside the code ranges
        :param no_fine: never use fine mode for code ranges
        :param opcode_match: matcher PMC8, or (PMC8, PMC9): an `OpcodeMatch` or a raw value each
        :param iear: settings of the instruction EAR; without, an EAR event brings its own
        :param dear: settings of the data EAR; likewise
        :param btb: settings of the branch trace buffer; without, BRANCH_EVENT records all branches
        :param system_wide: measure the whole system, not one thread
        :param unavailable_pmcs: PMCs that must not be used
        :param check: "manual" raises where a promise of the manual page would break; "reference"
            answers as the C library does
        :param model_input: whether C is given a model-specific input; None: if anything needs it
        :param model_output: whether C is given a model-specific output; None: if there are ranges
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm_itanium2(3).
        """
        flags = (lib.PFMLIB_ITA2_RR_INV if invert else 0) | (lib.PFMLIB_ITA2_RR_NO_FINE_MODE if no_fine else 0)
        request = Request(
            plm=_dispatch.level(plm), system_wide=system_wide, unavailable_pmcs=tuple(unavailable_pmcs),
            code=_ranges(code_ranges, flags), data=_ranges(data_ranges, 0),
            opcode_match=_matchers(opcode_match), iear=iear, dear=dear, branches=btb,
            model_input=model_input, model_output=model_output)
        return self._encode(events, request, check)


class Montecito(Pmu):
    """The Montecito PMU (dual-core Itanium 2 9000): 637 events, 12 counters."""

    name = "montecito"
    _type = lib.PFMLIB_MONTECITO_PMU
    _layout = _dispatch.Layout("mont", ("opcm1", "opcm2"), 38)
    _branches = Etb

    def encode(
        self,
        events: Iterable[str | Event | EventRequest],
        *,
        plm: int | str = Plm.PLM3,
        code_ranges: Ranges | Iterable[RangeLike] = (),
        data_ranges: Ranges | Iterable[RangeLike] = (),
        invert: bool = False,
        no_fine: bool = False,
        demand_fetch: bool = False,
        prefetch_match: bool = False,
        opcode_match: MatchLike | tuple[MatchLike, MatchLike] = None,
        iear: Ear | None = None,
        dear: Ear | None = None,
        etb: Etb | None = None,
        ipear: IpEar | None = None,
        system_wide: bool = False,
        unavailable_pmcs: Iterable[int] = (),
        check: Check = "manual",
        model_input: bool | None = None,
        model_output: bool | None = None,
    ) -> Encoding:
        """Compute the registers for a measurement.

        :param events: up to 12: names, `Event` or `EventRequest` (own plm, threshold, unit masks ...)
        :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
        :param code_ranges: up to 4 (start, end) or (start, end, plm), end exclusive, multiples of 16
        :param data_ranges: up to 4, likewise, at any address
        :param invert: measure outside the code ranges
        :param no_fine: never use fine mode for code ranges
        :param demand_fetch: of events that see both, count demand fetches
        :param prefetch_match: of events that see both, count prefetches
        :param opcode_match: matcher PMC32/33, or (PMC32/33, PMC34/35): an `OpcodeMatch` each
        :param iear: settings of the instruction EAR; without, an EAR event brings its own
        :param dear: settings of the data EAR; likewise
        :param etb: settings of the execution trace buffer; without, ETB_EVENT records all branches
        :param ipear: record instruction addresses in the trace buffer in place of branches
        :param system_wide: measure the whole system, not one thread
        :param unavailable_pmcs: PMCs that must not be used
        :param check: "manual" raises where a promise of the manual page would break; "reference"
            answers as the C library does
        :param model_input: whether C is given a model-specific input; None: if anything needs it
        :param model_output: whether C is given a model-specific output; None: if there are ranges
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm_montecito(3).
        """
        flags = ((lib.PFMLIB_MONT_RR_INV if invert else 0)
                 | (lib.PFMLIB_MONT_RR_NO_FINE_MODE if no_fine else 0)
                 | (lib.PFMLIB_MONT_IRR_DEMAND_FETCH if demand_fetch else 0)
                 | (lib.PFMLIB_MONT_IRR_PREFETCH_MATCH if prefetch_match else 0))
        request = Request(
            plm=_dispatch.level(plm), system_wide=system_wide, unavailable_pmcs=tuple(unavailable_pmcs),
            code=_ranges(code_ranges, flags), data=_ranges(data_ranges, 0),
            opcode_match=_matchers(opcode_match), iear=iear, dear=dear, branches=etb, ipear=ipear,
            model_input=model_input, model_output=model_output)
        return self._encode(events, request, check)


class Itanium(Pmu):
    """The Itanium PMU (Merced): 230 events, 4 counters."""

    name = "itanium"
    _type = lib.PFMLIB_ITANIUM_PMU
    _layout = _dispatch.Layout("ita")
    _branches = ItaniumBtb

    def encode(
        self,
        events: Iterable[str | Event | EventRequest],
        *,
        plm: int | str = Plm.PLM3,
        code_ranges: Ranges | Iterable[RangeLike] = (),
        data_ranges: Ranges | Iterable[RangeLike] = (),
        opcode_match: MatchLike | tuple[MatchLike, MatchLike] = None,
        iear: Ear | None = None,
        dear: Ear | None = None,
        btb: ItaniumBtb | None = None,
        system_wide: bool = False,
        unavailable_pmcs: Iterable[int] = (),
        check: Check = "manual",
        model_input: bool | None = None,
        model_output: bool | None = None,
    ) -> Encoding:
        """Compute the registers for a measurement.

        :param events: up to 4: names, `Event` or `EventRequest` (own plm, threshold, ism ...)
        :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
        :param code_ranges: up to 4 (start, end) or (start, end, plm), end exclusive, multiples of 16
        :param data_ranges: up to 4, likewise, at any address
        :param opcode_match: matcher PMC8, or (PMC8, PMC9): an `OpcodeMatch` or a raw value each
        :param iear: settings of the instruction EAR; without, an EAR event brings its own
        :param dear: settings of the data EAR; likewise
        :param btb: the branch trace buffer; libpfm 3.10 loses its settings (see `ItaniumBtb`)
        :param system_wide: measure the whole system, not one thread
        :param unavailable_pmcs: PMCs that must not be used
        :param check: "manual" raises where a promise of the other manual pages would break: values
            wider than their field, ranges that are not covered; "reference" answers as the C library does
        :param model_input: whether C is given a model-specific input; None: if anything needs it
        :param model_output: whether C is given a model-specific output; None: if there are ranges
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm 3.10; Itanium has no manual page.
        """
        request = Request(
            plm=_dispatch.level(plm), system_wide=system_wide, unavailable_pmcs=tuple(unavailable_pmcs),
            code=_ranges(code_ranges, 0), data=_ranges(data_ranges, 0),
            opcode_match=_matchers(opcode_match), iear=iear, dear=dear, branches=btb,
            model_input=model_input, model_output=model_output)
        return self._encode(events, request, check)


class GenericIA64(Pmu):
    """The generic IA-64 PMU: what every processor of the architecture has, 2 events.

    :param pal: a file like the kernel's /proc/pal/cpu0/perfmon_info, which says what registers and
        event codes the processor has; None: what libpfm 3.10 assumes where the PMU is forced
    :raises NotSupportedError: the file cannot be read, or does not say all
    """

    name = "gen_ia64"
    _type = lib.PFMLIB_GEN_IA64_PMU
    _layout = _dispatch.Layout("")

    def __init__(self, pal: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self._host: Any = ffi.new("struct pfm3_gen_ia64 *")  # holds the model
        path = None if pal is None else os.fsencode(pal)
        if (path is not None and b"\0" in path) or lib.pfm3_gen_ia64_init(
                self._host, ffi.NULL if path is None else path, ffi.NULL):
            message = (f"{shown(os.fsdecode(path or b''))} is no perfmon_info: it cannot be read,"
                       " or lacks one of the 8 keys")
            raise NotSupportedError(lib.PFMLIB_ERR_NOTSUPP, message, "pfm_initialize")
        self._model = ffi.addressof(self._host, "model")

    def encode(
        self,
        events: Iterable[str | Event | EventRequest],
        *,
        plm: int | str = Plm.PLM3,
        system_wide: bool = False,
        unavailable_pmcs: Iterable[int] = (),
        check: Check = "manual",
    ) -> Encoding:
        """Compute the registers for a measurement.

        :param events: up to 4: names, `Event` or `EventRequest` with its own privilege levels
        :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
        :param system_wide: measure the whole system, not one thread
        :param unavailable_pmcs: PMCs that must not be used
        :param check: "manual" raises where a value does not fit its field; "reference" answers as the
            C library does
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm 3.10; the generic PMU has no manual page.
        """
        request = Request(plm=_dispatch.level(plm), system_wide=system_wide, unavailable_pmcs=tuple(unavailable_pmcs))
        return self._encode(events, request, check)
