"""Structures of a mirror as HTML tables, which notebooks show."""

from __future__ import annotations

import ctypes
from html import escape
from typing import Any

from pypfm._c.members import text, written

__all__ = ["table"]

_LEFT = " style='text-align: left'"


def table(value: Any, caption: str = "") -> str:
    """Return a row for each member that is not 0, with the structures in it as tables of their own."""
    rows = "".join(f"<tr><th{_LEFT}>{escape(name)}</th><td{_LEFT}>{_cell(member)}</td></tr>"
                   for name, member in written(value))
    return f"<table>{caption}{rows or '<tr><td>all 0</td></tr>'}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, (ctypes.Structure, ctypes.Union)):
        return table(value) if any(written(value)) else "0"
    if isinstance(value, tuple) and isinstance(value[0], (ctypes.Structure, ctypes.Union)):
        return "".join(f"<div>[{n}] {_cell(one)}</div>" for n, one in enumerate(value) if any(written(one)))
    return escape(text(value))
