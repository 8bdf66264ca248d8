"""IRIX perfex(1) on Linux: event counts of a command, with estimates of what they cost.

`run` counts events of a command, as perfex(1) does, and returns a ``Report``, which a notebook shows as the lines of
source in which most was counted.  `counting` counts events of this process, as libperfex(3C) does for C; what it
returns is a ``Counting``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.perfex.regions import Counting, counting
    from pypfm.perfex.running import run

__all__ = ["Counting", "counting", "run"]

_HOME = {"Counting": "regions", "counting": "regions", "run": "running"}


def __getattr__(name: str) -> object:
    """Import a name when it is first used: the command needs none of them."""
    if name in _HOME:
        from importlib import import_module
        return getattr(import_module(f"pypfm.perfex.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
