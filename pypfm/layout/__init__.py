"""Where the members of the C structures lie.

    >>> describe("pfmlib_ita2_input_param_t").size
    384

`describe` returns sizes, offsets, bit positions, holes and padding; `ctypes_type` gives the
same structure as a ctypes class, whose bytes are those of the cffi structure::

    inp = pfm3.pfmlib_input_param_t()
    same = ctypes_type("pfmlib_input_param_t").from_buffer(pfm3.ffi.buffer(pfm3.byref(inp)))

A ``TypeLayout`` has ``Member`` and ``Hole``. ``types()`` lists structures, ``find()`` says which library has one,
``text()`` writes it as pahole does; ``diff()`` and ``compare()`` return a ``LayoutDiff`` of ``Row``;
``ctypes_source()``, ``c_source()``, ``rust_source()`` and ``go_source()`` write declarations. They raise
``LayoutError``.

``pypfm layout`` prints what is here.
"""

from pypfm.layout.c_file import c_source
from pypfm.layout.ctypes_classes import ctypes_source, ctypes_type
from pypfm.layout.differences import LayoutDiff, Row, compare, diff
from pypfm.layout.go_file import go_source
from pypfm.layout.mirrors import describe, find, types
from pypfm.layout.model import Hole, LayoutError, Member, TypeLayout
from pypfm.layout.pahole import text
from pypfm.layout.rust_file import rust_source

__all__ = ["Hole", "LayoutDiff", "LayoutError", "Member", "Row", "TypeLayout", "c_source", "compare",
           "ctypes_source", "ctypes_type", "describe", "diff", "find", "go_source", "rust_source", "text", "types"]
