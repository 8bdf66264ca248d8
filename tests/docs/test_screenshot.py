"""README's picture shows what perfex prints: its text is that of a run today, but for numbers that depend on the machine."""

from __future__ import annotations

import html
import re

import pytest

from conftest import ROOT
from tools import needs

PICTURES = [ROOT / "docs" / "_static" / f"perfex-{name}.svg" for name in ("light", "dark")]


def texts(svg: str) -> list[str]:
    """The lines of a picture."""
    rows: dict[str, str] = {}
    for place, text in re.findall(r'<text [^>]*\by="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows[place] = rows.get(place, "") + html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
    return [row.rstrip() for row in rows.values()]


def without_numbers(text: str) -> list[list[str]]:
    """The words of each line, without this machine's caches."""
    text = re.sub(r"caches: .*?\n(?=memory)", "", text, flags=re.S)
    return [re.sub(r"[\d.,]+", " N ", line).split() for line in text.strip().split("\n") if line.strip()]


@pytest.mark.slow
def test_the_picture_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("valgrind", "gcc")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import screenshot
    printed = screenshot.session().plain
    for picture in PICTURES:
        shown = "\n".join(texts(picture.read_text(encoding="utf-8")))
        assert without_numbers(shown) == without_numbers(printed)
    assert "matrix.c:23" in printed


def test_both_pictures_have_the_same_text() -> None:
    light, dark = (texts(picture.read_text(encoding="utf-8")) for picture in PICTURES)
    assert light == dark
    assert any("matrix.c:23" in line for line in light)
