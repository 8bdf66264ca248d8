"""Runs of adjacent numbers, and how they are written."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["runs", "written"]


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last of each run of adjacent numbers, in ascending order."""
    groups = groupby(enumerate(sorted(set(numbers))), key=lambda pair: pair[1] - pair[0])
    found = [[number for _, number in group] for _, group in groups]
    return [(run[0], run[-1]) for run in found]


def written(numbers: Iterable[int], between: str = ",") -> str:
    """Write numbers as 0-15,32.

    :param between: what stands between two runs
    """
    return between.join(str(first) if first == last else f"{first}-{last}" for first, last in runs(numbers))
