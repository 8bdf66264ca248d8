"""The API of libpfm 4 through the mirror: arguments, sizes, states, environments, untouched structures.

Each test runs in processes of its own, for the library keeps some of its state forever.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import run_python
from mirror4 import mirror
from pypfm import pfm4
from tools import cpu_seconds

NOTSUPP, INVAL, NOINIT, NOTFOUND, ATTR, TOOMANY, TOOSMALL = -1, -2, -3, -4, -8, -11, -12
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
FORCED = {"LIBPFM_FORCE_PMU": "glm"}
# A processor that is no Goldmont, whatever the host is.
ELSEWHERE = {"LIBPFM_X86_CPUID": "6:94"}

needs_perf = pytest.mark.skipif(not PARANOID.exists(), reason=f"no {PARANOID}: the perf_event interfaces are off")


# ---- nothing before pfm_initialize() --------------------------------------------------------

CALLS = """
info, event, attribute = pfm_pmu_info_t(), pfm_event_info_t(), pfm_event_attr_info_t()
attr, idx, fstr = perf_event_attr(size=128), c_int(-7), c_char_p()
def calls():
    return [pfm_get_pmu_info(PFM_PMU_INTEL_GLM, info), pfm_get_event_next(GLM), pfm_find_event("glm::BACLEARS"),
            pfm_get_event_info(GLM, PFM_OS_NONE, event), pfm_get_event_attr_info(GLM, 0, PFM_OS_NONE, attribute),
            none("glm::BACLEARS")["ret"], perf("glm::BACLEARS")["ret"],
            pfm_get_event_encoding("glm::BACLEARS", 9, None, None, byref(POINTER(c_uint64)()), c_int()),
            pfm_get_perf_event_encoding("glm::BACLEARS", 9, attr, fstr, idx)]
"""


@needs_perf
def test_everything_needs_initialisation() -> None:
    code = CALLS + "tell(calls())\npfm_initialize()\ntell(calls())\npfm_terminate()\ntell(calls())\n"
    before, between, after = mirror(code, **FORCED)
    assert before == after == [NOINIT, -1, NOINIT, NOINIT, NOINIT, NOINIT, NOINIT, NOINIT, NOINIT]
    assert between == [0, (202 << 21) + 1, between[2], 0, 0, 0, 0, 0, 0]
    assert between[2] >> 21 == 202


def test_version_and_texts_need_none() -> None:
    assert mirror("tell(pfm_get_version(), pfm_strerror(-4), PFM_MAJ_VERSION(LIBPFM_VERSION),"
                  " PFM_MIN_VERSION(0x4000d))") == [[0x40000, "event not found", 4, 13]]


def test_texts() -> None:
    texts = ["success", "not supported", "invalid parameters", "pfmlib not initialized", "event not found",
             "invalid combination of model specific features", "invalid or missing unit mask", "out of memory",
             "invalid event attribute", "invalid event attribute value", "attribute value already set",
             "too many parameters", "parameter is too small"]
    assert [pfm4.pfm_strerror(-code) for code in range(len(texts))] == texts
    assert {pfm4.pfm_strerror(code) for code in (1, 2, 99, -13, -14, -(2**31), 2**31 - 1)} == {"unknown error code"}


def test_termination_without_initialisation_and_twice() -> None:
    code = ("pfm_terminate()\ntell(pfm_initialize(), pfm_initialize())\npfm_terminate()\npfm_terminate()\n"
            "tell(pfm_find_event('glm::BACLEARS'), pfm_initialize(), pfm_find_event('glm::BACLEARS') >> 21)\n")
    assert mirror(code, **FORCED) == [[0, 0], [NOINIT, 0, 202]]


def test_environment_is_read_at_the_first_initialisation_only() -> None:
    code = ("pfm_initialize()\ntell(none('glm::BACLEARS')['ret'])\n"
            "os.environ['LIBPFM_FORCE_PMU'] = 'glm'\n"
            "pfm_initialize()\ntell(none('glm::BACLEARS')['ret'])\npfm_terminate()\n"
            "pfm_initialize()\ntell(none('glm::BACLEARS')['ret'])\n")
    assert mirror(code, **ELSEWHERE) == [NOTFOUND, NOTFOUND, 0]


# ---- the order of the checks ----------------------------------------------------------------

ENCODING_CHECKS = [
    # before pfm_initialize(): only the older form looks at its arguments
    ("pfm_get_event_encoding(None, 9, None, None, codes, count)", INVAL, INVAL),
    ("pfm_get_event_encoding('x', 9, None, None, None, count)", INVAL, INVAL),
    ("pfm_get_event_encoding('x', 9, None, None, codes, None)", INVAL, INVAL),
    ("pfm_get_event_encoding('x', 9, None, None, codes, c_int(1))", INVAL, INVAL),
    ("pfm_get_event_encoding('x', 9, None, None, byref(pointer(c_uint64())), count)", INVAL, INVAL),
    ("pfm_get_event_encoding('x', 32, None, None, codes, count)", NOINIT, INVAL),
    ("pfm_get_event_encoding('x', 9, None, None, codes, count)", NOINIT, NOTFOUND),
    ("pfm_get_os_event_encoding(None, 9, 0, None)", NOINIT, INVAL),
    ("pfm_get_os_event_encoding('x', 9, 0, None)", NOINIT, INVAL),
    ("pfm_get_os_event_encoding(None, 9, 0, small)", NOINIT, INVAL),
    ("pfm_get_os_event_encoding(None, 9, 7, void)", NOINIT, INVAL),  # a NULL before the interface
    ("pfm_get_os_event_encoding('x', 32, 7, void)", NOINIT, INVAL),  # the levels before the interface
    ("pfm_get_os_event_encoding('x', -1, 0, small)", NOINIT, INVAL),
    ("pfm_get_os_event_encoding('x', 9, 3, void)", NOINIT, NOTSUPP),  # the interface before the size
    ("pfm_get_os_event_encoding('x', 9, 2**32 - 1, void)", NOINIT, NOTSUPP),
    ("pfm_get_os_event_encoding('x', 9, 0, small)", NOINIT, INVAL),  # the size before the string
    ("pfm_get_os_event_encoding('x', 9, 1, small_perf)", NOINIT, INVAL),
    ("pfm_get_os_event_encoding('glm::BACLEARS', 9, 2, no_attr)", NOINIT, INVAL),  # Debian's crashes
    ("pfm_get_perf_event_encoding('x', 9, None, None, None)", NOINIT, INVAL),
    ("pfm_get_perf_event_encoding(None, 9, attr, None, None)", NOINIT, INVAL),
    ("pfm_get_perf_event_encoding('x', 32, attr, None, None)", NOINIT, INVAL),
    ("pfm_get_perf_event_encoding('x', 9, attr, None, None)", NOINIT, NOTFOUND),
    ("pfm_find_event(None)", NOINIT, INVAL),
    ("pfm_find_event('x')", NOINIT, NOTFOUND),
]

INFO_CHECKS = [
    ("pfm_get_pmu_info(517, None)", NOINIT, INVAL), ("pfm_get_pmu_info(2**32 - 1, info)", NOINIT, INVAL),
    ("pfm_get_pmu_info(202, None)", NOINIT, INVAL),
    ("pfm_get_pmu_info(0, bad_info)", NOINIT, INVAL),  # the size before the PMU
    ("pfm_get_pmu_info(0, info)", NOINIT, NOTSUPP), ("pfm_get_pmu_info(516, info)", NOINIT, NOTSUPP),
    ("pfm_get_event_info(GLM, 3, event)", NOINIT, INVAL),
    ("pfm_get_event_info(GLM, 2**32 - 1, event)", NOINIT, INVAL),
    ("pfm_get_event_info(GLM + 34, 0, event)", NOINIT, INVAL), ("pfm_get_event_info(-1, 0, event)", NOINIT, INVAL),
    ("pfm_get_event_info(0, 0, event)", NOINIT, INVAL), ("pfm_get_event_info(GLM, 0, None)", NOINIT, INVAL),
    ("pfm_get_event_info(GLM, 0, bad_event)", NOINIT, INVAL),
    ("pfm_get_event_info(GLM, 0, event)", NOINIT, 0),
    ("pfm_get_event_attr_info(GLM, -1, 0, attribute)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM, 0, 3, attribute)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM + 34, 0, 0, attribute)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM, 0, 0, None)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM, 0, 0, bad_attribute)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM, 8, 0, attribute)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM, 2**31 - 1, 0, attribute)", NOINIT, INVAL),
    ("pfm_get_event_attr_info(GLM, 7, 0, attribute)", NOINIT, 0),
]

ARGUMENTS = """
codes, count, attr = POINTER(c_uint64)(), c_int(), perf_event_attr(size=128)
small, small_perf = pfm_pmu_encode_arg_t(size=31), pfm_perf_encode_arg_t(attr=pointer(attr), size=39)
no_attr, void = pfm_perf_encode_arg_t(size=40), ffi.from_buffer("char[]", small_perf) + 0
info, event, attribute = pfm_pmu_info_t(), pfm_event_info_t(), pfm_event_attr_info_t()
bad_info, bad_event, bad_attribute = (
    pfm_pmu_info_t(size=55), pfm_event_info_t(size=63), pfm_event_attr_info_t(size=63))
"""


@needs_perf
@pytest.mark.parametrize("checks", [ENCODING_CHECKS, INFO_CHECKS], ids=["encoding", "information"])
def test_checks(checks: list[tuple[str, int, int]]) -> None:
    lines = "\n".join(f"tell({call})" for call, _, _ in checks)
    answers = mirror(f"{ARGUMENTS}{lines}\npfm_initialize()\n{lines}\n", **FORCED)
    count = len(checks)
    assert [(call, before, after) for (call, _, _), before, after in
            zip(checks, answers[:count], answers[count:], strict=True)] == checks


def test_interfaces_are_off_without_the_kernel_s_file() -> None:
    """Where perf_event_paranoid exists they are on; where not, NOTSUPP (cannot be had here)."""
    expected = 0 if PARANOID.exists() else NOTSUPP
    code = ("pfm_initialize()\nevent = pfm_event_info_t()\n"
            "tell([pfm_get_event_info(GLM, os, event) for os in range(3)], "
            "[perf('glm::BACLEARS', os)['ret'] for os in (1, 2)], none('glm::BACLEARS')['ret'])\n")
    assert mirror(code, **FORCED) == [[[0, expected, expected], [expected, expected], 0]]


# ---- the size rule ----------------------------------------------------------------------------

SIZE_CODE = """
pfm_initialize()
attr, room = perf_event_attr(size=128), ffi.new("uint64_t[2]")

def call(kind, size, at=None):
    "Call with a structure of that size in 8 KiB of zeros; a byte at an offset is not zero."
    memory = ffi.new("char[]", 8192)
    p = ffi.cast(kind + " *", memory)
    p.size = size
    if at is not None:
        memory[at] = b"\\1"
    if kind == "pfm_pmu_encode_arg_t":
        p.codes, p.count = room, 2
    if kind == "pfm_perf_encode_arg_t":
        p.attr = ffi.from_buffer("struct perf_event_attr *", attr)
    before = bytes(ffi.buffer(memory))
    ret = {"pfm_pmu_info_t": lambda: pfm_get_pmu_info(PFM_PMU_INTEL_GLM, p),
           "pfm_event_info_t": lambda: pfm_get_event_info(GLM, 0, p),
           "pfm_event_attr_info_t": lambda: pfm_get_event_attr_info(GLM, 0, 0, p),
           "pfm_pmu_encode_arg_t": lambda: pfm_get_os_event_encoding("glm::BACLEARS", 9, 0, p),
           "pfm_perf_encode_arg_t": lambda: pfm_get_os_event_encoding("glm::BACLEARS", 9, 2, p)}[kind]()
    now, end = bytes(ffi.buffer(memory)), ffi.sizeof(kind)
    return [ret, p.size, now == before, now[end:] == before[end:]]
"""

# Type, its size in C, the size that the library believes it has, and what becomes of .size.
SIZED = [("pfm_pmu_info_t", 56, 56, 56), ("pfm_event_info_t", 64, 64, 64), ("pfm_event_attr_info_t", 64, 72, 72),
         pytest.param("pfm_pmu_encode_arg_t", 32, 32, None), pytest.param("pfm_perf_encode_arg_t", 40, 40, None,
                                                                           marks=needs_perf)]
every_sized = pytest.mark.parametrize(("kind", "size", "known", "after"), SIZED)


@every_sized
def test_accepted_sizes(kind: str, size: int, known: int, after: int | None) -> None:
    sizes = [0, size, size + 1, size + 7, size + 8, known, known + 1, known + 8, 100, 128, 1024, 4095, 4096]
    answers = mirror(f"{SIZE_CODE}for size in {sizes}:\n    tell(call({kind!r}, size))\n", **FORCED)
    assert answers == [[0, s if after is None else after, False, True] for s in sizes]


@every_sized
def test_refused_sizes_leave_everything(kind: str, size: int, known: int, after: int | None) -> None:  # noqa: ARG001
    """Too small, and so big that the library will not look through all of it."""
    sizes = [1, 8, size - 8, size - 1, 4097, 8192, 2**31, 2**32, 2**63, 2**64 - 1]
    answers = mirror(f"{SIZE_CODE}for size in {sizes}:\n    tell(call({kind!r}, size))\n", **FORCED)
    assert answers == [[INVAL, s, True, True] for s in sizes]


@every_sized
def test_bytes_behind_what_the_library_knows(kind: str, size: int, known: int, after: int | None) -> None:  # noqa: ARG001
    """They have to be zero, up to the size that the caller says."""
    cases = [(128, at) for at in range(size, 130)] + [(known + 1, known), (known, known), (4096, 4095), (4096, 4096)]
    answers = mirror(f"{SIZE_CODE}for size, at in {cases}:\n    tell(call({kind!r}, size, at))\n", **FORCED)
    expected = [INVAL if known <= at < s else 0 for s, at in cases]
    assert [(c, a[0]) for c, a in zip(cases, answers, strict=True)] == list(zip(cases, expected, strict=True))
    assert all(a[3] for a in answers)
    assert {a[2] for a in answers if a[0]} == {True}


# ---- indices ------------------------------------------------------------------------------------

@needs_perf
def test_iteration() -> None:
    code = ("pfm_initialize()\n"
            "for first in (GLM, PERF, RAW):\n"
            "    idx, seen = first, []\n"
            "    while idx >= 0: seen.append(idx - first); idx = pfm_get_event_next(idx)\n"
            "    tell(seen)\n"
            "tell([pfm_get_event_next(i) for i in (-1, -2**31, 0, 2**31 - 1, GLM + 34, GLM + 2**20, PERF - 1,"
            " RAW + 1, 517 << 21, 1023 << 21, GLM + 33)])\n")
    glm, perf, perf_raw, nothing = mirror(code, **ELSEWHERE)
    assert glm == list(range(34))
    assert perf == list(range(82))
    assert perf_raw == [0]
    assert nothing == [-1] * 11


@needs_perf
def test_every_pmu_identifier_has_events_or_is_not_supported() -> None:
    code = ("pfm_initialize()\ninfo, event = pfm_pmu_info_t(), pfm_event_info_t()\n"
            "tell({i: [pfm_get_pmu_info(i, info), pfm_get_event_info(i << 21, 0, event)] for i in range(520)})\n")
    answers = {int(k): v for k, v in mirror(code, **ELSEWHERE)[0].items()}
    known = {i for i, (ret, _) in answers.items() if ret == 0}
    assert known == {1, 2, 3, 4, 202, 51, 114}
    assert all(answers[i] == [0, 0] for i in known)
    assert all(answers[i] == [NOTSUPP, INVAL] for i in range(517) if i not in known)
    assert all(answers[i] == [INVAL, INVAL] for i in (517, 518, 519))


def test_index_of_a_pmu_that_is_not_known() -> None:
    """An encoding may give it (ENCODE_INACTIVE), the queries refuse it."""
    code = ("pfm_initialize()\nidx = none('perf::cycles')['idx']\nevent = pfm_event_info_t()\n"
            "tell(idx - PERF, pfm_get_event_info(idx, 0, event), pfm_get_event_next(idx))\n")
    assert mirror(code, **FORCED, LIBPFM_ENCODE_INACTIVE="1") == [[0, INVAL, -1]]


def test_alias_gives_the_index_of_its_target() -> None:
    code = ("pfm_initialize()\nevent, names = pfm_event_info_t(), {}\n"
            "for n in range(34):\n"
            "    assert pfm_get_event_info(GLM + n, 0, event) == 0 and event.idx == GLM + n\n"
            "    names[event.name] = n\n"
            "for alias in ('INSTRUCTIONS_RETIRED', 'BRANCH_INSTRUCTIONS_RETIRED', 'MISPREDICTED_BRANCH_RETIRED'):\n"
            "    target = [k for k, n in names.items() if n == pfm_find_event('glm::' + alias) - GLM]\n"
            "    pfm_get_event_info(GLM + names[alias], 0, event)\n"
            "    tell(target, event.equiv, none(alias)['idx'] - GLM == names[target[0]])\n")
    assert mirror(code, **FORCED) == [
        [["INSTRUCTION_RETIRED"], "INSTRUCTION_RETIRED", True],
        [["BR_INST_RETIRED"], "BR_INST_RETIRED:ALL_BRANCHES", True],
        [["BR_MISP_RETIRED"], "BR_MISP_RETIRED:ALL_BRANCHES", True]]


# ---- pfm_pmu_validate() ---------------------------------------------------------------------------

VALIDATE = """
def validate(pmu):
    with open(sys.argv[1], "w+") as f:
        ret = pfm_pmu_validate(pmu, f)
    return ret, open(sys.argv[1]).read().splitlines()
pmus = PFM_PMU_INTEL_GLM, PFM_PMU_PERF_EVENT
"""


@needs_perf
def test_validate_active(tmp_path: Path) -> None:
    code = VALIDATE + "pfm_initialize()\ntell([validate(p) for p in pmus])\n"
    inactive = mirror(code, tmp_path / "lines", LIBPFM_ENCODE_INACTIVE="1", **ELSEWHERE)
    assert inactive == [[[0, []], [0, []]]]
    assert mirror(code, tmp_path / "lines", **FORCED) == [[[0, []], [INVAL, []]]]
    assert mirror(code, tmp_path / "lines", LIBPFM_FORCE_PMU="perf", **ELSEWHERE)[0][1] == [0, []]


def test_validate_inactive(tmp_path: Path) -> None:
    code = VALIDATE + "pfm_initialize()\ntell(*validate(PFM_PMU_INTEL_GLM))\n"
    ret, lines = mirror(code, tmp_path / "lines", **ELSEWHERE)[0]
    assert (ret, len(lines)) == (NOTFOUND, 165)
    assert all(re.fullmatch(r"cannot encode event glm::\w+(:\w+)? : event not found", line) for line in lines)
    assert sum(line.count(":") == 4 for line in lines) == 131


def test_validate_refuses(tmp_path: Path) -> None:
    """A NULL, an identifier without PMU; before initialisation every one; afterwards all encodings fail."""
    code = VALIDATE + (
        "tell([validate(p) for p in (*pmus, 0, 517)])\npfm_initialize()\n"
        "tell(pfm_pmu_validate(PFM_PMU_INTEL_GLM, None), [validate(p) for p in (0, 516, 517, 2**32 - 1)])\n"
        "pfm_terminate()\nret, lines = validate(PFM_PMU_INTEL_GLM)\ntell(ret, len(lines), lines[0].split(' : ')[1])\n")
    before, refused, after = mirror(code, tmp_path / "lines", **FORCED)
    assert before == [[INVAL, []]] * 4
    assert refused == [INVAL, [[INVAL, []]] * 4]
    assert after == [NOINIT, 165, "pfmlib not initialized"]


# ---- environments (H.3) ---------------------------------------------------------------------------

KNOWN, PRESENT = "known", "present"
PROBE = """
def state():
    info, states = pfm_pmu_info_t(), []
    for pmu in (PFM_PMU_INTEL_GLM, PFM_PMU_PERF_EVENT):
        ret = pfm_get_pmu_info(pmu, info)
        states.append(ret if ret else "present" if info.is_present else "known")
    strings = "glm::ICACHE:HIT", "ICACHE:HIT", "perf::cycles", "cycles"
    answers = [none(s)["ret"] for s in strings]
    assert answers == [min(pfm_find_event(s), 0) for s in strings], "pfm_find_event() differs"
    assert answers == [perf(s)["ret"] for s in strings], "the perf_event interface differs"
    return states, answers
"""
N = NOTFOUND
ENVIRONMENTS = [
    ("", KNOWN, PRESENT, [N, N, 0, 0]),
    ("ENCODE_INACTIVE=1", KNOWN, PRESENT, [0, N, 0, 0]),
    ("ENCODE_INACTIVE=0", KNOWN, PRESENT, [0, N, 0, 0]),
    ("ENCODE_INACTIVE=", KNOWN, PRESENT, [0, N, 0, 0]),
    ("FORCE_PMU=glm", PRESENT, NOTSUPP, [0, 0, N, N]),
    ("FORCE_PMU=GLM,foo", PRESENT, NOTSUPP, [0, 0, N, N]),
    ("FORCE_PMU=g", PRESENT, NOTSUPP, [0, 0, N, N]),
    ("FORCE_PMU=", PRESENT, NOTSUPP, [0, 0, N, N]),
    ("FORCE_PMU=,perf", PRESENT, NOTSUPP, [0, 0, N, N]),
    ("FORCE_PMU=glm ENCODE_INACTIVE=1", PRESENT, NOTSUPP, [0, 0, 0, N]),
    ("FORCE_PMU=perf", KNOWN, PRESENT, [N, N, 0, 0]),
    ("FORCE_PMU=perf ENCODE_INACTIVE=1", KNOWN, PRESENT, [0, N, 0, 0]),
    ("FORCE_PMU=glmx", KNOWN, KNOWN, [N, N, N, N]),
    ("FORCE_PMU=nosuch ENCODE_INACTIVE=1", KNOWN, KNOWN, [0, N, 0, N]),
    ("FORCE_PMU=perf_raw", KNOWN, KNOWN, [N, N, N, N]),
    ("FORCE_PMU=glm DISABLED_PMUS=glm", NOTSUPP, KNOWN, [N, N, N, N]),
    ("FORCE_PMU=glm DISABLED_PMUS=x,l", NOTSUPP, KNOWN, [N, N, N, N]),
    ("DISABLED_PMUS=glm ENCODE_INACTIVE=1", NOTSUPP, PRESENT, [0, N, 0, 0]),
    ("DISABLED_PMUS=perf", KNOWN, NOTSUPP, [N, N, N, N]),
    ("DISABLED_PMUS=PERF", KNOWN, PRESENT, [N, N, 0, 0]),
    ("DISABLED_PMUS=", KNOWN, PRESENT, [N, N, 0, 0]),
    ("DISABLED_PMUS=,,", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=6:92", PRESENT, PRESENT, [0, 0, 0, 0]),
    ("X86_CPUID=6:95", PRESENT, PRESENT, [0, 0, 0, 0]),
    ("X86_CPUID=6:94", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=15:92", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=6", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=6:92x", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=goldmont", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=6:92 FORCE_PMU=perf", KNOWN, PRESENT, [N, N, 0, 0]),
    ("X86_CPUID=6:92 DISABLED_PMUS=glm", NOTSUPP, PRESENT, [N, N, 0, 0]),
    ("VERBOSE=9 DEBUG=9 DEBUG_STDOUT=1 FORCE_PMU=glm", PRESENT, NOTSUPP, [0, 0, N, N]),
]


def variables(text: str) -> dict[str, str]:
    return {f"LIBPFM_{name}": value for name, _, value in (word.partition("=") for word in text.split())}


@needs_perf
@pytest.mark.parametrize(("env", "glm", "perf", "answers"), ENVIRONMENTS, ids=[row[0] for row in ENVIRONMENTS])
def test_environment(env: str, glm: str | int, perf: str | int, answers: list[int]) -> None:
    code = PROBE + "assert pfm_initialize() == 0\ntell(*state())\n"
    assert mirror(code, **ELSEWHERE | variables(env)) == [[[glm, perf], answers]]


@pytest.mark.parametrize(("name", "verbose", "said"), [
    ("3", "1", True), ("montecito", "1", True), ("glmx", "0", False), ("glmx", "", False), ("glmx", "yes", False)])
def test_where_nothing_is_found(name: str, verbose: str, *, said: bool) -> None:
    done = run_python("from pypfm.pfm4 import *\nprint(pfm_initialize())", LIBPFM_FORCE_PMU=name, LIBPFM_VERBOSE=verbose)
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert done.stderr == (f"no active PMU: LIBPFM_FORCE_PMU={name} is none of libpfm 4, which takes a name\n"
                           "LIBPFM_FORCE_PMU selects a PMU on any host: gen_ia64 ita ita2 mont glm perf perf_raw\n" if said else "")


@needs_perf
@pytest.mark.parametrize(("env", "level"), [
    ("FORCE_PMU=perf", True), ("X86_CPUID=6:92", False), ("X86_CPUID=6:94", True),
    ("FORCE_PMU=glm ENCODE_INACTIVE=1", True)])
def test_hypervisor_level_of_perf(env: str, *, level: bool) -> None:
    """It is missing next to an active Goldmont; perf that was never activated has it."""
    code = ("pfm_initialize()\ntell(perf('perf::cycles:h')['ret'], "
            "(perf('perf::cycles')['fstr'] or '').count(':h='), perf('perf::page-faults:h')['ret'])\n")
    assert mirror(code, **ELSEWHERE | variables(env)) == [[0 if level else ATTR, int(level), ATTR]]


@needs_perf
@pytest.mark.parametrize("env", ["FORCE_PMU=perf_raw", "X86_CPUID=6:92", "X86_CPUID=6:94"])
def test_hypervisor_level_of_perf_raw(env: str) -> None:
    """Whatever core PMU is active, as in Debian's library (glm forced, then not: test_differential.py)."""
    code = ("pfm_initialize()\nanswer = perf('perf_raw::r1:h')\n"
            "tell(answer['ret'], (answer['fstr'] or '').count(':h=1'), answer['flags'])\n")
    assert mirror(code, **ELSEWHERE | variables(env)) == [[0, 1, 1 << 20 | 1 << 5 | 1 << 4]]


# ---- initialisation again (H.4) -----------------------------------------------------------------

AGAIN = PROBE + """
def change(**variables):
    for name, value in variables.items():
        if value is None: os.environ.pop("LIBPFM_" + name, None)
        else: os.environ["LIBPFM_" + name] = value
pfm_initialize(); tell(*state()); pfm_terminate()
"""
OLD = "pfm_initialize(); tell(*state(), perf('perf::cycles:h')['ret']); pfm_terminate()\n"


@needs_perf
@pytest.mark.parametrize(("env", "change", "after"), [
    # (a) glm stays, and perf becomes present with glm's levels
    ("FORCE_PMU=glm", "change(FORCE_PMU=None)", [[PRESENT, PRESENT], [0, 0, 0, 0], ATTR]),
    # (b) perf stays, with the levels it had
    ("", "change(FORCE_PMU='glm')", [[PRESENT, PRESENT], [0, 0, 0, 0], 0]),
    # (c) what is removed stays in force
    ("ENCODE_INACTIVE=1", "change(ENCODE_INACTIVE=None)", [[KNOWN, PRESENT], [0, N, 0, 0], 0]),
    ("DISABLED_PMUS=perf", "change(DISABLED_PMUS=None)", [[KNOWN, NOTSUPP], [N, N, N, N], N]),
    ("FORCE_PMU=perf", "change(FORCE_PMU='glm')", [[PRESENT, PRESENT], [0, 0, 0, 0], 0]),
    ("FORCE_PMU=glmx", "change(FORCE_PMU=None)", [[KNOWN, PRESENT], [N, N, 0, 0], 0]),
    ("", "change(ENCODE_INACTIVE='')", [[KNOWN, PRESENT], [0, N, 0, 0], 0]),
])
def test_initialisation_again(env: str, change: str, after: list[object]) -> None:
    answers = mirror(f"{AGAIN}{change}\n{OLD}", **ELSEWHERE | variables(env))
    assert answers[0] == next([[g, p], a] for e, g, p, a in ENVIRONMENTS if e == env)
    assert answers[1] == after


# ---- struct perf_event_attr: size and preset fields ------------------------------------------------

ATTR_CODE = """
pfm_initialize()
def preset(size, text="glm::OFFCORE_RESPONSE_0:WB:L2_HIT:u"):
    memory = ffi.new("char[]", 256)
    ffi.buffer(memory)[:] = bytes(range(256))
    attr = ffi.cast("struct perf_event_attr *", memory)
    attr.size, attr.freq, attr.sample_period = size, 0, 0
    before = bytes(ffi.buffer(memory))
    ret = pfm_get_perf_event_encoding(text, 9, attr, None, None)
    return ret, before.hex(), bytes(ffi.buffer(memory)).hex()
"""


@needs_perf
def test_attr_size() -> None:
    """So many bytes are written, and the size stays."""
    written = {0: 64, 4: 4, 8: 8, 16: 16, 47: 47, 48: 48, 64: 64, 72: 72, 128: 128, 129: 128, 200: 128, 2**32 - 1: 128}
    answers = mirror(f"{ATTR_CODE}for size in {list(written)}:\n    tell(*preset(size))\n", **FORCED)
    for (size, copied), (ret, before, after) in zip(written.items(), answers, strict=True):
        old, new = bytes.fromhex(before), bytes.fromhex(after)
        assert ret == 0, size
        full = bytearray(old[:128])
        full[0:4] = (4).to_bytes(4, "little")
        full[8:16] = (0x1b7).to_bytes(8, "little")
        word = int.from_bytes(old[40:48], "little") & ~(1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 19 | 1 << 20)
        full[40:48] = (word | 1 << 5 | 1 << 20).to_bytes(8, "little")
        full[56:64] = (0x3600040008).to_bytes(8, "little")
        assert new[:copied] == bytes(full[:copied]), size
        assert new[copied:] == old[copied:], size


@needs_perf
def test_preset_fields_are_kept_and_some_overwritten() -> None:
    rows = [("glm::BACLEARS", {"pinned": 1, "exclusive": 1, "inherit": 1}),
            ("glm::BACLEARS:excl=0", {"exclusive": 1}), ("glm::BACLEARS:pinned", {}),
            ("glm::BACLEARS:freq=5", {"sample_period": 1}), ("glm::BACLEARS:period=5", {"freq": 1}),
            ("glm::BACLEARS:period=5", {"sample_period": 7, "precise_ip": 2}), ("glm::BACLEARS", {"config1": 9}),
            ("perf::cycles", {"config": 5, "type": 9, "config1": 9, "config2": 8})]
    code = "pfm_initialize()\nfor text, fields in json.loads(sys.argv[1]):\n    tell(perf(text, **fields))\n"
    a = mirror(code, json.dumps(rows), LIBPFM_ENCODE_INACTIVE="1", **FORCED)
    assert [x["ret"] for x in a] == [0, 0, 0, -9, -9, 0, 0, 0]
    assert a[0]["flags"] == 1 << 20 | 1 << 3 | 1 << 1
    assert a[1]["flags"] == 1 << 20 | 1 << 3
    assert a[2]["flags"] == 1 << 20 | 1 << 2
    assert (a[5]["period"], a[5]["flags"]) == (5, 1 << 20 | 2 << 15)
    assert (a[6]["config1"], a[7]["config1"], a[7]["config2"]) == (9, 9, 8)
    assert (a[7]["type"], a[7]["config"]) == (0, 0)


@needs_perf
def test_perf_raw_clears_the_other_configs() -> None:
    """As Debian's library does (test_differential.py): perf_raw has one number."""
    code = "pfm_initialize()\ntell(perf('perf_raw::r1c4', config1=9, config2=8))\n"
    answer = mirror(code, LIBPFM_FORCE_PMU="perf_raw")[0]
    assert (answer["config"], answer["config1"], answer["config2"]) == (0x1C4, 0, 0)


@needs_perf
def test_perf_raw_hw_smpl_sets_precise_ip() -> None:
    """As Debian's library does: hw_smpl is precise_ip 1 or 0, the last in the string counts."""
    expected = {"": 2, ":hw_smpl": 1, ":hw_smpl=0": 0, ":hw_smpl=1:precise=3": 3, ":precise=3:hw_smpl=1": 1,
                ":precise=3:hw_smpl=0": 0, ":precise=0:hw_smpl": 1, ":hw_smpl:precise=0": 0}
    code = "pfm_initialize()\nfor text in json.loads(sys.argv[1]):\n    tell(perf('perf_raw::r1' + text, precise_ip=2))\n"
    answers = mirror(code, json.dumps(list(expected)), LIBPFM_FORCE_PMU="perf_raw")
    for (attributes, precise), answer in zip(expected.items(), answers, strict=True):
        assert answer["flags"] >> 15 & 3 == precise, attributes
        assert answer["fstr"] == f"perf_raw:::u=1:k=1:h=0:precise={precise}:excl=0:mg=0:mh=1:hw_smpl={precise}", attributes


# ---- errors leave everything as it was ---------------------------------------------------------------

UNTOUCHED = """
pfm_initialize()
def untouched(text, os):
    attr = perf_event_attr.from_buffer_copy(bytes(perf_event_attr(size=128))[:8] + bytes(range(1, 121)))
    array, fstr = (c_uint64 * 1)(5), c_char_p()
    attr.freq = attr.sample_period = 0
    if os:
        arg = pfm_perf_encode_arg_t(attr=pointer(attr), fstr=pointer(fstr), size=40, idx=-7, cpu=-8, flags=9, pad0=10)
    else:
        arg = pfm_pmu_encode_arg_t(codes=array, count=1, fstr=pointer(fstr), size=32, idx=-7)
    before = raw(arg), raw(attr), array[0]
    ret = pfm_get_os_event_encoding(text, 9, os, arg)
    return ret, before == (raw(arg), raw(attr), array[0]) and fstr.value is None
"""
FAILING = [("glm::ICACHE", -6), ("glm::NOPE", -4), ("glm::ICACHE:HIT:MISSES", -5), ("glm::ICACHE:x", -8),
           ("glm::ICACHE:HIT:c=300", -9), ("glm::ICACHE:HIT:e=1:e=0", -10), ("glm::ICACHE:HIT ", -2),
           ("glm::BACLEARS" + ":e=1" * 65, -11)]


@needs_perf
def test_errors_leave_the_arguments() -> None:
    code = UNTOUCHED + "for text in json.loads(sys.argv[1]):\n    tell([untouched(text, os) for os in range(3)])\n"
    assert mirror(code, json.dumps([text for text, _ in FAILING]), **FORCED) == [[[ret, True]] * 3 for _, ret in FAILING]


@needs_perf
def test_late_errors_leave_the_arguments() -> None:
    """Those that the perf_event stage finds, when the event is encoded already."""
    code = UNTOUCHED + "tell([untouched('glm::BACLEARS:' + a, 2) for a in sys.argv[1].split()])\n"
    assert mirror(code, "period=0 freq=0 period=5:freq=5 cpu=2147483647 u:freq=0", **FORCED) == [[[-9, True]] * 5]


def test_array_too_small() -> None:
    """With a string, too, where Debian's library frees what is not its own."""
    code = UNTOUCHED + "tell([untouched('glm::OFFCORE_RESPONSE_0', 0) for _ in range(1000)][-1])\n"
    assert mirror(code, **FORCED) == [[TOOSMALL, True]]


def test_older_form_leaves_its_arguments() -> None:
    code = ("pfm_initialize()\n"
            "def older(text, room):\n"
            "    array, fstr, idx = ffi.new('uint64_t[2]', [5, 6]), ffi.new('char **'), c_int(-7)\n"
            "    codes, count = ffi.new('uint64_t **', array if room else ffi.NULL), c_int(room)\n"
            "    ret = pfm_get_event_encoding(text, 9, fstr, idx, codes, count)\n"
            "    kept = codes[0] == (array if room else ffi.NULL)\n"
            "    return ret, idx.value, count.value, list(array), kept, fstr[0] == ffi.NULL\n"
            "tell(older('glm::ICACHE', 0), older('glm::ICACHE', 2), older('glm::OFFCORE_RESPONSE_0', 1),"
            " older('glm::BACLEARS', 2))\n")
    missing, missing_2, too_small, good = mirror(code, **FORCED)[0]
    assert missing == [-6, -7, 0, [5, 6], True, True]
    assert missing_2 == [-6, -7, 2, [5, 6], True, True]
    assert too_small == [TOOSMALL, -7, 1, [5, 6], True, True]
    assert (good[0], good[2:]) == (0, [1, [0x5301E6, 6], True, False])


# ---- any string ----------------------------------------------------------------------------------------

def umasks(count: int) -> str:
    """So many unit masks that none repeats its neighbour."""
    return "".join(":WB" if n % 2 else ":SW_PF" for n in range(count))


@needs_perf
@pytest.mark.parametrize(("text", "find", "ret"), [
    ("glm::OFFCORE_RESPONSE_0" + umasks(64), 0, 0),
    ("glm::OFFCORE_RESPONSE_0" + umasks(65), TOOMANY, TOOMANY),
    ("glm::OFFCORE_RESPONSE_0" + umasks(1000), TOOMANY, TOOMANY),
    ("glm::OFFCORE_RESPONSE_0" + ":L2_MISS_SNP_ANY" * 16, 0, 0),
    ("glm::OFFCORE_RESPONSE_0" + ":L2_MISS_SNP_ANY" * 17, TOOMANY, TOOMANY),
    ("glm::BACLEARS" + ":u=1" * 64, 0, 0), ("glm::BACLEARS" + ":u=1" * 65, TOOMANY, TOOMANY),
    ("glm::BACLEARS" + ":u" * 65, TOOMANY, TOOMANY),
    ("glm::BACLEARS" + ":u" * 64 + ":ALL", TOOMANY, TOOMANY), ("glm::BACLEARS" + ":u" * 64 + ":0x1", TOOMANY, TOOMANY),
    ("perf::PERF_COUNT_HW_CACHE_L1D" + ":READ" * 65, TOOMANY, TOOMANY),
], ids=lambda v: f"{v[:40]}... {len(v)}" if isinstance(v, str) else str(v))
def test_most_attributes(text: str, find: int, ret: int) -> None:
    code = ("pfm_initialize()\ntext = sys.argv[1]\n"
            "tell(min(pfm_find_event(text), 0), none(text)['ret'], perf(text)['ret'])\n")
    expected = [find, ret, ret]
    assert mirror(code, text, LIBPFM_ENCODE_INACTIVE="1", **FORCED) == [expected]


@pytest.fixture(scope="module")
def initialised() -> Iterator[None]:
    """glm in this very process, for tests that make very many calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIBPFM_FORCE_PMU", "glm")
        patch.setenv("LIBPFM_ENCODE_INACTIVE", "1")
        pfm4.pfm_terminate()
        assert pfm4.pfm_initialize() == 0
    yield
    pfm4.pfm_terminate()


CODES = {0, *range(-12, 0)}


def answers(text: bytes) -> None:
    for layer in range(4):
        arg, attr = pfm4.pfm_pmu_encode_arg_t(), pfm4.perf_event_attr(size=128)
        if layer in (1, 2):
            arg = pfm4.pfm_perf_encode_arg_t(attr=pfm4.pointer(attr))
        args: object = pfm4.ffi.from_buffer("char[]", arg) + 0 if layer == 3 else arg
        fstr = pfm4.c_char_p()
        arg.fstr = pfm4.pointer(fstr)
        ret = pfm4.pfm_get_os_event_encoding(text, 9, layer, args)
        assert ret in CODES
        assert (fstr.value is None) == (ret != 0)
    assert pfm4.pfm_find_event(text) in CODES or pfm4.pfm_find_event(text) > 0


PIECES = [b"glm::", b"perf::", b"perf_raw::r1", b"ICACHE", b"OFFCORE_RESPONSE_0", b":", b".", b"=", b"WB", b"u", b"c=",
          b"0x", b"ff", b"LLC-LOADS", b"READ", b"cycles", b"period=", b"9" * 30, b"-", b"\xff", b"BRANCH_INSTRUCTIONS_RETIRED"]


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)))
def test_any_bytes(initialised: None, text: bytes) -> None:  # noqa: ARG001
    with cpu_seconds(5):
        answers(text.replace(b"\0", b""))


@pytest.mark.parametrize("text", [
    b"x" * 65536, b":" * 65536, b"glm::" * 13107, b"glm::ICACHE:" + b"u" * 65536, b"glm::ICACHE" + b":u" * 30000,
    b"glm::OFFCORE_RESPONSE_0" + b":WB" * 20000, b"glm::ICACHE:c=" + b"9" * 65536, b"glm::ICACHE:0x" + b"f" * 65536,
    b"perf_raw::r" + b"0" * 65535 + b"1", b"perf_raw::r" + b"f" * 65536, b"=" * 65536, b"\xff" * 65536,
    b"glm::ICACHE:c=" + b"\v" * 65530 + b"1", b"glm::BRANCH_INSTRUCTIONS_RETIRED" + b".0x1" * 16000],
    ids=lambda t: f"{t[:20].decode('latin-1').encode('unicode_escape').decode()}... {len(t)}")
def test_long_strings(initialised: None, text: bytes) -> None:  # noqa: ARG001
    with cpu_seconds(5):
        answers(text)


def test_valid_number_of_any_length() -> None:
    code = "pfm_initialize()\ntell(none('perf_raw::r' + '0' * 65000 + '1c4')['codes'])\n"
    assert mirror(code, LIBPFM_FORCE_PMU="perf_raw") == [[0x1C4]]
