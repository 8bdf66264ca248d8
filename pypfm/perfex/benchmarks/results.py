"""From the counts of rounds to reports, of the form that perfex's own have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pypfm.perfex import repeat
from pypfm.perfex.annotate import Annotation, annotation
from pypfm.perfex.backends.simulation import counts, formulas
from pypfm.perfex.backends.valgrind import installed
from pypfm.perfex.benchmarks.names import Names
from pypfm.perfex.costs import default_clock
from pypfm.perfex.model import Outcome, Request
from pypfm.perfex.profile import Profile
from pypfm.perfex.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.perfex.backends.simulation.machine import Machine
    from pypfm.perfex.benchmarks.plan import Round
    from pypfm.perfex.benchmarks.session import Run

__all__ = ["CYCLES", "EVENTS", "INSTRUCTIONS", "Benchmark", "benchmarks"]

CYCLES, INSTRUCTIONS = 0, 15
#: What is counted; of functions and lines, the first.
EVENTS = (INSTRUCTIONS, CYCLES, 18, 19, 9, 10, 25, 26, 23, 24, 6, 21)
_LEAST = 0.002  # of the whole: functions and lines with less are left out
_MOST = 100


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, and what was counted.

    :ivar name: node id of its test, or that and the name of the block
    :ivar group: of the mark ``benchmark``; "": none
    :ivar warm: how many rounds came before the one that was counted
    """

    name: str
    group: str
    warm: int
    report: Report

    @property
    def file(self) -> str:
        """Of its test."""
        return self.name.partition("::")[0]


def benchmarks(runs: Sequence[Run], machine: Machine, cache: str) -> list[Benchmark]:
    """Return all benchmarks that each session has counted, in their order.

    :param cache: --perfex-cache
    """
    rounds = [{one.name: one for one in run.rounds} for run in runs]
    return [_benchmark([of[one.name] for of in rounds], runs, machine, cache) for one in runs[0].rounds
            if all(one.name in of for of in rounds)]


def _benchmark(rounds: Sequence[Round], runs: Sequence[Run], machine: Machine, cache: str) -> Benchmark:
    first = rounds[0]
    request = Request(("pytest", first.test), events=EVENTS, together=True, cache=cache, annotate=True)
    outcomes = [_outcome(one, run, machine, request) for one, run in zip(rounds, runs, strict=True)]
    outcome = outcomes[0] if len(outcomes) == 1 else repeat.combined(outcomes, len(outcomes))
    report = Report(request, outcome, annotation=_cut(annotation(replace(request, events=(INSTRUCTIONS,)), outcome)))
    return Benchmark(first.name, first.group, first.warm, replace(report, outcome=replace(outcome, profile=None)))


def _outcome(one: Round, run: Run, machine: Machine, request: Request) -> Outcome:
    profile, places, clock = Profile(), run.directory / one.places, default_clock(request.cpu)
    with counts.checked(places):
        counts.profile(places, profile)
        found = dict(zip(profile.names, one.counts, strict=True))
        estimated = formulas.estimated(request.cpu, found, clock)
        measurements = formulas.measure(request.cpu, request.events, formulas.added([found, estimated]))
        operations = found["Fo"]
    return Outcome(
        "valgrind", f"simulated by valgrind {installed.version()}", 0, measurements, clock=clock,
        clock_source=f"the default of the {request.cpu}", estimated_cycles=True, notes=(*one.notes, *_doubts(one)),
        profile=Names(run.functions).named(profile), lines=machine.lines,
        caches=f"{machine.name}: {machine}" if machine.name else "", operations=operations)


def _doubts(one: Round) -> list[str]:
    """Why counts need not be the same again, or are not all."""
    said = []
    if one.threads:
        said.append(f"threads that it made: {one.threads}; all are counted, and how they take turns need not be the"
                    " same again")
    if one.processes:
        said.append(f"processes that it made: {one.processes}; what they do is not counted")
    return said


def _cut(made: Annotation) -> Annotation:
    """Leave out what hardly counts: a file with all benchmarks is not to be large."""
    functions = [row for row in made.functions if made.share(row.inclusive) >= _LEAST]
    lines = [row for row in made.lines if made.share(row.own) >= _LEAST]
    return replace(made, functions=tuple(functions[:_MOST]), lines=tuple(lines[:_MOST]), calls={})
