"""The rows of csrc/tables as what the pages say of an event.

A PMU is known by its tables alone: the columns say which library it belongs to.  See csrc/tables/generate.py
for what they mean.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.perf.decode import TYPES as PERF_TYPES
from pypfm.perf.offcore import GROUPS as OFFCORE_GROUPS
from pypfm.pmus import pmu as pmu_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HOST", "TABLES", "Entry", "entries", "host_events", "tables_of"]

TABLES = Path(__file__).resolve().parents[2] / "csrc" / "tables"
Row = dict[str, str]

_PERFEX = "perfex_events.csv"
HOST = "ia64_host_events.csv"
_UMASK_FLAGS = {
    "DFL": "default", "NCOMBO": "alone in its group", "PEBS": "precise",
    "EXCL_GRP_GT": "no unit mask of a higher group beside it", "GRP_DFL_NONE": "its group may stay empty",
    "EXCL_GRP_BUT_0": "beside it only requests",
}
_EVENT_FLAGS = {
    "PEBS": "precise (PEBS)", "PRECISE": "precise", "FIXED": "fixed counter",
    "NHM_OFFCORE": "unit masks go into the offcore response register",
}
_QUALIFIERS = {"opcm": "opcode matching", "iarr": "code ranges", "darr": "data ranges"}


@dataclass(frozen=True)
class Entry:
    """An event, or a unit mask of one.

    :ivar pmu: the first part of its name as an object, and of its anchor
    :ivar key: the second part: what the library calls it
    :ivar title: its name in words, where the key is a number
    :ivar codes: code and mask
    :ivar facts: short ones, for one line
    :ivar details: longer ones: what, and text
    :ivar description: of a member of a family "title -- detail"
    """

    pmu: str
    key: str
    title: str
    codes: str
    facts: tuple[str, ...]
    description: str
    details: tuple[tuple[str, str], ...] = ()
    umasks: tuple[Entry, ...] = ()

    @property
    def object_name(self) -> str:
        """Its name for cross-references."""
        return f"{self.pmu}.{self.key}"

    @property
    def anchor(self) -> str:
        """Its anchor, on its page and on the site."""
        return f"{self.pmu}-{self.key}".replace(":", "-")

    @property
    def family(self) -> str:
        """What it shares with its neighbours, or nothing."""
        title, separator, _ = self.description.partition(" -- ")
        return title if separator else ""

    @property
    def detail(self) -> str:
        """Its description without the family's title."""
        return self.description.partition(" -- ")[2] or self.description


@cache
def read(name: str) -> tuple[Row, ...]:
    """The rows of a table."""
    with (TABLES / name).open(newline="", encoding="ascii") as stream:
        return tuple(csv.DictReader(stream))


def tables_of(pmu: str) -> list[str]:
    """The tables that a PMU's page is made from, its events first; none: there is no such PMU."""
    if any(row["cpu"] == pmu for row in read(_PERFEX)):
        return [_PERFEX, *sorted(p.name for p in TABLES.glob("perfex_*.csv") if p.name != _PERFEX)]
    names = (f"{pmu}_events.csv", f"{pmu}_umasks.csv", f"pmc_{pmu}_events.csv")
    found = [name for name in names if (TABLES / name).is_file()]
    return found + [HOST] * any(row["pmu"] == pmu for row in read(HOST))


def entries(pmu: str) -> list[Entry]:
    """All events of a PMU, in the order of their tables.

    :raises ValueError: there is no such PMU
    """
    names = tables_of(pmu)
    if not names:
        raise ValueError(f"no table in csrc/tables has events of {pmu!r}")
    rows = read(names[0])
    make: Callable[[Row], Entry]
    if names[0] == _PERFEX:
        rows = tuple(row for row in rows if row["cpu"].partition("-")[0] == pmu)
        make = _perfex
    elif "kind" in rows[0]:
        make = partial(_pfm3, pmu)
    elif "groups" in rows[0]:
        make = partial(_pfm4, pmu)
    else:
        make = partial(_pmc, pmu)
    return [make(row) for row in rows]


def numbers(mask: int, before: str = "") -> str:
    """The bits of a mask as text: PMC4 to PMC7, PMC9."""
    bits = [n for n in range(mask.bit_length()) if mask >> n & 1]
    runs: list[list[int]] = []
    for n in bits:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    words = [" to ".join(f"{before}{n}" for n in dict.fromkeys((run[0], run[-1]))) for run in runs]
    return ", ".join(words)


# ---- libpfm 3 ----

def _pfm3(pmu: str, row: Row) -> Entry:
    if not int(row["counters"], 0):
        return _of_the_processor(pmu, row)
    facts = [numbers(int(row["counters"], 0), "PMC"), f"at most {row['maxincr']} a cycle"]
    facts += _kind(row["kind"])
    allowed = [words for column, words in _QUALIFIERS.items() if row[column] == "1"]
    facts.append(f"with {', '.join(allowed)}" if allowed else "no qualifiers")
    if row.get("group"):
        facts.append(f"{row['group'].upper()} cache events, set {row['set']}")
    if row.get("type"):
        facts.append(f"{row['type'].replace('_', '-')} thread type")
    if row.get("all") == "1":
        facts.append("both threads")
    if row.get("mesi") == "1":
        masks = pmu_of(pmu)[row["name"]].unit_masks
        facts.append("unit masks " + ", ".join(f"{m.name} ({m.description})" for m in masks))
    return Entry(pmu, row["name"], row["name"], f"code {row['code']}, mask {row['umask']}", tuple(facts),
                 row["description"], _on_a_host(pmu, row["name"]))


def _of_the_processor(pmu: str, row: Row) -> Entry:
    """An event whose code and counters are the processor's: as they are where the PMU is forced."""
    event = pmu_of(pmu)[row["name"]]
    counters = numbers(sum(1 << n for n in event.counters), "PMC")
    return Entry(pmu, row["name"], row["name"], f"code {event.code:#x} if forced", (f"{counters} if forced",),
                 row["description"], _on_a_host(pmu, row["name"]))


def host_events() -> dict[str, list[tuple[str, str]]]:
    """The events that stand for IA-64 events on a host, and PMU and name of these."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in read(HOST):
        found.setdefault(row["perf_name"], []).append((row["pmu"], row["event"]))
    return found


def _on_a_host(pmu: str, event: str) -> tuple[tuple[str, str], ...]:
    """What perfmon2's host back end counts for the event, where there is no Itanium; most have no counterpart."""
    return tuple(("on a host", f"{row['perf_name']}: {row['note']}")
                 for row in read(HOST) if (row["pmu"], row["event"]) == (pmu, event))


def _kind(kind: str) -> list[str]:
    """What the event does beside counting."""
    register, _, mode = kind.partition("_")
    if register in ("iear", "dear"):
        shown = mode if mode == "cache" else mode.upper()
        return [f"{'instruction' if register == 'iear' else 'data'} EAR, {shown} mode"]
    return ["records branches"] if kind == "btb" else []


# ---- libpfm 4 ----

def _words(flags: str, texts: dict[str, str]) -> list[str]:
    return [texts[flag] for flag in flags.split("|") if flag]


def _pfm4(pmu: str, row: Row) -> Entry:
    facts = [f"{PERF_TYPES[int(row['type'])]} event"] if "type" in row else []
    if "counters" in row:
        facts.append(f"counter mask {row['counters']}")
    facts += _words(row["flags"], _EVENT_FLAGS)
    if "modifiers" in row:
        facts.append("modifiers " + ", ".join(m.name for m in pmu_of(pmu).modifiers(row["name"])))
    if row["equiv"]:
        facts.append(f"another name of {row['equiv']}")
    offcore = "NHM_OFFCORE" in row["flags"]
    umasks = [_umask(pmu, u, offcore, int(row["groups"])) for u in read(f"{pmu}_umasks.csv")
              if u["event"] == row["name"]]
    what = "config" if "type" in row else "code"
    return Entry(pmu, row["name"], row["name"], f"{what} {row['code']}", tuple(facts), row["description"],
                 umasks=tuple(umasks))


def _umask(pmu: str, row: Row, offcore: bool, groups: int) -> Entry:
    group = int(row["group"])
    facts = [f"group {group} ({OFFCORE_GROUPS[group]})" if offcore else f"group {group}"] if groups > 1 else []
    facts += _words(row["flags"], _UMASK_FLAGS)
    if row.get("equiv"):
        facts.append(f"stands for {row['equiv']}")
    return Entry(pmu, f"{row['event']}:{row['name']}", row["name"], row["code"], tuple(facts), row["description"])


# ---- libpmc ----

def _pmc(pmu: str, row: Row) -> Entry:
    bits = int(row["counters"], 0)
    facts = [f"counter{'s' if bits & bits - 1 else ''} {numbers(bits)}"]
    if "config" in row:
        facts.append(f"perf_event type {row['type']} ({PERF_TYPES[int(row['type'])]}), config {row['config']}")
    return Entry(pmu, row["name"], row["name"], f"id {row['id']}", tuple(facts), row["description"])


# ---- perfex ----

def _own(table: str, cpu: str, event: str) -> list[Row]:
    """The rows of an event: those of the cpu, else of the one that it is a revision of, else of all."""
    rows = [row for row in read(table) if row["event"] == event]
    for name in (cpu, cpu.partition("-")[0], ""):
        if found := [row for row in rows if row["cpu"] == name]:
            return found
    return []


def _perfex(row: Row) -> Entry:
    cpu, event = row["cpu"], row["index"]
    details = [("costs", _cost(cost)) for cost in _own("perfex_costs.csv", cpu, event)]
    details += [("perf", _backend(r["perf"], r)) for r in _own("perfex_perf.csv", cpu, event)]
    details += [("valgrind, --threads fine" if r["mode"] else "valgrind", _backend(r["source"], r))
                for r in _own("perfex_valgrind.csv", cpu, event)]
    facts = f"counter {row['counter']}", row["short"]
    return Entry(cpu, event, row["name"], f"event {event}", facts, row["description"], tuple(details))


def _cost(row: Row) -> str:
    values = f"{row['minimum']} / {row['typical']} / {row['maximum']} {row['unit']}" if row["unit"] else "none"
    return f"{values} ({row['source']})"


def _backend(source: str, row: Row) -> str:
    shown = f"{source} ({row['quality']})" if source else row["quality"]
    return f"{shown}: {row['note']}" if row["note"] else shown
