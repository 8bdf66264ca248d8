"""Intel Goldmont and the Linux generic events as Python objects.

Everything here goes through the re-entrant half of the C library: it works on
any host, needs no environment variable and does not touch what ``pypfm.pfm4`` sees.
"""

from __future__ import annotations

import errno
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pypfm._c.mirror import string
from pypfm._c.pfm4 import ffi, lib
from pypfm.common.arguments import expect_choice, expect_flag, expect_type
from pypfm.errors import CountingError, InvalidTypeError, Pfm4PromiseError, Pfm4ValueError, in_hex, shown
from pypfm.levels import Plm, parse_plm
from pypfm.perf import diagnose, offcore
from pypfm.perf.counting import PerfEvent, is_always_0
from pypfm.perf.encoding import AverageLatency, Encoding
from pypfm.perf.events import OS_LAYERS, Events, Os, error_name

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Goldmont", "Perf", "Pmu"]

Check = Literal["manual", "reference"]
_USER, _KERNEL = 1 << 16, 1 << 17


class Pmu(Events):
    """A PMU of libpfm 4; `Goldmont` and `Perf` are the ones to use.

    It is a mapping of its events by name, in upper or lower case, and equal to others that encode alike.
    """

    #: The interface of `encode` where none is asked for.
    default_os: ClassVar[Os] = "none"
    _levels_in_code: ClassVar[bool] = False  # the code has bits for user and kernel mode

    def _encoded(self, text: str, os: int, plm: int) -> tuple[Any, Any, int]:
        """Encode; what is wrong is an error."""
        ret, request, attr, cpu = self.run(text, os, plm)
        if ret:
            raise diagnose.error(self, text, os, plm, ret)
        return request, attr, cpu

    def encode(self, event: str, *, plm: int | str = Plm.PLM3, os: Os | None = None,
               check: Check = "manual") -> Encoding:
        """Compute the codes of an event string.

        :param event: ``[PMU::]EVENT[:UMASK...][:MODIFIER[=VALUE]...]``
        :param plm: privilege levels where the string names none
        :param os: interface: raw codes ("none"), or perf_event without or with its own modifiers
            (period, freq, precise, excl, cpu, pinned); None: raw codes of a processor's events,
            "perf_event_ext" of the kernel's
        :param check: "manual" raises where the string breaks a rule of the manual page that the C
            library lets pass; "reference" does as C does
        :raises Pfm4Error: the string is not valid; the message names the token and what is allowed
        :raises InvalidArgumentError: another argument is not
        """
        expect_type(event, str, "event string")
        layer = OS_LAYERS[expect_choice(self.default_os if os is None else os, OS_LAYERS, "os")]
        expect_choice(check, ("manual", "reference"), "check")
        levels = parse_plm(plm)
        if levels & ~lib.PFM4_ALL_PLM:
            raise Pfm4ValueError(lib.PFM_ERR_INVAL, "PFM_ERR_INVAL", event,
                f"privilege levels {in_hex(levels)}: bits 0 to 4 are allowed (0x0 to {lib.PFM4_ALL_PLM:#x})")
        request, attr, cpu = self._encoded(event, layer, levels)
        name, canonical = string(request.event.name), f"{self.name}::{string(request.string)}"
        codes = [int(c) for c in request.codes[0:request.num_codes]]
        if layer == lib.PFM_OS_NONE:
            # The perf_event layer has no hardware modifiers k and u: the levels go in as its own.
            attr = self._attr_of(event, codes[0], levels)
        elif self._levels_in_code:
            codes[0] = codes[0] & ~(_USER | _KERNEL) | (0 if attr.exclude_user else _USER) | (
                0 if attr.exclude_kernel else _KERNEL)
        left_out = self._left_out.get((name, codes[0] >> 8 & 0xFF), 0)
        codes[0] |= left_out
        attr.config |= left_out
        made = Encoding(
            pmu=self.name, event=name, codes=tuple(codes), string=canonical, attr=_attr_fields(attr),
            perf=self._perf_spelling(codes, attr), cpu=cpu,
            offcore=offcore.decode(self[name], codes[1]) if len(codes) > 1 else None,
            attr_bytes=bytes(ffi.buffer(attr)))
        if check == "manual":
            _check_manual(made)
        return made

    def _attr_of(self, text: str, code: int, levels: int) -> Any:
        _, attr, _ = self._encoded(text, lib.PFM_OS_PERF_EVENT, levels)
        if self._levels_in_code:
            attr.exclude_user, attr.exclude_kernel = not code & _USER, not code & _KERNEL
        return attr

    @abstractmethod
    def _perf_spelling(self, codes: list[int], attr: Any) -> str:
        """The event as ``perf stat -e`` takes it."""

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
        encoding = self.encode(event, plm=plm, os=os)
        if is_always_0(encoding.attr):
            raise CountingError(errno.EOPNOTSUPP,
                f"{encoding.string}: it happens in kernel mode only, which is excluded;"
                " with modifier k, or privilege level kernel, it is counted")
        with PerfEvent(encoding.attr_bytes, name=encoding.string, cpu=encoding.cpu) as counter:
            counter.start()
            work()
            counter.stop()
            return counter.count()


def _attr_fields(attr: Any) -> dict[str, int]:
    """The fields of perf_event_attr that say something."""
    found = {"type": int(attr.type), "size": int(attr.size), "config": int(attr.config)}
    for name in ("config1", "sample_period", "freq", "precise_ip", "exclusive", "pinned", "exclude_user",
                 "exclude_kernel", "exclude_hv", "exclude_host", "exclude_guest"):
        if value := int(getattr(attr, name)):
            found["sample_freq" if name == "sample_period" and attr.freq else name] = value
    return found


def _check_manual(encoding: Encoding) -> None:
    """Edge detection needs a counter mask (libpfm_intel_glm(3), MODIFIERS)."""
    fields = encoding.fields
    if fields.get("edge") and not fields["cmask"]:
        code = lib.PFM_ERR_ATTR_VAL
        raise Pfm4PromiseError(code, error_name(code), "e",
            f"{encoding.event}: modifier e needs a counter mask: c=1 to c=255")


def _level_letters(attr: Any) -> str:
    letters = ("" if attr.exclude_user else "u") + ("" if attr.exclude_kernel else "k")
    return letters + "p" * int(attr.precise_ip)


class Goldmont(Pmu):
    """The Intel Goldmont core PMU: 34 events, 4 generic counters.

    :param corrected: encode ``CPU_CLK_UNHALTED:CORE_P`` and ``:REF`` with event 0x3c, as Intel's
        event list says; libpfm 4.13.0 has 0x00
    """

    name = "glm"
    _pmu = lib.pfm4_pmu_at(lib.pfm4_place_of(lib.PFM_PMU_INTEL_GLM))
    _levels_in_code = True

    def __init__(self, *, corrected: bool = False) -> None:
        super().__init__()
        if expect_flag(corrected, "corrected"):
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
            offcore.check_request(self["OFFCORE_RESPONSE_1"], request)
        names = ":".join(requests or ("ANY_REQUEST",))
        return AverageLatency(self.encode(f"OFFCORE_RESPONSE_0:{names}:OUTSTANDING", plm=plm),
                              self.encode(f"OFFCORE_RESPONSE_1:{names}:ANY_RESPONSE", plm=plm))

    def parse_average_latency(self, text: str, *, plm: int | str = Plm.PLM3) -> AverageLatency:
        """The same from the manual's notation.

        :param text: ``OFFCORE_RESPONSE_0:...:OUTSTANDING+OFFCORE_RESPONSE_1:...:ANY_RESPONSE``
        :raises Pfm4Error: the requests differ, or there are other unit masks
        """
        first, second = offcore.split_pair(text, self.name)
        requests = offcore.requests_of_pair(self["OFFCORE_RESPONSE_0"], first, second)
        return self.average_latency(*requests, plm=plm)


class Perf(Pmu):
    """The generic events of the Linux kernel: hardware, software and cache events."""

    name = "perf"
    _pmu = lib.pfm4_pmu_at(lib.pfm4_place_of(lib.PFM_PMU_PERF_EVENT))
    default_os = "perf_event_ext"

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
