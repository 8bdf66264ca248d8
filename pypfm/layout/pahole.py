"""A layout as pahole prints it: the same text, byte for byte, but for the names of C's integer types.

pahole shows those as the compiler's debug information has them (gcc: ``long unsigned int``); here
they are as in the header (``unsigned long``), which is what clang records.  Its remarks on bit-fields
that share bytes with members of another type are left out: no type of our libraries has such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.common.arguments import expect_type
from pypfm.layout.model import CACHELINE, Hole, Member, TypeLayout, holes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["text"]

_TYPE_WIDTH, _NAME_WIDTH = 26, 23  # pahole's columns; a nested structure's are narrower by its tab
_TAB = 8
_UNION_NAME_WIDTH = 21


def text(layout: TypeLayout) -> str:
    """Write the structure as pahole does.

    :param layout: from `describe`
    :return: lines of C with comments, a line feed at the end
    """
    expect_type(layout, TypeLayout, "layout")
    name_width = _UNION_NAME_WIDTH if layout.kind == "union" else _NAME_WIDTH
    lines = list(_Printer(name_width).members(layout.members, layout.holes, 1, _TYPE_WIDTH))
    if layout.kind == "struct":
        lines += ["", *(f"\t/* {line} */" for line in _summary(layout))]
    head, tail = (f"typedef {layout.kind} {{", f"}} {layout.name};") if layout.is_typedef else (
        f"{layout.name} {{", "};")
    return "\n".join([head, *lines, tail, ""])


class _Printer:
    """Prints members; knows the last cache line that was announced."""

    def __init__(self, name_width: int) -> None:
        self.cacheline = 0
        self.name_width = name_width

    def members(self, members: Sequence[Member], gaps: Sequence[Hole], indent: int, width: int) -> Iterator[str]:
        tabs = "\t" * indent
        after = {(h.after, h.offset): h for h in gaps}
        for member in members:
            yield from self._boundary(member, tabs)
            yield from self._member(member, indent, width)
            hole = after.get((member.name, member.end_bit // 8))
            if hole is not None:
                yield from ["", *(f"{tabs}/* XXX {what} hole, try to pack */" for what in _sizes(hole, member)), ""]

    def _boundary(self, member: Member, tabs: str) -> Iterator[str]:
        line, past = divmod(member.offset, CACHELINE)
        if line > self.cacheline:
            self.cacheline = line
            ago = f" was {past} bytes ago" if past else ""
            yield f"{tabs}/* --- cacheline {line} boundary ({line * CACHELINE} bytes){ago} --- */"

    def _member(self, member: Member, indent: int, width: int) -> Iterator[str]:
        tabs = "\t" * indent
        if member.members:
            yield f"{tabs}{member.type} {{"
            end = max(m.end_bit for m in member.members)
            yield from self.members(member.members, list(holes(member.members, end, member.type)), indent + 1,
                                    width - _TAB)
            declared = "}" + f" {member.declarator}".rstrip() + ";"
        else:
            declared = f"{_pointers(member.type):<{width}} {member.declarator.replace('[0]', '[]')};"
        space = " " * max(1, width + self.name_width - len(declared))
        yield f"{tabs}{declared}{space}/* {_where(member)} */"


def _where(member: Member) -> str:
    if member.bits is None:
        return f"{member.offset:5} {member.size:5}"
    return f"{member.offset:5}:{member.bit_offset:2} {member.size:2}"


def _pointers(ctype: str) -> str:
    """Write pointers as pahole spaces them: ``char * *``, ``const char  *``."""
    spaced = ctype.replace("**", "* *")
    return spaced.replace(" *", "  *", 1) if spaced.startswith("const ") else spaced


def _split(hole: Hole, before: Member) -> tuple[int, int]:
    """Split a hole in bits, of the integer that holds the bit-field before it, and bytes."""
    left = (before.offset + before.size) * 8 - before.end_bit
    bits = 0 if before.bits is None else min(hole.bits, left)
    return bits, (hole.bits - bits) // 8


def _sizes(hole: Hole, before: Member) -> Iterator[str]:
    for n, unit in zip(_split(hole, before), ("bit", "byte"), strict=True):
        if n:
            yield f"{n} {unit}{'s' if n > 1 else ''}"


def _summary(layout: TypeLayout) -> Iterator[str]:
    """Yield the lines below the members."""
    yield f"size: {layout.size}, cachelines: {layout.cachelines}, members: {len(layout.members)}"
    if layout.holes:
        yield from _sums(layout)
    if layout.padding:
        yield f"padding: {layout.padding}"
    if layout.size % CACHELINE:
        yield f"last cacheline: {layout.size % CACHELINE} bytes"


def _sums(layout: TypeLayout) -> Iterator[str]:
    whole = sum(m.size for m in layout.members if m.bits is None)
    bits = sum(m.bits or 0 for m in layout.members)
    before = {(m.name, m.end_bit // 8): m for m in layout.members}
    splits = [_split(h, before[h.after, h.offset]) for h in layout.holes]
    hole_bits, hole_bytes = ([n for n in sizes if n] for sizes in zip(*splits, strict=True))
    if whole:
        yield f"sum members: {whole}" + (
            f", holes: {len(hole_bytes)}, sum holes: {sum(hole_bytes)}" if hole_bytes else "")
    if bits:
        yield f"sum bitfield members: {bits} bits" + (
            f", bit holes: {len(hole_bits)}, sum bit holes: {sum(hole_bits)} bits" if hole_bits
            else f" ({bits // 8} bytes)" if bits % 8 == 0 else "")
