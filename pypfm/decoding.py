"""From register values back to what they mean.

``decode("itanium2", {"PMC4": 0x1228})`` names the fields of registers and what they say together;
`Decoded.to_request` is a request that gives the same registers again.  For the PMUs of libpfm 4, ours and those of any
other library: ``decode("glm", {"code": 0x5300c0})`` gives canonical event strings, and so does
``decode("mont", {"config": 0x1200})``, or ``decode("skl", {"code": 0x5100c0}, library="libpfm.so.4")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, SupportsIndex, overload

from pypfm.errors import DecodeError, listed, shown
from pypfm.ia64 import decode as ia64
from pypfm.ia64.models import MODELS
from pypfm.perf import decode as perf

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

__all__ = ["decode"]

_PFM4 = ("glm", "perf", "ita", "ita2", "mont")


def _is_of_pfm4(registers: object) -> bool:
    """Whether values are those of libpfm 4: a PMU of both libraries has the registers of libpfm 3."""
    return isinstance(registers, Mapping) and any(
        isinstance(name, str) and name.lower().startswith(("code", "config", "exclude_", "type")) for name in registers)


@overload
def decode(pmu: Literal["itanium2", "montecito", "itanium", "gen_ia64"], registers: Mapping[str, SupportsIndex],
           *, etb: bool = ..., ipear: bool = ..., pmds: Iterable[int] | None = ...) -> ia64.Decoded: ...
@overload
def decode(pmu: Literal["glm", "perf", "ita", "ita2", "mont"],
           registers: Mapping[str, SupportsIndex]) -> perf.Decoded: ...
@overload
def decode(pmu: str, registers: Mapping[str, SupportsIndex], *, library: str | PathLike[str]) -> perf.Decoded: ...
@overload
def decode(pmu: str, registers: Mapping[str, SupportsIndex], *, etb: bool = ..., ipear: bool = ...,
           pmds: Iterable[int] | None = ..., library: None = ...) -> ia64.Decoded | perf.Decoded: ...


def decode(pmu: str, registers: Mapping[str, SupportsIndex], *, etb: bool = False, ipear: bool = False,
           pmds: Iterable[int] | None = None, library: str | PathLike[str] | None = None,
           ) -> ia64.Decoded | perf.Decoded:
    """Decode register values.

    Registers that belong together are read together: give all that there are.

    :param pmu: itanium2, montecito, itanium, gen_ia64 (as if forced); of libpfm 4 glm, perf, ita, ita2, mont, and
        gen_ia64 with its code or config; of another library any that it knows
    :param registers: values by name: PMC4, PMD48, IBR0, DBR1 ...; or an encoding; of libpfm 4's PMUs code, code1,
        code2 (of glm offcore), or type, config, config1, config2, exclude_user, exclude_kernel, exclude_hv of
        perf_event.  What is not given is 0
    :param etb: the trace buffer of Montecito holds branches (the default without PMC42)
    :param ipear: it holds instruction addresses
    :param pmds: numbers of the PMDs to read, if they are known: a PMC12 or PMC39 of 0 does not say
        whether the trace buffer is among them
    :param library: a libpfm 4 that knows the PMU; None: ours
    :raises DecodeError: the PMU has no such register, or a value does not fit
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """
    if library is not None or pmu in _PFM4 or (pmu == "gen_ia64" and _is_of_pfm4(registers)):
        return perf.decode_codes(pmu, registers, library)
    if pmu not in tuple(MODELS):
        raise DecodeError(f"pmu={shown(pmu)}: expected one of {listed((*MODELS, *_PFM4))}")
    return ia64.decode_registers(pmu, registers, etb=etb, ipear=ipear, pmds=pmds)
