"""Signals of perfex while its command runs."""

from __future__ import annotations

import os
import select
import signal

import pytest

from pypfm.perfex.signals import Signals


def test_a_signal_that_comes_while_others_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The descriptor tells of it; else it would wait for the next one, which need not come."""
    passed: list[int] = []

    def kill(_pid: int, number: int) -> None:
        passed.append(number)
        if len(passed) == 1:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(os, "kill", kill)
    with Signals(gated=False) as signals:
        signal.raise_signal(signal.SIGUSR2)
        assert signals.take(1) == []
        assert select.select([signals], [], [], 0)[0] == [signals]
        assert signals.take(1) == []
        assert passed == [signal.SIGUSR2, signal.SIGTERM]
        assert select.select([signals], [], [], 0)[0] == []


def test_both_kinds_are_taken_in_one_look() -> None:
    with Signals(gated=True) as signals:
        for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGUSR2):
            signal.raise_signal(number)
        assert signals.taken() == ([signal.SIGUSR1, signal.SIGUSR2], [signal.SIGINT])
        assert signals.taken() == ([], [])
