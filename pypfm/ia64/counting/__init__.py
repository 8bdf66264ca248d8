"""Counting and sampling on an Itanium's PMU, or on a model of it, through perfmon2.

The way of a context: `sets` makes registers of events, `registers` writes and reads them, `messages` and `samples` are
what overflows leave, `overflows` says what they mean for the `counts`, `context` is all of it as one object.
"""

from pypfm.ia64.counting.context import Context
from pypfm.ia64.counting.counts import Count
from pypfm.ia64.counting.messages import Message
from pypfm.ia64.counting.model import Model
from pypfm.ia64.counting.samples import Sample

__all__ = ["Context", "Count", "Message", "Model", "Sample"]
