"""JSON Schemas of what the command line prints with --json."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import cast

__all__ = ["NAMES", "load"]

NAMES = ("encode", "encode_pfm4", "events", "events_pfm4", "info", "info_pfm4", "perfex", "perfex_merge", "pmus")


def load(name: str) -> dict[str, object]:
    """The schema of a sub-command's output.

    :param name: one of `NAMES`
    """
    text = files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))
