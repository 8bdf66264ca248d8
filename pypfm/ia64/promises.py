"""Checks of promises in the manual pages that the C library does not check (check="manual").

libpfm cuts values that are wider than their register field, in a few cases covers less than the range asked for, and
loses settings.  All of that is an error here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm._c.pfm3 import lib
from pypfm.errors import Pfm3Error, PromiseError, in_hex, shown
from pypfm.ia64 import coverage
from pypfm.ia64.events import EarMode
from pypfm.ia64.models import MODELS
from pypfm.ia64.request import Etb, Ism
from pypfm.levels import parse_plm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.ia64.c_call import Resolved
    from pypfm.ia64.encoding import Encoding
    from pypfm.ia64.events import Event, Events
    from pypfm.ia64.models import Model
    from pypfm.ia64.registers import RangeCover
    from pypfm.ia64.request import AddressRange, EventRequest, Ranges, Request

__all__ = ["check_answer", "check_values"]

def _width(what: str, value: int, bits: int) -> None:
    if not 0 <= value < 1 << bits:
        size = "1 bit" if bits == 1 else f"{bits} bits"
        raise PromiseError(f"{what} is {in_hex(value)}, but its field has {size} (0 to {(1 << bits) - 1:#x})")


def _level(what: str, plm: int | str) -> None:
    _width(f"{what}: privilege level mask", parse_plm(plm), 4)


def _instruction_set(what: str, ism: int) -> None:
    if ism not in set(Ism):
        raise PromiseError(f"{what}: ism is {shown(ism)}; 0 is both, 1 IA-32, 2 IA-64")


def _used(what: str, used: int) -> None:
    if used != 1:
        raise PromiseError(f"{what}: used is {shown(used)}; the manual page knows 1")


def _flags(what: str, flags: int, known: int) -> None:
    if flags & ~known:
        raise PromiseError(
            f"{what}: flags are {in_hex(flags)}; those that have an effect: {hex(known) if known else 'none'}")


def check_values(pmu: Events, request: Request, resolved: Sequence[Resolved]) -> None:
    """Check the values of a request against their fields.

    :raises PromiseError: what the manual page does not allow
    """
    _level("default", request.plm)
    model = MODELS[pmu.name]
    for event, number, *_ in resolved:
        if event.plm or event.threshold or event.ism or event.flags:
            _check_event(event, lib.pfm3_event_at(pmu._model, number).maxincr)
            _flags(event.name, event.flags, model.event_flags)
    if not request.model_input and (not request._is_plain or any(r.uses_model for r in resolved)):
        raise PromiseError(
            "model_input is False: C would not be told of any setting but events, levels, system_wide and unavailable"
            " PMCs; leave model_input out")
    if request._is_plain:
        return
    _check_matchers(model, request)
    _check_ears(model, request)
    _check_trace_buffer(model, request)
    for ranges in (request.code, request.data):
        if ranges is not None:
            what = "code" if ranges is request.code else "data"
            _used("ranges", ranges.used)
            _flags(f"{what} ranges", ranges.flags, sum(model.range_flags.values()) if what == "code" else 0)
            for limit in ranges.limits:
                if limit.plm:
                    _level(f"range {limit}", limit.plm)
                _check_limit(limit, what)


def _check_event(event: EventRequest, maxincr: int) -> None:
    if event.plm != 0:
        _level(event.name, event.plm)
    if not 0 <= event.threshold < maxincr:
        allowed = f"it can be 0 to {maxincr - 1}, as" if maxincr > 1 else "only 0 is possible, as"
        raise PromiseError(
            f"{event.name}: the threshold is {shown(event.threshold)}; {allowed} the event occurs at most"
            f" {maxincr} {'time' if maxincr == 1 else 'times'} in a cycle")
    _instruction_set(event.name, event.ism)


def _check_limit(limit: AddressRange, what: str) -> None:
    if not (0 <= limit.start < 1 << 64 and 0 <= limit.end <= 1 << 64):
        raise PromiseError(
            f"{what} range {limit}: addresses are 0 to 2^64 - 1, and the end, which is exclusive, may be 2^64")
    if limit.start == limit.end == 0:  # for C the end of the list: it would ignore this range and all after it
        code = lib.PFMLIB_ERR_IRRINVAL if what == "code" else lib.PFMLIB_ERR_DRRINVAL
        raise Pfm3Error(code, f"{what} range {limit} is empty: leave it out")
    if limit.end == 1 << 64 and limit.start < 1 << 63:
        raise PromiseError(
            f"{what} range {limit}: four debug register pairs cover 2^58 bytes at most; give a smaller range")


def _check_matchers(model: Model, request: Request) -> None:
    bits = model.matcher_bits
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


def _check_ears(model: Model, request: Request) -> None:
    for what, ear in (("instruction EAR", request.iear), ("data EAR", request.dear)):
        if ear is None:
            continue
        _used(what, ear.used)
        _level(what, ear.plm)
        _instruction_set(what, ear.ism)
        if not model.has_alat:
            _width(f"{what}: mode", ear.mode, 1)
        bits = model.dear_bits if ear is request.dear else model.iear_bits[ear.mode == EarMode.TLB]
        _width(f"{what}: umask", ear.umask, bits)


def _check_trace_buffer(model: Model, request: Request) -> None:
    branches, ipear = request.branches, request.ipear
    if branches is not None:
        what = "ETB" if isinstance(branches, Etb) else "BTB"
        _used(what, branches.used)
        _level(what, branches.plm)
        for name, bits in model.trace_bits:
            _width(f"{what}: {name}", getattr(branches, name), bits)
    if ipear is not None:
        _used("IP-EAR", ipear.used)
        _level("IP-EAR", ipear.plm)
        _width("IP-EAR: delay", ipear.delay, 8)


def check_answer(pmu: Events, request: Request, resolved: Sequence[Resolved], encoding: Encoding) -> None:
    """Check that the registers do what was asked for.

    :raises PromiseError: a setting is lost, or the debug registers would miss a part of a range
    """
    model = MODELS[encoding.pmu]
    if len(encoding.pmcs) > len(resolved):  # else there are counters alone
        _check_implied(pmu, request, resolved)
        if not pmu.corrected and any(r.num in model.constants for r in encoding.pmcs):
            raise PromiseError(
                "libpfm 3.10 loses the settings of the branch trace buffer: it writes 12 into PMC12, with which no"
                " branch is recorded; Itanium(corrected=True), or --corrected, writes the right value")
    if model.drange is None and request.data is not None:
        _check_data_ear(model, encoding)
    for what, ranges, cover in (("code", request.code, encoding.irange), ("data", request.data, encoding.drange)):
        if ranges is not None and cover is not None:
            _check_cover(model, what, ranges, cover)


def _check_data_ear(model: Model, encoding: Encoding) -> None:
    """Check PMC11 of Itanium, which belongs to the data EAR and to the data ranges."""
    found = [r for r in encoding.pmcs if r.num == model.dear]
    if len(found) == 1 and not found[0].fields["pt"]:
        return
    what = "write PMC11 twice" if len(found) > 1 else "let PMC11 ignore the ranges (pt = 1)"
    raise PromiseError(f"data ranges and the data EAR together would {what}: measure an event of the data EAR and"
                       " give its settings, too; or Itanium(corrected=True), or --corrected, which writes it rightly")


# What an event sets up if nothing is said of it: the part of a request, and its name.
_IMPLIED = {"iear": "instruction EAR", "dear": "data EAR", "branches": "branch trace buffer"}


def _check_implied(pmu: Events, request: Request, resolved: Sequence[Resolved]) -> None:
    """Check the EARs and the trace buffer that events set up: each has one setting, at the default levels."""
    first: dict[str, Event] = {}
    for wanted, number, *_ in resolved:
        event = pmu.at(number)
        part = "branches" if event.is_branch else "iear" if event.is_iear else "dear" if event.is_dear else ""
        if not part or getattr(request, part) is not None:
            continue
        what, settings = _IMPLIED[part], f"settings of the {_IMPLIED[part]} ({_keyword(pmu, part)})"
        if wanted.plm and parse_plm(wanted.plm) != parse_plm(request.plm):
            raise PromiseError(
                f"{event.name} sets up the {what}, which would record at the default levels and not at those of the"
                f" event: set the default (plm), or give {settings}")
        other = first.setdefault(part, event)
        if (other.ear_mode, other.umask) != (event.ear_mode, event.umask):
            raise PromiseError(
                f"{other.name} and {event.name}: there is one {what}, which records what one of them asks for: measure"
                f" one at a time, or give {settings}")


def _keyword(pmu: Events, part: str) -> str:
    """Return the name of encode()'s argument for a part of a request."""
    return part if part != "branches" else "btb" if MODELS[pmu.name].ipear is None else "etb"


def _check_cover(model: Model, what: str, ranges: Ranges, cover: RangeCover) -> None:
    blocks = coverage.blocks(cover.registers, cover.fine)
    for limit in ranges.limits:
        if not coverage.covers(blocks, limit):
            raise PromiseError(f"{what} range {limit}: the debug registers left for it cover less;"
                               " give it first, align it, or split the request")
        page = model.fine_page
        if cover.fine and limit.start // page != (limit.end - 1) // page:
            raise PromiseError(f"{what} range {limit}: fine mode holds ranges inside one page of {page // 1024} KB;"
                               " use no_fine")
