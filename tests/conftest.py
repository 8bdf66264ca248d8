"""What all tests share: where things are, and running programs in processes of their own."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
# The tests are about the installed package; the source tree has no extension modules.
sys.path[:] = [p for p in sys.path if Path(p).resolve() != ROOT]

import pypfm  # noqa: E402 - the installed package, once sys.path says so
from pypfm.config import LIBRARIES  # noqa: E402

VECTORS = Path(pypfm.__file__).parent / "vectors"  # installed with the package
REPLAY = TESTS / "replay"


def clean_env(**changes: str) -> dict[str, str]:
    """This process's environment without the libraries' variables, plus changes."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("LIBPFM_")}
    return env | changes


def run(*command: object, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program; its output as text, no exception for its exit status."""
    options = {"cwd": TESTS, "capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run([str(c) for c in command], env=clean_env() if env is None else env, **options)


def run_python(code: str, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with changes to the environment."""
    return run(sys.executable, "-c", code, *args, env=clean_env(**env))


def without_capabilities() -> list[str]:
    """A command line that takes the right to count the kernel away; empty where there is none to take."""
    return [] if os.geteuid() else ["setpriv", "--bounding-set=-perfmon,-sys_admin,-ipc_lock", "--inh-caps=-all"]


@pytest.fixture(scope="session")
def libpfm3() -> Path:
    """The installed libpfm.so.3."""
    return LIBRARIES["pfm3"].path


@pytest.fixture(scope="session")
def pfm3_include() -> Path:
    """The directory of the installed headers of libpfm 3."""
    return LIBRARIES["pfm3"].include_dir


@pytest.fixture
def runtime_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime directory of this test's own, so that its counters' locks meet no other test's."""
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.delenv("PMC_MACHINE", raising=False)
    return directory


@pytest.fixture(scope="session")
def perf_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For perfex: a map of events that every kernel can count."""
    from perfex_runs import TABLE

    path = tmp_path_factory.mktemp("perfex") / "table.csv"
    path.write_text(TABLE, encoding="ascii")
    return path


@pytest.fixture(scope="session")
def toucher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that touches as many pages as its argument says."""
    from perfex_runs import compile_c

    return compile_c(tmp_path_factory.mktemp("touch"), "touch",
                     "int main(int n, char **v) { if (n > 1) touch(strtoul(v[1], 0, 10)); return 0; }")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the documentation as HTML, built once for all workers; warnings are errors."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent  # that of all workers
    html, done = base / "site", base / "site-done"
    with (base / "site-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            # Not from the source tree, which has no extension modules.
            built = run(sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-T", ROOT / "docs", html, cwd=base, timeout=1200)
            done.write_text("" if built.returncode == 0 else built.stderr or built.stdout or "failed")
    if problems := done.read_text():
        pytest.fail(f"sphinx-build -W -n:\n{problems}", pytrace=False)
    return html
