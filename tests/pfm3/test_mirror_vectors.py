"""Recorded and golden answers again, of each PMU, through the cffi mirror.

The mirror and the shared library are two builds of the same C; what is new here is
the way in and out: structures built from keywords, their fields read back.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import REPLAY, TESTS, VECTORS, clean_env, run
from pfm3_vectors import read

FILES = ["pfm3_dispatch.jsonl.bz2", "pfm3_dispatch_itanium.jsonl.bz2", "pfm3_golden_itanium2.jsonl",
         "pfm3_golden_montecito.jsonl"]


@cache
def groups() -> dict[tuple[str, str | None], list[dict[str, Any]]]:
    """All vectors, by PMU and CPUID."""
    found: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for name in FILES:
        for vector in read(str(VECTORS / name)):
            found.setdefault((vector["pmu"], vector.get("cpuid3")), []).append(vector)
    return found


GROUPS = [("itanium2", None), ("itanium2", "0x1f010504"), ("montecito", None), ("montecito", "0x20000704"),
          ("itanium", None), ("itanium", "0x07000804")]


@pytest.mark.slow
@pytest.mark.parametrize(("pmu", "cpuid3", "mirror"), [
    ("itanium2", None, "pfm3"), ("montecito", None, "pfm3"), ("itanium", "0x07000804", "pfm3"), ("montecito", None, "pfm3_manual")])
def test_mirror_answers_as_recorded(pmu: str, cpuid3: str | None, mirror: str) -> None:
    vectors = groups()[pmu, cpuid3]
    env = clean_env(PYTHONPATH=":".join(map(str, (TESTS, TESTS / "pfm3", REPLAY))),
                    PYPFM_MIRROR=mirror, **({"LIBPFM_IA64_CPUID3": cpuid3} if cpuid3 else {}))
    program = Path(__file__).with_name("mirror_vectors.py")
    done = run(sys.executable, program, env=env, input=json.dumps(vectors))
    # The library itself prints "range: ... too big".
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stderr[-3000:]
    differences = [(v["id"], got, v["expect"]) for v, got in zip(vectors, answers, strict=True) if got != v["expect"]]
    assert differences == []


@pytest.mark.slow
def test_every_vector_is_in_a_group() -> None:
    assert set(groups()) == set(GROUPS)
    assert sum(map(len, groups().values())) == 11_000 + 68 + 86
