"""The IA-64 PMUs as Python objects: events, search, encoding.

Two PMUs can be used side by side and from any number of threads: everything here
goes through the re-entrant half of the C library, not through the global state
that ``pypfm.pfm3`` and the environment share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_choice, expect_flag, expect_int, expect_iterable, expect_type
from pypfm.errors import InvalidTypeError, Pfm3Error
from pypfm.ia64.c_call import MAX_RANGES
from pypfm.ia64.encode import encode
from pypfm.ia64.events import Event, Events, GenericEvents
from pypfm.ia64.models import model_of
from pypfm.ia64.request import (
    AddressRange,
    Btb,
    Ear,
    Etb,
    EventRequest,
    IpEar,
    ItaniumBtb,
    OpcodeMatch,
    Ranges,
    Request,
    address_range,
)
from pypfm.levels import Plm, parse_plm

if TYPE_CHECKING:
    from pypfm import perf
    from pypfm.ia64.encoding import Encoding

__all__ = ["PMUS", "GenericIA64", "Itanium", "Itanium2", "Montecito", "Pmu", "pmu_of"]

Check = Literal["manual", "reference"]
RangeLike = AddressRange | tuple[int, int] | tuple[int, int, "int | str"]
Asked = str | Event | EventRequest
MatchLike = OpcodeMatch | int | None


class Pmu(Events):
    """A PMU of the IA-64 family; `Itanium`, `Itanium2`, `Montecito`, `GenericIA64` are the ones to use.

    It is a mapping of its events by name, in upper or lower case, and equal to others that encode alike.

    :param cpuid3: CPUID register 3 of the processor, as if it had been detected; None: as if the
        PMU had been forced.  On Itanium 2 detection turns the fine-mode workaround on.
    :raises Pfm3Error: the register belongs to another processor
    """

    name: ClassVar[str]
    _type: ClassVar[int]
    #: The class of the settings of its trace buffer, or None where it has no such buffer.
    branches: ClassVar[type[Btb | ItaniumBtb | Etb] | None] = None

    def encode(
        self,
        events: Asked | Iterable[Asked],
        *,
        plm: int | str = Plm.PLM3,
        system_wide: bool = False,
        unavailable_pmcs: Iterable[int] = (),
        check: Check = "manual",
    ) -> Encoding:
        """Compute the registers for a measurement; these parameters are those that all PMUs have.

        :param events: one or several: names, `Event` or `EventRequest`
        :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
        :param system_wide: measure the whole system, not one thread
        :param unavailable_pmcs: PMCs that must not be used
        :param check: "manual" raises where a promise of the manual page would break; "reference"
            does as the C library does
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why
        """
        asked = _asked(0, plm=plm, system_wide=system_wide, unavailable_pmcs=unavailable_pmcs)
        return self._encode(events, asked, check)

    def encode_request(self, request: Request, *, check: Check = "manual") -> Encoding:
        """Encode a request as one object, such as that of decoded registers.

        :param check: as in `encode`
        :raises Pfm3Error: as `encode`
        """
        expect_type(request, Request, "request")
        asked = dict(vars(request))
        return self._encode(asked.pop("events"), asked, check)

    @overload  # a text is one event, and not an iterable of its characters
    def for_perf(  # type: ignore[overload-overlap]
        self, events: Asked, *, plm: int | str = ...) -> perf.Encoding: ...
    @overload
    def for_perf(self, events: Iterable[Asked], *, plm: int | str = ...,
                 system_wide: bool = ...) -> perf.Groups: ...

    def for_perf(self, events: Asked | Iterable[Asked], *,
                 plm: int | str = Plm.PLM3, system_wide: bool = False) -> perf.Encoding | perf.Groups:
        """Encode events as Linux's perf_event_open() counts them on such a processor (since August 2026).

        An event as a text is an event string of libpfm 4, ``NAME[:MASK...][:u][:k][:thres=N]``; of an `EventRequest`
        all is taken that the kernel's driver can set.

        :param events: one event: its perf_event_attr and ``perf``'s spelling; several: groups that the driver counts
            rightly, which puts the events of a group on the counters one after the other
        :param plm: privilege levels where an event names none: user, kernel
        :param system_wide: of groups: on the whole system
        :raises PfmError: the driver cannot count an event, or there is no group for it; the message says why
        """
        from pypfm.ia64 import perf_groups  # loads libpfm 4

        if isinstance(events, _ONE):
            return perf_groups.encoded(self, events, plm)
        return perf_groups.grouped(self, events, plm=plm, system_wide=system_wide)

    def _encode(self, events: Any, asked: Mapping[str, Any], check: Check) -> Encoding:
        """Encode a request given by the names of `Request`; its events are not resolved yet."""
        expect_choice(check, ("manual", "reference"), "check")
        if self.branches is not None and asked.get("branches") is not None:
            expect_type(asked["branches"], self.branches, "branch trace buffer")
        return encode(self, (events,) if isinstance(events, _ONE) else events, asked, check=check == "manual")


#: What stands for one event: a text is not taken for its characters.
_ONE = (str, Event, EventRequest)
_NOTHING: tuple[Any, ...] = ()  # Python has one
_PARTS: dict[str, type | tuple[type, ...]] = {
    "iear": Ear, "dear": Ear, "branches": (Btb, ItaniumBtb, Etb), "ipear": IpEar}


def _asked(flags: int, *, plm: int | str, system_wide: bool, unavailable_pmcs: Iterable[int],
           code_ranges: Ranges | Iterable[RangeLike] = _NOTHING, data_ranges: Ranges | Iterable[RangeLike] = _NOTHING,
           opcode_match: MatchLike | tuple[MatchLike, MatchLike] = None, model_input: bool | None = None,
           model_output: bool | None = None, **parts: object) -> dict[str, Any]:
    """Return the arguments of `encode` by the names of `Request`, without those that the caller left out.

    :param flags: of the code ranges
    :param parts: the EARs and the trace buffer
    """
    asked: dict[str, Any] = {"plm": parse_plm(plm), "system_wide": expect_flag(system_wide, "system_wide")}
    if unavailable_pmcs is not _NOTHING:
        asked["unavailable_pmcs"] = _numbers(unavailable_pmcs)
    if code_ranges is not _NOTHING or flags:
        asked["code"] = _ranges(code_ranges, flags)
    if data_ranges is not _NOTHING:
        asked["data"] = _ranges(data_ranges, 0)
    if opcode_match is not None:
        asked["opcode_match"] = _matchers(opcode_match)
    for name, part in parts.items():
        if part is not None:
            expect_type(part, _PARTS[name], name)
            asked[name] = part
    for name, model in (("model_input", model_input), ("model_output", model_output)):
        if model is not None:
            asked[name] = expect_flag(model, name)
    return asked


def _ranges(given: Ranges | Iterable[RangeLike], flags: int) -> Ranges | None:
    """Return the ranges of a request; None if none were given."""
    if isinstance(given, Ranges):
        return replace(given, flags=given.flags | flags)
    if isinstance(given, tuple) and not given and not flags:
        return None
    limits = tuple([address_range(limit) for limit in islice(expect_iterable(given, "address ranges"), MAX_RANGES + 1)])
    return Ranges._of(limits=limits, flags=flags, used=1) if limits or flags else None


def _unavailable(pmcs: Iterable[int]) -> tuple[int, ...]:
    """Return the PMCs that must not be used; no more are read than there are."""
    taken = tuple(islice(expect_iterable(pmcs, "unavailable_pmcs"), lib.PFMLIB_REG_MAX + 1))
    if len(taken) > lib.PFMLIB_REG_MAX:
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"too many unavailable PMCs; register numbers are 0 to {lib.PFMLIB_REG_MAX - 1}")
    return taken


def _numbers(given: Iterable[int]) -> tuple[int, ...]:
    return tuple([expect_int(number, "unavailable PMC") for number in _unavailable(given)])


def _matchers(given: MatchLike | tuple[MatchLike, MatchLike]) -> tuple[OpcodeMatch | None, OpcodeMatch | None]:
    both = given if isinstance(given, tuple) else (given, None)
    if len(both) != 2:
        raise InvalidTypeError(f"opcode_match: {len(both)} matchers; there are 2")
    first, second = both
    return _matcher(first), _matcher(second)


def _matcher(given: MatchLike) -> OpcodeMatch | None:
    if given is None or isinstance(given, OpcodeMatch):
        return given
    if not hasattr(given, "__index__"):
        expect_type(given, (OpcodeMatch, int), "opcode matcher")
    return OpcodeMatch(value=given)


class Itanium2(Pmu):
    """The Itanium 2 PMU (McKinley, Madison): 497 events, 4 counters."""

    name = "itanium2"
    _type = lib.PFMLIB_ITANIUM2_PMU
    branches = Btb

    def encode(
        self,
        events: Asked | Iterable[Asked],
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

        :param events: one, or up to 4: names, `Event` or `EventRequest` (own plm, threshold, ism ...)
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
            does as the C library does
        :param model_input: whether C is given a model-specific input; None: if anything needs it
        :param model_output: whether C is given a model-specific output; None: if there are ranges
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm_itanium2(3).
        """
        flags = ((lib.PFMLIB_ITA2_RR_INV if expect_flag(invert, "invert") else 0)
                 | (lib.PFMLIB_ITA2_RR_NO_FINE_MODE if expect_flag(no_fine, "no_fine") else 0))
        asked = _asked(
            flags, plm=plm, system_wide=system_wide, unavailable_pmcs=unavailable_pmcs, code_ranges=code_ranges,
            data_ranges=data_ranges, opcode_match=opcode_match, iear=iear, dear=dear, branches=btb,
            model_input=model_input, model_output=model_output)
        return self._encode(events, asked, check)


class Montecito(Pmu):
    """The Montecito PMU (dual-core Itanium 2 9000): 637 events, 12 counters."""

    name = "montecito"
    _type = lib.PFMLIB_MONTECITO_PMU
    branches = Etb

    def encode(
        self,
        events: Asked | Iterable[Asked],
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

        :param events: one, or up to 12: names, `Event` or `EventRequest` (own plm, threshold, unit masks ...)
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
            does as the C library does
        :param model_input: whether C is given a model-specific input; None: if anything needs it
        :param model_output: whether C is given a model-specific output; None: if there are ranges
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm_montecito(3).
        """
        flags = ((lib.PFMLIB_MONT_RR_INV if expect_flag(invert, "invert") else 0)
                 | (lib.PFMLIB_MONT_RR_NO_FINE_MODE if expect_flag(no_fine, "no_fine") else 0)
                 | (lib.PFMLIB_MONT_IRR_DEMAND_FETCH if expect_flag(demand_fetch, "demand_fetch") else 0)
                 | (lib.PFMLIB_MONT_IRR_PREFETCH_MATCH if expect_flag(prefetch_match, "prefetch_match") else 0))
        asked = _asked(
            flags, plm=plm, system_wide=system_wide, unavailable_pmcs=unavailable_pmcs, code_ranges=code_ranges,
            data_ranges=data_ranges, opcode_match=opcode_match, iear=iear, dear=dear, branches=etb, ipear=ipear,
            model_input=model_input, model_output=model_output)
        return self._encode(events, asked, check)


class Itanium(Pmu):
    """The Itanium PMU (Merced): 230 events, 4 counters.

    :param corrected: write the settings of the branch trace buffer into PMC12, and PMC11 once, for the data EAR and the
        data ranges together; libpfm 3.10 loses them
    """

    name = "itanium"
    _type = lib.PFMLIB_ITANIUM_PMU
    branches = ItaniumBtb

    def __init__(self, cpuid3: int | None = None, *, corrected: bool = False) -> None:
        super().__init__(cpuid3)
        self._corrected = expect_flag(corrected, "corrected")

    def _key(self) -> object:
        return super()._key(), self.corrected

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), {"_corrected": self.corrected}

    def encode(
        self,
        events: Asked | Iterable[Asked],
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

        :param events: one, or up to 4: names, `Event` or `EventRequest` (own plm, threshold, ism ...)
        :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
        :param code_ranges: up to 4 (start, end) or (start, end, plm), end exclusive, multiples of 16
        :param data_ranges: up to 4, likewise, at any address
        :param opcode_match: matcher PMC8, or (PMC8, PMC9): an `OpcodeMatch` or a raw value each
        :param iear: settings of the instruction EAR; without, an EAR event brings its own
        :param dear: settings of the data EAR; likewise
        :param btb: settings of the branch trace buffer; without, BRANCH_EVENT records all branches.  libpfm 3.10
            loses both: they take ``Itanium(corrected=True)``
        :param system_wide: measure the whole system, not one thread
        :param unavailable_pmcs: PMCs that must not be used
        :param check: "manual" raises where a promise of the other manual pages would break: values wider than
            their field, ranges that are not covered, settings that are lost; "reference" does as the C library does
        :param model_input: whether C is given a model-specific input; None: if anything needs it
        :param model_output: whether C is given a model-specific output; None: if there are ranges
        :raises Pfm3Error: the request cannot be encoded; the message says which part and why

        Source: libpfm 3.10; Itanium has no manual page.
        """
        asked = _asked(
            0, plm=plm, system_wide=system_wide, unavailable_pmcs=unavailable_pmcs, code_ranges=code_ranges,
            data_ranges=data_ranges, opcode_match=opcode_match, iear=iear, dear=dear, branches=btb,
            model_input=model_input, model_output=model_output)
        return self._encode(events, asked, check)


class GenericIA64(Pmu, GenericEvents):
    """The generic IA-64 PMU: what every processor of the architecture has, 2 events and 4 counters.

    :param pal: a file like the kernel's /proc/pal/cpu0/perfmon_info, which says what registers and
        event codes the processor has; None: what libpfm 3.10 assumes where the PMU is forced
    :raises Pfm3Error: the file cannot be read, or does not say all

    Source: libpfm 3.10; the generic PMU has no manual page.
    """

    name = "gen_ia64"
    _type = lib.PFMLIB_GEN_IA64_PMU


#: The PMUs by name.
PMUS: dict[str, type[Pmu]] = {cls.name: cls for cls in (Itanium2, Montecito, Itanium, GenericIA64)}


def pmu_of(name: str, cpuid3: int | None = None) -> Pmu:
    """Return the IA-64 PMU of a name.

    :param name: itanium2, montecito, itanium or gen_ia64, or another name of theirs (`pypfm.common.pmu_names`), such as
        ita2, in upper or lower case
    :param cpuid3: as in `Pmu`; not of gen_ia64
    :raises InvalidValueError: there is no such PMU
    """
    cls = PMUS[model_of(name) or expect_choice(name, tuple(PMUS), "pmu")]
    return cls() if issubclass(cls, GenericEvents) else cls(cpuid3)
