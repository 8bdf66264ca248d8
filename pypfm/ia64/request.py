"""Requests to an IA-64 PMU, as Python objects.

Each class says what one C structure of libpfm 3 says (named in its docstring);
``used`` is the C structure's own switch and is 1 but for conformance tests.

An object of the wrong types cannot be made: that is an `InvalidTypeError`, or an
`InvalidValueError` for a text that names no privilege level.  Levels become masks, sequences tuples,
so that objects that ask for the same are equal.  What a value may be depends on the PMU, and is
checked where the request is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import IntEnum
from typing import Any, ClassVar, TypeGuard

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_int, expect_items, expect_type
from pypfm.common.frozen import lazy
from pypfm.common.value import Value
from pypfm.errors import InvalidTypeError, InvalidValueError, in_hex, shown
from pypfm.ia64.events import EarMode, Event
from pypfm.levels import Plm, parse_plm

__all__ = [
    "AddressRange", "Btb", "Ear", "EarMode", "Etb", "EventRequest", "IpEar", "Ism", "ItaniumBtb", "OpcodeMatch",
    "Plm", "Ranges", "Request", "address_range", "parse_plm",
]


def _levels(value: Any, what: str) -> int:
    try:
        return parse_plm(value)
    except (InvalidTypeError, InvalidValueError) as error:
        raise type(error)(f"{what}: {error}") from None


class _Asked(Value):
    """A part of a request."""

    _checks: ClassVar[Any] = {int | str: _levels}


class Ism(IntEnum):
    """Instruction set in which an Itanium or Itanium 2 measures."""

    BOTH = lib.PFMLIB_ITA2_ISM_BOTH
    IA32 = lib.PFMLIB_ITA2_ISM_IA32
    IA64 = lib.PFMLIB_ITA2_ISM_IA64


class EventRequest(_Asked):
    """One event to count (pfmlib_event_t and the model's counter structure).

    :ivar event: name, ``NAME:MASK:MASK``, or `Event`
    :ivar plm: privilege levels; 0: those of the whole request
    :ivar threshold: count cycles with more than this many occurrences; below the event's maxincr
    :ivar ism: instruction set (Itanium, Itanium 2)
    :ivar unit_masks: names or indices, beside those in the name
    :ivar no_qualcheck: do not check that the event supports the qualifiers in use
    :ivar flags: further flags of the counter structure
    """

    _checks: ClassVar[Any] = _Asked._checks | {Sequence[int | str]: lambda masks, _: masks}  # see below

    event: str | Event
    plm: int | str = 0
    threshold: int = 0
    ism: int = 0
    unit_masks: Sequence[int | str] = ()
    no_qualcheck: bool = False
    flags: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.unit_masks, tuple) or self.unit_masks:
            what = f"{self.name}: unit mask"
            masks = tuple(_mask(m, what) for m in expect_items(self.unit_masks, f"{what}s"))
            object.__setattr__(self, "unit_masks", masks)

    @property
    def name(self) -> str:
        """Return the name of the event, without unit masks."""
        return (self.event if isinstance(self.event, str) else self.event.name).partition(":")[0]

    @property
    def uses_model(self) -> bool:
        """Tell whether it needs the model's structure."""
        return bool(self.threshold or self.ism or self.no_qualcheck or self.flags)


def _mask(value: object, what: str) -> int | str:
    if isinstance(value, str):
        return str.__str__(value)  # of a class of somebody's, too
    if not hasattr(value, "__index__"):
        expect_type(value, (int, str), what)
    return expect_int(value, what)


class AddressRange(_Asked):
    """Addresses from start to end, exclusive (``pfmlib_..._input_rr_desc_t``).

    :ivar end: up to 2^64, the end of the address space
    :ivar plm: privilege levels; 0: those of the whole request
    """

    start: int
    end: int
    plm: int | str = 0

    def __str__(self) -> str:
        return f"[{in_hex(self.start)}, {in_hex(self.end)})"


def _is_sequence(given: object) -> TypeGuard[Sequence[Any]]:
    """Tell whether it is a sequence of a few things, as a row of numpy's is."""
    return isinstance(given, (tuple, list)) or (
        hasattr(given, "__getitem__") and hasattr(given, "__len__") and not isinstance(given, (str, bytes, Mapping)))


def address_range(given: object, what: str = "address range") -> AddressRange:
    """Make a range from an object that stands for one.

    :param given: an `AddressRange`, (start, end) or (start, end, plm)
    :param what: what it is, for the message
    :raises InvalidTypeError: something else
    """
    if isinstance(given, AddressRange):
        return given
    if not _is_sequence(given) or len(given) not in (2, 3):
        raise InvalidTypeError(f"{what}: expected (start, end) or (start, end, plm), not {shown(given)}")
    return AddressRange(*given)


class Ranges(_Asked):
    """The code or data ranges of a request (``pfmlib_..._input_rr_t``)."""

    _checks: ClassVar[Any] = {AddressRange: address_range}

    limits: tuple[AddressRange, ...]
    flags: int = 0
    used: int = 1


class OpcodeMatch(_Asked):
    """An opcode matcher (``pfmlib_..._opcm_t``).

    :ivar match: pattern: 41 bits on Montecito, 27 on Itanium and Itanium 2
    :ivar mask: bits of the pattern to ignore
    :ivar m, i, f, b: match slots of these types
    :ivar value: the raw PMC8 or PMC9 (Itanium, Itanium 2) in place of all that; the library sets bits 2:0 of
        Itanium 2's
    """

    match: int = 0
    mask: int = 0
    m: int = 1
    i: int = 1
    f: int = 1
    b: int = 1
    value: int | None = None
    used: int = 1


class Ear(_Asked):
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


class Btb(_Asked):
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


class ItaniumBtb(_Asked):
    """The branch trace buffer of Itanium (pfmlib_ita_btb_t); by default all branches.

    libpfm 3.10 writes 12 into PMC12 whatever the settings are: nothing is recorded.  So they are refused, but for
    ``Itanium(corrected=True)`` and ``check="reference"``.

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


class Etb(_Asked):
    """The execution trace buffer of Montecito (``pfmlib_mont_etb_t``); fields as in `Btb`."""

    tm: int = 3
    ptm: int = 3
    ppm: int = 3
    brt: int = 0
    plm: int | str = 0
    used: int = 1


class IpEar(_Asked):
    """The IP event capture of Montecito (``pfmlib_mont_ipear_t``).

    :ivar delay: cycles by which the freeze of the buffer is delayed, 0 to 255
    :ivar plm: privilege levels; 0: those of the whole request
    """

    delay: int = 0
    plm: int | str = 0
    used: int = 1


_NO_PARTS = (None,) * 8


class Request(_Asked):
    """All that one call of pfm_dispatch_events() is told.

    :ivar opcode_match: both matchers
    :ivar model_input, model_output: whether the model's structures are passed at all
    """

    _checks: ClassVar[Any] = _Asked._checks | {EventRequest: lambda event, _: (
        event if isinstance(event, EventRequest) else EventRequest(event))}

    plm: int | str
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

    @classmethod
    def _of(cls, **values: Any) -> Request:
        """Make a request of values that have the types of its fields; missing ones have their defaults."""
        made = object.__new__(cls)
        vars(made).update(_NOTHING, **values)
        return made

    @lazy
    def _is_plain(self) -> bool:
        """Tell whether it asks for nothing but its events."""
        return (self.code, self.data, *self.opcode_match, self.iear, self.dear, self.branches, self.ipear) == _NO_PARTS


_NOTHING: dict[str, Any] = {field.name: field.default for field in fields(Request)}
