"""The generic API where recorded answers cannot reach: initialisation, the environment, the
order of checks, what a failing call leaves behind.

The library's state is global and never goes back to "not initialised", so most of these
tests run a few lines in a process of their own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from conftest import REPLAY, TESTS
from dispatching import PMUS, Pmu, request
from fresh import fresh_python
from pypfm import pfm3

NOTSUPP, INVAL, NOINIT = pfm3.PFMLIB_ERR_NOTSUPP, pfm3.PFMLIB_ERR_INVAL, pfm3.PFMLIB_ERR_NOINIT
PREAMBLE = """
import json, os, sys
from pypfm.pfm3 import *
def kind():
    cell = c_int(-7)
    return pfm_get_pmu_type(cell), cell.value
"""
PATH = ":".join(map(str, (TESTS / "pfm3", REPLAY)))


def answer(code: str, **env: str) -> Any:
    """What an expression evaluates to in a fresh process (the last line; lines before it are run)."""
    *before, last = code.strip().splitlines()
    source = "\n".join([PREAMBLE, *before, f"print(json.dumps(({last})))"])
    done = fresh_python(source, PYTHONPATH=PATH, **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# ---- 1, 3, 4: before initialisation -------------------------------------------------

BEFORE = """
event, mask, inp, out = pfmlib_event_t(), pfmlib_regmask_t(), pfmlib_input_param_t(), pfmlib_output_param_t()
name, u, i, size, text = create_string_buffer(64), c_uint(9), c_int(9), c_size_t(9), c_char_p()
calls = {
    "pfm_get_pmu_name": (name, 64), "pfm_get_pmu_type": (i,), "pfm_is_pmu_supported": (3,),
    "pfm_find_event": ("CPU_CYCLES", u), "pfm_find_event_byname": ("CPU_CYCLES", u),
    "pfm_find_event_bycode": (0x12, u), "pfm_find_event_bycode_next": (0x12, 0, u),
    "pfm_find_event_mask": (0, "M", u), "pfm_find_full_event": ("CPU_CYCLES", event),
    "pfm_get_max_event_name_len": (size,), "pfm_get_num_events": (u,), "pfm_get_num_event_masks": (0, u),
    "pfm_get_event_name": (0, name, 64), "pfm_get_full_event_name": (event, name, 64),
    "pfm_get_event_code": (0, i), "pfm_get_event_code_counter": (0, 4, i),
    "pfm_get_event_mask_code": (0, 0, u), "pfm_get_event_counters": (0, mask),
    "pfm_get_event_description": (0, text), "pfm_get_event_mask_name": (0, 0, name, 64),
    "pfm_get_event_mask_description": (0, 0, text), "pfm_dispatch_events": (inp, None, out, None),
    "pfm_get_impl_pmcs": (mask,), "pfm_get_impl_pmds": (mask,), "pfm_get_impl_counters": (mask,),
    "pfm_get_num_pmds": (u,), "pfm_get_num_pmcs": (u,), "pfm_get_num_counters": (u,),
    "pfm_get_hw_counter_width": (u,), "pfm_get_cycle_event": (event,),
    "pfm_get_inst_retired_event": (event,),
}
nulls = {n: tuple(a if type(a) is int else None for a in args) for n, args in calls.items()}
"""


def test_every_checked_function_before_initialisation() -> None:
    """NOINIT comes before the arguments are looked at, and nothing is stored."""
    good, null, stored = answer(BEFORE + """
good = {n: globals()[n](*args) for n, args in calls.items()}
null = {n: globals()[n](*args) for n, args in nulls.items()}
good, null, [u.value, i.value, size.value, text.value, name.value.decode(), bytes(mask)[0]]
""")
    assert len(good) == 31
    assert good == null == dict.fromkeys(good, NOINIT)
    assert stored == [9, 9, 9, None, "", 0]


def test_checked_functions_are_those_that_say_so() -> None:
    functions = [n for n in pfm3.__all__ if callable(getattr(pfm3, n))]
    documented = [n for n in functions if "PFMLIB_ERR_NOINIT" in (getattr(pfm3, n).__doc__ or "")]
    assert sorted(answer(BEFORE + "list(calls)")) == sorted(documented)


def test_force_pmu_alone_initialises() -> None:
    assert answer("""
from dispatching import ITANIUM2
before = kind()
ret = pfm_force_pmu(3)
name = create_string_buffer(32)
[before, ret, kind(), pfm_get_pmu_name(name, 32), name.value.decode(), ITANIUM2.dispatch("CPU_CYCLES").as_recorded()]
""") == [[NOINIT, -7], 0, [0, 3], 0, "itanium2",
         {"ret": 0, "pmcs": [[4, 4, 4, "0x1228"]], "pmds": [[4, 4, 4]]}]


def test_unknown_type_has_three_answers() -> None:
    """...and does not change the selected PMU."""
    assert answer("""
before = pfm_force_pmu(99), kind()[0], pfm_is_pmu_supported(99)
forced = pfm_force_pmu(4)
name = create_string_buffer(8)
[before, forced, pfm_force_pmu(5), pfm_force_pmu(-1), pfm_force_pmu(0), pfm_is_pmu_supported(5), \
pfm_is_pmu_supported(3), pfm_get_pmu_name_bytype(5, name, 8), kind()]
""") == [[NOTSUPP, NOINIT, NOINIT], 0, NOTSUPP, NOTSUPP, NOTSUPP, NOTSUPP, 0, INVAL, [0, 4]]


# ---- 2: LIBPFM_FORCE_PMU, LIBPFM_IA64_CPUID3 --------------------------------------------

@pytest.mark.parametrize(("value", "expected"), [
    ("3", 3), ("4", 4), ("3x", 3), (" 3", 3), ("+4", 4), ("", None), ("abc", None), ("-1", None),
    ("0", None), ("99", None), ("5", None), ("2", 2), ("1", 1),
    # Names: of libpfm 3, of pypfm's commands, of libpfm 4.
    ("IA-64", 1), ("itanium", 2), ("itanium2", 3), ("dual-core Itanium 2", 4), ("gen_ia64", 1), ("ia64", 1), ("montecito", 4),
    ("ita", 2), ("ita2", 3), ("mont", 4), ("ITANIUM2", 3), ("Montecito", 4), ("DUAL-CORE ITANIUM 2", 4),
    ("itan", None), ("itanium3", None), ("itanium2 ", None), (" itanium2", None), ("glm", None), ("itanium2,x", None)])
def test_force_pmu_variable(value: str, expected: int | None) -> None:
    got = answer("pfm_initialize(), kind()", LIBPFM_FORCE_PMU=value)
    assert got == ([0, [0, expected]] if expected else [NOTSUPP, [NOINIT, -7]])


ITANIUM2_CPUID, MONTECITO_CPUID, ITANIUM_CPUID = "0x1f010504", "0x20000704", "0x07000804"


@pytest.mark.parametrize(("value", "expected"), [
    (ITANIUM2_CPUID, 3), ("0X1F010504", 3), (str(0x1f010504), 3), (f"0{0x1f010504:o}", 3),
    ("0x1001f000000", 3), (MONTECITO_CPUID, 4), (str(0x20000704), 4), ("0x20ffffff", 4),
    (ITANIUM_CPUID, 2), ("0x07ffffff", 2), ("garbage", None), ("", None), ("0x21000000", None), ("31", None),
    (ITANIUM2_CPUID + " ", None), (ITANIUM2_CPUID + "x", None), ("-1", None), ("0x", None),
    ("1f010504", None), ("099", None), ("99999999999999999999999", None)])
def test_cpuid_variable(value: str, expected: int | None) -> None:
    got = answer("pfm_initialize(), kind()", LIBPFM_IA64_CPUID3=value)
    assert got == ([0, [0, expected]] if expected else [NOTSUPP, [NOINIT, -7]])


def test_a_file_that_nobody_writes(tmp_path: Path) -> None:
    """A FIFO in its place does not stop the initialisation."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    env = {"LIBPFM_IA64_PAL": str(fifo), "LIBPFM_IA64_CPUID3": "0x21000000"}
    assert answer("pfm_initialize(), kind()", **env) == [NOTSUPP, [NOINIT, -7]]


def test_nothing_is_detected_on_this_machine() -> None:
    assert answer("pfm_initialize(), kind()") == [NOTSUPP, [NOINIT, -7]]


def test_forced_type_persists_after_the_variable_is_gone() -> None:
    assert answer("""
first = pfm_initialize(), kind()
del os.environ["LIBPFM_FORCE_PMU"]
os.environ["LIBPFM_IA64_CPUID3"] = "0x20000704"
second = pfm_initialize(), kind()
os.environ["LIBPFM_FORCE_PMU"] = "-1"
[first, second, (pfm_initialize(), kind())]
""", LIBPFM_FORCE_PMU="3") == [[0, [0, 3]], [0, [0, 3]], [0, [0, 4]]]


def test_a_name_that_is_unknown_leaves_the_previous_pmu() -> None:
    assert answer("""
first = pfm_initialize(), kind()
os.environ["LIBPFM_FORCE_PMU"] = "glm"
second = pfm_initialize(), kind()
del os.environ["LIBPFM_FORCE_PMU"]
[first, second, (pfm_initialize(), kind())]
""", LIBPFM_FORCE_PMU="mont") == [[0, [0, 4]], [NOTSUPP, [0, 4]], [NOTSUPP, [0, 4]]]


def test_forced_type_goes_before_detection() -> None:
    env = {"LIBPFM_FORCE_PMU": "4", "LIBPFM_IA64_CPUID3": ITANIUM2_CPUID}
    assert answer("pfm_initialize(), kind()", **env) == [0, [0, 4]]
    env["LIBPFM_FORCE_PMU"] = "99"
    assert answer("pfm_initialize(), kind()", **env) == [NOTSUPP, [NOINIT, -7]]


def test_force_pmu_does_not_change_what_initialize_selects() -> None:
    assert answer("""
pfm_force_pmu(4)
[kind(), pfm_initialize(), kind()]
""", LIBPFM_IA64_CPUID3=ITANIUM2_CPUID) == [[0, 4], 0, [0, 3]]


def test_failing_initialize_keeps_the_previous_pmu() -> None:
    assert answer("""
first = pfm_initialize(), kind()
os.environ["LIBPFM_IA64_CPUID3"] = "0"
second = pfm_initialize(), kind()
os.environ["LIBPFM_FORCE_PMU"] = "99"
[first, second, (pfm_initialize(), kind())]
""", LIBPFM_IA64_CPUID3=MONTECITO_CPUID) == [[0, [0, 4]], [NOTSUPP, [0, 4]], [NOTSUPP, [0, 4]]]


FINE = """
from dispatching import ITANIUM2, ranges
def first():
    answer = ITANIUM2.dispatch("NOPS_RETIRED", irange=ranges((0x1010, 0x1050)))
    return [answer.ret, answer.irange.rr_br[0].reg_value]
"""


def test_fine_mode_workaround_is_for_a_detected_itanium2() -> None:
    """Detection sets it for the rest of the process; forcing alone leaves it clear."""
    assert answer(FINE + "pfm_initialize(), first()", LIBPFM_FORCE_PMU="3",
                  LIBPFM_IA64_CPUID3=ITANIUM2_CPUID) == [0, [0, 0x1010]]
    assert answer(FINE + """
pfm_force_pmu(3)
before = first()
pfm_initialize()
detected = first()
os.environ["LIBPFM_FORCE_PMU"] = "3"
[before, detected, pfm_initialize(), first(), pfm_force_pmu(4), pfm_force_pmu(3), first()]
""", LIBPFM_IA64_CPUID3=ITANIUM2_CPUID) == [[0, 0x1010], [0, 0x1000], 0, [0, 0x1000], 0, 0, [0, 0x1000]]


# ---- 5: options -----------------------------------------------------------------------

DISPATCH = """
from dispatching import MONTECITO
if MONTECITO.dispatch("CPU_OP_CYCLES_ALL").ret: sys.exit("dispatch failed")
"""
LINE = "[PMC4(pmc4)="


def streams(code: str, **env: str) -> tuple[bool, bool]:
    """Whether a request shows its registers on stdout and on stderr."""
    done = fresh_python(f"{PREAMBLE}\npfm_initialize()\n{code}\n{DISPATCH}", PYTHONPATH=PATH,
                      LIBPFM_FORCE_PMU="4", **env)
    assert done.returncode == 0, done.stderr
    return LINE in done.stdout, LINE in done.stderr


@pytest.mark.parametrize(("value", "shown"), [
    ("0", False), ("1", True), ("2", False), ("3", True), ("8", False), ("9", True),
    ("1x", True), ("10", True), ("21", False), ("x", False), ("", False), (" 1", False), ("-1", False)])
def test_verbose_variable_is_one_bit_of_one_digit(value: str, shown: bool) -> None:
    assert streams("", LIBPFM_VERBOSE=value) == (False, shown)


VERBOSE = "print(pfm_set_options(pfmlib_options_t(pfm_verbose=1)))"
QUIET = "print(pfm_set_options(pfmlib_options_t()))"


@pytest.mark.parametrize("variable", ["LIBPFM_VERBOSE", "LIBPFM_DEBUG"])
@pytest.mark.parametrize(("value", "shown"), [("0", False), ("2", False), ("x", True), ("", True)])
def test_a_digit_blocks_set_options(variable: str, value: str, shown: bool) -> None:
    assert streams(VERBOSE, **{variable: value}) == (False, shown)


def test_environment_beats_set_options() -> None:
    assert streams(QUIET, LIBPFM_VERBOSE="1") == (False, True)


def test_set_options_answers_success_even_if_ignored() -> None:
    for env in ({}, {"LIBPFM_VERBOSE": "0"}):
        assert answer("pfm_initialize(), pfm_set_options(pfmlib_options_t()), pfm_set_options(None)",
                      LIBPFM_FORCE_PMU="3", **env) == [0, 0, INVAL]


def test_set_options_works_without_environment() -> None:
    assert streams("") == (False, False)
    assert streams(VERBOSE) == (False, True)
    assert streams(VERBOSE + "\n" + QUIET) == (False, False)


@pytest.mark.parametrize("value", ["", "0", "yes"])
def test_debug_stdout_moves_messages(value: str) -> None:
    assert streams("", LIBPFM_VERBOSE="1", LIBPFM_DEBUG_STDOUT=value) == (True, False)


def test_verbose_after_force_pmu_alone() -> None:
    """The reference has no stream then, and crashes."""
    done = fresh_python(f"{PREAMBLE}\npfm_force_pmu(4)\n{VERBOSE}\n{DISPATCH}", PYTHONPATH=PATH)
    assert done.returncode == 0, done.stderr
    assert LINE in done.stderr


# ---- pfm_list_supported_pmus() -------------------------------------------------------

def test_list_supported_pmus() -> None:
    heading = [["supported PMU models: "], ["[%s] ", "dual-core Itanium 2"], ["[%s] ", "itanium2"],
               ["[%s] ", "itanium"], ["[%s] ", "IA-64"]]
    before, after, null = answer("""
calls = []
pfm_list_supported_pmus(lambda *args: calls.append(args))
before, calls = calls, []
pfm_force_pmu(3)
pfm_list_supported_pmus(lambda *args: calls.append(args))
[before, calls, pfm_list_supported_pmus(None)]
""")
    last = "\ndetected host PMU: %s\n"
    assert before == [*heading, [last, "not detected yet"]]
    assert after == [*heading, [last, "itanium2"]]
    assert null == INVAL


# ---- arguments -------------------------------------------------------------------------

@pytest.fixture(params=list(PMUS.values()), ids=list(PMUS))
def pmu(request: pytest.FixtureRequest) -> Pmu:
    """Each model in turn, selected."""
    request.param.select()
    chosen: Pmu = request.param
    return chosen


@pytest.mark.parametrize("maxlen", [1, 4, 8, 9, 30])
def test_pmu_name_is_cut_and_padded(maxlen: int) -> None:
    PMUS["itanium2"].select()
    for call in (lambda b: pfm3.pfm_get_pmu_name(b, maxlen), lambda b: pfm3.pfm_get_pmu_name_bytype(3, b, maxlen)):
        buffer = bytearray(b"x" * 32)
        assert call(buffer) == 0
        assert bytes(buffer) == b"itanium2"[:maxlen - 1].ljust(maxlen, b"\0") + b"x" * (32 - maxlen)


# ---- 19 to 21: pfm_dispatch_events(), generic part -----------------------------------------

GARBAGE = b"\xa5"


def dirty_output() -> pfm3.pfmlib_output_param_t:
    out = pfm3.pfmlib_output_param_t()
    return type(out).from_buffer_copy(GARBAGE * len(bytes(out)))


def raw(struct: Any) -> bytes:
    return bytes(struct)


def edited(pmu: Pmu, **fields: Any) -> pfm3.pfmlib_input_param_t:
    """A good request for one event, then with other fields."""
    inp = request([pmu.cycles])
    for name, value in fields.items():
        setattr(inp, name, value)
    return inp


def with_event(pmu: Pmu, **fields: int) -> pfm3.pfmlib_input_param_t:
    """A request for a good event and one with other fields."""
    inp = request([pmu.cycles, pmu.cycles])
    for name, value in fields.items():
        setattr(inp.pfp_events[1], name, value)
    return inp


def refused(pmu: Pmu) -> list[tuple[pfm3.pfmlib_input_param_t, int]]:
    """Requests that the generic checks refuse, with the code: each would fail a later check as well."""
    first_bad = with_event(pmu, event=637)
    first_bad.pfp_events[0].num_masks = 1
    return [
        (edited(pmu, pfp_dfl_plm=0, pfp_event_count=pmu.counters + 1), INVAL),
        (edited(pmu, pfp_dfl_plm=0, pfp_event_count=0), INVAL),
        (edited(pmu, pfp_event_count=512), INVAL),
        (edited(pmu, pfp_event_count=2**32 - 1), INVAL),
        (edited(pmu, pfp_event_count=511), pfm3.PFMLIB_ERR_NOASSIGN),
        (edited(pmu, pfp_event_count=pmu.counters + 1), pfm3.PFMLIB_ERR_NOASSIGN),
        (with_event(pmu, event=637), INVAL),
        (with_event(pmu, event=2**32 - 1), INVAL),
        (with_event(pmu, num_masks=1), pfm3.PFMLIB_ERR_UMASK),
        (with_event(pmu, num_masks=2**32 - 1), pfm3.PFMLIB_ERR_UMASK),
        (first_bad, pfm3.PFMLIB_ERR_UMASK),
    ]


def test_generic_checks_in_order_leave_the_output_alone(pmu: Pmu) -> None:
    for inp, ret in refused(pmu):
        out = dirty_output()
        before = raw(inp)
        # Model output without input would be refused, too, but only by the model.
        assert pfm3.pfm_dispatch_events(inp, None, out, pmu.output_type()) == ret
        assert set(raw(out)) == set(GARBAGE)
        assert raw(inp) == before


def test_output_is_zeroed_once_the_generic_checks_pass(pmu: Pmu) -> None:
    out = dirty_output()
    assert pfm3.pfm_dispatch_events(request([pmu.cycles]), None, out, None) == 0
    assert (out.pfp_pmc_count, out.pfp_pmd_count) == (1, 1)
    out.pfp_pmcs[0] = out.pfp_pmds[0] = pfm3.pfmlib_reg_t()
    out.pfp_pmc_count = out.pfp_pmd_count = 0
    assert raw(out) == bytes(len(raw(out)))


def test_model_output_without_model_input(pmu: Pmu) -> None:
    """The first check of the model: the generic ones have passed, so the output is zeroed."""
    out, model_out = dirty_output(), pmu.output_type()
    assert pfm3.pfm_dispatch_events(request([pmu.cycles]), None, out, model_out) == INVAL
    assert raw(out) == bytes(len(raw(out)))


def test_counts_are_of_the_stages_that_completed(pmu: Pmu) -> None:
    events = [pmu.cycles, "L1I_EAR_TLB_ALL", "DATA_EAR_CACHE_LAT4"]
    registers = [(0, 0), (3, 3), (4, 5)]
    codes = []
    for unavailable, counts in zip(([4, 5, 6, 7, *range(8, 16)], [pmu.iear], [pmu.dear]), registers,
                                   strict=True):
        answer = pmu.dispatch(*events, unavail=unavailable)
        codes.append(answer.ret)
        assert (answer.out.pfp_pmc_count, answer.out.pfp_pmd_count) == counts
    assert codes == [pfm3.PFMLIB_ERR_NOASSIGN] * 3
