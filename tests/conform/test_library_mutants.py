"""Mutants of a library: for each exported function ones that abort there, return 0 or the wrong error, or write a wrong field.

Each is run with the calls of that function only, and has to be a finding. What none finds is in docs/guides/conformance.rst, and here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from forwarder import MUTANT, forwarder
from pypfm.config import LIBRARIES
from pypfm.conform import runner
from pypfm.conform.checks.symbols import exported
from pypfm.conform.model import Vector
from pypfm.conform.vectors import TAGS, in_steps, recorded
from pypfm.conform.worker.library import api_module

pytestmark = pytest.mark.long

# What no call shows, and why.
MISSED: dict[str, set[str]] = {"pfm3": {
    "pfm_get_event_description f 1 1 -1", "pfm_get_event_mask_description f 1 2 -1",  # the wording of a description is free
    "pfm_get_version d 1 0 0",  # it fails for NULL only
    "pfm_mont_support_all r 0",  # it is 0 for every event
    "pfm_set_options r 0",  # what is printed when it is asked for is not compared
}, "pfm4": set()}
_SEQUENCES = 6  # of a function that are run: the first ones that have it
_SINGLE = 40


@cache
def functions(api: str) -> list[str]:
    return sorted(name for name, kind in exported(LIBRARIES[api].path).items() if kind == "function" and not name.startswith("__"))


@cache
def whole(api: str) -> list[Vector]:
    return recorded(api)


@cache
def steps(api: str) -> list[Vector]:
    return in_steps(v for v in whole(api) if v["kind"] == "sequence")


def outputs(api: str, function: str) -> Iterator[tuple[int, int, int]]:
    """What a function writes: the number of the argument, offset and size of each member that some step shows written."""
    ffi, lib = api_module(api)
    kinds = ffi.typeof(getattr(lib, function)).args
    seen = set()
    for step in steps(api):
        if step.get("call") != function or not step["expect"] or step["expect"].get("ret", 0) != 0:
            continue
        for n, arg in enumerate(step["args"]):
            written = step["expect"].get(arg["out"]) if isinstance(arg, dict) and "out" in arg else None
            ctype = ffi.typeof(arg["type"]) if written is not None and "type" in arg else getattr(kinds[n], "item", None) if written is not None else None
            if ctype is None:
                continue
            if ctype.kind == "struct":
                members = dict(ctype.fields)
                seen |= {(n, members[name].offset, 1) for name in written if members[name].bitsize < 0 and members[name].type.kind != "pointer"}
                seen |= {(n, members[name].offset, 1) for name in written if members[name].bitshift == 0}
            elif ctype.kind == "pointer":
                seen.add((n, -1, 1))
            else:
                seen.add((n, 0, 1))
    yield from sorted(seen)


def mutants(api: str, function: str) -> Iterator[str]:
    """The mutants of a function, as `forwarder` takes them."""
    ffi, lib = api_module(api)
    yield f"{function} a"
    yield f"{function} r 0"
    if ffi.typeof(getattr(lib, function)).result.cname != "void":
        yield f"{function} e -7"  # out of memory: right nowhere
    for arg, offset, size in outputs(api, function):
        yield f"{function} f {size} {arg} {offset}"
        yield f"{function} d {size} {arg} {max(offset, 0)}"


@cache
def calls(api: str, function: str) -> list[Vector]:
    """The recorded calls of a function: sequences that have it, and single ones."""
    sequences = [v for v in whole(api) if v["kind"] == "sequence" and any(step.get("call") == function for step in v["steps"])]
    of_kind = {"pfm_dispatch_events": "dispatch", "pfm_get_os_event_encoding": "encode"}.get(function, "")
    single = [v for v in whole(api) if v.get("call") == function or v["kind"] == of_kind or (
        v["kind"] in ("query", "dispatch") and 1 in (v["expect"].get(function), function == f"pfm_{TAGS.get(v['pmu'])}_irange_is_fine" and v["expect"].get("fine")))]
    assert sequences or single
    return [*sequences[:: max(1, len(sequences) // _SEQUENCES)], *single[:_SINGLE]]


@pytest.mark.parametrize("function", functions("pfm4"))
def test_mutants_of_libpfm_4(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missed("pfm4", function, monkeypatch) == {m for m in MISSED["pfm4"] if m.split()[0] == function}


@pytest.mark.parametrize("function", functions("pfm3"))
def test_mutants_of_libpfm_3(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missed("pfm3", function, monkeypatch) == {m for m in MISSED["pfm3"] if m.split()[0] == function}


def missed(api: str, function: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The mutants of a function that no call finds."""
    found = set()
    for mutant in mutants(api, function):
        monkeypatch.setenv(MUTANT, mutant)
        if not runner.run(str(forwarder(api)), vectors=calls(api, function), timeout=5).findings:
            found.add(mutant)
    return found
