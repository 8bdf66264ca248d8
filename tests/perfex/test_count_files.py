"""Files of counts: what is left of a process, what a running one has, and what else can have written to them."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from perfex_runs import PERFEX, compile_c, counted, environment
from perfex_runs import counts as counts_of
from pypfm.perfex.backends.simulation import counts
from tools import first

#: The beginning of a file (csrc/perfex/tool/file.h), where there is one count.
HEAD = struct.Struct("=8sIIiiIIIIIIIiI4xQ")
FIELDS = ("size", "num_counts", "pid", "parent", "state", "full", "lost", "on", "wanted", "several", "not_begun", "running", "changing", "used")
THREAD = 5  # an item
_LEAST = HEAD.size + 8 + 2 * 512


def _file(items: bytes = b"", names: bytes = b"I1mr", **values: int) -> bytes:
    values = {"num_counts": 1, "size": _LEAST, "used": _LEAST + len(items), "pid": 1} | values
    head = HEAD.pack(b"r10k002\n", *(values.get(name, 0) for name in FIELDS))
    return (head + struct.pack("=Q", values.get("now", 0)) + names).ljust(_LEAST, b"\0") + items


@pytest.mark.parametrize(("data", "why"), [
    (b"", "not a file of counts"), (bytes(200), "not a file of counts"),
    (_file(num_counts=0), "does not fit together"), (_file(num_counts=2), "does not fit together"),
    (_file(used=1 << 40), "does not fit together"), (_file(names=b""), "without their names"),
    (_file(struct.pack("=II", 99, 0)), "an item that does not fit"), (_file(struct.pack("=II", 99, 16)), "an item that does not fit"),
    (_file(pid=5), "is of process 5"), (_file(b"1234"), "requires a buffer"), (_file(struct.pack("=II", THREAD, 8)), "requires a buffer"),
])
def test_a_file_of_counts_that_is_none(data: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "1.0.r10k"
    file.write_bytes(data)
    with pytest.raises(counts.CountsError, match=rf"^1\.0\.r10k: .*{why}.*; something else has written to it$"), counts.checked(file):
        counts.read(file)


def test_the_thread_that_runs_has_what_was_not_put_down_yet(tmp_path: Path) -> None:
    """So a process is left that is killed, or executes another program."""
    items = b"".join(struct.pack("=IIiIQ", THREAD, 24, tid, 0, count) for tid, count in ((7, 10), (8, 20)))
    file = tmp_path / "6.0.r10k"
    file.write_bytes(_file(items, pid=6, running=8, now=5))
    found = counts.read(file)
    assert [(thread.tid, thread.counts["I1mr"]) for thread in found.threads] == [(7, 10), (8, 25)]
    assert found.counts["I1mr"] == 35


def test_the_counts_of_a_running_process(tmp_path: Path) -> None:
    file = tmp_path / "6.0.r10k"
    first, second = (struct.pack("=IIiIQ", THREAD, 24, tid, 0, 40 * tid) for tid in (1, 2))
    file.write_bytes(_file(now=5))
    live = counts.Live(file)
    for data, count in ((_file(first, now=5), 45), (_file(first + second, now=5), 125), (_file(first + second, now=9, changing=1), 125),
                        (_file(first + second, now=9, changing=2), 129), (_file(first + second + b"1234"), 129), (_file(first, used=1 << 60), 129),
                        (b"", 129)):
        file.write_bytes(data)
        assert live.counts() == {"I1mr": count}
    live.close()


THREADS = """
#include <pthread.h>
#include <signal.h>
static void *work(void *to) { for (volatile long i = 0; i < 3000000; i++); return to; }
int main(void) {
    pthread_t threads[2];
    kill(getppid(), SIGUSR1);
    usleep(50000);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    usleep(300000);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("options", [[], ["--threads", "fine"], ["--annotate"]])
def test_samples_are_of_all_threads(options: list[str], tmp_path: Path) -> None:
    data = counted("-p", "100", *options, "-e", "15", compile_c(tmp_path, "made", THREADS))
    samples = [of["count"] for sample in data["samples"] for of in sample["counts"] if of["event"] == 15]
    whole = counts_of(data)[15]
    assert samples == sorted(samples)
    assert whole is not None
    assert 0.99 * whole <= samples[-1] <= whole


def perfex_of(script: str, directory: Path, *options: str, status: int = 0) -> str:
    """The report of a shell that knows the directory of its counts as $d."""
    done = subprocess.run([PERFEX, *options, "-e", "15", "sh", "-c", f"d=$(echo $TMPDIR/perfex-*); {script}"], capture_output=True,
                          text=True, timeout=120, env=environment(TMPDIR=str(directory)))
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert list(directory.iterdir()) == []
    return " ".join(done.stderr.split())


def total(report: str) -> int:
    return int(re.findall(r"Graduated instructions\.+ (\d+) exact", report)[-1])


SPOILED = {
    "(:); for f in $d/*; do case $f in */$$.*) ;; *) echo >$f; esac; done": "r10k: not a file of counts; something else has written to it",
    "rm $d/$$.0.r10k": "0.r10k is gone: something else has removed it",
    "cp $d/$$.0.r10k $d/1.0.r10k": "1.0.r10k: is of process",
    "(:); f=$(ls $d/*.r10k | grep -v $$); sed -i 's/ Dr / Zr /' $f": "r10k: has no 'Dr'",
    ": >$d/x.r10k; : >$d/1.r10k": "not a file of counts; something else has written to it and 1 more",
    "mkfifo $d/1.0.r10k": "1.0.r10k: is not a file",
    "mkdir $d/1.0.r10k": "1.0.r10k: is not a file",
    "ln -s 1.0.r10k $d/1.0.r10k": "1.0.r10k: Too many levels of symbolic links",
    "truncate -s 1T $d/1.0.r10k": "1.0.r10k: is too large",
}


@pytest.mark.slow
@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("script", first(SPOILED, 3))
def test_a_command_that_writes_to_its_counts(script: str, tmp_path: Path) -> None:
    """What is damaged is missing, and the report says so."""
    report = perfex_of(f"{script}; exit 3", tmp_path, status=3)
    assert "15 Graduated instructions" in report
    assert " not available" in report
    assert SPOILED[script] in report


@pytest.mark.slow
@pytest.mark.needs("valgrind")
def test_a_command_that_replaces_the_messages(tmp_path: Path) -> None:
    assert total(perfex_of("mkfifo $d/new; mv $d/new $d/messages", tmp_path)) > 100_000


@pytest.mark.slow
@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("options", [["-s"], ["-p", "50"]])
def test_a_command_that_spoils_the_file_of_its_next_program(options: list[str], tmp_path: Path) -> None:
    """perfex looks at it while the command runs."""
    report = perfex_of(": >$d/$$.1.r10k; kill -USR1 $PPID; sleep=$(command -v sleep); $sleep 0.3; $sleep 0.3", tmp_path, *options)
    assert "1.r10k: not a file of counts" in report


@pytest.mark.slow
@pytest.mark.needs("valgrind")
@pytest.mark.parametrize(("end", "status"), first([("exec sh -c :", 0), ("/bin/sh -c 'kill -9 $PPID'; :", 137)]))
def test_threads_of_a_program_that_does_not_end_itself(end: str, status: int, tmp_path: Path) -> None:
    """They have all that the process has counted."""
    script = f"i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; {end}"
    counted = total(perfex_of(script, tmp_path, status=status))
    for options in (["-mp"], ["--threads", "fine"]):
        assert abs(total(perfex_of(script, tmp_path, *options, status=status)) - counted) < 1000  # a number has more digits


@pytest.mark.slow
@pytest.mark.needs("qemu-x86_64")
def test_a_command_that_writes_to_the_pipe_of_its_descendants(tmp_path: Path) -> None:
    """It ends when the last of them has, and not before."""
    script = ("(sleep 0.5; i=0; while [ $i -lt 300 ]; do i=$((i+1)); done) >/dev/null 2>&1 & for f in /proc/$$/fd/[3-9] /proc/$$/fd/??*;"
              " do case $(readlink $f) in pipe*) CODE $f;; esac; done; exit 0")
    quiet, disturbed = (total(perfex_of(script.replace("CODE", code), tmp_path, "--backend", "qemu")) for code in (": x ", "echo x >"))
    assert disturbed > 0.9 * quiet  # the text of a script changes where memory is, and so what the shell does: 4 %


@pytest.mark.slow
@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_what_a_command_writes_does_not_reach_the_terminal(form: list[str], tmp_path: Path) -> None:
    script = r"printf '==1== WARNING: unhandled \033[31m' >>$d/messages; : >$d/$(printf '1.1.\033[31m').r10k"
    done = subprocess.run([PERFEX, *form, "-e", "15", "sh", "-c", f"d=$(echo $TMPDIR/perfex-*); {script}"], capture_output=True,
                          text=True, env=environment(TMPDIR=str(tmp_path)))
    assert re.search(r"valgrind refused: WARNING: unhandled\s+\\+(x1b|u001b)", done.stderr)
    assert "\033" not in done.stderr
