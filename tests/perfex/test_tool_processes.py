"""The valgrind tool: processes, threads, what ends them, and that the counts of instructions add up to the totals."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from native import CC, build
from pypfm.perfex.backends.simulation import counts
from tool_runs import Run, compiled, run, started
from tools import needs_flags

pytestmark = [pytest.mark.slow, pytest.mark.needs("valgrind", "gcc"), pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="the tool is made for x86-64 and AArch64")]

HEAD = """
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int x;
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) x++; }
"""


def adds_up(done: Run) -> None:
    """Whether what instructions have counted is what was counted."""
    for number, process in enumerate(done.processes):
        found = done.profile(number)
        sums = [sum(column) for column in zip(*found.code.values(), strict=True)]
        assert dict(zip(found.names, sums, strict=True)) == process.counts
        assert not process.full
        assert not process.lost


def function(done: Run, name: str, what: str = "Ir") -> int:
    found = done.profile()
    column = found.names.index(what)
    return sum(row[column] for place, row in found.code.items() if place.function.name == name)


def work_of(tmp_path: Path, body: str, *, options: tuple[str, ...] = ("--lines=yes",), flags: tuple[str, ...] = (), check: bool = True) -> Run:
    done = run(tmp_path, compiled(tmp_path, HEAD + body, *flags), options=options, check=check)
    adds_up(done)
    return done


def turns(done: Run) -> int:
    """How often the loop of work() has run, by its stores."""
    return function(done, "work", "Dw")


def test_a_child_has_its_own_counts_and_the_parent_keeps_its_own(tmp_path: Path) -> None:
    done = work_of(tmp_path, "int main(void) { work(1000); if (!fork()) { work(300); _exit(0); } wait(NULL); work(10); return 0; }")
    parent, child = done.processes
    assert child.parent == parent.pid
    assert (parent.state, child.state) == (counts.ENDED, counts.ENDED)
    assert turns(done) == 1310
    assert child.counts["Ir"] < 300 * 8 + 1000
    assert parent.counts["Dw"] > 1010


def test_each_program_of_a_process_has_a_file(tmp_path: Path) -> None:
    done = work_of(tmp_path, """int main(int c, char **v) {
        work(100);
        execl("/no/such/file", "x", NULL);
        work(20);
        if (c == 1) execl(v[0], v[0], "again", NULL);
        return 0; }""")
    first, second = done.processes
    assert first.pid == second.pid
    assert (first.state, second.state) == (counts.REPLACED, counts.ENDED)
    assert turns(done) == 240


@pytest.mark.parametrize(("end", "status"), [
    ("pid_t me = getpid(); if (!fork()) { kill(me, SIGKILL); _exit(0); } pause();", -9), ("abort();", -6), ("*(volatile int *)8 = 1;", -11), ("_exit(7);", 7),
    ("pthread_t t; pthread_create(&t, NULL, (void *(*)(void *))_exit, (void *)5); pause();", 5)])
def test_whatever_ends_a_process_its_counts_are_there(tmp_path: Path, end: str, status: int) -> None:
    done = work_of(tmp_path, f"int main(void) {{ work(500); {end} return 0; }}", check=False)
    assert done.status == status
    assert turns(done) == 500
    killed = [p for p in done.processes if p.state == counts.RUNS]
    assert len(killed) == (status == -9)


@pytest.mark.long
def test_hundreds_of_children(tmp_path: Path) -> None:
    done = work_of(tmp_path, """int main(void) {
        for (int i = 0; i < 200; i++) if (!fork()) { work(10); _exit(0); }
        while (wait(NULL) > 0); return 0; }""")
    assert len(done.processes) == 201
    assert turns(done) == 2000


def test_generations_of_children(tmp_path: Path) -> None:
    done = work_of(tmp_path, """int main(void) {
        for (int i = 0; i < 14; i++) { if (fork()) { int s; wait(&s); _exit(0); } work(10); }
        return 0; }""")
    assert len(done.processes) == 15
    assert turns(done) == 140


def test_threads_are_told_apart(tmp_path: Path) -> None:
    done = work_of(tmp_path, """static void *run(void *n) { work((int)(long)n); return NULL; }
        int main(void) { pthread_t t[4];
        for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, (void *)(1000 * (i + 1)));
        for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
        for (long i = 0; i < 4; i++) { pthread_create(&t[0], NULL, run, (void *)50); pthread_join(t[0], NULL); }
        return 0; }""", options=("--lines=yes", "--threads=yes"))
    process, = done.processes
    assert len(process.threads) == 9
    assert process.threads[0].tid == process.pid
    assert len({t.tid for t in process.threads}) == 9
    stores = sorted(t.counts["Dw"] for t in process.threads[1:])
    assert all(n - 50 < 400 for n in stores[:4])
    assert [n // 1000 for n in stores[4:]] == [1, 2, 3, 4]
    assert turns(done) == 10200


def test_a_static_program(tmp_path: Path) -> None:
    assert turns(work_of(tmp_path, "int main(void) { work(70); return 0; }", flags=("-static",))) == 70


def flags_of_32_bits() -> tuple[str, ...]:
    """The compiler's; Debian's cross compilers for MIPS remove gcc-multilib, and with it a link to <asm/>, which is this host's."""
    needs_flags(CC, "-m32")
    host = build(CC, "-print-multiarch").strip()
    return "-m32", "-fno-pie", "-no-pie", "-idirafter", f"/usr/include/{host}"


def test_programs_of_32_bits(tmp_path: Path) -> None:
    path = compiled(tmp_path, HEAD + "int main(void) { work(70); return 0; }", *flags_of_32_bits())
    done = run(tmp_path, path, width=32)
    adds_up(done)
    assert turns(done) == 70


EXCHANGE = ("for (int i = 0; i < 90; i++) { int a = %d, d = 0; __asm__ volatile (\"lock cmpxchg8b %%0\" : \"+m\" (y), \"+a\" (a), \"+d\" (d)"
            " : \"b\" (0), \"c\" (0) : \"cc\"); }")


@pytest.mark.parametrize(("body", "options", "expected"), [
    (EXCHANGE % 0, (), {"Dr": 90, "Dw": 90, "Sc": 90, "Sf": 0}),
    (EXCHANGE % 1, (), {"Dr": 90, "Dw": 90, "Sc": 90, "Sf": 90}),
    ("const void *a = &y, *b = &y; int n = 8; __asm__ volatile (\"repe cmpsb\" : \"+S\" (a), \"+D\" (b), \"+c\" (n));", (), {"Dr": 16}),
    ("const void *a = &y; int n = 8; __asm__ volatile (\"repne scasb\" : \"+D\" (a), \"+c\" (n) : \"a\" (1));", (), {"Dr": 8}),
    ("__asm__ volatile (\".rept 90; call 1f; 1: pop %%eax; .endr\" : : : \"eax\");", (), {"Ir": 180, "Dr": 90, "Dw": 90, "Bi": 1}),
    ("__asm__ volatile (\".rept 10; pusha; popa; .endr\");", (), {"Ir": 20, "Dr": 70, "Dw": 80}),
    ("work(1000);", ("--fine=yes", "--fair-sched=yes"), {})],
    ids=["cmpxchg8b", "a failing cmpxchg8b", "repe", "repne", "call and pop", "pusha", "turns"])
def test_what_programs_of_32_bits_do(tmp_path: Path, body: str, options: tuple[str, ...], expected: dict[str, int]) -> None:
    """What is done in a function, which saves and restores some registers, and without that."""
    source = f"static unsigned long long y; __attribute__((noinline)) void done(void) {{ {body} }} int main(void) {{ done(); return 0; }}"
    path = compiled(tmp_path, HEAD + source, *flags_of_32_bits())
    done = run(tmp_path, path, options=("--lines=yes", *options), width=32)
    adds_up(done)
    for what, times in expected.items():
        assert times <= function(done, "done", what) <= times + 6 * (what in ("Ir", "Dr", "Dw")), what


def test_code_that_is_made_at_run_time(tmp_path: Path) -> None:
    """Two functions at one address, one after the other."""
    if platform.machine() != "x86_64":
        pytest.skip("the code is x86-64's")
    done = work_of(tmp_path, """int main(void) {
        static const unsigned char one[] = { 0x90, 0x90, 0x90, 0xc3 }, two[] = { 0x8b, 0x07, 0xc3, 0xcc };
        unsigned char *code = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < 30; i++) {
            memcpy(code, i % 2 ? two : one, 4);
            for (int k = 0; k < 10; k++) ((void (*)(volatile int *))code)(&x);
        }
        return 0; }""", flags=("-Wl,-z,execstack",))
    found = done.profile()
    rows = [dict(zip(found.names, row, strict=True)) for place, row in found.code.items() if place.function.object == "???"]
    assert {name: sum(row[name] for row in rows) for name in ("Ir", "Ni", "Bi", "Dr")} == {
        "Ir": 150 * 4 + 150 * 2, "Ni": 150 * 3, "Bi": 300, "Dr": 450}


def test_a_library_that_is_gone_keeps_its_names(tmp_path: Path) -> None:
    source = "volatile int y; void NAME(int n) { for (int i = 0; i < n; i++) y++; }"
    for name in ("first", "second"):
        build(CC, "-g", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", tmp_path / f"{name}.so", source=source.replace("NAME", name))
    done = work_of(tmp_path, f"""#include <dlfcn.h>
        int main(void) {{ for (int i = 0; i < 4; i++) {{
            const char *name = i % 2 ? "second" : "first"; char path[4096];
            snprintf(path, sizeof path, "{tmp_path}/%s.so", name);
            void *l = dlopen(path, RTLD_NOW); ((void (*)(int))dlsym(l, name))(100 * (i % 2 + 1)); dlclose(l); }}
        return 0; }}""")
    assert function(done, "first", "Dw") == 200
    assert function(done, "second", "Dw") == 400
    objects = {p.function.object.rpartition("/")[2] for p in done.profile().code if p.function.name in ("first", "second")}
    assert objects == {"first.so", "second.so"}


def test_a_signal_handler(tmp_path: Path) -> None:
    done = work_of(tmp_path, """static jmp_buf back;
        static void handler(int s) { work(20); if (s == SIGUSR2) siglongjmp(back, 1); }
        int main(void) { signal(SIGUSR1, handler); signal(SIGUSR2, handler);
        for (int i = 0; i < 10; i++) raise(SIGUSR1);
        for (volatile int i = 0; i < 10; i++) if (!sigsetjmp(back, 1)) raise(SIGUSR2);
        return 0; }""", options=("--lines=yes", "--calls=yes"))
    assert turns(done) == 400


@pytest.mark.parametrize("preload", [None, "", "libm.so.6"])
def test_the_program_sees_nothing_of_valgrind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preload: str | None) -> None:
    """In its environment and in that of its children, which are simulated all the same."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    if preload is not None:
        monkeypatch.setenv("LD_PRELOAD", preload)
    path = compiled(tmp_path, HEAD + """extern char **environ; int main(int c, char **v) {
        for (char **e = environ; *e; e++) puts(*e);
        fflush(stdout);
        if (c == 1 && !fork()) execl(v[0], v[0], "again", NULL);
        wait(NULL); return 0; }""")
    done = run(tmp_path, path, options=())
    assert len(done.processes) == 3
    seen = [line for line in done.stdout.splitlines() if line.startswith(("LD_PRELOAD=", "VALGRIND_LIB="))]
    assert seen == ([] if preload is None else [f"LD_PRELOAD={preload}"] * 2)
    assert done.stderr == ""


def test_what_the_dynamic_linker_does_for_valgrind_does_not_count(tmp_path: Path) -> None:
    path = compiled(tmp_path, HEAD + "int main(void) { return 0; }")
    done = run(tmp_path, path)
    assert not [place for place in done.profile().code if "vgpreload" in place.function.object]
    assert "vgpreload" not in run(tmp_path, "cat", "/proc/self/maps").stdout


@pytest.mark.long
def test_a_cache_directory_with_blanks_and_colons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache: x"))
    done = work_of(tmp_path, "int main(void) { work(70); return 0; }")
    assert done.stderr == ""
    assert turns(done) == 70


#: What fails in touch(), after some loads, and what the handler of its signal does about it.
FAILING = {
    "a store": ("for (long i = 0; i < 50; i++, p += 512) { s += p[0]; s += p[1]; s += p[2]; p[8] = s; }", "*page = 0;", ""),
    "rep movsb": ("s += *p; __asm__ volatile (\"rep movsb\" : \"+S\" (f), \"+D\" (p), \"+c\" (n) : : \"memory\");", "*page = 0;", ""),
    "an aligned store": ("s += *p; __asm__ volatile (\"mov %0, %%rsi; mov (%1), %%rax; movaps %%xmm0, (%%rsi)\" : : \"r\" (f + BAD), \"r\" (f)"
                         " : \"rsi\", \"rax\", \"memory\");", "", "REG_RSI] &= -16"),
    "a division": ("s += *p; __asm__ volatile (\"mov (%1), %%rax; xor %%edx, %%edx; div %0\" : : \"c\" ((long)!BAD), \"r\" (f)"
                   " : \"rax\", \"rdx\", \"memory\");", "", "REG_RCX] = 1"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FAILING)
def test_what_comes_before_an_instruction_that_fails_counts(tmp_path: Path, name: str) -> None:
    """As much as if none had failed: one that fails has not been executed, and counts when it is executed again."""
    if platform.machine() != "x86_64":
        pytest.skip("some of it is x86-64 code")
    body, page, register = FAILING[name]
    source = f"""#include <ucontext.h>
        static char from[8192] __attribute__((aligned(4096)));
        static void handler(int number, siginfo_t *s, void *u) {{
            {"((ucontext_t *)u)->uc_mcontext.gregs[" + register + ";" if register else "mprotect((char *)((long)s->si_addr & -4096), 4096, 3);"} }}
        __attribute__((noinline)) long touch(volatile long *p, long n, long bad) {{ char *f = from; long s = 0; {body.replace("BAD", "bad")} return s; }}
        int main(int c, char **v) {{
            struct sigaction a = {{ .sa_sigaction = handler, .sa_flags = SA_SIGINFO }};
            sigaction(SIGSEGV, &a, NULL); sigaction(SIGFPE, &a, NULL);
            volatile long *m = mmap(NULL, 4096 * 50, c > 1 && {int(bool(page))} ? 1 : 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            return (int)touch(m, 8192, c > 1); }}"""
    path = compiled(tmp_path, HEAD + source)
    found = {}
    for which, words in (("whole", ()), ("fails", ("x",))):
        (place := tmp_path / which).mkdir()
        done = run(place, path, *words)
        adds_up(done)
        profile = done.profile()
        # valgrind itself leaves out the round of a repeated instruction that fails.
        found[which] = {what: function(done, "touch", what) for what in profile.names[:profile.names.index("I1mr")]
                        if not (name == "rep movsb" and what in ("Dr", "Dw"))}
        (again := tmp_path / f"{which} again").mkdir()
        assert run(again, path, *words, options=()).processes[0].counts == done.processes[0].counts
    assert found["fails"] == found["whole"]
    assert function(done, "handler") > 0


def test_a_processor_for_each_thread(tmp_path: Path) -> None:
    """Two threads that write one line make much more of it than two that write lines of their own."""
    source = """static struct { volatile long a; char pad[PAD]; volatile long b; } shared __attribute__((aligned(4096)));
        static volatile int ready;
        static void both(void) { __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST); while (ready < 2) sched_yield(); }
        static void *one(void *p) { both(); for (int i = 0; i < 100000; i++) shared.a++; return p; }
        static void *two(void *p) { both(); for (int i = 0; i < 100000; i++) shared.b++; return p; }
        int main(void) { pthread_t s, t; pthread_create(&s, NULL, one, NULL); pthread_create(&t, NULL, two, NULL);
        pthread_join(s, NULL); pthread_join(t, NULL); return 0; }"""
    found = []
    for pad in (0, 4096):
        (place := tmp_path / str(pad)).mkdir()
        done = work_of(place, source.replace("PAD", str(pad)), options=("--lines=yes", "--fine=yes", "--fair-sched=yes"))
        process, = done.processes
        assert len(process.threads) == 3
        found.append(process.counts)
    false, padded = found
    for what in ("Xint", "Xinv", "DLsh"):
        assert false[what] > 2 * padded[what], (what, false, padded)
    assert false["Xint"] + false["Xinv"] > 100


def test_a_child_has_no_processors_of_threads_that_it_does_not_have(tmp_path: Path) -> None:
    done = work_of(tmp_path, """static volatile long shared[4096];
        static volatile int ready, stop;
        static void *run(void *p) { for (int i = 0; i < 4096; i++) shared[i]++; ready++; while (p && !stop) usleep(1000); return p; }
        int main(void) { pthread_t t, ended; pthread_create(&t, NULL, run, &t); pthread_create(&ended, NULL, run, NULL);
        pthread_join(ended, NULL); while (ready < 2) usleep(1000);
        if (!fork()) { for (int i = 0; i < 4096; i++) shared[i]++; _exit(0); }
        wait(NULL); stop = 1; pthread_join(t, NULL); return 0; }""", options=("--lines=yes", "--fine=yes", "--fair-sched=yes"))
    _, child = done.processes
    assert child.counts["Dw"] > 4096
    assert child.counts["Xint"] == child.counts["Xinv"] == 0


def test_without_a_processor_for_each_thread_nothing_is_shared(tmp_path: Path) -> None:
    done = work_of(tmp_path, "int main(void) { work(10); return 0; }")
    assert not any(done.processes[0].counts[name] for name in ("Xint", "Xinv", "DLsh"))


def test_calls(tmp_path: Path) -> None:
    """Recursion is counted once, jumps at the end of a function are calls, and longjmp() leaves functions."""
    done = work_of(tmp_path, """static jmp_buf back;
        __attribute__((noinline)) int fib(int n) { if (n > 1) { x += fib(n - 1); x += fib(n - 2); } return 1; }
        __attribute__((noinline)) void last(int n) { work(n); }
        __attribute__((noinline)) void odd(int n);
        __attribute__((noinline)) void even(int n) { x++; if (n) odd(n - 1); x++; }
        __attribute__((noinline)) void odd(int n) { x++; if (n) even(n - 1); x++; }
        __attribute__((noinline)) void left(int n) { x++; if (!n) longjmp(back, 1); left(n - 1); x++; }
        static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
        int main(void) { static int v[64];
        for (int i = 0; i < 5; i++) fib(8);
        even(20); for (int i = 0; i < 3; i++) if (!setjmp(back)) left(10);
        for (int i = 0; i < 7; i++) last(10);
        for (int i = 0; i < 64; i++) v[i] = (i * 37) % 64;
        qsort(v, 64, 4, compare); return 0; }""", options=("--lines=yes", "--calls=yes"), flags=("-foptimize-sibling-calls",))
    found = done.profile()
    column = found.names.index("Ir")
    own: dict[str, int] = {}
    for place, row in found.code.items():
        own[place.function.name] = own.get(place.function.name, 0) + row[column]
    called = {(a.name, b.name): (row[0], row[1 + column]) for (a, b), row in found.calls.items()}
    whole = {function.name: (row[0], row[1 + column]) for function, row in found.inclusive.items()}
    assert whole["fib"] == (5 * 67, own["fib"])
    assert called["main", "fib"] == (5, own["fib"])
    assert called["fib", "fib"][0] == 5 * 66
    assert whole["even"] == (11, own["even"] + own["odd"])
    assert whole["odd"][0] == 10
    assert called["main", "left"][0] == 3
    assert called["left", "left"][0] == 30
    assert whole["main"][0] == 1
    assert called["last", "work"] == (7, own["work"])
    assert whole["last"] == (7, own["last"] + own["work"])
    assert called["main", "qsort"][0] == 1
    assert whole["compare"][1] == own["compare"]
    assert whole["main"][1] >= sum(own[name] for name in ("main", "fib", "even", "odd", "left", "last", "work", "compare"))


SWITCHING = """
int main(void) {
    for (int i = 0; i < 200; i++) { printf("%d\\n", i); fflush(stdout); getchar(); work(100); }
    return 0; }"""


def waits(pid: int) -> None:
    """Wait until a process sleeps in a system call."""
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "SZ":
        pass


def test_counting_is_switched_from_outside(tmp_path: Path) -> None:
    """Records are those of the first translation, however often code is translated again."""
    path = compiled(tmp_path, HEAD + SWITCHING)
    (out := tmp_path / "counts").mkdir()
    with started(tmp_path, path, options=("--lines=yes", "--off=yes")) as process:
        assert process.stdin
        assert process.stdout
        sizes, live = [], None
        for number in range(200):
            assert process.stdout.readline() == f"{number}\n"
            waits(process.pid)  # in getchar(): what is counted between two switches is the same in each round
            live = live or counts.Live(next(out.glob("*.r10k")))
            live.switch(number % 4 == 2)
            sizes.append(next(out.glob("*.r10k")).stat().st_size)
            process.stdin.write("x")
            process.stdin.flush()
        assert process.wait() == 0
    assert live
    counted = live.counts()
    live.close()
    found = Run(0, "", "", [counts.read(file) for file in out.glob("*.r10k")], list(out.glob("*.r10k")))
    adds_up(found)
    assert found.processes[0].counts == counted
    assert turns(found) == 50 * 100
    assert sizes[-1] < 1.05 * sizes[20]


def test_messages_of_all_processes_are_in_one_file(tmp_path: Path) -> None:
    done = work_of(tmp_path, "int main(void) { if (!fork()) __asm__ volatile (\"fbld %0\" : : \"m\" (*(char(*)[10])(char[10]){ 0 })); wait(NULL); return 0; }",
                   options=("--lines=yes", f"--messages={tmp_path / 'log'}"))
    assert done.stderr == ""
    said = (tmp_path / "log").read_text()
    assert f"=={done.processes[1].pid}== " in said
    assert "Illegal opcode" in said
