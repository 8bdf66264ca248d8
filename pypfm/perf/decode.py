"""From the codes of Goldmont, and types and configs of perf_event, to canonical event strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from itertools import product

from pypfm.common.arguments import expect_type, expect_word
from pypfm.common.value import Value, said
from pypfm.errors import DecodeError, Pfm4Error, shown
from pypfm.perf.encoding import Encoding
from pypfm.perf.events import Event, Os
from pypfm.perf.formats import PERFEVTSEL
from pypfm.perf.offcore import LATENCY, OffcoreValue
from pypfm.perf.offcore import decode as offcore_value
from pypfm.perf.pmu import Goldmont, Perf, Pmu, RawPerf

__all__ = ["TYPES", "VALUES", "Candidate", "Decoded", "decode_codes"]

_ALWAYS = 1 << 20 | 1 << 22  # interrupt and enable, which the library always sets
_RAW = 4
# Types of perf_event_attr.
TYPES = {0: "hardware", 1: "software", 2: "tracepoint", 3: "cache", _RAW: "raw", 5: "breakpoint"}
_NO_EVENT = {
    2: "a tracepoint: config is its id, which only the running kernel knows (tracing/events/*/*/id)",
    5: "a breakpoint: its address is in bp_addr; it has no event string",
}
_LEVELS = {"u": "exclude_user", "k": "exclude_kernel", "h": "exclude_hv"}
# Names of the values of a PMU.
VALUES = {
    "glm": ("code", "offcore", "type", "config", "config1", "exclude_user", "exclude_kernel", "exclude_hv"),
    "perf": ("code", "type", "config", "config1", "exclude_user", "exclude_kernel", "exclude_hv"),
}


class Candidate(Value):
    """An event that the values can mean.

    :ivar event: its name; an alias is not an event of its own
    :ivar aliases: names that stand for the same
    :ivar string: canonical event string, as the library returns it
    :ivar request: what to encode to get the same values: the library does not take all of its own strings
    """

    event: str
    aliases: tuple[str, ...]
    string: str
    request: str

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the event."""
        return self.event, *self.aliases


class Decoded(Value):
    """Codes of glm or perf and the events that they can mean.

    :ivar values: what was given, by name
    :ivar os: interface whose strings and codes these are: none (raw codes) or perf_event
    :ivar fields: bit-fields of the event select register (glm)
    :ivar offcore: the offcore register by the names of its bits
    """

    pmu: str = field(metadata=said(enum=VALUES))
    values: Mapping[str, int] = field(metadata=said(hex=True, what="value"))
    os: Os = field(metadata=said(enum=("none", "perf_event")))
    fields: Mapping[str, int] = field(metadata=said(hex=True, what="field"))
    offcore: OffcoreValue | None
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]

    def encode(self, candidate: Candidate) -> Encoding:
        """Encode a candidate: its values are those that were decoded."""
        expect_type(candidate, Candidate, "candidate")
        return _pmu(candidate.string.partition("::")[0]).encode(candidate.request, os=self.os, check="reference")


@cache
def _pmu(name: str) -> Pmu:
    classes: dict[str, Callable[[], Pmu]] = {"glm": Goldmont, "perf": Perf, "perf_raw": RawPerf}
    return classes[name]()


def _selections(event: Event) -> Iterator[str]:
    """An event with one unit mask of each of its groups, or with none."""
    groups: dict[int, list[str]] = {}
    for umask in event.umasks:
        groups.setdefault(umask.group, []).append(umask.name)
    for chosen in product(*groups.values()):
        yield ":".join([event.name, *chosen])


@cache
def _named(pmu: str) -> dict[tuple[int, int], dict[str, tuple[str, tuple[str, ...]]]]:
    """By type and code without modifiers: events, how to ask for them, and their aliases.

    Built from what the encoder returns; the offcore events are not among them: their unit masks are
    in a register of their own.
    """
    found: dict[tuple[int, int], dict[str, tuple[str, tuple[str, ...]]]] = {}
    processor = _pmu(pmu)
    for event in sorted(processor.events, key=lambda e: e.alias_of is not None):
        for text in () if event.is_offcore else _selections(event):
            made = processor.encode(f"{pmu}::{text}", os="perf_event", check="reference")
            attr = made.attr or {}
            events = found.setdefault((attr["type"], attr["config"]), {})
            request, aliases = events.get(made.event, (text, ()))
            events[made.event] = request, aliases if event.alias_of is None else (*aliases, event.name)
    return found


def decode_codes(pmu: str, given: Mapping[str, int]) -> Decoded:
    """Decode values of glm or perf.

    :raises DecodeError: a name is unknown, a value does not fit, or they do not go together
    """
    values = {}
    expect_type(given, Mapping, "registers")
    for text, value in given.items():
        expect_type(text, str, "name of a value")
        name = text.lower()
        if name not in VALUES[pmu]:
            raise DecodeError(f"{pmu} has no value {shown(text)}; it has {', '.join(VALUES[pmu])}")
        if name in values:
            raise DecodeError(f"{name} is given twice")
        values[name] = expect_word(name, value)
    raw = {"code", "offcore"} & set(values)
    of_perf = set(values) - {"code", "offcore"}
    if raw and of_perf:
        raise DecodeError(
            f"{', '.join(sorted(raw))} and {', '.join(sorted(of_perf))}: give raw codes or fields of perf_event")
    if not raw and "config" not in values:
        given_too = f"{', '.join(sorted(of_perf))} without " if of_perf else "neither code nor "
        raise DecodeError(f"{given_too}config: nothing to decode")
    return {"glm": _glm, "perf": _perf}[pmu](values, "perf_event" if of_perf else "none")


def _levels(values: dict[str, int], letters: str) -> list[str]:
    """The privilege levels as modifiers of the perf_event layer."""
    return [f"{letter}={int(not values.get(_LEVELS[letter], 0))}" for letter in letters]


def _tried(pmu: str, requests: Iterator[str], os: Os, wanted: tuple[int, ...],
           aliases: tuple[str, ...] = ()) -> Candidate | None:
    """The first request that gives the values, as a candidate."""
    for request in requests:
        try:
            made = _pmu(pmu).encode(request, os=os, check="reference")
        except Pfm4Error:
            continue
        attr = made.attr or {}
        got = made.codes if os == "none" else (attr["config"], attr.get("config1", 0))
        if got[:len(wanted)] == wanted:
            return Candidate(made.event, aliases, made.string, request)
    return None


# ---- Goldmont ------------------------------------------------------------------------------


def _glm(values: dict[str, int], os: Os) -> Decoded:
    kind = values.get("type", _RAW)
    if kind != _RAW:
        note = f"type {kind} ({TYPES.get(kind, 'of another PMU')}) is no event of the processor; its type is {_RAW}"
        return Decoded("glm", values, os, {}, None, (), (note,))
    code = values.get("code", values.get("config"))
    extra = values.get("offcore", values.get("config1"))
    if code is None:
        alone = offcore_value(_pmu("glm")["OFFCORE_RESPONSE_0"], extra or 0)
        return Decoded("glm", values, os, {}, alone, (), ("without the code it can belong to either offcore event",))
    fields = {name: code >> bit & (1 << width) - 1 for name, bit, width in PERFEVTSEL}
    event = next((e for e in _pmu("glm").events if e.is_offcore and e.code == code & 0xFFFF), None)
    offcore = offcore_value(event, extra) if event is not None and extra is not None else None
    notes = _glm_notes(code, os)
    if event is not None:
        wanted = (code,) if extra is None else (code, extra)
        found = [_tried("glm", offcore_requests(event, offcore, fields, values, os), os, wanted)]
        notes += ["the requests are in the offcore register: give its value too"] if extra is None else []
    else:
        found = [None if extra else _tried("glm", iter([request]), os, (code,), aliases)
                 for request, aliases in _core_requests(fields, values, os)]
        notes += ["an offcore value belongs to codes 0x1b7 and 0x2b7 only"] if extra else []
    candidates = tuple(c for c in found if c is not None)
    if not candidates and not notes:
        notes.append("no event of the library encodes to these values")
    return Decoded("glm", values, os, fields, offcore, candidates, tuple(notes))


def _glm_notes(code: int, os: Os) -> list[str]:
    """Bits that are not what the library writes: then no string gives the code."""
    notes = []
    always = _ALWAYS if os == "none" else 0
    for name, bit, width in PERFEVTSEL:
        value = code >> bit & (1 << width) - 1
        usual = always >> bit & 1
        hidden = os != "none" and name in ("usr", "os")
        if (name in ("pc", "int", "any", "en") and value != usual) or (hidden and value):
            notes.append(f"{name} = {value}: the library writes {usual}")
    if code >> 32:
        notes.append(f"bits above 31: {code >> 32:#x} (the register has 32)")
    return notes


def _modifiers(event: Event, fields: dict[str, int], values: dict[str, int], os: Os) -> str:
    """The modifiers of a code that the event has."""
    levels = [f"k={fields['os']}", f"u={fields['usr']}"] if os == "none" else _levels(values, "uk")
    own = {m.name for m in _pmu("glm").modifiers(event.name, os)}
    rest = [f"{name}={fields[part]}" for name, part in (("e", "edge"), ("i", "inv"), ("c", "cmask")) if name in own]
    return "".join(f":{m}" for m in [*levels, *rest])


def _core_requests(fields: dict[str, int], values: dict[str, int], os: Os) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each event of an event select code a request, with a unit mask by name if there is one."""
    code = fields["umask"] << 8 | fields["event"]
    named = _named("glm").get((_RAW, code), {})
    for event in _pmu("glm").events:
        if event.alias_of is not None or event.is_offcore:
            continue
        aliases: tuple[str, ...] = ()
        if event.name in named:
            text, aliases = named[event.name]
        elif event.code & 0xFF == fields["event"] and not event.code >> 8 & ~fields["umask"]:
            text = f"{event.name}:{fields['umask']:#x}"
        else:
            continue
        yield f"glm::{text}{_modifiers(event, fields, values, os)}", aliases


def offcore_requests(event: Event, value: OffcoreValue | None, fields: dict[str, int], values: dict[str, int],
                      os: Os) -> Iterator[str]:
    """Requests for an offcore event: by names, with what the library adds on its own left out, as a number."""
    tail = _modifiers(event, fields, values, os)
    if value is None:
        yield f"glm::{event.name}{tail}"
    else:
        yield from (f"glm::{':'.join([event.name, *names])}{tail}" for names in offcore_names(event, value))
        yield f"glm::{event.name}:{value.value:#x}{tail}"


def offcore_names(event: Event, value: OffcoreValue) -> Iterator[tuple[str, ...]]:
    latency = tuple(u.name for u in event.umasks if u.group == LATENCY) if value.outstanding else ()
    suppliers = tuple(s for s in value.suppliers if s != "ANY_RESPONSE")
    yield *value.requests, *value.suppliers, *value.snoops, *latency
    yield *value.requests, *suppliers, *value.snoops, *latency
    yield *value.requests, *suppliers, *latency


# ---- events of the kernel --------------------------------------------------------------------


def _perf(values: dict[str, int], os: Os) -> Decoded:
    if os == "none":
        found = [c for kind in TYPES for c in _kernel(kind, values["code"], values, os)]
        return _answer(values, os, found, ["without its type a code can be of any"] if len(found) > 1 else [])
    kind = values.get("type")
    if kind is None:
        raise DecodeError(f"config without type: give type=0 to 5 ({', '.join(TYPES.values())})")
    notes = [_NO_EVENT[kind]] if kind in _NO_EVENT else []
    if kind not in TYPES:
        notes.append(f"type {kind}: of a PMU that the running kernel knows (/sys/bus/event_source/devices/*/type)")
    return _answer(values, os, list(_kernel(kind, values["config"], values, os)), notes)


def _answer(values: dict[str, int], os: Os, found: list[Candidate], notes: list[str]) -> Decoded:
    if not found and not notes:
        notes = ["no event of the library encodes to these values"]
    return Decoded("perf", values, os, {}, None, tuple(found), tuple(notes))


def _kernel(kind: int, config: int, values: dict[str, int], os: Os) -> Iterator[Candidate]:
    """The events of a type and config, each with the levels that it has."""
    if kind == _RAW:
        levels = [] if os == "none" else _levels(values, "ukh")
        made = _tried("perf_raw", iter([":".join([f"perf_raw::r{config:x}", *levels])]), os, (config,))
        if made is not None:
            yield replace(made, event=f"r{config:x}")
        return
    for event, (text, aliases) in _named("perf").get((kind, config), {}).items():
        own = "".join(m.name for m in _pmu("perf").modifiers(event, os) if m.name in _LEVELS)
        request = ":".join([f"perf::{text}", *_levels(values, own)])
        made = _tried("perf", iter([request]), os, (config,), aliases)
        if made is not None:
            yield made
