"""Programs of each kind that perfmon2 programmers wrote, on the model that counts by itself: they compile, run, and end well.

Those of ``programs/`` whose names begin with ``ctl_`` call perfmonctl(2); the others calls of version 2 or, with ``-DV3``,
of version 3.  Nothing here depends on how fast the machine is: the model counts the processor time of threads.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import TESTS, clean_env, run
from native import PFM3, build
from tools import needs

PROGRAMS = TESTS / "perfmon2" / "programs"
#: As the programs were compiled: what compilers warn of today is theirs.
OLD_C = ["-std=gnu99", "-D_GNU_SOURCE", "-w", "-O1"]
MODEL = "model,rate=2000000"
#: A command that computes for some time, and its status.
LOOP = ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exit 3"]


class Kind(NamedTuple):
    """A program as it is compiled, with its arguments, and what it has to print: numbers in it are not 0."""
    source: str
    macros: str
    arguments: list[str]
    expected: str
    options: str = ""


COUNT = r"PMD[45] +[1-9]\d*"
TWO = rf"{COUNT}.*\n{COUNT}.*\n"
NOTIFIED = r"(Notification \d: [1-9]\d*\n){10}got 10 notifications"
SETS = r"(set \d runs [1-9]\d* \w+ [1-9]\d* scaled [1-9]\d*\n)+runs \d+ duration [1-9]\d* status 3\n"
SAMPLES = r"[1-9]\d* samples collected in [1-9]\d* buffers"

#: Kernels 2.0 to 2.4 had shorter messages and sets (-DPFMLIB_OLD_PFMV2); -DV3: calls of version 3.
KINDS = [
    Kind("self", "", [], TWO),
    Kind("self", "-DV3", ["CPU_CYCLES", "LOADS_RETIRED"], TWO),
    Kind("self_smpl", "", [], SAMPLES),
    Kind("self_smpl", "-D_FILE_OFFSET_BITS=64", [], SAMPLES),
    Kind("notify_self", "", [], NOTIFIED),
    Kind("notify_self", "-DPFMLIB_OLD_PFMV2", [], NOTIFIED),
    Kind("notify_self_fork", "", [], r"child got 0 notifications\nparent got 10 notifications\nchild ended with 7\n"),
    Kind("task", "", LOOP, rf"{TWO}status 3\n"),
    Kind("task", "", ["true"], rf"{TWO}status 0\n"),  # it has ended before the model looks at it
    Kind("multiplex2", "-DV3", LOOP, SETS),
    Kind("multiplex2", "-DPFMLIB_OLD_PFMV2 -DOVFL", LOOP, SETS),
    Kind("syst", "", [], rf"(CPU\d+ {COUNT} [1-9]\d*\n){{6}}"),
    Kind("syst", "-DNP", ["0"], rf"(CPU0 {COUNT} [1-9]\d*\n){{6}}", ",np"),
    Kind("ctl_task", "", LOOP, rf"{TWO}status 3\n"),
    Kind("ctl_task", "", ["true"], rf"{TWO}status 0\n"),
]


def name_of(kind: Kind) -> str:
    return "-".join([kind.source, *kind.macros.replace("-D", "").split(), *(kind.arguments[:1])])


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Gives the executable of a program with macros."""
    @cache
    def build_it(source: str, macros: str) -> Path:
        out = tmp_path_factory.mktemp("programs") / source
        build(needs("gcc"), *OLD_C, *macros.split(), *PFM3.cflags, PROGRAMS / f"{source}.c", "-o", out, *PFM3.libs, "-pthread")
        return out

    return build_it


def environment(model: str) -> dict[str, str]:
    return clean_env(LIBPFM_PERFMON=model, LIBPFM_FORCE_PMU="3")


def test_every_program_is_here() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.c")} == {"task_attach", *(kind.source for kind in KINDS)}


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_run(kind: Kind, compiled: Callable[[str, str], Path]) -> None:
    done = run(compiled(kind.source, kind.macros), *kind.arguments, env=environment(MODEL + kind.options))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(kind.expected, done.stdout), done.stdout


@pytest.mark.long
@pytest.mark.parametrize("compiler", [["gcc", "-O2", "-D_FORTIFY_SOURCE=2"], ["clang"], ["g++", "-x", "c++"]], ids="".join)
def test_compilers(compiler: list[str]) -> None:
    standard = "-std=gnu++17" if "c++" in compiler else "-std=gnu99"
    for source, macros in {("task_attach", ""), *((kind.source, kind.macros) for kind in KINDS)}:
        build(needs(compiler[0]), *compiler[1:], standard, "-D_GNU_SOURCE", "-w", "-fsyntax-only", *macros.split(),
              *PFM3.cflags, PROGRAMS / f"{source}.c")


# ---- a command of one second ----------------------------------------------------------------

#: It runs for a second of the clock that the model reads, which takes what interrupts and a hypervisor take for the thread's.
SECOND = """\
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int
main(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK };
	const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0L);
	unsigned long ns = 0;
	struct timespec t;

	while (ns < 1000000000) {
		if (fd >= 0 && read(fd, &ns, sizeof(ns)) != sizeof(ns))
			return 1;
		if (fd < 0 && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
			ns = t.tv_sec * 1000000000UL + t.tv_nsec;
	}
	return fprintf(stderr, "ran %lu ns\\n", ns) < 0;
}
"""
@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("second")
    (directory / "second.c").write_text(SECOND)
    build(needs("gcc"), "-D_GNU_SOURCE", directory / "second.c", "-o", directory / "second")
    return directory / "second"


#: Programs that count a command, and the numbers of their output that are all that happened.
@pytest.mark.long
@pytest.mark.parametrize(("source", "macros", "shown", "rate"), [
    ("task", "", r"PMD[45] +(\d+)", 2000000), ("ctl_task", "", r"PMD[45] +(\d+)", 2000), ("multiplex2", "", r"scaled (\d+)", 2000),
    ("multiplex2", "-DGETRES -DV3", r"scaled (\d+)", 2000000),
    ("multiplex2", "-DOVFL", r"scaled (\d+)", 2000000)])  # a slower one is over before the first overflow
def test_one_second(source: str, macros: str, shown: str, rate: int, second: Path, compiled: Callable[[str, str], Path]) -> None:
    done = run(compiled(source, macros), second, env=environment(f"model,rate={rate}"))
    (ran,) = re.findall(r"ran (\d+) ns", done.stderr)
    counts = [int(count) for count in re.findall(shown, done.stdout)]
    assert len(counts) >= 2, done.stdout + done.stderr
    assert counts == pytest.approx([rate * int(ran) / 1e6] * len(counts), rel=0.01), done.stdout


# ---- processes that run already -------------------------------------------------------------


@contextmanager
def process(code: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(["sh", "-c", code], stdin=subprocess.PIPE, text=True) as target:
        try:
            yield target
        finally:
            target.kill()


def attached(program: Path, target: subprocess.Popen[str], *arguments: str, options: str = "") -> str:
    """Run the program on a process, which gets a line when the program says that it is attached; what it prints."""
    with subprocess.Popen([str(program), str(target.pid), *arguments], env=environment(MODEL + options), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert target.stdin is not None
        first = running.stdout.readline()
        if first:
            target.stdin.write("\n")
            target.stdin.close()
        rest, errors = running.stdout.read(), running.stderr.read()
    if "cannot attach" in errors and "not permitted" in errors:
        pytest.skip("this host does not let a process attach to one that is not its child")
    assert running.returncode == 0, first + rest + errors
    return first + rest


def test_attach_until_the_end(compiled: Callable[[str, str], Path]) -> None:
    with process("read line; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done") as target:
        shown = attached(compiled("task_attach", ""), target)
    assert re.search(rf"attached to \[\d+\]\nmonitored task terminated\n{COUNT}\n", shown), shown


@pytest.mark.parametrize(("macros", "options"), [("-DTIMEOUT", ""), ("-DTIMEOUT -DNP", ",np")])
@pytest.mark.slow
def test_attach_for_some_time(macros: str, options: str, compiled: Callable[[str, str], Path]) -> None:
    with process("while :; do :; done") as target:
        shown = attached(compiled("task_attach", macros), target, "300", options=options)
        assert target.poll() is None  # it goes on
    assert re.search(rf"attached to \[\d+\]\ntimeout\n{COUNT}\n", shown), shown
