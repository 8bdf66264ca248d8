"""The meaning of the settings in the registers of an IA-64 PMU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pypfm.ia64 import candidates, coverage, models
from pypfm.ia64.decode.meanings import (
    CONSTRAINTS,
    BranchMeaning,
    CounterMeaning,
    CountMeaning,
    EarMeaning,
    IndexMeaning,
    IpEarMeaning,
    ItaniumBranchMeaning,
    MatcherMeaning,
    Meaning,
    PairsMeaning,
    RangeMeaning,
    RoutingMeaning,
)
from pypfm.ia64.request import EarMode

if TYPE_CHECKING:
    from pypfm.ia64.register_set import RegisterSet

__all__ = ["data_meaning", "notes", "ranges", "setting"]

_SLOTS = "mifb"
_PAIRS = range(4)
_MESI = "iesm"


def setting(given: RegisterSet, num: int) -> Meaning | None:
    """Return the meaning of a PMC and the registers that belong to it; None: another PMC has it, or there is none."""
    model = given.model
    if num in model.counters:
        return _counter(given, num)
    for which, numbers in enumerate(model.matchers):
        if num in numbers:
            first = next(n for n in numbers if n in given.pmcs)
            return _matcher(given, which) if num == first else None
    readers: dict[int | None, Callable[[RegisterSet, int], Meaning]] = {
        model.iear: _ear, model.dear: _ear if given.uses_data_ear else _pairs, model.trace: _branches,
        model.ipear: _ipear, model.irange: _pairs, model.drange: _pairs, model.routing: _routing}
    return readers[num](given, num) if num in readers else None


def _counter(given: RegisterSet, num: int) -> CounterMeaning:
    f = given.fields(num)
    events = candidates.counter_events(given.pmu, f)
    return CounterMeaning(tuple(candidates.full_name(e, f) for e in events), f["plm"], f.get("thres", 0),
                          f["ism"] if given.model.has_ism else 0, bool(f["pm"]))


def _branches(given: RegisterSet, num: int) -> Meaning:
    f = given.fields(num)
    if "bpt" in f:
        return ItaniumBranchMeaning(f["tm"], f["ptm"], f["ppm"], f["tar"], f["bpt"], f["bac"], f["plm"], bool(f["pm"]))
    return BranchMeaning(f["tm"], f["ptm"], f["ppm"], f["brt"], f["ds"], f["plm"], bool(f["pm"]))


def _ipear(given: RegisterSet, num: int) -> IpEarMeaning:
    f = given.fields(num)
    return IpEarMeaning(f["mode"], f["delay"], f["plm"], bool(f["pm"]))


def _routing(given: RegisterSet, num: int) -> RoutingMeaning:
    channels = [on for name, on in given.fields(num).items() if name.startswith(("ibrp", "ch"))]
    return RoutingMeaning(tuple(n for n, ignored in enumerate(channels) if not ignored))


def _matcher(given: RegisterSet, which: int) -> MatcherMeaning:
    numbers = given.model.matchers[which]
    f: dict[str, int] = {}
    for num in numbers:
        f |= given.fields(num)
    slots = tuple(s for s in _SLOTS if f[s]) if "m" in f else None
    inverted, ignored = (bool(f["inv"]), bool(f["ig_ad"])) if "inv" in f else (None, None)
    if which == 1 and not given.model.has_raw_matchers:
        inverted = ignored = None  # only the first matcher decides on code ranges
    return MatcherMeaning(which + 1, slots, f.get("match"), f.get("mask"), given.model.matcher_bits, inverted, ignored)


def _ear(given: RegisterSet, num: int) -> EarMeaning:
    f = given.fields(num)
    is_iear = num == given.model.iear
    if "tlb" in f:
        mode = f["tlb"]
    elif not is_iear:
        mode = f["mode"]
    elif given.pmcs[num] >> 13 & 1:
        mode = int(EarMode.CACHE)
    else:
        mode = int(EarMode.TLB) if f["ct"] == 0 else -1
    name = EarMode(mode).name.lower() if mode in set(EarMode) else "none"
    event = candidates.ear_event(given.pmu, is_iear, mode, f["umask"])
    words = event
    if event is None and mode == EarMode.TLB:
        words = candidates.ear_event(given.pmu, is_iear, mode, f["umask"] & given.model.tlb_levels[is_iear])
    what = None if words is None else words.description.partition(" -- ")
    return EarMeaning(
        "instruction" if is_iear else "data", name, f["umask"], None if what is None else what[2] or what[0],
        None if event is None else event.name, f["plm"], f.get("ism", 0) if given.model.has_ism else 0,
        bool(f["pm"]))


def _pairs(given: RegisterSet, num: int) -> PairsMeaning:
    f = given.fields(num)
    if given.model.drange is None:  # Itanium: all pairs that there are, or none
        kind, unrestricted = ("IBR", f["ta"]) if num == given.model.irange else ("DBR", f["pt"])
        return PairsMeaning("code" if kind == "IBR" else "data",
                            () if unrestricted else tuple(n // 2 for n in given.pairs(kind)), None, ())
    if num == given.model.irange:
        enabled = tuple(n for n in _PAIRS if not f[f"{given.model.code_pair}{n}"])
        return PairsMeaning("code", enabled, bool(f["fine"]), ())
    return PairsMeaning("data", tuple(n for n in _PAIRS if f[f"ena_dbrp{n}"]), None,
                        tuple(CONSTRAINTS[f[f"{given.model.data_pair}{n}"]] for n in _PAIRS))


def data_meaning(given: RegisterSet, num: int) -> Meaning | None:
    """Return the meaning of a PMD on its own; EARs and the trace buffer are read as a whole."""
    model = given.model
    f = {x.name: x.of(given.pmds[num]) for x in models.data_layout(given.pmu, num)}
    if num in model.counters:
        return CountMeaning(f.get("count", given.pmds[num]))
    if num == model.trace_index:
        return IndexMeaning(f"PMD{model.entries[f['bbi' if 'bbi' in f else 'ebi']]}", bool(f["full"]))
    return None


def ranges(given: RegisterSet) -> tuple[RangeMeaning, ...]:
    """Return the addresses that the debug registers cover."""
    return (*_ranges(given, "IBR", given.fine), *_ranges(given, "DBR", False))


def _ranges(given: RegisterSet, kind: str, fine: bool) -> list[RangeMeaning]:
    values, whole = given.of(kind), set(given.pairs(kind))
    what = "code" if kind == "IBR" else "data"
    found = []
    if fine:
        for num in (0, 2):
            if {num, num + 4} <= whole:
                names = tuple(f"{kind}{n}" for n in (num, num + 1, num + 4, num + 5))
                found.append(RangeMeaning(what, names, values[num], values[num + 4] + 16,
                                          values[num + 1] >> 56 & 0xF, fine))
        return found
    for num in sorted(whole):
        if _contiguous(values[num + 1]):
            start, end = coverage.block_of(values[num], values[num + 1])
            found.append(RangeMeaning(what, (f"{kind}{num}", f"{kind}{num + 1}"), start, end,
                                      values[num + 1] >> 56 & 0xF, fine))
    return found


def _contiguous(mask_word: int) -> bool:
    """Tell whether the addresses that a mask matches are one block."""
    size = coverage.block_size(mask_word)
    return size & size - 1 == 0


def notes(given: RegisterSet, kind: str, num: int) -> tuple[str, ...]:
    """Return notes on bits that no encoder writes, and on those that no meaning has a place for."""
    value = given.of(kind)[num]
    if kind == "PMC":
        return tuple(_setting_notes(given, num, value))
    if kind == "PMD":
        layout = models.data_layout(given.pmu, num)
        if num in given.model.counters and len(layout) > 1:
            count, above = layout
            sign = count.of(value) >> count.width - 1
            if above.of(value) not in (0, sign * ((1 << above.width) - 1)):
                return ("the bits above the counter are not its sign",)
        return ()
    found = []
    if num % 2:
        reserved = {n: v for n, v in models.debug_mask_fields(value).items() if n in ("ig", "w", "rx") and v}
        found += [f"{n} = {v}: the encoder leaves it 0" for n, v in reserved.items()]
        if not _contiguous(value) and not (kind == "IBR" and given.fine):
            found.append("the mask is no block: what matches is not one range")
    if num ^ 1 not in given.of(kind):
        found.append(f"without {kind}{num ^ 1} it covers nothing that can be told")
    return tuple(found)


def _setting_notes(given: RegisterSet, num: int, value: int) -> list[str]:
    f = given.fields(num)
    model = given.model
    is_counter = num in model.counters
    fixed: Mapping[str, int] = model.counter_bits if is_counter else model.field_bits.get(num, {})
    found = [f"{name} = {f[name]}: the encoder writes {usual}" for name, usual in fixed.items() if f[name] != usual]
    base = model.reserved_bits.get(num, 0)
    constant = model.constants.get(num, value)
    if value != constant:
        found.append(f"libpfm writes {constant:#x}, whatever the setting")
    if not model.is_raw_matcher(num):
        found += [f"{x.name} = {x.of(value):#x}: reserved, the encoder writes {x.of(base):#x}"
                  for x in models.layout(given.pmu, num, value) if x.ignored and x.of(value) != x.of(base)]
    if is_counter:
        events = candidates.counter_events(given.pmu, f)
        chosen = [name for name in _MESI if f.get(name)]
        takes = any(e.unit_masks for e in events)
        if chosen and not takes:
            found.append(f"{', '.join(chosen)}: unit masks of an event that has none")
        if takes and not chosen:
            found.append("no unit mask is chosen: the encoder demands one")
    if not f:
        found.append("no encoder writes this register")
    return found
