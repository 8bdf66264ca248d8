"""Differences in groups: by function, field and kind of change, the largest first."""

from __future__ import annotations

import samples
from pypfm.conform.groups import FEW, groups
from pypfm.conform.model import Difference, Finding, Report
from pypfm.conform.report import text


def report(*differences: tuple[Difference, ...]) -> Report:
    return Report("pfm4", samples.LIBRARY, findings=[
        Finding("value", "f", f"f({n})", some) for n, some in enumerate(differences)])


def found(*differences: tuple[Difference, ...]) -> list[tuple[int, str, list[str]]]:
    return [(g.count, g.example.call, [field for field, _ in g.changes]) for g in groups(report(*differences))]


def test_indices_do_not_matter_and_the_largest_group_is_first() -> None:
    one, other = Difference("a[0].b", "1", "2"), Difference("c", "1", "2")
    assert found((other,), (one,), (Difference("a[7].b", "1", "2"),)) == [(2, "f(1)", ["a[].b"]), (1, "f(0)", ["c"])]


def test_values_tell_groups_apart_while_they_are_few() -> None:
    pairs = [(Difference("a", "0", str(n)),) for n in range(FEW)]
    assert len(found(*pairs[:-1])) == FEW - 1
    assert found(*pairs) == [(FEW, "f(0)", ["a"])]


def test_fields_that_always_differ_together_are_one_group() -> None:
    both = (Difference("a", "0", "1"), Difference("b", "1", "0"))
    assert found(both, both) == [(2, "f(0)", ["a", "b"])]
    assert [count for count, _, _ in found(both, both[:1])] == [2, 1]


def test_the_text_has_one_of_each_group_or_everything() -> None:
    many = samples.many(1570)
    short, long = text(many).splitlines(), text(many, everything=True).splitlines()
    assert "value   pfm_function_0, 1,570 times, the first: pfm_function_0(0)" in short
    assert len(short) < 20
    assert len(long) > 1570
    assert short[-1] == long[-1]


def test_what_is_suppressed_is_in_no_group() -> None:
    assert sum(group.count for group in groups(samples.report())) == 3
