"""Reasons why a request failed: the parts without which it would succeed.

The C library returns a code alone.  Instead of stating its rules a second
time, the request is tried again with one part left out at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pypfm._c.convert import string
from pypfm._c.pfm3 import lib
from pypfm.errors import Pfm3Error
from pypfm.ia64.c_call import Resolved, dispatch
from pypfm.levels import parse_plm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.ia64.events import Event, Events
    from pypfm.ia64.request import AddressRange, Request

__all__ = ["error", "with_limits"]

# What the manual pages allow, by return code, and by the first of the words that a part at fault begins with.
_RULES = {
    "PFMLIB_ERR_INVAL": {
        "the instruction EAR": "its mode is cache or TLB",
        "the data EAR": "its mode is cache, TLB or ALAT",
        "event": "only one L2 queue cancel event can be measured at a time",
        "code range": "ranges need a model-specific output (model_output)",
        "data range": "ranges need a model-specific output (model_output)",
        "": "an EAR mode must be one of its own, and only one L2 queue cancel event can be measured at a time",
    },
    "PFMLIB_ERR_NOASSIGN": {"": "each event needs a free counter that can measure it, and every register of a feature"
                                " in use must be available"},
    "PFMLIB_ERR_FEATCOMB": {
        "the IP-EAR": "the IP-EAR fills the branch trace buffer itself",
        "opcode matcher": "the second matcher of Itanium 2 is for IA64_INST_RETIRED events, and not for a code range in"
                          " its first debug register pair",
        "code range": "outside fine mode prefetch events go with IA64_INST_RETIRED only, and on Montecito they never go"
                      " with CPU_OP_CYCLES",
        "": "a feature must be free for each event that needs it",
    },
    "PFMLIB_ERR_EVTSET": {"": "cache events of one group must belong to one set (Montecito L2D: two sets)"},
    "PFMLIB_ERR_EVTINCOMP": {"": "a data EAR in TLB or ALAT mode excludes branch recording"},
    "PFMLIB_ERR_NOTSUPP": {"": "no event can be measured for both threads of a core"},
    "PFMLIB_ERR_UMASK": {"": "an event with unit masks needs at least one, and only its own"},
    "PFMLIB_ERR_IRRTOOBIG": {"": "a code range in one debug register pair is at most 2^63 bytes"},
    "PFMLIB_ERR_IRRINVAL": {
        "code ranges": "no range is given; to invert, and to do without fine mode, takes one",
        "": "outside fine mode a range of several register pairs needs the tagged IA64_INST_RETIRED event of each pair",
    },
    "PFMLIB_ERR_IRRTOOMANY": {"": "fine mode holds two ranges (one with prefetch events); outside it only"
                                  " retired-instruction events can have more than one"},
    "PFMLIB_ERR_IRRALIGN": {"": "code ranges must start and end on bundles: multiples of 16"},
    "PFMLIB_ERR_IRRFLAGS": {"": "it sees demand fetches and prefetches: give demand_fetch, prefetch_match or both"},
    "PFMLIB_ERR_DRRINVAL": {"": "at least one data range is needed"},
    "PFMLIB_ERR_DRRTOOMANY": {"": "four debug register pairs have to cover all data ranges"},
}

_PARTS = {
    "iear": "the instruction EAR", "dear": "the data EAR", "branches": "the branch trace buffer",
    "ipear": "the IP-EAR",
}


def without(request: Request, name: str) -> Request:
    """Return a request without one of its parts."""
    changes: dict[str, Any] = {name: None}
    return replace(request, **changes)


def with_limits(request: Request, name: str, limits: tuple[AddressRange, ...]) -> Request:
    """Return a request with other code or data ranges."""
    changes: dict[str, Any] = {name: replace(getattr(request, name), limits=limits)}
    return replace(request, **changes)


def _fewer_ranges(request: Request) -> Iterator[tuple[str, Request]]:
    for name in ("code", "data"):
        ranges = getattr(request, name)
        if ranges is None:
            continue
        if len(ranges.limits) > 1:
            for i, limit in enumerate(ranges.limits):
                rest = ranges.limits[:i] + ranges.limits[i + 1:]
                yield f"{name} range {limit}", with_limits(request, name, rest)
        else:
            only = f" {ranges.limits[0]}" if ranges.limits else "s"
            yield f"{name} range{only}", without(request, name)


def _smaller_requests(
        request: Request, resolved: Sequence[Resolved]) -> Iterator[tuple[str, Request, Sequence[Resolved]]]:
    """Yield the request without one of its parts, for each part."""
    for i, event in enumerate(request.events):
        rest = replace(request, events=request.events[:i] + request.events[i + 1:])
        yield f"event {event.name}", rest, [*resolved[:i], *resolved[i + 1:]]
    for what, smaller in _fewer_ranges(request):
        yield what, smaller, resolved
    for i, match in enumerate(request.opcode_match):
        if match is not None:
            rest_match = (None, request.opcode_match[1]) if i == 0 else (request.opcode_match[0], None)
            yield f"opcode matcher {i + 1}", replace(request, opcode_match=rest_match), resolved
    for name, what in _PARTS.items():
        if getattr(request, name) is not None:
            yield what, without(request, name), resolved
    for pmc in request.unavailable_pmcs:
        left = tuple(p for p in request.unavailable_pmcs if p != pmc)
        yield f"PMC{pmc} being unavailable", replace(request, unavailable_pmcs=left), resolved


def _culprits(pmu: Events, request: Request, resolved: Sequence[Resolved]) -> list[str]:
    """Return the parts without which the request would succeed."""
    return [what for what, smaller, events in _smaller_requests(request, resolved)
            if dispatch(pmu, smaller, events).ret == 0]


# What can restrict the counting of an event: the attribute of Event, the option of `pypfm events`, words.
_QUALIFIERS = (
    ("supports_code_range", "--code-range", "a code range"),
    ("supports_data_range", "--data-range", "a data range"),
    ("supports_opcode_match", "--opcode-match", "an opcode matcher"),
)


def _unsupported(pmu: Events, request: Request, events: Sequence[Event]) -> str | None:
    """Describe which events lack which qualifiers in use; None: none does."""
    in_use = (request.code is not None and request.code.used, request.data is not None and request.data.used,
              any(match is not None and match.used for match in request.opcode_match))
    lacking: dict[tuple[str, ...], list[tuple[str, str]]] = {}  # qualifiers by the events that lack them
    for used, (supports, option, what) in zip(in_use, _QUALIFIERS, strict=True):
        names = tuple(dict.fromkeys(
            event.name for event, asked in zip(events, request.events, strict=True)
            if used and not asked.no_qualcheck and not getattr(event, supports)))
        if names:
            lacking.setdefault(names, []).append((option, what))
    if not lacking:
        return None
    texts = [f"{_listed(names)} cannot be restricted by {' or '.join(what for _, what in those)}"
             for names, those in lacking.items()]
    options = " ".join(option for those in lacking.values() for option, _ in those)
    return (f"{'; '.join(texts)}; to count all the same: {next(iter(lacking))[0]},noqual (no_qualcheck);"
            f" events that can be: pypfm events -p {pmu.name} {options}")


def _listed(names: Iterable[str]) -> str:
    """Write names as A, B and C."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _other_levels(request: Request) -> str | None:
    """Name the events with levels of their own, where the ranges forbid these; None: there are none."""
    if request.code is None and request.data is None:
        return None
    names = list(dict.fromkeys(
        event.name for event in request.events if event.plm != 0 and parse_plm(event.plm) != request.plm))
    if not names:
        return None
    return (f"{_listed(names)}: with ranges, an event cannot have privilege levels of its own; give"
            f" {'it' if len(names) == 1 else 'them'} none and set the default (plm)")


def _backwards(request: Request) -> str | None:
    """Describe the first range whose end is not after its start; None: there is none."""
    for what, ranges in (("code", request.code), ("data", request.data)):
        for limit in ranges.limits if ranges is not None and ranges.used else ():
            if limit.start >= limit.end:
                return f"{what} range {limit}: a range must start below its end, which it does not contain"
    return None


def _plain(name: str, pmu: Events, request: Request, resolved: Sequence[Resolved]) -> str | None:
    """Describe a mistake that the request itself shows, given the name of the error code; None: there is none."""
    if name == "PFMLIB_ERR_INVAL" and request.plm == 0:
        return "the default privilege level must not be 0"
    if name == "PFMLIB_ERR_FEATCOMB":
        return _unsupported(pmu, request, [pmu.at(r.number) for r in resolved]) or _other_levels(request)
    return _backwards(request) if name == "PFMLIB_ERR_IRRINVAL" else None  # of data ranges too (quirk)


def error(pmu: Events, request: Request, resolved: Sequence[Resolved], code: int) -> Pfm3Error:
    """Return the exception for a return code of the C library."""
    text = string(lib.pfm_strerror(code))
    if len(request.events) > len(pmu.counters):
        counters = f"PMC{pmu.counters[0]} to PMC{pmu.counters[-1]}"
        return Pfm3Error(code, f"{text}: {len(request.events)} events, but {pmu.name} has"
                               f" {len(pmu.counters)} counters ({counters})")
    found = Pfm3Error(code, text)
    if message := _plain(found.name, pmu, request, resolved):
        return Pfm3Error(code, message)
    parts = list(dict.fromkeys(_culprits(pmu, request, resolved)))
    rules = _RULES.get(found.name, {})
    rule = next((rule for word, rule in rules.items() if not word or any(part.startswith(word) for part in parts)), "")
    return Pfm3Error(code, f"{' / '.join(parts) if parts and rule else text}{': ' if rule else ''}{rule}")
