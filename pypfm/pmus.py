"""The PMUs by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from pypfm.common.arguments import expect_type
from pypfm.common.pmu_names import PMUS, known

if TYPE_CHECKING:
    from os import PathLike

    from pypfm import ia64, perf

__all__ = ["pmu"]


@overload
def pmu(name: Literal["itanium2", "montecito", "itanium", "gen_ia64"], **settings: Any) -> ia64.Pmu: ...
@overload
def pmu(name: Literal["glm", "goldmont", "perf", "ita", "ita2", "mont"], **settings: Any) -> perf.Pmu: ...
@overload
def pmu(name: str, *, library: str | PathLike[str], **settings: Any) -> perf.Pmu: ...
@overload
def pmu(name: str, *, library: None = ..., **settings: Any) -> Any: ...
@overload
def pmu(name: str, *, library: str | PathLike[str] | None, **settings: Any) -> Any: ...


def pmu(name: str, *, library: str | PathLike[str] | None = None, **settings: Any) -> Any:
    """Return the PMU of a name: ``pmu("goldmont")`` is ``Goldmont()``, and ``pmu("ita2")`` libpfm 4's
    ``perf.Pmu("ita2")``.

    The package of its class is loaded when it is first asked for.

    :param name: itanium2, montecito, itanium, gen_ia64, glm, perf, ita, ita2, mont, or another name of one
        (`pypfm.common.pmu_names`), in upper or lower case
    :param library: a libpfm 4 that knows the PMU, by its file or name; None: ours
    :param settings: of its class: cpuid3, corrected, pal
    :raises InvalidValueError: there is no such PMU; the message says which there are
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """
    expect_type(name, str, "pmu")
    if library is not None:
        return _made("perf", "Pmu", name, library=library, **settings)
    name = known(name)
    home = PMUS[name]
    return _made(home.package, home.cls, *([name] if home.cls == "Pmu" else []), **settings)


def _made(package: str, cls: str, *args: Any, **settings: Any) -> Any:
    return getattr(import_module(f"pypfm.{package}"), cls)(*args, **settings)
