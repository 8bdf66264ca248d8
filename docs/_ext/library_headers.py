"""The public headers of the installed libraries, as csrc/bindings/c_reader.py reads them."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from pypfm.config import LIBRARIES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "csrc" / "bindings"))

from c_reader import Header, Symbol, read  # noqa: E402 - it is found by the line before

__all__ = ["ROOT", "Header", "Symbol", "headers_of", "page_of"]


@cache
def headers_of(name: str) -> list[Header]:
    """The headers of a library, in the order of their names; libpfm's own before perfmon's."""
    library = LIBRARIES[name]
    names = sorted(path.relative_to(library.include_dir).as_posix() for path in library.include_dir.rglob("*.h"))
    # Montecito's before Itanium 2's: both define PFMLIB_MONT_EVT_NO_SET, which is documented with Montecito.
    found = read(names[::-1], [library.include_dir], library.defines).headers
    return sorted(found.values(), key=lambda header: ("/pfmlib" not in header.name, header.name))


def page_of(header: Header) -> str:
    """Name of a header's page in the directory of its library."""
    return header.name.removeprefix("perfmon/").removesuffix(".h").replace("/", "_")
