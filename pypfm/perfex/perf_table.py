"""The map of perfex's events to perf events: perfex_perf.csv, or the file of --perf-table.

Columns: cpu (none: all), event, perf (libpfm 4 names of the kernel's events, or rHEX for a raw event
of the processor; added up with ``+``; 0: the count is 0 by definition; none: not available), quality,
note.  Of several rows of an event the first that the machine can count is taken; rows that name the
cpu replace those that name none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from pypfm._c.convert import string
from pypfm._c.libperfex import ffi, lib
from pypfm.perfex import events
from pypfm.perfex.c_call import no_term, parsed, processor, read_limited
from pypfm.perfex.model import Cpu, PerfexError, Quality

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["QUALITIES", "Row", "attributes", "load", "read", "rows"]

#: From the best to the worst.
QUALITIES: tuple[Quality, ...] = get_args(Quality)


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
        """Tell whether the count is 0 by definition."""
        return self.terms == ("0",)


def attributes(term: str) -> dict[str, int]:
    """Return type and config of struct perf_event_attr.

    :param term: libpfm 4 name of a kernel event, or rHEX
    :raises PerfexError: there is no such event
    """
    name = term.encode("utf-8", "surrogatepass")
    kind: Any = ffi.new("uint32_t *")
    config: Any = ffi.new("uint64_t *")
    if lib.perfex_term(name, len(name), kind, config) < 0:
        raise PerfexError(no_term(term))
    return {"type": kind[0], "config": config[0]}


def _row(row: Any) -> Row:
    perf = string(row.perf)
    return Row(string(row.cpu), row.event, tuple(t.strip(" \t") for t in perf.split("+")) if perf else (),
               QUALITIES[row.quality], string(row.note))


def read(path: Path | None) -> Any:
    """Read C's map of events.

    :param path: --perf-table; None: the one of the package
    :raises PerfexError: names the line that is wrong
    """
    if path is None:
        return ffi.addressof(lib.perfex_shipped_map)
    made: Any = ffi.gc(ffi.new("struct perfex_map *"), lib.perfex_map_free)
    parsed(lib.perfex_map_parse, read_limited(path).encode(), path, made, is_csv=True)
    return made


def rows(events_map: Any, cpu: Cpu) -> dict[int, list[Row]]:
    """Return the rows of each event, in the order in which they are tried; an event may have none."""
    owners = [string(lib.perfex_map_owner(events_map, processor(cpu), event)) for event in range(events.NUM_EVENTS)]
    found: dict[int, list[Row]] = {event: [] for event in range(events.NUM_EVENTS)}
    for i in range(events_map.count):
        row = _row(events_map.rows[i])
        if row.cpu == owners[row.event]:
            found[row.event].append(row)
    return found


def load(cpu: Cpu, path: Path | None) -> dict[int, list[Row]]:
    """Return the rows of the file of --perf-table.

    :raises PerfexError: names the line that is wrong
    """
    return rows(read(path), cpu)
