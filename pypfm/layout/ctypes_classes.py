"""The structures of a library as Python source that needs ctypes only (``pypfm layout --ctypes``).

The mirrors' structures are ctypes classes, generated from the C headers; they are printed here.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from pypfm.layout.mirrors import class_of, describe, types
from pypfm.layout.model import of_one_library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypfm.layout.model import TypeLayout

__all__ = ["ctypes_source", "expression"]

_NAMES = ("c_char", "c_int8", "c_uint8", "c_int16", "c_uint16", "c_int32", "c_uint32", "c_int64", "c_uint64", "c_float",
          "c_double", "c_char_p", "c_void_p")
_SIMPLE: dict[Any, str] = {getattr(ctypes, name): name for name in _NAMES}  # c_int is c_int32 ...


def ctypes_source(layouts: Iterable[TypeLayout]) -> str:
    """Write ctypes classes as Python source that needs the standard library only.

    :param layouts: from `describe`, types of one library; those that they contain come with them.
        ``struct x`` is class ``x``
    """
    found = list(_with_parts(layouts))
    names = ", ".join(dict.fromkeys(layout.source for layout in found))
    head = f'"""Structures of {names}, made by pypfm layout --ctypes."""\n\nimport ctypes\n'
    return head + "".join("\n\n" + "\n".join(_lines(class_of(layout), "")) + "\n" for layout in found)


def _with_parts(layouts: Iterable[TypeLayout]) -> Iterator[TypeLayout]:
    """Yield the types, each after those that it contains or points to.

    :raises LayoutError: as `of_one_library`
    """
    done: set[str] = set()

    def visit(layout: TypeLayout) -> Iterator[TypeLayout]:
        if layout.name in done:
            return
        done.add(layout.name)
        for _, member in layout.flat():
            inner = member.type.replace("const ", "").rstrip("* ")
            if inner in types(layout.source):
                yield from visit(describe(inner, layout.source))
        yield layout

    for layout in of_one_library(layouts):
        yield from visit(layout)


def _lines(cls: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a class; unnamed structures are classes inside of it."""
    inside = indent + "    "
    yield f"{indent}class {cls.__name__}(ctypes.{'Union' if issubclass(cls, ctypes.Union) else 'Structure'}):"
    for _, kind, *_ in cls._fields_:
        if "." in getattr(kind, "__qualname__", ""):
            yield from _lines(kind, inside)
            yield ""
    if anonymous := getattr(cls, "_anonymous_", ()):
        yield f"{inside}_anonymous_ = [{', '.join(map(_quoted, anonymous))}]"
    yield f"{inside}_fields_ = ["
    for name, kind, *bits in cls._fields_:
        yield f"{inside}    ({_quoted(name)}, {expression(kind)}{''.join(f', {width}' for width in bits)}),"
    yield f"{inside}]"


def _quoted(name: str) -> str:
    return f'"{name}"'


def expression(kind: Any) -> str:
    """Write a type as Python does."""
    if issubclass(kind, ctypes.Array):
        inner = expression(kind._type_)
        return f"{f'({inner})' if ' * ' in inner else inner} * {kind._length_}"
    if issubclass(kind, ctypes._Pointer):
        return f"ctypes.POINTER({expression(kind._type_)})"
    return f"ctypes.{_SIMPLE[kind]}" if kind in _SIMPLE else str(kind.__name__)
