"""The scripts of the register pages say what pypfm.decoding says: the same values are decoded in a browser and in Python."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from browser import chromium, quiet_page
from conftest import ROOT
from pypfm import Decoded, Goldmont, perf
from pypfm.decoding import decode
from pypfm.ia64.models import MODELS
from terminal import on_terminal, pypfm

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import register_data
import register_pages

SCRIPTS = [ROOT / "docs" / "_static" / name for name in register_pages.SCRIPTS if not name.endswith(("card.js", "page.js"))]
SELECT = "IA32_PERFEVTSEL"
Case = dict[str, Any]  # values by name, and options of decode()
# What a browser makes of a case, as text: numbers of any size, and rows of words for each register and entry.
DECODE = """([data, cases]) => JSON.stringify(cases.map(({values, ...options}) => {
    const decoded = pfm.decode(data, new Map(Object.entries(values).map(([k, v]) => [k, BigInt(v)])), options);
    for (const r of decoded.registers) r.rows = r.meaning ? pfm.rows(data, r.meaning) : [];
    for (const s of decoded.samples) s.rows = pfm.rows(data, s);
    for (const t of decoded.trace) t.text = pfm.entryText(t);
    return decoded;
}), (key, value) => typeof value === "bigint" ? value.toString() : value)"""
CODES = """([data, cases]) => JSON.stringify(cases.map(({code, offcore}) => {
    const decoded = pfm.decodeCodes(data, ...[code, offcore].map((v) => v === undefined ? undefined : BigInt(v)));
    decoded.rows = decoded.offcore ? pfm.responseRows(decoded.offcore) : [];
    return decoded;
}))"""


@pytest.fixture(scope="module")
def scripts() -> Iterator[Any]:
    """A page with the scripts and nothing else."""
    with chromium() as browser, quiet_page(browser) as page:
        for script in SCRIPTS:
            page.add_script_tag(path=script)
        yield page


@cache
def data(pmu: str) -> Any:
    return json.loads(json.dumps(register_data.data(pmu)))


def as_page(decoded: Decoded) -> Any:
    """What `pypfm decode --json` prints, with the words beside each part."""
    found = json.loads(json.dumps(decoded.to_json()))
    for made, register in zip(found["registers"], decoded.registers, strict=True):
        made["rows"] = [] if register.meaning is None else [list(row) for row in register.meaning.rows()]
        if register.meaning is not None and register.meaning.kind == "count":
            made["meaning"]["count"] = str(made["meaning"]["count"])  # a browser's own numbers have 53 bits
    for made, sample in zip(found["samples"], decoded.samples, strict=True):
        made["rows"] = [list(row) for row in sample.rows()]
    for made, entry in zip(found["trace"], decoded.trace, strict=True):
        made["text"] = entry.text
    return found


def compare(page: Any, pmu: str, cases: list[Case]) -> list[Any]:
    """Decode the cases in the browser and here; what the browser says."""
    said = json.loads(page.evaluate(DECODE, [data(pmu), cases]))
    for case, found in zip(cases, said, strict=True):
        mode = {case["trace"]: True} if case.get("trace") else {}
        values = {name: int(value, 16) for name, value in case["values"].items()}
        decoded = decode(pmu, values, pmds=case.get("reads"), **mode)  # type: ignore[call-overload]  # any PMU
        for register in found["registers"]:
            register.pop("variant")
        assert found == as_page(decoded), case
    return said  # type: ignore[no-any-return]  # of json


def values(rng: random.Random) -> Iterator[int]:
    """Values of a register: each bit alone, none, all, few bits, many, and those of settings as they are made."""
    yield from (0, (1 << 64) - 1, 0x1228, 0x4000000000001021)
    yield from (1 << n | 1 << 32 + n for n in range(32))
    for _ in range(4):
        yield rng.getrandbits(64)
        yield rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64)
        yield rng.getrandbits(34)
        yield rng.getrandbits(16)


@pytest.mark.slow
@pytest.mark.parametrize("pmu", MODELS)
def test_each_register_alone(scripts: Any, pmu: str) -> None:
    """Random values of all; of the first with a layout each bit, too."""
    rng, seen, cases = random.Random(pmu), set(), []
    for name, layouts in data(pmu)["registers"].items():
        found = values(rng) if layouts[""] not in seen else (rng.getrandbits(bits) for bits in (64, 64, 34, 34, 16, 16))
        seen.add(layouts[""])
        cases += [{"values": {name: hex(value)}} for value in found]
    compare(scripts, pmu, cases)


@pytest.mark.parametrize("pmu", MODELS)
@pytest.mark.slow
def test_registers_together(scripts: Any, pmu: str) -> None:
    """Any number of registers in any order, with what may be said of the trace buffer and of the PMDs to read."""
    rng = random.Random(pmu + "together")
    names = list(data(pmu)["registers"])
    pmds = [int(name[3:]) for name in names if name.startswith("PMD")]
    cases = []
    for _ in range(150):
        chosen = rng.sample(names, rng.randint(1, len(names)))
        case: Case = {"values": {name: hex(value_of(rng, name)) for name in chosen}}
        if MODELS[pmu].ipear is not None:
            case["trace"] = rng.choice((None, "etb", "ipear"))
        if rng.random() < 0.3:
            case["reads"] = rng.sample(pmds, rng.randint(0, len(pmds)))
        cases.append(case)
    said = compare(scripts, pmu, cases)
    for part in ("ranges", "samples", "trace"):  # it is not that nothing is compared
        assert any(s[part] for s in said) or pmu == "gen_ia64"


def value_of(rng: random.Random, name: str) -> int:
    """A value as it may be; masks of debug registers mostly match one block."""
    if name[:3] in ("IBR", "DBR") and int(name[3:]) % 2 and rng.random() < 0.8:
        return (1 << 56) - (1 << rng.randrange(57)) | rng.getrandbits(4) << 56
    return rng.getrandbits(64) & (rng.getrandbits(64) if rng.random() < 0.5 else (1 << 64) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("pmu", MODELS)
def test_each_event_and_each_ear(scripts: Any, pmu: str) -> None:
    """All events of a counter, all settings of the EARs, and as many others."""
    model, rng = MODELS[pmu], random.Random(pmu + "events")
    found = data(pmu)
    pairs = {(code, umask) for _, code, umask, _ in found["events"]}
    pairs |= {(rng.randrange(256), rng.randrange(16)) for _ in pairs}
    cases = [{"values": {f"PMC{model.counters[0]}": hex(code << 8 | umask << 16 | 8)}} for code, umask in sorted(pairs)]
    for num in filter(None, (model.iear, model.dear)):
        settings = {int(value, 16) for of, *_, value in found["ears"] if of == num}
        settings |= {rng.getrandbits(16) << shift | mode for _ in range(200) for shift, mode in ((0, 0), (5, 0), (16, 0x80))}
        cases += [{"values": {f"PMC{num}": hex(value)}} for value in sorted(settings)]
    said = compare(scripts, pmu, cases)
    events = {name for s in said for r in s["registers"] for name in r["meaning"].get("events", ())}
    assert len(events) == len(data(pmu)["events"])


def compare_codes(page: Any, cases: list[dict[str, str]]) -> int:
    """Decode codes of Goldmont in the browser and here; how many events they can mean."""
    said = json.loads(page.evaluate(CODES, [data("glm"), cases]))
    for case, found in zip(cases, said, strict=True):
        decoded = decode("glm", {name: int(value, 16) for name, value in case.items()})
        rows = [] if decoded.offcore is None else [list(row) for row in decoded.offcore.rows()]
        assert found == json.loads(json.dumps({**decoded.to_json(), "rows": rows})), case
    return sum(len(found["candidates"]) for found in said)


def test_codes_of_goldmont(scripts: Any) -> None:
    rng = random.Random("glm")
    own = [event.code | umask << 8 for event in Goldmont().events for umask in (0, *(u.code for u in event.umasks))]
    cases = [{"code": hex(high | low & 0xffff)} for low in own
             for high in (0x530000, 0x510000, 0x500000, 0x430000, 0x5300000000, 0x02d70000, 0x03570000)]
    cases += [{"code": hex(value)} for value in values(rng)]
    cases += [{"code": hex(0x530000 | rng.getrandbits(16))} for _ in range(2000)]
    assert compare_codes(scripts, cases) > len(own)  # most mean an event


@pytest.mark.parametrize("code", [0x5301b7, 0x5302b7, 0x4301b7, 0x5100c0, None])
@pytest.mark.slow
def test_offcore_values_of_goldmont(scripts: Any, code: int | None) -> None:
    """Values as unit masks give them, alone, in pairs and at random, and any others."""
    rng = random.Random(f"offcore{code}")
    codes = [u.code for u in Goldmont()["OFFCORE_RESPONSE_0"].umasks] + [0x1e00000000]
    found = {0, *codes, *(a | b for a in codes for b in codes), *values(rng)}
    for _ in range(800):
        value = 0
        for part in rng.sample(codes, rng.randint(1, 6)):
            value |= part
        found.add(value)
    compare_codes(scripts, [{**({"code": hex(code)} if code else {}), "offcore": hex(value)} for value in sorted(found)])


def test_the_command_prints_the_same(scripts: Any) -> None:
    """What is compared above is what the command prints."""
    given = {"PMC4": "0x1228", "PMC8": "0x140000000ffffffd", "PMD4": "0x1e240"}
    done = pypfm("decode", "-p", "itanium2", "--json", *(f"{k}={v}" for k, v in given.items()))
    printed = json.loads(done.stdout)
    (said,) = json.loads(scripts.evaluate(DECODE, [data("itanium2"), [{"values": given}]]))
    for register, other in zip(said["registers"], printed["registers"], strict=True):
        assert register["fields"] == other["fields"]
        assert {k: str(v) for k, v in (register["meaning"] or {}).items()} == {
            k: str(v) for k, v in (other["meaning"] or {}).items()}


def test_control_other_words_are_noticed(scripts: Any) -> None:
    """The comparison fails where the page says something else."""
    wrong = json.loads(json.dumps(data("itanium2")))
    wrong["events"][3][1] ^= 1
    code = data("itanium2")["events"][3][1]
    said = json.loads(scripts.evaluate(DECODE, [wrong, [{"values": {"PMC4": hex(code << 8)}}]]))
    said[0]["registers"][0].pop("variant")
    assert said[0] != as_page(decode("itanium2", {"PMC4": code << 8}))


# ---- what a reader types ---------------------------------------------------------------------

PARSE = """([data, text]) => {
    try { const list = pfm.parseList(data, text, Object.keys(data.registers).find((n) => n === "PMC4") ?? "IA32_PERFEVTSEL");
          return [pfm.written(list), null]; }
    catch (error) { if (!(error instanceof pfm.Complaint)) throw error; return [null, error.message]; }
}"""
READ = {
    "PMC4=0x1228": "PMC4=0x1228", "pmc4=4648": "PMC4=0x1228", "PMC4 = 0b1_0010_0010_1000": "PMC4=0x1228",
    "0x12_28": "PMC4=0x1228", "PMC4=0o17 PMC5=0X1F,PMC6=1_000;PMC7=0": "PMC4=0xf PMC5=0x1f PMC6=0x3e8 PMC7=0x0",
    "PMC4=0x1228UL": "PMC4=0x1228", '{"PMC4": 18446744073709551615, "IBR0": 16}': "PMC4=0xffffffffffffffff IBR0=0x10",
    "{'PMC4': 0x1228,\n 'PMD4': 5}": "PMC4=0x1228 PMD4=0x5", "": "", "PMC4=0x1\nPMC5=0x2\n": "PMC4=0x1 PMC5=0x2",
    "write PMC4 = 0x1229\nwrite PMC5 = 0x5028\n": "PMC4=0x1229 PMC5=0x5028", "event: PMC4=0x1": "PMC4=0x1",
    "PMU forced to itanium2\n[PMC4(pmc4)=0x001228 thres=0 es=0x12 oi=1] CPU_CYCLES\n[PMD4(pmd4)]\n": "PMC4=0x1228",
    "[PMC15(pmc15)=0xf0 ibrp0_pmc8=0 ibrp1_pmc9=1]\n[PMD2(pmd2)]\n[PMD3(pmd3)\nPMD17(pmd17)\n": "PMC15=0xf0",
    "00": "PMC4=0x0", "PMC4=+0x5": "PMC4=0x5", "PMC4=1 PMC4=0x1": "PMC4=0x1", "PMC4=1 pmds=4,5": "PMC4=0x1 pmds=4,5",
}
REFUSED = {
    "PMC4=": ["PMC4 has no value", "PMC4=0x1228"], "PMC4=-1": ["-1 is negative", "0 to 0xffffffffffffffff"],
    "-5": ["-5 is negative"], "PMC4=0x1ffffffffffffffff": ["does not fit into 64 bits", "0xffffffffffffffff"],
    "PMC4=zwölf": ["zwölf is not a number", "write 0x1228"], "PMC4=5100c0": ["not a number", "write 0x5100c0"],
    "PMC4=010": ["not a number", "write 0x10"], "PMC99=1": ["itanium2 has no register PMC99", "PMC0-15", "PMD0-17", "IBR0-7"],
    "PMC4=1 PMC4=2": ["given twice, as 0x1 and 0x2"], "PMC4=1 5": ["5 is a value without a register", "PMC4=5"],
    "PMC4": ["PMC4 has no value", "write PMC4=0x1228"], "PMC4=0x1 trace=etb": ["trace=etb is no option of itanium2"],
    '{"pmu": "montecito", "pmcs": []}': ["this JSON is of montecito, not of itanium2"],
    '[["PMC4", 4648]]': ["not what pypfm encode --json writes"], '{"pmcs": [{"num": 4}]}': ["not what pypfm encode --json writes", "PMC4=0x1228"],
    "PMC4=1__0": ["not a number"], "PMC4=0x": ["not a number"], "PMC4=1.5": ["not a number"],
    "=5": ["no register before"], "nothing": ["itanium2 has no register nothing", "PMC0-15"], "\U0001f600": ["not a number", "write 0x1228"],
    "deadbeef": ["hexadecimal begins with 0x: write 0xdeadbeef"], "PMC4=0x1228\u202e": ["not a number"], "PMC4=\x000": ["not a number"],
    "PMC4=" + "9" * 70_000: ["longer than 65536 characters"], "PMC4=1" + "0" * 900: ["..."],
}


def test_lists_that_are_read(scripts: Any) -> None:
    for text, list_ in READ.items():
        assert scripts.evaluate(PARSE, [data("itanium2"), text]) == [list_, None], text


def test_what_is_wrong_is_said_in_a_line(scripts: Any) -> None:
    for text, parts in REFUSED.items():
        found, complaint = scripts.evaluate(PARSE, [data("itanium2"), text])
        assert found is None
        assert all(part in complaint for part in parts), complaint
        assert "\n" not in complaint
        assert len(complaint) < 200


@pytest.mark.parametrize(("pmu", "events"), [
    ("itanium2", ["CPU_CYCLES", "NOPS_RETIRED"]), ("montecito", ["CPU_OP_CYCLES_ALL", "L3_READS_ALL_ALL:M:E"]),
    ("glm", ["OFFCORE_RESPONSE_1:ANY_RFO:L2_HIT"]), ("itanium", ["DATA_EAR_CACHE_LAT64"]),
])
def test_what_encode_prints_is_read(scripts: Any, pmu: str, events: list[str]) -> None:
    """JSON, and what stands on a terminal."""
    from pypfm.pmus import pmu as pmu_of

    encoding = pmu_of(pmu).encode(events if pmu != "glm" else events[0])
    printed = pypfm("encode", "-p", pmu, "--json", *events).stdout
    wanted = {r.name: r.value for r in encoding.registers.values()} if not isinstance(encoding, perf.Encoding) else dict(
        zip((SELECT, "MSR_OFFCORE_RSP_1"), encoding.codes, strict=True))
    list_, complaint = scripts.evaluate(PARSE, [data(pmu), printed])
    assert complaint is None
    words = dict(word.split("=") for word in list_.split())
    assert words.pop("pmds", None) == ({"itanium": "4,2,3,17"}.get(pmu))
    assert {name: int(value, 16) for name, value in words.items()} == wanted
    list_, complaint = scripts.evaluate(PARSE, [data(pmu), on_terminal(80, "encode", "-p", pmu, *events)])
    assert complaint is None
    assert {name: int(value, 16) for name, value in (word.split("=") for word in list_.split())} == wanted


def test_what_a_terminal_shows_is_read(scripts: Any) -> None:
    """Rows that are longer than the terminal, ranges, the command itself; rows without the borders; meanings."""
    request = ["-p", "itanium2", "L2_MISSES", "--code-range", "0x4000000000001000-0x4000000000001040"]
    wanted = ("PMC4=0xcb28 PMC14=0x2d34 PMC13=0x2078fefefeee PMC8=0xffffffff3ffffffc PMC15=0xffffffff IBR0=0x4000000000001000"
              " IBR1=0x8000000fffff000 IBR4=0x4000000000001030 IBR5=0x8000000fffff000")
    for columns in (60, 80, 200):
        shown = on_terminal(columns, "encode", *request)
        assert scripts.evaluate(PARSE, [data("itanium2"), f"$ pypfm encode {' '.join(request)}\n{shown}"]) == [wanted, None]
        rows = shown[shown.index("PMC4"):shown.index("to read")]
        assert scripts.evaluate(PARSE, [data("itanium2"), rows]) == [wanted.partition(" IBR")[0], None]
    shown = on_terminal(80, "decode", "-p", "itanium2", "PMC4=0xcb28", "PMC14=0x2d34", "PMD4=5")
    assert scripts.evaluate(PARSE, [data("itanium2"), shown]) == ["PMC4=0xcb28 PMC14=0x2d34 PMD4=0x5", None]
    assert scripts.evaluate(PARSE, [data("itanium"), shown.replace("PMC14", "PMC99")])[1].startswith("itanium has no register PMC99")
    shown = on_terminal(80, "decode", "-p", "glm", "code=0x5300c0")
    assert scripts.evaluate(PARSE, [data("glm"), shown]) == ["IA32_PERFEVTSEL=0x5300c0", None]
    shown = on_terminal(80, "events", "-p", "itanium2", "L2_MISS*")
    assert scripts.evaluate(PARSE, [data("itanium2"), shown]) == [
        None, "there is no value of a register in this: write PMC4=0x1228"]


@pytest.mark.parametrize(("pmu", "values", "list_"), [
    ("glm", ["code=0x5302b7", "offcore=0x18000"], "IA32_PERFEVTSEL=0x5302b7 MSR_OFFCORE_RSP_1=0x18000"),
    ("glm", ["offcore=0x18000"], "MSR_OFFCORE_RSP_0=0x18000"), ("itanium2", ["PMC4=1", "PMD4=5"], "PMC4=0x1 PMD4=0x5"),
    ("montecito", ["PMD48=0x3400000000000102", "--ipear"], "PMD48=0x3400000000000102 trace=ipear"),
])
def test_what_decode_prints_as_json_is_read(scripts: Any, pmu: str, values: list[str], list_: str) -> None:
    printed = pypfm("decode", "-p", pmu, "--json", *values).stdout
    assert scripts.evaluate(PARSE, [data(pmu), printed]) == [list_, None]


GOLDMONT = [
    ("offcore=0x18000 code=0x5302b7", ["IA32_PERFEVTSEL=0x5302b7 MSR_OFFCORE_RSP_1=0x18000", None]),  # in either order
    ("0x5302b7 0x18000", ["IA32_PERFEVTSEL=0x5302b7 MSR_OFFCORE_RSP_1=0x18000", None]), ("r5300c0", ["IA32_PERFEVTSEL=0x5300c0", None]),
    ("5439680", ["IA32_PERFEVTSEL=0x5300c0", None]), ("IA32_PERFEVTSEL1=0x5300c0", ["IA32_PERFEVTSEL=0x5300c0", None]),
    ("1 2 3", [None, "1 is a value without a register: write IA32_PERFEVTSEL=1"]), ("rest", [None, "glm has no register rest: "
     "it has IA32_PERFEVTSEL, MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1"]),
    ("5300c0h", [None, "IA32_PERFEVTSEL: 5300c0h is not a number: hexadecimal begins with 0x: write 0x5300c0"]),
    ('{"pmu": "glm", "events": [{"codes": ["0x5100c0"]}, {"codes": ["0x5100c2"]}]}',
     [None, "IA32_PERFEVTSEL is given twice, as 0x5100c0 and 0x5100c2: write it once"]),
    ('{"a": {}}', [None, "this JSON is not what pypfm encode --json writes: write a list, such as IA32_PERFEVTSEL=0x1228"]),
]


def test_lists_of_goldmont(scripts: Any) -> None:
    for text, found in GOLDMONT:
        assert scripts.evaluate(PARSE, [data("glm"), text]) == found, text
