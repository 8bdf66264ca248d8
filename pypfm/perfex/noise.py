"""A test whether two means differ by more than noise: Welch's t-test, and Holm's correction for many events.

The test asks how often runs of one and the same program would have means as far apart as these.  It takes the
counts of a side for independent and roughly normal, with a deviation of its own for each side.  It knows nothing of
what changes between the two series as a whole, such as the clock or the load of the machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.perfex.spread import Spread

__all__ = ["holm", "student", "welch"]

_STEPS = 10000
_PRECISE = 1e-15
_TINY = 1e-300  # in the place of 0 in a denominator


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function from its front (Lentz).

    Source: DLMF 8.17.22.
    """
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0) or _TINY)
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1.0 / (1.0 + term * d or _TINY)
            c = 1.0 + term / c or _TINY
            step = c * d
            value *= step
        if abs(step - 1.0) < _PRECISE:
            break
    return value


def _beta(a: float, b: float, x: float, y: float) -> float:
    """Return the regularized incomplete beta function, 0 < x, y < 1; the fraction is used where it converges fast.

    :param y: 1 - x, which cannot be had of an x that is nearly 1
    """
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta(b, a, y, x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    return math.exp(front) * _fraction(a, b, x) / a


def student(t: float, freedom: float) -> float:
    """Return the probability that Student's t is this far from 0, on either side (two-sided p).

    :param freedom: degrees of freedom, not necessarily a whole number
    """
    whole = freedom + t * t
    x, y = freedom / whole, t * t / whole
    return 1.0 if y <= 0.0 else 0.0 if x <= 0.0 else min(1.0, _beta(freedom / 2, 0.5, x, y))


def welch(first: Spread, second: Spread) -> float:
    """Return the probability of means this far apart, if they differ by noise only; both have two runs or more.

    Where the counts of each side are all the same, there is no deviation to test with.  Then it is the share of the
    ways to deal out the runs to two sides which part them as clearly: 1/3 for two runs each, 1/126 for five.
    """
    parts = [(s.deviation or 0.0) ** 2 / s.runs for s in (first, second)]
    both = sum(parts)
    if not both:
        ways = math.comb(first.runs + second.runs, first.runs)
        return 1.0 if first.mean == second.mean else min(1.0, 2 / ways)
    shares = [part / both for part in parts]  # of which the squares cannot overflow, nor become 0
    freedom = 1 / sum(share * share / (s.runs - 1) for share, s in zip(shares, (first, second), strict=True))
    return student((second.mean - first.mean) / math.sqrt(both), freedom)


def holm(values: Sequence[float]) -> list[float]:
    """Correct p for their number, so that a limit holds for the chance of any wrong verdict among all events.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    corrected, least = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        least = max(least, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = least
    return corrected
