"""Commands under counters, which get the signals that are meant for them."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import NoReturn

import pytest

from conftest import run
from pypfm.common.launch import Command

PROGRAM = """
import os, sys
from pypfm.common.launch import Command
print(os.waitstatus_to_exitcode(Command(["sh", "-c", sys.argv[1]]).run()))
"""


@pytest.mark.parametrize("name", ["USR1", "TERM", "HUP"])
def test_a_signal_to_us_ends_the_command(name: str) -> None:
    done = run(sys.executable, "-c", PROGRAM, f"kill -{name} $PPID; exec sleep 60")
    assert (done.returncode, done.stdout) == (0, {"USR1": "-10\n", "TERM": "-15\n", "HUP": "-1\n"}[name])


def test_a_signal_that_we_ignore_is_not_passed_on() -> None:
    done = run("sh", "-c", 'trap "" USR1; exec "$0" "$@"', sys.executable, "-c", PROGRAM, "kill -USR1 $PPID; exit 3")
    assert (done.returncode, done.stdout) == (0, "3\n")


def test_the_time_of_a_command() -> None:
    program = """
from pypfm.common.launch import Command
command = Command(["sleep", "0.2"])
command.run()
print(0.2 <= command.wall < 30, command.user < 10)
"""
    done = run(sys.executable, "-c", program)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def test_no_process_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptors and blocked signals are as before."""
    def fork() -> NoReturn:
        raise BlockingIOError(errno.EAGAIN, "")

    before = os.listdir("/proc/self/fd"), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(BlockingIOError):
        Command(["true"])
    assert (os.listdir("/proc/self/fd"), signal.pthread_sigmask(signal.SIG_BLOCK, ())) == before
