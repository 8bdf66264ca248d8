"""Which backend counts: the one that was asked for, or the one that can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pypfm.perfex.model import Backend, PerfexError, Request

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NAMES", "Choice", "choose"]

Choice = Literal["auto", "perf", "valgrind"]
NAMES: tuple[Choice, ...] = ("auto", "perf", "valgrind")


def _perf() -> Backend:
    from pypfm.perfex.perf import PerfBackend
    return PerfBackend()


def _valgrind() -> Backend:
    try:
        from pypfm.perfex.valgrind import ValgrindBackend
    except ModuleNotFoundError as error:
        raise PerfexError(f"no valgrind backend: {error}") from None
    return ValgrindBackend()


_MAKERS: dict[str, Callable[[], Backend]] = {"perf": _perf, "valgrind": _valgrind}


def choose(name: Choice, request: Request) -> tuple[Backend, str]:
    """The backend, and why this one.

    :param name: --backend
    :raises PerfexError: it is not to be had, or it cannot serve the request
    """
    if name == "auto":
        name, why = _automatic(request)
    else:
        why = f"--backend {name}"
    backend = _MAKERS[name]()
    backend.check(request)
    return backend, why


def _automatic(request: Request) -> tuple[Literal["perf", "valgrind"], str]:
    """perf where the kernel offers hardware counters, else a simulation."""
    if request.perf_table is not None:
        return "perf", "a table of perf events is given"
    from pypfm._counting import reason
    from pypfm.perfex.perf import offers_hardware
    if code := offers_hardware():
        return "valgrind", f"a simulation; perf: {reason(code)}"
    return "perf", "the kernel offers hardware counters"
