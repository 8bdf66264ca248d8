"""The members of ctypes structures and unions: the bits that they have, and how they are written as Python."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache, reduce
from operator import or_
from typing import Any, cast

__all__ = ["no_member", "pointers_in", "text", "used_bits", "written"]

_MANY = 0x10000  # from here on numbers are written in hexadecimal


def _is_aggregate(kind: Any) -> bool:
    return issubclass(kind, (ctypes.Structure, ctypes.Union))


def fields_of(cls: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield each member's name, type, and whether it is a bit-field; members of unnamed members are included."""
    for base in cls.__mro__[::-1]:  # a user's class may have more
        for name, kind, *bits in base.__dict__.get("_fields_", ()):
            if name in base.__dict__.get("_anonymous_", ()):
                yield from fields_of(kind)
            else:
                yield name, kind, bool(bits)


@cache
def used_bits(kind: Any) -> int:
    """Return the used bits of a type as one number: all but the padding between and after its members."""
    if issubclass(kind, ctypes.Array):
        one = used_bits(kind._type_).to_bytes(ctypes.sizeof(kind._type_), "little")
        return int.from_bytes(one * kind._length_, "little")
    if _is_aggregate(kind):
        return reduce(or_, _masks(kind).values(), 0)
    return (1 << 8 * ctypes.sizeof(kind)) - 1


@cache
def _masks(cls: Any) -> dict[str, int]:
    """Return the bits of each member."""
    return {name: _bits_of_field(cls, name) if bits else used_bits(kind) << 8 * getattr(cls, name).offset
            for name, kind, bits in fields_of(cls)}


def _bits_of_field(cls: Any, name: str) -> int:
    one = cls()
    setattr(one, name, -1)
    return int.from_bytes(bytes(one), "little")


@cache
def _members(cls: Any) -> tuple[str, ...]:
    """Return names of members that hold everything: of overlapping ones the largest, of equal ones the first."""
    chosen: dict[str, int] = {}
    for name, mask in _masks(cls).items():
        others = [other for other in chosen if chosen[other] & mask]
        if mask.bit_count() > sum(chosen[other].bit_count() for other in others):
            chosen = {other: m for other, m in chosen.items() if other not in others} | {name: mask}
    return tuple(chosen)


def written(structure: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members that are not 0 as a program writes them: arrays as tuples, without zeros at their end."""
    for name in _members(structure.__class__):
        value = getattr(structure, name)
        if isinstance(value, ctypes.Array):
            used = len(bytes(value).rstrip(b"\0"))
            value = tuple(value[:-(-used // ctypes.sizeof(cast(Any, value)._type_))]) if used else ()
        if any(bytes(value)) if _is_aggregate(type(value)) else value:
            yield name, value


def text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(text, value))}{',' * (len(value) == 1)})"
    if isinstance(value, ctypes._Pointer):
        return f"<{type(value).__name__} to {ctypes.cast(value, ctypes.c_void_p).value:#x}>"
    return hex(value) if type(value) is int and abs(value) >= _MANY else repr(value)


def no_member(cls: Any, members: dict[str, object]) -> str:
    """Return the message that a class does not have a member."""
    from difflib import get_close_matches
    known = [name for name, *_ in fields_of(cls)]
    wrong = next((name for name in members if name not in known), "")
    near = get_close_matches(wrong, known, 3)
    return (f"{cls.__name__} has no field {wrong!r:.200}; " + (
        f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else f"it has {', '.join(known)}"))


def pointers_in(structure: Any) -> Iterator[bool]:
    """Yield for each pointer in a structure whether it is set."""
    for name, kind, _ in fields_of(type(structure)):
        if issubclass(kind, (ctypes.c_char_p, ctypes.c_void_p, ctypes._Pointer)):
            yield bool(getattr(structure, name))
        elif _is_aggregate(kind):
            yield from pointers_in(getattr(structure, name))
