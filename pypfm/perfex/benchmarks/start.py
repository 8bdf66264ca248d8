"""Begins pytest in a session: start.py PLAN, which is a file that `plan.Plan.write` has made.

It is run as a program and imports nothing of pypfm: pytest wants to be the first that loads a package with a plugin.
"""

from __future__ import annotations

import json
import os
import sys

__all__ = ["main"]


def main(path: str) -> int:
    """Run pytest; its exit status.

    :param path: of the plan
    """
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        plan = json.load(stream)
    if sys.path[0] == os.path.dirname(__file__):
        del sys.path[0]
    if plan["with_directory"]:
        sys.path.insert(0, os.getcwd())
    sys.argv[:] = [plan["program"], *plan["args"]]
    import pytest
    return int(pytest.main([*plan["args"]]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
