"""The built site (a minimal stand-in)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the HTML pages."""
    out = tmp_path_factory.mktemp("site")
    run = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-n", str(ROOT / "docs"), str(out)], cwd=out,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return out
