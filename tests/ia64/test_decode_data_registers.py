"""The data registers: values set through the C unions, decoded field by field, and read as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fill import fill
from pypfm import DecodeError, pfm3
from pypfm.decoding import decode
from pypfm.ia64.models import debug_layout

ITA2, MONT, ITA = pfm3.pfm_ita2_pmd_reg_t, pfm3.pfm_mont_pmd_reg_t, pfm3.pfm_ita_pmd_reg_t
IPEAR = {"PMC42": 0x408}
DS = {"PMC12": 1 << 7}
# PMU, union, member, numbers of the PMDs in that layout, registers that choose it.
LAYOUTS: list[tuple[str, Any, str, tuple[int, ...], dict[str, int]]] = [
    ("itanium2", ITA2, "pmd_ita2_counter_reg", tuple(range(4, 8)), {}),
    ("itanium2", ITA2, "pmd0_ita2_reg", (0,), {}),
    ("itanium2", ITA2, "pmd1_ita2_reg", (1,), {}),
    ("itanium2", ITA2, "pmd2_ita2_reg", (2,), {}),
    ("itanium2", ITA2, "pmd3_ita2_reg", (3,), {}),
    ("itanium2", ITA2, "pmd8_15_ita2_reg", tuple(range(8, 16)), {}),
    ("itanium2", ITA2, "pmd8_15_ds_ita2_reg", tuple(range(8, 16)), DS),
    ("itanium2", ITA2, "pmd16_ita2_reg", (16,), {}),
    ("itanium2", ITA2, "pmd17_ita2_reg", (17,), {}),
    ("itanium", ITA, "pmd_ita_counter_reg", tuple(range(4, 8)), {}),
    *[("itanium", ITA, f"pmd{n}_ita_reg", (n,), {}) for n in (0, 1, 2, 3, 16, 17)],
    ("itanium", ITA, "pmd8_15_ita_reg", tuple(range(8, 16)), {}),
    ("montecito", MONT, "pmd_mont_counter_reg", tuple(range(4, 16)), {}),
    *[("montecito", MONT, f"pmd{n}_mont_reg", (n,), {}) for n in (32, 33, 34, 35, 36, 38, 39)],
    ("montecito", MONT, "pmd39_ipear_mont_reg", (39,), IPEAR),
    ("montecito", MONT, "pmd48_63_etb_mont_reg", tuple(range(48, 64)), {}),
    ("montecito", MONT, "pmd48_63_ipear_mont_reg", tuple(range(48, 64)), IPEAR),
    ("montecito", MONT, "pmd48_63_ipear_ef_mont_reg", tuple(range(48, 64)), IPEAR | {"PMD39": 0x8888888888888888}),
]


def members(union: Any) -> dict[str, Any]:
    return dict(pfm3.ffi.typeof(union.__name__).fields)


def union_fields(union: Any, member: str) -> list[tuple[str, int]]:
    """The fields of a member: name and width in bits."""
    return [(name, f.bitsize if f.bitsize > 0 else 64) for name, f in members(union)[member].type.fields]


def test_every_layout_of_the_unions_is_covered() -> None:
    for union in (ITA2, MONT, ITA):
        named = {member for _, u, member, _, _ in LAYOUTS if u is union}
        assert named == set(members(union)) - {"pmd_val"}


@pytest.mark.parametrize(("pmu", "union", "member", "numbers", "context"), LAYOUTS, ids=[row[2] for row in LAYOUTS])
def test_each_field_decodes_to_what_the_union_was_given(pmu: Any, union: Any, member: str, numbers: tuple[int, ...],
                                                       context: dict[str, int]) -> None:
    for name, width in union_fields(union, member):
        for value in {1, (1 << width) - 1, 0x5A5A5A5A5A5A5A5A & (1 << width) - 1}:
            reg = fill(union(), {member: {name: value}}).pmd_val
            for num in numbers:
                decoded = decode(pmu, {**context, f"PMD{num}": reg})[f"PMD{num}"]
                assert {f.name: f.value for f in decoded.fields if f.value} == (
                    {name.partition("_")[2]: value} if value else {}), (name, value, num)


def entry(num: int, **fields: int) -> dict[str, int]:
    return {f"PMD{num}": fill(ITA2(), {"pmd8_15_ita2_reg": {f"btb_{n}": v for n, v in fields.items()}}).pmd_val}


def test_branch_trace_buffer_of_itanium2_is_read_oldest_first() -> None:
    index = fill(ITA2(), {"pmd16_ita2_reg": {"btbi_bbi": 2, "btbi_full": 1, "btbi_pmd10ext_b1": 1, "btbi_pmd12ext_bruflush": 1}})
    trace = decode("itanium2", {
        "PMD16": index.pmd_val, **entry(9, b=0, mp=1, addr=0x200), **entry(8, b=1, mp=1, slot=2, addr=0x100),
        **entry(10, b=1, slot=0, addr=0x300), **entry(12, b=1, slot=3, addr=0x500), **entry(11)}).trace
    assert [(t.register, t.entry, t.address) for t in trace] == [
        ("PMD10", "source", 0x3010), ("PMD11", "invalid", 0), ("PMD12", "source", 0x5000),
        ("PMD8", "source", 0x1000), ("PMD9", "target", 0x2000)]
    assert [(t.slot, t.mispredicted, t.flushed) for t in trace] == [
        (0, False, False), (None, None, None), (3, False, True), (2, True, False), (None, None, None)]
    assert trace[2].text == "not taken, correctly predicted, flushed"
    assert trace[3].text == "slot 2, mispredicted"


def test_an_index_that_has_not_wrapped_names_the_entries_in_use() -> None:
    given = {**entry(8, b=1, addr=1), **entry(9, b=1, addr=2), **entry(10, b=1, addr=3)}
    assert [t.register for t in decode("itanium2", {"PMD16": 2, **given}).trace] == ["PMD8", "PMD9"]
    assert [t.register for t in decode("itanium2", given).trace] == ["PMD8", "PMD9", "PMD10"]
    assert decode("itanium2", {"PMD16": 0, **given}).trace == ()


def test_prediction_details_split_the_address() -> None:
    reg = fill(ITA2(), {"pmd8_15_ds_ita2_reg": {"btb_b": 1, "btb_slot": 1, "btb_loaddr": 0x1FFFFFFFFF, "btb_pred": 0xABCDE,
                                    "btb_hiaddr": 5}}).pmd_val
    (found,) = decode("itanium2", {"PMC12": 0x3F88, "PMD8": reg}).trace
    assert (found.address, found.prediction) == (0xA00001FFFFFFFFF0, 0xABCDE)


def test_execution_trace_buffer_joins_its_extensions() -> None:
    ext = fill(MONT(), {"pmd39_mont_reg": {"etb_pmd63ext_b1": 1, "etb_pmd48ext_bruflush": 1}}).pmd_val
    source = fill(MONT(), {"pmd48_63_etb_mont_reg": {"etb_s": 1, "etb_slot": 1, "etb_addr": 0x40}}).pmd_val
    index = fill(MONT(), {"pmd38_mont_reg": {"etbi_ebi": 15, "etbi_full": 1}}).pmd_val
    trace = decode("montecito", {"PMD38": index, "PMD39": ext, "PMD48": source, "PMD63": source}, etb=True).trace
    assert [(t.register, t.address, t.flushed) for t in trace] == [("PMD63", 0x410, False), ("PMD48", 0x400, True)]
    (alone,) = decode("montecito", {"PMD48": source}).trace
    assert (alone.address, alone.flushed) == (0x400, None)


def test_instruction_addresses_join_their_extensions() -> None:
    ext = fill(MONT(), {"pmd39_ipear_mont_reg": {"ipear_pmd49ext_cycles": 2, "ipear_pmd49ext_f": 1, "ipear_pmd50ext_ef": 1}})
    full = fill(MONT(), {"pmd48_63_ipear_mont_reg": {"ipear_addr": 0x40000000000012, "ipear_cycles": 3}})
    early = fill(MONT(), {"pmd48_63_ipear_ef_mont_reg": {"ipear_addr": 0x4000000000012, "ipear_cycles": 3, "ipear_delay": 7}})
    trace = decode("montecito", {"PMD39": ext.pmd_val, "PMD49": full.pmd_val, "PMD50": early.pmd_val}, ipear=True).trace
    assert [(t.address, t.cycles, t.flushed, t.delay) for t in trace] == [
        (0x400000000000120, 35, True, None), (0x4000000000012000, 3, False, 7)]
    assert trace[1].text == "3 cycles, early freeze, delay 7"


def test_what_the_trace_buffer_holds_follows_its_settings() -> None:
    assert decode("montecito", {"PMC42": 0x408, "PMD48": 0}).trace[0].entry == "instruction"
    assert decode("montecito", {"PMC42": 0x408, "PMC39": 0, "PMD48": 0}).trace[0].entry == "instruction"
    assert decode("montecito", {"PMC42": 0x408, "PMD48": 0}, etb=True).trace[0].entry == "invalid"
    assert decode("montecito", {"PMC39": 0x3F08, "PMD48": 0}).trace[0].entry == "invalid"
    with pytest.raises(DecodeError, match="say one"):
        decode("montecito", {"PMD48": 0}, etb=True, ipear=True)
    with pytest.raises(DecodeError, match="say one"):
        decode("itanium2", {"PMD8": 0}, etb=True)


def samples() -> Iterator[tuple[str, dict[str, int]]]:
    """The registers of one sample of each EAR, on both models."""
    ita2 = {0: fill(ITA2(), {"pmd0_ita2_reg": {"iear_stat": 1, "iear_iaddr": 0x20}}),
            1: fill(ITA2(), {"pmd1_ita2_reg": {"iear_latency": 77, "iear_overflow": 1}}),
            2: fill(ITA2(), {"pmd2_ita2_reg": {"dear_daddr": 0x6000000000001234}}),
            3: fill(ITA2(), {"pmd3_ita2_reg": {"dear_latency": 90, "dear_stat": 2}}),
            17: fill(ITA2(), {"pmd17_ita2_reg": {"dear_slot": 2, "dear_bn": 1, "dear_vl": 1, "dear_iaddr": 0x100}})}
    mont = {34: fill(MONT(), {"pmd34_mont_reg": {"iear_stat": 1, "iear_iaddr": 0x20}}),
            35: fill(MONT(), {"pmd35_mont_reg": {"iear_latency": 77, "iear_ov": 1}}),
            32: fill(MONT(), {"pmd32_mont_reg": {"dear_daddr": 0x6000000000001234}}),
            33: fill(MONT(), {"pmd33_mont_reg": {"dear_latency": 90, "dear_stat": 2}}),
            36: fill(MONT(), {"pmd36_mont_reg": {"dear_slot": 2, "dear_bn": 1, "dear_vl": 1, "dear_iaddr": 0x100}})}
    for pmu, regs in (("itanium2", ita2), ("montecito", mont)):
        yield pmu, {f"PMD{n}": r.pmd_val for n, r in regs.items()}


@pytest.mark.parametrize(("pmu", "regs"), list(samples()))
def test_event_address_registers_are_read_together(pmu: Any, regs: dict[str, int]) -> None:
    instruction, data = decode(pmu, regs).samples
    assert (instruction.what, instruction.address, instruction.latency, instruction.overflow, instruction.status) == (
        "instruction", 0x400, 77, True, 1)
    assert (data.what, data.address, data.latency, data.overflow, data.status) == (
        "data", 0x6000000000001234, 90, False, 2)
    assert (data.instruction, data.slot, data.valid) == (0x1010, 2, True)
    assert ("latency", "77 cycles or more (overflow)") in instruction.rows()
    assert ("instruction", "0x1010, slot 2") in data.rows()


def test_a_part_of_a_sample_says_what_it_can() -> None:
    (sample,) = decode("itanium2", {"PMD3": 90}).samples
    assert (sample.address, sample.latency, sample.instruction) == (None, 90, None)
    assert [name for name, _ in sample.rows()] == ["EAR", "latency", "status"]
    (sample,) = decode("itanium2", {"PMD17": (1 << 64) - 1}).samples
    assert (sample.instruction, sample.slot) == (0, 3)  # the bundle after the last one
    assert [name for name, _ in sample.rows()] == ["EAR", "instruction"]
    (sample,) = decode("montecito", {"PMD36": 0x1000}).samples
    assert (sample.instruction, sample.valid, sample.latency) == (0x1000, False, None)


def test_counters() -> None:
    decoded = decode("itanium2", {"PMD4": (1 << 47) - 1, "PMD5": (1 << 64) - 1, "PMD6": 1234567})
    assert [r.to_json()["meaning"] for r in decoded.registers] == [
        {"kind": "count", "count": (1 << 47) - 1}, {"kind": "count", "count": (1 << 47) - 1},
        {"kind": "count", "count": 1234567}]
    assert decode("itanium2", {"PMD4": 1 << 47})["PMD4"].notes == ("the bits above the counter are not its sign",)
    assert decoded["PMD4"].notes == decoded["PMD5"].notes == ()


def test_samples_and_branches_of_itanium() -> None:
    given = {
        "PMD0": fill(ITA(), {"pmd0_ita_reg": {"iear_v": 1, "iear_tlb": 1, "iear_icla": 0x80}}).pmd_val,
        "PMD1": fill(ITA(), {"pmd1_ita_reg": {"iear_lat": 77}}).pmd_val,
        "PMD2": 0x6000000000001234,
        "PMD3": fill(ITA(), {"pmd3_ita_reg": {"dear_latency": 9, "dear_level": 2}}).pmd_val,
        "PMD17": fill(ITA(), {"pmd17_ita_reg": {"dear_vl": 1, "dear_slot": 1, "dear_iaddr": 0x40}}).pmd_val,
        "PMD16": fill(ITA(), {"pmd16_ita_reg": {"btbi_bbi": 1, "btbi_full": 1}}).pmd_val,
        "PMD8": fill(ITA(), {"pmd8_15_ita_reg": {"btb_mp": 1, "btb_addr": 0x200}}).pmd_val,
        "PMD9": fill(ITA(), {"pmd8_15_ita_reg": {"btb_b": 1, "btb_mp": 1, "btb_slot": 2, "btb_addr": 0x100}}).pmd_val,
        "PMD4": 1 << 31,
    }
    decoded = decode("itanium", given)
    instruction, data = decoded.samples
    assert (instruction.address, instruction.latency, instruction.valid) == (0x1000, 77, True)
    assert (data.address, data.latency, data.status, data.overflow) == (0x6000000000001234, 9, 2, None)
    assert (data.instruction, data.slot, data.valid) == (0x400, 1, True)
    assert [(t.register, t.entry, t.address, t.slot) for t in decoded.trace] == [
        ("PMD9", "source", 0x1000, 2), ("PMD8", "target", 0x2000, None)]
    assert decoded["PMD4"].notes == ()
    assert decode("itanium", {"PMD4": 1 << 31 | 1 << 40})["PMD4"].notes == ("the bits above the counter are not its sign",)
    (invalid,) = decode("itanium", {"PMD0": 0x1000}).samples
    assert ("valid", "no") in invalid.rows()
    assert decode("gen_ia64", {"PMD4": 5})["PMD4"].meaning.rows() == [("count", "5")]


def test_debug_registers_are_addresses_and_masks_in_turn() -> None:
    for num in range(8):
        names = [field.name for field in debug_layout(num)]
        assert names == (["mask", "plm", "ig", "w", "rx"] if num in (1, 3, 5, 7) else ["address"])
