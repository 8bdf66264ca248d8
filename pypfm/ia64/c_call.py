"""One call of the re-entrant C encoder: the request as a C structure, and C's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pypfm._c.pfm3 import ffi, lib
from pypfm.errors import Pfm3Error, shown
from pypfm.ia64.models import MODELS
from pypfm.ia64.request import Etb, ItaniumBtb
from pypfm.levels import parse_plm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.ia64.events import Events
    from pypfm.ia64.models import Model
    from pypfm.ia64.request import AddressRange, Btb, Ear, EventRequest, IpEar, OpcodeMatch, Ranges, Request

__all__ = ["MAX_RANGES", "Outcome", "Resolved", "dispatch", "moved"]

MAX_RANGES = 4
_NO_UNIT_MASK = 63  # the bit of a unit mask that no model has
# Looked up once: to parse the name of a type costs more than to allocate it.
_REQUEST, _ENCODING = ffi.typeof("struct pfm3_request *"), ffi.typeof("struct pfm3_encoding *")


class Resolved(NamedTuple):
    """An event of a request: its index in C, whether it needs the model's structure, the indices of its unit masks."""

    wanted: EventRequest
    number: int
    uses_model: bool
    masks: tuple[int, ...] = ()


class Outcome(NamedTuple):
    """The result of the C call, and its structure pfm3_encoding, which owns its memory."""

    ret: int
    encoding: Any


def _put(struct: Any, name: str, value: int, what: str = "") -> None:
    """Set a field of a C structure.

    :param what: its name for the user, if that is another
    """
    try:
        setattr(struct, name, value)
    except OverflowError:
        size = 8 * ffi.sizeof(dict(ffi.typeof(struct).fields or ffi.typeof(struct).item.fields)[name].type)
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"{what or name} = {shown(value)} does not fit the C field, which has {size} bits") from None


def _fill_ear(model: Model, c_ear: Any, ear: Ear) -> None:
    _put(c_ear, "used", ear.used, "ear_used")
    _put(c_ear, "mode", ear.mode & 0xFFFFFFFF if -1 << 31 <= ear.mode < 0 else ear.mode, "ear_mode")
    _put(c_ear, "plm", parse_plm(ear.plm), "ear_plm")
    _put(c_ear, "umask", ear.umask, "ear_umask")
    if ear.ism:
        if not model.has_ism:
            raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
                f"ism = {shown(ear.ism)}: this PMU has no instruction set selection")
        _put(c_ear, "ism", ear.ism, "ear_ism")


def _fill_matcher(model: Model, c_matcher: Any, match: OpcodeMatch) -> None:
    _put(c_matcher, "used", match.used, "opcm_used")
    if model.has_raw_matchers:
        _put(c_matcher, "value", _raw_matcher(match) if match.value is None else match.value, "pmc_val")
        return
    if match.value is not None:
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            "an opcode matcher of this PMU has no raw value: give match, mask and slots")
    for name in ("m", "i", "f", "b", "match", "mask"):
        _put(c_matcher, name, getattr(match, name), f"opcm_{name}")


def _raw_matcher(match: OpcodeMatch) -> int:
    """Return PMC8 or PMC9 of Itanium 2 for a pattern; on Itanium the same fields have the same places."""
    reg: Any = ffi.new("pfm_ita2_pmc_reg_t *")
    fields = reg.pmc8_9_ita2_reg
    for name, value in (("match", match.match), ("mask", match.mask), ("m", match.m), ("i", match.i),
                        ("f", match.f), ("b", match.b)):
        _put(fields, f"opcm_{name}", value)
    return int(reg.pmc_val)


# A range that ends at 2^64 has an end that C cannot say.  What C computes from addresses is the same
# for addresses that differ in the highest bit: so such a range is moved down, and its registers back.
_MOVED = 1 << 63


def moved(limit: AddressRange) -> int:
    """Return how much lower a range is given to C than it is; the difference is one bit of the registers' addresses."""
    return _MOVED if limit.end == 2 * _MOVED and limit.start >= _MOVED else 0


def _fill_ranges(c_ranges: Any, ranges: Ranges, what: str) -> None:
    if len(ranges.limits) > MAX_RANGES:
        code = lib.PFMLIB_ERR_IRRTOOMANY if what == "code" else lib.PFMLIB_ERR_DRRTOOMANY
        raise Pfm3Error(code, f"too many {what} ranges; at most {MAX_RANGES} can be given")
    _put(c_ranges, "used", ranges.used, "rr_used")
    _put(c_ranges, "flags", ranges.flags, "rr_flags")
    for c_limit, limit in zip(c_ranges.limits, ranges.limits, strict=False):
        move = moved(limit)
        _put(c_limit, "start", limit.start - move, "rr_start")
        _put(c_limit, "end", limit.end - move, "rr_end")
        _put(c_limit, "plm", parse_plm(limit.plm), "rr_plm")


_PREDICTORS = ("tar", "tac", "bac")  # of ItaniumBtb alone; C does not look at them


def _fill_branches(c_branches: Any, branches: Btb | ItaniumBtb | Etb) -> None:
    prefix = "etb" if isinstance(branches, Etb) else "btb"
    _put(c_branches, "plm", parse_plm(branches.plm), f"{prefix}_plm")
    for name, value in vars(branches).items():
        if name in _PREDICTORS:
            _put(ffi.new("struct pfm3_branches *"), "brt", value, f"{prefix}_{name}")  # a byte all the same
        elif name != "plm":
            _put(c_branches, name, value, f"{prefix}_{name}")


def _fill_ipear(c_ipear: Any, ipear: IpEar) -> None:
    _put(c_ipear, "used", ipear.used, "ipear_used")
    _put(c_ipear, "plm", parse_plm(ipear.plm), "ipear_plm")
    _put(c_ipear, "delay", ipear.delay, "ipear_delay")


def _fill_parts(model: Model, c_request: Any, request: Request) -> None:
    """Fill the model's own structure with the parts of a request that belong there."""
    for c_matcher, match in zip(c_request.matchers, request.opcode_match, strict=True):
        if match is not None:
            _fill_matcher(model, c_matcher, match)
    if request.iear is not None:
        _fill_ear(model, c_request.iear, request.iear)
    if request.dear is not None:
        _fill_ear(model, c_request.dear, request.dear)
    if request.code is not None:
        _fill_ranges(c_request.code, request.code, "code")
    if request.data is not None:
        _fill_ranges(c_request.data, request.data, "data")
    if request.branches is not None:
        _fill_branches(c_request.branches, request.branches)
    if request.ipear is not None:
        _fill_ipear(c_request.ipear, request.ipear)


def _fill_settings(model: Model, slot: Any, event: EventRequest) -> None:
    """Fill the model's own structure with the settings of an event that belong there."""
    _put(slot, "flags", event.flags | (lib.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK if event.no_qualcheck else 0))
    _put(slot, "threshold", event.threshold, "thres")
    if event.ism:
        if not model.has_ism:
            raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
                f"{event.name}: ism = {shown(event.ism)}, but this PMU has no instruction set selection")
        _put(slot, "ism", event.ism)


def _fill_events(model: Model, slots: Any, request: Request, resolved: Sequence[Resolved]) -> None:
    for slot, (event, number, uses_model, masks) in zip(slots, resolved, strict=False):
        slot.event = number
        if event.plm != 0:
            _put(slot, "plm", parse_plm(event.plm))
        for mask in masks:
            slot.unit_masks |= 1 << min(mask, _NO_UNIT_MASK)
        if request.model_input and uses_model:
            _fill_settings(model, slot, event)


def _unavailable(pmcs: Sequence[int]) -> int:
    """Return the PMCs that must not be used as a bit mask; no model has any from 64 on."""
    found = 0
    for pmc in pmcs:
        if not 0 <= pmc < lib.PFMLIB_REG_MAX:
            raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
                f"unavailable PMC {shown(pmc)}: register numbers are 0 to {lib.PFMLIB_REG_MAX - 1}")
        found |= 1 << pmc
    return found & 0xFFFF_FFFF_FFFF_FFFF


def dispatch(pmu: Events, request: Request, resolved: Sequence[Resolved]) -> Outcome:
    """Make the C call."""
    model = MODELS[pmu.name]
    c_request: Any = ffi.new(_REQUEST)
    _put(c_request, "plm", parse_plm(request.plm), "pfp_dfl_plm")
    c_request.event_count = len(resolved)
    c_request.system_wide = request.system_wide
    if request.unavailable_pmcs:
        c_request.unavailable_pmcs = _unavailable(request.unavailable_pmcs)
    _fill_events(model, c_request.events, request, resolved)
    if request.model_input:
        c_request.has_input = True
        _fill_parts(model, c_request, request)
    c_request.has_output = request.model_output
    encoding = ffi.new(_ENCODING)
    return Outcome(lib.pfm3_encode(pmu._model, pmu._settings, c_request, encoding), encoding)
