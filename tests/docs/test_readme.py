"""What the README shows is what happens: each block and each command, as they stand there, in the clone."""

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
from terminal import PYPFM, on_terminal

README = (ROOT / "README.md").read_text(encoding="utf-8")
PORT = "PMC4 = 0x1228\n"
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
    assert sorted(re.findall(r"^```(\w*)$", README, flags=re.M)) == sorted([*(["", "sh"] * 2), "", "text", "", "c", *(["", "python"] * 2)])


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


# ---- programs --------------------------------------------------------------------------------------

def test_the_c_program(tmp_path: Path) -> None:
    [line] = re.findall(r"<code>(cc .*?)</code>", README)
    (tmp_path / "prog.c").write_text(blocks("c")[0])
    done = run("sh", "-c", f"{line} && ./a.out", cwd=tmp_path, env=clean_env(PATH=tools.PATH))
    assert (done.returncode, done.stdout, done.stderr) == (0, PORT, "")


@pytest.mark.parametrize("program", blocks("python"), ids=["as in C", "without C's habits"])
@pytest.mark.parametrize("how", ["-c", "-"])
def test_the_python_programs_print_the_same(program: str, how: str) -> None:
    """As a string, and as the interpreter reads it."""
    if how == "-c":
        assert in_the_clone(sys.executable, "-c", program) == PORT
    else:
        assert in_the_clone("sh", "-c", f'printf %s "$1" | {sys.executable} -', "sh", program) == PORT
    assert f"Both print `{PORT.strip()}`" in README


@pytest.mark.parametrize("command", [[sys.executable, "-m", "pypfm"], [PYPFM]], ids=["-m", "pypfm"])
def test_the_command_in_the_clone(command: list[object]) -> None:
    assert in_the_clone(*command, "pmus").split() == [
        "itanium2", "montecito", "itanium", "gen_ia64", "ita", "ita2", "mont", "glm", "perf"]


# ---- what is where ---------------------------------------------------------------------------------

TABLE = README.partition("## What is where")[2]
CODE = re.findall(r"`([^`\n]+)`", TABLE)


@pytest.mark.parametrize("name", sorted({c for c in CODE if re.fullmatch(r"pypfm\.\w+(\.\w+)*", c)}))
def test_names_in_python(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute) or import_module(name)


def test_classes_in_python() -> None:
    [row] = [line for line in TABLE.splitlines() if "`pypfm.Itanium2`" in line]
    for name in re.findall(r"`(?:pypfm\.)?(\w+)`", row.partition(" | ")[0]):
        assert isinstance(getattr(pypfm, name), type)


def test_in_a_pipe() -> None:
    """Lines of text, JSON only when it is asked for, or where a terminal would have pictures."""
    [row] = [line for line in TABLE.splitlines() if "`pypfm pmus`" in line]
    assert "in a pipe, lines of text (JSON with `--json`" in row
    for args in (["pmus"], ["events", "-p", "itanium2"], ["info", "-p", "itanium2", "CPU_CYCLES"]):
        with pytest.raises(json.JSONDecodeError):
            json.loads(in_the_clone(PYPFM, *args))
        json.loads(in_the_clone(PYPFM, *args, "--json"))
    assert "of `encode` and `decode` JSON" in row
    for args in (["encode", "-p", "itanium2", "CPU_CYCLES"], ["decode", "-p", "itanium2", "PMC4=0x1228"]):
        json.loads(in_the_clone(PYPFM, *args))


def test_generated_tables() -> None:
    """Each table that the build makes is one of those that the README names."""
    calls = re.findall(r"pypfm_table\(\w+ \w+ ([^ )]+)", "".join(p.read_text() for p in ROOT.glob("csrc/*/CMakeLists.txt")))
    tables = {f"{re.sub(r'[$][{].*?[}]', '*', table)}_table.c" for table in calls}
    [sentence] = re.findall(r"^Generated at build time.*?;$", README, flags=re.S | re.M)
    named = re.findall(r"`(\S+_table\.c)`", sentence)
    assert len(tables) > 5
    assert [t for t in tables if t != "*_table.c" and not any(fnmatchcase(t, name) for name in named)] == []


@pytest.mark.parametrize("command", [c for c in CODE if re.match(r"pypfm (decode|layout|vectors|config)", c)])
def test_commands(command: str) -> None:
    assert in_the_clone("sh", "-c", command.replace("0x...", "0x4")).strip()


@pytest.mark.parametrize("command", ["pypfm conform", "pypfm bench", "pypfm encode", "pmc"])
def test_commands_that_take_longer_are_there(command: str) -> None:
    assert in_the_clone(*command.split(), "-h").startswith(("usage: ", "Supported performance counter events:\n"))


def test_counting() -> None:
    """Any host counts with a table of events of software."""
    [(call, table)] = re.findall(r"`pypfm\.perfex\.(counting\([\d, ]+)\)`.*`(perf_table=\"[^`]+\")`", TABLE)
    code = f"from pypfm.perfex import counting\nwith {call}, {table}) as c: bytearray(1 << 22)\nprint(c[26] > 0)"
    done = run(sys.executable, "-c", code, cwd=ROOT if EDITABLE else ROOT.parent)
    assert done.stdout == "True\n", done.stderr


def test_variables() -> None:
    values = dict(re.findall(r"`([A-Z][A-Z0-9_]+)=([^`]+)`", TABLE))
    model = "from pypfm.pfm3 import *\npfm_initialize()\nb = create_string_buffer(99)\npfm_get_pmu_name(b, 99)\nprint(b.value)"
    for name in ("LIBPFM_IA64_CPUID3", "LIBPFM_FORCE_PMU=3"):
        variable, _, value = name.partition("=")
        assert f"`{name}" in TABLE
        assert in_the_clone(sys.executable, "-c", model, **{variable: value or values[variable]}) == "itanium2\n"
    active = ("from pypfm.pfm4 import *\npfm_initialize()\ninfo = pfm_pmu_info_t()\n"
              "pfm_get_pmu_info(PFM_PMU_INTEL_GLM, info)\nprint(info.is_present)")
    for variable, value in (("LIBPFM_X86_CPUID", values["LIBPFM_X86_CPUID"]), ("LIBPFM_FORCE_PMU", "glm")):
        assert in_the_clone(sys.executable, "-c", active, **{variable: value}) == "1\n"
    [row] = [line for line in TABLE.splitlines() if "`PMC_MACHINE=" in line]
    for machine in re.findall(r"`(\w+)`", row):
        counters = in_the_clone(sys.executable, "-c", "from pypfm import pmc; print(pmc.pmc_get_num_counters())", PMC_MACHINE=machine)
        assert int(counters) > 0


def test_manual_pages() -> None:
    [(directory, page)] = re.findall(r"`man -M \.venv/(\S+) (\w+)`", TABLE)
    more = re.findall(r"\(or (.*?) \.\.\.\)", TABLE)[0]
    for name in [page, *re.findall(r"`(\w+)`", more)]:
        assert list((Path(sys.prefix) / directory).glob(f"man?/{name}.?")), name


def test_what_the_build_of_the_c_libraries_needs() -> None:
    assert "`cmake` and `ninja` into `.venv/bin`" in README
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
