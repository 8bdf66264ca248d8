"""Tools for probes of structures: memory that shows what a library reads and writes.

A probe calls the library with known requests and returns JSON data; `pypfm.conform.checks.structures`
compares it with what the same probe returns for our own library.
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pypfm._c.loading import Functions
    from pypfm.conform.model import Json

    Probe: TypeAlias = Callable[[Any, Functions], Json]

__all__ = ["ROOM", "XORS", "NoPmuError", "Probe", "ProbeError", "at_page_end", "changes", "text_of", "written"]

ROOM = 256  # bytes after a structure, for a library that takes it for larger
XORS = (0x01, 0x02, 0x08, 0x80)  # how a byte of a request is changed
_LONGEST_TEXT = 4096


class ProbeError(Exception):
    """The library does not do what the probe needs first: its arguments are a call and the return code."""


class NoPmuError(Exception):
    """The library does not have the PMU that a probe is about."""


def written(ffi: Any, ctype: str, call: Callable[[Any], int], prepare: Callable[[Any], None] = lambda _: None,
            normal: Callable[[bytes], bytes] = lambda data: data) -> Json:
    """Find out which bytes of a structure a call writes.

    :param call: takes the pointer, returns the return code
    :param prepare: sets what the caller has to set before
    :param normal: makes bytes of one process comparable with another one's
    :return: return code and the runs of bytes that it wrote, by offset: those that two backgrounds agree in
    """
    size = ffi.sizeof(ctype) + ROOM
    results, ret = [], 0
    for background in (b"\x00", b"\xff"):
        memory = ffi.new("unsigned char[]", size)
        ffi.buffer(memory)[:] = background * size
        pointer = ffi.cast(f"{ctype} *", memory)
        prepare(pointer)
        before = normal(bytes(ffi.buffer(memory)))
        ret = call(pointer)
        results.append((before, normal(bytes(ffi.buffer(memory)))))
    (before0, after0), (before1, after1) = results
    touched = [a != x or b != y for a, b, x, y in zip(after0, after1, before0, before1, strict=True)]
    return {"ret": ret, "bytes": dict(_runs(after0, touched))}


def _runs(data: bytes, touched: list[bool]) -> Iterator[tuple[str, str]]:
    start = None
    for i, is_touched in enumerate([*touched, False]):
        if is_touched and start is None:
            start = i
        elif not is_touched and start is not None:
            yield str(start), data[start:i].hex()
            start = None


def changes(memory: Any, offsets: Iterable[int], call: Callable[[], tuple[int, bytes]],
            pairs: Iterable[tuple[int, int, int]] = ()) -> Json:
    """Find out how the answer of a call changes with each byte of its request.

    :param memory: a cffi buffer, the request and `ROOM` bytes after it
    :param offsets: of the bytes to change
    :param call: makes the call, returns the return code and what it wrote
    :param pairs: members to exchange if the call fails as it is: two offsets and their size in bytes
    :return: the return code without a change, and for each ``offset:xor`` that changes the answer which
        bits of it change, as a digest; or the return code if the call fails then.  So a wrong value,
        which is wrong in both answers, does not show
    """
    ret, base = call()
    changed: dict[str, Json] = {}
    if ret:
        return {"ret": ret, "changed": changed, "exchanged": [
            [a, b] for a, b, size in pairs if _exchanged(memory, a, b, size, call) == 0]}
    for offset in offsets:
        byte = memory[offset]
        for xor in XORS:
            memory[offset] = bytes([byte[0] ^ xor])
            other, data = call()
            if other != ret:
                changed[f"{offset}:{xor}"] = f"{other}:"
            elif data != base:
                changed[f"{offset}:{xor}"] = f"{ret}:{_digest(data, base)}"
        memory[offset] = byte
    return {"ret": ret, "changed": changed}


def _exchanged(memory: Any, a: int, b: int, size: int, call: Callable[[], tuple[int, bytes]]) -> int:
    """Call with two members exchanged, and return the return code."""
    first, second = memory[a:a + size], memory[b:b + size]
    memory[a:a + size], memory[b:b + size] = second, first
    ret, _ = call()
    memory[a:a + size], memory[b:b + size] = first, second
    return ret


def _digest(data: bytes, base: bytes) -> str:
    """Return a short text that tells which bits of an answer differ."""
    bits = int.from_bytes(data, "little") ^ int.from_bytes(base, "little")
    return hashlib.sha256(bits.to_bytes(len(base), "little")).hexdigest()[:16]


class _Guarded:
    """Memory that ends at a page without access; kept for as long as this lives."""

    def __init__(self, size: int) -> None:
        page = mmap.PAGESIZE
        pages = -(-size // page)
        self.map = mmap.mmap(-1, (pages + 1) * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc = ctypes.CDLL(None)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        failed = libc.mprotect(start + pages * page, page, 0)
        assert not failed  # memory of our own
        self.address = start + pages * page - size


_kept: list[_Guarded] = []


def at_page_end(ffi: Any, ctype: str, init: Any = None) -> Any:
    """Make a structure at the end of a page: any access after it crashes.

    :param init: what `ffi.new` takes
    :return: a pointer to it; the memory lives as long as the process
    """
    guarded = _Guarded(ffi.sizeof(ctype))
    _kept.append(guarded)
    pointer = ffi.cast(f"{ctype} *", guarded.address)
    if init is not None:
        pointer[0] = ffi.new(f"{ctype} *", init)[0]
    return pointer


# ---- pointers in answers -------------------------------------------------------------

def _mapped() -> list[tuple[int, int]]:
    """Return the readable addresses of this process: first, one past the last."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        rows = [line.split(maxsplit=2)[:2] for line in maps]
    return [(int(start, 16), int(end, 16)) for ends, mode in rows if mode.startswith("r")
            for start, end in [ends.split("-")]]


def text_of(data: bytes) -> bytes:
    """Replace each word that is an address by a number made of the text there: it is the same in any process."""
    maps = _mapped()
    words = [data[i:i + 8] for i in range(0, len(data), 8)]
    return b"".join(_word(word, maps) for word in words)


def _word(word: bytes, maps: list[tuple[int, int]]) -> bytes:
    address = int.from_bytes(word, "little")
    end = next((end for start, end in maps if start <= address < end), 0) if len(word) == 8 else 0
    if not end:
        return word
    text = ctypes.string_at(address, min(end - address, _LONGEST_TEXT)).split(b"\0")[0]
    return hashlib.sha256(text).digest()[:8]
