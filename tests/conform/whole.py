"""One run of all calls with a library of ours, for all tests that look at one."""

from __future__ import annotations

from functools import cache

from pypfm.config import LIBRARIES
from pypfm.conform import runner
from pypfm.conform.model import Report


@cache
def whole_run(api: str) -> tuple[Report, list[tuple[int, int]]]:
    """The report, and what was said of the progress: calls done, of how many."""
    told: list[tuple[int, int]] = []
    report = runner.run(str(LIBRARIES[api].path), jobs=2, progress=lambda done, total: told.append((done, total)))
    return report, told
