"""Intel Goldmont and the Linux generic events as Python objects.

Everything here goes through the re-entrant half of the C library: it works on
any host, needs no environment variable and does not touch what ``pypfm.pfm4`` sees.
"""

from __future__ import annotations

import errno
import fnmatch
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pypfm import _diagnose4, _offcore
from pypfm._mirror import string
from pypfm._pfm4 import ffi, lib
from pypfm.errors import CountingError, Pfm4Error, Pfm4PromiseError
from pypfm.levels import Plm, expect_type, parse_plm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["AverageLatency", "Encoding4", "Event4", "Goldmont", "Modifier", "Perf", "Pfm4Pmu", "Umask"]

Check = Literal["manual", "reference"]
Os = Literal["none", "perf_event", "perf_event_ext"]

OS_LAYERS: dict[str, int] = {
    "none": lib.PFM_OS_NONE, "perf_event": lib.PFM_OS_PERF_EVENT, "perf_event_ext": lib.PFM_OS_PERF_EVENT_EXT,
}
_USER, _KERNEL = 1 << 16, 1 << 17

# Fields of an event select register: name, lowest bit, width.
PERFEVTSEL = (
    ("event", 0, 8), ("umask", 8, 8), ("usr", 16, 1), ("os", 17, 1), ("edge", 18, 1), ("pc", 19, 1),
    ("int", 20, 1), ("any", 21, 1), ("en", 22, 1), ("inv", 23, 1), ("cmask", 24, 8),
)


@dataclass(frozen=True)
class Umask:
    """A unit mask of an event.

    :ivar code: bits that it sets: of the unit mask byte, or of the offcore register
    :ivar group: number of its kind; offcore: 0 request, 1 supplier, 2 snoop, 3 latency mode
    :ivar members: names of the unit masks that it stands for
    """

    index: int
    name: str
    code: int
    group: int
    description: str
    members: tuple[str, ...]
    is_default: bool
    is_precise: bool


@dataclass(frozen=True)
class Modifier:
    """A modifier of an event: ``name=value``, or ``name`` alone if it is a switch."""

    name: str
    is_switch: bool
    description: str


@dataclass(frozen=True)
class Event4:
    """An event of a libpfm 4 PMU.

    :ivar code: event code with the unit mask bits that are part of it
    :ivar alias_of: the event (and unit mask) that this is another name of, or None
    :ivar is_precise: samples can be precise (PEBS)
    """

    pmu: str
    index: int
    name: str
    description: str
    code: int
    alias_of: str | None
    is_precise: bool
    is_offcore: bool
    num_groups: int
    umasks: tuple[Umask, ...]

    def __str__(self) -> str:
        return self.name

    def to_json(self) -> dict[str, object]:
        """Everything about the event (schema: info_pfm4)."""
        return {
            "pmu": self.pmu, "index": self.index, "name": self.name, "description": self.description,
            "code": hex(self.code), "alias_of": self.alias_of, "is_precise": self.is_precise,
            "is_offcore": self.is_offcore,
            "umasks": [{"index": u.index, "name": u.name, "code": hex(u.code), "group": u.group,
                        "description": u.description, "members": list(u.members), "is_default": u.is_default,
                        "is_precise": u.is_precise} for u in self.umasks],
        }


@dataclass(frozen=True)
class Encoding4:
    """The codes of an event string.

    :ivar codes: event select register, and for offcore events the value of the offcore register
    :ivar string: canonical event string of the interface asked for
    :ivar attr: fields of perf_event_attr that are not 0, and type and config
    :ivar perf: spelling for ``perf stat -e``
    :ivar cpu: processor asked for with cpu=, or -1
    """

    pmu: str
    event: str
    codes: tuple[int, ...]
    string: str
    attr: dict[str, int]
    perf: str
    cpu: int = -1
    offcore: _offcore.OffcoreValue | None = None
    _attr_bytes: bytes = field(default=b"", repr=False, compare=False)

    @property
    def fields(self) -> dict[str, int]:
        """The bit-fields of the event select register (glm); of a perf event, nothing."""
        if self.pmu != "glm":
            return {}
        return {name: self.codes[0] >> bit & ((1 << width) - 1) for name, bit, width in PERFEVTSEL}

    def to_json(self) -> dict[str, object]:
        return {
            "event": self.event, "string": self.string, "codes": [hex(c) for c in self.codes],
            "fields": {name: hex(value) for name, value in self.fields.items()},
            "offcore": None if self.offcore is None else self.offcore.to_json(),
            "attr": {name: hex(value) for name, value in self.attr.items()},
            "perf": self.perf, "cpu": self.cpu,
        }


@dataclass(frozen=True)
class AverageLatency:
    """The pair of events of the average latency mode: requests outstanding, requests made."""

    outstanding: Encoding4
    requests: Encoding4

    def cycles(self, count0: int, count1: int) -> float:
        """The average latency in core cycles.

        :param count0: count of OFFCORE_RESPONSE_0
        :param count1: count of OFFCORE_RESPONSE_1
        :raises ZeroDivisionError: there was no request
        """
        return count0 / count1


class Pfm4Pmu(ABC):
    """A PMU of libpfm 4; `Goldmont` and `Perf` are the ones to use."""

    name: ClassVar[str]
    _pmu: ClassVar[Any]
    _default_os: ClassVar[Os] = "none"

    def __init__(self) -> None:
        # Bits of codes that the reference leaves out, by event and unit mask byte, if they are asked for.
        self._left_out: dict[tuple[str, int], int] = {}
        self._context: Any = ffi.new("struct pfm4_context *")
        lib.pfm4_context_for(self._context, self._pmu)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} events>"

    @property
    def model_name(self) -> str:
        """The description that pfm_get_pmu_info() answers."""
        return string(self._pmu.desc)

    @property
    def counters(self) -> tuple[int, ...]:
        """The generic counters; none for events of the kernel."""
        return tuple(range(self._pmu.num_cntrs))

    @cached_property
    def events(self) -> tuple[Event4, ...]:
        """All events, in the order of their indices."""
        return tuple(self._event(i) for i in range(len(self)))

    def __len__(self) -> int:
        return int(self._pmu.table.count)

    def __iter__(self) -> Iterator[Event4]:
        return iter(self.events)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) >= 0

    def __getitem__(self, name: str) -> Event4:
        """The event of a name, in upper or lower case.

        :raises Pfm4Error: there is none; the message names the nearest
        """
        index = self._find(name)
        if index < 0:
            raise _diagnose4.error(self, name, lib.PFM_OS_NONE, 0, lib.PFM_ERR_NOTFOUND)
        return self._event(index)

    def find(self, pattern: str = "*") -> list[Event4]:
        """The events whose names match a glob pattern, in upper or lower case."""
        expect_type(pattern, str, "pattern")
        wanted = pattern.upper()
        return [e for e in self.events if fnmatch.fnmatchcase(e.name.upper(), wanted)]

    def _find(self, name: str) -> int:
        expect_type(name, str, "event name")
        data = name.encode("utf-8", "surrogateescape")
        return int(self._pmu.match(self._pmu, data, len(data), ffi.new("uint64_t *")))

    def _event(self, index: int) -> Event4:
        e = self._pmu.table.events[index]
        names = [string(e.umasks[i].name) for i in range(e.num_umasks)]
        umasks = tuple(self._umask(i, e.umasks[i], names) for i in range(e.num_umasks))
        return Event4(
            pmu=self.name, index=index, name=string(e.name), description=string(e.text), code=e.code,
            alias_of=None if e.equiv == ffi.NULL else string(e.equiv),
            is_precise=bool(e.flags & (lib.PFM4_PEBS | lib.PFM4_PRECISE)),
            is_offcore=bool(e.flags & lib.PFM4_NHM_OFFCORE), num_groups=e.num_groups, umasks=umasks)

    @staticmethod
    def _umask(index: int, u: Any, names: list[str]) -> Umask:
        return Umask(index, names[index], u.code, u.group, string(u.desc),
                     tuple(names[u.members[i]] for i in range(u.num_members)),
                     bool(u.flags & lib.PFM4_DFL), bool(u.flags & lib.PFM4_PEBS))

    def modifiers(self, event: str, os: Os | int = "none") -> list[Modifier]:
        """The modifiers of an event for an interface."""
        layer = OS_LAYERS[os] if isinstance(os, str) else os
        pointers: Any = ffi.new("const struct pfm4_modifier *[]", lib.PFM4_MAX_MODIFIERS)
        row = self._pmu.table.events + self[event].index
        pmu = self._pmu
        state = ffi.addressof(self._context.pmus, lib.pfm4_place_of(self._pmu.id))
        count = lib.pfm4_modifiers(pmu, lib.pfm4_levels(pmu, state), row, layer, pointers)
        return [Modifier(string(m.name), m.type == lib.PFM_ATTR_MOD_BOOL, string(m.desc)) for m in pointers[0:count]]

    # ---- encoding ----

    @staticmethod
    def _bytes(text: str) -> bytes:
        expect_type(text, str, "event string")
        data = text.encode("utf-8", "surrogateescape")
        if b"\0" in data:
            code = lib.PFM_ERR_INVAL
            raise Pfm4Error(code, _diagnose4.error_name(code), text, "an event string cannot hold a NUL")
        return data

    def _parse(self, text: str, os: int) -> int:
        return lib.pfm4_parse(self._context, self._bytes(text), os, ffi.new("struct pfm4_request *"))

    def _try(self, text: str, os: int, plm: int) -> int:
        """Encode for one interface; the return code alone."""
        return self._run(text, os, plm)[0]

    def _run(self, text: str, os: int, plm: int) -> tuple[int, Any, Any, int]:
        request: Any = ffi.new("struct pfm4_request *", {"want_string": 1})
        attr: Any = ffi.new("struct perf_event_attr *")
        attr.size = ffi.sizeof("struct perf_event_attr")
        cpu: Any = ffi.new("int *", -1)
        if os == lib.PFM_OS_NONE:
            ret = lib.pfm4_encode_raw(self._context, self._bytes(text), plm, request)
        else:
            ret = lib.pfm4_encode_perf(self._context, self._bytes(text), plm, os, attr, cpu, request)
        return ret, request, attr, int(cpu[0])

    def _encoded(self, text: str, os: int, plm: int) -> tuple[Any, Any, int]:
        """Encode; what is wrong is an error."""
        ret, request, attr, cpu = self._run(text, os, plm)
        if ret:
            raise _diagnose4.error(self, text, os, plm, ret)
        return request, attr, cpu

    def encode(self, event: str, *, plm: int | str = Plm.PLM3, os: Os | None = None,
               check: Check = "manual") -> Encoding4:
        """Compute the codes of an event string.

        :param event: ``[PMU::]EVENT[:UMASK...][:MODIFIER[=VALUE]...]``
        :param plm: privilege levels where the string names none
        :param os: interface: raw codes ("none"), or perf_event without or with its own modifiers
            (period, freq, precise, excl, cpu, pinned); None: raw codes of a processor's events,
            "perf_event_ext" of the kernel's
        :param check: "manual" raises where the string breaks a rule of the manual page that the C
            library lets pass; "reference" answers as C does
        :raises Pfm4Error: the string is not valid; the message names the token and what is allowed
        """
        os = self._default_os if os is None else os
        if check not in ("manual", "reference") or os not in OS_LAYERS:
            message = f"check={check!r}, os={os!r}: expected manual or reference, and one of {', '.join(OS_LAYERS)}"
            raise ValueError(message)
        levels, layer = parse_plm(plm), OS_LAYERS[os]
        if levels & ~lib.PFM4_ALL_PLM:
            message = f"privilege levels {levels:#x}: bits 0 to 4 are allowed"
            raise Pfm4Error(lib.PFM_ERR_INVAL, "PFM_ERR_INVAL", event, message)
        request, attr, cpu = self._encoded(event, layer, levels)
        name, canonical = string(request.event.name), f"{self.name}::{string(request.string)}"
        codes = [int(c) for c in request.codes[0:request.num_codes]]
        if layer == lib.PFM_OS_NONE:
            # The perf_event layer has no hardware modifiers k and u: the levels go in as its own.
            attr = self._attr_of(event, codes[0], levels)
        elif self.name == "glm":
            codes[0] = codes[0] & ~(_USER | _KERNEL) | (0 if attr.exclude_user else _USER) | (
                0 if attr.exclude_kernel else _KERNEL)
        left_out = self._left_out.get((name, codes[0] >> 8 & 0xFF), 0)
        codes[0] |= left_out
        attr.config |= left_out
        made = Encoding4(
            pmu=self.name, event=name, codes=tuple(codes), string=canonical, attr=_attr_fields(attr),
            perf=self._perf_spelling(codes, attr), cpu=cpu,
            offcore=_offcore.decode(self[name], codes[1]) if len(codes) > 1 else None,
            _attr_bytes=bytes(ffi.buffer(attr)))
        if check == "manual":
            _check_manual(made)
        return made

    def _attr_of(self, text: str, code: int, levels: int) -> Any:
        _, attr, _ = self._encoded(text, lib.PFM_OS_PERF_EVENT, levels)
        if self.name == "glm":
            attr.exclude_user, attr.exclude_kernel = not code & _USER, not code & _KERNEL
        return attr

    @abstractmethod
    def _perf_spelling(self, codes: list[int], attr: Any) -> str:
        """The event as ``perf stat -e`` takes it."""

    # ---- counting ----

    def count(self, event: str, work: Callable[[], object], *, plm: int | str = Plm.PLM3,
              os: Os = "perf_event_ext") -> int:
        """Count an event of this process with perf_event_open() while a function runs.

        :param work: called once, while the counter is on
        :raises CountingError: the kernel refuses; errno says why (ENOENT: no such counter here)
        """
        from pypfm._counting import PerfEvent

        encoding = self.encode(event, plm=plm, os=os)
        with PerfEvent(encoding._attr_bytes, name=encoding.string) as counter:
            counter.start()
            work()
            counter.stop()
            count = counter.read()
        if count.enabled and not count.running:
            raise CountingError(errno.EBUSY, f"{encoding.string}: the counter was never scheduled (all are in use)")
        return count.value


def _attr_fields(attr: Any) -> dict[str, int]:
    """The fields of perf_event_attr that say something."""
    found = {"type": int(attr.type), "size": int(attr.size), "config": int(attr.config)}
    for name in ("config1", "sample_period", "freq", "precise_ip", "exclusive", "pinned", "exclude_user",
                 "exclude_kernel", "exclude_hv", "exclude_host", "exclude_guest"):
        if value := int(getattr(attr, name)):
            found["sample_freq" if name == "sample_period" and attr.freq else name] = value
    return found


def _check_manual(encoding: Encoding4) -> None:
    """Edge detection needs a counter mask (libpfm_intel_glm(3), MODIFIERS)."""
    fields = encoding.fields
    if fields.get("edge") and not fields["cmask"]:
        code = lib.PFM_ERR_ATTR_VAL
        message = f"{encoding.event}: modifier e needs a counter mask: c=1 to c=255"
        raise Pfm4PromiseError(code, _diagnose4.error_name(code), "e", message)


def _level_letters(attr: Any) -> str:
    letters = ("" if attr.exclude_user else "u") + ("" if attr.exclude_kernel else "k")
    return letters + "p" * int(attr.precise_ip)


class Goldmont(Pfm4Pmu):
    """The Intel Goldmont core PMU: 34 events, 4 generic counters.

    :param corrected: encode ``CPU_CLK_UNHALTED:CORE_P`` and ``:REF`` with event 0x3c, as Intel's
        event list says; libpfm 4.13.0 has 0x00
    """

    name = "glm"
    _pmu = lib.pfm4_pmu_at(lib.pfm4_place_of(lib.PFM_PMU_INTEL_GLM))

    def __init__(self, *, corrected: bool = False) -> None:
        super().__init__()
        if corrected:
            self._left_out = {("CPU_CLK_UNHALTED", 0): 0x3C, ("CPU_CLK_UNHALTED", 1): 0x3C}

    def _perf_spelling(self, codes: list[int], attr: Any) -> str:
        code = codes[0]
        terms = [f"event={code & 0xFF:#x}", f"umask={code >> 8 & 0xFF:#x}"]
        terms += ["edge"] if code >> 18 & 1 else []
        terms += ["inv"] if code >> 23 & 1 else []
        terms += [f"cmask={code >> 24 & 0xFF:#x}"] if code >> 24 & 0xFF else []
        terms += [f"offcore_rsp={codes[1]:#x}"] if len(codes) > 1 else []
        return f"cpu/{','.join(terms)}/{_level_letters(attr)}"

    def average_latency(self, *requests: str, plm: int | str = Plm.PLM3) -> AverageLatency:
        """The two events that measure the average latency of offcore requests.

        :param requests: request unit masks, such as ``DMND_DATA_RD``; none: ANY_REQUEST

        Source: libpfm_intel_glm(3), OFFCORE_RESPONSE events.
        """
        for request in requests:
            _offcore.check_request(self["OFFCORE_RESPONSE_1"], request)
        names = ":".join(requests or ("ANY_REQUEST",))
        return AverageLatency(self.encode(f"OFFCORE_RESPONSE_0:{names}:OUTSTANDING", plm=plm),
                              self.encode(f"OFFCORE_RESPONSE_1:{names}:ANY_RESPONSE", plm=plm))

    def parse_average_latency(self, text: str, *, plm: int | str = Plm.PLM3) -> AverageLatency:
        """The same from the manual's notation.

        :param text: ``OFFCORE_RESPONSE_0:...:OUTSTANDING+OFFCORE_RESPONSE_1:...:ANY_RESPONSE``
        :raises Pfm4Error: the requests differ, or there are other unit masks
        """
        first, second = _offcore.split_pair(text, self.name)
        requests = _offcore.requests_of_pair(self["OFFCORE_RESPONSE_0"], first, second)
        return self.average_latency(*requests, plm=plm)


class Perf(Pfm4Pmu):
    """The generic events of the Linux kernel: hardware, software and cache events."""

    name = "perf"
    _pmu = lib.pfm4_pmu_at(lib.pfm4_place_of(lib.PFM_PMU_PERF_EVENT))
    _default_os = "perf_event_ext"

    def _perf_spelling(self, codes: list[int], attr: Any) -> str:
        levels = _level_letters(attr)
        return self._perf_name(int(attr.type), codes[0]) + (f":{levels}" if levels else "")

    def _perf_name(self, kind: int, config: int) -> str:
        """perf's own name of an event: that of an alias with the same encoding."""
        for i in range(len(self)):
            e = self._pmu.table.events[i]
            if e.equiv == ffi.NULL or e.perf_type != kind:
                continue
            target = self._pmu.table.events[e.target]
            code = target.code
            for n in range(e.num_implied):
                code |= target.umasks[e.implied[n]].code
            if code == config:
                return string(e.name).lower()
        return f"type{kind}/config={config:#x}/"
