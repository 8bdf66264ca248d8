"""Turn an event table (CSV, one row an event) into C: events and name lookup.

    generate.py pfm3 itanium2 OUTPUT.c itanium2_events.csv
    generate.py pfm4 glm OUTPUT.c glm_events.csv glm_umasks.csv
    generate.py pmc pmc_xscale OUTPUT.c pmc_xscale_events.csv
    generate.py perfmon2 ia64_host OUTPUT.c ia64_host_events.csv
    generate.py perfex perfex OUTPUT.c perfex_events.csv perfex_costs.csv perfex_perf.csv \
        perfex_valgrind.csv

The row order is the index order of the library.  Columns of a libpfm 3 table:

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

Columns of a libpfm 4 table:

    name         event name
    code         event code (perf: id)
    counters     mask of the counters that can measure it (not used by the encoding)
    modifiers    mask of the hardware modifiers: 1 k, 2 u, 4 e, 8 i, 16 c
    flags        PEBS, NHM_OFFCORE, FIXED, PRECISE; separated by |
    groups       number of unit mask groups
    equiv        what the event is another name of: EVENT or EVENT:UMASK:UMASK
    type         perf_event type (perf)
    description  our own words

and of its unit masks: event, name, code, group, flags (DFL, NCOMBO, PEBS,
EXCL_GRP_GT, GRP_DFL_NONE, EXCL_GRP_BUT_0), equiv (UMASK:UMASK), description.

Columns of a libpmc table:

    id           event identifier; several names may have one
    name         event name, lower case
    counters     mask of the counters that can count it, bit n = counter n
    type, config perf_event type and config (linux)
    description  our own words

Columns of the table of what a host counts for an IA-64 PMU:

    pmu, code, umask          libpfm 3's PMU, and its event as a PMC has it
    perf_type, perf_config    of perf_event_open(2)
    event, perf_name, note    for the documentation

The tables of perfex: cpu, the event's index, and

    short, name, counter, description    of an event; short: what a user types; the counter is 0 or 1
    unit, minimum, typical, maximum, source    its cost; no unit: no cost
    unsourced    numbers in it that were written from memory, and whose source nobody has looked up
    perf, quality, note    what counts it on Linux (see csrc/perfex/library.h); no cpu: all
    mode, source, quality, note    how valgrind's tool counts it: sums and products of its counts; no cpu: all;
                                   mode fine: where each thread has a processor

Rows of r10000-3 stand in the place of those of r10000.

Name lookup in libpfm is an open-addressing hash table, twice the number of events at
least, filled here with the hash function of csrc/base/names.c.
"""

from __future__ import annotations

import ast
import csv
import sys
from pathlib import Path

GROUPS = {"": 0, "l1": 1, "l2": 2}
TYPES = ["active", "floating", "causal", "self_floating"]
FLAGS = ["opcm", "iarr", "darr", "all", "mesi"]


def name_hash(name: str) -> int:
    """FNV-1a of eight bytes at a time, upper and lower case the same: names_hash() in C."""
    data = name.encode("ascii")
    value = len(data)
    whole = len(data) // 8 * 8
    for word in [*(data[i:i + 8] for i in range(0, whole, 8)), data[whole:]]:
        folded = int.from_bytes(word, "little") & 0xDFDFDFDFDFDFDFDF
        value = (value ^ folded) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return (value >> 32 ^ value) & 0xFFFFFFFF


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


Row = dict[str, str]


def read(table: Path) -> list[Row]:
    with table.open(newline="", encoding="ascii") as f:
        return list(csv.DictReader(f))


def head(tables: list[Path], include: str) -> list[str]:
    names = ", ".join(t.name for t in tables)
    return [f"/* Generated from {names} by csrc/tables/{Path(__file__).name}.  Do not edit. */",
            f'#include "{include}"', ""]


def slot_lines(names: list[str]) -> tuple[list[str], int]:
    """The C array of the hash slots, and its size."""
    if len({n.upper() for n in names}) != len(names):
        raise ValueError("an event name stands in the table twice")
    slots = hash_slots(names)
    rows = ["\t" + " ".join(f"{s}," for s in slots[i:i + 16]) for i in range(0, len(slots), 16)]
    return [f"static const unsigned short slots[{len(slots)}] = {{", *rows, "};", ""], len(slots)


def event_table(kind: str, initialisers: list[str], names: list[str], table: str) -> list[str]:
    """The end of a libpfm table: its events, the hash slots of their names, and the table that has both."""
    slots, size = slot_lines(names)
    return [
        f"static const struct {kind}_event events[{len(names)}] = {{",
        *initialisers,
        "};",
        "",
        *slots,
        f"const struct {kind}_table {table} = {{",
        "\t.events = events,",
        f"\t.count = {len(names)},",
        f"\t.names = {{ slots, {size - 1}, {max(map(len, names))} }},",
        "};",
        "",
    ]


def generate_pfm3(model: str, tables: list[Path]) -> list[str]:
    rows = read(tables[0])
    names = [row["name"] for row in rows]
    return head(tables, "model.h") + event_table("pfm3", list(map(event_row, rows)), names, f"pfm3_{model}_table")


def equiv_indices(equiv: str, names: list[str]) -> list[int]:
    """Indices of the unit masks that NAME:NAME names."""
    return [names.index(name) for name in equiv.split(":") if name]


def index_array(indices: list[int]) -> str:
    """A pointer to constant bytes, and their number."""
    if not indices:
        return "NULL, 0"
    return f"(const unsigned char[]){{ {', '.join(map(str, indices))} }}, {len(indices)}"


def pfm4_flags(text: str) -> str:
    return " | ".join(f"PFM4_{flag}" for flag in text.split("|") if flag) or "0"


def umask_rows(umasks: list[Row]) -> list[str]:
    names = [u["name"] for u in umasks]
    return ["\t{ " + ", ".join([
        c_string(u["name"]), c_string(u["description"]), c_string(u["equiv"]) if u.get("equiv") else "NULL",
        u["code"], index_array(equiv_indices(u.get("equiv", ""), names)), u["group"], pfm4_flags(u["flags"]),
    ]) + " }," for u in umasks]


def pfm4_event(index: int, events: list[Row], umasks: dict[str, list[Row]]) -> str:
    """One initialiser of struct pfm4_event; an alias knows its target and the unit masks it implies."""
    row = events[index]
    name, _, masks = row["equiv"].partition(":")
    names = [e["name"] for e in events]
    target = names.index(name) if name else index
    implied = equiv_indices(masks, [u["name"] for u in umasks.get(names[target], [])])
    own = umasks.get(row["name"], [])
    # Of hardware and software events libpfm reports the kernel's symbol as the description.
    symbolic = row.get("type") in ("0", "1")
    desc = (name or row["name"]) if symbolic else row["description"]
    return "\t{ " + ", ".join([
        c_string(row["name"]), c_string(desc), c_string(row["description"]),
        c_string(row["equiv"]) if row["equiv"] else "NULL", row["code"],
        f"umasks_{index}" if own else "NULL", str(len(own)), row["groups"], row.get("modifiers", "0"),
        pfm4_flags(row["flags"]), row.get("type", "4"), str(target), index_array(implied), "0, 0",
    ]) + " },"


def pfm4_limits(events: list[Row], umasks: dict[str, list[Row]]) -> list[str]:
    """Assertions that the encoder's arrays hold what the table asks for (limits of pfm4.h)."""
    for row in events:
        if outside := [u["name"] for u in umasks.get(row["name"], []) if int(u["group"]) >= int(row["groups"])]:
            raise ValueError(f"{row['name']} has {row['groups']} groups of unit masks, not that of {outside}")
    defaults = [sum("DFL" in u["flags"].split("|") for u in own) for own in umasks.values()]
    needs = {"GROUPS": max(int(row["groups"]) for row in events), "DEFAULTS": max(defaults, default=0)}
    return [*(f'_Static_assert({need} <= PFM4_MAX_{name}, "raise PFM4_MAX_{name} in pfm4.h");'
              for name, need in needs.items()), ""]


def generate_pfm4(model: str, tables: list[Path]) -> list[str]:
    events = read(tables[0])
    umasks: dict[str, list[Row]] = {}
    for row in read(tables[1]):
        umasks.setdefault(row["event"], []).append(row)
    if unknown := set(umasks) - {e["name"] for e in events}:
        raise ValueError(f"unit masks of events that do not exist: {sorted(unknown)}")
    names = [row["name"] for row in events]
    lines = head(tables, "pfm4.h") + pfm4_limits(events, umasks)
    for index, event in enumerate(events):
        if own := umasks.get(event["name"]):
            lines += [f"static const struct pfm4_umask umasks_{index}[{len(own)}] = {{", *umask_rows(own), "};", ""]
    initialisers = [pfm4_event(i, events, umasks) for i in range(len(events))]
    return lines + event_table("pfm4", initialisers, names, f"pfm4_{model}_table")


# Bits of struct pfm4_event.modifiers, as enum pfm4_hw_modifier has them.
_K, _U, _THRES, _ALL = 1, 2, 1 << 5, 1 << 6


def pfm4_ia64_event(index: int, row: Row) -> str:
    """One initialiser of struct pfm4_event from a row of libpfm 3's table."""
    largest = int(row["maxincr"]) - 1
    modifiers = _K | _U | (_THRES if largest else 0) | (_ALL if row.get("all") == "1" else 0)
    umasks = "pfm4_mesi_umasks, PFM4_NUM_MESI, 1" if row.get("mesi") == "1" else "NULL, 0, 0"
    # The unit mask of an EAR event belongs to the EAR's own PMC.
    umask = "0" if "ear_" in row["kind"] else row["umask"]
    return "\t{ " + ", ".join([
        c_string(row["name"]), c_string(row["description"]), c_string(row["description"]), "NULL", row["code"],
        umasks, str(modifiers), "0" if row["kind"] == "normal" else "PFM4_OTHER_REGISTERS", "PERF_TYPE_RAW",
        str(index), "NULL, 0", umask, str(largest),
    ]) + " },"


def generate_pfm4_ia64(model: str, tables: list[Path]) -> list[str]:
    rows = read(tables[0])
    names = [row["name"] for row in rows]
    initialisers = [pfm4_ia64_event(*numbered) for numbered in enumerate(rows)]
    return head(tables, "pfm4.h") + event_table("pfm4", initialisers, names, f"{model}_table")


def generate_pmc(model: str, tables: list[Path]) -> list[str]:
    rows = read(tables[0])
    return [
        *head(tables, "machine.h"),
        f"static const struct pmc_event events[{len(rows) + 1}] = {{",
        *(f"\t{{ {c_string(row['name'])}, {row['id']} }}," for row in rows),
        "\t{ NULL, 0 },",
        "};",
        "",
        f"static const struct pmc_row rows[{len(rows)}] = {{",
        *("\t{ " + ", ".join([row["counters"], row.get("type", "0"), row.get("config", "0"),
                              c_string(row["description"])]) + " }," for row in rows),
        "};",
        "",
        f"const struct pmc_table {model}_table = {{ events, rows, {len(rows)} }};",
        "",
    ]


HOST_PMUS = {"gen_ia64": "PFMLIB_GEN_IA64_PMU", "itanium": "PFMLIB_ITANIUM_PMU", "itanium2": "PFMLIB_ITANIUM2_PMU",
             "montecito": "PFMLIB_MONTECITO_PMU"}


def generate_perfmon2(model: str, tables: list[Path]) -> list[str]:
    rows = read(tables[0])
    return [
        *head(tables, "host_events.h"),
        f"const struct host_event {model}_events[{len(rows) + 1}] = {{",
        *("\t{ " + ", ".join([HOST_PMUS[r["pmu"]], r["code"], r["umask"], r["perf_type"], r["perf_config"]]) + " },"
          for r in rows),
        "\t{ 0, 0, 0, 0, 0 },",
        "};",
        "",
    ]


def merged(cpu: str, rows: list[Row], index: str) -> dict[int, Row]:
    """The rows of a cpu by event: its own before those of the cpu that it is a revision of."""
    return {int(row[index]): row for name in (cpu.partition("-")[0], cpu) for row in rows if row["cpu"] == name}


def summands(node: ast.expr, factor: int = 1) -> list[tuple[str, int]]:
    """A formula of names, numbers, sums, differences and products as a sum of names times numbers."""
    match node:
        case ast.Name(id=name):
            return [(name, factor)]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            return summands(left, factor) + summands(right, factor if isinstance(op, ast.Add) else -factor)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int(number))):
            return summands(left, factor * number)
        case ast.Constant(value=0):
            return []
    raise ValueError(ast.unparse(node))


def simulated(cpu: str, rows: list[Row], modes: tuple[str, ...]) -> list[str]:
    """How valgrind's tool counts each event of a processor; a row of the processor or of a mode replaces another."""
    found = {int(row["event"]): row for name in ("", cpu) for mode in modes for row in rows
             if (row["cpu"], row["mode"]) == (name, mode)}
    lines = []
    for index, row in sorted(found.items()):
        terms = summands(ast.parse(row["source"], mode="eval").body) if row["source"] else []
        modelled = {"cycles": "PERFEX_CYCLES", "occupancy": "PERFEX_OCCUPANCY"}
        texts = ", ".join(f"{{ {modelled.get(name, f'R10K_{name}')}, {factor} }}" for name, factor in terms)
        lines.append(f"\t[{index}] = {{ PERFEX_{row['quality'].upper()}, {len(terms)}, {{ {texts or '{ 0, 0 }'} }} }},")
    return lines


def generate_perfex(_model: str, tables: list[Path]) -> list[str]:
    events, costs, perf, valgrind = map(read, tables)
    cpus = list(dict.fromkeys(row["cpu"] for row in events))
    lines = [*head(tables, "library.h"), '#include "tool/r10k.h"', ""]
    for number, cpu in enumerate(cpus):
        cost_of = merged(cpu, costs, "event")
        lines.append(f"static const struct perfex_event events_{number}[PERFEX_NUM_EVENTS] = {{")
        for index, event in sorted(merged(cpu, events, "index").items()):
            row = cost_of[index]
            cost = [f"PERFEX_{row['unit'].upper()}", row["typical"], row["minimum"], row["maximum"]]
            initialiser = f"{{ {', '.join(cost)} }}" if row["unit"] else "{ PERFEX_NO_COST, 0, 0, 0 }"
            texts = ", ".join(c_string(event[column]) for column in ("short", "name", "description"))
            lines.append(f"\t[{index}] = {{ {texts}, {event['counter']}, {initialiser},"
                         f" {c_string(row['unsourced'])} }},")
        lines += ["};", ""]
        for which, modes in (("simulated", ("",)), ("fine", ("", "fine"))):
            lines += [f"static const struct perfex_formula {which}_{number}[PERFEX_NUM_EVENTS] = {{",
                      *simulated(cpu, valgrind, modes), "};", ""]
    return [
        *lines,
        "const struct perfex_cpu perfex_cpus[PERFEX_NUM_CPUS] = {",
        *(f"\t{{ {c_string(cpu)}, {c_string(cpu.partition('-')[0])}, events_{n}, {{ simulated_{n}, fine_{n} }} }},"
          for n, cpu in enumerate(cpus)),
        "};",
        "",
        "static const struct perfex_row shipped_rows[] = {",
        *(f"\t{{ {c_string(r['cpu'])}, {r['event']}, {c_string(r['perf'])}, PERFEX_{r['quality'].upper()},"
          f" {c_string(r['note'])} }},"
          for r in perf),
        "};",
        "",
        f"const struct perfex_map perfex_shipped_map = {{ shipped_rows, {len(perf)}, NULL, NULL }};",
        "",
    ]


def main(argv: list[str]) -> int:
    library, model, output, *tables = argv
    generate = {"pfm3": generate_pfm3, "pfm4": generate_pfm4, "pfm4_ia64": generate_pfm4_ia64, "pmc": generate_pmc,
                "perfmon2": generate_perfmon2, "perfex": generate_perfex}[library]
    Path(output).write_text("\n".join(generate(model, [Path(t) for t in tables])), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
