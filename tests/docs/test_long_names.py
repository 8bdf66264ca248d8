"""Names in the tables of the site: they break in few places, and the tables fit beside the menu."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from browser import chromium, quiet_page
from conftest import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import long_names  # of the documentation's extensions


@pytest.mark.parametrize(("text", "parts"), [
    ("pfm_find_full_event", ["pfm_find_full_event"]),
    ("PFMLIB_MONT_EVT_NO_SET", ["PFMLIB_MONT_EVT_NO_SET"]),
    ("test_quirks.py::test_short_buffers", ["test_quirks.py::", "test_short_buffers"]),
    ("test_pythonic.py::test_coverage_is_checked", ["test_pythonic.py::", "test_", "coverage_", "is_", "checked"]),
    ("tests/c/queries.c", ["tests/", "c/", "queries.c"]),
    ("pfm_get_event_counters(i, NULL)", ["pfm_", "get_", "event_", "counters(i, NULL)"]),
    ("cc prog.c $(pypfm config --cflags --libs pfm3)", ["cc prog.c $(pypfm config --cflags --libs pfm3)"]),
    ("__attribute__", ["__attribute__"]), ("", []),
])
def test_where_a_name_breaks(text: str, parts: list[str]) -> None:
    assert long_names.pieces(text) == parts
    assert "".join(parts) == text


@pytest.mark.slow
def test_tables_fit_and_no_word_is_broken(site: Path) -> None:
    """The text of a literal has a new line only where a break is marked, at a space or where none is needed."""
    pages = [p for p in sorted(site.glob("deviations/*.html")) if 'class="wide' in p.read_text(encoding="utf-8")]
    assert len(pages) > 5
    with chromium() as browser, quiet_page(browser) as page:
        for path in pages:
            page.goto(path.as_uri())
            for width in (800, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                too_wide, broken = page.evaluate("""() => [
                    [...document.querySelectorAll("table.wide")].filter((t) => t.offsetWidth > t.parentElement.clientWidth + 1)
                        .map((t) => [t.offsetWidth, t.parentElement.clientWidth]),
                    [...document.querySelectorAll("table.wide code .pre")].filter((word) => word.getClientRects().length > 1)
                        .map((word) => word.textContent)]""")
                assert (path.name, width, too_wide, broken) == (path.name, width, [], [])


@pytest.mark.slow
def test_the_text_of_a_cell_is_whole(site: Path) -> None:
    html = BeautifulSoup((site / "deviations" / "pfm3_quirks.html").read_text(encoding="utf-8"), "html.parser")
    assert "test_quirks.py::test_short_buffers" in [code.get_text() for code in html.select("table.wide code")]
    assert html.select("table.wide code wbr")
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "test_short_buff" in index  # its stem: the search finds the whole of a name that can break
