"""Compilers for the tests of libpfm 3: programs and libraries built from headers and sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from conftest import ROOT
from pypfm.config import LIBRARIES

PFM3 = LIBRARIES["pfm3"]
CSRC = ROOT / "csrc" / "pfm3"
TABLES = ROOT / "csrc" / "tables"
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "g++")
HEADERS = sorted(path.relative_to(PFM3.include_dir).as_posix() for path in PFM3.include_dir.rglob("*.h"))


def tool(name: str) -> str | None:
    return shutil.which(name)


def attempt(*command: object, source: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a compiler; the source, if any, is its standard input."""
    return subprocess.run([str(c) for c in command], input=source, capture_output=True, text=True,
                          check=False, timeout=300)


def build(*command: object, source: str | None = None) -> str:
    """Run a compiler that has to succeed; what it prints."""
    done = attempt(*command, source=source)
    assert done.returncode == 0, " ".join(map(str, command)) + "\n" + done.stderr
    return done.stdout


def library_sources(directory: Path) -> list[Path]:
    """The C files of libpfm.so.3, event tables generated into a directory."""
    generated = []
    for model in ("itanium2", "montecito"):
        out = directory / f"{model}_events.c"
        build(sys.executable, TABLES / "generate.py", "pfm3", model, out, TABLES / f"{model}_events.csv")
        generated.append(out)
    return [*sorted(CSRC.glob("*.c")), ROOT / "csrc" / "names" / "names.c", *generated]


def build_library(directory: Path, *flags: str) -> Path:
    """A libpfm.so.3 of our own, compiled against the installed headers."""
    out = directory / PFM3.soname
    build(CC, "-std=gnu11", "-fPIC", "-shared", "-D_GNU_SOURCE", "-DPYPFM_SHARED", *flags, *PFM3.cflags,
          f"-I{CSRC}", f"-Wl,-soname,{PFM3.soname}", *library_sources(directory), "-o", out)
    return out


def build_program(source: Path, out: Path, *flags: str, libs: Sequence[str] = ()) -> Path:
    build(CC, "-std=c11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", *flags, *PFM3.cflags, source,
          "-o", out, *libs)
    return out
