"""Counters of NetBSD's pmc interface, on this host or on a model.

``Machine`` is a mapping of its events, each a ``CounterEvent``; ``Counter`` counts one of them.
"""

from pypfm.netbsd.counter import Counter, CounterEvent, Machine

__all__ = ["Counter", "CounterEvent", "Machine"]
