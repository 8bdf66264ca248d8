"""Variables of which the functions of libperfex take the address."""

from __future__ import annotations

from pypfm._c.libperfex import ffi
from pypfm._c.mirror import Cell

__all__ = ["c_longlong"]


class c_longlong(Cell[int], ffi=ffi, ctype="long long"):
    """A cell that holds a long long."""
