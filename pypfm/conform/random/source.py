"""A repeatable source of randomness, which the generators of random calls share."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Source", "mixed_case", "mutated", "source"]

T = TypeVar("T")


class Source(Random):
    """A source of random choices; made by `source`."""

    def chance(self, probability: float) -> bool:
        """Return True with a probability of 0 to 1."""
        return self.random() < probability

    def some(self, values: Sequence[T], most: int) -> list[T]:
        """Return 1 to ``most`` draws, with repetitions; none if there are no values."""
        return [self.choice(values) for _ in range(self.randint(1, most))] if values else []


def source(pmu: str, seed: int) -> Source:
    """Return a source that gives the same draws for the same PMU and seed, on every version of Python."""
    return Source(int.from_bytes(f"{pmu} {seed}".encode(), "big"))


def mixed_case(rng: Random, text: str) -> str:
    """Return the text as it is, or in other letters."""
    choice = rng.random()
    if choice < 0.7:
        return text
    if choice < 0.85:
        return text.lower()
    return "".join(rng.choice((c.lower(), c.upper())) for c in text)


def mutated(rng: Random, text: str) -> str:
    """Return the string with one or two characters changed."""
    for _ in range(rng.randint(1, 2)):
        at, new = rng.randint(0, len(text)), rng.choice(":.=, \t\n0x+-;%\x01\x80\xffAu19")
        text = rng.choice([text[:at] + new + text[at:], text[:at] + text[at + 1:], text[:at] + new + text[at + 1:]])
    return text
