"""The names that a program needs beside a library's own: ctypes' variables, arrays and pointers, in each mirror.

All are ctypes' own and behave as there, but for `byref`, which takes a member, too.
"""

from __future__ import annotations

from ctypes import (
    POINTER,
    c_char_p,
    c_int,
    c_long,
    c_longlong,
    c_size_t,
    c_uint,
    c_uint64,
    c_ulong,
    create_string_buffer,
    pointer,
    sizeof,
)

from pypfm._c.references import byref

__all__ = [
    "POINTER", "byref", "c_char_p", "c_int", "c_long", "c_longlong", "c_size_t", "c_uint", "c_uint64", "c_ulong",
    "create_string_buffer", "pointer", "sizeof",
]
