"""Signals of perfex while its command runs: SIGUSR1 and SIGUSR2 of -s and -p, and those that end a run."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    _Handler = Callable[[int, FrameType | None], object] | int | None

__all__ = ["GATE", "NEVER_ON", "Signals", "hold"]

#: The signals of -s that switch counting on and off.
GATE = (signal.SIGUSR1, signal.SIGUSR2)
#: What is printed if the first of them never came.
NEVER_ON = "no SIGUSR1 came: nothing was counted"
# Passed on to the command, which may end in its own way; its counts are reported all the same.
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
# The terminal gives them to the command too.
_IGNORED = (signal.SIGINT, signal.SIGQUIT)


def hold() -> None:
    """Keep SIGUSR1 and SIGUSR2 until `Signals` takes them; else they would end perfex."""
    signal.pthread_sigmask(signal.SIG_BLOCK, GATE)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Python's C handler has written the number to the wake-up descriptor."""


class Signals:
    """The signals that arrive, in their order; ``with`` receives them.

    :param gated: -s or -p: SIGUSR1 and SIGUSR2 too
    """

    def __init__(self, *, gated: bool) -> None:
        self._gated = gated
        self._arrived, self._written = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before: dict[int, _Handler] = {}
        self._fd_before = -1

    def fileno(self) -> int:
        """Can be read when a signal has arrived."""
        return self._arrived

    def __enter__(self) -> Signals:
        self._fd_before = signal.set_wakeup_fd(self._written, warn_on_full_buffer=False)
        for number in _PASSED_ON + (GATE if self._gated else ()):
            if signal.getsignal(number) != signal.SIG_IGN or number in GATE:
                self._before[number] = signal.signal(number, _nothing)
        for number in _IGNORED:
            self._before[number] = signal.signal(number, signal.SIG_IGN)
        if self._gated:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, GATE)
        return self

    def __exit__(self, *_: object) -> None:
        if self._gated:
            hold()  # those that come now are too late, and end nothing
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._fd_before)
        os.close(self._arrived)
        os.close(self._written)

    def take(self, pid: int) -> list[int]:
        """Those of SIGUSR1 and SIGUSR2 that have arrived; the others are passed on.

        :param pid: the command
        """
        try:
            arrived = os.read(self._arrived, 4096)
        except BlockingIOError:
            return []
        for number in arrived:
            if number in _PASSED_ON:
                os.kill(pid, number)
        return [number for number in arrived if number in GATE]
