"""Libraries that are right at first, or each time a little less so: many calls in one process."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from broken import DISPATCH, changed
from forwarder import MUTANT, forwarder
from native import PFM3
from pypfm.conform import runner
from pypfm.conform.endurance import CALLS, in_one_process
from pypfm.conform.model import Report, Vector
from pypfm.conform.vectors import function_of, group_of, in_steps, recorded

pytestmark = pytest.mark.slow

MAIN = {"pfm3": "pfm_dispatch_events", "pfm4": "pfm_get_os_event_encoding"}
# A wrong field in what each writes: the number of a register, the index of an event.
WRONG = {"pfm3": "pfm_dispatch_events f 1 2 16", "pfm4": "pfm_get_os_event_encoding f 1 3 24"}


@cache
def in_a_row(api: str) -> list[Vector]:
    return list(in_one_process(api, in_steps(recorded(api))))


def mutant(api: str, monkeypatch: pytest.MonkeyPatch, change: str) -> Report:
    monkeypatch.setenv(MUTANT, change)
    return runner.run(str(forwarder(api)), vectors=in_a_row(api), jobs=2)


@pytest.mark.parametrize("api", MAIN)
def test_the_calls(api: str) -> None:
    """As many as are said, always the same ones, the main function more than 5,000 times in one process."""
    calls = in_a_row(api)
    assert {len(calls) % CALLS, len(calls) // CALLS} == {0, len({*map(group_of, calls)})}
    assert calls == list(in_one_process(api, in_steps(recorded(api))))
    assert max(Counter((group_of(v), function_of(v)) for v in calls).values()) > 5000
    assert calls[0]["long"] == 1


@pytest.mark.parametrize("api", MAIN)
def test_all_functions_about_equally_often(api: str) -> None:
    """But the main one, to its end; libpfm 4 is initialised again and again."""
    rows: dict[str, list[str]] = {}
    for vector in in_a_row(api):
        if "free" not in vector:
            rows.setdefault(group_of(vector), []).append(function_of(vector))
    for row in rows.values():
        counts = Counter(row)
        assert counts.pop("pfm_terminate", 0) == counts.pop("pfm_initialize", 0) == (30 if api == "pfm4" else 0)
        assert counts.pop(MAIN[api]) > 5000
        assert max(counts.values()) < 1.5 * min(counts.values())
        assert set(counts) <= set(row[-2 * len(counts):])


@pytest.mark.parametrize(("change", "function"), [
    ("pfm_find_event e -4 0 0 4000", "pfm_find_event"), ("pfm_initialize e -32 0 0 20", "pfm_initialize")])
def test_a_library_that_is_right_for_very_many_calls(change: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert function in {f.function for f in mutant("pfm4", monkeypatch, change).findings}


@pytest.mark.parametrize("change", [
    "pfm_find_event m 65536", "pfm_initialize l 1048576", "pfm_terminate l 4194304"])
def test_memory_of_other_functions(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that are called less often, and memory that does not come from malloc()."""
    found = mutant("pfm4", monkeypatch, change).findings
    wanted = "mapped memory" if " m " in change else "memory"
    assert [(f.function, [d.field for d in f.differences]) for f in found] == [("process", [wanted])]
    assert found[0].differences[0].expected.endswith(" bytes after 1,000 calls")
    assert found[0].differences[0].got.endswith(" bytes at the end")


@pytest.mark.parametrize("api", MAIN)
def test_a_sound_library_stays_right(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant(api, monkeypatch, "none p")
    assert report.findings == []


@pytest.mark.parametrize("after", [400, 1100, 5000])
@pytest.mark.parametrize("api", MAIN)
def test_a_library_that_is_right_for_some_calls(api: str, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant(api, monkeypatch, f"{WRONG[api]} {after}")
    assert {f.function for f in report.findings} == {MAIN[api]}
    places = [int(f.vector["long"]) for f in report.findings if f.vector]
    assert min(places) >= after
    assert f", call {places[0]:,} of its process" in report.findings[0].call


@pytest.mark.parametrize(("api", "function"), [
    ("pfm3", "pfm_strerror"), *(("pfm4", f"pfm_{name}") for name in (
        "strerror", "get_version", "pmu_validate", "get_event_encoding", "get_perf_event_encoding"))])
def test_a_function_that_is_right_for_some_calls(api: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of which there are no single calls, only steps, are in the row, too."""
    report = mutant(api, monkeypatch, f"{function} e -77 0 0 50")
    assert {f.function for f in report.findings} == {function}
    assert min(int(f.vector["long"]) for f in report.findings if f.vector) > 50


@pytest.mark.parametrize("api", MAIN)
def test_it_starts_again_after_a_crash(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant(api, monkeypatch, f"{MAIN[api]} a 0 0 0 2000")
    assert {(f.kind, f.function) for f in report.findings} == {("crash", MAIN[api])}
    assert len(report.findings) >= 2
    assert all(re.search(r", call [\d,]+ of its process", f.call) for f in report.findings)
    assert sum(t.not_run for t in report.tallies.values()) == 0


@pytest.mark.parametrize("api", MAIN)
def test_memory_that_is_never_freed(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant(api, monkeypatch, f"{MAIN[api]} l 16")
    assert [(f.function, [d.field for d in f.differences]) for f in report.findings] == [("process", ["memory"])]


def test_they_are_part_of_a_run() -> None:
    """Of one with all recorded calls; on the API whose calls take less time."""
    report = runner.run(str(PFM3.path), jobs=2)
    assert sum(t.run for t in report.tallies.values()) > CALLS + len(recorded("pfm3"))
    assert report.findings == []


# ---- what single calls show, too ----------------------------------------------------------------

def test_a_register_beyond_the_count(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, DISPATCH[0], DISPATCH[1], DISPATCH[1] + "\tout->pfp_pmds[300].reg_num = 7;\n")
    some = [v for v in recorded("pfm3") if v["kind"] == "dispatch"][:50]
    report = runner.run(str(library), vectors=some)
    assert {d.field for f in report.findings for d in f.differences} == {"pmds beyond the count"}
    assert len(report.findings) == sum(not v["expect"]["ret"] for v in some)


def test_a_description_that_cannot_be_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MUTANT, "pfm_get_event_description s 0 1")
    some = [v for v in recorded("pfm3") if v["kind"] == "query"][:5]
    report = runner.run(str(forwarder("pfm3")), vectors=some)
    assert {(f.kind, f.differences[0].got) for f in report.findings} == {("crash", "SIGABRT")}
