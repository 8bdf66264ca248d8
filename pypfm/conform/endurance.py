"""Calls once more: many in one process, and some with messages.

A library that is right at first has to stay so, and may not use more and more memory; one that was asked for messages
has to return what it returns without them.
"""

from __future__ import annotations

import json
import re
from itertools import chain, takewhile
from random import Random
from typing import TYPE_CHECKING, cast

from pypfm.conform.model import base
from pypfm.conform.vectors import SPEAKING, TAGS, environment, function_of, optional_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.conform.model import Json, Vector

__all__ = ["CALLS", "in_one_process", "with_messages"]

#: Calls of one process.
CALLS = 28_000
_SEED = 31
_MAIN = {"pfm3": "pfm_dispatch_events", "pfm4": "pfm_get_os_event_encoding"}
_MESSAGES = 200  # calls with each variable
_PAIRS = 30  # of pfm_terminate() and pfm_initialize()
# Functions of which there are steps only.
_ALWAYS = {"pfm_strerror", "pfm_get_pmu_name_bytype"}  # in any state and environment
_STEADY = {"pfm3": _ALWAYS,
           "pfm4": {*_ALWAYS, "pfm_get_version", "pfm_pmu_validate", "pfm_find_event", "pfm_get_event_encoding",
                    "pfm_get_perf_event_encoding"}}
_OF_ITS_PROCESS = re.compile('"(value"|=)')  # numbers that a step before has returned
_ENVIRONMENTS: dict[str, list[dict[str, str]]] = {"pfm3": [{}], "pfm4": [{}, {"LIBPFM_ENCODE_INACTIVE": "1"}]}


def in_one_process(api: str, vectors: Sequence[Vector]) -> Iterator[Vector]:
    """Yield calls that are made in a row, in a seeded order; those of libpfm 3 on one PMU after the other.

    Every second call is of the main function; the other functions share the rest, and come once more at the end.

    :param api: pfm3, pfm3-manual or pfm4
    :param vectors: to choose among; sequences in steps
    :return: vectors with ``long``, which call of the process each is
    """
    steps = {(v.get("call"), v["state"]): v for v in reversed(vectors) if v["kind"] == "step"}
    again = [steps[step] for step in (("pfm_terminate", "ready"), ("pfm_initialize", "after")) if step in steps]
    for env in _ENVIRONMENTS[base(api)]:
        by_function: dict[str, list[list[Vector]]] = {}
        single = ([v] for v in vectors if _suits(v) and environment(v) == env)
        for calls in chain(single, _steady(base(api), vectors, env)):
            by_function.setdefault(function_of(calls[0]), []).append(calls)
        if main := by_function.pop(_MAIN[base(api)], []):
            yield from (vector | {"long": n, "env": cast("Json", env)} if vector["kind"] == "step" else
                        vector | {"long": n} for n, vector in enumerate(_row(main, by_function, again), 1))


def with_messages(vectors: Sequence[Vector]) -> Iterator[Vector]:
    """Yield some of the calls with the variables that ask a library for messages: what they return is the same."""
    single = [v for v in vectors if _suits(v) and not environment(v)]
    for name in SPEAKING:
        for vector in Random(_SEED).sample(single, min(len(single), _MESSAGES)):
            yield vector | {"env": {name: "1"}}


def _row(main: list[list[Vector]], others: dict[str, list[list[Vector]]], pair: list[Vector]) -> list[Vector]:
    """Choose the calls of a process, a call of ``main`` first; ``pair`` terminates the library and initialises it."""
    turns = Random(_SEED)
    names = [*others]
    end = [call for name in names for call in turns.choice(others[name])] + turns.choice(main)
    chosen: list[Vector] = []
    pairs = 0
    while len(chosen) < CALLS - len(end):
        chosen += turns.choice(main)
        more = turns.choice(others[turns.choice(names)]) if names else []
        if pair and len(chosen) > (pairs + 1) * CALLS // (_PAIRS + 1):
            more, pairs = pair, pairs + 1
        chosen += more if len(chosen) + len(more) <= CALLS - len(end) else []
    return chosen + end


def _suits(vector: Vector) -> bool:
    """Tell whether a call leaves the library as it was, and can be made at any time."""
    return (vector["kind"] in ("encode", "info") and not optional_of(vector)) or vector.get("pmu") in TAGS


def _steady(api: str, vectors: Sequence[Vector], env: dict[str, str]) -> Iterator[list[Vector]]:
    """Yield steps that return the same at any time after initialisation, each with those that free its strings."""
    for n, step in enumerate(vectors):
        if (step["kind"] == "step" and step.get("call") in _STEADY[api]
                and (step["call"] in _ALWAYS or (step["state"] == "ready" and environment(step) == env))
                and "reference" not in step and ("as" not in step or '"ret": -' in json.dumps(step["expect"]))
                and not _OF_ITS_PROCESS.search(json.dumps([step["args"], step["expect"]]))):
            yield [step, *takewhile(lambda later: "free" in later, vectors[n + 1:])]
