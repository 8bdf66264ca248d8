"""The checks that all arguments go through: one kind of error for each kind of mistake."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from itertools import islice
from numbers import Real
from typing import Any, SupportsIndex, TypeVar

from pypfm._c.convert import whole
from pypfm.errors import DecodeError, InvalidTypeError, InvalidValueError, listed, shown

__all__ = [
    "expect_choice", "expect_file", "expect_flag", "expect_int", "expect_items", "expect_iterable", "expect_number",
    "expect_size", "expect_type", "expect_word", "utf8",
]

T = TypeVar("T")
_MOST_ITEMS = 4096


def expect_type(value: object, types: type | tuple[type, ...], what: str) -> None:
    """Refuse an argument of another type.

    :raises InvalidTypeError: the value has none of these types
    """
    if not isinstance(value, types):
        raise _wrong_type(value, types, what)


def _wrong_type(value: object, types: type | tuple[type, ...], what: str) -> InvalidTypeError:
    names = " or ".join(t.__name__ for t in (types if isinstance(types, tuple) else (types,)))
    return InvalidTypeError(f"{what}: expected {names}, not {type(value).__name__} ({shown(value)})")


def expect_int(value: Any, what: str) -> int:
    """Return a plain int for an int or an object that stands for one (as numpy's and bool do).

    :raises InvalidTypeError: it is none
    """
    if type(value) is int:
        return value
    try:
        return whole(value)
    except TypeError:
        raise _wrong_type(value, int, what) from None


def expect_number(value: Any, what: str) -> float:
    """Return a number as Python's own int or float; fractions and numpy's floats become floats.

    :raises InvalidTypeError: it is none
    """
    if type(value) is float:
        return value
    try:
        return whole(value)
    except TypeError:
        if isinstance(value, Real):
            return float(value)
        raise _wrong_type(value, (int, float), what) from None


def expect_size(value: object, what: str, bits: int, *, lowest: int = 0, meaning: str = "") -> int:
    """Return a whole number that has no more than this many bits.

    :param lowest: the smallest that is allowed
    :param meaning: what it stands for, in the message
    :raises InvalidTypeError: it is no whole number
    :raises InvalidValueError: it is smaller, or has more bits
    """
    found = expect_int(value, what)
    if not lowest <= found < 1 << bits:
        raise InvalidValueError(f"{what} {shown(found)}: {meaning}{lowest} to 2^{bits} - 1")
    return found


def expect_flag(value: object, what: str) -> bool:
    """Return a switch as a bool: it is True or False, or 1 or 0.

    :raises InvalidTypeError: it is none: a text would be True whatever it says
    """
    try:
        number = whole(value)
    except TypeError:
        number = -1
    if number not in (0, 1):
        raise InvalidTypeError(f"{what}: expected True or False, not {type(value).__name__} ({shown(value)})")
    return bool(number)


def expect_file(value: str | os.PathLike[str], what: str) -> str:
    """Return the name of a file, which may be given as a path of pathlib.

    :raises InvalidTypeError: it is none
    """
    expect_type(value, (str, os.PathLike), what)
    return os.fsdecode(value)


def utf8(text: str) -> bytes:
    """Encode any text for C; text that came from a file name or an argument becomes the same bytes again."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")  # a name that nothing has


def expect_iterable(value: object, what: str) -> Iterable[Any]:
    """Return a sequence or an iterable; a text is none.

    :raises InvalidTypeError: it is no sequence
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InvalidTypeError(f"{what}: expected a sequence, not {type(value).__name__} ({shown(value)})")
    return value


def expect_items(value: object, what: str) -> tuple[Any, ...]:
    """Return the items of a sequence.

    :raises InvalidTypeError: it is no sequence
    :raises InvalidValueError: it has more items than any argument may have, or never ends
    """
    items = tuple(islice(expect_iterable(value, what), _MOST_ITEMS + 1))
    if len(items) > _MOST_ITEMS:
        raise InvalidValueError(f"{what}: more than {_MOST_ITEMS} were given")
    return items


def expect_choice(value: T, choices: Collection[T], what: str) -> T:
    """Return a value that is one of the choices.

    :raises InvalidValueError: it is another one
    """
    if value not in tuple(choices):  # a tuple: the value need not have a hash
        raise InvalidValueError(f"{what}={shown(value)}: expected one of {listed(choices)}")
    return value


def expect_word(name: str, value: SupportsIndex) -> int:
    """Return a value that fits 64 bits.

    :raises DecodeError: it does not
    :raises InvalidTypeError: it is no number
    """
    word = expect_int(value, name)
    if not 0 <= word < 1 << 64:
        raise DecodeError(f"{name}: {shown(hex(word))} does not fit 64 bits (0 to 0xffffffffffffffff)")
    return word
