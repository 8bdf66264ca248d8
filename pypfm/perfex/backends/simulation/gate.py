"""Signals of the user that start and stop the counting of the command (-s), and samples (-p)."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pypfm.perfex.backends.simulation.counts import CountsError, Live
from pypfm.perfex.backends.simulation.formulas import added

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pypfm.perfex.backends.simulation.formulas import Simulated

__all__ = ["Gate"]

_SOON = 0.005  # seconds until a process that has just begun has a file


class Gate:
    """Start and stop the counting (perfex(1), -s), and meanwhile take samples (-p).

    :param directory: of the files with counts
    :param pid: the command; each program that it executes has a file
    :param period: seconds between two samples, or None
    :param sample: called with the seconds since counting began and the counts
    """

    def __init__(self, directory: Path, pid: int, period: float | None,
                 sample: Callable[[float, Simulated], None]) -> None:
        self._directory, self._pid, self._period, self._sample = directory, pid, period, sample
        self._files: list[Live] = []
        self._begun = 0.0
        self._due: float | None = None
        self._wanted: bool | None = None  # what the first file is to be told

    @property
    def was_on(self) -> bool:
        """Tell whether it has ever counted."""
        return self._begun > 0

    def _open(self) -> None:
        """Open the files that exist by now; a new program counts if the one before did at its end."""
        with suppress(OSError, CountsError):
            while True:
                self._files.append(Live(self._directory / f"{self._pid}.{len(self._files)}.r10k"))

    def switch(self, on: bool) -> None:
        """Count from now on, or stop."""
        self._wanted = on
        self._tell()
        now = time.monotonic()
        if on:
            self._begun = self._begun or now
        self._due = now + self._period if on and self._period else None

    def _tell(self) -> None:
        self._open()
        if self._files and self._wanted is not None:
            self._files[-1].switch(self._wanted)
            self._wanted = None

    def left(self) -> float | None:
        """Return seconds until something is to be done, if anything is."""
        if self._wanted is not None:
            return _SOON
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def look(self) -> None:
        """Take a sample if it is due."""
        if self._wanted is not None:
            self._tell()
        if self._due is None or self._period is None or time.monotonic() < self._due:
            return
        self._open()
        if self._files:
            self._sample(time.monotonic() - self._begun, added(file.counts() for file in self._files))
        self._due = max(self._due + self._period, time.monotonic())  # those that are overdue are left out

    def close(self) -> None:
        for file in self._files:
            file.close()
