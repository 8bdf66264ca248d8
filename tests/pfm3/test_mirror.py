"""The mirror itself: structures, cells, buffers and strings, whatever the library does with them."""

from __future__ import annotations

import array
import ctypes
import gc
import inspect
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from dispatching import ITANIUM2, MONTECITO, NO_QUALCHECK, ranges, request
from pypfm import pfm3
from pypfm._c import names
from pypfm._c.mirror import take_string
from pypfm._c.structures import Structure, Union
from pypfm.pfm3 import byref, ffi, lib

INVAL = pfm3.PFMLIB_ERR_INVAL


@pytest.fixture(autouse=True)
def _selected() -> None:
    ITANIUM2.select()


def raw(struct: Any) -> bytes:
    return bytes(struct)


PUBLIC = [getattr(pfm3, n) for n in pfm3.__all__ if n not in {"ffi", "lib"}]
STRUCTS = [s for s in PUBLIC if isinstance(s, type) and issubclass(s, (Structure, Union))]
FUNCTIONS = [f for f in PUBLIC if inspect.isfunction(f) and f.__name__ not in {*names.__all__, "smpl_entries"}]
# Those of the kernel interface: they set errno.
PERFMON2 = [f for f in FUNCTIONS if re.search(r"Source: (perfmon2|perfmonctl|pypfm\.|.*operating-system glue)", f.__doc__ or "")]


# ---- structures -------------------------------------------------------------------------

def test_there_are_structures_of_all_three_headers() -> None:
    names = {s.__name__ for s in STRUCTS}
    assert {"pfmlib_event_t", "pfmlib_ita2_ear_t", "pfmlib_mont_etb_t", "pfm_ita2_pmc_reg_t"} <= names


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda s: s.__name__)
def test_structure_is_zeroed_and_has_the_size_of_c(struct: Any) -> None:
    first = struct()
    size = ffi.sizeof(struct.__name__)
    ctypes.memset(ctypes.addressof(first), 0xFF, size)
    del first
    assert raw(struct()) == bytes(size)
    assert struct.__doc__


def test_structure_owns_its_memory() -> None:
    kept = [pfm3.pfmlib_output_param_t(pfp_pmc_count=i) for i in range(20)]
    for _ in range(200):
        pfm3.pfmlib_output_param_t(pfp_pmc_count=2**32 - 1)
    gc.collect()
    assert [out.pfp_pmc_count for out in kept] == list(range(20))


def test_cffi_sees_the_same_memory() -> None:
    event = pfm3.pfmlib_event_t()
    theirs: Any = ffi.from_buffer("pfmlib_event_t *", event)
    theirs.plm = 5
    assert event.plm == 5
    event.plm = 6
    assert theirs.plm == 6


def test_structures_made_at_once_are_apart() -> None:
    one, two = pfm3.pfmlib_event_t(plm=1), pfm3.pfmlib_event_t(plm=2)
    one.event = 9
    assert (one.plm, two.plm, two.event) == (1, 2, 0)


def test_keyword_initialisers_nest() -> None:
    event, mask = pfm3.pfmlib_event_t, pfm3.pfmlib_regmask_t
    inp = pfm3.pfmlib_input_param_t(
        pfp_event_count=2, pfp_dfl_plm=8, pfp_events=(event(event=3), event(event=4, unit_masks=(7, 8))),
        pfp_unavail_pmcs=mask(bits=(1, 2)))
    assert (inp.pfp_event_count, inp.pfp_dfl_plm, inp.pfp_flags) == (2, 8, 0)
    assert [e.event for e in list(inp.pfp_events)[:3]] == [3, 4, 0]
    assert list(inp.pfp_events[1].unit_masks)[:3] == [7, 8, 0]
    assert list(inp.pfp_unavail_pmcs.bits)[:3] == [1, 2, 0]
    limit, limits = pfm3.pfmlib_ita2_input_rr_desc_t, pfm3.pfmlib_ita2_input_rr_t
    model = pfm3.pfmlib_ita2_input_param_t(pfp_ita2_irange=limits(rr_limits=(limit(rr_start=16), limit(rr_end=32))))
    assert model.pfp_ita2_irange.rr_limits[0].rr_start == 16
    assert model.pfp_ita2_irange.rr_limits[1].rr_end == 32


def test_bit_fields_and_unions() -> None:
    options = pfm3.pfmlib_options_t(pfm_verbose=1)
    assert raw(options) == b"\x02\0\0\0"
    register = pfm3.pfm_ita2_pmc_reg_t(pmc_val=0x2505028)
    assert (register.pmc_ita2_counter_reg.pmc_es, register.pmc_ita2_counter_reg.pmc_thres) == (0x50, 5)
    register.pmc_ita2_counter_reg.pmc_thres = 1
    assert register.pmc_val == 0x2105028


@pytest.mark.parametrize(("field", "said"), [
    ("evnt", "the nearest is event"), ("masks", "the nearest are num_masks, unit_masks"),
    ("xyz", "it has event, plm, flags, unit_masks, num_masks, reserved")])
def test_unknown_field_is_named_with_the_nearest(field: str, said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"pfmlib_event_t has no field '{field}'; {said}")):
        pfm3.pfmlib_event_t(plm=3, **{field: 1})


def test_unknown_attribute() -> None:
    event = pfm3.pfmlib_event_t()
    with pytest.raises(AttributeError):
        event.evnt = 1
    with pytest.raises(AttributeError):
        _ = event.evnt


def test_isinstance_is_by_c_type() -> None:
    inp = pfm3.pfmlib_input_param_t()
    assert isinstance(inp, pfm3.pfmlib_input_param_t)
    assert isinstance(inp.pfp_events[0], pfm3.pfmlib_event_t)
    assert not isinstance(inp, pfm3.pfmlib_output_param_t)
    assert not isinstance(byref(inp), pfm3.pfmlib_input_param_t)
    assert not isinstance(None, pfm3.pfmlib_event_t)


def test_values_outside_a_field_are_cut_as_in_c() -> None:
    event = pfm3.pfmlib_event_t(plm=-1)
    assert event.plm == 2**32 - 1
    event.plm = 2**32 + 5
    assert event.plm == 5
    assert pfm3.pfmlib_options_t(pfm_verbose=2) == pfm3.pfmlib_options_t()
    event.plm = 0
    with pytest.raises(TypeError):
        event.plm = "1"  # type: ignore[assignment]
    with pytest.raises(IndexError):
        event.unit_masks[48] = 1
    with pytest.raises((IndexError, RuntimeError)):  # the second: some versions of ctypes name the structure, too
        pfm3.pfmlib_event_t(unit_masks=(0,) * 49)
    assert raw(event) == bytes(len(raw(event)))


# ---- byref, cells ---------------------------------------------------------------------------

def test_byref_of_a_member_is_where_c_stores() -> None:
    inp = pfm3.pfmlib_input_param_t(pfp_event_count=2, pfp_dfl_plm=8)
    assert pfm3.pfm_find_event("CPU_CYCLES", byref(inp.pfp_events[0], "event")) == 0
    assert pfm3.pfm_find_event("NOPS_RETIRED", byref(inp, "pfp_events", 1, "event")) == 0
    assert [e.event for e in list(inp.pfp_events)[:2]] == [179, 463]


def test_part_of_a_structure_is_passed_by_address() -> None:
    inp = pfm3.pfmlib_input_param_t()
    assert pfm3.pfm_get_cycle_event(inp.pfp_events[3]) == 0
    assert inp.pfp_events[3].event == 179
    assert pfm3.pfm_get_impl_counters(inp.pfp_unavail_pmcs) == 0
    assert inp.pfp_unavail_pmcs.bits[0] == 0xf0


def test_byref_of_a_wrong_path() -> None:
    event = pfm3.pfmlib_event_t()
    with pytest.raises(AttributeError, match=r"byref\(\): pfmlib_event_t has no field 'evnt'; it has event, plm, "):
        byref(event, "evnt")
    with pytest.raises(TypeError):
        byref(3)  # type: ignore[arg-type]


def test_variables_and_arrays_are_ctypes_own() -> None:
    for name in names.__all__:
        assert name == "byref" or getattr(pfm3, name) is getattr(ctypes, name)
    assert pfm3.pfmlib_ita2_ear_mode_t is ctypes.c_uint


def test_cell_of_an_enumeration() -> None:
    mode = pfm3.pfmlib_ita2_ear_mode_t()
    assert pfm3.pfm_ita2_get_ear_mode(182, mode) == 0
    assert mode.value == pfm3.PFMLIB_ITA2_EAR_ALAT_MODE


def test_cell_of_a_wrong_type() -> None:
    with pytest.raises(TypeError):
        pfm3.pfm_get_num_events(pfm3.c_ulong())
    with pytest.raises(TypeError):
        pfm3.pfm_get_num_events(pfm3.pfmlib_event_t())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pfm3.pfm_get_num_events(5)  # type: ignore[arg-type]


# ---- strings and buffers ------------------------------------------------------------------------

def test_allocated_string_is_python_s_own() -> None:
    cell = pfm3.c_char_p()
    assert cell.value is None
    assert pfm3.pfm_get_event_description(179, cell) == 0
    assert isinstance(cell.value, bytes)
    assert cell.value
    first = cell.value
    assert pfm3.pfm_get_event_description(182, cell) == 0
    assert cell.value != first


def test_allocated_string_is_given_to_free() -> None:
    """The memory goes back: the pointer that C stored, once."""
    cell, freed = pfm3.c_char_p(), []
    assert lib.pfm_get_event_description(179, ffi.from_buffer("char **", cell)) == 0
    [pointer] = cast(Any, ffi.from_buffer("char *[1]", cell))
    take_string(cell, freed.append)
    assert freed == [pointer]
    assert cell.value == ffi.string(pointer)
    lib.free(pointer)


def test_failing_call_leaves_a_string_cell_alone() -> None:
    cell = pfm3.c_char_p()
    assert pfm3.pfm_get_event_description(9999, cell) == INVAL
    assert cell.value is None
    assert pfm3.pfm_get_event_description(179, cell) == 0
    kept = cell.value
    assert pfm3.pfm_get_event_description(9999, cell) == INVAL
    assert cell.value == kept


def test_string_buffer() -> None:
    buffer = pfm3.create_string_buffer(32)
    assert (len(buffer), buffer.value, buffer.raw) == (32, b"", bytes(32))
    assert pfm3.pfm_get_event_name(179, buffer, len(buffer)) == 0
    assert buffer.value == b"CPU_CYCLES"
    assert buffer.raw == b"CPU_CYCLES".ljust(32, b"\0")
    assert pfm3.pfm_get_event_name(179, byref(buffer, 4), 28) == 0
    assert buffer.value == b"CPU_CPU_CYCLES"
    short = ctypes.create_string_buffer(28)
    for given in (byref(buffer, 4), short, ctypes.cast(short, ctypes.POINTER(ctypes.c_char)), memoryview(bytearray(28))):
        with pytest.raises(ValueError, match="maxlen is 29, but the buffer has only 28 bytes"):
            pfm3.pfm_get_event_name(179, given, 29)


@pytest.mark.parametrize("make", [pfm3.create_string_buffer, bytearray, lambda n: ffi.new("char[]", n)])
def test_maxlen_beyond_the_buffer_is_refused(make: Any) -> None:
    calls = [
        lambda b, n: pfm3.pfm_get_pmu_name(b, n),
        lambda b, n: pfm3.pfm_get_pmu_name_bytype(3, b, n),
        lambda b, n: pfm3.pfm_get_event_name(179, b, n),
        lambda b, n: pfm3.pfm_get_full_event_name(pfm3.pfmlib_event_t(event=179), b, n),
        lambda b, n: pfm3.pfm_get_event_mask_name(179, 0, b, n),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="maxlen is 17, but the buffer has only 16 bytes"):
            call(make(16), 17)
        assert call(make(16), 16) in {0, pfm3.PFMLIB_ERR_NOTSUPP}


def test_bytearray_is_written_in_place() -> None:
    buffer = bytearray(b"x" * 16)
    assert pfm3.pfm_get_event_name(179, buffer, 16) == 0
    assert bytes(buffer) == b"CPU_CYCLES\0xxxxx"


def test_buffers_of_wrong_types() -> None:
    for wrong in (b"x" * 16, "x" * 16, 5, [0] * 16, memoryview(b"x" * 16), array.array("I", [0] * 16), (pfm3.c_uint * 16)(),
                  pfm3.c_char_p(b"x" * 16), byref(pfm3.c_uint()), byref((pfm3.c_uint * 16)(), 4)):
        with pytest.raises(TypeError, match=r"name wants a char \* to write to, not .*; write create_string_buffer\(\), "):
            pfm3.pfm_get_event_name(179, wrong, 16)
    for right in (memoryview(bytearray(16)), array.array("b", [1] * 16)):
        assert pfm3.pfm_get_event_name(179, right, 16) == 0
        assert bytes(right)[:11] == b"CPU_CYCLES\0"
    assert pfm3.pfm_get_event_name(179, None, 16) == INVAL


def test_size_is_unsigned_where_c_has_size_t() -> None:
    buffer = pfm3.create_string_buffer(16)
    with pytest.raises(OverflowError):
        pfm3.pfm_get_event_name(179, buffer, -1)
    assert pfm3.pfm_get_pmu_name(buffer, -1) == INVAL


def test_strings_in() -> None:
    index = pfm3.c_uint()
    for name in ("CPU_CYCLES", b"CPU_CYCLES", "cpu_cycles", ffi.new("char[]", b"CPU_CYCLES")):
        index.value = 0
        assert pfm3.pfm_find_event(name, index) == 0
        assert index.value == 179
    for name in ("ÉVÉNEMENT", b"\xff\xfe", "\udcff", ""):
        assert pfm3.pfm_find_event(name, index) == pfm3.PFMLIB_ERR_NOTFOUND


@pytest.mark.parametrize("text", ["CPU_CYCLES\0x", "\0", b"CPU\0"])
def test_nul_in_a_string_is_refused(text: str | bytes) -> None:
    for call in (pfm3.pfm_find_event, pfm3.pfm_find_event_byname):
        with pytest.raises(ValueError, match="NUL"):
            call(text, pfm3.c_uint())
    with pytest.raises(ValueError, match="NUL"):
        pfm3.pfm_find_event_mask(0, text, pfm3.c_uint())
    with pytest.raises(ValueError, match="NUL"):
        pfm3.pfm_find_full_event(text, pfm3.pfmlib_event_t())


@pytest.mark.parametrize("wrong", [5, 1.5, ["CPU_CYCLES"], pfm3.pfmlib_event_t()])
def test_strings_of_wrong_types(wrong: Any) -> None:
    with pytest.raises(TypeError):
        pfm3.pfm_find_event(wrong, pfm3.c_uint())


@pytest.mark.parametrize("call", [
    lambda: pfm3.pfm_get_event_code(-1, pfm3.c_int()), lambda: pfm3.pfm_ita2_is_ear(-1),
    lambda: pfm3.pfm_ita2_is_ear(2**32), lambda: pfm3.pfm_force_pmu(2**31),
    lambda: pfm3.pfm_find_event_bycode_next(0, -1, pfm3.c_uint())])
def test_numbers_that_do_not_fit_are_refused(call: Any) -> None:
    with pytest.raises(OverflowError):
        call()


@pytest.mark.parametrize("call", [
    lambda: pfm3.pfm_ita2_is_ear("179"), lambda: pfm3.pfm_ita2_is_ear(1.0),
    lambda: pfm3.pfm_force_pmu("itanium2"), lambda: pfm3.pfm_strerror(None),
    lambda: pfm3.pfm_dispatch_events(pfm3.pfmlib_output_param_t(), None, None, None),
    lambda: pfm3.pfm_set_options(1),
    lambda: pfm3.pfm_ita2_irange_is_fine(pfm3.pfmlib_output_param_t(), pfm3.pfmlib_mont_output_param_t())])
def test_arguments_of_wrong_types(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_model_structure_is_no_number() -> None:
    """void * in C: any structure will do, but a number will not."""
    inp, out, number = request(["CPU_CYCLES"]), pfm3.pfmlib_output_param_t(), 5
    with pytest.raises(TypeError):
        pfm3.pfm_dispatch_events(inp, number, out, None)  # type: ignore[arg-type]


# ---- register masks, macros ------------------------------------------------------------------------

def mask_of(*bits: int) -> pfm3.pfmlib_regmask_t:
    mask = pfm3.pfmlib_regmask_t()
    for bit in bits:
        assert pfm3.pfm_regmask_set(mask, bit) == 0
    return mask


def bits_of(mask: pfm3.pfmlib_regmask_t) -> list[int]:
    return [bit for bit in range(600) if pfm3.pfm_regmask_isset(mask, bit)]


def test_regmask_bits() -> None:
    mask = mask_of(0, 63, 64, 511)
    assert bits_of(mask) == [0, 63, 64, 511]
    assert list(mask.bits) == [1 | 1 << 63, 1, 0, 0, 0, 0, 0, 1 << 63]
    assert pfm3.pfm_regmask_clr(mask, 63) == 0
    assert bits_of(mask) == [0, 64, 511]
    for bit in (512, 2**32 - 1):
        assert pfm3.pfm_regmask_set(mask, bit) == pfm3.pfm_regmask_clr(mask, bit) == INVAL
        assert pfm3.pfm_regmask_isset(mask, bit) == 0
    assert bits_of(mask) == [0, 64, 511]


def test_regmask_weight_and_not() -> None:
    mask, weight = mask_of(3, 5, 511), pfm3.c_uint()
    assert pfm3.pfm_regmask_weight(mask, weight) == 0
    assert weight.value == 3
    assert pfm3.pfm_regmask_not(mask) == 0
    assert bits_of(mask) == [b for b in range(512) if b not in {3, 5, 511}]
    assert pfm3.pfm_regmask_weight(mask, weight) == 0
    assert weight.value == 509


@pytest.mark.parametrize(("name", "expected"), [
    ("and", [64, 300]), ("or", [1, 64, 300, 511]), ("andnot", [1])])
def test_regmask_operators_and_aliasing(name: str, expected: list[int]) -> None:
    operator = getattr(pfm3, f"pfm_regmask_{name}")
    first, second, result = mask_of(1, 64, 300), mask_of(64, 300, 511), mask_of(9)
    assert operator(result, first, second) == 0
    assert bits_of(result) == expected
    assert (bits_of(first), bits_of(second)) == ([1, 64, 300], [64, 300, 511])
    assert operator(first, first, second) == 0
    assert bits_of(first) == expected
    first = mask_of(1, 64, 300)
    assert operator(second, first, second) == 0
    assert bits_of(second) == expected


def test_regmask_eq_and_copy() -> None:
    first, second = mask_of(1, 511), mask_of(1)
    assert pfm3.pfm_regmask_eq(first, second) == 0
    assert pfm3.pfm_regmask_copy(second, first) == 0
    assert pfm3.pfm_regmask_eq(first, second) == 1
    assert bits_of(second) == [1, 511]


def test_regmask_null() -> None:
    mask, weight = mask_of(1), pfm3.c_uint(9)
    assert pfm3.pfm_regmask_isset(None, 1) == 0
    assert pfm3.pfm_regmask_eq(None, mask) == pfm3.pfm_regmask_eq(mask, None) == 0
    assert pfm3.pfm_regmask_eq(None, None) == 0
    refused = [pfm3.pfm_regmask_set(None, 1), pfm3.pfm_regmask_clr(None, 1), pfm3.pfm_regmask_not(None),
               pfm3.pfm_regmask_weight(None, weight), pfm3.pfm_regmask_weight(mask, None),
               pfm3.pfm_regmask_copy(None, mask), pfm3.pfm_regmask_copy(mask, None)]
    for operator in (pfm3.pfm_regmask_and, pfm3.pfm_regmask_or, pfm3.pfm_regmask_andnot):
        refused += [operator(None, mask, mask), operator(mask, None, mask), operator(mask, mask, None)]
    assert set(refused) == {INVAL}
    assert (bits_of(mask), weight.value) == ([1], 9)


def test_macros() -> None:
    assert pfm3.PFMLIB_VERSION == 0x3000a
    assert pfm3.PFMLIB_MAJ_VERSION(pfm3.PFMLIB_VERSION) == 3
    assert pfm3.PFMLIB_MIN_VERSION(pfm3.PFMLIB_VERSION) == 10
    assert [pfm3.PFMLIB_BVSIZE(n) for n in (1, 64, 65, 512)] == [1, 1, 2, 8]
    assert pfm3.PFMLIB_REG_BV == len(pfm3.pfmlib_regmask_t().bits) == 8
    assert [pfm3.pfmlib_popcnt(n) for n in (0, 5, 2**64 - 1)] == [0, 2, 64]


# ---- documentation ------------------------------------------------------------------------------------

@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_docstring_names_parameters_and_answer(function: Any) -> None:
    """Macros of the header have a line; functions name each parameter and what they return."""
    assert function.__doc__
    if function.__name__.startswith(("PFMLIB_", "PFM_")):
        return
    named = re.findall(r":param (\w+):", function.__doc__)
    assert named == list(inspect.signature(function).parameters)
    assert ":return:" in function.__doc__


NO_CODE = re.compile(
    "PFMLIB_|pfm_(ita|ita2|mont)_(is_|support_|irange_is_fine)|pfm_regmask_(isset|eq)"
    "|pfmlib_popcnt|pfm_strerror|PFM_")


def test_perfmon2_functions_document_errno() -> None:
    assert len(PERFMON2) > 25
    assert [f.__name__ for f in PERFMON2 if not re.search(r"errno|:return: (what|as) `*pfm_", f.__doc__)] == []


def test_functions_that_answer_a_code_document_success_and_errors() -> None:
    library = [f for f in FUNCTIONS if not NO_CODE.match(f.__name__) and f not in PERFMON2]
    assert len(library) >= 60
    assert [f.__name__ for f in library if "PFMLIB_SUCCESS" not in f.__doc__] == []
    assert [f.__name__ for f in library if "PFMLIB_ERR_" not in f.__doc__] == []


# ---- callbacks, threads ------------------------------------------------------------------------------------

def test_listing_with_a_raising_callback() -> None:
    calls = []

    def pf(*args: str) -> None:
        calls.append(args)
        if len(calls) == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pfm3.pfm_list_supported_pmus(pf)
    assert len(calls) == 2  # not called again after it raised
    assert pfm3.pfm_list_supported_pmus(lambda *_: None) == 0


def test_listing_within_a_listing() -> None:
    inner, outer = [], []

    def pf(*args: str) -> None:
        outer.append(args)
        if len(outer) == 1:
            assert pfm3.pfm_list_supported_pmus(lambda *a: inner.append(a)) == 0

    assert pfm3.pfm_list_supported_pmus(pf) == 0
    assert inner == outer
    assert len(outer) == 6


def test_listing_ignores_what_the_callback_returns_and_wants_a_function() -> None:
    assert pfm3.pfm_list_supported_pmus(lambda *_: "anything") == 0
    assert pfm3.pfm_list_supported_pmus(None) == INVAL
    with pytest.raises(TypeError):
        pfm3.pfm_list_supported_pmus(5)  # type: ignore[arg-type]


def job(seed: int) -> tuple[Any, list[int]]:
    """A request of a thread's own, and the PMC values expected of it."""
    rng = random.Random(seed)
    thresholds = [rng.randrange(8) for _ in range(12)]
    plm, start = rng.randrange(1, 16), rng.randrange(1, 2**20) * 0x10000
    answer = MONTECITO.dispatch(*["NOPS_RETIRED"] * 12, dfl_plm=plm, irange=ranges((start, start + 0x100)),
                                counters=[{"thres": t, "flags": NO_QUALCHECK} for t in thresholds])
    expected = [0x2005000 | plm | t << 20 for t in thresholds]
    assert answer.irange.rr_br[0].reg_value == start
    assert answer.irange.rr_nbr_used == 4
    return answer.ret, [answer.pmcs[n] ^ e for n, e in zip(range(4, 16), expected, strict=True)]


def test_threads_with_structures_of_their_own() -> None:
    MONTECITO.select()
    barrier = threading.Barrier(8)

    def work(worker: int) -> list[tuple[Any, list[int]]]:
        barrier.wait(timeout=60)
        return [job(worker * 1000 + i) for i in range(150)]

    with ThreadPoolExecutor(8) as pool:
        answers = [answer for done in pool.map(work, range(8)) for answer in done]
    assert len(answers) == 1200
    assert [a for a in answers if a != (0, [0] * 12)] == []


def test_threads_that_list_at_once_see_their_own_lines() -> None:
    barrier = threading.Barrier(8)

    def work(worker: int) -> set[Any]:
        barrier.wait(timeout=60)
        seen = []
        for _ in range(100):
            assert pfm3.pfm_list_supported_pmus(lambda *args: seen.append((worker, args))) == 0
        assert len(seen) == 600
        return {w for w, _ in seen}

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [{w} for w in range(8)]


def test_the_structure_of_another_model_is_refused() -> None:
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_MONTECITO_PMU) == 0
    inp, out = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8), pfm3.pfmlib_output_param_t()
    with pytest.raises(TypeError, match="wants pfmlib_mont_input_param_t, not pfmlib_ita2_input_param_t"):
        pfm3.pfm_dispatch_events(inp, pfm3.pfmlib_ita2_input_param_t(), out, None)
    with pytest.raises(TypeError, match="wants pfmlib_mont_output_param_t"):
        pfm3.pfm_dispatch_events(inp, pfm3.pfmlib_mont_input_param_t(), out, pfm3.byref(pfm3.pfmlib_ita2_output_param_t()))
    assert pfm3.pfm_dispatch_events(inp, pfm3.byref(pfm3.pfmlib_mont_input_param_t()), out, None) == 0
