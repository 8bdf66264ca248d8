"""The golden vectors: worked examples of the specification, with the measured answers.

They stand apart from the 10,000 recorded calls because each says in "about" what it is
an example of; test_mirror_vectors.py replays them through the mirror as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import VECTORS
from dispatching import PMUS, range_output
from pfm3_vectors import read, replay

COUNTS = {"itanium2": 68, "montecito": 86}


def golden(pmu: str) -> list[dict[str, Any]]:
    return list(read(str(VECTORS / f"pfm3_golden_{pmu}.jsonl")))


@pytest.mark.parametrize("pmu", COUNTS)
def test_shared_library_answers_as_measured(pmu: str, libpfm3: Path) -> None:
    answers = list(replay(str(libpfm3), golden(pmu)))
    assert len(answers) == COUNTS[pmu]
    assert [(v["id"], v["about"], got, v["expect"]) for v, got in answers if got != v["expect"]] == []


LEAVING = [v for pmu in COUNTS for v in golden(pmu) if "leaves" in v]


@pytest.mark.parametrize("vector", LEAVING, ids=[v["id"] for v in LEAVING])
def test_failing_call_leaves_its_debug_registers(vector: dict[str, Any]) -> None:
    """An error found after the ranges are covered does not take the registers back."""
    pmu = PMUS[vector["pmu"]]
    pmu.select()
    answer = pmu.replay(vector)
    assert answer.ret == vector["expect"]["ret"]
    assert {name: range_output(getattr(answer, name)) for name in vector["leaves"]} == vector["leaves"]


def test_two_vectors_leave_registers() -> None:
    assert [v["about"].split(" irange")[0] for v in LEAVING] == ["IA64_INST_RETIRED alone,", "no events"]
