"""Processes that make pmc calls one at a time, through C, the mirror, or state functions of Python's objects."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conftest import TESTS, clean_env


def _start(command: list[str], **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                            env=clean_env(**env), cwd=TESTS)


@functools.cache
def _forker(kind: str, _number: int) -> subprocess.Popen[str]:
    """A process of pmc_worker.py, which makes workers of a kind for all tests, one after the other."""
    process = _start([sys.executable, str(TESTS / "pmc" / "pmc_worker.py"), kind])
    atexit.register(process.communicate)
    return process


class Worker:
    """A process that answers calls (see tests/c/pmc_script.c)."""

    def __init__(self, command: list[str], machine: str) -> None:
        self._process = _start(command, PMC_MACHINE=machine)

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


class ForkedWorker(Worker):
    """The same, made by a process that has imported pypfm and called nothing."""

    def __init__(self, kind: str, number: int, machine: str) -> None:
        self._process = _forker(kind, number)
        self._ended = ""
        self(json.dumps({"PMC_MACHINE": machine, "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]}))

    def answer(self) -> str:
        line = super().answer()
        if line.startswith("ended "):
            self._ended = line
        return line

    def close(self) -> None:
        self("")
        assert self._ended == "ended 0"


@contextmanager
def workers(kind: str, script: Path, machine: str, count: int = 1) -> Iterator[list[Worker]]:
    """That many processes of one kind on one machine; script is the compiled tests/c/pmc_script.c."""
    with ExitStack() as stack:
        made: list[Worker] = []
        for number in range(count):
            made.append(Worker([str(script)], machine) if kind == "C" else ForkedWorker(kind, number, machine))
            stack.callback(made[-1].close)
        yield made
