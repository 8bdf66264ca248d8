"""Memory for a library under test, and the library's own that has to stay; pypfm._c.loading calls its functions."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from _cffi_backend import FFI

from pypfm.config import LIBRARIES
from pypfm.conform.functions import column

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["POISON", "Given", "Guarded", "Lasting", "api_module", "bytes_of", "text_at"]

GUARD = 64  # bytes around what a library may write
POISON = 0xA5  # a byte that has not been written
_FENCE = bytes([0xEE]) * GUARD
_plain = FFI()
_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def api_module(api: str) -> tuple[FFI, Any]:
    """Return ffi and lib of our own extension module of an API."""
    module = import_module(f"pypfm._c.{LIBRARIES[api].module}")
    return module.ffi, module.lib


class Guarded:
    """Memory that a library writes into, with guard bytes on both sides.

    :param ctype: what it holds
    :param fill: each of its bytes at first; poison shows that too few are written
    :ivar pointer: to hand to the library
    """

    def __init__(self, ffi: FFI, ctype: Any, size: int | None = None, fill: int = POISON) -> None:
        self._size = ffi.sizeof(ctype) if size is None else size
        self._memory: Any = ffi.new("unsigned char[]", GUARD + self._size + GUARD)
        self._bytes: Any = ffi.buffer(self._memory)
        self._bytes[:] = _FENCE + bytes([fill]) * self._size + _FENCE
        self.pointer: Any = ffi.cast(ffi.getctype(ctype, "*"), self._memory + GUARD)

    @property
    def contents(self) -> bytes:
        """Return the bytes between the guards."""
        return bytes(self._bytes[GUARD:GUARD + self._size])

    @property
    def overrun(self) -> bool:
        """Tell whether the library wrote before the beginning or after the end."""
        return bool(self._bytes[:GUARD] != _FENCE or self._bytes[GUARD + self._size:] != _FENCE)


class Given:
    """A structure for a library to read, in which bytes without a member are poisoned: too wide a read shows.

    The memory serves one call after the other: the largest structure has 118 kB, of which a call uses little.

    :param ctype: its name
    :ivar pointer: to hand to the library
    """

    def __init__(self, ffi: Any, ctype: str) -> None:
        self._ffi, self._blank = ffi, _poisoned(ffi, ctype)
        self.pointer: Any = ffi.new(f"{ctype} *")
        self._copy: Any = ffi.new(f"{ctype} *")
        self._bytes = ffi.buffer(self.pointer)
        self._places = [int(ffi.cast("uintptr_t", pointer)) for pointer in (self.pointer, self._copy)]
        self._stale = len(self._blank)  # how many of its first bytes are not blank

    def fill(self, values: Any, used: int | None = None) -> None:
        """Replace its contents.

        :param values: its members, as cffi takes them
        :param used: how many of its first bytes they may differ in from one call to the next, members that are
            always given aside; None: all
        """
        used = len(self._blank) if used is None else used
        stale = max(used, self._stale)
        self._bytes[:stale] = self._blank[:stale]
        self._stale = used
        self.pointer[0] = values
        self._ffi.memmove(self._copy, self.pointer, len(self._blank))

    @property
    def changed(self) -> bool:
        """Tell whether the library wrote into it."""
        if _memcmp(*self._places, len(self._blank)) == 0:
            return False
        self._stale = len(self._blank)
        return True


@cache
def _poisoned(ffi: Any, ctype: str) -> bytes:
    """Return a structure of zeros, with poison between its members and after them."""
    data = bytearray([POISON]) * ffi.sizeof(ctype)
    for offset, size in _members(ffi, ffi.typeof(ctype), 0):
        data[offset:offset + size] = bytes(size)
    return bytes(data)


def _members(ffi: Any, ctype: Any, base: int) -> Iterator[tuple[int, int]]:
    """Yield offset and size of everything in a type that is no structure."""
    if ctype.kind == "array":
        size = ffi.sizeof(ctype.item)
        for n in range(ctype.length):
            yield from _members(ffi, ctype.item, base + n * size)
    elif ctype.kind in ("struct", "union"):
        for _, field in ctype.fields:
            yield from _members(ffi, field.type, base + field.offset)
    else:
        yield base, ffi.sizeof(ctype)


class Lasting:
    """The strings of a library that have to stay as they are until it is unloaded, as the headers say.

    :param api: pfm3, pfm3-manual or pfm4; None: the library is loaded only
    """

    def __init__(self, api: str | None) -> None:
        self._members = {function: {name.rpartition(".")[2] for name in names.split()}
                         for function, names in (column(api, "stays") if api else {}).items()}
        self._noted: dict[int, tuple[str, str, bytes]] = {}  # by address: function, member, what was there at first

    def note(self, function: str, member: str, pointer: Any) -> None:
        """Note a string that a call returned, if it is one that stays.

        :param member: of the structure that the call filled in; "return" for what it returned
        """
        if pointer and member in self._members.get(function, ()):
            address = int(_plain.cast("uintptr_t", pointer))
            self._noted.setdefault(address, (function, member, cast(bytes, _plain.string(pointer))))

    def changed(self) -> dict[str, dict[str, list[str]]]:
        """Return by function and member one string that has changed: as it was, and as it is."""
        found: dict[str, dict[str, list[str]]] = {}
        with Path("/proc/self/mem").open("rb", buffering=0) as memory:  # an unmapped page is an error there, no crash
            for address, (function, member, text) in self._noted.items():
                try:
                    now = os.pread(memory.fileno(), len(text) + 1, address)
                except OSError:
                    now = b"no memory any more"
                if now != text + b"\0":
                    words = [string.partition(b"\0")[0].decode("latin-1") for string in (text, now)]
                    found.setdefault(function, {}).setdefault(member, words)
        return found


def bytes_of(text: str, encoding: str = "utf-8") -> bytes:
    """Encode a text as the bytes of a C string."""
    return text.encode(encoding, "surrogateescape")


def text_at(ffi: FFI, pointer: Any) -> str | None:
    """Return the C string at a pointer, byte for byte as Latin-1; None for NULL."""
    return cast(bytes, ffi.string(pointer)).decode("latin-1") if pointer else None
