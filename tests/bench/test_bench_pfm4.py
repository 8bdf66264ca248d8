"""Benchmarks of libpfm 4: encoding and initialisation next to Debian's library, and calls through the mirror.

Disabled by default (--benchmark-disable in pyproject.toml): then each runs once, as a plain test.  Nothing
timed is asserted.  To measure:

    pytest tests/bench/test_bench_pfm4.py --benchmark-enable -s
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from conftest import TESTS, clean_env
from native import CC, PFM4, build
from pypfm import pfm4

DEBIAN = Path("/usr/lib/x86_64-linux-gnu/libpfm.so.4")
STRINGS = ["glm::UNHALTED_CORE_CYCLES", "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:u",
           "glm::MEM_LOAD_UOPS_RETIRED:L2_MISS:u:c=2"]


@pytest.fixture(scope="module")
def timing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("timing") / "timing4"
    build(CC, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-O2", *PFM4.cflags, TESTS / "c" / "timing4.c",
          "-o", program, "-ldl")
    return program


def measure(timing: Path, library: Path, **env: str) -> dict[str, Any]:
    done = subprocess.check_output([timing, library, *STRINGS], env=clean_env(**env))
    answers: dict[str, Any] = json.loads(done)
    return answers


def ratios(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """Debian's time divided by ours: above 1, ours is faster."""
    flat = {"initialize_terminate_ns": theirs["initialize_terminate_ns"] / ours["initialize_terminate_ns"]}
    for text in STRINGS:
        for key, time in ours[text].items():
            flat[f"{text} {key}"] = theirs[text][key] / time
    return {name: round(ratio, 2) for name, ratio in flat.items()}


@pytest.mark.parametrize("env", [{"LIBPFM_FORCE_PMU": "glm"}, {"LIBPFM_ENCODE_INACTIVE": "1"}], ids=["forced", "inactive"])
def test_c_library_next_to_debian_s(benchmark: BenchmarkFixture, timing: Path, env: dict[str, str]) -> None:
    ours = benchmark.pedantic(measure, args=(timing, PFM4.path), kwargs=env, rounds=1)
    assert set(ours) == {"initialize_terminate_ns", *STRINGS}
    benchmark.extra_info["ours"] = ours
    if not DEBIAN.exists():
        pytest.skip(f"no {DEBIAN} (Debian's libpfm4) to compare with; ours runs")
    theirs = measure(timing, DEBIAN, **env)
    benchmark.extra_info.update(debian=theirs, debian_over_ours=ratios(ours, theirs))
    if not benchmark.disabled:
        print("\n" + json.dumps({"ours": ours, "debian": theirs, "debian/ours": ratios(ours, theirs)}, indent=1))


@pytest.fixture
def forced() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIBPFM_FORCE_PMU", "glm")
        pfm4.pfm_terminate()
        assert pfm4.pfm_initialize() == 0
    yield
    pfm4.pfm_terminate()


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("fstr", [False, True], ids=["codes", "codes+string"])
@pytest.mark.parametrize("text", STRINGS)
def test_mirror_encodes(benchmark: BenchmarkFixture, text: str, *, fstr: bool) -> None:
    """Next to timing4's encode_ns and encode_fstr_ns: what the call from Python adds."""
    room, cell = pfm4.ffi.new("uint64_t[2]"), pfm4.c_char_p()
    arg = pfm4.pfm_pmu_encode_arg_t(codes=room, count=2, fstr=pfm4.byref(cell) if fstr else pfm4.ffi.NULL)

    def call() -> int:
        arg.count = 2
        return pfm4.pfm_get_os_event_encoding(text, 9, pfm4.PFM_OS_NONE, arg)

    assert benchmark(call) == 0
    assert (cell.value is not None) == fstr


@pytest.mark.usefixtures("forced")
def test_mirror_finds(benchmark: BenchmarkFixture) -> None:
    assert benchmark(pfm4.pfm_find_event, STRINGS[0]) >> 21 == 202


def test_mirror_smallest_call(benchmark: BenchmarkFixture) -> None:
    """A function that does nothing in C: the overhead of a call."""
    assert benchmark(pfm4.pfm_get_version) == 0x40000
