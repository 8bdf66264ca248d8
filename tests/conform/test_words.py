"""What a difference is called: a value, a PMU that is not there, an index that is the library's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from broken import INCLUDES, changed, objects
from native import PFM4, build_library, csrc
from pypfm.conform import conform, runner
from pypfm.conform.checks import structures
from pypfm.conform.checks.symbols import Outcome
from pypfm.conform.model import Difference, Report
from pypfm.conform.vectors import recorded

pytestmark = pytest.mark.slow


def differences(report: Report | Outcome) -> set[tuple[str, str, Difference]]:
    return {(f.kind, f.function, d) for f in report.findings for d in f.differences}


def test_an_initialisation_that_fails_the_second_time_is_a_value(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", "\tif (state.initialised)\n\t\treturn PFM_SUCCESS;\n\tpfm4",
                      "\tif (state.initialised)\n\t\treturn PFM_ERR_NOMEM;\n\tpfm4")
    report = structures.probe(library, "pfm4")
    failed = Difference("ret", "PFM_SUCCESS (0)", "PFM_ERR_NOMEM (-7)")
    assert differences(report) == {("value", "pfm_initialize", failed)}


def test_a_library_without_goldmont_lacks_a_pmu_and_no_layout(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "list.c", "&pfm4_mont, &pfm4_glm,", "&pfm4_mont, &pfm4_perf,")
    report = conform(library, vectors=[v for v in recorded("pfm4") if v["kind"] in ("encode", "info")][::5])
    assert differences(report) == {("value", "pfm_get_pmu_info", Difference("PMU", "glm", "not there"))}
    assert report.tallies["pfm_get_os_event_encoding"].not_run > 500
    assert f"{library} has no glm: not probed" in report.notes
    assert any(note.startswith(f"{library} has no glm: ") and note.endswith("calls that need it were not made") for note in report.notes)


# The number of a PMU in an index, and where it is taken out again.
RENUMBERED = {"pmus.c": ("(unsigned int)pmu->id << 21", "((unsigned int)pmu->id ^ 0x200) << 21"),
              "api.c": ("(idx >> 21 & 0x3ff)", "((idx >> 21 & 0x3ff) ^ 0x200)")}


def renumbered(directory: Path) -> Path:
    """A library with indices of its own."""
    sources = dict(objects(PFM4))
    for name, (old, new) in RENUMBERED.items():
        original = csrc(PFM4) / name
        text = original.read_text()
        assert text.count(old) == 1
        sources[original] = directory / name
        sources[original].write_text(INCLUDES + text.replace(old, new))
    return build_library(PFM4, directory, sources=[*sources.values()])


def test_an_index_of_libpfm_4_is_the_librarys_own(tmp_path: Path) -> None:
    some = [v for v in recorded("pfm4") if v["kind"] == "info"] + [v for v in recorded("pfm4") if v["kind"] == "encode"][::10]
    assert runner.run(str(renumbered(tmp_path)), vectors=some, jobs=2).findings == []


def test_an_index_that_stands_for_another_event_is_a_difference(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", "\targ->idx = r.idx;\n\targ->cpu", "\targ->idx = r.idx + 1;\n\targ->cpu")
    some = [v for v in recorded("pfm4") if v["kind"] == "encode" and v["os"] != "none" and v["event"].startswith("glm::") and v["expect"]["ret"] == 0][::50]
    report = runner.run(str(library), vectors=some)
    assert len(report.findings) == len(some)
    assert {d.field for f in report.findings for d in f.differences} == {"idx"}
