"""Functions and lines of code that the plugin knows by its address: from the symbols and DWARF of its file."""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from elftools.elf.elffile import ELFFile

from pypfm.perfex.opening import open_regular
from pypfm.perfex.profile import UNKNOWN, Function, Place, added

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.perfex.backends.simulation.counts import Call, Object
    from pypfm.perfex.profile import Profile

__all__ = ["name"]

T = TypeVar("T")

_LARGEST = 1 << 30  # bytes of a program


class _Line(NamedTuple):
    """Where code comes from that begins at an address."""

    address: int
    file: str
    line: int


class _Symbol(NamedTuple):
    """A function."""

    address: int
    end: int
    name: str


class _File(NamedTuple):
    """The segments, symbols and lines of a program or library.

    :ivar segments: offset in the file, bytes, and address that they are linked for
    :ivar symbols, lines: in the order of their addresses
    """

    segments: tuple[tuple[int, int, int], ...] = ()
    symbols: tuple[_Symbol, ...] = ()
    lines: tuple[_Line, ...] = ()

    def linked(self, offset: int) -> int | None:
        """Return the address that a place in the file is linked for."""
        return next((address + offset - begin for begin, size, address in self.segments
                     if begin <= offset < begin + size), None)

    def symbol(self, address: int) -> _Symbol | None:
        found = bisect_right(self.symbols, address, key=lambda s: s.address) - 1
        return self.symbols[found] if found >= 0 and address < self.symbols[found].end else None

    def line(self, address: int) -> _Line:
        found = bisect_right(self.lines, address, key=lambda line: line.address) - 1
        return self.lines[found] if found >= 0 else _Line(0, UNKNOWN, 0)


def name(found: Profile, calls: Sequence[Call], objects: Sequence[Object], into: Profile) -> None:
    """Add counts to a profile, with the names of their places.

    :param found: of one process, by address
    :param calls: of its functions
    :param objects: what its memory has in it
    """
    into.names = found.names
    for place, numbers in found.code.items():
        added(into.code, _place(place, objects), numbers)
    pairs: dict[tuple[Function, Function], list[int]] = {}
    alone: dict[Function, list[int]] = {}
    for caller, callee, numbers in calls:
        called = _function(callee, objects)
        if caller:
            _joined(pairs, (_function(caller, objects), called), numbers)
        else:
            _joined(alone, called, numbers)
    for pair, numbers in pairs.items():
        added(into.calls, pair, numbers)
    for function, numbers in alone.items():
        added(into.inclusive, function, numbers)


def _joined(to: dict[T, list[int]], key: T, numbers: list[int]) -> None:
    """Add calls to those that a key has.

    Functions without symbols have one name, and call each other: what is counted in all of them is no less than in
    each.
    """
    times, *counts = numbers
    known, *others = to.get(key, [0] * len(numbers))
    to[key] = [known + times, *map(max, others, counts)]


def _function(address: int, objects: Sequence[Object]) -> Function:
    return _place(Place(Function(UNKNOWN, UNKNOWN, UNKNOWN), UNKNOWN, address, 0), objects).function


def _place(place: Place, objects: Sequence[Object]) -> Place:
    part = next((o for o in objects if o.begin <= place.address < o.end), None)
    return _named(place, part) if part else place


def _named(place: Place, part: Object) -> Place:
    known = _read(part.path)
    address = known.linked(place.address - part.begin + part.offset)
    if address is None:
        return place
    symbol, line = known.symbol(address), known.line(address)
    if symbol is None:  # code without a symbol is at least that of a file
        called = Function(part.path, UNKNOWN, f"{UNKNOWN} ({posixpath.basename(part.path)})")
    else:
        called = Function(part.path, known.line(symbol.address).file, symbol.name)
    return Place(called, line.file, place.address, line.line)


@cache
def _read(path: str) -> _File:
    """Read a file; nothing is known if it cannot be read or is damaged."""
    try:
        with open_regular(path, _LARGEST) as stream:
            elf = ELFFile(stream)
            segments = tuple((s["p_offset"], s["p_filesz"], s["p_vaddr"]) for s in elf.iter_segments("PT_LOAD"))
            lines = sorted(_lines(elf), key=lambda line: (line.address, line.line > 0))
            return _File(segments, tuple(sorted(_symbols(elf))), tuple(lines))
    # pyelftools trusts what it reads: of a damaged file it raises AssertionError, AttributeError, OverflowError,
    # MemoryError and more; and the command may have put anything into its place.
    except Exception:  # noqa: BLE001
        return _File()


def _symbols(elf: Any) -> Iterator[_Symbol]:
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    for symbol in table.iter_symbols() if table else ():
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]:
            yield _Symbol(symbol["st_value"], symbol["st_value"] + symbol["st_size"], symbol.name)


def _lines(elf: Any) -> Iterator[_Line]:
    """Yield the line table; where a sequence ends, nothing is known."""
    dwarf: Any = elf.get_dwarf_info() if elf.has_dwarf_info() else None
    for unit in dwarf.iter_CUs() if dwarf else ():
        program = dwarf.line_program_for_CU(unit)
        attributes = unit.get_top_DIE().attributes
        given = attributes.get("DW_AT_comp_dir")
        directory = given.value.decode(errors="replace") if given else ""
        files = _files(program, directory) if program else {}
        for entry in program.get_entries() if program else ():
            state = entry.state
            if state is not None:
                yield (_Line(state.address, UNKNOWN, 0) if state.end_sequence else
                       _Line(state.address, files.get(state.file, UNKNOWN), state.line))


def _files(program: Any, directory: str) -> dict[int, str]:
    """Return the paths of a unit's files, by their numbers."""
    newer = program["version"] >= 5
    directories: Iterable[bytes] = program["include_directory"]
    known = [directory, *(d.decode(errors="replace") for d in directories)][newer:]
    return {number: posixpath.normpath(posixpath.join(directory, known[entry.dir_index],
                                                      entry.name.decode(errors="replace")))
            for number, entry in enumerate(program["file_entry"], 0 if newer else 1) if entry.dir_index < len(known)}
