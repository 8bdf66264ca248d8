"""pypfm layout: where the members of the C structures lie."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, cast

from pypfm import layout
from pypfm.cli._program import say
from pypfm.cli.common import on_terminal, print_json
from pypfm.config import LIBRARIES

if TYPE_CHECKING:
    import argparse

    from pypfm.layout import LayoutDiff, Member, TypeLayout

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_options", "run"]

_DIFFERENT = 8  # exit status, as abidiff's for an ABI change
_BESIDE = 110  # columns of a terminal that has room for two layouts side by side
_FIRST = next(iter(LIBRARIES))
# What is written in a language, by the option that asks for it.
_SOURCES = {"c": layout.c_source, "ctypes": layout.ctypes_source}

HELP = "print the layout of C structures, enumerations, signatures of functions"
DESCRIPTION = (
    "Print structures as pahole does: offset and size of each member, holes, padding, cache lines,"
    " the positions of bit-fields; of an enumeration its size and values, of a function its signature. Without"
    f" --library, the first library that has a name counts ({', '.join(LIBRARIES)}); without a name, all structures"
    f" of the library ({_FIRST}) are printed.")
EPILOG = (
    "--diff takes TYPE, LIBRARY:TYPE or FILE:TYPE, where FILE is a library or program with debug"
    " information; LIBRARY or FILE alone stands for the type of the other side, or for all types."
    f" Its exit status is 0 if the layouts are the same and {_DIFFERENT} if they differ.")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("types", nargs="*", metavar="NAME",
                        help="C name, such as pfmlib_event_t, 'struct perf_event_attr', pfm_os_t, pfm_find_event")
    parser.add_argument("--library", choices=list(LIBRARIES), metavar="LIBRARY", help=", ".join(LIBRARIES))
    parser.add_argument("--as", dest="form", choices=["header", "manual"],
                        help="the structures of the headers, or those that the manual pages print")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON")
    output.add_argument("--c", action="store_true", help="print a C11 file that compiles only with this layout")
    output.add_argument("--ctypes", action="store_true", help="print Python ctypes classes")
    parser.add_argument("--diff", nargs=2, metavar=("A", "B"), help="show two layouts side by side")


def run(args: argparse.Namespace) -> int:
    if args.diff:
        return _diff(args)
    library = _library(args)
    found = [layout.declaration(name, library) for name in _names(args) or layout.types(library or _FIRST)]
    if not found:
        raise layout.LayoutError(f"the headers of {library} declare no structure")
    structures = [x for x in found if isinstance(x, layout.TypeLayout)]
    if args.json:
        print_json({"types": [x.to_json() for x in found]})
    elif made := [source for option, source in _SOURCES.items() if getattr(args, option)]:
        if others := [x.name for x in found if not isinstance(x, layout.TypeLayout)]:
            raise layout.LayoutError(f"{others[0]} is no structure or union: --c and --ctypes declare those")
        print(made[0](structures), end="")
    else:
        print("\n".join(layout.text(x) if isinstance(x, layout.TypeLayout) else x.text for x in found), end="")
    if library is None:
        _say_where_else(structures)
    return 0


def _names(args: argparse.Namespace) -> list[str]:
    """Return the types asked for; the shell splits "struct x"."""
    names = [name for name in args.types if name not in ("struct", "union", "enum")]
    if args.types and not names:
        raise layout.LayoutError(f"{args.types[-1]} of which name? Write '{args.types[-1]} NAME'")
    return names


def _library(args: argparse.Namespace) -> str | None:
    """Return the library of --library and --as; None for the first one that has a type."""
    if args.form is None:
        return cast("str | None", args.library)
    owners = [library for name in _names(args)[:1] for library in layout.find(name)]
    first = LIBRARIES[args.library or next(iter(owners), _FIRST)]
    base = first.form_of or first.name
    if args.form == "header":
        return base
    forms = {library.form_of: library.name for library in LIBRARIES.values() if library.form_of}
    if base not in forms:
        raise layout.LayoutError(f"{base} has one form only; {', '.join(forms)} has the manual pages' form, too")
    return forms[base]


def _say_where_else(found: list[TypeLayout]) -> None:
    """Name the types that another library lays out in another way."""
    for x in found:
        others = [library for library in layout.find(x.name) if not layout.compare(
            x, layout.describe(x.name, library)).same]
        if others:
            say(f"pypfm layout: {x.name} is {x.source}'s; {', '.join(others)} has another layout (see --library)\n")


# ---- two layouts ------------------------------------------------------------------

def _diff(args: argparse.Namespace) -> int:
    if args.types or args.library or args.form or any(getattr(args, option) for option in _SOURCES):
        args.usage_error("--diff takes A and B, and --json; write LIBRARY:TYPE for a type of a library")
    found = layout.diff(*args.diff)
    changed = [d for d in found if not d.same]
    if args.json:
        print_json({"types": [d.to_json() for d in found]})
    elif not changed:
        print(f"{len(found)} type{'s' if len(found) != 1 else ''} compared, no difference")
    for d in [] if args.json else changed:
        _print_diff(d, drawn=on_terminal(args))
    return _DIFFERENT if changed else 0


def _print_diff(d: LayoutDiff, *, drawn: bool) -> None:
    if drawn and shutil.get_terminal_size().columns < _BESIDE:
        _print_stacked(d)
        return
    heads = [_head(d.left), "", _head(d.right)]
    rows = [[_cell(row.left), _mark(row.left, row.right, same=row.same), _cell(row.right)] for row in d.rows]
    if drawn:
        from pypfm.cli import draw
        draw.table(heads, rows)
        return
    width = max(len(row[0]) for row in [heads, *rows])
    for left, mark, right in [heads, *rows]:
        print(f"{left:<{width}} {mark or ' '} {right}".rstrip())
    print()


def _print_stacked(d: LayoutDiff) -> None:
    """Print one below the other, for a narrow terminal; what is the same stands once."""
    print(f"< {_head(d.left)}\n> {_head(d.right)}\n")
    for row in d.rows:
        if row.same:
            print(f"  {_cell(row.left)}")
            continue
        for mark, member in (("<", row.left), (">", row.right)):
            if member is not None:
                print(f"{mark} {_cell(member)}")
    print()


def _head(x: TypeLayout | None) -> str:
    return "(no such type)" if x is None else f"{x.source}: {x.name}, {x.size} bytes"


def _mark(left: Member | None, right: Member | None, *, same: bool) -> str:
    """Mark lines as diff --side-by-side does."""
    if same:
        return ""
    return "<" if right is None else ">" if left is None else "|"


def _cell(member: Member | None) -> str:
    if member is None:
        return ""
    bit = "" if member.bits is None else f":{member.bit_offset}"
    return f"{member.offset:>6}{bit:<3} {member.size:>6} {member.type} {member.declarator}"
