"""What an instruction of this machine does: floating-point operations, loads, stores, branches, prefetches.

The library capstone disassembles; csrc/tables/perfex_flops.csv says how many operations an instruction stands for.
Loads and stores follow from capstone's text and from rules of our own: what capstone 5 itself says of the access to
an operand is wrong for many instructions (it calls the operand of ``movups [rax], xmm0`` and ``sete [rax]`` read).
"""

from __future__ import annotations

import csv
import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pypfm.common.frozen import lazy
from pypfm.config import built

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = ["NOT_INSTALLED", "Branch", "Disassembler", "Instruction", "Machine", "Objects", "flop_rows", "installed"]

#: Why nothing is known about instructions, where the library is missing.
NOT_INSTALLED = "capstone is not installed: pip install capstone"
#: A processor whose instructions can be read.
Machine = Literal["x86-64", "x86", "aarch64"]
#: Where the next instruction may be another than the following one; "" if it cannot.
Branch = Literal["", "conditional", "jump", "indirect", "call", "indirect call", "return"]

_LONGEST = 15  # bytes of an instruction of x86
_MACHINES: dict[str, Machine] = {"EM_X86_64": "x86-64", "EM_386": "x86", "EM_AARCH64": "aarch64"}


@dataclass(frozen=True)
class Instruction:
    """What one execution of an instruction does; of a REP instruction of x86, one repetition.

    :ivar size: bytes
    :ivar flops: floating-point operations; None: as many as a vector has elements, whose length (SVE) is not known
    :ivar loads: of memory; what is gathered, and what a mask selects, counts as if all elements were selected.
        AArch64: one for each register that is loaded
    :ivar stores: likewise
    :ivar modifies: how many of the stores go to an address that the same instruction loads
    :ivar branch: what it does to the flow of control
    :ivar prefetch: whether it asks for a line of the cache, and no more
    :ivar masked: whether a mask says which elements it moves; callgrind counts each of these as one more execution of
        the next instruction, and as no load or store
    :ivar issued: whether an execution unit has something to do: no-operations, jumps whose target is in the
        instruction, and calls of the system have none (so the R10000)
    """

    size: int
    flops: int | None = 0
    loads: int = 0
    stores: int = 0
    modifies: int = 0
    branch: Branch = ""
    prefetch: bool = False
    issued: bool = True
    masked: bool = False


def _capstone() -> Any:
    """The library's module, which need not be there."""
    try:
        return import_module("capstone")  # it has no types
    except ImportError:  # also where its C library is missing
        return None


def installed() -> bool:
    """Whether instructions can be read; if not, `NOT_INSTALLED` says what is missing."""
    return _capstone() is not None


# ---- floating-point operations -----------------------------------------------------

class FlopRow(NamedTuple):
    """A class of instructions (csrc/tables/perfex_flops.csv).

    :ivar processor: x86 or aarch64
    :ivar instructions: regular expression for the whole of a mnemonic
    :ivar operations: how many
    :ivar per: instruction, element (of the result), or other element (all but one)
    :ivar what: in words
    """

    processor: str
    instructions: str
    operations: int
    per: str
    what: str


@cache
def flop_rows() -> tuple[FlopRow, ...]:
    """The classes of instructions, and how many floating-point operations each counts as."""
    with built("perfex/tables/perfex_flops.csv").open(newline="", encoding="ascii") as stream:
        return tuple(FlopRow(r["processor"], r["instructions"], int(r["operations"]), r["per"], r["what"])
                     for r in csv.DictReader(stream))


@cache
def _flop_row(processor: str, mnemonic: str) -> FlopRow | None:
    return next((row for row in flop_rows() if row.processor == processor and row.operations
                 and re.fullmatch(row.instructions, mnemonic)), None)


def _flops(processor: str, mnemonic: str, elements: int | None) -> int | None:
    """Operations of an instruction.

    :param elements: of its result; None: not known
    """
    row = _flop_row(processor, mnemonic)
    if row is None:
        return 0
    if row.per == "instruction":
        return row.operations
    return None if elements is None else row.operations * (elements - (row.per == "other element"))


# ---- x86 ---------------------------------------------------------------------------

# Mnemonics whose first operand, in memory, is stored to and not loaded; and those that do both.  All others load it.
_X86_STORES = re.compile(
    r"v?p?(mov|maskmov)\w*|kmov\w|set\w+|v?p?extr\w+|v?(p?compress|p?scatter)\w+|v?extract\w+|vcvtps2ph"
    r"|f(n?st|ist|bst)\w*|fn?save|v?stmxcsr|fxsave(64)?|xsave\w*|s[gil]dt|sldt|smsw|str|pop|stos\w|ins[bwd]|maskmov\w+")
_X86_MODIFIES = re.compile(
    r"add|adc|sub|sbb|and|or|xor|inc|dec|neg|not|sa[lr]|sh[lr]d?|ro[lr]|rc[lr]|bt[src]|xchg|xadd|cmpxchg\w*|aadd|aand"
    r"|aor|axor")
_X86_NO_ACCESS = re.compile(r"lea|nop|prefetch\w*|v(gather|scatter)pf\w+|cl(flush(opt)?|wb|demote|zero)|inv\w+|bnd\w+")
_X86_NOT_ISSUED = re.compile(r"f?nop|endbr\d\d|jmp|syscall|sysenter|int\w*|ud\w+")
_X86_MASKED = re.compile(r"vp?maskmov(ps|pd|d|q)")
_X86_PUSHES = re.compile(r"push\w*|l?call|enter")
_X86_POPS = re.compile(r"pop\w*|l?ret\w*|leave")
_X86_SPARSE = re.compile(r"vp?(?:gather|scatter)(?P<index>[dq])(?P<data>ps|pd|d|q)")
_WIDTHS = {"x": 16, "y": 32, "z": 64}  # bytes of a vector register by its name


def _x86_operands(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")] if text else []


def _x86_width(text: str) -> int:
    """Bytes of the widest vector register; with none, the operand in memory goes with one of 16."""
    return max((_WIDTHS[letter] for letter in re.findall(r"([xyz])mm", text)), default=16)


def _x86_elements(mnemonic: str, text: str) -> int:
    """Elements of the result, by the end of the mnemonic."""
    return _x86_width(text) // (4 if mnemonic[-1] == "s" else 8) if mnemonic[-2:-1] == "p" else 1


def _x86_sparse(match: re.Match[str], operands: list[str]) -> int:
    """Elements that are gathered or scattered."""
    index = next((op for op in operands if "[" in op), "")
    data = next((op for op in operands if "[" not in op and "mm" in op), "")
    return min(_x86_width(index) // (4 if match["index"] == "d" else 8),
               _x86_width(data) // (4 if match["data"] in ("ps", "d") else 8))


def _x86_memory(mnemonic: str, operands: list[str]) -> tuple[int, int, int]:
    """Loads, stores and modifications of the operands and of the stack."""
    loads = stores = modifies = 0
    sparse = _X86_SPARSE.fullmatch(mnemonic)
    for position, operand in enumerate(() if _X86_NO_ACCESS.fullmatch(mnemonic) else operands):
        if "[" not in operand:
            continue
        times = _x86_sparse(sparse, operands) if sparse else 1
        if position == 0 and _X86_MODIFIES.fullmatch(mnemonic):
            loads, stores, modifies = loads + 1, stores + 1, modifies + 1
        elif position == 0 and _X86_STORES.fullmatch(mnemonic):
            stores += times
        else:
            loads += times
    loads += bool(_X86_POPS.fullmatch(mnemonic)) or mnemonic == "xlatb"
    stores += bool(_X86_PUSHES.fullmatch(mnemonic)) or mnemonic in ("maskmovdqu", "vmaskmovdqu", "maskmovq")
    return loads, stores, modifies


def _x86_branch(mnemonic: str, operands: list[str]) -> Branch:
    if mnemonic in ("jmp", "call", "ljmp", "lcall"):
        direct = bool(operands) and operands[-1][:1].isdigit()
        if "call" in mnemonic:
            return "call" if direct else "indirect call"
        return "jump" if direct else "indirect"
    if re.fullmatch(r"l?ret\w*|iret\w*", mnemonic):
        return "return"
    return "conditional" if mnemonic[0] == "j" or mnemonic.startswith("loop") else ""


@cache
def _x86(size: int, mnemonic: str, text: str) -> Instruction:
    """An instruction by capstone's text, in which numbers are one digit."""
    mnemonic = mnemonic.split()[-1]  # without prefixes: rep, lock, bnd, notrack
    operands = _x86_operands(text)
    loads, stores, modifies = _x86_memory(mnemonic, operands)
    branch = _x86_branch(mnemonic, operands)
    return Instruction(size, _flops("x86", mnemonic, _x86_elements(mnemonic, text)), loads, stores, modifies, branch,
                       mnemonic.startswith("prefetch"),
                       branch == "indirect" or not _X86_NOT_ISSUED.fullmatch(mnemonic),
                       bool(_X86_MASKED.fullmatch(mnemonic)))


# ---- AArch64 -----------------------------------------------------------------------

_ARM_ATOMIC = re.compile(r"(?:(?:ld|st)(?:add|clr|eor|set|[su]max|[su]min)|swp|cas)(?:a|l|al)?[bh]?")
_ARM_LOAD = re.compile(r"ld(?:[1-4]\w*|(?P<pair>n?p\w*|x?a?xp)|[urtaxnf]\w*)")
_ARM_NOT_ISSUED = re.compile(r"nop|hint|bti|b|bl|svc|brk|udf")
_ARM_STORE = re.compile(r"st(?:[1-4]\w*|(?P<pair>n?p|l?xp)|[urtlxn]\w*)")


def _arm_times(match: re.Match[str], text: str) -> int:
    """Registers that are loaded or stored."""
    if match["pair"]:
        return 2
    listed = re.match(r"\{([^}]*)\}", text)
    return listed[1].count(",") + 1 if listed else 1


def _arm_memory(mnemonic: str, text: str) -> tuple[int, int, int]:
    if re.fullmatch(r"casp\w*", mnemonic):
        return 2, 2, 2
    if _ARM_ATOMIC.fullmatch(mnemonic):
        return 1, 1, 1
    if match := _ARM_LOAD.fullmatch(mnemonic):
        return _arm_times(match, text), 0, 0
    if match := _ARM_STORE.fullmatch(mnemonic):
        return 0, _arm_times(match, text), 0
    return 0, int(mnemonic == "dc" and text.startswith("zva")), 0


def _arm_branch(mnemonic: str) -> Branch:
    if re.fullmatch(r"b\.\w+|bc\.\w+|t?cbn?z|tbn?z", mnemonic):
        return "conditional"
    if re.fullmatch(r"bra?[ab]?z?", mnemonic):
        return "indirect"
    if re.fullmatch(r"blr\w*", mnemonic):
        return "indirect call"
    if re.fullmatch(r"e?ret\w*", mnemonic):
        return "return"
    found: dict[str, Branch] = {"b": "jump", "bl": "call"}
    return found.get(mnemonic, "")


@cache
def _arm(size: int, mnemonic: str, text: str) -> Instruction:
    """An instruction by capstone's text."""
    result = text.partition(",")[0]
    counted = re.search(r"\.(\d+)[bhsd]", result)
    elements = None if re.search(r"\bza?\d", text) else int(counted[1]) if counted else 1
    row = _flop_row("aarch64", mnemonic)
    if row and row.per == "other element" and elements:  # the operand has them
        lanes = re.search(r"\.(\d+)[bhsd]", text)
        elements = int(lanes[1]) if lanes else 1
    loads, stores, modifies = _arm_memory(mnemonic, text)
    return Instruction(size, _flops("aarch64", mnemonic, elements), loads, stores, modifies, _arm_branch(mnemonic),
                       mnemonic.startswith("prf"), not _ARM_NOT_ISSUED.fullmatch(mnemonic))


# ---- files and bytes ---------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.])(?:0x[0-9a-f]+|\d+)")


class Disassembler:
    """Reads the instructions of a machine.

    :raises ModuleNotFoundError: capstone is not installed
    """

    def __init__(self, machine: Machine) -> None:
        capstone = _capstone()
        if capstone is None:
            raise ModuleNotFoundError(NOT_INSTALLED)
        kind, mode = {"x86-64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
                      "x86": (capstone.CS_ARCH_X86, capstone.CS_MODE_32),
                      "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)}[machine]
        self._reader, self._read = capstone.Cs(kind, mode), _arm if machine == "aarch64" else _x86

    def read(self, code: bytes) -> Instruction | None:
        """The first instruction of some bytes; None: they are none that is known."""
        for _, size, mnemonic, text in self._reader.disasm_lite(code, 0, 1):
            return self._read(size, mnemonic, _NUMBER.sub("0", text))
        return None


class _Object:
    """The code of an ELF file, by the addresses of its program headers; empty if it cannot be read."""

    def __init__(self, path: Path, files: ExitStack) -> None:
        from elftools.common.exceptions import ELFError
        from elftools.construct import ConstructError
        from elftools.elf.elffile import ELFFile
        self._parts: list[tuple[int, int, int]] = []  # address, its end, and where in the file that is
        self._machine: Machine | None = None
        try:
            if not path.is_file():  # to open a pipe would take for ever
                return
            self._file = files.enter_context(path.open("rb"))
            elf = ELFFile(self._file)
            self._machine = _MACHINES.get(elf["e_machine"])
            self._parts = [(s["p_vaddr"], s["p_vaddr"] + s["p_filesz"], s["p_offset"])
                           for s in elf.iter_segments("PT_LOAD")]
        except (ELFError, ConstructError, OSError, ValueError, LookupError):
            return

    def bytes(self, address: int) -> bytes:
        for begin, end, offset in self._parts:
            if begin <= address < end:
                return os.pread(self._file.fileno(), min(_LONGEST, end - address), offset + address - begin)
        return b""

    @lazy
    def disassembler(self) -> Disassembler | None:
        return Disassembler(self._machine) if self._machine else None


class Objects:
    """The instructions of programs and libraries, each read once; a context that keeps their files open."""

    def __init__(self) -> None:
        self._files = ExitStack()
        self._objects: dict[Path, _Object] = {}
        self._known: dict[tuple[Path, int], Instruction | None] = {}

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._files.close()

    def at(self, path: Path, address: int) -> Instruction | None:
        """The instruction at an address.

        :param path: of an ELF file
        :param address: as its program headers number it
        :return: None: there is no such file (code made at run time, the kernel's vdso), no code at the address, or
            none that is known
        :raises ModuleNotFoundError: capstone is not installed
        """
        key = path, address
        if key not in self._known:
            self._known[key] = self._read(path, address)
        return self._known[key]

    def _read(self, path: Path, address: int) -> Instruction | None:
        if path not in self._objects:
            self._objects[path] = _Object(path, self._files)
        found = self._objects[path]
        code = found.bytes(address)
        return found.disassembler.read(code) if code and found.disassembler else None
