"""pypfm vectors: what it writes follows the schema, and another library can be held to it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import VECTORS
from native import CC, build
from pfm3_vectors import read
from pypfm import schemas
from pypfm.config import LIBRARIES
from pypfm.conform import runner, vectors
from terminal import pypfm

pytestmark = pytest.mark.slow

PMUS = {"itanium2": "pfm3", "montecito": "pfm3", "itanium": "pfm3", "gen_ia64": "pfm3",
        "glm": "pfm4", "perf": "pfm4", "perf_raw": "pfm4", "gen_ia64 --api pfm4": "pfm4", "ita": "pfm4", "ita2": "pfm4",
        "mont": "pfm4"}
SCHEMA = jsonschema.Draft202012Validator(schemas.load("vector"))
Lines = list[dict[str, Any]]


def library(pmu: str) -> Path:
    return LIBRARIES[PMUS[pmu]].path


def output(*args: object) -> str:
    done = pypfm("vectors", *args)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def lines(text: str) -> Lines:
    return [json.loads(line) for line in text.splitlines()]


def features(value: Any, path: str) -> Iterator[tuple[object, ...]]:
    """What of a vector the schema looks at: keys that are there together, types, signs, how a text is made."""
    if isinstance(value, dict):
        yield path, *sorted(value)
        for name, inner in value.items():
            yield from features(inner, f"{path}.{name}")
    elif isinstance(value, list):
        yield path, min(len(value), 9)
        for inner in value:
            yield from features(inner, f"{path}[]")
    elif isinstance(value, str):
        yield path, re.sub("[0-9a-f]+", "0", value[:99]) if value.startswith("0x") else bool(value)
    else:
        yield path, type(value), isinstance(value, int) and value < 0


def with_something_new(found: Lines) -> Iterator[dict[str, Any]]:
    """The vectors with a feature that none before has: to validate each of 11,000 takes minutes."""
    seen: set[tuple[object, ...]] = set()
    for vector in found:
        here = set(features(vector, f"{vector['kind']} {vector.get('result')}"))
        if not here <= seen:
            yield vector
            seen |= here


def check_lines(found: Lines) -> None:
    """They follow the schema; ids are unique; the outcome in words is that of the return code."""
    assert len({v["id"] for v in found}) == len(found)
    for vector in with_something_new(found):
        errors = list(SCHEMA.iter_errors(vector))
        assert not errors, jsonschema.exceptions.best_match(errors)
    for vector in found:
        if vector["kind"] not in ("query", "sequence"):
            assert (vector["result"] == "valid") == (vector["expect"].get("ret", 0) == 0)


def check_replay(path: Path, found: Lines) -> None:
    """A conformance run with these vectors: each is run, none differs."""
    report = runner.run(str(path), vectors=found, jobs=2)
    assert not report.findings, report.findings[0].differences
    assert not report.notes
    assert not sum(t.not_run for t in report.tallies.values())
    assert sum(t.run for t in report.tallies.values()) >= len(found)  # and the calls that start the library


@pytest.fixture(scope="module")
def exported() -> Callable[[str], Lines]:
    made: dict[str, Lines] = {}

    def export(pmu: str) -> Lines:
        if pmu not in made:
            made[pmu] = lines(output("export", "-p", *pmu.split()))
        return made[pmu]
    return export


# ---- export ----------------------------------------------------------------------------

@pytest.mark.long
@pytest.mark.parametrize("pmu", sorted(PMUS, key=lambda pmu: pmu not in ("itanium2", "glm")))
def test_every_exported_line_follows_the_schema(pmu: str, exported: Callable[[str], Lines]) -> None:
    check_lines(exported(pmu))


@pytest.mark.long
@pytest.mark.parametrize("api", ["pfm3", "pfm4"])
def test_nothing_recorded_is_lost(api: str, exported: Callable[[str], Lines]) -> None:
    ids = {v["id"] for pmu, of in PMUS.items() if of == api for v in exported(pmu)}
    assert ids == {v["id"] for v in vectors.recorded(api)}


def test_how_many_are_exported(exported: Callable[[str], Lines]) -> None:
    requests = [v for name in ("itanium2", "montecito", "itanium") for v in exported(name) if v["kind"] == "dispatch"]
    assert len(requests) == sum(len(read(str(f))) for f in VECTORS.glob("pfm3_*.jsonl*") if "api" not in f.name)
    assert Counter(v["kind"] for v in exported("itanium2"))["query"] == 497
    assert Counter(v["kind"] for v in exported("itanium"))["query"] == 230
    assert [v["id"] for v in exported("gen_ia64") if v["kind"] == "dispatch"] == ["generic-checked-example"]


def test_exported_lines_hold_what_was_recorded(exported: Callable[[str], Lines]) -> None:
    recorded = {v["id"]: v for v in vectors.recorded("pfm3")}
    added = {"result", "error", "why"}
    for vector in exported("itanium2"):
        kept = {k: x for k, x in recorded[vector["id"]].items() if k != "leaves"}
        assert {k: x for k, x in vector.items() if k not in added} == kept


def test_an_error_says_its_name_and_why(exported: Callable[[str], Lines]) -> None:
    failed = {v["id"]: v for v in exported("itanium2") if v.get("result") == "error"}
    row = failed["golden-ita2-09"]
    assert row["error"] == "PFMLIB_ERR_EVTSET"
    assert row["why"].startswith("events incompatible (event set conflict)") or "L1D_READS_SET" in row["why"]
    known = [v for v in failed.values() if v["kind"] == "dispatch" and ":" in v["why"]]
    assert len(known) > 0.95 * sum(v["kind"] == "dispatch" for v in failed.values())
    strings = [v for v in exported("glm") if v.get("result") == "error" and v["error"] == "PFM_ERR_ATTR"]
    assert any("unit masks:" in v["why"] for v in strings)


def test_our_library_answers_exported_vectors(exported: Callable[[str], Lines]) -> None:
    check_replay(library("gen_ia64"), exported("gen_ia64"))


def test_a_wrong_answer_in_a_file_is_found(exported: Callable[[str], Lines]) -> None:
    """The control of check_replay()."""
    vector = next(v for v in exported("itanium2") if v["kind"] == "dispatch" and v.get("result") == "valid")
    vector = vector | {"expect": vector["expect"] | {"pmds": []}}
    with pytest.raises(AssertionError, match="pmds"):
        check_replay(library("itanium2"), [vector])


def test_output_to_a_file_is_the_same(tmp_path: Path) -> None:
    target = tmp_path / "vectors.jsonl"
    assert output("export", "-p", "perf_raw", "-o", target) == ""
    assert target.read_text() == output("export", "-p", "perf_raw")
    assert [v["id"] for v in vectors.read(target)] == [v["id"] for v in lines(target.read_text())]


# ---- the schema -------------------------------------------------------------------------

def test_the_schema_is_printed() -> None:
    assert json.loads(output("schema")) == schemas.load("vector")


@pytest.mark.parametrize(("kind", "change"), [
    ("dispatch", {"result": "maybe"}), ("dispatch", {"pmu": "merced"}), ("dispatch", {"extra": 1}),
    ("dispatch", {"model_in": {"pfp_ita2_opcm1": {}}}), ("dispatch", {"expect": {"ret": 0, "pmcs": [[4, 4, 4]]}}),
    ("dispatch", {"events": [{"name": "CPU_CYCLES"}]}), ("dispatch", {"id": ""}), ("dispatch", {"expect": {}}),
    ("call", {"args": None}), ("call", {"expect": {"value": 1.5}}), ("query", {"expect": {}}),
    ("query", {"index": -1}), ("dispatch", {"kind": "call"}), ("call", {"result": "error"}),
    ("dispatch", {"error": "PFMLIB_ERR_INVAL"}),
])
def test_the_schema_refuses_what_is_no_vector(kind: str, change: dict[str, Any],
                                              exported: Callable[[str], Lines]) -> None:
    vector = next(v for v in exported("itanium2") if v["kind"] == kind and v.get("result") == "valid")
    assert SCHEMA.is_valid(vector)
    assert not SCHEMA.is_valid(vector | change)


# ---- record -----------------------------------------------------------------------------

@pytest.mark.long
@pytest.mark.parametrize("pmu", ["montecito", "glm"])
def test_a_recorded_set_holds_for_its_library(pmu: str, tmp_path: Path) -> None:
    target = tmp_path / "set.jsonl"
    output("record", library(pmu), "-p", *pmu.split(), "--calls", 2500, "--seed", 3, "-o", target)
    found = lines(target.read_text())
    assert len(found) == 2500
    check_lines(found)
    check_replay(library(pmu), vectors.read(target))


@pytest.mark.long
def test_recording_is_repeatable_and_seeded() -> None:
    def once(seed: int, jobs: int) -> str:
        return output("record", library("glm"), "-p", "glm", "--calls", 300, "--seed", seed, "--jobs", jobs)
    assert once(1, 1) == once(1, 2)
    assert once(1, 1) != once(2, 1)
    assert once(1, 1) == output("record", library("glm"), "-p", "glm", "--calls", 300)


def test_the_form_of_the_manual_pages_can_be_recorded() -> None:
    manual = LIBRARIES["pfm3-manual"].path
    found = lines(output("record", manual, "-p", "montecito", "--calls", 300))
    check_lines(found)
    assert len(found) == 300
    check_replay(manual, found)


BROKEN = """
#include <stddef.h>
#include <stdlib.h>
int pfm_initialize(void) { return 0; }
int pfm_force_pmu(int t) { (void)t; return 0; }
int pfm_get_pmu_type(int *t) { *t = 3; return 0; }
int pfm_find_event(const char *s, unsigned *i) { (void)s; *i = 0; return 0; }
int pfm_dispatch_events(void *a, void *b, void *c, void *d)
{
    (void)a; (void)b; (void)c;
    if (d) return -2;
    abort();
}
int pfm_get_num_events(unsigned *n) { *n = 1; return 0; }
"""


def test_calls_on_which_the_library_crashes_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "libpfm.so.3"
    build(CC, "-shared", "-fPIC", "-x", "c", "-", "-o", path, source=BROKEN)
    done = pypfm("vectors", "record", path, "-p", "itanium2", "--calls", 300, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    found = lines(done.stdout)
    check_lines(found)
    requests = [v for v in found if v["kind"] == "dispatch"]
    assert requests
    assert all(v.get("model_out") and v["expect"]["ret"] == -2 for v in requests)
    note, = done.stderr.splitlines()
    assert note.startswith(f"pypfm vectors: {300 - len(found)} of 300 calls left out: ")
    assert "crashed (SIGABRT)" in note
    assert "of functions that are not exported" in note


# ---- wrong uses ---------------------------------------------------------------------------

@pytest.mark.parametrize(("args", "complaint"), [
    (["exprot"], "the nearest is export"),
    (["export"], "-p/--pmu"),
    (["export", "-p", "pentium"], "invalid choice: 'pentium'"),
    (["export", "-p", "glm", "extra"], "unrecognized arguments: extra"),
    (["record", "-p", "glm"], "LIBRARY"),
    (["record", "x.so", "-p", "glm", "--calls", "0"], "'0' is not between 1 and"),
    (["record", "x.so", "-p", "glm", "--calls", "many"], "'many' is not a number"),
    (["record", "x.so", "-p", "glm", "--seed", "-1"], "'-1' is negative"),
    (["record", "x.so", "-p", "glm", "--jobs", "0"], "'0' is not between 1 and"),
    (["record", "x.so", "-p", "glm", "--api", "pfm5"], "invalid choice: 'pfm5'"),
    (["schema", "-p", "glm"], "unrecognized arguments"),
])
def test_wrong_usage(args: list[str], complaint: str) -> None:
    done = pypfm("vectors", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("args", "complaint"), [
    (["record", "./no-such.so", "-p", "glm"], "cannot be loaded"),
    (["record", __file__, "-p", "glm"], "cannot be loaded"),
    (["record", "libc.so.6", "-p", "glm"], "is no libpfm 3 or 4"),
    (["record", library("glm"), "-p", "montecito"], "is a library of pfm4, which has no montecito"),
    (["record", library("itanium2"), "-p", "perf"], "is a library of pfm3, which has no perf"),
    (["record", library("glm"), "-p", "glm", "--api", "pfm3"], "is no library of pfm3"),
    (["export", "-p", "ita", "--api", "pfm3"], "pfm3 has no ita"),
    (["export", "-p", "perf_raw", "-o", "/no/such/directory/file"], "No such file or directory"),
    (["export", "-p", "perf_raw", "-o", "/"], "Is a directory"),
    (["record", library("glm"), "-p", "glm", "--calls", "3", "-o", "/dev/full"], "No space left on device"),
])
def test_mistakes_are_one_line(args: list[object], complaint: str) -> None:
    done = pypfm("vectors", *args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("pypfm vectors: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_library_without_the_pmu(tmp_path: Path) -> None:
    path = tmp_path / "libpfm.so.3"
    build(CC, "-shared", "-fPIC", "-x", "c", "-", "-o", path, source=BROKEN)
    done = pypfm("vectors", "record", path, "-p", "montecito", "--calls", 20)
    assert (done.returncode, done.stdout) == (1, "")
    note, = done.stderr.splitlines()
    assert "answers none of 20 calls on montecito: pfm_get_pmu_type(" in note
    assert "expected 4, got 3" in note
