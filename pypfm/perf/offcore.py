"""The offcore response events of Goldmont: the meaning of a register value, the latency mode."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from pypfm._c.pfm4 import lib
from pypfm.common.arguments import expect_type
from pypfm.common.value import HEX, Value
from pypfm.errors import Pfm4Error, short

if TYPE_CHECKING:
    from pypfm.perf.events import Event

__all__ = ["GROUPS", "OffcoreValue", "check_request", "decode", "requests_of_pair", "split_pair"]

REQUEST, SUPPLIER, SNOOP, LATENCY = range(4)
#: What the groups of unit masks of offcore events are called.
GROUPS = ("request", "supplier", "snoop", "latency mode")


class OffcoreValue(Value):
    """The value of an offcore response register, by the names of its bits.

    :ivar other: bits that no unit mask names
    """

    value: int = field(metadata=HEX)
    requests: tuple[str, ...]
    suppliers: tuple[str, ...]
    snoops: tuple[str, ...]
    outstanding: bool
    other: int = field(metadata=HEX)

    def rows(self) -> list[tuple[str, str]]:
        """Return in words what the event selects, as rows of subject and value."""
        found = [("requests", " ".join(self.requests) or "none"), ("suppliers", " ".join(self.suppliers) or "none"),
                 ("snoops", " ".join(self.snoops) or "none"), ("latency mode", "yes" if self.outstanding else "no")]
        return found + ([("other bits", hex(self.other))] if self.other else [])


def decode(event: Event, value: int) -> OffcoreValue:
    """Name the bits of a register value; unit masks that stand for others are not used."""
    groups: list[list[str]] = [[], [], [], []]
    rest = value
    for umask in event.umasks:
        if not umask.members and umask.code and umask.code & value == umask.code:
            groups[umask.group].append(umask.name)
            rest &= ~umask.code
    return OffcoreValue(value, tuple(groups[REQUEST]), tuple(groups[SUPPLIER]), tuple(groups[SNOOP]),
                        bool(groups[LATENCY]), rest)


def check_request(event: Event, token: str) -> str:
    """Return the name of a request unit mask in the table's spelling."""
    expect_type(token, str, "request")
    requests = {u.name: u for u in event.umasks if u.group == REQUEST}
    if token.upper() not in requests:
        raise Pfm4Error(lib.PFM_ERR_UMASK, "PFM_ERR_UMASK", token,
            f"average latency: {token[:60]!r} is not a request; requests are {', '.join(requests)}")
    return token.upper()


def split_pair(text: str, pmu: str) -> tuple[list[str], list[str]]:
    """Return the tokens of both events in the manual's notation, the event names included."""
    expect_type(text, str, "average latency")
    halves = text.split("+")
    names = ["OFFCORE_RESPONSE_0", "OFFCORE_RESPONSE_1"]
    tokens = [half.strip().removeprefix(f"{pmu}::").upper().split(":") for half in halves]
    if [t[0] for t in tokens] != names:
        raise Pfm4Error(lib.PFM_ERR_INVAL, "PFM_ERR_INVAL", text,
            "average latency: expected OFFCORE_RESPONSE_0:...:OUTSTANDING+OFFCORE_RESPONSE_1:...:ANY_RESPONSE")
    return tokens[0], tokens[1]


def requests_of_pair(event: Event, first: list[str], second: list[str]) -> list[str]:
    """Return the requests of both events; check that they are the same and that nothing else is there."""
    found = []
    for tokens, mode in ((first, "OUTSTANDING"), (second, "ANY_RESPONSE")):
        if tokens.count(mode) != 1:
            raise Pfm4Error(lib.PFM_ERR_UMASK, "PFM_ERR_UMASK", tokens[0],
                f"average latency: {tokens[0]} needs {mode}, once")
        found.append([check_request(event, t) for t in tokens[1:] if t != mode])
    if set(found[0]) != set(found[1]):
        raise Pfm4Error(lib.PFM_ERR_FEATCOMB, "PFM_ERR_FEATCOMB", ":".join(found[1]),
            f"average latency: the requests differ: {short(':'.join(found[0]))} and {short(':'.join(found[1]))}")
    return list(dict.fromkeys(found[0]))
