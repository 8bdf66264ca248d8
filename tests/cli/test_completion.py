"""Completion of command lines: as a shell asks for it, and in real shells."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import clean_env
from tools import needs

BIN = Path(sys.executable).parent
PATH = f"{BIN}:{os.environ['PATH']}"
SHARE = Path(sys.prefix) / "share"


def completions(line: str) -> list[str]:
    """What a shell offers at the end of a line: the program writes it to descriptor 8."""
    env = clean_env(PATH=PATH, COMP_LINE=line, COMP_POINT=str(len(line)), COMP_TYPE="9", _ARGCOMPLETE="1",
                    _ARGCOMPLETE_SHELL="bash", _ARGCOMPLETE_IFS="\n")
    done = subprocess.run(["bash", "-c", f"exec 8>&1 9>/dev/null; {line.split()[0]} 1>/dev/null 2>&1 </dev/null"],
                          stdout=subprocess.PIPE, text=True, env=env, timeout=60)
    return [word.strip() for word in done.stdout.split("\n") if word.strip()]


@pytest.mark.parametrize(("line", "offered"), [
    ("pypfm info -p itanium2 cpu_cyc", ["CPU_CYCLES"]),
    ("pypfm encode -p mo", ["montecito", "montvale", "mont"]),
    ("pypfm find itlb_miss", ["ITLB_MISSES_FETCH_ALL", "ITLB_MISSES_FETCH_L1ITLB", "ITLB_MISSES_FETCH_L2ITLB", "ITLB_MISSES_FETCH"]),
    ("pypfm encode -p itanium2 --code", ["--code-range"]),
    ("pypfm info -p nonsense CPU", []),
    ("pypfm completion ", ["bash", "zsh", "fish"]),
    ("perfex --cpu r12000 -e pref", ["prefetches", "prefetch-misses"]),
    ("perfex --backend v", ["valgrind"]),
    ("perfex -e 0 ls -", []),  # of the command's options perfex knows nothing
    ("perfex -e 0 'ls", []),
    ("pmc -c page-", ["page-faults"]),
])
def test_what_is_offered(line: str, offered: list[str]) -> None:
    assert completions(line) == offered


def test_the_variable_of_another_program_is_no_harm() -> None:
    """A command that is run while a shell completes has the variable, too, and no line."""
    env = clean_env(_ARGCOMPLETE="1")
    done = subprocess.run([BIN / "pypfm", "pmus"], capture_output=True, text=True, env=env, timeout=60)
    assert "Traceback" not in done.stderr


# How a shell that reads no files of the user is started, and told where completions are.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f". {SHARE}/bash-completion/completions/pypfm"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({SHARE}/zsh/site-functions $fpath); autoload -U compinit; compinit -u -D"),
}


class Terminal:
    """A shell on a terminal."""

    def __init__(self, words: list[str], home: Path) -> None:
        self.ours, theirs = pty.openpty()
        env = clean_env(PATH=PATH, HOME=str(home), TERM="vt100", PS1="$ ")
        self.process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
        os.close(theirs)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def wait_for(self, pattern: str, seconds: float = 30) -> bool:
        end = time.monotonic() + seconds
        while not re.search(pattern, self.seen) and time.monotonic() < end:
            if select.select([self.ours], [], [], 0.2)[0]:
                self.seen = (self.seen + os.read(self.ours, 4096).decode(errors="replace")).replace("\a", "")
        return re.search(pattern, self.seen) is not None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_in_a_shell(shell: str, tmp_path: Path) -> None:
    """The file that is installed, and the key Tab."""
    needs(shell)
    words, load = SHELLS[shell]
    terminal = Terminal(words, tmp_path)
    try:
        terminal.type(f"{load}\necho rea''dy\n")
        assert terminal.wait_for("ready"), terminal.seen
        terminal.type("pypfm info -p itanium2 IA64_INST_RETI\t")
        assert terminal.wait_for("IA64_INST_RETIRED"), terminal.seen
    finally:
        terminal.close()


@pytest.mark.slow
@pytest.mark.needs("zsh")
@pytest.mark.parametrize(("line", "whole"), [
    ("perfex -e 0 ./fir", r"\./first_program"), ("perfex -e 0 valgr", "valgrind"), ("perfex --compare fir", "first_program"),
    ("pmc -c page-faults ./fir", r"\./first_program"), ("pypfm decode -p glm --from fir", "first_program")])
def test_files_and_commands_in_zsh(line: str, whole: str, tmp_path: Path) -> None:
    """Where perfex has nothing to offer, as after a command, zsh has files and commands."""
    for name in ("first_program", "valgrind"):  # a command that need not be installed
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    words, load = SHELLS["zsh"]
    terminal = Terminal(words, tmp_path)
    try:
        terminal.type(f"cd {tmp_path}; {load}; path=($path {tmp_path}); echo rea''dy\n")
        assert terminal.wait_for("ready"), terminal.seen
        terminal.seen = ""
        terminal.type(f"{line}\t")
        assert terminal.wait_for(whole), terminal.seen
    finally:
        terminal.close()


@pytest.mark.slow
@pytest.mark.needs("zsh")
def test_a_name_in_other_letters_is_no_command_in_zsh(tmp_path: Path) -> None:
    """TLB-misses are offered for tl, which zsh does not take; but no program whose name begins so."""
    (tmp_path / "tlprogram").write_text("#!/bin/sh\n")
    (tmp_path / "tlprogram").chmod(0o755)
    words, load = SHELLS["zsh"]
    terminal = Terminal(words, tmp_path)
    try:
        terminal.type(f"cd {tmp_path}; {load}; path=($path {tmp_path}); echo rea''dy\n")
        assert terminal.wait_for("ready"), terminal.seen
        terminal.type("perfex -e tl\t")
        assert not terminal.wait_for("tlprogram", 3), terminal.seen
    finally:
        terminal.close()


@pytest.mark.slow
@pytest.mark.needs("fish")
@pytest.mark.parametrize(("line", "offered"), [
    ("perfex -e 0 ./fir", "./first_program"), ("perfex --compare fir", "first_program"), ("perfex -e tl", "TLB-misses"),
    ("pmc -c page-faults first_", "first_program"), ("pypfm conform fir", "first_program"), ("perfex -e 0 -fir", None)])
def test_files_and_commands_in_fish(line: str, offered: str | None, tmp_path: Path) -> None:
    (tmp_path / "first_program").write_text("#!/bin/sh\n")
    (tmp_path / "first_program").chmod(0o755)
    script = f"source {SHARE}/fish/vendor_completions.d/pypfm.fish; cd {tmp_path}; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60,
                          env=clean_env(PATH=PATH, HOME=str(tmp_path)))
    assert done.stdout.split()[:1] == [offered] * (offered is not None), done.stderr


@pytest.mark.slow
@pytest.mark.needs("fish")
def test_in_fish(tmp_path: Path) -> None:
    """Which has a command that says what the key would give."""
    script = f"source {SHARE}/fish/vendor_completions.d/pypfm.fish; complete -C 'pypfm info -p itanium2 IA64_INST_RETI'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60,
                          env=clean_env(PATH=PATH, HOME=str(tmp_path)))
    assert "IA64_INST_RETIRED" in done.stdout.split(), done.stderr
