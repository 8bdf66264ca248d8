"""pmc(1): the events of a machine, and the count of one event while a command runs.

The options and exits are those of NetBSD's program; --machine and --json are ours.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from pypfm._c.pfm4 import lib
from pypfm.cli._program import Parser, complete, completed, say, to_the_end
from pypfm.cli.common import named
from pypfm.common.counting import CLOCKS, SCHEDULER, PerfEvent, reason
from pypfm.common.launch import Command
from pypfm.errors import CounterError, CountingError, EventNotFoundError, PfmError, UnknownKeyError
from pypfm.netbsd.counter import MACHINES, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main"]

_USAGE = """\
usage: pmc -h [--machine MACHINE] [--json]
       pmc -C
       pmc -c EVENT [--json] COMMAND [OPTION ...]
"""
_EXIT_USAGE, _EXIT_MACHINE, _EXIT_USER, _EXIT_KERNEL, _EXIT_RUN, _EXIT_READ = 1, 3, 4, 5, 6, 7


class _FailedError(PfmError):
    """An error that ends the program with an exit status of its own."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@contextmanager
def _exits(status: int, what: str = "") -> Iterator[None]:
    """End the program with a status if something cannot be done.

    :param what: what the message begins with
    """
    try:
        yield
    except OSError as error:
        raise _FailedError(status, f"{what}{error.strerror}") from None


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        self.exit(_EXIT_USAGE, f"pmc: {message}\n{_USAGE}")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of pmc's command line."""
    parser = _Parser(prog="pmc", add_help=False, usage=_USAGE.removeprefix("usage: "),
                     description="Count an event while a command runs.",
                     epilog="Exit status: the command's; 1 usage, 3 a model runs no command, 4 no counter,"
                     " 5 no counter for kernel mode, or no process, 6 the command cannot be run,"
                     " 7 a count cannot be read.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-h", dest="listing", action="store_true", help="list the events")
    what.add_argument("-C", dest="clear", action="store_true",
                      help="stop counters that were left running; here none can be left, so it does nothing")
    completed(what.add_argument("-c", dest="event", metavar="EVENT", help="count this event"),
              lambda _, args: _machine(args.machine))
    what.add_argument("--help", action="help", help="show this")
    parser.add_version()
    parser.add_argument("--machine", "--pmu", type=str.lower, choices=MACHINES, metavar="MACHINE",
                        help=f"the machine: {', '.join(MACHINES)} (default: PMC_MACHINE, or linux, this host)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its options")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run pmc; the exit status."""
    return to_the_end("pmc", lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    complete(parser)
    args = parser.parse_args(argv)
    if args.event is None and args.command:
        parser.error(f"{'-C' if args.clear else '-h'} takes no command: {' '.join(args.command)}")
    if args.command[:1] == ["--"]:
        del args.command[0]
    if args.event is not None and not args.command:
        parser.error("-c needs a command")
    try:
        machine = _machine(args.machine)
        if args.listing:
            _list(machine, as_json=args.json)
            return 0
        return 0 if args.clear else _count(parser, machine, args)
    except PfmError as error:
        say(f"pmc: {error}\n")
        return error.status if isinstance(error, _FailedError) else _EXIT_USAGE


def _machine(name: str | None) -> Machine:
    """Return the machine of --machine, or else of PMC_MACHINE, as in libpmc."""
    named = os.environ.get("PMC_MACHINE")
    try:
        return Machine(name or named or "linux")
    except (CounterError, UnknownKeyError) as error:
        raise _FailedError(_EXIT_USAGE, f"PMC_MACHINE: {error}") from None


def _list(machine: Machine, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"machine": machine.name, "events": [e.to_json() for e in machine.values()]}, indent=2),
              flush=True)
        return
    names = list(machine)
    rows = [f"    {left:>37} {right:>37}" for left, right in zip(names[::2], names[1::2], strict=False)]
    last = [f"\t{names[-1]:>37}"] if len(names) % 2 else []
    print("Supported performance counter events:", *rows, *last, sep="\n", flush=True)


# ---- counting a command -----------------------------------------------------------

def _open(machine: Machine, event: str, pid: int, mode: str, **excluded: bool) -> PerfEvent:
    """Return an event of a process and its children, on from its exec."""
    kind, config = machine.perf_event(event)
    attr = {"type": kind, "config": config, "inherit": 1, "enable_on_exec": 1, "exclude_hv": 1, **excluded}
    return PerfEvent(attr, pid, f"{event}, {mode}" if mode else event)


def _attach(machine: Machine, event: str, pid: int) -> dict[str, PerfEvent | None]:
    """Return the counters: of user and of kernel mode, None where the kernel's own is forbidden; or one of both."""
    kind, config = machine.perf_event(event)
    software = kind == lib.PERF_TYPE_SOFTWARE
    kernel = partial(_open, machine, event, pid, "kernel mode", exclude_user=True)
    try:
        if software and config in CLOCKS:  # nobody forbids them if they promise not to count the kernel
            return {"total": _open(machine, event, pid, "", exclude_kernel=True)}
        if software and config in SCHEDULER:
            return {"kernel": kernel()}
        user = _open(machine, event, pid, "user mode", exclude_kernel=True)
    except CountingError as error:
        status = _EXIT_KERNEL if software and config in SCHEDULER else _EXIT_USER
        raise _FailedError(status, str(error)) from None
    try:
        return {"user": user, "kernel": kernel()}
    except CountingError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise _FailedError(_EXIT_KERNEL, str(error)) from None
        return {"user": user, "kernel": None}


def _count(parser: argparse.ArgumentParser, machine: Machine, args: argparse.Namespace) -> int:
    try:
        machine[args.event]
    except EventNotFoundError as error:
        parser.error(f"{error} (pmc -h lists the events)")
    if machine.is_model:
        raise _FailedError(_EXIT_MACHINE,
            f"{machine.name} is a model; it counts what a program gives it (pmc_model_advance)")
    with _exits(_EXIT_KERNEL, "no process can be made: "):
        command = Command(args.command)
    try:
        counters = _attach(machine, args.event, command.pid)
    except _FailedError:
        command.cancel()
        raise
    with _exits(_EXIT_RUN, f"{named(args.command[0])}: "):
        status = command.run()
    with _exits(_EXIT_READ):
        counts = {mode: None if counter is None else counter.count() for mode, counter in counters.items()}
    _show(args, machine, counts)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def counted_by(machine: Machine, event: str) -> str:
    """Say whether the kernel or hardware has counted; never a model, as it runs no command."""
    kind, _ = machine.perf_event(event)
    return f"this machine's {'kernel' if kind == lib.PERF_TYPE_SOFTWARE else 'hardware counters'}"


def _show(args: argparse.Namespace, machine: Machine, counts: dict[str, int | None]) -> None:
    """Print the counts by mode; "total": the event tells no mode from another.

    The line on standard output is NetBSD's, so that the source stands on standard error.
    """
    source = counted_by(machine, args.event)
    if args.json:
        total = None if None in counts.values() else sum(n for n in counts.values() if n is not None)
        unit = "ns" if "total" in counts else "events"
        print(json.dumps({"machine": machine.name, "source": source, "event": args.event,
                          "user": counts.get("user"), "kernel": counts.get("kernel"),
                          "total": total, "unit": unit}), flush=True)
    elif "total" in counts:
        print(f"{args.event}: {counts['total']} ns in user and kernel mode together",
              flush=True)
    elif "user" not in counts:
        print(f"{args.event}: kernel {counts['kernel']} (it happens in kernel mode only)", flush=True)
    else:
        shown = ["not available" if n is None else n for n in counts.values()]
        print(f"{args.event}: user {shown[0]} kernel {shown[1]}", flush=True)
        if counts["kernel"] is None:
            say(f"pmc: kernel mode: {reason(errno.EACCES)}\n")
    if not args.json:
        say(f"pmc: counted by {source} ({machine.name})\n")
