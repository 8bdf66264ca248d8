"""What codes and fields of perf_event_attr are said to mean, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from pypfm import DecodeError, Goldmont, Perf, perf, pfm4
from pypfm.decoding import decode
from pypfm.perf.decode import TYPES, values_of


def test_values_are_numbers() -> None:
    for pmu, name in (("itanium2", "PMC4"), ("glm", "code")):
        with pytest.raises(TypeError, match=f"{name}: expected int, not str"):
            decode(pmu, {name: "0x1228"})


def test_several_events_of_one_code() -> None:
    decoded = decode("glm", {"code": 0x5300C0})
    assert [(c.event, c.aliases, c.string) for c in decoded.candidates] == [
        ("INST_RETIRED", (), "glm::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0"),
        ("INSTRUCTION_RETIRED", ("INSTRUCTIONS_RETIRED",), "glm::INSTRUCTION_RETIRED:k=1:u=1:e=0:i=0:c=0")]
    assert decoded.fields["event"] == 0xC0
    assert decoded.notes == ()


def test_every_event_and_unit_mask_of_goldmont_comes_back() -> None:
    glm = Goldmont()
    for event in glm.values():
        for umask in event.umasks:
            made = glm.encode(f"{event.name}:{umask.name}:u:k", check="reference")
            values = dict(zip(("code", "offcore"), made.codes, strict=False))
            assert made.event in [c.event for c in decode("glm", values).candidates]


def test_a_unit_mask_without_a_name_is_a_number() -> None:
    (found,) = decode("glm", {"code": 0x530480}).candidates
    assert found.request == "glm::ICACHE:0x4:k=1:u=1:e=0:i=0:c=0"


@pytest.mark.parametrize(("code", "value", "tokens"), [
    (0x5101B7, 0x18000, "ANY_REQUEST:ANY_RESPONSE"),
    (0x5101B7, 0x4000008000, "ANY_REQUEST:OUTSTANDING"),
    (0x5101B7, 0x1000011000, "SW_PF:ANY_RESPONSE:L2_MISS_HITM_OTHER_CORE"),  # not to be encoded as it stands
    (0x5102B7, 0x1E00040008, "WB:L2_HIT:L2_MISS_SNP_ANY"),  # likewise: its snoops are the library's default
    (0x5101B7, 0x1, "0x1"),
    (0x5101B7, 0x3FFFFFFFFF, "0xffffffff"),  # the library prints 32 bits
])
def test_offcore_values(code: int, value: int, tokens: str) -> None:
    decoded = decode("glm", {"code": code, "offcore": value})
    (found,) = decoded.candidates
    assert found.string == f"glm::{found.event}:{tokens}:k=0:u=1:e=0:i=0:c=0"
    assert decoded.encode(found).codes == (code, value)
    assert decoded.offcore is not None
    assert decoded.offcore.value == value
    assert ("other bits" in dict(decoded.offcore.rows())) == (decoded.offcore.other != 0)
    config = decode("glm", {"config": code & 0xFFFF, "config1": value, "exclude_kernel": 1})
    assert [(c.event, config.encode(c).attr["config1"]) for c in config.candidates] == [(found.event, value)]


def test_an_offcore_value_of_0() -> None:
    for values in ({"code": 0x5101B7, "offcore": 0}, {"config": 0x1B7, "config1": 0, "exclude_kernel": 1}):
        assert [c.request for c in decode("glm", values).candidates] == [
            f"glm::OFFCORE_RESPONSE_0:0x0:{'k=0:u=1' if 'code' in values else 'u=1:k=0'}:e=0:i=0:c=0"]


@pytest.mark.parametrize(("values", "note"), [
    ({"code": 0x1300C0}, "en = 0: the library writes 1"),
    ({"code": 0x7B00C0}, "pc = 1: the library writes 0"),
    ({"code": 0x15300C0 | 1 << 40}, "bits above 31: 0x100 (the register has 32)"),
    ({"code": 0x5300FF}, "no event of the library encodes to these values"),
    ({"config": 0x300C0}, "usr = 1: the library writes 0"),
    ({"config": 0xC0, "type": 0}, "type 0 (hardware) is no event of the processor; its type is 4"),
    ({"offcore": 0x10001}, "without the code it can belong to either offcore event"),
    ({"code": 0x5101B7, "offcore": 1 << 39}, "no event of the library encodes to these values"),
])
def test_values_of_no_event(values: dict[str, int], note: str) -> None:
    decoded = decode("glm", values)
    assert decoded.candidates == ()
    assert note in decoded.notes


def test_offcore_bits_that_no_unit_mask_names() -> None:
    found = decode("glm", {"code": 0x5101B7, "offcore": 1 << 39 | 0x10001}).offcore
    assert found is not None
    assert dict(found.rows())["other bits"] == "0x8000000000"


@pytest.mark.parametrize(("values", "note", "candidates"), [
    ({"code": 0x5101B7}, "the requests are in the offcore register: give its value too", 1),
    ({"code": 0x5300C0, "offcore": 5}, "an offcore value belongs to codes 0x1b7 and 0x2b7 only", 0),
])
def test_offcore_values_that_do_not_fit(values: dict[str, int], note: str, candidates: int) -> None:
    decoded = decode("glm", values)
    assert decoded.notes == (note,)
    assert len(decoded.candidates) == candidates


def test_the_values_of_an_encoding_are_those_of_its_layer() -> None:
    asked = "INSTRUCTION_RETIRED:u"
    assert values_of(Goldmont().encode(asked)) == {"code": 0x5100C0}
    assert values_of(Goldmont().encode(asked, os="perf_event")) == {"type": 4, "config": 0xC0, "exclude_kernel": 1}


@pytest.mark.parametrize(("levels", "excluded"), [("u", {"exclude_kernel"}), ("k", {"exclude_user"}), ("u:k", set())])
def test_levels_of_ia64_are_levels_of_the_attribute(levels: str, excluded: set[str]) -> None:
    attr = perf.Pmu("ita2").encode(f"CPU_CYCLES:{levels}").attr or {}
    assert {name for name in ("exclude_user", "exclude_kernel") if attr.get(name)} == excluded


def test_what_is_not_given_is_zero() -> None:
    decoded = decode("ita2", {"config": 0x1200})
    assert ([c.event for c in decoded.candidates], decoded.notes) == (["CPU_CYCLES"], ())


def test_only_a_type_that_is_not_known_is_the_kernels() -> None:
    notes = {kind: decode("perf", {"type": kind, "config": 0}).notes for kind in (0, 5, 12)}
    assert [kind for kind, said in notes.items() if any("that the running kernel knows" in note for note in said)] == [12]


@pytest.mark.parametrize(("values", "events"), [
    ({"type": 0, "config": 0}, {"PERF_COUNT_HW_CPU_CYCLES": ("CYCLES", "CPU-CYCLES")}),
    ({"type": 1, "config": 1}, {"PERF_COUNT_SW_TASK_CLOCK": ("TASK-CLOCK",)}),
    ({"type": 3, "config": 0x10000}, {"PERF_COUNT_HW_CACHE_L1D": ("L1-DCACHE-LOAD-MISSES",)}),
    ({"type": 4, "config": 0x1C4}, {"r1c4": ()}),
    ({"type": 0, "config": 99}, {}),
    ({"type": 4, "config": (1 << 64) - 1}, {}),
    ({"type": 2, "config": 7}, {}),
    ({"type": 5, "config": 0}, {}),
    ({"type": 12, "config": 0}, {}),
])
def test_types_and_configs(values: dict[str, int], events: dict[str, tuple[str, ...]]) -> None:
    decoded = decode("perf", values)
    assert {c.event: c.aliases for c in decoded.candidates} == events or (
        {c.event: set(c.aliases) for c in decoded.candidates} == {e: set(a) for e, a in events.items()})
    assert bool(decoded.notes) is not bool(events)


def test_levels_of_perf_events() -> None:
    (found,) = decode("perf", {"type": 0, "config": 0, "exclude_kernel": 1, "exclude_hv": 1}).candidates
    assert found.string == "perf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=0:h=0:mg=0:mh=1"
    (found,) = decode("perf", {"type": 1, "config": 1}).candidates
    assert found.string == "perf::PERF_COUNT_SW_TASK_CLOCK:u=1:k=1:mg=0:mh=1"


def test_a_code_without_a_type_can_be_of_any() -> None:
    decoded = decode("perf", {"code": 2})
    assert {c.event for c in decoded.candidates} == {"PERF_COUNT_HW_CACHE_REFERENCES", "PERF_COUNT_SW_PAGE_FAULTS",
                                                     "PERF_COUNT_HW_CACHE_LL", "r2"}
    assert decoded.notes == ("without its type a code can be of any",)


def test_every_perf_event_comes_back() -> None:
    for event in Perf().values():
        if event.umasks:
            continue
        made = Perf().encode(event.name)
        names = [n for c in decode("perf", {"type": made.attr["type"], "config": made.attr["config"]}).candidates
                 for n in c.names]
        assert event.name in names


@pytest.mark.parametrize(("pmu", "values", "message"), [
    ("glm", {"PMC4": 1}, "glm has no value 'PMC4'; it has code, offcore, type"),
    ("perf", {"offcore": 1}, "perf has no value 'offcore'"),
    ("glm", {"code": 1 << 64}, "code: '0x10000000000000000' does not fit 64 bits"),
    ("glm", {"code": 1, "config": 2}, "give raw codes or fields of perf_event"),
    ("glm", {"code": 1, "CODE": 2}, "code is given twice"),
    ("perf", {"type": 1}, "type without config: nothing to decode"),
    ("perf", {"config": 1}, "config without type: give type=0 to 5"),
    ("perf", {"type": 0, "config": 0, "exclude_user": 2}, "exclude_user=2: a flag of perf_event_attr is 0 or 1"),
    ("mont", {"config": 0x1200, "exclude_kernel": 1 << 60}, "a flag of perf_event_attr is 0 or 1"),
    ("glm", {}, "nothing to decode"),
    ("perf", {}, "nothing to decode"),
])
def test_wrong_values(pmu: Any, values: dict[str, int], message: str) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(pmu, values)
    assert message in str(raised.value)


def test_types_are_those_of_the_kernel() -> None:
    assert {getattr(pfm4, f"PERF_TYPE_{name}"): words for name, words in (
        ("HARDWARE", "hardware"), ("SOFTWARE", "software"), ("TRACEPOINT", "tracepoint"), ("HW_CACHE", "cache"), ("RAW", "raw"),
        ("BREAKPOINT", "breakpoint"))} == TYPES


def test_an_event_is_asked_for_by_its_own_name() -> None:
    (found,) = decode("perf", {"type": 0, "config": 1}).candidates
    assert (found.event, found.aliases) == ("PERF_COUNT_HW_INSTRUCTIONS", ("INSTRUCTIONS",))
    assert found.request == "perf::PERF_COUNT_HW_INSTRUCTIONS:u=1:k=1:h=1"


@pytest.mark.parametrize(("pmu", "fields"), [
    ("ita2", "plm 0-3 ev 4 oi 5 pm 6 ig1 7 event 8-15 umask 16-19 thres 20-22 ig2 23 ism 24-25 ig3 26-63"),
    ("mont", "plm 0-3 ev 4 oi 5 pm 6 ig1 7 event 8-15 umask 16-19 thres 20-22 ig2 23 ism 24-25 all 26 mesi 27-30 ig3 31-63"),
    ("glm", "event 0-7 umask 8-15 usr 16 os 17 edge 18 pc 19 int 20 any 21 en 22 inv 23 cmask 24-31"),
])
def test_each_bit_is_in_its_field(pmu: str, fields: str) -> None:
    """As the manual's layouts of the registers have them (Itanium 2, Montecito: PMC of a counter; Intel SDM: IA32_PERFEVTSELx)."""
    words = fields.split()
    for name, bits in zip(words[::2], words[1::2], strict=True):
        first, _, last = bits.partition("-")
        for bit in range(int(first), int(last or first) + 1):
            assert {key: value for key, value in decode(pmu, {"code": 1 << bit}).fields.items() if value} == {name: 1 << bit - int(first)}
    if int(last or first) < 63:
        above = decode(pmu, {"code": 1 << int(last or first) + 1})
        assert not any(above.fields.values())
        assert any("the register has 32" in note for note in above.notes)
