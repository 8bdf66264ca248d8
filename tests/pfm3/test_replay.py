"""All recorded answers, through the shared library, as the replay programs do it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import REPLAY, TESTS, VECTORS, run
from native import PFM3, PFM3_MANUAL
from pypfm.config import Library

BY = {
    "pfm3_dispatch.jsonl.bz2": "10000 of 10000 calls answered as recorded",
    "pfm3_dispatch_itanium.jsonl.bz2": "1000 of 1000 calls answered as recorded",
}


def replayed(closing: str, program: Path, library: Library, *args: object) -> None:
    done = run(sys.executable, program, library.path, *args)
    assert done.stdout.strip().splitlines()[-1:] == [closing], done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == 0


@pytest.mark.parametrize(("vectors", "closing"), BY.items(), ids=BY)
def test_recorded_requests(vectors: str, closing: str) -> None:
    replayed(closing, REPLAY / "pfm3_vectors.py", PFM3, VECTORS / vectors)


@pytest.mark.slow
def test_recorded_requests_to_the_form_of_the_manual_pages() -> None:
    """Its structures differ, of the PMUs that have such pages."""
    vectors = "pfm3_dispatch.jsonl.bz2"
    replayed(BY[vectors], TESTS / "pfm3" / "manual_vectors.py", PFM3_MANUAL, VECTORS / vectors)


@pytest.mark.slow
@pytest.mark.parametrize(("pmu", "count"), [("", 2000), ("_itanium", 739)])
def test_what_recorded_requests_print(pmu: str, count: int) -> None:
    replayed(f"{count} of {count} calls print as recorded", REPLAY / "pfm3_verbose.py", PFM3,
             VECTORS / f"pfm3_dispatch{pmu}.jsonl.bz2", REPLAY / f"pfm3_verbose{pmu}.jsonl.bz2")


def test_recorded_calls_of_the_generic_functions() -> None:
    replayed("3334 of 3334 calls answered as recorded", REPLAY / "pfm3_api.py", PFM3, VECTORS / "pfm3_api.jsonl.bz2")


@pytest.mark.parametrize(("pmu", "count"), [("itanium2", 497), ("montecito", 637), ("itanium", 230)])
def test_recorded_events(pmu: str, count: int) -> None:
    """What the functions of a model say of each: codes, counters, unit masks, groups, sets, EARs, qualifiers."""
    replayed(f"{count} of {count} {pmu} events answer as in the table", REPLAY / "pfm3_catalogue.py", PFM3, pmu,
             VECTORS / f"pfm3_{pmu}_events.csv")
