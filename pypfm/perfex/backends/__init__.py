"""The choice of the backend: the one that was asked for, or one that can count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pypfm.perfex.model import SIMULATORS, PerfexError, Request

if TYPE_CHECKING:
    from pypfm.perfex.model import Backend

__all__ = ["NAMES", "Choice", "choose"]

#: What ``--backend`` takes.
Choice = Literal["auto", "perf", "valgrind", "qemu"]
#: The same, to be listed.
NAMES: tuple[Choice, ...] = ("auto", "perf", "valgrind", "qemu")
_PAIR = 2  # events that perf counts


def choose(name: Choice, request: Request) -> tuple[Backend, str]:
    """Return the backend, and why it was chosen.

    :param name: --backend
    :raises PerfexError: it is not available, or it cannot serve the request
    """
    if request.pids:
        if name in SIMULATORS:
            raise PerfexError(f"--pid: {name} cannot attach to a process; --backend perf does")
        name, why = "perf", "--pid"
    elif name == "auto":
        name, why = _automatic(request)
    else:
        why = f"--backend {name}"
    backend: Backend
    if request.pids:
        from pypfm.perfex.backends.attach import AttachBackend
        backend = AttachBackend()
    elif name == "perf":
        from pypfm.perfex.backends.perf import PerfBackend
        backend = PerfBackend()
    elif name == "qemu":
        from pypfm.perfex.backends.qemu.backend import QemuBackend
        backend = QemuBackend()
    else:
        from pypfm.perfex.backends.valgrind.backend import ValgrindBackend
        backend = ValgrindBackend()
    backend.check(request)
    return backend, why


def _automatic(request: Request) -> tuple[Literal["perf", "valgrind", "qemu"], str]:
    """Choose perf where the kernel offers hardware counters, else a simulation."""
    if request.perf_table is not None:
        return "perf", "a table of perf events is given"
    from pypfm.perfex.backends.qemu.program import abi
    if abi(request.command) is not None:
        return "qemu", "R10000 code under qemu"
    several = request.together or (len(request.events) > _PAIR and not request.multiplex)
    caches = (request.cache, request.l2) != (Request.cache, Request.l2)
    if several or request.annotate or request.fine or request.regions or caches:
        return "valgrind", "only the simulation can do what is asked for"
    from pypfm.common.counting import reason
    from pypfm.perfex.backends.perf import offers_hardware
    if code := offers_hardware():
        return "valgrind", f"a simulation; perf: {reason(code)}"
    return "perf", "the kernel offers hardware counters"
