"""Structures and arrays of C memory as Python objects.

cffi's own objects are no guard of memory: a part of a structure (``inp.pfp_events[0]``) is an address and keeps
nothing, so that it shows other memory once the whole is gone, and neither does a structure keep the buffer that one
of its pointers was set to.  So what a mirror hands out is a `Part`: the cffi object, and the `Memory` that it is in.
Comparing, copying and writing them stand here, too, once for all structures; what the fields are is asked of cffi.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from functools import cache, partial
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast, overload
from weakref import WeakValueDictionary

from _cffi_backend import FFI, new_array_type

__all__ = [
    "Array", "CData", "Fields", "MirrorFFI", "Part", "Struct", "Union", "address_of", "alive", "ctype_of", "in_memory",
    "kept_with", "member", "mirror_ffi", "no_field", "raw", "raw_all", "refused", "whole",
]

CData = FFI.CData
_ffi = FFI()  # for types that belong to no library
_MANY = 0x10000  # from here on numbers are written in hexadecimal

T = TypeVar("T")
P = TypeVar("P", bound="Part")


class Memory:
    """Memory that Python owns, and what the pointers in it were set to: all goes when the last part goes.

    :ivar owner: the cffi object
    :ivar kept: by address of a pointer, what it was set to
    """

    __slots__ = ("__weakref__", "kept", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.kept: dict[int, Any] = {}


def refused(value: object, wanted: str, verb: str = "wants") -> TypeError:
    """The error of an argument of a wrong type; who knows the function and the parameter puts them before it."""
    cdata = raw(value)
    given = _ffi.typeof(cdata).cname if isinstance(cdata, CData) else type(value).__name__
    if given == wanted:
        given = "that of the library's other form"
    return TypeError(f"{verb} {wanted}, not {given}")


def _let_go(kept: object, pointer: CData) -> None:
    """Nothing to do: the reference to what was kept goes."""


def kept_with(pointer: Any, kept: object) -> Any:
    """A pointer that keeps an object as long as it lives itself."""
    return _ffi.gc(pointer, partial(_let_go, kept))


def _number(pointer: Any) -> int:
    return int(cast(Any, _ffi.cast("uintptr_t", pointer)))


class Part:
    """A structure, a union or an array: a cffi object, and the memory that it is in."""

    __slots__ = ("__weakref__", "_cdata", "_memory")
    _cdata: Any
    _memory: Memory

    def __bytes__(self) -> bytes:
        return _bytes(self._cdata)

    def __eq__(self, other: object) -> bool:
        """By content: of the same C type, and the same values in all members."""
        cdata = raw(other)
        if not isinstance(cdata, CData) or _ffi.typeof(cdata) is not _ffi.typeof(self._cdata):
            return NotImplemented
        # What lies between members says nothing: if the bytes differ, the values decide.
        return _bytes(self._cdata) == _bytes(cdata) or _values(self._cdata) == _values(cdata)

    __hash__: ClassVar[None]  # type: ignore[assignment]  # none: the content changes

    def __copy__(self: P) -> P:
        return cast(P, _copy(self))

    def __deepcopy__(self: P, memo: dict[int, Any]) -> P:
        """A copy; what pointers point to is not copied: of that C knows no more than the address."""
        return cast(P, _copy(self))

    def __repr__(self) -> str:
        ctype: Any = _ffi.typeof(self._cdata)
        return f"<{ctype.cname}: {_text(_written(self._cdata))}>"


def raw(value: Any) -> Any:
    """The cffi object of a part; anything else as it is."""
    return value._cdata if isinstance(value, Part) else value


def raw_all(value: Any) -> Any:
    """The same of all that is in dicts and lists."""
    if isinstance(value, dict):
        return {name: raw_all(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [raw_all(v) for v in value]
    return raw(value)


def whole(value: Any) -> int:
    """A whole number, of what stands for one: what operator.index() takes, and numpy's bool, which it does not.

    :raises TypeError: it is none
    """
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ in {"bool", "bool_"}:
        return int(value)  # before index(), of which numpy 2.2 warns
    return index(value)


def member(value: Any) -> Any:
    """What a member or a cell is set to, as cffi is given it: of a number cffi would take the whole part silently."""
    if type(value) is int or isinstance(value, (CData, bytes)):
        return value
    if isinstance(value, Part):
        return value._cdata
    if not hasattr(value, "__int__") and not hasattr(value, "__index__"):
        return value  # cffi says what is wrong
    try:
        return whole(value)
    except TypeError:
        raise refused(value, "an integer", "a C integer wants") from None


def given(value: Any, ctype: Any) -> Any:
    """What a member or a cell of a type is set to, as cffi is given it: of a structure what is written of it.

    :raises TypeError: a structure in it has no such field, or a number is none
    """
    if ctype.kind == "pointer" and value is None:
        return _ffi.NULL
    if ctype.kind == "pointer" and isinstance(value, Part) and _ffi.typeof(value._cdata) is ctype.item:
        return _pointer_to(value._cdata)
    if ctype.kind == "array" and _is_sequence(value, ctype):
        return [given(one, ctype.item) for one in value]
    if ctype.kind in {"struct", "union"} and isinstance(value, (dict, list, tuple)):
        return _given_structure(value, ctype)
    return member(value)


def _given_structure(value: Any, ctype: Any) -> Any:
    fields = _fields(ctype)
    if not isinstance(value, dict):
        if len(value) > len(fields):
            raise TypeError(f"{ctype.cname} has {len(fields)} fields, not {len(value)}")
        return [given(one, field.type) for one, field in zip(value, fields.values(), strict=False)]
    for name in value:
        if name not in fields:
            raise TypeError(no_field(ctype.cname, KeyError(name), ctype))
    return {name: given(one, fields[name].type) for name, one in value.items()}


def _is_sequence(value: Any, ctype: Any) -> bool:
    """Whether the elements of an array are taken one by one: as cffi takes a list only, or an array of that length."""
    if isinstance(value, (list, tuple)):
        return True
    if isinstance(value, Array):
        return _ffi.typeof(value._cdata) is not ctype
    return (hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, dict, CData))
            and not _has_pointers(ctype))


@cache
def _fields(ctype: Any) -> dict[str, Any]:
    return dict(ctype.fields or ())


def _pointer_to(cdata: Any) -> Any:
    return cdata if _ffi.typeof(cdata).kind in {"array", "pointer"} else _ffi.addressof(cdata)


def _bytes(cdata: Any) -> bytes:
    return bytes(_ffi.buffer(_pointer_to(cdata), _ffi.sizeof(cdata)))


def in_memory(cdata: Any, memory: Memory) -> Any:
    """A structure, a union or an array, given the memory that it is in."""
    ctype = _ffi.typeof(cdata)
    made: Any = _make(_classes.get(ctype) or (Array if ctype.kind == "array" else _class_of(ctype, cdata)))
    _set_cdata(made, cdata)
    _set_memory(made, memory)
    return made


_make: Any = object.__new__
# Past Struct.__setattr__, which sets fields.
_set_cdata: Any = Part.__dict__["_cdata"].__set__
_set_memory: Any = Part.__dict__["_memory"].__set__


def address_of(part: Part, *path: str | int) -> Any:
    """A pointer to a part, or to a member of it, which keeps the memory."""
    return kept_with(_ffi.addressof(part._cdata, *path), part)


def _got(part: Part, step: str | int, value: Any) -> Any:
    """A member or an element, as Python is given it."""
    ctype = _ffi.typeof(value)
    if ctype in _classes or ctype.kind in {"struct", "union", "array"}:
        return in_memory(value, part._memory)
    if ctype.kind == "pointer" and not value:
        return _ffi.NULL  # a void *: of another pointer cffi reads members and slices at that address, and Python ends
    if part._memory.kept and ctype.kind == "pointer":
        kept = part._memory.kept.get(_number(_ffi.addressof(part._cdata, step)))
        if kept is not None and _number(_pointer_to(raw(kept))) == _number(value):  # C may have set it anew
            return kept_with(value, kept)
    return value


# ---- what pointers were set to --------------------------------------------------------------------------------------

@cache
def _has_pointers(ctype: Any) -> bool:
    if ctype.kind == "array":
        return _has_pointers(ctype.item)
    if ctype.kind in {"struct", "union"}:
        return any(_has_pointers(field.type) for _, field in ctype.fields or ())
    return bool(ctype.kind == "pointer")


def _keep(memory: Memory, at: int, ctype: Any, value: Any) -> None:
    """Keep what the pointers of a member, which was just set, point to.

    :param at: the member's address
    :param value: what it was set to
    """
    if not _has_pointers(ctype):
        return
    if ctype.kind == "pointer":
        memory.kept.pop(at, None)
        if isinstance(raw(value), CData) and raw(value):
            memory.kept[at] = value
    elif isinstance(value, Part):
        _keep_copied(memory, at, value)
    elif ctype.kind == "array":
        for i, one in enumerate(value if isinstance(value, (list, tuple)) else ()):
            _keep(memory, at + i * _ffi.sizeof(ctype.item), ctype.item, one)
    else:
        fields = _fields(ctype)
        named = value if isinstance(value, dict) else dict(
            zip(fields, value, strict=False)) if isinstance(value, (list, tuple)) else {}
        for name, one in named.items():
            _keep(memory, at + fields[name].offset, fields[name].type, one)


def _keep_copied(memory: Memory, at: int, source: Part) -> None:
    """Keep what the pointers of a part point to, of which there is a copy at an address."""
    begin, size = _number(_pointer_to(source._cdata)), _ffi.sizeof(source._cdata)
    found = {at + place - begin: kept for place, kept in source._memory.kept.items() if begin <= place < begin + size}
    for place in [place for place in memory.kept if at <= place < at + size]:
        del memory.kept[place]
    memory.kept.update(found)


def _copy(part: Part) -> Part:
    cdata, ctype = part._cdata, cast(Any, _ffi.typeof(part._cdata))
    if ctype.kind == "array":
        owner: Any = _ffi.new(ctype, len(cdata)) if ctype.length is None else _ffi.new(ctype)
        made = in_memory(owner, Memory(owner))
    else:
        made = _new(cast("type[Struct]", type(part)), None)
    _ffi.memmove(_pointer_to(made._cdata), _pointer_to(cdata), _ffi.sizeof(cdata))
    _keep_copied(made._memory, _number(_pointer_to(made._cdata)), part)
    return cast(Part, made)


# ---- values ---------------------------------------------------------------------------------------------------------

def _range(field: Any) -> range:
    """The bits that a field has."""
    begin = 8 * field.offset + max(field.bitshift, 0)
    return range(begin, begin + (8 * _ffi.sizeof(field.type) if field.bitsize < 0 else field.bitsize))


@cache
def _members(ctype: Any) -> tuple[str, ...]:
    """Names of the members that say all: of those that lie one over the other the largest, of equals the first."""
    chosen: dict[str, range] = {}
    for name, field in ctype.fields or ():
        bits = _range(field)
        others = [n for n, b in chosen.items() if b.start < bits.stop and bits.start < b.stop]
        if len(bits) > sum(len(chosen[n]) for n in others):
            chosen = {n: b for n, b in chosen.items() if n not in others} | {name: bits}
    return tuple(chosen)


def _values(cdata: Any) -> Any:
    """What is compared."""
    if not isinstance(cdata, CData):
        return cdata
    ctype: Any = _ffi.typeof(cdata)
    if ctype.kind == "array":
        return [_values(one) for one in cdata]
    return [_values(getattr(cdata, n)) for n in _members(ctype)] if ctype.kind in {"struct", "union"} else cdata


def _written(cdata: Any) -> Any:
    """As the user writes it: dicts and lists, what is zero left out."""
    if not isinstance(cdata, CData):
        return cdata
    ctype: Any = _ffi.typeof(cdata)
    if ctype.kind == "array":
        if ctype.item.cname == "char":
            return bytes(_ffi.buffer(cdata)).rstrip(b"\0")
        values = [_written(one) for one in cdata]
        while values and not values[-1]:
            del values[-1]
        return values
    if ctype.kind not in {"struct", "union"}:
        return cdata
    return {name: value for name in _members(ctype) if (value := _written(getattr(cdata, name)))}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_text(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return hex(value) if type(value) is int and abs(value) >= _MANY else repr(value)


def no_field(name: str, error: KeyError, ctype: Any) -> str:
    """What is said of a field that a type does not have."""
    return f"{name} has no field {error!s:.200}; it has {', '.join(name for name, _ in ctype.fields)}"


# ---- arrays ---------------------------------------------------------------------------------------------------------

class Array(Part, Generic[T]):
    """An array, in a structure or of its own: ``len()``, loops, indices and slices to read and to write.

    Indices below 0 count from the end; slices are parts, without a step.  It equals an array of the same structures or
    numbers, or a list or a tuple, with the same elements.
    """

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._cdata)

    def __iter__(self) -> Iterator[T]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, at: int, /) -> T: ...
    @overload
    def __getitem__(self, at: slice, /) -> Array[T]: ...

    def __getitem__(self, at: Any, /) -> Any:
        value = self._cdata[self._place(at)]
        return _got(self, at, value) if isinstance(value, CData) else value

    @overload
    def __setitem__(self, at: int, value: T, /) -> None: ...
    @overload
    def __setitem__(self, at: slice, value: object, /) -> None: ...

    def __setitem__(self, at: Any, value: Any, /) -> None:
        at = self._place(at)
        ctype = cast(Any, _ffi.typeof(self._cdata))
        if not isinstance(at, slice):
            self._cdata[at] = given(value, ctype.item)
        elif isinstance(value, Part):
            self._cdata[at] = value._cdata
        else:
            value = list(value)
            self._cdata[at] = [given(one, ctype.item) for one in value]
        if _has_pointers(ctype):
            place: Any = self._cdata[at] if isinstance(at, slice) else _ffi.addressof(self._cdata, index(at))
            of = cast(Any, _ffi.typeof(place))
            _keep(self._memory, _number(place), of if isinstance(at, slice) else of.item, value)

    def _place(self, at: Any) -> Any:
        """The index, from the end if it is negative; of a slice both ends, which cffi wants."""
        if not isinstance(at, slice):
            at = at if type(at) is int else whole(at)
            return at if at >= 0 else at + len(self)
        begin, end, step = at.indices(len(self))
        if step != 1:
            raise IndexError("a slice of a C array has no step: it is a part of the memory; take one of a list()")
        return slice(begin, max(begin, end))

    def _is_of_other_length(self, other: Array[Any]) -> bool:
        mine, theirs = cast(Any, _ffi.typeof(self._cdata)), cast(Any, _ffi.typeof(other._cdata))
        return mine is not theirs and mine.item is theirs.item

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple)) or (isinstance(other, Array) and self._is_of_other_length(other)):
            return list(self) == list(other)
        return Part.__eq__(self, other)

    __hash__: ClassVar[None]

    def __reduce__(self) -> Any:
        raise TypeError(f"an array ({_ffi.typeof(self._cdata).cname}) is not pickled; list() of it may be")


# ---- structures -----------------------------------------------------------------------------------------------------

class Fields:
    """The fields of a structure without a name (for the type checker only)."""


class _StructType(type):
    """A C structure type: calling it gives a structure, isinstance() looks at the C type."""

    _type: object

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> _StructType:
        namespace.setdefault("__slots__", ())  # all that a structure has is in C
        return super().__new__(mcs, name, bases, namespace, **options)

    def __instancecheck__(cls, obj: object) -> bool:
        if isinstance(obj, CData):
            return _ffi.typeof(obj) is getattr(cls, "_type", None)
        return super().__instancecheck__(obj)


class Struct(Part, metaclass=_StructType):
    """A C structure type.

    Calling it gives a zeroed structure that owns its memory; keywords set fields (nested structures as dicts, arrays
    as lists).  A part of it (``inp.pfp_events[0]``) is no copy, and keeps the whole alive; so does what byref() of it
    returns.  A pointer is set to a structure, to what byref() returns, or to None, and keeps it; if it is 0, it is
    ``ffi.NULL``, of which nothing can be read.  What cffi makes of a pointer (``pointer[0]``, ``pointer + 1``) keeps
    nothing.

    Structures of a type are equal if all of their members are; copy.copy() has memory of its own; repr() is as it is
    written in Python, without what is 0; bytes() is its memory, and pickle takes it if no pointer is set.
    """

    __slots__ = ()
    _ffi: ClassVar[FFI]
    _type: ClassVar[object]
    _pointer: ClassVar[object]

    def __init_subclass__(cls, ffi: FFI | None = None, ctype: str = "") -> None:
        if ffi is not None:
            cls._ffi = ffi
            cls._type = ffi.typeof(ctype)
            cls._pointer = ffi.typeof(ctype + " *")
            _classes[cls._type] = cls

    def __new__(cls: type[T], **fields: object) -> T:
        return cast(T, _new(cast("type[Struct]", cls), fields))

    if not TYPE_CHECKING:  # which knows the fields by their annotations
        def __getattr__(self, name: str) -> Any:
            value = getattr(self._cdata, name)
            return _got(self, name, value) if isinstance(value, CData) else value

        def __setattr__(self, name: str, value: Any) -> None:
            if type(value) is int and name in _fields(self._type):  # nearly all; no pointer is set to one
                setattr(self._cdata, name, value)
                return
            field = _fields(self._type).get(name)
            if field is None:
                if name.startswith("_") or not hasattr(type(self), name):
                    raise AttributeError(no_field(type(self).__name__, KeyError(name), self._type))
                super().__setattr__(name, value)  # a property of a user's class
                return
            setattr(self._cdata, name, given(value, field.type))
            if _has_pointers(self._type):
                _keep(self._memory, _number(_ffi.addressof(self._cdata)) + field.offset, field.type, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name, _ in cast(Any, self._type).fields or ())})

    def __repr__(self) -> str:
        written = _written(self._cdata)
        special = {name: value for name, value in written.items() if keyword.iskeyword(name)}
        given = [f"{name}={_text(value)}" for name, value in written.items() if name not in special]
        return f"{type(self).__name__}({', '.join(given + ['**' + _text(special)] * bool(special))})"

    def _repr_html_(self) -> str:
        """The same as a table, for a notebook."""
        from pypfm._c.notebook import structure
        return structure(type(self).__name__, _written(self._cdata), _text)

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self).__module__ == __name__:
            raise TypeError("a structure that has no name in C is not pickled: pickle the one that it is in")
        if _has_pointers(self._type) and any(_set_pointers(self._cdata)):
            raise TypeError(f"a {type(self).__name__} is not pickled with a pointer in it: that is an address")
        return type(self).from_buffer_copy, (bytes(self),)

    @classmethod
    def array(cls: type[T], count: int) -> Array[T]:
        """An array of zeroed structures, to be passed where C takes the address of the first.

        :param count: how many
        :raises TypeError: it is no integer
        :raises ValueError: there is no array of so many
        """
        struct = cast("type[Struct]", cls)
        try:
            owner = struct._ffi.new(new_array_type(cast(Any, struct._pointer), None), whole(count))
        except TypeError:
            raise refused(count, "an integer", f"{cls.__name__}.array() wants") from None
        except (OverflowError, MemoryError):
            raise ValueError(f"{cls.__name__}.array(): no memory for {count} of them") from None
        return cast("Array[T]", in_memory(owner, Memory(owner)))

    @classmethod
    def from_buffer_copy(cls: type[T], source: object, offset: int = 0) -> T:
        """A structure with the bytes of an object (as ctypes has it), such as what os.read() returns.

        :param source: bytes, or what else has the buffer interface
        :param offset: where the structure begins in it
        :raises TypeError: it is no such object
        :raises ValueError: there are not enough bytes, or the offset is negative
        """
        struct = cast("type[Struct]", cls)
        try:
            data = memoryview(cast(Any, source))
            data = data.cast("B") if data.c_contiguous and data.nbytes else memoryview(data.tobytes())
            offset = whole(offset)
        except TypeError:
            given = offset if isinstance(source, (bytes, bytearray, memoryview)) else source
            raise refused(given, "bytes and an integer", f"{cls.__name__}.from_buffer_copy() wants") from None
        size = struct._ffi.sizeof(cast(Any, struct._type))
        if offset < 0 or len(data) - offset < size:
            raise ValueError(f"{cls.__name__}.from_buffer_copy(): {size} bytes are needed from offset {offset:#x},"
                             f" and there are {len(data)} in all")
        made = cls()
        _ffi.memmove(_pointer_to(raw(made)), data[offset:offset + size], size)
        return made


class Union(Struct):
    """A C union type; used as a structure type is."""


_classes: dict[Any, type[Struct]] = {}  # by C type
_alive: dict[Any, WeakValueDictionary[int, Memory]] = {}  # by C type, of those of which that is asked; by address


def _class_of(ctype: Any, cdata: Any) -> type[Struct]:
    """The class of a C type; one is made for a structure that has no name in C."""
    if ctype not in _classes:
        base = Union if ctype.kind == "union" else Struct
        namespace = {"__module__": __name__, "_ffi": _ffi, "_type": ctype,
                     "_pointer": _ffi.typeof(_ffi.addressof(cdata))}
        _classes[ctype] = cast("type[Struct]", _StructType(ctype.cname, (base,), namespace))
    return _classes[ctype]


def _new(struct: type[Struct], fields: dict[str, Any] | None) -> Any:
    ctype = cast(Any, struct._type)
    owner: Any = struct._ffi.new(cast(Any, struct._pointer), given(fields, ctype) if fields else None)
    made = object.__new__(struct)
    memory = Memory(owner)
    _set_cdata(made, owner[0])  # shares the ownership of the memory
    _set_memory(made, memory)
    if fields:
        _keep(memory, _number(owner), ctype, fields)
    if ctype in _alive:
        _alive[ctype][_number(owner)] = memory
    return made


def _set_pointers(cdata: Any) -> Iterator[bool]:
    """Of each pointer in a structure, whether it is set."""
    for value in (getattr(cdata, name) for name, _ in cast(Any, _ffi.typeof(cdata)).fields):
        if isinstance(value, CData):
            kind = _ffi.typeof(value).kind
            if kind == "pointer":
                yield bool(value)
            elif kind in {"struct", "union"} and _has_pointers(_ffi.typeof(value)):
                yield from _set_pointers(value)


def alive(ctype: Any) -> WeakValueDictionary[int, Memory]:
    """The memory of the structures of a type that are made from now on, as long as they are alive; by address."""
    return _alive.setdefault(ctype, WeakValueDictionary())


def ctype_of(struct: type[Struct]) -> Any:
    """The C type of a structure type."""
    return struct._type


# ---- cffi's own object ----------------------------------------------------------------------------------------------

# What is given structures and arrays as they are in C.
_TAKES_PARTS = {"alignof", "from_buffer", "gc", "memmove", "new", "release", "sizeof", "string", "typeof", "unpack"}


if TYPE_CHECKING:
    _Base = FFI
else:
    _Base = object  # FFI's own functions would be found before those of the extension module


class MirrorFFI(_Base):
    """The cffi object of an extension module, whose functions take the structures of the mirror, too.

    A pointer that `addressof` or `cast` returns keeps what it is of.
    """

    def __init__(self, ffi: FFI) -> None:
        self._ffi = ffi

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ffi, name)
        if name not in _TAKES_PARTS:
            return found

        def call(*args: Any, **options: Any) -> Any:
            return found(*map(raw_all, args), **{option: raw_all(value) for option, value in options.items()})

        call.__name__, call.__doc__ = name, found.__doc__
        setattr(self, name, call)
        return call

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._ffi)})

    @property
    def errno(self) -> int:
        """The C variable, as the last call of this thread left it."""
        return self._ffi.errno

    @errno.setter
    def errno(self, value: int) -> None:
        self._ffi.errno = value

    def addressof(self, cdata: Any, *path: Any) -> Any:
        """The address of a structure, an array, or a member of it; of a function or variable of `lib`."""
        return address_of(cdata, *path) if isinstance(cdata, Part) else self._ffi.addressof(cdata, *path)

    def cast(self, cdecl: Any, source: Any) -> Any:
        """A value as one of another type."""
        made = self._ffi.cast(cdecl, raw(source))
        return kept_with(made, source) if isinstance(source, Part) or _are_pointers(made, source) else made

    if TYPE_CHECKING:
        def sizeof(self, cdecl: str | FFI.CType | CData | Part) -> int: ...
    else:
        def buffer(self, cdata: Any, *size: int) -> Any:
            """The bytes at a pointer, or of a structure or array."""
            if isinstance(cdata, Part):
                size = size or (_ffi.sizeof(cdata._cdata),)
                cdata = kept_with(_pointer_to(cdata._cdata), cdata)
            return _ffi.buffer(cdata, *size)


def _are_pointers(*values: Any) -> bool:
    return all(isinstance(value, CData) and _ffi.typeof(value).kind == "pointer" for value in values)


@cache
def mirror_ffi(ffi: FFI) -> MirrorFFI:
    """The object that a mirror has for the one of its extension module."""
    return MirrorFFI(ffi)
