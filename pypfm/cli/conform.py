"""pypfm conform: check any libpfm library."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pypfm.cli._common import Subparsers, checked, number
from pypfm.config import LIBRARIES
from pypfm.conform.report import HOWS, save, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["add_parser"]

_EPILOG = """\
A crash or a hang of the library is a finding, not the end of the run.  The exit status
is a sum: 1 error, 2 wrong usage, 4 answers that differ, crashes and hangs, 8 layouts
or symbols that differ; 0 if there is nothing.

  pypfm conform libpfm.so.4
  pypfm conform ./libpfm.so.3 --timeout 2 --jobs 1
"""
_LONGEST_TIMEOUT = 86400.0  # seconds
_MOST_JOBS = 1024


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "conform", help="check any libpfm library", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Load a shared library in a process of its own and compare what it answers with the recorded"
        " answers.")
    add = parser.add_argument
    add("library", metavar="LIBRARY", help="its path; a name without a slash is looked up as the loader does")
    add("--api", choices=list(LIBRARIES), help="interface to check (default: the one that the library exports)")
    add("--timeout", type=checked(_seconds), default=10.0, metavar="SEC",
        help="time that one call may take, in seconds (default: 10)")
    add("--jobs", type=checked(_jobs), default=len(os.sched_getaffinity(0)), metavar="N",
        help="processes that make calls (default: one for each CPU)")
    add("--report", choices=HOWS, default="text", help="kind of report (default: text)")
    add("--output", metavar="FILE", help="file for the report (default: standard output)")
    add("--suppressions", action="append", default=[], metavar="FILE",
        help="file of accepted differences with their reasons, or the name of one that comes with pypfm"
        " (debian-libpfm4); may be given several times")
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= _LONGEST_TIMEOUT:  # NaN is not, either
        message = f"{text!r} is not a time in seconds, above 0 and at most {_LONGEST_TIMEOUT:.0f}"
        raise ValueError(message)
    return value


def _jobs(text: str) -> int:
    value = number(text)
    if not 1 <= value <= _MOST_JOBS:
        message = f"{text!r} is not between 1 and {_MOST_JOBS}"
        raise ValueError(message)
    return value


def run(args: argparse.Namespace) -> int:
    from pypfm.conform import runner, suppress

    suppressions = suppress.read(*args.suppressions)
    with _progress_bar("calls") as progress:
        report = runner.run(args.library, args.api, jobs=args.jobs, timeout=args.timeout, progress=progress)
    suppressions.apply(report)
    if args.output is None:
        write(report, args.report, sys.stdout)
    else:
        save(report, args.report, args.output)
    return report.status


@contextmanager
def _progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on the terminal, gone when the work is done; None if standard error is not one."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
