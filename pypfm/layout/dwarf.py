"""Layouts of C types from the debug information (DWARF 2 to 5) of a library or program.

Read with pyelftools; also from a separate file, found as gdb finds it: by build-id below
/usr/lib/debug, or by the name that .gnu_debuglink gives.  Not read: types in units of their own
(gcc -fdebug-types-section), of which pyelftools knows only half.
"""

from __future__ import annotations

import zlib
from contextlib import ExitStack, contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from pypfm.common.frozen import lazy
from pypfm.errors import named
from pypfm.layout.bounded import SECONDS, bounded
from pypfm.layout.model import Kind, LayoutError, Member, TypeLayout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elftools.dwarf.die import DIE
    from elftools.dwarf.dwarfinfo import DWARFInfo

__all__ = ["DebugInfo", "build_id_of", "die_name", "enumerators", "has_debug_info", "layout_of", "layouts", "number",
           "open_elf", "opened", "readable", "scalar", "separate_file", "target", "type_name"]

# What pyelftools raises when a file is not what it says.
_DAMAGED = (ELFError, DWARFError, ConstructError, ArithmeticError, AssertionError, AttributeError, LookupError,
            MemoryError, NotImplementedError, OSError, RecursionError, TypeError, ValueError, zlib.error)

_DEBUG_DIRECTORY = Path("/usr/lib/debug")
_KINDS: dict[int | None, Kind] = {2: "unsigned", 4: "float", 5: "signed", 6: "signed", 7: "unsigned", 8: "unsigned"}
# gcc's names of C's types, and how headers write them.
_C_NAMES = {
    "short int": "short", "short unsigned int": "unsigned short", "long int": "long",
    "long unsigned int": "unsigned long", "long long int": "long long",
    "long long unsigned int": "unsigned long long",
}
_AGGREGATES = ("structure_type", "union_type", "class_type")


# ---- files -----------------------------------------------------------------------

@contextmanager
def open_elf(path: Path) -> Iterator[ELFFile]:
    """Open an ELF file.

    :param path: a library, a program or a debug file
    :raises LayoutError: it cannot be opened or is no ELF file
    """
    def linked(name: str) -> BytesIO:
        """Open the file of common parts that dwz made for several libraries."""
        return BytesIO((path.parent / name).read_bytes())

    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # to open a pipe would take for ever
            raise LayoutError(f"{named(path)} is no regular file")
        stream = path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise LayoutError(f"{named(path)}: {error.strerror if isinstance(error, OSError) else error}") from None
    with stream:
        try:
            elf = ELFFile(stream, linked)
        except _DAMAGED as error:
            raise LayoutError(f"{named(path)} is no ELF file" + (f" ({error})" if str(error) else "")) from None
        yield elf


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what pyelftools raises while it reads a damaged file into a LayoutError."""
    try:
        yield
    except LayoutError:
        raise
    except _DAMAGED as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise LayoutError(f"{named(path)} is damaged: {why}") from None


@contextmanager
def opened(path: Path) -> Iterator[DebugInfo]:
    """Open the debug information of a file, or of its separate debug file.

    :raises LayoutError: there is none, or it is for another kind of machine than our libraries are
    """
    with ExitStack() as stack:
        yield _debug_info(path, stack)


def layouts(path: Path, names: Sequence[str], seconds: float = SECONDS) -> dict[str, TypeLayout]:
    """Return the layouts of the named types that a file's debug information has, read in a process with limits.

    :param seconds: that it may take
    :raises LayoutError: as `opened`; it cannot be read within the limits
    """
    return bounded(named(path), seconds, _layouts, path, tuple(names))


def _layouts(path: Path, names: Sequence[str]) -> dict[str, TypeLayout]:
    with opened(path) as info:
        return {name: found for name in names if (found := info.layout(name)) is not None}


def has_debug_info(path: Path, elf: ELFFile) -> bool:
    """Tell whether there is debug information to be read, in the file or apart from it."""
    return bool(elf.has_dwarf_info(strict=True)) or separate_file(path, elf) is not None


def _debug_info(path: Path, stack: ExitStack) -> DebugInfo:
    elf = stack.enter_context(open_elf(path))
    _check_machine(path, elf)
    with readable(path):
        if not elf.has_dwarf_info(strict=True):
            separate = separate_file(path, elf)
            if separate is None:
                raise LayoutError(
                    f"{named(path)} has no debug information (compile it with -g, or install its debug file)")
            elf = stack.enter_context(open_elf(separate))
        return DebugInfo(path, elf.get_dwarf_info())


def _check_machine(path: Path, elf: ELFFile) -> None:
    bits = elf.elfclass
    if bits != 64 or not elf.little_endian:
        order = "little" if elf.little_endian else "big"
        raise LayoutError(
            f"{named(path)} is for a {bits}-bit {order}-endian machine; our layouts are 64-bit and little-endian")


def separate_file(path: Path, elf: ELFFile) -> Path | None:
    """Return the file that holds the debug information of another one, if it is installed."""
    candidates = []
    build_id = build_id_of(elf)
    if build_id:
        candidates.append(_DEBUG_DIRECTORY / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug")
    link = elf.get_section_by_name(".gnu_debuglink")
    if link is not None:
        data = link.data()
        name, checksum = data.split(b"\0")[0].decode(errors="surrogateescape"), int.from_bytes(data[-4:], "little")
        directory = path.resolve().parent
        places = [directory, directory / ".debug", _DEBUG_DIRECTORY / directory.relative_to("/")]
        candidates += [place / name for place in places if _checksum(place / name) == checksum]
    return next((c for c in candidates if c.is_file()), None)


def _checksum(path: Path) -> int | None:
    """Return the CRC-32 of a file, as .gnu_debuglink has it; None if there is no file."""
    return zlib.crc32(path.read_bytes()) if path.is_file() else None


def build_id_of(elf: ELFFile) -> str:
    """Return the build-id, hexadecimal, or ""."""
    section = elf.get_section_by_name(".note.gnu.build-id")
    notes = section.iter_notes() if isinstance(section, NoteSection) else ()
    return next((str(note["n_desc"]) for note in notes if note["n_type"] == "NT_GNU_BUILD_ID"), "")


# ---- entries ---------------------------------------------------------------------

class DebugInfo:
    """The types that a file's debug information has.

    :ivar path: the file
    """

    def __init__(self, path: Path, dwarf: DWARFInfo) -> None:
        self.path = path
        self._dwarf = dwarf

    def entries(self) -> Iterator[DIE]:
        """Yield typedefs and complete structures with a tag, of each compile unit."""
        with readable(self.path):
            common = self._dwarf.supplementary_dwarfinfo
            for unit in chain(self._dwarf.iter_CUs(), () if common is None else common.iter_CUs()):
                for die in children(unit.get_top_DIE()):
                    tagged = _tag(die) in _AGGREGATES and not number(die, "declaration")
                    if (tagged or _tag(die) == "typedef") and die_name(die):
                        yield die

    @lazy
    def _by_name(self) -> dict[str, DIE]:
        """Return the first definition of each structure or union."""
        found: dict[str, DIE] = {}
        for die in self.entries():
            name = type_name(die)
            inner = _stripped(die)
            if inner is not None and _tag(inner) in _AGGREGATES and not number(inner, "declaration"):
                found.setdefault(name, inner)
        return found

    def layout(self, name: str) -> TypeLayout | None:
        """Return the layout of a type, or None if the file has none of that name.

        :param name: C name: ``pfmlib_event_t``, ``struct perf_event_attr`` (or without ``struct``)
        :raises LayoutError: the debug information is damaged
        """
        with readable(self.path):
            found = next((n for n in (name, f"struct {name}", f"union {name}") if n in self._by_name), None)
            return None if found is None else layout_of(self._by_name[found], found, str(self.path))


def number(die: DIE, name: str) -> int | None:
    """Return the value of an attribute (DW_AT_ left out), if there is one."""
    found = die.attributes.get(f"DW_AT_{name}")
    return None if found is None else int(found.value)


def die_name(die: DIE) -> str:
    """Return the name of an entry, or ""."""
    return die.attributes["DW_AT_name"].value.decode() if "DW_AT_name" in die.attributes else ""


def target(die: DIE) -> DIE | None:
    """Return the type that an entry refers to; None is void."""
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def children(die: DIE) -> Iterator[DIE]:
    """Yield the entries below another one; refuse a file that says they end before they begin."""
    last = die.offset
    for child in die.iter_children():
        if child.offset <= last:
            raise ValueError(f"the entry after that at {last:#x} is at {child.offset:#x}")
        last = child.offset
        yield child


class _Path:
    """The types on the way to a type: a type that comes a second time contains itself."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def enter(self, die: DIE) -> None:
        place = id(die.dwarfinfo), die.offset  # there may be two files
        if place in self._seen:
            raise ValueError(f"the type at {die.offset:#x} refers to itself")
        self._seen.add(place)

    def leave(self, die: DIE) -> None:
        self._seen.remove((id(die.dwarfinfo), die.offset))


def _tag(die: DIE) -> str:
    return str(die.tag).removeprefix("DW_TAG_")


def type_name(die: DIE) -> str:
    """Return the name of a type as C writes it."""
    kind = {"structure_type": "struct ", "union_type": "union ", "enumeration_type": "enum "}.get(_tag(die), "")
    name = die_name(die)
    return kind + _C_NAMES.get(name, name) if name else kind.strip()


def _stripped(die: DIE | None) -> DIE | None:
    """Return a type without typedefs and qualifiers."""
    path = _Path()
    while die is not None and _tag(die) in ("typedef", "const_type", "volatile_type", "restrict_type",
                                            "atomic_type"):
        path.enter(die)
        die = target(die)
    return die


def spelling(die: DIE | None) -> str:
    """Write a type as C does: ``const char *``."""
    if die is None:
        return "void"
    if _tag(die) == "pointer_type":
        inner = spelling(target(die))
        return inner + ("*" if inner.endswith("*") else " *")
    if _tag(die) in ("const_type", "volatile_type", "restrict_type", "atomic_type"):
        word = _tag(die).removesuffix("_type")
        inner = spelling(target(die))
        return inner if inner.endswith("*") else f"{word} {inner}"
    if _tag(die) == "array_type":
        return spelling(target(die))
    return type_name(die) or _tag(die).removesuffix("_type")


def scalar(die: DIE) -> tuple[Kind, int]:
    """Return the kind of a type and its size in bytes; for an array, those of its elements."""
    found, path = _stripped(die), _Path()
    while found is not None and _tag(found) == "array_type":
        path.enter(found)
        found = _stripped(target(found))
    if found is None:
        return "unsigned", 0
    return _scalar_kind(found), number(found, "byte_size") or (
        found.cu["address_size"] if _tag(found) == "pointer_type" else 0)


def _scalar_kind(die: DIE) -> Kind:
    tag, inner = _tag(die), target(die)
    if tag in ("pointer_type", "subroutine_type"):
        return "pointer"
    if tag in _AGGREGATES:
        return "union" if tag == "union_type" else "struct"
    if tag == "enumeration_type":
        return _enum_kind(die) if inner is None else scalar(inner)[0]
    return "char" if die_name(die) == "char" else _KINDS.get(number(die, "encoding"), "unsigned")


def _enum_kind(die: DIE) -> Kind:
    """Return the kind of an enumeration; if a compiler left it out, C takes int only if a value is negative."""
    return "signed" if any(value < 0 for value in enumerators(die).values()) else "unsigned"


def enumerators(die: DIE) -> dict[str, int]:
    """Return names and values of an enumeration."""
    return {die_name(e): number(e, "const_value") or 0 for e in children(die)}


def _dimensions(die: DIE | None) -> tuple[int, ...]:
    die = _stripped(die)
    if die is None or _tag(die) != "array_type":
        return ()
    found = []
    for sub in children(die):
        upper = number(sub, "upper_bound")
        count = number(sub, "count") if upper is None else upper + 1
        found.append(count or 0)
    return (*found, *_dimensions(target(die)))


def layout_of(die: DIE, name: str, source: str) -> TypeLayout:
    """Return the layout of a structure or union.

    :param die: its entry, without typedefs
    :param name: its C name
    :param source: the file, for `TypeLayout.source`
    """
    kind, size = scalar(die)
    return TypeLayout(name, "union" if kind == "union" else "struct", size, number(die, "alignment") or 0,
                      _members(die, 0, _Path()), source)


def _members(die: DIE, base: int, path: _Path) -> tuple[Member, ...]:
    path.enter(die)
    # clang puts nested types among the members.
    found = tuple(_member(m, base, path) for m in children(die) if _tag(m) == "member")
    path.leave(die)
    return found


def _member(die: DIE, base: int, path: _Path) -> Member:
    declared = cast("DIE", target(die))
    kind, size = scalar(declared)
    dimensions = _dimensions(declared)
    for n in dimensions:
        size *= n
    bits = number(die, "bit_size")
    offset, bit = divmod(_first_bit(die, size), 8)
    if bits is not None and size:
        # As cffi and pahole have it: from the start of the unit of the field's type.
        offset, bit = offset // size * size, bit + 8 * (offset % size)
    inner = _stripped(declared)
    unnamed = inner is not None and _tag(inner) in _AGGREGATES and spelling(declared) in ("struct", "union")
    is_enum = inner is not None and _tag(inner) == "enumeration_type"
    return Member(die_name(die), spelling(declared), kind, base + offset, size, dimensions, bit, bits, is_enum,
                  _members(inner, base + offset, path) if unnamed and inner is not None else ())


def _first_bit(die: DIE, size: int) -> int:
    """Return the position of a member in its structure, in bits."""
    bit = number(die, "data_bit_offset")
    if bit is not None:
        return bit
    start = 8 * _location(die.attributes.get("DW_AT_data_member_location"))
    from_the_top = number(die, "bit_offset")  # DWARF 2, which clang uses to please gdb
    if from_the_top is None:
        return start
    from_the_top -= (from_the_top >> 63) << 64  # below 0 for a field that ends in the next unit of a packed structure
    return start + 8 * (number(die, "byte_size") or size) - from_the_top - (number(die, "bit_size") or 0)


def _location(attribute: Any) -> int:
    """Return an offset in bytes; DWARF 2 has it as an expression (DW_OP_plus_uconst)."""
    if attribute is None:
        return 0
    if isinstance(attribute.value, int):
        return attribute.value
    value = 0
    for i, byte in enumerate(attribute.value[1:]):
        value |= (byte & 0x7F) << 7 * i
    return value
