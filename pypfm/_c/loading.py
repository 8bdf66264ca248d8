"""Libraries that others built, loaded and called through the types of our own headers.

The mirror of any libpfm 4 (`pypfm.pfm4.load`) and the conformance tests use it.  A library is loaded so that its names
are seen by nobody else (RTLD_LOCAL), and its functions are called by address.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from pypfm._c.elf import unsuitable

if TYPE_CHECKING:
    from collections.abc import Callable

    from _cffi_backend import FFI

__all__ = ["Functions", "MissingFunctionError", "RefusedError", "loaded", "loaded_file", "loader_words", "private_copy",
           "symbol"]

_WHERE = """\
import ctypes, sys
sys.path[:] = eval(sys.argv[3])
from pypfm._c.loading import loaded_file, symbol
file = loaded_file(symbol(ctypes.CDLL(sys.argv[1]), sys.argv[2]))
sys.stdout.buffer.write(file.encode("utf-8", "surrogateescape"))
"""


# Made once: each CDLL is a circle of objects, which a process without garbage collection keeps for ever.
_dlsym = ctypes.CDLL(None).dlsym
_dlsym.argtypes, _dlsym.restype = (ctypes.c_void_p, ctypes.c_char_p), ctypes.c_void_p


class MissingFunctionError(Exception):
    """A function that the library does not export."""


class RefusedError(Exception):
    """A file that cannot be loaded; its argument says why."""


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
        if not address:
            raise MissingFunctionError(name)
        function: Any = self._ffi.cast(self.signature(name), address)
        setattr(self, name, function)
        return cast("Callable[..., Any]", function)

    def signature(self, name: str) -> Any:
        """Return the C type of a function."""
        return self._ffi.typeof(getattr(self.lib, name))

    def names(self, prefix: str) -> list[str]:
        """Return the functions that our headers declare under a prefix, exported or not."""
        return [name for name in dir(self.lib) if name.startswith(prefix) and callable(getattr(self.lib, name))]


_dlsym = ctypes.CDLL(None).dlsym  # looked up once: each look-up takes memory for good
_dlsym.argtypes, _dlsym.restype = (ctypes.c_void_p, ctypes.c_char_p), ctypes.c_void_p


def symbol(handle: ctypes.CDLL, name: str) -> int:
    """Return the address of an exported symbol, or 0 if there is none, where ctypes' own look-up would crash."""
    return _dlsym(handle._handle, name.encode()) or 0  # of a NULL ctypes makes None


def loader_words(path: str) -> str:
    """Return the loader's own words why it refuses a library."""
    libc = ctypes.CDLL(None)
    libc.dlerror.restype = ctypes.c_char_p
    libc.dlopen(os.fsencode(path), os.RTLD_NOW)
    return os.fsdecode(libc.dlerror() or b"")


def loaded_file(address: int) -> str:
    """Return the file that is mapped at an address of this process, or ""."""
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(maxsplit=5)
            low, high = (int(end, 16) for end in fields[0].split("-"))
            if low <= address < high and len(fields) > 5:
                return _unescaped(fields[5])
    return ""


def _unescaped(name: str) -> str:
    """Unescape the name of a mapped file: the kernel writes a line feed as four characters."""
    return name if os.path.exists(name) else name.replace(r"\012", "\n")


def loaded(path: str, mark: str) -> ctypes.CDLL:
    """Load a library.

    :param path: a file, or without a slash a name that the loader looks up as it does for a new process
    :param mark: a function that it is expected to have
    :raises RefusedError: it cannot be loaded
    """
    if "/" not in path and _is_there(path):
        path = _looked_up(path, mark) or path
    if "/" in path and (reason := unsuitable(path)):
        raise RefusedError(reason)
    file = path
    try:
        if "/" in path and not os.path.isabs(path):  # the loader takes equal names for the same library
            file = os.path.join(os.getcwd(), path)
        handle = ctypes.CDLL(file)
        while "/" in path and _is_replaced(handle, mark, file):
            file = os.path.join(os.path.dirname(file), ".", os.path.basename(file))
            handle = ctypes.CDLL(file)
        return handle
    except (OSError, ValueError) as error:
        # The loader's words with a path in them that is no UTF-8 are an exception, or lost (Python 3.11.2).
        words = os.fsdecode(error.object) if isinstance(error, UnicodeDecodeError) else str(error)
        raise RefusedError((words or loader_words(file)).removeprefix(f"{file}: ")) from None


def _is_replaced(handle: ctypes.CDLL, mark: str, file: str) -> bool:
    """Tell whether the file of a loaded library has been replaced by another one since."""
    name, deleted, rest = loaded_file(symbol(handle, mark)).rpartition(" (deleted)")
    return bool(deleted) and not rest and os.path.exists(file) and os.path.realpath(file) == name


def _is_there(name: str) -> bool:
    """Tell whether the process has a library of this name: the loader would take it, from whatever place it is."""
    libc = ctypes.CDLL(None)
    libc.dlopen.restype, libc.dlopen.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int)
    return bool(libc.dlopen(os.fsencode(name), os.RTLD_NOW | os.RTLD_NOLOAD))


def _looked_up(name: str, mark: str) -> str:
    """Return the file that a process without a library of that name finds, or ""."""
    done = subprocess.run([sys.executable, "-I", "-c", _WHERE, name, mark, repr(sys.path)], capture_output=True,
                          check=False)
    return os.fsdecode(done.stdout)


def private_copy(handle: ctypes.CDLL, mark: str) -> ctypes.CDLL:
    """Load the same library once more, with variables of its own, which no other user of the library sees.

    Where the system does not allow that, the library itself.  The copy is memory with a name that no library of the
    process has: the loader takes equal names for the same library, and descriptors are used again.
    """
    with suppress(OSError):
        with open(loaded_file(symbol(handle, mark)), "rb") as file:
            data = file.read()
        with open(os.memfd_create("libpfm", os.MFD_CLOEXEC), "wb") as memory:
            memory.write(data)
            memory.flush()
            name = f"/proc/self/fd/{memory.fileno()}"
            while _is_there(name):
                name = name.replace("fd/", "fd/./", 1)
            return ctypes.CDLL(name)
    return handle
