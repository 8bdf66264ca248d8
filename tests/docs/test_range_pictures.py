"""The pictures of ranges: what is drawn is what pypfm encodes."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import ROOT
from pypfm import Itanium2, Montecito
from pypfm.ia64.request import AddressRange

pytestmark = pytest.mark.slow

_spec = importlib.util.spec_from_file_location("range_pictures", ROOT / "docs" / "_ext" / "range_pictures.py")
assert _spec is not None
assert _spec.loader is not None
range_pictures: Any = importlib.util.module_from_spec(_spec)
sys.modules["range_pictures"] = range_pictures
_spec.loader.exec_module(range_pictures)

BASE = 0x4000000000000000
TAGGED = [e.name for e in Itanium2().find("IA64_TAGGED_INST_RETIRED_*")]
SVG = "{http://www.w3.org/2000/svg}"
CASES = [
    (Itanium2(), ["L2_MISSES"], {"code_ranges": [(BASE + 0x1230, BASE + 0x52f0)]}),
    (Itanium2(), ["IA64_INST_RETIRED"], {"code_ranges": [(BASE + 0x1000, BASE + 0x1040), (BASE + 0x1100, BASE + 0x1180)]}),
    (Montecito(), ["IA64_INST_RETIRED"], {"code_ranges": [(BASE + 0x1230, BASE + 0x1280)]}),
    (Itanium2(), TAGGED, {"code_ranges": [(BASE + 0x1230, BASE + 0x52f0)]}),
    (Itanium2(), ["LOADS_RETIRED"], {"data_ranges": [(0x1018, 0x10a8)]}),
]

every_case = pytest.mark.parametrize(("pmu", "events", "ranges"), CASES)


def drawn(pmu: Any, events: list[str], ranges: dict[str, list[tuple[int, int]]]) -> tuple[Any, Any, list[AddressRange]]:
    (asked,) = ranges.values()
    encoding = pmu.encode(events, **ranges)
    cover = encoding.irange or encoding.drange
    limits = [AddressRange(*r) for r in asked]
    return range_pictures.rows(limits, cover), cover, limits


@every_case
def test_a_bar_for_each_range_and_each_pair(pmu: Any, events: list[str], ranges: Any) -> None:
    rows, cover, limits = drawn(pmu, events, ranges)
    n, pairs = len(limits), len(cover.registers) // 2
    assert len(rows) == 2 * n + pairs
    assert [(r.bars[0].start, r.bars[0].end) for r in rows[:n]] == [(r.start, r.end) for r in limits]
    for row, register in zip(rows[n:n + pairs], cover.registers[0::2], strict=True):
        assert row.label.startswith(f"{register.name}, {register.name[:3]}{register.num + 1}: ")
        assert row.bars[0].start == register.value
    for row, held in zip(rows[n + pairs:], cover.ranges, strict=True):
        assert (min(b.start for b in row.bars), max(b.end for b in row.bars)) == (held.start, held.end)
        assert ("exactly" in row.note) == (held.start_offset == held.end_offset == 0)


@every_case
def test_the_picture(pmu: Any, events: list[str], ranges: Any) -> None:
    """It is well-formed, bars are inside, each one that a row has is there, and lengths are to scale."""
    rows, _, _ = drawn(pmu, events, ranges)
    root = ElementTree.fromstring(range_pictures.svg(rows, "<title> & more", "name"))
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    bars = [{k: float(rect.attrib[k]) for k in ("x", "y", "width", "height")} for rect in root.iter(f"{SVG}rect")]
    wanted = [bar for row in rows for bar in row.bars]
    assert len(bars) == len(wanted)
    assert all(b["x"] >= 0 and b["x"] + b["width"] <= width and b["y"] + b["height"] <= height for b in bars)
    scale = (width - 2 * range_pictures.MARGIN) / (max(b.end for b in wanted) - min(b.start for b in wanted))
    for bar, want in zip(bars, wanted, strict=True):
        assert bar["width"] == pytest.approx(max((want.end - want.start) * scale, range_pictures.SMALLEST), abs=0.1)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert all(row.label in texts for row in rows)
    assert root.findtext(f"{SVG}title") == "<title> & more"


def test_the_guide_shows_each_kind_of_cover() -> None:
    text = (ROOT / "docs" / "guides" / "code_ranges.rst").read_text(encoding="utf-8")
    assert text.count(".. range-picture:: ") >= 5
