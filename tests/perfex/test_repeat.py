"""perfex --repeat: several runs of a command, their means and their spread."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import resource
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfex_runs import PERFEX, compile_c, counted, environment, perfex, refused
from pypfm.perfex import costs, events, reading, report
from pypfm.perfex.model import MOST_RUNS, Measurement, Outcome, PerfexError, Repeats, Request, Times
from pypfm.perfex.repeat import combined, run
from pypfm.perfex.report import Report
from pypfm.perfex.signals import Signals
from pypfm.perfex.spread import Spread, short
from tools import first, needs
from valid import validate

# What touches a number of pages that is another one in each run: 100, 200, 300 ...
GROWING = 'echo >>runs; exec "$0" $(($(wc -l <runs) * 100))'


def event(data: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = next(e for e in data["events"] if e["event"] == number)
    return found


# ---- counts ---------------------------------------------------------------------------

def test_the_counts_of_all_runs_and_their_spread(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    """Each run touches 100 pages more than the one before it."""
    data = counted("--perf-table", perf_table, "--repeat", 5, "-e", 25, "sh", "-c", GROWING, toucher, cwd=tmp_path)
    faults = event(data, 25)
    counts = faults["runs"]["counts"]
    assert len(counts) == 5
    assert all(60 < b - a < 140 for a, b in pairwise(counts)), counts
    assert faults["runs"]["mean"] == pytest.approx(statistics.mean(counts))
    assert faults["runs"]["deviation"] == pytest.approx(statistics.stdev(counts))
    assert (faults["runs"]["minimum"], faults["runs"]["maximum"]) == (min(counts), max(counts))
    assert faults["runs"]["error"] == pytest.approx(100 * statistics.stdev(counts) / math.sqrt(5) / statistics.mean(counts))
    assert faults["count"] == round(statistics.mean(counts))
    assert {k: data["repeats"][k] for k in ("asked", "counted", "stopped")} == {"asked": 5, "counted": 5, "stopped": None}
    walls = [t["wall"] for t in data["repeats"]["times"]]
    assert data["times"]["wall"] == pytest.approx(statistics.mean(walls))


def test_times_and_statistics_are_made_of_the_means(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    data = counted("--perf-table", perf_table, "--repeat", 3, "--clock", 100, "-y", "-a", "sh", "-c", GROWING, toucher, cwd=tmp_path)
    faults, table = event(data, 25), costs.builtin("r10000")
    assert faults["seconds"]["typical"] == pytest.approx(table[25].seconds(faults["runs"]["mean"], 100)[0])
    assert event(data, 0)["seconds"]["typical"] == pytest.approx(event(data, 0)["runs"]["mean"] / 100e6)


def test_statistics_of_means() -> None:
    """Cycles 1000 and 3000, instructions 1000 and 1001: 2001 / 4000, though both means are printed as whole numbers."""
    made = repeated({0: (1000, 3000), 17: (1000, 1001)})
    ratio = next(s.value for s in made.statistics() if s.name == "Graduated instructions/cycle")
    assert ratio == pytest.approx(2001 / 4000)


def test_output_is_not_swallowed(perf_table: Path) -> None:
    done = perfex("--perf-table", perf_table, "--repeat", 3, "sh", "-c", "echo out; echo err >&2")
    assert done.stdout == "out\n" * 3
    assert done.stderr.startswith("err\n" * 3 + "perfex: r10000 events, counted by perf\n")
    assert "\nruns: 3; counts and times are means\n" in done.stderr


def test_the_report_as_text(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    done = perfex("--perf-table", perf_table, "--repeat", 4, "-y", "-e", 25, "sh", "-c", GROWING, toucher, cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert max(len(line) for line in lines if not line.startswith("command: ")) <= 80
    head = next(i for i, line in enumerate(lines) if line.split() == ["mean", "deviation", "error", "minimum", "maximum"])
    below = next(i for i, line in enumerate(lines) if line.startswith(" 25 ")) + 2
    assert head < below
    mean, deviation, error, percent, least, most = lines[below].split()
    assert (percent, float(least) < float(mean) < float(most)) == ("%", True)
    assert float(error) == pytest.approx(100 * float(deviation) / 2 / float(mean), abs=0.01)
    assert lines[below].endswith(most)
    assert len(lines[below]) == len(lines[head])


def test_csv_has_all_counts(perf_table: Path, toucher: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    perfex("--perf-table", perf_table, "--repeat", 3, "--csv", "-o", out, "-e", 25, "sh", "-c", GROWING, toucher, cwd=tmp_path)
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    each = [(r["name"], int(r["value"])) for r in rows if r["kind"] == "repeat" and r["event"] == "25"]
    assert [name for name, _ in each] == ["1", "2", "3"]
    spread = {r["name"]: float(r["value"]) for r in rows if r["kind"] == "spread" and r["event"] == "25"}
    assert spread["mean"] == pytest.approx(statistics.mean(n for _, n in each))
    assert set(spread) == {"mean", "deviation", "minimum", "maximum", "error"}
    assert len([r for r in rows if r["kind"] == "repeat" and r["seconds"] and not r["event"]]) == 3


# ---- the simulation -------------------------------------------------------------------

def test_a_simulation_counts_the_same_in_all_runs(toucher: Path) -> None:
    needs("valgrind")
    """What does not depend on where memory lies."""
    data = counted("--backend", "valgrind", "--repeat", 2, "-a", toucher, "100")
    known = [e for e in data["events"] if e["quality"] in ("exact", "approximate")]
    assert len(known) > 10
    assert {len(set(e["runs"]["counts"])) for e in known} == {1}
    text = perfex("--backend", "valgrind", "--repeat", 2, "--events", 18, toucher, "100").stderr
    assert "\nidentical in all runs: every event that was counted\n" in text
    assert "deviation" not in text


@pytest.mark.slow
def test_a_simulation_of_what_differs(toucher: Path, tmp_path: Path) -> None:
    """A program that does more in each run; ``exec`` makes it one process with the shell before it."""
    needs("valgrind")
    data = counted("--backend", "valgrind", "--repeat", 2, "-e", 19, "sh", "-c", GROWING, toucher, cwd=tmp_path)
    stores = event(data, 19)["runs"]["counts"]
    assert all(90 <= b - a <= 130 for a, b in pairwise(stores)), stores


@pytest.fixture(scope="module")
def conflicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that reads one page of its stack, of its heap, of a mapping and of its data in turns: a way has four pages."""
    return compile_c(tmp_path_factory.mktemp("conflicts"), "conflicts", """static char data[4096];
        int main(void) {
            char stack[4096];
            volatile char *pages[] = { data, stack, malloc(4096), mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
            memset(stack, 0, sizeof stack);
            for (int round = 0; round < 200; round++)
                for (int i = 0; i < 4096; i += 32)
                    for (int page = 0; page < 4; page++)
                        pages[page][i];
            return 0;
        }""")


@pytest.mark.slow
def test_each_run_of_a_simulation_has_another_layout(conflicts: Path) -> None:
    """What is executed is the same; misses are those of a page with others in its sets, or without."""
    needs("valgrind")
    once = counted("--backend", "valgrind", "--repeat", 1, "-a", conflicts)
    runs, again = (counted("--backend", "valgrind", "--repeat", n, "-a", conflicts) for n in (5, 2))
    counts = {number: event(runs, number)["runs"]["counts"] for number in (18, 19, 24, 25)}
    assert {number: each[:2] for number, each in counts.items()} == {number: event(again, number)["runs"]["counts"] for number in counts}
    assert {number: each[0] for number, each in counts.items()} == {number: event(once, number)["count"] for number in counts}
    assert [len(set(counts[number])) for number in (18, 19, 24)] == [1, 1, 1]
    assert max(counts[25]) - min(counts[25]) > 50 * 128, counts[25]  # one page missed in 50 of the 200 rounds


@pytest.mark.slow
def test_one_run_is_of_one_layout(conflicts: Path) -> None:
    needs("valgrind")
    said = "\nmemory: this layout; --repeat N tries others, as cache misses depend on it\n"
    text = ["--backend", "valgrind", "--events"]
    assert said in perfex(*text, 25, "--repeat", 1, conflicts).stderr
    assert said not in perfex(*text, 18, conflicts).stderr
    assert said not in perfex(*text, 25, "--repeat", 2, conflicts).stderr


# ---- standard input ---------------------------------------------------------------------

def test_a_file_on_standard_input_is_rewound_to_where_it_was(perf_table: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("first\nsecond\n")
    with (tmp_path / "in").open("rb", buffering=0) as stream:
        stream.seek(6)
        done = perfex("--perf-table", perf_table, "--repeat", 3, "cat", stdin=stream)
    assert done.stdout == "second\n" * 3
    assert "standard input" not in done.stderr


def test_a_pipe_is_read_by_the_first_run(perf_table: Path) -> None:
    done = perfex("--perf-table", perf_table, "--repeat", 3, "cat", input="once\n")
    assert done.stdout == "once\n"
    assert "standard input is a pipe: what the first run has read of it the others did not get" in " ".join(done.stderr.split())


# ---- runs that end otherwise ------------------------------------------------------------

NTH = 'echo >>runs; [ $(wc -l <runs) = {} ] && {}; exit {}'


def stopping(perf_table: Path, directory: Path, nth: int, what: str, status: int, exit_status: int) -> dict[str, Any]:
    return counted("--perf-table", perf_table, "--repeat", 5, "sh", "-c", NTH.format(nth, what, status), cwd=directory,
                   status=exit_status)


def test_a_run_that_ends_otherwise_does_not_count(perf_table: Path, tmp_path: Path) -> None:
    data = stopping(perf_table, tmp_path, 3, "exit 7", 0, 7)
    assert (data["status"], data["ended_by"], data["repeats"]["counted"]) == (7, None, 2)
    assert data["repeats"]["stopped"] == (
        "run 3 ended with status 7, those before it with 0; it does not count, and was the last")
    assert len(event(data, 0)["runs"]["counts"]) == 2
    assert (tmp_path / "runs").read_text() == "\n" * 3


def test_a_signal_in_a_later_run(perf_table: Path, tmp_path: Path) -> None:
    data = stopping(perf_table, tmp_path, 4, "kill -SEGV $$", 0, 139)
    assert (data["ended_by"], data["repeats"]["counted"]) == (None, 3)
    assert data["repeats"]["stopped"].startswith("run 4 was ended by SIGSEGV, ")


def test_a_signal_in_the_first_run(perf_table: Path, tmp_path: Path) -> None:
    data = stopping(perf_table, tmp_path, 1, "kill -SEGV $$", 0, 139)
    assert (data["ended_by"], data["repeats"]["counted"]) == ("SIGSEGV", 1)
    assert data["repeats"]["stopped"] == "SIGSEGV ended run 1, and no other was made"
    assert event(data, 0)["runs"] == {"counts": [event(data, 0)["count"]], "mean": event(data, 0)["count"],
                                      "deviation": None, "minimum": event(data, 0)["count"],
                                      "maximum": event(data, 0)["count"], "error": None}


def test_runs_that_all_fail_in_the_same_way_count(perf_table: Path, tmp_path: Path) -> None:
    data = stopping(perf_table, tmp_path, 99, "false", 3, 3)
    assert (data["status"], data["repeats"]["counted"]) == (3, 5)


def test_a_run_that_succeeds_after_one_that_fails(perf_table: Path, tmp_path: Path) -> None:
    """The exit status is the first that is not 0."""
    data = stopping(perf_table, tmp_path, 2, "exit 0", 5, 5)
    assert (data["repeats"]["counted"], data["repeats"]["stopped"][:24]) == (1, "run 2 ended with status ")


def test_a_run_that_cannot_be_made(perf_table: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\nrm "$0"\n')
    script.chmod(0o755)
    data = counted("--perf-table", perf_table, "--repeat", 3, script, status=1)
    assert data["repeats"]["counted"] == 1
    assert data["repeats"]["stopped"].startswith("run 2 could not be made: ")
    assert "No such file" in data["repeats"]["stopped"]


@pytest.mark.parametrize("backend", first(["perf", "valgrind"]))
@pytest.mark.slow
def test_interrupted_by_the_terminal(backend: str, perf_table: Path, tmp_path: Path) -> None:
    """^C goes to perfex and to the command, which ends by it: the report is on the runs that are complete."""
    if backend == "valgrind":
        needs("valgrind")
    options = ["--perf-table", str(perf_table)] if backend == "perf" else ["--backend", "valgrind"]
    slow = 'echo >>runs; [ $(wc -l <runs) -lt 3 ] || sleep 60'
    process = subprocess.Popen([PERFEX, *options, "--json", "--repeat", "9", "sh", "-c", slow], cwd=tmp_path,
                               env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_runs(tmp_path, 3)
    os.killpg(process.pid, signal.SIGINT)
    stderr = process.communicate(timeout=100)[1]
    data = json.loads(stderr)
    validate(data, "perfex")
    assert (process.returncode, data["status"], data["ended_by"], data["repeats"]["counted"]) == (130, 130, None, 2)
    assert data["repeats"]["stopped"].startswith("run 3 was ended by SIGINT, ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_a_command_that_ignores_the_signal_is_the_last(number: int, perf_table: Path, tmp_path: Path) -> None:
    """Its run is complete, and counts."""
    script = 'trap "" INT QUIT TERM HUP; echo >>runs; [ $(wc -l <runs) -lt 2 ] || sleep 1'
    process = subprocess.Popen([PERFEX, "--perf-table", perf_table, "--json", "--repeat", "9", "sh", "-c", script],
                               cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_runs(tmp_path, 2)
    os.killpg(process.pid, number)
    data = json.loads(process.communicate(timeout=100)[1])
    assert (process.returncode, data["repeats"]["counted"]) == (0, 2)
    assert data["repeats"]["stopped"] == f"{signal.Signals(number).name} came in run 2, which was the last"


class Scripted:
    """A backend whose runs are given: an outcome, an error, or what happens before it."""

    name = "perf"

    def __init__(self, *runs: Outcome | PerfexError, signals: Mapping[int, int] | None = None) -> None:
        self._runs, self._signals = [*runs], dict(signals or {})

    def check(self, request: Request) -> None:
        """All can be counted."""

    def run(self, _: Request) -> Outcome:
        if len(self._runs) in self._signals:
            with Signals(gated=False) as signals:
                os.kill(os.getpid(), self._signals[len(self._runs)])
                assert signals.taken()[1]
        made = self._runs.pop(0)
        if isinstance(made, PerfexError):
            raise made
        return made


def outcome(status: int = 0, ended_by: str = "") -> Outcome:
    return Outcome("perf", "", status, (Measurement(events.table("r10000")[0], 1, "exact"),), ended_by=ended_by)


def test_a_signal_before_a_run_is_started() -> None:
    """The valgrind backend does not start a command then; that is no failure where others are complete."""
    backend = Scripted(outcome(), outcome(), PerfexError("ended by a signal"), signals={1: signal.SIGTERM})
    made = run(backend, Request(("x",)), 5)
    assert (made.status, made.repeats) == (0, Repeats(5, 2, "SIGTERM came before run 3, which was not made"))
    backend = Scripted(outcome(), PerfexError("no room"), outcome())
    made = run(backend, Request(("x",)), 3)
    assert (made.status, made.repeats) == (1, Repeats(3, 1, "run 2 could not be made: no room"))


def test_other_signals_end_nothing() -> None:
    begun: list[int] = []
    made = run(Scripted(outcome(), outcome(), outcome(), signals={2: signal.SIGUSR1}), Request(("x",)), 3, begun.append)
    assert (made.repeats, begun) == (Repeats(3, 3), [1, 2, 3])


def test_signals_have_their_effect_where_there_is_nothing_to_report() -> None:
    caught: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: caught.append(number))
    try:
        with pytest.raises(PerfexError):
            run(Scripted(PerfexError("ended by a signal"), signals={1: signal.SIGTERM}), Request(("x",)), 3)
        assert caught == [signal.SIGTERM]
        assert run(Scripted(outcome(), outcome(), signals={2: signal.SIGTERM}), Request(("x",)), 2).repeats == (
            Repeats(2, 1, "SIGTERM came in run 1, which was the last"))
        assert caught == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_ignored_signals_stay_ignored(perf_table: Path, tmp_path: Path) -> None:
    """As nohup and a shell's & make them."""
    script = 'echo >>runs; [ $(wc -l <runs) != 2 ] || sleep 1'
    process = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", PERFEX, "--perf-table", perf_table, "--json",
                                "--repeat", "4", "sh", "-c", script],
                               cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_runs(tmp_path, 2)
    os.killpg(process.pid, signal.SIGHUP)
    assert json.loads(process.communicate(timeout=100)[1])["repeats"]["counted"] == 4


def wait_for_runs(directory: Path, number: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if (directory / "runs").exists() and (directory / "runs").read_text().count("\n") >= number:
            time.sleep(0.2)  # until the command is what waits
            return
        time.sleep(0.02)
    raise AssertionError(f"run {number} has not begun")


# ---- surroundings -----------------------------------------------------------------------

def test_each_run_has_the_same_limits(perf_table: Path) -> None:
    """The perf backend raises its own number of open files when the command exists."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert hard > 512
    done = perfex("--perf-table", perf_table, "--repeat", 3, "-o", "/dev/null", "sh", "-c", "ulimit -n",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard)))
    assert done.stdout == "512\n" * 3


def test_the_file_of_o_and_ranks(perf_table: Path, tmp_path: Path) -> None:
    """Ranks write a report each, of which --merge adds up the means."""
    for rank in range(2):
        perfex("--json", "--perf-table", perf_table, "--repeat", 3, "-e", 25, "-o", tmp_path / "out", "true",
               env=environment(OMPI_COMM_WORLD_RANK=str(rank)))
    stored = [reading.read(tmp_path / f"out.{rank}") for rank in range(2)]
    assert [s.runs for s in stored] == [3, 3]
    done = perfex("--merge", tmp_path / "out")
    assert done.stdout.splitlines()[0].endswith("sums of rank 0 (mean of 3 runs), rank 1 (mean of 3 runs)")
    data = json.loads(perfex("--merge", "--json", tmp_path / "out").stdout)
    validate(data, "perfex_merge")
    assert data["repeated"] == [{"rank": "rank 0", "runs": 3}, {"rank": "rank 1", "runs": 3}]
    assert data["events"][1]["total"] == sum(s.counts[25] or 0 for s in stored)
    assert "repeated,,rank 1,3,,,,,\n" in perfex("--merge", "--csv", tmp_path / "out").stdout


# ---- mistakes ---------------------------------------------------------------------------

@pytest.mark.parametrize(("words", "message"), [
    (["--repeat", "0", "true"], "argument --repeat: '0' is not a number of runs, from 1 to 500"),
    (["--repeat", "501", "true"], "argument --repeat: '501' is not a number of runs, from 1 to 500"),
    (["--repeat", "\u0665", "true"], "is not a number of runs"),
    (["--repeat", "3", "-mp", "true"], "--repeat and -mp exclude each other; threads are not the same ones in two runs"),
    (["--repeat", "3", "-s", "true"], "--repeat and -s exclude each other; the signals would have to come in each run"),
    (["--repeat", "3", "-p", "10", "true"], "--repeat and -p exclude each other; samples of several runs have no mean"),
    (["--repeat", "3"], "--repeat goes with a command"),
    (["-t", "--repeat", "3"], "--repeat goes with a command"),
    (["--repeat", "3", "--merge", "x"], "--repeat goes with a command, and --merge has files"),
    (["--repeat", "3", "--compare", "x", "y"], "--repeat goes with a command, and --compare has files"),
    (["--repeat", "3", "/nonexistent"], "No such file"),
])
def test_mistakes(words: list[str], message: str, perf_table: Path) -> None:
    table = [] if "--merge" in words or "--compare" in words else ["--perf-table", perf_table]
    assert message in refused(*table, *words)


# ---- made and read back -------------------------------------------------------------------

def repeated(counts: dict[int, tuple[int | None, ...]], backend: str = "perf") -> Report:
    """The report on runs with these counts."""
    runs = len(next(iter(counts.values())))
    outcomes = []
    for n in range(runs):
        rows = tuple(Measurement(events.table("r10000")[i], each[n], "exact" if each[n] is not None else "unavailable")
                     for i, each in counts.items())
        outcomes.append(Outcome(backend, "why", 0, rows, clock=100.0, clock_source="given", times=Times(1.0 + n, 0.5, 0.25)))
    return Report(Request(("a.out",), events=tuple(counts)), combined(outcomes, runs), costs.builtin("r10000"))


def read_back(made: Report, directory: Path) -> reading.StoredReport:
    path = directory / "report"
    path.write_text(report.json_text(made))
    return reading.read(path)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 6).flatmap(lambda runs: st.dictionaries(
    st.integers(0, 31), st.tuples(*[st.none() | st.integers(0, 1000) | st.integers(0, 2**60)] * runs), min_size=1)))
def test_any_counts_are_read_back(tmp_path_factory: pytest.TempPathFactory, counts: dict[int, tuple[int | None, ...]]) -> None:
    runs = len(next(iter(counts.values())))
    made = repeated(counts)
    validate(json.loads(report.json_text(made)), "perfex")
    found = read_back(made, tmp_path_factory.getbasetemp())
    assert (found.runs, set(found.counts)) == (runs, set(counts))
    for i, each in counts.items():
        known = [n for n in each if n is not None]
        spread = found.spread(i)
        if not known:
            assert spread is None
            continue
        assert spread is not None
        assert (spread.runs, spread.minimum, spread.maximum) == (len(known), min(known), max(known))
        assert spread.mean == sum(known) / len(known)
        assert (spread.deviation is None) == (len(known) == 1)
        assert spread.counts == each


def test_an_event_that_was_not_counted_in_all_runs() -> None:
    made = repeated({0: (5, 6, 7), 25: (10, None, 20), 26: (None, None, 4), 10: (None, None, None)})
    text = report.text(made)
    assert "    event 25: counted in 2 of 3 runs\n" in text
    assert "    event 26: counted in 1 of 3 runs\n" in text
    data = json.loads(report.json_text(made))
    validate(data, "perfex")
    assert event(data, 25)["runs"]["counts"] == [10, None, 20]
    assert (event(data, 25)["count"], event(data, 26)["count"], event(data, 10)["count"]) == (15, 4, None)
    assert event(data, 10)["runs"] is None


def test_which_are_identical() -> None:
    text = report.text(repeated({0: (5, 5), 25: (10, 11), 26: (3, 3)}))
    assert "\nidentical in all runs: events 0, 26\n" in text
    assert text.count("%") == 1


def test_the_largest_report_is_read_back(tmp_path: Path) -> None:
    """As many runs as there may be, of all events, of 20 digits each."""
    counts = {i: tuple(10**19 + i + run for run in range(MOST_RUNS)) for i in range(32)}
    found = read_back(repeated(counts), tmp_path)
    assert (found.runs, len(found.spreads)) == (MOST_RUNS, 32)


def test_tables_fit_a_terminal() -> None:
    made = repeated({i: tuple((10**13 + i) * run for run in range(3)) for i in range(32)})
    assert max(map(len, report.text(replace(made, costs=None)).splitlines())) == 80


def test_notes_say_of_which_runs() -> None:
    def noted(*notes: str) -> Outcome:
        return Outcome("perf", "why", 0, (Measurement(events.table("r10000")[0], 1, "exact"),), notes=notes)
    assert combined([noted("all", "one"), noted("all"), noted("all", "two"), noted("two", "all")], 4).notes == (
        "all", "run 1: one", "runs 3-4: two")


def test_the_worst_quality_counts() -> None:
    def judged(count: int | None, quality: Any, note: str) -> Outcome:
        return Outcome("perf", "", 0, (Measurement(events.table("r10000")[0], count, quality, 0.5, note, "s"),))
    made = combined([judged(1, "exact", ""), judged(4, "approximate", "n"), judged(None, "unavailable", "x")], 3).measurements[0]
    assert (made.count, made.value, made.quality, made.note, made.source, made.runs) == (3, 2.5, "approximate", "n", "s", (1, 4, None))


# ---- numbers ------------------------------------------------------------------------------

@given(st.lists(st.integers(0, 2**64), min_size=2, max_size=20))
def test_spread(counts: list[int]) -> None:
    spread = Spread.of(counts)
    assert spread is not None
    assert spread.mean == pytest.approx(statistics.mean(counts))
    assert spread.deviation == pytest.approx(statistics.stdev(counts))
    assert spread.identical == (len(set(counts)) == 1)
    assert 0 <= (spread.error or 0.0) <= 100.0001


@given(st.floats(-1e20, 1e20))
def test_numbers_in_few_digits(value: float) -> None:
    text = short(value)
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text)
    assert float(text) == pytest.approx(value, rel=1e-3, abs=1e-4)


@pytest.mark.slow
def test_a_hundred_runs_are_of_one_perfex(perf_table: Path, tmp_path: Path) -> None:
    """A run costs what the command costs, and not perfex's start: who starts it is the same process each time."""
    data = counted("--perf-table", perf_table, "--repeat", 100, "sh", "-c", 'echo $PPID >>"$0"', tmp_path / "parents")
    assert data["repeats"]["counted"] == 100
    assert [*Counter((tmp_path / "parents").read_text().split()).values()] == [100]
