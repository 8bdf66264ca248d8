"""MIPS code under qemu: what instructions are counted as, and what the simulated processor makes of their accesses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from conftest import ROOT
from mips_programs import BIG, LITTLE, assembled, between, compiled, run
from native import build
from perfex_runs import counted, counts, environment, perfex, refused
from tools import needs, needs_flags, tool

pytestmark = [pytest.mark.slow, pytest.mark.needs("qemu-mips64", BIG)]

ROUNDS = 100
#: Kernels: name, what is repeated ($4: a buffer), and the counts of one repetition that are not 0.
KERNELS = [
    ("nop", "nop; nop", "Ir=2 Ni=2"),
    ("register", "addu $8, $9, $10; daddiu $8, $8, 1; sll $8, $8, 2", "Ir=3"),
    ("multiply, divide", "mult $8, $9; ddivu $0, $8, $9; mflo $8; mfhi $9", "Ir=6"),
    ("loads", "lb $8, 0($4); lhu $8, 2($4); lw $8, 4($4); lwu $8, 4($4); ld $8, 8($4)", "Ir=5 Dr=5"),
    ("loads of parts", "lwl $8, 1($4); lwr $8, 4($4); ldl $8, 1($4); ldr $8, 8($4)", "Ir=4 Dr=4"),
    ("stores", "sb $8, 0($4); sh $8, 2($4); sw $8, 4($4); sd $8, 8($4); swl $8, 1($4); swr $8, 4($4); sdl $8, 1($4); sdr $8, 8($4)", "Ir=8 Dw=8"),
    ("a load to no register", "lw $0, 0($4)", "Ir=1 Dr=1"),
    ("floating-point accesses", "lwc1 $f0, 0($4); ldc1 $f2, 8($4); swc1 $f0, 0($4); sdc1 $f2, 8($4)", "Ir=4 Dr=2 Dw=2"),
    ("indexed accesses", "move $8, $0; ldxc1 $f2, $8($4); lwxc1 $f4, $8($4); sdxc1 $f2, $8($4)", "Ir=4 Dr=2 Dw=1"),
    ("arithmetic", "add.d $f2, $f4, $f6; mul.s $f8, $f8, $f8; div.d $f2, $f4, $f6; sqrt.d $f2, $f4; recip.d $f2, $f4", "Ir=5 Fp=5 Fo=5"),
    ("multiply-add", "madd.d $f2, $f4, $f6, $f8; nmsub.s $f10, $f10, $f10, $f10", "Ir=2 Fp=2 Fo=4"),
    ("comparisons, conversions, moves", "c.lt.d $f2, $f4; cvt.s.d $f6, $f2; mov.d $f2, $f4; neg.d $f2, $f2; trunc.w.d $f8, $f2", "Ir=5 Fp=5"),
    ("to and from the other registers", "mtc1 $8, $f2; dmfc1 $8, $f2", "Ir=2"),
    ("a branch that is taken", "beq $0, $0, 2f; nop; 2:", "Ir=2 Ni=1 Bc=1"),
    ("a branch that is not", "bne $0, $0, 2f; addiu $8, $8, 1; addiu $8, $8, 2; 2:", "Ir=3 Bc=1"),
    ("a likely branch that is taken", "beql $0, $0, 2f; addiu $8, $8, 1; addiu $8, $8, 2; 2:", "Ir=2 Bc=1"),
    ("a likely branch that is not", "bnel $0, $0, 2f; addiu $8, $8, 1; addiu $8, $8, 2; 2:", "Ir=2 Bc=1"),
    ("a likely branch on what is known at run time", "beql $4, $0, 2f; lw $8, 0($4); addiu $8, $8, 2; 2:", "Ir=2 Bc=1"),
    ("the same, taken", "bnel $4, $0, 2f; lw $8, 0($4); addiu $8, $8, 2; 2:", "Ir=2 Dr=1 Bc=1"),
    ("a branch on floating point", "c.eq.d $f20, $f20; bc1t 2f; nop; addiu $8, $8, 1; 2:", "Ir=3 Ni=1 Fp=1 Bc=1"),
    ("jump, call, return", "j 2f; nop; 3: jr $31; nop; 2: jal 3b; nop", "Ir=6 Ni=5 Bi=1"),
    ("an indirect call", "dla $25, 3f; j 2f; nop; 3: jr $31; nop; 2: jalr $25; nop", "Bi=2"),
    ("store conditional", "ll $8, 16($4); sc $8, 16($4)", "Ir=2 Dr=1 Dw=1 Sc=1"),
    ("store conditional of 64 bits", "2: lld $8, 16($4); scd $8, 16($4); beqz $8, 2b; nop", "Ir=4 Ni=1 Dr=1 Dw=1 Bc=1 Sc=1"),
    ("store conditional to another place", "ll $8, 16($4); sc $8, 64($4)", "Ir=2 Dr=1 Dw=1 Sc=1 Sf=1"),
    ("the same with a branch", "ll $8, 16($4); sc $8, 64($4); beqz $8, 2f; nop; 2:", "Ir=4 Ni=1 Dr=1 Dw=1 Bc=1 Sc=1 Sf=1"),
    ("two that fail", "sc $8, 64($4); sc $8, 72($4)", "Ir=2 Dw=2 Sc=2 Sf=2"),
    ("one that fails, and one that stores", "sc $9, 64($4); ll $8, 16($4); sc $8, 16($4)", "Ir=3 Dr=1 Dw=2 Sc=2 Sf=1"),
    ("one that fails in the slot of a likely branch", "bnel $4, $0, 2f; sc $8, 64($4); nop; 2:", "Ir=2 Dw=1 Bc=1 Sc=1 Sf=1"),
    ("prefetch", "pref 0, 0($4); pref 1, 32($4); prefx 0, $0($4)", "Ir=3 Pf=3"),
    ("sync, trap", "sync; teq $0, $4", "Ir=2"),
]


def source() -> str:
    parts = ["dla $4, buffer\n"]
    for i, (_, body, _) in enumerate(KERNELS):
        parts.append(f"li $16, {ROUNDS}; 1: .globl k{i}, e{i}; k{i}: {body}; e{i}: addiu $16, $16, -1; bnez $16, 1b; nop\n")
    return "".join(parts)


DATA = "li $2, 5058; li $4, 0; syscall\n.bss; .balign 32768; buffer: .space 65536\n"


def measured(place: Path, compiler: str) -> dict[str, dict[str, float]]:
    """The counts of one repetition of each kernel, those of caches left out."""
    path = assembled(place, source(), compiler, end=DATA)
    profile = run(place, path, "lines=yes").profile()
    with path.open("rb") as stream:
        table = {s.name: s["st_value"] for s in ELFFile(stream).get_section_by_name(".symtab").iter_symbols()}
    before = profile.names[:profile.names.index("I1mr")]
    return {name: {key: n / ROUNDS for key, n in between(profile, table[f"k{i}"], table[f"e{i}"]).items() if key in before}
            for i, (name, *_) in enumerate(KERNELS)}


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    return measured(tmp_path_factory.mktemp("big"), BIG)


@pytest.mark.parametrize(("name", "expected"), [(name, expected) for name, _, expected in KERNELS], ids=[name for name, *_ in KERNELS])
def test_instructions_are_counted_as_the_processor_does(big: dict[str, dict[str, float]], name: str, expected: str) -> None:
    wanted = {key: int(n) for key, _, n in (word.partition("=") for word in expected.split())}
    found = big[name] if "Ir" in wanted else {key: n for key, n in big[name].items() if key in wanted}
    assert found == wanted


@pytest.mark.needs("qemu-mips64el", LITTLE)
def test_both_byte_orders_count_the_same(tmp_path: Path, big: dict[str, dict[str, float]]) -> None:
    assert measured(tmp_path, LITTLE) == big


def total(place: Path, body: str, *flags: str, compiler: str = BIG, end: str = DATA) -> dict[str, int]:
    process, = run(place, assembled(place, body, compiler, *flags, end=end)).processes
    return process.counts


def test_misses_follow_from_geometry(tmp_path: Path) -> None:
    # 65536 bytes, one load each 32: each a line of L1, each fourth one of L2; pairs of pages of 32 KiB.
    found = total(tmp_path, "dla $4, buffer; li $8, 2048; 1: lw $9, 0($4); addiu $8, $8, -1; bnez $8, 1b; daddiu $4, $4, 32")
    assert (found["Dr"], found["D1mr"], found["DLmr"], found["Bc"]) == (2048, 2048, 512, 2048)
    assert found["TLBm"] == 2 + 1  # and that of the code
    assert found["Bm"] == 2 + 1  # until the counter expects that the branch is taken, and the last one


def test_stores_are_written_back(tmp_path: Path) -> None:
    loop = "li $8, 2048; 1: sw $9, 0($4); addiu $8, $8, -1; bnez $8, 1b; daddiu $4, $4, 32; "
    found = total(tmp_path, "dla $4, buffer; " + loop)
    assert (found["Dw"], found["D1mw"], found["DLmw"]) == (2048, 2048, 512)
    assert found["D1wq"] == 1024 * 2  # half of them do not fit; two units of 16 bytes each


O32_END = "li $2, 4001; li $4, 0; syscall\n.bss; .balign 32768; buffer: .space 65536\n"
N32_END = "li $2, 6058; li $4, 0; syscall\n.bss; .balign 32768; buffer: .space 65536\n"


@pytest.mark.needs("qemu-mipsn32", "qemu-mips", "mips-linux-gnu-gcc")
def test_the_other_abis(tmp_path: Path) -> None:
    body = "la $4, buffer; li $8, 1000; 1: lw $9, 0($4); sw $9, 4($4); addiu $8, $8, -1; bnez $8, 1b; nop"
    for compiler, flag, end in ((BIG, "-mabi=n32", N32_END), ("mips-linux-gnu-gcc", "-mabi=32", O32_END)):
        (place := tmp_path / flag).mkdir()
        found = total(place, body, flag, compiler=compiler, end=end)
        assert (found["Dr"], found["Dw"], found["Bc"], found["Ni"]) == (1000, 1000, 1000, 1001), flag


MATRIX = """
#include <stdio.h>
enum { N = 64 };
static volatile double a[N][N], b[N][N], c[N][N];
int main(void) {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { double s = 0; for (int k = 0; k < N; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }
    for (int i = 0; i < 1000; i++) { static int n; __sync_fetch_and_add(&n, 1); }
    puts("done");
}
"""


def test_perfex_sees_what_a_program_is(tmp_path: Path) -> None:
    path = compiled(tmp_path, MATRIX, "-static")
    data = counted("-a", path)
    assert data["backend"] == "qemu"
    found = {event: n or 0 for event, n in counts(data).items()}
    assert 64 ** 3 <= found[21] <= 64 ** 3 + 200  # madd.d is one
    assert 2 * 64 ** 3 <= found[18] < 2 * 64 ** 3 + 9000
    assert 1000 <= found[20] < 1050
    done = perfex("-e", "15", path)
    assert done.stderr.splitlines()[0] == "perfex: r10000 events, R10000 code under qemu"
    assert done.stdout == "done\n"


def test_dynamic_linking_and_exit_status(tmp_path: Path) -> None:
    path = compiled(tmp_path, "#include <stdlib.h>\nint main(void) { exit(7); }\n")
    assert counts(counted("-e", "15", path, status=7))[15]
    killed = compiled(tmp_path, "#include <stdlib.h>\nint main(void) { abort(); }\n", "-static", name="killed")
    done = perfex("--json", "-e", "15", "-o", tmp_path / "report", killed)  # qemu says something, too
    assert done.returncode == 134
    data = json.loads((tmp_path / "report").read_text())
    assert counts(data)[15]
    assert data["ended_by"] == "SIGABRT"


ENDS = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int n;
static pthread_barrier_t all;
static void *work(void *of) {
    volatile int own = 0;
    while (own < 50000) own++;
    pthread_barrier_wait(&all);
    for (;;) pause();
    return of;
}
int main(int argc, char **argv) {
    pthread_t thread;
    (void)argc;
    while (n < 100000) n++;
    pthread_barrier_init(&all, NULL, 3);
    for (int i = 0; i < 2; i++) pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&all);
    if (strcmp(argv[1], "abort") == 0) abort();
    if (strcmp(argv[1], "0") == 0) _exit(0);
    if (strcmp(argv[1], "11") == 0) *(volatile int *)0 = 1;
    kill(getpid(), atoi(argv[1]));
    pause();
}
"""


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("ends"), ENDS, "-static")


@pytest.mark.parametrize(("how", "status", "signal"), [("9", 137, "SIGKILL"), ("15", 143, "SIGTERM"), ("11", 139, "SIGSEGV"),
                                                       ("abort", 134, "SIGABRT"), ("0", 0, None)])
def test_nothing_is_lost_however_it_ends(ends: Path, tmp_path: Path, how: str, status: int, signal: str | None) -> None:
    """The main thread's counts, and those of two others that wait."""
    done = perfex("--json", "-e", "19", "-o", tmp_path / "report", ends, how)  # qemu may say something, too
    assert done.returncode == status
    data = json.loads((tmp_path / "report").read_text())
    assert data["ended_by"] == signal
    assert 200000 <= (counts(data)[19] or 0) < 200000 + 4000


SAME = """
#include <stdlib.h>
enum { MOST = 1 << 18 };
static volatile _Alignas(1 << 20) double a[MOST], b[MOST], c[MOST];
static volatile _Alignas(128) int counts[256];
int main(int argc, char **argv) {
    (void)argc;
    const int n = atoi(argv[1]);
    for (int i = 0; i < n; i++) c[i] = a[i] * b[i];
    for (int i = 0; i < n; i++) counts[i * 37 & 255]++;
    for (int i = 0; i < n; i += 4) a[i] = b[i + 1] - c[i];
}
"""


@pytest.mark.needs("valgrind", "cc")
def test_accesses_are_those_of_the_same_source_on_this_host(tmp_path: Path) -> None:
    mips = compiled(tmp_path, SAME, "-static", name="mips")
    build(needs_flags("cc", "-static"), "-O2", "-fno-tree-vectorize", "-static", "-x", "c", "-", "-o", tmp_path / "host", source=SAME)

    def difference(path: Path, backend: str) -> dict[int, int]:
        less, more = (counts(counted("--backend", backend, "--events", "18,19,25,26", path, str(n))) for n in (100000, 200000))
        return {event: (more[event] or 0) - (less[event] or 0) for event in more}

    found, wanted = difference(mips, "qemu"), difference(tmp_path / "host", "valgrind")
    assert (found[18], found[19]) == (wanted[18], wanted[19]) == (100000 * 3 + 25000 * 2, 100000 * 2 + 25000)
    assert found[25] == pytest.approx(wanted[25], rel=0.001)
    assert found[26] == pytest.approx(wanted[26], rel=0.001)


FORK = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int n;
static void work(int times) { for (int i = 0; i < times; i++) n++; }
int main(int argc, char **argv) {
    work(100000);
    if (fork() == 0) { work(argc > 1 ? 200000 : 0); _exit(0); }
    wait(NULL);
}
"""


def test_a_child_counts_its_own(tmp_path: Path) -> None:
    path = compiled(tmp_path, FORK, "-static")
    one, more = (counts(counted("-e", "19", path, *arguments))[19] or 0 for arguments in ((), ("x",)))
    assert 100000 <= one < 105000
    assert 199990 <= more - one <= 200100


EXECUTES = """
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (volatile int i = 0; i < 100000; i++) { }
    if (argc < 2) return puts(argv[0]) < 0;
    char *const others[] = { "another name", NULL }, *const environment[] = { "ONLY=this", NULL };
    execve(argv[1], others, environment);
    perror(argv[1]);
    return 3;
}
"""


@pytest.mark.needs("mips-linux-gnu-gcc")
def test_programs_that_are_executed(tmp_path: Path) -> None:
    big = compiled(tmp_path, EXECUTES, "-static", name="big")
    other = compiled(tmp_path, EXECUTES, "-static", "-march=mips32r2", compiler="mips-linux-gnu-gcc", name="o, 32")
    one = counts(counted("-e", "19", big))[19] or 0
    for path in (big, other):
        done = perfex("--json", "-e", "19", big, path)
        assert done.stdout == "another name\n"
        assert 200000 <= (counts(json.loads(done.stderr))[19] or 0) < 2 * one + 2000
    done = perfex("-e", "19", big, tmp_path / "missing")
    assert (done.returncode, "missing: No such file or directory" in done.stderr) == (3, True)
    done = perfex("-e", "19", big, needs("env"))
    assert done.stdout == "ONLY=this\n"
    assert "executed a program that is not MIPS code" in done.stderr


def test_an_environment_that_is_null(tmp_path: Path) -> None:
    """Linux takes it for an empty one."""
    path = compiled(tmp_path, EXECUTES.replace("others, environment", "others, NULL"), "-static")
    assert perfex("-e", "19", path, path).stdout == "another name\n"


def test_directories_with_commas(tmp_path: Path) -> None:
    (place := tmp_path / "a,,b,lines=yes").mkdir()
    path = compiled(place, EXECUTES, "-static", name="c,d")
    assert counts(counted("-e", "19", path, env=environment(TMPDIR=str(place), XDG_CACHE_HOME=str(place))))[19]


def test_scripts_with_a_mips_interpreter(tmp_path: Path) -> None:
    shows = "#include <stdio.h>\nint main(int argc, char **argv) { while (argc--) puts(*argv++); }\n"
    interpreter = compiled(tmp_path, shows, "-static", name="interpreter")
    (script := tmp_path / "script").write_text(f"#! {interpreter} -x y \n")
    script.chmod(0o755)
    done = perfex("-e", "15", script, "a b")
    assert done.stdout.splitlines() == [str(interpreter), "-x y", str(script), "a b"]
    assert done.stderr.startswith("perfex: r10000 events, R10000 code under qemu\n")
    done = perfex("-e", "15", compiled(tmp_path, EXECUTES, "-static"), script)
    assert done.stdout.splitlines() == [str(interpreter), "-x y", str(script)]
    assert "not MIPS code" not in done.stderr


def test_functions_and_lines(tmp_path: Path) -> None:
    source = tmp_path / "walk.c"
    source.write_text("static volatile int a[1 << 16];\n__attribute__((noinline)) static void walk(void)\n{\n"
                      "    for (int i = 0; i < 1 << 16; i++)\n        a[i] = i;\n}\nint main(void) { walk(); return 0; }\n")
    for kind in ("-static", "-fPIE"):
        build(needs(BIG), "-g", "-O1", kind, source, "-o", tmp_path / "walk")
        data = counted("--annotate", "-e", "19", tmp_path / "walk")
        walk = next(row for row in data["annotation"]["functions"] if row["name"] == "walk")
        assert walk["file"] == str(source)
        at = data["annotation"]["events"].index(19)
        assert walk["self"]["counts"][at] == 1 << 16
        line = next(row for row in data["annotation"]["lines"] if row["line"] == 5)
        assert (line["function"], line["self"]["counts"][at]) == ("walk", 1 << 16)


CALLS = """
#include <stdlib.h>
static volatile int n;
__attribute__((noinline)) static void leaf(int times) { for (int i = 0; i < times; i++) n++; }
__attribute__((noinline)) static void middle(void) { leaf(1000); n++; leaf(2000); n++; }
__attribute__((noinline)) static int recursive(int depth) { n++; if (depth) recursive(depth - 1); n++; return n; }
static void first(void) { for (int i = 0; i < 7; i++) middle(); recursive(9); }
int main(int argc, char **argv) {
    void (*volatile call)(void) = first;
    call();
    if (argc > 1) abort();
    return argv == NULL;
}
"""


@pytest.mark.parametrize(("kind", "status"), [("-static", 0), ("-static", 134), ("-fPIE", 0)])
def test_what_functions_call(tmp_path: Path, kind: str, status: int) -> None:
    path = compiled(tmp_path, CALLS, "-O1", "-fno-optimize-sibling-calls", kind)
    done = perfex("--json", "--annotate", "-e", "19", "-o", tmp_path / "report", path, *["x"] * bool(status))
    assert done.returncode == status
    data = json.loads((tmp_path / "report").read_text())["annotation"]
    at = data["events"].index(19)
    rows = {row["name"]: (row["calls"], row["self"]["counts"][at], row["inclusive"]["counts"][at]) for row in data["functions"]}
    calls, own, inclusive = rows["leaf"]
    assert (calls, own, inclusive) == (14, 7 * 3000, 7 * 3000)
    assert rows["middle"][0] == 7
    assert rows["middle"][2] == rows["middle"][1] + inclusive
    assert rows["recursive"][0] == 10
    assert rows["recursive"][2] == rows["recursive"][1] >= 20
    assert rows["first"][2] == sum(rows[name][1] for name in ("first", "middle", "leaf", "recursive"))
    assert rows["main"][2] >= rows["first"][2]
    assert all(row["inclusive"]["counts"][at] <= data["total"]["counts"][at] for row in data["functions"])


def test_signals_start_and_stop_the_counting(tmp_path: Path) -> None:
    path = compiled(tmp_path, """
#include <signal.h>
#include <unistd.h>
static volatile int n;
static void work(int times) { for (int i = 0; i < times; i++) n++; }
int main(void) {
    work(1000000);
    kill(getppid(), SIGUSR1); usleep(300000);
    work(100000);
    kill(getppid(), SIGUSR2); usleep(300000);
    work(1000000);
}
""", "-static")
    assert 100000 <= (counts(counted("-s", "-e", "19", path))[19] or 0) < 101000


THREADS = """
#include <pthread.h>
#include <stddef.h>
static volatile long n[2][64];
static void *work(void *of) { for (int i = 0; i < 100000; i++) ++*(volatile long *)of; return NULL; }
int main(void) {
    pthread_t made[2];
    for (int i = 0; i < 2; i++) pthread_create(&made[i], NULL, work, (void *)n[i]);
    for (int i = 0; i < 2; i++) pthread_join(made[i], NULL);
}
"""


def test_threads(tmp_path: Path) -> None:
    path = compiled(tmp_path, THREADS, "-static")
    data = counted("-a", "--threads", "fine", "-mp", path)
    stores = [event["count"] for thread in data["threads"] for event in thread["events"] if event["event"] == 19]
    assert sum(100000 <= n < 102000 for n in stores) == 2
    assert counts(data)[19] == sum(stores)
    assert counts(data)[29] is not None


def test_several_runs_of_threads_have_a_spread(tmp_path: Path) -> None:
    data = counted("--repeat", "3", "--events", "15,25", "--threads", "fine", compiled(tmp_path, THREADS, "-static"))
    assert data["notes"] == ["threads have run at once: each run counts something else"]
    assert all(len(row["runs"]["counts"]) == 3 for row in data["events"])
    once = perfex("-e", "15", tmp_path / "program").stderr
    assert "threads have run at once: each run counts something else; --repeat N shows how much" in " ".join(once.split())
    same = counted("--repeat", "3", "--events", "15,18,19", compiled(tmp_path, FORK, "-static", name="one"))
    assert [set(row["runs"]["counts"]) for row in same["events"]] == [{row["count"]} for row in same["events"]]
    assert same["notes"] == []


def test_reports_that_are_compared(tmp_path: Path) -> None:
    source = "int main(int argc, char **argv) { for (volatile int i = 0; i < 1000 * argc; i++) { } return argv == 0; }\n"
    mips, own = compiled(tmp_path, source, "-static", name="mips"), tmp_path / "own"
    build(needs("cc"), "-x", "c", "-", "-o", own, source=source)
    for name, words in (("one", (mips,)), ("two", (mips, "x")), ("host", ("--backend", "qemu", own)), ("valgrind", ("--backend", "valgrind", own))):
        if name != "valgrind" or tool("valgrind"):
            assert perfex("--json", "--events", "15,19", "-o", tmp_path / name, *words).returncode == 0
    done = perfex("--compare", tmp_path / "one", tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert "+1000" in done.stdout
    for name in ("host", "valgrind"):
        if (tmp_path / name).exists():
            assert "R10000 code and the code of a host" in refused("--compare", tmp_path / "one", tmp_path / name)
            done = perfex("--anyway", "--compare", tmp_path / "one", tmp_path / name)
            assert "instructions: R10000 code and the code of a host, which are not the same ones" in " ".join(done.stdout.split())


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/missing\n")
    (tmp_path / "script").chmod(0o755)
    assert "neither a MIPS program nor one of this host" in refused("--backend", "qemu", "-e", "15", tmp_path / "script")
    path = compiled(tmp_path, "int main(void) { return 0; }\n", "-static")
    assert "not a program for this machine" in refused("--backend", "valgrind", "-e", "15", path)
    assert "qemu-mips64 is not installed" in refused("-e", "15", path, env={"PATH": str(tmp_path)})


REGIONS = """
#include <perfex.h>
#include <stdio.h>
static volatile int n;
int main(void) {
    long long loads, stores;
    for (int round = 0; round < 3; round++) {
        start_counters(15, 19);
        for (int i = 0; round && i < 10000 * round; i++) n++;
        read_counters(15, &loads, 19, &stores);
        printf("%lld ", stores);
    }
}
"""


@pytest.mark.long
@pytest.mark.needs("cmake")
def test_regions_of_a_program(tmp_path: Path) -> None:
    build(needs("cmake"), "-S", ROOT, "-B", tmp_path / "build", "--toolchain", ROOT / "csrc/cmake/mips64.cmake", "-DPYPFM_EXTENSIONS=OFF",
          "-DPYPFM_TESTS=OFF", "-DPYPFM_WERROR=ON")
    build(needs("cmake"), "--build", tmp_path / "build", "--target", "perfex", "perfex_static")
    library, = (tmp_path / "build").rglob("libperfex.so.1")
    archive, = (tmp_path / "build").rglob("libperfex.a")
    for name, words in (("dynamic", ("-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}")),
                        ("static", ("-static", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"))):
        path = compiled(tmp_path, REGIONS, f"-I{ROOT}/csrc/perfex/include", *map(str, words), name=name)
        stores = perfex("-mp", "-e", "15", path).stdout.split()
        assert stores[1:] == ["10000", "20000"]  # in the first one, the dynamic linker looks for functions
