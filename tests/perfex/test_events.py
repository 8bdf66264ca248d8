"""The tables of events, and which are counted."""

from __future__ import annotations

import csv

import pytest

from conftest import ROOT
from pypfm.perfex import events
from pypfm.perfex.model import CPUS, Cpu, PerfexError


@pytest.mark.parametrize("cpu", CPUS)
def test_32_events_on_two_counters(cpu: Cpu) -> None:
    table = events.table(cpu)
    assert [e.index for e in table] == list(range(32))
    assert [e.counter for e in table] == [0] * 16 + [1] * 16
    assert all(e.name and e.description for e in table)


def test_names_of_the_manual() -> None:
    names = {cpu: [e.name for e in events.table(cpu)] for cpu in CPUS}
    assert names["r10000"][0] == names["r10000"][16] == names["r12000"][0] == "Cycles"
    assert names["r10000"][15] == names["r10000"][17] == "Graduated instructions"
    assert names["r12000"][16:18] == ["Executed prefetch instructions", "Prefetch primary data cache misses"]
    assert (names["r10000"][6], names["r10000-3"][6]) == ("Decoded branches", "Resolved branches")
    assert (names["r10000"][14], names["r10000-3"][14]) == (
        "Virtual coherency conditions", "ALU/FPU forward progress cycles")
    assert [i for i in range(32) if names["r10000"][i] != names["r10000-3"][i]] == [6, 14]
    assert names["r10000"][26] == "Secondary (L2) data cache misses"
    assert names["r12000"][26] == "Secondary data cache misses"


def test_descriptions_are_one_line_of_ascii_without_a_full_stop() -> None:
    with (ROOT / "csrc" / "tables" / "perfex_events.csv").open(newline="", encoding="ascii") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 66
    for row in rows:
        assert row["description"].isprintable()
        assert not row["description"].endswith(".")
        assert row["description"].lower() != row["name"].lower()


@pytest.mark.parametrize(("cpu", "given", "expected"), [
    ("r10000", [], (0,)), ("r12000", [], (0,)),
    *(("r10000", [i], (i, 16)) for i in range(16)), *(("r10000", [i], (i, 0)) for i in range(16, 32)),
    *(("r12000", [i], (i, 16)) for i in range(16)), *(("r12000", [i], (i, 0)) for i in range(16, 32)),
    ("r10000", [31, 2], (31, 2)), ("r12000", [2, 31], (2, 31)),
])
def test_partners(cpu: Cpu, given: list[int], expected: tuple[int, ...]) -> None:
    assert events.choose(cpu, given, {}) == expected


@pytest.mark.parametrize("first", range(32))
def test_every_pair_of_one_counter_is_a_conflict(first: int) -> None:
    for second in range(32):
        if (first < 16) == (second < 16):
            with pytest.raises(PerfexError, match="conflicting counters"):
                events.choose("r10000", [first, second], {})
        else:
            assert events.choose("r10000", [first, second], {}) == (first, second)
