"""The whole kit through its command: symbols, structures, recorded answers, another library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from broken import changed, objects
from conftest import run
from foreign_library import debian
from native import PFM3, PFM4, build_library, csrc
from pypfm import schemas
from pypfm.config import LIBRARIES
from pypfm.conform import conform, random_calls
from pypfm.conform.vectors import pmu_of, recorded
from runs import vectors_file
from terminal import PYPFM, pypfm
from tools import first

pytestmark = pytest.mark.slow


@pytest.fixture
def no_vectors(tmp_path: Path) -> Path:
    """A file of vectors without any: the other checks alone."""
    path = tmp_path / "none.jsonl"
    path.write_text("")
    return path


def report_of(*args: object) -> tuple[int, dict[str, Any]]:
    done = run(PYPFM, "conform", *args, "--report", "json")
    return done.returncode, json.loads(done.stdout)


def test_a_file_whose_symbols_cannot_be_read_is_checked_all_the_same(tmp_path: Path, no_vectors: Path) -> None:
    """The loader does not look at section headers."""
    data = bytearray(LIBRARIES["pfm4"].path.read_bytes())
    data[0x28:0x30] = (len(data) + 5000).to_bytes(8, "little")  # e_shoff
    path = tmp_path / "libpfm.so.4"
    path.write_bytes(data)
    status, report = report_of(path, "--vectors", no_vectors)
    assert (status, report["findings"]) == (0, [])
    assert report["notes"][0].startswith("symbols were not checked: ")


@pytest.mark.parametrize("api", first(["pfm4", "pfm3", "pfm3-manual"], 2))
def test_our_libraries_pass_everything(api: str, tmp_path: Path) -> None:
    some = ("--vectors", vectors_file(recorded(api)[::20], tmp_path))
    status, report = report_of(LIBRARIES[api].path, "--against", LIBRARIES[api].path, "--calls", 300, *some)
    assert (status, report["findings"]) == (0, [])
    jsonschema.validate(report, schemas.load("conform"))
    tallies = {name: tally["run"] for name, tally in report["functions"].items()}
    assert all(tallies.values())
    described = {"pfm4": "pfm_pmu_info_t"}.get(api, "pfmlib_mont_input_param_t")
    assert described in tallies  # structures
    assert "pfm_get_version" in tallies  # symbols and answers


@pytest.mark.long
def test_debians_library_differs_in_descriptions_alone(no_vectors: Path) -> None:
    theirs = debian()
    args = (theirs, "--against", PFM4.path, "--calls", 300, "--seed", 5)
    status, report = report_of(*args)
    assert status == 4
    assert {d["field"].rpartition(".")[2] for f in report["findings"] for d in f["differences"]} == {"desc"}
    assert pypfm("conform", *args, "--suppressions", "debian-libpfm4", "--vectors", no_vectors).returncode == 0
    said, = (note for note in report["notes"] if "gen_ia64" in note)
    assert said == f"{theirs} has no gen_ia64, ita, ita2 or mont: 13118 calls that need them were not made"


@pytest.mark.long
def test_random_calls_are_about_pmus_that_both_libraries_have(no_vectors: Path) -> None:
    """As many as are asked for, whichever library lacks some; a note says which PMUs are left out."""
    theirs = debian()
    expected = f"{theirs} has no gen_ia64, ita, ita2 or mont: no random calls were made about them"
    for one, other in ((theirs, PFM4.path), (PFM4.path, theirs)):
        _, report = report_of(one, "--against", other, "--calls", 300, "--vectors", no_vectors, "--suppressions", "debian-libpfm4")
        assert [note for note in report["notes"] if "gen_ia64" in note] == [expected]
        made = [report["functions"][name] for name in ("pfm_get_os_event_encoding", "pfm_get_event_info", "pfm_get_pmu_info")]
        assert sum(tally["run"] for tally in made) == 300 + 3  # and their symbols
        assert sum(tally["not_run"] for tally in made) == 0


def test_a_missing_function(tmp_path: Path, no_vectors: Path) -> None:
    """A finding about the binary has a bit of the exit status of its own."""
    library = changed(PFM3, tmp_path, "api.c", "\npfm_get_version(", "\npfm_old_version(")
    done = pypfm("conform", library, "--vectors", no_vectors)
    assert done.returncode == 8, done.stdout + done.stderr
    assert "pfm_get_version" in done.stdout


def test_the_function_that_identifies_an_api_may_be_missing(tmp_path: Path, no_vectors: Path) -> None:
    exports = tmp_path / "exports.map"
    exports.write_text((csrc(PFM4) / "libpfm4.map").read_text().replace("\tpfm_get_os_event_encoding;\n", ""))
    library = build_library(PFM4, tmp_path, f"-Wl,--version-script={exports}", sources=[*objects(PFM4).values()])
    assert pypfm("conform", library, "--vectors", no_vectors).returncode == 1
    done = pypfm("conform", library, "--vectors", no_vectors, "--api", "pfm4")
    assert done.returncode == 8, done.stdout + done.stderr
    assert "pfm_get_os_event_encoding" in done.stdout
    for other in (["--api", "pfm3"], []):
        refused = pypfm("conform", PFM4.path if other else "libc.so.6", *other)
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)


def test_the_seed_chooses_the_calls() -> None:
    assert random_calls("pfm3", 50, 1) == random_calls("pfm3-manual", 50, 1)
    assert random_calls("pfm4", 50, 1) != random_calls("pfm4", 50, 2)
    calls = random_calls("pfm4", 100, 1)
    assert len(calls) == 100
    assert {pmu_of(v) for v in calls} >= {"glm", "perf", "mont", "gen_ia64"}
    some = random_calls("pfm4", 100, 1, without={"ita", "ita2", "mont", "gen_ia64"})
    assert len(some) == 100
    assert {pmu_of(v) for v in some} == {"glm", "perf", "perf_raw"}


@pytest.mark.parametrize(("args", "message"), [
    (["--calls", "5"], "--calls and --seed are about the random calls of --against PATH"),
    (["--seed", "5"], "--calls and --seed are about the random calls of --against PATH"),
    (["--against", "/x", "--calls", "0"], "'0' is not between 1 and 10000000"),
    (["--api", "pmc"], "choose from"),
])
def test_wrong_use(args: list[str], message: str) -> None:
    done = pypfm("conform", PFM3.path, *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_of_vectors_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"kind": "call"}\n{\n')
    done = pypfm("conform", PFM3.path, "--vectors", path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr


def test_python() -> None:
    report = conform(str(PFM3.path), vectors=[])
    assert report.status == 0
    assert report.api == "pfm3"
