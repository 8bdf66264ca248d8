"""The programs of tests/c about libpfm 3: as they are, under valgrind, and with sanitizers; each can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from c_programs import SANITIZE, objects, source, succeeds, under_valgrind
from conftest import TESTS, run
from native import CC, PFM3, PFM3_MANUAL, build, build_program
from tools import needs, needs_flags

PROGRAMS = ["itanium", "gen_ia64", "regmask", "queries", "stale"]

every_program = pytest.mark.parametrize("program", PROGRAMS)


def test_every_source_is_run() -> None:
    # Of these, those that need more than an installed library are ctest's alone; others have tests of their own.
    elsewhere = ("pmc_", "nomem_", "replay", "soak_", "counting_", "pfm4_", "names_", "functions_", "perfmon2_",
                 "absent_")
    ours = {path.stem for path in (TESTS / "c").glob("*.c") if not path.stem.startswith(elsewhere)}
    assert ours == {*PROGRAMS, "set_uid", "unloaded"}


@pytest.mark.slow
@every_program
def test_installed_library(program: str, tmp_path: Path) -> None:
    """That of the header, and where a structure is passed that of the manual pages."""
    succeeds(build_program(PFM3, source(program), tmp_path / program, "-O0", libs=PFM3.libs))
    if program in {"queries", "stale"}:
        succeeds(build_program(PFM3_MANUAL, source(program), tmp_path / "manual", "-O2", libs=PFM3_MANUAL.libs))


@pytest.mark.slow
@every_program
def test_valgrind(program: str, tmp_path: Path) -> None:
    under_valgrind(build_program(PFM3, source(program), tmp_path / program, libs=PFM3.libs))


# ---- sanitizers ---------------------------------------------------------------

@pytest.fixture(scope="module")
def sanitized_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    needs_flags(CC, *SANITIZE)
    return objects(PFM3, tmp_path_factory.mktemp("sanitized"), "-O1", *SANITIZE)


@pytest.mark.long
@every_program
def test_sanitizers(program: str, sanitized_objects: list[str], tmp_path: Path) -> None:
    out = build_program(PFM3, source(program), tmp_path / program, "-O1", *SANITIZE, libs=sanitized_objects)
    assert "pfm_initialize" in build("nm", "--defined-only", out)  # ours inside, not the shared library
    succeeds(out)


# ---- the checks can fail --------------------------------------------------------

BROKEN = """
#include "check_pfm3.h"
#include <stdlib.h>
int main(int argc, char **argv) {
    char *volatile block = malloc(10);
    (void)argv;
    CHECK_EQ(pfm_regmask_set(NULL, 0), argc == 2 ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL);
    if (argc == 3)
        block[strlen(argv[1]) + 10] = 1;
    free(block);
    return check_result();
}
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.c"
    path.write_text(BROKEN)
    return path


def test_a_failed_check_is_reported(broken: Path, tmp_path: Path) -> None:
    built = build_program(PFM3, broken, tmp_path / "broken", f"-I{TESTS / 'c'}")
    assert run(built).returncode == 0
    done = run(built, "wrong")
    assert done.returncode == 1
    assert f"{broken}:7: pfm_regmask_set(NULL, 0) is -2 " in done.stdout


@pytest.mark.slow
def test_valgrind_and_sanitizers_report(broken: Path, sanitized_objects: list[str], tmp_path: Path) -> None:
    """A write past the end of a block is an error to the sanitizers, and to valgrind."""
    built = build_program(PFM3, broken, tmp_path / "asan", f"-I{TESTS / 'c'}", *SANITIZE,
                          libs=sanitized_objects)
    assert run(built).returncode == 0
    done = run(built, "", "overrun")
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr
    valgrind = needs("valgrind")  # the sanitizers are checked now
    built = build_program(PFM3, broken, tmp_path / "plain", f"-I{TESTS / 'c'}")
    assert run(valgrind, "--error-exitcode=99", "-q", built, "", "overrun").returncode == 99
