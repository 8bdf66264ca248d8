"""Events of all PMUs by words: what there is to search in, and what fits best."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from pypfm.common.event_table import Umask, matches
from pypfm.common.pmu_names import PMUS
from pypfm.common.value import Value
from pypfm.errors import nearest, shown
from pypfm.pmus import pmu

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pypfm.perf.foreign import ForeignPmu

__all__ = ["Entry", "Found", "best", "grouped", "matching", "missing", "of_pmu", "ours", "pattern", "theirs"]

# What a word is worth that is a word of a text, begins one, or stands inside of one.
_WORTH = {"event": (8.0, 5.0, 2.0), "umask": (7.0, 4.0, 2.0), "alias": (6.0, 3.0, 1.0), "pmu": (4.0, 1.0, 0.0),
          "description": (3.0, 2.0, 0.5)}
_HERE = 1.5  # what it is worth that this host has the PMU
_TOGETHER = 4.0  # what it is worth that a name has all words, one after the other: L1_MISS
_REST = 0.1  # what each word of a name costs that was not asked for
_OURS = {*PMUS, "perf_raw"}
# Devices outside the cores come in numbers: skx_unc_cha0 to skx_unc_cha27 have the same events.
_NUMBERED = re.compile(r"(.*_unc_.*?)\d+")


class Found(Value):
    """An event, or one of its unit masks, that was found.

    :ivar event: its name, with the unit mask after a colon
    :ivar pmus: those that have one of that name, one that this host has first
    :ivar present: whether this host has one of them, as the library says; of pypfm's own always false
    :ivar alias_of: the event that this is another name of
    :ivar description: of the first that fits best
    """

    event: str
    pmus: tuple[str, ...]
    present: bool
    alias_of: str | None
    description: str


class Entry(NamedTuple):
    """An event or a unit mask as it is searched.

    :ivar pmu: all words for the PMU
    :ivar umask: empty: the event itself
    """

    pmus: tuple[str, ...]
    pmu: str
    present: bool
    event: str
    umask: str
    alias: str
    description: str

    @property
    def name(self) -> str:
        return f"{self.event}:{self.umask}" if self.umask else self.event


def of_pmu(asked: Any, *, pmus: tuple[str, ...] = (), words: str = "", present: bool = False) -> Iterator[Entry]:
    """Yield the entries of a PMU that can be searched: each event, followed by its unit masks."""
    names = pmus or (asked.name,)
    about = f"{asked.name} {asked.model_name} {words}"
    for event in asked.events:
        alias = getattr(event, "alias_of", None) or ""
        whole = Entry(names, about, present, event.name, "", alias, event.description)
        yield whole
        masks: Iterable[Umask] = event.umasks if hasattr(event, "umasks") else event.unit_masks
        for mask in masks:
            yield whole._replace(umask=mask.name, description=f"{event.description}: {mask.description}")


def ours() -> Iterator[Entry]:
    """Yield all of pypfm's own PMUs."""
    for name, home in PMUS.items():
        yield from of_pmu(pmu(name), words=" ".join(home.aliases))


def theirs(library: str, *, but_ours: bool = False) -> Iterator[Entry]:
    """Yield all PMUs of another libpfm 4.

    :param but_ours: without those that pypfm has itself
    :raises LibraryError: it cannot be loaded, or is no libpfm 4
    """
    from pypfm import perf
    from pypfm.perf.foreign import foreign_pmus

    file, pmus = foreign_pmus(library)
    families: dict[object, list[ForeignPmu]] = {}
    for known in pmus:
        if not (but_ours and known.name in _OURS):
            numbered = _NUMBERED.fullmatch(known.name)
            families.setdefault((numbered[1], known.events) if numbered else known.name, []).append(known)
    for family in families.values():
        yield from of_pmu(perf.Pmu(family[0].name, library=file), pmus=tuple(p.name for p in family),
                          present=any(p.is_present for p in family))


@lru_cache(1 << 16)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a name or a text, in lower case and singular."""
    return tuple(map(_singular, re.findall(r"[a-z0-9]+", text.lower())))


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _worth(word: str, entry: Entry) -> float:
    """Rate an entry for a word by the best of its texts, or by its PMU alone if the word is in the PMU's name."""
    if word in _words(entry.pmu):
        return _WORTH["pmu"][0]
    return max([_in_text(word, getattr(entry, part), worth) for part, worth in _WORTH.items()])


@lru_cache(1 << 16)  # unit masks share the texts of their event
def _in_text(word: str, text: str, worth: tuple[float, float, float]) -> float:
    whole, begins, inside = worth
    words = _words(text)
    if word in words:
        return whole
    if any(other.startswith(word) for other in words):
        return begins
    return inside if any(word in other for other in words) else 0.0


def _points(words: tuple[str, ...], entry: Entry) -> float:
    """Rate how well an entry fits; 0: a word is missing."""
    worth = list(takewhile(bool, (_worth(word, entry) for word in words)))
    if len(worth) < len(words):
        return 0.0
    name = _words(entry.name)
    rest = sum(word not in words for word in name)
    together = len(words) > 1 and any(name[at:at + len(words)] == words for at in range(len(name)))
    return max(sum(worth) + _TOGETHER * together + _HERE * entry.present - _REST * rest, _REST)


def best(text: str, searched: Iterable[Entry]) -> list[Found]:
    """Find what fits all words of a text, the best first; a unit mask only if it fits better than its event."""
    words = _words(text)
    fitting = []
    of_event = 0.0
    for entry in searched:
        points = _points(words, entry)
        of_event = of_event if entry.umask else points
        if points > (of_event if entry.umask else 0.0):
            fitting.append((points, entry))
    return grouped(entry for _, entry in sorted(fitting, key=lambda pair: -pair[0]))


def grouped(fitting: Iterable[Entry]) -> list[Found]:
    """Entries, those of one name together, in the place of the first."""
    groups: dict[str, list[Entry]] = {}
    for entry in fitting:
        groups.setdefault(entry.name.upper(), []).append(entry)
    return [Found._of(event=first.name, description=first.description, alias_of=first.alias or None,
                      present=any(entry.present for entry in group),
                      pmus=tuple(name for entry in sorted(group, key=lambda entry: not entry.present)
                                 for name in entry.pmus))
            for group in groups.values() for first in group[:1]]


def matching(glob: str, searched: Iterable[Entry]) -> list[Entry]:
    """Return the events whose names match a glob pattern, in upper or lower case; no unit masks."""
    events = [entry for entry in searched if not entry.umask]
    return [events[place] for place in matches(glob, (entry.event for entry in events))]


def missing(text: str, searched: Iterable[Entry]) -> str:
    """End a message that nothing fits a text: which of its words no entry has, with the nearest known words."""
    known = {word for entry in searched for part in _WORTH for word in _words(getattr(entry, part))}
    lacking = [word for word in _words(text) if not any(word in other for other in known)]
    if not lacking:
        return ": each word fits some, but no event has all of them"
    return "".join(f"; none has {shown(word)}{nearest(word, known)}" for word in lacking)


def pattern(text: str) -> re.Pattern[str] | None:
    """Return a pattern for the words to highlight in what was found; None: no words."""
    words = _words(text)
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE) if words else None
