"""What an instruction does: the assembler's bytes against what is known of each instruction."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import capstone
import pytest
from elftools.elf.elffile import ELFFile

from native import CC, build
from pypfm.perfex.backends.valgrind import instructions
from pypfm.perfex.backends.valgrind.instructions import Disassembler, Instruction, Machine, Objects, flop_rows
from tools import cpu_seconds

# Instruction, flops, loads, stores, modifies, branch, prefetch, issued; what is left out at the end is 0.
Row = tuple[str, int | None, int, int, int, str, bool, bool]


def rows(text: str) -> list[Row]:
    found = []
    for line in filter(None, text.splitlines()):
        words, _, numbers = line.partition(" # ")
        given = numbers.split()
        values = [None if n == "?" else int(n) for n in given if n in "?" or n.isdigit()] + [0] * 4
        rest = [n for n in given if n.isalpha() or "-" in n]
        branch = next((n.replace("-", " ") for n in rest if n not in ("prefetch", "idle")), "")
        loads, stores, modifies = (v or 0 for v in values[1:4])
        found.append((words.strip(), values[0], loads, stores, modifies, branch, "prefetch" in rest, "idle" not in rest))
    return found


X86_64 = rows("""\
addsd xmm0, xmm1 # 1
addss xmm0, dword ptr [rax] # 1 1
addps xmm0, xmm1 # 4
subpd xmm0, xmmword ptr [rax] # 2 1
mulpd xmm0, xmm1 # 2
divps xmm0, xmm1 # 4
sqrtsd xmm0, xmm1 # 1
minpd xmm0, xmm1 # 2
vmaxps ymm0, ymm1, ymm2 # 8
vaddpd ymm0, ymm1, ymmword ptr [rax] # 4 1
vaddpd zmm0, zmm1, zmm2 # 8
vaddps zmm0, zmm1, zmm2 # 16
vaddps zmm0{k1}{z}, zmm1, zmm2 # 16
vaddpd zmm0, zmm1, qword ptr [rax]{1to8} # 8 1
vmulss xmm0, xmm1, xmm2 # 1
haddpd xmm0, xmm1 # 2
vaddsubps ymm0, ymm1, ymm2 # 8
dpps xmm0, xmm1, 0xff # 8
vfmadd231sd xmm0, xmm1, xmm2 # 2
vfmadd231ss xmm0, xmm1, dword ptr [rax + 8*rcx + 16] # 2 1
vfmadd132pd ymm0, ymm1, ymm2 # 8
vfnmsub213ps zmm0, zmm1, zmm2 # 32
vfmaddsub213pd xmm0, xmm1, xmm2 # 4
vfmaddpd xmm0, xmm1, xmm2, xmmword ptr [rax] # 4 1
rcpps xmm0, xmm1 # 4
vrsqrt14pd zmm0, zmm1 # 8
ucomisd xmm0, xmm1 # 0
cmpltpd xmm0, xmmword ptr [rax] # 0 1
cvtsi2sd xmm0, dword ptr [rax] # 0 1
cvttsd2si eax, xmm0 # 0
xorps xmm0, xmm0 # 0
roundsd xmm0, xmm1, 1 # 0
movsd xmm0, qword ptr [rax] # 0 1
movsd qword ptr [rax], xmm0 # 0 0 1
movups xmmword ptr [rax], xmm0 # 0 0 1
vmovups ymm0, ymmword ptr [rax] # 0 1
vextractf128 xmmword ptr [rax], ymm0, 1 # 0 0 1
pextrd dword ptr [rax], xmm0, 1 # 0 0 1
paddd xmm0, xmmword ptr [rax] # 0 1
vgatherdpd ymm0, [rax + xmm1*8], ymm2 # 0 4
vgatherqps xmm0, [rax + ymm1*4], xmm2 # 0 4
vmaskmovpd ymmword ptr [rax], ymm1, ymm2 # 0 0 1
fadd st, st(1) # 1
fadd st(1), st # 1
faddp st(1), st # 1
fmul qword ptr [rax] # 1 1
fidiv dword ptr [rax] # 1 1
fsubrp st(1), st # 1
fsqrt # 1
fsin # 1
fsincos # 2
fyl2x # 1
fprem # 1
fchs # 0
fld tbyte ptr [rax] # 0 1
fild qword ptr [rax] # 0 1
fstp tbyte ptr [rax] # 0 0 1
fistp dword ptr [rax] # 0 0 1
fxch st(1) # 0
fucomip st, st(1) # 0
fnstcw word ptr [rax] # 0 0 1
fldcw word ptr [rax] # 0 1
mov eax, dword ptr [rax] # 0 1
mov dword ptr [rax], eax # 0 0 1
mov dword ptr [rax], 5 # 0 0 1
movzx eax, byte ptr [rax] # 0 1
lea rax, [rax + rcx] # 0
nop dword ptr [rax] # 0 idle
add eax, dword ptr [rax] # 0 1
add dword ptr [rax], eax # 0 1 1 1
inc qword ptr [rax] # 0 1 1 1
shl byte ptr [rax], 3 # 0 1 1 1
shld dword ptr [rax], ecx, 3 # 0 1 1 1
not word ptr [rax] # 0 1 1 1
bts dword ptr [rax], 3 # 0 1 1 1
bt dword ptr [rax], 3 # 0 1
xchg dword ptr [rax], ecx # 0 1 1 1
lock cmpxchg qword ptr [rax], rcx # 0 1 1 1
lock xadd dword ptr [rax], ecx # 0 1 1 1
cmp dword ptr [rax], 3 # 0 1
cmp eax, dword ptr [rax] # 0 1
test dword ptr [rax], ecx # 0 1
imul eax, dword ptr [rax] # 0 1
imul qword ptr [rax] # 0 1
mul dword ptr [rax] # 0 1
idiv dword ptr [rax] # 0 1
sete byte ptr [rax] # 0 0 1
setg byte ptr [rax] # 0 0 1
cmovne eax, dword ptr [rax] # 0 1
push rax # 0 0 1
push qword ptr [rax] # 0 1 1
pop rax # 0 1
pop qword ptr [rax] # 0 1 1
leave # 0 1
ret # 0 1 0 0 return
call here # 0 0 1 0 call
call rax # 0 0 1 0 indirect-call
call qword ptr [rax] # 0 1 1 0 indirect-call
jmp here # 0 0 0 0 jump idle
jmp rax # 0 0 0 0 indirect
jmp qword ptr [rax + 8*rcx] # 0 1 0 0 indirect
jne here # 0 0 0 0 conditional
.byte 0xe2, 0xfe # 0 0 0 0 conditional
rep movsb # 0 1 1
movsq # 0 1 1
rep stosq # 0 0 1
repe cmpsb # 0 2
repne scasb # 0 1
lodsd # 0 1
xlatb # 0 1
maskmovdqu xmm0, xmm1 # 0 0 1
prefetcht0 byte ptr [rax] # 0 0 0 0 prefetch
prefetchnta byte ptr [rax + 64] # 0 0 0 0 prefetch
prefetchw byte ptr [rax] # 0 0 0 0 prefetch
clflush byte ptr [rax] # 0
stmxcsr dword ptr [rax] # 0 0 1
ldmxcsr dword ptr [rax] # 0 1
syscall # 0 idle
endbr64 # 0 idle
""")
X86 = rows("""\
push ebp # 0 0 1
fadd qword ptr [eax] # 1 1
addps xmm0, xmmword ptr [esp + 4] # 4 1
inc eax # 0
add dword ptr [eax], 1 # 0 1 1 1
""")
AARCH64 = rows("""\
fadd d0, d1, d2 # 1
fadd v0.4s, v1.4s, v2.4s # 4
fsub v0.2d, v1.2d, v2.2d # 2
fmul v0.8h, v1.8h, v2.8h # 8
fmul v0.4s, v1.4s, v2.s[1] # 4
fdiv s0, s1, s2 # 1
fsqrt v0.2d, v1.2d # 2
fmadd d0, d1, d2, d3 # 2
fnmsub s0, s1, s2, s3 # 2
fmla v0.4s, v1.4s, v2.4s # 8
fmls v0.2d, v1.2d, v2.d[0] # 4
fmla d0, d1, v2.d[1] # 2
fmaxnm d0, d1, d2 # 1
faddp v0.4s, v1.4s, v2.4s # 4
faddp d0, v1.2d # 1
fmaxv s0, v1.4s # 3
fabd v0.4s, v1.4s, v2.4s # 4
frecps v0.4s, v1.4s, v2.4s # 8
fcmla v0.4s, v1.4s, v2.4s, #90 # 8
fadd z0.s, p0/m, z0.s, z1.s # ?
fmla z0.d, p0/m, z1.d, z2.d # ?
faddv d0, p0, z1.d # ?
fcmp d0, d1 # 0
fcvtzs x0, d0 # 0
scvtf d0, x0 # 0
fmov d0, #1.0 # 0
fneg d0, d1 # 0
add x0, x1, x2 # 0
ldr x0, [x1] # 0 1
ldr q0, [x1], #16 # 0 1
ldrb w0, [x1, x2] # 0 1
ldrsw x0, [x1] # 0 1
ldp x0, x1, [sp], #16 # 0 2
ldpsw x0, x1, [x2] # 0 2
ldur x0, [x1, #-8] # 0 1
ld1 {v0.4s, v1.4s}, [x0] # 0 2
ld1r {v0.4s}, [x0] # 0 1
ldxr x0, [x1] # 0 1
ldaxp x0, x1, [x2] # 0 2
str x0, [x1] # 0 0 1
stp q0, q1, [sp, #-32]! # 0 0 2
stxr w0, x1, [x2] # 0 0 1
stlr x0, [x1] # 0 0 1
st1 {v0.4s, v1.4s, v2.4s}, [x0] # 0 0 3
ldaddal x0, x1, [x2] # 0 1 1 1
stadd x0, [x1] # 0 1 1 1
swpal w0, w1, [x2] # 0 1 1 1
cas x0, x1, [x2] # 0 1 1 1
casp x0, x1, x2, x3, [x4] # 0 2 2 2
dc zva, x0 # 0 0 1
prfm pldl1keep, [x0] # 0 0 0 0 prefetch
b #0x1000 # 0 0 0 0 jump idle
b.ne #0x1000 # 0 0 0 0 conditional
cbz x0, #0x1000 # 0 0 0 0 conditional
tbnz x0, #3, #0x1000 # 0 0 0 0 conditional
bl #0x1000 # 0 0 0 0 call idle
blr x0 # 0 0 0 0 indirect-call
br x0 # 0 0 0 0 indirect
ret # 0 0 0 0 return
bic x0, x1, x2 # 0
nop # 0 idle
svc #0 # 0 idle
bfi x0, x1, #3, #4 # 0
""")
_ARM = "-march=armv8.6-a+sve+bf16+fp16"


def assembled(tmp_path: Path, machine: Machine, lines: Iterable[str]) -> bytes:
    """The code of some instructions."""
    head, options = ("", [_ARM]) if machine == "aarch64" else (".intel_syntax noprefix\nhere:\n", [])
    target = {"x86-64": "x86_64", "x86": "i386", "aarch64": "aarch64"}[machine]
    source, out = tmp_path / "code.s", tmp_path / "code.o"
    source.write_text(head + "\n".join(lines) + "\n")
    subprocess.run(["clang", f"--target={target}-linux-gnu", *options, "-c", source, "-o", out], check=True, timeout=60)
    code: bytes = ELFFile(BytesIO(out.read_bytes())).get_section_by_name(".text").data()
    return code


@pytest.mark.needs("clang")
@pytest.mark.parametrize(("machine", "known"), [("x86-64", X86_64), ("x86", X86), ("aarch64", AARCH64)])
def test_every_kind_of_instruction(tmp_path: Path, machine: Machine, known: list[Row]) -> None:
    code, reader = assembled(tmp_path, machine, (row[0] for row in known)), Disassembler(machine)
    found = []
    for words, *_ in known:
        instruction = reader.read(code[:15])
        assert instruction is not None, words
        code = code[instruction.size:]
        found.append((words, instruction.flops, instruction.loads, instruction.stores, instruction.modifies,
                      instruction.branch, instruction.prefetch, instruction.issued))
    assert found == known
    assert code == b""


def test_bytes_that_are_no_instruction() -> None:
    assert Disassembler("x86-64").read(bytes.fromhex("0f38f0")) is None  # cut off
    assert Disassembler("x86-64").read(b"") is None
    assert Disassembler("x86-64").read(b"\x06") is None  # push es, which there is not
    assert Disassembler("aarch64").read(b"\xff\xff\xff\xff") is None


@pytest.mark.needs("clang")
def test_masked_moves(tmp_path: Path) -> None:
    """Those that AVX moves by a mask; what is blended or gathered is not."""
    words = ["vmaskmovps ymm0, ymm1, ymmword ptr [rax]", "vmaskmovpd xmmword ptr [rax], xmm1, xmm2",
             "vpmaskmovd ymmword ptr [rax], ymm1, ymm2", "vpmaskmovq xmm0, xmm1, xmmword ptr [rax]",
             "vgatherdpd ymm0, [rax + xmm1*8], ymm2", "maskmovdqu xmm0, xmm1", "vpmovmskb eax, xmm0", "movups xmm0, [rax]"]
    code, reader = assembled(tmp_path, "x86-64", words), Disassembler("x86-64")
    found = []
    while code:
        instruction = reader.read(code)
        assert instruction is not None
        found.append(instruction.masked)
        code = code[instruction.size:]
    assert found == [True] * 4 + [False] * 4


@pytest.mark.parametrize(("processor", "arch", "mode"), [
    ("x86", capstone.CS_ARCH_X86, capstone.CS_MODE_64), ("aarch64", capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)])
def test_the_classes_do_not_overlap(processor: str, arch: int, mode: int) -> None:
    """Over all names that capstone has; and each class has a member."""
    reader = capstone.Cs(arch, mode)
    names = {name for i in range(1, 8000) if (name := reader.insn_name(i))}
    table = [row for row in flop_rows() if row.processor == processor]
    members = [{name for name in names if re.fullmatch(row.instructions, name)} for row in table]
    assert all(members)
    assert sum(map(len, members)) == len(set().union(*members))
    assert {row.per for row in table} <= {"instruction", "element", "other element"}


# ---- files -------------------------------------------------------------------------

_SOURCE = """\
__attribute__((noinline)) double product(double a, double b) { return a * b; }
int main(int argc, char **v) { (void)v; return (int)product(argc, 0.0); }
"""


def addresses(program: Path) -> dict[str, tuple[int, int]]:
    """Address and size of each function."""
    with program.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return {s.name: (s["st_value"], s["st_size"]) for s in table.iter_symbols()
                if s["st_info"]["type"] == "STT_FUNC"}


def walk(objects: Objects, program: Path, name: str) -> list[Instruction]:
    address, size = addresses(program)[name]
    found, end = [], address + size
    while address < end:
        instruction = objects.at(program, address)
        assert instruction is not None
        found.append(instruction)
        address += instruction.size
    assert address == end
    return found


@pytest.mark.parametrize("options", [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"],
                                     ["-no-pie", "-Wl,-Ttext-segment=0x10000000"]])
def test_the_function_of_a_program(tmp_path: Path, options: list[str]) -> None:
    program = tmp_path / "program"
    build(CC, "-O1", *options, "-x", "c", "-", "-o", program, source=_SOURCE)
    with Objects() as objects:
        found = walk(objects, program, "product")
    assert sum(i.flops or 0 for i in found) == 1
    assert found[-1].branch == "return"


def test_addresses_and_files_without_code(tmp_path: Path) -> None:
    text, cut, damaged = tmp_path / "text", tmp_path / "cut", tmp_path / "damaged"
    whole = Path(sys.executable).resolve().read_bytes()
    text.write_text("no program\n")
    cut.write_bytes(whole[:100])
    damaged.write_bytes(whole[:32] + b"\xff" * 32 + whole[64:4096])
    with Objects() as objects:
        for path in (text, cut, damaged, tmp_path, tmp_path / "missing", Path("???"), Path("/dev/null")):
            assert objects.at(path, 0x1000) is None
        assert objects.at(Path(sys.executable), 1 << 62) is None
        assert objects.at(Path(sys.executable), -1) is None


def test_many_addresses_take_little_time(tmp_path: Path) -> None:
    """200,000 instructions, each at an address of its own."""
    program = tmp_path / "program"
    build(CC, "-x", "assembler", "-", "-nostdlib", "-Wl,-e,0", "-o", program, source=(
        ".globl f\n.type f,@function\nf:\n" + "".join(f"mov {i % 251}(%rdi), %eax\n" for i in range(200_000))
        + ".size f, .-f\n"))
    with cpu_seconds(20), Objects() as objects:
        begun = time.process_time()
        found = walk(objects, program, "f")
        print(f"{time.process_time() - begun:.2f} s")
    assert sum(i.loads for i in found) == 200_000


def test_without_capstone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "capstone", None)
    assert not instructions.installed()
    with pytest.raises(ModuleNotFoundError, match="pip install capstone"):
        Disassembler("x86-64")
