"""IRIX's libperfex(3C), as in C.

Everything in ``perfex.h`` is here under its C name:

* functions take the C arguments and return the C result: -1, and ``ffi.errno`` says why;
* ``c_longlong()`` is a variable of which C takes the address; ``.value`` reads it
  (``c_int()`` for the events of the Fortran forms, whose names end with ``_``); both are those of ctypes;
* ``ffi`` and ``lib`` are cffi's objects.

`pypfm.perfex.counting` is the same without C's habits; `pypfm.perfex` is the command.
"""

from typing import TYPE_CHECKING

from pypfm._c.libperfex import ffi as ffi
from pypfm._c.libperfex import lib as lib
from pypfm._c.libperfex_api import *  # noqa: F403 - all that the header declares
from pypfm._c.libperfex_api import __all__ as _generated
from pypfm._c.names import *  # noqa: F403 - ctypes' own
from pypfm._c.names import __all__ as _names

if not TYPE_CHECKING:  # which know all names without it, and of a list that is computed none
    __all__ = [*_generated, *_names, "ffi", "lib"]  # noqa: PLE0604 - lists of names

