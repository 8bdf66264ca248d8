"""Libraries that leave marks: in their process, in its end, in their file; none of them "conforms"."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from forwarder import MUTANT, forwarder
from hostile import HOOKS, at_load, conform, got, in_a_call, library
from pypfm import pfm4
from pypfm.conform import runner
from pypfm.conform.checks import symbols
from pypfm.conform.vectors import recorded
from pypfm.conform.worker import fence
from tools import first

pytestmark = pytest.mark.slow

STRAY, CLOSED = "wrote into a descriptor that is not its own", "closed a descriptor that is not its own"
LEFT, SLOW = "left a process running", "no answer in time"
FENCED = "SIGSYS: it signals, traces or limits another process"
fenced = pytest.mark.skipif(os.uname().machine not in fence.MACHINES, reason="no filter for this machine's system calls")
SENDS_RIGHTS = r"""for (int fd = 3; fd < 1024; fd++) { char room[CMSG_SPACE(4)] = { 0 }; struct iovec v = { "x\n", 2 };
    struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m); c->cmsg_level = SOL_SOCKET; c->cmsg_type = SCM_RIGHTS; c->cmsg_len = CMSG_LEN(4);
    sendmsg(fd, &m, 0); }"""
NO_WRITING = """struct sock_filter f[] = { { 0x20, 0, 0, 0 }, { 0x15, 0, 1, __NR_write }, { 6, 0, 0, 0x50000 }, { 6, 0, 0, 0x7fff0000 } };
    struct sock_fprog p = { 4, f }; prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); prctl(PR_SET_SECCOMP, 2, &p);"""
COMET = "if (!fork()) { setsid(); for (int i = 0; i < 20000; i++) { if (fork()) _exit(0); usleep(100); } _exit(0); }"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def found(path: Path, timeout: float = 3) -> dict[str, set[str]]:
    """What a few calls of each kind find, by function."""
    some = [v for v in recorded("pfm4") if v["kind"] == "encode"][:30]
    told: dict[str, set[str]] = {}
    report = runner.run(str(path), "pfm4", vectors=some, timeout=timeout)
    for finding in report.findings:
        told.setdefault(finding.function, set()).update(d.got for d in finding.differences)
    assert (report.status != 0) == bool(told)
    return told


def test_the_objects_alone_conform(base: Path) -> None:
    path = library(base, "")
    status, report = conform(path, 20)
    assert (status, report["findings"]) == (0, [])


# ---- while it is loaded, and at the end ------------------------------------------------------

@pytest.mark.parametrize(("code", "function", "how"), first([
    (SENDS_RIGHTS, "dlopen", STRAY),
    ('for (int fd = 3; fd < 1024; fd++) send(fd, "x", 1, MSG_OOB);', "dlopen", STRAY),
    ("for (int fd = 3; fd < 1024; fd++) shutdown(fd, SHUT_RDWR);", "dlopen", CLOSED),
    ("for (int fd = 3; fd < 1024; fd++) shutdown(fd, SHUT_RD);", "dlopen", CLOSED),
    ("raise(SIGSTOP);", "dlopen", SLOW),
    (NO_WRITING, "dlopen", SLOW),
    ('execl("/bin/true", "true", NULL);', "dlopen", "ended the process with status 0"),
    ("daemon(0, 0);", "dlopen", "ended the process with status 0; one that it had forked went on"),
    ("kill(0, SIGKILL);", "dlopen", "SIGKILL"),
    ('__asm__ volatile("std");', "dlopen", "SIGSEGV"),
    ("if (!fork()) { setsid(); signal(SIGTERM, SIG_IGN); for (;;) pause(); }", "dlopen", LEFT),
    ("prctl(PR_SET_CHILD_SUBREAPER, 1); if (!fork()) { if (!fork()) { setsid(); for (;;) pause(); } _exit(0); }", "dlopen", LEFT),
    ("prctl(PR_SET_PDEATHSIG, 0); if (!fork()) { setsid(); if (fork()) _exit(0); for (;;) pause(); }", "dlopen", LEFT),
    (COMET, "dlopen", LEFT),
    ("atexit(abort);", "exit", "SIGABRT"),
    pytest.param('int r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20));', "dlopen", FENCED, marks=pytest.mark.skipif(
        os.uname().machine != "x86_64", reason="int $0x80 is of x86")),
    pytest.param("kill(-1, SIGTERM);", "dlopen", FENCED, marks=fenced),
], 3))
def test_what_a_constructor_does(code: str, function: str, how: str, base: Path) -> None:
    assert how in found(at_load(base, code), 2)[function]


@pytest.mark.parametrize(("code", "how"), first([
    ("_exit(0);", "ended the process with status 0"), ("abort();", "SIGABRT"), ("for (;;) pause();", SLOW),
    ("kill(getpid(), SIGSTOP);", SLOW), ("*(volatile int *)0 = 0;", "SIGSEGV"),
]))
def test_what_a_destructor_does(code: str, how: str, base: Path) -> None:
    """Each program that uses the library ends like that."""
    path = library(base, f"__attribute__((destructor)) static void late(void) {{ {code} }}")
    assert found(path, 2) == {"exit": {how}}


# ---- what it changes ---------------------------------------------------------------------------

@pytest.mark.parametrize(("code", "what"), first([
    ('chdir("/");', "working directory"), ("umask(0);", "umask"), ('setenv("LD_PRELOAD", "/x.so", 1);', "variable LD_PRELOAD"),
    ('setlocale(LC_NUMERIC, "C.UTF-8");', "locale"), ("dup2(0, 700);", "descriptor 700"),
    ("signal(SIGINT, SIG_IGN);", "ignored signals"), ("signal(SIGSEGV, exit);", "signals with a handler"),
    ("signal(SIGINT, exit);", "handler of SIGINT"),
    ("sigset_t s; sigfillset(&s); sigprocmask(SIG_BLOCK, &s, NULL);", "blocked signals"),
    ("alarm(3600);", "timers"), ("prctl(PR_SET_DUMPABLE, 0);", "dumpable"), ("prctl(PR_SET_PDEATHSIG, 0);", "parent-death signal"),
    ("struct rlimit no = { 0, 0 }; setrlimit(RLIMIT_FSIZE, &no);", "limit RLIMIT_FSIZE"), ("nice(5);", "nice value"),
    ("pthread_t t; pthread_create(&t, NULL, (void *(*)(void *))pause, NULL);", "threads"),
    ("cpu_set_t c; CPU_ZERO(&c); CPU_SET(sched_getcpu(), &c); sched_setaffinity(0, sizeof c, &c);", "allowed CPUs"),
    pytest.param('unsigned modes = 0xffc0; __asm__ volatile("ldmxcsr %0" : : "m"(modes));', "floating point",
                 marks=pytest.mark.skipif(os.uname().machine != "x86_64", reason="ldmxcsr is of x86")),
], 3))
def test_what_is_not_as_it_was(code: str, what: str, base: Path) -> None:
    """After a call in the middle of others."""
    if what == "allowed CPUs" and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("this process has one CPU already")
    some = [v for v in recorded("pfm4") if v["kind"] == "encode"][:30]
    report = runner.run(str(in_a_call(base, f"if (calls++ == 5) {{ {code} }}")), "pfm4", vectors=some)
    assert [f.function for f in report.findings] == ["process"]
    assert what in {d.field for d in report.findings[0].differences}
    assert report.status == 4


def test_what_is_changed_at_once(base: Path) -> None:
    told = found(at_load(base, 'chdir("/"); signal(SIGINT, SIG_IGN); for (int n = 1; n < 32; n++) signal(n, SIG_IGN);'))
    assert set(told) == {"process"}
    assert "/" in told["process"]


# ---- calls --------------------------------------------------------------------------------------

@pytest.mark.parametrize(("code", "how"), first([
    ("static jmp_buf nowhere; longjmp(nowhere, 1);", "SIGSEGV"),
    ("volatile char little[8]; memset((void *)little, 'A', 4096);", "SIGSEGV"),
    ("volatile char *large = __builtin_alloca(1ul << 32); large[0] = 1;", "SIGSEGV"),
    ("pthread_exit(NULL);", "ended the process with status 0"),
    ("mmap((void *)((unsigned long)args & ~0xffful), 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0);", "SIGSEGV"),
    ("alarm(1); for (;;) pause();", "SIGALRM"),
    ("_exit(117);", CLOSED),
], 2))
def test_what_a_call_does(code: str, how: str, base: Path) -> None:
    assert found(in_a_call(base, f"if (calls++ == 5) {{ {code} }}"))["pfm_get_os_event_encoding"] == {how}


KEPT = """if (calls++ == 5) { int r = real_pfm_get_os_event_encoding(str, plm, os, args); %s; return r; }"""


@pytest.mark.parametrize(("layer", "change"), first([
    ("perf_event", "(*(unsigned **)args)[12] ^= 7"),
    ("perf_event_ext", "(*(unsigned **)args)[26] ^= 7"),
    ("perf_event", "((char *)str)[0] ^= 0x20"), ("none", "((char *)str)[0] ^= 0x20")]))
def test_what_a_call_may_only_read(layer: str, change: str, base: Path) -> None:
    """Its string, and the members of a structure that it has nothing to say about."""
    some = [v for v in recorded("pfm4") if v["kind"] == "encode" and v["os"] == layer and not v["expect"]["ret"]][:30]
    report = runner.run(str(in_a_call(base, KEPT % change)), "pfm4", vectors=some)
    assert {d.field for f in report.findings for d in f.differences} == {"input changed"}


@pytest.mark.parametrize("function", ["pfm_get_event_encoding", "pfm_get_perf_event_encoding"])
def test_a_string_that_a_step_may_only_read(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MUTANT, f"{function} f 1 0 0 1")
    some = [v for v in recorded("pfm4") if v["kind"] == "sequence" and v["id"] == "lives-perf"]
    report = runner.run(str(forwarder("pfm4")), vectors=some)
    assert {(f.function, d.field) for f in report.findings for d in f.differences} == {(function, "input changed")}


def test_a_fault_of_the_function_that_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called along with another one."""
    monkeypatch.setenv(MUTANT, "pfm_find_event e -77")
    some = [v for v in recorded("pfm4") if v.get("find") and "find" in v["expect"]][:30]
    report = runner.run(str(forwarder("pfm4")), vectors=some)
    assert {f.function for f in report.findings} == {"pfm_find_event"}
    assert all(tally.differ <= tally.run for tally in report.tallies.values())


def test_a_number_of_attributes_that_is_far_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    offset = pfm4.pfm_event_info_t.nattrs.offset
    monkeypatch.setenv(MUTANT, f"pfm_get_event_info f 2 2 {offset + 1}")
    some = [v for v in recorded("pfm4") if v["kind"] == "info" and "event" in v][:30]
    report = runner.run(str(forwarder("pfm4")), vectors=some)
    assert len(report.findings) == 30
    assert all(int(d.got) - int(d.expected) == 64 for f in report.findings for d in f.differences if d.field == "len(attrs)")


# ---- the file --------------------------------------------------------------------------------------

def test_a_library_that_puts_another_one_in_its_place(base: Path) -> None:
    good = base / "good.so"
    shutil.copy(library(base, ""), good)
    swap = r"""FILE *maps = fopen("/proc/self/maps", "r"); char line[4096], made[4200]; while (fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/'); if (path && strstr(path, "/library") && strstr(path, "libpfm.so.4")) {
        path[strcspn(path, "\n")] = 0; sprintf(made, "cp GOOD %s.new", path); if (access("GOOD", R_OK) || system(made)) break;
        sprintf(made, "%s.new", path); rename(made, path); break; } } fclose(maps);""".replace("GOOD", str(good))
    status, report = conform(at_load(base, swap))
    assert status == 4
    assert got(report) == {"another one, or changed, since it was loaded: nothing is known of it"}


def test_another_soname(base: Path) -> None:
    status, report = conform(library(base, "", "-Wl,-soname,libpfm.so.5"))
    assert (status, got(report)) == (8, {"libpfm.so.5"})


def test_no_soname(base: Path) -> None:
    outcome = symbols.check(library(base, "", "-Wl,-soname,"), "pfm4")
    assert outcome.findings == []
    assert "it has no soname: programs find it as libpfm.so.4 by its file name only" in outcome.notes


@pytest.mark.parametrize(("versions", "reason"), first([
    ("pfm_get_version@OLD", "a version that no program can be linked with"),
    ("pfm_get_version@@NEW", ""),
    ("pfm_get_version@OLD pfm_get_version@@NEW", "2 versions: which one a program calls depends on how it was linked"),
]))
def test_versions_of_a_function(versions: str, reason: str, base: Path) -> None:
    """dlsym() finds one of them, a program that is linked perhaps another one."""
    script = base / "versions"
    script.write_text("OLD { local: real_*; };\nNEW { };\n")
    code = "".join(f"int version{n}(void) {{ return {n}; }}\n__asm__(\".symver version{n},{name}\");\n"
                   for n, name in enumerate(versions.split()))
    path = library(base, code, f"-Wl,--version-script={script}", hooked=("pfm_get_version",))
    told = {d.got for f in symbols.check(path, "pfm4").findings for d in f.differences if f.function == "pfm_get_version"}
    assert told == ({reason} if reason else set())


@pytest.mark.parametrize("name", first(HOOKS))
def test_a_function_that_is_a_variable(name: str, base: Path) -> None:
    path = library(base, f"int a_variable __asm__(\"{name}\") = 4;\n", hooked=(name,))
    status, report = conform(path)
    assert status & 8
    assert "variable" in got(report)
