"""One monitoring session, as an object."""

from __future__ import annotations

import errno
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pypfm.common.arguments import expect_flag, expect_number, expect_size, expect_type
from pypfm.common.frozen import FrozenMap
from pypfm.errors import ContextError, InvalidTypeError, InvalidValueError, PfmError, UnknownKeyError, short
from pypfm.ia64.counting import registers
from pypfm.ia64.counting.calls import call, error, ffi, has_ended, on_cpu, stopped
from pypfm.ia64.counting.counts import Count, Reading, sum_up
from pypfm.ia64.counting.messages import Descriptor, Message, expect_signal
from pypfm.ia64.counting.model import Model
from pypfm.ia64.counting.overflows import Overflows, wanted_buffer
from pypfm.ia64.counting.samples import Sample
from pypfm.ia64.counting.sets import event_sets, known_label, known_set
from pypfm.ia64.pmu import Pmu
from pypfm.levels import Plm

if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, Sequence, ValuesView
    from types import TracebackType

    from pypfm.ia64.events import Event
    from pypfm.ia64.request import EventRequest, Request

__all__ = ["Context"]

T = TypeVar("T")


class Context(Mapping[str, Count]):
    """Count, or sample, events of an IA-64 PMU; ``with`` starts it, and stops and closes it::

        # LIBPFM_PERFMON=model,rate=1000000 python program.py
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
        self._tid = None if tid is None else expect_size(tid, "tid", 31, lowest=1)
        self._cpu = None if cpu is None else expect_size(cpu, "cpu", 31)
        if tid is not None and cpu is not None:
            raise InvalidValueError("tid and cpu: a context counts one thread, or one CPU")
        self._sets = event_sets(pmu, events, plm=plm, system_wide=cpu is not None, period=period, timeout=timeout,
                                overflows=overflows)
        self._labels = tuple(dict.fromkeys(m.label for s in self._sets for m in s.members))
        self._about = f"a context of {pmu.name} ({short(', '.join(self._labels))})"
        notify = expect_flag(notify, "notify")
        self._signal = None if signal is None else expect_signal(signal)
        size = wanted_buffer(self._sets, buffer_size, notify=notify, signal=signal is not None and tid is None)
        mask = expect_size(random_mask, "random_mask", 64, meaning="64 bits, ")
        #: What happens, where the counters are a model's.
        self.model = Model(pmu, self._tid, self._cpu)
        self._thread: int | None = None  # on which it is loaded, or for which
        self._running = False
        self._last: Reading | ContextError | None = None
        fd = registers.create(pmu, size, self._about, system_wide=cpu is not None)
        self._descriptor = Descriptor(fd, self._cpu, self._about)
        self._forget = weakref.finalize(self, self._descriptor.abandon)
        try:
            registers.write(fd, self._sets, self._about, notify=notify or bool(size), random_mask=mask)
            self._overflows = Overflows(self._sets, self._descriptor, size, notify=notify)
        except BaseException:
            self._forget()
            raise

    def _repr_html_(self) -> str:
        """Return the counts as an HTML table, for a notebook."""
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

    # ---- from start to close --------------------------------------------------------------

    @property
    def closed(self) -> bool:
        return self._descriptor.closed

    def fileno(self) -> int:
        """Return the descriptor, for select(), asyncio and `pypfm.pfm3`; it is readable when there is a message.

        :raises ContextError: it is closed
        """
        return self._descriptor.fileno()

    def start(self) -> None:
        """Start counting, first from 0, later from the last value; the first call binds it to the calling thread.

        :raises ContextError: ENOTSUP or ENODEV, this host cannot count that; EEXIST, the thread has another context;
            EBUSY, ESRCH, EPERM, ENXIO (a child process)
        """
        if self._thread is None:
            self._load()
        self._call("pfm_start", ffi.NULL)
        self._running = True

    def stop(self) -> None:
        """Stop counting until `start`; the counts stay.

        :raises ContextError: it was not started, or by another thread
        """
        if self._thread is None:
            raise error("", errno.EINVAL, self._about, "it was not started")
        self._call("pfm_stop")
        self._running = False

    def _load(self) -> None:
        own = threading.get_native_id()
        if self._signal is not None:
            self._descriptor.send(self._signal, own)
        thread = own if self._tid is None else self._tid
        load = ffi.new("pfarg_load_t *", {"load_pid": thread if self._cpu is None else self._cpu})
        self._call("pfm_load_context", load)
        self._descriptor.unclosed = f"context of {self.pmu.name}: {', '.join(self._labels)}"
        self._thread = thread

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

    def _final(self) -> Reading | ContextError:
        """Return the last reading before the context was closed, or the error that says why there is none."""
        try:
            if self._running:
                try:
                    self.stop()
                except ContextError as refused:
                    if refused.errno != errno.EINVAL:  # the thread has ended, and what it counted can be read
                        raise
            reading = self._read()
            if self._thread is not None:
                self._call("pfm_unload_context")
        except ContextError as refused:
            return error("", errno.EBADF, self._about, f"closed, and it could not be read then ({refused})")
        return reading

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

    def _call(self, name: str, *args: Any) -> None:
        self._however_it_is_allowed(lambda fd, elsewhere: call(name, self._about, fd, *args, elsewhere=elsewhere))

    def _however_it_is_allowed(self, do: Callable[[int, str], T]) -> T:
        """Make a call; repeat it if the counted thread must be stopped for it, or was about to end."""
        fd, thread, elsewhere = self._descriptor.own(), threading.get_native_id(), ""
        if self._tid is None and self._cpu is None and self._thread not in (None, thread):
            elsewhere = (f"thread {self._thread} counts itself, and only it can start, stop and read that; this is"
                         f" thread {thread}")
        with on_cpu(self._cpu, self._about):
            try:
                return do(fd, elsewhere)
            except ContextError as refused:
                if refused.errno != errno.ESRCH:
                    raise
                with stopped(self._tid) as is_stopped:
                    if not (is_stopped or has_ended(self._thread)):
                        raise
                    return do(fd, elsewhere)

    # ---- counts ---------------------------------------------------------------------------

    def counts(self, number: int | None = None) -> Mapping[str, Count]:
        """Return the counts so far, by event; all of them are read at one moment.

        :param number: of this set only; None: of all
        :raises ContextError: another thread counts; or it was closed when nobody could read it
        :raises UnknownKeyError: there is no such set
        """
        sets = self._sets if number is None else [known_set(number, self._sets)]
        reading, labels = self._read(), {m.label for s in sets for m in s.members}
        return FrozenMap({label: sum_up(label, sets, reading) for label in self._labels if label in labels}, "event")

    def __getitem__(self, event: str) -> Count:
        """Return how often an event was counted, in all sets that have it.

        :raises UnknownKeyError: it is not counted; the message says which are
        """
        return sum_up(known_label(event, self._labels), self._sets, self._read())

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def items(self) -> ItemsView[str, Count]:
        """Return each event with its count, all of them read at one moment."""
        return self.counts().items()

    def values(self) -> ValuesView[Count]:
        """Return the counts, all of them read at one moment."""
        return self.counts().values()

    def __contains__(self, event: object) -> bool:
        try:
            return bool(known_label(event, self._labels))
        except UnknownKeyError:
            return False

    def registers(self, number: int = 0) -> Mapping[str, int]:
        """Return the data registers of a set by name: counters, EARs, trace buffer.

        :raises ContextError: as `counts`
        :raises UnknownKeyError: there is no such set
        """
        chosen = known_set(number, self._sets)
        return FrozenMap({f"PMD{pmd}": value for (of_set, pmd), (value, _) in self._read().pmds.items()
                          if of_set == chosen.number}, "register")

    def _read(self) -> Reading:
        if isinstance(self._last, ContextError):
            raise self._last.with_traceback(None)
        return self._last or self._overflows.read(self._however_it_is_allowed)

    # ---- overflows ------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> Message | None:
        """Wait for the next message: the counters have stopped, or the thread that was counted has ended.

        :param timeout: seconds to wait at most; 0: not at all; None: until there is one
        :raises ContextError: EDEADLK, the calling thread waits for itself
        :return: None: there was none in that time
        """
        seconds = None if timeout is None else max(float(expect_number(timeout, "timeout")), 0.0)
        for_itself = seconds is None and self._cpu is None and self._thread == threading.get_native_id()
        message = self._overflows.message(0 if for_itself else seconds)
        if message is None and for_itself:
            raise error("", errno.EDEADLK, self._about,
                        "it counts the thread that waits, and there is no message; give a timeout, 0 to look only")
        return message

    def restart(self) -> None:
        """Restart counters that an overflow has stopped.  Samples that were not taken are kept.

        :raises ContextError: EBUSY, no overflow has stopped them
        """
        self._overflows.restart(self._however_it_is_allowed)

    @property
    def samples(self) -> Iterator[Sample]:
        """Yield the samples so far, each of them once; also after the context was closed.

        When all were taken and the buffer is full, the counters go on, as `restart` does.  No sample is waited for.

        :raises InvalidValueError: nothing is sampled, as there is no period
        """
        return self._overflows.samples(self.restart)
