"""A check whether a file can be a shared library of this machine, without loading it."""

from __future__ import annotations

import os
import stat
import struct
from typing import BinaryIO

__all__ = ["unsuitable"]

_HEADER = 64  # bytes
_TEXT = 1024  # bytes that show what a text is
_KINDS = ((stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"),
          (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
_CLASS_64, _BIG_ENDIAN, _PT_LOAD = 2, 2, 1
_ELF_TYPES = {1: "a relocatable object (link it with -shared)", 2: "a program", 4: "a core dump"}
# e_machine, as people call it.
_MACHINES = {2: "SPARC", 3: "x86", 8: "MIPS", 15: "PA-RISC", 20: "PowerPC", 21: "PowerPC64", 22: "S/390", 40: "ARM",
             43: "SPARC64", 50: "IA-64", 62: "x86-64", 183: "AArch64", 243: "RISC-V", 258: "LoongArch",
             0x9026: "Alpha"}


def unsuitable(path: str) -> str:
    """Return why this machine's loader cannot load a file, or "" if it can.

    :param path: with a slash; what is looked up by name, or is not there, is left to the loader
    """
    try:
        mode = os.stat(path).st_mode
        kind = next((text for is_kind, text in _KINDS if is_kind(mode)), "")
        if kind:
            return f"it is {kind}"
        with open(path, "rb") as file:
            return _contents(file)
    except PermissionError as error:
        return str(error.strerror)
    except (OSError, ValueError):  # the loader has words for it
        return ""


def _contents(file: BinaryIO) -> str:  # noqa: PLR0911 - one for each kind of file
    head = file.read(_TEXT)
    if not head:
        return "it is empty"
    if head.startswith((b"!<arch>\n", b"!<thin>\n")):
        return "it is a static library"
    if not head.startswith(b"\x7fELF"):
        if any(word in head for word in (b"INPUT", b"GROUP", b"OUTPUT_FORMAT")) and head.isascii():
            names = " ".join(head.decode().split())
            return f"it is a text for the linker, which names others: {names[:200]}"
        return "it is no ELF file"
    if len(head) < _HEADER:
        return "it is cut short: not even its ELF header is whole"
    with open("/proc/self/exe", "rb") as own:
        here = own.read(_HEADER)
    if _machine(head) != _machine(here):
        return f"it is for another machine: {_machine(head)}, not {_machine(here)}"
    kind = _ELF_TYPES.get(_half(head, 16))
    if kind:
        return f"it is {kind}"
    size, least = file.seek(0, os.SEEK_END), _end_of_segments(file, head)
    return f"it is cut short: {size} bytes of {least} or more" if size < least else ""


def _end_of_segments(file: BinaryIO, head: bytes) -> int:
    """Return the end of what the loader maps of a file; if the file is shorter, SIGBUS would kill the process."""
    is_64 = head[4] == _CLASS_64
    start = int(struct.unpack_from("=Q" if is_64 else "=I", head, 32 if is_64 else 28)[0])  # our byte order
    each, count = (int(n) for n in struct.unpack_from("=HH", head, 54 if is_64 else 42))
    layout = struct.Struct("=I4xQ16xQ" if is_64 else "=II8xI")  # type, offset and size in the file
    end = start + each * count
    if file.seek(0, os.SEEK_END) < end or each < layout.size:
        return end
    file.seek(start)
    for _ in range(count):
        kind, offset, size = layout.unpack_from(file.read(each))
        if kind == _PT_LOAD:
            end = max(end, int(offset + size))
    return end


def _machine(header: bytes) -> str:
    """Return the machine that an ELF file is for, in words."""
    number = _half(header, 18)
    bits = {1: "32-bit", 2: "64-bit"}.get(header[4], f"of class {header[4]}")
    order = {1: "little-endian", 2: "big-endian"}.get(header[5], f"of byte order {header[5]}")
    return f"{_MACHINES.get(number, f'machine {number}')}, {bits}, {order}"


def _half(header: bytes, place: int) -> int:
    """Read a number of two bytes, in the file's byte order."""
    return int.from_bytes(header[place:place + 2], "big" if header[5] == _BIG_ENDIAN else "little")
