"""The programs of tests/c: built against an installed library, run as they are, under valgrind, with sanitizers.

For the sanitizers a program is compiled together with the library's own sources, so that its accesses are
checked too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import TESTS, clean_env, run
from native import CC, build, library_flags, library_sources
from pypfm.config import Library
from tools import needs

SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SKIPPED = 77  # CHECK_SKIPPED of check.h


def source(program: str) -> Path:
    return TESTS / "c" / f"{program}.c"


def succeeds(*command: object, **env: str) -> str:
    """Run a program; what it prints.  It says itself when this host does not let it run."""
    done = run(*command, env=clean_env(**env))
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def under_valgrind(*command: object, **env: str) -> str:
    valgrind = needs("valgrind")
    # Not what is possibly lost: threads that live when a program ends.  Without fair turns a thread that only computes keeps
    # the others waiting for minutes.
    return succeeds(valgrind, "--fair-sched=try", "--error-exitcode=99", "--leak-check=full",
                    "--errors-for-leak-kinds=definite", f"--suppressions={TESTS / 'valgrind.supp'}", "-q", *command, **env)


def objects(library: Library, directory: Path, *flags: str) -> list[str]:
    """The library's own sources, compiled one by one."""
    made = []
    for path in library_sources(library, directory):
        made.append(str(directory / f"{path.stem}.o"))
        build(CC, *library_flags(library), "-g", *flags, "-c", path, "-o", made[-1])
    return made
