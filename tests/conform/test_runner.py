"""Runs over whole libraries: our own, Debian's, and files that are no libpfm."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from broken import changed
from conftest import clean_env, run
from foreign_library import debian
from native import CC, PFM4, build, dynamic_entries
from pypfm import schemas
from pypfm.config import LIBRARIES
from pypfm.conform import runner
from pypfm.conform.endurance import in_one_process, with_messages
from pypfm.conform.model import Report, Vector
from pypfm.conform.record import record
from pypfm.conform.report import text
from pypfm.conform.vectors import function_of, in_steps, optional_of, pmu_of, read, recorded
from pypfm.errors import ConformError
from runs import vectors_file
from terminal import PYPFM, on_terminal, pypfm
from tools import first

pytestmark = pytest.mark.slow

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
SEQ3, SEQ4, TOTAL4 = 34, 38, 19503  # sequences; calls of libpfm 4, each step of a sequence one
CALLS = {"dispatch": 10000 + 1000 + 68 + 86 + 1, "call": 3334, "query": 497 + 637 + 230, "sequence": SEQ3}
RECORDED = {"pfm3": CALLS, "pfm3-manual": CALLS, "pfm4": {"encode": 4000 + 400 + 10286, "info": 459 + 2832, "sequence": SEQ4}}
ABOUT_IA64 = {"pfm_get_os_event_encoding": 10286, "pfm_get_event_info": 2824, "pfm_get_pmu_info": 8}
# How often a run selects a PMU: forced and detected, and with each variable that asks for messages; pfm4: environments.
STARTS = {"pfm3": {"pfm_initialize": 8 + 6, "pfm_force_pmu": 4 + 6, "pfm_get_pmu_type": 8 + 6},
          "pfm4": {"pfm_initialize": 16 + 7 + 2 + 2}}


def needs_recording_host(api: str) -> None:
    if api == "pfm4" and not PARANOID.exists():
        pytest.skip(f"no {PARANOID}: the answers were recorded with it")


@pytest.mark.parametrize("api", RECORDED)
def test_as_many_answers_as_recorded(api: str) -> None:
    assert Counter(str(v["kind"]) for v in recorded(api)) == RECORDED[api]


def every_call(api: str) -> list[Vector]:
    """All that a run makes calls of."""
    calls = in_steps(recorded(api))
    return [*calls, *in_one_process(api, calls), *with_messages(calls)]


def everything_was_run(report: Report, api: str) -> None:
    wanted = Counter(map(function_of, every_call(api))) + Counter(STARTS[api.split("-")[0]])
    assert {name: tally.run for name, tally in report.tallies.items()} == wanted
    assert sum(tally.not_run + tally.suppressed for tally in report.tallies.values()) == 0


@pytest.mark.parametrize("api", first(["pfm4", "pfm3", "pfm3-manual"]))
def test_our_library_conforms(api: str) -> None:
    """Every exported function is called, also many times in one process; or there is a reason."""
    needs_recording_host(api)
    library = LIBRARIES[api]
    told: list[tuple[int, int]] = []
    report = runner.run(str(library.path), jobs=2, progress=lambda done, total: told.append((done, total)))
    assert report.findings == []
    assert report.notes == []
    assert report.status == 0
    assert report.api == api
    assert report.library.loaded == str(library.path)
    assert report.library.soname == library.soname
    everything_was_run(report, api)
    assert [name for name, tried in report.tried.items() if not tried.calls] == []
    lines = text(report).splitlines()
    assert lines[0] == f"library     file       {library.path}"
    assert re.fullmatch(r"no differences in \d\d,\d{3} checks; exit status 0", lines[-1])
    total = len(every_call(api))
    assert told[-1] == (total, total)
    assert told == sorted(told)
    assert len(told) > 100


@pytest.mark.long
def test_debians_library_conforms() -> None:
    theirs = debian()
    needs_recording_host("pfm4")
    report = runner.run("libpfm.so.4", jobs=2)
    assert report.findings == []
    assert report.api == "pfm4"
    assert (report.library.asked, report.library.loaded) == ("libpfm.so.4", str(theirs.resolve()))
    assert report.library.soname == "libpfm.so.4"
    assert len(report.library.build_id) == 40
    not_run = {name: tally.not_run for name, tally in report.tallies.items() if tally.not_run}
    assert not_run == ABOUT_IA64
    assert report.notes == ["libpfm.so.4 has no gen_ia64, ita, ita2 or mont: 13118 calls that need them were not made"]
    run = Counter({name: tally.run for name, tally in report.tallies.items()})
    recorded_once = in_steps(recorded("pfm4"))
    run -= Counter(map(function_of, every_call("pfm4"))) - Counter(function_of(v) for v in recorded_once if v["kind"] != "step")
    assert run == {"pfm_initialize": 18 + 2, "pfm_get_os_event_encoding": 4400, "pfm_get_event_info": 453, "pfm_get_pmu_info": 6}


@pytest.mark.long
def test_a_library_with_one_of_itaniums_pmus_has_to_have_all(tmp_path: Path) -> None:
    """One that is not there is a finding of a run; random calls are made about those that both libraries have."""
    library = changed(PFM4, tmp_path, "ia64.c", ".id = PFM_PMU_MONTECITO", ".id = PFM_PMU_INTEL_NHM")
    some = [v for v in recorded("pfm4") if v["kind"] == "info" and pmu_of(v) in ("ita2", "mont")][:1200]
    report = runner.run(str(library), vectors=some)
    assert report.notes == []
    about = Counter(pmu_of(finding.vector) for finding in report.findings if finding.vector)
    assert set(about) == {"mont"}
    against = runner.differential(str(library), str(PFM4.path), lambda _: some)
    assert against.findings == []
    count = sum(pmu_of(v) == "mont" for v in some)
    assert against.notes == [f"{library} has no mont: {count} calls that need it were not made"]
    assert sum(tally.not_run for tally in against.tallies.values()) == count
    other = runner.differential(str(PFM4.path), str(library), lambda _: some)
    assert other.notes == against.notes
    with pytest.raises(ConformError, match="has no mont"):
        record(str(library), "mont", 10, 1)
    assert record(str(library), "ita2", 10, 1).vectors


@pytest.mark.parametrize(("vector", "pmus"), [
    ({"kind": "encode", "event": "mont::X"}, {"mont"}), ({"kind": "encode", "event": "Ita2::X"}, {"ita2"}),
    ({"kind": "encode", "event": "glm::X", "env": {"LIBPFM_FORCE_PMU": "MONT"}}, {"mont"}),
    ({"kind": "encode", "event": "ita::X", "env": {"LIBPFM_FORCE_PMU": "mont"}}, {"ita", "mont"}),
    ({"kind": "encode", "event": "X", "env": {"LIBPFM_IA64_CPUID3": "0x1f010504"}}, {"ita2"}),
    ({"kind": "encode", "event": "X", "env": {"LIBPFM_IA64_CPUID3": "0x99000000"}}, {"gen_ia64"}),
    ({"kind": "encode", "event": "X", "env": {"LIBPFM_IA64_CPUID3": "none"}}, set()),
    ({"kind": "encode", "event": "glm::X"}, set()), ({"kind": "encode", "event": "X"}, set()),
    ({"kind": "info", "pmu": 1}, {"gen_ia64"}), ({"kind": "info", "event": 4 << 21, "os": "none"}, {"mont"}),
    ({"kind": "info", "pmu": 202}, set()), ({"kind": "dispatch", "pmu": "gen_ia64", "events": []}, set()),
])
def test_the_pmus_that_a_call_needs(vector: dict[str, Any], pmus: set[str]) -> None:
    assert optional_of(vector) == pmus


@pytest.mark.long
def test_the_layout_of_the_other_api_is_noticed() -> None:
    report = runner.run(str(LIBRARIES["pfm3-manual"].path), "pfm3", vectors=recorded("pfm3")[::50])
    assert report.api == "pfm3"
    assert report.status == 4
    assert {finding.kind for finding in report.findings} == {"value"}


def test_an_elsewhere_recorded_answer_is_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runner, "PARANOID", tmp_path / "none")
    report = runner.run(str(LIBRARIES["pfm4"].path))
    assert report.notes == [f"this host has no {tmp_path}/none: the {TOTAL4} recorded answers hold elsewhere and were left out"]
    assert report.tallies == {}
    assert report.status == 0


# ---- what is no libpfm ------------------------------------------------------------------

def built(directory: Path, code: str, *flags: str) -> Path:
    out = directory / "libsome.so"
    build(CC, "-shared", "-fPIC", "-x", "c", "-", "-o", out, *flags, source=code)
    return out


def refusals(tmp_path: Path) -> dict[str, tuple[list[str], str]]:
    undefined = built(tmp_path, "int nowhere(void); int pfm_initialize(void) { return nowhere(); }")
    pfm4 = str(LIBRARIES["pfm4"].path)
    return {
        "missing": (["./none.so"], "No such file or directory"),
        "unknown name": (["libpfm-none.so.9"], "No such file or directory"),
        "undefined symbol": ([str(undefined)], "undefined symbol: nowhere"),
        "another library": (["libc.so.6"], "is no libpfm 3 or 4: it exports none of pfm_dispatch_events() (pfm3),"
                            " pfm_get_os_event_encoding() (pfm4)"),
        "another API": ([pfm4, "--api", "pfm3-manual"], "it exports no pfm_dispatch_events(); what it exports is pfm4"),
        "no name": ([""], "is no libpfm 3 or 4"),
    }


@pytest.mark.parametrize("case", ["missing", "unknown name", "undefined symbol", "another library", "another API", "no name"])
def test_what_cannot_be_checked_is_one_line_and_status_1(case: str, tmp_path: Path) -> None:
    args, text = refusals(tmp_path)[case]
    done = pypfm("conform", *args)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert text in done.stderr


@pytest.mark.parametrize("args", [
    [], ["x", "y"], ["x", "--api", "pfm5"], ["x", "--timeout", "0"], ["x", "--timeout", "nan"], ["x", "--timeout", "s"],
    ["x", "--jobs", "0"], ["x", "--jobs", "-1"], ["x", "--jobs", "9999"], ["x", "--jobs", "two"],
])
def test_wrong_usage_is_one_line_and_status_2(args: list[str]) -> None:
    done = pypfm("conform", *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_a_name_without_slash_is_for_the_loader(tmp_path: Path) -> None:
    """Not the file in the current directory, but the one that the loader finds."""
    shutil.copy(LIBRARIES["pfm3"].path, tmp_path / "libsome.so.3")
    done = run(PYPFM, "conform", "libsome.so.3", cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot open shared object file" in done.stderr
    assert done.stderr.endswith("(the loader does not look here; ./libsome.so.3 is the file)\n")
    no_calls = ("--vectors", "/dev/null")
    done = run(PYPFM, "conform", "libsome.so.3", *no_calls, env=clean_env(LD_LIBRARY_PATH=str(tmp_path)))
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split()[-1] == f"{tmp_path}/libsome.so.3"
    done = run(PYPFM, "conform", "./libsome.so.3", *no_calls, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split()[-1] == f"{tmp_path}/libsome.so.3"


def test_the_users_environment_and_directory_are_not_the_librarys(tmp_path: Path) -> None:
    """Neither the variables of libpfm, nor modules of Python in the current directory."""
    for name in ("json", "pypfm", "select", "ctypes"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)\n")
    done = run(PYPFM, "conform", LIBRARIES["pfm4"].path, "--vectors", vectors_file(recorded("pfm4")[::50], tmp_path), cwd=tmp_path,
               env=clean_env(LIBPFM_FORCE_PMU="nhm", LIBPFM_VERBOSE="1"))
    assert done.returncode == 0, done.stdout


def test_a_stripped_and_a_renamed_library(tmp_path: Path) -> None:
    path = tmp_path / "renamed"
    shutil.copy(LIBRARIES["pfm4"].path, path)
    build("strip", "--strip-all", path)
    report = runner.run(str(path), vectors=recorded("pfm4")[::50])
    assert report.status == 0
    assert sum(tally.run for tally in report.tallies.values()) > 300
    assert report.library.loaded == str(path)
    assert [report.library.soname] == dynamic_entries(path, "DT_SONAME")


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.so").symlink_to(LIBRARIES["pfm3"].path)
    report = runner.run(os.path.relpath(tmp_path / "link.so"), vectors=recorded("pfm3")[::50])
    assert report.library.loaded == str(LIBRARIES["pfm3"].path.resolve())
    assert report.library.asked.endswith("link.so")
    assert report.status == 0


# ---- vectors of other files ----------------------------------------------------------------

@pytest.mark.parametrize(("call", "complaint"), [
    ({"kind": "call", "pmu": "itanium2", "call": "pfm_force_pmu", "args": [4]}, "would change what later calls answer"),
    ({"kind": "call", "pmu": "itanium2", "call": "pfm_none", "args": []}, "pfm_none"),
    ({"kind": "call", "pmu": "itanium2", "call": "pfm_find_event", "args": []}, "0 arguments instead of 1"),
    ({"kind": "call", "pmu": "itanium2", "call": "pfm_find_event", "args": [{}]}, "vector x: "),
    ({"kind": "dispatch", "pmu": "itanium2", "events": [], "model_in": {"nothing": 1}}, "nothing"),
    ({"kind": "dispatch", "pmu": "itanium2", "events": [1]}, "vector x: "),
    ({"kind": "dispatch", "pmu": "itanium2", "events": [{"event": "CPU_CYCLES"}] * 513}, "vector x: "),
])
def test_what_is_no_call_is_an_error(call: dict[str, Any], complaint: str) -> None:
    path = str(LIBRARIES["pfm3"].path)
    with pytest.raises(ConformError, match="vector x: ") as error:
        runner.differential(path, path, lambda _: [{"id": "x"} | call])
    assert complaint in str(error.value)
    assert json.dumps(str(error.value)).count("\\n") == 0


def test_a_file_of_vectors(tmp_path: Path) -> None:
    """One answer in it is wrong; one has no id and gets its line."""
    path = tmp_path / "some.jsonl"
    some = [dict(v) for v in recorded("pfm3") if v["kind"] == "call"][1000:1020]
    some[3]["expect"] = {"ret": -23}
    del some[3]["id"]
    path.write_text("\n".join(json.dumps(v) for v in some) + "\n\n")
    vectors = read(path)
    assert len(vectors) == 20
    report = runner.run(str(LIBRARIES["pfm3"].path), vectors=vectors)
    assert [f.vector and f.vector["id"] for f in report.findings] == ["some.jsonl:4"]
    assert [d.expected for d in report.findings[0].differences] == ["PFMLIB_ERR_NOMEM (-23)"]
    for pack in (gzip.compress, bz2.compress):
        (tmp_path / "packed").write_bytes(pack(path.read_bytes()))
        assert [v | {"id": ""} for v in read(tmp_path / "packed")] == [v | {"id": ""} for v in vectors]


@pytest.mark.parametrize(("line", "complaint"), [
    ("{", "not JSON"), ("[]", "kind is 'null'"), ("{}", "kind is 'null'"), ('{"kind": []}', "kind is '[]'"),
    ("[" * 100_000, "not JSON"),
    ('{"kind": "calls"}', "kind is '\"calls\"'; there are dispatch, call, query, encode, info"),
    ('{"kind": "call", "args": []}', "call has no call"),
    ('{"kind": "query", "pmu": "itanium2", "index": "1"}', "index is '\"1\"', not of type integer"),
    ('{"kind": "query", "pmu": "merced", "index": 1}',
     "pmu is '\"merced\"'; there are itanium2, montecito, itanium, gen_ia64"),
    ('{"kind": "call", "pmu": 1, "call": "f", "args": []}',
     "pmu is '1'; there are itanium2, montecito, itanium, gen_ia64, null"),
    ('{"kind": "dispatch", "pmu": "gen_ia64", "events": [], "cpuid3": "0x0"}', "gen_ia64 has no cpuid3"),
    ('{"kind": "dispatch", "pmu": "gen_ia64", "events": [], "model_in": {}}', "gen_ia64 has no model_in"),
    ('{"kind": "dispatch", "pmu": "gen_ia64", "events": [], "model_out": true}', "gen_ia64 has no model_out"),
    ('{"kind": "encode", "event": "e", "os": "linux", "dfl_plm": 1}', "there are none, perf_event, perf_event_ext"),
    ('{"kind": "encode", "event": "e", "os": "none", "dfl_plm": 1, "env": {"LIBPFM_A": 1}}', "env is '{\"LIBPFM_A\": 1}', not of type object with ^LIBPFM_[A-Z0-9_]+$"),
    ('{"kind": "encode", "event": "e", "os": "none", "dfl_plm": 1, "env": {"LIBPFM_A=": "1"}}', "not of type object with ^LIBPFM_[A-Z0-9_]+$"),
    ('{"kind": "info", "event": 1}', "info wants pmu, or event and os"),
    ('{"kind": "encode", "event": "e", "os": "none", "dfl_plm": 1, "env": {"PATH": ""}}', "not of type object with ^LIBPFM_[A-Z0-9_]+$"),
    ('{"kind": "dispatch", "pmu": "montecito", "events": [], "cpuid3": 1}', "cpuid3 is '1', not of type string with ^0x[0-9a-f]+$"),
    ('{"kind": "encode", "event": "e", "os": "none", "dfl_plm": 1, "env": {"LIBPFM_A": "\\u0000"}}', "env is "),
    ('{"kind": "info", "pmu": true}', "pmu is 'true', not of type integer"),
    ('{"kind": "dispatch", "pmu": "itanium", "events": {}}', "events is '{}', not of type array"),
    ('{"kind": "info"}', "info wants pmu, or event and os"),
])
def test_a_line_that_is_no_vector_is_named(line: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps({"kind": "info", "pmu": 51}) + "\n\n" + line + "\n")
    with pytest.raises(ConformError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}:3: ")
    assert complaint in str(error.value)
    if line.startswith("{") and line.endswith("}"):
        answered = {"id": "x", "result": "valid", "env": {}, "expect": {"ret": 0}} | json.loads(line)
        assert not jsonschema.Draft202012Validator(schemas.load("vector")).is_valid(answered)


def test_a_python_without_bz2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(bz2.compress(b"{}"))
    monkeypatch.setitem(sys.modules, "bz2", None)
    with pytest.raises(ConformError, match=r"packed: .*bz2.*; this Python was built without the library \(Debian: libbz2-dev\)$"):
        read(tmp_path / "packed")


@pytest.mark.parametrize(("data", "complaint"), [
    (None, "No such file or directory"), (b"\xff\n", "not UTF-8"), (b"\x1f\x8bx", "gzip"),
    (gzip.compress(b"{}" * 99, mtime=0)[:20], "not a whole gzip file"),
    (gzip.compress(b"{}" * 99, mtime=0)[:10] + b"\xff" * 20, "not a whole gzip file"), (b" " * (1 << 20) + b"{}", "more than 1048576 bytes"),
    (gzip.compress(b"\0" * (1 << 26)), "more than 1048576 bytes"),
    (b"BZ", "not a whole bz2 file"), (bz2.compress(b"{}" * 99)[:20], "not a whole bz2 file"), (b"BZh9" + b"\xff" * 20, "Invalid data stream"),
    (bz2.compress(b"\0" * (1 << 26)), "more than 1048576 bytes"),
])
def test_a_file_that_is_none_of_vectors(data: bytes | None, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConformError, match=complaint) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")


def test_a_file_without_an_end() -> None:
    with pytest.raises(ConformError, match="/dev/zero: not a file of vectors: it has a line of more than"):
        read(Path("/dev/zero"))


def test_the_pmu_of_a_vector() -> None:
    assert Counter(map(pmu_of, recorded("pfm3"))) == {
        "itanium2": 7191, "montecito": 7356, "itanium": 1230, "gen_ia64": 1, "none": 75 + SEQ3}
    assert Counter(map(pmu_of, recorded("pfm4"))) == {
        "glm": 3767, "perf": 845, "perf_raw": 247, "gen_ia64": 43, "ita": 1882, "ita2": 4705, "mont": 6488, "none": SEQ4}
    texts: list[tuple[str, dict[str, str], str]] = [
        ("glm::X", {}, "glm"), ("PERF::X", {"LIBPFM_FORCE_PMU": "glm"}, "perf"), ("X", {"LIBPFM_FORCE_PMU": "GLM,foo"}, "glm"),
        ("X", {}, "perf"), ("snb::X", {}, "perf"), ("X::Y", {"LIBPFM_FORCE_PMU": "perf_raw"}, "perf_raw")]
    assert [pmu_of({"kind": "encode", "event": event, "env": dict(env)}) for event, env, _ in texts] == [
        pmu for _, _, pmu in texts]


# ---- on a terminal --------------------------------------------------------------------------------

def test_a_bar_on_the_terminal(tmp_path: Path) -> None:
    text = on_terminal(100, "conform", LIBRARIES["pfm4"].path, "--vectors", vectors_file(recorded("pfm4")[::50], tmp_path), term="xterm")
    assert str(LIBRARIES["pfm4"].path) in text
    total = len(in_steps(recorded("pfm4")[::50]))
    assert f"{total} of {total} calls" in text


@pytest.mark.parametrize("name", [b"\xff.so", b"a\nb.so", b"%s\x1b[1m.so", "\u00e9.so".encode()])
def test_a_file_name_of_any_bytes(name: bytes, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/" + name
    done = subprocess.run([os.fsencode(PYPFM), b"conform", path], capture_output=True, env=clean_env())
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"cannot be loaded: cannot open shared object file: No such file" in done.stderr
    shutil.copy(os.fsencode(LIBRARIES["pfm4"].path), path)
    done = subprocess.run([os.fsencode(PYPFM), b"conform", path, b"--vectors", b"/dev/null"], capture_output=True,
                          env=clean_env())
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"soname     libpfm.so.4" in done.stdout
