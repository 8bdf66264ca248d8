"""Running a command several times under the same backend (perfex --repeat)."""

from __future__ import annotations

import os
import resource
import signal
import stat
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pypfm.common.runs import written
from pypfm.perfex.model import Measurement, Outcome, PerfexError, Repeats, Times
from pypfm.perfex.perf_table import QUALITIES
from pypfm.perfex.signals import came

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from pypfm.perfex.model import Backend, Request

__all__ = ["ENDING", "combined", "run"]

#: The signals after which no other run begins.
ENDING = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_FAILED = 1
_PIPE = ("standard input is a pipe: what the first run has read of it the others did not get (a file is rewound for"
         " each run)")


def run(backend: Backend, request: Request, times: int, begins: Callable[[int], object] | None = None) -> Outcome:
    """Run the command several times, one run after the other; return the means of their counts.

    It stops early at a run that ends in another way than the first, which then does not count; at one that a signal
    ends; at one that could not be made; and where one of `ENDING` comes.

    :param begins: called with the number of each run before it begins
    :raises PerfexError: the first run could not be made
    """
    outcomes: list[Outcome] = []
    stopped, status = "", 0
    rewind = _Rewind()
    with _ending_later(), _limits() as restore_limits:
        for number in range(1, times + 1):
            if begins:
                begins(number)
            rewind()
            try:
                outcome = backend.run(replace(request, layout=number - 1 if times > 1 else None))
            except PerfexError as error:
                if not outcomes:
                    raise
                stopped = _came(f"before run {number}, which was not made")
                if not stopped:
                    stopped, status = f"run {number} could not be made: {error}", status or _FAILED
                break
            finally:
                restore_limits()
            status = status or outcome.status
            if stopped := _odd(number, outcome, outcomes[0] if outcomes else None):
                break
            outcomes.append(outcome)
            if number < times and (stopped := _last(number, outcome)):
                break
        notes = rewind.notes if len(outcomes) > 1 else ()
    return replace(combined(outcomes, times, stopped, notes), status=status)


def _odd(number: int, outcome: Outcome, first: Outcome | None) -> str:
    """Return why a run does not count."""
    if first is None or (outcome.status, outcome.ended_by) == (first.status, first.ended_by):
        return ""
    how = f"was ended by {outcome.ended_by}" if outcome.ended_by else f"ended with status {outcome.status}"
    return f"run {number} {how}, those before it with {first.status}; it does not count, and was the last"


def _last(number: int, outcome: Outcome) -> str:
    """Return why no other run follows."""
    if outcome.ended_by:
        return f"{outcome.ended_by} ended run {number}, and no other was made"
    return _came(f"in run {number}, which was the last")


def _came(when: str) -> str:
    """Say which signal of `ENDING` came; "": none did."""
    found = came() & {*ENDING}
    return f"{signal.Signals(min(found)).name} came {when}" if found else ""


# ---- the same surroundings for each run -------------------------------------------------

class _Rewind:
    """Sets a file on standard input back to where it was."""

    def __init__(self) -> None:
        self._at: int | None = None
        self.notes: tuple[str, ...] = ()
        try:
            mode = os.fstat(0).st_mode
            self._at = os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(mode) else None
            self.notes = (_PIPE,) if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else ()
        except OSError:  # closed
            pass

    def __call__(self) -> None:
        if self._at is not None:
            os.lseek(0, self._at, os.SEEK_SET)


@contextmanager
def _limits() -> Iterator[Callable[[], None]]:
    """Restore limits between runs: the next command must not inherit the open files that a backend has raised."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def _ending_later() -> Iterator[None]:
    """Keep the signals of `ENDING` from ending perfex between two runs; `came` reports them.

    They take effect if there is nothing to report.
    """
    def note(number: int, _frame: FrameType | None) -> None:
        came().add(number)

    came().clear()
    before = {s: signal.signal(s, note) for s in ENDING if signal.getsignal(s) != signal.SIG_IGN}
    effective: set[int] = set()
    try:
        yield
    except BaseException:
        effective = set(came())
        raise
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
        for number in effective & {*before}:
            os.kill(os.getpid(), number)


# ---- one outcome of several -----------------------------------------------------------

def combined(outcomes: Sequence[Outcome], asked: int, stopped: str = "", notes: Sequence[str] = ()) -> Outcome:
    """Return the means of the counts, and all other results of the runs.

    :param asked: how many runs there were to be
    :param stopped: why there are less; "": there are not
    :param notes: on all runs together
    """
    first, clock = outcomes[0], sum(o.clock for o in outcomes) / len(outcomes)
    measured = any(o.clock != first.clock for o in outcomes)
    source = f"{first.clock_source}; mean of {len(outcomes)} runs" if measured else first.clock_source
    times = tuple(t for o in outcomes if (t := o.times))
    return replace(
        first, measurements=tuple(_mean([o.measurements[i] for o in outcomes]) for i in range(len(first.measurements))),
        clock=clock if measured else first.clock, clock_source=source,
        notes=(*_partly(outcomes), *_notes(outcomes), *notes), times=_mean_times(times),
        repeats=Repeats(asked, len(outcomes), stopped, times))


def _mean_times(times: Sequence[Times]) -> Times | None:
    if not times:
        return None
    wall, user, system = (sum(of) / len(times) for of in zip(*((t.wall, t.user, t.system) for t in times), strict=True))
    return Times(wall, user, system, times[0].simulated)


def _partly(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield which events were not counted in all runs that counted."""
    for place, m in enumerate(outcomes[0].measurements):
        counts = [o.measurements[place].count for o in outcomes]
        known = len(counts) - counts.count(None)
        if 0 < known < len(counts):
            yield f"event {m.event.index}: counted in {known} of {len(counts)} runs"


def _mean(runs: Sequence[Measurement]) -> Measurement:
    """Return the mean of an event's counts, over those runs that have one."""
    found = [m for m in runs if m.count is not None]
    counts = [m.count for m in found if m.count is not None]
    if not counts:
        return runs[0]
    notes = list(dict.fromkeys(m.note for m in found if m.note))
    sources = {m.source for m in found}
    rounded = (2 * sum(counts) + len(counts)) // (2 * len(counts))  # of any size, as a float would not
    return replace(
        found[0], count=rounded, quality=max((m.quality for m in found), key=QUALITIES.index),
        share=min(1.0, sum(m.share for m in found) / len(found)), note="; ".join(notes),
        source=sources.pop() if len(sources) == 1 else "", runs=tuple(m.count for m in runs),
        low=min((m.low for m in found if m.low is not None), default=None),
        high=max((m.high for m in found if m.high is not None), default=None))


def _notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the notes of all runs; a note of only some runs says which."""
    whose: dict[str, list[int]] = {}
    for number, outcome in enumerate(outcomes, 1):
        for note in dict.fromkeys(outcome.notes):
            whose.setdefault(note, []).append(number)
    for note, numbers in whose.items():
        everyone = len(numbers) == len(outcomes)
        yield note if everyone else f"run{'s' * (len(numbers) > 1)} {written(numbers, ', ')}: {note}"
