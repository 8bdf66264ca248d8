"""pypfm events: the events of a PMU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.cli._program import completed, say
from pypfm.cli.common import add_pmu_options, api_of, asked_pmu, event_names, on_terminal, print_json
from pypfm.errors import printable, shown

if TYPE_CHECKING:
    import argparse

__all__ = ["DESCRIPTION", "HELP", "add_options", "run"]

HELP = "list events"
DESCRIPTION = (
    "List the events of a PMU: a table on a terminal, one name a"
    " line in a pipe.  Without -p, the events of all PMUs that match, as pypfm find prints them.")

_QUALIFIERS = {"code-range": "code ranges", "data-range": "data ranges", "opcode-match": "opcode matchers"}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_pmu_options(parser, "all, for a GLOB")
    for option, what in _QUALIFIERS.items():
        parser.add_argument(f"--{option}", dest="qualifiers", action="append_const", const=option,
                            help=f"IA-64: only those that can be restricted by {what}")
    glob = parser.add_argument("glob", nargs="?", metavar="GLOB",
                               help="only names that match, such as 'L1D_*'; upper and lower case are the same")
    completed(glob, event_names)


def run(args: argparse.Namespace) -> int:
    qualifiers: list[str] = args.qualifiers or []
    if args.pmu is None:
        return _of_all(args, qualifiers)
    glob = args.glob or "*"
    if (api := api_of(args)) != "pfm3" and qualifiers:
        args.usage_error(f"--{qualifiers[0]}: events of {args.pmu} cannot be restricted")
    pmu = asked_pmu(args)
    found = [event for event in pmu.find(glob)
             if all(getattr(event, f"supports_{q.replace('-', '_')}") for q in qualifiers)]
    if args.json:
        print_json([e.to_json() for e in found])
    elif not found:
        options = "".join(f" --{q}" for q in qualifiers)
        hint = f"without a pattern: all{' that it has' if options else ' events'}"
        if not options and pmu.find(f"*{glob}*"):
            hint = f"the whole name has to match, as with {shown(f'*{glob}*')}"
        say(f"pypfm events: no event of {args.pmu} matches {shown(glob)}{options} ({hint})\n")
    elif on_terminal(args):
        from pypfm.cli import draw
        if api == "pfm4":
            draw.table(["event", "code", "umasks", "description"],
                        [[e.name, hex(e.code), len(e.umasks) or "", e.description] for e in found])
        else:
            draw.table(["event", "code", "umask", "description"],
                        [[e.name, hex(e.code), hex(e.umask), e.description] for e in found])
    else:
        for event in found:
            print(printable(event.name))
    return 0 if found else 1


def _of_all(args: argparse.Namespace, qualifiers: list[str]) -> int:
    """Print the events of all PMUs whose names match."""
    from pypfm.cli import _finding, find

    if qualifiers or args.glob is None:
        given = f"--{qualifiers[0]}" if qualifiers else "neither a PMU nor a GLOB"
        args.usage_error(f"{given}: give -p PMU{'' if qualifiers else ', or a GLOB to search in all PMUs'}")
    found = _finding.grouped(_finding.matching(args.glob, find.searched(args)))
    if found or args.json:
        find.show(args, found)
    else:
        say(f"pypfm events: no event of any PMU matches {shown(args.glob)} (by words: pypfm find WORD ...)\n")
    return 0 if found else 1
