"""A request that gives registers again.

Registers say less than the request that they came from: values were cut, ranges rounded, EAR
events lost their filters.  Any request with the same registers will do.  What the registers
leave open is tried, the likely first, and the encoder is the judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import TYPE_CHECKING

from pypfm._c.pfm3 import lib
from pypfm.common.in_notebooks import Tabled
from pypfm.errors import DecodeError, Pfm3Error
from pypfm.ia64 import candidates, restoring
from pypfm.ia64.decode.reencoding_ranges import code_ranges, data_ranges, level
from pypfm.ia64.encoding import Encoding
from pypfm.ia64.events import EarMode, table
from pypfm.ia64.models import MODELS
from pypfm.ia64.pmu import PMUS, Itanium, pmu_of
from pypfm.ia64.request import Btb, Ear, Etb, EventRequest, IpEar, ItaniumBtb, OpcodeMatch, Request

if TYPE_CHECKING:
    from pypfm.ia64.events import Event
    from pypfm.ia64.pmu import Pmu
    from pypfm.ia64.register_set import RegisterSet

__all__ = ["Reencoded", "reencode"]

# Values and addresses by register name; a PMD to read has none.
Values = dict[str, tuple[int, int]]

_MOST_TRIES = 5000


@dataclass(frozen=True)
class Reencoded(Tabled):
    """A request and the registers that it gives.

    :ivar pmu: the PMU to ask; an Itanium 2 as if detected, if the registers need its workaround
    :ivar request: for `Pmu.encode_request`, with check="reference"
    """

    pmu: Pmu
    request: Request
    encoding: Encoding


def reencode(given: RegisterSet) -> Reencoded:
    """Find a request that gives these registers again.

    :raises DecodeError: there is none: no encoder makes these registers
    """
    for num in given.counters:
        if not candidates.counter_events(given.pmu, given.fields(num)):
            raise DecodeError(f"no request gives these registers: no event has the code and unit mask of PMC{num}")
    wanted = _values(Encoding(given.pmu, *restoring.restore(given)))
    first = ""
    for request, pmu in islice(_requests(given), _MOST_TRIES):
        found = _attempt(pmu, request, wanted)
        if isinstance(found, Reencoded):
            # The other counters are ruled out only where they have to be.
            shorter = _attempt(pmu, replace(request, unavailable_pmcs=()), wanted)
            return shorter if isinstance(shorter, Reencoded) else found
        first = first or found
    raise DecodeError(f"no request gives these registers: {first or 'a pair of debug registers is missing'}")


def _like_detected(pmu: str) -> int | None:
    """Return CPUID register 3 of a processor that is treated in another way when it is detected."""
    model = table(pmu)._model
    return int(model.family) << 24 if model.has_fine_mode_bug else None


def _attempt(pmu: Pmu, request: Request, wanted: Values) -> Reencoded | str:
    """Encode a request; if its registers differ, say what differs."""
    try:
        encoding = pmu.encode_request(request, check="reference")
    except Pfm3Error as error:
        return str(error)
    got = _values(encoding)
    return Reencoded(pmu, request, encoding) if got == wanted else _difference(got, wanted)


def _values(encoding: Encoding) -> Values:
    """Return the values that must be the same when the request is encoded again."""
    return {name: (r.value, r.addr) for name, r in encoding.registers.items()} | {
        f"PMD{r.num}": (0, 0) for r in encoding.pmds}


def _difference(got: Values, wanted: Values) -> str:
    name = next(n for n in (*wanted, *got) if got.get(n) != wanted.get(n))
    texts = [f"{v[name][0]:#x}" if name in v else "absent" for v in (got, wanted)]
    return f"{name} would be {texts[0]}, not {texts[1]}"


def _pmus(given: RegisterSet, *, detected: bool) -> list[Pmu]:
    """Return PMUs to ask; Itanium's registers may be those that it has without libpfm's errors.

    :param detected: whether the processor is to be detected
    """
    found = [pmu_of(given.pmu, _like_detected(given.pmu) if detected else None)]
    return [*found, Itanium(corrected=True)] if given.model.constants else found


def _requests(given: RegisterSet) -> Iterator[tuple[Request, Pmu]]:
    """Yield requests to try, and the PMU to ask."""
    base = _base(given)
    for choice in product(*(_choices(given, num, base) for num in given.counters)):
        events = dict(zip(given.counters, choice, strict=True))
        for order in _orders(given.pmu, events):
            for code, detected in code_ranges(given):
                for data in data_ranges(given):
                    request = replace(base, code=code, data=data)
                    rows = tuple(_event(given, num, events[num], request) for num in order)
                    for pmu in _pmus(given, detected=detected):
                        yield replace(request, events=rows), pmu


def _base(given: RegisterSet) -> Request:
    """Return the request without events and ranges."""
    model = given.model
    explicit = given.has(model.routing) if model.input_sets_routing else model.has_structures
    counters = [given.fields(num) for num in given.counters]
    settings = [given.fields(n) for n in (model.iear, model.dear, model.trace, model.ipear) if given.has(n)]
    # Without an input of the model EARs and the trace buffer are at the default levels.
    deciding = counters + settings if explicit else settings + counters
    if given.has(model.dear) and not given.uses_data_ear:  # Itanium: written for data ranges, at the default levels
        deciding.insert(0, given.fields(model.dear))
    plm = deciding[0]["plm"] if deciding else int(lib.PFM_PLM3)
    free = sorted(set(model.counters) - set(given.counters))
    request = Request(plm=level(plm), system_wide=any(f["pm"] for f in deciding), unavailable_pmcs=tuple(free),
                      model_input=explicit)
    if not explicit:
        return request
    return replace(
        request, opcode_match=(_matcher(given, 0), _matcher(given, 1)), iear=_iear(given), dear=_dear(given),
        branches=_branches(given), ipear=_ipear(given))


def _iear(given: RegisterSet) -> Ear | None:
    if not given.has(given.model.iear):
        return None
    f = given.fields(given.model.iear)
    return Ear(_iear_mode(f), f["umask"], level(f["plm"]), f.get("ism", 0))


def _iear_mode(fields: dict[str, int]) -> EarMode:
    if "tlb" in fields:
        return EarMode(fields["tlb"])
    return EarMode.CACHE if fields["ct"] == 1 else EarMode.TLB


def _dear(given: RegisterSet) -> Ear | None:
    model = given.model
    if not given.uses_data_ear or _implied(given):
        return None
    f = given.fields(model.dear)
    if "tlb" in f:
        return Ear(f["tlb"], f["umask"], level(f["plm"]), f["ism"])
    # In TLB and ALAT mode a setting with used = 1 clears the trace buffer, another leaves it alone.
    leaves = f["mode"] != EarMode.CACHE and given.value(model.trace) != 0
    return Ear(f["mode"], f["umask"], level(f["plm"]), f["ism"] if model.has_ism else 0,
               used=2 if leaves else 1)


def _implied(given: RegisterSet) -> bool:
    """Tell whether an event of Itanium has set the data EAR: only then data ranges leave it alone."""
    return bool(given.dbrs and given.fields(given.model.dear).get("pt"))


def _branches(given: RegisterSet) -> Btb | ItaniumBtb | Etb | None:
    if not _branches_wanted(given):
        return None
    model = given.model
    made = PMUS[given.pmu].branches
    if made is None or given.value(model.trace) == model.constants.get(model.trace or 0):  # the register does not say
        return None if made is None else made()
    f = given.fields(model.trace)
    return made(**{name: f["bpt" if name == "tac" else name] for name, _ in model.trace_bits}, plm=level(f["plm"]))


def _ipear(given: RegisterSet) -> IpEar | None:
    if not given.has(given.model.ipear):
        return None
    f = given.fields(given.model.ipear)
    return IpEar(f["delay"], level(f["plm"]))


def _branches_wanted(given: RegisterSet) -> bool:
    if given.to_read is not None and given.has(given.model.trace) and not given.has(given.model.ipear):
        return given.model.trace_index in given.to_read
    return restoring.records_branches(given)


def _matcher(given: RegisterSet, which: int) -> OpcodeMatch | None:
    """Return an opcode matcher, if the registers use it."""
    numbers = given.model.matchers[which]
    if numbers[-1] not in given.pmcs:
        return None
    if not given.model.has_raw_matchers:
        slots = given.fields(numbers[0])
        if not slots:
            return None
        return OpcodeMatch(given.pmcs[numbers[1]], slots["mask"], slots["m"], slots["i"], slots["f"], slots["b"])
    # PMC8 stands for itself, or for code ranges alone: then its routing bits are both 1.
    if which == 0 and (given.value(given.model.routing) or 0) & 0b101 == 0b101:
        return None
    return OpcodeMatch(value=given.pmcs[numbers[0]])


def _orders(pmu: str, events: dict[int, Event]) -> Iterator[Sequence[int]]:
    """Yield orders of events that can lead to their counters: as given, else as the assignment rules allow."""
    yield tuple(events)
    if MODELS[pmu].sorted_assignment:
        yield sorted(events, key=lambda num: _place(events, num))
    else:
        yield from permutations(sorted(events))


def _place(events: dict[int, Event], num: int) -> tuple[int, int]:
    """Return the place in the list that an event needs to get its counter, by the rules of `Model.sorted_assignment`.

    The first three L2 cache events of the first set go to 4, 5 and 8, those of the second to 6, 7
    and 9; the last L1 event goes to 5.  The rest take the lowest free counters.
    """
    event = events[num]
    if event.group == "L2":
        is_first = event.set == events[min(events)].set
        if num in ((4, 5, 8) if is_first else (6, 7, 9)):
            return (0 if is_first else 1), num
    return (3 if event.group == "L1" and num == 5 else 2), num


def _choices(given: RegisterSet, num: int, base: Request) -> list[Event]:
    """Return the events that a counter can stand for, one of each kind that makes a difference."""
    events = candidates.counter_events(given.pmu, given.fields(num))
    found: dict[object, Event] = {}
    for event in events:
        if event.ear_mode is not None and not _ear_fits(given, event, bool(base.model_input)):
            continue
        kind = (event.group, event.set, event.counters, event.is_branch, event.ear_mode, event.is_iear,
                event.umask, event.name.startswith("IA64_TAGGED"))
        found.setdefault(kind, event)
    plain_first = bool(base.model_input) and not _shares_data_ear(given)
    return sorted(found.values(), key=lambda e: e.is_ear == plain_first)


def _shares_data_ear(given: RegisterSet) -> bool:
    """Tell whether data ranges use the register of the data EAR, on Itanium."""
    return given.model.drange is None and bool(given.dbrs)


def _ear_fits(given: RegisterSet, event: Event, explicit: bool) -> bool:
    """Tell whether an EAR event can have set the EAR registers."""
    model = given.model
    num = model.iear if event.is_iear else model.dear
    if not given.has(num):
        return False
    f = given.fields(num)
    mode = _iear_mode(f) if event.is_iear else f.get("mode", f.get("tlb"))
    same = (event.ear_mode, event.umask) == (mode, f["umask"])
    if model.drange is None:  # with data ranges, an event keeps them from writing the register once more
        return event.is_dear and _shares_data_ear(given) and given.uses_data_ear and (same or not _implied(given))
    clears_trace = not event.is_iear and event.ear_mode != EarMode.CACHE and given.value(model.trace) == 0
    if explicit or clears_trace:  # the setting speaks for itself
        return clears_trace
    return same


def _event(given: RegisterSet, num: int, event: Event, request: Request) -> EventRequest:
    """Return the request for the event of a counter."""
    f = given.fields(num)
    matching = any(request.opcode_match)
    checked = ((request.code is None or event.supports_code_range)
               and (request.data is None or event.supports_data_range)
               and (not matching or event.supports_opcode_match))
    own = level(f["plm"])
    return EventRequest(event.name, plm=0 if own == request.plm else own, threshold=f.get("thres", 0),
                        ism=f["ism"] if given.model.has_ism else 0,
                        unit_masks=candidates.unit_masks(event, f), no_qualcheck=not checked)
