"""What a simulation counts, against counts by hand; and that it says so where it could not count."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import files_of_ours
from native import CC, build
from perfex_runs import environment
from pypfm.perfex.backends import choose
from pypfm.perfex.model import Request
from pypfm.perfex.statistics import NAMES
from tools import first, needs_flags

PERFEX = Path(sys.executable).with_name("perfex")
# Whoever runs the tests may ignore signals, and a child would inherit that.
DEFAULT = ("env", "--default-signal=INT,HUP,TERM")
pytestmark = [pytest.mark.needs("valgrind"), pytest.mark.slow]
x86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason=f"assembly for x86-64, not {os.uname().machine}")

NEST = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    (void)argc;
    int status = 0;
    for (int i = atoi(argv[1]); i; i--) {
        if (fork()) { wait(&status); return WEXITSTATUS(status); }
    }
    for (int i = atoi(argv[2]); i; i--) __asm__ volatile("");
    return 9;
}
"""
THREADS = """
#include <pthread.h>
static pthread_barrier_t all;
static void *run(void *x) { pthread_barrier_wait(&all); return x; }
int main(void) {
    static pthread_t t[600];
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 65536);
    pthread_barrier_init(&all, 0, 601);
    for (int i = 0; i < 600; i++) if (pthread_create(&t[i], &a, run, 0)) return 7;
    pthread_barrier_wait(&all);
    for (int i = 0; i < 600; i++) pthread_join(t[i], 0);
    return 0;
}
"""


def program(directory: Path, source: str, *options: str) -> Path:
    out = directory / "program"
    build(CC, "-O1", "-pthread", *options, "-x", "c", "-", "-o", out, source=source)
    return out


def assembled(directory: Path, body: str, *options: str, size: int = 65536) -> Path:
    """A program without libraries: `body`, then exit(0); `buf` has that many bytes."""
    out = directory / "program"
    text = f".globl _start\n_start:\n{body}\nmov $60,%eax\nxor %edi,%edi\nsyscall\n.bss\n.balign 128\nbuf: .skip {size}\n"
    build(CC, "-nostdlib", "-static", *options, "-x", "assembler", "-", "-o", out, source=text)
    return out


def perfex(*words: object, status: int = 0, prefix: tuple[object, ...] = (), **options: Any) -> dict[str, Any]:
    """The report of a run whose streams have nothing of valgrind's."""
    done = subprocess.run([*map(str, prefix), PERFEX, "--json", "--backend", "valgrind", *map(str, words)], capture_output=True,
                          text=True, timeout=300, env=options.pop("env", environment()), **options)
    assert done.returncode == status, done
    return {"stdout": done.stdout, **json.loads(done.stderr)}


def in_group(group: int) -> list[str]:
    """What runs in a process group; zombies do not."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
            if state != "Z" and int(of) == group:
                found.append(path.with_name("cmdline").read_text())
    return found


def counts(data: dict[str, Any]) -> dict[int, int | None]:
    return {e["event"]: e["count"] for e in data["events"]}


# ---- counts by hand --------------------------------------------------------------------

@x86
@pytest.mark.parametrize("l2", [1, 4])
def test_misses_of_static_data(l2: int, tmp_path: Path) -> None:
    """22,656 lines of the secondary cache are written at 1 to 4 MB, where the upper bits of an address are 0.

    The instructions are one line more, and no set of a cache of 4 MB or more has to hold three lines.  In 1 MB all sets
    are full at the end, one of them with that line; what is not there any more has been written back.
    """
    lines, capacity = 22656, (l2 << 20) // 128
    made = assembled(tmp_path, f"mov $buf,%edi\nmov ${lines * 4},%ecx\n1: movl $1,(%rdi)\nadd $32,%rdi\ndec %ecx\njnz 1b\n"
                     "jmp 9f\n9:", "-no-pie", "-Wl,-Ttext=0x600000,-Tbss=0x100000", size=lines * 128)
    found = counts(perfex("--l2", f"{l2}m", "-e", 26, "-e", 7, made))
    assert found[26] == lines
    assert found[7] == (8 * (lines + 1 - capacity) if lines > capacity else 0)


@x86
def test_a_program_whose_instructions_are_counted_by_hand(tmp_path: Path) -> None:
    """Loads whose result is overwritten, and a branch over two conditions, of which the second is not always asked."""
    made = assembled(tmp_path, "mov $1000,%ecx\n1: mov buf(%rip),%rax\nmov buf+8(%rip),%rax\nmov %ecx,buf(%rip)\n"
                     "test $1,%ecx\njz 2f\ntest $2,%ecx\njz 2f\nadd $1,%eax\n2: dec %ecx\njnz 1b")
    found = counts(perfex("-a", made))
    assert (found[15], found[18], found[19]) == (1 + 8250 + 3, 2000, 1000)  # 3 end the program


@x86
def test_cycles_are_one_number_in_all_modes(tmp_path: Path) -> None:
    """Whatever else is counted, and whatever the cost table says."""
    made = assembled(tmp_path, "mov $100000,%ecx\n1: dec %ecx\njnz 1b\nlea buf(%rip),%rdi\nmov $1024,%ecx\n"
                     "2: movb $1,(%rdi)\nadd $64,%rdi\ndec %ecx\njnz 2b\njmp 9f\n9:")
    (tmp_path / "costs").write_text("15 clks 7 7 7\n26 clks 9000 9000 9000\n24 clks 50 50 50\n23 clks 99 99 99\n")
    ways: list[tuple[object, ...]] = [("-e", 0), ("-a",), ("-a", "--threads", "fine"), ("-y", "-c", tmp_path / "costs")]
    found, *others = (next(e for e in perfex(*way, made)["events"] if e["event"] == 0) for way in ways)
    cycles = [found["count"], *(e["count"] for e in others)]
    assert len(set(cycles)) == 1
    # 512 lines of the secondary cache, two lines of the primary one in each, 8 instructions' lines at most.
    assert found["low"] == pytest.approx(100000 + 1024, rel=0.02)  # a branch a cycle; the misses go on meanwhile
    assert found["high"] == pytest.approx(200001 + 4 * 1024 + 1024 * 10 + 512 * 310 * 0.196, rel=0.02)
    assert found["count"] == found["low"] + (found["high"] - found["low"]) // 2 == cycles[0]


def test_more_than_one_instruction_a_cycle(tmp_path: Path) -> None:
    """Where nothing is waited for, four are issued; a load or store, a branch, two of floating point among them."""
    body = "mov $100000,%ecx\n1: {}\ndec %ecx\njnz 1b\n9:"
    for work, bound in (("add $1,%rax\n" * 8, 250000), ("mov (%rsp),%rax\n" * 8, 800000), ("addsd %xmm0,%xmm1\n" * 8, 400000)):
        (found,) = (e for e in perfex("-e", 0, assembled(tmp_path, body.format(work)))["events"] if e["event"] == 0)
        assert (found["low"], found["high"]) == (pytest.approx(bound, rel=0.02), pytest.approx(1000000, rel=0.02))


def test_ratios_that_are_1_by_construction_are_not_printed() -> None:
    names = {s["name"] for s in perfex("-a", "-y", "true")["statistics"]}
    assert "Graduated instructions/cycle" in names
    assert not {n for n in names if "/Issued" in n}


ARITHMETIC = """
double a[100000];
int main(void) {
    double sum = 0;
    for (int i = 0; i < 100000; i++) sum += a[i] = i * 1.5;
    return sum < 0;
}
"""
# Of events for which a simulation has nothing, or the same thing twice.
NEVER = ["Graduated loads/Issued loads", "Graduated stores/Issued stores", "Graduated loads/Decoded loads",
         "Graduated stores/Decoded stores", "Prefetch miss rate"]


@pytest.mark.parametrize("cpu", ["r10000", "r12000"])
def test_statistics_that_a_simulation_cannot_print(cpu: str, tmp_path: Path) -> None:
    made = [s["name"] for s in perfex("--cpu", cpu, "-a", "-y", program(tmp_path, ARITHMETIC))["statistics"]]
    assert not set(NEVER) & {*made}
    assert set(NAMES) <= {*NEVER, *made, "Mispredicted branches/Decoded branches", "Cache misses in flight per cycle (average)"}


@pytest.mark.parametrize("asked", [{"l2": 8 << 20}, {"cache": "host"}, {"fine": True}, {"together": True}])
def test_what_only_a_simulation_has_is_simulated(asked: dict[str, Any]) -> None:
    backend, why = choose("auto", Request(("true",), **asked))
    assert (backend.name, why) == ("valgrind", "only the simulation can do what is asked for")


def test_other_caches_and_operations_are_said(tmp_path: Path) -> None:
    made = program(tmp_path, ARITHMETIC)
    found = perfex("--events", "21,26", "--cache", "L2=64k,8,128", made)
    assert found["operations"] == counts(found)[21] == 2 * 100000
    assert found["caches"] == ("as given: L1I 32 KB 2-way, lines of 64, L1D 32 KB 2-way, lines of 32, L2 64 KB 8-way, lines of 128;"
                             " TLB of 64 entries, pages of 16 KB")
    text = subprocess.run([PERFEX, "--cache", "host", "-e", "21", made], capture_output=True, text=True, env=environment()).stderr
    assert "\ncaches: this machine's: L1I " in text
    assert "\nfloating-point operations of the instructions of event 21: 200000\n" in text


# ---- processes ---------------------------------------------------------------------------


@pytest.mark.long
def test_forty_generations_of_processes(tmp_path: Path) -> None:
    """Without exec().  The instructions of the last one are more than those of all others together, which have left their counts.

    valgrind has 12 descriptors, of which each generation takes one.
    """
    found = counts(perfex("-e", 15, "-e", 22, program(tmp_path, NEST), 40, 400000, status=9))[15]
    assert found is not None
    assert 800000 < found < 1200000


@pytest.mark.long
def test_low_limits_of_descriptors(tmp_path: Path) -> None:
    nest = program(tmp_path, NEST)
    for limit in (60, 400, 1024):
        data = perfex("-e", 15, "-e", 22, nest, 12, 10, status=9, prefix=("sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"))
        assert counts(data)[15]


@pytest.mark.parametrize("size", ["4k", "64k"])
def test_a_full_directory_for_temporary_files(size: str, tmp_path: Path) -> None:
    """Not available, with the reason; and the command ends as it does."""
    inside = ("unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size={size} none {tmp_path} && exec "$@"', "sh")
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace may be made here (unshare -m)")
    data = perfex("-e", 15, "-e", 22, "sh", "-c", "(:); (:); echo out; exit 3", status=3, prefix=inside,
                  env=environment(TMPDIR=str(tmp_path)), cwd="/")
    assert data["stdout"] == "out\n"
    for event in data["events"]:
        assert (event["count"], event["quality"]) == (None, "unavailable")
        assert f"in {tmp_path} (TMPDIR)" in event["note"]


@pytest.mark.parametrize(("prefix", "environ", "message"), [
    ("ulimit -f 100", {}, "a file may have "), (":", {"TMPDIR": "/nonexistent"}, "'/nonexistent': No such file or directory"),
])
def test_valgrind_could_not_write(prefix: str, environ: dict[str, str], message: str, tmp_path: Path) -> None:
    done = subprocess.run(["sh", "-c", f"{prefix}; exec {PERFEX} --backend valgrind -e 15 -e 22 touch {tmp_path / 'ran'}"],
                          capture_output=True, text=True, env=environment(**environ))
    assert done.returncode == 1
    assert done.stderr.startswith("perfex: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "ran").exists()


def test_a_name_of_the_directory_for_temporary_files(tmp_path: Path) -> None:
    """With what valgrind's options would replace, and any bytes."""
    directory = tmp_path / os.fsdecode(b"t a b%p%q{HOME}\nx\xff")
    directory.mkdir()
    assert counts(perfex("-e", 15, "-e", 22, "sh", "-c", "(:); exit 3", status=3, env=environment(TMPDIR=str(directory))))[15]
    assert list(directory.iterdir()) == []


def test_a_command_whose_files_nobody_may_read() -> None:
    """Its umask is no matter for the files with counts: they are opened when they are made."""
    rights = () if os.geteuid() else ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    data = perfex("-e", 15, "-e", 22, "sh", "-c", "umask 777; (:); exit 3", status=3, prefix=rights)
    assert counts(data)[15]


def test_samples_of_functions_that_call_one_another(tmp_path: Path) -> None:
    """What the functions on the stack have counted is not added to it: samples grow up to the total."""
    deep = program(tmp_path, """
        #include <signal.h>
        #include <stdlib.h>
        #include <time.h>
        #include <unistd.h>
        static __attribute__((noinline)) int down(volatile int n) {
            volatile int below = n ? down(n - 1) + 1 : 0;
            return below;
        }
        int main(void) {
            kill(getppid(), SIGUSR1);
            int depth = 0;
            for (time_t end = time(NULL) + 3; time(NULL) < end;)  /* a sample takes long on a busy machine */
                for (int i = 0; i < 1000; i++) depth = down(30);
            kill(getppid(), SIGUSR2);
            return depth;
        }""")
    data = perfex("-p", 5, "-e", 15, "-e", 22, deep, status=30)
    samples = [c["count"] for row in data["samples"] for c in row["counts"] if c["event"] == 15]
    assert samples
    assert samples == sorted(samples)
    assert samples[-1] <= (counts(data)[15] or 0)


def test_a_command_that_kills_itself() -> None:
    data = perfex("-e", 22, "sh", "-c", "kill -9 $$", status=128 + signal.SIGKILL)
    assert data["ended_by"] == "SIGKILL"
    assert "killed" not in json.dumps(data["notes"])
    assert counts(data)[22]


def test_a_process_namespace() -> None:
    """Numbers begin anew in it: two of its processes can have the same one."""
    if subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no process namespace can be made here")
    scripts = [f"unshare {option} --fork /bin/true;" * 2 + "exit 4" for option in ("--pid", "--uts")]
    own, shared = (counts(perfex("-e", 15, "-e", 22, "sh", "-c", script, status=4))[15] or 0 for script in scripts)
    assert own == pytest.approx(shared, rel=0.01)


def test_the_environment_of_the_command_is_its_own() -> None:
    env = {**environment(), "LD_PRELOAD": "libm.so.6"}
    alone = subprocess.run(["/usr/bin/env"], env=env, text=True, capture_output=True, check=True)
    assert perfex("-e", 15, "-e", 22, "/usr/bin/env", env=env)["stdout"].splitlines() == alone.stdout.splitlines()


# ---- what valgrind refuses -----------------------------------------------------------------

X86_LOOP = ("mov $1000,%ecx\n1: mov buf,%eax\nmov %eax,buf+4\ndec %ecx\njnz 1b\nmov $1,%eax\nmov $7,%ebx\nint $0x80\n"
            ".bss\nbuf: .skip 64\n")


@x86
def test_a_program_of_32_bits(tmp_path: Path) -> None:
    needs_flags(CC, "-m32")
    made = tmp_path / "program"
    build(CC, "-m32", "-nostdlib", "-static", "-x", "assembler", "-", "-o", made, source=f".globl _start\n_start:\n{X86_LOOP}")
    installed = next((d for d in map(Path, ("/usr/libexec/valgrind", "/usr/lib/valgrind")) if d.is_dir()), None)
    if installed is None:
        pytest.skip("valgrind's tools are neither in /usr/libexec/valgrind nor in /usr/lib/valgrind")
    if list(installed.glob("*-x86-linux")):
        assert (counts(perfex("-e", 15, "-e", 22, made, status=7))[15] or 0) in range(4001, 4005)


def test_more_than_500_threads(tmp_path: Path) -> None:
    assert counts(perfex("-e", 15, "-e", 22, program(tmp_path, THREADS)))[15]


@x86
def test_an_instruction_that_valgrind_does_not_know(tmp_path: Path) -> None:
    """AVX-512; the program has not failed, and its status is not made up."""
    made = assembled(tmp_path, ".byte 0x62,0xf1,0x7d,0x48,0xef,0xc0")
    data = perfex("-e", 15, "-e", 22, made, status=126)
    assert any(n.startswith("valgrind refused: vex amd64->IR: unhandled instruction bytes: 0x62 0xF1") for n in data["notes"])
    assert any("exit status 126 is perfex's" in n for n in data["notes"])
    assert data["ended_by"] is None
    native = assembled(tmp_path, "ud2")  # its own failure
    data = perfex("-e", 6, "-e", 19, "sh", "-c", f"exec 2>/dev/null; {native}; exit 4", status=4)
    assert data["ended_by"] is None


def test_a_set_uid_program(tmp_path: Path) -> None:
    made = program(tmp_path, "int main(void) { return 0; }")
    made.chmod(0o4755)
    data = perfex("-e", 15, "-e", 22, "sh", "-c", f"{made} 2>/dev/null; exit 3", status=3)
    assert data["notes"] == [f"valgrind refused: Warning: Can't execute setuid/setgid/setcap executable: {made}"]


@pytest.mark.parametrize("give", ["mode", "capability"])
def test_a_program_with_rights_of_its_own_is_the_command(give: str, tmp_path: Path) -> None:
    made = program(tmp_path, "int main(void) { return 0; }")
    if give == "mode":
        made.chmod(0o2755)
    else:
        try:
            os.setxattr(made, "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
        except OSError as error:
            pytest.skip(f"no file capabilities here: {error}")
    done = subprocess.run([PERFEX, "--backend", "valgrind", "-e", "15", "-e", "22", "./program"], capture_output=True, text=True,
                          env=environment(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("perfex: './program': set-uid, set-gid, or with file capabilities; valgrind does not execute such a program"
                           " (a copy of it would do, with your rights)\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_waiting_for_what_the_command_has_left_behind(number: signal.Signals, tmp_path: Path) -> None:
    """With a report and the command's status; the processes go on."""
    work = tmp_path / "work"
    work.mkdir()
    started = subprocess.Popen([*DEFAULT, PERFEX, "--json", "--backend", "valgrind", "-e", "15", "-e", "22", "sh", "-c",
                                "sleep 1000 <&- >&- 2>&- & echo $! $$; exit 5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(TMPDIR=str(work)), start_new_session=True)
    assert started.stdout is not None
    left, shell = map(int, started.stdout.readline().split())
    try:
        while Path(f"/proc/{left}/stat").read_text().rpartition(")")[2].split()[1] == str(shell):
            time.sleep(0.05)
        time.sleep(0.5)  # perfex has seen that the command has ended, and waits
        started.send_signal(number)
        _, stderr = started.communicate(timeout=60)
        os.kill(left, 0)
    finally:
        os.kill(left, signal.SIGKILL)
    assert started.returncode == 5
    data = json.loads(stderr)
    assert "interrupted before all processes that the command has left behind had ended" in data["notes"]
    assert all(e["quality"] in ("approximate", "modelled") for e in data["events"])
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("number", first([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_at_any_moment_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """Perfex dies of it before the command has begun; later the command does, and there is a report."""
    work = tmp_path / "work"
    work.mkdir()
    ends = set()
    for delay in (0, 0.05, 0.2, 0.4, 0.8, 3):
        started = subprocess.Popen([*DEFAULT, PERFEX, "--backend", "valgrind", "-e", "15", "-e", "22", "sleep", "1000"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(TMPDIR=str(work)),
                                   start_new_session=True)
        time.sleep(delay)
        os.killpg(started.pid, number)
        _, stderr = started.communicate(timeout=100)
        ends.add(started.returncode)
        assert list(work.iterdir()) == []
        assert files_of_ours(stderr) == [], stderr
        if started.returncode == 128 + number:
            assert f"ended by {number.name}: the counts stop there" in stderr or "valgrind has not started" in stderr
        for _ in range(600):
            if not (alive := in_group(started.pid)):
                break
            time.sleep(0.05)
        assert alive == []
    assert ends <= {-number, 128 + number, 1}
    assert 128 + number in ends  # after three seconds the command has begun, before that it depends on the machine


def test_a_status_that_is_no_signal() -> None:
    assert perfex("-e", 15, "-e", 22, "sh", "-c", "exit 139", status=139)["ended_by"] is None
