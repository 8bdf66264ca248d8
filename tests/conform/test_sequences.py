"""Sequences: what a client calls, in which order, and what it frees. Each library here conformed before there were any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from broken import changed
from foreign_library import debian
from forwarder import MUTANT, forwarder
from native import PFM4
from pypfm import schemas
from pypfm.config import LIBRARIES
from pypfm.conform import runner
from pypfm.conform.model import Report, Vector
from pypfm.conform.record import record_again
from pypfm.conform.report import text
from pypfm.conform.vectors import read, recorded
from pypfm.errors import ConformError
from terminal import pypfm

pytestmark = pytest.mark.slow


def sequences(api: str) -> list[Vector]:
    return [v for v in recorded(api) if v["kind"] == "sequence"]


def mutant(api: str, monkeypatch: pytest.MonkeyPatch, change: str) -> Report:
    """A run over the sequences with a library that does one thing wrong."""
    monkeypatch.setenv(MUTANT, change)
    return runner.run(str(forwarder(api)), vectors=sequences(api))


def functions(report: Report) -> set[str]:
    return {finding.function for finding in report.findings}


# ---- the recorded ones -----------------------------------------------------------------------

@pytest.mark.long
@pytest.mark.parametrize("api", ["pfm3", "pfm4"])
def test_recorded_again_they_are_the_same(api: str) -> None:
    """Of Debian's library, and for libpfm 3 of the one that is held to the specification.

    A new one is a line without what it expects, and is recorded as these were: ``pypfm vectors record LIBRARY --vectors FILE``.
    """
    library = debian() if api == "pfm4" else LIBRARIES[api].path
    assert record_again(str(library), without_answers(sequences(api))).vectors == sequences(api)


def without_answers(recorded: list[Vector]) -> list[Vector]:
    return [v | {"steps": [{name: value for name, value in step.items() if name != "expect"} for step in v["steps"]]} for v in recorded]


@pytest.mark.parametrize("api", ["pfm3", "pfm4"])
def test_the_schema(api: str) -> None:
    validator = jsonschema.Draft202012Validator(schemas.load("vector"))
    for vector in sequences(api):
        validator.validate(vector)


@pytest.mark.parametrize(("steps", "complaint"), [
    ("x", "steps is"), ([1], "step 1: '1' is no object"), ([{"call": "pfm_find_event"}], "step 1: step has no args"),
    ([{"call": "x", "args": []}], "step 1: call is"), ([{"free": "fstr"}], "step 1: no call before it has the name"),
    ([{"call": "pfm_get_event_next", "args": [{"value": "idx"}]}], "step 1: no call before it has the name"),
])
def test_what_is_no_sequence(steps: Any, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps({"kind": "sequence", "steps": steps}))
    with pytest.raises(ConformError, match=r"some\.jsonl:1: ") as error:
        read(path)
    assert complaint in str(error.value)


# ---- every function is called --------------------------------------------------------------------

@pytest.mark.long
@pytest.mark.parametrize(("change", "function"), [
    ("pfm_get_event_encoding a", "pfm_get_event_encoding"), ("pfm_pmu_validate e -1", "pfm_pmu_validate"),
])
def test_functions_that_no_call_was_made_of(change: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert functions(mutant("pfm4", monkeypatch, change)) == {function}


@pytest.mark.long
def test_a_text_of_an_error(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", 'return "unknown error code";', 'return "all is well";')
    report = runner.run(str(library), vectors=sequences("pfm4"))
    assert {(f.function, f.differences[0].got) for f in report.findings} == {("pfm_strerror", "all is well")}


@pytest.mark.long
def test_what_was_never_called_is_in_the_verdict() -> None:
    some = [v for v in sequences("pfm4") if v["id"] == "errors"]
    report = runner.run(str(PFM4.path), vectors=some)
    *_, verdict = text(report).splitlines()
    assert verdict.startswith("not everything was tried: of pfm_find_event, pfm_get_event_attr_info, ")
    assert "no differences" not in verdict
    assert report.status == 0
    assert report.tried["pfm_strerror"].calls == report.tried["pfm_strerror"].before == 17
    assert any(line.split() == ["pfm_terminate", "NEVER", "CALLED"] for line in text(report).splitlines())


# ---- lifetimes and states ------------------------------------------------------------------------

def test_a_string_that_cannot_be_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant("pfm4", monkeypatch, "pfm_get_event_encoding s 0 2")
    assert functions(report) == {"pfm_get_event_encoding"}
    assert any(f.call.startswith("free(fstr) of pfm_get_event_encoding()") and f.differences[0].got == "SIGABRT" for f in report.findings)


def test_a_library_that_does_not_begin_again(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", "\tstate.initialised = 0;\n", "\tstate.initialised = 2;\n")
    report = runner.run(str(library), vectors=sequences("pfm4"))
    assert "pfm_find_event" in functions(report)
    assert all(") after pfm_terminate()" in f.call or ") before pfm_initialize()" in f.call for f in report.findings)


@pytest.mark.long
@pytest.mark.parametrize("change", ["pfm_get_event_info d 4 2 40", "pfm_get_event_encoding d 8 2 0"])
def test_outputs_that_are_written_on_an_error(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant("pfm4", monkeypatch, change)
    assert functions(report) == {change.split()[0]}
    assert {d.expected for f in report.findings for d in f.differences} == {"absent"}


def test_a_null_that_is_not_refused(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", "\tif (!str)\n\t\treturn PFM_ERR_INVAL;\n", "")
    found = runner.run(str(library), vectors=sequences("pfm4")).findings
    assert {(f.kind, f.function, f.call.partition(",")[0]) for f in found} == {("crash", "pfm_find_event", "pfm_find_event(NULL)")}


def test_a_crash_where_the_reference_crashes_is_none(tmp_path: Path) -> None:
    """It is called, and counts as tried; nothing is compared."""
    library = changed(PFM4, tmp_path, "api.c", "sizeof(*arg)) || !arg->attr)", "sizeof(*arg)))")
    wanted = [v for v in sequences("pfm4") if v["id"] == "no-attr-perf"]
    assert [step.get("reference") for step in wanted[0]["steps"]] == [None, None, None, "SIGSEGV"]
    report = runner.run(str(library), vectors=wanted)
    assert report.findings == []
    assert report.tried["pfm_get_os_event_encoding"].calls == 1


def test_a_finding_is_replayed_with_what_came_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    report = mutant("pfm4", monkeypatch, "pfm_terminate a")
    first = report.findings[0]
    assert first.vector is not None
    assert first.call.endswith(f"step {len(first.vector['steps'])} of {first.vector['id']}")
    path = tmp_path / "again.jsonl"
    path.write_text(json.dumps(first.vector) + "\n")
    again = runner.run(str(forwarder("pfm4")), vectors=read(path))
    assert again.findings == [first]


def test_the_command_records_a_file_of_calls(tmp_path: Path) -> None:
    path, packed = tmp_path / "calls.jsonl", tmp_path / "out.jsonl"
    some = [v for v in sequences("pfm4") if v["id"] in ("errors", "before")]
    path.write_text("".join(json.dumps(v) + "\n" for v in without_answers(some)))
    done = pypfm("vectors", "record", PFM4.path, "--vectors", path, "-o", packed)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(packed) == some
    assert pypfm("vectors", "record", PFM4.path).returncode == 2
