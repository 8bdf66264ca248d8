"""The IA-64 PMUs as Python objects: events, search, encoding.

Two PMUs can be used side by side and from any number of threads: everything here
goes through the re-entrant half of the C library, not through the global state
that ``pypfm.pfm3`` and the environment share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, overload

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_choice, expect_flag, expect_type
from pypfm.ia64.encode import encode
from pypfm.ia64.events import Event, Events, GenericEvents
from pypfm.ia64.models import model_of
from pypfm.ia64.parameters import Check, RangeSettings, Settings, asked, range_flags, spelled_out
from pypfm.ia64.request import Btb, Etb, EventRequest, IpEar, ItaniumBtb, Request
from pypfm.levels import Plm

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pypfm import perf
    from pypfm.ia64.encoding import Encoding

__all__ = ["PMUS", "GenericIA64", "Itanium", "Itanium2", "Montecito", "Pmu", "pmu_of"]

Asked = str | Event | EventRequest


class Pmu(Events):
    """A PMU of the IA-64 family; `Itanium`, `Itanium2`, `Montecito`, `GenericIA64` are the ones to use.

    It is a mapping of its events by name, in upper or lower case, and equal to others that encode alike.

    :param cpuid3: CPUID register 3 of the processor, as if it had been detected; None: as if the
        PMU had been forced.  On Itanium 2 detection turns the fine-mode workaround on.
    :raises Pfm3Error: the register belongs to another processor
    """

    #: The class of the settings of its trace buffer, or None where it has no such buffer.
    branches: ClassVar[type[Btb | ItaniumBtb | Etb] | None] = None

    @spelled_out(Settings)
    def encode(self, events: Asked | Iterable[Asked], **settings: Unpack[Settings]) -> Encoding:
        """Compute the registers for a measurement; these parameters are those that all PMUs have.

        :param events: one or several: names, `Event` or `EventRequest`
        :param settings: the keywords of `Settings`
        """
        return self._encode(events, asked(Settings, settings), settings.get("check", "manual"))

    def encode_request(self, request: Request, *, check: Check = "manual") -> Encoding:
        """Encode a request as one object, such as that of decoded registers.

        :param check: as in `encode`
        :raises Pfm3Error: as `encode`
        """
        expect_type(request, Request, "request")
        wanted = dict(vars(request))
        return self._encode(wanted.pop("events"), wanted, check)

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

    def _encode(self, events: Any, wanted: Mapping[str, Any], check: Check) -> Encoding:
        """Encode a request given by the names of `Request`; its events are not resolved yet."""
        expect_choice(check, ("manual", "reference"), "check")
        if self.branches is not None and wanted.get("branches") is not None:
            expect_type(wanted["branches"], self.branches, "branch trace buffer")
        return encode(self, (events,) if isinstance(events, _ONE) else events, wanted, check=check == "manual")


#: What stands for one event: a text is not taken for its characters.
_ONE = (str, Event, EventRequest)


class Itanium2(Pmu):
    """The Itanium 2 PMU (McKinley, Madison): 497 events, 4 counters."""

    name = "itanium2"
    _type = lib.PFMLIB_ITANIUM2_PMU
    branches = Btb

    @spelled_out(Settings, RangeSettings)
    def encode(self, events: Asked | Iterable[Asked], *, invert: bool = False, no_fine: bool = False,
               btb: Btb | None = None, **settings: Unpack[RangeSettings]) -> Encoding:
        """Compute the registers for a measurement; the opcode matchers are PMC8 and PMC9.

        :param events: one, or up to 4: names, `Event` or `EventRequest` (own plm, threshold, ism ...)
        :param invert: measure outside the code ranges
        :param no_fine: never use fine mode for code ranges
        :param btb: settings of the branch trace buffer; without, BRANCH_EVENT records all branches
        :param settings: the keywords of `RangeSettings`

        Source: libpfm_itanium2(3).
        """
        flags = range_flags(self.name, invert=invert, no_fine=no_fine)
        wanted = asked(RangeSettings, settings, flags, branches=btb)
        return self._encode(events, wanted, settings.get("check", "manual"))


class Montecito(Pmu):
    """The Montecito PMU (dual-core Itanium 2 9000): 637 events, 12 counters."""

    name = "montecito"
    _type = lib.PFMLIB_MONTECITO_PMU
    branches = Etb

    @spelled_out(Settings, RangeSettings)
    def encode(self, events: Asked | Iterable[Asked], *, invert: bool = False, no_fine: bool = False,
               demand_fetch: bool = False, prefetch_match: bool = False, etb: Etb | None = None,
               ipear: IpEar | None = None, **settings: Unpack[RangeSettings]) -> Encoding:
        """Compute the registers for a measurement; the opcode matchers are PMC32/33 and PMC34/35.

        :param events: one, or up to 12: names, `Event` or `EventRequest` (own plm, threshold, unit masks ...)
        :param invert: measure outside the code ranges
        :param no_fine: never use fine mode for code ranges
        :param demand_fetch: of events that see both, count demand fetches
        :param prefetch_match: of events that see both, count prefetches
        :param etb: settings of the execution trace buffer; without, ETB_EVENT records all branches
        :param ipear: record instruction addresses in the trace buffer in place of branches
        :param settings: the keywords of `RangeSettings`

        Source: libpfm_montecito(3).
        """
        flags = range_flags(self.name, invert=invert, no_fine=no_fine, demand_fetch=demand_fetch,
                            prefetch_match=prefetch_match)
        wanted = asked(RangeSettings, settings, flags, branches=etb, ipear=ipear)
        return self._encode(events, wanted, settings.get("check", "manual"))


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

    @spelled_out(Settings, RangeSettings)
    def encode(self, events: Asked | Iterable[Asked], *, btb: ItaniumBtb | None = None,
               **settings: Unpack[RangeSettings]) -> Encoding:
        """Compute the registers for a measurement; the opcode matchers are PMC8 and PMC9.

        What ``check`` holds it to are the promises of the other manual pages: values that fit their field, ranges that
        are covered, settings that are not lost.

        :param events: one, or up to 4: names, `Event` or `EventRequest` (own plm, threshold, ism ...)
        :param btb: settings of the branch trace buffer; without, BRANCH_EVENT records all branches.  libpfm 3.10
            loses both: they take ``Itanium(corrected=True)``
        :param settings: the keywords of `RangeSettings`

        Source: libpfm 3.10; Itanium has no manual page.
        """
        return self._encode(events, asked(RangeSettings, settings, branches=btb), settings.get("check", "manual"))


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
