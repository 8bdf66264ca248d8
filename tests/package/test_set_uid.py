"""A set-uid program: what its user has set in the environment is of no effect in any library."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import TESTS, clean_env
from native import CC, build
from pypfm.config import LIBRARIES

NOBODY = 65534
PATHS = [LIBRARIES[name].path for name in ("pfm3", "pfm4", "pmc", "perfex")]


@pytest.fixture
def program() -> Iterator[Path]:
    """The program, owned by root, with copies of the libraries, where nobody may run it."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program that is set-uid root")
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))
    directory.chmod(0o755)
    for path in PATHS:
        (directory / path.parent.name).mkdir()
        shutil.copy(path, directory / path.parent.name)
    build(CC, "-std=gnu11", "-Wall", "-Werror", TESTS / "c" / "set_uid.c", "-o", directory / "program", "-ldl")
    yield directory / "program"
    shutil.rmtree(directory)


def lines(program: Path, **changes: str) -> list[str]:
    libraries = [program.parent / path.parent.name / path.name for path in PATHS]
    done = subprocess.run([program, *libraries], env=clean_env(**changes), user=NOBODY, group=NOBODY, extra_groups=[],
                          cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("library", "changes"), [
    (0, {"LIBPFM_FORCE_PMU": "2"}), (0, {"LIBPFM_IA64_CPUID3": "0x1f000000"}),
    (1, {"LIBPFM_FORCE_PMU": "glm"}), (1, {"LIBPFM_ENCODE_INACTIVE": "1", "LIBPFM_X86_CPUID": "6:92"}),
    (2, {"PMC_MACHINE": "xscale"}), (3, {"T5_EVENT0": "99"}), (3, {"PERFEX_CPU": "x"}), (3, {"PERFEX_PERF_TABLE": "/dev/null"}),
    (4, {"LIBPFM_PERFMON": "model,rate=x"})])
def test_only_the_owner_s_environment_counts(library: int, changes: dict[str, str], program: Path) -> None:
    unset = lines(program)[library]
    program.chmod(0o755)
    assert lines(program, **changes)[library] != unset
    program.chmod(0o4755)
    if os.statvfs(program).f_flag & os.ST_NOSUID:
        pytest.skip(f"{program.parent} is on a file system without set-uid programs (nosuid)")
    assert lines(program, **changes)[library] == unset


def test_no_library_reads_the_environment_elsewhere() -> None:
    from native import build as run_tool
    for path in PATHS:
        symbols = {line.split()[-1].partition("@")[0] for line in run_tool("nm", "-D", "--undefined-only", path).splitlines()}
        assert "getenv" not in symbols
        assert "secure_getenv" in symbols
