"""A foreign library, called through the types of our own header."""

from __future__ import annotations

import ctypes
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from pypfm.config import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from _cffi_backend import FFI

__all__ = ["Functions", "Guarded", "MissingFunctionError", "api_module", "bytes_of", "loaded_file", "symbol",
           "text_at"]

GUARD = 64  # bytes behind what a library may write
_FILL = 0xEE


class MissingFunctionError(Exception):
    """A function that the library does not export."""


class Functions:
    """The functions of a library, as attributes; each has the signature that our header gives it.

    :param handle: the library, loaded
    :param ffi: of our extension module of the same API
    :param lib: likewise
    :ivar lib: likewise
    :raises MissingFunctionError: when one is asked for that the library does not export
    """

    def __init__(self, handle: ctypes.CDLL, ffi: FFI, lib: Any) -> None:
        self._handle, self._ffi, self.lib = handle, ffi, lib

    def __getattr__(self, name: str) -> Callable[..., Any]:
        address = symbol(self._handle, name)
        if address is None:
            raise MissingFunctionError(name)
        function: Any = self._ffi.cast(self.signature(name), address)
        setattr(self, name, function)
        return cast("Callable[..., Any]", function)

    def signature(self, name: str) -> Any:
        """The C type of a function."""
        return self._ffi.typeof(getattr(self.lib, name))

    def names(self, prefix: str) -> list[str]:
        """The functions that our headers declare under a prefix, exported or not."""
        return [name for name in dir(self.lib) if name.startswith(prefix) and callable(getattr(self.lib, name))]


def api_module(api: str) -> tuple[FFI, Any]:
    """ffi and lib of our own extension module of an API."""
    module = import_module(f"pypfm._{LIBRARIES[api].module}")
    return module.ffi, module.lib


def symbol(handle: ctypes.CDLL, name: str) -> int | None:
    """The address of an exported symbol, or None."""
    try:
        return ctypes.cast(getattr(handle, name), ctypes.c_void_p).value
    except (AttributeError, UnicodeDecodeError):  # the second: no such symbol in a file whose path is no UTF-8
        return None


def loaded_file(address: int) -> str:
    """The file that is mapped at an address of this process, or ""."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(maxsplit=5)
            low, high = (int(end, 16) for end in fields[0].split("-"))
            if low <= address < high and len(fields) > 5:
                return _unescaped(fields[5])
    return ""


def _unescaped(name: str) -> str:
    """The name of a mapped file: the kernel writes a line feed as four characters."""
    return name if os.path.exists(name) else name.replace(r"\012", "\n")


class Guarded:
    """Memory that a library writes into, with guard bytes behind it.

    :param ctype: what it holds; zero at first
    :ivar pointer: to hand to the library
    """

    def __init__(self, ffi: FFI, ctype: Any, size: int | None = None, fill: int = 0) -> None:
        self._size = ffi.sizeof(ctype) if size is None else size
        self._memory: Any = ffi.new("unsigned char[]", self._size + GUARD)
        self._bytes: Any = ffi.buffer(self._memory)
        if fill:
            self._bytes[:self._size] = bytes([fill]) * self._size
        self._bytes[self._size:] = bytes([_FILL]) * GUARD
        self.pointer: Any = ffi.cast(ffi.getctype(ctype, "*"), self._memory)

    @property
    def overrun(self) -> bool:
        """Whether the library wrote behind the end."""
        return bool(self._bytes[self._size:] != bytes([_FILL]) * GUARD)


def bytes_of(text: str, encoding: str = "utf-8") -> bytes:
    """A text as the bytes of a C string."""
    return text.encode(encoding, "surrogateescape")


def text_at(ffi: FFI, pointer: Any) -> str | None:
    """The C string at a pointer, byte for byte as Latin-1; None for NULL."""
    return cast(bytes, ffi.string(pointer)).decode("latin-1") if pointer else None
