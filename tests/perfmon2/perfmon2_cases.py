"""Cases that are functions, each run in a process of its own: LIBPFM_PERFMON is read once in a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import overload

from conftest import TESTS
from fresh import LIBRARIES, fresh_python

Case = Callable[[], None]


@overload
def case(function: Case) -> Case: ...
@overload
def case(**env: str) -> Callable[[Case], Case]: ...
def case(function: Case | None = None, **env: str) -> Case | Callable[[Case], Case]:
    """Mark a function as a case; the environment is that of the model, with these changes."""
    def marked(function: Case) -> Case:
        vars(function)["env"] = {"LIBPFM_PERFMON": "model", **env}
        return function
    return marked(function) if function else marked


def cases(module: ModuleType) -> list[str]:
    """Names of a module's cases."""
    return [name for name, value in vars(module).items() if "env" in getattr(value, "__dict__", {})]


def run_case(module: ModuleType, name: str) -> None:
    """Run a case; what it says where it fails."""
    env = vars(getattr(module, name))["env"]
    done = fresh_python(f"import {module.__name__} as m; m.{name}()", path=(Path(__file__).parent, TESTS),
                        modules=(*LIBRARIES, module.__name__), **env)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-6000:]}"
    assert done.stderr == ""
