"""Sampling: what overflows leave in the buffer and as messages, what they mean for the counts, restarts.

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
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pypfm.common.arguments import expect_int
from pypfm.errors import ContextError, InvalidValueError, shown
from pypfm.ia64.counting import registers
from pypfm.ia64.counting.calls import call
from pypfm.ia64.counting.counts import Reading
from pypfm.ia64.counting.messages import Descriptor, Message, read_message
from pypfm.ia64.counting.samples import Buffer, Entry, Kinds, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pypfm.ia64.counting.sets import EventSet, Member

__all__ = ["Overflows", "wanted_buffer"]

T = TypeVar("T")
Pmds = Mapping[tuple[int, int], tuple[int, int]]  # value and last reset value, by set and register
_TOP = 1 << 64
_TRIES = 100  # to read all at one moment, before the next overflow comes
_SMALLEST_BUFFER = 512  # bytes; more than the largest entry needs, with the header


def wanted_buffer(sets: Sequence[EventSet], asked: object, *, notify: bool, signal: bool) -> int:
    """Choose how many bytes the sampling buffer has; 0: there is none.

    :param asked: how many are asked for
    :param notify: whether each overflow is to stop the counters
    :param signal: whether a signal is asked for that only an overflow would send
    :raises InvalidValueError: the sets do not overflow so, or the buffer has no such size
    """
    size = expect_int(asked, "buffer_size")
    switches = any(s.switching.overflows for s in sets)
    if not any(m.period for s in sets for m in s.members):
        for given, name in ((notify, "notify"), (signal, "signal")):
            if given:
                raise InvalidValueError(f"{name}: no event has a period, so none overflows")
        return 0
    if notify and switches:
        raise InvalidValueError("notify and overflows: sets that are switched by overflows go on by themselves")
    if notify or (size == 0 and switches and all(s.switching.overflows == 1 for s in sets)):
        return 0
    if not _SMALLEST_BUFFER <= size < 1 << 48:
        raise InvalidValueError(f"buffer_size {shown(size)}: at least {_SMALLEST_BUFFER} bytes and below 2^48; or"
                                " 0, where sets are switched by 1 overflow and nothing is sampled")
    return size


class _Caller(Protocol):
    """A function that calls with the descriptor, and with the message for when another thread is refused."""

    def __call__(self, do: Callable[[int, str], T]) -> T: ...


class _State(NamedTuple):
    """How far the overflows have been read.

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
        """Return the state once these are no longer in the buffer."""
        before = dict(self.before)
        for entry in entries:
            key = entry.set, entry.counter
            before[key] = before.get(key, 0) + entry.events
        return self._replace(position=position, before=before)


class Overflows:
    """The overflows of a context.

    :param size: bytes of the sampling buffer; 0: there is none
    :param notify: whether each stops the counters
    """

    def __init__(self, sets: Sequence[EventSet], descriptor: Descriptor, size: int, *, notify: bool) -> None:
        self._sets, self._descriptor, self._notify = sets, descriptor, notify
        self._kinds = Kinds(sets)
        self._buffer = Buffer(descriptor.own(), size, self._kinds.num_values, descriptor.about) if size else None
        self._messages: deque[Message] = deque()  # taken from the descriptor
        self._state = _State()
        self._entries: deque[Entry] = deque()  # taken out of the buffer before it began anew
        self._lock, self._pid = RLock(), os.getpid()
        self._changes: int | None = None  # the thread that does
        self._wanted: deque[Callable[[], None]] = deque()  # restarts, once the change under way is done

    def _change(self, do: Callable[[], T]) -> T | None:
        """Change the state; return None inside another change, without doing anything."""
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
        """Take a new lock in a child process: a change that another thread of the parent had begun would never end.

        What it had done so far stands, as for a signal handler that comes between two steps.
        """
        if self._changes != get_ident():  # which goes on with its own
            self._lock, self._changes = RLock(), None
        self._pid = os.getpid()

    # ---- what they mean for the counts --------------------------------------------------------

    def read(self, caller: _Caller) -> Reading:
        """Read all at one moment: once more, when an overflow or a restart came in the middle."""
        if not self._kinds.num_values:  # nothing overflows
            return self._reading(self._pmds(caller), self._runs(caller))
        for _ in range(_TRIES):
            moment, runs = self._moment(), [runs for runs, _ in self._runs(caller)]
            found = self._reading(self._pmds(caller), self._runs(caller))
            if (self._moment(), [now for now, _ in found.sets]) == (moment, runs):
                break
        return found

    def _pmds(self, caller: _Caller) -> Pmds:
        return caller(lambda fd, elsewhere: registers.read(fd, self._sets, self._descriptor.about, elsewhere))

    def _runs(self, caller: _Caller) -> Sequence[tuple[int, int]]:
        return caller(lambda fd, _: registers.info(fd, self._sets, self._descriptor.about))

    def _moment(self) -> object:
        """Return a value that is the same at two moments if no overflow and no restart came between them."""
        return self._state, self._buffer and (self._buffer.filled, self._buffer.overflows)

    def _reading(self, pmds: Pmds, sets: Sequence[tuple[int, int]]) -> Reading:
        state, full = self._state, self._full()
        entries = [entry for entry, _ in self._buffer.entries(state.position)] if self._buffer else []
        state = state.plus(entries, state.position)
        events = {(s.number, m.counter): self._events(s, m, *pmds[s.number, m.counter], sets[s.number][0], state)
                  for s in self._sets for m in s.members}
        stands = full > 0 or (self._notify and bool(self._wrapped(pmds)))
        return Reading(pmds, sets, events, stands, state.stops, state.lost + max(full - 1, 0))

    def _events(self, of_set: EventSet, member: Member, value: int, start: int, runs: int, state: _State) -> int:
        """Return how often an event has happened: since its last overflow, and before.

        :param value: of its counter
        :param start: what that began with, or was reset to
        :param runs: how often its set has become active
        :param state: once nothing is left in the buffer
        """
        if not member.period:
            return value
        before = state.before.get((of_set.number, member.counter), 0)
        since = value - start if value >= start else value  # wrapped: what came before is counted with the overflow
        if self._buffer is not None:
            return before + since
        if of_set.switching.overflows and runs:
            return member.period * (runs if value < start else runs - 1) + since
        if value < start and state.resetting:
            return before
        return before + (value - start) % _TOP

    def _full(self) -> int:
        """Return how often the buffer was found full since the last restart."""
        return self._buffer.overflows - self._state.full if self._buffer else 0

    def _wrapped(self, pmds: Pmds) -> dict[tuple[int, int], int]:
        """Return the events of the counters that have overflowed and were not reset."""
        found = {}
        for of_set in self._sets:
            for member in of_set.members:
                key = of_set.number, member.counter
                value, start = pmds[key]
                if member.period and value < start:
                    found[key] = (value - start) % _TOP
        return found

    # ---- what they leave ----------------------------------------------------------------------

    def message(self, seconds: float | None) -> Message | None:
        """Take the next message, once there is one.

        :param seconds: to wait at most; None: until there is one
        """
        self._receive()
        if not self._messages and seconds != 0:
            self._descriptor.wait(seconds)
            self._receive()
        return self._messages.popleft() if self._messages else None

    def _receive(self) -> None:
        """Receive the messages that wait."""
        while (data := self._descriptor.read()) is not None:
            self._messages.append(read_message(data, self._sets))

    def samples(self, restart: Callable[[], None]) -> Iterator[Sample]:
        """Take the samples that there are, and restart if all were taken and the buffer is full.

        :raises InvalidValueError: there is no buffer
        """
        if self._buffer is None:
            raise InvalidValueError("nothing is sampled: make the Context with a period, and without notify")
        return self._samples(restart)

    def _samples(self, restart: Callable[[], None]) -> Iterator[Sample]:
        if not self._descriptor.closed:
            self._descriptor.own()
        while (entry := self._change(self._take)) is not None:
            yield self._kinds.sample(entry)
        if not self._descriptor.closed and self._full() > 0:
            try:
                restart()
            except ContextError as refused:
                if refused.errno != errno.EBUSY:  # restarted already, or its thread has ended
                    raise

    def _take(self) -> Entry | None:
        if self._entries:
            return self._entries.popleft()
        state = self._state
        found = next(self._buffer.entries(state.position), None) if self._buffer else None
        if found is None:
            return None
        self._state = state.plus([found[0]], found[1])
        return found[0]

    def restart(self, caller: _Caller) -> None:
        """Let the counters go on; entries that were not taken are kept."""
        self._receive()  # the queue is short, and a full one would stop the counters for good
        if self._change(lambda: self._restart(caller)) is None:
            self._wanted.append(lambda: self.restart(caller))

    def _restart(self, caller: _Caller) -> bool:
        was = self._state
        if self._buffer is not None:
            found = list(self._buffer.entries(was.position))
            entries, position = [e for e, _ in found], found[-1][1] if found else was.position
            self._entries.extend(entries)
            now = was.plus(entries, position)
        else:
            before = dict(was.before)
            for key, events in (self._wrapped(self._pmds(caller)) if self._notify else {}).items():
                before[key] = before.get(key, 0) + events
            now = was._replace(before=before, resetting=True)
        full = self._full()
        self._state = now
        try:
            caller(lambda fd, elsewhere: call("pfm_restart", self._descriptor.about, fd, elsewhere=elsewhere))
        except BaseException:
            if self._buffer is None:
                self._state = was
            raise
        self._state = now._replace(position=Buffer.FIRST, resetting=False, stops=now.stops + 1, full=now.full + full,
                                   lost=now.lost + max(full - 1, 0))
        return True

    def detach(self) -> None:
        """Detach from the memory, but keep the content."""
        if self._buffer is not None:
            self._buffer.detach()
