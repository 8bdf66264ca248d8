"""The HTML page of a conformance run: page/page.html with its style and its script put in.

Without JavaScript all findings are there to read; the script adds the filter.  The page's
Content-Security-Policy admits that one script and that one style by their hashes, and nothing from a network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections import Counter, defaultdict
from importlib.resources import files
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import quote

from pypfm.conform.report.wording import (
    COLUMNS,
    accepted,
    by_function,
    counted,
    excerpt,
    library_rows,
    marked,
    verdict,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.conform.model import Difference, Finding, Report, Tally

__all__ = ["LARGEST", "PER_FINDING", "PER_FUNCTION", "page"]

#: Findings of one function, and fields of one finding, that the page shows.
PER_FUNCTION, PER_FINDING = 200, 60
#: Characters of findings after which the page shows no more of them.
LARGEST = 8_000_000

_LONGEST = 600  # characters of a value
_LONGEST_VECTOR = 20_000


def page(report: Report) -> str:
    """The page, in ASCII: every other character is a reference."""
    parts = files("pypfm.conform.report").joinpath("page")
    whole, style, script = (parts.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    rows = by_function(report)
    findings = defaultdict(list)
    for finding in sorted(report.findings, key=lambda f: bool(f.suppressed)):
        findings[finding.function].append(finding)
    groups = [(name, findings[name]) for name, _ in rows if name in findings]
    libraries = _facts([*library_rows(report.library), ("api", f"{report.api}, {report.seconds:.1f} s")])
    if report.against:
        libraries += "\n<h2>Compared with</h2>\n" + _facts(library_rows(report.against))
    filled = Template(whole).substitute(
        style=style, style_hash=_hash(style), script=script, script_hash=_hash(script),
        title=_text(PurePath(report.library.loaded).name), verdict=_text(verdict(report)),
        outcome="bad" if report.status else "good", libraries=libraries, notes=_notes(report),
        heads="".join(f'<th scope="col">{head}</th>' for head in COLUMNS),
        rows="\n".join(_row(name, tally, name in findings) for name, tally in rows),
        total=f"{len(report.findings):,}",
        functions=_options((name, len(some)) for name, some in groups),
        kinds=_options(Counter(str(f.kind) for f in report.findings).items()),
        findings="\n".join(_groups(groups)) or "<p>None.</p>")
    return filled.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _text(text: str) -> str:
    """Any text as HTML text or as the value of an attribute."""
    return html.escape(visible(text))


def _anchor(function: str) -> str:
    """Where the findings of a function are; also the address of the page that shows them alone."""
    return "function=" + quote(visible(function), safe="")


def _hash(text: str) -> str:
    """A script or style as the Content-Security-Policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<dt>{name}</dt><dd>{_text(value)}</dd>\n" for name, value in rows)
    return f'<dl class="library">\n{items}</dl>'


def _notes(report: Report) -> str:
    """What else there is to say: reasons of suppressed findings, what could not be checked."""
    notes = [f"suppressed, {count:,}: {reason}" for count, reason in accepted(report)] + report.notes
    rows = "".join(f"<li>{_text(note)}</li>\n" for note in notes)
    return f'<section>\n<h2>Notes</h2>\n<ul class="notes">\n{rows}</ul>\n</section>' if notes else ""


def _row(name: str, tally: Tally, has_findings: bool) -> str:
    """A row of the table; the name leads to its findings, with JavaScript to them alone."""
    label = _text(name)
    if has_findings:
        label = f'<a href="#{_anchor(name)}">{label}</a>'
    cells = [_cell(tally.run), _cell(tally.differ, "bad"), _cell(tally.suppressed), _cell(tally.not_run)]
    return f'<tr data-function="{_text(name)}"><th scope="row"><code>{label}</code></th>{"".join(cells)}</tr>'


def _cell(number: int, kind: str = "") -> str:
    return f'<td class="{kind if number else "zero"}">{number:,}</td>'


def _options(rows: Iterable[tuple[str, int]]) -> str:
    return "".join(f'<option value="{_text(name)}">{_text(name)} ({count:,})</option>' for name, count in rows)


def _groups(groups: Sequence[tuple[str, list[Finding]]]) -> Iterator[str]:
    """The findings by function, as many as the page can hold."""
    left = LARGEST
    for name, findings in groups:
        articles: list[str] = []
        for finding in findings[:PER_FUNCTION]:
            if left <= 0:
                break
            articles.append(_finding(finding))
            left -= len(articles[-1])
        heading = f'<h3 id="{_anchor(name)}"><code>{_text(name)}</code></h3>'
        more = _more(len(findings) - len(articles), "finding")
        start = f'<section class="group" data-function="{_text(name)}">'
        yield "\n".join([start, heading, *articles, more, "</section>"])


def _more(number: int, noun: str) -> str:
    return f'<p class="soft">{counted(number, noun)} more; --report json has all.</p>' if number else ""


def _finding(finding: Finding) -> str:
    suppressed = ' data-suppressed="yes"' if finding.suppressed else ""
    parts = [
        f'<article class="finding{" suppressed" if suppressed else ""}" data-kind="{finding.kind}"{suppressed}>',
        f'<h4><span class="kind">{finding.kind}</span><code>{_text(finding.call)}</code></h4>']
    if suppressed:
        parts.append(f'<p class="reason">Suppressed: {_text(finding.suppressed)}</p>')
    if finding.differences:
        rows = "\n".join(map(_difference, finding.differences[:PER_FINDING]))
        parts.append('<table class="differences"><thead><tr><th scope="col">field</th><th scope="col">expected</th>'
                     f'<th scope="col">got</th></tr></thead>\n<tbody>\n{rows}\n</tbody></table>')
        parts.append(_more(max(len(finding.differences) - PER_FINDING, 0), "field"))
    if finding.vector is not None:
        # Escapes of JSON's own in place of all that is not ASCII: what is copied is the same data.
        vector = html.escape(json.dumps(finding.vector))
        if len(vector) > _LONGEST_VECTOR:
            vector = "(long: --report json has it)"
        parts.append(f'<details><summary>vector</summary><pre>{vector}</pre>'
                     '<button type="button" class="copy" hidden>Copy</button></details>')
    return "\n".join([*filter(None, parts), "</article>"])


def _difference(difference: Difference) -> str:
    expected, got = excerpt(difference, _LONGEST)
    return (f'<tr><th scope="row">{_text(difference.field)}</th>'
            f'<td class="want" data-label="expected">{_marked(expected, got)}</td>'
            f'<td class="got" data-label="got">{_marked(got, expected)}</td></tr>')


def _marked(text: str, other: str) -> str:
    """A value with the characters marked that the other does not have."""
    return "<span>" + "".join(f"<mark>{html.escape(piece)}</mark>" if differs else html.escape(piece)
                              for piece, differs in marked(text, other)) + "</span>"
