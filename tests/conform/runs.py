"""What tests of runs share: the report of one with all calls, and files of vectors for those with some."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pypfm.config import LIBRARIES
from pypfm.conform import runner
from pypfm.conform.model import Report, Vector


@cache
def whole_run(api: str) -> tuple[Report, list[tuple[int, int]]]:
    """The report on a library of ours, and what was said of the progress: calls done, of how many."""
    told: list[tuple[int, int]] = []
    report = runner.run(str(LIBRARIES[api].path), jobs=2, progress=lambda done, total: told.append((done, total)))
    return report, told


def vectors_file(vectors: Iterable[Vector], directory: Path) -> Path:
    """A file of vectors, for ``--vectors``."""
    path = directory / "some.jsonl"
    path.write_text("".join(json.dumps(vector) + "\n" for vector in vectors))
    return path
