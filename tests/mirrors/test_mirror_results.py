"""What C stores through a pointer arrives in the caller's object, in each form in which a pointer is given.

Where C allocates, nothing is left afterwards: memory is counted by the allocator.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from mirror_arguments import Parameter, functions, generated_of
from pypfm import libperfex, pfm3, pfm3_manual, pfm4, pmc
from pypfm.pfm3 import byref, c_char_p

NAMES = {"pfm3": "CPU_CYCLES", "pfm4": "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"}
NUMBERS = {"code": 0x12, "cnt": 4, "dfl_plm": 9, "op": 1}
INDEX = {"ita": "DATA_EAR_CACHE_LAT4", "ita2": "DATA_EAR_CACHE_LAT4", "mont": "DATA_EAR_CACHE_LAT4"}


class Result(NamedTuple):
    mirror: ModuleType
    function: str
    parameters: list[Parameter]
    at: int

    def __str__(self) -> str:
        return f"{self.mirror.__name__[6:]}.{self.function}.{self.parameters[self.at].name}"


def results() -> Iterator[Result]:
    """Every parameter that points to a number, or to a string or array that C allocates."""
    for mirror in (pfm3, pfm3_manual, pfm4, pmc, libperfex):
        for name, parameters in functions(mirror):
            if mirror is libperfex and not name.startswith("read_"):
                continue  # the others only read what the pointers point to
            for at, parameter in enumerate(parameters):
                kind = parameter.ctype.kind == "pointer" and parameter.ctype.item.kind
                allocated = parameter.ctype.cname in {"char * *", "char **", "uint64_t * *", "uint64_t **"}
                if allocated or (kind in {"primitive", "enum"} and parameter.ctype.item.cname != "char"):
                    yield Result(mirror, name, parameters, at)


RESULTS = list(results())
ALLOCATED = [r for r in RESULTS if r.parameters[r.at].ctype.item.kind == "pointer"]


def ready(result: Result, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The library in a state in which the call succeeds, if it can, and arguments for that."""
    mirror, lib = result.mirror, result.mirror.__name__[6:].removesuffix("_manual")
    pmu = result.function.split("_")[1] if result.function.split("_")[1] in INDEX else "mont"
    if lib == "pfm3":
        tags = {"ita": mirror.PFMLIB_ITANIUM_PMU, "ita2": mirror.PFMLIB_ITANIUM2_PMU, "mont": mirror.PFMLIB_MONTECITO_PMU}
        assert mirror.pfm_force_pmu(tags[pmu]) == 0
    elif lib == "pfm4":
        monkeypatch.setenv("LIBPFM_FORCE_PMU", "glm")
        assert mirror.pfm_initialize() == 0
    index = pfm3.c_uint()
    if lib == "pfm3":
        name = INDEX[pmu] if "ear" in result.function else "L2_DATA_REFERENCES" if pmu == "ita" else "L2D_REFERENCES" if pmu == "mont" else "CPU_CYCLES"
        mirror.pfm_find_event(name, index)
        if "event_mask_" in result.function:
            masks = mirror.c_uint()
            mirror.pfm_get_num_events(index)
            index.value -= 1
            while mirror.pfm_get_num_event_masks(index.value, masks) or not masks.value:
                index.value -= 1
    return [argument(mirror, result.function, p, NAMES.get(lib), index.value) for p in result.parameters]


def argument(mirror: ModuleType, function: str, parameter: Parameter, name: str | None, index: int) -> Any:
    if parameter.annotation == "int":
        return NUMBERS.get(parameter.name, index if parameter.name in {"idx", "event_idx", "i"} else 0)
    if "String" in parameter.annotation:
        return "ALL" if function == "pfm_find_event_mask" else name
    if parameter.ctype.item.kind == "struct":
        return mirror.ffi.new(parameter.ctype)
    return mirror.ffi.new(parameter.ctype)  # where nothing is looked at


def variable(mirror: ModuleType, parameter: Parameter) -> Any:
    """The ctypes class of what C stores."""
    return generated_of(mirror)._classes[parameter.ctype.item.cname]


def answers(result: Result, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, Any]]:
    """What each form of the pointer has after the call."""
    mirror, parameter, lib = result.mirror, result.parameters[result.at], result.mirror.lib
    kind, allocated = variable(mirror, parameter), result in ALLOCATED
    seen = {}
    for form in ("object", "byref", "pointer", "array", "element", "cffi", "cffi array"):
        args = ready(result, monkeypatch)
        if form.startswith("cffi"):
            ctype = parameter.ctype if form == "cffi" else mirror.ffi.getctype(parameter.ctype.item, "[1]")
            given: Any = mirror.ffi.new(ctype, *([] if allocated else [1 if form == "cffi" else [1]]))
            args[result.at] = given
        else:
            given = (kind * 2)() if form in {"array", "element"} else kind()
            if not allocated:
                ctypes.memmove(ctypes.addressof(given), b"\1", 1)
            args[result.at] = {"object": given, "byref": byref(given), "pointer": ctypes.pointer(given), "array": given,
                               "element": byref(given, 0)}[form]
        ret = getattr(mirror, result.function)(*args)
        seen[form] = (ret, stored(result, given, args[-1], form, lib))
    return seen


def stored(result: Result, given: Any, count: Any, form: str, lib: Any) -> Any:
    """What is there after the call; C's own memory is freed where it is the caller's."""
    ffi, ctype = result.mirror.ffi, result.parameters[result.at].ctype
    if result not in ALLOCATED:
        return given[0] if form in {"array", "element", "cffi", "cffi array"} else given.value
    if form in {"object", "byref", "pointer"}:
        return given.value if "char" in ctype.cname else given[:count[0]] if given else []
    raw = given[0] if form.startswith("cffi") else ffi.from_buffer(f"{ctype.item.cname}[2]", given)[0]
    value = ffi.string(raw) if "char" in ctype.cname else ffi.unpack(raw, count[0])
    lib.free(raw)
    return value


def is_known(value: object) -> bool:
    return value not in (None, b"", [])


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_every_form_of_a_pointer_has_the_same_answer(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = answers(result, monkeypatch)
    assert len(set(map(repr, seen.values()))) == 1, seen
    if result in ALLOCATED:
        assert seen["object"][0] == 0
        assert is_known(seen["object"][1])


def test_most_calls_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the forms would be equal in that nothing is stored."""
    stored = [r for r in RESULTS if r.mirror in {pfm3, pfm3_manual, pfm4} and answers(r, monkeypatch)["object"][0] == 0]
    asked = [r for r in RESULTS if r.mirror in {pfm3, pfm3_manual, pfm4}]
    assert len(stored) > 0.85 * len(asked), [str(r) for r in asked if r not in stored]


def test_every_mirror_has_results() -> None:
    assert {r.mirror for r in RESULTS} == {pfm3, pfm3_manual, pfm4, pmc, libperfex}
    assert {r.function for r in ALLOCATED} == {
        "pfm_get_event_description", "pfm_get_event_mask_description", "pfm_get_event_encoding",
        "pfm_get_perf_event_encoding"}
    assert len(RESULTS) == len({str(r) for r in RESULTS}) > 70


# ---- memory -------------------------------------------------------------------------------------

class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def growth(call: Callable[[], object], calls: int = 2000) -> int:
    """Bytes that malloc() has given and not got back after many calls."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("this C library has no mallinfo2()")
    libc.mallinfo2.restype = Mallinfo2
    used = []
    for _ in range(2):
        for _ in range(calls):
            call()
        gc.collect()
        info = libc.mallinfo2()
        used.append(int(info.uordblks + info.hblkhd))
    return used[1] - used[0]


def forms(result: Result) -> dict[str, Callable[[], Any]]:
    kind = variable(result.mirror, result.parameters[result.at])
    kept = kind()

    def cleared() -> Any:
        if "char" not in result.parameters[result.at].ctype.cname:  # the codes of a call are room for the next one's
            ctypes.memset(ctypes.addressof(kept), 0, ctypes.sizeof(kept))
        return kept

    return {"object": kind, "kept": cleared, "byref of kept": lambda: byref(cleared()), "byref": lambda: byref(kind())}


@pytest.mark.long
@pytest.mark.parametrize("form", ["object", "byref", "kept", "byref of kept"])
@pytest.mark.parametrize("result", ALLOCATED, ids=str)
def test_nothing_is_left_of_what_c_allocates(result: Result, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    args, make = ready(result, monkeypatch), forms(result)[form]
    others = [i for i, p in enumerate(result.parameters) if i != result.at and p.ctype.cname in {"char * *", "uint64_t * *", "char **", "uint64_t **"}]

    def call() -> None:
        for count in [a for p, a in zip(result.parameters, args, strict=True) if p.name == "count"]:
            count[0] = 0
        args[result.at] = make()
        for i in others:
            args[i] = variable(result.mirror, result.parameters[i])()
        assert getattr(result.mirror, result.function)(*args) == 0

    assert growth(call) < 2000


def test_control_memory_that_is_the_caller_s_is_seen() -> None:
    """A plain pointer is the caller's, as in C: what is not freed shows."""
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    assert growth(lambda: pfm3.pfm_get_event_description(179, pfm3.ffi.new("char **"))) > 2000 * 16


@pytest.mark.parametrize("text", [c_char_p(), c_char_p(b"the caller's own")])
def test_a_call_that_fails_leaves_a_string(text: c_char_p) -> None:
    """It is not taken for one that C allocated, and freed."""
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    before = text.value
    assert pfm3.pfm_get_event_description(9999, text) == pfm3.PFMLIB_ERR_INVAL
    assert text.value == before
    assert pfm3.pfm_get_event_description(179, text) == 0
    assert text.value not in {before, None}
