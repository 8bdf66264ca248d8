"""The search of the built site, in a browser: the page that answers a question is the first that is found."""

from __future__ import annotations

import functools
import http.server
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

import pytest

from browser import chromium, quiet_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

QUESTIONS = {
    "install": "guides/install", "uninstall": "guides/install", "requirements": "guides/install",
    "event code": "guides/any_libpfm4", "raw code": "guides/any_libpfm4", "skylake": "guides/any_libpfm4",
    "no counters": "guides/cache_misses", "virtual machine": "guides/cache_misses", "cache misses": "guides/cache_misses",
    "source line": "guides/cache_misses", "valgrind": "guides/perfex", "compare two runs": "guides/perfex",
    "perfmon2": "glossary", "multiplexing": "glossary", "sampling": "guides/run_perfmon",
    "old C program": "guides/build_c", "compile": "guides/build_c", "MPI": "guides/mpi",
    "conformance": "guides/conformance", "ABI": "guides/conformance", "fine mode": "glossary",
    "offcore response": "guides/goldmont_codes", "PAPI": "guides/papi_itanium", "threads": "guarantees",
    "fork": "guarantees", "signals": "guarantees", "error codes": "python/errors", "layout": "python/layout",
    "structures": "python/layout", "registers": "registers/index", "command line": "commands/index",
    "pypfm encode": "commands/encode", "pypfm find": "commands/find", "pfm_dispatch_events": "c/pfm3/pfmlib",
}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the browser leaves pages before they have come."""

    def do_GET(self) -> None:
        if self.path != "/favicon.ico":  # for which each browser asks
            return super().do_GET()
        self.send_response(204)
        return self.end_headers()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # likewise
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def _without_summaries(route: Route) -> None:
    """For which the browser loads each page that is found."""
    options = route.fetch()
    shown, hidden = "SHOW_SEARCH_SUMMARY: true", "SHOW_SEARCH_SUMMARY: false"
    assert shown in options.text()
    route.fulfill(response=options, body=options.text().replace(shown, hidden))


@pytest.mark.long
def test_the_first_page_answers(browser: Browser, address: str) -> None:
    wrong = []
    with quiet_page(browser) as found:
        found.route("**/documentation_options.js*", _without_summaries)
        for question, page in QUESTIONS.items():
            found.goto(f"{address}/search.html?q={quote_plus(question)}")
            first = found.locator("#search-results ul.search li a").first.get_attribute("href") or ""
            if first.partition("?")[0].partition("#")[0].removesuffix(".html") != page:
                wrong.append((question, page, first))
    assert wrong == []
