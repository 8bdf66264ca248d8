"""The perf backend, with events that every kernel can count."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import run_python
from native import CC, build
from perfex_runs import GOLDEN, HEAD, PERFEX, compile_c, counted, counts, environment, perfex, refused
from pypfm.common.counting import Count
from pypfm.common.launch import Command
from pypfm.errors import CountingError
from pypfm.perfex import counting, events, host, perf_table
from pypfm.perfex.backends import choose, names, perf
from pypfm.perfex.model import CPUS, Measurement, PerfexError, Request
from pypfm.perfex.report import Report
from tools import needs, needs_flags

HARDWARE = perf.offers_hardware() == 0
NO_HARDWARE = "the kernel offers no hardware counters here"


def faults(*args: object, **options: object) -> int:
    found = counts(counted(*args, **options))[25]
    assert found is not None
    return found


# ---- what is counted ----------------------------------------------------------------

def test_pages_are_counted(perf_table: Path, toucher: Path) -> None:
    base = faults("--perf-table", perf_table, "-e", "25", toucher, 0)
    assert base < 400, "perfex itself is counted"
    for pages in (1000, 5000):
        found = faults("--perf-table", perf_table, "-e", "25", toucher, pages) - base
        assert pages - 10 <= found <= pages + 10


def test_the_kernels_faults_are_counted_with_k(perf_table: Path, tmp_path: Path) -> None:
    """read() fills fresh pages: these faults are the kernel's."""
    program = compile_c(tmp_path, "kernel", r"""
        #include <fcntl.h>
        int main(void) {
            const size_t size = 1000 * 4096;
            char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            madvise(p, size, MADV_NOHUGEPAGE);
            return read(open("/dev/zero", O_RDONLY), p, size) < 0;
        }""")
    if perfex("--perf-table", perf_table, "-k", "true").returncode:
        pytest.skip("the kernel may not be counted here (perf_event_paranoid)")
    user = faults("--perf-table", perf_table, "-e", "25", program)
    both = faults("--perf-table", perf_table, "-k", "-e", "25", program)
    assert both - user >= 900


def test_three_levels_of_processes(perf_table: Path, tmp_path: Path) -> None:
    program = compile_c(tmp_path, "levels", """
        static int level(int left) {
            touch(1000);
            pid_t child = left ? fork() : -1;
            if (child == 0) _exit(level(left - 1));
            return child > 0 ? waitpid(child, 0, 0) < 0 : 0;
        }
        int main(void) { return level(3); }""")
    assert 4000 <= faults("--perf-table", perf_table, "-e", "25", program) < 4800


def test_children_that_nobody_waits_for_are_counted(perf_table: Path, tmp_path: Path) -> None:
    program = compile_c(tmp_path, "unwaited", """
        int main(void) {
            int done[2]; char c;
            if (pipe(done)) return 1;
            signal(SIGCHLD, SIG_IGN);
            if (fork() == 0) { close(done[0]); touch(2000); _exit(0); }
            close(done[1]);
            return read(done[0], &c, 1) != 0;
        }""")
    assert 2000 <= faults("--perf-table", perf_table, "-e", "25", program) < 2600


def test_static_programs_are_counted(perf_table: Path, tmp_path: Path) -> None:
    program = tmp_path / "static"
    build(needs_flags(CC, "-static"), "-static", "-x", "c", "-", "-o", program, source=HEAD + "int main(void) { touch(500); return 0; }")
    assert 500 <= faults("--perf-table", perf_table, "-mp", "-e", "25", program) < 800


# ---- threads --------------------------------------------------------------------------

def test_processors_without_sysfs(perf_table: Path, toucher: Path) -> None:
    """In a chroot or a container that has no /sys the same processors are found, and threads are counted."""
    program = """if True:
        import pathlib, sys
        from pypfm.perfex.backends import perf
        there = perf.online()
        perf.online.cache_clear()
        perf.ONLINE = pathlib.Path("/no/sysfs")
        assert perf.online() == there != (), there
        from pypfm.cli.perfex import main
        sys.exit(main(sys.argv[1:]))"""
    done = run_python(program, "--perf-table", perf_table, "-mp", "-e", "25", toucher, 500)
    assert done.returncode == 0, done.stderr
    assert "No such file" not in done.stderr
    assert "25 Primary (L1) data cache misses" in done.stderr


THREADS = """
    static void *work(void *n) { touch(100 * (size_t)n); return 0; }
    int main(int n, char **v) {
        pthread_t t[2000];
        const int count = atoi(v[1]);
        (void)n;
        for (long i = 1; i < count; i++) if (pthread_create(&t[i], 0, work, (void *)(i % 8))) abort();
        work((void *)8);
        for (int i = 1; i < count; i++) pthread_join(t[i], 0);
        return 0;
    }"""


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("threads"), "threads", THREADS)


def rows_of(data: dict[str, object], event: int) -> dict[int, int]:
    threads = data["threads"]
    assert isinstance(threads, list)
    return {t["tid"]: e["count"] for t in threads for e in t["events"] if e["event"] == event}


def test_eight_threads_have_eight_rows(perf_table: Path, threads: Path) -> None:
    data = counted("--perf-table", perf_table, "-mp", "-y", "-e", "25", threads, 8)
    for event in (25, 0):
        assert len(rows_of(data, event)) == 8
        assert sum(rows_of(data, event).values()) == counts(data)[event]
    first, *others = rows_of(data, 25).values()
    assert 800 <= first < 1300
    assert [round(n, -2) for n in sorted(others)] == [100 * i for i in range(1, 8)]
    assert len({t["pid"] for t in data["threads"]}) == 1
    assert data["threads"][0]["pid"] == data["threads"][0]["tid"]


@pytest.mark.slow
def test_very_many_threads_add_up(perf_table: Path, threads: Path) -> None:
    data = counted("--perf-table", perf_table, "-mp", "-e", "25", threads, 1000)
    rows = rows_of(data, 25)
    assert sum(rows.values()) == counts(data)[25]
    lost = [n for n in data["notes"] if "lost" in n]
    assert len(rows) == 1000 or lost
    assert len(rows) > 500


def test_records_that_are_lost_are_said_and_their_counts_are_not(perf_table: Path, tmp_path: Path) -> None:
    """Threads end while perfex is stopped, more than the kernel's memory of records has room for."""
    program = compile_c(tmp_path, "stopping", """
        static void *work(void *n) { touch(1); return n; }
        int main(void) {
            pthread_t t;
            kill(getppid(), SIGSTOP);
            for (int i = 0; i < 8000; i++) { if (pthread_create(&t, 0, work, 0)) abort(); pthread_join(t, 0); }
            kill(getppid(), SIGCONT);
            return 0;
        }""")
    data = counted("--perf-table", perf_table, "-mp", "-e", "25", program)
    rows = rows_of(data, 25)
    assert len(rows) < 8001
    assert [note.split(" ", 1)[1] for note in data["notes"]] == [
        "records of ended threads were lost; the command's first thread has their counts"]
    assert sum(rows.values()) == counts(data)[25]
    assert (counts(data)[25] or 0) >= 8000


def test_threads_of_several_processes(perf_table: Path, threads: Path) -> None:
    data = counted("--perf-table", perf_table, "-mp", "-e", "25", "sh", "-c", f"{threads} 4; {threads} 4")
    pids = [t["pid"] for t in data["threads"]]
    assert len(pids) == 9
    assert sorted(pids.count(p) for p in set(pids)) == [1, 4, 4]
    assert sum(rows_of(data, 25).values()) == counts(data)[25]


def test_a_first_thread_that_ends_before_the_others(perf_table: Path, tmp_path: Path) -> None:
    program = compile_c(tmp_path, "early", """
        static void *work(void *n) { usleep(300000); touch(100 * (size_t)n); return 0; }
        int main(void) {
            pthread_t t;
            for (long i = 1; i < 4; i++) if (pthread_create(&t, 0, work, (void *)i)) abort();
            pthread_exit(0);
        }""")
    data = counted("--perf-table", perf_table, "-mp", "-e", "25", program)
    others = sorted(rows_of(data, 25).values())
    assert len(others) == 4
    assert {100, 200, 300} <= {round(n, -2) for n in others}


def test_files_of_threads(perf_table: Path, threads: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert perfex("--perf-table", perf_table, "--json", "-mp", "-e", "25", "-o", out, threads, 4).returncode == 0
    names = sorted(p.name for p in tmp_path.iterdir())
    assert len(names) == 5, names
    assert names[0] == "out"
    pids = {name.split(".")[1] for name in names[1:]}
    assert len(pids) == 1
    assert {name.split(".")[2] for name in names[1:]} > pids
    total = perfex("--merge", out).stdout
    assert perfex("--merge", *tmp_path.iterdir()).stdout == total
    assert "only files of threads" in refused("--merge", *(p for p in tmp_path.iterdir() if p != out))


def test_more_counters_than_open_files(perf_table: Path) -> None:
    """perfex takes the limit as high as it goes; the command keeps its own."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    done = perfex("--perf-table", perf_table, "-mp", "-a", "sh", "-c", "ulimit -n",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, hard)))
    assert (done.returncode, done.stdout) == (0, "20\n")


@pytest.mark.parametrize("count", [1, 2, 6, 7, 8, 20, 33, 100])
def test_memory_for_records(count: int) -> None:
    """What a user may lock is enough for all events of one processor; one page each, at worst."""
    pages = perf.ring_pages(count)
    assert pages in {1, 2, 4, 8, 16}
    assert pages == 1 or count * (pages + 1) * 4096 <= perf.LOCKED < (516 << 10)
    assert pages == 16 or count * (2 * pages + 1) * 4096 > perf.LOCKED


def test_the_total_of_threads_of_which_one_had_no_counter() -> None:
    """A sum without that thread would be too small, and nothing would say so."""
    event = events.table("r10000")[26]
    whole, first, none = (Measurement(event, count, "exact", share)
                          for count, share in ((150, 0.66), (100, 1.0), (None, 0.0)))
    assert perf.total_of_threads(whole, [first, first]).count == 200
    assert perf.total_of_threads(whole, [first, none]) == whole
    assert perf.total_of_threads(whole, []) == whole


def test_memory_for_records_that_the_kernel_refuses() -> None:
    """Three pages are no power of 2; nothing stays open."""
    request = Request(("true",), per_thread=True)
    command = Command(request.command)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(CountingError, match="task-clock: "):
        perf.ThreadCounter(perf.attribute("task-clock", request), command.pid, "task-clock", 3)
    assert os.listdir("/proc/self/fd") == before
    command.cancel()


@pytest.mark.parametrize(("more", "message"), [
    (0, "no process can be made: Too many open files"), (4, "perf: Too many open files")])
def test_no_files_left(more: int, message: str, perf_table: Path) -> None:
    """First there is no pipe for the command, then no counter for it; the command does not stay behind."""
    done = run_python(f"""
import os, pathlib, resource
from pypfm.errors import PfmError
from pypfm.perfex.model import Request
from pypfm.perfex.backends.perf import PerfBackend
request = Request(("touch", "never"), events=(25, 26, 10), perf_table=pathlib.Path({str(perf_table)!r}))
backend = PerfBackend()
backend.check(request)
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
limit = len(os.listdir("/proc/self/fd")) - 1 + {more}
hard = limit if {more} else hard  # perfex raises its limit as far as it may
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
try:
    backend.run(request)
except PfmError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none")
""")
    assert re.fullmatch(f"{message}\nnone\n", done.stdout), done
    assert not Path("never").exists()


def test_run_checks_what_has_not_been_checked(perf_table: Path, toucher: Path) -> None:
    request = Request((str(toucher), "1000"), events=(25,), perf_table=perf_table)
    assert (perf.PerfBackend().run(request).measurements[0].count or 0) >= 1000
    backend = perf.PerfBackend()
    backend.check(request)
    with pytest.raises(PerfexError, match="No such file"):
        backend.run(replace(request, perf_table=perf_table.with_name("nosuch")))


# ---- -s and -p --------------------------------------------------------------------------

GATED = """
    int main(void) {
        const pid_t up = getppid();
        touch(1000);
        kill(up, SIGUSR1); usleep(400000); touch(200);
        kill(up, SIGUSR2); usleep(400000); touch(3000);
        kill(up, SIGUSR1); usleep(400000); touch(400);
        if (fork() == 0) { touch(5000); _exit(0); }
        wait(0);
        return 3;
    }"""


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("gated"), "gated", GATED)


def test_windows_between_signals_add_up(perf_table: Path, gated: Path) -> None:
    assert 600 <= faults("--perf-table", perf_table, "-s", "-e", "25", gated, status=3) < 750


def test_samples(perf_table: Path, gated: Path) -> None:
    data = counted("--perf-table", perf_table, "-p", "50", "-e", "25", gated, status=3)
    samples = data["samples"]
    assert len(samples) >= 2
    times = [s["seconds"] for s in samples]
    assert times == sorted(times)
    assert times[0] >= 0.05
    series = [s["counts"][0]["count"] for s in samples]
    assert series == sorted(series)
    assert series[0] <= 200 + 50
    assert 600 <= counts(data)[25] < 750


@pytest.mark.slow
def test_samples_as_text_and_csv(perf_table: Path, gated: Path) -> None:
    lines = perfex("--perf-table", perf_table, "-p", "50", "-e", "25", gated).stderr.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("perfex: "))
    assert first >= 2
    assert all(line.startswith("sample ") and "s  25=" in line and "  0=" in line for line in lines[:first])
    lines = perfex("--perf-table", perf_table, "-p", "50", "--csv", "-e", "25", gated).stderr.splitlines()
    assert lines[0].startswith("kind,pid,tid,seconds,event")
    assert lines[1].startswith("sample,,,0.")


def test_without_a_signal_nothing_is_counted(perf_table: Path, toucher: Path) -> None:
    data = counted("--perf-table", perf_table, "-s", "-e", "25", toucher, 100)
    assert counts(data) == {25: 0, 0: 0}
    assert data["notes"] == ["no SIGUSR1 came: nothing was counted"]


def test_a_signal_before_the_command_is_started_counts(perf_table: Path, toucher: Path) -> None:
    def signalled() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        os.kill(os.getpid(), signal.SIGUSR1)

    assert faults("--perf-table", perf_table, "-s", "-e", "25", toucher, 1000, preexec_fn=signalled) >= 900


def test_signals_do_not_end_perfex(perf_table: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do kill -USR1 $PPID; kill -USR2 $PPID; done; exit 7"
    assert perfex("--perf-table", perf_table, "-s", "sh", "-c", script).returncode == 7


# ---- the map of events ------------------------------------------------------------------

def test_what_is_not_in_the_table_is_not_available(perf_table: Path) -> None:
    text = perfex("--perf-table", perf_table, "-a", "-y", "true").stderr
    assert "  1 Issued instructions..................." in text
    data = counted("--perf-table", perf_table, "-a", "-y", "true")
    assert {e["event"] for e in data["events"] if e["count"] is not None} == {0, 10, 16, 25, 26}
    assert {e["quality"] for e in data["events"] if e["count"] is None} == {"unavailable"}
    assert all(e["note"] for e in data["events"] if e["count"] is None)
    # No instructions, loads, stores; and page faults stand for both kinds of misses, so that their ratio says nothing.
    assert data["statistics"] == []


def test_r12000_event_14_is_0_by_definition() -> None:
    rows = perf_table.load("r12000", None)[14]
    assert [(r.is_zero, r.quality, r.note) for r in rows] == [(True, "exact", "0 by definition on the R12000")]


def test_a_zero_of_any_quality_is_a_count(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("cpu,event,perf,quality,note\n,14,0,exact,by definition\n,30,0,modelled,nearly\n")
    data = counted("--perf-table", tmp_path / "t", "-e", "14", "-e", "30", "true")
    assert [(e["count"], e["quality"]) for e in data["events"]] == [(0, "exact"), (0, "modelled")]


def test_terms_are_added_up_and_rows_tried_in_order(tmp_path: Path, toucher: Path) -> None:
    (tmp_path / "t").write_text("cpu,event,perf,quality,note\n"
                                ",25,page-faults+minor-faults,approximate,twice\n"
                                "r12000,25,r1ffffffffffff,exact,no such\nr12000,25,page-faults,exact,second row\n")
    twice = counted("--perf-table", tmp_path / "t", "-e", "25", toucher, 1000)
    assert 2000 <= (counts(twice)[25] or 0) < 2600
    assert twice["events"][0]["note"] == "twice"
    assert counts(twice)[0] is None
    once = counted("--cpu", "r12000", "--perf-table", tmp_path / "t", "-e", "25", toucher, 1000)
    if not HARDWARE:
        assert 1000 <= (counts(once)[25] or 0) < 1300
        assert once["events"][0]["note"] == "second row"


def test_every_event_has_a_row_and_every_row_an_event() -> None:
    for cpu in CPUS:
        table = perf_table.load(cpu, None)
        assert sorted(table) == list(range(events.NUM_EVENTS))
        for rows in table.values():
            assert rows
            assert all(row.note for row in rows if row.quality in ("unavailable", "approximate"))


def attributes_of_rows() -> dict[str, str]:
    """struct perf_event_attr of each perf event of the table, in each way of counting, as hexadecimal digits."""
    ways = {"": Request(("true",)), " -k": Request(("true",), kernel=True), " -mp": Request(("true",), per_thread=True),
            " -s": Request(("true",), gated=True)}
    shipped = [row for cpu in CPUS for rows in perf_table.load(cpu, None).values() for row in rows]
    terms = sorted({term for row in shipped if not row.is_zero for term in row.terms})
    return {f"{term}{way}": perf.attribute(term, request).hex() for term in terms for way, request in ways.items()}


def test_attributes_of_every_row_are_as_recorded() -> None:
    recorded = json.loads((GOLDEN / "attributes.json").read_text(encoding="ascii"))
    assert attributes_of_rows() == recorded


def test_recorded_attributes_are_what_the_kernel_documents() -> None:
    """Two of them by hand: type, size, config, and the bits that perf_event_open(2) numbers."""
    recorded = json.loads((GOLDEN / "attributes.json").read_text(encoding="ascii"))

    def fields(name: str) -> tuple[int, int, int]:
        data = bytes.fromhex(recorded[name])
        assert len(data) == 128
        return (int.from_bytes(data[0:4], "little"), int.from_bytes(data[8:16], "little"),
                int.from_bytes(data[40:48], "little"))

    inherit, exclude_kernel, exclude_hv, inherit_stat, enable_on_exec = 1 << 1, 1 << 5, 1 << 6, 1 << 11, 1 << 12
    assert fields("CYCLES") == (0, 0, inherit | exclude_kernel | exclude_hv | enable_on_exec)
    assert fields("CYCLES -k") == (0, 0, inherit | exclude_hv | enable_on_exec)
    name = "PERF_COUNT_HW_CACHE_L1D:WRITE:MISS"
    assert fields(f"{name} -mp") == (
        3, 0x10100, inherit | inherit_stat | exclude_kernel | exclude_hv | enable_on_exec)
    assert fields(f"{name} -s") == (3, 0x10100, exclude_kernel | exclude_hv)


# ---- hardware ----------------------------------------------------------------------------

def test_scaling() -> None:
    event = events.table("r10000")[25]
    source = perf.Source(event, ("a", "b"), "exact", "")
    whole = source.measurement({"a": Count(10, 100, 100), "b": Count(5, 100, 100)})
    assert (whole.count, whole.quality, whole.share) == (15, "exact", 1.0)
    part = source.measurement({"a": Count(10, 100, 25), "b": Count(5, 100, 100)})
    assert (part.count, part.quality, part.share) == (45, "approximate", 0.25)
    none = source.measurement({"a": Count(0, 100, 0), "b": Count(5, 100, 100)})
    assert (none.count, none.quality, none.share) == (None, "unavailable", 0.0)
    never_on = source.measurement({"a": Count(0, 0, 0), "b": Count(0, 0, 0)})
    assert (never_on.count, never_on.share) == (0, 1.0)


@pytest.mark.skipif(HARDWARE, reason="the kernel offers hardware counters: the refusal cannot be seen")
def test_no_hardware_counters_is_one_line() -> None:
    assert refused("--backend", "perf", "-e", "0", "true") == (
        "perfex: perf: cycles: no such counter on this machine (hardware counters are rare in virtual machines;"
        " software events need none);"
        " --backend valgrind simulates the events\n")


@pytest.mark.skipif(HARDWARE, reason="the kernel offers hardware counters: the refusal cannot be seen")
def test_without_hardware_counters_a_region_says_what_would_count() -> None:
    with pytest.raises(CountingError, match=r"event 0 \(Cycles\): no such counter .*; under perfex --backend valgrind it is sim"):
        counting(0).__enter__()


@pytest.mark.skipif(not HARDWARE, reason=NO_HARDWARE)
def test_hardware_counters(toucher: Path) -> None:
    data = counted("--backend", "perf", "-a", "-y", toucher, 1000)
    by_event = counts(data)
    assert (by_event[0] or 0) > 0
    assert (by_event[15] or 0) > 0
    assert all(0 < e["share"] <= 1 for e in data["events"] if e["count"] is not None)
    assert data["clock"]["source"].startswith("measured")


@pytest.mark.skipif(not HARDWARE, reason=NO_HARDWARE)
def test_auto_takes_hardware_counters() -> None:
    data = counted("true")
    assert (data["backend"], data["why"]) == ("perf", "the kernel offers hardware counters")


def test_where_the_kernel_counts_cycles_perf_is_taken(monkeypatch: pytest.MonkeyPatch, toucher: Path) -> None:
    """The kernel's own clock stands in for the cycles, so that this is seen on every machine."""
    monkeypatch.setattr(perf, "_CYCLES", "TASK-CLOCK")
    assert perf.offers_hardware() == 0
    request = Request((str(toucher), "1"), events=(15,))
    backend, why = choose("auto", request)
    assert (backend.name, why) == ("perf", "the kernel offers hardware counters")
    assert backend.run(request).status == 0


@pytest.mark.skipif(HARDWARE, reason="the kernel offers hardware counters: the choice cannot be seen")
def test_where_the_kernel_does_not_a_simulation_is_taken() -> None:
    needs("valgrind")
    backend, why = choose("auto", Request(("true",)))
    assert (backend.name, why) == (
        "valgrind", "a simulation; perf: no such counter on this machine (hardware counters are rare in virtual machines;"
                    " software events need none)")


# ---- the clock ------------------------------------------------------------------------------

def test_the_clock_is_measured_given_or_the_default(perf_table: Path, tmp_path: Path) -> None:
    """The table counts nanoseconds in place of cycles: 1000 MHz."""
    data = counted("--perf-table", perf_table, "-y", "true")
    assert data["clock"]["source"] == "measured: cycles by task-clock"
    assert 900 < data["clock"]["MHz"] < 1200
    assert counted("--perf-table", perf_table, "-y", "--clock", "250.5", "true")["clock"] == {
        "MHz": 250.5, "source": "given"}
    (tmp_path / "t").write_text("cpu,event,perf,quality,note\n,25,page-faults,exact,\n")
    for cpu, clock in (("r10000", 196.0), ("r10000-3", 196.0), ("r12000", 300.0)):
        assert counted("--perf-table", tmp_path / "t", "-y", "--cpu", cpu, "true")["clock"] == {
            "MHz": clock, "source": f"the default of the {cpu}"}


def test_times_are_counts_by_costs(perf_table: Path, tmp_path: Path, toucher: Path) -> None:
    (tmp_path / "costs").write_text("25 clks 10 5 20\n0 nsec 1 1 1\n")
    data = counted("--perf-table", perf_table, "-y", "-c", tmp_path / "costs", "--clock", "100", "-e", "25", toucher, 5000)
    faults = counts(data)[25]
    assert faults
    by_event = {e["event"]: e["seconds"] for e in data["events"]}
    assert by_event[25] == pytest.approx({"typical": faults * 1e-7, "minimum": faults * 5e-8, "maximum": faults * 2e-7})
    typical = [e["seconds"]["typical"] for e in data["events"]]
    assert typical == sorted(typical, reverse=True)


def test_kinds_of_cpus(tmp_path: Path) -> None:
    assert perf.cpu_kinds(tmp_path) == []
    for name in ("cpu", "cpu_atom", "cpu_core"):
        (tmp_path / name).mkdir()
    assert perf.cpu_kinds(tmp_path) == []
    (tmp_path / "cpu_atom" / "cpus").write_text("8-15\n")
    (tmp_path / "cpu_core" / "cpus").write_text("0-7\n")
    assert perf.cpu_kinds(tmp_path) == ["cpu_atom", "cpu_core"]


def test_a_run_leaves_no_processes(perf_table: Path) -> None:
    """A command that cannot be executed has been waited for."""
    script = f"{PERFEX} --perf-table {perf_table} nosuch; ps -o stat= --ppid $$ | grep -c Z; true"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environment())
    assert done.stdout == "0\n"


# ---- times ------------------------------------------------------------------------

def test_times_of_the_command_and_what_it_waited_for(perf_table: Path, tmp_path: Path) -> None:
    """A child computes for 0.3 s of processor time, and its parent sleeps meanwhile; another one is not waited for."""
    program = compile_c(tmp_path, "computes", """
        #include <time.h>
        static void spin(double s) { while (clock() < s * CLOCKS_PER_SEC) ; }
        int main(int argc, char **argv) {
            if (fork() == 0) { spin(0.3); _exit(0); }
            usleep(400000);
            if (argc > 1) wait(NULL);
            raise(SIGTERM);
        }""")
    waited, left = (counted("--perf-table", perf_table, program, *more, status=143) for more in (["wait"], []))
    for data in (waited, left):
        assert data["ended_by"] == "SIGTERM"
        assert data["times"]["of"] == "command"
        assert 0.4 <= data["times"]["wall"] < 30
    assert 0.3 <= waited["times"]["user"] + waited["times"]["system"] < waited["times"]["wall"] * 4
    assert left["times"]["user"] + left["times"]["system"] < 0.25


def test_times_in_every_mode_and_format(perf_table: Path) -> None:
    for mode in ([], ["-mp"], ["-s"], ["-p", "50"]):
        assert counted("--perf-table", perf_table, *mode, "sleep", "0.1")["times"]["wall"] >= 0.1, mode
    assert re.search(r"^time: 0\.[1-9]\d\d s, user \d\.\d{3} s, system \d\.\d{3} s$",
                     perfex("--perf-table", perf_table, "sleep", "0.1").stderr, re.MULTILINE)
    assert re.search(r"^run,,,,,times_of,command,+\nrun,,,,,wall,0\.[1-9]",
                     perfex("--perf-table", perf_table, "--csv", "sleep", "0.1").stderr, re.MULTILINE)


# ---- names of threads ---------------------------------------------------------------

NAMED = """
    #include <sys/prctl.h>
    static void *work(void *name) { if (name) prctl(PR_SET_NAME, name); return 0; }
    int main(void) {
        pthread_t t;
        pthread_create(&t, 0, work, "its own\\nname"); pthread_join(t, 0);
        pthread_create(&t, 0, work, 0); pthread_join(t, 0);
        if (fork() == 0) _exit(0);
        wait(0);
        if (fork() == 0) { if (fork() == 0) execl("/bin/sleep", "sleep", "0", (char *)0); wait(0); _exit(0); }
        wait(0);
        raise(SIGSEGV);
    }"""


def test_threads_have_the_names_of_their_programs(perf_table: Path, tmp_path: Path) -> None:
    program = compile_c(tmp_path, "a_long_name_of_a_program", NAMED)
    data = counted("--perf-table", perf_table, "-mp", "-e", "25", program, status=139)
    ours = "a_long_name_of_"
    assert sorted(t["program"] for t in data["threads"]) == sorted(["its own\nname", "sleep", *[ours] * 4])
    first = next(t for t in data["threads"] if t["pid"] == t["tid"])
    assert first["program"] == ours


def test_files_of_threads_have_the_program_and_the_signal(perf_table: Path, tmp_path: Path) -> None:
    """In each form: test_perfex_report.py's `test_files_of_threads`."""
    program = compile_c(tmp_path, "named", NAMED)
    out = tmp_path / "out"
    perfex("--perf-table", perf_table, "-mp", "-o", out, "-e", "25", program)
    files = [path for path in tmp_path.glob("out.*") if re.fullmatch(r"out\.\d+\.\d+", path.name)]
    assert len(files) == 6
    texts = [path.read_text() for path in files]
    assert all("SIGSEGV" in text and "\ntime: " in text for text in texts)
    assert sum("sleep" in text for text in texts) == 1
    assert sum("its own\\nname" in text for text in texts) == 1
    assert "SIGSEGV" in out.read_text()


def test_no_memory_for_names_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused_ring(_event: object, _pages: int) -> None:
        raise CountingError(1, "no ring")

    monkeypatch.setattr(names.PerfEvent, "ring", refused_ring)
    made = names.Names(os.getpid(), "/bin/some-program-or-other", perf.online(), 1)
    assert (made.fds(), made.known()) == ([], {os.getpid(): "some-program-or"})


# ---- lines of the caches --------------------------------------------------------------

def test_bandwidths_have_the_lines_of_this_host(perf_table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = perf_table.with_name("lines.csv")
    table.write_text(perf_table.read_text() + ",7,0,exact,none\n,22,0,exact,none\n")
    request = Request(("true",), events=tuple(range(32)), multiplex=True, estimates=True, clock=1000.0, perf_table=table)
    name = "Primary-to-secondary bandwidth used (MB/s, average per process)"
    found = {}
    for line in (64, 128, 0):
        monkeypatch.setattr(host, "caches", lambda line=line: host.Caches(line=line, last_line=line))
        outcome = perf.PerfBackend().run(request)
        assert outcome.lines == (line, line)
        counts = {m.event.index: m.count for m in outcome.measurements}
        statistics = {s.name: s.value for s in Report(request, outcome, {}).statistics()}
        if line:
            assert statistics[name] == pytest.approx((counts[25] or 0) * line / (counts[0] or 1) * 1000)
        found[line] = name in statistics, [note for note in outcome.notes if "line sizes" in note]
    assert found[64] == found[128] == (True, [])
    assert found[0] == (False, ["the line sizes of this host's caches are not known: no bandwidths"])
