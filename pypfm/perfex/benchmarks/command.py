"""The whole of pytest --perfex: sessions, the table, files, and what has changed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.perfex.backends.simulation.command import temporary_directory
from pypfm.perfex.backends.simulation.machine import machine
from pypfm.perfex.benchmarks import gate, results, session, stored, table
from pypfm.perfex.model import PerfexError, Request
from pypfm.perfex.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.perfex.backends.simulation.machine import Machine
    from pypfm.perfex.benchmarks.plan import Plan
    from pypfm.perfex.benchmarks.results import Benchmark
    from pypfm.perfex.benchmarks.session import Run

__all__ = ["Outputs", "run"]

_FAILED = 1
_NONE = "perfex: no benchmark was counted: one uses the fixture benchmark or perfex, or has the mark benchmark"


@dataclass(frozen=True)
class Outputs:
    """Where counts go, and with which they are compared; None: nowhere, with none.

    :ivar json: --perfex-json
    :ivar save: --perfex-save
    :ivar compare: --perfex-compare
    :ivar fail_above: percent
    :ivar sort, group_by: of the table: one of `table.SORTS`, one of `table.GROUPS`
    """

    json: str | None = None
    save: str | None = None
    compare: str | None = None
    fail_above: float | None = None
    sort: str = "instructions"
    group_by: str = "group"


def run(plan: Plan, root: Path, outputs: Outputs) -> int:
    """Count the benchmarks, and print what was counted; the exit status.

    :param root: of the tests
    :raises PerfexError: nothing can be counted, or not be compared
    """
    try:
        simulated = machine(plan.cache, Request.cpu, Request.l2)
    except PerfexError as error:
        raise PerfexError(str(error).replace("--cache", "--perfex-cache")) from None
    session.check()
    around = stored.surroundings(plan, simulated)
    before = None
    if outputs.compare is not None:
        path = stored.place(outputs.compare, root)
        stored.expect_baseline(path)
        then, before = stored.read(path)
        stored.expect_same(outputs.compare, then, around)
    kept = stored.place(outputs.save, root) if outputs.save is not None else None
    if kept is not None:
        stored.expect_room(kept)
    file = Output(Path(outputs.json)) if outputs.json is not None else None
    with temporary_directory() as place:
        runs = _sessions(plan, place, simulated)
        made: Sequence[Benchmark] = results.benchmarks(runs, simulated, plan.cache)
    if made or not runs[-1].ended:
        print("\n" + table.text(made, outputs.sort, outputs.group_by) if made else _NONE)
    status = _told(runs)
    if before is not None and outputs.compare is not None:
        found = gate.compared(made, outputs.compare, before, outputs.fail_above)
        made = found.benchmarks
        print(found.text())
        status = status or (_FAILED if found.failed() else 0)
    text = stored.json_text(made, around)
    if file is not None:
        _write(file, text)
    if kept is not None:
        _keep(kept, text, runs)
    sys.stdout.flush()
    return status


def _sessions(plan: Plan, place: Path, simulated: Machine) -> list[Run]:
    """Run one session for each layout, and no other after one that fails."""
    runs: list[Run] = []
    session.collect(plan, place / "collected")
    for layout in range(plan.layouts):
        runs.append(session.run(plan, place / str(layout), simulated, layout, quiet=layout > 0))
        if runs[-1].status or runs[-1].ended:
            break
    return runs


def _told(runs: Sequence[Run]) -> int:
    """Say what ended a session before its time; the exit status."""
    last = runs[-1]
    if last.ended:
        print(f"perfex: {last.ended}", file=sys.stderr)
    elif last.status and len(runs) > 1:
        print(f"perfex: session {len(runs)} ended with status {last.status}, the first with 0", file=sys.stderr)
    return last.status or (_FAILED if last.ended else 0)


def _write(file: Output, text: str) -> None:
    """:raises PerfexError: there is no room"""
    try:
        file.write(text)
        file.close()
    except OSError as error:
        raise PerfexError(f"--perfex-json: {error.strerror}") from None


def _keep(path: Path, text: str, runs: Sequence[Run]) -> None:
    """Write the baseline, which is not to be one of tests that failed."""
    if runs[-1].status or runs[-1].ended:
        print(f"perfex: not kept in {path}: not all tests passed", file=sys.stderr)
    else:
        stored.keep(path, text)
        print(f"perfex: kept in {path}")
