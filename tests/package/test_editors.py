"""What an editor knows of the mirrors: the members of structures, their types, names that are not there."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import pypfm
from conftest import run
from tools import needs, tool

pytestmark = pytest.mark.slow

# A line, and what a type checker says of it: the type, or the error that has these words.
LINES = {
    "reveal_type(inp.pfp_event_count)": "int",
    "reveal_type(inp.pfp_events)": "Array[pfmlib_event_t]",
    "reveal_type(inp.pfp_events[0].event)": "int",
    "reveal_type(inp.pfp_events[1:2][0])": "pfmlib_event_t",
    "reveal_type([event for event in inp.pfp_events][0])": "pfmlib_event_t",
    "reveal_type((pfmlib_event_t * 3)()[0].plm)": "int",
    "reveal_type(pfm_ita2_pmc_reg_t().pmc8_9_ita2_reg.opcm_mask)": "int",
    "reveal_type(copy.copy(inp))": "pfmlib_input_param_t",
    "reveal_type(sizeof(inp) + len(inp.pfp_events))": "int",
    "reveal_type(pfm4.pfm_pmu_info_t().name)": "str | None",
    "reveal_type(pfm4.pfm_perf_encode_arg_t().attr.contents.sample_period)": "int",
    "reveal_type(pfmlib_event_t.from_buffer_copy(bytes(232)).plm)": "int",
    "pfm_find_event('CPU_CYCLES', byref(inp, 'pfp_events', 3, 'event'))": "",
    "pfm_find_event('CPU_CYCLES', c_uint())": "",
    "print(inp.pfp_events[0].evnt)": "evnt",
    "print(pfm_ita2_pmc_reg_t().pmc8_9_ita2_reg.opcm_msk)": "opcm_msk",
    "pfm_find_event('CPU_CYCLES', pfmlib_event_t())": "pfm_find_event",
    "reveal_type(pfm4.perf_event_attr().sample_period)": "int",
    "reveal_type(pypfm.Itanium2().encode(['CPU_CYCLES'])['PMC4'].value)": "int",
    "pfm_dispatch_events(inp, None, None, None)": "",
    "print(inp.nothing)": "nothing",
    "pypfm._c.pfm4.lib.no_such_name": "no_such_name",
    "inp.nothing = 5": "nothing",
    "inp.pfp_event_count = 'x'": "int",
    "pfm_dispatch_events(inp, None, (pfmlib_event_t * 2)(), None)": "pfm_dispatch_events",
}
ERRORS = sum(bool(expected) and not line.startswith("reveal_type") for line, expected in LINES.items())
HEAD = ["import copy", "import pypfm", "from pypfm import pfm4", "import pypfm._c.pfm4", "from pypfm.pfm3 import *", "inp = pfmlib_input_param_t()"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python files of an installation that is a copy, as users have it."""
    root = tmp_path_factory.mktemp("editor")
    for place in pypfm.__path__:
        for file in [*Path(place).rglob("*.py"), *Path(place).rglob("*.pyi"), *Path(place).glob("py.typed")]:
            target = root / "pypfm" / file.relative_to(place)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    return root


def program(where: Path) -> Path:
    path = where / "program.py"
    path.write_text("\n".join([*HEAD, *LINES, ""]))
    return path


def check(said: dict[int, str]) -> None:
    """What was said of each line: the last word of a type, or the error."""
    for number, (line, expected) in enumerate(LINES.items(), len(HEAD) + 1):
        found = said.get(number, "")
        assert (expected in found) if expected else not found, f"{line}: {found or 'nothing was said'}"
        if expected and not line.startswith("reveal_type"):
            assert "error" in found


def test_mypy(tmp_path: Path) -> None:
    done = run(needs("mypy"), "--strict", "--python-executable", sys.executable, program(tmp_path), cwd=tmp_path)
    found: dict[int, str] = {}
    for number, text in re.findall(r"^program\.py:(\d+): (.*)$", done.stdout, flags=re.M):
        found[int(number)] = found.get(int(number), "") + re.sub(r"\b(builtins|pypfm[\w.]*)\.(?=\w)", "", text)
    check(found)
    assert f"Found {ERRORS} errors" in done.stdout


def test_pyright(installed: Path, tmp_path: Path) -> None:
    if tool("pyright") is None or tool("node") is None:
        pytest.skip("no pyright with a node of the system: pip install pyright; Debian: nodejs")
    file = program(tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(installed)], "include": [file.name]}))
    done = run(needs("pyright"), "--outputjson", "-p", tmp_path, cwd=tmp_path)
    found: dict[int, str] = {}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        line = one["range"]["start"]["line"] + 1
        found[line] = found.get(line, "") + f"{one['severity']}: {one['message']} "
    check(found)


COMPLETED = {
    "inp.pfp_ev": {"pfp_event_count", "pfp_events"},
    "inp.pfp_events[0].": {"event", "plm", "flags", "unit_masks"},
    "for event in inp.pfp_events:\n    event.": {"event", "plm"},
    "pfm4.pfm_pmu_encode_arg_t().": {"codes", "count", "fstr", "idx", "size"},
    "pypfm.pfm3.pfm_disp": {"pfm_dispatch_events"},
    "pypfm.Itan": {"Itanium", "Itanium2"},
    "pypfm.Itanium2().enc": {"encode"},
}


def jedi_module() -> Any:
    try:
        import jedi
    except ImportError:
        pytest.skip("no jedi: pip install jedi")
    return jedi


def test_jedi(installed: Path, tmp_path: Path) -> None:
    """In a Python without import hooks of an editable installation, which jedi does not follow."""
    jedi = jedi_module()
    base: Any = sys
    environment = jedi.create_environment(base._base_executable, safe=False)
    project = jedi.Project(tmp_path, sys_path=[str(installed)], smart_sys_path=False)
    for text, expected in COMPLETED.items():
        script = jedi.Script("\n".join([*HEAD, text]), project=project, environment=environment)
        assert {completion.name for completion in script.complete()} >= expected, text


def test_jedi_at_run_time() -> None:
    """As a notebook completes: by dir()."""
    jedi = jedi_module()
    inp = pypfm.pfm3.pfmlib_input_param_t()
    for text, expected in (("inp.pfp_ev", {"pfp_event_count", "pfp_events"}), ("event.unit", {"unit_masks"})):
        completed = jedi.Interpreter(text, [{"inp": inp, "event": inp.pfp_events[0]}]).complete()
        assert {completion.name for completion in completed} == expected
