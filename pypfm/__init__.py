"""Performance-monitoring interfaces of the past, byte for byte.

* `pypfm.pfm3`: libpfm 3 as in C, for the IA-64 processors;
* `Itanium`, `Itanium2`, `Montecito`, `GenericIA64`: these as Python objects;
* `pypfm.pfm4`: libpfm 4 as in C, for Intel Goldmont and the Linux generic events;
* `Goldmont`, `Perf`: these as Python objects;
* `pypfm.pmc`: NetBSD's pmc interface as in C;
* `Counter`, `Machine`: the same as Python objects;
* `pypfm.libperfex`: IRIX's libperfex as in C; `pypfm.perfex.counting`: the same as a Python object.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.counter import Counter, CounterEvent, Machine
    from pypfm.decode import Decoded, Decoded4
    from pypfm.encoding import Encoding
    from pypfm.errors import (
        AssignmentError,
        CodeRangeError,
        CounterBusyError,
        CounterError,
        CounterEventError,
        CounterNumberError,
        CounterRunningError,
        CountingError,
        CoverageError,
        DataRangeError,
        DecodeError,
        EventNotFoundError,
        EventSetError,
        FeatureError,
        FieldWidthError,
        IncompatibleEventsError,
        InvalidRequestError,
        NotConfiguredError,
        NotSupportedError,
        Pfm3Error,
        Pfm4Error,
        Pfm4PromiseError,
        PfmError,
        PromiseError,
        RequestTooLargeError,
        ThresholdError,
        UnitMaskError,
        UnknownEventError,
    )
    from pypfm.goldmont import AverageLatency, Encoding4, Event4, Goldmont, Perf, Umask
    from pypfm.itanium import Event, GenericIA64, Itanium, Itanium2, Montecito, UnitMask
    from pypfm.levels import Plm
    from pypfm.request import (
        AddressRange,
        Btb,
        Ear,
        EarMode,
        Etb,
        EventRequest,
        IpEar,
        Ism,
        ItaniumBtb,
        OpcodeMatch,
        Ranges,
    )

#: The version of the package.
__version__ = "0.1.0"

_MODULES = {
    "counter": ["Counter", "CounterEvent", "Machine"],
    "decode": ["Decoded", "Decoded4"],
    "encoding": ["Encoding"],
    "errors": [
        "AssignmentError", "CodeRangeError", "CounterBusyError", "CounterError", "CounterEventError",
        "CounterNumberError", "CounterRunningError", "CountingError", "CoverageError", "DataRangeError",
        "DecodeError", "EventNotFoundError", "EventSetError", "FeatureError", "FieldWidthError",
        "IncompatibleEventsError", "InvalidRequestError", "NotConfiguredError", "NotSupportedError", "Pfm3Error",
        "Pfm4Error", "Pfm4PromiseError", "PfmError", "PromiseError", "RequestTooLargeError", "ThresholdError",
        "UnitMaskError", "UnknownEventError",
    ],
    "goldmont": ["AverageLatency", "Encoding4", "Event4", "Goldmont", "Perf", "Umask"],
    "levels": ["Plm"],
    "itanium": ["Event", "GenericIA64", "Itanium", "Itanium2", "Montecito", "UnitMask"],
    "request": [
        "AddressRange", "Btb", "Ear", "EarMode", "Etb", "EventRequest", "IpEar", "Ism", "ItaniumBtb",
        "OpcodeMatch", "Ranges",
    ],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AddressRange", "AssignmentError", "AverageLatency", "Btb", "CodeRangeError", "Counter", "CounterBusyError",
    "CounterError", "CounterEvent", "CounterEventError", "CounterNumberError", "CounterRunningError",
    "CountingError", "CoverageError", "DataRangeError", "DecodeError", "Decoded", "Decoded4", "Ear", "EarMode",
    "Encoding", "Encoding4", "Etb", "Event", "Event4", "EventNotFoundError", "EventRequest", "EventSetError",
    "FeatureError", "FieldWidthError", "GenericIA64", "Goldmont", "IncompatibleEventsError",
    "InvalidRequestError", "IpEar", "Ism", "Itanium", "Itanium2", "ItaniumBtb", "Machine", "Montecito",
    "NotConfiguredError", "NotSupportedError", "OpcodeMatch", "Perf", "Pfm3Error", "Pfm4Error",
    "Pfm4PromiseError", "PfmError", "Plm", "PromiseError", "Ranges", "RequestTooLargeError", "ThresholdError",
    "Umask", "UnitMask", "UnitMaskError", "UnknownEventError", "__version__",
]


def __getattr__(name: str) -> object:
    """Import what is asked for, so that ``import pypfm.pfm3`` loads nothing else."""
    if name in _HOME:
        value = getattr(import_module(f"pypfm.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    message = f"module 'pypfm' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
