"""Tables of a PMU as a library knows them: its events, their modifiers, the codes of event strings.

`OwnTables` asks the re-entrant half of our C library, which works on any host and shares nothing with what
``pypfm.pfm4`` sees; `pypfm.perf.foreign` asks any other libpfm 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from pypfm._c.convert import string
from pypfm._c.pfm4 import ffi, lib
from pypfm.perf.events import Event, GroupedUmask, Modifier

__all__ = ["NAMES", "Made", "OwnTables", "Tables"]


class Made(NamedTuple):
    """The answer of a library to an event string.

    :ivar event: name of the event
    :ivar string: canonical event string, without the PMU's name
    :ivar codes: of the interface asked for
    :ivar attr: struct perf_event_attr (a pointer of ``pypfm._c.pfm4``'s ffi); None: the kernel's driver
        cannot count the event, or (of raw codes of another library) was not asked
    :ivar cpu: processor asked for, or -1
    """

    event: str
    string: str
    codes: tuple[int, ...]
    attr: Any
    cpu: int


class Tables(ABC):
    """A PMU of a library; equal to another of the same PMU and library.

    :ivar name: of the PMU
    :ivar model_name: its description, as pfm_get_pmu_info() returns it
    :ivar num_counters: generic counters; 0 of events of the kernel
    :ivar count: events
    :ivar library: file of the library; None: our own
    :ivar not_in_config: bits of a code that the kernel's driver cuts
    """

    name: str
    model_name: str
    num_counters: int
    count: int
    library: str | None = None
    not_in_config: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tables) and (self.name, self.library) == (other.name, other.library)

    def __hash__(self) -> int:
        return hash((self.name, self.library))

    def names(self) -> tuple[str, ...]:
        """Return the names of all events, in the order of their indices."""
        return tuple([self.event(index).name for index in range(self.count)])

    @abstractmethod
    def find(self, name: bytes) -> int:
        """Return the index of the event of a name, in upper or lower case, or a negative number."""

    @abstractmethod
    def event(self, index: int) -> Event:
        """Return the event of an index, from 0."""

    @abstractmethod
    def modifiers(self, index: int, os: int) -> list[Modifier]:
        """Return the modifiers of an event for an interface, a number such as PFM_OS_NONE."""

    @abstractmethod
    def parse(self, text: bytes, os: int) -> int:
        """Read an event string for an interface, and return C's return code."""

    @abstractmethod
    def make(self, text: bytes, os: int, plm: int) -> tuple[int, Made | None]:
        """Encode an event string; return the return code, and the result if it is 0."""

# Looked up once: to parse the name of a type costs more than to allocate it.
_REQUEST, _ATTR, _INT = ffi.typeof("struct pfm4_request *"), ffi.typeof("struct perf_event_attr *"), ffi.typeof("int *")
_ATTR_SIZE = ffi.sizeof("struct perf_event_attr")

#: The PMUs of our own library that have events of their own, by name.
#:
#: :meta hide-value:
NAMES: dict[str, Any] = {string(_pmu.name): _pmu for _pmu in map(lib.pfm4_pmu_at, range(lib.PFM4_NUM_PMUS))}


class OwnTables(Tables):
    """A PMU of our own library, one of `NAMES`."""

    def __init__(self, name: str) -> None:
        pmu = NAMES[name]
        self._pmu = pmu
        self._context: Any = ffi.new("struct pfm4_context *")
        lib.pfm4_context_for(self._context, pmu)
        self.name = name
        self.model_name = string(pmu.desc)
        self.num_counters = int(pmu.num_cntrs)
        self.not_in_config = int(pmu.not_in_config)
        self.count = int(pmu.table.count)
        self._events: dict[int, Event] = {}

    def find(self, name: bytes) -> int:
        return int(self._pmu.match(self._pmu, name, len(name), ffi.new("uint64_t *")))

    def names(self) -> tuple[str, ...]:
        return tuple([string(self._pmu.table.events[index].name) for index in range(self.count)])

    def event(self, index: int) -> Event:
        if index not in self._events:
            self._events[index] = self._event(index)
        return self._events[index]

    def _event(self, index: int) -> Event:
        e = self._pmu.table.events[index]
        names = [string(e.umasks[i].name) for i in range(e.num_umasks)]
        umasks = tuple(_umask(i, e.umasks[i], names) for i in range(e.num_umasks))
        code = lib.pfm4_event_code(self._context, self._pmu, self._pmu.table.events + index)
        return Event._of(
            pmu=self.name, index=index, name=string(e.name), description=string(e.text), code=code | e.umask << 8,
            alias_of=None if e.equiv == ffi.NULL else string(e.equiv),
            is_precise=bool(e.flags & (lib.PFM4_PEBS | lib.PFM4_PRECISE)),
            is_offcore=bool(e.flags & lib.PFM4_NHM_OFFCORE), num_groups=e.num_groups, umasks=umasks)

    def modifiers(self, index: int, os: int) -> list[Modifier]:
        pointers: Any = ffi.new("const struct pfm4_modifier *[]", lib.PFM4_MAX_MODIFIERS)
        state = ffi.addressof(self._context.pmus, lib.pfm4_place_of(self._pmu.id))
        levels = lib.pfm4_levels(self._pmu, state)
        count = lib.pfm4_modifiers(self._pmu, levels, self._pmu.table.events + index, os, pointers)
        return [Modifier(string(m.name), m.type == lib.PFM_ATTR_MOD_BOOL, string(m.desc)) for m in pointers[0:count]]

    def parse(self, text: bytes, os: int) -> int:
        return lib.pfm4_parse(self._context, text, os, ffi.new("struct pfm4_request *"))

    def make(self, text: bytes, os: int, plm: int) -> tuple[int, Made | None]:
        request: Any = ffi.new(_REQUEST)
        request.want_string = 1
        attr: Any = ffi.new(_ATTR)
        attr.size = _ATTR_SIZE
        cpu: Any = ffi.new(_INT, -1)
        if os == lib.PFM_OS_NONE:
            ret = lib.pfm4_encode_raw(self._context, text, plm, request)
            if not ret and lib.pfm4_attr_of_raw(request, attr):
                attr = None
        else:
            ret = lib.pfm4_encode_perf(self._context, text, plm, os, attr, cpu, request)
        if ret:
            return ret, None
        codes = (request.codes[0],) if request.num_codes == 1 else tuple(request.codes[0:request.num_codes])
        return ret, Made(string(request.event.name), string(request.string), codes, attr, cpu[0])

def _umask(index: int, u: Any, names: list[str]) -> GroupedUmask:
    return GroupedUmask._of(index=index, name=names[index], code=u.code, group=u.group, description=string(u.desc),
                    members=tuple(names[u.members[i]] for i in range(u.num_members)),
                    is_default=bool(u.flags & lib.PFM4_DFL), is_precise=bool(u.flags & lib.PFM4_PEBS))
