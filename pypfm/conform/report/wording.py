"""Words that all reports of a conformance run share."""

from __future__ import annotations

from collections import Counter
from os.path import commonprefix
from typing import TYPE_CHECKING

from pypfm.conform.model import Tally
from pypfm.conform.tried import never_called

if TYPE_CHECKING:
    from pypfm.conform.model import Difference, LibraryFile, Report

__all__ = ["COLUMNS", "accepted", "by_function", "counted", "excerpt", "library_rows", "verdict", "visible"]

#: The heads of the table by function, as `by_function` fills it.
COLUMNS = ("function", "run", "differ", "suppressed", "not run")

_PLURALS = {"value": "values", "crash": "crashes", "hang": "hangs", "symbol": "symbols", "layout": "layouts"}
_BEFORE = 24  # characters before the first difference that a cut value keeps


def visible(text: str) -> str:
    """Make text from a library, a file or a user printable in one line: other characters become escapes."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # Python's stand-in (surrogateescape) for a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


def library_rows(library: LibraryFile) -> list[tuple[str, str]]:
    """Return rows that identify a library, the file first."""
    rows = [("file", library.loaded), ("asked for", library.asked), ("soname", library.soname),
            ("build id", library.build_id), ("sha256", library.sha256)]
    return [(name, visible(value) or "none") for name, value in rows if name != "asked for" or value != library.loaded]


def by_function(report: Report) -> list[tuple[str, Tally]]:
    """Return the tallies, functions with the most differences first, else in the order of the checks."""
    tallies = report.tallies | {f.function: Tally() for f in report.findings if f.function not in report.tallies}
    return sorted(tallies.items(), key=lambda row: (-row[1].differ, -row[1].suppressed, -row[1].not_run))


def accepted(report: Report) -> list[tuple[int, str]]:
    """Return how many findings each reason suppresses."""
    counts = Counter(f.suppressed for f in report.findings if f.suppressed)
    return [(count, visible(reason)) for reason, count in counts.items()]


def verdict(report: Report) -> str:
    """Return the outcome in one line."""
    tallies = report.tallies.values()
    checks, not_run = sum(t.run for t in tallies), sum(t.not_run for t in tallies)
    kinds = Counter(str(f.kind) for f in report.findings if not f.suppressed)
    names = never_called(report)
    suppressed = sum(count for count, _ in accepted(report))
    if kinds:
        parts = ", ".join(f"{kinds[k]:,} {k if kinds[k] == 1 else many}" for k, many in _PLURALS.items() if kinds[k])
        text = f"{counted(kinds.total(), 'difference')} ({parts}) in {counted(checks, 'check')}"
        text += f"; of {', '.join(names)} no call was made" if names else ""
    elif checks and names:
        text = (f"not everything was tried: of {', '.join(names)} no call was made;"
                f" {counted(checks, 'check')} as expected")
    elif checks:
        text = f"no differences in {counted(checks, 'check')}"
    else:
        text = "nothing was checked"
    for count, what in ((suppressed, "suppressed"), (not_run, "not run")):
        text += f", {count:,} {what}" if count else ""
    return f"{text}; exit status {report.status}"


def counted(number: int, noun: str) -> str:
    """Return a number and a noun, with its plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def excerpt(difference: Difference, longest: int) -> tuple[str, str]:
    """Return the expected value and the one got, visible, each cut around the first difference."""
    expected, got = _edged(visible(difference.expected)), _edged(visible(difference.got))
    start = 0
    if max(len(expected), len(got)) > longest:
        start = max(len(commonprefix([expected, got])) - _BEFORE, 0)
    return _cut(expected, start, longest), _cut(got, start, longest)


def _edged(text: str) -> str:
    """Return a text whose ends can be seen."""
    return f'"{text}"' if text != text.strip() or not text else text


def _cut(text: str, start: int, longest: int) -> str:
    left = len(text) - start - longest
    before = f"({start:,} characters) ..." if start else ""
    return before + text[start:start + longest] + (f"... ({left:,} more characters)" if left > 0 else "")
