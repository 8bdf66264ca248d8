"""A PMU that only the system's libpfm 4 knows: from Python and from each command, with the library and without one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from conftest import clean_env, run, run_python
from foreign_library import debian, library
from pypfm import DecodeError, InvalidValueError, decode, perf, pmu, schemas
from terminal import PYPFM, pypfm
from tools import first

NAMES = ["intel skylake", "SKL"]
COMMANDS = [("encode", "CYCLES"), ("decode", "0x6")]


@pytest.fixture
def toys(tmp_path: Path) -> dict[str, str]:
    """An environment in which the system's libpfm 4 is a small one."""
    shutil.move(library(tmp_path), tmp_path / "libpfm.so.4")
    return clean_env(LD_LIBRARY_PATH=str(tmp_path))


@pytest.fixture
def none(tmp_path: Path) -> dict[str, str]:
    """An environment in which the system has no libpfm 4 that can be loaded."""
    (tmp_path / "libpfm.so.4").touch()
    return clean_env(LD_LIBRARY_PATH=str(tmp_path))


@pytest.mark.parametrize("name", first(NAMES))
def test_python_finds_it_by_name_and_by_description(name: str) -> None:
    debian()
    skl = pmu(name)
    assert (skl.name, skl.library, len(skl)) == ("skl", "libpfm.so.4", 84)
    assert skl == perf.Pmu(name) == pmu("skl", library="libpfm.so.4") == perf.Pmu(name, library="libpfm.so.4")
    assert skl.encode("INST_RETIRED:ANY_P").codes == (0x5100C0,)
    assert decode(name, {"code": 0x5100C0}) == decode("skl", {"code": 0x5100C0}, library="libpfm.so.4")


def test_what_neither_knows() -> None:
    debian()
    for call, error in ((pmu, InvalidValueError), (perf.Pmu, InvalidValueError), (lambda n: decode(n, {"code": 1}), DecodeError)):
        with pytest.raises(error, match=r"'skl2': expected one of .*, or one that /.*libpfm\.so\.4.* knows; the nearest .*skl"):
            call("skl2")


def test_ours_come_first() -> None:
    assert pmu("goldmont").library is perf.Pmu("GLM").library is None


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_the_first_line_of_a_command_says_so(words: tuple[str, ...], toys: dict[str, str], tmp_path: Path) -> None:
    done = run(PYPFM, words[0], "-p", "TOY", *words[1:], env=toys)
    assert (done.returncode, done.stderr) == (0, f"pypfm {words[0]}: toy (a toy) is from {tmp_path}/libpfm.so.4\n")
    assert done.stdout == run(PYPFM, words[0], "-p", "toy", "--library", *words[1:], env=toys).stdout != ""


def test_what_encode_prints_of_it_is_decoded() -> None:
    debian()
    done = pypfm("encode", "-p", "Skylake", "INST_RETIRED:ANY_P", "--json")
    jsonschema.validate(json.loads(done.stdout), schemas.load("encode_pfm4"))
    assert json.loads(done.stdout)["pmu"] == "skl"
    decoded = run(PYPFM, "decode", "-p", "SKL", "-", input=done.stdout)
    assert "INST_RETIRED" in {c["event"] for c in json.loads(decoded.stdout)["candidates"]}
    assert pypfm("encode", "-p", "skl", "--perf", "INST_RETIRED:ANY_P").stdout == "perf stat -e rc0:u\n"


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_without_a_library_it_is_said_how_to_get_one(words: tuple[str, ...], none: dict[str, str]) -> None:
    done = run(PYPFM, words[0], "-p", "skl", *words[1:], env=none)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "invalid choice: 'skl' (choose from 'gen_ia64', " in done.stderr
    assert "libpfm.so.4 cannot be loaded: " in done.stderr
    assert "(to install it: apt-get install libpfm4 (Debian, Ubuntu) or dnf install libpfm (Fedora))" in done.stderr


def test_python_without_a_library(none: dict[str, str]) -> None:
    done = run_python("import pypfm; pypfm.pmu('glm'); pypfm.perf.Pmu('skl')", LD_LIBRARY_PATH=none["LD_LIBRARY_PATH"])
    assert "InvalidValueError: PMU 'skl': expected one of " in done.stderr
    assert "apt-get install libpfm4" in done.stderr


def test_our_pmus_do_not_load_it() -> None:
    done = run_python("import pypfm, sys; pypfm.pmu('Goldmont'); pypfm.pmu('Madison')\n"
                      "print('pypfm.perf.foreign' in sys.modules, 'libpfm.so.4' in open('/proc/self/maps').read())")
    assert done.stdout == "False False\n", done.stderr


@pytest.mark.parametrize("words", [["perfex", "--cpu", "R12000", "--list"], ["pmc", "--machine", "XScale", "-h"]])
def test_the_other_commands_know_processors_in_any_case_too(words: list[str]) -> None:
    done = run(PYPFM.with_name(words[0]), *words[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(PYPFM.with_name(words[0]), *[word.lower() for word in words[1:]]).stdout
