"""The event catalogue: every row of every table is on its page, in objects.inv, and in the search index.

The tables are read here again, and not with the code that makes the pages.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from browser import chromium, quiet_page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "csrc" / "tables"
PAGES = {"glm": "goldmont"}  # where the page has another name than the PMU
Row = dict[str, str]


def rows(name: str) -> list[Row]:
    with (TABLES / name).open(newline="", encoding="ascii") as stream:
        return list(csv.DictReader(stream))


def kinds(pattern: str) -> list[str]:
    """The PMUs that have a table of a kind."""
    found = [re.fullmatch(pattern, path.name) for path in sorted(TABLES.iterdir())]
    return [match[1] for match in found if match]


CPUS = sorted({row["cpu"] for row in rows("perfex_events.csv")})
PMUS = kinds(r"(?!pmc_|perfex_|ia64_host_)(\w+)_events\.csv")
MACHINES = kinds(r"pmc_(\w+)_events\.csv")


def test_every_table_is_tested() -> None:
    known = {f"{p}_events.csv" for p in PMUS} | {f"{p}_umasks.csv" for p in kinds(r"(\w+)_umasks\.csv")}
    known |= {f"pmc_{m}_events.csv" for m in MACHINES}
    known |= {f"perfex_{t}.csv" for t in ("events", "costs", "perf", "valgrind", "qemu", "qemu_host")} | {"ia64_host_events.csv"}
    assert known == {path.name for path in TABLES.glob("*.csv")}
    assert len(PMUS) >= 4
    assert len(MACHINES) >= 5
    assert CPUS == ["r10000", "r10000-3", "r12000"]


@cache
def page(site: Path, pmu: str) -> BeautifulSoup:
    name = PAGES.get(pmu, pmu.partition("-")[0])
    return BeautifulSoup((site / "events" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


@cache
def anchors(site: Path, pmu: str) -> dict[str, list[Tag]]:
    """The elements of a page by their id."""
    found: dict[str, list[Tag]] = {}
    for tag in page(site, pmu).find_all(id=True):
        found.setdefault(tag["id"], []).append(tag)
    return found


def entry(site: Path, pmu: str, anchor: str) -> tuple[Tag, Tag]:
    """The term and the definition with an anchor."""
    (term,) = anchors(site, pmu).get(anchor, [])
    definition = term.find_next_sibling("dd")
    assert term.name == "dt"
    assert definition is not None
    return term, definition


def line(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def facts(term: Tag, definition: Tag) -> list[str]:
    """The facts of an event: its own, and those of its family."""
    family = term.find_parent(class_="pfm-family")
    assert family is not None
    own = definition.find("p", class_="pfm-facts", recursive=False)
    shared = family.find("p", class_="pfm-facts", recursive=False)
    return [span.get_text() for p in (own, shared) if p is not None for span in p.find_all("span")]


@cache
def inventory(site: Path) -> dict[tuple[str, str], str]:
    """Addresses by type and name."""
    data = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    found = {}
    for item in zlib.decompress(data).decode().splitlines():
        name, kind, uri = re.fullmatch(r"(.+?) (\w+:\S+) -?\d+ (\S*) .*", item).groups()
        if kind.startswith("pfm:"):
            found[kind, name] = uri.removesuffix("$") + (name if uri.endswith("$") else "")
    return found


def check_place(site: Path, kind: str, pmu: str, key: str) -> tuple[Tag, Tag]:
    anchor = f"{pmu}-{key}".replace(":", "-")
    file = PAGES.get(pmu, pmu.partition("-")[0])
    assert inventory(site)[f"pfm:{kind}", f"{pmu}.{key}"] == f"events/{file}.html#{anchor}"
    return entry(site, pmu, anchor)


def text_of(row: Row, term: Tag, definition: Tag) -> str:
    """The description, put together again from that of the family and that of the member."""
    family = term.find_parent(class_="pfm-family")
    title = family.find("p", class_="pfm-title") if family else None
    own = definition.p.get_text() if definition.p else ""
    return f"{title.get_text()} -- {own}" if title and " -- " in row["description"] else own


@pytest.mark.parametrize("pmu", [p for p in PMUS if "kind" in rows(f"{p}_events.csv")[0] and p != "gen_ia64"])
def test_rows_of_libpfm3(site: Path, pmu: str) -> None:
    table = rows(f"{pmu}_events.csv")
    for row in table:
        term, definition = check_place(site, "event", pmu, row["name"])
        assert line(term) == f"{row['name']} code {row['code']}, mask {row['umask']}"
        assert text_of(row, term, definition) == row["description"]
        said = facts(term, definition)
        bits = [n for n in range(16) if int(row["counters"], 0) >> n & 1]
        assert (f"PMC{bits[0]}" if len(bits) == 1 else f"PMC{bits[0]} to PMC{bits[-1]}") in said
        assert len(bits) == bits[-1] - bits[0] + 1
        assert f"at most {row['maxincr']} a cycle" in said
        words = [w for c, w in (("opcm", "opcode matching"), ("iarr", "code ranges"), ("darr", "data ranges"))
                 if row[c] == "1"]
        assert (f"with {', '.join(words)}" if words else "no qualifiers") in said
        group = [f for f in said if "cache events" in f]
        assert group == ([f"{row['group'].upper()} cache events, set {row['set']}"] if row["group"] else [])
        assert [f for f in said if "EAR" in f] == {
            "iear_tlb": ["instruction EAR, TLB mode"], "iear_cache": ["instruction EAR, cache mode"],
            "dear_tlb": ["data EAR, TLB mode"], "dear_cache": ["data EAR, cache mode"],
            "dear_alat": ["data EAR, ALAT mode"]}.get(row["kind"], [])
        assert ("records branches" in said) == (row["kind"] == "btb")
        if "type" in row:
            assert f"{row['type'].replace('_', '-')} thread type" in said
        assert any(f.startswith("unit masks I (invalid)") for f in said) == (row.get("mesi") == "1")
    assert len(page(site, pmu).select("dl.pfm-events > dt")) == len(table)


def test_rows_of_the_generic_pmu(site: Path) -> None:
    """Its codes and counters are the processor's; the page has those of a forced PMU."""
    table = rows("gen_ia64_events.csv")
    codes = {"CPU_CYCLES": 18, "IA64_INST_RETIRED": 8}
    assert {row["name"] for row in table} == set(codes)
    for row in table:
        term, definition = check_place(site, "event", "gen_ia64", row["name"])
        assert line(term) == f"{row['name']} code {codes[row['name']]:#x} if forced"
        assert text_of(row, term, definition) == row["description"]
        assert facts(term, definition) == ["PMC4 to PMC7 if forced"]
    assert len(page(site, "gen_ia64").select("dl.pfm-events > dt")) == len(table)


@pytest.mark.parametrize("pmu", [p for p in PMUS if "kind" in rows(f"{p}_events.csv")[0]])
def test_what_a_host_counts(site: Path, pmu: str) -> None:
    """The events with a counterpart say which and how it differs; no other event has that line."""
    mapped = {row["event"]: row for row in rows("ia64_host_events.csv") if row["pmu"] == pmu}
    assert mapped
    for row in rows(f"{pmu}_events.csv"):
        _, definition = entry(site, pmu, f"{pmu}-{row['name']}")
        said = [(line(dt), line(dt.find_next_sibling("dd"))) for dt in definition.select("dl.pfm-details > dt")]
        host = mapped.pop(row["name"], None)
        assert said == ([("on a host", f"{host['perf_name']}: {host['note']}")] if host else [])
        if host and pmu != "gen_ia64":  # whose codes are the processor's
            assert (int(host["code"], 0), int(host["umask"], 0)) == (int(row["code"], 0), int(row["umask"], 0))
    assert mapped == {}


UMASK_FACTS = {"DFL": "default", "NCOMBO": "alone in its group", "PEBS": "precise",
               "EXCL_GRP_GT": "no unit mask of a higher group beside it",
               "GRP_DFL_NONE": "its group may stay empty", "EXCL_GRP_BUT_0": "beside it only requests"}


@pytest.mark.parametrize("pmu", [p for p in PMUS if "groups" in rows(f"{p}_events.csv")[0]])
def test_rows_of_libpfm4(site: Path, pmu: str) -> None:
    table, umasks = rows(f"{pmu}_events.csv"), rows(f"{pmu}_umasks.csv")
    for row in table:
        term, definition = check_place(site, "event", pmu, row["name"])
        assert line(term) == f"{row['name']} {'config' if 'type' in row else 'code'} {row['code']}"
        assert text_of(row, term, definition) == row["description"]
        said = facts(term, definition)
        if row["equiv"]:
            assert f"another name of {row['equiv']}" in said
        if "counters" in row:
            assert f"counter mask {row['counters']}" in said
            names = [m for m, bit in (("k", 1), ("u", 2), ("e", 4), ("i", 8), ("c", 16))
                     if int(row["modifiers"], 0) & bit]
            assert f"modifiers {', '.join(names)}" in said
        else:
            assert f"{ {'0': 'hardware', '1': 'software', '3': 'cache'}[row['type']]} event" in said
        assert any("offcore" in f for f in said) == ("NHM_OFFCORE" in row["flags"])
        assert any(f.startswith("precise") for f in said) == bool(re.search("PEBS|PRECISE", row["flags"]))
        own = [f"{pmu}-{row['name']}-{u['name']}" for u in umasks if u["event"] == row["name"]]
        assert [dt["id"] for dt in definition.select("dt[id]")] == own
    for row in umasks:
        term, definition = check_place(site, "umask", pmu, f"{row['event']}:{row['name']}")
        assert line(term) == f"{row['name']} {row['code']}"
        said = [line(p) for p in definition.find_all("p", recursive=False)]
        assert said[0] == row["description"]
        words = said[1].split(" · ") if len(said) > 1 else []
        assert [w for w in words if w in UMASK_FACTS.values()] == [
            UMASK_FACTS[f] for f in row["flags"].split("|") if f]
        if row.get("equiv"):
            assert f"stands for {row['equiv']}" in words
    assert len(page(site, pmu).select("dl.pfm-events > dt")) == len(table)


def test_groups_of_offcore_unit_masks(site: Path) -> None:
    for key, group in (("DMND_RFO", "group 0 (request)"), ("L2_HIT", "group 1 (supplier)"),
                       ("L2_MISS_SNP_ANY", "group 2 (snoop)"), ("OUTSTANDING", "group 3 (latency mode)")):
        _, definition = entry(site, "glm", f"glm-OFFCORE_RESPONSE_0-{key}")
        assert group in line(definition)


@pytest.mark.parametrize("machine", MACHINES)
def test_rows_of_libpmc(site: Path, machine: str) -> None:
    table = rows(f"pmc_{machine}_events.csv")
    for row in table:
        term, definition = check_place(site, "event", machine, row["name"])
        assert line(term) == f"{row['name']} id {row['id']}"
        assert text_of(row, term, definition) == row["description"]
        said = facts(term, definition)
        bits = [n for n in range(16) if int(row["counters"], 0) >> n & 1]
        assert (f"counter {bits[0]}" if len(bits) == 1 else f"counters {bits[0]} to {bits[-1]}") in said
        assert len(bits) == bits[-1] - bits[0] + 1
        if "config" in row:
            assert any(f.endswith(f"config {row['config']}") for f in said)
    assert len(page(site, machine).select("dl.pfm-events > dt")) == len(table)


def rows_of(table: str, cpu: str, event: str) -> list[Row]:
    """The rows of an event: of the cpu itself, else of its base, else of all."""
    own = [r for r in rows(table) if r["event"] == event]
    return next(found for name in (cpu, cpu.removesuffix("-3"), "")
                if (found := [r for r in own if r["cpu"] == name]))


@pytest.mark.parametrize("cpu", CPUS)
def test_rows_of_perfex(site: Path, cpu: str) -> None:
    for row in rows("perfex_events.csv"):
        if row["cpu"] != cpu:
            continue
        term, definition = check_place(site, "event", cpu, row["index"])
        assert line(term) == f"{row['name']} event {row['index']}"
        assert text_of(row, term, definition) == row["description"]
        assert facts(term, definition) == [f"counter {row['counter']}", row["short"]]
        details = [(line(dt), line(dt.find_next_sibling("dd"))) for dt in definition.select("dl.pfm-details > dt")]
        wanted = []
        for cost in rows_of("perfex_costs.csv", cpu, row["index"]):
            numbers = f"{cost['minimum']} / {cost['typical']} / {cost['maximum']} {cost['unit']}"
            wanted.append(("costs", f"{numbers if cost['unit'] else 'none'} ({cost['source']})"))
        for backend, column in (("perf", "perf"), ("valgrind", "source")):
            for r in rows_of(f"perfex_{backend}.csv", cpu, row["index"]):
                shown = f"{r[column]} ({r['quality']})" if r[column] else r["quality"]
                label = f"{backend}, --threads fine" if r.get("mode") else backend
                wanted.append((label, f"{shown}: {r['note']}" if r["note"] else shown))
        assert details == wanted


@pytest.mark.parametrize("table", ["costs", "perf", "valgrind"])
def test_no_row_of_perfex_is_lost(site: Path, table: str) -> None:
    everything = " ".join(line(page(site, cpu).find("article") or Tag(name="p")) for cpu in ("r10000", "r12000"))
    for row in rows(f"perfex_{table}.csv"):
        assert row["source" if table == "costs" else "note"] in everything


def test_inventory_has_nothing_else(site: Path) -> None:
    events = sum(len(rows(f"{p}_events.csv")) for p in PMUS) + len(rows("perfex_events.csv"))
    events += sum(len(rows(f"pmc_{m}_events.csv")) for m in MACHINES)
    umasks = sum(len(rows(f"{p}_umasks.csv")) for p in kinds(r"(\w+)_umasks\.csv"))
    found = [kind for kind, _ in inventory(site)]
    assert found.count("pfm:event") == events
    assert found.count("pfm:umask") == umasks


def test_anchors_are_unique_on_the_site(site: Path) -> None:
    anchors = [uri.partition("#")[2] for uri in inventory(site).values()]
    assert len(set(anchors)) == len(anchors)


def test_search_index_has_the_names(site: Path) -> None:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    # The objects that the search knows, by the part of their name before the dot.
    found = {prefix: [item[4] for item in items] for prefix, items in data["objects"].items()}
    entries: set[str] = {*data["indexentries"]}
    for pmu in PMUS:
        names = [r["name"] for r in rows(f"{pmu}_events.csv")]
        assert set(names) <= set(found[pmu])
        assert {n.lower() for n in names if "-" in n} <= entries
        if (TABLES / f"{pmu}_umasks.csv").is_file():
            assert {f"{u['event']}:{u['name']}" for u in rows(f"{pmu}_umasks.csv")} <= set(found[pmu])
    for machine in MACHINES:
        names = [r["name"] for r in rows(f"pmc_{machine}_events.csv")]
        assert set(names) <= set(found[machine])
        assert {n for n in names if "-" in n} <= entries
    for cpu in CPUS:
        names = [r["name"] for r in rows("perfex_events.csv") if r["cpu"] == cpu]
        assert sorted(names) == sorted(found[cpu])


@pytest.fixture(scope="module")
def narrow() -> Iterator[Any]:
    """A page of a browser that is as narrow as a telephone's."""
    with chromium() as browser, quiet_page(browser, viewport={"width": 400, "height": 800}) as page:
        yield page


@pytest.mark.parametrize("name", ["events/montecito", "events/goldmont", "events/r10000", "registers/itanium"])
def test_narrow_pages_do_not_scroll_sideways(site: Path, narrow: Any, name: str) -> None:
    narrow.goto((site / f"{name}.html").as_uri())
    document, article = narrow.evaluate("[document.documentElement, document.querySelector('article')].map((e) => e.scrollWidth)")
    assert document <= 400
    assert article <= 400


def test_the_filter_finds_the_events_of_a_page(site: Path, narrow: Any) -> None:
    narrow.goto((site / "events" / "itanium2.html").as_uri())
    narrow.get_by_label("Filter events").fill("cpu_cycles 0x12")
    shown, heads = narrow.evaluate("""() => ["dl.pfm-events > dt", "h2"].map((selector) =>
        [...document.querySelectorAll(selector)].filter((e) => e.offsetParent).map((e) => e.id || e.firstChild.textContent))""")
    assert (shown, heads) == (["itanium2-CPU_CYCLES"], ["CPU"])
