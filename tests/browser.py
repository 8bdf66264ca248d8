"""Chromium for tests of pages and their scripts, by the library playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tools import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["chromium", "quiet_page"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's own chromium; the test is skipped, with a reason, where that or the library is missing."""
    program = needs("chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright (extra test)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def quiet_page(browser: Browser, **options: object) -> Iterator[Page]:
    """A page in a context of its own, whose scripts must not fail."""
    context = browser.new_context(**options)  # type: ignore[arg-type]  # options of playwright, each of its own type
    errors: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    try:
        yield page
    finally:
        context.close()
    assert errors == []
