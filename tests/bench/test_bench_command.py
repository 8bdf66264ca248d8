"""pypfm bench: its output, its ratios, wrong uses.  Nothing timed is asserted."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import run
from native import CC, PFM3, PFM3_MANUAL, PFM4, build
from pypfm import bench as pypfm_bench
from pypfm import pfm3, schemas
from pypfm.bench import PFMTIME, Measure, Report, Time, bench
from pypfm.config import Library
from pypfm.errors import LibraryError, shown
from terminal import on_terminal, pypfm

C_MEASURES = {
    "pfm3": {("initialize", None), *((name, pmu) for pmu in ("itanium", "itanium2", "montecito")
                                     for name in ("find_event", "get_event_name", "dispatch", "dispatch_qualifiers"))},
    "pfm4": {("initialize", None), *((name, "glm") for name in ("find_event", "get_event_info", "encode", "encode_fstr"))},
}
FLOORS = {"find_event": {"hash"}, "encode": {"hash"}, "encode_fstr": {"hash"}, "dispatch": {"memset"}, "dispatch_qualifiers": {"memset"}}


def measured(*args: object) -> dict[str, Any]:
    """What the command prints into a pipe, checked against its schema."""
    done = pypfm("bench", "--rounds", 2, *args)
    assert (done.returncode, done.stderr) == (0, "")
    data: dict[str, Any] = json.loads(done.stdout)
    jsonschema.validate(data, schemas.load("bench"))
    return data


def shared(directory: Path, name: str, source: str) -> Path:
    out = directory / name
    build(CC, "-fPIC", "-shared", "-xc", "-", "-o", out, source=source)
    return out


# ---- what is measured ------------------------------------------------------------

def test_without_arguments_everything_is_measured() -> None:
    data = measured()
    found: dict[str, set[tuple[str, str | None]]] = {}
    for m in data["measures"]:
        assert m["library"] is not None, m
        assert m["missing"] == {}
        found.setdefault(m["group"], set()).add((m["name"], m["pmu"]))
    assert found == C_MEASURES
    assert data["libraries"] == [{"api": lib.name, "library": str(lib.path), "other": None} for lib in (PFM3, PFM4)]


@pytest.mark.parametrize("library", [PFM3_MANUAL, PFM4], ids=lambda library: library.name)
def test_a_library_by_path(library: Library) -> None:
    data = measured(library.path)
    assert [c["api"] for c in data["libraries"]] == [library.name]
    assert {(m["name"], m["pmu"]) for m in data["measures"]} == C_MEASURES[library.form_of or library.name]
    for m in data["measures"]:
        assert m["missing"] == {}
        assert m["other"] is m["library_over_other"] is None
        assert m["library"]["median_ns"] >= m["library"]["min_ns"] > 0
        assert set(m["floors"]) == FLOORS.get(m["name"], set())


def test_against_another_library_every_measure_has_a_ratio() -> None:
    """With --against alone, ours of the same API is the library."""
    data = measured("--against", PFM3.path)
    assert data["libraries"] == [{"api": "pfm3", "library": str(PFM3.path), "other": str(PFM3.path)}]
    assert {m["group"] for m in data["measures"]} == {"pfm3"}
    for m in data["measures"]:
        assert m["library_over_other"] == pytest.approx(m["library"]["min_ns"] / m["other"]["min_ns"])
        for name, floor in m["floors"].items():
            assert m["library_over_floor"][name] == pytest.approx(m["library"]["min_ns"] / floor["min_ns"])


def test_two_libraries_of_one_name_are_two(tmp_path: Path) -> None:
    """The loader takes a library of the same name for the same, were it not given by its path."""
    other = shared(tmp_path, "libpfm.so.4", """
        int pfm_get_os_event_encoding(const char *s, int p, int o, void *a) { (void)s; (void)p; (void)o; (void)a; return -1; }
    """)
    data = measured(PFM4.path, "--against", other)
    assert all(m["library"] for m in data["measures"])
    assert {m["missing"]["other"] for m in data["measures"]} == {"the library has no pfm_initialize()"}


# ---- libraries that cannot take part --------------------------------------------------

def initialized(directory: Path, body: str) -> Path:
    """A libpfm 4 whose pfm_initialize() does this, and whose other functions are never called."""
    return shared(directory, "libpfm.so.4", f"""
        #include <unistd.h>
        int pfm_get_os_event_encoding(void) {{ return 0; }}
        int pfm_initialize(void) {{ {body} }}
        void pfm_terminate(void) {{ }}
        int pfm_get_pmu_info(void) {{ return 0; }}
        int pfm_get_event_next(void) {{ return -1; }}
        int pfm_get_event_info(void) {{ return -1; }}
        int pfm_find_event(void) {{ return -1; }}
    """)


def test_a_library_without_the_pmu_says_so(tmp_path: Path) -> None:
    """Of libpfm 3: every function there, no PMU known."""
    library = shared(tmp_path, "libpfm.so.3", """
        int pfm_initialize(void) { return 0; }
        int pfm_force_pmu(int type) { (void)type; return -1; }
        int pfm_get_num_events(unsigned *n) { (void)n; return -3; }
        int pfm_get_event_name(unsigned i, char *s, unsigned long n) { (void)i; (void)s; (void)n; return -3; }
        int pfm_find_event(const char *s, unsigned *i) { (void)s; (void)i; return -3; }
        int pfm_dispatch_events(void *a, void *b, void *c, void *d) { (void)a; (void)b; (void)c; (void)d; return -3; }
    """)
    data = measured(library, "--against", PFM3.path)
    for m in data["measures"]:
        if m["name"] == "initialize":
            assert m["missing"] == {}
            continue
        assert m["library"] is None
        assert m["other"] is not None
        kind = getattr(pfm3, f"PFMLIB_{m['pmu'].upper()}_PMU")
        assert m["missing"] == {
            "library": f"the library has no PMU {m['pmu']}: pfm_force_pmu({kind}) returns -1"}
        assert m["library_over_other"] is None
        assert m["library_over_floor"] == {}


def test_a_call_that_fails_is_not_timed(tmp_path: Path) -> None:
    """Of libpfm 4: strings that cannot be encoded are named."""
    library = shared(tmp_path, "libpfm.so.4", """
        int pfm_initialize(void) { return 0; }
        void pfm_terminate(void) { }
        int pfm_get_pmu_info(int p, void *o) { (void)p; (void)o; return 0; }
        int pfm_get_event_next(int i) { (void)i; return -1; }
        int pfm_get_event_info(int i, int o, void *p) { (void)i; (void)o; (void)p; return -4; }
        int pfm_find_event(const char *s) { (void)s; return -4; }
        int pfm_get_os_event_encoding(const char *s, int p, int o, void *a) { (void)s; (void)p; (void)o; (void)a; return -4; }
    """)
    why = {m["name"]: m["missing"].get("library") for m in measured(library)["measures"]}
    assert why == {"initialize": None, "find_event": "the library names no event",
                   "get_event_info": "the library names no event",
                   "encode": "glm::UNHALTED_CORE_CYCLES: it returns -4",
                   "encode_fstr": "glm::UNHALTED_CORE_CYCLES: it returns -4"}
    text = on_terminal(80, "bench", library, "--rounds", 2)
    assert "encode, library: glm::UNHALTED_CORE_CYCLES: it returns -4" in text


def test_a_crash_is_one_line(tmp_path: Path) -> None:
    library = initialized(tmp_path, "__builtin_trap();")
    done = pypfm("bench", library)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pypfm bench: measuring {shown(str(library))} ended with SIGILL\n"


def test_a_library_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = initialized(tmp_path, "for (;;) pause();")
    monkeypatch.setattr(pypfm_bench, "_PATIENCE", 0)
    with pytest.raises(LibraryError, match=r"did not end within 1 seconds$"):
        bench(str(library), rounds=1)
    monkeypatch.setattr(pypfm_bench, "PFMTIME", tmp_path)
    with pytest.raises(LibraryError, match=r"cannot be run: Permission denied$"):
        bench(str(library), rounds=1)


def test_a_library_that_dies_when_loaded_is_one_line(tmp_path: Path) -> None:
    library = shared(tmp_path, "libpfm.so.4", "__attribute__((constructor)) static void f(void) { __builtin_trap(); }")
    done = pypfm("bench", library)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "does not survive being loaded" in done.stderr


# ---- the terminal --------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize("args", [[PFM3.path], ["--against", PFM4.path], []], ids=["one", "two", "all"])
def test_tables_fit_a_terminal(args: list[object]) -> None:
    text = on_terminal(80, "bench", "--rounds", 2, *args)
    tables = [line for line in text.splitlines() if str(PFM3.path.parent.parent) not in line]
    assert max(map(len, tables)) <= 80
    assert "ratio" in text
    assert "The shortest of 2 rounds" in " ".join(text.split())


# ---- wrong uses ------------------------------------------------------------------------

@pytest.mark.parametrize(("args", "words"), [
    (["--rounds", "0"], ["'0' is not between 1 and 100000"]),
    (["--rounds", "many"], ["'many' is not a number"]),
    (["--against"], ["expected one argument"]),
    (["a", "b"], ["unrecognized arguments: b"]),
    (["--pmu", "glm"], ["unrecognized arguments"]), (["--only", "x"], ["unrecognized arguments"]),
])
def test_wrong_words(args: list[str], words: list[str]) -> None:
    done = pypfm("bench", *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert all(word in done.stderr for word in words)


@pytest.mark.slow
@pytest.mark.parametrize(("args", "words"), [
    (["perfex"], ["perfex is no library", "tests/bench"]),
    (["/no/such/libpfm.so.3"], ["'/no/such/libpfm.so.3' cannot be loaded"]),
    (["libc.so.6"], ["'libc.so.6' is no libpfm 3 or 4"]),
    (["--against", "/etc/passwd"], ["'/etc/passwd' cannot be loaded"]),
    ([PFM3.path, "--against", PFM4.path], ["is a library of pfm3", "one of pfm4"]),
    ([PFM3.path, "--against", PFM3_MANUAL.path], ["is a library of pfm3", "one of pfm3-manual"]),
])
def test_wrong_libraries(args: list[object], words: list[str]) -> None:
    done = pypfm("bench", "--rounds", 1, *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert all(word in done.stderr for word in words), done.stderr


# ---- the program --------------------------------------------------------------------------

@pytest.mark.parametrize("args", [[], [1, "pfm3"], [1, "pfm5", "x"], [1, "pfm3", "a", "b", "c"], [0, "pfm3", "x"], ["x", "pfm3", "x"]])
def test_pfmtime_says_how_it_is_called(args: list[object]) -> None:
    done = run(PFMTIME, *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("usage: pfmtime ROUNDS ")


def test_the_libraries_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"VERBOSE": "1", "FORCE_PMU": "99", "DISABLED_PMUS": "glm"}.items():
        monkeypatch.setenv(f"LIBPFM_{name}", value)
    for library in (PFM3, PFM4):
        assert [m.missing for m in bench(str(library.path), rounds=1).measures] == [{}] * len(C_MEASURES[library.name])


# ---- in Python ------------------------------------------------------------------------------

def test_ratios_of_a_measure() -> None:
    measure = Measure("pfm4", "encode", "glm", 50, Time(50.0, 60.0), Time(400.0, 410.0), {"hash": Time(10.0, 10.0)})
    assert measure.library_over_other == 0.125
    assert measure.library_over_floor == {"hash": 5.0}
    assert measure.noise == pytest.approx(0.2)
    alone = Measure("pfm4", "encode", "glm", 50, None, Time(400.0, 410.0), {"hash": Time(10.0, 10.0)}, {"library": "no"})
    assert (alone.library_over_other, alone.library_over_floor, alone.noise) == (None, {}, 0.0)


def test_the_function_answers_what_the_command_prints() -> None:
    said: list[str] = []
    report = bench(str(PFM4.path), rounds=1, progress=said.append)
    assert isinstance(report, Report)
    assert said == ["libpfm4 in C"]
    jsonschema.validate(report.to_json(), schemas.load("bench"))
    with pytest.raises(ValueError, match="rounds=0"):
        bench(rounds=0)
    with pytest.raises(LibraryError, match="pfm4"):
        bench(str(PFM4.path), against=str(PFM3.path))


def test_the_program_is_installed() -> None:
    assert PFMTIME.stat().st_mode & stat.S_IXUSR
