"""What the mirrors' structures do beyond ctypes: comparison, copies, pickling, repr(), strings, what is refused.

Who keeps memory alive, arrays, bit-fields and offsets are ctypes' own; class_layouts.py compares the layouts with C.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import random
import re
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from pypfm import libperfex, pfm3, pfm3_manual, pfm4, pmc
from pypfm._c.members import used_bits
from pypfm._c.references import room_at
from pypfm._c.structures import Structure, Union
from pypfm.pfm3 import byref, pointer

MIRRORS = (pfm3, pfm3_manual, pfm4, pmc, libperfex)
STRUCTURES = list(dict.fromkeys(
    value for mirror in MIRRORS for value in map(mirror.__dict__.get, mirror.__all__)
    if isinstance(value, type) and issubclass(value, (Structure, Union))))


def has_pointers(kind: Any) -> bool:
    if issubclass(kind, ctypes.Array):
        return has_pointers(kind._type_)
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        return any(has_pointers(inner) for _, inner, *_ in kind._fields_)
    return issubclass(kind, (ctypes._Pointer, ctypes.c_char_p, ctypes.c_void_p))


PLAIN = [struct for struct in STRUCTURES if not has_pointers(struct)]
COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


def name_of(struct: Any) -> str:
    return f"{struct.__module__.rpartition('.')[2][:-4]}.{struct.__name__}"


def random_one(struct: Any, seed: int) -> Any:
    return struct.from_buffer_copy(random.Random(seed).randbytes(ctypes.sizeof(struct)))


def test_there_are_structures_of_all_mirrors() -> None:
    assert len(STRUCTURES) > 90
    assert len(PLAIN) < len(STRUCTURES)
    assert all(struct.__doc__ and struct.__slots__ == () for struct in STRUCTURES)


# ---- one and the same ------------------------------------------------------------------------------------------------

def test_comparison_is_by_content() -> None:
    one, other = pfm3.pfmlib_event_t(event=5), pfm3.pfmlib_event_t(event=5)
    assert one == other
    other.plm = 3
    assert one != other
    assert one == pfm3_manual.pfmlib_event_t(event=5)  # the same class
    assert pfm3.pfmlib_mont_etb_t() != pfm3_manual.pfmlib_mont_etb_t()
    assert one != 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_bytes_between_members_are_not_compared() -> None:
    padded = [s for s in STRUCTURES if used_bits(s) != (1 << 8 * ctypes.sizeof(s)) - 1]
    assert len(padded) >= 20
    for struct in padded:
        size = ctypes.sizeof(struct)
        unused = ~used_bits(struct) & (1 << 8 * size) - 1
        one, other = struct(), struct.from_buffer_copy(unused.to_bytes(size, "little"))
        assert bytes(one) != bytes(other)
        assert one == other, struct
        used = used_bits(struct) & -used_bits(struct)
        assert one != struct.from_buffer_copy(used.to_bytes(size, "little")), struct


@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_a_copy_is_equal_and_has_memory_of_its_own(copied: Callable[[Any], Any]) -> None:
    for struct in PLAIN:
        one = random_one(struct, 1)
        other = copied(one)
        assert type(other) is struct
        assert bytes(other) == bytes(one)
        if ctypes.sizeof(struct):
            ctypes.memset(ctypes.addressof(one), bytes(one)[0] ^ 0xFF, 1)
            assert bytes(other) != bytes(one)


def attribute() -> Any:
    return pfm4.perf_event_attr(size=128, sample_period=77)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda arg: copy.copy(copy.copy(arg))])
def test_a_copy_keeps_what_its_pointers_point_to(copied: Callable[[Any], Any]) -> None:
    attr, text = attribute(), pfm4.pfm_pmu_info_t(name="".join(["a name", " of its own"]))
    alive = weakref.ref(attr)
    arg = pfm4.pfm_perf_encode_arg_t(attr=pointer(attr))
    other, other_text = copied(arg), copied(text)
    assert other == arg
    arg.attr = None
    text.name = None
    del attr, arg, text
    gc.collect()
    others = [attribute() for _ in range(50)]
    assert alive() is not None
    assert (other.attr.contents.sample_period, other_text.name, len(others)) == (77, "a name of its own", 50)
    del other
    gc.collect()
    assert alive() is None


def test_a_pointer_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="a pfm_perf_encode_arg_t is not pickled with a pointer in it"):
        pickle.dumps(pfm4.pfm_perf_encode_arg_t(attr=pointer(attribute())))
    with pytest.raises(TypeError, match="with a pointer in it"):
        pickle.dumps(pfm4.pfm_pmu_info_t(name="x"))
    empty = pfm4.pfm_perf_encode_arg_t(size=40)
    assert pickle.loads(pickle.dumps(empty)) == empty


def test_a_structure_without_a_name_is_one_as_others() -> None:
    register = pfm3.pfm_ita2_pmc_reg_t(pmc_val=0x12345678)
    fields = register.pmc_ita2_counter_reg
    for copied in COPIES:
        other = copied(fields)
        assert (other == fields, other.pmc_es) == (True, 0x56)
    register.pmc_val = 0
    assert (other.pmc_es, fields.pmc_es) == (0x56, 0)
    assert repr(other).startswith("_pmc_ita2_counter_reg(pmc_plm=8, pmc_ev=1, ")


# ---- repr() ----------------------------------------------------------------------------------------------------------

def test_repr_is_what_a_program_writes() -> None:
    for struct in PLAIN:
        assert repr(struct()) == f"{struct.__name__}()"
        one = random_one(struct, 2)
        names = {s.__name__: s for s in STRUCTURES} | {struct.__name__: struct} | {
            kind.__name__: kind for _, kind, *_ in struct._fields_}
        again = eval(repr(one), names)
        assert again == one
        assert repr(again) == repr(one)


def test_repr_of_parts() -> None:
    event = pfm3.pfmlib_event_t
    inp = pfm3.pfmlib_input_param_t(pfp_event_count=2, pfp_events=(event(event=5), event(event=0x12345, plm=8)))
    assert repr(inp) == ("pfmlib_input_param_t(pfp_event_count=2, pfp_events=(pfmlib_event_t(event=5), "
                         "pfmlib_event_t(event=0x12345, plm=8)))")
    assert repr(inp.pfp_events[1]) == "pfmlib_event_t(event=0x12345, plm=8)"
    assert repr(pfm4.pfm_pmu_info_t(name="glm", size=56)) == "pfm_pmu_info_t(name='glm', size=56)"
    assert repr(pfm4.perf_branch_entry(**{"from": 1, "to": 2})) == "perf_branch_entry(to=2, **{'from': 1})"
    arg = pfm4.pfm_perf_encode_arg_t(attr=pointer(attribute()))
    assert repr(arg) == f"pfm_perf_encode_arg_t(attr=<LP_perf_event_attr to {ctypes.addressof(arg.attr.contents):#x}>)"


# ---- strings, pointers -----------------------------------------------------------------------------------------------

def test_strings() -> None:
    info = pfm4.pfm_pmu_info_t()
    assert info.name is None
    for value, text, data in (("glm", "glm", b"glm"), (b"glm", "glm", b"glm"), ("é", "é", b"\xc3\xa9"),
                              (b"\xff", "\udcff", b"\xff"), ("\udcff", "\udcff", b"\xff"), ("", "", b""), (None, None, None)):
        info.name = value
        assert (info.name, pfm4.pfm_pmu_info_t.name.bytes(info)) == (text, data)
    for wrong in ("a\0b", b"\0"):
        with pytest.raises(ValueError, match="cannot hold a NUL"):
            info.name = wrong
    for wrong in (5, pfm4.c_char_p(b"x"), ["x"]):
        with pytest.raises(TypeError, match=r"a char \* is set to str, bytes or None, not "):
            info.name = wrong
    assert (pfm4.pfm_pmu_info_t.name.offset, pfm4.pfm_pmu_info_t.desc.offset, pfm4.pfm_pmu_info_t.name.size) == (0, 8, 8)
    assert pmc.pmc_event(name="x", val=1).name == "x"


def test_a_null_pointer_is_not_followed() -> None:
    arg = pfm4.pfm_perf_encode_arg_t(attr=None)
    assert not arg.attr
    with pytest.raises(ValueError, match="NULL pointer"):
        arg.attr.contents  # noqa: B018
    with pytest.raises(ValueError, match="NULL pointer"):
        pfm4.pfm_pmu_encode_arg_t().codes[0]
    with pytest.raises(TypeError):
        arg.attr = pfm3.pfmlib_event_t()


# ---- what is refused -------------------------------------------------------------------------------------------------

def test_fields_that_are_not_there() -> None:
    for struct in STRUCTURES:
        with pytest.raises(AttributeError, match="nothing"):
            struct().nothing = 5
        with pytest.raises(TypeError, match=f"{struct.__name__} has no field 'nothing'; "):
            struct(nothing=5)
    assert not [name for struct in STRUCTURES for name, *_ in struct._fields_ if hasattr(Structure, name)]
    with pytest.raises(TypeError, match="too many initializers"):
        pfm3.pfmlib_reg_t(*range(9))


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
    for copied in COPIES:
        other = copied(one)
        assert (type(other), other.number) == (Named, 7)
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    assert pfm3.pfm_get_cycle_event(one) == 0
    assert one.number == 179


# ---- addresses ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("path", "error", "said"), [
    (("nothing",), AttributeError, "byref(): pfmlib_input_param_t has no field 'nothing'; it has pfp_event_count, "),
    (("pfp_events", 3, "nothing"), AttributeError, "byref(): pfmlib_event_t has no field 'nothing'; it has event, "),
    (("pfp_event_count", "x"), AttributeError, "c_uint has no field 'x'"), (("pfp_events", 512), IndexError, "512"),
    (("pfp_events", -1, "event"), IndexError, "-1"), (("pfp_event_count", 3), TypeError, "no element 3"),
    ((None,), TypeError, "NoneType"), ((1.0,), TypeError, "float"),
])
def test_a_path_that_leads_nowhere(path: tuple[Any, ...], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        byref(pfm3.pfmlib_input_param_t(), *path)
    assert said in str(caught.value)


def test_paths() -> None:
    inp = pfm3.pfmlib_input_param_t()
    start = ctypes.addressof(inp)
    places: dict[tuple[Any, ...], int] = {
        (): 0, (8,): 8, ("pfp_events", 3): 16 + 3 * 232, ("pfp_events", 3, "unit_masks", 2): 16 + 3 * 232 + 16 + 8}
    for path, offset in places.items():
        assert (ctypes.cast(byref(inp, *path), ctypes.c_void_p).value or 0) - start == offset
    attr = pfm4.perf_event_attr()
    assert repr(byref(attr, "sample_freq")) == repr(byref(attr, 16))  # a member of a union without a name
    with pytest.raises(TypeError, match="'exclude_user' is a bit-field, which has no address"):
        byref(attr, "exclude_user")
    arg = pfm4.pfm_perf_encode_arg_t(attr=pointer(attr))
    with pytest.raises(TypeError, match="no path leads through a pointer to 'size'"):
        byref(arg, "attr", "size")


def test_an_address_keeps_its_structure() -> None:
    structure = pfm3.pfmlib_input_param_t()
    alive = weakref.ref(structure)
    address = byref(structure, "pfp_events", 5, "event")
    del structure
    gc.collect()
    assert alive() is not None
    del address
    gc.collect()
    assert alive() is None


def test_an_offset_is_looked_at() -> None:
    """ctypes keeps it from Python: of byref(x, n), _obj is x."""
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0
    numbers = (pfm3.c_uint * 4)()
    assert pfm3.pfm_find_event("CPU_CYCLES", byref(numbers, 8)) == 0
    assert numbers[:] == [0, 0, 179, 0]
    event = pfm3.pfmlib_event_t()
    assert pfm3.pfm_find_event("CPU_CYCLES", byref(event, 4)) == 0
    assert event == pfm3.pfmlib_event_t(plm=179)
    for obj, offset in ((numbers, 6), (numbers, 16), (numbers, -4), (event, 8), (event, 1), (pfm3.c_uint(), 4), (pfm3.c_int(), 0)):
        with pytest.raises(TypeError, match=r"idx wants unsigned int \*, not byref\(\) of "):
            pfm3.pfm_find_event("CPU_CYCLES", byref(obj, offset))


@pytest.mark.parametrize(("call", "kind"), [
    (lambda: pfm3.pfm_find_event("CPU_CYCLES", "4"), "ctypes.c_uint"),
    (lambda: pfm3.pfm_get_event_description(4, 4), "ctypes.c_char_p"),
    (lambda: pfm4.pfm_get_pmu_info(1, "glm"), "pfm_pmu_info_t")])
def test_what_to_write_for_a_pointer_is_said(call: Callable[[], object], kind: str) -> None:
    """The mirrors have classes of their own for structures, and ctypes' for numbers."""
    with pytest.raises(TypeError, match=rf"write {re.escape(kind)}\(\), byref\({re.escape(kind)}\(\)\)"):
        call()


def test_three_near_members_are_enough() -> None:
    with pytest.raises(TypeError, match=r"has no field 'pfp_mont_iea'; the nearest are \w+, \w+, \w+$"):
        pfm3.pfmlib_mont_input_param_t(pfp_mont_iea=1)


def test_a_structure_of_zeros_in_a_notebook() -> None:
    assert "<td>all 0</td>" in pfm3.pfmlib_event_t()._repr_html_()
    assert "all 0" not in pfm3.pfmlib_event_t(event=5)._repr_html_()


def test_an_array_in_a_notebook_has_those_that_are_not_0() -> None:
    given = pfm3.pfmlib_input_param_t(pfp_event_count=1)
    given.pfp_events[2].event = 5
    assert re.findall(r"<div>\[(\d+)\]", given._repr_html_()) == ["2"]


def test_codes_that_c_allocates_are_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left for the caller to free: the pointer keeps an array of Python's."""
    monkeypatch.delenv("LIBPFM_FORCE_PMU", raising=False)
    pfm4.pfm_terminate()  # as other tests have it
    pfm4.pfm_initialize()
    codes, count = pfm4.POINTER(pfm4.c_uint64)(), pfm4.c_int()
    assert pfm4.pfm_get_event_encoding("PERF_COUNT_HW_INSTRUCTIONS", pfm4.PFM_PLM3, None, None, pfm4.byref(codes), pfm4.byref(count)) == 0
    assert [codes[n] for n in range(count.value)] == [1]
    assert codes._objects


@pytest.mark.parametrize(("offset", "room"), [(0, 16), (4, 12), (15, 1), (16, 0), (17, -1), (-1, 0), (-16, 0)])
def test_room_from_where_a_reference_points_to(offset: int, room: int) -> None:
    """Fewer than 1 outside of its object."""
    assert room_at(ctypes.byref(ctypes.create_string_buffer(16), offset)) == room
