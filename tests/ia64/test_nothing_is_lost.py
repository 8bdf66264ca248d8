"""What was asked for is in the registers, or an exception says what is not.

All options of all IA-64 PMUs, one by one and two by two: what `decode` reads in the registers is compared with the
request, so that the rules of the encoder are not stated a second time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from pypfm import (
    Btb,
    Ear,
    EarMode,
    Encoding,
    Etb,
    Event,
    EventRequest,
    GenericIA64,
    IpEar,
    Itanium,
    Itanium2,
    ItaniumBtb,
    Montecito,
    OpcodeMatch,
    Pfm3Error,
    PromiseError,
    pfm3,
)
from pypfm.decoding import decode
from pypfm.ia64 import models
from pypfm.ia64.decode import Decoded
from pypfm.ia64.pmu import Pmu
from pypfm.levels import parse_plm

PMUS: dict[str, Pmu] = {
    "itanium2": Itanium2(), "itanium2-detected": Itanium2(0x1F010504), "montecito": Montecito(), "itanium": Itanium(),
    "itanium-corrected": Itanium(corrected=True), "gen_ia64": GenericIA64()}
Options = dict[str, Any]

MATCHES = [OpcodeMatch(match=0x1234567, mask=0x7000001, i=0), OpcodeMatch(match=0x5, mask=0x2, m=0, b=0)]
RAW = [*MATCHES, *(OpcodeMatch(value=value) for value in (0x8000000A00000018, 0xC00000060000001F, 0x5 << 33 | 0x2))]
RANGES = {
    "aligned": [(0x10000, 0x18000)], "any": [(0x4000000000001010, 0x4000000000001070)], "kernel": [(0x2000, 0x3000, "kernel")],
    "two": [(0x1000, 0x2000), (0x8000, 0xA000, 1)], "last": [((1 << 64) - 0x1000, 1 << 64)]}


def one_by_one(settings: type[Any], **values: tuple[Any, ...]) -> Iterator[Any]:
    """Settings that differ in one member from those without arguments, and those."""
    yield settings()
    for name, others in values.items():
        for value in others:
            yield settings(**{name: value})


def event_options(pmu: Pmu) -> Iterator[Options]:
    model = models.MODELS[pmu.name]
    with_masks = next((e for e in pmu.events if e.unit_masks), None)
    plain = next(e for e in pmu.events if e.maxincr > 2 and not e.is_ear and not e.unit_masks) if model.has_structures else pmu.events[0]
    names = [pmu.events[0].name, plain.name, "IA64_INST_RETIRED"]
    names += [e.name for e in pmu.events if e.is_branch]
    for is_iear in (True, False):
        ears = [e for e in pmu.events if e.is_ear and e.is_iear == is_iear]
        names += [e.name for mode in EarMode for e in [e for e in ears if e.ear_mode == mode][:2]]
    requests = [EventRequest(name) for name in names if name in pmu and not pmu[name].unit_masks]
    requests += [EventRequest(name, plm="kernel") for name in names if name in pmu and not pmu[name].unit_masks]
    if model.has_structures:
        requests += [EventRequest(plain, threshold=1), EventRequest(plain, no_qualcheck=True)]
        requests += [EventRequest(plain, flags=1 << bit) for bit in range(4)]
        requests += [EventRequest(name, no_qualcheck=True) for name in names if name in pmu and pmu[name].is_ear]
        for supports in ("supports_code_range", "supports_data_range", "supports_opcode_match"):
            requests += [EventRequest(e) for e in pmu.events if getattr(e, supports) and not e.unit_masks][:2]
    if model.has_ism:
        requests.append(EventRequest(plain, ism=1))
    if with_masks is not None:
        requests += [EventRequest(with_masks, unit_masks=masks) for masks in (("M",), ("E", "I"))]
    yield from ({"events": [request]} for request in requests)


def options(pmu: Pmu) -> Iterator[Options]:
    """What can be asked of a PMU, one thing at a time."""
    model = models.MODELS[pmu.name]
    yield from event_options(pmu)
    yield from ({"plm": plm} for plm in ("kernel", "user,kernel", 6))
    yield {"system_wide": True}
    yield {"unavailable_pmcs": [model.counters[0]]}
    if not model.has_structures:
        return
    yield from ({name: False} for name in ("model_input", "model_output"))
    for name in ("iear", "dear"):
        modes = [mode for mode in EarMode if mode < (3 if name == "dear" and model.has_alat else 2)]
        for mode in modes:
            yield {name: Ear(mode, 1)}
        yield {name: Ear(modes[1], 7 if name == "iear" else 2, "kernel")}
        if model.has_ism:
            yield {name: Ear(EarMode.CACHE, ism=2)}
    settings = {"tm": (0, 1), "ptm": (0, 2), "ppm": (1,), "plm": ("kernel",)}
    buffers = {"itanium2": ("btb", Btb, {"brt": (2,), "ds": (1,)}), "montecito": ("etb", Etb, {"brt": (2,)}),
               "itanium": ("btb", ItaniumBtb, {"tar": (0,), "tac": (0,), "bac": (0,)})}
    name, buffer, more = buffers[pmu.name]
    yield from ({name: b} for b in (*one_by_one(buffer, **settings, **more), buffer(tm=0, ptm=0, ppm=0)))
    if model.ipear:
        yield from ({"ipear": ear} for ear in one_by_one(IpEar, delay=(5, 255), plm=("kernel",)))
    for match in RAW if model.has_raw_matchers else MATCHES:
        yield from ({"opcode_match": both} for both in ((match, None), (None, match)))
    for limits in RANGES.values():
        yield from ({name: limits} for name in ("code_ranges", "data_ranges"))
    for flag in ("invert", "no_fine") if model.range_flags else ():
        yield {flag: True, "code_ranges": RANGES["aligned"]}
    for flag in ("demand_fetch", "prefetch_match") if model.pair_parity_chooses else ():
        yield {flag: True, "code_ranges": RANGES["aligned"], "events": ["ISB_BUNPAIRS_IN"]}


def together(first: Options, second: Options) -> Options | None:
    """Both; None: they are of one thing."""
    if any(first[name] != second[name] for name in {*first, *second} - {"events"} if name in first and name in second):
        return None
    both = {**first, **second}
    if "events" in both:
        both["events"] = [*first.get("events", ()), *second.get("events", ())]
    return both


class Compared:
    """What of a request is not in its registers."""

    def __init__(self, pmu: Pmu, asked: Options, encoding: Encoding) -> None:
        self.model = models.MODELS[pmu.name]
        self.asked, self.encoding = asked, encoding
        self.found: Decoded = decode(pmu.name, encoding, pmds=[r.num for r in encoding.pmds])
        self.plm = int(parse_plm(asked.get("plm", "user")))
        self.system_wide = asked.get("system_wide", False)
        self.requests = [r if isinstance(r, EventRequest) else EventRequest(r) for r in asked.get("events", ())]
        self.events = [pmu[request.name] for request in self.requests]

    def level(self, own: int | str) -> int:
        return int(parse_plm(own)) or self.plm

    def said(self, num: int | None) -> dict[str, Any]:
        """What a PMC says, by name; of one that is not written, nothing."""
        meaning = self.found[f"PMC{num}"].meaning if f"PMC{num}" in self.found else None
        return {} if meaning is None else {"kind": meaning.kind, **vars(meaning)}

    def differs(self, what: str, said: dict[str, Any], **wanted: object) -> Iterator[str]:
        for name, value in wanted.items():
            if said.get(name) != value:
                yield f"{what}: {name} is {said.get(name)}, not {value}"

    def lost(self) -> Iterator[str]:
        numbers = [r.num for r in self.encoding.pmcs]
        if len(set(numbers)) < len(numbers):
            yield f"a register is written twice: {numbers}"
        if used := set(numbers) & set(self.asked.get("unavailable_pmcs", ())):
            yield f"{used} were not available"
        for place, (request, event) in enumerate(zip(self.requests, self.events, strict=True)):
            yield from self.of_counter(self.encoding.pmcs[place].num, request, event)
        if self.model.has_structures:
            yield from self.of_ears()
            yield from self.of_trace_buffer()
            yield from self.of_matchers()
            yield from self.of_code_ranges()
            yield from self.of_data_ranges()

    def of_counter(self, num: int, request: EventRequest, event: Event) -> Iterator[str]:
        said = self.said(num)
        yield from self.differs(event.name, said, plm=self.level(request.plm), threshold=request.threshold,
                                ism=request.ism, system_wide=self.system_wide)
        named = [set(name.split(":")) for name in said.get("events", ())]
        if {event.name, *map(str, request.unit_masks)} not in named:
            yield f"{event.name} {request.unit_masks} is not among {named}"
        if request.flags & ~pfm3.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK:
            yield f"{event.name}: no register has a bit for flags {request.flags}"

    def of_ears(self) -> Iterator[str]:
        for name, num in (("iear", self.model.iear), ("dear", self.model.dear)):
            said, ear = self.said(num), self.asked.get(name)
            if ear is not None:
                yield from self.differs(name, said, mode=EarMode(ear.mode).name.lower(), umask=ear.umask,
                                        plm=self.level(ear.plm), ism=ear.ism, system_wide=self.system_wide)
                continue
            for request, event in zip(self.requests, self.events, strict=True):
                if event.is_ear and event.is_iear == (name == "iear"):
                    mode = None if event.ear_mode is None else event.ear_mode.name.lower()
                    yield from self.differs(event.name, said, mode=mode, umask=event.umask,
                                            plm=self.level(request.plm), system_wide=self.system_wide)

    def of_trace_buffer(self) -> Iterator[str]:
        said, given = self.said(self.model.trace), self.asked.get("btb", self.asked.get("etb"))
        if given is not None:
            wanted = {name: getattr(given, name) for name, _ in self.model.trace_bits}
            yield from self.differs("branches", said, **wanted, plm=self.level(given.plm), system_wide=self.system_wide)
        else:
            for request, event in zip(self.requests, self.events, strict=True):
                if event.is_branch:
                    yield from self.differs(event.name, said, tm=3, ptm=3, ppm=3, plm=self.level(request.plm),
                                            system_wide=self.system_wide)
        if (ipear := self.asked.get("ipear")) is not None:
            yield from self.differs("IP-EAR", self.said(self.model.ipear), mode=4, delay=ipear.delay,
                                    plm=self.level(ipear.plm), system_wide=self.system_wide)

    def of_matchers(self) -> Iterator[str]:
        for place, match in enumerate(self.asked.get("opcode_match", ())):
            if match is None:
                continue
            what, num = f"matcher {place + 1}", self.model.matchers[place][0]
            if match.value is None:
                slots = tuple(slot for slot in "mifb" if getattr(match, slot))
                yield from self.differs(what, self.said(num), match=match.match, mask=match.mask, slots=slots)
            else:
                value = self.encoding[f"PMC{num}"].value if f"PMC{num}" in self.encoding else 0
                if (match.value ^ value) & ~(7 if self.model.routing else 0):  # bits 2:0 of Itanium 2's are the library's
                    yield f"{what}: {match.value:#x} is {value:#x}"
            # Montecito's PMC36 is never written: after reset nothing is switched off.
            if self.model.input_sets_routing and not set(self.said(self.model.routing)["channels"]) & {place, place + 2}:
                yield f"{what} is switched off"

    def of_code_ranges(self) -> Iterator[str]:
        if not (limits := self.asked.get("code_ranges")):
            return
        yield from self.of_limits("code", limits)
        said = self.said(self.model.irange)
        if not said.get("enabled"):
            yield "code ranges: no pair of registers is on"
        if self.asked.get("no_fine") and said["fine"]:
            yield "fine mode"
        for flag, parity in (("demand_fetch", 0), ("prefetch_match", 1)):
            if self.asked.get(flag) and parity not in {n % 2 for n in said["enabled"]}:
                yield f"{flag}: no pair for it is on"
        if self.model.range_flags:
            yield from self.differs("code ranges", self.said(self.model.matchers[0][0]),
                                    inverted=self.asked.get("invert", False), ignores_ranges=False)

    def of_data_ranges(self) -> Iterator[str]:
        if not (limits := self.asked.get("data_ranges")):
            return
        yield from self.of_limits("data", limits)
        if self.model.drange is None:
            register = self.encoding.get("PMC11")
            if register is None or register.fields["pt"]:
                yield "data ranges: PMC11 says that they do not restrict"
            return
        said = self.said(self.model.drange)
        for n in sorted({r.num // 2 for r in self.encoding.drange.registers} if self.encoding.drange else {0}):
            if n not in said.get("enabled", ()) or "data range" not in said["constraints"][n]:
                yield f"data ranges: pair {n} is off, or needs no data range"

    def of_limits(self, what: str, limits: list[Any]) -> Iterator[str]:
        blocks = sorted((r.start, r.end, r.plm) for r in self.found.ranges if r.what == what)
        for start, end, *plm in limits:
            at, wanted = start, self.level(plm[0] if plm else 0)
            for first, last, level in blocks:
                if first <= at < last and level == wanted:
                    at = last
            if at < end:
                yield f"{what} range {start:#x}-{end:#x} at {wanted}: from {at:#x} on it is not in {blocks}"


def lost(pmu: Pmu, asked: Options) -> list[str]:
    """What of a request is lost without a word."""
    try:
        encoding = pmu.encode(**{"events": [], **asked})
    except (Pfm3Error, PromiseError):
        return []
    return list(Compared(pmu, asked, encoding).lost())


@pytest.mark.parametrize("name", PMUS)
def test_one_option(name: str) -> None:
    pmu = PMUS[name]
    asked = list(options(pmu))
    assert [(one, said) for one in asked if (said := lost(pmu, one))] == []


@pytest.mark.parametrize("name", PMUS)
@pytest.mark.long
def test_two_options(name: str) -> None:
    pmu = PMUS[name]
    pairs = [both for a, b in combinations(options(pmu), 2) if (both := together(a, b)) is not None]
    assert [(both, said) for both in pairs if (said := lost(pmu, both))][:5] == []


@pytest.mark.parametrize("name", PMUS)
def test_some_options(name: str) -> None:
    """Three to six, which the seed chooses."""
    pmu, rng = PMUS[name], random.Random(name)
    every = list(options(pmu))
    wrong = []
    for _ in range(150):
        asked: Options | None = {}
        for one in rng.sample(every, rng.randrange(3, 7)):
            asked = together(asked or {}, one) or asked
        wrong += [(asked, said)] if (said := lost(pmu, asked or {})) else []
    assert wrong[:5] == []
