"""What says on a terminal how far a command is: however the command ends, the terminal is as it was."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import clean_env
from native import PFM4

BIN = Path(sys.executable).parent
COMMANDS = {
    "conform": (["pypfm", "conform", str(PFM4.path), "--jobs", "1"], b" calls"),
    "conform --against": (["pypfm", "conform", str(PFM4.path), "--against", str(PFM4.path), "--calls", "50000", "--jobs", "1"],
                          b" calls"),
    "bench": (["pypfm", "bench", "--rounds", "5000"], b"measuring"),
    "perfex": (["perfex", "--progress", "--backend", "valgrind", "-e", "7", "sh", "-c", "sleep 4 & sleep 0.1"], b"perfex: "),
    "perfex --calibrate": (["perfex", "--calibrate"], b"perfex: "),
}
#: Before they say anything: one way to end them is enough, except for the long tests.
TAKES_SECONDS = {"conform", "conform --against", "perfex"}
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"


def written(ours: int, until: bytes = b"", seconds: float = 60.0) -> bytes:
    """What a program writes on a terminal until some text comes, or to its end."""
    text, end = b"", time.monotonic() + seconds
    os.set_blocking(ours, False)
    while time.monotonic() < end and not (until and until in text):
        try:
            piece = os.read(ours, 65536)
        except BlockingIOError:
            time.sleep(0.01)
            continue
        except OSError:  # EIO: nobody has it open any longer
            break
        if not piece:
            break
        text += piece
    return text


def started(words: list[str], home: Path) -> tuple[int, int]:
    """The process of a command on a terminal that is its own, and the other end of that."""
    kept = {"XDG_CACHE_HOME": str(home)} if "--calibrate" in words else {}  # else valgrind's tool would be built again
    pid, ours = pty.fork()
    if pid == 0:
        try:
            os.execve(BIN / words[0], words, clean_env(TERM="xterm", **kept))
        finally:
            os._exit(127)
    return pid, ours


@pytest.mark.parametrize(("name", "how"), [
    pytest.param(name, how, marks=[*[pytest.mark.needs("valgrind")] * ("valgrind" in words), *[pytest.mark.slow if how == "^C" and "--against" not in name else pytest.mark.long] * (name in TAKES_SECONDS)])
    for name, (words, _) in COMMANDS.items() for how in ("^C", "SIGTERM", "SIGHUP", "SIGSTOP")])
def test_the_cursor_is_there_however_a_command_ends(name: str, how: str, tmp_path: Path) -> None:
    words, sign = COMMANDS[name]
    pid, ours = started(words, tmp_path)
    try:
        text = written(ours, sign)
        assert sign in text, text
        if how == "^C":
            os.write(ours, b"\x03")
        else:
            os.kill(pid, signal.Signals[how])
        if how == "SIGSTOP":
            _, status = os.waitpid(pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
        text += written(ours, seconds=1.0 if how == "SIGSTOP" else 20.0)
        assert text.rfind(HIDE) <= text.rfind(SHOW), text
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        os.close(ours)


def test_the_line_is_gone_at_the_end(tmp_path: Path) -> None:
    pid, ours = started(["pypfm", "bench", "--rounds", "1", str(PFM4.path)], tmp_path)
    text = written(ours)
    os.waitpid(pid, 0)
    os.close(ours)
    before, _, table = text.rpartition(b"\r\x1b[K")
    assert b"measuring" in before
    assert b"measuring" not in table
    assert b"library" in table or b"libpfm" in table
