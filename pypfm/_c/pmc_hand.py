"""Functions of libpmc whose call from Python needs more than the generated wrapper.

``argp`` is a pointer to anything in C; here it has to point to what the operation uses.
"""

from __future__ import annotations

from typing import Any, cast

from pypfm._c.mirror import REFUSED, Calls, Cell, Converter, anything, integer, refused
from pypfm._c.pmc import ffi, lib

__all__ = ["advance", "c_uint64", "pmc_control", "pmc_get_info", "pmc_model_advance"]

class c_uint64(Cell[int], ffi=ffi, ctype="uint64_t"):
    """A cell that holds a uint64_t."""


_CONTROL = dict.fromkeys((lib.PMC_OP_CONFIGURE, lib.PMC_OP_PROFSTART), "struct pmc_counter_cfg")
_INFO = {
    lib.PMC_INFO_NCOUNTERS: "int", lib.PMC_INFO_CPUCTR_TYPE: "int",
    lib.PMC_INFO_COUNTER_VALUE: "uint64_t", lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE: "uint64_t",
}


_op = integer(ffi.typeof("int *"))


def _memory_of(wanted: str) -> Converter:
    """The converter of a pointer to at least the memory that C stores or reads; a void * is C's own affair."""
    size = ffi.sizeof(wanted)

    def convert(value: Any) -> Any:
        try:
            cdata = anything(value)
        except TypeError:
            raise refused(value, wanted, "has to point to") from None
        ctype = ffi.typeof(cdata)
        if ctype.item.kind == "void":
            return cdata
        count = len(cast(Any, cdata)) if ctype.kind == "array" else 1
        if ctype.item.kind in {"function", "pointer"} or count * ffi.sizeof(ctype.item) < size:
            raise refused(value, wanted, "has to point to")
        return cdata

    return convert


_MEMORY = {wanted: _memory_of(wanted) for wanted in {*_CONTROL.values(), *_INFO.values()}}


def _with_argp(call: Calls, name: str, wanted: dict[int, str], ctr: int, op: int, argp: object) -> int:
    try:
        memory = wanted.get(_op(op))
    except REFUSED:
        memory = None
    return call(name, ctr, op, argp, argp=_MEMORY[memory]) if memory else call(name, ctr, op, argp)


def pmc_control(call: Calls, ctr: int, op: int, argp: object) -> int:
    """Call C with what argp points to checked."""
    return _with_argp(call, "pmc_control", _CONTROL, ctr, op, argp)


def pmc_get_info(call: Calls, ctr: int, op: int, argp: object) -> int:
    """Call C with what argp points to checked."""
    return _with_argp(call, "pmc_get_info", _INFO, ctr, op, argp)


def advance(state: object, event_id: int, count: int) -> int:
    """pmc_state_advance(), one overflow at a time: Python runs signal handlers between C calls only."""
    while True:
        step = min(count, lib.pmc_state_step(state, event_id))
        ret = lib.pmc_state_advance(state, event_id, step)
        count -= step
        if ret or not count:
            return ret


def pmc_model_advance(call: Calls, event_id: int, count: int) -> int:
    """Call C, one overflow at a time."""
    event_id, count = call.arguments("pmc_model_advance", (event_id, count))
    state = lib.pmc_current()
    return -1 if state == ffi.NULL else advance(state, event_id, count)
