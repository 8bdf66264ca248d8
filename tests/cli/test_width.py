"""How wide the output for people is: help, descriptions, two layouts."""

from __future__ import annotations

import argparse
import re

import pytest

from conftest import clean_env, run
from pypfm.cli import build_parser
from terminal import PYPFM, on_terminal


def _commands(parser: argparse.ArgumentParser) -> list[str]:
    """The command lines of a parser and of its sub-commands."""
    below = [sub for action in parser._actions if isinstance(action, argparse._SubParsersAction) for sub in action.choices.values()]
    return [parser.prog, *(name for sub in below for name in _commands(sub))]


@pytest.mark.parametrize("command", [*_commands(build_parser()), "perfex", "pmc"])
@pytest.mark.parametrize("columns", [80, 200])
def test_help_has_80_columns(command: str, columns: int) -> None:
    program, *words = command.split()
    done = run(PYPFM.with_name(program), *words, "--help", env=clean_env(COLUMNS=str(columns)))
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []
    assert len(done.stdout.splitlines()) > 5


@pytest.mark.parametrize("columns", [60, 80, 130])
def test_info_is_folded_on_a_terminal(columns: int) -> None:
    shown = on_terminal(columns, "info", "-p", "montecito", "L3_READS_ALL_ALL")
    assert max(map(len, shown.splitlines())) <= columns
    piped = run(PYPFM, "info", "-p", "montecito", "L3_READS_ALL_ALL").stdout
    assert " ".join(shown.split()) == " ".join(piped.split())
    assert "Read requests made to the third level cache -- data and instructions, hits and misses\n" in piped


def test_two_layouts_are_stacked_on_a_narrow_terminal() -> None:
    pair = ("pfm3:pfmlib_ita2_input_param_t", "pfm3-manual:pfmlib_ita2_input_param_t")
    narrow = on_terminal(80, "layout", "--diff", *pair, status=8)
    wide = on_terminal(130, "layout", "--diff", *pair, status=8)
    assert max(map(len, narrow.splitlines())) <= 80
    assert re.search(r"^< +376 +8 unsigned long reserved\[1\]$", narrow, re.MULTILINE)
    assert narrow.count("pfp_ita2_pmc8") == 1
    assert wide.count("pfp_ita2_pmc8") == 2
