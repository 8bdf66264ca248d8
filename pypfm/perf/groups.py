"""Events for the perf tool: the groups in which they are counted, and its command line."""

from __future__ import annotations

import shlex
from dataclasses import field
from typing import TYPE_CHECKING

from pypfm.common.value import Value, in_json, said
from pypfm.perf.encoding import Encoding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pypfm.perf.pmu import Pmu

__all__ = ["Groups", "ungrouped"]


class Groups(Value):
    """Groups of events, each of which is counted as a whole, or not at all for a while.

    :ivar pmu: name of the PMU in event strings
    :ivar groups: the events of each group, in the order in which they have to be opened; the first one is the leader
    :ivar exclusive: the groups must not share the PMU: attr.exclusive of the leaders, ``:e`` of the perf tool
    :ivar system_wide: count on the whole system
    :ivar notes: what is to be known of the numbers
    """

    _order = ("pmu", "command", "groups", "exclusive", "system_wide", "notes")

    pmu: str
    groups: tuple[tuple[Encoding, ...], ...] = field(metadata=said(minItems=1))
    exclusive: bool = False
    system_wide: bool = False
    notes: tuple[str, ...] = ()

    @property
    @in_json()
    def command(self) -> str:
        """Return the command line that counts them, for a shell; the program to run comes after it."""
        words = ["perf", "stat", *(["-a"] if self.system_wide else [])]
        for group in self.groups:
            words += ["-e", self._spelled(group)]
        return shlex.join(words)

    def _spelled(self, group: tuple[Encoding, ...]) -> str:
        """Write a group as ``perf stat -e`` takes it."""
        events = ",".join(str(event.perf) for event in group)
        if self.exclusive:
            return f"{{{events}}}:e"
        return f"{{{events}}}" if len(group) > 1 else events


def ungrouped(pmu: Pmu, events: Iterable[str], *, plm: int | str, system_wide: bool) -> Groups:
    """Return events that the kernel may count together as it likes.

    :raises Pfm4Error: as `pypfm.perf.Pmu.encode`
    """
    made = [pmu.encode(text, plm=plm, os="perf_event") for text in events]
    return Groups(pmu.name, tuple((event,) for event in made), system_wide=system_wide)
