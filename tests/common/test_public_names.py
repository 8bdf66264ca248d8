"""The names of the package itself, which are loaded when they are asked for."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pypfm


def test_dir_has_names_that_are_imported_when_asked_for() -> None:
    assert set(pypfm.__all__) <= set(dir(pypfm))


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
