"""The events of the IA-64 PMUs, as the C tables describe them, and the counters that measure them."""

from __future__ import annotations

import os
from dataclasses import field
from enum import IntEnum
from functools import cache
from typing import Any, ClassVar, Literal

from pypfm._c.convert import string
from pypfm._c.pfm3 import ffi, lib
from pypfm.common.arguments import expect_int, expect_type, utf8
from pypfm.common.event_table import EventTable, Umask
from pypfm.common.value import HEX, Value, said
from pypfm.errors import (
    InvalidTypeError,
    Pfm3Error,
    Pfm3EventNotFoundError,
    in_hex,
    shown,
    unknown_event,
)
from pypfm.ia64.models import MODELS

__all__ = ["EarMode", "Event", "Events", "GenericEvents", "table"]

_MAX_UINT = 2**32 - 1
_GROUPS = ("L1", "L2")
_TYPES = ("active", "floating", "causal", "self_floating")


class EarMode(IntEnum):
    """The kinds of things an Event Address Register records; all members are true, even CACHE, whose value is 0."""

    CACHE = lib.PFMLIB_ITA2_EAR_CACHE_MODE
    TLB = lib.PFMLIB_ITA2_EAR_TLB_MODE
    ALAT = lib.PFMLIB_ITA2_EAR_ALAT_MODE

    def __bool__(self) -> Literal[True]:  # an event without an EAR has None
        return True


class Event(Value):
    """An event of a PMU, with all that the C query functions tell of it.

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

    pmu: str = field(metadata=said(enum=MODELS))
    index: int
    name: str = field(metadata=said(pattern="^[A-Z0-9_]+$"))
    description: str = field(metadata=said(minLength=8))
    code: int = field(metadata=HEX)
    umask: int = field(metadata=HEX)
    counters: tuple[int, ...] = field(metadata=said(minItems=1))
    maxincr: int = field(metadata=said(minimum=1))
    is_ear: bool
    is_iear: bool
    is_dear: bool
    is_branch: bool
    ear_mode: EarMode | None
    supports_opcode_match: bool
    supports_code_range: bool
    supports_data_range: bool
    group: str | None = field(metadata=said(enum=_GROUPS))
    set: int | None
    type: str | None = field(metadata=said(enum=_TYPES))
    unit_masks: tuple[Umask, ...]

    def __str__(self) -> str:
        return self.name


class Events(EventTable[Event]):
    """The events of a PMU and its registers; `pypfm.ia64.Pmu`, which has the parameters, adds how they are encoded."""

    name: ClassVar[str]
    _type: ClassVar[int]
    _corrected = False

    def __init__(self, cpuid3: int | None = None) -> None:
        if not hasattr(self, "_type"):
            raise InvalidTypeError(f"{type(self).__name__} is what the PMUs of libpfm 3 have in common;"
                                   " pypfm.pmu('itanium2') is one of them, pypfm.pmu('skl') one of libpfm 4")
        self._model: Any = lib.pfm3_model_by_type(self._type)
        cpuid3 = None if cpuid3 is None else expect_int(cpuid3, "cpuid3")
        if cpuid3 is not None and cpuid3 >> 24 & 0xFF != self._model.family:
            raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
                f"CPUID register 3 {in_hex(cpuid3)} is of family {cpuid3 >> 24 & 0xff:#x};"
                f" {self.name} is {self._model.family:#x} (bits 31:24)", "pfm_initialize")
        self._cpuid3 = cpuid3
        settings: Any = ffi.new("struct pfm3_settings *")
        settings.fine_mode_bug = cpuid3 is not None and bool(self._model.has_fine_mode_bug)
        self._settings = settings

    def _key(self) -> object:
        return self.fine_mode_bug

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._cpuid3,)

    @property
    def fine_mode_bug(self) -> bool:
        """Whether code ranges get the workaround of an Itanium 2 that was detected."""
        return bool(self._settings.fine_mode_bug)

    @property
    def corrected(self) -> bool:
        """Whether registers keep what libpfm 3.10 loses (Itanium)."""
        return self._corrected

    @property
    def model_name(self) -> str:
        """The name that pfm_get_pmu_name() returns."""
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

    def __len__(self) -> int:
        return int(self._model.table.count)

    def _find(self, name: str) -> int:
        try:
            data = name.encode("ascii")
        except UnicodeEncodeError:
            return -1
        return lib.pfm3_find_name(self._model, data, len(data))

    def _unknown(self, name: object) -> Pfm3EventNotFoundError:
        message = unknown_event(self.name, name, self)
        return Pfm3EventNotFoundError(lib.PFMLIB_ERR_NOTFOUND, message, "pfm_find_event")

    def at(self, index: int) -> Event:
        """Return the event of a C index.

        :raises InvalidValueError: there is none
        """
        index = self._place(index)
        e = lib.pfm3_event_at(self._model, index)
        mode = lib.pfm3_ear_mode(self._model, index)
        iear = e.kind in (lib.PFM3_IEAR_TLB, lib.PFM3_IEAR_CACHE)
        return Event._of(
            pmu=self.name, index=index, name=string(e.name),
            description=string(e.description), code=e.code, umask=e.umask,
            counters=_bits(e.counters), maxincr=e.maxincr,
            is_ear=mode >= 0, is_iear=iear, is_dear=mode >= 0 and not iear,
            is_branch=e.kind == lib.PFM3_BTB, ear_mode=EarMode(mode) if mode >= 0 else None,
            supports_opcode_match=bool(e.flags & lib.PFM3_OPCM),
            supports_code_range=bool(e.flags & lib.PFM3_IARR),
            supports_data_range=bool(e.flags & lib.PFM3_DARR),
            group=(None, *_GROUPS)[e.group], set=None if e.set < 0 else e.set,
            type=_TYPES[e.type] if self._model.num_masks else None,
            unit_masks=self._unit_masks(lib.pfm3_num_masks(self._model, e)),
        )

    def _unit_masks(self, count: int) -> tuple[Umask, ...]:
        masks = self._model.masks
        return tuple(Umask._of(index=i, name=string(masks[i].name), code=masks[i].code,
                                 description=string(masks[i].description)) for i in range(count))

    def mask_index(self, event: Event, token: int | str) -> int:
        """Return the C index of a unit mask, by its name or as a number.

        :raises Pfm3Error: the event has no mask of this name
        """
        if not isinstance(token, str):
            token = expect_int(token, "unit mask")
            if 0 <= token <= _MAX_UINT:  # C says whether the event has it
                return token
            token = str(token) if token.bit_length() <= 64 else in_hex(token)
        index: Any = ffi.new("unsigned int *")
        data = utf8(token)
        row = lib.pfm3_event_at(self._model, self._place(event.index))
        if b"\0" in data or lib.pfm3_find_mask(self._model, row, data + b"\0", len(data), index):
            allowed = ", ".join(m.name for m in event.unit_masks) or "it has none"
            raise Pfm3Error(lib.PFMLIB_ERR_UMASK,
                f"{event.name}: unit mask {shown(token)} is unknown ({allowed})", "pfm_find_event_mask")
        return int(index[0])


# What a PAL file says in single numbers.
_PAL_NUMBERS = ("counter_width", "num_counters", "num_pmcs", "num_pmds")


def _words(mask: Any) -> tuple[int, ...]:
    return tuple(mask.bits)


def _registers_of(mask: Any) -> tuple[int, ...]:
    """Return the registers of a pfmlib_regmask_t."""
    width = 8 * ffi.sizeof("pfmlib_regmask_bits_t")
    return _bits(sum(word << width * i for i, word in enumerate(mask.bits)))


def _bits(mask: int) -> tuple[int, ...]:
    return tuple(n for n in range(mask.bit_length()) if mask >> n & 1)


class GenericEvents(Events):
    """The events of the generic PMU.

    :param pal: a file like the kernel's /proc/pal/cpu0/perfmon_info; None: what libpfm 3.10 assumes
    :raises Pfm3Error: the file cannot be read, or does not say all
    """

    name = "gen_ia64"
    _type = lib.PFMLIB_GEN_IA64_PMU

    def __init__(self, pal: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self._host: Any = ffi.new("struct pfm3_gen_ia64 *")  # holds the model
        if pal is not None:
            expect_type(pal, (str, bytes, os.PathLike), "pal")
        try:
            path = None if pal is None else os.fsencode(pal)
        except UnicodeEncodeError:
            path = b"\0"  # no file has such a name
        if (path is not None and b"\0" in path) or lib.pfm3_gen_ia64_init(
                self._host, ffi.NULL if path is None else path, ffi.NULL):
            raise Pfm3Error(lib.PFMLIB_ERR_NOTSUPP,
                f"{shown(os.fsdecode(pal or b''))} is no perfmon_info: it cannot be read,"
                " or lacks one of the 8 keys", "pfm_initialize")
        self._model = ffi.addressof(self._host, "model")

    def _key(self) -> object:
        """Return what the file says of the event, to compare events by."""
        model, host = self._model, self._host
        return (tuple(getattr(model, name) for name in _PAL_NUMBERS), _words(model.impl_pmcs), _words(model.impl_pmds),
                tuple((e.code, e.counters) for e in host.events), tuple(map(_words, host.capable)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), self._key()  # the file need not be there any more

    def __setstate__(self, said: tuple[Any, ...]) -> None:
        model, host = self._model, self._host
        numbers, model.impl_pmcs.bits, model.impl_pmds.bits, events, capable = said
        for name, number in zip(_PAL_NUMBERS, numbers, strict=True):
            setattr(model, name, number)
        for e, (code, counters), c_mask, words in zip(host.events, events, host.capable, capable, strict=True):
            e.code, e.counters, c_mask.bits = code, counters, words


@cache
def table(pmu: str) -> Events:
    """Return the events of a PMU by its name, for callers that do not encode."""
    if pmu == GenericEvents.name:
        return GenericEvents()
    made: Events = type("Events", (Events,), {"name": pmu, "_type": getattr(lib, f"PFMLIB_{pmu.upper()}_PMU")})()
    return made
