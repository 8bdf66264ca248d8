"""The names of the package itself, which are loaded when they are asked for."""

from __future__ import annotations

import ast
import inspect
import pydoc
import re
import sys
import textwrap
import zipfile
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

import pypfm
from conftest import clean_env, run, run_python


def test_dir_has_names_that_are_imported_when_asked_for() -> None:
    names = [name for names in pypfm._MODULES.values() for name in names]
    assert set(names) <= set(dir(pypfm))
    for name in names:
        assert getattr(pypfm, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'pypfm' has no attribute 'no_such_name'"):
        getattr(pypfm, "no_such" + "_name")


def test_a_name_costs_its_module_once() -> None:
    """From the second time on it is an attribute as any other."""
    first = pypfm.Itanium2
    assert vars(pypfm)["Itanium2"] is first
    assert type(pypfm) is ModuleType


def test_names_can_be_patched() -> None:
    with mock.patch("pypfm.Itanium2", autospec=True) as double:
        assert pypfm.Itanium2 is double
        with pytest.raises(TypeError):
            pypfm.Itanium2().encode(no_such_parameter=1)  # type: ignore[call-arg]
    assert pypfm.Itanium2.__name__ == "Itanium2"


INTERNAL = {"checks", "constants", "order", "of", "made", "tried", "tables", "not_in_config", "c_model", "c_settings", "place", "is_plain",
            "decided"}


def test_what_is_internal_is_not_completed() -> None:
    """Editors and notebooks offer what has no underscore."""
    encoding, code = pypfm.Itanium2().encode("CPU_CYCLES"), pypfm.Goldmont().encode("ICACHE:HIT")
    for value in (pypfm.Itanium2(), pypfm.Goldmont(), pypfm.Machine("xscale"), encoding, encoding["PMC4"], code, encoding.decode(),
                  code.decode(), pypfm.Request(plm=8), pypfm.Ear(0), pypfm.Itanium2().at(0), pypfm.Goldmont().at(0)):
        assert INTERNAL & set(dir(value)) == set(), type(value)


def test_in_a_zip_archive_it_says_that_it_cannot(tmp_path: Path) -> None:
    """A frozen program meets this, too, if it was made without what is loaded later."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(pypfm.__file__, "pypfm/__init__.py")
    ran = run(sys.executable, "-S", "-c", "import pypfm", cwd=tmp_path, env=clean_env(PYTHONPATH=str(tmp_path / "a.zip")))
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: pypfm in {tmp_path / 'a.zip'} is without its extension modules: ")
    assert "source tree" not in last


def test_a_name_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypfm, "Itanium2", 5)
    assert pypfm.Itanium2 == 5  # type: ignore[comparison-overlap]
    monkeypatch.undo()
    assert pypfm.Itanium2.__name__ == "Itanium2"


def page(module: ModuleType) -> list[str]:
    return pydoc.render_doc(module, renderer=pydoc.plaintext).splitlines()


def test_help_is_a_page() -> None:
    """It names all packages, and the classes to begin with; the rest is a call away."""
    lines = page(pypfm)
    assert len(lines) < 60
    assert max(map(len, lines)) <= 120
    text = "\n".join(lines[:lines.index("PACKAGE CONTENTS")])
    for name in ("Itanium2", "Montecito", "Itanium", "GenericIA64", "Context", "Goldmont", "Perf", "Counter", "Machine", "decode",
                 "pypfm.pfm3", "pypfm.pfm4", "pypfm.pmc", "pypfm.libperfex", "pypfm.perfex", "pypfm.layout", "pypfm.conform",
                 "pypfm.bench", "pypfm.config", "pypfm.errors"):
        assert name in text, name


@pytest.mark.usefixtures("runtime_dir")
def test_the_lines_of_the_page_run() -> None:
    lines = inspect.getdoc(pypfm).split("::\n")[-1].split("\n\nhelp(")[0]  # type: ignore[union-attr]
    names: dict[str, object] = {}
    exec(textwrap.dedent(lines), names)
    assert names["encoding"]["PMC4"].value  # type: ignore[index]


def test_type_checkers_see_the_names_of_the_package() -> None:
    """pypfm/__init__.pyi has the names that pypfm/__init__.py loads when they are asked for."""
    seen = set()
    for node in ast.parse(Path(pypfm.__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign):
            seen.add(ast.unparse(node.target))
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                seen |= set(import_module(node.module or "").__all__) if name.name == "*" else {name.asname or name.name}
    assert seen - {"__all__"} == set(dir(pypfm))


@pytest.mark.parametrize("name", ["ia64", "perf", "netbsd", "perfex", "layout", "conform"])
def test_help_of_a_package_begins_with_a_map(name: str) -> None:
    """After it follow its classes in full, which is what help() of a package is for: to limit it, ask for one of them."""
    module = import_module(f"pypfm.{name}")
    lines = page(module)
    first = next(i for i, line in enumerate(lines) if line in {"PACKAGE CONTENTS", "CLASSES"})
    assert first < 45
    text = "\n".join(lines[:first])
    assert [public for public in module.__all__ if not re.search(rf"\b{public}\b", text)] == []


@pytest.mark.parametrize("name", ["ia64", "perf", "netbsd", "perfex", "layout", "conform", "bench"])
def test_dir_of_a_package_has_its_names(name: str) -> None:
    """Also of those that load when they are asked for, in a process where nobody has asked yet."""
    ran = run_python(f"import pypfm.{name} as package\nprint(set(getattr(package, '__all__', ())) - set(dir(package)))")
    assert ran.stdout == "set()\n", ran.stderr


@pytest.mark.parametrize("asked", ["pfm3.pfm_dispatch_events", "pfm4.pfm_get_os_event_encoding", "pmc.pmc_control", "pfm3.byref", "decode",
                                   "perfex.counting", "layout.describe", "layout.diff"])
def test_help_of_a_function_is_a_page(asked: str) -> None:
    found: Any = pypfm
    for part in asked.split("."):
        found = getattr(found, part)
    assert 4 < len(pydoc.render_doc(found, renderer=pydoc.plaintext).splitlines()) < 60
