"""Links of the built site: every local file that is named exists, and every anchor in it."""

from __future__ import annotations

import re
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
        self.takes_values = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif name in ("href", "src"):
                self.links.add(value or "")
            self.takes_values |= (name, value) == ("class", "pfm-tool")

    def has(self, anchor: str) -> bool:
        """Whether an anchor is there, or is values for the tool of a register page."""
        values = self.takes_values and re.fullmatch(r"[A-Z]\w*=0x[0-9a-f]+(&[A-Z]\w*=0x[0-9a-f]+)*", anchor)
        return anchor in self.anchors or bool(values)


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
            is_bad_anchor = anchor and target in pages and not pages[target].has(anchor)
            if not target.is_file() or is_bad_anchor:
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    return found


def test_links(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 30
    assert broken(site) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a id="here" href="b.html#there"></a><a href="#here"></a><a href="https://x/y">'
                                     '<a href="t.html#PMC4=0x1&PMC5=0x2"></a><a href="t.html#PMC4=1"></a>')
    (tmp_path / "t.html").write_text('<div class="pfm-tool" hidden></div><a href="a.html#PMC4=0x1"></a>')
    (tmp_path / "b.html").write_text('<a href="a.html#not"></a><img src="c.png"><a href="a.html?x#here">')
    assert sorted(broken(tmp_path)) == ["a.html: b.html#there", "a.html: t.html#PMC4=1", "b.html: a.html#not", "b.html: c.png",
                                        "t.html: a.html#PMC4=0x1"]
