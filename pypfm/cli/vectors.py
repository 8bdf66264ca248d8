"""pypfm vectors: recorded answers, for other implementations; new ones from any library."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli._program import say
from pypfm.cli.common import add_calls_options, add_jobs_option, file_errors, named, print_json
from pypfm.common.pmu_names import canonical
from pypfm.conform.model import APIS, PMUS, base
from pypfm.errors import ConformError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pypfm.conform.model import Vector

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_options", "run"]

HELP = "write recorded results as JSON lines"
DESCRIPTION = "Write recorded results as JSON lines, or record new ones from a library."
EPILOG = """\
A file of vectors has one JSON object in each line and nothing else: no header.  A vector
is one call: "kind" says which, "id" names it (unique in a file), "result" is "valid" or
"error", "error" the name of the return code and "why" the reason; "expect" is the
answer, with the return code "ret".  pypfm vectors schema describes every field.  Calls
with "pmu": null are made before pfm_initialize(); they are among those of each libpfm 3 PMU.

  pypfm vectors export -p itanium2 -o itanium2.jsonl
  pypfm vectors record ./libpfm.so.3 -p montecito --calls 10000 --seed 7 -o set.jsonl
  pypfm conform ./other/libpfm.so.3 --vectors set.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(print_help=parser.print_help)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _add_export_options(actions.add_parser(
        "export", help="write the recorded results of the reference libraries",
        description="Write the recorded results of the reference libraries: libpfm 3.10 and 4.13.0. Results of libpfm"
        " 4 about ita, ita2, mont and gen_ia64 follow from those of libpfm 3, for no other libpfm 4 has these PMUs."))
    _add_record_options(actions.add_parser(
        "record", help="record the results of a library for random calls",
        description="Make random calls to a library, or those of a file, in separate processes, and write the results."
        " Calls on which it crashes or hangs are left out; standard error says how many. Vectors of libpfm 4 whose"
        " \"env\" forces no PMU hold on hosts of the same kind only."))
    actions.add_parser("schema", help="print the JSON Schema of a vector",
                       description="Print the JSON Schema of a line of a file of vectors.").set_defaults(run=_schema)


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument("--api", choices=APIS, help="interface (default: the one that has the PMU; of gen_ia64 pfm3)")
    parser.set_defaults(run=_export)


def _add_record_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIBRARY",
                        help="its path; a name without a slash is looked up as the loader does")
    _add_common(parser, required=False)
    parser.add_argument("--vectors", metavar="FILE", help="make the calls of this file instead; the last step of a"
                        " sequence may be one that ends the process")
    parser.add_argument("--api", choices=APIS, help="interface (default: the one that the library exports)")
    add_calls_options(parser, "how many", 2500)
    add_jobs_option(parser)
    parser.set_defaults(run=_record, usage_error=parser.error)


def _add_common(parser: argparse.ArgumentParser, required: bool = True) -> None:
    parser.add_argument("-p", "--pmu", type=canonical, choices=sorted(PMUS), required=required, metavar="PMU",
                        help=f"which PMU: {', '.join(sorted(PMUS))}")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: standard output)")


def run(args: argparse.Namespace) -> int:
    """Print the help: no action is given."""
    args.print_help()
    return 0


def _schema(_: argparse.Namespace) -> int:
    from pypfm import schemas

    print_json(schemas.load("vector"))
    return 0


def _export(args: argparse.Namespace) -> int:
    from pypfm.conform.report.lines import line
    from pypfm.conform.vectors import pmu_of, recorded

    api = PMUS[args.pmu][0] if args.api is None else args.api
    if base(api) not in PMUS[args.pmu]:
        raise ConformError(f"{api} has no {args.pmu}")
    wanted = (args.pmu, "none")  # what holds for any PMU is part of each set
    _write(args.output, (line(api, vector) for vector in recorded(api) if pmu_of(vector) in wanted))
    return 0


def _record(args: argparse.Namespace) -> int:
    from pypfm.conform.record import record, record_again
    from pypfm.conform.report.lines import line
    from pypfm.conform.vectors import read

    if (args.pmu is None) == (args.vectors is None):
        args.usage_error("either -p PMU, for random calls, or --vectors FILE")
    if args.vectors is None:
        recording = record(args.library, args.pmu, args.calls, args.seed, args.api, jobs=args.jobs)
    else:
        recording = record_again(args.library, read(Path(args.vectors)), args.api, jobs=args.jobs)
    _write(args.output, (line(recording.api, vector) for vector in recording.vectors))
    if recording.left_out:
        say(_left_out(recording.left_out, recording.left_out.total() + len(recording.vectors)))
    return 0


def _left_out(reasons: Counter[str], calls: int) -> str:
    parts = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    return f"pypfm vectors: {reasons.total()} of {calls} calls left out: {parts}\n"


def _write(path: str | None, vectors: Iterable[Vector]) -> None:
    lines = (json.dumps(vector, separators=(",", ":")) + "\n" for vector in vectors)
    if path is None:
        sys.stdout.writelines(lines)
        return
    with file_errors(ConformError, named(path)), Path(path).open("w", encoding="ascii") as stream:
        stream.writelines(lines)
