"""The command line: ``pypfm``, one module for each sub-command."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import pypfm
from pypfm.cli._program import Parser, complete, say, to_the_end
from pypfm.cli.common import WITH_LIBRARY, try_library, whole_options
from pypfm.errors import EventNotFoundError, PfmError, nearest, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["build_parser", "main"]

_COMMANDS = ("here", "pmus", "find", "events", "info", "encode", "decode", "layout", "conform", "vectors", "bench",
             "config", "examples", "completion")


class _Parser(Parser):
    """A parser whose complaints are one line; each sub-command has one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_argument("--version", action="version", version=f"pypfm {pypfm.__version__}", help="show the version")

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)} (see {self.prog} --help)\n")


def build_parser(names: Sequence[str] = _COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    :param names: the sub-commands; fewer are faster to import
    """
    parser = _Parser(
        prog="pypfm", description="Performance-monitoring interfaces of the past: events, registers, structures.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in names:
        module = import_module(f"pypfm.cli.{name}")
        command = commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION,
                                      epilog=getattr(module, "EPILOG", None))
        command.set_defaults(run=module.run, usage_error=command.error, rest=getattr(module, "REST", None))
        module.add_options(command)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command line.

    Without any words it prints the help, as pip does.

    :return: the exit status: 0; 1 for a mistake, or an output that cannot be written; 2 for wrong usage
    """
    words = sys.argv[1:] if argv is None else argv
    command = words[:1] if words and words[0] in _COMMANDS else []
    needed = [] if words[:1] == ["--version"] else command or _COMMANDS
    return to_the_end(" ".join(["pypfm", *command]), lambda: _run(words, needed))


def _run(words: list[str], commands: Sequence[str]) -> int:
    parser = build_parser(commands)
    complete(parser)
    if not words:
        parser.print_help()
        return 0
    args, rest = parser.parse_known_args(whole_options(words))
    if rest:
        # argparse takes positional arguments in one run only; encode may have options between events.
        if args.rest is None or any(word.startswith("-") for word in rest):
            parser.prog = " ".join(["pypfm", args.command, *filter(None, [getattr(args, "action", "")])])
            parser.error(f"unrecognized arguments: {' '.join(rest)}{_near(parser, args.command, rest)}")
        getattr(args, args.rest).extend(rest)
    try:
        if args.command in WITH_LIBRARY:
            try_library(args.library)
        status: int = args.run(args)
    except PfmError as error:
        say(f"pypfm {args.command}: {printable(f'{error}{_search(args, error)}')}\n")
        return 1
    return status


def _near(parser: argparse.ArgumentParser, command: str, words: Sequence[str]) -> str:
    """Return the options of a sub-command that are near one that there is not."""
    wrong = next((word.partition("=")[0] for word in words if word.startswith("--")), "")
    of_command: Any = next(action.choices for action in parser._actions if action.dest == "command")
    return nearest(wrong[2:], (name[2:] for name in of_command[command]._option_string_actions if name[2:]), "--")


def _search(args: argparse.Namespace, error: PfmError) -> str:
    """Return a hint on how to search for an event that was not found; "" for other errors."""
    if not isinstance(error, EventNotFoundError) or not getattr(args, "pmu", None):
        return ""
    import shlex  # not for programs that make no mistake
    library = f" --library={shlex.quote(args.library)}" if getattr(args, "library", None) else ""
    return f" (search: pypfm events -p {shlex.quote(args.pmu)}{library} '*WORD*')"
