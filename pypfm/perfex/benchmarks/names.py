"""Names of code that has no object: functions of Python, as CPython names them for perf (a map of addresses)."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from contextlib import suppress

from pypfm.perfex.opening import open_regular
from pypfm.perfex.profile import UNKNOWN, Function, Profile, added

__all__ = ["MAPS", "PYTHON", "Names", "forget", "taken"]

#: The object of functions of Python.
PYTHON = "Python"
_OWN = "/pypfm/perfex/benchmarks/inside.py"  # what calls a benchmark
_UNKNOWN = Function(UNKNOWN, UNKNOWN, UNKNOWN)
#: Where CPython leaves maps.
MAPS = "/tmp"
_LARGEST = 256 << 20  # bytes of a map
_ROW = re.compile("(?:0x)?([0-9a-f]{1,16}) (?:0x)?([0-9a-f]{1,8}) (.+)")


def _map_of(pid: int) -> str:
    """Return the file in which CPython names its functions; anybody can guess it, and put something there."""
    return f"{MAPS}/perf-{pid}.map"


def forget(pid: int) -> None:
    """Remove the map that a process with the same number has left: CPython would add to it."""
    with suppress(OSError):
        os.unlink(_map_of(pid))


def taken(pid: int) -> str:
    """Return the map of a process that has ended, which is removed; "": there is none, or it is not ours."""
    with suppress(OSError), open_regular(_map_of(pid), _LARGEST, os.O_NOFOLLOW) as stream:
        if os.fstat(stream.fileno()).st_uid == os.geteuid():
            forget(pid)
            return stream.read(_LARGEST).decode("utf-8", "replace")
    return ""


class Names:
    """Functions by address.

    :param text: of the map, each line with address, size and name; others are left out
    """

    def __init__(self, text: str) -> None:
        found = filter(None, map(_ROW.fullmatch, text.split("\n")))
        self._rows = sorted((int(row[1], 16), int(row[2], 16), row[3]) for row in found)
        self._begin = [row[0] for row in self._rows]

    def _function(self, function: Function) -> Function:
        """Return the function that an address is in; any other one as it is."""
        if not function.name.startswith("0x") or function.object != UNKNOWN:
            return function
        address = int(function.name, 16)
        at = bisect_right(self._begin, address) - 1
        if at < 0 or address >= self._begin[at] + self._rows[at][1]:
            return _UNKNOWN
        name, _, file = self._rows[at][2].removeprefix("py::").rpartition(":")
        return _UNKNOWN if file.endswith(_OWN) else Function(PYTHON, file, name)

    def named(self, profile: Profile) -> Profile:
        """Return the same counts, of functions with names."""
        made = Profile(profile.names)
        for place, counts in profile.code.items():
            added(made.code, place._replace(function=self._function(place.function)), counts)
        for (caller, callee), counts in profile.calls.items():
            added(made.calls, (self._function(caller), self._function(callee)), counts)
        for function, counts in profile.inclusive.items():
            if (found := self._function(function)) != _UNKNOWN:  # of which several may be active at the same time
                added(made.inclusive, found, counts)
        return made
