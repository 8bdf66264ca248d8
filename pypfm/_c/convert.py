"""Conversions between values of C and of Python: strings, whole numbers."""

from __future__ import annotations

from operator import index
from typing import Any, cast

from _cffi_backend import FFI

__all__ = ["decoded", "string", "string_or_none", "whole"]

_ffi = FFI()  # for types that belong to no library


def decoded(data: bytes) -> str:
    """Decode bytes of C as text; bytes that are no UTF-8 can be encoded again."""
    return data.decode("utf-8", "surrogateescape")


def string(pointer: Any) -> str:
    """Return the C string at a cffi pointer as a str."""
    return decoded(cast(bytes, _ffi.string(pointer)))


def string_or_none(pointer: Any) -> str | None:
    """Return the C string at a cffi pointer as a str, or None for NULL."""
    return string(pointer) if pointer else None


def whole(value: Any) -> int:
    """Convert to an int: all that operator.index() takes, and numpy's bool, which it does not take.

    :raises TypeError: it is none
    """
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ in {"bool", "bool_"}:
        return int(value)  # before index(), of which numpy 2.2 warns
    return index(value)
