"""What the mirror and the classes on top cost, as ratios to the same work without them, measured in turns in one run.

    ratios.py              prints a table; exit status 1 where a ratio is more than 1.5 times the one written down
    ratios.py --write      writes the ratios down (ratios.json beside this file)

Times depend on the machine and on what else it does; ratios of two things that take turns hardly do.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

from pypfm._c.pfm3 import ffi, lib

from pypfm import Itanium2, pfm3
from pypfm.config import LIBRARIES

WRITTEN = Path(__file__).with_suffix(".json")
ALLOWED = 1.5  # times the ratio that is written down
EVENTS = ("CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED")
ROUNDS, BATCH_NS = 200, 200_000

Code = Callable[[], object]


class Subject(NamedTuple):
    """Two pieces of code that do the same; their results are equal."""

    work: str
    beside: str
    ours: Code
    theirs: Code


def plain(name: str) -> Any:
    """A structure as a program that uses ctypes alone declares it."""
    from pypfm.layout import ctypes_source, describe
    names: dict[str, Any] = {}
    exec(ctypes_source([describe(name, "pfm3")]), names)
    return names


def members() -> Iterator[Subject]:
    """Reading and writing structures, beside ctypes."""
    theirs = plain("pfmlib_input_param_t")
    inp, other = pfm3.pfmlib_input_param_t(pfp_event_count=4), theirs["pfmlib_input_param_t"](pfp_event_count=4)

    def get(structure: Any) -> int:
        return structure.pfp_event_count

    def set_(structure: Any) -> None:
        structure.pfp_event_count = 4

    def nested(structure: Any) -> int:
        return structure.pfp_events[0].event

    outp, their_out = pfm3.pfmlib_output_param_t(), plain("pfmlib_output_param_t")["pfmlib_output_param_t"]()
    for output in (outp, their_out):
        output.pfp_pmc_count = 4

    def registers(output: Any) -> list[tuple[int, int]]:
        return [(r.reg_num, r.reg_value) for r in output.pfp_pmcs[:output.pfp_pmc_count]]

    for name, code, one, two in (
            ("member, read", get, inp, other), ("member, set", set_, inp, other), ("member of an element", nested, inp, other),
            ("registers of 4 PMCs", registers, outp, their_out)):
        yield Subject(name, "ctypes", partial(code, one), partial(code, two))


def calls() -> Iterator[Subject]:
    """Calls, beside cffi's with all arguments prepared."""
    idx, cell = pfm3.c_uint(), ffi.new("unsigned int *")
    inp, outp = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8, pfp_event_count=1), pfm3.pfmlib_output_param_t()
    raw_in, raw_out = ffi.new("pfmlib_input_param_t *"), ffi.new("pfmlib_output_param_t *")
    raw_in.pfp_dfl_plm, raw_in.pfp_event_count = 8, 1
    model_in, model_out = pfm3.pfmlib_ita2_input_param_t(), pfm3.pfmlib_ita2_output_param_t()
    raw_model_in, raw_model_out = ffi.new("pfmlib_ita2_input_param_t *"), ffi.new("pfmlib_ita2_output_param_t *")
    find = partial(lib.pfm_find_event, b"CPU_CYCLES", cell)
    yield Subject("pfm_find_event, c_uint()", "cffi", lambda: pfm3.pfm_find_event("CPU_CYCLES", idx), find)
    event = inp.pfp_events[0]
    yield Subject("pfm_find_event, byref()", "cffi", lambda: pfm3.pfm_find_event("CPU_CYCLES", pfm3.byref(event, "event")), find)
    assert pfm3.pfm_find_event("CPU_CYCLES", pfm3.byref(inp.pfp_events[0], "event")) == 0
    raw_in.pfp_events[0].event = inp.pfp_events[0].event
    null = ffi.NULL
    yield Subject("pfm_dispatch_events, NULLs", "cffi", lambda: pfm3.pfm_dispatch_events(inp, None, outp, None),
                  partial(lib.pfm_dispatch_events, raw_in, null, raw_out, null))
    yield Subject("pfm_dispatch_events, structures", "cffi",
                  lambda: pfm3.pfm_dispatch_events(inp, model_in, outp, model_out),
                  partial(lib.pfm_dispatch_events, raw_in, raw_model_in, raw_out, raw_model_out))


def wholes() -> Iterator[Subject]:
    """All that a program does for four events, beside one that has ctypes, the shared library, and checks nothing."""
    library = ctypes.CDLL(str(LIBRARIES["pfm3"].path))
    assert library.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    theirs = plain("pfmlib_input_param_t") | plain("pfmlib_output_param_t")
    their_in, their_out = theirs["pfmlib_input_param_t"], theirs["pfmlib_output_param_t"]
    encoded = [name.encode() for name in EVENTS]

    def mirror() -> list[tuple[int, int]]:
        inp, outp, idx = pfm3.pfmlib_input_param_t(), pfm3.pfmlib_output_param_t(), pfm3.c_uint()
        for i, name in enumerate(EVENTS):
            assert pfm3.pfm_find_event(name, idx) == 0
            inp.pfp_events[i].event = idx.value
        inp.pfp_event_count, inp.pfp_dfl_plm = len(EVENTS), 8
        assert pfm3.pfm_dispatch_events(inp, None, outp, None) == 0
        return [(r.reg_num, r.reg_value) for r in outp.pfp_pmcs[:outp.pfp_pmc_count]]

    def plain_ctypes() -> list[tuple[int, int]]:
        inp, outp, idx = their_in(), their_out(), ctypes.c_uint()
        for i, name in enumerate(encoded):
            assert library.pfm_find_event(name, ctypes.byref(idx)) == 0
            inp.pfp_events[i].event = idx.value
        inp.pfp_event_count, inp.pfp_dfl_plm = len(EVENTS), 8
        assert library.pfm_dispatch_events(ctypes.byref(inp), None, ctypes.byref(outp), None) == 0
        return [(r.reg_num, r.reg_value) for r in outp.pfp_pmcs[:outp.pfp_pmc_count]]

    yield Subject("a whole call with results", "ctypes", mirror, plain_ctypes)
    itanium2 = Itanium2()

    def encode() -> list[tuple[int, int]]:
        return [(int(name[3:]), r.value) for name, r in itanium2.encode(EVENTS).registers.items()]

    yield Subject("Itanium2().encode, 4 events", "ctypes", encode, plain_ctypes)


def subjects() -> Iterator[Subject]:
    """All; each is good until the next one is asked for."""
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    for group in (members, calls, wholes):
        yield from group()


def _ns(code: Code, times: int) -> float:
    start = perf_counter_ns()
    for _ in range(times):
        code()
    return (perf_counter_ns() - start) / times


def measure(subject: Subject) -> tuple[float, float]:
    """Nanoseconds of both, the shortest of many turns."""
    batches = [max(1, int(BATCH_NS / max(_ns(code, 20), 1))) for code in (subject.ours, subject.theirs)]
    turns = [(_ns(subject.ours, batches[0]), _ns(subject.theirs, batches[1])) for _ in range(ROUNDS)]
    return min(ours for ours, _ in turns), min(theirs for _, theirs in turns)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the ratios down")
    args = parser.parse_args()
    written: dict[str, float] = json.loads(WRITTEN.read_text(encoding="utf-8")) if WRITTEN.exists() else {}
    found: dict[str, float] = {}
    print(f"{'work':34} {'beside':>7} {'us':>8} {'us':>8} {'ratio':>7} {'written':>8}")
    for subject in subjects():
        ours, theirs = measure(subject)
        ratio = found[subject.work] = round(ours / theirs, 2)
        print(f"{subject.work:34} {subject.beside:>7} {ours / 1000:8.3f} {theirs / 1000:8.3f} {ratio:7.2f}"
              f" {written.get(subject.work, float('nan')):8.2f}")
    if args.write:
        WRITTEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    slow = [work for work, ratio in found.items() if ratio > ALLOWED * written.get(work, 0)]
    for work in slow:
        print(f"{work}: {found[work]} is more than {ALLOWED} times {written.get(work, 'nothing')}, which is written down in"
              f" {WRITTEN.name}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
