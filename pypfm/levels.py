"""Privilege levels, as every PMU of the package takes them."""

from __future__ import annotations

from enum import IntFlag

from pypfm._pfm3 import lib

__all__ = ["Plm", "parse_plm"]


class Plm(IntFlag):
    """Privilege levels; PLM0 is the kernel, PLM3 the user (the same bits in libpfm 3 and 4)."""

    PLM0 = lib.PFM_PLM0
    PLM1 = lib.PFM_PLM1
    PLM2 = lib.PFM_PLM2
    PLM3 = lib.PFM_PLM3


def parse_plm(plm: int | str) -> int:
    """Privilege levels from a mask or from text.

    :param plm: a mask of `Plm`; or ``user``, ``kernel`` and level numbers, separated by commas
    :raises ValueError: the text names no level
    """
    if isinstance(plm, int):
        return plm
    names = {"kernel": Plm.PLM0, "user": Plm.PLM3, **{str(n): Plm(1 << n) for n in range(4)}}
    mask = 0
    for word in plm.split(","):
        level = names.get(word.strip().lower())
        if level is None:
            message = f"privilege level {word.strip()!r}: expected {', '.join(names)}"
            raise ValueError(message)
        mask |= level
    return mask
