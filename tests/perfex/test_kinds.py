"""What instructions do, in counts of real programs: operations, loads of what is stored, prefetches, branches.

Each program does one thing n times; between two numbers of times everything else is the same.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from native import CC, build
from perfex_runs import counted, counts

pytestmark = [pytest.mark.slow, pytest.mark.needs("valgrind")]

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="assembler of x86-64")
MATRIX = """
#include <stdlib.h>
static TYPE a[MOST * MOST], b[MOST * MOST], c[MOST * MOST];
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < n * n; i++) { a[i] = 1; b[i] = 2; c[i] = 0; }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    return c[n * n - 1] == 2 * n ? 0 : 1;
}
"""
LOOP = """
#include <stdlib.h>
static volatile long memory, other;
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    (void)argc;
    for (long i = 0; i < n; i++) { BODY }
    return (int)(memory + other) & 0;
}
"""
TRACE = ["--trace"]


def flags_of_the_machine() -> set[str]:
    found = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return set(found[1].split()) if found else set()


def program(directory: Path, source: str, *options: str) -> Path:
    out = directory / "program"
    build(CC, *options, "-x", "c", "-", "-o", out, source=source)
    return out


def each(path: Path, more: list[str], *, cpu: str = "r10000", few: int = 1000, many: int = 3000) -> dict[int, float]:
    """How often each event happens each time."""
    less, most = (counts(counted("--backend", "valgrind", "-a", "--cpu", cpu, *more, path, n)) for n in (few, many))
    return {event: (most[event] - less[event]) / (many - few) for event in most if most[event] is not None}


@pytest.mark.parametrize(("kind", "options"), [
    ("double", ["-O0"]), ("float", ["-O2", "-fno-tree-vectorize"]), ("double", ["-O3", "-msse2"]), ("float", ["-O3", "-mavx2"]),
    ("double", ["-O3", "-mavx2", "-mfma", "-ffp-contract=fast"]), ("float", ["-O3", "-mavx2", "-mfma", "-ffp-contract=fast"]),
    ("long double", ["-O2"])], ids=str)
@X86
def test_a_product_of_matrices(tmp_path: Path, kind: str, options: list[str]) -> None:
    """A multiplication and an addition n^3 times, however many of them an instruction does."""
    for option, flag in (("-mavx2", "avx2"), ("-mfma", "fma")):
        if option in options and flag not in flags_of_the_machine():
            pytest.skip(f"this processor has no {flag}")
    path = program(tmp_path, f"#define TYPE {kind}\n#define MOST 40\n{MATRIX}", *options)
    few, many = (counts(counted("--backend", "valgrind", "-a", path, n))[21] for n in (16, 40))
    assert few is not None
    assert many is not None
    others = counts(counted("--backend", "valgrind", "-a", path, 8))[21]
    assert others is not None
    assert (few - others, many - others) == (2 * (16**3 - 8**3), 2 * (40**3 - 8**3))


@pytest.mark.parametrize("tool", [[], TRACE], ids=["callgrind", "trace"])
@pytest.mark.parametrize(("body", "times"), [
    pytest.param('asm volatile("incq %0" : "+m"(memory));', {18: 1, 19: 1, 2: 1, 3: 1}, id="read-modify-write"),
    pytest.param('asm volatile("lock incq %0" : "+m"(memory));', {18: 1, 19: 1}, id="with LOCK, too"),
    pytest.param("__builtin_prefetch((void *)&memory);", {18: 1, 2: 1, 19: 0}, id="a prefetch is a load of the R10000"),
    pytest.param('asm volatile("addpd %%xmm0, %%xmm0; xorpd %%xmm1, %%xmm1; sqrtsd %%xmm0, %%xmm0" : : : "xmm0", "xmm1");',
                 {21: 3}, id="two, none, one"),
    pytest.param('asm volatile("fldz; fadd %%st(0), %%st(0); fstp %%st(0)" : : : "st");', {21: 1}, id="x87"),
])
@X86
def test_each_time(tmp_path: Path, tool: list[str], body: str, times: dict[int, int]) -> None:
    found = each(program(tmp_path, LOOP.replace("BODY", body), "-O1"), tool)
    assert {event: found[event] for event in times} == times


@pytest.mark.parametrize("tool", [[], TRACE], ids=["callgrind", "trace"])
@X86
def test_what_is_not_issued(tmp_path: Path, tool: list[str]) -> None:
    """No-operations and direct jumps graduate, and are not issued."""
    found = each(program(tmp_path, LOOP.replace("BODY", 'asm volatile("nop; nop; jmp 1f; 1:");'), "-O1"), tool)
    assert found[15] - found[1] == 3
    assert found[6] == 1  # of the loop


@pytest.mark.parametrize("tool", [[], TRACE], ids=["callgrind", "trace"])
@X86
def test_prefetches_of_the_r12000(tmp_path: Path, tool: list[str]) -> None:
    path = program(tmp_path, LOOP.replace("BODY", "__builtin_prefetch((void *)&memory);"), "-O1")
    found = each(path, tool, cpu="r12000")
    assert (found[16], found[18]) == (1, 0)


@X86
def test_masked_moves(tmp_path: Path) -> None:
    """What callgrind takes for something else is not called exact; the trace has it."""
    if "avx2" not in flags_of_the_machine():
        pytest.skip("this processor has no avx2")
    words = "vpcmpeqd %%ymm2, %%ymm2, %%ymm2; vmaskmovpd %0, %%ymm2, %%ymm1; nop; vmaskmovpd %%ymm1, %%ymm2, %0"
    path = program(tmp_path, f"static long row[4];\n{LOOP}".replace(
        "BODY", f'asm volatile("{words}" : "+m"(row) : : "xmm1", "xmm2");'), "-O1")
    plain = counted("--backend", "valgrind", "-a", path, 3000)
    kinds = {e["event"]: e["quality"] for e in plain["events"]}
    assert [kinds[event] for event in (15, 18, 19, 21, 25)] == ["approximate"] * 5
    assert any("(vmaskmov) were executed, 6000 times at most" in note for note in plain["notes"])
    alone = counted("--backend", "valgrind", "-e", 19, path, 3000)
    assert {e["quality"] for e in alone["events"]} == {"approximate", "modelled"}
    found = each(path, TRACE)
    assert (found[18], found[19]) == (4, 4)


def test_all_of_y_in_one_run(tmp_path: Path) -> None:
    """With the memory trace each statistic of the manual page is there."""
    path = program(tmp_path, f"#define TYPE double\n#define MOST 40\n{MATRIX}", "-O1")
    data = counted("--backend", "valgrind", "-a", "-y", "--trace", path, 40)
    names = {s["name"].partition(" (")[0] for s in data["statistics"]}
    assert {"MFLOPS", "Memory bandwidth used", "Primary-to-secondary bandwidth used", "Time accessing memory/Total time",
            "Mispredicted branches/Decoded branches", "Data mispredict/Data secondary cache hits"} <= names
    unknown = {e["event"] for e in data["events"] if e["count"] is None}
    assert unknown == {4, 5, 8, 12, 13, 14, 20, 28, 29, 31}  # no store conditionals, one processor, no errors
