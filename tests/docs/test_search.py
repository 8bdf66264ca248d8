"""The site's own search finds a page for the words that somebody in need types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from browser import chromium

pytestmark = pytest.mark.slow

FOUND = {
    "pkg-config": "guides/build_c", "find_package": "guides/build_c", "undefined reference": "guides/build_c",
    "pfmlib_itanium2.h": "guides/build_c", "mpirun": "guides/mpi", "srun": "guides/mpi", "ModuleNotFoundError": "faq",
    "ImportError": "faq", "segfault": "faq", "Segmentation fault": "faq", "core dumped": "faq", "Permission denied": "faq",
    "Operation not permitted": "faq", "perf_event_paranoid": "faq", "not available": "faq", "docker": "faq",
    "cannot initialize the library": "faq",
}


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    # Errors are not looked at: a page that is a file may not fetch others, from which the search makes its summaries.
    with chromium() as browser:
        yield browser.new_page()


@pytest.mark.parametrize("words", FOUND)
def test_search(page: Any, site: Path, words: str) -> None:
    page.goto(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    page.wait_for_function("/found|did not match/.test(document.querySelector('.search-summary')?.textContent ?? '')")
    links = page.evaluate("[...document.querySelectorAll('#search-results ul.search > li > a')].map((a) => a.href)")
    assert any(f"/{FOUND[words]}.html" in link for link in links)
