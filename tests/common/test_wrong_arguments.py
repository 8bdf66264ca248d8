"""Wrong values for every argument of the public callables: an error of the package, and one of Python's kinds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pypfm
import pypfm.decoding
import pypfm.perfex
from conftest import coded
from pypfm import (
    AddressRange,
    Btb,
    Counter,
    Ear,
    Encoding,
    Etb,
    EventRequest,
    GenericIA64,
    Goldmont,
    InvalidTypeError,
    InvalidValueError,
    IpEar,
    Itanium,
    Itanium2,
    ItaniumBtb,
    Machine,
    Montecito,
    OpcodeMatch,
    Perf,
    Ranges,
    conform,
    layout,
)
from pypfm.common.runs import written
from pypfm.errors import named
from pypfm.ia64.request import Request

pytestmark = pytest.mark.usefixtures("runtime_dir")

EVENT_LAYOUT = layout.describe("pfmlib_event_t")

WHATEVER: list[Any] = [None, 1.5, "usr", "", "\0", "\udcff", "\ud800", b"x", [], ["x"], (), {}, {"x": 1}, object(), object, -1, 1 << 70,
                       -(1 << 70), 10**5000, float("nan"), [None], (1, 2, 3, 4), lambda: 1, True]


class Index:
    """As numpy's numbers: it stands for an int, and is none."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def machine() -> Machine:
    return Machine("xscale")


def _nothing() -> None:
    """Work to be counted."""


# Callables with arguments that are right; each of these is replaced in turn.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "EventRequest": (EventRequest, {"event": "CPU_CYCLES", "plm": 8, "threshold": 0, "ism": 0, "unit_masks": (),
                                    "no_qualcheck": False, "flags": 0}),
    "AddressRange": (AddressRange, {"start": 0, "end": 16, "plm": 0}),
    "Ranges": (Ranges, {"limits": (), "flags": 0, "used": 1}),
    "OpcodeMatch": (OpcodeMatch, {"match": 0, "mask": 0, "m": 1, "i": 1, "f": 1, "b": 1, "value": None, "used": 1}),
    "Ear": (Ear, {"mode": 0, "umask": 0, "plm": 0, "ism": 0, "used": 1}),
    "Btb": (Btb, {"tm": 3, "ptm": 3, "ppm": 3, "brt": 0, "ds": 0, "plm": 0, "used": 1}),
    "ItaniumBtb": (ItaniumBtb, {"tm": 3, "ptm": 3, "ppm": 3, "tar": 1, "tac": 1, "bac": 1, "plm": 0, "used": 1}),
    "Etb": (Etb, {"tm": 3, "ptm": 3, "ppm": 3, "brt": 0, "plm": 0, "used": 1}),
    "IpEar": (IpEar, {"delay": 0, "plm": 0, "used": 1}),
    "Request": (Request, {"plm": 8, "events": (), "system_wide": False, "unavailable_pmcs": (), "code": None, "data": None,
                          "opcode_match": (None, None), "iear": None, "dear": None, "branches": None, "ipear": None,
                          "model_input": None, "model_output": None}),
    "Itanium2": (Itanium2, {"cpuid3": None}),
    "Itanium": (Itanium, {"cpuid3": None, "corrected": False}),
    "GenericIA64": (GenericIA64, {"pal": None}),
    **{f"{pmu.__name__}.encode": (pmu().encode, {
        "events": ["CPU_CYCLES" if pmu is not Montecito else "CPU_OP_CYCLES_ALL"], "plm": 8,
        **{name: p.default for name, p in inspect.signature(pmu.encode).parameters.items()
           if name not in ("self", "events", "plm")}}) for pmu in (Itanium2, Montecito, Itanium, GenericIA64)},
    "Itanium2.encode_request": (Itanium2().encode_request, {"request": Request(plm=8), "check": "manual"}),
    "Itanium2.find": (Itanium2().find, {"pattern": "*"}),
    "Itanium2.at": (Itanium2().at, {"index": 0}),
    "GenericIA64.at": (GenericIA64().at, {"index": 1}),
    "Goldmont": (Goldmont, {"corrected": False}),
    "Goldmont.find": (Goldmont().find, {"pattern": "*"}),
    "Itanium2[]": (Itanium2().__getitem__, {"name": "CPU_CYCLES"}),
    "Goldmont[]": (Goldmont().__getitem__, {"name": "ICACHE"}),
    "Goldmont.encode": (Goldmont().encode, {"events": "ICACHE:HIT", "plm": 8, "os": None, "check": "manual"}),
    "Perf.encode": (Perf().encode, {"events": "PAGE-FAULTS", "plm": 8, "os": None, "check": "manual"}),
    "Perf.count": (Perf().count, {"event": "MAJOR-FAULTS", "work": _nothing, "plm": 8, "os": "perf_event_ext"}),
    "Goldmont.modifiers": (Goldmont().modifiers, {"event": "ICACHE", "os": "none"}),
    "Goldmont.average_latency": (lambda request, plm: Goldmont().average_latency(request, plm=plm),
                                 {"request": "DMND_DATA_RD", "plm": 8}),
    "Goldmont.parse_average_latency": (Goldmont().parse_average_latency, {
        "text": "OFFCORE_RESPONSE_0:OUTSTANDING+OFFCORE_RESPONSE_1:ANY_RESPONSE", "plm": 8}),
    "AverageLatency.cycles": (Goldmont().average_latency().cycles, {"count0": 1, "count1": 1}),
    "Machine": (Machine, {"name": "k7"}),
    "Machine.advance": (lambda event, count: machine().advance(event, count), {"event": "clock", "count": 1}),
    "Machine.profile": (lambda event, every, counter: machine().profile(event, every, counter).__enter__(),
                        {"event": "dcache-miss", "every": 1 << 20, "counter": None}),
    "Machine[]": (lambda name: machine()[name], {"name": "clock"}),
    "Machine.perf_event": (Machine().perf_event, {"event": "page-faults"}),
    "Counter": (lambda event, machine, reset, number: Counter(event, machine=machine, reset=reset, number=number).close(),
                {"event": "clock", "machine": "xscale", "reset": 0, "number": None}),
    "decode": (pypfm.decoding.decode, {"pmu": "itanium2", "registers": {"PMC4": 1}, "pmds": None}),
    "decode montecito": (pypfm.decoding.decode, {"pmu": "montecito", "registers": {"PMC39": 0}, "etb": True, "ipear": False}),
    "decode glm": (pypfm.decoding.decode, {"pmu": "glm", "registers": {"code": 1}}),
    "from_registers": (Encoding.from_registers, {"pmu": "itanium2", "registers": {"PMC4": 1}, "pmds": None}),
    "layout.describe": (layout.describe, {"name": "pfmlib_event_t", "library": "pfm3"}),
    "layout.find": (layout.find, {"name": "pfmlib_event_t"}),
    "layout.types": (layout.types, {"library": "pfm3"}),
    "layout.diff": (layout.diff, {"left": "pfm3:pfmlib_event_t", "right": "pfm3-manual:pfmlib_event_t"}),
    "layout.text": (layout.text, {"layout": EVENT_LAYOUT}),
    "layout.compare": (layout.compare, {"left": EVENT_LAYOUT, "right": EVENT_LAYOUT}),
    **{f"layout.{source.__name__}": (source, {"layouts": [EVENT_LAYOUT]})
       for source in (layout.c_source, layout.ctypes_source)},
    "conform.random_calls": (lambda api: conform.random_calls(api, 1, 1), {"api": "pfm3"}),
    "Decoded4.encode": (pypfm.decoding.decode("glm", {"code": 0x530180}).encode, {
        "candidate": pypfm.decoding.decode("glm", {"code": 0x530180}).candidates[0]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_arguments_are_right_before(name: str) -> None:
    call, arguments = CALLS[name]
    refused = None
    try:
        call(**arguments)
    except pypfm.PfmError as error:
        refused = error
    assert refused is None or isinstance(refused, pypfm.CountingError)  # of a kernel that counts nothing


@pytest.mark.parametrize("name", CALLS)
def test_wrong_values(name: str) -> None:
    call, arguments = CALLS[name]
    for argument in arguments:
        refused: list[pypfm.PfmError] = []
        for wrong in WHATEVER:
            try:
                call(**{**arguments, argument: wrong})
            except pypfm.PfmError as error:  # any other one is a failure
                refused.append(error)
        assert refused, argument  # of all these, something is wrong for every argument
        for error in refused:
            assert str(error), argument
            assert "\n" not in str(error), argument
            assert len(str(error)) < 1000, argument
            assert isinstance(error, (ValueError, TypeError, LookupError, OSError, pypfm.Pfm3Error, pypfm.Pfm4Error)), argument


@pytest.mark.parametrize("name", CALLS)
def test_what_is_right_for_no_argument(name: str) -> None:
    """Nor is the text "no" a switch: it would be True."""
    call, arguments = CALLS[name]
    for argument, right in arguments.items():
        switch = isinstance(right, bool)
        for wrong in (object(), 1.5 if argument not in ("count0", "count1") else [], *(["no", None, []] if switch else [])):
            with pytest.raises((InvalidTypeError, InvalidValueError, pypfm.UnknownKeyError)) as caught:
                call(**{**arguments, argument: wrong})
            if switch:
                assert isinstance(caught.value, InvalidTypeError)
                assert argument in str(caught.value)


def _plm_ways(plm: Any) -> dict[str, Callable[[], object]]:
    """All ways to give privilege levels."""
    ita2, mont, ita, glm, perf = Itanium2(), Montecito(), Itanium(), Goldmont(), Perf()
    return {
        "keyword": lambda: ita2.encode(["CPU_CYCLES"], plm=plm), "montecito": lambda: mont.encode([], plm=plm),
        "itanium": lambda: ita.encode([], plm=plm), "generic": lambda: GenericIA64().encode([], plm=plm),
        "event": lambda: ita2.encode([EventRequest("CPU_CYCLES", plm=plm)]),
        "tuple": lambda: ita2.encode(["NOPS_RETIRED"], code_ranges=[(0x1000, 0x1010, plm)]),
        "range": lambda: ita2.encode(["LOADS_RETIRED"], data_ranges=[AddressRange(0x1000, 0x1010, plm)]),
        "ear": lambda: ita2.encode([], iear=Ear(0, plm=plm)), "btb": lambda: ita2.encode([], btb=Btb(plm=plm)),
        "itanium btb": lambda: Itanium(corrected=True).encode([], btb=ItaniumBtb(plm=plm)),
        "etb": lambda: mont.encode([], etb=Etb(plm=plm)), "ipear": lambda: mont.encode([], ipear=IpEar(plm=plm)),
        "request": lambda: ita2.encode_request(Request(plm=plm)),
        "glm": lambda: glm.encode("ICACHE:HIT", plm=plm), "perf": lambda: perf.encode("PAGE-FAULTS", plm=plm),
        "count": lambda: perf.count("PAGE-FAULTS", _nothing, plm=plm),
        "latency": lambda: glm.average_latency(plm=plm),
    }


@pytest.mark.parametrize("way", _plm_ways(8))
def test_privilege_levels_are_refused_in_one_way(way: str) -> None:
    for wrong, error, said in (("usr", InvalidValueError, "privilege level 'usr': expected kernel, user, 0, 1, 2, 3"),
                               ("", InvalidValueError, "expected kernel, user"), (None, InvalidTypeError, "expected int or str"),
                               (8.0, InvalidTypeError, "expected int or str"), (["user"], InvalidTypeError, "not list"),
                               (1 << 40, InvalidValueError, "0x"), (-1, InvalidValueError, "0")):
        with pytest.raises(error) as caught:
            _plm_ways(wrong)[way]()
        assert isinstance(caught.value, (ValueError, TypeError))
        assert said in str(caught.value)


@pytest.mark.parametrize("way", [w for w in _plm_ways(8) if w != "count"])
def test_privilege_levels_in_other_types(way: str) -> None:
    for plm in ("user", pypfm.Plm.PLM3, Index(8)):
        assert _plm_ways(plm)[way]() == _plm_ways(8)[way]()


def test_numbers_that_are_not_int() -> None:
    assert AddressRange(Index(16), Index(32)) == AddressRange(16, 32)  # type: ignore[arg-type]
    assert Itanium2().encode(["NOPS_RETIRED"], unavailable_pmcs=[Index(4)])["PMC5"].value  # type: ignore[list-item]
    assert Goldmont().average_latency().cycles(Index(5), Index(2)) == 2.5  # type: ignore[arg-type]
    for number in (Index(1), True):
        with Counter("dcache-miss", machine=Machine("xscale"), number=number) as counter:  # type: ignore[arg-type]
            assert (counter.number, type(counter.number), counter.value) == (1, int, 0)


@pytest.mark.parametrize("text", ["\ud800", "ICACHE:\ud800", "ICACHE:c=\ud800", "\udcff\ud800"])
def test_a_text_that_is_no_unicode_is_a_name_that_nothing_has(text: str) -> None:
    for pmu in (Goldmont(), Perf(), Itanium2(), Montecito(), GenericIA64(), Machine("k7")):
        assert text not in pmu
        with pytest.raises(pypfm.UnknownKeyError):
            pmu[text]
    for event in (text, f"L3_READS_ALL_ALL:{text}"):
        with pytest.raises(pypfm.PfmError):
            Montecito().encode([event])
    for pmu in (Goldmont(), Perf()):
        with pytest.raises(pypfm.Pfm4Error):
            pmu.encode(text)
    with pytest.raises(pypfm.Pfm3Error, check=coded("PFMLIB_ERR_NOTSUPP")):
        GenericIA64(text)


@pytest.mark.parametrize(("call", "error", "said"), [
    (lambda: EventRequest(None), InvalidTypeError, "event: expected str or Event, not NoneType (None)"),  # type: ignore[arg-type]
    (lambda: EventRequest("X", unit_masks="IS"), InvalidTypeError, "X: unit masks: expected a sequence, not str ('IS')"),
    (lambda: EventRequest("X", unit_masks=[None]), InvalidTypeError, "X: unit mask: expected int or str"),  # type: ignore[list-item]
    (lambda: EventRequest("X", threshold="5"), InvalidTypeError, "EventRequest.threshold: expected int, not str ('5')"),  # type: ignore[arg-type]
    (lambda: Ear("cache"), InvalidTypeError, "Ear.mode: expected int, not str ('cache')"),  # type: ignore[arg-type]
    (lambda: Btb(tm="x"), InvalidTypeError, "Btb.tm: expected int"),  # type: ignore[arg-type]
    (lambda: Btb(plm="root"), InvalidValueError, "Btb.plm: privilege level 'root': expected kernel, user"),
    (lambda: Request(plm=8, opcode_match=(None,)), InvalidTypeError, "Request.opcode_match: expected 2 items, not 1"),  # type: ignore[arg-type]
    (lambda: Request(plm=8, iear=Btb()), InvalidTypeError, "Request.iear: expected Ear, not Btb"),  # type: ignore[arg-type]
    (lambda: Itanium2().encode(["CPU_CYCLES"], check="none"), InvalidValueError, "check='none': expected one of manual, reference"),  # type: ignore[arg-type]
    (lambda: Goldmont().encode("ICACHE", os="bsd"), InvalidValueError, "os='bsd': expected one of none, perf_event"),  # type: ignore[arg-type]
    (lambda: Goldmont().encode("ICACHE", plm=64), InvalidValueError, "privilege levels 0x40: bits 0 to 4 are allowed"),
    (lambda: Perf().count("PAGE-FAULTS", 5), InvalidTypeError, "work: expected a function without arguments, not int"),  # type: ignore[arg-type]
    (lambda: Machine("pentium"), pypfm.UnknownKeyError, "no machine 'pentium'; machines are linux"),
    (lambda: Counter("clock", machine=5), InvalidTypeError, "machine: expected str or Machine, not int"),  # type: ignore[arg-type]
    (lambda: Counter("clock", machine="xscale", reset="1"), InvalidTypeError, "expected int, not str ('1')"),  # type: ignore[arg-type]
    (lambda: Itanium2().encode(["NOPS_RETIRED"], iear=Ear(0, ism=3)), InvalidValueError,
     "instruction EAR: ism is 3; 0 is both, 1 IA-32, 2 IA-64"),
    (lambda: Itanium2().encode(["NOPS_RETIRED"], dear=Ear(0, ism=3)), InvalidValueError, "data EAR: ism is 3"),
    (lambda: Itanium().encode([], iear=Ear(0, ism=3)), InvalidValueError, "instruction EAR: ism is 3"),
    (lambda: Itanium2().encode([], iear=Ear(0, ism=-1)), InvalidValueError, "ism is -1"),
    (lambda: pypfm.Pmu("skl"), InvalidTypeError, "Pmu is what the PMUs of libpfm 3 have in common; pypfm.pmu('itanium2') is one"),  # type: ignore[arg-type]
    (lambda: pypfm.perfex.counting(1.5), InvalidTypeError, "event: expected int, not float"),  # type: ignore[arg-type]
    (lambda: pypfm.perfex.counting("tlbs"), InvalidValueError, "event: 'tlbs' is not an event; near it: TLB-misses (23)"),
    (lambda: pypfm.perfex.counting(0, cpu=5), InvalidTypeError, "cpu: expected str, not int"),  # type: ignore[arg-type]
    (lambda: pypfm.perfex.counting(0, perf_table=5), InvalidTypeError, "perf_table: expected str or PathLike"),  # type: ignore[arg-type]
    (lambda: pypfm.perfex.counting(0, cpu="r8000"), InvalidValueError, "'r8000' is not a cpu; r10000"),  # type: ignore[arg-type]
])
def test_messages_say_what_to_write(call: Callable[[], object], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, pypfm.PfmError)
    assert said in str(caught.value)


@pytest.mark.parametrize("call", [
    lambda file: conform.conform(file, vectors=[]), lambda file: conform.conform(file, against=file, vectors=[], calls=0),
    lambda file: layout.diff(file, "pfm4:perf_event_attr"), lambda file: pypfm.bench.bench(against=file, rounds=1)])
def test_files_are_texts_or_paths(call: Callable[[Any], object]) -> None:
    """As pypfm.config has them."""
    for wrong in (b"/x", 5, object(), ["/x"]):
        with pytest.raises(InvalidTypeError, match="expected str or PathLike"):
            call(wrong)
    missing = Path("/nowhere/libpfm.so.4")
    for path in (missing, str(missing)):
        with pytest.raises((pypfm.ConformError, layout.LayoutError), match="nowhere"):
            call(path)


LONG, HUGE = "x" * 200_000, 10**5000


@pytest.mark.parametrize("call", [
    lambda: pypfm.layout.diff("pfm3", f"./{LONG}"), lambda: pypfm.layout.diff(f"/{LONG}:pfmlib_event_t", "pfm3"),
    lambda: pypfm.layout.diff(f"./{LONG}:x", f"./{LONG}:y"), lambda: pypfm.layout.describe(LONG), lambda: pypfm.bench.bench(rounds=HUGE),
    lambda: pypfm.bench.bench(rounds="x"),  # type: ignore[arg-type]
    lambda: pypfm.decode(LONG, {}), lambda: pypfm.decode("itanium2", {LONG: 1}), lambda: pypfm.decode("glm", {"code": HUGE}),
    lambda: Itanium2().encode([LONG]), lambda: Itanium2().encode([], plm=LONG), lambda: pypfm.Register(LONG, 1, 1, 1, 1),
    lambda: Goldmont().encode(f"ICACHE:{LONG}"), lambda: Goldmont().parse_average_latency(
        f"OFFCORE_RESPONSE_0:OUTSTANDING+OFFCORE_RESPONSE_1:{':'.join(['PF_DATA_RD'] * 100_000)}:ANY_RESPONSE"),
    lambda: Machine(LONG), lambda: GenericIA64(LONG),
])
def test_messages_do_not_repeat_megabytes(call: Callable[[], object]) -> None:
    with pytest.raises(pypfm.PfmError) as caught:
        call()
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("call", [lambda: pypfm.pfm3.pfmlib_input_param_t(**{LONG: 1}),
                                  lambda: pypfm.pfm3.byref(pypfm.pfm3.pfmlib_input_param_t(), LONG)])
def test_messages_of_mirrors_do_not_either(call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, AttributeError)) as caught:
        call()
    assert len(str(caught.value)) < 1000


def test_names_of_files_in_messages() -> None:
    assert [named(file) for file in ("a b.so", Path("/x"), "", "a\nb", "\x1b[2J")] == [
        "a b.so", "/x", "''", r"'a\nb'", r"'\x1b[2J'"]
    assert len(named(LONG)) < 100


def test_runs_of_numbers() -> None:
    assert written([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert written([3, 2, 2]) == "2-3"
    assert written([]) == ""
    assert written([1, 3], ", ") == "1, 3"


def test_errors_of_the_package_are_python_s_kinds() -> None:
    for name in ("Pfm3Error", "Pfm4Error", "PromiseError", "DecodeError"):
        cls = getattr(pypfm, name)
        assert issubclass(cls, ValueError), name
        assert issubclass(cls, pypfm.InvalidArgumentError), name
    for name in ("UnknownKeyError", "EventNotFoundError", "Pfm3EventNotFoundError", "Pfm4EventNotFoundError"):
        assert issubclass(getattr(pypfm, name), KeyError), name
    for name in ("CountingError", "CounterError", "ContextError"):
        assert issubclass(getattr(pypfm, name), OSError), name
    assert issubclass(InvalidTypeError, TypeError)


def test_no_bare_error_is_raised_on_purpose() -> None:
    """Of the modules behind the public objects; the mirrors and the command line have errors of their own."""
    source = Path(pypfm.__file__).parent
    modules = [source / "levels.py", source / "decoding.py", source / "perfex/regions.py",
               *(file for folder in ("common", "ia64", "perf", "netbsd") for file in (source / folder).rglob("*.py"))]
    assert len(modules) > 30
    for file in modules:
        text = file.read_text(encoding="utf-8")
        for bare in ("raise ValueError", "raise TypeError", "raise KeyError", "raise LookupError"):
            assert bare not in text, file
