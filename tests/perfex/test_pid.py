"""perfex --pid: counting processes that run already, with events that every kernel counts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from perfex_runs import PERFEX, TABLE, compile_c, counts, environment, perfex, refused
from pypfm.perfex.backends.attach import AttachBackend
from pypfm.perfex.model import PerfexError, Request
from valid import validate

pytestmark = pytest.mark.slow

# Waits for a line, does something, and waits for another one.
BODY = """
static pthread_barrier_t barrier;
static long pages;
static void *there_before(void *unused) {
    pthread_barrier_wait(&barrier);
    touch(pages);
    pthread_barrier_wait(&barrier);
    return unused;
}
static void *made_later(void *unused) { touch(pages); return unused; }
static void wait_for_a_line(void) { char c; while (read(0, &c, 1) == 1 && c != '\\n'); }
int main(int argc, char **argv) {
    pthread_t before, later;
    pages = argc > 1 ? atol(argv[1]) : 0;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&before, NULL, there_before, NULL);
    touch(5000);
    if (argc > 2 && fork() == 0) { wait_for_a_line(); pause(); }
    printf("ready\\n"); fflush(stdout);
    wait_for_a_line();
    touch(pages);
    pthread_create(&later, NULL, made_later, NULL);
    pthread_join(later, NULL);
    pthread_barrier_wait(&barrier); pthread_barrier_wait(&barrier);
    pthread_join(before, NULL);
    if (fork() == 0) { touch(pages); _exit(0); }
    wait(NULL);
    printf("done\\n"); fflush(stdout);
    wait_for_a_line();
    return 5;
}
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture(scope="module")
def toucher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("pid"), "toucher", BODY)


@contextmanager
def running(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready, and killed at the end."""
    process = subprocess.Popen([*map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def say(process: subprocess.Popen[str], answer: str = "") -> None:
    assert process.stdin
    assert process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    if answer:
        assert process.stdout.readline() == answer


def _links(pid: int) -> list[str]:
    """What the descriptors of a process are, but for those that it has closed meanwhile."""
    links = []
    with suppress(FileNotFoundError):
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                links.append(os.readlink(fd))
    return links


def attached(pids: str, table: Path, *options: object) -> subprocess.Popen[str]:
    """perfex, when it counts: a process under the software clock only it has opened counters for."""
    process = subprocess.Popen([PERFEX, "--json", "--perf-table", table, "-e", "25", "-e", "0", "--pid", pids, *options],
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment())
    for _ in range(500):
        if sum("perf_event" in link for link in _links(process.pid)) >= 2:
            time.sleep(0.3)  # all of them, and switched on
            return process
        time.sleep(0.01)
    process.kill()
    raise AssertionError(process.communicate())


def report(process: subprocess.Popen[str], status: int = 0) -> dict[str, Any]:
    _, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    data: dict[str, Any] = json.loads(err)
    validate(data, "perfex")
    return data


def test_until_it_ends(toucher: Path, table: Path) -> None:
    """A thread that was there, one made later and a child: what was done before does not count."""
    with running(toucher, 10000) as target:
        counter = attached(str(target.pid), table)
        say(target, "done\n")
        say(target)
        data = report(counter)
    assert 40000 <= (counts(data)[25] or 0) < 41000
    assert (data["pids"], data["command"], data["why"]) == ([target.pid], [], "--pid")
    assert data["notes"] == ["counted from when perfex attached to the process, not from its beginning"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_until_a_signal(toucher: Path, table: Path, number: int) -> None:
    """The process goes on."""
    with running(toucher, 1000) as target:
        counter = attached(str(target.pid), table)
        say(target, "done\n")
        counter.send_signal(number)
        assert 4000 <= (counts(report(counter))[25] or 0) < 5000
        assert target.poll() is None


def test_as_long_as_a_command_runs(toucher: Path, table: Path) -> None:
    """The command itself is not counted; its status is perfex's."""
    with running(toucher, 1000) as target:
        counter = attached(str(target.pid), table, "sh", "-c", "sleep 2; exit 7")
        say(target, "done\n")
        data = report(counter, 7)
        assert target.poll() is None
    assert 4000 <= (counts(data)[25] or 0) < 5000
    assert data["command"] == ["sh", "-c", "sleep 2; exit 7"]
    with running(toucher, 10) as target:
        counter = attached(str(target.pid), table, "sleep", "2")
        target.kill()
        assert f"process {target.pid} ended before the command" in report(counter)["notes"]
        done = perfex("--perf-table", table, "--pid", os.getpid(), "/nowhere/at all")
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        done = perfex("--perf-table", table, "--pid", os.getpid(), "sh", "-c", "kill -9 $$")
        assert done.returncode == 137


def test_several(toucher: Path, table: Path) -> None:
    """Each once, until the last one ends."""
    with running(toucher, 1000) as first, running(toucher, 2000) as second:
        counter = attached(f"{first.pid},{second.pid},{first.pid}", table)
        say(first, "done\n")
        say(first)
        first.wait()
        time.sleep(0.2)
        assert counter.poll() is None
        say(second, "done\n")
        say(second)
        data = report(counter)
    assert data["pids"] == [first.pid, second.pid]
    assert 12000 <= (counts(data)[25] or 0) < 13000


def test_children_that_were_there(toucher: Path, table: Path) -> None:
    with running(toucher, 1, "child") as target:
        done = perfex("--perf-table", table, "-e", "25", "--pid", target.pid, "true")
        children = Path(f"/proc/{target.pid}/task/{target.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
    assert f"processes that process {target.pid} had made before are not counted" in done.stderr
    assert f"\nprocess: {target.pid}\ncommand: true\n" in done.stderr


def test_signals_and_samples(toucher: Path, table: Path) -> None:
    """-p: from SIGUSR1 to SIGUSR2, with samples."""
    with running(toucher, 3000) as target:
        counter = attached(str(target.pid), table, "-p", "50")
        counter.send_signal(signal.SIGUSR1)
        time.sleep(0.3)
        say(target, "done\n")
        time.sleep(0.2)
        counter.send_signal(signal.SIGUSR2)
        time.sleep(0.2)
        counter.send_signal(signal.SIGINT)
        data = report(counter)
        assert 12000 <= (counts(data)[25] or 0) < 13000
        assert len(data["samples"]) > 3
        counter = attached(str(target.pid), table, "-s")
        say(target)
        assert "no SIGUSR1 came: nothing was counted" in report(counter)["notes"]


def test_a_leader_that_has_ended(tmp_path: Path, table: Path) -> None:
    """A process whose first thread has ended goes on."""
    program = compile_c(tmp_path, "leader", "static void *more(void *x) { printf(\"ready\\n\"); fflush(stdout); getchar(); touch(1000);"
                        " exit(0); return x; }\n"
                        "int main(void) { pthread_t t; pthread_create(&t, NULL, more, NULL); pthread_exit(NULL); }\n")
    with running(program) as target:
        time.sleep(0.2)
        counter = attached(str(target.pid), table)
        say(target)
        assert 1000 <= (counts(report(counter))[25] or 0) < 1500


def test_threads_under_way(tmp_path: Path, table: Path) -> None:
    """All threads of a process that makes some all the time, or one line that says why not."""
    program = compile_c(tmp_path, "busy", "static void *nothing(void *x) { usleep(20000); return x; }\n"
                        "int main(void) { printf(\"ready\\n\"); fflush(stdout); for (;;) { pthread_t t;\n"
                        "if (pthread_create(&t, NULL, nothing, NULL) == 0) pthread_detach(t); usleep(3000); } }\n")
    with running(program) as target:
        done = perfex("--perf-table", table, "-e", "0", "--pid", target.pid, "sleep", "0.2")
    assert done.returncode == 0 or "makes threads faster" in done.stderr


def test_many_threads(tmp_path: Path, table: Path) -> None:
    """More counters than select() has numbers."""
    program = compile_c(tmp_path, "many", "static void *more(void *x) { pause(); return x; }\n"
                        "int main(void) { for (int i = 0; i < 600; i++) { pthread_t t; pthread_create(&t, NULL, more, NULL); }\n"
                        "printf(\"ready\\n\"); fflush(stdout); getchar(); touch(1000); return 0; }\n")
    with running(program) as target:
        counter = attached(str(target.pid), table, "sh", "-c", "sleep 2")
        say(target)
        assert 1000 <= (counts(report(counter))[25] or 0) < 1500


# ---- mistakes --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("word", ["0", "-1", "", "1,", ",1", "x", "1 2", "+1", "99999999999", "2147483648", "1.5", "\u0661"])
def test_numbers_that_are_none(word: str, table: Path) -> None:
    assert "is not the number of a process" in refused("--perf-table", table, f"--pid={word}")


def test_processes_that_are_not_there(table: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert refused("--perf-table", table, "--pid", gone.pid) == f"perfex: --pid: there is no process {gone.pid}\n"
    assert refused("--perf-table", table, "--pid", "2147483647") == "perfex: --pid: there is no process 2147483647\n"
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    assert f"process {zombie.pid} has ended" in refused("--perf-table", table, "--pid", zombie.pid)
    zombie.wait()
    with pytest.raises(PerfexError, match="is perfex itself"):
        AttachBackend().check(Request((), pids=(os.getpid(),)))


def test_a_thread_s_number(table: Path) -> None:
    numbers: list[int] = []
    done = threading.Event()
    thread = threading.Thread(target=lambda: (numbers.append(threading.get_native_id()), done.wait()))
    thread.start()
    while not numbers:
        time.sleep(0.01)
    try:
        assert refused("--perf-table", table, "--pid", numbers[0]) == (
            f"perfex: --pid: {numbers[0]} is a thread of process {os.getpid()}\n")
    finally:
        done.set()
        thread.join()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_s_process() -> None:
    """One line, from a child that has become another user; its table is where that one can read it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        Path(directory).chmod(0o755)
        readable = Path(directory) / "table.csv"
        readable.write_text(TABLE)
        readable.chmod(0o644)
        request = Request((), events=(25,), pids=(os.getpid(),), perf_table=readable)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                AttachBackend().run(request)
            except PerfexError as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        with os.fdopen(read) as stream:
            text = stream.read()
    assert re.fullmatch("--pid: page-faults: .*perf_event_paranoid.*", text), text


def test_what_excludes_it(table: Path) -> None:
    assert refused("--backend", "valgrind", "--pid", os.getpid()) == (
        "perfex: --pid: valgrind cannot attach to a process; --backend perf does\n")
    assert "-mp and --pid exclude each other" in refused("--perf-table", table, "-mp", "--pid", os.getpid())
    assert "--merge and --pid exclude each other" in refused("--merge", "--pid", os.getpid(), "x")
