"""The layouts of the mirrors' classes are C's, and the program that compares them tells a difference."""

from __future__ import annotations

import ctypes

import pytest

import class_layouts
from pypfm._c.structures import Structure
from pypfm.layout import Member, describe, types


def test_every_member_is_where_c_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    ret = class_layouts.main()
    printed = capsys.readouterr().out
    assert ret == 0, printed
    count = sum(len(list(describe(name, library).flat())) for library in class_layouts.LIBRARIES for name in types(library))
    assert printed == f"{count} members compared, 0 differences\n"
    assert count > 1800


class Event(Structure):
    """pfmlib_event_t, in which members are others."""

    __slots__ = ()
    _fields_ = (("plm", ctypes.c_uint), ("event", ctypes.c_uint), ("flags", ctypes.c_long), ("unit_masks", ctypes.c_uint * 48),
                ("num_masks", ctypes.c_uint), ("reserved", ctypes.c_ulong * 2))


def member(name: str) -> Member:
    return next(m for path, m in describe("pfmlib_event_t").flat() if path == name)


@pytest.mark.parametrize(("name", "differs"), [
    ("event", "set to"), ("plm", "reads"), ("flags", "reads"), ("unit_masks", ""), ("num_masks", ""), ("reserved", "")])
def test_control_a_member_that_is_another_is_told(name: str, differs: str) -> None:
    found = list(class_layouts.differences(Event, 232, name, member(name)))
    assert any(differs in line for line in found) if differs else not found


def test_control_bits_that_are_others_are_told() -> None:
    class Options(Structure):
        __slots__ = ()
        _fields_ = (("pfm_debug", ctypes.c_uint, 2), ("pfm_verbose", ctypes.c_uint, 1), ("pfm_reserved", ctypes.c_uint, 29))

    for path, m in describe("pfmlib_options_t").flat():
        assert list(class_layouts.differences(Options, 4, path, m)), path
