"""The system's libpfm 4, which knows the PMUs of other processors: Skylake, Zen, Neoverse and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.common.loaded import DEFAULT
from pypfm.common.pmu_names import PMUS
from pypfm.errors import InvalidValueError, LibraryError, listed, named, nearest, shown
from pypfm.perf.foreign import foreign_pmu, foreign_pmus

if TYPE_CHECKING:
    from collections.abc import Collection

    from pypfm.perf.foreign import ForeignPmu

__all__ = ["HOW_TO_GET", "found_or_why", "library_of"]

HOW_TO_GET = "apt-get install libpfm4 (Debian, Ubuntu) or dnf install libpfm (Fedora)"


def found_or_why(name: str, ours: Collection[str]) -> tuple[str, ForeignPmu] | str:
    """Find the system's libpfm 4, and its PMU of a name; without one, return the end of a message that says why.

    :param ours: the names that would have been right without it
    """
    called = [name for pmu in ours for name in (pmu, *(PMUS[pmu].aliases if pmu in PMUS else ())) if " " not in name]
    try:
        file, pmus = foreign_pmus(DEFAULT)
    except LibraryError as error:
        return f"; libpfm 4 knows many more, but {error} (to install it: {HOW_TO_GET}){nearest(name.lower(), called)}"
    found = foreign_pmu(file, name)
    if found is not None:
        return file, found
    names = dict.fromkeys((*called, *(pmu.name for pmu in pmus)))
    return f", or one that {named(file)} knows{nearest(name.lower(), names)}"


def library_of(name: object, ours: Collection[str], what: str = "pmu=",
               error: type[InvalidValueError] = InvalidValueError) -> str:
    """Return the libpfm 4 of the system, if it knows a PMU that is none of ours.

    :param ours: the names of those that would have been right, too
    :param what: stands before the name in a message
    :raises error: it does not; the message says which there are and the nearest, and without a library how to get one
    """
    found = found_or_why(name, ours) if isinstance(name, str) else ""
    if isinstance(found, str):
        raise error(f"{what}{shown(name)}: expected one of {listed(ours)}{found}")
    return DEFAULT
