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

    from pypfm.goldmont import Event4
    from pypfm.itanium import Event

__all__ = ["add_parser", "event_json"]


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "events", help="list events", description="List the events of a PMU: a table on a terminal, one name a"
        " line in a pipe.")
    add_pmu_option(parser)
    add_json_option(parser)
    parser.add_argument("glob", nargs="?", default="*", metavar="GLOB",
                        help="only names that match, such as 'L1D_*'; upper and lower case are the same")
    parser.set_defaults(run=run)


def event_json(event: Event | Event4) -> dict[str, object]:
    """Everything about an event as JSON data (schemas: info, info_pfm4)."""
    return _event4_json(event) if library_of(event.pmu) == "pfm4" else _event3_json(event)  # type: ignore[arg-type]


def _event4_json(event: Event4) -> dict[str, object]:
    return {
        "pmu": event.pmu, "index": event.index, "name": event.name, "description": event.description,
        "code": hex(event.code), "alias_of": event.alias_of, "is_precise": event.is_precise,
        "is_offcore": event.is_offcore,
        "umasks": [{"index": u.index, "name": u.name, "code": hex(u.code), "group": u.group,
                    "description": u.description, "members": list(u.members), "is_default": u.is_default,
                    "is_precise": u.is_precise} for u in event.umasks],
    }


def _event3_json(event: Event) -> dict[str, object]:
    return {
        "pmu": event.pmu, "index": event.index, "name": event.name, "description": event.description,
        "code": hex(event.code), "umask": hex(event.umask), "counters": list(event.counters),
        "maxincr": event.maxincr, "is_ear": event.is_ear, "is_iear": event.is_iear, "is_dear": event.is_dear,
        "is_branch": event.is_branch,
        "ear_mode": None if event.ear_mode is None else event.ear_mode.name.lower(),
        "supports_opcode_match": event.supports_opcode_match,
        "supports_code_range": event.supports_code_range,
        "supports_data_range": event.supports_data_range,
        "group": event.group, "set": event.set, "type": event.type,
        "unit_masks": [{"index": m.index, "name": m.name, "code": hex(m.code), "description": m.description}
                       for m in event.unit_masks],
    }


def run(args: argparse.Namespace) -> int:
    found = selected_pmu(args.pmu).find(args.glob)
    if args.json:
        print_json([event_json(e) for e in found])
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
