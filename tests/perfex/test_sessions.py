"""What is left of a session of pytest --perfex, where any process can have put something else in the place of a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import clean_env, run
from perfex_runs import PERFEX
from pypfm.errors import PfmError
from pypfm.perfex.backends.simulation import counts, formulas
from pypfm.perfex.backends.simulation.machine import machine
from pypfm.perfex.backends.valgrind import installed
from pypfm.perfex.benchmarks import names, results, session
from pypfm.perfex.benchmarks.plan import Plan, Round, begin
from pypfm.perfex.model import PerfexError, Request

ROUND = Round("test_it.py::test_it", "test_it.py::test_it", "", (1, 2), 10, "places.1")
MACHINE = machine("r10000", Request.cpu, Request.l2)
Damage = Callable[[Path], object]


def put(text: str) -> Damage:
    return lambda path: path.write_text(text)


# What can stand in the place of a file, and what is said.
KINDS: list[tuple[Damage, str]] = [
    (Path.mkdir, "is not a file"), (os.mkfifo, "is not a file"), (lambda path: path.symlink_to("/dev/null"), "symbolic links"),
    (lambda path: (path.touch(), os.truncate(path, 1 << 40)), "is too large")]
IDS = ["directory", "fifo", "link", "large"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The directory of a session that has counted something."""
    (made := tmp_path / "0").mkdir()
    Plan(()).write(made)
    (made / "1.0.r10k").touch()
    (made / "places.1").touch()
    ROUND.append(made)
    begin(made, "")
    return made


def refused(place: Path, status: int = 0) -> str:
    """What is said of a session; it is one line."""
    with pytest.raises(PfmError) as said:
        session.outcome(place, status)
    assert str(said.value).isprintable()
    return str(said.value)


# ---- what the two processes say to each other --------------------------------------------------------------

def test_what_is_not_damaged(place: Path) -> None:
    assert session.outcome(place, 0) == session.Run(place, 0, (ROUND,))


@pytest.mark.parametrize("file", ["rounds.jsonl", "begun"])
@pytest.mark.parametrize(("damage", "said"), KINDS, ids=IDS)
def test_another_kind_of_file(file: str, damage: Damage, said: str, place: Path) -> None:
    (place / file).unlink()
    damage(place / file)
    assert refused(place).startswith(f"{file}: ")
    assert said in refused(place)


@pytest.mark.parametrize("damage", [damage for damage, _ in KINDS], ids=IDS)
def test_messages_that_cannot_be_read(damage: Damage, place: Path) -> None:
    """They only say more of what went wrong."""
    damage(place / "messages")
    assert session.outcome(place, 0).rounds == (ROUND,)
    (place / "1.0.r10k").unlink()
    (place / "begun").unlink()
    assert refused(place, 1).startswith(f"valgrind has not started {sys.executable}")


@pytest.mark.parametrize("change", [
    {"counts": [1, "2"]}, {"counts": [1.5]}, {"counts": [True]}, {"counts": [-1]}, {"counts": [1 << 64]}, {"counts": 7},
    {"name": 7}, {"group": None}, {"notes": "abc"}, {"notes": [1]}, {"warm": None}, {"threads": float("nan")},
    {"places": "places.2"}, {"places": "/etc/passwd"}, {"other": 1}])
def test_a_member_that_does_not_fit(change: dict[str, object], place: Path) -> None:
    (place / "rounds.jsonl").write_text(json.dumps(vars(ROUND) | change))
    assert "is not what was counted" in refused(place)


@pytest.mark.parametrize("line", ["junk", '{"a":1}', "[]", "7", "", '"\x1b[2J"', "[" * 100_000, '{"warm": ' + "9" * 5000 + "}", "\x00"])
def test_a_line_that_is_no_round(line: str, place: Path) -> None:
    with (place / "rounds.jsonl").open("a") as stream:
        stream.write(line + "\n")
    assert "rounds.jsonl: " in refused(place)
    assert "is not what was counted of a benchmark" in refused(place)
    assert len(refused(place)) < 200


@pytest.mark.parametrize("damage", [Path.unlink, put("")])
def test_lines_that_are_missing(damage: Damage, place: Path) -> None:
    """A benchmark that was counted is not left out."""
    damage(place / "rounds.jsonl")
    assert "rounds.jsonl: a line is missing" in refused(place)


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("damage", [shutil.rmtree, lambda place: [file.unlink() for file in place.iterdir()],
                                    lambda place: (place / "1.0.r10k").unlink()], ids=["all", "files", "counts"])
def test_a_directory_that_is_gone(damage: Damage, status: int, place: Path) -> None:
    """Valgrind has started; that is not why there are no counts."""
    damage(place)
    assert refused(place, status) == f"{place}: the directory of counts is gone, or empty: something has removed it"


def test_a_directory_that_cannot_be_made(place: Path) -> None:
    """Tests of the session before have made it, or have removed the one in which it is to be."""
    for other, said in (place, "File exists"), (place / "none" / "1", "No such file or directory"):
        with pytest.raises(PerfexError, match=f"{other}, the directory of a session: {said}"):
            session.collect(Plan(()), other)
        with pytest.raises(PerfexError, match=f"{other}, the directory of a session: {said}"):
            session.run(Plan(()), other, MACHINE, 1)


# ---- counts ------------------------------------------------------------------------------------------------

COUNTED = sorted({"I1mr", "Fo"}.union(*(row.names for row in formulas.rows(Request.cpu) if row.names)))


def made(place: Path, numbers: Iterable[int]) -> list[results.Benchmark]:
    return results.benchmarks([session.Run(place, 0, (replace(ROUND, counts=tuple(numbers)),))], MACHINE, "r10000")


@pytest.mark.parametrize(("damage", "said"), [
    *KINDS, (lambda _: None, "No such file"), (put(""), "not a file of counts"), (put("junk" * 1000), "not a file of counts")],
    ids=[*IDS, "missing", "empty", "junk"])
def test_counts_that_are_damaged(damage: Damage, said: str, place: Path) -> None:
    (place / "places.1").unlink()
    damage(place / "places.1")
    with pytest.raises(PfmError, match=rf"^places\.1: .*{said}.*; something else has written to it$"):
        made(place, ROUND.counts)


@pytest.fixture
def names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of counts is one with their names."""
    monkeypatch.setattr(installed, "version", lambda: "3.19")
    monkeypatch.setattr(counts, "profile", lambda path, into: setattr(into, "names", tuple(path.read_text().split())))


@pytest.mark.usefixtures("names_only")
def test_counts_that_fit(place: Path) -> None:
    (place / "places.1").write_text(" ".join(COUNTED))
    [one] = made(place, range(len(COUNTED)))
    assert (one.name, one.report.outcome.operations) == (ROUND.name, COUNTED.index("Fo"))


@pytest.mark.parametrize(("counted", "numbers", "said"), [
    (COUNTED[1:], range(len(COUNTED)), "is longer than"), (COUNTED, range(len(COUNTED) - 1), "is shorter than"),
    ([name for name in COUNTED if name != "Fo"], range(len(COUNTED) - 1), "has no 'Fo'"),
    (COUNTED, [(1 << 64) - 1] * len(COUNTED), "")], ids=["fewer", "more", "others", "large"])
@pytest.mark.usefixtures("names_only")
def test_counts_of_something_else(counted: list[str], numbers: Sequence[int], said: str, place: Path) -> None:
    (place / "places.1").write_text(" ".join(counted))
    with pytest.raises(PfmError, match=rf"^places\.1: .*{said}.*; something else has written to it$"):
        made(place, numbers)


# ---- names of functions ------------------------------------------------------------------------------------

@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which process 7 names its functions."""
    monkeypatch.setattr(names, "MAPS", str(tmp_path))
    return tmp_path / "perf-7.map"


def test_a_map_is_taken(left: Path) -> None:
    left.write_text("1000 10 py::f:a.py\n")
    assert names.taken(7) == "1000 10 py::f:a.py\n"
    assert not left.exists()
    assert names.taken(7) == ""


@pytest.mark.parametrize("damage", [damage for damage, _ in KINDS], ids=IDS)
def test_a_map_that_is_none(damage: Damage, left: Path) -> None:
    damage(left)
    assert names.taken(7) == ""
    assert os.path.lexists(left)


def test_a_map_of_somebody_else(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left.write_text("1000 10 py::f:a.py\n")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert names.taken(7) == ""
    assert left.exists()


def test_lines_of_a_map_that_are_none() -> None:
    """They are left out."""
    found = names.Names("\n".join(["zz", "", "1000", "1000 10", "-1 10 py::a:b", "10 -1 py::a:b", "1_0 10 py::a:b", "g 10 py::a:b",
                                   "1" * 5000 + " 10 py::a:b", "0x1000 10 py::f:a file.py", "2000 ff py::g:b.py", "3000 1"]))
    assert found._rows == [(0x1000, 0x10, "py::f:a file.py"), (0x2000, 0xff, "py::g:b.py")]


@pytest.mark.parametrize("functions", [False, True])
def test_a_map_of_a_process_before(functions: bool, left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names are of other code; without --perfex-functions nobody wants to know."""
    class Process(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **_options: object) -> None:
            [place] = (word.removeprefix("--counts=") for word in words if word.startswith("--counts="))
            Path(place, "1.0.r10k").touch()
            super().__init__(["true"])
            self.wait()
            self.pid = 7

        def wait(self, timeout: float | None = None) -> int:
            if self.pid == 7 and functions:
                with left.open("a") as stream:  # as CPython does
                    stream.write("2000 20 new\n")
            return super().wait(timeout)

    left.write_text("1000 10 old\n")
    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(installed, "find", lambda: "valgrind")
    monkeypatch.setattr(session.tool, "directory", lambda: tmp_path)
    done = session.run(Plan((), functions=functions), tmp_path / "0", MACHINE, 0)
    assert done.functions == ("2000 20 new\n" if functions else "")
    assert left.exists() is not functions


# ---- the command -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("changes", [{"COMP_POINT": "x"}, {"COMP_POINT": "9" * 5000}, {"_ARGCOMPLETE": "1"},
                                     {"_ARGCOMPLETE": "1", "COMP_LINE": "perfex", "COMP_POINT": "x"}])
def test_variables_of_a_shell_that_completes_nothing(changes: dict[str, str]) -> None:
    assert run(PERFEX, "--list", env=clean_env(**changes)).returncode == 0
