"""The library of --library is loaded and initialised in a process of its own, before that is done in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

from pypfm.errors import LibraryError, PfmError, named

__all__ = ["begin", "tried"]

_LONGEST = 10  # seconds
# Not "-m": that would look for modules in the current directory first.
_PROGRAM = ("import sys; sys.path[:] = sys.argv[3:];"
            " from pypfm.cli._trial import begin; begin(sys.argv[1], int(sys.argv[2]))")


def tried(path: str) -> None:
    """Load and initialise a library in a process of its own.

    :raises LibraryError: the process does not live through it; says how it ended
    """
    ours, theirs = os.pipe()
    with open(ours, "rb", buffering=0) as channel:
        with open(theirs, "wb"):
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, path, str(theirs), *sys.path], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs])
        status = _ended(process)
        os.set_blocking(ours, False)  # what the library has left behind may hold the other end
        if status == 0 and channel.read(1):
            return
    from pypfm.conform.worker.children import how  # not for libraries that are in order
    ended = how(status)
    limit = f" ({_LONGEST} s)" if ended["hang"] else ""
    raise LibraryError(f"{named(path)} is not used: loaded and initialised in a process of its own:"
                       f" {ended['ended']}{limit}")


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """Return the status of the process, as waitpid(2) has it; None: it had to be killed."""
    try:
        code = process.wait(_LONGEST)
    except subprocess.TimeoutExpired:
        from pypfm.conform.worker.children import end_tree
        end_tree(process.pid)
        process.wait()
        return None
    return code << 8 if code >= 0 else -code


def begin(library: str, channel: int) -> None:
    """Load and initialise the library, and say so: the work of the process.

    :param channel: a descriptor, on which a byte says that it is done, or that the library is refused in words
    """
    import signal

    from pypfm.perf.foreign import foreign_pmus
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler waits for the library
    signal.alarm(2 * _LONGEST)  # nobody may wait for this process any longer
    with suppress(PfmError):  # which is said by whoever loads it next
        foreign_pmus(library)
    os.write(channel, b".")
    os._exit(0)
