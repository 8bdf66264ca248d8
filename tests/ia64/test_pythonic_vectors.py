"""All recorded dispatch calls once more through Itanium2, Montecito, Itanium .encode(check="reference")."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import VECTORS
from pfm3_vectors import read
from pypfm import Encoding, Pfm3Error
from pypfm.conform.report.why import keywords, pmu_for
from pypfm.ia64.encoding import RangeCover

MODEL_VECTORS = sorted(p.name for p in VECTORS.glob("pfm3_*.jsonl*") if "api" not in p.name)


def cover(answer: RangeCover | None) -> dict[str, Any]:
    """A cover as the replay program writes it."""
    if answer is None:
        return {"rr_nbr_used": 0, "rr_infos": [["0x0", "0x0"]] * 4, "rr_br": []}
    return {"rr_nbr_used": len(answer.registers), "rr_infos": [[hex(s), hex(e)] for s, e in answer.infos],
            "rr_br": [[r.num, r.addr, r.alt_addr, hex(r.value)] for r in answer.registers]}


def answer(vector: dict[str, Any], encoding: Encoding) -> dict[str, Any]:
    got: dict[str, Any] = {
        "ret": 0,
        "pmcs": [[r.num, r.addr, r.alt_addr, hex(r.value)] for r in encoding.pmcs],
        "pmds": [[r.num, r.addr, r.alt_addr] for r in encoding.pmds],
    }
    if vector.get("model_out"):
        got |= {"drange": cover(encoding.drange), "irange": cover(encoding.irange)}
        if vector["pmu"] != "itanium":  # has no fine mode
            got["fine"] = int(encoding.irange is not None and encoding.irange.fine)
    return got


def encode(vector: dict[str, Any]) -> dict[str, Any]:
    try:
        return answer(vector, pmu_for(vector).encode(**keywords(vector)))
    except Pfm3Error as error:
        return {"ret": error.code}


def test_the_checked_example_of_the_generic_pmu() -> None:
    vectors = read(str(VECTORS / "gen_ia64.jsonl"))
    assert len(vectors) == 1
    assert [encode(v) for v in vectors] == [v["expect"] for v in vectors]


@pytest.mark.long
@pytest.mark.parametrize("file", MODEL_VECTORS)
@pytest.mark.parametrize("pmu", ["itanium2", "montecito", "itanium"])
def test_recorded_dispatch_calls(file: str, pmu: str, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = [v for v in read(str(VECTORS / file)) if v["pmu"] == pmu]
    different, inexpressible = [], []
    for vector in vectors:
        try:
            got = encode(vector)
        except ValueError as error:
            inexpressible.append((vector["id"], str(error)))
            continue
        if got != vector["expect"]:
            different.append((vector["id"], vector["expect"], got))
    with capsys.disabled():
        print(f"\n{file}, {pmu}: {len(inexpressible)} of {len(vectors)} vectors cannot be expressed", end=" ")
    assert not inexpressible
    assert not different[:3], f"{len(different)} of {len(vectors)} differ"
