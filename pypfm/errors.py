"""The exceptions of the package.

Every error that pypfm raises on purpose is a `PfmError`.  Those of the libpfm 3
interface keep the C return code.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AssignmentError", "BenchError", "CodeRangeError", "ConformError", "ContextClosedError", "ContextError",
    "CounterBusyError", "CounterClosedError", "CounterError", "CounterEventError", "CounterNumberError",
    "CounterRunningError", "CountingError", "CoverageError", "DataRangeError", "DecodeError", "EventNotFoundError",
    "EventSetError", "FeatureError", "FieldWidthError", "IncompatibleEventsError", "InvalidArgumentError",
    "InvalidRequestError", "InvalidTypeError", "InvalidValueError", "LibraryError", "LibraryFunctionError",
    "NotConfiguredError", "NotSupportedError", "Pfm3Error", "Pfm3EventNotFoundError", "Pfm4Error",
    "Pfm4EventNotFoundError", "Pfm4PromiseError", "Pfm4ValueError", "PfmError", "PromiseError",
    "RequestTooLargeError", "ThresholdError", "UnitMaskError", "UnknownEventError", "UnknownKeyError",
    "UnknownMachineError",
]


_LONGEST_SHOWN = 60
_LONGEST_NAME = 4096  # what Linux takes for the name of a file
_MOST_LISTED = 40


def shown(value: object) -> str:
    """What a user gave, in a message: text quoted, and nothing longer than a line."""
    if isinstance(value, str):
        return repr(short(value))
    try:
        text = hex(value) if isinstance(value, int) and value.bit_length() > 64 else repr(value)
    except Exception:  # noqa: BLE001 - an object of the user, in the middle of another error
        text = f"an object of {type(value).__name__}"
    return short(text)


def short(text: str) -> str:
    """A text in a message, as it is, but not longer than a line."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."


def named(file: object) -> str:
    """The name of a file in a message: as it was given, but quoted if a terminal cannot show it on one line."""
    text = str(file)
    return text if text and text.isprintable() and len(text) <= _LONGEST_NAME else shown(text)


def printable(text: str) -> str:
    """Text of a user or a library on one line of any terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def in_hex(value: int) -> str:
    """A number in a message, in hexadecimal and not longer than a line."""
    return short(hex(value))


def errno_name(code: int) -> str:
    """The name of an errno value, of two the one that manual pages use."""
    names = {errno.EDEADLK: "EDEADLK", errno.ENOTSUP: "ENOTSUP"}
    return names.get(code) or errno.errorcode.get(code, str(code))


def listed(names: Iterable[object]) -> str:
    """What there is, in a message."""
    found = [str(name) for name in names]
    more = [f"... ({len(found)} in all)"] if len(found) > _MOST_LISTED else []
    return ", ".join([*found[:_MOST_LISTED], *more]) or "none"


def unknown_event(pmu: str, name: object, names: Iterable[str]) -> str:
    """The message for an event that a PMU does not have, with the nearest ones."""
    if not isinstance(name, str):
        return f"{pmu} has no event {shown(name)}; events have names, such as {next(iter(names), None)}"
    known = list(names)
    as_listed = str.upper if all(n.isupper() for n in known) else str
    return f"{pmu} has no event {shown(name)}{nearest(as_listed(name[:_LONGEST_SHOWN]), known)}"


def nearest(name: str, names: Iterable[str], before: str = "") -> str:
    """What a message about a name that there is not ends with: the nearest of those that there are, if any is near.

    :param before: stands before each, and is not compared
    """
    import difflib  # not for programs that make no mistake

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
    """There is nothing of this name or number; the message says what there is."""

    def __str__(self) -> str:  # not quoted, as KeyError has it
        return Exception.__str__(self)


class EventNotFoundError(UnknownKeyError):
    """A PMU or a machine has no event of this name; the message names the nearest."""


class DecodeError(InvalidValueError):
    """Registers that cannot be decoded: unknown, too wide, or not what an encoder makes."""


class Pfm4Error(PfmError):
    """A failure of the libpfm 4 interface.

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


class Pfm4ValueError(Pfm4Error, InvalidValueError):
    """PFM_ERR_INVAL: a value that is not allowed."""


class Pfm4PromiseError(Pfm4Error, InvalidValueError):
    """The C library would go on where the manual page forbids it (check="manual")."""


class ConformError(PfmError):
    """A library that cannot be checked, or a file of vectors that cannot be read."""


class BenchError(PfmError):
    """A library that cannot be measured."""


class LibraryError(PfmError):
    """A file that is no libpfm 4, or one that does not do what a libpfm 4 does."""


class LibraryFunctionError(LibraryError, AttributeError):
    """A function that a library does not have."""


class CountingError(PfmError, OSError):
    """The kernel does not count an event.

    :ivar errno: why: ENOENT, no such counter on this machine; EACCES, perf_event_paranoid
    """

    def __str__(self) -> str:
        return str(self.strerror)


class CounterError(CountingError):
    """A failure of NetBSD's pmc interface.

    :ivar errno: what pmc_control(2) says
    """


class ContextError(CountingError):
    """A call of perfmon2 that is refused; the message says what to do.

    :ivar errno: why
    :ivar name: of that number: ENOSYS, EBUSY ...
    :ivar call: C function that refuses it; empty: none was called
    """

    def __init__(self, code: int, message: str, call: str = "") -> None:
        super().__init__(code, message)
        self.name = errno_name(code)
        self.call = call

    def __reduce__(self) -> tuple[type[ContextError], tuple[int, str, str]]:
        return type(self), (self.errno or 0, str(self), self.call)


class ContextClosedError(ContextError):
    """EBADF: the context is closed, or its descriptor."""


class NotConfiguredError(CounterError):
    """ENXIO: the counter is not configured."""


class CounterRunningError(CounterError):
    """EINPROGRESS: the counter runs already."""


class CounterNumberError(CounterError, InvalidValueError):
    """EINVAL: no such counter, or a number out of range."""


class CounterBusyError(CounterError):
    """EBUSY: the counter is in use."""


class CounterEventError(CounterError):
    """ENODEV: the event is not valid for the counter, or not available here."""


class UnknownEventError(CounterError, EventNotFoundError):
    """ESRCH: the machine has no event of this name."""


class UnknownMachineError(CounterError, UnknownKeyError):
    """ENXIO: there is no machine of this name."""


class CounterClosedError(CounterError):
    """EBADF: the counter or its machine is closed."""


class Pfm3Error(PfmError):
    """A failure of the libpfm 3 interface.

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


class NotSupportedError(Pfm3Error):
    """PFMLIB_ERR_NOTSUPP: the PMU cannot do this."""


class InvalidRequestError(Pfm3Error, InvalidValueError):
    """PFMLIB_ERR_INVAL: a value that is not allowed."""


class Pfm3EventNotFoundError(Pfm3Error, EventNotFoundError):
    """PFMLIB_ERR_NOTFOUND: no event has that name or code."""


class UnitMaskError(Pfm3Error, InvalidValueError):
    """PFMLIB_ERR_UMASK: a unit mask is unknown or missing."""


class AssignmentError(Pfm3Error):
    """PFMLIB_ERR_NOASSIGN: the events do not fit the counters, or a register is unavailable."""


class EventSetError(Pfm3Error):
    """PFMLIB_ERR_EVTSET: cache events of different sets."""


class IncompatibleEventsError(Pfm3Error):
    """PFMLIB_ERR_EVTINCOMP: things that exclude each other."""


class FeatureError(Pfm3Error):
    """PFMLIB_ERR_FEATCOMB: an event does not support a qualifier in use."""


class RequestTooLargeError(Pfm3Error):
    """PFMLIB_ERR_TOOMANY: too many events or unit masks."""


class CodeRangeError(Pfm3Error, InvalidValueError):
    """PFMLIB_ERR_IRR...: a code range that cannot be programmed."""


class DataRangeError(Pfm3Error, InvalidValueError):
    """PFMLIB_ERR_DRR...: a data range that cannot be programmed."""


class PromiseError(Pfm3Error, InvalidValueError):
    """The C library would go on where the manual page promises something else (check="manual")."""


class CoverageError(PromiseError):
    """The debug registers would cover less than was asked for."""


class ThresholdError(PromiseError):
    """A threshold is not below the largest number of occurrences in a cycle."""


class FieldWidthError(PromiseError):
    """A value is wider than its register field, or not one of those that the manual names."""


def _code_name(code: int) -> str:
    from pypfm._c.convert import string
    from pypfm._c.pfm3 import ffi, lib  # not for programs that use other libraries only

    name = lib.pfm3_error_name(code)
    return "unknown" if name == ffi.NULL else string(name)


_CLASSES: dict[str, type[Pfm3Error]] = {
    "PFMLIB_ERR_NOTSUPP": NotSupportedError,
    "PFMLIB_ERR_INVAL": InvalidRequestError,
    "PFMLIB_ERR_NOTFOUND": Pfm3EventNotFoundError,
    "PFMLIB_ERR_NOASSIGN": AssignmentError,
    "PFMLIB_ERR_EVTSET": EventSetError,
    "PFMLIB_ERR_EVTINCOMP": IncompatibleEventsError,
    "PFMLIB_ERR_FEATCOMB": FeatureError,
    "PFMLIB_ERR_UMASK": UnitMaskError,
    "PFMLIB_ERR_TOOMANY": RequestTooLargeError,
}


def error_class(code: int) -> type[Pfm3Error]:
    """The exception class of a return code."""
    name = _code_name(code)
    if name.startswith("PFMLIB_ERR_IRR"):
        return CodeRangeError
    if name.startswith("PFMLIB_ERR_DRR"):
        return DataRangeError
    return _CLASSES.get(name, Pfm3Error)
