"""pypfm events: the events of a PMU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pypfm.cli._common import (
    Subparsers,
    add_json_option,
    add_pmu_option,
    library_of,
    on_terminal,
    print_json,
    selected_pmu,
)

if TYPE_CHECKING:
    import argparse

__all__ = ["add_parser"]


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "events", help="list events", description="List the events of a PMU: a table on a terminal, one name a"
        " line in a pipe.")
    add_pmu_option(parser)
    add_json_option(parser)
    parser.add_argument("glob", nargs="?", default="*", metavar="GLOB",
                        help="only names that match, such as 'L1D_*'; upper and lower case are the same")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    found = selected_pmu(args.pmu).find(args.glob)
    if args.json:
        print_json([e.to_json() for e in found])
    elif not found:
        print(f"pypfm events: no event of {args.pmu} matches {args.glob!r}", file=sys.stderr)
    elif on_terminal(args):
        from pypfm.cli import _draw
        if library_of(args.pmu) == "pfm4":
            _draw.table(["event", "code", "umasks", "description"],
                        [[e.name, hex(e.code), len(e.umasks) or "", e.description] for e in found])
        else:
            _draw.table(["event", "code", "umask", "description"],
                        [[e.name, hex(e.code), hex(e.umask), e.description] for e in found])
    else:
        for event in found:
            print(event.name)
    return 0 if found else 1
