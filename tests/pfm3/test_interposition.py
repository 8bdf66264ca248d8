"""No other libpfm in the process takes the place of ours.

A library with the same symbols is put in front, by LD_PRELOAD and by a global
dlopen(); the mirror answers as before.  As controls, the same library does
change programs that are linked with libpfm.so.3 in the ordinary way.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import clean_env, run, run_python
from native import CC, PFM3, build, build_program

FUNCTIONS = ["pfm_find_event", "pfm_find_event_byname", "pfm_initialize", "pfm_dispatch_events",
             "pfm_force_pmu", "pfm_get_num_events", "pfm_strerror", "pfm_ita2_is_btb", "pfm_start"]

# An independent libpfm that returns nonsense.
NONSENSE = "".join(f"long {f}(void) {{ return 4242; }}\n" for f in FUNCTIONS)

PYTHON = """
import ctypes, sys
for path in sys.argv[1:]:
    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
from pypfm.pfm3 import *
print(pfm_initialize(), pfm_force_pmu(3))
idx, n = c_uint(), c_uint()
print(pfm_find_event("CPU_CYCLES", idx), idx.value, pfm_find_event("0x12", idx), idx.value)
print(pfm_get_num_events(n), n.value, pfm_strerror(-2), pfm_ita2_is_btb(55), pfm_self_start(0))
inp, outp = pfmlib_input_param_t(pfp_dfl_plm=8, pfp_event_count=1), pfmlib_output_param_t()
inp.pfp_events[0].event = idx.value
print(pfm_dispatch_events(inp, None, outp, None), outp.pfp_pmc_count, hex(outp.pfp_pmcs[0].reg_value))
"""
ANSWERS = """\
0 0
0 179 0 179
0 497 invalid parameters 1 -1
0 1 0x1228
"""

C_PROGRAM = """
#include <perfmon/pfmlib.h>
int main(void)
{
    unsigned int idx = 0;
    int ret = pfm_initialize();
    printf("%d %d ", ret, pfm_find_event("CPU_CYCLES", &idx));
    printf("%u\\n", idx);
    return 0;
}
"""

# A plug-in that is linked with libpfm.so.3, as a C program's library would be.
PLUGIN = """
#include <perfmon/pfmlib.h>
int call_find(void)
{
    unsigned int idx = 0;
    return pfm_find_event("CPU_CYCLES", &idx);
}
"""


@pytest.fixture(scope="module")
def nonsense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("nonsense") / "libnonsense.so"
    build(CC, "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", out, source=NONSENSE)
    return out


def python(*args: object, **env: str) -> str:
    done = run_python(PYTHON, *args, LIBPFM_FORCE_PMU="3", **env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_alone() -> None:
    assert python() == ANSWERS


def test_preload(nonsense: Path) -> None:
    assert python(LD_PRELOAD=str(nonsense)) == ANSWERS


def test_global_library(nonsense: Path) -> None:
    assert python(nonsense) == ANSWERS


def test_own_shared_library_loaded_too(libpfm3: Path) -> None:
    """The state of the extension is not the state of libpfm.so.3."""
    assert python(libpfm3) == ANSWERS
    code = ("import ctypes, sys\nlib = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)\n"
            "from pypfm import pfm3\nours, theirs = pfm3.c_int(), ctypes.c_int()\n"
            "print(lib.pfm_force_pmu(3), pfm3.pfm_get_pmu_type(ours), pfm3.pfm_force_pmu(4))\n"
            "print(pfm3.pfm_get_pmu_type(ours), lib.pfm_get_pmu_type(ctypes.byref(theirs)))\n"
            "print(ours.value, theirs.value)\n")
    assert run_python(code, libpfm3).stdout == "0 -3 0\n0 0\n4 3\n"


# ---- controls -------------------------------------------------------------------

def test_control_preload_changes_a_c_program(nonsense: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(C_PROGRAM)
    program = build_program(PFM3, path, tmp_path / "program", libs=PFM3.libs)
    assert run(program, env=clean_env(LIBPFM_FORCE_PMU="3")).stdout == "0 0 179\n"
    preloaded = run(program, env=clean_env(LIBPFM_FORCE_PMU="3", LD_PRELOAD=str(nonsense)))
    assert preloaded.stdout == "4242 4242 0\n"


def test_control_global_library_changes_a_plugin(nonsense: Path, libpfm3: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.so"
    build(CC, "-shared", "-fPIC", *PFM3.cflags, "-x", "c", "-", "-x", "none", *PFM3.libs, "-o", plugin,
          source=PLUGIN)
    code = ("import ctypes, sys\n*first, plugin = sys.argv[1:]\n"
            "for path in first: ctypes.CDLL(path, ctypes.RTLD_GLOBAL)\n"
            "print(ctypes.CDLL(plugin).call_find())\n")
    assert run_python(code, libpfm3, plugin).stdout == "-3\n"
    assert run_python(code, nonsense, plugin).stdout == "4242\n"


def test_library_itself_does_not_call_through_the_interposer(nonsense: Path) -> None:
    """libpfm.so.3 binds its own calls: only what a program calls directly is replaced."""
    code = ("import ctypes, sys\nlib = ctypes.CDLL(sys.argv[1])\nidx = ctypes.c_uint()\n"
            "print(lib.pfm_force_pmu(3), lib.pfm_find_event(b'CPU_CYCLES', ctypes.byref(idx)), idx.value)\n")
    assert run_python(code, PFM3.path, LD_PRELOAD=str(nonsense)).stdout == "0 0 179\n"
