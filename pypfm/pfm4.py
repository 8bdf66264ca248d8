"""libpfm 4 for Intel Goldmont and the Linux generic events, as in C.

Everything in ``perfmon/pfmlib.h``, ``perfmon/pfmlib_perf_event.h`` and
``perfmon/perf_event.h`` of libpfm 4.13.0 is here under its C name, in the way of
`pypfm.pfm3`: functions return C's codes, structures, variables and pointers are
those of ctypes, constants are ints.

What C allocates comes back as Python's own::

    arg, fstr = pfm_pmu_encode_arg_t(), c_char_p()
    arg.fstr = pointer(fstr)
    pfm_get_os_event_encoding("glm::ICACHE:HIT", PFM_PLM3, PFM_OS_NONE, arg)
    print(hex(arg.codes[0]), fstr.value.decode())

The C code is part of the extension module ``pypfm._c.pfm4``: no other libpfm in the
process takes its place.  `load` gives the same names on any other libpfm 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm._c.names import *  # noqa: F403 - ctypes' own
from pypfm._c.names import __all__ as _names
from pypfm._c.pfm4 import ffi as ffi
from pypfm._c.pfm4 import lib as lib
from pypfm._c.pfm4_api import *  # noqa: F403 - all that the headers declare
from pypfm._c.pfm4_api import __all__ as _generated
from pypfm.common.loaded import libpfm4

if TYPE_CHECKING:
    import os
    from types import ModuleType

if not TYPE_CHECKING:  # which know all names without it, and of a list that is computed none
    __all__ = [*_generated, *_names, "ffi", "lib", "load"]  # noqa: PLE0604 - lists of names


def load(path: str | os.PathLike[str] = "libpfm.so.4") -> ModuleType:
    """Return the names of this module on another libpfm 4, 4.8 to the newest.

    ::

        theirs = load()
        theirs.pfm_initialize()
        theirs.pfm_find_event("skl::INST_RETIRED")

    The library is seen by nobody else in the process, and shares nothing with ours: each has its own PMUs, is
    initialised for itself, and reads the environment then.  Loading a file twice gives the same object.

    Structures and constants are those of our headers, libpfm 4.13.0's.  An older library, which knows smaller
    structures, leaves the rest of a structure at 0; in a newer one there can be PMUs above ``PFM_PMU_MAX``, where
    pfm_get_pmu_info() goes on.

    :param path: a file, or a name without a slash that the loader looks up
    :return: what ``import`` of a module gives, with the attribute ``library``: the file
    :raises LibraryError: it cannot be loaded, or is no libpfm 4
    :raises LibraryFunctionError: later, by a function that the library does not have
    """
    return libpfm4(path)
