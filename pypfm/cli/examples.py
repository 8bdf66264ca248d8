"""pypfm examples: copies of the programs that are shipped with the package."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from pypfm.cli.common import add_json_option, file_errors, named, print_json
from pypfm.common.value import Value
from pypfm.config import built
from pypfm.errors import InvalidValueError

if TYPE_CHECKING:
    import argparse

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "Copied", "add_options", "copied", "run"]

_DIRECTORY = "pypfm-examples"

HELP = "copy the example programs"
DESCRIPTION = "Copy the example programs, in C and in Python, into a new directory."
EPILOG = """\
There is a program in C and one in Python for each thing that an interface can do, and what both print.  README.md
says how they are built and run.

  pypfm examples && cd pypfm-examples
  cc ita2_counters.c -o ita2_counters $(pypfm config --cflags --libs pfm3)
  LIBPFM_FORCE_PMU=itanium2 ./ita2_counters
"""


class Copied(Value):
    """The files that were copied.

    :ivar directory: where to
    :ivar files: names, in alphabetical order
    """

    directory: str
    files: tuple[str, ...]


def add_options(parser: argparse.ArgumentParser) -> None:
    add_json_option(parser)
    parser.add_argument("directory", nargs="?", default=_DIRECTORY, metavar="DIR",
                        help="a directory that there is not, or an empty one (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    made = copied(args.directory)
    if args.json:
        print_json(made.to_json())
    else:
        print(f"{len(made.files)} files are in {named(made.directory)};"
              " README.md there says how they are built and run")
    return 0


def copied(directory: str) -> Copied:
    """Copy the examples.

    :param directory: where to; it is made if there is none
    :raises InvalidValueError: it is not empty, or cannot be written to
    """
    files = sorted(path for path in built("examples.d").iterdir() if path.is_file())
    with file_errors(InvalidValueError, f"cannot copy to {named(directory)}"):
        os.makedirs(directory, exist_ok=True)
        is_empty = not os.listdir(directory)
        for path in files if is_empty else ():
            shutil.copyfile(path, os.path.join(directory, path.name))
    if not is_empty:
        raise InvalidValueError(f"{named(directory)} is not empty; give a directory that there is not")
    return Copied(directory, tuple(path.name for path in files))
