"""IRIX perfex(1) on Linux: event counts of a command, with estimates of what they cost.

`counting` counts events of this process, as libperfex(3C) does for C; what it returns is a ``Counting``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypfm.perfex.regions import Counting, counting

__all__ = ["Counting", "counting"]


def __getattr__(name: str) -> object:
    """Import a name when it is first used: the command needs none of them."""
    if name in __all__:
        from pypfm.perfex import regions
        return getattr(regions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
