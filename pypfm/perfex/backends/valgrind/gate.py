"""-s and -p: a user's signals start and stop the counting, and samples are taken."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING, Protocol

from pypfm.perfex.backends.valgrind.installed import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pypfm.perfex.backends.valgrind.formulas import Simulated

__all__ = ["Gate", "Source", "Vgdb"]

_OF_THREAD = re.compile(r"events-\d+")  # events-1-0 is of a function on its stack, and in events-1


class Source(Protocol):
    """Something that counts and can be told to start and stop."""

    def gate(self, on: bool) -> None:
        """Count from now on, or stop."""

    def counts(self) -> Simulated:
        """The counts so far; none if they cannot be read."""


class Vgdb:
    """A process under callgrind.

    :param directory: where valgrind has put its pipes
    :param pid: the process
    :param written: what it has written, up to a part: the program may let it (libperfex), and it is not among the rest
    """

    def __init__(self, directory: Path, pid: int, written: Callable[[int], Simulated]) -> None:
        self._pid, self._written = pid, written
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
            elif key == "part":
                total = dict(self._written(int(rest)))
            elif _OF_THREAD.fullmatch(key):
                for name, number in zip(names, rest.split(), strict=False):
                    total[name] = total.get(name, 0) + int(number)
        if total:
            self._last = {name: total.get(name, 0) for name in names}
        return self._last

    def _ask(self, *words: str) -> str:
        try:
            asking = subprocess.Popen([*self._words, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True, errors="replace")
        except OSError:
            return ""
        with asking:
            for _ in range(300):
                try:
                    return asking.communicate(timeout=0.2)[0]
                except subprocess.TimeoutExpired:
                    if self._ended():
                        break
            asking.kill()
        return ""

    def _ended(self) -> bool:
        """Whether the process has ended: vgdb would wait for its reply."""
        return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class Gate:
    """Starts and stops the counting (perfex(1), -s), and meanwhile takes samples (-p).

    :param source: what counts
    :param period: seconds between two samples, or None
    :param sample: called with the seconds since counting began and the counts
    """

    def __init__(self, source: Source, period: float | None, sample: Callable[[float, Simulated], None]) -> None:
        self._source, self._period, self._sample = source, period, sample
        self._begun = 0.0
        self._due: float | None = None

    @property
    def was_on(self) -> bool:
        """Whether it has ever counted."""
        return self._begun > 0

    def switch(self, on: bool) -> None:
        """Count from now on, or stop."""
        self._source.gate(on)
        now = time.monotonic()
        if on:
            self._begun = self._begun or now
        self._due = now + self._period if on and self._period else None

    def left(self) -> float | None:
        """Seconds until the next sample, if there is to be one."""
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def look(self) -> None:
        """Take the sample that is due."""
        if self._due is None or self._period is None or time.monotonic() < self._due:
            return
        self._sample(time.monotonic() - self._begun, self._source.counts())
        self._due = max(self._due + self._period, time.monotonic())  # those that are overdue are left out
