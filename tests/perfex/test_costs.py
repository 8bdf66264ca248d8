"""Cost tables: the built-in ones, their order of precedence, the format of -t and -c."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from cost_files import BAD_LINES
from perfex_runs import PERFEX, counted, environment, perfex, refused
from pypfm.perfex import costs, events
from pypfm.perfex.costs import Cost
from pypfm.perfex.model import CPUS, Cpu, PerfexError

SYSTEM_FILE = Path("/etc/perfex.costs")


def printed(*args: object, **environ: str) -> str:
    done = perfex("-t", *args, env=environment(**environ))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _no_system_file() -> None:
    if SYSTEM_FILE.exists():
        pytest.skip(f"{SYSTEM_FILE} exists on this machine")


# ---- the built-in tables ------------------------------------------------------------------

def test_every_value_has_a_source() -> None:
    with (ROOT / "csrc" / "tables" / "perfex_costs.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["cpu"], int(r["event"])) for r in rows] == [
        *(("r10000", i) for i in range(32)), ("r10000-3", 14), *(("r12000", i) for i in range(32))]
    for row in rows:
        assert row["source"].startswith(("perfex(1): ", "derived: ", "minimum from perfex(1): ", "no cost: ")), row
        assert "SGI's table" not in row["source"]


@pytest.mark.parametrize("cpu", CPUS)
def test_values_are_in_order(cpu: Cpu) -> None:
    for event, cost in costs.builtin(cpu).items():
        assert 0 <= cost.minimum <= cost.typical <= cost.maximum, event


@pytest.mark.parametrize("cpu", CPUS)
def test_what_the_manual_says(cpu: Cpu) -> None:
    table = costs.builtin(cpu)
    assert table[21].minimum == 0.5
    for redundant in (1, 15):
        assert table[redundant] == Cost("clks", 0, 0, 1)
    for asynchronous in (12, 13):
        assert asynchronous not in table


def test_revision_3_has_another_cost_for_event_14() -> None:
    assert costs.builtin("r10000")[14] != costs.builtin("r10000-3")[14] == Cost("clks", 0, 0, 1)
    assert {k: v for k, v in costs.builtin("r10000").items() if k != 14} == {
        k: v for k, v in costs.builtin("r10000-3").items() if k != 14}


def test_seconds() -> None:
    assert Cost("clks", 2, 1, 4).seconds(1_000_000, 200) == pytest.approx((0.01, 0.005, 0.02))
    assert Cost("nsec", 2, 1, 4).seconds(1_000_000, 200) == pytest.approx((0.002, 0.001, 0.004))


# ---- -t and -c --------------------------------------------------------------------------------

@pytest.mark.parametrize("cpu", CPUS)
def test_reading_what_was_printed_changes_nothing(cpu: Cpu, tmp_path: Path) -> None:
    text = printed("--cpu", cpu)
    assert len(text.splitlines()) == 2 + events.NUM_EVENTS
    assert costs.parse(text, "-t") == costs.builtin(cpu)
    file = tmp_path / "costs"
    file.write_text(text)
    assert printed("--cpu", cpu, "-y", "-c", file) == text
    assert printed("--cpu", cpu, PERFEX_COSTS=str(file)) == text


def test_the_format() -> None:
    lines = printed().splitlines()
    assert lines[1] == "#ev unit    typical    minimum    maximum"
    assert lines[2 + 21] == " 21 clks          1        0.5         52  # Graduated floating point instructions (unsourced: 52 clks)"
    assert lines[2 + 26] == " 26 nsec        235        160        310  # Secondary (L2) data cache misses (unsourced: 800 MB/s, 310 ns)"
    assert lines[2 + 12].startswith("#12 no cost")


costs_in_text = st.lists(st.decimals(0, 10**11, places=6), min_size=3, max_size=3).map(sorted)


@given(st.dictionaries(st.integers(0, 31), st.tuples(st.sampled_from(["clks", "nsec"]), costs_in_text)))
def test_any_table_comes_back(given_costs: dict[int, tuple[costs.Unit, list[float]]]) -> None:
    table = {event: Cost(unit, float(values[1]), float(values[0]), float(values[2]))
             for event, (unit, values) in given_costs.items()}
    assert costs.parse(costs.show(table, "r10000"), "text") == table
    assert costs.show(costs.parse(costs.show(table, "r12000"), "text"), "r12000") == costs.show(table, "r12000")


@given(st.text(max_size=200))
def test_any_text_is_a_table_or_an_error_with_its_line(text: str) -> None:
    said = ""
    try:
        costs.parse(text, "file")
    except PerfexError as error:
        said = str(error)
    assert said == "" or said.startswith("file, line ")
    assert "\n" not in said


def test_partial_tables_and_comments(tmp_path: Path) -> None:
    (tmp_path / "costs").write_text("# mine\n\n  25\tnsec 9 8 10 # why\r\n#26 clks 1 1 1\n")
    made = costs.parse(printed("-y", "-c", tmp_path / "costs"), "-t")
    assert made == costs.builtin("r10000") | {25: Cost("nsec", 9, 8, 10)}


def test_an_event_without_a_cost_can_have_one(tmp_path: Path) -> None:
    (tmp_path / "costs").write_text("12 clks 1 1 1\n")
    assert " 12 clks          1          1          1  # External interventions\n" in printed(
        "-y", "-c", tmp_path / "costs")


def test_which_table_wins(tmp_path: Path) -> None:
    (tmp_path / "system").write_text("0 clks 2 2 2\n25 clks 2 2 2\n")
    (tmp_path / "own").write_text("25 clks 3 3 3\n26 clks 3 3 3\n")
    both = costs.parse(printed("-y", "-c", tmp_path / "own", PERFEX_COSTS=str(tmp_path / "system")), "-t")
    assert {i: both[i].typical for i in (0, 25, 26, 18)} == {0: 2, 25: 3, 26: 3, 18: 1}


def test_the_systems_file(tmp_path: Path) -> None:
    """In a mount namespace of its own, /etc has a perfex.costs."""
    (tmp_path / "perfex.costs").write_text("0 clks 7 7 7\n")
    inside = ["unshare", "-m", "sh", "-c", f'mount --bind {tmp_path} /etc && exec "$@"', "sh"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace may be made here (unshare -m)")
    done = subprocess.run([*inside, PERFEX, "-t"], capture_output=True, text=True, env=environment())
    assert done.stdout.splitlines()[2] == "  0 clks          7          7          7  # Cycles"


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_a_bad_line_is_an_error_with_its_number(line: str, message: str) -> None:
    with pytest.raises(PerfexError, match="^file, line 3: .*" + re.escape(message)):
        costs.parse(f"# costs\n1 clks 0 0 1\n{line}\n2 clks 0 0 1\n", "file")


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    file = tmp_path / "costs"
    file.write_bytes(b"#" * (1 << 21))
    assert refused("-t", "-y", "-c", file) == f"perfex: {file}: larger than 1048576 bytes\n"
    file.write_bytes(b"# \xe2\x82\xac\n\xff\n")
    assert refused("-t", "-y", "-c", file) == f"perfex: {file}, line 2: byte 0xff is not UTF-8 text\n"
    assert refused("-t", env=environment(PERFEX_COSTS=str(file))) == f"perfex: {file}, line 2: byte 0xff is not UTF-8 text\n"
    assert refused("-t", "-y", "-c", tmp_path) == f"perfex: {tmp_path}: Is a directory\n"
    assert "larger than" in refused("-t", "-y", "-c", "/dev/zero")
    assert refused("-t", env=environment(PERFEX_COSTS="/nonexistent")) == (
        "perfex: /nonexistent: No such file or directory\n")


def test_t_with_a_command(perf_table: Path) -> None:
    done = perfex("--perf-table", perf_table, "-t", "echo", "ran")
    assert done.stdout == printed() + "ran\n"
    assert "  0 Cycles" in done.stderr


def test_all_events_without_a_cost_come_last(perf_table: Path) -> None:
    data = counted("--perf-table", perf_table, "-a", "-y", "true")
    typical = [e["seconds"]["typical"] if e["seconds"] else 0.0 for e in data["events"]]
    assert typical == sorted(typical, reverse=True)
    assert typical[0] > 0
