"""The memory that the readers of samples take: buffers, or pointers with a size."""

from __future__ import annotations

from typing import Any

import pytest
from pypfm._c.pfm3 import ffi

from pypfm._c import sampling

ARRAY: Any = ffi.new("char[8]", b"abcdefg")


@pytest.mark.parametrize(("given", "size", "taken"), [
    (ARRAY, None, 8), (ARRAY, 8, 8), (ARRAY, 3, 3), (ARRAY, 0, 0), (ffi.cast("char *", ARRAY), 5, 5), (b"abc", None, 3), (b"abc", 2, 2),
    (bytearray(4), 4, 4)])
def test_what_is_taken(given: Any, size: int | None, taken: int) -> None:
    assert len(sampling.memory(given, size, "x has")) == taken


@pytest.mark.parametrize(("given", "size", "error"), [
    (ARRAY, 9, ValueError), (ARRAY, -1, ValueError), (ffi.cast("char *", ARRAY), -1, ValueError), (ffi.cast("char *", ARRAY), None, TypeError),
    (b"abc", 4, ValueError), (b"abc", -1, ValueError), (ffi.NULL, 1, TypeError), (ffi.cast("void *", -1), 1, ValueError), (7, None, TypeError),
    (ARRAY, "1", TypeError)])
def test_what_is_refused(given: Any, size: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="x has"):
        sampling.memory(given, size, "x has")
