"""Values of the options of ``pypfm encode`` for the IA-64 PMUs: text to request objects."""

from __future__ import annotations

import re

from pypfm.cli.common import number
from pypfm.errors import shown
from pypfm.ia64 import AddressRange, Ear, EarMode, Etb, EventRequest, IpEar, Ism, OpcodeMatch
from pypfm.levels import parse_plm

__all__ = ["address_range", "btb", "ear", "etb", "event", "ipear", "matcher", "matcher_value", "numbers"]


def numbers(text: str) -> tuple[int, ...]:
    return tuple(number(n) for n in text.split(","))


def _options(words: list[str], allowed: tuple[str, ...]) -> dict[str, str]:
    """KEY=VALUE words; a privilege level after plm= belongs to it."""
    found: dict[str, str] = {}
    last = ""
    for word in words:
        key, equals, value = word.partition("=")
        if not equals and last == "plm" and key != "noqual":
            found["plm"] += f",{word}"
            continue
        if key not in allowed or bool(equals) == (key == "noqual"):
            spelt = ", ".join(k if k == "noqual" else f"{k}=" for k in allowed)
            raise ValueError(f"{shown(word)}: expected {spelt}")
        if key in found:
            raise ValueError(f"{key} is given twice")
        found[key], last = value, key
    return found


def _levels(options: dict[str, str]) -> int:
    return parse_plm(options["plm"]) if "plm" in options else 0


def _ism(options: dict[str, str]) -> int:
    text = options.get("ism", "0")
    names = {i.name.lower(): int(i) for i in Ism}
    if text.lower() in names:
        return names[text.lower()]
    if not text[:1].isdigit():
        raise ValueError(f"ism={text}: expected {', '.join(names)}")
    return number(text)


def event(text: str) -> EventRequest:
    name, *words = text.split(",")
    options = _options(words, ("plm", "thres", "ism", "noqual"))
    return EventRequest(name, plm=_levels(options), threshold=number(options.get("thres", "0")), ism=_ism(options),
                        no_qualcheck="noqual" in options)


def address_range(text: str) -> AddressRange:
    addresses, _, levels = text.partition("@")
    match = re.fullmatch(r"\s*(\w+)\s*([-+])\s*(\w+)\s*", addresses)
    if not match:
        raise ValueError(f"{shown(text)}: expected START-END or START+SIZE")
    start, second = number(match.group(1)), number(match.group(3))
    end = second if match.group(2) == "-" else start + second
    if start >= 1 << 64 or end > 1 << 64:
        raise ValueError(f"{shown(text)}: addresses have 64 bits; END, which is exclusive, may be 2^64")
    return AddressRange(start, end, parse_plm(levels) if levels else 0)


def ear(text: str) -> Ear:
    setting, *words = text.split(",")
    mode, colon, umask = setting.partition(":")
    modes = {m.name.lower(): int(m) for m in EarMode}
    if not colon or mode.lower() not in modes:
        raise ValueError(f"{shown(text)}: expected MODE:UMASK with MODE one of {', '.join(modes)} (data EAR)")
    options = _options(words, ("plm", "ism"))
    return Ear(modes[mode.lower()], number(umask), _levels(options), _ism(options))


def _branch_options(text: str, allowed: tuple[str, ...]) -> dict[str, int]:
    options = _options(text.split(","), allowed)
    return {k: parse_plm(v) if k == "plm" else number(v) for k, v in options.items()}


def btb(text: str) -> dict[str, int]:
    """Return the settings of a branch trace buffer; which of them there are depends on the PMU."""
    return _branch_options(text, ("ds", "tm", "ptm", "ppm", "brt", "tar", "tac", "bac", "plm"))


def etb(text: str) -> Etb:
    return Etb(**_branch_options(text, ("tm", "ptm", "ppm", "brt", "plm")))


def ipear(text: str) -> IpEar:
    delay, *words = text.split(",")
    options = _options(words, ("plm",))
    return IpEar(number(delay), _levels(options))


def matcher_value(text: str) -> OpcodeMatch:
    return OpcodeMatch(value=number(text))


def matcher(text: str) -> OpcodeMatch:
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"{shown(text)}: expected SLOTS:MATCH:MASK, such as m,i:0x1000:0xff")
    slots = [s.strip().lower() for s in parts[0].split(",") if s.strip()]
    if unknown := set(slots) - set("mifb"):
        raise ValueError(f"{shown(text)}: slot {sorted(unknown)[0]!r}; slots are m, i, f and b")
    return OpcodeMatch(number(parts[1]), number(parts[2]), **{s: int(s in slots) for s in "mifb"})
