"""The processor that is simulated (--cache), as both simulations take it (csrc/perfex/tool/r10k.h)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pypfm.errors import shown
from pypfm.perfex import host
from pypfm.perfex.host import Shape
from pypfm.perfex.model import Cpu, PerfexValueError

__all__ = ["Machine", "machine"]

_KIB = 1 << 10
_WAYS, _LINE = 8, 64  # of a cache of this machine, where nobody says
_MOST_WAYS, _MOST_TLB, _LARGEST = 64, 4096, 4 << 30
_SYNTAX = ("r10000, host, host:L3, or parts with colons between them, such as L1=32k,8,64:L2=1m,16,64:TLB=64,4k"
           " (size, ways and line of L1, L1I, L1D and L2; entries of the TLB and size of a page)")


@dataclass(frozen=True)
class Machine:
    """A processor.

    :ivar l1i, l1d: its primary caches
    :ivar l2: the cache that these ask
    :ivar page: bytes of a page
    :ivar pages: how many an entry of the TLB maps
    :ivar tlb: entries of the TLB
    :ivar predictor: counters of its branch predictor
    :ivar name: whose it is, for the report; "": an R10000's
    """

    l1i: Shape
    l1d: Shape
    l2: Shape
    page: int = 16 * _KIB
    pages: int = 2
    tlb: int = 64
    predictor: int = 512
    name: str = ""

    def option(self, seed: int = 0) -> str:
        """Return the tool's option --machine."""
        return ",".join(map(str, (*self.l1i, *self.l1d, *self.l2, self.page, self.pages, self.tlb, self.predictor,
                                  seed)))

    @property
    def lines(self) -> tuple[int, int]:
        """Return the bytes of a line of the primary data cache and of the secondary cache."""
        return self.l1d.line, self.l2.line

    def __str__(self) -> str:
        caches = ", ".join(f"{name} {_short(shape.size)} {shape.ways}-way, lines of {shape.line}" for name, shape in (
            ("L1I", self.l1i), ("L1D", self.l1d), ("L2", self.l2)))
        return f"{caches}; TLB of {self.tlb} entries, pages of {_short(self.page)}"


def _short(size: int) -> str:
    for shift, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if not size & ((1 << shift) - 1):
            return f"{size >> shift} {unit}"
    return f"{size} bytes"


def machine(text: str, cpu: Cpu, l2: int) -> Machine:
    """Return the processor that --cache names.

    :param cpu: whose branch predictor it has
    :param l2: size of the secondary cache where nothing else is said
    :raises PerfexValueError: it names none; the message says what can be given
    """
    base = Machine(Shape(32 * _KIB, 2, 64), Shape(32 * _KIB, 2, 32), Shape(l2, 2, 128),
                   predictor=2048 if cpu == "r12000" else 512)
    if text == "r10000":
        return base
    made = _of_host(text, base) if text.partition(":")[0] == "host" else _of_parts(text, base)
    for name, shape in (("L1I", made.l1i), ("L1D", made.l1d), ("L2", made.l2)):
        if shape.size % (shape.ways * shape.line):
            raise _wrong(f"{name}: {shape.size} bytes are no multiple of {shape.ways} ways of lines of {shape.line}")
    if made.l2.line < max(made.l1i.line, made.l1d.line):
        raise _wrong(f"a line of L2 has {made.l2.line} bytes, which is less than one of L1")
    return made


def _wrong(why: str) -> PerfexValueError:
    return PerfexValueError(f"--cache: {why}; {_SYNTAX}")


# ---- this machine's ----------------------------------------------------------------------

def _of_host(text: str, base: Machine) -> Machine:
    """Return the caches of the processor that this runs on."""
    if text not in ("host", "host:L2", "host:L3"):
        raise _wrong(f"{shown(text)} is none")
    found = host.shapes()
    level = int(text[6:] or 2)

    def shape(wanted: int, kind: str) -> Shape:
        known = found.get((wanted, kind)) or found.get((wanted, "Unified"))
        if known is None or not known.size:
            raise PerfexValueError(f"--cache {text}: this machine does not say which L{wanted} it has"
                                   f" ({host.CACHES}); {_SYNTAX}")
        line = known.line or _LINE
        ways = known.ways if 0 < known.ways <= _MOST_WAYS else _WAYS
        return Shape(max(known.size // (ways * line), 1) * ways * line, ways, line)

    return replace(base, l1i=shape(1, "Instruction"), l1d=shape(1, "Data"), l2=shape(level, "Unified"), page=4 * _KIB,
                   pages=1, name=f"this machine's, L{level} in the place of L2" if level > 2 else "this machine's")


# ---- parts -------------------------------------------------------------------------------

def _of_parts(text: str, base: Machine) -> Machine:
    made = replace(base, name="as given")
    given: set[str] = set()
    for part in text.split(":"):
        name, _, values = part.partition("=")
        kinds = {"L1I", "L1D"} if name == "L1" else {name}
        if twice := given & kinds:
            raise _wrong(f"{shown(part)}: {' and '.join(sorted(twice))} a second time; each is given once, and L1 is"
                         " L1I and L1D")
        given |= kinds
        if name == "TLB":
            made = _with_tlb(made, values)
        elif name in ("L1", "L1I", "L1D", "L2"):
            shape = _shape(part, values)
            made = replace(made, l1i=shape if name in ("L1", "L1I") else made.l1i,
                           l1d=shape if name in ("L1", "L1D") else made.l1d, l2=shape if name == "L2" else made.l2)
        else:
            raise _wrong(f"{shown(part)} is none")
    return made


def _number(text: str) -> int:
    """Parse a number, with k, m or g; -1: it is none."""
    match = re.fullmatch(r"([0-9]{1,12})([kmg]?)", text)
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]] if match else -1


def _shape(part: str, values: str) -> Shape:
    numbers = [*map(_number, values.split(","))]
    if len(numbers) != 3 or min(numbers) < 1:
        raise _wrong(f"{shown(part)}: size, ways and line are given, such as 32k,8,64")
    shape = Shape(*numbers)
    if shape.size > _LARGEST or shape.ways > _MOST_WAYS:
        raise _wrong(f"{shown(part)}: a cache has at most 4g, and {_MOST_WAYS} ways")
    if not 16 <= shape.line <= 4096 or shape.line & (shape.line - 1):
        raise _wrong(f"{shown(part)}: a line has 16 to 4096 bytes, a power of two")
    return shape


def _with_tlb(made: Machine, values: str) -> Machine:
    numbers = [*map(_number, values.split(","))]
    if len(numbers) != 2 or not 1 <= numbers[0] <= _MOST_TLB:
        raise _wrong(f"TLB={shown(values)}: entries, {_MOST_TLB} at most, and the size of a page, such as 64,4k")
    if not 4 * _KIB <= numbers[1] <= 1 << 30 or numbers[1] & (numbers[1] - 1):
        raise _wrong(f"TLB={shown(values)}: a page has 4k to 1g bytes, a power of two")
    return replace(made, tlb=numbers[0], page=numbers[1], pages=1)
