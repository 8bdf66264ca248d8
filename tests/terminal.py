"""Run the command ``pypfm``, in a pipe or on a terminal of a given width."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from conftest import TESTS, clean_env, run

PYPFM = Path(sys.executable).with_name("pypfm")


def pypfm(*args: object) -> subprocess.CompletedProcess[str]:
    return run(PYPFM, *args)


def on_terminal(columns: int, *args: object, status: int = 0, term: str = "dumb") -> str:
    """What a command prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    env = clean_env(COLUMNS=str(columns), LINES="50", TERM=term)  # rich wants all three
    process = subprocess.Popen([str(a) for a in (PYPFM, *args)], stdout=theirs, stderr=theirs, env=env, cwd=TESTS)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert process.wait() == status, text
    return text.decode().replace("\r\n", "\n")
