"""Libraries that are right at first, or each time a little less so: many calls in one process."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from broken import DISPATCH, ENCODE, INITIALIZE4, changed, with_code
from forwarder import MUTANT, forwarder
from hostile import library as hooked
from native import PFM3, PFM4
from pypfm.config import Library
from pypfm.conform import runner
from pypfm.conform.endurance import CALLS, in_one_process, with_messages
from pypfm.conform.model import Report, Vector
from pypfm.conform.report.wording import verdict
from pypfm.conform.vectors import environment, function_of, group_of, in_steps, recorded

pytestmark = pytest.mark.long

MAIN = {"pfm3": "pfm_dispatch_events", "pfm4": "pfm_get_os_event_encoding"}


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


@pytest.mark.parametrize(("api", "change", "wanted"), [
    ("pfm3", "pfm_dispatch_events l 16", "memory"), ("pfm4", "pfm_find_event m 65536", "mapped memory"),
    ("pfm4", "pfm_initialize l 1048576", "memory")])
def test_memory_that_is_never_freed(api: str, change: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of functions that are called less often, and memory that does not come from malloc()."""
    found = mutant(api, monkeypatch, change).findings
    assert [(f.function, [d.field for d in f.differences]) for f in found] == [("process", [wanted])]
    assert found[0].differences[0].expected.endswith(" bytes after 1,000 calls")
    assert found[0].differences[0].got.endswith(" bytes at the end")


@pytest.mark.parametrize(("api", "change"), [
    ("pfm3", "pfm_dispatch_events f 1 2 16 5000"),  # the number of a register
    ("pfm4", "pfm_pmu_validate e -77 0 0 50"), ("pfm3", "pfm_strerror e -77 0 0 50"),
    ("pfm4", "pfm_get_os_event_encoding f 1 3 24 5000"),  # the index of an event
    ("pfm4", "pfm_initialize e -32 0 0 20")])
def test_a_function_that_is_right_for_some_calls(api: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The main one, and those of which there are no single calls, only steps."""
    function, *_, after = change.split()
    report = mutant(api, monkeypatch, change)
    assert {f.function for f in report.findings} == {function}
    places = [int(f.vector["long"]) for f in report.findings if f.vector]
    assert min(places) > int(after)
    assert f", call {places[0]:,} of its process" in report.findings[0].call


def test_it_starts_again_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    report = mutant("pfm3", monkeypatch, "pfm_dispatch_events a 0 0 0 2000")
    assert {(f.kind, f.function) for f in report.findings} == {("crash", "pfm_dispatch_events")}
    assert len(report.findings) >= 2
    assert all(re.search(r", call [\d,]+ of its process", f.call) for f in report.findings)
    assert sum(t.not_run for t in report.tallies.values()) == 0


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


# ---- strings that have to stay --------------------------------------------------------------------

@pytest.mark.parametrize("library", [PFM3, PFM4], ids=["pfm3", "pfm4"])
def test_texts_of_errors_in_one_buffer(library: Library, tmp_path: Path) -> None:
    """Each is right when it is returned; the next call writes over it."""
    old = "\t\t\treturn (char *)texts[i].text;" if library is PFM3 else "\t\t\treturn texts[i].text;"
    new = "{ static char text[256]; return strcpy(text, texts[i].text); }"
    report = runner.run(str(changed(library, tmp_path, "api.c", old, new)), vectors=[v for v in recorded(library.name) if v["kind"] == "sequence"])
    assert [(f.function, f.call, [d.field for d in f.differences]) for f in report.findings] == [
        ("pfm_strerror", "a string of pfm_strerror(), after later calls", ["return"])]


@pytest.mark.parametrize("keep", [
    "static char name[256]; info->name = strcpy(name, info->name);",
    # In pages that are gone at the next call.
    "static char *name; if (name) munmap(name, 4096);"
    "name = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); info->name = strcpy(name, info->name);"])
def test_names_of_events_that_do_not_stay(keep: str, tmp_path: Path) -> None:
    code = f"""pfm_err_t real_pfm_get_event_info(int, pfm_os_t, pfm_event_info_t *);
        pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *info)
        {{
            pfm_err_t ret = real_pfm_get_event_info(idx, os, info);
            if (!ret) {{ {keep} }}
            return ret;
        }}"""
    some = [v for v in recorded("pfm4") if v["kind"] == "info" and "event" in v][:200]
    report = runner.run(str(hooked(tmp_path, code, hooked=("pfm_get_event_info",))), vectors=some)
    assert {(f.function, f.differences[0].field) for f in report.findings} == {("pfm_get_event_info", "name")}


# ---- a library that is asked for messages ---------------------------------------------------------

@pytest.mark.parametrize(("library", "place", "code", "name"), [
    (PFM3, DISPATCH, 'if (getenv("{}")) return PFMLIB_ERR_NOASSIGN;', "LIBPFM_VERBOSE"),
    (PFM4, ENCODE, 'if (getenv("{}")) return PFM_ERR_NOTSUPP;', "LIBPFM_DEBUG")], ids=["pfm3", "pfm4"])
def test_messages_change_no_answer(library: Library, place: tuple[str, str], code: str, name: str, tmp_path: Path) -> None:
    """What is wrong without them, too, is said once."""
    calls = in_steps(recorded(library.name))
    asked = list(with_messages(calls))
    same = {v["id"] for v in asked}
    without = [v for v in calls if v["id"] in same and not environment(v)]
    found = runner.run(str(with_code(place, tmp_path, code.format(name))), vectors=[*without, *asked], jobs=2).findings
    assert {f.function for f in found} == {MAIN[library.name]}
    assert {environment(f.vector).get(name) for f in found if f.vector} == {"1"}
    assert len(found) == len({str(f.vector["id"]) for f in found if f.vector}) > 50


def test_after_the_end_in_pfm_initialize_nothing_was_tried(tmp_path: Path) -> None:
    """Even if the user accepts that end: calls before initialisation are not enough for functions that need it."""
    report = runner.run(str(with_code(INITIALIZE4, tmp_path, "_exit(3);")))
    report.findings[:] = [replace(finding, suppressed="known") for finding in report.findings]
    assert verdict(report).startswith("not everything was tried: of pfm_find_event, ")
