"""The steps of sequences, made on a library of either API: calls by the signatures in our headers.

A sequence is run in a process of its own. Its steps are those of ``pypfm/schemas/vector.json``: a call whose
arguments are values, nothing, or memory with a name; or the freeing of what a call put there.
"""

from __future__ import annotations

import ctypes
import zlib
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from pypfm.conform.worker.library import POISON, Guarded, Lasting, bytes_of, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _cffi_backend import FFI

    from pypfm._c.loading import Functions
    from pypfm.conform.model import Json, Vector

__all__ = ["Steps"]

_MOST = 64  # codes that are looked at
_LINE = 4096  # bytes of what a callback is told
_KEPT = 150  # strings: more than a sequence has
_WORDS = 5  # arguments after the format, which registers hold
_OPAQUE = ("idx", "first_event")  # outputs that are numbers of the library's own
_COPIES = ("uint64_t", "unsigned long")  # of 64 bits on some machines: hexadecimal in JSON
_libc = ctypes.CDLL(None)
_libc.open_memstream.restype = ctypes.c_void_p
_libc.fclose.argtypes = _libc.free.argtypes = [ctypes.c_void_p]


class Steps:
    """A library that is taken through a sequence.

    :param ffi: of the extension module of its API
    :param functions: of the library
    :param lasting: notes the strings that have to stay
    :param descriptions: return descriptions as they are, not just whether there is one
    """

    def __init__(self, ffi: FFI, functions: Functions, lasting: Lasting, descriptions: bool = False) -> None:
        self._ffi, self._functions, self._descriptions = cast(Any, ffi), functions, descriptions
        self._lasting = lasting
        self._places: dict[str, _Place] = {}  # by name
        self._returned: dict[str, int] = {}  # indices of the library's own, by name
        self._alive: deque[Any] = deque(maxlen=_KEPT)  # what the library may have kept
        self._count, self._failed = 0, False  # of the codes beside it; whether the call did

    def answer(self, step: Vector) -> Json:
        """Take a step, and return the answer.

        :return: what came back, in the form of ``expect``: ``ret``, and by its name each output that was written
        :raises MissingFunctionError: the library does not export the function
        """
        self._ffi.errno = 0  # what one call leaves there, another one may look at
        if "free" in step:
            if self._places[str(step["free"]).partition(".")[0]].changed:  # else the call failed: nothing to free
                self._functions.lib.free(self._at(str(step["free"])))
            return {}
        name, args = str(step["call"]), cast("list[Json]", step["args"])
        kinds: Any = self._functions.signature(name).args
        places: list[_Place] = []
        tellers: list[_Teller] = []
        if len(args) != len(kinds):
            raise TypeError(f"{name}() has {len(kinds)} arguments, not {len(args)}")
        values = [self._argument(kind, arg, places, tellers) for kind, arg in zip(kinds, args, strict=True)]
        result = getattr(self._functions, name)(*values)
        self._lasting.note(name, "return", result)
        got = self._result(result, step.get("as"))
        self._failed = isinstance(result, int) and result < 0
        if any(isinstance(arg, str) and kind.kind == "pointer" and bytes(self._ffi.buffer(value))[:-1] != bytes_of(arg)
               for kind, arg, value in zip(kinds, args, values, strict=True)):
            got["input changed"] = True
        self._places |= {place.name: place for place in places}
        self._count = next((p.memory.pointer[0] for p in places if p.name == "count"), 0)
        for place in places:
            if place.memory.overrun:
                got["overrun"] = True
            if place.changed:
                got[place.name] = self._written(name, place)
        return got | {name: told for teller in tellers for name, told in teller().items()}

    # ---- arguments ----

    def _argument(self, kind: Any, arg: Json, places: list[_Place], tellers: list[_Teller]) -> Any:
        """Convert a value as C passes it, or has it in a member: a number is cut to its type."""
        if arg is None:
            return self._ffi.NULL
        if isinstance(arg, list):
            return [self._argument(kind.item, item, places, tellers) for item in arg]
        if isinstance(arg, dict):
            return self._object(kind, arg, places, tellers)
        if kind.kind == "pointer":
            self._alive.append(self._ffi.new("char[]", bytes_of(str(arg))))
            return self._alive[-1]
        return int(self._ffi.cast(kind, int(arg, 0) if isinstance(arg, str) else arg))

    def _object(self, kind: Any, arg: dict[str, Json], places: list[_Place], tellers: list[_Teller]) -> Any:
        """Convert an argument that is an object in JSON."""
        if "out" in arg:
            places.append(place := self._place(kind, arg, places, tellers))
            return place.memory.pointer
        if "value" in arg:
            return self._returned.get(str(arg["value"]), -1)  # it failed
        for what, make in (("file", _file), ("callback", _callback)):
            if what in arg:
                address, teller = make(str(arg[what]))
                tellers.append(teller)
                return self._ffi.cast(kind, address)
        return arg  # a structure in an array

    def _place(self, kind: Any, arg: dict[str, Json], places: list[_Place], tellers: list[_Teller]) -> _Place:
        """Make memory that a call may write into, filled as a step says."""
        ffi = self._ffi
        ctype = ffi.typeof(arg["type"]) if "type" in arg else kind.item
        memory = Guarded(ffi, ctype, ffi.sizeof(ctype) * cast(int, arg.get("room", 1)),
                         cast(int, arg.get("fill", POISON)))
        given = arg.get("set", {})
        members = given if isinstance(given, dict) and "out" not in given else {"": given}
        kinds = dict(ctype.fields) if ctype.kind == "struct" else {}
        for name, value in members.items():
            inner = self._argument(kinds[name].type if name else ctype, value, places, tellers)
            if name:
                setattr(memory.pointer, name, inner)
            else:
                memory.pointer[0] = inner
        return _Place(str(arg["out"]), ctype, memory)

    def _at(self, path: str) -> Any:
        """Return the pointer in a place, or in a member of a structure there: NAME, NAME.MEMBER."""
        name, _, member = path.partition(".")
        pointer = self._places[name].memory.pointer
        return getattr(pointer, member) if member else pointer[0]

    # ---- answers ----

    def _result(self, result: Any, name: Json) -> dict[str, Json]:
        if result is None:
            return {}
        if isinstance(result, int):
            if name is not None and result >= 0:
                self._returned[str(name)] = result
                return {"ret": 0}
            return {"ret": result}
        kind = self._ffi.typeof(result).item.cname
        return {"ret": text_at(self._ffi, result) if kind == "char" else hex(int(self._ffi.cast("uintptr_t", result)))}

    def _written(self, function: str, place: _Place) -> Json:
        """Return the content of a place; for a structure the members that were written."""
        pointer, ctype = place.memory.pointer, place.ctype
        if ctype.kind != "struct":
            if ctype.cname == "char":
                return text_at(self._ffi, pointer)
            return self._plain(ctype, place.name if "description" not in function else "desc", pointer[0])
        self._count = getattr(pointer, "count", 0)
        before = Guarded(self._ffi, ctype)  # a copy to compare with
        self._ffi.memmove(before.pointer, place.before, self._ffi.sizeof(ctype))
        written = [(name, kind) for name, kind in _members(ctype)
                   if self._raw(pointer, name, kind) != self._raw(before.pointer, name, kind)]
        for name, _ in written if not self._failed else ():
            self._lasting.note(function, name, getattr(pointer, name))
        return {name: self._plain(kind, name, getattr(pointer, name)) for name, kind in written}

    def _raw(self, pointer: Any, name: str, kind: Any) -> Any:
        value = getattr(pointer, name)
        return bytes(self._ffi.buffer(value)) if kind.kind in ("array", "struct", "union") else value

    def _plain(self, kind: Any, name: str, value: Any) -> Json:
        """Return a value as JSON has it."""
        if kind.kind == "pointer":
            return self._pointed(kind, name, value)
        if kind.kind == "array" and kind.item.kind == "primitive":
            items = [self._plain(kind.item, name, item) for item in value]
            while items and items[-1] in (0, "0x0"):
                items.pop()
            return items
        if kind.kind in ("array", "struct", "union"):
            return "written"
        known = [f"={known}" for known, number in self._returned.items() if number == value and name in _OPAQUE]
        return known[0] if known else hex(value) if kind.cname in _COPIES else int(self._ffi.cast("int64_t", value))

    def _pointed(self, kind: Any, name: str, value: Any) -> Json:
        if not value:
            return None
        if self._failed or kind.item.cname not in ("char", "uint64_t"):
            return "written"
        if kind.item.cname == "char":
            text = text_at(self._ffi, value)
            return text if name != "desc" or self._descriptions else bool(text)
        return [hex(value[n]) for n in range(max(0, min(self._count, _MOST)))]


class _Place:
    """Memory with a name, and what it held before the call.

    :param ctype: what it holds
    """

    def __init__(self, name: str, ctype: Any, memory: Guarded) -> None:
        self.name, self.ctype, self.memory, self.before = name, ctype, memory, memory.contents

    @property
    def changed(self) -> bool:
        """Whether it was written into."""
        return self.memory.contents != self.before


def _members(ctype: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a structure; of those at one place the first."""
    seen = set()
    for name, field in ctype.fields:
        place = (field.offset, field.bitshift)
        if place not in seen and not name.startswith(("reserved", "__reserved", "pad")):
            yield name, field.type
        seen.add(place)


# ---- what a library writes to, or calls ----------------------------------------------

if TYPE_CHECKING:
    _Teller = Callable[[], dict[str, Json]]


def _file(name: str) -> tuple[int, _Teller]:
    """Return the address of a FILE, and a function that tells how many lines are in it, and which."""
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    address = _libc.open_memstream(ctypes.byref(data), ctypes.byref(size))

    def told() -> dict[str, Json]:
        _libc.fclose(address)
        text = ctypes.string_at(data.value or 0, size.value)
        _libc.free(data)
        return {name: {"lines": text.count(b"\n"), "crc32": hex(zlib.crc32(text))}} if text else {}
    return cast(int, address), told


def _callback(name: str) -> tuple[int, _Teller]:
    """Return the address of a function like printf(), and a function that tells its calls."""
    said: list[bytes] = []

    def hear(form: bytes, *words: int | None) -> int:
        line = ctypes.create_string_buffer(_LINE)
        _libc.snprintf(line, _LINE, form, *map(ctypes.c_void_p, words))
        said.append(line.value)
        return len(said[-1])

    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, *[ctypes.c_void_p] * _WORDS)(hear)
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return address, lambda: {name: b"".join(said).decode("latin-1")} if function and said else {}
