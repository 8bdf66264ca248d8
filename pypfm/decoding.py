"""From register values back to what they mean.

``decode("itanium2", {"PMC4": 0x1228})`` names the fields of registers and what they say together;
`Decoded.to_request` is a request that gives the same registers again.  For glm and perf:
``decode("glm", {"code": 0x5300c0})`` gives canonical event strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from pypfm.errors import DecodeError, listed, shown
from pypfm.ia64 import decode as ia64
from pypfm.ia64.models import MODELS
from pypfm.perf import decode as perf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["decode"]


@overload
def decode(pmu: Literal["itanium2", "montecito", "itanium", "gen_ia64"], registers: Mapping[str, int], *,
           etb: bool = ..., ipear: bool = ..., pmds: Iterable[int] | None = ...) -> ia64.Decoded: ...
@overload
def decode(pmu: Literal["glm", "perf"], registers: Mapping[str, int]) -> perf.Decoded: ...
@overload
def decode(pmu: str, registers: Mapping[str, int], *, etb: bool = ..., ipear: bool = ...,
           pmds: Iterable[int] | None = ...) -> ia64.Decoded | perf.Decoded: ...


def decode(pmu: str, registers: Mapping[str, int], *, etb: bool = False, ipear: bool = False,
           pmds: Iterable[int] | None = None) -> ia64.Decoded | perf.Decoded:
    """Decode register values.

    Registers that belong together are read together: give all that there are.

    :param pmu: itanium2, montecito, itanium, gen_ia64 (as if forced), glm or perf
    :param registers: values by name: PMC4, PMD48, IBR0, DBR1 ...; of glm and perf code, offcore,
        type, config, config1, exclude_user, exclude_kernel, exclude_hv
    :param etb: the trace buffer of Montecito holds branches (the default without PMC42)
    :param ipear: it holds instruction addresses
    :param pmds: numbers of the PMDs to read, if they are known: a PMC12 or PMC39 of 0 does not say
        whether the trace buffer is among them
    :raises DecodeError: the PMU has no such register, or a value does not fit
    """
    if pmu in tuple(perf.VALUES):
        return perf.decode_codes(pmu, registers)
    if pmu not in tuple(MODELS):
        raise DecodeError(f"pmu={shown(pmu)}: expected one of {listed((*MODELS, *perf.VALUES))}")
    return ia64.decode_registers(pmu, registers, etb=etb, ipear=ipear, pmds=pmds)
