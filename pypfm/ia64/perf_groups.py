"""Events of an IA-64 PMU for Linux's perf_event_open(): event strings of libpfm 4, and groups of them.

Linux's driver for these PMUs (since August 2026) gives an event that is added the lowest-numbered free counter,
whatever the processor's rules are.  So a group is right only if its first event can be measured by the first counter,
its second one by the second, and so on, and if the events may be measured together at all.  Both is asked of libpfm 3.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from pypfm import perf
from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_flag, expect_iterable
from pypfm.common.counting import attr_bytes
from pypfm.errors import Pfm3Error, Pfm3EventNotFoundError
from pypfm.ia64 import models
from pypfm.ia64.encode import encode
from pypfm.ia64.events import Event
from pypfm.ia64.request import EventRequest, Ism
from pypfm.levels import Plm, parse_plm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pypfm.ia64.events import Events

__all__ = ["encoded", "grouped"]

_MOST = 1024  # events of a list: more than any PMU has
Asked = str | Event | EventRequest
_ALWAYS = {Plm(1 << level): name for level, name in ((0, "k"), (3, "u"))}


def _text(pmu: Events, given: Asked) -> str:
    """Write a request for an event as an event string of libpfm 4.

    :raises Pfm3Error: it asks for what the driver does not set
    """
    if isinstance(given, str):
        return given
    asked = given if isinstance(given, EventRequest) else EventRequest(given)
    _check_driven(pmu, asked)
    return ":".join([*_names(pmu, asked), *_modifiers(pmu, asked)])


def _check_driven(pmu: Events, asked: EventRequest) -> None:
    """Refuse an event of another PMU, and an instruction set that the driver does not count."""
    if isinstance(asked.event, Event) and asked.event.pmu != pmu.name:
        raise Pfm3EventNotFoundError(lib.PFMLIB_ERR_NOTFOUND,
            f"{asked.name} is an event of {asked.event.pmu}, not of {pmu.name}", "pfm_find_event")
    if asked.ism not in (Ism.BOTH, Ism.IA64):
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"{asked.name}: ism={asked.ism}: Linux's driver always counts IA-64 instructions (ism=2)")


def _names(pmu: Events, asked: EventRequest) -> list[str]:
    """Return the names of an event and of its unit masks."""
    name, _, masks = (asked.event if isinstance(asked.event, str) else asked.event.name).partition(":")
    event = pmu[name]
    known = [mask.name for mask in event.unit_masks]
    tokens = [*filter(None, masks.split(":")), *asked.unit_masks]
    return [event.name, *(known[pmu.mask_index(event, token)] for token in tokens)]


def _modifiers(pmu: Events, asked: EventRequest) -> list[str]:
    """Return an event's privilege levels, threshold and threads as modifiers of libpfm 4."""
    levels = _driven(asked.plm, asked.name)
    words = [letter for level, letter in _ALWAYS.items() if level & levels]
    words += [f"thres={asked.threshold}"] if asked.threshold else []
    return words + (["all"] if asked.flags & models.MODELS[pmu.name].both_threads else [])


def _driven(plm: int | str, what: str) -> int:
    """Return privilege levels, and refuse those in which the driver does not count."""
    levels = parse_plm(plm)
    if levels & (Plm.PLM1 | Plm.PLM2):
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"{what}: privilege levels 1 and 2: Linux's driver counts in level 0 (kernel) and level 3 (user)")
    return levels


def encoded(pmu: Events, given: Asked, plm: int | str) -> perf.Encoding:
    """Encode one event as the driver takes it.

    :raises PfmError: it cannot be counted; the message says why
    """
    text = _text(pmu, given)
    made = perf.Pmu(models.MODELS[pmu.name].tag).encode(text, plm=_driven(plm, "plm"), os="perf_event")
    attr = made.attr or {}
    if attr.get("exclude_user") and attr.get("exclude_kernel"):
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"{made.event}: neither user nor kernel mode, where Linux's driver returns EINVAL: give u, k or both")
    return made


# ---- groups -----------------------------------------------------------------------------


class _Member:
    """An event of a list: as the driver takes it, and its row in libpfm 3's table."""

    def __init__(self, pmu: Events, made: perf.Encoding) -> None:
        self.made, self.event = made, pmu[made.event]
        # For libpfm 3, which wants a unit mask where an event has some; which one has no effect on the counter.
        self.asked = EventRequest(self.event, unit_masks=[mask.name for mask in self.event.unit_masks[:1]])


class _Group:
    """Events that are counted together."""

    def __init__(self, members: list[_Member], notes: str) -> None:
        self.members, self.note = members, notes


def grouped(pmu: Events, events: Iterable[Asked], *, plm: int | str, system_wide: bool) -> perf.Groups:
    """Put a list of events into groups, as few as possible.

    Events that fewest counters can measure come first; each goes into the first group that it fits into.

    :raises PfmError: an event cannot be counted by the driver, or in no group; the message says why
    """
    members = _members(pmu, events, plm)
    groups = _packed(pmu, members)
    groups.sort(key=lambda group: min(members.index(m) for m in group.members))
    made = [[m.made for m in group.members] for group in groups]
    if len(made) > 1:
        made = [[_leading(leader), *others] for leader, *others in made]
    return perf.Groups(models.MODELS[pmu.name].tag, tuple(map(tuple, made)), len(made) > 1,
                       expect_flag(system_wide, "system_wide"), tuple(group.note for group in groups if group.note))


def _members(pmu: Events, events: Iterable[Asked], plm: int | str) -> list[_Member]:
    """Encode each event of a list by itself.

    :raises PfmError: one cannot be counted, or there are none or too many
    """
    taken = list(islice(expect_iterable(events, "events"), _MOST + 1))
    if not 0 < len(taken) <= _MOST:
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"{len(taken) if not taken else f'more than {_MOST}'} events; 1 to {_MOST} can be given")
    return [_Member(pmu, encoded(pmu, event, plm)) for event in taken]


def _packed(pmu: Events, members: list[_Member]) -> list[_Group]:
    """Put events into groups: those that the first counter cannot measure each into one with others before it."""
    groups: list[_Group] = []
    rest = sorted(members, key=lambda m: len(m.event.counters))
    for late in [m for m in rest if pmu.counters[0] not in m.event.counters]:
        group = _filled(pmu, late, [m for m in rest if m is not late])
        groups.append(group)
        rest = [m for m in rest if m not in group.members]
    for member in rest:
        _place(pmu, member, groups)
    return groups


def _place(pmu: Events, member: _Member, groups: list[_Group]) -> None:
    """Put an event into the first group that it fits into, or into one of its own."""
    for group in groups:
        if len(group.members) < len(pmu.counters) and (found := _ordered(pmu, [*group.members, member])):
            group.members, group.note = found.members, found.note
            return
    alone = _ordered(pmu, [member])
    assert alone is not None  # its counters have the first
    groups.append(alone)


def _filled(pmu: Events, late: _Member, others: list[_Member]) -> _Group:
    """Return a group for an event that the first counter cannot measure: others come before it.

    :raises Pfm3Error: there are not enough
    """
    members = [late]
    for other in others:
        if len(members) < len(pmu.counters) and _assigned(pmu, [*members, other], ()) is not None:
            members.append(other)
            if found := _ordered(pmu, members):
                return found
    lowest = min(late.event.counters)
    least = lowest - pmu.counters[0]
    raise Pfm3Error(lib.PFMLIB_ERR_EVTINCOMP,
        f"{late.event.name}: PMC{lowest} counts it, where Linux's driver puts event {least + 1} of a group:"
        f" give at least {least} others that can be counted beside it, not {len(members) - 1}")


def _ordered(pmu: Events, members: list[_Member]) -> _Group | None:
    """Return the events in a valid order; None: there is none."""
    used = pmu.counters[:len(members)]
    # As libpfm 3 assigns them if it has the first counters only: its rules about counters hold, too.
    if (counters := _assigned(pmu, members, pmu.counters[len(members):])) is not None:
        return _Group([m for _, m in sorted(zip(counters, members, strict=True), key=lambda pair: pair[0])], "")
    if _assigned(pmu, members, ()) is None or (order := _matched(members, used)) is None:
        return None
    placed = ", ".join(f"{m.event.name} on PMC{counter}" for m, counter in zip(order, used, strict=True))
    return _Group(order, f"Linux's driver puts {placed}; libpfm 3 uses other counters")


def _assigned(pmu: Events, members: list[_Member], unavailable: Sequence[int]) -> list[int] | None:
    """Return the counters that libpfm 3 assigns to events; None: it cannot.

    Its rules depend on the order of events here and there: unit masks of 0 may only come last.
    """
    for order in (members, sorted(members, key=lambda m: m.event.umask == 0)):
        try:
            answer = encode(pmu, [m.asked for m in order], {
                "plm": int(Plm.PLM3), "unavailable_pmcs": tuple(unavailable)}, check=False)
        except Pfm3Error:
            continue
        counter_of = {id(m): register.num for m, register in zip(order, answer.pmcs, strict=False)}
        return [counter_of[id(m)] for m in members]
    return None


def _matched(members: list[_Member], counters: Sequence[int]) -> list[_Member] | None:
    """Return the events in an order that gives each a possible counter: a matching by augmenting paths."""
    holder: dict[int, _Member] = {}

    def seat(member: _Member, tried: set[int]) -> bool:
        for counter in member.event.counters:
            if counter in counters and counter not in tried:
                tried.add(counter)
                if counter not in holder or seat(holder[counter], tried):
                    holder[counter] = member
                    return True
        return False

    return [holder[c] for c in counters] if all(seat(m, set()) for m in members) else None


def _leading(leader: perf.Encoding) -> perf.Encoding:
    """Return the leader of one of several groups, which has the PMU for its group alone."""
    attr = {**(leader.attr or {}), "exclusive": 1}
    return replace(leader, attr=attr, attr_bytes=attr_bytes(attr))
