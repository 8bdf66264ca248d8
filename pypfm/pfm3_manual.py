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

from pypfm._c.mirror import (
    byref,
    c_char_p,
    c_int,
    c_long,
    c_size_t,
    c_uint,
    c_ulong,
    create_string_buffer,
)
from pypfm._c.pfm3_manual import ffi, lib
from pypfm._c.pfm3_manual_api import *  # noqa: F403 - all that the headers declare
from pypfm._c.pfm3_manual_api import __all__ as _generated

__all__ = [  # noqa: PLE0604 - the generated part is a list of names, too
    *_generated, "byref", "c_char_p", "c_int", "c_long", "c_size_t", "c_uint", "c_ulong",
    "create_string_buffer", "ffi", "lib",
]
