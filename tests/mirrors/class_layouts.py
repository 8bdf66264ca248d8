"""Each member of each structure of the mirrors, beside what the C compiler says of it: place, size, sign, bits.

    python class_layouts.py

Prints what differs, and how many members were compared; exit status 1 if one differs. It needs nothing but pypfm, and
runs under every Python: how ctypes lays out bit-fields is each version's own.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from typing import Any

from pypfm._c.references import offset_of
from pypfm.config import LIBRARIES
from pypfm.layout import Member, describe, types
from pypfm.layout.mirrors import class_of

PATTERNS = (-1, 1, 0x5A5A5A5A5A5A5A5A, 0xA5A5A5A5A5A5A5A5)


def values(member: Member) -> Iterator[tuple[int, int]]:
    """Values for a member: what its bits are, and the number that they say."""
    bits = 8 * member.element_size if member.bits is None else member.bits
    for pattern in PATTERNS:
        raw = pattern & (1 << bits) - 1
        yield raw, raw - (1 << bits) if member.kind == "signed" and raw >> bits - 1 else raw


def holder_of(structure: Any, path: str) -> tuple[Any, str]:
    *outer, name = path.split(".")
    for part in outer:
        structure = getattr(structure, part)
    return structure, name


def places(member: Member) -> Iterator[tuple[int, int]]:
    """Index and first bit of the elements that are tried: of no array -1; of one the first, one inside and the last."""
    if not member.dimensions:
        yield -1, member.first_bit
    elif n := member.dimensions[0]:
        for at in sorted({0, n // 2, n - 1}):
            yield at, member.first_bit + 8 * at * member.element_size


def differences(cls: Any, size: int, path: str, member: Member) -> Iterator[str]:
    """What a class has otherwise than C: the bytes after a member was set, and the member after the bytes were."""
    for at, first_bit in places(member):
        for raw, value in values(member):
            one = cls()
            holder, name = holder_of(one, path)
            if at < 0:
                setattr(holder, name, value)
            else:
                getattr(holder, name)[at] = value
            if int.from_bytes(bytes(one), "little") != raw << first_bit:
                yield f"{cls.__name__}.{path}: set to {value:#x}, its bytes are {bytes(one).hex()}"
            for background in (0, (1 << 8 * size) - 1):
                mask = (1 << (8 * member.element_size if member.bits is None else member.bits)) - 1
                memory = background & ~(mask << first_bit) | raw << first_bit
                holder, name = holder_of(cls.from_buffer_copy(memory.to_bytes(size, "little")), path)
                read = getattr(holder, name) if at < 0 else getattr(holder, name)[at]
                if read != value:
                    yield f"{cls.__name__}.{path}: reads {read:#x}, not {value:#x}"


def pointer_differences(cls: Any, path: str, member: Member) -> Iterator[str]:
    """Where a pointer or a structure lies: its place and size."""
    offset = offset_of(cls, *path.split("."))
    if offset != member.offset:
        yield f"{cls.__name__}.{path}: at {offset}, not at {member.offset}"


def main() -> int:
    compared, wrong = 0, []
    for library in LIBRARIES:
        for name in types(library):
            layout = describe(name, library)
            cls = class_of(layout)
            if (ctypes.sizeof(cls), ctypes.alignment(cls)) != (layout.size, layout.alignment):
                wrong.append(f"{library} {name}: {ctypes.sizeof(cls)} bytes, not {layout.size}")
            for path, member in layout.flat():
                compared += 1
                if member.kind in ("pointer", "struct", "union"):
                    wrong += pointer_differences(cls, path, member)
                else:
                    wrong += differences(cls, layout.size, path, member)
    print(*wrong, f"{compared} members compared, {len(wrong)} differences", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
