"""The places of members in the C structures.

    >>> describe("pfmlib_ita2_input_param_t").size
    384

`describe` returns sizes, offsets, bit positions, holes and padding. The structures of the mirrors
(``pypfm.pfm3.pfmlib_event_t``) are ctypes classes; `ctypes_source` writes them for a program without pypfm.

``declaration`` also knows enumerations (``Enumeration``: size, values) and functions (``Function``: prototype).

A ``TypeLayout`` has ``Member`` and ``Hole``. ``types()`` lists structures, ``find()`` says which library has one,
``text()`` writes it as pahole does; ``diff()`` and ``compare()`` return a ``LayoutDiff`` of ``Row``;
``ctypes_source()`` and ``c_source()`` write declarations. They raise ``LayoutError``.

``pypfm layout`` prints what is here.
"""

from pypfm.layout.c_file import c_source
from pypfm.layout.ctypes_classes import ctypes_source
from pypfm.layout.declared import Enumeration, Function, declaration
from pypfm.layout.differences import LayoutDiff, Row, compare, diff
from pypfm.layout.mirrors import describe, find, types
from pypfm.layout.model import Hole, LayoutError, Member, TypeLayout
from pypfm.layout.pahole import text

__all__ = ["Enumeration", "Function", "Hole", "LayoutDiff", "LayoutError", "Member", "Row", "TypeLayout", "c_source",
           "compare", "ctypes_source", "declaration", "describe", "diff", "find", "text", "types"]
