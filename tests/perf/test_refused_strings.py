"""What is said of event strings that are refused: the token at fault, and what is allowed; word for word."""

from __future__ import annotations

from typing import Any

import pytest

from pypfm import Goldmont, Perf, Pfm4Error
from pypfm import pmu as named

GLM, PERF = Goldmont(), Perf()
OF_ICACHE = "unit masks: HIT, MISSES, ACCESSES; modifiers: k, u, e, i, c"
OF_OFFCORE = "it has 26 unit masks (pypfm info -p glm OFFCORE_RESPONSE_0)"
OFFCORE = ("ANY_REQUEST and ANY_RESPONSE stand for all of their kind; ANY_RESPONSE takes no snoops, OUTSTANDING no"
           " response")

REFUSED = [
    (GLM, "NOPE", "glm has no event 'NOPE'"),
    (GLM, "", "glm has no event ''"),
    (GLM, "perf::cycles", "PMU 'perf' is not glm"),
    (GLM, "ICACHE:NOPE", f"ICACHE: no unit mask or modifier 'NOPE': {OF_ICACHE}"),
    (GLM, "ICACHE:", f"ICACHE: no unit mask or modifier '': {OF_ICACHE}"),
    (GLM, "ICACHE:HIT:MISSES:u:NOPE:k", f"ICACHE: no unit mask or modifier 'NOPE': {OF_ICACHE}"),
    (GLM, "ICACHE:0x100", f"ICACHE: no unit mask or modifier '0x100': {OF_ICACHE}"),
    (GLM, "ICACHE:0x1:0x2", f"ICACHE: no unit mask or modifier '0x2': {OF_ICACHE}"),
    (GLM, "ICACHE:c=256", "ICACHE: 'c=256': c takes 0 to 255"),
    (GLM, "ICACHE:c", "ICACHE: 'c': c takes 0 to 255"),
    (GLM, "ICACHE:i=0:c=300", "ICACHE: 'c=300': c takes 0 to 255"),  # without that, a unit mask is still missing
    (GLM, "ICACHE:u=z", "ICACHE: 'u=z': u takes y or n"),
    (GLM, "ICACHE:c=999:u=z", "ICACHE: 'u=z': u takes y or n"),
    (GLM, "ICACHE:u:u=0", "ICACHE: 'u=0': a modifier can have one value"),
    (GLM, "ICACHE:HIT:MISSES", "ICACHE: 'HIT', 'MISSES': only one unit mask can be given"),
    (GLM, "ICACHE,HIT", "'ICACHE,HIT': expected one event, without commas, blanks, tabs and newlines"),
    (GLM, "OFFCORE_RESPONSE_0" + ":WB" * 65, "too many parameters: 65 attributes; at most 64 can be given"),
    (GLM, "OFFCORE_RESPONSE_0:NOPE",
     f"OFFCORE_RESPONSE_0: no unit mask or modifier 'NOPE': {OF_OFFCORE}; modifiers: k, u, e, i, c"),
    (GLM, "OFFCORE_RESPONSE_0:L2_HITS", f"OFFCORE_RESPONSE_0: no unit mask or modifier 'L2_HITS': {OF_OFFCORE}; the nearest is"
                                        " L2_HIT; modifiers: k, u, e, i, c"),
    (GLM, "OFFCORE_RESPONSE_0:ANY_RESPONSE:L2_HIT", f"OFFCORE_RESPONSE_0: 'ANY_RESPONSE', 'L2_HIT': {OFFCORE}"),
    (GLM, "OFFCORE_RESPONSE_0:OUTSTANDING:L2_HIT:DMND_DATA_RD", f"OFFCORE_RESPONSE_0: 'OUTSTANDING', 'L2_HIT': {OFFCORE}"),
    (PERF, "PERF_COUNT_HW_CACHE_L1D:READ:WRITE",
     "PERF_COUNT_HW_CACHE_L1D: 'READ', 'WRITE': one unit mask of READ, WRITE, PREFETCH, ACCESS, MISS of each kind"),
    (PERF, "cycles:x", "CYCLES: no unit mask or modifier 'x': unit masks: none; modifiers: u, k, h, period, freq, precise,"
                       " excl, mg, mh, cpu, pinned"),
    (PERF, "task-clock:h", "TASK-CLOCK: no unit mask or modifier 'h': unit masks: none; modifiers: u, k, period, freq, excl,"
                           " mg, mh, cpu, pinned"),
    (PERF, "cycles:period=0", "CYCLES: 'period=0': period takes a number above 0"),
    (PERF, "cycles:period=5:freq=5", "CYCLES: 'period=5', 'freq=5': only one of them can be given"),
    (PERF, "cycles:precise=4", "CYCLES: 'precise=4': precise takes 0 to 3"),
    (PERF, "cycles:cpu=9999999999", "CYCLES: 'cpu=9999999999': cpu takes the number of a processor"),
]


@pytest.mark.parametrize(("pmu", "text", "said"), REFUSED, ids=[text[:40] for _, text, _ in REFUSED])
def test_refused(pmu: Any, text: str, said: str) -> None:
    with pytest.raises(Pfm4Error) as raised:
        pmu.encode(text)
    assert str(raised.value) == said


def test_a_pair_whose_requests_differ() -> None:
    """Both are named, in their order; the error has the second."""
    with pytest.raises(Pfm4Error) as raised:
        GLM.parse_average_latency("OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING+OFFCORE_RESPONSE_1:DMND_RFO:ANY_RESPONSE")
    assert str(raised.value) == "average latency: the requests differ: DMND_DATA_RD and DMND_RFO"
    assert raised.value.token == "DMND_RFO"


def test_an_offcore_value_in_words() -> None:
    pair = GLM.average_latency("DMND_DATA_RD")
    assert [dict(encoding.offcore.rows()) for encoding in (pair.outstanding, pair.requests)] == [
        {"requests": "DMND_DATA_RD", "suppliers": "none", "snoops": "none", "latency mode": "yes"},
        {"requests": "DMND_DATA_RD", "suppliers": "ANY_RESPONSE", "snoops": "none", "latency mode": "no"}]


@pytest.mark.parametrize(("event", "largest"), [("L1D_READS_SET0", 1), ("NOPS_RETIRED", 5)])
def test_a_threshold_that_an_event_cannot_reach(event: str, largest: int) -> None:
    with pytest.raises(Pfm4Error) as raised:
        named("ita2").encode(f"{event}:thres=9")
    assert str(raised.value) == (
        f"{event}: 'thres=9': thres takes 0 to {largest}, as the event happens at most {largest + 1} times in a cycle")
