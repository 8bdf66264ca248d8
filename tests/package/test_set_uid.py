"""A program with more rights than its user: what the user has set in the environment is of no effect in any library."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from conftest import ROOT, TESTS, clean_env
from native import CC, build
from pypfm.config import LIBRARIES

NOBODY, OTHER = 65534, 54321
PATHS = [LIBRARIES[name].path for name in ("pfm3", "pfm4", "pmc", "perfex")]
PAL = "".join(f"{line}\n" for line in (
    "PMC/PMD pairs : 7", "Counter width : 32 bits", "Cycle event number : 33", "Retired event number : 77",
    "Implemented PMC : 0-15", "Implemented PMD : 0-17", "Cycles count capable : 4-7", "Retired bundles count capable : 4-7"))

# A variable, which library's lines show it, and what has to be set for that.  {} is a directory of the test's.
CASES = [
    ("LIBPFM_FORCE_PMU", "2", "pfm3", {}),
    ("LIBPFM_IA64_CPUID3", "0x1f000000", "pfm3", {}),
    ("LIBPFM_IA64_PAL", "{}/pal", "pfm3", {"LIBPFM_IA64_CPUID3": "0x99000000"}),
    ("LIBPFM_VERBOSE", "1", "no PMU", {}),
    ("LIBPFM_DEBUG", "0", "no PMU", {}),
    ("LIBPFM_DEBUG_STDOUT", "1", "no PMU", {}),
    ("LIBPFM_PERFMON", "model,rate=x", "pfm3", {}),
    ("LIBPFM_FORCE_PMU", "glm", "pfm4", {}),
    ("LIBPFM_X86_CPUID", "6:92", "pfm4", {}),
    ("LIBPFM_ENCODE_INACTIVE", "1", "pfm4", {}),
    ("LIBPFM_DISABLED_PMUS", "perf", "pfm4", {}),
    ("LIBPFM_IA64_CPUID3", "0x20000704", "pfm4", {}),
    ("LIBPFM_IA64_PAL", "{}/pal", "pfm4", {"LIBPFM_IA64_CPUID3": "0x99000000"}),
    ("LIBPFM_VERBOSE", "1", "no active PMU", {"LIBPFM_FORCE_PMU": "none"}),
    ("PMC_MACHINE", "xscale", "pmc", {}),
    ("XDG_RUNTIME_DIR", "{}/runtime", "pmc", {"PMC_MACHINE": "xscale"}),
    ("XDG_RUNTIME_DIR", "{}/runtime", "pmc", {}),
    ("T5_EVENT0", "99", "perfex", {}),
    ("T5_EVENT1", "99", "perfex", {}),
    ("PERFEX_CPU", "x", "perfex", {}),
    ("PERFEX_CLOCK", "x", "perfex", {}),
    ("PERFEX_COSTS", "/nowhere", "perfex", {}),
    ("PERFEX_PERF_TABLE", "/dev/null", "perfex", {}),
]
#: More rights than the user's, as (mode, user, group, capabilities).
RIGHTS = {"set-uid root": (0o4755, 0, 0, False), "set-uid, another user's": (0o4755, OTHER, 0, False),
          "set-gid": (0o2755, 0, OTHER, False), "a capability": (0o755, 0, 0, True)}
CAPABILITIES = struct.pack("<5I", 0x02000001, 1 << 12, 0, 0, 0)  # vfs_cap_data: CAP_NET_ADMIN, effective


@pytest.fixture(scope="module")
def program() -> Iterator[Path]:
    """The program, with copies of the libraries, where nobody may run it."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program that is set-uid root")
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))
    directory.chmod(0o755)
    for path in PATHS:
        (directory / path.parent.name).mkdir()
        shutil.copy(path, directory / path.parent.name)
    (directory / "pal").write_text(PAL)
    build(CC, "-std=gnu11", "-Wall", "-Werror", TESTS / "c" / "set_uid.c", "-o", directory / "program", "-ldl")
    yield directory / "program"
    shutil.rmtree(directory)


def lines(program: Path, owner: int, changes: dict[str, str]) -> list[str]:
    """What the program prints for nobody; the runtime directory is of whose files it may write."""
    directory = program.parent
    runtime = directory / "runtime"
    shutil.rmtree(runtime, ignore_errors=True)
    runtime.mkdir(mode=0o700)
    os.chown(runtime, owner, owner)
    env = {name: value for name, value in clean_env().items() if not re.match("PERFEX_|T5_|PMC_|XDG_", name)}
    libraries = [directory / path.parent.name / path.name for path in PATHS]
    done = subprocess.run([program, *libraries, runtime], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
                          env=env | {name: value.format(directory) for name, value in changes.items()},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [f"stdout: {line}" for line in done.stdout.splitlines()] + [f"stderr: {line}" for line in done.stderr.splitlines()]


def has_rights(program: Path, mode: int, uid: int, gid: int, capable: bool) -> None:
    os.chown(program, uid, gid)
    program.chmod(mode)
    if capable:
        os.setxattr(program, "security.capability", CAPABILITIES)
    elif "security.capability" in os.listxattr(program):
        os.removexattr(program, "security.capability")


@pytest.mark.parametrize(("name", "value", "library", "others"), CASES, ids=[f"{case[0]}-{case[2]}" + "-with" * bool(case[3]) for case in CASES])
@pytest.mark.long
def test_only_the_owner_s_environment_counts(name: str, value: str, library: str, others: dict[str, str], program: Path) -> None:
    def of_library(text: list[str]) -> list[str]:
        return [line for line in text if library in line]

    has_rights(program, 0o755, 0, 0, False)
    changed = {**others, name: value}
    assert of_library(lines(program, NOBODY, changed)) != of_library(lines(program, NOBODY, others)), "it does nothing at all"
    if os.statvfs(program).f_flag & os.ST_NOSUID:
        pytest.skip(f"{program.parent} is on a file system without set-uid programs (nosuid)")
    for kind, rights in RIGHTS.items():
        has_rights(program, *rights)
        owner = rights[1] if rights[0] & 0o4000 else NOBODY
        unset = lines(program, owner, {})
        assert "stderr: more rights" in unset, kind
        assert lines(program, owner, changed) == unset, kind


def library_sources() -> dict[Path, str]:
    """Text of the libraries' C files without comments; a program that times them is set-uid nowhere."""
    comment = re.compile(r'/\*.*?\*/|("(?:[^"\\\n]|\\.)*")', re.DOTALL)
    files = [path for path in sorted((ROOT / "csrc").rglob("*.[ch]")) if path.relative_to(ROOT / "csrc").parts[0] != "bench"]
    return {path: comment.sub(lambda match: match[1] or " ", path.read_text()) for path in files}


def test_every_variable_is_tried() -> None:
    """environment() reads them, for two functions that have the name as an argument, too; one of these is given an array."""
    text = "\n".join(library_sources().values())
    asked = [argument.strip() for argument in re.findall(r"\b(?:environment|perfex_environment|read_digit)\(([^,()]*)", text)]
    others = [argument for argument in asked if not re.fullmatch(r'"\w+"', argument)]
    assert Counter(others) == Counter([*["const char *name"] * 3, "const char *variable", "name", "variable", "names[i]"])
    [array] = re.findall(r"\*(?:const )?names\[2\] = \{([^}]*)\}", text)
    names = {argument.strip('"') for argument in asked if argument not in others} | set(re.findall(r'"(\w+)"', array))
    assert names == {case[0] for case in CASES}


# Functions of the C library that read the environment, or run programs that PATH names.
READ_IT = {"getenv", "environ", "__environ", "_environ", "setlocale", "tzset", "localtime", "localtime_r", "mktime",
           "strftime", "tempnam", "tmpnam", "catopen", "gettext", "dgettext", "dcgettext", "wordexp", "iconv_open", "dlopen",
           "system", "popen", "execvp", "execlp", "execvpe", "posix_spawnp", "getopt", "getopt_long", "glob", "getpass"}


def test_no_library_reads_the_environment_elsewhere() -> None:
    for path in PATHS:
        with path.open("rb") as stream:
            symbols = {symbol.name for symbol in ELFFile(stream).get_section_by_name(".dynsym").iter_symbols()
                       if symbol["st_shndx"] == "SHN_UNDEF"}
        assert symbols & READ_IT == set(), path
        assert "secure_getenv" in symbols
    for path, text in library_sources().items():
        assert not re.search(r'\bnewlocale\((?!LC_ALL_MASK, "C", )', text), path  # the C locale needs no files
        if path.name != "environment.h":
            assert not re.search(r"\b(secure_)?getenv\b|\b_*environ\b", text), path
