"""What callgrind writes: parts, each with its totals and, with --dump-instr=yes, the counts of each instruction.

A part is what one thread has counted until it was written.  Its lines are relative to one another: a position may be
given as a difference (``+4``, ``-4``, ``*``), and a name only once, with a number in parentheses that stands for it
from then on.  A line after ``calls=`` has what the function that is called counted, with all that it called itself; all
other lines are of the instruction itself, and add up to the totals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING

from pypfm.perfex.profile import UNKNOWN, Function, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pypfm.perfex.backends.valgrind.formulas import Simulated

__all__ = ["Part", "parts"]

_COSTS = b"+-*0123456789"


@dataclass
class Part:
    """What a thread has counted until it was written.

    :ivar number: of the time at which it was written
    :ivar thread: valgrind's number
    :ivar trigger: why it was written
    :ivar names: of what is counted
    :ivar totals: by name
    :ivar code: the counts of each place, in the order of the names
    :ivar calls: by caller and callee: number of calls, and then the counts of what the callee did in them
    """

    number: int
    thread: int
    trigger: str
    names: tuple[str, ...]
    totals: Simulated
    code: dict[Place, list[int]] = field(default_factory=dict)
    calls: dict[tuple[Function, Function], list[int]] = field(default_factory=dict)

    @property
    def adds_up(self) -> bool:
        """Whether the counts of the places are the totals."""
        sums = [sum(column) for column in zip(*self.code.values(), strict=True)] or [0] * len(self.names)
        return sums == [self.totals.get(name, 0) for name in self.names]


class _Names:
    """The names of files, objects or functions, which stand for their numbers."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def __call__(self, text: bytes) -> str:
        if text[:1] != b"(":
            return text.decode("utf-8", "surrogateescape")
        number, _, name = text.partition(b") ")
        number = number.rstrip(b")\n")
        if name:
            self._known[number] = name.decode("utf-8", "surrogateescape")
        return self._known.get(number, UNKNOWN)


class _Reader:
    """Reads the lines of a file, one after the other."""

    def __init__(self) -> None:
        self._objects, self._files, self._functions = _Names(), _Names(), _Names()
        self._number, self._thread, self._trigger = 0, 1, ""
        self._names: tuple[str, ...] = ()
        self._columns: tuple[str, ...] = ("line",)
        self._begin()

    def _begin(self) -> None:
        """Forget the places of the part before."""
        self._object, self._file, self._here = UNKNOWN, UNKNOWN, Function(UNKNOWN, UNKNOWN, UNKNOWN)
        self._callee: dict[bytes, str] = {}
        self._address = self._line = 0
        self._called = -1  # how often, if the next line is what was called
        self._code: dict[Place, list[int]] = {}
        self._calls: dict[tuple[Function, Function], list[int]] = {}

    def body(self, line: bytes) -> None:
        """Take a line of costs or of names."""
        if line[0] in _COSTS:
            self._costs(line.split())
            return
        key, _, rest = line.rstrip(b"\n").partition(b"=")
        if key in (b"fl", b"fi", b"fe"):
            self._file = self._files(rest)
        elif key == b"fn":
            self._here = Function(self._object, self._file, self._functions(rest))
        elif key == b"ob":
            self._object = self._objects(rest)
        elif key in (b"cob", b"cfi", b"cfl", b"cfn"):
            names = {b"cob": self._objects, b"cfn": self._functions}.get(key, self._files)
            self._callee[b"cfi" if key == b"cfl" else key] = names(rest)
        elif key == b"calls":
            self._called = int(rest.split()[0])

    def _costs(self, words: list[bytes]) -> None:
        address, line = self._address, self._line
        for column in self._columns:
            if column == "instr":
                address = _position(words[0], address)
            else:
                line = _position(words[0], line)
            del words[0]
        costs = [*map(int, words), *[0] * (len(self._names) - len(words))]
        if self._called < 0:
            self._address, self._line = address, line
            place = Place(self._here, self._file, address, line)
            before = self._code.get(place)
            self._code[place] = costs if before is None else [*map(add, before, costs)]
            return
        # The next position is not relative to that of a call.
        callee = Function(self._callee.get(b"cob", self._object), self._callee.get(b"cfi", self._file),
                          self._callee.get(b"cfn", UNKNOWN))
        counts = [self._called, *costs]
        known = self._calls.get((self._here, callee))
        self._calls[self._here, callee] = counts if known is None else [*map(add, known, counts)]
        self._called = -1
        self._callee.clear()

    def head(self, key: bytes, rest: bytes) -> None:
        """Take a line of the head of a part."""
        if key == b"part":
            self._number = int(rest)
        elif key == b"thread":
            self._thread = int(rest)
        elif key == b"desc" and rest.startswith(b" Trigger:"):
            self._trigger = rest.decode("utf-8", "replace").partition(":")[2].strip().removeprefix("--dump-before=")
        elif key == b"positions":
            self._columns = tuple(rest.decode("ascii", "replace").split())
        elif key == b"events":
            self._names = tuple(rest.decode("ascii", "replace").split())
            self._begin()

    def end(self, rest: bytes) -> Part:
        """The part whose totals these are."""
        numbers = [int(n) for n in rest.split()]
        numbers += [0] * (len(self._names) - len(numbers))  # zeros at the end are left out
        return Part(self._number, self._thread, self._trigger, self._names,
                    dict(zip(self._names, numbers, strict=False)), self._code, self._calls)


def _position(word: bytes, last: int) -> int:
    """A position: a number, hexadecimal for an address, or relative to the last one."""
    first = word[0]
    if first in b"+-":
        return last + int(word)
    return last if first == b"*"[0] else int(word, 0)


_HEAD = re.compile(rb"(part|thread|desc|positions|events|totals):(.*)")
# A name of a file may have a line break, and what follows is no line of callgrind's.
_NAME = re.compile(rb"(?:f[nlie]|c?ob|cf[nil])=|cmd:")
_LINE = re.compile(rb"(?:[+-]?\d+|\*|0x[\da-f]+)(?: (?:[+-]?\d+|\*|0x[\da-f]+))*\n?$|\n|#|(?:f[nlie]|c?ob|cf[nil])=\S"
                   rb"|calls=\d+(?: [-+*\da-fx]+)* ?\n?$|(?:part|thread|pid):[ \d]+\n?$|(?:totals|summary):[ \d]*\n?$"
                   rb"|(?:events|positions):[ A-Za-z\d]+\n?$|(?:version|creator|cmd|desc):|j(?:ump|cnd)=")


def _lines(stream: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a file; a name with line breaks is in one of them."""
    last = b""
    for line in stream:
        if last and not _LINE.match(line):
            last += line
            continue
        if last:
            yield last
            last = b""
        if _NAME.match(line):
            last = line
        else:
            yield line
    if last:
        yield last


def parts(path: Path, *, code: bool = False) -> Iterator[Part]:
    """What a process has written: one part for each time and thread; nothing if there is no file.

    :param path: of callgrind's file
    :param code: with the places and calls
    """
    reader = _Reader()
    try:
        stream = path.open("rb")
    except OSError:
        return
    with stream:
        for line in _lines(stream):
            head = _HEAD.match(line) if line[0] in b"pdte" else None
            if head is None:
                if code and line[0] in b"+-*0123456789fco":
                    reader.body(line)
            elif head[1] == b"totals":
                yield reader.end(head[2])
            else:
                reader.head(head[1], head[2])
