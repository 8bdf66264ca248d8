"""Values as HTML tables, which notebooks show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from pypfm.common.written import as_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from dataclasses import Field

__all__ = ["columns", "mapping", "preformatted", "records", "table"]

_LEFT = " style='text-align: left'"


def table(record: Any) -> str:
    """Return a table of a value: a row for each field that is not empty, values in it as tables of their own."""
    rows = list(_content(record).items())
    body = "".join(f"<tr>{_th(name)}{_td(cell)}</tr>" for name, cell in rows if cell)
    return f"<table><caption>{escape(_title(record))}</caption>{body}</table>"


def records(title: str, values: Iterable[Any], names: Sequence[str]) -> str:
    """Return a table of many values, one in each row, in a box that scrolls; columns that never differ are left out.

    :param title: what they are
    :param names: of the fields that are shown, of those that the values have
    """
    rows = _many(tuple(values), names)
    return (f"<div>{escape(title)}</div><div style='max-height: 24em; overflow: auto; display: inline-block'>"
            f"{rows}</div>")


def mapping(title: str, values: Mapping[str, object]) -> str:
    """Return a table with a row for each key.

    :param title: what it is
    """
    rows = "".join(f"<tr>{_th(str(key))}<td style='text-align: right'>{escape(str(value))}</td></tr>"
                   for key, value in values.items())
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def columns(title: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return rows of texts below their headings.

    :param title: what they are
    """
    body = "".join(f"<tr>{''.join(_td(escape(cell)) for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{''.join(map(_th, heads))}</tr>{body}</table>"


def preformatted(text: str) -> str:
    """Return a report as a terminal shows it."""
    return f"<pre style='line-height: 1.25'>{escape(text)}</pre>"


def _cell(value: Any, of: Field[Any]) -> str:
    if is_dataclass(value):
        return table(value)
    if isinstance(value, (tuple, list)) and value and all(map(is_dataclass, value)):
        return _many(value)
    if isinstance(value, (tuple, list)):
        return escape(", ".join(_said(item, of) for item in value))
    if isinstance(value, Mapping):
        return escape(", ".join(f"{key}={_said(item, of)}" for key, item in value.items()))
    return "" if value is None else escape(_said(value, of))


def _said(value: object, of: Field[Any]) -> str:
    return value if isinstance(value, str) else as_written(value, of)


def _content(record: Any) -> dict[str, str]:
    """Return the cells of a value, by field, without those that belong to another value."""
    return {f.name: _cell(getattr(record, f.name), f) for f in fields(record) if f.repr and not f.name.startswith("_")}


def _name(record: Any) -> str:
    """Return the name of a value, such as PMC4, if none of its fields holds it."""
    name = getattr(record, "name", None)
    return name if isinstance(name, str) and "name" not in {f.name for f in fields(record)} else ""


def _title(record: Any) -> str:
    return " ".join(filter(None, (type(record).__name__, _name(record))))


def _many(values: Sequence[Any], names: Sequence[str] = ()) -> str:
    """Return a table of values, one in each row.

    :param names: of the fields that are shown, as far as they differ; empty: all
    """
    rows = [_content(value) for value in values]
    if any(map(_name, values)):
        rows = [{"": escape(_name(value))} | row for value, row in zip(values, rows, strict=True)]
    heads = [name for name in names or dict.fromkeys(name for row in rows for name in row)
             if not names or len({row.get(name, "") for row in rows}) > 1]
    body = "".join(f"<tr>{''.join(_td(row.get(name, '')) for name in heads)}</tr>" for row in rows)
    return f"<table><tr>{''.join(map(_th, heads))}</tr>{body}</table>"


def _th(name: str) -> str:
    return f"<th{_LEFT}>{escape(name)}</th>"


def _td(cell: str) -> str:
    return f"<td{_LEFT}>{cell}</td>"
