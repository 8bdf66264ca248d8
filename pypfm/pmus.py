"""The PMUs by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from pypfm.common.arguments import expect_type
from pypfm.common.pmu_names import PMUS, canonical

if TYPE_CHECKING:
    from os import PathLike

    from pypfm import ia64, perf
    from pypfm.common.pmu_names import Events3, Events4

__all__ = ["pmu"]


@overload
def pmu(name: Events3, **settings: Any) -> ia64.Pmu: ...
@overload
def pmu(name: Events4, **settings: Any) -> perf.Pmu: ...
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

    A PMU that is none of ours is that of the system's libpfm 4: ``pmu("skl")`` has ``library`` "libpfm.so.4".

    :param name: itanium2, montecito, itanium, gen_ia64, glm, perf, ita, ita2, mont, or another name of one
        (`pypfm.common.pmu_names`); of a libpfm 4 also a description, such as skylake.  In upper or lower case
    :param library: a libpfm 4 that knows the PMU, by its file or name; None: ours, and then that of the system
    :param settings: of its class: cpuid3, corrected, pal
    :raises InvalidValueError: there is no such PMU; the message says which there are, and how to get a libpfm 4 if the
        system has none
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """
    expect_type(name, str, "pmu")
    known = canonical(name)
    if library is None and known not in PMUS:
        from pypfm.perf.system import library_of  # not for programs that use our PMUs only
        library = library_of(name, PMUS)
    if library is not None:
        return _made("perf", "Pmu", name, library=library, **settings)
    home = PMUS[known]
    return _made(home.package, home.cls, *([known] if home.cls == "Pmu" else []), **settings)


def _made(package: str, cls: str, *args: Any, **settings: Any) -> Any:
    return getattr(import_module(f"pypfm.{package}"), cls)(*args, **settings)
