"""The conformance kit: put any libpfm under the tests that pypfm itself passes.

``conform("libpfm.so.4").status`` is 0 if the library answers as recorded. It returns a ``Report`` of a
``LibraryFile``, with a ``Tally`` for each kind of call, what was ``Tried`` of each function, and a ``Finding`` or
``Difference`` for what is wrong; ``random_calls()`` makes calls.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.conform.kit import conform, random_calls
    from pypfm.conform.model import Difference, Finding, LibraryFile, Report, Tally, Tried

_HOME = {
    "Difference": "model", "Finding": "model", "LibraryFile": "model", "Report": "model", "Tally": "model",
    "Tried": "model",
    "conform": "kit", "random_calls": "kit",
}

__all__ = ["Difference", "Finding", "LibraryFile", "Report", "Tally", "Tried", "conform", "random_calls"]


def __getattr__(name: str) -> object:
    """Import a name when it is first used: the command line needs few of them to start."""
    if name in _HOME:
        return getattr(import_module(f"pypfm.conform.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pypfm.conform' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
