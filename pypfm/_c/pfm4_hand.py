"""Functions of libpfm 4 whose call from Python needs more than the generated wrapper.

What C allocates for the caller - the fully qualified string, the array of codes - comes back as
Python's own memory, and C's is freed.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from pypfm._c.mirror import REFUSED, Calls, bytes_at, integer, owner, take_string, text
from pypfm._c.pfm4 import ffi, lib

if TYPE_CHECKING:
    from _cffi_backend import FFI

__all__ = ["Hand"]

_Codes: Any = ctypes.POINTER(ctypes.c_uint64)
_NONE, _PERF, _EXT = lib.PFM_OS_NONE, lib.PFM_OS_PERF_EVENT, lib.PFM_OS_PERF_EVENT_EXT


def _own_codes(theirs: Any, count: int) -> Any:
    """Copy the codes that C allocated into an array of Python's, and free C's."""
    ours = (ctypes.c_uint64 * count)(*theirs[0:count])
    lib.free(ffi.cast("void *", ctypes.cast(theirs, ctypes.c_void_p).value or 0))
    return ours


class Hand:
    """The functions, of our library or of another libpfm 4.

    :param lib: the library
    :param call: calls of its functions
    """

    def __init__(self, _ffi: FFI, lib: Any, call: Calls) -> None:
        self._lib, self._call = lib, call
        self._layer = integer(ffi.typeof("pfm_os_t *"))
        self._levels = call.converter(dict(call.parameters["pfm_get_os_event_encoding"])["dfl_plm"])
        perf = call.converter("pfm_perf_encode_arg_t *")
        self._layers = {_NONE: call.converter("pfm_pmu_encode_arg_t *"), _PERF: perf, _EXT: perf}

    def pfm_get_os_event_encoding(self, str: object, dfl_plm: int, os: int, args: Any) -> int:
        """Call C; args is pfm_pmu_encode_arg_t or pfm_perf_encode_arg_t, and must fit os."""
        try:
            layer = self._layer(os)
        except REFUSED:
            layer = None
        wanted = self._layers.get(layer)
        if wanted is None:  # C refuses, and does not look at the structure
            return self._call("pfm_get_os_event_encoding", str, dfl_plm, os, args)
        try:
            given: Any = text(str), self._levels(dfl_plm), layer, wanted(args)
        except REFUSED:
            given = self._call.arguments("pfm_get_os_event_encoding", (str, dfl_plm, os, args), args=wanted)
        name = "pfm_pmu_encode_arg_t" if layer == _NONE else "pfm_perf_encode_arg_t"
        structure = owner(args, self._call.classes[name])
        if structure is None:
            return int(self._lib.pfm_get_os_event_encoding(*given))
        if layer == _NONE:
            self._expect_room("pfm_get_os_event_encoding(): codes", structure.codes, structure.count)
        allocates = layer == _NONE and not structure.codes
        cell = owner(structure.fstr, ctypes.c_char_p) if structure.fstr else None
        before = cell and bytes(cell)
        ret = int(self._lib.pfm_get_os_event_encoding(*given))
        if ret == 0 and allocates and structure.codes:
            structure.codes = _own_codes(structure.codes, structure.count)
        if cell is not None and bytes(cell) != before:
            take_string(cell, lib.free)
        return ret

    def _expect_room(self, name: str, codes: Any, count: int) -> None:
        """Refuse an array of Python's that is shorter than C is told."""
        there = bytes_at(codes) if codes else None
        if there is not None and 8 * count > there:
            raise ValueError(f"{name} is too short: count is {count}, but it has only {there // 8} elements")

    def pfm_get_event_encoding(self, str: object, dfl_plm: int, fstr: object, idx: object,
                               codes: Any, count: object) -> int:
        """Call C; codes is byref() of a POINTER(c_uint64)(), for C to fill if it is NULL."""
        given = self._call.arguments("pfm_get_event_encoding", (str, dfl_plm, fstr, idx, codes, count))
        string, array = owner(fstr, ctypes.c_char_p), owner(codes, _Codes)
        if array:
            self._expect_room("pfm_get_event_encoding(): codes", array, given[5][0] if given[5] else 0)
        before, allocates = string and bytes(string), array is not None and not array
        ret = int(self._lib.pfm_get_event_encoding(*given))
        if ret == 0 and allocates and array:
            array.contents = ctypes.c_uint64.from_buffer(_own_codes(array, given[5][0]))
        if string is not None and bytes(string) != before:
            take_string(string, lib.free)
        return ret
