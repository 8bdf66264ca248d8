"""The destination of a report: a file keeps its old content until the new one is complete."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Output", "save"]

# Names of our own descriptors: what is open there is written to, and not replaced.
_DESCRIPTOR = re.compile(r"/dev/(?:fd/|(?P<name>stdout|stderr)$)(?P<number>\d{1,9})?$|/proc/self/fd/(?P<fd>\d{1,9})$")
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def _descriptor(path: Path) -> int | None:
    """Return the descriptor that a name such as /dev/stdout stands for."""
    match = _DESCRIPTOR.match(str(path))
    if match is None:
        return None
    if match["name"]:
        return 1 if match["name"] == "stdout" else 2
    number = match["number"] or match["fd"]
    return int(number) if number else None


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data):]


def save(path: Path, text: str) -> None:
    """Write a text to a file, in one step; if that fails, the old content stays.

    :raises OSError: it cannot be written
    """
    real, data = os.path.realpath(path), text.encode("utf-8", "backslashreplace")
    try:
        fd, temporary = tempfile.mkstemp(prefix=".perfex-", dir=os.path.dirname(real))
    except OSError as error:
        if error.errno not in _READ_ONLY or not os.path.exists(real):
            raise
        # A file of ours in a directory of others.
        with open(real, "wb") as stream:
            stream.write(data)
        return
    try:
        _write(fd, data)
        _as_before(fd, real)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(fd)


def _as_before(fd: int, path: str) -> None:
    """Give a file the owner and permissions of the one that it is to replace, or those of a new one."""
    try:
        before = os.stat(path)
    except FileNotFoundError:
        os.umask(mask := os.umask(0))
        os.fchmod(fd, 0o666 & ~mask)
        return
    with suppress(PermissionError):
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))


class Output:
    """The file of -o: a regular file is replaced by `close`, anything else is written at once.

    :param path: a file, /dev/stdout and its like, a FIFO, a device
    :raises PerfexError: it cannot be written
    """

    def __init__(self, path: Path) -> None:
        self._path, self._parts, self._fd = path, list[str](), -1
        try:
            self._open()
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            raise PerfexError(f"{path}: {getattr(error, 'strerror', None) or error}") from None

    def _open(self) -> None:
        number = _descriptor(self._path)
        if number is not None:
            self._fd = os.dup(number)
            return
        try:
            kind = os.stat(self._path).st_mode
        except FileNotFoundError:
            real = os.path.realpath(self._path)
            os.close(os.open(real, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))  # fails with the reason
            os.unlink(real)
            return
        fd = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)  # waits for the reader of a FIFO, as a shell does
        if stat.S_ISREG(kind):
            os.close(fd)
        else:
            self._fd = fd

    def write(self, text: str) -> None:
        """Write at once, or keep the text for `close`.

        :raises OSError: it cannot be written
        """
        if self._fd < 0:
            self._parts.append(text)
        else:
            _write(self._fd, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Complete the report: replace the file.

        :raises OSError: it cannot be written
        """
        if self._fd < 0:
            save(self._path, "".join(self._parts))
        else:
            os.close(self._fd)
