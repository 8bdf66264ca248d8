"""Suppression files: what they accept, what is a mistake in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import samples
from native import PFM4
from pypfm.conform import suppress
from pypfm.conform.model import Difference, Finding, Report, Tally
from pypfm.errors import PfmError
from terminal import pypfm


def sections(tmp_path: Path, text: str) -> suppress.Suppressions:
    file = tmp_path / "accepted.ini"
    file.write_text(text, encoding="utf-8")
    return suppress.read(str(file))


def reasons(report: Report) -> list[str]:
    return [finding.suppressed for finding in report.findings]


@pytest.mark.parametrize("pattern", [
    "kind = value", "kind = val*", "function = pfm_get_os_event_encoding", "function = *encoding",
    "call = *PFM_OS_NONE)", 'call = *"glm::ICACHE"*', "field = codes[[]0]\nfunction = *", "api = pfm4\nkind = value",
])
def test_a_pattern_accepts_what_it_matches(tmp_path: Path, pattern: str) -> None:
    report = samples.report()
    report.findings[0] = replace(samples.VALUE, differences=samples.VALUE.differences[:1])
    sections(tmp_path, f"[one]\nreason = known\n{pattern}\n").apply(report)
    assert reasons(report) == ["known", "", "", "texts of its own"]
    assert report.tallies["pfm_get_os_event_encoding"] == Tally(1200, 0, 1)
    assert report.tallies["pfm_get_event_info"] == Tally(40, 1, 1, 7), "was suppressed before, is not counted twice"
    assert report.status == 12
    assert report.notes == ["no Goldmont here"]


@pytest.mark.parametrize("pattern", [
    "kind = Value", "api = pfm3", "function = encoding", "field = codes\n", "expected = 0x530380\ngot = 0x530380",
    "expected =", "kind = value\nfunction = pfm_get_version",
])
def test_all_patterns_have_to_match(tmp_path: Path, pattern: str) -> None:
    report = samples.report()
    report.findings[0] = replace(samples.VALUE, differences=samples.VALUE.differences[:1])
    sections(tmp_path, f"[one]\nreason = known\n{pattern}\n").apply(report)
    assert reasons(report) == ["", "", "", "texts of its own"]
    assert report.tallies == samples.report().tallies


def test_each_difference_of_a_finding_needs_a_section(tmp_path: Path) -> None:
    first = "[code]\nreason = another code\nexpected = 0x530380\ngot = 0x53038?\n"
    second = "[text]\nreason = another\n   text\nfield = fstr\n"
    half, whole = samples.report(), samples.report()
    sections(tmp_path, first).apply(half)
    assert reasons(half)[0] == ""
    assert half.notes == ["no Goldmont here"], "the section matched something"
    sections(tmp_path, first + second).apply(whole)
    assert reasons(whole)[0] == "another code; another text"


def test_sections_of_several_files_work_together(tmp_path: Path) -> None:
    for name, field in (("a", "codes[0]"), ("b", "fstr")):
        tmp_path.joinpath(name).write_text(f"[same title]\nreason = {name}\nfield = {field}\n")
    report = samples.report()
    suppress.read(str(tmp_path / "a"), str(tmp_path / "b")).apply(report)
    assert reasons(report)[0] == "a; b"


def test_a_reason_is_said_once_and_the_first_section_gives_it(tmp_path: Path) -> None:
    report = samples.report()
    sections(tmp_path, "[1]\nreason = known\nkind = value\n[2]\nreason = never said\nfunction = *\n").apply(report)
    assert reasons(report) == ["known", "never said", "never said", "texts of its own"]
    assert report.status == 0
    assert report.notes == ["no Goldmont here"]


def test_a_finding_without_differences_is_not_accepted_by_accident(tmp_path: Path) -> None:
    finding = Finding("hang", "f", "f()", ())
    report = Report("pfm3", samples.LIBRARY, tallies={"f": Tally(1, 1)}, findings=[finding])
    sections(tmp_path, "[a]\nreason = r\nkind = crash\n[b]\nreason = r\ngot = SIG*\n").apply(report)
    assert reasons(report) == [""]
    sections(tmp_path, "[a]\nreason = r\nkind = hang\n").apply(report)
    assert reasons(report) == ["r"]


def test_a_section_that_matches_nothing_is_noted_if_it_is_about_this_api(tmp_path: Path) -> None:
    report = samples.report()
    sections(tmp_path, "[stale]\nreason = r\nfunction = pfm_gone\n[other]\nreason = r\napi = pfm3*\n").apply(report)
    file = tmp_path / "accepted.ini"
    assert report.notes[1:] == [f"suppression [stale] of {file} matches nothing"]


def test_values_of_a_library_are_matched_as_they_are(tmp_path: Path) -> None:
    report = Report("pfm4", samples.LIBRARY, tallies={"f": Tally(2, 2)}, findings=[
        Finding("value", "f", "f()", (Difference("x", "50%", got),)) for got in ("a\nb", "\udcff")])
    sections(tmp_path, "[a]\nreason = 100%% %(x)s\nexpected = 50%\ngot = a*b\n").apply(report)
    assert reasons(report) == ["100%% %(x)s", ""], "a percent sign means nothing"


@pytest.mark.parametrize(("text", "said"), [
    ("[a]\nreason = r\nfunktion = x\n",
     "section [a]: no such key: 'funktion'; there are reason, kind, api, function, call, field, expected, got"),
    ("[a]\nkind = x\n", "section [a]: no reason is given"),
    ("[a]\nkind = x\nreason =\n", "section [a]: no reason is given"),
    ("[a]\n", "section [a]: no reason is given"),
    ("[a]\nreason = r\n", "section [a]: no pattern is given, it would accept everything;"),
    ("[a]\nreason = r\nkind = x\n  y\n", "section [a]: the pattern kind has more than one line"),
    ("[a]\nreason = r\nkind = x\n[a]\n", "line 4: section [a] is there twice"),
    ("[a]\nreason = r\nkind = x\nKind = y\n", "line 4: section [a] has 'kind' twice"),
    ("reason = r\n", "line 1: 'reason = r' is before the first [section]"),
    ("[a]\nreason = r\nkind\n", "line 3: not a [section] or KEY = VALUE"),
    ("[DEFAULT]\nreason = r\n[a]\nkind = x\n", "section [DEFAULT]: no pattern is given"),
])
def test_mistakes_name_file_and_section(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(suppress.SuppressionError) as error:
        sections(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'accepted.ini'}: {said}")
    assert "\n" not in str(error.value)
    assert isinstance(error.value, PfmError)


@pytest.mark.parametrize("data", [b"[a]\nreason = \xff\n", b"[a]\0", b"\x7fELF\x02\x01\x01\0", b"#" * (1 << 24) + b"\n"])
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    with pytest.raises(suppress.SuppressionError, match="not a suppression file"):
        suppress.read(str(file))


@pytest.mark.parametrize(("name", "said"), [
    ("no/such/file", "'no/such/file': No such file or directory (with pypfm come: debian-libpfm4)"),
    ("/", "'/': Is a directory"), ("/dev/null/x", "Not a directory"), ("x" * 5000, "File name too long"),
    ("a\0b", "not a suppression file"), ("/dev/zero", "not a suppression file"),
])
def test_files_that_cannot_be_read(name: str, said: str) -> None:
    with pytest.raises(suppress.SuppressionError) as error:
        suppress.read(name)
    assert said in str(error.value)


def test_an_empty_file_and_one_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert sections(tmp_path, "# nothing yet\n").sections == ()
    assert [s.title for s in sections(tmp_path, "\ufeff[a b]\nreason = r\nkind = x\n").sections] == ["a b"]


def test_files_of_the_package_are_known_by_name() -> None:
    assert "debian-libpfm4" in suppress.bundled()
    for name in suppress.bundled():
        assert suppress.read(name).sections


@pytest.mark.parametrize("made", [samples.report, samples.nasty, lambda: samples.many(40, 3), lambda: Report(
    "pfm4", samples.LIBRARY, tallies={"f": Tally(1, 1)}, findings=[Finding("value", "f", "f()", tuple(
        Difference(f"x[{n}].*[a]", text, "") for n, text in enumerate(("", " a ", "*?[b]", "# x", "a\nb", "\n"))))])])
def test_what_was_found_is_accepted_by_the_file_that_is_written(made: Callable[[], Report], tmp_path: Path) -> None:
    file = tmp_path / "known.ini"
    suppress.accept(made(), suppress.create(str(file)))
    report = made()
    suppress.read(str(file)).apply(report)
    assert report.status == 0
    assert not [note for note in report.notes if "matches nothing" in note]
    with pytest.raises(suppress.SuppressionError, match="File exists: name a new file, or remove this one"):
        suppress.create(str(file))


@pytest.mark.parametrize(("function", "field", "values"), [
    ("process", "memory", ("9,123 bytes after 1,000 calls", "81,234 bytes at the end")),
    ("process", "descriptor 3", ("none", "pipe:[123456]")), ("process", "variable MYPID", ("none", "4711")),
    ("pfm_get_version", "stderr", ("absent", "at 0x7f0123456789")), ("process", "stderr", ("", "at 0x7f0123456789"))])
def test_what_differs_in_each_run_is_any(function: str, field: str, values: tuple[str, str], tmp_path: Path) -> None:
    def made(*values: str) -> Report:
        return Report("pfm4", samples.LIBRARY, tallies={function: Tally(1, 1)}, findings=[
            Finding("value", function, "a call", (Difference(field, *values),))])

    file = tmp_path / "known.ini"
    suppress.accept(made(*values), suppress.create(str(file)))
    again = [value.replace("23", "99").replace("47", "8") for value in values]
    report, other = made(*again), made(*(f"{value} more" for value in values))
    for one in (report, other):
        suppress.read(str(file)).apply(one)
    assert (again != list(values), report.status, other.status) == (True, 0, 4)


@pytest.mark.parametrize(("options", "status", "said"), [
    (["--accept", "/dev/full"], 1, "'/dev/full': File exists: name a new file\n"),
    (["--accept", "/nowhere/known"], 1, "'/nowhere/known': No such file or directory\n"),
    (["--suppressions", ""], 1, "the name of a suppression file is empty\n"),
    (["--report", "junit", "--json"], 2, "--json and --report junit contradict each other")])
def test_what_is_wrong_is_said_before_the_run(options: list[str], status: int, said: str) -> None:
    done = pypfm("conform", str(PFM4.path), *options)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr


def test_a_run_that_fails_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "known.ini"
    assert pypfm("conform", str(tmp_path / "no.so"), "--accept", str(file)).returncode == 1
    assert not file.exists()


def test_another_difference_is_not_accepted(tmp_path: Path) -> None:
    file = tmp_path / "known.ini"
    suppress.accept(samples.report(), suppress.create(str(file)))
    report = samples.report()
    report.findings[0] = replace(samples.VALUE, differences=(Difference("codes[3]", "0x530380", "0x531382"),))
    suppress.read(str(file)).apply(report)
    assert reasons(report)[:3] == ["", *["accepted of libpfm.so.4.13.0"] * 2]
