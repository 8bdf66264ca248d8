"""libpfm 3 as in `pypfm.pfm3`, with structures as the manual pages print them.

The manual pages libpfm_itanium2(3) and libpfm_montecito(3) and the header of libpfm
3.10 disagree about some bytes.  Here:

* ``pfmlib_mont_etb_t`` has ``etb_ds`` after ``etb_plm``; it is accepted and ignored;
* ``pfmlib_mont_input_param_t`` has ``pfp_mont_ipear`` before ``pfp_mont_etb``;
* the model-specific parameters of both PMUs have no ``reserved`` members.

Itanium (Merced) has no manual page: its structures are those of `pypfm.pfm3`, byte for byte.

All else is the same, register values included.  The types are other types than those
of `pypfm.pfm3`, and their library has a global state of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pypfm._c.names import *  # noqa: F403 - ctypes' own
from pypfm._c.names import __all__ as _names
from pypfm._c.pfm3_manual import ffi as ffi
from pypfm._c.pfm3_manual import lib as lib
from pypfm._c.pfm3_manual_api import *  # noqa: F403 - all that the headers declare
from pypfm._c.pfm3_manual_api import (
    PFM_DEFAULT_SMPL_VERSION,
    PFM_DFL_SMPL_VERSION,
    pfm_default_smpl_entry_t,
    pfm_dfl_smpl_entry_t,
)
from pypfm._c.pfm3_manual_api import (
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
