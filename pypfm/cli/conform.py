"""pypfm conform: check a library against the recorded answers."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from pypfm.cli._common import Subparsers, checked, number
from pypfm.conform.vectors import APIS

if TYPE_CHECKING:
    from pypfm.conform.model import Report

__all__ = ["add_parser"]


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "conform", help="check any libpfm library", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Load a shared library in a process of its own and compare its answers with the recorded ones.")
    add = parser.add_argument
    add("library", metavar="LIBRARY",
        help="path of the library; a name without a slash is looked up as the loader does")
    add("--api", choices=APIS, help="interface to check (default: the one that the library exports)")
    add("--timeout", type=checked(_seconds), default=10.0, metavar="SEC", help="time for one call (default: 10)")
    add("--jobs", type=checked(_jobs), default=len(os.sched_getaffinity(0)), metavar="N",
        help="processes that make calls (default: one for each CPU)")
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86400:  # not NaN either
        message = f"{text!r} is not a time in seconds (above 0, at most 86400)"
        raise ValueError(message)
    return value


def _jobs(text: str) -> int:
    value = number(text)
    if not 1 <= value <= 1024:
        message = f"{text!r} is not from 1 to 1024"
        raise ValueError(message)
    return value


def run(args: argparse.Namespace) -> int:
    from pypfm.conform import runner

    report = runner.run(args.library, args.api, jobs=args.jobs, timeout=args.timeout)
    _print(report)
    return report.status


def _print(report: Report) -> None:
    print(f"library  {report.library.loaded}\napi      {report.api}, {report.seconds:.1f} s")
    for finding in report.findings:
        print(f"{finding.kind} {finding.call}")
        for d in finding.differences:
            print(f"    {d.field}: expected {d.expected}, got {d.got}")
    for note in report.notes:
        print("note", note)
    for name, tally in report.tallies.items():
        print(f"{name:<30} {tally.run:>6} {tally.differ:>6} {tally.suppressed:>6} {tally.not_run:>6}")
