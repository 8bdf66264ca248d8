"""PMUs whose events are strings, as Python objects: encoding and counting.

With our own library everything goes through its re-entrant half: it works on any host, needs no environment
variable and does not touch what ``pypfm.pfm4`` sees.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from functools import partial
from glob import glob
from typing import TYPE_CHECKING, Any, Literal, overload

from pypfm._c.convert import string
from pypfm._c.pfm4 import ffi, lib
from pypfm.common.arguments import expect_choice, expect_flag, expect_items, expect_type
from pypfm.common.counting import PerfEvent, is_always_0
from pypfm.common.frozen import FrozenMap
from pypfm.common.pmu_names import canonical
from pypfm.errors import (
    CountingError,
    InvalidTypeError,
    Pfm4Error,
    PromiseError,
    in_hex,
    named,
    shown,
)
from pypfm.levels import Plm, parse_plm
from pypfm.perf import diagnose, offcore
from pypfm.perf.encoding import AverageLatency, Encoding
from pypfm.perf.events import OS_LAYERS, Event, Os
from pypfm.perf.formats import Format, format_of
from pypfm.perf.strings import Events
from pypfm.perf.tables import NAMES, OwnTables, Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

__all__ = ["Goldmont", "Perf", "Pmu", "RawPerf"]

Check = Literal["manual", "reference"]
# Types of events that have names in perf, and are no devices.
_FIELD = "field of perf_event_attr"
_KERNEL = (lib.PERF_TYPE_HARDWARE, lib.PERF_TYPE_SOFTWARE, lib.PERF_TYPE_HW_CACHE)


class Pmu(Events):
    """A PMU of libpfm 4: of ours gen_ia64, ita, ita2, mont, glm, perf; of another library those that it knows.

    It is a mapping of its events by name, in upper or lower case, and equal to others that encode alike.  Whether the
    host has the PMU matters for `count` alone, and for the perf_event interfaces of PMUs outside the cores, whose type
    only the running kernel knows.

    :param name: of the PMU, as event strings have it; of another library also its description, such as skylake
    :param library: a libpfm 4, by its file or by a name that the loader looks up; None: ours, and of a PMU that is
        none of ours the system's, libpfm.so.4.  Another one than ours is a copy of its own,
        initialised here: what the program or others do with the same library does not matter, nor do LIBPFM_FORCE_PMU
        and LIBPFM_DISABLED_PMUS
    :raises InvalidValueError: there is no such PMU
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """

    def __init__(self, name: str, *, library: str | PathLike[str] | None = None) -> None:
        super().__init__(_tables(name, library))
        self._format = format_of(self.name) if self.library is None else Format()

    @property
    def default_os(self) -> Os:
        """Return the default interface of `encode`, "none", or "perf_event_ext" for the kernel's events."""
        return "none" if self.counters else "perf_event_ext"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self) if self.library is None else partial(type(self), library=self.library)), (self.name,)

    def __repr__(self) -> str:
        of = "" if self.library is None else f" of {named(self.library)}"
        return f"<Pmu {self.name}{of}: {len(self)} events>" if type(self) is Pmu else super().__repr__()

    @property
    def format(self) -> Format:
        """Return the format of the bits of its codes."""
        return self._format

    @overload
    def encode(  # type: ignore[overload-overlap]
        self, events: str | Event, *, plm: int | str = ..., os: Os | None = ...,
               check: Check = ...) -> Encoding: ...
    @overload
    def encode(self, events: Iterable[str | Event], *, plm: int | str = ..., os: Os | None = ...,
               check: Check = ...) -> tuple[Encoding, ...]: ...

    def encode(self, events: str | Event | Iterable[str | Event], *, plm: int | str = Plm.PLM3, os: Os | None = None,
               check: Check = "manual") -> Encoding | tuple[Encoding, ...]:
        """Compute the codes of an event string, or of several.

        :param events: ``[PMU::]EVENT[:UMASK...][:MODIFIER[=VALUE]...]`` or an `Event`; of several, the encodings are
            in the same order
        :param plm: privilege levels where the string names none
        :param os: interface: raw codes ("none"), or perf_event without or with its own modifiers
            (period, freq, precise, excl, cpu, pinned); None: raw codes of a processor's events,
            "perf_event_ext" of the kernel's
        :param check: "manual" raises where the string breaks a rule of the manual page that the C
            library lets pass; "reference" does as C does
        :raises Pfm4Error: the string is not valid; the message names the token and what is allowed
        :raises PromiseError: it breaks a rule of the manual page
        :raises InvalidArgumentError: another argument is not
        """
        wanted = self.default_os if os is None else os
        layer = OS_LAYERS[expect_choice(wanted, OS_LAYERS, "os")]
        expect_choice(check, ("manual", "reference"), "check")
        levels = parse_plm(plm)
        one = isinstance(events, (str, Event))
        texts = [self._text(event) for event in ((events,) if one else expect_items(events, "events"))]
        if levels & ~lib.PFM4_ALL_PLM:
            raise Pfm4Error(lib.PFM_ERR_INVAL, "PFM_ERR_INVAL", texts[0] if texts else "",
                f"privilege levels {in_hex(levels)}: bits 0 to 4 are allowed (0x0 to {lib.PFM4_ALL_PLM:#x})")
        found = tuple([self._encode(text, wanted, layer, levels, check == "manual") for text in texts])
        return found[0] if one else found

    def _text(self, event: object) -> str:
        """Write an event as a string of this PMU."""
        if isinstance(event, Event):
            return f"{event.pmu}::{event.name}"
        expect_type(event, (str, Event), "event string")
        return str(event)

    def _encode(self, text: str, os: Os, layer: int, levels: int, check: bool) -> Encoding:
        """Encode one event string; the other arguments were checked."""
        data = self._bytes(text)
        ret, made = self._tables.make(data, layer, levels)
        if made is None:
            raise diagnose.error(self, text, layer, levels, ret)
        code, attr, form = made.codes[0], made.attr, self._format
        if layer == lib.PFM_OS_NONE:
            if self.library is not None:
                other = self._tables.make(data, lib.PFM_OS_PERF_EVENT, levels)[1]
                attr = None if other is None else other.attr  # None where the kernel has no such PMU, too
            if attr is not None and form.user:
                # In the perf_event layer levels are no bits of the code: they go in as the attribute's own.
                attr.exclude_user, attr.exclude_kernel = not code & form.user, not code & form.kernel
        else:
            code = self._with_levels(code, attr)
        if self._left_out:
            left_out = self._left_out.get((made.event, code >> 8 & 0xFF), 0)
            code |= left_out
            if attr is not None:
                attr.config |= left_out
        if check and code & form.edge and not code & form.counter_mask:  # libpfm_intel_glm(3), MODIFIERS
            raise PromiseError(f"{made.event}: modifier e needs a counter mask: c=1 to c=255")
        codes = (code, *made.codes[1:])
        return Encoding._of(
            pmu=self.name, event=made.event, codes=codes, string=f"{self.name}::{made.string}",
            attr=None if attr is None else FrozenMap(_attr_fields(attr), _FIELD),
            perf=None if attr is None else self._perf_spelling(codes, attr), cpu=made.cpu,
            offcore=offcore.decode(self[made.event], codes[1]) if len(codes) > 1 and form.fields else None,
            attr_bytes=b"" if attr is None else bytes(ffi.buffer(attr)), os=os, library=self.library)

    def _with_levels(self, code: int, attr: Any) -> int:
        """Return the code with its bits for user and kernel mode as the attribute has them."""
        user, kernel = self._format.user, self._format.kernel
        return code & ~(user | kernel) | (0 if attr.exclude_user else user) | (0 if attr.exclude_kernel else kernel)

    def _perf_spelling(self, codes: tuple[int, ...], attr: Any) -> str:
        """Write the event as ``perf stat -e`` takes it."""
        letters = _level_letters(attr)
        if self._format.fields:
            return self._format.spelled(*codes) + letters
        kind, config = int(attr.type), int(attr.config)
        if kind in _KERNEL:
            return kernel_name(kind, config) + (f":{letters}" if letters else "")
        if kind == lib.PERF_TYPE_RAW and not attr.config1 and not attr.config2:
            return f"r{config:x}" + (f":{letters}" if letters else "")
        more = "".join(f",{name}={getattr(attr, name):#x}" for name in ("config1", "config2") if getattr(attr, name))
        return f"{'cpu' if kind == lib.PERF_TYPE_RAW else _device(kind)}/config={config:#x}{more}/{letters}"

    # ---- counting ----

    def count(self, event: str, work: Callable[[], object], *, plm: int | str = Plm.PLM3,
              os: Os = "perf_event_ext") -> int:
        """Count an event of this process with perf_event_open() while a function runs.

        task-clock and cpu-clock are in nanoseconds, and of user and kernel mode together whatever is
        excluded: the kernel does not tell them apart. With modifier cpu, on that processor only.

        :param work: called once, while the counter is on
        :raises CountingError: the kernel refuses; errno says why (ENOENT: no such counter here;
            EOPNOTSUPP: the event happens in kernel mode only, which is excluded)
        :raises PfmError: as `encode`
        """
        if not callable(work):
            raise InvalidTypeError(
                f"work: expected a function without arguments, not {type(work).__name__} ({shown(work)})")
        encoding = self.encode(self._text(event), plm=plm, os=os)
        if encoding.attr is None:  # of raw codes, which a caller may ask for
            raise diagnose.error(self, event, lib.PFM_OS_PERF_EVENT, parse_plm(plm), lib.PFM_ERR_NOTSUPP)
        if is_always_0(encoding.attr):
            raise CountingError(errno.EOPNOTSUPP,
                f"{encoding.string}: it happens in kernel mode only, which is excluded;"
                " with modifier k, or privilege level kernel, it is counted")
        with PerfEvent(encoding.attr_bytes, name=encoding.string, cpu=encoding.cpu) as counter:
            counter.start()
            work()
            counter.stop()
            return counter.count()


def _tables(name: str, library: str | PathLike[str] | None) -> Tables:
    expect_type(name, str, "PMU")
    if library is not None:
        from pypfm.perf.foreign import ForeignTables  # not for programs that use our library only

        return ForeignTables(name, library)
    known = next((n for n in (canonical(name), name.lower()) if n in NAMES), None)
    if known is not None:
        return OwnTables(known)
    from pypfm.perf.system import library_of
    return _tables(name, library_of(name, NAMES, "PMU "))


def kernel_name(kind: int, config: int) -> str:
    """Return perf's own name of an event of the kernel: that of an alias with the same encoding."""
    table = NAMES["perf"].table
    for i in range(table.count):
        e = table.events[i]
        if e.equiv == ffi.NULL or e.perf_type != kind:
            continue
        target = table.events[e.target]
        code = target.code
        for n in range(e.num_implied):
            code |= target.umasks[e.implied[n]].code
        if code == config:
            return string(e.name).lower()
    return f"type{kind}/config={config:#x}/"


def _device(kind: int) -> str:
    """Return the name that the running kernel has for a type of events."""
    for file in sorted(glob("/sys/bus/event_source/devices/*/type")):
        with suppress(OSError, ValueError), open(file, encoding="ascii") as stream:
            if int(stream.read()) == kind:
                return os.path.basename(os.path.dirname(file))
    return f"type{kind}"


def _attr_fields(attr: Any) -> dict[str, int]:
    """Return the fields of perf_event_attr that are not 0."""
    found = {"type": int(attr.type), "size": int(attr.size), "config": int(attr.config)}
    for name in ("config1", "config2", "sample_period", "freq", "precise_ip", "exclusive", "pinned", "exclude_user",
                 "exclude_kernel", "exclude_hv", "exclude_host", "exclude_guest"):
        if value := int(getattr(attr, name)):
            found["sample_freq" if name == "sample_period" and attr.freq else name] = value
    return found


def _level_letters(attr: Any) -> str:
    """Return perf's modifiers; an event without a mode counts in all modes; in neither user nor kernel mode: ``h``."""
    letters = ("" if attr.exclude_user else "u") + ("" if attr.exclude_kernel else "k")
    others = (("G", attr.exclude_host and not attr.exclude_guest), ("D", attr.pinned), ("e", attr.exclusive))
    return (letters or "h") + "p" * int(attr.precise_ip) + "".join(letter for letter, is_set in others if is_set)


class Goldmont(Pmu):
    """The Intel Goldmont core PMU: 34 events, 4 generic counters.

    :param corrected: encode ``CPU_CLK_UNHALTED:CORE_P`` and ``:REF`` with event 0x3c, as Intel's
        event list says; libpfm 4.13.0 has 0x00
    """

    def __init__(self, *, corrected: bool = False) -> None:
        super().__init__("glm")
        if expect_flag(corrected, "corrected"):
            self._left_out = {("CPU_CLK_UNHALTED", 0): 0x3C, ("CPU_CLK_UNHALTED", 1): 0x3C}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), {"_left_out": self._left_out}

    def average_latency(self, *requests: str, plm: int | str = Plm.PLM3) -> AverageLatency:
        """Return the two events that measure the average latency of offcore requests.

        :param requests: request unit masks, such as ``DMND_DATA_RD``; none: ANY_REQUEST

        Source: libpfm_intel_glm(3), OFFCORE_RESPONSE events.
        """
        for request in requests:
            offcore.check_request(self["OFFCORE_RESPONSE_1"], request)
        names = ":".join(requests or ("ANY_REQUEST",))
        return AverageLatency(self.encode(f"OFFCORE_RESPONSE_0:{names}:OUTSTANDING", plm=plm),
                              self.encode(f"OFFCORE_RESPONSE_1:{names}:ANY_RESPONSE", plm=plm))

    def parse_average_latency(self, text: str, *, plm: int | str = Plm.PLM3) -> AverageLatency:
        """Parse the two events in the manual's notation.

        :param text: ``OFFCORE_RESPONSE_0:...:OUTSTANDING+OFFCORE_RESPONSE_1:...:ANY_RESPONSE``
        :raises Pfm4Error: the requests differ, or there are other unit masks
        """
        first, second = offcore.split_pair(text, self.name)
        requests = offcore.requests_of_pair(self["OFFCORE_RESPONSE_0"], first, second)
        return self.average_latency(*requests, plm=plm)


class Perf(Pmu):
    """The generic events of the Linux kernel: hardware, software and cache events."""

    def __init__(self) -> None:
        super().__init__("perf")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def _perf_spelling(self, codes: tuple[int, ...], attr: Any) -> str:
        levels = _level_letters(attr)
        return kernel_name(int(attr.type), codes[0]) + (f":{levels}" if levels else "")


class RawPerf(Pmu):
    """The PMU of libpfm 4 whose events are raw codes: r1c4."""

    def __init__(self) -> None:
        super().__init__("perf_raw")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()
