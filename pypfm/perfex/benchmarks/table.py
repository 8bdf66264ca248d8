"""The table at the end of a session."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pypfm.perfex.benchmarks.results import CYCLES, INSTRUCTIONS
from pypfm.perfex.notes import folded
from pypfm.perfex.report import printable
from pypfm.perfex.spread import Spread, about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pypfm.perfex.benchmarks.results import Benchmark
    from pypfm.perfex.model import Measurement

__all__ = ["GROUPS", "SORTS", "text"]

# The columns: heading, and the events whose counts are added up.
_COLUMNS = {"instructions": (INSTRUCTIONS,), "loads": (18,), "stores": (19,), "L1 misses": (9, 25),
            "L2 misses": (10, 26), "mispredicted": (24,)}
_CYCLES = "estimated cycles"
#: What rows can be sorted by (--perfex-sort).
SORTS = {**{heading.removesuffix(" misses").lower(): events for heading, events in _COLUMNS.items()},
         "cycles": (CYCLES,), "name": ()}


def _func(name: str) -> str:
    """Return a test without its parameters."""
    return name.partition("[")[0]


def _param(name: str) -> str:
    """Return the parameters of a test."""
    return name.partition("[")[2].rpartition("]")[0]


#: What rows that stand together have in common (--perfex-group-by).
GROUPS: dict[str, Callable[[Benchmark], str]] = {
    "group": lambda one: one.group, "func": lambda one: _func(one.name).rpartition("::")[2],
    "fullfunc": lambda one: _func(one.name), "param": lambda one: _param(one.name), "file": lambda one: one.file}


def _sum(benchmark: Benchmark, events: Sequence[int]) -> int:
    return sum(_count(benchmark, event).count or 0 for event in events)


def _count(benchmark: Benchmark, event: int) -> Measurement:
    return next(m for m in benchmark.report.outcome.measurements if m.event.index == event)


def _row(benchmark: Benchmark) -> list[str]:
    words = [f"{_sum(benchmark, events):,}" for events in _COLUMNS.values()]
    cycles = _count(benchmark, CYCLES)
    return [*words, f"{about(cycles.low or 0)} to {about(cycles.high or 0)[1:]}"]


def _common(names: Sequence[str]) -> str:
    """Return the file that all are of, with what follows it; "": they are of several."""
    first = names[0].partition("::")[0] + "::"
    return first if all(name.startswith(first) for name in names) else ""


def text(made: Sequence[Benchmark], sort: str = "instructions", group_by: str = "group") -> str:
    """Format a table for each group, those with the least first.

    :param sort: one of `SORTS`
    :param group_by: one of `GROUPS`
    """
    key = GROUPS[group_by]
    parts = [_group(group_by, group, sorted(rows, key=lambda one: (_sum(one, SORTS[sort]), one.name)))
             for group, rows in groupby(sorted(made, key=key), key=key)]
    return "\n".join([*parts, *_notes(made)])


def _group(group_by: str, group: str, rows: list[Benchmark]) -> str:
    common = _common([one.name for one in rows])
    title = f"{len(rows)} benchmark{'s' * (len(rows) > 1)}" + f" of {printable(common[:-2])}" * bool(common)
    title += f", {group_by} {printable(group)}" * (bool(group) and group_by != "file")
    cells = [[printable(one.name.removeprefix(common)), *_row(one)] for one in rows]
    cells.insert(0, ["", *_COLUMNS, _CYCLES])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join([name.ljust(widths[0]), *map(str.rjust, values, widths[1:])]).rstrip()
             for name, *values in cells]
    return "\n".join([f"perfex: {title}", *lines, ""])


def _spread(one: Benchmark) -> Iterator[str]:
    """Say how far apart the counts of several layouts are."""
    spread = Spread.of(_count(one, INSTRUCTIONS).runs)
    if spread is not None and not spread.identical:
        yield f"from {spread.minimum:,} to {spread.maximum:,} instructions in {spread.runs} layouts"


def _notes(made: Iterable[Benchmark]) -> list[str]:
    """Format the notes on single benchmarks; those with the same note share a line."""
    said: dict[str, list[str]] = {}
    for one in made:
        for note in (*one.report.outcome.notes, *_spread(one)):
            said.setdefault(note, []).append(printable(one.name.partition("::")[2] or one.name))
    return [folded(f"{', '.join(who)}: {note}") for note, who in said.items()] + [""] * bool(said)
