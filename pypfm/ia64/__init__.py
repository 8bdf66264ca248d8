"""The PMUs of the IA-64 processors: registers for a measurement, and back to what they mean.

* ``Itanium2``, ``Montecito``, ``Itanium``, ``GenericIA64``: the PMUs, each a mapping of its events (``Event``,
  ``Umask``, ``EarMode``); ``Pmu`` is what they share, ``pmu_of()`` finds one by name
* what ``encode()`` takes: ``EventRequest``, ``Ear``, ``Btb``, ``Etb``, ``ItaniumBtb``, ``IpEar``, ``OpcodeMatch``,
  ``Ranges`` of ``AddressRange``, ``Ism``; all of it is a ``Request``
* what it returns: an ``Encoding``, of ``Register``, ``DataRegister``, ``DebugRegister``; ``RangeCover`` and
  ``CoveredRange`` say what ranges cover; what its ``decode()`` returns is ``Decoded``
* ``Context`` counts and samples: ``Count``, ``Sample``, ``Message``

A request passes through the modules `models`, `events`, `request`, `encode` and `encoding`; `encode` calls C through
`c_call`, checks what the manual page promises, and says why C refuses.  `pypfm.ia64.decode` turns registers back into a
request.  `pypfm.ia64.counting` counts with the registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.common.event_table import Umask
from pypfm.ia64.decode import Decoded
from pypfm.ia64.encoding import Encoding
from pypfm.ia64.events import EarMode, Event
from pypfm.ia64.pmu import GenericIA64, Itanium, Itanium2, Montecito, Pmu, pmu_of
from pypfm.ia64.registers import CoveredRange, DataRegister, DebugRegister, RangeCover, Register
from pypfm.ia64.request import (
    AddressRange,
    Btb,
    Ear,
    Etb,
    EventRequest,
    IpEar,
    Ism,
    ItaniumBtb,
    OpcodeMatch,
    Ranges,
    Request,
)

if TYPE_CHECKING:
    from pypfm.ia64.counting import Context, Count, Message, Sample

__all__ = [
    "AddressRange", "Btb", "Context", "Count", "CoveredRange", "DataRegister", "DebugRegister", "Decoded", "Ear",
    "EarMode", "Encoding", "Etb", "Event", "EventRequest", "GenericIA64", "IpEar", "Ism", "Itanium", "Itanium2",
    "ItaniumBtb", "Message", "Montecito", "OpcodeMatch", "Pmu", "RangeCover", "Ranges", "Register", "Request",
    "Sample", "Umask", "pmu_of",
]


def __getattr__(name: str) -> object:
    """Import a name that counts when it is first used: most programs only encode."""
    if name in ("Context", "Count", "Message", "Sample"):
        from pypfm.ia64 import counting
        return getattr(counting, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
