"""The leaves of a structure: members that are no structures themselves, those of nested types included."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pypfm.layout import describe, types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.layout.model import TypeLayout

__all__ = ["Leaf", "leaves"]

_MOST_ELEMENTS = 4  # of an array that are looked at


@dataclass(frozen=True)
class Leaf:
    """A member that is no structure.

    :ivar path: from the outermost type on
    :ivar offset, size: in bytes, the offset from the outermost type on
    :ivar chain: the structures around it, the outermost first: type, where it begins, its member
    """

    path: str
    offset: int
    size: int
    chain: tuple[tuple[str, int, str], ...]


def leaves(api: str, name: str) -> list[Leaf]:
    """Return the leaves of a type; for arrays those of the first elements.

    :param api: pfm3, pfm3-manual or pfm4
    :param name: C name of the type
    """
    return list(_leaves(api, describe(name, api), 0, "", ()))


def _leaves(api: str, layout: TypeLayout, base: int, prefix: str,
            chain: tuple[tuple[str, int, str], ...]) -> Iterator[Leaf]:
    for path, m in layout.flat():
        if m.members:
            continue
        for i in range(min(prod(m.dimensions), _MOST_ELEMENTS)):
            name = f"{path}[{i}]" if m.dimensions else path
            offset = base + m.offset + i * m.element_size
            inner = (*chain, (layout.name, base, name))
            if m.kind in ("struct", "union") and m.type in types(api):
                yield from _leaves(api, describe(m.type, api), offset, f"{prefix}{name}.", inner)
            else:
                yield Leaf(prefix + name, offset, m.element_size, inner)
