"""Any value of any register: decodes, its fields are the value, the output follows the schema."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypfm import DecodeError, EventRequest, GenericIA64, Itanium, Itanium2, Montecito, Pfm3Error, schemas
from pypfm.decoding import decode

PMUS = {"itanium2": Itanium2(), "montecito": Montecito(), "itanium": Itanium(), "gen_ia64": GenericIA64()}
RANGED = ["itanium2", "montecito", "itanium"]
NAMES = {name: [f"PMC{n}" for n in pmu.pmcs] + [f"PMD{n}" for n in pmu.pmds]
         + [f"{kind}{n}" for kind in ("IBR", "DBR") for n in range(8)] for name, pmu in PMUS.items()}
WORDS = st.one_of(st.integers(0, (1 << 64) - 1), st.integers(0, 0xFFFFF), st.sampled_from([0, (1 << 64) - 1]))
CHECK = jsonschema.Draft202012Validator(schemas.load("decode"))


@pytest.mark.long
@pytest.mark.parametrize("pmu", PMUS)
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_registers_decode(pmu: Any, data: st.DataObject) -> None:
    registers = data.draw(st.dictionaries(st.sampled_from(NAMES[pmu]), WORDS, min_size=1, max_size=30))
    ipear = pmu == "montecito" and data.draw(st.booleans())
    decoded = decode(pmu, registers, ipear=ipear)
    assert {r.name: r.value for r in decoded.registers} == registers
    for register in decoded.registers:
        assert sum(f.value << f.bit for f in register.fields) == register.value
        assert sum(f.width for f in register.fields) == 64
    CHECK.validate(decoded.to_json())
    assert {n: r.value for n, r in decoded.to_encoding().registers.items()} == {
        n: v for n, v in registers.items() if not n.startswith("PMD")}


@pytest.mark.parametrize("pmu", PMUS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_registers_have_a_request_or_say_why_not(pmu: Any, data: st.DataObject) -> None:
    settable = [n for n in NAMES[pmu] if not n.startswith("PMD")]
    registers = data.draw(st.dictionaries(st.sampled_from(settable), WORDS, min_size=1, max_size=12))
    decoded = decode(pmu, registers)
    try:
        found = decoded.to_request()
    except DecodeError as error:
        reason = str(error)
    else:
        reason = ""
        assert {n: r.value for n, r in found.encoding.registers.items()} == registers
    assert not reason or reason.startswith("no request gives these registers: ")
    assert "\n" not in reason


@settings(deadline=None, max_examples=100)
@given(code=WORDS, offcore=st.none() | WORDS)
def test_any_code_of_goldmont_decodes(code: int, offcore: int | None) -> None:
    for names in (("code", "offcore"), ("config", "config1")):
        values = {names[0]: code} | ({} if offcore is None else {names[1]: offcore})
        decoded = decode("glm", values)
        CHECK.validate(decoded.to_json())
        assert decoded.candidates or decoded.notes
        for candidate in decoded.candidates:
            made = decoded.encode(candidate)
            assert code == (made.codes[0] if decoded.os == "none" else made.attr["config"])


@settings(deadline=None, max_examples=100)
@given(kind=st.integers(0, 8) | WORDS, config=st.integers(0, 0x30000) | WORDS)
def test_any_type_and_config_decodes(kind: int, config: int) -> None:
    decoded = decode("perf", {"type": kind, "config": config})
    CHECK.validate(decoded.to_json())
    assert decoded.candidates or decoded.notes
    for candidate in decoded.candidates:
        made = decoded.encode(candidate)
        assert (made.attr["type"], made.attr["config"]) == (kind, config)


@st.composite
def limits(draw: st.DrawFn, unit: int) -> tuple[int, int]:
    """A range: a block, for which one pair of registers is enough; or any, up to most of the address space."""
    if draw(st.booleans()):
        size = 1 << draw(st.integers(unit.bit_length() - 1, 40))
        start = draw(st.integers(0, (1 << 62) // size)) * size
        return start, start + size
    start = draw(st.integers(0, (1 << draw(st.integers(5, 63))) - 1)) // unit * unit
    size = draw(st.integers(1, (1 << draw(st.integers(4, 62))) // unit)) * unit
    return start, min(start + size, (1 << 64) - unit)


def encode_most(pmu: Any, events: list[EventRequest], code: list[Any], data: list[Any], invert: bool) -> Any:
    """The encoding of a request and its number of ranges; ranges that cannot be encoded are left out, from the last."""
    flags = {"invert": True} if code and invert else {}
    try:
        encoding = pmu.encode(events, code_ranges=code, data_ranges=data, check="reference", **flags)
    except Pfm3Error:
        assert code or data, "events without ranges can be encoded"
        return encode_most(pmu, events, *((code, data[:-1]) if data else (code[:-1], data)), invert)
    return encoding, len(code) + len(data)


@pytest.mark.parametrize("pmu", RANGED)
def test_ranges_come_back(pmu: str) -> None:
    ranges = []

    @settings(deadline=None, max_examples=75)
    @given(code=st.lists(limits(16), max_size=2), data=st.lists(limits(1), max_size=3), events=st.sampled_from(
        [(), ("IA64_INST_RETIRED",), ("L1I_PREFETCHES",), ("LOADS_RETIRED", "NOPS_RETIRED")]), invert=st.booleans())
    def come_back(code: list[tuple[int, int]], data: list[tuple[int, int]], events: tuple[str, ...],
                  invert: bool) -> None:
        asked = [EventRequest(e if e in PMUS[pmu] else "L1I_FILLS", no_qualcheck=True) for e in events]
        encoding, count = encode_most(PMUS[pmu], asked, code, data, invert and pmu != "itanium")
        given = {name: r.value for name, r in encoding.registers.items()}
        if given:
            found = decode(pmu, given).to_request()
            assert {name: r.value for name, r in found.encoding.registers.items()} == given
        else:
            assert (events, count) == ((), 0)  # nothing was asked
        ranges.append(count)

    come_back()
    assert sum(map(bool, ranges)) >= 20  # of 75: the others ask for nothing, or are refused


@pytest.mark.parametrize(("pmu", "page"), [("itanium2", 0x1000), ("montecito", 0x10000)])
@pytest.mark.parametrize("other", [(0x40000000, 0x40000400), (0, 0x200000000), (0x21C000000000, 0x21E000000000)])
def test_ranges_that_end_within_the_last_bundles_of_a_page(pmu: str, page: int, other: tuple[int, int]) -> None:
    """C rounds their ends up, each range on its own; the rounded range would not be within one page any longer."""
    seen = 0
    for end in range(page - 0x60, page + 0x20, 0x10):
        for start in range(end - 0x40, end, 0x10):
            limits = [(start + 5 * page, end + 5 * page), other]
            encoding, count = encode_most(PMUS[pmu], [EventRequest("IA64_INST_RETIRED")], limits, [], False)
            if count:  # else it is not within one page
                given = {name: r.value for name, r in encoding.registers.items()}
                found = decode(pmu, given).to_request()
                assert {name: r.value for name, r in found.encoding.registers.items()} == given
                seen += 1
    assert seen >= 20
