"""The differences of a report in groups, so that one cause is read once.

A group is about one function, one field without its indices and one kind of change: one pair of values where a
field has fewer than `FEW` of them, else any. Groups of the same findings are one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from pypfm.conform.model import Difference

if TYPE_CHECKING:
    from pypfm.conform.model import Finding, Report

__all__ = ["FEW", "Change", "Group", "groups"]

#: So many pairs of values of a field are no kinds of change any more.
FEW = 5

#: A field without its indices, and its two values where these tell groups apart.
Change: TypeAlias = "tuple[str, tuple[str, str] | None]"


@dataclass(frozen=True)
class Group:
    """Findings with the same change.

    :ivar count: how many
    :ivar example: the first of them, with the differences of this group alone
    :ivar changes: what they have in common
    """

    count: int
    example: Finding
    changes: tuple[Change, ...]


def groups(report: Report) -> list[Group]:
    """Return the findings that are not suppressed, in groups, the largest first."""
    found = [finding for finding in report.findings if not finding.suppressed]
    pairs: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    for finding in found:
        for d in _differences(finding):
            pairs[finding.kind, finding.function, _field(d)].add((d.expected, d.got))
    members: dict[tuple[str, str, Change], dict[int, Difference]] = defaultdict(dict)
    for number, finding in enumerate(found):
        for d in _differences(finding):
            few = len(pairs[finding.kind, finding.function, _field(d)]) < FEW
            change = _field(d), (d.expected, d.got) if few else None
            members[finding.kind, finding.function, change].setdefault(number, d)
    same: dict[tuple[int, ...], list[tuple[Change, Difference]]] = defaultdict(list)
    for (_, _, change), differences in members.items():
        same[tuple(differences)].append((change, next(iter(differences.values()))))
    made = [Group(len(numbers), replace(found[numbers[0]], differences=tuple(d for _, d in parts)),
                  tuple(change for change, _ in parts)) for numbers, parts in same.items()]
    return sorted(made, key=lambda group: -group.count)


def _differences(finding: Finding) -> tuple[Difference, ...]:
    return finding.differences or (Difference("", "", ""),)


def _field(difference: Difference) -> str:
    return re.sub(r"\[\d+\]", "[]", difference.field)
