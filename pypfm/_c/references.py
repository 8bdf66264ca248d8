"""Addresses of ctypes objects and of their parts: the result of byref(), and the object that it points to.

``byref(x, n)`` of ctypes keeps its offset from Python: its ``_obj`` is x, whatever n is. So where it points to is
worked out from the addresses, and what lies there from the types.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pypfm._c.convert import whole

if TYPE_CHECKING:
    from _ctypes import _CArgObject, _CData

__all__ = ["Reference", "address_in", "byref", "lies_at", "offset_of", "part_at", "room_at"]

#: The type of what byref() returns.
Reference: Any = type(ctypes.byref(ctypes.c_int()))


def byref(obj: _CData, *path: str | int) -> _CArgObject:
    """Return the address of an object, or of a member of it: &obj, &obj.member.

    :param obj: a ctypes object
    :param path: names of members, and indices of arrays that are members: ``byref(inp, "pfp_events", 3, "event")``.
        One number alone is an offset in bytes, as in ctypes
    :raises TypeError: it is none of these
    :raises AttributeError: it has no such member
    :raises IndexError: an array has no such element
    :return: what ``ctypes.byref()`` returns; it keeps the object, and of a part the whole
    """
    if not path:
        return ctypes.byref(obj)
    try:
        return ctypes.byref(obj, _offsets[type(obj), path])
    except (KeyError, TypeError):  # a path that was not asked for yet; numbers that have no hash
        steps = tuple(step if isinstance(step, str) else whole(step) for step in path)
    if len(steps) == 1 and isinstance(steps[0], int):
        return ctypes.byref(obj, steps[0])
    offset = _offsets[type(obj), steps] = offset_of(type(obj), *steps)
    return ctypes.byref(obj, offset)


_offsets: dict[tuple[type, tuple[str | int, ...]], int] = {}  # of members, that byref() was asked for, by type and path


def offset_of(kind: Any, *path: str | int) -> int:
    """Return the offset of a member in a type, in bytes."""
    offset = 0
    for step in path:
        if isinstance(step, str):
            at, kind = _member(kind, step)
            offset += at
        else:
            if not issubclass(kind, ctypes.Array):
                raise TypeError(f"byref(): a {kind.__name__} has no element {step}")
            if not 0 <= step < kind._length_:
                raise IndexError(f"byref(): there is no element {step} of {kind._length_}")
            kind = kind._type_
            offset += step * ctypes.sizeof(kind)
    return offset


def _member(kind: Any, name: str) -> tuple[int, Any]:
    """Return the offset and the type of a member, also if it belongs to an unnamed member."""
    if issubclass(kind, ctypes._Pointer):
        raise TypeError(f"byref(): no path leads through a pointer to {name!r}; begin with the pointer's contents")
    for base in kind.__mro__:
        for member, inner, *bits in base.__dict__.get("_fields_", ()):
            if member == name:
                if bits:
                    raise TypeError(f"byref(): {name!r} is a bit-field, which has no address")
                return getattr(kind, name).offset, inner
            if member in base.__dict__.get("_anonymous_", ()) and hasattr(inner, name):
                at, found = _member(inner, name)
                return base.__dict__[member].offset + at, found
    names = ", ".join(member for base in kind.__mro__ for member, *_ in base.__dict__.get("_fields_", ()))
    raise AttributeError(f"byref(): {kind.__name__} has no field {name!r:.200}{'; it has ' if names else ''}{names}")


def address_in(reference: Any) -> tuple[int, int]:
    """Return the address that byref() points to, and its offset in its object."""
    address = ctypes.cast(reference, ctypes.c_void_p).value or 0
    return address, address - ctypes.addressof(reference._obj)


def room_at(reference: Any) -> int:
    """Return how many bytes of its object follow the place that byref() points to; less than 1 outside of it."""
    offset = address_in(reference)[1]
    return ctypes.sizeof(reference._obj) - offset if offset >= 0 else 0


@cache
def lies_at(kind: Any, offset: int, wanted: Any) -> bool:
    """Tell whether another type has an object of the wanted type, all of it, at an offset."""
    if offset == 0 and issubclass(kind, wanted):
        return True
    if issubclass(kind, ctypes.Array):
        size = ctypes.sizeof(kind._type_)
        return 0 <= offset < ctypes.sizeof(kind) and lies_at(kind._type_, offset % size, wanted)
    return any(lies_at(inner, offset - at, wanted) for at, inner in _parts(kind)
               if at <= offset < at + ctypes.sizeof(inner))


def _parts(kind: Any) -> Iterator[tuple[int, Any]]:
    """Yield offset and type of each member that has an address."""
    for base in kind.__mro__:
        for name, inner, *bits in base.__dict__.get("_fields_", ()):
            if not bits:
                yield getattr(kind, name).offset, inner


def part_at(reference: Any, kind: Any) -> Any:
    """Return the object of a type that byref() points to: the whole, or a structure in an array; or None."""
    part, offset = reference._obj, address_in(reference)[1]
    while isinstance(part, ctypes.Array) and 0 <= offset < ctypes.sizeof(part):
        inner = cast(Any, part)._type_
        if not issubclass(inner, (ctypes.Array, ctypes.Structure, ctypes.Union)):
            return None
        part, offset = part[offset // ctypes.sizeof(inner)], offset % ctypes.sizeof(inner)
    return part if offset == 0 and isinstance(part, kind) else None
