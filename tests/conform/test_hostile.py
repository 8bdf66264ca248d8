"""Libraries that cheat: whatever they do to their process, or to the kit, none of them "conforms"."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from broken import ENCODE, objects, with_code
from conftest import clean_env
from hostile import EACH, conform, got
from native import PFM3, PFM4, build_library, library_sources
from pypfm.conform import runner
from pypfm.conform.vectors import in_steps, recorded
from pypfm.conform.worker import fence
from terminal import PYPFM
from tools import first

pytestmark = pytest.mark.slow

HEAD = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void *later(void *unused) { for (;;) { usleep(1000); for (int fd = 3; fd < 300; fd++) (void)!write(fd, "x\\n", 2); } }
"""
FORGED = 'for (int fd = 0; fd < 1024; fd++) (void)!write(fd, "%s\\n", %d);'
STRAY, FENCED = "wrote into a descriptor that is not its own", "SIGSYS: it signals, traces or limits another process"
fenced = pytest.mark.skipif(os.uname().machine not in fence.MACHINES, reason="no filter for this machine's system calls")


def forged(text: str) -> str:
    return FORGED % (text.replace('"', '\\"'), len(text) + 1)


def constructed(directory: Path, code: str, attribute: str = "constructor") -> Path:
    """Our libpfm 4 with a constructor or destructor more."""
    extra = directory / "early.c"
    extra.write_text(HEAD + f"__attribute__(({attribute})) static void early(void) {{ {code} }}\n")
    return build_library(PFM4, directory, "-pthread", "-Wno-error", sources=[*objects(PFM4).values(), extra])


# ---- constructors ------------------------------------------------------------------

@pytest.mark.parametrize(("code", "how"), first([
    (forged('{"end": true}'), STRAY),
    (forged('{"loaded": "", "apis": ["pfm4"]}'), STRAY),
    (forged('{"done": true}'), STRAY),
    ("if (fork() > 0) _exit(0);", "ended the process with status 0; one that it had forked went on"),
    ("if (fork() > 0) abort();", "SIGABRT; one that it had forked went on"),
    ("fork();", "doubled the process; one that it had forked went on"),
    ("if (fork() == 0) for (;;) pause(); _exit(0);", "ended the process with status 0; one that it had forked went on"),
    pytest.param("kill(getppid(), SIGSTOP);", FENCED, marks=fenced),
    pytest.param("kill(getppid(), SIGKILL);", FENCED, marks=fenced),
    pytest.param("ptrace(PTRACE_SEIZE, getppid(), 0, 0);", FENCED, marks=fenced),
    pytest.param("struct rlimit no = { 0, 0 }; prlimit(getppid(), RLIMIT_CPU, &no, NULL);", FENCED, marks=fenced),
    pytest.param("fcntl(open(\"/dev/null\", O_RDWR), F_SETOWN, getppid());", FENCED, marks=fenced),
    ("for (int fd = 0; fd < 1024; fd++) close(fd);", "closed a descriptor that is not its own"),
    ("int n = open(\"/dev/null\", O_RDWR); for (int fd = 0; fd < 1024; fd++)"
     " if (fd != n && fcntl(fd, F_GETFD) >= 0) dup2(n, fd);", "closed a descriptor that is not its own"),
    ("alarm(1); for (;;) pause();", "SIGALRM"),
    ("prctl(PR_SET_PDEATHSIG, 0); setsid(); signal(SIGTERM, SIG_IGN); for (;;) pause();", "no answer in time"),
], 3), ids=lambda value: "" if ";" in value else value[:30])
def test_a_constructor(code: str, how: str, tmp_path: Path) -> None:
    status, report = conform(constructed(tmp_path, code), timeout=3)
    assert (status, got(report)) == (4, {how})
    assert [f["function"] for f in report["findings"]] == ["dlopen"]


def test_a_thread_that_writes_later(tmp_path: Path) -> None:
    status, report = conform(constructed(tmp_path, "pthread_t t; pthread_create(&t, NULL, later, NULL);"))
    assert status & 4
    assert STRAY in got(report)


@pytest.mark.parametrize(("code", "fields"), first([
    ("for (int i = 0; i < 1 << 12; i++) (void)!write(1, memset(calloc(1, 16384), 'x', 16384), 16384);", [["stdout"]]),
    ("(void)!malloc(10ul << 30);", []),
]), ids=["64 megabytes of text", "ten gigabytes of memory"])
def test_what_disturbs_nobody(code: str, fields: list[list[str]], tmp_path: Path) -> None:
    """What is printed is a finding, and does not keep calls from being made."""
    _, report = conform(constructed(tmp_path, code, "constructor"), timeout=20)
    assert [[d["field"] for d in f["differences"]] for f in report["findings"]] == fields
    assert sum(t["run"] for t in report["functions"].values()) > len(in_steps(recorded("pfm4")[::EACH]))
    assert sum(t["not_run"] for t in report["functions"].values()) == 0


# ---- calls ---------------------------------------------------------------------------

@pytest.mark.parametrize(("code", "how"), first([
    ("if (fork() > 0) _exit(0);", "ended the process with status 0; one that it had forked went on"),
    ("fork();", "doubled the process; one that it had forked went on"),
    pytest.param("kill(getppid(), SIGSTOP);", FENCED, marks=fenced),
    ('for (int fd = 3; fd < 300; fd++) (void)!write(fd, "{\\"at\\": 1, \\"answer\\": 1}\\n", 22);', STRAY),
]), ids=["ends", "doubles", "stops", "forges"])
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


def test_a_function_that_the_file_exports_and_the_loader_does_not_find(tmp_path: Path) -> None:
    """Its address is 0: its calls cannot be made, and that is no reason."""
    extra = tmp_path / "nowhere.c"
    extra.write_text('__asm__(".globl pfm_get_os_event_encoding\\n.type pfm_get_os_event_encoding, %function\\n"\n'
                     '        ".set pfm_get_os_event_encoding, 0\\n");\n')
    library = build_library(PFM4, tmp_path, "-Dpfm_get_os_event_encoding=hidden_away", "-Wno-error",
                            sources=[*library_sources(PFM4, tmp_path), extra])
    report = runner.run(str(library), "pfm4", vectors=[v for v in recorded("pfm4") if v["kind"] == "encode"][:10])
    assert [(f.kind, f.function, f.differences[0].got) for f in report.findings] == [
        ("symbol", "pfm_get_os_event_encoding", "none; its symbol is exported")]
    assert report.status == 8


# ---- the process that watches ----------------------------------------------------------

def watchers(pid: int) -> list[int]:
    """The children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[1] == str(pid):
                found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize(("number", "kind", "how"), first([
    (signal.SIGSTOP, "hang", "stopped the process that watches it"),
    (signal.SIGKILL, "crash", "the process that watches it: SIGKILL"),
]))
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
    done = subprocess.run([PYPFM, "conform", path], capture_output=True, text=True, env=clean_env(), check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"cannot be loaded: {reason}" in done.stderr
