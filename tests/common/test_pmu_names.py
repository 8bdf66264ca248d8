"""One table of names: whoever takes a PMU knows the same ones, and one event or several."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pypfm
from pypfm import (
    DecodeError,
    Encoding,
    EventRequest,
    GenericIA64,
    Goldmont,
    InvalidTypeError,
    InvalidValueError,
    Itanium,
    Itanium2,
    Montecito,
    Perf,
    decode,
    ia64,
    perf,
    pmu,
)
from pypfm.common.pmu_names import PMUS, canonical
from terminal import pypfm as pypfm_command

NAMES = [(name, known) for known, home in PMUS.items() for name in (known, *home.aliases)]
CLASSES = {"itanium2": Itanium2, "montecito": Montecito, "itanium": Itanium, "gen_ia64": GenericIA64, "glm": Goldmont, "perf": Perf}


@pytest.mark.parametrize(("name", "known"), NAMES)
def test_every_name_in_any_case(name: str, known: str) -> None:
    for spelled in (name, name.upper(), name.title()):
        assert canonical(spelled) == known
        found = pmu(spelled)
        assert found.name == known
        assert type(found) is CLASSES.get(known, perf.Pmu)


def test_no_name_stands_for_two() -> None:
    names = [name for name, _ in NAMES]
    assert len(names) == len(set(names))
    assert names == [name.lower() for name in names]


@pytest.mark.parametrize("name", ["GLM", "goldmont", "Ita2", "MONT", "Perf", "PERF_RAW", "gen_ia64"])
def test_pmus_of_libpfm_4_in_any_case(name: str) -> None:
    assert perf.Pmu(name).name == canonical(name.lower())


def test_settings_and_other_libraries() -> None:
    assert pmu("Itanium2", cpuid3=0x1F000000) == Itanium2(0x1F000000) != Itanium2()
    assert pmu("goldmont", corrected=True) == Goldmont(corrected=True)
    for wrong, error in (("goldmon", InvalidValueError), ("", InvalidValueError), (5, InvalidTypeError), (None, InvalidTypeError)):
        with pytest.raises(error, match="pmu"):
            pmu(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match=r"pmu='itanim2': expected one of itanium2, .*; the nearest (is|are) itanium2"):
        pmu("itanim2")
    with pytest.raises(pypfm.LibraryError, match="cannot be loaded"):
        pmu("glm", library="/etc/passwd")


@pytest.mark.parametrize(("name", "cls"), [
    ("ita2", Itanium2), ("ITANIUM2", Itanium2), ("McKinley", Itanium2), ("mont", Montecito), ("ita", Itanium), ("Merced", Itanium),
    ("gen_ia64", GenericIA64)])
def test_names_of_the_ia64_pmus(name: str, cls: type[ia64.Pmu]) -> None:
    assert type(ia64.pmu_of(name)) is cls
    given = Encoding.from_registers(name, {"PMC4": 0x1228})
    assert given.pmu == cls.name
    assert decode(name, {"PMC4": 0x1228}).pmu == cls.name
    for wrong in ("glm", "perf", "x", 5, None):
        with pytest.raises(InvalidValueError, match="expected one of itanium2, montecito, itanium, gen_ia64"):
            ia64.pmu_of(wrong)  # type: ignore[arg-type]
        with pytest.raises(DecodeError, match="expected one of itanium2, montecito, itanium, gen_ia64"):
            Encoding.from_registers(wrong, {"PMC4": 0x1228})  # type: ignore[arg-type]


def test_what_decode_takes() -> None:
    made = Itanium2().encode("CPU_CYCLES")
    expected = decode("itanium2", {"PMC4": made["PMC4"].value})
    for found in (decode(made), made.decode(), decode(Itanium2(), {"PMC4": made["PMC4"].value}), decode("ITA2", {"pmc4": 0x1228})):
        assert found.registers == expected.registers
    code = Goldmont().encode("ICACHE:HIT")
    for other in (decode(code), code.decode(), decode(Goldmont(), {"code": code.codes[0]}), decode("GOLDMONT", {"code": code.codes[0]})):
        assert other == decode("glm", {"code": code.codes[0]})
    assert decode("ita2", {"code": 0x1228}).pmu == "ita2"
    assert decode("gen_ia64", {"code": 0x1228}) == decode(perf.Pmu("gen_ia64"), {"code": 0x1228})


def test_what_decode_does_not_take() -> None:
    made: Any = Itanium2().encode("CPU_CYCLES")
    for call, said in ((lambda: decode(made, {"PMC4": 1}), "it has its registers"),
                       (lambda: decode("itanium2"), "the registers are missing"),  # type: ignore[call-overload]
                       (lambda: decode(5, {"PMC4": 1}), "pmu=5: expected one of itanium2"),  # type: ignore[call-overload]
                       (lambda: decode("itanium3", {"PMC4": 1}), "the nearest are itanium"),
                       (lambda: decode("itanium2", {"code": 1}), "no register 'code'"),
                       (lambda: decode(made, pmds=[4]), "it has its registers"),  # type: ignore[call-overload]
                       (lambda: decode(Goldmont(), {"code": 1}, library="x"), "a PMU has its library"),  # type: ignore[call-overload]
                       *((call, "etb, ipear and pmds belong to registers") for call in (
                           lambda: decode(Goldmont().encode("ICACHE:HIT"), etb=True),  # type: ignore[call-overload]
                           lambda: decode(Goldmont(), {"code": 1}, ipear=True),  # type: ignore[call-overload]
                           lambda: decode("glm", {"code": 1}, pmds=[1]), lambda: decode("mont", {"code": 1}, etb=True)))):
        with pytest.raises((InvalidTypeError, DecodeError), match=said):
            call()


@pytest.mark.parametrize(("name", "os"), [("glm", "none"), ("glm", "perf_event"), ("mont", "none"), ("gen_ia64", "none"), ("perf", "perf_event")])
def test_an_encoding_decodes_to_its_event(name: str, os: Any) -> None:
    """Of every event without unit masks to choose: one of the candidates gives the codes again."""
    of = {"glm": Goldmont, "perf": Perf}.get(name, lambda: perf.Pmu(name))()
    seen = 0
    for event in of:
        try:
            made = of.encode(event, os=os, check="reference")
        except pypfm.Pfm4Error:  # it needs a unit mask, or the kernel does not count it
            continue
        found = made.decode()
        assert any(found.encode(candidate).codes[:1] == made.codes[:1] for candidate in found.candidates), event
        seen += 1
    assert seen > 1


@pytest.mark.parametrize("of", [Itanium2(), GenericIA64()])
def test_one_event_or_several_of_libpfm_3(of: ia64.Pmu) -> None:
    event = of.at(0)
    made = of.encode([event.name])
    for one in (event.name, event, EventRequest(event)):
        assert of.encode(one) == of.encode([one]) == made


def test_one_event_or_several_of_libpfm_4() -> None:
    glm = Goldmont()
    one = glm.encode("ICACHE:HIT")
    assert glm.encode(["ICACHE:HIT", glm["UNHALTED_CORE_CYCLES"]], plm="user") == (
        one, glm.encode(glm["UNHALTED_CORE_CYCLES"], plm="user"))
    assert glm.encode(()) == ()
    with pytest.raises(pypfm.Pfm4Error, match="ICACHE: no unit mask or modifier 'NO'"):
        glm.encode(["ICACHE:HIT", "ICACHE:NO"])
    with pytest.raises(pypfm.Pfm4EventNotFoundError):
        glm.encode(Perf()["task-clock"])


@pytest.mark.parametrize(("args", "pmu_name"), [
    (["encode", "-p", "McKinley", "CPU_CYCLES"], "itanium2"), (["encode", "-p", "goldmont", "ICACHE:HIT"], "glm"),
    (["decode", "-p", "ita2", "PMC4=0x1228"], "itanium2"), (["decode", "-p", "Mont", "code=0x2001208"], "mont")])
def test_the_command_line_knows_them(args: list[str], pmu_name: str) -> None:
    done = pypfm_command(*args)
    assert done.stderr == ""
    assert json.loads(done.stdout)["pmu"] == pmu_name
