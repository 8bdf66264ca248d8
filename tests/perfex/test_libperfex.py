"""libperfex(3C): the library from C, Fortran and Python, and `pypfm.perfex.counting`."""

from __future__ import annotations

import copy
import errno
import mmap
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pypfm.perfex
from conftest import TESTS, run, run_python
from cost_files import BAD_FILES, BAD_LINES, GOOD_FILES, Costs, described
from header_names import HeaderNames
from native import CC, CXX, build, build_program, dynamic_entries, exported
from perfex_runs import SET_BY_USERS, environment
from pypfm import libperfex
from pypfm._c import libperfex as _libperfex
from pypfm._c import names
from pypfm.config import LIBRARIES
from pypfm.errors import CountingError, InvalidTypeError, PfmError
from pypfm.perf.pmu import Perf
from pypfm.perfex import costs, events, report
from pypfm.perfex.c_call import read_limited
from pypfm.perfex.model import CPUS, Cpu, Measurement, Outcome, PerfexError, Request
from pypfm.perfex.perf_table import attributes, load
from pypfm.perfex.report import Report
from tools import needs

pytestmark = pytest.mark.slow

PERFEX = LIBRARIES["perfex"]
PROGRAMS = TESTS / "c" / "libperfex"
TABLE = PROGRAMS / "perf_table.csv"
FUNCTIONS = {name + form for form in ("", "_") for name in (
    "start_counters", "read_counters", "print_counters", "print_costs", "load_costs")}
API = HeaderNames(PERFEX, {"_PERFEX_H_": "include guard"}, ["stddef.h"])
PAGE = mmap.PAGESIZE


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SET_BY_USERS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Events that every kernel counts."""
    monkeypatch.setenv("PERFEX_PERF_TABLE", str(TABLE))
    yield
    libperfex.read_counters(0, libperfex.c_longlong(), 26, libperfex.c_longlong())


def touch(pages: int) -> None:
    """One page fault a page."""
    with mmap.mmap(-1, pages * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, pages * PAGE, PAGE):
            memory[at] = 1


def code(ret: int) -> str:
    """The errno of a call that failed."""
    assert ret == -1
    return errno.errorcode[libperfex.ffi.errno]


# ---- what the library, the extension and the mirror offer ---------------------------------------

def test_the_library_exports_what_the_header_declares() -> None:
    assert exported(PERFEX.path) == dict.fromkeys(FUNCTIONS, "T")
    assert API.extern_functions == FUNCTIONS
    assert (API.typedefs, API.struct_tags, API.enumerators, set(API.constants)) == (set(), set(), set(), set())


def test_soname_and_place() -> None:
    assert PERFEX.path.name == "libperfex.so.1"
    assert PERFEX.path.parent.name == PERFEX.include_dir.name == "perfex"
    assert dynamic_entries(PERFEX.path, "DT_SONAME") == ["libperfex.so.1"]
    assert dynamic_entries(PERFEX.path, "DT_NEEDED") in ([], ["libc.so.6"])
    done = run(sys.executable, "-m", "pypfm", "config", "--library", "perfex")
    assert done.stdout == f"{PERFEX.path}\n"


def test_the_extension_exports_only_its_initialisation() -> None:
    assert Path(_libperfex.__file__).name == "libperfex.abi3.so"
    assert exported(Path(_libperfex.__file__)) == {"PyInit_libperfex": "T"}


def test_the_mirror_has_every_function() -> None:
    assert set(libperfex.__all__) == FUNCTIONS | {*names.__all__, "ffi", "lib"}


@pytest.mark.parametrize(("compiler", "language", "standard"), [
    (CC, "c", "c99"), (CC, "c", "c11"), ("clang", "c", "c11"), (CXX, "c++", "c++11"), ("clang++", "c++", "c++17")])
def test_the_header_compiles(compiler: str, language: str, standard: str) -> None:
    needs(compiler)
    build(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *PERFEX.cflags, "-x", language,
          "-fsyntax-only", "-", source="#include <perfex.h>\n#include <perfex.h>\nextern int unused;\n")


# ---- C programs ------------------------------------------------------------------------------------

def succeeds(*command: object, **changes: str) -> subprocess.CompletedProcess[str]:
    done = run(*command, env=environment(**changes))
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done


def test_checks(tmp_path: Path) -> None:
    """With the installed library; ctest runs them, and the other programs beside them, with sanitizers and valgrind, too."""
    succeeds(build_program(PERFEX, PROGRAMS / "checks.c", tmp_path / "checks", "-pthread", "-U_GNU_SOURCE",
                           libs=PERFEX.libs), TABLE)


# ---- Fortran ------------------------------------------------------------------------------------------

def test_fortran(tmp_path: Path) -> None:
    gfortran = needs("gfortran")
    program, cost_file = tmp_path / "calls", tmp_path / "costs"
    cost_file.write_text("26 nsec 9 8 10\n")
    build(gfortran, "-Wall", PROGRAMS / "calls.f90", "-o", program, *PERFEX.libs)
    done = succeeds(program, cost_file, PERFEX_PERF_TABLE=str(TABLE))
    assert done.stderr == (expected("r10000", [(0, 1_000_000), (26, 5)])
                           + expected("r10000", [(0, 1_000_000), (26, 5)], {26: costs.Cost("nsec", 9, 8, 10)}))


@pytest.mark.usefixtures("table")
def test_fortran_forms_from_python() -> None:
    e0, e1, c0, c1 = libperfex.c_int(), libperfex.c_int(), libperfex.c_longlong(), libperfex.c_longlong()
    e0.value, e1.value = 0, 26
    assert libperfex.start_counters_(e0, e1) == 0
    touch(10)
    assert libperfex.read_counters_(e0, c0, e1, c1) == 0
    assert c1.value >= 10
    assert code(libperfex.start_counters_(None, e1)) == "EFAULT"
    assert code(libperfex.read_counters_(e0, c0, None, c1)) == "EFAULT"
    assert code(libperfex.print_counters_(e0, None, e1, c1)) == "EFAULT"
    assert code(libperfex.print_costs_(e0, c0, e1, None)) == "EFAULT"
    assert code(libperfex.load_costs_(None, 5)) == "EFAULT"
    assert code(libperfex.load_costs_("x" * 5000, 5000)) == "ENAMETOOLONG"
    assert code(libperfex.load_costs_("   ", 3)) == "ENOENT"


# ---- what is printed, in the command's own words ------------------------------------------------------

def expected(cpu: Cpu, pairs: list[tuple[int, int | None]], overrides: costs.CostTable | None = None,
             clock: float | None = None, quality: Any = "exact") -> str:
    """perfex's report on the same counts; overrides: with times, by these costs."""
    known = events.table(cpu)
    measured = tuple(Measurement(known[e], c, "unavailable" if c is None else quality) for e, c in pairs)
    source = f"the default of the {cpu}" if clock is None else "given"
    outcome = Outcome("perf", "", 0, measured, clock=clock or costs.default_clock(cpu), clock_source=source)
    table = None if overrides is None else costs.builtin(cpu) | overrides
    text = report.text(Report(Request(("x",), cpu, tuple(e for e, _ in pairs)), outcome, table))
    lines = text.split("\nstatistics")[0].rstrip("\n").split("\n")
    return "\n".join(line for line in lines if line and not line.startswith(("perfex:", "command:"))) + "\n"


def all_exact(text: str) -> str:
    """A report as if no count were approximate."""
    return text.replace("approximate\n", "exact\n").replace("approximate", "exact      ")


def printed(calls: str, **environ: str) -> str:
    """What calls of the library write to stderr."""
    done = run_python(f"from pypfm.libperfex import *\n{calls}\n", **environ)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("pair", [(0, 26), (25, 10), (16, 0)])
@pytest.mark.parametrize("counts", [(0, 0), (5, 123_456_789), (-3, (1 << 63) - 1)])
def test_prints_as_the_command_does(cpu: Cpu, pair: tuple[int, int], counts: tuple[int, int], capfd: Any,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFEX_CPU", cpu)
    arguments = pair[0], counts[0], pair[1], counts[1]
    assert libperfex.print_counters(*arguments) == 0
    want = expected(cpu, list(zip(pair, counts, strict=True)))
    assert all_exact(capfd.readouterr().err) == want
    assert libperfex.print_costs(*arguments) == 0
    want = expected(cpu, list(zip(pair, counts, strict=True)), {})
    assert all_exact(capfd.readouterr().err) == want
    monkeypatch.setenv("PERFEX_CLOCK", "2500.5")
    assert libperfex.print_costs(*arguments) == 0
    want = expected(cpu, list(zip(pair, counts, strict=True)), {}, 2500.5)
    assert all_exact(capfd.readouterr().err) == want


@pytest.mark.usefixtures("table")
def test_what_cannot_be_counted_is_not_available(capfd: Any) -> None:
    assert libperfex.print_counters(12, 5, 26, 7) == 0
    assert capfd.readouterr().err == expected("r10000", [(12, None), (26, 7)])
    assert libperfex.print_costs(1, 5, 21, 7) == 0
    assert capfd.readouterr().err == expected("r10000", [(1, None), (21, None)], {})


def test_an_event_without_a_cost(capfd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "table.csv"
    own.write_text("quality,note,cpu,event,perf\nmodelled,\"a, \"\"b\"\"\",r10000,12, page-faults + r1f \n"
                   "modelled,,,12,page-faults\r\n\r\nexact,,r10000,26,0")
    monkeypatch.setenv("PERFEX_PERF_TABLE", str(own))
    monkeypatch.setenv("PERFEX_CPU", "r12000")
    assert libperfex.print_costs(12, 5, 26, 7) == 0
    assert capfd.readouterr().err == expected("r12000", [(12, 5), (26, None)], {}, quality="modelled")


def test_the_decimal_point_is_a_point(tmp_path: Path) -> None:
    done = run(needs("localedef"), "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8")  # status 1 is a warning
    if not (tmp_path / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        pytest.skip(f"no locale de_DE can be made on this machine (Debian: locales): {done.stderr.splitlines()[0]}")
    (tmp_path / "costs").write_text("26 nsec 9.5 8 10\n")
    text = printed("import locale; locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')\n"
                   "assert locale.localeconv()['decimal_point'] == ','\n"
                   f"load_costs({str(tmp_path / 'costs')!r}); print_costs(0, 1, 26, 10**9)\n"
                   "from pypfm.perfex import c_call, costs\n"
                   "assert costs.parse('1 clks 9.5 8.25 10', '')[1] == costs.Cost('clks', 9.5, 8.25, 10)\n"
                   "lines = c_call.printed(lib.perfex_line, 1, b'Name', b'5', b'exact', 0.5, [0.25] * 3)\n"
                   "assert '50.0%' in lines[0] and '0.250000' in lines[1], lines",
                   PERFEX_PERF_TABLE=str(TABLE), LOCPATH=str(tmp_path))
    assert text == expected("r10000", [(0, 1), (26, 10**9)], {26: costs.Cost("nsec", 9.5, 8, 10)})


@pytest.mark.parametrize("clock", ["0", "x", "1e3", "-1", "1234567890", "inf", "0x10", "196 "])
def test_a_clock_that_is_none(clock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFEX_CLOCK", clock)
    assert code(libperfex.print_costs(0, 1, 26, 2)) == "EINVAL"


def test_stderr_that_cannot_be_written() -> None:
    done = run_python("import os, sys\nfrom pypfm import libperfex as l\nos.close(2)\n"
                      "sys.stdout.write(f'{l.print_counters(0, 1, 26, 2)} {l.ffi.errno}')")
    assert done.stdout == f"-1 {errno.EBADF}"


# ---- cost files: what load_costs() reads, what the command reads, and what the manual page says -----------

def c_costs(path: Path) -> costs.CostTable | int:
    """What load_costs() reads, or its errno value."""
    found: Any = _libperfex.ffi.new("struct perfex_cost[]", events.NUM_EVENTS)
    ret = _libperfex.lib.perfex_costs_read(os.fsencode(path), found)
    if ret:
        return -ret
    units: dict[int, costs.Unit] = {_libperfex.lib.PERFEX_CLKS: "clks", _libperfex.lib.PERFEX_NSEC: "nsec"}
    return {i: costs.Cost(units[c.unit], c.typical, c.minimum, c.maximum) for i, c in enumerate(found) if c.unit}


def python_costs(path: Path) -> Costs | None:
    """What the command reads."""
    try:
        return plain(costs.parse(read_limited(path), "file"))
    except PerfexError:
        return None


def plain(table: costs.CostTable) -> Costs:
    return {event: (c.unit, c.typical, c.minimum, c.maximum) for event, c in table.items()}


@pytest.mark.parametrize("cpu", CPUS)
def test_reads_what_the_command_prints(cpu: Cpu, tmp_path: Path) -> None:
    (tmp_path / "costs").write_text(costs.show(costs.builtin(cpu), cpu))
    assert c_costs(tmp_path / "costs") == costs.builtin(cpu)


@pytest.mark.parametrize("text", GOOD_FILES)
def test_good_cost_files(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "costs").write_bytes(text)
    found = c_costs(tmp_path / "costs")
    assert isinstance(found, dict)
    assert len(found) == GOOD_FILES[text]
    assert plain(found) == python_costs(tmp_path / "costs") == described(text)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("text", [*BAD_FILES, *(f"1 clks 0 0 1\n{line}\n".encode() for line, _ in BAD_LINES)],
                         ids=lambda text: ascii(text[:40]))
def test_bad_cost_files(text: bytes, tmp_path: Path, capfd: Any) -> None:
    file = tmp_path / "costs"
    file.write_bytes(b"26 nsec 777 777 777\n" + text)
    assert python_costs(file) is described(file.read_bytes()) is None
    assert code(libperfex.load_costs(str(file))) == ("EFBIG" if len(text) > 1 << 20 else "EINVAL")
    assert libperfex.print_costs(0, 1, 26, 1) == 0
    assert capfd.readouterr().err == expected("r10000", [(0, 1), (26, 1)], {})  # nothing was loaded


words = st.sampled_from(["0", "31", "32", "7", "clks", "nsec", "1", "0.5", ".5", "5.", "2", "1e1", "#", "\n", "\r", "\t", " ",
                         "\u00a0", "\u0661", "\x1c", "\x85", "\0", "123456789012", "1234567890123", "."]) | st.text(max_size=3)
lines = st.builds(lambda e, u, c, tail: f"{e} {u} {c[1]} {c[0]} {c[2]}{tail}", st.integers(0, 33),
                  st.sampled_from(["clks", "nsec", "usec"]),
                  st.lists(st.decimals(0, 1000, places=3), min_size=3, max_size=3).map(sorted),
                  st.sampled_from(["", "", "# x", " 1", "\r"]))
files = (st.lists(words, max_size=30).map(" ".join) | st.lists(lines, max_size=4).map("\n".join)).map(
    lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60)


@given(text=files)
@example(text=b"0 clks 1 1 1\n0 clks 1 1 1")
def test_any_bytes_are_read_alike(text: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / f"any-{os.getpid()}"
    file.write_bytes(text)
    wanted, found = described(text), c_costs(file)
    assert python_costs(file) == wanted
    assert found == errno.EINVAL if isinstance(found, int) else plain(found) == wanted
    assert (wanted is None) is isinstance(found, int)


def test_which_costs_win(tmp_path: Path) -> None:
    for name, text in (("system", "0 clks 2 2 2\n16 clks 2 2 2\n25 clks 2 2 2\n"), ("first", "25 clks 3 3 3\n0 clks 4 4 4\n"),
                       ("second", "25 clks 5 5 5\n"), ("bad", "0 clks 9 9 9\nbad\n")):
        (tmp_path / name).write_text(text)
    load = "".join(f"load_costs({str(tmp_path / name)!r})\n" for name in ("first", "second", "bad"))
    text = printed(load + "print_costs(25, 7, 0, 8); print_costs(16, 7, 10, 8)",
                   PERFEX_COSTS=str(tmp_path / "system"), PERFEX_PERF_TABLE=str(TABLE))
    overrides = {e: costs.Cost("clks", c, c, c) for e, c in ((0, 4), (25, 5), (16, 2))}
    assert all_exact(text) == (
        expected("r10000", [(25, 7), (0, 8)], overrides) + expected("r10000", [(16, 7), (10, 8)], overrides))


@pytest.mark.usefixtures("table")
def test_the_system_s_file_has_to_be_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("PERFEX_COSTS", str(tmp_path / "none"))
    assert code(libperfex.print_costs(0, 1, 26, 2)) == "ENOENT"
    (tmp_path / "none").write_text("bad\n")
    assert code(libperfex.print_costs(0, 1, 26, 2)) == "EINVAL"
    assert libperfex.print_counters(0, 1, 26, 2) == 0
    assert capfd.readouterr().err == expected("r10000", [(0, 1), (26, 2)])


# ---- the map of events ----------------------------------------------------------------------------------

def test_terms_are_those_of_libpfm_4() -> None:
    """Every name of the shipped table gives the attributes that libpfm 4 has for it."""
    for cpu in CPUS:
        rows = [row for found in load(cpu, None).values() for row in found if not row.is_zero]
        for term in {t for row in rows for t in row.terms}:
            made = Perf().encode(term).attr
            assert attributes(term) == {name: made[name] for name in ("type", "config")}, term
    assert attributes("rFFFFffff00000001") == {"type": 4, "config": 0xffffffff00000001}


# ---- counting from Python -----------------------------------------------------------------------------------

def test_without_hardware_counters() -> None:
    """The shipped map, on whatever machine this is."""
    from pypfm.perfex.backends.perf import offers_hardware
    absent = offers_hardware()
    ret = libperfex.start_counters(0, 17)
    if absent:
        assert code(ret) in ("ENODEV", "EACCES")
        with pytest.raises(CountingError, match="Cycles"), pypfm.perfex.counting(0):
            pass
    else:
        assert ret == 0
        cycles, instructions = libperfex.c_longlong(), libperfex.c_longlong()
        assert libperfex.read_counters(0, cycles, 17, instructions) == 0
        assert cycles.value > 0 < instructions.value


@pytest.mark.usefixtures("table")
def test_counting() -> None:
    with pypfm.perfex.counting(0, 26) as c:
        touch(1000)
        inside = c[26]
        touch(1000)
    assert 1000 <= inside < 2000 <= c[26] < 3000
    assert set(c) == {0, 26}
    assert c[0] > 0
    stopped = c[26]
    touch(1000)
    assert c[26] == stopped
    with c:
        touch(100)
    assert 100 <= c[26] < 1000


def test_counting_needs_no_two_counters(tmp_path: Path) -> None:
    """Events 21 and 26 share a counter of the R10000; Linux has more."""
    own = tmp_path / "table.csv"
    own.write_text("cpu,event,perf,quality,note\n,21,minor-faults,exact,\n,26,page-faults,exact,\n")
    with pypfm.perfex.counting(21, 26, perf_table=own) as c:
        touch(1000)
    assert 1000 <= c[21] <= c[26] < 2000


@pytest.mark.usefixtures("table")
def test_counting_is_apart_from_the_library() -> None:
    assert libperfex.start_counters(0, 26) == 0
    with pypfm.perfex.counting() as outer, pypfm.perfex.counting(26) as inner:
        touch(10)
    assert inner[26] >= 10
    assert outer[0] > 0
    faults = libperfex.c_longlong()
    assert libperfex.read_counters(26, faults, 0, libperfex.c_longlong()) == 0
    assert faults.value >= 10


@pytest.mark.usefixtures("table")
def test_errors_of_counting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for wrong in (32, -1, True):
        with pytest.raises(PerfexError, match="is not an event") as refused:
            pypfm.perfex.counting(wrong)
        assert isinstance(refused.value, ValueError)
    for kind in (b"21", 21.0, None):
        with pytest.raises(InvalidTypeError, match="event: expected int"):
            pypfm.perfex.counting(kind)  # type: ignore[arg-type]  # what a user may write
    with pytest.raises(PerfexError, match="'r8000' is not a cpu; r10000, r10000-3, r12000 are"):
        pypfm.perfex.counting(0, cpu="r8000")  # type: ignore[arg-type]  # the same
    with pytest.raises(PerfexError, match="No such file"):
        pypfm.perfex.counting(0, perf_table=tmp_path / "none")
    with pytest.raises(CountingError, match=r"event 21 .*not in the table of perf events") as caught, \
            pypfm.perfex.counting(26, 21):
        pass
    assert isinstance(caught.value, PfmError)
    assert isinstance(caught.value, OSError)
    assert caught.value.errno == errno.ENODEV
    with pypfm.perfex.counting(26) as c:
        with pytest.raises(CountingError, match="counting already"), c:
            pass
        with pytest.raises(KeyError, match="event 5 is not counted; events counted are 26"):
            c[5]
        assert 5 not in c
        assert c.get("x") is None
    monkeypatch.setenv("PERFEX_CPU", "r12000")
    with pypfm.perfex.counting(14) as c:
        pass
    assert c == {14: 0}
    monkeypatch.delenv("PERFEX_PERF_TABLE")
    with pytest.raises(CountingError, match="no generic perf event counts store conditionals"), pypfm.perfex.counting(20):
        pass


@pytest.mark.usefixtures("table")
def test_an_exception_inside() -> None:
    with pytest.raises(ZeroDivisionError), pypfm.perfex.counting(26) as c:  # noqa: PT012 - counts are asked for afterwards
        touch(10)
        1 / 0  # noqa: B018
    assert c[26] >= 10


def test_counters_whose_files_the_program_has_closed() -> None:
    """An error, but not in place of one that is under way."""
    done = run_python("import os, pypfm.perfex\n"
                      "for wrong in (0, 1):\n"
                      "    try:\n"
                      "        with pypfm.perfex.counting(26) as c:\n"
                      "            print(len(c))\n"
                      "            os.closerange(3, 100)\n"
                      "            1 / (1 - wrong)\n"
                      "    except (ArithmeticError, OSError) as error: print(error)\n", PERFEX_PERF_TABLE=str(TABLE))
    message = "r10000 event 26 (Secondary (L2) data cache misses): the descriptor of the counter is closed"
    assert (done.stdout, done.stderr) == (f"1\n{message}\n1\ndivision by zero\n", "")


@pytest.mark.usefixtures("table")
def test_a_child_has_no_counters_of_its_parent() -> None:
    done = run_python("import os, pypfm.perfex\n"
                      "with pypfm.perfex.counting(26) as c:\n"
                      "    if os.fork() == 0:\n"
                      "        try: c[26]\n"
                      "        except OSError as error: print(error, flush=True)\n"
                      "        os._exit(0)\n"
                      "    os.wait()\n"
                      "print(c[26] > 0)\n", PERFEX_PERF_TABLE=str(TABLE))
    assert (done.stdout, done.stderr) == ("these counters are the parent process's\nTrue\n", "")


def test_a_child_that_leaves_the_with_does_not_stop_the_parent_s_counters() -> None:
    with pypfm.perfex.counting(26, perf_table=TABLE) as c:
        pid = os.fork()
        if pid == 0:
            try:
                c.close()
            except CountingError:
                os._exit(0 if len(c) == 0 else 1)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        touch(1000)
    assert c[26] >= 1000


def test_the_command_imports_none_of_it() -> None:
    done = run_python("import sys, pypfm.perfex, pypfm.cli.perfex\nprint([m for m in sys.modules if 'libperfex' in m])")
    assert done.stdout == "[]\n"


@pytest.mark.usefixtures("table")
def test_counts_say_what_they_are() -> None:
    made = pypfm.perfex.counting(26, 0)
    assert repr(made) == "<Counting of r10000 events 26, 0: not counted>"
    with made:
        assert repr(made).endswith(": counting>")
    assert repr(made).endswith(": counted>")
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="counters are of one process: not copied or pickled"):
            copied(made)
