"""Structures of a mirror as HTML tables, which notebooks show."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

__all__ = ["structure"]

_LEFT = " style='text-align: left'"


def structure(name: str, members: dict[str, Any], text: Callable[[Any], str]) -> str:
    """A row for each member that is not 0, the structures in it as tables of their own.

    :param members: names and values, as dicts and lists
    :param text: writes a number
    """
    rows = "".join(f"<tr><th{_LEFT}>{escape(member)}</th><td{_LEFT}>{_cell(value, text)}</td></tr>"
                   for member, value in members.items())
    return f"<table><caption>{escape(name)}</caption>{rows or '<tr><td>all 0</td></tr>'}</table>"


def _cell(value: Any, text: Callable[[Any], str]) -> str:
    if isinstance(value, dict):
        return structure("", value, text).replace("<caption></caption>", "") if value else "0"
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "".join(f"<div>[{n}] {_cell(one, text)}</div>" for n, one in enumerate(value) if one)
    return escape(text(value))
