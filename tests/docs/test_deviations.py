"""Every row of docs/deviations names the test that holds it, and that test exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree

TESTS = Path(__file__).parents[1]
PAGES = sorted((TESTS.parent / "docs/deviations").glob("*.rst"))
NAME = re.compile(r"(?:tests/)?(?:\w+/)*(\w+\.(?:py|c))(?:::(\w+))?$")


def rows(page: Path) -> Iterator[list[nodes.entry]]:
    """Rows of the page's tables that have a test."""
    text = page.read_text(encoding="utf-8")
    # Sphinx's own directives and roles are not docutils'; none is inside of a table.
    text = re.sub(r"^\.\. (toctree|layout-diff)::.*(\n(   .*)?$)*", "", text, flags=re.MULTILINE)
    tree = publish_doctree(re.sub(r":doc:`", "`", text), settings_overrides={"report_level": 4})
    for table in tree.findall(nodes.table):
        header, *body = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        if header[-1].astext() == "test":
            yield from body


ROWS = [(page.stem, row) for page in PAGES for row in rows(page)]


def test_the_pages_have_rows() -> None:
    assert len(ROWS) > 100
    assert {page for page, _ in ROWS} == {"pfm3", "pfm3_quirks", "pfm4", "pmc", "perfex"}


@pytest.mark.parametrize(("page", "row"), ROWS, ids=[f"{page}-{i}" for i, (page, _) in enumerate(ROWS)])
def test_the_test_exists(page: str, row: list[nodes.entry]) -> None:
    what, tests = row[0].astext(), row[-1]
    names = [literal.astext() for literal in tests.findall(nodes.literal)]
    assert names or tests.astext().startswith("none: "), f"{page}: {what}: no test"
    for name in names:
        match = NAME.match(name)
        assert match, f"{page}: {what}: {name}"
        files = list(TESTS.rglob(match[1]))
        assert len(files) == 1, f"{page}: {what}: {name}: {files}"
        function = match[2]
        assert function is None or f"def {function}(" in files[0].read_text(encoding="utf-8"), f"{page}: {what}: {name}"
