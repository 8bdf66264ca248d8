"""The structures of the mirrors: ctypes structures that compare, copy, pickle and print by their members.

The generator of the mirrors (csrc/bindings/generate.py) writes the classes from the C headers.  What they are made of,
and how they behave, is ctypes': a part keeps the whole alive, an array is a ctypes array, a number that is too large
is cut.  Here stands what ctypes leaves out.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from pypfm._c.convert import decoded
from pypfm._c.members import no_member, pointers_in, text, used_bits, written

if TYPE_CHECKING:
    from _ctypes import _CData

    from _cffi_backend import FFI

__all__ = ["Array", "Structure", "Text", "Union", "c_string", "declare", "kept"]

T = TypeVar("T")


def c_string(value: str | bytes) -> bytes:
    """Encode a text as bytes for C.

    :raises ValueError: it has a NUL, where it would end for C
    """
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    if 0 in data:
        raise ValueError(f"is a C string, which cannot hold a NUL: {value!r:.200}")
    return data


class _Content:
    """The base of all structures and unions: all that they do by means of their members."""

    __slots__ = ()

    def __init__(self, *values: object, **members: object) -> None:
        try:
            super().__init__(*values, **members)
        except AttributeError:
            raise TypeError(no_member(type(self), members)) from None

    def __eq__(self, other: object) -> bool:
        """Compare all members; padding does not count."""
        if not isinstance(other, type(self)) and not isinstance(self, type(other)):
            return NotImplemented
        mine, theirs = bytes(cast(Any, self)), bytes(cast(Any, other))
        return mine == theirs or not (
            int.from_bytes(mine, "little") ^ int.from_bytes(theirs, "little")) & used_bits(cast(Any, type(self)))

    __hash__ = None  # type: ignore[assignment]  # the content changes

    def __copy__(self) -> Any:
        """Copy a structure to memory of its own; its pointers point to the same objects, and keep them alive, too."""
        objects = kept(self)
        if not objects:
            return cast(Any, type(self)).from_buffer_copy(self)
        memory = _Memory(cast(Any, self))
        memory.kept = objects
        return cast(Any, type(self)).from_buffer(memory)

    def __deepcopy__(self, memo: object) -> Any:
        """Copy like `copy.copy()`: the target of a pointer cannot be copied, as only its address is known."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        if any(pointers_in(self)):
            raise TypeError(f"a {type(self).__name__} is not pickled with a pointer in it: that is an address")
        return cast(Any, type(self)).from_buffer_copy, (bytes(cast(Any, self)),)

    def __repr__(self) -> str:
        members = [(name, text(value)) for name, value in written(self)]
        plain = [f"{name}={text}" for name, text in members if name not in _KEYWORDS]
        special = ", ".join(f"{name!r}: {text}" for name, text in members if name in _KEYWORDS)
        return f"{type(self).__name__}({', '.join(plain + [f'**{{{special}}}'] * bool(special))})"

    def _repr_html_(self) -> str:
        """Return the structure as an HTML table, for a notebook."""
        from pypfm._c.notebook import table
        return table(self, f"<caption>{type(self).__name__}</caption>")


if TYPE_CHECKING:
    # typeshed's Structure has a __getattr__, with which a member that is not there would pass.
    class _Type(type):
        def __mul__(cls: type[T], other: int) -> type[Array[T]]: ...
        def from_address(cls: type[T], address: int, /) -> T: ...
        def from_buffer(cls: type[T], source: object, offset: int = 0, /) -> T: ...
        def from_buffer_copy(cls: type[T], source: object, offset: int = 0, /) -> T: ...
        def in_dll(cls: type[T], dll: ctypes.CDLL, name: str, /) -> T: ...

    class Array(_CData, Generic[T]):
        """An array whose elements have a type; typeshed's are Any."""
        _length_: int
        def __init__(self, *values: object) -> None: ...
        @overload  # type: ignore[no-overload-impl]
        def __getitem__(self, at: int, /) -> T: ...
        @overload
        def __getitem__(self, at: slice, /) -> list[T]: ...
        @overload  # type: ignore[no-overload-impl]
        def __setitem__(self, at: int, value: T, /) -> None: ...
        @overload
        def __setitem__(self, at: slice, value: Iterable[T], /) -> None: ...
        def __iter__(self) -> Iterator[T]: ...
        def __len__(self) -> int: ...

    class Structure(_CData, metaclass=_Type):
        """A C structure."""
        def __init__(self, *values: object, **members: object) -> None: ...

    class Union(_CData, metaclass=_Type):
        """A C union."""
        def __init__(self, *values: object, **members: object) -> None: ...
else:
    Array = ctypes.Array

    class Structure(_Content, ctypes.Structure):
        """A C structure: a ``ctypes.Structure`` that compares, copies, pickles and prints by its members.

        ``T()`` is zeroed; ``T(member=value)`` sets members: nested structures and arrays, which tuples may stand for.
        ``==`` compares all members. ``copy.copy()`` has memory of its own, and pointers to the same. ``repr()`` is as
        it is written in Python, without members that are 0. ``pickle`` takes one in which no pointer is set. Another
        attribute than its members is an AttributeError.
        """

        __slots__ = ("__weakref__",)

    class Union(_Content, ctypes.Union):
        """A C union; used as a structure is."""

        __slots__ = ("__weakref__",)

_KEYWORDS = {"from"}  # members that have to be written as **{"from": 1}


class Text:
    """A ``char *`` of a structure: read as a str, or None for NULL; set to a str, bytes or None.

    :ivar offset: in the structure, in bytes
    :ivar size: in bytes
    """

    __slots__ = ("_field", "offset", "size")

    def __init__(self, field: Any) -> None:
        self._field, self.offset, self.size = field, field.offset, field.size

    def __get__(self, structure: Any, owner: type | None = None) -> Any:
        if structure is None:
            return self
        data = self._field.__get__(structure, owner)
        return None if data is None else decoded(data)

    def __set__(self, structure: Any, value: str | bytes | None) -> None:
        if value is not None and not isinstance(value, (str, bytes)):
            raise TypeError(f"a char * is set to str, bytes or None, not {type(value).__name__}")
        self._field.__set__(structure, None if value is None else c_string(value))

    def bytes(self, structure: Any) -> bytes | None:
        """Return the text as the bytes that C has."""
        return cast("bytes | None", self._field.__get__(structure))


class _Memory(bytearray):
    """The memory of a copy, together with the objects that its pointers need."""

    kept: object = None


def declare(ffi: FFI, classes: dict[str, Any]) -> dict[str, Any]:
    """Finish the classes of a library: strings are read as str; the C compiler has given the types the same sizes.

    :param classes: by C name
    :raises ImportError: a size is another one: the extension module is that of another version
    """
    for name, cls in classes.items():
        ctype = ffi.typeof(name)
        if (ffi.sizeof(ctype), ffi.alignof(ctype)) != (ctypes.sizeof(cls), ctypes.alignment(cls)):
            raise ImportError(f"{cls.__module__}: {name} has {ctypes.sizeof(cls)} bytes, and {ffi.sizeof(ctype)} in C")
        for member, kind, *_ in cls._fields_:
            if kind is ctypes.c_char_p and not isinstance(cls.__dict__[member], Text):
                setattr(cls, member, Text(cls.__dict__[member]))
    return classes


def kept(structure: Any) -> dict[str, object]:
    """Return the objects that keep alive what a structure's pointers, or those of the structure around it, point to."""
    while structure._b_base_ is not None:
        structure = structure._b_base_
    return dict(structure._objects or {})
