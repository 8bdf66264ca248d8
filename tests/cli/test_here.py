"""pypfm here: what it says is so, and what it says to try works."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import clean_env, run, run_python
from pypfm import schemas
from pypfm.cli.here import refusal
from pypfm.perfex import host
from pypfm.perfex.backends.perf import offers_hardware
from terminal import PYPFM, on_terminal, pypfm

FILTERED = "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"
NAMES = ["counters", "kernel events", "simulation", "MIPS programs", "libpfm 4"]


def here(**env: str) -> dict[str, Any]:
    """What is said of this machine, by name."""
    done = run(PYPFM, "here", "--json", env=clean_env(**env))
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    jsonschema.validate(data, schemas.load("here"))
    return {one["name"]: one for one in data["means"]}


def test_what_is_said_is_so(tmp_path: Path) -> None:
    means = here()
    assert [*means] == NAMES
    assert means["counters"]["available"] == (offers_hardware() == 0)
    assert means["simulation"]["available"] == bool(shutil.which("valgrind") and shutil.which("gcc"))
    assert means["MIPS programs"]["available"] == bool(shutil.which("qemu-mips64") and shutil.which("gcc"))
    (tmp_path / "libpfm.so.4").touch()
    without = here(LD_LIBRARY_PATH=str(tmp_path))["libpfm 4"]
    assert without["available"] is False
    assert "libpfm.so.4 cannot be loaded" in without["says"]
    assert without["command"].startswith("apt-get install libpfm4 ")


@pytest.mark.slow
def test_what_is_said_to_try_works() -> None:
    path = f"{PYPFM.parent}{os.pathsep}{os.environ['PATH']}"
    tried = [one["command"] for one in here().values() if one["available"] or one["name"] == "counters"]
    if shutil.which("valgrind") is None:
        tried = [command for command in tried if "valgrind" not in command]
    assert tried
    for command in tried:
        done = run("sh", "-c", command, env=clean_env(PATH=path))
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout


def test_without_valgrind() -> None:
    """Nor anything else: PATH is empty."""
    means = here(PATH="/nonexistent")["simulation"]
    assert (means["available"], means["command"]) == (False, "apt-get install gcc valgrind")
    assert "valgrind is not installed" in means["says"]


def test_without_qemu() -> None:
    means = here(PATH="/nonexistent")["MIPS programs"]
    assert (means["available"], means["command"]) == (False, "apt-get install gcc qemu-user gcc-mips64-linux-gnuabi64")
    assert "qemu-mips64 is not installed" in means["says"]


def test_a_seccomp_filter_is_named() -> None:
    """As containers have it: perf_event_open(2) is refused with EPERM."""
    done = run_python("""
import ctypes, struct, sys
number = {"x86_64": 298, "aarch64": 241}[__import__("os").uname().machine]
code = b"".join(struct.pack("=HBBI", *line) for line in (
    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)))
program = ctypes.create_string_buffer(code)
head = struct.pack("=H6xQ", 4, ctypes.addressof(program))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, head) == 0
from pypfm.cli import main
sys.exit(main(["here"]))
""")
    assert done.returncode == 0, done.stderr
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in done.stdout.splitlines()}
    assert lines["counters"] == ["no", "a seccomp filter forbids perf_event_open(2), as containers have it",
                                 "docker run --cap-add PERFMON --security-opt seccomp=unconfined IMAGE"]
    assert lines["kernel events"][0] == "no"


@pytest.mark.parametrize(("code", "virtual", "paranoid", "status", "said"), [
    (errno.EACCES, None, "3\n", "", "perf_event_paranoid is 3: only root may count"),
    (errno.EACCES, "", "4", FILTERED, "perf_event_paranoid is 4"),
    (errno.EPERM, None, "4", FILTERED, "a seccomp filter"),
    (errno.ENOSYS, None, "2", FILTERED, "a seccomp filter"),
    (errno.EACCES, None, "2", "", "not permitted"),
    (errno.EACCES, None, "", "", "not permitted"),
    (errno.ENOENT, "KVM", "2", FILTERED, "this is a virtual machine"),
    (errno.ENOENT, None, "2", "", "no such counter on this machine"),
    (errno.ENOSYS, None, "nonsense", "", "Function not implemented"),
])
def test_why_there_are_no_counters(code: int, virtual: str | None, paranoid: str, status: str, said: str) -> None:
    text, command = refusal(code, virtual, paranoid, status)
    assert said in text
    assert command.partition(" ")[0] in {"perfex", "sudo", "docker"}


def test_kinds_of_machines(tmp_path: Path) -> None:
    info, system = tmp_path / "cpuinfo", tmp_path / "sys"
    info.write_text("flags\t\t: fpu vme\n")
    assert host.virtual(info, system) is None
    info.write_text("flags\t\t: fpu hypervisor vme\n")
    assert host.virtual(info, system) == ""
    (system / "class/dmi/id").mkdir(parents=True)
    (system / "class/dmi/id/product_name").write_text("PowerEdge R740\n")
    assert host.virtual(info, system) == ""
    (system / "class/dmi/id/product_name").write_text("Google Compute Engine\n")
    assert host.virtual(info, system) == "Google Compute Engine"
    (system / "hypervisor").mkdir()
    (system / "hypervisor/type").write_text("xen\n")
    assert host.virtual(tmp_path / "none", system) == "xen"


def test_on_a_terminal() -> None:
    text = on_terminal(60, "here")
    assert all(name in text for name in NAMES)
    assert text.count("\ntry ") == len(NAMES)


@pytest.mark.parametrize("words", [("everything",), ("--jsn",), ("-p", "glm"), ("--json=1",)])
def test_wrong_usage(words: tuple[str, ...]) -> None:
    done = pypfm("here", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("pypfm here: ")


def test_what_starts_no_faster_than_it_has_to() -> None:
    """The module loads what measures only when it is run: completion and help do not."""
    done = run_python("import sys; from pypfm.cli import build_parser; build_parser(['here'])\n"
                      "print([m for m in sys.modules if m.startswith(('pypfm.perf', 'pypfm.perfex'))])")
    assert done.stdout == "[]\n", done.stderr
