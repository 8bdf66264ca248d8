"""From lists of events to the registers of event sets."""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_int, expect_items, expect_number, expect_size
from pypfm.errors import InvalidTypeError, InvalidValueError, Pfm3Error, UnknownKeyError, listed, nearest, shown
from pypfm.ia64.events import Event
from pypfm.ia64.models import MODELS
from pypfm.ia64.request import EventRequest, Request
from pypfm.levels import parse_plm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pypfm.ia64.encoding import Encoding
    from pypfm.ia64.pmu import Pmu

__all__ = ["EventSet", "Member", "Switching", "event_sets", "known_label", "known_set"]


_LEVELS = "k12u"
_IBR0, _DBR0 = 256, 264  # debug registers are PMCs, too
_NS = 1_000_000_000


class Member(NamedTuple):
    """An event of a set.

    :ivar label: its name among the counts
    :ivar counter: number of its PMC and PMD
    :ivar period: events from one overflow to the next; 0: it does not overflow
    """

    label: str
    counter: int
    period: int


class Switching(NamedTuple):
    """The condition on which a set makes room for the next.

    :ivar timeout: nanoseconds; 0: not after a time
    :ivar overflows: of its events with a period; 0: not after overflows
    """

    timeout: int = 0
    overflows: int = 0


class EventSet(NamedTuple):
    """A set: events that are counted together.

    :ivar number: 0, 1 ...
    """

    number: int
    members: tuple[Member, ...]
    encoding: Encoding
    switching: Switching

    @property
    def pmcs(self) -> dict[int, int]:
        """Return the values of the control registers to write, by number."""
        found = {r.num: r.value for r in self.encoding.pmcs}
        for cover, first in ((self.encoding.irange, _IBR0), (self.encoding.drange, _DBR0)):
            if cover is not None:
                found.update((first + r.num, r.value) for r in cover.registers)
        return found

    @property
    def buffers(self) -> tuple[int, ...]:
        """Return the data registers that are no counters: those of the EARs and the trace buffer."""
        counters = MODELS[self.encoding.pmu].counters
        return tuple(sorted(r.num for r in self.encoding.pmds if r.num not in counters))

    def sampled(self, member: Member) -> tuple[int, ...]:
        """Return the data registers to record at an overflow of an event: counters of the others, and the buffers."""
        others = (m.counter for m in self.members if m.counter != member.counter and not m.period)
        return tuple(sorted((*others, *self.buffers)))

    def reset(self) -> tuple[int, ...]:
        """Return the data registers to clear at each overflow: the index of the trace buffer, to begin anew."""
        index = MODELS[self.encoding.pmu].trace_index
        return (index,) if index in self.buffers else ()


class _Named(NamedTuple):
    """An event under its names: as the user gave it, and, if that is ambiguous, in full."""

    short: str
    full: str
    counter: int


def event_sets(pmu: Pmu, events: object, *, plm: int | str, system_wide: bool, period: object = None,
               timeout: object = None, overflows: object = None) -> list[EventSet]:
    """Make sets of the events that a user gives.

    :raises PfmError: it cannot be counted; the message says why
    """
    requests = [_request(given, plm, system_wide) for given in _split(events)]
    encodings = [_encoded(pmu, request) for request in requests]
    named = [_named(pmu, request, encoding) for request, encoding in zip(requests, encodings, strict=True)]
    labels = _labels(named)
    periods = _periods(period, labels)
    found = []
    for number, (encoding, names, of_set) in enumerate(zip(encodings, named, labels, strict=True)):
        members = tuple(Member(label, name.counter, periods[number].get(label, 0))
                        for label, name in zip(of_set, names, strict=True))
        found.append(EventSet(number, members, encoding, Switching()))
    switching = _switching(found, timeout, overflows)
    return [one._replace(switching=how) for one, how in zip(found, switching, strict=True)]


def _split(events: object) -> list[object]:
    """Split events into sets: a list of events is one."""
    if isinstance(events, Request):
        return [events]
    items = expect_items(events, "events")
    if not items:
        raise InvalidValueError("events: there are none; give their names, such as [\"CPU_CYCLES\"]")
    sets = [isinstance(item, (list, tuple, Request)) for item in items]
    if not any(sets):
        return [items]
    if not all(sets):
        raise InvalidTypeError("events: either events or lists of events, one for each set, not both:"
                               f" {shown(items[sets.index(False)])} is in no list")
    return list(items)


def _request(given: object, plm: int | str, system_wide: bool) -> Request:
    if isinstance(given, Request):
        request = replace(given, system_wide=system_wide)
    else:
        request = Request(plm=parse_plm(plm), events=expect_items(given, "events of a set"), system_wide=system_wide)
    if not request.events:
        raise InvalidValueError("events: a set has none")
    return request


def _encoded(pmu: Pmu, request: Request) -> Encoding:
    try:
        return pmu.encode_request(request)
    except Pfm3Error as error:
        if error.code != lib.PFMLIB_ERR_NOASSIGN:
            raise
        raise Pfm3Error(error.code, f"{error}; events that do not fit together can be counted in turn, as sets:"
                                    " events=[[...], [...]] with a timeout", error.function) from None


# ---- names ------------------------------------------------------------------------------

def _named(pmu: Pmu, request: Request, encoding: Encoding) -> list[_Named]:
    """Return the events of a set, in the order of their counters."""
    found = []
    for wanted, pmc in zip(request.events, encoding.pmcs, strict=False):
        event = pmu[wanted.name]
        text = wanted.event if isinstance(wanted.event, str) else wanted.event.name
        masks = [pmu.mask_index(event, token) for token in (*text.split(":")[1:], *wanted.unit_masks)]
        short = ":".join([event.name, *(event.unit_masks[m].name for m in dict.fromkeys(masks))])
        levels = parse_plm(wanted.plm) or parse_plm(request.plm)
        full = [short, "".join(letter for bit, letter in enumerate(_LEVELS) if levels >> bit & 1)]
        full += [f"{what}={value}" for what, value in (
            ("thres", wanted.threshold), ("ism", wanted.ism), ("flags", wanted.flags)) if value]
        found.append(_Named(short, ":".join(full), pmc.num))
    return found


def _labels(named: Sequence[Sequence[_Named]]) -> list[list[str]]:
    """Label each event: with its name alone, if no other event of its set has the same."""
    ambiguous = {short for names in named for short, count in Multiset(n.short for n in names).items() if count > 1}
    found = [[n.full if n.short in ambiguous else n.short for n in names] for names in named]
    for labels in found:
        for label, count in Multiset(labels).items():
            if count > 1:
                raise InvalidValueError(f"{label} is given twice in a set, and both would count the same: give it once,"
                                        " or as two EventRequests that differ, such as in their levels (plm)")
    return found


def known_label(key: object, labels: Iterable[str]) -> str:
    """Return the label of the event that a key names.

    :raises UnknownKeyError: it is not counted; the message says which are, and the nearest
    """
    text = key.name if isinstance(key, (Event, EventRequest)) else key
    known = list(labels)
    if isinstance(text, str):
        if text.upper() in (upper := {label.upper(): label for label in known}):
            return upper[text.upper()]
        if several := [label for label in known if label.startswith(text.upper() + ":")]:
            raise UnknownKeyError(f"{text} is counted several times: as {listed(several)}")
    near = nearest(text.upper(), known) if isinstance(text, str) else ""
    raise UnknownKeyError(f"event {shown(text)} is not counted; counted are {listed(known)}{near}")


def known_set(number: object, sets: Sequence[EventSet]) -> EventSet:
    """Find the set of a number.

    :raises UnknownKeyError: there is none
    """
    number = expect_int(number, "number of a set")
    if number not in range(len(sets)):
        raise UnknownKeyError(f"there is no set {shown(number)}; there are {len(sets)}, from 0 on")
    return sets[number]


# ---- periods, switching ------------------------------------------------------------------------

def _periods(given: object, labels: Sequence[Sequence[str]]) -> list[dict[str, int]]:
    """Return the periods of the events that have one, by set."""
    if given is None:
        return [{} for _ in labels]
    if not isinstance(given, Mapping):
        period = _period(given)
        return [{of_set[0]: period} for of_set in labels]
    everything = [label for of_set in labels for label in of_set]
    by_label = {known_label(key, everything): _period(value) for key, value in given.items()}
    if not by_label:
        raise InvalidValueError("period: no event has one")
    return [{label: by_label[label] for label in of_set if label in by_label} for of_set in labels]


def _period(value: object) -> int:
    return expect_size(value, "period", 63, lowest=1, meaning="events from one overflow to the next, ")


def _switching(sets: Sequence[EventSet], timeout: object, overflows: object) -> list[Switching]:
    """Return when each set makes room for the next."""
    if timeout is None and overflows is None:
        if len(sets) > 1:
            raise InvalidValueError(f"{len(sets)} sets, but nothing switches them: give a timeout in seconds, or"
                                    " overflows")
        return [Switching()]
    if timeout is not None and overflows is not None:
        raise InvalidValueError("timeout and overflows: sets are switched by one of them")
    if timeout is not None:
        return [Switching(timeout=_nanoseconds(one)) for one in _each(timeout, len(sets), "timeout")]
    found = [Switching(overflows=_count(one)) for one in _each(overflows, len(sets), "overflows")]
    for one, how in zip(sets, found, strict=True):
        if how.overflows and not any(m.period for m in one.members):
            raise InvalidValueError(f"overflows: no event of set {one.number} overflows; give it a period")
    return found


def _each(given: object, count: int, what: str) -> tuple[object, ...]:
    """Return one value for each set, from a value for all or one for each."""
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise InvalidValueError(f"{what}: {len(given)} values for {count} sets")
        return tuple(given)
    return (given,) * count


def _nanoseconds(seconds: object) -> int:
    value = expect_number(seconds, "timeout")
    ns = round(value * _NS) if abs(value) <= 1 << 33 else 0  # what is not a number is not less
    if ns <= 0:
        raise InvalidValueError(f"timeout {shown(seconds)}: seconds, more than 0 and at most 2^33")
    return ns


def _count(overflows: object) -> int:
    return expect_size(overflows, "overflows", 63, lowest=1, meaning="after how many the next set takes over, ")
