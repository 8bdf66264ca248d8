"""Several runs: --repeat, --baseline, --compare and --fail-above."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli._program import say
from pypfm.cli.perfex.printer import print_result

if TYPE_CHECKING:
    import argparse

    from pypfm.perfex.changes import Comparison
    from pypfm.perfex.model import Backend, Outcome, Request
    from pypfm.perfex.reading import StoredReport
    from pypfm.perfex.report import Report

__all__ = ["baseline", "compare", "compared", "failed", "run"]

_RISEN = 1
_PRESENT = "this run"


def run(args: argparse.Namespace, request: Request, backend: Backend) -> Outcome:
    """Run the command, once or as often as --repeat says."""
    if not args.repeat:
        return backend.run(request)
    from pypfm.perfex import repeat
    under_way = [0]

    def begins(number: int) -> None:
        under_way[0] = number

    tell = request.progress
    if tell is not None:
        request = replace(request, progress=lambda line: tell(f"run {under_way[0]} of {args.repeat}: {line}"))
    return repeat.run(backend, request, args.repeat, begins)


def baseline(args: argparse.Namespace, request: Request, backend: Backend, rank: int | None) -> StoredReport | None:
    """Return the report of --baseline; the command is not started where it cannot be compared with this one.

    :raises PerfexError: it is no report, or one on something else
    """
    if args.baseline is None:
        return None
    from pypfm.perfex import compare
    from pypfm.perfex.reading import StoredReport
    before = compare.baseline(Path(args.baseline), rank)
    present = StoredReport(_PRESENT, cpu=request.cpu, backend=backend.name, kernel=request.kernel,
                           regions=request.regions, counts=dict.fromkeys(request.events))
    compare.check(before, present, "--baseline", anyway=args.anyway)
    return before


def compared(args: argparse.Namespace, made: Report, before: StoredReport | None) -> Report:
    """Return the report, with the changes from that of --baseline."""
    if before is None:
        return made
    from pypfm.perfex import compare, reading
    present = reading.stored(made, _PRESENT)
    return replace(made, comparison=compare.compare(before, present, "--baseline", anyway=args.anyway))


def compare(args: argparse.Namespace, names: list[str]) -> int:
    """Print what has changed from one report to another; the exit status."""
    from pypfm.perfex import compare as comparing
    first, second = comparing.read_two(names)
    made = comparing.compare(first, second, anyway=args.anyway)
    form = comparing.json_text if args.json else comparing.csv_text if args.csv else comparing.text
    print_result(args, form(made))
    return failed(args, made)


def failed(args: argparse.Namespace, made: Comparison | None) -> int:
    """Say which counts have risen by more than --fail-above, or that there are none to compare; the exit status."""
    if args.fail_above is None or made is None:
        return 0
    if all(c.difference is None for c in made.changes):
        say("perfex: --fail-above: no event has a count in both reports\n")
        return _RISEN
    risen = [c for c in made.changes if c.risen(args.fail_above)]
    if risen:
        say(f"perfex: risen by more than {args.fail_above:g} %: "
            + ", ".join(f"event {c.event.index} ({c.percent_text()})" for c in risen) + "\n")
    return _RISEN if risen else 0
