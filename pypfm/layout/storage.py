"""A layout as languages without C's bit-fields and unions can declare it: integers, arrays, padding, all of them named.

`pypfm.layout.go_file` and `pypfm.layout.rust_file` write what is here in their language.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from pypfm.layout.mirrors import describe, ffi_of, types
from pypfm.layout.model import of_one_library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from _cffi_backend import FFI

    from pypfm.layout.model import Kind, Member, TypeLayout

__all__ = ["Aggregate", "Scalar", "Slot", "aggregates", "bare", "leaves", "pointee", "scalar", "unique", "with_parts"]


class Scalar(NamedTuple):
    """What a number, a character or a pointer's target is.

    :ivar kind: of a structure or union "named:" and its name; of nothing and functions "void"
    :ivar size: of a number, in bytes
    """

    kind: Kind | str
    size: int = 0


@dataclass(frozen=True)
class Slot:
    """Bytes of a structure.

    :ivar name: of the member; "" of bit-fields, a union without a name and padding
    :ivar offset: from the start of this structure, in bytes
    :ivar size: in bytes
    :ivar member: what is there; None for bit-fields and padding
    :ivar bits: the bit-fields that lie in these bytes
    :ivar aggregate: the type of a member that has no name for it
    """

    name: str
    offset: int
    size: int
    member: Member | None = None
    bits: tuple[Member, ...] = ()
    aggregate: Aggregate | None = None

    @property
    def is_integer(self) -> bool:
        """Whether one aligned integer has these bytes."""
        return self.size in (1, 2, 4, 8) and self.offset % self.size == 0


@dataclass(frozen=True)
class Aggregate:
    """A structure or union, with a name for each that is without one in C.

    :ivar path: C name, and the names of the members that lead to it
    :ivar kind: struct or union
    :ivar base: its offset in the outermost type
    :ivar size, alignment: in bytes
    :ivar slots: of a structure, all its bytes in order
    :ivar members: of a union, what its bytes may be; of those that are nested without a type's name, their types
    """

    path: tuple[str, ...]
    kind: str
    base: int
    size: int
    alignment: int
    slots: tuple[Slot, ...] = ()
    members: tuple[tuple[Member, Aggregate | None], ...] = ()

    def nested(self) -> Iterator[Aggregate]:
        """The types inside of it that have no name in C, the innermost first, and it."""
        for inner in [*(s.aggregate for s in self.slots), *(a for _, a in self.members)]:
            if inner is not None:
                yield from inner.nested()
        yield self


def unique(name: str, used: set[str]) -> str:
    """A name that is not used yet, and is from then on."""
    while name in used:
        name += "_"
    used.add(name)
    return name


def bare(ctype: str) -> str:
    """The name of a type without struct, union, const."""
    return ctype.replace("const ", "").rpartition(" ")[2]


def with_parts(layouts: Iterable[TypeLayout]) -> Iterator[TypeLayout]:
    """The types, each after those that it contains or points to.

    :raises LayoutError: as `of_one_library`
    """
    asked = of_one_library(layouts)
    done: set[str] = set()

    def visit(layout: TypeLayout) -> Iterator[TypeLayout]:
        if layout.name in done:
            return
        done.add(layout.name)
        for _, member in layout.flat():
            inner = member.type.replace("const ", "").rstrip("* ")
            if inner in types(layout.source):
                yield from visit(describe(inner, layout.source))
        yield layout

    for layout in asked:
        yield from visit(layout)


# ---- types -------------------------------------------------------------------------

def scalar(member: Member, ffi: FFI) -> Scalar:
    """What a member, or an element of it, is that is no pointer: a number or a type with a name."""
    if member.kind in ("struct", "union"):
        return Scalar("named:" + bare(member.type))
    return Scalar(member.kind, ffi.sizeof(member.type.replace("const ", "")))


def pointee(member: Member, ffi: FFI, known: Sequence[str]) -> tuple[int, Scalar]:
    """How many pointers lead to what, and what that is: ``char **`` is 2 and a character."""
    ctype, depth = ffi.typeof(member.type.replace("const ", "")), 0
    while ctype.kind == "pointer":
        ctype, depth = ctype.item, depth + 1
    if ctype.kind in ("void", "function") or (ctype.kind in ("struct", "union") and ctype.cname not in known):
        return max(depth, 1), Scalar("void")
    if ctype.kind in ("struct", "union"):
        return depth, Scalar("named:" + bare(ctype.cname))
    if ctype.cname in ("char", "float", "double"):
        return depth, Scalar("char" if ctype.cname == "char" else "float", ffi.sizeof(ctype))
    return depth, Scalar("signed" if int(ffi.cast(ctype, -1)) < 0 else "unsigned", ffi.sizeof(ctype))


# ---- structures -----------------------------------------------------------------------

def aggregates(layout: TypeLayout) -> Aggregate:
    """A type, with the types inside of it."""
    where = (0, layout.size, layout.alignment)
    return _aggregate((bare(layout.name),), layout.kind, layout.members, where, layout.source)


def _aggregate(path: tuple[str, ...], kind: str, members: tuple[Member, ...], where: tuple[int, int, int],
               source: str) -> Aggregate:
    base, size, alignment = where
    if kind == "union":
        inside = tuple((m, _inner(path, m, source)) for m in _without_unnamed(members))
        return Aggregate(path, kind, base, size, alignment, members=inside)
    found = _slots(path, _without_unnamed(members, unions=False), source, (base, base + size))
    slots = tuple(replace(s, offset=s.offset - base) for s in _padded(found, base, size))
    return Aggregate(path, kind, base, size, alignment, slots)


def _inner(path: tuple[str, ...], member: Member, source: str) -> Aggregate | None:
    """The type of a member that has no name for it."""
    if not member.members:
        return None
    name = member.name or f"{next(m.name for m in leaves(member.members))}_union"
    alignment = max(_alignment(m, source) for m in leaves(member.members))
    kind = "union" if member.kind == "union" else "struct"
    return _aggregate((*path, name), kind, member.members, (member.offset, member.element_size, alignment), source)


def leaves(members: Iterable[Member]) -> Iterator[Member]:
    """The members that are no nested structures."""
    for member in members:
        if member.members:
            yield from leaves(member.members)
        else:
            yield member


def _alignment(member: Member, source: str) -> int:
    return ffi_of(source).alignof(member.type.replace("const ", ""))


def _without_unnamed(members: Iterable[Member], *, unions: bool = True) -> Iterator[Member]:
    """Members, with those of nested structures without a name in their place; of unions without one, too, if asked."""
    for member in members:
        if member.members and not member.name and (member.kind == "struct" or unions):
            yield from _without_unnamed(member.members, unions=unions)
        else:
            yield member


def _slots(path: tuple[str, ...], members: Iterable[Member], source: str, span: tuple[int, int]) -> Iterator[Slot]:
    """Members with a place, bit-fields by the integers that they lie in."""
    at, end = span
    run: list[Member] = []
    for member in members:
        if member.bits is None:
            yield from _runs(run, at, member.offset)
            run, at = [], member.offset + member.size
            yield Slot(member.name, member.offset, member.size, member, aggregate=_inner(path, member, source))
        else:
            run.append(member)
    yield from _runs(run, at, end)


def _runs(fields: Sequence[Member], at: int, end: int) -> Iterator[Slot]:
    """Bit-fields by the integers that hold them, which begin after other members and end before others."""
    run: list[Member] = []
    for field in fields:
        if run and field.offset >= run[-1].offset + run[-1].size:
            yield _run(run, at, field.offset)
            run, at = [], run[-1].offset + run[-1].size
        run.append(field)
    if run:
        yield _run(run, at, end)


def _run(run: Sequence[Member], at: int, end: int) -> Slot:
    start = max(at, min(m.offset for m in run))
    return Slot("", start, min(end, max(m.offset + m.size for m in run)) - start, bits=tuple(run))


def _padded(slots: Iterable[Slot], base: int, size: int) -> Iterator[Slot]:
    """The slots, and what is between and after them."""
    at = base
    for slot in slots:
        if slot.offset > at:
            yield Slot("", at, slot.offset - at)
        yield slot
        at = slot.offset + slot.size
    if at < base + size:
        yield Slot("", at, base + size - at)
