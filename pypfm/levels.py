"""Privilege levels, as every PMU of the package takes them."""

from __future__ import annotations

from enum import IntFlag

from pypfm._pfm3 import lib

__all__ = ["Plm", "expect_type", "parse_plm"]


def expect_type(value: object, types: type | tuple[type, ...], what: str) -> None:
    """Say what is wrong with an argument of another type.

    :raises TypeError: the value has none of these types
    """
    if not isinstance(value, types):
        names = " or ".join(t.__name__ for t in (types if isinstance(types, tuple) else (types,)))
        message = f"{what}: expected {names}, not {type(value).__name__} ({value!r})"
        raise TypeError(message)


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
    :raises TypeError: neither a mask nor text
    """
    if isinstance(plm, int):
        return plm
    expect_type(plm, (int, str), "privilege levels")
    names = {"kernel": Plm.PLM0, "user": Plm.PLM3, **{str(n): Plm(1 << n) for n in range(4)}}
    mask = 0
    for word in plm.split(","):
        level = names.get(word.strip().lower())
        if level is None:
            message = f"privilege level {word.strip()!r}: expected {', '.join(names)}"
            raise ValueError(message)
        mask |= level
    return mask
