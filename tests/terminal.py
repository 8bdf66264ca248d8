"""Run the command ``pypfm``, in a pipe or on a terminal of a given width."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from conftest import clean_env
from fresh import fresh_command

PYPFM = Path(sys.executable).with_name("pypfm")


def pypfm(*args: object) -> subprocess.CompletedProcess[str]:
    return fresh_command(PYPFM, *args)


def on_terminal(columns: int, *args: object, status: int = 0, term: str = "dumb") -> str:
    """What a command prints on a terminal of that width."""
    with terminal() as (theirs, printed):
        ended = fresh_command(PYPFM, *args, env=_environment(columns, clean_env(TERM=term)), terminal=os.ttyname(theirs)).returncode
        text = printed()
    assert ended == status, text
    return text


def _environment(columns: int, env: dict[str, str]) -> dict[str, str]:
    return env | {"COLUMNS": str(columns), "LINES": "50"}  # rich wants them, and TERM


def run_on_terminal(columns: int, command: Sequence[object], *, cwd: Path, env: dict[str, str]) -> tuple[str, int]:
    """What any program prints on a terminal of that width, and its exit status."""
    with terminal() as (theirs, printed):
        status = subprocess.run([str(c) for c in command], stdout=theirs, stderr=theirs, env=_environment(columns, env), cwd=cwd,
                                check=False).returncode
        return printed(), status


@contextmanager
def terminal() -> Iterator[tuple[int, Callable[[], str]]]:
    """A terminal to write to, and a function that ends it and returns all that was written to it.

    The end is a mark that we write ourselves.  EIO, which says that nobody has the other side open any longer, is not
    relied on: a test that read until EIO once missed the last lines of a program.
    """
    ours, theirs = pty.openpty()
    mark = b"\0the end\0"

    def read() -> bytes:
        text = b""
        while mark not in text:
            text += os.read(ours, 65536)
        return text.partition(mark)[0]

    def printed() -> str:
        os.write(theirs, mark)
        return reader.result().decode().replace("\r\n", "\n")

    try:
        with ThreadPoolExecutor(1) as pool:
            reader = pool.submit(read)
            try:
                yield theirs, printed
            finally:
                if not reader.done():
                    os.write(theirs, mark)
    finally:
        os.close(ours)
        os.close(theirs)
