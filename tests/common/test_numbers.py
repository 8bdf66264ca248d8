"""Numbers of numpy, and other objects that stand for a number, wherever an integer is taken.

The public callables are walked: one that is new and takes an integer has to be given a call here, or in the calls of
test_wrong_arguments.py, or an example in test_values.py.
"""

from __future__ import annotations

import decimal
import enum
import fractions
import importlib
import inspect
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from test_values import EXAMPLES
from test_wrong_arguments import CALLS, Index

import pypfm
import pypfm.decoding
import pypfm.ia64.counting
from conftest import run_python
from pypfm import (
    EventRequest,
    Goldmont,
    Itanium,
    Itanium2,
    Machine,
    Montecito,
    Perf,
    layout,
    levels,
    perfex,
    pfm3,
    pfm4,
)
from pypfm.common.arguments import expect_int, expect_number
from pypfm.common.frozen import FrozenMap
from pypfm.common.value import Value
from pypfm.conform import random_calls

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

pytestmark = pytest.mark.usefixtures("runtime_dir")

KINDS: dict[str, Callable[[int], Any]] = {"index": Index}
if np is not None:
    KINDS |= {name: getattr(np, name) for name in ("uint8", "int32", "int64", "uint64")} | {"array": np.array}

ITA2, MONT, GLM, PERF = Itanium2(), Montecito(), Goldmont(), Perf()
PERF_EVENT = 1  # PFM_OS_PERF_EVENT


def advanced(event: str, count: int) -> int:
    machine = Machine("xscale")
    with pypfm.Counter(event, machine=machine) as counter:
        machine.advance(event, count)
        return counter.value


MORE: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{f"{pmu.name}.{name}": (getattr(pmu, name), {"index": 200}) for pmu in (ITA2, MONT, Itanium()) for name in ("at", "_place")},
    "glm.at": (GLM.at, {"index": next(iter(GLM.values())).index}),
    "mask_index": (lambda token: MONT.mask_index(MONT["L3_INSERTS"], token), {"token": 1}),
    "branches": (ITA2.branches, {"tm": 3, "ptm": 2, "ppm": 1, "brt": 1, "ds": 0, "plm": 8, "used": 1}),
    "montecito.branches": (MONT.branches, {"tm": 3, "ptm": 2, "ppm": 1, "brt": 1, "plm": 8, "used": 1}),
    "itanium.branches": (Itanium().branches, {"tm": 3, "ptm": 2, "ppm": 1, "tar": 1, "tac": 0, "bac": 1, "plm": 8, "used": 1}),
    "for_perf": (ITA2.for_perf, {"events": "CPU_CYCLES", "plm": 8}),
    "pmu_of": (lambda cpuid3: pypfm.pmu_of("itanium2", cpuid3), {"cpuid3": 0x1F010504}),
    "parse_plm": (levels.parse_plm, {"plm": 9}),
    "modifiers": (GLM.modifiers, {"event": "ICACHE", "os": PERF_EVENT}),
    "layout.at": (lambda offset: layout.describe("pfmlib_input_param_t").at(offset), {"offset": 100}),
    "random_calls": (lambda count, seed: [str(c) for c in random_calls("pfm3", count, seed)], {"count": 3, "seed": 5}),
    "encode ranges": (ITA2.encode, {"events": ["NOPS_RETIRED"], "code_ranges": [(0x1000, 0x1010)], "plm": 8}),
    "encode range of three": (ITA2.encode, {"events": ["NOPS_RETIRED"], "code_ranges": [(0x1000, 0x1010, 8)]}),
    "encode masks": (lambda masks: MONT.encode([pypfm.EventRequest("L3_INSERTS", unit_masks=masks)]), {"masks": [0]}),
    "unavailable": (ITA2.encode, {"events": ["CPU_CYCLES"], "unavailable_pmcs": [4, 5]}),
    "advanced": (advanced, {"event": "dcache-miss", "count": 200}),
    "decode many": (pypfm.decoding.decode, {"pmu": "itanium2", "registers": {"PMC4": 0x1228, "PMC8": 0}, "pmds": [4, 5]}),
    "counting": (lambda event, other: perfex.counting(event, other).events, {"event": 21, "other": 26}),
}
ALL = CALLS | MORE


def varied(value: Any, make: Callable[[int], Any]) -> Any:
    """The same with other numbers, where the kind has the number."""
    if isinstance(value, (list, tuple)):
        return type(value)(varied(v, make) for v in value)
    if isinstance(value, (dict, FrozenMap)):
        return {name: varied(v, make) for name, v in value.items()}
    if type(value) is not int:
        return value
    try:
        return make(value)
    except OverflowError:
        return value


def foreign(value: Any, seen: set[int] | None = None) -> list[object]:
    """The objects in a value that are no plain ones of Python's or of the package's."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, (Index, *((np.generic, np.ndarray) if np is not None else ()))):
        return [value]
    inner = [*value.keys(), *value.values()] if isinstance(value, (dict, FrozenMap)) else (
        list(value) if isinstance(value, (list, tuple, set, frozenset)) else
        list(vars(value).values()) if type(value).__module__.startswith("pypfm") and hasattr(value, "__dict__") else [])
    return [found for one in inner for found in foreign(one, seen)]


def same(made: Any, expected: Any) -> None:
    assert foreign(made) == []
    assert made == expected or type(expected).__eq__ is object.__eq__
    if isinstance(expected, Value):
        assert repr(made) == repr(expected)
    if hasattr(expected, "to_json"):
        assert json.dumps(made.to_json()) == json.dumps(expected.to_json())


@pytest.mark.parametrize("name", [name for name, (_, arguments) in ALL.items() if repr(varied(arguments, Index)) != repr(arguments)])
def test_numbers_of_other_types(name: str) -> None:
    call, arguments = ALL[name]
    try:
        expected = call(**arguments)
    except pypfm.CountingError:
        pytest.skip("the kernel counts nothing")
    for make in KINDS.values():
        same(call(**varied(arguments, make)), expected)


def fields_of(value: Value) -> dict[str, Any]:
    return {name: held for name, held in vars(value).items() if name in inspect.signature(type(value)).parameters}


@pytest.mark.parametrize("value", [v for v in EXAMPLES if isinstance(v, Value)], ids=lambda v: type(v).__name__)
def test_values_hold_plain_numbers(value: Value) -> None:
    for make in KINDS.values():
        same(type(value)(**varied(fields_of(value), make)), value)


@pytest.mark.parametrize("name", [name for name, (_, arguments) in ALL.items() if any(type(a) is bool for a in arguments.values())])
def test_switches_of_numpy(name: str) -> None:
    if np is None:
        pytest.skip("no numpy: pip install numpy")
    call, arguments = ALL[name]
    same(call(**{n: np.bool_(v) if type(v) is bool else v for n, v in arguments.items()}), call(**arguments))


@pytest.mark.skipif(np is None, reason="no numpy: pip install numpy")
def test_sequences_of_numpy() -> None:
    for none in (np.array([]), np.array([], int)):
        assert ITA2.encode(["L2_MISSES"], unavailable_pmcs=none) == ITA2.encode(["L2_MISSES"])  # type: ignore[arg-type]
        assert ITA2.encode(["L2_MISSES"], code_ranges=none) == ITA2.encode(["L2_MISSES"])  # type: ignore[arg-type]
    for some in ([4], [4, 5]):
        expected = ITA2.encode(["L2_MISSES"], unavailable_pmcs=some)
        assert ITA2.encode(["L2_MISSES"], unavailable_pmcs=np.array(some)) == expected  # type: ignore[arg-type]
    ranges = [(0x1000, 0x2000), (0x8000, 0xa000)]
    for count in (1, 2):
        expected = ITA2.encode(["L2_MISSES"], data_ranges=ranges[:count])
        same(ITA2.encode(["L2_MISSES"], data_ranges=np.array(ranges[:count], "u8")), expected)  # type: ignore[arg-type]
    assert ITA2.encode(np.array(["CPU_CYCLES", "L2_MISSES"])) == ITA2.encode(["CPU_CYCLES", "L2_MISSES"])  # type: ignore[arg-type]


@pytest.mark.skipif(np is None, reason="no numpy: pip install numpy")
@pytest.mark.parametrize("masks", [["ALL"], [0], ["ALL", 1], []])
def test_unit_masks_of_numpy(masks: list[Any]) -> None:
    same(EventRequest("L3_INSERTS", unit_masks=np.array(masks, object)), EventRequest("L3_INSERTS", unit_masks=masks))
    same(EventRequest("X", unit_masks=np.array(["A", "B"])), EventRequest("X", unit_masks=("A", "B")))  # type: ignore[arg-type]


class Name(str, enum.Enum):
    """A user's names."""

    CYCLES = "CPU_CYCLES"


def test_texts_of_other_types_become_plain() -> None:
    for name in (Name.CYCLES, *([np.str_("CPU_CYCLES")] if np else [])):
        same(EventRequest(name, unit_masks=[name]), EventRequest("CPU_CYCLES", unit_masks=["CPU_CYCLES"]))


@pytest.mark.parametrize("number", [fractions.Fraction(1, 2), 0.5, *([np.float32(0.5), np.float64(0.5)] if np else [])], ids=repr)
def test_numbers_that_are_not_whole(number: Any) -> None:
    assert repr(expect_number(number, "x")) == "0.5"


@pytest.mark.parametrize("wrong", ["0.5", b"0.5", None, 1j, [0.5], *([np.array([0.5])] if np else [])], ids=repr)
def test_what_is_no_number(wrong: Any) -> None:
    with pytest.raises(pypfm.InvalidTypeError, match="x: expected int or float, not "):
        expect_number(wrong, "x")


def test_a_switch_that_stands_for_a_number_is_one() -> None:
    for pmu in (ITA2, MONT, GLM, PERF):
        assert repr(pmu.at(True)) == repr(pmu.at(1))
    assert repr(MONT.mask_index(MONT["L3_INSERTS"], True)) == "1"


def test_the_bool_of_an_older_numpy() -> None:
    """2.2, the last one for Python 3.10: it has __index__(), which warns."""
    def index(_: object) -> int:
        warnings.warn("In future, it will be an error", DeprecationWarning, stacklevel=1)
        return 1

    old = type("bool", (), {"__module__": "numpy", "__index__": index, "__int__": lambda _: 1})
    assert expect_int(old(), "x") == 1


def test_a_truth_is_no_privilege_level() -> None:
    """It would be level 0, the kernel's; nor is one of numpy."""
    for wrong in (True, False, *([] if np is None else [np.True_, np.False_])):
        with pytest.raises(pypfm.InvalidTypeError, match=r"expected int or str, such as Plm\.PLM3 or 'user', not bool"):
            levels.parse_plm(wrong)
    if np is not None:
        assert levels.parse_plm(np.int64(8)) == 8


CONTEXT = """
import json
from pypfm import Itanium2
from pypfm.ia64 import Context
try:
    import numpy as np
except ImportError:
    np = None

class Index:
    def __init__(self, value): self.value = value
    def __index__(self): return self.value

def run(make):
    with Context(Itanium2(), ["CPU_CYCLES", "LOADS_RETIRED"], plm=make(8), period={"CPU_CYCLES": make(200)}, random_mask=make(0),
                 buffer_size=make(65536), cpu=None) as c:
        c.model.interrupt_at(make(200))
        c.model.record(PMD2=make(100), PMD3=make(7))
        c.model.advance("CPU_CYCLES", make(150), plm=make(8))
        c.model.advance("CPU_CYCLES", make(150), plm=make(8))
        c.model.advance("LOADS_RETIRED", make(255))
        return repr([dict(c.counts(make(0))), dict(c.registers(make(0))), [(s.ip, s.period, dict(s.counts)) for s in c.samples]])

print(json.dumps([run(make) for make in [int, Index, *([np.int64, np.uint64] if np else [])]]))
"""


def test_numbers_of_a_context() -> None:
    ran = run_python(CONTEXT, LIBPFM_PERFMON="model")
    assert ran.returncode == 0, ran.stderr
    plain, *others = json.loads(ran.stdout)
    assert "300" in plain
    assert "255" in plain
    assert [other for other in others if other != plain] == []
    assert others


# ---- the mirrors -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_arguments_of_mirrors(kind: str) -> None:
    """Members and variables are ctypes' and take what it takes: ints."""
    make = KINDS[kind]
    buffer = pfm3.create_string_buffer(16)
    assert pfm3.pfm_force_pmu(make(pfm3.PFMLIB_ITANIUM2_PMU)) == 0
    assert pfm3.pfm_get_event_name(make(179), buffer, make(16)) == 0
    assert buffer.value == b"CPU_CYCLES"
    event = pfm3.pfmlib_event_t(event=9)
    assert pfm3.byref(pfm3.pfmlib_input_param_t(pfp_events=(event,)), "pfp_events", make(0), "event")
    assert pfm4.PFM_MAJ_VERSION(make(200)) == pfm4.PFM_MAJ_VERSION(200)


def sampled(make: Callable[[int], Any], size: int) -> list[Any]:
    header = pfm3.pfm_dfl_smpl_hdr_t.from_buffer_copy(bytes(128))
    header.hdr_cur_offs, header.hdr_version = 128 + 2 * (40 + 8 * size), 0x10000
    entry = bytes(pfm3.pfm_dfl_smpl_entry_t(ovfl_pmd=4)).ljust(40, b"\0") + bytes(range(8 * size % 256)).ljust(8 * size, b"x")
    memory = bytes(header).ljust(128, b"\0") + 2 * entry
    return [(str(e.entry), e.values) for of in (make(size), {make(4): make(size)})
            for e in pfm3.smpl_entries(memory, of)]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"index", "array"}])
def test_numbers_of_values_in_a_sampling_buffer(kind: str) -> None:
    """In eight bits 8 * 40 would be 64."""
    assert sampled(KINDS[kind], 40) == sampled(int, 40)
    assert len(sampled(int, 40)) == 4


@pytest.mark.parametrize("wrong", [decimal.Decimal("1.5"), fractions.Fraction(3, 2), 1.5, decimal.Decimal(1)], ids=str)
def test_no_number_is_cut(wrong: Any) -> None:
    """cffi takes the whole part of what has one, for some."""
    event, cell = pfm3.pfmlib_event_t(), pfm3.c_uint()
    for change in (lambda: setattr(event, "event", wrong), lambda: setattr(cell, "value", wrong), lambda: pfm3.c_uint(wrong),
                   lambda: pfm3.pfmlib_event_t(event=wrong), lambda: event.unit_masks.__setitem__(0, wrong),
                   lambda: pfm3.pfm_force_pmu(wrong), lambda: pfm3.byref(event, wrong)):
        with pytest.raises(TypeError, match=r"an integer|int expected"):
            change()


# ---- nothing is forgotten ---------------------------------------------------------------------------------------------

PUBLIC = ["pypfm", "pypfm.ia64", "pypfm.perf", "pypfm.netbsd", "pypfm.perfex", "pypfm.layout", "pypfm.conform", "pypfm.bench",
          "pypfm.decoding", "pypfm.levels", "pypfm.ia64.decode", "pypfm.ia64.counting"]
# Of what is not called above, why.
ELSEWHERE = {
    "Context": "tests/ia64/counting, on the model", "Model": "likewise", "conform": "runs for minutes; random_calls() has its numbers",
    "bench": "likewise; rounds goes through expect_int()", "made": "of Encoding; calls of C inside", "tried": "likewise",
    "parse": "likewise", "run": "in tests/perfex/test_running.py", "Counting": "made by counting()", "count": "as encode()", "average_latency": "in test_wrong_arguments.py",
    "c_source": "takes layouts", "Pmu": "the PMUs' base", "Tally": "of conform()", "Tried": "likewise", "CounterEvent": "in test_values.py",
    "counts": "of Context", "record": "of Model", "interrupt_at": "of Model", "decode_registers": "decode() calls it",
}


def takes_numbers() -> set[str]:
    """The names of the public functions, methods and classes with a parameter that is an integer."""
    found = set()
    for module in map(importlib.import_module, PUBLIC):
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if inspect.isclass(value) and not issubclass(value, BaseException):
                if not issubclass(value, Value):
                    found |= {(name, value)}
                found |= {(n if n != "__getitem__" else name, f) for n, f in inspect.getmembers(value, inspect.isfunction)
                          if not n.startswith("_")}
            elif inspect.isfunction(value):
                found.add((name, value))
    return {name for name, function in found
            if any(re.search(r"\bint\b", str(p.annotation)) for p in inspect.signature(function).parameters.values())}


def test_all_that_takes_a_number_is_tried() -> None:
    tried = " ".join(ALL)
    assert [name for name in sorted(takes_numbers()) if name not in ELSEWHERE and name not in tried] == []
    assert len(takes_numbers()) > 15
