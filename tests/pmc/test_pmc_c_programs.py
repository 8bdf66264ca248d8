"""The programs of tests/c about libpmc, which ctest runs: those that hand over bad memory, and threads, also with sanitizers here.

.ci/full runs all of them with sanitizers and under valgrind.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from c_programs import SANITIZE, objects, source, succeeds
from conftest import TESTS
from native import CC, PMC, build, build_program
from tools import needs_flags

CMAKE = (TESTS / "c" / "counting.cmake").read_text()


def test_every_source_is_run() -> None:
    assert {path.stem for path in (TESTS / "c").glob("pmc_*.c")} <= set(re.findall(r"\w+", CMAKE))


@pytest.fixture(scope="module")
def sanitized_objects(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    needs_flags(CC, *SANITIZE)
    return objects(PMC, tmp_path_factory.mktemp("sanitized"), "-O1", *SANITIZE)


@pytest.mark.long
@pytest.mark.parametrize("program", ["pmc_memory", "pmc_threads"])
def test_sanitizers(program: str, sanitized_objects: list[str], tmp_path: Path) -> None:
    out = build_program(PMC, source(program), tmp_path / program, "-O1", *SANITIZE, libs=[*sanitized_objects, "-pthread"])
    assert "pmc_control" in build("nm", "--defined-only", out)  # ours inside, not the shared library
    succeeds(out, CHECK_ROUGHLY="1")
