"""Bindings that SWIG makes of the headers, as users of libpfm made them: all names are there, and a call works.

SWIG does not follow an #include, so what a binding needs stands in the header that it is made of.
"""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

import pytest

from conftest import clean_env, run
from native import CC, CXX, PFM3, PFM4, attempt, build
from pypfm.config import Library
from tools import tool

pytestmark = [pytest.mark.skipif(tool("swig") is None, reason="no swig on this machine (Debian: swig)"), pytest.mark.slow]

COMMON = """
%include <stdint.i>
%include <cpointer.i>
%include <carrays.i>
typedef unsigned long size_t;
"""
INTERFACES = {
    "pfm4": """
%module binding
%{
#define SWIG
#include <perfmon/pfmlib_perf_event.h>
%}
""" + COMMON + """
%array_class(uint64_t, codes);
%include <perfmon/pfmlib.h>
""",
    "pfm3": """
%module binding
%{
#include <perfmon/pfmlib.h>
%}
""" + COMMON + """
%pointer_functions(unsigned int, number);
%array_functions(pfmlib_event_t, events);
%array_functions(pfmlib_reg_t, registers);
%include <perfmon/pfmlib.h>
""",
}
CALLS = {
    "pfm4": """
assert b.pfm_initialize() == b.PFM_SUCCESS
codes, argument = b.codes(2), b.pfm_pmu_encode_arg_t()
argument.codes, argument.count, argument.size = codes.cast(), 2, 0
assert b.pfm_get_os_event_encoding("glm::ICACHE:HIT:u", b.PFM_PLM3, b.PFM_OS_NONE, argument) == 0
print(hex(b.pfm_get_version()), hex(codes[0]), argument.idx >> 21 == b.PFM_PMU_INTEL_GLM)
""",
    "pfm3": """
version, index = b.new_number(), b.new_number()
assert b.pfm_get_version(version) == b.PFMLIB_SUCCESS
assert b.pfm_force_pmu(b.PFMLIB_ITANIUM2_PMU) == 0
assert b.pfm_find_event("CPU_CYCLES", index) == 0
inp, outp = b.pfmlib_input_param_t(), b.pfmlib_output_param_t()
inp.pfp_dfl_plm, inp.pfp_event_count = b.PFM_PLM3, 1
b.events_getitem(inp.pfp_events, 0)  # a copy
event = b.pfmlib_event_t()
event.event = b.number_value(index)
b.events_setitem(inp.pfp_events, 0, event)
assert b.pfm_dispatch_events(inp, None, outp, None) == 0
register = b.registers_getitem(outp.pfp_pmcs, 0)
print(hex(b.number_value(version)), register.reg_num, hex(register.reg_value))
""",
}
NEEDED = {"pfm4": {"PFM_PMU_INTEL_GLM", "PFM_PMU_MONTECITO", "PFM_PMU_MAX"},
          "pfm3": {"PFMLIB_MONTECITO_PMU", "PFMLIB_GEN_IA64_PMU"}}
PRINTED = {"pfm4": "0x40000 0x510180 True\n", "pfm3": "0x3000a 4 0x1228\n"}


def bind(library: Library, directory: Path, language: str) -> Path:
    """A directory with a binding of the library's pfmlib.h for this Python."""
    interface = directory / "binding.i"
    interface.write_text(INTERFACES[library.name])
    cxx = language == "c++"
    wrapper = directory / f"wrap.{'cxx' if cxx else 'c'}"
    build("swig", "-python", *["-c++"] * cxx, f"-I{library.include_dir}", "-outdir", directory, "-o", wrapper, interface)
    build(CXX if cxx else CC, "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", *library.cflags, wrapper,
          "-o", directory / "_binding.so", *library.libs)
    return directory


def in_python(directory: Path, code: str) -> str:
    done = run(sys.executable, "-W", "ignore", "-c", f"import binding as b\n{code}", env=clean_env(
        PYTHONPATH=str(directory), LIBPFM_FORCE_PMU="glm"))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("library", "language"), [(PFM3, "c"), (PFM4, "c"), (PFM4, "c++")], ids=["pfm3", "pfm4", "pfm4 in C++"])
def test_a_binding(library: Library, language: str, tmp_path: Path) -> None:
    if attempt(CC, "-fsyntax-only", f"-I{sysconfig.get_path('include')}", "-x", "c", "-",
               source="#include <Python.h>\n").returncode:
        pytest.skip("no headers of Python on this machine (Debian: python3-dev)")
    if language == "c++" and tool(CXX) is None:
        pytest.skip(f"no {CXX} on this machine")
    directory = bind(library, tmp_path, language)
    assert in_python(directory, CALLS[library.name]) == PRINTED[library.name]
    # All constants of the header are in the binding: every PMU, every error.
    mirror = import_module(f"pypfm.{library.module}")
    words = set(re.findall(r"\w+", (library.include_dir / "perfmon/pfmlib.h").read_text()))
    wanted = {name: int(value) for name in words if isinstance(value := getattr(mirror, name, None), int)}
    wanted.pop("PFMLIB_REG_BV", None)  # of a macro with arguments SWIG makes no constant
    assert len(wanted) > 60
    assert NEEDED[library.name] <= set(wanted)
    got = in_python(directory, f"import json; print(json.dumps({{n: getattr(b, n, None) for n in {sorted(wanted)!r}}}))")
    assert json.loads(got) == wanted
