"""The events of libpfm 4's PMUs: what the C tables say of them, and event strings as C reads them."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal

from pypfm._c.mirror import string
from pypfm._c.pfm4 import ffi, lib
from pypfm.common.arguments import expect_choice, expect_int, expect_type, utf8
from pypfm.common.event_table import EventTable
from pypfm.common.value import HEX, HIDDEN, Value, said
from pypfm.errors import Pfm4EventNotFoundError, Pfm4ValueError, shown, unknown_event

__all__ = ["OS_LAYERS", "Event", "Events", "Modifier", "Os", "Umask", "error_name", "not_found", "split"]

Os = Literal["none", "perf_event", "perf_event_ext"]

OS_LAYERS: dict[str, int] = {
    "none": lib.PFM_OS_NONE, "perf_event": lib.PFM_OS_PERF_EVENT, "perf_event_ext": lib.PFM_OS_PERF_EVENT_EXT,
}


class Umask(Value):
    """A unit mask of an event.

    :ivar code: bits that it sets: of the unit mask byte, or of the offcore register
    :ivar group: number of its kind; offcore: 0 request, 1 supplier, 2 snoop, 3 latency mode
    :ivar members: names of the unit masks that it stands for
    """

    index: int
    name: str
    code: int = field(metadata=HEX)
    group: int
    description: str
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

    pmu: str = field(metadata=said(pattern="^(glm|perf)$"))
    index: int
    name: str
    description: str = field(metadata=said(minLength=8))
    code: int = field(metadata=HEX)
    alias_of: str | None
    is_precise: bool
    is_offcore: bool
    num_groups: int = field(metadata=HIDDEN)
    umasks: tuple[Umask, ...]

    def __str__(self) -> str:
        return self.name


class Events(EventTable[Event]):
    """The events of a PMU; `pypfm.perf.pmu` adds how they are encoded and counted."""

    _pmu: ClassVar[Any]

    def __init__(self) -> None:
        # Bits of codes that the reference leaves out, by event and unit mask byte, if they are asked for.
        self._left_out: dict[tuple[str, int], int] = {}
        self._context: Any = ffi.new("struct pfm4_context *")
        lib.pfm4_context_for(self._context, self._pmu)

    def _key(self) -> object:
        return tuple(self._left_out.items())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), {"_left_out": self._left_out}

    @property
    def model_name(self) -> str:
        """The description that pfm_get_pmu_info() returns."""
        return string(self._pmu.desc)

    @property
    def counters(self) -> tuple[int, ...]:
        """The generic counters; none for events of the kernel."""
        return tuple(range(self._pmu.num_cntrs))

    def __len__(self) -> int:
        return int(self._pmu.table.count)

    def _unknown(self, name: object) -> Pfm4EventNotFoundError:
        return not_found(self, name)

    def _find(self, name: str) -> int:
        data = utf8(name)
        return int(self._pmu.match(self._pmu, data, len(data), ffi.new("uint64_t *")))

    def at(self, index: int) -> Event:
        """The event of a C index."""
        e = self._pmu.table.events[index]
        names = [string(e.umasks[i].name) for i in range(e.num_umasks)]
        umasks = tuple(self._umask(i, e.umasks[i], names) for i in range(e.num_umasks))
        return Event.of(
            pmu=self.name, index=index, name=string(e.name), description=string(e.text), code=e.code,
            alias_of=None if e.equiv == ffi.NULL else string(e.equiv),
            is_precise=bool(e.flags & (lib.PFM4_PEBS | lib.PFM4_PRECISE)),
            is_offcore=bool(e.flags & lib.PFM4_NHM_OFFCORE), num_groups=e.num_groups, umasks=umasks)

    @staticmethod
    def _umask(index: int, u: Any, names: list[str]) -> Umask:
        return Umask.of(index=index, name=names[index], code=u.code, group=u.group, description=string(u.desc),
                        members=tuple(names[u.members[i]] for i in range(u.num_members)),
                        is_default=bool(u.flags & lib.PFM4_DFL), is_precise=bool(u.flags & lib.PFM4_PEBS))

    def modifiers(self, event: str, os: Os | int = "none") -> list[Modifier]:
        """The modifiers of an event for an interface.

        :raises EventNotFoundError: there is no such event
        :raises InvalidValueError: there is no such interface
        """
        if isinstance(os, str):
            layer = OS_LAYERS[expect_choice(os, OS_LAYERS, "os")]
        else:
            layer = expect_choice(expect_int(os, "os"), OS_LAYERS.values(), "os")
        pointers: Any = ffi.new("const struct pfm4_modifier *[]", lib.PFM4_MAX_MODIFIERS)
        row = self._pmu.table.events + self[event].index
        pmu = self._pmu
        state = ffi.addressof(self._context.pmus, lib.pfm4_place_of(self._pmu.id))
        count = lib.pfm4_modifiers(pmu, lib.pfm4_levels(pmu, state), row, layer, pointers)
        return [Modifier(string(m.name), m.type == lib.PFM_ATTR_MOD_BOOL, string(m.desc)) for m in pointers[0:count]]

    # ---- event strings ----

    @staticmethod
    def _bytes(text: str) -> bytes:
        expect_type(text, str, "event string")
        data = utf8(text)
        if b"\0" in data:
            code = lib.PFM_ERR_INVAL
            raise Pfm4ValueError(code, error_name(code), text, "an event string cannot hold a NUL")
        return data

    def parse(self, text: str, os: int) -> int:
        """Read an event string for one interface; the return code."""
        return lib.pfm4_parse(self._context, self._bytes(text), os, ffi.new("struct pfm4_request *"))

    def tried(self, text: str, os: int, plm: int) -> int:
        """Encode for one interface; the return code alone."""
        return self.run(text, os, plm)[0]

    def run(self, text: str, os: int, plm: int) -> tuple[int, Any, Any, int]:
        """Encode for one interface: return code, C's request, perf_event_attr, processor asked for."""
        request: Any = ffi.new("struct pfm4_request *", {"want_string": 1})
        attr: Any = ffi.new("struct perf_event_attr *")
        attr.size = ffi.sizeof("struct perf_event_attr")
        cpu: Any = ffi.new("int *", -1)
        if os == lib.PFM_OS_NONE:
            ret = lib.pfm4_encode_raw(self._context, self._bytes(text), plm, request)
        else:
            ret = lib.pfm4_encode_perf(self._context, self._bytes(text), plm, os, attr, cpu, request)
        return ret, request, attr, int(cpu[0])


def error_name(code: int) -> str:
    return string(lib.pfm4_error_name(code))


def split(text: str) -> list[str]:
    """The event name and the attribute tokens of a string without PMU name."""
    return text.replace(".", ":").split(":")


def not_found(pmu: Events, name: object) -> Pfm4EventNotFoundError:
    """The exception for a name that no event has."""
    code, token = lib.PFM_ERR_NOTFOUND, name if isinstance(name, str) else shown(name)
    event = split(token.partition("::")[2] or token)[0]
    if event != token and event in pmu:
        message = f"{shown(token)}: a name without unit masks and modifiers is expected: {event}"
    else:
        message = unknown_event(pmu.name, name, pmu)
    return Pfm4EventNotFoundError(code, error_name(code), token, message)
