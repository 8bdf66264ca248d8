"""A child that is forked while other threads load modules, read tables and compute comes to its end.

PYPFM_FORKS says how many children are forked; .ci/full asks for more.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from conftest import run_python

PROGRAM = Path(__file__).with_name("forks.py")
FORKS = int(os.environ.get("PYPFM_FORKS", "54"))
QUIET = "ignore::DeprecationWarning"  # from Python 3.12 on, fork() in a process of several threads warns


def test_children_of_a_process_whose_threads_compute_for_the_first_time() -> None:
    done = run_python(PROGRAM.read_text(), FORKS // 6, PYTHONWARNINGS=QUIET)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"forks": FORKS // 6 * 6, "hung": {}}
