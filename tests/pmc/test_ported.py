"""A program written for NetBSD, compiled as its user compiles it: cc prog.c $(pypfm config --cflags --libs pmc)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from c_programs import source
from conftest import clean_env, run
from native import CC, CXX, PMC, attempt
from terminal import PYPFM, pypfm
from tools import needs

pytestmark = pytest.mark.usefixtures("runtime_dir")

XSCALE = """\
3 counters, class i80200
0: i80200 cycle counter
1: i80200 performance counter
2: i80200 performance counter
22 events; dcache-miss is 0xb
dcache-miss: 1000, children 234
123 ticks
"""


def test_ported_program(tmp_path: Path) -> None:
    shutil.copy(source("pmc_ported"), tmp_path / "prog.c")
    done = run("sh", "-c", f"{CC} prog.c $({PYPFM} config --cflags --libs pmc) -o prog && ./prog", cwd=tmp_path,
               env=clean_env(PMC_MACHINE="xscale"))
    assert (done.stdout, done.stderr, done.returncode) == (XSCALE, "", 0)


def test_the_libraries_path() -> None:
    path = Path(pypfm("config", "--library", "pmc").stdout.strip())
    assert path == PMC.path
    assert path.name == "libpmc.so.1"
    assert path.is_file()


ALL = "#include <sys/types.h>\n#include <sys/pmc.h>\n#include <pmc.h>\n#include <pmc.h>\n#include <pmc_model.h>"


@pytest.mark.parametrize(("text", "compiler", "language", "standard"), [
    *((f"#include <{header}.h>", CC, "c", "c99") for header in ("sys/pmc", "pmc", "pmc_model")),
    (ALL, "clang", "c", "c11"), (ALL, CXX, "c++", "c++11"), (ALL, "clang++", "c++", "c++17")])
def test_headers(text: str, compiler: str, language: str, standard: str) -> None:
    """Each alone, and all in any order, in each language."""
    needs(compiler)
    use = "int f(struct pmc_counter_cfg *cfg) { return pmc_control(0, PMC_OP_CONFIGURE, cfg); }\n"
    done = attempt(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *PMC.cflags, "-x", language,
                   "-fsyntax-only", "-", source=f"{text}\n{use}")
    assert done.stderr == ""
