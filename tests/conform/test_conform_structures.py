"""Symbols and structures of a library under test: of our own, of Debian's, and of libraries broken on purpose."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from broken import renamed
from foreign_library import debian
from native import ALL_TYPES, CC, PFM3, PFM4, build, build_library, debug_library, header_source
from pypfm.config import LIBRARIES, Library
from pypfm.conform.checks import structures, symbols
from pypfm.conform.checks.symbols import Outcome
from pypfm.conform.model import APIS, Difference, Finding, LibraryFile, Report
from pypfm.layout import LayoutError, types
from tools import tool

pytestmark = pytest.mark.slow

every_library = pytest.mark.parametrize("api", APIS)
Swap = tuple[str, str]


def changed(library: Library, header: str, edits: list[tuple[str, str]], directory: Path, *, described: bool = False) -> Path:
    """Our library compiled with a changed header; its own assertions about the layout are left out.

    :param described: debug information about the header's types, and no code
    """
    shutil.copytree(library.include_dir, directory / "include")
    path = directory / "include" / "perfmon" / header
    text = path.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    flags = [f"-I{directory / 'include'}", "-D_Static_assert(...)=", "-w"]
    if described:
        return build_library(library, directory, *ALL_TYPES, *flags, sources=[header_source(library, directory)])
    return build_library(library, directory, *flags)


def swap(declaration: str, one: str, two: str) -> list[Swap]:
    """Edits that exchange two members of one type."""
    return [(f"{declaration}{one};", f"{declaration}EXCHANGED;"), (f"{declaration}{two};", f"{declaration}{one};"),
            (f"{declaration}EXCHANGED;", f"{declaration}{two};")]


def found(outcome: Outcome) -> dict[str, dict[str, tuple[str, str]]]:
    """The findings: type, member, expected and got."""
    assert {f.kind for f in outcome.findings} <= {"layout"}
    return {f.function: {d.field: (d.expected, d.got) for d in f.differences} for f in outcome.findings}


# ---- libraries as they should be ----------------------------------------------------

@every_library
def test_our_own_libraries_pass(api: str) -> None:
    path = LIBRARIES[api].path
    outcome = symbols.check(path, api)
    assert (outcome.findings, outcome.notes) == ([], [])
    assert set(outcome.checks) == {name for name in symbols.exported(path) if not name.startswith("__wrap")}
    probed = structures.probe(path, api)
    assert probed.findings == []
    assert all("not checked, for " in note for note in probed.notes)
    assert sum(probed.checks.values()) > 40


@pytest.mark.parametrize("library", [PFM3, PFM4], ids=lambda library: library.name)
def test_every_type_is_compared_where_there_is_debug_information(library: Library, tmp_path_factory: pytest.TempPathFactory) -> None:
    outcome = structures.check(debug_library(library, tmp_path_factory), library.name)
    assert (outcome.findings, outcome.notes) == ([], [])
    assert set(outcome.checks) == set(types(library.name)) - {
        "struct perf_event_mmap_page", "struct perf_event_header"}


def test_debian_s_library_passes() -> None:
    assert symbols.check(debian(), "pfm4").findings == []
    outcome = structures.check(debian(), "pfm4")
    assert outcome.findings == []
    assert set(outcome.checks) >= {"pfm_pmu_info_t", "struct perf_event_attr", "pfm_pmu_encode_arg_t"}


def test_the_probes_get_answers() -> None:
    """Each calls a library that succeeds, and sees something; guards only do not crash."""
    for api in APIS:
        for name, row in structures.answers(LIBRARIES[api].path, api, 60).items():
            answer = row["answer"]
            assert answer["ret"] == 0, name
            if "reads" in name:
                assert len(answer["changed"]) >= 40, name


# ---- a member elsewhere ---------------------------------------------------------------

SWAPPED = {
    "pmu": ("pfm4", "pfmlib.h", swap("int ", "nevents", "first_event"), "pfm_pmu_info_t",
            {"nevents": (32, 36), "first_event": (36, 32)}),
    "argument": ("pfm4", "pfmlib_perf_event.h", swap("int ", "idx", "cpu"), "pfm_perf_encode_arg_t",
                 {"idx": (24, 28), "cpu": (28, 24)}),
    "reg": ("pfm3", "pfmlib.h", swap("unsigned long long ", "reg_value", "reg_addr"), "pfmlib_reg_t",
            {"reg_value": (0, 8), "reg_addr": (8, 0)}),
    "event": ("pfm3", "pfmlib.h", swap("unsigned int ", "event", "plm"), "pfmlib_event_t",
              {"event": (0, 4), "plm": (4, 0)}),
    "etb": ("pfm3", "pfmlib_montecito.h", swap("unsigned char ", "etb_tm", "etb_ptm"), "pfmlib_mont_etb_t",
            {"etb_tm": (8, 9), "etb_ptm": (9, 8)}),
    "range": ("pfm3", "pfmlib_itanium.h", swap("unsigned long ", "rr_start", "rr_end"), "pfmlib_ita_input_rr_desc_t",
              {"rr_start": (8, 16), "rr_end": (16, 8)}),
}


@pytest.mark.long
@pytest.mark.parametrize("case", SWAPPED)
def test_members_exchanged(case: str, tmp_path: Path) -> None:
    api, header, edits, ctype, places = SWAPPED[case]
    (tmp_path / "plain").mkdir()
    plain = changed(LIBRARIES[api], header, edits, tmp_path / "plain")
    outcome = structures.check(plain, api)
    assert found(outcome) == {ctype: {m: (f"offset {a}", f"offset {b}") for m, (a, b) in places.items()}}
    assert any("no debug information" in note for note in outcome.notes)
    (tmp_path / "debug").mkdir()
    debug = changed(LIBRARIES[api], header, edits, tmp_path / "debug", described=True)
    told = found(structures.check(debug, api))
    assert set(told) == {ctype}
    for member, (a, b) in places.items():
        expected, got = told[ctype][member]
        assert f"at offset {a}," in expected
        assert f"at offset {b}," in got


@pytest.mark.long
def test_a_member_that_is_written_elsewhere_and_another_one_never(tmp_path: Path) -> None:
    path = changed(PFM4, "perf_event.h", swap("uint64_t ", "config", "sample_type"), tmp_path)
    assert found(structures.check(path, "pfm4")) == {"struct perf_event_attr": {"config": ("offset 8", "offset 24")}}


# ---- a wider member ---------------------------------------------------------------------

def test_a_wider_member_of_an_answer(tmp_path: Path) -> None:
    path = changed(PFM4, "pfmlib.h", [("\tint num_cntrs;", "\tlong num_cntrs;")], tmp_path)
    told = found(structures.check(path, "pfm4"))
    assert set(told) == {"pfm_pmu_info_t"}
    assert told["pfm_pmu_info_t"]["num_cntrs"] == ("offset 44", "offset 48")
    assert told["pfm_pmu_info_t"]["num_fixed_cntrs"] == ("offset 48", "offset 56")
    assert told["pfm_pmu_info_t"]["(end)"] == ("56 bytes", "writes byte 56")


@pytest.mark.long
@pytest.mark.parametrize("described", [False, True])
def test_a_wider_member_of_a_request(described: bool, tmp_path: Path) -> None:
    """The structure grows, so that what follows it in the outer one moves, too."""
    path = changed(PFM3, "pfmlib_montecito.h", [("unsigned char etb_tm;", "unsigned short etb_tm;")], tmp_path, described=described)
    told = found(structures.check(path, "pfm3"))
    assert set(told) == {"pfmlib_mont_etb_t", "pfmlib_mont_input_param_t"}
    assert {"etb_ptm", "etb_ppm", "etb_brt"} <= set(told["pfmlib_mont_etb_t"])
    assert "pfp_mont_ipear" in told["pfmlib_mont_input_param_t"]
    if not described:
        assert told["pfmlib_mont_etb_t"]["etb_brt"] == ("offset 11", "offset 12")
        assert told["pfmlib_mont_input_param_t"] == {"pfp_mont_ipear": ("offset 212", "offset 216")}


@pytest.mark.long
def test_a_larger_request_is_read_beyond_its_end(tmp_path: Path) -> None:
    path = changed(PFM3, "pfmlib.h", [("unsigned int plm;", "unsigned long plm;")], tmp_path)
    told = found(structures.check(path, "pfm3"))
    assert set(told) == {"pfmlib_event_t", "pfmlib_input_param_t"}
    assert told["pfmlib_input_param_t"]["(end)"] == ("118912 bytes", "accesses bytes after the end")
    assert told["pfmlib_event_t"]["(end)"] == ("232 bytes", "writes byte 232")


def test_a_member_that_is_not_there(tmp_path: Path) -> None:
    path = changed(PFM3, "pfmlib.h", [("unsigned long reserved[6];", "")], tmp_path, described=True)
    assert found(structures.check(path, "pfm3"))["pfmlib_input_param_t"]["reserved"] == (
        "unsigned long at offset 118864, 48 bytes", "no such member")


def test_a_request_that_is_looked_at_after_its_end(tmp_path: Path) -> None:
    path = around("if (type == 4 && model_in && ((char *)model_in)[sizeof(copy) + 3]) return PFMLIB_ERR_INVAL;", "", tmp_path)
    ends = [d.got for f in structures.probe(path, "pfm3").findings for d in f.differences
            if (f.function, d.field) == ("pfmlib_mont_input_param_t", "(end)")]
    assert "reads byte 459" in ends


@pytest.mark.long
def test_the_other_form_is_told_from_this_one() -> None:
    told = found(structures.probe(LIBRARIES["pfm3-manual"].path, "pfm3"))
    assert set(told) == {"pfmlib_mont_input_param_t"}
    assert told["pfmlib_mont_input_param_t"]["pfp_mont_etb"] == ("offset 200", "offset 212")
    assert told["pfmlib_mont_input_param_t"]["pfp_mont_ipear"] == ("offset 212", "offset 200")
    assert set(found(structures.probe(LIBRARIES["pfm3"].path, "pfm3-manual"))) == {"pfmlib_mont_input_param_t"}


# ---- a function around ours ------------------------------------------------------------

SHIM = """
#include <signal.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#undef pfm_dispatch_events
pfm_err_t pfm_dispatch_events(pfmlib_input_param_t *in, void *model_in, pfmlib_output_param_t *out, void *model_out)
{
    pfmlib_mont_input_param_t copy;
    int type = 0, ret;
    pfm_get_pmu_type(&type);
    (void)copy;
    %s
    ret = real_dispatch(in, model_in, out, model_out);
    %s
    return ret;
}
"""


def around(before: str, after: str, directory: Path) -> Path:
    """libpfm 3 with code before and after pfm_dispatch_events()."""
    source = directory / "shim.c"
    source.write_text(SHIM % (before, after))
    return build_library(PFM3, directory, "-O1", sources=[*renamed(PFM3, directory, "pfm_dispatch_events", "real_dispatch"), source])


@pytest.mark.long
def test_wrong_values_are_no_matter_of_layout(tmp_path: Path) -> None:
    path = around("", "for (unsigned i = 0; !ret && i < out->pfp_pmc_count; i++) out->pfp_pmcs[i].reg_value ^= 1ul << 40;", tmp_path)
    outcome = structures.probe(path, "pfm3")
    assert outcome.findings == []
    assert [note for note in outcome.notes if "not checked, for " not in note] == []


@pytest.mark.long
def test_a_request_that_is_refused_unless_two_members_are_exchanged(tmp_path: Path) -> None:
    path = around("""if (type == 4 && model_in) {
        copy = *(pfmlib_mont_input_param_t *)model_in;
        for (int i = 0; i < 4; i++) {
            unsigned long start = copy.pfp_mont_irange.rr_limits[i].rr_start;
            copy.pfp_mont_irange.rr_limits[i].rr_start = copy.pfp_mont_irange.rr_limits[i].rr_end;
            copy.pfp_mont_irange.rr_limits[i].rr_end = start;
        }
        model_in = &copy;
    }""", "", tmp_path)
    told = found(structures.probe(path, "pfm3"))
    assert told == {"pfmlib_mont_input_rr_desc_t": {
        "rr_start": ("offset 8", "offset 16"), "rr_end": ("offset 16", "offset 8")}}


@pytest.mark.long
def test_writing_after_an_output(tmp_path: Path) -> None:
    path = around("", "if (!ret && model_out && type == 4) ((char *)model_out)[704] = 7;", tmp_path)
    told = found(structures.probe(path, "pfm3"))
    assert set(told) == {"pfmlib_mont_output_param_t"}
    assert told["pfmlib_mont_output_param_t"]["(end)"][1] in ("writes byte 704", "accesses bytes after the end")


def test_a_library_that_ends_the_process(tmp_path: Path) -> None:
    outcome = structures.probe(around("if (type == 3) __builtin_trap();", "", tmp_path), "pfm3")
    crashes = [f for f in outcome.findings if f.kind == "crash"]
    assert "pfmlib_ita2_input_param_t" in {f.function for f in crashes}
    assert "SIGILL" in {d.got for f in crashes for d in f.differences}
    assert not any(f.function.startswith("pfmlib_mont") for f in outcome.findings)


@pytest.mark.long
def test_a_library_that_hangs_is_given_up(tmp_path: Path) -> None:
    deaf = "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); for (;;) ;"
    outcome = structures.probe(around(deaf, "", tmp_path), "pfm3", timeout=1.0)
    assert {(f.kind, f.differences[0].got) for f in outcome.findings} == {("hang", "no answer in time")}
    assert sum(outcome.not_run.values()) > 10


def test_a_library_without_a_function(tmp_path: Path) -> None:
    path = build_library(PFM3, tmp_path, sources=renamed(PFM3, tmp_path, "pfm_force_pmu", "other_name"))
    outcome = structures.probe(path, "pfm3")
    assert outcome.findings == []  # that it is missing is one about symbols
    assert "pfmlib_input_param_t: not checked, pfm_force_pmu() is missing" in outcome.notes


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("text")
    with pytest.raises(LayoutError, match="is no ELF file"):
        symbols.check(path, "pfm3")
    outcome = structures.check(path, "pfm3")
    assert "could be loaded once" in " ".join(d.got for f in outcome.findings for d in f.differences)


# ---- symbols ----------------------------------------------------------------------------

def library_from(source: str, directory: Path, *flags: str) -> Path:
    path = directory / "libtest.so"
    build(CC, "-shared", "-fPIC", *flags, "-x", "c", "-", "-o", path, source=source)
    return path


def test_missing_further_and_other_symbols(tmp_path: Path) -> None:
    names = [n for n in symbols.exported(PFM4.path) if n not in ("pfm_strerror", "pfm_get_version")]
    source = "".join(f"void {n}(void) {{}}\n" for n in names) + "int pfm_strerror; void pfm_more(void) {} void other(void) {}"
    outcome = symbols.check(library_from(source, tmp_path), "pfm4")
    assert outcome.findings == [
        Finding("symbol", n, n, (Difference("symbol", "function", got),)) for n, got in sorted(
            (("pfm_strerror", "variable"), ("pfm_get_version", "not exported")),
            key=lambda row: list(outcome.checks).index(row[0]))]
    assert outcome.notes == ["it has no soname: programs find it as libpfm.so.4 by its file name only", "also exported: pfm_more"]
    assert sum(outcome.checks.values()) == 13


def test_versioned_and_indirect_symbols_and_no_section_headers(tmp_path: Path) -> None:
    names = [n for n in symbols.exported(PFM4.path) if n != "pfm_strerror"]
    source = "".join(f"void {n}(void) {{}}\n" for n in names) + (
        "static void f(void) {} static void *r(void) { return f; }\n"
        "void pfm_strerror(void) __attribute__((ifunc(\"r\")));\n")
    version = tmp_path / "versions"
    version.write_text("LIBPFM_4.13 { global: pfm_*; local: *; };\n")
    path = library_from(source, tmp_path, f"-Wl,--version-script={version}")
    assert symbols.check(path, "pfm4").findings == []
    strip = tool("llvm-strip") or tool("llvm-strip-14")
    if strip is not None:
        build(strip, "--strip-sections", path)
        assert symbols.check(path, "pfm4").findings == []


def test_libpfm_3_10_exports_what_is_demanded(tmp_path: Path) -> None:
    """Names of the manual pages' text alone, and our own functions, are demanded with --complete only."""
    names = {name for name, mark in symbols.marks("pfm3").items() if mark == "3.10"}
    path = library_from("".join(f"void {n}(void) {{}}\n" for n in names), tmp_path, "-Wl,-soname,libpfm.so.3")
    assert set(symbols.check(path, "pfm3").checks) == names
    assert symbols.check(path, "pfm3").findings == []
    missing = {f.function for f in symbols.check(path, "pfm3", complete=True).findings}
    assert missing == set(symbols.exported(PFM3.path)) - names - {"__wrap_mmap", "__wrap_mmap64"}
    assert len(missing) == 15


def test_into_a_report() -> None:
    report = Report("pfm3", LibraryFile("x", "x", "", "", ""))
    finding = Finding("layout", "pfmlib_event_t", "call", (Difference("plm", "offset 4", "offset 0"),))
    Outcome(Counter({"pfmlib_event_t": 3, "pfmlib_reg_t": 2}), [finding], ["a note"]).add_to(report)
    assert (report.tallies["pfmlib_event_t"].run, report.tallies["pfmlib_event_t"].differ) == (3, 1)
    assert (report.tallies["pfmlib_reg_t"].run, report.tallies["pfmlib_reg_t"].differ) == (2, 0)
    assert (report.findings, report.notes, report.status) == ([finding], ["a note"], 8)
