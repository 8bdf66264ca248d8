"""Child processes that call a library under test: they end with their parent and cannot reach other processes.

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

from pypfm.conform.worker.fence import fence

if TYPE_CHECKING:
    from pypfm.conform.model import Json

__all__ = ["NO_CHANNEL", "adopt", "end_as_programs_do", "end_orphans", "end_tree", "has_ended", "how", "orphans",
           "out_of_reach", "reaped", "separate"]

#: Exit status of a child whose way to its parent is gone.
NO_CHANNEL = 117
_HIGH = 100  # descriptors below may be taken by a library for its own
_MEMORY = 4 << 30  # bytes of address space for a child
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PATIENCE = 0.0005  # seconds between looks at a child that is about to end
_FENCED = "it signals, traces or limits another process"
_CHILDREN = Path("/proc/thread-self/children")


# ---- the parent -------------------------------------------------------------------

def adopt() -> None:
    """Become the parent of all processes that a child leaves behind; end with one's own parent."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _die_with_parent()


def has_ended(pid: int) -> bool:
    """Tell whether a child has ended; its status can still be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def reaped(pid: int, deadline: float) -> int | None:
    """End a child and all that it left behind; return its status, or None if it had to be killed.

    :param deadline: when it is, on the clock of `time.monotonic`
    """
    while not (ended := has_ended(pid)) and time.monotonic() < deadline:
        time.sleep(_PATIENCE)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what it left behind, too
    os.kill(pid, signal.SIGKILL)  # in case it has no group of its own yet
    _, status = os.waitpid(pid, 0)
    end_orphans()
    return status if ended else None


def orphans() -> list[int]:
    """Return the children of this process: its one child, and what that left behind in sessions of its own."""
    try:
        return [int(pid) for pid in _CHILDREN.read_text(encoding="ascii").split()]
    except OSError:  # a kernel without that file
        return []


def end_orphans() -> None:
    """End what a child left behind; this process has one child at a time."""
    while left := orphans():
        for orphan in left:
            os.kill(orphan, signal.SIGKILL)
            os.waitpid(orphan, 0)


def end_tree(pid: int) -> None:
    """End a process and all below it, stopped ones as well."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    tree = [pid]
    for member in tree:
        tree += [child for child, parent in parents.items() if parent == member]
    for member in tree:
        with suppress(OSError):
            os.kill(member, signal.SIGKILL)


def how(status: int | None) -> dict[str, Json]:
    """Describe how a child ended."""
    if status is None:
        return {"ended": "no answer in time", "hang": True}
    code = os.waitstatus_to_exitcode(status)
    if code == NO_CHANNEL:
        return {"ended": "closed a descriptor that is not its own", "hang": False}
    if code >= 0:
        return {"ended": f"ended the process with status {code}", "hang": False}
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return {"ended": f"SIGSYS: {_FENCED}" if name == "SIGSYS" else name, "hang": False}


# ---- the child --------------------------------------------------------------------

def _die_with_parent() -> None:
    """End with the process that wants the answers."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def separate() -> None:
    """Give this process a session of its own, limit its memory, and fence it off from other processes."""
    os.setsid()
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
    fence()


def out_of_reach(fd: int) -> int:
    """Move a descriptor to a number that a library does not take for its own."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(fd)
    return high


def end_as_programs_do(status: int) -> None:
    """End as programs do, with all that a library runs then: destructors, handlers of atexit().

    A sanitizer would look for leaks then, those of Python among them: this returns where there is one.
    """
    libc = ctypes.CDLL(None)
    if not any(hasattr(libc, name) for name in ("__asan_init", "__lsan_init", "__tsan_init")):
        libc.exit(status)
