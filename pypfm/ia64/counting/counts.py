"""Counts: numbers that say if they are not the whole truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pypfm.ia64.counting.sets import EventSet

__all__ = ["Count", "Reading", "sum_up"]


class Count(int):
    """How often an event was counted: a number, with remarks on what it leaves out.

    :ivar note: why it is not the number of events that happened; empty: it is
    :ivar seconds: how long the event's sets were counting; 0.0 also while the first run goes on
    :ivar estimate: what it may have been for the whole time, if only some of the sets count the event; None: it was
        counted all the time, or that cannot be told
    """

    note: str
    seconds: float
    estimate: float | None

    def __new__(cls, value: int = 0, note: str = "", seconds: float = 0.0, estimate: float | None = None) -> Count:
        made = super().__new__(cls, value)
        made.note, made.seconds, made.estimate = note, seconds, estimate
        return made

    @property
    def exact(self) -> bool:
        """Tell whether every event that happened while the context was started was counted."""
        return not self.note

    def __repr__(self) -> str:
        return f"{int(self)} ({self.note})" if self.note else str(int(self))

    def __str__(self) -> str:
        return str(int(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self), self.note, self.seconds, self.estimate)


class Reading(NamedTuple):
    """All values that were read at one moment.

    :ivar pmds: value and last reset value, by set and register
    :ivar sets: runs and nanoseconds, by set
    :ivar events: how often each event has happened, by set and counter
    :ivar stands: whether the counters stand still since an overflow
    :ivar stops: how often an overflow has stopped the counters until they were restarted
    :ivar lost: overflows that found no place in the buffer
    """

    pmds: Mapping[tuple[int, int], tuple[int, int]]
    sets: Sequence[tuple[int, int]]
    events: Mapping[tuple[int, int], int]
    stands: bool
    stops: int
    lost: int


def sum_up(label: str, sets: Sequence[EventSet], reading: Reading) -> Count:
    """Sum up an event over sets, and say what the number leaves out."""
    having = [(s.number, m) for s in sets for m in s.members if m.label == label]
    value = sum(reading.events[number, m.counter] for number, m in having)
    ns = sum(reading.sets[number][1] for number, _ in having)
    total = sum(reading.sets[s.number][1] for s in sets)
    notes, estimate = [], None
    if not any(runs for runs, _ in reading.sets):
        notes.append("not started")
    elif not any(reading.sets[number][0] for number, _ in having):
        notes.append("its set has not run")
    elif len({number for number, _ in having}) < len(sets):
        notes.append("for a part of the time")
        estimate = value * total / ns if ns else None
    if reading.stands:
        notes.append("stopped by an overflow, and not restarted")
    elif reading.stops:
        notes.append(f"stopped by {reading.stops} overflow{'s'[:reading.stops - 1]} until the restart")
    if reading.lost and any(m.period for _, m in having):
        notes.append(f"{reading.lost} overflows found no place in the buffer")
    return Count(value, "; ".join(notes), ns / 1e9, estimate)
