"""What registers are said to mean: words, notes, ranges, requests; and what is wrong with them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from pypfm._c.pfm3 import lib

from pypfm import (
    AddressRange,
    Btb,
    DecodeError,
    Ear,
    EarMode,
    Encoding,
    EventRequest,
    GenericIA64,
    IpEar,
    Itanium,
    Itanium2,
    ItaniumBtb,
    Montecito,
    OpcodeMatch,
    PfmError,
    Ranges,
    Request,
)
from pypfm.decoding import decode
from pypfm.ia64 import models
from pypfm.ia64.decode import CounterMeaning, EarMeaning, MatcherMeaning, PairsMeaning, RoutingMeaning

ITA2, MONT, ITA, GEN = Itanium2(), Montecito(), Itanium(), GenericIA64()
CORRECTED = Itanium(corrected=True)


def test_bits_are_named_as_in_manuals() -> None:
    assert [models.Field("x", *place).bits for place in ((4, 1), (4, 2), (8, 8))] == ["4", "5:4", "15:8"]


def rows(pmu: Any, name: str, value: int, **others: int) -> dict[str, str]:
    """The words for a register."""
    meaning = decode(pmu, {name: value, **others})[name].meaning
    assert meaning is not None
    return dict(meaning.rows())


# ---- settings ----------------------------------------------------------------------------------

def test_a_counter() -> None:
    register = decode("itanium2", {"PMC4": 0x505028})["pmc4"]
    assert register.meaning == CounterMeaning(("NOPS_RETIRED",), 8, 5, 0, False)
    assert (register["es"], register["thres"], register["plm"]) == (0x50, 5, 8)
    assert register.notes == ()
    for missing in (lambda: register["nope"], lambda: decode("itanium2", {"PMC4": 1})["PMC5"]):
        with pytest.raises(KeyError):
            missing()
    assert rows("itanium2", "PMC4", 0x505069 | 2 << 24) == {
        "event": "NOPS_RETIRED", "levels": "kernel, user", "threshold": "counts cycles with more than 5 occurrences",
        "instruction set": "IA-64", "system-wide": "yes"}


def test_an_inverted_range() -> None:
    made = ITA2.encode(["NOPS_RETIRED"], code_ranges=[(0x10000, 0x18000)], invert=True, check="reference")
    assert rows("itanium2", "PMC8", made["PMC8"].value)["code ranges"] == "inverted"


def test_what_tables_show_has_no_words_of_its_own() -> None:
    made = ITA2.encode(["LOADS_RETIRED"], code_ranges=[(0x10000, 0x18000)])
    ranges = decode("itanium2", {name: r.value for name, r in made.registers.items()}).ranges
    assert ranges
    assert [r.rows() for r in ranges] == [[]] * len(ranges)
    entries = decode("itanium2", {"PMD8": 0x4000000000001027, "PMD16": 1}).trace
    assert entries
    assert [e.rows() for e in entries] == [[]] * len(entries)


def test_an_offcore_event_without_its_second_register() -> None:
    found = decode("glm", {"code": 0x5101B7})
    assert [c.request for c in found.candidates] == ["glm::OFFCORE_RESPONSE_0:k=0:u=1:e=0:i=0:c=0"]
    assert "the requests are in the offcore register: give its value too" in found.notes


def test_unit_masks_and_aliases_are_named() -> None:
    assert rows("montecito", "PMC4", 0x4A00DA08)["event"] == "L3_INSERTS:I:M"
    meaning = decode("itanium2", {"PMC4": 0xC828})["PMC4"].meaning
    assert isinstance(meaning, CounterMeaning)
    assert len(meaning.events) == 20  # the plain event, and each data EAR event
    assert {"DATA_EAR_EVENTS", "DATA_EAR_ALAT", "DATA_EAR_TLB_ALL"} < set(meaning.events)


@pytest.mark.parametrize(("pmu", "name", "value", "notes"), [
    ("itanium2", "PMC4", 0x1208, ("oi = 0: the encoder writes 1",)),
    ("itanium2", "PMC4", 0x801228, ("enable = 1: the encoder writes 0",)),
    ("itanium2", "PMC5", 0x1228 | 1 << 40, ("ig2 = 0x4000: reserved, the encoder writes 0x0",)),
    ("itanium2", "PMC14", 0xDB6, ()), ("itanium2", "PMC13", 0x2078FEFEFEFE, ()), ("montecito", "PMC38", 0xDB6, ()), ("itanium", "PMC13", 1, ()),
    ("itanium2", "PMC14", 0, ("ig2 = 0x0: reserved, the encoder writes 0x1", "ig3 = 0x0: reserved, the encoder writes 0x1",
                              "ig4 = 0x0: reserved, the encoder writes 0x1", "ig5 = 0x0: reserved, the encoder writes 0x1")),
    ("itanium2", "PMC15", 0xFFFFFFFF, ()),
    ("itanium2", "PMC8", 0xFFFFFFFF3FFFFFFC, ()),
    ("itanium2", "PMC0", 5, ("no encoder writes this register",)),
    ("itanium", "PMC4", 0x9228, ("ig2 = 0x1: reserved, the encoder writes 0x0",)),
    ("itanium", "PMC4", 0x1208, ("oi = 0: the encoder writes 1",)),
    ("itanium", "PMC12", 0xC, ()),
    ("itanium", "PMC12", 0x8, ("libpfm writes 0xc, whatever the setting",)),
    ("itanium", "PMC13", 2, ("ig = 0x1: reserved, the encoder writes 0x0",)),
    ("itanium", "PMC8", 7, ()),
    ("gen_ia64", "PMC4", 0x11228, ("ig2 = 0x1: reserved, the encoder writes 0x0",)),
    ("gen_ia64", "PMC0", 0, ("no encoder writes this register",)),
    ("montecito", "PMC4", 0x1208, ("ism = 0: the encoder writes 2",)),
    ("montecito", "PMC4", 0x2001208 | 1 << 30, ("m: unit masks of an event that has none",)),
    ("montecito", "PMC4", 0x200DA08, ("no unit mask is chosen: the encoder demands one",)),
    ("montecito", "PMC42", 0x8, ("mode = 0: the encoder writes 4",)),
    ("montecito", "PMC41", 0x78FEFEFEFE, ()),
    ("itanium2", "IBR1", 0x80000000FFFFF000 | 1 << 62, ("w = 1: the encoder leaves it 0", "rx = 1: the encoder leaves it 0",
     "the mask is no block: what matches is not one range", "without IBR0 it covers nothing that can be told")),
    ("itanium2", "IBR3", 1 << 62, ("w = 1: the encoder leaves it 0", "without IBR2 it covers nothing that can be told")),
])
def test_what_no_encoder_writes_is_noted(pmu: Any, name: str, value: int, notes: tuple[str, ...]) -> None:
    assert decode(pmu, {name: value})[name].notes == notes


@pytest.mark.parametrize(("pmu", "name", "value", "mode", "records", "event"), [
    ("itanium2", "PMC10", 0x3FE8, "cache", "latency of 4 cycles or more", "L1I_EAR_CACHE_LAT4"),
    ("itanium2", "PMC10", 0x00E8, "tlb", "resolved anywhere: L2 instruction TLB, VHPT walk or fault", "L1I_EAR_TLB_ALL"),
    ("itanium2", "PMC10", 0x1008, "none", None, None),
    ("itanium2", "PMC10", 0x2028, "cache", None, None),
    ("itanium2", "PMC11", 0x40008, "cache", "latency of 64 cycles or more", "DATA_EAR_CACHE_LAT64"),
    ("itanium2", "PMC11", 0x40088, "tlb", "resolved by the hardware walk of the VHPT", "DATA_EAR_TLB_VHPT"),
    ("itanium2", "PMC11", 0x50088, "tlb", "resolved by the hardware walk of the VHPT", None),
    ("itanium2", "PMC11", 0x108, "alat", "Misses in the ALAT that the data event address register (EAR) captures",
     "DATA_EAR_ALAT"),
    ("itanium2", "PMC11", 0x188, "none", None, None),
    ("itanium2", "PMC11", 0xB0008, "cache", None, None),  # no latency, though one of 3 of its bits
    ("montecito", "PMC37", 0x3FE8, "cache", "latency of 4 cycles or more", "L1I_EAR_CACHE_LAT4"),
    ("itanium", "PMC10", 0x40088, "tlb", "resolved by the hardware walk of the VHPT", "INSTRUCTION_EAR_TLB_VHPT"),
    ("itanium", "PMC10", 0x30008, "cache", "latency of 32 cycles or more", "INSTRUCTION_EAR_CACHE_LAT32"),
    ("itanium", "PMC10", 0xC0088, "tlb", None, None),
    ("itanium", "PMC11", 0x10080088, "tlb", "resolved by software, after a fault", "DATA_EAR_TLB_SW"),
    ("itanium", "PMC11", 0x90008, "cache", "latency of 1024 cycles or more", "DATA_EAR_CACHE_LAT1024"),
    ("montecito", "PMC40", 0x20A0008, "cache", "latency of 4096 cycles or more", "DATA_EAR_CACHE_LAT4096"),
])
def test_ear_filters_in_words(pmu: Any, name: str, value: int, mode: str, records: str | None, event: str | None) -> None:
    meaning = decode(pmu, {name: value})[name].meaning
    assert isinstance(meaning, EarMeaning)
    assert (meaning.mode, meaning.filter, meaning.event) == (mode, records, event)
    assert meaning.what == ("instruction" if name in ("PMC10", "PMC37") else "data")


def test_every_ear_event_is_found_from_its_setting() -> None:
    for pmu in (ITA2, MONT, ITA):
        for event in pmu.values():
            if event.ear_mode is None:
                continue
            iear, dear = (37, 40) if pmu is MONT else (10, 11)
            num = iear if event.is_iear else dear
            value = pmu.encode([event])[f"PMC{num}"].value
            meaning = decode(pmu.name, {f"PMC{num}": value})[f"PMC{num}"].meaning
            assert isinstance(meaning, EarMeaning)
            assert (meaning.event, meaning.mode) == (event.name, event.ear_mode.name.lower())


def test_opcode_matchers() -> None:
    match = OpcodeMatch(match=0x1234567, mask=0x70000FF, m=1, i=0, f=1, b=0)
    encoding = ITA2.encode(["IA64_INST_RETIRED"], opcode_match=match)
    meaning = decode("itanium2", {"PMC8": encoding["PMC8"].value})["PMC8"].meaning
    assert isinstance(meaning, MatcherMeaning)
    assert (meaning.matcher, meaning.slots, meaning.match, meaning.mask) == (1, ("m", "f"), 0x1234567, 0x70000FF)
    assert meaning.pattern == "xxx 00100011 01000101 xxxxxxxx"
    for num, other in (("PMC32", "PMC33"), ("PMC34", "PMC35")):  # only the first one decides on code ranges
        meaning = decode("montecito", {num: 0, other: 0})[num].meaning
        assert isinstance(meaning, MatcherMeaning)
        assert (meaning.inverted is None, meaning.ignores_ranges is None) == (num == "PMC34",) * 2
    mont = MONT.encode(["IA64_INST_RETIRED"], opcode_match=(None, OpcodeMatch(match=5, mask=2, b=0)))
    both = {name: mont[name].value for name in ("PMC34", "PMC35")}
    decoded = decode("montecito", both)
    meaning = decoded["PMC34"].meaning
    assert isinstance(meaning, MatcherMeaning)
    assert (meaning.matcher, meaning.slots, meaning.match, meaning.mask) == (2, ("m", "i", "f"), 5, 2)
    assert meaning.pattern is not None
    assert meaning.pattern.replace(" ", "") == "0" * 38 + "1x1"
    assert decoded["PMC35"].meaning is None  # it is said with PMC34
    alone = decode("montecito", {"PMC35": 5})["PMC35"].meaning
    assert isinstance(alone, MatcherMeaning)
    assert (alone.slots, alone.match, alone.mask, alone.pattern) == (None, 5, None, None)


def test_branch_and_ip_settings_in_words() -> None:
    assert rows("itanium2", "PMC12", 0xB681) == {
        "branches": "taken", "target address": "mispredicted", "path": "all", "type": "return",
        "records": "prediction details", "levels": "kernel", "system-wide": "no"}
    assert rows("montecito", "PMC42", 0x7FC09) == {
        "records": "instruction addresses", "freeze after": "255 cycles", "levels": "kernel, user", "system-wide": "no"}


def test_pairs_and_routing() -> None:
    encoding = ITA2.encode(["LOADS_RETIRED"], data_ranges=[(0x1001, 0x2003)])
    meaning = decode("itanium2", {"PMC13": encoding["PMC13"].value})["PMC13"].meaning
    assert meaning == PairsMeaning("data", (0, 1, 2, 3), None, ("data range",) * 4)
    code = decode("montecito", {"PMC38": 0x2D34})["PMC38"].meaning
    assert code == PairsMeaning("code", (0, 2), True, ())
    assert decode("itanium2", {"PMC15": 0xFFFFFFFA})["PMC15"].meaning == RoutingMeaning((0, 2))
    assert decode("montecito", {"PMC36": 0xFFFFFFFF})["PMC36"].meaning == RoutingMeaning(())


# ---- ranges ------------------------------------------------------------------------------------

def test_fine_mode_needs_the_register_of_the_code_ranges() -> None:
    encoding = ITA2.encode(["IA64_INST_RETIRED"], code_ranges=[(0x1010, 0x1040)])
    given = {name: r.value for name, r in encoding.registers.items()}
    (found,) = decode("itanium2", given).ranges
    assert (found.what, found.start, found.end, found.plm, found.fine) == ("code", 0x1010, 0x1040, 8, True)
    assert found.registers == ("IBR0", "IBR1", "IBR4", "IBR5")
    del given["PMC14"]
    assert decode("itanium2", given).ranges == ()  # the masks of fine mode are no blocks


def test_a_range_has_the_names_of_its_pair() -> None:
    (found,) = decode("itanium2", {"DBR2": 0x1000, "DBR3": (8 << 56) | ((1 << 56) - 0x100)}).ranges
    assert (found.start, found.end, found.registers) == (0x1000, 0x1100, ("DBR2", "DBR3"))


@pytest.mark.parametrize("missing", [("IBR4", "IBR5"), ("IBR0", "IBR1"), ("IBR5",), ("IBR0",)])
def test_half_of_a_pair_of_fine_mode_covers_nothing(missing: tuple[str, ...]) -> None:
    encoding = ITA2.encode(["IA64_INST_RETIRED"], code_ranges=[(0x1010, 0x1040)])
    given = {name: r.value for name, r in encoding.registers.items() if name not in missing}
    cover = Encoding.from_registers("itanium2", given).irange
    assert cover is not None
    assert cover.ranges == ()
    assert len(cover.registers) == 4 - len(missing)


def test_a_range_on_both_pairs_is_one_range() -> None:
    encoding = MONT.encode(["L1I_FILLS"], code_ranges=Ranges([(0x1000, 0x2000)], flags=lib.PFMLIB_MONT_IRR_DEMAND_FETCH | lib.PFMLIB_MONT_IRR_PREFETCH_MATCH))
    assert encoding.registers["IBR0"].value == encoding.registers["IBR2"].value
    found = decode(MONT, encoding.registers).to_request().request.code
    assert found is not None
    assert [(r.start, r.end) for r in found.limits] == [(0x1000, 0x2000)]


def test_ranges_are_those_that_the_encoder_reports() -> None:
    for pmu in (ITA2, MONT):
        encoding = pmu.encode(["LOADS_RETIRED"], data_ranges=[(0x8000, 0x9000), (0x1001, 0x2003)], check="reference")
        given = {name: r.value for name, r in encoding.registers.items()}
        found = decode(pmu.name, given).ranges
        assert encoding.drange is not None
        assert min(r.start for r in found) == min(r.start for r in encoding.drange.ranges)
        assert max(r.end for r in found) == max(r.end for r in encoding.drange.ranges)
        assert {r.what for r in found} == {"data"}
        restored = Encoding.from_registers(pmu.name, given).drange
        assert restored is not None
        assert restored.registers == encoding.drange.registers
        assert [(r.start_offset, r.end_offset) for r in restored.ranges] == [(0, 0)] * len(restored.ranges)


def test_a_half_pair_covers_nothing() -> None:
    decoded = decode("itanium2", {"DBR0": 0x1000})
    assert decoded.ranges == ()
    assert decoded["DBR0"].notes == ("without DBR1 it covers nothing that can be told",)
    cover = decoded.to_encoding().drange
    assert cover is not None
    assert (len(cover.registers), cover.ranges) == (1, ())


# ---- requests ----------------------------------------------------------------------------------

def registers(encoding: Encoding) -> dict[str, int]:
    return {name: r.value for name, r in encoding.registers.items()}


@pytest.mark.parametrize("encoding", [
    ITA2.encode([EventRequest("NOPS_RETIRED", threshold=2, ism=1), "CPU_CYCLES"], plm="user,kernel", system_wide=True),
    ITA2.encode([], iear=Ear(EarMode.TLB, 0x1F, plm=3), dear=Ear(EarMode.ALAT, 0)),
    ITA2.encode(["BRANCH_EVENT"], btb=Btb(tm=2, ptm=1, ppm=3, brt=2, ds=1)),
    ITA2.encode(["IA64_TAGGED_INST_RETIRED_IBRP2_PMC8"], opcode_match=OpcodeMatch(value=0x1234567890ABCDEF)),
    ITA2.encode(["DATA_EAR_TLB_ALL", "L1I_EAR_CACHE_LAT8"]),
    ITA2.encode(["LOADS_RETIRED"], code_ranges=[(0x10000, 0x18000)], data_ranges=[(0x1001, 0x2003)], invert=True,
                check="reference"),
    Itanium2(0x1F010504).encode(["LOADS_RETIRED"], code_ranges=[(0x1F10, 0x1FF0)]),
    MONT.encode(["L3_INSERTS:M:I", "CPU_OP_CYCLES_ALL"], ipear=IpEar(delay=9)),
    MONT.encode([EventRequest("L1I_FILLS", no_qualcheck=True)], code_ranges=[(0x1000, 0x2000)], demand_fetch=True,
                prefetch_match=True),
    MONT.encode(["ETB_EVENT"], opcode_match=(OpcodeMatch(1, 2, b=0), OpcodeMatch(3, 4)), check="reference")
    if MONT["ETB_EVENT"].supports_opcode_match else MONT.encode(["ETB_EVENT"]),
    ITA.encode([EventRequest("NOPS_RETIRED", threshold=2, ism=1), "CPU_CYCLES"], plm="user,kernel", system_wide=True),
    ITA.encode([], iear=Ear(EarMode.TLB, 4, plm=3), dear=Ear(EarMode.CACHE, 0xF)),
    ITA.encode(["BRANCH_EVENT"], btb=ItaniumBtb(tm=2), check="reference"),
    ITA.encode(["IA64_TAGGED_INST_RETIRED_PMC8"], opcode_match=(OpcodeMatch(value=0x1234567890ABCDEF), 7)),
    ITA.encode(["DATA_EAR_TLB_SW", "INSTRUCTION_EAR_CACHE_LAT8"]),
    ITA.encode(["LOADS_RETIRED"], code_ranges=[(0x10010, 0x18000)], data_ranges=[(0x1001, 0x2003)]),
    ITA.encode([EventRequest("DATA_EAR_TLB_L2", no_qualcheck=True)], data_ranges=[(0x1000, 0x2000)],
               dear=Ear(EarMode.TLB, 2)),
    ITA.encode([EventRequest("DATA_EAR_TLB_L2", no_qualcheck=True)], data_ranges=[(0x1000, 0x2000)], check="reference"),
    GEN.encode(["IA64_INST_RETIRED", "CPU_CYCLES"], plm="kernel", system_wide=True, unavailable_pmcs=[5]),
    CORRECTED.encode(["BRANCH_EVENT"]),
    CORRECTED.encode([], btb=ItaniumBtb(tm=1, ptm=2, ppm=0, tar=0, tac=1, bac=0, plm="kernel"), system_wide=True),
    CORRECTED.encode(["LOADS_RETIRED"], data_ranges=[(0x1000, 0x2000)], dear=Ear(EarMode.CACHE, 3)),
])
def test_requests_of_the_python_layer_come_back(encoding: Encoding) -> None:
    found = decode(encoding.pmu, registers(encoding)).to_request()
    again = found.pmu.encode_request(found.request, check="reference")
    assert (found.pmu.name, again.registers) == (encoding.pmu, encoding.registers)
    assert registers(again) == registers(encoding) == registers(found.encoding)
    assert {r.num for r in again.pmds} == {r.num for r in encoding.pmds}
    decoded = decode(encoding.pmu, encoding)  # as it is, and what was decoded once more
    assert decoded == decode(encoding.pmu, registers(encoding)) == decode(encoding.pmu, decoded)
    assert [hex(decoded[name]) for name in encoding] == [hex(register.value) for register in encoding.values()]
    assert Encoding.from_registers(encoding.pmu, encoding).registers == encoding.registers


def test_a_request_says_what_was_asked() -> None:
    request = decode("itanium2", {"PMC4": 0x205069, "PMC15": 0xFFFFFFFF}).to_request().request
    (event,) = request.events
    assert (event.name, event.threshold, request.plm, request.system_wide) == ("NOPS_RETIRED", 2, 9, True)
    assert request.unavailable_pmcs == ()
    assert decode("itanium2", {"PMC5": 0x1228}).to_request().request.unavailable_pmcs == (4, 6, 7)
    encoding = ITA2.encode(["LOADS_RETIRED"], data_ranges=[(0x1000, 0x2000)], dear=Ear(EarMode.CACHE, 3))
    request = decode("itanium2", registers(encoding)).to_request().request
    assert request.data is not None
    assert request.data.limits == (AddressRange(0x1000, 0x2000, 8),)
    assert request.dear == Ear(EarMode.CACHE, 3, 8)


@pytest.mark.parametrize(("pmu", "given", "reason"), [
    ("itanium2", {"PMC4": 0x1208}, "PMC4 would be 0x1228, not 0x1208"),
    ("itanium2", {"PMC4": 0xFF28}, "no event has the code and unit mask of PMC4"),
    ("itanium2", {"PMC8": 0x5}, "PMC8 would be absent, not 0x5"),
    ("itanium", {"PMC12": 0x13F08}, "PMC12 would be 0xc, not 0x13f08"),
    ("itanium", {"PMC4": 0x5F28}, "no event has the code and unit mask of PMC4"),
    ("itanium", {"PMC11": 0x10008}, "PMC11 would be 0x10010008, not 0x10008"),
    ("gen_ia64", {"PMC4": 0x1328}, "no event has the code and unit mask of PMC4"),
    ("gen_ia64", {"PMC4": 0x1228, "IBR0": 0, "IBR1": 0}, "IBR0 would be absent, not 0x0"),
    ("itanium2", {"IBR0": 0, "IBR1": 0x8FFFFFFFFFFFFFF}, "IBR0 would be absent, not 0x0"),
    ("itanium2", {"PMC4": 0x1228, "PMC15": 0xFFFFFFFF, "PMC14": 0xDB4}, "a pair of debug registers is missing"),
    ("montecito", {"PMC36": 0}, "PMC36 would be absent, not 0x0"),
    ("montecito", {"PMC42": 0x408, "PMC39": 0x3F08}, "the IP-EAR fills the branch trace buffer itself"),
])
def test_registers_of_no_encoder_have_no_request(pmu: Any, given: dict[str, int], reason: str) -> None:
    with pytest.raises(DecodeError, match="no request gives these registers: ") as raised:
        decode(pmu, given).to_request()
    assert reason in str(raised.value)
    assert "None" not in str(raised.value)


@pytest.mark.parametrize("end", [0x4300, 0x8000], ids=["fine", "coarse"])
@pytest.mark.parametrize("data", [None, Ranges((AddressRange(0x1000, 0x2000), AddressRange(0x5000, 0x6000), AddressRange(0x9000, 0xA000)))],
                         ids=["code", "code and data"])
@pytest.mark.parametrize("pmu", [ITA2, MONT], ids=["itanium2", "montecito"])
def test_whether_data_pairs_need_the_code_ranges(pmu: Any, data: Ranges | None, end: int) -> None:
    """For C a member `used` of 1 says so; another number that is not 0 leaves their register alone."""
    for used in (1, 2):
        asked = Request(plm=8, events=("LOADS_RETIRED",), code=Ranges((AddressRange(0x4000, end),), used=used), data=data)
        request = decode(pmu.name, pmu.encode_request(asked, check="reference")).to_request().request
        assert request.code is not None
        assert request.code.used == used


@pytest.mark.parametrize("missing", ["IBR0", "IBR1", "IBR4", "IBR5"])
def test_a_range_in_fine_mode_takes_two_whole_pairs(missing: str) -> None:
    given = registers(ITA2.encode(["NOPS_RETIRED"], code_ranges=[(0x4000, 0x4300)]))
    assert decode("itanium2", given).to_request().request.code is not None
    with pytest.raises(DecodeError, match="no range is given"):
        decode("itanium2", {name: value for name, value in given.items() if name != missing}).to_request()


def test_each_counter_of_an_ear_has_the_event_that_set_it() -> None:
    """Not the one without a filter, though it gives the same registers where another counter's event sets the EAR."""
    event = "DATA_EAR_CACHE_LAT64"
    request = decode("itanium2", ITA2.encode([event, event])).to_request().request
    assert [e.name for e in request.events] == [event, event]


def test_a_trace_buffer_whose_register_does_not_say_what_was_asked_for() -> None:
    """libpfm writes one value on Itanium: the request is the simplest."""
    given = registers(ITA.encode(["BRANCH_EVENT"], btb=ItaniumBtb(tm=2), check="reference"))
    assert decode("itanium", given).to_request().request.branches == ItaniumBtb()


# ---- from_registers -------------------------------------------------------------------------------

def test_from_registers_sorts_and_keeps_the_order_of_counters() -> None:
    encoding = Encoding.from_registers("itanium2", {"pmc15": 0xFFFFFFFF, "PMC5": 0x868, "PMC4": 0x1228, "PMC10": 0x3FE8})
    assert [r.name for r in encoding.pmcs] == ["PMC5", "PMC4", "PMC10", "PMC15"]
    assert [r.name for r in encoding.pmds] == ["PMD5", "PMD4", "PMD0", "PMD1"]
    assert encoding["PMC4"].fields["es"] == 0x12
    assert decode("itanium2", registers(encoding)).to_encoding() == encoding


@pytest.mark.parametrize(("pmu", "given", "message"), [
    ("itanium2", {"PMC16": 0}, "itanium2 has no register 'PMC16'; it has PMC0-15, PMD0-17, IBR0-7 and DBR0-7"),
    ("montecito", {"PMC16": 0}, "PMC0-15,32-42, PMD4-15,32-39,48-63, IBR0-7 and DBR0-7"),
    ("itanium2", {"IBR8": 0}, "'IBR8'"),
    ("itanium2", {"code": 0}, "'code'"),
    ("itanium2", {"PMC04": 0}, "'PMC04'"),
    ("itanium2", {"": 0}, "''"),
    ("itanium2", {"PMC4": 1 << 64}, "PMC4: '0x10000000000000000' does not fit 64 bits"),
    ("itanium2", {"PMC4": -1}, "PMC4: '-0x1' does not fit 64 bits"),
    ("itanium2", {"PMC4": 1, "pmc4": 2}, "PMC4 is given twice"),
    ("itanium2", {"PMC4": 1 << 999}, "PMC4: '0x80000000"),
    ("pentium", {"PMC4": 1}, "pmu='pentium': expected one of itanium2, montecito"),
    ("itanium", {"PMC14": 0}, "itanium has no register 'PMC14'; it has PMC0-13, PMD0-17, IBR0-7 and DBR0-7"),
    ("gen_ia64", {"PMD0": 0}, "it has PMC0-7, PMD4-7, IBR0-7 and DBR0-7"),
])
def test_wrong_registers(pmu: Any, given: dict[str, int], message: str) -> None:
    for ask in (decode, Encoding.from_registers):
        with pytest.raises(DecodeError) as raised:
            ask(pmu, given)
        assert message in str(raised.value)
        assert isinstance(raised.value, PfmError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


# ---- Itanium (Merced), the generic PMU -------------------------------------------------------------

def test_what_registers_of_itanium_say() -> None:
    decoded = decode("itanium", {"PMC4": 0x1026C28, "PMC8": 0x1800000000000018, "PMC11": 0x8, "PMC12": 0xFC8F, "PMC13": 0,
                                 "DBR0": 0x1000, "DBR1": 0x8FFFFFFFFFFF000, "IBR2": 0x20, "IBR3": 0x8FFFFFFFFFFFFE0})
    assert dict(decoded["PMC4"].meaning.rows())["instruction set"] == "IA-32"
    assert decode("itanium", {"PMC4": 0x6C28})["PMC4"].meaning.events == ("LOADS_RETIRED",)
    assert (decoded["PMC8"].meaning.slots, decoded["PMC8"].meaning.mask) == (("b",), 3)
    assert decoded["PMC11"].meaning == PairsMeaning("data", (0,), None, ())
    assert decoded["PMC13"].meaning == PairsMeaning("code", (1,), None, ())
    assert decoded["PMC12"].meaning.rows() == [
        ("branches", "none"), ("target address", "all"), ("path", "all"),
        ("predicted by", "target address register, target address cache, branch address calculator"),
        ("levels", "kernel, level 1, level 2, user"), ("system-wide", "no")]
    assert [(r.what, r.start, r.end) for r in decoded.ranges] == [("code", 0x20, 0x40), ("data", 0x1000, 0x2000)]
    assert decode("itanium", {"PMC13": 1})["PMC13"].meaning == PairsMeaning("code", (), None, ())


def test_pmds_say_whether_the_data_ear_of_itanium_is_used() -> None:
    """PMC11 with nothing but levels: it is written for data ranges, too."""
    given = {"PMC4": 0x6728, "PMC11": 0x8, "DBR0": 0x1000, "DBR1": 0x8FFFFFFFFFFF000}
    for pmds, used in (((4,), False), ((4, 2, 3, 17), True)):
        decoded = decode("itanium", given, pmds=pmds)
        assert isinstance(decoded["PMC11"].meaning, EarMeaning) is used
        assert (decoded.to_request().request.dear is not None) is used
        assert [r.num for r in decoded.to_encoding().pmds] == list(pmds)


@pytest.mark.parametrize(("register", "value", "row"), [
    ("PMC8", 0x7FFFFFF07FFFFFF9, ("slots", "i, f, b")),
    ("PMC9", 0xFFFFFFFF3FFFFFFD, ("code ranges", "ignored")),
    ("PMC10", 0x2008, ("event", "L1I_EAR_CACHE_RAB")),
    ("PMC11", 0x1000009, ("instruction set", "IA-32")),
    ("PMC15", 0xFFFFFFF5, ("channels matched", "1, 3")),
    ("PMD4", 12345, ("count", "12,345")),
])
def test_meanings_in_words(register: str, value: int, row: tuple[str, str]) -> None:
    meaning = decode("itanium2", {register: value})[register].meaning
    assert meaning is not None
    assert row in meaning.rows()


def test_a_register_that_no_encoder_writes_has_no_meaning() -> None:
    (register,) = decode("itanium2", {"PMC0": 1}).to_json()["registers"]
    assert (register["meaning"], register["notes"]) == (None, ["no encoder writes this register"])


@pytest.mark.parametrize(("pmu", "name"), [("itanium2", "PMC13"), ("montecito", "PMC41")])
@pytest.mark.parametrize(("value", "words"), [
    (0x2078FEFEFEE6, {"data pairs on": "pair 0", "pair 0": "needs opcode match or code range, and data range"}),
    (0x20780EFEFEEE, {"data pairs on": "pair 0", "pair 0": "needs opcode match or code range"}),
    (0, {"data pairs on": "none"}),
])
def test_what_each_data_pair_needs(pmu: str, name: str, value: int, words: dict[str, str]) -> None:
    assert rows(pmu, name, value) == words


def test_rows_of_what_is_half_known() -> None:
    """A table has no row for a pattern of which a half is unknown, and says where no event has a setting."""
    (known,) = decode("itanium2", {"PMC8": 0xFFFFFFFF3FFFFFFF}).registers
    assert isinstance(known.meaning, MatcherMeaning)
    assert dict(known.meaning.rows())["pattern"] == known.meaning.pattern
    (half,) = decode("montecito", {"PMC32": 0x1}).registers
    assert isinstance(half.meaning, MatcherMeaning)
    assert (half.meaning.pattern, "pattern" in dict(half.meaning.rows())) == (None, False)
    for value, records in ((0x7F004, "latency of 512 cycles or more"), (0xF0004, "umask 0xf, which no event has")):
        (ear,) = decode("itanium2", {"PMC11": value}).registers
        assert isinstance(ear.meaning, EarMeaning)
        assert dict(ear.meaning.rows())["records"] == records


def test_the_offsets_of_ranges_that_are_read_back_are_0() -> None:
    made = ITA2.encode(["LOADS_RETIRED"], data_ranges=[(0x1000, 0x2010)])
    back = Encoding.from_registers("itanium2", made)
    assert back.drange is not None
    assert back.drange.infos == ((0, 0),) * 4


def test_a_data_ear_of_a_model_without_instruction_sets() -> None:
    request = decode("montecito", registers(MONT.encode([], dear=Ear(EarMode.TLB, 0xE)))).to_request().request
    assert request.dear is not None
    assert request.dear.ism == 0


def test_a_range_to_the_end_of_memory() -> None:
    encoding = ITA2.encode(["LOADS_RETIRED"], data_ranges=[((1 << 64) - 0x1000, 1 << 64)])
    request = decode("itanium2", encoding).to_request().request
    assert request.data is not None
    assert [(limit.start, limit.end) for limit in request.data.limits] == [((1 << 64) - 0x1000, 1 << 64)]


def test_how_branches_are_predicted_is_said_of_what_is_on() -> None:
    for value, words in ((0, "none"), (1 << 7, "target address register")):
        (register,) = decode("itanium", {"PMC12": value}).registers
        assert register.meaning is not None
        assert dict(register.meaning.rows())["predicted by"] == words


@pytest.mark.parametrize(("pmu", "names"), [
    (ITA, "PMC4 PMC8 PMC10 PMC11 PMC12 PMC13 IBR0 IBR1 DBR0 DBR1"), (GEN, "PMC4"),
    (ITA2, "PMC4 PMC8 PMC10 PMC11 PMC12 PMC13 PMC14 PMC15 IBR0 IBR1 DBR0 DBR1"),
    (MONT, "PMC4 PMC32 PMC33 PMC34 PMC35 PMC36 PMC37 PMC38 PMC39 PMC40 PMC41 PMC42 IBR0 IBR1 DBR0 DBR1")],
    ids=lambda value: getattr(value, "name", ""))
def test_the_fields_of_a_register_are_its_64_bits(pmu: Any, names: str) -> None:
    for name in names.split():
        (register,) = decode(pmu, {name: 0}).registers
        end = 0
        for one in register.fields:
            assert one.bit == end
            end += one.width
        assert end == 64
