"""The rules that the description of every event keeps (CONTRIBUTING.md, "Adding an event")."""

from __future__ import annotations

import csv
import re
from collections import Counter

import pytest

from conftest import ROOT

TABLES = ROOT / "csrc" / "tables"
# Events that share a code with a family but are not members of it.
STAND_ALONE = {"DATA_EAR_ALAT", "DATA_EAR_EVENTS", "L1I_EAR_EVENTS", "ETB_EVENT", "BRANCH_EVENT",
               "ER_REJECT_ALL_L1_REQ", "INSTRUCTION_EAR_EVENTS"}
PMUS = ["itanium2", "montecito", "itanium", "gen_ia64"]
# IA64_INST_RETIRED, where it is an alias: title only, or title, detail and the alias.
ALIAS = {"itanium2": 0, "montecito": 2}


def rows(pmu: str) -> list[dict[str, str]]:
    with (TABLES / f"{pmu}_events.csv").open(newline="") as f:
        return list(csv.DictReader(f))


def words(text: str) -> set[str]:
    return {w.lower() for w in re.findall(r"[A-Za-z0-9]+", text)}


def separators(pmu: str, row: dict[str, str], codes: Counter[str]) -> int:
    """How many " -- " the composition rule asks for."""
    if row["name"] == "IA64_INST_RETIRED" and pmu in ALIAS:
        return ALIAS[pmu]
    if pmu == "gen_ia64":  # its codes are the processor's
        return 0
    member = codes[row["code"]] > 1 or row["umask"] != "0x0" or row["name"].endswith(("_THIS", "_SELECTED_ANY",
                                                                                     "_SHARED_ANY"))
    return int(member and row["name"] not in STAND_ALONE)


@pytest.mark.parametrize("pmu", PMUS)
def test_every_event_has_one_line_of_plain_text(pmu: str) -> None:
    for row in rows(pmu):
        text = row["description"]
        assert 15 <= len(text) <= 300, row["name"]
        assert text.isascii(), row["name"]
        assert text.isprintable(), row["name"]
        assert text == text.strip(), row["name"]
        assert "  " not in text, row["name"]
        assert not text.endswith("."), row["name"]
        assert text[0].isupper() or text[0].isdigit(), row["name"]


@pytest.mark.parametrize(("pmu", "members"), [("itanium2", 413), ("montecito", 555), ("itanium", 164), ("gen_ia64", 0)])
def test_members_of_a_family_have_a_title_and_a_detail(pmu: str, members: int) -> None:
    table = rows(pmu)
    codes = Counter(row["code"] for row in table)
    for row in table:
        assert row["description"].count(" -- ") == separators(pmu, row, codes), row["name"]
        assert "--" not in row["description"].replace(" -- ", ""), row["name"]
    assert sum(" -- " in row["description"] for row in table) == members


@pytest.mark.parametrize("pmu", PMUS)
def test_no_echo_of_the_name(pmu: str) -> None:
    for row in rows(pmu):
        text = row["description"]
        assert not re.search(rf"\b{row['name']}\b", text), row["name"]
        added = {w for w in words(text) - words(row["name"].replace("_", " ")) if len(w) > 2}
        assert len(added) >= 3, f"{row['name']}: {text}"
        for detail in text.split(" -- ")[1:]:
            assert len(re.findall(r"[A-Za-z0-9]+", detail)) >= 2, f"{row['name']}: {detail}"


@pytest.mark.parametrize("pmu", PMUS)
def test_no_two_events_have_the_same_text(pmu: str) -> None:
    texts = Counter(row["description"].lower() for row in rows(pmu))
    assert [text for text, times in texts.items() if times > 1] == []


@pytest.mark.parametrize(("pmu", "alias", "name"), [
    ("itanium2", "IA64_INST_RETIRED", "IA64_INST_RETIRED_THIS"),
    ("montecito", "IA64_INST_RETIRED", "IA64_INST_RETIRED_THIS"),
    ("montecito", "BRANCH_EVENT", "ETB_EVENT"),
])
def test_an_alias_says_of_what(pmu: str, alias: str, name: str) -> None:
    assert any(row["name"] == alias and name in row["description"] for row in rows(pmu))
