"""The valgrind tool: what instructions are counted as, by kernels whose counts follow from the processor's manual."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

from native import CC, build
from pypfm.perfex.backends.valgrind import tool
from tools import needs

pytestmark = [pytest.mark.slow, pytest.mark.needs("valgrind", "gcc"), pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the kernels are x86-64 code")]

ROUNDS = 100

#: Kernels: name, what is done before (from then on %rsi is a buffer of zeros, and %rdi another), what is repeated, and the
#: counts of one repetition that are not 0: Ir counts instructions.
KERNELS = [
    ("nothing", "", "", ""),
    ("nop", "", "nop; nopw 0(%rsi); endbr64", "Ir=3 Ni=3"),
    ("direct jump", "", "jmp 2f; 2:", "Ir=1 Ni=1"),
    ("register", "", "mov %rax, %rcx; lea 8(%rsi), %rdx", "Ir=2"),
    ("load", "", "mov (%rsi), %eax", "Ir=1 Dr=1"),
    ("volatile loads", "", "mov (%rsi), %eax; mov (%rsi), %eax; mov (%rsi), %eax", "Ir=3 Dr=3"),
    ("store", "", "mov %eax, (%rsi)", "Ir=1 Dw=1"),
    ("modify", "", "addl $1, (%rsi); notq 8(%rsi); incb 3(%rsi)", "Ir=3 Dr=3 Dw=3"),
    ("compare", "", "cmpl $0, (%rsi); testb $1, 5(%rsi)", "Ir=2 Dr=2"),
    # VEX leaves out loads whose value does not matter.
    ("and with 0, or with ones", "", "andl $0, (%rsi); orl $-1, (%rsi); andb $0, 3(%rsi); orw $-1, (%rsi); andq $0, 8(%rsi)", "Ir=5 Dr=5 Dw=5"),
    ("the same with registers", "", "xor %eax, %eax; and %eax, (%rsi); test %eax, (%rsi); and (%rsi), %al; or $-1, %eax; or %eax, (%rsi); or (%rsi), %eax",
     "Ir=7 Dr=5 Dw=2"),
    ("test with 0", "", "testl $0, (%rsi); testb $0, buffer(%rip); testl $0, 8(%rsi,%rcx,4)", "Ir=3 Dr=3"),
    ("lock and with 0", "", "lock andl $0, (%rsi); lock orl $-1, 8(%rsi)", "Ir=2 Dr=2 Dw=2 Sc=2"),
    ("vectors and with 0", "", "pxor %xmm0, %xmm0; pand (%rsi), %xmm0; andps (%rsi), %xmm0; vpxor %ymm0, %ymm0, %ymm0; vpand (%rsi), %ymm0, %ymm1;"
     " pcmpeqd %xmm0, %xmm0; pandn (%rsi), %xmm0", "Ir=7 Dr=4"),
    ("blends of nothing", "", "pblendw $0, (%rsi), %xmm0; blendps $0, (%rsi), %xmm1; vpblendd $0, (%rsi), %ymm1, %ymm2; vblendps $0, (%rsi), %ymm1, %ymm2;"
     " insertps $15, (%rsi), %xmm0; palignr $16, (%rsi), %xmm1; palignr $32, (%rsi), %xmm2; vperm2f128 $0x88, (%rsi), %ymm0, %ymm1; vcmpps $11, (%rsi), %ymm0, %ymm1",
     "Ir=9 Dr=9"),
    ("push, pop", "", "push %rax; pop %rax", "Ir=2 Dr=1 Dw=1"),
    ("push and pop of memory", "", "pushq (%rsi); popq 8(%rsi)", "Ir=2 Dr=2 Dw=2"),
    ("call", "", "call 8f; jmp 9f; 8: ret; 9:", "Ir=3 Dr=1 Dw=1 Bi=1 Ni=1"),
    ("call of memory", "lea 8f(%rip), %rax; mov %rax, (%rsi); jmp 7f; 8: ret; 7:", "call *(%rsi)", "Ir=2 Dr=2 Dw=1 Bi=2"),
    ("indirect jump", "lea 2f(%rip), %rax", "jmp *%rax; 2:", "Ir=1 Bi=1"),
    ("an indirect jump that VEX knows", "", "lea 2f(%rip), %rax; jmp *%rax; 2:", "Ir=2 Bi=1"),
    ("an indirect call that VEX knows", "", "lea 8f(%rip), %rax; call *%rax; jmp 9f; 8: ret; 9:", "Ir=4 Dr=1 Dw=1 Bi=2 Ni=1"),
    ("leave, enter", "push %rbp", "enter $16, $0; leave", "Ir=2 Dr=1 Dw=1"),
    ("crossing a line and a page", "", "mov 60(%rsi), %rax; mov 4092(%rsi), %rax; mov %rax, 4094(%rsi)", "Ir=3 Dr=2 Dw=1"),
    ("conditional branches", "", "test %esi, %esi; jz 2f; 2: jnz 3f; 3: jrcxz 4f; 4:", "Ir=4 Bc=3"),
    ("branches that VEX knows", "", "xor %eax, %eax; jnz 2f; nop; 2:", "Ir=3 Bc=1 Ni=1"),
    ("a branch to itself", "", "mov $3, %ecx; 2: loop 2b", "Ir=4 Bc=3"),
    ("rep movsq", "", "mov $8, %ecx; rep movsq; sub $64, %rsi; sub $64, %rdi", "Ir=4 Dr=8 Dw=8"),
    ("rep movsb of nothing", "", "xor %ecx, %ecx; rep movsb", "Ir=2"),
    ("rep stosl", "", "mov $5, %ecx; rep stosl; sub $20, %rdi", "Ir=3 Dw=5"),
    ("repe cmpsb", "", "mov $4, %ecx; repe cmpsb; sub $4, %rsi; sub $4, %rdi", "Ir=4 Dr=8"),
    ("repne scasb", "mov $1, %eax", "mov $6, %ecx; repne scasb; sub $6, %rdi", "Ir=3 Dr=6"),
    ("movs, lods, stos", "", "movsb; lodsb; stosb; sub $2, %rsi; sub $2, %rdi", "Ir=5 Dr=2 Dw=2"),
    ("lock", "", "lock addl $1, (%rsi); lock incq 8(%rsi); xchg %eax, 16(%rsi); lock xadd %eax, 24(%rsi)", "Ir=4 Dr=4 Dw=4 Sc=4"),
    ("cmpxchg", "xor %eax, %eax; movl $0, (%rsi)", "lock cmpxchg %eax, (%rsi)", "Ir=1 Dr=1 Dw=1 Sc=1"),
    ("a failing cmpxchg", "movl $5, (%rsi)", "xor %eax, %eax; lock cmpxchg %ecx, (%rsi)", "Ir=2 Dr=1 Dw=1 Sc=1 Sf=1"),
    ("cmpxchg16b", "movq $0, (%rsi); movq $0, 8(%rsi)", "xor %eax, %eax; xor %edx, %edx; xor %ecx, %ecx; push %rbx; xor %ebx, %ebx; lock cmpxchg16b (%rsi); pop %rbx",
     "Ir=7 Dr=2 Dw=2 Sc=1"),
    ("prefetch", "", "prefetcht0 (%rsi); prefetchw 64(%rsi,%rcx,8); prefetchnta buffer(%rip)", "Ir=3 Pf=3"),
    ("scalar", "", "addsd %xmm0, %xmm1; mulss (%rsi), %xmm2; divsd %xmm0, %xmm3; sqrtsd %xmm0, %xmm4", "Ir=4 Dr=1 Fp=4 Fo=4"),
    ("the same twice", "", "movaps %xmm0, %xmm1; movaps %xmm0, %xmm2; mulsd %xmm3, %xmm1; mulsd %xmm3, %xmm2", "Ir=4 Fp=2 Fo=2"),
    ("a result that is not used", "", "addsd %xmm0, %xmm1; xorps %xmm1, %xmm1", "Ir=2 Fp=1 Fo=1"),
    ("packed", "", "addps (%rsi), %xmm0; mulpd %xmm1, %xmm2; minps %xmm1, %xmm3; vmaxpd %ymm1, %ymm2, %ymm3", "Ir=4 Dr=1 Fp=4 Fo=14"),
    ("horizontal, alternating", "", "haddpd %xmm0, %xmm1; addsubps %xmm0, %xmm1; vaddsubpd %ymm1, %ymm2, %ymm3; dpps $255, %xmm1, %xmm2",
     "Ir=4 Fp=4 Fo=18"),
    ("approximations", "", "rcpps %xmm0, %xmm1; rsqrtss %xmm0, %xmm1", "Ir=2 Fp=2 Fo=5"),
    ("multiply-add", "", "vfmadd231ps (%rsi), %ymm1, %ymm2; vfmadd231sd (%rsi), %xmm1, %xmm2; vfnmsub213pd %ymm1, %ymm2, %ymm3",
     "Ir=3 Dr=2 Fp=3 Fo=26"),
    ("conversions, comparisons, logic", "", "cvtps2pd (%rsi), %xmm0; vcvtps2pd (%rsi), %ymm0; ucomisd (%rsi), %xmm0; xorps %xmm1, %xmm1",
     "Ir=4 Dr=3"),
    ("masked moves", "vpcmpeqd %ymm1, %ymm1, %ymm1; vpxor %ymm2, %ymm2, %ymm2",
     "vmaskmovps (%rsi), %ymm1, %ymm3; vmaskmovps %ymm3, %ymm1, (%rdi); vmaskmovps (%rsi), %ymm2, %ymm3; vmaskmovpd %ymm3, %ymm2, (%rdi)",
     "Ir=4 Dr=1 Dw=1"),
    ("maskmovdqu", "pcmpeqd %xmm1, %xmm1", "maskmovdqu %xmm1, %xmm0", "Ir=1 Dw=1"),
    ("maskmovdqu of nothing", "pxor %xmm9, %xmm9; pcmpeqd %xmm1, %xmm1", "maskmovdqu %xmm9, %xmm0; maskmovdqu %xmm0, %xmm1", "Ir=2"),
    ("maskmovq", "pcmpeqd %xmm1, %xmm1; movdq2q %xmm1, %mm1; pxor %mm2, %mm2", "maskmovq %mm1, %mm0; maskmovq %mm2, %mm0", "Ir=2 Dw=1"),
    ("gather", "vpxor %ymm2, %ymm2, %ymm2", "vpcmpeqd %ymm1, %ymm1, %ymm1; vgatherdps %ymm1, (%rsi,%ymm2,4), %ymm3", "Ir=2 Dr=8"),
    ("a gather of four of eight", "vpxor %ymm2, %ymm2, %ymm2; vpcmpeqd %xmm4, %xmm4, %xmm4",
     "vmovaps %ymm4, %ymm1; vgatherdps %ymm1, (%rsi,%ymm2,4), %ymm3", "Ir=2 Dr=4"),
    ("x87", "", "fldt (%rsi); fldl 16(%rsi); faddp; fsqrt; fstpt 32(%rsi)", "Ir=5 Dr=2 Dw=1 Fp=2 Fo=2"),
    ("fxsave", "", "fxsave (%rdi); fxrstor (%rdi)", "Ir=2 Dr=1 Dw=1"),
    ("xsave", "xor %edx, %edx; mov $7, %eax", "xsave (%rdi); xrstor (%rdi)", "Ir=2 Dr=2 Dw=1"),
    ("avx", "", "vmovups (%rsi), %ymm0; vmovups %ymm0, 3(%rdi); vextractf128 $1, %ymm0, (%rdi); vbroadcastsd (%rsi), %ymm0", "Ir=4 Dr=2 Dw=2"),
    ("movbe, set, cmov", "", "movbe (%rsi), %eax; sete (%rdi); cmove (%rsi), %ecx; movnti %eax, (%rdi)", "Ir=4 Dr=2 Dw=2"),
    ("pointers that were chosen", "", "mov %rsi, %rdx; mov %rsi, %r8; cmp %rsi, %rdi; cmove %rdi, %rdx; cmovne %rdi, %r8; mov (%rdx), %rax; mov %rax, 8(%rdx);"
     " mov (%r8), %rax; mov %rax, 8(%r8)", "Ir=9 Dr=2 Dw=2"),
    ("a pointer of cmpxchg", "", "mov %rsi, %rax; mov %rsi, (%rdi); lock cmpxchg %rsi, (%rdi); mov (%rax), %edx; mov %rdi, %rax; cmpxchg %rsi, (%rdi); mov (%rax), %edx",
     "Ir=7 Dr=4 Dw=3 Sc=1"),
    ("bits of memory", "xor %eax, %eax", "bts %eax, (%rsi); bt $3, 8(%rsi)", "Ir=2 Dr=2 Dw=1"),
    ("cpuid", "", "push %rbx; xor %eax, %eax; cpuid; pop %rbx", "Ir=4 Dr=1 Dw=1"),
]

HEAD = """\
#include <stdint.h>
#include <stdio.h>
#include <valgrind/valgrind.h>
enum { READ = (int)((unsigned)'R' << 24 | 'K' << 16), MOST = 64 };
char buffer[1 << 16] __attribute__((aligned(4096)));
typedef void kernel(long rounds);
static int n;
static void read_counts(uint64_t *to) { n = (int)VALGRIND_DO_CLIENT_REQUEST_EXPR(0, READ, to, MOST, 0, 0, 0); }
static void measure(kernel *k, long rounds, uint64_t *counts) {
    uint64_t a[MOST] = { 0 }, b[MOST] = { 0 };
    k(rounds);
    read_counts(a); k(rounds); read_counts(b);
    for (int i = 0; i < n; i++) counts[i] = b[i] - a[i];
}
"""
MAIN = """\
int main(void) {
    for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        uint64_t some[MOST] = { 0 }, more[MOST] = { 0 };
        measure(kernels[k], ROUNDS, some);
        measure(kernels[k], 2 * ROUNDS, more);
        for (int i = 0; i < n; i++) printf("%lld ", (long long)(more[i] - some[i]));
        printf("\\n");
    }
}
"""


def program() -> str:
    parts = [HEAD, f"enum {{ ROUNDS = {ROUNDS} }};\n"]
    for i, (_, before, body, _) in enumerate(KERNELS):
        code = (f".text; .p2align 6; k{i}: push %r15; push %rbp; push %rbp; mov %rsp, %rbp; mov %rdi, %r15;"
                f" lea buffer(%rip), %rsi; lea buffer+16384(%rip), %rdi; xor %ecx, %ecx; {before};"
                f" 1: {body}; dec %r15; jnz 1b; mov %rbp, %rsp; pop %rbp; pop %rbp; pop %r15; ret")
        parts.append(f'__asm__("{code}");\nextern kernel k{i};\n')
    parts.append(f"static kernel *const kernels[] = {{ {', '.join(f'k{i}' for i in range(len(KERNELS)))} }};\n")
    return "".join(parts) + MAIN


def names(counts: Path) -> list[str]:
    """The names of the counts, from a file of the tool's."""
    found = re.search(rb"Ir (?:\w+ )+", next(counts.glob("*.r10k")).read_bytes()[:4096])
    assert found
    return found[0].decode().split()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """The counts of one repetition of each kernel."""
    place = tmp_path_factory.mktemp("kernels")
    path = place / "kernels"
    build(CC, "-no-pie", "-O1", "-x", "c", "-", "-o", path, source=program())
    made = subprocess.run([needs("valgrind"), "--tool=r10k", "-q", "--command-line-only=yes", f"--counts={place}", "--lines=yes", path], text=True,
                          capture_output=True, check=True, env={**os.environ, "VALGRIND_LIB": str(tool.directory())})
    known = names(place)
    rows = [[int(word) for word in line.split()] for line in made.stdout.splitlines()]
    assert len(rows) == len(KERNELS)
    loop = {"Ir": 2 * ROUNDS, "Bc": ROUNDS}
    found = {}
    for (name, *_), row in zip(KERNELS, rows, strict=True):
        counts = {key: n - loop.get(key, 0) for key, n in zip(known, row, strict=True)}
        found[name] = {key: n / ROUNDS for key, n in list(counts.items())[:known.index("I1mr")] if n}
    return found


@pytest.mark.parametrize(("name", "expected"), [(name, expected) for name, _, _, expected in KERNELS],
                         ids=[name for name, *_ in KERNELS])
def test_instructions_are_counted_as_the_processor_does(measured: dict[str, dict[str, int]], name: str, expected: str) -> None:
    assert measured[name] == {key: int(n) for key, _, n in (word.partition("=") for word in expected.split())}
