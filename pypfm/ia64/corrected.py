"""The values that Itanium's registers would hold if libpfm 3.10 lost none of the settings
(``Itanium(corrected=True)``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pypfm.ia64.models import MODELS, layout
from pypfm.ia64.registers import Register
from pypfm.ia64.request import ItaniumBtb
from pypfm.levels import parse_plm

if TYPE_CHECKING:
    from pypfm.ia64.encoding import Encoding
    from pypfm.ia64.request import Request

__all__ = ["corrected"]


def corrected(request: Request, encoding: Encoding) -> Encoding:
    """Return the encoding with PMC12 as the trace buffer's settings say, and one PMC11."""
    model = MODELS[encoding.pmu]
    found: dict[int, Register] = {}
    for register in encoding.pmcs:
        num = register.num
        if num == model.trace:
            found[num] = Register(encoding.pmu, num, _trace_value(request), num, num)
        elif num != model.dear:
            found[num] = register
        elif num not in found:  # the second one is that of data ranges alone
            restricted = request.model_input and request.data is not None and request.data.used
            found[num] = replace(register, value=register.value & ~_bits(num, pt=1)) if restricted else register
    return replace(encoding, pmcs=tuple(found.values()))


def _trace_value(request: Request) -> int:
    branches = request.branches
    if not (isinstance(branches, ItaniumBtb) and branches.used and request.model_input):
        branches = ItaniumBtb()  # of an event
    return _bits(MODELS["itanium"].trace or 0, plm=int(parse_plm(branches.plm) or parse_plm(request.plm)),
                 pm=int(request.system_wide), tm=branches.tm, ptm=branches.ptm, ppm=branches.ppm, tar=branches.tar,
                 bpt=branches.tac, bac=branches.bac)


def _bits(num: int, **values: int) -> int:
    """Return the value of a PMC with these fields; values that are too wide are cut, as C does."""
    return sum((values.get(f.name, 0) & (1 << f.width) - 1) << f.bit for f in layout("itanium", num, 0))
