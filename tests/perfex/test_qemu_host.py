"""Programs of this host under qemu: accesses and caches are counted, and what an instruction is, is not known."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from native import build
from perfex_runs import counted, counts, perfex, refused
from tools import needs, needs_flags

QEMU = f"qemu-{platform.machine()}"
pytestmark = [pytest.mark.slow, pytest.mark.needs(QEMU, "cc")]
#: Events that say what an instruction is.
UNKNOWN = {4, 5, 6, 20, 21, 24}

WALK = """
#include <stdlib.h>
static volatile char a[1 << 22];
int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < n; i += 32) a[i] = 1;
    for (int i = 0; i < n; i += 32) a[i];
}
"""


def difference(backend: str, path: Path) -> dict[int, int]:
    """What one more MiB costs, beside what the C library does."""
    one, two = (counts(counted("--backend", backend, "--events", "18,19,25,26", path, str(size << 20))) for size in (2, 3))
    return {event: (two[event] or 0) - (one[event] or 0) for event in one}


@pytest.mark.needs("valgrind")
def test_accesses_and_misses_are_those_of_valgrind(tmp_path: Path) -> None:
    build(needs_flags("cc", "-static"), "-O1", "-static", "-x", "c", "-", "-o", tmp_path / "walk", source=WALK)
    more = 1 << 20
    found, wanted = difference("qemu", tmp_path / "walk"), difference("valgrind", tmp_path / "walk")
    for event, count in ((18, more // 32), (19, more // 32), (25, 2 * more // 32), (26, more // 128)):
        assert found[event] == pytest.approx(count, rel=0.01), event
        assert found[event] == pytest.approx(wanted[event], rel=0.01), event


def test_what_is_not_known_has_no_count(tmp_path: Path) -> None:
    build(needs("cc"), "-x", "c", "-", "-o", tmp_path / "walk", source=WALK)
    data = counted("-a", "--backend", "qemu", tmp_path / "walk", "100000")
    assert "code" not in data
    assert "operations" not in data
    rows = {row["event"]: row for row in data["events"]}
    for event in UNKNOWN:
        assert (rows[event]["count"], rows[event]["quality"]) == (None, "unavailable")
        assert rows[event]["note"]
    assert perfex("-e", "15", "--backend", "qemu", tmp_path / "walk", "0").stderr.startswith("perfex: r10000 events, simulated by qemu\n")
    newer = counts(counted("-a", "--cpu", "r12000", "--backend", "qemu", tmp_path / "walk", "100000"))
    assert {event for event in (6, 16, 17, 24) if newer[event] is not None} == set()


def test_lines_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "walk.c").write_text(WALK)
    build(needs("cc"), "-O1", "-g", tmp_path / "walk.c", "-o", tmp_path / "walk")
    data = counted("--annotate", "--events", "19,21", "--backend", "qemu", tmp_path / "walk", "1000000")
    assert data["annotation"]["events"] == [19]  # and no 0 for event 21
    line = next(row for row in data["annotation"]["lines"] if row["line"] == 6)
    assert line["self"]["counts"] == [pytest.approx(1000000 / 32, abs=20)]


def test_scripts_and_what_they_execute(tmp_path: Path) -> None:
    build(needs("cc"), "-x", "c", "-", "-o", tmp_path / "walk", source=WALK)
    for name, text in (("inner", '#!/bin/sh -e\n"$1/walk" 1048576\necho "$0" "$@"\n'), ("outer", '#!/bin/sh\nexec "$1/inner" "$@"\n')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = perfex("--json", "--events", "19", "--backend", "qemu", tmp_path / "outer", tmp_path, "a b")
    assert done.stdout == f"{tmp_path}/inner {tmp_path} a b\n"
    assert '"notes": []' in done.stderr
    assert (counts(json.loads(done.stderr))[19] or 0) > 1048576 // 32


def test_a_program_with_rights_of_its_own(tmp_path: Path) -> None:
    build(needs("cc"), "-x", "c", "-", "-o", tmp_path / "walk", source=WALK)
    (tmp_path / "walk").chmod(0o4755)
    assert "set-uid, set-gid, or with file capabilities; qemu does not execute such a program" in refused("--backend", "qemu", tmp_path / "walk")


def test_a_missing_qemu(tmp_path: Path) -> None:
    message = refused("--backend", "qemu", "-e", "15", needs("true"), env={"PATH": str(tmp_path)})
    assert f"{QEMU} is not installed: Debian, Ubuntu: apt-get install gcc qemu-user" in message
