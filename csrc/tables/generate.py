"""Turn an event table (CSV, one row an event) into C: events and name lookup.

    generate.py itanium2_events.csv itanium2 OUTPUT.c

The row order is the index order of the library.  Columns (README of the table
format: CONTRIBUTING.md, "Adding an event"):

    name         event name, upper case
    code         event select code, 8 bits
    umask        unit mask, 16 bits
    kind         normal, btb, iear_tlb, iear_cache, dear_tlb, dear_cache, dear_alat
    counters     mask of the counters that can measure it, bit n = PMCn
    maxincr      largest number of occurrences in one cycle
    group, set   cache event group (l1, l2 or nothing) and set in it
    opcm, iarr, darr, all, mesi    0 or 1; what the event supports
    type         active, floating, causal, self_floating
    description  our own words; "title -- detail" for a member of a family

Name lookup is an open-addressing hash table, twice the number of events at
least, filled here with the hash function of csrc/pfm3/model.c.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

GROUPS = {"": 0, "l1": 1, "l2": 2}
TYPES = ["active", "floating", "causal", "self_floating"]
FLAGS = ["opcm", "iarr", "darr", "all", "mesi"]


def name_hash(name: str) -> int:
    """FNV-1a, 32 bits, of the upper-case name: pfm3_name_hash() in C."""
    value = 0x811C9DC5
    for byte in name.upper().encode("ascii"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def hash_slots(names: list[str]) -> list[int]:
    """Slots of the open-addressing table: index + 1, or 0 for an empty slot."""
    size = 1
    while size < 2 * len(names):
        size *= 2
    slots = [0] * size
    for index, name in enumerate(names):
        at = name_hash(name) % size
        while slots[at]:
            at = (at + 1) % size
        slots[at] = index + 1
    return slots


def c_string(text: str) -> str:
    """A C string literal; the tables are plain ASCII."""
    if not text.isascii() or not text.isprintable():
        raise ValueError(f"not printable ASCII: {text!r}")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def event_row(row: dict[str, str]) -> str:
    """One initialiser of struct pfm3_event."""
    flags = " | ".join(f"PFM3_{f.upper()}" for f in FLAGS if row.get(f, "0") == "1") or "0"
    fields = [
        c_string(row["name"]), c_string(row["description"]), row["umask"], row["counters"],
        row["code"], f"PFM3_{row['kind'].upper()}", row["maxincr"], flags,
        str(GROUPS[row["group"]]), row["set"] or "-1",
        str(TYPES.index(row.get("type", "active"))),
    ]
    return "\t{ " + ", ".join(fields) + " },"


def generate(table: Path, model: str) -> str:
    with table.open(newline="", encoding="ascii") as f:
        rows = list(csv.DictReader(f))
    names = [row["name"] for row in rows]
    if len(set(names)) != len(names):
        raise ValueError(f"{table}: an event name stands there twice")
    slots = hash_slots(names)
    lines = [
        f"/* Generated from {table.name} by csrc/tables/{Path(__file__).name}.  Do not edit. */",
        '#include "model.h"',
        "",
        f"static const struct pfm3_event events[{len(rows)}] = {{",
        *map(event_row, rows),
        "};",
        "",
        f"static const unsigned short slots[{len(slots)}] = {{",
        *("\t" + " ".join(f"{s}," for s in slots[i:i + 16]) for i in range(0, len(slots), 16)),
        "};",
        "",
        f"const struct pfm3_table pfm3_{model}_table = {{",
        "\t.events = events,",
        f"\t.count = {len(rows)},",
        "\t.slots = slots,",
        f"\t.slot_mask = {len(slots) - 1},",
        f"\t.longest_name = {max(map(len, names))},",
        "};",
        "",
    ]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    table, model, output = argv
    Path(output).write_text(generate(Path(table), model), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
