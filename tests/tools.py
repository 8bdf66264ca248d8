"""Programs that README's list of packages does not have: where one is missing, the test is skipped; a limit of CPU time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

# Debian's packages, where the package is not named as the program.
PACKAGES = {
    "clang++": "clang", "pahole": "dwarves", "man": "man-db", "lexgrog": "man-db", "groff": "groff-base",
    "mpirun": "openmpi-bin", "cmake": "cmake, or pip install cmake", "ninja": "ninja-build, or pip install ninja",
    "cpack": "cmake, or pip install cmake", "dpkg-deb": "dpkg",
    "nm": "binutils", "objcopy": "binutils", "strip": "binutils", "setpriv": "util-linux", "unshare": "util-linux",
    "go": "golang-go", "dbpmda": "pcp", "papi_component_avail": "papi-tools", "llvm-exegesis": "llvm-14-tools",
    "localedef": "libc-bin", "callgrind_annotate": "valgrind", "ps": "procps", "qemu-s390x": "qemu-user",
    **dict.fromkeys(["qemu-mips64", "qemu-mips64el", "qemu-mipsn32", "qemu-mips", "qemu-x86_64", "qemu-aarch64"], "qemu-user"),
    "mips64-linux-gnuabi64-gcc": "gcc-mips64-linux-gnuabi64, libc6-dev-mips64-cross",
    "mips64el-linux-gnuabi64-gcc": "gcc-mips64el-linux-gnuabi64", "mips-linux-gnu-gcc": "gcc-mips-linux-gnu",
    "s390x-linux-gnu-gcc": "gcc-s390x-linux-gnu, libc6-dev-s390x-cross",
}
#: Where programs are looked for; those of pip come first: README's second command installs them.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def first(cases: Iterable[object], count: int = 1) -> list[object]:
    """Cases for parametrize: all but the first take .ci/full."""
    def is_for_full(case: object) -> object:
        if isinstance(case, type(pytest.param())):
            return pytest.param(*case.values, marks=[*case.marks, pytest.mark.long], id=case.id)
        return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)

    return [case if n < count else is_for_full(case) for n, case in enumerate(cases)]


def tool(name: str) -> str | None:
    """The path of a program, if there is one; the environment's own first."""
    return shutil.which(name, path=PATH)


def needs(*names: str) -> str:
    """Skip the test, or all that use the fixture, where a program is missing; the path of the first.

    A test function says the same with ``@pytest.mark.needs("clang", ...)``.
    """
    missing = [name for name in names if tool(name) is None]
    if missing:
        pytest.skip("; ".join(f"no {name} on this machine (Debian: {PACKAGES.get(name, name)})" for name in missing))
    found = tool(names[0])
    assert found is not None
    return found


@cache
def _refusal(compiler: str, flags: tuple[str, ...]) -> str:
    """Why a program of one line cannot be linked or run with the flags; empty if it can."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "program"
        built = subprocess.run([compiler, *flags, "-x", "c", "-", "-o", program], input="int main(void) { return 0; }\n",
                               capture_output=True, text=True, check=False)
        done = built if built.returncode else subprocess.run([program], capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]


def needs_flags(compiler: str, *flags: str) -> str:
    """Skip where the compiler is missing, or cannot link with the flags what then runs; the compiler's path.

    What flags such as ``-fsanitize=address`` link is in packages of its own, which need not be there.
    """
    path = needs(compiler)
    if why := _refusal(path, flags):
        pytest.skip(f"{compiler} {' '.join(flags)} does not work on this machine: {why}")
    return path


@contextmanager
def cpu_seconds(most: float) -> Iterator[None]:
    """A TimeoutError once this process has used so much time of a processor: others' work does not count."""
    def late(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
