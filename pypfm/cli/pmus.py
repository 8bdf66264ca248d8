"""pypfm pmus: the PMUs that can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.cli.common import (
    PMUS,
    Subparsers,
    add_json_option,
    library_of,
    on_terminal,
    print_json,
    selected_pmu,
)
from pypfm.common.value import Value

if TYPE_CHECKING:
    import argparse

__all__ = ["add_parser"]


class Listed(Value):
    """A PMU in the list.

    :ivar events: how many it has
    :ivar counters: numbers; the kernel's events have none
    :ivar counter_width: bits of a counter, where that is known
    """

    name: str
    model: str
    library: str
    events: int
    counters: tuple[int, ...]
    counter_width: int | None


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser("pmus", help="list the PMUs", description="List the PMUs.")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    pmus = [Listed(p.name, p.model_name, library_of(p.name), len(p), p.counters, getattr(p, "counter_width", None))
            for p in map(selected_pmu, PMUS)]
    if args.json:
        print_json([p.to_json() for p in pmus])
    elif on_terminal(args):
        from pypfm.cli import draw
        draw.table(["PMU", "model", "library", "events", "counters"],
                    [[p.name, p.model, p.library, p.events, len(p.counters) or "kernel"] for p in pmus])
    else:
        for pmu in pmus:
            print(pmu.name)
    return 0
