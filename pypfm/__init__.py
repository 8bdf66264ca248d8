"""Performance-monitoring interfaces of the past, byte for byte.

* `pypfm.pfm3`: libpfm 3 as in C, for Itanium 2 and Montecito;
* `Itanium2`, `Montecito`: the same PMUs as Python objects.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.encoding import Encoding
    from pypfm.errors import (
        AssignmentError,
        CodeRangeError,
        CoverageError,
        DataRangeError,
        EventNotFoundError,
        EventSetError,
        FeatureError,
        FieldWidthError,
        IncompatibleEventsError,
        InvalidRequestError,
        NotSupportedError,
        Pfm3Error,
        PfmError,
        PromiseError,
        RequestTooLargeError,
        ThresholdError,
        UnitMaskError,
    )
    from pypfm.itanium import Event, Itanium2, Montecito, UnitMask
    from pypfm.request import (
        AddressRange,
        Btb,
        Ear,
        EarMode,
        Etb,
        EventRequest,
        IpEar,
        Ism,
        OpcodeMatch,
        Plm,
        Ranges,
    )

__version__ = "0.1.0"

_MODULES = {
    "encoding": ["Encoding"],
    "errors": [
        "AssignmentError", "CodeRangeError", "CoverageError", "DataRangeError", "EventNotFoundError",
        "EventSetError", "FeatureError", "FieldWidthError", "IncompatibleEventsError",
        "InvalidRequestError", "NotSupportedError", "Pfm3Error", "PfmError", "PromiseError",
        "RequestTooLargeError", "ThresholdError", "UnitMaskError",
    ],
    "itanium": ["Event", "Itanium2", "Montecito", "UnitMask"],
    "request": [
        "AddressRange", "Btb", "Ear", "EarMode", "Etb", "EventRequest", "IpEar", "Ism", "OpcodeMatch",
        "Plm", "Ranges",
    ],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AddressRange", "AssignmentError", "Btb", "CodeRangeError", "CoverageError", "DataRangeError", "Ear",
    "EarMode", "Encoding", "Etb", "Event", "EventNotFoundError", "EventRequest", "EventSetError",
    "FeatureError", "FieldWidthError", "IncompatibleEventsError", "InvalidRequestError", "IpEar", "Ism",
    "Itanium2", "Montecito", "NotSupportedError", "OpcodeMatch", "Pfm3Error", "PfmError", "Plm",
    "PromiseError", "Ranges", "RequestTooLargeError", "ThresholdError", "UnitMask", "UnitMaskError",
    "__version__",
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
