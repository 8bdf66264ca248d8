"""Benchmarks of libpfm 3: import, lookup and dispatch through the mirror, and the C program timing.c.

Disabled by default (--benchmark-disable in pyproject.toml): then each runs
once, as a plain test.  Nothing timed is asserted.  To measure:

    pytest tests/bench --benchmark-enable -s
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from conftest import TESTS, clean_env
from pypfm import pfm3
from pypfm.config import LIBRARIES

PMUS = {
    "itanium2": (pfm3.PFMLIB_ITANIUM2_PMU,
                 ["CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"]),
    "montecito": (pfm3.PFMLIB_MONTECITO_PMU,
                  ["CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"]),
}
every_pmu = pytest.mark.parametrize("pmu", PMUS)


def start_python(code: str) -> None:
    subprocess.run([sys.executable, "-I", "-c", code], check=True, cwd=TESTS, env=clean_env())


def shortest(code: str, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        start_python(code)
        best = min(best, perf_counter() - start)
    return best


def test_import(benchmark: BenchmarkFixture) -> None:
    """Start of an interpreter that imports the mirror; without the start itself in extra_info."""
    enabled = not benchmark.disabled
    bare = shortest("pass", 10 if enabled else 1)
    benchmark.pedantic(start_python, args=("import pypfm.pfm3",), rounds=10 if enabled else 1)
    if enabled and benchmark.stats:
        with_import = benchmark.stats.stats.min
        benchmark.extra_info.update(bare_start_s=bare, import_s=with_import - bare)
        print(f"\nbare start {1e3 * bare:.1f} ms, import pypfm.pfm3 {1e3 * (with_import - bare):.1f} ms")


@every_pmu
def test_find_event(benchmark: BenchmarkFixture, pmu: str) -> None:
    kind, names = PMUS[pmu]
    assert pfm3.pfm_force_pmu(kind) == 0
    idx = pfm3.c_uint()
    assert benchmark(pfm3.pfm_find_event, names[2], idx) == 0


@every_pmu
def test_dispatch(benchmark: BenchmarkFixture, pmu: str) -> None:
    kind, names = PMUS[pmu]
    assert pfm3.pfm_force_pmu(kind) == 0
    inp = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8, pfp_event_count=len(names))
    outp = pfm3.pfmlib_output_param_t()
    for i, name in enumerate(names):
        assert pfm3.pfm_find_event(name, pfm3.byref(inp.pfp_events[i], "event")) == 0
    assert benchmark(pfm3.pfm_dispatch_events, inp, None, outp, None) == 0
    assert outp.pfp_pmc_count == len(names)


def test_c_library(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """The times of timing.c: lookup against a linear scan, dispatch against clearing its output."""
    pfm = LIBRARIES["pfm3"]
    program = tmp_path / "timing"
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", *pfm.cflags, TESTS / "c" / "timing.c",
                    "-o", program, *pfm.libs], check=True)
    text = benchmark.pedantic(subprocess.check_output, args=([program],), rounds=1)
    times = json.loads(text)
    benchmark.extra_info.update(times)
    assert set(times) == set(PMUS)
    if not benchmark.disabled:
        print("\n" + json.dumps(times, indent=1))
