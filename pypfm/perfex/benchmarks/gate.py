"""Compare with a baseline (--perfex-compare), and judge whether a change is too much (--perfex-fail-above)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pypfm.errors import printable
from pypfm.perfex import compare, reading
from pypfm.perfex.benchmarks.names import PYTHON
from pypfm.perfex.benchmarks.results import INSTRUCTIONS
from pypfm.perfex.benchmarks.stored import base

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pypfm.perfex.benchmarks.results import Benchmark
    from pypfm.perfex.benchmarks.stored import Stored
    from pypfm.perfex.changes import Change

__all__ = ["Gate", "compared"]

T = TypeVar("T", bound=tuple[object, ...])

_PRESENT = "this run"
_PART = 0.05  # of a difference: functions and lines with less of it are left out
_MOST = 5
_FEW = 20  # instructions: what a region that does nothing may differ by between two sessions


@dataclass(frozen=True)
class Gate:
    """Benchmarks beside those of a baseline.

    :ivar name: of the baseline
    :ivar benchmarks: all, with the comparison of those that are in both
    :ivar before: those of the baseline
    :ivar limit: percent of instructions; None: any
    """

    name: str
    benchmarks: tuple[Benchmark, ...]
    before: Mapping[str, Stored]
    limit: float | None

    def _changes(self) -> Iterator[tuple[Benchmark, Change]]:
        for one in self.benchmarks:
            if one.report.comparison is not None:
                yield one, one.report.comparison.change(INSTRUCTIONS)

    def failed(self) -> list[Benchmark]:
        """Return the changes with more instructions than are allowed, and not just a few more."""
        return [] if self.limit is None else [
            one for one, change in self._changes() if change.risen(self.limit) and (change.difference or 0) > _FEW]

    def text(self) -> str:
        """Format what has changed: a row for each benchmark, and for each that fails its functions and lines."""
        lines, same = [f"perfex: compared with {printable(self.name)}"], 0
        rows = list[tuple[str, ...]]()
        for one, change in self._changes():
            if change.verdict == "same":
                same += 1
                continue
            assert change.first is not None
            assert change.second is not None
            rows.append((printable(one.name), f"{change.first.mean:,.0f}", f"{change.second.mean:,.0f}",
                         change.percent_text(), change.verdict))
        if rows:
            rows.insert(0, ("", "before", "instructions", "change", ""))
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines += [f"{row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}"
                      f"  {row[4]}".rstrip() for row in rows]
        lines += [f"{same} with the same number of instructions"] * bool(same)
        known = {one.name for one in self.benchmarks}
        lines += [f"new: {printable(one.name)}" for one in self.benchmarks if one.name not in self.before]
        lines += [f"not counted this time: {printable(name)}" for name in self.before if name not in known]
        for one in self.failed():
            lines += ["", *self._places(one)]
        return "\n".join(lines) + "\n"

    def _places(self, one: Benchmark) -> Iterator[str]:
        """Name the functions and lines of the difference."""
        assert one.report.comparison is not None
        change, before = one.report.comparison.change(INSTRUCTIONS), self.before[one.name]
        difference = change.difference or 0.0
        yield f"{printable(one.name)}: {change.percent_text()} instructions, more than {self.limit:g} %; where:"
        now = _functions(one), _lines(one)
        yield from _differences(difference, before.functions, now[0], "{1} ({0})")
        yield from _differences(difference, before.lines, now[1], "{0}:{1}")


def _functions(one: Benchmark) -> dict[tuple[str, str], int]:
    found = dict[tuple[str, str], int]()
    for row in one.report.annotation.functions if one.report.annotation else ():
        file = row.function.file if row.function.file != "???" else row.function.object
        key = base(file), printable(row.function.name)
        counts = row.inclusive if row.function.object == PYTHON else row.own
        found[key] = found.get(key, 0) + counts.events[0]
    return found


def _lines(one: Benchmark) -> dict[tuple[str, int], int]:
    found = dict[tuple[str, int], int]()
    for row in one.report.annotation.lines if one.report.annotation else ():
        key = base(row.file), row.line
        found[key] = found.get(key, 0) + row.own.events[0]
    return found


def _differences(whole: float, before: Mapping[T, int], now: Mapping[T, int], form: str) -> Iterator[str]:
    """Return the greatest differences, of those that grew."""
    by = {key: count - before.get(key, 0) for key, count in now.items()}
    for key in sorted(by, key=lambda key: -by[key])[:_MOST]:
        if by[key] > 0 and by[key] >= _PART * whole:
            inclusive = ", with what it calls" * str(key[0]).endswith(".py")
            yield f"    {by[key]:>+14,}  {form.format(*key)}{inclusive}"


def compared(made: Sequence[Benchmark], name: str, before: Mapping[str, Stored], limit: float | None) -> Gate:
    """Compare benchmarks with those of a baseline."""
    rows = []
    for one in made:
        if one.name in before:
            present = reading.stored(one.report, _PRESENT)
            comparison = compare.compare(before[one.name].report, present, "--perfex-compare")
            rows.append(replace(one, report=replace(one.report, comparison=comparison)))
        else:
            rows.append(one)
    return Gate(name, tuple(rows), before, limit)
