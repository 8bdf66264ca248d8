"""Meanings of the registers of IA-64 PMUs, as objects: settings, ranges, samples, trace entries.

The words for the values of fields are here and nowhere else.  Sources: libpfm_itanium2(3) and
libpfm_montecito(3); what the data registers hold is not in the manual pages, but in the reference
manuals of the processors.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import ClassVar

from pypfm.common.value import HEX, Value, said

__all__ = [
    "BRANCHES", "CONSTRAINTS", "ISM", "LEVELS", "PREDICTED", "TAKEN", "BranchMeaning", "CountMeaning", "CounterMeaning",
    "EarMeaning", "EarSample", "IndexMeaning", "IpEarMeaning", "ItaniumBranchMeaning", "MatcherMeaning", "Meaning",
    "PairsMeaning", "RangeMeaning", "RoutingMeaning", "TraceEntry", "levels",
]

Row = tuple[str, str]

LEVELS = ("kernel", "level 1", "level 2", "user")
ISM = ("both", "IA-32", "IA-64", "3 (no instruction set)")
TAKEN = ("none", "not taken", "taken", "all")
PREDICTED = ("none", "mispredicted", "correctly predicted", "all")
BRANCHES = ("all", "IP-relative", "return", "other indirect")
# Of a data range pair: what the events that see data have to satisfy.
CONSTRAINTS = ("opcode match or code range, and data range", "opcode match or code range", "data range",
               "none")
_NOT_TAKEN = 3  # as a slot
# What a sample, a range or an EAR is of.
_MEMORY = said(enum=("code", "data"))
_STREAM = said(enum=("instruction", "data"))


def levels(plm: int) -> str:
    """Write privilege levels in words."""
    return ", ".join(name for n, name in enumerate(LEVELS) if plm >> n & 1) or "none"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


class Said(Value):
    """The meaning of registers; its JSON form names its kind, too."""

    kind: ClassVar[str] = ""
    _constants = ("kind",)

    def rows(self) -> list[Row]:
        """Return the meaning in words, as rows of subject and value; what tables show is left out."""
        return []


class Meaning(Said):
    """The meaning of a register, together with the registers that belong to it."""


class CounterMeaning(Meaning):
    """A counter.

    :ivar events: all names that it can mean, with unit masks; none: no event has the code
    :ivar threshold: cycles are counted with more occurrences than this; 0: the occurrences are
    :ivar ism: instruction set (Itanium, Itanium 2)
    :ivar system_wide: the privileged-monitor bit
    """

    kind = "counter"
    events: tuple[str, ...]
    plm: int
    threshold: int
    ism: int
    system_wide: bool

    def rows(self) -> list[Row]:
        found = [("one of" if len(self.events) > 1 else "event",
                  ", ".join(self.events) or "none has this code and unit mask"), ("levels", levels(self.plm))]
        if self.threshold:
            found.append(("threshold", f"counts cycles with more than {self.threshold} occurrences"))
        if self.ism:
            found.append(("instruction set", ISM[self.ism]))
        return [*found, ("system-wide", _yes(self.system_wide))]


class MatcherMeaning(Meaning):
    """An opcode matcher.

    :ivar matcher: 1 or 2
    :ivar slots: instruction slots that it looks at, of m, i, f, b
    :ivar match: bits of the instruction
    :ivar mask: bits that do not count
    :ivar width: bits of an instruction that are compared
    :ivar inverted: the code ranges are inverted
    :ivar ignores_ranges: the code ranges do not restrict it
    """

    kind = "matcher"
    matcher: int
    slots: tuple[str, ...] | None
    match: int | None = field(metadata=HEX)
    mask: int | None = field(metadata=HEX)
    width: int
    inverted: bool | None
    ignores_ranges: bool | None

    @property
    def pattern(self) -> str | None:
        """The bits from the highest, x for those that do not count; None if a half is unknown."""
        if self.match is None or self.mask is None:
            return None
        bits = "".join("x" if self.mask >> n & 1 else str(self.match >> n & 1) for n in reversed(range(self.width)))
        return re.sub(r"(?<=.)(?=(.{8})+$)", " ", bits)

    def rows(self) -> list[Row]:
        found = [("opcode matcher", str(self.matcher))]
        if self.slots is not None:
            found.append(("slots", ", ".join(self.slots) or "none"))
        if self.pattern is not None:
            found.append(("pattern", self.pattern))
        if self.inverted:
            found.append(("code ranges", "inverted"))
        elif self.ignores_ranges:
            found.append(("code ranges", "ignored"))
        return found


class EarMeaning(Meaning):
    """The setting of an Event Address Register.

    :ivar what: instruction or data
    :ivar mode: cache, tlb, alat, or none
    :ivar filter: what is recorded, in the words of the event with the same setting, or None
    :ivar event: that event
    """

    kind = "ear"
    what: str = field(metadata=_STREAM)
    mode: str = field(metadata=said(enum=("cache", "tlb", "alat", "none")))
    umask: int = field(metadata=HEX)
    filter: str | None
    event: str | None
    plm: int
    ism: int
    system_wide: bool

    def rows(self) -> list[Row]:
        found = [("EAR", f"{self.what}, {self.mode} mode"),
                 ("records", self.filter or f"umask {self.umask:#x}, which no event has")]
        if self.event:
            found.append(("event", self.event))
        found.append(("levels", levels(self.plm)))
        if self.ism:
            found.append(("instruction set", ISM[self.ism]))
        return [*found, ("system-wide", _yes(self.system_wide))]


class BranchMeaning(Meaning):
    """The setting of the branch or execution trace buffer; fields as in `Btb`."""

    kind = "branches"
    tm: int
    ptm: int
    ppm: int
    brt: int
    ds: int
    plm: int
    system_wide: bool

    def rows(self) -> list[Row]:
        return [("branches", TAKEN[self.tm]), ("target address", PREDICTED[self.ptm]),
                ("path", PREDICTED[self.ppm]), ("type", BRANCHES[self.brt]),
                ("records", "prediction details" if self.ds else "targets"), ("levels", levels(self.plm)),
                ("system-wide", _yes(self.system_wide))]


class ItaniumBranchMeaning(Meaning):
    """The setting of the branch trace buffer of Itanium; fields as in `ItaniumBtb`."""

    kind = "itanium_branches"
    tm: int
    ptm: int
    ppm: int
    tar: int
    tac: int
    bac: int
    plm: int
    system_wide: bool

    def rows(self) -> list[Row]:
        by = [what for what, on in (("target address register", self.tar), ("target address cache", self.tac),
                                    ("branch address calculator", self.bac)) if on]
        return [("branches", TAKEN[self.tm]), ("target address", PREDICTED[self.ptm]),
                ("path", PREDICTED[self.ppm]), ("predicted by", ", ".join(by) or "none"),
                ("levels", levels(self.plm)), ("system-wide", _yes(self.system_wide))]


class IpEarMeaning(Meaning):
    """The setting of the IP event capture of Montecito; the encoder writes mode 4."""

    kind = "ipear"
    mode: int
    delay: int
    plm: int
    system_wide: bool

    def rows(self) -> list[Row]:
        return [("records", "instruction addresses" if self.mode == 4 else f"mode {self.mode}"),
                ("freeze after", f"{self.delay} cycles"), ("levels", levels(self.plm)),
                ("system-wide", _yes(self.system_wide))]


class PairsMeaning(Meaning):
    """Which pairs of debug registers restrict the measurement.

    :ivar what: code or data
    :ivar enabled: numbers of the pairs
    :ivar fine: code: pairs hold first and last bundles
    :ivar constraints: data: what each of the four pairs demands, in words
    """

    kind = "pairs"
    what: str = field(metadata=_MEMORY)
    enabled: tuple[int, ...]
    fine: bool | None
    constraints: tuple[str, ...]

    def rows(self) -> list[Row]:
        names = [f"pair {n}" for n in self.enabled]
        found = [(f"{self.what} pairs on", ", ".join(names) or "none")]
        if self.fine is not None:
            found.append(("fine mode", _yes(self.fine)))
        return found + [(f"pair {n}", f"needs {self.constraints[n]}") for n in self.enabled if self.constraints]


class RoutingMeaning(Meaning):
    """Which instruction channels an opcode matcher restricts."""

    kind = "routing"
    channels: tuple[int, ...]

    def rows(self) -> list[Row]:
        return [("channels matched", ", ".join(map(str, self.channels)) or "none")]


class CountMeaning(Meaning):
    """A counter's value: 47 bits, 32 on Itanium."""

    kind = "count"
    count: int

    def rows(self) -> list[Row]:
        return [("count", f"{self.count:,}")]


class IndexMeaning(Meaning):
    """Where the trace buffer goes on.

    :ivar next_entry: register that is written next
    :ivar full: it has wrapped: all entries are in use
    """

    kind = "index"
    next_entry: str
    full: bool

    def rows(self) -> list[Row]:
        return [("next entry", self.next_entry), ("full", _yes(self.full))]


class RangeMeaning(Said):
    """Addresses that a pair of debug registers, or two in fine mode, cover.

    :ivar end: address after the last
    """

    kind = "range"
    what: str = field(metadata=_MEMORY)
    registers: tuple[str, ...]
    start: int = field(metadata=HEX)
    end: int = field(metadata=HEX)
    plm: int
    fine: bool


class EarSample(Said):
    """The record of an Event Address Register; None: its register was not given.

    :ivar address: instruction EAR: line of the instruction; data EAR: address of the data
    :ivar latency: cycles
    :ivar overflow: it took longer than the latency field holds
    :ivar status: 2 bits of the processor; Itanium: level of the data
    :ivar instruction: data EAR: bundle of the load or store
    :ivar slot: data EAR: its slot
    :ivar valid: data EAR: bundle and slot hold something; instruction EAR of Itanium: the sample does
    """

    kind = "ear_sample"
    what: str = field(metadata=_STREAM)
    registers: tuple[str, ...]
    address: int | None = field(metadata=HEX)
    latency: int | None
    overflow: bool | None
    status: int | None
    instruction: int | None = field(metadata=HEX)
    slot: int | None
    valid: bool | None

    def rows(self) -> list[Row]:
        found = [("EAR", f"{self.what} ({', '.join(self.registers)})")]
        if self.address is not None:
            found.append(("address", hex(self.address)))
        if self.latency is not None:
            found.append(("latency", f"{self.latency} cycles" + (" or more (overflow)" if self.overflow else "")))
        if self.status is not None:
            found.append(("status", str(self.status)))
        if self.instruction is None and self.valid is False:
            found.append(("valid", "no"))
        if self.instruction is not None:
            valid = "" if self.valid else " (not valid)"
            found.append(("instruction", f"{self.instruction:#x}, slot {self.slot}{valid}"))
        return found


class TraceEntry(Said):
    """An entry of the trace buffer.

    :ivar entry: source (a branch), target, instruction (IP-EAR), or invalid
    :ivar slot: slot of the branch; 3: it was not taken
    :ivar mispredicted: of a source
    :ivar flushed: the back end was flushed (branches), or the pipeline (IP-EAR); None: its extension
        register was not given
    :ivar prediction: details of the prediction, 20 bits (Itanium 2, ds = 1)
    :ivar cycles: IP-EAR: cycles since the entry before; without the extension, their low 4 bits
    :ivar delay: IP-EAR: of an entry that was frozen early, cycles to the freeze
    """

    kind = "trace_entry"
    register: str
    entry: str = field(metadata=said(enum=("source", "target", "instruction", "invalid")))
    address: int = field(metadata=HEX)
    slot: int | None
    mispredicted: bool | None
    flushed: bool | None
    prediction: int | None = field(metadata=HEX)
    cycles: int | None
    delay: int | None

    @property
    def text(self) -> str:
        """Return the text that stands beside the address."""
        words = []
        if self.entry == "source":
            words.append("not taken" if self.slot == _NOT_TAKEN else f"slot {self.slot}")
            words.append("mispredicted" if self.mispredicted else "correctly predicted")
        if self.prediction is not None:
            words.append(f"prediction {self.prediction:#x}")
        if self.flushed:
            words.append("flushed")
        if self.cycles is not None:
            words.append(f"{self.cycles} cycles")
        if self.delay is not None:
            words.append(f"early freeze, delay {self.delay}")
        return ", ".join(words)
