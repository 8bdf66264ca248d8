"""One call of the re-entrant encoder: Python request -> C structures -> Python encoding."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from pypfm import _coverage, _diagnose
from pypfm._pfm3 import ffi, lib
from pypfm.encoding import CoveredRange, DataRegister, DebugRegister, Encoding, RangeCover, Register
from pypfm.errors import CodeRangeError, DataRangeError, FieldWidthError, InvalidRequestError
from pypfm.request import Etb, parse_plm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.itanium import Pmu
    from pypfm.request import Ear, OpcodeMatch, Ranges, Request

__all__ = ["Layout", "Outcome", "dispatch", "encode", "level"]

_MAX_RANGES = 4
_REG_BITS = 8 * ffi.sizeof("pfmlib_regmask_bits_t")
_data_register = cache(DataRegister)  # a PMD is the same in all encodings
# Looked up once: to parse the name of a type costs more than to allocate it.
_INPUT, _OUTPUT, _SETTINGS = (
    ffi.typeof(name) for name in ("pfmlib_input_param_t *", "pfmlib_output_param_t *", "struct pfm3_settings *"))


@dataclass(frozen=True)
class Layout:
    """Names and numbers in which the structures of the models differ.

    :ivar tag: of the C names: pfmlib_<tag>_input_param_t, pfp_<tag>_irange; "": there are no such structures
    :ivar matchers: members of the two opcode matchers
    :ivar irange_pmc: PMC of the code ranges, whose bit 13 says fine mode; None: there is no such mode
    """

    tag: str
    matchers: tuple[str, str] = ("pmc8", "pmc9")
    irange_pmc: int | None = None

    def member(self, struct: Any, name: str) -> Any:
        """The member pfp_<tag>_<name> of a model's structure."""
        return getattr(struct, f"pfp_{self.tag}_{name}")


@dataclass
class Outcome:
    """What the C call left behind; the structures own their memory."""

    ret: int
    out: Any
    model_out: Any


def _put(struct: Any, name: str, value: int) -> None:
    """Set a field of a C structure."""
    try:
        setattr(struct, name, value)
    except OverflowError:
        message = f"{name} = {value:#x} does not fit the C field"
        raise FieldWidthError(lib.PFMLIB_ERR_INVAL, message) from None


def level(plm: int | str) -> int:
    """Privilege levels as a mask; what is wrong with them as an error of the package."""
    try:
        return parse_plm(plm)
    except ValueError as error:
        raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, str(error)) from None


def _fill_ear(struct: Any, ear: Ear) -> None:
    _put(struct, "ear_used", ear.used)
    _put(struct, "ear_mode", ear.mode & 0xFFFFFFFF)
    _put(struct, "ear_plm", level(ear.plm))
    _put(struct, "ear_umask", ear.umask)
    if ear.ism:
        if not hasattr(struct, "ear_ism"):
            message = f"ism = {ear.ism}: this PMU has no instruction set selection"
            raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message)
        _put(struct, "ear_ism", ear.ism)


def _fill_matcher(struct: Any, match: OpcodeMatch) -> None:
    _put(struct, "opcm_used", match.used)
    if hasattr(struct, "pmc_val"):
        _put(struct, "pmc_val", _raw_matcher(match) if match.value is None else match.value)
        return
    if match.value is not None:
        message = "an opcode matcher of this PMU has no raw value: give match, mask and slots"
        raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message)
    for slot in "mifb":
        _put(struct, f"opcm_{slot}", getattr(match, slot))
    _put(struct, "opcm_match", match.match)
    _put(struct, "opcm_mask", match.mask)


def _raw_matcher(match: OpcodeMatch) -> int:
    """PMC8 or PMC9 of Itanium 2 for a pattern; on Itanium the same fields have the same places."""
    reg: Any = ffi.new("pfm_ita2_pmc_reg_t *")
    fields = reg.pmc8_9_ita2_reg
    for name, value in (("match", match.match), ("mask", match.mask), ("m", match.m), ("i", match.i),
                        ("f", match.f), ("b", match.b)):
        _put(fields, f"opcm_{name}", value)
    return int(reg.pmc_val)


def _fill_ranges(struct: Any, ranges: Ranges, what: str) -> None:
    if len(ranges.limits) > _MAX_RANGES:
        cls, code = ((CodeRangeError, lib.PFMLIB_ERR_IRRTOOMANY) if what == "code"
                     else (DataRangeError, lib.PFMLIB_ERR_DRRTOOMANY))
        message = f"{len(ranges.limits)} {what} ranges; at most {_MAX_RANGES} can be given"
        raise cls(code, message)
    _put(struct, "rr_used", ranges.used)
    _put(struct, "rr_flags", ranges.flags)
    for c_limit, limit in zip(struct.rr_limits, ranges.limits, strict=False):
        _put(c_limit, "rr_start", limit.start)
        _put(c_limit, "rr_end", limit.end)
        _put(c_limit, "rr_plm", level(limit.plm))


def _fill_counters(counters: Any, request: Request) -> None:
    for counter, event in zip(counters, request.events, strict=False):
        flags = event.flags | (lib.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK if event.no_qualcheck else 0)
        _put(counter, "flags", flags)
        _put(counter, "thres", event.threshold)
        if hasattr(counter, "ism"):
            _put(counter, "ism", event.ism)
        elif event.ism:
            message = f"{event.name}: ism = {event.ism}, but this PMU has no instruction set selection"
            raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message)


def _fill_model(layout: Layout, request: Request) -> Any:
    model_in = ffi.new(f"pfmlib_{layout.tag}_input_param_t *")
    _fill_counters(layout.member(model_in, "counters"), request)
    for name, match in zip(layout.matchers, request.opcode_match, strict=True):
        if match is not None:
            _fill_matcher(layout.member(model_in, name), match)
    for name, ear in (("iear", request.iear), ("dear", request.dear)):
        if ear is not None:
            _fill_ear(layout.member(model_in, name), ear)
    for name, ranges, what in (("irange", request.code, "code"), ("drange", request.data, "data")):
        if ranges is not None:
            _fill_ranges(layout.member(model_in, name), ranges, what)
    branches = request.branches
    if branches is not None:
        prefix = "etb" if isinstance(branches, Etb) else "btb"
        struct = layout.member(model_in, prefix)
        for field in fields(branches):
            value = getattr(branches, field.name)
            _put(struct, f"{prefix}_{field.name}", level(value) if field.name == "plm" else value)
    if request.ipear is not None:
        struct = layout.member(model_in, "ipear")
        _put(struct, "ipear_used", request.ipear.used)
        _put(struct, "ipear_plm", level(request.ipear.plm))
        _put(struct, "ipear_delay", request.ipear.delay)
    return model_in


def _fill_generic(request: Request, c_events: Sequence[Any]) -> Any:
    inp: Any = ffi.new(_INPUT)
    if len(c_events) >= lib.PFMLIB_MAX_PMCS:
        message = f"{len(c_events)} events; a request holds fewer than {lib.PFMLIB_MAX_PMCS}"
        raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message)
    inp.pfp_event_count = len(c_events)
    _put(inp, "pfp_dfl_plm", request.plm)
    inp.pfp_flags = lib.PFMLIB_PFP_SYSTEMWIDE if request.system_wide else 0
    slots = inp.pfp_events
    for i, (c_event, event) in enumerate(zip(c_events, request.events, strict=True)):
        slots[i] = c_event[0]
        if event.plm != 0:
            _put(slots[i], "plm", level(event.plm))
    for pmc in request.unavailable_pmcs:
        if not 0 <= pmc < lib.PFMLIB_REG_MAX:
            message = f"unavailable PMC {pmc}: register numbers are 0 to {lib.PFMLIB_REG_MAX - 1}"
            raise InvalidRequestError(lib.PFMLIB_ERR_INVAL, message)
        inp.pfp_unavail_pmcs.bits[pmc // _REG_BITS] |= 1 << pmc % _REG_BITS
    return inp


def dispatch(pmu: Pmu, layout: Layout, request: Request, c_events: Sequence[Any]) -> Outcome:
    """Make the C call."""
    inp = _fill_generic(request, c_events)
    model_in = _fill_model(layout, request) if request.model_input else ffi.NULL
    model_out = ffi.new(f"pfmlib_{layout.tag}_output_param_t *") if request.model_output else ffi.NULL
    out = ffi.new(_OUTPUT)
    settings: Any = ffi.new(_SETTINGS)
    settings.fine_mode_bug = pmu.fine_mode_bug
    ret = lib.pfm3_dispatch(pmu._model, settings, inp, model_in, out, model_out)
    return Outcome(ret, out, model_out)


def encode(pmu: Pmu, layout: Layout, request: Request, c_events: Sequence[Any]) -> Encoding:
    """Make the C call and read its answer.

    :raises Pfm3Error: it failed; the message says which part of the request is at fault
    """
    outcome = dispatch(pmu, layout, request, c_events)
    if outcome.ret:
        raise _diagnose.error(pmu, layout, request, c_events, outcome.ret)
    out = outcome.out
    pmcs = tuple(Register(pmu.name, r.reg_num, r.reg_value, r.reg_addr, r.reg_alt_addr)
                 for r in out.pfp_pmcs[0:out.pfp_pmc_count])
    pmds = tuple(_data_register(r.reg_num, r.reg_addr, r.reg_alt_addr)
                 for r in out.pfp_pmds[0:out.pfp_pmd_count])
    fine = any(r.num == layout.irange_pmc and r.value >> 13 & 1 for r in pmcs)
    covers = {}
    for name, kind, ranges in (("irange", "IBR", request.code), ("drange", "DBR", request.data)):
        if ranges is not None and outcome.model_out:
            counts = _pairs_of_ranges(pmu, layout, request, c_events, name)
            c_rr = layout.member(outcome.model_out, name)
            covers[name] = _read_cover(c_rr, kind, ranges, fine and name == "irange", counts)
    return Encoding(pmu.name, pmcs, pmds, covers.get("irange"), covers.get("drange"))


def _pairs_of_ranges(pmu: Pmu, layout: Layout, request: Request, c_events: Sequence[Any], name: str) -> list[int]:
    """How many registers the first range uses, the first two, ... .

    The library covers ranges in order and does not say which pair is whose: the calls with fewer
    ranges tell.
    """
    which = "code" if name == "irange" else "data"
    ranges: Ranges = getattr(request, which)
    counts = []
    for n in range(1, len(ranges.limits)):
        fewer = _diagnose.with_limits(request, which, ranges.limits[:n])
        outcome = dispatch(pmu, layout, fewer, c_events)
        counts.append(int(layout.member(outcome.model_out, name).rr_nbr_used) if outcome.ret == 0 else 0)
    return counts


def _read_cover(c_rr: Any, kind: str, ranges: Ranges, fine: bool, counts: list[int]) -> RangeCover:
    registers = tuple(DebugRegister(kind, r.reg_num, r.reg_value, r.reg_addr, r.reg_alt_addr)
                      for r in c_rr.rr_br[0:c_rr.rr_nbr_used])
    infos = tuple((info.rr_soff, info.rr_eoff) for info in c_rr.rr_infos)
    found: list[CoveredRange] = []
    start = 0
    for limit, end in zip(ranges.limits, [*counts, len(registers)], strict=False):
        blocks = _coverage.blocks(registers[start:end], fine)
        if blocks:
            found.append(_coverage.covered(blocks, limit))
        start = end
    return RangeCover(registers, tuple(found), fine, infos)
