"""The exported symbols of a library under test, against those of the original: csrc/functions.csv marks them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypfm.config import LIBRARIES
from pypfm.conform.checks.file import facts
from pypfm.conform.functions import column
from pypfm.conform.model import Difference, Finding, base
from pypfm.layout.model import LayoutError

if TYPE_CHECKING:
    from pathlib import Path

    from pypfm.conform.model import Report

__all__ = ["Outcome", "check", "exported", "marks"]

_KIND = "function"  # all that a libpfm exports


@dataclass
class Outcome:
    """The findings of checks of the binary itself.

    :ivar checks: number of checks by symbol or type
    :ivar findings: what is not as it should be
    :ivar notes: what could not be checked, or need not be as it is
    :ivar not_run: number of checks that were given up, by symbol or type
    """

    checks: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    not_run: Counter[str] = field(default_factory=Counter)

    def add_to(self, report: Report) -> None:
        """Enter everything into the report of a run."""
        for name, count in self.checks.items():
            report.tally(name).run += count
        for name, count in self.not_run.items():
            report.tally(name).not_run += count
        for finding in self.findings:
            report.tally(finding.function).differ += 1
        report.findings += self.findings
        report.notes += self.notes


def marks(api: str) -> dict[str, str]:
    """Return for each function what exports it: a version of the original ("3.10"), "text", "own" or "inline".

    :param api: pfm3, pfm3-manual or pfm4
    :return: the column ``export`` of csrc/functions.csv, by function
    """
    return column(api, "export")


def exported(path: Path) -> dict[str, str]:
    """Return the symbols that a shared library defines for others.

    :param path: the file; its section headers may be stripped
    :return: function, variable or symbol by name, versions (``@VERSION``) left out
    :raises LayoutError: the file cannot be read
    """
    found = facts(path)
    if found.exports is None:
        raise LayoutError(found.why_not)
    return found.exports


def check(path: Path, api: str, complete: bool = False) -> Outcome:
    """Check that a library exports what the original does.

    :param path: the library under test
    :param api: pfm3, pfm3-manual or pfm4
    :param complete: demand also the names that only a manual page or a header has, and those of pypfm's own
    :return: a finding for each symbol that is missing, of another kind or of several versions, and for another
        soname; further symbols named pfm... are a note
    :raises LayoutError: the file cannot be read
    """
    theirs, odd = exported(path), facts(path).odd
    names = {name: mark for name, mark in marks(api).items() if mark != "inline"}
    outcome = Outcome()
    for name, mark in names.items():
        if name not in theirs and mark in ("text", "own") and not complete:
            continue
        outcome.checks[name] += 1
        if theirs.get(name) != _KIND:
            got = theirs.get(name, "not exported")
            outcome.findings.append(Finding("symbol", name, name, (Difference("symbol", _KIND, got),)))
        elif reason := odd.get(name):
            outcome.findings.append(Finding("symbol", name, name, (Difference("symbol", f"one {_KIND}", reason),)))
    _check_soname(path, api, outcome)
    further = sorted(name for name in theirs if name.startswith("pfm") and name not in names)
    if further:
        outcome.notes.append(f"also exported: {', '.join(further)}")
    return outcome


def _check_soname(path: Path, api: str, outcome: Outcome) -> None:
    """Compare the soname: programs linked with the library ask for its soname, those linked with ours for ours."""
    soname, usual = facts(path).soname, LIBRARIES[base(api)].soname
    if not soname:
        outcome.notes.append(f"it has no soname: programs find it as {usual} by its file name only")
        return
    if soname not in (LIBRARIES[api].soname, usual):
        outcome.checks["soname"] += 1
        outcome.findings.append(Finding("symbol", "soname", "soname", (
            Difference("soname", usual, soname),)))
