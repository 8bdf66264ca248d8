"""The samples of a context: what each overflow has recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pypfm._c import sampling
from pypfm.common.frozen import FrozenMap, lazy
from pypfm.common.value import HEX, HIDDEN, Value, said
from pypfm.errors import DecodeError
from pypfm.ia64.counting.calls import error, ffi, lib
from pypfm.ia64.decode import Decoded, EarSample, TraceEntry, decode_registers
from pypfm.ia64.encoding import Encoding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.ia64.counting.sets import EventSet, Member

__all__ = ["Buffer", "Entry", "Kinds", "Sample"]

_TOP = 1 << 64
_PROT_READ, _MAP_SHARED = 1, 1  # of every Linux


class Entry(NamedTuple):
    """An entry of the buffer as it was recorded."""

    tid: int
    counter: int
    last_reset: int
    ip: int
    time: int
    cpu: int
    set: int
    pid: int
    values: tuple[int, ...]

    @property
    def events(self) -> int:
        """Return the number of events since the overflow before."""
        return -self.last_reset % _TOP


class Sample(Value):
    """A record that was made when an event had happened a number of times.

    :ivar event: that event
    :ivar set: the set that was counting
    :ivar ip: the instruction that was interrupted
    :ivar pid: process
    :ivar tid: thread
    :ivar cpu: where it ran
    :ivar time: nanoseconds of a clock that goes on steadily
    :ivar period: how many of the events the sample stands for
    :ivar counts: the other events of the set by name, since the context was made
    :ivar registers: the data registers of the EARs and the trace buffer by name, such as PMD2
    """

    event: str
    set: int
    ip: int = field(metadata=HEX)
    pid: int
    tid: int
    cpu: int
    time: int
    period: int
    counts: Mapping[str, int] = field(metadata=said(what="event"))
    registers: Mapping[str, int] = field(metadata=said(hex=True, what="register"))
    _encoding: Encoding = field(repr=False, compare=False, metadata=HIDDEN)

    @lazy
    def decoded(self) -> Decoded:
        """Decode the data registers, together with the settings with which they were recorded."""
        if not self.registers:
            raise DecodeError(f"{self.event}: no EAR and no trace buffer is recorded with it; count an event of theirs,"
                              " such as DATA_EAR_CACHE_LAT4 or BRANCH_EVENT")
        settings = {name: register.value for name, register in self._encoding.registers.items()}
        return decode_registers(self._encoding.pmu, settings | dict(self.registers))

    @property
    def ears(self) -> tuple[EarSample, ...]:
        """Return the samples of the event address registers; empty if no event of theirs is counted."""
        return self.decoded.samples if self.registers else ()

    @property
    def branches(self) -> tuple[TraceEntry, ...]:
        """Return the entries of the branch or execution trace buffer, oldest first; empty if it is not recorded."""
        return self.decoded.trace if self.registers else ()


class Kinds:
    """The meaning of a context's entries: the event of each set and counter, and the kinds of the values."""

    def __init__(self, sets: Sequence[EventSet]) -> None:
        self.num_values: dict[tuple[int, int], int] = {}
        self._of: dict[tuple[int, int], tuple[EventSet, Member, tuple[int, ...]]] = {}
        self._labels = {(s.number, m.counter): m.label for s in sets for m in s.members}
        for one in sets:
            for member in one.members:
                if member.period:
                    registers = one.sampled(member)
                    self.num_values[one.number, member.counter] = len(registers)
                    self._of[one.number, member.counter] = one, member, registers

    def sample(self, entry: Entry) -> Sample:
        """Return the sample of an entry."""
        of_set, member, registers = self._of[entry.set, entry.counter]
        counts, others = {}, {}
        for number, value in zip(registers, entry.values, strict=True):
            label = self._labels.get((of_set.number, number))
            if label is None:
                others[f"PMD{number}"] = value
            else:
                counts[label] = value
        return Sample._of(
            event=member.label, set=entry.set, ip=entry.ip, pid=entry.pid, tid=entry.tid, cpu=entry.cpu,
            time=entry.time, period=entry.events, counts=FrozenMap(counts, "event"),
            registers=FrozenMap(others, "register"), _encoding=of_set.encoding)


def _unmap(size: int, pointer: Any) -> None:
    lib.pypfm_unmap(pointer, size)


class Buffer:
    """The mapped sampling buffer; its memory is unmapped when no object refers to it any more.

    :cvar FIRST: where the first entry is
    :param fd: of the context
    :param num_values: how many values an entry has, by set and counter
    """

    FIRST: ClassVar[int] = sampling.HEADER_SIZE

    def __init__(self, fd: int, size: int, num_values: Mapping[tuple[int, int], int], about: str) -> None:
        self._num_values = num_values
        before = ffi.errno
        pointer = lib.pfm_mmap(ffi.NULL, size, _PROT_READ, _MAP_SHARED, fd, 0)
        if int(ffi.cast("intptr_t", pointer)) == -1:
            code, ffi.errno = ffi.errno, before
            raise error("pfm_mmap", code, about)
        mapped: Any = ffi.gc(pointer, partial(_unmap, size))
        self._view = memoryview(ffi.buffer(mapped, size)).cast("B")

    @property
    def overflows(self) -> int:
        """Return how often the buffer was found full."""
        return int(sampling.HEADER.unpack_from(self._view)[2])

    @property
    def filled(self) -> int:
        """Return where the next entry goes."""
        return int(sampling.HEADER.unpack_from(self._view)[1])

    def entries(self, position: int) -> Iterator[tuple[Entry, int]]:
        """Yield the entries from a place on, each with the place after it."""
        view = self._view
        for at, count in sampling.places(view, self._num_values, position):
            tid, counter, _, last, ip, time, cpu, number, pid = sampling.ENTRY.unpack_from(view, at)
            values = sampling.values(view, at, count)
            yield (Entry(tid, counter, last, ip, time, cpu, number, pid, values),
                   at + sampling.ENTRY.size + 8 * count)

    def detach(self) -> None:
        """Detach from the memory, but keep the content."""
        self._view = memoryview(bytes(self._view))
