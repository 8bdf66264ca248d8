"""Functions of libpfm 4 whose call from Python needs more than the generated wrapper.

What C allocates for the caller - the fully qualified string, the array of codes - comes back as
Python's own memory, and C's is freed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pypfm._c.mirror import REFUSED, Allocated, Calls, CData, integer, pointer_to, take, text
from pypfm._c.pfm4 import ffi, lib
from pypfm._c.structures import Part, Struct, alive, in_memory, raw

if TYPE_CHECKING:
    from _cffi_backend import FFI

__all__ = ["Hand", "c_uint64_array", "of_addresses", "of_objects"]

# The arrays that structures point to.  Those of a structure of ours go with it, also if only its address is known.
# Those of memory owned elsewhere (a buffer, ffi.new(), the address of an element) stay until it is used again.
of_objects = alive(ffi.typeof("pfm_pmu_encode_arg_t"))
of_addresses: dict[int, CData] = {}


class c_uint64_array(Allocated["list[int]"], ffi=ffi, ctype="uint64_t *"):
    """A cell for an array of codes that C allocates: a list afterwards, its memory freed.

    :ivar value: the codes, or None as long as no call has stored any
    """

    def _own(self, pointer: Any, count: int) -> list[int]:
        return cast("list[int]", ffi.unpack(pointer, count))


def _own_array(structure: Any) -> None:
    """Move the codes that C allocated for a structure into Python's memory."""
    arg: Any = ffi.addressof(raw(structure))
    theirs, count = arg.codes, arg.count
    ours = cast(Any, ffi.new("uint64_t[]", count))
    ffi.memmove(ours, theirs, count * ffi.sizeof("uint64_t"))
    lib.free(theirs)
    address = int(cast(Any, ffi.cast("uintptr_t", arg)))
    if not isinstance(structure, Part) and address in of_objects:
        structure = in_memory(structure, of_objects[address])
    structure.codes = ours
    if isinstance(structure, Part):
        of_addresses.pop(address, None)
    else:
        of_addresses[address] = ours


_layer, _levels = integer(ffi.typeof("pfm_os_t *")), integer(ffi.typeof("unsigned int *"))
_perf = pointer_to(ffi.typeof("pfm_perf_encode_arg_t *"))
_LAYERS = {
    lib.PFM_OS_NONE: pointer_to(ffi.typeof("pfm_pmu_encode_arg_t *")),
    lib.PFM_OS_PERF_EVENT: _perf, lib.PFM_OS_PERF_EVENT_EXT: _perf,
}
_VOID = ffi.typeof("void *")


class Hand:
    """The functions, of our library or of another libpfm 4.

    :param lib: the library
    :param call: calls of its functions
    """

    def __init__(self, _ffi: FFI, lib: Any, call: Calls) -> None:
        self._lib, self._call = lib, call

    def pfm_get_os_event_encoding(self, str: object, dfl_plm: int, os: int, args: Any) -> int:
        """Call C; args is pfm_pmu_encode_arg_t or pfm_perf_encode_arg_t, and must fit os."""
        try:
            layer = _layer(os)
        except REFUSED:
            layer = None
        wanted = _LAYERS.get(layer)
        if wanted is None:  # C refuses, and does not look at the structure
            return self._call("pfm_get_os_event_encoding", str, dfl_plm, os, args)
        try:
            given: Any = text(str), _levels(dfl_plm), layer, wanted(args)
        except REFUSED:
            given = self._call.arguments("pfm_get_os_event_encoding", (str, dfl_plm, os, args), args=wanted)
        arg = given[3]
        if not arg or ffi.typeof(arg) is _VOID:
            return int(self._lib.pfm_get_os_event_encoding(*given))
        whole = isinstance(args, Struct) or ffi.typeof(args).kind == "struct"
        structure: Any = args if whole else args[0]  # the object itself, if the pointer owns it
        allocates = layer == lib.PFM_OS_NONE and not structure.codes
        ret = int(self._lib.pfm_get_os_event_encoding(*given))
        if ret == 0:
            if allocates:
                _own_array(structure)
            if structure.fstr:
                take(structure.fstr, lib.free)
        return ret

    def pfm_get_event_encoding(self, str: object, dfl_plm: int, fstr: object, idx: object,
                               codes: object, count: object) -> int:
        """Call C; codes is a c_uint64_array() for C to fill, or a pointer to an array of yours."""
        given = self._call.arguments("pfm_get_event_encoding", (str, dfl_plm, fstr, idx, codes, count))
        ret = int(self._lib.pfm_get_event_encoding(*given))
        if ret == 0:
            take(fstr, lib.free)
            take(codes, lib.free, given[5][0])
        return ret
