"""How the sources hang together, as far as import-linter does not say."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterator

import pytest

from conftest import TESTS

ROOT = TESTS.parent
PMUS = {"itanium", "itanium2", "montecito", "gen_ia64"}
APART = "tests/replay"  # kept as they were delivered


def sources(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Files of the clone, by name."""
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_c"


def uses(package: str, tree: ast.Module) -> Iterator[str]:
    """Names with an underscore that a file uses of modules of pypfm, other than those of its own package."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pypfm":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules |= {alias.asname or alias.name: name for alias, name in zip(node.names, names, strict=True)}
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "pypfm"]
            modules |= {alias.asname: alias.name for alias in node.names if alias.asname}
        else:
            continue
        for name in names:
            parts = name.split(".")
            first = next((i for i, part in enumerate(parts) if private(part)), None)
            if first is not None and not f"{package}.".startswith(".".join(parts[:first]) + "."):  # its own, or around it
                yield ".".join(parts[:first + 1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and isinstance(node.value, ast.Name):
            home = modules.get(node.value.id, "")
            if home.rpartition(".")[2].islower() and home.rpartition(".")[0] != package:  # a module
                yield f"{node.value.id}.{node.attr}"


@pytest.mark.slow
def test_nobody_uses_what_another_package_keeps_to_itself() -> None:
    found = {(name, used) for name, tree in sources("pypfm", "tests", "docs") if not name.startswith(APART)
             for used in uses(name.rpartition("/")[0].replace("/", "."), tree)}
    assert set(found) == set()


@pytest.mark.parametrize(("code", "used"), [
    ("from pypfm.ia64 import _x", "pypfm.ia64._x"), ("from pypfm.cli._draw import table", "pypfm.cli._draw"),
    ("import pypfm.perf._x as y", "pypfm.perf._x"), ("from pypfm.perf import decode\ndecode._named", "decode._named"),
])
def test_control_such_a_use_is_found(code: str, used: str) -> None:
    assert list(uses("tests", ast.parse(code))) == [used]


def test_one_module_has_what_pmus_differ_in() -> None:
    """Nobody compares the name of a PMU: models.py has the number or the trait."""
    found = [f"{name}:{node.lineno}" for name, tree in sources("pypfm/ia64", "pypfm/perf", "pypfm/cli")
             for node in ast.walk(tree) if isinstance(node, ast.Compare)
             for part in ast.walk(node) if isinstance(part, ast.Constant) and part.value in PMUS | {"glm", "perf_raw"}]
    assert found == []


@pytest.mark.needs("git")
def test_what_is_built_is_not_kept() -> None:
    """Every file of the repository is text, but the recorded answers, which are compressed, and what fuzzing found."""
    if not (ROOT / ".git").exists():
        pytest.skip("these sources are no clone")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
    files = [ROOT / os.fsdecode(name) for name in names if name and not name.startswith(b"tests/fuzz/corpus/")]
    assert len(files) > 1000
    assert [file for file in files if file.suffix != ".bz2" and file.is_file() and b"\0" in file.read_bytes()] == []
