"""The valgrind of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

from pypfm.errors import shown
from pypfm.perfex.model import PerfexError

__all__ = ["find", "version"]

_PACKAGE = "valgrind is not installed; it is in the package valgrind (Debian, Ubuntu: apt-get install valgrind)"


def find(program: str = "valgrind") -> str:
    """Return the path of valgrind or of a program that comes with it.

    :raises PerfexError: not installed, names the package
    """
    path = shutil.which(program)
    if path is None:
        raise PerfexError(_PACKAGE)
    # What Debian has in its place is a script that changes the environment of the command.
    return shutil.which(f"{path}.bin") or path


def version() -> str:
    """Return the version of valgrind, such as 3.19.0.

    :raises PerfexError: not installed, or it does not run
    """
    return _version(find())


@cache
def _version(path: str) -> str:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False,
                                timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise PerfexError(f"valgrind does not run: {error}") from None
    match = re.match(r"valgrind-(\d+\.\d+\S*)", answer.stdout)
    if not match:
        raise PerfexError(f"valgrind does not run: {shown((answer.stderr or answer.stdout).strip())}")
    return match[1]
