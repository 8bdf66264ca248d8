"""The layout of a C type: members, holes, padding.

Two readers make these: `pypfm.layout.describe` from what the C compiler says in a mirror,
`pypfm.layout.dwarf` from the debug information of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pypfm.common.arguments import expect_int, expect_items, expect_type
from pypfm.common.value import Value
from pypfm.errors import PfmError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["CACHELINE", "Hole", "Kind", "LayoutError", "Member", "TypeLayout", "holes", "of_one_library"]

CACHELINE = 64  # bytes

Kind = Literal["unsigned", "signed", "char", "float", "pointer", "struct", "union"]


class LayoutError(PfmError, LookupError):
    """No library or file has a type of that name, or a file cannot be read."""


class Hole(Value):
    """Bits that no member uses, between two members.

    :ivar after: path of the member before
    :ivar offset: first byte
    :ivar bits: how many
    """

    after: str
    offset: int
    bits: int


class Member(Value):
    """A member of a structure or union.

    :ivar name: "" for a structure or union whose members count as those of the outer one
    :ivar type: its C type, of an array that of the elements; ``struct`` or ``union`` if that has no name
    :ivar kind: what the type is
    :ivar offset: in bytes, from the start of the outermost type
    :ivar size: in bytes; of a bit-field, that of its type
    :ivar dimensions: of an array
    :ivar bit_offset: of a bit-field, first bit from ``offset`` on
    :ivar bits: of a bit-field, its width, else None
    :ivar is_enum: whether the type is an enumeration
    :ivar members: members of a structure or union without a name of its own
    """

    name: str
    type: str
    kind: Kind
    offset: int
    size: int
    dimensions: tuple[int, ...] = ()
    bit_offset: int = 0
    bits: int | None = None
    is_enum: bool = False
    members: tuple[Member, ...] = ()

    @property
    def first_bit(self) -> int:
        """Position in bits."""
        return 8 * self.offset + self.bit_offset

    @property
    def end_bit(self) -> int:
        """The bit after the last one."""
        return self.first_bit + (8 * self.size if self.bits is None else self.bits)

    @property
    def element_size(self) -> int:
        """Size in bytes of an element of an array, else of the member."""
        size = self.size
        for n in self.dimensions:
            size = size // n if n else 0
        return size

    @property
    def declarator(self) -> str:
        """The name as it is declared, with dimensions or width."""
        width = "" if self.bits is None else f":{self.bits}"
        return self.name + "".join(f"[{n}]" for n in self.dimensions) + width

    def to_json(self) -> dict[str, object]:
        data: dict[str, object] = {
            "name": self.name, "type": self.type, "kind": "enum" if self.is_enum else self.kind,
            "offset": self.offset, "size": self.size, "dimensions": list(self.dimensions)}
        if self.bits is not None:
            data |= {"bit_offset": self.bit_offset, "bits": self.bits}
        if self.members:
            data["members"] = [m.to_json() for m in self.members]
        return data


def holes(members: tuple[Member, ...], end: int, kind: str) -> Iterator[Hole]:
    """Yield unused bits between members; end is the bit after the last of them."""
    if kind == "union":
        return
    following = [m.first_bit for m in members[1:]] + [end]
    for member, first in zip(members, following, strict=True):
        if first > member.end_bit:
            yield Hole(member.name, member.end_bit // 8, first - member.end_bit)


class TypeLayout(Value):
    """A structure or union type.

    :ivar name: C name: ``pfmlib_event_t``, ``struct perf_event_attr``
    :ivar kind: struct or union
    :ivar size, alignment: in bytes; alignment is 0 where it is not known (debug information)
    :ivar members: in the order of their declaration
    :ivar source: the library (pfm3 ...) or file that it is from
    """

    name: str
    kind: Literal["struct", "union"]
    size: int
    alignment: int
    members: tuple[Member, ...]
    source: str

    @property
    def is_typedef(self) -> bool:
        """Whether the name is a typedef's, not a tag."""
        return " " not in self.name

    @property
    def cachelines(self) -> int:
        """Count the cache lines of 64 bytes that it takes."""
        return -(-self.size // CACHELINE)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Unused bits between its members, not those inside of nested structures."""
        return tuple(holes(self.members, self._end_bit, self.kind))

    @property
    def padding(self) -> int:
        """Unused bytes after the last member."""
        return self.size - -(-self._end_bit // 8)

    @property
    def _end_bit(self) -> int:
        return max((m.end_bit for m in self.members), default=0)

    def flat(self) -> Iterator[tuple[str, Member]]:
        """Yield members, with those of unnamed nested structures, by path: ``pmc_ita2_counter_reg.pmc_plm``."""
        yield from _flat(self.members, "")

    def at(self, offset: int) -> str:
        """Return the paths of the members that have a byte, or describe an unused byte.

        :param offset: in bytes
        """
        offset = expect_int(offset, "offset")
        found = [path for path, m in self.flat() if not m.members and m.first_bit < 8 * offset + 8
                 and m.end_bit > 8 * offset]
        return "/".join(found) if found else f"padding at {offset}"

    def to_json(self) -> dict[str, object]:
        """Return it as data, with all that is derived."""
        return {
            "name": self.name, "kind": self.kind, "source": self.source, "size": self.size,
            "alignment": self.alignment, "cachelines": self.cachelines, "padding": self.padding,
            "holes": [h.to_json() for h in self.holes],
            "members": [m.to_json() for m in self.members]}


def of_one_library(layouts: Iterable[TypeLayout]) -> tuple[TypeLayout, ...]:
    """Return the types of a file that is to be written; refuse types of several libraries.

    :raises LayoutError: there are none, or they are of several libraries, whose types can have equal names
    :raises InvalidTypeError: they are no layouts
    """
    asked = expect_items(layouts, "layouts")
    for layout in asked:
        expect_type(layout, TypeLayout, "layout")
    sources = list(dict.fromkeys(layout.source for layout in asked))
    if len(sources) != 1:
        raise LayoutError(f"types of {' and '.join(sources) or 'no library'}: a file has those of one library")
    return asked


def _flat(members: tuple[Member, ...], prefix: str) -> Iterator[tuple[str, Member]]:
    for member in members:
        path = prefix + member.name
        if member.name:
            yield path, member
        yield from _flat(member.members, f"{path}." if member.name else prefix)
