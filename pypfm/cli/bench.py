"""pypfm bench: how long the libraries take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pypfm.cli._program import status_line
from pypfm.cli.common import add_json_option, between, checked, on_terminal, print_json
from pypfm.errors import InvalidValueError

if TYPE_CHECKING:
    from pypfm.bench import Measure, Report, Time

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_options", "run"]

HELP = "measure how long a library takes"
DESCRIPTION = (
    "Measure lookups, encoding, information and initialisation of a libpfm, next to another. Without"
    " arguments: of the libraries of this installation.")
EPILOG = """\
Times are the shortest of all rounds; JSON has the median as well.  The floor is the least that any library has to do:
hash, a lookup of the same name by hsearch_r(3); memset, clearing the output.

  pypfm bench
  pypfm bench --against /usr/lib/x86_64-linux-gnu/libpfm.so.4
  pypfm bench ./libpfm.so.3 --against /opt/old/libpfm.so.3 --rounds 2000
"""

_TITLES = {"pfm3": "libpfm 3", "pfm3-manual": "libpfm 3, structures of the manual pages", "pfm4": "libpfm 4"}
_NAMES = {
    "find_event": "find by name", "get_event_name": "information", "get_event_info": "information",
    "dispatch_qualifiers": "dispatch, qualifiers", "encode_fstr": "encode, with string",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("library", nargs="?", metavar="LIBRARY", help="a libpfm 3 or 4 (default: that of this installation)")
    add("--against", metavar="PATH", help="another library with the same API, timed in turns with the first")
    add("--rounds", type=checked(_rounds), metavar="N", help="how often everything is timed (default: 500)")
    add_json_option(parser)


def _rounds(text: str) -> int:
    from pypfm.bench import MOST_ROUNDS
    return between(text, 1, MOST_ROUNDS)


def run(args: argparse.Namespace) -> int:
    if args.library == "perfex":
        raise InvalidValueError("perfex is no library; tests/bench of pypfm's sources measures its simulation")
    from pypfm.bench import ROUNDS, bench

    with status_line() as show:
        report = bench(args.library, against=args.against, rounds=args.rounds or ROUNDS,
                       progress=show and (lambda what: show(f"measuring {what}")))
    if on_terminal(args):
        _show(report)
    else:
        print_json(report.to_json())
    return 0


def _show(report: Report) -> None:
    """Print a table for each group of measures."""
    from pypfm.cli import draw

    for compared in report.libraries:
        draw.rows([(compared.api, compared.library), *([("other", compared.other)] if compared.other else [])])
    for group, title in _TITLES.items():
        measures = [m for m in report.measures if m.group == group]
        if measures:
            _table(title, measures)
    for measure in report.measures:
        for subject, why in measure.missing.items():
            draw.say(f"{_name(measure)}, {subject}: {why}")
    noise = sorted(m.noise for m in report.measures)
    draw.say(f"The shortest of {report.rounds} rounds; half of all medians are less than"
             f" {100 * noise[len(noise) // 2]:.0f} % above it, all less than {100 * noise[-1] + 0.5:.0f} %.")


def _table(title: str, measures: list[Measure]) -> None:
    from pypfm.cli import draw

    compared = any(m.other or "other" in m.missing for m in measures)
    heads = [title, "time", *(["other", "ratio"] if compared else []), "floor", "ratio"]
    lines = []
    for m in measures:
        other = [_shortest(m.other), _ratio(m.library_over_other)] if compared else []
        floors = "\n".join(f"{_shortest(floor)} {name}" for name, floor in m.floors.items())
        ratios = "\n".join(map(_ratio, m.library_over_floor.values()))
        lines.append([_name(m), _shortest(m.library), *other, floors or "-", ratios or "-"])
    draw.table(heads, lines)


def _name(measure: Measure) -> str:
    name = _NAMES.get(measure.name, measure.name)
    return name if measure.pmu is None or measure.group == "pfm4" else f"{name}\n  {measure.pmu}"


def _shortest(time: Time | None) -> str:
    """Format a time with three digits and its unit."""
    if time is None:
        return "-"
    ns = time.min_ns
    for unit, size in (("ns", 1.0), ("µs", 1e3), ("ms", 1e6)):
        if ns / size < 999.5 or unit == "ms":
            break
    value = ns / size
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3f}" if ratio < 9.9995 else f"{ratio:.1f}"
