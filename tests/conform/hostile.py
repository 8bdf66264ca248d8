"""Libraries that cheat: our libpfm 4, compiled once, linked with some code of the test."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from broken import objects
from conftest import clean_env
from native import CC, PFM4, build
from pypfm.conform.vectors import recorded
from runs import vectors_file
from terminal import PYPFM

#: Of the recorded answers, one in as many is asked for.
EACH = 20

HEAD = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/pfmlib.h>
"""
# Functions that the code of a test may put another one in front of; the real one has real_ before its name.
HOOKS = ("pfm_initialize", "pfm_get_os_event_encoding", "pfm_get_event_info", "pfm_get_version")
_ENCODE = """int real_pfm_get_os_event_encoding(const char *, int, pfm_os_t, void *);
int shim(const char *, int, pfm_os_t, void *) __asm__("pfm_get_os_event_encoding");
int shim(const char *str, int plm, pfm_os_t os, void *args) { static int calls; (void)calls; %s
	return real_pfm_get_os_event_encoding(str, plm, os, args); }
"""


def library(base: Path, code: str, *flags: str, hooked: tuple[str, ...] = ()) -> Path:
    """Our libpfm 4 with some code.

    :param base: where it is built, in a directory of its own
    :param code: C, after a head that includes what there is to include
    :param flags: of the linker
    :param hooked: functions that the code has in place of ours
    """
    compiled = objects(PFM4, "-O1", "-w", *(f"-D{name}=real_{name}" for name in HOOKS)).values()
    directory = base / f"library{len(list(base.iterdir()))}"
    directory.mkdir()
    (directory / "code.c").write_text(HEAD + code)
    named = [f"-Wl,--defsym={name}=real_{name}" for name in HOOKS if name not in hooked]
    out = directory / PFM4.soname
    soname = () if any("-soname" in flag for flag in flags) else (f"-Wl,-soname,{PFM4.soname}",)
    build(CC, "-shared", "-fPIC", "-w", "-pthread", *PFM4.cflags, *named, *soname, *compiled, directory / "code.c", *flags, "-o", out)
    return out


def at_load(base: Path, code: str) -> Path:
    """One whose constructor does something."""
    return library(base, f"__attribute__((constructor)) static void early(void) {{ {code} }}\n")


def in_a_call(base: Path, code: str) -> Path:
    """One that does something when an event is encoded; ``calls`` is for it to count."""
    return library(base, _ENCODE % code, hooked=("pfm_get_os_event_encoding",))


def conform(path: Path, timeout: float = 3) -> tuple[int, dict[str, Any]]:
    """`pypfm conform` with some recorded answers: its exit status and its report."""
    some = vectors_file(recorded("pfm4")[::EACH], path.parent)
    done = subprocess.run([PYPFM, "conform", path, "--report", "json", "--timeout", str(timeout), "--vectors", some],
                          capture_output=True, text=True, env=clean_env(), check=False, timeout=300)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def got(report: dict[str, Any]) -> set[str]:
    """What the findings say instead of an answer."""
    return {d["got"] for f in report["findings"] for d in f["differences"]}
