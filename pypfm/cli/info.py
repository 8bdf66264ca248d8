"""pypfm info: everything about one event."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from pypfm.cli._program import completed, say
from pypfm.cli.common import add_pmu_options, api_of, asked_pmu, event_names, on_terminal, print_json
from pypfm.errors import EventNotFoundError, nearest, printable, shown

if TYPE_CHECKING:
    import argparse

    from pypfm import perf
    from pypfm.ia64 import Event

__all__ = ["DESCRIPTION", "HELP", "add_options", "run"]

HELP = "describe an event"
DESCRIPTION = (
    "Print all that is known about an event.  Without -p, that of the only PMU"
    " that has it, or which PMUs have it.")


def add_options(parser: argparse.ArgumentParser) -> None:
    add_pmu_options(parser, "all that have the EVENT")
    completed(parser.add_argument("event", metavar="EVENT", help="its name, in upper or lower case"), event_names)


def run(args: argparse.Namespace) -> int:
    if args.pmu is None and not _is_of_one(args):
        return 0
    api = api_of(args)
    pmu = asked_pmu(args)
    event = pmu[args.event]
    if args.json:
        print_json(event.to_json())
    else:
        lines = _lines4(pmu, event) if api == "pfm4" else _lines(event)
        for name, value in lines:
            print(_row(f"{name + ':':<15}", printable(str(value)), folded=on_terminal(args)))
    return 0


def _is_of_one(args: argparse.Namespace) -> bool:
    """Tell whether one PMU alone has the event, and set args.pmu to it; otherwise print those that have it.

    :raises EventNotFoundError: none has it
    """
    from pypfm.cli import _finding, find

    entries = find.searched(args)
    of_name = [entry for entry in entries if not entry.umask and entry.event.upper() == args.event.upper()]
    names = [name for entry in of_name for name in entry.pmus]
    if len(names) == 1 and not args.json:
        args.pmu, = names
        return True
    if not names:
        raise EventNotFoundError(f"no PMU has an event {shown(args.event)}"
                                 f"{nearest(args.event.upper(), {entry.event for entry in entries})}"
                                 " (by words: pypfm find WORD ...)")
    find.show(args, [one for entry in of_name for one in _finding.grouped([entry])])
    if len(names) > 1 and not args.json:
        say(f"pypfm info: {len(names)} PMUs have this event: give one with -p\n")
    return False


def _row(name: str, value: str, *, folded: bool) -> str:
    """Name and value; on a terminal the value is folded beside the name, or below it where a word is too long."""
    if not folded:
        return name + value
    width = shutil.get_terminal_size().columns
    if len(name) + max(map(len, value.split()), default=0) > width:
        below = textwrap.fill(value, width, break_long_words=False, break_on_hyphens=False)
        return f"{name.rstrip()}\n{below}"
    return textwrap.fill(value, width, initial_indent=name, subsequent_indent=" " * len(name),
                         break_long_words=False, break_on_hyphens=False) or name


def _lines(event: Event) -> list[tuple[str, object]]:
    qualifiers = [what for what, supported in (
        ("opcode matching", event.supports_opcode_match), ("code ranges", event.supports_code_range),
        ("data ranges", event.supports_data_range)) if supported]
    kind = "counter"
    if event.ear_mode is not None:
        kind = f"{'instruction' if event.is_iear else 'data'} EAR, {event.ear_mode.name} mode"
    elif event.is_branch:
        kind = "records branches"
    group = "none" if event.group is None else f"{event.group} cache events, set {event.set}"
    lines: list[tuple[str, object]] = [
        ("event", event.name), ("description", event.description), ("PMU", event.pmu), ("index", event.index),
        ("code", hex(event.code)), ("umask", hex(event.umask)), ("kind", kind),
        ("counters", " ".join(f"PMC{n}" for n in event.counters)),
        ("max increment", f"{event.maxincr} a cycle (threshold 0 to {event.maxincr - 1})"),
        ("qualifiers", ", ".join(qualifiers) or "none"), ("group", group),
    ]
    if event.type is not None:
        lines.append(("thread type", event.type))
    lines += [("unit mask", f"{m.name} (code {m.code}): {m.description}") for m in event.unit_masks]
    return lines


def _lines4(pmu: perf.Pmu, event: perf.Event) -> list[tuple[str, object]]:
    from pypfm.perf.offcore import GROUPS

    lines: list[tuple[str, object]] = [
        ("event", event.name), ("description", event.description), ("PMU", event.pmu), ("index", event.index),
        ("code", hex(event.code)),
    ]
    if event.alias_of is not None:
        lines.append(("alias of", event.alias_of))
    lines.append(("precise", "yes" if event.is_precise else "no"))
    for u in event.umasks:
        notes = [GROUPS[u.group]] if event.is_offcore else []
        notes += ["default"] if u.is_default else []
        notes += [f"stands for {':'.join(u.members)}"] if u.members else []
        shown = f" ({', '.join(notes)})" if notes else ""
        lines.append(("unit mask", f"{u.name} = {u.code:#x}{shown}: {u.description}"))
    lines += [("modifier", f"{m.name}{'' if m.is_switch else '=N'}: {m.description}")
              for m in pmu.modifiers(event.name, pmu.default_os)]
    return lines
