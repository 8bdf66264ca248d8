"""The installed headers compile as libpfm programs need them: each alone, C and C++, without a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from native import CC, CXX, PFM3, PFM3_MANUAL, attempt, build, headers, standard_flag
from tools import needs

HEADERS = headers(PFM3)
BEFORE = {"perfmon/perfmon_v2.h": "#include <perfmon/perfmon.h>\n"}  # which includes it, and it says so
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compile_headers(compiler: str, language: str, standard: str, source: str, *flags: str) -> None:
    build(needs(compiler), standard_flag(compiler, language, standard), *WARNINGS, *flags, *PFM3.cflags,
          "-x", language, "-fsyntax-only", "-", source=source)


def test_the_headers_are_the_expected_ones() -> None:
    names = ["perfmon", "perfmon_compat", "perfmon_default_smpl", "perfmon_dfl_smpl", "perfmon_ia64", "perfmon_mmap",
             "perfmon_model", "perfmon_v2", "pfmlib", "pfmlib_comp", "pfmlib_comp_ia64", "pfmlib_gen_ia64", "pfmlib_itanium",
             "pfmlib_itanium2", "pfmlib_montecito", "pfmlib_os", "pfmlib_os_ia64", "pfmlib_regmask"]
    assert [f"perfmon/{name}.h" for name in names] == HEADERS


def compile_each_twice(directory: Path, compiler: str, suffix: str, *flags: str) -> None:
    """Each header alone, included twice; all of them in one call of the compiler."""
    sources = [directory / f"{Path(header).stem}.{suffix}" for header in HEADERS]
    for source, header in zip(sources, HEADERS, strict=True):
        source.write_text(BEFORE.get(header, "") + 2 * f"#include <{header}>\n" + "extern int unused;\n")
    build(needs(compiler), *flags, *WARNINGS, *PFM3.cflags, "-fsyntax-only", *sources)


@pytest.mark.long
@pytest.mark.parametrize(("compiler", "suffix", "standard", "flags"), [
    (CC, "c", "c99", []), (CC, "c", "c23", ["-D__PFMLIB_OS_COMPILE"]), ("clang", "c", "c99", PFM3_MANUAL.cflags), ("clang", "c", "c23", []),
    (CXX, "cc", "c++17", []), ("clang++", "cc", "c++11", ["-D__PFMLIB_OS_COMPILE"]), ("clang++", "cc", "c++17", PFM3_MANUAL.cflags)])
def test_each_in_other_standards(compiler: str, suffix: str, standard: str, flags: list[str], tmp_path: Path) -> None:
    compile_each_twice(tmp_path, compiler, suffix, standard_flag(needs(compiler), {"c": "c", "cc": "c++"}[suffix], standard), *flags)


def test_each_in_one_standard_of_each_language(tmp_path: Path) -> None:
    """Of what the slow test tries."""
    compile_each_twice(tmp_path, CC, "c", standard_flag(CC, "c", "c11"), *PFM3_MANUAL.cflags)
    compile_each_twice(tmp_path, CXX, "cc", standard_flag(CXX, "c++", "c++11"))


@pytest.mark.parametrize(("compiler", "language", "standard", "order"), [(CC, "c", "c11", HEADERS), (CXX, "c++", "c++17", HEADERS[::-1])])
def test_all_together(compiler: str, language: str, standard: str, order: list[str]) -> None:
    compile_headers(compiler, language, standard, "".join(f"#include <{h}>\n" for h in order))


def test_strict_warnings_reach_the_headers(tmp_path: Path) -> None:
    """The control: a header with a flaw does not pass."""
    (tmp_path / "flawed.h").write_text("static inline int f(int unused) { return 0; }\n")
    done = attempt(CC, "-std=c11", *WARNINGS, f"-I{tmp_path}", "-x", "c", "-fsyntax-only", "-",
                   source="#include <flawed.h>\n")
    assert "unused" in done.stderr
    assert done.returncode != 0


def test_os_compile_leaves_out_the_system_glue() -> None:
    source = "#include <perfmon/pfmlib.h>\nint f(void) { return pfm_self_start(0); }\n"
    flags = ["-std=c11", "-Werror", *PFM3.cflags, "-x", "c", "-fsyntax-only", "-"]
    assert attempt(CC, *flags, source=source).returncode == 0
    done = attempt(CC, "-D__PFMLIB_OS_COMPILE", *flags, source=source)
    assert done.returncode != 0
    assert "pfm_self_start" in done.stderr


ERROR_CODES = [
    "SUCCESS", *(f"ERR_{n}" for n in (
        "NOTSUPP", "INVAL", "NOINIT", "NOTFOUND", "NOASSIGN", "FULL", "EVTMANY", "MAGIC", "FEATCOMB",
        "EVTSET", "EVTINCOMP", "TOOMANY", "IRRTOOBIG", "IRREMPTY", "IRRINVAL", "IRRTOOMANY", "DRRINVAL",
        "DRRTOOMANY", "BADHOST", "IRRALIGN", "IRRFLAGS", "UMASK", "NOMEM")),
]


def test_return_codes_are_numbers_to_the_preprocessor() -> None:
    """They were macros with numbers in libpfm 3.10: #if sees their values, not 0, and so does a switch."""
    source = "".join(f"#ifndef PFMLIB_{name}\n#error no macro\n#elif PFMLIB_{name} != -{code}\n#error PFMLIB_{name} has another value\n#endif\n"
                     for code, name in enumerate(ERROR_CODES))
    cases = "".join(f"case PFMLIB_{name}: return {code};" for code, name in enumerate(ERROR_CODES))
    compile_headers(CC, "c", "c11", f"#include <perfmon/pfmlib.h>\n{source}int f(int c) {{ switch (c) {{ {cases} default: return -1; }} }}\n")


def test_return_codes_are_ints_in_cxx() -> None:
    """A variable initialised with a code can hold another; templates deduce one type."""
    source = ("#include <perfmon/pfmlib.h>\n#include <algorithm>\n"
              "int f() { auto ret = PFMLIB_SUCCESS; ret = pfm_initialize(); return ret; }\n"
              "int g() { return std::min(pfm_initialize(), PFMLIB_SUCCESS); }\n")
    compile_headers(CXX, "c++", "c++17", source)


def test_itanium2_defines_the_name_of_its_manual_page() -> None:
    source = "#include <perfmon/pfmlib_itanium2.h>\n_Static_assert(PFMLIB_MONT_EVT_NO_SET == -1, \"\");\n"
    compile_headers(CC, "c", "c11", source)


def test_header_guards_have_the_names_of_libpfm() -> None:
    """Each is there once its header is, and not before."""
    guards = {"pfmlib": "PFMLIB", "pfmlib_gen_ia64": "PFMLIB_GEN_IA64", "pfmlib_itanium": "PFMLIB_ITANIUM",
              "pfmlib_itanium2": "PFMLIB_ITANIUM2", "pfmlib_montecito": "PFMLIB_MONTECITO"}
    source = "".join(f"#ifdef __{guard}_H__\n#error before\n#endif\n#include <perfmon/{header}.h>\n#ifndef __{guard}_H__\n#error no guard\n#endif\n"
                     for header, guard in guards.items())
    compile_headers(CC, "c", "c11", source)


@pytest.mark.parametrize("model", ["gen_ia64", "itanium", "itanium2", "montecito"])
def test_big_endian_target_is_refused(model: str) -> None:
    """The compiler pretends to have another target."""
    def tried(byte_order: str, *flags: str) -> tuple[bool, bool]:
        target = ["-U__BYTE_ORDER__", f"-D__BYTE_ORDER__=__ORDER_{byte_order}_ENDIAN__"]
        done = attempt(CC, "-std=c11", *target, *flags, *PFM3.cflags, "-x", "c", "-fsyntax-only", "-",
                       source=f"#include <perfmon/pfmlib_{model}.h>\n")
        return done.returncode != 0, "little-endian" in done.stderr

    assert tried("BIG") == (True, True)
    assert tried("LITTLE") == tried("BIG", "-DPFMLIB_NO_REG_UNIONS") == (False, False)
