#!/usr/bin/env python3
"""Whether the tests notice Python modules in which one operator, condition or number is changed.

    python_rules.py [--sample N] [--seed N] [--jobs N] [--module TEXT]

The changes are made on the parsed source, one at a time, in an installed copy of the package for each job; a package's
tests run on each, until one fails.  Prints what no test notices; exits 1 when it is more than one of twenty.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import resource
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import Any

TESTS = Path(__file__).resolve().parents[2]
ROOT = TESTS.parent
SHARE = 0.95
PATIENCE = 300  # seconds of a processor, and twice as many in all; a change that makes the tests take more is noticed

#: The packages; the directories whose fast tests are run, and what is run as a whole where none of these notices.
PACKAGES = {
    "_c": (["mirrors", "pmc", "layout", "pfm4", "pfm3", "perfmon2"], ["mirrors", "layout"]),
    "common": (["common", "layout", "ia64", "perf", "perfmon2"], ["common", "perfex/test_command.py", "cli/test_cli.py"]),
    "ia64": (["ia64", "perf", "perfmon2/test_perfmon2_context.py", "pfm3"],
             ["ia64", "perfmon2/test_perfmon2_context.py", "cli/test_decode_cli.py", "cli/test_cli.py"]),
    "layout": (["layout"], ["layout", "cli/test_cli.py"]),
    "perf": (["perf", "pfm4", "ia64"], ["perf", "cli/test_decode_cli.py", "cli/test_library_cli.py"]),
}

#: Changes that no test can notice, and why.
EQUIVALENT = {
    "request._is_plain -> False  [if request._is_plain:]": "a plain request has nothing of what is checked below",
    "0 -> 1  [if event.plm != 0:]": "level 1 fits its field",
    "type(item) is str -> False  [wanted = item if isinstance(item, EventRequest) else _by_name(item) if]": "a short way",
    "not colon and (not wanted.unit_masks) -> False  [if not colon and not wanted.unit_masks:]": "a short way",
    "1024 -> 1025  [_by_name = lru_cache(maxsize=1024)(EventRequest)]": "the size of a cache",
    "1 -> 2  [_MOST_EVENTS = 1 << 20]": "where a list without an end is left",
    "14 -> 15  [_MOST_PMUS = 1 << 14]": "likewise",
    "len(tokens) <= _MOST_TRIED -> len(tokens) < _MOST_TRIED  [bad = _first_bad(pmu, tokens, os) if len(tokens) <= _MOST_TRIED else N]":
        "how much is tried",
    "value > _LARGEST_LEAST -> value >= _LARGEST_LEAST  [elif any(words) or value > _LARGEST_LEAST:]": "likewise",
    "s.bits & differs -> s.bits | differs  [if len(switches) > _MOST_SHARED or not any(s.bits & differs for s in s]": "more is tried",
    "1 -> 2  [return self._by_name.get(name.lower(), -1)]": "any negative number",
    "15 -> 16  [if not 0 < levels <= 0xF:]": "the encoder refuses it as well",
    "4 -> 5  [_MEMORY = 4 << 30  # bytes of address space]": "where what is too much is given up",
    "3 -> 4  [return (3 if event.group == \"L1\" and num == 5 else 2), num]": "only the order matters",
    "name not in base.needed -> name in base.needed  [bases = sorted(self.bases, key=lambda base: name not in base.needed)[:]":
        "what is tried first",
    "base + field.offset -> base - field.offset  [_members(ffi, inner, ctype, base + field.offset) if inner else ())]":
        "in our headers such structures are in unions",
    "0 -> 1  [return depth, Scalar(\"signed\" if int(ffi.cast(ctype, -1)) < 0 else \"un]": "C's -1 is itself or its largest number",
    "16 -> 17  [failed = os.read(self._failure, 16)  # ends when the program is execut]": "more than the digits of an errno value",
    "limits[0] == limits[1] -> limits[0] != limits[1]  [if len(limits) == 2 and limits[0] == limits[1]:]":
        "the first range of two that differ is tried in place of two equal ones",
    "0 -> 1  [found: tuple[_Base | None, int, frozenset[str]] = None, 0, chosen]": "what is not found has no distance",
    "8 -> 9  [_THRESHOLDS = range(8)  # what the field of a threshold holds]": "a threshold that no field holds is refused",
    "4 -> 5  [_PLMS = tuple(sorted((sum(levels) for n in range(4) for levels in comb]": "there are three levels",
    "1 -> 2  [self.asked = EventRequest(self.event, unit_masks=[mask.name for mask i]": "which unit mask is no matter there",
    "0 -> 1  [ever = reduce(or_, (event.ever for event in self._events), 0)]": "some event sets bit 0",
    "plm != lib.PFM_PLM3 -> plm == lib.PFM_PLM3  [(lib.PFM_PLM3, lib.PFM_PLM0, lib.PFM_PLMH), n)), key=lambda plm: plm !]":
        "which of the levels are tried first",
    "not _shares_data_ear(given) -> not not _shares_data_ear(given)  [plain_first = bool(base.model_input) and not _shares_data_ear(given)]":
        "what is tried first",
    "0 -> 1  [return self.model.dear_pmds[0] in self.to_read]": "the library asks for all PMDs of an EAR, or for none",
    "0 -> 1  [flags = lib.PFM_SETFL_TIME_SWITCH if how.timeout else lib.PFM_SETFL_OV]":
        "a set that overflows may end, where no counter has a number of overflows",
    "16384 -> 16385  [_LIMIT = 16384  # bytes that one call takes]": "no element has one byte",
    "1 -> 2  [libc.setenv(name, value, 1)]": "any number that is not 0",
    "b'%s' in form and argument -> b'%s' in form or argument  [more = [decoded(ctypes.string_at(argument))] if b\"%s\" in form and argu]":
        "without %s C passes no argument: what is read in its place is chance",
    "14 -> 15  [_MOST_ATTRIBUTES = 1 << 14]": "where a list without an end is left",
    "base is None or distance >= best -> False  [if base is None or distance >= best:]":
        "it ends when no unit mask is left, or at a code that is found",
    "48 -> 49  [if not _SMALLEST_BUFFER <= size < 1 << 48:]": "no memory has so much",
    "0 <= token <= _MAX_UINT -> 0 <= token < _MAX_UINT  [if 0 <= token <= _MAX_UINT:  # C says whether the event has it]":
        "an error in either case",
    "20 -> 21  [_POLL_LONGEST = 1 << 20  # seconds; poll(2) has no more]": "one wait is made in more parts",
    "2 -> 3  [_HALF_USED = 2]": "any number but 0 and 1",
    "64 -> 65  [words[number // 64] |= 1 << number % 64]": "no PMU has registers from 64 on",
    "1 -> 2  [least = reduce(and_, own.values(), -1)]": "bit 0 is the event's: all have it, or none",
    "0 -> 1  [pointer = lib.pfm_mmap(ffi.NULL, size, _PROT_READ, _MAP_SHARED, fd, 0)]": "the offset of a context is not looked at",
    "0 -> 1  [entries: range = range(0)]": "what has none has no PMD0",
    "1 -> 2  [return \"signed\" if int(ffi.cast(ctype, -1)) < 0 else \"unsigned\"]": "C's -2 is no less negative",
    "not self._kinds.num_values -> False  [if not self._kinds.num_values:  # nothing overflows]": "a short way",
    "len(names) <= _MANY -> len(names) < _MANY  [if len(names) <= _MANY:]": "no event has eight unit masks",
    "1 -> 2  [if os.read(go_read, 1):  # else the parent has gone]": "there is one byte, or none",
}

OPTIONS = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--hypothesis-seed=1", "--hypothesis-profile=mutation",
           f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml")]

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


@dataclass(frozen=True)
class Case:
    """A changed module."""

    file: Path  # inside the package
    what: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.what}"


class Copy:
    """The package, installed once more, beside the other packages of this environment."""

    def __init__(self, directory: Path, wheel: Path) -> None:
        venv.create(directory, symlinks=True)
        self.python = directory / "bin" / "python"
        (packages,) = directory.glob("lib/python*/site-packages")
        (packages / "others.pth").write_text("\n".join(site.getsitepackages()))  # whose own .pth files are not read
        subprocess.run([sys.executable, "-m", "pip", "--python", self.python, "install", "-q", "--no-deps", "--ignore-installed", wheel], check=True)
        self.package, self.directory = packages / "pypfm", directory

    def notices(self, case: Case) -> bool:
        """Whether a test notices a change."""
        file, (fast, whole) = self.package / case.file, PACKAGES[case.file.parts[0]]
        right = file.read_text(encoding="utf-8")
        shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
        try:
            file.write_text(case.source, encoding="utf-8")
            return bool(self.status(fast) or self.status(whole, "-m", "not long"))
        finally:
            file.write_text(right, encoding="utf-8")

    def status(self, tests: list[str], *options: str) -> int:
        """Exit status of pytest, or of the signal that ended it."""
        with subprocess.Popen([self.python, "-m", "pytest", *OPTIONS, *options, *(TESTS / t for t in tests)], cwd=self.directory,
                              env=os.environ | {"TMPDIR": str(self.directory)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as process:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
            try:
                return process.wait(2 * PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return process.wait()


def cases(module: str) -> list[Case]:
    """Every change that a test can notice, of the modules whose path has that text in it."""
    files = [f for name in PACKAGES for f in sorted((ROOT / "pypfm" / name).rglob("*.py")) if module in str(f)]
    return [Case(f.relative_to(ROOT / "pypfm"), what, text) for f in files for what, text in changed(f.read_text(encoding="utf-8"))
            if what.partition(": ")[2] not in EQUIVALENT]


def sample(found: list[Case], size: int, seed: int) -> list[Case]:
    """Some of the changes: as long as a change can be made, it stays in the sample, whatever else changes; size 0: all."""
    def place(case: Case) -> bytes:
        return sha256(f"{seed} {case.file} {case.what.partition(': ')[2]}".encode()).digest()
    return sorted(found, key=place)[:size or None]


def run(chosen: list[Case], jobs: int, directory: Path) -> Iterator[tuple[Case, bool]]:
    """Of each case, whether a test notices it."""
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", directory, ROOT], check=True)
    (wheel,) = directory.glob("*.whl")
    copies: SimpleQueue[Copy] = SimpleQueue()
    for n in range(jobs):
        copies.put(Copy(directory / str(n), wheel))

    def noticed(case: Case) -> bool:
        copy = copies.get()
        try:
            return copy.notices(case)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        for package in {case.file.parts[0] for case in chosen}:
            same = next(case for case in chosen if case.file.parts[0] == package).file
            nothing = Case(same, "nothing", (ROOT / "pypfm" / same).read_text(encoding="utf-8"))
            assert not noticed(nothing), f"{package}: its tests fail without a change"
        yield from zip(chosen, pool.map(noticed, chosen), strict=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Do the tests notice changed Python modules?")
    parser.add_argument("--sample", type=int, default=300, help="so many changes; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--module", default="", help="files with this text in their path only")
    args = parser.parse_args()
    begin = time.monotonic()
    chosen = sample(cases(args.module), args.sample, args.seed)
    survivors = 0
    with tempfile.TemporaryDirectory() as directory:
        for case, noticed in run(chosen, args.jobs, Path(directory)):
            if not noticed:
                survivors += 1
                print(f"not noticed: {case}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} changes noticed, seed {args.seed} ({time.monotonic() - begin:.0f} s)")
    return 0 if chosen and len(chosen) - survivors >= SHARE * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
