"""The files that both simulations write: the counts of a process (csrc/perfex/tool/tool.h).

A file is what the tool works on, mapped: it is complete at any time, also if its process was killed.
"""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from pypfm.errors import PfmError, printable
from pypfm.perfex.opening import read_regular
from pypfm.perfex.profile import UNKNOWN, Function, Place, added

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pypfm.perfex.backends.simulation.formulas import Simulated
    from pypfm.perfex.profile import Profile

__all__ = ["ENDED", "REPLACED", "RUNS", "Call", "CountsError", "Live", "Object", "Process", "Thread", "calls",
           "checked", "objects", "profile", "read"]

_FORMAT = b"r10k002\n"
_HEAD = struct.Struct("=8sIIiiIIIIIIIiI4xQ")
_MOST = 1 << 31  # bytes of a file: what the tool maps
_NAMES = _PROGRAM = 512  # bytes
#: States of a process: it runs or was killed; it has ended; it has executed another program, which has another file.
RUNS, ENDED, REPLACED = range(3)
_TEXT, _FUNCTION, _BLOCK, _SITE, _THREAD, _CALL, _OBJECT, _JUMP_CALL = range(1, 9)  # kinds of items
_ITEM = struct.Struct("=II")
_OF_FUNCTION = struct.Struct("=4I")
_OF_CALL = struct.Struct("=IIQ")
_OF_JUMP_CALL = struct.Struct("=3Q")
_OF_OBJECT = struct.Struct("=3Q512s")
_WANTED = struct.calcsize("=8sIIiiIIII")  # where the header says whether perfex wants counting to be on
_CHANGING = struct.calcsize("=8sIIiiIIIIIIIi")  # likewise, whether a thread's counts are just put down
_TRIES = 1000  # to read counts at a moment when they are not


class CountsError(PfmError, ValueError):
    """A file that is not the tool's, is of another version of it, or is damaged."""


@contextmanager
def checked(path: Path) -> Iterator[None]:
    """Read a file to which any process can have written, and use its counts.

    :raises CountsError: it cannot be read, or something in it does not fit; names the file
    """
    try:
        yield
    except (struct.error, LookupError, ValueError, ArithmeticError, MemoryError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        if isinstance(error, KeyError):
            why = f"has no {error}"
        raise CountsError(f"{printable(path.name)}: {why}; something else has written to it") from None


def _content(path: Path) -> bytes:
    return read_regular(path, _MOST, os.O_NOFOLLOW)


class Thread(NamedTuple):
    """A thread and its counts."""

    tid: int
    counts: Simulated


@dataclass
class Process:
    """The counts of a process while it executed one program.

    :ivar parent: the process that has made it
    :ivar program: that it executes; of a copy that fork() has made, its parent's
    :ivar state: `RUNS`, `ENDED` or `REPLACED`
    :ivar full: there was no room in the file for all lines
    :ivar lost: how many processes that it has made have no file
    :ivar several: threads have run at once, which valgrind's do not: another run counts something else
    :ivar not_begun: how often start_counters() has failed, with --regions
    :ivar counts: by name
    :ivar threads: those that were counted apart, if that was asked for
    """

    pid: int
    parent: int
    program: str
    state: int
    full: bool
    lost: int
    several: bool = False
    not_begun: int = 0
    counts: Simulated = field(default_factory=dict)
    threads: list[Thread] = field(default_factory=list)


class _Header(NamedTuple):
    """The beginning of a file (struct header)."""

    format: bytes
    size: int
    num_counts: int
    pid: int
    parent: int
    state: int
    full: int
    lost: int
    on: int
    wanted: int
    several: int
    not_begun: int
    running: int
    changing: int
    used: int

    @classmethod
    def of(cls, data: bytes, size: int = -1) -> _Header:
        """Read it.

        :param size: bytes of the file, where these are only its first ones
        :raises CountsError: it is none
        """
        size = len(data) if size < 0 else size
        if len(data) < _HEAD.size or data[:8] != _FORMAT:
            raise CountsError("not a file of counts")
        head = cls(*_HEAD.unpack_from(data))
        if not head.num_counts or not _HEAD.size <= head.size <= head.used <= size or head.size < head.end_of_text:
            raise CountsError("a file of counts that does not fit together")
        return head

    @property
    def end_of_text(self) -> int:
        return _HEAD.size + 8 * self.num_counts + _NAMES + _PROGRAM

    def texts(self, data: bytes) -> tuple[tuple[str, ...], str]:
        """Return the names of the counts, and the program."""
        at = _HEAD.size + 8 * self.num_counts
        names = tuple(data[at:at + _NAMES].partition(b"\0")[0].decode("ascii", "replace").split())
        if len(names) != self.num_counts:
            raise CountsError("a file of counts without their names")
        program = data[at + _NAMES:at + _NAMES + _PROGRAM].partition(b"\0")[0]
        return names, os.fsdecode(program)


def _items(data: bytes, at: int, used: int) -> Iterator[tuple[int, int, int]]:
    """Yield kind, beginning and end of each item from a place on."""
    while at < used:
        kind, size = _ITEM.unpack_from(data, at)
        if size < _ITEM.size or size % 8 or at + size > used:
            raise CountsError("an item that does not fit")
        yield kind, at + _ITEM.size, at + size
        at += size


def read(path: Path) -> Process:
    """Read the counts of a process.

    :raises CountsError: it is no such file
    :raises OSError: it cannot be read
    """
    data = _content(path)
    head = _Header.of(data)
    names, program = head.texts(data)
    numbers = struct.Struct(f"={head.num_counts}Q")
    made = Process(head.pid, head.parent, program, head.state, bool(head.full), head.lost, bool(head.several),
                   head.not_begun)
    if path.name.partition(".")[0] != str(head.pid):
        raise CountsError(f"is of process {head.pid}")
    own = numbers.unpack_from(data, _HEAD.size)  # not put down yet: of the thread that runs
    total = list(own)
    for kind, begin, _ in _items(data, head.size, head.used):
        if kind == _THREAD:
            counts = numbers.unpack_from(data, begin + 8)
            tid, = struct.unpack_from("=i", data, begin)
            total = [*map(add, total, counts)]
            if tid == head.running:
                counts = tuple(map(add, counts, own))
            made.threads.append(Thread(tid, dict(zip(names, counts, strict=True))))
    made.counts = dict(zip(names, total, strict=True))
    return made


# ---- instructions and calls --------------------------------------------------------------

class _Tables:
    """The texts and functions of a file, by their references."""

    def __init__(self, data: bytes, head: _Header) -> None:
        self._texts: dict[int, str] = {0: UNKNOWN}
        self._functions: dict[int, Function] = {0: Function(UNKNOWN, UNKNOWN, UNKNOWN)}
        self.items = list(_items(data, head.size, head.used))
        for kind, begin, end in self.items:
            if kind == _TEXT:
                self._texts[begin >> 3] = data[begin:end].partition(b"\0")[0].decode("utf-8", "surrogateescape")
        for kind, begin, _ in self.items:
            if kind == _FUNCTION:
                name, owner, file, _line = _OF_FUNCTION.unpack_from(data, begin)
                found = self.text(owner)
                # Code without a symbol is at least that of a file.
                called = self.text(name) if name or not owner else f"{UNKNOWN} ({found.rpartition('/')[2]})"
                self._functions[begin >> 3] = Function(found, self.text(file), called)

    def text(self, reference: int) -> str:
        return self._texts.get(reference, UNKNOWN)

    def function(self, reference: int) -> Function:
        return self._functions.get(reference, self._functions[0])


def profile(path: Path, into: Profile) -> None:
    """Add the counts of a process's instructions and calls to a profile.

    :raises CountsError: it is no such file
    :raises OSError: it cannot be read
    """
    data = _content(path)
    head = _Header.of(data)
    names, _ = head.texts(data)
    each = names.index("I1mr")  # those before it are what an instruction does each time
    record = struct.Struct(f"=QQ4I{each}bBI")
    numbers = struct.Struct(f"={head.num_counts}q")  # a site may take back what its record counts
    tables = _Tables(data, head)
    into.names = names
    none = [0] * len(names)
    for kind, begin, end in tables.items:
        if kind == _BLOCK:
            rows = list(record.iter_unpack(data[begin:begin + (end - begin) // record.size * record.size]))
            for number, (_, address, function, file, line, site, *weights, _size, first) in enumerate(rows):
                times = rows[number - first][0]
                if not address or not (times or site):
                    continue
                counts = [weight * times for weight in weights] + none[each:]
                if site:
                    counts = [*map(add, counts, numbers.unpack_from(data, site << 3))]
                added(into.code, Place(tables.function(function), tables.text(file), address, line), counts)
        elif kind == _CALL:
            caller, callee, times = _OF_CALL.unpack_from(data, begin)
            called = [times, *numbers.unpack_from(data, begin + _OF_CALL.size)]
            if caller:
                added(into.calls, (tables.function(caller), tables.function(callee)), called)
            else:
                added(into.inclusive, tables.function(callee), called)


class Object(NamedTuple):
    """A part of a file in a program's memory.

    :ivar begin, end: addresses
    :ivar offset: where in the file the first one is
    """

    begin: int
    end: int
    offset: int
    path: str


def objects(path: Path) -> list[Object]:
    """Return the files whose code a process has executed, where the counts do not name its functions.

    :raises CountsError: it is no such file
    :raises OSError: it cannot be read
    """
    data = _content(path)
    head = _Header.of(data)
    items = _items(data, head.size, head.used)
    found = [_OF_OBJECT.unpack_from(data, begin) for kind, begin, _ in items if kind == _OBJECT]
    return [Object(begin, end, offset, os.fsdecode(name.partition(b"\0")[0])) for begin, end, offset, name in found]


class Call(NamedTuple):
    """Calls of one function by another.

    :ivar caller, callee: addresses; caller 0: whoever calls it
    :ivar counts: how many calls, and then what was counted in them
    """

    caller: int
    callee: int
    counts: list[int]


def calls(path: Path) -> list[Call]:
    """Return the calls of a process, where the counts do not name its functions.

    :raises CountsError: it is no such file
    :raises OSError: it cannot be read
    """
    data = _content(path)
    head = _Header.of(data)
    numbers = struct.Struct(f"={head.num_counts}Q")
    found = []
    for kind, begin, _ in _items(data, head.size, head.used):
        if kind == _JUMP_CALL:
            caller, callee, times = _OF_JUMP_CALL.unpack_from(data, begin)
            if times:
                found.append(Call(caller, callee, [times, *numbers.unpack_from(data, begin + _OF_JUMP_CALL.size)]))
    return found


# ---- while it runs -----------------------------------------------------------------------

class Live:
    """The file of a running process: its counts so far, and whether it shall count.

    It is not mapped: what another process cuts off would be a signal.

    :raises CountsError: it is no such file, or not one yet
    :raises OSError: it cannot be read
    """

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            data = os.pread(self._fd, 1 << 16, 0)
            head = _Header.of(data, os.fstat(self._fd).st_size)
            self._names, _ = head.texts(data)
            self._numbers = struct.Struct(f"={head.num_counts}Q")
            self._last = dict.fromkeys(self._names, 0)
            self._places, self._seen = [_HEAD.size], head.size  # of counts: the header's, and those of threads; bytes
        except BaseException:
            self.close()
            raise

    def switch(self, on: bool) -> None:
        """Switch counting on or off; the tool notices within a block or so."""
        os.pwrite(self._fd, struct.pack("=I", on), _WANTED)

    def counts(self) -> Simulated:
        """Return its counts; the last ones, where they cannot be read."""
        with suppress(struct.error, CountsError, MemoryError):  # it has been cut, or damaged
            for _ in range(_TRIES):
                head = os.pread(self._fd, _HEAD.size, 0)
                self._find_threads(_Header(*_HEAD.unpack(head)).used)
                found = [self._numbers.unpack(os.pread(self._fd, self._numbers.size, place)) for place in self._places]
                before, = struct.unpack_from("=I", head, _CHANGING)
                if not before % 2 and os.pread(self._fd, 4, _CHANGING) == head[_CHANGING:_CHANGING + 4]:
                    self._last = dict(zip(self._names, map(sum, zip(*found, strict=True)), strict=True))
                    break
        return self._last

    def _find_threads(self, used: int) -> None:
        """Find the threads' counts in what has been added to the file."""
        used = min(used, os.fstat(self._fd).st_size, _MOST)
        data = os.pread(self._fd, max(used - self._seen, 0), self._seen)
        self._places += [self._seen + begin + 8 for kind, begin, _ in _items(data, 0, len(data)) if kind == _THREAD]
        self._seen += len(data)

    def close(self) -> None:
        os.close(self._fd)
