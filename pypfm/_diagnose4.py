"""Why an event string of libpfm 4 was refused: the token at fault and what is allowed.

The C library answers with a code alone.  Instead of stating its rules a second
time, the string is tried again: token by token, and with one token left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pypfm._mirror import string
from pypfm._pfm4 import lib
from pypfm.errors import Pfm4Error, shown, unknown_event

if TYPE_CHECKING:
    from pypfm.goldmont import Event4, Pfm4Pmu

__all__ = ["error", "error_name", "split"]


def error_name(code: int) -> str:
    return string(lib.pfm4_error_name(code))


def split(text: str) -> list[str]:
    """The event name and the attribute tokens of a string without PMU name."""
    return re.split(r"[:.]", text)


def _first_bad(pmu: Pfm4Pmu, tokens: list[str], os: int) -> str | None:
    """The token with which parsing starts to fail."""
    for n in range(2, len(tokens) + 1):
        if pmu._parse(":".join(tokens[:n]), os):
            return tokens[n - 1]
    return None


def _culprits(pmu: Pfm4Pmu, tokens: list[str], os: int, plm: int, code: int) -> list[str]:
    """Tokens without which the string would encode, or at least fail in another way."""
    answers = {i: pmu._try(":".join(tokens[:i] + tokens[i + 1:]), os, plm) for i in range(1, len(tokens))}
    return ([tokens[i] for i, answer in answers.items() if answer == 0]
            or [tokens[i] for i, answer in answers.items() if answer != code])


def _allowed(event: Event4, pmu: Pfm4Pmu, os: int) -> str:
    umasks = ", ".join(u.name for u in event.umasks) or "none"
    modifiers = ", ".join(m.name for m in pmu.modifiers(event.name, os)) or "none"
    return f"unit masks: {umasks}; modifiers: {modifiers}"


def error(pmu: Pfm4Pmu, text: str, os: int, plm: int, code: int) -> Pfm4Error:
    """The exception for a return code of the C library."""
    name, meaning = error_name(code), string(lib.pfm_strerror(code))
    prefix, separator, rest = text.partition("::")
    if name == "PFM_ERR_NOTFOUND" and separator and prefix.lower() != pmu.name:
        return Pfm4Error(code, name, prefix, f"PMU {shown(prefix)} is not {pmu.name}")
    tokens = split(rest if separator else text)
    if name == "PFM_ERR_NOTFOUND":
        return Pfm4Error(code, name, tokens[0], unknown_event(pmu.name, tokens[0], [e.name for e in pmu.events]))
    if name == "PFM_ERR_INVAL":
        return Pfm4Error(code, name, text, f"{shown(text)}: one event without commas, blanks, tabs and newlines")
    if name == "PFM_ERR_TOOMANY":
        return Pfm4Error(code, name, text, f"{meaning}: {len(tokens) - 1} attributes;"
                                           f" at most {lib.PFM4_MAX_ENTRIES} can be given")
    event = pmu[tokens[0]]
    bad = _first_bad(pmu, tokens, os)
    parts = [bad] if bad is not None else _culprits(pmu, tokens, os, plm, code)
    where = f" ({' / '.join(shown(p) for p in dict.fromkeys(parts))})" if parts else ""
    rules = {
        "PFM_ERR_ATTR": _allowed(event, pmu, os),
        "PFM_ERR_ATTR_VAL": "c takes 0 to 255, precise 0 to 3, period and freq a number above 0 and not both,"
                            " cpu a number, the other modifiers y or n",
        "PFM_ERR_ATTR_SET": "a modifier can have one value",
        "PFM_ERR_UMASK": f"one unit mask of {', '.join(u.name for u in event.umasks)}"
                         f"{' of each kind' if event.num_groups > 1 else ''}",
        "PFM_ERR_FEATCOMB": "ANY_REQUEST and ANY_RESPONSE stand for all of their kind, ANY_RESPONSE excludes snoops,"
                            " OUTSTANDING goes with requests only" if event.is_offcore
                            else "only one unit mask can be given",
    }
    return Pfm4Error(code, name, parts[0] if parts else text,
                     f"{event.name}: {meaning}{where}: {rules.get(name, 'not possible')}")
