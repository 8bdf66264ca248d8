"""The reports of a conformance run: text, JSON, JUnit XML, the HTML page."""

from __future__ import annotations

import copy
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote

import jsonschema
import pytest

import samples
from conftest import run
from native import CC, PFM3, build
from pypfm import schemas
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
)
from pypfm.conform.report import html_page
from pypfm.conform.report.wording import excerpt, marked, visible
from pypfm.conform.vectors import recorded
from pypfm.errors import ConformError, shown
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
    file = tmp_path / "out.html"
    report.save(samples.report(), "html", str(file))
    assert file.read_text() == report.html(samples.report())
    for path, said in ((tmp_path, "Is a directory"), ("/dev/full", "No space left on device"),
                       (file / "x", "Not a directory")):
        with pytest.raises(ConformError) as error:
            report.save(samples.report(), "json", str(path))
        assert str(error.value) == f"{shown(str(path))}: {said}"


def test_visible_text() -> None:
    assert visible(samples.NASTY) == samples.NASTY_VISIBLE
    assert visible("plain \u00e9 \\n") == "plain \u00e9 \\n"


def test_marked_joins_to_the_text_and_marks_what_differs() -> None:
    assert marked("0x530380", "0x531381") == [("0x53", False), ("0", True), ("38", False), ("0", True)]
    assert marked("glm::A:B:c", "glm::A:c") == [("glm::A:", False), ("B:", True), ("c", False)]
    assert marked("glm::A:c", "glm::A:B:c") == [("glm::A:", False), ("c", False)]
    assert marked("aaa", "aa") == [("aa", False), ("a", True)]
    assert marked("", "x") == [("", False)]
    assert marked("a text of its own", "another one") == [("a text of its own", False)], "marks would say nothing"
    assert marked("same", "same") == [("same", False)]


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


# ---- HTML ------------------------------------------------------------------------

class Page(HTMLParser):
    """A page read: every element is closed in its order; elements with their attributes and texts."""

    VOID = ("meta", "input")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), f"an attribute of {tag} is there twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def all(self, tag: str, cls: str = "") -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements
                if name == tag and (not cls or cls in (attrs.get("class") or "").split())]


def test_the_page_is_well_formed_and_self_contained(any_report: Report) -> None:
    text = written(any_report, "html")
    page = Page(text)
    assert len(page.all("script")) == 1, "no script but the page's own"
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.elements:
        assert not {"src", "srcset", "style", "action"} & set(attrs)
        assert not [name for name in attrs if name.startswith("on")]
        assert (attrs.get("href") or "#").startswith("#")
        if "href" in attrs:
            assert str(attrs["href"])[1:] in ids, "the link leads somewhere without JavaScript, too"
    assert not re.search(r"https?:|url\(|@import|\$[a-z_]", text)
    assert text.isascii()


def test_a_page_leaves_out_a_very_long_vector() -> None:
    """Of thousands of events, say: the page would grow beyond use."""
    long = replace(samples.VALUE, vector={"kind": "encode", "event": "A" * 30_000})
    page = written(replace(samples.report(), findings=[long]), "html")
    assert "(long: --report json has it)" in page
    assert "A" * 30_000 not in page


def test_the_page_says_what_was_found() -> None:
    page = Page(written(samples.report(), "html"))
    texts = [text for _, text in page.texts]
    assert texts[0] == "pypfm conform: libpfm.so.4.13.0"
    for text in ("/opt/lib/libpfm.so.4.13.0", "libpfm.so.4", "0badc0de" * 5, "ab" * 32, "no Goldmont here",
                 "3 differences (1 value, 1 crash, 1 layout) in 1,242 checks, 1 suppressed, 7 not run; exit status 12",
                 samples.VALUE.call, "fstr", "SIGSEGV", "Suppressed: texts of its own", "1,200"):
        assert text in texts, text
    at = texts.index("codes[0]")
    assert texts[at + 1:at + 5] == ["0x53038", "0", "0x53038", "1"], "the digit that differs is marked"
    assert [text for tag, text in page.texts if tag == "mark"][-2:] == ["36", "40"]
    assert json.loads(next(text for tag, text in page.texts if tag == "pre" and "ICACHE" in text)) == samples.VALUE.vector


def test_the_filter_has_what_it_needs() -> None:
    page = Page(written(samples.report(), "html"))
    order = ["pfm_get_event_info", "pfm_get_os_event_encoding", "pfm_event_info_t"]
    assert [a["data-function"] for a in page.all("section", "group")] == order
    assert [a.get("data-function") for a in page.all("tr") if "data-function" in a] == [*order, "pfm_get_version"]
    assert [(a["data-kind"], "data-suppressed" in a) for a in page.all("article")] == [
        ("crash", False), ("value", True), ("value", False), ("layout", False)]
    assert [a["value"] for a in page.all("option")] == ["", *order, "", "value", "crash", "layout"]
    assert all("hidden" not in a for a in page.all("article") + page.all("section")), "all is shown without JavaScript"
    assert ["hidden" in a for a in page.all("form") + page.all("button", "copy")] == [True] * 4


def test_the_page_escapes_what_a_library_says() -> None:
    page = Page(written(samples.nasty(), "html"))
    texts = [text for _, text in page.texts]
    assert texts.count(samples.NASTY_VISIBLE) >= 8
    assert page.all("section", "group")[0]["data-function"] == samples.NASTY_VISIBLE
    assert [text for tag, text in page.texts if tag == "mark"] == ["</td>", "</td>"]
    assert json.loads(next(text for tag, text in page.texts if tag == "pre")) == {samples.NASTY: [samples.NASTY]}


def test_the_page_shows_so_many_findings_and_says_how_many_more() -> None:
    text = written(samples.many(50_000), "html")
    assert len(Page(text).all("article")) == html_page.PER_FUNCTION
    assert "49,800 findings more; --report json has all." in text
    assert len(text) < 500_000


def test_the_page_has_a_largest_size() -> None:
    finding = Finding("value", "f", "f()", tuple(Difference(f"m[{i}]", "a" * 700, "b" * 700) for i in range(100)))
    findings = [Finding("value", f"f{i}", f"f{i}({j})", finding.differences) for i in range(3) for j in range(60)]
    text = written(Report("pfm4", samples.LIBRARY, findings=findings), "html")
    assert "40 fields more" in text
    assert "60 findings more" in text
    assert html_page.LARGEST < len(text) < html_page.LARGEST + 400_000
    assert len(Page(text).all("section", "group")) == 3


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
    single = [v for v in recorded("pfm4") if v["kind"] != "sequence"]
    return runner.run(str(library), "pfm4", vectors=single, jobs=2)


@pytest.fixture(scope="module")
def command(broken: Report, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """``conform`` of that library, with few calls: what the command does with a report is the same."""
    file = tmp_path_factory.mktemp("calls") / "some.jsonl"
    single = [v for v in recorded("pfm4") if v["kind"] != "sequence"]
    file.write_text("".join(json.dumps(v) + "\n" for v in single[::20]))
    return ["conform", broken.library.asked, "--vectors", str(file)]


def test_the_reports_of_a_broken_library(broken: Report) -> None:
    lines = written(broken, "text").splitlines()
    assert lines[0] == f"library     file       {broken.library.asked}"
    assert any(re.fullmatch(r" +got +PFM_ERR_NOTFOUND \(-4\)", line) for line in lines)
    assert re.fullmatch(r"\d\d,\d{3} differences \(\d\d,\d{3} values, \d+ crash(es)?\) in .* not run; exit status 4",
                        lines[-1])
    data = json.loads(written(broken, "json"))
    jsonschema.validate(data, schemas.load("conform"))
    assert {f["kind"] for f in data["findings"]} == {"value", "crash"}
    root = ET.fromstring(written(broken, "junit"))
    check_shape(root)
    assert int(root.get("failures", "")) + int(root.get("errors", "")) == len(broken.findings)
    assert root.find(".//error[@type='crash']") is not None
    page = Page(written(broken, "html"))
    assert "crash" in [a["value"] for a in page.all("option")]
    assert {a["data-function"] for a in page.all("section", "group")} == {f.function for f in broken.findings}


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


def test_our_own_library_has_no_differences() -> None:
    lines = report.text(runner.run(str(PFM3.path), "pfm3", jobs=2)).splitlines()
    assert lines[0] == f"library     file       {PFM3.path}"
    assert re.fullmatch(r"no differences in \d\d,\d{3} checks; exit status 0", lines[-1])


# ---- of the command --------------------------------------------------------------

def test_the_command_writes_each_report(command: list[str], tmp_path: Path) -> None:
    for how in report.HOWS:
        saved = pypfm(*command, "--report", how, "--output", tmp_path / how)
        assert (saved.returncode, saved.stdout, saved.stderr) == (12, "", "")
    done = pypfm(*command, "--report", "json")
    assert (done.returncode, done.stderr) == (12, "")
    assert len(done.stdout.splitlines()) == len((tmp_path / "json").read_text().splitlines())
    jsonschema.validate(json.loads((tmp_path / "json").read_text()), schemas.load("conform"))
    check_shape(ET.parse(tmp_path / "junit").getroot())
    assert len(Page((tmp_path / "html").read_text()).all("article")) > 20
    assert (tmp_path / "text").read_text().startswith(f"library     file       {command[1]}\n")


def test_the_command_takes_suppressions(command: list[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("[a]\nreason = falls over\nkind = crash\n[b]\nreason = unfinished\nkind = symbol\n"
                   "[c]\nreason = writes what it likes\nkind = layout\n")
    two.write_text("[a]\nreason = wrong\nkind = value\n")
    assert pypfm(*command).returncode == 12
    assert pypfm(*command, "--suppressions", one).returncode == 4
    done = pypfm(*command, "--suppressions", one, "--suppressions", two)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith("exit status 0")
    two.write_text("[a]\nkind = value\n")
    done = pypfm(*command, "--suppressions", two)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pypfm conform: {two}: section [a]: no reason is given\n"


# ---- in a browser ----------------------------------------------------------------

CHROMIUM = shutil.which("chromium")
in_browser = pytest.mark.needs("chromium")

# What a person does: one line each; the page's policy admits no other script, so a copy goes without.
ACTIONS = """
const set = (name, value, event = "input") => {
  const field = document.querySelector(`[name=${name}]`);
  if (field.type === "checkbox") field.checked = value; else field.value = value;
  field.dispatchEvent(new Event(event, {bubbles: true}));
};
"""


def browsed(page: Path, address: str = "", actions: str = "") -> tuple[str, list[str], str]:
    """The page after the actions in a browser: the count, the calls shown, the address."""
    if actions:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
        after = "document.body.dataset.hash = location.hash;"
        page.write_text(text.replace("</body>", f"<script>{ACTIONS}{actions}{after}</script></body>"))
    profile = page.parent / "profile"
    done = run(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom",
               "--virtual-time-budget=2000", f"{page.as_uri()}{address}")
    assert done.returncode == 0, done.stderr
    dom = done.stdout
    count = re.search(r'<output id="count">([^<]*)</output>', dom)
    assert count, "the script of the page ran"
    calls = []
    for section in dom.split('<section class="group"')[1:]:
        if 'hidden=""' not in section.split(">")[0]:
            for article in section.split("<article ")[1:]:
                call = re.search(r"</span><code>(.*?)</code>", article)
                assert call
                calls += [] if 'hidden=""' in article.split(">")[0] else [call[1]]
    hash_ = re.search(r'data-hash="([^"]*)"', dom)
    return count[1], calls, hash_[1] if hash_ else ""


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    file = tmp_path / "report.html"
    file.write_text(written(samples.report(), "html"), encoding="ascii")
    return file


@in_browser
@pytest.mark.parametrize(("address", "count", "calls"), [
    ("", "4 of 4 shown", ["pfm_get_event_info(-1)", "pfm_get_event_info(0x1)", "pfm_get_os_event_encoding",
                          "struct pfm_event_info_t"]),
    ("#function=pfm_get_event_info", "2 of 4 shown", ["pfm_get_event_info(-1)", "pfm_get_event_info(0x1)"]),
    ("#function=pfm_get_event_info&suppressed=no", "1 of 4 shown", ["pfm_get_event_info(-1)"]),
    ("#kind=layout", "1 of 4 shown", ["struct pfm_event_info_t"]),
    ("#text=SIGsegv+END", "1 of 4 shown", ["pfm_get_event_info(-1)"]),
    ("#text=SIGSEGV+glm", "0 of 4 shown", []),
    ("#function=pfm_get_event_info&kind=layout", "0 of 4 shown", []),
    ("#function=no_such&kind=none", "4 of 4 shown", None),
])
def test_the_address_filters(page_file: Path, address: str, count: str, calls: list[str] | None) -> None:
    said, seen, _ = browsed(page_file, address)
    assert said == count
    if calls is not None:
        assert [call.split('("')[0] for call in seen] == calls


@in_browser
@pytest.mark.parametrize(("actions", "count", "address"), [
    ("set('function', 'pfm_event_info_t');", "1 of 4 shown", "#function=pfm_event_info_t"),
    ("set('suppressed', false);", "3 of 4 shown", "#suppressed=no"),
    ("set('kind', 'value'); set('text', 'glm::');", "1 of 4 shown", "#kind=value&amp;text=glm%3A%3A"),
    ("document.querySelector('.summary a').click();", "2 of 4 shown", "#function=pfm_get_event_info"),
])
def test_the_filter_filters(page_file: Path, actions: str, count: str, address: str) -> None:
    said, _, hash_ = browsed(page_file, actions=actions)
    assert (said, hash_) == (count, address)


@in_browser
def test_a_vector_is_copied_or_at_least_selected(page_file: Path) -> None:
    said, _, copied = browsed(page_file, actions="""
        const button = document.querySelector('[data-function=pfm_get_os_event_encoding] .copy');
        button.parentElement.open = true;
        button.click();
        location.hash = encodeURIComponent(getSelection().toString());""")
    assert said == "4 of 4 shown"
    assert json.loads(unquote(copied[1:])) == samples.VALUE.vector


@in_browser
def test_nothing_of_a_library_runs_in_the_browser(tmp_path: Path) -> None:
    file = tmp_path / "nasty.html"
    file.write_text(written(samples.nasty(), "html"))
    count, calls, _ = browsed(file)
    assert count == "2 of 2 shown"
    assert calls == [samples.NASTY_VISIBLE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")] * 2
