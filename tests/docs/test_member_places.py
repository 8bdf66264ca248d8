"""Offset, size and type beside each member on the C pages and on the mirrors', in both forms of libpfm 3."""

from __future__ import annotations

import sys

import pytest

from conftest import ROOT
from pypfm import layout
from pypfm.config import LIBRARIES

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from layout_tables import places
from library_headers import Symbol, headers_of

NAMES = [name for name in LIBRARIES if layout.types(name)]


def paths(symbol: Symbol, path: str = "") -> list[str]:
    """The members of a structure, with those inside of them."""
    found = []
    for member in symbol.members:
        found += [path + member.name] if member.name else []
        found += paths(member, f"{path}{member.name}." if member.name else path)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_member_of_the_headers_has_its_place(name: str) -> None:
    """Both ways: no member without a place, no place that no member takes."""
    structures = [s for h in headers_of(name) for s in h.symbols if s.role in ("struct", "union") and places(name, s.name)]
    assert {layout.describe(s.name, name).name for s in structures} == set(layout.types(name))
    for symbol in structures:
        assert set(places(name, symbol.name)) == {"", *paths(symbol)}, symbol.name


def test_what_is_said_of_a_place() -> None:
    found = {path: text.rpartition("\n")[2] for path, text in places("pfm4", "perf_event_attr").items()}
    assert found[""] == "128 bytes, alignment 8"
    assert found["sample_freq"] == "offset 16, 8 bytes, ``uint64_t``"
    assert found["inherit"] == "offset 40, bit 1, ``uint64_t``"
    assert found["precise_ip"] == "offset 40, bits 15 to 16, ``uint64_t``"
    assert places("pfm4", "no_such_type") == {}


def test_both_forms() -> None:
    """Where they differ; each form calls the other by its name."""
    header, manual = (places(name, "pfmlib_ita2_output_param_t") for name in ("pfm3", "pfm3-manual"))
    assert header[""].endswith("704 bytes, alignment 8 \N{MIDDLE DOT} in the manual pages' form: 656 bytes, alignment 8")
    assert manual[""].endswith("656 bytes, alignment 8 \N{MIDDLE DOT} in the headers' form: 704 bytes, alignment 8")
    assert header["reserved"].endswith("offset 656, 48 bytes, ``unsigned long[6]`` \N{MIDDLE DOT} in the manual pages' form: none")
    assert "form" not in header["pfp_ita2_drange"]


@pytest.mark.parametrize("name", NAMES)
def test_enumerations_have_the_constants_of_the_headers(name: str) -> None:
    """All of them, in that order."""
    for symbol in (s for h in headers_of(name) for s in h.symbols if s.role == "enum" and s.name):
        found = layout.declaration(symbol.c_name, name)
        assert isinstance(found, layout.Enumeration)
        assert [constant for constant, _ in found.values] == [member.name for member in symbol.members]
