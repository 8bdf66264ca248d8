"""What the README shows is what happens: the output of the main job, the two ports."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from conftest import ROOT, run, run_python
from terminal import PYPFM, on_terminal

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.S | re.M)


def plain(text: str) -> list[str]:
    """Lines without blanks at their ends, without empty lines around."""
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def test_output_of_the_main_job() -> None:
    command = blocks("sh")[0].strip().splitlines()[-1].split()
    assert command[0] == ".venv/bin/pypfm"
    shown = plain(blocks("text")[0])
    printed = plain(on_terminal(80, *command[1:]))
    assert [line for line in printed if line.strip()] == [line for line in shown if line.strip()]


def test_the_c_port_and_the_python_port_print_the_same(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(blocks("c")[0])
    done = run("sh", "-c", f"cc {source} -o {tmp_path}/prog $({PYPFM} config --cflags --libs pfm3) && {tmp_path}/prog")
    assert (done.stdout, done.stderr) == ("PMC4 = 0x1228\n", "")
    assert run_python(blocks("python")[0]).stdout == done.stdout
    assert "PMC4 = 0x1228" in README


def test_the_short_python_program() -> None:
    assert "value=4648" in run(sys.executable, "-c", blocks("python")[1]).stdout
