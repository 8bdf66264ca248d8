"""The base of all PMUs: mappings of their events by name."""

from __future__ import annotations

import fnmatch
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeVar

from pypfm.common.arguments import expect_int, expect_type
from pypfm.common.frozen import lazy
from pypfm.common.value import HEX, Value
from pypfm.errors import InvalidValueError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypfm.errors import EventNotFoundError

__all__ = ["EventTable", "Umask", "matches"]

_LONGEST_PATTERN = 1000  # the longest name has 55 characters; a pattern of megabytes takes fnmatch minutes


def matches(pattern: str, names: Iterable[str]) -> list[int]:
    """Return the places of the names that match a glob pattern, in upper or lower case.

    :raises InvalidValueError: the pattern has more than 1000 characters
    """
    expect_type(pattern, str, "pattern")
    if len(pattern) > _LONGEST_PATTERN:
        raise InvalidValueError(f"a pattern of {len(pattern)} characters; at most {_LONGEST_PATTERN} are possible")
    wanted = pattern.upper()
    return [i for i, name in enumerate(names) if fnmatch.fnmatchcase(name.upper(), wanted)]


class Umask(Value):
    """A unit mask of an event.

    :ivar index: of the event's unit masks, from 0
    :ivar code: bits that it sets: of the unit mask field, or of the offcore register
    """

    index: int
    name: str
    code: int = field(metadata=HEX)
    description: str


class _Named(Protocol):
    @property
    def name(self) -> str: ...


E = TypeVar("E", bound=_Named)


class EventTable(Mapping[str, E]):
    """The events of a PMU by name; names are found in upper or lower case."""

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} events>"

    def _repr_html_(self) -> str:
        """Show the events as a table, for a notebook."""
        from pypfm.common.notebook import records
        return records(f"{type(self).__name__}: {len(self)} events", self.events,
                       ("name", "code", "umask", "counters", "alias_of", "description"))

    @lazy
    def events(self) -> tuple[E, ...]:
        """Return all events, in the order of their indices."""
        return tuple(self.at(i) for i in range(len(self)))

    def __iter__(self) -> Iterator[str]:
        return (event.name for event in self.events)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) >= 0

    def __getitem__(self, name: str) -> E:
        """Return the event of a name, in upper or lower case.

        :raises EventNotFoundError: there is none; the message names the nearest
        """
        return self.at(self.index(name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventTable) and type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def find(self, pattern: str = "*") -> list[E]:
        """Return the events whose names match a glob pattern, in upper or lower case.

        :raises InvalidValueError: the pattern has more than 1000 characters
        """
        return [self.at(i) for i in matches(pattern, self)]

    def index(self, name: str) -> int:
        """Return the C index of an event that must exist."""
        index = self._find(name) if isinstance(name, str) else -1
        if index < 0:
            raise self._unknown(name)
        return index

    def _place(self, index: int) -> int:
        """Check an index, since C does not.

        :raises InvalidValueError: none has it
        """
        index = expect_int(index, "index of an event")
        if not 0 <= index < len(self):
            raise InvalidValueError(f"index of an event {shown(index)}: there are 0 to {len(self) - 1}")
        return index

    @abstractmethod
    def _find(self, name: str) -> int:
        """Return the index of the event of a name, or a negative number."""

    @abstractmethod
    def at(self, index: int) -> E:
        """Return the event of an index."""

    @abstractmethod
    def _unknown(self, name: object) -> EventNotFoundError:
        """Return the error for a name that no event has."""

    @abstractmethod
    def _key(self) -> object:
        """Return the value by which two objects of the same class are compared."""
