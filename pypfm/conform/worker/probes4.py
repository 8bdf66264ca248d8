"""Probes of the structures of libpfm 4; their ``size`` member says how large the caller's is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pypfm.conform.vectors import PMU_IDS
from pypfm.conform.worker.probing import ROOM, NoPmuError, ProbeError, text_of, written

if TYPE_CHECKING:
    from pypfm._c.loading import Functions
    from pypfm.conform.model import Json
    from pypfm.conform.worker.probing import Probe

__all__ = ["probes"]

_PMUS = {name: PMU_IDS[name] for name in ("glm", "perf")}
_EVENTS = {  # event string and interface: 0 the PMU's own, 2 perf_event with its modifiers
    "glm::ICACHE:HIT:u": 0, "glm::UNHALTED_CORE_CYCLES:k:e": 0, "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD": 0,
    "perf::CYCLES:u": 2, "perf::PAGE-FAULTS:k": 2, "glm::OFFCORE_RESPONSE_1:DMND_RFO:cpu=3": 2,
    "glm::ICACHE:HIT:period=1000": 2,
}
_PLM = 8 | 1
_ATTRIBUTES = 3
_OS_NONE, _OS_EXT = 0, 2


def probes() -> dict[str, tuple[str, str, Probe]]:
    """Return the probes of libpfm 4.

    :return: by name, the type that each is about, its kind (writes) and the probe
    """
    found: dict[str, tuple[str, str, Probe]] = {
        f"PMU {name}": ("pfm_pmu_info_t", "writes", partial(_pmu, name)) for name in _PMUS}
    for text, os in _EVENTS.items():
        found[f"event {text}"] = ("pfm_event_info_t", "writes", partial(_event, text, os))
        for n in range(_ATTRIBUTES):
            found[f"attribute {n} of {text}"] = ("pfm_event_attr_info_t", "writes", partial(_attribute, text, os, n))
        if os == _OS_NONE:
            found[f"codes of {text}"] = ("pfm_pmu_encode_arg_t", "writes", partial(_codes, text))
        else:
            found[f"argument of {text}"] = ("pfm_perf_encode_arg_t", "writes", partial(_perf, text, False))
            found[f"perf_event_attr of {text}"] = ("struct perf_event_attr", "writes", partial(_perf, text, True))
    return found


def _sized(ffi: Any, ctype: str) -> Any:
    """Return a function that sets what a caller has to: nothing but the size."""
    def prepare(pointer: Any) -> None:
        ffi.memmove(pointer, bytes(ffi.sizeof(ctype)), ffi.sizeof(ctype))
        pointer.size = ffi.sizeof(ctype)
    return prepare


def _start(ffi: Any, functions: Functions, about: str) -> None:
    """Initialise the library.

    :param about: what the probe is about, with the PMU before ``::``
    """
    if ret := functions.pfm_initialize():
        raise ProbeError("pfm_initialize()", ret)
    pmu, room = about.partition("::")[0], ffi.new("unsigned char[]", ffi.sizeof("pfm_pmu_info_t") + ROOM)
    if functions.pfm_get_pmu_info(_PMUS[pmu], ffi.cast("pfm_pmu_info_t *", room)) == functions.lib.PFM_ERR_NOTSUPP:
        raise NoPmuError(pmu)


def _query(ffi: Any, ctype: str, call: Any) -> Json:
    def prepare(pointer: Any) -> None:
        pointer.size = ffi.sizeof(ctype)
    return written(ffi, ctype, call, prepare, text_of)


def _pmu(name: str, ffi: Any, functions: Functions) -> Json:
    _start(ffi, functions, name)
    return _query(ffi, "pfm_pmu_info_t", lambda info: functions.pfm_get_pmu_info(_PMUS[name], info))


def _index(text: str, ffi: Any, functions: Functions) -> int:
    _start(ffi, functions, text)
    event = ":".join(text.split(":")[:3])
    found: int = functions.pfm_find_event(event.encode())
    if found < 0:
        raise ProbeError(f'pfm_find_event("{event}")', found)
    return found


def _event(text: str, os: int, ffi: Any, functions: Functions) -> Json:
    index = _index(text, ffi, functions)
    return _query(ffi, "pfm_event_info_t", lambda info: functions.pfm_get_event_info(index, os, info))


def _attribute(text: str, os: int, n: int, ffi: Any, functions: Functions) -> Json:
    index = _index(text, ffi, functions)
    return _query(ffi, "pfm_event_attr_info_t",
                  lambda info: functions.pfm_get_event_attr_info(index, n, os, info))


def _codes(text: str, ffi: Any, functions: Functions) -> Json:
    _start(ffi, functions, text)
    return written(ffi, "pfm_pmu_encode_arg_t", lambda arg: functions.pfm_get_os_event_encoding(
        text.encode(), _PLM, _OS_NONE, arg), _sized(ffi, "pfm_pmu_encode_arg_t"), text_of)


def _perf(text: str, look_at_attr: bool, ffi: Any, functions: Functions) -> Json:
    """Probe the argument, or the attributes that it points to."""
    _start(ffi, functions, text)
    encode = functions.pfm_get_os_event_encoding
    size = _sized(ffi, "pfm_perf_encode_arg_t")
    if look_at_attr:
        arg = ffi.new("pfm_perf_encode_arg_t *")

        def call(attr: Any) -> int:
            size(arg)
            arg.attr = attr
            return int(encode(text.encode(), _PLM, _OS_EXT, arg))
        return written(ffi, "struct perf_event_attr", call, _sized(ffi, "struct perf_event_attr"))
    attr = ffi.new("struct perf_event_attr *")

    def prepare(pointer: Any) -> None:
        size(pointer)
        attr[0] = ffi.new("struct perf_event_attr *", {"size": ffi.sizeof("struct perf_event_attr")})[0]
        pointer.attr = attr
    return written(ffi, "pfm_perf_encode_arg_t", lambda p: encode(text.encode(), _PLM, _OS_EXT, p), prepare, text_of)
