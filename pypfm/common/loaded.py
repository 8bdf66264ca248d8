"""Any libpfm 4 as the mirror `pypfm.pfm4`; other files are refused with a message."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pypfm._c import another, names, pfm4_api
from pypfm._c.loading import Functions, RefusedError, loaded, loaded_file, symbol
from pypfm._c.pfm4 import ffi, lib
from pypfm.common.arguments import expect_type
from pypfm.errors import InvalidValueError, LibraryError, LibraryFunctionError, named, shown

if TYPE_CHECKING:
    import ctypes

__all__ = ["DEFAULT", "MARK", "LoadedLibrary", "libpfm4", "library_of", "opened"]

#: A function that every libpfm 4 has, and no libpfm 3.
MARK = "pfm_get_pmu_info"
#: The libpfm 4 of the system.
DEFAULT = "libpfm.so.4"
_MARK_OF_3 = "pfm_dispatch_events"
_libraries: dict[int, LoadedLibrary] = {}  # by handle: the loader gives the same one for the same file


class LoadedLibrary(ModuleType):
    """The names of `pypfm.pfm4`, bound to a library.

    :ivar library: its file
    """

    library: str

    def __repr__(self) -> str:
        return f"<pypfm.pfm4 of {named(self.library)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return libpfm4, (self.library,)


def opened(path: str | os.PathLike[str]) -> tuple[ctypes.CDLL, str]:
    """Load a libpfm 4, and return it with its file.

    :raises LibraryError: it cannot be loaded, or is no libpfm 4
    """
    expect_type(path, (str, os.PathLike), "library")
    name = os.fspath(path)
    expect_type(name, str, "library")
    if not name or "\0" in name:
        raise InvalidValueError(f"library={shown(name)}: expected a file or its name, such as libpfm.so.4")
    try:
        handle = loaded(name, MARK)
    except RefusedError as error:
        raise LibraryError(f"{named(name)} cannot be loaded: {error}") from None
    mark = symbol(handle, MARK)
    if not mark:
        what = "a libpfm 3, not a libpfm 4" if symbol(handle, _MARK_OF_3) else "no libpfm 4"
        raise LibraryError(f"{named(name)} is {what}: it has no {MARK}()")
    return handle, loaded_file(mark) or name


def library_of(handle: ctypes.CDLL, file: str) -> another.Library:
    """Return a stand-in for ``lib`` of a library's mirror."""
    def missing(name: str) -> LibraryFunctionError:
        return LibraryFunctionError(
            f"{named(file)} has no {name}(), which libpfm 4.13.0 has; a newer libpfm 4 is needed")

    return another.Library(Functions(handle, ffi, lib), pfm4_api, missing)


def libpfm4(path: str | os.PathLike[str] = DEFAULT) -> LoadedLibrary:
    """Return the mirror of a library (`pypfm.pfm4.load`)."""
    handle, file = opened(path)
    known = _libraries.get(handle._handle)
    if known is not None:
        return known
    library = library_of(handle, file)
    made = LoadedLibrary("pypfm.pfm4", f"The names of pypfm.pfm4 on {named(file)}.")
    made.library = file
    found: dict[str, Any] = {name: getattr(pfm4_api, name) for name in pfm4_api.__all__}
    found |= another.functions_of(pfm4_api, ffi, library)
    found |= {name: getattr(names, name) for name in names.__all__}
    found |= {"ffi": ffi, "lib": library, "load": libpfm4}
    vars(made).update(found, __all__=sorted(found))
    return _libraries.setdefault(handle._handle, made)
