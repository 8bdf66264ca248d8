"""What the manual pages take from the public C headers: prototypes, comments, structures, errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from library_headers import Symbol, headers_of

__all__ = ["Constant", "Function", "constants", "errors", "functions", "types"]


@dataclass(frozen=True)
class Function:
    """A function and the comment before it.

    :ivar front: its declaration before the parameters: ``int name``
    :ivar parameters: as they are declared
    :ivar described: what is said of each parameter
    """

    name: str
    front: str
    parameters: tuple[str, ...]
    header: str
    text: tuple[str, ...]
    described: tuple[tuple[str, str], ...]
    returns: str


@dataclass(frozen=True)
class Constant:
    """A macro with a value."""

    name: str
    value: str
    comment: str


@cache
def _symbols(library: str) -> list[Symbol]:
    return [symbol for header in headers_of(library) for symbol in header.symbols]


@cache
def functions(library: str) -> dict[str, Function]:
    """All functions of a library's headers, by name."""
    return {symbol.name: _function(symbol) for symbol in _symbols(library) if symbol.role == "func"}


def _function(symbol: Symbol) -> Function:
    front, _, rest = symbol.declaration.removeprefix("static inline ").partition("(")
    text, *fields = re.split(r"^:|^(?=Source:)", symbol.text, flags=re.MULTILINE)
    named = [tuple(" ".join(part.split()) for part in field.split(":", 1)) for field in fields
             if not field.startswith("Source:")]
    return Function(
        symbol.name, front, _split(rest.removesuffix(")")), symbol.header,
        tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")),
        tuple((key.removeprefix("param "), value) for key, value in named if key.startswith("param ")),
        next((value for key, value in named if key == "return"), ""))


def _split(parameters: str) -> tuple[str, ...]:
    """At the commas that are not within parentheses."""
    return tuple(part.strip() for part in re.findall(r"(?:[^,()]|\((?:[^()]*)\))+", parameters))


@cache
def types(library: str) -> dict[str, Symbol]:
    """The structures and enumerations of a library's headers, by name: ``struct tag`` or that of a typedef."""
    return {symbol.c_name: symbol for symbol in _symbols(library) if symbol.members}


@cache
def constants(library: str) -> dict[str, Constant]:
    """The macros with a value of a library's headers; the comment is that after it, or the line before it."""
    macros = [symbol for symbol in _symbols(library) if symbol.role == "macro" and symbol.parameters is None]
    return {m.name: Constant(m.name, m.value, m.text or re.sub(r"^[\w.]+: ", "", m.above).removesuffix("."))
            for m in macros}


@cache
def errors(library: str) -> dict[str, tuple[int, str]]:
    """The return codes of libpfm 3 or 4: number and text."""
    known = constants(library)
    pairs = [pair for symbol in _symbols(library) if symbol.name in ("PFMLIB_ERROR_LIST", "PFM_ERROR_LIST")
             for pair in re.findall(r'\bX\((\w+), *"(.*?)"\)', symbol.value)]
    return {name: (int(known[name].value.strip("()")), text) for name, text in pairs}
