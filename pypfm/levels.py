"""Privilege levels, as every PMU of the package takes them."""

from __future__ import annotations

from contextlib import suppress
from enum import IntFlag

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_int
from pypfm.errors import InvalidTypeError, InvalidValueError, shown

__all__ = ["Plm", "parse_plm"]


class Plm(IntFlag):
    """Privilege levels; PLM0 is the kernel, PLM3 the user (the same bits in libpfm 3 and 4)."""

    PLM0 = lib.PFM_PLM0
    PLM1 = lib.PFM_PLM1
    PLM2 = lib.PFM_PLM2
    PLM3 = lib.PFM_PLM3


_LEVELS = {"kernel": Plm.PLM0, "user": Plm.PLM3, **{str(n): Plm(1 << n) for n in range(4)}}


def parse_plm(plm: int | str) -> int:
    """Return privilege levels from a mask or from text.

    :param plm: a mask of `Plm`; or ``user``, ``kernel`` and level numbers, separated by commas
    :raises InvalidValueError: the text names no level
    :raises InvalidTypeError: neither a mask nor text; True and False are none, too
    """
    if isinstance(plm, int) and not isinstance(plm, bool):
        return int(plm)
    if not isinstance(plm, str) and not type(plm).__name__.startswith("bool"):  # numpy's, too
        with suppress(InvalidTypeError):
            return expect_int(plm, "privilege levels")
    if not isinstance(plm, str):
        raise InvalidTypeError(f"privilege levels: expected int or str, such as Plm.PLM3 or 'user', not"
                               f" {type(plm).__name__} ({shown(plm)})")
    mask = 0
    for word in plm.split(","):
        level = _LEVELS.get(word.strip().lower())
        if level is None:
            raise InvalidValueError(f"privilege level {shown(word.strip())}: expected {', '.join(_LEVELS)}, or several"
                                    " with commas between them")
        mask |= level
    return int(mask)
