"""The events, their names, and the backends that can count them on this machine (perfex --list)."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pypfm.common.frozen import FrozenMap
from pypfm.common.in_notebooks import Printed
from pypfm.perfex import events
from pypfm.perfex.model import PerfexError, Request

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pypfm.perfex.model import Cpu, Event, Quality

__all__ = ["How", "Listing", "json_text", "listing", "text"]

_NARROWEST, _WIDE, _INDENT = 40, 72, 7
_MIPS = "qemu (MIPS)"
_MARKS = {"unavailable": "-"}


@dataclass(frozen=True)
class How:
    """How well a backend counts an event here.

    :ivar note: what is counted in its place, or why it is not available
    """

    quality: Quality
    note: str


@dataclass(frozen=True)
class Listing(Printed):
    """The events of a processor.

    :ivar backends: by backend, how each event is counted
    :ivar missing: by backend, why it can count nothing here
    """

    cpu: Cpu
    events: tuple[Event, ...]
    backends: Mapping[str, tuple[How, ...]]
    missing: Mapping[str, str]

    def _text(self) -> str:
        return text(self)

    def __post_init__(self) -> None:
        for name in ("backends", "missing"):
            object.__setattr__(self, name, FrozenMap(getattr(self, name), "backend"))


def listing(cpu: Cpu, perf_table: Path | None = None) -> Listing:
    """Find out which backends can count the events of a processor on this machine.

    :param perf_table: --perf-table
    :raises PerfexError: the table is wrong
    """
    table = events.table(cpu)
    found, missing = {}, {}
    for name, ask in (("perf", _perf), ("valgrind", _valgrind), ("qemu", _qemu)):
        try:
            found[name] = ask(cpu, perf_table)
        except _NothingError as error:
            missing[name] = str(error)
            found[name] = tuple(How("unavailable", str(error)) for _ in table)
    return Listing(cpu, table, found, missing)


class _NothingError(Exception):
    """A backend can count nothing here."""


def _perf(cpu: Cpu, path: Path | None) -> tuple[How, ...]:
    from pypfm.perfex import perf_table
    from pypfm.perfex.backends.perf import PerfBackend
    perf_table.load(cpu, path)  # a wrong table is not the kernel's fault
    everything = tuple(range(events.NUM_EVENTS))
    try:
        sources = PerfBackend().sources(Request(("",), cpu, everything, multiplex=True, mixed=True, perf_table=path))
    except PerfexError as error:
        raise _NothingError(str(error).removeprefix("perf: ")) from None
    return tuple(How(source.quality, source.note) for source in sources)


def _valgrind(cpu: Cpu, _path: Path | None) -> tuple[How, ...]:
    from pypfm.perfex.backends.valgrind import installed
    from pypfm.perfex.backends.valgrind.backend import ValgrindBackend
    try:
        installed.version()
    except PerfexError as error:
        raise _NothingError(str(error)) from None

    def how(event: int) -> How:
        try:
            source, = ValgrindBackend().sources(Request(("",), cpu, (event,)))
        except PerfexError as error:
            return How("unavailable", str(error))
        return How(source.quality, source.note)

    return tuple(map(how, range(events.NUM_EVENTS)))


def _qemu(cpu: Cpu, _path: Path | None) -> tuple[How, ...]:
    """Return how qemu counts each event of MIPS programs; of this host's programs it knows less."""
    from pypfm.perfex.backends.kept import compiler
    from pypfm.perfex.backends.qemu import plugin, program
    from pypfm.perfex.backends.simulation import formulas
    try:
        program.version(program.installed())
        compiler(plugin.WHAT, program.PACKAGES)
    except PerfexError as error:
        raise _NothingError(str(error)) from None
    return tuple(How(row.quality, row.note) for row in formulas.rows(cpu, table="qemu"))


# ---- printing ---------------------------------------------------------------------

def text(made: Listing, width: int | None = None) -> str:
    """Return the list for people: two lines an event, three where the terminal is narrow.

    :param width: columns; None: those of the terminal
    """
    width = max(width or shutil.get_terminal_size().columns, _NARROWEST)
    wide = width >= _WIDE
    lines = [f"perfex: {made.cpu} events, and how they can be counted here", "",
             f"  #   ctr {'short name':24} {'perf':12} {'valgrind':12} {_MIPS if wide else ''}".rstrip()]
    for event in made.events:
        perf, valgrind, qemu = (_MARKS.get(quality := made.backends[name][event.index].quality, quality)
                                for name in ("perf", "valgrind", "qemu"))
        lines.append(f"{event.index:3} {event.counter:5} {event.short:24} {perf:12} {valgrind:12} "
                     f"{qemu if wide else ''}".rstrip())
        lines += [" " * _INDENT + part for part in textwrap.wrap(event.name, width - _INDENT)]
        if not wide:
            lines.append(f"{'':{_INDENT}}{_MIPS}: {qemu}")
    for name, why in made.missing.items():
        lines += ["", *textwrap.wrap(f"{name}: {why}", width)]
    return "\n".join(lines) + "\n"


def json_text(made: Listing) -> str:
    """Return the list as JSON (schema: pypfm/schemas/perfex_list.json)."""
    return json.dumps({"cpu": made.cpu, "missing": dict(made.missing), "events": [
        {"event": e.index, "counter": e.counter, "short": e.short, "name": e.name, "description": e.description,
         "backends": {name: {"quality": how[e.index].quality, "note": how[e.index].note}
                      for name, how in made.backends.items()}} for e in made.events]}, indent=2) + "\n"
