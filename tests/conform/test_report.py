"""The reports of a conformance run: text, JSON, JUnit XML."""

from __future__ import annotations

import copy
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

import samples
from native import CC, PFM3, build
from pypfm import schemas
from pypfm.config import LIBRARIES
from pypfm.conform import report, runner, suppress
from pypfm.conform.model import (
    APIS,
    STATUS_LAYOUT,
    STATUS_VALUES,
    Difference,
    Finding,
    FindingKind,
    LibraryFile,
    Report,
    Tally,
    Tried,
    Vector,
)
from pypfm.conform.report.wording import excerpt, visible
from pypfm.conform.vectors import recorded
from pypfm.errors import ConformError, shown
from runs import vectors_file
from terminal import pypfm, terminal

pytestmark = pytest.mark.slow

ALL = {"report": samples.report, "clean": samples.clean, "nasty": samples.nasty,
       "many": lambda: samples.many(450, 3), "empty": lambda: Report("pfm3-manual", samples.LIBRARY), "no library": lambda: Report("", LibraryFile("x", "x", "", "", ""))}


@pytest.fixture(params=ALL)
def any_report(request: pytest.FixtureRequest) -> Report:
    return ALL[request.param]()


def written(what: Report, how: report.How, encoding: str = "utf-8") -> str:
    """What write() puts into a file of that encoding."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    report.write(what, how, stream)
    stream.flush()
    return raw.getvalue().decode(encoding)


# ---- what they share -------------------------------------------------------------

@pytest.mark.parametrize("how", report.HOWS)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_every_report_can_be_written_in_any_encoding(any_report: Report, how: report.How, encoding: str) -> None:
    out = written(any_report, how, encoding)
    assert out.endswith("\n")
    assert not re.search(r"[^\n\x20-\x7e\xa0-\uffff]", out), "no control character reaches a terminal or a parser"


def test_a_report_is_saved_or_the_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "out.xml"
    report.save(samples.report(), "junit", str(file))
    assert file.read_text() == report.junit(samples.report())
    for path, said in ((tmp_path, "Is a directory"), ("/dev/full", "No space left on device"),
                       (file / "x", "Not a directory")):
        with pytest.raises(ConformError) as error:
            report.save(samples.report(), "json", str(path))
        assert str(error.value) == f"{shown(str(path))}: {said}"


def test_visible_text() -> None:
    assert visible(samples.NASTY) == samples.NASTY_VISIBLE
    assert visible("plain \u00e9 \\n") == "plain \u00e9 \\n"


def test_excerpts_show_where_values_differ() -> None:
    long = Difference("f", "x" * 5000 + "A" + "y" * 3000, "x" * 5000 + "B" + "y" * 3000)
    expected, got = excerpt(long, 100)
    assert expected == "(4,976 characters) ..." + "x" * 24 + "A" + "y" * 75 + "... (2,925 more characters)"
    assert got == expected.replace("A", "B")
    assert excerpt(Difference("f", "a" * 100, "b"), 100) == ("a" * 100, "b")
    assert excerpt(Difference("f", "", "a "), 100) == ('""', '"a "'), "what cannot be seen is in quotes"


# ---- text ------------------------------------------------------------------------

def test_text_report() -> None:
    lines = written(samples.report(), "text").splitlines()
    assert lines[0].split() == ["library", "file", "/opt/lib/libpfm.so.4.13.0"]
    assert lines[1].split() == ["asked", "for", "libpfm.so.4"]
    assert lines[4].split() == ["sha256", "ab" * 32]
    at = lines.index('value   pfm_get_os_event_encoding("glm::ICACHE", PFM_PLM3, PFM_OS_NONE)')
    assert lines[at + 1:at + 5] == [
        "    codes[0]  expected 0x530380",
        "              got      0x530381",
        '    fstr      expected "glm::ICACHE:ACCESSES"',
        '              got      "glm::ICACHE"']
    assert "crash   pfm_get_event_info(-1)" in lines
    assert "layout  struct pfm_event_info_t" in lines
    assert "suppressed  1: texts of its own" in lines
    assert not any("pfm_get_event_info(0x1)" in line for line in lines), "what is suppressed is counted by reason"
    assert "note        no Goldmont here" in lines
    assert "pfm_get_os_event_encoding  1,200       1           0        0" in lines
    assert lines[-1] == ("3 differences (1 value, 1 crash, 1 layout) in 1,242 checks, 1 suppressed, 7 not run;"
                         " exit status 12")


@pytest.mark.parametrize(("what", "said"), [
    (samples.clean(), "no differences in 1 check; exit status 0"),
    (samples.many(14012), "14,012 differences (14,012 values) in 14,012 checks; exit status 4"),
    (Report("pfm3", samples.LIBRARY), "nothing was checked; exit status 0"),
    (Report("pfm4", samples.LIBRARY, tallies={"f": Tally(3, 0, 1)}, findings=[samples.ACCEPTED]),
     "no differences in 3 checks, 1 suppressed; exit status 0"),
])
def test_verdict(what: Report, said: str) -> None:
    assert written(what, "text").splitlines()[-1] == said


def test_long_values_are_folded_in_the_text() -> None:
    value = "".join(f"{i:04d}" for i in range(60))
    finding = Finding("value", "f", "f(" + "x, " * 60 + ")", (Difference("a" * 40, value, value[:-1]),))
    lines = report.text(Report("pfm4", samples.LIBRARY, findings=[finding])).splitlines()
    assert max(map(len, lines)) <= 100
    at = lines.index("    " + "a" * 40)
    body = "".join(line[40:] for line in lines[at + 1:])
    assert body.startswith(value + value[:-1]), "no digit is lost"
    call = [line for line in lines if line.lstrip().startswith(("value", "x,"))]
    assert " ".join(" ".join(call).split()) == "value f(" + "x, " * 60 + ")", "folded between words"


def test_text_on_a_terminal_has_colours_and_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with terminal() as (theirs, printed):
        with open(theirs, "w", encoding="utf-8", closefd=False) as stream:
            report.write(samples.report(), "text", stream)
        out = printed()
    assert "\x1b[32m0x530380\x1b[0m" in out
    plain = re.sub(r"\x1b\[[\d;]*m", "", out)
    assert [line.rstrip() for line in plain.splitlines()] == report.text(samples.report()).splitlines()


# ---- JSON ------------------------------------------------------------------------

def test_json_follows_its_schema(any_report: Report) -> None:
    data = json.loads(written(any_report, "json"))
    jsonschema.validate(data, schemas.load("conform"))
    assert data["status"] == any_report.status
    assert len(data["findings"]) == len(any_report.findings)


def test_the_schema_has_the_words_of_the_classes() -> None:
    """Fields need no test of their own: the schema takes none that it does not list, and wants all."""
    schema: Any = schemas.load("conform")
    assert schema["$defs"]["finding"]["properties"]["kind"]["enum"] == list(get_args(FindingKind))
    assert schema["properties"]["api"]["enum"] == ["", *APIS]
    bits = (0, STATUS_VALUES, STATUS_LAYOUT, STATUS_VALUES | STATUS_LAYOUT)
    assert schema["properties"]["status"]["enum"] == list(bits)


def test_json_has_everything() -> None:
    data = json.loads(written(samples.report(), "json"))
    assert data["library"]["loaded"] == "/opt/lib/libpfm.so.4.13.0"
    assert data["functions"]["pfm_get_event_info"] == {"run": 40, "differ": 1, "suppressed": 1, "not_run": 7}
    assert data["findings"][0]["differences"][0] == {"field": "codes[0]", "expected": "0x530380", "got": "0x530381"}
    assert data["findings"][0]["vector"] == samples.VALUE.vector
    assert data["findings"][3]["suppressed"] == "texts of its own"
    nasty = json.loads(written(samples.nasty(), "json"))
    assert nasty["findings"][0]["vector"] == {samples.NASTY: [samples.NASTY]}


@pytest.mark.parametrize("change", [
    {"status": 3}, {"extra": 1}, {"library": {}}, {"findings": [{}]}, {"functions": {"f": {"run": -1}}}, {"notes": ""},
])
def test_the_schema_refuses_other_data(change: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report.to_json(samples.report()) | change, schemas.load("conform"))


# ---- JUnit -----------------------------------------------------------------------

def check_shape(root: ET.Element) -> None:
    """The elements and attributes that Jenkins' JUnit reader knows, and numbers that agree."""
    allowed = {"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase", "system-out"}, "properties": {"property"},
               "testcase": {"failure", "error", "skipped"}, "failure": set(), "error": set(), "skipped": set(),
               "property": set(), "system-out": set()}
    needed = {"testsuite": {"name", "tests", "failures", "errors", "skipped"}, "testcase": {"name", "classname"},
              "failure": {"message", "type"}, "error": {"message", "type"}, "property": {"name", "value"}}
    assert root.tag == "testsuites"
    for element in root.iter():
        assert {child.tag for child in element} <= allowed[element.tag]
        assert needed.get(element.tag, set()) <= set(element.keys())
    for part in (root, *root):
        for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(part.get(key, "-1")) == len(list(part.iter(tag))), (part.get("name"), key)
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(names) == len(set(names))
    assert all(len(case) <= 1 for case in root.iter("testcase"))


def test_junit_has_the_shape_that_readers_expect(any_report: Report) -> None:
    check_shape(ET.fromstring(written(any_report, "junit")))


def test_junit_report() -> None:
    root = ET.fromstring(written(samples.report(), "junit"))
    assert {key: root.get(key) for key in ("failures", "errors", "skipped")} == {
        "failures": "2", "errors": "1", "skipped": "2"}
    suite = root.find("testsuite[@name='pypfm.conform.pfm4.pfm_get_event_info']")
    assert suite is not None
    cases = {case.get("name"): list(case) for case in suite.iter("testcase")}
    assert [e.tag for e in cases["pfm_get_event_info(-1)"]] == ["error"]
    assert cases["pfm_get_event_info(0x1)"][0].get("message") == "texts of its own"
    assert cases["checks without difference"] == []
    assert cases["checks not run"][0].get("message") == (
        "7: the function is missing, or was given up after repeated crashes or hangs")
    failure = root.find(".//failure[@type='value']")
    assert failure is not None
    assert failure.get("message") == "codes[0]: expected 0x530380, got 0x530381 (and 1 field more)"
    assert str(failure.text).splitlines()[1:4] == ["codes[0]", "  expected 0x530380", "  got      0x530381"]
    assert suite.findtext("system-out") == "no Goldmont here"
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["file"] == "/opt/lib/libpfm.so.4.13.0"
    assert properties["checks"] == "40"
    assert "against" not in properties
    compared = ET.fromstring(report.junit(samples.nasty()))
    assert compared.find(".//property[@name='against']") is not None


def test_junit_replaces_what_xml_forbids() -> None:
    root = ET.fromstring(written(samples.nasty(), "junit"))
    assert [case.get("name") for case in root.iter("testcase")] == [
        samples.NASTY_VISIBLE, samples.NASTY_VISIBLE + " #2"]


# ---- of a real run -----------------------------------------------------------------

BROKEN = """
/* A libpfm 4 that knows no event, and falls over when it is asked about its PMUs. */
#include <stdlib.h>
int pfm_initialize(void) { return 0; }
int pfm_get_os_event_encoding(const char *event, int levels, int os, void *arg) { return -4; }
int pfm_get_pmu_info(int pmu, void *info) { abort(); }
int pfm_get_event_info(int event, int os, void *info) { return -1; }
"""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What a run says about a library that is badly broken."""
    library = tmp_path_factory.mktemp("broken") / "libpfm.so.4"
    build(CC, "-shared", "-fPIC", "-Wl,-soname,libpfm.so.4", "-xc", "-", "-o", library, source=BROKEN)
    return runner.run(str(library), "pfm4", vectors=some(), jobs=2)


def some() -> list[Vector]:
    """Calls of each kind."""
    return [v for v in recorded("pfm4") if v["kind"] != "sequence"][::20]


@pytest.fixture(scope="module")
def command(broken: Report, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """``conform`` of that library."""
    file = vectors_file(some(), tmp_path_factory.mktemp("calls"))
    return ["conform", broken.library.asked, "--vectors", str(file)]


def test_the_reports_of_a_broken_library(broken: Report) -> None:
    lines = written(broken, "text").splitlines()
    assert lines[0] == f"library     file       {broken.library.asked}"
    assert any(re.fullmatch(r" +got +PFM_ERR_NOTFOUND \(-4\)", line) for line in lines)
    assert re.fullmatch(r"\d{3} differences \(\d{3} values, \d+ crash(es)?\) in .* not run; exit status 4",
                        lines[-1])
    data = json.loads(written(broken, "json"))
    jsonschema.validate(data, schemas.load("conform"))
    assert {f["kind"] for f in data["findings"]} == {"value", "crash"}
    root = ET.fromstring(written(broken, "junit"))
    check_shape(root)
    assert int(root.get("failures", "")) + int(root.get("errors", "")) == len(broken.findings)
    assert root.find(".//error[@type='crash']") is not None


def test_suppressions_of_a_broken_library(broken: Report, tmp_path: Path) -> None:
    file = tmp_path / "known.ini"
    file.write_text("[crashes]\nreason = falls over\nkind = crash\nfunction = pfm_get_pmu_info\n"
                    "[events]\nreason = knows no event\nkind = value\ngot = PFM_ERR_*\n")
    known = copy.deepcopy(broken)
    suppress.read(str(file)).apply(known)
    assert known.status == 0
    assert len(known.findings) == len(broken.findings)
    assert {name: t.differ for name, t in known.tallies.items() if t.differ} == {}
    assert {name: (t.run, t.suppressed) for name, t in known.tallies.items()} == {
        name: (t.run, t.differ) for name, t in broken.tallies.items()}
    assert report.text(known).splitlines()[-1].startswith("not everything was tried: of pfm_get_event_info no call ")


# ---- of the command --------------------------------------------------------------

@pytest.mark.long
def test_the_command_writes_each_report(command: list[str], tmp_path: Path) -> None:
    for how in ("json", "junit"):
        saved = pypfm(*command, "--report", how, "--output", tmp_path / how)
        assert (saved.returncode, saved.stdout, saved.stderr) == (12, "", "")
    done = pypfm(*command)
    assert (done.returncode, done.stderr) == (12, "")
    assert done.stdout.startswith(f"library     file       {command[1]}\n")
    jsonschema.validate(json.loads((tmp_path / "json").read_text()), schemas.load("conform"))
    check_shape(ET.parse(tmp_path / "junit").getroot())


@pytest.mark.long
def test_the_command_takes_suppressions(command: list[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("[a]\nreason = falls over\nkind = crash\n[b]\nreason = unfinished\nkind = symbol\n"
                   "[c]\nreason = writes what it likes\nkind = layout\n")
    two.write_text("[a]\nreason = wrong\nkind = value\n")
    assert pypfm(*command, "--suppressions", one).returncode == 4
    done = pypfm(*command, "--suppressions", one, "--suppressions", two)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith("exit status 0")
    two.write_text("[a]\nkind = value\n")
    done = pypfm(*command, "--suppressions", two)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pypfm conform: {two}: section [a]: no reason is given\n"


def test_there_is_no_html_report() -> None:
    done = pypfm("conform", PFM3.path, "--report", "html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no HTML report any more; text is for people, json has everything, junit is for CI" in done.stderr


@pytest.mark.parametrize(("name", "tests"), [("pmc", "tests/pmc"), ("perfex", "tests/perfex")])
def test_other_libraries_have_tests_of_their_own(name: str, tests: str) -> None:
    done = pypfm("conform", LIBRARIES[name].path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"conform takes libpfm 3 and 4 only; the tests of this library are {tests} " in done.stderr


def test_json_says_what_was_not_tried() -> None:
    data = report.to_json(Report("pfm3", samples.LIBRARY, tried={"f": Tried(), "g": Tried(1), "h": Tried(only="inline")}))
    assert (data["version"], data["not_tried"], data["status"]) == (report.VERSION, ["f"], 0)
