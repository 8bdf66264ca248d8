"""The editable installation of README's first command: what the C build makes lies in another directory than the Python files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pypfm
from conftest import ROOT, run
from pypfm.config import LIBRARIES, Library, built

pytestmark = pytest.mark.slow

editable = pytest.mark.skipif(len(pypfm.__path__) == 1, reason="pypfm is installed as a copy (pip install without -e)")


def test_files_of_the_build_are_looked_for_in_all_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "perfex").mkdir(parents=True)
    (second / "perfex" / "tables").mkdir(parents=True)
    monkeypatch.setattr(pypfm, "__path__", [str(first), str(second)])
    assert built("perfex/tables") == second / "perfex/tables"
    assert built("lib/pfm3") == first / "lib/pfm3"  # named in the message that it is missing
    monkeypatch.setattr(pypfm, "__path__", [str(second)])
    assert built("perfex/tables") == second / "perfex/tables"


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_libraries_and_headers_are_there(library: Library) -> None:
    assert library.path.is_file()
    assert list(library.include_dir.rglob("*.h"))


@editable
@pytest.mark.parametrize("where", [ROOT, ROOT / "docs", Path("/")], ids=["clone", "docs", "elsewhere"])
def test_python_files_are_those_of_the_clone(where: Path) -> None:
    """From any directory; the extension modules are not."""
    code = "import pypfm, pypfm._c.pfm3\nprint(pypfm.__file__)\nprint(pypfm._c.pfm3.__file__)"
    done = run(sys.executable, "-c", code, cwd=where)
    source, extension = map(Path, done.stdout.splitlines())
    assert source == ROOT / "pypfm" / "__init__.py"
    assert not extension.is_relative_to(ROOT / "pypfm")
