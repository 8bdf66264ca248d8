"""Random event strings of glm, perf and perf_raw: valid, nearly valid and malformed.

The names come from the project's own tables; everything else is written from the grammar.  What would be
undefined in Debian's libpfm 4 (more than 64 attributes, an array that is too small together with a string)
is never made.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from random import Random
from typing import Any

from conftest import ROOT

TABLES = ROOT / "csrc" / "tables"
FORBIDDEN = ", \t\n"
MOST_ENTRIES = 60  # of 64, less the defaults that are added
LARGEST_ALIAS = 12  # unit masks that one may stand for, more than any does

MODIFIERS = [*"kueickueickueic", "h", "period", "freq", "precise", "excl", "mg", "mh", "cpu", "pinned", "hw_smpl"]
FOREIGN_MODIFIERS = ["t", "m", "ldlat", "intx", "intxcp", "fe_thres"]
INTEGERS = ["c", "period", "freq", "precise", "cpu"]
GOOD_NUMBERS = ["0", "1", "2", "3", "0x2", "01", "+3"]
BOOLS = ["y", "Y", "t", "T", "1", "n", "N", "f", "F", "0"]
ODD_VALUES = ["", "2", "yes", "true", "10", "-1", "+1", "00", "01", "0x", "0x1", "1=1", "=", "x", "\v1", "\xff", "-0"]
NUMBERS = ["0", "1", "2", "3", "4", "5", "100", "255", "256", "0377", "0400", "08", "0xff", "0x100", "0XfF", "+7",
           "-1", "-18446744073709551615", "5x", "1e3", "2147483646", "2147483647", "2147483648", "4294967297",
           "18446744073709551615", "18446744073709551616", "99999999999999999999999", "\v3", "\f3", "\r3", "0b1",
           "0x1.8", "++1", "- 1", "0x-1"]
RAW_UMASKS = ["0x0", "0x1", "0x3", "0xff", "0x100", "0X7f", "0xFf", "0x", "0xg", "0x1g", "0x00000000001", "0x1=3",
              "0x1=", "0x3fffffffff", "0x4000000000", "0x123456789", "0xffffffffffffffff", "0x1ffffffffffffffff",
              "-0x1", "+0x1", "00x1", "1", "017", "0"]
GARBAGE = ["", "X", "HIT", "=1", "=", "ANY", "k u", "u=1=1", "%s", "\x80", "umask", "glm", "0", "_", "-", "U=Y"]
RAW_EVENTS = ["r0", "r1c4", "r00ff", "r0x1c4", "R1C4", "r", "r1c4z", "rffffffffffffffff", "rfffffffffffffffe",
              "r10000000000000000", "r0x", "rx", "r-1", "r-2", "r+1", "r\v1", "r0000", "rDEADbeef", "r0X1", "r1_",
              "r00000000000000000000000001", "r53c4", "r1 ", "rr1", "0x1c4"]


@dataclass
class Pmu:
    """A PMU's events with their unit masks."""

    name: str
    events: dict[str, list[str]] = field(default_factory=dict)


def read_pmu(name: str) -> Pmu:
    pmu = Pmu(name)
    with (TABLES / f"{name}_events.csv").open() as stream:
        aliases = {row["name"]: row["equiv"] for row in csv.DictReader(stream)}
    masks: dict[str, list[str]] = {event: [] for event in aliases}
    with (TABLES / f"{name}_umasks.csv").open() as stream:
        for row in csv.DictReader(stream):
            masks[row["event"]].append(row["name"])
    for event, target in aliases.items():
        pmu.events[event] = masks[target.split(":")[0] or event]
    return pmu


GLM, PERF = read_pmu("glm"), read_pmu("perf")
RAW = Pmu("perf_raw", {event: [] for event in RAW_EVENTS})
GOOD_RAW_EVENTS = ["r0", "r1c4", "r00ff", "r0x1c4", "rDEADbeef", "r53c4"]
OFFCORE = [event for event in GLM.events if event.startswith("OFFCORE")]


@dataclass(frozen=True)
class Setting:
    """An environment, and what its strings look like."""

    name: str
    env: dict[str, str]
    pmus: tuple[Pmu, ...]
    unprefixed: bool  # a name without PMU meets no other PMU of Debian's library


SETTINGS = [
    Setting("glm", {"LIBPFM_FORCE_PMU": "glm"}, (GLM,), True),
    Setting("glm+inactive", {"LIBPFM_FORCE_PMU": "glm", "LIBPFM_ENCODE_INACTIVE": "1"}, (GLM, GLM, PERF, RAW), True),
    Setting("perf", {"LIBPFM_FORCE_PMU": "perf"}, (PERF,), True),
    Setting("inactive", {"LIBPFM_ENCODE_INACTIVE": "1"}, (GLM, PERF, RAW), False),
    Setting("perf_raw", {"LIBPFM_FORCE_PMU": "perf_raw"}, (RAW,), True),
]


def mixed_case(rng: Random, text: str) -> str:
    choice = rng.random()
    if choice < 0.7:
        return text
    if choice < 0.85:
        return text.lower()
    return "".join(rng.choice((c.lower(), c.upper())) for c in text)


def modifier(rng: Random) -> str:
    name = rng.choice(MODIFIERS if rng.random() < 0.97 else FOREIGN_MODIFIERS)
    written, choice = mixed_case(rng, name), rng.random()
    if choice < 0.06:
        return f"{written}={rng.choice(ODD_VALUES)}"
    if choice < 0.16:
        return f"{written}={rng.choice(NUMBERS)}"
    if name in INTEGERS and choice < 0.97:
        return f"{written}={rng.choice(GOOD_NUMBERS)}"
    return written if choice < 0.5 else f"{written}={rng.choice(BOOLS)}"


def repeated(rng: Random, token: str) -> str:
    """The same token, or its modifier with another value."""
    name, has_value, _ = token.partition("=")
    return f"{name}={rng.choice(BOOLS)}" if has_value and rng.random() < 0.5 else token


def attribute(rng: Random, masks: list[str], all_masks: list[str]) -> str:
    choice = rng.random()
    if choice < 0.6 and masks:
        return mixed_case(rng, rng.choice(masks))
    if choice < 0.9:
        return modifier(rng)
    if choice < 0.95:
        return rng.choice(RAW_UMASKS)
    if choice < 0.98:
        return rng.choice(all_masks or GARBAGE)
    return rng.choice(GARBAGE)


def entries(tokens: list[str]) -> int:
    """No fewer than the entries that the tokens make; modifiers are counted by the library itself."""
    weight = {"STRM_ST": 2, "ANY_PF_DATA_RD": 4, "ANY_RFO": 2, "L2_MISS_SNP_ANY": 4}
    return sum(weight.get(token.upper(), 1) for token in tokens)


def attributes(rng: Random, masks: list[str], all_masks: list[str]) -> list[str]:
    """A few; sometimes the same ones many times."""
    many = rng.random()
    tokens: list[str]
    if many < 0.02 and masks:
        few = rng.sample(masks, min(len(masks), rng.randint(1, 3)))
        tokens = [rng.choice(few) for _ in range(rng.randint(3, 62))]
    elif many < 0.03:
        return [rng.choice(["u=1", "k", "e=0", "c=3", "u", "mg", "freq=9"]) for _ in range(rng.randint(3, 80))]
    else:
        count = rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8])
        tokens = [attribute(rng, masks, all_masks) for _ in range(count)]
        if tokens and rng.random() < 0.2:
            tokens += [repeated(rng, rng.choice(tokens)) for _ in range(rng.randint(1, 3))]
    while entries(tokens) > MOST_ENTRIES:
        tokens.pop()
    return tokens


def prefix(rng: Random, setting: Setting, pmu: Pmu) -> str:
    choice = rng.random()
    if choice < 0.03:
        return rng.choice(["nope::", "::", "glmx::", "gl::", "perf_::"])
    if setting.unprefixed and choice < 0.4:
        return "" if choice < 0.38 else f"{pmu.name}:"
    return mixed_case(rng, pmu.name) + "::"


def mutated(rng: Random, text: str) -> str:
    """The string with one or two characters changed."""
    for _ in range(rng.randint(1, 2)):
        at, new = rng.randint(0, len(text)), rng.choice(":.=, \t\n0x+-;%\x01\x80\xffAu19")
        text = rng.choice([text[:at] + new + text[at:], text[:at] + text[at + 1:], text[:at] + new + text[at + 1:]])
    return text


def may_be_sent(setting: Setting, text: str) -> bool:
    """Debian's library has other PMUs, too: without forcing, the prefix has to be one of ours (or none's)."""
    name, separator, _ = text.partition("::")
    if any(c in FORBIDDEN for c in text):
        return True
    if not separator:
        return setting.unprefixed
    return name.lower() in {"glm", "perf", "perf_raw", "", "nope", "glmx", "gl", "perf_"}


def event_string(rng: Random, setting: Setting) -> str:
    while True:
        pmu = rng.choice(setting.pmus)
        usual = {"glm": OFFCORE, "perf_raw": GOOD_RAW_EVENTS}.get(pmu.name, [])
        event = rng.choice(usual if usual and rng.random() < 0.4 else list(pmu.events))
        masks = pmu.events.get(event, [])
        all_masks = pmu.events[rng.choice(list(pmu.events))]
        name = mixed_case(rng, event) if pmu is not RAW else event
        text = prefix(rng, setting, pmu) + name
        for token in attributes(rng, masks, all_masks):
            text += rng.choice(":::::.") + token
        if rng.random() < 0.1:
            text = mutated(rng, text)
        if may_be_sent(setting, text):
            return text


def options(rng: Random) -> dict[str, Any]:
    """How to call: layer, default levels, sizes, what is preset."""
    chosen: dict[str, Any] = {"os": rng.choice([0, 0, 1, 2, 2]),
                              "plm": rng.choice([0, 1, 8, 9, 9, 9, 16, 24, 25, 31, 6])}
    if rng.random() < 0.02:
        chosen["plm"] = rng.choice([32, -1, 0x29, 1 << 30])
    if rng.random() < 0.1:
        chosen["size"] = rng.choice([0, 1, 31, 32, 33, 39, 40, 41, 48, 64, 128, 4096])
    if rng.random() < 0.05:
        chosen["tail"] = {rng.randint(40, 130): 1}
    if chosen["os"] == 0:
        array(rng, chosen)
    elif rng.random() < 0.5:
        chosen |= {"fill": rng.choice([0, 0, 0xFF, 0x55]), "attr": attr_fields(rng)}
    return chosen


def array(rng: Random, chosen: dict[str, Any]) -> None:
    if rng.random() < 0.2:
        chosen["room"] = rng.choice([1, 1, 2, 3, 8])
        chosen["fstr"] = chosen["room"] >= 2 and rng.random() < 0.5
    elif rng.random() < 0.2:
        chosen["fstr"] = False


def attr_fields(rng: Random) -> dict[str, int]:
    fields = {"size": rng.choice([0, 4, 8, 40, 48, 63, 64, 72, 112, 120, 128, 136, 200])}
    for name in ("config", "config1", "config2", "sample_period", "sample_type"):
        if rng.random() < 0.3:
            fields[name] = rng.choice([0, 1, 1000, rng.getrandbits(63)])
    if rng.random() < 0.5:
        fields["flags"] = rng.choice([0, 1 << rng.randint(0, 63), rng.getrandbits(64), 1 << 10, 3 << 15, 1 << 3])
    return fields
