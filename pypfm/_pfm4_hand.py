"""Functions of libpfm 4 whose call from Python needs more than the generated wrapper.

What C allocates for the caller - the fully qualified string, the array of codes - comes back as
Python's own memory, and C's is freed.
"""

from __future__ import annotations

import weakref
from typing import Any, cast

from pypfm._mirror import CData, Cell, argument, c_char_p, callers
from pypfm._pfm4 import ffi, lib

__all__ = ["c_uint64_array", "pfm_get_event_encoding", "pfm_get_os_event_encoding"]

_call = callers(lib).call

# The arrays that structures point to.  Those of a structure that Python owns go with it; those of
# memory owned elsewhere (an element of an array, a buffer) stay until its address is used again.
_of_objects: weakref.WeakKeyDictionary[Any, CData] = weakref.WeakKeyDictionary()
_of_addresses: dict[int, CData] = {}


class c_uint64_array(Cell["list[int] | None"]):
    """A cell for an array of codes that C allocates: a list afterwards, its memory freed.

    :ivar value: the codes, or None as long as no call has stored any
    """

    def __init__(self) -> None:
        self._cdata: Any = ffi.new("uint64_t **")
        self._codes: list[int] | None = None

    @property
    def value(self) -> list[int] | None:
        return self._codes

    @value.setter
    def value(self, value: list[int] | None) -> None:
        self._codes = value

    def take(self, count: int) -> None:
        """Turn the array that C stored into a list."""
        pointer = self._cdata[0]
        if pointer != ffi.NULL:
            self._cdata[0] = ffi.NULL
            self._codes = cast("list[int]", ffi.unpack(pointer, count))
            lib.free(pointer)


def _own_array(structure: Any) -> None:
    """Move the codes that C allocated for a structure into Python's memory."""
    arg: Any = ffi.addressof(structure)
    theirs, count = arg.codes, arg.count
    ours = cast(Any, ffi.new("uint64_t[]", count))
    ffi.memmove(ours, theirs, count * ffi.sizeof("uint64_t"))
    lib.free(theirs)
    arg.codes = ours
    address = int(cast(Any, ffi.cast("uintptr_t", arg)))
    if "owning" in repr(structure) or structure in _of_objects:  # equal if the address is
        _of_addresses.pop(address, None)
        _of_objects[structure] = ours
    else:
        _of_addresses[address] = ours


# What an encoding takes, by C type: whether it is of PFM_OS_NONE, whether it is the structure itself.
_RAW, _PERF = "pfm_pmu_encode_arg_t", "pfm_perf_encode_arg_t"
_KINDS = {
    ffi.typeof(_RAW): (True, True), ffi.typeof(f"{_RAW} *"): (True, False),
    ffi.typeof(_PERF): (False, True), ffi.typeof(f"{_PERF} *"): (False, False),
}
_OS_NONE = lib.PFM_OS_NONE
_encode, _typeof, _addressof = lib.pfm_get_os_event_encoding, ffi.typeof, ffi.addressof
_LAYERS = (_OS_NONE, lib.PFM_OS_PERF_EVENT, lib.PFM_OS_PERF_EVENT_EXT)


def pfm_get_os_event_encoding(str: object, dfl_plm: int, os: int, args: Any) -> int:
    """Call C; args is pfm_pmu_encode_arg_t or pfm_perf_encode_arg_t, and must fit os."""
    kind = None if args is None else _KINDS.get(_typeof(args))
    if kind is None:
        if args is not None and ffi.typeof(args).cname != "void *":
            message = f"os {os} wants {_RAW if os == _OS_NONE else _PERF}, not {ffi.typeof(args).cname}"
            raise TypeError(message)
        return _call(lib.pfm_get_os_event_encoding, str, dfl_plm, os, args)
    raw, is_structure = kind
    if raw != (os == _OS_NONE):
        if os not in _LAYERS:  # C refuses, and does not look at the structure
            return _call(lib.pfm_get_os_event_encoding, str, dfl_plm, os, args)
        message = f"os {os} wants {_PERF if raw else _RAW}, not {_RAW if raw else _PERF}"
        raise TypeError(message)
    if not is_structure:
        if not args:
            return _call(lib.pfm_get_os_event_encoding, str, dfl_plm, os, args)
        args = args[0]  # the object itself, if the pointer owns it
    allocates = raw and not args.codes
    ret = _encode(argument(str), dfl_plm, os, _addressof(args))
    if ret == 0:
        if allocates:
            _own_array(args)
        if args.fstr:
            c_char_p.take_at(args.fstr, lib.free)
    return ret


def pfm_get_event_encoding(str: object, dfl_plm: int, fstr: object, idx: object, codes: object,
                           count: object) -> int:
    """Call C; codes is a c_uint64_array() for C to fill, or a pointer to an array of yours."""
    ret = _call(lib.pfm_get_event_encoding, str, dfl_plm, fstr, idx, codes, count)
    if ret == 0 and isinstance(codes, c_uint64_array):
        codes.take(cast(Any, count._cdata if isinstance(count, Cell) else count)[0])
    return ret
