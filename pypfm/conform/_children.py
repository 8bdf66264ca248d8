"""Children that call a library under test: bound to their parent, out of everybody's way, ended with all they left.

A library may ignore signals, close descriptors, leave processes behind: nothing here relies on it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.conform.model import Json

__all__ = ["adopt", "how", "out_of_reach", "reaped", "separate"]

_HIGH = 100  # descriptors below are what a library might take for its own
_MEMORY = 4 << 30  # bytes of address space for a child
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PATIENCE = 0.0005  # seconds between looks at a child that is about to end
_CHILDREN = Path("/proc/thread-self/children")


# ---- the parent -------------------------------------------------------------------

def adopt() -> None:
    """Be the parent of all that a child leaves behind; leave nothing when one's own parent is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _die_with_parent()


def reaped(pid: int, patience: float) -> int | None:
    """The status of a child; one that has not ended by then is killed, and the answer is None.

    :param patience: seconds
    """
    deadline = time.monotonic() + patience
    while not (ended := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)):
        if time.monotonic() >= deadline:
            break
        time.sleep(_PATIENCE)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what it left behind, too
    os.kill(pid, signal.SIGKILL)  # in case it has not yet come to a group of its own
    _, status = os.waitpid(pid, 0)
    _end_orphans()
    return status if ended else None


def _end_orphans() -> None:
    """End what a child left behind in a session of its own; this process has one child at a time."""
    with suppress(OSError):  # no such file: a kernel without it
        while orphans := _CHILDREN.read_text(encoding="ascii").split():
            for orphan in map(int, orphans):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)


def how(status: int | None) -> dict[str, Json]:
    """How a child ended, in words."""
    if status is None:
        return {"ended": "no answer in time", "hang": True}
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return {"ended": f"ended the process with status {code}", "hang": False}
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return {"ended": name, "hang": False}


# ---- the child --------------------------------------------------------------------

def _die_with_parent() -> None:
    """Leave nothing running when the process that wants the answers is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def separate() -> None:
    """Let what this process does from now on reach nobody else."""
    os.setpgid(0, 0)
    _die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if used < _MEMORY and (most == resource.RLIM_INFINITY or most > _MEMORY):  # more with a sanitizer
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, most))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)


def out_of_reach(fd: int) -> int:
    """Another number for a descriptor, which a library does not take for its own."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(fd)
    return high
