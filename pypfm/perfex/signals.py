"""Signals of perfex while its command runs: SIGUSR1 and SIGUSR2 of -s and -p, and those that end a run."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from pypfm.common.launch import PASSED_ON, TERMINAL

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    _Handler = Callable[[int, FrameType | None], object] | int | None

__all__ = ["GATE", "NEVER_ON", "Signals", "came", "held", "hold"]

#: The signals of -s that switch counting on and off.
GATE = (signal.SIGUSR1, signal.SIGUSR2)
#: What is printed if the first of them never came.
NEVER_ON = "no SIGUSR1 came: nothing was counted"
_HELD: set[int] = set()
_CAME: set[int] = set()


def hold() -> None:
    """Hold SIGUSR1 and SIGUSR2 back until `Signals` takes them; else they would end perfex."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, GATE)
    _HELD.update({number for number in GATE if number not in before})


def held() -> set[int]:
    """Return the signals that only `hold` blocks, and that the command must receive."""
    return _HELD


def came() -> set[int]:
    """Return all signals that a `Signals` has received so far, handled or not; --repeat clears the set."""
    return _CAME


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: Python's C handler has written the number to the wake-up descriptor."""


class Signals:
    """The signals that arrive, in order; ``with`` receives them.

    None of them ends perfex meanwhile; those that were not taken have their usual effect at the end.

    :param gated: -s or -p: SIGUSR1 and SIGUSR2 too
    """

    def __init__(self, *, gated: bool) -> None:
        self._gated = gated
        self._arrived, self._written = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._switches: list[int] = []  # SIGUSR1 and SIGUSR2, not taken yet
        self._others: list[int] = []
        self._before: dict[int, _Handler] = {}
        self._fd_before = -1

    def fileno(self) -> int:
        """Return a descriptor that is readable when a signal has arrived."""
        return self._arrived

    def __enter__(self) -> Signals:
        self._fd_before = signal.set_wakeup_fd(self._written, warn_on_full_buffer=False)
        for number in (*TERMINAL, *PASSED_ON):
            if signal.getsignal(number) != signal.SIG_IGN or self._is_gate(number):
                self._before[number] = signal.signal(number, _nothing)
        if self._gated:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, GATE)
        return self

    def __exit__(self, *_: object) -> None:
        if self._gated:
            hold()  # those that come now are too late, and must not end perfex
        left = self.taken()[1]
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._fd_before)
        os.close(self._arrived)
        os.close(self._written)
        for number in left:
            os.kill(os.getpid(), number)

    def _is_gate(self, number: int) -> bool:
        return self._gated and number in GATE

    def _look(self) -> None:
        with suppress(BlockingIOError):
            for number in os.read(self._arrived, 4096):
                if number in self._before:
                    (self._switches if self._is_gate(number) else self._others).append(number)
                    _CAME.add(number)

    def arrived(self) -> bool:
        """Tell whether signals other than those that switch counting have arrived."""
        self._look()
        return bool(self._others)

    def taken(self) -> tuple[list[int], list[int]]:
        """Take those of SIGUSR1 and SIGUSR2 that switch counting, and the others.

        In one look: nothing would tell of what a second one finds, as the descriptor is not readable any more.
        """
        self._look()
        (switches, self._switches), (others, self._others) = (self._switches, []), (self._others, [])
        return switches, others

    def take(self, pid: int) -> list[int]:
        """Take those of SIGUSR1 and SIGUSR2 that switch counting; pass the others that have arrived on.

        :param pid: the command, to which the terminal gives its signals itself
        """
        switches, others = self.taken()
        for number in others:
            if number in PASSED_ON:
                os.kill(pid, number)
        return switches
