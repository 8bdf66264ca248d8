"""A name is bytes with a length: what goes on after a NUL is another name, which nothing has."""

from __future__ import annotations

import pytest

import pypfm
from pypfm import errors

PMUS = [pypfm.Itanium2, pypfm.Montecito, pypfm.Itanium, pypfm.GenericIA64, pypfm.Goldmont, pypfm.Perf]


@pytest.mark.parametrize("pmu_class", PMUS)
def test_no_pmu_has_a_name_with_a_nul(pmu_class: type) -> None:
    """tests/c/names.h has a thousand endings for each: some have the name's own place in the hash table."""
    pmu = pmu_class()
    names = list(pmu)
    assert all(name in pmu for name in names)
    assert [name for name in names for tail in ("\0", "\000147") if name + tail in pmu] == []


@pytest.mark.parametrize("pmu_class", [pypfm.Itanium2, pypfm.Montecito, pypfm.Itanium, pypfm.GenericIA64])
def test_such_a_name_is_not_encoded(pmu_class: type) -> None:
    pmu = pmu_class()
    for name in list(pmu)[::50]:
        with pytest.raises(errors.EventNotFoundError):
            pmu.encode([f"{name}\0"])


@pytest.mark.parametrize("name", ["BE_EXE_BUBBLE_ARCR_PR_CANCEL_BANK\x00147"])
def test_a_name_that_was_taken(name: str) -> None:
    pmu = pypfm.Itanium2()
    assert name not in pmu
    with pytest.raises(errors.EventNotFoundError):
        pmu.encode([name])


@pytest.mark.parametrize("pmu_class", [pypfm.Goldmont, pypfm.Perf])
def test_an_event_string_with_a_nul(pmu_class: type) -> None:
    pmu = pmu_class()
    for event in list(pmu.values())[::10]:
        parts = [event.name, *(f"{event.name}:{mask.name}" for mask in getattr(event, "umasks", ())), f"{event.name}:u"]
        for part in parts:
            with pytest.raises(errors.PfmError):
                pmu.encode(f"{part}\0x")


@pytest.mark.parametrize("machine", ["linux", "xscale", "i586", "i686", "k7"])
def test_events_of_machines(machine: str) -> None:
    names = pypfm.Machine(machine)
    assert [name for name in names if name + "\0x" in names] == []
