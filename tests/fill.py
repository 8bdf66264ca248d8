"""Structures of the mirrors from dicts and lists, as vectors and tables of cases have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def fill(structure: T, members: Mapping[str, Any]) -> T:
    """Set members: of a structure in it by a dict, of an array by a list, which may be shorter.

    :return: the structure
    """
    for name, value in members.items():
        if isinstance(value, Mapping):
            fill(getattr(structure, name), value)
        elif isinstance(value, (list, tuple)):
            elements = getattr(structure, name)
            for at, one in enumerate(value):
                if isinstance(one, Mapping):
                    fill(elements[at], one)
                else:
                    elements[at] = one
        else:
            if not hasattr(structure, name):
                raise AttributeError(f"{type(structure).__name__} has no {name}")
            setattr(structure, name, value)
    return structure
