"""What overflows leave: entries of the buffer, events whose counters were reset since, restarts.

A signal handler of Python may come between any two steps here, and take samples, restart, or read the counts.  So what
belongs together is one tuple, which is replaced at once, and who comes in the middle of a change leaves it alone: there
is nothing to take for it, and what it wants restarted is restarted when the change is done.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from threading import RLock, get_ident
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pypfm.errors import ContextError
from pypfm.ia64.counting.samples import Buffer, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pypfm.ia64.counting.sets import EventSet, Member

__all__ = ["Overflows", "Pmds"]

T = TypeVar("T")
Pmds = Mapping[tuple[int, int], tuple[int, int]]  # value and last reset value, by set and register
_TOP = 1 << 64


class _State(NamedTuple):
    """What was had so far.

    :ivar position: in the buffer
    :ivar before: events up to the last overflow that is not in the buffer any more, by set and counter
    :ivar resetting: a restart is under way: counters that have overflowed are in `before`, and may be reset or not
    :ivar stops: how often an overflow has stopped the counters until they were restarted
    :ivar full: how often the buffer was found full until then
    :ivar lost: how many of these overflows found no place there
    """

    position: int = Buffer.FIRST
    before: Mapping[tuple[int, int], int] = {}
    resetting: bool = False
    stops: int = 0
    full: int = 0
    lost: int = 0

    def plus(self, entries: Sequence[Entry], position: int) -> _State:
        """The state once these are no longer in the buffer."""
        before = dict(self.before)
        for entry in entries:
            key = entry.set, entry.counter
            before[key] = before.get(key, 0) + entry.events
        return self._replace(position=position, before=before)


class Overflows:
    """The overflows of a context.

    :param notify: whether each stops the counters
    """

    def __init__(self, sets: Sequence[EventSet], buffer: Buffer | None, *, notify: bool) -> None:
        self._sets, self._buffer, self._notify = sets, buffer, notify
        self._state = _State()
        self._entries: deque[Entry] = deque()  # taken out of the buffer before it began anew
        self._lock, self._pid = RLock(), os.getpid()
        self._changes: int | None = None  # the thread that does
        self._wanted: deque[Callable[[], None]] = deque()  # restarts, once the change under way is done

    def _change(self, do: Callable[[], T]) -> T | None:
        """Do what changes the state; None: this has come in the middle of another change."""
        if self._pid != os.getpid():
            self._renew()
        with self._lock:
            if self._changes is not None:
                return None
            try:
                self._changes = get_ident()
                found = do()
            finally:
                self._changes = None
        while self._wanted:
            with suppress(IndexError, ContextError):  # it has restarted already
                self._wanted.popleft()()
        return found

    def _renew(self) -> None:
        """In a child that was forked while another thread changed something, nobody would go on with it.

        What it had done so far stands, as for a signal handler that comes between two steps.
        """
        if self._changes != get_ident():  # which goes on with its own
            self._lock, self._changes = RLock(), None
        self._pid = os.getpid()

    # ---- what there is ------------------------------------------------------------------------

    @property
    def stops(self) -> int:
        """How often an overflow has stopped the counters until they were restarted."""
        return self._state.stops

    def full(self) -> int:
        """How often the buffer was found full since the last restart."""
        return self._buffer.overflows - self._state.full if self._buffer else 0

    def lost(self) -> int:
        """How many overflows found no place in the buffer; the one that fills it has one."""
        return self._state.lost + max(self.full() - 1, 0)

    def stand(self, pmds: Pmds) -> bool:
        """Whether an overflow has stopped the counters."""
        return self.full() > 0 or (self._notify and bool(self._wrapped(pmds)))

    def _wrapped(self, pmds: Pmds) -> dict[tuple[int, int], int]:
        """The events of the counters that have overflowed and were not reset."""
        found = {}
        for of_set in self._sets:
            for member in of_set.members:
                key = of_set.number, member.counter
                value, start = pmds[key]
                if member.period and value < start:
                    found[key] = (value - start) % _TOP
        return found

    def moment(self) -> object:
        """What is equal to that of another moment, if no overflow came between the two, and no restart."""
        return self._state, self._buffer and (self._buffer.filled, self._buffer.overflows)

    def before(self) -> Mapping[tuple[int, int], int]:
        """Events up to the last overflow, by set and counter."""
        state = self._state
        found = list(self._buffer.entries(state.position)) if self._buffer else []
        return state.plus([entry for entry, _ in found], 0).before

    def events(self, of_set: EventSet, member: Member, value: int, start: int, runs: int, before: int) -> int:
        """How often an event has happened: since its last overflow, and before.

        :param value: of its counter
        :param start: what that began with, or was reset to
        :param runs: how often its set has become active
        :param before: as `before` says
        """
        if not member.period:
            return value
        since = value - start if value >= start else value  # wrapped: what came before is counted with the overflow
        if self._buffer is not None:
            return before + since
        if of_set.switching.overflows and runs:
            return member.period * (runs if value < start else runs - 1) + since
        if value < start and self._state.resetting:
            return before
        return before + (value - start) % _TOP

    # ---- what changes it ----------------------------------------------------------------------------

    def take(self) -> Entry | None:
        """The next entry; None: there is none yet."""
        return self._change(self._take)

    def _take(self) -> Entry | None:
        if self._entries:
            return self._entries.popleft()
        state = self._state
        found = next(self._buffer.entries(state.position), None) if self._buffer else None
        if found is None:
            return None
        self._state = state.plus([found[0]], found[1])
        return found[0]

    def restart(self, call: Callable[[], None], read: Callable[[], Pmds]) -> None:
        """Let the counters go on; entries that were not taken are kept.

        :param call: the call of C
        :param read: reads the data registers
        """
        if self._change(lambda: self._restart(call, read)) is None:
            self._wanted.append(lambda: self.restart(call, read))

    def _restart(self, call: Callable[[], None],
                 read: Callable[[], Pmds]) -> bool:
        was = self._state
        if self._buffer is not None:
            found = list(self._buffer.entries(was.position))
            entries, position = [e for e, _ in found], found[-1][1] if found else was.position
            self._entries.extend(entries)
            now = was.plus(entries, position)
        else:
            before = dict(was.before)
            for key, events in (self._wrapped(read()) if self._notify else {}).items():
                before[key] = before.get(key, 0) + events
            now = was._replace(before=before, resetting=True)
        full = self.full()
        self._state = now
        try:
            call()
        except BaseException:
            if self._buffer is None:
                self._state = was
            raise
        self._state = now._replace(position=Buffer.FIRST, resetting=False, stops=now.stops + 1, full=now.full + full,
                                   lost=now.lost + max(full - 1, 0))
        return True

    def restart_if_full(self, restart: Callable[[], None]) -> None:
        """Let the counters go on if a full buffer has stopped them, and they belong to a thread that has not ended."""
        if self.full() > 0:
            try:
                restart()
            except ContextError as refused:
                if refused.errno != errno.EBUSY:
                    raise

    def detach(self) -> None:
        """Keep what is there, without the memory."""
        if self._buffer is not None:
            self._buffer.detach()
