"""Files in whose place any process can have put something else."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_regular", "read_regular"]


def open_regular(path: str | Path, most: int, flags: int = 0) -> BinaryIO:
    """Open a regular file for reading; do not wait, as a plain open() of a FIFO does.

    :param most: bytes that it may have
    :param flags: further flags of os.open(), such as O_NOFOLLOW
    :raises OSError: it cannot be opened, is another kind of file, or is larger; ``strerror`` says which
    :raises ValueError: a zero byte in the name
    """
    stream = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags), "rb")  # noqa: SIM115 - the caller closes it
    known = os.fstat(stream.fileno())
    wrong = (0, "") if stat.S_ISREG(known.st_mode) else (errno.EINVAL, "is not a file")
    if known.st_size > most:
        wrong = errno.EFBIG, f"is too large ({known.st_size} bytes)"
    if wrong[1]:
        stream.close()
        raise OSError(*wrong, str(path))
    return stream


def read_regular(path: str | Path, most: int, flags: int = 0) -> bytes:
    """Read a regular file, as `open_regular` opens it."""
    with open_regular(path, most, flags) as stream:
        return stream.read(most)
