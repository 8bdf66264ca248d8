"""From a request to its registers: event numbers, promises of the manual page, the call of C, its answer."""

from __future__ import annotations

from collections.abc import Sized
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_iterable
from pypfm.errors import Pfm3Error, Pfm3EventNotFoundError
from pypfm.ia64 import coverage, diagnose, promises
from pypfm.ia64.c_call import Resolved, dispatch, moved
from pypfm.ia64.corrected import corrected
from pypfm.ia64.encoding import Encoding
from pypfm.ia64.events import Event, table
from pypfm.ia64.models import MODELS
from pypfm.ia64.registers import CoveredRange, DataRegister, DebugRegister, RangeCover, Register
from pypfm.ia64.request import EventRequest, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pypfm.ia64.c_call import Outcome
    from pypfm.ia64.events import Events
    from pypfm.ia64.request import Ranges

__all__ = ["encode"]


@lru_cache(maxsize=1024)
def _by_name(pmu: str, text: str) -> Resolved:
    """Resolve an event by its name alone: that is the same in all encodings."""
    return _resolve(table(pmu), EventRequest(text))


_data_register = cache(DataRegister)  # a PMD is the same in all encodings


def encode(pmu: Events, events: Iterable[str | Event | EventRequest], asked: Mapping[str, Any], *,
           check: bool) -> Encoding:
    """Encode a request.

    :param asked: the rest of it, by the names of `Request`; what has its default may be left out
    :param check: whether what the manual page promises is checked
    :raises Pfm3Error: it cannot be encoded; the message says which part of it is at fault
    """
    resolved = [_by_name(pmu.name, event) if type(event) is str else _resolve(pmu, event) for event in _limited(events)]
    request = _request(pmu, asked, resolved)
    if check:
        promises.check_values(pmu, request, resolved)
    outcome = dispatch(pmu, request, resolved)
    if outcome.ret:
        raise diagnose.error(pmu, request, resolved, outcome.ret)
    encoding = _read(pmu, request, outcome)
    if pmu.corrected:
        encoding = corrected(request, encoding)
    if check:
        promises.check_answer(pmu, request, resolved, encoding)
    return encoding


def _limited(events: Iterable[str | Event | EventRequest]) -> tuple[str | Event | EventRequest, ...]:
    """Return the events of a request; no more are read than it can hold."""
    taken = tuple(islice(expect_iterable(events, "events"), lib.PFMLIB_MAX_PMCS))
    if len(taken) == lib.PFMLIB_MAX_PMCS:
        count = len(events) if isinstance(events, Sized) else "too many"
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"{count} events; a request holds fewer than {lib.PFMLIB_MAX_PMCS}")
    return taken


def _resolve(pmu: Events, item: str | Event | EventRequest) -> Resolved:
    """Resolve a request for an event to numbers."""
    wanted = item if isinstance(item, EventRequest) else EventRequest(item)
    event = wanted.event
    if isinstance(event, Event) and event.pmu != pmu.name:
        raise Pfm3EventNotFoundError(lib.PFMLIB_ERR_NOTFOUND,
            f"{event.name} is an event of {event.pmu}, not of {pmu.name}", "pfm_find_event")
    name, colon, masks = (event if isinstance(event, str) else event.name).partition(":")
    index = pmu.index(name)
    if not colon and not wanted.unit_masks:
        return Resolved(wanted, index, wanted.uses_model)
    most = lib.PFMLIB_MAX_MASKS_PER_EVENT
    tokens: list[int | str] = [*(masks.split(":") if colon else []), *islice(wanted.unit_masks, most + 1)]
    if len(tokens) > most:
        raise Pfm3Error(lib.PFMLIB_ERR_UMASK,
            f"{pmu.at(index).name}: too many unit masks; at most {most} fit", "pfm_find_full_event")
    return Resolved(wanted, index, wanted.uses_model, tuple(pmu.mask_index(pmu.at(index), token) for token in tokens))


def _request(pmu: Events, asked: Mapping[str, Any], resolved: Sequence[Resolved]) -> Request:
    """Make the request, and decide which of the model's structures are passed."""
    request = Request._of(**asked, events=tuple([r.wanted for r in resolved]))
    uses_model = not request._is_plain or any(r.uses_model for r in resolved)
    held = vars(request)
    if not MODELS[pmu.name].has_structures:
        if uses_model:
            raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
                f"{pmu.name} has no model-specific settings: of an event only its privilege levels,"
                " of a request no ranges, matchers, EARs or trace buffer")
        held["model_input"] = held["model_output"] = False
    if request.model_input is None:
        held["model_input"] = uses_model
    if request.model_output is None:
        held["model_output"] = request.code is not None or request.data is not None
    return request


def _read(pmu: Events, request: Request, outcome: Outcome) -> Encoding:
    """Read the encoding that a successful call has written."""
    encoding, model = outcome.encoding, MODELS[pmu.name]
    answer = encoding.answer
    pmcs = tuple([Register._of(pmu=pmu.name, num=r.reg_num, value=r.reg_value, addr=r.reg_addr, alt_addr=r.reg_alt_addr)
                  for r in encoding.pmcs[0:answer.pmc_count]])
    pmds = tuple([_data_register(r.reg_num, r.reg_addr, r.reg_alt_addr) for r in encoding.pmds[0:answer.pmd_count]])
    if not request.model_output:
        return Encoding._of(pmu=pmu.name, pmcs=pmcs, pmds=pmds, irange=None, drange=None)
    fine = bool(model.fine_page) and any(r.num == model.irange and r.value >> 13 & 1 for r in pmcs)
    irange, drange = [
        None if ranges is None else _read_cover(registers, kind, ranges, fine_mode, pairs)
        for registers, kind, ranges, fine_mode, pairs in (
            (answer.code, "IBR", request.code, fine, answer.code_pairs),
            (answer.data, "DBR", request.data, False, answer.data_pairs))]
    return Encoding._of(pmu=pmu.name, pmcs=pmcs, pmds=pmds, irange=irange, drange=drange)


def _read_cover(written: Any, kind: str, ranges: Ranges, fine: bool, pairs: Sequence[int]) -> RangeCover:
    """Read the debug registers of the ranges.

    :param pairs: how many of them each range took
    """
    infos = tuple((offsets.start, offsets.end) for offsets in written.offsets)
    registers: list[DebugRegister] = []
    found: list[CoveredRange] = []
    for limit, count in zip(ranges.limits, pairs, strict=False):
        move = moved(limit)
        own = [DebugRegister._of(kind=kind, num=r.reg_num, value=r.reg_value if r.reg_num % 2 else r.reg_value ^ move,
                                addr=r.reg_addr, alt_addr=r.reg_alt_addr)
               for r in written.regs[len(registers):len(registers) + 2 * count]]
        registers += own
        if own:  # after (0, 0), which ends C's list, ranges have none
            found.append(coverage.covered(coverage.blocks(own, fine), limit))
    return RangeCover._of(registers=tuple(registers), ranges=tuple(found), fine=fine, infos=infos)
