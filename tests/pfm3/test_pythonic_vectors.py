"""All recorded dispatch calls once more through Itanium2 / Montecito.encode(check="reference")."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import VECTORS
from pfm3_vectors import read
from pypfm import (
    AddressRange,
    Btb,
    Ear,
    Encoding,
    Etb,
    EventRequest,
    IpEar,
    Itanium2,
    Montecito,
    OpcodeMatch,
    Pfm3Error,
    Ranges,
)
from pypfm.encoding import RangeCover

CLASSES = {"itanium2": Itanium2, "montecito": Montecito}
TAGS = {"itanium2": "ita2", "montecito": "mont"}
MODEL_VECTORS = sorted(p.name for p in VECTORS.glob("pfm3_*.jsonl*") if "api" not in p.name)


def number(value: int | str) -> int:
    return int(value, 0) if isinstance(value, str) else value


def without_prefix(struct: dict[str, Any]) -> dict[str, int]:
    """{"ear_mode": 1, ...} as {"mode": 1, ...}."""
    return {name.partition("_")[2]: number(value) for name, value in struct.items()}


def ranges(struct: dict[str, Any] | None) -> Ranges | tuple[()]:
    if struct is None:
        return ()
    limits = tuple(AddressRange(number(r.get("rr_start", 0)), number(r.get("rr_end", 0)), number(r.get("rr_plm", 0)))
                   for r in struct.get("rr_limits", []))
    return Ranges(limits, struct.get("rr_flags", 0), struct.get("rr_used", 0))


def matcher(struct: dict[str, Any] | None) -> OpcodeMatch | None:
    if struct is None:
        return None
    fields = without_prefix(struct)
    if "val" in fields:
        return OpcodeMatch(value=fields["val"], used=fields.get("used", 0))
    return OpcodeMatch(**{"m": 0, "i": 0, "f": 0, "b": 0, "used": 0, **fields})


def part(cls: type, model: dict[str, Any], name: str) -> Any:
    """A part of the model's input as an object of the Pythonic layer."""
    struct = model.get(name)
    zero = {"tm": 0, "ptm": 0, "ppm": 0, "brt": 0} if cls in (Btb, Etb) else {}
    return None if struct is None else cls(**{"used": 0, **zero, **without_prefix(struct)})


def keywords(vector: dict[str, Any]) -> dict[str, Any]:
    """The arguments of encode() for a vector."""
    prefix = f"pfp_{TAGS[vector['pmu']]}_"
    given = vector.get("model_in")
    model = {name.removeprefix(prefix): value for name, value in (given or {}).items()}
    known = {"counters", "irange", "drange", "pmc8", "pmc9", "opcm1", "opcm2", "iear", "dear", "btb", "etb", "ipear"}
    assert set(model) <= known, f"not expressible: {set(model) - known}"
    assert vector.get("pfp_flags", 0) in (0, 1)
    counters = model.get("counters", [])
    events = []
    for i, event in enumerate(vector["events"]):
        own = counters[i] if i < len(counters) else {}
        events.append(EventRequest(event["event"], plm=event.get("plm", 0), unit_masks=event.get("unit_masks", ()),
                                   threshold=own.get("thres", 0), ism=own.get("ism", 0), flags=own.get("flags", 0)))
    arguments = {
        "events": events, "plm": vector.get("dfl_plm", 0), "system_wide": bool(vector.get("pfp_flags")),
        "unavailable_pmcs": vector.get("unavail_pmcs", ()), "check": "reference",
        "model_input": given is not None, "model_output": bool(vector.get("model_out")),
        "code_ranges": ranges(model.get("irange")), "data_ranges": ranges(model.get("drange")),
        "iear": part(Ear, model, "iear"), "dear": part(Ear, model, "dear"),
    }
    if vector["pmu"] == "itanium2":
        return arguments | {"opcode_match": (matcher(model.get("pmc8")), matcher(model.get("pmc9"))),
                            "btb": part(Btb, model, "btb")}
    return arguments | {"opcode_match": (matcher(model.get("opcm1")), matcher(model.get("opcm2"))),
                        "etb": part(Etb, model, "etb"), "ipear": part(IpEar, model, "ipear")}


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
        got |= {"drange": cover(encoding.drange), "irange": cover(encoding.irange),
                "fine": int(encoding.irange is not None and encoding.irange.fine)}
    return got


def encode(vector: dict[str, Any]) -> dict[str, Any]:
    cpuid3 = vector.get("cpuid3")
    pmu = CLASSES[vector["pmu"]](int(cpuid3, 0) if cpuid3 else None)
    try:
        return answer(vector, pmu.encode(**keywords(vector)))
    except Pfm3Error as error:
        return {"ret": error.code}


@pytest.mark.parametrize("file", MODEL_VECTORS)
@pytest.mark.parametrize("pmu", CLASSES)
def test_recorded_dispatch_calls(file: str, pmu: str, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = [v for v in read(str(VECTORS / file)) if v["pmu"] == pmu]
    different, inexpressible = [], []
    for vector in vectors:
        try:
            got = encode(vector)
        except AssertionError as error:
            inexpressible.append((vector["id"], str(error)))
            continue
        if got != vector["expect"]:
            different.append((vector["id"], vector["expect"], got))
    with capsys.disabled():
        print(f"\n{file}, {pmu}: {len(inexpressible)} of {len(vectors)} vectors cannot be expressed", end=" ")
    assert not inexpressible
    assert not different[:3], f"{len(different)} of {len(vectors)} differ"
