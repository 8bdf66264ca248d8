"""What is said of a request that is refused: which part of it is at fault, and the rule; word for word.

promises.py finds a part by itself, diagnose.py by trying the request without each part.
"""

from __future__ import annotations

from typing import Any

import pytest

from pypfm import (
    AddressRange,
    Btb,
    Ear,
    EarMode,
    Etb,
    EventRequest,
    InvalidValueError,
    IpEar,
    Itanium,
    Itanium2,
    Montecito,
    OpcodeMatch,
    Ranges,
)

ITA2, MONT, ITA = Itanium2(), Montecito(), Itanium()
MATCH = OpcodeMatch()
CODE, DATA = "code_ranges", "data_ranges"
BUNDLES = "code ranges must start and end on bundles: multiples of 16"
COUNTERS = "each event needs a free counter that can measure it, and every register of a feature in use must be available"
LEVELS = "with ranges, an event cannot have privilege levels of its own"
BELOW = "a range must start below its end, which it does not contain"
SECOND = ("the second matcher of Itanium 2 is for IA64_INST_RETIRED events, and not for a code range in its first debug"
          " register pair")
OUTSIDE = "addresses are 0 to 2^64 - 1, and the end, which is exclusive, may be 2^64"
SUPPORTED = "events that can be: pypfm events -p"
TO_64 = "four debug register pairs cover 2^58 bytes at most; give a smaller range"

REFUSED: list[tuple[Any, list[Any], dict[str, Any], str]] = [
    # Found by itself: what C does not look at
    (ITA2, ["NOPS_RETIRED"], {CODE: Ranges([(0x10000, 0x18000)], flags=4)},
     "PromiseError: code ranges: flags are 0x4; those that have an effect: 0x3"),
    (MONT, ["NOPS_RETIRED"], {CODE: Ranges([(0x10000, 0x18000)], flags=0x13)},
     "PromiseError: code ranges: flags are 0x13; those that have an effect: 0xf"),
    (ITA, ["NOPS_RETIRED"], {CODE: Ranges([(0x10000, 0x18000)], flags=1)},
     "PromiseError: code ranges: flags are 0x1; those that have an effect: none"),
    *((pmu, ["LOADS_RETIRED"], {DATA: Ranges([(0x10000, 0x18000)], flags=1)},
       "PromiseError: data ranges: flags are 0x1; those that have an effect: none") for pmu in (ITA2, MONT, ITA)),
    (ITA2, [EventRequest("NOPS_RETIRED", flags=2)], {},
     "PromiseError: NOPS_RETIRED: flags are 0x2; those that have an effect: 0x1"),
    (MONT, [EventRequest("NOPS_RETIRED", flags=0x10)], {},
     "PromiseError: NOPS_RETIRED: flags are 0x10; those that have an effect: 0x3"),
    (ITA2, [], {"iear": Ear(1 << 32)}, "PFMLIB_ERR_INVAL: ear_mode = 4294967296 does not fit the C field, which has 32 bits"),
    (MONT, [], {"dear": Ear(-1 << 32)}, "PFMLIB_ERR_INVAL: ear_mode = -4294967296 does not fit the C field, which has 32 bits"),
    # Found by leaving out a part
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0x10001, 0x18000)]}, f"PFMLIB_ERR_IRRALIGN: code range [0x10001, 0x18000): {BUNDLES}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0x10000, 0x18000), (0x20001, 0x28000)]},
     f"PFMLIB_ERR_IRRALIGN: code range [0x20001, 0x28000): {BUNDLES}"),
    (ITA2, ["LOADS_RETIRED"], {DATA: [(0x1, 0x77777777777), (0x1, 0x333333333)]},
     "PFMLIB_ERR_DRRTOOMANY: data range [0x1, 0x77777777777) / data range [0x1, 0x333333333): four debug register pairs have to"
     " cover all data ranges"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0x10000, 0x18000), (0x20000, 0x28000), (0x30000, 0x38000)]},
     "PFMLIB_ERR_IRRTOOMANY: too many code ranges: fine mode holds two ranges (one with prefetch events); outside it only"
     " retired-instruction events can have more than one"),
    (MONT, ["L1I_FILLS"], {CODE: [(0x10000, 0x18000)]},
     "PFMLIB_ERR_IRRFLAGS: event L1I_FILLS / code range [0x10000, 0x18000): it sees demand fetches and prefetches: give"
     " demand_fetch, prefetch_match or both"),
    (MONT, ["IA64_INST_RETIRED"], {CODE: [(0x10000, 0x20010)]},
     "PFMLIB_ERR_IRRINVAL: code range [0x10000, 0x20010): outside fine mode a range of several register pairs needs the tagged"
     " IA64_INST_RETIRED event of each pair"),
    (ITA2, ["NOPS_RETIRED"], {"opcode_match": (MATCH, MATCH)},
     f"PFMLIB_ERR_FEATCOMB: event NOPS_RETIRED / opcode matcher 2: {SECOND}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0x10000, 0x18000)], "opcode_match": (None, MATCH)}, f"PFMLIB_ERR_FEATCOMB: opcode matcher 2: {SECOND}"),
    (ITA2, [EventRequest("NOPS_RETIRED", plm=1)], {"opcode_match": (MATCH, MATCH)},
     f"PFMLIB_ERR_FEATCOMB: event NOPS_RETIRED / opcode matcher 2: {SECOND}"),
    (ITA2, ["L2_OZQ_CANCELS0_ANY", "CPU_CYCLES", "L2_OZQ_CANCELS2_WEIRD"], {},
     f"PFMLIB_ERR_NOASSIGN: event L2_OZQ_CANCELS0_ANY / event L2_OZQ_CANCELS2_WEIRD: {COUNTERS}"),
    (ITA2, ["CPU_CYCLES", "NOPS_RETIRED"], {"unavailable_pmcs": [4, 5, 6]},
     "PFMLIB_ERR_NOASSIGN: event CPU_CYCLES / event NOPS_RETIRED / PMC4 being unavailable / PMC5 being unavailable /"
     f" PMC6 being unavailable: {COUNTERS}"),
    (MONT, ["CPU_OP_CYCLES_ALL"], {"ipear": IpEar(), "etb": Etb()},
     "PFMLIB_ERR_FEATCOMB: the branch trace buffer / the IP-EAR: the IP-EAR fills the branch trace buffer itself"),
    (ITA2, ["DATA_EAR_TLB_ALL"], {"btb": Btb()},
     "PFMLIB_ERR_EVTINCOMP: event DATA_EAR_TLB_ALL / the branch trace buffer: a data EAR in TLB or ALAT mode excludes"
     " branch recording"),
    (ITA2, ["CPU_CYCLES"], {"iear": Ear(EarMode.ALAT)}, "PFMLIB_ERR_INVAL: the instruction EAR: its mode is cache or TLB"),
    # Plain from the request
    (ITA2, ["CPU_CYCLES"] * 5, {},
     "PFMLIB_ERR_NOASSIGN: cannot assign events to counters: 5 events, but itanium2 has 4 counters (PMC4 to PMC7)"),
    (ITA2, ["CPU_CYCLES"], {"plm": 0}, "PFMLIB_ERR_INVAL: the default privilege level must not be 0"),
    (MONT, ["CPU_OP_CYCLES_ALL"], {"opcode_match": (MATCH, MATCH)},
     "PFMLIB_ERR_FEATCOMB: CPU_OP_CYCLES_ALL cannot be restricted by an opcode matcher; to count all the same:"
     f" CPU_OP_CYCLES_ALL,noqual (no_qualcheck); {SUPPORTED} montecito --opcode-match"),
    (ITA2, ["CPU_CYCLES", "LOADS_RETIRED", "CPU_CPL_CHANGES"], {DATA: [(0x1000, 0x2000)]},
     "PFMLIB_ERR_FEATCOMB: CPU_CYCLES and CPU_CPL_CHANGES cannot be restricted by a data range; to count all the same:"
     f" CPU_CYCLES,noqual (no_qualcheck); {SUPPORTED} itanium2 --data-range"),
    (ITA2, ["CPU_CYCLES", "LOADS_RETIRED"], {CODE: [(0x1000, 0x2000)], DATA: [(0x1000, 0x2000)], "opcode_match": MATCH},
     "PFMLIB_ERR_FEATCOMB: CPU_CYCLES cannot be restricted by a code range or a data range or an opcode matcher; to count all the"
     f" same: CPU_CYCLES,noqual (no_qualcheck); {SUPPORTED} itanium2 --code-range --data-range --opcode-match"),
    (ITA2, [EventRequest("NOPS_RETIRED", plm=1), EventRequest("IA64_INST_RETIRED", plm=2)], {CODE: [(0x1000, 0x2000)]},
     f"PFMLIB_ERR_FEATCOMB: NOPS_RETIRED and IA64_INST_RETIRED: {LEVELS}; give them none and set the default (plm)"),
    (ITA2, [EventRequest("NOPS_RETIRED", plm=1)], {CODE: [(0x1000, 0x2000)]},
     f"PFMLIB_ERR_FEATCOMB: NOPS_RETIRED: {LEVELS}; give it none and set the default (plm)"),
    (ITA2, [EventRequest("LOADS_RETIRED", plm=1)], {DATA: [(0x1000, 0x2000)]},
     f"PFMLIB_ERR_FEATCOMB: LOADS_RETIRED: {LEVELS}; give it none and set the default (plm)"),
    (ITA2, [EventRequest("NOPS_RETIRED", plm=1), "IA64_INST_RETIRED", EventRequest("LOADS_RETIRED", plm=8)],
     {CODE: [(0x1000, 0x2000)]}, f"PFMLIB_ERR_FEATCOMB: NOPS_RETIRED: {LEVELS}; give it none and set the default (plm)"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0x2000, 0x1000)]}, f"PFMLIB_ERR_IRRINVAL: code range [0x2000, 0x1000): {BELOW}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0x2000, 0x2000)]}, f"PFMLIB_ERR_IRRINVAL: code range [0x2000, 0x2000): {BELOW}"),
    (ITA2, ["LOADS_RETIRED"], {DATA: [(0x2000, 0x1000)]}, f"PFMLIB_ERR_IRRINVAL: data range [0x2000, 0x1000): {BELOW}"),
    # Promises of the manual
    (ITA2, [EventRequest("CPU_CYCLES", threshold=1)], {},
     "PromiseError: CPU_CYCLES: the threshold is 1; only 0 is possible, as the event occurs at most 1 time in a cycle"),
    (ITA2, [EventRequest("NOPS_RETIRED", threshold=6)], {},
     "PromiseError: NOPS_RETIRED: the threshold is 6; it can be 0 to 5, as the event occurs at most 6 times in a cycle"),
    (ITA2, [EventRequest("ALAT_CAPACITY_MISS_ALL", threshold=2)], {},
     "PromiseError: ALAT_CAPACITY_MISS_ALL: the threshold is 2; it can be 0 to 1, as the event occurs at most 2 times in a cycle"),
    (ITA2, [EventRequest("CPU_CYCLES", ism=3)], {}, "PromiseError: CPU_CYCLES: ism is 3; 0 is both, 1 IA-32, 2 IA-64"),
    (ITA2, [EventRequest("CPU_CYCLES", plm=16)], {},
     "PromiseError: CPU_CYCLES: privilege level mask is 0x10, but its field has 4 bits (0 to 0xf)"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(-16, 16)]}, f"PromiseError: code range [-0x10, 0x10): {OUTSIDE}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(16, (1 << 64) + 16)]}, f"PromiseError: code range [0x10, 0x10000000000000010): {OUTSIDE}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(1 << 64, 1 << 64)]},
     f"PromiseError: code range [0x10000000000000000, 0x10000000000000000): {OUTSIDE}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(1 << 63, 1 << 64)], "no_fine": True},
     "PromiseError: code range [0x8000000000000000, 0x10000000000000000): the debug registers left for it cover less; give it"
     " first, align it, or split the request"),
    (ITA2, ["LOADS_RETIRED"], {DATA: [(0, 0)]}, "PFMLIB_ERR_DRRINVAL: data range [0x0, 0x0) is empty: leave it out"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(0, 0)]}, "PFMLIB_ERR_IRRINVAL: code range [0x0, 0x0) is empty: leave it out"),
    (ITA2, ["LOADS_RETIRED"], {DATA: [(16, 1 << 64)]}, f"PromiseError: data range [0x10, 0x10000000000000000): {TO_64}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [(16, 1 << 64)]}, f"PromiseError: code range [0x10, 0x10000000000000000): {TO_64}"),
    (ITA2, ["NOPS_RETIRED"], {CODE: [AddressRange(0x10000, 0x18000, plm=16)]},
     "PromiseError: range [0x10000, 0x18000): privilege level mask is 0x10, but its field has 4 bits (0 to 0xf)"),
    (ITA, ["LOADS_RETIRED"], {"dear": Ear(EarMode.CACHE, 32)},
     "PromiseError: data EAR: umask is 0x20, but its field has 4 bits (0 to 0xf)"),
    (ITA2, ["LOADS_RETIRED"], {"dear": Ear(EarMode.CACHE, 16)},
     "PromiseError: data EAR: umask is 0x10, but its field has 4 bits (0 to 0xf)"),
    (ITA2, ["CPU_CYCLES"], {"iear": Ear(EarMode.CACHE, 256)},
     "PromiseError: instruction EAR: umask is 0x100, but its field has 8 bits (0 to 0xff)"),
    (MONT, ["CPU_OP_CYCLES_ALL"], {"ipear": IpEar(delay=256)},
     "PromiseError: IP-EAR: delay is 0x100, but its field has 8 bits (0 to 0xff)"),
    (MONT, ["CPU_OP_CYCLES_ALL"], {"etb": Etb(tm=4)}, "PromiseError: ETB: tm is 0x4, but its field has 2 bits (0 to 0x3)"),
    (ITA2, ["CPU_CYCLES"], {"btb": Btb(tm=4)}, "PromiseError: BTB: tm is 0x4, but its field has 2 bits (0 to 0x3)"),
    (ITA2, ["CPU_CYCLES"], {"opcode_match": OpcodeMatch(used=2)},
     "PromiseError: opcode matcher 1: used is 2; the manual page knows 1"),
    (ITA2, ["CPU_CYCLES"], {"opcode_match": OpcodeMatch(m=2)},
     "PromiseError: opcode matcher 1: slot m is 0x2, but its field has 1 bit (0 to 0x1)"),
    (ITA2, ["CPU_CYCLES"], {"opcode_match": OpcodeMatch(match=1 << 27)},
     "PromiseError: opcode matcher 1: match is 0x8000000, but its field has 27 bits (0 to 0x7ffffff)"),
    (MONT, ["CPU_OP_CYCLES_ALL"], {"opcode_match": OpcodeMatch(match=1 << 41)},
     "PromiseError: opcode matcher 1: match is 0x20000000000, but its field has 41 bits (0 to 0x1ffffffffff)"),
    (ITA2, ["CPU_CYCLES"], {"opcode_match": OpcodeMatch(value=1 << 64)},
     "PromiseError: opcode matcher 1: value is 0x10000000000000000, but its field has 64 bits (0 to 0xffffffffffffffff)"),
]


@pytest.mark.parametrize(("pmu", "events", "options", "said"), REFUSED, ids=range(len(REFUSED)))
def test_refused(pmu: Any, events: list[Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        pmu.encode(events, **options)
    kind = getattr(raised.value, "name", type(raised.value).__name__)
    assert f"{kind}: {raised.value}" == said
