#!/usr/bin/env python3
"""Whether recorded random calls notice a library in which one rule is broken.

    check.py [--calls N] [--seed S] [--jobs N] [--rule TEXT] [--file TEXT]

The set that ``pypfm vectors record`` makes of the installed library is replayed on copies of
the library, each with one of the edits in mutants.py.  Prints for each rule how many calls of which
kind notice it; exits 1 when fewer than 9 of 10 rules are noticed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mutants import MUTANTS, Mutant

from conftest import ROOT
from native import CC, build, library_flags, library_sources
from pypfm.config import LIBRARIES
from pypfm.conform.model import Vector
from pypfm.conform.record import record
from pypfm.conform.runner import TIMEOUT
from pypfm.conform.worker.asking import ask

PMUS = {"pfm3": ("itanium2", "montecito", "itanium", "gen_ia64"), "pfm4": ("gen_ia64", "ita", "ita2", "mont", "glm", "perf", "perf_raw")}
SHARE = 0.9


@dataclass(frozen=True)
class Outcome:
    """How many calls notice a broken rule, by kind; ``start``: a PMU cannot even be selected."""

    mutant: Mutant
    noticed: Counter[str]


class Check:
    """The set of calls, and what a mutant is linked from.

    :param calls: of each PMU
    :param seed: which ones
    :param directory: for the objects and the mutants
    :param libraries: pfm3, pfm4 or both
    """

    def __init__(self, calls: int, seed: int, directory: Path, libraries: Sequence[str]) -> None:
        self._directory = directory
        self._vectors: dict[str, list[Vector]] = {
            name: [v for pmu in PMUS[name] for v in record(str(LIBRARIES[name].path), pmu, calls, seed).vectors]
            for name in libraries}
        self._objects = {name: self._compile_all(name) for name in libraries}

    def _compile_all(self, name: str) -> dict[str, Path]:
        out = self._directory / name
        out.mkdir()
        return {source.name: self._compile(name, source, out) for source in library_sources(LIBRARIES[name], out)}

    @staticmethod
    def _compile(name: str, source: Path, directory: Path) -> Path:
        target = directory / f"{source.stem}.o"
        build(CC, "-O0", "-w", "-fPIC", *library_flags(LIBRARIES[name]), "-c", source, "-o", target)
        return target

    def library(self, mutant: Mutant | None, name: str, directory: Path) -> Path:
        """A copy of a library: with the edit of a mutant, or as it is."""
        objects = dict(self._objects[name])
        if mutant:
            source = ROOT / "csrc" / mutant.file
            edited = directory / source.name
            edited.write_text(mutant.apply(source.read_text()))
            objects[source.name] = self._compile(name, edited, directory)
        out = directory / LIBRARIES[name].soname
        build(CC, "-shared", "-Wl,-Bsymbolic", f"-Wl,-soname,{out.name}", *objects.values(), "-o", out)
        return out

    def noticed(self, library: Path, name: str) -> Counter[str]:
        """How many calls a library answers otherwise than recorded, by kind."""
        vectors = self._vectors[name]
        answers = ask(str(library), name, vectors, jobs=1, timeout=TIMEOUT)
        found = Counter(str(vector["kind"]) for vector, reply in zip(vectors, answers.replies, strict=True)
                        if reply is not None and reply.get("answer") != vector["expect"])
        for _, start, reply in answers.starts:
            found["start"] += reply.get("answer") != start.get("expect", reply.get("answer"))
        return +found

    def outcome(self, mutant: Mutant) -> Outcome:
        """Build a mutant and replay the calls on it."""
        with tempfile.TemporaryDirectory(dir=self._directory) as directory:
            library = self.library(mutant, mutant.library, Path(directory))
            return Outcome(mutant, self.noticed(library, mutant.library))


def run(mutants: Sequence[Mutant], calls: int, seed: int, jobs: int) -> Iterator[Outcome]:
    """The outcome of each mutant, in their order."""
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(jobs) as pool:
        check = Check(calls, seed, Path(directory), sorted({m.library for m in mutants}))
        yield from pool.map(check.outcome, mutants)


def main() -> int:
    parser = argparse.ArgumentParser(description="Does the recorded set notice broken rules?")
    parser.add_argument("--calls", type=int, default=2500, help="of each PMU (default: 2500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rule", default="", help="rules with this text only")
    parser.add_argument("--file", default="", help="rules of files with this text in their names only")
    args = parser.parse_args()
    chosen = [m for m in MUTANTS if args.rule in m.rule and args.file in m.file]
    begin, survivors, count = time.monotonic(), [], 0
    for outcome in run(chosen, args.calls, args.seed, args.jobs):
        count += 1
        kinds = ", ".join(f"{n} {kind}" for kind, n in outcome.noticed.items()) or "not noticed"
        print(f"{outcome.mutant.file:<18} {outcome.mutant.rule:<56} {kinds}", flush=True)
        if not outcome.noticed:
            survivors.append(outcome.mutant)
    for mutant in survivors:
        print(f"not noticed: {mutant.file}: {mutant.rule}{': ' + mutant.why_not if mutant.why_not else ''}")
    print(f"{count - len(survivors)} of {count} broken rules noticed by {args.calls} calls of each PMU, seed {args.seed}"
          f" ({time.monotonic() - begin:.0f} s)")
    return 0 if count and count - len(survivors) >= SHARE * count else 1


if __name__ == "__main__":
    sys.exit(main())
