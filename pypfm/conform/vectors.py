"""The recorded answers as vectors, and vectors of other files.

The files of pypfm/vectors are as they were recorded; here each line becomes a vector as
`pypfm.conform.model` describes it, with its ``kind``.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from pypfm._c.pfm3 import lib as lib3
from pypfm._c.pfm4 import lib as lib4
from pypfm.conform.model import OPTIONAL
from pypfm.errors import ConformError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.conform.model import Json, Vector

__all__ = ["EVENT_SHIFT", "PMU_IDS", "SPEAKING", "TAGS", "environment", "function_of", "group_of", "in_steps",
           "optional_of", "pmu_of", "pmus_of", "read", "recorded", "sequence_of", "start_of"]

#: The identifier of each PMU of libpfm 4.
PMU_IDS = {"gen_ia64": lib4.PFM_PMU_GEN_IA64, "ita": lib4.PFM_PMU_ITANIUM, "ita2": lib4.PFM_PMU_ITANIUM2,
           "mont": lib4.PFM_PMU_MONTECITO, "glm": lib4.PFM_PMU_INTEL_GLM, "perf": lib4.PFM_PMU_PERF_EVENT,
           "perf_raw": lib4.PFM_PMU_PERF_EVENT_RAW}
#: An opaque event index of libpfm 4 is ``PMU << 21 | event``.
EVENT_SHIFT = 21
#: Variables that ask a library for messages.
SPEAKING = ("LIBPFM_VERBOSE", "LIBPFM_DEBUG")
#: Part of the names of functions and types that belong to a PMU of libpfm 3.
TAGS = {"itanium2": "ita2", "montecito": "mont", "itanium": "ita"}
_PACKED = {b"\x1f\x8b": "gzip", b"BZ": "bz2"}  # modules, by the first bytes of what they have written
_LONGEST_LINE = 1 << 20  # bytes: the longest vector takes 5,000, and /dev/zero has no end
_GENERIC = "gen_ia64"  # which has no functions and types of its own
_OUT, _USE = re.compile(r'"(?:out|as)": "(\w+)"'), re.compile(r'"value": "(\w+)"')  # names in a step as JSON
_FAMILIES = {0x07: "ita", 0x1F: "ita2", 0x20: "mont"}  # of CPUID register 3, bits 24 to 31

# What the schema says of a vector that is about its answer, or is not needed to make the call.
_NOT_THE_CALL = {"id", "kind", "about", "result", "error", "why", "expect"}
_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}

_FILES = Path(__file__).resolve().parent.parent / "vectors"


def recorded(api: str) -> list[Vector]:
    """Return all recorded answers for an API.

    :param api: pfm3, pfm3-manual or pfm4
    :return: the vectors, in the order of the files
    """
    return list(_pfm4() if api == "pfm4" else _pfm3())


def read(path: Path) -> list[Vector]:
    """Read the vectors of a JSON-lines file, packed with gzip or bzip2, or not.

    :param path: one vector in each line; one without an ``id`` gets FILE:LINE
    :raises ConformError: the file cannot be read, or a line is not a vector; the message names the line
    """
    found = []
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            vector = json.loads(line)
            complaints = list(_complaints(vector))
        except (ValueError, RecursionError) as error:
            raise ConformError(f"{where}: not JSON: {error}") from None
        if complaints:
            raise ConformError(f"{where}: {complaints[0]}")
        found.append({"id": f"{path.name}:{number}"} | vector)
    return found


@cache
def _schema() -> dict[str, Any]:
    file = Path(__file__).parents[1] / "schemas/vector.json"
    return cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))


def _complaints(vector: Json) -> Iterator[str]:
    """Yield the places where JSON data breaks a call's schema; mistakes deeper inside show when the call is made."""
    rules, kinds = _schema()["$defs"], [place["$ref"].rpartition("/")[2] for place in _schema()["oneOf"]]
    kind = vector.get("kind") if isinstance(vector, dict) else None
    if not isinstance(vector, dict) or kind not in kinds:
        yield f"kind is {shown(json.dumps(kind))}; there are {', '.join(kinds)}"
        return
    rule, common = rules[kind], {"env": rules["encode"]["properties"]["env"], "cpuid3": rules["hex"]}
    yield from _wrong(str(kind), vector, rule, common)
    if kind == "sequence" and isinstance(steps := vector.get("steps"), list):
        written: set[str] = set()
        for n, step in enumerate(steps, 1):
            freed = step.get("free") if isinstance(step, dict) else None
            what = "free" if isinstance(freed, str) else "step"
            yield from (f"step {n}: {wrong}" for wrong in _wrong(what, step, rules[what], {}))
            used = str(freed or "").partition(".")[0]
            names = json.dumps({key: step.get(key) for key in ("args", "as")}) if isinstance(step, dict) else ""
            yield from (f"step {n}: no call before it has the name {shown(json.dumps(name))}"
                        for name in filter(None, [used, *_USE.findall(names)]) if name not in written)
            written.update(_OUT.findall(names))
    ways = [way["required"] for way in rule.get("oneOf", [])]
    if ways and not any(vector.keys() >= set(way) for way in ways):
        yield f"{kind} wants {', or '.join(' and '.join(way) for way in ways)}"
    if vector.get("pmu") == _GENERIC:
        yield from (f"{_GENERIC} has no {key}" for key in rules["generic"]["then"]["properties"] if key in vector)


def _wrong(kind: str, vector: Json, rule: dict[str, Any], common: dict[str, Any]) -> Iterator[str]:
    """Yield the members that break a rule of the schema or are missing."""
    if not isinstance(vector, dict):
        yield f"{shown(json.dumps(vector))} is no object"
        return
    for key, part in (common | rule["properties"]).items():
        needed = key in rule["required"] and key != "env"
        if key not in _NOT_THE_CALL and (key in vector or needed) and not _suits(value := vector.get(key), part):
            yield f"{key} is {shown(json.dumps(value))}{_wanted(part)}" if key in vector else f"{kind} has no {key}"


def _resolved(rule: dict[str, Any]) -> dict[str, Any]:
    return _schema()["$defs"][rule["$ref"].rpartition("/")[2]] if "$ref" in rule else rule


def _suits(value: Json, rule: dict[str, Any]) -> bool:
    """Tell whether a value follows a rule of the schema."""
    rule = _resolved(rule)
    if isinstance(value, dict) and "propertyNames" in rule:
        return all(_suits(name, rule["propertyNames"]) and _suits(inner, rule["additionalProperties"])
                   for name, inner in value.items())
    return (value in rule.get("enum", [value]) and ("type" not in rule or type(value) is _TYPES[rule["type"]])
            and (not isinstance(value, str) or bool(re.fullmatch(rule.get("pattern", ".*"), value, re.DOTALL))))


def _wanted(rule: dict[str, Any]) -> str:
    """Describe the value that the schema wants."""
    if "enum" in rule:
        return f"; there are {', '.join(name or 'null' for name in rule['enum'])}"
    rule = _resolved(rule)
    pattern = rule.get("pattern") or rule.get("propertyNames", {}).get("pattern")
    return f", not of type {rule['type']}" + (f" with {pattern}" if pattern else "")


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            packed = _PACKED.get(file.peek(2)[:2])
            with cast("BinaryIO", import_module(packed).open(file)) if packed else file as stream:
                while line := stream.readline(_LONGEST_LINE + 1):
                    if len(line) > _LONGEST_LINE:
                        raise ConformError(
                            f"{path}: not a file of vectors: it has a line of more than {_LONGEST_LINE} bytes")
                    yield line.decode()
    except OSError as error:  # what is said of damaged files is one, too
        raise ConformError(f"{path}: {error.strerror or error}") from None
    except (EOFError, ValueError, zlib.error) as error:
        raise ConformError(
            f"{path}: {'not UTF-8' if isinstance(error, ValueError) else f'not a whole {packed} file'}") from None
    except ImportError as error:
        raise ConformError(f"{path}: {error}; this Python was built without the library (Debian: libbz2-dev)") from None


# ---- sequences ------------------------------------------------------------------

def in_steps(vectors: Iterable[Vector]) -> list[Vector]:
    """Split sequences: each step becomes a vector of its own, of kind "step".

    A step has the ``sequence`` that it is of, ``class`` and ``state``; one that frees something has as ``of`` the
    function that wrote the pointer.
    """
    found: list[Vector] = []
    for vector in vectors:
        found += _steps(vector) if vector["kind"] == "sequence" else [vector]
    return found


def _steps(sequence: Vector) -> Iterator[Vector]:
    state = "before"
    writers: dict[str, Json] = {}
    for n, step in enumerate(cast("list[Vector]", sequence["steps"]), 1):
        common: Vector = {"kind": "step", "id": f"{sequence['id']}.{n}", "sequence": sequence["id"], "at": n,
                          "env": sequence.get("env", {}), "needs": sequence.get("needs"), "state": state}
        if "free" in step:
            yield common | {"class": "valid", "of": writers[str(step["free"]).partition(".")[0]], "expect": {}} | step
            continue
        args = cast("list[Json]", step["args"])
        yield common | {"class": "null" if None in args else "valid"} | step
        writers |= dict.fromkeys(_OUT.findall(json.dumps(args)), step["call"])
        state = {"pfm_initialize": "ready", "pfm_force_pmu": "ready", "pfm_terminate": "after"}.get(
            str(step["call"]), state) if state != "before" or step["call"] != "pfm_terminate" else state


def sequence_of(vectors: Sequence[Vector], index: int) -> Vector:
    """Return the vector by which a vector is replayed: itself, or for a step the sequence up to it."""
    step = vectors[index]
    if step["kind"] != "step":
        return step
    added = {"kind", "id", "sequence", "at", "env", "needs", "state", "of", "long"}
    first = index + 1 - (1 if "long" in step else cast(int, step["at"]))
    steps: list[Json] = [{key: value for key, value in vector.items() if key not in added}
                         for vector in vectors[first:index + 1]]
    place: Vector = {"long": step["long"]} if "long" in step else {}
    return {"kind": "sequence", "id": step["sequence"], "env": step["env"], "steps": steps, **place}


# ---- what a vector is about ------------------------------------------------------

def function_of(vector: Vector) -> str:
    """Return the C function that a vector calls, or "queries" for all those about one event."""
    kind = vector["kind"]
    if kind in ("call", "start", "step"):
        return str(vector["call"] if "free" not in vector else vector["of"])
    if kind == "info":
        return "pfm_get_pmu_info" if "event" not in vector else "pfm_get_event_info"
    return {"dispatch": "pfm_dispatch_events", "query": "queries", "encode": "pfm_get_os_event_encoding",
            "probe": "probes"}[str(kind)]


def environment(vector: Vector) -> dict[str, str]:
    """Return the LIBPFM_* variables of the process that makes the call."""
    env = dict(cast("dict[str, str]", vector.get("env", {})))
    if "cpuid3" in vector:
        return {**env, "LIBPFM_IA64_CPUID3": str(vector["cpuid3"])}
    if vector.get("pmu") == _GENERIC:  # pfm_force_pmu() would leave its tables empty
        return {**env, "LIBPFM_FORCE_PMU": str(lib3.PFMLIB_GEN_IA64_PMU)}
    return env


def group_of(vector: Vector) -> str:
    """Return as text what vectors must have in common for one process to take them."""
    if "long" in vector:
        return f"long {json.dumps(environment(vector))}"
    if vector["kind"] == "step":
        return str(vector["sequence"])
    pmu = vector.get("pmu") if vector["kind"] in ("dispatch", "call", "query") else ""
    return json.dumps([pmu, environment(vector)], sort_keys=True)


def start_of(vector: Vector) -> list[Vector]:
    """Return the calls that bring a library into the state that a vector needs.

    :return: vectors of a kind of their own, "start"; what one without ``expect`` returns does not matter
    """
    if vector["kind"] in ("probe", "step"):
        return []  # each starts the library itself, or a step before does
    start: Vector = {"kind": "start", "call": "pfm_initialize", "args": [], "env": cast("Json", environment(vector))}
    if vector["kind"] in ("encode", "info"):
        return [start | {"expect": {"ret": 0}}]
    if vector.get("pmu") is None:
        return []  # before pfm_initialize()
    pmu = int(getattr(lib3, f"PFMLIB_{str(vector['pmu']).upper()}_PMU"))
    selected: Vector = start | {"call": "pfm_get_pmu_type", "expect": {"ret": 0, "value": pmu}}
    if "cpuid3" in vector or vector["pmu"] == _GENERIC:
        return [start | {"expect": {"ret": 0}}, selected]
    return [start, start | {"call": "pfm_force_pmu", "args": [pmu], "expect": {"ret": 0}}, selected]


def pmu_of(vector: Vector) -> str:
    """Return the PMU of a vector, as `pypfm.conform.model.PMUS` has it; none if any would do."""
    if vector["kind"] in ("dispatch", "call", "query"):
        return str(vector["pmu"] or "none")
    if vector["kind"] == "sequence":
        return "none"
    names = {number: name for name, number in PMU_IDS.items()}
    answer = vector.get("expect")
    if vector["kind"] == "info":
        number = cast(int, vector["event"]) >> EVENT_SHIFT if "event" in vector else cast(int, vector["pmu"])
        return names.get(number, "none")
    if isinstance(answer, dict) and isinstance(answer.get("idx"), int):
        return names[cast(int, answer["idx"]) >> EVENT_SHIFT]
    prefix, separator, _ = str(vector["event"]).lower().partition("::")
    return next((n for n in (prefix if separator else "", _active(vector)) if n in PMU_IDS), "perf")


def _active(vector: Vector) -> str:
    """Return the PMU that a vector's environment makes active, as far as its variables say."""
    env = environment(vector)
    if "LIBPFM_IA64_CPUID3" in env and not env.get("LIBPFM_FORCE_PMU"):
        with suppress(ValueError):
            return _FAMILIES.get(int(env["LIBPFM_IA64_CPUID3"], 0) >> 24 & 0xFF, "gen_ia64")
    return env.get("LIBPFM_FORCE_PMU", "").lower().split(",")[0]


def optional_of(vector: Vector) -> frozenset[str]:
    """Return those PMUs, of the ones not every library has, on which a vector's answer depends."""
    return pmus_of(vector) & frozenset(OPTIONAL["pfm4"])


def pmus_of(vector: Vector) -> frozenset[str]:
    """Return the PMUs of libpfm 4 that a vector's answer depends on."""
    names = (pmu_of(vector), _active(vector)) if vector["kind"] in ("encode", "info") else ()
    return frozenset(names) & PMU_IDS.keys()


# ---- the recorded files ----------------------------------------------------------

def _load(name: str) -> Iterator[Vector]:
    return (json.loads(line) for line in _lines(_FILES / name) if line)


def _of_kind(kind: str) -> Vector:
    return {"kind": kind}


def _pfm3() -> Iterator[Vector]:
    for name in ("pfm3_dispatch.jsonl.bz2", "pfm3_dispatch_itanium.jsonl.bz2", "pfm3_golden_itanium2.jsonl",
                 "pfm3_golden_montecito.jsonl", "gen_ia64.jsonl"):
        yield from (_of_kind("dispatch") | vector for vector in _load(name))
    yield from _load("sequences_pfm3.jsonl.bz2")
    for number, vector in enumerate(_load("pfm3_api.jsonl.bz2"), 1):
        yield _of_kind("call") | {"id": f"api-{number:04}"} | vector
    for pmu in TAGS:
        with (_FILES / f"pfm3_{pmu}_events.csv").open(newline="") as file:
            yield from (_query(pmu, row) for row in csv.DictReader(file))


def _query(pmu: str, row: dict[str, str]) -> Vector:
    """Make a query of a row of an event catalogue; its answers are by function."""
    expect: Vector = {"pfm_get_event_description": True}
    for column, text in row.items():
        if column in ("name", "code", "counters"):
            expect[f"pfm_get_event_{column}"] = text
        elif column == "unit_masks":
            expect[column] = text
        elif column != "index":
            expect[f"pfm_{TAGS[pmu]}_{column}"] = {"ret": int(text[3:])} if text.startswith("err") else int(text)
    index = int(row["index"])
    return {"kind": "query", "id": f"{TAGS[pmu]}-{index}", "pmu": pmu, "index": index, "expect": expect}


def _pfm4() -> Iterator[Vector]:
    for name in ("pfm4_encode.jsonl.bz2", "pfm4_raw.jsonl.bz2"):
        yield from (_of_kind("encode") | vector for vector in _load(name))
    yield from _info(list(_load("pfm4_info.jsonl.bz2")), "info-")
    for number, vector in enumerate(_load("pfm4_ia64_encode.jsonl.bz2"), 1):  # tests/pfm4/ia64_vectors.py made them
        yield _of_kind("encode") | {"id": f"ia64-{number:05}"} | vector
    yield from _info(list(_load("pfm4_ia64_info.jsonl.bz2")), "ia64-info-")
    yield from _load("sequences_pfm4.jsonl.bz2")


def _info(rows: list[Vector], prefix: str) -> Iterator[Vector]:
    """Yield the table of information: each PMU, then each of its events in the order of pfm_get_event_next().

    :param prefix: of the ids
    """
    for n, row in enumerate(rows):
        vector: Vector = {"kind": "info", "id": f"{prefix}{n + 1:03}", "env": row["env"]}
        if "event" in row:
            # The layers of an event follow each other; then comes the next event, or the next PMU.
            after = next((r for r in rows[n + 1:] if r.get("event") != row["event"]), {})
            attrs = [_complete(attr) for attr in cast("list[Vector]", row["attrs"])]
            yield vector | {"event": row["event"], "os": row["os"], "expect": {
                **_complete(cast("Vector", row["info"])), "attrs": cast("Json", attrs), "next": after.get("event", -1)}}
        else:
            number = PMU_IDS.get(str(row["pmu"]), row["pmu"])  # a name where there is no information
            wanted = _complete(row if "ret" not in row else {"ret": row["ret"]})
            yield vector | {"pmu": number, "expect": {k: v for k, v in wanted.items() if k != "env"}}


def _complete(info: Vector) -> Vector:
    """Return the answer of a query that succeeded, with its return code."""
    return info if "ret" in info else {"ret": 0} | info
