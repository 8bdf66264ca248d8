"""The three formats of a report, against recorded ones (golden/)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfex_runs import GOLDEN
from pypfm.perfex import costs, events, reading, report
from pypfm.perfex.model import CPUS, Cpu, Measurement, Outcome, Quality, Repeats, Request, Sample, ThreadCounts, Times
from pypfm.perfex.report import Report
from valid import validate

COUNTS = {0: 1_960_000_000, 2: 330_000_000, 3: 110_000_000, 6: 52_000_000, 7: 800_000, 9: 4_000, 10: 900,
          15: 1_500_000_000, 16: 1_960_000_000, 17: 1_500_000_000, 18: 320_000_000, 19: 100_000_000, 21: 200_000_000,
          22: 2_000_000, 23: 90_000, 24: 1_300_000, 25: 12_000_000, 26: 1_100_000}
WHY = "no event counts it"


def measured(cpu: Cpu, event: int, count: int | None, quality: Quality = "exact", **more: Any) -> Measurement:
    if count is None:
        return Measurement(events.table(cpu)[event], None, "unavailable", note=WHY)
    return Measurement(events.table(cpu)[event], count, quality, **more)


def plain() -> Report:
    request = Request(("./a.out", "two words", "\x1b[31m"), events=(26, 10))
    rows = (measured("r10000", 26, 1234), measured("r10000", 10, None))
    return Report(request, Outcome("perf", "the kernel offers hardware counters", 0, rows, times=Times(1.25, 1.0, 0.125)))


def estimates() -> Report:
    """All events, multiplexed, with times and statistics."""
    request = Request(("./a.out",), events=tuple(range(32)), multiplex=True, estimates=True)
    rows = tuple(measured("r10000", i, COUNTS.get(i), "approximate" if i % 2 else "exact", share=0.25 if i % 3 else 1.0)
                 for i in range(32))
    outcome = Outcome("perf", "the kernel offers hardware counters", 3, rows, clock=2893.7, clock_source="measured")
    return Report(request, outcome, costs.builtin("r10000"), rank=7)


def simulated() -> Report:
    """Estimated cycles, on the other processor."""
    request = Request(("./a.out",), cpu="r12000", events=(0, 25), estimates=True)
    rows = (measured("r12000", 0, 5_000_000, "modelled"), measured("r12000", 25, 70_000, "simulated"))
    outcome = Outcome("valgrind", "a simulation", 0, rows, clock=300.0, clock_source="the default of the r12000",
                      estimated_cycles=True, notes=("cycles are estimated from the cost table",),
                      times=Times(7.0, 6.5, 0.25, simulated=True))
    return Report(request, outcome, costs.builtin("r12000"))


def threads() -> Report:
    request = Request(("./a.out",), events=(25, 0), per_thread=True)
    each = tuple(ThreadCounts(100, 100 + n, (measured("r10000", 25, 10 + n), measured("r10000", 0, 1000 * n)),
                              "a\n.out" if n else "")
                 for n in range(3))
    rows = (measured("r10000", 25, 33), measured("r10000", 0, 3000))
    return Report(request, Outcome("perf", "--backend perf", 139, rows, threads=each, ended_by="SIGSEGV"))


def samples() -> Report:
    request = Request(("./a.out",), events=(25, 0), gated=True, period=100.0)
    taken = (Sample(0.1, {25: 5, 0: 100}), Sample(0.2, {25: None, 0: 250}))
    rows = (measured("r10000", 25, 12), measured("r10000", 0, 300))
    return Report(request, Outcome("perf", "--backend perf", 139, rows, samples=taken), notes=("-x: not available",))


REPORTS = {f.__name__: f for f in (plain, estimates, simulated, threads, samples)}


def printed(made: Report) -> dict[str, str]:
    """A report in its formats, by suffix; samples go before text and CSV, as they were taken."""
    outcome = made.outcome
    return {
        "txt": "".join(map(report.sample_line, outcome.samples)) + report.text(made),
        "json": report.json_text(made),
        "csv": report.csv_head() + "".join(map(report.csv_sample, outcome.samples)) + report.csv_text(made),
    }


def of_modelled_cycles() -> Report:
    """Two runs with -y, whose cycles are computed, and two samples."""
    rows = tuple(measured("r10000", i, n, quality="modelled" if i == 0 else "exact", runs=(n - 2, n + 2))
                 for i, n in ((0, 196_000_000), (15, 98_000_000)))
    outcome = Outcome("valgrind", "why", 0, rows, samples=(Sample(0.1, {0: 7, 15: 3}, (0,)),), clock=196.0,
                      clock_source="x", estimated_cycles=True, repeats=Repeats(2, 2))
    return Report(Request(("./a.out",), events=(0, 15)), outcome, costs.builtin("r10000"))


def test_all_that_is_made_of_modelled_cycles_has_the_mark() -> None:
    made = printed(of_modelled_cycles())
    above = made["txt"].split("\nstatistics")[0].splitlines()
    cycles, times, spread = (line.split() for line in above if "~" in line and "=" not in line)
    assert cycles[-2:] == ["~200000000", "modelled"]
    assert times == ["~1.0", "~1.0", "~1.0"]
    assert spread == ["~200000000", "~2.8", "0.00", "%", "~200000000", "~200000000"]
    assert "sample     0.100000 s  0=~7  15=3\n" in made["txt"]
    statistic, = (line for line in made["txt"].splitlines() if "instructions/cycle" in line)
    assert statistic.split()[-1].lstrip(".") == "~0.50"
    data = json.loads(made["json"])
    assert [s["estimated"] for s in data["statistics"]] == [True]
    assert [c["estimated"] for c in data["samples"][0]["counts"]] == [True, False]
    rows = list(csv.DictReader(io.StringIO(made["csv"])))
    assert [r["quality"] for r in rows if r["kind"] == "statistic"] == ["modelled"]
    assert [r["quality"] for r in rows if r["kind"] == "sample"] == ["modelled", ""]


def test_spreads_of_modelled_cycles_are_read_back(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(printed(of_modelled_cycles())["json"])
    kept = reading.read(tmp_path / "out")
    assert [(round(s.mean), s.minimum, s.maximum) for i in (0, 15) if (s := kept.spread(i))] == [
        (196000000, 195999998, 196000002), (98000000, 97999998, 98000002)]
    assert kept.estimated == {0}


@pytest.mark.parametrize("form", ["txt", "json", "csv"])
@pytest.mark.parametrize("name", REPORTS)
def test_formats_are_as_recorded(name: str, form: str) -> None:
    assert printed(REPORTS[name]())[form] == (GOLDEN / f"{name}.{form}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_json_follows_its_schema(name: str) -> None:
    validate(json.loads(printed(REPORTS[name]())["json"]), "perfex")


def test_the_schema_refuses_a_count_that_is_not_available() -> None:
    data = json.loads(printed(plain())["json"])
    data["events"][1]["count"] = 0
    with pytest.raises(jsonschema.ValidationError):
        validate(data, "perfex")


@pytest.mark.parametrize("name", REPORTS)
def test_csv_has_the_same_columns_in_every_row(name: str) -> None:
    rows = list(csv.reader(io.StringIO(printed(REPORTS[name]())["csv"])))
    assert {len(row) for row in rows} == {len(report.COLUMNS)}


def test_estimated_cycles_are_marked() -> None:
    text = printed(simulated())["txt"]
    assert "~5000000" in text
    assert "~70000" not in text


def test_not_available_is_never_0() -> None:
    forms = printed(plain())
    assert next(line for line in forms["txt"].splitlines() if line.startswith(" 10 ")).endswith("not available")
    assert json.loads(forms["json"])["events"][1]["count"] is None
    assert f"event,,,,10,Secondary (L2) instruction cache misses,,unavailable,1.0,,,,{WHY}," in forms["csv"]


def test_lines_stay_lines() -> None:
    """A command of many lines and colours does not change the report."""
    assert printed(plain())["txt"].splitlines()[1] == "command: ./a.out 'two words' '\\x1b[31m'"


@pytest.mark.parametrize("name", REPORTS)
def test_tables_fit_a_terminal(name: str) -> None:
    assert max(map(len, report.text(REPORTS[name]()).splitlines())) <= 80


def test_long_names_and_times_stand_below() -> None:
    lines = report.event_lines(events.table("r10000")[11], f" {5:>15}  {'modelled':11} {'100.0%':>7}", " 1.5" * 3)
    assert lines == [f" 11 Instruction misprediction from{'.' * 9} {5:>15}  modelled     100.0%",
                     f"    {'secondary cache way prediction table':<64} 1.5 1.5 1.5"]


def test_values_that_are_wider_than_a_terminal() -> None:
    event = events.table("r10000")[11]
    assert report.event_lines(event, f" {'9' * 79}") == [
        f" 11  {'9' * 79}", "    Instruction misprediction from secondary cache way prediction table"]
    assert report.event_lines(event, "", "9" * 90)[1] == "    " + "9" * 90
    assert report.event_lines(events.table("r10000")[0], " 5", "9" * 76)[1] == "    " + "9" * 76


def test_files_of_threads() -> None:
    made = threads()
    thread = made.outcome.threads[1]
    text = report.thread_text(made, thread)
    assert "thread: pid 100, tid 101, program a\\n.out\n" in text
    assert "ended by SIGSEGV: the counts stop there\n" in text
    assert "total" not in text
    data = json.loads(report.json_text(made, [thread]))
    validate(data, "perfex")
    assert (data["events"], [t["tid"] for t in data["threads"]]) == ([], [101])
    assert (data["ended_by"], data["threads"][0]["program"]) == ("SIGSEGV", "a\n.out")
    assert "run,,,,,ended_by,SIGSEGV," in report.csv_text(made, [thread])
    assert "event,,,," not in report.csv_text(made, [thread])
    assert "thread:" not in report.text(made, threads=False)


def test_verbose_has_all_notes_and_why_this_backend() -> None:
    long = "an explanation that goes on and on, as they do (with parentheses), beyond the width of any terminal; and more"
    rows = (Measurement(events.table("r10000")[0], 5, "modelled", note=long),
            Measurement(events.table("r10000")[3], None, "unavailable", note="nobody counts it"),
            Measurement(events.table("r10000")[4], None, "unavailable", 0.0, "others had the counter all the time"),
            Measurement(events.table("r10000")[5], None, "unavailable", note="a process was killed"))
    outcome = Outcome("valgrind", "because of \n", 0, rows, notes=("a process was killed",))
    request = Request(("x",), events=(0, 3, 4, 5), multiplex=True)
    lines = report.text(Report(request, outcome)).splitlines()
    assert lines[:2] == ["perfex: r10000 events, simulated by valgrind", "command: x"]
    folded = ["    event 0: an explanation that goes on and on, as they do (with parentheses),",
              "        beyond the width of any terminal; and more"]
    assert lines[lines.index("notes") + 1:] == [
        *folded,
        "    event 4: others had the counter all the time",
        "    event 3: not available (why: --verbose)", "    a process was killed"]
    lines = report.text(Report(request, outcome, verbose=True)).splitlines()
    assert lines[1] == "backend: because of \\n"
    assert lines[lines.index("notes") + 1:] == [
        *folded, "    event 3: nobody counts it", "    event 4: others had the counter all the time",
        "    a process was killed"]
    two = Report(Request(("x",), events=(0, 3)), Outcome("perf", "why", 0, rows[:2]))
    assert report.text(two).splitlines()[-1] == "    event 3: nobody counts it"


def test_sorted_from_most_to_least_costly() -> None:
    data = json.loads(printed(estimates())["json"])
    keys = [(-(e["seconds"] or {"typical": 0.0})["typical"], e["count"] is None) for e in data["events"]]
    assert [k[0] for k in keys] == sorted(k[0] for k in keys)
    without = [e["count"] is None for e in data["events"]]
    assert without == sorted(without)


# ---- reading back -----------------------------------------------------------------------------

@pytest.mark.parametrize("name", REPORTS)
def test_what_was_printed_is_read_back(name: str, tmp_path: Path) -> None:
    made = REPORTS[name]()
    path = tmp_path / "report"
    path.write_text(printed(made)["json"], encoding="utf-8")
    found = reading.read(path)
    assert (found.cpu, found.backend, found.is_thread) == (made.request.cpu, made.outcome.backend, False)
    assert found.counts == {m.event.index: m.count for m in made.outcome.measurements}
    assert found.label == ("report" if made.rank is None else f"rank {made.rank}")


@settings(deadline=None)
@given(cpu=st.sampled_from(CPUS), command=st.lists(st.text(max_size=20), min_size=1, max_size=3).map(tuple),
       rank=st.none() | st.integers(0, 10**8), estimated=st.booleans(),
       counts=st.dictionaries(st.integers(0, 31), st.none() | st.integers(0, 2**63), min_size=1))
def test_any_report_is_read_back(tmp_path_factory: pytest.TempPathFactory, cpu: Cpu, command: tuple[str, ...],
                                 rank: int | None, estimated: bool, counts: dict[int, int | None]) -> None:
    rows = tuple(measured(cpu, event, count, share=0.5) for event, count in counts.items())
    outcome = Outcome("valgrind", "why", 0, rows, clock=300.0, clock_source="x", estimated_cycles=estimated)
    made = Report(Request(command, cpu=cpu), outcome, costs.builtin(cpu), rank)
    path = tmp_path_factory.getbasetemp() / "any-report"
    for form, text in printed(made).items():
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        if form == "json":
            assert reading.read(path).counts == counts
