"""libpfm.so.4, its extension module, its mirror and its headers offer what libpfm 4.13.0 declares, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import run_python
from header_names import HeaderNames, includes
from native import CC, CXX, PFM3, PFM4, attempt, build, dynamic_entries, exported
from pypfm import pfm4
from pypfm._c import names
from pypfm._c import pfm4 as _pfm4
from tools import needs
from worker4 import DEBIAN

FUNCTIONS = {
    "pfm_find_event", "pfm_get_event_attr_info", "pfm_get_event_encoding", "pfm_get_event_info", "pfm_get_event_next",
    "pfm_get_os_event_encoding", "pfm_get_perf_event_encoding", "pfm_get_pmu_info", "pfm_get_version",
    "pfm_initialize", "pfm_pmu_validate", "pfm_strerror", "pfm_terminate"}
API = HeaderNames(PFM4, {
    "__PFMLIB_H__": "include guard",
    "__PFMLIB_PERF_EVENTS_H__": "include guard",
    "__PERFMON_PERF_EVENT_H__": "include guard",
    "_LINUX_PERF_EVENT_H": "include guard of the kernel's header",
    "PFM_ERROR_LIST": "X-macro list of the return codes; takes a macro",
    "cap_usr_rdpmc": "another spelling of a member",
    "__PERFMON_ERR_H__": "include guard",
    "PERF_MEM_S": "pastes tokens",
    "SWIG_NAME": "names of members, for SWIG only",
    "SWIG_ANONYMOUS": "a word of the compiler's, for members without a name",
    "pfm_for_each_event_attr": "a loop",
    "pfm_for_all_pmus": "a loop",
}, ["sys/types.h", "unistd.h", "inttypes.h", "stdio.h", "sys/syscall.h", "sys/ioctl.h", "sys/prctl.h", "err.h", "linux/types.h", "linux/ioctl.h",
    "asm/byteorder.h"])


def test_library_exports_the_thirteen_functions() -> None:
    assert exported(PFM4.path) == dict.fromkeys(FUNCTIONS, "T")
    assert API.extern_functions == FUNCTIONS


@pytest.mark.skipif(not DEBIAN.exists(), reason=f"no {DEBIAN} (Debian's libpfm4) on this machine")
def test_debian_s_exports_are_the_same() -> None:
    theirs = set(exported(DEBIAN))
    assert {name for name in theirs if not name.startswith("_")} == FUNCTIONS


def test_soname() -> None:
    assert PFM4.path.name == "libpfm.so.4"
    assert dynamic_entries(PFM4.path, "DT_SONAME") == ["libpfm.so.4"]
    assert dynamic_entries(PFM4.path, "DT_NEEDED") in ([], ["libc.so.6"])


def test_extension_exports_only_its_initialisation() -> None:
    path = Path(_pfm4.__file__)
    assert path.name == "pfm4.abi3.so"
    assert exported(path) == {"PyInit_pfm4": "T"}


# ---- the mirror -----------------------------------------------------------------------------------

def missing(names: frozenset[str] | list[str]) -> list[str]:
    return sorted(n for n in names if not hasattr(pfm4, n) or n not in pfm4.__all__)


def test_mirror_has_every_function() -> None:
    assert missing(API.extern_functions) == []
    assert API.inline_functions == {"perf_event_open"}
    assert missing(API.inline_functions) == []


def test_mirror_has_every_type() -> None:
    assert {"pfm_err_t", "os_err_t", "pfm_pmu_encode_arg_t", "pfm_perf_encode_arg_t", "perf_event_attr_t",
            "pfm_event_info_spec_t"} <= API.typedefs
    assert API.struct_tags == {
        "perf_event_attr", "perf_event_mmap_page", "perf_event_header", "perf_branch_entry", "perf_branch_stack",
        "perf_event_query_bpf", "perf_ns_link_info"}
    assert API.incomplete_types == set()
    assert API.union_tags == {"perf_mem_data_src", "perf_sample_weight"}
    assert missing(API.typedefs | API.struct_tags | API.union_tags) == []


def test_mirror_has_every_enumerator() -> None:
    assert {"PFM_PMU_INTEL_GLM", "PERF_SAMPLE_BRANCH_ANY", "PERF_RECORD_SAMPLE"} <= API.enumerators
    assert missing(API.enumerators) == []


def test_mirror_has_every_macro() -> None:
    assert {"PFM_PLMH", "PERF_ATTR_SIZE_VER7", "PERF_EVENT_IOC_RESET"} <= set(API.constants)
    assert missing(API.constants) == []
    assert {"PFM_MAJ_VERSION", "PFM_MIN_VERSION"} == set(API.one_argument_macros)
    assert missing(API.one_argument_macros) == []


def test_macros_without_place_in_the_mirror_are_listed() -> None:
    others = {n for n, p in API.macros.items() if p is not None and len(p) != 1}
    assert others <= set(API.not_api) <= set(API.macros)


def test_constants_have_the_values_of_c(tmp_path: Path) -> None:
    program = tmp_path / "constants"
    source = includes(API.headers) + "int main(void) {\n" + "".join(
        f'printf(({n}) < 0 ? "{n} %lld\\n" : "{n} %llu\\n", (long long)({n}));\n' for n in API.constants) + "return 0; }\n"
    build(CC, "-std=gnu11", "-DPFM_OWN_PERF_EVENT", *PFM4.cflags, "-x", "c", "-", "-o", program, source=source)
    answers = dict(line.split() for line in build(program).splitlines())
    assert {n: getattr(pfm4, n) for n in API.constants} == {n: int(v) for n, v in answers.items()}


def test_nothing_else_in_the_mirror() -> None:
    python = {*names.__all__, "ffi", "lib", "load"}
    declared = {*API.extern_functions, *API.inline_functions, *API.typedefs, *API.struct_tags, *API.union_tags, *API.constants,
                *API.one_argument_macros}
    assert set(pfm4.__all__) - python <= declared


# ---- headers ----------------------------------------------------------------------------------------

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
PEDANTIC = {"gnu11": ["-Wpedantic"]}  # members without a name are no C99 and no C++, in libpfm's headers and Linux's
HEADERS = ["perfmon/err.h", "perfmon/perf_event.h", "perfmon/pfmlib.h", "perfmon/pfmlib_perf_event.h"]
LINUX = "linux/perf_event.h"
INCLUDED = [*([h] for h in HEADERS), *([h, h] for h in HEADERS), HEADERS, HEADERS[::-1]]
WITH_LINUX = [*([LINUX, h] for h in HEADERS), *([h, LINUX] for h in HEADERS), [HEADERS[2], LINUX, *HEADERS]]


def test_the_headers_are_the_expected_ones() -> None:
    assert API.headers == HEADERS


@pytest.mark.parametrize(("compiler", "suffix", "standard"), [
    (CC, "c", "gnu11"), (CXX, "cc", "gnu++11"),
    *(pytest.param(*row, marks=pytest.mark.slow) for row in [
        (CC, "c", "gnu99"), ("clang", "c", "gnu11"), (CXX, "cc", "gnu++17"), ("clang++", "cc", "gnu++17")])])
def test_compiles(compiler: str, suffix: str, standard: str, tmp_path: Path) -> None:
    sources = []
    for asked in INCLUDED + WITH_LINUX:
        sources.append(tmp_path / f"{'-'.join(asked).replace('/', '_')}.{suffix}")
        sources[-1].write_text(includes(asked) + "extern int unused;\n")
    build(needs(compiler), f"-std={standard}", *WARNINGS, *PEDANTIC.get(standard, []), *PFM4.cflags, "-fsyntax-only", *sources)


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("flags", [["-std=c99"], ["-std=c11"], ["-std=c11", "-D_GNU_SOURCE"], ["-D_POSIX_C_SOURCE=200809L"]], ids=" ".join)
def test_strict_c(flags: list[str], header: str) -> None:
    """Without the GNU extensions of the language and of the system's headers, which hide syscall(2) then."""
    build(CC, *flags, *WARNINGS, "-Wredundant-decls", *PFM4.cflags, "-x", "c", "-fsyntax-only", "-", source=includes([header]))


USER = """
int f(const char *s)
{
    struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_RAW };
    perf_event_attr_t *same = &attr;
    pfm_perf_encode_arg_t arg = { .attr = same, .size = sizeof(arg) };
    pfm_event_info_t info;
    pfm_pmu_t pmu = PFM_PMU_NONE;
    int i;
    pfm_for_each_event_attr(i, &info)
        attr.exclude_kernel = 1;
    pfm_for_all_pmus(pmu)
        i += pmu;
    return pfm_get_os_event_encoding(s, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) ? i
        : perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
"""


@pytest.mark.parametrize("names", [["perfmon/pfmlib_perf_event.h"], [LINUX, "perfmon/pfmlib_perf_event.h"],
                                   ["perfmon/pfmlib_perf_event.h", LINUX]], ids=" ".join)
def test_a_user_s_program(names: list[str]) -> None:
    done = attempt(CC, "-std=gnu11", "-Werror", *PFM4.cflags, "-x", "c", "-fsyntax-only", "-",
                   source=includes(names) + USER)
    assert done.stderr == ""


def test_swig_names_the_members() -> None:
    source = ("#include <perfmon/pfmlib.h>\n"
              "int f(pfm_pmu_info_t *p, pfm_event_attr_info_t *a) { return p->flags.is_dfl + a->defaults.dfl_int; }\n")
    flags = ["-std=gnu11", "-Werror", *PFM4.cflags, "-x", "c", "-fsyntax-only", "-"]
    assert attempt(CC, "-DSWIG", *flags, source=source).returncode == 0
    assert "flags" in attempt(CC, *flags, source=source).stderr


# ---- all together in one process ------------------------------------------------------------------------

TOGETHER = """
import ctypes, sys
libraries = [ctypes.CDLL(path, ctypes.RTLD_GLOBAL) for path in sys.argv[1:]]
from pypfm import pfm3, pfm4
print(pfm3.pfm_force_pmu(3), pfm4.pfm_initialize())
print(pfm3.pfm_strerror(-10), '|', pfm4.pfm_strerror(-10))
idx = pfm3.c_uint()
print(pfm3.pfm_find_event("CPU_CYCLES", idx), idx.value, pfm4.pfm_find_event("glm::BACLEARS:RETURN") >> 21)
for lib in libraries:
    lib.pfm_strerror.restype = ctypes.c_char_p
    print(lib.pfm_strerror(-10).decode(), lib.pfm_find_event(b"glm::BACLEARS"))
pfm4.pfm_terminate()
print(pfm3.pfm_find_event("CPU_CYCLES", idx), pfm4.pfm_find_event("glm::BACLEARS"))
"""
ANSWERS = """\
0 0
incompatible event sets | attribute value already set
0 179 202
"""


@pytest.mark.parametrize("others", [[], [DEBIAN], [PFM4.path], [PFM3.path, DEBIAN], [DEBIAN, PFM3.path, PFM4.path]],
                         ids=lambda paths: " ".join(str(p.parent.name) + "/" + p.name for p in paths) or "none")
def test_each_answers_for_itself(others: list[Path]) -> None:
    """With others loaded for all to see, Debian's among them, which is not initialised by ours."""
    for path in others:
        if not path.exists():
            pytest.skip(f"no {path} on this machine")
    done = run_python(TOGETHER, *others, LIBPFM_ENCODE_INACTIVE="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(ANSWERS)
    tail = done.stdout[len(ANSWERS):].splitlines()
    assert tail[-1] == "0 -3"
    for path, line in zip(others, tail, strict=False):
        if path.name == "libpfm.so.4":
            assert line == "attribute value already set -3"


def test_preloaded_library_changes_nothing() -> None:
    if not DEBIAN.exists():
        pytest.skip(f"no {DEBIAN} (Debian's libpfm4) on this machine")
    code = ("from pypfm.pfm4 import *\npfm_initialize()\ninfo = pfm_pmu_info_t()\n"
            "print([i for i in range(PFM_PMU_MAX) if pfm_get_pmu_info(i, info) == 0])\n")
    done = run_python(code, LD_PRELOAD=str(DEBIAN))
    assert done.stdout == "[1, 2, 3, 4, 51, 114, 202]\n", done.stderr
