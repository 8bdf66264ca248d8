"""pypfm.pmc where Python differs from C: memory, arguments, strings."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest

from conftest import run_python
from pypfm import pmc
from pypfm.pmc import ffi

pytestmark = pytest.mark.usefixtures("runtime_dir")

XSCALE = """
import errno
from pypfm.pmc import *
def code(ret): return errno.errorcode[ffi.errno] if ret == -1 else ret
"""


def on_xscale(code: str) -> str:
    done = run_python(XSCALE + code, PMC_MACHINE="xscale")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_libpmc_s_functions() -> None:
    assert on_xscale("""
print(pmc_configure_counter(1, "dcache-miss", 0, 0), pmc_start_counter(1), pmc_model_advance(0xb, 2**40), pmc_stop_counter(1))
value = c_uint64()
print(pmc_get_counter_value(1, value), value.value, pmc_get_accumulated_counter_value(1, byref(value)), value.value)
print(code(pmc_configure_counter(1, "DCACHE-MISS", 0, 0)), code(pmc_configure_counter(1, None, 0, 0)))
print(code(pmc_configure_counter(1, b"dcache-miss", 2**64 - 1, 2**32 - 1)))
print(code(pmc_get_counter_type(-1, None)), code(pmc_get_counter_type(0, None)))
print(pmc_get_counter_event_name(0xb), pmc_get_counter_event_name(-1), pmc_get_num_counters())
""") == """\
0 0 0 0
0 1099511627776 0 0
ESRCH ESRCH
0
ENODEV EFAULT
dcache-miss None 3
"""


def test_structures_cells_and_pointers() -> None:
    assert on_xscale("""
cfg = pmc_counter_cfg(event_id=0xb, reset_value=2**64 - 1, flags=7)
print([code(pmc_control(1, PMC_OP_CONFIGURE, argp)) for argp in (cfg, byref(cfg), pointer(cfg), None, ffi.NULL)])
cells = c_int(), ffi.new("int *"), ffi.new("int[1]"), (c_int * 2)()
print([code(pmc_get_info(0, PMC_INFO_NCOUNTERS, cell)) for cell in cells], cells[0].value, cells[1][0], cells[3][:])
print(isinstance(cfg, pmc_counter_cfg), sizeof(cfg))
""") == "[0, 0, 0, 'EFAULT', 'EFAULT']\n[0, 0, 0, 0] 3 3 [3, 0]\nTrue 24\n"


@pytest.mark.parametrize(("request_", "argp"), [
    (pmc.PMC_INFO_COUNTER_VALUE, pmc.c_int()),
    (pmc.PMC_INFO_COUNTER_VALUE, ffi.new("char[7]")),
    (pmc.PMC_INFO_ACCUMULATED_COUNTER_VALUE, ffi.new("int *")),
    (pmc.PMC_INFO_NCOUNTERS, ffi.new("char *")),
    (pmc.PMC_INFO_CPUCTR_TYPE, ffi.new("short[1]")), (pmc.PMC_INFO_NCOUNTERS, pmc.c_uint64()),
])
def test_memory_of_another_type(request_: int, argp: Any) -> None:
    with pytest.raises(TypeError, match=r"^pmc_get_info\(\): argp wants (int|uint64_t) \*, not "):
        pmc.pmc_get_info(0, request_, argp)


@pytest.mark.parametrize("op", [pmc.PMC_OP_CONFIGURE, pmc.PMC_OP_PROFSTART])
def test_another_structure(op: int) -> None:
    with pytest.raises(TypeError, match=r"argp wants struct pmc_counter_cfg, not c_ulong; write pmc_counter_cfg\(\)"):
        pmc.pmc_control(1, op, pmc.c_uint64())


WRONG: list[tuple[Callable[..., int], tuple[object, ...]]] = [
    (pmc.pmc_control, ("1", pmc.PMC_OP_START, None)),
    (pmc.pmc_control, (1, 1.5, None)),
    (pmc.pmc_control, (1, pmc.PMC_OP_CONFIGURE, 0x1234)),
    (pmc.pmc_get_info, (1, pmc.PMC_INFO_NCOUNTERS, "three")),
    (pmc.pmc_get_info, (1, pmc.PMC_INFO_COUNTER_VALUE, b"eight bytes and more")),
    (pmc.pmc_get_info, (1, pmc.PMC_INFO_COUNTER_VALUE, bytearray(8))),
    (pmc.pmc_start_counter, (None,)),
]


@pytest.mark.parametrize(("function", "args"), WRONG)
def test_arguments_of_a_wrong_type(function: Callable[..., int], args: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        function(*args)


def test_fields_are_known() -> None:
    with pytest.raises(TypeError, match="event_id"):
        pmc.pmc_counter_cfg(event="dcache-miss")


@pytest.mark.parametrize("call", [
    lambda: pmc.pmc_control(2**31, pmc.PMC_OP_START, None),
    lambda: pmc.pmc_model_advance(0xB, -1),
    lambda: pmc.pmc_model_advance(0xB, 2**64),
])
def test_numbers_out_of_range(call: object) -> None:
    assert callable(call)
    with pytest.raises(OverflowError):
        call()


def test_each_overflow_is_a_signal_in_python_too() -> None:
    assert on_xscale("""
import signal
ticks = []
signal.signal(signal.SIGPROF, lambda *_: ticks.append(1))
cfg = pmc_counter_cfg(event_id=0xb, reset_value=100)
print(pmc_control(1, PMC_OP_PROFSTART, cfg), pmc_model_advance(0xb, 12345), len(ticks))
signal.signal(signal.SIGPROF, lambda *_: print("stopped", pmc_control(1, PMC_OP_PROFSTOP, None)))
print(pmc_model_advance(0xb, 12345))
def fail(*_): raise KeyError("from the handler")
signal.signal(signal.SIGPROF, fail)
print(pmc_control(1, PMC_OP_PROFSTART, cfg))
try:
    pmc_model_advance(0xb, 250)
except KeyError as error:
    print(error)
print(pmc_control(1, PMC_OP_PROFSTOP, None))
""") == "0 0 123\nstopped 0\n0\n0\n'from the handler'\n0\n"


def test_library_and_extension_count_apart() -> None:
    """Two copies of the same code: libpmc.so, loaded by name, and the mirror's own."""
    from native import PMC

    assert on_xscale(f"""
import ctypes
lib = ctypes.CDLL({str(PMC.path)!r})
print(pmc_configure_counter(1, "dcache-miss", 0, 0), lib.pmc_start_counter(1))
print(lib.pmc_configure_counter(1, b"dcache-miss", ctypes.c_uint64(), 0), lib.pmc_start_counter(1), pmc_start_counter(1))
lib.pmc_model_advance(0xb, ctypes.c_uint64(5))
value = c_uint64()
print(pmc_get_counter_value(1, value), value.value)
""") == "0 -1\n0 0 0\n0 0\n"


def test_errno_is_the_call_s() -> None:
    assert pmc.pmc_get_counter_type(-1, None) == -1
    assert ffi.errno == errno.ENODEV


def test_no_machine_no_names() -> None:
    done = run_python(XSCALE + """
print(pmc_get_num_counters(), pmc_get_counter_class(), code(pmc_get_counter_type(0, c_int())), code(pmc_start_counter(0)))
for function, args in ((pmc_get_counter_class_name, [0x10000]), (pmc_get_counter_type_name, [0x10001]),
                       (pmc_get_counter_event_name, [0])):
    print(function(*args), errno.errorcode[ffi.errno])
print(not pmc_get_counter_event_list(), errno.errorcode[ffi.errno])
print(code(pmc_configure_counter(1, "dcache-miss", 0, 0)), code(pmc_get_counter_value(1, c_uint64())))
""", PMC_MACHINE="pentium")
    assert (done.stdout, done.stderr) == ("0 0 ENXIO ENXIO\nNone ESRCH\nNone ESRCH\nNone ESRCH\nTrue ESRCH\nESRCH ENXIO\n", "")
