"""Output of a library to stdout and stderr of its process: pipes that are read after each call."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from pypfm.conform.vectors import SPEAKING, environment
from pypfm.conform.worker.children import out_of_reach

if TYPE_CHECKING:
    from pypfm.conform.model import Json, Vector

__all__ = ["STREAMS", "Prints"]

#: The streams, as fields of an answer.
STREAMS = ("stdout", "stderr")
_MOST = 4096  # bytes of a stream that are kept
_PIECE = 1 << 16  # bytes: what a pipe holds
_libc = ctypes.CDLL(None)


class Prints:
    """The pipes of one child, made before it is forked; both processes can read them.

    What is written while a pipe is full is lost: nothing waits for a reader.
    """

    def __init__(self) -> None:
        self._ends = [os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) for _ in STREAMS]
        self._readers = [reader for reader, _ in self._ends]
        self._wanted = False  # whether a vector asked for messages

    def connect(self) -> None:
        """Make them standard output and error; called in the child."""
        for fd, (reader, writer) in enumerate(self._ends, 1):
            os.dup2(writer, fd)
            os.close(writer)
            self._readers[fd - 1] = out_of_reach(reader)

    def watch(self) -> None:
        """Close the writing ends; called in the parent."""
        for _, writer in self._ends:
            os.close(writer)

    def close(self) -> None:
        for reader in self._readers:
            os.close(reader)

    def taken(self) -> dict[str, str]:
        """Return by stream what has been written since the last call of this function."""
        _libc.fflush(None)
        found = {}
        for name, reader in zip(STREAMS, self._readers, strict=True):
            with suppress(OSError):  # nothing there, or the library has closed it
                if data := os.read(reader, _PIECE):
                    found[name] = data[:_MOST].decode("latin-1")
        return found

    def unasked(self, vector: Vector) -> dict[str, str]:
        """Return what a call has written, unless it or an earlier call of its sequence asks for messages."""
        options = cast("list[Json]", vector["args"]) if vector.get("call") == "pfm_set_options" else []
        self._wanted = self._wanted or any(isinstance(arg, dict) and "set" in arg for arg in options)
        found = self.taken()
        return {} if self._wanted or environment(vector).keys() & {*SPEAKING} else found
