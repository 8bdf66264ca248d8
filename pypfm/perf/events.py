"""The events of libpfm 4's PMUs, as objects."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from pypfm._c.convert import string
from pypfm._c.pfm4 import lib
from pypfm.common.event_table import Umask
from pypfm.common.value import HEX, HIDDEN, Value

__all__ = ["OS_LAYERS", "Event", "GroupedUmask", "Modifier", "Os", "error_name"]

Os = Literal["none", "perf_event", "perf_event_ext"]

OS_LAYERS: dict[str, int] = {
    "none": lib.PFM_OS_NONE, "perf_event": lib.PFM_OS_PERF_EVENT, "perf_event_ext": lib.PFM_OS_PERF_EVENT_EXT,
}


class GroupedUmask(Umask):
    """A unit mask of an event of libpfm 4.

    :ivar group: number of its kind; offcore: 0 request, 1 supplier, 2 snoop, 3 latency mode
    :ivar members: names of the unit masks that it stands for
    """

    _order = ("index", "name", "code", "group")

    group: int
    members: tuple[str, ...]
    is_default: bool
    is_precise: bool


class Modifier(Value):
    """A modifier of an event: ``name=value``, or ``name`` alone if it is a switch."""

    name: str
    is_switch: bool
    description: str


class Event(Value):
    """An event of a libpfm 4 PMU.

    :ivar code: event code with the unit mask bits that are part of it
    :ivar alias_of: the event (and unit mask) that this is another name of, or None
    :ivar is_precise: samples can be precise (PEBS)
    """

    pmu: str
    index: int
    name: str
    description: str
    code: int = field(metadata=HEX)
    alias_of: str | None
    is_precise: bool
    is_offcore: bool
    num_groups: int = field(metadata=HIDDEN)
    umasks: tuple[GroupedUmask, ...]

    def __str__(self) -> str:
        return self.name


def error_name(code: int) -> str:
    """Return the name of a return code; "unknown" for one that only another library knows."""
    name = lib.pfm4_error_name(code)
    return string(name) if name else "unknown"
