"""Notes of a report on its counts; events with the same note stand together.

How wrong a number may be is said in any case.  Why events are not available is left to --verbose where
all were asked for.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pypfm.common.runs import written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pypfm.perfex.model import Measurement

__all__ = ["LEFT_OUT", "NOT_AVAILABLE", "folded", "full", "short"]

_WIDTH = 80
#: How a note begins that says with which option an event would be counted.
LEFT_OUT = "left out"
#: What is printed in place of a number that is not known; never 0.
NOT_AVAILABLE = "not available"
_ELSEWHERE = "not available (why: --verbose)"


def _events(who: Collection[int]) -> str:
    return f"event{'s' * (len(who) > 1)} {written(sorted(who), ', ')}"


def _shared(measurements: Iterable[Measurement]) -> dict[str, list[int]]:
    """Return the events that have each note."""
    found: dict[str, list[int]] = {}
    for m in sorted(measurements, key=lambda m: m.event.index):
        if m.note:
            found.setdefault(m.note, []).append(m.event.index)
    return found


def _lines(shared: Mapping[str, Collection[int]]) -> list[str]:
    return [f"{_events(who)}: {note}" for note, who in shared.items()]


def full(measurements: Iterable[Measurement], of_run: Collection[str]) -> list[str]:
    """Return the notes on events; events with the same note share one.

    :param of_run: notes on the whole run, which are not said again of events
    """
    return _lines(_shared(m for m in measurements if m.note not in of_run))


def short(measurements: Iterable[Measurement], of_run: Collection[str], *, everything: bool) -> list[str]:
    """Return the same notes, without those that are always true.

    :param everything: all events were asked for: why some are not available is left out, unless it is this run's fault
    """
    elsewhere: list[Measurement] = []
    rest: list[Measurement] = []
    for m in measurements:
        if m.note and m.note not in of_run:
            hidden = everything and m.count is None and m.share and not m.note.startswith(LEFT_OUT)
            (elsewhere if hidden else rest).append(m)
    lines = _lines(_shared(rest))
    return [*lines, *([f"{_events([m.event.index for m in elsewhere])}: {_ELSEWHERE}"] if elsewhere else [])]


def folded(note: str) -> str:
    """Fold a note into lines of 80 columns."""
    return textwrap.fill(note, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False,
                         break_long_words=False)
