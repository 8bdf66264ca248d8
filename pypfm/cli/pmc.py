"""pmc(1): the events of a machine, and the count of one event while a command runs.

The options and exits are those of NetBSD's program; --machine and --json are ours.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from pypfm._counting import PerfEvent, reason
from pypfm._launch import Command
from pypfm.counter import MACHINES, Machine
from pypfm.errors import CountingError, PfmError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_USAGE = """\
usage: pmc -h [--machine MACHINE] [--json]
       pmc -C
       pmc -c EVENT [--json] COMMAND [OPTION ...]
"""
_EXIT_USAGE, _EXIT_MACHINE, _EXIT_USER, _EXIT_KERNEL, _EXIT_RUN, _EXIT_READ = 1, 3, 4, 5, 6, 7


class _FailedError(PfmError):
    """What ends the program, and its exit status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(_EXIT_USAGE, f"pmc: {message}\n{_USAGE}")


def build_parser() -> argparse.ArgumentParser:
    """The parser of pmc's command line."""
    parser = _Parser(prog="pmc", add_help=False, usage=_USAGE.removeprefix("usage: "),
                     description="Count an event while a command runs.",
                     epilog="Exit status: the command's; 1 usage, 3 a model runs no command, 4 no counter,"
                     " 5 none of kernel mode or no process, 6 the command cannot be run, 7 a count cannot be read.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-h", dest="listing", action="store_true", help="list the events")
    what.add_argument("-C", dest="clear", action="store_true",
                      help="stop counters that were left running; none can be, here")
    what.add_argument("-c", dest="event", metavar="EVENT", help="count this event")
    what.add_argument("--help", action="help", help="show this")
    parser.add_argument("--machine", default="linux", choices=MACHINES, metavar="MACHINE",
                        help=f"whose events: {', '.join(MACHINES)} (default: linux, this host)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its options")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run pmc; the exit status."""
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.event is None and args.command:
        parser.error(f"{'-C' if args.clear else '-h'} takes no command: {' '.join(args.command)}")
    if args.command[:1] == ["--"]:
        del args.command[0]
    if args.event is not None and not args.command:
        parser.error("-c needs a command")
    try:
        if args.listing:
            _list(Machine(args.machine), as_json=args.json)
            return 0
        return 0 if args.clear else _count(parser, args)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except PfmError as error:
        print(f"pmc: {error}", file=sys.stderr)
        return error.status if isinstance(error, _FailedError) else _EXIT_USAGE
    except OSError as error:  # of standard output; it is not tried again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"pmc: standard output: {error.strerror}", file=sys.stderr)
        return 1


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

def _open(machine: Machine, event: str, pid: int, *, kernel: bool) -> PerfEvent:
    """An event of a process and its children in one of the two modes, on from its exec."""
    kind, config = machine.perf_event(event)
    attr = {"type": kind, "config": config, "inherit": 1, "enable_on_exec": 1, "exclude_hv": 1,
            "exclude_user": kernel, "exclude_kernel": not kernel}
    return PerfEvent(attr, pid, f"{event}, {'kernel' if kernel else 'user'} mode")


def _attach(machine: Machine, event: str, pid: int) -> tuple[PerfEvent, PerfEvent | None]:
    """The counters of user and kernel mode; the second is None where the kernel's own is forbidden."""
    try:
        user = _open(machine, event, pid, kernel=False)
    except CountingError as error:
        raise _FailedError(_EXIT_USER, str(error)) from None
    try:
        return user, _open(machine, event, pid, kernel=True)
    except CountingError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise _FailedError(_EXIT_KERNEL, str(error)) from None
        return user, None


def _read(event: PerfEvent) -> int:
    try:
        return event.read().value
    except CountingError as error:
        raise _FailedError(_EXIT_READ, str(error)) from None


def _run(command: Command, words: Sequence[str]) -> int:
    try:
        return command.run()
    except OSError as error:
        raise _FailedError(_EXIT_RUN, f"{words[0]}: {error.strerror}") from None


def _count(parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    machine = Machine(args.machine)
    try:
        machine[args.event]
    except UnknownEventError as error:
        parser.error(str(error))
    if machine.is_model:
        message = f"{machine.name} is a model; it counts what a program gives it (pmc_model_advance)"
        raise _FailedError(_EXIT_MACHINE, message)
    try:
        command = Command(args.command)
    except OSError as error:
        raise _FailedError(_EXIT_KERNEL, f"no process can be made: {error.strerror}") from None
    try:
        user, kernel = _attach(machine, args.event, command.pid)
    except _FailedError:
        command.cancel()
        raise
    status = _run(command, args.command)
    counts = _read(user), None if kernel is None else _read(kernel)
    _show(args, counts)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _show(args: argparse.Namespace, counts: tuple[int, int | None]) -> None:
    user, kernel = counts
    if args.json:
        print(json.dumps({"event": args.event, "user": user, "kernel": kernel}), flush=True)
        return
    print(f"{args.event}: user {user} kernel {'not available' if kernel is None else kernel}", flush=True)
    if kernel is None:
        print(f"pmc: kernel mode: {reason(errno.EACCES)}", file=sys.stderr)
