"""Write the recorded calls as inputs of a fuzz target, for a start that is not blind.

    seeds.py pfm3_dispatch DIRECTORY
"""

from __future__ import annotations

import bz2
import ctypes
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "pypfm" / "vectors"
sys.path.insert(0, str(ROOT / "tests" / "replay"))

import pfm3_abi as abi  # noqa: E402 - found by the line above
import pfm3_vectors  # noqa: E402

MODELS = ["itanium2", "montecito", "itanium"]  # in the order of tests/c/pfm3_models.h
NO_MODEL_IN, NO_MODEL_OUT = 1, 2  # pfm3_dispatch.c
ALL_PMUS = 0xFF  # pfm4_encode.c: active, and inactive ones encoded


def read(pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(VECTORS.glob(pattern)):
        with bz2.open(path, "rt") as stream:
            yield from map(json.loads, stream)


def event_names(pmu: str) -> list[str]:
    rows = (VECTORS / f"pfm3_{pmu}_events.csv").read_text().splitlines()[1:]
    return [row.split(",")[1] for row in rows]


def dispatches() -> Iterator[bytes]:
    """See pfm3_dispatch.c for the form."""
    index: dict[str, dict[str, int]] = {}
    for vector in read("pfm3_dispatch*.jsonl.bz2"):
        pmu = vector["pmu"]
        names = index.setdefault(pmu, {name: i for i, name in enumerate(event_names(pmu))})
        _, in_t, out_t = abi.MODEL[pmu]
        switches = (0 if "model_in" in vector else NO_MODEL_IN) | (0 if vector.get("model_out") else NO_MODEL_OUT)
        data = bytes([MODELS.index(pmu), switches, len(vector["events"]), vector.get("dfl_plm", 0), vector.get("pfp_flags", 0)])
        for event in vector["events"][:13]:
            masks = event.get("unit_masks", [])
            data += struct.pack("<HBB", names.get(event["event"].split(":")[0], 0), event.get("plm", 0), masks[0] + 1 if masks else 0)
        model_in = in_t()
        pfm3_vectors.fill(model_in, vector.get("model_in") or {})
        unavailable = abi.regmask()
        for n in vector.get("unavail_pmcs", []):
            unavailable.bits[n // 64] |= 1 << n % 64
        yield (data + bytes(model_in) + bytes(unavailable) + bytes(ctypes.sizeof(out_t))).rstrip(b"\0")


def event_strings() -> Iterator[bytes]:
    for vector in read("pfm4_*.jsonl.bz2"):
        if "os" in vector and isinstance(vector["event"], str):
            os_id = {"none": 0, "perf_event": 1, "perf_event_ext": 2}[vector["os"]]
            yield bytes([ALL_PMUS, os_id, vector["dfl_plm"] & 0xff, 0]) + vector["event"].encode("latin-1")


def full_events() -> Iterator[bytes]:
    for call in read("pfm3_api*.jsonl.bz2"):
        if call["pmu"] in MODELS and call["call"] in ("pfm_find_event", "pfm_find_full_event"):
            yield bytes([MODELS.index(call["pmu"])]) + call["args"][0].encode("latin-1")


def long_strings() -> Iterator[bytes]:
    """As many attributes as there is room for, and more; unit masks that stand for others."""
    for event in (b":MESI" * 16, b":M:E:S:I" * 16, b":MESI:thres=1:u:k" * 9, b":M" * 64, b":M" * 65):
        yield bytes([ALL_PMUS, 0, 8, 0]) + b"mont::L3_READS_ALL_MISS" + event
    for attribute, count in ((":SW_PF", 63), (":SW_PF", 64), (":SW_PF", 65), (":SW_PF", 100), (":u", 100), (":ANY_REQUEST", 60)):
        yield bytes([ALL_PMUS, 0, 8, 0]) + b"glm::OFFCORE_RESPONSE_0" + attribute.encode() * count


def cost_files() -> Iterator[bytes]:
    lines = ["0 clks 1 1 1", "31 nsec 1.5 .5 2. # why", "9999999999 clks 1 1 1", "000000001 clks 1 1 1", "32 clks 1 1 1",
             "0 clks 123456789012.123456789012 0 999999999999", "0 clks 1234567890123 0 1", "0 clks 2 1 1", "0 ms 1 1 1",
             "0\u3000clks\u20281\xa01\u16801", "0 clks 1 1 1 1 1", "\U0001f600", "\ud7ff", "0 clks . 1 1"]
    yield from (line.encode() for line in lines)
    yield "\n".join(f"{i} clks {i} 0 {i}.5" for i in range(32)).encode()
    yield from (b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe3\x80", b"\xff", b"0 clks 1 1 1\n0 clks 1 1 1\r\n")


RECORDED = {"pfm3_dispatch": dispatches, "pfm3_dispatch_manual": dispatches,
            "pfm4_encode": event_strings, "pfm3_full_event": full_events}
BY_HAND = {"pfm4_encode": long_strings, "perfex_costs": cost_files}  # kept, whatever else reaches the same code

if __name__ == "__main__":
    target, directory = sys.argv[1], Path(sys.argv[2])
    for name, seeds in (("seed", RECORDED), ("by-hand", BY_HAND)):
        for number, data in enumerate(seeds.get(target, list)()):
            (directory / f"{name}-{number}").write_bytes(data)
