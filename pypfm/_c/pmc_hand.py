"""Functions of libpmc whose call from Python needs more than the generated wrapper.

``argp`` is a pointer to anything in C; here it has to point to what the operation uses.
"""

from __future__ import annotations

from pypfm._c.mirror import REFUSED, Calls, integer
from pypfm._c.pmc import ffi, lib

__all__ = ["advance", "pmc_control", "pmc_get_info", "pmc_model_advance"]

_CONTROL = dict.fromkeys((lib.PMC_OP_CONFIGURE, lib.PMC_OP_PROFSTART), "struct pmc_counter_cfg *")
_INFO = {
    lib.PMC_INFO_NCOUNTERS: "int *", lib.PMC_INFO_CPUCTR_TYPE: "int *",
    lib.PMC_INFO_COUNTER_VALUE: "uint64_t *", lib.PMC_INFO_ACCUMULATED_COUNTER_VALUE: "uint64_t *",
}
_op = integer(ffi.typeof("int *"))


def _with_argp(call: Calls, name: str, wanted: dict[int, str], ctr: int, op: int, argp: object) -> int:
    try:
        ctype = wanted.get(_op(op))
    except REFUSED:
        ctype = None
    return call(name, ctr, op, argp, argp=call.converter(ctype)) if ctype else call(name, ctr, op, argp)


def pmc_control(call: Calls, ctr: int, op: int, argp: object) -> int:
    """Check the object that argp points to, and call C."""
    return _with_argp(call, "pmc_control", _CONTROL, ctr, op, argp)


def pmc_get_info(call: Calls, ctr: int, op: int, argp: object) -> int:
    """Check the object that argp points to, and call C."""
    return _with_argp(call, "pmc_get_info", _INFO, ctr, op, argp)


def advance(state: object, event_id: int, count: int) -> int:
    """Call pmc_state_advance() for one overflow at a time: Python runs signal handlers only between C calls."""
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
