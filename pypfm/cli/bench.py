"""pypfm bench: how long the libraries take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pypfm.cli._program import status_line
from pypfm.cli.common import Subparsers, add_json_option, between, checked, on_terminal, print_json
from pypfm.errors import InvalidValueError, shown

if TYPE_CHECKING:
    from pypfm.bench import Measure, Report, Time

__all__ = ["add_parser"]

_EPILOG = """\
Times are the shortest of all rounds.  The floor is the least that any library has to do:
hash, a lookup of the same name by hsearch_r(3); scan, strcasecmp(3) from the first name on;
memset, clearing the output; perf, the same of four software events of perf; cffi, the C function
alone; python, a process that does nothing.

  pypfm bench
  pypfm bench --against /usr/lib/x86_64-linux-gnu/libpfm.so.4
  pypfm bench ./libpfm.so.3 --against /opt/old/libpfm.so.3 --rounds 2000

"pypfm bench perfex" measures the processor time of perfex's simulation, next to callgrind's.
"""

_SIMULATION = "perfex"
_GROUPS = {
    "pfm3": "libpfm 3 in C", "pfm3-manual": "libpfm 3 in C, structures of the manual pages", "pfm4": "libpfm 4 in C",
    "mirror": "the mirrors, called from Python", "objects": "Python objects", "start": "processes",
}
_NAMES = {
    "find_event": "find by name", "dispatch_qualifiers": "dispatch, qualifiers", "dispatch_ranges": "dispatch, ranges",
    "dispatch_ipear": "dispatch, IP-EAR", "encode_fstr": "encode, with string",
    "read_pmds": "read of four PMDs", "start_stop": "start and stop", "sample": "a sample",
}


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "bench", help="measure how long a library takes", epilog=_EPILOG,
        description="Measure lookups, encoding and initialisation of a libpfm in C, next to another one. Without"
        " arguments: of the libraries of this installation, and what Python adds.")
    add = parser.add_argument
    add("library", nargs="?", metavar="LIBRARY",
        help="a libpfm 3 or 4 (default: that of this installation); or perfex: its simulation")
    add("--against", metavar="PATH", help="another library with the same API, timed in turns with the first")
    add("--rounds", type=checked(_rounds), metavar="N", help="how often everything is timed (default: 500; perfex: 3)")
    add("--only", metavar="NAME", help="perfex: this program only")
    add_json_option(parser)
    parser.set_defaults(run=run)


def _rounds(text: str) -> int:
    from pypfm.bench import MOST_ROUNDS
    return between(text, 1, MOST_ROUNDS)


def run(args: argparse.Namespace) -> int:
    if args.library == _SIMULATION:
        return _simulation(args)
    if args.only is not None:
        raise InvalidValueError("--only is for pypfm bench perfex")
    from pypfm.bench import ROUNDS, bench

    with status_line() as show:
        report = bench(args.library, against=args.against, rounds=args.rounds or ROUNDS,
                       progress=show and (lambda what: show(f"measuring {what}")))
    if on_terminal(args):
        _show(report)
    else:
        print_json(report.to_json())
    return 0


def _simulation(args: argparse.Namespace) -> int:
    """perfex, next to callgrind."""
    from dataclasses import asdict

    from pypfm.bench.simulation import PROGRAMS, ROUNDS, mean, simulations
    from pypfm.cli import draw

    if args.against is not None:
        raise InvalidValueError("--against: perfex is measured next to callgrind, and nothing else")
    if args.only not in (None, *PROGRAMS):
        raise InvalidValueError(f"--only: {shown(args.only)} is none of {'; '.join(PROGRAMS)}")
    names = PROGRAMS if args.only is None else (args.only,)
    missing: list[str] = []
    with status_line() as show:
        found = list(simulations(names, rounds=args.rounds or ROUNDS, missing=missing.append,
                                 progress=show and (lambda what: show(f"measuring {what}"))))
    if not on_terminal(args):
        print_json({"programs": [asdict(one) for one in found], "mean": mean(found), "missing": missing})
        return 0
    draw.table(["seconds of a processor", "alone", "perfex", "callgrind", "ratio", "wanted"], [
        [one.name, *(f"{value:.2f}" for value in (one.alone, one.perfex, one.callgrind, one.ratio)), f"{one.goal:.1f}"]
        for one in found])
    for line in missing:
        draw.say(line)
    if (average := mean(found)) is not None:
        draw.say(f"The mean ratio of those with all events is {average:.2f}; 0.65 is wanted.")
    return 0


def _show(report: Report) -> None:
    """Print a table for each group of measures."""
    from pypfm.cli import draw

    for compared in report.libraries:
        draw.rows([(compared.api, compared.library), *([("other", compared.other)] if compared.other else [])])
    for group, title in _GROUPS.items():
        measures = [m for m in report.measures if m.group == group]
        if measures:
            _table(title, measures)
    for measure in report.measures:
        for subject, why in measure.missing.items():
            draw.say(f"{_name(measure)}, {subject}: {why}")
    noise = sorted(m.noise for m in report.measures)
    draw.say(f"The shortest of {report.rounds} rounds ({-(-report.rounds // 5)} of Python,"
              f" {-(-report.rounds // 50)} of processes); half of all medians are"
              f" less than {100 * noise[len(noise) // 2]:.0f} % above it, all less than {100 * noise[-1] + 0.5:.0f} %.")


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
    in_name = measure.pmu is None or measure.group in ("objects", "pfm4") or measure.name.startswith("pfm4")
    return name if in_name else f"{name}\n  {measure.pmu}"


def _shortest(time: Time | None) -> str:
    """A time with three digits and its unit."""
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
