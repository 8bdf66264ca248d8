"""Accepted differences: a file that lists them with their reasons.

A suppression file is INI text, one section for each accepted difference; the title is free::

    [descriptions]
    reason = this library has texts of its own
    api = pfm4
    field = *desc

``reason`` has to be there, and at least one pattern.  A difference is accepted if all patterns of a
section match it; a finding is, if each of its differences is.  Patterns are those of fnmatch
(``*``, ``?``, ``[...]``), case counts; one without a wildcard in mind, such as ``pmcs[0].value``,
matches the same text as well.
"""

from __future__ import annotations

import configparser
import fnmatch
import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pypfm.conform.groups import groups
from pypfm.conform.model import Difference
from pypfm.errors import PfmError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pypfm.conform.model import Finding, Report

__all__ = ["PATTERNS", "Suppression", "SuppressionError", "Suppressions", "accept", "bundled", "create", "read"]

#: The keys of a section besides ``reason``.
PATTERNS = ("kind", "api", "function", "call", "field", "expected", "got")

_LARGEST = 1 << 24  # bytes; something else than a suppression file was named
# What differs from run to run: an address; in the state of a process also bytes, descriptors and process numbers.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{9,16}\b")
_PROCESS = re.compile(rf"{_ADDRESS.pattern}|\d[\d,]*\d")
_BUNDLED = Path(__file__).resolve().parent / "suppressions"


class SuppressionError(PfmError):
    """A suppression file that cannot be read or says too little."""


@dataclass(frozen=True)
class Suppression:
    """One section of a suppression file.

    :ivar file: where it stands
    :ivar title: of its section
    :ivar reason: why the difference is accepted
    :ivar patterns: by key, some of `PATTERNS`
    """

    file: str
    title: str
    reason: str
    patterns: Mapping[str, str]

    def is_about(self, api: str) -> bool:
        """Tell whether a run of this API can have such differences."""
        return "api" not in self.patterns or _matches(self.patterns["api"], api)

    def accepts(self, api: str, finding: Finding, difference: Difference) -> bool:
        """Tell whether all patterns match this difference of a finding."""
        texts = {"kind": finding.kind, "api": api, "function": finding.function, "call": finding.call,
                 "field": difference.field, "expected": difference.expected, "got": difference.got}
        return all(_matches(pattern, texts[key]) for key, pattern in self.patterns.items())


@dataclass(frozen=True)
class Suppressions:
    """The sections of all suppression files, in their order."""

    sections: tuple[Suppression, ...] = ()

    def apply(self, report: Report) -> None:
        """Mark the findings that are accepted, correct the tallies, note the sections that match nothing."""
        hits: Counter[int] = Counter()
        for i, finding in enumerate(report.findings):
            reason = self._reason(report.api, finding, hits)
            if reason and not finding.suppressed:
                report.findings[i] = replace(finding, suppressed=reason)
                tally = report.tally(finding.function)
                tally.differ -= 1
                tally.suppressed += 1
        report.notes += [f"suppression [{section.title}] of {section.file} matches nothing"
                         for i, section in enumerate(self.sections) if not hits[i] and section.is_about(report.api)]

    def _reason(self, api: str, finding: Finding, hits: Counter[int]) -> str:
        """Return why a finding is accepted, or ""; count the sections that match one of its differences."""
        reasons: dict[str, None] = {}  # in order, each once
        everything = True
        for difference in finding.differences or (Difference("", "", ""),):
            found = [i for i, section in enumerate(self.sections) if section.accepts(api, finding, difference)]
            hits.update(found)
            if found:
                reasons[self.sections[found[0]].reason] = None
            else:
                everything = False
        return "; ".join(reasons) if everything else ""


def create(path: str) -> TextIO:
    """Open a new file for `accept`.

    :raises SuppressionError: the file is there already, or cannot be written
    """
    try:
        return open(path, "x", encoding="utf-8")
    except OSError as error:
        hint = ": name a new file" + ", or remove this one" * os.path.isfile(path)
        raise SuppressionError(f"{shown(path)}: {error.strerror}{hint * isinstance(error, FileExistsError)}") from None


def accept(report: Report, file: TextIO) -> None:
    """Write a suppression file that accepts all findings of a report, a section for each change, and close it.

    :raises SuppressionError: it cannot be written
    """
    lines = [f"# What pypfm conform found in {_one_line(report.library.loaded)}: give the reasons in your own words."]
    sections = [(group.example, change) for group in groups(report) for change in group.changes]
    for number, (finding, (field, values)) in enumerate(sections, 1):
        patterns = {"kind": finding.kind, "api": report.api, "function": _pattern(finding.function),
                    "field": "[[]*]".join(map(_pattern, field.split("[]")))}
        if values is not None:
            varying = _PROCESS if finding.function == "process" else _ADDRESS
            patterns |= dict(zip(("expected", "got"), (varying.sub("*", _pattern(v)) for v in values), strict=True))
        lines += ["", f"[{number}]", f"reason = accepted of {_one_line(Path(report.library.loaded).name)}"]
        lines += [f"{key} = {pattern}".rstrip() for key, pattern in patterns.items()]
    try:
        with file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise SuppressionError(f"{shown(file.name)}: {error.strerror}") from None


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _pattern(text: str) -> str:
    """Return a pattern that matches a text and can stand in a file: characters that would be lost there match any."""
    left, right = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
    inner = re.sub(r"([*?[])", r"[\1]", text.strip())
    return _one_line("?" * left + inner + "?" * right if inner else "?" * left)


def _matches(pattern: str, text: str) -> bool:
    return text == pattern or fnmatch.fnmatchcase(text, pattern)


def bundled() -> list[str]:
    """Return the names of the suppression files that come with the package."""
    return sorted(path.stem for path in _BUNDLED.glob("*.ini"))


def read(*names: str) -> Suppressions:
    """Read suppression files.

    :param names: paths, or names of those that come with the package (``debian-libpfm4``)
    :raises SuppressionError: a file cannot be read, or has a mistake
    """
    return Suppressions(tuple(section for name in names for section in _sections(name)))


def _sections(name: str) -> Iterator[Suppression]:
    if not name:
        raise SuppressionError("the name of a suppression file is empty")
    path = _BUNDLED / f"{name}.ini" if name in bundled() and not Path(name).exists() else Path(name)
    parser = configparser.ConfigParser(
        default_section="", delimiters=("=",), interpolation=None, empty_lines_in_values=False)
    try:
        parser.read_string(_text(path))
    except configparser.Error as error:
        raise SuppressionError(f"{path}: {_mistake(error)}") from None
    for title in parser.sections():
        yield _section(str(path), title, dict(parser[title]))


def _text(path: Path) -> str:
    """Return the text of a file."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) <= _LARGEST and b"\0" not in data:
            return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL, or bytes that are no UTF-8
        if isinstance(error, OSError):
            missing = isinstance(error, FileNotFoundError)
            hint = f" (with pypfm come: {', '.join(bundled())})" if missing else ""
            raise SuppressionError(f"{shown(str(path))}: {error.strerror}{hint}") from None
    raise SuppressionError(f"{shown(str(path))}: not a suppression file (INI text in UTF-8)")


def _mistake(error: configparser.Error) -> str:
    """Describe in one line what is wrong with an INI file."""
    match error:
        case configparser.DuplicateSectionError():
            return f"line {error.lineno}: section [{error.section}] is there twice"
        case configparser.DuplicateOptionError():
            return f"line {error.lineno}: section [{error.section}] has {shown(error.option)} twice"
        case configparser.MissingSectionHeaderError():
            return f"line {error.lineno}: {shown(str(error.line).strip())} is before the first [section]"
    lines = [f"line {line}: not a [section] or KEY = VALUE" for line, _ in getattr(error, "errors", ())]
    return (lines or str(error).splitlines())[0]


def _section(file: str, title: str, values: dict[str, str]) -> Suppression:
    """Check a section."""
    where = f"{file}: section [{title}]"
    reason = re.sub(r"\s+", " ", values.pop("reason", ""))
    for key, value in values.items():
        if key not in PATTERNS:
            raise SuppressionError(f"{where}: no such key: {shown(key)}; there are reason, {', '.join(PATTERNS)}")
        if "\n" in value:
            raise SuppressionError(f"{where}: the pattern {key} has more than one line")
    if not reason:
        raise SuppressionError(f"{where}: no reason is given")
    if not values:
        raise SuppressionError(
            f"{where}: no pattern is given, it would accept everything; there are {', '.join(PATTERNS)}")
    return Suppression(file, title, reason, values)
