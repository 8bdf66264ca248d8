"""Libraries that cheat or leave marks: whatever they do to their process, to the kit or to their file, none of them "conforms"."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from broken import ENCODE, with_code
from forwarder import MUTANT, forwarder
from hostile import EACH, at_load, conform, got, in_a_call, library
from native import PFM3
from pypfm import pfm4
from pypfm.conform import runner
from pypfm.conform.checks import symbols
from pypfm.conform.vectors import in_steps, recorded
from pypfm.conform.worker import fence
from terminal import pypfm
from tools import first

pytestmark = pytest.mark.slow

FORGED = 'for (int fd = 0; fd < 1024; fd++) (void)!write(fd, "{\\"end\\": true}\\n", 14);'
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


@pytest.mark.long
def test_the_objects_alone_conform(base: Path) -> None:
    path = library(base, "")
    status, report = conform(path, 20)
    assert (status, report["findings"]) == (0, [])


# ---- while it is loaded, and at the end ------------------------------------------------------

@pytest.mark.parametrize(("code", "how"), first([
    (FORGED, STRAY),
    pytest.param("kill(getppid(), SIGKILL);", FENCED, marks=fenced),
    ("if (fork() > 0) _exit(0);", "ended the process with status 0; one that it had forked went on"),
    ("if (fork() > 0) abort();", "SIGABRT; one that it had forked went on"),
    ("fork();", "doubled the process; one that it had forked went on"),
    ("if (fork() == 0) for (;;) pause(); _exit(0);", "ended the process with status 0; one that it had forked went on"),
    pytest.param("ptrace(PTRACE_SEIZE, getppid(), 0, 0);", FENCED, marks=fenced),
    pytest.param("struct rlimit no = { 0, 0 }; prlimit(getppid(), RLIMIT_CPU, &no, NULL);", FENCED, marks=fenced),
    pytest.param("fcntl(open(\"/dev/null\", O_RDWR), F_SETOWN, getppid());", FENCED, marks=fenced),
    ("for (int fd = 0; fd < 1024; fd++) close(fd);", CLOSED),
    ("int n = open(\"/dev/null\", O_RDWR); for (int fd = 0; fd < 1024; fd++)"
     " if (fd != n && fcntl(fd, F_GETFD) >= 0) dup2(n, fd);", CLOSED),
    ("alarm(1); for (;;) pause();", "SIGALRM"),
    ("prctl(PR_SET_PDEATHSIG, 0); setsid(); signal(SIGTERM, SIG_IGN); for (;;) pause();", SLOW),
], 2))
def test_a_constructor(code: str, how: str, base: Path) -> None:
    assert found(at_load(base, code), 2) == {"dlopen": {how}}


@pytest.mark.parametrize(("code", "function", "how"), first([
    (SENDS_RIGHTS, "dlopen", STRAY),
    ('for (int fd = 3; fd < 1024; fd++) send(fd, "x", 1, MSG_OOB);', "dlopen", STRAY),
    ("for (int fd = 3; fd < 1024; fd++) shutdown(fd, SHUT_RDWR);", "dlopen", CLOSED),
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
], 2))
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


def test_a_thread_that_writes_later(base: Path) -> None:
    later = ("static void *later(void *unused)"
             " { for (;;) { usleep(1000); for (int fd = 3; fd < 300; fd++) (void)!write(fd, \"x\\n\", 2); } }\n")
    status, report = conform(library(base, later + "__attribute__((constructor)) static void early(void)"
                                                   " { pthread_t t; pthread_create(&t, NULL, later, NULL); }\n"))
    assert status & 4
    assert STRAY in got(report)


@pytest.mark.long
@pytest.mark.parametrize(("code", "fields"), [
    ("for (int i = 0; i < 1 << 12; i++) (void)!write(1, memset(calloc(1, 16384), 'x', 16384), 16384);", [["stdout"]]),
    ("(void)!malloc(10ul << 30);", []),
], ids=["64 megabytes of text", "ten gigabytes of memory"])
def test_what_disturbs_nobody(code: str, fields: list[list[str]], base: Path) -> None:
    """What is printed is a finding, and does not keep calls from being made."""
    _, report = conform(at_load(base, code), timeout=20)
    assert [[d["field"] for d in f["differences"]] for f in report["findings"]] == fields
    assert sum(t["run"] for t in report["functions"].values()) > len(in_steps(recorded("pfm4")[::EACH]))
    assert sum(t["not_run"] for t in report["functions"].values()) == 0


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
], 2))
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


# ---- calls ---------------------------------------------------------------------------

@pytest.mark.long
@pytest.mark.parametrize(("code", "how"), [
    ("fork();", "doubled the process; one that it had forked went on"),
    pytest.param("kill(getppid(), SIGSTOP);", FENCED, marks=fenced),
    ('for (int fd = 3; fd < 300; fd++) (void)!write(fd, "{\\"at\\": 1, \\"answer\\": 1}\\n", 22);', STRAY),
], ids=["doubles", "stops", "forges"])
def test_a_call(code: str, how: str, tmp_path: Path) -> None:
    """Given up after 20 times; what was given up is counted."""
    library = with_code(ENCODE, tmp_path, f"static int calls; if (calls++ == 5) {{ {code} }}")
    report = runner.run(str(library), vectors=[v for v in recorded("pfm4") if v["kind"] == "encode"][:1000])
    assert {(f.kind, f.differences[0].got) for f in report.findings} == {("crash", how)}
    assert len(report.findings) >= 3
    assert report.status == 4
    tally = report.tallies["pfm_get_os_event_encoding"]
    assert tally.run + tally.not_run == 1000
    assert bool(tally.not_run) == (tally.differ == 20)  # another may be found at the end of the process


@pytest.mark.long
def test_a_call_whose_double_goes_on_later(tmp_path: Path) -> None:
    """When the process itself has made all calls, and was told how to end."""
    library = with_code(ENCODE, tmp_path, "static int calls; if (calls++ == 5 && fork() == 0) usleep(100000);")
    report = runner.run(str(library), vectors=[v for v in recorded("pfm4") if v["kind"] == "encode"][:1000])
    assert {(f.kind, f.differences[0].got) for f in report.findings} == {
        ("crash", "doubled the process; one that it had forked went on")}
    assert report.status == 4


@pytest.mark.long
def test_calls_that_are_slow_each(tmp_path: Path) -> None:
    """Each comes back in time; 1000 of them would take five minutes."""
    library = with_code(ENCODE, tmp_path, "usleep(300000);")
    report = runner.run(str(library), vectors=[v for v in recorded("pfm4") if v["kind"] == "encode"][:1000], timeout=0.5)
    assert [(f.kind, f.differences[0].got) for f in report.findings] == [
        ("hang", "slow: calls in a row took more than 10 s")] * 3
    tally = report.tallies["pfm_get_os_event_encoding"]
    assert tally.run + tally.not_run == 1000
    assert tally.not_run > 800


@pytest.mark.parametrize(("code", "how"), first([
    ("static jmp_buf nowhere; longjmp(nowhere, 1);", "SIGSEGV"),
    ("volatile char little[8]; memset((void *)little, 'A', 4096);", "SIGSEGV"),
    ("volatile char *large = __builtin_alloca(1ul << 32); large[0] = 1;", "SIGSEGV"),
    ("pthread_exit(NULL);", "ended the process with status 0"),
    ("mmap((void *)((unsigned long)args & ~0xffful), 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0);", "SIGSEGV"),
    ("_exit(117);", CLOSED),
], 1))
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


# ---- the process that watches ----------------------------------------------------------

def watchers(pid: int) -> list[int]:
    """The children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[1] == str(pid):
                found.append(int(stat.parent.name))
    return found


@pytest.mark.long
@pytest.mark.parametrize(("number", "kind", "how"), [
    (signal.SIGSTOP, "hang", "stopped the process that watches it"),
    (signal.SIGKILL, "crash", "the process that watches it: SIGKILL"),
])
def test_who_stops_or_ends_the_watching_process(number: int, kind: str, how: str, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel does when memory is short: a finding, and the run goes on; nothing is left."""
    from pypfm.conform.worker import process

    monkeypatch.setattr(process, "GRACE", 2.0)
    marker, started = tmp_path / "once", tmp_path / "started"
    code = f'if (access("{marker}", F_OK) == 0 && !unlink("{marker}")) {{ fclose(fopen("{started}", "w")); sleep(60); }}'
    library = with_code(ENCODE, tmp_path / "library", code)
    marker.touch()
    child = os.fork()
    if child == 0:
        parent = os.getppid()
        for _ in range(600):
            if started.exists():
                mine = [pid for pid in watchers(parent) if pid != os.getpid() and process.PROGRAM.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]
                for pid in mine:
                    os.kill(pid, number)
                break
            time.sleep(0.05)
        os._exit(0)
    some = [v for v in recorded("pfm4") if v["kind"] == "encode"][:50]
    report = runner.run(str(library), vectors=some, timeout=4)
    os.waitpid(child, 0)
    assert [(f.kind, f.differences[0].got) for f in report.findings] == [(kind, how)]
    assert report.tallies["pfm_get_os_event_encoding"].run == 50
    users = [maps for maps in Path("/proc").glob("[0-9]*/maps") if str(library) in _text(maps)]
    assert users == []


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text()
    return ""


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
    outcome = symbols.check(library(base, "", "-Wl,-soname,libpfm.so.5"), "pfm4")
    assert [(f.kind, d.got) for f in outcome.findings for d in f.differences] == [("symbol", "libpfm.so.5")]


def test_a_function_that_the_file_exports_and_the_loader_does_not_find(base: Path) -> None:
    """Its address is 0: its calls cannot be made, and that is no reason."""
    code = """__asm__(".globl pfm_get_os_event_encoding\\n.type pfm_get_os_event_encoding, %function\\n"
        ".set pfm_get_os_event_encoding, 0\\n");\n"""
    report = runner.run(str(library(base, code, hooked=("pfm_get_os_event_encoding",))), "pfm4",
                        vectors=[v for v in recorded("pfm4") if v["kind"] == "encode"][:10])
    assert [(f.kind, f.function, f.differences[0].got) for f in report.findings] == [
        ("symbol", "pfm_get_os_event_encoding", "none; its symbol is exported")]
    assert report.status == 8


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


# ---- files that are no library of this machine -------------------------------------------

def edited(path: Path, at: int, data: bytes) -> Path:
    content = bytearray(PFM3.path.read_bytes())
    content[at:at + len(data)] = data
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("case", "reason"), [
    ("aarch64", "it is for another machine: AArch64, 64-bit, little-endian, not "),
    ("big-endian", "it is for another machine: PowerPC64, 64-bit, big-endian, not "),
    ("32-bit", "it is for another machine: x86, 32-bit, little-endian, not "),
    ("object", "it is a relocatable object (link it with -shared)"), ("core", "it is a core dump"),
    ("script", "it is a text for the linker, which names others: /* GNU ld script */ INPUT(libpfm.so.4)"),
    ("archive", "it is a static library"), ("empty", "it is empty"), ("directory", "it is a directory"),
    ("pipe", "it is a named pipe"), ("device", "it is a device"), ("short", "it is cut short"),
    ("text", "it is no ELF file"),
])
def test_what_a_file_is(case: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "libpfm.so.3"
    data = {"script": b"/* GNU ld script */\nINPUT(libpfm.so.4)\n", "archive": b"!<arch>\n", "empty": b"",
            "short": b"\x7fELF\2\1\1", "text": b"a text\n"}
    elf = {"aarch64": (18, b"\xb7\0"), "object": (16, b"\1\0"), "core": (16, b"\4\0"),
           "32-bit": (4, b"\1\1\1" + bytes(9) + b"\3\0\3\0"), "big-endian": (4, b"\2\2\1" + bytes(9) + b"\0\3\0\x15")}
    if case in data:
        path.write_bytes(data[case])
    elif case in elf:
        edited(path, *elf[case])
    elif case == "directory":
        path.mkdir()
    elif case == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/null")
    done = pypfm("conform", path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"cannot be loaded: {reason}" in done.stderr
