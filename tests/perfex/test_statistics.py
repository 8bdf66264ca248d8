"""The statistics of -y: formulas, order, and what is left out."""

from __future__ import annotations

import pytest

from pypfm.perfex import costs, events
from pypfm.perfex.costs import Cost
from pypfm.perfex.model import Cpu, Measurement
from pypfm.perfex.spread import about
from pypfm.perfex.statistics import statistics

COUNTS = {0: 1_960_000_000, 16: 1_960_000_000, 15: 980_000_000, 17: 980_000_000, 2: 400_000_000, 3: 125_000_000,
          4: 3_920_000_000, 6: 50_000_000, 7: 1_000_000, 10: 1000, 11: 100, 18: 320_000_000, 19: 100_000_000,
          21: 200_000_000, 22: 2_000_000, 23: 100_000, 24: 5_000_000, 25: 10_000_000, 26: 1_000_000, 27: 50_000}
COSTS = {18: Cost("clks", 1, 1, 1), 19: Cost("clks", 1, 1, 1), 25: Cost("clks", 9, 1, 20), 26: Cost("nsec", 400, 1, 900),
         23: Cost("clks", 60, 1, 90)}


def measured(cpu: Cpu, counts: dict[int, int]) -> list[Measurement]:
    return [Measurement(events.table(cpu)[i], count, "exact") for i, count in counts.items()]


def values(cpu: Cpu, counts: dict[int, int], table: costs.CostTable | None = None) -> dict[str, float]:
    return {s.name: s.value for s in statistics(cpu, measured(cpu, counts), 196.0, COSTS if table is None else table)}


# The run took 1.96e9 cycles at 196 MHz: 10 seconds.
EXPECTED = {
    "Graduated instructions/cycle": 0.5,
    "Graduated floating point instructions/cycle": 200 / 1960,
    "Graduated loads and stores/cycle": 420 / 1960,
    "Graduated loads and stores/floating point instruction": 2.1,
    "Mispredicted branches/Decoded branches": 0.1,
    "Graduated loads/Issued loads": 0.8,
    "Graduated stores/Issued stores": 0.8,
    "Data mispredict/Data secondary cache hits": 0.05,
    "Instruction mispredict/Instruction secondary cache hits": 0.1,
    "Primary cache line reuse": 41.0,
    "Secondary Cache Line Reuse": 9.0,
    "Primary Data Cache Hit Rate": 1 - 10 / 420,
    "Secondary Data Cache Hit Rate": 0.9,
    "Time accessing memory/Total time": ((320e6 + 100e6 + 90e6 + 6e6) / 196e6 + 0.4) / 10,
    "Primary-to-secondary bandwidth used (MB/s, average per process)": (10 * 32 + 2 * 16) / 10,
    "Memory bandwidth used (MB/s, average per process)": (1 * 128 + 1 * 16) / 10,
    "MFLOPS (average per process)": 20.0,
}


def test_formulas_and_order() -> None:
    found = values("r10000", COUNTS)
    assert list(found) == list(EXPECTED)
    assert found == pytest.approx(EXPECTED)


def test_r12000_has_two_more_and_other_names() -> None:
    counts = {i: n for i, n in COUNTS.items() if i not in (16, 17)} | {16: 4_000_000, 17: 1_000_000}
    found = values("r12000", counts)
    assert list(found)[-2:] == ["Cache misses in flight per cycle (average)", "Prefetch miss rate"]
    assert found["Cache misses in flight per cycle (average)"] == 2.0
    assert found["Prefetch miss rate"] == 0.25
    assert found["Graduated instructions/cycle"] == 0.5
    assert found["Mispredicted branches/Resolved conditional branches"] == 0.1
    assert len(found) == len(EXPECTED) + 2


def test_r12000_events_16_and_17_are_neither_cycles_nor_instructions() -> None:
    assert values("r12000", {16: 100, 17: 50, 21: 5}) == {"Prefetch miss rate": 0.5}


def test_the_second_counter_counts_cycles_and_instructions_too() -> None:
    assert values("r10000", {15: 50, 16: 100}) == {"Graduated instructions/cycle": 0.5}
    assert values("r10000", {17: 50, 0: 100}) == {"Graduated instructions/cycle": 0.5}


# The events that each statistic needs (cycles: 0).
NEEDS = {
    "Graduated instructions/cycle": (15, 0),
    "Graduated floating point instructions/cycle": (21, 0),
    "Graduated loads and stores/cycle": (18, 19, 0),
    "Graduated loads and stores/floating point instruction": (18, 19, 21),
    "Mispredicted branches/Decoded branches": (24, 6),
    "Graduated loads/Issued loads": (18, 2),
    "Graduated stores/Issued stores": (19, 3),
    "Data mispredict/Data secondary cache hits": (27, 26),
    "Instruction mispredict/Instruction secondary cache hits": (11, 10),
    "Primary cache line reuse": (18, 19, 25),
    "Secondary Cache Line Reuse": (25, 26),
    "Primary Data Cache Hit Rate": (18, 19, 25),
    "Secondary Data Cache Hit Rate": (25, 26),
    "Time accessing memory/Total time": (18, 19, 25, 26, 23, 0),
    "Primary-to-secondary bandwidth used (MB/s, average per process)": (25, 22, 0),
    "Memory bandwidth used (MB/s, average per process)": (26, 7, 0),
    "MFLOPS (average per process)": (21, 0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_printed_only_when_its_events_were_counted(name: str) -> None:
    needed = {i: COUNTS[i] for i in NEEDS[name]}
    assert values("r10000", needed)[name] == pytest.approx(EXPECTED[name])
    for missing in needed:
        assert name not in values("r10000", {i: n for i, n in needed.items() if i != missing})


def test_what_is_not_available_is_no_count() -> None:
    rows = [Measurement(events.table("r10000")[0], 100, "exact"),
            Measurement(events.table("r10000")[21], None, "unavailable")]
    assert statistics("r10000", rows, 196.0, COSTS) == []


def test_without_costs_there_is_no_time_of_memory() -> None:
    found = values("r10000", COUNTS, {})
    assert list(found) == [name for name in EXPECTED if name != "Time accessing memory/Total time"]


def test_quotients_by_0_are_left_out() -> None:
    assert values("r10000", dict.fromkeys(COUNTS, 0)) == {}
    assert values("r10000", COUNTS | {26: 0}).keys() == EXPECTED.keys() - {
        "Data mispredict/Data secondary cache hits", "Secondary Cache Line Reuse"}


def test_a_cost_of_0_clks_at_any_clock() -> None:
    assert values("r10000", {0: 0, 15: 3}) == {}


BANDWIDTHS = ("Primary-to-secondary bandwidth used (MB/s, average per process)",
              "Memory bandwidth used (MB/s, average per process)")


def test_bandwidths_follow_the_lines_of_the_caches() -> None:
    """1 s at 1 MHz: misses times a line, and quadwords times 16, in MB."""
    counts = {0: 10**6, 25: 10**6, 22: 10**6, 26: 2 * 10**6, 7: 10**6}
    rows = [Measurement(events.table("r10000")[i], n, "exact") for i, n in counts.items()]
    for lines, wanted in (((32, 128), [48.0, 272.0]), ((64, 64), [80.0, 144.0]), ((64, 256), [80.0, 528.0])):
        found = {s.name: s.value for s in statistics("r10000", rows, 1.0, COSTS, lines)}
        assert [found[name] for name in BANDWIDTHS] == pytest.approx(wanted)
    assert [s.value for s in statistics("r10000", rows, 1.0, COSTS) if s.name in BANDWIDTHS] == pytest.approx([48.0, 272.0])


def test_bandwidths_of_lines_that_are_not_known_are_not_printed() -> None:
    rows = [Measurement(events.table("r10000")[i], 10**6, "exact") for i in (0, 7, 22, 25, 26)]
    for lines, wanted in (((0, 0), set()), ((64, 0), {BANDWIDTHS[0]}), ((0, 64), {BANDWIDTHS[1]})):
        assert {s.name for s in statistics("r10000", rows, 1.0, COSTS, lines)} & {*BANDWIDTHS} == wanted


# ---- of modelled counts -----------------------------------------------------------------------

def test_what_is_made_of_modelled_cycles_is_estimated() -> None:
    rows = [Measurement(events.table("r10000")[i], n, "modelled" if i in (0, 16) else "exact") for i, n in COUNTS.items()]
    found = {s.name: s.estimated for s in statistics("r10000", rows, 196.0, COSTS)}
    with_cycles = {name for name in found if "/cycle" in name or name.startswith(("Time ", "MFLOPS")) or name in BANDWIDTHS}
    assert {name for name, estimated in found.items() if estimated} == with_cycles
    assert len(with_cycles) == 7
    assert not any(s.estimated for s in statistics("r10000", measured("r10000", COUNTS), 196.0, COSTS))


@pytest.mark.parametrize(("value", "text"), [
    (0.5, "~0.50"), (0.0996, "~0.10"), (1.05e-5, "~0.000010"), (20, "~20"), (614.17, "~610"), (1234567, "~1200000"), (0.0, "~0.0"), (0, "~0"), (99, "~99"), (101, "~100"),
    (9.96, "~10"), (-0.0123, "~-0.012"),
])
def test_two_digits_and_the_mark(value: float, text: str) -> None:
    assert about(value) == text
