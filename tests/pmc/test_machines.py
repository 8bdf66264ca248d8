"""The machines: counters, types, events, names, through the mirror; what each may count, through every counter."""

from __future__ import annotations

import csv
import json
from collections import Counter as Tally
from typing import Any

import pytest

import pypfm
from conftest import run_python
from native import TABLES
from pypfm.netbsd.counter import MACHINES as MACHINE_NAMES

pytestmark = pytest.mark.usefixtures("runtime_dir")

# Number of counters, class, its name, number of events, the first and the last of them (id, name).
MACHINES = {
    "linux": (8, 0x40000, "Linux", 52, (0x100, "clock"), (0x8B, "cgroup-switches")),
    "xscale": (3, 0x10000, "i80200", 22, (0x00, "insfetch-miss"), (0x101, "clock-div-64")),
    "i586": (2, 0x10000, "i586", 38, (0x02, "tlb-data-miss"), (0x26, "break-match3")),
    "i686": (2, 0x20000, "i686", 119, (0x43, "mem-refs"), (0xD6, "seg-rename-retire")),
    "k7": (4, 0x30000, "K7", 74, (0x7F0020, "seg-load-all"), (0xDF, "break-match3")),
}
# Counters of which only some take certain events; all others take any.
LIMITED = {
    "linux": {0: {0x100}},
    "xscale": {0: {0x100, 0x101}, 1: {*range(0x0E), 0x10, 0x11, 0x12, 0x14, 0x15, 0x16},
               2: {*range(0x0E), 0x10, 0x11, 0x12, 0x14, 0x15, 0x16}},
}
# i686: what one counter alone takes (FLOPS, FP_COMP_OPS_EXE, CYCLES_DIV_BUSY; FP_ASSIST, MUL, DIV).
ONLY = {0xC1: 0, 0x10: 0, 0x14: 0, 0x11: 1, 0x12: 1, 0x13: 1}

NAMES = """
import json
from pypfm.pmc import *
events, event = [], pmc_get_counter_event_list()
while event[len(events)].name is not None:
    events.append([event[len(events)].val, event[len(events)].name])
kind, types = c_int(), []
for ctr in range(pmc_get_num_counters()):
    assert pmc_get_counter_type(ctr, kind) == 0
    types.append(kind.value)
class_id = pmc_get_counter_class()
print(json.dumps({
    "events": events, "types": types, "class": class_id, "last": event[len(events)].val,
    "first_names": [pmc_get_counter_event_name(e) for e, _ in events],
    "names": [pmc_get_counter_class_name(class_id + n) for n in range(-1, 4)],
    "type_names": [pmc_get_counter_type_name(class_id + n) for n in range(-1, 4)],
    "unknown": [pmc_get_counter_event_name(-1), ffi.errno],
}))
"""

every_machine = pytest.mark.parametrize("machine", MACHINES)


def answers(machine: str) -> dict[str, Any]:
    done = run_python(NAMES, PMC_MACHINE=machine)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_machines_are_these() -> None:
    assert set(MACHINE_NAMES) == set(MACHINES)


@every_machine
def test_counters_types_and_names(machine: str) -> None:
    counters, class_id, name, events, first, last = MACHINES[machine]
    said = answers(machine)
    cycle = [class_id + 1] if machine in ("linux", "xscale") else []  # the x86 machines offer no cycle counter
    assert said["types"] == cycle + [class_id + 2] * (counters - len(cycle))
    assert said["class"] == class_id
    assert len(said["events"]) == events
    assert tuple(said["events"][0]) == first
    assert tuple(said["events"][-1]) == last
    assert said["last"] == 0
    expected = [None, name, f"{name} cycle counter", f"{name} performance counter", None]
    assert said["names"] == said["type_names"] == expected
    assert said["unknown"] == [None, 3]  # ESRCH


@every_machine
def test_events_follow_the_table(machine: str) -> None:
    with (TABLES / f"pmc_{machine}_events.csv").open() as stream:
        rows = [(int(row["id"], 0), row["name"]) for row in csv.DictReader(stream)]
    said = answers(machine)
    assert [tuple(row) for row in said["events"]] == rows
    assert max(Tally(name for _, name in rows).values()) == 1
    assert all(name == name.lower() and " " not in name for _, name in rows)
    first = dict(reversed(rows))
    assert said["first_names"] == [first[number] for number, _ in rows]


def allowed(machine: str, counter: int, event: int) -> bool:
    if machine == "i686":
        return ONLY.get(event, counter) == counter
    ids = LIMITED.get(machine, {}).get(counter)
    return ids is None or event in ids


@pytest.mark.parametrize("machine", [m for m in MACHINES if m != "linux"])
def test_every_event_on_every_counter(machine: str) -> None:
    """CONFIGURE of every identifier below 0x200, and of all in the table."""
    table = pypfm.Machine(machine)
    ids = {event.id for event in table.values()}
    for counter in range(table.num_counters):
        wrong = [hex(event) for event in sorted(ids | set(range(-1, 0x200)))
                 if configures(table, counter, event) != (event in ids and allowed(machine, counter, event))]
        assert wrong == []


def configures(machine: pypfm.Machine, counter: int, event: int) -> bool:
    from pypfm.pmc import ffi, lib

    cfg = ffi.new("struct pmc_counter_cfg *", {"event_id": event})
    return int(lib.pmc_state_control(machine._state, counter, lib.PMC_OP_CONFIGURE, cfg)) == 0


@every_machine
def test_counters_of_an_event(machine: str) -> None:
    table = pypfm.Machine(machine)
    for event in table.values():
        assert list(event.counters) == [n for n in range(table.num_counters) if allowed(machine, n, event.id)]


ODDITIES = {
    ("i686", 0x81): ["ins-fetch-misses", "itlb-misses"],
    ("i686", 0x12): ["fpu-mul", "fpu-div"],
    ("i686", 0x2E): ["l2cache-reqs"],  # no MESI state
    ("i686", 0xF0028): ["l2cache-insfetch"],
    ("k7", 0x45): ["l2cache-hit"],
    ("k7", 0x46): ["l2cache-miss"],
    ("xscale", 0x0B): ["dcache-miss"],
}


@pytest.mark.parametrize(("machine", "number"), ODDITIES)
def test_oddities_are_kept(machine: str, number: int) -> None:
    assert [e.name for e in pypfm.Machine(machine).values() if e.id == number] == ODDITIES[machine, number]


def test_names_with_unit_1_twice() -> None:
    events = pypfm.Machine("i686")
    for kind in ("dispatch", "miss"):
        ids = {events[f"ins-pref-{kind}-{level}"].id for level in ("nta", "t1")}
        assert len(ids) == 1


def test_libpmc_s_spelling() -> None:
    """pmc(1) of NetBSD wrote ins-stream-comp-retired--scalar and branch-taked-miss-retired."""
    assert {"ins-stream-comp-retired-scalar", "branch-taken-mispred-retired"} <= set(pypfm.Machine("i686"))


@pytest.mark.parametrize("machine", ["xscale", "i586", "i686", "k7"])
def test_only_counters_of_the_event_move(machine: str) -> None:
    """Every event of the machine, given 1, 2, 3 ... times: a counter of each takes its own only."""
    table = pypfm.Machine(machine)
    by_id = {event.id: event.name for event in table.values()}
    for number, name in by_id.items():
        counter = pypfm.Counter(name, machine=table)
        with counter:
            for times, other in enumerate(by_id.values(), 1):
                table.advance(other, times)
        expected = list(by_id).index(number) + 1
        if name == "clock-div-64":
            expected += (list(by_id.values()).index("clock") + 1) // 64
        assert counter.value == expected
        del counter
