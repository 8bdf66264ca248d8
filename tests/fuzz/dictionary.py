"""Print a libFuzzer dictionary for a target: the names of its tables, and the words of its syntax.

    dictionary.py pfm4_encode > pfm4_encode.dict
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

TABLES = Path(__file__).resolve().parents[2] / "csrc" / "tables"

# Tables whose names are words, and further words.
TARGETS: dict[str, tuple[list[str], list[str]]] = {
    "pfm4_encode": (
        ["glm_events", "glm_umasks", "perf_events", "perf_umasks", "itanium_events", "itanium2_events", "montecito_events"],
        ["gen_ia64::", "ita::", "ita2::", "mont::", ":thres=", ":all", ":I", ":S", ":E", ":M", ":MESI", "glm::", "perf::", "perf_raw::", ":", ".", "=", "0x", "r1c4", ":u", ":k", ":h", ":e", ":i", ":c=", ":period=", ":freq=",
         ":precise=", ":excl", ":mg", ":mh", ":cpu=", ":pinned", ":hw_smpl", "18446744073709551615", "yes", "no", "-1"],
    ),
    "pfm3_full_event": (
        ["itanium2_events", "itanium_events", "montecito_events"],
        [":", "0x", "0xf", ":M", ":E", ":S", ":I", "18446744073709551615"],
    ),
    "perfex_costs": ([], ["clks", "nsec", "0 clks 1 1 1\\x0a", " ", "\\x0a", "#", "1.5", "31", ".", "\\xc2\\xa0", "\\xe3\\x80\\x80"]),
}


def words(target: str) -> Iterator[str]:
    tables, syntax = TARGETS.get(target, ([], []))
    yield from syntax
    for table in tables:
        path = TABLES / f"{table}.csv"
        if path.exists():
            with path.open(newline="") as stream:
                yield from (row["name"] for row in csv.DictReader(stream))


if __name__ == "__main__":
    for word in dict.fromkeys(words(sys.argv[1])):
        print(f'"{word}"')
