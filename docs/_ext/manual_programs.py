"""What the manual pages take from the programs' parsers and from the event tables.

The parsers are walked, not asked for their help: its form depends on the Python version.
"""

from __future__ import annotations

import argparse
import csv
import re
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING

from docutils import nodes

from library_headers import ROOT
from manual_text import definition, definitions, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command_sections", "event_list", "option_sections", "parser", "sub_parsers"]

_PARSERS = {"pypfm": "pypfm.cli", "perfex": "pypfm.cli.perfex", "pmc": "pypfm.cli.pmc"}
_PLAIN = ("positional arguments", "options")  # argparse's own groups
_WIDTH = 66  # of examples
_CHOICES = 36  # of choices in place of a value; longer ones, which cannot be broken, go with the text


def parser(program: str) -> argparse.ArgumentParser:
    """The parser of a program."""
    made = import_module(_PARSERS[program]).build_parser()
    assert isinstance(made, argparse.ArgumentParser)
    return made


def sub_parsers(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The sub-commands, and theirs, by all words of the command."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                found |= {one.prog: one, **sub_parsers(one)}
    return found


def _section(title: str, *body: nodes.Node) -> nodes.section:
    return nodes.section("", nodes.title(title, title), *body, ids=[nodes.make_id(title)], names=[title.lower()])


# ---- options ----------------------------------------------------------------------

def _value(action: argparse.Action) -> str:
    """What follows an option, or stands for an argument."""
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    choices = "{" + ",".join(map(str, action.choices or ())) + "}"
    return choices if action.choices and len(choices) <= _CHOICES else action.dest.upper()


def _term(action: argparse.Action) -> list[nodes.Node]:
    term: list[nodes.Node] = []
    for option in action.option_strings:
        term += [nodes.Text(", ")] * bool(term) + [nodes.strong("", option)]
    if not action.option_strings:
        return [nodes.emphasis("", _value(action))]
    return term if action.nargs == 0 else [*term, nodes.Text(" "), nodes.emphasis("", _value(action))]


def _option(action: argparse.Action) -> nodes.definition_list_item:
    text = (action.help or "") % {**vars(action), "prog": ""}
    if action.choices is not None and not all(str(c) in _value(action) + text for c in action.choices):
        text += f" ({', '.join(map(str, action.choices))})"
    return definition(_term(action), [paragraph(text)])


def _groups(of: argparse.ArgumentParser) -> Iterator[tuple[str, list[argparse.Action]]]:
    for group in of._action_groups:
        actions = [action for action in group._group_actions
                   if not isinstance(action, argparse._SubParsersAction) and action.help is not argparse.SUPPRESS]
        if actions:
            yield group.title or "", actions


def option_sections(program: str) -> Iterator[nodes.Node]:
    """The options of a program: a list, and a section for each group that has a name of its own."""
    for title, actions in _groups(parser(program)):
        made = definitions(map(_option, actions))
        yield made if title in _PLAIN else _section(title[0].upper() + title[1:], made)


# ---- commands ---------------------------------------------------------------------

def _usage(of: argparse.ArgumentParser) -> nodes.paragraph:
    """The options that are needed, and the arguments; the others are said to be there."""
    made: list[nodes.Node] = [nodes.strong("", of.prog)]
    optional = [action for action in of._actions if action.option_strings and not action.required]
    if optional:
        made += [nodes.Text(" ["), nodes.emphasis("", "option"), nodes.Text(" ...]")]
    for action in of._actions:
        if action.option_strings and action.required:
            made += [nodes.Text(" "), nodes.strong("", action.option_strings[0]), nodes.Text(" "),
                     nodes.emphasis("", action.option_strings[-1].lstrip("-").upper())]
    for action in of._actions:
        if not action.option_strings:
            several = (" ", " ...")
            front, back = {"*": (" [", " ...]"), "+": several, "?": (" [", "]"), argparse.PARSER: several}.get(
                str(action.nargs), (" ", ""))
            made += [nodes.Text(front), nodes.emphasis("", _value(action)), nodes.Text(back)]
    return nodes.paragraph("", "", *made)


def _epilog(text: str) -> Iterator[nodes.Node]:
    """Paragraphs; indented ones are commands."""
    for block in re.split(r"\n\n+", text.strip("\n")):
        if block.startswith(" "):
            shown = "\n".join(_folded(line) for line in textwrap.dedent(block).splitlines())
            yield nodes.literal_block(shown, shown, language="console")
        else:
            yield paragraph(" ".join(block.split()))


def _folded(line: str) -> str:
    return " \\\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent="    ", break_long_words=False,
                                      break_on_hyphens=False))


def command_sections() -> Iterator[nodes.Node]:
    """A section for each sub-command of pypfm."""
    for name, one in sub_parsers(parser("pypfm")).items():
        body: list[nodes.Node] = [_usage(one), *([paragraph(one.description)] if one.description else [])]
        for title, actions in _groups(one):
            own = [action for action in actions if "--help" not in action.option_strings]
            if title not in _PLAIN:
                body.append(nodes.paragraph("", "", nodes.Text(f"For {title}:")))
            body += [definitions(map(_option, own))] * bool(own)
        yield _section(name, *body, *_epilog(one.epilog or ""))


# ---- events -----------------------------------------------------------------------

def event_list(cpu: str) -> Iterator[nodes.Node]:
    """The events of the R10000 or R12000, by counter."""
    with (ROOT / "csrc/tables/perfex_events.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cpu"] == cpu]
    for counter in ("0", "1"):
        if of_counter := [row for row in rows if row["counter"] == counter]:
            yield nodes.paragraph("", "", nodes.Text(f"Counter {counter}:"))
            yield definitions(definition([nodes.strong("", row["index"]), nodes.Text(f" {row['name']}")],
                                         [paragraph(f"{row['description']} ({row['short']})")]) for row in of_counter)
