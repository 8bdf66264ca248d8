"""The programs of tests/c about perfmon2: with the installed library in both forms, with sanitizers, under valgrind; and its core alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from c_programs import SANITIZE, objects, source, succeeds, under_valgrind
from conftest import ROOT, TESTS
from native import CC, PFM3, PFM3_MANUAL, build, build_program
from pypfm.config import Library
from tools import needs, needs_flags

PROGRAMS = ["perfmon2_checks", "perfmon2_counting", "perfmon2_messages", "perfmon2_sets", "perfmon2_samples",
            "perfmon2_perfmonctl", "perfmon2_deviations", "perfmon2_children", "perfmon2_threads",
            "perfmon2_owners", "perfmon2_order", "perfmon2_switching", "perfmon2_fullness", "perfmon2_overflow",
            "perfmon2_descriptor", "perfmon2_ctl_rules", "perfmon2_tasks", "perfmon2_handlers"]
WITH_OBJECTS = ["perfmon2_core", "perfmon2_failing", "perfmon2_figures", "perfmon2_host", "perfmon2_hostile", "perfmon2_locked",
                "perfmon2_machine", "perfmon2_million", "perfmon2_periods", "perfmon2_raw"]  # only CMake links these
#: Sanitizers and valgrind have descriptors, memory and time of their own.
UNWATCHED = ["perfmon2_surroundings", "perfmon2_rate"]
#: Enough to see that the other form of the library counts, too: both are linked from the same objects.
IN_BOTH_FORMS = ["perfmon2_checks", "perfmon2_perfmonctl"]
every_program = pytest.mark.parametrize("program", PROGRAMS)


def test_every_source_is_run() -> None:
    assert {path.stem for path in (TESTS / "c").glob("perfmon2_*.c")} == {*PROGRAMS, *WITH_OBJECTS, *UNWATCHED}


@pytest.mark.parametrize(("program", "form"), [
    *(pytest.param(program, PFM3, id=program) for program in [*PROGRAMS, *UNWATCHED]),
    *(pytest.param(program, PFM3_MANUAL, id=f"{program}-manual") for program in IN_BOTH_FORMS)])
@pytest.mark.slow
def test_installed_library(program: str, form: Library, tmp_path: Path) -> None:
    succeeds(build_program(form, source(program), tmp_path / program, "-O2", libs=[*form.libs, "-pthread"]))


def test_core_has_no_clock_lock_or_file(tmp_path: Path) -> None:
    """What its objects need, alone: memory, and the C compiler's own."""
    core = sorted((ROOT / "csrc" / "perfmon2" / "core").glob("*.c"))
    include = [f"-I{ROOT / 'csrc' / library / 'include'}" for library in ("pfm3", "pfm4")]
    build(CC, "-D_GNU_SOURCE", "-O2", "-ffreestanding", "-r", "-nostdlib", *include, *core, "-o", tmp_path / "core.o")
    undefined = build(needs("nm"), "-u", tmp_path / "core.o").split()
    assert set(undefined) - {"U"} <= {"mmap", "munmap", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}


@pytest.fixture(scope="module")
def sanitized_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    needs_flags(CC, *SANITIZE)
    return objects(PFM3, tmp_path_factory.mktemp("sanitized"), *SANITIZE)


@pytest.mark.slow
@every_program
def test_sanitizers(program: str, sanitized_objects: list[str], tmp_path: Path) -> None:
    succeeds(build_program(PFM3, source(program), tmp_path / program, *SANITIZE, libs=[*sanitized_objects, *PFM3.wraps, "-pthread"]))


@pytest.mark.long
@pytest.mark.slow
@every_program
def test_valgrind(program: str, tmp_path: Path) -> None:
    under_valgrind(build_program(PFM3, source(program), tmp_path / program, "-O1", libs=[*PFM3.libs, "-pthread"]))
