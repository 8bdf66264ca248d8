"""What every mirror of a C library is made of: structures, cells, buffers, calls.

The generated modules (pypfm._pfm3_api ...) declare classes and functions on top
of these; a program uses them as pypfm.pfm3.byref and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from _cffi_backend import FFI

__all__ = [
    "Array", "Buffer", "CData", "Callers", "Cell", "Fields", "File", "String", "Struct", "Union", "argument", "byref",
    "c_char_p", "c_int", "c_long", "c_size_t", "c_uint", "c_ulong", "callers",
    "create_string_buffer", "sized", "string",
]

CData = FFI.CData
_ffi = FFI()  # for types that belong to no library

T = TypeVar("T")


class Array(Protocol[T]):
    """An array inside a structure."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[T]: ...
    def __getitem__(self, index: int, /) -> T: ...
    def __setitem__(self, index: int, value: T, /) -> None: ...


class Fields:
    """The fields of a structure without a name (for the type checker only)."""


class _StructType(type):
    """A C structure type: calling it gives a structure, isinstance() looks at the C type."""

    _type: object

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, CData) and _ffi.typeof(obj) is cls._type


class Struct(metaclass=_StructType):
    """A C structure type.

    Calling it gives a zeroed structure that owns its memory, as a cffi object;
    keywords set fields (nested structures as dicts, arrays as lists).  A part of
    a structure (``inp.pfp_events[0]``) is a reference: keep the whole alive.
    """

    _ffi: ClassVar[FFI]
    _type: ClassVar[object]
    _pointer: ClassVar[object]

    def __init_subclass__(cls, ffi: FFI | None = None, ctype: str = "") -> None:
        if ffi is not None:
            cls._ffi = ffi
            cls._type = ffi.typeof(ctype)
            cls._pointer = ffi.typeof(ctype + " *")

    def __new__(cls: type[T], **fields: object) -> T:
        struct = cast("type[Struct]", cls)
        try:
            pointer = struct._ffi.new(cast(Any, struct._pointer), fields or None)
        except KeyError as error:
            names = ", ".join(name for name, _ in cast(Any, struct._type).fields)
            message = f"{cls.__name__} has no field {error}; it has {names}"
            raise TypeError(message) from None
        return cast(T, pointer[0])  # shares the ownership of the memory


class Union(Struct):
    """A C union type; used as a structure type is."""


class Cell(Generic[T]):
    """One C value, for functions that store through a pointer.

    :ivar value: the value
    """

    _ffi: ClassVar[FFI]
    _pointer_type: ClassVar[object]

    def __init_subclass__(cls, ffi: FFI | None = None, ctype: str = "") -> None:
        if ffi is not None:
            cls._ffi = ffi
            cls._pointer_type = ffi.typeof(ctype + " *")

    def __init__(self, value: int = 0) -> None:
        self._cdata = self._ffi.new(cast(Any, self._pointer_type), value)

    @property
    def value(self) -> T:
        return cast(T, self._cdata[0])

    @value.setter
    def value(self, value: T) -> None:
        self._cdata[0] = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class c_int(Cell[int], ffi=_ffi, ctype="int"):
    """A cell that holds an int."""


class c_uint(Cell[int], ffi=_ffi, ctype="unsigned int"):
    """A cell that holds an unsigned int."""


class c_long(Cell[int], ffi=_ffi, ctype="long"):
    """A cell that holds a long."""


class c_ulong(Cell[int], ffi=_ffi, ctype="unsigned long"):
    """A cell that holds an unsigned long."""


class c_size_t(Cell[int], ffi=_ffi, ctype="size_t"):
    """A cell that holds a size_t."""


class c_char_p(Cell["str | None"]):
    """A cell for a string that C allocates: a str afterwards, its memory freed.

    :ivar value: the string, or None as long as no call has stored one
    """

    # By pointer: cffi's compare and hash as addresses.
    _at: ClassVar[WeakValueDictionary[CData, c_char_p]] = WeakValueDictionary()

    def __init__(self) -> None:
        self._cdata = _ffi.new("char **")
        self._text: str | None = None
        c_char_p._at[self._cdata] = self

    @property
    def value(self) -> str | None:
        return self._text

    @value.setter
    def value(self, value: str | None) -> None:
        self._text = value

    def take(self, free: Callable[[CData], object]) -> None:
        """Turn what C stored into a str."""
        pointer = self._cdata[0]
        if pointer:
            self._cdata[0] = _ffi.NULL
            self._text = string(pointer)
            free(pointer)

    @classmethod
    def take_at(cls, pointer: CData, free: Callable[[CData], object]) -> None:
        """The same for the cell, if it is one, that a structure points to."""
        cell = cls._at.get(pointer)
        if cell is not None:
            cell.take(free)


class create_string_buffer:
    """Bytes that C writes a string into.

    :param size: size in bytes, the final NUL included
    :ivar value: the string up to the first NUL
    :ivar raw: all bytes
    """

    def __init__(self, size: int) -> None:
        self._cdata = _ffi.new("char[]", size)

    def __len__(self) -> int:
        return len(self._cdata)

    @property
    def value(self) -> str:
        return string(self._cdata)

    @property
    def raw(self) -> bytes:
        return bytes(_ffi.buffer(self._cdata))

    def __repr__(self) -> str:
        return f"create_string_buffer({len(self)}) = {self.value!r}"


def string(pointer: Any) -> str:
    """The C string at a pointer, as a str."""
    return cast(bytes, _ffi.string(pointer)).decode("utf-8", "surrogateescape")


String = str | bytes | CData | None
Buffer = create_string_buffer | bytearray | CData | None
File = IO[str] | IO[bytes] | CData | None  # a file with a descriptor, for FILE *


def argument(value: object) -> object:
    """What C is given for an argument: text as bytes, a cell or a structure as its address, None as NULL."""
    if type(value) is str and value.isascii() and "\0" not in value:  # what nearly all calls pass comes first
        return value.encode()
    if isinstance(value, (Cell, create_string_buffer)):
        return value._cdata
    if value is None:
        return _ffi.NULL
    if isinstance(value, (str, bytes)):
        return _c_string(value)
    if isinstance(value, CData) and _ffi.typeof(value).kind in ("struct", "union"):
        return _ffi.addressof(value)
    return value


def _c_string(text: str | bytes) -> bytes:
    try:
        data = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        data = cast(str, text).encode("utf-8", "surrogateescape")
    if 0 in data:
        message = f"a C string cannot hold a NUL: {text!r}"
        raise ValueError(message)
    return data


def byref(obj: object, *path: str | int) -> CData:
    """The address of an object, or of a member of it: &obj, &obj.member.

    :param obj: a structure, a cell or a buffer
    :param path: names of members and indices of arrays
    :return: a C pointer, good for as long as the object lives
    """
    if isinstance(obj, (Cell, create_string_buffer)):
        return obj._cdata
    return _ffi.addressof(cast(Any, obj), *path)


def sized(buffer: Buffer, maxlen: int) -> CData | None:
    """The bytes of a buffer, once maxlen is known not to go beyond them."""
    if buffer is None:
        return None
    if isinstance(buffer, create_string_buffer):
        data = buffer._cdata
    elif isinstance(buffer, bytearray):
        data = _ffi.from_buffer("char[]", buffer, require_writable=True)
    elif isinstance(buffer, CData):
        data = buffer
    else:
        message = f"wanted create_string_buffer(), a bytearray or a char array, not {type(buffer).__name__}"
        raise TypeError(message)
    if _ffi.typeof(data).kind == "array" and maxlen > len(data):
        message = f"maxlen is {maxlen}, but the buffer has only {len(data)} bytes"
        raise ValueError(message)
    return data


class Callers(NamedTuple):
    """The functions through which a mirror calls its library: they hand over arguments as C wants them.

    :ivar call: of functions that return a number and may store a string
    :ivar text: of functions that return a string
    :ivar text_or_none: of functions that return a string or NULL
    :ivar pointer: of functions that return another pointer
    """

    call: Callable[..., int]
    text: Callable[..., str]
    text_or_none: Callable[..., str | None]
    pointer: Callable[..., CData]


def callers(lib: Any) -> Callers:
    """The functions through which a mirror calls a library."""
    def call(function: Callable[..., int], *args: object) -> int:
        ret = function(*map(argument, args))
        for arg in args:
            if isinstance(arg, c_char_p):
                arg.take(lib.free)
        return ret

    def text(function: Callable[..., CData], *args: object) -> str:
        return string(function(*map(argument, args)))

    def text_or_none(function: Callable[..., CData], *args: object) -> str | None:
        found = pointer(function, *args)
        return string(found) if found else None

    def pointer(function: Callable[..., CData], *args: object) -> CData:
        return function(*map(argument, args))

    return Callers(call, text, text_or_none, pointer)
