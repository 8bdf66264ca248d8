"""pypfm conform: check any libpfm library."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli._program import status_line
from pypfm.cli.common import add_calls_options, add_jobs_option, checked
from pypfm.conform.model import APIS
from pypfm.conform.report import HOWS, How, save, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.conform.model import Report, Vector

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_options", "run"]

HELP = "check any libpfm library"
DESCRIPTION = (
    "Load a shared library in a process of its own and check its exported symbols, its structures"
    " (by debug information, or by probing where it reads and writes), and its results for all recorded calls."
    " Calls about the PMUs of Itanium are made to a libpfm 4 that has one of them.")
EPILOG = """\
A crash or a hang of the library is a finding, not the end of the run.  The exit status
is a sum: 1 error, 2 wrong usage, 4 results that differ, crashes and hangs, 8 layouts
or symbols that differ; 0 if there is nothing.  Functions that were never called, or not
after the pfm_initialize() that they need, do not change it: the last line names them,
and "not_tried" of the JSON report does.

  pypfm conform libpfm.so.4
  pypfm conform ./libpfm.so.3 --timeout 2 --jobs 1
  pypfm conform ./libpfm.so.4 --against libpfm.so.4 --calls 20000 --seed 7 --suppressions debian-libpfm4
"""
_LONGEST_TIMEOUT = 86400.0  # seconds
_CALLS = 1000


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("library", metavar="LIBRARY", help="its path; a name without a slash is looked up as the loader does")
    add("--api", choices=APIS, help="interface to check (default: the one that the library exports)")
    add("--complete", action="store_true",
        help="demand also exports that the original has not: names that only a manual page has, and pypfm's own")
    add("--against", metavar="PATH", help="make random calls to this library, too; the results have to be the same")
    add_calls_options(parser, "how many of them", _CALLS)
    add("--vectors", metavar="FILE", help="calls and results instead of those that come with pypfm, as pypfm vectors"
        " writes them")
    add("--timeout", type=checked(_seconds), default=10.0, metavar="SEC",
        help="time that loading the library and each call may take, in seconds (default: 10); up to 1000 calls in a"
        " row may take 20 times as long, and a function that is too slow three times is given up")
    add_jobs_option(parser)
    add("--report", type=checked(_how), metavar="KIND",
        help=f"kind of report: {', '.join(HOWS)} (default: text)")
    add("--json", action="store_true", help="the same as --report json")
    add("--output", metavar="FILE", help="file for the report (default: standard output)")
    add("--suppressions", action="append", default=[], metavar="FILE",
        help="file of accepted differences with their reasons, or the name of one that comes with pypfm"
        " (debian-libpfm4); may be given several times")
    add("--accept", metavar="FILE",
        help="write what was found into a new file of accepted differences, for --suppressions of later runs")
    add("--all", action="store_true", help="print each difference, not one of each group")
    parser.set_defaults(calls=None, seed=None)  # what is not given is seen


def _how(text: str) -> How:
    if text == "html":
        raise ValueError("there is no HTML report any more; text is for people, json has everything, junit is for CI")
    for how in HOWS:
        if how == text:
            return how
    raise ValueError(f"{text!r} is no kind of report; there are {', '.join(HOWS)}")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= _LONGEST_TIMEOUT:  # NaN is not, either
        raise ValueError(f"{text!r} is not a time in seconds, above 0 and at most {_LONGEST_TIMEOUT:.0f}")
    return value


def run(args: argparse.Namespace) -> int:
    from pypfm.conform import suppress
    from pypfm.conform.vectors import read

    if args.against is None and (args.calls is not None or args.seed is not None):
        args.usage_error("--calls and --seed are about the random calls of --against PATH")
    if args.json and args.report not in (None, "json"):
        args.usage_error(f"--json and --report {args.report} contradict each other")
    suppressions = suppress.read(*args.suppressions)
    vectors = None if args.vectors is None else read(Path(args.vectors))
    accepted = None if args.accept is None else suppress.create(args.accept)  # before a run that may take long
    try:
        report = _checked(args, vectors)
    except BaseException:
        if accepted is not None:
            os.unlink(args.accept)
        raise
    suppressions.apply(report)
    how: How = "json" if args.json else args.report or "text"
    if args.output is None:
        write(report, how, sys.stdout, args.all)
    else:
        save(report, how, args.output, args.all)
    if accepted is not None:
        suppress.accept(report, accepted)
    return report.status


def _checked(args: argparse.Namespace, vectors: Sequence[Vector] | None) -> Report:
    """Run the kit as the options say."""
    from pypfm.conform import conform

    with status_line() as show:
        return conform(args.library, args.api, against=args.against, calls=args.calls or _CALLS,
                       seed=1 if args.seed is None else args.seed, vectors=vectors, jobs=args.jobs,
                       timeout=args.timeout, complete=args.complete,
                       progress=show and (lambda done, total: show(f"{done} of {total} calls")))
