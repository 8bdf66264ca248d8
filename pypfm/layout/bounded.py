"""A function called in a process of its own, with limits: for files that may be damaged, or made to hang a reader."""

from __future__ import annotations

import ctypes
import pickle
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, TypeVar, cast

from pypfm.errors import PfmError
from pypfm.layout.model import LayoutError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SECONDS", "bounded", "main"]

T = TypeVar("T")

#: What a reader may take, in seconds, if nothing else is said.
SECONDS = 120.0
_MEMORY = 4 << 30  # bytes of address space
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from pypfm.layout.bounded import main; main()"
_PR_SET_PDEATHSIG = 1


def bounded(what: str, seconds: float, function: Callable[..., T], *args: object) -> T:
    """Call a function of a module in another process.

    :param what: what it reads, for messages
    :param seconds: that it may take
    :param args: to be pickled, as is what it returns
    :raises PfmError: as the function does
    :raises LayoutError: it takes longer, takes more memory than there is for it, or crashes
    """
    try:
        done = subprocess.run([sys.executable, "-c", _PROGRAM, *sys.path], capture_output=True, timeout=seconds,
                              input=pickle.dumps((function, args)), start_new_session=True, check=False)
    except subprocess.TimeoutExpired:
        raise LayoutError(f"{what} cannot be read: it takes more than {seconds:g} s") from None
    if done.returncode:
        last = "".join(done.stderr.decode(errors="replace").splitlines()[-1:])
        raise LayoutError(
            f"{what} cannot be read: the process that read it ended with status {done.returncode}: {last[:200]}")
    result = pickle.loads(done.stdout)
    if isinstance(result, PfmError):
        raise result
    return cast("T", result)


def main() -> None:
    """Run in the other process: read the call from standard input, write the result to standard output."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    function, args = pickle.load(sys.stdin.buffer)
    limits = {resource.RLIMIT_AS: _MEMORY, resource.RLIMIT_CORE: 0}
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        result = function(*args)
    except PfmError as error:
        result = error
    sys.stdout.buffer.write(pickle.dumps(result))
