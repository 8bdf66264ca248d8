"""Values of the package: they do not change, are equal by content, can be keys, pickled and copied.

Every public class is walked: one that is new has to be given an example here.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import json
import os
import pickle
import pkgutil
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from bs4 import BeautifulSoup

import pypfm
from conftest import run_python
from pypfm import (
    AddressRange,
    Btb,
    Ear,
    EventRequest,
    GenericIA64,
    Goldmont,
    Itanium,
    Itanium2,
    ItaniumBtb,
    Montecito,
    OpcodeMatch,
    Perf,
    Ranges,
    layout,
    schemas,
)
from pypfm.common.frozen import FrozenMap, lazy
from pypfm.common.value import Value
from pypfm.decoding import decode

ITA2, MONT, GLM = Itanium2(), Montecito(), Goldmont()
MODULES = ["pypfm.ia64.pmu", "pypfm.ia64.registers", "pypfm.ia64.events", "pypfm.perf.encoding", "pypfm.perf.events", "pypfm.bench", "pypfm.layout.model",
            "pypfm.ia64.encoding", "pypfm.ia64.request", "pypfm.perf.pmu", "pypfm.netbsd.counter", "pypfm.decoding",
           "pypfm.perfex.model", "pypfm.perfex.costs", "pypfm.perfex.statistics", "pypfm.perfex.merge",
           "pypfm.perfex.spread", "pypfm.perfex.changes", "pypfm.perfex.calibration", "pypfm.perfex.host", "pypfm.perfex.listing"]


def encoding() -> pypfm.Encoding:
    return ITA2.encode([EventRequest("LOADS_RETIRED", plm="user")], data_ranges=[(0x1000, 0x1C00)])


def decoded() -> pypfm.Decoded:
    return decode("itanium2", {"PMC4": 0x1228, "PMC10": 0x2028, "PMC12": 0xFFC8, "PMC13": 0x2078FEFEFEFE, "PMC14": 0xDB6,
                               "PMC8": 0xFFFFFFFF3FFFFFFF, "PMC15": 0xFFFFFFF0, "PMD4": 5, "PMD0": 64, "PMD1": 9,
                               "PMD8": 0x1003, "PMD16": 9, "IBR0": 0, "IBR1": 0x8FFFFFFFFFFFF00})


def montecito() -> pypfm.Decoded:
    return decode("montecito", {"PMC42": 0x488, "PMC39": 0, "PMC36": 0xF})


def glm() -> pypfm.perf.Decoded:
    return decode("glm", {"code": 0x5301B7, "offcore": 1})


def meanings() -> Iterator[Any]:
    """What registers say."""
    for found in (decoded(), montecito(), decode("itanium", {"PMC12": 0xC, "PMC4": 0x1228})):
        yield from (r.meaning for r in found.registers if r.meaning is not None)
        yield from (*found.ranges, *found.samples, *found.trace)


def examples() -> Iterator[Any]:
    """Values, made anew at each call."""
    from pypfm import bench, layout
    from pypfm.perf import encoding as perf
    from pypfm.perfex import calibration, changes, costs, events, host, listing, merge, model, spread, statistics

    yield from (Itanium2(), Itanium2(cpuid3=0x1F010504), Montecito(), Itanium(), GenericIA64(), Goldmont(), Perf(),
                Goldmont(corrected=True))
    yield from (ITA2["CPU_CYCLES"], MONT["L3_INSERTS"], MONT["L3_INSERTS"].unit_masks[0])
    yield from (GLM["ICACHE"], GLM["ICACHE"].umasks[0], GLM.modifiers("ICACHE")[0])
    request = pypfm.ia64.request.Request(
        plm="user", events=(EventRequest("L3_INSERTS", unit_masks=["M", 0]),), unavailable_pmcs=[5, 6],  # type: ignore[arg-type]
        code=Ranges([AddressRange(0, 16, "kernel")]), iear=Ear(0, 1))  # type: ignore[arg-type]
    yield from (request, *request.events, request.code, *request.code.limits, request.iear)  # type: ignore[union-attr]
    yield from (OpcodeMatch(1), Btb(), ItaniumBtb(), pypfm.Etb(), pypfm.IpEar())
    made = encoding()
    yield from (made, *made.registers.values(), *made.pmds, made.drange, made.drange.ranges[0])  # type: ignore[union-attr, misc]
    yield from (made.registers, made["PMC13"].fields, pypfm.Encoding.from_registers("itanium2", {"PMC4": 0x1228}))
    yield from (GLM.encode("ICACHE:HIT"), GLM.encode("ICACHE:HIT").fields, GLM.encode("ICACHE:HIT").attr)
    yield from (GLM.average_latency(), GLM.encode("OFFCORE_RESPONSE_0").offcore)
    member = layout.Member("a", "int", "signed", 0, 8, (2,))
    yield from (member, layout.Hole("a", 8, 3), layout.Row("a", member, None),
                layout.TypeLayout("t", "struct", 8, 4, (member,), "pfm3"), *layout.diff("pfmlib_event_t", "pfmlib_event_t"))
    yield perf.Counted(**vars(GLM.encode("ICACHE:HIT")), count=5, modes=("user",))
    yield perf.Encodings("glm", "none", (GLM.encode("ICACHE:HIT"),))
    time = bench.Time(1.5, 2.0)
    measure = bench.Measure("pfm3", "a", None, 1, time, time, {"hash": time}, {"scan": "why"})
    yield from (time, measure, bench.Compared("pfm3", "a"), bench.Report(1, (bench.Compared("pfm3", "a", "b"),), (measure,)))
    yield from (pypfm.CounterEvent(1, "a", (0, 1), "b"),)
    found = decode("itanium2", {"PMC4": 0x1228})
    yield from (found, found["PMC4"], found["PMC4"].fields[0], found.to_request(), found.to_request().request, glm(),
                glm().candidates[0])
    yield from meanings()
    event = events.table("r10000")[0]
    measured = model.Measurement(event, 1, "exact")
    yield from (event, measured, model.Request(("true",)), model.ThreadCounts(1, 1, (measured,)),
                model.Times(1.0, 0.5, 0.25), model.Sample(0.5, {0: 1, 16: None}), model.Outcome("perf", "", 0, (measured,)),
                costs.Cost("clks", 1, 1, 1), statistics.Statistic("a", 1.0, ""),
                host.Caches(1, 2, 3, 64, 64), calibration.HostCost(costs.Cost("clks", 1, 1, 1)),
                calibration.Calibration("a", "b", 64, 4096, 1.0, {"l1": 1}, {"dependent-add": (1.0,)}),
                listing.How("exact", ""), listing.Listing("r10000", (event,), {"perf": ()}, {"valgrind": "why"}),
                merge.Row(event), merge.Merged("r10000", ("a",), (), (merge.Row(event),), None))
    some = spread.Spread.of((1, None, 3))
    side, change = changes.Side("a", "perf", "b", 3), changes.Change(event, some, some, verdict="same")
    yield from (model.Repeats(3, 2, "why", (model.Times(1.0, 0.5, 0.25),)), some, side, change,
                changes.Comparison("r10000", side, side, (change,), ("how",), ("note",)))


EXAMPLES, AGAIN = list(examples()), list(examples())
IDS = [f"{i}-{type(e).__name__}" for i, e in enumerate(EXAMPLES)]


@pytest.mark.parametrize("place", range(len(EXAMPLES)), ids=IDS)
def test_values_are_equal_by_content(place: int) -> None:
    value, again = EXAMPLES[place], AGAIN[place]
    for other in (again, copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value
        assert hash(other) == hash(value)
        assert type(other) is type(value)
        assert len({other, value}) == 1
    assert value != object()
    assert repr(value)


@pytest.mark.parametrize("value", [e for e in EXAMPLES if dataclasses.is_dataclass(e)], ids=lambda e: type(e).__name__)
def test_values_do_not_change(value: Any) -> None:
    for field in dataclasses.fields(value):
        held = getattr(value, field.name)
        assert not isinstance(held, (dict, list, set, bytearray)), field.name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, held)


def thawed(value: Any) -> Any:
    """A content as a user writes it: lists and dictionaries."""
    if isinstance(value, FrozenMap):
        return {k: thawed(v) for k, v in value.items()}
    return [thawed(v) for v in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("value", [e for e in EXAMPLES if isinstance(e, Value)], ids=lambda e: type(e).__name__)
def test_values_of_lists_and_of_what_does_not_belong(value: Any) -> None:
    """A list or a dictionary makes the same value; what has another type is refused at once, and not when it is used."""
    content = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
    again = type(value)(**{name: thawed(held) for name, held in content.items()})
    assert again == value
    assert hash(again) == hash(value)
    for name, held in content.items():
        for wrong in (object(), 1.5 if not isinstance(held, float) else "1.5", [object()]):
            with pytest.raises((pypfm.InvalidTypeError, pypfm.InvalidValueError)) as caught:
                type(value)(**content | {name: wrong})
            assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", [*(e for e in EXAMPLES if isinstance(e, Value)), Itanium2()["DATA_EAR_TLB_ALL"],
                                   Itanium2()["L1I_EAR_CACHE_LAT8"]], ids=lambda e: type(e).__name__)
def test_values_print_as_they_are_written(value: Any) -> None:
    names: dict[str, Any] = {}
    for module in sorted(m for m in sys.modules if m.startswith("pypfm.")):
        names |= {name: held for name, held in vars(sys.modules[module]).items()
                  if inspect.isclass(held) and held.__module__.startswith(type(value).__module__.rpartition(".")[0])}
    assert eval(repr(value), names | vars(sys.modules[type(value).__module__])) == value


def test_values_are_made_as_functions_are_called() -> None:
    for call, said in ((lambda: pypfm.DataRegister(1, 2), "missing a required argument: 'alt_addr'"),  # type: ignore[call-arg]
                       (lambda: pypfm.DataRegister(1, 2, 3, 4), "too many positional arguments"),  # type: ignore[call-arg]
                       (lambda: pypfm.DataRegister(1, 2, num=3), "multiple values for argument 'num'"),  # type: ignore[call-arg, misc]
                       (lambda: pypfm.DataRegister(1, 2, x=3), "has no 'x'; it has num, addr, alt_addr")):  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=f"^DataRegister.*({said})"):
            call()
    assert str(inspect.signature(Ear)) == "(mode: 'int', umask: 'int' = 0, plm: 'int | str' = 0, ism: 'int' = 0, used: 'int' = 1)"
    assert repr(Ear(1, plm="user")) == "Ear(mode=1, umask=0, plm=8, ism=0, used=1)"
    assert dataclasses.replace(Ear(1), umask=2) == Ear(1, 2) != Ear(1)


def test_a_register_of_no_pmu() -> None:
    with pytest.raises(pypfm.InvalidValueError, match=r"Register\.pmu='x': expected one of itanium2, montecito"):
        pypfm.Register("x", 4, 0, 4, 4)
    with pytest.raises(pypfm.InvalidValueError, match=r"DebugRegister\.kind='PMC': expected one of IBR, DBR"):
        pypfm.DebugRegister("PMC", 4, 0, 4, 4)


@pytest.mark.parametrize("value", [e for e in EXAMPLES if isinstance(e, Value) and not {"request", "layout"} & {*type(e).__module__.split(".")}],
                         ids=lambda e: type(e).__name__)
def test_the_json_of_a_value_follows_the_schema_of_its_class(value: Any) -> None:
    data = json.loads(json.dumps(value.to_json()))
    schema = schemas.schema_of(type(value), type(value).__name__)
    jsonschema.Draft202012Validator(schema).validate(data)
    for name in data:
        rest = {key: held for key, held in data.items() if key != name}
        assert not jsonschema.Draft202012Validator(schema).is_valid(rest), name


@pytest.mark.parametrize("value", [e for e in EXAMPLES if isinstance(e, Mapping)], ids=lambda e: type(e).__name__)
def test_mappings_are_mappings(value: Mapping[Any, Any]) -> None:
    """What has [] has all that a mapping has, and the parts agree."""
    keys = list(value)
    assert len(value) == len(keys) == len(set(keys))
    assert list(value.keys()) == keys
    assert list(value.values()) == [value[key] for key in keys]
    assert dict(value.items()) == {key: value[key] for key in keys} == dict(value)
    for key in keys:
        assert key in value
        assert value.get(key) == value[key]
    for missing in ("no such key", 4096, None, [], b"PMC4", "\0", "\udcff"):
        assert missing not in value
        assert value.get(missing) is None
        with pytest.raises(pypfm.UnknownKeyError) as caught:
            value[missing]
        assert isinstance(caught.value, KeyError)
        assert "\n" not in str(caught.value)
        assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
    with pytest.raises((TypeError, AttributeError)):
        value["x"] = 1  # type: ignore[index]


def test_every_class_with_brackets_is_a_mapping() -> None:
    """The helper of the statistics apart."""
    found = {cls for cls in classes() if "__getitem__" in vars(cls) and not issubclass(cls, Mapping)}
    assert {f"{c.__module__}.{c.__qualname__}" for c in found} <= {"pypfm.perfex.statistics._Counts"}


@pytest.mark.parametrize(("ask", "said"), [
    (lambda: encoding()["PMC5"] and encoding()["PMC6"], "there is no register 'PMC6'; there are PMC5, PMC13, PMC15, DBR0, DBR1, DBR2, DBR3"),
    (lambda: encoding()["PMC5"].fields["x"], "there is no field of PMC5 'x'; there are plm, ev, oi, pm"),
    (lambda: decode("itanium2", {"PMC4": 1})["PMC5"], "there is no register 'PMC5'; there are PMC4"),
    (lambda: decode("itanium2", {"PMC4": 0x1228})["PMC4"]["x"], "there is no field of PMC4 'x'; there are plm"),
    (lambda: ITA2["CPU_CYCLE"], "itanium2 has no event 'CPU_CYCLE'; the nearest are CPU_CYCLES"),
    (lambda: GLM["ICACH"], "glm has no event 'ICACH'; the nearest is ICACHE"),
    (lambda: pypfm.Machine("k7")["l1cache-mis"], "k7 has no event 'l1cache-mis'; the nearest are l1cache-miss"),
])
def test_a_key_that_is_missing_is_answered_by_those_that_exist(ask: Any, said: str) -> None:
    with pytest.raises(pypfm.UnknownKeyError, match=re.escape(said)):
        ask()


@pytest.mark.parametrize("pmu", [ITA2, GLM, Perf(), GenericIA64()])
def test_an_unknown_event_is_one_error(pmu: Any) -> None:
    asks = [lambda: pmu["x"], lambda: pmu.encode("x" if isinstance(pmu, (Goldmont, Perf)) else ["x"])]
    for ask in asks:
        with pytest.raises(pypfm.EventNotFoundError) as caught:
            ask()
        assert isinstance(caught.value, LookupError)
        assert caught.value.code == -4 or isinstance(caught.value, pypfm.Pfm3Error)  # type: ignore[attr-defined]


def test_names_of_registers_in_lower_case() -> None:
    assert encoding()["pmc13"] is encoding()["PMC13"] or encoding()["pmc13"] == encoding()["PMC13"]
    assert "dbr0" in encoding()
    assert 4 not in encoding()
    assert "pmc4" in decode("itanium2", {"PMC4": 1})


# ---- all classes of the package ---------------------------------------------------------------------

def classes() -> set[type]:
    """All classes of all modules."""
    found = set()
    for info in pkgutil.walk_packages(pypfm.__path__, "pypfm."):
        if info.name == "pypfm.__main__" or re.search(r"\._\w+_api$", info.name) or (info.ispkg and "tables" in info.name):
            continue
        module = importlib.import_module(info.name)
        found |= {c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == info.name}
    return found


def test_every_frozen_class_is_in_the_examples() -> None:
    seen = {type(e) for e in EXAMPLES}
    missing = {cls.__name__ for name in MODULES for cls in vars(importlib.import_module(name)).values()
               if inspect.isclass(cls) and dataclasses.is_dataclass(cls) and cls.__module__.startswith("pypfm")
               and not cls.__name__.startswith("_") and cls not in seen
               and (issubclass(cls, Value) or cls.__dataclass_params__.frozen)}  # type: ignore[attr-defined]
    # Of the decoder: what other modules of it keep to themselves, and the base class.
    assert missing <= {"Meaning", "RegisterSet", "Value"}


def test_no_attribute_takes_a_lock() -> None:
    """functools.cached_property has one before Python 3.12: a child forked meanwhile would wait forever."""
    lazies = [f"{cls.__module__}.{cls.__name__}.{name}" for cls in classes() for name, value in vars(cls).items()
              if type(value) is cached_property]
    assert lazies == []


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_child_forked_while_an_attribute_is_computed() -> None:
    """The child has no thread that would go on with it; it computes its own."""
    entered, go = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, wait: bool) -> None:
            self.wait = wait

        @lazy
        def value(self) -> int:
            if self.wait:
                entered.set()
                go.wait()
            return 5

    thread = threading.Thread(target=lambda: Slow(True).value)
    thread.start()
    entered.wait()
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        os._exit(0 if Slow(False).value == 5 else 1)
    status = os.waitpid(pid, 0)[1]
    go.set()
    thread.join()
    assert status == 0


def test_a_lazy_attribute_is_one_object_for_all_threads() -> None:
    for _ in range(20):
        made, found = encoding(), []
        start = threading.Barrier(8)

        def read(made: pypfm.Encoding = made, found: list[object] = found, start: threading.Barrier = start) -> None:
            start.wait()
            found.append(made.registers)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(f) for f in found}) == 1


# ---- single ones ------------------------------------------------------------------------------------

def test_registers_cannot_be_replaced() -> None:
    made = encoding()
    with pytest.raises(TypeError):
        made.registers["x"] = 1  # type: ignore[index]
    with pytest.raises(AttributeError, match="cannot be changed"):
        made.registers.data = {}  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="cannot be changed"):
        del made.registers.data  # type: ignore[attr-defined]
    assert "x" not in made.registers


def test_a_frozen_mapping_equals_a_dictionary() -> None:
    assert FrozenMap({"a": 1}) == {"a": 1}
    assert FrozenMap({"a": 1}) != FrozenMap({"a": 2})
    given = {"a": 1}
    frozen = FrozenMap(given)
    given["a"] = 2
    assert frozen["a"] == 1
    assert repr(frozen) == "{'a': 1}"


def test_what_asks_for_the_same_is_equal() -> None:
    assert EventRequest("X", plm="user", unit_masks=["M"]) == EventRequest("X", plm=8, unit_masks=("M",))
    assert AddressRange(0, 16, "kernel,user") == AddressRange(0, 16, 9)
    assert Ranges([(0, 16)]) == Ranges((AddressRange(0, 16),))  # type: ignore[arg-type, list-item]


def test_pmus_are_equal_if_they_encode_alike(tmp_path: Path) -> None:
    assert Itanium2() != Itanium2(cpuid3=0x1F010504)
    assert Goldmont() != Goldmont(corrected=True)
    assert Itanium2() != Montecito()
    pal = tmp_path / "perfmon_info"
    pal.write_text("PMC/PMD pairs: 4\nCounter width: 40\nCycle event number: 19\nRetired event number: 9\n"
                   "Implemented PMC: 0-7 \nImplemented PMD: 4-7 \nCycles count capable: 4-5 \n"
                   "Retired bundles count capable: 4-7 \n")
    generic = GenericIA64(pal)
    pal.unlink()
    again = pickle.loads(pickle.dumps(generic))
    assert generic == again
    assert generic != GenericIA64()
    assert (again.counter_width, again["CPU_CYCLES"].code, again["CPU_CYCLES"].counters) == (40, 19, (4, 5))
    assert again.encode(["CPU_CYCLES"]) == generic.encode(["CPU_CYCLES"])


@pytest.mark.parametrize("pmu", [ITA2, MONT, Itanium(), GenericIA64(), GLM, Perf()], ids=lambda pmu: pmu.name)
def test_pmus_do_not_change(pmu: Any) -> None:
    """Their hash is of what they are: an attribute that is set would change what a key is, and what pickle says."""
    for name in ("fine_mode_bug", "events", "name", "counters", "anything"):
        with pytest.raises(AttributeError, match="cannot be changed; make another one"):
            setattr(pmu, name, True)
        with pytest.raises(AttributeError):
            delattr(pmu, name)
    assert pmu == type(pmu)()


def test_values_travel_to_another_process() -> None:
    """A process that has not imported what they are made of."""
    data = pickle.dumps((encoding(), decoded(), glm(), decode("itanium2", {"PMC4": 0x1228}).to_request(), ITA2))
    done = run_python(f"import pickle\nfound = pickle.loads({data!r})\n"
                      "print(*(type(f).__name__ for f in found), found[0]['PMC13'].name, len(found[4]))")
    assert (done.stdout, done.stderr) == ("Encoding Decoded Decoded Reencoded Itanium2 PMC13 497\n", "")


def test_shown_as_written() -> None:
    """A register is a number in hexadecimal, on a line of its own as a program writes it."""
    register = Itanium2().encode(["CPU_CYCLES"])["PMC4"]
    assert repr(register) == "Register(pmu='itanium2', num=4, value=0x1228, addr=4, alt_addr=4)"
    assert str(register) == "PMC4 = 0x1228"


@pytest.mark.parametrize("value", [
    Itanium2().encode(["IA64_INST_RETIRED", "L2_MISSES"], code_ranges=[(0x4000000000001000, 0x4000000000001040)]),
    Itanium2()["CPU_CYCLES"], Goldmont().encode("ICACHE:MISSES"), layout.describe("pfmlib_event_t")], ids=lambda v: type(v).__name__)
def test_in_a_notebook(value: Value) -> None:
    """A table, in which all that belongs to a tag is closed."""
    page = BeautifulSoup(value._repr_html_(), "html.parser")
    assert str(page).count("<t") == str(page).count("</t")
    shown = page.table.get_text(" ")
    for f in dataclasses.fields(value):
        content = getattr(value, f.name)
        assert not isinstance(content, str) or not f.repr or content in shown
    assert type(value).__name__ in page.caption


def test_a_notebook_gets_no_markup_of_a_text() -> None:
    class Named(Value):
        name: str

    assert "&lt;b&gt;" in Named("<b>")._repr_html_()
