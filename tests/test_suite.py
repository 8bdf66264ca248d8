"""The suite itself: it runs wherever it is started, and says what it leaves out."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import tools
from conftest import TESTS, run
from fresh import fresh_command
from native import CC

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


@pytest.mark.parametrize(("name", "words", "text"), [
    ("pypfm", ["encode", "-p", "glm", "ICACHE:HIT"], ""), ("pypfm", ["decode", "-p", "itanium2", "-"], "PMC4=0x1228\n"),
    ("pypfm", ["info", "-p", "glm", "ICACH"], ""), ("perfex", ["-e", "99", "true"], ""), ("pmc", ["-c", "page-faults", "sh", "-c", "exit 3"], "")])
def test_a_command_in_a_fork_does_what_it_does(name: str, words: list[str], text: str) -> None:
    path = Path(sys.executable).with_name(name)
    forked, alone = fresh_command(path, *words, text=text), run(path, *words, input=text)
    assert (forked.returncode, re.sub(r"\d+", "", forked.stdout), forked.stderr) == (
        alone.returncode, re.sub(r"\d+", "", alone.stdout), alone.stderr)


def test_no_test_looks_for_programs_in_a_way_of_its_own() -> None:
    """A missing program skips with its name, by one function."""
    own = re.compile(r"skip(if)?\([^\n]*which\(|which\([^\n]*is None[^\n]*\n *pytest\.skip\(")
    found = [str(p.relative_to(TESTS)) for p in TESTS.rglob("*.py") if p not in (Path(tools.__file__), Path(__file__))
             and own.search(p.read_text(encoding="utf-8"))]
    assert found == []


def test_a_compiler_without_the_libraries_of_a_flag_skips_the_test() -> None:
    """clang is there without its sanitizers, gcc without a static C library: what is asked for is tried."""
    assert Path(tools.needs_flags(CC, "-O1")).is_file()
    with pytest.raises(pytest.skip.Exception, match=rf"^{CC} -lno-such-library does not work on this machine: .*no-such-library"):
        tools.needs_flags(CC, "-lno-such-library")
    with pytest.raises(pytest.skip.Exception, match=r"does not work on this machine: status -?\d+$"):  # linked, but it does not run
        tools.needs_flags(CC, "-Wl,-e,0x10")
    with pytest.raises(pytest.skip.Exception, match=r"^no no-such-compiler on this machine"):
        tools.needs_flags("no-such-compiler", "-O1")


def test_what_flags_link_is_tried_first() -> None:
    """Sanitizers and static C libraries are packages of their own; cross compilers bring both libraries."""
    flags = re.compile(r"SANITIZE\b|-fsanitize|(?<!-nostdlib\", )\"-static\"")
    found = [str(p.relative_to(TESTS)) for p in TESTS.rglob("test_*.py") if p != Path(__file__)
             and flags.search(text := p.read_text(encoding="utf-8")) and "needs_flags(" not in text and "from mips_programs" not in text]
    assert found == []
