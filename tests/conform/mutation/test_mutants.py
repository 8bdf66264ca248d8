"""A sample of the broken rules, and what holds the list of them together.

All of them: check.py and python_rules.py in this directory, which .ci/full runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from check import Check, run
from mutants import MUTANTS
from python_rules import changed

from conftest import ROOT, TESTS
from conftest import run as run_program

# One of each part: placement, ranges, EARs, generic API, parser, perf_event, Itanium under perf.
SAMPLE = ["events of a group are of one set", "fine ranges are widened to lines", "modes of the I-EAR",
          "unit masks are mandatory", "a dot separates attributes", "precise is 0 to 3", "a threshold has a limit"]


def test_every_edit_has_one_place() -> None:
    for mutant in MUTANTS:
        source = (ROOT / "csrc" / mutant.file).read_text()
        assert mutant.apply(source) != source


def test_there_are_many_rules() -> None:
    assert len({m.rule for m in MUTANTS}) == len(MUTANTS) >= 60
    assert sum(bool(m.why_not) for m in MUTANTS) < len(MUTANTS) // 20


def test_an_edit_without_a_place_is_an_error() -> None:
    for text in ("", MUTANTS[0].old * 2):
        with pytest.raises(ValueError, match="places for"):
            MUTANTS[0].apply(text)


@pytest.mark.long
def test_an_unchanged_copy_is_not_noticed(tmp_path: Path) -> None:
    """The control: what notices a mutant is its edit."""
    check = Check(500, 1, tmp_path, ["pfm3", "pfm4"])
    for name in ("pfm3", "pfm4"):
        directory = tmp_path / f"{name}-copy"
        directory.mkdir()
        assert not check.noticed(check.library(None, name, directory), name)


@pytest.mark.long
def test_a_sample_of_broken_rules_is_noticed() -> None:
    chosen = [m for m in MUTANTS if m.rule in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    for outcome in run(chosen, 2500, 1, jobs=2):
        assert outcome.noticed, outcome.mutant.rule


# ---- Python ---------------------------------------------------------------------------------

SOURCE = """\
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import a
def f(x: "int | 3", y: int = 5) -> "0 < 1":
    '10 + 20'
    if not x or x < y <= 7:
        return [n << 2 for n in x if n is y]
    return True
"""


def test_what_is_changed_in_python() -> None:
    """Operators, conditions and numbers of what is run: neither annotations nor words."""
    changes = list(changed(SOURCE))
    assert [what.partition("  [")[0] for what, _ in changes] == [
        "4: 5 -> 6", "6: not x or x < y <= 7 -> False", "6: not x or x < y <= 7 -> not x and x < y <= 7", "6: not x -> not not x",
        "6: x < y <= 7 -> x <= y <= 7", "6: x < y <= 7 -> x < y < 7", "6: 7 -> 8", "7: n << 2 -> n >> 2", "7: 2 -> 3",
        "7: x -> no condition", "7: n is y -> n is not y"]
    assert len({text for _, text in changes}) == len(changes)
    for _, text in changes:
        compile(text, "changed", "exec")


@pytest.mark.long
def test_a_sample_of_python_changes_is_noticed() -> None:
    done = run_program(sys.executable, TESTS / "conform" / "mutation" / "python_rules.py", "--module", "perf/offcore", "--sample", 10,
                       timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
