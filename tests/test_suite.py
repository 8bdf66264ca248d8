"""The suite itself: it runs wherever it is started, and says what it leaves out."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import tools
from conftest import TESTS, run

PROBE = """
import re, subprocess, sys
import pytest

def test_signals():
    code = "print([line for line in open('/proc/self/status') if line.startswith(('SigIgn', 'SigBlk'))])"
    assert subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True).stdout == {expected!r}

@pytest.mark.needs("sh", "no-such-program", "pahole-of-old")
def test_tool():
    raise AssertionError
"""
# Python itself ignores SIGPIPE (13) and SIGXFSZ (25).
EXPECTED = "['SigBlk:\\t0000000000000000\\n', 'SigIgn:\\t0000000001001000\\n']\n"


@pytest.mark.slow
@pytest.mark.parametrize("starter", ["", "trap '' HUP INT QUIT TERM CHLD USR1 ALRM TSTP; ",
                                     f"exec {sys.executable} -c 'import os, signal, sys; "
                                     "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); "
                                     "os.execv(sys.argv[1], sys.argv[1:])' "])
def test_programs_get_the_default_actions_of_signals(starter: str, tmp_path: Path) -> None:
    """Under nohup, in the background of a script, from a program that blocks signals."""
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    probe = tmp_path / "test_probe.py"
    probe.write_text(PROBE.format(expected=EXPECTED))
    pytest_command = f"{sys.executable} -m pytest -q -rs -p no:cacheprovider --rootdir {tmp_path} -c {TESTS.parent}/pyproject.toml"
    done = run("sh", "-c", f"{starter} {pytest_command} {probe}", cwd=tmp_path)
    assert "1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert ("no no-such-program on this machine (Debian: no-such-program); "
            "no pahole-of-old on this machine (Debian: pahole-of-old)") in done.stdout


def test_no_test_looks_for_programs_in_a_way_of_its_own() -> None:
    """A missing program skips with its name, by one function."""
    own = re.compile(r"skip(if)?\([^\n]*which\(|which\([^\n]*is None[^\n]*\n *pytest\.skip\(")
    found = [str(p.relative_to(TESTS)) for p in TESTS.rglob("*.py") if p not in (Path(tools.__file__), Path(__file__))
             and own.search(p.read_text(encoding="utf-8"))]
    assert found == []
