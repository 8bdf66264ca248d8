"""Two layouts side by side."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from pypfm.common.arguments import expect_file, expect_type
from pypfm.common.value import Value
from pypfm.config import LIBRARIES
from pypfm.errors import named, short
from pypfm.layout.declared import has_declaration
from pypfm.layout.mirrors import describe, find, types
from pypfm.layout.model import LayoutError, Member, TypeLayout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["LayoutDiff", "Row", "compare", "diff", "same_bytes"]


class Row(Value):
    """One member of two layouts.

    :ivar path: its name; ``outer.inner`` in structures without a name
    :ivar left, right: the member, or None where there is none
    """

    path: str
    left: Member | None
    right: Member | None

    @property
    def same(self) -> bool:
        """Tell whether both have it at the same place with the same kind of type, whatever the type's name is."""
        return self.left is not None and self.right is not None and same_bytes(self.left, self.right)

    def to_json(self) -> dict[str, object]:
        return {"path": self.path, "same": self.same,
                **{side: None if m is None else {k: v for k, v in m.to_json().items() if k != "members"}
                   for side, m in (("left", self.left), ("right", self.right))}}


def same_bytes(a: Member, b: Member) -> bool:
    """Tell whether two members are at the same place with the same kind of type."""
    return _bytes(a) == _bytes(b)


def _bytes(member: Member) -> tuple[object, ...]:
    return (member.kind, member.first_bit, member.end_bit, member.size, member.dimensions, member.bits is None)


class LayoutDiff(Value):
    """Two layouts of a type.

    :ivar left, right: the layouts; None where a library has no such type
    :ivar rows: members in the order of the left one, those of the right one alone in between
    """

    left: TypeLayout | None
    right: TypeLayout | None
    rows: tuple[Row, ...]

    def _repr_html_(self) -> str:
        """Show a row for each member that differs, for a notebook."""
        from pypfm.common.notebook import columns
        sides = {side: "no such type" if x is None else f"{x.source}: {x.size} bytes"
                 for side, x in (("left", self.left), ("right", self.right))}
        name = next((x.name for x in (self.left, self.right) if x is not None), "")
        rows = [(row.path, _place(row.left), _place(row.right)) for row in self.rows if not row.same]
        return columns(f"LayoutDiff {name}", ("member", *sides.values()), rows or [("all", "the same", "the same")])

    @property
    def same(self) -> bool:
        """Whether size and members are the same; alignment too where both tell it."""
        if self.left is None or self.right is None:
            return False
        unknown = not (self.left.alignment and self.right.alignment)
        return (self.left.size == self.right.size and (unknown or self.left.alignment == self.right.alignment)
                and all(row.same for row in self.rows))

    def to_json(self) -> dict[str, object]:
        """Return it as data."""
        sides = {side: None if x is None else {
            "name": x.name, "source": x.source, "size": x.size, "alignment": x.alignment}
            for side, x in (("left", self.left), ("right", self.right))}
        return {"same": self.same, **sides, "rows": [row.to_json() for row in self.rows]}


def _place(member: Member | None) -> str:
    """Return the place of a member in a few words."""
    if member is None:
        return ""
    bits = "" if member.bits is None else f", bits {member.bit_offset} to {member.bit_offset + member.bits - 1}"
    dimensions = "".join(f"[{n}]" for n in member.dimensions)
    return f"{member.type}{dimensions} at {member.offset}, {member.size} bytes{bits}"


def compare(left: TypeLayout | None, right: TypeLayout | None) -> LayoutDiff:
    """Compare two layouts, member by member.

    :param left: from `describe`; None for a type that is missing
    :param right: likewise
    """
    for side, what in ((left, "left"), (right, "right")):
        expect_type(side, (TypeLayout, NoneType), what)
    members = [{} if x is None else dict(x.flat()) for x in (left, right)]
    order = list(members[0])
    place = -1
    for path in members[1]:
        if path in members[0]:
            place = order.index(path)
        else:
            place += 1
            order.insert(place, path)
    rows = tuple(Row(path, members[0].get(path), members[1].get(path)) for path in order)
    return LayoutDiff(left, right, rows)


# ---- what is compared ---------------------------------------------------------

@dataclass(frozen=True)
class _Side:
    """A side of a comparison: a library, a file or neither, and a type if one is named."""

    library: str | None
    file: Path | None
    type: str | None

    @classmethod
    def parse(cls, text: str) -> _Side:
        """Parse TYPE, LIBRARY[:TYPE] or FILE[:TYPE]."""
        source, _, name = text.rpartition(":")
        if not source or os.path.isfile(text):  # a file's name may have colons
            source, name = (text, "") if text in LIBRARIES or _is_file(text) else ("", text.removeprefix(":"))
        if source in LIBRARIES:
            return cls(source, None, name or None)
        return cls(None, Path(source) if source else None, name or None)

    def layouts(self, names: Sequence[str]) -> dict[str, TypeLayout]:
        """Return the layouts of some types that it has."""
        if self.file is None:
            known = {name: self.library or next(iter(find(name)), None) for name in names}
            return {name: describe(name, lib) for name, lib in known.items() if lib in find(name)}
        from pypfm.layout import dwarf
        return dwarf.layouts(self.file, names)

    def one(self, name: str) -> TypeLayout:
        """Return the layout of a type that must exist."""
        layouts = self.layouts([name])
        if name not in layouts and self.file is not None:
            raise LayoutError(f"the debug information of {named(self.file)} has no structure {short(name)}")
        return layouts.get(name) or describe(name, self.library)


def _is_file(text: str) -> bool:
    return "/" in text or os.path.isfile(text)


def diff(left: str | os.PathLike[str], right: str | os.PathLike[str]) -> list[LayoutDiff]:
    """Compare a type, or all types, of two sources.

    :param left: ``TYPE``, ``LIBRARY:TYPE``, ``FILE:TYPE`` (FILE is a library or program with
        debug information); ``LIBRARY`` or ``FILE`` alone for the type of the other side, or for all types
        of the library. A file has debug information of the types that it uses: the others are left out
    :param right: likewise
    :return: one comparison for each type, the same ones included
    :raises LayoutError: a type, library or file that is not there; no debug information; no type in both
    """
    sides = (_Side.parse(expect_file(left, "left")), _Side.parse(expect_file(right, "right")))
    names = [side.type for side in sides if side.type]
    for name in names:
        if not find(name) and has_declaration(name):
            raise LayoutError(f"{short(name)} is no structure or union: only those are compared")
    if names:
        return [compare(*(side.one(side.type or names[0]) for side in sides))]
    if not (found := list(_all(*sides))):
        raise LayoutError(f"{named(left)} and {named(right)} have no type in common: there is nothing to compare")
    return found


def _all(left: _Side, right: _Side) -> Iterator[LayoutDiff]:
    libraries = [side.library for side in (left, right) if side.library]
    if not libraries:
        raise LayoutError(
            f"of which type? Give {named(left.file or 'FILE')}:TYPE, or a library ({', '.join(LIBRARIES)}) on one side")
    names = list(dict.fromkeys(name for library in libraries for name in types(library)))
    a, b = left.layouts(names), right.layouts(names)
    for name in names:
        if len(libraries) == 2 or (name in a and name in b):
            yield compare(a.get(name), b.get(name))
