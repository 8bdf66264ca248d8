"""The names of a command's threads, as the kernel knows them: the program's, or one that a thread has given itself."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from pypfm.common.counting import PerfEvent, Ring, attr_bytes
from pypfm.errors import CountingError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pypfm.common.counting import Life

__all__ = ["Names"]

_LENGTH = 15  # bytes of a name in the kernel
_SAMPLE_TIME = 4  # PERF_SAMPLE_TIME
# PERF_COUNT_SW_DUMMY, whose records are about beginnings and names of threads, and when they were.
_ATTR = {"type": 1, "config": 9, "exclude_kernel": 1, "exclude_hv": 1, "inherit": 1, "enable_on_exec": 1, "comm": 1,
         "task": 1, "sample_id_all": 1, "sample_type": _SAMPLE_TIME}


def recorded(attr: bytes, pid: int, name: str, cpu: int, pages: int) -> tuple[PerfEvent, Ring]:
    """Open an event on a processor, with memory for its records.

    :raises CountingError: one of them is not to be had; then neither is kept
    """
    event = PerfEvent(attr, pid, name, cpu)
    try:
        return event, event.ring(pages)
    except CountingError:
        event.close()
        raise


class Names:
    """The collector of the names of a command's threads.

    Where the kernel does not tell them, or has lost some, a thread has that of the one that has made it, or none: a
    report needs no names.

    :param pid: the command, which is not executed yet
    :param program: what it is to execute
    :param processors: memory for records is had for one processor only
    :param pages: of that memory
    """

    def __init__(self, pid: int, program: str, processors: Iterable[int], pages: int) -> None:
        self._first = pid, PurePath(program).name.encode()[:_LENGTH].decode(errors="ignore")
        self._open: list[tuple[PerfEvent, Ring]] = []
        self._lives: list[Life] = []
        try:
            for cpu in processors:
                self._open.append(recorded(attr_bytes(_ATTR), pid, "names", cpu, pages))
        except CountingError:
            self.close()

    def fds(self) -> list[int]:
        return [ring.fd for _, ring in self._open]

    def take(self) -> None:
        """Read the records that the kernel has kept."""
        for _, ring in self._open:
            self._lives += ring.lives()

    def known(self) -> dict[int, str]:
        """Return the last name of each thread."""
        self.take()
        names = dict([self._first])
        for life in sorted(self._lives, key=lambda life: life.time):
            names[life.tid] = names.get(life.parent, "") if life.parent else life.name
        return names

    def close(self) -> None:
        """Close it; a second call does nothing."""
        for event, ring in self._open:
            ring.close()
            event.close()
        self._open = []
