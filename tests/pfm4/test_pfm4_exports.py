"""libpfm.so.4, its extension module, its mirror and its headers offer what libpfm 4.13.0 declares, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import run_python
from header_names import HeaderNames, check_mirror, includes
from native import CC, CXX, PFM3, PFM4, attempt, build, dynamic_entries, exported
from pypfm import pfm4
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

def test_the_headers_have_names_of_each_kind() -> None:
    assert API.inline_functions == {"perf_event_open"}
    assert {"pfm_err_t", "os_err_t", "pfm_pmu_encode_arg_t", "pfm_perf_encode_arg_t", "perf_event_attr_t",
            "pfm_event_info_spec_t"} <= API.typedefs
    assert API.struct_tags == {
        "perf_event_attr", "perf_event_mmap_page", "perf_event_header", "perf_branch_entry", "perf_branch_stack",
        "perf_event_query_bpf", "perf_ns_link_info"}
    assert API.union_tags == {"perf_mem_data_src", "perf_sample_weight"}
    assert {"PFM_PMU_INTEL_GLM", "PERF_SAMPLE_BRANCH_ANY", "PERF_RECORD_SAMPLE"} <= API.enumerators
    assert {"PFM_PLMH", "PERF_ATTR_SIZE_VER7", "PERF_EVENT_IOC_RESET"} <= set(API.constants)
    assert {"PFM_MAJ_VERSION", "PFM_MIN_VERSION"} == set(API.one_argument_macros)


def test_the_mirror_has_the_names_of_the_headers(tmp_path: Path) -> None:
    check_mirror(API, pfm4, {"load"}, tmp_path)


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
    *(pytest.param(*row, marks=pytest.mark.slow) for row in [(CC, "c", "gnu99"), ("clang", "c", "gnu11"), ("clang++", "cc", "gnu++17")])])
def test_compiles(compiler: str, suffix: str, standard: str, tmp_path: Path) -> None:
    sources = []
    for asked in INCLUDED + WITH_LINUX:
        sources.append(tmp_path / f"{'-'.join(asked).replace('/', '_')}.{suffix}")
        sources[-1].write_text(includes(asked) + "extern int unused;\n")
    build(needs(compiler), f"-std={standard}", *WARNINGS, *PEDANTIC.get(standard, []), *PFM4.cflags, "-fsyntax-only", *sources)


@pytest.mark.parametrize("flags", [["-std=c99"], ["-std=c11", "-D_GNU_SOURCE"], ["-D_POSIX_C_SOURCE=200809L"]], ids=" ".join)
def test_strict_c(flags: list[str], tmp_path: Path) -> None:
    """Without the GNU extensions of the language and of the system's headers, which hide syscall(2) then."""
    sources = [tmp_path / f"{number}.c" for number, _ in enumerate(HEADERS)]
    for source, header in zip(sources, HEADERS, strict=True):
        source.write_text(includes([header]))
    build(CC, *flags, *WARNINGS, "-Wredundant-decls", *PFM4.cflags, "-fsyntax-only", *sources)


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


def test_a_user_s_program() -> None:
    done = attempt(CC, "-std=gnu11", "-Werror", *PFM4.cflags, "-x", "c", "-fsyntax-only", "-",
                   source=includes(["perfmon/pfmlib_perf_event.h"]) + USER)
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


@pytest.mark.parametrize("others", [[], [DEBIAN, PFM3.path, PFM4.path]],
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
