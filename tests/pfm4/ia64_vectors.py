#!/usr/bin/env python3
"""Calls of libpfm 4's PMUs of Itanium - gen_ia64, ita, ita2, mont - with the answers that they have to give.

    tests/pfm4/ia64_vectors.py [DIRECTORY]

Writes pfm4_ia64_encode.jsonl.bz2 and pfm4_ia64_info.jsonl.bz2, into pypfm/vectors if no directory is named; with the
same libpfm 3 the same bytes.  No libpfm 4 is asked, neither ours nor another, for none but ours has these PMUs.
What is expected comes from

* libpfm 3, in a process for each PMU: names, codes, unit masks, kinds, largest increments, and what
  pfm_dispatch_events() writes for each event alone, with each threshold, set of unit masks and level;
* the recorded answers for glm: what the operating system's attributes are, in which order, and the members
  that have nothing to do with the PMU;
* the constants below: what Linux's driver takes of a code, the PMUs themselves, and the attributes that are neither
  libpfm 3's nor glm's.
"""

from __future__ import annotations

import bz2
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conftest import VECTORS
from fresh import fresh_python

Vector = dict[str, Any]
LAYERS = ("none", "perf_event", "perf_event_ext")
NOT_FOUND, ATTR, ATTR_VAL, NOT_SUPPORTED = -4, -8, -9, -1  # PFM_ERR_*
K, U = 1, 8  # PFM_PLM0, PFM_PLM3
LETTERS = "ISEM"
EVENT_SHIFT = 21
EVENT_AND_UMASK = 0xFFF00  # of a code


class Facts(NamedTuple):
    """A PMU.

    :ivar number: its pfm_pmu_t
    :ivar libpfm3: its number there
    :ivar counters: how many
    :ivar mask: the bits of a code that the driver takes as config
    :ivar cpuid3: a register by which it is detected, if there is one
    """

    number: int
    libpfm3: int
    counters: int
    mask: int
    cpuid3: str | None


PMUS = {
    "gen_ia64": Facts(1, 1, 4, 0x0000FF00, None),
    "ita": Facts(2, 2, 4, 0x0077FF00, "0x07000604"),
    "ita2": Facts(3, 3, 4, 0x007FFF00, "0x1f010504"),
    "mont": Facts(4, 4, 12, 0x7C7FFF00, "0x20000504"),
}
#: Numbers of the PMUs' own modifiers, which follow glm's (k 0, u 1 ... c 4), and their pfm_attr_t types.
OWN = {"thres": (5, 3), "all": (6, 2)}

# What libpfm 3 knows of its PMU's events, and what it dispatches for each of them alone.
_LIBPFM3 = """
import itertools
from pypfm import pfm3
from pypfm.pfm3 import *
assert pfm_initialize() == 0
pmu, count, value, name = sys.argv[1], c_uint(), c_uint(), create_string_buffer(64)
pfm_get_num_events(count)

def kind(i):
    if pmu == "gen_ia64":
        return ""
    tests = ["is_ear"] + (["is_btb"] if pmu != "mont" else ["is_etb"])
    return "".join(t for t in tests if getattr(pfm3, f"pfm_{pmu}_{t}")(i))

def largest(i):
    if pmu == "gen_ia64":
        return 1
    getattr(pfm3, f"pfm_{pmu}_get_event_maxincr")(i, value)
    return value.value

def masks(i):
    pfm_get_num_event_masks(i, value)
    found = []
    for n in range(value.value):
        pfm_get_event_mask_name(i, n, name, 64)
        pfm_get_event_mask_code(i, n, value)
        found.append([name.value.decode(), value.value])
    return found

def dispatched(i, plm, threshold, states):
    inp, outp, mine = pfmlib_input_param_t(), pfmlib_output_param_t(), None
    inp.pfp_event_count, inp.pfp_dfl_plm = 1, plm
    inp.pfp_events[0].event = i
    inp.pfp_events[0].num_masks = len(states)
    for n, state in enumerate(states):
        inp.pfp_events[0].unit_masks[n] = state
    if threshold:
        mine = getattr(pfm3, f"pfmlib_{pmu}_input_param_t")()
        getattr(mine, f"pfp_{pmu}_counters")[0].thres = threshold
    ret = pfm_dispatch_events(inp, mine, outp, None)
    assert ret == 0, (i, plm, threshold, states, pfm_strerror(ret))
    first = min(outp.pfp_pmcs[0:outp.pfp_pmc_count], key=lambda r: r.reg_num not in range(4, 16))
    return first.reg_value

for i in range(count.value):
    pfm_get_event_name(i, name, 64)
    text, code, own = name.value.decode(), c_int(), masks(i)
    pfm_get_event_code(i, code)
    sets = [()] if not own else [s for n in range(1, 5) for s in itertools.combinations(range(4), n)]
    print(json.dumps([text, code.value, kind(i), largest(i), own, pmu == "mont" and pfm_mont_support_all(i),
          [[plm, t, states, dispatched(i, plm, t, states)]
           for plm in (1, 8, 9) for t in range(largest(i)) for states in sets]]))
"""


class Event(NamedTuple):
    """An event, as libpfm 3 has it.

    :ivar kind: "", or which other register it needs
    :ivar largest: its largest increment
    :ivar masks: names of its unit masks, and their codes: numbers of bits
    :ivar has_all: whether it may be counted in both threads
    :ivar values: what is dispatched: levels, threshold, numbers of unit masks, value of the counter's PMC
    """

    index: int
    name: str
    code: int
    kind: str
    largest: int
    masks: list[tuple[str, int]]
    has_all: bool
    values: list[tuple[int, int, list[int], int]]


@cache
def events(pmu: str) -> list[Event]:
    """The events of a PMU: libpfm 3's answers."""
    done = fresh_python("import json, sys\n" + _LIBPFM3, pmu, LIBPFM_FORCE_PMU=str(PMUS[pmu].libpfm3))
    assert done.returncode == 0, done.stderr[-3000:]
    return [Event(index, *json.loads(line)) for index, line in enumerate(done.stdout.splitlines())]


def read(name: str) -> list[Vector]:
    """The lines of a file of recorded answers."""
    return [json.loads(line) for line in bz2.decompress((VECTORS / name).read_bytes()).splitlines()]


# ---- what glm's answers say of every PMU ---------------------------------------------------------

@cache
def plain_glm() -> list[Vector]:
    """Encodings of glm for perf_event in which nothing is preset and no modifier is named."""
    rows = [row for row in read("pfm4_encode.jsonl.bz2") if row["os"] != "none" and not {"attr", "size"} & row.keys()]
    return [row for row in rows if row["expect"].get("fstr", "").startswith("glm::") and "=" not in row["event"]
            and not set(re.split("[:.]", row["event"].lower())) & {"u", "k", "h", "excl", "mg", "mh", "pinned", "precise"}]


@cache
def shown(os: str) -> list[str]:
    """Those of the operating system's modifiers that the string shows, with their defaults; levels as {u} and {k}."""
    found = {tuple(row["expect"]["fstr"].partition(":c=0:")[2].split(":")) for row in plain_glm()
             if row["os"] == os and row["dfl_plm"] & (K | U) == K | U and "precise" not in row["expect"]["fstr"]}
    (parts,) = found - {("",)}
    return [{"u=1": "u={u}", "k=1": "k={k}"}.get(part, part) for part in parts]


@cache
def members(levels: int) -> Vector:
    """The members of perf_event_attr and of the argument that levels decide, or nothing does."""
    keys = ("config2", "sample_period", "flags", "cpu", "open_flags")
    found = {tuple(row["expect"][key] for key in keys) for row in plain_glm() if row["dfl_plm"] & (K | U) == levels}
    (values,) = found
    return dict(zip(keys, values, strict=True))


@cache
def glm_row(os: str) -> Vector:
    """What is recorded of an event of glm that takes no precise."""
    rows = [row for row in read("pfm4_info.jsonl.bz2") if row.get("os") == os and row["event"] >> EVENT_SHIFT == 202]
    return next(row for row in rows if not row["info"]["flags"])


@cache
def glm_pmu() -> Vector:
    return next(row for row in read("pfm4_info.jsonl.bz2") if row.get("pmu") == 202)


# ---- encodings ----------------------------------------------------------------------------------

class Call(NamedTuple):
    """An event with attributes.

    :ivar levels: that it names, or 0: those of the caller
    """

    event: Event
    os: str = "none"
    dfl_plm: int = K | U
    levels: int = 0
    threshold: int | None = None
    states: tuple[int, ...] = ()
    spelled: str | None = None  # the unit masks as they are written, if not by their letters


def text(call: Call) -> str:
    """The event with its attributes, as a string without PMU."""
    masks = call.spelled if call.spelled is not None else "".join(f":{LETTERS[n]}" for n in call.states)
    levels = {0: "", K: ":k", U: ":u", K | U: ":u:k"}[call.levels]
    threshold = "" if call.threshold is None else f":thres={call.threshold}"
    return call.event.name + (threshold + levels + masks if call.event.index % 2 else masks + levels + threshold)


def value(call: Call) -> int:
    """The PMC's value; without any level what values for two different ones have in common."""
    levels = (call.levels or call.dfl_plm) & (K | U)
    states = list(call.states or (range(4) if call.event.masks else ()))
    known = {plm: code for plm, threshold, masks, code in call.event.values
             if threshold == (call.threshold or 0) and masks == states}
    return known[levels] if levels else known[K] & known[U]


def expected(pmu: str, call: Call) -> Vector:
    """The answer to a call in which every attribute is one that the event has."""
    event, code, mask = call.event, value(call), PMUS[pmu].mask
    levels = (call.levels or call.dfl_plm) & (K | U)
    names = [LETTERS[n] for n in call.states or (range(4) if event.masks else ())]
    own = [f"thres={call.threshold or 0}"] if event.largest > 1 else []
    own += ["all=0"] if event.has_all else []
    kernel, user = f"{int(levels & K > 0)}", f"{int(levels & U > 0)}"
    index = PMUS[pmu].number << EVENT_SHIFT | event.index
    if call.os == "none":
        parts = [event.name, *names, f"k={kernel}", f"u={user}", *own]
        return {"ret": 0, "idx": index, "codes": [hex(code)], "fstr": f"{pmu}::{':'.join(parts)}"}
    if event.kind or code & EVENT_AND_UMASK & ~mask:
        return {"ret": NOT_SUPPORTED}
    parts = [event.name, *names, *own, *(part.format(u=user, k=kernel) for part in shown(call.os))]
    return {"ret": 0, "idx": index, "type": 4, "config": hex(code & mask), "config1": "0x0", **members(levels),
            "fstr": f"{pmu}::{':'.join(parts)}"}


def right_calls(event: Event) -> Iterator[Call]:
    """Every threshold and every set of unit masks, with levels that change; each event for perf, too."""
    plms, sets = (K, U, K | U), sorted({tuple(states) for _, _, states, _ in event.values}, key=lambda s: (len(s), s))
    layers = LAYERS[1:] if event.index % 2 else LAYERS[:0:-1]
    for threshold in range(event.largest):
        plm, states = plms[(event.index + threshold) % 3], sets[(3 * event.index + threshold) % len(sets)]
        given = threshold if threshold or (event.index % 3 == 0 and event.largest > 1) else None
        yield Call(event, "none", plm, 0, given, states)
        if threshold in (0, event.largest - 1):
            yield Call(event, layers[threshold % 2], plms[(event.index + threshold + 1) % 3], plm, given, states)
    yield Call(event, layers[1], plms[event.index % 3], 0, None, sets[event.index % len(sets)])
    if event.masks:
        for n, states in enumerate(sets):
            yield Call(event, LAYERS[n % 3], plms[n % 3], plms[n // 3 % 3], None, states)
        for os in LAYERS:
            yield Call(event, os, K | U)
            yield Call(event, os, U, spelled=":MESI")
            yield Call(event, os, K, states=(1, 3), spelled=":M:s:m")
    if event.index % 40 == 0:
        yield from (Call(event, os, plm) for os in LAYERS for plm in (0, 2, 16, 24, 31))


def wrong_calls(event: Event) -> Iterator[tuple[str, str, int]]:
    """Interface, attributes that the event does not take, the error."""
    layer, turn = LAYERS[event.index % 3], event.index % 7
    if event.kind and layer != "none":
        return
    if event.largest > 1:
        yield layer, f":thres={event.largest}", ATTR_VAL
        if turn == 1:
            yield layer, ":u:thres=4294967296", ATTR_VAL
            yield layer, ":thres", ATTR_VAL
    elif turn < 4:
        yield layer, ":thres=0", ATTR
    if not event.has_all and turn == 0:
        yield layer, ":all", ATTR
    if not event.masks and turn == 2:
        yield from ((layer, f":{name}", ATTR) for name in ("M", "MESI"))
    if turn == 3:
        yield layer, ":0x1", ATTR
    if turn in (4, 5):
        yield from (("perf_event_ext", f":{name}", ATTR) for name in ("precise=1", "h", "hw_smpl") if not event.kind)
    if turn == 6:
        yield from ((layer, f":{name}", ATTR) for name in ("period", "c=1", "i=0") if layer != "perf_event_ext")


def written(number: int, pmu: str, name: str) -> tuple[dict[str, str], str]:
    """An environment in which a PMU's event can be encoded, and the event's string there; in any letters."""
    name = name.lower() if number % 11 == 5 else name
    cpuid3 = PMUS[pmu].cpuid3
    if number % 16 == 7 and cpuid3:
        return {"LIBPFM_IA64_CPUID3": cpuid3}, name
    if number % 4 == 3:
        return {"LIBPFM_ENCODE_INACTIVE": "1"}, f"{pmu}::{name}"
    prefix = "" if number % 4 == 1 else f"{pmu.upper() if number % 7 == 2 else pmu}::"
    return {"LIBPFM_FORCE_PMU": pmu}, prefix + name


def encode_vectors(pmu: str) -> Iterator[Vector]:
    """All calls of pfm_get_os_event_encoding() about a PMU."""
    made: list[tuple[str, int, str, Vector]] = []
    for event in events(pmu):
        calls = {(call.os, call.dfl_plm, text(call)): call for call in right_calls(event)}
        made += [(*asked, expected(pmu, call)) for asked, call in calls.items()]
        made += [(os, K | U, event.name + attributes, {"ret": ret}) for os, attributes, ret in wrong_calls(event)]
    made += [(os, K | U, name, {"ret": NOT_FOUND}) for os in LAYERS for name in ("NONE", f"{events(pmu)[0].name}X", "")]
    for number, (os, plm, name, answer) in enumerate(made):
        env, string = written(number, pmu, name)
        row: Vector = {"env": env, "os": os, "dfl_plm": plm, "event": string}
        if os == "none" and number % 3 == 0 and answer["ret"] != ATTR_VAL:  # a name is found whatever the values are
            row["find"] = True
            row["expect"] = {"ret": answer["ret"], "find": answer.get("idx", answer["ret"]), **answer}
        else:
            row["expect"] = answer
        yield row
    for os in LAYERS:  # inactive, and so not there
        yield {"env": {}, "os": os, "dfl_plm": U, "event": f"{pmu}::{events(pmu)[0].name}", "expect": {"ret": NOT_FOUND}}


# ---- information --------------------------------------------------------------------------------

def attributes(event: Event, os: str) -> list[Vector]:
    """The attributes of an event, in their order: unit masks, the PMU's modifiers, the operating system's."""
    common = next(attr for attr in glm_row("none")["attrs"] if attr.get("name") == "k")  # a switch of the PMU
    found = [common | {"name": name, "code": 1 << bit, "type": 1} for name, bit in event.masks]
    if event.masks:
        found.append(common | {"name": "MESI", "equiv": ":".join(LETTERS), "code": 0xF, "type": 1, "flags": 1})
    if os == "none":
        found += [attr for attr in glm_row(os)["attrs"] if attr.get("name") in ("k", "u")]
    own = (["thres"] if event.largest > 1 else []) + (["all"] if event.has_all else [])
    found += [common | {"name": name, "code": OWN[name][0], "type": OWN[name][1]} for name in own]
    found += [attr for attr in glm_row(os)["attrs"] if attr.get("ctrl") == 2]
    return [attr | {"idx": index} for index, attr in enumerate(found)] + [glm_row(os)["attrs"][-1]]


def info_rows() -> Iterator[Vector]:
    """What is said of the PMUs and of their events, in the form and order of pfm4_info.jsonl.bz2."""
    for env in ({}, None):
        for pmu, facts in PMUS.items():
            here = {"LIBPFM_FORCE_PMU": pmu} if env is None else env
            first = facts.number << EVENT_SHIFT
            yield {"env": here} | glm_pmu() | {
                "env": here, "pmu": facts.number, "name": pmu, "nevents": len(events(pmu)), "first_event": first,
                "max_encoding": 1, "num_cntrs": facts.counters, "num_fixed_cntrs": 0, "flags": int(env is None)}
            if env is None:
                for event in events(pmu):
                    yield from (_row(here, pmu, first, event, os) for os in _asked(event))


def _asked(event: Event) -> Iterable[str]:
    """The interfaces for which an event is asked about: its own attributes are the same for both of perf's."""
    return LAYERS if event.masks or event.index % 20 == 0 else ("none", LAYERS[1 + event.index % 2])


def _row(env: dict[str, str], pmu: str, first: int, event: Event, os: str) -> Vector:
    attrs = attributes(event, os)
    info = glm_row(os)["info"] | {"name": event.name, "code": event.code, "pmu": PMUS[pmu].number, "idx": first + event.index,
                                  "nattrs": len(attrs) - 1}
    return {"env": env, "event": first + event.index, "os": os, "info": info, "attrs": attrs}


# ---- files --------------------------------------------------------------------------------------

def files() -> dict[str, list[Vector]]:
    """What the files hold."""
    return {"pfm4_ia64_encode.jsonl.bz2": [row for pmu in PMUS for row in encode_vectors(pmu)],
            "pfm4_ia64_info.jsonl.bz2": list(info_rows())}


if __name__ == "__main__":
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else VECTORS
    for name, rows in files().items():
        lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        (directory / name).write_bytes(bz2.compress(lines.encode("ascii"), 9))
        print(f"{name}: {len(rows)} lines, {(directory / name).stat().st_size} bytes")
