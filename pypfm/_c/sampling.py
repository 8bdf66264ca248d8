"""The sampling buffer of perfmon2 as an array of entries.

What a header says of the buffer is not believed: nothing is read outside the memory that the caller has, nor past the
place where the header says that the next entry goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import Struct as Format
from typing import Any, NamedTuple, cast

from _cffi_backend import FFI

from pypfm._c.convert import whole

__all__ = ["ENTRY", "HEADER", "HEADER_SIZE", "SmplEntry", "entries", "memory", "places", "values"]

Counts = Mapping[Any, int] | int  # by counter, or by set and counter
CData = FFI.CData
_ffi = FFI()

#: The header of the default format begins with: entries, where the next goes, how often it was full, bytes.
HEADER = Format("=QQQQ")
HEADER_SIZE = 128
_VERSION = Format("=40xI")
#: An entry of the default format: thread, counter, reserved, last reset value, address, time, CPU, set, process.
ENTRY = Format("=IHHQQQHHI")
# The counter in an entry, by version of the format; the rest has the same size.
_SET = Format("=34xH")
_COUNTERS = {0x10000: Format("=4xH"), 0x20000: Format("=7xB")}


class SmplEntry(NamedTuple):
    """An entry of a sampling buffer: a copy, which stays as it is.

    :ivar entry: pfm_dfl_smpl_entry_t; of perfmonctl's format pfm_default_smpl_entry_t
    :ivar values: of the data registers that were sampled, in ascending order
    """

    entry: Any
    values: tuple[int, ...]


def _refused(value: object, what: str, wanted: str) -> TypeError:
    given = _ffi.typeof(value).cname if isinstance(value, CData) else type(value).__name__
    return TypeError(f"{wanted} {what}, not {given}")


def memory(buffer: Any, size: int | None, wanted: str) -> memoryview:
    """Return the memory of a caller's object, without a copy.

    :param wanted: who wants them, for the messages
    """
    if size is not None:
        try:
            size = whole(size)
        except TypeError:
            raise _refused(size, "an integer as size", wanted) from None
    if isinstance(buffer, CData):
        ctype = _ffi.typeof(buffer)
        if ctype.kind == "pointer" and size is None:
            raise TypeError(f"{wanted} the size of the memory at a pointer")
        if ctype.kind not in {"pointer", "array"} or not buffer:
            raise _refused(buffer, "bytes, or a pointer that is not NULL", wanted)
        if int(_ffi.cast("intptr_t", buffer)) == -1:
            raise ValueError(f"{wanted} memory, and this is MAP_FAILED: errno says why")
        if size is not None and (size < 0 or (ctype.kind == "array" and size > _ffi.sizeof(buffer))):
            raise ValueError(f"{wanted} a size that the memory has, not {size}")
        view = memoryview(cast(Any, _ffi.buffer(buffer) if size is None else _ffi.buffer(buffer, size)))
        return view.cast("B")
    try:
        view = memoryview(cast(Any, _ffi.buffer(cast(Any, _ffi.from_buffer("char[]", buffer))))).cast("B")
    except (TypeError, ValueError, BufferError):
        raise _refused(buffer, "bytes, or a pointer and a size", wanted) from None
    if size is not None and not 0 <= size <= len(view):
        raise ValueError(f"{wanted} a size that the memory has, not {size}")
    return view[:size]


def places(view: memoryview, num_values: Counts, begin: int = HEADER_SIZE,
           version: int = 0x10000) -> Iterator[tuple[int, int]]:
    """Yield where each entry begins and how many values it has, as far as the header says and the memory goes.

    :param begin: where the first is
    :raises ValueError: an entry of a counter of which it is not said how many values it has
    """
    counter = _COUNTERS[version]
    end = min(HEADER.unpack_from(view)[1], len(view))
    while begin + ENTRY.size <= end:
        count = num_values
        if not isinstance(count, int):
            of_set = _SET.unpack_from(view, begin)[0]
            number = counter.unpack_from(view, begin)[0]
            found = count.get((of_set, number), count.get(number))
            if found is None:
                raise ValueError(f"the entry at offset {begin:#x} is of PMD{number} in set {of_set}: num_values does"
                                 " not say how many values follow")
            count = found
        size = ENTRY.size + 8 * count
        if begin + size > end:
            return
        yield begin, count
        begin += size


def entries(types: Mapping[int, Any], buffer: object, num_values: Counts,
            size: int | None = None) -> list[SmplEntry]:
    """Return the entries of a buffer.

    :param types: of an entry, by version of the format
    """
    wanted = "smpl_entries() wants"
    view = memory(buffer, size, wanted)
    if len(view) < HEADER_SIZE:
        raise ValueError(f"{wanted} at least a header, of {HEADER_SIZE} bytes, not {len(view)}")
    version = _VERSION.unpack_from(view)[0]
    if version not in types:
        raise ValueError(f"{wanted} a buffer of the default format, and the header's version is {version:#x}")
    counts = _checked(num_values, wanted)
    found = places(view, counts, version=version)
    return [SmplEntry(types[version].from_buffer_copy(view, at), values(view, at, count)) for at, count in found]


def values(view: memoryview, at: int, count: int) -> tuple[int, ...]:
    """Return the values of an entry."""
    return Format(f"={count}Q").unpack_from(view, at + ENTRY.size)


def _checked(num_values: Counts, wanted: str) -> Counts:
    """Check that the numbers of values are numbers of registers, and return them."""
    def checked(count: Any) -> int:
        try:
            number = whole(count)
        except TypeError:
            raise _refused(count, "a number of values, or a mapping of such by counter", wanted) from None
        if not 0 <= number <= 0x140:
            raise ValueError(f"{wanted} numbers of values from 0 to 320, not {count}")
        return number

    if isinstance(num_values, Mapping):
        return {key: checked(count) for key, count in num_values.items()}
    return checked(num_values)
