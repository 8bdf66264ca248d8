"""Values of registers in what programs print: libpfm's verbose mode, the examples of libpfm 3, evt2raw of libpfm 4.

A register of IA-64 is ``PMC4 = 0x1229``, ``PMC4: 4649``, ``pmc[4]=0x1229`` or ``PMC4(pmc4)=0x1229``; without a sign
between them, ``PMC4 0x1229``, the value is in hexadecimal: a number could as well be something else.  Whole words are
read only: ibrp0_pmc8=1 is a field.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pypfm.errors import DecodeError, short

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["codes", "registers", "taken"]

_VALUE = r"(?P<value>0x[0-9a-f]+|[0-9]+)(?:u?ll?u?|u)?(?![\w]|[.,][0-9])"
_REGISTER = re.compile(rf"(?<![\w.])(?P<kind>PMC|PMD|IBR|DBR)(?P<open>\[)?(?P<num>[0-9]{{1,3}})(?(open)\])"
                       rf"(?:\(\w+\))?(?:\s*[=:]\s*|\s+(?=0x)){_VALUE}", re.IGNORECASE)
# The rest of a line of the verbose mode: fields, and the name of the event; no register whose value could not be read.
_FIELDS = re.compile(r"\[(?!(?:PMC|PMD|IBR|DBR)[0-9]+(?:\(\w+\))?\s*[=:])[^][]*\]"
                     r"(?:\s+(?!(?:PMC|PMD|IBR|DBR)[0-9])[A-Z]\w*)?", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w.])(?P<name>code[12]?|offcore|type|config[12]?|exclude_(?:user|kernel|hv))\s*[=:]\s*"
                   + _VALUE, re.IGNORECASE)
_HEX = "[0-9a-f]{1,16}"
# A line of evt2raw, of showevtinfo, and of libpfm 4's verbose mode.
_CODES = re.compile(rf"\s*(?:codes?\s*:\s*|\[)?(?:r(?P<raw>{_HEX})|(?P<first>0x{_HEX})(?:\s+(?P<second>0x{_HEX}))?)"
                    r"(?=\s|$)", re.IGNORECASE)


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Names, in capitals, and values."""
    for match in _REGISTER.finditer(text):
        yield f"{match['kind'].upper()}{int(match['num'])}", match["value"]


def taken(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the registers in the words of a command line, and the words that are no part of them."""
    found = list(_found(text))
    rest = _FIELDS.sub(" ", _REGISTER.sub(" ", text)) if found else text
    return found, [word for word in rest.split() if not (found and re.fullmatch(r"[A-Za-z]+[:,;]?|[][,;]", word))]


def registers(text: str, source: str) -> dict[str, int]:
    """Return the registers in the lines of a program.

    :raises DecodeError: a register has two values
    """
    found: dict[str, int] = {}
    for name, value in _found(text):
        _add(found, name, value, source)
    return found


def codes(text: str, names: tuple[str, ...], source: str) -> dict[str, int]:
    """Return the codes of an event in the lines of a program.

    :param names: what codes are called
    :raises DecodeError: there are those of two events
    """
    found: dict[str, int] = {}
    for line in text.splitlines():
        named = list(_CODE.finditer(line))
        for match in named:
            _add(found, match["name"].lower(), match["value"], source)
        if not named and (bare := _CODES.match(line)):
            first = bare["first"] or f"0x{bare['raw']}"
            for name, value in zip(names, filter(None, [first, bare["second"]]), strict=False):
                _add(found, name, value, source)
    return found


def _add(found: dict[str, int], name: str, text: str, source: str) -> None:
    try:
        value = int(text, 16 if text[:2] in ("0x", "0X") else 10)
    except ValueError:  # more digits than Python converts
        raise DecodeError(f"{source}: {name}={short(text)} does not fit 64 bits") from None
    if found.setdefault(name, value) != value:
        raise DecodeError(f"{source} has two values of {name}, {found[name]:#x} and {value:#x}: give the lines of one"
                          " setting")
