"""The programs of tests/c about libpmc: as they are, under valgrind, and with sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest

from c_programs import SANITIZE, objects, source, succeeds, under_valgrind
from conftest import TESTS
from native import CC, PMC, build, build_program, dynamic_entries
from tools import needs_flags

pytestmark = pytest.mark.slow

PROGRAMS = ["pmc_fork", "pmc_profile", "pmc_memory", "pmc_threads", "pmc_linux", "pmc_elsewhere"]
SURROUNDINGS = "pmc_surroundings"  # sanitizers and valgrind have descriptors and memory of their own
WRAP = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=mmap,--wrap=open,--wrap=pthread_atfork"

every_program = pytest.mark.parametrize("program", PROGRAMS)


def test_every_source_is_run() -> None:
    # pmc_script is run by test_checks.py, pmc_ported by test_ported.py, pmc_failing, pmc_states and pmc_torn by ctest.
    assert {path.stem for path in (TESTS / "c").glob("pmc_*.c")} == {
        *PROGRAMS, "pmc_children", "pmc_nomem", "pmc_script", "pmc_ported", "pmc_failing", "pmc_states", "pmc_torn", SURROUNDINGS}


@pytest.mark.parametrize("program", [*PROGRAMS, SURROUNDINGS])
@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_installed_library(program: str, optimisation: str, tmp_path: Path) -> None:
    built = build_program(PMC, source(program), tmp_path / program, optimisation, libs=[*PMC.libs, "-pthread"])
    assert "libpmc.so.1" in dynamic_entries(built, "DT_NEEDED")
    succeeds(built)


@pytest.mark.long
def test_thousands_of_children(tmp_path: Path) -> None:
    succeeds(build_program(PMC, source("pmc_children"), tmp_path / "children", "-O2", libs=PMC.libs))


# Not pmc_memory: valgrind reports the addresses that are bad on purpose.
@pytest.mark.long
@pytest.mark.parametrize("program", sorted({*PROGRAMS} - {"pmc_memory"}))
def test_valgrind(program: str, tmp_path: Path) -> None:
    under_valgrind(build_program(PMC, source(program), tmp_path / program, libs=[*PMC.libs, "-pthread"]),
                   CHECK_ROUGHLY="1")


# ---- the library's sources in the program: sanitizers, and calls that fail -------------------------

@pytest.fixture(scope="module")
def plain_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return objects(PMC, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def sanitized_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    needs_flags(CC, *SANITIZE)
    return objects(PMC, tmp_path_factory.mktemp("sanitized"), "-O1", *SANITIZE)


@pytest.fixture(scope="module")
def thread_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    needs_flags(CC, "-fsanitize=thread")
    return objects(PMC, tmp_path_factory.mktemp("thread"), "-O1", "-fsanitize=thread")


@every_program
def test_sanitizers(program: str, sanitized_objects: list[str], tmp_path: Path) -> None:
    out = build_program(PMC, source(program), tmp_path / program, "-O1", *SANITIZE, libs=[*sanitized_objects, "-pthread"])
    assert "pmc_control" in build("nm", "--defined-only", out)  # ours inside, not the shared library
    succeeds(out, CHECK_ROUGHLY="1")


def test_thread_sanitizer(thread_objects: list[str], tmp_path: Path) -> None:
    succeeds(build_program(PMC, source("pmc_threads"), tmp_path / "threads", "-O1", "-fsanitize=thread",
                           libs=[*thread_objects, "-pthread"]))


def test_no_memory(plain_objects: list[str], tmp_path: Path) -> None:
    succeeds(build_program(PMC, source("pmc_nomem"), tmp_path / "nomem", WRAP, libs=plain_objects))


def test_no_memory_under_valgrind(plain_objects: list[str], tmp_path: Path) -> None:
    """A failure on the way leaves nothing behind."""
    under_valgrind(build_program(PMC, source("pmc_nomem"), tmp_path / "nomem", WRAP, libs=plain_objects))
