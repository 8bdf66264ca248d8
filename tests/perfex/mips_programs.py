"""MIPS programs: built by cross compilers, run under qemu with the plugin."""

from __future__ import annotations

import subprocess
from pathlib import Path

from native import build
from pypfm.perfex.backends.qemu import plugin, program
from pypfm.perfex.backends.simulation import counts
from pypfm.perfex.profile import Profile
from tool_runs import Run, order
from tools import needs

BIG, LITTLE = "mips64-linux-gnuabi64-gcc", "mips64el-linux-gnuabi64-gcc"
BARE = ("-nostdlib", "-static", "-mno-abicalls", "-fno-pic", "-march=r10000", "-Wa,-mno-fix-loongson3-llsc")
#: What a program without a C library begins and ends with.
BEGIN, END = ".set noreorder; .text; .globl __start; __start:\n", "li $2, 5058; li $4, 0; syscall\n"


def assembled(place: Path, body: str, compiler: str = BIG, *flags: str, end: str = END) -> Path:
    """A program that does no more than what is said."""
    path = place / f"{compiler}{''.join(flags)}"
    build(needs(compiler), *BARE, *flags, "-x", "assembler", "-", "-o", path, source=BEGIN + body + "\n" + end)
    return path


def compiled(place: Path, source: str, *flags: str, compiler: str = BIG, name: str = "program") -> Path:
    path = place / name
    build(needs(compiler), "-g", "-O2", "-march=r10000", "-pthread", *flags, "-x", "c", "-", "-o", path, source=source)
    return path


def run(place: Path, path: Path, *options: str, check: bool = True) -> Run:
    """Run a program under qemu with the plugin; options such as ``lines=yes``."""
    kind = program.abi([str(path)])
    assert kind is not None
    (out := place / "counts").mkdir(exist_ok=True)
    root = ["-L", kind.sysroot] if kind.sysroot else []
    done = subprocess.run([needs(kind.qemu), *root, "-plugin", ",".join([f"file={plugin.path()}", f"counts={out}", *options]), path],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if check:
        assert done.returncode == 0, done.stderr
    files = sorted(out.glob("*.r10k"), key=order)
    return Run(done.returncode, done.stdout, done.stderr, [counts.read(path) for path in files], files)


def between(profile: Profile, begin: int, end: int) -> dict[str, int]:
    """The counts of the instructions from one address to another."""
    rows = [numbers for place, numbers in profile.code.items() if begin <= place.address < end]
    return {name: n for name, n in zip(profile.names, map(sum, zip(*rows, strict=True)), strict=True) if n}
