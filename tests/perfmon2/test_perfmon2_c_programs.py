"""The programs of tests/c about perfmon2, which ctest runs: those that hand over bad memory also with sanitizers here; and its core alone.

.ci/full runs all of them with sanitizers and under valgrind.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from c_programs import SANITIZE, objects, source, succeeds
from conftest import ROOT, TESTS
from native import CC, PFM3, build, build_program
from tools import needs, needs_flags

CMAKE = (TESTS / "c" / "perfmon2.cmake").read_text()


def test_every_source_is_run() -> None:
    assert {path.stem for path in (TESTS / "c").glob("perfmon2_*.c")} <= set(re.findall(r"\w+", CMAKE))


def test_core_has_no_clock_lock_or_file(tmp_path: Path) -> None:
    """What its objects need, alone: memory, and the C compiler's own."""
    core = sorted((ROOT / "csrc" / "perfmon2" / "core").glob("*.c"))
    include = [f"-I{ROOT / 'csrc' / library / 'include'}" for library in ("pfm3", "pfm4")]
    build(CC, "-D_GNU_SOURCE", "-O1", "-ffreestanding", "-r", "-nostdlib", *include, *core, "-o", tmp_path / "core.o")
    undefined = build(needs("nm"), "-u", tmp_path / "core.o").split()
    assert set(undefined) - {"U"} <= {"mmap", "munmap", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}


@pytest.fixture(scope="module")
def sanitized_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    needs_flags(CC, *SANITIZE)
    return objects(PFM3, tmp_path_factory.mktemp("sanitized"), *SANITIZE)


@pytest.mark.long
@pytest.mark.parametrize("program", ["perfmon2_checks", "perfmon2_samples", "perfmon2_perfmonctl"])
def test_sanitizers(program: str, sanitized_objects: list[str], tmp_path: Path) -> None:
    succeeds(build_program(PFM3, source(program), tmp_path / program, *SANITIZE, libs=[*sanitized_objects, *PFM3.wraps, "-pthread"]))
