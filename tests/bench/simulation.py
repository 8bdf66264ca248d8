"""The processor time of perfex's simulation, next to that of callgrind."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

from pypfm.errors import PfmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["PROGRAMS", "ROUNDS", "Simulation", "mean", "simulations"]

ROUNDS = 3
_PERFEX = [sys.executable, "-c", "import sys; from pypfm.cli.perfex import main; sys.exit(main())",
           "--backend", "valgrind", "-o", os.devnull]
_CALLGRIND = ["valgrind", "--tool=callgrind", "-q", "--trace-children=yes", "--cache-sim=yes",
              f"--callgrind-out-file={os.devnull}"]
_MATRIX = """
enum { N = 300 };
static double a[N][N], b[N][N], c[N][N];
int main(void) {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) a[i][j] = i, b[i][j] = j;
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
    return c[1][1] < 0;
}
"""
_SMALL = "#include <stddef.h>\nint first(const char *s)\n{\n\treturn s != NULL ? s[0] : -1;\n}\n"


@dataclass(frozen=True)
class _Program:
    """What is simulated.

    :ivar goal: the ratio that is wanted
    :ivar everything: all events, and callgrind with caches and branches; else two events, and caches
    """

    name: str
    command: str
    goal: float = 0.8
    everything: bool = True


_ALL = (
    _Program("matrix product of 300", "./matrix"), _Program("gzip -9 of 700 kB", "gzip -9 -c data"),
    _Program("sqlite3, 20,000 rows", "sqlite3 :memory: '.read rows.sql'"),
    _Program("python3, 100,000 rounds", f"{shlex.quote(sys.executable)} -S -c 'for n in range(100000): n * n'"),
    _Program("sort of 20,000 lines", "sort lines"),
    _Program("60 x true under sh", "sh -c 'for n in $(seq 60); do /bin/true; done'", 1.2, everything=False),
    _Program("gcc -c of five lines", "gcc -c small.c -o small.o", 1.2, everything=False),
)
#: The names of all programs.
PROGRAMS = tuple(program.name for program in _ALL)


@dataclass(frozen=True)
class Simulation:
    """A program.

    :ivar alone, perfex, callgrind: seconds of processor time, user and system, of the whole process; the median of all
        rounds
    :ivar ratio: of perfex to callgrind: the median of the rounds' ratios
    :ivar goal: the ratio that is wanted
    :ivar everything: all events were counted, next to callgrind with caches and branches; else two, next to caches
    """

    name: str
    alone: float
    perfex: float
    callgrind: float
    ratio: float
    goal: float
    everything: bool


def mean(found: Sequence[Simulation]) -> float | None:
    """The mean ratio of those with all events; None: there is none."""
    return fmean(ratios) if (ratios := [one.ratio for one in found if one.everything]) else None


def simulations(names: Sequence[str] = PROGRAMS, *, rounds: int = ROUNDS, missing: Callable[[str], object] = print,
                progress: Callable[[str], object] | None = None) -> Iterator[Simulation]:
    """Each program alone, with perfex and with callgrind, in turns.

    :param missing: called with a line for each program that cannot be run here
    :param progress: called with what is measured now
    :raises PfmError: valgrind is missing, or a command has failed
    """
    if not shutil.which("valgrind"):
        raise PfmError("no valgrind: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        _fill(directory)
        _seconds([*_PERFEX, "--events", "15", "true"], directory)  # the tool is built
        for program in _ALL:
            if program.name not in names:
                continue
            command = shlex.split(program.command)
            if not (directory / command[0]).exists() and not shutil.which(command[0]):
                missing(f"{program.name}: no {'C compiler' if command[0] == './matrix' else command[0]}")
                continue
            if progress:
                progress(program.name)
            yield _measured(program, command, rounds, directory)


def _measured(program: _Program, command: list[str], rounds: int, directory: Path) -> Simulation:
    options = ["-a", "-y"] if program.everything else ["--events", "25,26"]
    others = ["--branch-sim=yes"] if program.everything else []
    ways = [[], [*_PERFEX, *options, "--"], [*_CALLGRIND, *others]]
    times = [[_seconds([*way, *command], directory) for way in ways] for _ in range(rounds)]
    alone, ours, theirs = (median(column) for column in zip(*times, strict=True))
    ratio = median(perfex / callgrind for _, perfex, callgrind in times)
    return Simulation(program.name, alone, ours, theirs, ratio, program.goal, program.everything)


def _seconds(command: Sequence[str], directory: Path) -> float:
    """The processor time of a command, and of what it has waited for."""
    with subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise PfmError(f"{shlex.join(command)}: ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime


def _fill(directory: Path) -> None:
    """The files that the programs work on."""
    numbers = random.Random(1)
    words = ["".join(numbers.choices("abcdefghij", k=numbers.randint(2, 9))) for _ in range(3000)]
    (directory / "data").write_text(" ".join(numbers.choices(words, k=110000))[:700000], "ascii")
    (directory / "lines").write_text("".join(f"{numbers.getrandbits(48):x}\n" for _ in range(20000)), "ascii")
    (directory / "rows.sql").write_text(
        "create table t(a integer primary key, b text);\nbegin;\n"
        + "".join(f"insert into t values({n}, '{word}');\n" for n, word in enumerate(numbers.choices(words, k=20000)))
        + "commit;\n", "ascii")
    (directory / "matrix.c").write_text(_MATRIX, "ascii")
    (directory / "small.c").write_text(_SMALL, "ascii")
    if compiler := shutil.which("cc"):
        subprocess.run([compiler, "-O2", "matrix.c", "-o", "matrix"], cwd=directory, check=True)
