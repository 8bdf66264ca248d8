"""All recorded answers of libpfm 4.13.0, through the shared library, as the replay programs do it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import REPLAY, VECTORS, run
from pypfm.config import LIBRARIES

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")

pytestmark = pytest.mark.skipif(not PARANOID.exists(), reason=f"no {PARANOID}: the answers were recorded with it")


@pytest.mark.parametrize(("program", "vectors", "closing"), [
    ("pfm4_vectors.py", "pfm4_encode.jsonl.bz2", "4000 of 4000 encodings as recorded"),
    ("pfm4_vectors.py", "pfm4_raw.jsonl.bz2", "400 of 400 encodings as recorded"),
    ("pfm4_info.py", "pfm4_info.jsonl.bz2", "459 of 459 answers as recorded"),
])
def test_recorded_answers(program: str, vectors: str, closing: str) -> None:
    done = run(sys.executable, REPLAY / program, LIBRARIES["pfm4"].path, VECTORS / vectors)
    assert done.stdout.strip().splitlines()[-1:] == [closing], done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == 0
