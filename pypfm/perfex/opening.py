"""Files in whose place any process can have put something else."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NotRegularError", "open_regular", "read_regular"]


class NotRegularError(OSError):
    """A path is not a regular file, or the file is too large; ``strerror`` says which."""


def open_regular(path: str | Path, most: int, flags: int = 0) -> BinaryIO:
    """Open a regular file for reading; do not wait, as a plain open() of a FIFO does.

    :param most: bytes that it may have
    :param flags: further flags of os.open(), such as O_NOFOLLOW
    :raises NotRegularError: it is another kind of file, or is larger
    :raises OSError: it cannot be opened
    :raises ValueError: a zero byte in the name
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    known = os.fstat(fd)
    if not stat.S_ISREG(known.st_mode):
        why = errno.EINVAL, "is not a file"
    elif known.st_size > most:
        why = errno.EFBIG, f"is too large ({known.st_size} bytes)"
    else:
        return os.fdopen(fd, "rb")
    os.close(fd)
    raise NotRegularError(*why, str(path))


def read_regular(path: str | Path, most: int, flags: int = 0) -> bytes:
    """Read a regular file, as `open_regular` opens it."""
    with open_regular(path, most, flags) as stream:
        return stream.read(most)
