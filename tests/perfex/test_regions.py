"""Regions of a program under valgrind: libperfex, `pypfm.perfex.counting`, Fortran and C++, with known counts."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tool_runs
from conftest import ROOT, run
from native import CC, CXX, attempt, build
from perfex_runs import PERFEX, TABLE, counted, counts, environment, refused
from pypfm.config import LIBRARIES
from tools import needs

pytestmark = [pytest.mark.slow, pytest.mark.needs("valgrind")]

LIBRARY = LIBRARIES["perfex"]
HERE = Path(__file__).parent
VALGRIND = ROOT / "csrc" / "perfex" / "valgrind.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("regions") / "regions"
    build(CC, "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", HERE / "regions.c", "-o", out, *LIBRARY.cflags, *LIBRARY.libs)
    return out


@cache
def measured(*command: object, options: tuple[str, ...] = (), **changes: str) -> tuple[list[str], dict[int, int]]:
    """What a program prints, and perfex's totals; of the same again what it was, for a simulation counts the same."""
    done = run(PERFEX, "--backend", "valgrind", "-e", "15", "-e", "19", "--csv", *options, *command,
               env=environment(**changes))
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in done.stderr.splitlines()]
    totals = {int(row[4]): int(row[6]) for row in rows if row[0] == "event" and row[6]}
    return done.stdout.splitlines(), totals


def pairs(lines: list[str]) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in (line.split() for line in lines)]


# ---- what is counted -------------------------------------------------------------------------------------

def test_stores_and_branches(program: Path) -> None:
    """What a region has more than an empty one is what its loop does, exactly; the order of the events does not matter.

    An empty one has nothing, but for what the linker does at the first calls; and the program's umask is no matter.
    """
    lines, totals = measured(program, "umask", 100000)
    _, (empty, none), (more, stores), (branches, _), (_, swapped) = pairs(lines)
    assert empty <= 10  # the call of a function that does nothing
    assert none <= 1
    assert totals[19] > 3 * 100000
    assert stores - none == 100000
    assert more > 2 * 100000
    assert branches == swapped
    _, _, (few, same), (many, other) = pairs(measured(program, "branches", 100000)[0])
    assert other - same == many - few == 100000


def test_the_totals_stay(program: Path) -> None:
    """Regions take nothing out of the program's totals, and add what the calls take."""
    few, many = (measured(program, "stores", n)[1][19] for n in (1000, 101000))
    assert 3 * 100000 <= many - few < 3 * 100000 + 100  # longer numbers are printed
    none, ten, twenty = (measured(program, "repeat", n)[1][15] for n in (0, 10, 20))
    each = (twenty - ten) / 10
    assert each < 10000
    assert none < ten < none + 30 * each + 100000


def test_threads(program: Path) -> None:
    """One that was there before, and two that are made in the region; told apart with -mp, and not."""
    for options in ((), ("-mp",)):
        *_, (_, few), (_, many) = pairs(measured(program, "threads", 100000, options=options)[0])
        assert 300_000 - 2000 <= many - few <= 300_000 + 2000


def test_fork(program: Path) -> None:
    """A child begins without a region and counts by itself; the parent's region goes on over it."""
    lines, _ = measured(program, "fork", 100000)
    assert lines.count("child ENXIO") == 2
    _, _, (_, none), _, (_, fork_of_nothing), (_, first), (_, child), (_, parent) = pairs(
        [line for line in lines if not line.startswith("child")])
    assert child - first in range(99900, 100100)
    assert 200000 - 2000 <= parent - fork_of_nothing <= 200000 + 2000
    assert none > 0


def test_a_program_that_another_process_executes(program: Path) -> None:
    *_, (_, few), (_, many) = pairs(measured(program, "spawn", 100000)[0])
    assert 200000 - 2000 <= many - few <= 200000 + 2000


def test_exec(program: Path) -> None:
    """The region that was open is gone; the next program has its own, and the totals are those of that one."""
    (_, before), _, (_, none), (_, stores), *_ = pairs(measured(program, "exec", 50000)[0])
    assert before >= 50000
    assert stores - none == 50000


def test_states(program: Path) -> None:
    lines, totals = measured(program, "states", 50000)
    assert lines[2:] == ["ENXIO", "0", "0", "EINVAL", "0", "anew", "EINVAL", "0"]
    assert totals[19] >= 2 * 50000  # a region that is open at the end is in the totals


def test_which_events(program: Path) -> None:
    """Each event that a simulation counts, and what is said of others."""
    counted_ones = (0, 26, 1, 16, 2, 18, 3, 24, 9, 25, 10, 17, 15, 23, 7, 19, 15, 21, 15, 30, 4, 20, 14, 27)
    lines, _ = measured(program, "pair", *counted_ones, 8, 19, 15, 31, 1, 2)
    assert lines[12:] == ["start ENODEV", "start ENODEV", "start EINVAL"]
    assert all(n >= 0 for pair in pairs(lines[:12]) for n in pair)


def test_events_of_several_processors(program: Path) -> None:
    (line,), _ = measured(program, "pair", 15, 31, options=("--threads", "fine"))
    assert pairs([line])[0][1] == 0


def test_cycles_are_perfex_s(tmp_path: Path) -> None:
    """Of a whole program in one region: cycles and instructions differ from perfex's own by what is outside of it only."""
    source = """
        #include <perfex.h>
        #include <stdio.h>
        static volatile char memory[1 << 22];
        int main(void) {
            long long a, b;
            if (start_counters(0, 17)) return 1;
            for (int turn = 0; turn < 4; turn++) for (int i = 0; i < 1 << 22; i += 32) memory[i] = 1;
            if (read_counters(0, &a, 17, &b)) return 2;
            printf("%lld %lld\\n", a, b);
            return 0;
        }"""
    program = tmp_path / "cycles"
    build(CC, "-O1", "-x", "c", "-", "-o", program, *LIBRARY.cflags, *LIBRARY.libs, source=source)
    for changes in ({}, {"PERFEX_CLOCK": "400"}):
        done = run(PERFEX, "--backend", "valgrind", "-e", "0", "-e", "17", "--csv",
                   *(["--clock", "400"] if changes else []), program, env=environment(**changes))
        ((cycles, instructions),) = pairs(done.stdout.splitlines())
        rows = [line.split(",") for line in done.stderr.splitlines()]
        whole = {int(row[4]): int(row[6]) for row in rows if row[0] == "event"}
        stalls, all_stalls = cycles - instructions, whole[0] - whole[17]
        assert 3_000_000 < stalls <= all_stalls < 1.1 * stalls


def test_a_table_of_perf_events_is_taken(program: Path, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(TABLE)
    lines, _ = measured(program, "pair", 0, 26, PERFEX_PERF_TABLE=str(tmp_path / "table"))
    assert pairs(lines)[0][0] > 0  # nanoseconds
    assert pairs(lines)[0][1] < 1000  # page faults
    assert measured(program, "pair", 15, 19, PERFEX_PERF_TABLE=str(tmp_path / "table"))[0] == ["start ENODEV"]


def test_zero_by_definition(program: Path) -> None:
    ((zero, stores),) = pairs(measured(program, "pair", 14, 19, PERFEX_CPU="r12000")[0])
    assert (zero, stores >= 1000) == (0, True)


def test_print(program: Path) -> None:
    """As well as the event can be counted here."""
    done = run(PERFEX, "--backend", "valgrind", program, "print", env=environment())
    lines = done.stderr.splitlines()
    assert any(line.startswith(" 15 ") and line.endswith("123  exact") for line in lines)
    assert any(line.startswith(" 23 ") and line.endswith("456  simulated") for line in lines)
    assert any(line.startswith("  0 ") and line.endswith("~2000000  modelled") for line in lines)  # two digits
    assert any(line.startswith(" 16 ") and line.endswith("~-1000  modelled") for line in lines)


# ---- valgrind without perfex ------------------------------------------------------------------------------

def test_valgrind_without_perfex(program: Path, tmp_path: Path) -> None:
    done = run("valgrind", "-q", "--tool=callgrind", program, "pair", 15, 19, cwd=tmp_path, env=environment())
    assert done.stdout == "start ENODEV\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_program_that_gives_up_its_rights(program: Path) -> None:
    lines, _ = measured(program, "user", 1000)
    assert pairs(lines)[0][1] >= 1000


def test_many_regions(program: Path) -> None:
    """The time of each stays; each has the same count."""
    lines, _ = measured(program, "many", 5000)
    first, _, last = map(float, lines[2:5])
    assert last < 3 * first
    assert int(lines[5]) <= 2


# ---- -s ------------------------------------------------------------------------------------------------------

def test_signals(program: Path) -> None:
    """Before SIGUSR1 and after SIGUSR2 regions have nothing; meanwhile they count, and perfex's totals have all of it."""
    process = subprocess.Popen([PERFEX, "--backend", "valgrind", "-s", "-e", "15", "-e", "19", "--csv", program, "signals", "50000"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    out, err = process.communicate(timeout=120)
    first, _, (_, none), (_, stores), *_, last = out.splitlines()[0], *pairs(out.splitlines()[1:-1]), out.splitlines()[-1]
    assert (first, last) == ("read EBUSY", "read EBUSY")
    assert stores - none == 50000
    totals = {int(row[4]): int(row[6]) for row in (line.split(",") for line in err.splitlines()) if row[0] == "event"}
    assert 3 * 50000 <= totals[19] < 4 * 50000 + 100000


def test_samples(program: Path) -> None:
    """They do not begin anew where the program has a region."""
    data = counted("--backend", "valgrind", "-p", "100", "-e", "15", "-e", "19", program, "signals", 50000, timeout=120)
    found = [{c["event"]: c["count"] for c in sample["counts"]}[15] for sample in data["samples"]]
    assert found
    assert found == sorted(found)
    assert found[-1] <= (counts(data)[15] or 0) + 100  # the instructions under way


# ---- other languages -------------------------------------------------------------------------------------------

def test_cxx(tmp_path: Path) -> None:
    source = ("#include <perfex.h>\n#include <iostream>\n#include <vector>\nint main() { long long a, b; std::vector<long> v;\n"
              "for (int n : {0, 0, 5000}) { if (start_counters(15, 19)) return 1; volatile long s;\n"
              "for (int i = 0; i < n; i++) s = i; (void)s; if (read_counters(15, &a, 19, &b)) return 2;\n"
              "std::cout << a << ' ' << b << std::endl; } }\n")
    build(CXX, "-O1", "-x", "c++", "-", "-o", tmp_path / "cxx", *LIBRARY.cflags, *LIBRARY.libs, source=source)
    _, (_, none), (_, stores) = pairs(measured(tmp_path / "cxx")[0])
    assert stores - none == 5000


PYTHON = """\
import pypfm.perfex
def work(n):
    for i in range(n): pass
with pypfm.perfex.counting(15) as c: pass
found = []
for n in (0, 1000, 2000):
    with pypfm.perfex.counting(15, 19) as outer:
        work(n)
        with pypfm.perfex.counting(15) as inner:
            work(1000)
            before = inner[15]
            work(1000)
    assert 0 < before < inner[15] < outer[15], (before, inner[15], outer[15])
    assert outer[19] < outer[15]
    found.append(outer[15])
assert found[0] < found[1] < found[2], found
with pypfm.perfex.counting(*range(8), 9, 10, 11, *range(14, 28), 30) as c: work(10)
assert all(n >= 0 for n in c.values()), c
for event in (8, 31):
    try:
        with pypfm.perfex.counting(event): pass
    except OSError as error: print(error.errno, error)
print("done")
"""


def python(*prefix: object, **changes: str) -> list[str]:
    done = run(*prefix, sys.executable, "-c", PYTHON, env=environment(**changes), timeout=300)
    return [line for line in done.stdout.splitlines() if line]


def test_counting() -> None:
    """Nested, read inside, repeated; and why there is no count."""
    *errors, done = python(PERFEX, "--backend", "valgrind", "-e", "15")
    assert done == "done"
    assert [line.split()[0] for line in errors] == ["19"] * 2
    assert "a simulated memory has no errors" in errors[0]
    assert "with --threads fine each thread has one" in errors[1]


@pytest.mark.long
@pytest.mark.parametrize("body", [
    "with counting(15) as other: pass\n        with counting(15, 18, 19) as c: pass",
    "with counting(15, 18, 19) as c:\n            pass\n        for _ in range(20):\n            with counting(15): pass",
])
def test_an_empty_region_of_python_in_a_loop(body: str) -> None:
    """What the name was given the last time is not freed in the region."""
    source = ("from pypfm.perfex import counting\ndef empty():\n    for _ in range(30):\n        " + body +
              "\n        print(*c.values())\nempty()\n")
    done = run(PERFEX, "--backend", "valgrind", "-e", "15", sys.executable, "-c", source, env=environment(), timeout=300)
    found = [max(map(int, line.split())) for line in done.stdout.splitlines()]
    assert sorted(found)[15] <= 50, found


# ---- the request itself --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("target", ["x86_64", "i386", "aarch64", "armv7a", "powerpc64le", "powerpc64", "s390x"])
def test_the_instructions_are_valgrind_s(target: str, tmp_path: Path) -> None:
    """The same sequence as of valgrind's own header, for each machine."""
    needs("clang", "llvm-objdump")
    flags = ["clang", f"--target={target}-linux-gnu{'eabihf' if target == 'armv7a' else ''}", "-ffreestanding", "-O1", "-c",
             "-x", "c", "-", "-nostdlibinc"]
    if attempt(*flags, "-o", tmp_path / "probe.o", source="#include <stdint.h>\n").returncode:
        pytest.skip(f"clang has no target {target}")
    if not Path("/usr/include/valgrind/valgrind.h").exists():
        pytest.skip("no valgrind/valgrind.h: apt-get install valgrind")
    build(*flags, "-o", tmp_path / "ours.o", source=f'#include "{VALGRIND}"\n')
    build(*flags, "-o", tmp_path / "theirs.o", source=(
        "#include \"/usr/include/valgrind/valgrind.h\"\n"
        "unsigned long f(void) { return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, 0x1001, 2, 3, 0, 0, 0); }\n"))
    ours, theirs = (instructions(tmp_path / f"{name}.o") for name in ("ours", "theirs"))
    rotates = ("rol", "ror", "rotl", "lr", "mov.w\tr12, r12", "mov\tr12, r12")
    common = [window for window in windows(ours) if window[0].startswith(rotates) and window in windows(theirs)]
    assert common


def instructions(file: Path) -> list[str]:
    text = build("llvm-objdump", "-d", "--no-show-raw-insn", file)
    return [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(" ")]


def windows(lines: list[str]) -> list[list[str]]:
    return [lines[i:i + 5] for i in range(len(lines) - 4)]


def test_the_numbers_are_valgrind_s() -> None:
    if not Path("/usr/include/valgrind/valgrind.h").exists():
        pytest.skip("no valgrind/valgrind.h: apt-get install valgrind")
    build(CC, "-x", "c", "-", "-fsyntax-only", source=(
        f'#include "{VALGRIND}"\n'
        "enum { ours = RUNNING_ON_VALGRIND, counts = READ };\n#include <valgrind/valgrind.h>\n"
        "_Static_assert(ours == (int)VG_USERREQ__RUNNING_ON_VALGRIND, \"\");\n"
        "_Static_assert(counts == (int)VG_USERREQ_TOOL_BASE('R', 'K'), \"\");\n"))


def test_natively_there_is_no_valgrind(tmp_path: Path) -> None:
    build(CC, "-O1", "-x", "c", "-", "-o", tmp_path / "asks", source=(
        f'#include "{VALGRIND}"\n#include <stdio.h>\n'
        'int main(void) { printf("%d %d\\n", valgrind_runs(), (int)valgrind_counts(NULL, 0)); return 0; }\n'))
    assert run(tmp_path / "asks").stdout == "0 0\n"
    assert run("valgrind", "-q", "--tool=none", tmp_path / "asks").stdout == "1 0\n"


# ---- a program that says what is counted (the tool's --asked) -----------------------------------------------

ASKED = """
from pypfm._c.libperfex import ffi, lib
number = lib.perfex_simulated_counts(ffi.NULL, 0)
counts = ffi.new("uint64_t[]", max(number, 1))
def read():
    lib.perfex_simulated_counts(counts, number)
    return counts[0]
def work():
    return sum(range(10000))
def made():
    return lib.perfex_region(lib.PERFEX_REGION_LOOK)
found = [number, made() & 0xff, read()]
work()
found.append(read())
lib.perfex_region(lib.PERFEX_REGION_ON)
before = read()
work()
found.append(read() - before)
lib.perfex_region(lib.PERFEX_REGION_OFF)
after = read()
work()
found.append(read() - after)
import os, threading
threads, processes = made() >> 8 & 0xfff, made() >> 20 & 0xfff
thread = threading.Thread(target=work)
thread.start()
thread.join()
if not (child := os.fork()):
    os._exit(0)
os.waitpid(child, 0)
found += [(made() >> 8 & 0xfff) - threads, (made() >> 20 & 0xfff) - processes]
print(*found)
"""


def test_a_program_that_says_what_is_counted(tmp_path: Path) -> None:
    """Nothing before and after; how many threads and processes it makes."""
    done = tool_runs.run(tmp_path, sys.executable, "-c", ASKED, options=("--asked=yes", "--lines=yes", "--calls=yes"))
    number, asked, *before, counted, after, threads, processes = map(int, done.stdout.split())
    assert number > 20
    assert (asked, before, threads, processes) == (1, [0, 0], 1, 1)
    assert counted > 100_000
    assert after < 1000  # up to the end of the block
    assert run(sys.executable, "-c", ASKED).stdout.split() == ["0"] * 8


def test_a_region_has_its_own_places(tmp_path: Path) -> None:
    """What instructions and calls have counted is forgotten where a region begins; the process goes on."""
    code = ASKED.partition("found =")[0] + """
lib.perfex_region(lib.PERFEX_REGION_ON)
for _ in range(5):
    work()
lib.perfex_region(lib.PERFEX_REGION_CLEAR)
before = read()
work()
print(read() - before)
lib.perfex_region(lib.PERFEX_REGION_OFF)
"""
    done = tool_runs.run(tmp_path, sys.executable, "-c", code, options=("--asked=yes", "--lines=yes", "--calls=yes"))
    profile = done.profile()
    total = sum(counts[0] for counts in profile.code.values())
    assert int(done.stdout) <= total < int(done.stdout) + 20_000
    assert done.processes[0].counts["Ir"] > 5 * total
    assert max(called[1] for called in profile.inclusive.values()) <= total


# ---- --regions -----------------------------------------------------------------------------------------------

def test_only_regions(program: Path) -> None:
    """What the program does elsewhere is not in the totals; the calls are, some hundred instructions each."""
    _, none = measured(program, "repeat", 0)
    alone = {n: measured(program, "repeat", n, options=("--regions",))[1] for n in (1, 10, 20)}
    assert alone[1][15] < 1000 < none[15]
    each = (alone[20][15] - alone[10][15]) / 10
    assert 0 < each < 300
    assert alone[10][15] - alone[1][15] == 9 * each
    lines, totals = measured(program, "stores", 100000, options=("--regions",))
    assert pairs(lines) == pairs(measured(program, "umask", 100000)[0])
    assert 300000 <= totals[19] < 300000 + 1000


def test_regions_of_threads_and_of_two_processes(program: Path) -> None:
    *_, (_, many) = pairs(measured(program, "threads", 100000)[0])
    assert many <= measured(program, "threads", 100000, options=("--regions",))[1][19] < 2 * many
    assert measured(program, "fork", 100000, options=("--regions",))[1][19] >= 100000


def test_a_program_without_a_region(program: Path) -> None:
    data = counted("--backend", "valgrind", "--regions", "-e", "15", program, "none", 1000)
    assert set(counts(data).values()) == {None}
    assert "--regions: the command has not called start_counters() of libperfex" in data["notes"]
    assert data["regions"] is True


@pytest.mark.long
def test_regions_against_a_baseline(program: Path, tmp_path: Path) -> None:
    """Only what has changed inside of them counts as a change; a report of the whole program is no baseline."""
    def perfex(*words: object) -> tuple[int, str]:
        done = run(PERFEX, "--backend", "valgrind", "-e", "15", "-e", "19", *words, env=environment())
        return done.returncode, done.stderr

    before, whole = tmp_path / "before", tmp_path / "whole"
    for out, options in ((before, ["--regions"]), (whole, [])):
        assert perfex("--json", "-o", out, *options, program, "stores", 100000)[0] == 0
    gate = ("--regions", "--fail-above", "1", "--baseline")
    assert perfex(*gate, before, program, "stores", 100500)[0] == 0
    status, said = perfex(*gate, before, program, "stores", 102000)
    assert status == 1
    assert "perfex: risen by more than 1 %: event 15 (+" in said
    status, said = perfex(*gate, whole, program, "stores", 100000)
    assert (status, said) == (1, "perfex: --baseline: only one of the two counts the regions of libperfex alone (--regions);"
                                 " --anyway compares them\n")


    nothing = tmp_path / "nothing"
    assert perfex("--json", "-o", nothing, "--regions", "true")[0] == 0
    status, said = perfex(*gate, before, "true")
    assert (status, said.splitlines()[-1]) == (1, "perfex: --fail-above: no event has a count in both reports")
    status, said = perfex(*gate, nothing, program, "stores", 100000)
    assert (status, said.splitlines()[-1]) == (1, "perfex: --fail-above: no event has a count in both reports")


REFUSED = r"""
#include <perfex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void work(long n) { for (volatile long i = 0; i < n; i++) ; }
static int starts(int a, int b) { return start_counters(a, b); }
int main(int argc, char **argv)
{
    long long a = 0, b = 0;
    switch (atoi(argv[argc - 1])) {
    case 0:             /* the whole of the others */
        starts(15, 19), work(200000), read_counters(15, &a, 19, &b);
        break;
    case 1:             /* a read is refused: the pair goes on */
        starts(15, 19), work(100000), read_counters(0, &a, 19, &b), work(100000), read_counters(15, &a, 19, &b);
        break;
    case 2:
        starts(15, 19), work(100000), read_counters(15, NULL, 19, &b), work(100000), read_counters(15, &a, 19, &b);
        break;
    case 3:             /* a start is refused, in a region and outside */
        starts(15, 19), work(100000), starts(1, 2), work(100000), read_counters(15, &a, 19, &b), starts(1, 2), work(1000000);
        break;
    case 4:             /* a start in the place of another */
        starts(15, 19), work(100000), starts(15, 19), work(100000), read_counters(15, &a, 19, &b), work(1000000);
        break;
    case 5:             /* the child ends what it has inherited, and has one of its own */
        starts(15, 19), work(50000);
        if (fork() == 0) {
            work(50000), read_counters(15, &a, 19, &b), work(1000000);
            starts(15, 19), work(50000), read_counters(15, &a, 19, &b), work(1000000);
            exit(0);
        }
        work(50000), read_counters(15, &a, 19, &b), wait(NULL);
        break;
    case 6:
        starts(1, 2), work(1000000);
    }
    return 0;
}
"""


def test_calls_that_are_refused(tmp_path: Path) -> None:
    """A region goes on until a read has succeeded; of a start that has failed there is a note."""
    (tmp_path / "refused.c").write_text(REFUSED)
    build(CC, "-O1", tmp_path / "refused.c", "-o", tmp_path / "refused", *LIBRARY.cflags, *LIBRARY.libs)

    def report(how: int) -> dict[str, Any]:
        return counted("--backend", "valgrind", "--regions", "-e", "19", tmp_path / "refused", how)

    whole = counts(report(0))[19]
    assert whole is not None
    assert whole >= 200000
    for how in range(1, 6):
        found = counts(report(how))[19]
        assert found is not None
        assert abs(found - whole) < 2000, how
    standing, failed = report(3)["notes"][-2:]
    assert standing.startswith("--regions: caches, TLB and branch predictor stand still outside of regions")
    assert failed == "start_counters() has failed 2 times: what follows is counted nowhere"
    none = report(6)
    assert counts(none)[19] is None
    assert none["notes"] == ["--regions: the command has not called start_counters() of libperfex, or it has failed each time"]


ENDS = {
    "of Python": "def f():\n    counting(15).__enter__()\nf()\nwork()\n"
                 "with counting(15) as c:\n    if not (pid := os.fork()):\n        try:\n            c.close()\n"
                 "        except OSError:\n            pass\n        with counting(15):\n            pass\n"
                 "        work()\n        os._exit(0)\n    os.waitpid(pid, 0)\nwork()\n"
                 "with counting(15), counting(15):\n    inside()\nwork()",
    "of C inside": "with counting(15):\n    C.start_counters(15, 19)\n    C.read_counters(15, a, 19, b)\n    inside()\nwork()",
    "inside of C": "C.start_counters(15, 19)\nwith counting(15):\n    pass\ninside()\nC.read_counters(15, a, 19, b)\nwork()"}


@pytest.mark.long
@pytest.mark.parametrize("how", ENDS)
def test_the_end_of_regions_of_python(how: str, tmp_path: Path) -> None:
    """Dropped, of the parent, in another one, with one of C in it, in one of C: what is outside of all is left out, and no more."""
    script = tmp_path / "regions.py"
    script.write_text("import ctypes, os, sys\nfrom pypfm import libperfex as C\nfrom pypfm.perfex import counting\n"
                      "a, b = ctypes.pointer(ctypes.c_longlong()), ctypes.pointer(ctypes.c_longlong())\n"
                      "def work(): sum(range(int(sys.argv[1])))\ndef inside(): sum(range(int(sys.argv[2])))\n"
                      f"{ENDS[how]}\nprint(0, 0)\n")
    few, outside, more = (measured(sys.executable, script, *ns, options=("--regions",))[1][15]
                          for ns in ((1, 1), (200000, 1), (1, 200000)))
    assert abs(few - outside) < 50000
    assert more - few > 1_000_000


@pytest.mark.parametrize(("words", "complaint"), [
    (["--regions"], "--regions goes with a command"), (["--regions", "--merge", "x"], "--regions goes with a command"),
    (["--regions", "-s", "true"], "--regions: the program says what is counted"),
    (["--regions", "--backend", "perf", "true"], "--regions is an option of the valgrind backend"),
    (["--regions", "--backend", "qemu", "true"], "--regions needs the valgrind backend; qemu counts the whole command")])
def test_wrong_use_of_regions(words: list[str], complaint: str) -> None:
    assert refused(*words).startswith(f"perfex: {complaint}")
