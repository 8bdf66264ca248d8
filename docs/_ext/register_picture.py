"""A register as a picture: bit-fields drawn by the library bit-field, coloured by docs/_static/pfm.css."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from bit_field import jsonml_stringify, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.ia64.models import Field

__all__ = ["picture"]

_WIDTH = 44  # of a bit
_FONT = 12
# Width of a letter, about: capital or not; of a name that lies, of one that stands upright in smaller letters.
_LYING = (6.8, 8.4)
_UPRIGHT = (5.8, 7.1)
_LOW = 30  # height of the boxes of a picture whose names all lie
_BETWEEN = 12  # between the values of a line and the numbers of the next one
# Bits on a line: for a wide window, for a narrow one.
_LINES = {"wide": 16, "narrow": 8}
# The style sheet decides on these.
_STYLES = {"font-size", "font-family", "font-weight", "style", "fill", "stroke", "stroke-width", "stroke-linecap"}
_JsonMl = list[Any]


def picture(name: str, fields: Sequence[Field], labels: Sequence[str], value: int, words: str = "") -> str:
    """Two drawings of a register; the style sheet shows one of them.

    :param fields: from bit 0
    :param labels: their names as they are drawn
    :param value: whose bits stand below the fields
    :param words: what a screen reader says of it beside name and value
    :return: HTML
    """
    title = html.escape(f"{name} = {value:#x}{words and f': {words}'}", quote=True)
    drawings = "".join(_drawing(bits, kind, fields, labels, value) for kind, bits in _LINES.items())
    return f'<div class="pfm-picture" role="img" aria-label="{title}">{drawings}</div>'


def _drawing(bits: int, kind: str, fields: Sequence[Field], labels: Sequence[str], value: int) -> str:
    total = sum(f.width for f in fields)
    boxes = [_box(field, label, bits, value) for field, label in zip(fields, labels, strict=True)]
    height = max([_LOW, *(_width(b["name"], _UPRIGHT) + 8 for b in boxes if "rotate" in b)])
    lanes = -(-total // bits)
    drawn = render(boxes, hspace=bits * _WIDTH, vspace=height + _FONT * 2.8, lanes=lanes, bits=lanes * bits,
                   fontsize=_FONT)
    _mark(drawn)
    _part(drawn)
    size = f'{drawn[1]["width"]} {drawn[1]["height"]:g}'
    drawn[1] = {"class": kind, "width": drawn[1]["width"], "viewBox": f"0 0 {size}", "aria-hidden": "true"}
    return str(jsonml_stringify(_plain(drawn)))


def _box(field: Field, label: str, bits: int, value: int) -> dict[str, Any]:
    """A field for the library; its name stands upright where a part of the field is too narrow for it."""
    end = field.bit + field.width
    narrowest = min(min(end, line + bits) - max(field.bit, line)
                    for line in range(field.bit // bits * bits, end, bits))
    box: dict[str, Any] = {"name": label, "bits": field.width, "attr": field.of(value)}
    if _width(label, _LYING) > narrowest * _WIDTH:
        box["rotate"] = -90
    if field.ignored:
        box["type"] = 8  # of no colour of the library's own: the style sheet has one
    return box


def _width(text: str, letter: tuple[float, float]) -> float:
    """How long a name is drawn, about."""
    return sum(letter[char.isupper()] for char in text)


def _mark(drawn: _JsonMl) -> None:
    """Name the groups of a drawing: numbers of the bits, names, and values of the fields."""
    for lane in drawn[2:]:
        _, _, numbers, body = lane[2][2]
        _, names, values = body[2:]
        for group, kind in ((numbers, "bits"), (names, "names"), (values, "value"), (lane[3], "cage")):
            group[1]["class"] = kind


def _part(drawn: _JsonMl) -> None:
    """Put the lines of a drawing further apart: the library leaves less than the height of a digit."""
    for i, lane in enumerate(drawn[2:]):
        top = float(lane[1]["transform"].rpartition(",")[2].rstrip(")"))
        lane[1]["transform"] = f"translate(0, {top + i * _BETWEEN:g})"
    drawn[1]["height"] += _BETWEEN * (len(drawn) - 3)


def _plain(node: Any) -> Any:
    """A drawing without styles and superfluous digits, and with its texts as HTML."""
    if isinstance(node, str):
        return html.escape(node)
    tag, attributes, *children = node
    kept = {name: _short(value) for name, value in attributes.items() if name not in _STYLES}
    return [tag, kept, *map(_plain, children)]


def _short(value: object) -> str:
    return re.sub(r"(\.\d)\d+", r"\1", str(value))
