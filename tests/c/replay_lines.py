"""Turn the recorded answers into lines that the replay drivers in C read.

    replay_lines.py pfm3|pfm4 VECTORS LINES.txt [FIELDS.c]

A line is a call: its name, its arguments, and the answer as the driver writes it down, with tabs
between.  A line that begins with @ starts a process of its own, with these variables.  FIELDS.c has
the members of the model-specific structures that libpfm 3's calls set, for the compiler to say where
they are.
"""

from __future__ import annotations

import bz2
import csv
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TAGS = {"itanium": "ita", "itanium2": "ita2", "montecito": "mont"}
OS = {"none": 0, "perf_event": 1, "perf_event_ext": 2}

Vector = dict[str, Any]


def read(directory: Path, *patterns: str) -> Iterator[Vector]:
    for pattern in patterns:
        for path in sorted(directory.glob(pattern)):
            text = bz2.decompress(path.read_bytes()).decode() if path.suffix == ".bz2" else path.read_text()
            yield from map(json.loads, text.splitlines())


def grouped(vectors: Iterable[Vector], *keys: str) -> dict[str, list[Vector]]:
    groups: dict[str, list[Vector]] = {}
    for vector in vectors:
        groups.setdefault(json.dumps([vector.get(key) for key in keys]), []).append(vector)
    return groups


def escaped(text: str) -> str:
    """A string in one field: what is no printable ASCII as \\ and three octal digits."""
    return "".join(c if " " <= c <= "~" and c != "\\" else f"\\{ord(c):03o}" for c in text)


def line(*fields: object) -> str:
    return "\t".join(map(str, fields))


def process(env: dict[str, str]) -> str:
    return line("@", *(f"{name}={value}" for name, value in sorted(env.items())))


def value_text(value: object) -> str:
    if value is None:
        return "~"
    return str(int(value)) if isinstance(value, bool) else str(value)


def answer(got: Vector) -> str:
    """An answer whose members are numbers, strings and lists of them."""
    return " ".join(f"{key}={','.join(map(str, value)) if isinstance(value, list) else value_text(value)}"
                    for key, value in got.items())


# ---- libpfm 3 ----------------------------------------------------------------------

def members(path: str, value: Any) -> Iterator[tuple[str, int]]:
    """The numbers of nested dicts and lists, each with its C name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            # A list may be given as a dict of its numbered entries.
            yield from members(f"{path}[{key}]" if key.isdigit() else f"{path}.{key}".lstrip("."), inner)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from members(f"{path}[{i}]", inner)
    else:
        yield path, int(value, 0) if isinstance(value, str) else value


def registers(rows: list[list[object]]) -> str:
    return ",".join(":".join(map(str, row)) for row in rows)


def ranges(got: Vector) -> str:
    return f"{got['rr_nbr_used']}/{','.join(':'.join(info) for info in got['rr_infos'])}/{registers(got['rr_br'])}"


def dispatch_answer(got: Vector) -> str:
    show = {"pmcs": registers, "pmds": registers, "drange": ranges, "irange": ranges}
    return " ".join(f"{key}={show.get(key, str)(value)}" for key, value in got.items() if key != "stdout")  # not looked at


def dispatch_line(vector: Vector) -> str:
    events = ",".join(":".join([e["event"], str(e.get("plm", 0)), *map(str, e.get("unit_masks", []))]) for e in vector["events"])
    model_in = vector.get("model_in")
    given = "~" if model_in is None else " ".join(f"{path}={value}" for path, value in members("", model_in))
    return line("dispatch", vector.get("dfl_plm", 0), vector.get("pfp_flags", 0), events,
                ",".join(map(str, vector.get("unavail_pmcs", []))), given, int(bool(vector.get("model_out"))),
                dispatch_answer(vector["expect"]))


def catalogue(path: Path, pmu: str) -> Iterator[str]:
    """Every cell of the table of a model's events."""
    for row in csv.DictReader(path.open(newline="")):
        index = row.pop("index")
        yield line("event", index, answer({key: row.pop(key) for key in ("name", "code", "counters", "unit_masks")}))
        for query, want in row.items():
            yield line("query", f"pfm_{TAGS[pmu]}_{query}", index, want)
        yield line("description", index, "1")


def pfm3_lines(directory: Path) -> Iterator[str]:
    for vectors in grouped(read(directory, "pfm3_api*.jsonl.bz2"), "pmu").values():
        yield process({})
        if vectors[0]["pmu"]:
            yield line("force", vectors[0]["pmu"], "ret=0")
        for call in vectors:
            args = [escaped(a) if isinstance(a, str) else ",".join(map(str, a)) if isinstance(a, list) else a for a in call["args"]]
            yield line(call["call"], *args, answer(call["expect"]))
    for vectors in grouped(read(directory, "pfm3_dispatch*.jsonl.bz2", "pfm3_golden*.jsonl"), "pmu", "cpuid3").values():
        cpuid3 = vectors[0].get("cpuid3")
        yield process({"LIBPFM_IA64_CPUID3": cpuid3} if cpuid3 else {})
        yield line("detect" if cpuid3 else "force", vectors[0]["pmu"], "ret=0")
        yield from map(dispatch_line, vectors)
    for pmu in TAGS:
        path = directory / f"pfm3_{pmu}_events.csv"
        if path.exists():
            yield process({})
            yield line("force", pmu, "ret=0")
            yield from catalogue(path, pmu)


def fields(directory: Path) -> Iterator[str]:
    """The C file with the members of each model's input structure that some call sets."""
    yield f"/* Generated by {Path(__file__).name}. */"
    yield '#include "replay_fields.h"\n'
    paths: dict[str, set[str]] = {}
    for vector in read(directory, "pfm3_dispatch*.jsonl.bz2", "pfm3_golden*.jsonl"):
        paths.setdefault(TAGS[vector["pmu"]], set()).update(path for path, _ in members("", vector.get("model_in") or {}))
    for tag, used in paths.items():
        yield f"const struct replay_field replay_{tag}_fields[] = {{"
        yield from (f"\tREPLAY_FIELD(pfmlib_{tag}_input_param_t, {path})," for path in sorted(used))
        yield "\t{ NULL, 0, 0 }\n};"


# ---- libpfm 4 ----------------------------------------------------------------------

def encode_line(vector: Vector) -> str:
    options = [f"{key}={value}" for key, value in vector.get("attr", {}).items()]
    options += [f"{name}={int(vector[key])}" for key, name in (("size", "arg_size"), ("room", "room"), ("find", "find")) if key in vector]
    return line("encode", OS[vector["os"]], vector["dfl_plm"], escaped(vector["event"]), " ".join(options),
                answer(vector["expect"]))


def info_lines(rows: list[Vector]) -> Iterator[str]:
    """In the order of iteration: PMU, its events, each for the three interfaces."""
    previous = None
    for i, row in enumerate(rows):
        del row["env"]
        if "event" not in row:
            number = row.get("pmu") if isinstance(row.get("pmu"), int) else {"glm": 202, "perf": 51, "perf_raw": 114}[row["pmu"]]
            yield line("pmu", number, answer({key: value for key, value in row.items() if key != "pmu" or "ret" not in row}))
            previous = None
            continue
        if row["event"] != previous and previous is not None:
            yield line("next", previous, row["event"])
        previous = row["event"]
        if i + 1 == len(rows) or "event" not in rows[i + 1]:
            yield line("next", previous, -1)
        yield line("info", row["event"], OS[row["os"]], answer(row["info"]))
        for number, attr in enumerate(row["attrs"]):
            yield line("attr", row["event"], number, OS[row["os"]], answer(attr))


def pfm4_lines(directory: Path) -> Iterator[str]:
    for vectors in grouped(read(directory, "pfm4_encode.jsonl.bz2", "pfm4_raw.jsonl.bz2", "pfm4_ia64_encode.jsonl.bz2"),
                           "env").values():
        yield process(vectors[0].get("env", {}))
        yield line("initialize", "0")
        yield from map(encode_line, vectors)
    for rows in grouped(read(directory, "pfm4_info.jsonl.bz2", "pfm4_ia64_info.jsonl.bz2"), "env").values():
        yield process(rows[0]["env"])
        yield line("initialize", "0")
        yield from info_lines(rows)


def write(path: str, lines: Iterable[str]) -> None:
    Path(path).write_text("".join(f"{text}\n" for text in lines), encoding="ascii")


if __name__ == "__main__":
    source = Path(sys.argv[2])
    write(sys.argv[3], {"pfm3": pfm3_lines, "pfm4": pfm4_lines}[sys.argv[1]](source))
    if len(sys.argv) > 4:
        write(sys.argv[4], fields(source))
