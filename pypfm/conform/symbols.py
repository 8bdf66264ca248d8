"""The exported symbols of a library under test, against those of our own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elftools.elf.dynamic import DynamicSegment

from pypfm._dwarf import open_elf, readable
from pypfm.config import LIBRARIES
from pypfm.conform.model import Difference, Finding

if TYPE_CHECKING:
    from pathlib import Path

    from pypfm.conform.model import Report

__all__ = ["Outcome", "check", "exported"]

# Names that only the text of the manual pages has, as our library exports them for it: real libpfm 3 has not.
_FROM_THE_TEXT = {"pfm_ita2_get_event_ear_mode", "pfm_ita2_get_event_grp",
                  "pfm_mont_get_event_ear_mode", "pfm_mont_get_event_grp"}
_KINDS = {"STT_FUNC": "function", "STT_LOOS": "function", "STT_GNU_IFUNC": "function", "STT_OBJECT": "variable"}


@dataclass
class Outcome:
    """What checks of the binary itself found.

    :ivar checks: number of checks by symbol or type
    :ivar findings: what is not as it should be
    :ivar notes: what could not be checked, or need not be as it is
    """

    checks: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_to(self, report: Report) -> None:
        """Enter everything into the report of a run."""
        for name, count in self.checks.items():
            report.tally(name).run += count
        for finding in self.findings:
            report.tally(finding.function).differ += 1
        report.findings += self.findings
        report.notes += self.notes


def exported(path: Path) -> dict[str, str]:
    """The symbols that a shared library defines for others.

    :param path: the file; its section headers may be stripped
    :return: function, variable or symbol by name, versions (``@VERSION``) left out
    :raises LayoutError: the file cannot be read
    """
    with open_elf(path) as elf, readable(path):
        symbols = [s for segment in elf.iter_segments() if isinstance(segment, DynamicSegment)
                   for s in segment.iter_symbols()]
        return {s.name.partition("@")[0]: _KINDS.get(s["st_info"]["type"], "symbol") for s in symbols
                if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] != "STB_LOCAL"
                and s["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED") and s.name}


def check(path: Path, api: str) -> Outcome:
    """Check that a library exports what ours does.

    :param path: the library under test
    :param api: pfm3, pfm3-manual or pfm4
    :return: a finding for each symbol that is missing or of another kind; further symbols named pfm... are a note
    :raises LayoutError: the file cannot be read
    """
    ours, theirs = exported(LIBRARIES[api].path), exported(path)
    outcome = Outcome()
    for name, kind in ours.items():
        if name in _FROM_THE_TEXT and name not in theirs:
            outcome.notes.append(f"{name}() is not exported: only the text of the manual pages has that name")
            continue
        outcome.checks[name] += 1
        if theirs.get(name) != kind:
            got = theirs.get(name, "not exported")
            outcome.findings.append(Finding("symbol", name, name, (Difference("symbol", kind, got),)))
    further = sorted(name for name in theirs if name.startswith("pfm") and name not in ours)
    if further:
        outcome.notes.append(f"also exported: {', '.join(further)}")
    return outcome
