"""Where a program's counts come from: each instruction, and who calls whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["UNKNOWN", "Function", "Place", "Profile"]

#: The name of a file or object that is not known.
UNKNOWN = "???"


class Function(NamedTuple):
    """A function.

    :ivar object: program or library
    :ivar file: where it begins; `UNKNOWN` without debug information
    :ivar name: of its symbol, or its address; with --separate-callers, a ' and its caller follow, and so on
    """

    object: str
    file: str
    name: str


class Place(NamedTuple):
    """An instruction, and the line of source that it comes from.

    :ivar function: in which it is
    :ivar file: of the line, another one than the function's for what is inlined from a header
    :ivar address: as the object's program headers number it; 0 if that was not asked for
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
    """

    names: tuple[str, ...] = ()
    code: dict[Place, list[int]] = field(default_factory=dict)
    calls: dict[tuple[Function, Function], list[int]] = field(default_factory=dict)

    def add(self, names: tuple[str, ...], code: Mapping[Place, Sequence[int]],
            calls: Mapping[tuple[Function, Function], Sequence[int]]) -> None:
        """Add those of one thread, or of one time.

        :param names: the same each time
        """
        self.names = names
        for place, counts in code.items():
            known = self.code.get(place)
            self.code[place] = [*counts] if known is None else [*map(add, known, counts)]
        for pair, counts in calls.items():
            known = self.calls.get(pair)
            self.calls[pair] = [*counts] if known is None else [*map(add, known, counts)]
