"""The programs of docs/examples: built as their user builds them, run, and what they print is what is committed.

A program is there in C and in Python, and both print the same: NAME.out, or NAME.RUN.out where one is run
in more than one way.  PYPFM_WRITE_EXAMPLES=1 writes these files from what the C programs print.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import native
from conftest import ROOT, clean_env, run
from native import CC
from terminal import PYPFM
from tools import needs

EXAMPLES = ROOT / "docs" / "examples"
ITANIUM2, MONTECITO = {"LIBPFM_FORCE_PMU": "3"}, {"LIBPFM_FORCE_PMU": "4"}
GLM, XSCALE = {"LIBPFM_FORCE_PMU": "glm"}, {"PMC_MACHINE": "xscale"}
FAULTS = {"PERFEX_PERF_TABLE": str(EXAMPLES / "page_faults.csv")}


@dataclass(frozen=True)
class Run:
    """One run of a program, in every language that it is written in.

    :ivar library: what `pypfm config` is asked for
    :ivar label: of this run, where a program has more than one
    """

    program: str
    library: str
    env: dict[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    label: str = ""

    @property
    def expected(self) -> Path:
        return EXAMPLES / f"{self.program}{'.' if self.label else ''}{self.label}.out"

    def __str__(self) -> str:
        return self.expected.stem


RUNS = [
    Run("pfm3_showevtinfo", "pfm3", ITANIUM2, ("L2_MISS",)),
    Run("pfm3_showevtinfo", "pfm3", MONTECITO, ("L3_READS_DATA_READ_MISS",), "montecito"),
    Run("ita2_counters", "pfm3", ITANIUM2),
    Run("ita2_code_range", "pfm3", ITANIUM2, ("0x4000000000001000", "0x4000000000001040")),
    Run("ita2_dear", "pfm3", ITANIUM2),
    Run("ita2_btb", "pfm3", ITANIUM2),
    Run("ita2_opcode", "pfm3", ITANIUM2),
    Run("mont_data_range", "pfm3", MONTECITO, ("0x6000000000001000", "0x60000000000010b0")),
    Run("mont_etb", "pfm3", MONTECITO),
    Run("mont_opcode", "pfm3", MONTECITO),
    Run("pfm4_showevtinfo", "pfm4", GLM, ("ICACHE",)),
    Run("glm_evt2raw", "pfm4", GLM, (
        "glm::ICACHE:MISSES", "glm::ICACHE:MISSES:u", "glm::ICACHE:MISSES:e:c=1",
        "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", "glm::ICACHE:WAY")),
    Run("perf_self", "pfm4"),
    Run("pmc_self", "pmc"),
    Run("pmc_children", "pmc", XSCALE),
    Run("pmc_profile", "pmc", XSCALE),
    Run("pmc_machine", "pmc", XSCALE),
    Run("perfex_region", "perfex", FAULTS),
    Run("perfex_costs", "perfex", FAULTS, ("10", "900", "26", "1100000")),
]
# Built and run by the guides: something to measure, something to check.
OF_GUIDES = {"matrix", "particles", "particles_split", "mypfm", "perfmon_generations", "perfmon_samples", "words", "test_words"}
VARIABLES = ("PERFEX_", "T5_EVENT", "PMC_MACHINE")

every_run = pytest.mark.parametrize("example", RUNS, ids=str)
pytestmark = [pytest.mark.usefixtures("runtime_dir"), pytest.mark.slow]


def output(example: Run, *command: object) -> str:
    """What a run prints, to standard output and standard error."""
    env = {k: v for k, v in clean_env().items() if not k.startswith(VARIABLES)} | example.env
    done = run(*command, *example.args, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def compiled(example: Run, directory: Path, compiler: str, suffix: str, flags: str) -> Path:
    source, program = EXAMPLES / f"{example.program}{suffix}", directory / example.program
    done = run("sh", "-c", f"{compiler} {source} -o {program} $({PYPFM} config {flags} {example.library})")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return program


@every_run
def test_c(example: Run, tmp_path: Path) -> None:
    program = compiled(example, tmp_path, f"{CC} -std=gnu11 -Wall -Wextra -Werror", ".c", "--cflags --libs")
    printed = output(example, program)
    if os.environ.get("PYPFM_WRITE_EXAMPLES"):
        example.expected.write_text(printed, encoding="utf-8")
    assert printed == example.expected.read_text(encoding="utf-8")


@every_run
def test_python_prints_what_c_prints(example: Run) -> None:
    printed = output(example, sys.executable, EXAMPLES / f"{example.program}.py")
    assert printed == example.expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("example", [r for r in RUNS if (EXAMPLES / f"{r.program}.f90").exists()], ids=str)
def test_fortran_prints_what_c_prints(example: Run, tmp_path: Path) -> None:
    needs("gfortran")
    program = compiled(example, tmp_path, "gfortran -Wall -Werror", ".f90", "--libs")
    assert output(example, program) == example.expected.read_text(encoding="utf-8")


def test_every_program_is_run_in_both_languages() -> None:
    programs = {r.program for r in RUNS}
    for suffix in (".c", ".py"):
        assert {p.stem for p in EXAMPLES.glob(f"*{suffix}")} - OF_GUIDES == programs
    assert {p.stem for p in EXAMPLES.glob("*.f90")} == {"perfex_region"}
    assert set(EXAMPLES.glob("*.out")) == {*(r.expected for r in RUNS), TOY.expected}


@every_run
@pytest.mark.parametrize("how", ["./{}", "python {}.py"])
def test_the_readme_says_how_it_is_run(example: Run, how: str) -> None:
    """The guides' tests run what it says: output and file differ in nothing."""
    readme = re.sub(r" \\\n> ", " ", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    variables = "".join(f"{name}={Path(value).name} " for name, value in example.env.items())
    command = " ".join([how.format(example.program), *example.args, "2>&1 | diff -", example.expected.name])
    assert f"\n$ {variables}{command}\n" in readme


# ---- a machine of one's own ------------------------------------------------------------------------

TOY = Run("pmc_machine", "pmc", {"PMC_MACHINE": "toy"}, label="toy")


@pytest.mark.needs("git")
def test_the_toy_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patch applies to the sources, and the library that they make has the machine."""
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    applied = run("git", "apply", "--verbose", EXAMPLES / "toy_machine.patch", cwd=tmp_path)
    assert applied.returncode == 0, applied.stderr
    headers = tmp_path / "csrc" / "pmc" / "include"
    monkeypatch.setattr(native, "ROOT", tmp_path)
    monkeypatch.setattr(native, "TABLES", tmp_path / "csrc" / "tables")
    monkeypatch.setitem(native.EVENT_TABLES["pmc"], "pmc_toy", ["pmc_toy_events"])
    library = native.build_library(native.PMC, tmp_path, f"-I{headers}", "-pthread")
    program = tmp_path / "machine"
    native.build(CC, f"-I{headers}", EXAMPLES / "pmc_machine.c", library, "-o", program, f"-Wl,-rpath,{tmp_path}")
    printed = output(TOY, program)
    if os.environ.get("PYPFM_WRITE_EXAMPLES"):
        TOY.expected.write_text(printed, encoding="utf-8")
    assert printed == TOY.expected.read_text(encoding="utf-8")


# ---- perfex ------------------------------------------------------------------------------------------

COUNT = re.compile(r"^ *(\d+) .*?\.+ +~?(\d+) ", re.M)


def shape(report: str) -> list[str]:
    """The lines of a report without their numbers; their order is that of the costs."""
    return sorted(re.sub(r"~?\d[\d.]*", "", line).strip() for line in report.splitlines())


@pytest.mark.parametrize(("order", "args"), [("rows", []), ("columns", ["columns"])])
def test_reports_of_the_matrix(order: str, args: list[str], tmp_path: Path) -> None:
    """What the guide explains is what perfex prints; the counts are near, as compilers differ."""
    needs("valgrind")
    native.build(CC, "-O1", EXAMPLES / "matrix.c", "-o", tmp_path / "matrix")
    done = run(PYPFM.with_name("perfex"), "--backend", "valgrind", "-a", "-y", "./matrix", *args, cwd=tmp_path,
               env={k: v for k, v in clean_env().items() if not k.startswith(VARIABLES)})
    assert (done.returncode, done.stdout) == (0, "1072693248\n")
    shown = (EXAMPLES / f"matrix.{order}.txt").read_text(encoding="utf-8")
    assert shape(done.stderr) == shape(shown)
    ours, theirs = (dict(COUNT.findall(text)) for text in (done.stderr, shown))
    for event in ("0", "18", "25", "26"):
        assert int(ours[event]) == pytest.approx(int(theirs[event]), rel=0.25), f"event {event}"
