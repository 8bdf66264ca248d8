"""The places that a program's counts come from: each instruction, and who calls whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

__all__ = ["UNKNOWN", "Function", "Place", "Profile"]

#: The name of a file or object that is not known.
UNKNOWN = "???"


class Function(NamedTuple):
    """A function.

    :ivar object: program or library
    :ivar file: where it begins; `UNKNOWN` without debug information
    :ivar name: of its symbol
    """

    object: str
    file: str
    name: str


class Place(NamedTuple):
    """An instruction, and the line of source that it comes from.

    :ivar function: in which it is
    :ivar file: of the line, another one than the function's for what is inlined from a header
    :ivar address: of the instruction in its process
    :ivar line: 0: not known
    """

    function: Function
    file: str
    address: int
    line: int


@dataclass
class Profile:
    """The counts of each place, and of each call.

    :ivar names: of what is counted
    :ivar code: the counts of each place, in the order of the names
    :ivar calls: by caller and callee: number of calls, and then the counts of what the callee did in them
    :ivar inclusive: the same by callee, whoever called it; calls inside of one another count once
    """

    names: tuple[str, ...] = ()
    code: dict[Place, list[int]] = field(default_factory=dict)
    calls: dict[tuple[Function, Function], list[int]] = field(default_factory=dict)
    inclusive: dict[Function, list[int]] = field(default_factory=dict)


def added(to: dict[T, list[int]], key: T, counts: Sequence[int]) -> None:
    """Add counts to those that a key has."""
    known = to.get(key)
    to[key] = [*counts] if known is None else [*map(add, known, counts)]
