"""Changes between two reports, event by event."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from pypfm.common.in_notebooks import Tabled
from pypfm.perfex.model import Cpu, Event
from pypfm.perfex.spread import Spread, about, short

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["VERDICTS", "Change", "Comparison", "Side", "Verdict", "whole"]

#: What is said of a change.
Verdict = Literal["same", "differs", "this layout", "change", "noise", "not known", "not comparable"]
#: The same, to be listed.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Side:
    """One of two reports.

    :ivar file: its name, printable
    :ivar command: as a shell takes it; "": the report does not say
    :ivar ended_by: the signal that ended the command, or nothing
    """

    file: str
    backend: str
    command: str
    runs: int
    ended_by: str = ""

    def members(self) -> dict[str, object]:
        """Return its members for JSON."""
        return {"file": self.file, "backend": self.backend, "command": self.command or None, "runs": self.runs,
                "ended_by": self.ended_by or None}

    def words(self) -> str:
        """Describe it for people."""
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        ended = f", ended by {self.ended_by}" if self.ended_by else ""
        return f"{self.file}: {self.backend} backend, {runs}{ended}" + (f": {self.command}" if self.command else "")


@dataclass(frozen=True)
class Change:
    """The change of an event's count.

    :ivar first, second: its counts; None: there are none
    :ivar missing: why: "not available" or "not counted", of first and second; "": they are there
    :ivar estimated: whether first and second were computed, not counted
    :ivar verdict: same, differs: exactly; this layout: it differs so where stack, heap and mappings lie in one run;
        change, noise: by a test; not known: there are too few runs for one; not comparable: there are not two counts
    :ivar p: of the test, corrected for the number of events; None: none was made
    """

    event: Event
    first: Spread | None
    second: Spread | None
    missing: tuple[str, str] = ("", "")
    estimated: tuple[bool, bool] = (False, False)
    verdict: Verdict = "not comparable"
    p: float | None = None

    @property
    def difference(self) -> float | None:
        """Return by how much the count has grown."""
        return None if self.first is None or self.second is None else self.second.mean - self.first.mean

    @property
    def percent(self) -> float | None:
        """Return the growth in percent of the first count, or None where that was 0 and the second is not."""
        if self.first is None or self.difference is None or (self.difference and not self.first.mean):
            return None
        # Fractions: floats would make -100.00000000000001 of what fell to 0.
        return float(100 * Fraction(self.difference) / Fraction(self.first.mean)) if self.first.mean else 0.0

    def risen(self, percent: float) -> bool:
        """Tell whether the count has grown by more than so many percent, and that is not noise."""
        if self.verdict in ("same", "noise", "not comparable") or not self.difference or self.difference < 0:
            return False
        return self.percent is None or self.percent > percent

    def columns(self) -> tuple[str, str, str, str, str]:
        """Return first, second, change, percent and verdict as text."""
        sides = zip((self.first, self.second), self.missing, self.estimated, strict=True)
        first, second = (missing if not spread else about(spread.mean) if estimated else short(spread.mean)
                         for spread, missing, estimated in sides)
        if self.difference is None:
            return first, second, "", "", ""
        p = "" if self.p is None else " p<0.0001" if self.p < 0.0001 else f" p {self.p:.4f}"
        mark = "~" * any(self.estimated)
        plus = "+" * (self.difference > 0)
        change = f"~{plus}{about(self.difference)[1:]}" if mark else plus + short(self.difference)
        return first, second, change, mark + self.percent_text(), self.verdict + p

    def percent_text(self) -> str:
        """Return the relative change as text."""
        if self.percent is None:
            return "from 0"
        if not self.percent:
            return "0 %"
        return f"{self.percent:+.0f} %" if abs(self.percent) >= 10000 else f"{self.percent:+.2f} %"

    def members(self) -> dict[str, object]:
        """Return numbers and verdict for JSON and CSV."""
        return {"change": whole(self.difference), "percent": self.percent, "verdict": self.verdict, "p": self.p}


@dataclass(frozen=True)
class Comparison(Tabled):
    """Two reports.

    :ivar changes: by event, in their order
    :ivar methods: how changes were told from noise
    :ivar notes: in what the reports differ, other than in counts
    """

    cpu: Cpu
    first: Side
    second: Side
    changes: tuple[Change, ...]
    methods: tuple[str, ...]
    notes: tuple[str, ...]

    #: The heading of `line`.
    head = f"{'baseline':>24}{'change':>20}{'percent':>12}  verdict"

    def change(self, event: int) -> Change:
        """Return the change of one event."""
        return next(c for c in self.changes if c.event.index == event)

    def line(self, event: int) -> str:
        """Return the line below that of an event in a report on the second; "": there is none."""
        found = self.change(event)
        first, _, change, percent, verdict = found.columns()
        return "" if all(found.missing) else f"    {first:>20} {change:>19} {percent:>11}  {verdict}".rstrip()

    def all_notes(self) -> list[str]:
        """Return the notes of a report on the second."""
        return [f"baseline: {self.first.words()}", *self.methods, *self.notes]

    def json_baseline(self) -> dict[str, object]:
        """Return the member of a JSON report that names the baseline."""
        return {**self.first.members(), "methods": list(self.methods), "notes": list(self.notes)}

    def json_change(self, event: int) -> dict[str, object]:
        """Return the change of an event."""
        change = self.change(event)
        return {"baseline": None if change.first is None else whole(change.first.mean), **change.members()}

    def csv_rows(self) -> Iterator[dict[str, object]]:
        """Yield the changes, and the baseline's name, as rows of a report."""
        yield {"kind": "run", "name": "baseline", "value": self.first.file}
        for change in self.changes:
            for name, value in self.json_change(change.event.index).items():
                yield {"kind": "change", "event": change.event.index, "name": name, "value": value}
        for note in (*self.methods, *self.notes):
            yield {"kind": "note", "note": note}


def whole(value: float | None) -> float | int | None:
    """Return a whole number without a fraction, as JSON and CSV have it."""
    return int(value) if value is not None and value.is_integer() else value
