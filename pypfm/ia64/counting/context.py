"""One monitoring session, as an object."""

from __future__ import annotations

import errno
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pypfm.common.arguments import expect_flag, expect_int, expect_number, expect_type
from pypfm.common.frozen import FrozenMap
from pypfm.errors import ContextError, InvalidTypeError, InvalidValueError, PfmError, UnknownKeyError, short, shown
from pypfm.ia64.counting import registers
from pypfm.ia64.counting.calls import call, error, ffi, on_cpu, stopped
from pypfm.ia64.counting.counts import Count
from pypfm.ia64.counting.messages import Descriptor, Message, expect_signal, read_message
from pypfm.ia64.counting.model import Model
from pypfm.ia64.counting.overflows import Overflows
from pypfm.ia64.counting.samples import Buffer, Kinds, Sample
from pypfm.ia64.counting.sets import event_sets, known_label
from pypfm.ia64.pmu import Pmu
from pypfm.levels import Plm

if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, Sequence, ValuesView
    from types import TracebackType
    from typing import NoReturn

    from pypfm.ia64.counting.sets import EventSet
    from pypfm.ia64.events import Event
    from pypfm.ia64.request import EventRequest, Request

__all__ = ["Context"]

T = TypeVar("T")
_TOP = 1 << 64
_TRIES = 100  # to read all at one moment, before the next overflow comes
_SMALLEST_BUFFER = 512  # bytes; more than the largest entry needs, with the header


class _Reading(NamedTuple):
    """What was read at one moment.

    :ivar pmds: value and last reset value, by set and register
    :ivar sets: runs and nanoseconds, by set
    :ivar before: events up to the last overflow, likewise
    :ivar stands: whether the counters stand still since an overflow
    :ivar lost: overflows that found no place in the buffer
    """

    pmds: Mapping[tuple[int, int], tuple[int, int]]
    sets: Sequence[tuple[int, int]]
    before: Mapping[tuple[int, int], int]
    stands: bool
    lost: int


def _number(value: object, what: str, lowest: int) -> int | None:
    """The number of a thread or of a CPU, if one is given."""
    if value is None:
        return None
    found = int(expect_int(value, what))
    if not lowest <= found < 1 << 31:
        raise InvalidValueError(f"{what} {shown(found)}: {lowest} to 2^31 - 1")
    return found


class Context(Mapping[str, Count]):
    """Count, or sample, events of an IA-64 PMU; ``with`` starts it, and stops and closes it::

        with Context(Itanium2(), ["CPU_CYCLES", "IA64_INST_RETIRED"]) as c:
            work()
        print(c["CPU_CYCLES"], c["IA64_INST_RETIRED"])

    It is a mapping of the counts by event, which can be read while it counts, and after it was closed.  Without
    ``with``, call `start`, `stop` and `close`; of one that was started and not closed Python warns (ResourceWarning).
    What counts is chosen by ``LIBPFM_PERFMON``, which the C library reads once in a process; on a machine that is no
    Itanium few events can be counted.

    A context belongs to the thread that starts it: no other can start, stop or read it.  Another one can call
    `restart` and `wait`, take the `samples`, and close it; what was counted then is lost.  In a child process it can
    only be closed.

    :param pmu: whose events
    :param events: names, `Event` or `EventRequest`; or several such lists, each of them a set, of which one counts at
        a time; or a `Request`, which can ask for more, such as ranges of addresses
    :param plm: privilege levels of those that have none of their own: a mask of `Plm`, or text (see `parse_plm`)
    :param period: sample the first event of each set each so many times; or the events of a mapping, by name
    :param random_mask: bits that are chosen at random after each sample, and lengthen the period
    :param buffer_size: bytes of the buffer for samples; when it is full, the counters stop until `restart`, or until
        all `samples` are taken
    :param notify: have no buffer: each overflow stops the counters until `restart`, and is a message
    :param signal: to be sent to the thread that starts the context, whenever there is a message.  Python runs
        handlers in the main thread
    :param timeout: seconds after which the next set takes over, or a list of such, one for each set
    :param overflows: overflows of an event with a period after which the next set takes over, or a list of such
    :param tid: count another thread, which ptrace(2) stops for each call; None: the one that starts the context
    :param cpu: count all that happens on this CPU; calls go there for a moment
    :raises ContextError: an OSError: perfmon2 refuses; it has the call and the errno
    :raises Pfm3Error: the registers cannot be set so; the message says which event is at fault
    :raises InvalidArgumentError: an argument that is not allowed

    Source: perfmon2 kernel interface 2.8.
    """

    def __init__(self, pmu: Pmu,
                 events: (Sequence[str | Event | EventRequest | Sequence[str | Event | EventRequest] | Request]
                          | Request), *,
                 plm: int | str = Plm.PLM3, period: int | Mapping[str, int] | None = None, random_mask: int = 0,
                 buffer_size: int = 1 << 16, notify: bool = False, signal: int | None = None,
                 timeout: float | Sequence[float] | None = None, overflows: int | Sequence[int] | None = None,
                 tid: int | None = None, cpu: int | None = None) -> None:
        expect_type(pmu, Pmu, "pmu")
        self.pmu = pmu
        self._tid, self._cpu = _number(tid, "tid", 1), _number(cpu, "cpu", 0)
        if tid is not None and cpu is not None:
            raise InvalidValueError("tid and cpu: a context counts one thread, or one CPU")
        self._sets = event_sets(pmu, events, plm=plm, system_wide=cpu is not None, period=period, timeout=timeout,
                                overflows=overflows)
        self._labels = tuple(dict.fromkeys(m.label for s in self._sets for m in s.members))
        self._notify = expect_flag(notify, "notify")
        self._signal = None if signal is None else expect_signal(signal)
        self._kinds = Kinds(self._sets)
        size = self._wanted_buffer(int(expect_int(buffer_size, "buffer_size")))
        mask = int(expect_int(random_mask, "random_mask"))
        if not 0 <= mask < _TOP:
            raise InvalidValueError(f"random_mask {shown(mask)}: 64 bits, 0 to 2^64 - 1")

        #: What happens, where the counters are a model's.
        self.model = Model(pmu, self._tid, self._cpu)
        self._reset_state()
        fd = registers.create(pmu, size, self._about, system_wide=cpu is not None)
        try:
            self._descriptor = Descriptor(fd, self._cpu)
            self._forget = weakref.finalize(self, self._descriptor.abandon)
            registers.write(fd, self._sets, self._about, notify=self._notify or bool(size), random_mask=mask)
            buffer = Buffer(fd, size, self._kinds.num_values, self._about) if size else None
            self._has_buffer = buffer is not None
            self._overflows = Overflows(self._sets, buffer, notify=self._notify)
        except BaseException:
            if hasattr(self, "_forget"):
                self._forget()
            else:
                os.close(fd)
            raise

    def _reset_state(self) -> None:
        self._thread: int | None = None  # on which it is loaded, or for which
        self._running = False
        self._messages: deque[Message] = deque()  # taken from the descriptor
        self._last: _Reading | ContextError | None = None

    def _wanted_buffer(self, size: int) -> int:
        """Bytes of the sampling buffer; 0: there is none."""
        has_period = bool(self._kinds.num_values)
        switches = any(s.switching.overflows for s in self._sets)
        if not has_period:
            for given, name in ((self._notify, "notify"), (self._signal is not None and self._tid is None, "signal")):
                if given:
                    raise InvalidValueError(f"{name}: no event has a period, so none overflows")
            return 0
        if self._notify and switches:
            raise InvalidValueError("notify and overflows: sets that are switched by overflows go on by themselves")
        if self._notify:
            return 0
        if size == 0 and switches and all(s.switching.overflows == 1 for s in self._sets):
            return 0
        if not _SMALLEST_BUFFER <= size < 1 << 48:
            raise InvalidValueError(f"buffer_size {shown(size)}: at least {_SMALLEST_BUFFER} bytes and below 2^48; or"
                                    " 0, where sets are switched by 1 overflow and nothing is sampled")
        return size

    # ---- what it is -----------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """The counts as a table, for a notebook."""
        from pypfm.common.notebook import mapping, preformatted
        try:
            return mapping(repr(self), self)
        except PfmError:  # another thread counts
            return preformatted(repr(self))

    def __repr__(self) -> str:
        state = "closed" if self.closed else "running" if self._running else "stopped"
        names = " | ".join(", ".join(m.label for m in s.members) for s in self._sets)
        return f"<Context of {self.pmu.name}: {names}; {state}>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError("a context is of one process: not copied or pickled; pickle its counts()")

    @property
    def _about(self) -> str:
        return f"a context of {self.pmu.name} ({short(', '.join(self._labels))})"

    @property
    def closed(self) -> bool:
        return not self._forget.alive

    def fileno(self) -> int:
        """The descriptor, for select(), asyncio and the calls of `pypfm.pfm3`; it can be read when there is a message.

        :raises ContextError: it is closed
        """
        if self.closed:
            raise error("", errno.EBADF, self._about, "it is closed; make another Context")
        return self._descriptor.fd

    # ---- counting -------------------------------------------------------------------------

    def start(self) -> None:
        """Count, from 0 at first, later from where it was; the first call makes the context the calling thread's.

        :raises ContextError: ENOTSUP or ENODEV, this host cannot count that; EEXIST, the thread has another context;
            EBUSY, ESRCH, EPERM, ENXIO (a child process)
        """
        if self._thread is None:
            self._load()
        self._call("pfm_start", ffi.NULL)
        self._running = True

    def stop(self) -> None:
        """Count no more until `start`; it does not change what was counted.

        :raises ContextError: it was not started, or by another thread
        """
        if self._thread is None:
            raise error("", errno.EINVAL, self._about, "it was not started")
        self._call("pfm_stop")
        self._running = False

    def _load(self) -> None:
        target = self._tid if self._tid is not None else self._cpu
        thread = threading.get_native_id()
        if self._signal is not None:
            self._descriptor.send(self._signal, thread)
        load = ffi.new("pfarg_load_t *", {"load_pid": (thread if target is None else target) & 0xFFFFFFFF})
        self._call("pfm_load_context", load)
        self._descriptor.unclosed = f"context of {self.pmu.name}: {', '.join(self._labels)}"
        self._thread = thread if self._tid is None else self._tid

    def _call(self, name: str, *args: Any) -> None:
        """Call C on the context."""
        fd = self._own_fd()
        with on_cpu(self._cpu, self._about):
            self._however_it_is_allowed(lambda: call(name, self._about, fd, *args, elsewhere=self._why_not_here()))

    def _however_it_is_allowed(self, do: Callable[[], T]) -> T:
        """Call C; once more, if the thread that is counted has to be stopped for it, or was about to end."""
        try:
            return do()
        except ContextError as refused:
            if refused.errno != errno.ESRCH:
                raise
            if self._tid is not None:
                with stopped(self._tid) as is_stopped:
                    if is_stopped:
                        return do()
            if not self._has_ended():
                raise
        return do()

    def _has_ended(self) -> bool:
        """Whether the thread that was counted is gone; Python has joined a thread a moment before the system has."""
        if self._thread in {t.native_id for t in threading.enumerate()}:
            return False
        end = time.monotonic() + 1
        while there := os.path.exists(f"/proc/self/task/{self._thread}"):
            if time.monotonic() > end:
                break
            time.sleep(0.001)
        return not there

    def _own_fd(self) -> int:
        fd = self.fileno()
        if self._descriptor.pid != os.getpid():
            raise error("", errno.ENXIO, self._about, "it is the parent process's; make another Context here")
        if not self._descriptor.is_ours():
            raise error("", errno.EBADF, self._about,
                        f"its descriptor {fd} was closed, or is another file; leave that to close()")
        return fd

    def _why_not_here(self) -> str:
        """What a refusal means for a caller that is another thread than the one that counts itself."""
        if self._tid is None and self._cpu is None and self._thread not in (None, threading.get_native_id()):
            return (f"thread {self._thread} counts itself, and only it can start, stop and read that; this is thread"
                    f" {threading.get_native_id()}")
        return ""

    # ---- counts ---------------------------------------------------------------------------

    def counts(self, number: int | None = None) -> Mapping[str, Count]:
        """What was counted so far, by event; all of it read at one moment.

        :param number: of this set only; None: of all
        :raises ContextError: another thread counts; or it was closed when nobody could read it
        :raises UnknownKeyError: there is no such set
        """
        sets = self._sets if number is None else [self._chosen(number)]
        reading = self._read()
        labels = [label for label in self._labels if any(m.label == label for s in sets for m in s.members)]
        return FrozenMap({label: self._count(label, sets, reading) for label in labels}, "event")

    def __getitem__(self, event: str) -> Count:
        """How often an event was counted, in all sets that have it.

        :raises UnknownKeyError: it is not counted; the message says which are
        """
        label = known_label(event, self._labels)
        return self._count(label, self._sets, self._read())

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def items(self) -> ItemsView[str, Count]:
        """Event and count of each, all of them read at one moment."""
        return self.counts().items()

    def values(self) -> ValuesView[Count]:
        """The counts, all of them read at one moment."""
        return self.counts().values()

    def __contains__(self, event: object) -> bool:
        try:
            return bool(known_label(event, self._labels))
        except UnknownKeyError:
            return False

    def registers(self, number: int = 0) -> Mapping[str, int]:
        """The data registers of a set as they are, by name: counters, EARs, trace buffer.

        :raises ContextError: as `counts`
        :raises UnknownKeyError: there is no such set
        """
        chosen = self._chosen(number)
        return FrozenMap({f"PMD{pmd}": value for (of_set, pmd), (value, _) in self._read().pmds.items()
                          if of_set == chosen.number}, "register")

    def _chosen(self, number: int) -> EventSet:
        """The set of a number."""
        number = expect_int(number, "number of a set")
        if number not in range(len(self._sets)):
            raise UnknownKeyError(f"there is no set {shown(number)}; there are {len(self._sets)}, from 0 on")
        return self._sets[number]

    def _read(self) -> _Reading:
        if isinstance(self._last, ContextError):
            raise self._last.with_traceback(None)
        if self._last is not None:
            return self._last
        if not self._kinds.num_values:  # nothing overflows
            return _Reading(self._read_pmds(), self._read_sets(), {}, False, 0)
        overflows = self._overflows
        for _ in range(_TRIES):
            moment, runs = overflows.moment(), [runs for runs, _ in self._read_sets()]
            pmds = self._read_pmds()
            sets = self._read_sets()
            found = _Reading(pmds, sets, overflows.before(), overflows.stand(pmds), overflows.lost())
            if (overflows.moment(), [now for now, _ in sets]) == (moment, runs):
                break
        return found

    def _read_sets(self) -> list[tuple[int, int]]:
        fd = self._own_fd()
        with on_cpu(self._cpu, self._about):
            return registers.info(fd, self._sets, self._about)

    def _read_pmds(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        fd = self._own_fd()
        with on_cpu(self._cpu, self._about):
            return self._however_it_is_allowed(
                lambda: registers.read(fd, self._sets, self._about, self._why_not_here()))

    def _count(self, label: str, sets: Sequence[EventSet], reading: _Reading) -> Count:
        """The count of an event over sets."""
        having = [(s, m) for s in sets for m in s.members if m.label == label]
        value = sum(self._overflows.events(s, m, *reading.pmds[s.number, m.counter], reading.sets[s.number][0],
                                           reading.before.get((s.number, m.counter), 0)) for s, m in having)
        ns = sum(reading.sets[s.number][1] for s, _ in having)
        total = sum(reading.sets[s.number][1] for s in sets)
        notes, estimate = [], None
        if self._thread is None:
            notes.append("not started")
        elif not any(reading.sets[s.number][0] for s, _ in having):
            notes.append("its set has not run")
        elif len({s.number for s, _ in having}) < len(sets):
            notes.append("for a part of the time")
            estimate = value * total / ns if ns else None
        if reading.stands:
            notes.append("stopped by an overflow, and not restarted")
        elif stops := self._overflows.stops:
            notes.append(f"stopped by {stops} overflow{'s'[:stops - 1]} until the restart")
        if reading.lost and any(m.period for _, m in having):
            notes.append(f"{reading.lost} overflows found no place in the buffer")
        return Count(value, "; ".join(notes), ns / 1e9, estimate)

    # ---- overflows ------------------------------------------------------------------------

    def _take_messages(self) -> None:
        """Have the messages that wait."""
        while (data := self._descriptor.read(self._about)) is not None:
            self._messages.append(read_message(data, self._sets))

    def wait(self, timeout: float | None = None) -> Message | None:
        """The next message, once there is one: the counters have stopped, or the thread that was counted has ended.

        :param timeout: seconds to wait at most; 0: not at all; None: until there is one
        :raises ContextError: EDEADLK, the calling thread waits for itself
        :return: None: there was none in that time
        """
        seconds = None if timeout is None else max(float(expect_number(timeout, "timeout")), 0.0)
        self._own_fd()
        self._take_messages()
        if not self._messages and seconds != 0:
            if seconds is None and self._cpu is None and self._thread == threading.get_native_id():
                raise error("", errno.EDEADLK, self._about,
                            "it counts the thread that waits, and there is no message; give a timeout, 0 to look only")
            self._descriptor.wait(seconds)
            self._take_messages()
        return self._messages.popleft() if self._messages else None

    def restart(self) -> None:
        """Let the counters go on that an overflow has stopped.  Samples that were not taken are kept.

        :raises ContextError: EBUSY, no overflow has stopped them
        """
        self._own_fd()
        self._take_messages()  # the queue is short, and a full one would stop the counters for good
        self._overflows.restart(lambda: self._call("pfm_restart"), self._read_pmds)

    @property
    def samples(self) -> Iterator[Sample]:
        """The samples that there are, each of them once; also after the context was closed.

        When all were taken and the buffer is full, the counters go on, as `restart` does.  No sample is waited for.

        :raises InvalidValueError: nothing is sampled, as there is no period
        """
        if not self._has_buffer:
            raise InvalidValueError("nothing is sampled: make the Context with a period, and without notify")
        return self._sampled()

    def _sampled(self) -> Iterator[Sample]:
        if not self.closed:
            self._own_fd()
        while (entry := self._overflows.take()) is not None:
            yield self._kinds.sample(entry)
        if not self.closed:
            self._overflows.restart_if_full(self.restart)

    # ---- the end --------------------------------------------------------------------------

    def close(self) -> None:
        """Stop for good; the counts, and samples that were not taken, stay.  A second call does nothing.

        In a child process only its own descriptor is closed.
        """
        if self.closed:
            return
        try:
            self._last = self._final()
            self._overflows.detach()
        finally:
            self._descriptor.unclosed = ""
            self._forget()
            self._running = False

    def _final(self) -> _Reading | ContextError:
        """What was counted in the end, or why that is not known."""
        try:
            if self._running:
                self._stop_if_alive()
            reading = self._read()
            if self._thread is not None:
                self._call("pfm_unload_context")
        except ContextError as refused:
            return error("", errno.EBADF, self._about, f"closed, and it could not be read then ({refused})")
        return reading

    def _stop_if_alive(self) -> None:
        try:
            self.stop()
        except ContextError as refused:
            if refused.errno != errno.EINVAL:  # the thread has ended, and what it counted can be read
                raise

    def __enter__(self) -> Context:
        if self._running:
            raise error("", errno.EBUSY, self._about, "it runs already; ``with`` starts it")
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()
