"""The mirror of another build of a library: the same Python functions, bound to the functions of that build.

A generated module (pypfm._c.pfm4_api) calls the C code that is in our extension module.  Here its functions are made
a second time, of the same code, with other globals: what they know as the library is the one that was loaded, or the
other form of libpfm 3.  Structures and constants are those of our headers.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from pypfm._c.loading import MissingFunctionError
from pypfm._c.mirror import Calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _cffi_backend import FFI

    from pypfm._c.loading import Functions

__all__ = ["Library", "functions_of"]


class Library:
    """A stand-in for ``lib`` of an extension module: the functions of a library, the constants of our headers.

    :param functions: of the library
    :param api: the generated mirror of ours
    :param missing: makes the error about a function that the library does not have
    """

    def __init__(self, functions: Functions, api: Any, missing: Callable[[str], Exception]) -> None:
        self._functions, self._missing = functions, missing
        self._exported = frozenset(api._exported)
        self._others = {*api.__all__, "free"} - self._exported

    def __getattr__(self, name: str) -> Any:
        if name in self._exported:
            try:
                value: Any = getattr(self._functions, name)
            except MissingFunctionError:
                raise self._missing(name) from None
        elif name in self._others:
            value = getattr(self._functions.lib, name)
        else:
            raise AttributeError(f"the library has no {name!r}")
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted(self._exported | self._others)


def functions_of(api: ModuleType, ffi: FFI, lib: Any, classes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Bind the functions of a generated mirror to another library; return them by name.

    :param api: the mirror
    :param ffi: of the extension module whose types the other library's functions have
    :param lib: the other library
    :param classes: ctypes classes by C type, if they are not the mirror's
    """
    bound: dict[str, Any] = dict(vars(api))
    call = Calls(ffi, lib, bound["_call"].parameters, classes or bound["_classes"])
    bound |= {"ffi": ffi, "lib": lib, "_call": call}
    if not isinstance(bound.get("_hand", api), ModuleType):
        bound["_hand"] = type(bound["_hand"])(ffi, lib, call)
    for ctype in {ctype for types in call.parameters.values() for _, ctype in types if ctype.endswith("*")}:
        bound |= call.pointer_names(ctype)
    for name in api.__all__:
        if f"_{name}" in bound:
            bound[f"_{name}"] = _first_call(lib, name, bound)
    made = {}
    for name in api.__all__:
        function = bound[name]
        if isinstance(function, FunctionType) and function.__globals__ is vars(api):
            made[name] = again = FunctionType(function.__code__, bound, name, function.__defaults__)
            again.__doc__, again.__annotations__ = function.__doc__, function.__annotations__
    return made


def _first_call(library: Any, name: str, bound: dict[str, Any]) -> Callable[..., Any]:
    """Return a stand-in for a function that looks it up at the first call: only then it may not be missing."""
    def call(*args: Any) -> Any:
        bound[f"_{name}"] = function = getattr(library, name)
        return function(*args)
    return call
