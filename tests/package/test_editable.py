"""The editable installation of README's first command: what the C build makes lies in another directory than the Python files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pypfm
from conftest import ROOT, run
from pypfm.config import LIBRARIES, Library, built
from tools import needs

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


@editable
def test_type_checkers_see_the_generated_stubs(tmp_path: Path) -> None:
    """They do not follow import hooks: the stubs are a partial stub package."""
    mypy = needs("mypy")
    program = tmp_path / "program.py"
    program.write_text("from pypfm import Itanium2, pfm3\nfrom pypfm._c.pfm4 import lib\n"
                       "reveal_type(Itanium2().encode(['CPU_CYCLES']))\nreveal_type(pfm3.pfm_initialize())\nlib.no_such_name\n")
    done = run(mypy, "--strict", "--python-executable", sys.executable, program, cwd=tmp_path)
    assert 'Revealed type is "pypfm.ia64.encoding.Encoding"' in done.stdout
    assert 'Revealed type is "builtins.int"' in done.stdout
    assert 'has no attribute "no_such_name"' in done.stdout
    assert "Found 1 error in 1 file" in done.stdout
