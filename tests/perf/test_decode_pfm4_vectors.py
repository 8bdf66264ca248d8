"""Every recorded successful encoding of libpfm 4: from its codes to its event, and to the same codes."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import VECTORS
from pfm4_vectors import read
from pypfm import Goldmont, Perf, perf
from pypfm.decoding import decode

EVENTS = {202: Goldmont().events, 51: Perf().events}  # by number of the PMU in an index
RAW = 114


def given(vector: dict[str, Any]) -> dict[str, int]:
    """The values of a recorded answer by name."""
    expect = vector["expect"]
    if vector["os"] == "none":
        return {name: int(c, 16) for name, c in zip(("code", "offcore"), expect["codes"], strict=False)}
    flags = int(expect["flags"], 16)
    config1 = {"config1": int(expect["config1"], 16)} if expect["config1"] != "0x0" else {}
    return {"type": expect["type"], "config": int(expect["config"], 16), **config1,
            "exclude_user": flags >> 4 & 1, "exclude_kernel": flags >> 5 & 1, "exclude_hv": flags >> 6 & 1}


def decoded(vector: dict[str, Any]) -> perf.Decoded:
    return decode("glm" if vector["expect"]["idx"] >> 21 == 202 else "perf", given(vector))


@pytest.fixture(scope="module")
def vectors() -> list[tuple[dict[str, Any], perf.Decoded]]:
    found = [v for name in ("encode", "raw") for v in read(str(VECTORS / f"pfm4_{name}.jsonl.bz2"))
             if v["expect"]["ret"] == 0]
    return [(v, decoded(v)) for v in found]


Vectors = list[tuple[dict[str, Any], perf.Decoded]]


def original(vector: dict[str, Any]) -> set[str]:
    """The event that the library answers with, and the name that was asked for.

    An alias with a raw unit mask is its target with another meaning: only the target counts.
    """
    pmu, index = vector["expect"]["idx"] >> 21, vector["expect"]["idx"] & (1 << 21) - 1
    asked = vector["event"].partition("::")[2] or vector["event"]
    name, *tokens = asked.replace(".", ":").split(":")
    if pmu == RAW:
        return {f"R{int(name[1:], 16):X}"}
    raw = any(t.lower().startswith("0x") for t in tokens)
    return {EVENTS[pmu][index].name.upper()} | (set() if raw else {name.upper()})


def test_the_original_event_is_among_the_candidates(vectors: Vectors) -> None:
    missing = [(v["event"], d.candidates, d.notes) for v, d in vectors
               if not original(v) <= {n.upper() for c in d.candidates for n in c.names}]
    assert missing[:3] == []
    assert len(vectors) == 2703 + 51


def test_encoding_a_candidate_gives_the_same_codes(vectors: Vectors) -> None:
    different = []
    for vector, result in vectors:
        expect = vector["expect"]
        for candidate in result.candidates:
            made = result.encode(candidate)
            if vector["os"] == "none":
                same = [hex(c) for c in made.codes] == expect["codes"]
            else:
                same = (made.attr["type"], hex(made.attr["config"]), hex(made.attr.get("config1", 0))) == (
                    expect["type"], expect["config"], expect["config1"])
            if not same or made.string != candidate.string:
                different.append((vector["event"], candidate))
    assert different[:3] == []


def test_the_recorded_string_is_the_candidates_string(vectors: Vectors, capsys: pytest.CaptureFixture[str]) -> None:
    """Several strings mean one code: unit masks repeated, as numbers, or written out for their alias."""
    others = []
    asked = [(v, d) for v, d in vectors if v["os"] == "none" and v["expect"]["fstr"]]
    for vector, result in asked:
        if vector["expect"]["fstr"] not in [c.string for c in result.candidates]:
            others.append((vector["event"], vector["expect"]["fstr"]))
    with capsys.disabled():
        print(f"\n{len(others)} of {len(asked)} recorded strings have a candidate in other words", end=" ")
    for event, string in others:
        tokens = [t for t in event.upper().replace(".", ":").split(":") if t]
        repeated = len(set(tokens)) != len(tokens)
        assert "0X" in event.upper() or repeated or "L2_MISS_SNP_ANY" in string, (event, string)
    assert len(others) < 40
