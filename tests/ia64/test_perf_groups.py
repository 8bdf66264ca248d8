"""Events of IA-64 PMUs for Linux's driver: strings, what is refused, groups under a simulation of the driver."""

from __future__ import annotations

import shlex
from itertools import islice, permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import coded, refused
from pypfm import (
    EventRequest,
    GenericIA64,
    InvalidTypeError,
    Itanium,
    Itanium2,
    Montecito,
    Pfm3Error,
    Pfm4Error,
    PfmError,
    perf,
)
from pypfm.common.counting import attr_bytes
from pypfm.ia64.models import MODELS

PMUS = (Itanium2(), Montecito(), Itanium(), GenericIA64())
IDS = [pmu.name for pmu in PMUS]
each_pmu = pytest.mark.parametrize("pmu", PMUS, ids=IDS)
HALTED = "CPU_OP_CYCLES_HALTED"  # of Montecito: on PMC10 alone


def countable(pmu: Any) -> list[Any]:
    """The events that need no register beside the counter's, and on Itanium no bit that the driver cuts."""
    return [e for e in pmu.values() if not e.is_ear and not e.is_branch and not (pmu.name == "itanium" and e.umask & 8)]


def placed(pmu: Any, group: Any) -> list[int]:
    """Where Linux's driver puts the events of a group: each on the lowest-numbered free counter."""
    free = sorted(pmu.counters)
    return [free.pop(0) for _ in group]


def may_go_together(pmu: Any, names: list[str]) -> bool:
    """Whether libpfm 3 assigns the events in some order: its rules for groups of events depend on which comes first."""
    ruled = list(dict.fromkeys(name for name in names if pmu[name].group is not None))
    for first in islice(permutations(ruled), 5040):
        order = sorted(names, key=lambda name: first.index(name) if name in first else len(first))
        try:
            pmu.encode([EventRequest(pmu[name], unit_masks=[m.name for m in pmu[name].unit_masks]) for name in order],
                       check="reference")
        except Pfm3Error:
            continue
        return True
    return False


def check(pmu: Any, names: list[str], found: perf.Groups) -> None:
    """Each event is in one group; each group is right."""
    assert sorted(e.event for group in found.groups for e in group) == sorted(names)
    assert found.exclusive == (len(found.groups) > 1)
    for group in found.groups:
        for event, counter in zip(group, placed(pmu, group), strict=True):
            assert counter in pmu[event.event].counters, (event.event, counter)
        assert may_go_together(pmu, [e.event for e in group])
        leader, *others = [dict(e.attr or {}) for e in group]
        assert leader.get("exclusive", 0) == int(found.exclusive)
        assert not any("exclusive" in attr for attr in others)
        for e in group:
            assert e.attr_bytes == attr_bytes(e.attr or {})


@each_pmu
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
@pytest.mark.slow
def test_groups_hold_under_the_drivers_placement(pmu: Any, data: st.DataObject) -> None:
    rows = countable(pmu)
    restricted = [e for e in rows if len(e.counters) < len(pmu.counters) or e.group is not None]
    names = data.draw(st.lists(st.sampled_from([e.name for e in rows]) | st.sampled_from(
        [e.name for e in restricted or rows]), min_size=1, max_size=20))
    try:
        found = pmu.for_perf(names)
    except Pfm3Error as error:
        if error.name != "PFMLIB_ERR_EVTINCOMP":
            raise
        assert HALTED in names
    else:
        check(pmu, names, found)


@each_pmu
def test_every_event_alone(pmu: Any) -> None:
    """All are right alone, but one that the first counter cannot measure."""
    for event in countable(pmu):
        if event.name == HALTED:
            with pytest.raises(Pfm3Error, match=r"^CPU_OP_CYCLES_HALTED: PMC10 .* event 7 .* at least 6 others", check=coded("PFMLIB_ERR_EVTINCOMP")):
                pmu.for_perf([event.name])
        else:
            found = pmu.for_perf([event.name])
            check(pmu, [event.name], found)
            assert len(found.groups) == 1
            assert found.command == shlex.join(["perf", "stat", "-e", str(pmu.for_perf(event).perf)])


@each_pmu
@pytest.mark.slow
def test_all_events_at_once(pmu: Any) -> None:
    names = [e.name for e in countable(pmu)]
    found = pmu.for_perf(names)
    check(pmu, names, found)
    assert len(found.groups) < len(names) / 2 or len(names) < 4
    assert len(found.groups) >= len(names) / len(pmu.counters)


def test_unit_masks_of_itanium_that_the_driver_cuts() -> None:
    pmu = Itanium()
    cut = [e for e in pmu.values() if e.umask & 8 and not e.is_ear and not e.is_branch]
    assert cut
    for event in cut:
        with pytest.raises(Pfm4Error, match=f"^{event.name}: the kernel's driver cuts bit 19 of the code, which its unit mask"
                                            f" {event.umask:#x} needs: it would count another event$"):
            pmu.for_perf(event)


def test_an_event_that_needs_others_before_it() -> None:
    pmu = Montecito()
    fillers = ["CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "BACK_END_BUBBLE_ALL", "BUS_ALL_ANY", "L3_MISSES"]
    found = pmu.for_perf([HALTED, *fillers])
    assert [e.event for e in found.groups[0]][6] == HALTED
    check(pmu, [HALTED, *fillers], found)
    with pytest.raises(Pfm3Error, match="not 5", check=coded("PFMLIB_ERR_EVTINCOMP")):
        pmu.for_perf([HALTED, *fillers[:5]])
    with pytest.raises(Pfm3Error, match="not 0", check=coded("PFMLIB_ERR_EVTINCOMP")):  # each of them needs its own six
        pmu.for_perf([HALTED, HALTED, *fillers])


def test_an_order_that_libpfm_3_takes_is_found() -> None:
    """Of these two it takes only the one with the unit mask first."""
    found = Itanium2().for_perf(["L2_OZQ_ACQUIRE", "L2_OZQ_CANCELS0_LATE_RELEASE"])
    assert len(found.groups) == 1
    assert found.command == "perf stat -e '{cpu/event=0xa0,umask=0x2/u,cpu/event=0xa2,umask=0x0/u}'"


def test_the_order_of_a_group_may_be_another_than_libpfm_3_takes() -> None:
    pmu = Montecito()
    names = ["BE_L1D_FPU_BUBBLE_ALL", *["BUS_ALL_ANY"] * 6, "L2D_BAD_LINES_SELECTED_ANY", *["L2D_ISSUED_RECIRC_OZQ_ACC"] * 3]
    check(pmu, names, pmu.for_perf(names))


def test_cancel_events_are_counted_one_after_the_other() -> None:
    found = Itanium2().for_perf(["L2_OZQ_CANCELS0_ANY", "L2_OZQ_CANCELS1_REL", "CPU_CYCLES"])
    assert len(found.groups) == 2
    assert found.exclusive


@each_pmu
def test_config_is_the_value_of_libpfm_3_under_the_mask(pmu: Any) -> None:
    mask = {"itanium": 0x0077FF00, "itanium2": 0x007FFF00, "montecito": 0x7C7FFF00, "gen_ia64": 0xFF00}[pmu.name]
    for event in countable(pmu):
        asked = EventRequest(event, plm="kernel,user", threshold=event.maxincr - 1 if pmu.name != "gen_ia64" else 0,
                             unit_masks=[m.name for m in event.unit_masks][:2])
        pmc = pmu.encode([asked]).pmcs[0]  # of some events others follow
        made = pmu.for_perf(asked)
        assert made.attr["config"] == pmc.value & mask
        assert made.attr["type"] == 4
        assert not {"exclude_user", "exclude_kernel"} & set(made.attr)


# What the driver's own names are, as (code, unit mask) of the tables.
NAMED = {
    "itanium": {"CPU_CYCLES": (0x12, 0), "IA64_INST_RETIRED": (0x8, 0)},
    "itanium2": {"CPU_CYCLES": (0x12, 0), "IA64_INST_RETIRED": (0x8, 0), "L3_REFERENCES": (0xDB, 0), "L3_MISSES": (0xDC, 0)},
    "montecito": {"CPU_OP_CYCLES_ALL": (0x12, 0), "IA64_INST_RETIRED": (0x8, 0), "L3_REFERENCES": (0xDB, 0),
                  "L3_MISSES": (0xDC, 0)},
    "gen_ia64": {"CPU_CYCLES": (0x12, 0), "IA64_INST_RETIRED": (0x8, 0)},
}


@each_pmu
def test_events_that_the_driver_has_names_for(pmu: Any) -> None:
    for name, (code, umask) in NAMED[pmu.name].items():
        assert pmu.for_perf(name).attr["config"] == code << 8 | umask << 16


def test_what_is_asked_of_an_event() -> None:
    montecito, tag = Montecito(), MODELS["montecito"].tag
    mesi = next(e for e in montecito.values() if e.unit_masks)
    made = montecito.for_perf(EventRequest(f"{mesi.name}:E", plm="kernel", unit_masks=["M"]))
    assert made == perf.Pmu(tag).encode(f"{mesi.name}:E:M:k", os="perf_event")
    assert montecito.for_perf(f"{mesi.name}:E:M:k") == made
    assert montecito.for_perf(EventRequest("CPU_OP_CYCLES_ALL"), plm="kernel").perf == "cpu/event=0x12,umask=0x0/k"
    assert Itanium2().for_perf(EventRequest("CPU_CYCLES", ism=2)) == Itanium2().for_perf("CPU_CYCLES")
    assert Itanium2().for_perf(EventRequest("CPU_CYCLES", flags=1)) == Itanium2().for_perf("CPU_CYCLES")  # a flag of Montecito
    assert Itanium2().for_perf(["CPU_CYCLES"], system_wide=True).command == "perf stat -a -e cpu/event=0x12,umask=0x0/u"
    assert Itanium2().for_perf(e for e in ["CPU_CYCLES"]).groups[0][0].event == "CPU_CYCLES"


@pytest.mark.parametrize("plm", ["1", "user,2", 0b0011])
def test_default_levels_that_the_driver_does_not_count_in(plm: int | str) -> None:
    for events in ("CPU_CYCLES", ["CPU_CYCLES"]):
        with pytest.raises(Pfm3Error, match=r"^plm: privilege levels 1 and 2: Linux's driver counts in level 0", check=coded("PFMLIB_ERR_INVAL")):
            Itanium2().for_perf(events, plm=plm)


@pytest.mark.parametrize(("asked", "error", "said"), [
    ("DATA_EAR_CACHE_LAT4", Pfm4Error, "the kernel's driver drives counters alone"),
    ("BRANCH_EVENT", Pfm4Error, "the kernel's driver drives counters alone"),
    ("CPU_CYCLES:u:k:x", Pfm4Error, "no unit mask or modifier 'x'"),
    (EventRequest("CPU_CYCLES", ism=1), "PFMLIB_ERR_INVAL", "always counts IA-64 instructions"),
    (EventRequest("CPU_CYCLES", plm="1"), "PFMLIB_ERR_INVAL", "privilege levels 1 and 2"),
    ("CPU_CYCLES:u=0:k=0", "PFMLIB_ERR_INVAL", "^CPU_CYCLES: neither user nor kernel mode, .*: give u, k or both"),
    (EventRequest("CPU_CYCLES", threshold=9), Pfm4Error, "thres"),
    (Montecito()["CPU_OP_CYCLES_ALL"], PfmError, "is an event of montecito, not of itanium2"),
    ("CPU_CYCLES:thres=1", Pfm4Error, "thres"),
    ("NO_SUCH", Pfm4Error, "itanium2|ita2"),
    ("CPU_CYCLES\0", Pfm4Error, "NUL"),
    ([], "PFMLIB_ERR_INVAL", "0 events"),
    (["CPU_CYCLES"] * 1025, "PFMLIB_ERR_INVAL", "more than 1024"),
    (7, InvalidTypeError, "events"),
    ([7], InvalidTypeError, "event"),
], ids=lambda value: str(value)[:40])
def test_what_is_refused(asked: Any, error: type[Exception] | str, said: str) -> None:
    with refused(error, said):
        Itanium2().for_perf(asked)
    if isinstance(asked, (str, EventRequest)):
        with refused(error, said):
            Itanium2().for_perf([asked])
