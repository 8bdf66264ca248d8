"""From the codes of PMUs, and types and configs of perf_event, to canonical event strings.

glm and perf have rules of their own here; of all other PMUs the tables are turned round (`pypfm.perf.inverse`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, SupportsIndex

from pypfm._c.pfm4 import lib
from pypfm.common.arguments import expect_type, expect_word
from pypfm.common.value import HIDDEN, Value, said
from pypfm.errors import DecodeError, Pfm4Error, shown
from pypfm.levels import Plm
from pypfm.perf.encoding import Encoding
from pypfm.perf.events import OS_LAYERS, Event, Os
from pypfm.perf.formats import PERFEVTSEL, format_of
from pypfm.perf.inverse import WIDTH, Inverse, Match, inverse, joined
from pypfm.perf.offcore import LATENCY, OffcoreValue
from pypfm.perf.offcore import decode as offcore_value
from pypfm.perf.pmu import Goldmont, Perf, Pmu, RawPerf

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["TYPES", "VALUES", "Candidate", "Decoded", "code_names", "decode_codes", "values_of"]

_ALWAYS = 1 << 20 | 1 << 22  # interrupt and enable, which the library always sets
_RAW = 4
# Types of perf_event_attr.
TYPES = {0: "hardware", 1: "software", 2: "tracepoint", 3: "cache", _RAW: "raw", 5: "breakpoint"}
_NO_EVENT = {
    2: "a tracepoint: config is its id, which only the running kernel knows (tracing/events/*/*/id)",
    5: "a breakpoint: its address is in bp_addr; it has no event string",
}
_LEVELS = {"u": "exclude_user", "k": "exclude_kernel", "h": "exclude_hv"}
_PLM_NAMES = {"user": lib.PFM_PLM3, "kernel": lib.PFM_PLM0, "hypervisor": lib.PFM_PLMH}
_CODES = ("code", "code1", "code2", "code3")
_CONFIGS = ("config", "config1", "config2")
_FLAGS = ("exclude_user", "exclude_kernel", "exclude_hv")
# Names of the values of a PMU without rules here.
_ANY = (*_CODES, "type", *_CONFIGS, *_FLAGS)
# Names of the values of a PMU.
VALUES = {
    "glm": ("code", "offcore", "type", "config", "config1", "exclude_user", "exclude_kernel", "exclude_hv"),
    "perf": ("code", "type", "config", "config1", "exclude_user", "exclude_kernel", "exclude_hv"),
}


def code_names(pmu: str, os: Os, library: object = None) -> tuple[str, ...]:
    """Return the names of an event's codes, in their order."""
    known = VALUES.get(pmu, _ANY) if library is None else _ANY
    return tuple(name for name in known if name in ((*_CODES, "offcore") if os == "none" else _CONFIGS))


def values_of(encoding: Encoding) -> dict[str, int]:
    """Return the values of an encoding by name: raw codes, or the fields of perf_event_attr."""
    names = code_names(encoding.pmu, "none", encoding.library)
    if encoding.attr is None or (encoding.os == "none" and encoding.pmu != "perf"):
        return dict(zip(names, encoding.codes, strict=False))
    known = VALUES.get(encoding.pmu, _ANY) if encoding.library is None else _ANY
    return {name: value for name, value in encoding.attr.items() if name in known}


class Candidate(Value):
    """An event that the values can mean.

    :ivar event: its name; an alias is not an event of its own
    :ivar aliases: names that stand for the same
    :ivar string: canonical event string, as the library returns it
    :ivar request: what to encode to get the same values: the library does not take all of its own strings
    :ivar plm: with these privilege levels, where no modifier says them; None: they do not matter
    """

    event: str
    aliases: tuple[str, ...]
    string: str
    request: str
    plm: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names of the event."""
        return self.event, *self.aliases

    @property
    def levels(self) -> str:
        """Return the privilege levels in words; empty where they do not matter."""
        if self.plm is None:
            return ""
        return ", ".join(name for name, bit in _PLM_NAMES.items() if self.plm & bit) or "none"


class Decoded(Value):
    """Codes of a PMU of libpfm 4, and the events that they can mean.

    :ivar values: what was given, by name
    :ivar os: interface whose strings and codes these are: none (raw codes) or perf_event
    :ivar fields: bit-fields of the register that the first code is the value of, where they are known
    :ivar offcore: the offcore register of glm by the names of its bits
    :ivar library: the libpfm 4 that knows the PMU; None: ours
    """

    pmu: str
    values: Mapping[str, int] = field(metadata=said(hex=True, what="value"))
    os: Os = field(metadata=said(enum=("none", "perf_event")))
    fields: Mapping[str, int] = field(metadata=said(hex=True, what="field"))
    offcore: OffcoreValue | None
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    library: str | None = field(default=None, metadata=HIDDEN)

    def encode(self, candidate: Candidate) -> Encoding:
        """Encode a candidate, which gives the values that were decoded."""
        expect_type(candidate, Candidate, "candidate")
        pmu = _pmu(candidate.string.partition("::")[0], self.library)
        plm = Plm.PLM3 if candidate.plm is None else candidate.plm
        return pmu.encode(candidate.request, plm=plm, os=self.os, check="reference")


@cache
def _pmu(name: str, library: str | None = None) -> Pmu:
    classes: dict[str, Callable[[], Pmu]] = {"glm": Goldmont, "perf": Perf, "perf_raw": RawPerf}
    return Pmu(name, library=library) if library is not None or name not in classes else classes[name]()


def _selections(event: Event) -> Iterator[str]:
    """Yield an event with one unit mask of each of its groups, or with none."""
    groups: dict[int, list[str]] = {}
    for umask in event.umasks:
        groups.setdefault(umask.group, []).append(umask.name)
    for chosen in product(*groups.values()):
        yield ":".join([event.name, *chosen])


@cache
def _named(pmu: str) -> dict[tuple[int, int], dict[str, tuple[str, tuple[str, ...]]]]:
    """Return by type and code without modifiers the events, how to ask for them, and their aliases.

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


def decode_codes(pmu: str, given: Mapping[str, SupportsIndex], library: str | PathLike[str] | None = None) -> Decoded:
    """Decode values of a PMU of libpfm 4.

    :param library: that knows the PMU; None: ours
    :raises DecodeError: a name is unknown, a value does not fit, or they do not go together
    :raises LibraryError: the library cannot be loaded, or is no libpfm 4
    """
    values = {}
    expect_type(given, Mapping, "registers")
    names = VALUES.get(pmu, _ANY) if library is None else _ANY
    for text, value in given.items():
        expect_type(text, str, "name of a value")
        name = text.lower()
        if name not in names:
            raise DecodeError(f"{pmu} has no value {shown(text)}; it has {', '.join(names)}")
        if name in values:
            raise DecodeError(f"{name} is given twice")
        values[name] = expect_word(name, value)
        if name in _FLAGS and values[name] > 1:
            raise DecodeError(f"{name}={shown(value)}: a flag of perf_event_attr is 0 or 1")
    raw = {*_CODES, "offcore"} & set(values)
    of_perf = set(values) - raw
    if raw and of_perf:
        raise DecodeError(
            f"{', '.join(sorted(raw))} and {', '.join(sorted(of_perf))}: give raw codes or fields of perf_event")
    if not raw and "config" not in values:
        given_too = f"{', '.join(sorted(of_perf))} without " if of_perf else "neither code nor "
        raise DecodeError(f"{given_too}config: nothing to decode")
    os: Os = "perf_event" if of_perf else "none"
    if library is None and pmu in VALUES:
        return {"glm": _glm, "perf": _perf}[pmu](values, os)
    return _any(Pmu(pmu, library=library), values, os)


def _levels(values: dict[str, int], letters: str) -> list[str]:
    """Return the privilege levels as modifiers of the perf_event layer."""
    return [f"{letter}={int(not values.get(_LEVELS[letter], 0))}" for letter in letters]


def _tried(pmu: str, requests: Iterator[str], os: Os, wanted: tuple[int, ...],
           aliases: tuple[str, ...] = ()) -> Candidate | None:
    """Return the first request that gives the values, as a candidate."""
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
    """Return notes on bits that the library never writes: then no string gives the code."""
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
    """Write the modifiers of a code that the event has."""
    levels = [f"k={fields['os']}", f"u={fields['usr']}"] if os == "none" else _levels(values, "uk")
    own = {m.name for m in _pmu("glm").modifiers(event.name, os)}
    rest = [f"{name}={fields[part]}" for name, part in (("e", "edge"), ("i", "inv"), ("c", "cmask")) if name in own]
    return "".join(f":{m}" for m in [*levels, *rest])


def _core_requests(fields: dict[str, int], values: dict[str, int], os: Os) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield for each event of an event select code a request, with a unit mask by name if there is one."""
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
    """Yield requests for an offcore event: by names, without those that the library adds itself; and as a number."""
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
    """Yield the events of a type and config, each with the levels that it has."""
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


# ---- any other PMU -------------------------------------------------------------------------


def _any(pmu: Pmu, values: dict[str, int], os: Os) -> Decoded:
    """Decode codes by the event tables."""
    names: tuple[str, ...] = _CODES if os == "none" else _CONFIGS
    if names[0] not in values:
        raise DecodeError(f"{', '.join(sorted(values))} without {names[0]}: nothing to decode")
    tables = inverse(pmu._tables, OS_LAYERS[os])
    word, given = _word(values, os)
    matches = list(tables.find(word, given))
    notes = []
    if not matches and (several := _first_alone(tables, values, os)):
        known = [name for name in names if name in values]
        notes.append(f"{' and '.join(known)} {'is' if len(known) == 1 else 'are'} also of {', '.join(several)}, with"
                     f" another value of what is not given: {', '.join(n for n in names[1:] if n not in values)}")
    elif not matches:
        notes = _why_nothing(pmu, tables, values, os)
    fields = format_of(pmu.name).read(values[names[0]]) if pmu.library is None else {}
    return Decoded(pmu.name, values, os, fields, None, _candidates(pmu, matches), tuple(notes), pmu.library)


def _word(values: Mapping[str, int], os: Os) -> tuple[int, int]:
    """Return the values as one number, and which of its bits were given: missing ones are 0, but for the type."""
    if os == "none":
        return joined(values.get(name, 0) for name in _CODES), joined([_ALL] * len(_CODES))
    flags = sum(bool(values.get(name, 0)) << bit for bit, name in enumerate(_FLAGS))
    word = joined([*(values.get(name, 0) for name in _CONFIGS), flags, values.get("type", 0)])
    return word, joined([*[_ALL] * len(_CONFIGS), _ALL, _ALL if "type" in values else 0])


_ALL = (1 << WIDTH) - 1


def _first_alone(tables: Inverse, values: Mapping[str, int], os: Os) -> list[str]:
    """Return the events that have the values given, whatever the missing ones are."""
    word, given = _word(values, os)
    names: tuple[str, ...] = _CODES if os == "none" else _CONFIGS
    for place, name in enumerate(names):
        if name not in values:
            given &= ~(_ALL << WIDTH * place)
    return list(dict.fromkeys(match.event for match in tables.find(word, given)))


def _candidates(pmu: Pmu, matches: list[Match]) -> tuple[Candidate, ...]:
    """Return the strings, each once, with the other names of its event."""
    found: dict[str, Candidate] = {}
    for match in matches:
        string = f"{pmu.name}::{match.string}"
        known = found.get(string) or Candidate(match.event, (), string, f"{pmu.name}::{match.request}", match.plm)
        if match.asked != match.event and match.asked not in known.aliases:
            known = replace(known, aliases=(*known.aliases, match.asked))
        found[string] = known
    return tuple(found.values())


def _why_nothing(pmu: Pmu, tables: Inverse, values: dict[str, int], os: Os) -> list[str]:
    """Return notes about values that no string gives."""
    if not len(tables):
        return [f"{pmu.name} has no event here that {'the kernel' if os != 'none' else 'the library'} can count: "
                + ("the type of a PMU outside the cores is known to a kernel that has it; decode its code"
                   if os != "none" else "its list is empty")]
    if os != "none" and values.get("type", _RAW) != _RAW and pmu.library is None:
        return [f"type {values['type']} ({TYPES.get(values['type'], 'of another PMU')}) is no event of the processor;"
                f" its type is {_RAW}"]
    word, given = _word(values, os)
    unknown, missing = (bits & _ALL for bits in tables.beyond(word, given))
    notes = [f"no event sets bits {unknown:#x} of the {'config' if os != 'none' else 'code'}"] if unknown else []
    notes += [f"every event sets bits {missing:#x}, which are 0"] if missing else []
    if os == "none" and set(values) == {"code"}:
        as_config = inverse(pmu._tables, OS_LAYERS["perf_event"]).find(*_word({"config": values["code"]}, "perf_event"))
        if match := next(as_config, None):
            notes.append(f"as config of perf_event it is {pmu.name}::{match.string}")
    return notes or ["no event of the library encodes to these values"]
