"""Callgrind's files: names of files with line breaks, and where they cannot be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from native import CC, build
from perfex_runs import counted, perfex, refused
from pypfm.perfex.backends.valgrind import profile

needs_valgrind = pytest.mark.needs("valgrind")

SUM = """\
volatile double sum;
int main(void) { for (int i = 0; i < 1000; i++) sum += 2.0; return 0; }
"""
# What callgrind writes, with a program in such a directory.
PART = """\
version: 1
creator: callgrind
cmd: {0}/sum
part: 1

desc: Trigger: Program termination
positions: instr line
events: Ir Dr
ob=(1) {0}/sum
fl=(1) {0}/sum.c
fn=(1) main
0x1000 2 5 1
cob=(1)
cfi=(1)
cfn=(2) work
calls=1 0x2000 7{1}
+4 2 30 3
fn=(2)
0x2000 7 30 3

totals: 35 4
"""
NAMES = ["/tmp/a\nb", "/tmp/a\n12 z", "/tmp/a\n+4 z", "/tmp/a\ncalls=1", "/tmp/a\ntotals: 5", "/tmp/a\npart: x",
         "/tmp/a\nevents: Ir Dr", "/tmp/a\nb\n\xfcc"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", ["", " "])
def test_a_name_with_line_breaks(name: str, end: str, tmp_path: Path) -> None:
    file = tmp_path / "counts.1"
    file.write_text(PART.format(name, end), encoding="utf-8")
    [part] = profile.parts(file, code=True)
    assert (part.number, part.totals, part.adds_up) == (1, {"Ir": 35, "Dr": 4}, True)
    assert {(p.function.object, p.function.name, p.file, p.address, p.line): counts
            for p, counts in part.code.items()} == {
        (f"{name}/sum", "main", f"{name}/sum.c", 0x1000, 2): [5, 1],
        (f"{name}/sum", "work", f"{name}/sum.c", 0x2000, 7): [30, 3]}
    assert list(part.calls.values()) == [[1, 30, 3]]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with 1000 additions, in a directory whose name callgrind's files cannot have in one line."""
    directory = tmp_path / "a\n12 z"
    directory.mkdir()
    build(CC, "-O1", "-x", "c", "-", "-o", directory / "sum", source=SUM)
    return directory / "sum"


@needs_valgrind
def test_a_program_in_a_directory_with_a_line_break(program: Path) -> None:
    data = counted("--backend", "valgrind", "-a", program)
    assert next(e["count"] for e in data["events"] if e["event"] == 21) == 1000


@needs_valgrind
@pytest.mark.parametrize("options", [["-e", "21"], ["-a", "--trace"]], ids=" ".join)
def test_a_name_that_is_not_utf8(options: list[str], tmp_path: Path) -> None:
    """Its code is found: also the little that callgrind knows no object of."""
    program = tmp_path / "s\udcffm"
    build(CC, "-O1", "-x", "c", "-", "-o", program, source=SUM)
    data = counted("--backend", "valgrind", *options, program)
    assert next((e["count"], e["quality"]) for e in data["events"] if e["event"] == 21) == (1000, "exact")


@needs_valgrind
@pytest.mark.parametrize("status", [0, 7])
def test_files_that_cannot_be_kept(status: int, tmp_path: Path) -> None:
    """The command has run: its report is printed, and its status counts, unless it is 0."""
    directory, report = tmp_path / "kept", tmp_path / "report"
    command = ["sh", "-c", f'mkdir "{directory}/callgrind.out.$$.1"; exit {status}']
    done = perfex("--backend", "valgrind", "-e", "15", "--keep", directory, "-o", report, *command)
    assert done.returncode == (status or 1)
    assert done.stderr.startswith(f"perfex: --keep: {directory}: ")
    assert done.stderr.count("\n") == 1
    assert "Graduated instructions" in report.read_text("utf-8")


@needs_valgrind
def test_a_directory_without_a_name(program: Path) -> None:
    assert "the name of the directory is empty" in refused("--backend", "valgrind", "--keep", "", program)
