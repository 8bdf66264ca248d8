"""pypfm pmus: the PMUs that can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.cli._common import Subparsers, add_json_option, on_terminal, print_json
from pypfm.itanium import PMUS

if TYPE_CHECKING:
    import argparse

__all__ = ["add_parser"]


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser("pmus", help="list the PMUs", description="List the PMUs.")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    pmus = [cls() for cls in PMUS.values()]
    if args.json:
        print_json([{"name": p.name, "model": p.model_name, "library": "pfm3", "events": len(p),
                     "counters": list(p.counters), "counter_width": p.counter_width} for p in pmus])
    elif on_terminal(args):
        from pypfm.cli import _draw
        _draw.table(["PMU", "model", "library", "events", "counters", "width"],
                    [[p.name, p.model_name, "pfm3", len(p), f"PMC{p.counters[0]}-{p.counters[-1]}",
                      f"{p.counter_width} bits"] for p in pmus])
    else:
        for pmu in pmus:
            print(pmu.name)
    return 0
