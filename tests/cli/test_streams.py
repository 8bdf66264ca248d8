"""Standard streams that are closed or full: notes for people go to stderr, or nowhere, and never end a command."""

from __future__ import annotations

import ast
import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

import pypfm
from conftest import run
from pypfm import config
from terminal import PYPFM

CLI = Path(pypfm.__file__).parent / "cli"
LIBRARY = config.LIBRARIES["pfm4"].path
# Each of them says something on stderr, or asks whether that is a terminal.
NOTING = [f"bench {LIBRARY} --rounds 1", f"conform {LIBRARY} --vectors {{vectors}}", "layout pfmlib_regmask_t",
          f"vectors record {LIBRARY} -p glm --calls 5", "layout pfmlib_input_param_t pfmlib_output_param_t"]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("vectors") / "few.jsonl"
    assert run(PYPFM, "vectors", "record", LIBRARY, "-p", "glm", "--calls", 5, "-o", file).returncode == 0
    return file


@cache
def with_all_streams(command: str) -> subprocess.CompletedProcess[str]:
    return run("sh", "-c", command)


@pytest.mark.long
@pytest.mark.parametrize("where", ["2>/dev/full", "<&- 2>&-"])
@pytest.mark.parametrize("words", NOTING)
def test_a_stream_that_is_not_there(words: str, where: str, vectors: Path) -> None:
    command = f"{PYPFM} {words.format(vectors=vectors)}"
    done, told = run("sh", "-c", f"exec {command} {where}"), with_all_streams(command)
    assert done.returncode == told.returncode == 0, told.stderr
    if "2>" in where:
        assert done.stderr == ""
    if not words.startswith(("bench", "conform")):  # which print times
        assert done.stdout == told.stdout
    elif words.startswith("bench"):
        assert json.loads(done.stdout)["libraries"]


def test_notes_go_one_way() -> None:
    """print(file=sys.stderr) writes to stdout if stderr is closed, and raises if it is full."""
    found = []
    for file in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "file" and "stderr" in ast.unparse(node.value):
                found.append(f"{file.name}:{node.value.lineno}")
            if isinstance(node, ast.Attribute) and node.attr in ("isatty", "write") \
                    and ast.unparse(node.value) == "sys.stderr" and file.name not in ("_program.py", "perfex.py"):
                found.append(f"{file.name}:{node.lineno}")
    assert found == []
