"""Calls of a C library through cffi, with ctypes objects as arguments.

The generated modules (pypfm._c.pfm3_api ...) have a function for each one of C.  cffi calls it: it is checked by the C
compiler, and needs no libffi.  But cffi takes more than C does: a list for a pointer, a char * for any other one.  So
every argument goes through the converter of its C type, and what that refuses never reaches C.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from _cffi_backend import FFI

from pypfm._c.convert import string, string_or_none, whole
from pypfm._c.references import Reference, address_in, lies_at, part_at, room_at
from pypfm._c.structures import Array, Structure, Text, Union, c_string, declare, kept

if TYPE_CHECKING:
    from _ctypes import _CArgObject, _CData

__all__ = [
    "REFUSED", "Address", "Array", "Buffer", "CData", "Calls", "Converter", "Declared", "File", "Ref", "String",
    "Structure", "Text", "Union", "bytes_at", "declare", "integer", "owner", "refused", "room", "string",
    "string_or_none", "take_string", "text",
]

CData = FFI.CData
# A member in the declarations of a header: name, type, members of a structure without a name of its own.
Declared: TypeAlias = "tuple[str, str, tuple[Declared, ...]]"
T = TypeVar("T")
# What a function takes, by the kind of its parameter. Texts: ctypes' classes take no brackets while a program runs.
Ref: TypeAlias = "T | Array[T] | ctypes.Array[T] | ctypes._Pointer[T] | _CArgObject | CData | None"  # T *
Address: TypeAlias = "_CData | _CArgObject | CData | None"  # void *
String: TypeAlias = "str | bytes | ctypes.c_char_p | ctypes.Array[ctypes.c_char] | CData | None"  # const char *
Buffer: TypeAlias = "ctypes.Array[ctypes.c_char] | bytearray | memoryview | _CArgObject | CData | None"  # char *
File: TypeAlias = "IO[str] | IO[bytes] | CData | None"  # FILE *

Converter: TypeAlias = Callable[[Any], Any]  # a Python argument -> what cffi is given

# What a converter, or cffi's own conversion of a number, raises. C itself raises nothing.
REFUSED = (TypeError, ValueError, OverflowError, AttributeError)

_ffi = FFI()  # for types that belong to no library
_NULL = _ffi.NULL
_VOID_POINTER = _ffi.typeof("void *")
_CHARS = (_ffi.typeof("char *"), _VOID_POINTER)
_CHAR = _CHARS[0].item
_BYTES = _ffi.typeof("char[]")
_from_buffer: Any = _ffi.from_buffer
_CDATA: Any = ctypes._SimpleCData.__base__  # the base of all ctypes objects
# How the buffer interface writes the numbers of an array that stands for C's.
_FORMATS: dict[Any, str] = {ctypes.c_int: "i", ctypes.c_uint: "I", ctypes.c_long: "lq", ctypes.c_ulong: "LQ"}


def refused(value: object, wanted: str, instead: str = "", verb: str = "wants") -> TypeError:
    """Return the error for an argument of a wrong type; the caller puts function and parameter before it.

    :param wanted: what C takes
    :param instead: what to write
    """
    given = type(value).__name__
    if isinstance(value, CData):
        given = _ffi.typeof(value).cname
    elif isinstance(value, Reference):
        given = type(cast(Any, value)._obj).__name__
    if given == wanted:
        given = "that of the library's other form"
    if isinstance(value, Reference):
        offset = address_in(value)[1]
        given = f"byref() of {given}{f' at offset {offset}' if offset else ''}"
    return TypeError(f"{verb} {wanted}, not {given}" + (f"; write {instead}" if instead else ""))


# ---- converters -----------------------------------------------------------------------------------------------------

def text(value: object) -> object:
    """Convert an argument for a ``const char *``: bytes without a NUL, or a pointer as it is."""
    if type(value) is str and value.isascii() and "\0" not in value:  # nearly all
        return value.encode()
    if isinstance(value, (str, bytes)):
        return c_string(value)
    if value is None:
        return _NULL
    found = _cffi_text(value) if isinstance(value, CData) else _ctypes_text(value)
    if found is None:
        raise refused(value, "str or bytes")
    return found


def _cffi_text(value: CData) -> object:
    given: Any = _ffi.typeof(value)
    if given in _CHARS:
        return value
    # A NUL follows the bytes of an array, whatever it ends with.
    return _ffi.string(value) if given.kind == "array" and given.item is _CHAR else None


def _ctypes_text(value: object) -> object:
    if isinstance(value, ctypes.c_char_p):
        return _NULL if value.value is None else value.value
    return value.value if isinstance(value, ctypes.Array) and cast(Any, value)._type_ is ctypes.c_char else None


def room(value: Any, size: int, parameter: str = "size") -> Any:
    """Convert an argument for a ``char *`` into which C writes: check that the buffer has the size that C is told."""
    size = whole(size)
    if isinstance(value, ctypes.Array) and cast(Any, value)._type_ is ctypes.c_char:
        data: Any = _from_buffer(_BYTES, value)
    elif value is None:
        return _NULL
    elif isinstance(value, CData):
        data, given = value, cast(Any, _ffi.typeof(value))
        if given not in _CHARS and not (given.kind == "array" and given.item is _CHAR):
            data = None
    elif isinstance(value, Reference):
        data = address_of(value) if lies_at(value._obj.__class__, address_in(value)[1], ctypes.c_char) else None
    elif isinstance(value, ctypes._Pointer):
        data = address_of(value) if cast(Any, value)._type_ is ctypes.c_char else None
    else:
        data = _writable(value, "Bbc")
    if data is None:
        raise refused(value, "a char * to write to", "create_string_buffer(), a bytearray, or None for NULL")
    there = len(data) if _ffi.typeof(data).kind == "array" else bytes_at(value)
    if there is not None and size > there:
        raise ValueError(f"is too short: {parameter} is {size}, but the buffer has only {there} bytes")
    return data


def _writable(value: Any, formats: str) -> Any:
    """Return the memory of an object with the buffer interface (numpy's arrays, array.array) as char[], or None."""
    try:
        view = memoryview(value)
    except TypeError:
        return None
    if isinstance(value, _CDATA):  # a union says that it is made of bytes
        return None
    fits = not view.readonly and view.c_contiguous and (view.format or "B").lstrip("@=<") in formats
    return _from_buffer(_BYTES, view) if fits else None


def address_of(value: Any) -> Any:
    """Return the ``void *`` of a pointer or of byref(); the caller keeps the value alive."""
    at = ctypes.cast(value, ctypes.c_void_p).value
    return _ffi.cast(_VOID_POINTER, at or 0)


def integer(pointer: Any) -> Converter:
    """Return the converter for the integer type of a pointer: it takes all with __index__(), and C's integers."""
    def convert(value: Any) -> Any:
        try:
            number = value if isinstance(value, CData) else whole(value)
            return cast(Any, _ffi.new(pointer, number))[0]  # OverflowError
        except TypeError:
            raise refused(value, "an integer") from None

    return convert


def pointer_to(ctype: Any, kind: Any) -> Converter:
    """Return the converter of a pointer type.

    :param ctype: cffi's, of the pointer
    :param kind: the ctypes class of what it points to; None: only cffi's own objects, and None
    """
    if kind is None:
        return partial(_cffi_pointer, ctype, "")
    cast_to, cast_from, void_p, address_of_object = _ffi.cast, ctypes.cast, ctypes.c_void_p, ctypes.addressof
    name = "ctypes." * (kind.__module__ == "ctypes") + kind.__name__
    instead = f"{name}(), byref({name}()), an array of them, or None for NULL"

    def convert(value: Any) -> Any:
        if type(value) is kind:
            return _from_buffer(ctype, value)
        if type(value) is Reference:  # as address_in() has it, in line: it is half of a call
            at: Any = cast_from(value, void_p).value
            if lies_at(value._obj.__class__, at - address_of_object(value._obj), kind):
                return cast_to(ctype, at)
            raise refused(value, _wanted(ctype), instead)
        found = _pointer(ctype, kind, value)
        return _cffi_pointer(ctype, instead, value) if found is None else found

    return convert


# The size that libpfm 4 itself writes into a structure, where it exceeds the structure's; C reads no byte past the end.
_WRITTEN = {"pfm_event_attr_info_t": 72}


def _of_its_size(convert: Converter, kind: Any, value: Any) -> Any:
    """Convert to a pointer to a structure that holds its own size: C reads that many bytes."""
    given, structure = convert(value), owner(value, kind)
    there = 0 if structure is None else ctypes.sizeof(structure)
    if structure is not None and structure.size > max(there, _WRITTEN.get(kind.__name__, 0)):
        raise ValueError(f"is too short: its size is {structure.size}, but it has only {there} bytes")
    return given


def _wanted(ctype: Any) -> str:
    return str(ctype.item.cname if ctype.item.kind in {"struct", "union"} else ctype.cname)


def _pointer(ctype: Any, kind: Any, value: Any) -> Any:
    """Convert rarer arguments: an array, an object of a user's class, a pointer, other arrays of numbers; else None."""
    if isinstance(value, ctypes.Array):
        return _elements(value, _from_buffer(ctype, value)) if issubclass(cast(Any, value)._type_, kind) else None
    if isinstance(value, kind):
        return _from_buffer(ctype, value)
    if isinstance(value, ctypes._Pointer):
        return _ffi.cast(ctype, address_of(value)) if cast(Any, value)._type_ is kind else None
    data = _writable(value, _FORMATS[kind]) if kind in _FORMATS else None
    return None if data is None else _elements(data, _ffi.cast(ctype, data))


def _cffi_pointer(ctype: Any, instead: str, value: Any) -> Any:
    """Convert cffi's own objects to a pointer."""
    target = ctype.item
    if value is None:
        return _NULL
    if isinstance(value, CData):
        given: Any = _ffi.typeof(value)
        if given is target and target.kind in {"struct", "union"}:
            return _ffi.addressof(value)
        if given in (ctype, _VOID_POINTER):
            return value
        if given.kind == "array" and given.item is target:
            return _elements(value, value)
    raise refused(value, _wanted(ctype), instead)


def _elements(array: Any, pointer: Any) -> Any:
    if len(array):
        return pointer
    raise ValueError("is too short: an array without elements")


def address(value: Any) -> Any:
    """Convert to a ``void *``: the address of a ctypes object, or the target of a pointer."""
    if value is None:
        return _NULL
    if isinstance(value, CData):
        kind = _ffi.typeof(value).kind
        if kind in {"struct", "union"}:
            return _ffi.addressof(value)
        if kind in {"pointer", "array"}:
            return value
    elif isinstance(value, (Reference, ctypes._Pointer, ctypes.c_void_p)):
        return address_of(value)
    elif isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return _from_buffer(_BYTES, value)
    raise refused(value, "a void *", "a structure, a variable as c_int(), an array, byref() of these, None for NULL")


def bytes_at(value: Any) -> int | None:
    """Return how many bytes there are where a ``void *`` of `address` points to; None if that is not known."""
    if isinstance(value, Reference):
        return room_at(value)
    if isinstance(value, CData):
        return None if _ffi.typeof(value).kind == "pointer" else _ffi.sizeof(value)
    if isinstance(value, ctypes._Pointer):
        at = ctypes.cast(value, ctypes.c_void_p).value or 0
        ends = (ctypes.addressof(one) + ctypes.sizeof(one) for one in _kept_in(kept(value))
                if ctypes.addressof(one) <= at < ctypes.addressof(one) + ctypes.sizeof(one))
        return max((end - at for end in ends), default=None)
    return None if value is None or isinstance(value, ctypes.c_void_p) else ctypes.sizeof(value)


def file(ctype: Any) -> Converter:
    """Return the converter of ``FILE *``: it takes an open file, of which cffi makes a FILE."""
    def convert(value: Any) -> Any:
        if value is None:
            return _NULL
        if isinstance(value, CData):
            if _ffi.typeof(value) in {ctype, _VOID_POINTER}:
                return value
        elif callable(getattr(value, "fileno", None)) and isinstance(getattr(value, "mode", None), str):
            value.fileno()  # ValueError, OSError: closed, without a descriptor
            return value
        raise refused(value, "an open file")

    return convert


def function(value: Any) -> Any:
    """Convert a callable to a pointer to a function."""
    if value is not None and (not callable(value) or isinstance(value, CData)):
        raise refused(value, "a function")
    return value


# ---- what C allocates -----------------------------------------------------------------------------------------------

def owner(value: Any, kind: Any) -> Any:
    """Return the Python object of a ctypes class whose address an argument is; None if there is none.

    What is stored in it is kept as long as it is; in what a pointer's ``contents`` are, no longer than the pointer.
    A string or a pointer that is an element of an array is no object of its own.
    """
    if isinstance(value, kind):
        return value
    if isinstance(value, Reference):
        return part_at(value, kind)
    if isinstance(value, ctypes.Array):
        value = ctypes.byref(value)
        return part_at(value, kind)
    if isinstance(value, ctypes._Pointer) and value:
        at = ctypes.cast(value, ctypes.c_void_p).value
        known = (one for one in _kept_in(kept(value)) if isinstance(one, kind))
        return next((one for one in known if ctypes.addressof(one) == at), None)
    return None


def _kept_in(objects: Any) -> Iterator[Any]:
    """Yield the ctypes objects that ctypes keeps alive for pointers."""
    for one in objects.values() if isinstance(objects, dict) else objects:
        if isinstance(one, (dict, tuple)):
            yield from _kept_in(one)
        elif isinstance(one, _CDATA):
            yield one


def take_string(cell: Any, free: Callable[[Any], object]) -> None:
    """Copy the string that C allocated into memory of Python, store it in a ``c_char_p``, and free C's."""
    theirs = _ffi.cast(_VOID_POINTER, ctypes.c_void_p.from_buffer(cell).value or 0)
    cell.value = cell.value
    free(theirs)


# ---- calls ----------------------------------------------------------------------------------------------------------

class Calls:
    """Calls of a library's functions with each argument checked and, where it is wrong, named.

    :param ffi: of the library's extension module
    :param lib: likewise
    :param parameters: of each function name and C type of its parameters; ``char[n]`` is a buffer
        with the size n, a later parameter; ``()`` is a pointer to a function
    :param classes: ctypes classes by C type
    :ivar parameters: likewise
    """

    def __init__(self, ffi: FFI, lib: Any, parameters: Mapping[str, tuple[tuple[str, str], ...]],
                 classes: Mapping[str, Any]) -> None:
        self._ffi, self._lib, self.parameters, self.classes = ffi, lib, parameters, classes
        self._converters: dict[str, Converter] = {
            "const char *": text, "void *": address, "()": function, "FILE *": file(ffi.typeof("FILE *"))}

    def converter(self, ctype: str) -> Converter:
        """Return the converter of a C type."""
        found = self._converters.get(ctype)
        if found is None:
            known = self._ffi.typeof(ctype)
            if known.kind == "pointer":
                kind = self.classes.get(ctype[:-1].strip())
                found = pointer_to(known, kind)
                if ("size", ctypes.c_size_t) in getattr(kind, "_fields_", ()):
                    found = partial(_of_its_size, found, kind)
            else:
                found = integer(self._ffi.typeof(ctype + " *"))
            self._converters[ctype] = found
        return found

    def pointer_names(self, ctype: str) -> dict[str, Any]:
        """Return what fast calls of a generated module need for a pointer type: converter, class, cffi's type."""
        suffix = re.sub(r"\W+", "_", ctype.replace("*", "p"))
        found: dict[str, Any] = {f"_to_{suffix}": self.converter(ctype)}
        if (kind := self.classes.get(ctype[:-1].strip())) is not None:
            found |= {f"_k_{suffix}": kind, f"_p_{suffix}": self._ffi.typeof(ctype)}
        return found

    def arguments(self, name: str, args: tuple[Any, ...], /, **special: Converter) -> list[Any]:
        """Return C arguments for a function's arguments; ``special`` has other converters for some parameters."""
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
        """Convert an argument that stands for the header's `...` to a C object of the given type."""
        try:
            given = self.converter(ctype)(value)
            return self._ffi.new("char[]", given) if isinstance(given, bytes) else self._ffi.cast(ctype, given)
        except REFUSED as error:
            raise _named(error, f"{name}(): {parameter}") from None

    def __call__(self, name: str, /, *args: Any, **special: Converter) -> int:
        """Call a function."""
        return int(getattr(self._lib, name)(*self.arguments(name, args, **special)))

    def allocating(self, name: str, /, *args: Any) -> int:
        """Call a function that allocates strings: those that it stores in variables of Python become Python's own."""
        given = self.arguments(name, args)
        cells = [cell for (_, ctype), value in zip(self.parameters[name], args, strict=True)
                 if ctype == "char **" and (cell := owner(value, ctypes.c_char_p)) is not None]
        before = [bytes(cell) for cell in cells]
        ret = int(getattr(self._lib, name)(*given))
        for cell, old in zip(cells, before, strict=True):
            if bytes(cell) != old:
                take_string(cell, self._lib.free)
        return ret

    def pointer(self, name: str, *args: Any) -> CData:
        """Call a function that returns a pointer."""
        return cast(CData, getattr(self._lib, name)(*self.arguments(name, args)))

    def address(self, name: str, *args: Any) -> int:
        """Call a function that returns a pointer, and return it as a number."""
        return int(cast(Any, self._ffi.cast("uintptr_t", self.pointer(name, *args))))


def _named(error: Exception, where: str) -> Exception:
    """Put the names of the function and of the parameter before the text of an argument's error."""
    if isinstance(error, UnicodeError):  # made of more than a text
        return ValueError(f"{where} is no UTF-8: {error}")
    kind = next(k for k in (OverflowError, ValueError, TypeError, AttributeError) if isinstance(error, k))
    return kind(f"{where} {error}" if kind is not OverflowError else f"{where}: {error}")
