"""The command line, as its user runs it: output, schemas, mistakes, exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import TESTS, coded, run
from pypfm import Itanium2, Pfm3Error, schemas
from terminal import PYPFM, on_terminal, pypfm
from valid import validate

pytestmark = pytest.mark.slow


def output(*args: object) -> str:
    done = pypfm(*args)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def encoded(*args: object) -> dict[str, Any]:
    """Output of encode, checked against its schema."""
    data = json.loads(output("encode", *args))
    validate(data, "encode")
    return data


def values(data: dict[str, Any]) -> dict[int, str]:
    return {r["num"]: r["value"] for r in data["pmcs"]}


@pytest.mark.parametrize(("command", "schema"), [
    (("pmus", "--json"), "pmus"),
    (("events", "-p", "itanium2", "--json"), "events"),
    (("events", "-p", "montecito", "--json", "L1*"), "events"),
    (("info", "-p", "itanium2", "--json", "DATA_EAR_ALAT"), "info"),
    (("events", "-p", "gen_ia64", "--json"), "events"),
    (("info", "-p", "gen_ia64", "--json", "CPU_CYCLES"), "info"),
    (("events", "-p", "glm", "--json"), "events_pfm4"),
    (("events", "-p", "perf", "--json", "*cache*"), "events_pfm4"),
    (("info", "-p", "glm", "--json", "offcore_response_0"), "info_pfm4"),
    (("encode", "-p", "glm", "OFFCORE_RESPONSE_0:WB", "BACLEARS:c=2:e"), "encode_pfm4"),
    (("encode", "-p", "itanium2", "LOADS_RETIRED", "--data-range", "0x1001-0x2003", "--json"), "encode"),
])
def test_json_follows_its_schema(command: tuple[str, ...], schema: str) -> None:
    validate(json.loads(output(*command)), schema)


@pytest.mark.parametrize("name", schemas.NAMES)
def test_schemas_are_schemas_and_refuse_other_data(name: str) -> None:
    schema = schemas.load(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"pmu": "pentium"}, schema)


def test_every_schema_file_is_listed() -> None:
    directory = Path(schemas.__file__).parent
    assert {p.stem for p in directory.glob("*.json")} < set(schemas.NAMES)
    assert {"bench", "decode", "encode", "encode_pfm4", "events", "info", "pmus", "vector"} < set(schemas.NAMES)


def test_pmus_in_a_pipe() -> None:
    assert output("pmus").split() == [
        "itanium2", "montecito", "itanium", "gen_ia64", "ita", "ita2", "mont", "glm", "perf"]


def test_events_in_a_pipe_are_one_name_a_line() -> None:
    lines = output("events", "-p", "itanium2").splitlines()
    assert len(lines) == 497
    assert lines[179] == "CPU_CYCLES"
    assert output("events", "-p", "itanium2", "l1d_reads_set?").split() == ["L1D_READS_SET0", "L1D_READS_SET1"]


def test_events_on_a_terminal_are_a_table() -> None:
    text = on_terminal(100, "events", "-p", "montecito", "CPU_OP_CYCLES*")
    assert text.splitlines()[1].split() == ["event", "code", "umask", "description"]
    assert "CPU_OP_CYCLES_HALTED" in text
    assert max(map(len, text.splitlines())) <= 100


def test_info_says_what_the_queries_say() -> None:
    text = output("info", "-p", "montecito", "L3_INSERTS")
    for line in ("event:         L3_INSERTS", "code:          0xda", "unit mask:     M (code 3): modified",
                 "thread type:   floating", "group:         none"):
        assert line in text.splitlines()
    assert "data EAR, ALAT mode" in output("info", "-p", "itanium2", "DATA_EAR_ALAT")
    assert "kind:          records branches" in output("info", "-p", "itanium2", "BRANCH_EVENT").splitlines()
    assert "alias of:      BR_MISP_RETIRED:ALL_BRANCHES" in output("info", "-p", "glm", "MISPREDICTED_BRANCH_RETIRED").splitlines()


def test_encode_on_a_terminal_draws_the_registers() -> None:
    text = on_terminal(80, "encode", "-p", "itanium2", "NOPS_RETIRED,thres=2", "--code-range", "0x1010-0x1040")
    assert "PMC4       0x0000000000205028" in text
    assert "│ thres │" in text
    assert "code range covered (fine mode): 0x1010 to 0x1040 (exclusive)" in text
    assert max(map(len, text.splitlines())) <= 80


# ---- one test for each option of encode ------------------------------------------

@pytest.mark.parametrize(("args", "pmcs"), [
    ("CPU_CYCLES", {4: "0x1228"}),
    ("CPU_CYCLES --plm user,kernel", {4: "0x1229"}),
    ("CPU_CYCLES --plm 0,3", {4: "0x1229"}),
    ("CPU_CYCLES --plm kernel", {4: "0x1221"}),
    ("CPU_CYCLES,plm=0,3", {4: "0x1229"}),
    ("cpu_cycles --system-wide", {4: "0x1268"}),
    ("CPU_CYCLES --unavail 4,5", {6: "0x1228"}),
    ("NOPS_RETIRED,thres=5,ism=ia64", {4: "0x2505028", 15: "0xffffffff"}),
    ("NOPS_RETIRED,ism=2,thres=5", {4: "0x2505028", 15: "0xffffffff"}),
    ("CPU_CYCLES --plm user L1D_READS_SET0 --check manual L2_REFERENCES", {6: "0x1228", 5: "0xc228", 4: "0xb128"}),
    ("--iear tlb:0x1f,plm=0,1,ism=2", {10: "0x83e3", 15: "0xffffffff"}),
    ("--iear cache:0xff", {10: "0x3fe8", 15: "0xffffffff"}),
    ("--dear TLB:0xe", {11: "0xe0088", 15: "0xffffffff", 12: "0x0"}),
    ("--dear alat:0", {11: "0x108", 15: "0xffffffff", 12: "0x0"}),
    ("--btb ds=1,tm=2,ptm=1,ppm=3,brt=2,plm=0", {15: "0xffffffff", 12: "0xb681"}),
    ("--btb tm=3", {15: "0xffffffff", 12: "0x3f08"}),
    ("IA64_INST_RETIRED --pmc8 0xfff0123456789a", {4: "0x828", 8: "0xfff0123456789d", 15: "0xfffffffa"}),
    ("IA64_TAGGED_INST_RETIRED_IBRP1_PMC9 --pmc9 0xffffffffffffffff",
     {4: "0x10828", 9: "0xfffffffffffffffd", 15: "0xfffffffd"}),
    ("CPU_CYCLES,noqual --data-range 0x1000-0x2000", {4: "0x1228", 13: "0x2078fefefef6", 15: "0xffffffff"}),
    ("NOPS_RETIRED,thres=9 --check reference", {4: "0x105028", 15: "0xffffffff"}),
])
def test_itanium2_options(args: str, pmcs: dict[int, str]) -> None:
    assert values(encoded("-p", "itanium2", *args.split())) == pmcs


@pytest.mark.parametrize(("args", "pmcs"), [
    ("L3_INSERTS:M:I", {4: "0x4a00da08"}),
    ("IA64_INST_RETIRED --opcm1 m,i:0x14567890123:0x1fffffffff0 --plm 0,3",
     {4: "0x2000809", 32: "0x20c01fffffffff0", 33: "0x14567890123"}),
    ("IA64_INST_RETIRED --opcm2 m,i,f:5:0x1f --plm 0,3", {4: "0x2000809", 34: "0xe00000000001f", 35: "0x5"}),
    ("--etb tm=2,ptm=3,ppm=1,brt=3", {39: "0xde08"}),
    ("CPU_OP_CYCLES_ALL --ipear 255,plm=0,3 --plm 0,3", {4: "0x2001209", 42: "0x7fc09"}),
    ("L1I_FILLS --code-range 0x1000-0x2000 --demand-fetch --prefetch-match --plm 0,3",
     {4: "0x2004109", 38: "0x2924", 41: "0x6078fefeeeee", 32: "0xf01ffffffffff"}),
    ("IA64_INST_RETIRED --code-range 0x1000+0x1000 --invert --plm 0,3",
     {4: "0x2000809", 38: "0x2d34", 41: "0x2078fefefeee", 32: "0x10f01ffffffffff"}),
    ("IA64_INST_RETIRED --code-range 0x1000-0x2000 --no-fine --plm 0,3",
     {4: "0x2000809", 38: "0xdb4", 41: "0x2078fefefeee", 32: "0xf01ffffffffff"}),
])
def test_montecito_options(args: str, pmcs: dict[int, str]) -> None:
    assert values(encoded("-p", "montecito", *args.split())) == pmcs


@pytest.mark.parametrize(("args", "pmcs"), [
    ("FP_OPS_RETIRED_HI,thres=2,ism=ia64,plm=0", {4: "0x2200a21"}),
    ("CPU_CYCLES --system-wide --plm 0,3 --unavail 4", {5: "0x1269"}),
    ("--iear tlb:8,plm=0,1,ism=2", {10: "0x2080083"}),
    ("--dear cache:0xf", {11: "0x100f0008"}),
    ("--dear alat:0 --check reference", {11: "0x10000008"}),
    ("--btb tar=0,tac=1,bac=1,tm=3,ptm=1,ppm=2,plm=0 --check reference", {12: "0xc"}),
    ("IA64_INST_RETIRED --pmc8 0xfff0123456789a --pmc9 1", {4: "0x828", 8: "0xfff0123456789a", 9: "0x1"}),
    ("NOPS_RETIRED --code-range 0x1000+0x40", {4: "0x3028", 13: "0x0"}),
    ("LOADS_RETIRED --data-range 0x1000-0x2000 --cpuid3 0x07000804", {4: "0x6c28", 11: "0x8"}),
])
def test_itanium_options(args: str, pmcs: dict[int, str]) -> None:
    assert values(encoded("-p", "itanium", *args.split())) == pmcs


def test_generic_ia64_options(tmp_path: Path) -> None:
    data = encoded("-p", "gen_ia64", "CPU_CYCLES,plm=0", "IA64_INST_RETIRED", "--unavail", "4", "--system-wide")
    assert values(data) == {5: "0x1261", 6: "0x868"}
    pal = tmp_path / "perfmon_info"
    pal.write_text("PMC/PMD pairs : 4\nCounter width : 32\nCycle event number : 33\nRetired event number : 8\n"
                   "Implemented PMC : 0-7\nImplemented PMD : 4-7\nCycles count capable : 6-7\n"
                   "Retired bundles count capable : 4-7\n")
    assert values(encoded("-p", "gen_ia64", "CPU_CYCLES", "--pal", pal)) == {6: "0x2128"}
    done = pypfm("encode", "-p", "gen_ia64", "CPU_CYCLES", "--pal", tmp_path / "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert "is no perfmon_info" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_branch_buffer_of_itanium() -> None:
    """libpfm 3.10 loses its settings."""
    args = ("encode", "-p", "itanium", "CPU_CYCLES", "--btb", "tm=1,ptm=1")
    done = pypfm(*args)
    assert (done.returncode, done.stdout) == (1, "")
    assert "writes 12 into PMC12" in done.stderr
    assert "--corrected" in done.stderr
    assert values(encoded(*args[1:], "--corrected")) == {4: "0x1228", 12: "0xf588"}
    assert values(encoded(*args[1:], "--check", "reference")) == {4: "0x1228", 12: "0xc"}


def test_itanium_and_the_generic_pmu_on_a_terminal() -> None:
    text = on_terminal(80, "encode", "-p", "itanium", "BRANCH_EVENT", "--iear", "tlb:4", "--code-range", "0x1000-0x2000",
                       "--check", "reference", "--unavail", "5")
    assert "PMC12 = 0x000000000000000c" in text
    assert "code range covered: 0x1000 to 0x2000" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "IA64_INST_RETIRED" in on_terminal(80, "events", "-p", "gen_ia64")
    assert "gen_ia64" in on_terminal(80, "pmus")


@pytest.mark.parametrize(("args", "codes"), [
    ("-p glm OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:u", [["0x5101b7", "0x10001"]]),
    ("-p glm ICACHE:HIT --plm user,kernel BACLEARS", [["0x530180"], ["0x5301e6"]]),
    ("-p glm BACLEARS:e --check reference", [["0x5501e6"]]),
    ("-p glm CPU_CLK_UNHALTED --corrected", [["0x51003c"]]),
    ("-p glm LD_BLOCKS:4K_ALIAS:precise=1 --os perf_event_ext", [["0x510403"]]),
    ("-p perf task-clock:u", [["0x1"]]),
    ("-p perf LLC-STORES --os none", [["0x102"]]),
])
def test_libpfm4_options(args: str, codes: list[list[str]]) -> None:
    data = json.loads(output("encode", *args.split()))
    validate(data, "encode_pfm4")
    assert [e["codes"] for e in data["events"]] == codes


@pytest.mark.skipif(not Path("/proc/sys/kernel/perf_event_paranoid").exists(), reason="no perf_event interface")
def test_open_counts_for_real() -> None:
    done = pypfm("encode", "-p", "perf", "task-clock", "--open")
    if done.returncode:
        pytest.skip(f"the kernel refuses: {done.stderr}")
    data = json.loads(done.stdout)
    validate(data, "encode_pfm4")
    assert data["events"][0]["count"] > 0
    assert "counted" in on_terminal(100, "encode", "-p", "perf", "task-clock", "--open")


@pytest.mark.parametrize(("event", "unit", "modes"), [
    ("task-clock:u", "ns", ["user", "kernel"]), ("cpu-clock:k", "ns", ["user", "kernel"]),
    ("page-faults:u", "events", ["user"]), ("context-switches:k", "events", ["kernel"])])
def test_a_count_says_what_it_is_of(event: str, unit: str, modes: list[str]) -> None:
    """Whatever is excluded, the kernel counts both modes with a clock."""
    done = pypfm("encode", "-p", "perf", event, "--open")
    if "not permitted" in done.stderr:
        pytest.skip(f"the kernel refuses: {done.stderr}")
    data = json.loads(done.stdout)
    validate(data, "encode_pfm4")
    assert (data["events"][0]["unit"], data["events"][0]["modes"]) == (unit, modes)
    if event == "page-faults:u":
        assert data["events"][0]["count"] >= 16  # the loop touches as many pages
    assert f" {unit} in {' and '.join(modes)} mode" in on_terminal(100, "encode", "-p", "perf", event, "--open")


@pytest.mark.parametrize("event", ["context-switches", "cpu-migrations:u"])
def test_what_cannot_happen_in_user_mode_is_not_counted_there(event: str) -> None:
    done = pypfm("encode", "-p", "perf", event, "--open")
    assert (done.returncode, done.stdout) == (1, "")
    assert "it happens in kernel mode only, which is excluded; with modifier k" in done.stderr


def test_glm_on_a_terminal() -> None:
    text = on_terminal(110, "encode", "-p", "glm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:u")
    assert "glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0" in text
    assert "│ cmask │" in text
    assert max(map(len, text.splitlines())) <= 110
    assert "umasks" in on_terminal(90, "events", "-p", "glm", "*CACHE*")
    assert "stands for FULL_STRM_ST:PARTIAL_STRM_ST" in output("info", "-p", "glm", "OFFCORE_RESPONSE_1")


def test_range_levels_and_the_detected_processor() -> None:
    data = encoded("-p", "itanium2", "NOPS_RETIRED", "--code-range", "0x1010-0x1040@0",
                   "--code-range", "0x2020+0x30@kernel", "--cpuid3", "0x1f010504")
    irange = data["irange"]
    assert isinstance(irange, dict)
    assert [r["value"] for r in irange["registers"]] == [
        "0x1000", "0x1000000fffff000", "0x1030", "0x1000000fffff000",
        "0x2020", "0x1000000fffff000", "0x2050", "0x1000000fffff000"]
    assert irange["fine"] is True
    assert irange["ranges"] == [
        {"start": "0x1000", "end": "0x1040", "start_offset": "0x10", "end_offset": "0x0"},
        {"start": "0x2020", "end": "0x2060", "start_offset": "0x0", "end_offset": "0x10"}]


@pytest.mark.parametrize("text", ["0xffffffffffff0000+0x10000", "0xffffffffffff0000-0x10000000000000000"])
def test_a_range_that_ends_where_the_address_space_does(text: str) -> None:
    found = encoded("-p", "itanium2", "IA64_INST_RETIRED", "--code-range", text)["irange"]["ranges"]
    assert (found[0]["start"], found[-1]["end"]) == ("0xffffffffffff0000", "0x10000000000000000")


# ---- mistakes ----------------------------------------------------------------------

MISTAKES = [  # what Python says is in tests/ia64/test_refusals.py and tests/perf
    ("encode -p itanium2 CPU_CYCLE", "the nearest are CPU_CYCLES"),
    ("info -p montecito CPU_CYCLES", "the nearest are "),
    ("encode -p itanium2 CPU_CYCLES --code-range 0x1000-0x1100", "pypfm events -p itanium2 --code-range"),
    ("encode -p itanium2 CPU_CYCLES --cpuid3 0x20000704", "family"),
    ("encode -p montecito --ipear 256", "8 bits"),
    ("encode -p itanium LOADS_RETIRED --dear cache:0 --data-range 0x1000-0x2000", "PMC11 twice"),
    ("encode -p gen_ia64 CPU_CYCLES,ism=ia64", "no model-specific settings"),
    ("events -p itanium2 NO_SUCH_*", "no event of itanium2 matches"),
    ("encode -p glm BACLEARS:e", "needs a counter mask"),
    ("info -p perf cycels", "the nearest are CYCLES"),
    ("events -p glm mem_load", "no event of glm matches 'mem_load' (the whole name has to match, as with '*mem_load*')"),
    ("encode -p glm ICACHE:HIT --open", "no such counter"),
    ("encode -p itanium2 IA64_INST_RETIRED NOPS_RETIRED --pmc9 1", "event NOPS_RETIRED / opcode matcher 2: the second matcher"),
    ("encode -p itanium2 LOADS_RETIRED --data-range 16-16", "data range [0x10, 0x10): a range must start below its end"),
    ("info -p glm BACLEARS:u", "a name without unit masks and modifiers is expected: BACLEARS"),
    ("info -p perf cycles:u", "a name without unit masks and modifiers is expected: cycles"),
    ("encode -p glm BACLEARS:c=256", "BACLEARS: 'c=256': c takes 0 to 255\n"),
    ("encode -p perf cycles:period=0", "CYCLES: 'period=0': period takes a number above 0\n"),
]


@pytest.mark.parametrize(("command", "text"), MISTAKES)
def test_a_mistake_is_one_line_and_status_1(command: str, text: str) -> None:
    done = pypfm(*command.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert text in done.stderr
    assert len(done.stderr) < 240  # three lines of a terminal


WRONG_USAGE = [
    "frobnicate", "encode", "encode CPU_CYCLES", "encode -p pentium CPU_CYCLES", "encode -p itanium2",
    "encode -p itanium2 CPU_CYCLES,thres", "encode -p itanium2 CPU_CYCLES,colour=3",
    "encode -p itanium2 CPU_CYCLES,thres=1,thres=2", "encode -p itanium2 CPU_CYCLES --plm users",
    "encode -p itanium2 CPU_CYCLES --code-range 0x1000", "encode -p itanium2 CPU_CYCLES --code-range a-b",
    "encode -p itanium2 CPU_CYCLES --code-range 0x1000-0x10000000000000001",
    "encode -p itanium2 NOPS_RETIRED --code-range 0x10000000000000000+0",
    "encode -p itanium2 CPU_CYCLES --iear 3", "encode -p itanium2 CPU_CYCLES --unavail four",
    "encode -p itanium2 CPU_CYCLES --opcm1 m:1:1", "encode -p itanium2 CPU_CYCLES --ipear 1",
    "encode -p montecito CPU_OP_CYCLES_ALL --pmc8 1", "encode -p montecito CPU_OP_CYCLES_ALL --opcm1 x:1:1",
    "encode -p montecito CPU_OP_CYCLES_ALL --opcm1 m:1", "encode -p itanium2 CPU_CYCLES --check sometimes",
    "encode -p itanium2 CPU_CYCLES --no-such-option", "encode -p itanium2 CPU_CYCLES --plm user X,bad",
    "encode -p glm", "encode -p glm ICACHE:HIT --pmc8 1", "encode -p perf cycles --corrected",
    "encode -p itanium CPU_CYCLES --btb ds=1", "encode -p itanium2 CPU_CYCLES --btb tar=1", "encode -p itanium",
    "encode -p itanium NOPS_RETIRED --invert", "encode -p itanium NOPS_RETIRED --etb tm=3", "encode -p gen_ia64",
    "encode -p gen_ia64 CPU_CYCLES --cpuid3 0", "encode -p gen_ia64 CPU_CYCLES --code-range 0-16",
    "encode -p itanium CPU_CYCLES --pal x", "encode -p itanium2 CPU_CYCLES --pal x",
    "encode -p itanium2 CPU_CYCLES --os none", "encode -p montecito CPU_OP_CYCLES_ALL --open",
    "encode -p glm ICACHE:HIT --os windows", "encode -p glm ICACHE:HIT --code-range 0-16",
    "encode -p itanium2 --perf", "encode -p glm ICACHE:HIT --perf --os none", "encode -p itanium2 CPU_CYCLES --perf --unavail 4",
    "encode -p itanium2 CPU_CYCLES --perf --pmc8 1", "encode -p montecito CPU_OP_CYCLES_ALL --ipear 010",
    "conform --report pdf pfm3 libpfm.so.3", "conform --report html pfm3 libpfm.so.3",
    "config", "config pfm3", "config --library pfm9", "info -p itanium2", "events",
]


@pytest.mark.parametrize("command", WRONG_USAGE)
def test_wrong_usage_is_one_line_and_status_2(command: str) -> None:
    done = pypfm(*command.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pypfm")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", [b"\xff\xfe", b"", b"A" * 100000, b"CPU_CYCLES\n", "\N{SNOWMAN}".encode(), b":", b","])
def test_strange_event_names(name: bytes) -> None:
    done = subprocess.run([os.fsencode(PYPFM), b"encode", b"-p", b"itanium2", name], capture_output=True, cwd=TESTS)
    assert done.returncode in (1, 2)
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f"{PYPFM} events -p montecito --json | head -n 1"
    done = run("sh", "-c", script)
    assert (done.stdout, done.stderr) == ("[\n", "")


def test_module_and_version() -> None:
    done = run(sys.executable, "-m", "pypfm", "--version")
    assert done.stdout.split() == ["pypfm", "0.1.0"]
    help_text = run(sys.executable, "-m", "pypfm", "--help").stdout
    assert all(name in help_text for name in ("pmus", "events", "info", "encode", "config"))


def test_config_builds_a_program(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text("#include <perfmon/pfmlib_itanium2.h>\n"
                      "int main(void) { unsigned int v; return pfm_get_version(&v) || v != PFMLIB_VERSION; }\n")
    command = f"cc {source} -o {tmp_path}/prog $({PYPFM} config --cflags --libs pfm3) && {tmp_path}/prog"
    done = run("sh", "-c", command)
    assert (done.returncode, done.stderr) == (0, "")
    source.write_text("#include <perfmon/pfmlib_perf_event.h>\n"
                      "int main(void) { return pfm_get_version() != LIBPFM_VERSION || pfm_initialize(); }\n")
    done = run("sh", "-c", command.replace("pfm3", "pfm4"))
    assert (done.returncode, done.stderr) == (0, "")
    path = Path(output("config", "--library", "pfm3").strip())
    assert path.name == "libpfm.so.3"
    assert path.is_file()
    assert output("config", "--cflags", "pfm3").startswith("-I")
    assert "-rpath" in output("config", "--libs", "pfm3")
    archive = Path(output("config", "--static", "--library", "pfm3").strip())
    assert (archive.name, archive.parent) == ("libpfm.a", path.parent)
    assert output("config", "--static", "--libs", "pfm3").split() == [
        str(archive), "-pthread", "-Wl,--wrap=mmap", "-Wl,--wrap=mmap64"]
    assert len(output("config", "--static", "--libs", "pfm4").split()) == 1
    done = run("sh", "-c", command.replace("--cflags", "--static --cflags").replace("pfm3", "pfm4"))
    assert (done.returncode, done.stderr) == (0, "")


# ---- which events can be restricted ------------------------------------------------------

QUALIFIERS = {"code-range": ("--code-range 0x1000-0x1100", "a code range"), "data-range": ("--data-range 0x1000-0x1100", "a data range"),
              "opcode-match": ("--pmc8 1", "an opcode matcher")}


@pytest.mark.parametrize(("pmu", "qualifier"), [*(("itanium2", qualifier) for qualifier in QUALIFIERS), ("montecito", "opcode-match")])
def test_a_qualifier_that_an_event_lacks(pmu: str, qualifier: str) -> None:
    """The message names event and qualifier; what it says to write works."""
    option, what = QUALIFIERS[qualifier]
    option = option.replace("--pmc8 1", "--opcm1 m:1:1") if pmu == "montecito" else option
    event = "CPU_OP_CYCLES_ALL" if pmu == "montecito" else "CPU_CYCLES"
    done = pypfm("encode", "-p", pmu, event, *option.split())
    command = f"pypfm events -p {pmu} --{qualifier}"
    assert (done.returncode, done.stderr) == (1, f"pypfm encode: {event} cannot be restricted by {what}; to count all the same:"
                                                 f" {event},noqual (no_qualcheck); events that can be: {command}\n")
    assert pypfm("encode", "-p", pmu, f"{event},noqual", *option.split()).returncode == 0
    can = output(*command.split()[1:]).split()
    assert event not in can
    refused = pypfm("encode", "-p", pmu, can[0], *option.split()).stderr
    assert "cannot be restricted" not in refused


def test_several_events_that_lack_several_qualifiers() -> None:
    done = pypfm("encode", "-p", "itanium2", "CPU_CYCLES", "LOADS_RETIRED", "BACK_END_BUBBLE_ALL", "--code-range", "0-16",
                 "--data-range", "0-16")
    assert done.stderr == (
        "pypfm encode: CPU_CYCLES and BACK_END_BUBBLE_ALL cannot be restricted by a code range or a data range; to count all the"
        " same: CPU_CYCLES,noqual (no_qualcheck); events that can be: pypfm events -p itanium2 --code-range --data-range\n")
    done = pypfm("encode", "-p", "itanium2", "IA64_INST_RETIRED", "CPU_CYCLES,noqual", "NOPS_RETIRED", "--data-range", "0-16", "--code-range", "0-16")
    assert "IA64_INST_RETIRED and NOPS_RETIRED cannot be restricted by a data range; to" in done.stderr


def test_python_says_the_same() -> None:
    with pytest.raises(Pfm3Error, check=coded("PFMLIB_ERR_FEATCOMB")) as caught:
        Itanium2().encode(["CPU_CYCLES"], code_ranges=[(0x1000, 0x1100)])
    done = pypfm("encode", "-p", "itanium2", "CPU_CYCLES", "--code-range", "0x1000-0x1100")
    assert done.stderr == f"pypfm encode: {caught.value}\n"


def test_ranges_and_levels_of_an_event_of_its_own() -> None:
    done = pypfm("encode", "-p", "itanium2", "IA64_INST_RETIRED,plm=kernel", "--code-range", "0x1000-0x1100")
    assert "IA64_INST_RETIRED: with ranges, an event cannot have privilege levels of its own" in done.stderr
    assert pypfm("encode", "-p", "itanium2", "IA64_INST_RETIRED", "--plm", "kernel", "--code-range", "0x1000-0x1100").returncode == 0


def test_events_by_what_can_restrict_them() -> None:
    both = output("events", "-p", "itanium2", "--code-range", "--data-range").split()
    pmu = Itanium2()
    assert both == [e.name for e in pmu.events if e.supports_code_range and e.supports_data_range]
    assert 0 < len(both) < len(pmu)
    done = pypfm("events", "-p", "itanium2", "--code-range", "CPU_CYCLES")
    assert (done.returncode, done.stderr) == (1, "pypfm events: no event of itanium2 matches 'CPU_CYCLES' --code-range"
                                               " (without a pattern: all that it has)\n")
    done = pypfm("events", "-p", "glm", "--code-range")
    assert (done.returncode, done.stderr) == (
        2, "pypfm events: --code-range: events of glm cannot be restricted (see pypfm events --help)\n")


# ---- messages -----------------------------------------------------------------------------

MESSAGES = [
    ("encode -p itanium2 IA64_INST_RETIRED --invert", "no range is given"),
    ("encode -p itanium2 CPU_CYCLES,thres=-1", "argument EVENT: 'CPU_CYCLES,thres=-1': '-1' is negative"),
    ("encode -p itanium2 CPU_CYCLES,ism=ia16", "ism=ia16: expected both, ia32, ia64"),
    ("encode -p itanium2 CPU_CYCLES --bogus", "pypfm encode: unrecognized arguments: --bogus (see pypfm encode --help)"),
    ("encode -p itanium2 CPU_CYCLES --code-ragne=0", "arguments: --code-ragne=0; the nearest are --code-range, --data-range (see"),
    ("events -p itanium2 A B", "pypfm events: unrecognized arguments: B (see pypfm events --help)"),
]


@pytest.mark.parametrize(("command", "text"), MESSAGES)
def test_a_message_says_what_and_what_instead(command: str, text: str) -> None:
    done = pypfm(*command.split())
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert text in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 240  # three lines of a terminal
