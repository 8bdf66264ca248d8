"""JSON Schemas of what the command line prints with --json."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import cast

__all__ = ["NAMES", "load"]

NAMES = tuple(sorted(p.name.removesuffix(".json") for p in files(__name__).iterdir() if p.name.endswith(".json")))
"""The schemas, by file name without .json."""


def load(name: str) -> dict[str, object]:
    """The schema of a sub-command's output.

    :param name: one of `NAMES`
    """
    text = files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))
