"""The plan of a session, and the files of a directory through which its two processes talk."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pypfm.errors import shown
from pypfm.perfex.opening import read_regular

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BEGUN", "DIRECTORY", "PLAN", "ROUNDS", "WARMUP", "Plan", "Round", "begin", "begun", "places_file"]

#: The variable that names the directory of a session to the pytest that runs in it.
DIRECTORY = "PYPFM_PERFEX_SESSION"
#: How often a benchmark is called before it is counted.
WARMUP = 10
#: Files of that directory.
PLAN, ROUNDS, BEGUN = "plan.json", "rounds.jsonl", "begun"
_LARGEST = 256 << 20  # bytes of such a file
_LARGEST_NAME = 1 << 20  # bytes of a benchmark's


@dataclass(frozen=True)
class Plan:
    """How benchmarks are counted.

    :ivar args: of pytest
    :ivar program: what sys.argv[0] is
    :ivar with_directory: whether pytest has the current directory in sys.path (python -m pytest)
    :ivar warmup: how often a benchmark is called before it is counted
    :ivar layouts: sessions, each with another layout of memory
    :ivar cache: the caches that are simulated
    :ivar variables: that are passed on, besides those that always are
    :ivar functions: functions of Python are named, too
    :ivar layout: of this session, 0: as it is
    """

    args: tuple[str, ...]
    program: str = "pytest"
    with_directory: bool = False
    warmup: int = WARMUP
    layouts: int = 1
    cache: str = "r10000"
    variables: tuple[str, ...] = ()
    functions: bool = False
    layout: int = 0

    def write(self, directory: Path) -> Path:
        """Leave it to the pytest that runs in the session: a file."""
        path = directory / PLAN
        path.write_text(json.dumps(asdict(self)), encoding="utf-8", errors="surrogateescape")
        return path

    @classmethod
    def read(cls, directory: Path) -> Plan:
        """Read what `write` has left in a directory."""
        return cls(**_members(_text(directory / PLAN, _LARGEST)))


@dataclass(frozen=True)
class Round:
    """The round of a benchmark that was counted.

    :ivar name: of the test, or what the program has called it
    :ivar test: its node id
    :ivar group: of the mark ``benchmark``; "": none
    :ivar counts: of the tool, in its order, without those of an empty region
    :ivar warm: how many rounds came before it
    :ivar places: the file with the counts of its instructions
    :ivar threads, processes: that were made in it
    """

    name: str
    test: str
    group: str
    counts: tuple[int, ...]
    warm: int
    places: str
    threads: int = 0
    processes: int = 0
    notes: tuple[str, ...] = field(default=())

    def append(self, directory: Path) -> None:
        """Write it after those that are known: they stay, whatever becomes of the process."""
        with (directory / ROUNDS).open("a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(json.dumps(asdict(self)) + "\n")

    @classmethod
    def read(cls, directory: Path) -> list[Round]:
        """Read the rounds that were counted, in their order; of the same name the last one.

        :raises OSError: the file is there, and cannot be read
        :raises ValueError: something in it is no round, or one is missing
        """
        made: list[Round] = []
        for line in _text(directory / ROUNDS, _LARGEST).splitlines():
            try:
                made.append(cls(**_members(line)))
                fits = made[-1]._fits(len(made))
            except (ValueError, TypeError, AttributeError, RecursionError):
                fits = False
            if not fits:
                raise ValueError(f"{shown(line)} is not what was counted of a benchmark")
        if os.path.lexists(directory / places_file(len(made) + 1)):
            raise ValueError("a line is missing")
        return list({one.name: one for one in made}.values())

    def _fits(self, number: int) -> bool:
        """Tell whether this can be the round of that number: any process can have written to the file."""
        texts = self.name, self.test, self.group, *self.notes
        numbers = self.warm, self.threads, self.processes, *self.counts
        return (self.places == places_file(number) and isinstance(self.notes, tuple)
                and all(isinstance(text, str) for text in texts)
                and all(type(count) is int and 0 <= count < 1 << 64 for count in numbers))


def places_file(number: int) -> str:
    """Return the file with the counts of a round's instructions.

    :param number: of the round, from 1
    """
    return f"places.{number}"


def _members(text: str) -> dict[str, Any]:
    """Return the members of a class, as JSON has them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()}


def _text(path: Path, most: int) -> str:
    """Read a file; "": there is none."""
    try:
        return read_regular(path, most, os.O_NOFOLLOW).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def begin(directory: Path, name: str) -> None:
    """Note which benchmark runs; "": none does."""
    (directory / BEGUN).write_text(name, encoding="utf-8", errors="surrogateescape")


def begun(directory: Path) -> str:
    """Return the benchmark that was running when the process ended; "": none was.

    :raises OSError: the file is there, and cannot be read
    """
    return _text(directory / BEGUN, _LARGEST_NAME)
