"""Layouts as Go declarations that a compiler checks: sizes, alignments and offsets are lengths of arrays in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.layout.mirrors import ffi_of, types
from pypfm.layout.storage import Aggregate, Scalar, Slot, aggregates, pointee, scalar, unique, with_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypfm.layout.model import Member, TypeLayout

__all__ = ["go_source"]

_HEAD = """\
// Package {package} has the structures of {library}, made by pypfm layout --go, for 64-bit little-endian machines.
//
// Names are as in C, without underscores: struct perf_event_attr is PerfEventAttr.  Bit-fields lie in integers,
// BitsOFFSET, and have a method that reads and one that sets them (none if their bytes are no integer).  A union is
// its bytes, and has a method for each of its members; one without a name is embedded.
package {package}

import "unsafe"
"""


def go_source(layouts: Iterable[TypeLayout]) -> str:
    """Go source of the structures; it needs the package unsafe only, not cgo.

    :param layouts: from `describe`, types of one library; those that they contain or point to come with them
    :return: a file of a package that is named as the library, and compiles only where the layouts are these
    """
    found = list(with_parts(layouts))
    library = found[0].source
    writer = _Writer(library)
    head = _HEAD.format(package=library.replace("-", "_"), library=library)
    return head + "".join(writer.type(part) for layout in found for part in aggregates(layout).nested())


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or "X"


def _type_name(path: tuple[str, ...]) -> str:
    return "".join(_camel(part) for part in path)


class _Writer:
    """Writes the types of a library."""

    def __init__(self, source: str) -> None:
        self._ffi = ffi_of(source)
        self._known = types(source)

    def type(self, aggregate: Aggregate) -> str:
        """A structure, its methods, its assertions."""
        used: set[str] = set()
        name = _type_name(aggregate.path)
        fields = list(self._fields(aggregate, used))
        methods = [line for method in self._methods(aggregate, name, used) for line in method]
        facts = [(f"unsafe.Sizeof({name}{{}})", aggregate.size), (f"unsafe.Alignof({name}{{}})", aggregate.alignment),
                 *((f"unsafe.Offsetof({name}{{}}.{field})", offset) for field, offset, _ in fields if field)]
        lines = ["", f"// {name} is {'.'.join(aggregate.path)}.", f"type {name} struct {{",
                 *(f"\t{text}" for _, _, text in fields), "}", "", *methods,
                 *(f"var _ [{what} - {value}][{value} - {what}]struct{{}}" for what, value in facts)]
        return "\n".join(lines) + "\n"

    def _fields(self, aggregate: Aggregate, used: set[str]) -> Iterator[tuple[str, int, str]]:
        """Name ("" of padding), offset and declaration of each field."""
        if aggregate.kind == "union":
            yield "", 0, f"_ [0]uint{8 * aggregate.alignment}"  # which aligns it
            yield unique("Bytes", used), 0, f"Bytes [{aggregate.size}]byte"
        for slot in aggregate.slots:
            if slot.bits:
                name = unique(f"Bits{slot.offset}", used)
                ctype = f"uint{8 * slot.size}" if slot.is_integer else f"[{slot.size}]byte"
                yield name, slot.offset, f"{name} {ctype} // {', '.join(f'{m.name}: {m.bits}' for m in slot.bits)}"
            elif slot.member is None:
                yield "", slot.offset, f"_ [{slot.size}]byte"
            elif slot.aggregate and not slot.name:
                name = unique(_type_name(slot.aggregate.path), used)
                yield name, slot.offset, name
            elif slot.size or slot is not aggregate.slots[-1]:  # Go adds a byte after an array without elements
                name = unique(_camel(slot.name), used)
                yield name, slot.offset, f"{name} {self._member(slot.member, slot.aggregate)}"

    def _member(self, member: Member, aggregate: Aggregate | None) -> str:
        return "".join(f"[{n}]" for n in member.dimensions) + self._element(member, aggregate)

    def _element(self, member: Member, aggregate: Aggregate | None) -> str:
        if aggregate:
            return _type_name(aggregate.path)
        if member.type == "size_t":
            return "uintptr"
        if member.kind != "pointer":
            return _scalar(scalar(member, self._ffi))
        depth, target = pointee(member, self._ffi, self._known)
        return "*" * (depth - 1) + ("unsafe.Pointer" if target.kind == "void" else f"*{_scalar(target)}")

    def _methods(self, aggregate: Aggregate, name: str, used: set[str]) -> Iterator[list[str]]:
        for slot in aggregate.slots:
            if slot.bits and slot.is_integer:
                for member in slot.bits:
                    shift = member.first_bit - 8 * (aggregate.base + slot.offset)
                    yield _bits(name, member, used, (8 * slot.size, shift), f"x.Bits{slot.offset}")
            elif slot.member is not None and not slot.size and slot is aggregate.slots[-1]:
                yield self._rest(name, slot, used)
        for member, inner in aggregate.members:
            at = f"unsafe.Pointer(&x.Bytes[{member.offset - aggregate.base}])"
            if member.bits is None:
                ctype, method = self._member(member, inner), unique(_camel(member.name), used)
                yield [f"// {method} is where {member.name} lies.", f"func (x *{name}) {method}() *{ctype} {{",
                       f"\treturn (*{ctype})({at})", "}", ""]
            else:
                width = 8 * member.size
                yield _bits(name, member, used, (width, member.bit_offset), f"*(*uint{width})({at})")

    def _rest(self, name: str, slot: Slot, used: set[str]) -> list[str]:
        """The method for an array at the end that has as many elements as there is memory."""
        assert slot.member is not None
        method, ctype = unique(_camel(slot.name), used), self._element(slot.member, slot.aggregate)
        return [f"// {method} is {slot.name}, n elements that follow the structure.",
                f"func (x *{name}) {method}(n int) []{ctype} {{",
                f"\treturn unsafe.Slice((*{ctype})(unsafe.Add(unsafe.Pointer(x), {slot.offset})), n)", "}", ""]


def _scalar(of: Scalar) -> str:
    kind, size = of
    if kind.startswith("named:"):
        return _type_name((kind.removeprefix("named:"),))
    if kind == "char":
        return "byte"
    return f"{ {'unsigned': 'uint', 'signed': 'int', 'float': 'float'}[kind] }{8 * size}"


def _bits(name: str, member: Member, used: set[str], where: tuple[int, int], place: str) -> list[str]:
    """Methods of a bit-field: its value, and a new one; place is the integer that it lies in."""
    (width, shift), bits = where, member.bits or 0
    mask = f"{(1 << bits) - 1:#x}"
    method, ctype = unique(_camel(member.name), used), f"{'int' if member.kind == 'signed' else 'uint'}{width}"
    up, down = (f" << {shift}" if shift else ""), (f" >> {shift}" if shift else "")
    value = f"{place}{down} & {mask}"
    if member.kind == "signed":
        value = f"{ctype}({place}<<{width - shift - bits}) >> {width - bits}"
    setter = unique(f"Set{method}", used)
    return [f"// {method} is {member.name}, {bits} bit{'' if bits == 1 else 's'}.",
            f"func (x *{name}) {method}() {ctype} {{", f"\treturn {value}", "}", "",
            f"// {setter} sets {member.name}.", f"func (x *{name}) {setter}(value {ctype}) {{",
            f"\t{place} = {place}&^({mask}{up}) | (uint{width}(value) & {mask}){up}", "}", ""]
