"""What each instruction of a memory trace has done, by r10ksim (csrc/r10ksim/records.h), and what that means.

The trace does not say which instructions are branches, floating-point operations or prefetches; the code itself does.
Valgrind says which file lies where in a process.  A process that is made by fork() begins with what its parent had.
"""

from __future__ import annotations

import re
import shutil
import sys
from bisect import bisect_right
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.perfex.backends.valgrind.instructions import Instruction, Objects

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["BY_KIND", "COUNTERS", "NO_FILE", "UNKNOWN", "Layout", "Mapped", "Records", "mapped"]

#: What is counted: branches as callgrind names them, operations, prefetches, instructions that an R10000 does not
#: issue, loads that the trace has twice.
COUNTERS = ("Bc", "Bcm", "Bi", "Bim", "Flops", "Pf", "Idle", "Again")
#: Those of an R10000's counts that depend on the kinds of instructions.
BY_KIND = frozenset({*COUNTERS, "Dr", "Drm", "Bcb"})
#: Executions of instructions that are not known.
UNKNOWN = "unknown"
#: Follows their number.
NO_FILE = ("instructions were executed of code that is in no file (made at run time, say), or that cannot be read:"
           " whether they are branches, floating-point operations or prefetches is not known")

# The order of the counts in a line (csrc/r10ksim/records.h).
_EXECUTIONS, _LOADS, _MISPREDICTED, _RETARGETED = 0, 1, 4, 5
_NEEDED = 6
# An instruction that is not counted.
_PLAIN = Instruction(0)
_INDIRECT = ("indirect", "indirect call")
_ET_EXEC = 2  # of an ELF file's header
_NOTE = re.compile(r"(?:==|--)\d+(?:==|--) +(?:Command: (?P<command>.*)|Parent PID: (?P<parent>\d+)"
                   r"|Reading syms from (?P<path>.*)|svma 0x(?P<svma>[0-9a-f]+), avma 0x(?P<avma>[0-9a-f]+)"
                   r"|Discarding syms at 0x(?P<begin>[0-9a-f]+)-0x(?P<end>[0-9a-f]+) in .*|(?P<lackey>Lackey, ).*)")


@dataclass(frozen=True)
class Mapped:
    """A file in a process.

    :ivar begin: where its code (section .text) begins
    :ivar bias: what is added to the addresses in the file
    """

    begin: int
    bias: int
    path: Path


def mapped(log: str) -> list[Mapped]:
    """The files that lie in a process, by what valgrind has told its log (-v -v)."""
    found, path = list[Mapped](), Path()
    for match in filter(None, map(_NOTE.match, log.splitlines())):
        if match["command"] is not None:
            found += _fixed(match["command"])
        elif match["path"]:
            path = Path(match["path"])
        elif match["svma"]:
            avma = int(match["avma"], 16)
            found.append(Mapped(avma, avma - int(match["svma"], 16), path))
    return found


def _fixed(command: str) -> list[Mapped]:
    """The program of a command line, if it lies at the addresses that stand in its file.

    Valgrind does not name a program that has no data of its own in the file.
    """
    path = shutil.which(command.partition(" ")[0])
    head = b""
    if path is not None:
        with suppress(OSError), open(path, "rb") as stream:
            head = stream.read(18)
    fixed = head[:4] == b"\x7fELF" and int.from_bytes(head[16:18], sys.byteorder) == _ET_EXEC
    return [Mapped(0, 0, Path(path))] if path is not None and fixed else []


@dataclass
class _Image:
    """A program that a process executes.

    :ivar begun: there are lines of its instructions
    :ivar own: it was executed: files were mapped before the first instruction; else it is its parent's, after fork()
    :ivar mapped: the files that are there
    :ivar gone: those that were; a process that was made before may still have them
    """

    command: str = ""
    begun: bool = False
    own: bool = False
    path: Path | None = None
    mapped: list[Mapped] = field(default_factory=list)
    gone: list[Mapped] = field(default_factory=list)


@dataclass
class _Trace:
    """A trace.

    :ivar pid: of its process
    :ivar parent: the process that has made it; 0: not known
    :ivar pending: images that are not its own, and lines of their instructions
    """

    pid: int
    parent: int = 0
    images: list[_Image] = field(default_factory=lambda: [_Image()])
    total: Counter[str] = field(default_factory=Counter)
    pending: list[tuple[_Image, list[list[bytes]]]] = field(default_factory=list)


class Layout:
    """Which instruction is at which address."""

    def __init__(self, mapped: Iterable[Mapped], objects: Objects) -> None:
        self._objects = objects
        # Of two that begin at the same address, the later one.
        self._by_begin = sorted({m.begin: m for m in mapped}.values(), key=lambda m: m.begin)
        self._begins = [m.begin for m in self._by_begin]
        self._known: dict[tuple[bytes, bytes], Instruction | None] = {}

    def at(self, address: bytes, size: bytes) -> Instruction | None:
        """The instruction at an address; `_PLAIN` if it is none of those that are counted; None if it is not known.

        :param address: in hexadecimal
        :param size: of the one that was executed: there may be another one than in the file
        """
        key = address, size
        try:
            return self._known[key]
        except KeyError:
            found = self.find(int(address, 16))
            if found is not None and found.size != int(size):
                found = None
            elif found is not None and replace(found, size=0, loads=0, stores=0) == _PLAIN:
                found = _PLAIN
            return self._known.setdefault(key, found)

    def find(self, address: int) -> Instruction | None:
        """The instruction at an address, or None.  Other sections of code (.init, .plt) are around a file's .text."""
        place = bisect_right(self._begins, address)
        for mapped in (*self._by_begin[place - 1:place][::-1], *self._by_begin[place:place + 1]):
            if found := self._objects.at(mapped.path, address - mapped.bias):
                return found
        return None


class Records:
    """Adds up what the instructions of all traces have done, and keeps their files open.

    :param pid: of the process whose trace comes through the pipe
    """

    def __init__(self, pid: int) -> None:
        self._objects = Objects()
        self._traces: dict[int, _Trace] = {}
        self._main = pid
        self._current = _Trace(pid)
        self._layouts: dict[tuple[Mapped, ...], Layout] = {}
        self._found = Layout((), self._objects)
        self._asked: list[Mapped] = []  # the layout was found for these files
        self._asked_length = 0

    def close(self) -> None:
        """Close the files whose instructions have been read."""
        self._objects.__exit__(None, None, None)

    def line(self, line: bytes) -> None:
        """Take a line of the stream.

        :raises ValueError: it is none
        """
        word, _, rest = line.rstrip(b"\n").partition(b" ")
        if word[:1] == b"+":
            self._instruction(word[1:], rest.split())
        elif word == b"note":
            self._note(rest.decode("utf-8", "surrogateescape"))
        elif word == b"process":
            number, pid = map(int, rest.split())
            self._current = self._traces.setdefault(number, _Trace(pid or self._main))
        elif word == b"forget":  # what is mapped may still be asked for by what the process has made
            self._current.total.clear()
            self._current.pending.clear()
            self._current.images.append(_Image())
        elif word == b"lost":
            self._current.total[UNKNOWN] += int(rest)
        elif word != b"end":
            raise ValueError(line)

    def _note(self, text: str) -> None:
        """Take a message of valgrind's."""
        match = _NOTE.match(text)
        if match is None:
            return
        image = self._current.images[-1]
        if match["lackey"]:
            self._current.images.append(_Image())
        elif match["command"] is not None:
            image.command = match["command"]
            image.mapped += _fixed(match["command"])
        elif match["parent"]:
            self._current.parent = int(match["parent"])
        elif match["path"]:
            image.own, image.path = image.own or not image.begun, Path(match["path"])
        elif match["svma"] and image.path:
            avma = int(match["avma"], 16)
            image.mapped.append(Mapped(avma, avma - int(match["svma"], 16), image.path))
        elif match["begin"]:
            begin, end = int(match["begin"], 16), int(match["end"], 16)
            image.gone += [m for m in image.mapped if begin <= m.begin <= end]
            image.mapped = [m for m in image.mapped if not begin <= m.begin <= end]

    def _instruction(self, address: bytes, counts: list[bytes]) -> None:
        trace = self._current
        image = trace.images[-1]
        image.begun = True
        if image.own:
            self._add(trace.total, self._layout(image.mapped), address, counts)
        else:
            if not trace.pending or trace.pending[-1][0] is not image:
                trace.pending.append((image, []))
            trace.pending[-1][1].append([address, *counts])

    def _layout(self, mapped: list[Mapped]) -> Layout:
        if mapped is not self._asked or len(mapped) != self._asked_length:
            key = tuple(mapped)
            if key not in self._layouts:
                self._layouts[key] = Layout(key, self._objects)
            self._asked, self._asked_length, self._found = mapped, len(mapped), self._layouts[key]
        return self._found

    @staticmethod
    def _add(total: Counter[str], layout: Layout, address: bytes, counts: list[bytes]) -> None:
        """Add an instruction's counts to those of its trace.

        :param counts: its size first
        """
        found = layout.at(address, counts[0])
        if found is _PLAIN:
            return
        numbers = [int(n) for n in counts[1:_NEEDED + 1]]
        numbers += [0] * (_NEEDED - len(numbers))
        executions = numbers[_EXECUTIONS]
        if found is None:
            total[UNKNOWN] += executions
            return
        if found.branch == "conditional":
            total["Bc"] += executions
            total["Bcm"] += numbers[_MISPREDICTED]
        elif found.branch in _INDIRECT:
            total["Bi"] += executions
            total["Bim"] += numbers[_RETARGETED]
        if found.flops is None:
            total[UNKNOWN] += executions
        else:
            total["Flops"] += found.flops * executions
        total["Pf"] += found.prefetch * executions
        total["Idle"] += (not found.issued) * executions
        if found.modifies:  # with LOCK, the trace has what is compared and exchanged once more
            total["Again"] += max(0, numbers[_LOADS] - found.loads * executions)

    def counts(self) -> dict[str, int]:
        """The counts of all traces, and how many executions are of instructions that are not known."""
        total = Counter(dict.fromkeys((*COUNTERS, UNKNOWN), 0))
        for trace in self._traces.values():
            for image, lines in trace.pending:
                layout = self._layout([*self._inherited(trace, image, set()), *image.gone, *image.mapped])
                for address, *counts in lines:
                    self._add(trace.total, layout, address, counts)
            trace.pending.clear()
            total.update(trace.total)
        return dict(total)

    def _inherited(self, trace: _Trace, image: _Image, seen: set[int]) -> list[Mapped]:
        """What was mapped in the process that has made this one.

        It may have executed another program since; valgrind has told each its command line.  If it had ended before
        this one looked who it is, it was one with the same command line.

        :param seen: processes that have been asked
        """
        seen.add(trace.pid)
        others = [t for t in self._traces.values() if t.pid not in seen]
        made_by = [t for t in others if t.pid == trace.parent]
        if not made_by and trace.parent not in seen:
            made_by = [t for t in others if any(i.own and i.command == image.command for i in t.images)]
        images = [(t, i) for t in made_by for i in t.images if i.command]
        if not images:
            return []
        parent, found = next(((t, i) for t, i in reversed(images) if i.command == image.command), images[-1])
        more = [] if found.own else self._inherited(parent, found, seen)
        return [*more, *found.gone, *found.mapped]
