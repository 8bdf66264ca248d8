"""What the fields of the registers mean, in words; the values of a field in the words of `pypfm decode`.

The fields themselves are read from the C headers: a field without words here fails the build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pypfm.ia64 import models
from pypfm.ia64.decode import meanings
from pypfm.ia64.pmu import Montecito
from pypfm.ia64.request import EarMode

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["choices", "meaning", "role"]


class _Values(NamedTuple):
    """A field whose values have names, from 0."""

    what: str
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        return self.what + ": " + "; ".join(f"{n} {name}" for n, name in enumerate(self.names))


class _Names(NamedTuple):
    """A field whose values have names, but too many for its meaning."""

    words: str
    names: tuple[str, ...]


def _values(what: str, names: Iterable[str]) -> _Values:
    return _Values(what, tuple(names))


_MESI = {m.name.lower(): m.description for e in Montecito().values() for m in e.unit_masks}
_EAR = _values("what it records", (mode.name if mode else "cache" for mode in EarMode))
_MODE = _values("what it records", ("cache", "TLB"))
_RECORDS = "1: predictions of the {} are recorded"
_BITS_OF = "address of the bundle, bits"

# By role of the register, then by field (a pattern for its whole name); "" is for every role.
_WORDS: dict[str, dict[str, str | _Values | _Names]] = {
    "": {
        "value": "no fields are declared",
        "plm": _Names("privilege levels, one bit each from bit 0: kernel, level 1, level 2, user",
                      tuple(map(meanings.levels, range(16)))),
        "pm": "privileged monitor: 1 in measurements of the whole system",
        "ism": _values("instruction set", meanings.ISM[:3]),
        "(ig|ignored)[0-9]*": "ignored by the processor",
        "res[0-9]*": "reserved",
        r"pmd(\d+)ext_ig": r"ignored by the processor, of PMD\1",
        r"pmd(\d+)ext_res": r"reserved, of PMD\1",
    },
    "counter": {
        "ev": "external visibility: an overflow is signalled outside the processor; the encoder leaves it 0",
        "oi": "overflow interrupt: an overflow raises an interrupt and freezes the counters",
        "es": "event select: the code of the event",
        "umask": "unit mask of the event",
        "thres": "threshold: 0 counts occurrences, N counts cycles with more than N of them",
        "enable": "power enable, in PMC4; the encoder leaves it 0",
        "all": "count for both threads of the core",
        **{name: f"unit mask {name.upper()} of an L3 cache event: lines in state {state}"
           for name, state in _MESI.items()},
    },
    "matcher": {
        "ig_ad": "1: the code ranges do not restrict the matcher",
        "inv": "1: the code ranges are inverted",
        "bit2": "the encoder sets it",
        "mask": "bits of the pattern that are not compared",
        "match": "the pattern, compared with bits of the instruction",
        **{slot: f"1: instructions in {slot.upper()} slots can match" for slot in "mifb"},
    },
    "iear": {
        "tlb": _MODE,
        "umask": "filter: latency (cache mode) or level of the TLB (TLB mode), as in the unit masks of the events",
        "ct": "0 in TLB mode; in cache mode its highest bit is 1",
    },
    "dear": {
        "mode": _EAR,
        "tlb": _MODE,
        "pt": "0: the data ranges restrict the measurement; 1: they do not",
        "umask": "filter: latency (cache mode) or level of the TLB (TLB mode), as in the unit masks of the events",
    },
    "trace": {
        "ds": "1: entries hold prediction details in place of the target (Itanium 2); the encoder of Montecito"
        " leaves it 0",
        "tm": _values("branches by outcome", meanings.TAKEN),
        "ptm": _values("branches by their predicted target", meanings.PREDICTED),
        "ppm": _values("branches by their predicted path", meanings.PREDICTED),
        "brt": _values("branches by type", meanings.BRANCHES),
        "tar": _RECORDS.format("target address register"),
        "bpt": _RECORDS.format("target address cache") + " (btb_tac)",
        "bac": _RECORDS.format("branch address calculator"),
    },
    "drange": {
        r"cfg_(dbrp|dtag)(\d)": _values(r"with pair \2, an event that sees data needs", meanings.CONSTRAINTS),
        r"ena_dbrp(\d)": r"1: DBR pair \1 is in use",
    },
    "irange": {
        r"(ig_)?ibrp(\d)": r"1: IBR pair \2 does not restrict the measurement; 0: it does",
        "ta": "0: the code ranges restrict the measurement; 1: they do not",
        "fine": "1: fine mode: two pairs hold the first and the last bundle of a range",
    },
    "routing": {
        r"ibrp(\d)_pmc(\d)": r"1: the channel of IBR pair \1 is not restricted by the matcher PMC\2",
        r"ch(\d)_ig_opcm": r"1: channel \1 ignores the opcode matchers",
    },
    "ipear": {
        "mode": "4 records instruction addresses",
        "delay": "cycles from the interrupt to the freeze",
    },
    "count": {
        "count": "the count",
        "sxt47": "copies of bit 46",
        "sxt32": "copies of bit 31",
        "value": "the count; how many of the bits count is the processor's",
    },
    "iear data": {
        "stat": "status of the sample",
        "v": "1: the sample is valid",
        "tlb": "a bit for TLB mode, which pypfm decode leaves out",
        "iaddr|icla": "address of the instruction's line, bits 63 to 5",
        "lat(ency)?": "latency in cycles",
        "overflow|ov": "1: it took longer than the latency field holds",
    },
    "dear data": {
        "daddr": "address of the data",
        "latency": "latency in cycles",
        "overflow|ov": "1: it took longer than the latency field holds",
        "stat": "status of the sample",
        "level": "level that resolved the miss",
        "slot": "slot of the load or store in its bundle",
        "bn": "added to the address of the bundle, in bundles",
        "vl": "1: slot and address are valid",
        "iaddr": f"{_BITS_OF} 63 to 4",
    },
    "entry": {
        "b|s": "1: the entry is a branch; 0: a target",
        "mp": "of a branch, 1: it was mispredicted; of a target, 1: the entry is valid",
        "slot": "slot of the branch; 3: it was not taken",
        "addr": "the address; the bits that are missing at the bottom are 0",
        "loaddr": f"{_BITS_OF} 40 to 4",
        "hiaddr": f"{_BITS_OF} 63 to 61",
        "pred": "details of the prediction",
        "delay": "of an entry that was frozen early, cycles to the freeze",
        "cycles": "cycles since the entry before, low 4 bits",
    },
    "index": {
        "bbi|ebi": "entry that is written next, from 0",
        "full": "1: all entries are in use, the next one is the oldest",
    },
    "extension": {
        r"pmd(\d+)ext_b1": r"added to the address of the branch in PMD\1, in bundles",
        r"pmd(\d+)ext_bruflush": r"1: the branch in PMD\1 flushed the back end",
        r"pmd(\d+)ext_cycles": r"of the cycles in PMD\1, the bits above the low 4",
        r"pmd(\d+)ext_f": r"1: the pipeline was flushed, of PMD\1",
        r"pmd(\d+)ext_ef": r"1: PMD\1 was frozen early, and holds a delay",
    },
    "IBR": {"rx": "a debug fault is raised on execution; the encoder leaves it 0", "w": "not used by IBRs"},
    "DBR": {"rx": "a debug fault is raised on reads; the encoder leaves it 0",
            "w": "a debug fault is raised on writes; the encoder leaves it 0"},
    "debug": {
        "address": "an address: where the range begins, or in fine mode its first or last bundle",
        "mask": "1: this bit of an address is compared",
    },
    # IA32_PERFEVTSEL of Goldmont.
    "glm": {
        "event": "event select: the low byte of the event's code",
        "umask": "unit mask",
        "usr": "count in user programs (modifier u)",
        "os": "count in the kernel (modifier k)",
        "edge": "count changes from no occurrence to some (modifier e)",
        "pc": "pin control; the encoder leaves it 0",
        "int": "an overflow raises an interrupt; the encoder sets it",
        "any": "count for all threads of the core; the encoder leaves it 0",
        "en": "enable the counter; the encoder sets it",
        "inv": "invert the comparison with the counter mask (modifier i)",
        "cmask": "counter mask: count cycles with at least this many occurrences (modifier c); 0 counts"
        " occurrences",
    },
}


def role(pmu: str, kind: str, num: int) -> tuple[str, ...]:
    """What a register is for: keys of the words, the most special first."""
    model = models.MODELS[pmu]
    if kind in models.DEBUG_KINDS:
        return kind, "debug"
    numbers: dict[str, Iterable[int | None]] = {
        "counter": model.counters, "matcher": (n for pair in model.matchers for n in pair), "iear": (model.iear,),
        "dear": (model.dear,), "trace": (model.trace,), "irange": (model.irange,), "drange": (model.drange,),
        "routing": (model.routing,), "ipear": (model.ipear,),
    } if kind == "PMC" else {
        "count": model.counters, "iear data": model.iear_pmds, "dear data": model.dear_pmds, "entry": model.entries,
        "index": (model.trace_index,),
        # Itanium 2 has the extensions of the entries in the index.
        "extension": (model.trace_index if model.extension is None else model.extension,),
    }
    return tuple(name for name, members in numbers.items() if num in members)


def meaning(roles: Iterable[str], field: str) -> str:
    """What a field means.

    :param roles: of its register
    :raises ValueError: it has no words yet
    """
    words, match = _found(roles, field)
    return match.expand(words if isinstance(words, str) else words.words)


def choices(roles: Iterable[str], field: str) -> tuple[str, ...]:
    """The names of a field's values from 0; none: they are numbers.

    :raises ValueError: the field has no words yet
    """
    words, _ = _found(roles, field)
    return () if isinstance(words, str) else words.names


def _found(roles: Iterable[str], field: str) -> tuple[str | _Values | _Names, re.Match[str]]:
    for name in (*roles, ""):
        for pattern, words in _WORDS[name].items():
            if match := re.fullmatch(pattern, field):
                return words, match
    raise ValueError(f"register_words.py has no words for the field {field!r} ({', '.join(roles) or 'no role'})")
