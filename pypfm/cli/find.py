"""pypfm find: events of all PMUs by words; and what info and events do without -p."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pypfm.cli import _finding
from pypfm.cli._program import completed, say
from pypfm.cli.common import (
    SYSTEM,
    add_pmu_options,
    api_of,
    asked_pmu,
    event_names,
    on_terminal,
    print_json,
    try_library,
)
from pypfm.errors import LibraryError, printable, shown

if TYPE_CHECKING:
    import re

    from pypfm.cli._finding import Entry, Found

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "REST", "add_options", "run", "searched", "show"]

_MOST = 20
_MOST_PMUS = 3

HELP = "find events by words, in all PMUs"
DESCRIPTION = "Find events by words, in all PMUs; those that fit best come first."
EPILOG = """\
Every word must be in the event's name, its unit mask, its other name, its description, or in the name of its PMU.
Searched are the PMUs of pypfm and those of the system's libpfm 4.  A line has an event, the PMUs that have it, and what
it counts.

  pypfm find l3 miss
  pypfm find skylake branch mispredicted
  pypfm find -p itanium2 tlb
  pypfm find --all --json page fault
"""
REST = "words"


def add_options(parser: argparse.ArgumentParser) -> None:
    add_pmu_options(parser, "all")
    parser.add_argument("--all", action="store_true", help=f"print all that fit, not only the best {_MOST}")
    words = parser.add_argument("words", nargs="+", metavar="WORD", help="part of a name or of a description")
    completed(words, event_names)


def run(args: argparse.Namespace) -> int:
    text = " ".join(args.words)
    marked = _finding.pattern(text)
    if marked is None:
        args.usage_error(f"argument WORD: {shown(text)} has no letter or digit, such as names of events have")
    entries = searched(args)
    found = _finding.best(text, entries)
    if not found and args.json:
        print_json([])
    elif not found:
        say(f"pypfm find: no event fits {shown(text)}{printable(_finding.missing(text, entries))}\n")
    else:
        show(args, found if args.all else found[:_MOST], marked, more=0 if args.all else len(found) - _MOST)
    return 0 if found else 1


def searched(args: argparse.Namespace) -> list[Entry]:
    """Return all events that a command line asks for: of one PMU, of a library, or of all PMUs.

    If the system has no libpfm 4, a line says so, and how to get one.
    """
    if args.pmu is not None:
        api_of(args)
        return list(_finding.of_pmu(asked_pmu(args)))
    found = list(_finding.theirs(args.library) if args.library else _finding.ours())
    if args.library is None:
        try:
            try_library(SYSTEM)
            found += _finding.theirs(SYSTEM, but_ours=True)
        except LibraryError as error:
            from pypfm.perf.system import HOW_TO_GET
            say(f"pypfm {args.command}: only in pypfm's own PMUs: {printable(str(error))}"
                f" (to install it: {HOW_TO_GET})\n")
    return found


def show(args: argparse.Namespace, found: list[Found], marked: re.Pattern[str] | None = None, more: int = 0) -> None:
    """Print what was found: a table on a terminal, one event a line in a pipe.

    :param more: how many more there are
    """
    if args.json:
        print_json([one.to_json() for one in found])
    elif on_terminal(args):
        from pypfm.cli import draw
        draw.table(["event", "PMU", "description"], [[one.event, _some(one.pmus), one.description] for one in found],
                   marked=marked)
        first = found[0]
        draw.say(f"more about the first: pypfm info -p {first.pmus[0]} {first.event.partition(':')[0]}\n")
    else:
        for one in found:
            print(printable(one.event), printable(",".join(one.pmus)), printable(one.description), sep="\t")
    if more > 0:
        say(f"pypfm {args.command}: {more} more with --all\n")


def _some(pmus: tuple[str, ...]) -> str:
    rest = len(pmus) - _MOST_PMUS
    return ", ".join(pmus[:_MOST_PMUS]) + (f" and {rest} more" if rest > 0 else "")
