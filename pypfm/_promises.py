"""What the manual pages promise and the C library does not check (check="manual").

libpfm cuts values that are wider than their register field and, in a few cases,
covers less than the range asked for.  Both are errors here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm import _coverage, _registers
from pypfm._pfm3 import lib
from pypfm.errors import CoverageError, FieldWidthError, PromiseError, ThresholdError
from pypfm.request import Btb, EarMode, Etb, ItaniumBtb, parse_plm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.encoding import Encoding, RangeCover
    from pypfm.itanium import Pmu
    from pypfm.request import Ranges, Request

__all__ = ["check_answer", "check_values"]

_FINE_PAGE = {"itanium2": 4 << 10, "montecito": 64 << 10}
_FILTERS = {"tm": 2, "ptm": 2, "ppm": 2}
_TRACE_WIDTHS: dict[type, dict[str, int]] = {
    Btb: _FILTERS | {"brt": 2, "ds": 1},
    Etb: _FILTERS | {"brt": 2},
    ItaniumBtb: _FILTERS | {"tar": 1, "tac": 1, "bac": 1},
}


def _width(what: str, value: int, bits: int) -> None:
    if not 0 <= value < 1 << bits:
        size = "1 bit" if bits == 1 else f"{bits} bits"
        message = f"{what} is {value:#x}, but its field has {size} (0 to {(1 << bits) - 1:#x})"
        raise FieldWidthError(lib.PFMLIB_ERR_INVAL, message)


def _level(what: str, plm: int | str) -> None:
    if not isinstance(plm, str):
        _width(f"{what}: privilege level mask", plm, 4)
    else:
        parse_plm(plm)


def _used(what: str, used: int) -> None:
    if used != 1:
        message = f"{what}: used is {used}; the manual page knows 1"
        raise FieldWidthError(lib.PFMLIB_ERR_INVAL, message)


def check_values(pmu: Pmu, request: Request, indices: Sequence[int]) -> None:
    """Check the values of a request against their fields.

    :param indices: C event indices of the events
    :raises ThresholdError, FieldWidthError: what the manual page does not allow
    """
    _level("default", request.plm)
    for event, index in zip(request.events, indices, strict=True):
        maxincr = lib.pfm3_event_at(pmu._model, index).maxincr
        if event.plm != 0:
            _level(event.name, event.plm)
        if not 0 <= event.threshold < maxincr:
            message = (f"{event.name}: the threshold is {event.threshold}, but must be below"
                       f" the largest increment in a cycle, {maxincr} (0 to {maxincr - 1})")
            raise ThresholdError(lib.PFMLIB_ERR_INVAL, message)
        if not 0 <= event.ism <= 2:
            message = f"{event.name}: ism is {event.ism}; 0 is both, 1 IA-32, 2 IA-64"
            raise FieldWidthError(lib.PFMLIB_ERR_INVAL, message)
    _check_matchers(pmu, request)
    _check_ears(pmu, request)
    _check_trace_buffer(request)
    for ranges in (request.code, request.data):
        if ranges is not None:
            _used("ranges", ranges.used)
            for limit in ranges.limits:
                _level(f"range {limit}", limit.plm)


def _check_matchers(pmu: Pmu, request: Request) -> None:
    bits = 41 if pmu.name == "montecito" else 27
    for n, match in enumerate(request.opcode_match, 1):
        if match is None:
            continue
        what = f"opcode matcher {n}"
        _used(what, match.used)
        if match.value is not None:
            _width(f"{what}: value", match.value, 64)
            continue
        _width(f"{what}: match", match.match, bits)
        _width(f"{what}: mask", match.mask, bits)
        for slot in "mifb":
            _width(f"{what}: slot {slot}", getattr(match, slot), 1)


def _check_ears(pmu: Pmu, request: Request) -> None:
    for what, ear in (("instruction EAR", request.iear), ("data EAR", request.dear)):
        if ear is None:
            continue
        _used(what, ear.used)
        _level(what, ear.plm)
        _width(f"{what}: ism", ear.ism, 2)
        if pmu.name == "itanium":
            _width(f"{what}: mode", ear.mode, 1)
        if what == "data EAR" or pmu.name == "itanium":
            _width(f"{what}: umask", ear.umask, 4)
        else:
            _width(f"{what}: umask", ear.umask, 7 if ear.mode == EarMode.TLB else 8)


def _check_trace_buffer(request: Request) -> None:
    branches, ipear = request.branches, request.ipear
    if branches is not None:
        what = "ETB" if isinstance(branches, Etb) else "BTB"
        _used(what, branches.used)
        _level(what, branches.plm)
        for name, bits in _TRACE_WIDTHS[type(branches)].items():
            _width(f"{what}: {name}", getattr(branches, name), bits)
    if ipear is not None:
        _used("IP-EAR", ipear.used)
        _level("IP-EAR", ipear.plm)
        _width("IP-EAR: delay", ipear.delay, 8)


def check_answer(request: Request, encoding: Encoding) -> None:
    """Check that the registers do what was asked for.

    :raises PromiseError: data ranges and the data EAR would get in each other's way (Itanium)
    :raises CoverageError: the debug registers would miss a part of a range
    """
    if encoding.pmu == "itanium" and request.data is not None:
        _check_data_ear(encoding)
    for what, ranges, cover, code in (
        ("code", request.code, encoding.irange, lib.PFMLIB_ERR_IRRINVAL),
        ("data", request.data, encoding.drange, lib.PFMLIB_ERR_DRRINVAL),
    ):
        if ranges is not None and cover is not None:
            _check_cover(encoding.pmu, what, ranges, cover, code)


def _check_data_ear(encoding: Encoding) -> None:
    """Check PMC11 of Itanium, which belongs to the data EAR and to the data ranges."""
    found = [r for r in encoding.pmcs if r.num == _registers.MODELS[encoding.pmu].dear]
    if len(found) == 1 and not found[0].fields["pt"]:
        return
    what = "write PMC11 twice" if len(found) > 1 else "let PMC11 ignore the ranges (pt = 1)"
    message = (f"data ranges and the data EAR together would {what}: measure an event of the data EAR and"
               " give its settings, too")
    raise PromiseError(lib.PFMLIB_ERR_FEATCOMB, message)


def _check_cover(pmu: str, what: str, ranges: Ranges, cover: RangeCover, code: int) -> None:
    blocks = _coverage.blocks(cover.registers, cover.fine)
    for limit in ranges.limits:
        if not _coverage.covers(blocks, limit):
            message = (f"{what} range {limit}: the debug registers left for it cover less;"
                       " give it first, align it, or split the request")
            raise CoverageError(code, message)
        page = _FINE_PAGE.get(pmu, 0)
        if cover.fine and limit.start // page != (limit.end - 1) // page:
            message = (f"{what} range {limit}: fine mode holds ranges inside one page of {page // 1024} KB;"
                       " use no_fine")
            raise CoverageError(code, message)
