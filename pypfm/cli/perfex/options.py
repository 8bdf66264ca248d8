"""The options of perfex(1): which there are, what excludes what, and the request that they make.

Those of IRIX's program have one dash; those with two are ours.
"""

from __future__ import annotations

import argparse
import os
import re
import textwrap
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pypfm.cli._program import Parser, completed
from pypfm.errors import nearest, shown
from pypfm.perfex.model import CPUS, MOST_RUNS, PerfexError, PerfexValueError, Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PLACE_FORMATS", "UsageError", "build_parser", "check", "request", "split", "usage_errors"]

_USAGE = ("perfex [-a | -e event0 [-e event1]] [-mp | -s | -p period] [-x] [-k] [-y] [-t] [-T] [-o file] [-c file]"
          " command")
_OTHERS = ("perfex --pid PID [command]", "perfex -t", "perfex --list", "perfex --calibrate", "perfex --merge file ...",
           "perfex --compare first second")
_L2 = {"1m": 1 << 20, "4m": 4 << 20, "8m": 8 << 20}


#: The suffixes of --annotate-to.
PLACE_FORMATS = (".html", ".folded", ".callgrind")


class UsageError(PerfexError):
    """Options that there are not, or that do not go together."""


@contextmanager
def usage_errors(kind: type[PerfexError] = PerfexValueError) -> Iterator[None]:
    """Take errors for those of whoever has written the command line."""
    try:
        yield
    except kind as error:
        raise UsageError(f"{error} (see perfex --help)") from None


class _Parser(Parser):
    """Mistakes end the program with one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see perfex --help)")


class _OneFile(argparse.Action):
    """A file that is written; of other options the last one counts, as an alias of a shell may have the first."""

    instead = "one file is written: leave out one of them"

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        if before is not None and before != values:
            name = option_string or self.dest
            parser.error(f"{name} {shown(str(before))} and {name} {shown(str(values))}: {self.instead}")
        setattr(namespace, self.dest, values)


class _OneList(_OneFile):
    """A list, for which nobody would expect that the last one counts."""

    instead = "write one list, with commas between"


def _positive(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number above 0 (decimal, up to 9 digits)")
    return float(text)


def _usage() -> str:
    """Return all forms of the command line, in lines of 80 columns."""
    lines = [line for form in (_USAGE, *_OTHERS) for line in textwrap.wrap(form, 72, subsequent_indent=" " * 7,
                                                                           break_on_hyphens=False)]
    return "\n       ".join(lines)


def _names(_: str, args: argparse.Namespace) -> list[str]:
    from pypfm.perfex import events
    return [event.short for event in events.table(args.cpu)]


def _runs(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= MOST_RUNS:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number of runs, from 1 to {MOST_RUNS}")
    return int(text)


def _percent(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?", text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number of percent (decimal, up to 9 digits)")
    return float(text)


def _add_comparing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("several runs").add_argument
    add("--repeat", type=_runs, metavar="N", help=f"run the command N times, 1 to {MOST_RUNS}: means, and their spread")
    add("--baseline", metavar="FILE", help="print the change of each event since an earlier report (of --json -o)")
    add("--compare", action="store_true", help="print the change from one report of --json -o to another")
    add("--fail-above", type=_percent, metavar="PERCENT",
        help="--compare, --baseline: exit status 1 if a count has risen by more than that, and not by noise")
    add("--anyway", action="store_true", help="compare reports of different backends or levels, too")


def _add_places(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("where the counts come from (valgrind)").add_argument
    add("--annotate", action="store_true", help="print the counts by function and by line of source, too")
    add("--annotate-to", type=Path, action=_OneFile, metavar="FILE",
        help="write them to FILE: .html, a page with the source; .folded, stacks for flame graphs; .callgrind, for"
             " KCachegrind")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of perfex's own options."""
    parser = _Parser(prog="perfex", usage=_usage(), allow_abbrev=False, add_help=False,
                     description="Run a command and print the values of R10000 or R12000 event counters.",
                     epilog="Exit status: the command's (128+n: signal n); 2 wrong usage; 1 if perfex fails"
                            " for another reason before the command is started.")
    add = parser.add_argument_group("what is counted").add_argument
    add("-a", dest="all", action="store_true", help="count all events; -e is ignored")
    event = add("-e", dest="events", action="append", default=[], metavar="EVENT",
                help="an event, 0 to 31 or its name (--list); at most two, one of 0-15 and one of 16-31 (default:"
                     " T5_EVENT0, T5_EVENT1, or 0)")
    completed(event, _names)
    some = add("--events", dest="some", action=_OneList, metavar="EVENT,EVENT...",
               help="any number of events, in a simulation")
    completed(some, _names)
    add("-mp", dest="mp", action="store_true", help="print the counts of each thread, then the total")
    add("-s", dest="signals", action="store_true",
        help="count from SIGUSR1 to SIGUSR2, sent to perfex; only the immediate child is counted")
    add("-p", dest="period", type=_positive, metavar="PERIOD",
        help="like -s, and print the counts every PERIOD milliseconds")
    add("--regions", action="store_true",
        help="valgrind: count only from start_counters() of libperfex to read_counters()")
    add("-x", dest="exception", action="store_true", help="count the exception level, too; not available on Linux")
    add("-k", dest="kernel", action="store_true", help="count the kernel level, too")
    add("-T", dest="mixed", action="store_true",
        help="for machines with several kinds of CPU: you promise that the command stays on one kind")
    how = parser.add_argument_group("what is printed")
    add = how.add_argument
    add("-y", dest="estimates", action="store_true", help="print times by event, and statistics")
    add("-t", dest="table", action="store_true", help="print the cost table in effect")
    add("-c", dest="costs", type=Path, metavar="FILE", help="use the costs in this file, which has the format of -t")
    add("--costs", dest="whose", choices=("builtin", "host"), default="builtin",
        help="builtin: the costs of the R10000 or R12000 (default); host: what --calibrate has measured on this host")
    add("-o", dest="out", action=_OneFile, metavar="FILE", help="print to this file, not to stderr")
    add("--json", action="store_true", help="print JSON")
    add("--csv", action="store_true", help="print CSV")
    add("--progress", action="store_true",
        help="show how long a simulation has taken, also where the command prints on the same terminal")
    add("--verbose", action="store_true", help="say why this backend was chosen, and print all notes")
    add("--plot", type=Path, action=_OneFile, metavar="FILE",
        help="draw the times by event as SVG or PNG (needs -y and matplotlib)")
    add("--list", action="store_true", help="print the events, their names, and which backends can count them here")
    add("--calibrate", action="store_true",
        help="measure what events cost on this host, in some seconds; print the table, and keep it for --costs host")
    add("--merge", action="store_true", help="add the reports of several ranks, whose files are the arguments")
    add("-h", "--help", action="help", help="show this")
    parser.add_version(how)
    add = parser.add_argument_group("what counts").add_argument
    add("--cpu", "--pmu", type=str.lower, choices=CPUS, default="r10000",
        help="the processor whose events are counted (default: r10000; -3: silicon revision 3)")
    add("--pid", action=_OneList, metavar="PID[,PID...]",
        help="perf: count processes that are already running, until they end or ^C; with a command, until it ends")
    add("--backend", choices=("auto", "perf", "valgrind", "qemu"), default="auto",
        help="what counts (default: auto; MIPS programs: qemu, which counts this host's, too)")
    add("--clock", type=_positive, metavar="MHZ", help="clock speed for the times")
    add("--l2", choices=tuple(_L2), help="valgrind: size of the secondary cache (default: 4m)")
    add("--cache", metavar="CACHES", default="r10000",
        help="valgrind: other caches: host, this machine's; or L1=32k,8,64:L2=1m,16,64 (size, ways, line)")
    add("--threads", choices=("fine",), help="valgrind: each thread on a processor of its own, with coherent caches")
    add("--perf-table", type=Path, metavar="FILE", help="perf: other events in place of perfex's, in CSV")
    _add_places(parser)
    _add_comparing(parser)
    return parser


def split(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options, and the command: options end where it begins."""
    names = {s: a.nargs is None for a in parser._actions for s in a.option_strings}  # and whether a value follows
    flags, valued = ("".join(s[1] for s, value in names.items() if len(s) == 2 and value is v) for v in (False, True))
    letters = re.compile(rf"-[{flags}]*([{flags}]|[{valued}](?P<value>.*))", re.DOTALL)
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        if word == "--":
            return [*words[:at]], [*words[at + 1:]]
        together = letters.fullmatch(word)
        if together is None and word.partition("=")[0] not in names:
            near = nearest(word.partition("=")[0].lstrip("-"), (n[2:] for n in names if n.startswith("--")), "--")
            parser.error(f"there is no option {shown(word)}{near}")
        at += 2 if names.get(word) or (together and together["value"] == "") else 1
    return [*words[:at]], [*words[at:]]


# What is done without running a command, and the options that have a say in it.
_TASKS = {
    "--list": {"cpu", "perf_table", "json"},
    "--calibrate": {"cpu", "out", "json"},
    "--merge": {"out", "json", "csv"},
    "--compare": {"out", "json", "csv", "anyway", "fail_above"},
    "-t": {"cpu", "costs", "estimates", "whose"},
}


def _check_task_options(parser: argparse.ArgumentParser, args: argparse.Namespace, command: list[str]) -> None:
    """Refuse options that would be ignored without a word."""
    for task, allowed in _TASKS.items():
        name = "table" if task == "-t" else task[2:]
        if not getattr(args, name) or (name == "table" and (command or args.pid is not None)):
            continue
        for action in parser._actions:
            given = getattr(args, action.dest, action.default) != action.default
            if given and action.dest not in allowed | {name}:
                without = " without a command" * (task == "-t")
                parser.error(f"{task}{without} has no use for {action.option_strings[0]}")


def _check_tasks(parser: argparse.ArgumentParser, args: argparse.Namespace, command: list[str]) -> None:
    """Refuse what does not go with --list and --calibrate, and --costs without a table of costs."""
    if args.list and (command or args.merge or args.csv):
        parser.error("--list goes without a command, --merge and --csv")
    if args.calibrate and (command or args.merge or args.csv or args.list):
        parser.error("--calibrate goes without a command, --merge, --list and --csv")
    if args.whose == "host" and not args.estimates and not args.table:
        parser.error("--costs needs -y or -t")


def check(parser: argparse.ArgumentParser, args: argparse.Namespace, command: list[str]) -> None:
    """Refuse options that exclude each other, and those that need others (perfex(1))."""
    _check_tasks(parser, args, command)
    modes = [name for name, on in (("-mp", args.mp), ("-s", args.signals), ("-p", args.period is not None)) if on]
    if len(modes) > 1:
        parser.error(f"{modes[0]} and {modes[1]} exclude each other")
    if len(args.events) > 2 and not args.all:
        parser.error(f"{len(args.events)} events of -e; at most two are counted, and with --events any number, in a"
                     " simulation")
    if args.some is not None and (args.all or args.events):
        parser.error(f"--events and {'-a' if args.all else '-e'} exclude each other")
    _check_runs(parser, args, modes, command)
    _check_places(parser, args, command)
    if args.json and args.csv:
        parser.error("--json and --csv exclude each other")
    if args.costs is not None and not args.estimates:
        parser.error("-c needs -y")
    if args.plot is not None and not args.estimates:
        parser.error("--plot needs -y")
    _check_backend(parser, args, command)
    for other, on in (("-mp", args.mp), ("--merge", args.merge), ("--list", args.list), ("--compare", args.compare),
                      ("--repeat", args.repeat)):
        if on and args.pid is not None:
            parser.error(f"{other} and --pid exclude each other")
    if args.out == "":
        parser.error("-o: the name of the file is empty")
    if args.table and args.out is not None and not command and args.pid is None:
        parser.error("-t prints to standard output: perfex -t > FILE")
    _check_task_options(parser, args, command)
    if not command and not (args.table or args.list or args.calibrate) and args.pid is None:
        parser.error("no file to merge" if args.merge else "no command")


def _asks_for_perf(args: argparse.Namespace) -> str:
    """Return the option that excludes a simulation; "": none does."""
    return ("--backend perf" if args.backend == "perf" else "--perf-table" if args.perf_table is not None
            else "--pid" if args.pid is not None else "")


def _check_backend(parser: argparse.ArgumentParser, args: argparse.Namespace, command: list[str]) -> None:
    """Check the options of one backend."""
    if args.perf_table is not None and args.backend in ("valgrind", "qemu"):
        parser.error("--perf-table is an option of the perf backend")
    perf = _asks_for_perf(args)
    for option, value in (("--l2", args.l2), ("--threads", args.threads), ("--events", args.some),
                          ("--cache", args.cache != Request.cache), ("--regions", args.regions)):
        if value and perf:
            parser.error(f"{option} is an option of the valgrind backend, and excludes {perf}")
    if args.regions and (args.merge or args.compare or args.list or not command):
        parser.error("--regions goes with a command: perfex --regions ... command")
    if args.regions and (args.signals or args.period is not None):
        parser.error("--regions: the program says what is counted, and with -s or -p signals do; leave one of them out")
    if args.l2 and any(part.startswith(("L2=", "host")) for part in args.cache.split(":")):
        parser.error(f"--l2 and --cache {shown(args.cache)} exclude each other, as both say what the secondary cache"
                     " is: leave out --l2")


# Why modes are not for several runs, and what to do in their place.
_ONE_RUN = {
    "-mp": "threads are not the same ones in two runs: without -mp, those of each run are added up",
    "-s": "the signals would have to come in each run: run perfex -s several times, and --compare two reports",
    "-p": "samples of several runs have no mean: run perfex -p several times, or --repeat without -p",
}


def _check_runs(parser: argparse.ArgumentParser, args: argparse.Namespace, modes: list[str],
                command: list[str]) -> None:
    """Check the options of several runs."""
    files = "--merge" if args.merge else "--compare" if args.compare else ""
    if args.merge and args.compare:
        parser.error("--merge and --compare exclude each other")
    for option, value in (("--repeat", args.repeat), ("--baseline", args.baseline)):
        if value is not None and (files or not command):
            parser.error(f"{option} goes with a command" + (f", and {files} has files" if files else ""))
    if args.baseline == "":
        parser.error("--baseline: the name of the file is empty")
    if args.repeat and modes:
        parser.error(f"--repeat and {modes[0]} exclude each other; {_ONE_RUN[modes[0]]}")
    if args.fail_above is not None and not args.compare and args.baseline is None:
        parser.error("--fail-above needs --compare or --baseline")
    if args.anyway and not args.compare and args.baseline is None:
        parser.error("--anyway needs --compare or --baseline")
    if args.compare and len(command) != 2:
        parser.error(f"--compare takes two files, after all options, and not {len(command)}")


def _check_places(parser: argparse.ArgumentParser, args: argparse.Namespace, command: list[str]) -> None:
    """Check the options of functions and lines."""
    if not args.annotate and args.annotate_to is None:
        return
    option = "--annotate" if args.annotate else "--annotate-to"
    if args.merge or args.compare or args.list or not command:
        parser.error(f"{option} goes with a command, and needs a run of its own: perfex {option} ... command")
    if perf := _asks_for_perf(args):
        parser.error(f"{option} needs the simulation, and excludes {perf}; --backend valgrind simulates, and"
                     " perf-record(1) samples the counters")
    if args.repeat:
        parser.error(f"--repeat and {option} exclude each other; a simulation counts the same each time: run perfex"
                     f" {option} once, without --repeat")
    if args.annotate and args.csv:
        parser.error("--annotate and --csv exclude each other; --json has the functions and lines, too")
    if args.annotate_to is not None and args.annotate_to.suffix not in PLACE_FORMATS:
        parser.error(f"--annotate-to {shown(str(args.annotate_to))}: the name has to end in"
                     f" {' or '.join(PLACE_FORMATS)}")


def _events(args: argparse.Namespace) -> tuple[int, ...]:
    """Return the events to count."""
    from pypfm.perfex import events
    with usage_errors(PerfexError):
        if args.some is not None:
            return tuple(dict.fromkeys(events.find(args.cpu, text.strip(), "--events")
                                       for text in args.some.split(",")))
        given = [] if args.all else [events.find(args.cpu, text, "-e") for text in args.events or ()]  # -a ignores -e
        return events.choose(args.cpu, given, os.environ, multiplex=args.all)


def _pids(text: str) -> tuple[int, ...]:
    from pypfm.perfex.backends.attach import pids
    with usage_errors():
        return pids(text)


def _cache(args: argparse.Namespace, l2: int) -> str:
    """Return the caches to simulate, which are some."""
    if args.cache != Request.cache:
        from pypfm.perfex.backends.simulation.machine import machine
        with usage_errors():
            machine(args.cache, args.cpu, l2)
    return str(args.cache)


def request(args: argparse.Namespace, command: list[str]) -> Request:
    """Make a request of the options.

    :raises UsageError: a value of an option or of T5_EVENT0 or T5_EVENT1 is none
    """
    l2 = _L2[args.l2 or "4m"]
    return Request(
        command=tuple(command), cpu=args.cpu, events=_events(args), multiplex=args.all,
        together=args.some is not None, kernel=args.kernel, exception=args.exception, per_thread=args.mp,
        gated=args.signals or args.period is not None, period=args.period, l2=l2,
        cache=_cache(args, l2), fine=args.threads == "fine", regions=args.regions, estimates=args.estimates,
        clock=args.clock,
        mixed=args.mixed, perf_table=args.perf_table,
        annotate=args.annotate or args.annotate_to is not None, pids=() if args.pid is None else _pids(args.pid))
