"""Compilers for the tests of the C libraries: programs and libraries built from headers and sources."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from conftest import ROOT, once
from pypfm.config import LIBRARIES, Library
from tools import needs

PFM3, PFM3_MANUAL, PFM4, PMC = (LIBRARIES[name] for name in ("pfm3", "pfm3-manual", "pfm4", "pmc"))
TABLES = ROOT / "csrc" / "tables"
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "g++")

# Event tables of each library, and the files that each is generated from.
EVENT_TABLES = {
    "pfm3": {model: [f"{model}_events"] for model in ("gen_ia64", "itanium", "itanium2", "montecito", "ia64_host")},
    "pfm4": {"glm": ["glm_events", "glm_umasks"], "perf": ["perf_events", "perf_umasks"],
             "pfm4_gen_ia64": ["gen_ia64_events"], "pfm4_ita": ["itanium_events"], "pfm4_ita2": ["itanium2_events"],
             "pfm4_mont": ["montecito_events"]},
    "pmc": {f"pmc_{machine}": [f"pmc_{machine}_events"] for machine in ("linux", "xscale", "i586", "i686", "k7")},
}
# Sources that libraries share, and directories of headers that only their own sources see.
GUARDED = [*(f"base/{name}.c" for name in ("process", "guard", "copy")), "counting/counting.c", "counting/threads.c"]
SHARED_SOURCES = {
    "pfm3": ["base/processor.c", "base/names.c", *GUARDED, "counting/group.c", "counting/ring.c",
             *(path.relative_to(ROOT / "csrc").as_posix()
               for path in sorted((ROOT / "csrc" / "perfmon2").rglob("*.c")) if path.stem != "absent")],
    "pfm4": ["base/processor.c", "base/names.c"],
    "pmc": [*GUARDED, "base/shared_lock.c", "counting/set.c"],
}
# What a library exports beside its API: names that the linker makes (-Wl,--wrap=mmap).
LINKERS_NAMES = {"pfm3": {"__wrap_mmap", "__wrap_mmap64"}}
PRIVATE_INCLUDES = {"pfm3": ["pfm4/include", "perfmon2"], "pmc": ["pfm4/include"]}


def headers(library: Library) -> list[str]:
    """The installed headers, as a program includes them."""
    return sorted(path.relative_to(library.include_dir).as_posix() for path in library.include_dir.rglob("*.h"))


def csrc(library: Library) -> Path:
    return ROOT / "csrc" / (library.form_of or library.name)


def attempt(*command: object, source: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a compiler; the source, if any, is its standard input."""
    return subprocess.run([str(c) for c in command], input=source, capture_output=True, text=True,
                          check=False, timeout=300)


def build(*command: object, source: str | None = None) -> str:
    """Run a compiler that has to succeed; what it prints."""
    done = attempt(*command, source=source)
    assert done.returncode == 0, " ".join(map(str, command)) + "\n" + done.stderr
    return done.stdout


@cache
def standard_flag(compiler: str, language: str, standard: str) -> str:
    """The compiler's name of a standard; skips if it knows none."""
    for name in [standard, {"c23": "c2x"}.get(standard, standard)]:
        if attempt(compiler, f"-std={name}", "-x", language, "-fsyntax-only", "-", source="").returncode == 0:
            return f"-std={name}"
    pytest.skip(f"{compiler} does not know {standard}")


def library_sources(library: Library, directory: Path) -> list[Path]:
    """The C files of a library, event tables generated into a directory."""
    generated = []
    for model, tables in EVENT_TABLES[csrc(library).name].items():
        out = directory / f"{model}_events.c"
        kind = {"pfm4": "pfm4_ia64", "ia64": "perfmon2"}.get(model.split("_")[0], csrc(library).name)
        build(sys.executable, TABLES / "generate.py", kind, model, out, *(TABLES / f"{t}.csv" for t in tables))
        generated.append(out)
    shared = [ROOT / "csrc" / name for name in SHARED_SOURCES[csrc(library).name]]
    return [*sorted(csrc(library).glob("*.c")), *shared, *generated]


def library_flags(library: Library) -> list[str]:
    """What a library's own sources are compiled with."""
    private = [csrc(library), *(ROOT / "csrc" / name for name in PRIVATE_INCLUDES.get(csrc(library).name, []))]
    return ["-std=gnu11", "-D_GNU_SOURCE", *library.cflags, *(f"-I{path}" for path in private)]


def build_library(library: Library, directory: Path, *flags: str, sources: Sequence[Path] = ()) -> Path:
    """A library of our own, compiled against the installed headers; from other sources than its own, if some are given."""
    out = directory / library.soname
    build(CC, "-fPIC", "-shared", "-DPYPFM_SHARED", *flags, *library_flags(library),  # flags may name other headers
          f"-Wl,-soname,{library.soname}", *(sources or library_sources(library, directory)), "-o", out)
    return out


# Debug information about all types, whether code uses them or not.
ALL_TYPES = ["-gdwarf-5", "-O1", "-fno-eliminate-unused-debug-types"]


def header_source(library: Library, directory: Path) -> Path:
    """A file that includes all public headers."""
    names = sorted(headers(library), key=lambda name: name.endswith("_v2.h"))  # another includes that one first
    source = directory / "headers.c"
    source.write_text("#define PFM_OWN_PERF_EVENT 1\n" + "".join(f"#include <{name}>\n" for name in names))
    return source


def debug_library(library: Library, factory: pytest.TempPathFactory) -> Path:
    """A library of one source that has all public headers, with debug information about all types in them; built once.

    The library's own sources are compiled with the same headers.
    """
    def build_it(directory: Path) -> None:
        build_library(library, directory, *ALL_TYPES, sources=[header_source(library, directory)])

    return once(factory, f"dwarf-{library.name}", build_it) / library.soname


def build_program(library: Library, source: Path, out: Path, *flags: str, libs: Sequence[str] = ()) -> Path:
    build(CC, "-std=c11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", *flags, *library.cflags, source,
          "-o", out, *libs)
    return out


# ---- what is in a shared object ---------------------------------------------------

def exported(path: Path) -> dict[str, str]:
    """Exported symbols and their kinds, as nm prints them."""
    rows = [line.split() for line in build(needs("nm"), "-D", "--defined-only", path).splitlines()]
    return {row[-1]: row[-2] for row in rows}


def public_symbols(library: Library) -> set[str]:
    """Exported symbols that a program calls by their names."""
    return set(exported(library.path)) - LINKERS_NAMES.get(csrc(library).name, set())


def dynamic_entries(path: Path, tag: str) -> list[str]:
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return [getattr(t, tag.removeprefix("DT_").lower()) for t in section.iter_tags(tag)]
