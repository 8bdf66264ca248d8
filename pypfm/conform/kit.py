"""The whole kit on one library: exported symbols, structures, recorded answers, random calls."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.common.arguments import expect_choice, expect_file, expect_int, expect_number
from pypfm.conform import runner
from pypfm.conform.checks import structures, symbols
from pypfm.conform.model import APIS, PMUS, base
from pypfm.conform.record import random_vectors
from pypfm.layout import LayoutError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pypfm.conform.model import Report, Vector
    from pypfm.conform.worker.asking import Progress

__all__ = ["conform", "random_calls"]


def random_calls(api: str, count: int, seed: int, without: Collection[str] = ()) -> list[Vector]:
    """Make random calls of an API, shared out to its PMUs.

    :param api: pfm3, pfm3-manual or pfm4
    :param count: how many
    :param seed: which ones; the same seed gives the same calls on every machine
    :param without: PMUs that are not asked about
    :raises InvalidValueError: there is no such API
    """
    expect_choice(api, APIS, "api")
    count, seed = expect_int(count, "count"), expect_int(seed, "seed")
    pmus = [pmu for pmu, libraries in PMUS.items() if base(api) in libraries and pmu not in without]
    shares = [count // len(pmus) + (n < count % len(pmus)) for n in range(len(pmus))]
    return [v for pmu, share in zip(pmus, shares, strict=True) for v in random_vectors(pmu, share, seed, api)]


def conform(path: str | os.PathLike[str], api: str | None = None, *, against: str | os.PathLike[str] | None = None,
            calls: int = 1000, seed: int = 1, vectors: Sequence[Vector] | None = None, jobs: int = 1,
            timeout: float = runner.TIMEOUT, complete: bool = False, progress: Progress | None = None) -> Report:
    """Put a library under all tests.

    :param path: the shared library; a name without a slash is looked up as the loader does
    :param api: pfm3, pfm3-manual or pfm4; None: what the library exports decides
    :param against: another library, which has to return the same for random calls; None: no such calls
    :param calls: how many random calls
    :param seed: which ones
    :param vectors: calls and answers; None: all that come with the package
    :param jobs: processes that make calls
    :param timeout: seconds for one call
    :param complete: demand also exports that the original has not: names of its manual pages, pypfm's own functions
    :param progress: called with the number of calls done and the number of all, once for each part of the run
    :return: the report; crashes and hangs of the library are findings in it
    :raises ConformError: a library cannot be loaded, or is not one of that API
    """
    path, against = expect_file(path, "path"), None if against is None else expect_file(against, "against")
    timeout = expect_number(timeout, "timeout")
    calls, seed, jobs = expect_int(calls, "calls"), expect_int(seed, "seed"), expect_int(jobs, "jobs")
    begin = time.monotonic()
    report = runner.opened(path, api, timeout)
    if report.findings:  # it does not survive being loaded
        report.seconds = time.monotonic() - begin
        return report
    _check_file(report, timeout, complete)
    answers = runner.run(path, report.api, vectors=vectors, jobs=jobs, timeout=timeout, progress=progress)
    report = runner.merged(report, answers)
    if against is not None:
        lacks: dict[str, list[str]] = {}

        def chosen(api: str) -> list[Vector]:
            lacks.update((file, runner.lacking(file, api, timeout)) for file in (path, against))
            return random_calls(api, calls, seed, {*lacks[path], *lacks[against]})

        compared = runner.differential(path, against, chosen, report.api, jobs=jobs, timeout=timeout,
                                       progress=progress)
        for said in (runner.lack(file, names) for file, names in lacks.items() if names):
            if not any(note.startswith(f"{said}:") for note in report.notes):
                compared.notes.append(f"{said}: no random calls were made about them")
        report = runner.merged(report, compared)
    report.tallies = dict(sorted(report.tallies.items()))
    report.seconds = time.monotonic() - begin
    return report


def _check_file(report: Report, timeout: float, complete: bool) -> None:
    """Check what the file exports and where it has the members of structures."""
    file = Path(report.library.loaded)
    checks = {"symbols": partial(symbols.check, complete=complete),
              "structures": partial(structures.check, timeout=timeout)}
    for what, check in checks.items():
        try:
            check(file, report.api).add_to(report)
        except LayoutError as error:
            report.notes.append(f"{what} were not checked: {error}")
