"""What the README and the site's overview show is what happens: each block and each command, in the clone."""

from __future__ import annotations

import json
import os
import re
import sys
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path

import pytest

import pypfm
import tools
from conftest import ROOT, clean_env, run
from foreign_library import debian
from terminal import PYPFM, on_terminal
from terminal import pypfm as pypfm_command

README = (ROOT / "README.md").read_text(encoding="utf-8")
OVERVIEW = (ROOT / "docs" / "overview.rst").read_text(encoding="utf-8")
# Python started in the clone finds pypfm if the installation is editable, as README's is; a copy is for elsewhere.
EDITABLE = Path(pypfm.__file__).is_relative_to(ROOT / "pypfm")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.S | re.M)


def in_the_clone(*command: object, **env: str) -> str:
    """What a command prints, with the environment's programs in PATH, as `activate` has them."""
    done = run(*command, cwd=ROOT if EDITABLE else ROOT.parent, env=clean_env(PATH=tools.PATH, **env))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def plain(text: str) -> list[str]:
    """Lines without blanks at their ends, without empty lines around."""
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def test_every_block_is_tested() -> None:
    fences = sorted(re.findall(r"^```(\w*)$", README, flags=re.M))
    assert fences == sorted(["", "sh"] * 2 + ["", "text", "", "python"] + ["", "console"] * 2)  # test_guides.py runs the latter


# ---- the two commands ------------------------------------------------------------------------------

def test_the_commands_install_for_python_in_the_clone() -> None:
    first, second = blocks("sh")
    assert first.splitlines()[:2] == ["python3 -m venv .venv", ".venv/bin/pip install -e ."]
    assert second.splitlines() == [".venv/bin/pip install -e '.[test]'", ".venv/bin/pytest -n 2"]
    assert re.search(r"`python3 python3-venv python3-dev gcc g\+\+`", README)


def test_output_of_the_main_job() -> None:
    command = blocks("sh")[0].strip().splitlines()[-1].split()
    assert command[0] == ".venv/bin/pypfm"
    shown = plain(blocks("text")[0])
    printed = plain(on_terminal(80, *command[1:]))
    assert [line for line in printed if line.strip()] == [line for line in shown if line.strip()]
    assert json.loads(in_the_clone(PYPFM, *command[1:]))["pmu"] == "itanium2"  # in a pipe


# ---- the Python program ----------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["-c", "-"])
def test_the_python_program(how: str) -> None:
    """As a string, and as the interpreter reads it."""
    debian()
    [program] = blocks("python")
    command = [sys.executable, "-c", program] if how == "-c" else ["sh", "-c", f'printf %s "$1" | {sys.executable} -', "sh", program]
    [said] = re.findall(r"^It prints `(.*?)`", README, flags=re.M)
    assert in_the_clone(*command) == f"{said}\n"


def test_the_doors_are_opened_where_their_programs_are() -> None:
    _, doors = README.split("## Three doors")
    [directory] = re.findall(r"`\. \.venv/bin/activate && cd ([^`]+)`", doors.split("```")[0])
    compiled = re.findall(r"^\$ cc .*?([\w./]+\.c)\b", doors, flags=re.M)
    assert len(compiled) == 2
    assert [name for name in compiled if not (ROOT / directory / name).is_file()] == []


@pytest.mark.parametrize("command", [[sys.executable, "-m", "pypfm"], [PYPFM]], ids=["-m", "pypfm"])
def test_the_command_in_the_clone(command: list[object]) -> None:
    assert in_the_clone(*command, "pmus").split() == [
        "itanium2", "montecito", "itanium", "gen_ia64", "ita", "ita2", "mont", "glm", "perf"]


# ---- what is where ---------------------------------------------------------------------------------

CODE = re.findall(r"``([^`\n]+)``", OVERVIEW)
# The cells of its tables, by the first one.
ROWS = {re.sub(r"\s+", " ", row[1]): re.sub(r"\s+", " ", row[2])
        for row in re.finditer(r"^   \* - (.*?)^     - (.*?)(?=^   \* - |^\S|\Z)", OVERVIEW, flags=re.S | re.M)}


def test_every_page_that_the_readme_names_is_there() -> None:
    named = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("name", sorted({c for c in CODE if re.fullmatch(r"pypfm\.\w+(\.\w+)*", c)}))
def test_names_in_python(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute) or import_module(name)


def test_classes_in_python() -> None:
    [row] = [cell for cell in ROWS if "``pypfm.Itanium2``" in cell]
    for name in re.findall(r"``(?:pypfm\.)?(\w+)``", row):
        assert isinstance(getattr(pypfm, name), type)


def test_in_a_pipe() -> None:
    """Lines of text, JSON only when it is asked for, or where a terminal would have pictures."""
    assert "In a pipe they print lines of text,\nand JSON with ``--json``" in OVERVIEW
    for args in (["pmus"], ["events", "-p", "itanium2"], ["info", "-p", "itanium2", "CPU_CYCLES"]):
        with pytest.raises(json.JSONDecodeError):
            json.loads(pypfm_command(*args).stdout)
        json.loads(pypfm_command(*args, "--json").stdout)
    assert "``encode`` and ``decode`` print JSON in a pipe" in OVERVIEW
    for args in (["encode", "-p", "itanium2", "CPU_CYCLES"], ["decode", "-p", "itanium2", "PMC4=0x1228"]):
        json.loads(pypfm_command(*args).stdout)


def test_generated_tables() -> None:
    """Each table that the build makes is one of those that the overview names."""
    calls = re.findall(r"pypfm_table\(\w+ \w+ ([^ )]+)", "".join(p.read_text() for p in ROOT.glob("csrc/*/CMakeLists.txt")))
    tables = {f"{re.sub(r'[$][{].*?[}]', '*', table)}_table.c" for table in calls}
    named = re.findall(r"``(\S+_table\.c)``", OVERVIEW)
    assert len(tables) > 5
    assert [t for t in tables if t != "*_table.c" and not any(fnmatchcase(t, name) for name in named)] == []


@pytest.mark.parametrize("command", [c for c in CODE if re.match(r"pypfm (decode|layout|vectors|config)", c)])
def test_commands(command: str) -> None:
    assert in_the_clone("sh", "-c", command.replace("0x...", "0x4")).strip()


CHEATS = re.findall(r"^   \* - ``(.*)``", (ROOT / "docs" / "cheatsheets.rst").read_text(encoding="utf-8"), flags=re.M)


@pytest.mark.parametrize("command", [c for c in CHEATS if c.startswith(("pypfm ", "perfex -t"))])
@pytest.mark.slow
def test_commands_of_the_cheat_sheet(command: str, tmp_path: Path) -> None:
    """In a directory of its own: one writes files.  What goes to the terminal only is about the output."""
    done = run("sh", "-c", command, cwd=tmp_path, env=clean_env(PATH=tools.PATH))
    assert done.returncode == 0
    assert done.stdout.strip() or list(tmp_path.iterdir())


def test_python_of_the_cheat_sheet() -> None:
    names = {name: getattr(pypfm, name) for name in dir(pypfm) if not name.startswith("_")} | {"pypfm": pypfm}
    import_module("pypfm.perfex")
    lines = [c for c in CHEATS if "Itanium2" in c or "Goldmont" in c or "decode(" in c]
    assert len(lines) > 4
    for line in lines:
        assert line.startswith("with ") or eval(line, names), line


@pytest.mark.parametrize("command", ["pypfm conform", "pypfm bench", "pypfm encode", "pmc"])
def test_commands_that_take_longer_are_there(command: str) -> None:
    assert in_the_clone(*command.split(), "-h").startswith(("usage: ", "Supported performance counter events:\n"))


def test_counting() -> None:
    """Any host counts with a table of events of software."""
    [(call, about)] = re.findall(r"``pypfm\.perfex\.(counting\([\d, ]+)\)``(.*?)\n   \* ", OVERVIEW, flags=re.S)
    [table] = re.findall(r'``perf_table="([^`]+)"``', about)
    code = f"from pypfm.perfex import counting\nwith {call}, perf_table={str(ROOT / table)!r}) as c: bytearray(1 << 22)\nprint(c[26] > 0)"
    done = run(sys.executable, "-c", code, cwd=ROOT if EDITABLE else ROOT.parent)
    assert done.stdout == "True\n", done.stderr


def test_variables() -> None:
    values = dict(re.findall(r"``([A-Z][A-Z0-9_]+)=([^`]+)``", OVERVIEW))
    model = "from pypfm.pfm3 import *\npfm_initialize()\nb = create_string_buffer(99)\npfm_get_pmu_name(b, 99)\nprint(b.value.decode())"
    for name in ("LIBPFM_IA64_CPUID3", "LIBPFM_FORCE_PMU=itanium2"):
        variable, _, value = name.partition("=")
        assert f"``{name}" in OVERVIEW
        assert in_the_clone(sys.executable, "-c", model, **{variable: value or values[variable]}) == "itanium2\n"
    active = ("from pypfm.pfm4 import *\npfm_initialize()\ninfo = pfm_pmu_info_t()\n"
              "pfm_get_pmu_info(PFM_PMU_INTEL_GLM, info)\nprint(info.is_present)")
    for variable, value in (("LIBPFM_X86_CPUID", values["LIBPFM_X86_CPUID"]), ("LIBPFM_FORCE_PMU", "glm")):
        assert in_the_clone(sys.executable, "-c", active, **{variable: value}) == "1\n"
    [row] = [about for cell, about in ROWS.items() if "``PMC_MACHINE=" in cell]
    for machine in re.findall(r"``(\w+)``", row):
        counters = in_the_clone(sys.executable, "-c", "from pypfm import pmc; print(pmc.pmc_get_num_counters())", PMC_MACHINE=machine)
        assert int(counters) > 0


def test_manual_pages() -> None:
    [(directory, page)] = re.findall(r"``man -M\s\.venv/(\S+) (\w+)``", OVERVIEW)
    more = re.findall(r"\(or (.*?) \.\.\.\)", OVERVIEW)[0]
    for name in [page, *re.findall(r"``(\w+)``", more)]:
        assert list((Path(sys.prefix) / directory).glob(f"man?/{name}.?")), name


def test_what_the_build_of_the_c_libraries_needs() -> None:
    assert "``cmake`` and ``ninja``\ninto ``.venv/bin``" in OVERVIEW
    assert tools.tool("cmake")
    assert tools.tool("ninja")


# ---- without extension modules ---------------------------------------------------------------------

@pytest.mark.parametrize("how", [["-c", "from pypfm import Itanium2"], ["-c", "import pypfm.pfm4"], ["-m", "pypfm", "pmus"]])
def test_the_source_tree_says_what_to_do(how: list[str]) -> None:
    """As another Python than that of the first command sees it."""
    done = run(sys.executable, "-S", *how, cwd=ROOT, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
    assert done.returncode == 1
    *_, where, last = done.stderr.splitlines()
    assert "raise ImportError" in where
    assert last.startswith(f"ImportError: {ROOT} is pypfm's source tree, and ")
    assert last.endswith(f"use {ROOT}/.venv/bin/python after the first command of README.md, or 'pip install -e {ROOT}'")
    assert len(done.stderr.splitlines()) < 9
