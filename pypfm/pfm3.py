"""libpfm 3 for the IA-64 processors, as in C.

Everything in ``perfmon/pfmlib.h``, ``perfmon/pfmlib_itanium.h``, ``perfmon/pfmlib_itanium2.h``,
``perfmon/pfmlib_montecito.h`` and ``perfmon/pfmlib_gen_ia64.h``, and in ``perfmon/perfmon.h`` and the headers of
its sampling formats and of its model, is here under its C name:

* functions take the C arguments and return the C return code;
* structures are ctypes structures: ``inp = pfmlib_input_param_t()`` is zeroed, and is passed where C
  takes its address; ``(pfarg_pmd_t * 4)()`` is an array of them, and
  ``pfarg_msg_t.from_buffer_copy(os.read(fd, 64))`` the structure that some bytes are;
* ``inp == other`` compares all members, ``repr()`` is what a program writes, and copy and pickle take them;
* ``c_uint()``, ``create_string_buffer()``, ``sizeof()``, ``POINTER()`` are those of ctypes;
  ``byref(inp.pfp_events[0], "event")`` is ``&inp.pfp_events[0].event``;
* ``smpl_entries(pfm_mmap(...), ...)`` are the entries of a sampling buffer with their values;
* constants are ints; ``ffi.errno`` is errno; ``ffi`` and ``lib`` are cffi's objects, below all this:
  ``ffi.from_buffer("pfmlib_event_t *", event)`` is a structure for them.

The C code is part of the extension module ``pypfm._c.pfm3``: no other libpfm in the
process takes its place.  The library has one global state, as in C; the functions
that use it are for one thread at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pypfm._c.names import *  # noqa: F403 - ctypes' own
from pypfm._c.names import __all__ as _names
from pypfm._c.pfm3 import ffi as ffi
from pypfm._c.pfm3 import lib as lib
from pypfm._c.pfm3_api import *  # noqa: F403 - all that the headers declare
from pypfm._c.pfm3_api import (
    PFM_DEFAULT_SMPL_VERSION,
    PFM_DFL_SMPL_VERSION,
    pfm_default_smpl_entry_t,
    pfm_dfl_smpl_entry_t,
)
from pypfm._c.pfm3_api import (
    __all__ as _generated,
)
from pypfm._c.sampling import SmplEntry, entries

if TYPE_CHECKING:
    from collections.abc import Mapping

if not TYPE_CHECKING:  # which know all names without it, and of a list that is computed none
    __all__ = [*_generated, *_names, "ffi", "lib", "smpl_entries"]  # noqa: PLE0604 - lists of names


_ENTRIES: dict[int, Any] = {
    PFM_DFL_SMPL_VERSION: pfm_dfl_smpl_entry_t, PFM_DEFAULT_SMPL_VERSION: pfm_default_smpl_entry_t}


def smpl_entries(buffer: object, num_values: Mapping[int, int] | Mapping[tuple[int, int], int] | int,
                 size: int | None = None) -> list[SmplEntry]:
    """Return the entries of a sampling buffer, as they are now, each with the values that follow it.

    As many as the header says, but nothing is read past the end of the memory.

    :param buffer: what pfm_mmap() returns; or bytes, or what else has the buffer interface
    :param num_values: how many values follow an entry: the number of bits in smpl_pmds of the counter that
        overflowed.  By number of the counter, or by (set, counter), or one number for all
    :param size: bytes of the memory; needed of a pointer
    :raises TypeError: an argument of another type
    :raises ValueError: the memory has no header of a format, or is MAP_FAILED; an entry of another counter
    :return: the entries, which are copies
    """
    return entries(_ENTRIES, buffer, num_values, size)
