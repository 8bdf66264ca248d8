"""pypfm pmus: the PMUs that can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.cli._common import (
    PMUS,
    Subparsers,
    add_json_option,
    library_of,
    on_terminal,
    print_json,
    selected_pmu,
)

if TYPE_CHECKING:
    import argparse

__all__ = ["add_parser"]


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser("pmus", help="list the PMUs", description="List the PMUs.")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    pmus = [(library_of(name), selected_pmu(name)) for name in PMUS]
    if args.json:
        print_json([{"name": p.name, "model": p.model_name, "library": library, "events": len(p),
                     "counters": list(p.counters), "counter_width": getattr(p, "counter_width", None)}
                    for library, p in pmus])
    elif on_terminal(args):
        from pypfm.cli import _draw
        _draw.table(["PMU", "model", "library", "events", "counters"],
                    [[p.name, p.model_name, library, len(p), len(p.counters) or "kernel"] for library, p in pmus])
    else:
        for _, pmu in pmus:
            print(pmu.name)
    return 0
