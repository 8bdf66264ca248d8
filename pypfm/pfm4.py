"""libpfm 4 for Intel Goldmont and the Linux generic events, as in C.

Everything in ``perfmon/pfmlib.h``, ``perfmon/pfmlib_perf_event.h`` and
``perfmon/perf_event.h`` of libpfm 4.13.0 is here under its C name, in the way of
`pypfm.pfm3`: functions return C's codes, structure types are callables, ``byref()``
and cells stand for addresses, constants are ints.

What C allocates comes back as Python's own::

    arg, fstr = pfm_pmu_encode_arg_t(), c_char_p()
    arg.fstr = byref(fstr)
    pfm_get_os_event_encoding("glm::ICACHE:HIT", PFM_PLM3, PFM_OS_NONE, arg)
    print(hex(arg.codes[0]), fstr.value)

The C code is part of the extension module ``pypfm._c.pfm4``: no other libpfm in the
process takes its place.
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
from pypfm._c.pfm4 import ffi, lib
from pypfm._c.pfm4_api import *  # noqa: F403 - all that the headers declare
from pypfm._c.pfm4_api import __all__ as _generated
from pypfm._c.pfm4_hand import c_uint64_array

__all__ = [  # noqa: PLE0604 - the generated part is a list of names, too
    *_generated, "byref", "c_char_p", "c_int", "c_long", "c_size_t", "c_uint", "c_uint64_array", "c_ulong",
    "create_string_buffer", "ffi", "lib",
]
