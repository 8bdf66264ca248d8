"""Layouts as ctypes classes: one text, printed by ``pypfm layout --ctypes`` and executed by `ctypes_type`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from pypfm.layout.mirrors import describe, ffi_of, types
from pypfm.layout.storage import with_parts

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterable, Iterator

    from _cffi_backend import FFI

    from pypfm.layout.model import Member, TypeLayout

__all__ = ["ctypes_source", "ctypes_type", "pointer"]

# By kind and size in bytes.
_SCALARS = {
    ("char", 1): "c_char", ("unsigned", 1): "c_uint8", ("unsigned", 2): "c_uint16", ("unsigned", 4): "c_uint32",
    ("unsigned", 8): "c_uint64", ("signed", 1): "c_int8", ("signed", 2): "c_int16", ("signed", 4): "c_int32",
    ("signed", 8): "c_int64", ("float", 4): "c_float", ("float", 8): "c_double",
}


def ctypes_source(layouts: Iterable[TypeLayout]) -> str:
    """Python source of ctypes classes; it needs the standard library only.

    :param layouts: from `describe`, types of one library; those that they contain come with them.
        ``struct x`` is class ``x``
    """
    found = list(with_parts(layouts))
    names = ", ".join(dict.fromkeys(layout.source for layout in found))
    head = f'"""Structures of {names}, made by pypfm layout --ctypes."""\n\nimport ctypes\n'
    return head + "".join("\n\n" + "\n".join(_class(layout)) + "\n" for layout in found)


def ctypes_type(name: str, library: str | None = None) -> type[ctypes.Structure] | type[ctypes.Union]:
    """The ctypes class of a structure; the same one at each call.

    :param name: C name, as for `describe`
    :param library: pfm3, pfm4 ...; None is the first that has the type
    :return: a class whose bytes are those of the cffi structure: use
        ``.from_buffer(ffi.buffer(pointer))`` on one side, ``ffi.from_buffer()`` on the other
    :raises LayoutError: no such type or library
    """
    layout = describe(name, library)
    return _classes(layout.source)[_python_name(layout.name)]


@cache
def _classes(library: str) -> dict[str, type[ctypes.Structure] | type[ctypes.Union]]:
    """All classes of a library, so that each is made once."""
    names: dict[str, object] = {"__name__": f"pypfm.layout.{library}"}
    exec(ctypes_source(describe(name, library) for name in types(library)), names)
    return cast("dict[str, type[ctypes.Structure] | type[ctypes.Union]]", names)


def _python_name(ctype: str) -> str:
    return ctype.rpartition(" ")[2]


def _class(layout: TypeLayout) -> Iterator[str]:
    return _lines(_python_name(layout.name), layout.kind, layout.members, ffi_of(layout.source), "")


def _lines(name: str, kind: str, members: tuple[Member, ...], ffi: FFI, indent: str) -> Iterator[str]:
    """A class; the structures without a name of their own are classes inside of it."""
    inner = {id(m): f"_{m.name or f'anonymous{i}'}" for i, m in enumerate(members) if m.members}
    inside = indent + "    "
    yield f"{indent}class {name}(ctypes.{'Union' if kind == 'union' else 'Structure'}):"
    for member in members:
        if member.members:
            yield from _lines(inner[id(member)], member.kind, member.members, ffi, inside)
            yield ""
    anonymous = [f'"{inner[id(m)]}"' for m in members if not m.name]
    if anonymous:
        yield f"{inside}_anonymous_ = [{', '.join(anonymous)}]"
    yield f"{inside}_fields_ = ["
    for member in members:
        ctype = inner[id(member)] if member.members else _scalar(member, ffi)
        for n in reversed(member.dimensions):
            ctype = f"{ctype} * {n}"
        width = "" if member.bits is None else f", {member.bits}"
        yield f'{inside}    ("{member.name or inner[id(member)]}", {ctype}{width}),'
    yield f"{inside}]"


def _scalar(member: Member, ffi: FFI) -> str:
    if member.kind == "pointer":
        return pointer(ffi.typeof(member.type.replace("const ", "")), ffi)
    if member.kind in ("struct", "union"):
        return _python_name(member.type)
    size = ffi.sizeof(member.type.replace("const ", ""))  # of an array without elements, too
    return f"ctypes.{_SCALARS[member.kind, size]}"


def pointer(ctype: FFI.CType, ffi: FFI) -> str:
    """``char *`` is a string; ``void *`` and pointers to functions are addresses."""
    target = ctype.item if ctype.kind == "pointer" else None
    if target is None or target.kind in ("void", "function"):
        return "ctypes.c_void_p"
    if target.cname == "char":
        return "ctypes.c_char_p"
    if target.kind == "pointer":
        return f"ctypes.POINTER({pointer(target, ffi)})"
    if target.kind in ("struct", "union"):
        return f"ctypes.POINTER({_python_name(target.cname)})"
    kind = "signed" if int(ffi.cast(target, -1)) < 0 else "unsigned"
    return f"ctypes.POINTER(ctypes.{_SCALARS[kind, ffi.sizeof(target)]})"
