"""pypfm pmus, events, info, encode and decode with --library; codes as bare words."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import clean_env
from foreign_library import debian, library
from fresh import fresh_command
from native import CC, PFM3, build
from pypfm.cli.common import event_names, whole_options
from pypfm.errors import LibraryError
from terminal import PYPFM, on_terminal, pypfm, run_on_terminal
from tools import first
from valid import validate


def answer(schema: str, *args: object) -> Any:
    """The JSON output of a command, checked against its schema."""
    done = pypfm(*args, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    data = json.loads(done.stdout)
    validate(data, schema)
    return data


def strings(*args: object) -> list[str]:
    return [c["string"] for c in answer("decode", "decode", *args)["candidates"]]


def test_pmus_of_a_library() -> None:
    data = answer("pmus", "pmus", "--library", debian())
    rows = {row["name"]: row for row in data}
    assert len(rows) == len(data) > 300
    assert rows["skl"]["events"] == 84
    assert (rows["perf"]["present"], rows["netburst"]["present"]) == (True, False)
    assert {row["library"] for row in data} == {str(debian().resolve())}
    lines = pypfm("pmus", f"--library={debian()}").stdout.splitlines()
    assert "perf\tpresent" in lines
    assert "netburst" in lines
    assert "present" in on_terminal(100, "pmus", "--library", debian())


def test_pmus_of_ours() -> None:
    data = answer("pmus", "pmus")
    assert {row["name"] for row in data if row["library"] == "pfm4"} == {"ita", "ita2", "mont", "glm", "perf"}
    assert {row["present"] for row in data} == {None}


def test_events_and_info() -> None:
    assert pypfm("events", "-p", "skl", "--library", debian(), "inst_*").stdout == "INST_RETIRED\n"
    assert len(answer("events_pfm4", "events", "--library", debian(), "-p", "skl")) == 84
    assert answer("info_pfm4", "info", "-p", "skl", "--library", debian(), "inst_retired")["code"] == "0xc0"
    assert "unit mask:     ANY_P" in pypfm("info", "-p", "skl", "--library", debian(), "INST_RETIRED").stdout
    assert answer("info_pfm4", "info", "-p", "mont", "CPU_OP_CYCLES_ALL")["pmu"] == "mont"
    assert len(answer("events_pfm4", "events", "-p", "ita")) == 230


def test_encode() -> None:
    (event,) = answer("encode_pfm4", "encode", "-p", "skl", "--library", debian(), "INST_RETIRED:ANY_P")["events"]
    assert (event["codes"], event["perf"]) == (["0x5100c0"], "rc0:u")
    assert len(answer("encode_pfm4", "encode", "--library", debian(), "-p", "netburst", "global_power_events:RUNNING")[
        "events"][0]["codes"]) >= 2
    line = pypfm("encode", "-p", "skl", "--library", debian(), "--perf", "INST_RETIRED:ANY_P", "BACLEARS").stdout
    assert line == "perf stat -e rc0:u -e r1e6:u\n"
    text = on_terminal(100, "encode", "-p", "snbep_unc_ha", "--library", debian(), "UNC_H_CLOCKTICKS")
    assert "the running kernel has no such PMU" in text


def test_what_encode_prints_is_decoded() -> None:
    for args in (("-p", "skl", f"--library={debian()}"), ("-p", "mont"), ("-p", "mont", "--os", "perf_event")):
        event = "CPU_OP_CYCLES_ALL" if "mont" in args else "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"
        printed = pypfm("encode", *args, event, "--json").stdout
        options = [a for a in args if a not in ("--os", "perf_event")] + (["--perf"] if "--os" in args else [])
        done = fresh_command(PYPFM, "decode", *options, "-", text=printed)
        assert done.returncode == 0, done.stderr
        assert json.loads(printed)["events"][0]["string"] in {c["string"] for c in json.loads(done.stdout)["candidates"]}


@pytest.mark.parametrize(("args", "expected"), [
    (("-p", "glm", "0x530280"), ["glm::ICACHE:MISSES:k=1:u=1:e=0:i=0:c=0"]),
    (("-p", "glm", "r530280"), ["glm::ICACHE:MISSES:k=1:u=1:e=0:i=0:c=0"]),
    (("-p", "glm", "0x5101b7", "0x18000"),
     ["glm::OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0"]),
    (("-p", "mont", "0x2001208"), ["mont::CPU_OP_CYCLES_ALL:k=0:u=1"]),
    (("-p", "mont", "code=33559048"), ["mont::CPU_OP_CYCLES_ALL:k=0:u=1"]),
    (("-p", "mont", "--perf", "0x1200"), ["mont::CPU_OP_CYCLES_ALL:u=1:k=1:mg=0:mh=1"]),
    (("-p", "mont", "--perf", "r1200:u"), ["mont::CPU_OP_CYCLES_ALL:u=1:k=0:mg=0:mh=1"]),
    (("-p", "montecito", "--perf", "0x1200"), ["mont::CPU_OP_CYCLES_ALL:u=1:k=1:mg=0:mh=1"]),
    (("-p", "gen_ia64", "--perf", "0x1200"), ["gen_ia64::CPU_CYCLES:u=1:k=1:mg=0:mh=1"]),
    (("-p", "ita2", "config=0x1200", "exclude_user=1"), ["ita2::CPU_CYCLES:u=0:k=1:mg=0:mh=1"]),
])
def test_codes_as_words(args: tuple[str, ...], expected: list[str]) -> None:
    assert strings(*args) == expected


def test_codes_of_another_library() -> None:
    expected = "skl::INST_RETIRED:ANY_P:k=0:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0"
    assert expected in strings("-p", "skl", "--library", debian(), "r5100c0")
    assert strings("-p", "skl", "--library", debian(), "0x5101b7", "0x10001")[0].startswith("skl::OFFCORE_RESPONSE_0:DMND")
    text = on_terminal(100, "decode", "-p", "skl", "--library", debian(), "0x5100c0")
    assert "INST_RETIRED" in text


@pytest.mark.parametrize(("args", "said"), [
    (("decode", "-p", "itanium2", "0x1228"), "expected a register and its value, such as PMC4=0x1228"),
    (("decode", "-p", "glm", "1", "2", "3"), "3 codes; glm takes 2 at most"),
    (("decode", "-p", "glm", "1", "code=2"), "code is given twice"),
    (("decode", "-p", "mont", "r1200:u"), "'r1200:u': expected a register and its value"),
    (("events", "-p", "sky\x1b"), "argument -p/--pmu: invalid choice: 'sky\\x1b'"),
    (("info", "-p", "perf2", "X"), "; the nearest "),
    (("encode", "-p", "", "X"), "argument -p/--pmu: invalid choice: ''"),
    (("decode", "-p", "glm ", "1"), "argument -p/--pmu: invalid choice: 'glm '"),
    (("encode", "-p", "skl", "--library=/x.so", "--iear", "cache:0", "X"), "--iear is an option of"),
    (("encode", "-p", "skl", "--library=/x.so", "--perf", "--corrected", "X"), "--corrected is an option of itanium, glm, not of skl"),
    (("encode", "-p", "perf", "--perf", "--corrected", "cycles"), "--corrected is an option of itanium, glm, not of perf"),
    (("encode", "-p", "itanium", "--perf", "--corrected", "CPU_CYCLES"), "--corrected: the kernel's driver has no way to set"),
    (("encode", "-p", "mont", "--perf", "--corrected", "CPU_OP_CYCLES_ALL"), "--corrected is an option of itanium, glm, not of mont"),
    (("encode", "-p", "glm", "--perf", "--iear", "cache:0", "ICACHE:HIT"), "--iear is an option of itanium2, montecito, itanium,"),
    (("encode", "-p", "itanium2", "--perf", "--ipear", "1", "CPU_CYCLES"), "--ipear is an option of montecito, not of itanium2"),
    (("encode", "-p", "mont", "--perf", "--ipear", "1", "NOPS_RETIRED"), "the kernel's driver has no way to set PMC42"),
    (("encode", "-p", "mont", "--perf", "--data-range", "0-16", "NOPS_RETIRED"), "the kernel's driver has no way to set PMC41"),
    (("encode", "-p", "ita2", "--perf", "--code-range", "0-16", "NOPS_RETIRED"), "the kernel's driver has no way to set PMC14"),
])
def test_wrong_usage(args: tuple[str, ...], said: str) -> None:
    done = pypfm(*args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


@pytest.mark.parametrize(("path", "said"), [
    ("/no/such/libpfm.so.4", "No such file"), ("/etc/passwd", "it is no ELF file"),
    (PFM3.path, "is a libpfm 3, not a libpfm 4"),
])
@pytest.mark.slow
def test_wrong_libraries(path: object, said: str) -> None:
    for args in (("pmus",), ("encode", "-p", "skl", "X"), ("decode", "-p", "skl", "1")):
        done = pypfm(*args, f"--library={path}")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert said in done.stderr


def test_names_that_are_no_utf_8_are_printed(tmp_path: Path) -> None:
    path = library(tmp_path, 'EVENT_NAME="C\\376"')
    done = pypfm("events", "-p", "toy", "--library", path)
    assert (done.returncode, done.stdout) == (0, "C\\udcfe\nOTHER\n")
    assert "the nearest is toy" in pypfm("events", "-p", "tyo", "--library", path).stderr


def test_a_word_after_library_that_is_no_file_stands_for_itself() -> None:
    system = "--library=libpfm.so.4"
    assert whole_options(["encode", "-p", "skl", "--library", "INST_RETIRED"]) == [
        "encode", "-p", "skl", system, "INST_RETIRED"]
    assert whole_options(["pmus", "--library"]) == ["pmus", system]
    assert whole_options(["pmus", "--library", "./x"]) == ["pmus", "--library", "./x"]
    assert whole_options(["pmus", "--library", "libpfm.so.4"]) == ["pmus", "--library", "libpfm.so.4"]
    assert whole_options(["layout", "--library", "pfm4"]) == ["layout", "--library", "pfm4"]


# ---- what a library does when it is loaded -----------------------------------------------------

USES = [("pmus",), ("events", "-p", "toy"), ("info", "-p", "toy", "CYCLES"), ("encode", "-p", "toy", "CYCLES"),
        ("decode", "-p", "toy", "0x6")]


def of_code(directory: Path, code: str) -> Path:
    """A library with some code, beside what every libpfm 4 has."""
    out = directory / "libx.so"
    build(CC, "-shared", "-fPIC", "-w", "-xc", "-", "-o", out, source="#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n"
          f"int pfm_get_pmu_info(int a, void *b) {{ return -4; }}\n{code}")
    return out


ENDING = [
    ("__attribute__((constructor)) void f(void) { exit(0); }", "ended the process with status 0"),
    ("__attribute__((constructor)) void f(void) { _exit(3); }", "ended the process with status 3"),
    ("__attribute__((constructor)) void f(void) { abort(); }", "SIGABRT"),
    ("int pfm_initialize(void) { exit(0); }", "ended the process with status 0"),
    ("int pfm_initialize(void) { raise(SIGSEGV); return 0; }", "SIGSEGV"),
    ("int pfm_initialize(void) { return -1; }", "pfm_initialize() returns -1"),
]


@pytest.mark.parametrize(("words", "code", "said"), [*((USES[0], *ending) for ending in ENDING), *((words, *ENDING[-2]) for words in USES[1:])])
def test_a_library_that_ends_the_process(words: tuple[str, ...], code: str, said: str, tmp_path: Path) -> None:
    path = of_code(tmp_path, code)
    done = pypfm(*words, f"--library={path}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"pypfm {words[0]}: {path}")
    assert said in done.stderr


@pytest.mark.long
def test_a_library_that_hangs(tmp_path: Path) -> None:
    """It forks, too, and what it forks holds all descriptors."""
    path = of_code(tmp_path, "__attribute__((constructor)) void f(void) { signal(SIGALRM, SIG_IGN); fork(); for (;;) pause(); }")
    done = pypfm("pmus", f"--library={path}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(f"{path} is not used: loaded and initialised in a process of its own: no answer in time (10 s)\n")


@pytest.mark.parametrize("words", first(map(pytest.param, [("pmus",), *(("-p", "T\x1b[31m", *words) for words in (
    ("events",), ("encode", "C\x1b]0;x\a"), ("decode", "0x6")))])), ids=" ".join)
@pytest.mark.slow
def test_what_a_library_says_does_not_steer_a_terminal(words: tuple[str, ...], tmp_path: Path) -> None:
    path = library(tmp_path, 'PMU_NAME="T\\033[31m"', 'EVENT_NAME="C\\033]0;x\\a"')
    command = [words[2], *words[:2], *words[3:]] if len(words) > 1 else list(words)
    for text in (pypfm(*command, f"--library={path}"), pypfm(*command, f"--library={path}", "--json")):
        assert not {"\x1b", "\a"} & {*text.stdout, *text.stderr}
        assert text.stdout or "nearest" in text.stderr, text
    shown, _ = run_on_terminal(100, [PYPFM, *command, f"--library={path}"], cwd=tmp_path, env=clean_env(TERM="dumb"))
    assert "\x1b" not in shown
    assert "x1b[31m" in shown or "x1b]0;" in shown or "OTHER" in shown or "decode" in words


def test_completion_survives_a_library(tmp_path: Path) -> None:
    path = of_code(tmp_path, "__attribute__((constructor)) void f(void) { exit(0); }")
    args = argparse.Namespace(library=str(path), pmu="toy")
    with pytest.raises(LibraryError, match="status 0"):
        event_names("", args)
