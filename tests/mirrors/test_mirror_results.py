"""What C stores through a pointer arrives in the caller's object, in each form in which a pointer is given.

Where C allocates, nothing is left afterwards: memory is counted by the allocator.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from mirror_arguments import Parameter, functions
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


def cell_class(mirror: ModuleType, parameter: Parameter) -> Any:
    return next(c for m in (mirror, pmc, pfm4, libperfex) for c in vars(m).values()
                if isinstance(c, type) and getattr(c, "_pointer_type", None) is parameter.ctype)


def answers(result: Result, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, Any]]:
    """What each form of the pointer has after the call."""
    mirror, parameter, lib = result.mirror, result.parameters[result.at], result.mirror.lib
    made = cell_class(mirror, parameter)
    allocated = result in ALLOCATED
    seen = {}
    for form in ("cell", "byref", "owner", "array"):
        args = ready(result, monkeypatch)
        if form in {"cell", "byref"}:
            given = made() if allocated else made(1)
            args[result.at] = given if form == "cell" else byref(given)
        else:
            pointer = parameter.ctype if form == "owner" else mirror.ffi.getctype(parameter.ctype.item, "[1]")
            given = args[result.at] = mirror.ffi.new(pointer, *([] if allocated else [1 if form == "owner" else [1]]))
        ret = getattr(mirror, result.function)(*args)
        value = given.value if form in {"cell", "byref"} else given[0]
        if allocated and form in {"owner", "array"}:
            raw = value
            value = mirror.ffi.string(raw).decode() if "char" in parameter.ctype.cname else mirror.ffi.unpack(raw, args[-1][0])
            lib.free(raw)
        seen[form] = (ret, value)
    return seen


def is_known(value: object) -> bool:
    return value not in (None, "", [])


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_every_form_of_a_pointer_has_the_same_answer(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = answers(result, monkeypatch)
    assert len(set(map(repr, seen.values()))) == 1, seen
    if result in ALLOCATED:
        assert seen["cell"][0] == 0
        assert is_known(seen["cell"][1])


def test_most_calls_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the forms would be equal in that nothing is stored."""
    stored = [r for r in RESULTS if r.mirror in {pfm3, pfm3_manual, pfm4} and answers(r, monkeypatch)["cell"][0] == 0]
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
    made = cell_class(result.mirror, result.parameters[result.at])
    kept = made()
    return {"cell": made, "kept": lambda: kept, "byref of kept": lambda: byref(kept), "byref": lambda: byref(made())}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["cell", "kept", "byref of kept", "byref"])
@pytest.mark.parametrize("result", ALLOCATED, ids=str)
def test_nothing_is_left_of_what_c_allocates(result: Result, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    args, make = ready(result, monkeypatch), forms(result)[form]
    others = [i for i, p in enumerate(result.parameters) if i != result.at and p.ctype.cname in {"char * *", "uint64_t * *", "char **", "uint64_t **"}]

    def call() -> None:
        for count in [a for p, a in zip(result.parameters, args, strict=True) if p.name == "count"]:
            count[0] = 0
        args[result.at] = make()
        for i in others:
            args[i] = cell_class(result.mirror, result.parameters[i])()
        assert getattr(result.mirror, result.function)(*args) == 0

    assert growth(call) < 2000


def test_control_memory_that_is_the_caller_s_is_seen() -> None:
    """A plain pointer is the caller's, as in C: what is not freed shows."""
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    assert growth(lambda: pfm3.pfm_get_event_description(179, pfm3.ffi.new("char **"))) > 2000 * 16


@pytest.mark.slow
@pytest.mark.parametrize("path", [(), ("pfp_events",), ("pfp_events", 5, "event")], ids=str)
@pytest.mark.parametrize("mirror", [pfm3, pfm3_manual], ids=lambda mirror: mirror.__name__)
def test_a_pointer_keeps_its_structure(mirror: ModuleType, path: tuple[str | int, ...]) -> None:
    """byref(pfmlib_input_param_t()) is &(pfmlib_input_param_t){ 0 }, and not memory that is free again."""
    structure = mirror.pfmlib_input_param_t()
    alive = weakref.ref(structure)
    pointer = byref(structure, *path)
    del structure
    gc.collect()
    assert alive() is not None
    del pointer
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(("path", "error", "said"), [
    (("nothing",), AttributeError, "byref(): pfmlib_input_param_t has no field 'nothing'; it has pfp_event_count, "),
    (("pfp_events", 3, "nothing"), AttributeError, "byref(): pfmlib_event_t has no field 'nothing'; it has event, "),
    (("nothing", 3), AttributeError, "'nothing'"), (("pfp_event_count", "x", 3), AttributeError, "'int' object"),
    (("pfp_events", 512), IndexError, "512"), (("pfp_events", 512, "event"), IndexError, "512"),
    (("pfp_events", -1, "event"), IndexError, "negative"), ((3,), TypeError, "cannot be indexed"), ((None,), TypeError, "NoneType"),
])
def test_a_path_that_leads_nowhere(path: tuple[Any, ...], error: type[Exception], said: str) -> None:
    """cffi checks no index: the pointer would be to other memory."""
    with pytest.raises(error) as caught:
        byref(pfm3.pfmlib_input_param_t(), *path)
    assert said in str(caught.value)


class Third:
    """As numpy's numbers: it stands for one."""

    def __index__(self) -> int:
        return 3


def test_an_index_of_a_path_is_any_number() -> None:
    inp: Any = pfm3.pfmlib_input_param_t(pfp_events=[{}, {}, {}, {"event": 5}])
    assert byref(inp, "pfp_events", Third())[0].event == byref(inp, "pfp_events", Third(), "event")[0] == 5


@pytest.mark.parametrize("path", [("attr", "size"), ("attr", "size", "x"), ("attr", 0), ("attr", 0, "size"), ("attr", 0, "size", 3)])
@pytest.mark.parametrize("attr", [None, pfm4.perf_event_attr()], ids=["0", "set"])
def test_no_path_leads_through_a_pointer(attr: Any, path: tuple[Any, ...]) -> None:
    """Of a pointer that is 0, cffi would read a member, and Python would end."""
    arg = pfm4.pfm_perf_encode_arg_t(attr=attr)
    assert byref(arg, "attr")[0] == (pfm4.ffi.NULL if attr is None else byref(attr))
    with pytest.raises(TypeError, match=r"byref\(\): 'attr' is a pointer, through which no path leads"):
        byref(arg, *path)


@pytest.mark.parametrize("made", [pfm3.c_int, pfm3.c_char_p, lambda: pfm3.create_string_buffer(4)])
def test_a_cell_has_no_members(made: Any) -> None:
    with pytest.raises(TypeError, match=r"byref\(\): a \w+ has no members"):
        byref(made(), 1)


@pytest.mark.parametrize("wrong", [None, "x", b"x", 5, 1.5, [], object(), pfm3.c_int, pfm3.ffi.NULL, pfm3.ffi.new("int *")],
                         ids=lambda value: type(value).__name__)
def test_what_has_no_address(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"byref\(\) wants a structure, a cell or a buffer, not "):
        byref(wrong)


def test_values_of_cells_and_sizes_of_buffers() -> None:
    for cell in (pfm3.c_int, pfm3.c_uint, pmc.c_uint64, libperfex.c_longlong):
        with pytest.raises(TypeError, match="an integer"):
            cell(None)  # type: ignore[arg-type]
    for size in (None, "5", b"abc", [1, 2], [], 1.5):
        with pytest.raises(TypeError, match=r"create_string_buffer\(\) wants an integer, not"):
            pfm3.create_string_buffer(size)  # type: ignore[arg-type]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_has_memory_of_its_own(copied: Callable[[Any], Any]) -> None:
    cell = pfm3.c_uint(5)
    other = copied(cell)
    cell.value = 7
    assert (other.value, type(other)) == (5, pfm3.c_uint)
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    text = c_char_p()
    assert pfm3.pfm_get_event_description(179, text) == 0
    other = copied(text)
    assert other.value == text.value
    assert pfm3.pfm_get_event_description(180, other) == 0
    assert other.value != text.value
    assert text.value
    buffer = pfm3.create_string_buffer(40)
    assert pfm3.pfm_get_event_name(179, buffer, 40) == 0
    other = copied(buffer)
    assert pfm3.pfm_get_event_name(180, buffer, 40) == 0
    assert (len(other), other.value != buffer.value, bool(other.value)) == (40, True, True)


def test_a_pointer_keeps_its_cell() -> None:
    """Who has only byref() of a cell has the cell: nothing is stored in memory that is gone."""
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    cell = c_char_p()
    pointer = byref(cell)
    assert pfm3.pfm_get_event_description(179, pointer) == 0
    expected = cell.value
    assert expected
    assert pfm3.pfm_get_event_description(179, pfm3.ffi.cast("void *", pointer)) == 0
    assert (cell.value, pointer[0]) == (expected, pfm3.ffi.NULL)


def test_cells_can_be_set() -> None:
    text, codes = pfm3.c_char_p(), pfm4.c_uint64_array()
    text.value, codes.value = "text", [1, 2]
    assert (text.value, codes.value) == ("text", [1, 2])
