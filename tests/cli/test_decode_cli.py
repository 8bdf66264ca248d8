"""pypfm decode, as its user runs it: pictures, JSON, SVG, pipes, mistakes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import clean_env, run
from fresh import fresh_command
from pypfm import PfmError
from pypfm.cli import build_parser
from terminal import PYPFM, on_terminal, pypfm
from tools import first
from valid import validate

REGISTERS = ("PMC4=0x505028", "pmc14=0x2d34", "IBR0=0x1010", "IBR1=0x8000000fffff000", "IBR4=0x1030",
             "IBR5=0x8000000fffff000")


def decoded(*args: object) -> dict[str, Any]:
    """Output of decode, checked against its schema."""
    done = pypfm("decode", *args)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    validate(data, "decode")
    return data


def test_json_of_registers() -> None:
    data = decoded("-p", "itanium2", *REGISTERS, "--json", "PMD4=5")
    assert [r["name"] for r in data["registers"]] == ["PMC4", "PMC14", "PMD4", "IBR0", "IBR1", "IBR4", "IBR5"]
    assert data["registers"][0]["meaning"] == {
        "kind": "counter", "events": ["NOPS_RETIRED"], "plm": 8, "threshold": 5, "ism": 0, "system_wide": False}
    assert data["registers"][0]["fields"][0] == {"name": "plm", "bit": 0, "width": 4, "value": "0x8"}
    assert data["ranges"] == [{"kind": "range", "what": "code", "registers": ["IBR0", "IBR1", "IBR4", "IBR5"],
                               "start": "0x1010", "end": "0x1040", "plm": 8, "fine": True}]


def test_json_of_a_trace_buffer() -> None:
    data = decoded("-p", "montecito", "PMD39=0x1", "PMD48=0x4000000000001235", "--etb")
    (entry,) = data["trace"]
    assert (entry["entry"], entry["address"], entry["slot"]) == ("source", "0x4000000000001240", 1)
    assert decoded("-p", "montecito", "PMD48=0x4000000000001235", "--ipear")["trace"][0]["entry"] == "instruction"


def test_json_of_goldmont_and_perf() -> None:
    data = decoded("-p", "glm", "code=0x5101b7", "offcore=0x18000")
    assert data["offcore"]["requests"] == ["ANY_REQUEST"]
    assert data["candidates"][0]["string"] == "glm::OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE:k=0:u=1:e=0:i=0:c=0"
    data = decoded("-p", "perf", "type=3", "config=0x10000", "exclude_kernel=1")
    assert data["candidates"][0]["aliases"] == ["L1-DCACHE-LOAD-MISSES"]


def test_registers_are_drawn_on_a_terminal() -> None:
    text = on_terminal(80, "decode", "-p", "itanium2", *REGISTERS)
    for line in ("PMC4 = 0x0000000000505028", "│ thres │", "event        NOPS_RETIRED",
                 "threshold    counts cycles with more than 5 occurrences", "code pairs on  pair 0, pair 2",
                 "code, fine   0x1010   0x1040"):
        assert line in text, text
    assert max(map(len, text.splitlines())) <= 80


def test_data_registers_are_drawn_on_a_terminal() -> None:
    text = on_terminal(80, "decode", "-p", "montecito", "PMD38=1", "PMD39=0x3", "PMD48=0x1235", "PMD33=0x4005",
                       "PMC4=0xff08")
    for line in ("│ 48:b1 │", "next entry  PMD49", "slot 1, correctly predicted, flushed", "latency  5 cycles",
                 "note: ism = 0: the encoder writes 2", "none has this code and unit mask"):
        assert line in text, text
    assert max(map(len, text.splitlines())) <= 80


def test_nothing_is_left_out_on_a_narrow_terminal() -> None:
    drawn = on_terminal(40, "decode", "-p", "montecito", "PMD38=2", "PMD39=1", "PMD48=0x4000000000001235", "--etb")
    assert "predicted" in drawn


@pytest.mark.parametrize("args", [("-p", "glm", "code=0x5300c0"), ("-p", "glm", "code=0x1300c0"),
                                  ("-p", "glm", "offcore=0x10001"), ("-p", "perf", "type=2", "config=7")])
def test_codes_are_drawn_on_a_terminal(args: tuple[str, ...]) -> None:
    text = on_terminal(80, "decode", *args)
    expected = {"code=0x5300c0": "INSTRUCTIONS_RETIRED", "code=0x1300c0": "note: en = 0: the library writes 1",
                "offcore=0x10001": "DMND_DATA_RD", "config=7": "note: a tracepoint"}[args[-1]]
    assert expected in text
    assert max(map(len, text.splitlines())) <= 80


# ---- SVG ----------------------------------------------------------------------------------------


def test_svg_is_well_formed_and_self_contained(tmp_path: Path) -> None:
    file = tmp_path / "registers.svg"
    data = decoded("-p", "itanium2", *REGISTERS, "--svg", file)
    assert data["pmu"] == "itanium2"
    text = file.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = " ".join("".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")).replace("\xa0", " ")
    for word in ("PMC4", "NOPS_RETIRED", "thres", "0x1040"):
        assert word in words
    # Nothing is fetched: the name space is the only address.
    assert text.count("://") == 1
    for outside in ("@import", "@font-face", "url(http", "href"):
        assert outside not in text


def test_svg_of_codes(tmp_path: Path) -> None:
    file = tmp_path / "code.svg"
    decoded("-p", "glm", "code=0x5300c0", "--svg", file)
    assert "IA32_PERFEVTSEL" in file.read_text(encoding="utf-8")
    done = pypfm("decode", "-p", "glm", "code=0x5300c0", "--svg", tmp_path / "no" / "code.svg")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pypfm decode: cannot write {tmp_path}/no/code.svg: No such file or directory\n"


# ---- what encode wrote --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("args", [
    ("-p", "itanium2", "IA64_INST_RETIRED", "--code-range", "0x1000+0x40", "--dear", "tlb:0xe"),
    ("-p", "montecito", "L3_INSERTS:M", "--etb", "tm=2"),
    ("-p", "montecito", "LOADS_RETIRED", "--data-range", "0x1001-0x2003"),
    ("-p", "glm", "OFFCORE_RESPONSE_0:DMND_DATA_RD:c=3"),
    ("-p", "glm", "ICACHE:HIT:k", "--os", "perf_event"),
    ("-p", "perf", "L1-DCACHE-LOADS:u"),
])
def test_encode_in_a_pipe_and_in_a_file(args: tuple[str, ...], tmp_path: Path) -> None:
    written = pypfm("encode", *args, "--json").stdout
    file = tmp_path / "encoded.json"
    file.write_text(written, encoding="utf-8")
    piped = fresh_command(PYPFM, "decode", *args[:2], "-", "--json", text=written)
    assert piped.stderr == ""
    data = json.loads(piped.stdout)
    validate(data, "decode")
    assert decoded(*args[:2], "--from", file) == data
    event = args[2].partition(":")[0]
    if "registers" in data:
        assert event in data["registers"][0]["meaning"]["events"][0]
        encoded = json.loads(written)
        debug = [r["value"] for name in ("irange", "drange") for r in (encoded[name] or {"registers": []})["registers"]]
        assert sorted(r["value"] for r in data["registers"]) == sorted([r["value"] for r in encoded["pmcs"]] + debug)
    else:
        assert event in [n for c in data["candidates"] for n in (c["event"], *c["aliases"])]


@pytest.mark.parametrize(("pmu", "text", "message"), [
    ("itanium2", "", "standard input is not JSON of pypfm encode, and no line has the value of a register, such as PMC4=0x1228"),
    ("itanium2", "{", "standard input is not JSON"),
    ("itanium2", "[" * 100_000, "standard input is not JSON"),
    ("itanium2", "[]", "standard input is not what pypfm encode --json writes"),
    ("itanium2", '{"pmu": "itanium2"}', "standard input is not what pypfm encode --json writes"),
    ("itanium2", '{"pmu": "itanium2", "pmcs": [{"num": 4, "value": "x"}]}', "standard input is not what"),
    ("itanium2", '{"pmu": "montecito"}', "standard input is of 'montecito', not of itanium2"),
    ("glm", '{"pmu": "glm", "os": "none", "events": []}', "standard input holds 0 events; decode takes one"),
    ("glm", '{"pmu": "glm", "os": "none", "events": [{}]}', "standard input is not what pypfm encode --json writes"),
    ("itanium2", '{"pmu": "itanium2", "pmcs": [{"num": 99, "value": "0x0"}], "irange": null, "drange": null, "pmds": []}',
     "itanium2 has no register 'PMC99'"),
])
def test_wrong_input(pmu: str, text: str, message: str) -> None:
    done = fresh_command(PYPFM, "decode", "-p", pmu, "-", text=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.startswith("pypfm decode: ")
    assert done.stderr.count("\n") == 1


# ---- mistakes -----------------------------------------------------------------------------------


# ---- what programs print ------------------------------------------------------------------------


@pytest.mark.parametrize(("pmu", "words", "values"), [
    ("itanium2", ["write PMC4 = 0x1229"], {"PMC4": 0x1229}),
    ("itanium2", ["write", "PMC4", "=", "0x1229"], {"PMC4": 0x1229}),
    ("itanium2", ["pmc4=0X1229,", "PMC[5]", ":", "4649"], {"PMC4": 0x1229, "PMC5": 4649}),
    ("itanium2", ["[PMC4(pmc4)=0x001228 thres=0 es=0x12 plm=8 umask=0x0 pm=0 ism=0x2 oi=1] CPU_CYCLES"], {"PMC4": 0x1228}),
    ("itanium2", ["PMC4=0x1228", "PMC5 = 0x5028ULL"], {"PMC4": 0x1228, "PMC5": 0x5028}),
    ("montecito", ["event: PMC4=0x2001108 PMC39 0x3f08"], {"PMC4": 0x2001108, "PMC39": 0x3F08}),
])
def test_what_a_program_prints_as_arguments(pmu: str, words: list[str], values: dict[str, int]) -> None:
    found = decoded("-p", pmu, *words)
    assert {r["name"]: int(r["value"], 16) for r in found["registers"]} == values


@pytest.mark.parametrize("words", [["write", "PMC4", "=", "0x1228", "PMC5"], ["PMC4", "1228"], ["write", "PMC4"], ["hello"],
                                   ["PMC4 = 0x12", "thres=0"], ["PMC4 = 1.5"], ["PMC4 = 0x12", "0x13"],
                                   ["PMC4=0x12", "[PMC5=oops]"], ["PMC4=0x12", "[PMC5(pmc5) = ]"]], ids=" ".join)
def test_nothing_that_is_written_is_lost(words: list[str]) -> None:
    done = pypfm("decode", "-p", "itanium2", *words)
    assert done.returncode in (1, 2)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


def test_lines_of_a_program_on_standard_input() -> None:
    text = ("sycall base 0\nPMU forced to itanium2\nIA64_TAGGED_INST_RETIRED_IBRP0_PMC8=3\nPMC4 = 0x1228\n"
            "[PMC15(pmc15)=0xfffffff0 ibrp0_pmc8=0 ibrp1_pmc9=1 ibrp2_pmc8=1 ibrp3_pmc9=1]\n[PMD4(pmd4)]\n"
            "PMC4 = 4648\n  PMC5 0x5028  CPU_CYCLES   PMD4: 17 counted\n")
    done = fresh_command(PYPFM, "decode", "-p", "itanium2", "-", text=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert {r["name"]: int(r["value"], 16) for r in json.loads(done.stdout)["registers"]} == {
        "PMC4": 0x1228, "PMC5": 0x5028, "PMC15": 0xFFFFFFF0, "PMD4": 17}


@pytest.mark.parametrize("text", [b"Z\xfcrich\nPMC4 = 0x1228\n", b"{main} starts\nPMC4 = 0x1228\n", b"[]\nPMC4 = 0x1228\n",
                                  b"PMC4 = 0x1228\nPMC5 = 1,229\n"], ids=ascii)
def test_what_else_a_program_prints_is_no_error(text: bytes, tmp_path: Path) -> None:
    """Bytes that are no text, what begins as JSON does, and numbers with commas."""
    file = tmp_path / "lines"
    file.write_bytes(text)
    with file.open() as stdin:
        piped = run(PYPFM, "decode", "-p", "itanium2", "-", env=clean_env(PYTHONIOENCODING="utf-8:strict"), stdin=stdin)
    for done in piped, pypfm("decode", "-p", "itanium2", "--from", file):
        assert (done.returncode, done.stderr) == (0, "")
        assert {r["name"]: int(r["value"], 16) for r in json.loads(done.stdout)["registers"]} == {"PMC4": 0x1228}


@pytest.mark.parametrize("pmu", ["itanium", "itanium2", "montecito"])
def test_what_libpfm_prints_in_verbose_mode_is_read(pmu: str) -> None:
    """The registers are those of the request, all of them."""
    words = {"itanium": "2", "itanium2": "3", "montecito": "4"}
    program = ("import pypfm.pfm3 as P\nassert P.pfm_initialize() == 0\n"
               "i, o = P.pfmlib_input_param_t(), P.pfmlib_output_param_t()\n"
               "ev = P.c_uint()\nassert P.pfm_find_event(b'CPU_CYCLES' if P.pfm_find_event(b'CPU_CYCLES', P.byref(ev)) == 0 else"
               " b'CPU_OP_CYCLES_ALL', P.byref(ev)) == 0\n"
               "i.pfp_event_count = 1\ni.pfp_events[0].event = ev.value\ni.pfp_dfl_plm = 8\n"
               "assert P.pfm_dispatch_events(P.byref(i), None, P.byref(o), None) == 0\n"
               "print(*(f'PMC{o.pfp_pmcs[n].reg_num}={o.pfp_pmcs[n].reg_value:#x}' for n in range(o.pfp_pmc_count)))")
    made = run(sys.executable, "-c", program, env=clean_env(LIBPFM_VERBOSE="1", LIBPFM_FORCE_PMU=words[pmu]))
    assert made.returncode == 0, made.stderr
    said = fresh_command(PYPFM, "decode", "-p", pmu, "-", text=made.stderr)
    assert (said.returncode, said.stderr) == (0, "")
    assert {r["name"]: int(r["value"], 16) for r in json.loads(said.stdout)["registers"]} == {
        name: int(value, 16) for name, _, value in (word.partition("=") for word in made.stdout.split())}


@pytest.mark.parametrize(("text", "values"), [
    ("0x5301b7 0x10001 glm::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:k=1:u=1:e=0:i=0:c=0\n", {"code": 0x5301B7, "offcore": 0x10001}),
    ("r5300c0\nnothing else\n", {"code": 0x5300C0}),
    ("PMU : glm\nCodes          : 0x5300c0\n", {"code": 0x5300C0}),
    ("[0x5300c0 event_sel=0xc0 umask=0x0 os=1] INSTRUCTIONS_RETIRED\n", {"code": 0x5300C0}),
    ("type: 4 config: 0x5300c0\n", {"type": 4, "config": 0x5300C0}),
])
def test_lines_with_codes(text: str, values: dict[str, int]) -> None:
    done = fresh_command(PYPFM, "decode", "-p", "glm", "-", text=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert {name: int(value, 16) for name, value in json.loads(done.stdout)["values"].items()} == values


@pytest.mark.parametrize(("pmu", "text", "message"), [
    ("itanium2", "no value of PMC4 in it\n", "standard input is not JSON of pypfm encode, and no line has the value of a register"),
    ("itanium2", "PMC4=1\nPMC4=2\n", "standard input has two values of PMC4, 0x1 and 0x2: give the lines of one setting"),
    ("glm", "0x5300c0 a\n0x5301c0 b\n", "standard input has two values of code, 0x5300c0 and 0x5301c0"),
    ("glm", "hello\n", "such as code=0x5100c0"),
    ("itanium2", f"PMC4=0x1{'0' * 5000}", "does not fit 64 bits"),
    ("itanium2", f"PMC4={'9' * 5000}", "PMC4"),
])
def test_lines_that_cannot_be_read(pmu: str, text: str, message: str) -> None:
    done = fresh_command(PYPFM, "decode", "-p", pmu, "-", text=text)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert message in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("args", "status", "message"), [
    ("-p itanium2", 2, "nothing to decode: give REG=VALUE"),
    ("-p itanium2 PMC4", 2, "'PMC4': expected a register and its value, such as PMC4=0x1228"),
    ("-p itanium2 =5", 2, "'=5': expected a register and its value"),
    ("-p itanium2 PMC4=", 2, "PMC4: '' is not a number (decimal or 0x...)"),
    ("-p itanium2 PMC4=x", 2, "PMC4: 'x' is not a number"),
    ("-p itanium2 PMC4=0x1_0", 2, "PMC4: '0x1_0' is not a number"),
    ("-p itanium2 PMC4=0b11", 2, "PMC4: '0b11' is not a number"),
    ("-p itanium2 PMC4=\N{ARABIC-INDIC DIGIT THREE}", 2, "is not a number"),
    ("-p itanium2 PMC4=-0x1", 2, "PMC4: '-0x1' is negative"),
    ("-p itanium2 PMC4=-1", 2, "PMC4: '-1' is negative"),
    ("-p itanium2 PMC4=1 PMC4=2", 2, "PMC4 is given twice"),
    ("-p itanium2 PMC4=1 pmc4=2", 1, "PMC4 is given twice"),
    ("-p itanium2 PMC99=1", 1, "itanium2 has no register 'PMC99'"),
    ("-p montecito PMD16=1", 1, "montecito has no register 'PMD16'"),
    ("-p itanium2 PMC4=0x10000000000000000", 1, "does not fit 64 bits"),
    ("-p itanium2 PMD8=1 --etb", 2, "--etb is an option of montecito, not of itanium2"),
    ("-p glm code=1 --ipear", 2, "--ipear is an option of montecito, not of glm"),
    ("-p montecito PMD48=1 --etb --ipear", 2, "not allowed with argument"),
    ("-p glm PMC4=1", 1, "glm has no value 'PMC4'"),
    ("-p perf config=1", 1, "config without type"),
    ("-p itanium2 --from /nowhere/at/all", 1, "cannot read /nowhere/at/all: No such file or directory"),
    ("-p itanium2 --from /", 1, "cannot read /: Is a directory"),
    ("-p itanium2 --from /dev/zero", 1, "/dev/zero is not what pypfm encode --json writes: it is longer than"),
    ("-p itanium2 - --from x", 2, "- and --from: give one"),
    ("-p pentium PMC4=1", 2, "invalid choice"),
])
def test_mistakes_are_one_line(args: str, status: int, message: str) -> None:
    done = pypfm("decode", *args.split())
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


# ---- JSON of any shape ----------------------------------------------------------------

ENCODED = [("glm", "ICACHE:HIT"), ("montecito", "--etb", "tm=3"), ("itanium2", "IA64_INST_RETIRED", "--code-range", "0x1000+0x40")]
DEEP: Any = []
for _ in range(500):
    DEEP = [DEEP]
ODD = [None, True, -1, 1 << 70, 10 ** 4200, 0.5, float("inf"), float("nan"), "", "0x", "-0x1", "x" * 9999, "\ud800", "\0", [], [1], {},
       {"a": 1}, DEEP]


def changed(data: Any) -> Iterator[Any]:
    """The same with one part taken out, or something odd in its place."""
    yield from ODD
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        rest = data.copy()
        del rest[key]
        yield rest
        for part in changed(data[key]):
            other = data.copy()
            other[key] = part
            yield other


@pytest.mark.slow
@pytest.mark.parametrize("args", first([pytest.param(args, id=args[0]) for args in ENCODED], 2))
def test_json_that_encode_does_not_write(args: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each part of it in turn is something else: it is decoded, or one line says that it is none."""
    file, refused = tmp_path / "odd.json", 0
    parser = build_parser(["decode"])
    for data in changed(json.loads(pypfm("encode", "-p", *args).stdout)):
        file.write_text(json.dumps(data))
        parsed = parser.parse_args(["decode", "-p", args[0], "--from", str(file)])
        message = ""
        try:
            parsed.run(parsed)
        except PfmError as error:
            message = str(error)
            refused += 1
        except SystemExit:  # no register is left
            assert "nothing to decode" in capsys.readouterr().err
        assert len(message) < 600, message[:700]
        assert "\n" not in message
        capsys.readouterr()
    assert refused > 100


@pytest.mark.parametrize(("text", "message"), [
    ("[" * 1000000, "nested too deeply"), ('{"a":' * 1000000, "nested too deeply"), ("", "is not JSON"), ("9" * 5000, "is not JSON")])
def test_text_that_is_no_json(text: str, message: str) -> None:
    done = fresh_command(PYPFM, "decode", "-p", "itanium2", "-", text=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert done.stderr.startswith("pypfm decode: standard input ")
    assert done.stderr.count("\n") == 1


def test_a_closed_standard_input() -> None:
    done = run("sh", "-c", f"exec {PYPFM} decode -p itanium2 - <&-")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "pypfm decode: cannot read standard input: it is closed\n")


@pytest.mark.parametrize(("option", "name"), [("--from", "no\nsuch\x1b[31m"), ("--svg", "no/such\n")])
def test_a_file_name_that_is_no_line(option: str, name: str) -> None:
    done = pypfm("decode", "-p", "itanium2", option, name, *([] if option == "--from" else ["PMC4=1"]))
    assert (done.returncode, done.stdout) == (1, "")
    assert repr(name) in done.stderr
    assert done.stderr.count("\n") == 1
