"""perfex(1): the event counts of a command, with estimates of what they cost.

The options are those of IRIX's program; those with two dashes are ours.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from pypfm.cli._program import Parser, to_the_end
from pypfm.errors import PfmError, shown
from pypfm.perfex.model import CPUS, PerfexError, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.perfex.costs import CostTable
    from pypfm.perfex.model import Outcome, Sample
    from pypfm.perfex.output import Output
    from pypfm.perfex.report import Format, Report

__all__ = ["main"]

_USAGE = ("perfex [-a | -e event0 [-e event1]] [-mp | -s | -p period] [-x] [-k] [-y] [-t] [-T] [-o file] [-c file]"
          " command")
# Which rank a process is, under Open MPI, MPICH and Slurm.
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_L2 = {"1m": 1 << 20, "4m": 4 << 20, "8m": 8 << 20}
_FAILED = 1


# Python has none where the descriptor is closed.
_STDERR: TextIO = sys.stderr or io.StringIO()


def _say(text: str) -> None:
    """Write to stderr, if anybody reads it."""
    try:
        _STDERR.write(text)
        _STDERR.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _print(text: str) -> None:
    """Write to stdout, now."""
    sys.stdout.write(text)
    sys.stdout.flush()


class _Parser(Parser):
    """Mistakes end the program with one line."""

    def error(self, message: str) -> NoReturn:
        raise PerfexError(f"{message}; usage: {_USAGE}")


def _positive(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number above 0 (decimal, up to 9 digits)")
    return float(text)


def build_parser() -> argparse.ArgumentParser:
    """The parser of perfex's own options."""
    parser = _Parser(prog="perfex", usage=f"{_USAGE}\n       perfex -t\n       perfex --merge file ...",
                     allow_abbrev=False, add_help=False,
                     description="Run a command, once, and print the values of R10000 or R12000 event counters.",
                     epilog="Exit status: the command's (128+n: signal n); 1 where perfex fails before it is started.")
    add = parser.add_argument
    what = parser.add_argument_group("what is counted")
    add = what.add_argument
    add("-a", dest="all", action="store_true", help="all events; -e is ignored")
    add("-e", dest="events", action="append", default=[], metavar="EVENT",
        help="an event, 0 to 31; at most two, one of 0-15 and one of 16-31 (default: T5_EVENT0, T5_EVENT1, or 0)")
    add("-mp", dest="mp", action="store_true", help="the counts of each thread, then the total")
    add("-s", dest="signals", action="store_true",
        help="count from SIGUSR1 to SIGUSR2, sent to perfex; the immediate child only")
    add("-p", dest="period", type=_positive, metavar="PERIOD",
        help="as -s, and print the counts every PERIOD milliseconds")
    add("-x", dest="exception", action="store_true", help="exception level; not available on Linux")
    add("-k", dest="kernel", action="store_true", help="kernel level too")
    add("-T", dest="mixed", action="store_true", help="CPUs of several kinds: the user keeps the command on one kind")
    how = parser.add_argument_group("what is printed")
    add = how.add_argument
    add("-y", dest="estimates", action="store_true", help="times by event, and statistics")
    add("-t", dest="table", action="store_true", help="print the cost table in effect")
    add("-c", dest="costs", type=Path, metavar="FILE", help="costs that take the place of others, as -t prints them")
    add("-o", dest="out", metavar="FILE", help="print there, not to stderr")
    add("--json", action="store_true", help="print JSON")
    add("--csv", action="store_true", help="print CSV")
    add("--plot", type=Path, metavar="FILE", help="draw the times by event as SVG or PNG (needs -y and matplotlib)")
    add("--merge", action="store_true", help="add up the reports of several ranks, whose files are the arguments")
    add("-h", "--help", action="help", help="show this")
    parser.add_version(how)
    who = parser.add_argument_group("what counts")
    add = who.add_argument
    add("--cpu", choices=CPUS, default="r10000", help="whose events (default: r10000; -3: silicon revision 3)")
    add("--backend", choices=("auto", "perf", "valgrind"), default="auto", help="who counts (default: auto)")
    add("--clock", type=_positive, metavar="MHZ", help="clock speed for the times")
    add("--l2", choices=tuple(_L2), help="valgrind: size of the secondary cache (default: 4m)")
    add("--writebacks", action="store_true",
        help="valgrind: with -a, events 7, 11, 22, 23, 27 and 30 too, and not 6 and 24")
    add("--perf-table", type=Path, metavar="FILE", help="perf: other events in place of perfex's, in CSV")
    return parser


def _split(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options, and the command: options end where it begins."""
    names = {s: a.nargs is None for a in parser._actions for s in a.option_strings}  # and whether a value follows
    flags, valued = ("".join(s[1] for s, value in names.items() if len(s) == 2 and value is v) for v in (False, True))
    letters = re.compile(rf"-[{flags}]*([{flags}]|[{valued}](?P<value>.*))", re.DOTALL)
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        if word == "--":
            return [*words[:at]], [*words[at + 1:]]
        together = letters.fullmatch(word)
        if together is None and word.partition("=")[0] not in names:
            parser.error(f"there is no option {shown(word)}")
        at += 2 if names.get(word) or (together and together["value"] == "") else 1
    return [*words[:at]], [*words[at:]]


# ---- checks -----------------------------------------------------------------------

def _check(parser: argparse.ArgumentParser, args: argparse.Namespace, command: list[str]) -> None:
    """What excludes what (perfex(1); the task of each option)."""
    modes = [name for name, on in (("-mp", args.mp), ("-s", args.signals), ("-p", args.period is not None)) if on]
    if len(modes) > 1:
        parser.error(f"{modes[0]} and {modes[1]} exclude each other")
    if len(args.events) > 2 and not args.all:
        parser.error(f"{len(args.events)} events; at most two are counted")
    if args.json and args.csv:
        parser.error("--json and --csv exclude each other")
    if args.costs is not None and not args.estimates:
        parser.error("-c needs -y")
    if args.plot is not None and not args.estimates:
        parser.error("--plot needs -y")
    for option, value, backend in (("--perf-table", args.perf_table, "perf"), ("--l2", args.l2, "valgrind"),
                                   ("--writebacks", args.writebacks, "valgrind")):
        if value and args.backend not in ("auto", backend):
            parser.error(f"{option} is an option of the {backend} backend")
    if args.writebacks and not args.all:
        parser.error("--writebacks goes with -a; -e 7, -e 22 and -e 23 do not need it")
    if args.out == "":
        parser.error("-o: the name of the file is empty")
    if not command and not args.table:
        parser.error("no file to merge" if args.merge else "no command")


def _rank() -> int | None:
    for name in _RANKS:
        value = os.environ.get(name, "")
        if re.fullmatch(r"[0-9]{1,9}", value):
            return int(value)
    return None


def _request(args: argparse.Namespace, command: list[str]) -> Request:
    from pypfm.perfex import events
    given = [] if args.all else [events.event_number(text, "-e") for text in args.events]
    return Request(
        command=tuple(command), cpu=args.cpu,
        events=events.choose(args.cpu, given, os.environ, multiplex=args.all), multiplex=args.all,
        kernel=args.kernel, exception=args.exception, per_thread=args.mp,
        gated=args.signals or args.period is not None, period=args.period, l2=_L2[args.l2 or "4m"],
        writebacks=args.writebacks, estimates=args.estimates, clock=args.clock, mixed=args.mixed,
        perf_table=args.perf_table)


# ---- where the report goes ----------------------------------------------------------

class _Printer:
    """Writes the report: to stderr or the file of -o."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.format: Format = "json" if args.json else "csv" if args.csv else "text"
        self.rank = _rank() if args.out else None
        self._path = None
        if args.out:
            self._path = Path(args.out if self.rank is None else f"{args.out}.{self.rank}")
        self._failure: OSError | None = None
        self.on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._file: Output | None = None

    def open(self) -> None:
        """Begin the report: all checks are done, and the command is started next.

        :raises PerfexError: the file of -o cannot be written
        """
        if self._path is not None:
            from pypfm.perfex.output import Output
            self._file = Output(self._path)
        if self.format == "csv":
            from pypfm.perfex import report
            self._write(report.csv_head())

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            return
        _STDERR.write(text)
        _STDERR.flush()

    def sample(self, sample: Sample) -> None:
        """Print a sample; the command goes on where that fails."""
        from pypfm.perfex import report
        if self.format == "json" or self._failure:
            return
        try:
            self._write(report.csv_sample(sample) if self.format == "csv" else report.sample_line(sample))
        except OSError as error:
            self._failure = error

    def finish(self, made: Report) -> None:
        """Print the report; with -mp and -o, a file for each thread beside it.

        :raises OSError: here, or with a sample
        """
        from pypfm.perfex import report
        if self._failure:
            raise self._failure
        if self.on_terminal:
            _say("\r\x1b[K")  # the line of progress
        apart = self._path is not None and bool(made.outcome.threads)
        if self.format == "json":
            self._write(report.json_text(made))
        elif self.format == "csv":
            self._write(report.csv_text(made))
        else:
            self._write(report.text(made, threads=not apart))
        if self._file is not None:
            self._file.close()
        for thread in made.outcome.threads if apart else ():
            from pypfm.perfex.output import save
            save(Path(f"{self._path}.{thread.pid}.{thread.tid}"), {
                "json": lambda t: report.json_text(made, [t]), "text": lambda t: report.thread_text(made, t),
                "csv": lambda t: report.csv_head() + report.csv_text(made, [t])}[self.format](thread))


# ---- what is done -------------------------------------------------------------------

def _costs(args: argparse.Namespace) -> CostTable | None:
    """The costs in effect; None: none is asked for."""
    from pypfm.perfex import costs
    if not args.estimates and not args.table:
        return None
    return costs.in_effect(args.cpu, args.costs, os.environ, builtins=not args.mixed or args.table)


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

    from pypfm.perfex.backends import choose
    table = _costs(args)
    request = _request(args, command)
    if args.plot is not None:
        from pypfm.perfex.plot import check
        check(args.plot)
    if args.table:
        _print_costs(args, table or {})
    printer = _Printer(args)
    request = replace(request, on_sample=printer.sample if args.period is not None else None,
                      progress=_progress if printer.on_terminal else None)
    backend, why = choose(args.backend, request)
    printer.open()
    outcome = replace(backend.run(request), why=why)
    try:
        _report(args, printer, request, outcome, table)
    except (OSError, PerfexError) as error:  # the command has run: its status counts, unless it is 0
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        _say(f"perfex: the report could not be written: {reason}\n")
        return outcome.status or _FAILED
    return outcome.status


def _report(args: argparse.Namespace, printer: _Printer, request: Request, outcome: Outcome,
            table: CostTable | None) -> None:
    from pypfm.perfex.report import Report
    costs = table if args.estimates else None
    made = Report(request, outcome, costs, printer.rank, _notes(args, table))
    printer.finish(made)
    if args.plot is not None:
        from pypfm.perfex.plot import draw
        draw(made, args.plot)


def _progress(line: str) -> None:
    """A line on the terminal that the next one, or the report, takes the place of."""
    _say(f"\r\x1b[Kperfex: {line}")


def _merge(args: argparse.Namespace, names: list[str]) -> int:
    """Add up reports of ranks: to stdout, as no command needs it, or the file of -o."""
    from pypfm.perfex import merge
    merged = merge.merge([merge.read(path) for path in merge.find(names)])
    text = merge.json_text(merged) if args.json else merge.csv_text(merged) if args.csv else merge.text(merged)
    if args.out:
        from pypfm.perfex.output import Output
        out = Output(Path(args.out))
        try:
            out.write(text)
            out.close()
        except OSError as error:
            raise PerfexError(f"{args.out}: {error.strerror}") from None
    else:
        _print(text)
    return 0


def _print_costs(args: argparse.Namespace, table: CostTable) -> None:
    from pypfm.perfex import costs
    _print(costs.show(table, args.cpu))


def main(argv: Sequence[str] | None = None) -> int:
    """Run perfex; the exit status."""
    return to_the_end("perfex", lambda: _main(sys.argv[1:] if argv is None else argv))


def _main(words: Sequence[str]) -> int:
    parser = build_parser()
    try:
        options, command = _split(parser, words)
        args = parser.parse_args(options)
        if args.signals or args.period is not None:
            from pypfm.perfex.signals import hold
            hold()
        _check(parser, args, command)
        if args.merge:
            return _merge(args, command)
        if not command:
            _print_costs(args, _costs(args) or {})
            return 0
        return _run(args, command)
    except PfmError as error:
        from pypfm.perfex.report import printable  # names of files and programs may have any characters
        _say(f"perfex: {printable(str(error))}\n")
        return _FAILED
