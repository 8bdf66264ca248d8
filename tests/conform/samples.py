"""Reports written by hand for the tests of the reports and suppressions."""

from __future__ import annotations

from pypfm.conform.model import Difference, Finding, LibraryFile, Report, Tally

LIBRARY = LibraryFile("libpfm.so.4", "/opt/lib/libpfm.so.4.13.0", "libpfm.so.4", "0badc0de" * 5, "ab" * 32)

# What a hostile or broken library could answer.
NASTY = "<script>alert('x')</script> \"quoted\" & \x1b[31mred\x00\x07\n\udcff\ud800\uffff \u202e \u00e9"
NASTY_VISIBLE = ("<script>alert('x')</script> \"quoted\" & \\x1b[31mred\\x00\\x07\\n\\xff\\ud800\\uffff"
                 " \\u202e \u00e9")

VALUE = Finding(
    "value", "pfm_get_os_event_encoding", 'pfm_get_os_event_encoding("glm::ICACHE", PFM_PLM3, PFM_OS_NONE)',
    (Difference("codes[0]", "0x530380", "0x530381"), Difference("fstr", '"glm::ICACHE:ACCESSES"', '"glm::ICACHE"')),
    {"env": {}, "os": "none", "dfl_plm": 8, "event": "glm::ICACHE", "expect": {"ret": 0, "codes": ["0x530380"]}})
CRASH = Finding("crash", "pfm_get_event_info", "pfm_get_event_info(-1)", (Difference("end", "a return", "SIGSEGV"),),
                {"event": -1})
LAYOUT = Finding("layout", "pfm_event_info_t", "struct pfm_event_info_t",
                 (Difference("idx", "offset 36", "offset 40"), Difference("sizeof", "64", "72")))
ACCEPTED = Finding("value", "pfm_get_event_info", "pfm_get_event_info(0x1)", (Difference("desc", '"a"', '"b"'),),
                   {"event": 1}, "texts of its own")


def report() -> Report:
    """A value, a crash, a layout, one suppressed, one function without a finding."""
    return Report(
        "pfm4", LIBRARY,
        tallies={"pfm_get_version": Tally(1), "pfm_get_os_event_encoding": Tally(1200, 1),
                 "pfm_get_event_info": Tally(40, 1, 1, 7), "pfm_event_info_t": Tally(1, 1)},
        findings=[VALUE, CRASH, LAYOUT, ACCEPTED], notes=["no Goldmont here"], seconds=12.34)


def clean() -> Report:
    return Report("pfm3", LIBRARY, tallies={"pfm_get_version": Tally(1)})


def nasty() -> Report:
    """Every text is hostile."""
    library = LibraryFile(NASTY, NASTY, NASTY, "", "ab" * 32)
    finding = Finding("value", NASTY, NASTY, (Difference(NASTY, NASTY, NASTY + "</td>"),), {NASTY: [NASTY]})
    return Report("pfm4", library, library, {NASTY: Tally(2, 1, 1)},
                  [finding, Finding("value", NASTY, NASTY, finding.differences, None, NASTY)], [NASTY])


def many(findings: int, functions: int = 1) -> Report:
    """So many findings for each function."""
    names = [f"pfm_function_{i}" for i in range(functions)]
    return Report("pfm3", LIBRARY, tallies={name: Tally(findings, findings) for name in names}, findings=[
        Finding("value", name, f"{name}({i})", (Difference("ret", "0", str(-i - 1)),), {"call": name, "args": [i]})
        for name in names for i in range(findings)])
