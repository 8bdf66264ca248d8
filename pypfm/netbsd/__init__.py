"""Counters of NetBSD's pmc interface, on this host or on a model."""

from pypfm.netbsd.counter import Counter, CounterEvent, Machine

__all__ = ["Counter", "CounterEvent", "Machine"]
