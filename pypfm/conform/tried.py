"""Which calls were tried of each function that a library exports, and which were not."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, cast

from pypfm.conform.functions import column
from pypfm.conform.model import Tried
from pypfm.conform.vectors import TAGS, function_of
from pypfm.conform.worker.library import api_module

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pypfm.conform.model import Json, Report, Vector

__all__ = ["count_call", "list_exports", "merge", "never_called", "rows", "table"]

_KERNEL = ("a system call of a kernel that is gone: called only of a library that exports {}")
_INLINE = "inline in the header: a program has a copy of its own"
_MASKS = ("pfm_get_num_event_masks", "pfm_get_event_mask_name", "pfm_get_event_mask_code")
_COLUMNS = ("function", "calls", "valid", "NULL", "range", "small", "before", "after", "differ")


def count_call(report: Report, vector: Vector, answer: Json) -> None:
    """Note that the functions of a vector were called."""
    if "free" in vector:
        return
    for name in _called(vector, answer if isinstance(answer, dict) else {}):
        tried = report.tried.setdefault(name, Tried())
        tried.calls += 1
        what = str(vector.get("class") or _class(vector))
        setattr(tried, what, getattr(tried, what) + 1)
        state = vector.get("state") or ("before" if vector["kind"] == "call" and vector["pmu"] is None else "ready")
        if state != "ready":
            setattr(tried, str(state), getattr(tried, str(state)) + 1)


def _called(vector: Vector, answer: dict[str, Json]) -> Iterator[str]:
    """Yield the functions that a vector calls."""
    kind = vector["kind"]
    if kind == "query":
        yield from (name for name in answer if name.startswith("pfm_"))
        yield from _MASKS if answer.get("unit_masks") else _MASKS[:1]
        return
    yield function_of(vector)
    if kind == "info" and "event" in vector:
        yield from ("pfm_get_event_attr_info", "pfm_get_event_next")
    if kind == "dispatch" or "find" in answer:
        yield "pfm_find_event"
    if "fine" in answer:
        yield f"pfm_{TAGS[str(vector['pmu'])]}_irange_is_fine"


def _class(vector: Vector) -> str:
    """Return the class of a single call's arguments, as far as its answer tells."""
    expect = vector.get("expect")
    code = expect.get("ret", 0) if isinstance(expect, dict) else 0
    if None in cast("list[Json]", vector.get("args", [])):
        return "null"
    return "valid" if cast(int, code) >= 0 else "small" if {"size", "room"} & vector.keys() else "range"


def list_exports(report: Report, exports: Collection[str], ours: Collection[str], left_out: dict[str, str]) -> None:
    """Enter the exported functions that were not called, with the reason if there is one.

    :param exports: what the library exports
    :param ours: what ours exports
    :param left_out: functions of sequences that were not run, and the symbol that these are for
    """
    _, lib = api_module(report.api)
    for name in sorted(exports):
        declared = callable(getattr(lib, name, None))
        if declared and name not in report.tried:
            reason = _KERNEL.format(left_out[name]) if name in left_out else "" if name in ours else _INLINE
            report.tried[name] = Tried(only=reason)


def merge(one: dict[str, Tried], other: dict[str, Tried]) -> dict[str, Tried]:
    """Merge what two runs about one library have tried."""
    numbers = [field.name for field in fields(Tried) if field.name != "only"]
    merged = {}
    for name in {**one, **other}:
        mine, theirs = one.get(name, Tried()), other.get(name, Tried())
        counts = {number: getattr(mine, number) + getattr(theirs, number) for number in numbers}
        merged[name] = Tried(**counts, only="" if counts["calls"] else mine.only or theirs.only)
    return merged


def never_called(report: Report) -> list[str]:
    """Return the exported functions that were not called where they work, though they could have been.

    Those that need pfm_initialize() work between it and pfm_terminate() only: after a library's end in pfm_initialize()
    there are no such calls.
    """
    needs = column(report.api, "needs_init") if report.tried else {}  # no API: not loaded
    return [name for name, tried in report.tried.items() if not tried.only
            and tried.calls <= (tried.before + tried.after if needs.get(name) == "yes" else 0)]


def rows(report: Report) -> list[tuple[str, Tried, int]]:
    """Return rows of function, the calls that were tried, and the number of differences that are not suppressed."""
    differ: Counter[str] = Counter()
    for finding in report.findings:
        if not finding.suppressed:
            differ.update({finding.function} if finding.function in report.tried else
                          {d.field.partition(".")[0] for d in finding.differences})
    return [(name, report.tried[name], differ[name]) for name in sorted(report.tried)]


def table(report: Report) -> list[str]:
    """Return the table of what was tried, line by line."""
    cells: list[tuple[str, ...]] = [_COLUMNS]
    for name, tried, differ in rows(report):
        numbers = (*astuple(tried)[:-1], differ)
        cells.append((name, *(f"{n:,}" if n else "-" for n in numbers)) if tried.calls else
                     (name, *([""] * 7), f"exported only: {tried.only}" if tried.only else "NEVER CALLED"))
    width = max(len(row[0]) for row in cells)
    return [f"{row[0]:<{width}} " + (" ".join(f"{cell:>8}" for cell in row[1:]) if row[1] else f" {row[-1]}")
            for row in cells]
