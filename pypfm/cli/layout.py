"""pypfm layout: where the members of the C structures lie."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pypfm import layout
from pypfm.cli._common import Subparsers, on_terminal, print_json
from pypfm.config import LIBRARIES
from pypfm.errors import PfmError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pypfm.layout import LayoutDiff, Member, TypeLayout

__all__ = ["add_parser"]

_DIFFERENT = 8  # exit status, as abidiff's for an ABI change
_MANUAL = "-manual"  # LIBRARY-manual is the form of a library's manual pages


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "layout", help="print the layout of C structures",
        description="Print structures as pahole does: offset and size of each member, holes, padding, cache lines,"
        " the positions of bit-fields. Without --library, the first library that has a type counts"
        f" ({', '.join(LIBRARIES)}); without a type, all types of the library (pfm3) are printed.",
        epilog="--diff takes TYPE, LIBRARY:TYPE or FILE:TYPE, where FILE is a library or program with debug"
        " information; LIBRARY or FILE alone stands for the type of the other side, or for all types."
        f" Its exit status is 0 if the layouts are the same and {_DIFFERENT} if they differ.")
    parser.add_argument("types", nargs="*", metavar="TYPE", help="C name, such as pfmlib_event_t or 'struct perf_event_attr'")
    parser.add_argument("--library", choices=list(LIBRARIES), metavar="LIBRARY", help=", ".join(LIBRARIES))
    parser.add_argument("--as", dest="form", choices=["header", "manual"],
                        help="the structures of the headers, or those that the manual pages print")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON")
    output.add_argument("--c", action="store_true", help="print a C11 file that compiles only with this layout")
    output.add_argument("--ctypes", action="store_true", help="print Python ctypes classes")
    parser.add_argument("--diff", nargs=2, metavar=("A", "B"), help="show two layouts side by side")
    parser.set_defaults(run=run, usage_error=parser.error)


def run(args: argparse.Namespace) -> int:
    if args.diff:
        return _diff(args)
    library = _library(args)
    names = [name for name in args.types if name not in ("struct", "union")]  # the shell splits "struct x"
    found = [layout.describe(name, library) for name in names or layout.types(library or "pfm3")]
    if args.json:
        print_json({"types": [x.to_json() for x in found]})
    elif args.c:
        _say_which(found, library)
        print(layout.c_source(found), end="")
    elif args.ctypes:
        print(layout.ctypes_source(found), end="")
    else:
        print("\n".join(layout.text(x) for x in found), end="")
    return 0


def _library(args: argparse.Namespace) -> str | None:
    """The library of --library and --as; None for the first that has a type."""
    if args.form is None:
        return args.library
    base = (args.library or next(iter(layout.find(args.types[0])) if args.types else iter(()), "pfm3")).removesuffix(_MANUAL)
    if args.form == "header":
        return base
    if base + _MANUAL not in LIBRARIES:
        message = f"{base} has no other form in its manual pages; pfm3 has"
        raise PfmError(message)
    return base + _MANUAL
