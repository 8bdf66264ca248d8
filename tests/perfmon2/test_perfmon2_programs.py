"""Programs of each kind that perfmon2 programmers wrote, on the model that counts by itself: they compile, run, and end well.

Those of ``programs/`` whose names begin with ``ctl_`` call perfmonctl(2); the others calls of version 2 or, with ``-DV3``,
of version 3.  Nothing here depends on how fast the machine is: the model counts the processor time of threads.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
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
PMUS = {"ITA": "2", "ITA2": "3", "MONT": "4"}
#: A command that computes for some time, and its status.
LOOP = ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exit 3"]


class Kind(NamedTuple):
    """A program as it is compiled, with its arguments, and what it has to print: numbers in it are not 0."""
    source: str
    macros: str
    arguments: list[str]
    expected: str
    stdin: str = ""
    options: str = ""


COUNT = r"PMD[45] +[1-9]\d*"
TWO = rf"{COUNT}.*\n{COUNT}.*\n"
NOTIFIED = r"(Notification \d: [1-9]\d*\n){10}got 10 notifications"
GROUPS = r"(group \d runs [1-9]\d* \w+ [1-9]\d*\n)+status 3\n"
SETS = r"(set \d runs [1-9]\d* \w+ [1-9]\d* scaled [1-9]\d*\n)+runs \d+ duration [1-9]\d* status 3\n"
SAMPLES = r"[1-9]\d* samples collected in [1-9]\d* buffers"
SCRIPT = """\
create 0 0 0
set 0 1 0 0
pmc 0 0 4 1228
pmd 0 0 4 0
pmd 0 1 4 5
load_self 0 0
start 0
busy 10000000
stop 0
show 0 0 4
show 0 1 4
show 0 2 4
unload 0
run 1 i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done
load_task 0 1
start 0
detach 1
wait 1
show 0 0 4
close 0
create 1 1 0
load_self 1 0
load_cpu 1
create 2 0 100
create 2 0 4096
close 2
"""
SCRIPT_SHOWS = (r"set 0 runs 1 pmd 4 value [1-9]\d*\nset 1 runs 0 pmd 4 value 5\nline 12: Invalid argument\n"
                r"set 0 runs 2 pmd 4 value [1-9]\d*\nline 22: Invalid argument\nline 24: Invalid argument\n")
SHOWS = (r"PMU itanium2\nversion 2\.0\nPMC0 0x1\n(PMC[123] 0x0\n){3}PMC4 0x800000\n(PMC[567] 0x0\n){3}"
         r"PMC8 0xffffffff3fffffff\n(PMC\d+ 0x\w+\n)*PMC15 0xfffffff0\n")

#: Of versions 2 and 3.
BOTH = [
    Kind("self", "", [], TWO),
    Kind("self", "", ["CPU_CYCLES", "LOADS_RETIRED"], TWO),
    Kind("self_pipe", "", [], rf"rounds 2000\nstatus 0\n{TWO}"),
    Kind("self_smpl", "", [], SAMPLES),
    Kind("self_smpl", "-D_FILE_OFFSET_BITS=64", [], SAMPLES),
    Kind("self_smpl_multi", "", [], r"(thread \d: 10\n){3}total 30 bad_fd 0 bad_msg 0 bad_restart 0\n"),
    Kind("notify_self", "", [], NOTIFIED),
    Kind("notify_self", "-DINFO", [], NOTIFIED),
    Kind("notify_self", "-DNO_MSG", [], NOTIFIED),
    Kind("notify_self_fork", "", [], r"child got 0 notifications\nparent got 10 notifications\nchild ended with 7\n"),
    Kind("set_notify", "", [], r"set0 runs 6 duration [1-9]\d*\nset1 runs 5 duration [1-9]\d*\nnotifications 5 wrong_set 0\n"),
    Kind("set_notify", "-DSWTIME", [], r"(set\d runs [1-9]\d* duration [1-9]\d*\n){2}notifications 5 wrong_set 0\n"),
    Kind("task", "", LOOP, rf"{TWO}status 3\n"),
    Kind("task", "", ["true"], rf"{TWO}status 0\n"),  # it has ended before the model looks at it
    Kind("task_smpl", "", LOOP, rf"{SAMPLES}, status 3\n"),
    Kind("task_smpl_user", "", LOOP, r"[1-9]\d* samples, [1-9]\d* instructions, status 3\n"),
    Kind("task_smpl_user", "", ["-s", *LOOP], r"[1-9]\d* samples, [1-9]\d* instructions, status 3\n"),
    Kind("multiplex", "", LOOP, GROUPS),
    Kind("multiplex2", "", LOOP, SETS),
    Kind("multiplex2", "-DOVFL", LOOP, SETS),
    Kind("syst", "", [], rf"(CPU\d+ {COUNT} [1-9]\d*\n){{6}}"),
    Kind("syst", "-DNP", ["0"], rf"(CPU0 {COUNT} [1-9]\d*\n){{6}}", options=",np"),
    Kind("pfmsetup", "", [], SCRIPT_SHOWS, SCRIPT),
    Kind("whichpmu", "", [], r"itanium2 events \d+ counters 4 width 47\navailable PMCs 28 PMDs 18, 4 PMCs are not\n"),
    Kind("whichpmu", "-DMONT", [], r"dual-core Itanium 2 events \d+ counters 12 width 47\navailable PMCs 39 PMDs 35, 4 PMCs are not\n"),
]
OF_A_PMU = [Kind(source, f"-D{pmu} {macros}".strip(), [], expected) for pmu in PMUS for source, macros, expected in [
    ("opcode", "", rf"{COUNT} IA64_TAGGED"), ("range", "", rf"[248] registers\n{COUNT}"),
    ("range", "-DIRR", rf"[248] registers\n{COUNT}"), ("ear", "", SAMPLES), ("ear", "-DBTB", SAMPLES)]]
CTL = [
    Kind("ctl_self", "", [], TWO),
    Kind("ctl_notify_self", "", [], NOTIFIED),
    Kind("ctl_notify_self", "-DINFO", [], NOTIFIED),
    Kind("ctl_notify_self", "-DFORK", [], r"got 10 notifications, child 5\n"),
    Kind("ctl_task", "", LOOP, rf"{TWO}status 3\n"),
    Kind("ctl_task", "", ["true"], rf"{TWO}status 0\n"),
    Kind("ctl_task_smpl", "", LOOP, rf"{SAMPLES}, status 3\n"),
    Kind("ctl_multiplex", "", LOOP, GROUPS),
    Kind("ctl_syst", "", [], rf"{COUNT}\n{COUNT}\n"),
    Kind("ctl_showreset", "", [], SHOWS),
]
CTL_OF_A_PMU = [Kind(source, f"-D{pmu} {macros}".strip(), [], expected) for pmu in PMUS for source, macros, expected in [
    ("ctl_opcode", "", rf"0 registers\n{COUNT} IA64_TAGGED"), ("ctl_opcode", "-DDRR", rf"[248] registers\n{COUNT} LOADS"),
    ("ctl_opcode", "-DIRR", rf"[248] registers\n{COUNT} IA64_INST"), ("ctl_ear", "", SAMPLES), ("ctl_ear", "-DBTB", SAMPLES)]]
V3 = [kind._replace(macros=f"{kind.macros} -DV3".strip()) for kind in [*BOTH, *OF_A_PMU]]
#: Kernels 2.0 to 2.4 had shorter messages.
OLD = [kind._replace(macros=f"{kind.macros} -DPFMLIB_OLD_PFMV2".strip()) for kind in [*BOTH, *OF_A_PMU]]
ATTACHING = [("task_attach", ""), ("task_attach", "-DV3"), ("ctl_task_attach", "")]


def is_slow(kind: Kind) -> bool:
    """Not what shows each kind once: other PMUs, the second version's programs in the third, or in the old layout."""
    others = "-DITA " in f"{kind.macros} " or "-DMONT" in kind.macros
    again = kind.macros and kind in (*V3, *OLD) and kind.source not in ("self", "notify_self", "self_smpl_multi", "task")
    return bool(others or again)


def name_of(kind: Kind) -> str:
    return "-".join([kind.source, *kind.macros.replace("-D", "").split(), *(kind.arguments[:1])])


def marks(kind: Kind) -> list[pytest.MarkDecorator]:
    """The old messages' programs differ from those of version 2 in a layout that others check: once an issue is enough."""
    return [pytest.mark.slow, pytest.mark.long][:1 + (kind in OLD)] if is_slow(kind) else []


EVERYTHING = [pytest.param(kind, marks=marks(kind), id=name_of(kind)) for kind in [*BOTH, *OF_A_PMU, *V3, *OLD, *CTL, *CTL_OF_A_PMU]]
COMPILED = sorted({("multiplex2", "-DGETRES"), ("multiplex2", "-DGETRES -DV3")} | {(kind.source, kind.macros) for kind in [*BOTH, *OF_A_PMU, *V3, *OLD, *CTL, *CTL_OF_A_PMU]}
                  | {(source, f"{macros} {more}".strip()) for source, macros in ATTACHING for more in ("", "-DTIMEOUT")}
                  | {("task_attach", "-DTIMEOUT -DNP"), ("task_attach", "-DTIMEOUT -DPFMLIB_OLD_PFMV2")})


def compiled(source: str, macros: str, directory: Path) -> Path:
    out = directory / source
    build(needs("gcc"), *OLD_C, *macros.split(), *PFM3.cflags, PROGRAMS / f"{source}.c", "-o", out, *PFM3.libs, "-pthread")
    return out


def environment(macros: str, options: str = "") -> dict[str, str]:
    pmu = next((number for name, number in PMUS.items() if f"-D{name} " in f"{macros} "), PMUS["ITA2"])
    return clean_env(LIBPFM_PERFMON=MODEL + options, LIBPFM_FORCE_PMU=pmu)


def test_every_program_is_here() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.c")} == {source for source, _ in COMPILED}


@pytest.mark.parametrize("kind", EVERYTHING)
def test_run(kind: Kind, tmp_path: Path) -> None:
    program = compiled(kind.source, kind.macros, tmp_path)
    done = run(program, *kind.arguments, env=environment(kind.macros, kind.options), input=kind.stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(kind.expected, done.stdout), done.stdout


@pytest.mark.parametrize("source", ["opcode", "range", "ear", "ctl_opcode", "ctl_ear"])
def test_another_pmu_is_refused(source: str, tmp_path: Path) -> None:
    done = run(compiled(source, "-DITA2", tmp_path), env=environment("-DMONT"))
    assert (done.returncode, "does not work with this PMU" in done.stderr) == (2, True)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("compiler", [["gcc"], ["gcc", "-O2", "-D_FORTIFY_SOURCE=2"], ["clang"], ["g++", "-x", "c++"]],
                         ids=lambda command: "".join(command))
def test_compilers(compiler: list[str]) -> None:
    standard = "-std=gnu++17" if "c++" in compiler else "-std=gnu99"
    for source, macros in COMPILED:
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
#: Programs that count a command, and the numbers of their output that are all that happened.
WHOLE = [("task", "", r"PMD[45] +(\d+)"), ("ctl_task", "", r"PMD[45] +(\d+)"),
         *(("multiplex2", macros, r"scaled (\d+)") for macros in ("", "-DGETRES", "-DOVFL"))]


@pytest.mark.slow
@pytest.mark.parametrize("pmu", ["ITA2", pytest.param("MONT", marks=pytest.mark.long)])
@pytest.mark.parametrize(("source", "macros", "shown", "rate"), [
    (source, f"{macros} {version}".strip(), shown, rate) for source, macros, shown in WHOLE
    for version in ("", "-DV3")[:1 if source == "ctl_task" else 2]
    for rate in (2000, 2000000)[macros == "-DOVFL":]])  # the slower one is over before the first overflow
def test_one_second(source: str, macros: str, shown: str, pmu: str, rate: int, tmp_path: Path) -> None:
    (tmp_path / "second.c").write_text(SECOND)
    build(needs("gcc"), "-D_GNU_SOURCE", tmp_path / "second.c", "-o", tmp_path / "second")
    done = run(compiled(source, macros, tmp_path), tmp_path / "second",
               env=clean_env(LIBPFM_PERFMON=f"model,rate={rate}", LIBPFM_FORCE_PMU=PMUS[pmu]))
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
    with subprocess.Popen([str(program), str(target.pid), *arguments], env=environment("", options), text=True,
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


@pytest.mark.parametrize(("source", "macros"), ATTACHING)
def test_attach_until_the_end(source: str, macros: str, tmp_path: Path) -> None:
    with process("read line; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done") as target:
        shown = attached(compiled(source, macros, tmp_path), target)
    assert re.search(rf"attached to \[\d+\]\nmonitored task terminated\n{COUNT}\n", shown), shown


@pytest.mark.parametrize(("source", "macros", "options"), [
    *((source, f"{macros} -DTIMEOUT", "") for source, macros in ATTACHING),
    *(("task_attach", f"-DTIMEOUT -DNP {macros}", ",np") for macros in ("", "-DV3"))])
@pytest.mark.slow
def test_attach_for_some_time(source: str, macros: str, options: str, tmp_path: Path) -> None:
    with process("while :; do :; done") as target:
        shown = attached(compiled(source, macros, tmp_path), target, "300", options=options)
        assert target.poll() is None  # it goes on
    assert re.search(rf"attached to \[\d+\]\ntimeout\n{COUNT}\n", shown), shown
