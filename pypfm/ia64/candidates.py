"""The events that a counter register of an IA-64 PMU can mean, and the name of an EAR's filter."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pypfm.ia64.events import table

if TYPE_CHECKING:
    from pypfm.ia64.events import Event

__all__ = ["counter_events", "ear_event", "full_name", "unit_masks"]


@cache
def _by_code(pmu: str) -> dict[tuple[int, int], tuple[Event, ...]]:
    """Return the events by code and unit mask in their counter register; of an EAR event the unit mask is 0 there."""
    found: dict[tuple[int, int], tuple[Event, ...]] = {}
    for event in table(pmu).events:
        key = event.code, 0 if event.is_ear else event.umask
        found[key] = (*found.get(key, ()), event)
    return found


@cache
def _ears(pmu: str) -> dict[tuple[bool, int, int], Event]:
    return {(e.is_iear, int(e.ear_mode), e.umask): e for e in table(pmu).events if e.ear_mode is not None}


def counter_events(pmu: str, fields: dict[str, int]) -> tuple[Event, ...]:
    """Return the events that a counter register can mean, in the order of their indices.

    :param fields: of the register
    """
    return _by_code(pmu).get((fields["es"], fields.get("umask", 0)), ())


def unit_masks(event: Event, fields: dict[str, int]) -> tuple[str, ...]:
    """Return the names of the unit masks that a counter register chooses."""
    return tuple(m.name for m in event.unit_masks if fields[m.name.lower()])


def full_name(event: Event, fields: dict[str, int]) -> str:
    """Return the name of an event with the unit masks that its register chooses."""
    return ":".join([event.name, *unit_masks(event, fields)])


def ear_event(pmu: str, is_iear: bool, mode: int, umask: int) -> Event | None:
    """Return the event that sets an EAR in this way."""
    return _ears(pmu).get((is_iear, mode, umask))
