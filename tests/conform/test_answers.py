"""What a worker says of single calls, to its natural end; libraries that hardly are any."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pypfm._c.pfm3 import ffi

from broken import DISPATCH, INITIALIZE4, changed, with_code
from native import CC, PFM3, PFM4, build, build_library
from pypfm._c.loading import loaded_file
from pypfm.conform import runner
from pypfm.conform.checks import file, structures
from pypfm.conform.checks.differences import differences
from pypfm.conform.model import Vector
from pypfm.conform.record import record
from pypfm.conform.report.why import why
from pypfm.conform.worker import process
from pypfm.conform.worker.leaves import leaves
from pypfm.errors import ConformError

CYCLES = {"event": "CPU_CYCLES"}
# Beginnings of functions, after which a test puts code.
FORCE = "pfm_force_pmu(int type)\n{\n"
FIND4 = "pfm_find_event(const char *str)\n{\n"


def said(library: Path, api: str | None, vectors: list[Vector], start: list[Vector] | None = None) -> list[dict[str, Any]]:
    """The messages about a job, after that about loading."""
    job: dict[str, Any] = {"library": str(library), "api": api, "start": start or [], "vectors": vectors,
                           "timeout": 5.0, "descriptions": False}
    with process.Worker() as worker:
        return list(worker.do(job))


def answers(library: Path, api: str, *vectors: Vector, start: list[Vector] | None = None) -> list[Any]:
    loaded, *messages = said(library, api, list(vectors), start)
    assert loaded["loaded"] == str(library)
    assert list(messages.pop()) == ["changed", "lasting", "end"]  # the last says what the calls have left
    del messages[:len(start or [])]
    assert [m.pop("at") for m in messages] == list(range(len(vectors)))
    return [m.get("answer", m) for m in messages]


def fake(directory: Path, name: str, source: str) -> Path:
    out = directory / name
    build(CC, "-shared", "-fPIC", "-w", "-xc", "-", "-o", out, source="#include <stdlib.h>\n#include <string.h>\n" + source)
    return out


FORCE_ITANIUM2: list[Vector] = [{"kind": "start", "call": "pfm_force_pmu", "args": [3], "expect": {"ret": 0}}]


def call(name: str, *args: Any, pmu: str = "itanium2") -> Vector:
    return {"kind": "call", "pmu": pmu, "call": name, "args": list(args)}


def dispatch(*events: Any, **more: Any) -> Vector:
    return {"kind": "dispatch", "pmu": "itanium2", "events": list(events), "dfl_plm": 8} | more


def encode(event: str, **more: Any) -> Vector:
    return {"kind": "encode", "event": event, "os": "none", "dfl_plm": 8} | more


def test_what_a_libpfm_3_writes_after_its_memory_is_noticed(tmp_path: Path) -> None:
    output, model = (ffi.sizeof(f"pfmlib_{name}output_param_t") for name in ("", "ita2_"))
    library = fake(tmp_path, "libpfm.so.3", f"""
        int pfm_initialize(void) {{ return 0; }}
        int pfm_find_event(const char *name, unsigned *index) {{ *index = 0; return strcmp(name, "NONE") ? 0 : -4; }}
        int pfm_dispatch_events(void *in, void *min, char *out, char *mout)
        {{ memset(out, 0, {output} + 1); if (mout) memset(mout, 0, {model} + 1); return 0; }}
        int pfm_ita2_irange_is_fine(void *out, void *mout) {{ return 0; }}
        int pfm_get_event_name(unsigned i, char *name, unsigned long size) {{ memset(name, 0, size); name[size] = 'x'; return 0; }}
        int pfm_get_num_events(unsigned long *count) {{ *count = 1ul << 40 | 7; return 0; }}
    """)
    *calls, plain, with_model = answers(
        library, "pfm3", call("pfm_get_event_name", 0, 8), call("pfm_get_num_events"), dispatch({"event": "NONE"}),
        call("pfm_get_version"), dispatch(CYCLES), dispatch(CYCLES, model_in={}, model_out=True))
    assert calls == [{"ret": 0, "value": "", "overrun": True}, {"ret": 0, "value": 7, "overrun": True},
                     {"ret": -4, "at": "pfm_find_event NONE"}, {"missing": "pfm_get_version"}]
    assert (plain["ret"], plain["pmcs"], plain["overrun"]) == (0, [], True)
    assert (with_model["fine"], with_model["overrun"]) == (0, True)


def test_what_a_libpfm_4_writes_after_its_memory_is_noticed(tmp_path: Path) -> None:
    library = fake(tmp_path, "libpfm.so.4", """
        struct arg { unsigned long *codes; char **fstr; unsigned long size; int count, idx; char after; };
        int pfm_initialize(void) { return 0; }
        int pfm_get_os_event_encoding(const char *event, int plm, int os, struct arg *arg)
        {
            arg->codes = calloc(64, 8);
            arg->count = *event == 'm' ? 100000 : 1;
            if (*event != 'u')
                arg->idx = 0;
            if (*event == 'b')
                arg->after = 0;
            return 0;
        }
    """)
    plain, many, after, unwritten = answers(library, "pfm4", *map(encode, ("plain", "many", "beyond", "unwritten")))
    assert plain == {"ret": 0, "idx": 0, "codes": ["0x0"], "fstr": ""}
    assert many == plain | {"codes": ["0x0"] * 64, "count": 100000}
    assert after == plain | {"overrun": True}
    assert unwritten["idx"] not in (0, -1)


def test_a_library_that_cannot_be_loaded_or_started(tmp_path: Path) -> None:
    assert list(said(tmp_path / "none.so", None, [])[0]) == ["refused"]
    library = fake(tmp_path, "libpfm.so.4", """
        int pfm_initialize(void) { return -7; }
        int pfm_get_os_event_encoding(const char *event, int plm, int os, void *arg) { return 0; }
    """)
    start = {"kind": "start", "call": "pfm_initialize", "args": [], "env": {}, "expect": {"ret": 0}}
    assert said(library, "pfm4", [encode("x")], [start])[1:] == [{"start": 0, "answer": {"ret": -7}}]


# ---- libraries that no run comes to an end with ----------------------------------------------------

def test_a_library_that_can_be_loaded_once(tmp_path: Path) -> None:
    library = fake(tmp_path, "libpfm.so.3", f"""
        #include <unistd.h>
        int pfm_dispatch_events(void) {{ return 0; }}
        __attribute__((constructor)) static void once(void) {{ unlink("{tmp_path}/libpfm.so.3"); }}
    """)
    report = runner.run(str(library))
    assert report.status == 4
    assert {f.function for f in report.findings} == {"dlopen"}
    assert report.findings[0].differences[0].got == "another one, or changed, since it was loaded: nothing is known of it"


@pytest.mark.parametrize(("program", "got"), [
    ("socket.socket(fileno=int(sys.argv[1])).sendall(b'chatter\\n'); sys.stdin.read(); time.sleep(60)",
     "had its watching process say what is no JSON: b'chatter'"),
    ("raise SystemExit('no room')", "the process that watches it: ended the process with status 1: no room"),
])
def test_a_worker_that_says_something_else(program: str, got: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of a worker, there is a report."""
    monkeypatch.setattr(process, "PROGRAM", f"import socket, sys, time; {program}")
    report = runner.run(str(PFM3.path))
    assert [(f.function, f.kind, f.differences[0].got) for f in report.findings] == [("dlopen", "crash", got)]


def test_a_file_that_cannot_be_read_has_no_digest() -> None:
    """As one that has gone since it was loaded."""
    found = file.library_file("asked", "/proc/self/mem")
    assert (found.sha256, found.soname, found.build_id) == ("", "", "")
    assert loaded_file(0) == ""


DYING = "__attribute__((constructor)) static void early(void) { abort(); }"


def test_a_library_that_dies_when_loaded_answers_nothing(tmp_path: Path) -> None:
    library = fake(tmp_path, "libpfm.so.3", "int pfm_dispatch_events(void) { return 0; }" + DYING)
    with pytest.raises(ConformError, match=r"dlopen\(.*\): SIGABRT$"):
        record(str(library), "itanium2", 10, 1)
    with pytest.raises(ConformError, match=r"dlopen\(.*\): SIGABRT$"):
        runner.differential(str(PFM3.path), str(library), lambda _: [dispatch(CYCLES)])


@pytest.mark.slow
@pytest.mark.parametrize(("code", "why_not"), [
    (None, "not exported"),
    ("return PFM_ERR_NOMEM;", r"ret: expected PFM_SUCCESS \(0\), got PFM_ERR_NOMEM \(-7\)"),
])
def test_a_library_that_records_nothing_says_why(code: str | None, why_not: str, tmp_path: Path) -> None:
    library = with_code(INITIALIZE4, tmp_path, code) if code else build_library(PFM4, tmp_path, "-Dpfm_initialize=other")
    with pytest.raises(ConformError, match=rf"answers none of 20 calls on glm: pfm_initialize\(\) LIBPFM_FORCE_PMU=glm: {why_not}"):
        record(str(library), "glm", 20, 1)


def test_a_library_whose_calls_all_crash_records_nothing(tmp_path: Path) -> None:
    library = fake(tmp_path, "libpfm.so.4", """
        int pfm_initialize(void) { return 0; }
        int pfm_get_os_event_encoding(const char *event, int plm, int os, void *arg) { abort(); }
    """)
    with pytest.raises(ConformError, match=r"answers none of 20 calls on glm$"):
        record(str(library), "glm", 20, 1)


# ---- probes of the layout --------------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize(("place", "code", "reason"), [
    (("api.c", FORCE), "return PFMLIB_ERR_BADHOST;", "PFMLIB_ERR_BADHOST"),
    (("api.c", FIND4), "return PFM_ERR_NOTFOUND;", "PFM_ERR_NOTFOUND"),
    (DISPATCH, 'for (int fd = 3; fd < 500; fd++) (void)!write(fd, "chatter\\n", 8);',
     "wrote into a descriptor that is not its own"),
])
def test_a_library_that_cannot_be_probed(place: tuple[str, str], code: str, reason: str, tmp_path: Path) -> None:
    name, text = place
    library = PFM4 if place == ("api.c", FIND4) else PFM3
    path = changed(library, tmp_path, name, text, f"{text}\t{code}\n" if text.endswith("{\n") else f"\t{code}\n{text}")
    outcome = structures.probe(path, "pfm4" if library is PFM4 else "pfm3")
    assert {d.field for f in outcome.findings for d in f.differences} == {"ret" if "ERR" in reason else "probes"}
    assert {f.kind for f in outcome.findings} == {"value" if "ERR" in reason else "crash"}
    assert re.search(reason, " ".join(d.got for f in outcome.findings for d in f.differences))
    assert outcome.notes
    assert all("not checked, for " in note for note in outcome.notes)


def test_a_structure_in_a_structure_is_its_members() -> None:
    assert [leaf.path for leaf in leaves("pfm3", "pfm_ita2_pmd_reg_t")][:3] == [
        "pmd_val", "pmd_ita2_counter_reg.pmd_count", "pmd_ita2_counter_reg.pmd_sxt47"]
    assert [leaf.path for leaf in leaves("pfm4", "pfm_pmu_info_t")][-3:] == ["is_present", "is_dfl", "reserved_bits"]


# ---- words -----------------------------------------------------------------------------------------

def test_the_reason_of_what_the_classes_cannot_say() -> None:
    assert why("pfm3", dispatch(CYCLES, pfp_flags=64), -2) == "invalid parameters"
    assert why("pfm3", dispatch({"event": "NONE"}), -4) == "itanium2 has no event 'NONE'"


def test_answers_that_are_a_return_code_only_and_no_text() -> None:
    query: Vector = {"kind": "query", "pmu": "itanium2", "index": 1}
    code, name = differences("pfm3", query, {"pfm_get_event_code": "0x12", "pfm_get_event_name": "A"},
                             {"pfm_get_event_code": {"ret": -4}, "pfm_get_event_name": None})
    assert (code.expected, code.got) == ("0x12", "PFMLIB_ERR_NOTFOUND (-4)")
    assert (name.expected, name.got) == ("A", "NULL")


def test_null_and_return_codes_in_words() -> None:
    found = differences("pfm4", encode("x"), {"ret": 0, "fstr": None}, {"ret": 0, "fstr": "glm::x"})
    assert [(d.field, d.expected) for d in found] == [("fstr", "NULL")]
    found = differences("pfm4", encode("x"), {"answers": [{"ret": -2}]}, {"answers": [{"name": "u"}]})
    assert "PFM_ERR_INVAL" in found[0].expected


def test_an_api_that_does_not_exist() -> None:
    with pytest.raises(ConformError, match="no such API: 'pfm5'; there are pfm3"):
        runner.run(str(PFM3.path), "pfm5", vectors=[])
