"""What the scripts of a register page know of its PMU (docs/_static/registers): fields, events, words, as JSON.

All of it is read from what `pypfm.decoding` works with.  The rules are in the scripts; tests/docs compares what they
say with what `pypfm decode` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import register_words
from event_tables import read
from pypfm.decoding import decode
from pypfm.ia64 import models
from pypfm.ia64.decode import meanings
from pypfm.ia64.events import EarMode, table
from pypfm.perf import Goldmont
from pypfm.perf.formats import PERFEVTSEL
from pypfm.perf.offcore import GROUPS
from register_sources import EVENT_SELECT, OFFCORE_REGISTERS, fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.ia64.events import Event, Events
    from pypfm.ia64.models import Field, Model

__all__ = ["data"]

Data = dict[str, Any]
_ALWAYS = 0x500000  # what the encoder of Goldmont sets
# Of the trace buffer; "cache" is of an instruction EAR.
_VARIANTS = ("", "cache", "ds", "ipear", "ipear_ef")
# What the scripts read of a model.
_OF_MODEL = ("counters", "matchers", "iear", "dear", "trace", "irange", "drange", "routing", "ipear", "has_ism",
             "iear_pmds", "dear_pmds", "entries", "trace_index", "extension", "has_raw_matchers", "matcher_bits",
             "tlb_levels", "code_pair", "data_pair", "counter_bits", "field_bits", "reserved_bits", "constants")


def data(pmu: str) -> Data:
    """All that the page of a PMU needs.

    :raises KeyError: there is no such PMU
    """
    return _goldmont() if pmu == "glm" else _ia64(pmu)


# ---- IA-64 -----------------------------------------------------------------------------------


def _ia64(pmu: str) -> Data:
    events, model = table(pmu), models.MODELS[pmu]
    registers, layouts = _layouts(pmu, events)
    if [int(mode) for mode in EarMode] != list(range(len(EarMode))):
        raise ValueError("the modes of an EAR do not count from 0")
    return {
        "pmu": pmu, "library": "pfm3", "registers": registers, "layouts": layouts,
        "model": {name: _plain(getattr(model, name)) for name in _OF_MODEL},
        "events": [[e.name, e.code, 0 if e.is_ear else e.umask, int(bool(e.unit_masks))] for e in events.events],
        "masks": [m.name for e in events.events if e.unit_masks for m in e.unit_masks][:len(_masks(events))],
        "ears": [_ear(pmu, model, e) for e in events.events if e.ear_mode is not None],
        "words": {"levels": meanings.LEVELS, "ism": meanings.ISM, "taken": meanings.TAKEN,
                  "predicted": meanings.PREDICTED, "branches": meanings.BRANCHES,
                  "constraints": meanings.CONSTRAINTS, "modes": [mode.name.lower() for mode in EarMode]},
    }


def _masks(events: Events) -> tuple[str, ...]:
    """The unit masks of a PMU: all events that take any take the same.

    :raises ValueError: they differ
    """
    found = {tuple(m.name for m in e.unit_masks) for e in events.events if e.unit_masks}
    if len(found) > 1:
        raise ValueError("the events have not the same unit masks")
    return found.pop() if found else ()


def _layouts(pmu: str, events: Events) -> tuple[dict[str, dict[str, int]], list[list[list[Any]]]]:
    """Of each register, by variant, which of the layouts it has; and these."""
    debug = (f"{kind}{n}" for kind in models.DEBUG_KINDS for n in range(8))
    names = [*(f"PMC{n}" for n in events.pmcs), *(f"PMD{n}" for n in events.pmds), *debug]
    layouts: list[list[list[Any]]] = []
    registers: dict[str, dict[str, int]] = {}
    for name in names:
        for variant in _VARIANTS:
            found = _described(pmu, name, _fields(pmu, name, variant))
            if not variant or (found and found != layouts[registers[name][""]]):
                if found not in layouts:
                    layouts.append(found)
                registers.setdefault(name, {})[variant] = layouts.index(found)
    return registers, layouts


def _fields(pmu: str, name: str, variant: str) -> tuple[Field, ...]:
    """The fields of a register in a variant; none, where the PMU has not that."""
    model, register = models.MODELS[pmu], models.parse_name(name)
    known = {"cache"} if name == f"PMC{model.iear}" else {"ds"} if model.ipear is None else {"ipear", "ipear_ef"}
    traced = register is not None and register.kind == "PMD" and register.num in (*model.entries, model.extension)
    if variant and (variant not in known or not (traced or "cache" in known)):
        return ()
    try:
        return fields(pmu, name, variant)
    except KeyError:  # Itanium records no prediction details
        return ()


def _described(pmu: str, name: str, layout: tuple[Field, ...]) -> list[list[Any]]:
    """Fields as name, lowest bit, width, and names of the values where they have some."""
    register = models.parse_name(name)
    roles = register_words.role(pmu, register.kind, register.num) if register else ()
    named = ((f, register_words.choices(roles, f.name)) for f in layout)
    return [[f.name, f.bit, f.width, *([words] if words else [])] for f, words in named]


def _ear(pmu: str, model: Model, event: Event) -> list[Any]:
    """The setting of an EAR: register, mode and filter, the words for it, the event; bits to set, and their value."""
    num = model.iear if event.is_iear else model.dear
    name, mode = f"PMC{num}", event.ear_mode or EarMode(0)
    layout = {f.name: f for f in fields(pmu, name, "cache" if event.is_iear and mode == EarMode.CACHE else "")}
    settings = {"umask": event.umask, "mode": mode, "tlb": mode, "ct": int(mode == EarMode.CACHE)}
    bits = [((1 << f.width) - 1 << f.bit, settings[f.name] << f.bit) for f in layout.values() if f.name in settings]
    what = event.description.partition(" -- ")
    return [num, mode, event.umask, what[2] or what[0], event.name,
            hex(sum(mask for mask, _ in bits)), hex(sum(value for _, value in bits))]


def _plain(value: Any) -> Any:
    """A part of a model as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    return list(value) if isinstance(value, range) else value


# ---- Goldmont --------------------------------------------------------------------------------


def _goldmont() -> Data:
    pmu = Goldmont()
    own = {e.name: "".join(m.name for m in pmu.modifiers(e.name, "none")) for e in pmu.events}
    core = [e for e in pmu.events if e.alias_of is None and not e.is_offcore]
    flags = {(row["event"], row["name"]): row["flags"].split("|") for row in read("glm_umasks.csv")}
    offcore = [[e.name, e.code, own[e.name], e.num_groups,
                [[u.name, hex(u.code), u.group, int(bool(u.members)), flags[e.name, u.name]] for u in e.umasks]]
               for e in pmu.events if e.is_offcore]
    layouts = [list(fields("glm", name)) for name in (EVENT_SELECT, *OFFCORE_REGISTERS)]
    return {
        "pmu": "glm", "library": "pfm4", "layouts": layouts,
        "registers": {name: {"": i} for i, name in enumerate((EVENT_SELECT, *OFFCORE_REGISTERS))},
        "events": [[e.name, e.code, own[e.name]] for e in core], "named": list(_named(core)),
        "offcore": offcore, "groups": GROUPS, "fields": PERFEVTSEL,
    }


def _named(core: list[Any]) -> Iterator[list[Any]]:
    """Codes of events with their unit masks: code, event, how it is asked for, other names of it."""
    codes = {e.code | umask << 8: None for e in core for umask in (*(u.code for u in e.umasks), 0)}
    for code in codes:
        for found in decode("glm", {"code": _ALWAYS | code}).candidates:
            text = found.request.partition("::")[2].partition(":k=")[0]
            if not text.partition(":")[2].startswith("0x"):
                yield [code, found.event, text, found.aliases]
