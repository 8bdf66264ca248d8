"""Names of code that has no object: functions of Python, as CPython names them for perf (a map of addresses)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from pypfm.perfex.profile import UNKNOWN, Function, Profile, added

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PYTHON", "Names", "map_of"]

#: The object of functions of Python.
PYTHON = "Python"
_OWN = "/pypfm/perfex/benchmarks/inside.py"  # what calls a benchmark
_UNKNOWN = Function(UNKNOWN, UNKNOWN, UNKNOWN)


def map_of(pid: int) -> str:
    """The file in which CPython names its functions."""
    return f"/tmp/perf-{pid}.map"


class Names:
    """Functions by address.

    :param path: of the map, each line with address, size and name; it need not be there
    """

    def __init__(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        rows = sorted((int(address, 16), int(size, 16), name)
                      for address, size, name in (line.split(maxsplit=2) for line in lines))
        self._begin, self._rows = [row[0] for row in rows], rows

    def _function(self, function: Function) -> Function:
        """The function that an address is in; any other one as it is."""
        if not function.name.startswith("0x") or function.object != UNKNOWN:
            return function
        address = int(function.name, 16)
        at = bisect_right(self._begin, address) - 1
        if at < 0 or address >= self._begin[at] + self._rows[at][1]:
            return _UNKNOWN
        name, _, file = self._rows[at][2].removeprefix("py::").rpartition(":")
        return _UNKNOWN if file.endswith(_OWN) else Function(PYTHON, file, name)

    def named(self, profile: Profile) -> Profile:
        """The same counts, of functions with names."""
        made = Profile(profile.names)
        for place, counts in profile.code.items():
            added(made.code, place._replace(function=self._function(place.function)), counts)
        for (caller, callee), counts in profile.calls.items():
            added(made.calls, (self._function(caller), self._function(callee)), counts)
        for function, counts in profile.inclusive.items():
            if (found := self._function(function)) != _UNKNOWN:  # of which several may be active at the same time
                added(made.inclusive, found, counts)
        return made
