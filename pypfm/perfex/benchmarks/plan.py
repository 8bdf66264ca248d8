"""What is asked for, and what the two processes of a session say to each other, in files of a directory."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DIRECTORY", "WARMUP", "Plan", "Round", "begin", "begun"]

#: The variable that names the directory of a session to the pytest that runs in it.
DIRECTORY = "PYPFM_PERFEX_SESSION"
#: How often a benchmark is called before it is counted.
WARMUP = 10
_PLAN, _ROUNDS, _BEGUN = "plan.json", "rounds.jsonl", "begun"


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
        path = directory / _PLAN
        path.write_text(json.dumps(asdict(self)), encoding="utf-8", errors="surrogateescape")
        return path

    @classmethod
    def read(cls, directory: Path) -> Plan:
        """What was written."""
        return cls(**_members((directory / _PLAN).read_text(encoding="utf-8", errors="surrogateescape")))


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
        """Write it behind those that are known: they stay, whatever becomes of the process."""
        with (directory / _ROUNDS).open("a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(json.dumps(asdict(self)) + "\n")

    @classmethod
    def read(cls, directory: Path) -> list[Round]:
        """Those that were counted, in their order; of the same name the last one."""
        path, found = directory / _ROUNDS, dict[str, Round]()
        for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if path.exists() else ():
            one = cls(**_members(line))
            found[one.name] = one
        return list(found.values())


def _members(text: str) -> dict[str, Any]:
    """The members of a class, as JSON has them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()}


def begin(directory: Path, name: str) -> None:
    """Note which benchmark runs; "": none does."""
    (directory / _BEGUN).write_text(name, encoding="utf-8", errors="surrogateescape")


def begun(directory: Path) -> str:
    """The benchmark that was running when the process ended; "": none was."""
    path = directory / _BEGUN
    return path.read_text(encoding="utf-8", errors="surrogateescape") if os.path.exists(path) else ""
