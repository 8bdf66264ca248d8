"""The calls of perfmon2 in pypfm.pfm3 and pypfm.pfm3_manual: the cases of mirror_calls.py, each in a process of its own."""

from __future__ import annotations

import pytest

import mirror_calls
from abi_perfmon2 import COMPAT_CALLS, V2_CALLS, V3_CALLS
from conftest import TESTS
from perfmon2_cases import cases, run_case


@pytest.mark.parametrize("name", cases(mirror_calls))
def test_calls(name: str) -> None:
    run_case(mirror_calls, name)


@pytest.mark.parametrize("call", sorted({*V2_CALLS, *V3_CALLS, *COMPAT_CALLS}))
def test_every_call_is_made(call: str) -> None:
    assert f".{call}(" in (TESTS / "perfmon2" / "mirror_calls.py").read_text()
