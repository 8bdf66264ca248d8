"""The JUnit XML of a conformance run, as Jenkins and others read it: a test suite for each function."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from pypfm.conform.report.wording import by_function, counted, excerpt, library_rows, visible

if TYPE_CHECKING:
    from pypfm.conform.model import Finding, Report, Tally

__all__ = ["document"]

_LONGEST = 2000  # characters of a value
_NOT_RUN = "the function is missing, or was given up after repeated crashes or hangs"
# Attributes of a JUnit test suite: how many of which element there are in it.
_OUTCOMES = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def document(report: Report) -> str:
    """Return the whole document, in ASCII: every other character is a reference.

    A finding is a failed test, a crash or a hang a test in error, a suppressed finding a skipped one; the
    checks without a finding are one test together, for the report has no names for them.
    """
    findings = defaultdict(list)
    for finding in report.findings:
        findings[finding.function].append(finding)
    suites = [_suite(report, name, tally, findings[name]) for name, tally in by_function(report)]
    root = ET.Element("testsuites", name="pypfm conform", time=f"{report.seconds:.3f}")
    for key in _OUTCOMES:
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    root.extend(suites)
    if suites and report.notes:
        ET.SubElement(suites[0], "system-out").text = "\n".join(map(visible, report.notes))
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return data.decode("ascii") + "\n"


def _suite(report: Report, function: str, tally: Tally, findings: list[Finding]) -> ET.Element:
    name = f"pypfm.conform.{report.api}.{visible(function)}"
    suite = ET.Element("testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    against = [("against", visible(report.against.loaded))] if report.against else []
    for key, value in [*library_rows(report.library), *against, ("checks", str(tally.run))]:
        ET.SubElement(properties, "property", name=key, value=value)
    seen: Counter[str] = Counter()
    for finding in findings:
        call = visible(finding.call)
        seen[call] += 1
        number = f" #{seen[call]}" if seen[call] > 1 else ""
        case = ET.SubElement(suite, "testcase", classname=name, name=call + number)
        _outcome(case, finding)
    passed = tally.run - tally.differ - tally.suppressed
    if passed > 0:
        ET.SubElement(suite, "testcase", classname=name, name="checks without difference")
    if tally.not_run:
        case = ET.SubElement(suite, "testcase", classname=name, name="checks not run")
        ET.SubElement(case, "skipped", message=f"{tally.not_run:,}: {_NOT_RUN}")
    for key, tag in _OUTCOMES.items():
        suite.set(key, str(len(suite.findall(f".//{tag}"))))
    return suite


def _outcome(case: ET.Element, finding: Finding) -> None:
    """Add the outcome of a check with a finding to its test case."""
    if finding.suppressed:
        ET.SubElement(case, "skipped", message=visible(finding.suppressed))
        return
    tag = "error" if finding.kind in ("crash", "hang") else "failure"
    pairs = [(visible(d.field), *excerpt(d, _LONGEST)) for d in finding.differences]
    first = "; ".join(f"{field}: expected {expected}, got {got}" for field, expected, got in pairs[:1])
    more = f" (and {counted(len(pairs) - 1, 'field')} more)" if len(pairs) > 1 else ""
    problem = ET.SubElement(case, tag, type=finding.kind, message=(first or finding.kind) + more)
    problem.text = "\n".join([f"call     {visible(finding.call)}", *(
        f"{field}\n  expected {expected}\n  got      {got}" for field, expected, got in pairs)])
