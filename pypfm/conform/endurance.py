"""Many calls in one process: a library that is right at first has to stay so, and may not use more and more memory."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from pypfm.conform.model import base
from pypfm.conform.vectors import TAGS, environment, optional_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.conform.model import Vector

__all__ = ["CALLS", "in_one_process"]

#: Calls of one process.
CALLS = 12_000
_SEED = 31
_ENVIRONMENTS: dict[str, list[dict[str, str]]] = {"pfm3": [{}], "pfm4": [{}, {"LIBPFM_ENCODE_INACTIVE": "1"}]}


def in_one_process(api: str, vectors: Sequence[Vector]) -> Iterator[Vector]:
    """Yield calls that are made in a row, in a seeded order; those of libpfm 3 on one PMU after the other.

    :param api: pfm3, pfm3-manual or pfm4
    :param vectors: to choose among
    :return: vectors with ``long``, which call of the process each is
    """
    for env in _ENVIRONMENTS[base(api)]:
        some = [v for v in vectors if _suits(v) and environment(v) == env]
        chosen = Random(_SEED).choices(some, k=CALLS) if some else []
        yield from (vector | {"long": n} for n, vector in enumerate(chosen, 1))


def _suits(vector: Vector) -> bool:
    """Tell whether a call leaves the library as it was, and can be made at any time."""
    return (vector["kind"] in ("encode", "info") and not optional_of(vector)) or vector.get("pmu") in TAGS
