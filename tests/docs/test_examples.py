"""The programs of docs/examples: README's commands run them, in C and in Python, and compare what they print with files.

test_guides.py runs these commands.  Such a file is made anew by ``> NAME.out`` in the place of ``| diff - NAME.out``.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import native
from conftest import ROOT, clean_env, run
from native import CC
from pypfm.config import LIBRARIES
from terminal import PYPFM
from tools import needs

EXAMPLES = ROOT / "docs" / "examples"
# The libraries, and how the names of their programs begin.
PREFIXES = {"pfm3": ("ita2", "mont", "pfm3"), "pfm4": ("glm", "perf", "pfm4"), "pmc": ("pmc",), "perfex": ("perfex",)}
# Built and run by the guides: something to measure, something to check.
OF_GUIDES = {"matrix", "particles", "particles_split", "mypfm", "perfmon_generations", "perfmon_samples", "words", "test_words"}
TOY = EXAMPLES / "pmc_machine.toy.out"
VARIABLES = ("PERFEX_", "T5_EVENT", "PMC_MACHINE")

pytestmark = [pytest.mark.usefixtures("runtime_dir"), pytest.mark.slow]


def test_every_program_is_run_in_both_languages() -> None:
    """With the same variables and arguments, compared with the same file."""
    readme = re.sub(r" \\\n> ", " ", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    in_c, in_python = (re.findall(rf"^\$ ((?:[A-Z_]+=\S+ )*){program}((?: \S+)*) 2>&1 \| diff - (\S+)$", readme, flags=re.M)
                       for program in (r"\./(\w+)", r"python (\w+)\.py"))
    assert in_c == in_python
    for suffix in (".c", ".py"):
        assert {p.stem for p in EXAMPLES.glob(f"*{suffix}")} - OF_GUIDES == {name for _, name, *_ in in_c}
    assert {p.name for p in EXAMPLES.glob("*.out")} == {TOY.name, *(out for *_, out in in_c)}
    for path in EXAMPLES.glob("*.f90"):
        assert f"./{path.stem}_f | diff - {path.stem}.out\n" in readme


@pytest.mark.parametrize("name", PREFIXES)
def test_programs_in_c_have_no_warnings(name: str) -> None:
    sources = [path for path in EXAMPLES.glob("*.c") if path.stem not in OF_GUIDES and path.stem.partition("_")[0] in PREFIXES[name]]
    for path in sources:
        native.build(CC, "-std=gnu11", "-Wall", "-Wextra", "-Werror", *LIBRARIES[name].cflags, "-c", path, "-o", "/dev/null")
    assert len(sources) > 1


# ---- a machine of one's own ------------------------------------------------------------------------

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
    done = run(program, env=clean_env(PMC_MACHINE="toy"))
    assert (done.returncode, done.stdout + done.stderr) == (0, TOY.read_text(encoding="utf-8"))


# ---- perfex ------------------------------------------------------------------------------------------

COUNT = re.compile(r"^ *(\d+) .*?\.+ +~?(\d+) ", re.M)


def shape(report: str) -> list[str]:
    """The lines of a report without their numbers and the blanks that align these; their order is that of the costs."""
    return sorted(" ".join(re.sub(r"~?\d[\d.]*", "", line).split()) for line in report.splitlines())


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
