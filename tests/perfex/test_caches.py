"""The words of --cache: what cannot be a cache is refused with what can."""

from __future__ import annotations

import re

import pytest

from pypfm.perfex import host
from pypfm.perfex.backends.simulation.machine import machine
from pypfm.perfex.model import PerfexValueError


@pytest.mark.parametrize(("text", "why"), [
    ("", "'' is none"),
    ("hosts", "'hosts' is none"),
    ("host:L4", "'host:L4' is none"),
    ("L3=1m,16,64", "'L3=1m,16,64' is none"),
    ("L1=32k,8", "'L1=32k,8': size, ways and line are given, such as 32k,8,64"),
    ("L1=32k,0,64", "size, ways and line are given"),
    ("L1=32x,8,64", "size, ways and line are given"),
    ("L2=5g,16,64", "'L2=5g,16,64': a cache has at most 4g, and "),
    ("L2=1m,99999,64", "a cache has at most 4g, and "),
    ("L1I=32k,8,48", "'L1I=32k,8,48': a line has 16 to 4096 bytes, a power of two"),
    ("L1D=32k,8,8192", "a line has 16 to 4096 bytes"),
    ("L1D=100,2,32", "L1D: 100 bytes are no multiple of 2 ways of lines of 32"),
    ("L1=32k,8,64:L2=1m,16,32", "a line of L2 has 32 bytes, which is less than one of L1"),
    ("TLB=64", "TLB='64': entries, "),
    ("TLB=0,4k", "TLB='0,4k': entries, "),
    ("TLB=64,5000", "TLB='64,5000': a page has 4k to 1g bytes, a power of two"),
    ("TLB=64,2g", "a page has 4k to 1g bytes"),
])
def test_no_cache(text: str, why: str) -> None:
    with pytest.raises(PerfexValueError, match=f"^--cache: .*{re.escape(why)}.*; r10000, host, "):
        machine(text, "r10000", 1 << 20)


def test_a_machine_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "shapes", dict)
    with pytest.raises(PerfexValueError, match=r"^--cache host: this machine does not say which L1 it has "):
        machine("host", "r10000", 1 << 20)


def test_sizes() -> None:
    made = machine("L1D=96,3,32:L2=3m,3,64:TLB=9,16k", "r12000", 1 << 20)
    assert str(made) == ("L1I 32 KB 2-way, lines of 64, L1D 96 bytes 3-way, lines of 32, L2 3 MB 3-way, lines of 64;"
                         " TLB of 9 entries, pages of 16 KB")
