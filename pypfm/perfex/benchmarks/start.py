"""Begins pytest in a session: python -m pypfm.perfex.benchmarks.start, with `plan.DIRECTORY` in the environment.

The command line and the environment of all sessions are as long as each other; the arguments of pytest are in a file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pypfm.perfex.benchmarks.plan import DIRECTORY, Plan


def main() -> int:
    """Run pytest; its exit status."""
    import pytest
    plan = Plan.read(Path(os.environ[DIRECTORY]))
    if not plan.with_directory and sys.path[0] == os.getcwd():
        del sys.path[0]
    sys.argv[:] = [plan.program, *plan.args]
    return int(pytest.main([*plan.args]))


if __name__ == "__main__":
    sys.exit(main())
