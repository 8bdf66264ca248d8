"""Values as HTML tables, which notebooks show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pypfm.common.written import as_written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from dataclasses import Field

__all__ = ["table"]

_LEFT = " style='text-align: left'"


def table(record: Any) -> str:
    """A value: a row for each field that says something, the values in it as tables of their own."""
    rows = [(f.name, _cell(getattr(record, f.name), f)) for f in fields(record) if f.repr]
    body = "".join(f"<tr>{_th(name)}{_td(cell)}</tr>" for name, cell in rows if cell)
    return f"<table><caption>{escape(type(record).__name__)}</caption>{body}</table>"


def _cell(value: Any, of: Field[Any]) -> str:
    if is_dataclass(value):
        return table(value)
    if isinstance(value, tuple) and value and all(map(is_dataclass, value)):
        return _many(value)
    if isinstance(value, tuple):
        return escape(", ".join(_said(item, of) for item in value))
    if isinstance(value, Mapping):
        return escape(", ".join(f"{key}={_said(item, of)}" for key, item in value.items()))
    return "" if value is None else escape(_said(value, of))


def _said(value: object, of: Field[Any]) -> str:
    return value if isinstance(value, str) else as_written(value, of)


def _many(values: Iterable[Any]) -> str:
    """Values in a table, one in a row."""
    rows = [{f.name: _cell(getattr(value, f.name), f) for f in fields(value) if f.repr} for value in values]
    heads = list(dict.fromkeys(name for row in rows for name in row))
    body = "".join(f"<tr>{''.join(_td(row.get(name, '')) for name in heads)}</tr>" for row in rows)
    return f"<table><tr>{''.join(map(_th, heads))}</tr>{body}</table>"


def _th(name: str) -> str:
    return f"<th{_LEFT}>{escape(name)}</th>"


def _td(cell: str) -> str:
    return f"<td{_LEFT}>{cell}</td>"
