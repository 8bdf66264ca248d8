"""Run the command ``pypfm``, in a pipe or on a terminal of a given width."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from conftest import TESTS, clean_env, run

PYPFM = Path(sys.executable).with_name("pypfm")


def pypfm(*args: object) -> subprocess.CompletedProcess[str]:
    return run(PYPFM, *args)


def on_terminal(columns: int, *args: object, status: int = 0, term: str = "dumb") -> str:
    """What a command prints on a terminal of that width."""
    text, ended = run_on_terminal(columns, [PYPFM, *args], cwd=TESTS, env=clean_env(TERM=term))
    assert ended == status, text
    return text


def run_on_terminal(columns: int, command: Sequence[object], *, cwd: Path, env: dict[str, str]) -> tuple[str, int]:
    """What any program prints on a terminal of that width, and its exit status."""
    ours, theirs = pty.openpty()
    env = env | {"COLUMNS": str(columns), "LINES": "50"}  # rich wants them, and TERM
    process = subprocess.Popen([str(c) for c in command], stdout=theirs, stderr=theirs, env=env, cwd=cwd)
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
    return text.decode().replace("\r\n", "\n"), process.wait()
