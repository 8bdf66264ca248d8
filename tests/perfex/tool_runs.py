"""Programs under the valgrind tool itself, and the files that it writes."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from native import CC, build
from pypfm.perfex.backends.simulation import counts
from pypfm.perfex.backends.valgrind import tool
from pypfm.perfex.profile import Profile
from tools import needs


@dataclass
class Run:
    """What has come of a command.

    :ivar processes: in the order of their numbers
    """

    status: int
    stdout: str
    stderr: str
    processes: list[counts.Process]
    files: list[Path]

    def profile(self, which: int | None = None) -> Profile:
        found = Profile()
        for path in self.files if which is None else [self.files[which]]:
            counts.profile(path, found)
        return found


def order(path: Path) -> tuple[int, int]:
    pid, image, _ = path.name.split(".")
    return int(pid), int(image)


def command(place: Path, *words: object, options: tuple[str, ...]) -> list[str]:
    (out := place / "counts").mkdir(exist_ok=True)
    return [needs("valgrind"), "--tool=r10k", "-q", "--command-line-only=yes", "--trace-children=yes", f"--counts={out}", *options,
            *map(str, words)]


def environment(width: int = 64) -> dict[str, str]:
    return {**os.environ, "VALGRIND_LIB": str(tool.directory(width))}


def started(place: Path, *words: object, options: tuple[str, ...]) -> subprocess.Popen[str]:
    """Start a command under the tool, with pipes."""
    return subprocess.Popen(command(place, *words, options=options), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=environment())


def run(place: Path, *words: object, options: tuple[str, ...] = ("--lines=yes",), width: int = 64, check: bool = True) -> Run:
    """Run a command under the tool."""
    done = subprocess.run(command(place, *words, options=options), text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, env=environment(width))
    out = place / "counts"
    if check:
        assert done.returncode == 0, done.stderr
    files = sorted(out.glob("*.r10k"), key=order)
    return Run(done.returncode, done.stdout, done.stderr, [counts.read(path) for path in files], files)


def compiled(place: Path, source: str, *flags: str, name: str = "program") -> Path:
    path = place / name
    build(CC, "-g", "-O1", "-D_GNU_SOURCE", "-pthread", *flags, "-x", "c", "-", "-o", path, source=source)
    return path
