"""Reading tables in CSV: those that are installed with the package, and a user's."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.errors import shown
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["installed", "read_limited", "rows"]

_DIRECTORY = Path(__file__).parent / "tables"
LARGEST = 1 << 20


def read_limited(path: Path) -> str:
    """The text of a file of the user.

    :raises PerfexError: it cannot be read, is larger than 1 MiB, or is not UTF-8
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise PerfexError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > LARGEST:
        raise PerfexError(f"{path}: larger than {LARGEST} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PerfexError(f"{path}, line {line}: byte {data[error.start]:#04x} is not UTF-8 text") from None


def installed(name: str) -> list[dict[str, str]]:
    """The rows of a table of the package."""
    with (_DIRECTORY / name).open(newline="", encoding="ascii") as stream:
        return list(csv.DictReader(stream))


def rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a user's table, with their line numbers.

    :param columns: which it has to have, in any order
    :raises PerfexError: names the file and the line
    """
    reader = csv.DictReader(read_limited(path).splitlines(keepends=True), strict=True)
    found = []
    try:
        if set(reader.fieldnames or ()) != set(columns):
            raise PerfexError(f"{path}, line 1: the columns are {shown(','.join(reader.fieldnames or ()))},"
                              f" not {','.join(columns)}")
        for row in reader:
            if None in row or None in row.values():
                raise PerfexError(f"{path}, line {reader.line_num}: {len(columns)} values are expected")
            found.append((reader.line_num, row))
    except csv.Error as error:
        raise PerfexError(f"{path}, line {reader.reader.line_num}: {error}") from None
    return found
