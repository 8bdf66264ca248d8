"""Probes of the structures of libpfm 3, in either layout."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pypfm.conform.worker.leaves import leaves
from pypfm.conform.worker.probing import ROOM, ProbeError, at_page_end, changes, written
from pypfm.layout.mirrors import ffi_of

if TYPE_CHECKING:
    from pypfm._c.loading import Functions
    from pypfm.conform.model import Json
    from pypfm.conform.worker.probing import Probe

__all__ = ["probes"]

_MODELS = {"ita2": 3, "mont": 4, "ita": 2}  # what pfm_force_pmu() takes
_EVENTS = {"ita2": ("CPU_CYCLES", "NOPS_RETIRED", "LOADS_RETIRED", "IA64_INST_RETIRED"),
           "mont": ("CPU_OP_CYCLES_ALL", "NOPS_RETIRED", "LOADS_RETIRED", "IA64_INST_RETIRED"),
           "ita": ("CPU_CYCLES", "NOPS_RETIRED", "LOADS_RETIRED", "IA64_INST_RETIRED")}
_PLM = (8, 2, 4, 1)
_UNCHECKED = [{"flags": 1}] * 4  # NO_QUALCHECK: events that do not support what is tried are taken
_PMCS, _PMDS = 8, 8 + 512 * 32  # where the registers of a pfmlib_output_param_t begin
_LARGE_ROOM = 1 << 14  # bytes
_REGISTERS = 40 * 32  # bytes of them that are looked at
_EVENT_BYTES, _UNAVAILABLE = 16 + 3 * 232, 118800  # of a pfmlib_input_param_t: three events; the mask after all of them


def _ranges(*limits: tuple[int, int, int]) -> dict[str, object]:
    """Return address ranges: level, start, end."""
    rows = [{"rr_plm": plm, "rr_start": start, "rr_end": end} for plm, start, end in limits]
    return {"rr_used": 1, "rr_limits": rows}


_DATA = _ranges((8, 0x10000, 0x10040), (4, 0x100000, 0x100040))
_CODE = _ranges((8, 0x20010, 0x22F60))  # not aligned: more is covered than asked for


# Settings that models have under the same names.
_MATCHERS = {"pmc8": {"opcm_used": 1, "pmc_val": 0x1234567890ABCDEF},
             "pmc9": {"opcm_used": 1, "pmc_val": 0x7EDCBA0987654321}}
_EARS = {"iear": {"ear_used": 1, "ear_plm": 8, "ear_umask": 4}, "dear": {"ear_used": 1, "ear_plm": 4, "ear_umask": 2}}

# Model-specific requests that use each member: name, events by position, settings.
_REQUESTS: dict[str, dict[str, tuple[slice, dict[str, Any]]]] = {
    "ita2": {
        "counters": (slice(0, 3), {"counters": _UNCHECKED}),
        "opcode matchers": (slice(3, 4), {"counters": _UNCHECKED, **_MATCHERS}),
        "EARs and trace buffer": (slice(0, 3), {
            **_EARS, "btb": {"btb_used": 1, "btb_tm": 3, "btb_ptm": 1, "btb_ppm": 2, "btb_plm": 2}}),
        "data ranges": (slice(2, 3), {"counters": _UNCHECKED, "drange": _DATA}),
        "code ranges": (slice(1, 2), {"counters": _UNCHECKED, "irange": _CODE}),
    },
    "mont": {
        "counters": (slice(0, 3), {"counters": _UNCHECKED}),
        "opcode matchers": (slice(0, 3), {
            "counters": _UNCHECKED,
            "opcm1": {"opcm_used": 1, "opcm_m": 1, "opcm_match": 0x123456789, "opcm_mask": 0x1111},
            "opcm2": {"opcm_used": 1, "opcm_i": 1, "opcm_match": 0x987654321, "opcm_mask": 0x2222}}),
        "EARs and trace buffer": (slice(0, 3), {
            **_EARS, "etb": {"etb_used": 1, "etb_tm": 3, "etb_ptm": 1, "etb_ppm": 2, "etb_plm": 2}}),
        "IP-EAR": (slice(0, 3), {"ipear": {"ipear_used": 1, "ipear_plm": 4, "ipear_delay": 7}}),
        "data ranges": (slice(2, 3), {"counters": _UNCHECKED, "drange": _DATA}),
        "code ranges": (slice(1, 2), {"counters": _UNCHECKED, "irange": _CODE}),
    },
    "ita": {
        "counters": (slice(0, 3), {"counters": _UNCHECKED}),
        "opcode matchers": (slice(3, 4), {"counters": _UNCHECKED, **_MATCHERS}),
        "EARs and trace buffer": (slice(0, 3), {
            **_EARS, "btb": {"btb_used": 1}}),
        "data ranges": (slice(2, 3), {"counters": _UNCHECKED, "drange": _DATA}),
        "code ranges": (slice(1, 2), {"counters": _UNCHECKED, "irange": _CODE}),
    },
}


def probes() -> dict[str, tuple[str, str, Probe]]:
    """Return the probes of libpfm 3.

    :return: by name, the type that each is about, its kind (writes, reads, guard) and the probe
    """
    found: dict[str, tuple[str, str, Probe]] = {}
    for tag in _MODELS:
        model_in, model_out = f"pfmlib_{tag}_input_param_t", f"pfmlib_{tag}_output_param_t"
        for name in _REQUESTS[tag]:
            about = f"{tag} {name}"
            found |= {
                f"{about}: writes output": ("pfmlib_output_param_t", "writes", partial(_writes, tag, name, False)),
                f"{about}: writes {model_out}": (model_out, "writes", partial(_writes, tag, name, True)),
                f"{about}: reads {model_in}": (model_in, "reads", partial(_reads_model, tag, name)),
                f"{about}: guards {model_in}": (model_in, "guard", partial(_guarded, tag, name, 1)),
                f"{about}: guards {model_out}": (model_out, "guard", partial(_guarded, tag, name, 3)),
            }
        found |= {
            f"{tag}: reads input": ("pfmlib_input_param_t", "reads", partial(_reads_generic, tag)),
            f"{tag}: guards input": ("pfmlib_input_param_t", "guard", partial(_guarded, tag, "counters", 0)),
            f"{tag}: guards output": ("pfmlib_output_param_t", "guard", partial(_guarded, tag, "counters", 2)),
        }
        for function in ("pfm_get_impl_pmcs", "pfm_get_impl_pmds", "pfm_get_impl_counters"):
            found[f"{tag}: {function}"] = ("pfmlib_regmask_t", "writes", partial(_mask, tag, function))
        for event in _EVENTS[tag]:
            found[f"{tag}: finds {event}"] = ("pfmlib_event_t", "writes", partial(_full_event, tag, event))
    return found


# ---- requests ------------------------------------------------------------------------

def _start(tag: str, functions: Functions) -> None:
    if ret := functions.pfm_force_pmu(_MODELS[tag]):
        raise ProbeError(f"pfm_force_pmu({_MODELS[tag]})", ret)


def _generic(tag: str, name: str, ffi: Any, functions: Functions) -> dict[str, object]:
    """Return the generic part of a request, as ffi.new() takes it."""
    events = []
    chosen = _REQUESTS[tag][name][0]
    for event, plm in list(zip(_EVENTS[tag], _PLM, strict=True))[chosen]:
        index = ffi.new("unsigned int *")
        if ret := functions.pfm_find_event(event.encode(), index):
            raise ProbeError(f'pfm_find_event("{event}")', ret)
        # Events that a range applies to have its privilege level.
        events.append({"event": index[0], "plm": 0 if "ranges" in name else plm})
    return {"pfp_event_count": len(events), "pfp_dfl_plm": 8, "pfp_events": events}


def _model(tag: str, name: str) -> dict[str, object]:
    return {f"pfp_{tag}_{member}": value for member, value in _REQUESTS[tag][name][1].items()}


def _roomy(ffi: Any, ctype: str, init: dict[str, object]) -> tuple[Any, Any]:
    """Make a structure with room for one with larger elements; return the pointer and the memory."""
    memory = ffi.new("unsigned char[]", ffi.sizeof(ctype) + _LARGE_ROOM)
    pointer = ffi.cast(f"{ctype} *", memory)
    pointer[0] = ffi.new(f"{ctype} *", init)[0]
    return pointer, memory


class _Dispatch:
    """Calls of pfm_dispatch_events() with one request after another."""

    def __init__(self, tag: str, ffi: Any, functions: Functions, generic: Any, model: Any) -> None:
        self._ffi, self._call = ffi, functions.pfm_dispatch_events
        self._request = (generic, model)
        self._out, out = _roomy(ffi, "pfmlib_output_param_t", {})
        self._model_out, model_out = _roomy(ffi, f"pfmlib_{tag}_output_param_t", {})
        self._buffers = (ffi.buffer(out), ffi.buffer(model_out))
        self._zeros = tuple(bytes(len(b)) for b in self._buffers)

    def answer(self) -> tuple[int, bytes]:
        for buffer, zeros in zip(self._buffers, self._zeros, strict=True):
            buffer[:] = zeros
        ret = self._call(*self._request, self._out, self._model_out)
        out, model = self._buffers
        return ret, out[0:_PMCS + _REGISTERS] + out[_PMDS:_PMDS + _REGISTERS] + model[:] if ret == 0 else b""


# ---- probes ---------------------------------------------------------------------------

def _writes(tag: str, name: str, model: bool, ffi: Any, functions: Functions) -> Json:
    """Find out what pfm_dispatch_events() writes into the generic or the model-specific output."""
    _start(tag, functions)
    request, _memory = _roomy(ffi, "pfmlib_input_param_t", _generic(tag, name, ffi, functions))
    settings, _more = _roomy(ffi, f"pfmlib_{tag}_input_param_t", _model(tag, name))
    generic_out, model_out = "pfmlib_output_param_t", f"pfmlib_{tag}_output_param_t"

    def zero(pointer: Any) -> None:
        ffi.memmove(pointer, bytes(ffi.sizeof(model_out)), ffi.sizeof(model_out))

    def call(out: Any) -> int:
        other, _keep = _roomy(ffi, generic_out if model else model_out, {})
        outputs = (other, out) if model else (out, other)
        return int(functions.pfm_dispatch_events(request, settings, *outputs))
    # The caller has to zero the model-specific output.
    return written(ffi, model_out, call, zero) if model else written(ffi, generic_out, call)


def _reads_model(tag: str, name: str, ffi: Any, functions: Functions) -> Json:
    _start(tag, functions)
    ctype = f"pfmlib_{tag}_input_param_t"
    generic, _memory = _roomy(ffi, "pfmlib_input_param_t", _generic(tag, name, ffi, functions))
    model, memory = _roomy(ffi, ctype, _model(tag, name))
    return changes(ffi.buffer(memory), range(ffi.sizeof(ctype) + ROOM),
                   _Dispatch(tag, ffi, functions, generic, model).answer, _pairs(ffi, ctype))


def _reads_generic(tag: str, ffi: Any, functions: Functions) -> Json:
    """Probe the generic input; of the 512 events, three are looked at."""
    _start(tag, functions)
    generic, memory = _roomy(ffi, "pfmlib_input_param_t", _generic(tag, "counters", ffi, functions))
    model, _more = _roomy(ffi, f"pfmlib_{tag}_input_param_t", _model(tag, "counters"))
    offsets = [*range(_EVENT_BYTES), *range(_UNAVAILABLE, ffi.sizeof("pfmlib_input_param_t") + ROOM)]
    return changes(ffi.buffer(memory), offsets, _Dispatch(tag, ffi, functions, generic, model).answer,
                   _pairs(ffi, "pfmlib_input_param_t"))


def _pairs(ffi: Any, ctype: str) -> list[tuple[int, int, int]]:
    """Return pairs of members of the same size in one structure, which a library could have exchanged."""
    api = "pfm3" if ffi is ffi_of("pfm3") else "pfm3-manual"
    return [(a.offset, b.offset, a.size) for a, b in combinations(leaves(api, ctype), 2)
            if a.size == b.size and [c[:2] for c in a.chain] == [c[:2] for c in b.chain]]


def _guarded(tag: str, name: str, which: int, ffi: Any, functions: Functions) -> Json:
    """Call pfm_dispatch_events() with one of its four structures at the end of a page."""
    _start(tag, functions)
    types = ("pfmlib_input_param_t", f"pfmlib_{tag}_input_param_t", "pfmlib_output_param_t",
             f"pfmlib_{tag}_output_param_t")
    values: tuple[dict[str, object], ...] = (_generic(tag, name, ffi, functions), _model(tag, name), {}, {})
    pointers = [at_page_end(ffi, ctype, init) if n == which else _roomy(ffi, ctype, init)
                for n, (ctype, init) in enumerate(zip(types, values, strict=True))]
    arguments = [p[0] if isinstance(p, tuple) else p for p in pointers]
    return {"ret": functions.pfm_dispatch_events(*arguments)}


def _mask(tag: str, function: str, ffi: Any, functions: Functions) -> Json:
    _start(tag, functions)
    return written(ffi, "pfmlib_regmask_t", getattr(functions, function))


def _full_event(tag: str, event: str, ffi: Any, functions: Functions) -> Json:
    _start(tag, functions)
    return written(ffi, "pfmlib_event_t", lambda e: functions.pfm_find_full_event(event.encode(), e))
