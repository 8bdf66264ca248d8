"""Random address ranges: of every size, at places where the rules of debug registers change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.conform.random.source import Source

__all__ = ["BUNDLE", "Limit", "code_limit", "data_limit", "fine_limit", "spoilt"]

Limit = tuple[int, int]
BUNDLE = 16
_WORD = 1 << 64
_REGIONS = (0, 0, 0, 0x2000000000000000, 0x4000000000000000, 0x6000000000000000)
# Sizes from here on are rounded up when they become a double.
_ROUNDED = (54, 55, 56, 57, 60, 62, 63)


def fine_limit(rng: Source, page: int) -> Limit:
    """Return an interval of bundles inside one page; sometimes up to its end, or into the next page."""
    base = rng.choice(_REGIONS) + rng.randrange(1 << rng.randint(1, 24)) * page
    bundles = page // BUNDLE
    first = rng.randrange(bundles - 1)
    inside = rng.randint(first + 1, bundles - 1)
    last = rng.choice([first + 1, first + 2, inside, inside, inside, bundles, bundles + rng.randint(1, bundles // 2)])
    return base + first * BUNDLE, base + last * BUNDLE


def _power(rng: Source, align: int) -> Limit:
    """Return an aligned block of a power of two, or one that is a little off at an end."""
    size = 1 << rng.randint(align.bit_length(), 40)
    start = rng.choice(_REGIONS) + rng.randrange(1 << 12) * size
    end = start + size
    if rng.chance(0.5):
        start, end = rng.choice([(start + align, end), (start, end + align), (start, end - align),
                                 (start + align, end - align), (start + size // 2, end + size // 2)])
    return start, max(end, start + align)


def _any_size(rng: Source, align: int) -> Limit:
    size = rng.randrange(1, 1 << rng.randint(1, 50))
    zeros = ~((1 << rng.randint(0, 20)) - 1)
    start = (rng.choice(_REGIONS) + rng.getrandbits(rng.randint(1, 52))) & zeros
    end = start + (max(size, align) & zeros or align)
    return start // align * align, end // align * align or align


def _huge(rng: Source, align: int) -> Limit:
    """Return an interval with a size at the limits of arithmetic, or at the end of the address space."""
    if rng.chance(0.3):
        size = rng.randrange(1, 1 << rng.randint(1, 20)) * align
        return _WORD - align - size, _WORD - align
    start = rng.choice([0, 0, align, 1 << 50])
    return start, start + (1 << rng.choice(_ROUNDED)) - align * rng.choice([0, 1, 1, 2, 16])


def data_limit(rng: Source, align: int = 1) -> Limit:
    """Return an interval that is not empty, with both ends multiples of ``align``."""
    start, end = rng.choices([_power, _any_size, _huge], [9, 9, 2])[0](rng, align)
    return start % _WORD, min(end, _WORD - align)


def code_limit(rng: Source) -> Limit:
    """Return an interval of bundles."""
    return data_limit(rng, BUNDLE)


def spoilt(rng: Source, limit: Limit) -> Limit:
    """Return the interval turned round, emptied or off its alignment."""
    start, end = limit
    off = rng.choice([1, 4, 8, 15])
    if rng.chance(0.5):
        return rng.choice([(start | off, end), (start, end - off)])
    return rng.choice([(end, start), (start, start), (0, 0), (end, 0)])
