"""Keep what is built on this machine in the user's cache directory, so that it is built once for each user."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.errors import shown
from pypfm.perfex.model import PerfexError
from pypfm.perfex.opening import open_regular, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["compiled", "compiler", "is_kept", "kept"]

_SECONDS = 300  # for the compiler


def kept(kind: str, what: str, name: str, make: Callable[[Path], None]) -> Path:
    """Return the directory of something; build it if it has not been built, or has lost something since.

    :param kind: the name of a directory in our part of the cache
    :param what: what is built, for messages
    :param name: differs for whatever makes it another thing: versions, sources, compiler
    :param make: builds it in an empty directory
    :raises PerfexError: there is no place for it
    """
    made = _place(kind, what) / name
    try:
        if not _is_complete(made):
            with _locked(made.parent):
                if not _is_complete(made):
                    _make(made, make)
    except OSError as error:
        where = shown(str(error.filename or made))
        raise PerfexError(f"{where}: {error.strerror}; {what} is built there (XDG_CACHE_HOME)") from None
    return made


def is_kept(kind: str, what: str, name: str) -> bool:
    """Tell whether something has been built.

    :raises PerfexError: there is no place for it
    """
    return _is_complete(_place(kind, what) / name)


def compiler(what: str, packages: str) -> str:
    """Return the path of a C compiler.

    :param packages: those that have one, for the message
    :raises PerfexError: there is none
    """
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return path
    raise PerfexError(f"no C compiler (cc, gcc or clang), with which {what} is built once: {packages}")


def compiled(command: Sequence[str]) -> str:
    """Run a compiler; return why that failed, or nothing."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                                timeout=_SECONDS, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]}: {error}"
    if answer.returncode == 0:
        return ""
    lines = answer.stderr.strip().splitlines() or [f"{command[0]}: exit status {answer.returncode}"]
    return next((line for line in lines if "error" in line), lines[-1])


def _place(kind: str, what: str) -> Path:
    """Return our directory in the user's cache, to which nobody else can write.

    :raises PerfexError: there is none
    """
    home = os.environ.get("XDG_CACHE_HOME", "")
    place = (Path(home) if home.startswith("/") else Path("~/.cache").expanduser()) / "pypfm" / kind
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = place.stat()
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise PerfexError(f"{shown(str(place))}: {why}; {what} is built there (XDG_CACHE_HOME)") from None
    if known.st_uid != os.geteuid() or known.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PerfexError(f"{shown(str(place))}: others can write there: not a place for a program that you run;"
                          " chmod go-w, or another one in XDG_CACHE_HOME")
    return place


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Hold a lock, so that no other process builds."""
    with open_regular(place / "lock", sys.maxsize, os.O_RDWR | os.O_CREAT) as lock:  # NFS locks what can be written
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(made: Path, make: Callable[[Path], None]) -> None:
    """Build it aside, and move it to its place when it is complete."""
    aside = Path(tempfile.mkdtemp(prefix="new-", dir=made.parent))
    old = aside.with_suffix(".old")
    try:
        make(aside)
        (aside / "complete").write_bytes(_listed(aside))
        if made.exists():  # begun by a process that was killed, or damaged since; another one may use it just now
            made.rename(old)
        aside.rename(made)
    finally:
        for place in (aside, old):
            shutil.rmtree(place, ignore_errors=True)


def _is_complete(made: Path) -> bool:
    """Tell whether it has been built, and has the files that it had then."""
    try:
        listed = _listed(made)
        return read_regular(made / "complete", 2 * len(listed)) == listed
    except OSError:
        return False


def _listed(made: Path) -> bytes:
    """List the names of all that was built, with the sizes of files."""
    with os.scandir(made) as found:
        return repr(sorted((one.name, one.stat().st_size if one.is_file(follow_symlinks=False) else -1)
                           for one in found if one.name != "complete")).encode()
