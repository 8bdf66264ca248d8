"""The register pages: every register has a picture with the fields that the header declares.

The headers are read here as text: what the pages are made from is not asked.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

import pypfm
from pypfm import Decoded, GenericIA64, Goldmont, Itanium, Itanium2, Montecito
from pypfm.ia64.models import MODELS
from tools import first

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PMUS = {"itanium2": Itanium2, "montecito": Montecito, "itanium": Itanium, "gen_ia64": GenericIA64}
Fields = list[tuple[str, int, int]]  # name, lowest bit, width


def test_every_model_is_tested() -> None:
    assert set(PMUS) == set(MODELS)


@cache
def declared(pmu: str) -> dict[str, list[Fields]]:
    """The fields of each register, as the bit-fields and the comments of the header say; one list a layout."""
    text = (ROOT / f"csrc/pfm3/include/perfmon/pfmlib_{pmu}.h").read_text(encoding="ascii")
    found: dict[str, list[Fields]] = {}
    for kind, numbers, body in re.findall(r"/\* (PM[CD])([^:]*):[^*]*\*/\s*struct \{(.*?)\}", text, re.DOTALL):
        layout: Fields = []
        for name, width, high, low in re.findall(
                r"unsigned long (?:[^\W_]+_)?(\w+?)(?: *: (\d+))?;\s*/\* (\d+)(?::(\d+))? \*/", body):
            bit = int(low or high)
            assert int(width or 64) == int(high) - bit + 1
            layout.append((name, bit, int(width or 64)))
        for begin, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
            for n in range(int(begin), int(last or begin) + 1):
                found.setdefault(f"{kind}{n}", []).append(layout)
    return found


WHOLE: Fields = [("value", 0, 64)]
ADDRESS: Fields = [("address", 0, 64)]
MASK: Fields = [("mask", 0, 56), ("plm", 56, 4), ("ig", 60, 2), ("w", 62, 1), ("rx", 63, 1)]


@cache
def page(site: Path, pmu: str) -> BeautifulSoup:
    return BeautifulSoup((site / "registers" / f"{pmu}.html").read_text(encoding="utf-8"), "html.parser")


def places(site: Path, pmu: str, register: str) -> dict[str, Tag]:
    """The descriptions of a register by their anchors: one for each of its layouts."""
    found = {}
    for box in page(site, pmu).select("div.pfm-register"):
        ids = [box["id"], *(span["id"] for span in box.find_all("span", id=True, recursive=False))]
        found.update((i, box) for i in ids if re.fullmatch(rf"{pmu}-{register}(-\w+)?", str(i)))
    return found


def value_of(box: Tag) -> int:
    caption = box.find("p", class_="pfm-caption")
    assert caption is not None
    return int(caption.get_text().partition(" = ")[2], 16)


def parts(layout: Fields, bits: int) -> list[list[tuple[str, int, int]]]:
    """What stands on each line of a picture: names with the lowest and highest bit that are there."""
    top = max(bit + width for _, bit, width in layout)
    lines = []
    for start in reversed(range(0, top, bits)):
        here = [(n, max(b, start), min(b + w, start + bits) - 1) for n, b, w in layout
                if b < start + bits and b + w > start]
        lines.append(here)
    return lines


def check_picture(box: Tag, layout: Fields, shown: dict[str, str] | None = None) -> None:
    """Both drawings have the fields, their bits, and the bits of the value."""
    value = value_of(box)
    for kind, bits in (("wide", 16), ("narrow", 8)):
        svg = box.find("svg", class_=kind)
        assert svg is not None
        lanes = svg.find_all("g", recursive=False)
        wanted = parts(layout, bits)
        assert len(lanes) == len(wanted)
        for lane, fields in zip(lanes, wanted, strict=True):
            names = [t.get_text() for t in lane.select(".names text")]
            assert names == [(shown or {}).get(n, re.sub(r"^pmd(\d+)ext_", r"\1:", n)) for n, _, _ in fields]
            numbers = [t.get_text() for t in lane.select(".bits text")]
            assert numbers == [str(b) for _, low, high in fields for b in dict.fromkeys((low, high))]
            # Read from left to right, the value begins with its highest bit.
            drawn = sorted(lane.select(".value text"), key=lambda t: float(str(t["x"])))
            start = fields[0][1] // bits * bits
            assert "".join(t.get_text() for t in drawn) == "".join(
                str(value >> n & 1) for n in reversed(range(start, start + bits)))
            ignored = [n for n, _, _ in fields if re.fullmatch(r"(\w+ext_)?(ig|res|ignored)\d*", n)]
            assert len(lane.find_all("rect")) == len(ignored)


def table_of(box: Tag) -> dict[str, list[str]]:
    """Rows of the table of fields by name: bits, example, meaning."""
    found = {}
    for row in box.select("table tbody tr"):
        bits, name, held, meaning = (" ".join(td.get_text().split()) for td in row.find_all("td"))
        found[name] = [bits, held, meaning]
    return found


def check_table(box: Tag, layout: Fields) -> None:
    rows, value = table_of(box), value_of(box)
    wanted: dict[str, Fields] = {}
    for name, bit, width in layout:
        wanted.setdefault(re.sub(r"^pmd\d+ext_", "pmdNext_", name), []).append((name, bit, width))
    assert list(rows) == list(wanted)
    for name, (bits, held, meaning) in rows.items():
        assert bits == ", ".join(str(b) if w == 1 else f"{b + w - 1}:{b}" for _, b, w in wanted[name])
        assert meaning
        if len(wanted[name]) == 1:
            _, bit, width = wanted[name][0]
            assert int(held, 16) == value >> bit & (1 << width) - 1


def registers(pmu: str) -> list[str]:
    model = PMUS[pmu]()
    debug = [f"{kind}{n}" for kind in ("IBR", "DBR") for n in range(8) if pmu != "gen_ia64"]
    return [*(f"PMC{n}" for n in model.pmcs), *(f"PMD{n}" for n in model.pmds), *debug]


def layouts(pmu: str, register: str) -> list[Fields]:
    if register[:3] in ("IBR", "DBR"):
        return [MASK if int(register[3:]) % 2 else ADDRESS]
    return declared(pmu).get(register, [WHOLE])


@pytest.mark.parametrize("pmu", PMUS)
def test_the_header_is_understood(pmu: str) -> None:
    model = PMUS[pmu]()
    assert set(declared(pmu)) <= {*registers(pmu)}
    without = [r for r in registers(pmu) if r[:3] in ("PMC", "PMD") and r not in declared(pmu)]
    assert without == ["PMC0", "PMC1", "PMC2", "PMC3", *{
        "montecito": ["PMD37"], "gen_ia64": ["PMD4", "PMD5", "PMD6", "PMD7"]}.get(pmu, [])]
    count = {"itanium2": 34, "montecito": 63, "itanium": 32, "gen_ia64": 12}
    assert len(model.pmcs) + len(model.pmds) == count[pmu]
    for lists in declared(pmu).values():
        for layout in lists:
            assert sum(width for _, _, width in layout) == 64


@pytest.mark.parametrize("pmu", first(PMUS))
def test_every_register_has_a_picture_with_its_fields(site: Path, pmu: str) -> None:
    for register in registers(pmu):
        boxes = places(site, pmu, register)
        assert f"{pmu}-{register}" in boxes
        wanted = layouts(pmu, register)
        # The table of each picture says which of the layouts is drawn.
        drawn = []
        for box in boxes.values():
            layout = next(w for w in wanted if {*table_of(box)} == {
                re.sub(r"^pmd\d+ext_", "pmdNext_", n) for n, _, _ in w} and widths(box, w))
            check_picture(box, layout)
            check_table(box, layout)
            drawn.append(layout)
        assert sorted(map(str, drawn)) == sorted(map(str, wanted))


def widths(box: Tag, layout: Fields) -> bool:
    """Whether the bits of the table are those of a layout."""
    bits = [b for b, _, _ in table_of(box).values()]
    flat = {name: (str(b) if w == 1 else f"{b + w - 1}:{b}") for name, b, w in layout}
    return all(b in bits for name, b in flat.items() if "ext_" not in name)


@pytest.mark.parametrize("pmu", [*PMUS, "goldmont"])
def test_examples_are_what_python_answers(site: Path, pmu: str) -> None:
    """The calls of the page, made again as a reader would, give what the page says."""
    boxes = page(site, pmu).select("div.pfm-register")
    assert boxes
    for box in boxes:
        session = box.find("pre")
        assert session is not None
        lines = session.get_text().splitlines()
        calls = [x[4:] for x in lines if x.startswith((">>> ", "... "))]
        asked = calls.pop() if calls[-1].startswith("hex(") else None
        names: dict[str, object] = {name: getattr(pypfm, name) for name in dir(pypfm) if name[0] != "_"}
        exec("\n".join(["from pypfm.decoding import decode", *calls]), names)
        if asked is not None:
            assert lines[-1] == repr(eval(asked, names))
            assert eval(asked, names) == hex(value_of(box))
        else:
            register = box.select_one("p.pfm-caption strong")
            assert register is not None
            decoded = names["decoded"]
            assert isinstance(decoded, Decoded)
            assert [r.value for r in decoded.registers if r.name == register.get_text()] == [value_of(box)]


def test_event_select_register(site: Path) -> None:
    text = (ROOT / "csrc/pfm4/glm.c").read_text(encoding="ascii")
    bits = {name: int(bit) for name, bit in re.findall(r"(\w+)_(?:BIT|SHIFT) = (\d+)", text)}
    (box,) = page(site, "goldmont").select("#glm-IA32_PERFEVTSEL")
    layout: Fields = [("event", 0, 8), ("umask", bits["UMASK"], 8), ("usr", bits["USER"], 1), ("os", bits["KERNEL"], 1),
                      ("edge", bits["EDGE"], 1), ("pc", 19, 1), ("int", bits["INTERRUPT"], 1), ("any", 21, 1),
                      ("en", bits["ENABLE"], 1), ("inv", bits["INVERT"], 1), ("cmask", bits["CMASK"], 8)]
    check_picture(box, layout)
    check_table(box, layout)


@pytest.mark.parametrize("which", [0, 1])
def test_offcore_registers(site: Path, which: int) -> None:
    with (ROOT / "csrc/tables/glm_umasks.csv").open(newline="", encoding="ascii") as stream:
        rows = [r for r in csv.DictReader(stream) if r["event"] == f"OFFCORE_RESPONSE_{which}" and not r["equiv"]]
    (box,) = page(site, "goldmont").select(f"#glm-MSR_OFFCORE_RSP_{which}")
    layout: Fields = []
    end = 0
    for code, name in sorted((int(r["code"], 16), r["name"]) for r in rows):
        bit = code.bit_length() - 1
        assert code == 1 << bit
        layout += [("res", end, bit - end)] if bit > end else []
        layout.append((name, bit, 1))
        end = bit + 1
    layout.append(("res", end, 64 - end))
    check_picture(box, layout, {r["name"]: r["name"].removeprefix("L2_MISS_") for r in rows})
    meanings = {name: meaning for name, (_, _, meaning) in table_of(box).items()}
    for row in rows:
        assert meanings[row["name"]] == " ".join(row["description"].split())
    names = [u.name for u in Goldmont()[f"OFFCORE_RESPONSE_{which}"].umasks if not u.members]
    assert set(meanings) == {*names, "res"}


@pytest.mark.parametrize(("name", "text", "target"), [
    ("registers/itanium2", "BRANCH_EVENT", "../events/itanium2.html#itanium2-BRANCH_EVENT"),
    ("registers/itanium", "BRANCH_EVENT", "../events/itanium.html#itanium-BRANCH_EVENT"),
    ("events/goldmont", "MSR_OFFCORE_RSP_1", "../registers/goldmont.html#glm-MSR_OFFCORE_RSP_1"),
])
def test_cross_references(site: Path, name: str, text: str, target: str) -> None:
    html = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    assert [a.get_text() for a in html.select(f"a[href='{target}']")] == [text]


# Pages that must not build, and what the build says.
BROKEN = {
    "unknown event": ('.. pfm-register:: itanium2 PMC4\n\n   Itanium2().encode(["NO_SUCH_EVENT"])\n', "NO_SUCH_EVENT"),
    "another register": ('.. pfm-register:: itanium2 PMC12\n\n   Itanium2().encode(["CPU_CYCLES"])\n',
                         "the answer has none of PMC12"),
    "another layout": ('.. pfm-register:: itanium2 PMC10\n\n   Itanium2().encode(["L1I_EAR_CACHE_LAT32"])\n',
                       "PMC10 of the example has another layout"),
    "not the same fields": ('.. pfm-register:: itanium2 PMC4 PMC8\n\n   Itanium2().encode(["CPU_CYCLES"])\n',
                            "have not the same fields"),
    "no such register": ('.. pfm-register:: glm PMC4\n\n   Goldmont().encode("ICACHE:HIT")\n', "glm PMC4: expected"),
    "no such PMU": (".. pfm-events:: itanium3\n", "no table in csrc/tables has events of 'itanium3'"),
    "events twice": (".. pfm-events:: xscale\n\n.. pfm-events:: xscale\n", "is already in index"),
    "unknown target": (":pfm:event:`itanium2.NO_SUCH_EVENT`\n", "itanium2.NO_SUCH_EVENT"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_wrong_pages_fail_the_build(tmp_path: Path, case: str) -> None:
    page, message = BROKEN[case]
    source = tmp_path / "docs"
    source.mkdir()
    (source / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'docs' / '_ext')!r})\n"
        "extensions = ['event_pages', 'register_pages']\n")
    (source / "index.rst").write_text(f"title\n=====\n\n{page}")
    run = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-n", "-b", "dummy", str(source),
                          str(tmp_path / "out")], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode != 0
    assert message in run.stderr
