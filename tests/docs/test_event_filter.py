"""The box above an event catalogue, on a page as small as it can be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import chromium, quiet_page
from conftest import ROOT

PAGE = """<!DOCTYPE html><title>Events</title><p class="pfm-summary">Three events</p>
<section id="cpu-events"><div class="pfm-family"><p class="pfm-title">CPU</p><dl class="pfm-events">
<dt id="CPU_CYCLES">CPU_CYCLES</dt><dd>0x12 clock ticks</dd><dt id="CPU_SWITCH">CPU_SWITCH</dt><dd>0x13 switches</dd>
</dl></div></section>
<section id="l2-events"><div class="pfm-family"><dl class="pfm-events"><dt id="L2_MISSES">L2_MISSES</dt><dd>0xcb misses</dd></dl></div>
</section>"""
SHOWN = "[...document.querySelectorAll('dt')].filter((dt) => dt.checkVisibility()).map((dt) => dt.id)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    file: Path = tmp_path_factory.mktemp("filter") / "events.html"
    file.write_text(PAGE, encoding="utf-8")
    with chromium() as browser, quiet_page(browser) as made:
        made.goto(file.as_uri())
        made.add_style_tag(path=ROOT / "docs" / "_static" / "pfm.css")
        made.add_script_tag(path=ROOT / "docs" / "_static" / "pfm-filter.js")
        yield made


@pytest.mark.parametrize(("words", "shown", "said"), [
    ("", ["CPU_CYCLES", "CPU_SWITCH", "L2_MISSES"], ""), ("cpu 0x12", ["CPU_CYCLES"], "1 of 3 events"),
    ("  CPU ", ["CPU_CYCLES", "CPU_SWITCH"], "2 of 3 events"), ("cpu misses", [], "no event has all these words"),
])
def test_the_filter_says_what_it_shows(page: Any, words: str, shown: list[str], said: str) -> None:
    page.get_by_label("Filter events").fill(words)
    assert page.evaluate(SHOWN) == shown
    assert page.get_by_role("status").inner_text() == said


def test_links_with_a_filter(page: Any) -> None:
    """A link to what the filter hides takes it away; an address that names nothing breaks nothing."""
    box = page.get_by_label("Filter events")
    for address in ("%zz", "%", "nothing", ""):
        box.fill("misses")
        page.evaluate("(hash) => { location.hash = hash; dispatchEvent(new Event('hashchange')); }", address)
        assert page.evaluate(SHOWN) == ["L2_MISSES"]
    page.evaluate("location.hash = 'CPU_CYCLES'")
    page.wait_for_function("document.querySelector('input').value === ''")
    assert len(page.evaluate(SHOWN)) == 3
