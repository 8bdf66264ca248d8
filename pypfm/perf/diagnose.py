"""Reasons why an event string of libpfm 4 was refused: the token at fault, and what is allowed.

The C library returns a code alone.  Instead of stating its rules a second
time, the string is tried again: token by token, and with one token left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm._c.convert import string
from pypfm._c.pfm4 import lib
from pypfm.errors import Pfm4Error, Pfm4EventNotFoundError, listed, nearest, shown
from pypfm.perf.events import error_name
from pypfm.perf.formats import format_of
from pypfm.perf.strings import not_found, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypfm.perf.events import Event
    from pypfm.perf.formats import format_of
from pypfm.perf.strings import Events

__all__ = ["error", "error_name", "not_found", "split"]


def _first_bad(pmu: Events, tokens: list[str], os: int) -> str | None:
    """Return the token with which parsing starts to fail."""
    for n in range(2, len(tokens) + 1):
        if pmu.parse(":".join(tokens[:n]), os):
            return tokens[n - 1]
    return None


def _culprits(pmu: Events, tokens: list[str], os: int, plm: int, code: int) -> list[str]:
    """Return tokens without which the string would encode, or at least fail in another way."""
    codes = {i: pmu._tried(":".join(tokens[:i] + tokens[i + 1:]), os, plm) for i in range(1, len(tokens))}
    return ([tokens[i] for i, got in codes.items() if got == 0]
            or [tokens[i] for i, got in codes.items() if got != code])


_MANY = 8  # unit masks that a line has no room for


def _allowed(event: Event, pmu: Events, os: int, token: str) -> str:
    names = [u.name for u in event.umasks]
    modifiers = ", ".join(m.name for m in pmu.modifiers(event.name, os)) or "none"
    if len(names) <= _MANY:
        return f"unit masks: {', '.join(names) or 'none'}; modifiers: {modifiers}"
    return (f"it has {len(names)} unit masks (pypfm info -p {pmu.name} {event.name})"
            f"{nearest(token.upper(), names)}; modifiers: {modifiers}")


# What a modifier takes; the others y or n.
_VALUES = {"c": "0 to 255", "precise": "0 to 3", "period": "a number above 0", "freq": "a number above 0",
           "cpu": "the number of a processor"}


_THRESHOLDS = range(8)  # what the field of a threshold holds


def _value(pmu: Events, event: Event, tokens: list[str], os: int) -> str:
    if len(tokens) > 1:
        return "only one of them can be given"
    modifier = tokens[0].partition("=")[0] if tokens else "a modifier"
    if modifier.lower() == "thres":  # up to what an event can reach, which C knows
        largest = max(n for n in _THRESHOLDS if not pmu._tried(f"{event.name}:thres={n}", os, 0))
        return f"{modifier} takes 0 to {largest}, as the event happens at most {largest + 1} times in a cycle"
    return f"{modifier} takes {_VALUES.get(modifier.lower(), 'y or n')}"


_MOST_TRIED = 40  # tokens of a string that is tried with one of them left out


def _of_another(pmu: Events, text: str, os: int, plm: int, code: int) -> Pfm4Error:
    """Return the exception for a return code of another library, whose rules are not known here."""
    name, meaning = error_name(code), string(lib.pfm_strerror(code))
    prefix, separator, rest = text.partition("::")
    tokens = split(rest if separator else text)
    if name == "PFM_ERR_NOTFOUND" and separator and prefix.lower() != pmu.name.lower():
        return Pfm4EventNotFoundError(code, name, prefix, f"PMU {shown(prefix)} is not {pmu.name}")
    if tokens[0] not in pmu:
        return not_found(pmu, tokens[0])
    event = pmu[tokens[0]]
    if os != lib.PFM_OS_NONE and pmu._tried(text, lib.PFM_OS_NONE, plm) == 0:
        return Pfm4Error(code, name, event.name, f"{event.name}: the running kernel has no PMU {pmu.name}"
                                                 " (/sys/bus/event_source/devices), so it has no type for perf_event")
    bad = _first_bad(pmu, tokens, os) if len(tokens) <= _MOST_TRIED else None
    parts = [bad] if bad is not None else _culprits(pmu, tokens, os, plm, code) if len(tokens) <= _MOST_TRIED else []
    what = ", ".join(shown(p) for p in dict.fromkeys(parts))
    rule = {
        "PFM_ERR_ATTR": lambda: _allowed(event, pmu, os, parts[0] if parts else ""),
        "PFM_ERR_UMASK": lambda: f"one of {listed(u.name for u in event.umasks)} is needed, or not with these",
    }.get(name, lambda: "")()
    return Pfm4Error(code, name, parts[0] if parts else text,
                     ": ".join(part for part in (event.name, what, meaning, rule) if part))


def _not_driven(pmu: Events, event: Event) -> str:
    """Describe why the kernel's driver does not count an event that has a code."""
    bit = next((bit for name, bit, _ in format_of(pmu.name).fields if name == "umask"), 0)
    umask = event.code >> 8  # of IA-64
    if (cut := umask << bit & pmu._tables.not_in_config):
        return (f"the kernel's driver cuts bit {cut.bit_length() - 1} of the code, which its unit mask {umask:#x}"
                " needs: it would count another event")
    return ("the kernel's driver drives counters alone, and not the registers (EAR, trace buffer) that this event"
            " needs, too")


def error(pmu: Events, text: str, os: int, plm: int, code: int) -> Pfm4Error:
    """Return the exception for a return code of the C library."""
    return (_of_ours if pmu.library is None else _of_another)(pmu, text, os, plm, code)


def _of_ours(pmu: Events, text: str, os: int, plm: int, code: int) -> Pfm4Error:
    """Return the exception for a return code of our library, whose rules are known."""
    name, meaning = error_name(code), string(lib.pfm_strerror(code))
    prefix, separator, rest = text.partition("::")
    if name == "PFM_ERR_NOTFOUND" and separator and prefix.lower() != pmu.name:
        return Pfm4EventNotFoundError(code, name, prefix, f"PMU {shown(prefix)} is not {pmu.name}")
    tokens = split(rest if separator else text)
    if name == "PFM_ERR_INVAL":
        return Pfm4Error(code, name, text,
                              f"{shown(text)}: expected one event, without commas, blanks, tabs and newlines")
    if name == "PFM_ERR_TOOMANY":
        return Pfm4Error(code, name, text, f"{meaning}: {len(tokens) - 1} attributes;"
                                           f" at most {lib.PFM4_MAX_ENTRIES} can be given")
    event = pmu[tokens[0]]  # which raises the error of PFM_ERR_NOTFOUND
    if name == "PFM_ERR_NOTSUPP" and os != lib.PFM_OS_NONE:
        return Pfm4Error(code, name, event.name, f"{event.name}: {_not_driven(pmu, event)}")
    bad = _first_bad(pmu, tokens, os)
    parts = [bad] if bad is not None else _culprits(pmu, tokens, os, plm, code)
    rules: dict[str, Callable[[], str]] = {
        "PFM_ERR_ATTR": lambda: _allowed(event, pmu, os, parts[0] if parts else ""),
        "PFM_ERR_ATTR_VAL": lambda: _value(pmu, event, parts, os),
        "PFM_ERR_ATTR_SET": lambda: "a modifier can have one value",
        "PFM_ERR_UMASK": lambda: f"one unit mask of {', '.join(u.name for u in event.umasks)}"
                                 f"{' of each kind' if event.num_groups > 1 else ''}" if event.umasks
                                 else f"it is another name of {event.alias_of}, and takes no other unit mask",
        "PFM_ERR_FEATCOMB": lambda: "ANY_REQUEST and ANY_RESPONSE stand for all of their kind; ANY_RESPONSE takes"
                                    " no snoops, OUTSTANDING no response" if event.is_offcore
                                    else "only one unit mask can be given",
    }
    what = ", ".join(shown(p) for p in dict.fromkeys(parts)) or meaning
    if name == "PFM_ERR_ATTR":
        what = f"no unit mask or modifier {what}"
    rule = rules.get(name, lambda: f"{meaning}: not possible")()
    return Pfm4Error(code, name, parts[0] if parts else text, f"{event.name}: {what}: {rule}")
