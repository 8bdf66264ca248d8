"""A vector as a line of a file: with its outcome in words, for readers who do not know the return codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pypfm.conform.checks.differences import code_name
from pypfm.conform.report.why import why

if TYPE_CHECKING:
    from pypfm.conform.model import Vector

__all__ = ["line"]

# What stands first; the call and the answer follow.
_FIRST = ("id", "kind", "about")


def line(api: str, vector: Vector) -> Vector:
    """Return a vector with ``result``: valid or error; an error also has its name, ``error``, and ``why``.

    A sequence is left as it is.

    :param api: pfm3, pfm3-manual or pfm4
    :param vector: a call with its answer
    """
    if vector["kind"] == "sequence":
        return vector
    row: Vector = {key: vector[key] for key in _FIRST if key in vector}
    code = _return_code(vector)
    if code == 0:
        row["result"] = "valid"
    else:
        row |= {"result": "error", "error": code_name(api, code).partition(" ")[0], "why": why(api, vector, code)}
    return row | {key: value for key, value in vector.items() if key not in (*row, "leaves", "expect")} | {
        "expect": vector["expect"]}


def _return_code(vector: Vector) -> int:
    """Return the return code of a call; for queries about an event, that of the query for its name."""
    expect = cast("Vector", vector["expect"])
    if vector["kind"] == "query":
        name = expect.get("pfm_get_event_name")
        expect = name if isinstance(name, dict) else {}
    return cast(int, expect.get("ret", 0))
