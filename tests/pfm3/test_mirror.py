"""The mirror itself: structures, cells, buffers and strings, whatever the library does with them."""

from __future__ import annotations

import array
import ctypes
import inspect
import re
from typing import Any, cast

import pytest

from dispatching import ITANIUM2
from pypfm import pfm3
from pypfm._c import names
from pypfm._c.mirror import take_string
from pypfm.pfm3 import byref, ffi, lib

INVAL = pfm3.PFMLIB_ERR_INVAL


@pytest.fixture(autouse=True)
def _selected() -> None:
    ITANIUM2.select()


PUBLIC = [getattr(pfm3, n) for n in pfm3.__all__ if n not in {"ffi", "lib"}]
FUNCTIONS = [f for f in PUBLIC if inspect.isfunction(f) and f.__name__ not in {*names.__all__, "smpl_entries"}]
# Those of the kernel interface: they set errno.
PERFMON2 = [f for f in FUNCTIONS if re.search(r"Source: (perfmon2|perfmonctl|pypfm\.|.*operating-system glue)", f.__doc__ or "")]


# ---- structures -------------------------------------------------------------------------

@pytest.mark.parametrize(("field", "said"), [
    ("evnt", "the nearest is event"), ("masks", "the nearest are num_masks, unit_masks"),
    ("xyz", "it has event, plm, flags, unit_masks, num_masks, reserved")])
def test_unknown_field_is_named_with_the_nearest(field: str, said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"pfmlib_event_t has no field '{field}'; {said}")):
        pfm3.pfmlib_event_t(plm=3, **{field: 1})


# ---- byref, cells ---------------------------------------------------------------------------

def test_variables_and_arrays_are_ctypes_own() -> None:
    for name in names.__all__:
        assert name == "byref" or getattr(pfm3, name) is getattr(ctypes, name)
    assert pfm3.pfmlib_ita2_ear_mode_t is ctypes.c_uint


# ---- strings and buffers ------------------------------------------------------------------------

def test_allocated_string_is_given_to_free() -> None:
    """The memory goes back: the pointer that C stored, once."""
    cell, freed = pfm3.c_char_p(), []
    assert lib.pfm_get_event_description(179, ffi.from_buffer("char **", cell)) == 0
    [pointer] = cast(Any, ffi.from_buffer("char *[1]", cell))
    take_string(cell, freed.append)
    assert freed == [pointer]
    assert cell.value == ffi.string(pointer)
    lib.free(pointer)


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


# ---- register masks, macros ------------------------------------------------------------------------

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


def test_the_structure_of_another_model_is_refused() -> None:
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_MONTECITO_PMU) == 0
    inp, out = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8), pfm3.pfmlib_output_param_t()
    with pytest.raises(TypeError, match="wants pfmlib_mont_input_param_t, not pfmlib_ita2_input_param_t"):
        pfm3.pfm_dispatch_events(inp, pfm3.pfmlib_ita2_input_param_t(), out, None)
    with pytest.raises(TypeError, match="wants pfmlib_mont_output_param_t"):
        pfm3.pfm_dispatch_events(inp, pfm3.pfmlib_mont_input_param_t(), out, pfm3.byref(pfm3.pfmlib_ita2_output_param_t()))
    assert pfm3.pfm_dispatch_events(inp, pfm3.byref(pfm3.pfmlib_mont_input_param_t()), out, None) == 0
