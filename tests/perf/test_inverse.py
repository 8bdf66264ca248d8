"""The tables of PMUs turned round: what an event encodes to is decoded to it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from pypfm._c.pfm4 import lib

from foreign_library import debian, library
from native import PFM4
from pypfm import Montecito, perf
from pypfm.decoding import decode
from pypfm.errors import DecodeError, LibraryError, Pfm4Error
from pypfm.perf import Pmu
from pypfm.perf.events import Event, Os
from pypfm.perf.foreign import foreign_pmus

ITANIUM = ("ita", "ita2", "mont")
# Some of each kind: core, offcore registers, three codes, modifiers that need each other, filters, defaults, AMD.
SOME = ("skl", "spr", "nhm", "netburst", "core", "glm", "perf", "snbep_unc_cbo0", "snbep_unc_pcu", "skx_unc_cha0",
        "amd64_fam19h_zen4", "rapl", "knl")
# Levels of the caller: user, kernel, both, none, with the hypervisor.
LEVELS = (8, 1, 9, 0, 24)


def values(made: perf.Encoding, os: Os) -> dict[str, int]:
    """What decode() is given for an encoding."""
    if os == "none":
        names = ("code", "offcore") if made.offcore is not None else ("code", "code1", "code2", "code3")
        return dict(zip(names, made.codes, strict=False))
    names = ("type", "config", "config1", "config2", "exclude_user", "exclude_kernel", "exclude_hv")
    return {name: (made.attr or {})[name] for name in names if name in (made.attr or {})}


def single(pmu: Pmu, event: Event, os: Os, plm: int = 8) -> Iterator[perf.Encoding]:
    """An event with each of its unit masks; where that needs a modifier that is a number, with one."""
    numbers = [m.name for m in pmu.modifiers(event.name, os) if not m.is_switch]
    for text in (event.name, *(f"{event.name}:{u.name}" for u in event.umasks)):
        for more in ("", *(f":{name}=1" for name in numbers)):
            try:
                yield pmu.encode(text + more, plm=plm, os=os, check="reference")
                break
            except Pfm4Error:
                continue


def not_back(pmu: Pmu, made: perf.Encoding, os: Os) -> str | None:
    """What is wrong with decoding an encoding, or None."""
    found = decode(pmu.name, values(made, os), library=pmu.library) if pmu.library else decode(
        pmu.name, values(made, os))
    assert isinstance(found, perf.Decoded)
    if made.string not in {c.string for c in found.candidates}:
        return f"{made.string} {values(made, os)}: {[c.string for c in found.candidates]} {found.notes}"
    for candidate in found.candidates:
        again = found.encode(candidate)
        if values(again, os) != values(made, os):
            return f"{candidate.request}: {values(again, os)}, not {values(made, os)}"
    return None


@pytest.mark.parametrize(("name", "os"), [*((name, "none") for name in ITANIUM), ("mont", "perf_event")])
def test_every_event_of_the_itanium_pmus(name: str, os: Os) -> None:
    pmu, seen = Pmu(name), set()
    for event in pmu.events:
        for made in single(pmu, event, os):
            seen.add(event.name)
            assert not_back(pmu, made, os) is None
    cut = {event.name for event in pmu.events} - seen
    assert len(cut) < 170, cut
    assert not cut or os == "perf_event"  # those that need more than a counter


@pytest.mark.parametrize("name", ITANIUM)
def test_levels_thresholds_and_masks_of_the_itanium_pmus(name: str) -> None:
    pmu, rng = Pmu(name), random.Random(name)
    for event in rng.sample(pmu.events, 60):
        masks = rng.sample([u.name for u in event.umasks], rng.randrange(min(len(event.umasks), 3) + 1))
        for os in ("none", "perf_event"):
            words = [event.name, *masks]
            for modifier in pmu.modifiers(event.name, os):  # type: ignore[arg-type] # of the names
                if modifier.name in ("k", "u", "thres", "all") and rng.random() < 0.6:
                    words.append(f"{modifier.name}={rng.randrange(2)}")
            try:
                made = pmu.encode(":".join(words), os=os, check="reference")  # type: ignore[arg-type] # of the names
            except Pfm4Error:
                continue
            assert not_back(pmu, made, os) is None  # type: ignore[arg-type] # of the names


def test_a_code_of_libpfm_3_is_one_of_libpfm_4() -> None:
    """The PMC value of Montecito's own class, decoded by event strings."""
    code = Montecito().encode(["L3_READS_ALL_ALL:M:E"]).registers["PMC4"].value
    found = decode("mont", {"code": code})
    assert [c.string for c in found.candidates] == ["mont::L3_READS_ALL_ALL:E:M:k=0:u=1"]
    assert found.fields["event"] == code >> 8 & 0xFF


def test_a_pmu_of_both_libraries_is_told_by_the_names() -> None:
    assert isinstance(decode("gen_ia64", {"config": 0x1200}), perf.Decoded)
    assert isinstance(decode("gen_ia64", {"code": 0x1228}), perf.Decoded)
    assert not isinstance(decode("gen_ia64", {"PMC4": 0x1228}), perf.Decoded)
    assert [c.event for c in decode("gen_ia64", {"code": 0x1228}).candidates] == ["CPU_CYCLES"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("pmu", "given", "note"), [
    ("mont", {"code": 0x1200}, "as config of perf_event it is mont::CPU_OP_CYCLES_ALL"),
    ("mont", {"code": 0x1200}, "every event sets bits 0x2000000, which are 0"),
    ("mont", {"code": 0x8000000002001208}, "no event sets bits 0x8000000000000000 of the code"),
    ("mont", {"config": 0x1200, "type": 1}, "type 1 (software) is no event of the processor; its type is 4"),
    ("mont", {"config": 0x1000000}, "no event sets bits 0x1000000 of the config"),
])
def test_values_that_no_event_gives(pmu: str, given: dict[str, int], note: str) -> None:
    found = decode(pmu, given)
    assert found.candidates == ()  # type: ignore[union-attr] # of a PMU of libpfm 4
    assert any(n.startswith(note) for n in found.notes), found.notes  # type: ignore[union-attr] # likewise


def test_what_is_not_given() -> None:
    found = decode("skl", {"code": 0x5101B7}, library=debian())
    assert found.candidates == ()
    assert found.notes[0].startswith("code is also of OFFCORE_RESPONSE_0")
    box = decode("snbep_unc_ha", {"config": 0}, library=debian())
    assert box.notes == () or "known to a kernel that has it" in box.notes[0]


def test_ambiguous_codes_are_all_listed() -> None:
    found = decode("skl", {"code": 0x5100C0}, library=debian())
    assert {c.event: c.aliases for c in found.candidates} == {
        "INSTRUCTION_RETIRED": ("INSTRUCTIONS_RETIRED",), "INST_RETIRED": ()}


@pytest.mark.parametrize(("given", "error", "said"), [
    ({"offcore": 1}, DecodeError, "skl has no value 'offcore'; it has code, code1"),
    ({"code1": 1}, DecodeError, "code1 without code: nothing to decode"),
    ({"config1": 1}, DecodeError, "config: nothing to decode"),
    ({"code": 1, "config": 1}, DecodeError, "give raw codes or fields of perf_event"),
    ({"code": 1 << 64}, DecodeError, "does not fit 64 bits"),
])
def test_wrong_values(given: dict[str, int], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        decode("skl", given, library=debian())


def test_decode_with_a_library_that_is_not_there() -> None:
    with pytest.raises(LibraryError, match="No such file"):
        decode("skl", {"code": 1}, library="/no/such")


def test_our_own_library_by_its_file() -> None:
    """glm without the rules that are written for it: the same but for unit masks without a name."""
    for code in (0x5300C0, 0x5510280, 0x5302C4, 0x5180380, 0x5300C5):
        ours, theirs = decode("glm", {"code": code}), decode("glm", {"code": code}, library=PFM4.path)
        assert {c.string for c in theirs.candidates} == {
            c.string for c in ours.candidates if ":0x" not in c.string}  # type: ignore[union-attr] # of libpfm 4


def test_bits_of_another_register_that_only_two_unit_masks_set() -> None:
    """Not all pairs are tried to learn which bits an event can set: code1 can have others."""
    made = Pmu("snbep_unc_cbo0", library=debian()).encode("UNC_C_TOR_INSERTS:WB:OPC_PCINSWRF", check="reference")
    found = decode("snbep_unc_cbo0", values(made, "none"), library=debian())
    assert made.string in {c.string for c in found.candidates}


def test_switches_that_change_the_same_bits() -> None:
    """One alone does not show what it is set to: some that are on are off where another is given."""
    names = ("isoc", "nc", "loc", "rem", "lmem", "rmem")
    box = Pmu("skx_unc_cha0", library=debian())
    for chosen in product((False, True), repeat=len(names)):
        switches = "".join(f":{name}=1" for name, is_on in zip(names, chosen, strict=True) if is_on)
        assert not_back(box, box.encode(f"UNC_C_TOR_INSERTS:IRQ{switches}", check="reference"), "none") is None


def test_a_modifier_and_a_field(tmp_path: Path) -> None:
    found = decode("toy", {"code": 0xF00000006}, library=library(tmp_path))
    assert {c.request for c in found.candidates} == {"toy::CYCLES:c=15", "toy::CYCLES:ALL:c=15"}


@pytest.mark.parametrize("name", SOME)
@pytest.mark.slow
def test_events_of_debian_s_pmus_with_modifiers(name: str) -> None:
    """Random unit masks and modifiers, which the seed decides."""
    pmu, rng = Pmu(name, library=debian()), random.Random(name)
    for event in pmu.events:
        modifiers = pmu.modifiers(event.name)
        for _ in range(4):
            masks = rng.sample([u.name for u in event.umasks], min(len(event.umasks), rng.choice((0, 1, 1, 2, 3))))
            some = rng.sample(modifiers, min(len(modifiers), rng.choice((0, 1, 2, 3))))
            words = [f"{m.name}={rng.randrange(2) if m.is_switch else rng.choice((1, 3, 17, 100))}" for m in some]
            try:
                made = pmu.encode(":".join([event.name, *masks, *words]), check="reference")
            except Pfm4Error:
                continue
            found = decode(name, values(made, "none"), library=debian())
            assert made.event in {n for c in found.candidates for n in c.names}, made
            assert all(found.encode(c).codes == made.codes for c in found.candidates)


@pytest.mark.parametrize("plm", LEVELS)
@pytest.mark.parametrize(("name", "event", "os"), [
    ("amd64_fam19h_zen3_l3", "UNC_L3_MISS_LATENCY", "none"), ("amd64_fam15h_nb", "L3_LATENCY", "none"),
    ("amd64_k7", "DATA_CACHE_ACCESSES", "none"), ("core", "RS_UOPS_DISPATCHED_NONE", "none"), ("nhm", "UOPS_DECODED_DEC0", "none"),
    ("netburst", "machine_clear:CLEAR", "perf_event"), ("netburst", "machine_clear:CLEAR:k=1", "perf_event")])
def test_levels_that_only_the_caller_gives(name: str, event: str, os: Os, plm: int) -> None:
    """Some events have no modifiers for levels, or ones that do not change all of a code."""
    pmu = Pmu(name, library=debian())
    assert not_back(pmu, pmu.encode(event, plm=plm, os=os), os) is None


def test_levels_of_a_candidate() -> None:
    found = decode("amd64_fam19h_zen3_l3", {"code": 0x530090}, library=debian())
    assert [(c.request, c.plm) for c in found.candidates] == [("amd64_fam19h_zen3_l3::UNC_L3_MISS_LATENCY", 9)]
    found = decode("skl", {"code": 0x5300C0}, library=debian())
    assert {(c.plm, c.levels) for c in found.candidates} == {(None, "")}
    words = {0x530090: "user, kernel", 0x510090: "user", 0x520090: "kernel", 0x500090: "none", 0x20000510090: "user, hypervisor"}
    for code, levels in words.items():
        found = decode("amd64_fam19h_zen3_l3", {"code": code}, library=debian())
        assert [c.levels for c in found.candidates] == [levels]


def wrong_at_other_levels(pmu: Pmu, event: Event, os: Os) -> Iterator[str]:
    """What is not decoded to itself of an event with one unit mask, at other levels than the user's."""
    for plm in LEVELS if os == "none" else LEVELS[:-1]:  # without modifier h, exclude_hv says nothing
        if made := next(single(pmu, event, os, plm), None):
            yield from [said] if (said := not_back(pmu, made, os)) else []


@pytest.mark.parametrize("os", ["none", "perf_event"])
def test_some_events_of_all_of_debian_s_pmus_at_other_levels(os: Os) -> None:
    """Small ones, which the seed decides."""
    rng = random.Random(os)
    small = [known for known in foreign_pmus(debian())[1] if 0 < known.events < 60]
    wrong = []
    for known in rng.sample(small, 12):
        pmu = Pmu(known.name, library=debian())
        wrong += [said for event in rng.sample(pmu.events, min(len(pmu), 5)) for said in wrong_at_other_levels(pmu, event, os)]
    assert wrong[:5] == []


@pytest.mark.long
@pytest.mark.parametrize("os", ["none", "perf_event"])
def test_every_event_at_other_levels(os: Os) -> None:
    wrong = []
    for known in foreign_pmus(debian())[1]:
        pmu = Pmu(known.name, library=debian())
        wrong += [said for event in pmu.events for said in wrong_at_other_levels(pmu, event, os)]
    assert wrong[:10] == []


@pytest.mark.long
def test_every_pmu_that_debian_s_library_knows() -> None:
    """All events and unit masks listed, encoded, decoded back to themselves.

    Without events is ix86arch alone: its events are those that the processor itself reports (CPUID leaf 10).  One
    event the library itself refuses: snb has no unit mask for it (snb_ep has two), and it needs one.
    """
    empty, wrong, refused, counted = [], [], [], 0
    for known in foreign_pmus(debian())[1]:
        pmu = Pmu(known.name, library=debian())
        if not len(pmu):
            empty.append(pmu.name)
        assert len(pmu) == len(list(pmu)) == known.events
        for event in pmu.events:
            names = set()
            for made in single(pmu, event, "none"):
                counted += 1
                names.add(made.string)
                wrong += [said] if (said := not_back(pmu, made, "none")) else []
            if not names and not event.umasks:
                refused.append((pmu.name, event.name, pmu._tried(event.name, 0, 8), pmu._tried(f"{event.name}:0x1", 0, 8)))
            elif not names and (said := _needs_two(pmu, event)):
                wrong.append(said)
    assert wrong[:10] == []
    assert empty == ["ix86arch"]
    assert refused == [("snb", "MEM_LOAD_UOPS_LLC_MISS_RETIRED", lib.PFM_ERR_UMASK, 0)]
    assert counted > 40_000


def _needs_two(pmu: Pmu, event: Event) -> str | None:
    """Of an event that takes no unit mask alone: what is wrong with two."""
    for a in event.umasks:
        for b in event.umasks[a.index + 1:]:
            try:
                made = pmu.encode(f"{event.name}:{a.name}:{b.name}", check="reference")
            except Pfm4Error:
                continue
            return not_back(pmu, made, "none")
    return f"{pmu.name}::{event.name} is not encoded with any two unit masks"


@pytest.mark.long
def test_every_pmu_for_perf_event() -> None:
    """The same of perf_event, for PMUs whose type the kernel need not know."""
    seen, wrong = 0, []
    for known in foreign_pmus(debian())[1]:
        pmu = Pmu(known.name, library=debian())
        for event in pmu.events:
            for made in single(pmu, event, "perf_event"):
                seen += 1
                wrong += [said] if (said := not_back(pmu, made, "perf_event")) else []
    assert wrong[:10] == []
    assert seen > 10_000
