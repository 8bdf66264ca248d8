"""Many calls in one process: a library that is right at first has to stay so, and may not use more and more memory."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from random import Random
from typing import TYPE_CHECKING, cast

from pypfm.conform.model import base
from pypfm.conform.vectors import TAGS, environment, optional_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.conform.model import Json, Vector

__all__ = ["CALLS", "in_one_process"]

#: Calls of one process.
CALLS = 12_000
_SEED = 31
_BETWEEN = 3  # calls before each step
# Functions of which there are steps only.
_ALWAYS = {"pfm_strerror", "pfm_get_pmu_name_bytype"}  # in any state and environment
_STEADY = {"pfm3": _ALWAYS,
           "pfm4": {*_ALWAYS, "pfm_get_version", "pfm_pmu_validate", "pfm_get_event_encoding",
                    "pfm_get_perf_event_encoding"}}
_OF_ITS_PROCESS = re.compile('"(value"|=)')  # numbers that a step before has returned
_ENVIRONMENTS: dict[str, list[dict[str, str]]] = {"pfm3": [{}], "pfm4": [{}, {"LIBPFM_ENCODE_INACTIVE": "1"}]}


def in_one_process(api: str, vectors: Sequence[Vector]) -> Iterator[Vector]:
    """Yield calls that are made in a row, in a seeded order; those of libpfm 3 on one PMU after the other.

    :param api: pfm3, pfm3-manual or pfm4
    :param vectors: to choose among; sequences in steps
    :return: vectors with ``long``, which call of the process each is
    """
    for env in _ENVIRONMENTS[base(api)]:
        some = [v for v in vectors if _suits(v) and environment(v) == env]
        others = [*_steady(base(api), vectors, env)]
        chosen: list[Vector] = []
        turns = Random(_SEED)
        while some and len(chosen) < CALLS:
            chosen += [*turns.choices(some, k=_BETWEEN), *(turns.choice(others) if others else ())]
        yield from (vector | {"long": n, "env": cast("Json", env)} if vector["kind"] == "step" else vector | {"long": n}
                    for n, vector in enumerate(chosen[:CALLS], 1))


def _suits(vector: Vector) -> bool:
    """Tell whether a call leaves the library as it was, and can be made at any time."""
    return (vector["kind"] in ("encode", "info") and not optional_of(vector)) or vector.get("pmu") in TAGS


def _steady(api: str, vectors: Sequence[Vector], env: dict[str, str]) -> Iterator[list[Vector]]:
    """Yield steps that return the same at any time after initialisation, each with those that free its strings."""
    for n, step in enumerate(vectors):
        if (step["kind"] == "step" and step.get("call") in _STEADY[api]
                and (step["call"] in _ALWAYS or (step["state"] == "ready" and environment(step) == env))
                and not {"as", "reference"} & step.keys()
                and not _OF_ITS_PROCESS.search(json.dumps([step["args"], step["expect"]]))):
            yield [step, *takewhile(lambda later: "free" in later, vectors[n + 1:])]
