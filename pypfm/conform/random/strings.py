"""Random event strings of glm, perf, perf_raw and the PMUs of Itanium: valid, nearly valid and malformed.

The names come from our own library; everything else is written from the grammar.  What would be
undefined in Debian's libpfm 4 (more than 64 attributes, an array that is too small together with a string)
is never made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from pypfm.conform.random.source import mixed_case, mutated
from pypfm.ia64.models import TAGS
from pypfm.ia64.pmu import pmu_of
from pypfm.perf import Goldmont, Modifier, Perf
from pypfm.perf import Pmu as StringPmu
from pypfm.perf.events import OS_LAYERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

__all__ = ["GLM", "IA64", "PERF", "RAW", "SETTINGS", "Pmu", "Setting", "event_string", "good_string", "ia64"]

#: The PMUs of Itanium, and what pypfm.ia64 calls them.
IA64 = dict(sorted(TAGS.items()))
_FEW = 3  # occurrences in a cycle

FORBIDDEN = ", \t\n"
MOST_ENTRIES = 60  # of 64, less the defaults that are added

MODIFIERS = [*"kueickueickueic", "h", "period", "freq", "precise", "excl", "mg", "mh", "cpu", "pinned", "hw_smpl"]
FOREIGN_MODIFIERS = ["t", "m", "ldlat", "intx", "intxcp", "fe_thres"]
IA64_MODIFIERS = [*"kuku", *["thres"] * 9, "all", "all", "period", "freq", "precise", "excl", "mg", "mh", "cpu",
                  "pinned", "h", "hw_smpl", "c", "e", "i"]
INTEGERS = ["c", "thres", "period", "freq", "precise", "cpu"]
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
    """A PMU's events with their unit masks.

    :ivar groups: the group of each unit mask, by event
    :ivar words: modifiers, more or less often
    :ivar usual: events about which there is more to ask than about others
    :ivar limits: values of numeric modifiers around which the answer changes, by event
    """

    name: str
    events: dict[str, list[str]]
    groups: dict[str, dict[str, int]]
    modifiers: Callable[[str, str], list[Modifier]] = field(repr=False)
    words: list[str] = field(default_factory=lambda: MODIFIERS)
    usual: list[str] = field(default_factory=list)
    limits: dict[str, dict[str, int]] = field(default_factory=dict)


def read_pmu(pmu: StringPmu) -> Pmu:
    """Read the events of our own library; an alias has the unit masks of its target."""
    groups = {event.name: {umask.name: umask.group for umask in event.umasks} for event in pmu.events}
    targets = {event.name: (event.alias_of or event.name).split(":")[0] for event in pmu.events}

    @cache
    def modifiers(event: str, os: str) -> list[Modifier]:
        return pmu.modifiers(targets[event], OS_LAYERS[os])

    return Pmu(pmu.name, {event: list(groups[target]) for event, target in targets.items()},
               {event: groups[target] for event, target in targets.items()}, modifiers)


@cache
def ia64(name: str) -> Pmu:
    """Read a PMU of Itanium; its events in libpfm 3 decide which are odd.

    :param name: gen_ia64, ita, ita2 or mont
    """
    events = pmu_of(IA64[name]).events
    odd = [event.name for event in events
           if event.is_ear or event.is_branch or event.unit_masks or event.maxincr > _FEW]
    return replace(read_pmu(StringPmu(name)), words=IA64_MODIFIERS, usual=odd,
                   limits={event.name: {"thres": event.maxincr - 1} for event in events})


def raw_modifiers(_: str, os: str) -> list[Modifier]:
    """Return the modifiers of a perf event; where sampling is set, one more."""
    extra = [Modifier("hw_smpl", True, "")] if os == "perf_event_ext" else []
    return PERF.modifiers("PERF_COUNT_HW_CPU_CYCLES", os) + extra


GLM, PERF = read_pmu(Goldmont()), read_pmu(Perf())
RAW = Pmu("perf_raw", {event: [] for event in RAW_EVENTS}, {event: {} for event in RAW_EVENTS}, raw_modifiers)
GOOD_RAW_EVENTS = ["r0", "r1c4", "r00ff", "r0x1c4", "rDEADbeef", "r53c4"]
GLM.usual = [event for event in GLM.events if event.startswith("OFFCORE")]
RAW.usual = GOOD_RAW_EVENTS


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


def modifier(rng: Random, words: list[str]) -> str:
    name = rng.choice(words if rng.random() < 0.97 else FOREIGN_MODIFIERS)
    written, choice = mixed_case(rng, name), rng.random()
    if choice < 0.06:
        return f"{written}={rng.choice(ODD_VALUES)}"
    if choice < 0.16:
        return f"{written}={rng.choice(NUMBERS)}"
    if name in INTEGERS and choice < 0.97:
        return f"{written}={rng.choice(GOOD_NUMBERS)}"
    return written if choice < 0.5 else f"{written}={rng.choice(BOOLS)}"


def repeated(rng: Random, token: str) -> str:
    """Return the same token, or its modifier with another value."""
    name, has_value, _ = token.partition("=")
    return f"{name}={rng.choice(BOOLS)}" if has_value and rng.random() < 0.5 else token


def attribute(rng: Random, masks: list[str], all_masks: list[str], words: list[str]) -> str:
    choice = rng.random()
    if choice < 0.6 and masks:
        return mixed_case(rng, rng.choice(masks))
    if choice < 0.9:
        return modifier(rng, words)
    if choice < 0.95:
        return rng.choice(RAW_UMASKS)
    if choice < 0.98:
        return rng.choice(all_masks or GARBAGE)
    return rng.choice(GARBAGE)


def entries(tokens: list[str]) -> int:
    """Return at least the number of entries that the tokens make; the library counts modifiers itself."""
    weight = {"STRM_ST": 2, "ANY_PF_DATA_RD": 4, "ANY_RFO": 2, "L2_MISS_SNP_ANY": 4, "MESI": 4}
    return sum(weight.get(token.upper(), 1) for token in tokens)


def attributes(rng: Random, masks: list[str], all_masks: list[str], words: list[str]) -> list[str]:
    """Choose a few attributes; sometimes the same ones many times."""
    many = rng.random()
    tokens: list[str]
    if many < 0.02 and masks:
        few = rng.sample(masks, min(len(masks), rng.randint(1, 3)))
        tokens = [rng.choice(few) for _ in range(rng.randint(3, 62))]
    elif many < 0.03:
        return [rng.choice(["u=1", "k", "e=0", "c=3", "u", "mg", "freq=9"]) for _ in range(rng.randint(3, 80))]
    else:
        count = rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8])
        tokens = [attribute(rng, masks, all_masks, words) for _ in range(count)]
        if tokens and rng.random() < 0.2:
            tokens += [repeated(rng, rng.choice(tokens)) for _ in range(rng.randint(1, 3))]
    while entries(tokens) > MOST_ENTRIES:
        tokens.pop()
    return tokens


def prefix(rng: Random, setting: Setting, pmu: Pmu) -> str:
    choice = rng.random()
    if choice < 0.03:
        return rng.choice(["nope::", "::", "glmx::", "gl::", "perf_::"] if pmu.name not in IA64 else
                          ["nope::", "::", "itan::", "mon::", *(f"{name}::" for name in IA64)])
    if setting.unprefixed and choice < 0.4:
        return "" if choice < 0.38 else f"{pmu.name}:"
    return mixed_case(rng, pmu.name) + "::"


def may_be_sent(setting: Setting, text: str) -> bool:
    """Tell whether Debian's library, with its other PMUs, may be sent a string: unless forced, only with our prefix."""
    name, separator, _ = text.partition("::")
    if any(c in FORBIDDEN for c in text):
        return True
    if not separator:
        return setting.unprefixed
    return name.lower() in {"glm", "perf", "perf_raw", "", "nope", "glmx", "gl", "perf_", "itan", "mon", *IA64}


def random_event(rng: Random, pmu: Pmu) -> str:
    return rng.choice(pmu.usual if pmu.usual and rng.random() < 0.5 else list(pmu.events))


def event_string(rng: Random, setting: Setting) -> str:
    while True:
        pmu = rng.choice(setting.pmus)
        event = random_event(rng, pmu)
        masks = pmu.events.get(event, [])
        all_masks = pmu.events[rng.choice(list(pmu.events))]
        name = mixed_case(rng, event) if pmu is not RAW else event
        text = prefix(rng, setting, pmu) + name
        for token in attributes(rng, masks, all_masks, pmu.words):
            text += rng.choice(":::::.") + token
        if rng.random() < 0.1:
            text = mutated(rng, text)
        if may_be_sent(setting, text):
            return text


def good_umasks(rng: Random, groups: dict[str, int]) -> list[str]:
    """Choose unit masks that often go together: one of a group, or a few of one."""
    if not groups or rng.random() < 0.1:
        return []
    names = list(groups)
    if rng.random() < 0.15:
        return [rng.choice(names) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.1:
        return [f"{rng.getrandbits(rng.choice([4, 8, 8, 8, 9, 33, 38, 38, 39])):#x}"]
    if rng.random() < 0.04:
        return [rng.choice([f"{rng.choice(names)}={rng.choice(BOOLS)}", f"0x1:{rng.choice(names)}", "0x1=1"])]
    if "MESI" in groups and rng.random() < 0.7:
        return rng.sample("ISEM", rng.randint(1, 4))
    wanted = [group for group in sorted(set(groups.values())) if rng.random() < 0.6] or [groups[names[0]]]
    return [rng.choice([name for name in names if groups[name] == group]) for group in wanted]


def good_modifier(rng: Random, modifier: Modifier, limits: dict[str, int]) -> str:
    if modifier.is_switch:
        return modifier.name if rng.random() < 0.3 else f"{modifier.name}={rng.choice(BOOLS)}"
    if rng.random() < 0.02:
        return modifier.name
    most = {"c": 255, "precise": 3, "cpu": (1 << 31) - 2, **limits}.get(modifier.name, 1 << 40)
    value = rng.randint(0, most) if rng.random() < 0.9 else most + 1
    if rng.random() < 0.3 and modifier.name not in limits:
        value = rng.randint(0, 3)
    return f"{modifier.name}={rng.choice([str(value), hex(value), f'0{value:o}'])}"


def good_string(rng: Random, setting: Setting, os: str) -> str:
    """Make a string that a PMU mostly takes: existing names, modifiers of the layer, values in bounds."""
    pmu = rng.choice(setting.pmus)
    event = rng.choice(GOOD_RAW_EVENTS) if pmu is RAW else random_event(rng, pmu)
    raw = rng.getrandbits(rng.randint(1, 64))
    written = f"r{raw:x}" if pmu is RAW and rng.random() < 0.5 else event
    allowed, limits = pmu.modifiers(event, os), pmu.limits.get(event, {})
    chosen = rng.sample(allowed, min(len(allowed), rng.choice([0, 0, 1, 1, 2, 3, 5])))
    tokens = [good_modifier(rng, m, limits) for m in chosen]
    tokens += [mixed_case(rng, mask) for mask in good_umasks(rng, pmu.groups[event])]
    if tokens and rng.random() < 0.1:
        tokens += [repeated(rng, rng.choice(tokens)) for _ in range(rng.randint(1, 3))]
    rng.shuffle(tokens)
    name = "" if setting.unprefixed and rng.random() < 0.3 else mixed_case(rng, pmu.name) + "::"
    text = name + (written if pmu is RAW else mixed_case(rng, written))
    return text + "".join(rng.choice(":::::.") + token for token in tokens)
