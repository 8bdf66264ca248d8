"""What can be asked of an IA-64 PMU, as Python objects.

Each class says what one C structure of libpfm 3 says (named in its docstring);
``used`` is the C structure's own switch and is 1 but for conformance tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from pypfm._pfm3 import lib
from pypfm.levels import Plm, parse_plm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.itanium import Event

__all__ = [
    "AddressRange", "Btb", "Ear", "EarMode", "Etb", "EventRequest", "IpEar", "Ism", "ItaniumBtb", "OpcodeMatch",
    "Plm", "Ranges", "Request", "parse_plm",
]


class EarMode(IntEnum):
    """What an Event Address Register records."""

    CACHE = lib.PFMLIB_ITA2_EAR_CACHE_MODE
    TLB = lib.PFMLIB_ITA2_EAR_TLB_MODE
    ALAT = lib.PFMLIB_ITA2_EAR_ALAT_MODE


class Ism(IntEnum):
    """Instruction set in which an Itanium or Itanium 2 measures."""

    BOTH = lib.PFMLIB_ITA2_ISM_BOTH
    IA32 = lib.PFMLIB_ITA2_ISM_IA32
    IA64 = lib.PFMLIB_ITA2_ISM_IA64


@dataclass(frozen=True)
class EventRequest:
    """One event to count (pfmlib_event_t and the model's counter structure).

    :ivar event: name, ``NAME:MASK:MASK``, or `Event`
    :ivar plm: privilege levels; 0: those of the whole request
    :ivar threshold: count cycles with more than this many occurrences; below the event's maxincr
    :ivar ism: instruction set (Itanium, Itanium 2)
    :ivar unit_masks: names or indices, beside those in the name
    :ivar no_qualcheck: do not check that the event supports the qualifiers in use
    :ivar flags: further flags of the counter structure
    """

    event: str | Event
    plm: int | str = 0
    threshold: int = 0
    ism: int = 0
    unit_masks: Sequence[int | str] = ()
    no_qualcheck: bool = False
    flags: int = 0

    @property
    def name(self) -> str:
        """The name of the event, without unit masks."""
        return (self.event if isinstance(self.event, str) else self.event.name).partition(":")[0]

    @property
    def uses_model(self) -> bool:
        """Whether anything is said that only the model's structure can say."""
        return bool(self.threshold or self.ism or self.no_qualcheck or self.flags)


@dataclass(frozen=True)
class AddressRange:
    """Addresses from start to end, exclusive (``pfmlib_..._input_rr_desc_t``).

    :ivar plm: privilege levels; 0: those of the whole request
    """

    start: int
    end: int
    plm: int | str = 0

    def __str__(self) -> str:
        return f"[{self.start:#x}, {self.end:#x})"


@dataclass(frozen=True)
class Ranges:
    """The code or data ranges of a request (``pfmlib_..._input_rr_t``)."""

    limits: tuple[AddressRange, ...]
    flags: int = 0
    used: int = 1


@dataclass(frozen=True)
class OpcodeMatch:
    """An opcode matcher (``pfmlib_..._opcm_t``).

    :ivar match: pattern: 41 bits on Montecito, 27 on Itanium and Itanium 2
    :ivar mask: bits of the pattern to ignore
    :ivar m, i, f, b: match slots of these types
    :ivar value: the raw PMC8 or PMC9 (Itanium, Itanium 2) in place of all that
    """

    match: int = 0
    mask: int = 0
    m: int = 1
    i: int = 1
    f: int = 1
    b: int = 1
    value: int | None = None
    used: int = 1


@dataclass(frozen=True)
class Ear:
    """An Event Address Register (``pfmlib_..._ear_t``).

    :ivar mode: cache, TLB or (data EAR, not on Itanium) ALAT
    :ivar umask: latency or TLB level filter: 8 bits (I-EAR cache), 7 (I-EAR TLB), 4 (D-EAR, Itanium)
    :ivar plm: privilege levels; 0: those of the whole request
    :ivar ism: instruction set (Itanium, Itanium 2)
    """

    mode: int
    umask: int = 0
    plm: int | str = 0
    ism: int = 0
    used: int = 1


@dataclass(frozen=True)
class Btb:
    """The branch trace buffer of Itanium 2 (``pfmlib_ita2_btb_t``); by default all branches.

    :ivar tm: 1 not taken, 2 taken, 3 all
    :ivar ptm: target 1 mispredicted, 2 predicted, 3 all
    :ivar ppm: path 1 mispredicted, 2 predicted, 3 all
    :ivar brt: 0 all, 1 IP-relative, 2 return, 3 other indirect
    :ivar ds: 1 records prediction details in place of the target
    :ivar plm: privilege levels; 0: those of the whole request
    """

    tm: int = 3
    ptm: int = 3
    ppm: int = 3
    brt: int = 0
    ds: int = 0
    plm: int | str = 0
    used: int = 1


@dataclass(frozen=True)
class ItaniumBtb:
    """The branch trace buffer of Itanium (pfmlib_ita_btb_t); by default all branches.

    libpfm 3.10 writes 12 into PMC12 whatever the settings are, and so does pypfm.

    :ivar tm, ptm, ppm: as in `Btb`
    :ivar tar: 1 records predictions of the target address register
    :ivar tac: 1 records predictions of the target address cache
    :ivar bac: 1 records predictions of the branch address calculator
    :ivar plm: privilege levels; 0: those of the whole request
    """

    tm: int = 3
    ptm: int = 3
    ppm: int = 3
    tar: int = 1
    tac: int = 1
    bac: int = 1
    plm: int | str = 0
    used: int = 1


@dataclass(frozen=True)
class Etb:
    """The execution trace buffer of Montecito (``pfmlib_mont_etb_t``); fields as in `Btb`."""

    tm: int = 3
    ptm: int = 3
    ppm: int = 3
    brt: int = 0
    plm: int | str = 0
    used: int = 1


@dataclass(frozen=True)
class IpEar:
    """The IP event capture of Montecito (``pfmlib_mont_ipear_t``).

    :ivar delay: cycles by which the freeze of the buffer is delayed, 0 to 255
    :ivar plm: privilege levels; 0: those of the whole request
    """

    delay: int = 0
    plm: int | str = 0
    used: int = 1


@dataclass(frozen=True)
class Request:
    """Everything that one call of pfm_dispatch_events() is told.

    :ivar model_input, model_output: whether the model's structures are passed at all
    """

    plm: int
    events: tuple[EventRequest, ...] = ()
    system_wide: bool = False
    unavailable_pmcs: tuple[int, ...] = ()
    code: Ranges | None = None
    data: Ranges | None = None
    opcode_match: tuple[OpcodeMatch | None, OpcodeMatch | None] = (None, None)
    iear: Ear | None = None
    dear: Ear | None = None
    branches: Btb | ItaniumBtb | Etb | None = None
    ipear: IpEar | None = None
    model_input: bool | None = None
    model_output: bool | None = None

    @property
    def uses_model(self) -> bool:
        """Whether anything is said that only the model's structure can say."""
        parts = (self.code, self.data, *self.opcode_match, self.iear, self.dear, self.branches, self.ipear)
        return any(p is not None for p in parts) or any(e.uses_model for e in self.events)
