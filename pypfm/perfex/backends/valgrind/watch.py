"""Notices when the processes of a command execute programs, by the logs that valgrind opens.

A process that fork() makes opens a log, and so does each program that a process executes: under the same name, from
which everything is gone then that the program before has left.  What the files say in the end is about the last one;
that there were others, only inotify(7) can tell.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["UNSEEN", "Watch"]

_OPEN, _CLOSE_WRITE, _OVERFLOW = 0x20, 0x8, 0x4000  # <sys/inotify.h>
_EVENT = struct.Struct("iIII")
_ROOM = 1 << 16
#: What is not known without it.
UNSEEN = "processes could not be watched (inotify): of one that executed several programs the last alone is counted"


class Watch:
    """How often files in a directory are opened.

    :param directory: nothing of ours opens a file there while it is watched
    :ivar missed: not everything has been seen
    """

    def __init__(self, directory: Path) -> None:
        libc = ctypes.CDLL(None)
        self.missed = False
        self._opened: Counter[str] = Counter()
        self._fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # Equal events in a row are one: a log is closed before it is opened again.
        if self._fd < 0 or libc.inotify_add_watch(self._fd, os.fsencode(directory), _OPEN | _CLOSE_WRITE) < 0:
            self.missed = True

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def look(self) -> None:
        """Take what has happened so far: the kernel keeps some thousand events."""
        with suppress(OSError):  # there are no more, or nothing is watched
            while data := os.read(self._fd, _ROOM):
                self._take(data)

    def _take(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            _, mask, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size
            self.missed |= bool(mask & _OVERFLOW)
            if mask & _OPEN and length:
                self._opened[os.fsdecode(data[at:at + length].rstrip(b"\0"))] += 1
            at += length

    def end(self) -> None:
        """Watch no longer."""
        self.look()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def several(self, first: int) -> list[int]:
        """The processes that have executed more than one program, by the files log.PID.

        :param first: that of the command; the others begin as copies of the one that has made them
        """
        numbers = {name: int(name[4:]) for name in self._opened if name.startswith("log.") and name[4:].isdigit()}
        return sorted(pid for name, pid in numbers.items() if self._opened[name] > (1 if pid == first else 2))
