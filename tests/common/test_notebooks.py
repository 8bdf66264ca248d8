"""What notebooks show: HTML that is whole, escaped, and says what is to be seen."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from test_values import EXAMPLES

import pypfm
from conftest import run
from pypfm import GenericIA64, Goldmont, Itanium2, Machine, Montecito, Perf, decode, layout, perfex, pfm3, pfm4
from pypfm.common import notebook
from pypfm.conform import model as conform
from pypfm.perfex import annotate, costs, events, listing, model, report
from pypfm.perfex.profile import Function
from tools import PATH

pytestmark = pytest.mark.usefixtures("runtime_dir")

EVENT = events.table("r10000")[0]


def run_of(*command: str) -> report.Report:
    outcome = model.Outcome("perf", "", 0, (model.Measurement(EVENT, 123456789, "exact"),), clock=1000.0)
    return report.Report(model.Request(command), outcome, {0: costs.Cost("clks", 1, 1, 1)})


def lines_of(count: int = 7) -> report.Report:
    """A report of a program with one line, or of none."""
    place, counts = Function("prog", "prog.c", "main"), annotate.Counts(count, (count,))
    made = annotate.Annotation((EVENT,), EVENT, (), 195.0, counts, (), (annotate.LineRow("/src/prog.c", 3, place, counts),), counts, {})
    return dataclasses.replace(run_of("true"), annotation=made)


def counting() -> perfex.Counting:
    made = perfex.counting(0, 21)
    made._counts = {0: 123456, 21: 7}
    return made


def register() -> Any:
    return Itanium2().encode(["CPU_CYCLES"])["PMC4"]


# An object, and what is to be seen of it.
SHOWN: dict[str, tuple[Any, list[str]]] = {
    "register": (register(), ["Register PMC4", "0x1228"]),
    "encoding": (Itanium2().encode(["NOPS_RETIRED"], code_ranges=[(0x1000, 0x1040)]), ["Encoding", "PMC4", "IBR0"]),
    "encoding of libpfm 4": (Goldmont().encode("ICACHE:HIT"), ["Encoding", "ICACHE"]),
    "event": (Montecito()["CPU_OP_CYCLES_ALL"], ["CPU_OP_CYCLES_ALL"]),
    "decoded": (decode("itanium2", {"PMC4": 0x1228}), ["Decoded", "PMC4", "CPU_CYCLES"]),
    "decoded code": (decode("glm", {"code": 0x5300C0}), ["Decoded", "INST_RETIRED"]),
    "layout": (layout.describe("pfmlib_event_t"), ["TypeLayout", "unit_masks"]),
    "difference of layouts": (next(d for d in layout.diff("pfm3", "pfm3-manual") if not d.same), ["LayoutDiff", "pfm3:", "pfm3-manual:", "bytes"]),
    **{f"events of {pmu.name}": (pmu, [f"{type(pmu).__name__}: {len(pmu)} events", next(iter(pmu))])
       for pmu in (Itanium2(), GenericIA64(), Goldmont(), Perf())},
    "machine": (Machine("k7"), ["Machine k7", "l1cache-miss"]),
    "event of a machine": (Machine("k7")[next(iter(Machine("k7")))], ["CounterEvent"]),
    "perfex report": (run_of("true"), ["perfex: r10000 events", "123456789", "Cycles"]),
    "perfex listing": (listing.Listing("r10000", (EVENT,), {name: (listing.How("exact", ""),) for name in ("perf", "valgrind", "qemu")}, {}), ["Cycles"]),
    "perfex report with lines": (lines_of(), ["lines by event 0 (cycles): 1 of 1, 100.0% of the whole", "prog.c:3", "share"]),
    "perfex report without lines": (lines_of(0), ["lines by event 0 (cycles): not available", "of no known line"]),
    "measurement": (model.Measurement(EVENT, 1, "exact"), ["Measurement", "exact"]),
    "sample": (model.Sample(0.5, {0: 1, 25: None}), ["Sample", "0=1, 25=None"]),
    "counting": (counting(), ["r10000 events", "123456", "Cycles"]),
    "conform report": (conform.Report("pfm4", conform.LibraryFile("a.so", "b.so", "c", "d", "e")), ["pfm4"]),
    "structure": (pfm3.pfmlib_input_param_t(pfp_event_count=2, pfp_events=tuple(pfm3.pfmlib_event_t(event=n) for n in (5, 0, 0x12345))),
                  ["pfmlib_input_param_t", "pfp_event_count", "0x12345", "[2]"]),
    "register of C": (pfm3.pfm_ita2_pmc_reg_t(pmc_val=0x1228), ["pfm_ita2_pmc_reg_t", "pmc_val"]),
    "empty structure": (pfm4.perf_event_attr(), ["perf_event_attr", "all 0"]),
}
VOID = {"br", "hr"}


class Whole(HTMLParser):
    """Notes the tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert all(name == "style" for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", SHOWN)
def test_objects_are_shown(name: str) -> None:
    shown, words = SHOWN[name]
    page = shown._repr_html_()
    parser = Whole()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    text = BeautifulSoup(page, "html.parser").get_text(" ")
    assert [word for word in words if word not in text] == []
    assert len(page) < 200_000


@pytest.mark.parametrize("value", [
    value for value in EXAMPLES if hasattr(value, "_repr_html_")
    and type(value) is not listing.Listing], ids=lambda value: type(value).__name__)
def test_every_value_has_a_picture(value: Any) -> None:
    """A listing without its backends cannot be printed either."""
    parser = Whole()
    parser.feed(value._repr_html_())
    assert parser.open == []


def test_fields_that_are_asked_for() -> None:
    """In that order, and only if they differ."""
    page = notebook.records("", events.table("r10000")[:2], ["name", "counter", "index"])
    assert [head.text for head in BeautifulSoup(page, "html.parser").find_all("th")] == ["name", "index"]


MARKUP = "<b onclick='x'>&amp;\"</b>"


@pytest.mark.parametrize("page", [
    notebook.mapping(MARKUP, {MARKUP: MARKUP}), notebook.columns(MARKUP, [MARKUP], [[MARKUP]]), notebook.preformatted(MARKUP), run_of(MARKUP)._repr_html_(),
    notebook.records(MARKUP, [EVENT, dataclasses.replace(EVENT, name=MARKUP)], ["name"]), dataclasses.replace(EVENT, name=MARKUP)._repr_html_(),
    conform.Report("pfm4", conform.LibraryFile(*[MARKUP] * 5), notes=[MARKUP])._repr_html_(),
], ids=["mapping", "columns", "text", "report", "records", "table", "conform"])
def test_nothing_of_a_text_is_markup(page: str) -> None:
    assert "<b " not in page
    assert "&lt;b " in page


def cells() -> Iterator[str]:
    yield from ("import pypfm", "pypfm.Itanium2().encode(['CPU_CYCLES'])", "pypfm.pfm3.pfmlib_event_t(event=5)", "pypfm.Goldmont()")


def test_ipython_takes_them() -> None:
    """IPython's own formatter, if there is one."""
    probe = "from IPython.core.formatters import HTMLFormatter as F; import pypfm, json\nf = F()\n" + (
        f"print(json.dumps([f(eval(c)) for c in {list(cells())[1:]!r}]))")
    ran = run(sys.executable, "-c", probe, env={"PATH": PATH})
    if "No module named 'IPython'" in ran.stderr:
        pytest.skip("no IPython: pip install ipython")
    assert ran.returncode == 0, ran.stderr
    shown = json.loads(ran.stdout)
    assert [bool(page) and "<table" in page for page in shown] == [True] * 3


def gallery(path: Path) -> Path:
    """All of them on one page, to be looked at."""
    path.write_text("<!doctype html><meta charset=utf-8><body style='font: 14px sans-serif'>" + "".join(
        f"<h3>{name}</h3>{shown._repr_html_()}" for name, (shown, _) in SHOWN.items()))
    return path


def test_the_gallery(tmp_path: Path) -> None:
    assert gallery(tmp_path / "gallery.html").stat().st_size > 10_000
    assert pypfm.__version__
