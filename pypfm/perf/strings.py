"""Event strings of a PMU, as its library reads them: all that is known of a PMU before anything is encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm._c.pfm4 import lib
from pypfm.common.arguments import expect_choice, expect_int, expect_type, utf8
from pypfm.common.event_table import EventTable
from pypfm.errors import InvalidValueError, Pfm4Error, Pfm4EventNotFoundError, in_hex, shown, unknown_event
from pypfm.perf.events import OS_LAYERS, Event, Modifier, Os, error_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.perf.tables import Made, Tables

__all__ = ["Events", "not_found", "split"]


_LEVEL_BITS = 32


class Events(EventTable[Event]):
    """The events of a PMU; `pypfm.perf.pmu` adds how they are encoded and counted."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        # Bits of codes that the reference leaves out, by event and unit mask byte, if they are asked for.
        self._left_out: dict[tuple[str, int], int] = {}

    def _key(self) -> object:
        return self._tables, tuple(self._left_out.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def name(self) -> str:
        """The name of the PMU, as event strings have it."""
        return self._tables.name

    @property
    def library(self) -> str | None:
        """The file of the library that knows the PMU, or None for our own."""
        return self._tables.library

    @property
    def model_name(self) -> str:
        """The description that pfm_get_pmu_info() returns."""
        return self._tables.model_name

    @property
    def counters(self) -> tuple[int, ...]:
        """The generic counters; none for events of the kernel."""
        return tuple(range(self._tables.num_counters))

    def __len__(self) -> int:
        return self._tables.count

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables.names())

    def _unknown(self, name: object) -> Pfm4EventNotFoundError:
        return not_found(self, name)

    def _find(self, name: str) -> int:
        return self._tables.find(utf8(name))

    def at(self, index: int) -> Event:
        """Return the event of a C index.

        :raises InvalidValueError: none has it
        """
        return self._tables.event(self._place(index))

    def modifiers(self, event: str, os: Os | int = "none") -> list[Modifier]:
        """Return the modifiers of an event for an interface.

        :raises EventNotFoundError: there is no such event
        :raises InvalidValueError: there is no such interface
        """
        layer = OS_LAYERS[expect_choice(os, OS_LAYERS, "os")] if isinstance(os, str) else _layer(os)
        return self._tables.modifiers(self.index(event), layer)

    # ---- event strings ----

    @staticmethod
    def _bytes(text: str) -> bytes:
        expect_type(text, str, "event string")
        data = utf8(text)
        if b"\0" in data:
            code = lib.PFM_ERR_INVAL
            raise Pfm4Error(code, error_name(code), text, "an event string cannot hold a NUL")
        return data

    def parse(self, text: str, os: int) -> int:
        """Read an event string for one interface, and return C's return code."""
        return self._tables.parse(self._bytes(text), _layer(os))

    def _tried(self, text: str, os: int, plm: int) -> int:
        """Encode for one interface, and return only the return code."""
        return self._made(text, os, plm)[0]

    def _made(self, text: str, os: int, plm: int) -> tuple[int, Made | None]:
        """Encode for one interface; return the return code, and the result if it is 0."""
        levels = expect_int(plm, "privilege levels")
        if levels >> _LEVEL_BITS:  # C takes an unsigned int; it says which of them there are
            raise InvalidValueError(f"privilege levels {in_hex(levels)}: 0 to {in_hex((1 << _LEVEL_BITS) - 1)}")
        return self._tables.make(self._bytes(text), _layer(os), levels)


def _layer(os: int) -> int:
    """Return the number of an interface."""
    return expect_choice(expect_int(os, "os"), OS_LAYERS.values(), "os")


def split(text: str) -> list[str]:
    """Split a string without PMU name into the event name and the attribute tokens."""
    return text.replace(".", ":").split(":")


def not_found(pmu: Events, name: object) -> Pfm4EventNotFoundError:
    """Return the exception for a name that no event has."""
    code, token = lib.PFM_ERR_NOTFOUND, name if isinstance(name, str) else shown(name)
    event = split(token.partition("::")[2] or token)[0]
    if event != token and event in pmu:
        message = f"{shown(token)}: a name without unit masks and modifiers is expected: {event}"
    else:
        message = unknown_event(pmu.name, name, pmu)
    return Pfm4EventNotFoundError(code, error_name(code), token, message)
