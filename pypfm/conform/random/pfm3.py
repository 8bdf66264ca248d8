"""Random calls of libpfm 3, the same ones for the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.conform.random.calls import Calls
from pypfm.conform.random.requests import Requests
from pypfm.conform.random.source import source
from pypfm.ia64.pmu import pmu_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.conform.model import Vector

__all__ = ["vectors"]

# Of ten calls: requests, other functions, and the rest queries about events.
_REQUESTS, _CALLS = 6, 3


def vectors(pmu: str, count: int, seed: int) -> Iterator[Vector]:
    """Yield random calls without answers: requests, calls of the other functions, queries about events.

    :param pmu: itanium2, montecito, itanium or gen_ia64
    :param count: how many
    :param seed: which ones; the same seed gives the same calls on every machine
    :returns: vectors (see `pypfm.conform.model`) with ids, without ``expect``
    """
    model, rng = pmu_of(pmu), source(pmu, seed)
    requests, calls = Requests(model, rng), Calls(model, rng)
    called = 0
    for n in range(count):
        place = n % 10
        vector: Vector = {"id": f"random-{pmu}-{seed}-{n:05}"}
        if place < _REQUESTS:
            vector |= {"kind": "dispatch"} | requests.vector()
        elif place < _REQUESTS + _CALLS:
            vector |= {"kind": "call"} | calls.vector(called)
            called += 1
        else:
            vector |= {"kind": "query", "pmu": pmu, "index": calls.index()}
        yield vector
