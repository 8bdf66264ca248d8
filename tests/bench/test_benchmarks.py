"""Benchmarks: what the project measures itself with, under pytest-benchmark.

Disabled by default (--benchmark-disable in pyproject.toml): then each runs once, as a plain test.
Nothing timed is asserted.  To measure:

    pytest tests/bench --benchmark-enable --benchmark-only -s
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import simulation
from conftest import ROOT, clean_env, run
from pypfm import Itanium2, Montecito, decode, pfm4
from pypfm.bench import ROUNDS, bench
from pypfm.config import LIBRARIES
from pypfm.errors import PfmError
from python_calls import STARTS, Call, calls
from terminal import PYPFM
from tools import needs

DEBIAN = Path("/usr/lib/x86_64-linux-gnu/libpfm.so.4")
CALLS = [
    *((name, pmu) for pmu, encode in (
        ("itanium", "Itanium().encode"), ("itanium2", "Itanium2().encode"), ("montecito", "Montecito().encode"))
      for name in ("pfm3.pfm_find_event", "pfm3.pfm_dispatch_events", encode)),
    *((name, "glm") for name in ("pfm4.pfm_find_event", "pfm4 encoding", "pfm4 encoding, string", "Goldmont().encode")),
]


@pytest.fixture
def goldmont(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The state in which the calls are made."""
    monkeypatch.setenv("LIBPFM_FORCE_PMU", "glm")
    pfm4.pfm_terminate()
    yield
    pfm4.pfm_terminate()


def named(name: str, pmu: str) -> Call:
    """A call, with the state that it needs."""
    return next(call for call in calls() if (call.name, call.pmu) == (name, pmu))


@pytest.mark.usefixtures("goldmont")
def test_these_are_all_calls() -> None:
    assert [(call.name, call.pmu) for call in calls()] == CALLS


@pytest.mark.usefixtures("goldmont")
@pytest.mark.parametrize(("name", "pmu"), CALLS)
def test_python(benchmark: BenchmarkFixture, name: str, pmu: str) -> None:
    """The call returns what the same function of C returns; of an object, its registers or codes are those that C stored."""
    call = named(name, pmu)
    answer, floor = benchmark(call.run), call.floor()
    if call.group == "mirror":
        assert answer == floor >= 0
    elif pmu == "glm":
        room, _, plain, _ = call.memory
        assert list(answer.codes) == list(room)[:plain.count] != []
    else:
        _, outp = call.memory
        stored = {f"PMC{r.reg_num}": r.reg_value for r in list(outp.pfp_pmcs)[:outp.pfp_pmc_count]}
        assert stored == {register: r.value for register, r in answer.registers.items()} != {}


@pytest.mark.parametrize(("pmu", "event"), [(Itanium2, "CPU_CYCLES"), (Montecito, "NOPS_RETIRED")])
def test_decoding(benchmark: BenchmarkFixture, pmu: type[Itanium2] | type[Montecito], event: str) -> None:
    """Register values back to the event that they count."""
    values = {name: register.value for name, register in pmu().encode([event]).registers.items()}
    decoded = benchmark(decode, pmu.name, values)
    assert [asked.event for asked in decoded.to_request().request.events] == [event]


@pytest.mark.parametrize("name", STARTS)
def test_start(benchmark: BenchmarkFixture, name: str) -> None:
    """A process; "python" does nothing, the others import or run a command."""
    done = benchmark(run, sys.executable, "-I", *STARTS[name])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("pmu", "code"), [
    ("mont", "0x2001208"), pytest.param("skl", "0x5100c0", marks=pytest.mark.slow),
    pytest.param("skx_unc_cha0", "0x1136", marks=pytest.mark.slow)])
def test_decode_of_one_code(benchmark: BenchmarkFixture, pmu: str, code: str) -> None:
    """A process that encodes all events of a PMU, each with each unit mask and modifier, to decode one code."""
    library = [] if pmu == "mont" else [f"--library={DEBIAN}"]
    if library and not DEBIAN.exists():
        pytest.skip(f"no {DEBIAN} (Debian: libpfm4)")
    done = benchmark(run, PYPFM, "decode", "-p", pmu, *library, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["values"] == {"code": code}


@pytest.mark.parametrize("library", ["pfm3", "pfm3-manual", "pfm4"])
def test_c_library(benchmark: BenchmarkFixture, library: str) -> None:
    """All measures of a C library; of libpfm 4 next to Debian's, if it is there."""
    against = str(DEBIAN) if library == "pfm4" and DEBIAN.exists() else None
    rounds = 2 if benchmark.disabled else ROUNDS
    report = benchmark.pedantic(bench, args=(str(LIBRARIES[library].path),),
                                kwargs={"against": against, "rounds": rounds}, rounds=1)
    assert [m.missing for m in report.measures] == [{} for _ in report.measures]
    benchmark.extra_info.update(report.to_json())
    if not benchmark.disabled:
        print("\n" + json.dumps(report.to_json(), indent=1))


@pytest.mark.slow
def test_simulation(benchmark: BenchmarkFixture) -> None:
    """Processor time of perfex's simulation and callgrind's, in turns: `extra_info` has the ratios.

    Where nothing is measured one program is enough.
    """
    needs("valgrind")
    names = ["sort of 20,000 lines"] if benchmark.disabled else simulation.PROGRAMS
    missing: list[str] = []
    found = benchmark.pedantic(lambda: list(simulation.simulations(names, rounds=1, missing=missing.append)), rounds=1)
    benchmark.extra_info |= {one.name: {"ratio": one.ratio, "wanted": one.goal} for one in found}
    if not benchmark.disabled:
        print("\n" + json.dumps(benchmark.extra_info, indent=1), *missing, sep="\n")
    assert len(found) + len(missing) == len(names)


def test_programs_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("valgrind")
    found = simulation.shutil.which
    monkeypatch.setattr(simulation.shutil, "which", lambda name: None if name in ("cc", "sqlite3", "sort") else found(name))
    missing: list[str] = []
    names = ["matrix product of 300", "sqlite3, 20,000 rows", "sort of 20,000 lines"]
    assert list(simulation.simulations(names, rounds=1, missing=missing.append)) == []
    assert missing == ["matrix product of 300: no C compiler", "sqlite3, 20,000 rows: no sqlite3", "sort of 20,000 lines: no sort"]
    monkeypatch.setattr(simulation.shutil, "which", {}.get)
    with pytest.raises(PfmError, match="no valgrind: apt-get install valgrind"):
        list(simulation.simulations(names))


@pytest.mark.parametrize("where", ["docs/benchmarks.rst", ".ci/full", "tests/bench/test_benchmarks.py"])
@pytest.mark.slow
def test_the_documented_command_measures(where: str) -> None:
    """With the project's own settings, which are not those of a process that only tests."""
    [line] = re.findall(r"pytest\"? (tests/bench .*--benchmark-enable[^`\n]*)", (ROOT / where).read_text(encoding="utf-8"))[:1]
    env = {name: value for name, value in clean_env().items() if not name.startswith("PYTEST_")}  # this may be xdist's worker
    done = run(Path(sys.executable).with_name("pytest"), "-p", "no:cacheprovider", *shlex.split(line), "--benchmark-max-time=0.01",
               "-k", "pfm3.pfm_find_event-itanium2", cwd=ROOT, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " benchmark: 1 tests " in done.stdout
