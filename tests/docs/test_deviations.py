"""Every row of docs/deviations names the test that holds it; that test runs, and is about the row."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from docutils import nodes
from docutils.core import publish_doctree

pytestmark = pytest.mark.slow

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
    assert {page for page, _ in ROWS} == {"pfm3", "pfm3_quirks", "perfmon2", "pfm4", "pmc", "perfex"}


@cache
def files() -> dict[str, list[Path]]:
    """The files of the tests, by name."""
    found: dict[str, list[Path]] = {}
    for path in TESTS.rglob("*.[cp]*"):
        found.setdefault(path.name, []).append(path)
    return found


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(source(path))


class Named(NamedTuple):
    """A test that a row names: a whole file, or a function of it."""

    name: str
    path: Path
    function: str | None

    def functions(self) -> list[ast.FunctionDef]:
        """The tests, as pytest collects them."""
        found = ast.walk(parsed(self.path))
        return [f for f in found if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")
                and self.function in (None, f.name)]

    def text(self) -> str:
        """What stands in the test and in what it uses of its file: tables of cases, helpers."""
        text = source(self.path)
        if self.function is None or self.path.suffix == ".c":
            return text
        used = {n.id for f in self.functions() for n in ast.walk(f) if isinstance(n, ast.Name)}
        body = parsed(self.path).body
        return "".join(ast.get_source_segment(text, part) or "" for part in body if names_of(part) & {self.function, *used})


def names_of(part: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    targets = part.targets if isinstance(part, ast.Assign) else [part.target] if isinstance(part, ast.AnnAssign) else []
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)} | {getattr(part, "name", "")}


def named_in(row: list[nodes.entry]) -> list[Named]:
    tests = []
    for literal in row[-1].findall(nodes.literal):
        match = NAME.match(literal.astext())
        assert match, literal.astext()
        paths = files().get(match[1], [])
        assert len(paths) == 1, f"{literal.astext()}: {paths}"
        tests.append(Named(literal.astext(), paths[0], match[2]))
    return tests


def always_skipped(function: ast.FunctionDef) -> bool:
    """Whether a test is marked so that it never runs."""
    marks = [ast.unparse(d) for d in function.decorator_list]
    return any(re.search(r"mark\.skip(\(|$)|mark\.skipif\((True|1)\b|mark\.xfail", m) for m in marks)


# Words that stand in nearly every row and file.
COMMON = {"bits", "event", "events", "from", "have", "here", "none", "null", "pfmlib", "read", "says", "that", "the",
          "this", "value", "values", "what", "when", "with"}


def words(text: str) -> set[str]:
    """The words of a text, and those that names are made of, without endings."""
    return {w.lower()[:6] for w in re.findall(r"[A-Za-z][a-z]{2,}|[A-Z]{3,}|\d{2,}", text) if w.lower() not in COMMON}


def why_not_run(page: str, row: list[nodes.entry]) -> Iterator[str]:
    """A row's test is there, pytest collects it, it is not skipped whatever happens; a C program is one that a test builds."""
    what, tests = f"{page}: {row[0].astext()}", named_in(row)
    if not tests and not row[-1].astext().startswith("none: "):
        yield f"{what}: no test"
    for test in tests:
        if test.path.suffix == ".c":
            built = [TESTS / "c" / "CMakeLists.txt", *(TESTS / "c").glob("*.cmake"), *TESTS.rglob("test_*.py"), TESTS / "c_programs.py"]
            if test.function and not re.search(rf"\b{test.function}\(", test.text()):
                yield f"{what}: {test.name} does not exist"
            if not any(test.path.stem in source(file) for file in built):
                yield f"{what}: {test.name} is not built"
        elif not test.path.name.startswith("test_"):
            yield f"{what}: pytest does not collect {test.name}"
        elif all(map(always_skipped, test.functions())):  # or there is none
            yield f"{what}: {test.name} never runs"


def test_the_test_of_each_row_runs() -> None:
    assert [why for page, row in ROWS for why in why_not_run(page, row)] == []


def test_the_test_is_about_the_row() -> None:
    """They have words in common: a row whose test was moved, or was copied from another row, does not."""
    strange = [(page, row[0].astext(), test.name) for page, row in ROWS for test in named_in(row)
               if not words(" ".join(entry.astext() for entry in row[:-1])) & words(test.text())]
    assert strange == []


def test_control_what_is_skipped_is_seen() -> None:
    marks = {"@pytest.mark.skip": True, "@pytest.mark.skip(reason='x')": True, "@pytest.mark.skipif(True, reason='')": True,
             "@pytest.mark.skipif(sys.platform == 'x', reason='')": False, "@needs_perf": False, "@pytest.mark.xfail": True}
    for mark, skipped in marks.items():
        function = ast.parse(f"{mark}\ndef test_it(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        assert always_skipped(function) == skipped, mark


EMPTY_ITEM = re.compile(r"<li>(?:\s|</?p>)*</li>")


def test_no_list_item_of_the_site_is_empty(site: Path) -> None:
    """What stands for "nothing to say" in a table must not be a dash: that is an empty list."""
    found = {page.relative_to(site).as_posix(): n for page in site.rglob("*.html")
             if (n := len(EMPTY_ITEM.findall(page.read_text(encoding="utf-8"))))}
    assert found == {}


def test_every_cell_says_something() -> None:
    assert [(page, row[0].astext()) for page, row in ROWS for cell in row if not cell.astext().strip()] == []
