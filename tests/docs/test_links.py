"""Links of the built site: every local file that is named exists, and every anchor in it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif name in ("href", "src"):
                self.links.add(value or "")


def broken(site: Path) -> list[str]:
    """Links that lead nowhere, with the page that has them."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # another site, data:
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            is_bad_anchor = anchor and target in pages and anchor not in pages[target].anchors
            if not target.is_file() or is_bad_anchor:
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    return found


def test_links(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 30
    assert broken(site) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a id="here" href="b.html#there"></a><a href="#here"></a><a href="https://x/y">')
    (tmp_path / "b.html").write_text('<a href="a.html#not"></a><img src="c.png"><a href="a.html?x#here">')
    assert sorted(broken(tmp_path)) == ["a.html: b.html#there", "b.html: a.html#not", "b.html: c.png"]
