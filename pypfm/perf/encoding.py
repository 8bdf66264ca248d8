"""The answer to an event string: codes, their fields, perf_event_attr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from pypfm.common.arguments import expect_number
from pypfm.common.frozen import FrozenMap
from pypfm.common.value import HIDDEN, Value, in_json, said
from pypfm.errors import InvalidValueError, shown
from pypfm.perf.events import Os
from pypfm.perf.formats import format_of
from pypfm.perf.offcore import OffcoreValue

if TYPE_CHECKING:
    from pypfm.perf.decode import Decoded

__all__ = ["AverageLatency", "Counted", "Encoding", "Encodings"]

class Encoding(Value):
    """The codes of an event string.

    :ivar codes: event select register (IA-64: the counter's PMC), and for offcore events the value of the offcore
        register; of another library's PMU as many as that says, and
        for perf_event config, config1 ...
    :ivar string: canonical event string of the interface asked for
    :ivar attr: fields of perf_event_attr that are not 0, and type and config; None: the kernel cannot count it
    :ivar perf: spelling for ``perf stat -e``; None: the kernel cannot count it
    :ivar cpu: processor asked for with cpu=, or -1
    :ivar os: interface that was asked for
    :ivar library: file of the library that has encoded it; None: our own
    """

    _order = ("event", "string", "codes", "fields", "offcore", "attr", "perf", "cpu")

    pmu: str = field(metadata=HIDDEN)
    event: str
    codes: tuple[int, ...] = field(metadata=said(hex=True, minItems=1))
    string: str
    attr: Mapping[str, int] | None = field(metadata=said(
        hex=True, required=["type", "size", "config"], what="field of perf_event_attr"))
    perf: str | None
    cpu: int = field(default=-1, metadata=said(minimum=-1))
    offcore: OffcoreValue | None = None
    attr_bytes: bytes = field(default=b"", repr=False, compare=False, metadata=HIDDEN)
    os: Os = field(default="none", repr=False, compare=False, metadata=HIDDEN)
    library: str | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)

    @property
    @in_json(hex=True)
    def fields(self) -> Mapping[str, int]:
        """Return the bit-fields of the first code, if it is the value of a register; else none."""
        return FrozenMap(format_of(self.pmu).read(self.codes[0]), "field")

    def decode(self) -> Decoded:
        """Decode the codes: find the event strings that give them."""
        from pypfm.perf.decode import decode_codes, values_of  # of a module that needs this one; pypfm.perf has it

        return decode_codes(self.pmu, values_of(self), self.library)


class Counted(Encoding):
    """An event that was also counted.

    :ivar unit: what was counted
    :ivar modes: those that the count is of: with a clock, which does not tell them apart, both
    """

    count: int = 0
    unit: Literal["events", "ns"] = "events"
    modes: tuple[Literal["user", "kernel"], ...] = field(default=(), metadata=said(uniqueItems=True))


class Encodings(Value):
    """The output of `pypfm encode`."""

    pmu: str
    os: Os
    events: tuple[Encoding | Counted, ...]


class AverageLatency(Value):
    """The pair of events of the average latency mode: requests outstanding, requests made."""

    outstanding: Encoding
    requests: Encoding

    def cycles(self, count0: int, count1: int) -> float:
        """Return the average latency in core cycles.

        :param count0: count of OFFCORE_RESPONSE_0
        :param count1: count of OFFCORE_RESPONSE_1
        :raises ZeroDivisionError: there was no request
        :raises InvalidValueError: a count is below 0, or has more than 64 bits
        """
        for what, count in (("count0", count0), ("count1", count1)):
            if not 0 <= expect_number(count, what) < 1 << 64:
                raise InvalidValueError(f"{what}={shown(count)}: counts are 0 to 2^64 - 1")
        return expect_number(count0, "count0") / expect_number(count1, "count1")
