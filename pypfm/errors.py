"""The exceptions of the package.

Every error that pypfm raises on purpose is a `PfmError`.  Those of the libpfm 3
interface keep the C return code.
"""

from __future__ import annotations

import difflib
import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ConformError", "ContextError", "CounterError", "CountingError", "DecodeError", "EventNotFoundError",
    "InvalidArgumentError", "InvalidTypeError", "InvalidValueError", "LibraryError", "LibraryFunctionError",
    "Pfm3Error", "Pfm3EventNotFoundError", "Pfm4Error", "Pfm4EventNotFoundError", "PfmError", "PromiseError",
    "UnknownKeyError",
]


_LONGEST_SHOWN = 60
_LONGEST_NAME = 4096  # what Linux takes for the name of a file
_MOST_LISTED = 40


def shown(value: object) -> str:
    """Return a user's value for a message: text quoted, and at most a line long."""
    if isinstance(value, str):
        return repr(short(value))
    try:
        text = hex(value) if isinstance(value, int) and value.bit_length() > 64 else repr(value)
    except Exception:  # noqa: BLE001 - an object of the user, in the middle of another error
        text = f"an object of {type(value).__name__}"
    return short(text)


def short(text: str) -> str:
    """Cut a text for a message to the length of a line."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."


def named(file: object) -> str:
    """Return the name of a file for a message: as given, but quoted if a terminal cannot show it on one line."""
    text = str(file)
    return text if text and text.isprintable() and len(text) <= _LONGEST_NAME else shown(text)


def printable(text: str) -> str:
    """Make text of a user or a library printable on one line of any terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def in_hex(value: int) -> str:
    """Write a number for a message: in hexadecimal and not longer than a line."""
    return short(hex(value))


def errno_name(code: int) -> str:
    """Return the name of an errno value; if it has two, the one that manual pages use."""
    names = {errno.EDEADLK: "EDEADLK", errno.ENOTSUP: "ENOTSUP"}
    return names.get(code) or errno.errorcode.get(code, str(code))


def listed(names: Iterable[object]) -> str:
    """Return names as a list for a message."""
    found = [str(name) for name in names]
    more = [f"... ({len(found)} in all)"] if len(found) > _MOST_LISTED else []
    return ", ".join([*found[:_MOST_LISTED], *more]) or "none"


def unknown_event(pmu: str, name: object, names: Iterable[str]) -> str:
    """Return the message for an event that a PMU does not have, with the nearest ones."""
    if not isinstance(name, str):
        return f"{pmu} has no event {shown(name)}; events have names, such as {next(iter(names), None)}"
    known = list(names)
    as_listed = str.upper if all(n.isupper() for n in known) else str
    return f"{pmu} has no event {shown(name)}{nearest(as_listed(name[:_LONGEST_SHOWN]), known)}"


def nearest(name: str, names: Iterable[str], before: str = "") -> str:
    """Return the end of a message about an unknown name: the nearest of the known names, if any is near.

    :param before: stands before each, and is not compared
    """
    near = difflib.get_close_matches(name[:_LONGEST_SHOWN], list(names), n=3, cutoff=0.6)
    return f"; the nearest {'are' if near[1:] else 'is'} {', '.join(before + n for n in near)}" if near else ""


class PfmError(Exception):
    """Base class of all errors of the package."""


class InvalidArgumentError(PfmError):
    """An argument that is not allowed; the message says what to write instead."""


class InvalidTypeError(InvalidArgumentError, TypeError):
    """An argument of another type than the one expected."""


class InvalidValueError(InvalidArgumentError, ValueError):
    """An argument of the right type, whose value is not allowed."""


class UnknownKeyError(PfmError, KeyError):
    """An unknown name or number; the message says which ones exist."""

    def __str__(self) -> str:  # not quoted, as KeyError has it
        return Exception.__str__(self)


class EventNotFoundError(UnknownKeyError):
    """An unknown event of a PMU or a machine; the message names the nearest."""


class DecodeError(InvalidValueError):
    """Registers that cannot be decoded: unknown, too wide, or not what an encoder makes."""


class PromiseError(InvalidValueError):
    """A request that the C library takes, but treats otherwise than its manual page promises (check="manual")."""


class Pfm3Error(InvalidValueError):
    """An error that libpfm 3 returns.

    :ivar code: C return code (PFMLIB_ERR_...), negative
    :ivar name: name of that code
    :ivar function: C function that returns it
    """

    def __init__(self, code: int, message: str, function: str = "pfm_dispatch_events") -> None:
        self.code = code
        self.name = _code_name(code)
        self.function = function
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Pfm3Error], tuple[int, str, str]]:
        return type(self), (self.code, str(self), self.function)


class Pfm3EventNotFoundError(Pfm3Error, EventNotFoundError):
    """PFMLIB_ERR_NOTFOUND: no event has that name or code."""


class Pfm4Error(InvalidValueError):
    """An error that libpfm 4 returns.

    :ivar code: C return code (PFM_ERR_...), negative
    :ivar name: name of that code
    :ivar token: the part of the event string at fault, or the whole string
    """

    def __init__(self, code: int, name: str, token: str, message: str) -> None:
        self.code = code
        self.name = name
        self.token = token
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Pfm4Error], tuple[int, str, str, str]]:
        return type(self), (self.code, self.name, self.token, str(self))


class Pfm4EventNotFoundError(Pfm4Error, EventNotFoundError):
    """PFM_ERR_NOTFOUND: no event, or no PMU, has that name."""


class ConformError(PfmError):
    """A library that cannot be checked, or a file of vectors that cannot be read."""


class LibraryError(PfmError):
    """A file that is no libpfm, does not do what a libpfm does, or cannot be measured."""


class LibraryFunctionError(LibraryError, AttributeError):
    """A function that a library does not have."""


class CountingError(PfmError, OSError):
    """The kernel does not count an event.

    :ivar errno: why: ENOENT, no such counter on this machine; EACCES, perf_event_paranoid
    """

    def __str__(self) -> str:
        return str(self.strerror)


class CounterError(CountingError):
    """A counter of NetBSD's pmc that cannot be had, or read.

    :ivar errno: what pmc_control(2) says: ENXIO, not configured; EINPROGRESS, it runs already; EINVAL, no such counter,
        or a number out of range; EBUSY, in use; ENODEV, not for this counter, or not available here; EBADF, closed
    """


class ContextError(CountingError):
    """A call of perfmon2 that is refused; the message says what to do.

    :ivar errno: why
    :ivar name: of that number: ENOSYS, EBUSY, EBADF (the context is closed, or its descriptor) ...
    :ivar call: C function that refuses it; empty: none was called
    """

    def __init__(self, code: int, message: str, call: str = "") -> None:
        super().__init__(code, message)
        self.name = errno_name(code)
        self.call = call

    def __reduce__(self) -> tuple[type[ContextError], tuple[int, str, str]]:
        return type(self), (self.errno or 0, str(self), self.call)


def _code_name(code: int) -> str:
    from pypfm._c.convert import string
    from pypfm._c.pfm3 import ffi, lib  # loaded already, but for what unpickles an error

    name = lib.pfm3_error_name(code)
    return "unknown" if name == ffi.NULL else string(name)
