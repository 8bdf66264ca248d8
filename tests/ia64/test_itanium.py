"""Itanium (Merced) and the generic IA-64 PMU in Python: objects, encode() and its checks, the mirror."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from conftest import coded, refused, run_python
from pypfm import (
    Ear,
    EarMode,
    Encoding,
    EventNotFoundError,
    EventRequest,
    GenericIA64,
    Itanium,
    Itanium2,
    ItaniumBtb,
    Montecito,
    OpcodeMatch,
    Pfm3Error,
    PfmError,
    PromiseError,
    pfm3,
)
from pypfm.ia64.models import MODELS

ITA, GEN, CORRECTED = Itanium(), GenericIA64(), Itanium(corrected=True)
ALL_KEYS = {
    "PMC/PMD pairs": "4", "Counter width": "40 bits", "Cycle event number": "18", "Retired event number": "9",
    "Implemented PMC": "0-15 ", "Implemented PMD": "0-17 ", "Cycles count capable": "4-7 ",
    "Retired bundles count capable": "4-5 ",
}


def pal_file(directory: Path, **changes: str | None) -> Path:
    """A file like perfmon_info; keys are given with _ for a blank, None leaves one out."""
    keys = ALL_KEYS | {name.replace("_", " "): value for name, value in changes.items()}
    path = directory / "perfmon_info"
    path.write_text("".join(f"{key:<30}: {value}\n" for key, value in keys.items() if value is not None))
    return path


def pmcs(encoding: Encoding) -> dict[int, int]:
    return {r.num: r.value for r in encoding.pmcs}


# ---- Itanium ------------------------------------------------------------------------

def test_itanium_says_what_it_is() -> None:
    assert (ITA.name, ITA.model_name, len(ITA), ITA.counters, ITA.counter_width) == (
        "itanium", "itanium", 230, (4, 5, 6, 7), 32)
    assert (ITA.pmcs, ITA.pmds) == (tuple(range(14)), tuple(range(18)))
    assert repr(ITA) == "<Itanium: 230 events>"
    assert not Itanium(0x07000804).fine_mode_bug
    with pytest.raises(Pfm3Error, match="itanium is 0x7", check=coded("PFMLIB_ERR_INVAL")):
        Itanium(0x1F010504)


def test_events_of_itanium() -> None:
    ear = ITA["instruction_ear_tlb_vhpt"]
    assert (ear.is_iear, ear.is_dear, ear.ear_mode, ear.umask, ear.code) == (True, False, EarMode.TLB, 4, 0x23)
    assert not ITA["DATA_EAR_EVENTS"].is_ear
    assert [e.name for e in ITA.values() if e.is_branch] == ["BRANCH_EVENT"]
    assert ITA["IA64_INST_RETIRED"].counters == (4, 5)
    assert ITA["FP_OPS_RETIRED_LO"].group is None
    assert ITA["CPU_CYCLES"].type is None
    assert len(ITA.find("L3_*")) == 21
    with pytest.raises(EventNotFoundError, match="the nearest is CPU_CYCLES"):
        ITA["CPU_CYCLE"]
    with pytest.raises(Pfm3Error, match="it has none", check=coded("PFMLIB_ERR_UMASK")):
        ITA.encode(["CPU_CYCLES:M"])
    with pytest.raises(EventNotFoundError, match="is an event of itanium2, not of itanium"):
        ITA.encode([Itanium2()["CPU_CYCLES"]])


def test_descriptions_are_python_s_alone() -> None:
    """The C library of old has none for Itanium, and neither has ours."""
    assert ITA["CPU_CYCLES"].description == "Processor clock cycles that have passed"
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM_PMU) == 0
    text = pfm3.c_char_p()
    assert pfm3.pfm_get_event_description(113, text) == 0
    assert text.value == b"no description available"
    assert pfm3.pfm_get_event_description(230, text) == pfm3.PFMLIB_ERR_INVAL


def test_encode_on_itanium() -> None:
    encoding = ITA.encode([EventRequest("FP_OPS_RETIRED_HI", threshold=2, ism=2), "CPU_CYCLES"], plm="user,kernel",
                          system_wide=True, unavailable_pmcs=[4])
    assert pmcs(encoding) == {5: 0x2200A69, 6: 0x1269}
    assert encoding["PMC5"].fields == {
        "plm": 9, "ev": 0, "oi": 1, "pm": 1, "ig1": 0, "es": 0xA, "ig2": 0, "umask": 0, "thres": 2, "ig3": 0, "ism": 2,
        "ig4": 0}
    assert encoding.irange is None
    assert pickle.loads(pickle.dumps(encoding)) == encoding


def test_ears_and_matchers_of_itanium() -> None:
    encoding = ITA.encode(["CPU_CYCLES"], iear=Ear(EarMode.TLB, 8, plm="kernel", ism=1), dear=Ear(EarMode.CACHE, 3))
    assert pmcs(encoding) == {4: 0x1228, 10: 0x1080081, 11: 0x10030008}
    assert encoding["PMC11"].alt_addr == 0
    match = OpcodeMatch(match=0x5, mask=0x3, b=0, f=0)
    assert pmcs(ITA.encode(["IA64_INST_RETIRED"], opcode_match=(match, 7))) == {
        4: 0x828, 8: 0xC000000A00000018, 9: 7}
    assert ITA.encode(["IA64_INST_RETIRED"], opcode_match=match)["PMC8"].fields["match"] == 5


def test_branch_buffer_of_itanium_loses_its_settings() -> None:
    """A quirk of libpfm 3.10: the number of the register stands in the place of its value."""
    for btb in (None, ItaniumBtb(), ItaniumBtb(tm=1, ptm=2, ppm=0, tar=0, tac=0, bac=0, plm=1)):
        encoding = ITA.encode(["BRANCH_EVENT"], btb=btb, check="reference")
        assert (encoding["PMC12"].value, encoding["PMC12"].addr) == (12, 0)
        assert [r.num for r in encoding.pmds] == [4, *range(8, 17)]
        with pytest.raises(PromiseError, match=r"writes 12 into PMC12, .*; Itanium\(corrected=True\)"):
            ITA.encode(["BRANCH_EVENT"], btb=btb)
    with pytest.raises(PromiseError, match="writes 12 into PMC12"):
        ITA.encode(["CPU_CYCLES"], btb=ItaniumBtb())


def test_branch_buffer_corrected() -> None:
    """The value that the fields of the settings make up, at the register's own addresses."""
    for check in ("manual", "reference"):
        encoding = CORRECTED.encode(["BRANCH_EVENT"], plm="kernel", system_wide=True, check=check)  # type: ignore[arg-type] # a choice
        assert encoding["PMC12"].value == 0xFFC1
        assert (encoding["PMC12"].addr, encoding["PMC12"].alt_addr) == (12, 12)
        assert encoding["PMC4"].value == 0x1161
    settings = ItaniumBtb(tm=1, ptm=2, ppm=0, tar=0, tac=1, bac=0, plm=6)
    assert CORRECTED.encode([], btb=settings)["PMC12"].value == 0x4906
    with pytest.raises(PromiseError, match="BTB: tm is 0x4"):
        CORRECTED.encode([], btb=ItaniumBtb(tm=4))
    assert CORRECTED.encode([], btb=ItaniumBtb(tm=4), check="reference")["PMC12"].fields["tm"] == 0
    assert CORRECTED.encode(["CPU_CYCLES"]) == ITA.encode(["CPU_CYCLES"])


def test_an_itanium_with_corrections_is_another_one() -> None:
    assert CORRECTED != ITA
    for other in (pickle.loads(pickle.dumps(CORRECTED)), copy.copy(CORRECTED), Itanium(0x07000804, corrected=True)):
        assert (other, hash(other), other.corrected) == (CORRECTED, hash(CORRECTED), True)
    assert not ITA.corrected


def test_ranges_of_itanium() -> None:
    encoding = ITA.encode(["NOPS_RETIRED"], code_ranges=[(0x1000, 0x1040), (0x20000, 0x30000, 1)])
    assert pmcs(encoding) == {4: 0x3028, 13: 0}
    assert encoding.irange is not None
    assert [(r.start, r.end) for r in encoding.irange.ranges] == [(0x1000, 0x1040), (0x20000, 0x30000)]
    assert not encoding.irange.fine
    assert encoding["IBR3"].fields["plm"] == 1
    encoding = ITA.encode(["LOADS_RETIRED"], data_ranges=[(0x1001, 0x2003)])
    assert encoding["PMC11"].fields["pt"] == 0
    assert encoding.drange is not None
    assert (encoding.drange.ranges[0].start_offset, encoding.drange.ranges[0].end_offset) == (1, 1)


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ({"events": ["NOPS_RETIRED"], "code_ranges": [(0x1008, 0x1100)]}, "PFMLIB_ERR_IRR", "multiples of 16"),
    ({"events": ["CPU_CYCLES"], "code_ranges": [(0x1000, 0x1100)]}, "PFMLIB_ERR_FEATCOMB", "CPU_CYCLES cannot be restricted by a code range"),
    ({"events": ["CPU_CYCLES"], "iear": Ear(EarMode.ALAT)}, PromiseError, "mode is 0x2"),
    ({"events": ["CPU_CYCLES"], "iear": Ear(EarMode.CACHE, 16)}, PromiseError, "4 bits"),
    ({"events": ["CPU_CYCLES"], "btb": ItaniumBtb(tar=2)}, PromiseError, "BTB: tar is 0x2, but its field has 1 bit"),
    ({"events": ["CPU_CYCLES"], "btb": ItaniumBtb(ppm=4)}, PromiseError, "2 bits"),
    ({"events": [EventRequest("CPU_CYCLES", threshold=1)]}, PromiseError, "only 0 is possible"),
    ({"events": ["CPU_CYCLES"] * 5}, Pfm3Error, "itanium has 4 counters"),
    ({"events": ["CPU_CYCLES"], "opcode_match": OpcodeMatch(match=1 << 27)}, PromiseError, "27 bits"),
])
def test_what_itanium_refuses(arguments: dict[str, Any], error: type[PfmError] | str, text: str) -> None:
    with refused(error, text):
        ITA.encode(**arguments)


def test_coverage_is_promised_on_itanium_too() -> None:
    """The last pair can be too small for what is left of a range."""
    limits = [(0x1000, 0x2000), (0x4000, 0x8000), (0x10000, 0x20000), (0x30010, 0x38000 + 0x3000)]
    loads = EventRequest("LOADS_RETIRED")
    with pytest.raises(PromiseError, match="cover less"):
        ITA.encode([loads], data_ranges=limits)
    assert ITA.encode([loads], data_ranges=limits, check="reference").drange is not None


def test_data_ranges_and_the_data_ear() -> None:
    """They share PMC11: only with an event and settings both do as they should."""
    dear, limits = Ear(EarMode.CACHE, 3), [(0x1000, 0x2000)]
    event = EventRequest("DATA_EAR_CACHE_LAT32", no_qualcheck=True)
    with pytest.raises(PromiseError, match="write PMC11 twice"):
        ITA.encode(["LOADS_RETIRED"], dear=dear, data_ranges=limits)
    with pytest.raises(PromiseError, match="let PMC11 ignore the ranges"):
        ITA.encode([event], data_ranges=limits)
    assert pmcs(ITA.encode([event], dear=dear, data_ranges=limits)) == {4: 0x6728, 11: 0x30008}
    twice = ITA.encode(["LOADS_RETIRED"], dear=dear, data_ranges=limits, check="reference")
    assert [(r.num, r.value) for r in twice.pmcs] == [(4, 0x6C28), (11, 0x30008), (11, 8)]
    assert twice["PMC11"].value == 8  # the one that stays


def test_data_ranges_and_the_data_ear_corrected() -> None:
    """One PMC11 with the settings, which the data ranges restrict."""
    dear, limits = Ear(EarMode.CACHE, 3), [(0x1000, 0x2000)]
    event = EventRequest("DATA_EAR_CACHE_LAT32", no_qualcheck=True)
    assert pmcs(CORRECTED.encode([event], data_ranges=limits)) == {4: 0x6728, 11: 0x30008}
    once = CORRECTED.encode(["LOADS_RETIRED"], dear=dear, data_ranges=limits)
    assert [(r.num, r.value, r.addr, r.alt_addr) for r in once.pmcs] == [(4, 0x6C28, 4, 4), (11, 0x30008, 11, 0)]
    assert once["PMC11"].fields["pt"] == 0
    assert CORRECTED.encode([], dear=dear)["PMC11"].fields["pt"] == 1
    assert pmcs(CORRECTED.encode(["LOADS_RETIRED"], data_ranges=limits)) == {4: 0x6C28, 11: 8}


@pytest.mark.parametrize(("pmu", "events", "text"), [
    (ITA, ["DATA_EAR_CACHE_LAT4", "DATA_EAR_CACHE_LAT8"], "DATA_EAR_CACHE_LAT4 and DATA_EAR_CACHE_LAT8: there is one data EAR"),
    (Itanium2(), ["L1I_EAR_TLB_ALL", "L1I_EAR_CACHE_LAT0"], "there is one instruction EAR, which records what one"),
    (Montecito(), ["DATA_EAR_CACHE_LAT4", "DATA_EAR_ALAT"], r"one at a time, or give settings of the data EAR \(dear\)"),
    (Montecito(), [EventRequest("ETB_EVENT", plm="kernel")], r"at the default levels .* settings of the branch trace buffer \(etb\)"),
    (Itanium2(), [EventRequest("BRANCH_EVENT", plm="kernel")], r"settings of the branch trace buffer \(btb\)"),
    (ITA, [EventRequest("DATA_EAR_TLB_L2", plm="kernel")], "DATA_EAR_TLB_L2 sets up the data EAR, which would record at the default"),
])
def test_what_events_set_up_has_one_setting_at_the_default_levels(
        pmu: Itanium | Itanium2 | Montecito, events: list[str | EventRequest], text: str) -> None:
    with pytest.raises(PromiseError, match=text):
        pmu.encode(events)
    assert pmu.encode(events, check="reference")


def test_settings_of_their_own_are_taken_for_such_events() -> None:
    encoding = Itanium2().encode(["DATA_EAR_CACHE_LAT4", EventRequest("DATA_EAR_CACHE_LAT64", plm="kernel")],
                                 dear=Ear(EarMode.CACHE, 3, plm="user,kernel"))
    assert encoding["PMC11"].fields["plm"] == 9
    assert Itanium2().encode([EventRequest("DATA_EAR_ALAT", plm="user")], plm="user")


def test_settings_that_c_would_not_be_told() -> None:
    for pmu in (ITA, Itanium2(), Montecito()):
        with pytest.raises(PromiseError, match="model_input is False: C would not be told of any setting but"):
            pmu.encode([], iear=Ear(EarMode.CACHE, 1), model_input=False)
        with pytest.raises(PromiseError, match="model_input is False"):
            pmu.encode([EventRequest("IA64_INST_RETIRED", threshold=1)], model_input=False)
        assert pmu.encode(["IA64_INST_RETIRED"], model_input=False)


# ---- the generic PMU -------------------------------------------------------------------

def test_generic_pmu_is_as_forced() -> None:
    assert (GEN.name, GEN.model_name, len(GEN), GEN.counters, GEN.counter_width) == (
        "gen_ia64", "IA-64", 2, (4, 5, 6, 7), 47)
    assert (GEN.pmcs, GEN.pmds) == (tuple(range(8)), (4, 5, 6, 7))
    assert [(e.name, e.code, e.counters) for e in GEN.values()] == [
        ("CPU_CYCLES", 18, (4, 5, 6, 7)), ("IA64_INST_RETIRED", 8, (4, 5, 6, 7))]
    encoding = GEN.encode(["ia64_inst_retired", EventRequest("CPU_CYCLES", plm="kernel")])
    assert [(r.num, r.value, r.addr, r.alt_addr) for r in encoding.pmcs] == [(4, 0x828, 0, 0), (5, 0x1221, 1, 0)]
    assert [(r.num, r.addr, r.alt_addr) for r in encoding.pmds] == [(4, 4, 0), (5, 5, 0)]
    assert encoding["PMC4"].fields == {"plm": 8, "ev": 0, "oi": 1, "pm": 0, "ig1": 0, "es": 8, "ig2": 0}


@pytest.mark.parametrize("as_given", [str, Path, lambda p: os.fspath(p)])
def test_generic_pmu_of_a_file(as_given: Any, tmp_path: Path) -> None:
    pmu = GenericIA64(as_given(pal_file(tmp_path)))
    assert (pmu.counter_width, pmu.pmcs, pmu.pmds) == (40, tuple(range(16)), tuple(range(18)))
    assert [(e.code, e.counters) for e in pmu.values()] == [(18, (4, 5, 6, 7)), (9, (4, 5))]
    assert pmcs(pmu.encode(["CPU_CYCLES", "IA64_INST_RETIRED", "IA64_INST_RETIRED"])) == {6: 0x1228, 4: 0x928, 5: 0x928}
    with pytest.raises(Pfm3Error, match="free counter"):
        pmu.encode(["IA64_INST_RETIRED"] * 3)
    assert GEN["IA64_INST_RETIRED"].code == 8  # others are other objects


def test_registers_beyond_64(tmp_path: Path) -> None:
    pmu = GenericIA64(pal_file(tmp_path, Implemented_PMC="4-7 64 511 ", Implemented_PMD="200-202"))
    assert (pmu.pmcs, pmu.pmds) == ((4, 5, 6, 7, 64, 511), (200, 201, 202))


@pytest.mark.parametrize("change", [
    {"Counter_width": None}, {"Cycle_event_number": None}, {"Implemented_PMC": "0-512 "}, {"Implemented_PMD": "512 "}])
def test_a_file_that_does_not_say_all(change: dict[str, str | None], tmp_path: Path) -> None:
    path = pal_file(tmp_path, **change)
    with pytest.raises(Pfm3Error, match="is no perfmon_info", check=coded("PFMLIB_ERR_NOTSUPP")) as error:
        GenericIA64(path)
    assert error.value.name == "PFMLIB_ERR_NOTSUPP"
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", ["", "/nonexistent/perfmon_info", "/tmp", "/dev/null", "/dev/zero", "a\0b", "\udcff"])
def test_a_path_that_is_no_such_file(path: str) -> None:
    with pytest.raises(Pfm3Error, match="is no perfmon_info", check=coded("PFMLIB_ERR_NOTSUPP")):
        GenericIA64(path)


def test_a_pmu_that_could_not_be_made_leaves_the_others_alone(tmp_path: Path) -> None:
    pmu = GenericIA64(pal_file(tmp_path))
    with pytest.raises(Pfm3Error, check=coded("PFMLIB_ERR_NOTSUPP")):
        GenericIA64("/nonexistent")
    assert pmu.encode(["IA64_INST_RETIRED"])["PMC4"].value == 0x928


def test_the_environment_is_the_mirror_s(tmp_path: Path) -> None:
    done = run_python("from pypfm import GenericIA64\nprint(GenericIA64().counter_width)",
                      LIBPFM_IA64_PAL=str(pal_file(tmp_path)), LIBPFM_IA64_CPUID3="0x21000000")
    assert done.stdout.strip() == "47"


@pytest.mark.parametrize("event", [
    EventRequest("CPU_CYCLES", threshold=1), EventRequest("CPU_CYCLES", ism=1),
    EventRequest("CPU_CYCLES", no_qualcheck=True), EventRequest("CPU_CYCLES", flags=2)])
def test_generic_pmu_has_no_settings(event: EventRequest) -> None:
    with pytest.raises(Pfm3Error, match="no model-specific settings", check=coded("PFMLIB_ERR_INVAL")):
        GEN.encode([event])
    with pytest.raises(Pfm3Error, match="no model-specific settings", check=coded("PFMLIB_ERR_INVAL")):
        GEN.encode([event], check="reference")


def test_generic_pmu_refuses_what_does_not_fit() -> None:
    with pytest.raises(PromiseError, match="privilege level mask is 0x10"):
        GEN.encode([EventRequest("CPU_CYCLES", plm=16)])
    assert GEN.encode([EventRequest("CPU_CYCLES", plm=16)], check="reference")["PMC4"].value == 0x1220
    with pytest.raises(Pfm3Error, check=coded("PFMLIB_ERR_INVAL")):
        GEN.encode(["CPU_CYCLES"], plm=0)
    with pytest.raises(Pfm3Error, match="gen_ia64 has 4 counters"):
        GEN.encode(["CPU_CYCLES"] * 5)


def test_pmus_can_be_dropped_and_copied(tmp_path: Path) -> None:
    """An object keeps the memory that its model lies in."""
    encodings = [copy.copy(GenericIA64(pal_file(tmp_path))).encode(["CPU_CYCLES"]) for _ in range(50)]
    assert {e["PMC4"].value for e in encodings} == {0x1228}


# ---- the mirror ------------------------------------------------------------------------

def test_branch_buffer_corrected_cuts_what_is_too_wide() -> None:
    """As C does: no bit of a setting is in the next one."""
    plain = CORRECTED.encode([], btb=ItaniumBtb(tm=0, ptm=0, ppm=0, tar=0, tac=0, bac=0, plm=1), check="reference")["PMC12"].value
    for name, width in {"tm": 2, "ptm": 2, "ppm": 2, "tar": 1, "tac": 1, "bac": 1}.items():
        settings = dict.fromkeys(("tm", "ptm", "ppm", "tar", "tac", "bac"), 0) | {name: 1 << width}
        wide = CORRECTED.encode([], btb=ItaniumBtb(**settings, plm=1), check="reference")["PMC12"].value
        assert wide == plain, name
        with pytest.raises(PromiseError, match=f"BTB: {name} is {1 << width:#x}, but its field has {width} bit"):
            CORRECTED.encode([], btb=ItaniumBtb(**settings, plm=1))


@pytest.mark.parametrize(("name", "pmu"), [("itanium", pfm3.PFMLIB_ITANIUM_PMU), ("itanium2", pfm3.PFMLIB_ITANIUM2_PMU),
                                           ("montecito", pfm3.PFMLIB_MONTECITO_PMU), ("gen_ia64", pfm3.PFMLIB_GEN_IA64_PMU)])
def test_counters_are_those_of_c(name: str, pmu: int) -> None:
    mask = pfm3.pfmlib_regmask_t()
    assert pfm3.pfm_force_pmu(pmu) == pfm3.PFMLIB_SUCCESS
    assert pfm3.pfm_get_impl_counters(mask) == pfm3.PFMLIB_SUCCESS
    assert [n for n in range(64) if mask.bits[0] >> n & 1] == list(MODELS[name].counters)
