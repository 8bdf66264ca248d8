"""Run the command ``perfex``, and the programs that it counts."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import clean_env, run
from fresh import fresh_command
from native import CC, build
from valid import validate

PERFEX = Path(sys.executable).with_name("perfex")
GOLDEN = Path(__file__).parent / "golden"
SET_BY_USERS = ("T5_EVENT0", "T5_EVENT1", "PERFEX_COSTS", "PERFEX_CPU", "PERFEX_CLOCK", "PERFEX_PERF_TABLE",
                "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")

# Every kernel can count these: page faults in place of cache misses, nanoseconds in place of cycles.
TABLE = """\
cpu,event,perf,quality,note
,25,page-faults,exact,page faults
,26,page-faults,exact,page faults
,10,minor-faults,approximate,
,0,task-clock,exact,nanoseconds
,16,task-clock,exact,nanoseconds
"""

HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
/* One page fault a page. */
static void touch(size_t pages) {
    const size_t size = pages * 4096;
    if (size == 0) return;
    volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    madvise((void *)p, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096) p[i] = 1;
}
"""


def environment(**changes: str) -> dict[str, str]:
    return {k: v for k, v in clean_env().items() if k not in SET_BY_USERS} | changes


def perfex(*args: object, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run perfex as fresh_command(), or with options of subprocess.run() as run()."""
    env = environment() if env is None else env
    return fresh_command(PERFEX, *args, env=env, **options) if options.keys() <= {"cwd", "text"} else run(PERFEX, *args, env=env, **options)


def refused(*args: object, **options: Any) -> str:
    """The one line with which perfex refuses."""
    done = perfex(*args, **options)
    status = 2 if "(see perfex --help)" in done.stderr else 1
    assert (done.returncode, done.stdout) == (status, ""), done
    assert done.stderr.startswith("perfex: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def counted(*args: object, status: int = 0, **options: Any) -> dict[str, Any]:
    """The report as JSON, checked against its schema."""
    done = perfex("--json", *args, **options)
    assert done.returncode == status, done.stderr
    data: dict[str, Any] = json.loads(done.stderr)
    validate(data, "perfex")
    return data


def counts(data: dict[str, Any]) -> dict[int, int | None]:
    return {e["event"]: e["count"] for e in data["events"]}


def compile_c(directory: Path, name: str, body: str) -> Path:
    out = directory / name
    build(CC, "-O1", "-Wall", "-pthread", "-x", "c", "-", "-o", out, source=HEAD + body)
    return out


_PIECES = [b"9" * 400, b"-1", b"nan", b"1e5", b"\xff", b"\0", b'"', b",", b"\n", b"{}", b"null", b"r12000", "\u0661".encode(), b"[", b"0"]
_VALUES = [None, True, -1, 0, 2, 1e5, 1 << 70, "x", "r12000", "valgrind", "\u202e", [], {}, [0], {"counted": 3}]


def damaged(report: bytes, damage: random.Random) -> bytes:
    """A report in JSON of which one value, or any bytes, are others."""
    if damage.randrange(2):
        data = bytearray(report)
        start = damage.randrange(len(data) + 1)
        data[start:start + damage.randint(0, 20)] = damage.choice([b"", damage.choice(_PIECES), report[:damage.randint(0, 80)]])
        return bytes(data)
    whole = json.loads(report)
    inner: Any = whole
    while True:
        key = damage.choice([*inner] if isinstance(inner, dict) else range(len(inner)))
        if not isinstance(inner[key], dict | list) or not inner[key] or not damage.randrange(4):
            inner[key] = damage.choice(_VALUES)
            return json.dumps(whole).encode()
        inner = inner[key]
