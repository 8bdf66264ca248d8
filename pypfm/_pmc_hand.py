"""Functions of libpmc whose call from Python needs more than the generated wrapper.

``argp`` is a pointer to anything in C; here it has to point to what the operation uses.
"""

from __future__ import annotations

from typing import Any, cast

from pypfm._mirror import CData, Cell, callers
from pypfm._pmc import ffi, lib

__all__ = ["advance", "c_uint64", "pmc_control", "pmc_get_info", "pmc_model_advance"]

_call = callers(lib).call


class c_uint64(Cell[int], ffi=ffi, ctype="uint64_t"):
    """A cell that holds a uint64_t."""


_CONTROL = dict.fromkeys((lib.PMC_OP_CONFIGURE, lib.PMC_OP_PROFSTART), "struct pmc_counter_cfg")
_INFO = {
    lib.PMC_INFO_NCOUNTERS: "int", lib.PMC_INFO_CPUCTR_TYPE: "int",
    lib.PMC_INFO_COUNTER_VALUE: "uint64_t", lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE: "uint64_t",
}


def _check(argp: object, wanted: str | None) -> None:
    """Refuse memory that is smaller than what C stores or reads, or Python's; a void * is C's own affair."""
    cdata = argp._cdata if isinstance(argp, Cell) else argp
    if wanted is None or cdata is None:
        return
    if not isinstance(cdata, CData):
        message = f"argp has to point to {wanted}, not to a Python {type(argp).__name__}"
        raise TypeError(message)
    ctype = ffi.typeof(cdata)
    given = ctype if ctype.kind in ("struct", "union") else ctype.item
    if given.kind == "void":
        return
    size = len(cast(Any, cdata)) * ffi.sizeof(given) if ctype.kind == "array" else ffi.sizeof(given)
    if size < ffi.sizeof(wanted):
        message = f"argp has to point to {wanted}, not {given.cname}"
        raise TypeError(message)


def pmc_control(ctr: int, op: int, argp: object) -> int:
    """Call C with what argp points to checked."""
    _check(argp, _CONTROL.get(op))
    return _call(lib.pmc_control, ctr, op, argp)


def pmc_get_info(ctr: int, op: int, argp: object) -> int:
    """Call C with what argp points to checked."""
    _check(argp, _INFO.get(op))
    return _call(lib.pmc_get_info, ctr, op, argp)


def advance(state: object, event_id: int, count: int) -> int:
    """pmc_state_advance(), one overflow at a time: Python runs signal handlers between C calls only."""
    while True:
        step = min(count, lib.pmc_state_step(state, event_id))
        ret = lib.pmc_state_advance(state, event_id, step)
        count -= step
        if ret or not count:
            return ret


def pmc_model_advance(event_id: int, count: int) -> int:
    """Call C, one overflow at a time."""
    count = ffi.new("uint64_t *", count)[0]  # OverflowError
    state = lib.pmc_current()
    return -1 if state == ffi.NULL else advance(state, event_id, count)
