"""The command line: ``pypfm``, one module for each sub-command."""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import pypfm
from pypfm.errors import PfmError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["build_parser", "main"]

_COMMANDS = ("pmus", "events", "info", "encode", "decode", "layout", "conform", "vectors", "bench", "config")


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser(names: Sequence[str] = _COMMANDS) -> argparse.ArgumentParser:
    """The parser of the command line.

    :param names: the sub-commands; fewer are faster to import
    """
    parser = _Parser(
        prog="pypfm", description="Performance-monitoring interfaces of the past, byte for byte.")
    parser.add_argument("--version", action="version", version=f"pypfm {pypfm.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in names:
        import_module(f"pypfm.cli.{name}").add_parser(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command line; the exit status: 0, 1 for a mistake, 2 for wrong usage."""
    words = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:  # closed by who started us
        sys.stdout = io.StringIO()
    parser = build_parser(words[:1] if words and words[0] in _COMMANDS else _COMMANDS)
    args, rest = parser.parse_known_args(words)
    if rest:
        # argparse takes positional arguments in one run only; encode may have options between events.
        if not hasattr(args, "take_rest") or any(word.startswith("-") for word in rest):
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        args.take_rest(args, rest)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except PfmError as error:
        print(f"pypfm {args.command}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # Of standard output; it is not tried again at exit.  A reader that has gone (| head) needs no message.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"pypfm {args.command}: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status
