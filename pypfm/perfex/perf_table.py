"""The map of perfex's events to perf events: perfex_perf.csv, or the file of --perf-table.

Columns: cpu (none: all), event, perf (libpfm 4 names of the kernel's events, or rHEX for a raw event
of the processor; added up with ``+``; 0: the count is 0 by definition; none: not available), quality,
note.  Of several rows of an event the first that the machine can count is taken; a row that names the
cpu comes before one that does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from pypfm.errors import Pfm4Error, shown
from pypfm.perfex import events
from pypfm.perfex.model import CPUS, Cpu, PerfexError, Quality
from pypfm.perfex.tables import installed, rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["COLUMNS", "ZERO", "Row", "attributes", "load", "shipped"]

#: The columns of the map.
COLUMNS = ("cpu", "event", "perf", "quality", "note")
#: What the column perf says of a count that is 0 by definition.
ZERO = "0"
_RAW = re.compile(r"r([0-9a-fA-F]{1,16})")
_PERF_TYPE_RAW = 4


@dataclass(frozen=True)
class Row:
    """A way to count an event.

    :ivar terms: perf events whose sum it is; none: not available
    """

    cpu: str
    event: int
    terms: tuple[str, ...]
    quality: Quality
    note: str

    @property
    def is_zero(self) -> bool:
        """Whether the count is 0 by definition."""
        return self.terms == (ZERO,)


def attributes(term: str) -> dict[str, int]:
    """type and config of struct perf_event_attr.

    :param term: libpfm 4 name of a kernel event, or rHEX
    :raises PerfexError: there is no such event
    """
    if raw := _RAW.fullmatch(term):
        return {"type": _PERF_TYPE_RAW, "config": int(raw[1], 16)}
    from pypfm.goldmont import Perf
    try:
        made = Perf().encode(term).attr
    except Pfm4Error as error:
        raise PerfexError(str(error)) from None
    return {name: made[name] for name in ("type", "config")}


def _row(values: dict[str, str]) -> Row:
    terms = tuple(t.strip() for t in values["perf"].split("+")) if values["perf"].strip() else ()
    quality = values["quality"]
    if quality not in get_args(Quality):
        raise PerfexError(f"{shown(quality)} is not a quality; {', '.join(get_args(Quality))} are")
    if bool(terms) == (quality == "unavailable"):
        raise PerfexError("a row without a perf event is unavailable, and no other")
    if values["cpu"] not in ("", *CPUS):
        raise PerfexError(f"{shown(values['cpu'])} is not a cpu; {', '.join(CPUS)} are, or nothing for all")
    return Row(values["cpu"], events.event_number(values["event"], "event"), terms, cast("Quality", quality),
               values["note"])


def shipped() -> list[Row]:
    """All rows of the package's table."""
    return [_row(values) for values in installed("perfex_perf.csv")]


def _own(path: Path) -> list[Row]:
    """All rows of a user's table, every event of which has to exist."""
    found = []
    for line, values in rows(path, COLUMNS):
        try:
            row = _row(values)
            for term in () if row.is_zero else row.terms:
                attributes(term)
        except PerfexError as error:
            raise PerfexError(f"{path}, line {line}: {error}") from None
        found.append(row)
    return found


def load(cpu: Cpu, path: Path | None) -> dict[int, list[Row]]:
    """The rows of each event, in the order in which they are tried; an event may have none.

    :param path: --perf-table
    :raises PerfexError: names the line that is wrong
    """
    table = shipped() if path is None else _own(path)
    return {event: _of(cpu, (row for row in table if row.event == event)) for event in range(events.NUM_EVENTS)}


def _of(cpu: Cpu, table: Iterable[Row]) -> list[Row]:
    table = list(table)
    for name in (cpu, events.base(cpu), ""):
        if own := [row for row in table if row.cpu == name]:
            return own
    return []
