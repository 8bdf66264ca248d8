"""perfex --merge: the reports of several ranks, under real launchers too."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from perfex_runs import PERFEX, compile_c, environment, perfex, refused
from pypfm.perfex import merge, reading
from pypfm.perfex.model import Measurement, Outcome, PerfexError, Quality, Request
from pypfm.perfex.report import Report, csv_head, csv_text, json_text, text
from tools import needs
from valid import validate

EVENT = {"event": 0, "count": 5, "quality": "exact", "estimated": False, "note": "", "runs": None}
REPORT = {"cpu": "r10000", "backend": "perf", "command": ["a.out"], "rank": None, "ended_by": None, "repeats": None, "clock": None,
          "kernel": False, "l2": None, "threads": [], "events": [EVENT]}


def json_of(event: dict[str, object] | None = None, **more: object) -> bytes:
    """What is read of a report, with other members."""
    return json.dumps(REPORT | ({"events": [EVENT | event]} if event else {}) | more).encode()


def write(directory: Path, rank: int, counts: dict[int, int | None], form: str = "json", cpu: str = "r10000") -> Path:
    """The report of a rank."""
    from pypfm.perfex import events

    assert cpu in ("r10000", "r12000")
    request = Request(("a.out",), cpu="r10000" if cpu == "r10000" else "r12000")
    rows = tuple(Measurement(events.table(request.cpu)[i], n, "exact" if n is not None else "unavailable")
                 for i, n in counts.items())
    made = Report(request, Outcome("perf", "why", 0, rows), None, rank)
    path = directory / f"out.{rank}"
    path.write_text({"text": text, "json": json_text, "csv": lambda r: csv_head() + csv_text(r)}[form](made))
    return path


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """Eleven ranks; the tenth is the slowest."""
    for rank in range(11):
        counts = {0: 1000 + (500 if rank == 10 else rank), 25: 10 * rank, 26: None if rank == 3 else 7}
        write(tmp_path, rank, counts)
    return tmp_path / "out"


def test_totals(ranks: Path) -> None:
    done = perfex("--merge", ranks)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "perfex: r10000 events, sums of " + ", ".join(f"rank {n}" for n in range(11))
    assert " ".join(lines[4:6]).split()[-5:] == ["11545", "exact", "1000", "1049.5", "1500"]
    assert " ".join(lines[6:8]).split()[-5:] == ["550", "exact", "0", "50.0", "100"]
    assert lines[8].endswith("not available")
    assert max(map(len, lines[1:])) == 80
    assert lines[-1] == "slowest: rank 10, 1500 cycles"


def test_json(ranks: Path) -> None:
    data = json.loads(perfex("--merge", "--json", ranks).stdout)
    validate(data, "perfex_merge")
    assert data["slowest"] == {"rank": "rank 10", "cycles": 1500, "estimated": False}
    assert data["events"][1] == {"event": 25, "name": "Primary (L1) data cache misses", "total": 550, "minimum": 0,
                                 "mean": 50.0, "maximum": 100, "quality": "exact", "estimated": False}
    assert data["events"][2]["total"] is None


def test_csv(ranks: Path, tmp_path: Path) -> None:
    done = perfex("--merge", "--csv", "-o", tmp_path / "merged", ranks)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = (tmp_path / "merged").read_text().splitlines()
    assert lines[0] == "kind,event,name,total,minimum,mean,maximum,quality,estimated"
    assert lines[2] == "event,25,Primary (L1) data cache misses,550,0,50.0,100,exact,0"
    assert lines[-1] == "slowest,,rank 10,1500,,,,,0"


def test_the_order_of_files_is_that_of_ranks(ranks: Path) -> None:
    assert [p.name for p in merge.find([str(ranks)])] == [f"out.{n}" for n in range(11)]
    (ranks.parent / "out.x").write_text("no rank")
    (ranks.parent / "out.1.2").write_text("no rank")
    assert len(merge.find([str(ranks)])) == 11


def test_names_with_wildcards(tmp_path: Path) -> None:
    (tmp_path / "a[0]*").mkdir()
    write(tmp_path / "a[0]*", 5, {0: 1}).rename(tmp_path / "a[0]*" / "[x]*.5")
    assert [p.name for p in merge.find([str(tmp_path / "a[0]*" / "[x]*")])] == ["[x]*.5"]


def test_without_cycles_the_slowest_is_not_known(tmp_path: Path) -> None:
    files = [write(tmp_path, 0, {25: 1}), write(tmp_path, 1, {25: 2})]
    assert perfex("--merge", *files).stdout.endswith("slowest: not known, as cycles were not counted by all\n")


def test_cycles_of_the_second_counter(tmp_path: Path) -> None:
    files = [write(tmp_path, 0, {16: 5}), write(tmp_path, 1, {16: 4})]
    assert merge.merge([reading.read(f) for f in files]).slowest == ("rank 0", 5)


@pytest.mark.parametrize(("second", "message"), [
    ({"backend": "valgrind"}, "a was counted by the perf backend, b by valgrind: a sum of these means nothing"),
    ({"code": "R10000"}, "only one of a and b is R10000 code: a sum of these means nothing"),
    ({"kernel": True}, "the kernel is counted, too (-k), in only one of a and b"),
    ({"regions": True}, "only one of a and b was counted with --regions: a sum of these means nothing"),
    ({"caches": "this machine's"}, "a and b have other simulated caches (--cache, --l2)"),
    ({"kernel": True, "cpu": "r12000"}, "events of the r10000, b of the r12000")])
def test_counts_that_mean_different_things(second: dict[str, object], message: str, tmp_path: Path) -> None:
    """As with --compare: one rank whose host had no counters, and was simulated, would spoil the sum."""
    for name, more in (("a", {}), ("b", second)):
        (tmp_path / name).write_bytes(json_of(**more))
    assert message in refused("--merge", "a", "b", cwd=tmp_path)


@pytest.mark.parametrize(("content", "message"), [
    (b"", "not a report of perfex in JSON: perfex --json -o FILE writes what"), (b"hello\n", "not a report of perfex in JSON"),
    (b"\xff", "line 1: byte 0xff"), (csv_head().encode(), "not a report of perfex in JSON"),
    (b"{", "not a report of perfex: JSONDecodeError"), (b"{}", "not a report of perfex: KeyError: "),
    (b"[" * 100000, "not a report of perfex"), (b'{"cpu":' + b"[" * 100000, "not a report of perfex: RecursionError"),
    (b'{"cpu": "r5000"}', "'r5000' is not a cpu"), (json_of(events=5), "not a report of perfex: TypeError"),
    (json_of(events=[]), "no counts"), (json_of(command=5), "TypeError"), (json_of(ended_by="KILL"), "'KILL' is not a signal"),
    (json_of(ended_by="SIGX"), "'SIGX' is not a signal"), (json_of(ended_by="SIGRTMIN+99"), "'SIGRTMIN+99' is not a signal"),
    (json_of(backend="perf\x1b[31m"), "'perf\\x1b[31m' is not a backend; perf, valgrind, qemu are"),
    (json_of(backend="auto"), "'auto' is not a backend"), (json_of(backend=["perf"]), "is not a backend"),
    (json_of({"count": "1"}), "is not a count"), (json_of({"event": 99}), "'99' is not an event"),
    (json_of({"count": True}), "'true' is not a count"), (json_of({"count": -1}), "'-1' is not a count"),
    (json_of({"count": 1 << 64}), "is not a count"), (json_of({"count": 1.5}), "'1.5' is not a count"),
    (json_of({"quality": "good"}), "'good' is not a quality; exact, "),
    (json_of({"runs": {"counts": [1, 2]}}), "event 0: 2 counts of 1 runs"),
    (json_of(repeats={"counted": 2}), "the counts of the 2 runs are missing"),
    (json_of(repeats={"counted": 501}), "'501' is not a number of runs"), (json_of(repeats={"counted": 0}), "'0' is not a number"),
    (json_of(rank=-5), "'-5' is not a rank"), (json_of(rank=float("inf")), "'Infinity' is not a rank"),
    (json_of(clock={"MHz": -1, "source": "measured"}), "'-1' is not a clock"), (json_of(l2="4m"), "is not a count"),
    (json_of(events=[EVENT, EVENT]), "event 0 stands here a second time"),
])
def test_files_that_are_no_reports(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "out.0").write_bytes(content)
    said = refused("--merge", tmp_path / "out.0")
    assert said.startswith(f"perfex: {tmp_path / 'out.0'}")
    assert message in said


def test_names_of_any_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, 0, {0: 1})
    path.write_text(path.read_text().replace('"rank": 0', '"rank": null'))
    path = path.rename(tmp_path / "\udcff\u20ac\n")
    done = perfex("--merge", path, env=environment(PYTHONIOENCODING="latin-1"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("slowest: \\udcff\\u20ac\\n, 1 cycles\n")
    path.write_text("x\n")
    assert "\\udcff" in refused("--merge", path)


def test_what_cannot_be_merged(tmp_path: Path) -> None:
    first, other = write(tmp_path, 0, {0: 1}), write(tmp_path, 1, {0: 1}, cpu="r12000")
    assert refused("--merge", first, other) == (
        "perfex: --merge: rank 0 counted events of the r10000, rank 1 of the r12000\n")
    copy = tmp_path / "copy"
    copy.write_text(first.read_text())
    assert refused("--merge", first, copy) == "perfex: --merge: rank 0 stands in two of the files\n"
    assert "No such file or directory" in refused("--merge", tmp_path / "nothing")
    with pytest.raises(PerfexError):
        merge.merge([])


def test_under_mpirun(perf_table: Path, tmp_path: Path) -> None:
    mpirun = needs("mpirun")
    program = compile_c(tmp_path, "ranked", 'int main(void) { touch(1000 * (1 + strtoul(getenv("OMPI_COMM_WORLD_RANK"), 0, 10)));'
                        " return 0; }")
    out = tmp_path / "out"
    done = subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "4", PERFEX, "--json", "--perf-table", perf_table,
                           "-a", "-y", "-o", out, program], capture_output=True, text=True, env=environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.glob("out*")) == [f"out.{n}" for n in range(4)]
    data = json.loads(perfex("--merge", "--json", *tmp_path.glob("out.*")).stdout)
    assert data["ranks"] == [f"rank {n}" for n in range(4)]
    faults = next(e for e in data["events"] if e["event"] == 25)
    assert 10_000 <= faults["total"] < 12_000
    assert 1000 <= faults["minimum"] < 2000
    assert 4000 <= faults["maximum"] < 5000
    assert data["slowest"]["rank"] in data["ranks"]


def test_quality_estimates_and_deaths_are_kept(tmp_path: Path) -> None:
    """The worst quality of all ranks; ~ before what was computed; and whose counts were cut short."""
    from pypfm.perfex import events

    for rank in range(3):
        rows = (Measurement(events.table("r10000")[0], 1000, "modelled"),
                Measurement(events.table("r10000")[25], 10, "approximate" if rank == 1 else "exact"))
        outcome = Outcome("valgrind", "why", 139, rows, estimated_cycles=True, ended_by="SIGSEGV" if rank != 1 else "")
        made = Report(Request(("a.out",), events=(0, 25)), outcome, None, rank)
        (tmp_path / f"out.{rank}").write_text(json_text(made))
    lines = perfex("--merge", tmp_path / "out").stdout.splitlines()
    assert lines[0].endswith("sums of rank 0 (ended by SIGSEGV), rank 1, rank 2 (ended by SIGSEGV)")
    assert " ".join(lines[4:6]).split()[-5:] == ["~3000", "modelled", "~1000", "~1000", "~1000"]
    assert " ".join(lines[6:8]).split()[-5:] == ["30", "approximate", "10", "10.0", "10"]
    assert lines[-1] == "slowest: rank 0, ~1000 cycles"
    data = json.loads(perfex("--merge", "--json", tmp_path / "out").stdout)
    validate(data, "perfex_merge")
    assert data["ended"] == [{"rank": "rank 0", "by": "SIGSEGV"}, {"rank": "rank 2", "by": "SIGSEGV"}]
    assert [(e["quality"], e["estimated"]) for e in data["events"]] == [("modelled", True), ("approximate", False)]
    assert data["slowest"]["estimated"]
    assert "ended,,rank 2,SIGSEGV,,,,,\n" in perfex("--merge", "--csv", tmp_path / "out").stdout


def test_the_quality_of_a_sum_is_the_worst(tmp_path: Path) -> None:
    """From the best to the worst: exact, simulated, approximate, modelled; a sum without one of its parts is none."""
    from pypfm.perfex import events

    order: tuple[Quality, ...] = ("exact", "simulated", "approximate", "modelled")
    for better, worse in pairwise(order):
        for rank, quality in enumerate((worse, better)):
            rows = (Measurement(events.table("r10000")[25], 10, quality),)
            (tmp_path / f"out.{rank}").write_text(json_text(Report(Request(("x",)), Outcome("perf", "why", 0, rows), None, rank)))
        assert json.loads(perfex("--merge", "--json", tmp_path / "out").stdout)["events"][0]["quality"] == worse


def test_a_member_that_stands_twice_is_not_chosen_from(tmp_path: Path) -> None:
    path = tmp_path / "out.1"
    path.write_bytes(json_of().replace(b'"count": 5', b'"count": 7, "count": 8'))
    assert "a member stands in an object a second time" in refused("--merge", path)
