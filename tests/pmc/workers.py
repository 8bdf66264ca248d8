"""Processes that make pmc calls one at a time, through C, the mirror, or state functions of Python's objects."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conftest import TESTS, clean_env

KINDS = ["C", "mirror", "state"]


class Worker:
    """A process that answers calls (see tests/c/pmc_script.c)."""

    def __init__(self, command: list[str], machine: str) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                         env=clean_env(PMC_MACHINE=machine), cwd=TESTS)

    def send(self, lines: Iterable[str]) -> None:
        assert self._process.stdin
        print(*lines, sep="\n", file=self._process.stdin, flush=True)

    def answer(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().rstrip("\n")

    def __call__(self, line: str) -> str:
        self.send([line])
        return self.answer()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let it come to its end, if nothing has ended it."""
        self._process.communicate()
        assert self._process.returncode in (0, -signal.SIGKILL)


@contextmanager
def workers(kind: str, script: Path, machine: str, count: int = 1) -> Iterator[list[Worker]]:
    """That many processes of one kind on one machine; script is the compiled tests/c/pmc_script.c."""
    command = [str(script)] if kind == "C" else [sys.executable, str(TESTS / "pmc" / "pmc_worker.py"), kind]
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            made.append(Worker(command, machine))
            stack.callback(made[-1].close)
        yield made
