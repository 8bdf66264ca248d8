"""How wide the output for people is: help, descriptions, two layouts."""

from __future__ import annotations

import argparse
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from conftest import clean_env
from fresh import fresh_command
from native import PFM3
from pypfm.cli import build_parser, draw
from terminal import PYPFM, on_terminal


def _commands(parser: argparse.ArgumentParser) -> list[str]:
    """The command lines of a parser and of its sub-commands."""
    below = [sub for action in parser._actions if isinstance(action, argparse._SubParsersAction) for sub in action.choices.values()]
    return [parser.prog, *(name for sub in below for name in _commands(sub))]


@pytest.mark.parametrize("command", [*_commands(build_parser()), "perfex", "pmc"])
def test_help_has_80_columns(command: str) -> None:
    program, *words = command.split()
    done = fresh_command(PYPFM.with_name(program), *words, "--help", env=clean_env(COLUMNS="200"))
    assert (done.returncode, done.stdout[:7], done.stderr) == (0, "usage: ", "")
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []
    assert len(done.stdout.splitlines()) > 5


@pytest.mark.parametrize("columns", [60, 130])
def test_info_is_folded_on_a_terminal(columns: int) -> None:
    shown = on_terminal(columns, "info", "-p", "montecito", "L3_READS_ALL_ALL")
    assert max(map(len, shown.splitlines())) <= columns
    piped = fresh_command(PYPFM, "info", "-p", "montecito", "L3_READS_ALL_ALL").stdout
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


# Names that are in the output of a command, as long as there are, in what is drawn.
NAMES = {
    ("pmus",): ["montecito", "gen_ia64"],
    ("events", "-p", "itanium2", "IA64_TAGGED*"): ["IA64_TAGGED_INST_RETIRED_IBRP0_PMC8"],
    ("events", "-p", "glm"): ["OFFCORE_RESPONSE_0", "INSTRUCTIONS_RETIRED"],
    ("info", "-p", "itanium2", "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8"): ["IA64_TAGGED_INST_RETIRED_IBRP0_PMC8"],
    ("decode", "-p", "itanium2", "PMC4=0x808", "IBR0=0x1010", "IBR1=0x8000000fffff000"): [
        "IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", "0x0000000000000808"],
    ("decode", "-p", "glm", "code=0x5300c0"): ["INSTRUCTIONS_RETIRED", "INSTRUCTION_RETIRED:"],
    ("decode", "-p", "montecito", "PMD38=2", "PMD39=1", "PMD48=0x4000000000001235", "--etb"): ["0x4000000000001240"],
    ("encode", "-p", "montecito", "L3_READS_ALL_ALL:M:E", "--code-range", "0x1000+0x4000"): ["0x0000000000001000"],
    ("encode", "-p", "glm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE"): ["OFFCORE_RESPONSE_0:", "DMND_DATA_RD:", "codes  "],
    ("bench", "--rounds", "1", str(PFM3.path)): ["montecito"],
}


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("words", NAMES, ids=lambda words: " ".join(words[:4]))
@pytest.mark.slow
def test_no_name_is_broken(words: tuple[str, ...], columns: int) -> None:
    drawn = on_terminal(columns, *words)
    for name in NAMES[words]:
        assert name in drawn, drawn
    assert [line for line in drawn.splitlines() if len(line) > columns and len(line.split()) > 1] == []


def _printed(columns: int, cells: list[list[str]]) -> str:
    with (stream := io.StringIO()):
        draw.table(cells[0], cells[1:], Console(file=stream, width=columns, highlight=False))
        return stream.getvalue()


WORDS = st.lists(st.from_regex("[A-Z_]{1,30}", fullmatch=True), max_size=6).map(" ".join)


@given(cells=st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(WORDS, min_size=n, max_size=n), min_size=1, max_size=4)),
       columns=st.integers(40, 120))
@pytest.mark.slow
def test_tables_of_any_words_fit_and_keep_them_whole(cells: list[list[str]], columns: int) -> None:
    drawn = _printed(columns, cells)
    assert all(len(line.rstrip()) <= columns for line in drawn.splitlines())
    printed = drawn.split()
    for row in cells[1:]:
        for word in " ".join(row).split():
            assert word in printed, drawn
