"""Decoding of register values: back to what they mean.

``decode("itanium2", {"PMC4": 0x1228})`` names the fields of registers and what they say together;
`Decoded.to_request` is a request that gives the same registers again.  For the PMUs of libpfm 4, ours and those of any
other library: ``decode("glm", {"code": 0x5300c0})`` gives canonical event strings, and so does
``decode("mont", {"config": 0x1200})``, or ``decode("skl", {"code": 0x5100c0})`` of the system's libpfm 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, SupportsIndex, overload

from pypfm import ia64, perf
from pypfm.common.pmu_names import PMUS, canonical
from pypfm.errors import DecodeError, InvalidTypeError
from pypfm.ia64.decode import decode_registers
from pypfm.ia64.models import MODELS, model_of
from pypfm.perf.decode import decode_codes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from pypfm.common.pmu_names import Registers3, Registers4

__all__ = ["decode"]


def _is_of_pfm4(registers: object) -> bool:
    """Tell whether values are those of libpfm 4: a PMU of both libraries has the registers of libpfm 3."""
    return isinstance(registers, Mapping) and any(
        isinstance(name, str) and name.lower().startswith(("code", "config", "exclude_", "type")) for name in registers)


@overload
def decode(pmu: ia64.Encoding, *, etb: bool = ..., ipear: bool = ...) -> ia64.Decoded: ...
@overload
def decode(pmu: perf.Encoding) -> perf.Decoded: ...
@overload
def decode(pmu: ia64.Pmu, registers: Mapping[str, SupportsIndex], *, etb: bool = ..., ipear: bool = ...,
           pmds: Iterable[int] | None = ...) -> ia64.Decoded: ...
@overload
def decode(pmu: perf.Pmu, registers: Mapping[str, SupportsIndex]) -> perf.Decoded: ...
@overload
def decode(pmu: Registers3, registers: Mapping[str, SupportsIndex], *, etb: bool = ..., ipear: bool = ...,
           pmds: Iterable[int] | None = ...) -> ia64.Decoded: ...
@overload
def decode(pmu: Registers4, registers: Mapping[str, SupportsIndex]) -> perf.Decoded: ...
@overload
def decode(pmu: str, registers: Mapping[str, SupportsIndex], *, library: str | PathLike[str]) -> perf.Decoded: ...
@overload
def decode(pmu: str, registers: Mapping[str, SupportsIndex], *, etb: bool = ..., ipear: bool = ...,
           pmds: Iterable[int] | None = ..., library: None = ...) -> ia64.Decoded | perf.Decoded: ...


def decode(pmu: str | ia64.Pmu | perf.Pmu | ia64.Encoding | perf.Encoding,
           registers: Mapping[str, SupportsIndex] | None = None, *, etb: bool = False, ipear: bool = False,
           pmds: Iterable[int] | None = None, library: str | PathLike[str] | None = None,
           ) -> ia64.Decoded | perf.Decoded:
    """Decode register values, or an encoding.

    Registers that belong together are read together: give all that there are.

    :param pmu: the name of a PMU (`pypfm.pmu`) in upper or lower case, or the PMU itself; or an encoding, which has its
        registers.  The IA-64 PMUs of libpfm 3 are as if forced; ita, ita2, mont and gen_ia64 are libpfm 4's where
        codes and configs are given, and libpfm 3's where registers are.  Of another library any PMU that it knows;
        a name that is none of ours is looked up in the system's
    :param registers: values by name: PMC4, PMD48, IBR0, DBR1 ...; or an encoding; of libpfm 4's PMUs code, code1,
        code2 (of glm offcore), or type, config, config1, config2, exclude_user, exclude_kernel, exclude_hv of
        perf_event.  What is not given is 0
    :param etb: the trace buffer of Montecito holds branches (the default without PMC42)
    :param ipear: it holds instruction addresses
    :param pmds: numbers of the PMDs to read, if they are known: a PMC12 or PMC39 of 0 does not say
        whether the trace buffer is among them
    :param library: a libpfm 4 that knows the PMU; None: ours, and then that of the system
    :raises DecodeError: there is no such PMU, the PMU has no such register, or a value does not fit
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """
    if isinstance(pmu, (ia64.Encoding, perf.Encoding)):
        if registers is not None or library is not None or pmds is not None:
            raise InvalidTypeError("decode(encoding): it has its registers and its library; give nothing else but etb"
                                   " or ipear")
        if isinstance(pmu, ia64.Encoding):
            return pmu.decode(etb=etb, ipear=ipear)
        _expect_no(etb, ipear)
        return pmu.decode()
    if registers is None:
        raise InvalidTypeError("decode(pmu, registers): the registers are missing; an encoding has its own")
    if isinstance(pmu, (ia64.Pmu, perf.Pmu)) and library is not None:
        raise InvalidTypeError("decode(pmu, ..., library=...): a PMU has its library; give its name")
    model: str | None = None
    if isinstance(pmu, perf.Pmu):
        library = pmu.library
        pmu = pmu.name
    elif isinstance(pmu, ia64.Pmu):
        pmu = model = pmu.name
    elif library is None and (known := canonical(pmu) if isinstance(pmu, str) else "") not in PMUS:
        from pypfm.perf.system import library_of  # not for programs that use our PMUs only
        library = library_of(pmu, PMUS, error=DecodeError)
    elif library is None:
        pmu = known
        model = None if (pmu not in MODELS or pmu == "gen_ia64") and _is_of_pfm4(registers) else model_of(pmu)
    if model is not None:
        return decode_registers(model, registers, etb=etb, ipear=ipear, pmds=pmds)
    _expect_no(etb, ipear, pmds is not None)
    return decode_codes(pmu, registers, library)


def _expect_no(*given: bool) -> None:
    """Refuse arguments about reading registers where codes are decoded."""
    if any(given):
        raise DecodeError("etb, ipear and pmds belong to registers of libpfm 3, not to codes")
