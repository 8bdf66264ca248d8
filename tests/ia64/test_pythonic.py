"""The Pythonic layer: events as objects, encode() and its checks, errors, independence."""

from __future__ import annotations

import inspect
import pickle
import re
import threading
from array import array
from dataclasses import replace
from typing import Any

import pytest

import pypfm
from conftest import coded, run_python
from pypfm import (
    AddressRange,
    Btb,
    Ear,
    EarMode,
    Encoding,
    Etb,
    EventNotFoundError,
    EventRequest,
    InvalidValueError,
    IpEar,
    Ism,
    Itanium2,
    Montecito,
    OpcodeMatch,
    Pfm3Error,
    PfmError,
    Plm,
    Pmu,
    PromiseError,
)

ITA2, MONT = Itanium2(), Montecito()


def pmcs(encoding: Encoding) -> dict[int, int]:
    return {r.num: r.value for r in encoding.pmcs}


# ---- events -----------------------------------------------------------------------

def test_events_are_objects() -> None:
    event = ITA2["cpu_cycles"]
    assert (event.index, event.name, event.code, event.umask, event.counters) == (179, "CPU_CYCLES", 0x12, 0, (4, 5, 6, 7))
    assert (event.is_ear, event.group, event.set, event.type, event.unit_masks) == (False, None, None, None, ())
    assert str(event) == "CPU_CYCLES"
    assert event == ITA2.events[179]


def test_events_say_what_they_support() -> None:
    ear = ITA2["DATA_EAR_ALAT"]
    assert (ear.is_ear, ear.is_dear, ear.is_iear, ear.ear_mode) == (True, True, False, EarMode.ALAT)
    assert ITA2["L1I_EAR_TLB_ALL"].ear_mode is EarMode.TLB
    assert ITA2["BRANCH_EVENT"].is_branch
    l1d = MONT["L1D_READS_SET1"]
    assert (l1d.group, l1d.set, l1d.type) == ("L1", 2, "active")
    assert [ITA2[f"L1D_READS_SET{number}"].set for number in (0, 1)] == [0, 1]
    assert [m.name for m in MONT["L3_INSERTS"].unit_masks] == ["I", "S", "E", "M"]
    assert ITA2["NOPS_RETIRED"].supports_code_range
    assert not ITA2["CPU_CYCLES"].supports_code_range


def test_a_mode_of_an_ear_is_true() -> None:
    """An event without an EAR has None, which alone is false; the values are C's."""
    for pmu in (ITA2, MONT, pypfm.Itanium()):
        assert [e for e in pmu.events if e.ear_mode] == [e for e in pmu.events if e.is_ear]
    assert all(EarMode)
    assert [int(mode) for mode in EarMode] == [0, 1, 2]
    assert EarMode.CACHE == 0
    assert pickle.loads(pickle.dumps(EarMode.CACHE)) is EarMode.CACHE
    assert ITA2.encode([], dear=Ear(EarMode.CACHE, 3)) == ITA2.encode([], dear=Ear(0, 3))


def test_a_pmu_is_a_collection_of_events() -> None:
    assert len(ITA2) == 497
    assert [e.index for e in MONT.values()] == list(range(637))
    assert "nops_retired" in ITA2
    assert "NOPS" not in ITA2
    assert "\N{SNOWMAN}" not in ITA2
    assert 3 not in ITA2
    assert [e.name for e in ITA2.find("l1d_reads_set?")] == ["L1D_READS_SET0", "L1D_READS_SET1"]
    assert ITA2.find("nothing*") == []
    assert ITA2.counters == (4, 5, 6, 7)
    assert MONT.pmcs == (*range(16), *range(32, 43))
    assert (MONT.model_name, MONT.counter_width) == ("dual-core Itanium 2", 47)


# ---- encoding ------------------------------------------------------------------------

def test_events_in_every_form() -> None:
    forms: list[Any] = ["CPU_CYCLES", ITA2["CPU_CYCLES"], EventRequest("cpu_cycles"), EventRequest(ITA2["CPU_CYCLES"])]
    assert [r.value for r in ITA2.encode(forms).pmcs] == [0x1228] * 4
    for form in forms:  # one event, without a list
        assert ITA2.encode(form) == ITA2.encode([form])


def test_unit_masks_by_name_index_and_in_the_name() -> None:
    for event in ("L3_INSERTS:M:I", EventRequest("L3_INSERTS", unit_masks=("m", "I")),
                  EventRequest("L3_INSERTS:M", unit_masks=(0,)), EventRequest(MONT["L3_INSERTS"], unit_masks=["3", 0])):
        assert pmcs(MONT.encode([event])) == {4: 0x4A00DA08}


def test_registers_have_names_and_fields() -> None:
    encoding = ITA2.encode([EventRequest("NOPS_RETIRED", threshold=5, ism=Ism.IA64, no_qualcheck=True)],
                           code_ranges=[array("Q", [0x1010, 0x1040])], data_ranges=[AddressRange(0x1000, 0x2000, Plm.PLM0)])
    register = encoding["PMC4"]
    assert register.value == 0x2505028
    assert register.fields == {"plm": 8, "ev": 0, "oi": 1, "pm": 0, "ig1": 0, "es": 0x50, "umask": 0, "thres": 5,
                               "enable": 0, "ism": 2, "ig2": 0}
    assert encoding["IBR1"].fields["mask"] == 0xFFFFF000
    assert encoding["DBR1"].fields["plm"] == 1
    assert set(encoding.registers) >= {"PMC4", "PMC8", "PMC13", "PMC14", "PMC15", "IBR0", "IBR5", "DBR0"}
    assert [r.name for r in encoding.pmds] == ["PMD4"]


def test_both_layouts_of_the_instruction_ear() -> None:
    assert "ct" in ITA2.encode([], iear=Ear(EarMode.TLB, 0x7F))["PMC10"].fields
    cache = ITA2.encode([], iear=Ear(EarMode.CACHE, 0xFF))["PMC10"].fields
    assert (cache["umask"], cache["ct"]) == (0xFF, 1)
    assert MONT.encode([], iear=Ear(EarMode.TLB, 0x7F))["PMC37"].fields["umask"] == 0x7F


def test_actual_ranges_are_those_of_the_registers() -> None:
    cover = ITA2.encode(["LOADS_RETIRED"], data_ranges=[(0x1001, 0x2003)]).drange
    assert cover is not None
    assert [(r.start, r.end, r.start_offset, r.end_offset) for r in cover.ranges] == [(0x1000, 0x2004, 1, 1)]
    fine = Itanium2(cpuid3=0x1F010504).encode(["NOPS_RETIRED"], code_ranges=[(0x1010, 0x1040), (0x2020, 0x2050)]).irange
    assert fine is not None
    # The C library reports the offsets of the second range in the place of the first.
    assert fine.infos[0] == (0, 0x10)
    assert [(r.start, r.end) for r in fine.ranges] == [(0x1000, 0x1040), (0x2020, 0x2060)]
    several = ITA2.encode(["LOADS_RETIRED"], data_ranges=[(0x1000, 0x1C00), (0x4000, 0x4C00)]).drange
    assert several is not None
    assert [(r.start, r.end) for r in several.ranges] == [(0x1000, 0x1C00), (0x4000, 0x4C00)]


def test_opcode_patterns_on_itanium2_make_the_raw_value() -> None:
    pattern = OpcodeMatch(match=0x1234567, mask=0x7654321, m=1, i=0, f=0, b=1)
    fields = ITA2.encode(["IA64_INST_RETIRED"], opcode_match=pattern)["PMC8"].fields
    assert (fields["match"], fields["mask"], fields["m"], fields["i"], fields["b"]) == (0x1234567, 0x7654321, 1, 0, 1)
    raw = ITA2.encode(["IA64_TAGGED_INST_RETIRED_IBRP1_PMC9"], opcode_match=(None, (1 << 64) - 1))
    assert pmcs(raw) == {4: 0x10828, 9: 0xFFFFFFFFFFFFFFFD, 15: 0xFFFFFFFD}


@pytest.mark.parametrize("plm", [9, "user,kernel", "0,3", "KERNEL, 3", Plm.PLM0 | Plm.PLM3])
def test_privilege_levels(plm: int | str) -> None:
    assert pmcs(ITA2.encode(["CPU_CYCLES"], plm=plm)) == {4: 0x1229}


# ---- the manual's promises -------------------------------------------------------

LAST_PAIR = [(0x1000, 0x2000), (0x4000, 0x8000), (0x10000, 0x20000), (0x40000, 0x58000)]


def test_a_fine_range_may_end_with_its_page() -> None:
    assert ITA2.encode(["NOPS_RETIRED"], code_ranges=[(0x1100, 0x2000)])["PMC14"].value == 0xdb4


def test_coverage_is_checked() -> None:
    with pytest.raises(PromiseError, match=r"data range \[0x40000, 0x58000\).*cover less"):
        ITA2.encode(["LOADS_RETIRED"], data_ranges=LAST_PAIR)
    cover = ITA2.encode(["LOADS_RETIRED"], data_ranges=LAST_PAIR, check="reference").drange
    assert cover is not None
    assert cover.ranges[3].end_offset == -0x8000
    with pytest.raises(PromiseError, match="4 KB"):  # bits above 31 are not compared
        ITA2.encode(["NOPS_RETIRED"], code_ranges=[(0x1000, 0x100001010)])
    with pytest.raises(PromiseError, match="64 KB"):
        MONT.encode(["IA64_INST_RETIRED"], code_ranges=[(0x100001000, 0x200001000)])


@pytest.mark.parametrize("threshold", [-1, 6, 7, 8])
def test_thresholds_are_checked(threshold: int) -> None:
    with pytest.raises(PromiseError, match=r"NOPS_RETIRED.*0 to 5"):
        ITA2.encode([EventRequest("NOPS_RETIRED", threshold=threshold)])


WIDE: list[tuple[Itanium2 | Montecito, dict[str, Any]]] = [  # others are in test_refusals.py, with what is said
    (ITA2, {"plm": 16}), (ITA2, {"plm": -1}), (ITA2, {"btb": Btb(ds=2)}), (ITA2, {"btb": Btb(used=2)}),
    (ITA2, {"iear": Ear(1, 0x80)}), (ITA2, {"dear": Ear(0, 0, plm=16)}), (ITA2, {"opcode_match": 1 << 64}),
    (MONT, {"opcode_match": (None, OpcodeMatch(mask=1 << 41))}), (MONT, {"etb": Etb(brt=4)}), (MONT, {"ipear": IpEar(-1)}),
]


@pytest.mark.parametrize(("pmu", "arguments"), WIDE)
def test_widths_are_checked(pmu: Itanium2 | Montecito, arguments: dict[str, Any]) -> None:
    with pytest.raises(PromiseError) as caught:
        pmu.encode(**{"events": ["IA64_INST_RETIRED"], **arguments})
    assert isinstance(caught.value, ValueError)


# ---- errors ----------------------------------------------------------------------------

def test_errors_keep_the_code_and_travel() -> None:
    with pytest.raises(EventNotFoundError) as caught:
        ITA2.encode(["CPU_CYCLE"])
    error = caught.value
    assert (error.code, error.name, error.function) == (-4, "PFMLIB_ERR_NOTFOUND", "pfm_find_event")
    assert isinstance(error, Pfm3Error)
    assert isinstance(error, PfmError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, str(again)) == (type(error), error.code, str(error))


FAILURES: list[tuple[Itanium2 | Montecito, dict[str, Any], str, str]] = [  # others are in test_refusals.py and test_limits.py
    (ITA2, {"events": ["L1D_READS_SET0", "L1D_READS_SET1", "CPU_CYCLES"]}, "EVTSET", "L1D_READS_SET0 / event L1D_READS_SET1: cache"),
    (ITA2, {"events": ["BRANCH_EVENT", "DATA_EAR_TLB_ALL"]}, "EVTINCOMP", "event BRANCH_EVENT / event DATA_EAR_TLB_ALL"),
    (ITA2, {"events": ["L2_OZQ_CANCELS0_ANY"] * 2}, "INVAL", "event L2_OZQ_CANCELS0_ANY"),
    (ITA2, {"events": ["NOPS_RETIRED"], "code_ranges": [(0, 0x1000000), (0x2000000, 0x3000000)]}, "IRRTOOMANY", "code range"),
    (MONT, {"events": ["L3_INSERTS"]}, "UMASK", "event L3_INSERTS"),
    (MONT, {"events": ["L3_INSERTS:Q"]}, "UMASK", "I, S, E, M"),
    (MONT, {"events": ["CPU_OP_CYCLES_ALL:M"]}, "UMASK", "it has none"),
    (MONT, {"events": [EventRequest("L3_INSERTS", unit_masks=["a\0"])]}, "UMASK", "unknown"),
    (MONT, {"events": [EventRequest("CPU_OP_CYCLES_ALL", flags=2)]}, "NOTSUPP", "both threads"),
    (ITA2, {"events": ["NOPS_RETIRED"], "unavailable_pmcs": [15], "btb": Btb()}, "NOASSIGN", "PMC15 being unavailable"),
    (MONT, {"events": [], "dear": Ear(0, ism=1)}, "INVAL", "no instruction set selection"),
    (MONT, {"events": ["IA64_INST_RETIRED"], "opcode_match": 5}, "INVAL", "no raw value"),
    (ITA2, {"events": [MONT["CPU_OP_CYCLES_ALL"]]}, "NOTFOUND", "of montecito, not of itanium2"),
]


@pytest.mark.parametrize(("pmu", "arguments", "code", "text"), FAILURES)
def test_a_failure_names_the_part_at_fault(pmu: Itanium2 | Montecito, arguments: dict[str, Any], code: str, text: str) -> None:
    with pytest.raises(Pfm3Error) as caught:
        pmu.encode(**arguments)
    assert caught.value.name == f"PFMLIB_ERR_{code}"
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_wider_than_the_c_field_are_refused_in_both_checks() -> None:
    with pytest.raises(Pfm3Error, match="does not fit"):
        ITA2.encode([], btb=Btb(tm=256), check="reference")


def test_programming_errors_are_python_errors() -> None:
    with pytest.raises(ValueError, match="manual"):
        ITA2.encode(["CPU_CYCLES"], check="none")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sequence"):
        ITA2.encode(None)
    with pytest.raises(AttributeError, match="no attribute"):
        pypfm.Pentium  # noqa: B018


def test_a_processor_of_another_family_is_refused() -> None:
    with pytest.raises(Pfm3Error, match="family 0x20", check=coded("PFMLIB_ERR_INVAL")):
        Itanium2(cpuid3=0x20000704)
    assert Montecito(cpuid3=0x20000704).fine_mode_bug is False
    assert Itanium2(cpuid3=0x1F010504).fine_mode_bug is True


# ---- independence ------------------------------------------------------------------------

def test_the_mirror_sees_nothing_of_it() -> None:
    code = """
from pypfm import Itanium2, Montecito, pfm3
Itanium2(cpuid3=0x1f010504).encode(["NOPS_RETIRED"], code_ranges=[(0x1010, 0x1050)])
Montecito().encode(["CPU_OP_CYCLES_ALL"])
kind = pfm3.c_int()
assert pfm3.pfm_get_pmu_type(kind) == pfm3.PFMLIB_ERR_NOINIT
pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU)
Montecito().encode(["CPU_OP_CYCLES_ALL"])
assert (pfm3.pfm_get_pmu_type(kind), kind.value) == (0, pfm3.PFMLIB_ITANIUM2_PMU)
print("same")
"""
    done = run_python(code, LIBPFM_FORCE_PMU="99", LIBPFM_VERBOSE="1")
    assert (done.stdout, done.stderr) == ("same\n", "")


def test_too_big_a_range_prints_nothing_here() -> None:
    code = """
from pypfm import Montecito, Pfm3Error
try:
    Montecito().encode(["L2I_PREFETCHES"], code_ranges=[(0x10, 0x8000000000000020)], no_fine=True)
except Pfm3Error as error:
    print(error.name)
"""
    assert run_python(code).stdout == "PFMLIB_ERR_IRRTOOBIG\n"


def test_two_pmus_in_many_threads() -> None:
    detected = Itanium2(cpuid3=0x1F010504)
    wrong: list[str] = []

    def work(number: int) -> None:
        for i in range(60):
            start = 0x1010 + 0x1000 * number
            plain = ITA2.encode(["NOPS_RETIRED"], code_ranges=[(start, start + 0x40)])["IBR0"].value
            fixed = detected.encode(["NOPS_RETIRED"], code_ranges=[(start, start + 0x40)])["IBR0"].value
            if (plain, fixed) != (start, start - 0x10):
                wrong.append(f"{number}/{i}: {plain:#x} {fixed:#x}")
            if pmcs(MONT.encode(["CPU_OP_CYCLES_ALL"], plm=9))[4] != 0x2001209:
                wrong.append(f"{number}/{i}: Montecito")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(("pmu", "events", "options", "said"), [
    (ITA2, None, {}, "events: expected a sequence, not NoneType"),
    (ITA2, [None], {}, "event: expected str or Event, not NoneType"),
    (ITA2, ["NOPS_RETIRED"], {"code_ranges": [(16,)]}, r"expected \(start, end\)"),
    (ITA2, ["NOPS_RETIRED"], {"code_ranges": [16]}, r"expected \(start, end\) or \(start, end, plm\), not 16"),
    (ITA2, ["NOPS_RETIRED"], {"code_ranges": [("0", 16)]}, "AddressRange.start: expected int"),
    (ITA2, ["NOPS_RETIRED"], {"unavailable_pmcs": ["4"]}, "unavailable PMC: expected int"),
    (ITA2, ["NOPS_RETIRED"], {"opcode_match": (1, 2, 3)}, "3 matchers; there are 2"),
    (ITA2, ["NOPS_RETIRED"], {"opcode_match": "1"}, "opcode matcher: expected OpcodeMatch or int"),
    (ITA2, ["NOPS_RETIRED"], {"btb": Etb()}, "expected Btb, not Etb"),
    (ITA2, ["NOPS_RETIRED"], {"plm": None}, "privilege levels: expected int or str"),
    (MONT, ["NOPS_RETIRED"], {"etb": Btb()}, "expected Etb, not Btb"),
    (MONT, ["NOPS_RETIRED"], {"btb": Btb()}, r"encode\(\) has no parameter 'btb'"),
    (ITA2, ["NOPS_RETIRED"], {"code_range": []}, r"has no parameter 'code_range'; the nearest are code_ranges, data_ranges"),
    (pypfm.GenericIA64(), ["CPU_CYCLES"], {"data_ranges": []}, r"encode\(\) has no parameter 'data_ranges'"),
])
def test_wrong_types_are_named(pmu: Any, events: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        pmu.encode(events, **options)


def test_names_and_patterns_are_text() -> None:
    with pytest.raises(EventNotFoundError, match="has no event 3; events have names, such as ALAT_CAPACITY_MISS_ALL"):
        ITA2[3]
    with pytest.raises(TypeError, match="pattern: expected str"):
        MONT.find(None)
    with pytest.raises(Pfm3Error, match=r"unit mask '-1' is unknown \(I, S, E, M\)", check=coded("PFMLIB_ERR_UMASK")):
        MONT.encode([EventRequest("L3_INSERTS", unit_masks=[-1])])


def test_a_pmu_says_what_it_is() -> None:
    assert repr(ITA2) == "<Itanium2: 497 events>"


def test_levels_of_a_pythonic_call_may_be_text() -> None:
    assert ITA2.encode(["CPU_CYCLES"], plm="user")["PMC4"] == ITA2.encode(["CPU_CYCLES"], plm=8)["PMC4"]


# ---- PMUs by name, registers made by hand --------------------------------------------------

@pytest.mark.parametrize("name", ["itanium2", "montecito", "itanium", "gen_ia64"])
def test_any_pmu_encodes(name: str) -> None:
    """What a program writes that does not know its PMU; a type checker sees the same parameters."""
    pmu: Pmu = pypfm.pmu_of(name)
    encoding = pmu.encode([next(iter(pmu))], plm="user", system_wide=False, unavailable_pmcs=[], check="manual")
    assert encoding.pmu == name
    common = inspect.signature(Pmu.encode).parameters
    own = inspect.signature(type(pmu).encode).parameters
    assert {parameter: own[parameter] for parameter in common} == dict(common)


@pytest.mark.parametrize("cls", [Pmu, pypfm.Itanium2, pypfm.Montecito, pypfm.Itanium])
def test_help_has_each_parameter(cls: type[Pmu]) -> None:
    """Also those that stand elsewhere, for all PMUs."""
    parameters = inspect.signature(cls.encode).parameters
    assert {p.kind for p in list(parameters.values())[2:]} == {inspect.Parameter.KEYWORD_ONLY}
    assert re.findall(r":param (\w+):", cls.encode.__doc__ or "") == list(parameters)[1:]


@pytest.mark.parametrize("name", ["itanium3", "", None, 5, ITA2])
def test_no_pmu_of_that_name(name: Any) -> None:
    with pytest.raises(InvalidValueError, match="expected one of itanium2, montecito, itanium, gen_ia64"):
        pypfm.pmu_of(name)


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_a_register_has_64_bits(value: int) -> None:
    encoding = ITA2.encode(["IA64_INST_RETIRED"], code_ranges=[(0x1000, 0x2000)])
    for register in (encoding["PMC4"], encoding["IBR0"], encoding["IBR1"]):
        assert replace(register, value=(1 << 64) - 1).value == (1 << 64) - 1
        with pytest.raises(InvalidValueError, match=rf"{register.name}: .* does not fit 64 bits"):
            replace(register, value=value)
