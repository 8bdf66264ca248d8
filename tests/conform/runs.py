"""What tests of runs share: files of vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pypfm.conform.model import Vector


def vectors_file(vectors: Iterable[Vector], directory: Path) -> Path:
    """A file of vectors, for ``--vectors``."""
    path = directory / "some.jsonl"
    path.write_text("".join(json.dumps(vector) + "\n" for vector in vectors))
    return path
