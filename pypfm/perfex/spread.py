"""The counts of one event in several runs: their mean, and how far they are apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Spread", "about", "precise", "short"]

# Numbers from here on are printed with one decimal, and with none.
_ONE, _NONE = 1e3, 1e9
_LARGE = 1e12


def short(value: float) -> str:
    """Write a mean or a deviation in few digits, never with an exponent."""
    size = abs(value)
    text = (f"{value:.0f}" if size >= _NONE else f"{value:.1f}" if size >= _ONE else f"{value:.4g}" if size >= 1
            else f"{value:.4f}")
    return text.rstrip("0").rstrip(".") if "." in text else text


def about(value: float) -> str:
    """Write a number computed from estimates: ~ and two digits, without an exponent."""
    if isinstance(value, int) and abs(value) < 100:
        return f"~{value}"
    return f"~{Decimal(f'{value:.1e}'):f}"


def precise(value: float) -> str:
    """Write a mean with three decimals, unless it is too large for its column."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if value < _LARGE else f"{value:.0f}"


@dataclass(frozen=True)
class Spread:
    """How the counts of one event are spread over runs.

    :ivar runs: in how many runs it was counted
    :ivar deviation: standard deviation of one run, estimated from all (divided by their number less 1); None: one run
    :ivar counts: of each run, None: not available there; empty: they are not known
    """

    runs: int
    mean: float
    deviation: float | None
    minimum: int
    maximum: int
    counts: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, counts: Sequence[int | None]) -> Spread | None:
        """Return the spread of these counts; None: none is available."""
        known = [count for count in counts if count is not None]
        if not known:
            return None
        runs, total = len(known), sum(known)
        squares = runs * sum(n * n for n in known) - total * total  # of whole numbers, so that nothing is lost
        deviation = math.sqrt(squares / (runs * (runs - 1))) if runs > 1 else None
        return cls(runs, total / runs, deviation, min(known), max(known), tuple(counts))

    @classmethod
    def same(cls, count: int, runs: int = 1) -> Spread:
        """Return the spread of runs which all have the same count."""
        return cls(runs, float(count), 0.0 if runs > 1 else None, count, count)

    @property
    def identical(self) -> bool:
        """Tell whether all runs have the same count; one run always does."""
        return self.minimum == self.maximum

    @property
    def error(self) -> float | None:
        """Return the standard error of the mean, in percent of it, or None for one run."""
        if self.deviation is None:
            return None
        return 100 * self.deviation / math.sqrt(self.runs) / self.mean if self.mean else 0.0
