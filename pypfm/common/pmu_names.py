"""The names of the PMUs: who uses each name, and the class of each PMU.

`pypfm.pmu`, `pypfm.decode`, `pypfm.ia64.pmu_of` and every ``-p`` of the command line know these names.  All but
``pmu_of`` look up others in the system's libpfm 4 (`pypfm.perf.system`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["PMUS", "Events3", "Events4", "Home", "Registers3", "Registers4", "canonical"]

# For type checkers: the names that one library alone decodes registers by, and those of its PMUs.
Registers3 = Literal["itanium2", "montecito", "itanium"]
Registers4 = Literal["glm", "goldmont", "perf"]
Events3 = Literal[Registers3, "gen_ia64"]
Events4 = Literal[Registers4, "ita", "ita2", "mont"]


class Home(NamedTuple):
    """The library and the class of a PMU.

    :ivar library: pfm3 or pfm4
    :ivar package, cls: of pypfm, and its class there
    :ivar aliases: other names; all are found in upper and lower case
    """

    library: str
    package: str
    cls: str
    aliases: tuple[str, ...] = ()


# By the name that its library has for it.  libpfm 3 and 4 both know the IA-64 processors: those of libpfm 4 have its
# short names, and gen_ia64 is in both.
PMUS = {
    "itanium2": Home("pfm3", "ia64", "Itanium2", ("itanium 2", "mckinley", "madison")),
    "montecito": Home("pfm3", "ia64", "Montecito", ("montvale",)),
    "itanium": Home("pfm3", "ia64", "Itanium", ("merced",)),
    "gen_ia64": Home("pfm3", "ia64", "GenericIA64", ("genericia64", "generic ia-64")),
    "ita": Home("pfm4", "perf", "Pmu"),
    "ita2": Home("pfm4", "perf", "Pmu"),
    "mont": Home("pfm4", "perf", "Pmu"),
    "glm": Home("pfm4", "perf", "Goldmont", ("goldmont",)),
    "perf": Home("pfm4", "perf", "Perf"),
}
_NAMES = {name: pmu for pmu, home in PMUS.items() for name in (pmu, *home.aliases)}


def canonical(name: str) -> str:
    """Return the PMU's own name for a name in upper or lower case; an unknown name is returned as it is."""
    return _NAMES.get(name.lower(), name)
