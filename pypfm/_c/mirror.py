"""What every mirror of a C library is made of: structures, cells, buffers, calls.

The generated modules (pypfm._c.pfm3_api ...) declare classes and functions on top
of these; a program uses them as pypfm.pfm3.byref and so on.

cffi alone is no guard: for a pointer it takes a list, of which it makes an array
of that length, and any pointer for a char * and the other way round.  So every
argument goes through the converter of its C type, and what that refuses never
reaches C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Any, ClassVar, Generic, TypeAlias, TypeVar, cast
from weakref import WeakValueDictionary

from _cffi_backend import FFI

from pypfm._c.structures import (
    Array,
    CData,
    Fields,
    Part,
    Struct,
    Union,
    address_of,
    ctype_of,
    kept_with,
    member,
    no_field,
    raw,
    refused,
    whole,
)

__all__ = [
    "REFUSED", "Allocated", "Array", "Buffer", "CData", "Calls", "Cell", "Converter", "Declared", "Fields", "File",
    "String", "Struct", "Union", "byref", "c_char_p", "c_int", "c_long", "c_size_t", "c_uint", "c_ulong",
    "create_string_buffer", "ctype_of", "pointer_to", "refused", "room", "sizeof", "string", "string_or_none", "take",
    "text",
]

# A member in the declarations of a header: name, type, members of a structure without a name of its own.
Declared: TypeAlias = "tuple[str, str, tuple[Declared, ...]]"
_ffi = FFI()  # for types that belong to no library

T = TypeVar("T")


class Cell(Generic[T]):
    """One C value, for functions that store through a pointer.

    :ivar value: the value
    """

    _ffi: ClassVar[FFI]
    _pointer_type: ClassVar[object]
    _of: ClassVar[dict[object, str]] = {}  # name of the class, by pointer type

    def __init_subclass__(cls, ffi: FFI | None = None, ctype: str = "") -> None:
        if ffi is not None:
            cls._ffi = ffi
            cls._pointer_type = ffi.typeof(ctype + " *")
            cls._of.setdefault(cls._pointer_type, cls.__name__)

    def __init__(self, value: int = 0) -> None:
        if value is None:  # cffi would leave out the value
            raise refused(value, "an integer", f"{type(self).__name__}() wants")
        self._cdata = self._ffi.new(cast(Any, self._pointer_type), member(value))

    @property
    def value(self) -> T:
        return cast(T, self._cdata[0])

    @value.setter
    def value(self, value: T) -> None:
        self._cdata[0] = member(value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.value,)  # a copy has memory of its own


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


class Allocated(Cell["T | None"]):
    """A cell for what C allocates and its caller frees: Python's own afterwards, C's memory freed."""

    # By pointer (cffi's compare and hash as addresses), so that a call that is given byref() finds the cell.
    _at: ClassVar[WeakValueDictionary[CData, Allocated[Any]]] = WeakValueDictionary()

    def __init__(self) -> None:
        self._cdata = self._ffi.new(cast(Any, self._pointer_type))
        self._value: T | None = None
        self._at[self._cdata] = self

    @property
    def value(self) -> T | None:
        return self._value

    @value.setter
    def value(self, value: T | None) -> None:
        self._value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), {"_value": self._value}

    def _own(self, pointer: Any, count: int) -> T:
        """What C stored, as a Python object."""
        raise NotImplementedError

    def take(self, free: Callable[[CData], object], count: int = 0) -> None:
        """Turn what C stored, ``count`` elements of it, into a Python object."""
        pointer = self._cdata[0]
        if pointer:
            self._cdata[0] = _ffi.NULL
            self._value = self._own(pointer, count)
            free(pointer)

    @classmethod
    def at(cls, pointer: CData | None) -> Allocated[Any] | None:
        """The cell, if it is one, to which a pointer points."""
        return None if pointer is None else cls._at.get(pointer)

    def _address(self) -> CData:
        """The cell's address; it keeps the cell, so that a call with byref(c_char_p()) leaks nothing."""
        return cast(CData, kept_with(self._cdata, self))


def take(at: Any, free: Callable[[CData], object], count: int = 0) -> None:
    """Let the cell that C was given, or whose address, have what C stored there; other pointers are the caller's."""
    cell = at if isinstance(at, Allocated) else Allocated.at(at)
    if cell is not None:
        cell.take(free, count)


class c_char_p(Allocated[str], ffi=_ffi, ctype="char *"):
    """A cell for a string that C allocates: a str afterwards, its memory freed.

    :ivar value: the string, or None as long as no call has stored one
    """

    def _own(self, pointer: Any, count: int) -> str:  # noqa: ARG002 - of arrays
        return string(pointer)


class create_string_buffer:
    """Bytes that C writes a string into.

    :param size: size in bytes, the final NUL included
    :ivar value: the string up to the first NUL
    :ivar raw: all bytes
    """

    def __init__(self, size: int) -> None:
        try:
            self._cdata = _ffi.new("char[]", whole(size))
        except TypeError:
            raise refused(size, "an integer", "create_string_buffer() wants") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (len(self),), self.raw

    def __setstate__(self, raw: bytes) -> None:
        _ffi.memmove(self._cdata, raw, len(raw))

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


def string_or_none(pointer: Any) -> str | None:
    """The C string at a pointer, or None for NULL."""
    return string(pointer) if pointer else None


String = str | bytes | Array[Any] | CData | None
Buffer = create_string_buffer | bytearray | Array[Any] | CData | None
File = IO[str] | IO[bytes] | CData | None  # a file with a descriptor, for FILE *


def byref(obj: object, *path: str | int) -> CData:
    """The address of an object, or of a member of it: &obj, &obj.member.

    :param obj: a structure, a cell or a buffer
    :param path: names of members and indices of arrays
    :raises TypeError: it is none of these
    :raises AttributeError: it has no such member
    :raises IndexError: an array has no such element
    :return: a C pointer, which keeps the object, and of a part the whole
    """
    if isinstance(obj, (Cell, create_string_buffer)):
        if path:
            raise TypeError(f"byref(): a {type(obj).__name__} has no members")
        return obj._address() if isinstance(obj, Allocated) else obj._cdata
    part = raw(obj)
    if not isinstance(part, CData) or _ffi.typeof(part).kind not in {"struct", "union", "array"}:
        raise refused(obj, "a structure, a cell or a buffer", "byref() wants")
    try:
        path = tuple(step if isinstance(step, str) else whole(step) for step in path)
        for at, step in enumerate(path[:-1] if path and isinstance(path[-1], str) else path, 1):
            part = getattr(part, step) if isinstance(step, str) else part[step]  # cffi checks no index of addressof()
            if at < len(path) and isinstance(part, CData) and _ffi.typeof(part).kind == "pointer":
                raise TypeError(f"byref(): {step!r} is a pointer, through which no path leads")
        if isinstance(obj, Part):
            return cast(CData, address_of(obj, *path))
        return cast(CData, kept_with(_ffi.addressof(cast(Any, obj), *path), obj))
    except KeyError as error:
        ctype: Any = _ffi.typeof(part)
        raise AttributeError(no_field(f"byref(): {ctype.cname}", error, ctype)) from None


def sizeof(obj: object) -> int:
    """The bytes that an object or a type has in C.

    :param obj: a structure, an array, a cell or a buffer, or the class of structures or cells
    :raises TypeError: it is none of these
    :return: sizeof(obj)
    """
    if isinstance(obj, type) and issubclass(obj, Cell):
        return _ffi.sizeof(cast(Any, obj._pointer_type).item)
    if isinstance(obj, type) and issubclass(obj, Struct) and hasattr(obj, "_type"):
        return _ffi.sizeof(ctype_of(obj))
    if isinstance(obj, Cell):
        return sizeof(type(obj))
    cdata = obj._cdata if isinstance(obj, create_string_buffer) else raw(obj)
    if not isinstance(cdata, CData):
        raise refused(obj, "a structure, a cell, a buffer or a type of these", "sizeof() wants")
    return _ffi.sizeof(cdata)


# ---- arguments ----------------------------------------------------------------

Converter: TypeAlias = Callable[[Any], Any]  # a Python argument -> what cffi is given

# What a converter, or cffi's own conversion of a number, raises. C itself raises nothing.
REFUSED = (TypeError, ValueError, OverflowError, AttributeError)

_VOID_POINTER = _ffi.typeof("void *")
_CHARS = (_ffi.typeof("char *"), _VOID_POINTER)


def text(value: object) -> object:
    """A ``const char *``: bytes without a NUL, or a pointer as it is."""
    if type(value) is str and value.isascii() and "\0" not in value:  # nearly all
        return value.encode()
    if isinstance(value, (str, bytes)):
        return _c_string(value)
    if value is None:
        return _ffi.NULL
    value = value._cdata if isinstance(value, create_string_buffer) else raw(value)
    if isinstance(value, CData):
        given = _ffi.typeof(value)
        if given in _CHARS:
            return value
        if given.kind == "array" and given.item is _CHARS[0].item:
            return _ffi.string(value)  # a NUL follows, whatever the array ends with
    raise refused(value, "str or bytes")


def _c_string(value: str | bytes) -> bytes:
    try:
        data = value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError:
        data = cast(str, value).encode("utf-8", "surrogateescape")
    if 0 in data:
        raise ValueError(f"is a C string, which cannot hold a NUL: {value!r:.200}")
    return data


def room(value: Buffer, size: int, parameter: str = "size") -> CData | None:
    """A ``char *`` into which C writes: a buffer, once it is known to have the size that C is told."""
    size, value = whole(size), raw(value)
    if isinstance(value, create_string_buffer):
        data: Any = value._cdata
    elif isinstance(value, bytearray):
        data = _ffi.from_buffer("char[]", value, require_writable=True)
    elif isinstance(value, CData) and (_ffi.typeof(value) in _CHARS or _is_array_of(value, _CHARS[0].item)):
        data = value
    elif value is None:
        return _ffi.NULL
    else:
        raise refused(value, "create_string_buffer(), a bytearray or a char array")
    if _ffi.typeof(data).kind == "array" and size > len(data):
        raise ValueError(f"is too short: {parameter} is {size}, but the buffer has only {len(data)} bytes")
    return cast(CData, data)


def _is_array_of(value: Any, item: object) -> bool:
    given = _ffi.typeof(value)
    return given.kind == "array" and given.item is item


def integer(pointer: Any) -> Converter:
    """The converter of the integer type that a type points to: of what has __index__(), and of C's integers."""
    def convert(value: Any) -> Any:
        try:
            number = value if isinstance(value, CData) else whole(value)
            return cast(Any, _ffi.new(pointer, number))[0]  # OverflowError
        except TypeError:
            raise refused(value, "an integer") from None

    return convert


def pointer_to(ctype: Any) -> Converter:
    """The converter of a pointer type: of a cell or structure of the type it points to, an array, byref(), None."""
    target = ctype.item
    structure = target.kind in {"struct", "union"}
    cell = Cell._of.get(ctype)
    wanted = target.cname if structure else f"{cell}() or another {ctype.cname}" if cell else ctype.cname
    addressof, typeof, null = _ffi.addressof, _ffi.typeof, _ffi.NULL
    direct = (ctype, _VOID_POINTER)

    def convert(value: Any) -> Any:
        if isinstance(value, Cell):
            if value._pointer_type is ctype:
                return value._cdata
        elif isinstance(value, (Part, CData)):
            cdata: Any = raw(value)
            given = typeof(cdata)
            if given is target and structure:
                return addressof(cdata)
            if given in direct:
                return cdata
            if given.kind == "array" and given.item is target:
                if len(cdata):
                    return cdata
                raise ValueError(f"is too short: an array of no {target.cname}")
        elif value is None:
            return null
        raise refused(value, wanted)

    return convert


def anything(value: Any) -> Any:
    """A ``void *`` into which C does not look: the address of a cell or structure."""
    if isinstance(value, Cell):
        return value._cdata
    value = raw(value)
    if isinstance(value, CData):
        kind = _ffi.typeof(value).kind
        if kind in {"struct", "union"}:
            return _ffi.addressof(value)
        if kind in {"pointer", "array"}:
            return value
    elif value is None:
        return _ffi.NULL
    raise refused(value, "a cell or structure")


def file(ctype: Any) -> Converter:
    """The converter of ``FILE *``: of an open file, which cffi makes a FILE of."""
    def convert(value: Any) -> Any:
        if value is None:
            return _ffi.NULL
        if isinstance(value, CData):
            if _ffi.typeof(value) in {ctype, _VOID_POINTER}:
                return value
        elif callable(getattr(value, "fileno", None)) and isinstance(getattr(value, "mode", None), str):
            value.fileno()  # ValueError, OSError: closed, without a descriptor
            return value
        raise refused(value, "an open file")

    return convert


def function(value: Any) -> Any:
    """A pointer to a function: what can be called."""
    if value is not None and (not callable(value) or isinstance(value, CData)):
        raise refused(value, "a function")
    return value


class Calls:
    """Calls of a library's functions with each argument checked and, where it is wrong, named.

    :param ffi: of the library's extension module
    :param lib: likewise
    :param parameters: of each function name and C type of its parameters; ``char[n]`` is a buffer
        with the size n, a later parameter; ``()`` is a pointer to a function
    :ivar parameters: likewise
    """

    def __init__(self, ffi: FFI, lib: Any, parameters: Mapping[str, tuple[tuple[str, str], ...]]) -> None:
        self._ffi, self._lib, self.parameters = ffi, lib, parameters
        self._converters: dict[str, Converter] = {
            "const char *": text, "void *": anything, "()": function, "FILE *": file(ffi.typeof("FILE *"))}

    def converter(self, ctype: str) -> Converter:
        """The converter of a C type."""
        found = self._converters.get(ctype)
        if found is None:
            known = self._ffi.typeof(ctype)
            found = pointer_to(known) if known.kind == "pointer" else integer(self._ffi.typeof(ctype + " *"))
            self._converters[ctype] = found
        return found

    def arguments(self, name: str, args: tuple[Any, ...], /, **special: Converter) -> list[Any]:
        """What C is given for the arguments of a function; ``special`` has other converters for some parameters."""
        given = dict(zip((parameter for parameter, _ in self.parameters[name]), args, strict=True))
        # Buffers last: their sizes are known to be numbers then.
        for parameter, ctype in sorted(self.parameters[name], key=lambda p: p[1].startswith("char[")):
            try:
                if ctype.startswith("char["):
                    given[parameter] = room(given[parameter], given[ctype[5:-1]], ctype[5:-1])
                else:
                    given[parameter] = (special.get(parameter) or self.converter(ctype))(given[parameter])
            except REFUSED as error:
                raise _named(error, f"{name}(): {parameter}") from None
        return list(given.values())

    def further(self, name: str, parameter: str, ctype: str, value: Any) -> Any:
        """What C is given for an argument that its header does not declare, after `...`: a C object of this type."""
        try:
            given = self.converter(ctype)(value)
            return self._ffi.new("char[]", given) if isinstance(given, bytes) else self._ffi.cast(ctype, given)
        except REFUSED as error:
            raise _named(error, f"{name}(): {parameter}") from None

    def __call__(self, name: str, /, *args: Any, **special: Converter) -> int:
        """Call a function; the strings that it stores in cells become the cells' own."""
        ret: int = getattr(self._lib, name)(*self.arguments(name, args, **special))
        for (_, ctype), value in zip(self.parameters[name], args, strict=True):
            if ctype == "char **":
                take(value, self._lib.free)
        return ret

    def pointer(self, name: str, *args: Any) -> CData:
        """Call a function that returns a pointer."""
        return cast(CData, getattr(self._lib, name)(*self.arguments(name, args)))


def _named(error: Exception, where: str) -> Exception:
    """The error of an argument, with the function's and the parameter's names before its text."""
    if isinstance(error, UnicodeError):  # made of more than a text
        return ValueError(f"{where} is no UTF-8: {error}")
    kind = next(k for k in (OverflowError, ValueError, TypeError, AttributeError) if isinstance(error, k))
    return kind(f"{where} {error}" if kind is not OverflowError else f"{where}: {error}")
