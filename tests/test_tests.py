"""Every test checks something on each way through it: read from the tests' own source.

A loop counts as run at least once.  A function that asserts, or calls one that does, is a check.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Checks and ends that are not functions of tests/.
KNOWN = {"raises", "warns", "fail", "skip", "exit", "check_call", "importorskip", "deprecated_call"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def called(node: ast.AST) -> set[str]:
    """The names of what is called, or passed on to be called, within a node."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)} & KNOWN
    if any(k.arg == "check" and isinstance(k.value, ast.Constant) and k.value.value is True
           for n in ast.walk(node) if isinstance(n, ast.Call) for k in n.keywords):
        names.add("check_call")
    return names


def checkers(trees: Iterable[ast.Module]) -> set[str]:
    """The names of the functions that assert, themselves or through others."""
    found = set(KNOWN)
    everything = [f for tree in trees for f in functions(tree)]
    found |= {f.name for f in everything if any(isinstance(n, (ast.Assert, ast.Raise)) for n in ast.walk(f))}
    calls = [(f.name, called(f)) for f in everything]
    while more := {name for name, names in calls if name not in found and names & found}:
        found |= more
    return found


class Ways:
    """Whether a test checks something on all ways through it."""

    def __init__(self, checks: set[str]) -> None:
        self._checks = checks

    def block(self, body: list[ast.stmt]) -> bool:
        for statement in body:
            if self.statement(statement):
                return True
            if not isinstance(statement, Function) and any(isinstance(n, ast.Return) for n in own(statement)):
                return False  # leaves before anything was checked
        return False

    def statement(self, node: ast.stmt) -> bool:  # noqa: PLR0911 - one for each kind of statement
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True
        if isinstance(node, ast.If):
            return bool(called(node.test) & self._checks) or (self.block(node.body) and self.block(node.orelse))
        if isinstance(node, (ast.For, ast.While)):
            head = node.iter if isinstance(node, ast.For) else node.test
            return bool(called(head) & self._checks) or self.block(node.body)
        if isinstance(node, ast.With):
            return any(called(i.context_expr) & self._checks for i in node.items) or self.block(node.body)
        if isinstance(node, ast.Try):
            handled = all(self.block(h.body) for h in node.handlers)
            return self.block(node.finalbody) or (handled and self.block([*node.body, *node.orelse]))
        if isinstance(node, Function):
            return False  # what is defined is not run yet; its call is
        return bool(called(node) & self._checks)


def own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes within one, without those of functions that it defines."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (Function, ast.Lambda)):
            yield from own(child)


def unchecked(tree: ast.Module, checks: set[str]) -> Iterator[str]:
    """The tests of a file that can end without a check."""
    seen = {f.name for f in functions(tree)} | {
        a.asname or a.name for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
    ways = Ways(checks & (seen | KNOWN))
    return (f"{f.lineno} {f.name}" for f in functions(tree) if f.name.startswith("test_") and not ways.block(f.body))


def empty(tree: ast.Module) -> Iterator[str]:
    """What checks nothing by its form."""
    for node in ast.walk(tree):
        where = getattr(node, "lineno", 0)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant) and node.test.value:
            yield f"{where} asserts a constant"
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            yield f"{where} asserts a tuple, which is always true"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.raises" and not node.keywords and any(
                ast.unparse(a) in {"Exception", "BaseException"} for a in node.args[:1]):
            yield f"{where} expects any error"
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.parametrize") and any(
                isinstance(a, (ast.List, ast.Tuple)) and not a.elts for a in node.args[1:2]):
            yield f"{where} has no parameters"
        if isinstance(node, ast.ExceptHandler) and all(isinstance(s, ast.Pass) for s in node.body) and (
                node.type is None or ast.unparse(node.type) in {"Exception", "BaseException", "AssertionError"}):
            yield f"{where} passes over any error"


def test_every_test_checks_something() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in HERE.rglob("*.py")}
    checks = checkers(trees.values())
    found = [f"{path.relative_to(HERE)}:{what}" for path, tree in trees.items() if path.name.startswith("test_")
             for what in (*unchecked(tree, checks), *empty(tree))]
    assert found == []
    assert len(trees) > 100


GOOD = ["assert x", "with pytest.raises(ValueError):\n  f()", "for x in y:\n  assert x", "helper()",
        "try:\n  x = f()\nexcept E as e:\n  assert e\nelse:\n  assert x", "if x:\n  assert x\nelse:\n  assert y",
        "assert x\nif x:\n  return\nassert y", "if x:\n  pytest.skip('y')\nassert y", "run(['x'], check=True)",
        "def f():\n  assert x\nf()"]
BAD = ["f()", "pass", "if x:\n  assert x", "try:\n  x = f()\nexcept E:\n  return\nassert x", "if x:\n  return\nassert x",
       "try:\n  assert f()\nexcept E:\n  pass", "def inner():\n  assert x"]


@pytest.mark.parametrize(("body", "good"), [*((b, True) for b in GOOD), *((b, False) for b in BAD)])
def test_control(body: str, good: bool) -> None:
    """What is a check, and what is none."""
    tree = ast.parse(body)
    checks = checkers([tree, ast.parse("def helper():\n  assert 1 == one()")])
    assert Ways(checks - {"f"} | (checks & {"f"} if "def f" in body else set())).block(tree.body) == good


@pytest.mark.parametrize("text", [
    "assert True", "assert (x, 'is wrong')", "pytest.raises(Exception)", "pytest.mark.parametrize('x', [])",
    "try:\n  f()\nexcept Exception:\n  pass"])
def test_control_of_empty_forms(text: str) -> None:
    assert len(list(empty(ast.parse(text)))) == 1
