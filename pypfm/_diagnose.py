"""Why a request failed: the parts of it without which the C library would say yes.

The C library answers with a code alone.  Instead of stating its rules a second
time, the request is tried again with one part left out at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pypfm import _dispatch
from pypfm._mirror import string
from pypfm._pfm3 import lib
from pypfm.errors import Pfm3Error, error_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.itanium import Pmu
    from pypfm.request import AddressRange, Request

__all__ = ["error", "with_limits"]

# What the manual pages allow, by return code.
_ALLOWED = {
    "PFMLIB_ERR_INVAL": "the default privilege level must not be 0, an EAR mode must be cache, TLB or (data EAR)"
                        " ALAT, and only one L2 queue cancel event can be measured at a time",
    "PFMLIB_ERR_NOASSIGN": "each event needs a free counter that can measure it, and every register"
                           " of a feature in use must be available",
    "PFMLIB_ERR_FEATCOMB": "an event must support the qualifiers in use (or carry no_qualcheck), with ranges it"
                           " must be measured at the default privilege level, and a feature must be free"
                           " for the events that need it",
    "PFMLIB_ERR_EVTSET": "cache events of one group must belong to one set (Montecito L2D: two sets)",
    "PFMLIB_ERR_EVTINCOMP": "a data EAR in TLB or ALAT mode excludes branch recording",
    "PFMLIB_ERR_NOTSUPP": "no event can be measured for both threads of a core",
    "PFMLIB_ERR_UMASK": "an event with unit masks needs at least one, and only its own",
    "PFMLIB_ERR_IRRTOOBIG": "a code range in one debug register pair is at most 2^63 bytes",
    "PFMLIB_ERR_IRRINVAL": "a range must start below its end (exclusive); a code range outside fine mode that needs"
                           " several pairs needs the tagged IA64_INST_RETIRED event of each pair",
    "PFMLIB_ERR_IRRTOOMANY": "fine mode holds two code ranges (one with prefetch events), and outside it only"
                             " retired-instruction events can have more than one",
    "PFMLIB_ERR_IRRALIGN": "code ranges must start and end on bundles: multiples of 16",
    "PFMLIB_ERR_IRRFLAGS": "an event that sees demand fetches and prefetches needs demand_fetch or prefetch_match",
    "PFMLIB_ERR_DRRINVAL": "at least one data range is needed",
    "PFMLIB_ERR_DRRTOOMANY": "four debug register pairs have to cover all data ranges",
}

_PARTS = {
    "iear": "the instruction EAR", "dear": "the data EAR", "branches": "the branch trace buffer",
    "ipear": "the IP-EAR",
}


def without(request: Request, name: str) -> Request:
    """A request without one of its parts."""
    changes: dict[str, Any] = {name: None}
    return replace(request, **changes)


def with_limits(request: Request, name: str, limits: tuple[AddressRange, ...]) -> Request:
    """A request with other code or data ranges."""
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


def _smaller_requests(request: Request, c_events: Sequence[Any]) -> Iterator[tuple[str, Request, Sequence[Any]]]:
    """The request without one of its parts, for each part."""
    for i, event in enumerate(request.events):
        rest = replace(request, events=request.events[:i] + request.events[i + 1:])
        yield f"event {event.name}", rest, [*c_events[:i], *c_events[i + 1:]]
    for what, smaller in _fewer_ranges(request):
        yield what, smaller, c_events
    for i, match in enumerate(request.opcode_match):
        if match is not None:
            rest_match = (None, request.opcode_match[1]) if i == 0 else (request.opcode_match[0], None)
            yield f"opcode matcher {i + 1}", replace(request, opcode_match=rest_match), c_events
    for name, what in _PARTS.items():
        if getattr(request, name) is not None:
            yield what, without(request, name), c_events
    for pmc in request.unavailable_pmcs:
        left = tuple(p for p in request.unavailable_pmcs if p != pmc)
        yield f"PMC{pmc} being unavailable", replace(request, unavailable_pmcs=left), c_events


def _culprits(pmu: Pmu, layout: _dispatch.Layout, request: Request, c_events: Sequence[Any]) -> list[str]:
    """Parts without which the request would succeed."""
    return [what for what, smaller, events in _smaller_requests(request, c_events)
            if _dispatch.dispatch(pmu, layout, smaller, events).ret == 0]


def error(pmu: Pmu, layout: _dispatch.Layout, request: Request, c_events: Sequence[Any], code: int) -> Pfm3Error:
    """The exception for a return code of the C library."""
    cls = error_class(code)
    text = string(lib.pfm_strerror(code))
    if len(request.events) > len(pmu.counters):
        counters = f"PMC{pmu.counters[0]} to PMC{pmu.counters[-1]}"
        return cls(code, f"{text}: {len(request.events)} events, but {pmu.name} has"
                         f" {len(pmu.counters)} counters ({counters})")
    found = cls(code, text)
    parts = _culprits(pmu, layout, request, c_events)
    where = f" ({' / '.join(dict.fromkeys(parts))})" if parts else ""
    allowed = _ALLOWED.get(found.name)
    return cls(code, f"{text}{where}{': ' + allowed if allowed else ''}")
