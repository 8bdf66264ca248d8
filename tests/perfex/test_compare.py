"""perfex --compare and --baseline: what has changed between two reports, and what of that is noise."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import signal
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perfex_runs import PERFEX, compile_c, counted, damaged, environment, perfex, refused
from pypfm.perfex import changes, compare, costs, events, merge, noise, reading, report
from pypfm.perfex.changes import VERDICTS, Change, Comparison
from pypfm.perfex.model import CPUS, Cpu, Measurement, Outcome, PerfexError, Request, signal_name
from pypfm.perfex.repeat import combined
from pypfm.perfex.report import Report
from pypfm.perfex.spread import Spread
from tools import needs
from valid import validate

# Reports on eight real runs of a program that touches 1000 pages (before, again) or 1100 (more), on one machine.
STORED = Path(__file__).parent / "stored"


def no_number(word: str) -> NoReturn:
    raise AssertionError(f"{word} is not JSON")


def compared(*args: object, status: int = 0) -> dict[str, Any]:
    """The comparison as JSON, checked against its schema; neither Infinity nor NaN is in it."""
    done = perfex("--json", *args)
    assert done.returncode == status, done.stderr
    data: dict[str, Any] = json.loads(done.stdout, parse_constant=no_number)
    validate(data, "perfex_compare")
    return data


def event(data: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = next(e for e in data["events"] if e["event"] == number)
    return found


def made(runs: dict[int, list[int | None]], backend: str = "perf", cpu: Cpu = "r10000", estimated: bool = False,
         **of_request: Any) -> Report:
    """A report on runs with these counts."""
    outcomes = []
    for run in range(len(next(iter(runs.values())))):
        rows = tuple(Measurement(events.table(cpu)[i], each[run], "exact" if each[run] is not None else "unavailable")
                     for i, each in runs.items())
        outcomes.append(Outcome(backend, "why", 0, rows, clock=100.0, clock_source="given", estimated_cycles=estimated))
    outcome = outcomes[0] if len(outcomes) == 1 else combined(outcomes, len(outcomes))
    return Report(Request(("a.out",), cpu=cpu, events=tuple(runs), **of_request), outcome)


FORMS = {"txt": report.text, "json": report.json_text, "csv": lambda r: report.csv_head() + report.csv_text(r)}


def write(path: Path, runs: dict[int, list[int | None]], form: str = "json", **more: Any) -> Path:
    path.write_text(FORMS[form](made(runs, **more)))
    return path


def between(first: dict[int, list[int | None]], second: dict[int, list[int | None]], **more: Any) -> Comparison:
    sides = [reading.stored(made(runs, **more), name) for runs, name in ((first, "first"), (second, "second"))]
    return compare.compare(*sides)


# ---- perf: noise and change ---------------------------------------------------------------


def test_the_same_program_twice_is_noise() -> None:
    data = compared("--compare", STORED / "perf_before.json", STORED / "perf_again.json")
    assert [(e["event"], e["verdict"]) for e in data["events"]] == [(0, "noise"), (25, "noise")]
    assert min(e["p"] for e in data["events"]) > 0.5
    assert data["notes"] == []


def test_a_tenth_more_is_none() -> None:
    data = compared("--compare", STORED / "perf_before.json", STORED / "perf_more.json")
    assert [(e["event"], e["verdict"]) for e in data["events"]] == [(0, "change"), (25, "change")]
    assert 9 < event(data, 25)["percent"] < 10
    before, more = (reading.read(STORED / name) for name in ("perf_before.json", "perf_more.json"))
    assert more.spread(25) == Spread.of(json.loads((STORED / "perf_more.json").read_text())["events"][0]["runs"]["counts"])
    assert before.spread(25) is not None


def test_one_run_on_one_side() -> None:
    found = between({25: [100]}, {25: [100, 110, 120]})
    assert (found.changes[0].verdict, found.methods) == (
        "not known", ("one run on one side: what is noise is not known; --repeat says",))


# ---- the simulation: exact differences --------------------------------------------------------

@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with as many loads more as its argument says."""
    return compile_c(tmp_path_factory.mktemp("loads"), "loads", "int main(int n, char **v) { volatile int x = 0;"
                     " for (unsigned long i = strtoul(v[n - 1], 0, 10); i; i--) (void)x; return 0; }")


def test_a_simulation_is_compared_exactly(loads: Path, tmp_path: Path) -> None:
    """1000 rounds of a loop more: 1000 loads and 1000 branches, and no store; the same command again is the same."""
    needs("valgrind")
    for name, rounds in (("a", 1000), ("again", 1000), ("b", 2000)):
        perfex("--backend", "valgrind", "--json", "-a", "-o", tmp_path / name, loads, rounds)
    data = compared("--compare", tmp_path / "a", tmp_path / "b")
    found = {e["event"]: (e["change"], e["verdict"]) for e in data["events"]}
    assert (found[18], found[19], found[6]) == ((1000, "differs"), (0, "same"), (1000, "differs"))
    assert found[8] == (None, "not comparable")
    assert event(data, 8)["missing"] == ["not available"] * 2
    assert event(data, 0)["estimated"] == [True, True]
    assert data["methods"][0].startswith("same, differs: a simulation counts the same again")
    verdicts = {e["verdict"] for e in compared("--compare", tmp_path / "a", tmp_path / "again")["events"]}
    assert verdicts == {"same", "not comparable"}


def test_a_simulation_whose_runs_differ_is_tested() -> None:
    found = between({25: [100, 101, 99], 26: [5, 5, 5], 18: [7, 7, 7]}, {25: [100, 100, 101], 26: [6, 6, 6], 18: [7, 7, 7]},
                    backend="valgrind")
    assert {c.event.index: c.verdict for c in found.changes} == {25: "noise", 26: "differs", 18: "same"}
    assert len(found.methods) == 2


def test_misses_of_one_layout_are_not_those_of_another() -> None:
    """One run each says what has changed in this layout; several say whether it is more than another layout would change."""
    def of_misses(runs: list[int]) -> Report:
        outcomes = [Outcome("valgrind", "why", 0, (
            Measurement(events.table("r10000")[25], n, "simulated"), Measurement(events.table("r10000")[18], 7, "exact"))) for n in runs]
        return Report(Request(("a",), events=(25, 18)), outcomes[0] if len(runs) == 1 else combined(outcomes, len(runs)))

    def judged(first: list[int], second: list[int]) -> tuple[str, bool]:
        sides = [reading.stored(of_misses(runs), name) for runs, name in ((first, "a"), (second, "b"))]
        found = compare.compare(*sides).change(25)
        return found.verdict, found.risen(5)

    assert judged([100], [248]) == ("this layout", True)
    assert judged([100], [100]) == ("same", False)
    assert judged([100, 240, 130, 190], [248, 99, 160, 150]) == ("noise", False)
    assert judged([100, 104, 101, 102], [248, 240, 249, 250]) == ("change", True)
    assert judged([100, 100, 100], [248, 248, 248]) == ("differs", True)


# ---- --baseline ---------------------------------------------------------------------------

def test_a_baseline_adds_the_changes(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    options = ["--perf-table", perf_table, "--repeat", 5, "-e", 25]
    perfex("--json", *options, "-o", tmp_path / "before", toucher, 500)
    done = perfex(*options, "-y", "--baseline", tmp_path / "before", toucher, 1000)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert max(len(line) for line in lines if str(toucher) not in line) <= 80
    head = next(i for i, line in enumerate(lines) if line.split() == ["baseline", "change", "percent", "verdict"])
    assert any(re.search(r" change p", line) for line in lines[head:])
    at = next(i for i, line in enumerate(lines) if line.startswith(" 25 "))
    below = next(line for line in lines[at:] if line.endswith(" change p<0.0001") or " noise p" in line)
    first, change, percent, *_ = below.split()
    assert 500 < float(first) < 700
    assert 480 < float(change) < 520
    assert percent.startswith("+")
    assert any(line.startswith("    baseline: before: perf backend, 5 runs") for line in lines)
    out = tmp_path / "out"
    perfex(*options, "--csv", "--baseline", tmp_path / "before", "-o", out, toucher, 1000)
    rows = {(r["event"], r["name"]): r["value"] for r in csv.DictReader(io.StringIO(out.read_text())) if r["kind"] == "change"}
    assert 480 < float(rows["25", "change"]) < 520
    assert rows["25", "verdict"] == "change"


def test_a_baseline_in_json(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    perfex("--json", "--perf-table", perf_table, "-e", 25, "-o", tmp_path / "before", toucher, 500)
    data = counted("--perf-table", perf_table, "-e", 26, "--baseline", tmp_path / "before", toucher, 1000)
    assert data["baseline"]["file"] == "before"
    assert (data["baseline"]["runs"], data["baseline"]["methods"]) == (
        1, ["one run each: what is noise is not known; --repeat says"])
    assert event(data, 26)["change"] == {"baseline": None, "change": None, "percent": None, "verdict": "not comparable", "p": None}
    assert event(data, 0)["change"]["verdict"] == "not known"


def test_a_baseline_with_threads(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    """The total has a change, its threads have none; a file of a thread is no baseline."""
    out = tmp_path / "before"
    perfex("--json", "--perf-table", perf_table, "-mp", "-e", 25, "-o", out, toucher, 500)
    done = perfex("--perf-table", perf_table, "-mp", "-e", 25, "--baseline", out, toucher, 700)
    thread, total = done.stderr.split("total of 1 threads")
    assert ("percent" in thread, "percent" in total) == (False, True)
    one = next(tmp_path.glob("before.*.*"))
    assert "has the counts of one thread" in refused("--perf-table", perf_table, "--baseline", one, "true")
    assert "has the counts of one thread" in refused("--compare", out, one)


def test_a_baseline_of_ranks(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    """Of FILE, which -o has written for each rank, a rank takes its own."""
    for rank in range(2):
        perfex("--json", "--perf-table", perf_table, "-e", 25, "-o", tmp_path / "before", toucher, 500 * (1 + rank),
               env=environment(OMPI_COMM_WORLD_RANK=str(rank)))
    for rank in range(2):
        perfex("--perf-table", perf_table, "--json", "-e", 25, "--baseline", tmp_path / "before", "-o", tmp_path / "after",
               toucher, 500 * (1 + rank), env=environment(OMPI_COMM_WORLD_RANK=str(rank)))
        data = json.loads((tmp_path / f"after.{rank}").read_text())
        assert data["baseline"]["file"] == f"before.{rank}"
        assert abs(event(data, 25)["change"]["change"]) < 20


@pytest.mark.parametrize(("words", "message"), [
    (["--baseline", "/nonexistent"], "/nonexistent: No such file or directory"),
    (["--baseline", "/"], "/: Is a directory"),
    (["--baseline", "/dev/null"], "/dev/null: not a report of perfex in JSON"),
    (["--baseline", ""], "--baseline: the name of the file is empty"),
    (["--cpu", "r12000", "--baseline", STORED / "perf_more.json"], "events of the r10000 and of the r12000"),
    (["-e", "26", "-e", "10", "--baseline", STORED / "perf_more.json"], "--baseline: no event stands in both reports"),
    (["-k", "--baseline", STORED / "perf_more.json"], "--baseline: only one of the two counts the kernel, too (-k)"),
    (["--anyway"], "--anyway needs --compare or --baseline"),
    (["--fail-above", "5"], "--fail-above needs --compare or --baseline"),
    (["--fail-above", "-5"], "argument --fail-above: '-5' is not a number of percent"),
])
def test_what_is_no_baseline(words: list[object], message: str, perf_table: Path, tmp_path: Path) -> None:
    """The command is not started."""
    assert message in refused("--perf-table", perf_table, *words, "touch", tmp_path / "ran")
    assert not (tmp_path / "ran").exists()


# ---- what is compared ------------------------------------------------------------------------

def test_what_a_report_says(tmp_path: Path) -> None:
    runs: dict[int, list[int | None]] = {0: [10, 20], 25: [3, 3], 26: [None, None]}
    found = reading.read(write(tmp_path / "a", runs, kernel=True))
    assert (found.runs, found.kernel, found.command, found.l2) == (2, True, "a.out", None)
    found = reading.read(write(tmp_path / "b", runs, backend="valgrind", l2=1 << 20))
    assert (found.l2, found.kernel, found.clock) == (1 << 20, False, 100.0)


def test_json_is_what_is_read(tmp_path: Path) -> None:
    good, other = write(tmp_path / "a", {25: [5]}), write(tmp_path / "b", {25: [6]}, "csv")
    assert refused("--compare", good, other) == (
        f"perfex: {other}: not a report of perfex in JSON: perfex --json -o FILE writes what --compare, --baseline and --merge"
        " read\n")


def test_a_pipe_is_a_file(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", {25: [5]}), write(tmp_path / "b", {25: [6]})
    done = subprocess.run(["bash", "-c", f'"{PERFEX}" --json --compare <(cat "{a}") <(cat "{b}")'], capture_output=True,
                          text=True, env=environment(), timeout=100)
    assert event(json.loads(done.stdout), 25)["change"] == 1


def test_what_is_no_report(tmp_path: Path) -> None:
    """On either side; of what is wrong in it: test_merge.py's `test_files_that_are_no_reports`."""
    good, bad = write(tmp_path / "good", {25: [5]}), tmp_path / "bad"
    bad.write_bytes(b"{}")
    for words in ((good, bad), (bad, good)):
        assert refused("--compare", *words).startswith(f"perfex: {bad}: not a report of perfex: KeyError: ")


def test_damaged_reports_are_refused_or_taken(tmp_path: Path) -> None:
    """No damage ends in anything but a comparison and a sum in all forms, or one line that says what is wrong."""
    damage = random.Random(7)
    good = write(tmp_path / "good", {0: [1000, 1004, 999], 25: [7, None, 9], 26: [3, 3, 3]}).read_bytes()
    other = reading.read(tmp_path / "good")
    outcomes, refusals = {True: 0, False: 0}, []
    path = tmp_path / "damaged"
    for _ in range(800):
        path.write_bytes(damaged(good, damage))
        try:
            found = compare.compare(other, reading.read(path), anyway=True)
            merged = merge.merge([reading.read(path)])
        except PerfexError as error:
            refusals.append(str(error))
            outcomes[False] += 1
        else:
            validate(json.loads(compare.json_text(found), parse_constant=no_number), "perfex_compare")
            assert compare.text(found)
            assert compare.csv_text(found)
            assert all(form(merged) for form in (merge.text, merge.json_text, merge.csv_text))
            outcomes[True] += 1
    assert min(outcomes.values()) > 100
    assert not [line for line in refusals if "\n" in line]


ESCAPES = "\x1b[31m\x9b2J\x07\u202e\ud800\n"


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the texts of JSON are."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from texts(inner, (*path, key))
    if isinstance(value, str):
        yield path


def test_no_text_of_a_report_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    """Each is refused, made printable, or not printed: --compare, and the notes of --baseline."""
    first = reading.read(write(tmp_path / "first", {25: [5]}, backend="valgrind"))
    whole = json.loads((tmp_path / "first").read_bytes()) | {"caches": "other", "ended_by": "SIGSEGV"}
    whole["events"][0]["note"] = "note"
    told = set()
    for *outer, last in texts(whole):
        other = json.loads(json.dumps(whole))
        inner = other
        for key in outer:
            inner = inner[key]
        inner[last] += ESCAPES
        (tmp_path / "second").write_text(json.dumps(other))
        try:
            found = compare.compare(first, reading.read(tmp_path / "second"), anyway=True)
        except PerfexError as error:
            said = str(error)
        else:
            said = "".join([*compare.text(found).split("\n"), *compare.csv_text(found).split("\n"), *found.all_notes()])
            told |= {last} if "31m" in said else set()
        assert said.isprintable(), (outer, last)
    assert told == {0, "caches"}  # of the command the program


@pytest.mark.parametrize("number", [signal.SIGSEGV, 32, signal.SIGRTMIN, signal.SIGRTMAX - 1])
def test_the_signal_that_ended_a_command(number: int, tmp_path: Path) -> None:
    """As perfex writes it; 32 has no name."""
    ended = Report(Request(("x",)), Outcome("perf", "why", 128 + number, made({25: [5]}).outcome.measurements,
                                            ended_by=signal_name(-number)))
    (tmp_path / "a").write_text(report.json_text(ended))
    assert reading.read(tmp_path / "a").ended_by == signal_name(-number)


@pytest.mark.parametrize(("words", "message"), [
    ([], "--compare takes two files, after all options, and not 0"), (["x"], "--compare takes two files, after all options, and not 1"),
    (["x", "y", "--json"], "--compare takes two files, after all options, and not 3"),
    (["x", "/nonexistent"], "No such file"), (["/", "/"], "Is a directory"), (["-", "x"], "-: No such file or directory"),
])
def test_mistakes(words: list[str], message: str) -> None:
    assert message in refused("--compare", *words)


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    first = write(tmp_path / "a", {25: [5]})
    link = tmp_path / "link"
    link.symlink_to(first)
    assert refused("--compare", first, link) == f"perfex: --compare: {first} and {link} are the same file\n"
    other = write(tmp_path / "b", {25: [5]}, cpu="r12000")
    assert refused("--compare", first, other) == "perfex: --compare: events of the r10000 and of the r12000 are different ones\n"
    other = write(tmp_path / "b", {26: [5]})
    assert refused("--compare", first, other) == "perfex: --compare: no event stands in both reports\n"
    assert "exclude each other" in refused("--merge", "--compare", first, other)


@pytest.mark.parametrize(("more", "message", "note"), [
    ({"backend": "valgrind"}, "counts of the perf and of the valgrind backend", "backends: perf and valgrind"),
    ({"kernel": True}, "only one of the two counts the kernel", "the kernel is counted in the second only"),
    ({"regions": True}, "only one of the two counts the regions of libperfex alone", "only regions are counted in the second"),
])
def test_what_is_compared_anyway(more: dict[str, Any], message: str, note: str, tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", {25: [5, 6]}), write(tmp_path / "b", {25: [5, 6]}, **more)
    assert message in refused("--compare", first, second)
    assert any(n.startswith(note) for n in compared("--anyway", "--compare", first, second)["notes"])


def test_notes_on_what_differs(tmp_path: Path) -> None:
    first = write(tmp_path / "a", {0: [5], 25: [5]}, backend="valgrind", l2=1 << 20)
    second = Report(Request(("b.out", "x y"), events=(0, 25)), Outcome(
        "valgrind", "why", 139, tuple(Measurement(events.table("r10000")[i], 5, "approximate", note="n") for i in (0, 25)),
        clock=200.0, clock_source="given", ended_by="SIGSEGV"))
    (tmp_path / "b").write_text(report.json_text(second))
    data = compared("--compare", first, tmp_path / "b")
    assert data["notes"] == [
        "commands: a.out and b.out 'x y'", "secondary caches: 1 and 4 MB",
        "clocks: 100 and 200 MHz, on which times and estimated cycles depend",
        "the command of the second was ended by SIGSEGV: its counts stop there",
        "events 0, 25: quality or note is not the same in both"]
    assert data["second"]["ended_by"] == "SIGSEGV"


def test_events_that_are_not_on_both_sides(tmp_path: Path) -> None:
    """They are not 0, and nothing is said of their change."""
    first, second = write(tmp_path / "a", {0: [5], 25: [None], 26: [7]}), write(tmp_path / "b", {0: [5], 25: [8], 10: [9]})
    data = compared("--compare", first, second)
    assert [(e["event"], e["missing"], e["change"], e["percent"]) for e in data["events"]] == [
        (0, [None, None], 0, 0.0), (10, ["not counted", None], None, None), (25, ["not available", None], None, None),
        (26, [None, "not counted"], None, None)]
    lines = perfex("--compare", first, second).stdout.splitlines()
    row = next(line for line in lines if line.startswith(" 25 "))
    assert row.split()[-3:] == ["not", "available", "8"]
    assert "event,25,Primary (L1) data cache misses,not available,8,,,not comparable,,,0\n" in perfex(
        "--csv", "--compare", first, second).stdout


def test_from_0(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", {0: [0], 25: [0], 26: [4]}), write(tmp_path / "b", {0: [0], 25: [8], 26: [0]})
    data = compared("--compare", first, second)
    assert [(e["change"], e["percent"]) for e in data["events"]] == [(0, 0.0), (8, None), (-4, -100.0)]
    text = perfex("--compare", first, second).stdout
    assert re.search(r"\+8 +from 0 +not known\n", text)
    assert re.search(r"-4 +-100.00 % +not known\n", text)


def test_the_file_of_o(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", {25: [5]}), write(tmp_path / "b", {25: [6]})
    done = perfex("-o", tmp_path / "out", "--compare", first, second)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out").read_text() == perfex("--compare", first, second).stdout
    assert "No such file" in refused("-o", "/nonexistent/x", "--compare", first, second)


# ---- --fail-above -------------------------------------------------------------------------

@pytest.mark.parametrize(("percent", "status"), [("0", 1), ("9.4", 1), ("9.6", 0), ("100", 0)])
def test_a_rise_above_a_limit(percent: str, status: int) -> None:
    """Page faults by 9.57 %; nanoseconds by 3.4 %."""
    done = perfex("--fail-above", percent, "--compare", STORED / "perf_before.json", STORED / "perf_more.json")
    risen = [e for e in json.loads(perfex("--json", "--compare", STORED / "perf_before.json", STORED / "perf_more.json").stdout)["events"]
             if e["percent"] > float(percent)]
    assert done.returncode == bool(risen)
    assert (status, "event 25 (+9.57 %)" in done.stderr) in ((1, True), (0, False))


def test_what_fails_and_what_does_not(tmp_path: Path) -> None:
    """Noise, falls, and events that only one side has do not fail; what was 0 and is not does."""
    def status(first: dict[int, list[int | None]], second: dict[int, list[int | None]], percent: str = "5", **more: Any) -> int:
        a, b = write(tmp_path / "a", first, **more), write(tmp_path / "b", second, **more)
        return perfex("--fail-above", percent, "--compare", a, b).returncode
    assert status({25: [100]}, {25: [104]}) == 0
    assert status({25: [100]}, {25: [106]}) == 1
    assert status({25: [100]}, {25: [50]}) == 0
    assert status({25: [0]}, {25: [1]}) == 1
    assert status({25: [0]}, {25: [1]}, percent="1000") == 1
    assert status({25: [100, 200, 300]}, {25: [150, 200, 300]}) == 0
    assert status({25: [100], 0: [5]}, {25: [None], 0: [5]}) == 0
    assert status({25: [100]}, {25: [106]}, backend="valgrind") == 1
    a = write(tmp_path / "a", {25: [100], 26: [0]})
    b = write(tmp_path / "b", {25: [200], 26: [1]})
    assert perfex("--fail-above", "5", "--compare", a, b).stderr == (
        "perfex: risen by more than 5 %: event 25 (+100.00 %), event 26 (from 0)\n")


@given(st.lists(st.integers(0, 2**60), min_size=1, max_size=4).filter(any))
@example([None, 0, 0, 565])
def test_what_falls_to_0_falls_by_100_percent(runs: list[int | None]) -> None:
    """Not by 100.00000000000001, which is more than there was."""
    assert between({5: runs}, {5: [0]}).changes[0].percent == -100


@pytest.mark.parametrize("percent", range(1, 100))
def test_whole_percents_are_whole(percent: int) -> None:
    """Not 7.000000000000001, which --fail-above 7 would take for more."""
    change = between({5: [100]}, {5: [100 + percent]}).changes[0]
    assert change.percent == percent
    assert not change.risen(percent)


# ---- printed ------------------------------------------------------------------------------

@pytest.mark.parametrize("cpu", CPUS)
def test_tables_fit_a_terminal(cpu: Cpu) -> None:
    found = between({i: [10**13, 10**13 + i] for i in range(32)}, {i: [10**14 + i, 10**14] for i in range(32)}, cpu=cpu,
                    estimated=True)
    assert max(map(len, compare.text(found).splitlines())) <= 80
    assert "~-" in compare.text(found) or "~+" in compare.text(found)
    assert [row.rpartition(",")[2] for row in compare.csv_text(found).splitlines() if row.startswith("event,0,")] == ["1"]
    first = made({i: [10**13, 10**13 + i] for i in range(32)}, cpu=cpu)
    whole = Report(first.request, first.outcome, costs.builtin(cpu), comparison=found)
    assert max(map(len, report.text(whole).splitlines())) <= 80


counts = st.none() | st.integers(0, 2**60)


@st.composite
def series(draw: st.DrawFn) -> dict[int, list[int | None]]:
    runs = draw(st.integers(1, 4))
    return draw(st.dictionaries(st.integers(0, 31), st.lists(counts, min_size=runs, max_size=runs), min_size=1, max_size=6)) | {
        5: draw(st.lists(counts, min_size=runs, max_size=runs))}


@settings(deadline=None, max_examples=150)
@given(series(), series(), st.sampled_from(["perf", "valgrind"]))
def test_any_reports_can_be_compared(first: dict[int, list[int | None]], second: dict[int, list[int | None]], backend: str) -> None:
    found = between(first, second, backend=backend)
    data = json.loads(compare.json_text(found), parse_constant=no_number)
    validate(data, "perfex_compare")
    assert [e["event"] for e in data["events"]] == sorted({*first, *second})
    for e in data["events"]:
        assert e["verdict"] in VERDICTS
        assert (e["change"] is None) == (e["verdict"] == "not comparable") == any(e["missing"])
        assert (e["p"] is None) == (e["verdict"] not in ("change", "noise"))
    assert compare.text(found)
    rows = list(csv.reader(io.StringIO(compare.csv_text(found))))
    assert {len(row) for row in rows} == {11}
    whole = Report(made(second, backend=backend).request, made(second, backend=backend).outcome, comparison=found)
    validate(json.loads(report.json_text(whole), parse_constant=no_number), "perfex")
    assert report.text(whole)
    assert report.csv_text(whole)


# ---- the test --------------------------------------------------------------------------------

@pytest.mark.parametrize(("t", "freedom", "p"), [
    # Quantiles as tables of Student's t print them, to 3 decimals.
    (12.706, 1, 0.05), (4.303, 2, 0.05), (2.776, 4, 0.05), (2.228, 10, 0.05), (3.169, 10, 0.01), (2.042, 30, 0.05),
    (2.750, 30, 0.01), (1.980, 120, 0.05), (6.869, 5, 0.001), (1.684, 40, 0.1)])
def test_student_as_in_tables(t: float, freedom: float, p: float) -> None:
    assert noise.student(t, freedom) == pytest.approx(p, rel=2e-3)


@given(st.floats(-1e6, 1e6))
@example(0.0002239534372953573)  # t² is lost beside 1e9
@example(1e-170)  # t² is 0
@example(1e-160)  # t² is no normal number
def test_student_where_there_is_a_formula(t: float) -> None:
    """One degree of freedom is Cauchy's distribution; two and four have a closed form, and very many are normal."""
    assert noise.student(t, 1) == pytest.approx(2 / math.pi * math.atan2(1, abs(t)), rel=1e-6, abs=1e-12)
    # 1 - |t| / sqrt(2 + t²), without the difference of two near numbers
    assert noise.student(t, 2) == pytest.approx(2 / (2 + t * t + abs(t) * math.sqrt(2 + t * t)), rel=1e-6, abs=1e-12)
    assert noise.student(t, 1e9) == pytest.approx(2 * statistics.NormalDist().cdf(-abs(t)), rel=1e-4, abs=1e-9)


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(1, 1e6))
def test_student_falls_with_t(a: float, b: float, freedom: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= noise.student(high, freedom) <= noise.student(low, freedom) + 1e-12 <= 1 + 1e-12


def spread(values: list[int]) -> Spread:
    found = Spread.of(values)
    assert found is not None
    return found


def test_welch_by_hand() -> None:
    """Means 20 and 26, variances 10 and 40 of 5 runs: t = 6 / sqrt(10), and 100 / (4 / 4 + 64 / 4) degrees of freedom."""
    a, b = [16, 18, 20, 22, 24], [18, 22, 26, 30, 34]
    assert (statistics.variance(a), statistics.variance(b)) == (10, 40)
    assert noise.welch(spread(a), spread(b)) == pytest.approx(noise.student(6 / math.sqrt(10), 100 / 17))
    assert 0.1 < noise.welch(spread(a), spread(b)) < 0.11  # tables: t = 1.94 is 0.1 with 6 degrees of freedom


def test_runs_that_are_all_the_same() -> None:
    """No deviation to test with: the share of the ways to deal out the runs."""
    assert noise.welch(spread([3] * 2), spread([4] * 2)) == pytest.approx(1 / 3)
    assert noise.welch(spread([3] * 5), spread([4] * 5)) == pytest.approx(1 / 126)
    assert noise.welch(spread([3] * 5), spread([3] * 5)) == 1
    found = between({25: [3, 3]}, {25: [4, 4]})
    assert found.changes[0].verdict == "noise"
    assert between({25: [3] * 5}, {25: [4] * 5}).changes[0].verdict == "change"


def test_holm_by_hand() -> None:
    assert noise.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert noise.holm([]) == []
    assert noise.holm([0.9, 0.8]) == [1.0, 1.0]


def test_how_often_noise_is_taken_for_a_change() -> None:
    """In 1 of 20 comparisons at most, of any of 10 events; and a difference of 4 deviations is nearly always found."""
    dice = random.Random(18)

    def draw(mean: float) -> list[int | None]:
        return [round(dice.gauss(mean, 1000)) for _ in range(6)]

    wrong = sum(any(c.verdict == "change" for c in between({i: draw(1e6) for i in range(10)}, {i: draw(1e6) for i in range(10)}).changes)
                for _ in range(400))
    assert 4 <= wrong <= 36  # 20 are expected
    right = sum(between({25: draw(1e6)}, {25: draw(1e6 + 4000)}).changes[0].verdict == "change" for _ in range(100))
    assert right >= 95


def test_events_of_one_counter_are_one_test() -> None:
    """Cycles stand for two events, and are not corrected for both."""
    first, second = [100, 101, 103, 104], [104, 105, 107, 109]
    one = between({0: [*first]}, {0: [*second]}).changes
    two = between({0: [*first], 16: [*first]}, {0: [*second], 16: [*second]}).changes
    assert one[0].p == two[0].p == two[1].p


def test_changes_as_text() -> None:
    def percent(a: int, b: int) -> str:
        return Change(events.table("r10000")[0], spread([a]), spread([b])).percent_text()
    assert [percent(1000, 1001), percent(3, 1), percent(0, 0), percent(0, 5), percent(1, 10**6)] == [
        "+0.10 %", "-66.67 %", "0 %", "from 0", "+99999900 %"]
    assert changes.whole(3.0) == 3
    assert changes.whole(2.5) == 2.5


def every_line(found: Comparison) -> Iterator[str]:
    return (found.line(c.event.index) for c in found.changes)


def test_lines_below_an_event() -> None:
    found = between({0: [5], 25: [None], 26: [7], 10: [0]}, {0: [6], 25: [None], 26: [None], 9: [1], 10: [3]})
    assert [line.split() for line in every_line(found)] == [
        ["5", "+1", "+20.00", "%", "not", "known"], ["not", "counted"], ["0", "+3", "from", "0", "not", "known"], [], ["7"]]
