"""Structures of the mirrors as Python objects: who keeps memory, copies, comparison, sizes, what repr() shows."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pypfm import libperfex, pfm3, pfm3_manual, pfm4, pmc
from pypfm._c.mirror import Array, Struct
from pypfm.pfm3 import byref

MIRRORS = (pfm3, pfm3_manual, pfm4, pmc, libperfex)
STRUCTURES = list(dict.fromkeys(
    value for mirror in MIRRORS for value in map(mirror.__dict__.get, mirror.__all__)
    if isinstance(value, type) and issubclass(value, Struct)))
MANY = 40  # structures that are made in the place of one that is gone


def has_pointers(ctype: Any) -> bool:
    ctype = getattr(ctype, "item", ctype) if ctype.kind == "array" else ctype
    return ctype.kind == "pointer" or (
        ctype.kind in {"struct", "union"} and any(has_pointers(field.type) for _, field in ctype.fields))


PLAIN = [struct for struct in STRUCTURES if not has_pointers(struct._type)]


def name_of(struct: Any) -> str:
    return f"{struct.__module__.rpartition('.')[2][:-4]}.{struct.__name__}"


def filled(struct: Any, byte: int) -> Any:
    return struct.from_buffer_copy(bytes([byte]) * pfm3.sizeof(struct))


def parts(whole: Any) -> Iterator[Any]:
    """The structures and arrays in one, the first and the last element of each array, and slices."""
    steps: list[Any] = [0, -1, slice(1, 3)] if isinstance(whole, Array) else [name for name, _ in whole._type.fields]
    for step in steps:
        if isinstance(whole, Array) and len(whole) < 4:
            continue
        part = whole[len(whole) - 1 if step == -1 else step] if isinstance(whole, Array) else getattr(whole, step)
        if isinstance(part, (Array, Struct)):
            yield part
            yield from parts(part) if not isinstance(step, slice) else ()


def used_again(struct: Any) -> list[Any]:
    """Other memory in the place of a structure that is gone."""
    gc.collect()
    return [filled(struct, 0x5A) for _ in range(MANY)]


# ---- who keeps memory -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("struct", STRUCTURES, ids=name_of)
def test_a_part_keeps_the_whole(struct: Any) -> None:
    whole = filled(struct, 0x11)
    found = list(parts(whole))
    before = [bytes(part) for part in found]
    del whole
    others = used_again(struct)
    assert [bytes(part) for part in found] == before
    assert len(others) == MANY


TAKEN: dict[str, Callable[[Any], Any]] = {
    "member": lambda inp: inp.pfp_unavail_pmcs,
    "array": lambda inp: inp.pfp_events,
    "element": lambda inp: inp.pfp_events[7],
    "in a loop": lambda inp: list(inp.pfp_events)[7],
    "slice": lambda inp: inp.pfp_events[7:9],
    "slice without an end": lambda inp: inp.pfp_events[7:],
    "element of a slice": lambda inp: inp.pfp_events[5:9][2],
    "member of an element": lambda inp: inp.pfp_events[7].unit_masks,
    "byref": lambda inp: pfm3.byref(inp),
    "byref of a member": lambda inp: pfm3.byref(inp, "pfp_unavail_pmcs"),
    "byref of a part": lambda inp: pfm3.byref(inp.pfp_events[7], "event"),
    "addressof": lambda inp: pfm3.ffi.addressof(inp),
    "addressof of a part": lambda inp: pfm3.ffi.addressof(inp.pfp_events[7]),
    "cast": lambda inp: pfm3.ffi.cast("unsigned char *", pfm3.byref(inp)),
    "cast of a cast": lambda inp: pfm3.ffi.cast("unsigned int *", pfm3.ffi.cast("void *", pfm3.byref(inp))),
    "cast of an array": lambda inp: pfm3.ffi.cast("unsigned int *", inp.pfp_events[7].unit_masks),
    "buffer": lambda inp: pfm3.ffi.buffer(inp.pfp_events[7]),
    "buffer of byref": lambda inp: pfm3.ffi.buffer(pfm3.byref(inp.pfp_events[7])),
}


def content(taken: Any) -> bytes:
    return bytes(pfm3.ffi.buffer(taken)) if isinstance(taken, pfm3.ffi.CData) else bytes(taken)


@pytest.mark.parametrize("way", TAKEN)
def test_each_way_to_take_a_part(way: str) -> None:
    whole = filled(pfm3.pfmlib_input_param_t, 0x11)
    taken = TAKEN[way](whole)
    before = content(taken)
    del whole
    others = used_again(pfm3.pfmlib_input_param_t)
    assert content(taken) == before
    assert len(others) == MANY


@pytest.mark.parametrize("way", TAKEN)
def test_the_whole_goes_with_its_last_part(way: str) -> None:
    whole = pfm3.pfmlib_input_param_t()
    alive = weakref.ref(whole._memory)
    taken = TAKEN[way](whole)
    del whole
    gc.collect()
    assert alive() is not None
    assert taken is not None
    del taken
    gc.collect()
    assert alive() is None


def test_an_array_of_its_own_is_kept_by_an_element() -> None:
    array = (pfm3.pfmlib_event_t * 5)()
    array[3].event = 9
    event = array[3]
    del array
    gc.collect()
    others = [(pfm3.pfmlib_event_t * 5)() for _ in range(MANY)]
    assert (event.event, len(others)) == (9, MANY)


def attribute(period: int = 77) -> Any:
    return pfm4.perf_event_attr(size=128, sample_period=period)


def by_keyword() -> Any:
    return pfm4.pfm_perf_encode_arg_t(attr=pointer(attribute()))


def by_assignment() -> Any:
    arg = pfm4.pfm_perf_encode_arg_t()
    arg.attr = byref(attribute())
    return arg


def by_addressof() -> Any:
    arg = pfm4.pfm_perf_encode_arg_t()
    arg.attr = pfm4.ffi.addressof(attribute())
    return arg


def by_cffi() -> Any:
    arg = pfm4.pfm_perf_encode_arg_t()
    arg.attr = pfm4.ffi.new("struct perf_event_attr *", {"sample_period": 77})
    return arg


def by_element() -> Any:
    array = (pfm4.pfm_perf_encode_arg_t * 3)()
    array[1] = by_keyword()
    return array[1]


def by_element_as_dict() -> Any:
    array = (pfm4.pfm_perf_encode_arg_t * 3)()
    array[1] = {"attr": byref(attribute())}
    return array[1]


def by_slice() -> Any:
    array = (pfm4.pfm_perf_encode_arg_t * 3)()
    array[1:3] = [by_keyword(), by_assignment()]
    return array[2]


def by_copy() -> Any:
    return copy.copy(by_keyword())


def by_deep_copy_of_an_array() -> Any:
    array = (pfm4.pfm_perf_encode_arg_t * 3)()
    array[1].attr = byref(attribute())
    return copy.deepcopy(array)[1]


SET = [by_keyword, by_assignment, by_addressof, by_cffi, by_element, by_element_as_dict, by_slice, by_copy,
       by_deep_copy_of_an_array]


@pytest.mark.parametrize("make", SET)
def test_a_pointer_keeps_what_it_is_set_to(make: Callable[[], Any]) -> None:
    arg = make()
    others = used_again(pfm4.perf_event_attr)
    assert (arg.attr.sample_period, len(others)) == (77, MANY)
    pointer = arg.attr  # which keeps it, too
    del arg, others
    others = [*used_again(pfm4.perf_event_attr), *used_again(pfm4.pfm_perf_encode_arg_t)]
    assert (pointer.sample_period, len(others)) == (77, 2 * MANY)


def test_a_pointer_that_is_set_anew_keeps_the_old_no_longer() -> None:
    attr = attribute()
    alive = weakref.ref(attr)
    arg = pfm4.pfm_perf_encode_arg_t(attr=pointer(attr))
    del attr
    gc.collect()
    assert alive() is not None
    arg.attr = pfm4.ffi.NULL
    gc.collect()
    assert alive() is None
    assert arg.attr == pfm4.ffi.NULL


def test_a_pointer_that_c_has_set_is_what_c_has_set() -> None:
    arg, other = by_keyword(), attribute(5)
    place = pfm4.ffi.cast("void **", byref(arg, "attr"))
    place[0] = byref(other)
    assert arg.attr.sample_period == 5


def test_a_null_pointer_is_not_followed() -> None:
    """cffi would read or write at that address, and Python would end."""
    arg = pfm4.pfm_perf_encode_arg_t()
    assert arg.attr == pfm4.ffi.NULL
    assert not arg.attr
    with pytest.raises(AttributeError):
        arg.attr.sample_period  # noqa: B018
    with pytest.raises(AttributeError):
        arg.attr.sample_period = 5
    array = (pfm4.pfm_perf_encode_arg_t * 2)()
    with pytest.raises(AttributeError):
        array[1].attr.sample_period  # noqa: B018
    codes = pfm4.pfm_pmu_encode_arg_t().codes
    for read in (lambda: codes[0], lambda: codes[0:2][0]):
        with pytest.raises((RuntimeError, ValueError), match=r"null pointer|void"):
            read()


def test_a_pointer_is_set_as_an_argument_is_given() -> None:
    """To a structure, which it keeps, or to None."""
    args = [pfm4.pfm_perf_encode_arg_t(attr=attribute()), pfm4.pfm_perf_encode_arg_t(), (pfm4.pfm_perf_encode_arg_t * 1)()[0]]
    args[1].attr = attribute()
    args[2].attr = attribute()
    others = used_again(pfm4.perf_event_attr)
    assert [arg.attr.sample_period for arg in args] == [77] * 3
    assert len(others) == MANY
    args[1].attr = None
    assert args[1] == pfm4.pfm_perf_encode_arg_t(attr=None) == pfm4.pfm_perf_encode_arg_t()
    with pytest.raises(TypeError, match="must be a pointer"):
        args[1].attr = pfm3.pfmlib_event_t()


# ---- copies and comparison -----------------------------------------------------------------------------------------

def random_one(struct: Any, seed: int) -> Any:
    return struct.from_buffer_copy(random.Random(seed).randbytes(pfm3.sizeof(struct)))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("struct", PLAIN, ids=name_of)
def test_a_copy_is_equal_and_has_memory_of_its_own(struct: Any, copied: Callable[[Any], Any]) -> None:
    one = random_one(struct, 1)
    other = copied(one)
    assert type(other) is struct
    assert other == one
    assert bytes(other) == bytes(one)
    if bytes(one):
        pfm3.ffi.buffer(one)[0] = bytes([pfm3.ffi.buffer(one)[0][0] ^ 0xFF])
        assert bytes(other) != bytes(one)


def test_comparison_is_by_content() -> None:
    one, other = pfm3.pfmlib_event_t(event=5), pfm3.pfmlib_event_t(event=5)
    assert one == other
    other.plm = 3
    assert one != other
    assert one != pfm3_manual.pfmlib_event_t(event=5)
    assert one != 5
    inp = pfm3.pfmlib_input_param_t(pfp_events=[one])
    assert inp.pfp_events[0] == one
    assert inp.pfp_events != pfm3.pfmlib_input_param_t().pfp_events
    assert one.unit_masks == [0] * len(one.unit_masks)
    assert one.unit_masks != [1] * len(one.unit_masks)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_bytes_between_members_are_not_compared() -> None:
    """pfmlib_mont_ipear_t has some: what a program left there is no difference."""
    struct = next(s for s in PLAIN if s._type.kind == "struct" and holes(s))
    one, other = struct(), struct()
    pfm3.ffi.buffer(other)[holes(struct)[0]] = b"x"
    assert bytes(one) != bytes(other)
    assert one == other


def holes(struct: Any) -> list[int]:
    fields = [f for _, f in struct._type.fields]
    used = {f.offset + i for f in fields for i in range(pfm3.ffi.sizeof(f.type))}
    return sorted(set(range(pfm3.sizeof(struct))) - used)


def test_a_pointer_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="a pfm_perf_encode_arg_t is not pickled with a pointer in it"):
        pickle.dumps(by_keyword())
    empty = pfm4.pfm_perf_encode_arg_t(size=40)
    assert pickle.loads(pickle.dumps(empty)) == empty
    with pytest.raises(TypeError, match=r"an array .* is not pickled"):
        pickle.dumps((pfm3.pfmlib_event_t * 3))()


def test_a_structure_without_a_name_is_copied() -> None:
    register = pfm3.pfm_ita2_pmc_reg_t(pmc_val=0x12345678)
    fields = register.pmc_ita2_counter_reg
    other = copy.copy(fields)
    register.pmc_val = 0
    assert other.pmc_es == 0x56
    assert fields.pmc_es == 0
    assert len(type(fields).array(3)) == 3
    with pytest.raises(TypeError, match="has no name in C is not pickled"):
        pickle.dumps(fields)


# ---- sizes, names, repr() --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("struct", STRUCTURES, ids=name_of)
def test_sizes_and_names(struct: Any) -> None:
    size = pfm3.ffi.sizeof(struct._type)
    assert pfm3.sizeof(struct) == pfm3.sizeof(struct()) == len(bytes(struct())) == size
    assert pfm3.sizeof(struct.array(3)) == 3 * size
    assert pfm3.ffi.sizeof(struct()) == size
    fields = {name for name, _ in struct._type.fields}
    assert fields <= set(dir(struct()))
    assert not [name for name in fields if hasattr(Struct, name)], "a field that Python's own attribute hides"


def test_sizes_of_others() -> None:
    assert pfm3.sizeof(pfm3.c_long) == pfm3.sizeof(pfm3.c_long(5)) == 8
    assert pfm3.sizeof(pfm3.c_int) == 4
    assert pfm3.sizeof(pfm3.create_string_buffer(17)) == 17
    assert pfm3.sizeof(pfm3.byref(pfm3.c_int())) == pfm3.sizeof(pfm3.c_long)
    assert pfm3.sizeof(pfm3.pfmlib_input_param_t().pfp_events) == 512 * pfm3.sizeof(pfm3.pfmlib_event_t)
    for wrong in (5, "int", None, int, Struct):
        with pytest.raises(TypeError, match=r"sizeof\(\) wants a structure"):
            pfm3.sizeof(wrong)


@pytest.mark.parametrize("struct", PLAIN, ids=name_of)
def test_repr_is_what_a_program_writes(struct: Any) -> None:
    assert repr(struct()) == f"{struct.__name__}()"
    one = random_one(struct, 2)
    again = eval(repr(one), {struct.__name__: struct})
    assert again == one
    assert repr(again) == repr(one)


def test_repr_of_parts() -> None:
    inp = pfm3.pfmlib_input_param_t(pfp_event_count=2, pfp_events=[{"event": 5}, {"event": 0x12345, "plm": 8}])
    assert repr(inp) == ("pfmlib_input_param_t(pfp_event_count=2, pfp_events=[{'event': 5}, "
                         "{'event': 0x12345, 'plm': 8}])")
    assert repr(inp.pfp_events) == "<pfmlib_event_t[512]: [{'event': 5}, {'event': 0x12345, 'plm': 8}]>"
    assert repr(inp.pfp_events[1]) == "pfmlib_event_t(event=0x12345, plm=8)"


def test_fields_that_are_not_there() -> None:
    inp = pfm3.pfmlib_input_param_t()
    with pytest.raises(AttributeError, match="nothing"):
        inp.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="nothing"):
        inp.nothing = 5
    events = (pfm3.pfmlib_event_t * 2)()
    wrong: list[Callable[[], object]] = [
        lambda: pfm3.pfmlib_event_t(nothing=5), lambda: pfm3.pfmlib_input_param_t(pfp_events=[{"nothing": 5}]),
        lambda: setattr(inp, "pfp_events", [{"nothing": 5}]), lambda: events.__setitem__(0, {"nothing": 5}),
        lambda: events.__setitem__(slice(0, 1), [{"nothing": 5}])]
    for make in wrong:
        with pytest.raises(TypeError, match="pfmlib_event_t has no field 'nothing'; it has event, "):
            make()
    with pytest.raises(TypeError, match="pfmlib_event_t has 6 fields, not 7"):
        events[0] = [1] * 7


def test_arrays_are_read_and_written_in_slices() -> None:
    array = pfm3.pfmlib_event_t(unit_masks=list(range(5))).unit_masks
    assert list(array[1:4]) == [1, 2, 3]
    assert array[:3] == (0, 1, 2)
    array[1:3] = [8, 9]
    assert array[:4] == [0, 8, 9, 3]
    assert len(array[2:]) == len(array) - 2
    assert len(array[5:2]) == 0
    for indexed in (lambda: array[::2], lambda: array[::-1], lambda: array.__setitem__(slice(0, 4, 2), [1, 2])):
        with pytest.raises(IndexError, match="has no step"):
            indexed()


def test_indices_from_the_end() -> None:
    array = pfm3.pfmlib_event_t(unit_masks=list(range(48))).unit_masks
    array[-2] = 99
    assert (array[-1], array[-48], array[46]) == (47, 0, 99)
    for at in (48, -49):
        with pytest.raises(IndexError):
            array[at]
        with pytest.raises(IndexError):
            array[at] = 5


def test_a_slice_is_an_array_as_another_one() -> None:
    inp = pfm3.pfmlib_input_param_t(pfp_events=[{"event": n} for n in range(4)])
    assert inp.pfp_events[:] == inp.pfp_events
    assert inp.pfp_events[:2] != inp.pfp_events
    other = pfm3.pfmlib_input_param_t(pfp_events=inp.pfp_events[1:3])
    assert [event.event for event in other.pfp_events[:3]] == [1, 2, 0]
    inp.pfp_events = inp.pfp_events[2:4]
    assert [event.event for event in inp.pfp_events[:4]] == [2, 3, 2, 3]


def test_sequences_of_other_types() -> None:
    event = pfm3.pfmlib_event_t(unit_masks=range(3))
    event.unit_masks[1:3] = (n for n in (8, 9))
    assert event.unit_masks[:4] == [0, 8, 9, 0]
    event.unit_masks = bytearray(b"ab")
    assert event.unit_masks[:3] == [97, 98, 9]
    for wrong in ("ab", {1, 2}, 5, [1.5], [[1]]):
        with pytest.raises(TypeError):
            event.unit_masks = wrong


def test_buffers_in_pieces() -> None:
    """As a slice of numpy's array is."""
    data = bytes(range(232)) * 2
    found = pfm3.pfmlib_event_t.from_buffer_copy(memoryview(data)[::2])
    assert bytes(found) == data[::2]
    with pytest.raises(ValueError, match="232 bytes are needed"):
        pfm3.pfmlib_event_t.from_buffer_copy(b"")


class Named(pfm3.pfmlib_event_t):
    """A user's class."""

    @property
    def number(self) -> int:
        return self.event

    @number.setter
    def number(self, value: int) -> None:
        self.event = value


def test_classes_of_users() -> None:
    one = Named(event=5)
    one.number = 7
    assert one == pfm3.pfmlib_event_t(event=7)
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (type(other), other.number) == (Named, 7)
    for name in ("nothing", "_cdata", "__class__"):
        with pytest.raises(AttributeError, match="has no field"):
            setattr(one, name, 5)


def test_ffi_of_a_mirror_takes_structures() -> None:
    ffi, event = pfm3.ffi, pfm3.pfmlib_event_t(event=5)
    assert ffi.typeof(event).cname == "pfmlib_event_t"
    assert ffi.addressof(event, "event")[0] == 5
    assert ffi.new("pfmlib_input_param_t *", {"pfp_events": [event]}).pfp_events[0].event == 5
    ffi.memmove(ffi.addressof(event), bytes([7]), 1)
    assert event.event == 7
    ffi.errno = 5
    assert ffi.errno == 5
    assert "string" in dir(ffi)
    assert ffi.string(ffi.new("char[]", b"text")) == b"text"
