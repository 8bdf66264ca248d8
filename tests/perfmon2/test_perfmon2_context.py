"""pypfm.ia64.Context: the cases of context_*.py, each in a process of its own."""

from __future__ import annotations

import pytest

import context_counting
import context_life
import context_samples
from perfmon2_cases import cases, run_case


@pytest.mark.parametrize("name", cases(context_counting))
def test_counting(name: str) -> None:
    run_case(context_counting, name)


@pytest.mark.parametrize("name", cases(context_samples))
@pytest.mark.slow
def test_samples_and_messages(name: str) -> None:
    run_case(context_samples, name)


@pytest.mark.parametrize("name", cases(context_life))
@pytest.mark.slow
def test_life(name: str) -> None:
    run_case(context_life, name)
