"""Libraries broken on purpose: exactly the break is reported, and the run ends."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from broken import DISPATCH, ENCODE, EVENT_NAME, INITIALIZE3, INITIALIZE4, changed, objects, with_code
from conftest import clean_env
from native import PFM3, PFM4, build_library
from pypfm.conform import runner, vectors
from pypfm.conform.model import Difference, Finding, Report, Vector
from pypfm.conform.vectors import function_of, group_of
from runs import vectors_file
from terminal import PYPFM, pypfm
from tools import first

pytestmark = pytest.mark.slow

TIMEOUT = 2.0  # seconds: on a busy machine, too, a call that returns does so earlier
NOT_RUN = Difference("process", "an answer", "")


@cache
def recorded(api: str) -> list[Vector]:
    """The recorded single calls, of requests and event strings every fifth and the first of each process: breaks show in these."""
    whole = [v for v in vectors.recorded(api) if v["kind"] != "sequence"]
    first = {group_of(v): i for i, v in reversed([*enumerate(whole)])}.values()
    return [v for i, v in enumerate(whole) if v["kind"] not in ("dispatch", "encode") or i % 5 == 0 or i in first]


def checked(library: Path, jobs: int = 2, timeout: float = TIMEOUT, only: Sequence[str] = ()) -> Report:
    """A run over the recorded vectors, or those of some kinds."""
    some = [v for v in recorded("pfm3" if library.name == PFM3.soname else "pfm4") if not only or v["kind"] in only]
    return runner.run(str(library), vectors=some, jobs=jobs, timeout=timeout)


def ended(how: str) -> tuple[Difference, ...]:
    return (replace(NOT_RUN, got=how),)


def about(api: str, wanted: Callable[[Vector], bool]) -> list[Vector]:
    """The recorded vectors that a break is about."""
    return [v for v in recorded(api) if wanted(v)]


# In pfm_get_event_name(): the event of Itanium 2, not the one that Itanium has under the same name.
CYCLES = "state.model == &pfm3_itanium2 && event && !strcmp(event->name, \"CPU_CYCLES\")"


def asks_for(name: str) -> Callable[[Vector], bool]:
    """Whether a vector has a library write the name of an event of Itanium 2."""
    index = next(v["index"] for v in recorded("pfm3") if v["kind"] == "query" and v["expect"]["pfm_get_event_name"] == name)

    def wanted(v: Vector) -> bool:
        name_call = v.get("call") == "pfm_get_event_name" and v["args"][0] == index
        return v.get("pmu") == "itanium2" and (name_call or (v["kind"] == "query" and v["index"] == index))
    return wanted


def counted(report: Report) -> dict[str, tuple[int, int]]:
    """How many calls of each function differed and were not run, where any was."""
    return {name: (t.differ, t.not_run) for name, t in report.tallies.items() if t.differ or t.not_run}


# ---- values -----------------------------------------------------------------------------------

def test_a_changed_error_code(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, "api.c", "\tif (found < 0)\n\t\treturn PFMLIB_ERR_NOTFOUND;\n",
                      "\tif (found < 0)\n\t\treturn PFMLIB_ERR_UMASK;\n")
    report = checked(library)
    wanted = about("pfm3", lambda v: v.get("call") in ("pfm_find_event", "pfm_find_event_byname")
                   and v["expect"]["ret"] == -4 and not str(v["args"][0])[:1].isdigit())
    assert len(wanted) > 50
    assert [f.vector for f in report.findings] == wanted
    codes = (Difference("ret", "PFMLIB_ERR_NOTFOUND (-4)", "PFMLIB_ERR_UMASK (-22)"),)
    assert {(f.kind, f.differences) for f in report.findings} == {("value", codes)}
    assert report.status == 4
    first = report.findings[0]
    assert first.call.startswith(f"{first.function}(\"")
    assert first.call.endswith(f"\") on {wanted[0]['pmu']}")


def test_two_fields_swapped(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", "\targ->idx = r.idx;\n\targ->cpu = cpu;\n",
                      "\targ->idx = cpu;\n\targ->cpu = r.idx;\n")
    report = checked(library, only=("encode",))
    wanted = about("pfm4", lambda v: v["kind"] == "encode" and v["os"] != "none" and v["expect"]["ret"] == 0)
    assert [f.vector for f in report.findings] == wanted
    for finding, vector in zip(report.findings, wanted, strict=True):
        index, cpu = str(vector["expect"]["idx"]), str(vector["expect"]["cpu"])
        assert finding.differences == (Difference("idx", index, cpu), Difference("cpu", cpu, index))


def test_a_register_value(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, "registers.c", ", num, value, at);\n",
                      ", num, num == 15 ? value ^ 1 : value, at);\n")
    report = checked(library, only=("dispatch",))
    wanted = about("pfm3", lambda v: v["kind"] == "dispatch" and 15 in [row[0] for row in v["expect"].get("pmcs", [])])
    assert [f.vector for f in report.findings] == wanted
    for finding, vector in zip(report.findings, wanted, strict=True):
        place, value = next((i, row[3]) for i, row in enumerate(vector["expect"]["pmcs"]) if row[0] == 15)
        assert finding.differences == (Difference(f"pmcs[{place}].value", value, hex(int(value, 16) ^ 1)),)


def test_a_byte_after_a_buffer(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, "api.c", "\tstrcpy(name, event->name);\n",
                      "\tstrcpy(name, event->name);\n\tname[maxlen] = 0;\n")
    report = checked(library, only=("call", "query"))
    calls = [f for f in report.findings if f.function == "pfm_get_event_name"]
    assert [f.vector for f in calls] == about(
        "pfm3", lambda v: v.get("call") == "pfm_get_event_name" and v["expect"]["ret"] == 0)
    assert {f.differences for f in calls} == {(Difference("overrun", "absent", "true"),)}
    assert counted(report) == {"pfm_get_event_name": (len(calls), 0), "queries": (497 + 637 + 230, 0)}


def test_more_registers_than_there_is_room_for(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, "encode.c", "\t\tanswer->pmd_count = answer->pmds_written;\n",
                      "\t\tanswer->pmd_count = 0xffffffff;\n")
    report = checked(library, only=("dispatch",))
    assert [f.vector for f in report.findings] == about("pfm3", lambda v: v["kind"] == "dispatch" and not v["expect"]["ret"])
    assert {(d.field, d.got) for f in report.findings for d in f.differences} == {("pmds", "4294967295 of 512")}


def test_an_error_where_something_is_expected_to_be_started(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, "api.c", "pfm_force_pmu(int type)\n{\n",
                      "pfm_force_pmu(int type)\n{\n\tif (type == PFMLIB_MONTECITO_PMU)\n\t\treturn PFMLIB_ERR_BADHOST;\n")
    report = checked(library)
    assert report.findings == [replace(report.findings[0], kind="value", function="pfm_force_pmu", call="pfm_force_pmu(4)",
                               differences=(Difference("ret", "PFMLIB_SUCCESS (0)", "PFMLIB_ERR_BADHOST (-19)"),))]
    forced = about("pfm3", lambda v: v.get("pmu") == "montecito" and "cpuid3" not in v)
    assert sum(t.not_run for t in report.tallies.values()) == len(forced)


# ---- crashes and hangs --------------------------------------------------------------------------

@pytest.mark.parametrize(("code", "kind", "how"), first([
    ("raise(SIGRTMIN + 3);", "crash", "signal 37"),
    ("{ sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); for (;;) pause(); }", "hang",
     "no answer in time"),
    ("raise(SIGSTOP);", "hang", "no answer in time"),
    ("_exit(3);", "crash", "ended the process with status 3"),
    ("for (char *p; (p = malloc(1 << 28)); ) memset(p, 1, 1); abort();", "crash", "SIGABRT"),
], 2), ids=lambda value: value if " " not in value and ";" not in value else "")
def test_one_event_ends_the_process(code: str, kind: str, how: str, tmp_path: Path) -> None:
    library = with_code(EVENT_NAME, tmp_path, f"if ({CYCLES}) {{ {code} }}")
    report = checked(library, only=("call", "query"))
    wanted = about("pfm3", asks_for("CPU_CYCLES"))
    assert len(wanted) in (1, 2, 3)
    assert [f.vector for f in report.findings] == wanted
    assert {(f.kind, f.differences) for f in report.findings} == {(kind, ended(how))}
    assert set(counted(report)) == {function_of(v) for v in wanted}
    assert sum(t.not_run for t in report.tallies.values()) == 0
    assert report.status == 4


@pytest.mark.long
@pytest.mark.parametrize("code", [
    "for (int fd = 3; fd < 50; fd++) (void)!write(fd, \"chatter\\n\", 8);",
    "(void)!read(0, name, 1);",
])
def test_noise_is_no_difference(code: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    library = with_code(("api.c", EVENT_NAME[1]), tmp_path, code)
    report = checked(library, only=("call", "query"))
    assert report.findings == []
    assert report.notes == []
    assert sum(t.run for t in report.tallies.values()) > 3334 + 497 + 637 + 230
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
@pytest.mark.parametrize(("code", "stream", "text"), [
    ('puts("{\\"done\\": true}");', "stdout", '{"done": true}\n'), ('fputs("chatter\\n", stderr);', "stderr", "chatter\n"),
    ('for (int i = 0; i < 50000; i++) puts("chatter");', "stdout", 512 * "chatter\n"),
])
def test_what_is_printed_is_a_difference(code: str, stream: str, text: str, tmp_path: Path) -> None:
    library = with_code(("api.c", EVENT_NAME[1]), tmp_path, f"if ({CYCLES}) {{ {code} }}")
    report = checked(library, only=("call", "query"))
    assert [f.vector for f in report.findings] == about("pfm3", asks_for("CPU_CYCLES"))
    assert {d for f in report.findings for d in f.differences} == {Difference(stream, "absent", text)}


@pytest.mark.long
def test_what_is_printed_by_no_call(tmp_path: Path) -> None:
    """While the library is loaded, and at the end."""
    extra = tmp_path / "early.c"
    extra.write_text("#include <stdio.h>\n" + CONSTRUCTOR % 'fputs("hello\\n", stderr);' +
                     '__attribute__((destructor)) static void late(void) { puts("goodbye"); fflush(stdout); }\n')
    report = checked(build_library(PFM3, tmp_path, sources=[*objects(PFM3).values(), extra]), only=("call",))
    assert [(f.function, f.differences) for f in report.findings] == [
        ("process", (Difference("stdout", "", "goodbye\n"), Difference("stderr", "", "hello\n")))]


@pytest.mark.long
def test_what_was_asked_for_may_be_printed(tmp_path: Path) -> None:
    library = with_code(("api.c", EVENT_NAME[1]), tmp_path, 'fputs("chatter\\n", stderr);')
    verbose = [v | {"env": {"LIBPFM_VERBOSE": "1"}} for v in recorded("pfm3") if v.get("call") == "pfm_get_event_name"][:9]
    assert runner.run(str(library), vectors=verbose).findings == []
    options = [v for v in vectors.recorded("pfm3") if v["id"] == "options-itanium2"]
    assert options
    assert runner.run(str(library), vectors=options).findings == []


@pytest.mark.long
@pytest.mark.parametrize(("code", "kind", "most"), [("abort();", "crash", 20), ("for (;;) pause();", "hang", 3)])
def test_a_function_that_always_ends_is_given_up(code: str, kind: str, most: int, tmp_path: Path) -> None:
    library = with_code(DISPATCH, tmp_path, code)
    reports = [replace(checked(library, jobs, timeout=1.0 if kind == "hang" else TIMEOUT), seconds=0) for jobs in (1, 2)]
    # Calls that are refused before they come to that place run on until the function is given up.
    tally = reports[0].tallies["pfm_dispatch_events"]
    assert [f.kind for f in reports[0].findings] == [kind] * most
    assert {f.function for f in reports[0].findings} == {"pfm_dispatch_events"}
    assert tally.differ == most
    calls = about("pfm3", lambda v: v["kind"] == "dispatch")
    assert tally.run + tally.not_run == len(calls) > 2000
    assert tally.not_run > len(calls) - 155
    assert counted(reports[0]) == {"pfm_dispatch_events": (most, tally.not_run)}
    assert reports[0] == reports[1]


@pytest.mark.parametrize(("code", "kind", "how", "times"), first([
    ("abort();", "crash", "SIGABRT", 7), ("for (;;) pause();", "hang", "no answer in time", 3)]))
def test_initialisation_ends_the_process(code: str, kind: str, how: str, times: int, tmp_path: Path) -> None:
    library = with_code(INITIALIZE3, tmp_path, code)
    reports = [replace(checked(library, jobs, timeout=1.0), seconds=0) for jobs in (1, 2)]
    assert {(f.kind, f.function, f.differences) for f in reports[0].findings} == {(kind, "pfm_initialize", ended(how))}
    # Three PMUs, forced and detected; the generic one by the environment.
    assert {f.call for f in reports[0].findings} <= {
        "pfm_initialize()", "pfm_initialize() LIBPFM_IA64_CPUID3=0x1f010504",
        "pfm_initialize() LIBPFM_IA64_CPUID3=0x20000704", "pfm_initialize() LIBPFM_IA64_CPUID3=0x07000804",
        "pfm_initialize() LIBPFM_FORCE_PMU=1"}
    assert len(reports[0].findings) == times
    before = about("pfm3", lambda v: v["kind"] == "call" and v["pmu"] is None)  # needs no initialisation
    assert sum(t.run for t in reports[0].tallies.values()) == len(before) + times
    assert reports[0] == reports[1]


def test_initialisation_crashes_in_one_environment(tmp_path: Path) -> None:
    library = with_code(INITIALIZE4, tmp_path, 'if (getenv("LIBPFM_DISABLED_PMUS")) abort();')
    report = checked(library)
    wanted = about("pfm4", lambda v: "LIBPFM_DISABLED_PMUS" in v["env"])
    groups = {tuple(v["env"].items()) for v in wanted}
    assert len(report.findings) == len(groups) == 5
    assert {(f.function, f.kind, f.differences) for f in report.findings} == {("pfm_initialize", "crash", ended("SIGABRT"))}
    assert "pfm_initialize() LIBPFM_DISABLED_PMUS=raw" in [f.call for f in report.findings]
    assert sum(t.not_run for t in report.tallies.values()) == len(wanted)


def test_initialisation_fails(tmp_path: Path) -> None:
    library = with_code(INITIALIZE4, tmp_path, "return PFM_ERR_NOMEM;")
    report = checked(library)
    assert {f.differences for f in report.findings} == {(Difference("ret", "PFM_SUCCESS (0)", "PFM_ERR_NOMEM (-7)"),)}
    assert len(report.findings) == 16 + 7
    assert sum(t.not_run for t in report.tallies.values()) == len(recorded("pfm4"))


CONSTRUCTOR = "#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void early(void) { %s }\n"


def test_loading_ends_the_process(tmp_path: Path) -> None:
    extra = tmp_path / "early.c"
    extra.write_text(CONSTRUCTOR % "exit(0);")
    library = build_library(PFM3, tmp_path, sources=[*objects(PFM3).values(), extra])
    report = checked(library, timeout=1.0)
    assert report.findings == [Finding("crash", "dlopen", f"dlopen({library})", ended("ended the process with status 0"))]
    assert counted(report) == {"dlopen": (1, 0)}
    assert report.library.loaded == str(library)
    done = pypfm("conform", library, "--timeout", 1)
    assert done.returncode == 4
    assert done.stderr == ""


def test_loading_ends_the_process_in_one_environment(tmp_path: Path) -> None:
    extra = tmp_path / "early.c"
    extra.write_text(CONSTRUCTOR % 'if (getenv("LIBPFM_IA64_CPUID3")) abort();')
    report = checked(build_library(PFM3, tmp_path, sources=[*objects(PFM3).values(), extra]))
    assert [(f.function, f.differences) for f in report.findings] == [("dlopen", ended("SIGABRT"))] * 3
    assert report.findings[0].call.endswith("LIBPFM_IA64_CPUID3=0x1f010504")
    detected = about("pfm3", lambda v: "cpuid3" in v)
    assert sum(t.not_run for t in report.tallies.values()) == len(detected)


def test_half_a_file_crashes_the_loader(tmp_path: Path) -> None:
    half = tmp_path / "half.so"
    half.write_bytes(PFM3.path.read_bytes()[:5000])
    done = pypfm("conform", half)
    assert done.returncode in (1, 4)  # as the loader takes it
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.long
def test_what_a_library_leaves_behind_is_ended(tmp_path: Path) -> None:
    """Also what is in a session of its own; nobody waits for it, though it holds all descriptors, and it is a finding."""
    pids = tmp_path / "pids"
    code = f"""
        static int calls;
        if (calls++ % 50 == 0 && fork() == 0) {{
            setsid();
            FILE *file = fopen("{pids}", "a");
            fprintf(file, "%d\\n", getpid());
            fclose(file);
            for (;;)
                pause();
        }}
    """
    some = [v for v in vectors.recorded("pfm4") if v["kind"] == "encode"][:1000]
    done = pypfm("conform", with_code(ENCODE, tmp_path / "library", code), "--vectors", vectors_file(some, tmp_path))
    assert (done.returncode, done.stderr) == (4, "")
    left = pids.read_text().split()
    assert len(left) > 2
    assert [pid for pid in left if Path(f"/proc/{pid}").exists()] == []


def test_a_function_that_is_not_exported(tmp_path: Path) -> None:
    version = tmp_path / "version.map"
    version.write_text("{ local: pfm_get_event_code; pfm_mont_is_etb; };\n")
    library = build_library(PFM3, tmp_path, f"-Wl,--version-script={version}", sources=[*objects(PFM3).values()])
    report = checked(library)
    assert report.findings == []
    count = len(about("pfm3", lambda v: v.get("call") == "pfm_get_event_code"))
    assert counted(report) == {"pfm_get_event_code": (0, count)}
    queries = len(about("pfm3", lambda v: v["kind"] == "query"))  # each would have made one more
    assert report.notes == [f"pfm_get_event_code() is not exported: {count + queries} calls of it were not made"]


def test_a_library_that_cannot_be_terminated(tmp_path: Path) -> None:
    """That is one finding, not one for each call that comes after."""
    version = tmp_path / "version.map"
    version.write_text("{ local: pfm_terminate; };\n")
    library = build_library(PFM4, tmp_path, f"-Wl,--version-script={version}", sources=[*objects(PFM4).values()])
    report = runner.run(str(library), vectors=[v for v in vectors.recorded("pfm4") if v["kind"] == "sequence"])
    assert report.findings == []
    assert report.tallies["pfm_find_event"].not_run > 0


# ---- two libraries --------------------------------------------------------------------------------

@pytest.mark.long
def test_a_broken_library_against_a_sound_one(tmp_path: Path) -> None:
    library = changed(PFM3, tmp_path, "api.c", "\tif (found < 0)\n\t\treturn PFMLIB_ERR_NOTFOUND;\n",
                      "\tif (found < 0)\n\t\treturn PFMLIB_ERR_UMASK;\n")
    report = runner.differential(str(library), str(PFM3.path), recorded, jobs=2)
    assert [(f.vector, f.differences) for f in report.findings] == [
        (f.vector, f.differences) for f in checked(library).findings]
    assert report.against is not None
    assert report.against.loaded == str(PFM3.path)


@pytest.mark.long
def test_the_other_library_crashes(tmp_path: Path) -> None:
    code = f"if ({CYCLES}) abort();"
    library = with_code(EVENT_NAME, tmp_path, code)
    wanted = about("pfm3", asks_for("CPU_CYCLES"))
    report = runner.differential(str(PFM3.path), str(library), recorded, jobs=2)
    assert report.findings == []
    assert report.notes == [f"{library} itself gave no answer to {len(wanted)} of {len(recorded('pfm3'))} calls: not compared"]
    both = runner.differential(str(library), str(library), recorded, jobs=2)
    assert [f.vector for f in both.findings] == wanted
    assert {f.kind for f in both.findings} == {"crash"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_who_ends_the_run_ends_everything(number: signal.Signals, tmp_path: Path) -> None:
    """While a call hangs, and would for long: no traceback, no process left."""
    library = with_code(INITIALIZE4, tmp_path, "for (;;) pause();")
    command = [str(part) for part in (PYPFM, "conform", library, "--timeout", 600, "--jobs", 2)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_env())
    wait_for(lambda: len(users(library)) >= 1)
    process.send_signal(number)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == -number
    wait_for(lambda: not users(library))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def users(library: Path) -> list[Path]:
    """The processes in which a library is loaded."""
    found = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):  # a process that has ended
            found += [maps] if str(library) in maps.read_text() else []
    return found


@pytest.mark.long
def test_a_run_and_a_comparison_in_one_report(tmp_path: Path) -> None:
    library = changed(PFM4, tmp_path, "api.c", "\targ->idx = r.idx;\n\targ->cpu = cpu;\n",
                      "\targ->idx = r.idx;\n\targ->cpu = cpu + 1;\n")
    some = recorded("pfm4")[::20]
    one, other = checked(library), runner.differential(str(library), str(PFM4.path), lambda _: some)
    both = runner.merged(one, other)
    assert both.findings == [*one.findings, *other.findings]
    assert (both.library, both.against) == (one.library, other.against)
    for name, tally in both.tallies.items():
        parts = [report.tallies[name] for report in (one, other) if name in report.tallies]
        assert (tally.run, tally.differ) == (sum(p.run for p in parts), sum(p.differ for p in parts))
    assert both.tallies["pfm_get_os_event_encoding"].run == sum(v["kind"] == "encode" for v in [*recorded("pfm4"), *some])
    assert len(other.findings) > 5
