"""pypfm.pfm4 itself: what C allocates becomes Python's own and is freed, wrong structures are refused.

Memory is counted by the allocator (mallinfo2); a control shows that a leak would be seen.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mirror4 import mirror
from pypfm import pfm4
from pypfm._c import names
from pypfm.pfm4 import POINTER, byref, c_uint64, ffi, lib, pointer

TEXT = "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"
CODES = [0x5301B7, 0x10001]
FULL = TEXT + ":k=1:u=1:e=0:i=0:c=0"
PUBLIC = [getattr(pfm4, n) for n in pfm4.__all__ if n not in {"ffi", "lib"}]
FUNCTIONS = [f for f in PUBLIC if inspect.isfunction(f) and f.__name__ not in names.__all__]
CALLS = 20_000

needs_perf = pytest.mark.skipif(not Path("/proc/sys/kernel/perf_event_paranoid").exists(),
                                reason="no /proc/sys/kernel/perf_event_paranoid: the perf_event interfaces are off")


@pytest.fixture(autouse=True, scope="module")
def _initialised() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIBPFM_FORCE_PMU", "glm")
        pfm4.pfm_terminate()
        assert pfm4.pfm_initialize() == 0
    yield
    pfm4.pfm_terminate()


# ---- what C allocates ---------------------------------------------------------------------------

def none_argument(**fields: Any) -> tuple[Any, Any]:
    arg, fstr = pfm4.pfm_pmu_encode_arg_t(size=32, **fields), pfm4.c_char_p()
    arg.fstr = pointer(fstr)
    return arg, fstr


def encode_none() -> None:
    arg, fstr = none_argument()
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg) == 0
    assert (arg.codes[0], arg.codes[1], arg.count, fstr.value) == (*CODES, 2, FULL.encode())


def encode_perf() -> None:
    attr, fstr = pfm4.perf_event_attr(size=128), pfm4.c_char_p()
    arg = pfm4.pfm_perf_encode_arg_t(attr=pointer(attr), fstr=pointer(fstr), size=40)
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_PERF_EVENT, arg) == 0
    assert fstr.value == f"{TEXT}:e=0:i=0:c=0:u=1:k=1:mg=0:mh=1".encode()


def encode_older() -> None:
    codes, count, idx, fstr = POINTER(c_uint64)(), pfm4.c_int(), pfm4.c_int(), pfm4.c_char_p()
    assert not codes
    assert pfm4.pfm_get_event_encoding(TEXT, 9, fstr, idx, byref(codes), count) == 0
    assert (codes[:2], count.value, fstr.value, idx.value >> 21) == (CODES, 2, FULL.encode(), 202)


def encode_perf_older() -> None:
    attr, fstr, idx = pfm4.perf_event_attr(), pfm4.c_char_p(), pfm4.c_int()
    assert pfm4.pfm_get_perf_event_encoding(TEXT, 9, attr, fstr, idx) == 0
    assert (attr.config, attr.config1, attr.size, idx.value >> 21) == (0x1B7, 0x10001, 0, 202)
    assert fstr.value is not None


def fail() -> None:
    arg, fstr = none_argument()
    assert pfm4.pfm_get_os_event_encoding(TEXT + ":L2_HIT", 9, pfm4.PFM_OS_NONE, arg) == -5
    assert (bool(arg.codes), fstr.value) == (False, None)


def leak() -> None:
    """The control: cffi's own call, after which the memory is the caller's to free."""
    arg, _ = none_argument()
    assert lib.pfm_get_os_event_encoding(TEXT.encode(), 9, 0, ffi.from_buffer("pfm_pmu_encode_arg_t *", arg)) == 0


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def in_use() -> int:
    """Bytes that are allocated by malloc()."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("this C library has no mallinfo2()")
    libc.mallinfo2.restype = Mallinfo2
    gc.collect()
    info = libc.mallinfo2()
    return int(info.uordblks + info.hblkhd)


def growth(function: Callable[[], None]) -> int:
    for _ in range(100):
        function()
    before = in_use()
    for _ in range(CALLS):
        function()
    return in_use() - before


@pytest.mark.long
@pytest.mark.parametrize("function", [
    encode_none, pytest.param(encode_perf, marks=needs_perf), encode_older,
    pytest.param(encode_perf_older, marks=needs_perf), fail], ids=lambda f: f.__name__)
def test_memory_is_freed(function: Callable[[], None]) -> None:
    assert growth(function) < 5 * CALLS


def test_control_a_leak_is_seen() -> None:
    assert growth(leak) > 50 * CALLS


def ways(owner: Any) -> list[Any]:
    """A structure as each way to give it has it: as itself, by address, as an element and the pointer to one."""
    kind = pfm4.pfm_pmu_encode_arg_t
    return [owner, byref(owner), pointer(owner)] if isinstance(owner, kind) else [
        owner, owner[0], byref(owner), byref(owner[0]), pointer(owner[0])]


@pytest.mark.parametrize("make", [pfm4.pfm_pmu_encode_arg_t, pfm4.pfm_pmu_encode_arg_t * 2], ids=["structure", "array"])
@pytest.mark.long
def test_codes_and_string_of_one_structure_reached_in_each_way(make: Any) -> None:
    """What C allocated is Python's, and stays as long as the structure, whatever it was given by."""
    for at, _ in enumerate(ways(make())):
        owner = make()
        fstr = pfm4.c_char_p()
        arg = owner if isinstance(owner, pfm4.pfm_pmu_encode_arg_t) else owner[0]
        arg.fstr = pointer(fstr)
        assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, ways(owner)[at]) == 0
        gc.collect()
        other = [bytearray(b"x" * 16) for _ in range(100)]
        assert (arg.codes[:arg.count], fstr.value, len(other)) == (CODES, FULL.encode(), 100)


def test_codes_that_c_allocated_are_an_array_of_python_s() -> None:
    """Asked for once more, it is too short for a larger count, as any array of Python's."""
    arg, _ = none_argument()
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg) == 0
    arg.count = 3
    with pytest.raises(ValueError, match="codes is too short: count is 3, but it has only 2 elements"):
        pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg)


def test_an_array_that_is_shorter_than_its_count_is_refused() -> None:
    """C would write past its end."""
    for make in (lambda room: room, lambda room: pointer(c_uint64.from_buffer(room)), lambda room: ctypes.cast(room, POINTER(c_uint64))):
        arg, _ = none_argument(codes=make((c_uint64 * 1)()), count=2)
        with pytest.raises(ValueError, match="codes is too short: count is 2, but it has only 1 elements"):
            pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg)
    codes, count = ctypes.cast((c_uint64 * 2)(), POINTER(c_uint64)), pfm4.c_int(3)
    with pytest.raises(ValueError, match="codes is too short: count is 3, but it has only 2 elements"):
        pfm4.pfm_get_event_encoding(TEXT, 9, None, None, byref(codes), count)
    assert pfm4.pfm_get_event_encoding(TEXT, 9, None, None, byref(codes), None) == pfm4.PFM_ERR_INVAL


@pytest.mark.parametrize(("struct", "call"), [
    (pfm4.pfm_pmu_info_t, lambda s: pfm4.pfm_get_pmu_info(202, s)),
    (pfm4.pfm_event_info_t, lambda s: pfm4.pfm_get_event_info(202 << 21, pfm4.PFM_OS_NONE, s)),
    (pfm4.pfm_event_attr_info_t, lambda s: pfm4.pfm_get_event_attr_info(202 << 21, 0, pfm4.PFM_OS_NONE, s)),
    (pfm4.pfm_pmu_encode_arg_t, lambda s: pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, s)),
    (pfm4.pfm_perf_encode_arg_t, lambda s: pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_PERF_EVENT, s))],
    ids=lambda value: getattr(value, "__name__", "").replace("<lambda>", ""))
def test_a_structure_that_says_it_is_larger_is_refused(struct: Any, call: Any) -> None:
    """C would read past its end, to see whether what it does not know is 0."""
    size = ctypes.sizeof(struct)
    for given in (struct(size=size + 9), byref(struct(size=4096)), pointer(struct(size=2**63)), (struct * 1)(struct(size=size + 16))):
        with pytest.raises(ValueError, match=rf"is too short: its size is \d+, but it has only {size} bytes"):
            call(given)
    larger = type("larger", (struct,), {"_fields_": [("more", ctypes.c_uint64)]})
    assert call(larger(size=size + 8)) in {0, pfm4.PFM_ERR_INVAL}


def test_a_string_in_a_union_is_an_address() -> None:
    """A default may be a number: where it points to, there is no text."""
    info = pfm4.pfm_event_attr_info_t(dfl_bool=1)
    assert (info.dfl_str, info.dfl_val64) == (1, 1)
    assert repr(info) == "pfm_event_attr_info_t(dfl_val64=1)"


def test_a_structure_of_cffi_is_c_s_own() -> None:
    raw: Any = ffi.new("pfm_pmu_encode_arg_t *")
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, raw) == 0
    assert ffi.unpack(raw.codes, raw.count) == CODES
    lib.free(raw.codes)
    null = ffi.cast("pfm_pmu_encode_arg_t *", 0)
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, null) == pfm4.PFM_ERR_INVAL


def test_structure_used_again() -> None:
    """The array is there and has room; set to NULL, a new one comes."""
    arg, fstr = none_argument()
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg) == 0
    assert pfm4.pfm_get_os_event_encoding("glm::BACLEARS", 8, pfm4.PFM_OS_NONE, arg) == 0
    assert (arg.count, arg.codes[0], fstr.value) == (1, 0x5101E6, b"glm::BACLEARS:ALL:k=0:u=1:e=0:i=0:c=0")
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg) == pfm4.PFM_ERR_TOOSMALL
    arg.codes = None
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg) == 0
    assert [arg.codes[i] for i in range(arg.count)] == CODES


def test_array_of_the_caller_is_filled() -> None:
    room = (c_uint64 * 3)(1, 2, 3)
    arg, _ = none_argument(codes=room, count=3)
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_NONE, arg) == 0
    assert (room[:], arg.count, arg.codes[:3]) == ([*CODES, 3], 2, [*CODES, 3])


# ---- the structure has to fit the interface ------------------------------------------------------

def test_the_wrong_structure_is_refused() -> None:
    raw, perf = pfm4.pfm_pmu_encode_arg_t(), pfm4.pfm_perf_encode_arg_t()
    cases = [(pfm4.PFM_OS_NONE, perf, r"wants pfm_pmu_encode_arg_t, not (byref\(\) of )?pfm_perf_encode_arg_t; write "),
             (pfm4.PFM_OS_PERF_EVENT, raw, r"wants pfm_perf_encode_arg_t, not (byref\(\) of )?pfm_pmu_encode_arg_t; write "),
             (pfm4.PFM_OS_PERF_EVENT_EXT, raw, "wants pfm_perf_encode_arg_t"),
             (pfm4.PFM_OS_NONE, pfm4.perf_event_attr(), r"not (byref\(\) of )?perf_event_attr; "),
             (pfm4.PFM_OS_PERF_EVENT, pfm4.pfm_event_info_t(), r"not (byref\(\) of )?pfm_event_info_t; ")]
    for layer, args, message in cases:
        for given in (args, byref(args)):
            with pytest.raises(TypeError, match=message):
                pfm4.pfm_get_os_event_encoding(TEXT, 9, layer, given)


@pytest.mark.parametrize("struct", [pfm4.pfm_pmu_encode_arg_t, pfm4.pfm_perf_encode_arg_t], ids=lambda s: s.__name__)
def test_an_interface_that_does_not_exist_is_c_s_to_refuse(struct: Any) -> None:
    """C does not look at the structure then: PFM_ERR_NOTSUPP with either."""
    assert pfm4.pfm_get_os_event_encoding(TEXT, 9, pfm4.PFM_OS_MAX, struct()) == pfm4.PFM_ERR_NOTSUPP


# ---- FILE * ------------------------------------------------------------------------------------------

VALIDATE = """
os.environ.pop("LIBPFM_FORCE_PMU", None)
pfm_initialize()
with open(sys.argv[1], sys.argv[2]) as f:
    head, tail = ("head\\n", "tail\\n") if "b" not in sys.argv[2] else (b"head\\n", b"tail\\n")
    f.write(head)
    ret = pfm_pmu_validate(PFM_PMU_INTEL_GLM, f)
    f.write(tail)
tell(ret, open(sys.argv[1]).read().splitlines())
"""


@pytest.mark.parametrize("mode", ["w", "w+", "wb"])
def test_lines_go_into_a_python_file(tmp_path: Path, mode: str) -> None:
    """In their place between what Python writes."""
    ret, lines = mirror(VALIDATE, tmp_path / "lines", mode, LIBPFM_X86_CPUID="6:94")[0]
    assert (ret, len(lines), lines[0], lines[-1]) == (-4, 167, "head", "tail")


def test_lines_go_into_a_pipe() -> None:
    code = ("pfm_initialize()\nr, w = os.pipe()\n"
            "with os.fdopen(w, 'w') as f: ret = pfm_pmu_validate(PFM_PMU_INTEL_GLM, f)\n"
            "tell(ret, os.read(r, 65536).count(b'\\n'))\n")
    assert mirror(code, LIBPFM_X86_CPUID="6:94") == [[-4, 165]]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    closed = (tmp_path / "closed").open("w")
    closed.close()
    with pytest.raises((TypeError, ValueError, OSError)):
        pfm4.pfm_pmu_validate(202, closed)
    with pytest.raises((TypeError, ValueError, OSError)):
        pfm4.pfm_pmu_validate(202, io.StringIO())
    assert pfm4.pfm_pmu_validate(202, None) == pfm4.PFM_ERR_INVAL


def test_files_are_not_used_up(tmp_path: Path) -> None:
    """Each call has its own FILE, closed afterwards."""
    before = len(os.listdir("/proc/self/fd"))
    with (tmp_path / "lines").open("w") as f:
        for _ in range(200):
            assert pfm4.pfm_pmu_validate(202, f) == 0
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= before + 3


# ---- the inline function and the documentation ----------------------------------------------------------

def test_perf_event_open_is_the_system_call() -> None:
    """Of a type that no kernel knows: refused, in whatever way this kernel or container does."""
    attr = pfm4.perf_event_attr(type=2**32 - 1, size=128)
    assert pfm4.perf_event_open(attr, 0, -1, -1, 0) == -1
    assert pfm4.perf_event_open(None, 0, -1, -1, 0) == -1


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_docstring_names_parameters_and_answer(function: Any) -> None:
    assert function.__doc__
    if function.__name__.startswith("PFM_"):
        return
    named = re.findall(r":param (\w+):", function.__doc__)
    assert named == list(inspect.signature(function).parameters)
    assert ":return:" in function.__doc__ or function.__name__ == "pfm_terminate"
    assert "Source:" in function.__doc__ or function is pfm4.load  # which is not C's


def test_functions_that_answer_a_code_document_it() -> None:
    named = [f for f in FUNCTIONS if re.match("pfm_(get_(pmu|event|perf|os)|find|pmu_validate)", f.__name__)]
    assert len(named) == 9
    silent = [f.__name__ for f in named if not re.search("PFM_ERR_|pfm_get_os_event_encoding|-1", f.__doc__)]
    assert silent == []
