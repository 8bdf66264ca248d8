"""NetBSD's pmc_control(2), pmc_get_info(2) and libpmc(3), as in C.

Everything in ``sys/pmc.h``, ``pmc.h`` and ``pmc_model.h`` is here under its C name:

* functions take the C arguments and return the C result: -1, and ``ffi.errno`` says why;
* ``pmc_counter_cfg()`` is a zeroed structure, ``c_int()`` and ``c_uint64()`` variables of
  which C takes the address, all of ctypes; ``.value`` reads a variable;
* functions that return a C string return a str, or None for NULL;
* constants are ints; ``ffi`` and ``lib`` are cffi's objects.

PMC_MACHINE in the environment chooses the machine, when the first function is called.
`pypfm.Counter` is the same without C's habits.
"""

from typing import TYPE_CHECKING

from pypfm._c.names import *  # noqa: F403 - ctypes' own
from pypfm._c.names import __all__ as _names
from pypfm._c.pmc import ffi as ffi
from pypfm._c.pmc import lib as lib
from pypfm._c.pmc_api import *  # noqa: F403 - all that the headers declare
from pypfm._c.pmc_api import __all__ as _generated

if not TYPE_CHECKING:  # which know all names without it, and of a list that is computed none
    __all__ = [*_generated, *_names, "ffi", "lib"]  # noqa: PLE0604 - lists of names

