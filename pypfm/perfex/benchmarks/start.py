"""Begins pytest in a session, with `plan.DIRECTORY` in the environment.

The command line and the environment of all sessions are as long as each other; the arguments of pytest are in a file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pypfm.perfex.benchmarks.plan import DIRECTORY, Plan

__all__ = ["main"]


def main() -> int:
    """Run pytest; its exit status."""
    import pytest
    plan = Plan.read(Path(os.environ[DIRECTORY]))
    if plan.with_directory:
        sys.path.insert(0, os.getcwd())
    sys.argv[:] = [plan.program, *plan.args]
    return int(pytest.main([*plan.args]))
