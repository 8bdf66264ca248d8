"""The cover of address ranges by pairs of debug registers, written from the specification, apart from the C code."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

WORD = 1 << 64
MASK_BITS = 56
Limit = tuple[int, int]


def exponent(x: int) -> int:
    """FLS: the exponent of x as a double."""
    return math.frexp(float(x))[1] - 1


@dataclass
class Cover:
    """Registers of one call: (address, log2 of the size), and the offsets of each interval."""

    written: list[tuple[int, int]] = field(default_factory=list)
    infos: list[tuple[int, int]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)  # pairs that each interval started with

    def cover(self, start: int, end: int, count: int, right: bool) -> None:
        if count < 1 or end <= start:
            return
        power = exponent(end - start)
        cut = end >> power << power
        if (cut - (1 << power)) % WORD >= start:
            at = (cut - (1 << power)) % WORD
        else:
            power -= 1
            at = cut if (cut + (1 << power)) % WORD <= end else (cut - (1 << power)) % WORD
        before, behind = (at - start) % WORD, (end - at - (1 << power)) % WORD
        if count == 1 and not right and before:
            power += 1
            at = (end - (1 << power)) % WORD
        elif count == 1 and right and behind:
            power += 1
            at = start
        before, behind = (at - start) % WORD, (end - at - (1 << power)) % WORD
        self.written.append((at, power))
        rest = count - 1
        lefts = rest // 2 + (rest % 2 if before > behind else 0)
        rights = rest // 2 + (0 if before > behind else rest % 2)
        if rest:
            self.cover(start, at, lefts, False)
            self.cover((at + (1 << power)) % WORD, end, rights, True)

    def offsets(self, asked: Limit, first: int) -> None:
        start, end = asked
        before = behind = 0
        for at, power in self.written[first:]:
            last = (at + ((1 << power) if power < MASK_BITS else 0)) % WORD
            if at <= start:
                before = start - at
            if last >= end:
                behind = last - end
        self.infos.append((before, behind))

    def all(self, asked: Iterable[Limit]) -> bool:
        """Cover intervals in order; False if no pair was left for one."""
        for interval in asked:
            first = len(self.written)
            if first == 4:
                return False
            self.left.append(4 - first)
            self.cover(*interval, 4 - first, False)
            self.offsets(interval, first)
        return True


def model(asked: Iterable[Limit]) -> Cover | None:
    """The expected answer, or None for "too many"."""
    expected = Cover()
    return expected if expected.all(asked) else None


def fully_covered(asked: Limit, left: int) -> bool:
    """Whether the rules cover an interval of less than 2^54 - 1 bytes, given the pairs left for it.

    With three pairs or more they always do: the largest aligned block inside, and one
    pair at least for what remains on either side.  With two, only one side gets a pair.
    With one, the block has to fit, or its enlargement to end at a multiple of its size.
    """
    start, end = asked
    size = end - start
    if left >= 3:
        return True
    power = size.bit_length() - 1
    biggest = next(p for p in (power, power - 1) if _aligned_inside(start, end, p) is not None)
    at = _aligned_inside(start, end, biggest)
    assert at is not None
    before, behind = at - start, end - at - (1 << biggest)
    if left == 2:
        return before == 0 or behind == 0
    if before == 0:
        return behind == 0
    return end % (2 << biggest) == 0 and size <= 2 << biggest


def _aligned_inside(start: int, end: int, power: int) -> int | None:
    """The last aligned block of 2^power bytes inside an interval."""
    at = (end >> power << power) - (1 << power)
    return at if at >= start else None
