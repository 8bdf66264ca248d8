"""The facts about each function of a library, from csrc/functions.csv."""

from __future__ import annotations

import csv
from functools import cache

from pypfm.config import built
from pypfm.conform.model import base

__all__ = ["column"]


@cache
def column(api: str, name: str) -> dict[str, str]:
    """Return a column of csrc/functions.csv, by function.

    :param api: pfm3, pfm3-manual or pfm4
    :param name: in the first line of the file
    """
    with built("conform/functions.csv").open(newline="", encoding="ascii") as stream:
        return {row["function"]: row[name] for row in csv.DictReader(stream) if row["library"] == base(api)}
