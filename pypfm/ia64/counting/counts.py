"""What is counted: numbers that say if they are not the whole truth."""

from __future__ import annotations

from typing import Any

__all__ = ["Count"]


class Count(int):
    """How often an event was counted: a number, with what is to be known of it.

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
        """Whether each event was counted that happened while the context was started."""
        return not self.note

    def __repr__(self) -> str:
        return f"{int(self)} ({self.note})" if self.note else str(int(self))

    def __str__(self) -> str:
        return str(int(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self), self.note, self.seconds, self.estimate)
