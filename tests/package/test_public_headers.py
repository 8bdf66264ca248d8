"""No public header breaks a legal program: with the flags that ``pypfm config`` prints, in every standard, before and after the
system's headers, beside the program's own use of the names that a header might touch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from header_names import HeaderNames, includes
from native import CC, CXX, attempt, build, headers, standard_flag
from pypfm.config import LIBRARIES, Library
from tools import first, needs

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
# The oldest and the newest standard, and those between; the two compilers warn of other things.
STANDARDS = [(CC, "c99"), ("clang", "c17"), (CXX, "c++11"), ("clang++", "c++20")]
EVERY = [pytest.param(library, id=name) for name, library in LIBRARIES.items()]
BEFORE = {"perfmon/perfmon_v2.h": ["perfmon/perfmon.h"]}  # which includes it, and it says so

SYSTEM = includes(["sys/mman.h", "sys/types.h", "sys/ioctl.h", "sys/prctl.h", "fcntl.h", "poll.h", "unistd.h", "stdio.h", "err.h"])
NAMES = ["mmap", "mmap64", "munmap", "mprotect", "open", "close", "read", "write", "ioctl", "fcntl", "prctl", "syscall", "poll",
         "fork", "err", "warn", "index", "type", "start", "stop"]
# An inline function that calls them, and a structure with members of these names; in C++ a class with such methods.
USES = """
static inline void *inlined(int fd)
{
	char c;
	void *memory = mmap(0, 1, PROT_READ, MAP_SHARED, fd, 0);
	void *(*pointer)(void *, size_t, int, int, int, off_t) = &mmap;

	if (munmap(memory, 1) || read(fd, &c, 1) < 0 || write(fd, &c, 1) < 0 || ioctl(fd, 0) || fcntl(fd, F_GETFD) || fork() < 0)
		close(fd);
	return pointer(memory, 1, PROT_READ, MAP_PRIVATE, fd, 0);
}
""" + "#ifdef __cplusplus\nstruct operations {\n" + "".join(f"\tint {n}(operations *o) {{ return o->self; }}\n" for n in NAMES) + (
    "\tint self;\n};\n#else\nstruct operations {\n") + "".join(f"\tint (*{n})(struct operations *);\n" for n in NAMES) + "};\n#endif\n"
AFTER = ("void *called(int, struct operations *);\nvoid *called(int fd, struct operations *o)\n{\n\treturn fd + "
         + " + ".join(f"o->{n}(o)" for n in NAMES) + " ? inlined(fd) : mmap(0, 1, PROT_READ, MAP_PRIVATE, fd, 0);\n}\n")


def sources(directory: Path, suffix: str, groups: dict[str, list[str]]) -> list[Path]:
    """For each group of headers, a file in which it stands after the system's and the program's own, and one where it is first."""
    made = []
    for name, group in groups.items():
        for order, text in (("last", SYSTEM + USES + includes(group * 2) + AFTER), ("first", includes(group * 2) + SYSTEM + USES + AFTER)):
            made.append(directory / f"{name}_{order}.{suffix}")
            made[-1].write_text(text)
    return made


def compiles(library: Library, groups: dict[str, list[str]], compiler: str, standard: str, directory: Path, *flags: str) -> None:
    language = "c++" if "++" in standard else "c"
    build(needs(compiler), standard_flag(compiler, language, standard), *WARNINGS, *flags, *library.cflags, "-fsyntax-only",
          *sources(directory, "cc" if language == "c++" else "c", groups))


@pytest.mark.parametrize("library", EVERY)
@pytest.mark.parametrize(("compiler", "standard"), [(CC, "c11"), ("clang++", "c++17")])
def test_all_headers_together(library: Library, compiler: str, standard: str, tmp_path: Path) -> None:
    compiles(library, {"all": headers(library)}, compiler, standard, tmp_path, "-D_FILE_OFFSET_BITS=64")


@pytest.mark.slow
@pytest.mark.parametrize("offsets", first([[], ["-D_FILE_OFFSET_BITS=64"]]), ids=["", "64"])
@pytest.mark.parametrize("library", EVERY)
@pytest.mark.parametrize(("compiler", "standard"), STANDARDS)
def test_each_header(library: Library, compiler: str, standard: str, offsets: list[str], tmp_path: Path) -> None:
    groups = {"all": headers(library)}
    if not library.form_of:
        groups |= {Path(header).stem: [*BEFORE.get(header, []), header] for header in headers(library)}
    compiles(library, groups, compiler, standard, tmp_path, *offsets)


# Macros that are no part of the API: the library's own, and the include guard and the spelling that libpfm 4 has, too.
PREFIXES = {"pfm3": "PFM|PMU_", "pfm4": "PFM|LIBPFM_|PERF_|PR_TASK_PERF_|SWIG_|pfm_for_|cap_usr_rdpmc", "pmc": "PMC_|__PMC_", "perfex": "PERFEX_"}
GUARDS = r"_+(PERFMON|PFMLIB|PERF|PMC|SYS_PMC|PERFEX|LINUX_PERF_EVENT)\w*_H_*|__NR_perf_event_open|__PFMLIB_PERF_EVENTS_H__"


@pytest.mark.parametrize("name", PREFIXES)
def test_macros_have_the_library_s_prefix(name: str) -> None:
    """No macro takes a name that a program may have."""
    library = LIBRARIES[name]
    api = HeaderNames(library, {}, ["sys/types.h", "sys/mman.h", "unistd.h", "inttypes.h", "stdio.h", "stddef.h", "endian.h", "err.h",
                                    "sys/syscall.h", "sys/ioctl.h", "sys/prctl.h", "linux/types.h", "linux/ioctl.h", "asm/byteorder.h"])
    assert api.macros
    assert [macro for macro in api.macros if not re.match(rf"({PREFIXES[name]})|({GUARDS})$", macro)] == []


@pytest.mark.parametrize(("compiler", "standard"), [("clang", "c11"), (CXX, "c++17")])
def test_a_header_that_touches_a_name_is_noticed(compiler: str, standard: str, tmp_path: Path) -> None:
    """The control: what the header of the sampling format does for those who compile by hand."""
    library = LIBRARIES["pfm3"]
    flags = [flag for flag in library.cflags if flag.startswith("-I")]
    files = sources(tmp_path, "cc" if "++" in standard else "c", {"smpl": ["perfmon/perfmon_dfl_smpl.h"]})
    for offsets, said in ([], "asm label"), (["-D_FILE_OFFSET_BITS=64"], "macro"):
        done = attempt(needs(compiler), f"-std={standard}", *offsets, *flags, "-fsyntax-only", *files)
        if offsets or compiler == "clang":
            assert done.returncode != 0
            assert said in done.stderr
