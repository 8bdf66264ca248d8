"""The PMUs by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pypfm import ia64, perf
from pypfm.common.arguments import expect_type
from pypfm.common.pmu_names import PMUS, canonical
from pypfm.errors import InvalidValueError, listed, nearest, shown

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["pmu"]


def pmu(name: str, *, library: str | PathLike[str] | None = None, **settings: Any) -> ia64.Pmu | perf.Pmu:
    """The PMU of a name: ``pmu("goldmont")`` is ``Goldmont()``, and ``pmu("ita2")`` libpfm 4's ``perf.Pmu("ita2")``.

    :param name: itanium2, montecito, itanium, gen_ia64, glm, perf, ita, ita2, mont, or another name of one
        (`pypfm.common.pmu_names`), in upper or lower case
    :param library: a libpfm 4 that knows the PMU, by its file or name; None: ours
    :param settings: of its class: cpuid3, corrected, pal
    :raises InvalidValueError: there is no such PMU; the message says which there are
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """
    expect_type(name, str, "pmu")
    if library is not None:
        return perf.Pmu(name, library=library, **settings)
    home = PMUS.get(canonical(name))
    if home is None:
        raise InvalidValueError(f"pmu={shown(name)}: expected one of {listed(PMUS)}{nearest(name.lower(), PMUS)}")
    cls = getattr(ia64 if home.package == "ia64" else perf, home.cls)
    found: ia64.Pmu | perf.Pmu = cls(canonical(name), **settings) if cls is perf.Pmu else cls(**settings)
    return found
