"""perfex(1): the event counts of a command, with estimates of what they cost."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

from pypfm.cli._program import complete, is_terminal, say, to_the_end
from pypfm.cli.perfex.options import UsageError, build_parser, check, request, split, usage_errors
from pypfm.cli.perfex.printer import Printer, erase_progress, print_now, print_result, progress, result_file
from pypfm.errors import PfmError
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pypfm.perfex.calibration import Calibration
    from pypfm.perfex.costs import CostTable
    from pypfm.perfex.model import Outcome, Request
    from pypfm.perfex.reading import StoredReport
    from pypfm.perfex.report import Report

__all__ = ["build_parser", "main"]

_FAILED, _USAGE = 1, 2


def _calibration(args: argparse.Namespace) -> Calibration | None:
    """Load what --calibrate has measured on this host, if --costs host asks for it."""
    if args.whose != "host":
        return None
    from pypfm.perfex import calibration
    return calibration.load(os.environ)


def _costs(args: argparse.Namespace, host: Calibration | None) -> CostTable | None:
    """Return the costs in effect; None: none is asked for."""
    from pypfm.perfex import costs
    if not args.estimates and not args.table:
        return None
    return costs.in_effect(args.cpu, args.costs, os.environ, builtins=not args.mixed or args.table,
                           measured=host.table(args.cpu) if host else None)


def _notes(args: argparse.Namespace, table: CostTable | None) -> tuple[str, ...]:
    notes = []
    if args.exception:
        notes.append("-x: exception level is not available on Linux")
    if args.estimates and not table:
        notes.append("-T: no estimates, as the kind of CPU is not known; -c loads costs")
    return tuple(notes)


def _run(args: argparse.Namespace, command: list[str]) -> int:
    """Run the command and print the report; the command's exit status."""
    from dataclasses import replace

    from pypfm.cli.perfex import places, several
    from pypfm.perfex.backends import choose
    host = _calibration(args)
    table = _costs(args, host)
    wanted = request(args, command)
    if host:
        wanted = replace(wanted, host_clock=host.clock, stall_ns=host.stalls(args.cpu))
    if args.plot is not None:
        from pypfm.perfex import plot
        with usage_errors():
            plot.check(args.plot)
    if args.table:
        print_now(_cost_text(args, table or {}, host))
    printer = Printer(args)
    wanted = replace(wanted, on_sample=printer.sample if args.period is not None else None,
                     progress=progress if printer.shows_progress else None)
    places.check(wanted)
    backend, why = choose(args.backend, wanted)
    before = several.baseline(args, wanted, backend, printer.rank)
    written = places.begin(args)
    printer.open()
    outcome = replace(several.run(args, wanted, backend), why=why)
    try:
        made = _report(args, printer, wanted, outcome, table, before)
        if written is not None:
            written.finish(made)
    except (OSError, PerfexError) as error:  # the command has run: its status counts, unless it is 0
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        say(f"perfex: the report could not be written: {reason}\n")
        return outcome.status or _FAILED
    return outcome.status or several.failed(args, made.comparison)


def _report(args: argparse.Namespace, printer: Printer, wanted: Request, outcome: Outcome,
            table: CostTable | None, before: StoredReport | None) -> Report:
    from pypfm.cli.perfex import places, several
    from pypfm.perfex.report import Report
    costs = table if args.estimates else None
    made = Report(wanted, outcome, costs, printer.rank, _notes(args, table), args.verbose)
    made = places.annotated(several.compared(args, made, before))
    printer.finish(made)
    if args.plot is not None:
        from pypfm.perfex.plot import draw
        draw(made, args.plot)
    return made


def _merge(args: argparse.Namespace, names: list[str]) -> int:
    """Add up reports of ranks: to stdout, as no command needs it, or the file of -o."""
    from pypfm.perfex import merge, reading
    merged = merge.merge([reading.read(path) for path in merge.find(names)])
    text = merge.json_text(merged) if args.json else merge.csv_text(merged) if args.csv else merge.text(merged)
    print_result(args, text)
    return 0


def _list(args: argparse.Namespace) -> int:
    from pypfm.perfex import listing
    made = listing.listing(args.cpu, args.perf_table)
    print_now(listing.json_text(made) if args.json else listing.text(made))
    return 0


def _cost_text(args: argparse.Namespace, table: CostTable, host: Calibration | None) -> str:
    """Return the table of -t, with remarks on costs that no file has replaced."""
    from pypfm.perfex import calibration, costs
    own = host.table(args.cpu) if host else costs.builtin(args.cpu)
    said = calibration.remarks(host, args.cpu) if host else {
        event: f"unsourced: {numbers}" for event, numbers in costs.unsourced(args.cpu).items()}
    said = {event: remark for event, remark in said.items() if table.get(event) == own.get(event)}
    return costs.show(table, args.cpu, calibration.head(host), said) if host else costs.show(
        table, args.cpu, remarks=said)


def _calibrate(args: argparse.Namespace) -> int:
    """Measure this host: the table or JSON goes to stdout or the file of -o."""
    from pypfm.perfex import calibration
    out = result_file(args)
    made = calibration.calibrate(progress if is_terminal(sys.stderr) else None)
    erase_progress()
    text = calibration.json_text(made, args.cpu) if args.json else _cost_text(args, made.table(args.cpu), made)
    print_result(args, text, out)
    try:
        say(f"perfex: kept for --costs host in {calibration.save(made, os.environ)}\n")
    except (OSError, PerfexError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        say(f"perfex: not kept for --costs host: {reason}\n")
    return 0


def _work(args: argparse.Namespace, command: list[str]) -> Callable[[], int] | None:
    """Return the task that needs neither a command nor a process to attach to; None: counting is asked for."""
    if args.list:
        return lambda: _list(args)
    if args.calibrate:
        return lambda: _calibrate(args)
    if args.merge:
        return lambda: _merge(args, command)
    if args.compare:
        from pypfm.cli.perfex import several
        return lambda: several.compare(args, command)
    return None if command or args.pid is not None else lambda: _print_table(args)


def _print_table(args: argparse.Namespace) -> int:
    host = _calibration(args)
    print_now(_cost_text(args, _costs(args, host) or {}, host))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run perfex; the exit status."""
    return to_the_end("perfex", lambda: _main(sys.argv[1:] if argv is None else argv))


def _completes(parser: argparse.ArgumentParser) -> bool:
    """Tell whether a shell asks for what perfex may go on with; what its command may is the shell's affair."""
    point = os.environ.get("COMP_POINT", "")
    if "_ARGCOMPLETE" not in os.environ or "COMP_LINE" not in os.environ or not re.fullmatch("[0-9]{1,9}", point):
        return False
    line = os.environ["COMP_LINE"][:int(point)]
    try:
        return not split(parser, [*shlex.split(line)[1:], *[""] * line.endswith(" ")])[1][1:]
    except (ValueError, PerfexError):  # a quote is open, or an option is not complete
        return True


def _main(words: Sequence[str]) -> int:
    parser = build_parser()
    if _completes(parser):
        complete(parser)
    try:
        options, command = split(parser, words)
        args = parser.parse_args(options)
        if args.signals or args.period is not None:
            from pypfm.perfex.signals import hold
            hold()
        check(parser, args, command)
        work = _work(args, command)
        return work() if work else _run(args, command)
    except PfmError as error:
        from pypfm.perfex.report import printable  # names of files and programs may have any characters
        say(f"perfex: {printable(str(error))}\n")
        return _USAGE if isinstance(error, UsageError) else _FAILED
