"""pfm3_encode(), which Python fills a request for: the same answers as through the public structures."""

from __future__ import annotations

from typing import Any

import pytest
from pypfm._c.pfm3 import ffi, lib

ITANIUM2, MONTECITO = 3, 4
START, END = 0x4000000000001000, 0x4000000000001040


def registers(regs: Any, count: int) -> list[tuple[int, int, int, int]]:
    return [(r.reg_num, r.reg_value, r.reg_addr, r.reg_alt_addr) for r in regs[0:count]]


def dispatched(pmu: int, tag: str, event: int, matcher: str) -> tuple[object, ...]:
    """A retired event with a threshold, code ranges, both EARs and a matcher, through the public structures."""
    inp: Any = ffi.new("pfmlib_input_param_t *")
    out: Any = ffi.new("pfmlib_output_param_t *")
    model_in: Any = ffi.new(f"pfmlib_{tag}_input_param_t *")
    model_out: Any = ffi.new(f"pfmlib_{tag}_output_param_t *")
    inp.pfp_dfl_plm, inp.pfp_event_count, inp.pfp_events[0].event = 8, 1, event
    counter = getattr(model_in, f"pfp_{tag}_counters")[0]
    counter.flags, counter.thres = 1, 3
    for name in ("iear", "dear"):
        ear = getattr(model_in, f"pfp_{tag}_{name}")
        ear.ear_used, ear.ear_umask = 1, 3
    getattr(model_in, f"pfp_{tag}_{matcher}").opcm_used = 1
    ranges = getattr(model_in, f"pfp_{tag}_irange")
    ranges.rr_used = 1
    ranges.rr_limits[0].rr_start, ranges.rr_limits[0].rr_end = START, END
    answer: Any = ffi.new("struct pfm3_answer *")
    ret = lib.pfm3_dispatch(lib.pfm3_model_by_type(pmu), ffi.new("struct pfm3_settings *"), inp, model_in, out, model_out, answer)
    code = getattr(model_out, f"pfp_{tag}_irange")
    return (ret, registers(out.pfp_pmcs, out.pfp_pmc_count), registers(out.pfp_pmds, out.pfp_pmd_count),
            registers(code.rr_br, code.rr_nbr_used), list(answer.code_pairs))


def encoded(pmu: int, event: int, events: int = 1) -> tuple[object, ...]:
    """The same with a request of our own."""
    request: Any = ffi.new("struct pfm3_request *", {
        "plm": 8, "event_count": events, "has_input": 1, "has_output": 1,
        "events": [{"event": event, "flags": lib.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK, "threshold": 3}],
        "iear": {"used": 1, "umask": 3}, "dear": {"used": 1, "umask": 3}, "matchers": [{"used": 1}],
        "code": {"used": 1, "limits": [{"start": START, "end": END}]},
    })
    encoding: Any = ffi.new("struct pfm3_encoding *")
    ret = lib.pfm3_encode(lib.pfm3_model_by_type(pmu), ffi.new("struct pfm3_settings *"), request, encoding)
    answer = encoding.answer
    return (ret, registers(encoding.pmcs, answer.pmc_count), registers(encoding.pmds, answer.pmd_count),
            registers(answer.code.regs, answer.code.count), list(answer.code_pairs))


@pytest.mark.parametrize(("pmu", "tag", "event", "matcher"), [
    (ITANIUM2, "ita2", 270, "pmc8"), (MONTECITO, "mont", 635, "opcm1")])
def test_both_ways_to_one_answer(pmu: int, tag: str, event: int, matcher: str) -> None:
    got = encoded(pmu, event)
    assert got == dispatched(pmu, tag, event, matcher)
    assert got[0] == lib.PFMLIB_SUCCESS
    assert all(got[1:])


@pytest.mark.parametrize(("count", "ret"), [(5, "PFMLIB_ERR_NOASSIGN"), (511, "PFMLIB_ERR_NOASSIGN"),
                                            (512, "PFMLIB_ERR_INVAL"), (0xFFFFFFFF, "PFMLIB_ERR_INVAL")])
def test_more_events_than_there_is_room_for(count: int, ret: str) -> None:
    assert encoded(ITANIUM2, 270, count)[:3] == (getattr(lib, ret), [], [])
