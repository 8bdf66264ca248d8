"""Enumerations and functions of our own libraries, as their headers declare them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pypfm.common.arguments import expect_type
from pypfm.common.value import Value
from pypfm.config import LIBRARIES
from pypfm.layout.mirrors import api_of, describe, ffi_of, unknown
from pypfm.layout.model import LayoutError

if TYPE_CHECKING:
    from pypfm.layout.model import TypeLayout

__all__ = ["Enumeration", "Function", "declaration", "has_declaration"]

_NAME = re.compile(r"(enum )?[A-Za-z_]\w{0,99}", re.ASCII)


class Enumeration(Value):
    """An enumeration.

    :ivar name: C name: ``pfm_os_t``, ``enum perf_type_id``
    :ivar size: in bytes
    :ivar values: name and number of each constant, in the order of the header
    :ivar source: the library (pfm3 ...)
    """

    name: str
    size: int
    values: tuple[tuple[str, int], ...]
    source: str

    @property
    def text(self) -> str:
        """Return its declaration in C, with each number, and its size."""
        head, tail = ("typedef enum {", f"}} {self.name};") if " " not in self.name else (f"{self.name} {{", "};")
        rows = [f"\t{name} = {value}," for name, value in self.values]
        return "\n".join([head, *rows, "", f"\t/* size: {self.size}, constants: {len(self.values)} */", tail, ""])

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "kind": "enum", "source": self.source, "size": self.size,
                "values": dict(self.values)}


class Function(Value):
    """A function.

    :ivar name: C name
    :ivar prototype: its declaration in C, without a semicolon
    :ivar source: the library (pfm3 ...)
    """

    name: str
    prototype: str
    source: str

    @property
    def text(self) -> str:
        """Return its declaration in C."""
        return f"{self.prototype};\n"

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "kind": "function", "source": self.source, "prototype": self.prototype}


def declaration(name: str, library: str | None = None) -> TypeLayout | Enumeration | Function:
    """Return the declaration of a name.

    :param name: C name of a structure, a union, an enumeration or a function; the word before a tag may be left out
    :param library: pfm3, pfm4 ...; None is the first that has it
    :return: for a structure or a union what `describe` returns
    :raises LayoutError: no such name or library
    """
    expect_type(name, str, "name")
    for one in [library] if library else LIBRARIES:
        if found := _other(name, one):
            return found
    try:
        return describe(name, library)
    except LayoutError:
        functions = [f for one in ([library] if library else LIBRARIES) for f in api_of(one)._prototypes]
        raise LayoutError(unknown(name, library, functions)) from None


def has_declaration(name: str) -> bool:
    """Tell whether a library has an enumeration or a function of this name."""
    return any(_other(name, library) for library in LIBRARIES)


def _other(name: str, library: str) -> Enumeration | Function | None:
    return _enumeration(name, library) or _function(name, library)


def _enumeration(name: str, library: str) -> Enumeration | None:
    if not _NAME.fullmatch(name):  # cffi's parser crashes on some other texts
        return None
    ffi = ffi_of(library)
    for spelling in (name, f"enum {name}"):
        try:
            ctype = ffi.typeof(spelling)
        except ffi.error:  # no type
            continue
        if ctype.kind == "enum":
            values = [*ctype.relements.items()][::-1]  # cffi has the last constant first
            return Enumeration(spelling, ffi.sizeof(ctype), tuple(values), library)
    return None


def _function(name: str, library: str) -> Function | None:
    prototype = api_of(library)._prototypes.get(name)
    return Function(name, prototype, library) if prototype else None
