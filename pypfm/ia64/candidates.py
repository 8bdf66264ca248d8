"""Which events a counter register of an IA-64 PMU can mean, and what the filter of an EAR is called."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pypfm.ia64.events import table

if TYPE_CHECKING:
    from pypfm.ia64.events import Event

__all__ = ["counter_events", "ear_event", "full_name", "unit_masks"]


@cache
def _by_code(pmu: str) -> dict[tuple[int, int], tuple[Event, ...]]:
    """The events by what their counter register holds: code and unit mask, which of an EAR event is 0."""
    found: dict[tuple[int, int], tuple[Event, ...]] = {}
    for event in table(pmu).events:
        key = event.code, 0 if event.is_ear else event.umask
        found[key] = (*found.get(key, ()), event)
    return found


@cache
def _ears(pmu: str) -> dict[tuple[bool, int, int], Event]:
    return {(e.is_iear, int(e.ear_mode), e.umask): e for e in table(pmu).events if e.ear_mode is not None}


def counter_events(pmu: str, fields: dict[str, int]) -> tuple[Event, ...]:
    """The events that a counter register can mean, in the order of their indices.

    :param fields: of the register
    """
    return _by_code(pmu).get((fields["es"], fields.get("umask", 0)), ())


def unit_masks(event: Event, fields: dict[str, int]) -> tuple[str, ...]:
    """The names of the unit masks that a counter register chooses."""
    return tuple(m.name for m in event.unit_masks if fields[m.name.lower()])


def full_name(event: Event, fields: dict[str, int]) -> str:
    """An event with the unit masks that its register chooses."""
    return ":".join([event.name, *unit_masks(event, fields)])


def ear_event(pmu: str, is_iear: bool, mode: int, umask: int) -> Event | None:
    """The event that sets an EAR so."""
    return _ears(pmu).get((is_iear, mode, umask))
