"""The addresses that a set of debug registers covers, as the processor compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.ia64.registers import CoveredRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.ia64.registers import DebugRegister
    from pypfm.ia64.request import AddressRange

__all__ = ["Block", "block_of", "block_size", "blocks", "covered", "covers"]

Block = tuple[int, int]  # first address, address after the last

_MASK_BITS = 56
_LOW = (1 << _MASK_BITS) - 1


def block_of(address: int, mask_word: int) -> Block:
    """Return the aligned block that a pair matches; the low bits of the address do not count."""
    mask = mask_word & _LOW
    start = address & (mask | ~_LOW) & ((1 << 64) - 1)
    return start, start + block_size(mask_word)


def block_size(mask_word: int) -> int:
    """Return the number of bytes that a pair matches."""
    return (1 << _MASK_BITS) - (mask_word & _LOW)


def blocks(registers: Sequence[DebugRegister], fine: bool) -> list[Block]:
    """Return the blocks of addresses that the pairs of one range match.

    In fine mode two pairs in a row hold the first and the last bundle; else each pair is a block.
    """
    if fine:
        return [(first.value, last.value + 16)
                for first, last in zip(registers[0::4], registers[2::4], strict=True)]
    return [block_of(address.value, mask.value)
            for address, mask in zip(registers[0::2], registers[1::2], strict=True)]


def covers(held: Sequence[Block], limit: AddressRange) -> bool:
    """Tell whether blocks together hold every address of a range."""
    at = limit.start
    for start, end in sorted(held):
        if start > at:
            break
        at = max(at, end)
    return at >= limit.end


def covered(held: Sequence[Block], limit: AddressRange) -> CoveredRange:
    """Return the addresses from the first to the last that the blocks of a range hold."""
    start = min(b[0] for b in held)
    end = max(b[1] for b in held)
    return CoveredRange._of(start=start, end=end, start_offset=limit.start - start, end_offset=end - limit.end)
