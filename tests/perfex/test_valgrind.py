"""The valgrind backend on programs whose counts are known."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, clean_env, run_python
from native import CC, build
from pypfm.perfex.backends.simulation import formulas
from pypfm.perfex.backends.valgrind.backend import ValgrindBackend
from pypfm.perfex.model import CPUS, Cpu, Outcome, PerfexError, Request, Sample
from pypfm.perfex.signals import NEVER_ON
from terminal import run_on_terminal

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PERFEX = Path(sys.executable).with_name("perfex")
MIB = 1 << 20
ALL = tuple(range(32))
COUNTS = re.findall(r"^\tX\((\w+), ", (ROOT / "csrc/perfex/tool/r10k.h").read_text(), re.MULTILINE)
needs_valgrind = pytest.mark.needs("valgrind")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("programs") / "program"
    build(CC, "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", HERE / "programs.c", "-o", out)
    return str(out)


def run(*command: object, **request: Any) -> Outcome:
    return ValgrindBackend().run(Request(tuple(map(str, command)), **request))


def counts(*command: object, events: tuple[int, ...], **request: Any) -> list[int]:
    """The counts of a run."""
    outcome = run(*command, events=events, **request)
    assert [m.event.index for m in outcome.measurements] == list(events)
    assert outcome.notes == ()
    return [m.count for m in outcome.measurements if m.count is not None]


def difference(more: list[int], less: list[int]) -> list[int]:
    return [m - n for m, n in zip(more, less, strict=True)]


def perfex(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PERFEX, "--backend", "valgrind", *map(str, words)], capture_output=True, text=True, timeout=300, **options)


@pytest.mark.parametrize(("cpu", "fine"), list(product(CPUS, (False, True))))
def test_every_event_has_a_row(cpu: Cpu, fine: bool) -> None:
    known = {*COUNTS, "cycles", "occupancy"}
    rows = formulas.rows(cpu, fine=fine)
    assert len(rows) == 32
    for row in rows:
        assert row.names <= known
        assert (row.quality == "unavailable") == (row.source == "")
        assert row.quality in ("exact", "simulated") or row.note
        assert row.value(dict.fromkeys(known, 1)) == (
            {"": None, "0": 0, "Ir-Ni": 0}.get(row.source, row.source.count("+") + 1))
    unknown = [event for event, row in enumerate(rows) if row.quality == "unavailable"]
    assert unknown == ([8] if fine else [8, 12, 13, 28, 29, 31])


def test_a_formula_is_sums_differences_and_products() -> None:
    assert formulas.Row("Dr * 3 + Dw - Ir", "exact", "").value({"Dr": 2, "Dw": 1, "Ir": 4}) == 3
    with pytest.raises(ValueError, match="Dr / Dw"):
        formulas.Row("Dr / Dw", "exact", "").value({"Dr": 2, "Dw": 1})


@needs_valgrind
def test_instructions_and_branches(program: str) -> None:
    """Two instructions and a branch a turn, exactly."""
    more, less = (counts(program, "turns", n, events=(15, 6), cpu="r12000") for n in (300000, 200000))
    assert difference(more, less) == [200000, 100000]


@needs_valgrind
@pytest.mark.parametrize("stride", [16, 64, 256])  # within a line of each cache, and of the secondary one, and of none
@pytest.mark.parametrize("kind", ["read", "write"])
def test_sweeps(program: str, stride: int, kind: str) -> None:
    """Two passes over twice the secondary cache: each line misses each time."""
    size = 2 * MIB
    events = (18 if kind == "read" else 19, 25, 26)
    touched, primary, secondary = difference(*(
        counts(program, kind, size, stride, passes, events=events, l2=MIB) for passes in (2, 0)))
    accesses = -(-size // stride)
    assert touched == pytest.approx(2 * accesses, rel=0.01)
    assert primary == pytest.approx(2 * min(accesses, size / 32), rel=0.01)
    assert secondary == pytest.approx(2 * min(accesses, size / 128), rel=0.01)


@needs_valgrind
@pytest.mark.parametrize(("l2", "passes_that_miss"), [(1, 4), (2, 1)])
def test_secondary_cache_sizes(program: str, l2: int, passes_that_miss: int) -> None:
    """1.75 MiB, four times."""
    size = 7 * MIB // 4
    secondary, _ = difference(*(counts(program, "read", size, 32, passes, events=(26, 10), l2=l2 * MIB) for passes in (4, 0)))
    assert secondary == pytest.approx(passes_that_miss * size / 128, rel=0.01)


@needs_valgrind
def test_write_backs_of_the_secondary_cache(program: str) -> None:
    size = 16 * MIB
    quadwords = difference(*(counts(program, "write", size, 128, passes, events=(7, 26), l2=MIB) for passes in (2, 0)))[0]
    assert quadwords == pytest.approx((2 * size - MIB) / 16, rel=0.01)
    read = difference(*(counts(program, "read", size, 128, passes, events=(7, 26), l2=MIB) for passes in (1, 0)))[0]
    assert read < 4000  # of the start


@needs_valgrind
def test_write_backs_of_the_primary_cache(program: str) -> None:
    """One run gives them together with every other event of the memory."""
    size = 2 * MIB
    events = (15, 18, 19, 22, 25, 26, 7)
    found = dict(zip(events, difference(*(
        counts(program, "write", size, 32, passes, events=events, l2=MIB) for passes in (3, 1))), strict=True))
    assert found[22] == pytest.approx(2 * size / 16, rel=0.01)
    assert found[19] == pytest.approx(2 * size / 32, rel=0.01)
    assert found[25] == pytest.approx(2 * size / 32, rel=0.01)
    assert found[26] == pytest.approx(2 * size / 128, rel=0.01)
    assert found[7] == pytest.approx(2 * size / 16, rel=0.01)
    assert found[18] < 1000
    assert found[15] >= 2 * size / 32


@needs_valgrind
def test_tlb_misses(program: str) -> None:
    """Entries map two pages of 16 KiB: 32 MiB need 1024 of them, 1 MiB fits."""
    misses, _ = difference(*(counts(program, "read", 32 * MIB, 16384, passes, events=(23, 15)) for passes in (4, 0)))
    assert misses == pytest.approx(4 * 1024, rel=0.01)
    once, twice = (counts(program, "read", MIB, 16384, passes, events=(23, 15))[0] for passes in (1, 9))
    assert twice - once < 64  # entries are replaced at random


@needs_valgrind
@pytest.mark.parametrize(("how", "wait"), [("fork", ["wait"]), ("rawfork", [])])
def test_three_levels_of_processes(program: str, wait: list[str], how: str) -> None:
    """What a process had counted before fork() is not its child's, whoever calls the kernel, and whoever waits."""
    more, less = (counts(program, how, n, 3, *wait, events=(15, 22)) for n in (300000, 200000))
    assert difference(more, less)[0] == 4 * 2 * 100000
    alone = counts(program, "turns", 200000, events=(15, 22))[0]
    assert less[0] == pytest.approx(alone + 3 * 400000, rel=0.02)


@needs_valgrind
def test_programs_one_after_the_other(program: str) -> None:
    """All that a process executes counts."""
    found = [run(program, *["exec", program] * n, "turns", 200000, events=(15, 24)) for n in (0, 1, 2)]
    one, two, three = (outcome.measurements[0].count or 0 for outcome in found)
    assert two - one == pytest.approx(three - two, rel=0.01)
    assert two - one > 50000
    for outcome in found:
        assert (outcome.notes, [m.quality for m in outcome.measurements]) == ((), ["exact", "simulated"])


@needs_valgrind
def test_shell(program: str) -> None:
    script = f"{program} turns 300000 & {program} turns 300000 | {program} turns 300000; wait; (exit 3)"
    outcome = run("sh", "-c", script, events=(15, 6))
    assert outcome.status == 3
    assert outcome.measurements[0].count
    assert 3 * 600000 < outcome.measurements[0].count < 3 * 600000 + 1500000


@needs_valgrind
def test_eight_threads(program: str) -> None:
    """A row for each, and for the thread that main() runs in; the totals are their sum."""
    outcome = run(program, "threads", 100000, 8, "together", events=(15, 18, 0), per_thread=True)
    assert len(outcome.threads) == 9
    assert len({t.pid for t in outcome.threads}) == 1
    assert len({t.tid for t in outcome.threads}) == 9
    assert outcome.threads[0].tid == outcome.threads[0].pid
    for i, total in enumerate(outcome.measurements):
        assert total.count == sum(t.measurements[i].count or 0 for t in outcome.threads)
    for i, thread in enumerate(outcome.threads[1:], 1):
        assert thread.measurements[0].count == pytest.approx(i * 200000, rel=0.01)
    plain = run(program, "threads", 100000, 8, "together", events=(15, 18, 0))
    assert plain.measurements[0].count == pytest.approx(outcome.measurements[0].count, rel=0.001)
    assert plain.threads == ()


@needs_valgrind
def test_threads_and_processes(program: str) -> None:
    """A thread that forks: its child has nothing of the other threads."""
    outcome = run(program, "mixed", 300000, events=(15,), per_thread=True)
    found = sorted(t.measurements[0].count or 0 for t in outcome.threads)
    assert len({t.pid for t in outcome.threads}) == 2
    assert found[1:] == pytest.approx([600000] * 3, rel=0.02)
    plain = counts(program, "mixed", 300000, events=(15,))[0]
    assert plain == pytest.approx(sum(found), rel=0.001)


@needs_valgrind
def test_crash(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    outcome = run(program, "segv", events=(15, 22))
    assert outcome.status == 128 + signal.SIGSEGV
    assert outcome.measurements[0].count
    assert capfd.readouterr() == ("", "")


@needs_valgrind
@pytest.mark.parametrize(("number", "killed"), [(signal.SIGKILL, True), (signal.SIGTERM, False)])
def test_killed_child(program: str, number: int, killed: bool) -> None:
    """Its counts end there, and are right."""
    outcome = run(program, "kill", int(number), events=(15, 6))
    assert outcome.status == 0
    assert outcome.measurements[0].quality == "exact"
    assert ["killed, so that their counts end there" in note for note in outcome.notes] == [True] * killed


@needs_valgrind
@pytest.mark.parametrize("soft", [None, 1024])
def test_orphans(program: str, soft: int | None, request: pytest.FixtureRequest) -> None:
    """Nobody waits for it, and it has closed all files; with and without room above the limit of open files."""
    if soft is not None:
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        request.addfinalizer(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, before))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, before[1]), before[1]))
    more, less = (counts(program, "orphan", n, events=(15, 22)) for n in (300000, 200000))
    assert difference(more, less)[0] == 200000


@needs_valgrind
def test_repeatable(program: str) -> None:
    """The same counts in two runs, of several processes too."""
    first, second = (run(program, "fork", 50000, 3, "wait", events=ALL, multiplex=True) for _ in range(2))
    assert first.measurements == second.measurements
    assert first.status == second.status == 0


@needs_valgrind
def test_cycles_are_estimated(program: str) -> None:
    """By the costs of the cpu, or those given."""
    outcome = run(program, "turns", 100000, events=tuple(range(32)), multiplex=True)
    cycles = outcome.measurements[0]
    assert outcome.estimated_cycles
    assert cycles.quality == "modelled"
    n = {m.event.index: m.count or 0 for m in outcome.measurements}
    least = max(n[15] / 4, n[18] + n[19], n[21] / 2, n[6], 3 * n[25] + 160 * 0.196 * n[26])
    assert cycles.low == round(least + 4 * n[9] + 310 * 0.196 * n[10] + 24 * n[23] + 4 * n[24])
    assert cycles.high == round(max(n[15], n[18] + n[19]) + 12 * n[9] + 310 * 0.196 * (n[10] + n[26]) + 10 * n[25]
                                + 146 * n[23] + 14 * n[24])
    assert cycles.count == cycles.low + (cycles.high - cycles.low) // 2
    assert (outcome.clock, outcome.clock_source) == (196.0, "the default of the r10000")
    other = run(program, "turns", 1000, events=(0, 15), cpu="r12000", clock=400.0)
    assert (other.clock, other.clock_source) == (400.0, "given")
    assert run(program, "turns", 1000, events=(15,)).estimated_cycles is False
    assert run(program, "turns", 1000, events=(0,), cpu="r12000").clock == 300.0


@needs_valgrind
def test_passes_everything_through(program: str, tmp_path: Path) -> None:
    """Input, output, errors, exit status, one execution; nothing is left behind."""
    files = tmp_path / "a %p b"
    files.mkdir()
    out = tmp_path / "out"
    done = perfex("-e", "15", "-e", "22", "-o", out, "sh", "-c", 'cat; echo error >&2; echo x >>"$0"; exit 7', tmp_path / "times",
                  input="line\n", cwd=tmp_path, env=os.environ | {"TMPDIR": str(files), "VALGRIND_OPTS": "--nonsense"})
    assert (done.stdout, done.stderr, done.returncode) == ("line\n", "error\n", 7)
    assert (tmp_path / "times").read_text() == "x\n"
    assert "Graduated instructions" in out.read_text()
    assert list(files.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a %p b", "out", "times"]
    assert perfex("-e", "15", "-e", "22", "-o", out, program, "segv", cwd=tmp_path).returncode == 139


@pytest.mark.long
@needs_valgrind
def test_progress_on_a_terminal(tmp_path: Path) -> None:
    """One line, which the report takes the place of; where the command may print, only if it is asked for."""
    command = [PERFEX, "--backend", "valgrind", "-e", "15", "sleep", "3"]
    quiet, _ = run_on_terminal(80, command, cwd=tmp_path, env=clean_env())
    assert "simulating" not in quiet
    assert "\x1b[K" not in quiet
    aside, _ = run_on_terminal(80, ["sh", "-c", '"$@" >out', "sh", *command], cwd=tmp_path, env=clean_env())
    assert "simulating" in aside
    text, status = run_on_terminal(80, [*command[:1], "--progress", *command[1:]], cwd=tmp_path, env=clean_env())
    assert status == 0
    line, report = text.rsplit("\r\x1b[K", 1)
    assert re.match(r"\r\x1b\[Kperfex: simulating process \d+: \d+ s", line)
    assert "Graduated instructions" in report
    assert "simulating" not in report


@needs_valgrind
def test_counting_by_signals(program: str) -> None:
    """-p: what is done before SIGUSR1 does not count; a sample shows that counting has begun."""
    with subprocess.Popen([PERFEX, "--backend", "valgrind", "--csv", "-p", "50", "-e", "15", "-e", "22", program, "phases", "1000000"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "done\n"
        process.send_signal(signal.SIGUSR1)
        head = process.stderr.readline()
        samples = [process.stderr.readline()]
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        process.stdin.close()
        rest = process.stderr.read()
        assert process.wait() == 0
    assert head
    assert samples[0]
    totals = [line for line in rest.splitlines() if "Graduated instructions" in line]
    assert len(totals) == 1
    total = max(int(word) for word in totals[0].split(",") if word.isdigit())
    assert 2000000 <= total < 2100000


@needs_valgrind
def test_counting_that_is_never_switched_on(program: str) -> None:
    """Counting that is never switched on counts nothing."""
    taken: list[Sample] = []
    outcome = run(program, "turns", 1000, events=(15, 22), gated=True, period=10.0, on_sample=taken.append)
    assert [m.count for m in outcome.measurements] == [0, 0]
    assert outcome.samples == ()
    assert outcome.notes == (NEVER_ON,) == ("no SIGUSR1 came: nothing was counted",)
    assert taken == []


@needs_valgrind
@pytest.mark.parametrize(("change", "message"), [
    ({"kernel": True}, "-k: valgrind runs programs in user mode only"),
    ({"command": ()}, "no command"),
    ({"command": ("/nope/x",)}, "no such file"),
    ({"command": ("nope-nope",)}, "not found in PATH"),
    ({"command": ("/etc",)}, "a directory"),
    ({"command": ("/etc/passwd",)}, "not executable"),
    ({"command": ("true", "\0")}, "zero byte"),
    ({"l2": 3 * MIB}, "sizes are 1m, 2m, 4m and 8m"),
    ({"per_thread": True, "gated": True}, "-mp together with -s or -p"),
    ({"cache": "small"}, "^--cache: 'small' is none; r10000, host, "),
])
def test_refused(change: dict[str, Any], message: str) -> None:
    request = replace(Request(("true",), events=(15,)), **change)
    for method in (ValgrindBackend().check, ValgrindBackend().run):
        with pytest.raises(PerfexError, match=message) as caught:
            method(request)
        assert "\n" not in str(caught.value)


@needs_valgrind
def test_kernel_level_without_hardware_counters_runs_nothing(tmp_path: Path) -> None:
    done = subprocess.run([PERFEX, "--backend", "valgrind", "-k", "-e", "15", "touch", tmp_path / "run"], capture_output=True, text=True,
                          check=False, env=clean_env())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "perfex: -k: valgrind runs programs in user mode only; --backend perf counts the kernel\n"
    assert not (tmp_path / "run").exists()


def test_valgrind_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Or fails, or is no program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PerfexError, match="apt-get install valgrind"):
        ValgrindBackend().check(Request(("/bin/true",)))
    for content, said in ((b"#!/bin/sh\necho broken >&2; exit 1\n", r"valgrind does not run: .*broken"),
                          (b"\x7fELF\0\0", r"^valgrind does not run: .*Exec format error")):
        (tmp_path / "valgrind").write_bytes(content)
        (tmp_path / "valgrind").chmod(0o755)
        with pytest.raises(PerfexError, match=said):
            ValgrindBackend().check(Request(("/bin/true",)))


@needs_valgrind
def test_a_program_of_another_machine(tmp_path: Path, program: str) -> None:
    """valgrind would hand it to a shell."""
    head = bytearray(Path(program).read_bytes())
    other = tmp_path / "other"
    for at, value in ((4, 3 - head[4]), (18, head[18] ^ 1)):
        changed = bytearray(head)
        changed[at] = value
        other.write_bytes(changed)
        other.chmod(0o755)
        with pytest.raises(PerfexError, match="not a program for this machine"):
            ValgrindBackend().check(Request((str(other),)))


@needs_valgrind
def test_a_program_that_valgrind_does_not_start(tmp_path: Path, program: str, capfd: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(Path(program).read_bytes()[:64] + bytes(1000))
    broken.chmod(0o755)
    with pytest.raises(PerfexError, match="has not started"):
        run(broken, events=(15, 22))
    assert "broken" in capfd.readouterr().err


@needs_valgrind
def test_valgrind_that_is_ended_before_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dying = tmp_path / "valgrind"
    dying.write_text(f"#!/bin/sh\ncase \"$*\" in *--tool=r10k*) kill -TERM $$;; *) exec {shutil.which('valgrind')} \"$@\";; esac\n")
    dying.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(PerfexError, match="has not started 'true': it was ended by signal 15"):
        run("true", events=(15, 22))


@needs_valgrind
def test_valgrind_that_is_gone_when_the_command_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changing = tmp_path / "valgrind"
    changing.write_text(f"#!/bin/sh\nexec {shutil.which('valgrind')} \"$@\"\n")
    changing.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    ValgrindBackend().check(Request(("true",)))
    changing.write_text("#!/nope/sh\n")
    with pytest.raises(PerfexError, match=r"^valgrind: No such file or directory$"):
        run("true", events=(15,))


@needs_valgrind
def test_no_directory_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nope")
    with pytest.raises(PerfexError, match=r"^no directory for temporary files: No such file or directory \(TMPDIR\)$"):
        run("true", events=(15,))


@needs_valgrind
def test_no_files_left() -> None:
    """The last descriptor is the pipe's by which perfex notices the end; then there is none for the command."""
    done = run_python("""
import os, resource
from pathlib import Path
from pypfm.errors import PfmError
from pypfm.perfex.backends.simulation.command import Descendants, Prepared
from pypfm.perfex.model import Request
from pypfm.perfex.signals import Signals
signals = Signals(gated=False)
free = len(os.listdir("/proc/self/fd")) - 1
resource.setrlimit(resource.RLIMIT_NOFILE, (free + 4, free + 4))
os.dup2(0, free + 3)  # the one that it would take
left = Descendants()
left.started()
print(os.read(left.read, 1))
os.close(left.read)
try:
    Prepared(["true"], Request(("true",)), signals, Path("/"))
except PfmError as error:
    print(error)
""")
    assert done.stdout == "b''\nno process for the command: Too many open files\n", done


@needs_valgrind
def test_killed_command(capfd: pytest.CaptureFixture[str]) -> None:
    """Its child kills it: what it has counted until then is there."""
    command = ("sh", "-c", "(kill -9 $$); :")
    outcome = run(*command, events=(15, 22))
    assert outcome.status == 128 + signal.SIGKILL
    assert (outcome.measurements[0].count or 0) > 10000
    assert ["killed, so that their counts end there: process " in note for note in outcome.notes] == [True]
    outcome = run(*command, events=(15,), gated=True)
    assert outcome.status == 128 + signal.SIGKILL
    assert outcome.notes[0] == NEVER_ON
    assert outcome.measurements[0].count == 0
    assert capfd.readouterr() == ("", "")


@needs_valgrind
def test_the_user_does_not_wait_for_orphans() -> None:
    done = run_python("""
import os, signal, threading
from pypfm.perfex.model import Request
from pypfm.perfex.backends.valgrind.backend import ValgrindBackend
from terminal import run_on_terminal
def progress(line):
    if "left behind" in line:
        print(line)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
command = ("sh", "-c", "sleep 20 >/dev/null 2>&1 & exit 3")
outcome = ValgrindBackend().run(Request(command, events=(15, 22), progress=progress))
print(outcome.status, outcome.measurements[0].count > 10000)
print(*outcome.notes, sep="\\n")
""")
    waiting, result, *notes = done.stdout.splitlines()
    assert waiting == "the command has ended; waiting for processes that it has left behind (^C ends that)"
    assert result == "3 True"
    assert "interrupted before all processes that the command has left behind had ended" in notes


@needs_valgrind
def test_times_and_programs_of_a_simulation(tmp_path: Path) -> None:
    copy = tmp_path / "a b\\c"
    copy.symlink_to("/bin/sleep")
    outcome = run("sh", "-c", f"'{copy}' 0.2; (:); kill -SEGV $$", events=(15,), per_thread=True)
    assert outcome.ended_by == "SIGSEGV"
    assert outcome.times
    assert outcome.times.simulated
    assert outcome.times.wall > 0.2
    assert outcome.times.user > 0.1  # a simulation starts slowly
    assert [t.program for t in outcome.threads].count("sh") == 2
    assert {t.program for t in outcome.threads} == {"sh", "a b\\c"}
