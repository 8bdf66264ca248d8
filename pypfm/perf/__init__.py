"""PMUs whose events are strings, by libpfm 4: Intel Goldmont, and the events of the Linux kernel.

* ``Goldmont``, ``Perf``: the PMUs, each a mapping of its events (``Event``, ``GroupedUmask``, ``Modifier``); ``Pmu`` is
  what they share
* what ``encode()`` returns: an ``Encoding``; ``Groups`` of them count together, ``OffcoreValue`` is a second register
* ``AverageLatency``: two offcore events that give cycles; ``Decoded``: what a code means

`events` is what the C tables say; `pmu` encodes and counts; `decode` is the way back.
"""

from pypfm.perf.decode import Decoded
from pypfm.perf.encoding import AverageLatency, Encoding
from pypfm.perf.events import Event, GroupedUmask, Modifier
from pypfm.perf.groups import Groups
from pypfm.perf.offcore import OffcoreValue
from pypfm.perf.pmu import Goldmont, Perf, Pmu

__all__ = [
    "AverageLatency", "Decoded", "Encoding", "Event", "Goldmont", "GroupedUmask", "Groups", "Modifier", "OffcoreValue",
    "Perf", "Pmu",
]
