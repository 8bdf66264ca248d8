"""Run in a process of its own: every argument of every function of a mirror, wrong and right.

    mirror_arguments.py MODULE wrong|range|right

Prints what went wrong, a line each, and at the end how many cases there were.  What a function
wants is read from cffi and from its annotations, not from the mirror's own table.
"""

from __future__ import annotations

import array
import ctypes
import decimal
import enum
import fractions
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import cffi

from pypfm import libperfex, pfm3, pfm3_manual, pfm4, pmc
from pypfm.pfm3 import byref

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

MIRRORS = (pfm3, pfm3_manual, pfm4, pmc, libperfex)
OTHER = cffi.FFI()
OTHER.cdef("typedef struct { unsigned int event; } pfmlib_event_t; typedef struct { int n; } other_t;")
# What is not declared of a variadic function.
FURTHER = {"pfm_create": ("char *", "void *", "size_t")}


class Parameter(NamedTuple):
    name: str
    annotation: str
    ctype: Any


class Recorder:
    """A library that notes the calls that were made: those whose arguments cffi, too, has accepted."""

    def __init__(self, lib: Any) -> None:
        self._lib, self.made = lib, []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._lib, name)
        if not callable(found):
            return found

        def call(*args: Any) -> Any:
            ret = found(*args)
            self.made.append(name)
            return ret

        return call

    def called(self, function: str) -> bool:
        """Whether the function was called since it was asked last; which PMU is selected may be asked before."""
        made, self.made = set(self.made), []
        return bool(made - ({"pfm_get_pmu_type"} - {function}))


def functions(mirror: ModuleType) -> Iterator[tuple[str, list[Parameter]]]:
    """The functions of the C headers and their parameters; a macro has numbers."""
    for name in generated_of(mirror).__all__:
        function = getattr(mirror, name)
        if inspect.isfunction(function):
            c_type = mirror.ffi.typeof(getattr(mirror.lib, name))
            further = [mirror.ffi.typeof(t) for t in FURTHER[name]] if c_type.ellipsis else []
            ctypes_ = [*c_type.args, *further]
            parameters = inspect.signature(function).parameters
            yield name, [Parameter(p.name, str(p.annotation), t)
                         for p, t in zip(parameters.values(), ctypes_, strict=True)]


def record(mirror: ModuleType) -> Recorder:
    """Put the recorder where the mirror's functions look for the library: their globals."""
    recorder = Recorder(mirror.lib)
    scope = mirror.pfm_initialize.__globals__ if hasattr(mirror, "pfm_initialize") else next(
        f.__globals__ for f in vars(mirror).values() if inspect.isfunction(f) and "_call" in f.__globals__)
    for owner in (vars(scope["_call"]), vars(scope.get("_hand", Duck())), scope):
        for name in ("lib", "_lib"):
            if owner.get(name) is mirror.lib:
                owner[name] = recorder
    for name in scope.copy():  # _name is lib.name, looked up once
        if name in dir(mirror.lib) or not hasattr(mirror.lib, name[1:]):
            continue
        if callable(getattr(mirror.lib, name[1:])):
            scope[name] = getattr(recorder, name[1:])
    return recorder


def base(parameter: Parameter) -> Any:
    return 0 if parameter.annotation == "int" else None


class Duck:
    """Has much, and is nothing."""

    _cdata = [1, 2, 3]  # noqa: RUF012
    encode, fileno, value = "x", 5, 0

    def __int__(self) -> int:
        return 1

    def __len__(self) -> int:
        return 1


def wrongs() -> Iterator[tuple[str, Any]]:
    """What no function takes for any argument, and what only some take."""
    things: list[Any] = [
        [], [0], [0] * 100, [[]], ["x"], [None], (), (0,), (0, 1), {}, {"event": 1}, set(), {1}, frozenset(),
        (i for i in range(3)), iter([1]), range(3), 1.0, float("nan"), 1j, decimal.Decimal("1.5"),
        fractions.Fraction(1, 2), object(), int, Ellipsis, NotImplemented, Duck(), sys,
        memoryview(b"abc"), memoryview(bytearray(64)), array.array("I", [0] * 64), array.array("b", b"x" * 64),
        io.StringIO("x"), io.BytesIO(b"x"), Path("x"), ctypes.c_int(), ctypes.c_uint(), ctypes.c_char_p(b"x"),
        ctypes.create_string_buffer(64), ctypes.pointer(ctypes.c_uint()), ctypes.byref(ctypes.c_uint()),
        bytearray(64), bytearray(), b"", b"text", b"with\0NUL", "", "text", "with\0NUL", "\udcff", "\ud800", "1",
        0, 1, -1, 2**64, True, None, print, lambda *_: 0,
        OTHER.new("pfmlib_event_t *"), OTHER.new("pfmlib_event_t *")[0], OTHER.new("other_t[3]"),
        OTHER.new("float *"), OTHER.new("double[8]"), OTHER.new("char[64]"), OTHER.new("unsigned char[64]"),
        OTHER.new("short *"), OTHER.new("int *"), OTHER.new("unsigned int[4]"), OTHER.new("int[0]"),
        OTHER.new("unsigned int[0]"), OTHER.new("long *"), OTHER.new("unsigned long *"), OTHER.new("long long *"),
        OTHER.new("uint64_t *"), OTHER.new("uint64_t **"), OTHER.new("char **"), OTHER.new("int **"),
        OTHER.cast("float", 1.0), OTHER.cast("double", 1.0), OTHER.cast("int(*)(int)", 0), OTHER.cast("char *", 0),
        OTHER.cast("wchar_t *", 0), OTHER.new("int[2][3]"),
    ]
    if np is not None:
        things += [np.zeros(64, dtype=t) for t in ("u1", "i4", "u4", "u8", "f8", "O")]
        things += [np.float32(1), np.float64(1), np.str_("x"), np.bytes_(b"x"), np.array(["x"]), np.bool_(True)]
    for thing in things:
        yield f"{thing!r:.60}", thing
    things = [ctypes.c_short(), (ctypes.c_uint * 0)(), (ctypes.c_uint * 2)(), (ctypes.c_int * 2 * 2)(), ctypes.c_wchar_p("x"),
              ctypes.pointer(ctypes.c_int()), ctypes.POINTER(ctypes.c_uint)(), ctypes.byref(ctypes.c_ulong()),
              ctypes.byref(pfm3.pfmlib_event_t(), 2), ctypes.byref((ctypes.c_uint * 2)(), 6), ctypes.c_void_p(),
              ctypes.byref(ctypes.create_string_buffer(8), 2), ctypes.CFUNCTYPE(None)(), pfm3.pfmlib_event_t]
    for thing in things:
        yield f"{thing!r:.60}", thing
    for mirror in MIRRORS:
        for name, made in generated_of(mirror)._structures.items():
            yield f"{mirror.__name__}.{name}()", made()
            yield f"byref({mirror.__name__}.{name}())", byref(made())
            yield f"pointer({mirror.__name__}.{name}())", ctypes.pointer(made())
            yield f"({mirror.__name__}.{name} * 2)()", (made * 2)()
            yield f"{mirror.__name__} {name}[0]", mirror.ffi.new(f"{name}[0]")
            yield f"{mirror.__name__} {name} **", mirror.ffi.new(f"{name} **")


def generated_of(mirror: ModuleType) -> Any:
    return import_module(f"pypfm._c.{mirror.__name__.rpartition('.')[2]}_api")


def first_types(kind: Any) -> Iterator[Any]:
    """The types of the objects that begin where one of a type does."""
    yield kind
    if issubclass(kind, ctypes.Array):
        yield from first_types(kind._type_) if kind._length_ else ()
    elif issubclass(kind, (ctypes.Structure, ctypes.Union)):
        for name, inner, *bits in kind._fields_:
            if not bits and getattr(kind, name).offset == 0:
                yield from first_types(inner)


REFERENCE = type(ctypes.byref(ctypes.c_int()))
FORMATS = {ctypes.c_int: "i", ctypes.c_uint: "I", ctypes.c_long: "lq", ctypes.c_ulong: "LQ", ctypes.c_char: "bBc"}


def points_to(value: Any, kind: Any) -> bool:  # noqa: PLR0911 - one for each kind of value
    """Whether what C takes for a pointer to a type is at hand: the object, an array, a pointer, its address."""
    if isinstance(value, REFERENCE):
        inside = value._obj
        offset = (ctypes.cast(value, ctypes.c_void_p).value or 0) - ctypes.addressof(inside)
        if offset:
            return (type(inside), offset, kind) == (ctypes.c_char * 8, 2, ctypes.c_char)
        return kind in first_types(type(inside))
    if isinstance(value, ctypes.Array):
        return value._type_ is kind and len(value) > 0
    if isinstance(value, ctypes._Pointer):
        return value._type_ is kind or type(value) is kind
    if isinstance(value, kind):
        return kind is not ctypes.c_char
    try:
        view = memoryview(value)
    except TypeError:
        return False
    return not isinstance(value, ctypes._SimpleCData.__base__) and not view.readonly and kind in FORMATS and view.format in FORMATS[kind]


def may_be(mirror: ModuleType, parameter: Parameter, value: Any) -> bool:  # noqa: PLR0911 - one for each kind of parameter
    """Whether a parameter takes a value (or a value of this type, too large or too short)."""
    kind, wanted = parameter.annotation, parameter.ctype
    ctype = pfm3.ffi.typeof(value) if isinstance(value, pfm3.ffi.CData) else None
    if kind == "int":
        number = hasattr(value, "__index__") and not (np is not None and isinstance(value, np.ndarray))
        number = number or (np is not None and isinstance(value, np.bool_))  # taken, though numpy gives it no __index__
        return number or (ctype is not None and ctype.kind == "primitive" and ctype.cname not in {"float", "double"})
    if value is None:
        return True
    if ctype is not None and ctype.cname == "void *":
        return True
    characters = ctype is not None and ctype.kind in {"pointer", "array"} and ctype.item.cname == "char"
    if "String" in kind:
        array = isinstance(value, ctypes.Array) and value._type_ is ctypes.c_char
        return isinstance(value, (str, bytes, ctypes.c_char_p)) or characters or array
    if "Buffer" in kind:
        return characters or points_to(value, ctypes.c_char)
    if "Callable" in kind:
        return callable(value) and ctype is None
    if "File" in kind:
        return ctype is wanted
    if wanted.cname == "void *":
        simple = (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._Pointer, REFERENCE)
        return isinstance(value, simple) or (ctype is not None and ctype.kind in {"struct", "union", "pointer", "array"})
    if ctype is None:
        target = generated_of(mirror)._classes.get(wanted.item.cname)
        return target is not None and points_to(value, target)
    if ctype.kind == "array":
        return ctype.item is wanted.item and len(value) > 0
    return ctype is wanted or (ctype is wanted.item and ctype.kind in {"struct", "union"})


def try_wrong(mirror: ModuleType) -> int:
    """Each wrong value for each argument; the others are 0 or None."""
    recorder, tried = record(mirror), 0
    values = list(wrongs())
    for name, parameters in functions(mirror):
        for at, parameter in enumerate(parameters):
            for text, value in values:
                if may_be(mirror, parameter, value):
                    continue
                args = [base(p) for p in parameters]
                args[at] = value
                tried += 1
                problem = refused(getattr(mirror, name), args, (TypeError, ValueError), f"{name}(): {parameter.name} ")
                if recorder.called(name):
                    problem = "was called"
                if problem:
                    print(f"{name}({parameter.name}={text}): {problem}", flush=True)
    return tried


def refused(function: Callable[..., Any], args: list[Any], errors: tuple[type[Exception], ...], prefix: str) -> str:
    """What is wrong with the refusal of the arguments, or nothing."""
    try:
        return f"returned {function(*args)!r}"
    except errors as error:
        empty = "without elements" in str(error)
        if isinstance(error, ValueError) and not empty and TypeError in errors:
            return f"{type(error).__name__}: {error}"
        if not str(error).startswith(prefix):
            return f"does not say where: {error}"
        if TypeError in errors and not empty and ", not " not in str(error):
            return f"does not say what is wanted and what was given: {error}"
        return ""
    except Exception as error:  # noqa: BLE001 - what it says is printed
        return f"raised {type(error).__name__}: {error}"


def try_range(mirror: ModuleType) -> int:
    """Numbers that do not fit, and strings that C cannot hold."""
    recorder, tried = record(mirror), 0
    for name, parameters in functions(mirror):
        for at, parameter in enumerate(parameters):
            if parameter.annotation == "int":
                values, errors = [2**64, -2**63 - 1, 10**30, -10**30, 10**5000], (OverflowError,)
            elif "String" in parameter.annotation:
                values, errors = ["\0", "x\0", b"\0x", "\ud800", "x" * 10**6 + "\0"], (ValueError,)  # type: ignore[assignment]
            else:
                continue
            for value in values:
                args = [base(p) for p in parameters]
                args[at] = value
                tried += 1
                problem = refused(getattr(mirror, name), args, errors, f"{name}(): {parameter.name}")
                if recorder.called(name) or problem:
                    given = hex(value) if isinstance(value, int) else repr(value)
                    print(f"{name}({parameter.name}={given:.40}): {problem or 'was called'}", flush=True)
    return tried


class Number(enum.IntEnum):
    ONE = 1


def rights(mirror: ModuleType, parameter: Parameter) -> list[Any]:  # noqa: PLR0911 - one for each kind of parameter
    """All documented forms of an argument."""
    ffi, kind = mirror.ffi, parameter.annotation
    if kind == "int":
        numbers = [1, True, Number.ONE, ffi.cast("unsigned int", 1), ffi.cast("unsigned char", 1)]
        return numbers + ([np.uint8(1), np.int64(1), np.bool_(True)] if np is not None else [])
    null = [None, ffi.NULL, ffi.cast("void *", 0)]
    if "String" in kind:
        text = ffi.new("char[]", b"x")
        return [*null, ctypes.create_string_buffer(b"x"), ctypes.c_char_p(b"x"), ctypes.c_char_p(), "x", b"x", "é", "\udcff", type("Text", (str,), {})("x"), text, ffi.cast("char *", text),
                ffi.new("char[1]", b"x")]
    if "Buffer" in kind:
        buffer = ctypes.create_string_buffer(8)
        return [*null, bytearray(8), memoryview(bytearray(8)), buffer, byref(buffer), ctypes.cast(buffer, ctypes.POINTER(ctypes.c_char)),
                ffi.new("char[8]")]
    if "Callable" in kind:
        return [None, lambda *_: 0]
    if "File" in kind:
        return [None, sys.stderr]
    target = generated_of(mirror)._classes.get(parameter.ctype.item.cname)
    one = [] if parameter.ctype.cname in {"void *", "struct pfarg_start *", "pfarg_start_t *"} else [
        ffi.new(ffi.getctype(parameter.ctype)), ffi.new(ffi.getctype(parameter.ctype.item, "[2]"))]
    if target is None:
        return null + one
    array = (target * 2)()
    made = [target(), *([type("User", (target,), {})()] if not issubclass(target, ctypes._Pointer) else []), byref(target()), ctypes.pointer(target()), ctypes.POINTER(target)(), array,
            byref(array), byref(array, ctypes.sizeof(target))]
    structs = [one[0][0], array[1]] if one and parameter.ctype.item.kind == "struct" else []
    return null + one + made + structs + [byref(s) for s in structs[1:]]


def try_right(mirror: ModuleType) -> int:
    """Each documented form of each argument reaches C."""
    recorder, tried = record(mirror), 0
    for name, parameters in functions(mirror):
        for at, parameter in enumerate(parameters):
            for value in rights(mirror, parameter):
                args = [base(p) for p in parameters]
                args[at] = value
                tried += 1
                try:
                    getattr(mirror, name)(*args)
                except Exception as error:  # noqa: BLE001 - what it says is printed
                    print(f"{name}({parameter.name}={value!r:.60}): {type(error).__name__}: {error}", flush=True)
                else:
                    if not recorder.called(name):
                        print(f"{name}({parameter.name}={value!r:.60}): was not called", flush=True)
    return tried


if __name__ == "__main__":
    print({"wrong": try_wrong, "range": try_range, "right": try_right}[sys.argv[2]](
        import_module(f"pypfm.{sys.argv[1]}")))
