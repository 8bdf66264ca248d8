"""pypfm config: what a C compiler needs to use the C libraries of this installation."""

from __future__ import annotations

import argparse

from pypfm.cli.common import add_json_option, print_json
from pypfm.config import LIBRARIES, Library

__all__ = ["DESCRIPTION", "HELP", "add_options", "run"]

HELP = "paths and compiler flags of the C libraries"
DESCRIPTION = (
    "Print where a C library lies, or what a C compiler needs to use it:"
    " cc prog.c $(pypfm config --cflags --libs pfm3)")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", choices=sorted(LIBRARIES), metavar="LIBRARY", help=", ".join(sorted(LIBRARIES)))
    parser.add_argument("--library", action="store_true", help="the path of the shared library")
    parser.add_argument("--cflags", action="store_true", help="flags for compiling")
    parser.add_argument("--libs", action="store_true", help="flags for linking, -rpath included")
    parser.add_argument("--static", action="store_true", help="the same of the static library, which is linked in")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    library = LIBRARIES[args.name]
    if args.json:
        print_json(_as_json(library, static=args.static))
        return 0
    words = [str(library.archive if args.static else library.path)] if args.library else []
    words += library.cflags if args.cflags else []
    if args.libs:
        words += library.static_libs if args.static else library.libs
    if not words:
        args.usage_error("nothing asked for: give --library, --cflags or --libs")
    print(" ".join(words))
    return 0


def _as_json(library: Library, *, static: bool) -> dict[str, object]:
    """Return all that there is to say, whatever was asked for."""
    return {"name": library.name, "library": str(library.archive if static else library.path), "cflags": library.cflags,
            "libs": library.static_libs if static else library.libs}
