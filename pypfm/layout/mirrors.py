"""Layouts of the types of our own libraries, as the C compiler laid them out for the mirrors."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from pypfm.common.arguments import expect_type
from pypfm.config import LIBRARIES
from pypfm.errors import nearest, shown
from pypfm.layout.model import Kind, LayoutError, Member, TypeLayout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _cffi_backend import FFI, CField

    from pypfm._c.mirror import Declared

__all__ = ["api_of", "class_of", "describe", "ffi_of", "find", "header_of", "kind_of", "types", "unknown"]


class _Api(Protocol):
    """The content of a library's generated module."""

    ffi: FFI
    _structures: dict[str, Any]
    _declared: dict[str, tuple[Declared, ...]]
    _headers: dict[str, str]
    _prototypes: dict[str, str]


#: All of them: what is imported later could be in a thread of a program that forks.
_APIS: dict[str, Any] = {name: import_module(f"pypfm._c.{library.module}_api") for name, library in LIBRARIES.items()}


def api_of(library: str) -> _Api:
    """Return the generated module of a library.

    :raises LayoutError: there is no such library
    """
    expect_type(library, str, "library")
    if library not in LIBRARIES:
        raise LayoutError(f"no library {shown(library)}; libraries are {', '.join(LIBRARIES)}")
    return cast("_Api", _APIS[library])


def ffi_of(library: str) -> FFI:
    """Return the cffi object of a library.

    :raises LayoutError: there is no such library
    """
    return api_of(library).ffi


def types(library: str) -> list[str]:
    """Return the structure and union types of a library.

    :param library: pfm3, pfm4 ...: a key of `pypfm.config.LIBRARIES`
    :return: C names, in the order of the headers
    :raises LayoutError: there is no such library
    """
    expect_type(library, str, "library")
    return list(_types(library))


@cache
def _types(library: str) -> tuple[str, ...]:
    api = api_of(library)
    names = {cls.__name__: name for name, cls in api._structures.items()}
    return tuple(names[name] for name in api._declared)


def class_of(layout: TypeLayout) -> Any:
    """Return the ctypes class of a type of `describe`."""
    return api_of(layout.source)._structures[layout.name]


def find(name: str) -> list[str]:
    """Return the libraries that have a type.

    :param name: as for `describe`
    """
    return [library for library in LIBRARIES if _key(library, name)]


def _key(library: str, name: str) -> str:
    """Return the name under which a library's mirror has a type, or ""."""
    expect_type(name, str, "name")
    api = api_of(library)
    tag = name.removeprefix("struct ").removeprefix("union ").strip()
    found: Any = getattr(api, tag, None)
    return str(found.__name__) if found in api._structures.values() else ""


def describe(name: str, library: str | None = None) -> TypeLayout:
    """Return the layout of a structure or union type.

    :param name: C name; ``struct`` before a tag may be left out
    :param library: pfm3, pfm4 ...; None is the first that has the type
    :return: its members with offsets and sizes as the C compiler laid them out
    :raises LayoutError: no such type or library
    """
    if library is None:
        library = next((known for known in LIBRARIES if _key(known, name)), None)
    key = _key(library, name) if library else ""
    if library is None or not key:
        raise LayoutError(unknown(name, library))
    return _describe(library, key)


def header_of(layout: TypeLayout) -> str:
    """Return the header that declares a type of `describe`, as a program includes it."""
    return api_of(layout.source)._headers[_key(layout.source, layout.name)]


def unknown(name: str, library: str | None, more: Iterable[str] = ()) -> str:
    """Return the message that there is no such name, with the nearest ones.

    :param more: names besides those of types
    """
    known = [t for lib in ([library] if library else LIBRARIES) for t in types(lib)]
    owner = f"{library} has no" if library else "no library has a"
    what = "structure, union, enumeration or function" if more else "structure or union"
    return f"{owner} {what} {shown(name)}{nearest(name, dict.fromkeys([*known, *more]))}"


@cache
def _describe(library: str, key: str) -> TypeLayout:
    api = api_of(library)
    name = next(name for name, cls in api._structures.items() if cls.__name__ == key)
    ctype = api.ffi.typeof(name)
    members = _members(api.ffi, api._declared[key], ctype, 0)
    return TypeLayout(name, "union" if ctype.kind == "union" else "struct", api.ffi.sizeof(ctype),
                      api.ffi.alignof(ctype), members, library)


def _members(ffi: FFI, declared: tuple[Declared, ...], ctype: FFI.CType, base: int) -> tuple[Member, ...]:
    """Return members in the order of the declarations; cffi has those of unnamed ones as the structure's own."""
    fields = dict(ctype.fields)
    found = []
    for name, spelling, inner in declared:
        if name:
            found.append(_member(ffi, name, spelling, inner, fields[name], base))
        else:
            found.append(_unnamed(ffi, spelling, _members(ffi, inner, ctype, base)))
    return tuple(found)


def _member(ffi: FFI, name: str, spelling: str, inner: tuple[Declared, ...], field: CField, base: int) -> Member:
    ctype, dimensions = field.type, []
    while ctype.kind == "array":
        dimensions.append(ctype.length or 0)
        ctype = ctype.item
    is_bit_field = field.bitsize >= 0
    return Member(
        name, spelling, kind_of(ffi, ctype), base + field.offset, ffi.sizeof(field.type), tuple(dimensions),
        field.bitshift if is_bit_field else 0, field.bitsize if is_bit_field else None, ctype.kind == "enum",
        _members(ffi, inner, ctype, base + field.offset) if inner else ())


def _unnamed(ffi: FFI, spelling: str, members: tuple[Member, ...]) -> Member:
    """Return an unnamed structure or union, whose members count as the outer one's: cffi does not know its size."""
    start = min(m.offset for m in members)
    alignment = max(_alignment(ffi, m) for m in members)
    end = -(-max(m.end_bit for m in members) // 8)
    return Member("", spelling, "union" if spelling == "union" else "struct", start,
                  -(-(end - start) // alignment) * alignment, members=members)


def _alignment(ffi: FFI, member: Member) -> int:
    if member.members:
        return max(_alignment(ffi, m) for m in member.members)
    return ffi.alignof(member.type.replace("const ", ""))


def kind_of(ffi: FFI, ctype: FFI.CType) -> Kind:
    if ctype.kind in ("struct", "union", "pointer"):
        return cast("Kind", ctype.kind)
    if ctype.cname in ("char", "float", "double"):
        return "char" if ctype.cname == "char" else "float"
    return "signed" if int(ffi.cast(ctype, -1)) < 0 else "unsigned"
