"""-s and -p: a user's signals start and stop the counting, and samples are taken."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Protocol

from pypfm.perfex._valgrind import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from pypfm.perfex._formulas import Simulated

__all__ = ["Gate", "NoGate", "Source", "Vgdb"]


class Source(Protocol):
    """Something that counts and can be told to start and stop."""

    def gate(self, on: bool) -> None:
        """Count from now on, or stop."""

    def counts(self) -> Simulated:
        """The counts so far; none where they cannot be had."""


class Vgdb:
    """A process under callgrind.

    :param directory: where valgrind has put its pipes
    :param pid: the process
    """

    def __init__(self, directory: Path, pid: int) -> None:
        self._words = [find("vgdb"), f"--vgdb-prefix={directory}/vgdb", f"--pid={pid}", "--wait=10"]
        self._last: Simulated = {}

    def gate(self, on: bool) -> None:
        """Count from now on, or stop."""
        self.counts()  # stopping makes them unreadable
        self._ask("instrumentation", "on" if on else "off")

    def counts(self) -> Simulated:
        """The counts so far: while it does not count, those of the last time."""
        names: list[str] = []
        total: Simulated = {}
        for line in self._ask("status", "internal").splitlines():
            key, _, rest = line.partition(":")
            if key == "events":
                names = rest.split()
            elif key.startswith("events-"):
                for name, number in zip(names, rest.split(), strict=False):
                    total[name] = total.get(name, 0) + int(number)
        if total:
            self._last = {name: total.get(name, 0) for name in names}
        return self._last

    def _ask(self, *words: str) -> str:
        try:
            return subprocess.run([*self._words, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False, timeout=60).stdout
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return ""  # the process has ended


class NoGate:
    """Counting is not controlled by signals."""

    def __enter__(self) -> NoGate:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is to be ended."""

    def serve(self, source: Source) -> None:
        """Nothing is to be told."""


class Gate:
    """SIGUSR1 starts the counting, SIGUSR2 stops it (perfex(1), -s); meanwhile samples are taken (-p).

    To be used with ``with``, in the main thread.

    :param period: seconds between two samples, or None
    :param sample: called with the seconds since counting began and the counts
    """

    def __init__(self, period: float | None, sample: Callable[[float, Simulated], None]) -> None:
        self._period, self._sample = period, sample
        self._orders: queue.SimpleQueue[bool | None] = queue.SimpleQueue()
        self._before = {s: signal.signal(s, self._order) for s in (signal.SIGUSR1, signal.SIGUSR2)}
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self._orders.put(None)
        if self._thread is not None:
            self._thread.join()
        for s, handler in self._before.items():
            signal.signal(s, handler)

    def serve(self, source: Source) -> None:
        """Have orders carried out; those that came before are not lost."""
        self._thread = threading.Thread(target=self._work, args=(source,), daemon=True)
        self._thread.start()

    def _order(self, number: int, _: FrameType | None) -> None:
        self._orders.put(number == signal.SIGUSR1)

    def _work(self, source: Source) -> None:
        while (order := self._orders.get()) is False:  # not begun yet
            pass
        if order is None:
            return
        source.gate(True)
        began = due = time.monotonic()
        while order is not None:
            if due <= time.monotonic():  # samples that are too late are left out
                due = max(due + (self._period or 0), time.monotonic())
            try:
                order = self._orders.get(timeout=max(due - time.monotonic(), 0) if self._period else None)
            except queue.Empty:
                self._sample(time.monotonic() - began, source.counts())
                continue
            if order is not None:
                source.gate(order)
