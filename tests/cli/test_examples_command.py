"""pypfm examples: copies of the programs, which are built and run where they are copied to."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

from conftest import ROOT, clean_env, run
from native import CC
from pypfm import schemas
from terminal import PYPFM, pypfm
from tools import tool

SOURCE = ROOT / "docs/examples"


def test_the_copies_are_whole_and_can_be_written(tmp_path: Path) -> None:
    done = pypfm("examples", tmp_path / "new/copies", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    jsonschema.validate(data, schemas.load("examples"))
    copies = {path.name: path for path in (tmp_path / "new/copies").iterdir()}
    assert [*data["files"]] == sorted(copies)
    assert {"README.md", "ita2_counters.c", "ita2_counters.py", "ita2_counters.out", "matrix.c"} < {*copies}
    known = run("git", "ls-files", cwd=SOURCE).stdout.split() if tool("git") else []
    for name in known or [path.name for path in SOURCE.glob("*.[ch]")]:
        assert copies[name].read_bytes() == (SOURCE / name).read_bytes(), name
        assert os.access(copies[name], os.W_OK)


def test_what_was_copied_is_built_and_run(tmp_path: Path) -> None:
    """The words of --help; into the directory that it has without one."""
    done = run(PYPFM, "examples", cwd=tmp_path)
    assert done.stdout.endswith(" files are in pypfm-examples; README.md there says how they are built and run\n")
    there = tmp_path / "pypfm-examples"
    env = clean_env(PATH=f"{PYPFM.parent}:{os.environ['PATH']}", LIBPFM_FORCE_PMU="itanium2")
    built = run("sh", "-c", f"{CC} ita2_counters.c -o ita2_counters $(pypfm config --cflags --libs pfm3)", cwd=there, env=env)
    assert built.returncode == 0, built.stderr
    expected = (there / "ita2_counters.out").read_text()
    for command in (["./ita2_counters"], [sys.executable, "ita2_counters.py"]):
        assert run(*command, cwd=there, env=env).stdout == expected


def test_an_empty_directory_is_filled_and_another_one_is_left_alone(tmp_path: Path) -> None:
    assert pypfm("examples", tmp_path).returncode == 0
    (tmp_path / "matrix.c").write_text("mine\n")
    done = pypfm("examples", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pypfm examples: {tmp_path} is not empty; give a directory that there is not\n"
    assert (tmp_path / "matrix.c").read_text() == "mine\n"


@pytest.mark.parametrize(("words", "status", "said"), [
    (["/etc/passwd"], 1, "cannot copy to /etc/passwd: File exists"), ([""], 1, "cannot copy to '': No such file or directory"),
    (["/proc/nowhere\n"], 1, "cannot copy to '/proc/nowhere\\n': No such file or directory"),
    (["a", "b"], 2, "unrecognized arguments: b"), (["--to", "x"], 2, "unrecognized arguments: --to"),
])
def test_mistakes(words: list[str], status: int, said: str) -> None:
    done = pypfm("examples", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1)
    assert said in done.stderr
