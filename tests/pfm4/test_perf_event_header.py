"""perfmon/perf_event.h next to the kernel's header, in either order, and next to that of Debian's libpfm4-dev: names and values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from header_names import includes
from native import CC, CXX, PFM4, attempt, build
from tools import needs

OURS, LINUX = "perfmon/perf_event.h", "linux/perf_event.h"
SYSTEM = Path("/usr/include")
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", *PFM4.cflags]
LANGUAGES = [(CC, "c"), ("clang", "c"), (CXX, "c++"), ("clang++", "c++")]
# 4.13.0's value is the wrong bit (docs/deviations).
WRONG_THERE = {"PERF_SAMPLE_BRANCH_CALL"}
# Numbers after the last of a list, which each version of the interface has its own of.
ENDS = {"PERF_FORMAT_MAX", "PERF_SAMPLE_BRANCH_MAX", "PERF_SAMPLE_BRANCH_MAX_SHIFT"}

needs_linux = pytest.mark.skipif(not (SYSTEM / LINUX).is_file(), reason=f"no {LINUX} on this machine (Debian: linux-libc-dev)")
needs_debian = pytest.mark.skipif(not (SYSTEM / OURS).is_file(), reason=f"no {SYSTEM / OURS} on this machine (Debian: libpfm4-dev)")


def names_of(header: Path) -> set[str]:
    """The constants that a header defines: enumerators and macros without parameters, but its include guard."""
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(encoding="utf-8"), flags=re.S)
    macros = re.findall(r"^#\s*define\s+(\w+)[ \t]+\S", text, flags=re.M)
    bodies = re.findall(r"\benum\b[^{;]*{([^}]*)}", re.sub(r"^#.*$", "", text, flags=re.M))
    enumerators = [part.split("=")[0].strip() for body in bodies for part in body.split(",")]
    return {name for name in [*macros, *enumerators] if re.match(r"PERF_|PR_TASK_PERF|\w+_NS_INDEX|NR_NAMESPACES", name)}


def values(headers: list[str], names: set[str], directory: Path, *flags: object, language: str = "c",
           compiler: str = CC) -> dict[str, int]:
    """What a program prints that has the names of these headers."""
    rows = "".join(f'\tprintf("{n} %llu\\n", (unsigned long long)({n}));\n' for n in sorted(names))
    build(compiler, *flags, "-w", "-x", language, "-", "-o", directory / "values",
          source=includes([*headers, "stdio.h"]) + f"int main(void)\n{{\n{rows}\treturn 0;\n}}\n")
    return {name: int(value) for name, value in (line.split() for line in build(directory / "values").splitlines())}


@needs_linux
@pytest.mark.parametrize(("compiler", "language"), [LANGUAGES[0], LANGUAGES[3]], ids=[CC, "clang++"])
@pytest.mark.parametrize("headers", [[OURS, LINUX], [LINUX, OURS], [OURS]], ids=" ".join)
@pytest.mark.slow
def test_no_name_of_the_kernel_s_header_is_lost(headers: list[str], compiler: str, language: str, tmp_path: Path) -> None:
    needs(compiler)
    names = names_of(SYSTEM / LINUX)
    assert len(names) > 200
    found = values(headers, names, tmp_path, *PFM4.cflags, language=language, compiler=compiler)
    expected = values([LINUX], names, tmp_path)
    different = {name for name in names if found[name] != expected[name]}
    assert different <= (ENDS if headers[0] == OURS else set())


@needs_debian
@pytest.mark.parametrize("headers", [[OURS], [LINUX, OURS]], ids=" ".join)
def test_all_names_of_libpfm_s_header(headers: list[str], tmp_path: Path) -> None:
    names = names_of(SYSTEM / OURS)
    assert {"PERF_MEM_LVL_REM_CCE2", "PERF_EVENT_MISC_USER", "PERF_CONTEXT_MAX", "PR_TASK_PERF_EVENTS_ENABLE"} <= names
    expected = values([OURS], names, tmp_path, f"-I{SYSTEM}")
    for flags in (["-DPFM_OWN_PERF_EVENT"], []):
        found = values(headers, names, tmp_path, *flags, *PFM4.cflags)
        different = {name for name in names if found[name] != expected[name]}
        assert WRONG_THERE <= different <= WRONG_THERE | (ENDS if headers[0] == LINUX or not flags else set())


USER = """
#include <stdio.h>
static int bits(const struct perf_branch_entry *b, union perf_mem_data_src source)
{
    return b->from != b->to && b->predicted && source.mem_lvl & PERF_MEM_LVL_HIT
        && source.val & PERF_MEM_S(LVL, L2) && PERF_EVENT_MISC_USER == PERF_RECORD_MISC_USER;
}
int main(void)
{
    struct perf_event_attr attr = {};
    struct perf_branch_entry b = {};
    union perf_mem_data_src source = {};
    attr.size = sizeof(attr);
    if (prctl(PR_TASK_PERF_EVENTS_DISABLE) || ioctl(-1, PERF_EVENT_IOC_ENABLE, 0) != -1)
        return 1;
    return bits(&b, source);
}
"""


@needs_linux
@pytest.mark.parametrize(("compiler", "language", "headers"), [
    (CC, "c", [OURS, LINUX]), ("clang", "c", [LINUX, OURS]), (CXX, "c++", [OURS]), ("clang++", "c++", [OURS, LINUX])])
def test_a_program_with_the_types_and_the_system_calls(
        compiler: str, language: str, headers: list[str], tmp_path: Path) -> None:
    needs(compiler)
    flags = [flag for flag in FLAGS if language == "c" or not flag.startswith("-std")]
    build(compiler, *flags, "-Wno-missing-field-initializers", "-x", language, "-", "-o", tmp_path / "x",
          source=includes(headers) + USER)
    build(tmp_path / "x")


def test_the_branches_of_a_sample(tmp_path: Path) -> None:
    """libpfm's type: the kernel's header has none of that name."""
    source = includes([OURS, "stdio.h", "stddef.h"]) + (
        "int main(void) { struct perf_branch_stack *s = 0;"
        'printf("%zu %zu %zu %zu", sizeof(*s), offsetof(struct perf_branch_stack, entries), sizeof(s->entries[0]),'
        " sizeof(s->entries)); return 0; }\n")
    build(CC, *FLAGS, "-x", "c", "-", "-o", tmp_path / "x", source=source)
    assert build(tmp_path / "x") == "8 8 24 0"


@needs_linux
def test_a_program_may_have_what_the_kernel_has_not() -> None:
    """perf has a perf_branch_stack of its own next to the kernel's header."""
    source = includes([LINUX]) + "struct perf_branch_stack { __u64 nr, hw_idx; struct perf_branch_entry entries[2]; };\n"
    build(CC, *FLAGS, "-fsyntax-only", "-x", "c", "-", source=source + includes([OURS]))


# ---- kernel headers that are newer, and older ------------------------------------------------------

NEWER = """
_Static_assert(sizeof(struct perf_event_attr) == 136, "VER8");
_Static_assert(_Generic(((struct perf_event_attr *)0)->config3, uint64_t: 1), "the C type of libpfm's header");
_Static_assert(_Generic((__u64)0, unsigned long long: 1), "the kernel's types are as before");
int a[PERF_OF_TOMORROW == 77 ? 1 : -1];
struct perf_branch_stack stack;
"""
OWN = """
_Static_assert(sizeof(struct perf_event_attr) == 128, "VER7");
_Static_assert(_Generic(((struct perf_event_attr *)0)->config, uint64_t: 1), "");
int PERF_OF_TOMORROW, config3;
struct perf_branch_stack stack;
"""
UNTOUCHED = """
#if defined(LINUX_VERSION_CODE) || defined(KERNEL_VERSION) || defined(LINUX_VERSION_MAJOR) || defined(__u64)
#error "a name is left of <linux/version.h>, or of a type"
#endif
"""


def kernel_headers(directory: Path, version: int) -> Path:
    """This machine's, with a longer structure and one more name, as headers of some version."""
    (directory / "linux").mkdir(exist_ok=True)
    text = (SYSTEM / LINUX).read_text(encoding="utf-8")
    attr = re.search(r"struct perf_event_attr \{.*?^\};", text, flags=re.M | re.S)
    assert attr
    longer = attr[0] if "config3" in attr[0] else attr[0].removesuffix("};") + "\t__u64 config3;\n};\n"
    text = text.replace(attr[0], longer + "enum { PERF_OF_TOMORROW = 77 };\n")
    (directory / LINUX).write_text(text, encoding="utf-8")
    (directory / "linux/version.h").write_text(f"#define LINUX_VERSION_CODE {version}\n#define KERNEL_VERSION(a, b, c) 0\n"
                                               "#define LINUX_VERSION_MAJOR 7\n")
    return directory


@needs_linux
@pytest.mark.parametrize("compiler", [CC, "clang"])
def test_the_newer_header_is_used(compiler: str, tmp_path: Path) -> None:
    needs(compiler)
    flags = [*FLAGS, "-isystem", kernel_headers(tmp_path, 7 << 16), "-fsyntax-only", "-x", "c", "-"]
    for headers in ([OURS], [OURS, LINUX], ["perfmon/pfmlib_perf_event.h", LINUX, OURS]):
        build(compiler, *flags, source=includes(headers) + UNTOUCHED + NEWER)
    build(compiler, "-DPFM_OWN_PERF_EVENT", *flags, source=includes([OURS, LINUX]) + UNTOUCHED + OWN)
    mine = "#define LINUX_VERSION_CODE 5\n" + includes([OURS]) + NEWER + "int b[LINUX_VERSION_CODE == 5 ? 1 : -1];\n"
    build(compiler, *flags, source=mine)


@needs_linux
def test_an_older_header_is_not(tmp_path: Path) -> None:
    flags = [*FLAGS, "-isystem", kernel_headers(tmp_path, 0x060100 + 255), "-fsyntax-only", "-x", "c", "-"]
    build(CC, *flags, source=includes([OURS, LINUX]) + UNTOUCHED + OWN)
    assert "config3" in attempt(CC, *flags, source=includes([OURS]) + NEWER).stderr


# ---- perfmon/err.h ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("compiler", "language"), [(CC, "c"), (CXX, "c++")])
def test_err(compiler: str, language: str, tmp_path: Path) -> None:
    needs(compiler)
    source = includes(["perfmon/err.h", "err.h"]) + 'int main(void) { warnx("%d", 3); errx(4, "%s", "end"); }\n'
    build(compiler, "-Wall", "-Wextra", "-Werror", *PFM4.cflags, "-x", language, "-", "-o", tmp_path / "x", source=source)
    done = attempt(tmp_path / "x")
    assert (done.returncode, done.stderr) == (4, "x: 3\nx: end\n")
