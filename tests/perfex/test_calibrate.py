"""perfex --calibrate and --costs host: what events cost on this machine; and what is known of its processor.

Times are not asserted, but for relations that hold on any machine with much room for noise.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from c_programs import SANITIZE
from conftest import ROOT, run
from native import build
from perfex_runs import counted, environment, perfex, refused
from pypfm import schemas
from pypfm.perfex import calibration, costs, host
from pypfm.perfex.calibration import Calibration
from pypfm.perfex.costs import Cost
from pypfm.perfex.host import Caches
from pypfm.perfex.model import CPUS, Cpu, PerfexError
from tools import first, needs, needs_flags

SOURCES = sorted((ROOT / "csrc" / "perfex" / "calibrate").glob("*.c"))
STRICT = ("-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-g")
NS = {"dependent-add": 0.5, "add": 0.125, "load": 0.25, "store": 0.5, "l1-chase": 2.0, "l2-chase": 7.0, "llc-chase": 20.0,
      "memory-chase": 107.0, "l2-chases": 1.25, "llc-chases": 3.0, "memory-chases": 21.25, "l1-lines": 0.25,
      "l2-lines": 0.75, "memory-lines": 8.75, "l1-stores": 0.5, "l2-stores": 2.75, "memory-stores": 14.75,
      "pages-chase": 40.0, "pages-chases": 8.0, "dense-chase": 10.0, "dense-chases": 2.0, "branches": 1.0,
      "random-branches": 6.0, "fp-add": 0.25, "fp-dependent-add": 1.5, "fp-reciprocal-root": 12.0}


def made(**changes: float | None) -> Calibration:
    """A calibration with known numbers."""
    known: dict[str, float | None] = {**NS, **{name.replace("_", "-"): value for name, value in changes.items()}}
    measures = {name: (value * 1.25, value, value * 1.125) for name, value in known.items() if value is not None}
    return Calibration(host.model(), "2026-01-02 03:04", 64, 4096, 1.0, {"l1": 1, "l2": 1, "llc": 1, "memory": 1}, measures)


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, str]:
    """An environment in which this host is calibrated."""
    environ = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    calibration.save(made(), environ)
    return environ


# ---- measuring ------------------------------------------------------------------------

@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """One calibration of this machine; a busy one may need several attempts."""
    environ = environment(XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")))
    for _ in range(5):
        done = perfex("--calibrate", env=environ, timeout=120)
        if "too busy" not in done.stderr:
            break
    return done, environ


@pytest.mark.slow
def test_calibrate(measured: tuple[subprocess.CompletedProcess[str], dict[str, str]]) -> None:
    done, environ = measured
    assert done.returncode == 0, done.stderr
    path = calibration.place(environ)
    assert done.stderr == f"perfex: kept for --costs host in {path}\n"
    table = costs.parse(done.stdout, "--calibrate")
    assert table[0] == Cost("clks", 1, 1, 1)
    found = calibration.load(environ)
    assert len({len(rounds) for rounds in found.measures.values()}) == 1
    assert table == found.table("r10000")
    assert perfex("-t", "--costs", "host", env=environ).stdout == done.stdout
    # Any processor of today and of the last thirty years.
    assert 20 < found.clock < 20000
    if found.bytes["l1"] and found.bytes["l2"]:
        assert found.ns("l1-chase") * 1.2 < found.ns("l2-chase")
        assert 25 in table
    if found.bytes["l2"] and found.bytes["memory"]:
        assert found.ns("l2-chase") * 1.5 < found.ns("memory-chase")
        assert table[25].maximum < table[26].maximum
    assert found.ns("fp-dependent-add") < found.ns("fp-reciprocal-root") * 1.5
    assert table[24].typical > 0


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    """What was measured is printed, or goes into a file, all the same."""
    from pypfm.cli import perfex as command
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(calibration, "calibrate", lambda *_: made())
    assert command.main(["--calibrate"]) == 0
    assert costs.parse(capsys.readouterr().out, "stdout") == made().table("r10000")
    assert command.main(["--calibrate", "--json", "--cpu", "r12000", "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == ""
    data = json.loads((tmp_path / "out").read_text())
    jsonschema.validate(data, schemas.load("perfex_calibrate"))
    assert data["cpu"] == "r12000"


@pytest.mark.slow
@pytest.mark.parametrize("cc", first(["gcc", "clang"]))
def test_the_program_with_sanitizers(cc: str, tmp_path: Path) -> None:
    needs_flags(cc, *SANITIZE)
    out = tmp_path / "calibrate"
    build(cc, *STRICT, "-O1", *SANITIZE, *SOURCES, "-lm", "-o", out)
    l1, l2, llc = 32768, 262144, 2097152
    for sizes, missing in (((l1, l2, llc), set()), ((l1, l2, 0), {"llc-chase"}), ((0, l2, 0), {"l1-chase", "l2-chase", "load"}),
                           ((0, 0, 0), {"l1-chase", "l2-chase", "memory-chase"})):
        done = run(out, 64, *sizes, 67108864, 1)
        assert (done.returncode, done.stderr) == (0, "")
        data = json.loads(done.stdout.splitlines()[-1])
        assert not missing & data["measures"].keys()
        if l2 in sizes and l1 in sizes:
            assert "memory-chase" in data["measures"]


@pytest.mark.parametrize("words", [[], [65, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [64, 0, 0, 0, 0, 0], [64, 0, 0, 0, 0, 100],
                                   [64, 0, 0, 0, 0], [64, 0, 0, 0, 0, 1, 1], ["x", 0, 0, 0, 0, 1]])
def test_the_program_refuses_wrong_arguments(words: list[object]) -> None:
    done = run(calibration.PROGRAM, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "usage: perfex-calibrate LINE L1 L2 LAST-CACHE MEMORY ROUNDS\n"


@pytest.mark.parametrize(("script", "message"), [
    (None, "No such file or directory"), ("exit 3", r"perfex-calibrate has failed \(status 3\)"),
    ("echo .progress; echo '{\"measures\": 5}'", "not a calibration: AttributeError"),
    ("echo '{'", "not a calibration: JSONDecodeError"), ("echo .x; kill -9 $$", r"has failed \(status -9\)"),
])
def test_a_program_that_fails(script: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "calibrate"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setattr(calibration, "PROGRAM", program)
    with pytest.raises(PerfexError, match=message):
        calibration.calibrate(lambda _: None)


def test_a_busy_machine_is_refused_and_a_noisy_measure_is_marked() -> None:
    made().check()
    assert not any(cost.noisy for cost in made().costs("r10000").values())
    noise = {name: (ns, ns * 3, ns * 3) for name, ns in NS.items()}
    with pytest.raises(PerfexError, match="this machine is too busy: 26 of 26 measures differ"):
        replace(made(), measures=noise).check()
    with pytest.raises(PerfexError, match="too busy: 1 of 26"):
        replace(made(), measures={**made().measures, "dependent-add": noise["dependent-add"]}).check()
    partly = replace(made(), measures={**made().measures, "pages-chase": noise["pages-chase"]})
    partly.check()
    assert [event for event, cost in partly.costs("r10000").items() if cost.noisy] == [23]
    assert " 23 nsec         18          6         30  # TLB misses (noisy)\n" in costs.show(
        partly.table("r10000"), "r10000", calibration.head(partly), calibration.remarks(partly, "r10000"))


# ---- from measures to costs ---------------------------------------------------------------

def test_costs_follow_from_the_measures() -> None:
    """Computed by hand: a miss of 25 is 5 ns alone (7 - 2), 1 ns among eight (1.25 - 0.25), 0.5 ns in ascending order."""
    assert made().clock == 2000
    assert made().table("r10000") == {
        **{i: Cost("clks", 1, 1, 1) for i in (0, 16)}, **{i: Cost("clks", 0, 0, 1) for i in (1, 2, 3, 15, 17)},
        7: Cost("nsec", 1.5, 1.5, 1.5), 18: Cost("nsec", 0.25, 0.25, 2.0), 19: Cost("nsec", 0.5, 0.5, 0.5),
        21: Cost("nsec", 1.5, 0.25, 12.0), 22: Cost("nsec", 0.5, 0.5, 0.5), 23: Cost("nsec", 18.0, 6.0, 30.0),
        24: Cost("nsec", 10.0, 10.0, 15.0), 25: Cost("nsec", 1.0, 0.5, 5.0), 26: Cost("nsec", 20.0, 8.0, 100.0)}


def test_the_other_processor_has_other_events() -> None:
    table = made().table("r12000")
    assert table[17] == table[25]  # misses of prefetches
    assert (table[0], table[1]) == (Cost("clks", 1, 1, 1), Cost("clks", 0, 0, 1))
    assert not {4, 6, 14, 16} & table.keys()


def test_what_was_not_measured_has_no_cost() -> None:
    table = made(memory_chase=None, llc_chase=None, load=None).table("r10000")
    assert not {18, 25, 26} & table.keys()
    text = costs.show(table, "r10000", calibration.head(made(memory_chase=None)))
    assert "#26 no cost" in text
    assert "Events without a measured cost have none." in text
    assert costs.parse(text, "text") == table


def test_costs_are_in_order_and_not_below_0() -> None:
    """Measures of a noisy machine: the miss is faster than the hit."""
    odd = made(l2_chase=1.0, memory_chase=0.5, pages_chase=9.0, l2_stores=0.1, random_branches=0.5, memory_lines=500.0)
    for cost in odd.table("r10000").values():
        assert 0 <= cost.minimum <= cost.typical <= cost.maximum


def test_no_huge_pages_are_said() -> None:
    assert "no huge pages" in calibration.head(replace(made(), huge=0.5))
    assert "no huge pages" not in calibration.head(made())


# ---- --costs host ---------------------------------------------------------------------------

def test_costs_of_the_host(kept: dict[str, str], perf_table: Path, tmp_path: Path) -> None:
    """They are printed as --calibrate prints them: a file for -c, and for C."""
    done = perfex("-t", "--costs", "host", env=kept)
    assert costs.parse(done.stdout, "-t") == made().table("r10000")
    (tmp_path / "file").write_text(done.stdout)
    assert costs.parse(perfex("-t", "-y", "-c", tmp_path / "file").stdout, "-t") == costs.builtin("r10000") | made().table("r10000")
    assert "# Clock 2000 MHz; latency of L1 2.0 ns, L2 7.0 ns, last cache 20.0 ns, memory 107.0 ns.\n" in done.stdout
    data = counted("--perf-table", perf_table, "-y", "--costs", "host", "-e", "26", "true", env=kept)
    event = next(e for e in data["events"] if e["event"] == 26)
    assert event["seconds"]["typical"] == pytest.approx(event["count"] * 20e-9)
    plain = counted("--perf-table", perf_table, "-y", "-e", "26", "true", env=kept)
    event = next(e for e in plain["events"] if e["event"] == 26)
    assert event["seconds"]["typical"] == pytest.approx(event["count"] * 235e-9)  # the built-in ones stay the default


def test_files_of_costs_come_after_the_hosts(kept: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "own").write_text("26 nsec 5 5 5\n")
    (tmp_path / "system").write_text("25 nsec 6 6 6\n")
    text = perfex("-t", "-y", "--costs", "host", "-c", tmp_path / "own",
                  env={**kept, "PERFEX_COSTS": str(tmp_path / "system")}).stdout
    assert costs.parse(text, "-t") == made().table("r10000") | {26: Cost("nsec", 5, 5, 5)}
    printed = perfex("--calibrate", "--help").stdout
    assert "--costs" in printed


@pytest.mark.slow
def test_the_simulation_with_the_hosts_costs(kept: dict[str, str]) -> None:
    """Cycles are those of this host: of its clock, and with its misses."""
    needs("valgrind")
    data = counted("--backend", "valgrind", "-a", "-y", "--costs", "host", "true", env=kept)
    assert data["clock"] == {"MHz": 2000, "source": "measured by --calibrate"}
    n = {e["event"]: e["count"] for e in data["events"]}
    (cycles,) = (e for e in data["events"] if e["event"] == 0)
    stalls = made().stalls("r10000")
    misses, waits = (2 * sum(stalls.get(event, 0.0) * n[event] for event in those) for those in ((25, 26), (9, 10, 23, 24)))
    assert misses > 0 < waits
    assert cycles["low"] == round(max(n[15] / 4, n[18] + n[19], n[6], misses / 5) + waits)
    assert cycles["high"] == round(max(n[15], n[18] + n[19]) + misses + waits)
    own = counted("--backend", "valgrind", "-y", "--costs", "host", "--clock", "100", "true", env=kept)
    assert own["clock"] == {"MHz": 100, "source": "given"}


@pytest.mark.parametrize(("words", "message"), [
    (["--costs", "host", "true"], "--costs needs -y or -t (see perfex --help)"),
    (["-t", "--costs", "mine"], "argument --costs: invalid choice: 'mine'"),
    (["-t", "--costs"], "expected one argument"),
    (["--calibrate", "true"], "--calibrate goes without a command, --merge, --list and --csv (see perfex --help)"),
    (["--calibrate", "--csv"], "--calibrate goes without a command"), (["--calibrate", "--list"], "goes without a command"),
    (["--calibrate", "-o", "/nonexistent/x"], "/nonexistent/x: No such file or directory"),
])
def test_wrong_uses(words: list[str], message: str) -> None:
    assert message in refused(*words)


def test_a_host_that_is_not_calibrated(tmp_path: Path) -> None:
    said = refused("-t", "--costs", "host", env=environment(XDG_CACHE_HOME=str(tmp_path)))
    assert said.startswith("perfex: --costs host: this host's costs are not measured; perfex --calibrate does that (")
    assert str(tmp_path) in said


@pytest.mark.parametrize(("change", "message"), [
    (lambda d: d.update(model="another"), "of another version or another processor"),
    (lambda d: d.update(version=2), "of another version or another processor"),
    (lambda d: d.update(line=63), "its date or its line is wrong"),
    (lambda d: d.update(made="\x1b[31m"), "its date or its line is wrong"),
    (lambda d: d["measures"].update({"dependent-add": []}), "not a calibration: ValueError"),
    (lambda d: d["measures"].update({"load": ["x"]}), "not a calibration: ValueError"),
    (lambda d: d["measures"].update({"load": [float("nan")]}), "not a calibration: ValueError"),
    (lambda d: d["measures"].update({"load": [-1]}), "not a calibration: ValueError"),
    (lambda d: d.pop("measures"), "not a calibration: KeyError"),
    (lambda d: d.update(bytes=7), "not a calibration: AttributeError"),
    (lambda d: d.clear(), "KeyError"),
])
def test_a_calibration_that_is_stale_or_damaged(change: Callable[[dict[str, Any]], object], message: str, kept: dict[str, str]) -> None:
    path = calibration.place(kept)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    assert refused("-t", "--costs", "host", env=kept) .startswith(f"perfex: {path}: {message}")


@pytest.mark.parametrize("content", [b"", b"[", b"5", b"null", b"\xff", b"[" * 100000])
def test_a_calibration_that_is_no_json(content: bytes, kept: dict[str, str]) -> None:
    calibration.place(kept).write_bytes(content)
    assert str(calibration.place(kept)) in refused("-t", "--costs", "host", env=kept)


def test_where_it_is_kept() -> None:
    name = calibration.place({"HOME": "/home/me"}, "a").name
    assert calibration.place({"HOME": "/home/me"}, "a") == Path("/home/me/.cache/pypfm") / name
    assert calibration.place({"HOME": "/home/me", "XDG_CACHE_HOME": "/c"}, "a") == Path("/c/pypfm") / name
    assert calibration.place({"HOME": "/home/me", "XDG_CACHE_HOME": "relative"}, "a").is_relative_to("/home/me/.cache")
    assert calibration.place({"HOME": "/home/me"}, "b").name != name
    with pytest.raises(PerfexError, match="neither XDG_CACHE_HOME nor HOME is set"):
        calibration.place({})


# ---- the host ---------------------------------------------------------------------------------

def sysfs(directory: Path, *levels: tuple[str, str, str, str]) -> Path:
    for number, values in enumerate(levels):
        index = directory / f"index{number}"
        index.mkdir()
        for name, value in zip(("level", "type", "size", "coherency_line_size"), values, strict=True):
            (index / name).write_text(value + "\n")
    return directory


def test_caches_of_sysfs(tmp_path: Path) -> None:
    directory = sysfs(tmp_path, ("1", "Data", "48K", "64"), ("1", "Instruction", "32K", "32"), ("2", "Unified", "2M", "64"),
                      ("3", "Unified", "1G", "128"))
    assert host.caches(directory) == Caches(48 << 10, 2 << 20, 1 << 30, 64, 128)


def test_two_levels(tmp_path: Path) -> None:
    assert host.caches(sysfs(tmp_path, ("1", "Data", "32K", "64"), ("2", "Unified", "512K", "64"))) == Caches(
        32 << 10, 512 << 10, 0, 64, 64)


def test_caches_of_the_c_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = {188: 100, 190: 32, 191: 200, 193: 64}
    monkeypatch.setattr(host.platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(host.os, "sysconf", lambda number: values.get(number, 0))
    assert host.caches(tmp_path / "none") == Caches(100, 200, 0, 32, 64)
    monkeypatch.setattr(host.platform, "libc_ver", lambda: ("", ""))
    assert host.caches(tmp_path / "nothing") == Caches()


@pytest.mark.parametrize("text", ["", "x", "48k", "-1K", "9" * 30, "K"])
def test_sizes_that_are_none(text: str, tmp_path: Path) -> None:
    assert host.caches(sysfs(tmp_path, ("1", "Data", text, text))) == Caches()


def test_models(tmp_path: Path) -> None:
    (tmp_path / "x86").write_text("processor\t: 0\nmodel name\t: A  CPU @ 2\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 7\n\n"
                                  "processor\t: 1\nmodel name\t: Other\n")
    (tmp_path / "arm").write_text("processor\t: 0\nBogoMIPS\t: 50\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n")
    (tmp_path / "odd").write_bytes(b"model name\t: a\x1b[31m\xff\n\n")
    assert host.model(tmp_path / "x86").endswith(", A  CPU @ 2, 6, 85, 7")
    assert host.model(tmp_path / "arm").endswith(", 0x41, 0xd0c")
    assert host.model(tmp_path / "odd").isprintable()
    assert host.model(tmp_path / "none") == host.platform.machine()


def test_memory(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   7 kB\n")
    assert host.available_memory(tmp_path / "meminfo") == 7 << 10
    assert host.available_memory(tmp_path / "none") == 0
    assert host.available_memory() > 0


# ---- unsourced --------------------------------------------------------------------------------

@pytest.mark.parametrize("cpu", CPUS)
def test_costs_without_a_source_say_so(cpu: Cpu, tmp_path: Path) -> None:
    """Three numbers: the bus of the secondary cache's misses, local memory, and the reciprocal square root."""
    assert costs.unsourced(cpu) == {7: "800 MB/s", 10: "310 ns", 21: "52 clks", 23: "310 ns", 26: "800 MB/s, 310 ns", 31: "310 ns"}
    lines = perfex("-t", "--cpu", cpu).stdout.splitlines()
    assert [int(line[:3]) for line in lines if "(unsourced: " in line] == [7, 10, 21, 23, 26, 31]
    (tmp_path / "own").write_text("26 nsec 1 1 1\n21 clks 1 0.5 52\n")
    lines = perfex("-t", "--cpu", cpu, "-y", "-c", tmp_path / "own").stdout.splitlines()
    assert [int(line[:3]) for line in lines if "(unsourced: " in line] == [7, 10, 21, 23, 31]
