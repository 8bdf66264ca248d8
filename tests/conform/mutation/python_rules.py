#!/usr/bin/env python3
"""Whether the tests notice Python modules in which one operator, condition or number is changed.

    python_rules.py [--every N] [--jobs N] [--module TEXT]

The changes are made on the parsed source, one at a time; the tests of the module run on each, in a process that
imports the changed module in place of the installed one.  Prints what no test notices; exits 1 when it is more
than one of ten.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import hypothesis
import pytest

TESTS = Path(__file__).resolve().parents[2]
SHARE = 0.9
PATIENCE = 300  # seconds of a processor; a change that makes the tests take more is noticed

_ENCODE = ["ia64/test_refusals.py", "ia64/test_pythonic.py", "ia64/test_itanium.py", "ia64/test_limits.py", "pfm3/test_manual_both.py"]
_DECODE = ["ia64/test_decode.py", "ia64/test_decode_data_registers.py", "ia64/test_decode_properties.py",
           "ia64/test_decode_pfm3_vectors.py"]
#: The modules, and the tests of each: those first that take little time.
MODULES = {
    **{f"pypfm.ia64.{name}": _ENCODE for name in ("encode", "diagnose")},
    **{f"pypfm.ia64.{name}": [*_ENCODE, "ia64/test_covered_ranges.py"] for name in ("promises", "coverage")},
    **{f"pypfm.ia64.decode.{name}": _DECODE
       for name in ("decoded", "meanings", "reencoding", "reencoding_ranges", "settings", "trace_buffer")},
    "pypfm.perf.diagnose": ["perf/test_refused_strings.py", "perf/test_goldmont.py"],
    "pypfm.perf.offcore": ["perf/test_refused_strings.py", "perf/test_decode_codes.py", "perf/test_goldmont.py"],
    "pypfm.perf.decode": ["perf/test_decode_codes.py", "perf/test_decode_pfm4_vectors.py"],
}

#: Changes that no test can notice, and why.
EQUIVALENT = {
    "request._is_plain -> False  [if request._is_plain:]": "a plain request has nothing of what is checked below",
    "0 -> 1  [if event.plm != 0:]": "level 1 fits its field",
    "type(item) is str -> False  [wanted = item if isinstance(item, EventRequest) else _by_name(item) if]": "a short way",
    "not colon and (not wanted.unit_masks) -> False  [if not colon and not wanted.unit_masks:]": "a short way",
    "1024 -> 1025  [_by_name = lru_cache(maxsize=1024)(EventRequest)]": "the size of a cache",
}

# hypothesis has been imported before pytest could rewrite its assertions.
OPTIONS = ["-x", "-q", "-n0", "-m", "slow or not slow", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning",
           "--hypothesis-seed=1", "--hypothesis-profile=mutation", f"--rootdir={TESTS.parent}", "-c", str(TESTS.parent / "pyproject.toml")]

_PAIRS: list[tuple[Any, Any]] = [
    (ast.Eq, ast.NotEq), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.In, ast.NotIn), (ast.Is, ast.IsNot), (ast.And, ast.Or),
    (ast.Add, ast.Sub), (ast.BitAnd, ast.BitOr), (ast.LShift, ast.RShift)]
OTHER = dict(_PAIRS) | {b: a for a, b in _PAIRS}


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a module that are run."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


def _changes(node: Any) -> Iterator[tuple[str, Any]]:
    """What can be changed in a node: the name of a field, and its other value."""
    if isinstance(node, ast.Compare):
        for n, op in enumerate(node.ops):
            yield "ops", [*node.ops[:n], OTHER[type(op)](), *node.ops[n + 1:]]
    elif isinstance(node, ast.BoolOp) or (isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OTHER):
        yield "op", OTHER[type(node.op)]()
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield "test", ast.Constant(False)
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "ifs", []
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "operand", ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "value", node.value + 1


def changed(source: str) -> Iterator[tuple[str, str]]:
    """Every change of a module: where and what, and the changed source."""
    tree = ast.parse(source)
    lines = source.splitlines()
    line = 0
    for place, node in enumerate(_nodes(tree)):
        line = getattr(node, "lineno", line)
        for name, value in _changes(node):
            other = copy.deepcopy(tree)
            found = next(n for i, n in enumerate(_nodes(other)) if i == place)
            old = ast.unparse(getattr(found, "iter" if isinstance(found, ast.comprehension) else "test")
                              if name in ("test", "ifs") else found)
            setattr(found, name, value)
            ast.fix_missing_locations(other)
            new = {"test": "False", "ifs": "no condition"}.get(name) or ast.unparse(found)
            yield f"{line}: {old} -> {new}  [{lines[line - 1].strip()[:70]}]", ast.unparse(other)


class Replaced:
    """Finds a module in a source that is given, and nothing else."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self.name else None  # type: ignore[arg-type]

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        exec(compile(self.source, f"<{self.name}>", "exec"), module.__dict__)


def start(module: str, source: str) -> int:
    """Run a module's tests on a source, in a process whose exit status is pytest's; its number."""
    if child := os.fork():
        return child
    status = -1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        sys.meta_path.insert(0, Replaced(module, source))
        status = pytest.main([*OPTIONS, *(str(TESTS / t) for t in MODULES[module])])
    finally:
        os._exit(status)


def run(cases: Sequence[tuple[str, str, str]], jobs: int) -> Iterator[tuple[str, str, bool]]:
    """Of each case (module, what is changed, source): whether a test notices it."""
    running: dict[int, tuple[str, str, str]] = {}
    for n in range(len(cases) + jobs):
        if len(running) == jobs or (running and n >= len(cases)):
            child, status = os.wait()
            module, what, _ = running.pop(child)
            code = os.waitstatus_to_exitcode(status)
            assert code in (0, 1, 2, -signal.SIGXCPU), f"{module}: {what}: pytest ends with {code}"
            yield module, what, code != 0
        if n < len(cases):
            running[start(cases[n][0], cases[n][2])] = cases[n]


def main() -> int:
    parser = argparse.ArgumentParser(description="Do the tests notice changed Python modules?")
    parser.add_argument("--every", type=int, default=1, help="one of so many changes")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--module", default="", help="modules with this text only")
    args = parser.parse_args()
    begin = time.monotonic()
    # A failure is enough: no smaller one is looked for.
    hypothesis.settings.register_profile("mutation", phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
                                         database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
    sources = {name: Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")  # type: ignore[union-attr,arg-type]
               for name in MODULES if args.module in name}
    # Their packages have been imported by that; the changed ones are to be.
    for name in [n for n in sys.modules if n.startswith("pypfm") and not n.startswith("pypfm._c")]:
        del sys.modules[name]
    whole = [(name, "nothing", source) for name, source in sources.items()]
    for module, _, noticed in run(whole, args.jobs):
        assert not noticed, f"{module}: its tests fail without a change"
    cases = [(name, what, text) for name, source in sources.items() for what, text in changed(source)
             if what.partition(": ")[2] not in EQUIVALENT][::args.every]
    survivors = 0
    for module, what, noticed in run(cases, args.jobs):
        if not noticed:
            survivors += 1
            print(f"not noticed: {module}:{what}", flush=True)
    print(f"{len(cases) - survivors} of {len(cases)} changes noticed ({time.monotonic() - begin:.0f} s)")
    return 0 if cases and len(cases) - survivors >= SHARE * len(cases) else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)  # of what tests leave where they run
        sys.exit(main())
