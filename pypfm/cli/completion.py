"""pypfm completion: what a shell reads so that it completes the command lines of pypfm, perfex and pmc."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from pypfm.cli.common import Subparsers

__all__ = ["add_parser"]

_COMMANDS = ("pypfm", "perfex", "pmc")
_SHELLS = ("bash", "zsh", "fish")
_EPILOG = """\
The installation has a file for each shell, which calls this: with the packages bash-completion, zsh or fish it is found
if the installation's directory share is among those that they search.  Elsewhere:

  eval "$(pypfm completion bash)"
  pypfm completion fish | source
"""


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "completion", help="let a shell complete command lines", epilog=_EPILOG,
        description="Print what a shell has to read so that it completes the command lines of pypfm, perfex and pmc:"
                    " options, PMUs and events.")
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode
    print(shellcode(_COMMANDS, shell=args.shell))
    return 0
