"""Random requests to pfm_dispatch_events(): mostly ones that succeed, around every rule of the encoding.

A request begins as a `Draft`, made by one of the plans: each plan goes for one part of the
manual page (cache groups, EARs, ranges ...), so that rules that hold for a handful of events
are met as often as the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypfm._c.pfm3 import ffi, lib
from pypfm.conform.random.ranges import code_limit, data_limit, fine_limit, spoilt
from pypfm.ia64.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pypfm.conform.model import Json, Vector
    from pypfm.conform.random.ranges import Limit
    from pypfm.conform.random.source import Source
    from pypfm.ia64 import Event, Pmu

__all__ = ["Draft", "Requests"]

_LEVELS = (1, 2, 3, 4, 8, 8, 8, 9, 12, 15)
_ODD_LEVELS = (16, 24, 255)
_NO_QUALCHECK = 1
_INVERT, _NO_FINE, _DEMAND, _PREFETCH = 1, 2, 4, 8


# A register that is detected as the PMU.
_CPUID3 = {"itanium2": "0x1f010504", "montecito": "0x20000704", "itanium": "0x07000804"}
_MATCHERS = re.compile(r"pmc[89]|opcm[12]")
_BUFFER = re.compile(r"[be]tb")
_GENERIC_PMCS = (0, 3, 8)  # of no counter; its model says nothing of the others
_PAGE = 1 << 12  # bytes of a fine range where there is no fine mode


@dataclass
class Draft:
    """A request under way.

    :ivar events: the events
    :ivar parts: of the model's input, by member: "irange", "iear" ...
    :ivar wants: the qualifiers that every event has to support: "code", "data", "opcode"
    """

    events: list[Event]
    parts: dict[str, Vector] = field(default_factory=dict)
    wants: set[str] = field(default_factory=set)

    def unsupported(self, event: Event) -> bool:
        """Tell whether an event lacks a qualifier in use."""
        return (("code" in self.wants and not event.supports_code_range)
                or ("data" in self.wants and not event.supports_data_range)
                or ("opcode" in self.wants and not event.supports_opcode_match))


class Requests:
    """Requests to one PMU.

    :param pmu: whose events are measured
    :param rng: what decides
    """

    def __init__(self, pmu: Pmu, rng: Source) -> None:
        self.pmu, self.rng, self.model = pmu, rng, MODELS[pmu.name]
        self.cpuid3 = _CPUID3.get(pmu.name)
        self.page = self.model.fine_page or _PAGE
        self.registers = sorted(self.model.rest) or _GENERIC_PMCS
        self.prefix = f"pfp_{self.model.tag}_"
        fields = ffi.typeof(f"pfmlib_{self.model.tag}_input_param_t").fields if self.model.has_structures else ()
        names = [name.removeprefix(self.prefix) for name, _ in fields]
        self.matchers = sorted(filter(_MATCHERS.fullmatch, names))
        self.buffer = next(filter(_BUFFER.fullmatch, names), "")
        self.has_fetch_flags = hasattr(lib, f"PFMLIB_{self.model.tag.upper()}_IRR_DEMAND_FETCH")
        self.events = pmu.events
        self.retired = pmu.find("IA64_INST_RETIRED*") + pmu.find("IA64_TAGGED_INST_RETIRED*")
        self.tagged = pmu.find("IA64_TAGGED_INST_RETIRED*")
        self.prefetches = pmu.find("L*I_*PREFETCHES") + pmu.find("L2_INST_PREFETCHES")
        self.dual = [e for name in ("ISB_BUNPAIRS_IN", "L1I_FETCH_RAB_HIT", "L1I_FETCH_ISB_HIT", "L1I_FILLS")
                     for e in pmu.find(name)]
        self.cycles = pmu.find("CPU_*CYCLES*")
        self.cancels = pmu.find("*_OZQ_CANCELS*")
        self.groups = {group: [e for e in self.events if e.group == group] for group in ("L1", "L2")}
        self.limited = [e for e in self.events if len(e.counters) < len(pmu.counters)]
        self.ears = [e for e in self.events if e.is_ear]
        self.branches = [e for e in self.events if e.is_branch]
        self.masked = [e for e in self.events if e.unit_masks]
        self.with_code = [e for e in self.events if e.supports_code_range]
        self.with_data = [e for e in self.events if e.supports_data_range]
        self.with_opcode = [e for e in self.events if e.supports_opcode_match]
        self.plans = self.plans_for_model()

    def plans_for_model(self) -> list[tuple[Callable[[], Draft], int]]:
        """Return the plans for the model, each with its share of the turns."""
        if not self.model.has_structures:
            return [(self.plain, 1), (self.crowded, 1)]
        if not self.model.fine_page:
            return [(self.plain, 6), (self.crowded, 10), (self.ear, 12), (self.branch, 4), (self.code, 20),
                    (self.data, 12), (self.data_and_ear, 10), (self.opcode, 8), (self.anything, 6)]
        return [(self.plain, 6), (self.cache, 12), (self.crowded, 6), (self.ear, 10), (self.branch, 8),
                (self.code, 20), (self.fetch, 12), (self.data, 12), (self.opcode, 12), (self.anything, 6),
                *([(self.ip_ear, 4)] if self.model.ipear else [])]

    # ---- pieces ----

    def level(self) -> int:
        return self.rng.choice(_LEVELS if self.rng.chance(0.94) else _ODD_LEVELS)

    def optional_level(self, name: str) -> Vector:
        """Choose the privilege level mask of a part, or none."""
        return {name: self.level()} if self.rng.chance(0.5) else {}

    def used(self) -> int:
        """Choose the switch of a part: mostly on; off, the other values do not count."""
        return self.rng.choices([1, 2, 0], [90, 6, 4])[0]

    def picked(self, pool: Sequence[Event], most: int) -> list[Event]:
        return self.rng.some(pool or self.events, min(most, len(self.pmu.counters)))

    def limits(self, made: Sequence[Limit]) -> list[Json]:
        rows: list[Json] = []
        for limit in made:
            start, end = spoilt(self.rng, limit) if self.rng.chance(0.03) else limit
            row: Vector = {"rr_start": hex(start), "rr_end": hex(end)}
            rows.append(row | (self.optional_level("rr_plm") if self.rng.chance(0.5) else {}))
        return rows

    def ranges(self, made: Sequence[Limit], flags: int) -> Vector:
        """Make the input of code or data ranges."""
        used = self.rng.choices([1, 2, 255, 0], [92, 3, 3, 2])[0]
        return {"rr_used": used, "rr_limits": self.limits(made), **({"rr_flags": flags} if flags else {})}

    def an_ear(self, kind: str) -> Vector:
        rng = self.rng
        mode = rng.choice([0, 1, 2] if kind == "dear" else [0, 0, 0, 1, 1, 1, 2])
        umask = rng.getrandbits(rng.choice([4, 4, 8, 8, 12]) if kind == "dear" else rng.choice([7, 8, 8, 8, 12]))
        ear: Vector = {"ear_used": self.used(), "ear_mode": mode if rng.chance(0.96) else rng.choice([-1, 3]),
                       "ear_umask": hex(umask), **self.optional_level("ear_plm")}
        if self.model.has_ism and rng.chance(0.5):
            ear["ear_ism"] = rng.choice([0, 1, 2, 3])
        return ear

    def a_buffer(self) -> Vector:
        """Choose settings of the branch trace buffer."""
        name, rng = self.buffer, self.rng
        buffer: Vector = {f"{name}_used": self.used(), **self.optional_level(f"{name}_plm")}
        for bits, _ in self.model.trace_bits:
            buffer[f"{name}_{bits}"] = rng.randrange(4) if rng.chance(0.9) else rng.randrange(256)
        return buffer

    def a_matcher(self) -> Vector:
        rng = self.rng
        if self.model.has_raw_matchers:
            return {"opcm_used": self.used(), "pmc_val": hex(rng.getrandbits(64))}
        slots: Vector = {f"opcm_{slot}": rng.choice([0, 0, 1, 1, 2, 3, 255]) for slot in "mifb"}
        wide = 64 if rng.chance(0.1) else 41
        return slots | {"opcm_used": self.used(), "opcm_match": hex(rng.getrandbits(wide)),
                        "opcm_mask": hex(rng.getrandbits(wide))}

    def with_matchers(self, draft: Draft, both: float = 0.3) -> None:
        """Add one opcode matcher or both."""
        which = [0, 1] if self.rng.chance(both) else [self.rng.randrange(2)]
        for n in which:
            draft.parts[self.matchers[n]] = self.a_matcher()
        draft.wants.add("opcode")

    def with_data_ranges(self, draft: Draft) -> None:
        count = self.rng.choices([1, 2, 3, 4, 0], [50, 25, 10, 10, 3])[0]
        draft.parts["drange"] = self.ranges([data_limit(self.rng) for _ in range(count)], 0)
        if self.rng.chance(0.3):  # has no meaning for data
            draft.parts["drange"]["rr_flags"] = self.rng.randrange(1, 16 if self.has_fetch_flags else 4)
        draft.wants.add("data")

    def fetch_flags(self) -> int:
        """Choose which fetches dual events count: a flag, mostly."""
        return self.rng.choice([0, _DEMAND, _PREFETCH, _DEMAND | _PREFETCH]) if self.has_fetch_flags else 0

    # ---- plans ----

    def plain(self) -> Draft:
        return Draft(self.picked(self.events, 4))

    def cache(self) -> Draft:
        """Plan events of the cache groups: of one set, of two, with others."""
        rng = self.rng
        pool = self.groups[rng.choice(["L1", "L2", "L2"])]
        sets = sorted({e.set for e in pool if e.set is not None})
        chosen = rng.some(sets, 2) if rng.chance(0.9) else sets
        events = self.picked([e for e in pool if e.set in chosen], 5)
        if rng.chance(0.3):  # several that share a code, or its unit mask
            events = self.picked([e for e in pool if e.code == events[0].code or e.umask == events[0].umask], 4)
        if rng.chance(0.1):
            first = rng.choice(self.cancels)
            events = [first, rng.choice([e for e in self.cancels if e.umask in (0, first.umask)])]
            return Draft(events)
        if rng.chance(0.25):
            events += self.picked(self.groups["L1"], 1)
        if rng.chance(0.4):
            events += self.picked(self.limited if rng.chance(0.5) else self.events, 2)
        if rng.chance(0.3):
            rng.shuffle(events)
        return Draft(events[:len(self.pmu.counters)])

    def crowded(self) -> Draft:
        """Plan as many events as there are counters, or one too many."""
        count = len(self.pmu.counters) + (1 if self.rng.chance(0.1) else 0)
        free = [e for e in self.events if e.group is None]
        return Draft([self.rng.choice(self.limited if self.limited and self.rng.chance(0.4) else free)
                      for _ in range(count)])

    def ear(self) -> Draft:
        """Plan EARs with settings of their own, or those that an event implies."""
        rng = self.rng
        draft = Draft(self.picked(self.ears, 2) if rng.chance(0.6) else self.picked(self.events, 2))
        if rng.chance(0.2):
            draft.events = []
        for kind in ("iear", "dear"):
            if rng.chance(0.6 if draft.events else 0.8):
                draft.parts[kind] = self.an_ear(kind)
        if rng.chance(0.1):
            draft.parts[self.buffer] = self.a_buffer()
        return draft

    def branch(self) -> Draft:
        """Plan the branch trace buffer, and parts that exclude it."""
        rng = self.rng
        draft = Draft(self.picked(self.branches, 1) if rng.chance(0.5) else self.picked(self.events, 1))
        if rng.chance(0.7):
            draft.parts[self.buffer] = self.a_buffer()
        if rng.chance(0.15):
            draft.parts["dear"] = self.an_ear("dear")
        if rng.chance(0.25):
            draft.events += self.picked(self.ears, 1)
        return draft

    def code(self) -> Draft:
        """Plan code ranges: fine mode, several pairs for retired instructions, one pair for the others."""
        rng, page = self.rng, self.page
        retired = rng.chance(0.55)
        draft = Draft(self.some_retired() if retired else self.picked(self.with_code, 3), wants={"code"})
        flags = (_INVERT if rng.chance(0.25) else 0) | (_NO_FINE if rng.chance(0.35) else 0) | self.fetch_flags()
        if rng.chance(0.35):
            made = [fine_limit(rng, page) for _ in range(rng.choices([1, 2, 3], [60, 35, 5])[0])]
        else:
            counts = [60, 20, 8, 8, 2] if retired else [88, 6, 2, 2, 2]
            made = [code_limit(rng) for _ in range(rng.choices([1, 2, 3, 4, 0], counts)[0])]
        draft.parts["irange"] = self.ranges(made, flags)
        if rng.chance(0.2):
            self.with_matchers(draft)
        if rng.chance(0.12):
            self.with_data_ranges(draft)
        return draft

    def some_retired(self) -> list[Event]:
        """Choose retired-instruction events; often those of all four debug register pairs."""
        if self.rng.chance(0.5):
            by_pair = [[e for e in self.tagged if e.umask == pair] for pair in range(4)]
            events = [self.rng.choice(pool) for pool in by_pair if pool]  # of Itanium there are two
            return events if self.rng.chance(0.7) else events[:self.rng.randint(1, 3)]
        return self.picked(self.retired, 2)

    def fetch(self) -> Draft:
        """Plan code ranges with prefetch events, and with those that see demand fetches and prefetches."""
        rng = self.rng
        pool = self.prefetches if not self.has_fetch_flags or rng.chance(0.5) else self.dual
        draft = Draft(self.picked(pool, 2), wants={"code"})
        if rng.chance(0.5):
            others = rng.choice([self.retired, self.prefetches, self.cycles, self.cycles, self.with_code])
            draft.events += self.picked(others, 1)
        count = 1 if rng.chance(0.8) else 2
        made = [fine_limit(rng, self.page) if rng.chance(0.5) else code_limit(rng) for _ in range(count)]
        flags = self.fetch_flags() | (_NO_FINE if rng.chance(0.2) else 0) | (_INVERT if rng.chance(0.1) else 0)
        draft.parts["irange"] = self.ranges(made, flags)
        if rng.chance(0.15):
            self.with_matchers(draft)
        return draft

    def data(self) -> Draft:
        draft = Draft(self.picked(self.with_data, 2))
        self.with_data_ranges(draft)
        if self.rng.chance(0.3):
            self.with_matchers(draft)
        if self.rng.chance(0.1):
            draft.parts["dear"] = self.an_ear("dear")
        return draft

    def data_and_ear(self) -> Draft:
        """Plan data ranges of Itanium together with the data EAR, whose register they use."""
        rng = self.rng
        draft = Draft(self.picked(self.with_data, 2))
        self.with_data_ranges(draft)
        if rng.chance(0.6):
            draft.events += self.picked([e for e in self.ears if e.is_dear], 2)
        if rng.chance(0.6):
            draft.parts["dear"] = self.an_ear("dear")
        return draft

    def opcode(self) -> Draft:
        """Plan opcode matchers: with tagged events, with retired instructions, with others."""
        rng = self.rng
        draft = Draft(self.some_retired() if rng.chance(0.6) else self.picked(self.with_opcode, 2))
        self.with_matchers(draft, both=0.5)
        if rng.chance(0.15):
            draft.parts["irange"] = self.ranges([code_limit(rng)], _INVERT if rng.chance(0.4) else 0)
            draft.wants.add("code")
        return draft

    def ip_ear(self) -> Draft:
        rng = self.rng
        draft = Draft(self.picked(self.branches if rng.chance(0.15) else self.events, 2))
        delay = rng.randrange(256) if rng.chance(0.8) else rng.randrange(1 << 16)
        draft.parts["ipear"] = {"ipear_used": rng.choices([1, 0], [95, 5])[0], "ipear_delay": delay,
                                **self.optional_level("ipear_plm")}
        if rng.chance(0.15):
            draft.parts[self.buffer] = self.a_buffer()
        if rng.chance(0.15):
            draft.parts["dear"] = self.an_ear("dear")
        return draft

    def anything(self) -> Draft:
        """Combine the parts of two other plans."""
        first, second = (self.rng.choice([self.ear, self.branch, self.code, self.data, self.opcode, self.plain])()
                         for _ in range(2))
        events = (first.events + second.events)[:len(self.pmu.counters)]
        return Draft(events, first.parts | second.parts, first.wants | second.wants)

    # ---- the whole ----

    def vector(self) -> Vector:
        """Make a request as a vector of kind ``dispatch``."""
        rng = self.rng
        plan: Draft = rng.choices([p for p, _ in self.plans], [w for _, w in self.plans])[0]()
        draft = self.with_masked(plan)
        default = 0 if rng.chance(0.01) else self.level()
        vector: Vector = {"pmu": self.pmu.name}
        if rng.chance(0.4) and self.cpuid3:
            vector["cpuid3"] = self.cpuid3
        vector["dfl_plm"] = default
        if rng.chance(0.25):
            vector["pfp_flags"] = 1
        vector["events"] = [self.event(e, default, bool(draft.wants)) for e in draft.events]
        # The generic PMU has little else that decides.
        often, most = (0.07, 2) if self.model.has_structures else (0.5, 5)
        if rng.chance(often):
            vector["unavail_pmcs"] = [*rng.some((*self.pmu.counters, *self.registers), most)]
        return vector | self.model_parts(draft)

    def with_masked(self, draft: Draft) -> Draft:
        """Add now and then an event with unit masks to the others."""
        if self.masked and len(draft.events) < len(self.pmu.counters) and self.rng.chance(0.06):
            draft.events.append(self.rng.choice(self.masked))
        return draft

    def event(self, event: Event, default: int, qualified: bool) -> Vector:
        """Make an event of the request; with qualifiers, another level than the default is an error."""
        rng = self.rng
        row: Vector = {"event": event.name}
        if rng.chance(0.15):
            row["plm"] = default if qualified and rng.chance(0.6) else self.level()
        count = len(event.unit_masks)
        if count and rng.chance(0.98):
            row["unit_masks"] = [*rng.sample(range(count), rng.randint(1, count))]
        if rng.chance(0.01):
            row["unit_masks"] = [*rng.some(range(6), 2)]
        return row

    def model_parts(self, draft: Draft) -> Vector:
        """Return which parts of the model's structures a call passes."""
        rng, prefix = self.rng, self.prefix
        if not self.model.has_structures:
            return {}
        model: Vector = {f"{prefix}{name}": part for name, part in draft.parts.items()}
        counters: list[Json] = [self.counter(draft, e) for e in draft.events[:len(self.pmu.counters)]]
        if any(counters):
            model[f"{prefix}counters"] = counters
        if not model and rng.chance(0.6):
            return {"model_out": True} if rng.chance(0.05) else {}
        if rng.chance(0.01):
            return {"model_out": True}
        return {"model_in": model, "model_out": rng.chance(0.97)}

    def counter(self, draft: Draft, event: Event) -> Vector:
        """Make the row of the counter structure for an event."""
        rng = self.rng
        row: Vector = {}
        flags = _NO_QUALCHECK if rng.chance(0.85 if draft.unsupported(event) else 0.1) else 0
        if not self.model.has_ism and rng.chance(0.015):
            flags |= rng.choice([2, 4, 8])
        if flags:
            row["flags"] = flags
        if rng.chance(0.25):
            row["thres"] = rng.randrange(8) if rng.chance(0.9) else rng.randrange(512)
        if self.model.has_ism and rng.chance(0.25):
            row["ism"] = rng.choice([0, 1, 2]) if rng.chance(0.85) else rng.randrange(9)
        return row
