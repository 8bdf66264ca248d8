"""The tables of a PMU turned round: from codes to the event strings that give them.

No rule of a PMU stands here.  Each event is encoded with each of its unit masks, and with each modifier switched on
and off, or set to 1, 2, 4 ...; what changes in the codes is what the modifier says.  A code then is an event with a
unit mask if the two differ in bits of modifiers alone.  Unit masks that are combined are found by the bits that each of
them adds.  What is found is encoded once more, and counts if the codes are those that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, reduce
from itertools import combinations, product
from operator import and_, or_
from typing import TYPE_CHECKING, Any, NamedTuple

from pypfm._c.pfm4 import lib
from pypfm.common.arguments import utf8
from pypfm.common.frozen import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pypfm.perf.events import Modifier
    from pypfm.perf.tables import Made, Tables

__all__ = ["WIDTH", "Inverse", "Match", "Word", "inverse", "joined"]

#: Bits of one word of a `Word`.
WIDTH = 64
_WORD = (1 << WIDTH) - 1
_HYPERVISOR = 1 << 3 * WIDTH + 2  # exclude_hv, see `_word_of`
_LEVELS = ("u", "k", "h")  # modifiers that are always said: else the caller's levels would count
_OF_NO_CODE = ("mg", "mh")  # modifiers for members of perf_event_attr that are not looked at
_MOST_PAIRED = 96  # unit masks of an event that are tried two by two
_MOST_LEARNT = 64  # unit masks of an event with which a modifier is tried
_LARGEST_LEAST = 64  # of the values that a modifier takes, the least
_VALUES = (0, *(1 << n for n in range(WIDTH)))  # of a modifier that is a number
_MOST_STRANGE = 1  # bits of a unit mask's own that a code need not have
_MOST_SHARED = 6  # switches that change the same bits
_MOST_BESIDE = 2  # unit masks that are tried beside one which is refused
_NEEDED = (1, 16)  # values that are tried of a modifier which has to be given
# Levels that a caller can give: user, kernel, hypervisor.
_PLMS = tuple(sorted((sum(levels) for n in range(4) for levels in combinations(
    (lib.PFM_PLM3, lib.PFM_PLM0, lib.PFM_PLMH), n)), key=lambda plm: plm != lib.PFM_PLM3))

# The codes of an event, or what perf_event is given for it, as one number: 64 bits each, the first one lowest.
Word = int


class Match(NamedTuple):
    """A string that gives the codes.

    :ivar event: its event, as the library names it
    :ivar asked: the event of the request, of which that may be the alias
    :ivar string: canonical event string, without the PMU's name
    :ivar request: what to encode
    :ivar plm: with these levels, where no modifier says them; None: they do not matter
    """

    event: str
    asked: str
    string: str
    request: str
    plm: int | None = None


class _Base(NamedTuple):
    """An event with unit masks: its codes when modifiers keep their defaults.

    :ivar needed: a modifier without which it is refused, and a value
    """

    text: str
    word: Word
    needed: Mapping[str, int]


class _Setting(NamedTuple):
    """The bits that a modifier changes.

    :ivar bits: that it changes at all; an edge needs a threshold, say, and so sets one
    :ivar own: of these, the bits that say its value
    :ivar off: of a switch: its own bits where it is 0; None: it is a number
    """

    name: str
    bits: Word
    own: Word
    off: Word | None

    def read(self, word: Word) -> int | None:
        """Return the modifier's value in a code; None: no value gives these bits."""
        own = word & self.own
        if self.off is None:
            return own // (self.own & -self.own)
        return 0 if own == self.off else 1 if own == self.off ^ self.own else None

    def without(self, others: Word) -> _Setting:
        """Return the setting without bits that other modifiers change, too: those do not tell its value."""
        own = self.own & ~others
        return self if self.off is None or not own else self._replace(own=own, off=self.off & own)


def _levels(modifiers: Iterable[Modifier]) -> dict[str, int]:
    names = {m.name for m in modifiers}
    return {name: int(name == "u") for name in _LEVELS if name in names}


class _Way(NamedTuple):
    """A way to set levels: by the caller, or by modifiers."""

    plm: int
    is_said: bool


class _EventCodes:
    """The codes that one event encodes to.

    :param tables: of the PMU
    :param index: of the event
    :param os: interface
    """

    def __init__(self, tables: Tables, index: int, os: int) -> None:
        self._tables, self._os = tables, os
        event = tables.event(index)
        self.name = event.name
        self._umasks = [u.name for u in event.umasks]
        self._modifiers = [m for m in tables.modifiers(index, os) if m.name not in _OF_NO_CODE]
        self._plain = _levels(self._modifiers)
        # Without modifier h the hypervisor's flag says nothing, whatever is given for it.
        self.unread: Word = 0 if os == lib.PFM_OS_NONE or "h" in self._plain else _HYPERVISOR
        self._needs: list[dict[str, int]] = []  # what some unit masks are refused without
        self.bases = list(self._found_bases())
        found = [s for s in map(self._setting, self._modifiers) if s is not None] if self.bases else []
        self.settings = [s.without(reduce(or_, (o.bits for o in found if o is not s), 0)) for s in found]
        ways = self._found_ways()
        self._ways = tuple(ways.values())
        self.bits: Word = reduce(or_, (s.bits for s in self.settings), reduce(or_, ways, 0) & ~reduce(and_, ways, -1))
        paired = list(self._encoded(self._some_pairs()))
        shown = [base.word for base in (*self.bases, *paired)]
        self.always: Word = reduce(and_, shown, -1) & ~self.bits
        self.ever: Word = reduce(or_, shown, 0) | self.bits
        if paired:  # not all were tried: what the others do beyond the first word, where defaults are, is not known
            self.always &= _WORD
            self.ever |= ~_WORD

    # ---- encoding ----

    def _made(self, text: str, plm: int = lib.PFM_PLM3) -> Made | None:
        return self._tables.make(utf8(text), self._os, plm)[1]

    def _text(self, text: str, changed: Mapping[str, int], *, is_said: bool = True) -> str:
        """Write a string with all levels, or without any, and some other modifiers."""
        values = {**self._plain, **changed}
        shown = values if is_said else values.keys() - self._plain.keys()
        return text + "".join(f":{name}={values[name]}" for name in values if name in shown)

    def _word(self, text: str, changed: Mapping[str, int] = {}) -> Word | None:
        made = self._made(self._text(text, changed))
        return None if made is None else _word_of(made, self._os)

    def _with(self, base: _Base, changed: Mapping[str, int]) -> Word | None:
        return self._word(base.text, {**base.needed, **changed})

    def _found_ways(self) -> dict[Word, _Way]:
        """Return what the caller's levels make of an event, where its modifiers leave levels open."""
        of_modifiers = reduce(or_, (s.bits for s in self.settings if s.name in _LEVELS), self.unread)
        found: dict[Word, _Way] = {}
        for is_said in (True, False) if self._plain else (True,):
            known = {word & ~of_modifiers for word in found}
            for plm, base in product(_PLMS, self.bases[:1]):
                made = self._made(self._text(base.text, base.needed, is_said=is_said), plm)
                word = None if made is None else _word_of(made, self._os) & ~self.unread
                if word is not None and word & ~of_modifiers not in known:
                    found.setdefault(word, _Way(plm, is_said))
        return found

    def _found_bases(self) -> Iterator[_Base]:
        texts = [self.name, *(f"{self.name}:{u}" for u in self._umasks)]
        found = list(self._encoded(texts))
        yield from found
        refused = set(texts) - {base.text for base in found}
        numbers = [m.name for m in self._modifiers if not m.is_switch]
        alone = [base.text for base in found if base.text != self.name][:_MOST_BESIDE]
        beside = {text: [f"{other}:{text.rpartition(':')[2]}" for other in alone] for text in refused if numbers}
        only_beside = {text for text, both in beside.items() if any(self._word(b) is not None for b in both)}
        for needed in ({number: value} for number in numbers for value in _NEEDED):
            with_it = [_Base(tried, word, needed) for text in texts if text in refused - only_beside
                       for tried in (text, *beside[text]) if (word := self._word(tried, needed)) is not None]
            if with_it:
                self._needs.append(needed)
                accepted = {base.text for base in with_it}
                refused -= {text for text in refused if accepted & {text, *beside[text]}}
                yield from with_it
        if len(refused) == len(texts):
            yield from self._encoded(self._pairs())

    def _encoded(self, texts: Iterable[str]) -> Iterator[_Base]:
        for text in texts:
            for needed in ({}, *self._needs):
                word = self._word(text, needed)
                if word is not None:
                    yield _Base(text, word, needed)
                    break

    def _pairs(self) -> Iterator[str]:
        if len(self._umasks) <= _MOST_PAIRED:
            yield from (f"{self.name}:{a}:{b}" for a, b in combinations(self._umasks, 2))

    def _some_pairs(self) -> Iterator[str]:
        """Yield pairs of unit masks of different kinds: a default, used if none is given, is not in all of them."""
        names = self._umasks
        for step in {len(names) // 2, len(names) // 3, 1} - {0}:
            yield from (f"{self.name}:{a}:{b}" for a, b in zip(names, names[step:], strict=False))

    # ---- what modifiers change ----

    def _setting(self, modifier: Modifier) -> _Setting | None:
        name = modifier.name
        bases = sorted(self.bases, key=lambda base: name not in base.needed)[:_MOST_LEARNT]
        if modifier.is_switch:
            return self._switch(name, bases)
        for base in bases:  # one whose unit mask does not fix the modifier
            if setting := _number(name, base.word, self._of_values(base, name)):
                return setting
        return None

    def _of_values(self, base: _Base, name: str) -> dict[int, Word]:
        """Return the values of a modifier by the codes they give, up to the first value that is too large."""
        words: dict[int, Word] = {}
        for value in _VALUES:
            word = self._with(base, {name: value})
            if word is not None:
                words[value] = word
            elif any(words) or value > _LARGEST_LEAST:
                break
        return words

    def _switch(self, name: str, bases: Iterable[_Base]) -> _Setting | None:
        """Find the bits of a switch; one that is refused alone may need a number, as an edge needs a threshold."""
        numbers = [m.name for m in self._modifiers if not m.is_switch]
        for beside in ({}, *({number: 1} for number in numbers)):
            refused = True
            for base in bases:
                off, on = (self._with(base, {**beside, name: value}) for value in (0, 1))
                if off is not None and on is not None:
                    refused = False
                    if bits := off ^ on:
                        return _Setting(name, bits, bits, off & bits)
            if not refused:
                break
        return None

    # ---- from a code ----

    def can_be(self, word: Word, given: Word) -> bool:
        """Tell whether a code has all bits that each unit mask sets, and none that no unit mask or modifier sets."""
        return not (self.always & ~word | word & ~self.ever) & given

    def matches(self, word: Word, given: Word) -> Iterator[Match]:
        """Yield the strings that give a code.

        :param given: the bits of it that are known
        """
        fixed = given & ~self.bits
        found = False
        for base in self.bases:
            if not (base.word ^ word) & fixed and (match := self._match(base, word, given)):
                found = True
                yield match
        if not found:
            for base in self._combined(word, fixed):
                if match := self._match(base, word, given):
                    yield match

    def _match(self, base: _Base, word: Word, given: Word) -> Match | None:
        """Find modifiers with which a base gives a code; None: no values of them do."""
        changed: dict[str, int | None] = {}
        differs = (base.word ^ word) & given
        for setting in self.settings:
            if differs & (setting.bits if setting.off is None else setting.own) or setting.name in base.needed:
                changed[setting.name] = setting.read(word)
        direct = {name: value for name, value in changed.items() if value is not None}
        for values in ([direct] if len(direct) == len(changed) else []) + self._together(direct, differs):
            for way in self._ways:
                text = self._text(base.text, values, is_said=way.is_said)
                made = self._made(text, way.plm)
                if made is not None and not (_word_of(made, self._os) ^ word) & given:
                    matters = not way.is_said or sum(other.is_said for other in self._ways) > 1
                    return Match(made.event, self.name, made.string, text, way.plm if matters else None)
        return None

    def _together(self, direct: Mapping[str, int], differs: Word) -> list[dict[str, int]]:
        """Return values to try if switches change the same bits: then one alone does not show its setting."""
        switches = [s for s in self.settings if s.off is not None and s.name not in self._plain]
        switches = [s for s in switches if any(s.bits & other.bits for other in switches if other is not s)]
        if len(switches) > _MOST_SHARED or not any(s.bits & differs for s in switches):
            return []
        names = [s.name for s in switches]
        rest = {name: value for name, value in direct.items() if name not in names}
        return [rest | dict.fromkeys(chosen, 1) for n in range(len(names) + 1) for chosen in combinations(names, n)]

    # ---- unit masks that are combined ----

    @lazy
    def _own(self) -> dict[str, Word]:
        """Return the bits that each unit mask adds, whichever others it stands with."""
        own: dict[str, Word] = {}
        if len(self._umasks) <= _MOST_PAIRED:
            for a, b in combinations(self._umasks, 2):
                for base in self._encoded([f"{self.name}:{a}:{b}"]):
                    own[a], own[b] = own.get(a, base.word) & base.word, own.get(b, base.word) & base.word
        return own

    def _combined(self, word: Word, fixed: Word) -> Iterator[_Base]:
        """Yield unit masks that give a code but for modifiers: add, again and again, the one that brings it nearest.

        An event can have unit masks of several kinds, and a default for a kind of which none is given: so which bits
        one adds says only which ones can be among them.
        """
        own = {name: bits & fixed for name, bits in self._own.items()}
        least = reduce(and_, own.values(), -1)
        tried: set[frozenset[str]] = set()
        for strange in range(_MOST_STRANGE + 1):  # bits that two defaults share seem to be its own
            fitting = [name for name in own if (own[name] & ~least & ~word).bit_count() <= strange]
            if base := self._climbed(fitting, own, word, fixed, tried):
                yield base
                return

    def _climbed(self, fitting: list[str], own: Mapping[str, Word], word: Word, fixed: Word,
                 tried: set[frozenset[str]]) -> _Base | None:
        """Return some of these unit masks that give a code but for modifiers."""
        for first in sorted(fitting, key=lambda name: -own[name].bit_count()):
            chosen, best = frozenset([first]), WIDTH * WIDTH
            while True:
                base, distance, nearest = self._nearest(chosen, fitting, word, fixed, tried)
                if base is None or distance >= best:
                    break
                chosen, best = nearest, distance
                if not distance:
                    return base
        return None

    def _nearest(self, chosen: frozenset[str], fitting: Iterable[str], word: Word, fixed: Word,
                 tried: set[frozenset[str]]) -> tuple[_Base | None, int, frozenset[str]]:
        """Add the unit mask that comes nearest to a code; return the base, how many bits differ, its unit masks."""
        found: tuple[_Base | None, int, frozenset[str]] = None, 0, chosen
        for name in fitting:
            names = chosen | {name}
            if names in tried or names == chosen:
                continue
            tried.add(names)
            for base in self._encoded([":".join([self.name, *(u for u in self._umasks if u in names)])]):
                distance = ((base.word ^ word) & fixed).bit_count()
                if found[0] is None or distance < found[1]:
                    found = base, distance, names
        return found


def _number(name: str, base: Word, words: Mapping[int, Word]) -> _Setting | None:
    """Find the bits that a modifier with a number changes; None: there are none.

    :param base: without it, where it may have a value, too
    :param words: with a value, by value: 0, 1, 2, 4 ...
    """
    given = [word for value, word in words.items() if value]  # where 0 is as if it were not given
    for common in (reduce(and_, given, -1), reduce(and_, words.values(), -1)):
        places = {value: bits for value, word in words.items() if (bits := word & ~common)}
        shifts = {bits.bit_length() - value.bit_length() for value, bits in places.items()}
        if len(shifts) == 1 and (shift := shifts.pop()) >= 0:
            own = (1 << max(places).bit_length()) - 1 << shift
            return _Setting(name, own | (common ^ base) & ~own, own, None)
    return None


def _word_of(made: Made, os: int) -> Word:
    if os == lib.PFM_OS_NONE:
        return joined(made.codes)
    attr: Any = made.attr
    flags = attr.exclude_user | attr.exclude_kernel << 1 | attr.exclude_hv << 2
    return joined((attr.config, attr.config1, attr.config2, flags, attr.type))


def joined(words: Iterable[int]) -> Word:
    """Combine words into one number."""
    return sum(int(word) << WIDTH * n for n, word in enumerate(words))


class Inverse:
    """The events of a PMU by their codes.

    :param os: interface: raw codes are (code, code1 ...), others (config, config1, config2, flags, type)
    """

    def __init__(self, tables: Tables, os: int) -> None:
        events = (_EventCodes(tables, index, os) for index in range(tables.count))
        self._events = [event for event in events if event.bases]

    def __len__(self) -> int:
        return len(self._events)

    def find(self, word: Word, given: Word) -> Iterator[Match]:
        """Yield the strings that give a code.

        :param given: the bits of it that are known
        """
        for event in self._events:
            known = given & ~event.unread
            if event.can_be(word, known):
                yield from event.matches(word, known)

    def beyond(self, word: Word, given: Word) -> tuple[Word, Word]:
        """Return the bits of a code that no event sets, and those that all events set but the code lacks."""
        ever = reduce(or_, (event.ever for event in self._events), 0)
        always = reduce(and_, (event.always for event in self._events)) if self._events else 0
        return word & ~ever & given, always & ~word & given


@cache
def inverse(tables: Tables, os: int) -> Inverse:
    """Return the events of a PMU by their codes; they are computed once."""
    return Inverse(tables, os)
