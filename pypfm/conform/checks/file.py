"""Facts about a file under test, found out without loading it."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pypfm.conform.model import LibraryFile
from pypfm.layout.bounded import bounded
from pypfm.layout.model import LayoutError

if TYPE_CHECKING:
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile

__all__ = ["READING", "Facts", "facts", "identity", "library_file"]

#: Seconds that reading a file may take, at the least.
READING = 10.0
_HIDDEN = 0x8000  # bit of a symbol's version
_FUNCTIONS = {"STT_FUNC": "function", "STT_LOOS": "function", "STT_GNU_IFUNC": "function", "STT_OBJECT": "variable"}


# ---- what it is, and what it exports ------------------------------------------------

@dataclass(frozen=True)
class Facts:
    """The facts about a file, as a process with limits has read them.

    :ivar sha256: of its bytes, hexadecimal, or ""
    :ivar soname, build_id: or ""
    :ivar exports: its exported symbols: function, variable or symbol, by name without a version; None if they
        cannot be read
    :ivar odd: exported names that programs linked with the file do not find as dlsym() does, and why
    :ivar debug_info: whether there is any
    :ivar why_not: why something could not be read, or ""
    """

    sha256: str = ""
    soname: str = ""
    build_id: str = ""
    exports: dict[str, str] | None = None
    odd: dict[str, str] = field(default_factory=dict)
    debug_info: bool = False
    why_not: str = ""


def identity(path: str) -> tuple[int, ...]:
    """Return numbers that change when a file is replaced or changed; empty for a name without a slash."""
    with suppress(OSError, ValueError):
        if "/" in path:
            state = os.stat(path)
            return state.st_dev, state.st_ino, state.st_size, state.st_ctime_ns
    return ()


def facts(path: Path) -> Facts:
    """Read the facts about a file, in a process with limits: the file may be malicious."""
    try:
        state = path.stat()
        regular = stat.S_ISREG(state.st_mode)  # to read a pipe would take for ever
    except OSError as error:  # it has gone since
        return Facts(why_not=f"{path}: {error.strerror}")
    return _facts(path, state.st_mtime_ns, state.st_size) if regular else Facts(why_not=f"{path} is no regular file")


@lru_cache(maxsize=16)
def _facts(path: Path, _modified: int, _size: int) -> Facts:
    try:
        return bounded(str(path), READING, _read, path)
    except LayoutError as error:
        return Facts(why_not=str(error))


def _read(path: Path) -> Facts:
    """Read one fact after the other, as far as it goes; this runs in the other process."""
    from pypfm.layout.dwarf import has_debug_info, open_elf, readable

    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        return Facts(why_not=f"{path}: {error.strerror}")
    found: dict[str, Any] = {"sha256": digest.hexdigest()}
    try:
        with open_elf(path) as elf, readable(path):
            found["soname"], found["build_id"] = _names(elf)
            found["exports"], found["odd"] = _exports(elf)
            found["debug_info"] = has_debug_info(path, elf)
    except LayoutError as error:
        found["why_not"] = str(error)
    return Facts(**found)


def _names(elf: ELFFile) -> tuple[str, str]:
    """Return the DT_SONAME and the build id, or ""; they are read from the segments, as the loader does."""
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.segments import NoteSegment

    soname = build_id = ""
    for segment in elf.iter_segments():
        if isinstance(segment, DynamicSegment):
            soname = next((str(getattr(tag, "soname", "")) for tag in segment.iter_tags("DT_SONAME")), soname)
        elif isinstance(segment, NoteSegment):
            notes = segment.iter_notes()
            build_id = next((n["n_desc"] for n in notes if n["n_type"] == "NT_GNU_BUILD_ID"), build_id)
    return soname, build_id


def _exports(elf: ELFFile) -> tuple[dict[str, str], dict[str, str]]:
    """Return the symbols defined for others, and the odd ones among them; section headers may be stripped."""
    from elftools.elf.dynamic import DynamicSegment

    kinds: dict[str, str] = {}
    hidden: dict[str, list[bool]] = {}  # of each version of a name, whether the linker is not to take it
    for segment in elf.iter_segments():
        if not isinstance(segment, DynamicSegment):
            continue
        symbols = list(segment.iter_symbols())
        for symbol, version in zip(symbols, _versions(elf, segment, len(symbols)), strict=True):
            if (symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
                    and symbol["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED") and symbol.name):
                kinds[symbol.name] = _FUNCTIONS.get(symbol["st_info"]["type"], "symbol")
                hidden.setdefault(symbol.name, []).append(bool(version & _HIDDEN))
    odd = {name: f"{len(versions)} versions: which one a program calls depends on how it was linked"
           for name, versions in hidden.items() if len(versions) > 1}
    odd |= {name: "a version that no program can be linked with"
            for name, versions in hidden.items() if versions == [True]}
    return kinds, odd


def _versions(elf: ELFFile, segment: DynamicSegment, count: int) -> list[int]:
    """Return the version of each symbol, as DT_VERSYM has them; without it 1 for all."""
    place = next((tag["d_val"] for tag in segment.iter_tags("DT_VERSYM")), None)
    offset = None if place is None else next(iter(elf.address_offsets(place, 2 * count)), None)
    if offset is None:
        return [1] * count
    elf.stream.seek(offset)
    data = elf.stream.read(2 * count).ljust(2 * count, b"\0")
    return list(struct.unpack(f"{'<' if elf.little_endian else '>'}{count}H", data))


def library_file(asked: str, loaded: str) -> LibraryFile:
    """Return what identifies a library.

    :param asked: as the user named it
    :param loaded: the file that was mapped
    """
    known = facts(Path(loaded))
    return LibraryFile(asked, os.path.realpath(loaded), known.soname, known.build_id, known.sha256)
