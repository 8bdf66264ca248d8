"""Objects that do not change once they are made: read-only mappings, attributes computed when they are first read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pypfm.errors import UnknownKeyError, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FrozenMap", "lazy"]

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(Mapping[K, V]):
    """A mapping that cannot be changed: it has a hash, and can be pickled.

    :param data: its content
    :param what: what the keys are, for the message about one that is missing
    """

    __slots__ = ("_data", "_what")

    def __init__(self, data: Mapping[K, V], what: str = "key") -> None:
        object.__setattr__(self, "_data", dict(data))
        object.__setattr__(self, "_what", what)

    _data: dict[K, V]
    _what: str

    def __getitem__(self, key: K) -> V:
        """Return the value of a key.

        :raises UnknownKeyError: nothing does; the message says which keys there are
        """
        try:
            return self._data[key]
        except (KeyError, TypeError):  # TypeError: it has no hash
            raise UnknownKeyError(f"there is no {self._what} {shown(key)}; there are {listed(self._data)}") from None

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._data
        except TypeError:
            return False

    def __iter__(self) -> Iterator[K]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __hash__(self) -> int:
        return hash(frozenset(self._data.items()))

    def __repr__(self) -> str:
        return repr(self._data)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[type[FrozenMap[K, V]], tuple[dict[K, V], str]]:
        return type(self), (self._data, self._what)


if TYPE_CHECKING:
    lazy = cached_property
else:
    class lazy(cached_property):
        """functools.cached_property without the lock that it has before Python 3.12.

        A process that is forked while another thread holds the lock waits for ever.  Two threads
        may compute the value at the same time; the one that is ready first counts for both.
        """

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
