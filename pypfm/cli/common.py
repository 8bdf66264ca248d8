"""The PMU option, values of options and output that sub-commands share."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from pypfm import pmus
from pypfm.cli._program import completed, say
from pypfm.common.pmu_names import PMUS, canonical
from pypfm.errors import LibraryError, named, printable, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pypfm.errors import PfmError

#: The sub-commands that have --library with a file that may be left out.
WITH_LIBRARY = ("pmus", "find", "events", "info", "encode", "decode")
#: The libpfm 4 that --library asks if it has no file.
SYSTEM = "libpfm.so.4"
_MOST_CALLS, _MOST_JOBS = 10_000_000, 1024

__all__ = [
    "PMUS", "SYSTEM", "WITH_LIBRARY", "add_calls_options", "add_jobs_option", "add_json_option",
    "add_library_option", "add_pmu_options", "api_of", "asked_pmu", "between", "checked", "event_names",
    "file_errors", "named", "number", "on_terminal", "print_json", "try_library", "whole_options",
]


def add_pmu_options(parser: argparse.ArgumentParser, without: str = "") -> None:
    """Add -p and --library, which brings PMUs of its own (`api_of` checks the name), and --json.

    :param without: what a command does without -p; empty: it needs one
    """
    pmu = parser.add_argument(
        "-p", "--pmu", metavar="PMU", required=not without, type=canonical,
        help=f"which PMU: {', '.join(map(_with_aliases, sorted(PMUS)))}, or one of pypfm pmus --library; in upper or"
             " lower case"
             f"{f' (default: {without})' if without else ''}")
    completed(pmu, _pmu_names)
    add_library_option(parser)
    add_json_option(parser)


def _with_aliases(name: str) -> str:
    other = PMUS[name].aliases
    return f"{name} ({', '.join(other)})" if other else name


def _pmu_names(_: str, args: argparse.Namespace) -> list[str]:
    """Return the PMUs that -p takes, for a shell to complete."""
    library = SYSTEM if args.library is None else args.library
    names = [name for pmu, home in PMUS.items() for name in (pmu, *home.aliases)]
    ours = [] if args.library else [name for name in names if " " not in name]
    try:
        try_library(library)
        from pypfm.perf.foreign import foreign_pmus
        return list(dict.fromkeys([*ours, *(pmu.name for pmu in foreign_pmus(library)[1])]))
    except LibraryError:
        return ours


def event_names(_: str, args: argparse.Namespace) -> list[str]:
    """Return the events of the PMU that a command line names, or of all of ours, for a shell to complete."""
    if args.pmu is None and args.library is None:
        return list(dict.fromkeys(event for name in PMUS for event in pmus.pmu(name)))
    try_library(args.library)
    return [event.name for event in asked_pmu(args).values()]


def try_library(path: str | None) -> None:
    """See whether a process lives through what this one is about to do with the library of --library, if any is given.

    :raises LibraryError: it does not; says how it ended
    """
    if path is not None:
        from pypfm.cli._trial import tried  # not for commands without a library: subprocess takes 5 ms
        tried(path)


def add_library_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--library", nargs="?", const=SYSTEM, metavar="PATH",
                        help=f"ask another libpfm 4: a file, or a name that the loader looks up (default: {SYSTEM})")


def whole_options(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, with --library=SYSTEM where --library has no file after it."""
    if words[:1] and words[0] not in WITH_LIBRARY:
        return list(words)
    found = []
    for word, after in zip_longest(words, words[1:], fillvalue="-"):
        is_file = "/" in after or ".so" in after
        found.append(f"--library={SYSTEM}" if word == "--library" and not is_file else word)
    return found


def api_of(args: argparse.Namespace) -> str:
    """Return the API of the PMU that was asked for, pfm3 or pfm4; a name that there is not is wrong usage.

    Of a PMU that only the system's libpfm 4 knows, args.library becomes that library, and a line says so.
    """
    if args.library is None and args.pmu not in PMUS:
        _take_from_system(args)
    return "pfm4" if args.library is not None else PMUS[args.pmu].library


def _take_from_system(args: argparse.Namespace) -> None:
    try_library(SYSTEM)
    from pypfm.perf.system import found_or_why

    found = found_or_why(args.pmu, PMUS)
    if isinstance(found, str):
        known = ", ".join(repr(name) for name in sorted(PMUS))
        args.usage_error(f"argument -p/--pmu: invalid choice: {shown(args.pmu)} (choose from {known}){found}")
    else:
        args.library, pmu = found
        args.pmu = pmu.name
        say(f"pypfm {args.command}: {printable(f'{pmu.name} ({pmu.description}) is from {args.library}')}\n")


def asked_pmu(args: argparse.Namespace, **settings: object) -> Any:
    """Return the PMU that was asked for; only its own package is loaded."""
    return pmus.pmu(args.pmu, library=args.library, **settings)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_calls_options(parser: argparse.ArgumentParser, how_many: str, calls: int) -> None:
    """Add --calls and --seed, of random calls.

    :param calls: how many are made where nothing is said
    """
    parser.add_argument("--calls", type=checked(partial(between, least=1, most=_MOST_CALLS)), default=calls,
                        metavar="N", help=f"{how_many} (default: {calls})")
    parser.add_argument("--seed", type=checked(number), default=1, metavar="S",
                        help="which ones; the same seed gives the same calls (default: 1)")


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=checked(partial(between, least=1, most=_MOST_JOBS)), metavar="N",
                        default=len(os.sched_getaffinity(0)),
                        help="processes that make calls (default: one for each CPU)")


def number(text: str) -> int:
    """Parse a number, decimal or 0x hexadecimal, not negative."""
    wrong = f"{shown(text)} is not a number (decimal or 0x...)"
    if not re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|[0-9]+)", text):  # Python takes 1_0, 0b1 and the digits of all scripts
        raise ValueError(wrong)
    try:
        value = int(text, 0)
    except ValueError:  # more digits than it converts, or 010
        raise ValueError(wrong) from None
    if value < 0:
        raise ValueError(f"{shown(text)} is negative")
    return value


def between(text: str, least: int, most: int) -> int:
    """Parse a number in a range, ends included."""
    value = number(text)
    if not least <= value <= most:
        raise ValueError(f"{shown(text)} is not between {least} and {most}")
    return value


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Make a parser whose errors argparse shows."""
    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return parsed


@contextmanager
def file_errors(kind: type[PfmError], what: str) -> Iterator[None]:
    """Raise an error of the package where a file cannot be used.

    :param what: what failed, which the message begins with
    """
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise kind(f"{what}: {getattr(error, 'strerror', error)}") from None


def on_terminal(args: argparse.Namespace) -> bool:
    """Tell whether a person reads the output."""
    return sys.stdout.isatty() and not args.json


def print_json(data: object) -> None:
    json.dump(data, sys.stdout, indent=2)
    print()
