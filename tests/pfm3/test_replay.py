"""All recorded answers, through the shared library, as the replay programs do it."""

from __future__ import annotations

import sys

import pytest

from conftest import REPLAY, TESTS, VECTORS, run
from native import PFM3, PFM3_MANUAL
from pypfm.config import Library

# Programs that know structures which differ, by the other form's program.
MANUAL = {"pfm3_vectors.py": "manual_vectors.py", "pfm3_verbose.py": "manual_verbose.py"}


@pytest.mark.slow
@pytest.mark.parametrize("form", [PFM3, PFM3_MANUAL], ids=lambda form: form.name)
@pytest.mark.parametrize(("program", "args", "closing"), [
    ("pfm3_vectors.py", ["pfm3_dispatch.jsonl.bz2"], "10000 of 10000 calls answered as recorded"),
    ("pfm3_vectors.py", ["pfm3_dispatch_itanium.jsonl.bz2"], "1000 of 1000 calls answered as recorded"),
    ("pfm3_verbose.py", ["pfm3_dispatch.jsonl.bz2", "pfm3_verbose.jsonl.bz2"], "2000 of 2000 calls print as recorded"),
    ("pfm3_verbose.py", ["pfm3_dispatch_itanium.jsonl.bz2", "pfm3_verbose_itanium.jsonl.bz2"],
     "739 of 739 calls print as recorded"),
    ("pfm3_api.py", ["pfm3_api.jsonl.bz2"], "3334 of 3334 calls answered as recorded"),
    ("pfm3_catalogue.py", ["itanium2", "pfm3_itanium2_events.csv"],
     "497 of 497 itanium2 events answer as in the table"),
    ("pfm3_catalogue.py", ["montecito", "pfm3_montecito_events.csv"],
     "637 of 637 montecito events answer as in the table"),
    ("pfm3_catalogue.py", ["itanium", "pfm3_itanium_events.csv"],
     "230 of 230 itanium events answer as in the table"),
])
def test_recorded_answers(form: Library, program: str, args: list[str], closing: str) -> None:
    args = [str((REPLAY if a.startswith("pfm3_verbose") else VECTORS) / a) if "." in a else a for a in args]
    path = TESTS / "pfm3" / MANUAL[program] if form is PFM3_MANUAL and program in MANUAL else REPLAY / program
    done = run(sys.executable, path, form.path, *args)
    assert done.stdout.strip().splitlines()[-1:] == [closing], done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == 0
