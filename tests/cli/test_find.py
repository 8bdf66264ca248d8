"""pypfm find; pypfm info and pypfm events without a PMU."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import clean_env, run
from foreign_library import debian, library
from native import PFM4
from pypfm import schemas
from terminal import PYPFM, on_terminal, pypfm
from tools import first


def found(*words: object) -> list[Any]:
    """What is found in JSON, checked against its schema."""
    data = json.loads(pypfm(*words, "--json").stdout)
    jsonschema.validate(data, schemas.load("find"))
    assert isinstance(data, list)
    return data


def without_note(stderr: str) -> list[str]:
    """The lines but the one that says that this machine has no libpfm 4."""
    return [line for line in stderr.splitlines() if ": only in pypfm's own PMUs: " not in line]


@pytest.fixture
def none(tmp_path: Path) -> dict[str, str]:
    """An environment in which the system has no libpfm 4 that can be loaded."""
    (tmp_path / "libpfm.so.4").touch()
    return clean_env(LD_LIBRARY_PATH=str(tmp_path))


@pytest.mark.parametrize(("words", "best"), first([
    ("itanium2 l2 miss", "L2_MISSES"), ("CPU-cycles perf", "CPU-CYCLES"), ("goldmont dtlb misses loads", "MEM_UOPS_RETIRED:DTLB_MISS_LOADS"),
    ("offcore RFO glm", "OFFCORE_RESPONSE_1:DMND_RFO")]))
def test_the_best_is_first(words: str, best: str) -> None:
    assert found("find", *words.split())[0]["event"] == best


def test_skylake() -> None:
    debian()
    best = found("find", "skylake", "cache", "misses")[0]
    assert (best["event"], best["pmus"][:2], best["present"]) == ("LONGEST_LAT_CACHE:MISS", ["skl", "skx"], False)


@pytest.mark.slow
def test_a_device_in_numbers_is_one_line_with_all_names() -> None:
    debian()
    names = next(row["pmus"] for row in found("find", "--all", "skx_unc_cha", "clockticks") if "skx_unc_cha0" in row["pmus"])
    assert [name for name in names if name.startswith("skx_unc_cha")] == [f"skx_unc_cha{n}" for n in range(28)]


@pytest.mark.slow
def test_the_pmu_of_this_host_comes_first(tmp_path: Path) -> None:
    """Of equal events; and it is the first of their PMUs."""
    toys = library(tmp_path, 'EVENT_NAME="L3_MISSES"')
    source = {row["event"]: row for row in found("find", "toy", "l3", "miss", f"--library={toys}")}
    assert source["L3_MISSES"]["pmus"] == ["toy"]
    debian()
    rows = found("find", "cycles", f"--library={debian()}", "--all")
    assert all(row["pmus"][0] == "perf" for row in rows if row["present"] and "perf" in row["pmus"])
    assert {row["present"] for row in rows} == {True, False}


def test_of_one_pmu_or_library() -> None:
    rows = found("find", "-p", "Goldmont", "--all", "miss")
    assert {name for row in rows for name in row["pmus"]} == {"glm"}
    assert {name for row in found("find", f"--library={PFM4.path}", "icache") for name in row["pmus"]} >= {"glm"}


def test_lines_in_a_pipe_and_how_many() -> None:
    done = pypfm("find", "miss", "-p", "itanium2")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert {len(line) for line in lines} == {3}
    assert len(lines) == 20
    every = pypfm("find", "miss", "-p", "itanium2", "--all")
    assert done.stderr == f"pypfm find: {len(every.stdout.splitlines()) - 20} more with --all\n"
    assert every.stdout.startswith(done.stdout)
    assert every.stderr == ""


def test_words_are_in_a_colour_on_a_terminal() -> None:
    text = on_terminal(100, "find", "-p", "glm", "icache", "hit", term="xterm-256color")
    assert "\x1b[1;32mICACHE\x1b[0m:\x1b[1;32mHIT\x1b[0m" in text
    assert "pypfm info -p glm ICACHE" in text
    assert "ICACHE:HIT" in on_terminal(40, "find", "-p", "glm", "icache", "hit")


@pytest.mark.parametrize(("args", "status", "said"), [
    (("find",), 2, "the following arguments are required: WORD"),
    (("find", "**", "é"), 2, "argument WORD: '** é' has no letter or digit"),
    (("find", "-p", "goldmon", "miss"), 2, "the nearest are goldmont, glm"),
    (("find", "icache", "misss", "-p", "glm"), 1, "no event fits 'icache misss'; none has 'misss'; the nearest are miss"),
    (("find", "icache", "nops", "-p", "glm"), 1, "none has 'nop'"),
    (("find", "icache", "dtlb", "-p", "glm"), 1, "each word fits some, but no event has all of them"),
    (("find", "x", "--library=/etc/passwd"), 1, "/etc/passwd cannot be loaded: it is no ELF file"),
    (("events",), 2, "neither a PMU nor a GLOB: give -p PMU, or a GLOB"),
    (("events", "--code-range", "L2*"), 2, "--code-range: give -p PMU"),
    (("events", "NO_SUCH*"), 1, "no event of any PMU matches 'NO_SUCH*' (by words: pypfm find WORD ...)"),
    (("events", "*" * 2000), 1, "a pattern of 2000 characters"),
    (("info",), 2, "the following arguments are required: EVENT"),
    (("info", "L3_MISSE"), 1, "no PMU has an event 'L3_MISSE'; the nearest are L3_MISSES"),
    (("info", "\x1b[31m"), 1, "no PMU has an event '\\x1b[31m' (by words: pypfm find WORD ...)"),
])
@pytest.mark.slow
def test_mistakes(args: tuple[str, ...], status: int, said: str) -> None:
    done = pypfm(*args)
    (line,) = without_note(done.stderr)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in line


def test_nothing_in_json_is_an_empty_list() -> None:
    for args in (("find", "-p", "glm", "xyz"), ("events", "NO_SUCH*")):
        done = pypfm(*args, "--json")
        assert (done.returncode, done.stdout, without_note(done.stderr)) == (1, "[]\n", [])


@pytest.mark.parametrize("words", first(["find l3 misses itanium2", "events L3_MISSES", "info L3_MISSES"]))
def test_without_a_library_ours_are_searched(words: str, none: dict[str, str]) -> None:
    done = run(PYPFM, *words.split(), env=none)
    assert done.returncode == 0
    assert done.stdout.startswith("L3_MISSES\titanium2")
    assert done.stderr.startswith(f"pypfm {words.split()[0]}: only in pypfm's own PMUs: libpfm.so.4 cannot be loaded: ")
    assert "apt-get install libpfm4" in done.stderr


def test_events_of_all_pmus() -> None:
    rows = {row["event"]: row["pmus"] for row in found("events", "l3_misses")}
    assert rows["L3_MISSES"][:6] == ["itanium2", "montecito", "itanium", "ita", "ita2", "mont"]


def test_info_of_the_only_pmu_that_has_the_event() -> None:
    assert pypfm("info", "page-faults").stdout == pypfm("info", "-p", "perf", "page-faults").stdout != ""


def test_info_of_an_event_that_several_have() -> None:
    done = pypfm("info", "l3_misses")
    assert done.returncode == 0
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()][:3] == [
        ["L3_MISSES", "itanium2"], ["L3_MISSES", "montecito"], ["L3_MISSES", "itanium"]]
    assert done.stderr.endswith("PMUs have this event: give one with -p\n")


@pytest.mark.slow
def test_info_in_json_of_an_event_that_several_have() -> None:
    assert [row["pmus"] for row in found("info", "l3_misses")][:2] == [["itanium2"], ["montecito"]]


def test_what_a_library_says_does_not_steer_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "strange.so"
    shutil.move(library(tmp_path, 'PMU_NAME="T\\033[31m"', 'EVENT_NAME="C\\033]0;x\\a"'), path)
    for options in ((), ("--json",)):
        done = pypfm("find", "c", f"--library={path}", *options)
        assert done.returncode == 0
        assert not {"\x1b", "\a"} & {*done.stdout, *done.stderr}
    assert "x1b[31m" in on_terminal(100, "find", "c", f"--library={path}")
