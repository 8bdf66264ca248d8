"""pypfm pmus: the PMUs that can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.cli.common import PMUS, add_json_option, add_library_option, on_terminal, print_json
from pypfm.common.value import Value
from pypfm.errors import printable
from pypfm.pmus import pmu

if TYPE_CHECKING:
    import argparse

__all__ = ["DESCRIPTION", "HELP", "add_options", "run"]

HELP = "list the PMUs"
DESCRIPTION = (
    "List the PMUs; with --library, those that it knows, and whether this"
    " host has them.")


class Listed(Value):
    """A PMU in the list.

    :ivar aliases: other names that -p takes for it; of another library -p takes the model, too
    :ivar library: pfm3 or pfm4, or the file of the library that was asked
    :ivar events: how many it has
    :ivar counters: numbers; the kernel's events have none
    :ivar counter_width: bits of a counter, where that is known
    :ivar present: whether this host has it, as the library that was asked says; null of pypfm's own
    """

    name: str
    model: str
    library: str
    events: int
    counters: tuple[int, ...]
    counter_width: int | None
    present: bool | None = None
    aliases: tuple[str, ...] = ()


def add_options(parser: argparse.ArgumentParser) -> None:
    add_library_option(parser)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    pmus = _own() if args.library is None else _of(args.library)
    if args.json:
        print_json([p.to_json() for p in pmus])
    elif on_terminal(args):
        from pypfm.cli import draw
        ours = args.library is None  # another library's model is the other name
        draw.table(["PMU", *["also called"] * ours, "model", "library" if ours else "present", "events", "counters"],
                   [[p.name, *[", ".join(p.aliases)] * ours, p.model,
                     p.library if ours else "yes" if p.present else "no", p.events, len(p.counters) or "kernel"]
                    for p in pmus])
    else:
        for pmu in pmus:
            print(printable(pmu.name) + ("\tpresent" if pmu.present else ""))
    return 0


def _own() -> list[Listed]:
    return [Listed(p.name, p.model_name, PMUS[p.name].library, len(p), p.counters, getattr(p, "counter_width", None),
                   aliases=PMUS[p.name].aliases)
            for p in map(pmu, PMUS)]


def _of(library: str) -> list[Listed]:
    """Return the PMUs that a library knows."""
    from pypfm.perf.foreign import foreign_pmus

    file, pmus = foreign_pmus(library)
    return [Listed(p.name, p.description, file, p.events, tuple(range(p.num_counters)), None, p.is_present)
            for p in pmus]
