"""Where libpfm.so.4 differs from Debian's on purpose: both are asked, so that each row of the documentation is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import run_python
from pypfm.config import LIBRARIES
from worker4 import DEBIAN

OURS = LIBRARIES["pfm4"].path
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
INVAL, NOTFOUND = -2, -4
needs_debian = pytest.mark.skipif(not DEBIAN.exists(), reason=f"no {DEBIAN} (Debian's libpfm4) on this machine")
needs_perf = pytest.mark.skipif(not PARANOID.exists(), reason=f"no {PARANOID}: perf_raw is not active")

# On the caller's side of the C ABI; errno is the process's own, not the copy that ctypes keeps.
PRELUDE = """
import json, sys
from ctypes import *
lib, libc = CDLL(sys.argv[1]), CDLL(None)
libc.__errno_location.restype, libc.fopen.restype = POINTER(c_int), c_void_p
errno = libc.__errno_location()

class Argument(Structure):
    _fields_ = [("codes", POINTER(c_uint64)), ("fstr", c_void_p), ("size", c_size_t), ("count", c_int), ("idx", c_int)]

class Info(Structure):
    _fields_ = [("name", c_char_p), ("desc", c_char_p), ("size", c_size_t), ("pmu", c_int), ("type", c_int),
                ("numbers", c_int * 5), ("flags", c_uint)]

def encode(text):
    codes = (c_uint64 * 4)()
    argument = Argument(codes=codes, count=4)
    return lib.pfm_get_os_event_encoding(text.encode(), 9, 0, byref(argument)), codes[0]

def present():
    infos = [(Info(), n) for n in range(lib_max)]
    return [i.name.decode() for i, n in infos if lib.pfm_get_pmu_info(n, byref(i)) == 0 and i.flags & 1]

lib_max = 517
lib.pfm_initialize()
"""


def answer(library: Path, code: str, **env: str) -> object:
    done = run_python(f"{PRELUDE}print(json.dumps({code}))" if "\n" not in code else PRELUDE + code, library, **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


OVERFLOW = """
answers = [encode("perf_raw::r1c4")]
errno[0] = 34  # ERANGE, as a strtoul() of the program leaves it
answers += [encode("perf_raw::r1c4"), encode("perf_raw::r1c4"), [lib.pfm_find_event(b"perf_raw::r1c4") >= 0, errno[0]]]
print(json.dumps(answers))
"""


@needs_perf
def test_an_errno_that_was_left_behind_does_not_matter() -> None:
    assert answer(OURS, OVERFLOW) == [[0, 0x1c4], [0, 0x1c4], [0, 0x1c4], [True, 34]]


@needs_perf
@needs_debian
def test_debians_perf_raw_looks_at_errno() -> None:
    assert answer(DEBIAN, OVERFLOW) == [[0, 0x1c4], [NOTFOUND, 0], [NOTFOUND, 0], [False, 34]]


@pytest.mark.parametrize("value", ["", ",", ",perf"])
def test_an_empty_name_forces_the_first_pmu(value: str) -> None:
    assert answer(OURS, "present()", LIBPFM_FORCE_PMU=value) == ["glm"]


@needs_debian
@pytest.mark.parametrize("value", ["", ",", ",perf"])
def test_debians_first_pmu_is_another(value: str) -> None:
    [name] = answer(DEBIAN, "present()", LIBPFM_FORCE_PMU=value)  # type: ignore[misc]
    assert name not in {"glm", "perf", "perf_raw"}


VALIDATE = "[lib.pfm_pmu_validate(n, c_void_p(libc.fopen(b'/dev/null', b'w'))) for n in (15, 202, 114)]"


def test_a_pmu_that_is_not_there_cannot_be_validated() -> None:
    assert answer(OURS, VALIDATE, LIBPFM_ENCODE_INACTIVE="1") == [INVAL, 0, 0]


@needs_debian
def test_debian_validates_all_its_pmus() -> None:
    assert answer(DEBIAN, VALIDATE, LIBPFM_ENCODE_INACTIVE="1") == [0, 0, 0]
