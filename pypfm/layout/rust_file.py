"""Layouts as Rust declarations that a compiler checks: sizes, alignments and offsets are assertions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.layout.mirrors import ffi_of, types
from pypfm.layout.storage import Aggregate, Scalar, aggregates, pointee, scalar, unique, with_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypfm.layout.model import Member, TypeLayout

__all__ = ["rust_source"]

_KEYWORDS = frozenset((
    *("abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum"),
    *("extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod"),
    *("move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type"),
    *("typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield")))
_HEAD = """\
// Structures of {library}, made by pypfm layout --rust.
//
// Bit-fields lie in integers, bits_OFFSET, and have a function that reads and one that sets them (none if
// their bytes are no integer).  A union is its bytes, and has functions for each of its members.  Rust 1.77 or newer.

#![allow(dead_code, non_camel_case_types, non_snake_case)]

#[cfg(not(all(target_endian = "little", target_pointer_width = "64")))]
compile_error!("these are the layouts of 64-bit little-endian machines");
"""


def rust_source(layouts: Iterable[TypeLayout]) -> str:
    """Rust source of the structures; it needs the core library only.

    :param layouts: from `describe`, types of one library; those that they contain or point to come with them
    :return: a file that can be a module or a crate, and compiles only where the layouts are these
    """
    found = list(with_parts(layouts))
    writer = _Writer(found[0].source)
    head = _HEAD.format(library=found[0].source)
    return head + "".join(writer.type(part) for layout in found for part in aggregates(layout).nested())


def _name(text: str) -> str:
    return f"r#{text}" if text in _KEYWORDS else text


def _type_name(aggregate: Aggregate) -> str:
    return "_".join(aggregate.path)


class _Writer:
    """Writes the types of a library."""

    def __init__(self, source: str) -> None:
        self._ffi = ffi_of(source)
        self._known = types(source)

    def type(self, aggregate: Aggregate) -> str:
        """A structure, its functions, its assertions."""
        used: set[str] = set()
        name = _type_name(aggregate)
        fields = list(self._fields(aggregate, used))
        functions = [line for function in self._functions(aggregate, used) for line in function]
        lines = ["", f"/// {' '.join(aggregate.path[:1])}" + "".join(f".{p}" for p in aggregate.path[1:]),
                 f"#[repr(C{f', align({aggregate.alignment})' if aggregate.kind == 'union' else ''})]",
                 "#[derive(Clone, Copy)]", f"pub struct {name} {{", *(f"    {text}" for _, _, text in fields), "}"]
        if functions:
            lines += ["", f"impl {name} {{", *(f"    {line}".rstrip() for line in functions[:-1]), "}"]
        facts = [(f"size_of::<{name}>()", aggregate.size), (f"align_of::<{name}>()", aggregate.alignment),
                 *((f"offset_of!({name}, {field})", offset) for field, offset, _ in fields)]
        lines += ["", *(f"const _: () = assert!(core::mem::{what} == {value});" for what, value in facts)]
        return "\n".join(lines) + "\n"

    def _fields(self, aggregate: Aggregate, used: set[str]) -> Iterator[tuple[str, int, str]]:
        """Name, offset and declaration of each field."""
        if aggregate.kind == "union":
            yield unique("bytes", used), 0, f"pub bytes: [u8; {aggregate.size}],"
        for slot in aggregate.slots:
            if slot.member is not None:
                name = _name(unique(slot.name or (slot.aggregate.path[-1] if slot.aggregate else ""), used))
                yield name, slot.offset, f"pub {name}: {self._member(slot.member, slot.aggregate)},"
            else:
                name = unique(f"{'bits' if slot.bits else '_padding'}_{slot.offset}", used)
                ctype = f"u{8 * slot.size}" if slot.bits and slot.is_integer else f"[u8; {slot.size}]"
                what = f" // {', '.join(f'{m.name}: {m.bits}' for m in slot.bits)}" if slot.bits else ""
                yield name, slot.offset, f"pub {name}: {ctype},{what}"

    def _member(self, member: Member, aggregate: Aggregate | None) -> str:
        ctype = _type_name(aggregate) if aggregate else self._element(member)
        for n in reversed(member.dimensions):
            ctype = f"[{ctype}; {n}]"
        return ctype

    def _element(self, member: Member) -> str:
        if member.type == "size_t":
            return "usize"
        if member.kind != "pointer":
            return _scalar(scalar(member, self._ffi))
        depth, target = pointee(member, self._ffi, self._known)
        const = "*const " if member.type.startswith("const ") else "*mut "
        return "*mut " * (depth - 1) + const + _scalar(target)

    def _functions(self, aggregate: Aggregate, used: set[str]) -> Iterator[list[str]]:
        for slot in aggregate.slots:
            if slot.bits and slot.is_integer:
                for member in slot.bits:
                    shift = member.first_bit - 8 * (aggregate.base + slot.offset)
                    yield _bits(member, used, (8 * slot.size, shift), f"self.bits_{slot.offset}")
        for member, inner in aggregate.members:
            offset = member.offset - aggregate.base
            if member.bits is None:
                yield self._place(member, inner, offset, used)
            else:
                width = 8 * member.size
                yield _in_union(_bits(member, used, (width, member.bit_offset), "*at"), offset, width)

    def _place(self, member: Member, inner: Aggregate | None, offset: int, used: set[str]) -> list[str]:
        """Functions of a member of a union: it, and it to be written."""
        ctype, name = self._member(member, inner), unique(member.name, used)
        return [f"pub fn {_name(name)}(&self) -> &{ctype} {{",
                f"    unsafe {{ &*self.bytes.as_ptr().add({offset}).cast() }}", "}", "",
                f"pub fn {unique(f'{member.name}_mut', used)}(&mut self) -> &mut {ctype} {{",
                f"    unsafe {{ &mut *self.bytes.as_mut_ptr().add({offset}).cast() }}", "}", ""]


def _scalar(of: Scalar) -> str:
    kind, size = of
    if kind.startswith("named:"):
        return kind.removeprefix("named:")
    if kind == "char":
        return "core::ffi::c_char"
    letter = {"unsigned": "u", "signed": "i", "float": "f"}
    return "core::ffi::c_void" if kind == "void" else f"{letter[kind]}{8 * size}"


def _bits(member: Member, used: set[str], where: tuple[int, int], place: str) -> list[str]:
    """Functions of a bit-field: its value, and a new one; place is the integer that it lies in."""
    (width, shift), bits = where, member.bits or 0
    mask = f"{(1 << bits) - 1:#x}"
    ctype = f"{'i' if member.kind == 'signed' else 'u'}{width}"
    up, down = (f" << {shift}" if shift else ""), (f" >> {shift}" if shift else "")
    read = f"{place}{down} & {mask}"
    new = f"(value & {mask}){up}"
    if member.kind == "signed":
        read = f"({place} << {width - shift - bits}) as {ctype} >> {width - bits}"
        new = f"(value as u{width} & {mask}){up}"
    return [f"pub fn {_name(unique(member.name, used))}(&self) -> {ctype} {{", f"    {read}", "}", "",
            f"pub fn {unique(f'set_{member.name}', used)}(&mut self, value: {ctype}) {{",
            f"    {place} = {place} & !({mask}{up}) | {new};", "}", ""]


def _in_union(functions: list[str], offset: int, width: int) -> list[str]:
    """The functions of a bit-field whose integer is somewhere in the bytes of a union."""
    read, value, end, empty, write, *rest = functions
    at = f"self.bytes.as_ptr().add({offset}).cast::<u{width}>()"
    return [read, f"    let at = unsafe {{ &*{at} }};", value, end, empty,
            write, f"    let at = unsafe {{ &mut *{at.replace('as_ptr', 'as_mut_ptr')} }};", *rest]
